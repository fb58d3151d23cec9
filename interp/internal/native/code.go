package native

// This file makes machine code of lowered code.

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"gemu/interp/internal/alu"
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

// assembler puts stencils one behind the other.
type assembler struct {
	prog            *code.Program
	sources         []ptx.SpecialReg // that are read compactly
	lib             *Library
	suffix          string
	consts          [code.P + 1]int64 // where constants of each kind begin
	shadows         [code.P + 1]int64 // … and their shadows
	buf             []byte
	poolIndex       []int32          // by a constant's number in the library: 1 + its number among those of the code; 0: it has no place yet
	usedConstants   []int32          // … of those that have one
	numbers         map[uint32]int32 // numbers that are no part of an instruction, likewise
	pool            []string         // constants
	poolPlaces      []int            // of those that have one in the code
	poolEnd         int              // the end of the code where they were placed last
	outOfReach      bool             // some place is further than the host jumps
	fixups          []fixup
	labels          []int32     // places by number
	stubs           []stub      // at the end of the block
	hitLookups      []hitLookup // … before them
	coldCode        []coldCode  // … and before these
	leftToGo        bool        // what is under way is Go's: see leaveToGo
	sinceExit       int         // instructions since it could come back in the block under way
	reconvergeLabel int         // label of what is done where lanes meet
	switchLabel     int         // … where a warp has stopped
	blockLabels     []int32     // labels
	afterCaution    []int32
	instrs          []int32

	// Of check mode.
	check    *Check
	step     int32  // under way
	goReason Reason // what an instruction leaves for that cannot go on

	functionLabels map[string]int // labels of what its stencils call
}

// fixup is a jump or constant whose place is not known yet.
type fixup struct {
	offset, addend int32
	label          int32 // of a jump; below 0: the complement of a constant's number
}

// stub is a way out.
type stub struct {
	label  int
	pc     int32
	reason Reason

	block    *code.Block // of Parts
	target   int32       // of Meets: the block that lanes come to
	branches int64       // … how many that is
}

// hitLookup is what an instruction does before it leaves: a stencil at a label.
type hitLookup struct {
	label int
	name  string
	holes
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

// newAssembler readies one for a program.
func newAssembler(c *Code, masked bool) *assembler {
	a, p := assemblers.Get().(*assembler), c.prog
	a.prog, a.lib, a.sources, a.suffix = p, c.lib, c.Sources, "_full"
	if masked {
		a.suffix = "_masked"
	}
	a.consts[code.R], a.consts[code.Q], a.consts[code.P] = p.Consts.Offsets()
	a.shadows[code.R], a.shadows[code.Q] = p.Consts.ShadowOffsets()
	a.blockLabels, a.afterCaution, a.instrs = make([]int32, len(p.Blocks)), make([]int32, len(p.Blocks)), make([]int32, len(p.Instrs))
	for i := range a.blockLabels {
		a.blockLabels[i] = int32(a.newLabel())
	}
	for i := range a.instrs {
		a.instrs[i] = noPlace
	}
	return a
}

// newBody is what has been made.
func (a *assembler) newBody(p *code.Program) *body {
	b := &body{blocks: make([]int32, len(p.Blocks)), afterCaution: a.afterCaution, instrs: a.instrs, addresses: make([]uintptr, len(p.Instrs))}
	b.text = newText(a.finish())
	for i, l := range a.blockLabels {
		b.blocks[i] = a.labels[l]
		if b.text.memory != nil {
			b.addresses[p.Blocks[i].First] = uintptr(b.text.address(b.blocks[i]))
		}
	}
	return b
}

// assemblers have room that others have made.
var assemblers = sync.Pool{New: func() any { return &assembler{numbers: map[uint32]int32{}} }}

// release is the end of the assembler's work; its room is for another.
func (a *assembler) release() {
	a.forgetConstants()
	*a = assembler{buf: a.buf[:0], poolIndex: a.poolIndex, usedConstants: a.usedConstants, numbers: a.numbers, pool: a.pool[:0], poolPlaces: a.poolPlaces[:0], fixups: a.fixups[:0], labels: a.labels[:0], stubs: a.stubs[:0], hitLookups: a.hitLookups[:0], coldCode: a.coldCode[:0]}
	assemblers.Put(a)
}

// newLabel is a new one.
func (a *assembler) newLabel() int {
	a.labels = append(a.labels, noPlace)
	return len(a.labels) - 1
}

// bind is where a label is.
func (a *assembler) bind(label int) { a.labels[label] = int32(len(a.buf)) }

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

// holes is what fills a stencil's holes: places of operands, in bytes, numbers, labels.
type holes struct {
	d, f, a, b, c, e int64
	n0, n1           int64
	constant         operandSet // that are constants
	other, leave     int
}

// operand is the hole of an operand, by its letter.
func (h *holes) operand(letter byte) *int64 {
	switch letter {
	case 'D':
		return &h.d
	case 'F':
		return &h.f
	case 'A':
		return &h.a
	case 'B':
		return &h.b
	case 'C':
		return &h.c
	case 'E':
		return &h.e
	}
	panic("BUG: no operand " + string(letter))
}

// put puts a stencil that there must be.
func (a *assembler) put(name string, h holes) {
	if !a.tryPut(name, h) {
		panic("BUG: no stencil " + name)
	}
}

// putOrLeave puts a stencil, if there is one. Otherwise what is under way is Go's.
func (a *assembler) putOrLeave(name string, h holes) {
	if !a.tryPut(name, h) {
		a.leaveToGo()
	}
}

// leaveToGo has what is under way be Go's: undone takes back what has been put of it, and nothing more is.
func (a *assembler) leaveToGo() { a.leftToGo = true }

// tryPut puts a stencil, if there is one; nothing if what is under way is Go's.
func (a *assembler) tryPut(name string, h holes) bool {
	if a.leftToGo {
		return true
	}
	s := a.lib.stencil(name)
	if s == nil || h.constant&s.neverConstant != 0 {
		return false
	}
	base := len(a.buf)
	a.buf = append(a.buf, s.code...)
	code := a.buf[base:]
	values := [...]int64{holeD: h.d, holeF: h.f, holeA: h.a, holeB: h.b, holeC: h.c, holeE: h.e, hole0: h.n0, hole1: h.n1}
	for i := range s.refs {
		r := &s.refs[i]
		if r.kind >= toNext {
			a.fillJump(r, base, len(code), &h)
			continue
		}
		v := values[r.kind] + int64(r.addend)
		if v != int64(int32(v)) {
			panic("BUG: a number that does not fit")
		}
		if !host.putNumber(code[r.offset:r.offset+4], int32(v)) {
			a.fixups = append(a.fixups, fixup{offset: int32(base) + r.offset, label: ^a.addNumber(uint32(v))})
		}
	}
	if h.constant != 0 {
		for _, f := range s.flips {
			if h.constant&f.operand != 0 {
				code[f.offset] ^= f.xor
			}
		}
	}
	return true
}

// fillJump fills a hole for a jump or a constant, in a stencil of some length that begins at base, or notes it for when
// it is known where that is.
func (a *assembler) fillJump(r *ref, base, length int, h *holes) {
	f := fixup{offset: int32(base) + r.offset, addend: r.addend}
	switch r.kind {
	case toNext:
		a.outOfReach = !host.putDistance(a.buf[f.offset:f.offset+4], length-int(r.offset)+int(r.addend)) || a.outOfReach
		return
	case toOther:
		f.label = int32(h.other)
	case toLeave:
		f.label = int32(h.leave)
	case toPool:
		f.label = ^a.addConstant(r.pool)
	}
	a.fixups = append(a.fixups, f)
}

// addConstant is the number of a constant among those of the code, by its number in the library.
func (a *assembler) addConstant(n int32) int32 {
	for int(n) >= len(a.poolIndex) {
		a.poolIndex = append(a.poolIndex, 0)
	}
	if a.poolIndex[n] == 0 {
		a.pool = append(a.pool, a.lib.constants()[n])
		a.usedConstants, a.poolIndex[n] = append(a.usedConstants, n), int32(len(a.pool))
	}
	return a.poolIndex[n] - 1
}

// addNumber is that of a constant of four bytes.
func (a *assembler) addNumber(v uint32) int32 {
	n, ok := a.numbers[v]
	if !ok {
		n = int32(len(a.pool))
		a.pool = append(a.pool, string(binary.LittleEndian.AppendUint32(nil, v)))
		a.numbers[v] = n
	}
	return n
}

// codeAlign is what instructions begin at multiples of, on any host.
const codeAlign = 4

// placeConstants places those that have no place yet.
func (a *assembler) placeConstants() {
	for _, p := range a.pool[len(a.poolPlaces):] {
		for len(a.buf)%len(p) != 0 {
			a.buf = append(a.buf, 0xcc)
		}
		a.poolPlaces = append(a.poolPlaces, len(a.buf))
		a.buf = append(a.buf, p...)
	}
	for len(a.buf)%codeAlign != 0 {
		a.buf = append(a.buf, 0xcc)
	}
	a.forgetConstants()
	a.poolEnd = len(a.buf)
}

// forgetConstants has constants that are wanted from now on be others.
func (a *assembler) forgetConstants() {
	for _, n := range a.usedConstants {
		a.poolIndex[n] = 0
	}
	a.usedConstants = a.usedConstants[:0]
	clear(a.numbers)
}

// placeIsland places the constants between instructions, if the code since they were placed last is as long as a quarter of
// how far from it they can be: an instruction's code and the constants are not as long as the rest.
func (a *assembler) placeIsland() {
	if len(a.buf)-a.poolEnd < host.reach/4 {
		return
	}
	after := a.newLabel()
	a.put("jump", holes{other: after})
	a.placeConstants()
	a.bind(after)
}

// finish places the constants, and fills in jumps and where constants are. It gives nothing if some place is
// further than the host jumps.
func (a *assembler) finish() []byte {
	a.placeConstants()
	for i := range a.fixups {
		f := &a.fixups[i]
		var to int
		if f.label < 0 {
			to = a.poolPlaces[^f.label]
		} else {
			to = int(a.labels[f.label])
		}
		a.outOfReach = !host.putDistance(a.buf[f.offset:f.offset+4], to+int(f.addend)-int(f.offset)) || a.outOfReach
	}
	if a.outOfReach {
		return nil
	}
	return a.buf
}

// putInstr makes the code of an instruction.
func (a *assembler) putInstr(pc int32, instr *code.Instr) {
	start, suffix, after := len(a.buf), a.suffix, 0
	if instr.Guard != 0 {
		suffix, after = "_masked", a.newLabel()
		p, negated := code.GuardRow(instr.Guard)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: after})
	}
	a.putExecution(pc, instr, suffix)
	if instr.Guard != 0 {
		a.bind(after)
		name := "unguard"
		if instr.CountsSkipped {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
	if !a.leftToGo {
		a.instrs[pc] = int32(start)
	}
}

// attempt makes code, or none if that is to be Go's; made tells which.
func (a *assembler) attempt(emit func()) (made bool) {
	start, fixes, stubs, recalls, asides, before := len(a.buf), len(a.fixups), len(a.stubs), len(a.hitLookups), len(a.coldCode), a.leftToGo
	emit()
	made, a.leftToGo = !a.leftToGo, before
	if !made {
		a.buf, a.fixups, a.stubs = a.buf[:start], a.fixups[:fixes], a.stubs[:stubs]
		a.hitLookups, a.coldCode = a.hitLookups[:recalls], a.coldCode[:asides]
	}
	return made
}

// putOperation is what an instruction does, without its guard.
func (a *assembler) putOperation(pc int32, instr *code.Instr, suffix string) {
	s := instr.Op.Signature()
	switch {
	case s.Compares():
		a.putComparison(instr)
		a.putCombination(instr, suffix)
	case s.Kind == code.Arithmetic:
		name := a.kernelName(instr) + suffix
		a.requireSecondResult(instr)
		h := a.operandHoles(instr)
		h.n0 = int64(instr.Imm)
		a.putOrLeave(name, h)
		a.addStencilCost(name)
	case s.Kind == code.Load || s.Kind == code.Store || instr.Op == code.Atomic: // others that access memory have meanings of their own
		a.putAccess(pc, instr, suffix)
	case s.Kind == code.Read:
		a.putSpecial(instr, suffix)
	default:
		a.putCollective(pc, instr, suffix)
	}
}

// requireSecondResult leaves an operation to Go that has a second result which nobody wants. The first has a register always.
func (a *assembler) requireSecondResult(instr *code.Instr) {
	if instr.Op.Signature().Dst2 != code.NoSlot && instr.F == code.NoRow {
		a.leaveToGo()
	}
}

// kernelName is what stencils call an instruction's operation, whose number they have to have room for; none if they lack it.
func (a *assembler) kernelName(instr *code.Instr) string {
	if instr.Imm > math.MaxInt32 {
		a.leaveToGo()
	}
	return a.lib.kernels[instr.Op.Signature().Name]
}

// addCost has an instruction count as so many more, if any.
func (a *assembler) addCost(n int) {
	if n > 0 {
		a.sinceExit += n
		a.put("add_cost", holes{n0: int64(n)})
	}
}

// addStencilCost has an instruction count as one does that a stencil is of.
func (a *assembler) addStencilCost(name string) {
	if s := a.lib.stencil(name); s != nil {
		a.addCost(s.cost)
	}
}

// operandHoles are the places of an instruction's operands.
func (a *assembler) operandHoles(instr *code.Instr) (h holes) {
	s := instr.Op.Signature()
	a.setRegister(&h, 'D', s.Dst, instr.D)
	a.setRegister(&h, 'F', s.Dst2, instr.F)
	for i, row := range instr.Sources() {
		a.setPlace(&h, letters[i], s.Src[i], row)
	}
	return h
}

// rowSizes are the bytes of a row of each kind.
var rowSizes = [...]int64{code.R: 4 * regfile.Lanes, code.Q: 8 * regfile.Lanes, code.P: 4}

// setPlace is that of an operand, in bytes from where its kind of rows begins, or the constants: for the hole with a letter.
func (a *assembler) setPlace(h *holes, letter byte, slot code.Slot, row int32) {
	if slot == code.NoSlot || row >= 0 {
		a.setRegister(h, letter, slot, row)
		return
	}
	h.constant |= operandBit(letter)
	a.setHole(h.operand(letter), a.consts[slot]+rowSizes[slot]*int64(^row))
}

// setRegister is place of what is no constant.
func (a *assembler) setRegister(h *holes, letter byte, slot code.Slot, row int32) {
	if row != code.NoRow {
		a.setHole(h.operand(letter), rowSizes[slot]*int64(row))
	}
}

// maxOperandBytes is more bytes than anything has that stencils have the place of: they add to it.
const maxOperandBytes = 4096

// setHole is a place, if a stencil's holes have room for where it begins and ends.
func (a *assembler) setHole(hole *int64, place int64) {
	if *hole = place; place < 0 || place >= 1<<31-maxOperandBytes {
		a.leaveToGo()
	}
}

// checkOffset is a number of an access that a stencil's hole has to have room for.
func (a *assembler) checkOffset(n int64) {
	if n != int64(int32(n)) {
		a.leaveToGo()
	}
}

// putComparison has that of a comparison be under way.
func (a *assembler) putComparison(instr *code.Instr) {
	a.putOrLeave(a.lib.kernels[instr.Op.Signature().Name], a.operandHoles(instr))
}

// combinations are how a comparison's outcome is combined with a predicate.
var combinations = map[uint64]string{alu.BoolNone: "", alu.BoolAnd: "_and", alu.BoolOr: "_or", alu.BoolXor: "_xor"}

// putCombination is what becomes of the outcome of a comparison.
func (a *assembler) putCombination(instr *code.Instr, suffix string) {
	op, known := combinations[instr.Imm&^alu.ComplementC]
	h := a.operandHoles(instr)
	h.n0 = ones(instr.Imm&alu.ComplementC != 0)
	if !known || op != "" && instr.F != code.NoRow && instr.C == instr.D { // which the first result overwrites
		a.leaveToGo()
	}
	if instr.D != code.NoRow {
		a.put("compared"+op+suffix, h)
	}
	if instr.F != code.NoRow {
		h.d = h.f
		a.put("uncompared"+op+suffix, h)
	}
}
