package async

// This file holds the queues of pending effects (manual 9.7.9.25, 9.7.9.12, 9.7.13.7).
//
// An effect happens as late as possible: at the wait that orders it, when its source is read, too. An effect that completes
// at an mbarrier happens after a failed test of this mbarrier, if the pending effects complete the phase. An effect without
// a wait happens when the CTA ends, or when the pending effects of the CTA exceed their memory limit. With
// Launch.EagerEffects every effect happens at issue.

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/ptx"
)

// threadOf returns the groups of bulk operations of thread i of the CTA. a is the CTA's asynchronous state.
func threadOf(a *machine.AsyncState, c *machine.CTA, i int) *machine.AsyncThread {
	if a.Lanes == nil {
		a.Lanes = make([]machine.AsyncThread, len(c.Warps)*c.Code.Width)
	}
	return &a.Lanes[i]
}

// newObject takes an object from a list of unused objects, or allocates one.
func newObject[T any](free *[]*T) *T {
	last := len(*free) - 1
	if last < 0 {
		return new(T)
	}
	x := (*free)[last]
	*free = (*free)[:last]
	return x
}

// newEffect makes an effect of an instruction for a lane of half h.
func newEffect(w *machine.Warp, h int, instr *code.Instr, lane int, op code.Async) *machine.AsyncEffect {
	e := newObject(&w.CTA.Cluster.FreeEffects)
	*e = machine.AsyncEffect{CTA: w.CTA, Src: w.SourceOf(instr), Warp: w.ID, Lane: 32*h + lane, Active: w.Mask, Op: op}
	return e
}

// freeEffect makes an effect that has happened available to newEffect. No list may contain it.
func freeEffect(e *machine.AsyncEffect) {
	cl := e.CTA.Cluster
	if e.Tensor != nil && !e.SharesTensor {
		cl.FreeTensors = append(cl.FreeTensors, e.Tensor)
	}
	*e = machine.AsyncEffect{}
	cl.FreeEffects = append(cl.FreeEffects, e)
}

// issueEffects issues the listed effects, up to the first that traps.
func issueEffects(w *machine.Warp, list []*machine.AsyncEffect) {
	for _, e := range list {
		if w.Err != nil || !resolveEffect(w, e) {
			return
		}
		issueEffect(w, e)
	}
}

// issueEffect makes an effect pending, or executes it at once if it must not be deferred. Its addresses must be valid.
func issueEffect(w *machine.Warp, e *machine.AsyncEffect) {
	c := w.CTA
	cl, a := c.Cluster, &c.AsyncState
	c.Changed = true
	var l *machine.AsyncThread // nil: the effect is in no group
	if e.Op.Bulk {
		l = threadOf(a, c, w.ThreadIndex(e.Lane))
		e.Group = l.Groups
	} else if len(a.Copies) > 0 {
		e.Group = groupsOf(queueOf(w, e.Lane/32), e.Lane%32)
	}
	e.Sequence = cl.Sequence
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
	if e.Tensor != nil { // even if the effect completes at an mbarrier, a wait for its group waits for the read of its tensor map
		l.Pending = slices.DeleteFunc(l.Pending, func(e *machine.AsyncEffect) bool {
			if !e.Done || e.Tensor == nil {
				return false
			}
			freeEffect(e)
			return true
		})
	}
	if l != nil && (!e.Op.NotifiesMbarrier || e.Tensor != nil) {
		l.Pending = append(l.Pending, e)
	}
	chargeEffect(e, uint64(unsafe.Sizeof(*e))+uint64(len(e.Data)))
	w.Err = limitEffects(c)
}

// chargeEffect adds n bytes to the host memory of a pending effect.
func chargeEffect(e *machine.AsyncEffect, n uint64) {
	e.KeptBytes += n
	e.CTA.AsyncState.KeptBytes += n
}

// MaxEffectBytes returns the maximum host memory of the pending effects of a CTA, in bytes.
func MaxEffectBytes(g *machine.Grid) uint64 { return 1<<20 + uint64(g.Threads)<<13 }

// limitEffects executes the oldest pending effects of the CTA if all pending effects exceed the memory limit, until half of
// the limit is used. PTX permits a pending effect to happen at any time.
func limitEffects(c *machine.CTA) error {
	limit := MaxEffectBytes(c.Grid)
	if c.AsyncState.KeptBytes <= limit {
		return nil
	}
	for _, p := range pendingEffects(c) {
		if c.AsyncState.KeptBytes <= limit/2 {
			break
		}
		if err := p.execute(c); err != nil {
			return err
		}
	}
	for i := range c.AsyncState.Lanes {
		l := &c.AsyncState.Lanes[i]
		l.Pending = slices.DeleteFunc(l.Pending, func(e *machine.AsyncEffect) bool { return e.Done })
	}
	for i := range c.AsyncState.Copies {
		dropDoneCopies(&c.AsyncState, &c.AsyncState.Copies[i])
	}
	dropEffects(c.Cluster, func(e *machine.AsyncEffect) bool { return e.Done })
	return nil
}

// pendingEffect is an effect, or the copy of a lane of a cp.async.
type pendingEffect struct {
	sequence int64
	effect   *machine.AsyncEffect // nil: the copy of lane
	copy     *native.WarpCopy
	lane     int
}

// execute executes the effect, unless it has happened already.
func (p *pendingEffect) execute(c *machine.CTA) error {
	if p.effect != nil {
		return executeEffect(p.effect)
	}
	return executeLane(c, p.copy, p.lane)
}

// pendingEffects returns all pending effects of the CTA, in the order of issue.
func pendingEffects(c *machine.CTA) (list []pendingEffect) {
	if c.AsyncState.KeptBytes == 0 {
		return nil
	}
	all := map[*machine.AsyncEffect]bool{}
	for i := range c.AsyncState.Lanes {
		for _, e := range c.AsyncState.Lanes[i].Pending {
			all[e] = !e.Done
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
	for e, pending := range all {
		if pending {
			list = append(list, pendingEffect{sequence: e.Sequence, effect: e})
		}
	}
	for i := range c.AsyncState.Copies {
		for _, number := range c.AsyncState.Copies[i].Pending {
			p := c.AsyncState.Objects[number]
			for m := p.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros32(m)
				list = append(list, pendingEffect{sequence: p.LaneSequence(lane), copy: p, lane: lane})
			}
		}
	}
	slices.SortFunc(list, func(a, b pendingEffect) int { return cmp.Compare(a.sequence, b.sequence) })
	return list
}

// awaitEffects completes a wait of a thread for its groups of bulk operations, except the last keepGroups of them. It
// executes the effects of these groups or, with read, only reads their sources.
func awaitEffects(c *machine.CTA, l *machine.AsyncThread, read bool, keepGroups int) error {
	n, err := 0, error(nil)
	for ; n < len(l.Pending) && l.Pending[n].Group < l.Groups-keepGroups && !read && err == nil; n++ {
		e := l.Pending[n]
		if !e.Done && e.Op.NotifiesMbarrier { // it stays in the list of the mbarrier
			err = readTensorMap(e)
			continue
		}
		if err = executeEffect(e); err == nil {
			freeEffect(e)
		}
	}
	l.Pending = slices.Delete(l.Pending, 0, n)
	if err != nil {
		return err
	}
	if !read || l.Groups-keepGroups <= l.GroupsRead {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.Pending, l.GroupsRead, func(e *machine.AsyncEffect, group int) int { return cmp.Compare(e.Group, group) })
	l.GroupsRead = l.Groups - keepGroups
	for _, e := range l.Pending[i:] {
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
	for _, p := range pendingEffects(c) {
		if err := p.execute(c); err != nil {
			return err
		}
	}
	dropEffects(c.Cluster, func(e *machine.AsyncEffect) bool { return e.CTA == c })
	err := finishTensor(c)
	c.AsyncState.Reset()
	return err
}

// dropEffects removes matching effects from the lists of effects that complete at mbarriers.
func dropEffects(cl *machine.Cluster, match func(*machine.AsyncEffect) bool) {
	for addr := range cl.Pending {
		dropEffectsAt(cl, addr, match)
	}
}

// dropEffectsAt removes matching effects from the list of effects that complete at the mbarrier at addr.
func dropEffectsAt(cl *machine.Cluster, addr uint64, match func(*machine.AsyncEffect) bool) {
	if cl.Pending[addr] = slices.DeleteFunc(cl.Pending[addr], match); len(cl.Pending[addr]) == 0 {
		delete(cl.Pending, addr)
	}
}

// CopyEffects replaces the asynchronous state of a cluster by a copy of another cluster's state. The CTAs correspond by
// rank. Copy and original share nothing that changes.
func CopyEffects(cl *machine.Cluster, other *machine.Cluster) {
	copies := map[*machine.AsyncEffect]*machine.AsyncEffect{}
	copyList := func(old []*machine.AsyncEffect) (list []*machine.AsyncEffect) {
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
				c.AsyncState.Lanes[i].Pending = copyList(old.Lanes[i].Pending)
			}
		}
		cloneCopies(&c.AsyncState, &other.CTAs[r].AsyncState)
	}
	ctas, shared := cl.CTAs, cl.Shared
	*cl = *other
	cl.CTAs, cl.Shared, cl.InstrsLeft, cl.Pending = ctas, shared, slices.Clone(other.InstrsLeft), nil
	cl.FreeEffects, cl.FreeTensors = nil, nil
	cl.Pipes = nil
	for _, old := range other.Pipes {
		cl.Pipes = append(cl.Pipes, copyList(old))
	}
	if other.Pending != nil {
		cl.Pending = map[uint64][]*machine.AsyncEffect{}
		for addr, old := range other.Pending {
			cl.Pending[addr] = copyList(old)
		}
	}
}
