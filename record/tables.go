package record

// This file declares the tables: one struct for the rows of each, whose fields are the columns.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/ptx"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of event. Package probe describes them in detail (probe.OnAfter, OnSplit and so on).
const (
	Instruction Kind = iota // a warp has executed an instruction
	Branch                  // lanes branch: groups
	Split                   // lanes diverge: groups
	Reconverge              // lanes are together again
	Wait                    // lanes wait at a barrier or a collective instruction: waits
	Wake                    // lanes continue after a wait: waits
	Call                    // lanes are in a called function: calls
	Return                  // lanes are back from a call
	Exit                    // lanes have ended
	CTABegin                // a CTA begins
	CTAEnd                  // a CTA has ended
	WarpBegin               // a warp begins
	WarpEnd                 // a warp has ended
	Effect                  // a stage of an asynchronous operation: effects
	Trap                    // a CTA stops with a trap: traps
)

var kindNames = [...]string{
	"instruction", "branch", "split", "reconverge", "wait", "wake", "call", "return", "exit", "cta begin", "cta end", "warp begin",
	"warp end", "effect", "trap",
}

// String returns the name of the kind.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

// Class is the structure of a value over lanes.
type Class uint8

// The classes. Lane i of a uniform or affine value has Base + i·Stride, modulo two to the width of the value.
const (
	Uniform Class = iota // all lanes have Base
	Affine               // lane i has Base + i·Stride
	Generic              // each lane has a row in the table values, the lowest lane first
	Mask                 // a predicate that differs between lanes: Base has the lanes in which it is true
	NoValue              // an omitted element of a stored vector
)

var classNames = [...]string{"uniform", "affine", "generic", "mask", "none"}

// String returns the name of the class.
func (c Class) String() string { return nameOf(classNames[:], int(c)) }

// AccessKind is the direction of an access. Its values are the values of trace.AccessKind.
type AccessKind uint8

// The directions.
const (
	Load   AccessKind = iota // reads memory
	Store                    // writes memory
	Atomic                   // reads and writes memory
	Zero                     // writes zeros over a region whose length differs between lanes (st.bulk)
)

var accessNames = [...]string{"load", "store", "atomic", "zero"}

// String returns the name of the direction.
func (k AccessKind) String() string { return nameOf(accessNames[:], int(k)) }

// Space is a state space.
type Space uint8

// The state spaces of accesses: .global, .shared, .local, .param and .const of PTX; and the texels of textures and surfaces,
// whose addresses are global addresses. Parameters of calls are in local memory.
const (
	Global Space = iota
	Shared
	Local
	Param
	Const
	Texture // texels read by a fetch of a texture
	Surface // texels of a surface
	spaceCount
)

// spaces are the state spaces of PTX, by Space.
var spaces = [...]ptx.Space{Global: ptx.Global, Shared: ptx.Shared, Local: ptx.Local, Param: ptx.Param, Const: ptx.Const}

var spaceNames = func() (names []string) {
	for _, s := range spaces {
		names = append(names, s.String())
	}
	return append(names, "texture", "surface")
}()

// String returns the name of the state space.
func (s Space) String() string { return nameOf(spaceNames, int(s)) }

// spaceOf returns the state space of memory; Global for a generic address.
func spaceOf(s ptx.Space) Space {
	return Space(max(slices.Index(spaces[:], s), int(Global)))
}

// MbarrierUse is a kind of use of an mbarrier. Its values are the values of probe.MbarrierUseKind.
type MbarrierUse uint8

var mbarrierUseNames = []string{probe.MbarrierReset.String(), probe.MbarrierChange.String(), probe.MbarrierPassed.String(), probe.MbarrierFailed.String()}

// String returns the name of the kind.
func (u MbarrierUse) String() string { return nameOf(mbarrierUseNames, int(u)) }

// StackKind is the kind of a StackRow. Its values are the values of probe.StackKind.
type StackKind uint8

// The kinds of entry of a reconvergence stack.
const (
	Running StackKind = iota // the warp split that executes
	Ready                    // a warp split that can run
	Blocked                  // a warp split that waits at a barrier or a collective instruction
	Point                    // a reconvergence point
)

var stackNames = [...]string{"running", "ready", "blocked", "point"}

// String returns the name of the kind.
func (k StackKind) String() string { return nameOf(stackNames[:], int(k)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown (%d)", i)
}

// SourceKind is the language of a SourceRow.
type SourceKind uint8

// The kinds of source.
const (
	PTXSource      SourceKind = iota // the text of the module, from which instructions have their lines
	CompiledSource                   // a file from which the module was compiled, such as CUDA C++
)

var sourceNames = [...]string{"ptx", "compiled"}

// String returns the name of the kind.
func (k SourceKind) String() string { return nameOf(sourceNames[:], int(k)) }

// RecordingRow is the only row of the table recording: what the file contains.
type RecordingRow struct {
	Simulator string // name of the simulator that executed the launches
	Title     string // what was run, for titles of reports; "" for a log and a program
	Contents  string // optional parts: results, accesses, memory, stack and source, separated by commas
	Filter    string // recorded part of the launches; "" is all
	MaxEvents uint64 // limit of events; 0 is no limit
	MaxBytes  uint64 // limit of the file and of memory images, in bytes; 0 is no limit
}

// LaunchRow is a row of the table launches.
type LaunchRow struct {
	Kernel           string // name of the kernel
	File             string // name of the PTX file
	GridX            uint32 // CTAs in x
	GridY            uint32 // CTAs in y
	GridZ            uint32 // CTAs in z
	BlockX           uint32 // threads of a CTA in x
	BlockY           uint32 // threads of a CTA in y
	BlockZ           uint32 // threads of a CTA in z
	ClusterX         uint32 // CTAs of a cluster in x; 1 without clusters
	ClusterY         uint32 // CTAs of a cluster in y
	ClusterZ         uint32 // CTAs of a cluster in z
	WarpSize         uint8  // lanes of a warp
	Reconverge       string // name of the reconvergence policy
	Shared           uint32 // dynamic shared memory of a CTA in bytes
	SharedBytes      uint32 // all shared memory of a CTA in bytes: static variables, padding, then dynamic shared memory
	Device           uint32 // number of the device, from 0 on
	SM               uint16 // compute capability of the device: 90 for 9.0; 0 for a log
	Cooperative      uint8  // 1: all CTAs are in flight at the same time
	Seed             uint64 // number of the schedule
	MaxSteps         uint64 // limit of instructions of a warp; 0 for a log
	EagerEffects     uint8  // 1: asynchronous operations happen where they are issued; 0: as late as possible
	FirstVariable    uint32 // row of its first variable in the table variables
	Variables        uint32 // number of variables; launches of one kernel share them. 0 for a log
	FirstEvent       uint64 // number of events before the launch
	FirstInstruction uint32 // row of its first instruction in the table instructions
	Instructions     uint32 // number of instructions; launches of one kernel share them. 0 for a log without code
	FirstBlock       uint32 // row of its first basic block in the table blocks
	Blocks           uint32 // number of basic blocks; launches of one kernel share them. 0 for a log
	FirstSource      uint32 // row of its first text in the table sources
	Sources          uint32 // number of texts; launches of one module share them. 0 without the part source, and for a log
}

// OrderRow is a row of the table orders: the clusters of a launch, or its CTAs without clusters, in the order in which they begin. A launch
// without rows begins them in ascending order.
type OrderRow struct {
	Launch  uint32 // row of the table launches
	Cluster uint32 // linear index of the cluster
}

// EndRow is a row of the table ends: the end of a launch.
type EndRow struct {
	Launch   uint32 // row of the table launches
	Events   uint64 // number of events before the end of the launch
	Complete uint8  // 1: the whole launch is recorded; 0: a limit has ended the recording
	Error    string // reason of a failed launch; "" for a complete launch
}

// InstructionRow is a row of the table instructions.
type InstructionRow struct {
	Function     string // name of the function
	Line         uint32 // line in the PTX, from 1; 0 is unknown
	Column       uint32 // column in the PTX, from 1
	Class        string // functional unit, as in gemu isa
	Text         string // PTX without the semicolon
	Flags        string // "clock": the results are times; "approx.f32" and so on: the results are approximate
	SourceFile   string // name of the source file, by the .loc in force; "" without .loc
	SourceLine   uint32 // line in the source file, from 1
	SourceColumn uint32 // column in the source file, from 1
}

// BlockRow is a row of the table blocks: a basic block of a function, whose instructions lanes execute from the first to the last.
type BlockRow struct {
	Function      string // name of the function
	Labels        string // labels of the block, separated by spaces
	First         uint32 // row of its first instruction in the table instructions
	Instructions  uint32 // number of instructions; 0 for labels before the end of the function
	PostDominator int32  // immediate post-dominator, where lanes that diverge at the end of the block reconverge: row of the table blocks; -1 is the end of the function
}

// EdgeRow is a row of the table edges: a block to which control can continue at the end of another. The block that follows without a
// jump comes first.
type EdgeRow struct {
	From uint32 // row of the table blocks; ascends
	To   int32  // row of the table blocks; -1 is the end of the function
}

// SourceRow is a row of the table sources: the text of a module or of a file from which it was compiled, of at most 16 MiB.
type SourceRow struct {
	Kind SourceKind // language of the text
	Name string     // name of the file, as in the column file of launches or source_file of instructions
	Text string     // contents, in UTF-8; invalid bytes are replaced by U+FFFD
}

// RegisterRow is a row of the table registers.
type RegisterRow struct {
	Function string // name of the declaring function
	Name     string // name in the PTX, with its %
	Type     string // type, such as .f32
	Bits     uint16 // width; 1 for predicates
}

// OperandRow is a row of the table operands: a register read or written by an instruction.
type OperandRow struct {
	Instruction uint32 // row of the table instructions
	Register    uint32 // row of the table registers
	Writes      uint8  // 1: a result; 0: a source
}

// VariableRow is a row of the table variables: a variable or parameter named by the kernel of a launch or by a function it can
// call. Its bytes are in memory images (global and const) or in arguments (parameters of the kernel); in shared and local memory
// they are zero when a CTA or a call begins.
type VariableRow struct {
	Function    string // name of the declaring function; "" for a variable of the module
	Name        string // name in the PTX
	Space       Space  // state space
	Type        string // type of an element, such as .f32
	Bytes       uint64 // size; 0 for dynamic shared memory, whose size is in the table launches
	Align       uint32 // alignment in bytes
	Offset      uint64 // place in bytes. For global and const it is the address; for shared, the offset in the memory of the CTA; for param of a kernel, the offset in its parameters; otherwise the offset in the frame of the function (column frame of events)
	Declaration string // PTX without initialiser and semicolon
}

// ArgumentRow is a row of the table arguments: the value of a parameter of a launch.
type ArgumentRow struct {
	Launch   uint32 // row of the table launches
	Variable uint32 // row of the table variables, which has the number of bytes
	Value    uint64 // bytes as a little-endian number, if the parameter has at most 8 bytes; otherwise 0
	Data     uint64 // first row of its bytes in the table data
}

// EventRow is a row of the table events.
type EventRow struct {
	Kind        Kind   // kind of the event
	Launch      uint32 // row of the table launches
	Step        uint64 // number of instructions of the launch begun before; with FromLog, the number of earlier records
	CTA         uint32 // linear index of the CTA in the grid
	Warp        int32  // index of the warp in the CTA; -1 for CTA begin and CTA end
	Instruction int32  // row of the table instructions; -1 is none
	Active      uint64 // the active mask: lanes of the running warp split
	Lanes       uint64 // lanes of the event: for an instruction, the active lanes for which its guard holds
	Depth       uint16 // call depth of the active lanes
	Frame       uint32 // offset of the function's frame in the local memory of the active lanes, in bytes; 0 for a log
	Reconverge  int32  // innermost reconvergence point of the active lanes: row of the table instructions; -1 is none
}

// GroupRow is a row of the table groups: lanes continuing at the same place after a branch or split.
type GroupRow struct {
	Event       uint64 // row of the table events
	Lanes       uint64 // lanes of the group
	Instruction int32  // row of the table instructions; -1 is the end of the function
}

// WaitRow is a row of the table waits, for events of kind wait and wake.
type WaitRow struct {
	Event      uint64 // row of the table events
	Barrier    int8   // number of the CTA's barrier, 0 to 15; 16 is the barrier of the cluster; -1 is a wait for lanes of the same warp
	Threads    uint32 // number of threads expected by the barrier; 0 is all threads of the CTA
	Members    uint32 // membermask of a collective instruction
	Generation uint32 // for a wake, the number of earlier completions of the barrier
}

// CallRow is a row of the table calls.
type CallRow struct {
	Event    uint64 // row of the table events
	Function string // name of the called function
}

// EffectRow is a row of the table effects: a stage of an asynchronous operation. Its memory is in accesses.
type EffectRow struct {
	Event  uint64 // row of the table events
	Number int64  // index of the operation among the operations issued by the CTA
	Issued uint8  // 1: the instruction issues the operation
	Reads  uint8  // 1: the operation reads its source
	Writes uint8  // 1: the operation writes its destination

	Arrives            uint8 // 1: the operation arrives at an mbarrier and copies nothing; 0 for a log
	Bulk               uint8 // 1: the operation belongs to the asynchronous proxy and its groups; 0 for a log
	Reduces            uint8 // 1: the source is combined with the destination; 0 for a log
	FurtherDestination uint8 // 1: a further destination of a multicast copy; 0 for a log
}

// MbarrierRow is a row of the table mbarriers: a use of an mbarrier by lanes of an instruction, or by an asynchronous operation as it writes, in
// the order of an event's uses.
type MbarrierRow struct {
	Event     uint64      // row of the table events
	Use       MbarrierUse // what the lanes do
	Lanes     uint64      // lanes
	Address   uint64      // address of the mbarrier in the state space .shared; in a cluster, bits 24 and up are the rank of the CTA that has it
	Completes uint8       // 1: the change completes the phase of the mbarrier
}

// SegmentRow is a row of the table segments: global memory of an asynchronous operation, in the event that issues it, in the order of the
// written bytes.
type SegmentRow struct {
	Event      uint64 // row of the table events
	To         int32  // destination: row of the table allocations; -1 is other memory
	ToOffset   uint64 // offset in the destination in bytes
	Bytes      uint64 // number of written bytes
	From       int32  // source: row of the table allocations; -1 is other memory, or registers
	FromOffset uint64 // offset in the source in bytes
	Read       uint64 // number of read bytes
}

// TrapRow is a row of the table traps.
type TrapRow struct {
	Event   uint64 // row of the table events
	Message string // message of the trap
}

// StackRow is a row of the table stack: an entry of the reconvergence stack of the event's warp. The rows of an event are the
// whole stack, and hold for later events of the warp up to its next rows.
type StackRow struct {
	Event       uint64    // row of the table events
	Kind        StackKind // kind of the entry
	Lanes       uint64    // lanes of the warp split; for a point, all live lanes of the reconvergence
	Arrived     uint64    // for a point, the lanes waiting there
	Instruction int32     // next instruction of the warp split, or first instruction after the point; -1 is the end of the function
	Depth       uint16    // number of enclosing reconvergence points
}

// ResultRow is a row of the table results: a register written by the lanes of an event.
type ResultRow struct {
	Event    uint64 // row of the table events
	Lanes    uint64 // writing lanes: the lanes of the event, except for tensor cores
	Register uint32 // row of the table registers
	Class    Class  // class of the value
	Base     uint64 // for a uniform or affine value, bits 0 to 63 of lane 0; for a mask, the lanes
	High     uint64 // bits 64 to 127 of a uniform .b128
	Stride   int64  // stride of an affine value, from lane to lane; otherwise 0
	Values   uint64 // first row of the table values, for class generic
}

// AccessRow is a row of the table accesses: memory accessed by lanes of an event. An instruction has several rows if it accesses
// memory several times, or if its generic addresses lie in several state spaces. A fetch of a texture has a row for the first
// texel of each lane, a row for the second, and so on.
type AccessRow struct {
	Event      uint64     // row of the table events
	Kind       AccessKind // direction
	Space      Space      // state space of the memory, also for generic addresses
	Bytes      uint32     // bytes accessed by each lane; 0 for kind zero
	Lanes      uint64     // lanes with an access in this space
	Class      Class      // class of the addresses
	Base       uint64     // for uniform or affine addresses, the address of lane 0: in shared, local and param memory an offset, otherwise the address. In a cluster, bits 24 and up of a shared address are the rank of the CTA
	Stride     int64      // stride of affine addresses, from lane to lane; otherwise 0
	Values     uint64     // first row of the table values, for class generic
	Sectors    uint32     // distinct sectors of 32 bytes, in global and local memory; otherwise 0, also for texels, whose layout on GPUs is not documented
	Passes     uint32     // passes through the banks of shared memory, or through the constant cache; otherwise 0
	Allocation int32      // row of the table allocations; -1 if the allocation is unknown, or differs between lanes
}

// StoreRow is a row of the table stores: an element stored by an access, or the operand of an atomic operation.
type StoreRow struct {
	Access  uint64 // row of the table accesses
	Compare uint8  // 1: the expected value of .cas; 0: the stored element, or the operand
	Bits    uint8  // width of the element
	Class   Class  // class of the value
	Base    uint64 // for a uniform or affine value, the value of lane 0
	Stride  int64  // stride of an affine value, from lane to lane; otherwise 0
	Values  uint64 // first row of the table values, for class generic
}

// WriteRow is a row of the table writes: the bytes written by an access of an asynchronous operation; with the part memory, also the
// bytes that an atomic operation leaves in global memory, those of the lowest lane first.
type WriteRow struct {
	Access uint64 // row of the table accesses
	Bytes  uint64 // number of bytes
	Data   uint64 // first row of the table data
}

// ValueRow is a row of the table values: the value of a single lane.
type ValueRow struct {
	Low  uint64 // bits 0 to 63
	High uint64 // bits 64 to 127
}

// AllocationRow is a row of the table allocations.
type AllocationRow struct {
	Device uint32 // number of the device, from 0 on
	Event  uint64 // number of events before the allocation became known
	Base   uint64 // first address
	Size   uint64 // size in bytes
	Kind   string // kind of allocation: buffer, variable, constant, …
	Name   string // name given by the host or the module; may be empty
}

// FreeRow is a row of the table frees.
type FreeRow struct {
	Allocation uint32 // row of the table allocations
	Event      uint64 // number of events before the allocation was freed
}

// ImageRow is a row of the table images: the contents of an allocation when a launch begins.
type ImageRow struct {
	Launch     uint32 // row of the table launches
	Allocation uint32 // row of the table allocations
	Bytes      uint64 // number of recorded bytes; less than the size of the allocation if a limit was reached
	Data       uint64 // first row of the table data. Equal contents share rows.
}

// DataRow is a row of the table data: a byte of a memory image or of an argument, or a byte of the table writes.
type DataRow struct {
	Byte uint8 // a byte of memory
}

// EnumerationRow is a row of the table enumerations: the name of a number in a column such as kind.
type EnumerationRow struct {
	Table  string // table of the column
	Column string // column of numbers
	Value  uint8  // value in the column
	Name   string // name of the value
}

// Type is the type of the values of a column.
type Type string

// The types of columns: unsigned (U) and signed (I) integers with their width in bits, and text.
const (
	U8   Type = "u8"
	U16  Type = "u16"
	U32  Type = "u32"
	U64  Type = "u64"
	I8   Type = "i8"
	I16  Type = "i16"
	I32  Type = "i32"
	I64  Type = "i64"
	Text Type = "text"
)

// bytes returns the size in bytes of a value of a numeric type.
func (t Type) bytes() uint8 {
	switch t {
	case U8, I8:
		return 1
	case U16, I16:
		return 2
	case U32, I32:
		return 4
	}
	return 8
}

// extend returns the low bits of a number as a value of a type, sign-extended for signed types.
func (t Type) extend(v uint64) uint64 {
	shift := 64 - 8*t.bytes()
	if t.IsSigned() {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}

// IsSigned reports whether values are sign-extended to 64 bits.
func (t Type) IsSigned() bool { return t[0] == 'i' }

// typeOf returns the type of a column for a field of a row.
func typeOf(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Uint8:
		return U8
	case reflect.Uint16:
		return U16
	case reflect.Uint32:
		return U32
	case reflect.Uint64:
		return U64
	case reflect.Int8:
		return I8
	case reflect.Int32:
		return I32
	case reflect.Int64:
		return I64
	case reflect.String:
		return Text
	}
	panic("record: a column of type " + t.String())
}

// Column is a column of a table.
type Column struct {
	Name string // name, such as active
	Type Type   // type of the values
}

// schema is a table that this package writes: its name and the type of its rows.
type schema struct {
	name     string
	row      reflect.Type
	columns  []Column
	hasTexts bool                // a column has texts
	enums    map[string][]string // names of the values of a column
}

// schemas are the tables, in the order of their numbers in files.
var schemas = []*schema{
	tableOf[RecordingRow]("recording"),
	tableOf[EnumerationRow]("enumerations"),
	tableOf[LaunchRow]("launches"),
	tableOf[OrderRow]("orders"),
	tableOf[EndRow]("ends"),
	tableOf[InstructionRow]("instructions"),
	tableOf[BlockRow]("blocks"),
	tableOf[EdgeRow]("edges"),
	tableOf[SourceRow]("sources"),
	tableOf[RegisterRow]("registers"),
	tableOf[OperandRow]("operands"),
	tableOf[VariableRow]("variables"),
	tableOf[ArgumentRow]("arguments"),
	tableOf[EventRow]("events"),
	tableOf[GroupRow]("groups"),
	tableOf[WaitRow]("waits"),
	tableOf[CallRow]("calls"),
	tableOf[EffectRow]("effects"),
	tableOf[SegmentRow]("segments"),
	tableOf[MbarrierRow]("mbarriers"),
	tableOf[TrapRow]("traps"),
	tableOf[StackRow]("stack"),
	tableOf[ResultRow]("results"),
	tableOf[AccessRow]("accesses"),
	tableOf[StoreRow]("stores"),
	tableOf[WriteRow]("writes"),
	tableOf[ValueRow]("values"),
	tableOf[AllocationRow]("allocations"),
	tableOf[FreeRow]("frees"),
	tableOf[ImageRow]("images"),
	tableOf[DataRow]("data"),
}

// enumerated has the names of the values of each type of column with names.
var enumerated = map[reflect.Type][]string{
	reflect.TypeFor[Kind]():        kindNames[:],
	reflect.TypeFor[Class]():       classNames[:],
	reflect.TypeFor[AccessKind]():  accessNames[:],
	reflect.TypeFor[Space]():       spaceNames,
	reflect.TypeFor[StackKind]():   stackNames[:],
	reflect.TypeFor[MbarrierUse](): mbarrierUseNames,
	reflect.TypeFor[SourceKind]():  sourceNames[:],
}

func tableOf[Row any](name string) *schema {
	s := &schema{name: name, row: reflect.TypeFor[Row](), enums: map[string][]string{}}
	for i := range s.row.NumField() {
		f := s.row.Field(i)
		c := Column{columnName(f.Name), typeOf(f.Type)}
		s.columns, s.hasTexts = append(s.columns, c), s.hasTexts || c.Type == Text
		if names := enumerated[f.Type]; names != nil {
			s.enums[c.Name] = names
		}
	}
	return s
}

// columnName returns the name of the column of a field: CTA is cta, GridX is grid_x.
func columnName(field string) string {
	var b strings.Builder
	for i, r := range field {
		upper := 'A' <= r && r <= 'Z'
		if upper && i > 0 && field[i-1] >= 'a' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// numberOf has the number of the table whose rows have a type.
var numberOf = map[reflect.Type]int{}

// The numbers of the tables with the most rows.
var eventTable, resultTable, accessTable, valueTable int

func init() {
	for i, s := range schemas {
		numberOf[s.row] = i
	}
	eventTable, resultTable = numberOf[reflect.TypeFor[EventRow]()], numberOf[reflect.TypeFor[ResultRow]()]
	accessTable, valueTable = numberOf[reflect.TypeFor[AccessRow]()], numberOf[reflect.TypeFor[ValueRow]()]
}

// tableNumber returns the number of the table with rows of a type. It panics if there is none.
func tableNumber[Row any]() int {
	switch any((*Row)(nil)).(type) { // much faster than the map
	case *EventRow:
		return eventTable
	case *ResultRow:
		return resultTable
	case *AccessRow:
		return accessTable
	case *ValueRow:
		return valueTable
	}
	i, ok := numberOf[reflect.TypeFor[Row]()]
	if !ok {
		panic("record: no table has rows of type " + reflect.TypeFor[Row]().String())
	}
	return i
}
