package exchange

// This file runs observed launches in machine code, up to the instructions with events. Go executes these instructions, or
// sends the events of an access before machine code executes it.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/observe"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// maxObservedShare limits the instructions with events of a kernel in machine code: at most a third. An exit takes as
// long as two or three instructions in Go.
const maxObservedShare = 3

// NewObservedRunner returns a runner of observed CTAs in machine code; nil if their launch must run in Go.
func (MachineCode) NewObservedRunner(c *machine.CTA) machine.Runner {
	g, s := c.Grid, c.Stream
	if g.Mode == machine.Check || g.MayPause || g.Visited != nil || s.Subscription.Tags || c.IsSubscribed(probe.OnBranch|probe.OnMaterialise) {
		return nil
	}
	return NativeObservedRunner{}
}

// NativeObservedRunner is the runner of observed launches in machine code.
type NativeObservedRunner struct{}

// observedUnion returns the union of the events of a warp, with the machine code for it.
func observedUnion(w *machine.Warp) *machine.EventUnion {
	u := event.UnionFor(w.CTA.Stream, w)
	if !u.NativeKnown {
		u.NativeKnown = true
		observed := 0
		for _, kinds := range u.Selected {
			if kinds != 0 {
				observed++
			}
		}
		if u.Selected != nil && maxObservedShare*observed <= len(u.Selected) {
			u.Native = w.CTA.Code.Observing(u.Selected)
		}
	}
	return u
}

// observedRun is a run of an observed warp in machine code.
type observedRun struct {
	w     *machine.Warp
	noted int64 // the instructions of the warp that are counted as begun (warp.NoteBegun), exits not charged to the budget excluded
}

// note counts as begun all instructions but the last rest of those that the warp has counted.
func (r *observedRun) note(rest int32) {
	begun := r.w.Count.WarpInstructions - r.w.UnchargedExits - int64(rest)
	warp.NoteBegun(r.w, begun-r.noted)
	r.noted = begun
}

// noteBlocks counts as begun the instructions of the blocks before the current block, which has size instructions.
func (r *observedRun) noteBlocks(size int) {
	if r.w.Count.WarpInstructions-r.w.UnchargedExits-int64(size) > r.noted {
		r.note(int32(size))
	}
}

// Run executes the warp, in machine code between instructions with events: see machine.Runner.
func (NativeObservedRunner) Run(w *machine.Warp, budget int) machine.Reason {
	importIfExported(w)
	c, s := w.CTA, w.CTA.Stream
	u := observedUnion(w)
	if u.Native == nil || s.StopErr != nil || !fitsNative(w) {
		return observe.ObservedRunner{}.Run(w, 1) // a block
	}
	if !u.Native.Ready(prepareNative(w)) {
		return observe.ObservedRunner{}.Run(w, budget)
	}
	s.ReducedSinks = w.ReducedSinks
	r := observedRun{w, w.Count.WarpInstructions}
	enterScheduler(w, budget)
	u.Native.RunBlock(nativeContext(w), &w.Files[0], c.Code.Block(w.PC).Index)
	for {
		resumeUntilExit(w, u.Native.RunBlock, u.Native.RunInstr)
		importSplits(w)
		b, ctx := c.Code.Block(w.PC), &w.Exported.Context
		switch ctx.Reason {
		case native.Observed, native.Unsupported:
			pc := w.PC
			w.PC = b.First
			var reason machine.Reason
			if u, pc, reason = r.executeInGo(u, b, pc, ctx.Reason == native.Unsupported); reason != machine.NoReason {
				return reason
			}
			exportAgain(w)
			u.Native.RunInstr(nativeContext(w), &w.Files[0], pc)
		case native.NeedsCaution:
			r.note(0)
			if reason := warp.StopReason(w, b); reason != machine.NoReason {
				return reason
			}
			exportAgain(w)
			u.Native.RunBlockAfterCaution(nativeContext(w), &w.Files[0], b.Index)
		default:
			r.note(0)
			return reasons[ctx.Reason]
		}
	}
}

// executeInGo sends the events at pc, and executes instructions in Go up to an instruction of machine code, whose pc it
// returns. With unsupported, machine code has left the instruction at pc to Go after its events. The union of the warp's
// events may change.
func (r *observedRun) executeInGo(u *machine.EventUnion, b *code.Block, pc int32, unsupported bool) (*machine.EventUnion, int32, machine.Reason) {
	w := r.w
	ctx := &w.Exported.Context
	for {
		if !unsupported {
			at := observe.Position{Source: u.Native.Sources[pc], PC: pc, MayLeave: true}
			at.Counted = at.Source
			r.note(b.Sources.End - at.Source)
			reason := observe.ExecuteSources(w, b, &at, false)
			r.noted += int64(at.Counted - u.Native.Sources[pc])
			switch {
			case w.Err != nil:
				return u, pc, warp.FailureReason(w, b)
			case reason != machine.NoReason:
				return u, pc, reason
			case !at.Left:
				w.PC, w.Uncounted = b.Last, 0
				return u, pc, machine.OtherEnd
			}
			if u, pc = observedUnion(w), at.PC; u.Native.HasStencil(ctx, pc) {
				return u, pc, machine.NoReason
			}
		}
		r.noteBlocks(b.Sources.Len())
		next := u.Native.NextSupported(ctx, pc+1)
		if lanes.ExecuteBlock(w, w.CTA.Code.Instrs[pc:next]); w.Err != nil {
			r.note(b.Sources.End - observe.Reached(w, b))
			return u, pc, warp.FailureReason(w, b)
		}
		if pc = next; !u.Native.HasExit(pc) {
			return u, pc, machine.NoReason
		}
		unsupported = false
	}
}
