package simt

// This file is calls and returns: frames of registers and local memory.

import (
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// frameWords is what a call takes of a thread's stack besides local memory and registers.
const frameWords = 4

// call executes a call for the lanes of the guard.
func (w *warp) call(b *code.Block) {
	end := w.cta.code.End(b)
	m := w.guarded(end.Guard)
	if m == 0 {
		w.jump(b.Next)
		return
	}
	index := w.cta.code.Calls[end.Side].Target
	if index < 0 { // through a pointer, which is the same function in all lanes, or none in some
		for rest := m; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros64(rest)
			addr, fn := w.callee(end, lane)
			if fn < 0 {
				w.fail(w.sourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: call of %#x, which is no function", probe.ErrBadTarget, addr)
				return
			}
			if site := w.cta.code.callSite(b); !site.Callable[fn] {
				w.fail(w.sourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: %s", probe.ErrBadTarget, site.Refusal(w.cta.code.Funcs[fn].Func))
				return
			}
			index = fn
		}
	}
	target := w.cta.code.Funcs[index]
	if target.Err != nil {
		w.err = target.Err
		return
	}
	w.enter(b, target, m)
}

// callee is the function that a lane calls; of one called through a pointer the address,
// too, and -1 if none is there.
func (w *warp) callee(end *code.Instr, lane int) (addr uint64, fn int32) {
	if fn = w.cta.code.Calls[end.Side].Target; fn >= 0 {
		return 0, fn
	}
	addr = w.value(code.Row{Slot: end.Op.Signature().Src[0], Row: end.A}, lane)
	return addr, w.cta.code.functionAt(addr)
}

// callTarget is how a lane makes a call: the function, and the place in local memory where its
// frame may begin.
type callTarget struct {
	fn   int32
	from int
}

// callTargetOf is how a lane makes a call; fn is -1 if the lane must not make it.
func (w *warp) callTargetOf(end *code.Instr, lane int) callTarget {
	_, fn := w.callee(end, lane)
	site := &w.cta.code.Calls[end.Side]
	if fn >= 0 && site.Target < 0 && !site.Callable[fn] {
		fn = -1
	}
	if fn < 0 || !w.frame.fn.Allocates {
		return callTarget{fn: fn}
	}
	return callTarget{fn, w.frameAbove(lane, w.cta.code.Funcs[fn])}
}

// callGroups is the lanes that make a call in different ways, by the way; none if all do in the
// same, or if a lane must not make it, so that no lane goes anywhere.
func (w *warp) callGroups(b *code.Block) (groups []laneGroup) {
	end := w.cta.code.End(b)
	m := w.guarded(end.Guard)
	var targets []callTarget
	var firstTarget callTarget
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(rest)
		target := w.callTargetOf(end, lane)
		switch {
		case target.fn < 0:
			return nil
		case rest == m:
			firstTarget = target
		case targets == nil && target != firstTarget:
			targets, groups = []callTarget{firstTarget}, []laneGroup{{w.pc, m &^ rest}}
		}
		if targets == nil {
			continue
		}
		i := slices.Index(targets, target)
		if i < 0 {
			i = len(targets)
			targets, groups = append(targets, target), append(groups, laneGroup{pc: w.pc})
		}
		groups[i].mask |= 1 << lane
	}
	return groups
}

// callSeparately lets each group of lanes make a call by itself; they meet behind it. Lanes that
// the call's guard holds back come to it with the first group.
func (w *warp) callSeparately(b *code.Block) {
	groups := w.callGroups(b)
	groups[0].mask |= w.mask &^ w.guarded(w.cta.code.End(b).Guard)
	w.countSplits(w.mask, groups...)
	w.rc.split(w, groups, b.Next)
}

// functionAt is the index of the function with a code address, -1 if none has.
func (c *Kernel) functionAt(addr uint64) int32 {
	for i, f := range c.Funcs {
		if f.Addr == addr && !f.Entry {
			return int32(i)
		}
	}
	return -1
}

// registerCopy holds a register while windows change.
type registerCopy struct {
	r regfile.Row32
	q regfile.Row64
	p uint32
}

func (s *registerCopy) read(f *regfile.File, p code.ParamPlace, m uint32) {
	if f.Tracked() {
		expand(f, code.Row{Slot: p.Slot, Row: p.Row}, m)
	}
	switch p.Slot {
	case code.R:
		s.r = *f.Src32(p.Row)
	case code.Q:
		s.q = *f.Src64(p.Row)
	case code.P:
		s.p = f.SrcP(p.Row)
	}
}

// savePlaces saves those of the places that are registers, for the lanes of m, by half;
// nil if none is.
func (w *warp) savePlaces(places []code.ParamPlace, m uint64) (rows [2][]registerCopy) {
	for h := range w.files {
		for i, p := range places {
			if p.Slot == code.NoSlot {
				continue
			}
			if rows[h] == nil {
				rows[h] = make([]registerCopy, len(places))
			}
			rows[h][i].read(&w.files[h], p, uint32(m>>(32*h)))
		}
	}
	return rows
}

// enter begins the execution of a function by the lanes of m. Lanes that are elsewhere
// may have a window and a local frame in the same place: only columns of m change.
func (w *warp) enter(b *code.Block, target *code.Func, m uint64) {
	fr := w.newFrame(b, target, w.frameAbove(bits.TrailingZeros64(m), target)) // it begins there for all of m
	// A frame takes of the thread's stack its local memory, and its registers, which a real machine would
	// save there. The rows of the frame do not count: their number depends on the mode.
	limit := w.cta.grid.stackWords
	if fr.local+target.Local+fr.depth*(frameWords+target.Saved) > limit {
		w.fail(w.sourceOf(w.cta.code.End(b)), m, probe.ErrStackOverflow, "%v: call of %s at depth %d needs more than %d bytes per thread", probe.ErrStackOverflow, target.Name, fr.depth, 4*limit)
		return
	}
	w.growLocal(fr.local + target.Local)
	args, other := w.savePlaces(w.cta.code.callSite(b).Args, m), w.lanesAbove(fr.base, (*frame).top)
	var copied [2][]registerCopy // of the reference
	var otherLanes uint64
	if w.check != nil {
		w.switchToReference()
		otherLanes = w.lanesAbove(fr.counterpart.base, func(fr *frame) regfile.Size { return fr.counterpart.top() })
		copied = w.savePlaces(w.cta.code.callSite(b).Args, m)
		w.switchToReference()
	}
	src := w.sourceOf(w.cta.code.End(b))
	if m != w.mask {
		w.countSplits(w.mask, laneGroup{target.Begin, m}, laneGroup{b.Next, w.mask &^ m})
	}
	caller, site := w.frame, w.cta.code.callSite(b)
	w.rc.enter(w, fr, m)
	for h := range w.files {
		w.cleanLocal(h, fr, uint32(m>>(32*h)))
		w.cleanWindow(h, target, uint32(m>>(32*h)), uint32(other>>(32*h)))
	}
	w.transfer(m, site.Args, caller.local, args, target.Formals, fr.local)
	if w.check != nil {
		w.switchToReference()
		for h := range w.files {
			w.cleanWindow(h, w.frame.fn, uint32(m>>(32*h)), uint32(otherLanes>>(32*h)))
		}
		w.transfer(m, w.cta.code.callSite(b).Args, caller.local, copied, w.frame.fn.Formals, fr.local)
		w.switchToReference()
	}
	if s := w.cta.stream; w.cta.isSubscribed(probe.OnCall) {
		s.fillEvent(&s.event, w, src, m)
		s.event.Callee = target.Func
		s.emit(&s.event, probe.OnCall)
	}
}

// frameAbove is where the frame of a function begins that the lane calls now, in words.
func (w *warp) frameAbove(lane int, fn *code.Func) int {
	top := w.frame.local + w.frame.fn.Local
	if w.frame.fn.Allocates {
		top += int(w.files[lane/32].Row32(w.frame.fn.AddressTaken)[lane%32]+3) / 4
	}
	return (top + fn.Align - 1) / fn.Align * fn.Align
}

// cleanLocal clears the local frame of a function for the lanes of m of a half.
func (w *warp) cleanLocal(h int, fr *frame, m uint32) {
	w.cleanShadow(h, fr, m)
	local := w.local[h][fr.local : fr.local+fr.fn.Local]
	if m == uint32(w.live>>(32*h)) {
		clear(local)
	} else {
		for i := range local { // where others may have taken memory for themselves
			mem.FillRow(&local[i], 0, m)
		}
	}
}

// cleanShadow clears the shadow bytes of the local frame.
func (w *warp) cleanShadow(h int, fr *frame, m uint32) {
	n := 4 * w.cta.grid.dev.Memory.ShadowBytes // of a word
	if w.shadow == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		s := w.shadow[32*h+bits.TrailingZeros32(m)]
		clear(s[min(n*fr.local, len(s)):min(n*(fr.local+fr.fn.Local), len(s))])
	}
}

// cleanWindow readies the window of a function for the lanes of m of a half: rows that
// may be read before they are written are cleared, and nothing is compact. Lanes of
// other have registers in the same rows.
func (w *warp) cleanWindow(h int, fn *code.Func, m, other uint32) {
	f := &w.files[h]
	if other == 0 {
		zeroFrame(fn, f)
		if f.Tracked() {
			f.ClearShadows()
		}
		return
	}
	for _, r := range fn.Zero {
		switch r.Slot {
		case code.R:
			mem.FillRow(f.Row32(r.Row), 0, m)
		case code.Q:
			mem.FillRow(f.Row64(r.Row), 0, m)
		case code.P:
			f.SetP(r.Row, m, 0)
		}
	}
	if !f.Tracked() {
		return
	}
	n := f.WindowSize()
	for i := range n.R {
		markGeneric(f, code.Row{Slot: code.R, Row: int32(i)}, m)
	}
	for i := range n.Q {
		markGeneric(f, code.Row{Slot: code.Q, Row: int32(i)}, m)
	}
}

// lanesAbove is the lanes of other warp splits that have registers in rows from base on; top says
// where those of a frame end.
func (w *warp) lanesAbove(base regfile.Size, top func(fr *frame) regfile.Size) (m uint64) {
	reaches := func(fr *frame) bool {
		end := top(fr)
		return end.R > base.R || end.Q > base.Q || end.P > base.P
	}
	for i := range w.waitingSplits {
		c := &w.waitingSplits[i]
		if reaches(c.frame) {
			m |= c.mask
		}
		for j := c.reconvergence; j != nil; j = j.outer {
			if reaches(j.frame) {
				m |= j.arrived
			}
		}
	}
	return m
}

// zeroFrame clears the rows of a function that may be read before they are written.
func zeroFrame(fn *code.Func, f *regfile.File) {
	for _, r := range fn.Zero {
		switch r.Slot {
		case code.R:
			*f.Row32(r.Row) = regfile.Row32{}
		case code.Q:
			*f.Row64(r.Row) = regfile.Row64{}
		case code.P:
			f.SetP(r.Row, regfile.Full, 0)
		}
	}
}

// callSite is the call that ends a block.
func (c *Kernel) callSite(b *code.Block) *code.CallSite { return &c.Calls[c.End(b).Side] }

// leaveFrame returns the running warp split to its caller: results go from the callee's
// places to the caller's.
func (w *warp) leaveFrame() {
	callee, c := w.frame, w.warpSplit
	site := w.cta.code.callSite(callee.call)
	if callee.fn.Multiply {
		w.forgetProducts()
	}
	c.frame, c.pc, c.deferred = callee.caller, callee.call.Next, false
	rets := w.savePlaces(callee.fn.Results, c.mask)
	var copied [2][]registerCopy // of the reference
	if w.check != nil {
		w.switchToReference()
		copied = w.savePlaces(callee.counterpart.fn.Results, c.mask)
		w.switchToReference()
	}
	w.resume(c)
	w.transfer(c.mask, callee.fn.Results, callee.local, rets, site.Rets, c.frame.local)
	if w.check != nil {
		w.switchToReference()
		w.transfer(c.mask, callee.counterpart.fn.Results, callee.local, copied, w.cta.code.callSite(callee.call).Rets, c.frame.local)
		w.switchToReference()
	}
	if w.cta.isSubscribed(probe.OnReturn) {
		src := w.sourceOf(w.cta.code.End(callee.call))
		w.emitSplit(probe.OnReturn, &w.warpSplit, src, src.Writes)
	}
	w.jump(c.pc)
}

func growTo(rows []registerCopy, i int) *registerCopy {
	if rows == nil {
		return nil
	}
	return &rows[i]
}

// transfer copies parameters or results for the lanes of m: from places in the frame
// at srcBase, or from saved registers, to places in the frame at dstBase, or registers
// of the present window.
func (w *warp) transfer(m uint64, src []code.ParamPlace, srcBase int, regs [2][]registerCopy, dst []code.ParamPlace, dstBase int) {
	for h := range w.files {
		for i := range min(len(src), len(dst)) {
			if w.inReference() && dst[i].Slot == code.NoSlot {
				continue // there is one local memory
			}
			w.transferOne(h, uint32(m>>(32*h)), src[i], srcBase, growTo(regs[h], i), dst[i], dstBase)
		}
	}
}

func (w *warp) transferOne(h int, m uint32, src code.ParamPlace, srcBase int, reg *registerCopy, dst code.ParamPlace, dstBase int) {
	f := &w.files[h]
	local := w.local[h]
	if f.Tracked() {
		markGeneric(f, code.Row{Slot: dst.Slot, Row: dst.Row}, m)
	}
	if src.Slot == code.P || dst.Slot == code.P {
		if src.Slot == code.P && dst.Slot == code.P {
			f.SetP(dst.Row, m, reg.p)
		}
		return
	}
	word := func(i, lane int) uint32 {
		switch src.Slot {
		case code.R:
			return reg.r[lane]
		case code.Q:
			return uint32(reg.q[lane] >> (32 * i))
		}
		return local[srcBase+src.Offset/4+i][lane]
	}
	words := (min(src.Size, dst.Size) + 3) / 4
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		switch dst.Slot {
		case code.R:
			v := word(0, lane)
			if dst.Size < 4 {
				v &= 1<<(8*dst.Size) - 1
			}
			f.Row32(dst.Row)[lane] = v
		case code.Q:
			v := uint64(word(0, lane))
			if words > 1 {
				v |= uint64(word(1, lane)) << 32
			}
			f.Row64(dst.Row)[lane] = v
		default:
			for i := range words {
				local[dstBase+dst.Offset/4+i][lane] = word(i, lane)
			}
		}
	}
}

// growLocal makes room for the given number of words of local memory.
func (w *warp) growLocal(words int) {
	for h := range w.files {
		if len(w.local[h]) < words {
			grown := make([]regfile.Row32, max(words, 2*len(w.local[h])))
			copy(grown, w.local[h])
			w.local[h] = grown
		}
	}
}

// localTop is the number of words of local memory that the running warp split has in use.
func (w *warp) localTop() int {
	fn, files := w.frame.fn, w.files
	if w.inReference() { // the reference does not allocate
		fn, files = w.frame.counterpart.fn, w.check.engineFiles
	}
	top := w.frame.local + fn.Local
	if fn.Allocates {
		maxCount := uint32(0)
		for m := w.mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			maxCount = max(maxCount, files[lane/32].Row32(fn.AddressTaken)[lane%32])
		}
		top += int(maxCount+3) / 4
	}
	return top
}
