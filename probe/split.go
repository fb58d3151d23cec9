package probe

import "gemu/ptx"

// WarpSplit is a set of lanes of a warp that execute together, in a launch that has paused. It is valid until the launch
// continues.
type WarpSplit struct {
	// CTA is the linear index of the CTA.
	CTA int
	// ID is the index of the CTA in three dimensions.
	ID ptx.Dim3
	// Warp is the index of the warp in the CTA.
	Warp int
	// Lanes is the set of lanes.
	Lanes uint64
	// Running marks the running split of the warp: the warp split that was executing when the launch paused.
	Running bool
	// Wait describes the wait of the lanes; nil if they can run.
	Wait *WaitState

	// Instr is the next instruction, or the instruction at which the lanes wait; nil at the end of the function.
	Instr *ptx.Instr
	// Func is the function that the lanes are in.
	Func *ptx.Func
	// Index is the index of Instr in the program; -1 if there is none.
	Index int

	// Calls has, for each active call, the index in the program of the call instruction, the innermost call first.
	Calls []int

	// Machine gives the methods of WarpSplit access to the state of the machine.
	Machine SplitMachine
}

// SplitMachine is the state of the machine at a warp split. Probes use it through the methods of WarpSplit.
type SplitMachine interface {
	// Read reads a register of the function that the lanes are in. ok is false where the register is dead.
	Read(r ptx.RegID) (v Value, ok bool)
	// Shared returns the shared memory of the CTA.
	Shared() *Allocation
	// Frame returns the offset of the function's local frame in local memory, in bytes.
	Frame() int
	// ReadLocal fills p with bytes of a lane's local memory, and returns the number of copied bytes: see WarpSplit.ReadLocal.
	ReadLocal(p []byte, lane int, offset uint64) int
}

// Read reads a register of the function that the lanes are in: the values of its lanes, and its compact copies (Value.Tags). ok
// is false where the register is dead.
func (s *WarpSplit) Read(r ptx.RegID) (v Value, ok bool) { return s.Machine.Read(r) }

// Shared returns the shared memory of the CTA.
func (s *WarpSplit) Shared() *Allocation { return s.Machine.Shared() }

// Frame returns the offset of the function's local frame in the local memory of its lanes, in bytes.
func (s *WarpSplit) Frame() int { return s.Machine.Frame() }

// ReadLocal fills p with bytes of the local memory of a lane. offset, in bytes, counts from the start of the lane's local memory, not
// of the frame. n is the number of copied bytes: less than len(p) at the end of the memory.
func (s *WarpSplit) ReadLocal(p []byte, lane int, offset uint64) (n int) {
	return s.Machine.ReadLocal(p, lane, offset)
}

// Latest is the latest instruction of a lane of a CTA in flight, and its call stack.
type Latest struct {
	// Step is the step (Event.Step) of the instruction that the lane began last; -1 if it has begun none.
	Step int64
	// Stack has the functions on the lane's call stack, the kernel first; nil if the lane has ended.
	Stack []*ptx.Func
}

// StackKind is the kind of a StackEntry.
type StackKind uint8

// The kinds of entry.
const (
	// RunningSplit is the warp split that executes the instruction of the event.
	RunningSplit StackKind = iota
	// ReadySplit is a warp split that can run.
	ReadySplit
	// BlockedSplit is a warp split that waits at a barrier or a collective instruction.
	BlockedSplit
	// ReconvergencePoint is a place where lanes wait for other lanes of the warp.
	ReconvergencePoint
)

// String returns the name of the kind: "running", "ready", "blocked" or "reconvergence point".
func (k StackKind) String() string {
	return [...]string{"running", "ready", "blocked", "reconvergence point"}[k]
}

// StackEntry is an entry of the reconvergence stack of a warp: a warp split, or a reconvergence point. Policies without a stack
// have entries for their warp splits, too.
type StackEntry struct {
	// Kind is the kind of the entry.
	Kind StackKind
	// Lanes is the set of lanes of the warp split, or the set of live lanes that are to reconverge at the point.
	Lanes uint64
	// Arrived is the subset of Lanes that waits at the reconvergence point; 0 for warp splits.
	Arrived uint64
	// Index is the index in Launch.Program of the next instruction of the warp split, or of the first instruction that the lanes
	// execute from the reconvergence point on; -1 is the end of the function.
	Index int
	// Depth is the number of reconvergence points that enclose the entry.
	Depth int
}
