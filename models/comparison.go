package models

// This file is several models on the same execution.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// Comparison is several models that watch the same launches.
type Comparison struct {
	models        []Model
	subscription  interp.Subscription   // of them together
	subscriptions []interp.Subscription // of each

	mu     sync.Mutex
	instrs map[*ptx.Instr]*Instr
}

// Watch has models watch the same launches.
func Watch(models ...Model) *Comparison {
	s := &Comparison{models: models, instrs: map[*ptx.Instr]*Instr{}}
	s.subscription.Events = interp.OnAfter | interp.OnReturn | interp.OnWake | interp.OnCTAEnd
	for _, m := range models {
		w := m.Subscription()
		s.subscriptions = append(s.subscriptions, w)
		s.subscription.Events |= w.Events
		s.subscription.Values = s.subscription.Values || w.Values
		s.subscription.Tags = s.subscription.Tags || w.Tags
		s.subscription.Addresses = s.subscription.Addresses || w.Addresses
		s.subscription.InOrder = s.subscription.InOrder || w.InOrder
	}
	return s
}

// Models are the models.
func (s *Comparison) Models() []Model { return s.models }

// Reports are what the models have counted, in their order.
func (s *Comparison) Reports() (list []*Report) {
	for _, m := range s.models {
		list = append(list, m.Report())
	}
	return list
}

// CompressedWrites is registers that were written, by which of the models kept them in less than a vector:
// bit i of the index is for model i.
type CompressedWrites []int64

// Instr is what the models made of the results of an instruction.
type Instr struct {
	*ptx.Instr
	Func       *ptx.Func
	Writes     int64   // of registers by warps, predicates left out
	Bytes      int64   // of them, as vectors
	Stored     []int64 // … as each model stores them; a model whose sinks are no Keepers has those of vectors
	Compressed CompressedWrites
}

// Add adds another's counts.
func (n *Instr) Add(o *Instr) {
	n.Writes += o.Writes
	n.Bytes += o.Bytes
	for i := range o.Stored {
		n.Stored[i] += o.Stored[i]
	}
	for i := range o.Compressed {
		n.Compressed[i] += o.Compressed[i]
	}
}

// By is how many writes model i kept.
func (k CompressedWrites) By(i int) int64 {
	return k.sumWhere(func(set int) bool { return set>>i&1 != 0 })
}

// OnlyBy is how many writes model i kept, and no other.
func (k CompressedWrites) OnlyBy(i int) int64 {
	return k.sumWhere(func(set int) bool { return set == 1<<i })
}

// ByAny is how many writes some model kept.
func (k CompressedWrites) ByAny() int64 { return k.sumWhere(func(set int) bool { return set != 0 }) }

func (k CompressedWrites) sumWhere(match func(set int) bool) (n int64) {
	for set, writes := range k {
		if match(set) {
			n += writes
		}
	}
	return n
}

// Instrs are the instructions that have written registers, in the order of the source; those of a
// file that was launched under several names come file by file.
func (s *Comparison) Instrs() []*Instr {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Instr, 0, len(s.instrs))
	for _, n := range s.instrs {
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

// Subscription is what the models want, and what tells the results of instructions.
func (s *Comparison) Subscription() interp.Subscription { return s.subscription }

// CTA has each model watch the CTA.
func (s *Comparison) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	c := &cta{comparison: s, launch: l, counts: make([]*Instr, l.Program.Len())}
	for _, m := range s.models {
		sink := m.CTA(l, index, id)
		c.sinks = append(c.sinks, sink)
		k, _ := sink.(Sizer)
		c.sizers = append(c.sizers, k)
	}
	return c
}

// OnEvent tells the models.
func (s *Comparison) OnEvent(e *interp.Event) {
	for i, m := range s.models {
		if s.subscriptions[i].Events.Has(e.Kind) {
			m.OnEvent(e)
		}
	}
}

// cta is a CTA and its sinks, by model; nil of a model that does not care.
type cta struct {
	comparison *Comparison
	launch     *interp.LaunchInfo
	sinks      []interp.Sink
	sizers     []Sizer
	counts     []*Instr // by Event.Index
}

// OnEvent tells the models, and asks what they have kept.
func (c *cta) OnEvent(e *interp.Event) {
	for i, sink := range c.sinks {
		if sink != nil && c.comparison.subscriptions[i].Events.Has(e.Kind) {
			sink.OnEvent(e)
		}
	}
	switch {
	case e.Kind == interp.OnCTAEnd:
		c.end()
	case HasResults(e):
		c.count(e)
	}
}

// HasResults reports whether the Writes of an event are results: those of a call and of a barrier
// come with OnReturn and OnWake, and what is told of them OnAfter is what was there before.
func HasResults(e *interp.Event) bool {
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
			n = &Instr{Instr: e.Instr, Func: e.Func, Stored: make([]int64, len(c.sinks)), Compressed: make(CompressedWrites, 1<<len(c.sinks))}
			c.counts[e.Index] = n
		}
		all := Bytes(v, c.launch.WarpSize)
		set := 0
		for k, sizer := range c.sizers {
			stored := all
			if sizer != nil {
				stored = sizer.StoredBytes(e, i)
			}
			n.Stored[k] += int64(stored)
			if stored < all {
				set |= 1 << k
			}
		}
		n.Writes++
		n.Bytes += int64(all)
		n.Compressed[set]++
	}
}

// end adds up what the CTA has counted.
func (c *cta) end() {
	s := c.comparison
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range c.counts {
		if n == nil {
			continue
		}
		if t := s.instrs[n.Instr]; t != nil {
			t.Add(n)
		} else {
			s.instrs[n.Instr] = n
		}
	}
}

// comparisonState is what a Side has counted, and the states of its models.
type comparisonState struct {
	instrs map[*ptx.Instr]*Instr
	models []any
}

// Save and Restore let it go back with a launch.
func (s *Comparison) Save() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &comparisonState{instrs: map[*ptx.Instr]*Instr{}}
	for instr, n := range s.instrs {
		state.instrs[instr] = n.clone()
	}
	for _, m := range s.models {
		state.models = append(state.models, m.Save())
	}
	return state
}

// Restore: see Save.
func (s *Comparison) Restore(state any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := state.(*comparisonState)
	s.instrs = map[*ptx.Instr]*Instr{}
	for instr, n := range saved.instrs {
		s.instrs[instr] = n.clone()
	}
	for i, m := range s.models {
		m.Restore(saved.models[i])
	}
}

// clone is a copy; nil of nil.
func (n *Instr) clone() *Instr {
	if n == nil {
		return nil
	}
	c := *n
	c.Stored, c.Compressed = slices.Clone(n.Stored), slices.Clone(n.Compressed)
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
	saved := state.(*ctaState)
	c.counts = cloned(saved.counts)
	for i, sink := range c.sinks {
		if s, ok := sink.(interp.Saver); ok {
			s.Restore(saved.sinks[i])
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
func (k CompressedWrites) Sets() (sets []int) {
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
