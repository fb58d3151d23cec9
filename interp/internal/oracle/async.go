package oracle

// This file executes asynchronous operations (manual 9.7.9.25, 9.7.9.12, 9.7.13.7,
// 9.7.13.15.18). Each is a task that is done as late as the manual lets it be: when a
// thread waits for it, or when it is what an mbarrier lacks that a thread has just looked
// at, or when the CTA has ended. Reductions on global memory are done at once.

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"gemu/ptx"
)

// task is something that is still to be done for a thread.
type task struct {
	of     *thread
	in     *ptx.Instr
	bulk   bool
	group  int    // how many groups of its kind the thread had committed
	bar    []byte // the mbarrier that is told, nil for none
	tx     int64  // … that so many bytes have come; 0: that the thread has arrived
	report bool   // … and that the pattern it looks for is in the source
	arrive bool
	look   func() // reads the tensor map of a copy that an mbarrier is told of; may be nil
	fetch  func() // reads the source, once; may be nil
	do     func()
	pipe   bool   // of tensor cores: all such tasks before it are done first
	readA  func() // reads matrix A in shared memory, once; may be nil
	onlyA  bool   // of all such tasks before it, matrix A is read first, and they are not done
	done   bool
}

type groupKey struct {
	t    *thread
	bulk bool
}

// finish does a task, those of an arrival's thread before it first.
func (g *cluster) finish(k *task) {
	if k.done {
		return
	}
	k.done = true
	if k.pipe {
		for _, e := range g.tasks {
			if e == k {
				break
			}
			switch same := e.pipe && e.of.cta.rank/2 == k.of.cta.rank/2; {
			case same && !k.onlyA:
				g.finish(e)
			case same && !e.done && e.readA != nil:
				e.early(e.readA)
				e.readA = nil
			}
		}
	}
	if k.arrive && !k.pipe {
		for _, e := range g.tasks {
			if e == k {
				break
			}
			if e.of == k.of && !e.bulk && !e.pipe && e.bar == nil {
				g.finish(e)
			}
		}
	}
	now := k.of.in
	k.of.in = k.in // a trap is at the instruction that issued it
	if k.fetch != nil {
		k.fetch()
	}
	if k.do != nil {
		k.do()
	}
	if k.bar != nil {
		k.tell()
	}
	k.of.in = now
}

// tell has the mbarrier know.
func (k *task) tell() {
	n := k.of.mbarrierIn(k.bar)
	if k.report {
		n.report += 256 - n.report/256*256
	}
	k.count(&n)
	k.of.valid(n)
	n.settle()
	copy(k.bar, bytesOf(value{lo: n.word()}, 8))
}

func (k *task) count(n *counts) {
	if k.arrive {
		n.pending--
	} else {
		n.tx -= k.tx
	}
}

// lookedAt does the tasks that complete the phase of an mbarrier, if they do, for a thread has
// found it incomplete.
func (g *cluster) lookedAt(p []byte, n counts) {
	var mine []*task
	for _, k := range g.tasks {
		if !k.done && k.bar != nil && &k.bar[0] == &p[0] {
			mine = append(mine, k)
			k.count(&n)
			if n.pending == 0 && n.tx == 0 {
				for _, k := range mine {
					g.finish(k)
				}
				g.sweep()
				return
			}
		}
	}
}

// sweep forgets tasks that are done.
func (g *cluster) sweep() {
	g.tasks = slices.DeleteFunc(g.tasks, func(k *task) bool { return k.done })
}

// end does what is left of the CTA's.
func (c *cta) end() {
	for _, k := range c.cluster.tasks {
		if k.of.cta == c {
			c.cluster.finish(k)
		}
	}
	c.cluster.sweep()
}

// issue notes a task of the current instruction.
func (t *thread) issue(k *task) {
	k.of, k.in = t, t.in
	k.group = t.cta.groups[groupKey{t, k.bulk}]
	t.cta.cluster.tasks = append(t.cta.cluster.tasks, k)
}

// span gives n bytes at an address that is to be a multiple of alignment.
func (t *thread) span(space ptx.Space, addr uint64, n, alignment int, how access) []byte {
	if n == 0 {
		return nil
	}
	// The source of a bulk copy is the CTA's own.
	cluster := t.reachesCluster() && !(how == reads && t.has("shared::cta"))
	if space == ptx.Generic {
		space, addr = t.m.resolve(addr)
	}
	if addr%uint64(alignment) != 0 {
		t.trap(KindMisaligned, "address %#x is not a multiple of %d", addr, alignment)
	}
	if space == ptx.Shared {
		c := t.sharedOf(addr, cluster)
		off := addr - c.base()
		if off > uint64(len(c.shared)) || uint64(len(c.shared))-off < uint64(n) {
			t.trap(KindMemory, "%d bytes at %#x are outside shared memory", n, addr)
		}
		return c.shared[off:][:n]
	}
	_, p, err := t.m.dev.reach(space, addr, n, how != reads)
	if err != nil {
		t.trap(KindMemory, "%v", err)
	}
	return p
}

// addressIn is the address of an operand, in the space given unless it names a variable.
func (t *thread) addressIn(name string, space ptx.Space) (ptx.Space, uint64) {
	s, addr := t.address(name)
	if o, _ := t.operand(name); o.Sym() != nil {
		space = s
	}
	return space, addr
}

// cp (9.7.9.25).
func cp(t *thread) {
	bulk := t.has("bulk")
	switch {
	case t.has("prefetch"):
	case t.has("tensor"):
		t.tensorCopy()
	case t.has("commit_group"):
		if t.cta.groups == nil {
			t.cta.groups = map[groupKey]int{}
		}
		t.cta.groups[groupKey{t, bulk}]++
	case t.has("wait_all"):
		t.waitFor(func(k *task) bool { return !k.bulk })
	case t.has("wait_group"):
		before := t.cta.groups[groupKey{t, bulk}] - int(t.arg("a"))
		t.waitFor(func(k *task) bool { return k.bulk == bulk && k.group < before })
	case t.has("arrive"): // 9.7.13.15.18
		p := t.ownMbarrier("a")
		n := t.mbarrierIn(p)
		if !t.has("noinc") {
			n.pending++
			copy(p, bytesOf(value{lo: t.valid(n).word()}, 8))
		}
		t.issue(&task{bar: p, arrive: true})
	case bulk:
		t.bulkCopy()
	default:
		t.copyLater()
	}
}

// early does a part of the task before the rest: a trap is at the instruction that issued it.
func (k *task) early(do func()) {
	now := k.of.in
	k.of.in = k.in
	do()
	k.of.in = now
}

// waitFor does the tasks of the thread that are in no mbarrier's hands.
func (t *thread) waitFor(which func(*task) bool) {
	for _, k := range t.cta.cluster.tasks {
		switch {
		case k.of == t && k.look != nil && !k.done && which(k):
			k.early(k.look)
		case k.of != t || k.bar != nil || k.pipe || k.done || !which(k):
		case !t.has("read"):
			t.cta.cluster.finish(k)
		case k.fetch != nil:
			k.early(k.fetch)
			k.fetch = nil
		}
	}
	t.cta.cluster.sweep()
}

// copyLater is cp.async (9.7.9.25.3.1).
func (t *thread) copyLater() {
	size := int(t.arg("c"))
	n := size
	if t.given("e") {
		o, _ := t.operand("e")
		if o.Kind == ptx.RegOperand && t.top().fn.Regs[o.Reg].Type == ptx.Pred {
			if t.read(o, ptx.Pred).lo != 0 {
				n = 0
			}
		} else if n = int(t.read(o, ptx.U32).lo); n > size {
			t.trap(KindAsync, "a source of %d bytes for %d", n, size)
		}
	}
	ts, to := t.addressIn("a", ptx.Shared)
	fs, from := t.addressIn("b", ptx.Global)
	target := func() []byte { return t.span(ts, to, size, size, writes) }
	source := func() []byte { return t.span(fs, from, n, size, reads) }
	target()
	source()
	t.issue(&task{do: func() {
		p := target()
		clear(p[copy(p, source()):])
	}})
}

// bulkCopy is cp.async.bulk (9.7.9.25.4.1) and cp.reduce.async.bulk (9.7.9.25.4.2).
func (t *thread) bulkCopy() {
	n := int(t.arg("c"))
	if n%16 != 0 {
		t.trap(KindAsync, "%d bytes are no multiple of 16", n)
	}
	toSpace, fromSpace := ptx.Shared, ptx.Shared
	told := !t.has("bulk_group")
	switch {
	case !told:
		toSpace = ptx.Global
	case t.has("global"):
		fromSpace = ptx.Global
	}
	if told && n > limit {
		t.trap(KindAsync, "%d bytes are more than an mbarrier counts", n)
	}
	ts, to := t.addressIn("a", toSpace)
	fs, from := t.addressIn("b", fromSpace)
	size := n // what the mbarrier is told
	alignment, left := 16, 0
	if t.has("ignore_oob") {
		l, r := int(t.arg("h")), int(t.arg("i"))
		if l > 15 || r > 15 {
			t.trap(KindAsync, "%d and %d bytes to ignore", l, r)
		}
		if to%16 != 0 || from%16 != 0 {
			t.trap(KindMisaligned, "%#x or %#x is not a multiple of 16", to, from)
		}
		left = min(l, n)
		to, from, n, alignment = to+uint64(left), from+uint64(left), max(n-l-r, 0), 1
	}
	source := func() []byte { return t.span(fs, from, n, alignment, reads) }
	mask16 := uint64(0xffff) // the bytes of each 16 that are copied
	if t.given("f") && !told {
		mask16 = t.arg("f")
	}
	// copyTo copies to addresses of which in makes what they are in another CTA.
	copyTo := func(in func(addr uint64) uint64) {
		k := &task{bulk: true}
		target := func() []byte { return t.span(ts, in(to), n, alignment, writes) }
		if told {
			bs, bar := t.addressIn("e", ptx.Shared)
			k.bar, k.tx = t.span(bs, in(bar), 8, 8, updates), int64(size)
			t.reportsTo(t.mbarrierIn(k.bar))
			t.sameCTA(in(to), in(bar), n)
		}
		target()
		source()
		var data []byte
		k.fetch = func() {
			data = slices.Clone(source())
			k.report = reported(k.in, data)
		}
		reduces := t.has("reduce")
		typ := t.in.Type()
		k.do = func() {
			p := target()
			if reduces {
				for i, size := 0, typ.Size(); i < n; i += size {
					t.combine(ts, typ, p[i:][:size], valueOf(data[i:][:size]))
				}
				return
			}
			for i := range data {
				if mask16>>((i+left)%16)&1 != 0 {
					p[i] = data[i]
				}
			}
		}
		if k.of, k.in = t, t.in; reduces && toSpace == ptx.Global {
			t.cta.cluster.finish(k)
			return
		}
		t.issue(k)
	}
	if !t.multicasts() {
		copyTo(func(addr uint64) uint64 { return addr })
		return
	}
	// To the CTAs whose ranks the mask has: to the same offset as in one's own, and to the mbarrier
	// at the same offset as its own.
	t.origin(ts, to)
	mask := t.arg("f")
	for rank := range uint64(32) {
		if mask>>rank&1 == 0 {
			continue
		}
		if rank >= uint64(t.m.teamSize()) {
			t.trap(KindCluster, "cta %d of a cluster of %d", rank, t.m.teamSize())
		}
		copyTo(func(addr uint64) uint64 { return addr + (rank-rankOf(addr))<<rankShift })
	}
}

// multicasts reports whether the instruction copies to several CTAs.
func (t *thread) multicasts() bool {
	return t.has("multicast::cluster") || t.has("multicast::cluster::16b") || t.has("multicast::cluster::32b")
}

// reportsTo traps if the instruction reports to an mbarrier that has no reports.
func (t *thread) reportsTo(n counts) {
	if how := t.in.Slot("report"); how != "" && how != "mbarrier::report::disabled" && !n.v1 {
		t.trap(KindBarrier, "a report to an mbarrier of .layout::v0")
	}
}

// reported reports whether the source of a copy has what its instruction looks for (manual of PTX 9.4,
// report mechanisms): a byte of ones anywhere, or a negative zero as the first element of 16 bytes.
func reported(in *ptx.Instr, data []byte) bool {
	_, pattern, ok := strings.Cut(in.Slot("report"), "::report::validity::")
	switch {
	case !ok:
		return false
	case pattern == "per_element::ff":
		return bytes.IndexByte(data, 255) >= 0
	}
	digits := len(strings.TrimPrefix(pattern, "per_16bytes::")) // of the element, in hexadecimal
	for i := 0; i+16 <= len(data); i += 16 {
		first := new(big.Int).SetUint64(valueOf(data[i:][:8]).lo)
		element := first.Mod(first, new(big.Int).Lsh(big.NewInt(1), uint(4*digits)))
		if element.Cmp(new(big.Int).Lsh(big.NewInt(8), uint(4*digits-4))) == 0 {
			return true
		}
	}
	return false
}

// origin traps unless the address that a multicast gives is in shared memory of the cluster.
func (t *thread) origin(space ptx.Space, addr uint64) {
	in, at := space, addr
	if space == ptx.Generic {
		in, at = t.m.resolve(addr)
	}
	if in != ptx.Shared || at>>rankShift >= uint64(t.m.teamSize()) {
		t.trap(KindMemory, "%#x is not in shared memory of the cluster", addr)
	}
}

// sameCTA traps unless what is written and the mbarrier that is told of it are in the shared
// memory of one CTA.
func (t *thread) sameCTA(to, bar uint64, n int) {
	if n > 0 && rankOf(to) != rankOf(bar) {
		t.trap(KindMemory, "%#x is in shared memory of cta %d, the mbarrier in that of cta %d", to, rankOf(to), rankOf(bar))
	}
}

// combine is *p = op(*p, b), with the operation of the current instruction.
func (t *thread) combine(space ptx.Space, typ ptx.Type, p []byte, b value) {
	old := valueOf(p)
	copy(p, bytesOf(t.modify(space, typ, old, b), typ.Size()))
}

// later is st.async (9.7.9.12) and red.async (9.7.13.7) on shared memory.
func (t *thread) later() {
	bar := t.mbarrierAt("c")
	t.mbarrierIn(bar)
	b, typ := t.operand("b")
	var data []byte
	for _, e := range elements(b) {
		data = append(data, bytesOf(t.read(e, typ), typ.Size())...)
	}
	space, addr := t.address("a")
	target := func() []byte { return t.span(space, addr, len(data), min(len(data), 16), writes) }
	target()
	_, told := t.address("c")
	t.sameCTA(addr, told, len(data))
	if space == ptx.Generic {
		if in, _ := t.m.resolve(addr); in != ptx.Shared {
			t.trap(KindMemory, "%#x is not in shared memory", addr)
		}
	}
	reduces := t.in.Mnemonic() == "red"
	t.issue(&task{bar: bar, tx: int64(len(data)), do: func() {
		if reduces {
			t.combine(ptx.Shared, typ, target(), valueOf(data))
		} else {
			copy(target(), data)
		}
	}})
}
