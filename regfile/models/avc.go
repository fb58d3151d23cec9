package models

// This file has the Affine Vector Cache stand beside register files.

import (
	"gemu/interp"
	"gemu/regfile/avc"
	"gemu/regfile/model"
)

// cache is the Affine Vector Cache beside other models. It holds registers that are spilled to
// private memory, so its report is about that; of a register that an instruction writes it keeps
// what it would if that was spilled now, the lanes that were written by themselves.
type cache struct{ avc.Recorder }

// cachedBytes is what a vector takes in the cache: a line of 128 bytes has 16 (section 4.2).
const cachedBytes = 128 / 16

// Name is "avc".
func (c *cache) Name() string { return "avc" }

// Wants is what the recorder wants, and values of registers.
func (c *cache) Wants() interp.Wants {
	w := c.Recorder.Wants()
	w.Values = true
	return w
}

// CTA has the recorder record each CTA, with warps of 32 lanes.
func (c *cache) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	return &cacheSink{c.Recorder.CTA(l, index, id)}
}

type cacheSink struct{ interp.Sink }

// Tell tells the recorder, if it wants to know.
func (s *cacheSink) Tell(e *interp.Event) {
	if s.Sink != nil {
		s.Sink.Tell(e)
	}
}

// Save and Restore let a CTA go back with its launch.
func (s *cacheSink) Save() any {
	if of, ok := s.Sink.(interp.Saver); ok {
		return of.Save()
	}
	return nil
}

// Restore: see Save.
func (s *cacheSink) Restore(state any) {
	if of, ok := s.Sink.(interp.Saver); ok {
		of.Restore(state)
	}
}

// Keeps is what the cache would hold a result in, 32 lanes at a time.
func (s *cacheSink) Keeps(e *interp.Event, i int) (bytes int) {
	v := &e.Writes[i]
	for k := range model.Bytes(v, 1) / 4 {
		from := v.Low
		if k >= 2 {
			from = v.High
		}
		for first := 0; first < e.Launch.WarpSize; first += avc.Lanes {
			var d avc.Vector
			n := min(avc.Lanes, e.Launch.WarpSize-first)
			for lane := range n {
				d[lane] = uint32(from[first+lane] >> (32 * (k & 1)))
			}
			stored := 4 * n
			if _, ok := avc.Encode(&d, uint32(e.Lanes>>first)); ok {
				stored = min(stored, cachedBytes)
			}
			bytes += stored
		}
	}
	return bytes
}

// Report is the classes of vectors in private memory.
func (c *cache) Report() *model.Report {
	t := model.Table{Name: "private", Title: "vectors in private memory", Unit: "transactions", Plot: model.Stacked}
	for k := range avc.Classes {
		t.Columns = append(t.Columns, k.String())
	}
	var sum avc.Counts
	for _, k := range c.Kernels() {
		sum.Add(&k.Counts)
	}
	row := func(name string, counts [avc.Classes]int64) {
		r := model.Row{Name: name}
		for _, n := range counts {
			r.Values = append(r.Values, float64(n))
		}
		t.Rows = append(t.Rows, r)
	}
	row("loads", sum.Loads)
	row("stores", sum.Stores)
	return &model.Report{Model: c.Name(), Title: "Collange and Kouyoumdjian 2011: vectors of private memory with a base and a stride in a cache beside the first level; of registers, what it would hold if they were spilled", Tables: []model.Table{t}}
}

var _ model.Keeper = (*cacheSink)(nil)
