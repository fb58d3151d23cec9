package native

// This file is warps of a CTA that take turns while machine code executes, as package simt has it: where one has to wait at
// a barrier, or ends, the next goes on, without Go.

import (
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Team is the warps of a CTA that take turns. Its layout is that of struct team in _gen/c/ways.h.
type Team struct {
	warps      unsafe.Pointer // array of *Context, by warp
	full, some unsafe.Pointer // by pc: code of the block that begins there, for all lanes, and for those of a mask

	Left             int64 // PTX instructions that the CTA may yet execute; of the turn under way they are not taken off
	allowed, entered int64 // … up to when it comes back to Go, as they were when Count of the warp that runs was entered

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
}

// DirtyAt is where the last field of it is: the generator compares it.
const DirtyAt = unsafe.Offsetof(Team{}.Dirty)

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
	h := holes{n0: int64(b.Next), n1: int64(b.Last), other: a.turn}
	if end.Op != code.Barrier || end.Guard != 0 || end.A >= 0 || end.A == code.NoRow || end.B != code.NoRow || a.prog.Barriers[end.Side].Kind != code.BarSync ||
		!a.place(&h.a, &h.constant, 'A', code.R, end.A) {
		return false
	}
	if h.leave = a.exit(b.Last, Control); !a.try("meet_barrier", h) {
		return false
	}
	a.edge(b, b.Next, 0)
	return true
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
