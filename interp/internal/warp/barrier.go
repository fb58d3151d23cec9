package warp

// This file executes the barriers of a CTA (manual 9.7.13.1). A warp arrives at a barrier when all its live lanes wait
// there. With .aligned, and for bar, they must wait at a single instruction; without .aligned, they may wait at several.
// Until then, lanes at the barrier wait, and the remaining lanes continue; without .aligned they may pass their
// reconvergence point. bar.warp.sync waits for lanes of the warp in the same way (9.7.13.2).

import (
	"fmt"
	"math/bits"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/regfile"
)

// ExecuteBarrier executes bar and barrier.
func ExecuteBarrier(w *machine.Warp, b *code.Block) {
	end := w.CTA.Code.End(b)
	m := w.GuardedLanes(end.Guard)
	if m == 0 {
		jumpTo(w, b.Next)
		return
	}
	op, src := &w.CTA.Code.Barriers[end.Side], w.SourceOf(end)
	if end.Op == code.BarrierCluster {
		arriveLanes(w, b, m, machine.SplitWait{Src: src, Instr: end, Op: op, ID: probe.ClusterBarrier})
		return
	}
	first := bits.TrailingZeros64(m)
	uniform := func(row int32, text string) (uint64, bool) {
		o := code.Row{Slot: code.R, Row: row}
		v := w.ControlValue(o, first)
		if o.Row < 0 { // a constant
			return v, true
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			if w.ControlValue(o, bits.TrailingZeros64(rest)) != v {
				w.Fail(src, m, probe.ErrBarrier, "%v: the %s differs between the lanes of warp %d", probe.ErrBarrier, text, w.ID)
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
		w.Fail(src, m, probe.ErrBarrier, "%v: barrier %d, want 0 to 15", probe.ErrBarrier, id)
		return
	}
	expected := 0
	if end.B != code.NoRow {
		n, ok := uniform(end.B, "thread count")
		if !ok {
			return
		}
		width := uint64(w.CTA.Code.Width)
		if n == 0 || n%width != 0 {
			w.Fail(src, m, probe.ErrBarrier, "%v: a thread count of %d is not a positive multiple of the warp size %d", probe.ErrBarrier, n, width)
			return
		}
		expected = int(n / width)
	}
	arriveLanes(w, b, m, machine.SplitWait{Src: src, Instr: end, Op: op, ID: int(id), Expected: expected})
}

// arriveLanes makes lanes wait at the barrier at the end of block b. request describes the wait.
func arriveLanes(w *machine.Warp, b *code.Block, lanes uint64, request machine.SplitWait) {
	if w.Check != nil {
		request.Reference = w.Check.End(b)
	}
	alone := lanes == w.Live && len(w.WaitingSplits) == 0
	leaveWaitingSplit(w, lanes, b.Next, request)
	if alone { // no other warp split of the warp has to arrive
		w.State = machine.AtBarrier
		arriveAtBarrier(w, request.ID)
		return
	}
	continueAt(w, b.Next)
}

// arriveAtBarrier makes a warp arrive at a barrier where all its live lanes wait.
func arriveAtBarrier(w *machine.Warp, id int) {
	w.CTA.ImportAll()
	if id == probe.ClusterBarrier {
		arriveAtClusterBarrier(w)
		return
	}
	arriveWarp(w, &w.CTA.Barriers[id])
}

// leaveWaitingSplit makes lanes of the running warp split a waiting split with the wait request. It continues at pc.
func leaveWaitingSplit(w *machine.Warp, lanes uint64, pc int32, request machine.SplitWait) {
	c := splitOff(w, lanes)
	c.PC, c.Wait = pc, newWait(w, request)
	w.WaitingSplits = append(w.WaitingSplits, c)
	w.NumWaiting++
	if w.Mask != 0 {
		countSplits(w, lanes|w.Mask, machine.BranchGroup{PC: pc, Mask: lanes}, machine.BranchGroup{PC: pc, Mask: w.Mask})
	}
	event.EmitSplit(w, probe.OnWait, &c, request.Src, nil)
}

// newWait returns a copy of a wait, in an unused object.
func newWait(w *machine.Warp, request machine.SplitWait) *machine.SplitWait {
	n := len(w.FreeWaits)
	if n == 0 {
		w.FreeWaits, n = append(w.FreeWaits, new(machine.SplitWait)), 1
	}
	p := w.FreeWaits[n-1]
	w.FreeWaits = w.FreeWaits[:n-1]
	*p = request
	return p
}

// wakeSplit ends the wait of a warp split, so that it can run again.
func wakeSplit(w *machine.Warp, c *machine.WarpSplit) {
	if w.CTA.IsSubscribed(probe.OnWake) {
		event.EmitSplit(w, probe.OnWake, c, c.Wait.Src, c.Wait.Src.Writes)
	}
	w.FreeWaits = append(w.FreeWaits, c.Wait)
	c.Wait = nil
	w.NumWaiting--
}

// continueAt continues the running warp split at a block, if it has lanes left.
func continueAt(w *machine.Warp, pc int32) {
	if w.Mask != 0 {
		jumpTo(w, pc)
	} else {
		scheduleSplit(w)
	}
}

// warpBarrier executes bar.warp.sync for the lanes of m.
func warpBarrier(w *machine.Warp, b *code.Block) {
	end := w.CTA.Code.End(b)
	m := w.GuardedLanes(end.Guard)
	if m == 0 {
		jumpTo(w, b.Next)
		return
	}
	src, member := w.SourceOf(end), code.Row{Slot: code.R, Row: end.A}
	mask := func(lane int) uint32 { return uint32(w.ControlValue(member, lane)) }
	complete := end.A < 0 && mask(0)&uint32(w.Live) == uint32(m) // the mask is a constant, and all its live lanes are here
	if !complete {
		absent := uint32(0)
		for rest := m; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros64(rest)
			if !w.IsMember(src, lane, mask(lane)) {
				return
			}
			absent |= mask(lane) & uint32(w.Live&^m)
		}
		complete = absent == 0
	}
	if complete {
		jumpTo(w, b.Next)
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
		leaveWaitingSplit(w, lanes, b.Next, machine.SplitWait{Src: src, Instr: end, Op: &w.CTA.Code.Barriers[end.Side], Membermask: member})
	}
	executeCollectives(w)
	continueAt(w, b.Next)
}

// checkAlignedBarrier is called when all warp splits of a warp wait. If all wait at the same barrier, the warp arrives
// there. It traps if a split waits for lanes of the warp, or at an aligned barrier without all live lanes: none of the
// lanes that are missing can arrive.
func checkAlignedBarrier(w *machine.Warp) {
	w.State = machine.AtBarrier
	for i := range w.WaitingSplits {
		if b := w.WaitingSplits[i].Wait; b.Op == nil || b.Op.Kind == code.BarWarp {
			ResumeSplit(w, takeSplit(w, i))
			w.MissingMembersTrap(b.Src, uint32(w.Mask), b.Membermask&uint32(w.Live)&^waitingLanes(w, b)&^uint32(w.Mask), b.Membermask)
			return
		}
	}
	first := w.WaitingSplits[0].Wait
	for i := range w.WaitingSplits {
		b := w.WaitingSplits[i].Wait
		if b.Op.Aligned && lanesAtSource(w, b.Src) != w.Live {
			ResumeSplit(w, takeSplit(w, i))
			absent := w.Live &^ w.Mask &^ lanesAtSource(w, b.Src)
			t := w.Fail(b.Src, w.Mask, probe.ErrDeadlock, "%v: in warp %d, %s at a barrier without %s", probe.ErrDeadlock, w.ID, machine.LanesDo(w.Live&^absent, "wait"), probe.LaneText(absent))
			t.Notes = append(t.Notes, w.Whereabouts(absent)...)
			return
		}
		if b.ID != first.ID || b.Arrived {
			return
		}
	}
	arriveAtBarrier(w, first.ID)
}

// lanesAtSource returns the lanes waiting at an instruction.
func lanesAtSource(w *machine.Warp, src *code.Source) uint64 {
	m := uint64(0)
	for i := range w.WaitingSplits {
		if b := w.WaitingSplits[i].Wait; b != nil && b.Src == src {
			m |= w.WaitingSplits[i].Mask
		}
	}
	return m
}

// arriveWarp adds the warp, whose lanes must all be at the barrier, to the arrived warps.
func arriveWarp(w *machine.Warp, bar *machine.CTABarrier) {
	c := w.CTA
	c.BarrierUsed = true
	waits := false
	for i := range w.WaitingSplits {
		split := &w.WaitingSplits[i]
		b := split.Wait
		if bar.Arrived == 0 {
			*bar = machine.CTABarrier{Expected: b.Expected, AllTrue: true, Waiting: bar.Waiting[:0], WaitingBuffer: bar.WaitingBuffer, Completed: bar.Completed}
		} else if bar.Expected != b.Expected {
			w.Fail(b.Src, split.Mask, probe.ErrBarrier, "%v: barrier %d: earlier warps wait for %s threads, this warp for %s", probe.ErrBarrier, b.ID, barrierThreadCount(c, bar.Expected), barrierThreadCount(c, b.Expected))
			return
		}
		if i == 0 {
			bar.Arrived++
		}
		b.Generation = bar.Completed
		if b.Op.Kind == code.BarArrive {
			wakeSplit(w, split)
			continue
		}
		waits, b.Arrived = true, true
		if b.Op.Kind < code.BarPopc {
			continue
		}
		w.ShowWindow(split.Frame)
		p := uint64(0)
		for h := range w.Files {
			p |= uint64(w.Files[h].SrcP(b.Instr.C)) << (32 * h)
		}
		if b.Op.Neg {
			p = ^p
		}
		p &= split.Mask
		bar.Popc += bits.OnesCount64(p)
		bar.AllTrue = bar.AllTrue && p == split.Mask
		bar.AnyTrue = bar.AnyTrue || p != 0
	}
	if waits {
		if bar.Waiting == nil {
			bar.Waiting = make([]*machine.Warp, 0, len(c.Warps))
		}
		bar.Waiting = append(bar.Waiting, w)
	}
	if w.NumWaiting < len(w.WaitingSplits) { // warp splits that only arrive (bar.arrive) continue
		w.State = machine.ReadyToRun
		scheduleSplit(w)
	}
	completeBarrier(c, bar)
}

// barrierThreadCount returns the number of threads of some warps as text; "all" for 0 warps.
func barrierThreadCount(c *machine.CTA, warps int) string {
	if warps == 0 {
		return "all"
	}
	return fmt.Sprint(warps * c.Code.Width)
}

// completeBarrier lets the warps at a barrier continue once enough threads have arrived.
func completeBarrier(c *machine.CTA, bar *machine.CTABarrier) {
	want := bar.Expected
	if want == 0 {
		for i := range c.Warps {
			if c.Warps[i].State != machine.HasEnded {
				want++
			}
		}
	}
	if bar.Arrived < want || bar.Arrived == 0 {
		return
	}
	waiting := bar.Waiting
	bar.Arrived, bar.Waiting, bar.WaitingBuffer = 0, bar.WaitingBuffer[:0], nil // a released warp may arrive again in the loop below
	bar.Completed++
	for _, w := range waiting {
		for i := range w.WaitingSplits {
			if split := &w.WaitingSplits[i]; split.Wait != nil && split.Wait.Arrived {
				releaseSplit(w, split, bar)
				wakeSplit(w, split)
			}
		}
		mergeSplits(w)
		if w.Mask != 0 {
			w.ShowWindow(w.Frame)
			continue
		}
		w.State = machine.ReadyToRun
		scheduleSplit(w)
	}
	bar.WaitingBuffer = waiting
}

// releaseSplit writes the result of bar.red to the registers of a warp split, also to those of the reference.
func releaseSplit(w *machine.Warp, split *machine.WarpSplit, bar *machine.CTABarrier) {
	b := split.Wait
	if b.Op.Kind < code.BarPopc || b.Instr.D == code.NoRow {
		return
	}
	w.ShowWindow(split.Frame)
	setReduction(w, b.Instr, b.Op, bar, split.Mask)
	if w.Check != nil {
		w.SwitchToReference()
		setReduction(w, b.Reference, b.Op, bar, split.Mask)
		w.SwitchToReference()
	}
}

// setReduction writes the result of bar.red to the result register of instr, for the given lanes.
func setReduction(w *machine.Warp, instr *code.Instr, op *code.BarrierOp, bar *machine.CTABarrier, lanes uint64) {
	for h := range w.Files {
		f := &w.Files[h]
		m := uint32(lanes >> (32 * h))
		d := code.Row{Slot: code.P, Row: instr.D}
		if op.Kind == code.BarPopc {
			d.Slot = code.R
		}
		if f.Tracked() {
			machine.MarkGeneric(f, d, m)
		}
		switch {
		case op.Kind == code.BarPopc:
			mem.FillRow(f.Row32(d.Row), uint32(bar.Popc), m)
		case op.Kind == code.BarAnd && bar.AllTrue || op.Kind == code.BarOr && bar.AnyTrue:
			f.SetP(d.Row, m, regfile.Full)
		default:
			f.SetP(d.Row, m, 0)
		}
	}
}

// ReleaseBarrier completes the barriers of a CTA at which all warps that have not ended have arrived. It must be called
// after warps have ended.
func ReleaseBarrier(c *machine.CTA) {
	for i := range c.Barriers {
		if bar := &c.Barriers[i]; bar.Arrived > 0 && bar.Expected == 0 {
			completeBarrier(c, bar)
		}
	}
}

// DeadlockTrap returns the trap for a CTA whose warps all wait, with the places where they wait.
func DeadlockTrap(c *machine.CTA) *probe.Trap {
	var first *machine.WarpSplit
	var trapWarp *machine.Warp
	groups := map[string][]int{}
	var order []string
	note := func(key string, warp int) {
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], warp)
	}
	for i := range c.Warps {
		w := &c.Warps[i]
		if w.State == machine.HasEnded {
			note("ended", i)
		}
		for j := range w.WaitingSplits {
			split := &w.WaitingSplits[j]
			b := split.Wait
			if first == nil {
				first, trapWarp = split, w
			}
			place := fmt.Sprintf("at %s, %s:%s", waitName(b), c.Code.Module.Name, b.Src.Pos)
			if b.Arrived {
				note(fmt.Sprintf("%s, where %d of %s threads have arrived", place, c.Barriers[b.ID].Arrived*c.Code.Width, expectedThreadsText(c, &c.Barriers[b.ID])), i)
			} else {
				note(fmt.Sprintf("with %s %s", probe.LaneText(split.Mask), place), i)
			}
		}
	}
	t := trapWarp.Fail(first.Wait.Src, first.Mask, probe.ErrDeadlock, "%v: %s can never complete", probe.ErrDeadlock, waitName(first.Wait))
	t.Active = first.Mask
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
		t.Notes = append(t.Notes, fmt.Sprintf("%s %s %s %s", name, machine.IntRanges(warps), verb, key))
	}
	return t
}

// waitName returns the name of a barrier for messages.
func waitName(b *machine.SplitWait) string {
	if b.ID == probe.ClusterBarrier {
		return "the barrier of the cluster"
	}
	return fmt.Sprintf("barrier %d", b.ID)
}

// expectedThreadsText returns the number of threads that a barrier expects as text.
func expectedThreadsText(c *machine.CTA, bar *machine.CTABarrier) string {
	if bar.Expected == 0 {
		return fmt.Sprintf("all %d", c.Grid.Threads)
	}
	return fmt.Sprint(bar.Expected * c.Code.Width)
}
