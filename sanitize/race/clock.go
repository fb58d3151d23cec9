package race

// This file implements the vector clocks of threads.
//
// A run counts moments; every synchronisation begins the next. Each access bears its moment. The clock of a
// thread states, for every other thread, up to which moment its accesses happened before now. Clocks are
// immutable: synchronised threads share a clock, and similar clocks share most of their structure.

import (
	"cmp"
	"math/bits"
	"slices"
)

type moment uint32

// agent is the author of an access: a thread, a set of lanes of a warp, or a channel.
type agent uint32

// Layout of an agent: the lane in the lower bits (from maxWidth on: the number of a set of lanes), the warp
// above.
const (
	laneBits         = 16
	channelBit agent = 1 << 31 // a channel of asynchronous operations with a common wait
)

func threadIndex(warp, lane int) agent { return agent(warp<<laneBits | lane) }

func (a agent) warp() int { return int(a >> laneBits) }
func (a agent) lane() int { return int(a & (1<<laneBits - 1)) }

// agentMoments holds, for a CTA, the known moment of each thread and channel. Lists of lanes are shared and
// immutable.
type agentMoments struct {
	all      moment          // known of all threads
	latest   moment          // maximum of all moments
	warps    []moment        // known of all lanes of each warp; nil: no more than all
	lanes    [][]moment      // by warp and lane; nil, also for a single warp: no more than warps
	channels []channelMoment // sorted by channel
}

// channel returns the index of a channel, or its insertion point and false.
func (k *agentMoments) channel(a agent) (int, bool) {
	return slices.BinarySearchFunc(k.channels, a, func(c channelMoment, a agent) int { return cmp.Compare(c.channel, a) })
}

type channelMoment struct {
	channel agent
	moment  moment
}

// momentOf returns the known moment of a thread or channel.
func (k *agentMoments) momentOf(a agent) moment {
	if a&channelBit != 0 {
		if i, ok := k.channel(a); ok {
			return k.channels[i].moment
		}
		return 0
	}
	m, w := k.all, a.warp()
	if k.warps != nil {
		m = max(m, k.warps[w])
	}
	if k.lanes != nil && k.lanes[w] != nil {
		m = max(m, k.lanes[w][a.lane()])
	}
	return m
}

// clone returns a copy for modification.
func (k *agentMoments) clone() *agentMoments {
	c := *k
	c.warps, c.lanes, c.channels = slices.Clone(k.warps), slices.Clone(k.lanes), slices.Clone(k.channels)
	return &c
}

// learn sets the known moment of an agent to now. A CTA has warps warps of width lanes.
func (k *agentMoments) learn(a agent, now moment, warps, width int) {
	k.latest = max(k.latest, now)
	if a&channelBit != 0 {
		i, ok := k.channel(a)
		if !ok {
			k.channels = slices.Insert(k.channels, i, channelMoment{channel: a})
		}
		k.channels[i].moment = max(k.channels[i].moment, now)
		return
	}
	if k.lanes == nil {
		k.lanes = make([][]moment, warps)
	}
	w := a.warp()
	list := make([]moment, width)
	copy(list, k.lanes[w])
	list[a.lane()] = now
	k.lanes[w] = list
}

// learnWarp sets the known moment of all threads of a warp to now.
func (k *agentMoments) learnWarp(warp int, now moment, warps int) {
	k.latest = max(k.latest, now)
	if k.warps == nil {
		k.warps = make([]moment, warps)
	}
	k.warps[warp] = now
	if k.lanes != nil {
		k.lanes[warp] = nil
	}
}

// learnAll sets the known moment of all threads of the CTA to now.
func (k *agentMoments) learnAll(now moment) {
	k.all, k.latest, k.warps, k.lanes = now, max(k.latest, now), nil, nil
}

// clock is the knowledge of a thread. A nil clock knows nothing.
type clock struct {
	all    *clockTree
	fenced *clockTree // the part before a proxy fence, which the asynchronous proxy sees, too
}

// momentOf returns the known moment of an agent of a CTA.
func (c *clock) momentOf(cta int32, a agent) moment {
	if k := c.find(cta); k != nil {
		return k.momentOf(a)
	}
	return 0
}

func (c *clock) find(cta int32) *agentMoments {
	if c == nil {
		return nil
	}
	return c.all.find(cta)
}

// isFenced reports whether a proxy fence follows the actions of an agent up to moment when.
func (c *clock) isFenced(cta int32, a agent, when moment) bool {
	if c == nil {
		return false
	}
	k := c.fenced.find(cta)
	return k != nil && k.momentOf(a) >= when
}

// own returns a modifiable copy of the knowledge of a CTA.
func (c *clock) own(cta int32) *agentMoments {
	if k := c.find(cta); k != nil {
		return k.clone()
	}
	return &agentMoments{}
}

// withKnown returns the clock with k as its knowledge of a CTA. k must include all that the clock knew of the
// CTA.
func (c *clock) withKnown(cta int32, k *agentMoments) *clock {
	if c == nil {
		return &clock{all: leaf(cta, k)}
	}
	return &clock{mergeTrees(c.all, leaf(cta, k), false), c.fenced}
}

// proxyFence returns the clock after a proxy fence.
func (c *clock) proxyFence() *clock { return &clock{c.all, mergeTrees(c.fenced, c.all, true)} }

// knowsSince reports whether the clock knows a moment at or after when of any CTA except a given CTA.
func (c *clock) knowsSince(when moment, except int32) bool {
	return c != nil && c.all.knowsSince(when, except)
}

// before calls f for each known CTA with a lower number than cta until f returns true.
func (c *clock) before(cta int32, f func(cta int32) bool) bool {
	return c != nil && c.all.before(cta, f)
}

// joinClocks returns the union of two clocks: a or b itself if it includes both.
func joinClocks(a, b *clock) *clock {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	switch n := (clock{mergeTrees(a.all, b.all, true), mergeTrees(a.fenced, b.fenced, true)}); n {
	case *a:
		return a
	case *b:
		return b
	default:
		return &n
	}
}

// clockTree maps CTAs to known moments: a Patricia tree over the bits of the CTA's number (Okasaki and Gill
// 1998, "Fast Mergeable Integer Maps"). Derived clocks share all but a few branches.
type clockTree struct {
	cta                 int32         // CTA of a leaf; in a branch: any CTA below it
	bit                 uint32        // the bit that divides the CTAs below a branch; 0: a leaf
	latest              moment        // maximum of all moments below
	withoutBit, withBit *clockTree    // the CTAs with the bit clear, and with the bit set
	known               *agentMoments // moments of a leaf
}

func leaf(cta int32, k *agentMoments) *clockTree {
	return &clockTree{cta: cta, latest: k.latest, known: k}
}

// branch returns a branch with two subtrees.
func branch(bit uint32, left, right *clockTree) *clockTree {
	return &clockTree{cta: left.cta, bit: bit, latest: max(left.latest, right.latest), withoutBit: left, withBit: right}
}

// contains reports whether the branch covers the number of a CTA.
func (c *clockTree) contains(cta int32) bool { return uint32(c.cta^cta)&^(2*c.bit-1) == 0 }

func (c *clockTree) find(cta int32) *agentMoments {
	if c == nil {
		return nil
	}
	for c.bit != 0 {
		if uint32(cta)&c.bit == 0 {
			c = c.withoutBit
		} else {
			c = c.withBit
		}
	}
	if c.cta != cta {
		return nil
	}
	return c.known
}

// knowsSince reports whether a moment at or after when is known of any CTA except a given CTA.
func (c *clockTree) knowsSince(when moment, except int32) bool {
	if c == nil || c.latest < when {
		return false
	}
	if c.bit == 0 {
		return c.cta != except
	}
	return c.withoutBit.knowsSince(when, except) || c.withBit.knowsSince(when, except)
}

// before calls f for each CTA with a lower number than cta until f returns true.
func (c *clockTree) before(cta int32, f func(cta int32) bool) bool {
	if c == nil {
		return false
	}
	if c.bit == 0 {
		return c.cta < cta && f(c.cta)
	}
	if c.withoutBit.before(cta, f) {
		return true
	}
	return uint32(c.cta)&^(2*c.bit-1)|c.bit < uint32(cta) && c.withBit.before(cta, f)
}

// mergeTrees returns the union of two trees: a itself if it includes b. Where both trees know a CTA and both is
// false, b's knowledge must include a's.
func mergeTrees(a, b *clockTree, both bool) *clockTree {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	case a.bit == 0 && b.bit == 0 && a.cta == b.cta:
		if !both {
			return b
		}
		switch k := joinMoments(a.known, b.known); k {
		case a.known:
			return a
		case b.known:
			return b
		default:
			return leaf(a.cta, k)
		}
	case a.bit == b.bit && a.bit != 0 && a.contains(b.cta):
		return pick(a.bit, mergeTrees(a.withoutBit, b.withoutBit, both), mergeTrees(a.withBit, b.withBit, both), a, b)
	case a.bit > b.bit && a.contains(b.cta):
		if uint32(b.cta)&a.bit == 0 {
			return pick(a.bit, mergeTrees(a.withoutBit, b, both), a.withBit, a, nil)
		}
		return pick(a.bit, a.withoutBit, mergeTrees(a.withBit, b, both), a, nil)
	case b.bit > a.bit && b.contains(a.cta):
		if uint32(a.cta)&b.bit == 0 {
			return pick(b.bit, mergeTrees(a, b.withoutBit, both), b.withBit, b, nil)
		}
		return pick(b.bit, b.withoutBit, mergeTrees(a, b.withBit, both), b, nil)
	}
	bit := uint32(1) << (bits.Len32(uint32(a.cta^b.cta)) - 1)
	if uint32(a.cta)&bit == 0 {
		return branch(bit, a, b)
	}
	return branch(bit, b, a)
}

// pick returns a branch with two subtrees, or a or b if it has the same subtrees.
func pick(bit uint32, left, right, a, b *clockTree) *clockTree {
	switch {
	case left == a.withoutBit && right == a.withBit:
		return a
	case b != nil && left == b.withoutBit && right == b.withBit:
		return b
	}
	return branch(bit, left, right)
}

// joinMoments returns the union of a and b: a or b itself if it includes both.
func joinMoments(a, b *agentMoments) *agentMoments {
	switch {
	case a == b || b.isWithin(a):
		return a
	case a.isWithin(b):
		return b
	}
	n := &agentMoments{all: max(a.all, b.all), latest: max(a.latest, b.latest), warps: slices.Clone(a.warps), lanes: slices.Clone(a.lanes)}
	n.channels = joinChannels(a.channels, b.channels)
	for w, when := range b.warps {
		if n.warps == nil {
			n.warps = make([]moment, len(b.warps))
		}
		n.warps[w] = max(n.warps[w], when)
	}
	for w, list := range b.lanes {
		if list == nil {
			continue
		}
		if n.lanes == nil {
			n.lanes = make([][]moment, len(b.lanes))
		}
		if n.lanes[w] == nil || &n.lanes[w][0] == &list[0] {
			n.lanes[w] = list
			continue
		}
		merged := slices.Clone(list)
		for l, when := range n.lanes[w] {
			merged[l] = max(merged[l], when)
		}
		n.lanes[w] = merged
	}
	return n
}

// joinChannels returns the union of two sorted lists.
func joinChannels(a, b []channelMoment) []channelMoment {
	if len(b) == 0 {
		return a
	}
	list := make([]channelMoment, 0, max(len(a), len(b))) // mostly, both have the same channels
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.channel < y.channel:
			list, a = append(list, x), a[1:]
		case x.channel > y.channel:
			list, b = append(list, y), b[1:]
		default:
			list, a, b = append(list, channelMoment{x.channel, max(x.moment, y.moment)}), a[1:], b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// areWithin reports whether a sorted list is known to include the sorted list a.
func areWithin(a, list []channelMoment) bool {
	for _, x := range a {
		for len(list) > 0 && list[0].channel < x.channel {
			list = list[1:]
		}
		if len(list) == 0 || list[0].channel != x.channel || list[0].moment < x.moment {
			return false
		}
	}
	return true
}

// isWithin reports whether o is known to include k.
func (k *agentMoments) isWithin(o *agentMoments) bool {
	if k.all > o.all || k.latest > o.latest {
		return false
	}
	for w, when := range k.warps {
		if when > o.all && (o.warps == nil || when > o.warps[w]) {
			return false
		}
	}
	for w, list := range k.lanes {
		if list == nil || o.lanes != nil && o.lanes[w] != nil && &o.lanes[w][0] == &list[0] {
			continue
		}
		for l, when := range list {
			if when > o.momentOf(threadIndex(w, l)) {
				return false
			}
		}
	}
	return areWithin(k.channels, o.channels)
}
