package simt

// This file is the barriers of a CTA (manual 9.7.13.1). A warp arrives at one as
// a whole: when all its lanes that have not exited are there. With .aligned, and
// for bar, they come through one instruction. Without, they may come through
// different ones. Lanes that are there wait, and the others run on; without .aligned
// past where they would meet if it must be. So it is with bar.warp.sync, which waits
// for lanes of the warp (9.7.13.2).

import (
	"fmt"
	"math/bits"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// barrier is one of the sixteen barriers of a CTA.
type barrier struct {
	arrived       int     // warps
	expected      int     // warps; 0: all that have not ended
	waiting       []*warp // of them those that wait
	waitingBuffer []*warp // room for them
	popc          int     // of bar.red
	allTrue       bool
	anyTrue       bool

	completed int // how often
}

// wait is what keeps a warp split from running: lanes at a barrier of the CTA, or lanes of
// the warp that have yet to execute the same.
type wait struct {
	src        *code.Source
	op         *code.BarrierOp // nil: a collective instruction
	ref        *code.Instr     // … in the reference of check mode
	id         int             // the barrier's
	expected   int             // as barrier.expected
	arrived    bool            // the warp has arrived, and waits for others
	instr      *code.Instr     // the instruction
	membermask uint32          // its membermask, or that of bar.warp.sync

	generation int // how often the barrier had completed when the warp arrived; for probes only
}

// barrier executes bar or barrier.
func (w *warp) barrier(b *code.Block) {
	end := w.cta.code.End(b)
	m := w.guarded(end.Guard)
	if m == 0 {
		w.jump(b.Next)
		return
	}
	op, in := &w.cta.code.Barriers[end.Side], w.sourceOf(end)
	if end.Op == code.BarrierCluster {
		w.arriveAt(b, m, wait{src: in, instr: end, op: op, id: clusterBarrier})
		return
	}
	first := bits.TrailingZeros64(m)
	uniform := func(row int32, what string) (uint64, bool) {
		o := code.Row{Slot: code.R, Row: row}
		v := w.value(o, first)
		if o.Row < 0 { // a constant
			return v, true
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			if w.value(o, bits.TrailingZeros64(rest)) != v {
				w.fail(in, m, probe.ErrBarrier, "%v: the %s differs between the lanes of warp %d", probe.ErrBarrier, what, w.id)
				return 0, false
			}
		}
		return v, true
	}
	id, ok := uniform(end.A, "barrier number")
	if !ok {
		return
	}
	if id > 15 {
		w.fail(in, m, probe.ErrBarrier, "%v: barrier %d, want 0 to 15", probe.ErrBarrier, id)
		return
	}
	want := 0
	if end.B != code.NoRow {
		n, ok := uniform(end.B, "thread count")
		if !ok {
			return
		}
		width := uint64(w.cta.code.Width)
		if n == 0 || n%width != 0 {
			w.fail(in, m, probe.ErrBarrier, "%v: a thread count of %d is no positive multiple of the warp size %d", probe.ErrBarrier, n, width)
			return
		}
		want = int(n / width)
	}
	w.arriveAt(b, m, wait{src: in, instr: end, op: op, id: int(id), expected: want})
}

// arriveAt has lanes wait at the barrier that ends a block.
func (w *warp) arriveAt(b *code.Block, lanes uint64, request wait) {
	if w.check != nil {
		request.ref = w.check.End(b)
	}
	alone := lanes == w.live && len(w.waitingSplits) == 0
	w.leaveWaiting(lanes, b.Next, request)
	if alone { // nobody is to run first
		w.state = atBarrier
		w.arriveAtBarrier(request.id)
		return
	}
	w.continueAt(b.Next)
}

// arriveAtBarrier is for a warp all of whose lanes are at a barrier.
func (w *warp) arriveAtBarrier(id int) {
	w.cta.importAll()
	if id == clusterBarrier {
		w.arriveAtClusterBarrier()
		return
	}
	w.arrive(&w.cta.barriers[id])
}

// leaveWaiting makes lanes of the running warp split one that waits, before block pc.
func (w *warp) leaveWaiting(lanes uint64, pc int32, request wait) {
	c := w.splitOff(lanes)
	c.pc, c.wait = pc, w.newWait(request)
	w.waitingSplits = append(w.waitingSplits, c)
	w.numWaiting++
	if w.mask != 0 {
		w.countSplits(lanes|w.mask, laneGroup{pc, lanes}, laneGroup{pc, w.mask})
	}
	w.emitSplit(probe.OnWait, &c, request.src, nil)
}

// newWait copies a wait to one that is not in use.
func (w *warp) newWait(request wait) *wait {
	n := len(w.freeWaits)
	if n == 0 {
		w.freeWaits, n = append(w.freeWaits, new(wait)), 1
	}
	p := w.freeWaits[n-1]
	w.freeWaits = w.freeWaits[:n-1]
	*p = request
	return p
}

// wake lets a warp split go on.
func (w *warp) wake(c *warpSplit) {
	if w.cta.isSubscribed(probe.OnWake) {
		w.emitSplit(probe.OnWake, c, c.wait.src, c.wait.src.Writes)
	}
	w.freeWaits = append(w.freeWaits, c.wait)
	c.wait = nil
	w.numWaiting--
}

// continueAt continues the running warp split at a block, if it has lanes left.
func (w *warp) continueAt(pc int32) {
	if w.mask != 0 {
		w.jump(pc)
	} else {
		w.schedule()
	}
}

// warpBarrier executes bar.warp.sync for the lanes of m.
func (w *warp) warpBarrier(b *code.Block) {
	end := w.cta.code.End(b)
	m := w.guarded(end.Guard)
	if m == 0 {
		w.jump(b.Next)
		return
	}
	src, member := w.sourceOf(end), code.Row{Slot: code.R, Row: end.A}
	mask := func(lane int) uint32 { return uint32(w.value(member, lane)) }
	complete := end.A < 0 && mask(0)&uint32(w.live) == uint32(m) // one mask, and all are here
	if !complete {
		absent := uint32(0)
		for rest := m; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros64(rest)
			if !w.isMember(src, lane, mask(lane)) {
				return
			}
			absent |= mask(lane) & uint32(w.live&^m)
		}
		complete = absent == 0
	}
	if complete {
		w.jump(b.Next)
		return
	}
	for rest := m; rest != 0; {
		member := mask(bits.TrailingZeros64(rest))
		lanes := uint64(0)
		for n := rest; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros64(n); mask(lane) == member {
				lanes |= 1 << lane
			}
		}
		rest &^= lanes
		w.leaveWaiting(lanes, b.Next, wait{src: src, instr: end, op: &w.cta.code.Barriers[end.Side], membermask: member})
	}
	w.executeCollectives()
	w.continueAt(b.Next)
}

// checkAlignedBarrier is for a warp all of whose warp splits wait. If it is at one barrier, it
// arrives there.
func (w *warp) checkAlignedBarrier() {
	w.state = atBarrier
	for i := range w.waitingSplits {
		if b := w.waitingSplits[i].wait; b.op == nil || b.op.Kind == code.BarWarp {
			w.resume(w.takeSplit(i))
			w.missingMembersTrap(b.src, uint32(w.mask), b.membermask&uint32(w.live)&^w.waitingLanes(b)&^uint32(w.mask), b.membermask)
			return
		}
	}
	first := w.waitingSplits[0].wait
	for i := range w.waitingSplits {
		b := w.waitingSplits[i].wait
		if b.op.Aligned && w.lanesAtSource(b.src) != w.live {
			w.resume(w.takeSplit(i))
			absent := w.live &^ w.mask &^ w.lanesAtSource(b.src)
			t := w.fail(b.src, w.mask, probe.ErrDeadlock, "%v: lanes %s of warp %d are at a barrier that lanes %s of the same warp have not reached", probe.ErrDeadlock, probe.LaneList(w.live&^absent), w.id, probe.LaneList(absent))
			t.Notes = append(t.Notes, w.whereabouts(absent)...)
			return
		}
		if b.id != first.id || b.arrived {
			return
		}
	}
	w.arriveAtBarrier(first.id)
}

// lanesAtSource is the lanes that wait at an instruction.
func (w *warp) lanesAtSource(src *code.Source) uint64 {
	m := uint64(0)
	for i := range w.waitingSplits {
		if b := w.waitingSplits[i].wait; b != nil && b.src == src {
			m |= w.waitingSplits[i].mask
		}
	}
	return m
}

// arrive enters the warp, all of whose lanes are at the barrier.
func (w *warp) arrive(bar *barrier) {
	c := w.cta
	c.barrierUsed = true
	waits := false
	for i := range w.waitingSplits {
		split := &w.waitingSplits[i]
		b := split.wait
		if bar.arrived == 0 {
			*bar = barrier{expected: b.expected, allTrue: true, waiting: bar.waiting[:0], waitingBuffer: bar.waitingBuffer, completed: bar.completed}
		} else if bar.expected != b.expected {
			w.fail(b.src, split.mask, probe.ErrBarrier, "%v: barrier %d is awaited by %s threads, and now by %s", probe.ErrBarrier, b.id, c.threadCount(bar.expected), c.threadCount(b.expected))
			return
		}
		if i == 0 {
			bar.arrived++
		}
		b.generation = bar.completed
		if b.op.Kind == code.BarArrive {
			w.wake(split)
			continue
		}
		waits, b.arrived = true, true
		if b.op.Kind < code.BarPopc {
			continue
		}
		w.show(split.frame)
		p := uint64(0)
		for h := range w.files {
			p |= uint64(w.files[h].SrcP(b.instr.C)) << (32 * h)
		}
		if b.op.Neg {
			p = ^p
		}
		p &= split.mask
		bar.popc += bits.OnesCount64(p)
		bar.allTrue = bar.allTrue && p == split.mask
		bar.anyTrue = bar.anyTrue || p != 0
	}
	if waits {
		if bar.waiting == nil {
			bar.waiting = make([]*warp, 0, len(c.warps))
		}
		bar.waiting = append(bar.waiting, w)
	}
	if w.numWaiting < len(w.waitingSplits) { // some go on
		w.state = ready
		w.schedule()
	}
	c.complete(bar)
}

func (c *cta) threadCount(warps int) string {
	if warps == 0 {
		return "all"
	}
	return fmt.Sprint(warps * c.code.Width)
}

// complete lets the warps at a barrier go on once enough have arrived.
func (c *cta) complete(bar *barrier) {
	want := bar.expected
	if want == 0 {
		for i := range c.warps {
			if c.warps[i].state != ended {
				want++
			}
		}
	}
	if bar.arrived < want || bar.arrived == 0 {
		return
	}
	waiting := bar.waiting
	bar.arrived, bar.waiting, bar.waitingBuffer = 0, bar.waitingBuffer[:0], nil // those that go on may come to it again at once
	bar.completed++
	for _, w := range waiting {
		for i := range w.waitingSplits {
			if split := &w.waitingSplits[i]; split.wait != nil && split.wait.arrived {
				w.releaseSplit(split, bar)
				w.wake(split)
			}
		}
		w.merge()
		if w.mask != 0 {
			w.show(w.frame)
			continue
		}
		w.state = ready
		w.schedule()
	}
	bar.waitingBuffer = waiting
}

// releaseSplit writes the result of bar.red.
func (w *warp) releaseSplit(split *warpSplit, bar *barrier) {
	b := split.wait
	if b.op.Kind < code.BarPopc || b.instr.D == code.NoRow {
		return
	}
	w.show(split.frame)
	w.setReduction(b.instr, b.op, bar, split.mask)
	if w.check != nil {
		w.switchToReference()
		w.setReduction(b.ref, b.op, bar, split.mask)
		w.switchToReference()
	}
}

// setReduction gives lanes the result of bar.red.
func (w *warp) setReduction(instr *code.Instr, op *code.BarrierOp, bar *barrier, lanes uint64) {
	for h := range w.files {
		f := &w.files[h]
		m := uint32(lanes >> (32 * h))
		d := code.Row{Slot: code.P, Row: instr.D}
		if op.Kind == code.BarPopc {
			d.Slot = code.R
		}
		if f.Tracked() {
			markGeneric(f, d, m)
		}
		switch {
		case op.Kind == code.BarPopc:
			mem.FillRow(f.Row32(d.Row), uint32(bar.popc), m)
		case op.Kind == code.BarAnd && bar.allTrue || op.Kind == code.BarOr && bar.anyTrue:
			f.SetP(d.Row, m, regfile.Full)
		default:
			f.SetP(d.Row, m, 0)
		}
	}
}

// release completes barriers that only waited for warps that have ended.
func (c *cta) release() {
	for i := range c.barriers {
		if bar := &c.barriers[i]; bar.arrived > 0 && bar.expected == 0 {
			c.complete(bar)
		}
	}
}

// deadlock says who waits where.
func (c *cta) deadlock() *probe.Trap {
	var first *warpSplit
	var trapWarp *warp
	groups := map[string][]int{}
	var order []string
	note := func(key string, warp int) {
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], warp)
	}
	for i := range c.warps {
		w := &c.warps[i]
		if w.state == ended {
			note("ended", i)
		}
		for j := range w.waitingSplits {
			split := &w.waitingSplits[j]
			b := split.wait
			if first == nil {
				first, trapWarp = split, w
			}
			place := fmt.Sprintf("at %s, %s:%s", b.name(), c.code.module.Name, b.src.Pos)
			if b.arrived {
				note(fmt.Sprintf("%s, where %d of %s threads have arrived", place, c.barriers[b.id].arrived*c.code.Width, c.expectedText(&c.barriers[b.id])), i)
			} else {
				note(fmt.Sprintf("with lanes %s %s", probe.LaneList(split.mask), place), i)
			}
		}
	}
	t := trapWarp.fail(first.wait.src, first.mask, probe.ErrDeadlock, "%v: %s can never complete", probe.ErrDeadlock, first.wait.name())
	t.Active = first.mask
	for _, key := range order {
		verb := "waits"
		if key == "ended" {
			verb = "has"
		}
		warps := groups[key]
		name := "warp"
		if len(warps) > 1 {
			name, verb = "warps", strings.TrimSuffix(strings.Replace(verb, "has", "have", 1), "s")
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s %s %s %s", name, intRanges(warps), verb, key))
	}
	return t
}

// name is what messages call the barrier.
func (b *wait) name() string {
	if b.id == clusterBarrier {
		return "the barrier of the cluster"
	}
	return fmt.Sprintf("barrier %d", b.id)
}

func (c *cta) expectedText(bar *barrier) string {
	if bar.expected == 0 {
		return fmt.Sprintf("all %d", c.grid.threads)
	}
	return fmt.Sprint(bar.expected * c.code.Width)
}
