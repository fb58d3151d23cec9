package trace

// This file compares asynchronous operations: the n-th operation that a thread issues in the first log with
// the thread's n-th operation in the second log. It compares the read and written bytes, but not the times.

import (
	"bytes"
	"fmt"
	"gemu/probe"
	"math/bits"
)

// asyncOperations holds the asynchronous operations of a CTA in a log.
type asyncOperations struct {
	issued map[uint64]asyncOrigin // operations that have not written yet, by number in the log
	counts map[int]uint64         // number of issued operations, by thread
	waits  map[asyncStep]*Record  // effects that were not found in the other log yet
	order  []asyncStep            // keys of waits in order of arrival, and keys that are no longer in waits
}

// asyncOrigin identifies an operation by the thread that issued it.
type asyncOrigin struct {
	thread int    // index in the CTA
	n      uint64 // number of operations that the thread issued before
	number uint64 // number of instructions that the thread executed before it issued the operation
}

// asyncStep is the read or the write of an operation.
type asyncStep struct {
	thread int    // index in the CTA
	n      uint64 // number of operations that the thread issued before
	writes bool   // the write; false is the read
}

func (s *asyncOperations) clear() {
	s.issued, s.counts, s.waits, s.order = map[uint64]asyncOrigin{}, map[int]uint64{}, map[asyncStep]*Record{}, nil
}

// effect compares an effect in log i with the same effect in the other log. If the other log was not read up to this effect
// yet, the effect is added to the waiting effects.
func (c *comparison) effect(i int, r *Record) {
	number, _, reads, writes, _ := r.EffectStage()
	s, other := &c.async[i], &c.async[1-i]
	w, ok := s.issued[number]
	if !ok {
		w.thread = c.thread(i, r, bits.TrailingZeros64(r.Lanes|1<<63))
		w.n = s.counts[w.thread]
		s.counts[w.thread]++
		c.growCounts(i, c.thread(i, r, 64))
		w.number = c.counts[i][w.thread]
		s.issued[number] = w
	}
	if writes {
		delete(s.issued, number)
	}
	for _, isWrite := range []bool{false, true} {
		if isWrite && !writes || !isWrite && !reads {
			continue
		}
		x := *r
		x.Accesses = nil
		for _, a := range r.Accesses {
			if (a.Kind != Load) == isWrite {
				x.Accesses = append(x.Accesses, a)
			}
		}
		d := asyncStep{w.thread, w.n, isWrite}
		y, ok := other.waits[d]
		if !ok {
			s.waits[d] = &x
			s.order = append(s.order, d)
			continue
		}
		delete(other.waits, d)
		if len(other.order) > 2*len(other.waits)+64 {
			other.compactOrder()
		}
		pair := [2]*Record{&x, y}
		if i == 1 {
			pair[0], pair[1] = y, &x
		}
		if c.found = c.effects(pair[0], pair[1]); c.found != nil {
			c.found.Thread, c.found.Number = w.thread, w.number
			return
		}
	}
}

// compactOrder removes keys from order that are no longer in waits.
func (s *asyncOperations) compactOrder() {
	n := 0
	for _, d := range s.order {
		if s.waits[d] != nil {
			s.order[n] = d
			n++
		}
	}
	s.order = s.order[:n]
}

// effects compares an effect of an operation: x in the first log with y in the second.
func (c *comparison) effects(x, y *Record) *Difference {
	differ := func(name, a, b, format string, args ...any) *Difference {
		d := c.difference("in an asynchronous operation: "+format, args...)
		d.Name, d.Value = name, [2]string{a, b}
		return d
	}
	d := (*Difference)(nil)
	if !c.sameInstr(x, y) {
		d = c.difference("the thread issues different asynchronous operations")
	}
	for m := x.Lanes; m != 0 && d == nil; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if y.Lanes>>lane&1 == 0 {
			d = differ("lanes", probe.LaneList(x.Lanes), probe.LaneList(y.Lanes), "the lanes")
			break
		}
		a, b := step{x, lane, 0}, step{y, lane, 0}
		if d = c.results(a, &b, differ); d == nil {
			d = c.accesses(a, &b, differ)
		}
	}
	if d == nil {
		c.summary.Effects.Compared++
		return nil
	}
	for i, r := range []*Record{x, y} {
		d.Record[i], d.Lane[i], d.Code[i], d.Warp[i] = r, bits.TrailingZeros64(r.Lanes|1<<63), c.code(i, r), r.Warp
	}
	return d
}

// written compares the bytes written by an asynchronous operation.
func (c *comparison) written(a, b *Access, differ differFunc) *Difference {
	if len(a.Data) != len(b.Data) && c.isMissing("stored") {
		c.summary.Stored.Skipped++
		return nil
	}
	if bytes.Equal(a.Data, b.Data) {
		if len(a.Data) > 0 {
			c.summary.Stored.Compared++
		}
		return nil
	}
	if len(a.Data) != len(b.Data) {
		return differ("written", fmt.Sprint(len(a.Data)), fmt.Sprint(len(b.Data)), "the number of written bytes")
	}
	position := 0
	for a.Data[position] == b.Data[position] {
		position++
	}
	position &^= 3
	end := min(position+4, len(a.Data))
	return differ("written", hexBytes(a.Data[position:end]), hexBytes(b.Data[position:end]), "the written bytes, from byte %d of %d on", position, len(a.Data))
}

// hexBytes formats bytes as a little-endian number.
func hexBytes(b []byte) string {
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return fmt.Sprintf("%#x", v)
}

// unmatched returns the difference for the first waiting effect, which only one log has, or nil.
func (c *comparison) unmatched() *Difference {
	for i := range c.async {
		s := &c.async[i]
		for _, step := range s.order {
			r := s.waits[step]
			if r == nil {
				continue
			}
			d := c.difference("only the %s log has this effect of the asynchronous operation", ordinal(i > 0))
			d.Thread, d.Record[i], d.Code[i], d.Lane[i], d.Warp = step.thread, r, c.code(i, r), bits.TrailingZeros64(r.Lanes|1<<63), [2]uint64{r.Warp, r.Warp}
			if step.thread < len(c.counts[i]) {
				d.Number = c.counts[i][step.thread]
			}
			return d
		}
	}
	return nil
}
