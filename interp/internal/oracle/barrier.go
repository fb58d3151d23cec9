package oracle

// This file executes barriers of a CTA (manual 9.7.13.1). A barrier counts
// warps: a warp arrives when all its threads that have not exited are at the
// barrier, and counts as warp-size threads.

// barrier is one of the sixteen barriers of a CTA between two completions.
type barrier struct {
	expected int // threads it waits for; 0 before the first arrival
	everyone bool
	count    int            // threads that have arrived
	warps    map[*Warp]bool // that have arrived
	waiting  []*thread

	popc     int // .red over the arrived threads: how many predicates were true
	anyFalse bool
}

// arrival is what a thread at a barrier has come for.
type arrival struct {
	id      uint64
	count   int  // operand b; 0 without
	counted bool // its warp has arrived, it waits for the others
	waits   bool // … of barrier.cluster: it is .wait
}

// bar (9.7.13.1, 9.7.13.2): bar.sync, .arrive and .red, barrier likewise;
// bar.warp.sync is a collective.
func bar(t *thread) {
	switch {
	case t.has("cluster"):
		barCluster(t)
		return
	case t.has("warp"):
		collective(t)
		return
	}
	a := arrival{id: t.arg("a")}
	if a.id > 15 {
		t.trap(KindBarrier, "barrier %d is not in 0..15", a.id)
	}
	if t.given("b") {
		a.count = int(t.arg("b"))
		if a.count == 0 || a.count%t.m.warpSize != 0 {
			t.trap(KindBarrier, "%d threads are not a multiple of the warp size %d", a.count, t.m.warpSize)
		}
	}
	t.arrival = a
	t.state = atBarrier
}

// arrive lets the warp arrive at a barrier if all its threads are there, and
// looks after every barrier if all have exited. It reports whether something
// happened.
func (w *Warp) arrive() bool {
	live := w.live()
	if len(live) == 0 {
		for i := range w.cta.barriers {
			w.cta.complete(&w.cta.barriers[i])
		}
		w.cta.cluster.settle()
		return false
	}
	var pending []*thread
	for _, t := range live {
		if t.state != atBarrier || t.arrival.id != live[0].arrival.id {
			return false
		}
		if !t.arrival.counted {
			pending = append(pending, t)
		}
	}
	if len(pending) == 0 {
		return false
	}
	if live[0].arrival.id == atCluster {
		return w.arriveAtCluster()
	}
	b := &w.cta.barriers[live[0].arrival.id]
	if b.warps == nil {
		b.warps = map[*Warp]bool{}
	}
	b.warps[w] = true
	b.count += w.cta.m.warpSize
	for _, t := range pending {
		b.join(t)
	}
	w.cta.complete(b)
	return true
}

// join enters a thread of an arriving warp.
func (b *barrier) join(t *thread) {
	expected := t.arrival.count
	if expected == 0 {
		expected = len(t.cta.warps) * t.m.warpSize
		b.everyone = true
	}
	if b.expected == 0 {
		b.expected = expected
	}
	if b.expected != expected {
		t.trap(KindBarrier, "barrier %d waits for %d threads, not %d", t.arrival.id, b.expected, expected)
	}
	if t.has("arrive") {
		t.goOn()
		return
	}
	if t.has("red") {
		if t.pred("c") {
			b.popc++
		} else {
			b.anyFalse = true
		}
	}
	t.arrival.counted = true
	b.waiting = append(b.waiting, t)
}

// complete releases the threads of a barrier if everyone it waits for has
// arrived. A barrier for all threads of the CTA does not wait for warps that
// have exited.
func (c *cta) complete(b *barrier) {
	expected := b.expected
	if b.everyone {
		for _, w := range c.warps {
			if !b.warps[w] && len(w.live()) == 0 {
				expected -= c.m.warpSize
			}
		}
	}
	if b.count == 0 || b.count < expected {
		return
	}
	done := *b
	*b = barrier{}
	for _, t := range done.waiting {
		switch {
		case !t.has("red"):
		case t.has("popc"):
			t.put("d", uint64(done.popc))
		case t.has("and"):
			t.putPred("p", !done.anyFalse)
		case t.has("or"):
			t.putPred("p", done.popc > 0)
		}
		t.goOn()
	}
}
