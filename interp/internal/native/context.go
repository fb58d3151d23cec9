package native

import (
	"unsafe"

	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Context is what native code knows of the warp that it runs, and what it says when it comes back. Its
// layout is that of struct context in _gen/c/stencil.h, and behind Heed that of struct machine in _gen/c/rows.h.
type Context struct {
	Count    int64 // PTX instructions that the warp has executed
	Enough   int64 // … up to which it goes on
	Held     int64 // lanes that guards have kept from executing, summed over PTX instructions
	Branches int64 // executed

	hits, fixed unsafe.Pointer // arrays of *mem.Allocation
	shared      *mem.Allocation
	changed     *bool // set where memory is changed

	constants, shadowR, shadowQ unsafe.Pointer
	_                           [2]uint64 // scratch, of stencils

	Expanded int64 // lanes that have been written to rows from shadows
	Kept     int64 // lanes that shadows have spoken for, in results that were compared

	notes, counts unsafe.Pointer // of check mode: see Check

	Mask    uint32         // lanes that are active
	Stop    int32          // the block where lanes meet others
	PC      int32          // out: where it stopped
	Reason  Reason         // out: why
	Lanes   uint32         // out: that executed
	Live    uint32         // lanes that have not ended
	Heed    uint32         // 1: it stops at each end of a block
	r, q, p unsafe.Pointer // rows, wide rows, predicates
	sources unsafe.Pointer // special registers, an array of Source

	tid, lanes, uniform unsafe.Pointer // special registers
	local               unsafe.Pointer // local memory: word i of all lanes is row i
	localFrom, localTo  uint64         // where it begins and ends for a thread, in bytes
	frame               uint64         // where that of the running function begins
	k                   unsafe.Pointer // constants
	parallel            uint32         // 1: atomics on global memory have to be the host's

	Ways
	Turns
}

// The stencils that know of sources have them behind p, and p behind Heed.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.sources)-HeedAt-32]

// Until readies the context for code to go on until about so many instructions are executed, but no more than a stretch.
func (c *Context) Until(enough int64) *Context { return c.until(enough, Stretch) }

// UntilChecked is Until in check mode.
func (c *Context) UntilChecked(enough int64) *Context { return c.until(enough, CheckStretch) }

func (c *Context) until(enough, stretch int64) *Context {
	c.Enough = min(enough, c.Count+stretch)
	if c.team != nil {
		c.team.allowed, c.team.given = stretch, c.Enough-c.Count
	}
	return c
}

// Counted forgets what was counted but Count: somebody has added it up.
func (c *Context) Counted() {
	c.Held, c.Branches, c.Slots, c.Divergent, c.Met, c.Leaves, c.Expanded, c.Kept = 0, 0, 0, 0, 0, 0, 0, 0
}

// Source is a special register as a progression over the lanes of a warp.
type Source struct{ Base, Stride uint64 }

// Read has special registers read that are the same in all lanes or count them, those that Code.Sources names, in its
// order. Of a thread's index the progression holds for all lanes of a row.
func (c *Context) Read(sources []Source) { c.sources = unsafe.Pointer(unsafe.SliceData(sources)) }

// Reason is why native code has come back.
type Reason uint32

// The reasons.
const (
	Lacks    Reason = iota // before an instruction that it does not have
	Cautious               // before a block that has to be looked at first
	Parts                  // at the end of a block, a branch whose lanes go different ways
	Meets                  // at the end of a block, from which it comes to where lanes meet
	Control                // at another end of a block
	Used                   // before a block: Count has come to Enough
	Nobody                 // its lanes wait where others are to meet them, of which Go knows
	Turned                 // nowhere: the warp has had its turn, and Go has to say which is next

	// Of check mode, where PC is the number of a step, as it is for Lacks and Rests.
	Halfway // the program has executed the step, the reference has not
	Differs // both have, and what they have is not the same

	Rests // before an instruction, where it goes on: a stretch has ended in the middle of a block
)

// HeedAt is where the last field that stencils know of is: the generator compares it.
const HeedAt = unsafe.Offsetof(Context{}.Heed)

// ParallelAt is the same of those stencils that know more.
const ParallelAt = unsafe.Offsetof(Context{}.parallel)

// Registers is the number of special registers.
const Registers = ptx.ZeroReg + 1

// Special has special registers read: rows of tid.x, tid.y and tid.z, and by number those that are the same in all
// lanes, which Code.Uniform names.
func (c *Context) Special(tid *[3]regfile.Row32, uniform *[Registers]uint64) {
	c.tid, c.lanes, c.uniform = unsafe.Pointer(tid), unsafe.Pointer(&laneRows), unsafe.Pointer(uniform)
}

// Local is the local memory of the warp, where in it, in bytes, that of a thread begins and ends, and where that of the
// running function begins.
func (c *Context) Local(local mem.Local, from, to, frame uint64) {
	c.local = unsafe.Pointer(unsafe.SliceData(local))
	c.localFrom, c.localTo, c.frame = from, to, frame
}

// Parallel says whether CTAs run in parallel, so that atomics on global memory have to be the host's.
func (c *Context) Parallel(yes bool) {
	c.parallel = 0
	if yes {
		c.parallel = 1
	}
}

// Room has memory instructions find the allocations that they have hit last and shared memory, and a flag to set
// where they change some.
func (c *Context) Room(hits []*mem.Allocation, shared *mem.Allocation, changed *bool) {
	c.hits = unsafe.Pointer(unsafe.SliceData(hits))
	c.shared = shared
	c.changed = changed
}
