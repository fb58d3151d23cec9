package models

// This file runs several models on the same execution.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Comparison passes the events of launches to several models and counts their stored bytes by instruction. It is a
// probe.
type Comparison struct {
	models        []Model
	subscription  probe.Subscription   // union of the models' subscriptions
	subscriptions []probe.Subscription // by model

	mu     sync.Mutex
	instrs map[*ptx.Instr]*Instr
}

// Watch returns a probe through which models watch the same launches.
func Watch(models ...Model) *Comparison {
	s := &Comparison{models: models, instrs: map[*ptx.Instr]*Instr{}}
	s.subscription.Events = probe.OnAfter | probe.OnReturn | probe.OnWake | probe.OnCTAEnd
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

// Models returns the models.
func (s *Comparison) Models() []Model { return s.models }

// Reports returns the models' reports, in the order of the models.
func (s *Comparison) Reports() (list []*Report) {
	for _, m := range s.models {
		list = append(list, m.Report())
	}
	return list
}

// CompressedWrites counts written registers by the set of models that stored them in fewer bytes than a vector: bit i
// of the index is model i.
type CompressedWrites []int64

// Instr is the counts of an instruction's results.
type Instr struct {
	*ptx.Instr
	Func       *ptx.Func        // function of the instruction
	Writes     int64            // registers written by warps, without predicates
	Bytes      int64            // size of these registers as vectors
	Stored     []int64          // bytes by model; a model whose sinks are no Sizers stores vectors
	Compressed CompressedWrites // of Writes, by the set of models
}

// Add adds the counts of o.
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

// By returns the number of writes that model i stored compressed.
func (k CompressedWrites) By(i int) int64 {
	return k.sumWhere(func(set int) bool { return set>>i&1 != 0 })
}

// OnlyBy returns the number of writes that model i alone stored compressed.
func (k CompressedWrites) OnlyBy(i int) int64 {
	return k.sumWhere(func(set int) bool { return set == 1<<i })
}

// ByAny returns the number of writes that at least one model stored compressed.
func (k CompressedWrites) ByAny() int64 { return k.sumWhere(func(set int) bool { return set != 0 }) }

func (k CompressedWrites) sumWhere(match func(set int) bool) (n int64) {
	for set, writes := range k {
		if match(set) {
			n += writes
		}
	}
	return n
}

// Instrs returns the instructions that have written registers, in the order of the source. Instructions of a file
// that was launched under several names come file by file.
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

// Subscription returns the events of all models, and the events with results.
func (s *Comparison) Subscription() probe.Subscription { return s.subscription }

// CTA makes a sink that passes the CTA's events to the sinks of the models.
func (s *Comparison) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	c := &cta{comparison: s, launch: l, counts: make([]*Instr, l.Program.Len())}
	for _, m := range s.models {
		sink := m.CTA(l, index, id)
		c.sinks = append(c.sinks, sink)
		k, _ := sink.(Sizer)
		c.sizers = append(c.sizers, k)
	}
	return c
}

// OnEvent passes an event to the models that subscribed to it.
func (s *Comparison) OnEvent(e *probe.Event) {
	for i, m := range s.models {
		if s.subscriptions[i].Events.Has(e.Kind) {
			m.OnEvent(e)
		}
	}
}

// cta is the sink of a CTA. The sink of a model is nil if the model ignores the CTA.
type cta struct {
	comparison *Comparison
	launch     *probe.LaunchInfo
	sinks      []probe.Sink
	sizers     []Sizer
	counts     []*Instr // by Event.Index
}

// OnEvent passes an event to the models' sinks and counts the stored bytes of its results.
func (c *cta) OnEvent(e *probe.Event) {
	for i, sink := range c.sinks {
		if sink != nil && c.comparison.subscriptions[i].Events.Has(e.Kind) {
			sink.OnEvent(e)
		}
	}
	switch {
	case e.Kind == probe.OnCTAEnd:
		c.end()
	case HasResults(e):
		c.count(e)
	}
}

// HasResults reports whether the Writes of an event are results. Calls and barriers have their results in OnReturn
// and OnWake; their OnAfter has the values from before.
func HasResults(e *probe.Event) bool {
	switch e.Kind {
	case probe.OnReturn, probe.OnWake:
		return e.Lanes != 0
	case probe.OnAfter:
		return e.Lanes != 0 && e.Instr.Call == nil && e.Instr.Form.Class != ptx.ClassBarrier
	}
	return false
}

// count adds the stored bytes of the registers that an event has written.
func (c *cta) count(e *probe.Event) {
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

// end adds the counts of a CTA that ends to the total.
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

// comparisonState is a saved Comparison.
type comparisonState struct {
	instrs map[*ptx.Instr]*Instr
	models []any
}

// Save returns the counts and the states of the models.
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

// Restore sets the state that Save returned.
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

// clone returns a copy; nil for nil.
func (n *Instr) clone() *Instr {
	if n == nil {
		return nil
	}
	c := *n
	c.Stored, c.Compressed = slices.Clone(n.Stored), slices.Clone(n.Compressed)
	return &c
}

// ctaState is a saved sink of a CTA.
type ctaState struct {
	counts []*Instr
	sinks  []any
}

// Save returns the counts and the states of the models' sinks.
func (c *cta) Save() any {
	state := &ctaState{counts: cloned(c.counts), sinks: make([]any, len(c.sinks))}
	for i, sink := range c.sinks {
		if s, ok := sink.(probe.Saver); ok {
			state.sinks[i] = s.Save()
		}
	}
	return state
}

// Restore sets the state that Save returned.
func (c *cta) Restore(state any) {
	saved := state.(*ctaState)
	c.counts = cloned(saved.counts)
	for i, sink := range c.sinks {
		if s, ok := sink.(probe.Saver); ok {
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

// Sets returns the sets of models that stored writes, the most frequent set first.
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
