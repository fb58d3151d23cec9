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
	// Order is the place of a host operation among the operations of the device; nil if the operation follows all operations
	// before it and precedes all operations after it.
	Order *HostOrder

	// Device is the number of the device of a host operation (LaunchInfo.Device); 0 for events of a launch.
	Device uint64

	// Step is the number of instructions of all warps of the launch that began before this event, subscribed or not. It
	// identifies a moment of the launch. It is counted only if a probe of the launch is InOrder. It is -1 for instructions that
	// are not counted: instructions that lanes at different places execute together, and exits that a branch takes without
	// leaving its block.
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
	// Depth is the number of active calls of the active lanes; 0 in the kernel itself.
	Depth int
	// Local is the offset, in bytes, of the function's local frame in the local memory of the active lanes.
	Local int

	// Lanes is the set of lanes that the event is about: for an instruction, the active lanes for which its guard holds.
	Lanes uint64
	// Reads has the source registers of the instruction, without its guard, in the order of its operands. It is empty unless the
	// subscription requests Values or Tags; Instr names the registers in any case.
	Reads []Value
	// Writes has the result registers of the instruction. It is empty unless the subscription requests Values, Results or Tags.
	Writes []Value

	// Accesses has the memory accesses of the instruction up to this event.
	Accesses []Access
	// Texels has the texels that the instruction reads.
	Texels []Texel
	// Operation is the operation of the instruction.
	Operation *Operation

	// Mbarriers has the uses of mbarriers, in their order: by the instruction of OnAfter, or by the asynchronous operation of OnEffect
	// in the stage Writes.
	Mbarriers []MbarrierUse

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

	// Machine gives the methods of Event access to the state of the machine; nil for events that belong to no CTA.
	Machine Machine
}

// Machine is the state of the machine at an event. Probes use it through the methods of Event. It is valid during the call of
// Sink.OnEvent only.
type Machine interface {
	// ReadRegister reads a register of the function of the event into v. It returns false for a register that is dead there.
	ReadRegister(v *Value, r ptx.RegID) bool
	// Shared returns the shared memory of the CTA.
	Shared() *Allocation
	// Find returns the allocation of global memory that contains an address.
	Find(addr uint64) *Allocation
	// ReadLocal fills p with bytes of a lane's local memory, and returns the number of copied bytes (Event.LocalBytes).
	ReadLocal(p []byte, lane int, offset uint64) int
	// LocalWords returns word i of the local memory of each of lanes 0 to 31.
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

// Read reads a register of the function of the event: the values of its lanes, and its compact copies (Value.Tags). It does not
// depend on the subscription. ok is false where the register is dead.
func (e *Event) Read(r ptx.RegID) (v Value, ok bool) {
	ok = e.ReadTo(&v, r)
	return v, ok
}

// ReadTo reads a register as Read does, into v. It reuses the memory of earlier reads into v.
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

// Find returns the allocation of global memory that contains an address, even if it was freed; nil if there is none, or if the
// event belongs to no CTA.
func (e *Event) Find(addr uint64) *Allocation {
	if e.Machine == nil {
		return nil
	}
	return e.Machine.Find(addr)
}

// LocalBytes fills p with bytes of the local memory of a lane of the warp. offset, in bytes, counts from the start of the
// lane's local memory, not of the function's frame. n is the number of copied bytes: less than len(p) at the end of the memory.
func (e *Event) LocalBytes(p []byte, lane int, offset uint64) (n int) {
	if e.Machine == nil {
		return 0
	}
	return e.Machine.ReadLocal(p, lane, offset)
}

// LocalWords returns word i, of 4 bytes, of the local memory of each of lanes 0 to 31 of the warp; nil if their memory has no
// word i. The result is the memory itself, not a copy: the caller must not change it.
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
// instruction; ReduceEvents(false) restores EventSelector.SelectEvents. A warp begins with EventSelector.SelectEvents.
func (e *Event) ReduceEvents(reduce bool) {
	if e.Machine != nil {
		e.Machine.ReduceEvents(reduce)
	}
}

// Stop ends the launch with an error, before the next instruction of the CTA or at the end of the CTA. The launch returns the
// first error. Stop does nothing for an event that belongs to no CTA.
func (e *Event) Stop(err error) {
	if e.Machine != nil {
		e.Machine.Stop(err)
	}
}

// NewTrap returns a trap, for Stop, with the place of the event: its CTA, its instruction, and lanes if the event belongs to a
// warp. The event must belong to a CTA. kind is the kind of the trap, which Trap.Unwrap returns.
func (e *Event) NewTrap(kind error, lanes uint64, format string, args ...any) *Trap {
	return e.Machine.NewTrap(kind, lanes, fmt.Sprintf(format, args...))
}

// Pause pauses the launch: before the instruction of an OnBefore event; for all other events, before the next instruction. It
// has an effect only if interp.Module.Start or Launch.Drive started the launch and a probe of the launch is InOrder.
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

	// Low has bits 0 to 63 of the register for each lane; nil without Subscription.Values and Subscription.Results. The values of lanes that do not execute
	// the instruction are unspecified.
	Low []uint64
	// High has bits 64 to 127 of a register of type .b128 for each lane; nil for all other types.
	High []uint64

	// Tags has the compact copies of the register: element 0 for lanes 0 to 31, element 1 for lanes 32 to 63.
	Tags [2]Tag

	lowBuffer, highBuffer []uint64
}

// Reset makes v a value of a register without lanes and tags. It keeps the memory of Low and High for Reserve.
func (v *Value) Reset(r ptx.RegID, t ptx.Type) {
	v.Reg, v.Type, v.Low, v.High, v.Tags = r, t, nil, nil, [2]Tag{}
}

// Reserve gives Low, and High if wide, room for n lanes. It reuses the memory of earlier calls. The content is unspecified.
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

// Tag is the compact copy of a register of up to 64 bits, for 32 lanes. In each lane i of Mask the register is
// Base + i·Stride, modulo 2^32 or 2^64, whichever fits the width of its register row. An empty Mask means no compact copy, as in
// vector mode. The tag shows the storage of the engine; package structure computes the classes of a value policy.
type Tag struct {
	affinetrack.Value
	// Mask is the set of lanes with a compact copy: bit i for lane i, or, in the second element of Value.Tags, for lane 32+i.
	Mask uint32
}

// LaneGroup is a group of lanes that continue at the same instruction.
type LaneGroup struct {
	// Lanes is the set of lanes.
	Lanes uint64
	// To is the index in Launch.Program of the instruction at which the lanes continue; -1 is the end of the function.
	To int
}

// ClusterBarrier is the number of the barrier of the cluster. The barriers of a CTA have the numbers 0 to 15.
const ClusterBarrier = 16

// WaitState describes the wait of lanes at a barrier or a collective instruction.
type WaitState struct {
	// Barrier is the number of the awaited barrier: 0 to 15 for a barrier of the CTA, or ClusterBarrier; -1 for a wait for lanes of
	// the same warp.
	Barrier int
	// Threads is the number of threads that the barrier waits for; 0 means all threads of the CTA.
	Threads int
	// Members is the membermask of a collective instruction; 0 for a barrier.
	Members uint32

	// Generation is, for OnWake, the number of earlier completions of the barrier. Lanes with equal Barrier and Generation waited
	// for the same completion.
	Generation int
}

// Texel is a texel that an instruction reads for a lane. A filtering lookup reads several texels, and may read a texel twice.
type Texel struct {
	// Lane is the lane that receives the result.
	Lane int
	// Memory is the allocation of the texel.
	Memory *Allocation
	// Offset is the offset of the texel in Memory, in bytes.
	Offset uint64
	// Bytes is the size of the texel.
	Bytes int
}
