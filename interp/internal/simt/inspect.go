package simt

// This file shows where a launch that has paused is.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// WarpSplits are those of the CTAs in flight, by CTA and warp.
func (g *Grid) WarpSplits() (list []probe.WarpSplit) {
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
func (g *Grid) WaitingSplits() (list []probe.WarpSplit) {
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

func (w *warp) describe(s warpSplit, runs bool) probe.WarpSplit {
	c := w.cta
	m := &splitMachine{warp: w, split: s}
	d := probe.WarpSplit{CTA: c.index, ID: c.id, Warp: w.id, Lanes: s.mask, Running: runs, Index: -1, Func: s.frame.fn.Func, Machine: m}
	switch {
	case s.wait != nil:
		described := s.wait.described(c.code.Width)
		d.Wait, m.src = &described, s.wait.src
	case runs && w.pausedInBlock:
		m.src = &c.code.Sources[c.code.Block(s.pc).Sources.End-s.uncounted]
	default:
		m.src = c.code.source(c.code.nextSource(s.pc, s.uncounted))
	}
	if m.src != nil {
		d.Instr, d.Index = m.src.Instr, int(m.src.Index)
	}
	for fr := s.frame; fr.call != nil; fr = fr.caller {
		d.Calls = append(d.Calls, int(c.code.End(fr.call).Src))
	}
	return d
}

// splitMachine is the state of the machine at a warp split: probe.SplitMachine.
type splitMachine struct {
	warp  *warp
	split warpSplit
	src   *code.Source // the next instruction; nil if there is none
}

// Read reads a register of the function that the warp split is in.
func (m *splitMachine) Read(r ptx.RegID) (v probe.Value, ok bool) {
	if m.src == nil {
		return probe.Value{}, false
	}
	ok = m.warp.readRegister(&v, m.split.frame, m.src, r)
	return v, ok
}

// Shared returns the shared memory of the CTA.
func (m *splitMachine) Shared() *probe.Allocation { return m.warp.cta.sharedMem.Public() }

// Frame returns the offset of the local frame in bytes.
func (m *splitMachine) Frame() int { return 4 * m.split.frame.local }

// ReadLocal copies local memory of a lane.
func (m *splitMachine) ReadLocal(p []byte, lane int, offset uint64) int {
	return m.warp.copyLocal(p, lane, offset)
}

// copyLocal copies local memory of a lane from an offset on, and returns the number of bytes.
func (w *warp) copyLocal(p []byte, lane int, offset uint64) (n int) {
	local := w.local[lane/mem.Lanes]
	for n < len(p) && offset/4 < uint64(len(local)) {
		p[n] = byte(local.Load(int(offset), lane%mem.Lanes, 1))
		n, offset = n+1, offset+1
	}
	return n
}
