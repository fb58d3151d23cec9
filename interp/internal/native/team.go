package native

// This file is warps of a CTA that take turns while machine code executes, as package simt has it: where one has to wait at
// a barrier, or ends, the next goes on, without Go.

import (
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Team is the warps of a CTA that take turns. Its layout is that of struct team in _gen/c/ways.h.
type Team struct {
	warps      unsafe.Pointer // array of *Context, by warp
	full, some unsafe.Pointer // by pc: code of the block that begins there, for all lanes, and for those of a mask

	Left    int64 // PTX instructions that the CTA may yet execute; of the turn under way they are not taken off
	allowed int64 // … up to when it comes back to Go, as they were when the warp that runs was entered
	given   int64 // … of which it may execute so many

	Began   int64 // Count of the warp that runs, when its turn did
	End     int64 // … when its turn is to end
	Share   int64 // how long that is, if machine code has given it the turn
	Quantum int64 // … at most
	Most    int64 // a warp that has executed more is not given a turn

	size uint32
	Now  uint32 // the warp that runs, or has stopped last

	Live    uint32 // warps that have not ended
	arrived uint32 // warps that wait
	_       uint32 // … and where

	Apart  uint32 // 1: warps wait of which Go knows
	May    uint32 // 1: it may execute visible instructions
	Turned uint32 // 1: other warps than the first have run
	Steps  uint32 // … and so many have been looked at
	Dirty  uint32 // 1: warps are touched

	Follow
}

// Follow is CTAs that follow each other: where the last warp of one has ended, the first of the next goes on, without Go.
type Follow struct {
	More     uint32    // that may
	Followed uint32    // that have
	Usual    uint32    // lanes that a warp begins with
	Last     uint32    // … the last one
	Entry    int32     // where
	At       [3]uint64 // the CTA that runs: ctaid
	Width    [2]uint64 // CTAs along x and y
	Slice    int64     // Team.Left of one

	id      unsafe.Pointer // special registers ctaid
	sources [3]int64       // where they are among those that Context.Read is given, in bytes; below 0: they are not
	shadows [2]uint64      // bytes of shadows, of 32-bit rows and of 64-bit rows
	zero    unsafe.Pointer // array of code.Row: those that a warp begins with zeros in
	zeros   uint64         // how many
	hits    unsafe.Pointer // array of *mem.Allocation: what memory instructions have hit last, code.Known each
	forgets uint64         // how many do not know that where a CTA begins, but before
	takes   int64          // how many instructions going on with a CTA counts as

	Ended Counted
}

// Counted is what warps have counted whose CTAs have ended, summed: the fields of Context.
type Counted struct{ Count, Slots, Held, Branches, Divergent, Met, Leaves int64 }

// LeavesAt is where the last field of a team is: the generator compares it.
const LeavesAt = unsafe.Offsetof(Team{}.Follow) + unsafe.Offsetof(Follow{}.Ended) + unsafe.Offsetof(Counted{}.Leaves)

// The stencil knows them.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(code.Row{})-8]
	_ = [1]struct{}{}[code.R-1+code.Q-2+code.P-3]
)

// Follows has CTAs of the program follow each other, whose warps have registers as the file has, zeros in some of them, and
// read these special registers; memory instructions that have these hits last begin without.
func (c *Code) Follows(t *Team, file *regfile.File, shared *mem.Allocation, zero []code.Row, uniform *[Registers]uint64, hits []*mem.Allocation) {
	f := &t.Follow
	f.hits, f.forgets = unsafe.Pointer(unsafe.SliceData(hits)), uint64(len(hits)/code.Known)
	f.zero, f.zeros = unsafe.Pointer(unsafe.SliceData(zero)), uint64(len(zero))
	f.id = unsafe.Pointer(&uniform[ptx.CtaidX])
	for d := range f.sources {
		f.sources[d] = -1
		if i := slices.Index(c.Sources, ptx.CtaidX+ptx.SpecialReg(d)); i >= 0 {
			f.sources[d] = int64(i) * int64(unsafe.Sizeof(Source{}))
		}
	}
	var shadows [2]uint64
	if file.Tracked() {
		const size = uint64(unsafe.Sizeof(regfile.Compact{}))
		shadows = [2]uint64{size * uint64(file.Window().R), size * uint64(file.Window().Q)}
	}
	f.shadows = shadows
	f.takes = int64(uint64(len(shared.Data)+8*len(hits))/AsLong + uint64(t.size)*(2+(shadows[0]+shadows[1])/AsLong+f.zeros))
}

// State is what machine code may do with a warp of a team.
type State uint32

// The states.
const (
	Out   State = iota // it does not run
	Stops              // it is ready to run, but Go runs it
	Ready
	Waits  // at a barrier, where machine code has it wait
	Ended  // machine code has executed its end
	Stands // before a block that the CTA may only execute in its turn
)

// Turns is what is known of a warp in its team: the end of struct ways.
type Turns struct {
	team    *Team
	State   State
	Touched uint32 // 1: Go does not know what the warp has done
	At      int32  // the end of the block that has it wait
}

// AtAt is where the last field of it is: the generator compares it.
const AtAt = unsafe.Offsetof(Context{}.Turns) + unsafe.Offsetof(Turns{}.At)

// Of has warps take turns; of none, nobody does.
func (t *Team) Of(warps []*Context) {
	t.warps, t.size = unsafe.Pointer(unsafe.SliceData(warps)), uint32(len(warps))
}

// Enters reports whether there is code for a warp with these lanes.
func (t *Team) Enters(lanes uint32) bool {
	if lanes == regfile.Full {
		return t.full != nil
	}
	return t.some != nil
}

// Turns reports whether there are any that take turns.
func (t *Team) Turns() bool { return t.size > 0 }

// Waiting reports whether machine code has warps wait at a barrier.
func (t *Team) Waiting() bool { return t.arrived > 0 }

// Disband forgets who waits.
func (t *Team) Disband() { t.arrived = 0 }

// In has a warp be in a team.
func (c *Context) In(t *Team) { c.team = t }

// Like has a warp's context be as another's of its team in what is the same for both.
func (c *Context) Like(o *Context) { c.full, c.some = o.full, o.some }

// turning is where a warp goes on to that has stopped: to the next.
func (a *assembler) turning() {
	a.turn = a.label()
	a.here(a.turn)
	a.put("turn", holes{})
}

// barrier makes the code of a block's end at which all warps of the CTA wait for each other.
func (a *assembler) barrier(b *code.Block, end *code.Instr) bool {
	if end.Op != code.Barrier || end.Guard != 0 || end.A >= 0 || end.B != code.NoRow || a.prog.Barriers[end.Side].Kind != code.BarSync {
		return false
	}
	return a.undone(func() {
		h := holes{n0: int64(b.Next), n1: int64(b.Last), other: a.turn, leave: a.exit(b.Last, Control)}
		a.place(&h, 'A', code.R, end.A)
		a.want("meet_barrier", h)
		a.edge(b, b.Next, 0)
	})
}

// look makes the code before a block that has to be looked at first.
func (a *assembler) look(b *code.Block) {
	if b.Caution != code.Visible {
		a.leave(b.First, Cautious)
		return
	}
	a.put("look", holes{n0: int64(b.First), other: a.turn, leave: a.exit(b.First, Cautious)})
}

// warpEnd makes the code of a block's end at which all lanes end.
func (a *assembler) warpEnd(b *code.Block, end *code.Instr) bool {
	if end.Op != code.Exit || end.Guard != 0 {
		return false
	}
	a.put("warp_end", holes{other: a.turn, leave: a.exit(b.Last, Control)})
	return true
}

// Fill has a context know the registers of a warp, and what is the same in all.
func (c *Code) Fill(ctx *Context, f *regfile.File) {
	ctx.r, ctx.q, ctx.p = f.Begin()
	ctx.shadowR, ctx.shadowQ = f.BeginShadows()
	ctx.constants, ctx.k, ctx.fixed = c.k, c.k, unsafe.Pointer(unsafe.SliceData(c.fixed))
}
