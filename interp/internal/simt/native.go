package simt

// This file is the native engine: package native executes instructions as machine code, and Go executes those without.

import (
	"slices"
	"sync/atomic"

	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// Native is the engine that executes machine code of this host; nil on hosts without it. Instructions without machine code, and
// warps of more than 32 lanes, run on the portable engine.
var Native = nativeBackend()

func nativeBackend() Backend {
	if native.Supported() {
		return machineCode{}
	}
	return nil
}

type machineCode struct{}

// span executes instructions on the portable engine: spans are requested where each instruction is observed.
func (machineCode) span(w *warp, from, to int32) int32 { return Portable.span(w, from, to) }

// Entered counts the entries into machine code of this process, by CTAs that have ended. Every exit to Go costs time; this
// counter is the only place where that shows.
var Entered atomic.Int64

// nativeState is the state of a CTA for machine code.
type nativeState struct {
	scheduler   native.Scheduler
	exported    []exportedWarp     // by warp; nil before the first entry
	contexts    []*native.Context  // the contexts of exported
	tid         [][3]regfile.Row32 // thread index of the lanes, by warp
	index       [][3]native.Source // thread index as base and stride, by warp; not every dimension is affine
	hasSource   []bool             // tid and index are set, by warp
	uniform     [native.Registers]uint64
	sourceCount int   // 1 + index of the CTA whose special registers these are
	enterCount  int64 // entries into machine code that Entered does not count yet
	anyInNative bool  // some warp may be ready or waiting in machine code
	resumed     *warp // the last warp that machine code switched to in the run that has ended
}

// exportedWarp is the state of a warp for machine code.
type exportedWarp struct {
	native.Context

	reconvergences exportedReconvergences
	inNative       bool                      // the warp splits of the warp are here, not in warp
	constantsSet   bool                      // the fields that are the same in all CTAs are set
	filled         bool                      // the addresses of registers are set
	uniform        *[native.Registers]uint64 // special registers, if they differ from those of the CTA
}

// reset forgets a launch, except the threads' indices in the block.
func (n *nativeState) reset() {
	clear(n.exported)
	n.scheduler, n.sourceCount, n.anyInNative = native.Scheduler{}, 0, false
}

// compile assembles the code for the lanes of a CTA's first warp.
func (machineCode) compile(g *Grid) {
	k := g.kernel
	if k.Width > regfile.Lanes || len(g.probes) > 0 { // which Go runs
		return
	}
	masked := min(k.Width, g.threads) < regfile.Lanes
	if g.mode != Check {
		k.native.Make(masked)
	} else if m := k.checkOnce(); m != nil {
		m.Make(masked)
	}
}

// setConstants sets the context's special registers and local memory.
func (w *warp) setConstants() {
	c := w.cta
	n, l := &c.native, w.exported
	if n.sourceCount != 1+c.index {
		n.sourceCount = 1 + c.index
		for _, r := range c.code.native.Uniform {
			n.uniform[r] = w.uniformSreg(&code.Instr{Imm: uint64(r)})
		}
	}
	if !l.constantsSet {
		l.constantsSet = true
		w.setLaunchConstants()
	}
	if l.uniform != nil {
		*l.uniform = n.uniform
		l.uniform[ptx.WarpID] = uint64(w.id)
	}
	l.SetParallel(c.atomics())
	if !w.sourcesSet {
		l.SetSources(w.readSources(c.code.native.Sources))
	}
	w.setLocalMemory()
}

// setLaunchConstants sets the fields of the context that are the same in all CTAs of a launch.
func (w *warp) setLaunchConstants() {
	c := w.cta
	n, l := &c.native, w.exported
	tid, uniform := &n.tid[w.id], &n.uniform
	if !n.hasSource[w.id] {
		n.hasSource[w.id] = true
		present := uint32(regfile.Full) >> (regfile.Lanes - min(c.code.Width, c.grid.block.Count()-w.tid(0)))
		for i := range tid {
			instr := &code.Instr{Imm: uint64(ptx.TidX) + uint64(i)}
			sregRow(w, 0, &tid[i], instr, ^uint32(0), regfile.Full)
			v := sregSource(w, 0, instr, present)
			n.index[w.id][i] = native.Source{Base: v.Base, Stride: v.Stride}
		}
	}
	if slices.Contains(c.code.native.Uniform, ptx.WarpID) {
		l.uniform = new([native.Registers]uint64)
		uniform = l.uniform
	}
	l.SetScheduler(&n.scheduler)
	l.SetSpecials(tid, uniform)
	l.SetMemory(c.lastHits, c.sharedMem, &c.changed)
}

// setLocalMemory sets the address of local memory, which an instruction may have moved.
func (w *warp) setLocalMemory() {
	from, to := w.localRange()
	w.exported.SetLocal(w.local[0], from, to, 4*uint64(w.frame.local))
}

// readSources returns the special registers that machine code reads as base and stride, once for each warp.
func (w *warp) readSources(list []ptx.SpecialReg) []native.Source {
	w.sourcesSet, w.sources = true, w.sources[:0]
	n := &w.cta.native
	for _, r := range list {
		v := native.Source{Stride: 1} // the lane
		switch {
		case !r.PerLane():
			v = native.Source{Base: n.uniform[r]}
			if r == ptx.WarpID {
				v.Base = uint64(w.id)
			}
		case r <= ptx.TidZ:
			v = n.index[w.id][r-ptx.TidX]
		}
		w.sources = append(w.sources, v)
	}
	return w.sources
}

func (machineCode) run(w *warp, budget int) reason {
	w.importIfExported()
	c, m := w.cta, w.cta.code.native
	if !w.fitsNative() || !m.Ready(w.prepareNative()) {
		return Portable.run(w, budget)
	}
	w.enterScheduler(budget)
	m.RunBlock(w.nativeContext(), &w.files[0], c.code.Block(w.pc).Index)
	for {
		w = w.resumeUntilExit(m.RunBlock, m.RunInstr)
		f, ctx := &w.files[0], &w.exported.Context
		if ctx.Reason == native.SwitchedWarp {
			return noReason
		}
		w.importSplits()
		switch ctx.Reason {
		case native.Unsupported:
			b := c.code.Block(w.pc)
			at := m.NextSupported(ctx, w.pc+1)
			instrs := c.code.Instrs[w.pc:at]
			w.pc = b.First
			if w.block(instrs); w.err != nil {
				return w.failed(b)
			}
			w.exportAgain()
			m.RunInstr(w.nativeContext(), f, at)
		case native.NeedsCaution:
			b := c.code.Block(w.pc)
			if reason := w.stopReason(b); reason != noReason {
				return reason
			}
			w.exportAgain()
			m.RunBlockAfterCaution(w.nativeContext(), f, b.Index)
		default:
			return reasons[ctx.Reason]
		}
	}
}

// reasons maps the exits of machine code that the machine handles.
var reasons = [...]reason{native.BudgetUsed: budgetUsed, native.Diverges: diverges, native.Reconverges: reconverges, native.OtherEnd: otherEnd, native.NoSplit: noSplit}

// fitsNative reports whether machine code can run a warp.
func (w *warp) fitsNative() bool {
	return len(w.files) == 1 && w.unit.Fast() && w.uncounted == 0 && !w.cta.releasedEarly && !w.cta.grid.dev.Memory.MayFault()
}

// prepareNative fills the context with the running warp split, and returns it.
func (w *warp) prepareNative() *native.Context {
	c := w.cta
	if c.native.exported == nil {
		c.native.prepare(c)
	}
	w.activate()
	ctx := &w.exported.Context
	ctx.Count, ctx.PC = w.count.WarpInstructions, w.pc
	ctx.Mask, ctx.Live, ctx.ReconvergeAt, ctx.NotifyEveryBlock = uint32(w.mask), uint32(w.live), w.reconvergeAt, 0
	if w.notifyEveryBlock && len(w.waitingSplits) > 0 {
		ctx.NotifyEveryBlock = 1
	}
	return ctx
}

// importIfExported imports the warp splits of a warp that was exported when another warp entered machine code.
func (w *warp) importIfExported() {
	if w.exported != nil && w.exported.inNative {
		w.importSplits()
	}
}

// prepare allocates the contexts of the CTA's warps.
func (n *nativeState) prepare(c *cta) {
	size := len(c.warps)
	n.exported, n.contexts = make([]exportedWarp, size), make([]*native.Context, size)
	n.tid, n.index, n.hasSource = make([][3]regfile.Row32, size), make([][3]native.Source, size), make([]bool, size)
	for i := range c.warps {
		n.contexts[i] = &n.exported[i].Context
		c.warps[i].exported = &n.exported[i]
	}
}

// importCounts copies the place and the counts of a warp back from machine code.
func (w *warp) importCounts() {
	ctx, n := &w.exported.Context, &w.count
	w.pc = ctx.PC
	n.WarpInstructions = ctx.Count
	n.ThreadInstructions += ctx.LaneInstrs - ctx.Skipped
	n.LaneSlots += ctx.LaneInstrs
	n.Branches += ctx.Branches
	n.DivergentBranches += ctx.DivergentBranches
	n.Splits += ctx.DivergentBranches - ctx.ExitBranches
	n.Reconvergences += ctx.Reconverged
	w.importEngineCounts(&n.Engine)
	w.countedUpTo = ctx.CountedUpTo
	w.unchargedExits += ctx.ExitBranches
	ctx.ResetCounts()
}

// importEngineCounts adds the counts of compact execution, in check mode.
func (w *warp) importEngineCounts(to *EngineCounts) {
	if ctx := &w.exported.Context; w.check != nil {
		to.MaterialisedLanes += ctx.Materialised
		to.ShadowLanes += ctx.ComparedCompact
		ctx.Materialised, ctx.ComparedCompact = 0, 0
	}
}
