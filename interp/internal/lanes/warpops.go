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

// vote executes vote, vote.sync and their ballots.
func vote(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	sync := instr.Op == code.VoteSync || instr.Op == code.BallotSync
	if sync && !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	p := f.SrcP(instr.A)
	for remaining := m; remaining != 0; {
		// Lanes with the same membermask vote together.
		group, voters := remaining, remaining
		if sync {
			member := f.Src32(instr.B)
			first := member[bits.TrailingZeros32(remaining)&31]
			voters = m & first
			for n := remaining; n != 0; n &= n - 1 {
				if i := bits.TrailingZeros32(n) & 31; member[i] != first {
					group &^= 1 << i
				}
			}
		}
		remaining &^= group
		agreeing := p & voters
		t := false
		if instr.Op == code.Ballot || instr.Op == code.BallotSync {
			mem.FillRow(f.Row32(instr.D), agreeing, group)
			continue
		}
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
	member := f.Src32(instr.B)
	var out regfile.Row32
	all := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		same := uint32(0)
		for k := m & member[i]; k != 0; k &= k - 1 {
			if j := bits.TrailingZeros32(k) & 31; value(j) == value(i) {
				same |= 1 << j
			}
		}
		if instr.Imm == 0 {
			out[i] = same
		} else if same == m&member[i] {
			out[i] = same
			all |= 1 << i
		}
	}
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
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		group := m & member[i]
		acc := uint64(a[bits.TrailingZeros32(group)&31])
		for k := group & (group - 1); k != 0; k &= k - 1 {
			acc = access.ApplyReduction(op, mask, acc, uint64(a[bits.TrailingZeros32(k)&31]), 0)
		}
		f.Row32(instr.D)[i] = uint32(acc)
	}
}

// reduxFloat executes redux.sync.min and .max of .f32. NaNs are ignored; with .NaN the result is a NaN if an operand is.
func reduxFloat(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if !w.MembersPresent(instr, f.Src32(instr.B), m) {
		return
	}
	a, member := *f.Src32(instr.A), *f.Src32(instr.B)
	op := code.FloatReductionOf(instr.Imm)
	apply, modifiers := alu.Single[op.Op], uint64(op.Imm)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		group := m & member[i]
		first := uint64(a[bits.TrailingZeros32(group)&31])
		acc, _ := apply(first, first, 0, 0, modifiers)
		for k := group & (group - 1); k != 0; k &= k - 1 {
			acc, _ = apply(acc, uint64(a[bits.TrailingZeros32(k)&31]), 0, 0, modifiers)
		}
		v := uint32(acc)
		if math.Float32frombits(v) != math.Float32frombits(v) {
			v = 0x7fffffff
		}
		f.Row32(instr.D)[i] = v
	}
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
