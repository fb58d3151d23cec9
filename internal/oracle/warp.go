package oracle

// This file executes collectives: instructions in which the threads of a warp exchange values (manual 9.7.9.5, 9.7.9.6,
// 9.7.13.2, 9.7.13.8 to 9.7.13.14).
//
// A thread that reaches a collective waits. With .sync, it waits until all threads in membermask that have not exited
// have reached a matching instruction, at any place. Without .sync the instruction completes when no thread of the warp
// can run: then the threads at the earliest place in the program take part, as in a machine that reconverges its
// threads as far as it can.

import (
	"math/bits"

	"gemu/ptx"
)

// group is the threads that take part in a collective, by lane. Each executes its own t.instr; all have the same
// opcode.
type group []*thread

// collectives holds the functions that complete them, by mnemonic.
var collectives = map[string]func(g group){
	"shfl":       shfl,
	"bar":        func(group) {}, // bar.warp.sync
	"vote":       vote,
	"match":      match,
	"activemask": activemask,
	"redux":      redux,
	"elect":      elect,
	"ldmatrix":   ldmatrix,
	"stmatrix":   stmatrix,
	"movmatrix":  movmatrix,
	"mma":        mma,
	"wmma":       wmma,
	"wgmma":      wgmma,
	"tcgen05":    tcgen05Warp,
	"tensormap":  copyMap,
}

// collective begins to wait for the warp. Masks of lanes have 32 bits, so that wider warps have no collectives.
func collective(t *thread) {
	if t.machine.warpSize > 32 {
		t.unsupported()
	}
	t.state = atCollective
}

// membermask returns the mask operand of a collective with .sync.
func (t *thread) membermask() uint64 {
	if t.isTensor() || t.hasModifier("cp_fenceproxy") {
		return t.halfMask()
	}
	switch t.instr.Mnemonic() {
	case "shfl":
		return t.operandValue("e")
	case "bar":
		return t.operandValue("a")
	}
	return t.operandValue("b")
}

// completeSync completes a collective with .sync that all its members have reached. It reports whether it found such a
// collective.
func (w *Warp) completeSync() bool {
	for _, first := range w.threads {
		if first.state != atCollective || !first.hasModifier("sync") {
			continue
		}
		mask := first.membermask()
		var g group
		missing := false
		for _, t := range w.threads {
			switch {
			case t.state == atCollective && first.matchesCollective(t) && t.membermask() == mask:
				g = append(g, t)
			case t.state != exited && mask>>t.lane&1 == 1:
				missing = true
			}
		}
		if !missing && !g.waitsForWarps() && !g.waitsForColumns() {
			g.execute()
			return true
		}
	}
	return false
}

// matchesCollective reports whether two collectives with .sync wait for each other: any two bar.warp.sync, other
// instructions if they have the same text.
func (t *thread) matchesCollective(o *thread) bool {
	return t.instr.Text == o.instr.Text || t.instr.Mnemonic() == "bar" && o.instr.Mnemonic() == "bar"
}

// completeEarliest completes the collective without .sync that is earliest in the program, for the threads that have
// reached it. It reports whether it found such a collective.
func (w *Warp) completeEarliest() bool {
	var g group
	for _, t := range w.threads {
		if t.state != atCollective || t.hasModifier("sync") {
			continue
		}
		before := -1
		if len(g) > 0 {
			before = t.compare(g[0])
		}
		switch {
		case before < 0:
			g = group{t}
		case before == 0:
			g = append(g, t)
		}
	}
	if len(g) > 0 {
		g.execute()
	}
	return len(g) > 0
}

// endTurn counts a turn of the cluster; see starvationLimit.
func (w *Warp) endTurn() {
	waits := false
	for _, t := range w.threads {
		waits = waits || t.state == atCollective && !t.hasModifier("sync")
	}
	if !waits {
		w.starvedTurns = 0
		return
	}
	if w.starvedTurns++; w.starvedTurns >= starvationLimit {
		w.completeEarliest()
		w.starvedTurns = 0
	}
}

func (g group) execute() {
	collectives[g[0].instr.Mnemonic()](g)
	for _, t := range g {
		t.endWait()
	}
	if m := g[0].instr.Mnemonic(); m == "wgmma" || m == "tcgen05" {
		g.completeOtherWarps()
	}
}

// mask has the bits of the group's lanes for which p is true.
func (g group) mask(p func(t *thread) bool) uint64 {
	m := uint64(0)
	for _, t := range g {
		if p(t) {
			m |= 1 << t.lane
		}
	}
	return m
}

func (g group) laneMask() uint64 { return g.mask(func(*thread) bool { return true }) }

// operandValues reads an operand of every member.
func (g group) operandValues(name string) []uint64 {
	v := make([]uint64, len(g))
	for i, t := range g {
		v[i] = t.operandValue(name)
	}
	return v
}

// shfl (9.7.9.5, 9.7.9.6): d = a of lane j; p reports whether j was in range. If it was not, or lane j does not take
// part, j is the thread's own lane.
func shfl(g group) {
	var source [32]uint64
	present := g.laneMask()
	for i, a := range g.operandValues("a") {
		source[g[i].lane] = a
	}
	for _, t := range g {
		lane := t.lane
		bval, c := int(t.operandValue("b")&0x1f), int(t.operandValue("c"))
		cval, mask := c&0x1f, c>>8&0x1f
		maxLane := lane&mask | cval&^mask
		minLane := lane & mask
		var j int
		var pval bool
		switch t.instr.Slot("mode") {
		case "up":
			j = lane - bval
			pval = j >= maxLane
		case "down":
			j = lane + bval
			pval = j <= maxLane
		case "bfly":
			j = lane ^ bval
			pval = j <= maxLane
		case "idx":
			j = minLane | bval&^mask
			pval = j <= maxLane
		}
		if !pval || present>>j&1 == 0 {
			j = lane
		}
		t.setOperand("d", source[j])
		if t.hasOperand("p") {
			t.setPred("p", pval)
		}
	}
}

// vote (9.7.13.8, 9.7.13.9): the predicates of the group, reduced or as a mask.
func vote(g group) {
	yes := g.mask(func(t *thread) bool { return t.predOperand("a") })
	for _, t := range g {
		switch {
		case t.hasModifier("all"):
			t.setPred("d", yes == g.laneMask())
		case t.hasModifier("any"):
			t.setPred("d", yes != 0)
		case t.hasModifier("uni"):
			t.setPred("d", yes == 0 || yes == g.laneMask())
		case t.hasModifier("ballot"):
			t.setOperand("d", yes)
		}
	}
}

// match (9.7.13.10): the lanes with the same a; with .all, the whole group or
// none.
func match(g group) {
	a := g.operandValues("a")
	for i, t := range g {
		equalLanes := uint64(0)
		for j, u := range g {
			if a[j] == a[i] {
				equalLanes |= 1 << u.lane
			}
		}
		if t.hasModifier("all") {
			if equalLanes != g.laneMask() {
				equalLanes = 0
			}
			if t.hasOperand("p") {
				t.setPred("p", equalLanes != 0)
			}
		}
		t.setOperand("d", equalLanes)
	}
}

// activemask (9.7.13.11): the lanes that execute this instruction together.
func activemask(g group) {
	for _, t := range g {
		t.setOperand("d", g.laneMask())
	}
}

// redux (9.7.13.12): a of the whole group, combined.
func redux(g group) {
	a := g.operandValues("a")
	d := a[0]
	for _, v := range a[1:] {
		d = g[0].reduce(d, v)
	}
	if g[0].instr.Type() == ptx.F32 {
		d = g[0].reduce(d, d) // .abs and canonical NaN, also of a single thread
	}
	for _, t := range g {
		t.setOperand("d", d)
	}
}

// reduce is a step of redux.
func (t *thread) reduce(x, y uint64) uint64 {
	typ := t.instr.Type()
	switch t.instr.Slot("op") {
	case "and":
		return x & y
	case "or":
		return x | y
	case "xor":
		return x ^ y
	case "add":
		return low(x+y, 32)
	}
	dir := larger
	if t.hasModifier("min") {
		dir = smaller
	}
	if typ == ptx.F32 {
		a, b := single.decode(x), single.decode(y)
		if t.hasModifier("abs") {
			a.neg, b.neg = false, false
		}
		return single.round(minOrMax(a, b, dir, t.hasModifier("NaN")), "rn")
	}
	if integer(y, 32, typ.IsSigned()).Cmp(integer(x, 32, typ.IsSigned()))*dir > 0 {
		return y
	}
	return x
}

// elect (9.7.13.14): the lowest lane of the group is the leader.
func elect(g group) {
	leader := bits.TrailingZeros64(g.laneMask())
	for _, t := range g {
		t.setOperand("d", uint64(leader))
		t.setPred("p", t.lane == leader)
	}
}
