package native

// This file is lanes that part at branches and meet again while machine code executes, as package simt has it under policy
// stack.

import (
	"unsafe"

	"gemu/regfile"
)

// MaxSplits is how many meetings machine code knows of at most, and how many ways of lanes that do not execute.
const MaxSplits = 16

// Reconvergence is a block where lanes wait for each other: join of package simt.
type Reconvergence struct {
	PC       int32
	Lanes    uint32 // that are to meet there, and have not ended
	Arrived  uint32 // of them those that wait
	Arrivals uint32 // how often lanes have come
	Number   uint32 // Go's number of one that it has lent; 0: there is none
}

// Split is lanes that are to go on at a block, and of which meeting they are: how many there were.
type Split struct {
	PC    int32
	Lanes uint32
	Depth uint32
}

// Divergence is what machine code knows of lanes that part: Go lends it, and takes it back. Its layout is that of struct ways in
// _gen/c/warp.h.
type Divergence struct {
	LaneInstrs  int64 // PTX instructions of lanes executed, but for those of the lanes that execute now from Since on
	CountedUpTo int64 // … of Context.Count

	DivergentBranches int64 // branches that have diverged lanes
	Reconverged       int64 // warp splits that have become one with others
	ExitBranches      int64 // branches at which lanes have ended: exits that were executed beside them

	full, masked unsafe.Pointer // by pc: code of the block that begins there, for all lanes, and for those of a mask

	MaxDepth          uint32 // meetings, and ways, that there may be
	MayExit           uint32 // 1: lanes may end
	NumReconvergences uint32 // that there are, the innermost last
	NumSplits         uint32

	Reconvergences [MaxSplits]Reconvergence
	Splits         [MaxSplits]Split // the last goes on first
}

// The stencils have it behind what others know.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.Divergence)-ParallelAt-8]

// setTables has lanes part in code for all of them and in code for some; not unless both are there. Warps take turns in what there
// is.
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

// table is where the code of blocks begins, by pc; nil if there is none.
func (b *body) table() unsafe.Pointer {
	if b == nil || b.text.memory == nil {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(b.addresses))
}

// putReconvergence is where lanes go that come to where others are to meet them.
func (a *assembler) putReconvergence() {
	a.reconvergeLabel = a.newLabel()
	a.bind(a.reconvergeLabel)
	a.put("arrive", holes{})
}

// putArrival is the way to a block where others may wait.
func (a *assembler) putArrival(s *stub) {
	a.put("go_to_arrive", holes{a: int64(s.target), n0: int64(s.pc), n1: s.branches, other: a.reconvergeLabel})
}

// putDivergence is the way on from a branch whose lanes part. Those that go where there is nothing but the kernel's end, end.
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
