package catalog

// This file compares the Affine Vector Cache with register files.

import (
	"math/bits"

	"gemu/models"
	"gemu/models/avc"
	"gemu/probe"
	"gemu/ptx"
)

// cache is the Affine Vector Cache as a model of a register file. The cache holds spilled registers, which are in
// private memory, and its report counts these. For a register that an instruction writes, StoredBytes is the size
// that the cache would need if the register were spilled now: one base and stride for all lanes that have a value, or
// else the vector. A write by some lanes is charged for the whole register, as in register files.
type cache struct{ avc.Recorder }

// cachedBytes is the size of a compressed vector: a line of 128 bytes holds 16 (section 4.2).
const cachedBytes = 128 / 16

// Name returns "avc".
func (c *cache) Name() string { return "avc" }

// Subscription adds register values to the recorder's events, and calls: after a call the callee's registers have no
// values.
func (c *cache) Subscription() probe.Subscription {
	w := c.Recorder.Subscription()
	w.Values = true
	w.Events |= probe.OnCall
	return w
}

// CTA makes a sink that records a CTA. Warps must have 32 lanes.
func (c *cache) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	return &cacheSink{Sink: c.Recorder.CTA(l, index, id), frames: map[frame]map[ptx.RegID]*register{}}
}

type cacheSink struct {
	probe.Sink
	frames map[frame]map[ptx.RegID]*register
}

// frame identifies a warp's registers of a function.
type frame struct {
	warp, depth int
	fn          *ptx.Func
}

// register is the values that lanes have written to a register: valid is the set of lanes, words the values by 32-bit
// word and group of 32 lanes.
type register struct {
	valid uint64
	words [4][2]avc.Vector
}

// OnEvent passes an event to the recorder. A call removes the values of an earlier call of the same function at the
// same depth.
func (s *cacheSink) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCall {
		for _, r := range s.frames[frame{e.Warp, e.Depth, e.Callee}] {
			r.valid &^= e.Lanes
		}
		return
	}
	if s.Sink != nil {
		s.Sink.OnEvent(e)
	}
}

// savedSink is a saved cacheSink.
type savedSink struct {
	recorder any
	frames   map[frame]map[ptx.RegID]*register
}

// Save returns the registers and the recorder's state.
func (s *cacheSink) Save() any {
	saved := &savedSink{frames: cloned(s.frames)}
	if saver, ok := s.Sink.(probe.Saver); ok {
		saved.recorder = saver.Save()
	}
	return saved
}

// Restore sets the state that Save returned.
func (s *cacheSink) Restore(state any) {
	saved := state.(*savedSink)
	s.frames = cloned(saved.frames)
	if saver, ok := s.Sink.(probe.Saver); ok {
		saver.Restore(saved.recorder)
	}
}

// cloned returns copies of the registers.
func cloned(frames map[frame]map[ptx.RegID]*register) map[frame]map[ptx.RegID]*register {
	list := map[frame]map[ptx.RegID]*register{}
	for key, regs := range frames {
		list[key] = map[ptx.RegID]*register{}
		for id, r := range regs {
			c := *r
			list[key][id] = &c
		}
	}
	return list
}

// StoredBytes returns the size in which the cache would hold the written register, 32 lanes at a time.
func (s *cacheSink) StoredBytes(e *probe.Event, i int) (bytes int) {
	v := &e.Writes[i]
	key := frame{e.Warp, e.Depth, e.Func}
	if s.frames[key] == nil {
		s.frames[key] = map[ptx.RegID]*register{}
	}
	r := s.frames[key][v.Reg]
	if r == nil {
		r = &register{}
		s.frames[key][v.Reg] = r
	}
	r.valid |= e.Lanes
	for k := range models.Bytes(v, 1) / 4 {
		from := v.Low
		if k >= 2 {
			from = v.High
		}
		for remaining := e.Lanes; remaining != 0; remaining &= remaining - 1 {
			lane := bits.TrailingZeros64(remaining)
			r.words[k][lane/avc.Lanes][lane%avc.Lanes] = uint32(from[lane] >> (32 * (k & 1)))
		}
		for first := 0; first < e.Launch.WarpSize; first += avc.Lanes {
			stored := 4 * min(avc.Lanes, e.Launch.WarpSize-first)
			if _, ok := avc.Encode(&r.words[k][first/avc.Lanes], uint32(r.valid>>first)); ok {
				stored = min(stored, cachedBytes)
			}
			bytes += stored
		}
	}
	return bytes
}

// Report returns the classes of vectors in private memory.
func (c *cache) Report() *models.Report {
	t := models.Table{Name: "private", Title: "vectors in private memory", Unit: "transactions", Plot: models.Stacked}
	for k := range avc.Classes {
		t.Columns = append(t.Columns, k.String())
	}
	var sum avc.Counts
	for _, k := range c.Kernels() {
		sum.Add(&k.Counts)
	}
	row := func(name string, counts [avc.Classes]int64) {
		r := models.Row{Name: name}
		for _, n := range counts {
			r.Values = append(r.Values, float64(n))
		}
		t.Rows = append(t.Rows, r)
	}
	row("loads", sum.Loads)
	row("stores", sum.Stores)
	return &models.Report{Model: c.Name(), Title: "Collange and Kouyoumdjian 2011: a cache of private-memory vectors with base and stride, next to the first-level cache; registers count as if they were spilled", Tables: []models.Table{t}}
}

var _ models.Sizer = (*cacheSink)(nil)
