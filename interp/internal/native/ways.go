package native

// This file is lanes that part at branches and meet again while machine code executes, as package simt has it under policy
// stack.

import (
	"unsafe"

	"gemu/regfile"
)

// MostWays is how many meetings machine code knows of at most, and how many ways of lanes that do not execute.
const MostWays = 16

// Meeting is a block where lanes wait for each other: join of package simt.
type Meeting struct {
	PC       int32
	Lanes    uint32 // that are to meet there, and have not ended
	Here     uint32 // of them those that wait
	Arrivals uint32 // how often lanes have come
	Known    uint32 // Go's number of one that it has lent; 0: there is none
}

// Route is lanes that are to go on at a block, and of which meeting they are: how many there were.
type Route struct {
	PC       int32
	Lanes    uint32
	Meetings uint32
}

// Ways is what machine code knows of lanes that part: Go lends it, and takes it back. Its layout is that of struct ways in
// _gen/c/ways.c.
type Ways struct {
	Slots int64 // PTX instructions of lanes executed, but for those of the lanes that execute now from Since on
	Since int64 // … of Context.Count

	Divergent int64 // branches that have parted lanes
	Met       int64 // strands that have become one with others
	Leaves    int64 // branches at which lanes have ended: exits that were executed beside them

	full, some unsafe.Pointer // by pc: code of the block that begins there, for all lanes, and for those of a mask

	Most     uint32 // meetings, and ways, that there may be
	Ends     uint32 // 1: lanes may end
	Meetings uint32 // that there are, the innermost last
	Others   uint32

	Meeting [MostWays]Meeting
	Routes  [MostWays]Route // the last goes on first
}

// The stencils have it behind what others know.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.Ways)-ParallelAt-8]

// lets has lanes part in code for all of them and in code for some; not unless both are there. Warps take turns in what there
// is.
func (c *Context) lets(all, some *body) {
	full, part := all.table(), some.table()
	if c.team != nil {
		c.team.full, c.team.some = full, part
	}
	switch {
	case full == nil && c.Live != regfile.Full: // which it never is again
		full = part
	case full == nil || part == nil:
		full, part = nil, nil
	}
	c.full, c.some = full, part
}

// table is where the code of blocks begins, by pc; nil if there is none.
func (b *body) table() unsafe.Pointer {
	if b == nil || b.text.memory == nil {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(b.begins))
}

// arrival is where lanes go that come to where others are to meet them.
func (a *assembler) arrival() {
	a.meet = a.label()
	a.here(a.meet)
	a.put("arrive", holes{})
}

// comes is the way to a block where others may wait.
func (a *assembler) comes(s *stub) {
	a.put("come", holes{a: int64(s.to), n0: int64(s.pc), n1: s.branches, other: a.meet})
}

// parting is the way on from a branch whose lanes part. Those that go where there is nothing but the kernel's end, end.
func (a *assembler) parting(s *stub) {
	b, behind := s.block, a.label()
	h := holes{a: int64(b.Next), b: int64(b.Target), n0: int64(b.Join), leave: behind}
	name := "part_both"
	switch {
	case a.prog.Block(b.Target).Leaves:
		name, h.n0, h.other = "leave_target", int64(b.Last), a.meet
	case a.prog.Block(b.Next).Leaves:
		name, h.a, h.n0, h.other = "leave_next", int64(b.Target), int64(b.Last), a.meet
	case b.Target == b.Join:
		name = "part_next"
	case b.Next == b.Join:
		name = "part_target"
	}
	a.put(name, h)
	a.here(behind)
}
