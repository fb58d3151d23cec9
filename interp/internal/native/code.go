package native

// This file makes machine code of lowered code.

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// Code is the machine code of a program. It has a body for all lanes and a body for the lanes of a mask; each is assembled
// at the first use.
type Code struct {
	lib              *Library
	prog             *code.Program
	fixedAllocations []*mem.Allocation // allocations of fixed addresses, by the index of the access
	constants        unsafe.Pointer    // the program's constants

	// Sources has the special registers, uniform or affine, whose values the caller must pass to Context.SetSources.
	Sources []ptx.SpecialReg

	// Uniform has the special registers whose values the caller must pass to Context.SetSpecials.
	Uniform []ptx.SpecialReg

	bodies       bodies
	catching     bool         // see Catching
	makeCatching func() *Code // see Catching

	panels          []func() *Panels         // by index of operands: see Panels
	multiplications []func() *Multiplication // by index of operands: see Multiplication
	exits           []byte                   // by pc: AlwaysExit or MayLog for an instruction before which the code exits with Observed; nil: none
}

// bodies has a program's code for all lanes and for the lanes of a mask.
type bodies struct {
	full, masked atomic.Pointer[body]
	mu           sync.Mutex               // held while a body is assembled
	contentSum   func() [sha256.Size]byte // returns the checksum of the bodies' input
}

// New returns the machine code of a program, from these stencils. The program's constants must be laid out.
func (l *Library) New(p *code.Program) *Code {
	c := &Code{lib: l, prog: p, constants: p.Consts.Pointer(), fixedAllocations: make([]*mem.Allocation, len(p.Access)), Uniform: uniformSources(p), Sources: sourcesOf(p), panels: wgmmaPanels(p.Fragments), multiplications: l.newMultiplications(p.Fragments)}
	for i := range p.Access {
		c.fixedAllocations[i] = p.Access[i].Fixed
	}
	c.bodies.contentSum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.addProgram(p)
		return d.sum()
	})
	c.makeCatching = sync.OnceValue(func() *Code {
		n := c.variant("catching")
		n.catching = true
		return n
	})
	return c
}

// WithExits returns code of the same program that exits, with Observed, before each instruction for which exits, by pc, is
// not NoExit. RunInstr enters the code after this exit. The windows of the log (Context.SetLog) are numbered by pc.
func (c *Code) WithExits(exits []byte) *Code {
	n := c.variant(string(exits))
	n.exits = exits
	return n
}

// variant returns code of the same program with other exits. difference identifies the variant.
func (c *Code) variant(difference string) *Code {
	n := &Code{lib: c.lib, prog: c.prog, constants: c.constants, fixedAllocations: c.fixedAllocations, Uniform: c.Uniform, Sources: c.Sources, panels: c.panels, multiplications: c.multiplications}
	n.bodies.contentSum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.addProgram(c.prog)
		d.bytes = append(d.bytes, difference...)
		return d.sum()
	})
	return n
}

// Catching returns the code in which a fault of the host at a load or store is an exit, for memory that the host may take away.
// Each such access takes a few more instructions of the host. CatchesFaults must have reported true.
func (c *Code) Catching() *Code { return c.makeCatching() }

// body is the code of a program for all lanes or for the lanes of a mask. Places are offsets in bytes from its beginning.
type body struct {
	text         *text
	blocks       []int32   // by block: its beginning
	afterCaution []int32   // by block: the place after its exit with NeedsCaution; its beginning if it has no such exit
	instrs       []int32   // by pc: the instruction's beginning; noPlace if it has no stencil
	addresses    []uintptr // by pc of the first instruction of a block: the address of its beginning

	// Of check mode.
	steps []int32 // by number: the step's beginning
	ends  []int32 // by block: the code of its end, after its steps
}

// Stretch is the number of PTX instructions after which machine code exits, so that Go can preempt the goroutine. The exit
// is at the end of a block, or between two instructions of a block longer than Stretch. A stretch takes less than 100 µs,
// because slow instructions count as several; with the slowest operations on halves it takes up to 0.8 ms.
const Stretch = 4096

// The cost of slow instructions, in instructions beyond the first. Directives in package alu give the cost of slow operations.
const (
	SlowCost        = 255 // an operation on few lanes at a time
	atomicCost      = 31  // an atomic: each lane may wait for memory in turn
	vectorCost      = 15  // a load or store of a vector
	elementwiseCost = 15  // a load or store of a vector whose elements are accessed one after the other: beyond vectorCost
	GatherCost      = 15  // an access whose lanes may be in 32 cache lines; the stencil counts it only if they are scattered
)

// clearedBytesPerInstr is the maximum number of bytes cleared in the time of one instruction of cost 1.
const clearedBytesPerInstr = 512

// noPlace marks a missing or unknown place.
const noPlace = -1

// bodyFor returns the program's code for the context's active mask.
func (c *Code) bodyFor(ctx *Context) *body { return c.bodies.bodyFor(ctx, c.lib, c.assemble) }

// bodyFor returns the body for the context's active mask, and sets the context's tables of code.
func (f *bodies) bodyFor(ctx *Context, l *Library, assemble func(masked bool) *body) *body {
	fullBody, maskedBody := f.full.Load(), f.masked.Load()
	ctx.setTables(fullBody, maskedBody)
	masked := ctx.Mask != regfile.Full
	b := fullBody
	if masked {
		b = maskedBody
	}
	if b != nil {
		return b
	}
	return f.makeBody(masked, l, assemble)
}

// makeBody returns a body and assembles it if it is missing.
func (f *bodies) makeBody(masked bool, l *Library, assemble func(masked bool) *body) *body {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := &f.full
	if masked {
		to = &f.masked
	}
	b := to.Load()
	if b == nil {
		b = l.bodyOf(f.contentSum, masked, assemble)
		to.Store(b)
	}
	return b
}

// Make assembles the code for all lanes, or for the lanes of a mask, before its first use.
func (c *Code) Make(masked bool) { c.bodies.makeBody(masked, c.lib, c.assemble) }

// Ready reports whether the host can execute the code.
func (c *Code) Ready(ctx *Context) bool { return c.bodyFor(ctx).text.memory != nil }

// NextSupported returns the pc of the first instruction at or after pc with a stencil or an exit (WithExits), or of the block's
// end.
func (c *Code) NextSupported(ctx *Context, pc int32) int32 {
	for instrs := c.bodyFor(ctx).instrs; !c.HasExit(pc) && instrs[pc] == noPlace; {
		pc++
	}
	return pc
}

// HasExit reports whether the code exits before an instruction (WithExits).
func (c *Code) HasExit(pc int32) bool { return c.exits != nil && c.exits[pc] != NoExit }

// HasStencil reports whether the instruction at pc has a stencil or ends its block, so that RunInstr can enter the code there.
func (c *Code) HasStencil(ctx *Context, pc int32) bool { return c.bodyFor(ctx).instrs[pc] != noPlace }

// RunBlock enters machine code at the beginning of a block, by its index.
func (c *Code) RunBlock(ctx *Context, f *regfile.File, index int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.blocks[index])
}

// RunBlockAfterCaution enters machine code at the beginning of a block whose Caution conditions the caller has checked (see
// NeedsCaution).
func (c *Code) RunBlockAfterCaution(ctx *Context, f *regfile.File, index int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.afterCaution[index])
}

// RunInstr enters machine code at an instruction, which must have a stencil or end its block.
func (c *Code) RunInstr(ctx *Context, f *regfile.File, pc int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.instrs[pc])
}

// TryInstr is RunInstr if the instruction at pc has a stencil or ends its block; otherwise it returns false.
func (c *Code) TryInstr(ctx *Context, f *regfile.File, pc int32) bool {
	b := c.bodyFor(ctx)
	if b.instrs[pc] == noPlace {
		return false
	}
	c.run(ctx, f, b, b.instrs[pc])
	return true
}

// assemble makes the code of the program.
func (c *Code) assemble(masked bool) *body {
	a := newAssembler(c, masked)
	defer a.release()
	a.putReconvergence()
	a.putWarpSwitch()
	for i := range c.prog.Blocks {
		a.putBlock(&c.prog.Blocks[i])
	}
	return a.newBody(c.prog)
}

// putBlock makes the code of a block.
func (a *assembler) putBlock(b *code.Block) {
	a.bind(int(a.blockLabels[b.Index]))
	if b.Caution != 0 {
		a.putCautionCheck(b)
	}
	a.afterCaution[b.Index] = int32(len(a.buf))
	a.put("begin", holes{n0: int64(b.Sources.Len())})
	a.sinceExit = 0
	for pc := b.First; pc < b.Last; pc++ {
		a.placeIsland()
		exits := a.exitsBefore(pc)
		before := len(a.buf)
		if exits {
			a.sinceExit = 0
		} else if a.stretchEnds(Stretch) {
			a.putExit(pc, StretchEnded)
		}
		if !a.attempt(func() { a.putInstr(pc, &a.prog.Instrs[pc]) }) {
			a.buf = a.buf[:before]
			a.putExit(pc, Unsupported)
		}
	}
	a.exitsBefore(b.Last)
	a.instrs[b.Last] = int32(len(a.buf))
	a.putEnd(b)
	a.putStubs()
}

// exitsBefore puts the exit before the instruction at pc, and reports whether the code always exits there.
func (a *assembler) exitsBefore(pc int32) bool {
	if a.exits == nil || a.exits[pc] == NoExit {
		return false
	}
	if a.exits[pc] == MayLog {
		a.putLog(pc)
		return false
	}
	a.putExit(pc, Observed)
	return true
}

// stretchEnds counts an instruction of a block, and reports whether the code must exit before it because stretch instructions
// have passed.
func (a *assembler) stretchEnds(stretch int) bool {
	a.sinceExit++
	if a.sinceExit < stretch {
		return false
	}
	a.sinceExit = 0
	return true
}

// putStubs puts the cold code, the hit lookups and the exits after a block.
func (a *assembler) putStubs() {
	a.putColdCode()
	for _, r := range a.hitLookups {
		a.placeIsland()
		a.bind(r.label)
		a.put(r.name, r.holes)
	}
	a.hitLookups = a.hitLookups[:0]
	for i := range a.stubs {
		s := &a.stubs[i]
		a.bind(s.label)
		switch s.reason {
		case Reconverges:
			a.putArrival(s)
		case Diverges:
			a.putDivergence(s)
			fallthrough
		default:
			a.putExit(s.pc, s.reason)
		}
	}
	a.stubs = a.stubs[:0]
}

// putExit puts an exit: the code returns to Go.
func (a *assembler) putExit(pc int32, reason Reason) {
	a.placeIsland()
	a.put("out", holes{n0: int64(pc), n1: int64(reason)})
}

// exitLabel returns the label of a new exit, which is placed after the block.
func (a *assembler) exitLabel(pc int32, reason Reason) int {
	l := a.newLabel()
	a.addExit(l, pc, reason)
	return l
}

// addExit places an exit at label, after the block.
func (a *assembler) addExit(label int, pc int32, reason Reason) {
	if a.check != nil && reason == Unsupported { // Go's place is a step: its beginning, or its middle
		pc, reason = a.step, a.goReason
	}
	a.stubs = append(a.stubs, stub{label: label, pc: pc, reason: reason})
}

// addStub adds a stub and returns its label.
func (a *assembler) addStub(s stub) int {
	s.label = a.newLabel()
	a.stubs = append(a.stubs, s)
	return s.label
}

// putEnd makes the code of the end of a block.
func (a *assembler) putEnd(b *code.Block) {
	switch end := a.prog.End(b); {
	case a.putBarrier(b, end) || a.putWarpBarrier(b, end) || a.putWarpEnd(b, end):
	case end.Op == code.Jump:
		a.putEdge(b, b.Next, 0)
	case (end.Op == code.Branch || end.Op == code.Return) && end.Guard == 0:
		a.putEdge(b, b.Target, 1)
	case end.Op == code.Branch || end.Op == code.Return:
		all := a.newLabel()
		parts := all
		if b.Target != b.Next {
			parts = a.addStub(stub{pc: b.Last, reason: Diverges, block: b})
		}
		p, negated := code.GuardRow(end.Guard)
		a.put("branch", holes{a: int64(4 * p), n0: ones(negated), other: all, leave: parts})
		a.putEdge(b, b.Next, 1)
		a.bind(all)
		a.putEdge(b, b.Target, 1)
	default:
		a.putExit(b.Last, OtherEnd)
	}
}

// ones returns a number with all bits set if b, else 0.
func ones(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

// putEdge makes the code of the way from block b to the block at pc to, and counts branches executed branches for it.
func (a *assembler) putEdge(b *code.Block, to int32, branches int64) {
	a.put("edge", holes{n0: int64(to), n1: branches, other: a.exitLabel(to, BudgetUsed), leave: a.addStub(stub{pc: b.Last, reason: Reconverges, target: to, branches: branches})})
	a.put("jump", holes{other: int(a.blockLabels[a.prog.Block(to).Index])})
}
