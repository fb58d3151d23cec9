package debug

// This file records facts about the past, so that the session need not execute it again.

import (
	"slices"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// span is a range of the past, and the instructions that may have begun in it.
type span struct {
	from, to int64  // moments (Session.Step); to is not included
	visited  []bool // by index of the instruction
}

// maxSpans is the largest number of spans of a session. Beyond it, neighbours are merged.
const maxSpans = 1 << 9

// addSpan adds a span from the end of the last span to the current moment, with the instructions that may have begun since
// its last call. It adds nothing if the current moment is in a span, i.e. if a range of the past was executed again.
func (s *Session) addSpan() {
	now, known := s.Step(), int64(0)
	visited := make([]bool, s.info.Program.Len())
	s.exec.Visited(visited)
	n := len(s.spans)
	if n > 0 {
		known = s.spans[n-1].to
	}
	if s.noCheckpoints != nil || now <= known {
		return
	}
	s.spans = append(s.spans, span{known, now, visited})
	if n > 0 && now-s.spans[n-1].from <= s.pace.nextInterval() {
		s.mergeSpans(n - 1)
	}
	if len(s.spans) > maxSpans {
		for i := 0; i+1 < len(s.spans); i++ {
			s.mergeSpans(i)
		}
	}
}

// mergeSpans merges a span with the next span.
func (s *Session) mergeSpans(i int) {
	a, b := &s.spans[i], &s.spans[i+1]
	for instr, v := range b.visited {
		a.visited[instr] = a.visited[instr] || v
	}
	a.to = b.to
	s.spans = slices.Delete(s.spans, i+1, i+2)
}

// visited returns the instructions that may have begun between two moments, by index.
func (s *Session) visited(from, to int64) []bool {
	all := make([]bool, s.info.Program.Len())
	i, _ := slices.BinarySearchFunc(s.spans, from, func(p span, step int64) int { return compare(p.to, step+1) })
	for ; i < len(s.spans) && s.spans[i].from < to; i++ {
		for instr, v := range s.spans[i].visited {
			all[instr] = all[instr] || v
		}
	}
	return all
}

// ranges is a list of ranges of moments (Session.Step): ascending, disjoint and not adjacent. The end of a range is not
// included.
type ranges [][2]int64

// add adds a range.
func (r *ranges) add(from, to int64) {
	if from >= to {
		return
	}
	i, _ := slices.BinarySearchFunc(*r, from, func(p [2]int64, step int64) int { return compare(p[1], step) })
	n := i
	for ; n < len(*r) && (*r)[n][0] <= to; n++ {
		from, to = min(from, (*r)[n][0]), max(to, (*r)[n][1])
	}
	*r = slices.Replace(*r, i, n, [2]int64{from, to})
}

// since returns the earliest moment such that all moments from it up to step, step not included, are in the ranges; step
// if there is none.
func (r ranges) since(step int64) int64 {
	i, _ := slices.BinarySearchFunc(r, step, func(p [2]int64, step int64) int { return compare(p[1], step) })
	if i < len(r) && r[i][0] < step {
		return r[i][0]
	}
	return step
}

// noteNotHit records that no enabled breakpoint and no watch was hit from moment from up to to, to not included, except
// for the hit except (or nil) at moment to-1. Breakpoints at the first skip moments were not checked.
func (s *Session) noteNotHit(from, to, skip int64, except *hit) {
	for _, b := range s.breakpoints {
		switch {
		case b.Disabled:
		case except != nil && slices.Contains(except.breaks, b):
			b.notHit.add(from+skip, to-1)
		default:
			b.notHit.add(from+skip, to)
		}
	}
	if except != nil {
		to-- // breakpoints are hit before the instruction, watches by it
	}
	for _, w := range s.watches {
		w.notHit.add(from, to)
	}
}

// notHitSince returns the earliest moment from which, up to step, no enabled breakpoint and no watch is known to have been
// hit.
func (s *Session) notHitSince(step int64) int64 {
	since := int64(0)
	for _, b := range s.breakpoints {
		if !b.Disabled {
			since = max(since, b.notHit.since(step))
		}
	}
	for _, w := range s.watches {
		since = max(since, w.notHit.since(step))
	}
	return since
}

// mayInclude reports whether any CTA in flight between checkpoint i and the next checkpoint is a candidate.
func (s *Session) mayInclude(i int, candidate func(cta int) bool) (found bool) {
	var next *interp.State
	if i+1 < len(s.checkpoints) {
		next = s.checkpoints[i+1].state
	}
	s.exec.InFlight(s.checkpoints[i].state, next, func(cta int) bool {
		found = candidate(cta)
		return !found
	})
	return found
}

// mayHit reports whether a breakpoint or watch may have been hit while only the visited instructions began. chosen has the
// events that breakpoints and watches need, by index of the instruction.
func (s *Session) mayHit(chosen []probe.Events, visited []bool) bool {
	for i, v := range visited {
		if v && chosen[i] != 0 {
			return true
		}
	}
	if len(s.watches) > 0 { // an asynchronous effect may come later than the visit of its instruction
		for i := range visited {
			if instr, _ := s.info.Program.At(i); instr.Form.Effects.HasAll(ptx.Async) {
				return true
			}
		}
	}
	return false
}
