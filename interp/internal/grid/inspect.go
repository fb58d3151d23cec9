package grid

// This file reports the warp splits of a paused launch.

import (
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
)

// WarpSplits returns the warp splits of the CTAs in flight, ordered by CTA and warp.
func WarpSplits(g *machine.Grid) (list []probe.WarpSplit) {
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil || g.Flights[i].Status == machine.CTAEnded {
			continue
		}
		for k := range c.Warps {
			w := &c.Warps[k]
			for n, s := range w.Splits() {
				list = append(list, describeSplit(w, s, w.Mask != 0 && n == len(w.WaitingSplits)))
			}
		}
	}
	return list
}

// WaitingSplits returns the lanes of the CTAs in flight that wait at reconvergence points, an element for each
// reconvergence point. These lanes are in no warp split.
func WaitingSplits(g *machine.Grid) (list []probe.WarpSplit) {
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil || g.Flights[i].Status == machine.CTAEnded {
			continue
		}
		for k := range c.Warps {
			w, seen := &c.Warps[k], map[*machine.Reconvergence]bool{}
			for _, s := range w.Splits() {
				for j := s.Reconvergence; j != nil && !seen[j]; j = j.Outer {
					if seen[j] = true; j.Arrived != 0 {
						list = append(list, describeSplit(w, machine.WarpSplit{PC: j.PC, Mask: j.Arrived, Frame: j.Frame}, false))
					}
				}
			}
		}
	}
	return list
}

// Stack returns the reconvergence stack of a warp of a CTA in flight; nil if the CTA is not in flight, or the warp has ended.
func Stack(g *machine.Grid, cta, warp int) []probe.StackEntry {
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil || g.Flights[i].Status == machine.CTAEnded || c.Index != cta || warp < 0 || warp >= len(c.Warps) {
			continue
		}
		w := &c.Warps[warp]
		var at *code.Source
		if w.PausedInBlock {
			at = sourceOfPause(w)
		}
		return event.AppendStack(w, at, nil)
	}
	return nil
}

// sourceOfPause returns the PTX instruction before which a warp has paused inside a block.
func sourceOfPause(w *machine.Warp) *code.Source {
	return &w.CTA.Code.Sources[w.CTA.Code.Block(w.PC).Sources.End-w.Uncounted]
}

// maxPlaces is the maximum number of warp splits that Places describes.
const maxPlaces = 2

// Places describes where the first warp splits in flight are, for a message about a launch that yields the device.
func Places(g *machine.Grid) (list []string) {
	all := WarpSplits(g)
	for i := range all[:min(len(all), maxPlaces)] {
		s, verb, at := &all[i], "loop", ""
		if s.Wait != nil {
			verb = "wait"
		}
		if s.Instr != nil {
			at = fmt.Sprintf(" at %s:%s", g.Kernel.Module.Name, s.Instr.Pos)
		}
		list = append(list, fmt.Sprintf("cta %s warp %d: %s%s", s.ID, s.Warp, machine.LanesDo(s.Lanes, verb), at))
	}
	if more := len(all) - maxPlaces; more > 0 {
		list = append(list, fmt.Sprintf("and %d more warp splits", more))
	}
	return list
}

// describeSplit describes a warp split for probes. running: it is the running split of the warp.
func describeSplit(w *machine.Warp, s machine.WarpSplit, running bool) probe.WarpSplit {
	c := w.CTA
	m := &splitMachine{warp: w, split: s}
	d := probe.WarpSplit{CTA: c.Index, ID: c.ID, Warp: w.ID, Lanes: s.Mask, Running: running, Index: -1, Func: s.Frame.Func.Func, Machine: m}
	switch {
	case s.Wait != nil:
		described := event.DescribeWait(s.Wait, c.Code.Width)
		d.Wait, m.src = &described, s.Wait.Src
	case running && w.PausedInBlock:
		m.src = sourceOfPause(w)
	default:
		m.src = c.Code.Source(c.Code.NextSource(s.PC, s.Uncounted))
	}
	if m.src != nil {
		d.Instr, d.Index = m.src.Instr, int(m.src.Index)
	}
	for fr := s.Frame; fr.Call != nil; fr = fr.Caller {
		d.Calls = append(d.Calls, int(c.Code.End(fr.Call).Src))
	}
	return d
}

// splitMachine gives access to the registers and memory of a warp split. It implements probe.SplitMachine.
type splitMachine struct {
	warp  *machine.Warp
	split machine.WarpSplit
	src   *code.Source // the next instruction; nil if there is none
}

// Read reads a register of the function in which the warp split is.
func (m *splitMachine) Read(r ptx.RegID) (v probe.Value, ok bool) {
	if m.src == nil {
		return probe.Value{}, false
	}
	ok = event.ReadRegister(m.warp, &v, m.split.Frame, m.src, r)
	return v, ok
}

// Shared returns the shared memory of the CTA.
func (m *splitMachine) Shared() *probe.Allocation { return m.warp.CTA.SharedMem.Public() }

// Frame returns the offset in bytes of the function's frame in local memory.
func (m *splitMachine) Frame() int { return 4 * m.split.Frame.Local }

// ReadLocal copies local memory of a lane, from offset, into p. It returns the number of copied bytes.
func (m *splitMachine) ReadLocal(p []byte, lane int, offset uint64) int {
	return event.CopyLocal(m.warp, p, lane, offset)
}
