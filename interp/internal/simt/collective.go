package simt

// This file lets lanes of a warp that have diverged meet in an instruction. One with
// .sync waits for the lanes its membermask names: lanes that get there first wait,
// and with the last all execute it together, wherever each of them is. They must
// execute the same instruction, modifiers included, with the same membermask.

import (
	"errors"
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// errAway is the answer of a collective instruction, w.away, when lanes are elsewhere
// that it waits for.
var errAway = errors.New("lanes are elsewhere")

// await divides the running strand, whose present instruction waits for lanes that
// are elsewhere: those that wait for them do so, the others go on.
func (w *warp) await() {
	in := w.away
	f := &w.files[0]
	m := w.executing(in)
	member := f.Src32(memberRow(in))
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
			w.leaveWaiting(uint64(lanes), w.pc, wait{src: w.src(in), in: in, member: mask})
		}
	}
	w.meetings()
	w.schedule()
}

// backUp puts the running strand before an instruction of its block, as if it had
// not tried to execute it.
func (w *warp) backUp(b *code.Block, in *code.Instr) {
	pc := b.First
	for &w.cta.code.Instrs[pc] != in {
		pc++
	}
	w.halt(b, pc, in.Src)
	if in.Skips {
		w.count.ThreadInstructions += int64(bits.OnesCount32(uint32(w.mask) &^ w.executing(in)))
	}
	w.tellLanes(OnUndo, w.src(in), w.mask)
}

// executing is the lanes of a warp of 32 that execute an instruction.
func (w *warp) executing(in *code.Instr) uint32 {
	if in.Guard == 0 {
		return uint32(w.mask)
	}
	return uint32(w.mask) & guardMask(&w.files[0], in.Guard)
}

// memberRow is the row of a collective instruction's membermask.
func memberRow(in *code.Instr) int32 {
	return in.Sources()[in.Op.Signature().Member-1]
}

// alike reports whether two waits are for the same lanes to execute the same.
func (b *wait) alike(o *wait) bool {
	return b.member == o.member && b.collects() && o.collects() && b.src.Text == o.src.Text
}

// collects reports whether it is lanes of the warp that are waited for.
func (b *wait) collects() bool { return b.op == nil || b.op.Kind == code.BarWarp }

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
		if b.op == nil {
			w.meet(b, m)
		}
		why := *b
		for k := range w.others {
			if at := &w.others[k]; at.wait != nil && why.alike(at.wait) {
				if why.op == nil {
					at.pc++
				}
				w.wake(at)
			}
		}
	}
	w.unite()
	if w.mask != 0 {
		w.show(w.frame)
	}
}

// together is an instruction in a file of its own, where lanes that are at different
// places execute it together: operand i in row i of its slot.
func together(in *code.Instr) code.Instr {
	return code.Instr{Op: in.Op, Src: in.Src, Imm: in.Imm, A: 0, B: 1, C: 2, E: 3, D: 4, F: 5}
}

// meet executes an instruction for the lanes of m, which wait as b does, each with its
// own operands.
func (w *warp) meet(b *wait, m uint32) {
	const operands = 6
	f := regfile.New(nil, false)
	f.Reset(regfile.Size{R: operands, Q: operands, P: operands})
	all := together(b.in)
	for i := range w.others {
		at := &w.others[i]
		if at.wait == nil || !b.alike(at.wait) {
			continue
		}
		w.show(at.frame)
		in, from, lanes := at.wait.in, &w.files[0], uint32(at.mask)
		if from.Tracked() {
			if s := w.cta.stream; s != nil {
				s.step.source = at.wait.src
			}
			for _, o := range w.cta.code.Reads(nil, in) {
				expand(from, o, lanes)
			}
		}
		if w.check != nil {
			w.atHalf(0, lanes)
			if w.compareSources(w.beginAt(at.pc, in).fresh); w.err != nil {
				return
			}
		}
		rows := in.Sources()
		for i, s := range in.Op.Signature().Src {
			switch row := rows[i]; s {
			case code.R:
				copyLanes(f.Row32(int32(i)), from.Src32(row), lanes)
			case code.Q:
				copyLanes(f.Row64(int32(i)), from.Src64(row), lanes)
			case code.P:
				f.SetP(int32(i), lanes, from.SrcP(row))
			}
		}
	}
	if w.onLanes(0, f, &all, m); w.err != nil {
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
func (w *warp) receive(in *code.Instr, f *regfile.File) {
	m := uint32(w.mask)
	w.observe(w.src(in), w.mask, func() {
		w.adopt(&w.files[0], in, f, m)
		if w.check == nil {
			return
		}
		w.atHalf(0, m)
		p := w.beginAt(w.pc, in)
		w.turn()
		w.adopt(&w.files[0], p.ref, f, m)
		w.turn()
		w.compareResults(p.writes)
	})
}

// adopt writes the results of an instruction that lanes have executed together in file
// from to those of its lanes that are in m.
func (w *warp) adopt(to *regfile.File, in *code.Instr, from *regfile.File, m uint32) {
	all, s := together(in), in.Op.Signature()
	if to.Tracked() {
		for _, o := range w.cta.code.Writes(nil, in) {
			forget(to, o, m)
		}
	}
	switch {
	case in.D == code.NoRow:
	case s.Dst == code.R:
		copyLanes(to.Row32(in.D), from.Row32(all.D), m)
	default:
		to.SetP(in.D, m, from.Pred(all.D))
	}
	if s.Dst2 != code.NoSlot && in.F != code.NoRow {
		to.SetP(in.F, m, from.Pred(all.F))
	}
}

func copyLanes[T any](to, from *[regfile.Lanes]T, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		to[i] = from[i]
	}
}
