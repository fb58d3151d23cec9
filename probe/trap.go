package probe

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"gemu/ptx"
)

// The kinds of guest fault, for errors.Is on the error of a launch.
var (
	// ErrOutOfBounds is an access outside all allocations.
	ErrOutOfBounds = errors.New("out-of-bounds access")
	// ErrMisaligned is an access at an address that is not a multiple of its size.
	ErrMisaligned = errors.New("misaligned access")
	// ErrUseAfterFree is an access to freed memory.
	ErrUseAfterFree = errors.New("use after free")
	// ErrWrongSpace is an access to memory of another state space.
	ErrWrongSpace = errors.New("access to the wrong state space")
	// ErrReadOnly is a store to memory that kernels may not change.
	ErrReadOnly = errors.New("store to read-only memory")
	// ErrExited is an access to the shared memory of a CTA of the cluster after that CTA has exited.
	ErrExited = errors.New("access to shared memory of a CTA that has exited")
	// ErrDeadlock means that no thread can continue.
	ErrDeadlock = errors.New("deadlock")
	// ErrKeptOut is a deadlock in which CTAs are not in flight: the host's memory for CTAs is full, and the CTAs in flight wait.
	ErrKeptOut = errors.New("a CTA waits for a CTA that cannot begin")
	// ErrEndlessLoop is a loop that has no exit and no effect.
	ErrEndlessLoop = errors.New("endless loop")
	// ErrStepLimit means that a warp has executed interp.Launch.MaxSteps instructions.
	ErrStepLimit = errors.New("step limit reached")
	// ErrTimeLimit means that a launch has run for interp.Config.TimeLimit.
	ErrTimeLimit = errors.New("time limit reached")
	// ErrTrap is the instruction trap.
	ErrTrap = errors.New("trap instruction")
	// ErrBreakpoint is the instruction brkpt.
	ErrBreakpoint = errors.New("breakpoint")
	// ErrAssert is a failed assertion of the kernel.
	ErrAssert = errors.New("assertion failed")
	// ErrStackOverflow means that calls use more local memory than interp.Config.Stack.
	ErrStackOverflow = errors.New("stack overflow")
	// ErrBadTarget is an indirect branch or call to an address that is not one of its targets.
	ErrBadTarget = errors.New("bad branch or call target")
	// ErrBarrier is a wrong use of a barrier.
	ErrBarrier = errors.New("bad barrier")
	// ErrAsync is a wrong use of an asynchronous operation.
	ErrAsync = errors.New("bad asynchronous operation")
	// ErrMembermask is a membermask that excludes an executing lane.
	ErrMembermask = errors.New("bad membermask")
	// ErrDivergent means that lanes which must execute an instruction together are missing.
	ErrDivergent = errors.New("lanes are missing")
	// ErrMatrix is a wrong operand of a matrix instruction.
	ErrMatrix = errors.New("bad matrix operand")
	// ErrCTARank is a CTA rank that no CTA of the cluster has.
	ErrCTARank = errors.New("bad cta rank")
	// ErrHeap is a free of an address that malloc did not return.
	ErrHeap = errors.New("bad free")
	// ErrTexture is a wrong use of a texture.
	ErrTexture = errors.New("bad texture access")
	// ErrSurface is a wrong use of a surface.
	ErrSurface = errors.New("bad surface access")
	// ErrTensorMemory is a wrong use of tensor memory.
	ErrTensorMemory = errors.New("bad use of tensor memory")

	// ErrMismatch is an error of gemu, not a fault of the guest: in check mode, a compact result differs from the result of the
	// reference. A rule of package affinetrack, or its use, is wrong.
	ErrMismatch = errors.New("compact execution differs from vector execution")
)

// Trap is a fault of the guest: its kind, its lanes and its place. Unwrap returns its kind, for errors.Is.
type Trap struct {
	// Kind is an Err variable of this package.
	Kind error
	// Msg is the message: the kind, with the details of this trap.
	Msg string
	// Kernel is the name of the kernel.
	Kernel string
	// File is the name of the PTX source.
	File string
	// Pos is the position of the instruction in File.
	Pos ptx.Pos
	// Line is the text of the PTX source line.
	Line string
	// Instr is the text of the instruction; "" if the trap has none.
	Instr string
	// Index is the index of the instruction in LaunchInfo.Program; -1 if the trap has none.
	Index int
	// Source is the position in the source that .loc names, "file:line:column"; "" without .loc.
	Source string
	// Func is the name of the function that contains the instruction.
	Func string

	// Grid is the extent of the grid.
	Grid ptx.Dim3
	// CTA is the index of the CTA.
	CTA ptx.Dim3
	// Warp is the index of the warp in the CTA; -1 if the trap belongs to no warp.
	Warp int
	// Lanes is the set of lanes that caused the trap.
	Lanes uint64
	// Active is the active mask.
	Active uint64
	// Width is the number of lanes of a warp.
	Width int
	// Thread is the index of the first faulting thread in its CTA.
	Thread ptx.Dim3

	// Addr is the address of the first faulting lane, if the trap is an access.
	Addr uint64
	// Bytes is the size of the access; 0 if the trap is no access.
	Bytes int
	// Nearby describes the nearest allocation; "" if that does not help.
	Nearby string

	// Tolerable is the set of faults that must be tolerated for the kernel to continue; Strict if it cannot continue.
	Tolerable Tolerance

	// Notes has further lines, such as the places where lanes wait.
	Notes []string
}

// Error returns the trap in a single line.
func (t *Trap) Error() string {
	s := fmt.Sprintf("%s:%s: trap in kernel %s: %s", t.File, t.Pos, t.Kernel, t.Msg)
	if t.Warp >= 0 {
		s += fmt.Sprintf(" (cta %s warp %d thread %s)", t.CTA, t.Warp, t.Thread)
	} else {
		s += fmt.Sprintf(" (cta %s)", t.CTA)
	}
	return s
}

// Unwrap returns the kind of the trap.
func (t *Trap) Unwrap() error { return t.Kind }

// Report returns the trap in several lines: the fault, the source line with a caret, the lanes and the nearest allocation.
func (t *Trap) Report() string { return t.report("trap") }

// report returns the text of Report with the given severity, "trap" or "notice".
func (t *Trap) report(severity string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s: %s: %s\n", t.File, t.Pos, severity, t.Msg)
	if s := ptx.Snippet(t.Line, t.Pos); s != "" {
		fmt.Fprintf(&b, "%s\n", s)
	}
	fmt.Fprintf(&b, "   kernel %s", t.Kernel)
	if t.Func != "" && t.Func != t.Kernel {
		fmt.Fprintf(&b, ", in function %s", t.Func)
	}
	if t.Source != "" {
		fmt.Fprintf(&b, ", from %s", t.Source)
	}
	fmt.Fprintf(&b, "\n   grid %s cta %s", t.Grid, t.CTA)
	if t.Warp >= 0 {
		fmt.Fprintf(&b, " warp %d", t.Warp)
		if t.Lanes != 0 {
			fmt.Fprintf(&b, " %s", LaneText(t.Lanes))
		}
		if t.Active != 0 {
			fmt.Fprintf(&b, " (%d of %d active lanes", bits.OnesCount64(t.Lanes), bits.OnesCount64(t.Active))
			if t.Bytes > 0 { // each lane faulted, not only all of them together
				b.WriteString(" faulted")
			}
			b.WriteString(")")
		}
		fmt.Fprintf(&b, ", first thread %s", t.Thread)
	}
	if t.Nearby != "" {
		fmt.Fprintf(&b, "\n   nearest allocation: %s", t.Nearby)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\n   %s", n)
	}
	return b.String()
}
