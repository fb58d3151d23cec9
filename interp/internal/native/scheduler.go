package native

// This file is warps of a CTA that take turns while machine code executes, as package simt has it: where one has to wait at
// a barrier, or ends, the next goes on, without Go.

import (
	"slices"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Scheduler is the warps of a CTA that take turns. Its layout is that of struct team in _gen/c/warp.h.
type Scheduler struct {
	warps        unsafe.Pointer // array of *Context, by warp
	full, masked unsafe.Pointer // by pc: code of the block that begins there, for all lanes, and for those of a mask

	InstrsLeft int64 // PTX instructions that the CTA may yet execute; of the turn under way they are not taken off
	stretch    int64 // … up to when it comes back to Go, as they were when the warp that runs was entered
	granted    int64 // … of which it may execute so many

	SliceStart  int64 // Count of the warp that runs, when its turn did
	SliceEnd    int64 // … when its turn is to end
	SliceLength int64 // how long that is, if machine code has given it the turn
	Quantum     int64 // … at most
	MaxCount    int64 // a warp that has executed more is not given a turn

	size    uint32
	Running uint32 // the warp that runs, or has stopped last

	LiveWarps    uint32 // warps that have not ended
	arrivedWarps uint32 // warps that wait
	_            uint32 // … and where

	WaitersInGo  uint32 // 1: warps wait of which Go knows
	Ordered      uint32 // 1: it may execute globally ordered instructions
	Switched     uint32 // 1: other warps than the first have run
	WarpsVisited uint32 // … and so many have been looked at
	Dirty        uint32 // 1: warps are touched

	NextCTAs
}

// NextCTAs is CTAs that follow each other: where the last warp of one has ended, the first of the next goes on, without Go.
type NextCTAs struct {
	Remaining    uint32    // that may
	Completed    uint32    // that have
	FirstLanes   uint32    // lanes that a warp begins with
	LastLanes    uint32    // … the last one
	EntryPC      int32     // where
	CTAID        [3]uint64 // the CTA that runs: ctaid
	GridWidth    [2]uint64 // CTAs along x and y
	InstrsPerCTA int64     // Scheduler.InstrsLeft of one

	ctaidRegisters unsafe.Pointer // special registers ctaid
	ctaidSources   [3]int64       // where they are among those that Context.SetSources is given, in bytes; below 0: they are not
	shadowBytes    [2]uint64      // bytes of shadows, of 32-bit rows and of 64-bit rows
	zeroRows       unsafe.Pointer // array of code.Row: those that a warp begins with zeros in
	numZeroRows    uint64         // how many
	hits           unsafe.Pointer // array of *mem.Allocation: what memory instructions have hit last, code.Known each
	hitSlots       uint64         // how many do not know that where a CTA begins, but before
	cost           int64          // how many instructions going on with a CTA counts as

	EndedCounts WarpCounts
}

// WarpCounts is what warps have counted whose CTAs have ended, summed: the fields of Context.
type WarpCounts struct{ Count, LaneInstrs, Skipped, Branches, DivergentBranches, Reconverged, ExitBranches int64 }

// ExitBranchesAt is where the last field of a team is: the generator compares it.
const ExitBranchesAt = unsafe.Offsetof(Scheduler{}.NextCTAs) + unsafe.Offsetof(NextCTAs{}.EndedCounts) + unsafe.Offsetof(WarpCounts{}.ExitBranches)

// The stencil knows them.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(code.Row{})-8]
	_ = [1]struct{}{}[code.R-1+code.Q-2+code.P-3]
)

// SetNextCTAs has CTAs of the program follow each other, whose warps have registers as the file has, zeros in some of them, and
// read these special registers; memory instructions that have these hits last begin without.
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
	f.cost = int64(uint64(len(shared.Data)+8*len(hits))/ClearedBytesPerInstr + uint64(s.size)*(2+(shadows[0]+shadows[1])/ClearedBytesPerInstr+f.numZeroRows))
}

// State is what machine code may do with a warp of a team.
type State uint32

// The states.
const (
	NotRunning State = iota // it does not run
	ReadyInGo               // it is ready to run, but Go runs it
	Ready
	AtBarrier // at a barrier, where machine code has it wait
	Ended     // machine code has executed its end
	AtOrdered // before a block that the CTA may only execute in its turn
)

// ScheduledWarp is what is known of a warp in its team: the end of struct ways.
type ScheduledWarp struct {
	scheduler    *Scheduler
	State        State
	Unsynced     uint32 // 1: Go does not know what the warp has done
	BarrierBlock int32  // the end of the block that has it wait
}

// BarrierBlockAt is where the last field of it is: the generator compares it.
const BarrierBlockAt = unsafe.Offsetof(Context{}.ScheduledWarp) + unsafe.Offsetof(ScheduledWarp{}.BarrierBlock)

// SetWarps has warps take turns; of none, nobody does.
func (s *Scheduler) SetWarps(warps []*Context) {
	s.warps, s.size = unsafe.Pointer(unsafe.SliceData(warps)), uint32(len(warps))
}

// HasCodeFor reports whether there is code for a warp with these lanes.
func (s *Scheduler) HasCodeFor(lanes uint32) bool {
	if lanes == regfile.Full {
		return s.full != nil
	}
	return s.masked != nil
}

// HasWarps reports whether there are any that take turns.
func (s *Scheduler) HasWarps() bool { return s.size > 0 }

// HasWaiters reports whether machine code has warps wait at a barrier.
func (s *Scheduler) HasWaiters() bool { return s.arrivedWarps > 0 }

// ForgetWaiters forgets who waits.
func (s *Scheduler) ForgetWaiters() { s.arrivedWarps = 0 }

// SetScheduler has a warp be in a team.
func (c *Context) SetScheduler(s *Scheduler) { c.scheduler = s }

// ShareTables has a warp's context be as another's of its team in what is the same for both.
func (c *Context) ShareTables(o *Context) { c.full, c.masked = o.full, o.masked }

// putWarpSwitch is where a warp goes on to that has stopped: to the next.
func (a *assembler) putWarpSwitch() {
	a.switchLabel = a.newLabel()
	a.bind(a.switchLabel)
	a.put("switch_warp", holes{})
}

// putBarrier makes the code of a block's end at which all warps of the CTA wait for each other.
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

// putCautionCheck makes the code before a block that has to be looked at first.
func (a *assembler) putCautionCheck(b *code.Block) {
	if b.Caution != code.GloballyOrdered {
		a.putExit(b.First, NeedsCaution)
		return
	}
	a.put("check_ordered", holes{n0: int64(b.First), other: a.switchLabel, leave: a.exitLabel(b.First, NeedsCaution)})
}

// putWarpEnd makes the code of a block's end at which all lanes end.
func (a *assembler) putWarpEnd(b *code.Block, end *code.Instr) bool {
	if end.Op != code.Exit || end.Guard != 0 {
		return false
	}
	a.put("warp_end", holes{other: a.switchLabel, leave: a.exitLabel(b.Last, OtherEnd)})
	return true
}

// FillContext has a context know the registers of a warp, and what is the same in all.
func (c *Code) FillContext(ctx *Context, f *regfile.File) {
	ctx.r, ctx.q, ctx.p = f.Pointers()
	ctx.shadowR, ctx.shadowQ = f.ShadowPointers()
	ctx.constants, ctx.k, ctx.fixed = c.constants, c.constants, unsafe.Pointer(unsafe.SliceData(c.fixedAllocations))
}
