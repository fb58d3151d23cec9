package interp

// This file is the barriers of a CTA (manual 9.7.13.1). A warp arrives at one as
// a whole: when all its lanes that have not exited are there. With .aligned, and
// for bar, they come together, in one instruction. Without, they may come
// through different instructions at different times: those that are there are
// parked, wherever they are in the reconvergence stack, and the others run on, past
// where they would meet if it must be. So it is with bar.warp.sync, which waits for
// lanes of the warp (9.7.13.2).

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// barrier is one of the sixteen barriers of a CTA.
type barrier struct {
	arrived int     // warps
	want    int     // warps; 0: all that have not ended
	waiting []*warp // of them those that wait
	popc    int     // of bar.red
	all     bool
	any     bool
}

// barrierWait is lanes at a barrier.
type barrierWait struct {
	id      int
	member  uint32 // of bar.warp.sync, which has no id: the lanes it waits for
	op      *barrierOp
	mask    uint64
	src     *instr
	want    int  // as barrier.want
	depth   int  // frames of calls below
	arrived bool // the warp has arrived, and waits for others
}

// barrier executes bar or barrier.
func (w *warp) barrier(b *block) {
	m := w.guarded(b.guard)
	if m == 0 {
		w.jump(b.next)
		return
	}
	op, in := b.bar, b.src
	if op.kind == barWarp {
		w.warpBarrier(b, m)
		return
	}
	if m != w.live && op.aligned {
		away := w.live &^ m
		t := w.fail(in, m, ErrDeadlock, "%v: lanes %s of warp %d are at a barrier that lanes %s of the same warp have not reached", ErrDeadlock, lanesList(m), w.id, lanesList(away))
		t.Notes = append(t.Notes, w.whereabouts(away)...)
		return
	}
	first := bits.TrailingZeros64(m)
	uniform := func(o operandRef, what string) (uint64, bool) {
		v := w.value(o, first)
		if o.row < 0 { // a constant
			return v, true
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			if w.value(o, bits.TrailingZeros64(rest)) != v {
				w.fail(in, m, ErrBarrier, "%v: the %s differs between the lanes of warp %d", ErrBarrier, what, w.id)
				return 0, false
			}
		}
		return v, true
	}
	id, ok := uniform(op.id, "barrier number")
	if !ok {
		return
	}
	if id > 15 {
		w.fail(in, m, ErrBarrier, "%v: barrier %d, want 0 to 15", ErrBarrier, id)
		return
	}
	want := 0
	if op.count.slot != alu.NoSlot {
		n, ok := uniform(op.count, "thread count")
		if !ok {
			return
		}
		width := uint64(w.cta.code.width)
		if n == 0 || n%width != 0 {
			w.fail(in, m, ErrBarrier, "%v: a thread count of %d is no positive multiple of the warp size %d", ErrBarrier, n, width)
			return
		}
		want = int(n / width)
	}
	w.waits = append(w.waits, barrierWait{id: int(id), op: op, mask: m, src: in, want: want, depth: len(w.frames)})
	w.park(b, m)
}

// warpBarrier executes bar.warp.sync for the lanes of m.
func (w *warp) warpBarrier(b *block, m uint64) {
	mask := func(lane int) uint32 { return uint32(w.value(b.bar.id, lane)) }
	complete := b.bar.id.row < 0 && mask(0)&uint32(w.live) == uint32(m) // one mask, and all are here
	if !complete {
		absent := uint32(0)
		for rest := m; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros64(rest)
			if !w.member(b.src, lane, mask(lane)) {
				return
			}
			absent |= mask(lane) & uint32(w.live&^m)
		}
		complete = absent == 0
	}
	if complete {
		w.jump(b.next)
		return
	}
	var list []barrierWait // by membermask
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(rest)
		i := slices.IndexFunc(list, func(o barrierWait) bool { return o.member == mask(lane) })
		if i < 0 {
			i = len(list)
			list = append(list, barrierWait{member: mask(lane), op: b.bar, src: b.src, depth: len(w.frames)})
		}
		list[i].mask |= 1 << lane
	}
	w.waits = append(w.waits, list...)
	w.park(b, m)
}

// park leaves the lanes of m, which wait, behind their barrier.
func (w *warp) park(b *block, m uint64) {
	if off := w.mask &^ m; off != 0 && b.next != w.rpc {
		if exit := b.fn.exit; w.rpc == noBlock && !b.fn.fn.Entry && b.next != exit {
			// They go on apart, but a function is left by all its lanes at once.
			w.below = append(w.below, entry{exit, noBlock, w.mask})
			w.rpc = exit
		}
		w.below = append(w.below, entry{b.next, w.rpc, m})
		w.entry = entry{b.next, w.rpc, off}
	} else {
		w.jump(b.next)
	}
	w.unpark()
}

// parked is the lanes that stand at barriers.
func (w *warp) parked() uint64 {
	m := uint64(0)
	for i := range w.waits {
		m |= w.waits[i].mask
	}
	return m
}

// unpark brings an entry to the top whose lanes are not at a barrier. If all
// lanes are at the same, the warp has arrived there; then, and if no entry can
// run, it waits.
func (w *warp) unpark() {
	for len(w.waits) > 0 && w.state == ready && w.err == nil {
		w.syncWarp()
		parked := w.parked()
		if w.mask&parked == 0 || w.surface(parked) || w.part(parked) {
			return
		}
		if left := w.live &^ parked; left != 0 {
			in := w.waits[len(w.waits)-1].src
			w.err = &ptx.Unsupported{File: w.cta.code.mod.Name, Pos: in.Pos, Line: w.cta.code.mod.Line(int(in.Pos.Line)), Kernel: w.cta.code.kernel.Name,
				What: fmt.Sprintf("%s for lanes %s of a warp whose lanes %s wait for them elsewhere", in.Text, lanesList(parked), lanesList(left))}
			return
		}
		for i := range w.waits {
			if b := &w.waits[i]; b.op.kind == barWarp {
				w.missing(b.src, uint32(b.mask), b.member&uint32(w.live)&^w.syncing(b.member), b.member)
				return
			}
		}
		w.state = atBarrier
		id := w.waits[0].id
		if !slices.ContainsFunc(w.waits, func(b barrierWait) bool { return b.id != id }) {
			w.arrive(&w.cta.barriers[id])
		}
	}
}

// syncWarp lets lanes go on that wait for each other, if all of them are there.
func (w *warp) syncWarp() {
	for i := 0; i < len(w.waits); i++ {
		b := w.waits[i]
		if b.op.kind != barWarp || b.member&uint32(w.live)&^w.syncing(b.member) != 0 {
			continue
		}
		w.waits = slices.DeleteFunc(w.waits, func(o barrierWait) bool { return o.op.kind == barWarp && o.member == b.member })
		i = -1 // from the beginning
	}
}

// syncing is the lanes at a bar.warp.sync with a membermask.
func (w *warp) syncing(member uint32) uint32 {
	m := uint32(0)
	for i := range w.waits {
		if b := &w.waits[i]; b.op.kind == barWarp && b.member == member {
			m |= uint32(b.mask)
		}
	}
	return m
}

// surface moves an entry to the top of the stack, from above the running
// function's base, none of whose lanes is parked or in an entry above.
func (w *warp) surface(parked uint64) bool {
	busy := parked | w.mask
	for i := len(w.below) - 1; i >= w.base(); i-- {
		e := w.below[i]
		if e.mask != 0 && e.mask&busy == 0 {
			w.below = slices.Delete(w.below, i, i+1)
			w.push(e)
			return true
		}
		busy |= e.mask
	}
	return false
}

// part takes the lanes that could run out of an entry where they wait for parked
// ones, and makes them an entry of their own on top. The others come to its join
// later.
func (w *warp) part(parked uint64) bool {
	exit, called := w.fn.exit, !w.fn.fn.Entry // a function is left by all its lanes at once
	w.below = append(w.below, w.entry)
	busy := parked
	for i := len(w.below) - 1; i >= w.base(); i-- {
		e := &w.below[i]
		free := e.mask &^ busy
		if free == 0 || called && e.pc == exit {
			busy |= e.mask
			continue
		}
		if called && e.rpc == noBlock {
			w.below = slices.Insert(w.below, i, entry{exit, noBlock, e.mask})
			e = &w.below[i+1]
			e.rpc = exit
		}
		e.mask &^= free
		w.entry = entry{e.pc, e.rpc, free}
		return true
	}
	w.below = w.below[:len(w.below)-1]
	return false
}

// base is the height of the stack where the running function's entries begin.
func (w *warp) base() int {
	if n := len(w.frames); n > 0 {
		return w.frames[n-1].depth
	}
	return 0
}

// arrive enters the warp, all of whose lanes are at the barrier.
func (w *warp) arrive(bar *barrier) {
	c := w.cta
	entered, waits := false, false
	for i := range w.waits {
		b := &w.waits[i]
		if b.arrived {
			waits = true
			continue
		}
		if bar.arrived == 0 {
			*bar = barrier{want: b.want, all: true, waiting: bar.waiting[:0]}
		} else if bar.want != b.want {
			w.fail(b.src, b.mask, ErrBarrier, "%v: barrier %d is awaited by %s threads, and now by %s", ErrBarrier, b.id, c.threadCount(bar.want), c.threadCount(b.want))
			return
		}
		if !entered {
			entered = true
			bar.arrived++
		}
		if b.op.kind == barArrive {
			continue
		}
		waits, b.arrived = true, true
		if b.op.kind < barPopc {
			continue
		}
		if b.depth != len(w.frames) {
			w.err = &ptx.Unsupported{File: c.code.mod.Name, Pos: b.src.Pos, Line: c.code.mod.Line(int(b.src.Pos.Line)), Kernel: c.code.kernel.Name,
				What: fmt.Sprintf("%s for lanes %s of a warp whose other lanes have called a function", b.src.Text, lanesList(b.mask))}
			return
		}
		p := uint64(0)
		for h := range w.files {
			p |= uint64(w.files[h].SrcP(b.op.pred)) << (32 * h)
		}
		if b.op.neg {
			p = ^p
		}
		p &= b.mask
		bar.popc += bits.OnesCount64(p)
		bar.all = bar.all && p == b.mask
		bar.any = bar.any || p != 0
	}
	w.waits = slices.DeleteFunc(w.waits, func(b barrierWait) bool { return b.op.kind == barArrive })
	if waits {
		bar.waiting = append(bar.waiting, w)
	} else {
		w.state = ready
	}
	c.complete(bar)
}

func (c *cta) threadCount(warps int) string {
	if warps == 0 {
		return "all"
	}
	return fmt.Sprint(warps * c.code.width)
}

// complete lets the warps at a barrier go on once enough have arrived.
func (c *cta) complete(bar *barrier) {
	want := bar.want
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
	bar.arrived, bar.waiting = 0, nil
	for _, w := range waiting {
		for i := range w.waits {
			w.waits[i].conclude(w, bar)
		}
		w.waits = slices.DeleteFunc(w.waits, func(b barrierWait) bool { return b.arrived })
		w.state = ready
		w.settle()
	}
}

// conclude writes the result of bar.red.
func (b *barrierWait) conclude(w *warp, bar *barrier) {
	if !b.arrived || b.op.kind < barPopc || b.op.dst == noRow {
		return
	}
	for h := range w.files {
		f := &w.files[h]
		m := uint32(b.mask >> (32 * h))
		d := operandRef{alu.P, b.op.dst}
		if b.op.kind == barPopc {
			d.slot = alu.R
		}
		if f.S != nil {
			w.forget(f, d, m)
		}
		switch {
		case b.op.kind == barPopc:
			mem.FillRow(&f.R[d.row], uint32(bar.popc), m)
		case b.op.kind == barAnd && bar.all || b.op.kind == barOr && bar.any:
			f.SetP(d.row, m, regfile.Full)
		default:
			f.SetP(d.row, m, 0)
		}
	}
}

// release completes barriers that only waited for warps that have ended.
func (c *cta) release() {
	for i := range c.barriers {
		if bar := &c.barriers[i]; bar.arrived > 0 && bar.want == 0 {
			c.complete(bar)
		}
	}
}

// deadlock says who waits where.
func (c *cta) deadlock() *Trap {
	var first *barrierWait
	var who *warp
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
		for j := range w.waits {
			b := &w.waits[j]
			if first == nil {
				first, who = b, w
			}
			at := fmt.Sprintf("at barrier %d, %s:%s", b.id, c.code.mod.Name, b.src.Pos)
			if b.arrived {
				note(fmt.Sprintf("%s, where %d of %s threads have arrived", at, c.barriers[b.id].arrived*c.code.width, c.wanted(&c.barriers[b.id])), i)
			} else {
				note(fmt.Sprintf("with lanes %s %s", lanesList(b.mask), at), i)
			}
		}
	}
	t := who.fail(first.src, first.mask, ErrDeadlock, "%v: barrier %d can never complete", ErrDeadlock, first.id)
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

func (c *cta) wanted(bar *barrier) string {
	if bar.want == 0 {
		return fmt.Sprintf("all %d", c.grid.threads)
	}
	return fmt.Sprint(bar.want * c.code.width)
}
