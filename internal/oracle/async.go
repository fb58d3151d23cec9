package oracle

// This file executes asynchronous operations (manual 9.7.9.25, 9.7.9.12, 9.7.13.7, 9.7.13.15.18). Each is a task that
// runs as late as the manual allows: when a thread waits for it, when a thread has tested an mbarrier whose phase it
// completes, or when the CTA ends. Reductions on global memory run at once.

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"gemu/ptx"
)

// task is an asynchronous operation that has yet to run.
type task struct {
	thread        *thread
	instr         *ptx.Instr
	bulk          bool
	group         int    // number of committed groups of its kind when the thread issued it
	mbarrier      []byte // mbarrier that it notifies; nil for none
	txBytes       int64  // transferred bytes that it reports to the mbarrier; 0: an arrival of the thread
	reportMatched bool   // the pattern of a report was found in the source
	isArrival     bool
	readTensorMap func() // reads the tensor map of a copy that notifies an mbarrier; may be nil
	readSource    func() // reads the source once; may be nil
	execute       func()
	tensorCore    bool   // a task of the tensor cores: earlier tasks of the CTA pair run first
	readA         func() // reads matrix A in shared memory once; may be nil
	onlyA         bool   // only matrix A of earlier tensor-core tasks is read first; they do not run
	done          bool
}

type groupKey struct {
	t    *thread
	bulk bool
}

// finishTask runs a task. An arrival runs the earlier tasks of its thread first.
func (g *cluster) finishTask(k *task) {
	if k.done {
		return
	}
	k.done = true
	if k.tensorCore {
		for _, e := range g.tasks {
			if e == k {
				break
			}
			switch unchanged := e.tensorCore && e.thread.cta.rank/2 == k.thread.cta.rank/2; {
			case unchanged && !k.onlyA:
				g.finishTask(e)
			case unchanged && !e.done && e.readA != nil:
				e.executeEarly(e.readA)
				e.readA = nil
			}
		}
	}
	if k.isArrival && !k.tensorCore {
		for _, e := range g.tasks {
			if e == k {
				break
			}
			if e.thread == k.thread && !e.bulk && !e.tensorCore && e.mbarrier == nil {
				g.finishTask(e)
			}
		}
	}
	saved := k.thread.instr
	k.thread.instr = k.instr // traps at the issuing instruction
	if k.readSource != nil {
		k.readSource()
	}
	if k.execute != nil {
		k.execute()
	}
	if k.mbarrier != nil {
		k.notify()
	}
	k.thread.instr = saved
}

// notify updates the mbarrier.
func (k *task) notify() {
	n := k.thread.mbarrierIn(k.mbarrier)
	if k.reportMatched {
		n.report += 256 - n.report/256*256
	}
	k.applyTo(&n)
	k.thread.checkCounts(n)
	n.completePhase()
	copy(k.mbarrier, bytesOf(value{lo: n.encode()}, 8))
}

func (k *task) applyTo(n *mbarrierState) {
	if k.isArrival {
		n.pending--
	} else {
		n.tx -= k.txBytes
	}
}

// finishPhaseTasks runs the tasks that complete the phase of an mbarrier, if there are such tasks. It is called when a
// thread has found the phase incomplete.
func (g *cluster) finishPhaseTasks(p []byte, n mbarrierState) {
	var completing []*task
	for _, k := range g.tasks {
		if !k.done && k.mbarrier != nil && &k.mbarrier[0] == &p[0] {
			completing = append(completing, k)
			k.applyTo(&n)
			if n.pending == 0 && n.tx == 0 {
				for _, k := range completing {
					g.finishTask(k)
				}
				g.removeDoneTasks()
				return
			}
		}
	}
}

// removeDoneTasks forgets finished tasks.
func (g *cluster) removeDoneTasks() {
	g.tasks = slices.DeleteFunc(g.tasks, func(k *task) bool { return k.done })
}

// finishTasks runs the remaining tasks of the CTA.
func (c *cta) finishTasks() {
	for _, k := range c.cluster.tasks {
		if k.thread.cta == c {
			c.cluster.finishTask(k)
		}
	}
	c.cluster.removeDoneTasks()
}

// issue adds a task of the current instruction.
func (t *thread) issue(k *task) {
	k.thread, k.instr = t, t.instr
	k.group = t.cta.groups[groupKey{t, k.bulk}]
	t.cta.cluster.tasks = append(t.cta.cluster.tasks, k)
}

// asyncBytes returns n bytes at an address, which must be a multiple of alignment.
func (t *thread) asyncBytes(space ptx.Space, addr uint64, n, alignment int, rw accessKind) []byte {
	if n == 0 {
		return nil
	}
	// The source of a bulk copy is in the CTA's own shared memory.
	cluster := t.reachesCluster() && !(rw == readAccess && t.hasModifier("shared::cta"))
	if space == ptx.Generic {
		space, addr = t.machine.resolve(addr)
	}
	if addr%uint64(alignment) != 0 {
		t.trap(KindMisaligned, "address %#x is not a multiple of %d", addr, alignment)
	}
	if space == ptx.Shared {
		c := t.ctaOfShared(addr, cluster)
		offset := addr - c.sharedBase()
		if offset > uint64(len(c.shared)) || uint64(len(c.shared))-offset < uint64(n) {
			t.trap(KindMemory, "%d bytes at %#x are outside shared memory", n, addr)
		}
		return c.shared[offset:][:n]
	}
	_, p, err := t.machine.dev.bytesAt(space, addr, n, rw != readAccess)
	if err != nil {
		t.trap(KindMemory, "%v", err)
	}
	return p
}

// addressIn returns the address of an operand, in the given space unless the operand names a variable.
func (t *thread) addressIn(name string, space ptx.Space) (ptx.Space, uint64) {
	s, addr := t.address(name)
	if o, _ := t.operand(name); o.Sym() != nil {
		space = s
	}
	return space, addr
}

// cp (9.7.9.25).
func cp(t *thread) {
	bulk := t.hasModifier("bulk")
	switch {
	case t.hasModifier("prefetch"):
	case t.hasModifier("tensor"):
		t.tensorCopy()
	case t.hasModifier("commit_group"):
		if t.cta.groups == nil {
			t.cta.groups = map[groupKey]int{}
		}
		t.cta.groups[groupKey{t, bulk}]++
	case t.hasModifier("wait_all"):
		t.waitFor(func(k *task) bool { return !k.bulk })
	case t.hasModifier("wait_group"):
		before := t.cta.groups[groupKey{t, bulk}] - int(t.operandValue("a"))
		t.waitFor(func(k *task) bool { return k.bulk == bulk && k.group < before })
	case t.hasModifier("arrive"): // 9.7.13.15.18
		p := t.ownMbarrier("a")
		n := t.mbarrierIn(p)
		if !t.hasModifier("noinc") {
			n.pending++
			copy(p, bytesOf(value{lo: t.checkCounts(n).encode()}, 8))
		}
		t.issue(&task{mbarrier: p, isArrival: true})
	case bulk:
		t.bulkCopy()
	default:
		t.asyncCopy()
	}
}

// executeEarly runs a part of the task before the rest; it traps at the issuing instruction.
func (k *task) executeEarly(f func()) {
	saved := k.thread.instr
	k.thread.instr = k.instr
	f()
	k.thread.instr = saved
}

// waitFor runs the matching tasks of the thread that notify no mbarrier.
func (t *thread) waitFor(match func(*task) bool) {
	for _, k := range t.cta.cluster.tasks {
		switch {
		case k.thread == t && k.readTensorMap != nil && !k.done && match(k):
			k.executeEarly(k.readTensorMap)
		case k.thread != t || k.mbarrier != nil || k.tensorCore || k.done || !match(k):
		case !t.hasModifier("read"):
			t.cta.cluster.finishTask(k)
		case k.readSource != nil:
			k.executeEarly(k.readSource)
			k.readSource = nil
		}
	}
	t.cta.cluster.removeDoneTasks()
}

// asyncCopy executes cp.async (9.7.9.25.3.1).
func (t *thread) asyncCopy() {
	size := int(t.operandValue("c"))
	n := size
	if t.hasOperand("e") {
		o, _ := t.operand("e")
		if o.Kind == ptx.RegOperand && t.currentFrame().fn.Regs[o.Reg].Type == ptx.Pred {
			if t.read(o, ptx.Pred).lo != 0 {
				n = 0
			}
		} else if n = int(t.read(o, ptx.U32).lo); n > size {
			t.trap(KindAsync, "a source of %d bytes for %d", n, size)
		}
	}
	ts, to := t.addressIn("a", ptx.Shared)
	fs, from := t.addressIn("b", ptx.Global)
	target := func() []byte { return t.asyncBytes(ts, to, size, size, writeAccess) }
	source := func() []byte { return t.asyncBytes(fs, from, n, size, readAccess) }
	target()
	source()
	t.issue(&task{execute: func() {
		p := target()
		clear(p[copy(p, source()):])
	}})
}

// bulkCopy executes cp.async.bulk (9.7.9.25.4.1) and cp.reduce.async.bulk (9.7.9.25.4.2).
func (t *thread) bulkCopy() {
	n := int(t.operandValue("c"))
	if n%16 != 0 {
		t.trap(KindAsync, "%d bytes are no multiple of 16", n)
	}
	toSpace, fromSpace := ptx.Shared, ptx.Shared
	notifies := !t.hasModifier("bulk_group")
	switch {
	case !notifies:
		toSpace = ptx.Global
	case t.hasModifier("global"):
		fromSpace = ptx.Global
	}
	if notifies && n > maxCount {
		t.trap(KindAsync, "%d bytes are more than an mbarrier counts", n)
	}
	ts, to := t.addressIn("a", toSpace)
	fs, from := t.addressIn("b", fromSpace)
	size := n // byte count for the mbarrier
	alignment, trimmed := 16, 0
	if t.hasModifier("ignore_oob") {
		l, r := int(t.operandValue("h")), int(t.operandValue("i"))
		if l > 15 || r > 15 {
			t.trap(KindAsync, "%d and %d bytes to ignore", l, r)
		}
		if to%16 != 0 || from%16 != 0 {
			t.trap(KindMisaligned, "%#x or %#x is not a multiple of 16", to, from)
		}
		trimmed = min(l, n)
		to, from, n, alignment = to+uint64(trimmed), from+uint64(trimmed), max(n-l-r, 0), 1
	}
	source := func() []byte { return t.asyncBytes(fs, from, n, alignment, readAccess) }
	mask16 := uint64(0xffff) // mask of the copied bytes in each 16
	if t.hasOperand("f") && !notifies {
		mask16 = t.operandValue("f")
	}
	// copyTo copies to a single CTA. mapAddr maps an address to the address in this CTA.
	copyTo := func(mapAddr func(addr uint64) uint64) {
		k := &task{bulk: true}
		target := func() []byte { return t.asyncBytes(ts, mapAddr(to), n, alignment, writeAccess) }
		if notifies {
			bs, bar := t.addressIn("e", ptx.Shared)
			k.mbarrier, k.txBytes = t.asyncBytes(bs, mapAddr(bar), 8, 8, updateAccess), int64(size)
			t.checkReport(t.mbarrierIn(k.mbarrier))
			t.checkSameCTA(mapAddr(to), mapAddr(bar), n)
		}
		target()
		source()
		var data []byte
		k.readSource = func() {
			data = slices.Clone(source())
			k.reportMatched = matchesReport(k.instr, data)
		}
		reduces := t.hasModifier("reduce")
		typ := t.instr.Type()
		k.execute = func() {
			p := target()
			if reduces {
				for i, size := 0, typ.Size(); i < n; i += size {
					t.combineBytes(ts, typ, p[i:][:size], valueOf(data[i:][:size]))
				}
				return
			}
			for i := range data {
				if mask16>>((i+trimmed)%16)&1 != 0 {
					p[i] = data[i]
				}
			}
		}
		if k.thread, k.instr = t, t.instr; reduces && toSpace == ptx.Global {
			t.cta.cluster.finishTask(k)
			return
		}
		t.issue(k)
	}
	if !t.isMulticast() {
		copyTo(func(addr uint64) uint64 { return addr })
		return
	}
	// Copy to the CTAs in the mask: to the same offset as in the thread's CTA, and notify the mbarrier at the same
	// offset.
	t.checkMulticastSource(ts, to)
	mask := t.operandValue("f")
	for rank := range uint64(32) {
		if mask>>rank&1 == 0 {
			continue
		}
		if rank >= uint64(t.machine.clusterSize()) {
			t.trap(KindCluster, "cta %d of a cluster of %d", rank, t.machine.clusterSize())
		}
		copyTo(func(addr uint64) uint64 { return addr + (rank-rankOf(addr))<<rankShift })
	}
}

// isMulticast reports whether the instruction copies to several CTAs.
func (t *thread) isMulticast() bool {
	return t.hasModifier("multicast::cluster") || t.hasModifier("multicast::cluster::16b") || t.hasModifier("multicast::cluster::32b")
}

// checkReport traps if the instruction reports to an mbarrier without reports.
func (t *thread) checkReport(n mbarrierState) {
	if report := t.instr.Slot("report"); report != "" && report != "mbarrier::report::disabled" && !n.v1 {
		t.trap(KindBarrier, "a report to an mbarrier of .layout::v0")
	}
}

// matchesReport reports whether the source of a copy has the pattern of its instruction (manual of PTX 9.4, report
// mechanisms): a byte 0xff anywhere, or a negative zero as the first element of 16 bytes.
func matchesReport(instr *ptx.Instr, data []byte) bool {
	_, pattern, ok := strings.Cut(instr.Slot("report"), "::report::validity::")
	switch {
	case !ok:
		return false
	case pattern == "per_element::ff":
		return bytes.IndexByte(data, 255) >= 0
	}
	digits := len(strings.TrimPrefix(pattern, "per_16bytes::")) // digits of the element, in hexadecimal
	for i := 0; i+16 <= len(data); i += 16 {
		first := new(big.Int).SetUint64(valueOf(data[i:][:8]).lo)
		element := first.Mod(first, new(big.Int).Lsh(big.NewInt(1), uint(4*digits)))
		if element.Cmp(new(big.Int).Lsh(big.NewInt(8), uint(4*digits-4))) == 0 {
			return true
		}
	}
	return false
}

// checkMulticastSource traps unless the address operand of a multicast is in shared memory of the cluster.
func (t *thread) checkMulticastSource(space ptx.Space, addr uint64) {
	inSpace, address := space, addr
	if space == ptx.Generic {
		inSpace, address = t.machine.resolve(addr)
	}
	if inSpace != ptx.Shared || address>>rankShift >= uint64(t.machine.clusterSize()) {
		t.trap(KindMemory, "%#x is not in shared memory of the cluster", addr)
	}
}

// checkSameCTA traps unless the written bytes and the notified mbarrier are in the shared memory of the same CTA.
func (t *thread) checkSameCTA(to, bar uint64, n int) {
	if n > 0 && rankOf(to) != rankOf(bar) {
		t.trap(KindMemory, "%#x is in shared memory of cta %d, the mbarrier in that of cta %d", to, rankOf(to), rankOf(bar))
	}
}

// combineBytes computes *p = op(*p, b), with the operation of the current instruction.
func (t *thread) combineBytes(space ptx.Space, typ ptx.Type, p []byte, b value) {
	old := valueOf(p)
	copy(p, bytesOf(t.modify(space, typ, old, b), typ.Size()))
}

// asyncStoreOrReduce executes st.async (9.7.9.12) and red.async (9.7.13.7) on shared memory.
func (t *thread) asyncStoreOrReduce() {
	bar := t.mbarrierAt("c")
	t.mbarrierIn(bar)
	b, typ := t.operand("b")
	var data []byte
	for _, e := range elements(b) {
		data = append(data, bytesOf(t.read(e, typ), typ.Size())...)
	}
	space, addr := t.address("a")
	target := func() []byte { return t.asyncBytes(space, addr, len(data), min(len(data), 16), writeAccess) }
	target()
	_, barAddr := t.address("c")
	t.checkSameCTA(addr, barAddr, len(data))
	if space == ptx.Generic {
		if inSpace, _ := t.machine.resolve(addr); inSpace != ptx.Shared {
			t.trap(KindMemory, "%#x is not in shared memory", addr)
		}
	}
	reduces := t.instr.Mnemonic() == "red"
	t.issue(&task{mbarrier: bar, txBytes: int64(len(data)), execute: func() {
		if reduces {
			t.combineBytes(ptx.Shared, typ, target(), valueOf(data))
		} else {
			copy(target(), data)
		}
	}})
}
