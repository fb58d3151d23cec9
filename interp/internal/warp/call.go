package warp

// This file executes calls and returns: frames of registers and of local memory.

import (
	"math/bits"
	"slices"

	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// executeCall executes a call for the lanes for which its guard holds.
func executeCall(w *machine.Warp, b *code.Block) {
	end := w.CTA.Code.End(b)
	m := w.GuardedLanes(end.Guard)
	if m == 0 {
		jumpTo(w, b.Next)
		return
	}
	index := w.CTA.Code.Calls[end.Side].Target
	if index < 0 { // a call through a pointer: all lanes have the same target, or the loop finds a lane that must not make the call
		for remaining := m; remaining != 0; remaining &= remaining - 1 {
			lane := bits.TrailingZeros64(remaining)
			addr, fn := calleeOf(w, end, lane)
			if fn < 0 {
				w.Fail(w.SourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: call of %#x, which is not the address of a function", probe.ErrBadTarget, addr)
				return
			}
			if site := w.CTA.Code.CallSite(b); !site.Callable[fn] {
				w.Fail(w.SourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: %s", probe.ErrBadTarget, site.Refusal(w.CTA.Code.Funcs[fn].Func))
				return
			}
			index = fn
		}
	}
	target := w.CTA.Code.Funcs[index]
	if target.Err != nil {
		w.Err = target.Err
		return
	}
	enterFunction(w, b, target, m)
}

// calleeOf returns the index of the function that a lane calls. For a call through a pointer it also returns the pointer,
// and -1 if no function is at this address.
func calleeOf(w *machine.Warp, end *code.Instr, lane int) (addr uint64, fn int32) {
	if fn = w.CTA.Code.Calls[end.Side].Target; fn >= 0 {
		return 0, fn
	}
	addr = w.ControlValue(code.Row{Slot: end.Op.Signature().Src[0], Row: end.A}, lane)
	return addr, w.CTA.Code.FunctionAt(addr)
}

// callTarget is the target of a lane's call: the function, and the word of local memory where its frame may begin.
type callTarget struct {
	fn   int32 // index of the function
	from int   // 0 if the place is the same in all lanes
}

// callTargetOf returns the target of a lane's call; fn is -1 if the lane must not make the call.
func callTargetOf(w *machine.Warp, end *code.Instr, lane int) callTarget {
	_, fn := calleeOf(w, end, lane)
	site := &w.CTA.Code.Calls[end.Side]
	if fn >= 0 && site.Target < 0 && !site.Callable[fn] {
		fn = -1
	}
	if fn < 0 || !w.Frame.Func.Allocates {
		return callTarget{fn: fn}
	}
	return callTarget{fn, w.FrameAbove(lane, w.CTA.Code.Funcs[fn])}
}

// callGroups groups the lanes of a call by target. It returns nil if all lanes have the same target, or if a lane must not
// make the call, in which case executeCall traps before any lane enters a function.
func callGroups(w *machine.Warp, b *code.Block) (groups []machine.BranchGroup) {
	end := w.CTA.Code.End(b)
	m := w.GuardedLanes(end.Guard)
	var targets []callTarget
	var firstTarget callTarget
	for remaining := m; remaining != 0; remaining &= remaining - 1 {
		lane := bits.TrailingZeros64(remaining)
		target := callTargetOf(w, end, lane)
		switch {
		case target.fn < 0:
			return nil
		case remaining == m:
			firstTarget = target
		case targets == nil && target != firstTarget:
			targets, groups = []callTarget{firstTarget}, []machine.BranchGroup{{PC: w.PC, Mask: m &^ remaining}}
		}
		if targets == nil {
			continue
		}
		i := slices.Index(targets, target)
		if i < 0 {
			i = len(targets)
			targets, groups = append(targets, target), append(groups, machine.BranchGroup{PC: w.PC})
		}
		groups[i].Mask |= 1 << lane
	}
	return groups
}

// callSeparately lets each group of lanes make a call alone; they reconverge after it. Lanes for which the guard does not
// hold stay in the first group.
func callSeparately(w *machine.Warp, b *code.Block) {
	groups := callGroups(w, b)
	groups[0].Mask |= w.Mask &^ w.GuardedLanes(w.CTA.Code.End(b).Guard)
	countSplits(w, w.Mask, groups...)
	w.Reconverger.Split(w, groups, b.Next)
}

// savePlaces copies the registers among the places, for the lanes of m. The result has the copies by half of the warp and
// index of the place; it is nil for a half if no place is a register.
func savePlaces(w *machine.Warp, places []code.ParamPlace, m uint64) (rows [2][]machine.RegisterCopy) {
	for h := range w.Files {
		for i, p := range places {
			if p.Slot == code.NoSlot {
				continue
			}
			if rows[h] == nil {
				rows[h] = make([]machine.RegisterCopy, len(places))
			}
			rows[h][i].Read(&w.Files[h], p, uint32(m>>(32*h)))
		}
	}
	return rows
}

// enterFunction makes the lanes of m enter a function, called at the end of block b. Lanes in other calls may have registers
// and local memory in the same rows, so only the columns of m change.
func enterFunction(w *machine.Warp, b *code.Block, target *code.Func, m uint64) {
	fr := newFrame(w, b, target, w.FrameAbove(bits.TrailingZeros64(m), target)) // the frame has the same place in all lanes of m
	// The stack space of a frame is its local memory and its registers, which a GPU would save there. The number of the
	// frame's rows does not count, because it depends on the mode.
	limit := w.CTA.Grid.StackWords
	if fr.Local+target.Local+fr.Depth*(machine.FrameWords+target.Saved) > limit {
		w.Fail(w.SourceOf(w.CTA.Code.End(b)), m, probe.ErrStackOverflow, "%v: call of %s at depth %d needs more than %d bytes per thread", probe.ErrStackOverflow, target.Name, fr.Depth, 4*limit)
		return
	}
	access.GrowLocal(w, fr.Local+target.Local)
	args, other := savePlaces(w, w.CTA.Code.CallSite(b).Args, m), lanesAbove(w, fr.Base, (*machine.Frame).Top)
	var copied [2][]machine.RegisterCopy // copies in the reference
	var otherLanes uint64
	if w.Check != nil {
		w.SwitchToReference()
		otherLanes = lanesAbove(w, fr.Counterpart.Base, func(fr *machine.Frame) regfile.Size { return fr.Counterpart.Top() })
		copied = savePlaces(w, w.CTA.Code.CallSite(b).Args, m)
		w.SwitchToReference()
	}
	src := w.SourceOf(w.CTA.Code.End(b))
	if m != w.Mask {
		countSplits(w, w.Mask, machine.BranchGroup{PC: target.Begin, Mask: m}, machine.BranchGroup{PC: b.Next, Mask: w.Mask &^ m})
	}
	caller, site := w.Frame, w.CTA.Code.CallSite(b)
	w.Reconverger.Enter(w, fr, m)
	for h := range w.Files {
		cleanLocal(w, h, fr, uint32(m>>(32*h)))
		cleanWindow(w, h, target, uint32(m>>(32*h)), uint32(other>>(32*h)))
	}
	transferParams(w, m, site.Args, caller.Local, args, target.Formals, fr.Local)
	if w.Check != nil {
		w.SwitchToReference()
		for h := range w.Files {
			cleanWindow(w, h, w.Frame.Func, uint32(m>>(32*h)), uint32(otherLanes>>(32*h)))
		}
		transferParams(w, m, w.CTA.Code.CallSite(b).Args, caller.Local, copied, w.Frame.Func.Formals, fr.Local)
		w.SwitchToReference()
	}
	if s := w.CTA.Stream; w.CTA.IsSubscribed(probe.OnCall) {
		event.FillEvent(s, &s.Event, w, src, m)
		s.Event.Callee = target.Func
		event.Emit(s, &s.Event, probe.OnCall)
	}
}

// cleanLocal clears the local frame of a function for the lanes of m of a half.
func cleanLocal(w *machine.Warp, h int, fr *machine.Frame, m uint32) {
	cleanShadow(w, h, fr, m)
	local := w.Local[h][fr.Local : fr.Local+fr.Func.Local]
	if m == uint32(w.Live>>(32*h)) {
		clear(local)
	} else {
		for i := range local { // other lanes may use the same words
			mem.FillRow(&local[i], 0, m)
		}
	}
}

// cleanShadow clears the shadow bytes of a local frame for the lanes of m of half h.
func cleanShadow(w *machine.Warp, h int, fr *machine.Frame, m uint32) {
	n := 4 * w.CTA.Grid.Device.Memory.ShadowBytes // shadow bytes of a word
	if w.Shadow == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		s := w.Shadow[32*h+bits.TrailingZeros32(m)]
		clear(s[min(n*fr.Local, len(s)):min(n*(fr.Local+fr.Func.Local), len(s))])
	}
}

// cleanWindow prepares the window of a function for the lanes of m of half h: it clears rows that may be read before
// they are written, and drops compact copies. The lanes of other have registers in the same rows, which must not change.
func cleanWindow(w *machine.Warp, h int, fn *code.Func, m, other uint32) {
	f := &w.Files[h]
	if other == 0 {
		ZeroFrame(fn, f)
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
		machine.MarkGeneric(f, code.Row{Slot: code.R, Row: int32(i)}, m)
	}
	for i := range n.Q {
		machine.MarkGeneric(f, code.Row{Slot: code.Q, Row: int32(i)}, m)
	}
}

// lanesAbove returns the lanes of waiting warp splits with registers in rows from base on. top returns the end of a
// frame's rows.
func lanesAbove(w *machine.Warp, base regfile.Size, top func(fr *machine.Frame) regfile.Size) (m uint64) {
	reaches := func(fr *machine.Frame) bool {
		end := top(fr)
		return end.R > base.R || end.Q > base.Q || end.P > base.P
	}
	for i := range w.WaitingSplits {
		c := &w.WaitingSplits[i]
		if reaches(c.Frame) {
			m |= c.Mask
		}
		for j := c.Reconvergence; j != nil; j = j.Outer {
			if reaches(j.Frame) {
				m |= j.Arrived
			}
		}
	}
	return m
}

// ZeroFrame clears the rows of a function that may be read before they are written, for all lanes of a file.
func ZeroFrame(fn *code.Func, f *regfile.File) {
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

// leaveFrame returns the running warp split from a function to its caller, and copies the results.
func leaveFrame(w *machine.Warp) {
	callee, c := w.Frame, w.WarpSplit
	site := w.CTA.Code.CallSite(callee.Call)
	if callee.Func.Multiply {
		async.ForgetProducts(w)
	}
	c.Frame, c.PC, c.Deferred = callee.Caller, callee.Call.Next, false
	rets := savePlaces(w, callee.Func.Results, c.Mask)
	var copied [2][]machine.RegisterCopy // copies in the reference
	if w.Check != nil {
		w.SwitchToReference()
		copied = savePlaces(w, callee.Counterpart.Func.Results, c.Mask)
		w.SwitchToReference()
	}
	ResumeSplit(w, c)
	transferParams(w, c.Mask, callee.Func.Results, callee.Local, rets, site.Rets, c.Frame.Local)
	if w.Check != nil {
		w.SwitchToReference()
		transferParams(w, c.Mask, callee.Counterpart.Func.Results, callee.Local, copied, w.CTA.Code.CallSite(callee.Call).Rets, c.Frame.Local)
		w.SwitchToReference()
	}
	if w.CTA.IsSubscribed(probe.OnReturn) {
		src := w.SourceOf(w.CTA.Code.End(callee.Call))
		event.EmitSplit(w, probe.OnReturn, &w.WarpSplit, src, src.Writes)
	}
	jumpTo(w, c.PC)
}

// transferParams copies parameters or results for the lanes of m. A source is a place in the local frame at word srcBase,
// or a register whose copy is in regs. A destination is a place in the local frame at word dstBase, or a register of the
// current window.
func transferParams(w *machine.Warp, m uint64, src []code.ParamPlace, srcBase int, regs [2][]machine.RegisterCopy, dst []code.ParamPlace, dstBase int) {
	for h := range w.Files {
		for i := range min(len(src), len(dst)) {
			if w.InReference() && dst[i].Slot == code.NoSlot {
				continue // the reference shares the local memory, so it has the value already
			}
			transferParam(w, h, uint32(m>>(32*h)), src[i], srcBase, savedRegister(regs[h], i), dst[i], dstBase)
		}
	}
}

// savedRegister returns element i of a list; nil if the list is nil.
func savedRegister(list []machine.RegisterCopy, i int) *machine.RegisterCopy {
	if list == nil {
		return nil
	}
	return &list[i]
}

// transferParam copies a parameter or result for the lanes of m of half h. A shorter source or destination limits the size.
func transferParam(w *machine.Warp, h int, m uint32, src code.ParamPlace, srcBase int, reg *machine.RegisterCopy, dst code.ParamPlace, dstBase int) {
	f := &w.Files[h]
	local := w.Local[h]
	if f.Tracked() {
		machine.MarkGeneric(f, code.Row{Slot: dst.Slot, Row: dst.Row}, m)
	}
	if src.Slot == code.P || dst.Slot == code.P {
		if src.Slot == code.P && dst.Slot == code.P {
			f.SetP(dst.Row, m, reg.P)
		}
		return
	}
	word := func(i, lane int) uint32 {
		switch src.Slot {
		case code.R:
			return reg.R[lane]
		case code.Q:
			return uint32(reg.Q[lane] >> (32 * i))
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
