package model

// This file is several models on the same execution.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// Side is several models that watch the same launches.
type Side struct {
	models []Model
	wants  interp.Wants   // of them together
	each   []interp.Wants // of each

	mu    sync.Mutex
	lines map[*ptx.Instr]*Instr
}

// Beside has models watch the same launches.
func Beside(models ...Model) *Side {
	s := &Side{models: models, lines: map[*ptx.Instr]*Instr{}}
	s.wants.Events = interp.OnAfter | interp.OnReturn | interp.OnWake | interp.OnCTAEnd
	for _, m := range models {
		w := m.Wants()
		s.each = append(s.each, w)
		s.wants.Events |= w.Events
		s.wants.Values = s.wants.Values || w.Values
		s.wants.Tags = s.wants.Tags || w.Tags
		s.wants.Addresses = s.wants.Addresses || w.Addresses
		s.wants.InOrder = s.wants.InOrder || w.InOrder
	}
	return s
}

// Models are the models.
func (s *Side) Models() []Model { return s.models }

// Reports are what the models have counted, in their order.
func (s *Side) Reports() (list []*Report) {
	for _, m := range s.models {
		list = append(list, m.Report())
	}
	return list
}

// Keep is registers that were written, by which of the models kept them in less than a vector:
// bit i of the index is for model i.
type Keep []int64

// Instr is what the models made of the results of an instruction.
type Instr struct {
	*ptx.Instr
	Func   *ptx.Func
	Writes int64   // of registers by warps, predicates left out
	Bytes  int64   // of them, as vectors
	Stored []int64 // … as each model stores them; a model whose sinks are no Keepers has those of vectors
	Keep   Keep
}

// Add adds another's counts.
func (n *Instr) Add(o *Instr) {
	n.Writes += o.Writes
	n.Bytes += o.Bytes
	for i := range o.Stored {
		n.Stored[i] += o.Stored[i]
	}
	for i := range o.Keep {
		n.Keep[i] += o.Keep[i]
	}
}

// Kept is how many writes model i kept.
func (k Keep) Kept(i int) int64 { return k.sum(func(set int) bool { return set>>i&1 != 0 }) }

// Alone is how many writes model i kept, and no other.
func (k Keep) Alone(i int) int64 { return k.sum(func(set int) bool { return set == 1<<i }) }

// Any is how many writes some model kept.
func (k Keep) Any() int64 { return k.sum(func(set int) bool { return set != 0 }) }

func (k Keep) sum(of func(set int) bool) (n int64) {
	for set, writes := range k {
		if of(set) {
			n += writes
		}
	}
	return n
}

// Instrs are the instructions that have written registers, in the order of the source; those of a
// file that was launched under several names come file by file.
func (s *Side) Instrs() []*Instr {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Instr, 0, len(s.lines))
	for _, n := range s.lines {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *Instr) int {
		if x, y := a.Func.Module().Name, b.Func.Module().Name; x != y {
			if x < y {
				return -1
			}
			return 1
		}
		if a.Pos.Line != b.Pos.Line {
			return int(a.Pos.Line) - int(b.Pos.Line)
		}
		return int(a.Pos.Col) - int(b.Pos.Col)
	})
	return list
}

// Wants is what the models want, and what tells the results of instructions.
func (s *Side) Wants() interp.Wants { return s.wants }

// CTA has each model watch the CTA.
func (s *Side) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	c := &cta{of: s, launch: l, counts: make([]*Instr, l.Program.Len())}
	for _, m := range s.models {
		sink := m.CTA(l, index, id)
		c.sinks = append(c.sinks, sink)
		k, _ := sink.(Keeper)
		c.keepers = append(c.keepers, k)
	}
	return c
}

// Tell tells the models.
func (s *Side) Tell(e *interp.Event) {
	for i, m := range s.models {
		if s.each[i].Events.Has(e.Kind) {
			m.Tell(e)
		}
	}
}

// cta is a CTA and its sinks, by model; nil of a model that does not care.
type cta struct {
	of      *Side
	launch  *interp.LaunchInfo
	sinks   []interp.Sink
	keepers []Keeper
	counts  []*Instr // by Event.Index
}

// Tell tells the models, and asks what they have kept.
func (c *cta) Tell(e *interp.Event) {
	for i, sink := range c.sinks {
		if sink != nil && c.of.each[i].Events.Has(e.Kind) {
			sink.Tell(e)
		}
	}
	switch {
	case e.Kind == interp.OnCTAEnd:
		c.end()
	case Results(e):
		c.count(e)
	}
}

// Results reports whether the Writes of an event are results: those of a call and of a barrier
// come with OnReturn and OnWake, and what is told of them OnAfter is what was there before.
func Results(e *interp.Event) bool {
	switch e.Kind {
	case interp.OnReturn, interp.OnWake:
		return e.Lanes != 0
	case interp.OnAfter:
		return e.Lanes != 0 && e.Instr.Call == nil && e.Instr.Form.Class != ptx.ClassBarrier
	}
	return false
}

// count asks the models of the registers that an event has written.
func (c *cta) count(e *interp.Event) {
	for i := range e.Writes {
		v := &e.Writes[i]
		if v.Type == ptx.Pred {
			continue
		}
		n := c.counts[e.Index]
		if n == nil {
			n = &Instr{Instr: e.Instr, Func: e.Func, Stored: make([]int64, len(c.sinks)), Keep: make(Keep, 1<<len(c.sinks))}
			c.counts[e.Index] = n
		}
		all := Bytes(v, c.launch.WarpSize)
		set := 0
		for k, of := range c.keepers {
			stored := all
			if of != nil {
				stored = of.Keeps(e, i)
			}
			n.Stored[k] += int64(stored)
			if stored < all {
				set |= 1 << k
			}
		}
		n.Writes++
		n.Bytes += int64(all)
		n.Keep[set]++
	}
}

// end adds up what the CTA has counted.
func (c *cta) end() {
	s := c.of
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range c.counts {
		if n == nil {
			continue
		}
		if t := s.lines[n.Instr]; t != nil {
			t.Add(n)
		} else {
			s.lines[n.Instr] = n
		}
	}
}

// sideState is what a Side has counted, and the states of its models.
type sideState struct {
	lines  map[*ptx.Instr]*Instr
	models []any
}

// Save and Restore let it go back with a launch.
func (s *Side) Save() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &sideState{lines: map[*ptx.Instr]*Instr{}}
	for in, n := range s.lines {
		state.lines[in] = n.clone()
	}
	for _, m := range s.models {
		state.models = append(state.models, m.Save())
	}
	return state
}

// Restore: see Save.
func (s *Side) Restore(state any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := state.(*sideState)
	s.lines = map[*ptx.Instr]*Instr{}
	for in, n := range of.lines {
		s.lines[in] = n.clone()
	}
	for i, m := range s.models {
		m.Restore(of.models[i])
	}
}

// clone is a copy; nil of nil.
func (n *Instr) clone() *Instr {
	if n == nil {
		return nil
	}
	c := *n
	c.Stored, c.Keep = slices.Clone(n.Stored), slices.Clone(n.Keep)
	return &c
}

// ctaState is what a CTA has counted, and the states of its sinks that have one.
type ctaState struct {
	counts []*Instr
	sinks  []any
}

// Save and Restore let a CTA go back with its launch.
func (c *cta) Save() any {
	state := &ctaState{counts: cloned(c.counts), sinks: make([]any, len(c.sinks))}
	for i, sink := range c.sinks {
		if s, ok := sink.(interp.Saver); ok {
			state.sinks[i] = s.Save()
		}
	}
	return state
}

// Restore: see Save.
func (c *cta) Restore(state any) {
	of := state.(*ctaState)
	c.counts = cloned(of.counts)
	for i, sink := range c.sinks {
		if s, ok := sink.(interp.Saver); ok {
			s.Restore(of.sinks[i])
		}
	}
}

func cloned(counts []*Instr) []*Instr {
	list := make([]*Instr, len(counts))
	for i, n := range counts {
		list[i] = n.clone()
	}
	return list
}

// Sets are the sets of models that kept something together, the most frequent first.
func (k Keep) Sets() (sets []int) {
	for set, n := range k {
		if n != 0 {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b int) int {
		switch {
		case k[a] != k[b] && k[a] > k[b]:
			return -1
		case k[a] != k[b]:
			return 1
		}
		return bits.OnesCount(uint(a)) - bits.OnesCount(uint(b))
	})
	return sets
}
