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
	// Running means that this warp split of the warp executes now.
	Running bool
	// Wait describes the wait of the lanes; nil if they can run.
	Wait *WaitState

	// Instr is the next instruction, or the instruction at which the lanes wait; nil at the end of the function.
	Instr *ptx.Instr
	// Func is the function that the lanes are in.
	Func *ptx.Func
	// Index is the index of Instr in the program; -1 if there is none.
	Index int

	// Calls has the indices of the active calls, the innermost first.
	Calls []int

	// Machine answers the questions of the methods of WarpSplit about the machine.
	Machine SplitMachine
}

// SplitMachine is the state of the machine at a warp split. The methods of WarpSplit are the way to use it.
type SplitMachine interface {
	// Read reads a register of the function of the warp split. ok is false where the register is dead.
	Read(r ptx.RegID) (v Value, ok bool)
	// Shared returns the shared memory of the CTA.
	Shared() *Allocation
	// Frame returns the offset of the local frame in bytes.
	Frame() int
	// ReadLocal copies bytes of a lane's local memory and returns their number.
	ReadLocal(p []byte, lane int, offset uint64) int
}

// Read reads a register of the function of the warp split, lanes and tags. ok is false where the register is dead.
func (s *WarpSplit) Read(r ptx.RegID) (v Value, ok bool) { return s.Machine.Read(r) }

// Shared returns the shared memory of the CTA.
func (s *WarpSplit) Shared() *Allocation { return s.Machine.Shared() }

// Frame returns the offset of the function's local frame in the local memory of its lanes, in bytes.
func (s *WarpSplit) Frame() int { return s.Machine.Frame() }

// Local copies bytes of the local memory of a lane, from an offset on, and returns their number.
func (s *WarpSplit) Local(p []byte, lane int, offset uint64) (n int) {
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

// StackEntry is an entry of the reconvergence stack of a warp: a warp split, or a reconvergence point. Under policies without a
// stack the warp splits are entries all the same.
type StackEntry struct {
	// Kind is the kind of the entry.
	Kind StackKind
	// Lanes is the set of lanes of the warp split, or the set of live lanes that are to reconverge at the point.
	Lanes uint64
	// Arrived is, for a reconvergence point, the part of Lanes that waits there.
	Arrived uint64
	// Index is the index in Launch.Program of the next instruction of the warp split, or of the first instruction after the
	// reconvergence point; -1 is the end of the function.
	Index int
	// Depth is the number of reconvergence points that enclose the entry.
	Depth int
}
