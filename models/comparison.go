package models

// This file runs several models on the same execution.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// Comparison passes the events of launches to several models. It counts, by instruction, the bytes in which each model
// stores the written registers. It is a probe.
type Comparison struct {
	models        []Model
	subscription  probe.Subscription   // union of the models' subscriptions
	subscriptions []probe.Subscription // by model

	mu     sync.Mutex
	instrs map[*ptx.Instr]*InstrCounts
}

// Watch returns a probe through which models watch the same launches.
func Watch(models ...Model) *Comparison {
	c := &Comparison{models: models, instrs: map[*ptx.Instr]*InstrCounts{}}
	c.subscription.Events = probe.OnAfter | probe.OnReturn | probe.OnWake | probe.OnCTAEnd
	for _, m := range models {
		sub := m.Subscription()
		c.subscriptions = append(c.subscriptions, sub)
		c.subscription = c.subscription.Union(sub)
	}
	return c
}

// Models returns the models.
func (c *Comparison) Models() []Model { return c.models }

// Reports returns the models' reports, in the order of the models.
func (c *Comparison) Reports() (list []*Report) {
	for _, m := range c.models {
		list = append(list, m.Report())
	}
	return list
}

// CompressedWrites counts written registers by the set of models that stored them compressed, i.e. in fewer bytes than
// the full register with a value for each lane (Bytes). The index is the set: bit i is model i.
type CompressedWrites []int64

// InstrCounts has the counts of the registers that an instruction wrote.
type InstrCounts struct {
	*ptx.Instr
	Func       *ptx.Func        // function of the instruction
	Writes     int64            // registers written by warps; predicate registers are not counted
	Bytes      int64            // size of these registers with a value for each lane
	Stored     []int64          // stored bytes by model; Bytes for a model whose sinks do not implement Sizer
	Compressed CompressedWrites // how many of Writes each set of models stored compressed
}

// Add adds the counts of o.
func (n *InstrCounts) Add(o *InstrCounts) {
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
func (w CompressedWrites) By(i int) int64 {
	return w.sumWhere(func(set int) bool { return set>>i&1 != 0 })
}

// OnlyBy returns the number of writes that model i alone stored compressed.
func (w CompressedWrites) OnlyBy(i int) int64 {
	return w.sumWhere(func(set int) bool { return set == 1<<i })
}

// ByAny returns the number of writes that at least one model stored compressed.
func (w CompressedWrites) ByAny() int64 { return w.sumWhere(func(set int) bool { return set != 0 }) }

func (w CompressedWrites) sumWhere(match func(set int) bool) (n int64) {
	for set, writes := range w {
		if match(set) {
			n += writes
		}
	}
	return n
}

// Instrs returns the counts of the instructions that have written registers, ordered by module name, line and column. So
// a file that was loaded under two names has two lists, one after the other.
func (c *Comparison) Instrs() []*InstrCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*InstrCounts, 0, len(c.instrs))
	for _, n := range c.instrs {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *InstrCounts) int {
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

// Subscription returns the union of the models' subscriptions and the events that a Comparison itself counts.
func (c *Comparison) Subscription() probe.Subscription { return c.subscription }

// CTA makes a sink that passes the CTA's events to the sinks of the models.
func (c *Comparison) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	combined := &cta{comparison: c, launch: l, counts: make([]*InstrCounts, l.Program.Len())}
	for _, m := range c.models {
		sink := m.CTA(l, index, id)
		combined.sinks = append(combined.sinks, sink)
		sizer, _ := sink.(Sizer)
		combined.sizers = append(combined.sizers, sizer)
	}
	return combined
}

// OnEvent passes an event to the models that subscribed to it.
func (c *Comparison) OnEvent(e *probe.Event) {
	for i, m := range c.models {
		if c.subscriptions[i].Events.Has(e.Kind) {
			m.OnEvent(e)
		}
	}
}

// cta is the sink of a CTA. The sink of a model is nil if the model ignores the CTA.
type cta struct {
	comparison *Comparison
	launch     *probe.LaunchInfo
	sinks      []probe.Sink   // by model
	sizers     []Sizer        // by model; nil if the sink does not implement Sizer
	counts     []*InstrCounts // by Event.Index; nil before the first write of the instruction
}

// OnEvent passes an event to the models' sinks and counts the stored bytes of the registers that it has written.
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

// HasResults reports whether the Writes of an event have the values that its instruction has written. The results of a
// call are in OnReturn and those of a barrier in OnWake: in their OnAfter, Writes has the previous values.
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
	for write := range e.Writes {
		v := &e.Writes[write]
		if v.Type == ptx.Pred {
			continue
		}
		n := c.counts[e.Index]
		if n == nil {
			n = &InstrCounts{Instr: e.Instr, Func: e.Func, Stored: make([]int64, len(c.sinks)), Compressed: make(CompressedWrites, 1<<len(c.sinks))}
			c.counts[e.Index] = n
		}
		all := Bytes(v, c.launch.WarpSize)
		set := 0
		for model, sizer := range c.sizers {
			stored := all
			if sizer != nil {
				stored = sizer.StoredBytes(e, write)
			}
			n.Stored[model] += int64(stored)
			if stored < all {
				set |= 1 << model
			}
		}
		n.Writes++
		n.Bytes += int64(all)
		n.Compressed[set]++
	}
}

// end adds the counts of a CTA that ends to the total.
func (c *cta) end() {
	comparison := c.comparison
	comparison.mu.Lock()
	defer comparison.mu.Unlock()
	for _, n := range c.counts {
		if n == nil {
			continue
		}
		if total := comparison.instrs[n.Instr]; total != nil {
			total.Add(n)
		} else {
			comparison.instrs[n.Instr] = n
		}
	}
}

// comparisonState is a saved Comparison.
type comparisonState struct {
	instrs map[*ptx.Instr]*InstrCounts
	models []any
}

// Save returns the counts and the states of the models.
func (c *Comparison) Save() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := &comparisonState{instrs: map[*ptx.Instr]*InstrCounts{}}
	for instr, n := range c.instrs {
		state.instrs[instr] = n.clone()
	}
	for _, m := range c.models {
		state.models = append(state.models, m.Save())
	}
	return state
}

// Restore sets the state that Save returned.
func (c *Comparison) Restore(state any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	saved := state.(*comparisonState)
	c.instrs = map[*ptx.Instr]*InstrCounts{}
	for instr, n := range saved.instrs {
		c.instrs[instr] = n.clone()
	}
	for i, m := range c.models {
		m.Restore(saved.models[i])
	}
}

// clone returns a copy; nil for nil.
func (n *InstrCounts) clone() *InstrCounts {
	if n == nil {
		return nil
	}
	copied := *n
	copied.Stored, copied.Compressed = slices.Clone(n.Stored), slices.Clone(n.Compressed)
	return &copied
}

// ctaState is a saved sink of a CTA.
type ctaState struct {
	counts []*InstrCounts
	sinks  []any
}

// Save returns the counts and the states of the models' sinks.
func (c *cta) Save() any {
	state := &ctaState{counts: cloned(c.counts), sinks: make([]any, len(c.sinks))}
	for i, sink := range c.sinks {
		if saver, ok := sink.(probe.Saver); ok {
			state.sinks[i] = saver.Save()
		}
	}
	return state
}

// Restore sets the state that Save returned.
func (c *cta) Restore(state any) {
	saved := state.(*ctaState)
	c.counts = cloned(saved.counts)
	for i, sink := range c.sinks {
		if saver, ok := sink.(probe.Saver); ok {
			saver.Restore(saved.sinks[i])
		}
	}
}

func cloned(counts []*InstrCounts) []*InstrCounts {
	list := make([]*InstrCounts, len(counts))
	for i, n := range counts {
		list[i] = n.clone()
	}
	return list
}

// Sets returns the sets of models that stored at least one write compressed while all other models did not, the most
// frequent set first; 0 is the set of no model. Of equally frequent sets, smaller sets come first.
func (w CompressedWrites) Sets() (sets []int) {
	for set, n := range w {
		if n != 0 {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b int) int {
		switch {
		case w[a] != w[b] && w[a] > w[b]:
			return -1
		case w[a] != w[b]:
			return 1
		}
		return bits.OnesCount(uint(a)) - bits.OnesCount(uint(b))
	})
	return sets
}
