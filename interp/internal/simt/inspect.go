package simt

// This file shows where a launch that has paused is.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// WarpSplit is lanes of a warp that go on together: where they stand in a launch that has
// paused. It is good until the launch goes on.
type WarpSplit struct {
	CTA     int
	ID      Dim3 // of the CTA
	Warp    int  // within the CTA
	Lanes   uint64
	Running bool       // it is the one of its warp that does
	Wait    *WaitState // for others; nil: it can run

	// The instruction before which it stands, or at which it waits; nil: the function's end.
	Instr *ptx.Instr
	Func  *ptx.Func
	Index int // of it in the Program; -1: none

	Calls []int // the calls that it is in, as Index, the innermost first

	warp  *warp
	split warpSplit
	src   *code.Source
}

// WarpSplits are those of the CTAs in flight, by CTA and warp.
func (g *Grid) WarpSplits() (list []WarpSplit) {
	for i := range g.flights {
		c := g.flights[i].cta
		if c == nil || g.flights[i].status == ctaEnded {
			continue
		}
		for k := range c.warps {
			w := &c.warps[k]
			for n, s := range w.splits() {
				list = append(list, w.describe(s, w.mask != 0 && n == len(w.waitingSplits)))
			}
		}
	}
	return list
}

// WaitingSplits are lanes of the CTAs in flight that wait, each lot before an instruction where others are
// to meet them: they are in no warp split.
func (g *Grid) WaitingSplits() (list []WarpSplit) {
	for i := range g.flights {
		c := g.flights[i].cta
		if c == nil || g.flights[i].status == ctaEnded {
			continue
		}
		for k := range c.warps {
			w, seen := &c.warps[k], map[*reconvergence]bool{}
			for _, s := range w.splits() {
				for j := s.reconvergence; j != nil && !seen[j]; j = j.outer {
					if seen[j] = true; j.arrived != 0 {
						list = append(list, w.describe(warpSplit{pc: j.pc, mask: j.arrived, frame: j.frame}, false))
					}
				}
			}
		}
	}
	return list
}

func (w *warp) describe(s warpSplit, runs bool) WarpSplit {
	c := w.cta
	d := WarpSplit{CTA: c.index, ID: c.id, Warp: w.id, Lanes: s.mask, Running: runs, Index: -1, Func: s.frame.fn.Func, warp: w, split: s}
	switch {
	case s.wait != nil:
		described := s.wait.described(c.code.Width)
		d.Wait, d.src = &described, s.wait.src
	case runs && w.pausedInBlock:
		d.src = &c.code.Sources[c.code.Block(s.pc).Sources.End-s.uncounted]
	default:
		d.src = c.code.source(c.code.nextSource(s.pc, s.uncounted))
	}
	if d.src != nil {
		d.Instr, d.Index = d.src.Instr, int(d.src.Index)
	}
	for fr := s.frame; fr.call != nil; fr = fr.caller {
		d.Calls = append(d.Calls, int(c.code.End(fr.call).Src))
	}
	return d
}

// Shared is the shared memory of the warp split's CTA.
func (s *WarpSplit) Shared() *mem.Allocation { return s.warp.cta.sharedMem }

// Frame is where the function's local frame begins in its lanes' local memory, in bytes.
func (s *WarpSplit) Frame() int { return 4 * s.split.frame.local }

// Local copies local memory of a lane from an offset on, and gives how many bytes there were.
func (s *WarpSplit) Local(p []byte, lane int, offset uint64) (n int) {
	return s.warp.copyLocal(p, lane, offset)
}

// LocalBytes copies local memory of a lane of the warp from an offset on, and gives how many bytes there were.
func (e *Event) LocalBytes(p []byte, lane int, offset uint64) (n int) {
	if e.warp == nil {
		return 0
	}
	return e.warp.copyLocal(p, lane, offset)
}

// LocalWords is the i-th word, 4 bytes, of the local memory of the warp's first 32 lanes, as it is now; nil
// if they have less. It is not to be changed.
func (e *Event) LocalWords(i uint64) *[mem.Lanes]uint32 {
	if e.warp == nil || i >= uint64(len(e.warp.local[0])) {
		return nil
	}
	return &e.warp.local[0][i]
}

// Find is the allocation of global memory that an address lies in, which may have been freed; nil if
// there is none, or the event is no CTA's.
func (e *Event) Find(addr uint64) *mem.Allocation {
	if e.stream == nil {
		return nil
	}
	return e.stream.cta.grid.dev.Memory.Find(addr)
}

func (w *warp) copyLocal(p []byte, lane int, offset uint64) (n int) {
	local := w.local[lane/mem.Lanes]
	for n < len(p) && offset/4 < uint64(len(local)) {
		p[n] = byte(local.Load(int(offset), lane%mem.Lanes, 1))
		n, offset = n+1, offset+1
	}
	return n
}

// Read reads a register of the function that the warp split is in, with its tags; ok is false
// where it is dead.
func (s *WarpSplit) Read(r ptx.RegID) (v Value, ok bool) {
	if s.src == nil {
		return Value{}, false
	}
	return s.warp.readRegister(s.split.frame, s.src, r)
}
