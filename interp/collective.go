package interp

// This file lets lanes of a warp that have diverged meet in an instruction. One with
// .sync waits for the lanes its membermask names: lanes that get there first wait,
// and with the last all execute it together, wherever each of them is. They must
// execute the same instruction, modifiers included, with the same membermask.

import (
	"errors"
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/regfile"
)

// errAway is the answer of a collective instruction, w.away, when lanes are elsewhere
// that it waits for.
var errAway = errors.New("lanes are elsewhere")

// collective is what an instruction is that lanes of a warp execute together.
type collective struct {
	run     lane
	a, d    alu.Slot // of operands A and D; NoSlot: it has no A
	b, e, f bool     // whether it has B, E and F: the membermask is F then, else C
}

// await divides the running strand, whose present instruction waits for lanes that
// are elsewhere: those that wait for them do so, the others go on.
func (w *warp) await(b *block) {
	in := w.away
	w.err = nil
	w.backUp(b, in)
	f := &w.files[0]
	m := w.executing(in)
	member := f.Src32(in.memberRow())
	for rest := m; rest != 0; {
		mask := member[bits.TrailingZeros32(rest)&31]
		lanes := uint32(0)
		for n := rest; n != 0; n &= n - 1 {
			if i := bits.TrailingZeros32(n) & 31; member[i] == mask {
				lanes |= 1 << i
			}
		}
		rest &^= lanes
		if mask&uint32(w.live)&^m != 0 {
			w.leaveWaiting(uint64(lanes), w.pc, wait{src: in.src, in: in, member: mask})
		}
	}
	w.meetings()
	w.schedule()
}

// backUp puts the running strand before an instruction of its block, as if it had
// not tried to execute it.
func (w *warp) backUp(b *block, in *inst) {
	for w.skip = 0; &b.insts[w.skip] != in; {
		w.skip++
	}
	first := 0
	for b.srcs[first] != in.src {
		first++
	}
	w.owed = int32(b.n - first)
	n, lanes := int64(w.owed), int64(bits.OnesCount64(w.mask))
	w.count.warpInstructions -= n
	w.count.laneSlots -= n * lanes
	w.count.threadInstructions -= n*lanes - int64(bits.OnesCount32(uint32(w.mask)&^w.executing(in)))
	if t := w.cta.track; t != nil {
		t.undo(w)
	}
}

// executing is the lanes of a warp of 32 that execute an instruction.
func (w *warp) executing(in *inst) uint32 {
	if in.guard == 0 {
		return uint32(w.mask)
	}
	return uint32(w.mask) & guardMask(&w.files[0], in.guard)
}

// memberRow is the row of a collective instruction's membermask.
func (in *inst) memberRow() int32 {
	if in.collective.f {
		return in.F
	}
	return in.C
}

// alike reports whether two waits are for the same lanes to execute the same.
func (b *wait) alike(o *wait) bool {
	return b.member == o.member && b.collects() && o.collects() && b.src.Text == o.src.Text
}

// collects reports whether it is lanes of the warp that are waited for.
func (b *wait) collects() bool { return b.in != nil || b.op.kind == barWarp }

// gathered is the lanes that wait as b does.
func (w *warp) gathered(b *wait) uint32 {
	m := uint32(0)
	for i := range w.others {
		if o := w.others[i].wait; o != nil && b.alike(o) {
			m |= uint32(w.others[i].mask)
		}
	}
	return m
}

// meetings lets the lanes execute what they wait for each other to execute, where all
// are there.
func (w *warp) meetings() {
	for i := 0; i < len(w.others) && w.err == nil; i++ {
		b := w.others[i].wait
		if b == nil || !b.collects() {
			continue
		}
		m := w.gathered(b)
		if b.member&uint32(w.live)&^m != 0 {
			continue
		}
		if b.in != nil {
			w.meet(b, m)
		}
		why := *b
		for k := range w.others {
			if at := &w.others[k]; at.wait != nil && why.alike(at.wait) {
				if why.in != nil {
					at.skip++
				}
				w.wake(at)
			}
		}
	}
	if w.mask != 0 {
		w.show(w.frame)
	}
}

// Rows of the file in which lanes that are at different places execute an instruction
// together.
const (
	meetA = iota
	meetB
	meetC
	meetF
	meetD
	meetE
	meetRows
)

// meet executes an instruction for the lanes of m, which wait as b does, each with its
// own operands.
func (w *warp) meet(b *wait, m uint32) {
	f := &regfile.File{R: make([]regfile.Row32, meetRows), Q: make([]regfile.Row64, meetRows), P: make([]uint32, meetRows)}
	for i := range w.others {
		at := &w.others[i]
		if at.wait == nil || !b.alike(at.wait) {
			continue
		}
		w.show(at.frame)
		in, from, lanes := at.wait.in, &w.files[0], uint32(at.mask)
		c := in.collective
		if from.S != nil {
			for _, o := range in.uses.reads {
				expand(from, o, lanes)
			}
		}
		switch c.a {
		case alu.R:
			copyLanes(&f.R[meetA], from.Src32(in.A), lanes)
		case alu.Q:
			copyLanes(&f.Q[meetA], from.Src64(in.A), lanes)
		case alu.P:
			f.SetP(meetA, lanes, from.SrcP(in.A))
		}
		if c.b {
			copyLanes(&f.R[meetB], from.Src32(in.B), lanes)
		}
		copyLanes(&f.R[meetC], from.Src32(in.C), lanes)
		if c.f {
			copyLanes(&f.R[meetF], from.Src32(in.F), lanes)
		}
	}
	together := *b.in
	together.Operands = regfile.Operands{D: meetD, A: meetA, B: meetB, C: meetC, E: meetE, F: meetF, Imm: b.in.Imm}
	if b.in.collective.run(w, 0, f, &together, m); w.err != nil {
		return
	}
	running := w.strand
	for i := range w.others {
		at := &w.others[i]
		if at.wait == nil || !b.alike(at.wait) {
			continue
		}
		w.strand = *at
		w.show(at.frame)
		w.receive(at.wait.in, f)
	}
	w.strand = running
}

// receive gives the running strand its results of an instruction that lanes have
// executed together in file f.
func (w *warp) receive(in *inst, f *regfile.File) {
	to, m := &w.files[0], uint32(w.mask)
	if w.cta.track != nil {
		w.cta.track.begin(w, in.src)
		w.cta.track.step.compact = false
	}
	if w.cta.watch != nil {
		w.cta.watch.before(w, in.src, w.mask)
	}
	if to.S != nil {
		for _, o := range in.uses.writes {
			w.forget(to, o, m)
		}
	}
	switch {
	case in.D == noRow:
	case in.collective.d == alu.R:
		copyLanes(&to.R[in.D], &f.R[meetD], m)
	default:
		to.SetP(in.D, m, f.P[meetD])
	}
	if in.collective.e && in.E != noRow {
		to.SetP(in.E, m, f.P[meetE])
	}
	if w.cta.track != nil {
		w.cta.track.end(w, in.src, w.mask)
	}
	if w.cta.watch != nil {
		w.cta.watch.after(w, in.src)
	}
}

func copyLanes[T any](to, from *[regfile.Lanes]T, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to[i] = from[i]
	}
}
