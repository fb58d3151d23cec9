package simt

// This file is what a probe is, and what it can be told.

import (
	"math"
	"math/bits"
	"strings"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// Probe watches launches: statistics, traces, sanitizers, models of hardware and
// debuggers are probes. Several can watch a launch. What happens is one stream of
// events, the same in every mode but for what the engine holds compactly (Value.Tags),
// and for each CTA the same on any number of the host's cores.
type Probe interface {
	// Subscription says what the probe is to be told. It always says the same.
	Subscription() Subscription

	// CTA is called as a CTA of a launch begins, and gives the one who is told what this CTA
	// does; nil if nobody wants to know. Unless the probe wants one order, several CTAs run at
	// the same time, and this is called from any thread of the host.
	CTA(l *LaunchInfo, index int, id Dim3) Sink

	// Tell is told what is no CTA's: launches that begin and end, memory of the device
	// that the host allocates, frees and copies.
	Sink
}

// EventSelector is a probe that is to be told of some instructions only: what it is told of others is
// what comes of them (OnBranch, OnWait, OnExit …), but not that they are executed. Where no probe
// wants to know, instructions cost about what they cost unwatched.
type EventSelector interface {
	// SelectEvents says, by index of the instructions of a launch's program, which of OnBefore, OnAccess,
	// OnTexels, OnOperation, OnResult, OnAfter and OnUndo it is told of them, if it wants them at all; nil means
	// all. It is asked as each CTA begins, and of those in flight as a launch that has paused goes on.
	// What it has given does not change.
	SelectEvents(l *LaunchInfo) []Events
}

// EventReducer is a Chooser that needs to be told less of a warp as long as all is well there, which its
// sinks say: Event.ReduceEvents.
type EventReducer interface {
	EventSelector
	// ReducedEvents is Chosen for warps that have been eased, never nil.
	ReducedEvents(l *LaunchInfo) []Events
}

// selectableEvents are the events that a Chooser is told of some instructions only.
const selectableEvents = OnBefore | OnAccess | OnTexels | OnOperation | OnResult | OnAfter | OnUndo

// Sink is told of events, one at a time.
type Sink interface {
	// OnEvent is told of an event. It and what it points to are only good during the call.
	OnEvent(e *Event)
}

// Subscription is what a probe wants to be told. What no probe of a launch wants costs nothing.
type Subscription struct {
	Events    Events
	Values    bool // of the registers that instructions read and write: Value.Low
	Tags      bool // what the engine holds compactly of them: Value.Tags
	Addresses bool // of the memory that instructions access: Access.Addr

	// InOrder has the launch run on one core of the host, so that the events of all CTAs
	// come in one order, which is that of the schedule and the same on every host. Only
	// such probes may pause a launch. A driver of the device then runs one operation after the
	// other, as they were submitted: what it could run side by side it says by Order.
	InOrder bool
}

// union is what somebody wants who wants both.
func (w Subscription) union(other Subscription) Subscription {
	return Subscription{w.Events | other.Events, w.Values || other.Values, w.Tags || other.Tags, w.Addresses || other.Addresses, w.InOrder || other.InOrder}
}

// Events is a set of kinds of events.
type Events uint32

// The kinds of events, with the fields of Event that say more.
const (
	OnLaunch    Events = 1 << iota // a launch begins: Launch
	OnLaunchEnd                    // … ends, also one that could not begin: Err, and Trap if it is one. CTAs in flight then tell no ends

	OnCTA     // a CTA begins
	OnCTAEnd  // … has ended
	OnWarp    // a warp begins: Lanes
	OnWarpEnd // … has ended

	// A warp is about to execute a PTX instruction, with the lanes of Lanes: Reads. All
	// instructions are told, whether they cost the engine anything or not. One in which all
	// lanes are held back by its guard is, too.
	OnBefore

	// It is about to access memory: the last of Accesses. An instruction may do so several
	// times.
	OnAccess

	// It is about to execute one of the operations that the instruction is made of, with the
	// lanes of Lanes, and has executed it: Operation, whose operands Source and Result find.
	// Nothing is told of instructions that lanes at different places execute together.
	OnOperation
	OnResult

	// It has executed the instruction: Reads, as they were, Accesses and Writes. One that ends a
	// block (a branch, a call, a barrier, an exit) has done all but move on: what comes of it
	// is told next. The results of a call come with OnReturn, those of a barrier with OnWake:
	// here Writes is what was there.
	OnAfter

	// The instruction told of last has not happened: lanes that it waits for are elsewhere
	// (OnWait says which). It is told anew when they execute it.
	OnUndo

	OnBranch     // lanes branch: Ways, one if they stay together
	OnSplit      // lanes that were together part: Ways, of which the warp split that runs takes one
	OnReconverge // the lanes of Lanes are together again
	OnCall       // the lanes of Lanes are in Callee now
	OnReturn     // … are back from it, behind the call: Writes
	OnWait       // the lanes of Lanes wait at the instruction: Waits
	OnWake       // … go on: Waits, Writes
	OnExit       // the lanes of Lanes have ended

	// The engine has written a register that it holds compactly to lanes of its row: Lanes,
	// Expanded, Row; at a function's end Index is -1. This depends on the mode.
	OnMaterialise

	OnTrap // the CTA stops with a trap: Trap

	// An instruction of the texture unit is about to read texels, for the lanes of Lanes: Texels.
	OnTexels

	// A lane issues an asynchronous operation, between OnBefore and OnAfter of its instruction, or
	// what it has issued is about to read or write memory, whatever its CTA or another of its
	// cluster is at then: Effect, and CTA, Warp, Lanes and Instr that have issued it.
	OnEffect

	OnPrint // the lane of Lanes is about to print an argument of vprintf: Memory, nil if it is local memory, Offset, Bytes

	OnAlloc     // memory has been allocated, by the host, for a launch, or by malloc in the lane of Lanes: Memory
	OnFree      // … is freed
	OnHostWrite // the host has written: Memory, Offset, Bytes
	OnHostRead  // the host reads

	AllEvents Events = 1<<iota - 1
)

var eventNames = []string{
	"launch", "launch end", "cta", "cta end", "warp", "warp end", "before", "access", "operation", "result", "after", "undo", "branch", "split", "reconverge",
	"call", "return", "wait", "wake", "exit", "materialise", "trap", "texels", "effect", "print", "alloc", "free", "host write", "host read",
}

// String names the kinds of the set.
func (s Events) String() string {
	var list []string
	for i, name := range eventNames {
		if s>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// Has reports whether all of o are in the set.
func (s Events) Has(other Events) bool { return s&other == other }

// Event is something that has happened.
type Event struct {
	Kind   Events      // one of them
	Launch *LaunchInfo // nil if it is in none
	Order  *HostOrder  // of what the host does to memory, or with it; nil: after all before it, and before all after it

	// Step is how many instructions of the launch had begun before, of all warps, told or not: it
	// names the moment. It is counted where a probe wants all events in one order. What lanes at
	// different places execute together, and exits on the side, are not counted: of those it is -1.
	Step int64

	CTA  int  // index of the CTA; -1 if it is no CTA's
	ID   Dim3 // of the CTA
	Warp int  // within the CTA; -1 if it is no warp's

	// The instruction that it is about; nil if it is none.
	Instr *ptx.Instr
	Func  *ptx.Func // that it is in
	Index int       // of it in Launch.Program; -1 if it is none

	// The lanes that are together there.
	Active     uint64 // them
	Reconverge int    // the instruction before which they wait for others, as Index; -1: none is known
	Depth      int    // calls that they are in
	Local      int    // where the function's local frame begins in their local memory, in bytes

	Lanes  uint64  // that it is about: of an instruction those that its guard lets execute it
	Reads  []Value // registers that the instruction names, its guard left out, in the order of its operands
	Writes []Value

	Accesses  []Access   // of the instruction to memory, so far
	Texels    []Texel    // that it reads
	Operation *Operation // one of the parts of the instruction

	Groups       []LaneGroup
	Wait         WaitState
	Callee       *ptx.Func
	Materialised *Value   // without Low and High; of a temporary of the engine's Reg is ptx.NoReg
	Row          Location // of it
	Trap         *Trap
	Err          error // that the launch has ended by; nil if it came to its end
	Effect       *Effect

	Memory *mem.Allocation
	Offset uint64 // in it
	Bytes  int

	stream *eventStream
	warp   *warp
	frame  *frame // that the lanes are in
	source *code.Source
	pair   *instrPair // of Operation
}

// Value is a register of a warp.
type Value struct {
	Reg  ptx.RegID
	Type ptx.Type

	// By lane, bits 0 to 63 and, of .b128, 64 to 127; nil if nobody wants them. What the
	// lanes have that do not execute the instruction is left open.
	Low, High []uint64

	Tags [2]Tag // of lanes 0 to 31 and 32 to 63

	low, high []uint64 // room
}

// Tag is what the engine holds compactly of a register of up to 64 bits: for lanes of Mask,
// bit i for lane i of the 32, it is Base + i·Stride, modulo two to the width that the
// engine has for the register, 32 or 64 bits. Without lanes in Mask it holds nothing so,
// as in vector mode. What a policy would hold is another matter: see Structure.
type Tag struct {
	affinetrack.Value
	Mask uint32
}

// LaneGroup is lanes that go the same way.
type LaneGroup struct {
	Lanes uint64
	To    int // the PTX instruction they come to next, as Event.Index; -1: the end of the function
}

// WaitState is what lanes wait for.
type WaitState struct {
	Barrier int    // the barrier of the CTA, 0 to 15; 16: that of the cluster; -1: lanes of the warp
	Threads int    // that the barrier waits for; 0: all of the CTA
	Members uint32 // lanes of the warp that execute it together

	// Generation is how often the barrier had completed before, told OnWake: lanes
	// that are told the same have met there.
	Generation int
}

// Access is what an instruction does to memory: the state space as the instruction has it,
// what it does there, and to how many bytes of a lane's.
type Access struct {
	mem.Access
	Addr  []uint64 // by lane; nil if nobody wants them
	Lanes uint64   // of the event's, those that access memory: by ldmatrix not all provide an address

	w          *warp
	instr      *code.Instr // the operation of the machine that accesses it
	addrBuffer []uint64
	lengths    []uint64 // by lane, if lanes access regions of different lengths

	runLanes uint64 // the lanes of which there are runs; 0: of none
	runs     [maxAddressRuns]AddressRun
	runCount int // of runs; 0: there would be more
}

// Texel is a texel that is read for a lane. A lookup that filters reads several, perhaps one of them twice.
type Texel struct {
	Lane   int
	Memory *mem.Allocation
	Offset uint64 // in it
	Bytes  int
}

// maxAddressRuns is how many runs an access may have.
const maxAddressRuns = 4

// AddressRun is lanes that access addresses that are evenly apart: lane i that of the first of them, lane f, plus
// (i-f)·Stride, modulo 2⁶⁴. Of one lane Stride is 0.
type AddressRun struct {
	Lanes  uint64 // one at least
	Addr   uint64 // of the first
	Stride int64
}

// Span is the lowest of the addresses, and how far behind it the highest is; ok is false if they go
// beyond the end of the address space.
func (r *AddressRun) Span() (low, width uint64, ok bool) {
	distance := 63 - bits.LeadingZeros64(r.Lanes) - bits.TrailingZeros64(r.Lanes)
	low, width = r.Addr, uint64(r.Stride)*uint64(distance)
	if r.Stride < 0 {
		low, width = low+width, -width
	}
	return low, width, r.Stride == int64(int32(r.Stride)) && low+width >= low
}

// Runs divides a set of lanes into runs, from the first lane on, each as long as may be; it gives none if
// there are none, or more than a few. They are good until another set is asked for. The access must have
// addresses.
func (a *Access) Runs(lanes uint64) []AddressRun {
	if a.runLanes != lanes {
		a.runLanes = lanes
		a.runCount = a.computeRuns(lanes)
	}
	return a.runs[:a.runCount]
}

// computeRuns finds the runs.
func (a *Access) computeRuns(lanes uint64) (n int) {
	for lanes != 0 {
		if n == maxAddressRuns {
			return 0
		}
		first := bits.TrailingZeros64(lanes)
		r := &a.runs[n]
		*r = AddressRun{Addr: a.Addr[first]}
		n++
		rest := lanes & (lanes - 1)
		if rest != 0 {
			next := bits.TrailingZeros64(rest)
			r.Stride = int64(a.Addr[next]-r.Addr) / int64(next-first)
			addr, last := r.Addr, first
			for rest != 0 {
				lane := bits.TrailingZeros64(rest) & 63
				if addr += uint64(r.Stride) * uint64(lane-last); a.Addr[lane] != addr {
					break
				}
				last = lane
				rest &= rest - 1
			}
		}
		if r.Lanes = lanes &^ rest; r.Lanes&(r.Lanes-1) == 0 {
			r.Stride = 0
		}
		lanes = rest
	}
	return n
}

// Length is how many bytes a lane accesses: of st.bulk, what the lane says; less than Bytes where
// the last ones, which nobody reads, lie behind the end of the memory; else Bytes. The access must
// have addresses.
func (a *Access) Length(lane int) int {
	if a.lengths != nil {
		return int(min(a.lengths[lane], math.MaxInt32))
	}
	if a.SpareBytes > 0 {
		view := a.w.view()
		if place, err := view.Find(&a.Access, a.Addr[lane]); err == nil {
			size := uint64(a.w.access(a.instr).Size)
			return int(min(view.BytesLeft(&a.Access, place)/size*size, uint64(a.Bytes)))
		}
	}
	return a.Bytes
}

// Bulk reports whether lanes access regions of different lengths: st.bulk, which writes zeros.
func (a *Access) Bulk() bool { return a.lengths != nil }

// LaunchInfo describes a launch to its probes.
type LaunchInfo struct {
	ID          uint64 // counts the launches of the device
	Kernel      *ptx.Func
	Module      *ptx.Module
	Grid, Block Dim3
	Cluster     Dim3 // CTAs of a cluster: one, where there are none
	WarpSize    int
	Shared      int // bytes of dynamic shared memory of a CTA
	Mode        Mode
	Reconverge  *Reconverger
	Program     Program
	Order       *HostOrder // nil: after all before it, and before all after it

	// Pointers are the words of the parameters, as large as the module's addresses, that have addresses
	// of device memory as the launch begins, by offset.
	Pointers []mem.Pointer
}

// HostOrder is where a launch, or what the host has a device do to memory, stands among the others.
// The device runs them one after the other; which of them the program has ordered is another
// matter. Each is on a line, as a stream is one, of which all come one after the other.
type HostOrder struct {
	Line   int      // from 0 on
	Clock  uint64   // which of its line it is, from 1 on
	Before []uint64 // by line: up to which all come before it; 0 of lines that are missing

	// Ended is, by line, up to which all were known to be over as this one was submitted: they come
	// before whatever is submitted later, too, and later ones are told later.
	Ended []uint64

	Name   string // what it is: "a copy"
	Stream string // that it is on, as messages call it
}

// IsAfter reports whether it comes after another of its device.
func (other *HostOrder) IsAfter(p *HostOrder) bool { return p.isCovered(other.Before) }

// EndedBefore reports whether another was known to be over as this one was submitted.
func (other *HostOrder) EndedBefore(p *HostOrder) bool { return p.isCovered(other.Ended) }

func (other *HostOrder) isCovered(upTo []uint64) bool {
	return other.Line < len(upTo) && other.Clock <= upTo[other.Line]
}

// Program is the PTX instructions of a kernel and of all that it can call, numbered as
// Event.Index has it.
type Program struct{ k *Kernel }

// Len is the number of instructions.
func (p Program) Len() int { return len(p.k.Sources) }

// At is an instruction, and the function that it is in.
func (p Program) At(index int) (*ptx.Instr, *ptx.Func) {
	s := &p.k.Sources[index]
	return s.Instr, s.Func.Func
}

// Shared is the variables in shared memory that the kernel and what it can call name, by
// offset; dynamic shared memory comes last, as variables without a size.
func (p Program) Shared() []Variable { return p.k.Shared }

// Params is the kernel's parameters, by offset from ParamBase.
func (p Program) Params() []Variable { return p.k.Params }

// Locals is the variables, parameters and results in the local frame of a function.
func (p Program) Locals(f *ptx.Func) []Variable {
	for _, fn := range p.k.Funcs {
		if fn.Func == f {
			return fn.Locals
		}
	}
	return nil
}

// Variable is a variable and its offset.
type Variable = code.Variable

// Location is where a register is at an instruction.
type Location struct {
	Kind LocationKind
	Bits int // of a slot of the row: 32 or 64; 1 of a predicate
	Row  int // RowLocation: within the running function's registers of that size
}

// LocationKind is a kind of place.
type LocationKind uint8

// The kinds.
const (
	NoLocation       LocationKind = iota // nobody reads it any more, or yet
	RowLocation                          // in a row of the register file; in affine mode perhaps only in the row's shadow
	ConstantLocation                     // it has one value in the whole launch
)

// LocationOf is where a register of the function is at an instruction, in the code that the
// launch's mode runs.
func (p Program) LocationOf(index int, r ptx.RegID) Location {
	loc, ok := p.k.Sources[index].Func.LocationOf(r, int32(index))
	switch {
	case !ok:
		return Location{}
	case loc.Row < 0:
		return Location{Kind: ConstantLocation, Bits: slotBits(loc.Slot)}
	}
	return Location{Kind: RowLocation, Bits: slotBits(loc.Slot), Row: int(loc.Row)}
}

func slotBits(s code.Slot) int {
	if s == code.P {
		return 1
	}
	return s.Bits()
}

// Read reads a register of the function that the event is in, with its tags; ok is false
// where it is dead.
func (e *Event) Read(r ptx.RegID) (v Value, ok bool) {
	if e.warp == nil || e.source == nil {
		return Value{}, false
	}
	return e.warp.readRegister(e.frame, e.source, r)
}

// Shared is the shared memory of the CTA; nil if the event is no CTA's.
func (e *Event) Shared() *mem.Allocation {
	if e.stream == nil {
		return nil
	}
	return e.stream.cta.sharedMem
}

// ReadTo is Read into a value that has room from an earlier one.
func (e *Event) ReadTo(v *Value, r ptx.RegID) (ok bool) {
	return e.warp != nil && e.source != nil && e.warp.readRegisterTo(v, e.frame, e.source, r)
}

// ReduceEvents has the sink that is told be told less of the event's warp from the next instruction on, what
// its probe says as an Easer; or again of all that is chosen. A warp begins with all.
func (e *Event) ReduceEvents(reduce bool) {
	s, w := e.stream, e.warp
	switch l := &s.sinks[s.current]; {
	case l.reduced == nil || w == nil:
	case reduce:
		w.reducedSinks |= 1 << s.current
	default:
		w.reducedSinks &^= 1 << s.current
	}
}

// readRegister reads a register of a frame at an instruction.
func (w *warp) readRegister(fr *frame, src *code.Source, r ptx.RegID) (v Value, ok bool) {
	ok = w.readRegisterTo(&v, fr, src, r)
	return v, ok
}

func (w *warp) readRegisterTo(v *Value, fr *frame, src *code.Source, r ptx.RegID) (ok bool) {
	if _, ok := src.Func.LocationOf(r, src.Index); !ok {
		return false
	}
	shown := w.shownFrame
	w.show(fr)
	w.register(v, src.Func, r, &Subscription{Values: true, Tags: true})
	w.show(shown)
	return true
}

// Stop ends the launch with an error, the first that it is told, before the next instruction
// of the CTA or where it ends. Of an event that is no CTA's it does nothing.
func (e *Event) Stop(err error) {
	if e.stream != nil && e.stream.stopErr == nil {
		e.stream.stopErr = err
	}
}

// NewTrap makes a trap of a CTA's event, for Stop: it names the instruction, and lanes if it is a
// warp's.
func (e *Event) NewTrap(kind error, lanes uint64, format string, args ...any) *Trap {
	if e.warp == nil {
		return e.stream.cta.newTrap(nil, kind, format, args...)
	}
	return e.warp.newTrap(e.source, lanes, kind, format, args...)
}

// Pause has the launch pause: before the instruction that is told OnBefore, or else before
// the next. It must be one that can be continued, and a probe must want all events in
// one order; otherwise this does nothing.
func (e *Event) Pause() {
	if e.stream != nil {
		g := e.stream.cta.grid
		g.pauseRequested = g.mayPause && g.inOrder
	}
}
