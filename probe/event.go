package probe

import (
	"fmt"

	"gemu/affinetrack"
	"gemu/ptx"
)

// Event is a fact of a launch. The comments of the kinds (OnLaunch …) name the fields that belong to each kind. All other
// fields are zero, or -1 for indices. The event is valid during the call of Sink.OnEvent only.
type Event struct {
	// Kind is the kind of the event: exactly one element of the set.
	Kind Events
	// Launch describes the launch; nil if the event belongs to none.
	Launch *LaunchInfo
	// Order is the place of a host operation among the operations of the device; nil if it follows all earlier operations and
	// precedes all later operations.
	Order *HostOrder

	// Device is the number of the device of a host operation (LaunchInfo.Device); 0 for events of a launch.
	Device uint64

	// Step is the number of instructions of the launch that began before, over all warps, subscribed or not. It identifies a
	// moment of the launch. It counts only if a probe is InOrder. It is -1 for instructions that lanes at different places
	// execute together, and for exits that a branch takes without leaving its block: they are not counted.
	Step int64

	// CTA is the linear index of the CTA; -1 if the event belongs to no CTA.
	CTA int
	// ID is the index of the CTA in three dimensions.
	ID ptx.Dim3
	// Warp is the index of the warp in the CTA; -1 if the event belongs to no warp.
	Warp int

	// Instr is the instruction of the event; nil if it has none.
	Instr *ptx.Instr
	// Func is the function that contains Instr.
	Func *ptx.Func
	// Index is the index of Instr in Launch.Program; -1 if the event has no instruction.
	Index int

	// Active is the active mask: the lanes of the running warp split.
	Active uint64
	// Reconverge is the index in Launch.Program of the reconvergence point where the active lanes wait for missing lanes;
	// -1 if none is known.
	Reconverge int
	// Depth is the number of calls that the active lanes are in.
	Depth int
	// Local is the offset, in bytes, of the function's local frame in the local memory of the active lanes.
	Local int

	// Lanes is the set of lanes that the event is about: for an instruction, the active lanes for which its guard holds.
	Lanes uint64
	// Reads has the registers that the instruction names as sources, without its guard, in the order of its operands. It is empty
	// unless the subscription requests Values or Tags; Instr names the registers in any case.
	Reads []Value
	// Writes has the registers that the instruction names as results; it is empty unless the subscription requests Values or Tags.
	Writes []Value

	// Accesses has the memory accesses of the instruction so far.
	Accesses []Access
	// Texels has the texels that the instruction reads.
	Texels []Texel
	// Operation is the operation of the instruction.
	Operation *Operation

	// Groups has the groups of lanes that continue at different instructions.
	Groups []LaneGroup
	// Wait describes a wait.
	Wait WaitState
	// Callee is the called function.
	Callee *ptx.Func
	// Materialised is the register that was materialised, without Low and High. Reg is ptx.NoReg for a temporary of the engine.
	Materialised *Value
	// Row is the register row of Materialised.
	Row Location
	// Trap is the trap that stopped the CTA or the launch.
	Trap *Trap
	// Err is the error that ended the launch; nil if the launch completed.
	Err error
	// Effect is the asynchronous operation.
	Effect *Effect

	// Memory is the allocation of a memory event.
	Memory *Allocation
	// Offset is the offset of the event in Memory, in bytes.
	Offset uint64
	// Bytes is the number of bytes of the event.
	Bytes int

	// Machine answers the questions of the methods of Event about the machine; nil for events that belong to no CTA.
	Machine Machine
}

// Machine is the state of the machine at an event. The methods of Event are the way to use it; it is valid during the call of
// Sink.OnEvent only.
type Machine interface {
	// ReadRegister reads a register of the function of the event into v. It returns false for a register that is dead there.
	ReadRegister(v *Value, r ptx.RegID) bool
	// Shared returns the shared memory of the CTA.
	Shared() *Allocation
	// Find returns the allocation of global memory that contains an address.
	Find(addr uint64) *Allocation
	// ReadLocal copies bytes of a lane's local memory and returns their number.
	ReadLocal(p []byte, lane int, offset uint64) int
	// LocalWords returns a word of the local memory of lanes 0 to 31.
	LocalWords(i uint64) *[32]uint32
	// AppendStack appends the reconvergence stack of the warp.
	AppendStack(to []StackEntry) []StackEntry
	// Source locates source i of the operation.
	Source(i int) Cell
	// Result locates result i of the operation.
	Result(i int) Cell
	// ReduceEvents switches the selection of the sink for the warp.
	ReduceEvents(reduce bool)
	// Stop ends the launch with an error.
	Stop(err error)
	// NewTrap returns a trap with the place of the event.
	NewTrap(kind error, lanes uint64, message string) *Trap
	// Pause pauses the launch.
	Pause()
}

// Read reads a register of the function of the event, lanes and tags, independently of the subscription. ok is false where
// the register is dead.
func (e *Event) Read(r ptx.RegID) (v Value, ok bool) {
	ok = e.ReadTo(&v, r)
	return v, ok
}

// ReadTo is Read into v, which reuses the memory of earlier reads.
func (e *Event) ReadTo(v *Value, r ptx.RegID) (ok bool) {
	return e.Machine != nil && e.Machine.ReadRegister(v, r)
}

// Shared returns the shared memory of the CTA; nil if the event belongs to no CTA.
func (e *Event) Shared() *Allocation {
	if e.Machine == nil {
		return nil
	}
	return e.Machine.Shared()
}

// Find returns the allocation of global memory that contains an address, alive or freed; nil if there is none, or the event
// belongs to no CTA.
func (e *Event) Find(addr uint64) *Allocation {
	if e.Machine == nil {
		return nil
	}
	return e.Machine.Find(addr)
}

// LocalBytes copies bytes of the local memory of a lane of the warp, from an offset on, and returns their number.
func (e *Event) LocalBytes(p []byte, lane int, offset uint64) (n int) {
	if e.Machine == nil {
		return 0
	}
	return e.Machine.ReadLocal(p, lane, offset)
}

// LocalWords returns word i, of 4 bytes, of the local memory of lanes 0 to 31 of the warp; nil if their memory is smaller. It is
// the memory itself: the caller must not change it.
func (e *Event) LocalWords(i uint64) *[32]uint32 {
	if e.Machine == nil {
		return nil
	}
	return e.Machine.LocalWords(i)
}

// AppendStack appends the reconvergence stack of the warp: the running warp split, the other warp splits with the one that runs
// next last, and the reconvergence points, the innermost first. It appends nothing for an event that belongs to no warp. The
// stack is that of the instruction of the event for OnBefore and OnAfter; other events can arrive while the machine changes it.
func (e *Event) AppendStack(to []StackEntry) []StackEntry {
	if e.Machine == nil || e.Warp < 0 {
		return to
	}
	return e.Machine.AppendStack(to)
}

// Source locates source i of the operation of an event of kind OnOperation.
func (e *Event) Source(i int) Cell { return e.Machine.Source(i) }

// Result locates result i of the operation of an event of kind OnResult.
func (e *Event) Result(i int) Cell { return e.Machine.Result(i) }

// ReduceEvents(true) switches the events of this warp for this sink to EventReducer.ReducedEvents, starting with the next
// instruction; ReduceEvents(false) restores the full selection. A warp begins with the full selection.
func (e *Event) ReduceEvents(reduce bool) {
	if e.Machine != nil {
		e.Machine.ReduceEvents(reduce)
	}
}

// Stop ends the launch with an error, before the next instruction of the CTA or at its end. The first error wins. Stop does
// nothing for an event that belongs to no CTA.
func (e *Event) Stop(err error) {
	if e.Machine != nil {
		e.Machine.Stop(err)
	}
}

// NewTrap returns a trap, for Stop, with the place of an event of a CTA: its instruction, and lanes if the event belongs to a
// warp. kind is returned by Trap.Unwrap.
func (e *Event) NewTrap(kind error, lanes uint64, format string, args ...any) *Trap {
	return e.Machine.NewTrap(kind, lanes, fmt.Sprintf(format, args...))
}

// Pause pauses the launch: before the instruction of an OnBefore event, else before the next instruction. It has an effect only
// for a launch that was started with interp.Module.Start or Launch.Drive, if a probe of the launch is InOrder.
func (e *Event) Pause() {
	if e.Machine != nil {
		e.Machine.Pause()
	}
}

// Value is the content of a register of a warp.
type Value struct {
	// Reg is the register; ptx.NoReg for a temporary of the engine.
	Reg ptx.RegID
	// Type is the declared type of the register.
	Type ptx.Type

	// Low has the register of each lane, bits 0 to 63; nil without Subscription.Values. Lanes that do not execute the instruction
	// have unspecified values.
	Low []uint64
	// High has bits 64 to 127 of a register of type .b128; nil for all other types.
	High []uint64

	// Tags has the compact copies of the register: of lanes 0 to 31, and of lanes 32 to 63.
	Tags [2]Tag

	lowBuffer, highBuffer []uint64
}

// Reset makes v a value of a register without lanes and tags. It keeps the memory of Low and High for Reserve.
func (v *Value) Reset(r ptx.RegID, t ptx.Type) {
	v.Reg, v.Type, v.Low, v.High, v.Tags = r, t, nil, nil, [2]Tag{}
}

// Reserve gives Low room for n lanes, and High if wide, and reuses the memory of earlier calls. The content is unspecified.
func (v *Value) Reserve(n int, wide bool) {
	if v.Low = v.lowBuffer; len(v.Low) != n {
		v.lowBuffer = make([]uint64, n)
		v.Low = v.lowBuffer
	}
	if !wide {
		return
	}
	if v.High = v.highBuffer; len(v.High) != n {
		v.highBuffer = make([]uint64, n)
		v.High = v.highBuffer
	}
}

// Tag is the compact copy of a register of up to 64 bits, for 32 lanes: in the lanes of Mask, bit i for lane i of the 32, the
// register is Base + i·Stride, modulo 2^32 or 2^64 by the width of its register row. An empty Mask means no compact copy, as in
// vector mode. The tag shows the storage of the engine; package structure computes the classes of a value policy.
type Tag struct {
	affinetrack.Value
	// Mask is the set of lanes with a compact copy.
	Mask uint32
}

// LaneGroup is a group of lanes that continue at the same instruction.
type LaneGroup struct {
	// Lanes is the set of lanes.
	Lanes uint64
	// To is the index of the next instruction in Launch.Program; -1 is the end of the function.
	To int
}

// WaitState describes the wait of lanes at a barrier or a collective instruction.
type WaitState struct {
	// Barrier is the barrier of the CTA, 0 to 15; 16 is the barrier of the cluster; -1 is a wait for lanes of the same warp.
	Barrier int
	// Threads is the number of threads that the barrier waits for; 0 means all threads of the CTA.
	Threads int
	// Members is the membermask of a collective instruction.
	Members uint32

	// Generation is, for OnWake, the number of earlier completions of the barrier: lanes with equal Barrier and Generation have met.
	Generation int
}

// Texel is a texel that is read for a lane. A filtering lookup reads several texels, perhaps a texel twice.
type Texel struct {
	// Lane is the lane.
	Lane int
	// Memory is the allocation of the texel.
	Memory *Allocation
	// Offset is the offset of the texel in Memory, in bytes.
	Offset uint64
	// Bytes is the size of the texel.
	Bytes int
}
