package native

import (
	"unsafe"

	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Context is the state of a warp in machine code: its input on entry, its output on exit. Its layout is that of struct context
// in _gen/c/stencil.h up to NotifyEveryBlock, then of struct machine in _gen/c/rows.h and struct warp in _gen/c/warp.h.
type Context struct {
	Count      int64 // PTX instructions that the warp has executed
	CountLimit int64 // the Count at which it exits
	Skipped    int64 // lanes that guards skipped, summed over PTX instructions
	Branches   int64 // branches executed

	hits, fixed   unsafe.Pointer // arrays of *mem.Allocation
	shared        *mem.Allocation
	memoryChanged *bool // set where memory is changed

	constants, shadowR, shadowQ unsafe.Pointer
	_                           [2]uint64 // scratch, of stencils

	Materialised    int64 // lanes that have been written to rows from shadows
	ComparedCompact int64 // lanes that shadows have spoken for, in results that were compared

	notes, counts unsafe.Pointer // of check mode: see Check

	Mask             uint32         // lanes that are active
	ReconvergeAt     int32          // the block where lanes meet others
	PC               int32          // out: where it stopped
	Reason           Reason         // out: why
	Lanes            uint32         // out: that executed
	Live             uint32         // lanes that have not ended
	NotifyEveryBlock uint32         // 1: it stops at each end of a block
	r, q, p          unsafe.Pointer // rows, wide rows, predicates
	sources          unsafe.Pointer // special registers, an array of Source

	tid, lanes, uniform unsafe.Pointer // special registers
	local               unsafe.Pointer // local memory: word i of all lanes is row i
	localFrom, localTo  uint64         // where it begins and ends for a thread, in bytes
	frame               uint64         // where that of the running function begins
	k                   unsafe.Pointer // constants
	parallel            uint32         // 1: atomics on global memory have to be the host's

	Divergence
	ScheduledWarp
}

// In C, struct machine begins after NotifyEveryBlock, with r, q and p before sources.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.sources)-NotifyEveryBlockAt-32]

// WithLimit sets the limit of the next entry: Count of enough, and at most a stretch of instructions. It returns c.
func (c *Context) WithLimit(enough int64) *Context { return c.withLimit(enough, Stretch) }

// WithCheckLimit is WithLimit for check mode, whose stretch is shorter.
func (c *Context) WithCheckLimit(enough int64) *Context { return c.withLimit(enough, CheckStretch) }

func (c *Context) withLimit(enough, stretch int64) *Context {
	c.CountLimit = min(enough, c.Count+stretch)
	if c.scheduler != nil {
		c.scheduler.stretch, c.scheduler.granted = stretch, c.CountLimit-c.Count
	}
	return c
}

// ResetCounts forgets what was counted but Count: somebody has added it up.
func (c *Context) ResetCounts() {
	c.Skipped, c.Branches, c.LaneInstrs, c.DivergentBranches, c.Reconverged, c.ExitBranches, c.Materialised, c.ComparedCompact = 0, 0, 0, 0, 0, 0, 0, 0
}

// Source is a special register as a progression over the lanes of a warp.
type Source struct{ Base, Stride uint64 }

// SetSources has special registers read that are the same in all lanes or count them, those that Code.Sources names, in its
// order. Of a thread's index the progression holds for all lanes of a row.
func (c *Context) SetSources(sources []Source) { c.sources = unsafe.Pointer(unsafe.SliceData(sources)) }

// Reason is why native code has come back.
type Reason uint32

// The reasons.
const (
	Unsupported  Reason = iota // before an instruction without machine code
	NeedsCaution               // before a block with a caution: Go decides whether it may begin
	Diverges                   // at a block's end: lanes diverge, and Go must handle it
	Reconverges                // at a block's end: lanes reach a reconvergence point, and Go must handle it
	OtherEnd                   // at a block's end that Go executes
	BudgetUsed                 // before a block: Count has reached CountLimit
	NoSplit                    // all lanes wait at reconvergence points, and Go has the remaining warp splits
	SwitchedWarp               // no warp can continue in machine code: Go chooses the next

	// In check mode PC is the number of a step, also for Unsupported and StretchEnded.
	Halfway // the program has executed the step, and the reference has not
	Differs // program and reference have executed the step, and their results differ

	StretchEnded // before an instruction in the middle of a block, where code may continue: a stretch has ended
)

// NotifyEveryBlockAt is where the last field that stencils know of is: the generator compares it.
const NotifyEveryBlockAt = unsafe.Offsetof(Context{}.NotifyEveryBlock)

// ParallelAt is the same of those stencils that know more.
const ParallelAt = unsafe.Offsetof(Context{}.parallel)

// Registers is the number of special registers.
const Registers = ptx.ZeroReg + 1

// SetSpecials has special registers read: rows of tid.x, tid.y and tid.z, and by number those that are the same in all
// lanes, which Code.Uniform names.
func (c *Context) SetSpecials(tid *[3]regfile.Row32, uniform *[Registers]uint64) {
	c.tid, c.lanes, c.uniform = unsafe.Pointer(tid), unsafe.Pointer(&laneRows), unsafe.Pointer(uniform)
}

// SetLocal is the local memory of the warp, where in it, in bytes, that of a thread begins and ends, and where that of the
// running function begins.
func (c *Context) SetLocal(local mem.Local, from, to, frame uint64) {
	c.local = unsafe.Pointer(unsafe.SliceData(local))
	c.localFrom, c.localTo, c.frame = from, to, frame
}

// SetParallel says whether CTAs run in parallel, so that atomics on global memory have to be the host's.
func (c *Context) SetParallel(yes bool) {
	c.parallel = 0
	if yes {
		c.parallel = 1
	}
}

// SetMemory has memory instructions find the allocations that they have hit last and shared memory, and a flag to set
// where they change some.
func (c *Context) SetMemory(hits []*mem.Allocation, shared *mem.Allocation, changed *bool) {
	c.hits = unsafe.Pointer(unsafe.SliceData(hits))
	c.shared = shared
	c.memoryChanged = changed
}
