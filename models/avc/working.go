package avc

import (
	"math/bits"
	"sync"

	"gemu/probe"
	"gemu/ptx"
)

// This file counts the registers with generic values, before anything is spilled.

// WorkingSet is a probe that finds the largest number of a thread's registers that hold generic values at the same
// time. It counts 32-bit registers that are live after an instruction, by their class in the active lanes (section
// 2.3). It requires warps of 32 lanes, and does not look into functions that kernels call.
type WorkingSet struct {
	// Warps is the number of examined warps of each launch, from the first on.
	Warps int

	mu         sync.Mutex
	maxGeneric map[string]int
	liveAfter  map[*ptx.Func]map[*ptx.Instr][]ptx.RegID
}

// Generic returns the largest number of registers of a kernel that hold generic values at the same time.
func (p *WorkingSet) Generic(kernel string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.maxGeneric[kernel]
}

// Subscription asks for all instructions with their results.
func (p *WorkingSet) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter | probe.OnCTAEnd, Values: true}
}

// OnEvent does nothing: all events of interest are events of CTAs.
func (p *WorkingSet) OnEvent(*probe.Event) {}

// CTA makes a sink that examines a CTA.
func (p *WorkingSet) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	n := (l.Block.Count() + Lanes - 1) / Lanes
	if l.WarpSize != Lanes || index*n >= p.Warps {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	after := p.liveAfter[l.Kernel]
	if after == nil {
		if p.liveAfter == nil {
			p.liveAfter, p.maxGeneric = map[*ptx.Func]map[*ptx.Instr][]ptx.RegID{}, map[string]int{}
		}
		after = liveAfter(l.Kernel)
		p.liveAfter[l.Kernel] = after
	}
	c := &workingCTA{workingSet: p, kernel: l.Kernel, liveAfter: after, warps: make([][]workingRegister, n)}
	for i := range c.warps {
		c.warps[i] = make([]workingRegister, len(l.Kernel.Regs))
	}
	return c
}

// liveAfter returns the registers that are live after each instruction, without predicates.
func liveAfter(f *ptx.Func) map[*ptx.Instr][]ptx.RegID {
	after := map[*ptx.Instr][]ptx.RegID{}
	l := f.Liveness()
	live := make([]bool, len(f.Regs))
	for b, block := range f.Blocks {
		for r := range live {
			live[r] = f.Regs[r].Type != ptx.Pred && l.LiveOut(b, ptx.RegID(r))
		}
		for i := len(block.Instrs) - 1; i >= 0; i-- {
			instr := block.Instrs[i]
			for r, isLive := range live {
				if isLive {
					after[instr] = append(after[instr], ptx.RegID(r))
				}
			}
			if instr.Guard.Reg == ptx.NoReg {
				for r := range instr.Defs() {
					live[r] = false
				}
			}
			for r := range instr.Uses() {
				live[r] = f.Regs[r].Type != ptx.Pred
			}
		}
	}
	return after
}

// workingCTA examines a CTA.
type workingCTA struct {
	workingSet *WorkingSet
	kernel     *ptx.Func
	liveAfter  map[*ptx.Instr][]ptx.RegID
	warps      [][]workingRegister
	maxGeneric int
}

// workingRegister is the values of a register, and the number of its words that are generic in some lanes.
type workingRegister struct {
	words   [4]Vector
	lanes   uint32 // lanes for which generic is valid; 0: none
	generic int
}

// OnEvent examines the registers that are live after an instruction.
func (c *workingCTA) OnEvent(e *probe.Event) {
	if e.Kind == probe.OnCTAEnd {
		c.workingSet.mu.Lock()
		defer c.workingSet.mu.Unlock()
		c.workingSet.maxGeneric[c.kernel.Name] = max(c.workingSet.maxGeneric[c.kernel.Name], c.maxGeneric)
		return
	}
	if e.Func != c.kernel {
		return
	}
	regs := c.warps[e.Warp]
	for i := range e.Writes {
		v := &e.Writes[i]
		if v.Type == ptx.Pred {
			continue
		}
		r := &regs[v.Reg]
		r.lanes = 0
		for k := range max(1, v.Type.Bits()/32) {
			from := v.Low
			if k >= 2 {
				from = v.High
			}
			for remaining := e.Lanes; remaining != 0; remaining &= remaining - 1 {
				lane := bits.TrailingZeros64(remaining)
				r.words[k][lane] = uint32(from[lane] >> (32 * (k & 1)))
			}
		}
	}
	sum, lanes := 0, uint32(e.Active)
	for _, id := range c.liveAfter[e.Instr] {
		r := &regs[id]
		if r.lanes != lanes {
			r.lanes, r.generic = lanes, 0
			for k := range max(1, c.kernel.Regs[id].Type.Bits()/32) {
				if _, ok := Encode(&r.words[k], lanes); !ok {
					r.generic++
				}
			}
		}
		sum += r.generic
	}
	c.maxGeneric = max(c.maxGeneric, sum)
}
