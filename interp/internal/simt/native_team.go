package simt

// This file has the warps of a CTA take turns in machine code: where one waits at a barrier, or ends, the next goes on, in
// the order and for the share that cta.run would give it. Go is told when it has something to do.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// inTeam reports whether its warps may take turns without Go: nobody watches, and all is in the usual order.
func (c *cta) inTeam() bool {
	return c.grid.seed == 0 && !c.grid.clustered() && !c.grid.pauses && c.stream == nil && c.warps[0].ways != nil && !c.grid.takesTurns()
}

// depart has a warp that is readied begin its run, which ends when so many instructions are executed, and others go on where
// it cannot.
func (w *warp) depart(budget int) {
	c := w.cta
	t := &c.native.team
	t.End, t.Began, t.Left = w.count.WarpInstructions+int64(budget), c.began, int64(c.left)
	t.Quantum, t.Most = quantum, c.grid.maxSteps-quantum
	t.Now, t.Live, t.Apart, t.Turned, t.Steps, t.Dirty, t.More = uint32(w.id), 0, 0, 0, 0, 0, 0
	w.tellNative()
	w.lend()
	w.lent.filled = true // when it goes
	t.Of(nil)
	if !c.inTeam() {
		return
	}
	for i := range c.warps {
		if o := &c.warps[i]; o != w && !c.gathers(o, w) {
			return
		}
	}
	for i := range c.barriers {
		if c.met && c.barriers[i].arrived > 0 { // perhaps of a warp that has gone on
			t.Apart = 1
		}
	}
	t.Live++
	t.Of(c.native.contexts)
	c.leads()
}

// leads has machine code go on with the CTAs that follow where all warps of this one have ended, if there is nothing else to
// be done between them.
func (c *cta) leads() {
	t := &c.native.team
	usual, last := uint32(c.warps[0].all()), uint32(c.warps[len(c.warps)-1].all())
	if len(c.ahead) == c.passed || c.grid.cancelled.Load() || !c.quiet() || t.Most < 0 || !t.Enters(usual) || !t.Enters(last) {
		return
	}
	for i := range c.native.lent {
		if l := &c.native.lent[i]; !l.filled {
			return
		}
	}
	t.More = uint32(len(c.ahead) - c.passed)
	t.At = [3]uint64{uint64(c.id.X), uint64(c.id.Y), uint64(c.id.Z)}
	t.Width = [2]uint64{uint64(c.grid.dim.X), uint64(c.grid.dim.Y)}
	t.Usual, t.Last = usual, last
	t.Entry, t.Slice = c.code.entry.Begin, sliceParallel
	var hits []*mem.Allocation
	if c.grid.mode == Check {
		hits = c.hits
	}
	c.code.native.Follows(t, &c.warps[0].files[0], c.sharedMem, c.grid.zeros, &c.native.uniform, hits)
}

// quiet reports whether Go has nothing to do where all warps have ended: to finish asynchronous effects, or to print.
func (c *cta) quiet() bool { return !c.async.used() && c.out.Len() == 0 }

// mayFollow reports whether a launch's CTAs may follow each other in machine code: what differs between them when they
// begin is nothing but ctaid, and neither registers nor local memory are elsewhere.
func (g *Grid) mayFollow() bool {
	k := g.code
	moves := k.localWords() > kernelFrame || k.entry.Allocates || len(k.Funcs) > 1
	if g.clustered() || g.seed != 0 || len(g.probes) > 0 || g.pauses || g.backend == Portable || g.dev.Memory.ShadowBytes > 0 || moves || g.dev.Tolerate != 0 {
		return false
	}
	return !slices.ContainsFunc(k.native.Uniform, func(r ptx.SpecialReg) bool { return !r.Fixed() && (r < ptx.CtaidX || r > ptx.CtaidZ) })
}

// zeros is the rows that a warp begins with zeros in, those of the reference behind the kernel's.
func (k *Kernel) zeros() []code.Row {
	list := slices.Clone(k.entry.Zero)
	if k.ref != nil {
		for _, r := range k.ref.entry.Zero {
			list = append(list, r.Behind(k.entry.Frame))
		}
	}
	return list
}

// followed has Go know that machine code has gone on with other CTAs, whose this context is now.
func (c *cta) followed() {
	n := &c.native
	f, b := &n.team.Follow, &c.counted
	for i := range c.warps {
		own := c.warps[i].count
		own.WarpInstructions = 0 // they are all in Context.Count
		b.Add(&own)
		c.warps[i].tookEngine(&b.Engine)
	}
	e := &f.Ended
	b.addExecuted(&Counts{
		WarpInstructions: e.Count, ThreadInstructions: e.Slots - e.Held, LaneSlots: e.Slots, Branches: e.Branches,
		DivergentBranches: e.Divergent, Splits: e.Divergent - e.Leaves, Reconvergences: e.Met,
	})
	c.passed += int(f.Followed)
	c.grid.finished.Add(int64(f.Followed))
	c.at(c.index + int(f.Followed))
	if int64(c.index) > c.grid.lowFail.Load() { // what comes behind does not count
		c.ahead, f.More = c.ahead[:c.passed], 0
	}
	n.of = 1 + c.index
	f.Followed, f.Ended = 0, native.Counted{}
	c.begin()
	for i := range n.lent {
		c.warps[i].released()
	}
}

// released has machine code have a warp from its beginning on, and Go the joins that it had lent before.
func (w *warp) released() {
	l := w.lent
	for _, j := range l.loan.joins {
		if j != nil {
			w.ways.free = append(w.ways.free, j)
		}
	}
	l.loan = loan{joins: l.loan.joins[:0]}
	l.out = true
}

// gathers has machine code know whether another warp than the one that departs is to run. It reports whether warps may take turns
// at all.
func (c *cta) gathers(o, w *warp) bool {
	t, l := &c.native.team, o.lent
	if o.state != ended {
		t.Live++
	}
	if l.out {
		return true
	}
	l.Count = o.count.WarpInstructions // also of one that has ended in Go
	switch l.State = native.Out; {
	case o.state == atGroup:
		return false // what others execute may wake it
	case o.state == atBarrier: // perhaps that of the cluster, which the end of any warp may complete
		t.Apart = 1
	case o.state != ready:
	case !o.fits() || o.check != nil && !o.adjoins():
		l.State = native.Stops
	default:
		o.settled = o.count.WarpInstructions
		o.readies()
		o.tellNative()
		o.lend()
		if l.Like(&w.lent.Context); o.check != nil {
			o.checkRoom()
		}
		c.code.native.Fill(&l.Context, &o.files[0])
		l.filled = true
	}
	return true
}

// relend has machine code go on with a warp of which Go has executed something.
func (w *warp) relend() {
	if w.frame.fn.Allocates {
		w.tellLocal()
	}
	if !w.cta.quiet() {
		w.cta.native.team.More = 0
	}
	if w.yield {
		w.cta.native.team.End = 0 // at the end of the block
	}
	w.lend()
}

// goes is the context of a warp that goes on in machine code.
func (w *warp) goes() *native.Context {
	w.cta.native.entered++
	if t := &w.cta.native.team; w.cta.turn {
		t.May = 1
	} else {
		t.May = 0
	}
	if w.check != nil {
		return w.lent.UntilChecked(w.cta.native.team.End)
	}
	return w.lent.Until(w.cta.native.team.End)
}

// goesOn reports whether machine code has come back for nothing.
func (w *warp) goesOn() bool {
	ctx := &w.lent.Context
	return !w.cta.grid.cancelled.Load() && ctx.Reason == native.Used && ctx.Count < w.cta.native.team.End && !w.yield
}

// landed is the warp that machine code has come back with. Go learns of what others have done meanwhile.
func (w *warp) landed() *warp {
	c := w.cta
	n := &c.native
	t := &n.team
	if t.Dirty == 0 {
		w.took()
		return w
	}
	t.Dirty = 0
	if t.Followed > 0 {
		c.followed()
	}
	for i := range n.lent {
		l, o := &n.lent[i], &c.warps[i]
		if l.Touched == 0 {
			continue
		}
		l.Touched = 0
		o.took()
		switch l.State {
		case native.Ready:
			o.state = ready
		case native.Waits:
			o.state = atBarrier
		case native.Stands:
			o.reclaim()
			o.state = atVisible
		case native.Ended:
			l.Mask, l.Live, l.Meetings = 0, 0, 0
			o.reclaim()
			if o.state = ended; uint32(i) != t.Now {
				c.cluster.leave(o)
			}
		}
	}
	w = &c.warps[t.Now]
	if w.took(); t.Turned == 0 {
		return w
	}
	c.seen = (c.seen + int(t.Steps)) % len(c.warps)
	t.Turned, t.Steps, n.turned = 0, 0, w
	c.next, c.left, c.began = w.id, int(t.Left), t.Began
	w.yield, w.share, w.unpaid = false, int(t.Share), t.End-t.Began-t.Share
	return w
}

// returned is the warp that machine code comes back with when there is something for Go to do. Until then it goes on: at the
// beginning of a block, or where it rests.
func (w *warp) returned(block, rest func(*native.Context, *regfile.File, int32)) *warp {
	for {
		w = w.landed()
		f, ctx := &w.files[0], &w.lent.Context
		switch {
		case w.goesOn():
			block(w.goes(), f, w.cta.code.Block(ctx.PC).Index)
		case ctx.Reason == native.Rests:
			rest(w.goes(), f, ctx.PC)
		default:
			return w
		}
	}
}

// recalls has Go know who waits, as if it had had them wait.
func (c *cta) recalls() {
	n := &c.native
	if !n.out {
		return
	}
	n.out = false
	for i := range n.lent {
		l, o := &n.lent[i], &c.warps[i]
		if !l.out {
			continue
		}
		waits := l.State == native.Waits
		if o.reclaim(); waits {
			o.barrier(c.code.Block(l.At))
		}
	}
	n.team.Disband()
}
