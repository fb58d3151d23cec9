package debug

// This file is what a session knows of the past without going there.

import (
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

// span is a part of the past, from one moment to another, and the instructions that may have begun in it.
type span struct {
	from, to int64
	visited  []bool
}

// mostSpans bounds how many there are.
const mostSpans = 1 << 9

// remember notes what may have begun since the session has gone on. What was told of the past already is
// so again.
func (s *Session) remember() {
	now, known := s.Step(), int64(0)
	visited := make([]bool, s.info.Program.Len())
	s.exec.Visited(visited)
	n := len(s.spans)
	if n > 0 {
		known = s.spans[n-1].to
	}
	if s.noReturn != nil || now <= known {
		return
	}
	s.spans = append(s.spans, span{known, now, visited})
	if n > 0 && now-s.spans[n-1].from <= s.pace.steps() {
		s.unite(n - 1)
	}
	if len(s.spans) > mostSpans {
		for i := 0; i+1 < len(s.spans); i++ {
			s.unite(i)
		}
	}
}

// unite makes a span one with the next.
func (s *Session) unite(i int) {
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

// quiet notes that from one moment to another nothing that is enabled was hit; but that, at the last of these
// moments, a hit was. Breakpoints at the first skip moments were not looked for.
func (s *Session) quiet(from, to, skip int64, but *hit) {
	for _, b := range s.breakpoints {
		switch {
		case b.Disabled:
		case but != nil && slices.Contains(but.breaks, b):
			b.quiet.add(from+skip, to-1)
		default:
			b.quiet.add(from+skip, to)
		}
	}
	if but != nil {
		to-- // breakpoints are hit before the instruction, watches by it
	}
	for _, w := range s.watches {
		w.quiet.add(from, to)
	}
}

// quietSince is from where on nothing that is enabled was hit before a moment, as far as that is known.
func (s *Session) quietSince(step int64) int64 {
	since := int64(0)
	for _, b := range s.breakpoints {
		if !b.Disabled {
			since = max(since, b.quiet.since(step))
		}
	}
	for _, w := range s.watches {
		since = max(since, w.quiet.since(step))
	}
	return since
}

// mayBe reports whether something may be so of a CTA that was in flight between a checkpoint and the next.
func (s *Session) mayBe(i int, may func(cta int) bool) (found bool) {
	var next *interp.State
	if i+1 < len(s.checkpoints) {
		next = s.checkpoints[i+1].state
	}
	s.exec.InFlight(s.checkpoints[i].state, next, func(cta int) bool {
		found = may(cta)
		return !found
	})
	return found
}

// mayHit reports whether something may have been hit where nothing but these instructions was begun.
func (s *Session) mayHit(chosen []interp.Events, visited []bool) bool {
	for i, v := range visited {
		if v && chosen[i] != 0 {
			return true
		}
	}
	if len(s.watches) > 0 { // asynchronous operations happen behind the instructions that have issued them
		for i := range visited {
			if in, _ := s.info.Program.At(i); in.Form.Effects.Has(ptx.Async) {
				return true
			}
		}
	}
	return false
}
