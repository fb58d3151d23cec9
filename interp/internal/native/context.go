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
	Count      int64 // PTX instructions executed by the warp
	CountLimit int64 // Count at which machine code exits
	Skipped    int64 // lanes that guards skipped, summed over PTX instructions
	Branches   int64 // branches executed

	hits, fixed   unsafe.Pointer // arrays of *mem.Allocation
	shared        *mem.Allocation
	memoryChanged *bool // machine code sets it when it changes memory

	constants, shadowR, shadowQ unsafe.Pointer
	_                           [2]uint64 // scratch space of stencils

	Materialised    int64 // lanes materialised from shadows
	ComparedCompact int64 // lanes of compared results covered by a shadow

	notes, counts unsafe.Pointer // buffers of check mode: see SetCheckBuffers

	Mask             uint32         // active mask
	ReconvergeAt     int32          // pc of the block at the innermost reconvergence point; -1: none
	PC               int32          // output: place of the exit
	Reason           Reason         // output: reason of the exit
	Lanes            uint32         // output: active mask at the exit
	Live             uint32         // live lanes: they have not ended
	NotifyEveryBlock uint32         // 1: machine code exits at each end of a block
	r, q, p          unsafe.Pointer // rows, wide rows, predicates
	sources          unsafe.Pointer // special registers, an array of Source

	tid, lanes, uniform unsafe.Pointer // special registers
	local               unsafe.Pointer // local memory: word i of all lanes is row i
	localFrom, localTo  uint64         // bounds of a thread's local memory, in bytes
	frame               uint64         // beginning of the running function's frame in local memory
	k                   unsafe.Pointer // constants
	parallel            uint32         // 1: atomics on global memory must be atomic instructions of the host

	Divergence
	ScheduledWarp

	fragments *Fragments // of the matrix instruction that executes

	_      [regfile.Lanes + 7]uint64 // pointers to the memory of the lanes, from a cache line on: scratch space of stencils
	halves [2]uint64                 // the same for the first lanes of the halves

	addresses [regfile.Lanes]uint64 // address row of an access that overwrites it, as before the access: see Code.Catching

	log *AccessLog // log of loads, in code with MayLog: see Code.WithExits

	copyQueue *CopyQueue // cp.async of the warp; nil: Go executes these instructions. See SetCopies
	copyState *CopyState
	sequence  *int64
}

// In C, struct machine begins after NotifyEveryBlock, with r, q and p before sources.
var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.sources)-NotifyEveryBlockAt-32]

// WithLimit sets the limit of the next entry: a Count of enough, but at most a stretch of instructions from now. It returns c.
func (c *Context) WithLimit(enough int64) *Context { return c.withLimit(enough, Stretch) }

// WithCheckLimit is WithLimit for check mode, whose stretch is shorter.
func (c *Context) WithCheckLimit(enough int64) *Context { return c.withLimit(enough, checkStretch) }

func (c *Context) withLimit(enough, stretch int64) *Context {
	c.CountLimit = min(enough, c.Count+stretch)
	if c.scheduler != nil {
		c.scheduler.stretch, c.scheduler.granted = stretch, c.CountLimit-c.Count
	}
	return c
}

// ResetCounts sets all counters but Count to 0. The caller must have added them up.
func (c *Context) ResetCounts() {
	c.Skipped, c.Branches, c.LaneInstrs, c.DivergentBranches, c.Reconverged, c.ExitBranches, c.Materialised, c.ComparedCompact = 0, 0, 0, 0, 0, 0, 0, 0
}

// Source is a special register as a progression over the lanes of a warp.
type Source struct{ Base, Stride uint64 }

// SetSources sets the values of the uniform and affine special registers, in the order of Code.Sources. The progression of a
// thread index must hold for all lanes of a row.
func (c *Context) SetSources(sources []Source) { c.sources = unsafe.Pointer(unsafe.SliceData(sources)) }

// Reason is the reason of an exit of machine code.
type Reason uint32

// The reasons.
const (
	Unsupported  Reason = iota // before an instruction without machine code
	NeedsCaution               // before a block with a caution: Go decides whether it may begin
	Diverges                   // at a block's end: lanes diverge, and Go must handle it
	Reconverges                // at a block's end: lanes reach a reconvergence point, and Go must handle it
	OtherEnd                   // at a block's end for Go
	BudgetUsed                 // before a block: Count has reached CountLimit
	NoSplit                    // all lanes wait at reconvergence points, and Go has the remaining warp splits
	SwitchedWarp               // no warp can continue in machine code: Go chooses the next

	// In check mode PC is the number of a step, also for Unsupported and StretchEnded.
	Halfway // the program has executed the step, and the reference has not
	Differs // program and reference have executed the step, and their results differ

	StretchEnded // before an instruction in the middle of a block, where code may continue: a stretch has ended

	Observed // before an instruction with an event: see Code.WithExits
	Faulted  // in a memory access, by a fault of the host: some lanes may have made it. Only in code of Code.Catching
)

// NotifyEveryBlockAt is the offset of the last field of struct context. The generator compares it with the C layout.
const NotifyEveryBlockAt = unsafe.Offsetof(Context{}.NotifyEveryBlock)

// ParallelAt is the offset of the last field of struct machine. The generator compares it with the C layout.
const ParallelAt = unsafe.Offsetof(Context{}.parallel)

// FragmentsAt and AddressesAt are offsets of fields of Context. The generator compares them with the C layout.
const (
	FragmentsAt = unsafe.Offsetof(Context{}.fragments)
	AddressesAt = unsafe.Offsetof(Context{}.addresses)
)

// Registers is the number of special registers.
const Registers = ptx.ZeroReg + 1

// SetSpecials sets the values of special registers: the rows of tid.x, tid.y and tid.z, and, by number, the uniform registers of
// Code.Uniform.
func (c *Context) SetSpecials(tid *[3]regfile.Row32, uniform *[Registers]uint64) {
	c.tid, c.lanes, c.uniform = unsafe.Pointer(tid), unsafe.Pointer(&laneRows), unsafe.Pointer(uniform)
}

// SetLocal sets the local memory of the warp, the bounds of a thread's local memory in bytes, and the beginning of the running
// function's frame.
func (c *Context) SetLocal(local mem.Local, from, to, frame uint64) {
	c.local = unsafe.Pointer(unsafe.SliceData(local))
	c.localFrom, c.localTo, c.frame = from, to, frame
}

// SetParallel sets whether CTAs run in parallel: if so, atomics on global memory must use atomic instructions of the host.
func (c *Context) SetParallel(yes bool) {
	c.parallel = 0
	if yes {
		c.parallel = 1
	}
}

// SetMemory sets the allocations of the memory instructions' last hits, the shared memory, and a flag set by changes of
// memory.
func (c *Context) SetMemory(hits []*mem.Allocation, shared *mem.Allocation, changed *bool) {
	c.hits = unsafe.Pointer(unsafe.SliceData(hits))
	c.shared = shared
	c.memoryChanged = changed
}
