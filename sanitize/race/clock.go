package race

// This file is what threads know of each other: clocks.
//
// A launch has one count of moments, which goes on with each synchronisation. What a thread does
// bears the moment at which it does it; a clock says up to which moment what others have done has
// happened before. Clocks never change: threads that have met share one.

import (
	"cmp"
	"slices"
)

type moment uint32

// agent is who accesses memory: a thread, several of a warp at once, or a channel.
type agent uint32

// The lower bits of a thread are its lane, or above 63 the set of lanes that a run has given a
// number; the warp is above them.
const (
	laneBits         = 16
	channelBit agent = 1 << 31 // asynchronous operations that are waited for together
)

func threadOf(warp, lane int) agent { return agent(warp<<laneBits | lane) }

func (a agent) warp() int { return int(a >> laneBits) }
func (a agent) lane() int { return int(a & (1<<laneBits - 1)) }

// known is up to which moments what is done in a CTA is known.
type known struct {
	all      moment          // by all its threads
	warps    []moment        // by those of a warp; nil: nothing further
	lanes    [][]moment      // by warp and lane; nil, as the list of a warp: nothing further
	channels []channelMoment // by channel
}

// channel finds a channel, or where it belongs.
func (k *known) channel(a agent) (int, bool) {
	return slices.BinarySearchFunc(k.channels, a, func(c channelMoment, a agent) int { return cmp.Compare(c.channel, a) })
}

type channelMoment struct {
	channel agent
	at      moment
}

// of is what is known of an agent that is no set of lanes.
func (k *known) of(a agent) moment {
	if a&channelBit != 0 {
		if i, ok := k.channel(a); ok {
			return k.channels[i].at
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

// latest is the last moment of which anything is known.
func (k *known) latest() moment {
	m := k.all
	for _, at := range k.warps {
		m = max(m, at)
	}
	for _, list := range k.lanes {
		for _, at := range list {
			m = max(m, at)
		}
	}
	for _, c := range k.channels {
		m = max(m, c.at)
	}
	return m
}

// clone is a copy that may be changed.
func (k *known) clone() *known {
	c := &known{all: k.all, warps: slices.Clone(k.warps), lanes: slices.Clone(k.lanes), channels: slices.Clone(k.channels)}
	for i, list := range c.lanes {
		c.lanes[i] = slices.Clone(list)
	}
	return c
}

// clock is what a thread knows, by CTA; nil knows nothing.
type clock struct {
	ctas []ctaKnown // by index
}

type ctaKnown struct {
	cta int32
	*known
}

func (c *clock) find(cta int32) *known {
	if c == nil {
		return nil
	}
	if len(c.ctas) == 1 {
		if c.ctas[0].cta == cta {
			return c.ctas[0].known
		}
		return nil
	}
	if i, ok := slices.BinarySearchFunc(c.ctas, cta, func(k ctaKnown, cta int32) int { return int(k.cta - cta) }); ok {
		return c.ctas[i].known
	}
	return nil
}

// of is what it knows of an agent of a CTA.
func (c *clock) of(cta int32, a agent) moment {
	if k := c.find(cta); k != nil {
		return k.of(a)
	}
	return 0
}

// with is the clock that knows k of a CTA instead of what it knew.
func (c *clock) with(cta int32, k *known) *clock {
	n := &clock{}
	if c != nil {
		n.ctas = slices.Clone(c.ctas)
	}
	i, ok := slices.BinarySearchFunc(n.ctas, cta, func(k ctaKnown, cta int32) int { return int(k.cta - cta) })
	if ok {
		n.ctas[i].known = k
	} else {
		n.ctas = slices.Insert(n.ctas, i, ctaKnown{cta, k})
	}
	return n
}

// own is a copy of what the clock knows of a CTA that has so many warps.
func (c *clock) own(cta int32) *known {
	if k := c.find(cta); k != nil {
		return k.clone()
	}
	return &known{}
}

// learn has k know what an agent has done up to now. There are so many warps, of so many lanes.
func (k *known) learn(a agent, now moment, warps, width int) {
	if a&channelBit != 0 {
		i, ok := k.channel(a)
		if !ok {
			k.channels = slices.Insert(k.channels, i, channelMoment{channel: a})
		}
		k.channels[i].at = max(k.channels[i].at, now)
		return
	}
	if k.lanes == nil {
		k.lanes = make([][]moment, warps)
	}
	w := a.warp()
	if k.lanes[w] == nil {
		k.lanes[w] = make([]moment, width)
	}
	k.lanes[w][a.lane()] = now
}

// learnWarp has k know what all threads of a warp have done up to now.
func (k *known) learnWarp(warp int, now moment, warps int) {
	if k.warps == nil {
		k.warps = make([]moment, warps)
	}
	k.warps[warp] = now
	if k.lanes != nil {
		k.lanes[warp] = nil
	}
}

// learnAll has k know what all threads of the CTA have done up to now.
func (k *known) learnAll(now moment) { k.all, k.warps, k.lanes = now, nil, nil }

// join is what either knows.
func join(a, b *clock) *clock {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	n := &clock{ctas: make([]ctaKnown, 0, max(len(a.ctas), len(b.ctas)))}
	isA, isB := true, true
	x, y := a.ctas, b.ctas
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].cta < y[0].cta:
			n.ctas, isB = append(n.ctas, x[0]), false
			x = x[1:]
		case len(x) == 0 || y[0].cta < x[0].cta:
			n.ctas, isA = append(n.ctas, y[0]), false
			y = y[1:]
		default:
			k := joinKnown(x[0].known, y[0].known)
			isA, isB = isA && k == x[0].known, isB && k == y[0].known
			n.ctas = append(n.ctas, ctaKnown{x[0].cta, k})
			x, y = x[1:], y[1:]
		}
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	return n
}

// joinKnown is what either knows: a or b itself, if it knows all that the other does.
func joinKnown(a, b *known) *known {
	switch {
	case a == b || b.within(a):
		return a
	case a.within(b):
		return b
	}
	n := a.clone()
	n.all = max(a.all, b.all)
	for w, at := range b.warps {
		if n.warps == nil {
			n.warps = make([]moment, len(b.warps))
		}
		n.warps[w] = max(n.warps[w], at)
	}
	for w, list := range b.lanes {
		if list == nil {
			continue
		}
		if n.lanes == nil {
			n.lanes = make([][]moment, len(b.lanes))
		}
		if n.lanes[w] == nil {
			n.lanes[w] = slices.Clone(list)
			continue
		}
		for l, at := range list {
			n.lanes[w][l] = max(n.lanes[w][l], at)
		}
	}
	for _, c := range b.channels {
		n.learn(c.channel, c.at, 0, 0)
	}
	return n
}

// within reports whether o is sure to know all that k does.
func (k *known) within(o *known) bool {
	if k.all > o.all {
		return false
	}
	for w, at := range k.warps {
		if at > o.all && (o.warps == nil || at > o.warps[w]) {
			return false
		}
	}
	for w, list := range k.lanes {
		for l, at := range list {
			if at > o.of(threadOf(w, l)) {
				return false
			}
		}
	}
	for _, c := range k.channels {
		if c.at > o.of(c.channel) {
			return false
		}
	}
	return true
}
