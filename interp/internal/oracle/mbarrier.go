package oracle

// This file executes mbarriers (manual 9.7.13.15). What the manual calls opaque, the eight
// bytes of an mbarrier and the state that an arrival gives, is as docs/async.md has it.

import (
	"encoding/binary"

	"gemu/ptx"
)

// counts is an mbarrier (9.7.13.15.2).
type counts struct {
	phase             int64 // modulo 4
	pending, expected int64
	tx                int64

	v1          bool  // it has .layout::v1, and therefore:
	conditional int64 // the conditional phase, modulo 4
	report      int64 // of the current phase: 256 for the predicate, and the value
	last        int64 // that of the phase before
}

// limit is how far the counts go, and tx-count below zero.
const limit = 1<<20 - 1

// word is the mbarrier as its memory has it.
func (n counts) word() uint64 {
	if n.v1 {
		fields := []struct{ v, bits int64 }{{n.pending, 9}, {n.report, 9}, {n.conditional, 2}, {n.expected, 9}, {n.last, 9}, {2, 2}, {n.tx + limit + 1, 21}, {n.phase, 2}}
		v := int64(0)
		for i := len(fields) - 1; i >= 0; i-- {
			v = v<<fields[i].bits + fields[i].v
		}
		return uint64(v)
	}
	v := int64(2) + n.phase%4/2 // the top bit, and the phase from there
	v = v*2 + n.phase%2
	v = v<<21 + n.tx + limit + 1
	v = v<<20 + n.expected
	return uint64(v<<20 + n.pending)
}

// countsOf is the mbarrier that memory has, if it has one.
func countsOf(word uint64) (n counts, ok bool) {
	n.v1 = word < 1<<63
	take := func(bits int) int64 {
		v := low(word, bits)
		word >>= bits
		return int64(v)
	}
	if n.v1 {
		n.pending, n.report, n.conditional, n.expected, n.last = take(9), take(9), take(2), take(9), take(9)
		if take(2) != 2 {
			return n, false
		}
	} else {
		n.pending, n.expected = take(20), take(20)
	}
	n.tx = take(21) - limit - 1
	n.phase = take(2)
	return n, n.tx >= -limit
}

// settle is the transition to the next phase, if this one is complete (9.7.13.15.6).
func (n *counts) settle() {
	if n.pending != 0 || n.tx != 0 {
		return
	}
	n.phase, n.pending = (n.phase+1)%4, n.expected
	if n.v1 {
		if n.report == 0 {
			n.conditional = (n.conditional + 1) % 4
		}
		n.report, n.last = 0, n.report
	}
}

// valid traps if a count is out of its range.
func (t *thread) valid(n counts) counts {
	arrivals := int64(limit)
	if n.v1 {
		arrivals = 511
	}
	for _, c := range []struct {
		name           string
		v, least, most int64
	}{{"pending count", n.pending, 0, arrivals}, {"expected count", n.expected, 0, arrivals}, {"tx-count", n.tx, -limit, limit}} {
		if c.v < c.least || c.v > c.most {
			t.trap(KindBarrier, "the mbarrier's %s would be %d", c.name, c.v)
		}
	}
	return n
}

// mbarrierAt gives the bytes of the mbarrier at the address of an operand. A Step does not
// list them, nor what asynchronous operations access.
func (t *thread) mbarrierAt(name string) []byte {
	space, addr := t.address(name)
	if space == ptx.Generic {
		space, addr = t.m.resolve(addr)
	}
	if space != ptx.Shared {
		t.trap(KindMemory, "an mbarrier at %#x of %s memory", addr, space)
	}
	return t.span(space, addr, 8, 8, updates)
}

// ownMbarrier is mbarrierAt for one that has to be in the thread's own CTA.
func (t *thread) ownMbarrier(name string) []byte {
	p := t.mbarrierAt(name)
	if space, addr := t.address(name); space == ptx.Generic {
		if _, addr = t.m.resolve(addr); addr>>rankShift != uint64(t.cta.rank) {
			t.trap(KindMemory, "the mbarrier at %#x is in another cta", addr)
		}
	}
	return p
}

// mbarrierIn is the mbarrier in eight bytes.
func (t *thread) mbarrierIn(p []byte) counts {
	n, ok := countsOf(binary.LittleEndian.Uint64(p))
	if !ok {
		t.trap(KindBarrier, "there is no mbarrier")
	}
	return n
}

func mbarrier(t *thread) {
	if t.has("pending_count") { // 9.7.13.15.17
		t.put("d", low(t.arg("a"), 20))
		return
	}
	at, how := t.mbarrierAt, updates
	switch {
	case t.has("init") || t.has("inval"):
		how = writes
	case t.has("test_wait") || t.has("try_wait") || t.has("check_layout"):
		how = reads
	}
	if t.has("init") || t.has("inval") || t.has("test_wait") || t.has("try_wait") || t.has("check_layout") || t.has("noComplete") {
		at = t.ownMbarrier
	}
	p := at("a")
	space, addr := t.address("a")
	t.logAccess(space, addr, p, how)
	if t.has("multicast::cluster::32b") {
		t.eachMbarrier(space, addr)
		return
	}
	t.mbarrierOn(p)
}

// eachMbarrier executes the instruction on the mbarrier at the same place of each CTA that the mask
// has.
func (t *thread) eachMbarrier(space ptx.Space, addr uint64) {
	if space == ptx.Generic {
		_, addr = t.m.resolve(addr)
	}
	mask := t.arg("e")
	for rank := range uint64(32) {
		if mask>>rank&1 == 0 {
			continue
		}
		if rank >= uint64(t.m.teamSize()) {
			t.trap(KindCluster, "cta %d of a cluster of %d", rank, t.m.teamSize())
		}
		c := t.sharedOf(addr+(rank-rankOf(addr))<<rankShift, true)
		t.mbarrierOn(c.shared[addr%(1<<rankShift):][:8])
	}
}

// mbarrierOn executes the instruction on the mbarrier in eight bytes.
func (t *thread) mbarrierOn(p []byte) {
	store := func(n counts) { binary.LittleEndian.PutUint64(p, t.valid(n).word()) }
	if t.has("init") { // 9.7.13.15.9
		count := int64(t.arg("b"))
		if count == 0 {
			t.trap(KindBarrier, "an mbarrier for no arrivals")
		}
		store(counts{pending: count, expected: count, v1: t.has("layout::v1")})
		return
	}
	before := t.mbarrierIn(p)
	n := before
	if t.has("check_layout") {
		t.putPred("p", n.v1 == t.has("layout::v1"))
		return
	}
	if t.has("inval") { // 9.7.13.15.10
		clear(p)
		return
	}
	count := int64(1)
	if t.given("b") {
		count = int64(t.arg("b"))
	}
	switch {
	case t.has("arrive"), t.has("arrive_drop"): // 9.7.13.15.13, 9.7.13.15.14
		if count > limit {
			t.trap(KindBarrier, "a count of %d", count)
		}
		if t.has("expect_tx") {
			n.tx += count
			count = 1
		}
		if t.has("arrive_drop") {
			n.expected -= count
		}
		n.pending -= count
		t.valid(n)
		if n.settle(); t.has("noComplete") && n.phase != before.phase {
			t.trap(KindBarrier, "the phase is complete by .noComplete")
		}
		store(n)
		t.put("d", before.word())
	case t.has("expect_tx"): // 9.7.13.15.11
		n.tx += count
		t.valid(n)
		n.settle() // 9.7.13.15.6 has no say in which operation comes last
		store(n)
	case t.has("complete_tx"): // 9.7.13.15.12
		n.tx -= count
		t.valid(n)
		n.settle()
		store(n)
	case t.has("parity"):
		if count > 1 {
			t.trap(KindBarrier, "phase parity %d", count)
		}
		phase := n.phase
		if t.has("phase_type::conditional") && n.v1 {
			phase = n.conditional
		}
		t.looked(p, n, phase%2 != count)
	default: // 9.7.13.15.16: the phase that the state is of
		state, ok := countsOf(t.arg("b"))
		switch {
		case ok && state.phase == n.phase:
			t.looked(p, n, false)
		case ok && (state.phase+1)%4 == n.phase:
			t.looked(p, n, true)
		default:
			t.trap(KindBarrier, "a state of neither this phase nor the one before")
		}
	}
}

// looked is the end of a look at an mbarrier.
func (t *thread) looked(p []byte, n counts, done bool) {
	t.putPred("p", done)
	if t.in.Form.Operand("q") >= 0 {
		report := int64(0)
		if done && n.v1 {
			report = n.last
		}
		t.putPred("q", report > 255)
		t.put("d", uint64(report%256))
	}
	if !done {
		t.cta.cluster.lookedAt(p, n)
	}
}
