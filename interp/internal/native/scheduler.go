package native

// This file is the warp scheduler of machine code, in Go's half: the layout shared with scheduler.c, and the code at the
// ends of blocks. doc.go draws its states. Package simt decides when it may run (native_scheduler.go there).

import (
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Scheduler is the state of the warp scheduler for one CTA. Its layout is that of struct scheduler in _gen/c/warp.h.
// Instructions are PTX instructions of one warp.
type Scheduler struct {
	warps        unsafe.Pointer // array of *Context, by warp
	full, masked unsafe.Pointer // arrays by pc: the code of the block at pc, for all lanes and for the lanes of a mask

	InstrsLeft int64 // the budget of the CTA: instructions, without those of the current slice
	stretch    int64 // instructions until the exit to Go, as of the entry of the running warp
	granted    int64 // the part of stretch granted to the running warp

	SliceStart  int64 // Count of the running warp at the beginning of its slice
	SliceEnd    int64 // Count at which the slice ends
	SliceLength int64 // instructions of the slice, if machine code began it
	Quantum     int64 // maximum of SliceLength
	MaxCount    int64 // a warp with a greater Count is not scheduled: it may exceed the step limit

	size    uint32 // number of warps
	Running uint32 // index of the warp that runs, or ran last

	LiveWarps    uint32 // live warps: they have not ended
	arrivedWarps uint32 // warps waiting at a barrier in machine code
	_            uint32 // number of that barrier

	WaitersInGo  uint32 // 1: warps wait at a barrier in Go
	Ordered      uint32 // 1: the CTA may execute globally ordered instructions
	Switched     uint32 // 1: machine code has switched warps since the entry
	WarpsVisited uint32 // number of warps considered since then, ready or not
	Dirty        uint32 // 1: some warp is Unsynced

	NextCTAs
}

// NextCTAs describes the next CTAs in machine code: after the last warp of a CTA ends, the first warp of the next begins.
type NextCTAs struct {
	Remaining    uint32    // CTAs that may still begin
	Completed    uint32    // CTAs ended since the entry
	FirstLanes   uint32    // lanes of each warp but the last, at its beginning
	LastLanes    uint32    // lanes of the last warp at its beginning
	EntryPC      int32     // the block in which warps begin
	CTAID        [3]uint64 // ctaid of the running CTA
	GridWidth    [2]uint64 // number of CTAs along x and y
	InstrsPerCTA int64     // Scheduler.InstrsLeft at the beginning of a CTA

	ctaidRegisters unsafe.Pointer // the three special registers ctaid
	ctaidSources   [3]int64       // byte offsets of ctaid in the sources of SetSources; negative: not among them
	shadowBytes    [2]uint64      // bytes of the shadows of 32-bit rows and of 64-bit rows
	zeroRows       unsafe.Pointer // array of code.Row: the rows to zero at a warp's beginning
	numZeroRows    uint64         // length of zeroRows
	hits           unsafe.Pointer // array of *mem.Allocation: the last hits of memory instructions, code.HitsPerAccess each
	hitSlots       uint64         // number of memory instructions whose last hit is cleared when a CTA begins
	cost           int64          // cost of the beginning of a CTA, in instructions

	EndedCounts WarpCounts
}

// WarpCounts sums the counters of Context over the warps of ended CTAs.
type WarpCounts struct{ Count, LaneInstrs, Skipped, Branches, DivergentBranches, Reconverged, ExitBranches int64 }

// ExitBranchesAt is the offset of the last field of Scheduler. The generator compares it with the C layout.
const ExitBranchesAt = unsafe.Offsetof(Scheduler{}.NextCTAs) + unsafe.Offsetof(NextCTAs{}.EndedCounts) + unsafe.Offsetof(WarpCounts{}.ExitBranches)

// Stencils depend on these sizes and values.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(code.Row{})-8]
	_ = [1]struct{}{}[code.R-1+code.Q-2+code.P-3]
)

// SetNextCTAs prepares a scheduler for further CTAs of the program. file has the registers of one warp; zero lists the rows
// to zero at a warp's beginning; uniform has the special registers; hits has the last hits of memory instructions, cleared
// by a new CTA. The caller sets the exported fields.
func (c *Code) SetNextCTAs(s *Scheduler, file *regfile.File, shared *mem.Allocation, zero []code.Row, uniform *[Registers]uint64, hits []*mem.Allocation) {
	f := &s.NextCTAs
	f.hits, f.hitSlots = unsafe.Pointer(unsafe.SliceData(hits)), uint64(len(hits)/code.HitsPerAccess)
	f.zeroRows, f.numZeroRows = unsafe.Pointer(unsafe.SliceData(zero)), uint64(len(zero))
	f.ctaidRegisters = unsafe.Pointer(&uniform[ptx.CtaidX])
	for d := range f.ctaidSources {
		f.ctaidSources[d] = -1
		if i := slices.Index(c.Sources, ptx.CtaidX+ptx.SpecialReg(d)); i >= 0 {
			f.ctaidSources[d] = int64(i) * int64(unsafe.Sizeof(Source{}))
		}
	}
	var shadows [2]uint64
	if file.Tracked() {
		const size = uint64(unsafe.Sizeof(regfile.Compact{}))
		shadows = [2]uint64{size * uint64(file.WindowSize().R), size * uint64(file.WindowSize().Q)}
	}
	f.shadowBytes = shadows
	f.cost = int64(uint64(len(shared.Data)+8*len(hits))/clearedBytesPerInstr + uint64(s.size)*(2+(shadows[0]+shadows[1])/clearedBytesPerInstr+f.numZeroRows))
}

// State is the state of a warp in the warp scheduler. doc.go draws the transitions.
type State uint32

// The states.
const (
	NotRunning State = iota // waits or has ended in Go
	ReadyInGo               // ready, and only Go can run it
	Ready                   // ready to run in machine code
	AtBarrier               // waits at a barrier in machine code
	Ended                   // ended in machine code
	AtOrdered               // before a block with globally ordered instructions
)

// ScheduledWarp is the state of a warp in its scheduler: the last fields of struct warp in _gen/c/warp.h.
type ScheduledWarp struct {
	scheduler    *Scheduler
	State        State
	Unsynced     uint32 // 1: the warp has run since Go last imported its counts
	BarrierBlock int32  // pc of the barrier at which the warp waits
}

// BarrierBlockAt is the offset of the last field of Context. The generator compares it with the C layout.
const BarrierBlockAt = unsafe.Offsetof(Context{}.ScheduledWarp) + unsafe.Offsetof(ScheduledWarp{}.BarrierBlock)

// SetWarps sets the warps to schedule; with none, machine code exits instead of switching warps.
func (s *Scheduler) SetWarps(warps []*Context) {
	s.warps, s.size = unsafe.Pointer(unsafe.SliceData(warps)), uint32(len(warps))
}

// HasCodeFor reports whether there is machine code for a warp with these lanes.
func (s *Scheduler) HasCodeFor(lanes uint32) bool {
	if lanes == regfile.Full {
		return s.full != nil
	}
	return s.masked != nil
}

// HasWarps reports whether there are warps to schedule.
func (s *Scheduler) HasWarps() bool { return s.size > 0 }

// HasWaiters reports whether warps wait at a barrier in machine code.
func (s *Scheduler) HasWaiters() bool { return s.arrivedWarps > 0 }

// ForgetWaiters removes the warps waiting at a barrier: Go has imported them.
func (s *Scheduler) ForgetWaiters() { s.arrivedWarps = 0 }

// SetScheduler sets the scheduler of a warp.
func (c *Context) SetScheduler(s *Scheduler) { c.scheduler = s }

// ShareTables copies the tables of code from the context of another warp of the CTA.
func (c *Context) ShareTables(o *Context) { c.full, c.masked = o.full, o.masked }

// putWarpSwitch puts the switch to the next warp, to which stopped warps jump.
func (a *assembler) putWarpSwitch() {
	a.switchLabel = a.newLabel()
	a.bind(a.switchLabel)
	a.put("switch_warp", holes{})
}

// putBarrier puts a block's end with a barrier of all warps of the CTA. It reports whether there is code for it.
func (a *assembler) putBarrier(b *code.Block, end *code.Instr) bool {
	if end.Op != code.Barrier || end.Guard != 0 || end.A >= 0 || end.B != code.NoRow || a.prog.Barriers[end.Side].Kind != code.BarSync {
		return false
	}
	return a.attempt(func() {
		h := holes{n0: int64(b.Next), n1: int64(b.Last), other: a.switchLabel, leave: a.exitLabel(b.Last, OtherEnd)}
		a.setPlace(&h, 'A', code.R, end.A)
		a.putOrLeave("wait_at_barrier", h)
		a.putEdge(b, b.Next, 0)
	})
}

// putWarpBarrier puts a block's end with bar.warp.sync, whose membermask is a constant. It reports whether there is code for it.
// The code exits if lanes of the membermask are missing: Go makes the lanes wait.
func (a *assembler) putWarpBarrier(b *code.Block, end *code.Instr) bool {
	if !waitsForMembers(end) {
		return false
	}
	return a.attempt(func() {
		h := holes{leave: a.exitLabel(b.Last, OtherEnd)}
		a.setPlace(&h, 'A', code.R, end.A)
		a.putOrLeave("members"+a.suffix, h)
		a.putEdge(b, b.Next, 0)
	})
}

// waitsForMembers reports whether machine code has the block's end: a bar.warp.sync without a guard, with a constant membermask.
func waitsForMembers(end *code.Instr) bool {
	return end.Op == code.BarrierWarp && end.Guard == 0 && end.A < 0
}

// putCautionCheck puts the check before a block with globally ordered or otherwise cautious instructions.
func (a *assembler) putCautionCheck(b *code.Block) {
	if b.Caution != code.GloballyOrdered {
		a.putExit(b.First, NeedsCaution)
		return
	}
	a.put("check_ordered", holes{n0: int64(b.First), other: a.switchLabel, leave: a.exitLabel(b.First, NeedsCaution)})
}

// putWarpEnd puts a block's end at which all lanes end. It reports whether the block has such an end.
func (a *assembler) putWarpEnd(b *code.Block, end *code.Instr) bool {
	if end.Op != code.Exit || end.Guard != 0 {
		return false
	}
	a.put("warp_end", holes{other: a.switchLabel, leave: a.exitLabel(b.Last, OtherEnd)})
	return true
}

// FillContext sets the registers and the constants of a warp's context.
func (c *Code) FillContext(ctx *Context, f *regfile.File) {
	ctx.r, ctx.q, ctx.p = f.Pointers()
	ctx.shadowR, ctx.shadowQ = f.ShadowPointers()
	ctx.constants, ctx.k, ctx.fixed = c.constants, c.constants, unsafe.Pointer(unsafe.SliceData(c.fixedAllocations))
}
