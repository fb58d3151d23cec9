package driver

// This file is which operations a program has ordered, for probes: sanitizers judge that, and not
// in which order operations happened to run (PTX manual 8.9.4, "CUDA API synchronization").
//
// Each stream is a line of operations, and each chain of a graph's nodes. An operation comes after
// the one before it on its stream, after what its stream waits for there, and after all that the
// host knew to be over as it submitted it. What the host's threads do counts as ordered, for what
// they tell each other is not seen.
//
// Where a probe wants events in one order, operations also run in the order in which they were
// submitted. No program may rely on more: streams may run side by side, but need not.

import (
	"fmt"
	"slices"

	"gemu/interp"
)

// clock is, by line, up to which of its operations all are over, or come before something.
type clock []uint64

// union is what either says.
func (c clock) union(o clock) clock {
	if len(c) < len(o) {
		c, o = o, c
	}
	if o.isWithin(c) {
		return c
	}
	n := slices.Clone(c)
	for i, at := range o {
		n[i] = max(n[i], at)
	}
	return n
}

// isWithin reports whether o, which is no shorter, says all that c does.
func (c clock) isWithin(o clock) bool {
	for i, at := range c {
		if at > o[i] {
			return false
		}
	}
	return true
}

// upTo is the clock with the operations of a line up to one.
func (c clock) upTo(line int, at uint64) clock {
	n := make(clock, max(len(c), line+1))
	copy(n, c)
	n[line] = at
	return n
}

// ordering is what a driver knows of the order of operations. The driver's mutex guards it.
type ordering struct {
	enabled   bool     // somebody wants to know
	lines     []uint64 // how many operations there have been on each
	freeLines []int    // lines that are used no more
	known     clock    // what the host knows to be over
	last      *task    // that was submitted
}

// newLine is a new line, or one whose operations the host knows to be over.
func (o *ordering) newLine() int {
	for i, l := range o.freeLines {
		if l < len(o.known) && o.lines[l] <= o.known[l] || o.lines[l] == 0 {
			o.freeLines = slices.Delete(o.freeLines, i, i+1)
			return l
		}
	}
	o.lines = append(o.lines, 0)
	return len(o.lines) - 1
}

// releaseLines is for lines on which nothing is submitted any more.
func (o *ordering) releaseLines(lines ...int) { o.freeLines = append(o.freeLines, lines...) }

// newOrder is the order of an operation that is submitted, after others.
func (o *ordering) newOrder(line int, name, stream string, after clock) *interp.HostOrder {
	o.lines[line]++
	at := o.lines[line]
	return &interp.HostOrder{Line: line, Clock: at, Before: o.known.union(after).upTo(line, at), Ended: o.known, Name: name, Stream: stream}
}

// learn is for the host that knows operations to be over.
func (o *ordering) learn(tasks []*task) {
	for _, t := range tasks {
		if t != nil && t.order != nil {
			o.known = o.known.union(t.order.Before)
		}
	}
}

// learnBefore is for the host that knows all to be over that an operation comes after.
func (o *ordering) learnBefore(x *interp.HostOrder) {
	if x != nil {
		o.known = o.known.union(clock(x.Before).upTo(x.Line, x.Clock-1))
	}
}

// hostKnows is for a function of the host that runs in a stream's turn: the host knows all to be
// over that it comes after.
func (d *Driver) hostKnows(x *interp.HostOrder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ordering.learnBefore(x)
}

// name is what messages call the stream.
func (s *Stream) name() string {
	switch {
	case s == s.ctx.legacy:
		return "the default stream"
	case s.perThread:
		return "the default stream of a thread"
	}
	return fmt.Sprintf("stream %#x", uint64(s.handle))
}

// remove is for a stream without work that is used no more: what it has done, operations may still
// have to come after.
func (s *Stream) remove() {
	c := s.ctx
	delete(c.streams, s)
	if s.last != nil && s.last.order != nil {
		past := &c.endedClocks[0]
		if s.nonBlocking {
			past = &c.endedClocks[1]
		}
		*past = past.union(s.last.order.Before)
	}
	c.dev.d.ordering.releaseLines(s.line)
}

// learnPredecessors is for the host that waits for the stream: of those that are gone, which have no work, it
// waits for what the stream comes after. d.mu is held.
func (s *Stream) learnPredecessors() {
	if o := &s.ctx.dev.d.ordering; s == s.ctx.legacy {
		o.known = o.known.union(s.ctx.endedClocks[0])
	}
}

// chains gives the nodes of a graph lines, of which each has one node after the other; after is
// which come before each, all of them with lower indices. It gives how many lines there are.
func chains(after [][]int) (lines []int, n int) {
	continues := make([]bool, len(after))
	for _, before := range after {
		line := -1
		for _, b := range before {
			if !continues[b] {
				continues[b], line = true, lines[b]
				break
			}
		}
		if line < 0 {
			line = n
			n++
		}
		lines = append(lines, line)
	}
	return lines, n
}
