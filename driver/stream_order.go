package driver

// This file computes, for probes, the order of operations that a program enforces. Race detection uses this order, not
// the order in which operations happened to run (PTX manual 8.9.4, "CUDA API synchronization").
//
// Each stream is a line, a sequence of operations, and so is each chain of nodes of a graph. An operation comes after the
// previous operation of its line, after the events for which its stream waits, and after all operations whose end the
// host knew at the submission. Host threads count as a single thread, because gemu does not see how they synchronise.

import (
	"fmt"
	"slices"

	"gemu/probe"
)

// clock is a set of operations (a vector clock): for each line, the number of its first operations that are in the set.
type clock []uint64

// union returns the union of two sets: the element-wise maximum.
func (c clock) union(o clock) clock {
	if len(c) < len(o) {
		c, o = o, c
	}
	if o.isWithin(c) {
		return c
	}
	joined := slices.Clone(c)
	for line, n := range o {
		joined[line] = max(joined[line], n)
	}
	return joined
}

// isWithin reports whether c is a subset of o, which must not be shorter.
func (c clock) isWithin(o clock) bool {
	for line, n := range c {
		if n > o[line] {
			return false
		}
	}
	return true
}

// upTo returns a copy of the clock in which the number for a line is n.
func (c clock) upTo(line int, n uint64) clock {
	changed := make(clock, max(len(c), line+1))
	copy(changed, c)
	changed[line] = n
	return changed
}

// ordering holds the order of a driver's operations. The driver's mutex guards it.
type ordering struct {
	enabled   bool     // a probe needs the order
	lines     []uint64 // number of operations ever submitted on each line
	freeLines []int    // lines that get no more operations from their stream or graph
	known     clock    // operations whose end the host knows
}

// newLine returns a free line if the host knows the end of all its operations, and otherwise a new line.
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

// releaseLines makes lines free, which must get no more operations.
func (o *ordering) releaseLines(lines ...int) { o.freeLines = append(o.freeLines, lines...) }

// newOrder returns the order of a new operation at the end of a line. The operation comes after its predecessors.
func (o *ordering) newOrder(line int, name, stream string, predecessors clock) *probe.HostOrder {
	o.lines[line]++
	n := o.lines[line]
	return &probe.HostOrder{Line: line, Clock: n, Before: o.known.union(predecessors).upTo(line, n), Ended: o.known, Name: name, Stream: stream}
}

// learn records that the host knows the end of tasks. Tasks may be nil.
func (o *ordering) learn(tasks []*task) {
	for _, t := range tasks {
		if t != nil && t.order != nil {
			o.known = o.known.union(t.order.Before)
		}
	}
}

// learnBefore records that the host knows the end of all operations before x. x may be nil.
func (o *ordering) learnBefore(x *probe.HostOrder) {
	if x != nil {
		o.known = o.known.union(clock(x.Before).upTo(x.Line, x.Clock-1))
	}
}

// hostKnows is learnBefore for a function of the host that runs as operation x of a stream. It locks the driver.
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

// remove removes an idle stream that gets no more work. The context keeps the stream's clock, because later operations may
// come after the stream's work.
func (s *Stream) remove() {
	c := s.ctx
	delete(c.streams, s)
	if s.last != nil && s.last.order != nil {
		ended := &c.endedClocks[0]
		if s.nonBlocking {
			ended = &c.endedClocks[1]
		}
		*ended = ended.union(s.last.order.Before)
	}
	c.dev.d.ordering.releaseLines(s.line)
}

// learnPredecessors records that the host knows the end of the work of destroyed blocking streams, if s is the default
// stream. It is for a wait for s, which covers that work, too. The caller must hold d.mu.
func (s *Stream) learnPredecessors() {
	if o := &s.ctx.dev.d.ordering; s == s.ctx.legacy {
		o.known = o.known.union(s.ctx.endedClocks[0])
	}
}

// chains assigns each node of a graph to a line. Each node of a line is a successor of the previous node of the line.
// predecessors lists the predecessors of each node, which must have lower indices. n is the number of lines.
func chains(predecessors [][]int) (lines []int, n int) {
	continues := make([]bool, len(predecessors))
	for _, list := range predecessors {
		line := -1
		for _, p := range list {
			if !continues[p] {
				continues[p], line = true, lines[p]
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
