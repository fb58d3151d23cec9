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

// Code is a program as machine code: for all lanes, and for some of them. Each is made when it
// is needed first.
type Code struct {
	lib              *Library
	prog             *code.Program
	fixedAllocations []*mem.Allocation // that fixed addresses lie in, by the index of the side table
	constants        unsafe.Pointer    // where the constants begin

	// Sources is the special registers that Context.SetSources is given.
	Sources []ptx.SpecialReg

	// Uniform is the special registers that Context.SetSpecials has to have.
	Uniform []ptx.SpecialReg

	bodies bodies
}

// bodies are a program's code for all lanes, and for some.
type bodies struct {
	full, masked atomic.Pointer[body]
	mu           sync.Mutex               // held to make one
	contentSum   func() [sha256.Size]byte // of what they are made of
}

// New is the machine code of a program, whose constants are laid out.
func New(p *code.Program) *Code { return HostLibrary().New(p) }

// New is the machine code of a program of these stencils.
func (l *Library) New(p *code.Program) *Code {
	c := &Code{lib: l, prog: p, constants: p.Consts.Pointer(), fixedAllocations: make([]*mem.Allocation, len(p.Access)), Uniform: uniformSources(p), Sources: sourcesOf(p)}
	for i := range p.Access {
		c.fixedAllocations[i] = p.Access[i].Fixed
	}
	c.bodies.contentSum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.addProgram(p)
		return d.sum()
	})
	return c
}

// body is the code of a program for all lanes, or for those of a mask. Places are offsets.
type body struct {
	text         *text
	blocks       []int32   // by block: its beginning, where it is counted
	afterCaution []int32   // … the same of blocks that have to be looked at first, behind that
	instrs       []int32   // by pc: where it begins; none: it has no stencil
	addresses    []uintptr // by pc of the first instruction of a block: the address of its beginning

	// Of check mode.
	steps []int32 // by number: where it begins
	ends  []int32 // by block: where the end is, behind its steps
}

// Stretch is how many PTX instructions native code executes before it comes back to Go, which may want to stop it:
// that many, and what is left of a block up to its end or to an instruction before which it rests, one in so many. It
// takes less than 100 µs, for what takes long counts as several; of the slowest operations on halves up to 0.8 ms.
const Stretch = 4096

// How many instructions one counts as there, besides itself. Of others that take long, the directives of package alu say it.
const (
	SlowCost   = 255 // that does few lanes at a time
	atomicCost = 63  // that has each lane wait for memory in turn
	vectorCost = 31  // that loads or stores vectors
	GatherCost = 15  // whose lanes may be in 32 lines of memory; the stencil knows whether they are
)

// ClearedBytesPerInstr is how many bytes are cleared, at most, in the time that an instruction may take which counts as one.
const ClearedBytesPerInstr = 512

// noPlace is no place.
const noPlace = -1

// bodyFor is the program's code for all lanes, or for those of a mask.
func (c *Code) bodyFor(ctx *Context) *body { return c.bodies.bodyFor(ctx, c.lib, c.assemble) }

// bodyFor is the one that a context needs.
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

// makeBody makes one that is not there.
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

// Make makes the code for all lanes, or for some, ahead of when it is needed.
func (c *Code) Make(masked bool) { c.bodies.makeBody(masked, c.lib, c.assemble) }

// Ready reports whether the host executes the code.
func (c *Code) Ready(ctx *Context) bool { return c.bodyFor(ctx).text.memory != nil }

// NextSupported is the first instruction from pc on, up to the end of its block, that has a stencil or ends the
// block.
func (c *Code) NextSupported(ctx *Context, pc int32) int32 {
	instrs := c.bodyFor(ctx).instrs
	for instrs[pc] == noPlace {
		pc++
	}
	return pc
}

// RunBlock executes from the beginning of a block on, by its index.
func (c *Code) RunBlock(ctx *Context, f *regfile.File, index int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.blocks[index])
}

// RunBlockAfterCaution executes from the beginning of a block on that has been looked at (see Cautious).
func (c *Code) RunBlockAfterCaution(ctx *Context, f *regfile.File, index int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.afterCaution[index])
}

// RunInstr executes from an instruction on, which has a stencil or ends its block.
func (c *Code) RunInstr(ctx *Context, f *regfile.File, pc int32) {
	b := c.bodyFor(ctx)
	c.run(ctx, f, b, b.instrs[pc])
}

// assemble makes the code.
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
		before := len(a.buf)
		if a.stretchEnds(Stretch) {
			a.putExit(pc, StretchEnded)
		}
		if !a.attempt(func() { a.putInstr(pc, &a.prog.Instrs[pc]) }) {
			a.buf = a.buf[:before]
			a.putExit(pc, Unsupported)
		}
	}
	a.instrs[b.Last] = int32(len(a.buf))
	a.putEnd(b)
	a.putStubs()
}

// stretchEnds reports, before each instruction of a block, whether code has to come back between two of them, after so many.
func (a *assembler) stretchEnds(stretch int) bool {
	a.sinceExit++
	if a.sinceExit < stretch {
		return false
	}
	a.sinceExit = 0
	return true
}

// putStubs puts the ways out behind a block, and what is rarely come to.
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

// putExit goes out of native code.
func (a *assembler) putExit(pc int32, reason Reason) {
	a.placeIsland()
	a.put("out", holes{n0: int64(pc), n1: int64(reason)})
}

// exitLabel is the label of a way out, which is behind the block.
func (a *assembler) exitLabel(pc int32, reason Reason) int {
	l := a.newLabel()
	a.addExit(l, pc, reason)
	return l
}

// addExit has a label be that of one.
func (a *assembler) addExit(label int, pc int32, reason Reason) {
	if a.check != nil && reason == Unsupported { // before a step, or in the middle of one
		pc, reason = a.step, a.goReason
	}
	a.stubs = append(a.stubs, stub{label: label, pc: pc, reason: reason})
}

// addStub is the label of one.
func (a *assembler) addStub(s stub) int {
	s.label = a.newLabel()
	a.stubs = append(a.stubs, s)
	return s.label
}

// putEnd makes the code of the end of a block.
func (a *assembler) putEnd(b *code.Block) {
	switch end := a.prog.End(b); {
	case a.putBarrier(b, end) || a.putWarpEnd(b, end):
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

// ones is all ones if b.
func ones(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

// putEdge goes from a block to the one at pc to, with so many branches.
func (a *assembler) putEdge(b *code.Block, to int32, branches int64) {
	a.put("edge", holes{n0: int64(to), n1: branches, other: a.exitLabel(to, BudgetUsed), leave: a.addStub(stub{pc: b.Last, reason: Reconverges, target: to, branches: branches})})
	a.put("jump", holes{other: int(a.blockLabels[a.prog.Block(to).Index])})
}
