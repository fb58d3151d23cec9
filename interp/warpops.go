package interp

// This file executes what the lanes of a warp do together: shuffles, votes,
// matches and reductions (manual 9.7.9.5, 9.7.9.6 and 9.7.13). The lanes that do
// are those active at the instruction.

import (
	"math"
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// Modes of the instructions, in Operands.Imm.
const (
	shflUp uint64 = iota
	shflDown
	shflBfly
	shflIdx

	voteAll uint64 = iota - 4
	voteAny
	voteUni
	voteBallot

	matchAll  uint64 = 1 << 8
	matchWide uint64 = 1 << 9
	warpSync  uint64 = 1 << 10
)

// What lanes that are at different places need to know to execute them together.
var (
	shflTogether       collective
	voteTogether       collective
	ballotTogether     collective
	matchTogether      collective
	matchWideTogether  collective
	reduxTogether      collective
	reduxFloatTogether collective
	electTogether      collective
)

func init() { // they refer to functions that refer to them
	shflTogether = collective{run: shfl, a: alu.R, d: alu.R, b: true, e: true, f: true}
	voteTogether = collective{run: vote, a: alu.P, d: alu.P}
	ballotTogether = collective{run: vote, a: alu.P, d: alu.R}
	matchTogether = collective{run: match, a: alu.R, d: alu.R, e: true}
	matchWideTogether = collective{run: match, a: alu.Q, d: alu.R, e: true}
	reduxTogether = collective{run: redux, a: alu.R, d: alu.R}
	reduxFloatTogether = collective{run: reduxFloat, a: alu.R, d: alu.R}
	electTogether = collective{run: elect, d: alu.R, e: true}
}

// joined checks the membermask of a .sync instruction: the lanes that execute it must
// name themselves. It reports whether all lanes are there that are named; if not, those
// that wait for them wait, or trap where the policy does not let them.
func (w *warp) joined(in *inst, member *regfile.Row32, m uint32) bool {
	absent, mask := uint32(0), uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if !w.member(in.src, i, member[i]) {
			return false
		}
		if absent == 0 {
			mask = member[i]
			absent = mask & uint32(w.live) &^ m
		}
	}
	switch {
	case absent == 0:
		return true
	case w.cta.grid.reconverge.gathers:
		w.err, w.away = errAway, in
	default:
		w.missing(in.src, m, absent, mask)
	}
	return false
}

// member checks that a lane names itself in its membermask.
func (w *warp) member(src *instr, lane int, mask uint32) bool {
	if mask>>lane&1 == 0 {
		w.fail(src, 1<<lane, ErrMembermask, "%v: lane %d executes %s with membermask %#x, which leaves it out", ErrMembermask, lane, src.Text, mask)
		return false
	}
	return true
}

// missing stops the warp: lanes of m wait for others that cannot come.
func (w *warp) missing(src *instr, m, absent, mask uint32) {
	t := w.fail(src, uint64(m), ErrDeadlock, "%v: %s waits for lanes %s, which its membermask %#x names and which are elsewhere", ErrDeadlock, src.Text, lanesList(uint64(absent)), mask)
	t.Notes = append(t.Notes, w.whereabouts(uint64(absent))...)
}

// shfl follows the pseudo-code of the manual. From a lane that takes no part, whose
// value the manual leaves undefined, a lane gets its own.
func shfl(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if in.Imm&warpSync != 0 && !w.joined(in, f.Src32(in.F), m) {
		return
	}
	a, b, c := *f.Src32(in.A), f.Src32(in.B), f.Src32(in.C)
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
		switch in.Imm &^ warpSync {
		case shflUp:
			j = lane - bval
			ok = j >= maxLane
		case shflDown:
			j = lane + bval
			ok = j <= maxLane
		case shflBfly:
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
	d := &f.R[in.D]
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		d[i] = out[i]
	}
	if in.E != noRow {
		f.SetP(in.E, m, p)
	}
}

func vote(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if in.Imm&warpSync != 0 && !w.joined(in, f.Src32(in.C), m) {
		return
	}
	p := f.SrcP(in.A)
	for rest := m; rest != 0; {
		// Lanes that name the same lanes vote together.
		group, voters := rest, rest
		if in.Imm&warpSync != 0 {
			member := f.Src32(in.C)
			first := member[bits.TrailingZeros32(rest)&31]
			voters = m & first
			for n := rest; n != 0; n &= n - 1 {
				if i := bits.TrailingZeros32(n) & 31; member[i] != first {
					group &^= 1 << i
				}
			}
		}
		rest &^= group
		yes := p & voters
		t := false
		switch in.Imm &^ warpSync {
		case voteBallot:
			mem.FillRow(&f.R[in.D], yes, group)
			continue
		case voteAll:
			t = yes == voters
		case voteAny:
			t = yes != 0
		case voteUni:
			t = yes == voters || yes == 0
		}
		if in.D != noRow {
			f.SetP(in.D, group, -bit(t))
		}
	}
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func match(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if !w.joined(in, f.Src32(in.C), m) {
		return
	}
	value := func(i int) uint64 {
		if in.Imm&matchWide != 0 {
			return f.Src64(in.A)[i]
		}
		return uint64(f.Src32(in.A)[i])
	}
	member := f.Src32(in.C)
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
		if in.Imm&matchAll == 0 {
			out[i] = same
		} else if same == m&member[i] {
			out[i] = same
			all |= 1 << i
		}
	}
	d := &f.R[in.D]
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		d[i] = out[i]
	}
	if in.E != noRow {
		f.SetP(in.E, m, all)
	}
}

func activemask(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	mem.FillRow(&f.R[in.D], m, m)
}

func redux(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if !w.joined(in, f.Src32(in.C), m) {
		return
	}
	a, member := *f.Src32(in.A), *f.Src32(in.C)
	op := in.mem.atom
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		group := m & member[i]
		acc := uint64(a[bits.TrailingZeros32(group)&31])
		for k := group & (group - 1); k != 0; k &= k - 1 {
			acc = op.apply(acc, uint64(a[bits.TrailingZeros32(k)&31]), 0)
		}
		f.R[in.D][i] = uint32(acc)
	}
}

// reduxFloat is redux.sync.min and .max of .f32: NaNs are left out, unless .NaN
// makes them win.
func reduxFloat(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if !w.joined(in, f.Src32(in.C), m) {
		return
	}
	a, member := *f.Src32(in.A), *f.Src32(in.C)
	op := alu.Lookup("float.f32").One
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		group := m & member[i]
		first := uint64(a[bits.TrailingZeros32(group)&31])
		acc, _ := op(first, first, 0, 0, in.Imm)
		for k := group & (group - 1); k != 0; k &= k - 1 {
			acc, _ = op(acc, uint64(a[bits.TrailingZeros32(k)&31]), 0, 0, in.Imm)
		}
		v := uint32(acc)
		if math.Float32frombits(v) != math.Float32frombits(v) {
			v = 0x7fffffff
		}
		f.R[in.D][i] = v
	}
}

// elect chooses the lowest lane of the membermask that is active.
func elect(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if !w.joined(in, f.Src32(in.C), m) {
		return
	}
	member := *f.Src32(in.C)
	p := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		leader := bits.TrailingZeros32(m & member[i])
		f.R[in.D][i] = uint32(leader)
		if leader == i {
			p |= 1 << i
		}
	}
	if in.E != noRow {
		f.SetP(in.E, m, p)
	}
}
