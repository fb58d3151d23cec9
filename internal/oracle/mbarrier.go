package oracle

// This file executes mbarriers (manual 9.7.13.15). The manual leaves opaque the eight bytes of an mbarrier and the
// state that an arrival returns; docs/async.md defines them for gemu.

import (
	"encoding/binary"

	"gemu/ptx"
)

// mbarrierState is the state of an mbarrier (9.7.13.15.2).
type mbarrierState struct {
	phase             int64 // modulo 4
	pending, expected int64
	tx                int64

	v1          bool  // has .layout::v1, which uses the fields below
	conditional int64 // the conditional phase, modulo 4
	report      int64 // report of the current phase: 256 for the predicate, plus the value
	lastReport  int64 // report of the previous phase
}

// maxCount is the largest count; the least tx-count is -maxCount.
const maxCount = 1<<20 - 1

// encode returns the mbarrier's word in memory.
func (n mbarrierState) encode() uint64 {
	if n.v1 {
		fields := []struct{ v, bits int64 }{{n.pending, 9}, {n.report, 9}, {n.conditional, 2}, {n.expected, 9}, {n.lastReport, 9}, {2, 2}, {n.tx + maxCount + 1, 21}, {n.phase, 2}}
		v := int64(0)
		for i := len(fields) - 1; i >= 0; i-- {
			v = v<<fields[i].bits + fields[i].v
		}
		return uint64(v)
	}
	v := int64(2) + n.phase%4/2 // the top bit, and the upper bit of the phase
	v = v*2 + n.phase%2
	v = v<<21 + n.tx + maxCount + 1
	v = v<<20 + n.expected
	return uint64(v<<20 + n.pending)
}

// decodeMbarrier decodes a word in memory; ok is false if it is no mbarrier.
func decodeMbarrier(word uint64) (n mbarrierState, ok bool) {
	n.v1 = word < 1<<63
	nextField := func(bits int) int64 {
		v := low(word, bits)
		word >>= bits
		return int64(v)
	}
	if n.v1 {
		n.pending, n.report, n.conditional, n.expected, n.lastReport = nextField(9), nextField(9), nextField(2), nextField(9), nextField(9)
		if nextField(2) != 2 {
			return n, false
		}
	} else {
		n.pending, n.expected = nextField(20), nextField(20)
	}
	n.tx = nextField(21) - maxCount - 1
	n.phase = nextField(2)
	return n, n.tx >= -maxCount
}

// completePhase begins the next phase if the current phase is complete (9.7.13.15.6).
func (n *mbarrierState) completePhase() {
	if n.pending != 0 || n.tx != 0 {
		return
	}
	n.phase, n.pending = (n.phase+1)%4, n.expected
	if n.v1 {
		if n.report == 0 {
			n.conditional = (n.conditional + 1) % 4
		}
		n.report, n.lastReport = 0, n.report
	}
}

// checkCounts traps if a count is out of range.
func (t *thread) checkCounts(n mbarrierState) mbarrierState {
	arrivals := int64(maxCount)
	if n.v1 {
		arrivals = 511
	}
	for _, c := range []struct {
		name        string
		v, min, max int64
	}{{"pending count", n.pending, 0, arrivals}, {"expected count", n.expected, 0, arrivals}, {"tx-count", n.tx, -maxCount, maxCount}} {
		if c.v < c.min || c.v > c.max {
			t.trap(KindBarrier, "the mbarrier's %s would be %d", c.name, c.v)
		}
	}
	return n
}

// mbarrierAt returns the bytes of the mbarrier at the address of an operand. A Step lists neither these accesses nor
// accesses of asynchronous operations.
func (t *thread) mbarrierAt(name string) []byte {
	space, addr := t.address(name)
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "an mbarrier at %#x of %s memory", addr, space)
	}
	return t.asyncBytes(space, addr, 8, 8, updateAccess)
}

// ownMbarrier is mbarrierAt for an mbarrier that must be in the thread's own CTA.
func (t *thread) ownMbarrier(name string) []byte {
	p := t.mbarrierAt(name)
	if space, addr := t.address(name); space == ptx.Generic {
		if _, addr = t.machine.resolve(addr); addr>>rankShift != uint64(t.cta.rank) {
			t.trap(KindMemory, "the mbarrier at %#x is in another cta", addr)
		}
	}
	return p
}

// mbarrierIn decodes the mbarrier in eight bytes.
func (t *thread) mbarrierIn(p []byte) mbarrierState {
	n, ok := decodeMbarrier(binary.LittleEndian.Uint64(p))
	if !ok {
		t.trap(KindBarrier, "there is no mbarrier")
	}
	return n
}

func mbarrier(t *thread) {
	if t.hasModifier("pending_count") { // 9.7.13.15.17
		t.setOperand("d", low(t.operandValue("a"), 20))
		return
	}
	locate, rw := t.mbarrierAt, updateAccess
	switch {
	case t.hasModifier("init") || t.hasModifier("inval"):
		rw = writeAccess
	case t.hasModifier("test_wait") || t.hasModifier("try_wait") || t.hasModifier("check_layout"):
		rw = readAccess
	}
	if t.hasModifier("init") || t.hasModifier("inval") || t.hasModifier("test_wait") || t.hasModifier("try_wait") || t.hasModifier("check_layout") || t.hasModifier("noComplete") {
		locate = t.ownMbarrier
	}
	p := locate("a")
	space, addr := t.address("a")
	t.logAccess(space, addr, p, rw)
	if t.hasModifier("multicast::cluster::32b") {
		t.eachMbarrier(space, addr)
		return
	}
	t.mbarrierOn(p)
}

// eachMbarrier executes the instruction on the mbarrier at the same offset in each CTA of the mask.
func (t *thread) eachMbarrier(space ptx.Space, addr uint64) {
	if space == ptx.Generic {
		_, addr = t.machine.resolve(addr)
	}
	mask := t.operandValue("e")
	for rank := range uint64(32) {
		if mask>>rank&1 == 0 {
			continue
		}
		if rank >= uint64(t.machine.clusterSize()) {
			t.trap(KindCluster, "cta %d of a cluster of %d", rank, t.machine.clusterSize())
		}
		c := t.ctaOfShared(addr+(rank-rankOf(addr))<<rankShift, true)
		t.mbarrierOn(c.shared[addr%(1<<rankShift):][:8])
	}
}

// mbarrierOn executes the instruction on the mbarrier in eight bytes.
func (t *thread) mbarrierOn(p []byte) {
	store := func(n mbarrierState) { binary.LittleEndian.PutUint64(p, t.checkCounts(n).encode()) }
	if t.hasModifier("init") { // 9.7.13.15.9
		count := int64(t.operandValue("b"))
		if count == 0 {
			t.trap(KindBarrier, "an mbarrier for no arrivals")
		}
		store(mbarrierState{pending: count, expected: count, v1: t.hasModifier("layout::v1")})
		return
	}
	before := t.mbarrierIn(p)
	n := before
	if t.hasModifier("check_layout") {
		t.setPred("p", n.v1 == t.hasModifier("layout::v1"))
		return
	}
	if t.hasModifier("inval") { // 9.7.13.15.10
		clear(p)
		return
	}
	count := int64(1)
	if t.hasOperand("b") {
		count = int64(t.operandValue("b"))
	}
	switch {
	case t.hasModifier("arrive"), t.hasModifier("arrive_drop"): // 9.7.13.15.13, 9.7.13.15.14
		if count > maxCount {
			t.trap(KindBarrier, "a count of %d", count)
		}
		if t.hasModifier("expect_tx") {
			n.tx += count
			count = 1
		}
		if t.hasModifier("arrive_drop") {
			n.expected -= count
		}
		n.pending -= count
		t.checkCounts(n)
		if n.completePhase(); t.hasModifier("noComplete") && n.phase != before.phase {
			t.trap(KindBarrier, "the phase is complete by .noComplete")
		}
		store(n)
		t.setOperand("d", before.encode())
	case t.hasModifier("expect_tx"): // 9.7.13.15.11
		n.tx += count
		t.checkCounts(n)
		n.completePhase() // 9.7.13.15.6 allows any operation to be the last
		store(n)
	case t.hasModifier("complete_tx"): // 9.7.13.15.12
		n.tx -= count
		t.checkCounts(n)
		n.completePhase()
		store(n)
	case t.hasModifier("parity"):
		if count > 1 {
			t.trap(KindBarrier, "phase parity %d", count)
		}
		phase := n.phase
		if t.hasModifier("phase_type::conditional") && n.v1 {
			phase = n.conditional
		}
		t.endMbarrierTest(p, n, phase%2 != count)
	default: // 9.7.13.15.16: the phase of the state
		state, ok := decodeMbarrier(t.operandValue("b"))
		switch {
		case ok && state.phase == n.phase:
			t.endMbarrierTest(p, n, false)
		case ok && (state.phase+1)%4 == n.phase:
			t.endMbarrierTest(p, n, true)
		default:
			t.trap(KindBarrier, "a state of neither this phase nor the one before")
		}
	}
}

// endMbarrierTest writes the results of a test of an mbarrier.
func (t *thread) endMbarrierTest(p []byte, n mbarrierState, done bool) {
	t.setPred("p", done)
	if t.instr.Form.Operand("q") >= 0 {
		report := int64(0)
		if done && n.v1 {
			report = n.lastReport
		}
		t.setPred("q", report > 255)
		t.setOperand("d", uint64(report%256))
	}
	if !done {
		t.cta.cluster.finishPhaseTasks(p, n)
	}
}
