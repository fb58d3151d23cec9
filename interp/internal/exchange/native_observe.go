package exchange

// This file runs observed launches in machine code, up to the instructions with events. Go executes these instructions, or
// sends the events of an access before machine code executes it.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/observe"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/regfile"
)

// An exit before an instruction with events takes as long as exitCost instructions in Go; an exit with a single event, of an
// access (machine.SoleAccess), takes no longer than the instruction in Go. The portable engine runs kernels whose exits would
// take longer than all instructions in Go.
const exitCost = 3

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
		if u.Selected != nil {
			sole, cost := observe.SoleAccesses(w, u.Selected), 0
			for i, kinds := range u.Selected {
				switch {
				case sole[i] != nil:
					cost++
				case kinds != 0:
					cost += exitCost
				}
			}
			if cost <= len(u.Selected) {
				u.Native, u.Sole = w.CTA.Code.Observing(u.Selected, observe.LoggableAccesses(w, sole)), sole
				stores := slices.ContainsFunc(u.Native.Loads, func(i int32) bool { return sole[i].IsStore() })
				if u.Log = native.NewAccessLog(len(u.Native.Loads), stores); u.Log != nil {
					u.Loggable = make([]machine.LoggableAccess, len(u.Native.Loads))
					for n, i := range u.Native.Loads {
						b := w.CTA.Code.Block(w.CTA.Code.Accesses()[i].Start)
						u.Loggable[n] = machine.LoggableAccess{SoleAccess: sole[i], Rest: b.Sources.End - i}
					}
				}
			}
		}
	}
	return u
}

// observedRun is a run of an observed warp in machine code.
type observedRun struct {
	w         *machine.Warp
	union     *machine.EventUnion
	uncharged int64 // WarpProgress.UnchargedExits at the last entry into machine code
	noted     int64 // the instructions of the warp that are counted as begun (warp.NoteBegun), exits not charged to the budget excluded
}

// runBlock enters machine code at the beginning of a block, and runInstr at an instruction, after the events of the loads that
// machine code has logged so far.
func (r *observedRun) runBlock(ctx *native.Context, f *regfile.File, index int32) {
	r.prepareEntry(ctx)
	r.union.Native.RunBlock(ctx, f, index)
}

func (r *observedRun) runInstr(ctx *native.Context, f *regfile.File, pc int32) {
	r.prepareEntry(ctx)
	r.union.Native.RunInstr(ctx, f, pc)
}

// prepareEntry prepares an entry into machine code.
func (r *observedRun) prepareEntry(ctx *native.Context) {
	r.emitLogged()
	r.uncharged = r.w.UnchargedExits
	ctx.SetLog(r.union.Log)
}

// emitLogged sends the loads that machine code has logged, up to an event at which a sink ends the launch.
func (r *observedRun) emitLogged() {
	u := r.union
	if u.Log == nil {
		return
	}
	list := u.Log.Take()
	if len(list) == 0 {
		return
	}
	w, s := r.w, r.w.CTA.Stream
	mask := w.Mask
	observe.EmitLogged(s, w, u, list, func(x *machine.LoggableAccess, l *native.LoggedAccess) {
		w.Mask = uint64(l.Mask)
		r.noteUpTo(l.Count - r.uncharged - l.ExitBranches - int64(x.Rest))
	})
	w.Mask = mask
}

// note counts as begun all instructions but the last rest of those that the warp has counted.
func (r *observedRun) note(rest int32) {
	r.noteUpTo(r.w.Count.WarpInstructions - r.w.UnchargedExits - int64(rest))
}

// noteUpTo counts as begun the first begun instructions of the warp.
func (r *observedRun) noteUpTo(begun int64) {
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
	r := observedRun{w: w, union: u, noted: w.Count.WarpInstructions}
	enterScheduler(w, budget)
	r.runBlock(nativeContext(w), &w.Files[0], c.Code.Block(w.PC).Index)
	for {
		resumeUntilExit(w, r.runBlock, r.runInstr)
		r.emitLogged()
		b, ctx := c.Code.Block(w.PC), &w.Exported.Context
		pc, emitted := w.PC, false
		if sole := soleAccess(u, ctx.Reason, pc); sole != nil && s.StopErr == nil {
			if r.emitSole(sole, b); w.ReducedSinks == u.ReducedSinks && s.StopErr == nil {
				if number := u.Native.Windows[pc]; number >= 0 {
					observe.OpenWindow(s, w, u, number)
				}
				if !w.Exported.InNative { // a sink has read the stack
					exportAgain(w)
				}
				r.prepareEntry(nativeContext(w))
				if u.Native.TryInstr(ctx, &w.Files[0], pc) {
					continue
				}
			}
			emitted = true
		}
		importIfExported(w) // unless a sink has read the stack
		switch ctx.Reason {
		case native.Observed, native.Unsupported:
			w.PC = b.First
			var reason machine.Reason
			if u, pc, reason = r.executeInGo(u, b, pc, ctx.Reason == native.Unsupported, emitted); reason != machine.NoReason {
				return reason
			}
			r.union = u
			exportAgain(w)
			r.runInstr(nativeContext(w), &w.Files[0], pc)
		case native.NeedsCaution:
			r.note(0)
			if reason := warp.StopReason(w, b); reason != machine.NoReason {
				return reason
			}
			exportAgain(w)
			ctx = nativeContext(w)
			r.prepareEntry(ctx)
			u.Native.RunBlockAfterCaution(ctx, &w.Files[0], b.Index)
		default:
			r.note(0)
			return reasons[ctx.Reason]
		}
	}
}

// soleAccess returns the instruction at an exit that has a single event, of an access; nil for all other exits.
func soleAccess(u *machine.EventUnion, reason native.Reason, pc int32) *machine.SoleAccess {
	if reason != native.Observed {
		return nil
	}
	return u.Sole[u.Native.Sources[pc]]
}

// emitSole sends the event of an instruction of block b before which machine code has exited. Machine code still holds the warp
// splits, unless a sink has read them.
func (r *observedRun) emitSole(x *machine.SoleAccess, b *code.Block) {
	w, n := r.w, r.w.Exported
	w.Mask = uint64(n.Mask)
	w.Files[0].SetActive(n.Mask)
	r.note(b.Sources.End - x.Source.Index)
	reconverge := int32(machine.NoBlock)
	if k := n.NumReconvergences; k > 0 {
		reconverge = n.Reconvergences[k-1].PC
	} else if j := n.NumberedReconvergences.Outer; j != nil {
		reconverge = j.PC
	}
	observe.EmitSole(w.CTA.Stream, w, x, reconverge)
}

// executeInGo sends the events at pc, and executes instructions in Go up to an instruction of machine code, whose pc it
// returns. With unsupported, machine code has left the instruction at pc to Go after its events; with emitted, only the first
// event, of a machine.SoleAccess, has been sent. The union of the warp's events may change.
func (r *observedRun) executeInGo(u *machine.EventUnion, b *code.Block, pc int32, unsupported, emitted bool) (*machine.EventUnion, int32, machine.Reason) {
	w := r.w
	ctx := &w.Exported.Context
	for {
		if !unsupported {
			first := u.Native.Sources[pc]
			at := observe.Position{Source: first, Counted: first, PC: pc, MayLeave: true}
			if emitted {
				at.Source++
				emitted = false
			}
			r.note(b.Sources.End - first)
			reason := observe.ExecuteSources(w, b, &at, false)
			r.noted += int64(at.Counted - first)
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
