package native

// This file is divergence in machine code, under the policy of package warp with a reconvergence stack.

import (
	"unsafe"

	"gemu/regfile"
)

// MaxSplits is the maximum number of reconvergences, and of waiting warp splits, of a warp in machine code.
const MaxSplits = 16

// Reconvergence is a reconvergence in flight: the exported form of simt's reconvergence.
type Reconvergence struct {
	PC       int32
	Lanes    uint32 // live lanes to reconverge
	Arrived  uint32 // lanes waiting here
	Arrivals uint32 // number of arrivals of warp splits
	Number   uint32 // number of the reconvergence exported by Go; 0: it began in machine code
}

// Split is a warp split waiting to run. It belongs to the reconvergence with index Depth-1.
type Split struct {
	PC    int32
	Lanes uint32
	Depth uint32
}

// Divergence is the divergence of a warp in machine code. Go exports it before an entry and imports it after an exit. Its
// layout is that of struct warp in _gen/c/warp.h.
type Divergence struct {
	LaneInstrs  int64 // PTX instructions summed over lanes, up to CountedUpTo
	CountedUpTo int64 // the Context.Count up to which LaneInstrs is counted

	DivergentBranches int64 // branches at which lanes diverged
	Reconverged       int64 // reconvergences of at least two warp splits
	ExitBranches      int64 // branches at which lanes ended; each also executed an exit instruction

	full, masked unsafe.Pointer // arrays by pc: the code of the block at pc, for all lanes and for the lanes of a mask

	MaxDepth          uint32 // maximum of NumReconvergences and of NumSplits
	MayExit           uint32 // 1: lanes may end in machine code
	NumReconvergences uint32 // number of reconvergences in flight, the innermost last
	NumSplits         uint32

	Reconvergences [MaxSplits]Reconvergence
	Splits         [MaxSplits]Split // the last one runs first
}

// In C, struct warp begins with struct machine, which ends with parallel.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.Divergence)-ParallelAt-8]

// setTables sets the tables of code. Lanes may diverge only if there is code for all lanes and for some; the scheduler switches
// to warps for which there is code.
func (c *Context) setTables(fullBody, maskedBody *body) {
	full, part := fullBody.table(), maskedBody.table()
	if c.scheduler != nil {
		c.scheduler.full, c.scheduler.masked = full, part
	}
	switch {
	case full == nil && c.Live != regfile.Full: // which it never is again
		full = part
	case full == nil || part == nil:
		full, part = nil, nil
	}
	c.full, c.masked = full, part
}

// table returns the array of addresses of the code of blocks, by pc; nil if there is no code.
func (b *body) table() unsafe.Pointer {
	if b == nil || b.text.memory == nil {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(b.addresses))
}

// putReconvergence puts the arrival at a reconvergence point, to which lanes jump.
func (a *assembler) putReconvergence() {
	a.reconvergeLabel = a.newLabel()
	a.bind(a.reconvergeLabel)
	a.put("arrive", holes{})
}

// putArrival puts the jump to a block at which lanes may reconverge.
func (a *assembler) putArrival(s *stub) {
	a.put("go_to_arrive", holes{a: int64(s.target), n0: int64(s.pc), n1: s.branches, other: a.reconvergeLabel})
}

// putDivergence puts the continuation of a branch at which lanes diverge. Lanes with the kernel's end as their target end.
func (a *assembler) putDivergence(s *stub) {
	b, after := s.block, a.newLabel()
	h := holes{a: int64(b.Next), b: int64(b.Target), n0: int64(b.Reconverge), leave: after}
	name := "diverge_both"
	switch {
	case a.prog.Block(b.Target).EndsLanes:
		name, h.n0, h.other = "exit_target", int64(b.Last), a.reconvergeLabel
	case a.prog.Block(b.Next).EndsLanes:
		name, h.a, h.n0, h.other = "exit_next", int64(b.Target), int64(b.Last), a.reconvergeLabel
	case b.Target == b.Reconverge:
		name = "diverge_next"
	case b.Next == b.Reconverge:
		name = "diverge_target"
	}
	a.put(name, h)
	a.bind(after)
}
