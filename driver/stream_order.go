package driver

// This file computes, for probes, the order of operations enforced by a program. Race detection uses this order, not
// the order in which operations happened to run (PTX manual 8.9.4, "CUDA API synchronization").
//
// Each stream is a line of operations, and so is each chain of nodes of a graph. An operation comes after the previous
// operation of its line, after the awaited events of its stream, and after all operations whose end the host knew at
// the submission. Host threads count as ordered among themselves, because gemu does not see their synchronisation.
//
// If a probe requires events in a single order, operations also run in the order of submission. This is legal: streams
// may run concurrently, but need not.

import (
	"fmt"
	"slices"

	"gemu/probe"
)

// clock holds, for each line, the number of operations at its start, ended or before some operation.
type clock []uint64

// union returns the element-wise maximum.
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

// isWithin reports whether no element of c is greater than in o, which must not be shorter.
func (c clock) isWithin(o clock) bool {
	for i, at := range c {
		if at > o[i] {
			return false
		}
	}
	return true
}

// upTo returns a copy of the clock in which the element of line is at.
func (c clock) upTo(line int, at uint64) clock {
	n := make(clock, max(len(c), line+1))
	copy(n, c)
	n[line] = at
	return n
}

// ordering is a driver's knowledge about the order of operations. The driver's mutex guards it.
type ordering struct {
	enabled   bool     // a probe needs the order
	lines     []uint64 // number of operations ever submitted on each line
	freeLines []int    // lines that take no more operations
	known     clock    // operations whose end the host knows
	last      *task    // the last task submitted
}

// newLine returns an unused line, or a free line whose operations have all ended, as the host knows.
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

// releaseLines frees lines that take no more operations.
func (o *ordering) releaseLines(lines ...int) { o.freeLines = append(o.freeLines, lines...) }

// newOrder returns the order of an operation submitted after the given clock.
func (o *ordering) newOrder(line int, name, stream string, after clock) *probe.HostOrder {
	o.lines[line]++
	at := o.lines[line]
	return &probe.HostOrder{Line: line, Clock: at, Before: o.known.union(after).upTo(line, at), Ended: o.known, Name: name, Stream: stream}
}

// learn records that the host knows the end of tasks.
func (o *ordering) learn(tasks []*task) {
	for _, t := range tasks {
		if t != nil && t.order != nil {
			o.known = o.known.union(t.order.Before)
		}
	}
}

// learnBefore records that the host knows the end of all predecessors of an operation.
func (o *ordering) learnBefore(x *probe.HostOrder) {
	if x != nil {
		o.known = o.known.union(clock(x.Before).upTo(x.Line, x.Clock-1))
	}
}

// hostKnows records, for a host function in a stream, that the host knows the end of all its predecessors.
func (d *Driver) hostKnows(x *probe.HostOrder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ordering.learnBefore(x)
}

// name returns the name of the stream in messages.
func (s *Stream) name() string {
	switch {
	case s == s.ctx.legacy:
		return "the default stream"
	case s.perThread:
		return "the default stream of a thread"
	}
	return fmt.Sprintf("stream %#x", uint64(s.handle))
}

// remove removes an idle stream that takes no more work. Its clock is kept: later operations may still come after its
// work.
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

// learnPredecessors records the knowledge of a host after a wait for the stream: a wait for the default stream covers
// destroyed blocking streams, too. The caller must hold d.mu.
func (s *Stream) learnPredecessors() {
	if o := &s.ctx.dev.d.ordering; s == s.ctx.legacy {
		o.known = o.known.union(s.ctx.endedClocks[0])
	}
}

// chains assigns the nodes of a graph to lines, in which the nodes of a line are in sequence. after lists the
// predecessors of each node, which must have lower indices. n is the number of lines.
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
