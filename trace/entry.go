package trace

// This file defines the entries of a log.

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Version is the version of the log format, text and binary. It grows when the meaning of a field changes, or when
// an old reader would misunderstand a log with a new field. A Reader accepts versions 1 to Version. Version 2
// added the operands of atomics, the bytes written by asynchronous operations, and filters.
const Version = 2

// Entry is one of Header, Launch, Code, CTA, Record, End and Finish.
type Entry interface{ entry() }

func (*Header) entry() {}
func (*Launch) entry() {}
func (*Code) entry()   {}
func (*CTA) entry()    {}
func (*Record) entry() {}
func (*End) entry()    {}
func (*Finish) entry() {}

// Header is the first entry of a log.
type Header struct {
	Version   uint64   // version of the format, from 1 to the constant Version
	Simulator string   // "" is gemu
	Missing   []string // parts that the log lacks: elements of MissingParts
	Filter    Filter   // the recorded part of the launches
}

// MissingParts lists the parts that a log of another simulator may lack. A comparison skips parts that either log lacks.
var MissingParts = []string{"results", "addresses", "stored", "active", "launch", "code", "wake", "operands", "effects"}

// missingBefore2 lists the parts that all logs of version 1 lack, in addition to Header.Missing.
var missingBefore2 = []string{"operands", "effects"}

// Launch begins a launch.
type Launch struct {
	Number     uint64   // number of the launch, from 0; launches that the filter excludes count, too
	Kernel     string   // name of the kernel
	File       string   // name of the PTX file, as in messages
	Grid       []uint64 // number of CTAs: x, y, z
	Block      []uint64 // threads per CTA
	Cluster    []uint64 // CTAs per cluster; nil: no clusters
	WarpSize   uint64   // lanes of a warp, at most 64; 0 means 32
	Reconverge string   // name of the reconvergence policy
}

// Code is an instruction of the launch's kernel, or of a function that it can call.
type Code struct {
	Index        uint64     // number of the instruction in the launch, from 0; Record.Code is Index + 1
	Func         string     // name of its function
	Line, Column uint64     // in the PTX, from 1
	Class        string     // functional unit, as in gemu isa
	Text         string     // PTX without the semicolon
	Writes       []Register // destinations, in order
	Reads        []Register // sources: the guard first, then in order
	Flags        []string   // "clock": the results are times; "approx.f32", "approx.f16x2" …: the results are approximate, of this type
}

// clock reports whether the results are times.
func (c *Code) clock() bool { return slices.Contains(c.Flags, "clock") }

// width returns the number of bits of a result whose record does not give a width: the width of the register if the
// instruction writes it, else 64. c may be nil.
func (c *Code) width(register string) uint64 {
	if c != nil {
		for i := range c.Writes {
			if c.Writes[i].Name == register {
				return c.Writes[i].Bits
			}
		}
	}
	return 64
}

// approx returns the type of approximate results, such as ".f32"; "" if the results are not approximate.
func (c *Code) approx() string {
	for _, f := range c.Flags {
		if t, ok := strings.CutPrefix(f, "approx"); ok {
			return t
		}
	}
	return ""
}

// name returns the opcode with its modifiers: the first word of the text after the guard.
func (c *Code) name() string {
	list := strings.Fields(c.Text)
	if len(list) > 1 && list[0][0] == '@' {
		list = list[1:]
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// Register is a register operand of an instruction.
type Register struct {
	Name string // as in PTX: "%r1"
	Bits uint64 // width; 1 for predicates
	Type string // such as ".f32"
}

// CTA begins the records of a CTA.
type CTA struct {
	Number uint64   // linear index in the grid
	ID     []uint64 // x, y, z
}

// Kind is the kind of a record.
type Kind uint64

// The kinds.
const (
	Instruction Kind = iota // a warp executed an instruction
	Return                  // lanes returned from the call instruction that Code names; Results has the call's results
	Wake                    // lanes passed the barrier instruction that Code names; Results has the barrier's results
	// Effect is an effect of an asynchronous operation: Note has its number and stages, Accesses the memory, and Results
	// the registers written by tensor cores.
	Effect
	Trap // the CTA trapped: Note has the reason
	kinds
)

var kindNames = [kinds]string{"instruction", "return", "wake", "effect", "trap"}

func (k Kind) String() string { return kindNames[k] }

// Record is an action of a warp.
type Record struct {
	Kind Kind   // meaning of the record
	CTA  uint64 // linear index in the grid
	Warp uint64 // index in the CTA
	Seq  uint64 // number of instructions that the warp executed before

	Code uint64 // 1 + Code.Index of the instruction; 0: no instruction, or an unknown one
	Line uint64 // line in the PTX, from 1
	Name string // opcode with modifiers

	Lanes  uint64 // lanes that execute the instruction; bit 0 is lane 0
	Active uint64 // lanes at the instruction, also those that its guard excludes

	// Numbers has, for each lane of Active, the number of instructions that the thread executed before. Nil means that no
	// instruction of these threads was left out: each number is one more than in the thread's previous record, or 0 in its first.
	Numbers *Value

	Depth    uint64   // call depth of the lanes
	Results  []Value  // registers that the lanes have written
	Accesses []Access // accesses to memory, in order
	Note     string   // of a Trap its reason; of an Effect its number and stages (see EffectStage); else ""

	ordinal uint64 // number of records before this record, in the order in which the cursor delivers the log
}

// AccessKind is the kind of a memory access.
type AccessKind uint64

// The kinds of access.
const (
	Load   AccessKind = iota // reads memory
	Store                    // writes memory
	Atomic                   // reads and writes memory
	Zero                     // writes zeros; Access.Store has the length for each lane, in bytes
	accessKinds
)

var accessNames = [accessKinds]string{"load", "store", "atomic", "zero"}

func (k AccessKind) String() string { return accessNames[k] }

// Access is a memory access of an instruction.
type Access struct {
	Kind  AccessKind // load, store, atomic or zero
	Space string     // state space in the instruction; may be "generic"
	Bytes uint64     // per lane; 0 for Zero
	Lanes uint64     // subset of the record's lanes; 0: all of them
	Addr  Value      // in .shared, .local and .param: offset in bytes; in all other spaces: generic address

	// Store holds the stored elements, in memory order; a 128-bit element has two entries. For an atomic, Store holds the operand;
	// for .cas, the new value.
	Store   []Value
	Compare []Value // expected values of .cas, in the form of Store; nil for all other operations
	Data    []byte  // bytes that an asynchronous operation writes; its Store is nil
}

// End ends a launch.
type End struct {
	Number uint64 // number of the launch, as in Launch
	Error  string // reason of failure; "" if the launch has succeeded
}

// Finish is the last entry of a log, with the number of records in the whole log. A log without a Finish is incomplete.
type Finish struct{ Records uint64 }

// The stages of an asynchronous operation in a Note.
const (
	noteIssued = "issued"
	noteReads  = "reads"
	noteWrites = "writes"
)

// effectNote returns the Note of an Effect: the number of the operation in its CTA, and its current stages.
func effectNote(number int64, issued, reads, writes bool) string {
	var stages []string
	for _, d := range []struct {
		happens bool
		name    string
	}{{issued, noteIssued}, {reads, noteReads}, {writes, noteWrites}} {
		if d.happens {
			stages = append(stages, d.name)
		}
	}
	return fmt.Sprintf("%d %s", number, strings.Join(stages, ","))
}

// EffectStage returns the number of the asynchronous operation of a record of kind Effect, and the stages that the
// record reports. ok is false if its Note is malformed.
func (r *Record) EffectStage() (number uint64, issued, reads, writes, ok bool) {
	first, rest, _ := strings.Cut(r.Note, " ")
	number, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0, false, false, false, false
	}
	for _, stage := range strings.Split(rest, ",") {
		switch stage {
		case noteIssued:
			issued = true
		case noteReads:
			reads = true
		case noteWrites:
			writes = true
		default:
			return 0, false, false, false, false
		}
	}
	return number, issued, reads, writes, true
}

// lanes returns the lanes of an access: its own set, or all lanes of the record.
func (r *Record) lanes(a *Access) uint64 {
	if a.Lanes != 0 {
		return a.Lanes
	}
	return r.Lanes
}

// extent formats an extent or index as "x,y,z".
func extent(d []uint64) string {
	var s []string
	for _, n := range d {
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ",")
}

// rank returns the number of lanes in a mask that are lower than a lane.
func rank(mask uint64, lane int) int { return bits.OnesCount64(mask & (1<<lane - 1)) }
