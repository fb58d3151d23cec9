package oracle

// This file executes barriers of a CTA (manual 9.7.13.1). A barrier counts warps: a warp arrives when all its threads
// that have not exited are at the barrier, and counts as warp-size threads.

// barrier is the state of a barrier of a CTA (of sixteen) between two completions.
type barrier struct {
	expected int // expected arrivals in threads; 0 before the first arrival
	wholeCTA bool
	count    int            // threads that have arrived
	warps    map[*Warp]bool // warps that have arrived
	waiting  []*thread

	popc     int // number of true predicates of .red among the arrived threads
	anyFalse bool
}

// arrival is the request of a thread at a barrier.
type arrival struct {
	id          uint64
	count       int  // operand b; 0 if absent
	warpArrived bool // its warp has arrived and waits for other warps
	isWait      bool // for barrier.cluster: it is .wait
}

// bar (9.7.13.1, 9.7.13.2): bar.sync, .arrive and .red, and the same of barrier; bar.warp.sync is a collective.
func bar(t *thread) {
	switch {
	case t.hasModifier("cluster"):
		clusterBarrier(t)
		return
	case t.hasModifier("warp"):
		collective(t)
		return
	}
	a := arrival{id: t.operandValue("a")}
	if a.id > 15 {
		t.trap(KindBarrier, "barrier %d is not in 0..15", a.id)
	}
	if t.hasOperand("b") {
		a.count = int(t.operandValue("b"))
		if a.count == 0 || a.count%t.machine.warpSize != 0 {
			t.trap(KindBarrier, "%d threads are not a multiple of the warp size %d", a.count, t.machine.warpSize)
		}
	}
	t.arrival = a
	t.state = atBarrier
}

// arrive lets the warp arrive at a barrier if all its threads are there. If all have exited, it tries to complete every
// barrier. It reports whether the warp arrived.
func (w *Warp) arrive() bool {
	threads := w.liveThreads()
	if len(threads) == 0 {
		for i := range w.cta.barriers {
			w.cta.completeBarrier(&w.cta.barriers[i])
		}
		w.cta.cluster.completeBarrier()
		return false
	}
	var pending []*thread
	for _, t := range threads {
		if t.state != atBarrier || t.arrival.id != threads[0].arrival.id {
			return false
		}
		if !t.arrival.warpArrived {
			pending = append(pending, t)
		}
	}
	if len(pending) == 0 {
		return false
	}
	if threads[0].arrival.id == atCluster {
		return w.arriveAtCluster()
	}
	b := &w.cta.barriers[threads[0].arrival.id]
	if b.warps == nil {
		b.warps = map[*Warp]bool{}
	}
	b.warps[w] = true
	b.count += w.cta.machine.warpSize
	for _, t := range pending {
		b.addThread(t)
	}
	w.cta.completeBarrier(b)
	return true
}

// addThread adds a thread of an arriving warp.
func (b *barrier) addThread(t *thread) {
	expected := t.arrival.count
	if expected == 0 {
		expected = len(t.cta.warps) * t.machine.warpSize
		b.wholeCTA = true
	}
	if b.expected == 0 {
		b.expected = expected
	}
	if b.expected != expected {
		t.trap(KindBarrier, "barrier %d waits for %d threads, not %d", t.arrival.id, b.expected, expected)
	}
	if t.hasModifier("arrive") {
		t.endWait()
		return
	}
	if t.hasModifier("red") {
		if t.predOperand("c") {
			b.popc++
		} else {
			b.anyFalse = true
		}
	}
	t.arrival.warpArrived = true
	b.waiting = append(b.waiting, t)
}

// completeBarrier releases the threads of a barrier if all expected threads have arrived. A barrier for all threads of
// the CTA does not wait for warps that have exited.
func (c *cta) completeBarrier(b *barrier) {
	expected := b.expected
	if b.wholeCTA {
		for _, w := range c.warps {
			if !b.warps[w] && len(w.liveThreads()) == 0 {
				expected -= c.machine.warpSize
			}
		}
	}
	if b.count == 0 || b.count < expected {
		return
	}
	completed := *b
	*b = barrier{}
	for _, t := range completed.waiting {
		switch {
		case !t.hasModifier("red"):
		case t.hasModifier("popc"):
			t.setOperand("d", uint64(completed.popc))
		case t.hasModifier("and"):
			t.setPred("p", !completed.anyFalse)
		case t.hasModifier("or"):
			t.setPred("p", completed.popc > 0)
		}
		t.endWait()
	}
}
