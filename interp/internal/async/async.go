package async

// This file executes asynchronous operations (manual 9.7.9.25, 9.7.9.12, 9.7.13.7). An effect happens as late as
// possible, at the wait that orders it; the source is read then. Effects that complete at an mbarrier happen after a
// failed test of it, if they complete its phase. Effects without a wait happen when the CTA ends, or when the pending
// effects of the CTA exceed their memory limit. With Launch.EagerEffects all effects happen at issue.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// queueIndex returns the index of an operation's queue in AsyncThread.
func queueIndex(op code.Async) int {
	if op.Bulk {
		return 1
	}
	return 0
}

// threadOf returns the asynchronous work of thread i of the CTA.
func threadOf(a *machine.AsyncState, c *machine.CTA, i int) *machine.AsyncThread {
	if a.Lanes == nil {
		a.Lanes = make([]machine.AsyncThread, len(c.Warps)*c.Code.Width)
	}
	return &a.Lanes[i]
}

// newEffect makes an effect of an instruction for a lane.
func newEffect(w *machine.Warp, h int, instr *code.Instr, lane int, op code.Async) *machine.AsyncEffect {
	return &machine.AsyncEffect{CTA: w.CTA, Src: w.SourceOf(instr), Warp: w.ID, Lane: 32*h + lane, Active: w.Mask, Op: op}
}

// failAsync stops the warp with a trap for the operation of a lane.
func failAsync(w *machine.Warp, e *machine.AsyncEffect, format string, args ...any) {
	w.Fail(e.Src, 1<<e.Lane, probe.ErrAsync, "%v: %s", probe.ErrAsync, fmt.Sprintf(format, args...))
}

// issueEffects issues effects up to the first that traps.
func issueEffects(w *machine.Warp, list []*machine.AsyncEffect) {
	for _, e := range list {
		if w.Err != nil || !resolveEffect(w, e) {
			return
		}
		issueEffect(w, e)
	}
}

// issueEffect makes an effect with valid addresses pending, or executes it now if it must not be deferred.
func issueEffect(w *machine.Warp, e *machine.AsyncEffect) {
	c := w.CTA
	cl, l := c.Cluster, threadOf(&c.AsyncState, c, w.ThreadIndex(e.Lane))
	c.Changed = true
	q := queueIndex(e.Op)
	e.Sequence, e.Group = cl.Sequence, l.Groups[q]
	cl.Sequence++
	emitEffect(e, machine.StageIssued)
	// Other CTAs can observe the order of reductions on global memory: it is the order of issue.
	if c.Grid.EagerEffects || e.Op.Reduces && e.Op.To == ptx.Global {
		if err := executeEffect(e); err != nil {
			w.Err = err
		}
		return
	}
	if isPipeOp(e) {
		if cl.Pipes == nil {
			cl.Pipes = make([][]*machine.AsyncEffect, (len(cl.CTAs)+1)/2)
		}
		cl.Pipes[c.Rank/2] = append(cl.Pipes[c.Rank/2], e)
	}
	if e.Arrives || e.Op.NotifiesMbarrier {
		if cl.Pending == nil {
			cl.Pending = map[uint64][]*machine.AsyncEffect{}
		}
		cl.Pending[e.Mbarrier] = append(cl.Pending[e.Mbarrier], e)
	}
	if e.Tensor != nil { // a wait for its group also waits for the read of the map, even if the effect completes at an mbarrier
		l.Pending[q] = slices.DeleteFunc(l.Pending[q], func(e *machine.AsyncEffect) bool { return e.Done && e.Tensor != nil })
	}
	if !isPipeOp(e) && (e.Arrives || !e.Op.NotifiesMbarrier || e.Tensor != nil) {
		l.Pending[q] = append(l.Pending[q], e)
	}
	chargeEffect(e, uint64(unsafe.Sizeof(*e))+uint64(len(e.Data)))
	w.Err = limitEffects(c)
}

// chargeEffect adds n bytes to the host memory that the effect takes until it happens.
func chargeEffect(e *machine.AsyncEffect, n uint64) {
	e.KeptBytes += n
	e.CTA.AsyncState.KeptBytes += n
}

// MaxEffectBytes returns the limit of host memory for the pending effects of a CTA, in bytes.
func MaxEffectBytes(g *machine.Grid) uint64 { return 1<<20 + uint64(g.Threads)<<13 }

// limitEffects executes the oldest pending effects if all take more memory than the limit, until they take half of it.
// Pending effects may happen at any time.
func limitEffects(c *machine.CTA) error {
	maxAddr := MaxEffectBytes(c.Grid)
	if c.AsyncState.KeptBytes <= maxAddr {
		return nil
	}
	for _, e := range pendingEffects(c) {
		if c.AsyncState.KeptBytes <= maxAddr/2 {
			break
		}
		if err := executeEffect(e); err != nil {
			return err
		}
	}
	for i := range c.AsyncState.Lanes {
		for q, list := range c.AsyncState.Lanes[i].Pending {
			c.AsyncState.Lanes[i].Pending[q] = slices.DeleteFunc(list, func(e *machine.AsyncEffect) bool { return e.Done })
		}
	}
	dropEffects(c.Cluster, func(e *machine.AsyncEffect) bool { return e.Done })
	return nil
}

// dropEffects drops matching effects that complete at mbarriers.
func dropEffects(cl *machine.Cluster, match func(*machine.AsyncEffect) bool) {
	for addr := range cl.Pending {
		dropEffectsAt(cl, addr, match)
	}
}

// dropEffectsAt drops matching effects that complete at an mbarrier.
func dropEffectsAt(cl *machine.Cluster, addr uint64, match func(*machine.AsyncEffect) bool) {
	if cl.Pending[addr] = slices.DeleteFunc(cl.Pending[addr], match); len(cl.Pending[addr]) == 0 {
		delete(cl.Pending, addr)
	}
}

// sourceRegion returns the bytes that the effect reads.
func sourceRegion(e *machine.AsyncEffect) ([]byte, *mem.Fault) {
	_, data, fault := e.CTA.RegionOf(e.Op.From, probe.AccessLoad, e.From, e.Bytes, e.Align())
	return data, fault
}

// targetRegion returns the bytes that the effect writes. If the effect completes at an mbarrier, they must be in the
// same shared memory as the mbarrier.
func targetRegion(e *machine.AsyncEffect) ([]byte, *mem.Fault) {
	alloc, data, fault := e.CTA.RegionOf(e.Op.To, probe.AccessStore, e.To, e.Bytes+e.Fill, e.Align())
	if owner := e.CTA.CTAAt(e.Mbarrier); fault == nil && alloc != nil && e.Op.NotifiesMbarrier && alloc != owner.SharedMem {
		return nil, &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("%d bytes at %s must be in the shared memory of cta %s, like the mbarrier that counts them", e.Bytes, machine.HexAddr(e.To), owner.ID)}
	}
	return data, fault
}

// resolveEffect traps if the source or the target of the effect is invalid. It reports whether both are valid.
func resolveEffect(w *machine.Warp, e *machine.AsyncEffect) bool {
	_, fault := targetRegion(e)
	addr := e.To
	if fault == nil && e.Data == nil {
		_, fault = sourceRegion(e)
		addr = e.From
	}
	if fault != nil {
		w.Err = faultTrap(e, fault, addr)
		return false
	}
	return true
}

// faultTrap makes a trap for a memory fault of an effect, at its place of issue.
func faultTrap(e *machine.AsyncEffect, fault *mem.Fault, addr uint64) *probe.Trap {
	t := effectTrap(e, fault.Kind, "%s", fault.Msg)
	t.Addr, t.Bytes, t.Nearby = addr, int(e.Bytes+e.Fill), fault.Near
	return t
}

// effectTrap makes a trap for an effect, at its place of issue.
func effectTrap(e *machine.AsyncEffect, kind error, format string, args ...any) *probe.Trap {
	c := e.CTA
	t := c.NewTrap(e.Src, kind, format, args...)
	t.Warp, t.Lanes, t.Active, t.Thread = e.Warp, 1<<e.Lane, e.Active, c.ThreadID(e.Warp*c.Code.Width+e.Lane)
	return t
}

// executeEffect executes an effect, unless it has happened already.
//
//go:norace
func executeEffect(e *machine.AsyncEffect) error {
	if e.Done {
		return nil
	}
	c := e.CTA
	if isPipeOp(e) {
		return runPipe(c.Cluster, e)
	}
	e.Done = true
	c.AsyncState.KeptBytes -= e.KeptBytes
	c.Changed = true
	if e.Arrives {
		// Earlier copies of its thread happen first.
		l := &c.AsyncState.Lanes[e.Warp*c.Code.Width+e.Lane]
		for len(l.Pending[0]) > 0 && l.Pending[0][0].Sequence < e.Sequence {
			p := l.Pending[0][0]
			if l.Pending[0] = l.Pending[0][1:]; !p.Arrives {
				if err := executeEffect(p); err != nil {
					return err
				}
			}
		}
		emitEffect(e, machine.StageWrites)
		return arriveAtMbarrier(e)
	}
	stage := machine.StageWrites
	if e.Data == nil {
		stage |= machine.StageReads
	}
	if err := readSource(e); err != nil {
		return err
	}
	emitEffect(e, stage)
	if e.Tensor != nil {
		if err := writeTensor(e); err != nil || !e.Op.NotifiesMbarrier {
			return err
		}
		return completeEffect(e)
	}
	to, fault := targetRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.To)
	}
	if e.Op.Reduces {
		reduceBytes(to, e.Data, e.Op.Reduction)
	} else if e.Unwritten != 0 {
		for i, v := range e.Data {
			if e.Unwritten>>(i%16)&1 == 0 {
				to[i] = v
			}
		}
	} else {
		copy(to, e.Data)
		clear(to[e.Bytes:])
	}
	if e.Op.NotifiesMbarrier {
		return completeEffect(e)
	}
	return nil
}

// completeEffect completes the effect at its mbarrier: it reports a found pattern and counts the bytes.
func completeEffect(e *machine.AsyncEffect) error {
	return notifyMbarrier(e, func(b mbarrier) (mbarrier, string) {
		if e.PatternFound {
			b = b.withReport()
		}
		return b.completeTx(transactionsOf(e))
	})
}

// transactionsOf returns the number of bytes that the mbarrier counts.
func transactionsOf(e *machine.AsyncEffect) uint64 { return e.Bytes + e.IgnoredBytes }

// readSource reads the source, unless it has been read already.
//
//go:norace
func readSource(e *machine.AsyncEffect) error {
	switch {
	case e.Data != nil || e.Arrives:
		return nil
	case e.Tensor != nil:
		return readTensor(e)
	}
	from, fault := sourceRegion(e)
	if fault != nil {
		return faultTrap(e, fault, e.From)
	}
	e.Data = make([]byte, len(from))
	copy(e.Data, from)
	e.PatternFound = e.Op.ReportPattern.Matches(e.Data)
	if !e.Done {
		chargeEffect(e, uint64(len(from)))
	}
	return nil
}

// arriveAtMbarrier executes the arrival of an effect at its mbarrier.
func arriveAtMbarrier(e *machine.AsyncEffect) error {
	return notifyMbarrier(e, func(b mbarrier) (mbarrier, string) { return b.arrive(1) })
}

// notifyMbarrier updates the mbarrier of an effect.
func notifyMbarrier(e *machine.AsyncEffect, update func(mbarrier) (mbarrier, string)) error {
	c := e.CTA
	b, bad := mbarrierOf(c, e.Mbarrier), notAnMbarrier
	if b.valid() {
		*b, bad = update(*b)
	}
	if bad != "" {
		return effectTrap(e, probe.ErrBarrier, "%v: %s: %s", probe.ErrBarrier, mbarrierName(c, e.Mbarrier), bad)
	}
	return nil
}

// reduceBytes combines arrays of elements (manual 9.7.9.25.4.2).
//
//go:norace
func reduceBytes(to, data []byte, r code.Reduction) {
	size := r.Type.Size()
	mask := access.WidthMask(r.Type)
	for i := 0; i+size <= len(to); i += size {
		p := unsafe.Pointer(&to[i])
		mem.StoreBits(p, size, access.ApplyReduction(r, mask, mem.LoadBits(p, size), mem.LoadBits(unsafe.Pointer(&data[i]), size), 0))
	}
}

// checkMbarrierWait executes the pending effects at an mbarrier after a failed test of it, up to the effect that completes
// the phase. If they do not complete the phase, it executes none.
func checkMbarrierWait(c *machine.CTA, addr uint64) error {
	pending := c.Cluster.Pending
	list := pending[addr]
	if len(list) == 0 {
		return nil
	}
	b := *mbarrierOf(c, addr)
	phase, n := b.phase(), 0
	for bad := ""; b.phase() == phase; n++ {
		if n == len(list) {
			return nil
		}
		if list[n].Arrives {
			b, bad = b.arrive(1)
		} else {
			b, bad = b.completeTx(transactionsOf(list[n]))
		}
		if bad != "" { // the effect will trap
			n++
			break
		}
	}
	if pending[addr] = list[n:]; n == len(list) {
		delete(pending, addr)
	}
	for _, e := range list[:n] {
		if err := executeEffect(e); err != nil {
			return err
		}
	}
	return nil
}

// pendingText describes the pending bytes and arrivals at an mbarrier, for messages.
func pendingText(cl *machine.Cluster, addr uint64) string {
	arrivals, bytes := 0, uint64(0)
	for _, e := range cl.Pending[addr] {
		if e.Arrives {
			arrivals++
		}
		bytes += transactionsOf(e)
	}
	s := ""
	if bytes > 0 {
		s += fmt.Sprintf("; pending operations bring %d bytes", bytes)
	}
	if arrivals > 0 {
		s += fmt.Sprintf("; pending copies bring %d arrivals", arrivals)
	}
	return s
}

// awaitEffects executes the effects of all groups of a thread except the last keepGroups, or reads their sources.
func awaitEffects(c *machine.CTA, l *machine.AsyncThread, op code.Async, keepGroups int) error {
	q := queueIndex(op)
	if op.All {
		l.Groups[q]++
	}
	for len(l.Pending[q]) > 0 && l.Pending[q][0].Group < l.Groups[q]-keepGroups && !op.Read {
		e := l.Pending[q][0]
		l.Pending[q] = l.Pending[q][1:]
		switch {
		case e.Arrives, e.Done: // an arrival happens at a test of its mbarrier
		case e.Op.NotifiesMbarrier:
			if err := readTensorMap(e); err != nil {
				return err
			}
		default:
			if err := executeEffect(e); err != nil {
				return err
			}
		}
	}
	if !op.Read || l.Groups[q]-keepGroups <= l.GroupsRead {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.Pending[q], l.GroupsRead, func(e *machine.AsyncEffect, group int) int { return cmp.Compare(e.Group, group) })
	l.GroupsRead = l.Groups[q] - keepGroups
	for _, e := range l.Pending[q][i:] {
		if e.Group >= l.GroupsRead {
			break
		}
		if e.Done {
			continue
		}
		unread := e.Data == nil && !e.Op.NotifiesMbarrier
		err := error(nil)
		if e.Op.NotifiesMbarrier {
			err = readTensorMap(e)
		} else {
			err = readSource(e)
		}
		if err != nil {
			return err
		}
		if unread {
			emitEffect(e, machine.StageReads)
		}
	}
	return limitEffects(c)
}

// FinishAsync executes all pending effects at the end of the CTA, in the order of issue.
func FinishAsync(c *machine.CTA) error {
	if err := finishGroups(c); err != nil {
		return err
	}
	if c.AsyncState.Lanes == nil {
		return finishTensor(c)
	}
	for _, e := range pendingEffects(c) {
		if err := executeEffect(e); err != nil {
			return err
		}
	}
	dropEffects(c.Cluster, func(e *machine.AsyncEffect) bool { return e.CTA == c })
	err := finishTensor(c)
	c.AsyncState = machine.AsyncState{}
	return err
}

// pendingEffects returns all pending effects of the CTA, in the order of issue.
func pendingEffects(c *machine.CTA) []*machine.AsyncEffect {
	all := map[*machine.AsyncEffect]bool{}
	for i := range c.AsyncState.Lanes {
		for _, q := range c.AsyncState.Lanes[i].Pending {
			for _, e := range q {
				all[e] = !e.Done
			}
		}
	}
	for _, list := range c.Cluster.Pending {
		for _, e := range list {
			all[e] = !e.Done && e.CTA == c
		}
	}
	if piped := c.Cluster.Pipes; piped != nil {
		for _, e := range piped[c.Rank/2] {
			all[e] = e.CTA == c
		}
	}
	maps.DeleteFunc(all, func(_ *machine.AsyncEffect, left bool) bool { return !left })
	return slices.SortedFunc(maps.Keys(all), func(a, b *machine.AsyncEffect) int { return int(a.Sequence - b.Sequence) })
}

// CopyEffects replaces the asynchronous state of the cluster by a copy of another cluster's, CTA by CTA of the same rank.
// The copy shares nothing mutable with the original.
func CopyEffects(cl *machine.Cluster, other *machine.Cluster) {
	copies := map[*machine.AsyncEffect]*machine.AsyncEffect{}
	list := func(old []*machine.AsyncEffect) (list []*machine.AsyncEffect) {
		for _, e := range old {
			if copies[e] == nil {
				c := *e
				c.CTA = cl.CTAs[e.CTA.Rank]
				if e.Tensor != nil {
					t := *e.Tensor
					c.Tensor = &t
				}
				copies[e] = &c
			}
			list = append(list, copies[e])
		}
		return list
	}
	for r, c := range cl.CTAs {
		c.AsyncState.Warpgroups = cloneGroups(other.CTAs[r].AsyncState.Warpgroups)
		c.AsyncState.Tensor = cloneTensorState(other.CTAs[r].AsyncState.Tensor)
		if old := other.CTAs[r].AsyncState; old.Lanes != nil {
			c.AsyncState.Lanes = slices.Clone(old.Lanes)
			for i := range c.AsyncState.Lanes {
				for q := range c.AsyncState.Lanes[i].Pending {
					c.AsyncState.Lanes[i].Pending[q] = list(old.Lanes[i].Pending[q])
				}
			}
		}
	}
	ctas, shared := cl.CTAs, cl.Shared
	*cl = *other
	cl.CTAs, cl.Shared, cl.InstrsLeft, cl.Pending = ctas, shared, slices.Clone(other.InstrsLeft), nil
	cl.Pipes = nil
	for _, old := range other.Pipes {
		cl.Pipes = append(cl.Pipes, list(old))
	}
	if other.Pending != nil {
		cl.Pending = map[uint64][]*machine.AsyncEffect{}
		for addr, old := range other.Pending {
			cl.Pending[addr] = list(old)
		}
	}
}

// AsyncCopy executes cp.async.
func AsyncCopy(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.From, e.Bytes = f.Src64(instr.A)[lane], f.Src64(instr.B)[lane], uint64(f.Src32(instr.C)[lane])
		if e.Bytes > uint64(op.Bytes) {
			failAsync(w, e, "a source size of %d bytes for a copy of %d bytes", e.Bytes, op.Bytes)
			return
		}
		if e.Fill = uint64(op.Bytes) - e.Bytes; resolveEffect(w, e) {
			issueEffect(w, e)
		}
	}
}

// AsyncArrive executes cp.async.mbarrier.arrive.
func AsyncArrive(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.Arrives = true
		if !findMbarrier(w, h, instr, e, op.To, f.Src64(instr.A)[lane], true) {
			return
		}
		if !op.NoInc {
			b := mbarrierOf(w.CTA, e.Mbarrier)
			after, bad := b.increase()
			if bad != "" {
				failMbarrier(w, h, instr, lane, e.Mbarrier, bad)
				return
			}
			*b = after
		}
		issueEffect(w, e)
	}
}

// findMbarrier finds the mbarrier of an effect, or traps. With own it must be in the CTA's own shared memory.
func findMbarrier(w *machine.Warp, h int, instr *code.Instr, e *machine.AsyncEffect, space ptx.Space, addr uint64, own bool) (ok bool) {
	if e.Mbarrier, ok = mbarrierAt(w, h, instr, e.Lane&31, space, addr, own); ok && !mbarrierOf(w.CTA, e.Mbarrier).valid() {
		failMbarrier(w, h, instr, e.Lane&31, e.Mbarrier, notAnMbarrier)
		return false
	}
	return ok
}

// AsyncCommit executes cp.async.commit_group and cp.async.bulk.commit_group.
func AsyncCommit(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	q := queueIndex(code.AsyncOf(instr.Imm))
	for ; m != 0; m &= m - 1 {
		threadOf(&w.CTA.AsyncState, w.CTA, w.ThreadIndex(32*h+bits.TrailingZeros32(m)&31)).Groups[q]++
	}
}

// AsyncWait executes cp.async.wait_group, cp.async.wait_all and cp.async.bulk.wait_group.
func AsyncWait(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, c := code.AsyncOf(instr.Imm), w.CTA
	if c.AsyncState.Lanes == nil {
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		keepGroups := min(f.Src32(instr.A)[lane], 1<<30)
		if err := awaitEffects(c, threadOf(&c.AsyncState, c, w.ThreadIndex(32*h+lane)), op, int(keepGroups)); err != nil {
			w.Err = err
			return
		}
	}
}

// AsyncBulk executes cp.async.bulk and cp.reduce.async.bulk.
func AsyncBulk(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op, masked := code.AsyncOf(instr.Imm), instr.Op == code.AsyncMasked
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.From = f.Src64(instr.A)[lane], f.Src64(instr.B)[lane]
		mask := uint64(0)
		if masked {
			mask = f.Src64(instr.C)[lane]
			e.Bytes, mask = mask&math.MaxUint32, mask>>32
		} else {
			e.Bytes = uint64(f.Src32(instr.C)[lane])
		}
		switch {
		case e.Bytes%16 != 0:
			failAsync(w, e, "a size of %d, want a multiple of 16", e.Bytes)
			return
		case op.NotifiesMbarrier && e.Bytes > maxMbarrierCount:
			failAsync(w, e, "a size of %d, but an mbarrier can count at most %d", e.Bytes, maxMbarrierCount)
			return
		}
		if op.NotifiesMbarrier && !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.E)[lane], false) {
			return
		}
		if op.ReportPattern != code.NoReport && !setMbarrier(w, h, instr, e) {
			return
		}
		list := []*machine.AsyncEffect{e}
		switch {
		case op.IgnoreOutOfBounds:
			if !setIgnoredBytes(w, e, mask&0xff, mask>>8) {
				return
			}
		case masked && op.NotifiesMbarrier:
			list = multicastEffect(w, e, uint32(mask))
		case masked:
			e.Unwritten = ^uint16(mask)
		}
		issueEffects(w, list)
	}
}

// setIgnoredBytes removes bytes at both ends from a copy, or traps. Their targets in shared memory keep their values.
func setIgnoredBytes(w *machine.Warp, e *machine.AsyncEffect, left, right uint64) bool {
	for _, n := range [...]uint64{left, right} {
		if n > 15 {
			failAsync(w, e, "%d ignored bytes at an end, want 0 to 15", n)
			return false
		}
	}
	for _, addr := range [...]uint64{e.To, e.From} {
		if addr%16 != 0 {
			w.Err = faultTrap(e, &mem.Fault{Kind: probe.ErrMisaligned, Msg: fmt.Sprintf("%v: %s, want a multiple of 16", probe.ErrMisaligned, machine.HexAddr(addr))}, addr)
			return false
		}
	}
	left = min(left, e.Bytes)
	e.IgnoredBytes = min(left+right, e.Bytes)
	e.To, e.From, e.Bytes = e.To+left, e.From+left, e.Bytes-e.IgnoredBytes
	return true
}

// setMbarrier checks that the mbarrier of an effect with a report has .layout::v1, or traps.
func setMbarrier(w *machine.Warp, h int, instr *code.Instr, e *machine.AsyncEffect) bool {
	if mbarrierOf(w.CTA, e.Mbarrier).v1() {
		return true
	}
	failMbarrier(w, h, instr, e.Lane&31, e.Mbarrier, "a copy with a report needs an mbarrier of .layout::v1")
	return false
}

// AsyncCancel executes clusterlaunchcontrol.try_cancel. It takes a cluster out of the launch at once, in the ordered half
// of a round; the response is written later, as an asynchronous effect.
func AsyncCancel(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.Bytes = f.Src64(instr.A)[lane], uint64(op.Bytes)
		if !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], true) {
			return
		}
		e.Data, e.Persistent = w.CTA.Grid.Cancel(), true
		w.CTA.Ordered = false // other CTAs execute globally ordered instructions before this CTA's next
		list := []*machine.AsyncEffect{e}
		if op.All {
			list = multicastEffect(w, e, 1<<w.CTA.Grid.ClusterSize-1)
		}
		issueEffects(w, list)
	}
}

// multicastEffect returns a copy of an effect on shared memory for each CTA of the cluster in a mask of ranks, with target
// and mbarrier at the same offsets in that CTA's shared memory. It traps if the target is not in shared memory or the
// cluster does not have the rank.
func multicastEffect(w *machine.Warp, e *machine.AsyncEffect, ranks uint32) (list []*machine.AsyncEffect) {
	if e.Op.To == ptx.Shared {
		e.To, e.Op.To = e.To+probe.SharedWindow, ptx.Generic
	}
	if !mem.InShared(e.To, w.CTA.Grid.ClusterSize) {
		w.Err = faultTrap(e, &mem.Fault{Kind: probe.ErrWrongSpace, Msg: fmt.Sprintf("the destination %s of a multicast copy is not in shared memory", machine.HexAddr(e.To))}, e.To)
		return nil
	}
	for ; ranks != 0; ranks &= ranks - 1 {
		rank := bits.TrailingZeros32(ranks)
		if rank >= w.CTA.Grid.ClusterSize {
			w.Fail(e.Src, 1<<e.Lane, probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank, w.CTA.Grid.ClusterSizeText())
			return nil
		}
		to := *e
		to.To, to.Mbarrier = machine.AddressInRank(e.To, rank), machine.AddressInRank(e.Mbarrier, rank)
		list = append(list, &to)
	}
	return list
}

// AsyncStore executes st.async and red.async.
func AsyncStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	op := code.AsyncOf(instr.Imm)
	for ; m != 0 && w.Err == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		e := newEffect(w, h, instr, lane, op)
		e.To, e.Bytes, e.Persistent = f.Src64(instr.A)[lane], uint64(op.Bytes), true
		for _, word := range [...]uint64{f.Src64(instr.C)[lane], f.Src64(instr.E)[lane]} {
			for i := 0; i < 8; i++ {
				e.Data = append(e.Data, byte(word>>(8*i)))
			}
		}
		e.Data = e.Data[:op.Bytes]
		if !findMbarrier(w, h, instr, e, op.MbarrierSpace, f.Src64(instr.B)[lane], false) {
			return
		}
		if resolveEffect(w, e) {
			issueEffect(w, e)
		}
	}
}
