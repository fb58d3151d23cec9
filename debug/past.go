package debug

// This file is what a session knows of the past without going there.

import (
	"slices"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// span is a part of the past, from one moment to another, and the instructions that may have begun in it.
type span struct {
	from, to int64
	visited  []bool
}

// maxSpans bounds how many there are.
const maxSpans = 1 << 9

// addCheckpoint notes what may have begun since the session has gone on. What was told of the past already is
// so again.
func (s *Session) addCheckpoint() {
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

// mergeSpans makes a span one with the next.
func (s *Session) mergeSpans(i int) {
	a, b := &s.spans[i], &s.spans[i+1]
	for k, v := range b.visited {
		a.visited[k] = a.visited[k] || v
	}
	a.to = b.to
	s.spans = slices.Delete(s.spans, i+1, i+2)
}

// visited is the instructions that may have begun from one moment to another, by number.
func (s *Session) visited(from, to int64) []bool {
	all := make([]bool, s.info.Program.Len())
	i, _ := slices.BinarySearchFunc(s.spans, from, func(p span, step int64) int { return compare(p.to, step+1) })
	for ; i < len(s.spans) && s.spans[i].from < to; i++ {
		for k, v := range s.spans[i].visited {
			all[k] = all[k] || v
		}
	}
	return all
}

// ranges is parts of the past, ascending, that neither overlap nor touch.
type ranges [][2]int64

// add adds one.
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

// since is from where on all before a moment is of the ranges; the moment, if nothing is.
func (r ranges) since(step int64) int64 {
	i, _ := slices.BinarySearchFunc(r, step, func(p [2]int64, step int64) int { return compare(p[1], step) })
	if i < len(r) && r[i][0] < step {
		return r[i][0]
	}
	return step
}

// noteNotHit notes that from one moment to another nothing that is enabled was hit; but that, at the last of these
// moments, a hit was. Breakpoints at the first skip moments were not looked for.
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

// notHitSince is from where on nothing that is enabled was hit before a moment, as far as that is known.
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

// mayInclude reports whether something may be so of a CTA that was in flight between a checkpoint and the next.
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

// mayHit reports whether something may have been hit where nothing but these instructions was begun.
func (s *Session) mayHit(chosen []probe.Events, visited []bool) bool {
	for i, v := range visited {
		if v && chosen[i] != 0 {
			return true
		}
	}
	if len(s.watches) > 0 { // asynchronous operations happen behind the instructions that have issued them
		for i := range visited {
			if instr, _ := s.info.Program.At(i); instr.Form.Effects.HasAll(ptx.Async) {
				return true
			}
		}
	}
	return false
}
