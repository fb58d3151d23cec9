package lanes

// This file executes operations that combine values of a warp's active lanes: shuffles, votes, matches and reductions
// (manual 9.7.9.5, 9.7.9.6 and 9.7.13).

import (
	"math"
	"math/bits"

	"gemu/interp/internal/access"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// shfl executes shfl and shfl.sync, as the manual's pseudo-code describes them. If the source lane is not active, a lane
// gets its own value; the manual does not define this case.
func shfl(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.Op == code.ShflSync && !w.MembersPresent(instr, f.Src32(instr.E), m) {
		return
	}
	a, b, c := *f.Src32(instr.A), f.Src32(instr.B), f.Src32(instr.C)
	var out regfile.Row32
	p := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		bval := int(b[lane] & 31)
		cval, mask := int(c[lane]&31), int(c[lane]>>8&31)
		maxLane := lane&mask | cval&^mask
		minLane := lane & mask
		var j int
		var ok bool
		switch instr.Imm {
		case code.ShflUp:
			j = lane - bval
			ok = j >= maxLane
		case code.ShflDown:
			j = lane + bval
			ok = j <= maxLane
		case code.ShflBfly:
			j = lane ^ bval
			ok = j <= maxLane
		default:
			j = minLane | bval&^mask
			ok = j <= maxLane
		}
		if ok {
			p |= 1 << lane
		}
		if !ok || m>>j&1 == 0 {
			j = lane
		}
		out[lane] = a[j]
	}
	d := f.Row32(instr.D)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		d[i] = out[i]
	}
	if instr.F != code.NoRow {
		f.SetP(instr.F, m, p)
	}
}

// forEachGroup calls f for each group of the active lanes with the same membermask. members are the active lanes in it.
func forEachGroup(member *regfile.Row32, m uint32, f func(group, members uint32)) {
	for remaining := m; remaining != 0; {
		first := member[bits.TrailingZeros32(remaining)&31]
		group := uint32(0)
		for n := remaining; n != 0; n &= n - 1 {
			if i := bits.TrailingZeros32(n) & 31; member[i] == first {
				group |= 1 << i
			}
		}
		f(group, m&first)
		remaining &^= group
	}
}

// vote executes vote, vote.sync and their ballots.
func vote(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	sync := instr.Op == code.VoteSync || instr.Op == code.BallotSync
	if sync && !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	p := f.SrcP(instr.A)
	setVote := func(group, voters uint32) {
		agreeing := p & voters
		if instr.Op == code.Ballot || instr.Op == code.BallotSync {
			mem.FillRow(f.Row32(instr.D), agreeing, group)
			return
		}
		t := false
		switch instr.Imm {
		case code.VoteAll:
			t = agreeing == voters
		case code.VoteAny:
			t = agreeing != 0
		case code.VoteUni:
			t = agreeing == voters || agreeing == 0
		}
		if instr.D != code.NoRow {
			f.SetP(instr.D, group, -machine.BoolBit(t))
		}
	}
	if !sync {
		setVote(m, m)
		return
	}
	member := *f.Src32(instr.B) // a copy: ballot may overwrite the row
	forEachGroup(&member, m, setVote)
}

// match executes match.sync: .any if Imm is 0, otherwise .all.
func match(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	value := func(i int) uint64 {
		if instr.Op == code.Match64 {
			return f.Src64(instr.A)[i]
		}
		return uint64(f.Src32(instr.A)[i])
	}
	var out regfile.Row32
	all := uint32(0)
	forEachGroup(f.Src32(instr.B), m, func(group, members uint32) {
		for remaining := group; remaining != 0; {
			v, same := value(bits.TrailingZeros32(remaining)&31), uint32(0)
			for k := members; k != 0; k &= k - 1 {
				if j := bits.TrailingZeros32(k) & 31; value(j) == v {
					same |= 1 << j
				}
			}
			equal := group & same
			switch {
			case instr.Imm == 0:
				mem.FillRow(&out, same, equal)
			case same == members:
				mem.FillRow(&out, same, equal)
				all |= equal
			}
			remaining &^= equal
		}
	})
	d := f.Row32(instr.D)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		d[i] = out[i]
	}
	if instr.F != code.NoRow {
		f.SetP(instr.F, m, all)
	}
}

// activemask executes activemask.
func activemask(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row32(instr.D), m, m)
}

// redux executes redux.sync on integers.
func redux(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	a, member := *f.Src32(instr.A), *f.Src32(instr.B)
	op := code.ReductionOf(instr.Imm)
	mask := access.WidthMask(op.Type)
	forEachGroup(&member, m, func(group, members uint32) {
		acc := uint64(a[bits.TrailingZeros32(members)&31])
		for k := members & (members - 1); k != 0; k &= k - 1 {
			acc = access.ApplyReduction(op, mask, acc, uint64(a[bits.TrailingZeros32(k)&31]), 0)
		}
		mem.FillRow(f.Row32(instr.D), uint32(acc), group)
	})
}

// reduxFloat executes redux.sync.min and .max of .f32. NaNs are ignored; with .NaN the result is a NaN if an operand is.
func reduxFloat(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	a, member := *f.Src32(instr.A), *f.Src32(instr.B)
	op := code.FloatReductionOf(instr.Imm)
	apply, modifiers := alu.Single[op.Op], uint64(op.Imm)
	forEachGroup(&member, m, func(group, members uint32) {
		first := uint64(a[bits.TrailingZeros32(members)&31])
		acc, _ := apply(first, first, 0, 0, modifiers)
		for k := members & (members - 1); k != 0; k &= k - 1 {
			acc, _ = apply(acc, uint64(a[bits.TrailingZeros32(k)&31]), 0, 0, modifiers)
		}
		v := uint32(acc)
		if math.Float32frombits(v) != math.Float32frombits(v) {
			v = 0x7fffffff
		}
		mem.FillRow(f.Row32(instr.D), v, group)
	})
}

// elect executes elect.sync: it chooses the lowest active lane of the membermask.
func elect(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.MembersPresent(instr, f.Src32(instr.A), m) {
		return
	}
	member := *f.Src32(instr.A)
	p := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		leader := bits.TrailingZeros32(m & member[i])
		f.Row32(instr.D)[i] = uint32(leader)
		if leader == i {
			p |= 1 << i
		}
	}
	if instr.F != code.NoRow {
		f.SetP(instr.F, m, p)
	}
}
