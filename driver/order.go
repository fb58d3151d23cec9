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

// with is what either says.
func (c clock) with(o clock) clock {
	if len(c) < len(o) {
		c, o = o, c
	}
	if o.within(c) {
		return c
	}
	n := slices.Clone(c)
	for i, at := range o {
		n[i] = max(n[i], at)
	}
	return n
}

// within reports whether o, which is no shorter, says all that c does.
func (c clock) within(o clock) bool {
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
	on    bool     // somebody wants to know
	lines []uint64 // how many operations there have been on each
	given []int    // lines that are used no more
	known clock    // what the host knows to be over
	last  *task    // that was submitted
}

// line is a new line, or one whose operations the host knows to be over.
func (o *ordering) line() int {
	for i, l := range o.given {
		if l < len(o.known) && o.lines[l] <= o.known[l] || o.lines[l] == 0 {
			o.given = slices.Delete(o.given, i, i+1)
			return l
		}
	}
	o.lines = append(o.lines, 0)
	return len(o.lines) - 1
}

// giveBack is for lines on which nothing is submitted any more.
func (o *ordering) giveBack(lines ...int) { o.given = append(o.given, lines...) }

// next is the order of an operation that is submitted, after others.
func (o *ordering) next(line int, name, stream string, after clock) *interp.Order {
	o.lines[line]++
	at := o.lines[line]
	return &interp.Order{Line: line, At: at, Before: o.known.with(after).upTo(line, at), Past: o.known, Name: name, Stream: stream}
}

// learn is for the host that knows operations to be over.
func (o *ordering) learn(tasks []*task) {
	for _, t := range tasks {
		if t != nil && t.order != nil {
			o.known = o.known.with(t.order.Before)
		}
	}
}

// learnBefore is for the host that knows all to be over that an operation comes after.
func (o *ordering) learnBefore(x *interp.Order) {
	if x != nil {
		o.known = o.known.with(clock(x.Before).upTo(x.Line, x.At-1))
	}
}

// hostKnows is for a function of the host that runs in a stream's turn: the host knows all to be
// over that it comes after.
func (d *Driver) hostKnows(x *interp.Order) {
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

// gone is for a stream without work that is used no more: what it has done, operations may still
// have to come after.
func (s *Stream) gone() {
	c := s.ctx
	delete(c.streams, s)
	if s.last != nil && s.last.order != nil {
		past := &c.past[0]
		if s.nonBlocking {
			past = &c.past[1]
		}
		*past = past.with(s.last.order.Before)
	}
	c.dev.d.ordering.giveBack(s.line)
}

// learnPast is for the host that waits for the stream: of those that are gone, which have no work, it
// waits for what the stream comes after. d.mu is held.
func (s *Stream) learnPast() {
	if o := &s.ctx.dev.d.ordering; s == s.ctx.legacy {
		o.known = o.known.with(s.ctx.past[0])
	}
}

// chains gives the nodes of a graph lines, of which each has one node after the other; after is
// which come before each, all of them with lower indices. It gives how many lines there are.
func chains(after [][]int) (lines []int, n int) {
	goesOn := make([]bool, len(after))
	for _, before := range after {
		line := -1
		for _, b := range before {
			if !goesOn[b] {
				goesOn[b], line = true, lines[b]
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
