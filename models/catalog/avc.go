package catalog

// This file has the Affine Vector Cache stand beside register files.

import (
	"math/bits"

	"gemu/interp"
	"gemu/models"
	"gemu/models/avc"
	"gemu/ptx"
)

// cache is the Affine Vector Cache beside other models. It holds registers that are spilled to
// private memory, so its report is about that; of a register that an instruction writes it keeps
// what it would if that was spilled now, with what its other lanes have been given before: one base and stride
// for all lanes that have a value, or else the vector. So it is charged for a whole register, as
// register files are, also where some lanes write it.
type cache struct{ avc.Recorder }

// cachedBytes is what a vector takes in the cache: a line of 128 bytes has 16 (section 4.2).
const cachedBytes = 128 / 16

// Name is "avc".
func (c *cache) Name() string { return "avc" }

// Subscription is what the recorder wants, values of registers, and calls, whose registers have none yet.
func (c *cache) Subscription() interp.Subscription {
	w := c.Recorder.Subscription()
	w.Values = true
	w.Events |= interp.OnCall
	return w
}

// CTA has the recorder record each CTA, with warps of 32 lanes.
func (c *cache) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	return &cacheSink{Sink: c.Recorder.CTA(l, index, id), frames: map[frame]map[ptx.RegID]*register{}}
}

type cacheSink struct {
	interp.Sink
	frames map[frame]map[ptx.RegID]*register
}

// frame is where a warp has registers of a function.
type frame struct {
	warp, depth int
	fn          *ptx.Func
}

// register is what the lanes of a register have, by word and by 32 lanes, in those that have been given
// something.
type register struct {
	valid uint64
	words [4][2]avc.Vector
}

// OnEvent tells the recorder, if it wants to know. What lanes had in an earlier call is gone.
func (s *cacheSink) OnEvent(e *interp.Event) {
	if e.Kind == interp.OnCall {
		for _, r := range s.frames[frame{e.Warp, e.Depth, e.Callee}] {
			r.valid &^= e.Lanes
		}
		return
	}
	if s.Sink != nil {
		s.Sink.OnEvent(e)
	}
}

// savedSink is a cacheSink as it was.
type savedSink struct {
	recorder any
	frames   map[frame]map[ptx.RegID]*register
}

// Save and Restore let a CTA go back with its launch.
func (s *cacheSink) Save() any {
	saved := &savedSink{frames: cloned(s.frames)}
	if saver, ok := s.Sink.(interp.Saver); ok {
		saved.recorder = saver.Save()
	}
	return saved
}

// Restore: see Save.
func (s *cacheSink) Restore(state any) {
	saved := state.(*savedSink)
	s.frames = cloned(saved.frames)
	if saver, ok := s.Sink.(interp.Saver); ok {
		saver.Restore(saved.recorder)
	}
}

// cloned are registers that change by themselves.
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

// StoredBytes is what the cache would hold the register in that a result is written to, 32 lanes at a time.
func (s *cacheSink) StoredBytes(e *interp.Event, i int) (bytes int) {
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

// Report is the classes of vectors in private memory.
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
	return &models.Report{Model: c.Name(), Title: "Collange and Kouyoumdjian 2011: vectors of private memory with a base and a stride in a cache beside the first level; of registers, what it would hold if they were spilled", Tables: []models.Table{t}}
}

var _ models.Sizer = (*cacheSink)(nil)
