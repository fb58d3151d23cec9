package simt

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// The kinds of guest fault, for errors.Is on the error of a launch.
var (
	ErrOutOfBounds   = mem.ErrOutOfBounds
	ErrMisaligned    = mem.ErrMisaligned
	ErrUseAfterFree  = mem.ErrUseAfterFree
	ErrWrongSpace    = mem.ErrWrongSpace
	ErrReadOnly      = mem.ErrReadOnly
	ErrExited        = mem.ErrExited
	ErrDeadlock      = errors.New("deadlock")
	ErrKeptOut       = errors.New("a CTA waits for one that is kept out")
	ErrEndlessLoop   = errors.New("endless loop")
	ErrStepLimit     = errors.New("step limit reached")
	ErrTimeLimit     = errors.New("time limit reached")
	ErrTrap          = errors.New("trap instruction")
	ErrBreakpoint    = errors.New("breakpoint")
	ErrAssert        = errors.New("assertion failed")
	ErrStackOverflow = errors.New("stack overflow")
	ErrBadTarget     = errors.New("bad branch or call target")
	ErrBarrier       = errors.New("bad barrier")
	ErrAsync         = errors.New("bad asynchronous operation")
	ErrMembermask    = errors.New("bad membermask")
	ErrDivergent     = errors.New("lanes are missing")
	ErrMatrix        = errors.New("bad matrix operand")
	ErrCTARank       = errors.New("bad cta rank")
	ErrHeap          = errors.New("bad free")
	ErrTexture       = errors.New("bad texture access")
	ErrSurface       = errors.New("bad surface access")
	ErrTensorMemory  = errors.New("bad use of tensor memory")

	// ErrMismatch is no fault of the guest: in check mode, a compact result differs
	// from that of the vectors. It means that a rule of package affinetrack, or its
	// use, is wrong.
	ErrMismatch = errors.New("compact execution differs from vector execution")
)

// Trap is a fault of the guest: what happened, to which lanes, where. Unwrap
// gives its kind.
type Trap struct {
	Kind   error
	Msg    string // the kind with its particulars
	Kernel string
	File   string
	Pos    ptx.Pos
	Line   string // PTX source line
	Instr  string // the instruction, "" if the trap has none
	Source string // "file:line:col" of the .loc in force, "" without
	Func   string // function the instruction is in

	Grid   Dim3
	CTA    Dim3
	Warp   int    // within the CTA; -1 if the trap is not one warp's
	Lanes  uint64 // that caused it
	Active uint64 // that were active
	Width  int    // lanes of a warp
	Thread Dim3   // tid of the first faulting lane

	Addr   uint64 // of the first faulting lane, if the trap is an access
	Bytes  int    // size of the access
	Nearby string // the nearest allocation

	Tolerable mem.Tolerance // the faults that must be tolerated for the kernel to go on; mem.Strict if that is not possible

	Notes []string // further lines: who waits where

	source *code.Source // the instruction
}

// Error is the trap in one line.
func (t *Trap) Error() string {
	s := fmt.Sprintf("%s:%s: trap in kernel %s: %s", t.File, t.Pos, t.Kernel, t.Msg)
	if t.Warp >= 0 {
		s += fmt.Sprintf(" (cta %s warp %d thread %s)", t.CTA, t.Warp, t.Thread)
	} else {
		s += fmt.Sprintf(" (cta %s)", t.CTA)
	}
	return s
}

// Unwrap is the kind of the trap.
func (t *Trap) Unwrap() error { return t.Kind }

// Report is the whole story, over several lines: the trap, the source line with
// a caret, the lanes and the nearest allocation.
func (t *Trap) Report() string { return t.report("trap") }

// report is Report for a trap, or for a notice of a fault that is tolerated.
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
		fmt.Fprintf(&b, " warp %d lanes %d..0 %s", t.Warp, t.Width-1, lanesString(t.Lanes, t.Width))
		if t.Active != 0 {
			fmt.Fprintf(&b, " (%d of %d active lanes", bits.OnesCount64(t.Lanes), bits.OnesCount64(t.Active))
			if t.Bytes > 0 { // each for itself, not only together
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

// lanesString writes a lane mask as groups of four digits, lane 0 last.
func lanesString(m uint64, width int) string {
	var b strings.Builder
	for i := width - 1; i >= 0; i-- {
		b.WriteByte('0' + byte(m>>i&1))
		if i > 0 && i%4 == 0 {
			b.WriteByte('_')
		}
	}
	return b.String()
}

// LaneList writes a set of lanes as ranges: "0-3,7".
func LaneList(m uint64) string {
	var parts []string
	for m != 0 {
		lo := bits.TrailingZeros64(m)
		n := bits.TrailingZeros64(^(m >> lo))
		if n == 1 {
			parts = append(parts, fmt.Sprint(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, lo+n-1))
		}
		if lo+n >= 64 {
			break
		}
		m &^= 1<<(lo+n) - 1
	}
	return strings.Join(parts, ",")
}

// hexAddr formats an address of guest memory.
func hexAddr(a uint64) string { return fmt.Sprintf("%#x", a) }
