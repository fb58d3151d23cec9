package exchange

// This file is the backend of the native engine: it enters machine code of package native, and after an exit executes
// instructions without machine code in Go.

import (
	"slices"
	"sync/atomic"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// Native is the backend of machine code; nil if package native has none for this host. Instructions without machine code,
// and warps of more than 32 lanes, execute on the portable backend.
var Native = nativeBackend()

// MachineCode is the type of Native.
type MachineCode struct{}

// Span executes instructions on the portable backend: NativeObservedRunner executes the spans of observed launches that run in
// machine code.
func (MachineCode) Span(w *machine.Warp, from, to int32) int32 {
	return warp.Portable.Span(w, from, to)
}

// Entered counts the entries into machine code of this process, by CTAs that have ended. Every exit to Go costs time; this
// counter is the only place where that shows.
var Entered atomic.Int64

// ResetExport clears the state that belongs to a launch. ThreadIDs and Index stay, because they depend only on the context.
func ResetExport(n *machine.NativeState) {
	clear(n.Exported)
	n.Scheduler, n.UniformCTA, n.AnyInNative = native.Scheduler{}, 0, false
}

// Compile assembles the machine code of a launch: masked stencils if the first warp of a CTA has less than 32 lanes.
func (MachineCode) Compile(g *machine.Grid) {
	k := g.Kernel
	if k.Width > regfile.Lanes || len(g.Probes) > 0 { // the launch runs in Go, or its code depends on the events
		return
	}
	masked := min(k.Width, g.Threads) < regfile.Lanes
	if g.Mode != machine.Check {
		codeOf(g).Make(masked)
	} else if m := k.CheckOnce(); m != nil {
		m.Make(masked)
	}
}

// codeOf returns the machine code of a launch.
func codeOf(g *machine.Grid) *native.Code {
	if g.CatchesFaults {
		return g.Kernel.Native.Catching()
	}
	return g.Kernel.Native
}

// setConstants sets the fields of the warp's context with special registers and local memory.
func setConstants(w *machine.Warp) {
	c := w.CTA
	n, l := &c.Native, w.Exported
	if n.UniformCTA != 1+c.Index {
		n.UniformCTA = 1 + c.Index
		for _, r := range c.Code.Native.Uniform {
			n.Uniform[r] = lanes.UniformSpecial(w, &code.Instr{Imm: uint64(r)})
		}
	}
	if !l.ConstantsSet {
		l.ConstantsSet = true
		setLaunchConstants(w)
	}
	if l.Uniform != nil {
		*l.Uniform = n.Uniform
		l.Uniform[ptx.WarpID] = uint64(w.ID)
	}
	l.SetParallel(access.UsesHostAtomics(c))
	if !w.SourcesSet {
		l.SetSources(readSources(w, c.Code.Native.Sources))
	}
	setLocalMemory(w)
}

// setLaunchConstants sets the fields of the context that are the same in all CTAs of a launch.
func setLaunchConstants(w *machine.Warp) {
	c := w.CTA
	n, l := &c.Native, w.Exported
	tid, uniform := &n.ThreadIDs[w.ID], &n.Uniform
	if !n.HasThreadIDs[w.ID] {
		n.HasThreadIDs[w.ID] = true
		present := uint32(regfile.Full) >> (regfile.Lanes - min(c.Code.Width, c.Grid.Block.Count()-w.ThreadIndex(0)))
		for i := range tid {
			instr := &code.Instr{Imm: uint64(ptx.TidX) + uint64(i)}
			lanes.SregRow(w, 0, &tid[i], instr, ^uint32(0), regfile.Full)
			v := lanes.SregSource(w, 0, instr, present)
			n.Index[w.ID][i] = native.Source{Base: v.Base, Stride: v.Stride}
		}
	}
	if slices.Contains(c.Code.Native.Uniform, ptx.WarpID) {
		l.Uniform = new([native.Registers]uint64)
		uniform = l.Uniform
	}
	l.SetScheduler(&n.Scheduler)
	l.SetSpecials(tid, uniform)
	l.SetMemory(c.LastHits, c.SharedMem, &c.Changed)
	if len(c.Code.Fragments) > 0 {
		if n.Fragments == nil {
			n.Fragments = new(native.Fragments)
		}
		l.SetFragments(n.Fragments)
	}
}

// setLocalMemory sets the address of the warp's local memory, which may change when an instruction allocates memory.
func setLocalMemory(w *machine.Warp) {
	from, to := access.LocalRange(w)
	w.Exported.SetLocal(w.Local[0], from, to, 4*uint64(w.Frame.Local))
}

// readSources sets and returns w.Sources: the special registers of list, which machine code reads as base and stride.
func readSources(w *machine.Warp, list []ptx.SpecialReg) []native.Source {
	w.SourcesSet, w.Sources = true, w.Sources[:0]
	n := &w.CTA.Native
	for _, r := range list {
		v := native.Source{Stride: 1} // %laneid
		switch {
		case !r.PerLane():
			v = native.Source{Base: n.Uniform[r]}
			if r == ptx.WarpID {
				v.Base = uint64(w.ID)
			}
		case r <= ptx.TidZ:
			v = n.Index[w.ID][r-ptx.TidX]
		}
		w.Sources = append(w.Sources, v)
	}
	return w.Sources
}

// Run executes the warp in machine code, and after exits instructions without machine code in Go: see machine.Runner.
// Machine code may switch to other warps of the CTA.
func (MachineCode) Run(w *machine.Warp, budget int) machine.Reason {
	importIfExported(w)
	c, m := w.CTA, codeOf(w.CTA.Grid)
	if !fitsNative(w) || !m.Ready(prepareNative(w)) {
		return warp.Portable.Run(w, budget)
	}
	enterScheduler(w, budget)
	m.RunBlock(nativeContext(w), &w.Files[0], c.Code.Block(w.PC).Index)
	for {
		w = resumeUntilExit(w, m.RunBlock, m.RunInstr)
		f, ctx := &w.Files[0], &w.Exported.Context
		if ctx.Reason == native.SwitchedWarp {
			return machine.NoReason
		}
		importSplits(w)
		switch ctx.Reason {
		case native.Faulted:
			m.RestoreAddresses(ctx, f, w.PC)
			fallthrough // Go repeats the access, and traps if it faults again
		case native.Unsupported:
			b := c.Code.Block(w.PC)
			at := m.NextSupported(ctx, w.PC+1)
			instrs := c.Code.Instrs[w.PC:at]
			w.PC = b.First
			if lanes.ExecuteBlock(w, instrs); w.Err != nil {
				return warp.FailureReason(w, b)
			}
			exportAgain(w)
			m.RunInstr(nativeContext(w), f, at)
		case native.NeedsCaution:
			b := c.Code.Block(w.PC)
			if reason := warp.StopReason(w, b); reason != machine.NoReason {
				return reason
			}
			exportAgain(w)
			m.RunBlockAfterCaution(nativeContext(w), f, b.Index)
		default:
			return reasons[ctx.Reason]
		}
	}
}

// reasons maps the exits of machine code that the run loop handles to reasons.
var reasons = [...]machine.Reason{native.BudgetUsed: machine.BudgetUsed, native.Diverges: machine.LanesDiverge, native.Reconverges: machine.ReachesReconvergence, native.OtherEnd: machine.OtherEnd, native.NoSplit: machine.NoSplit}

// fitsNative reports whether machine code can run a warp.
func fitsNative(w *machine.Warp) bool {
	return len(w.Files) == 1 && w.Unit.Fast() && w.Uncounted == 0 && !w.CTA.ReleasedEarly
}

// prepareNative copies the running warp split to the context of the warp, and returns the context.
func prepareNative(w *machine.Warp) *native.Context {
	c := w.CTA
	if c.Native.Exported == nil {
		prepareExport(&c.Native, c)
	}
	warp.Activate(w)
	ctx := &w.Exported.Context
	ctx.Count, ctx.PC = w.Count.WarpInstructions, w.PC
	ctx.Mask, ctx.Live, ctx.ReconvergeAt, ctx.NotifyEveryBlock = uint32(w.Mask), uint32(w.Live), w.ReconvergeAt, 0
	if w.NotifyEveryBlock && len(w.WaitingSplits) > 0 {
		ctx.NotifyEveryBlock = 1
	}
	return ctx
}

// importIfExported imports the warp splits of a warp that is still exported since another warp entered machine code.
func importIfExported(w *machine.Warp) {
	if w.Exported != nil && w.Exported.InNative {
		importSplits(w)
	}
}

// prepareExport allocates the contexts of the CTA's warps.
func prepareExport(n *machine.NativeState, c *machine.CTA) {
	size := len(c.Warps)
	n.Exported, n.Contexts = make([]machine.ExportedWarp, size), make([]*native.Context, size)
	n.ThreadIDs, n.Index, n.HasThreadIDs = make([][3]regfile.Row32, size), make([][3]native.Source, size), make([]bool, size)
	for i := range c.Warps {
		n.Contexts[i] = &n.Exported[i].Context
		c.Warps[i].Exported = &n.Exported[i]
	}
}

// importCounts copies the place and the counts of a warp back from machine code.
func importCounts(w *machine.Warp) {
	ctx, n := &w.Exported.Context, &w.Count
	w.PC = ctx.PC
	n.WarpInstructions = ctx.Count
	n.ThreadInstructions += ctx.LaneInstrs - ctx.Skipped
	n.LaneSlots += ctx.LaneInstrs
	n.Branches += ctx.Branches
	n.DivergentBranches += ctx.DivergentBranches
	n.Splits += ctx.DivergentBranches - ctx.ExitBranches
	n.Reconvergences += ctx.Reconverged
	importEngineCounts(w, &n.Engine)
	w.CountedUpTo = ctx.CountedUpTo
	w.UnchargedExits += ctx.ExitBranches
	ctx.ResetCounts()
}

// importEngineCounts adds the counts of compact execution in machine code to to. There are such counts only in check mode.
func importEngineCounts(w *machine.Warp, to *probe.EngineCounts) {
	if ctx := &w.Exported.Context; w.Check != nil {
		to.MaterialisedLanes += ctx.Materialised
		to.ShadowLanes += ctx.ComparedCompact
		ctx.Materialised, ctx.ComparedCompact = 0, 0
	}
}
