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
	lib   *Library
	prog  *code.Program
	fixed []*mem.Allocation // that fixed addresses lie in, by the index of the side table
	k     unsafe.Pointer    // where the constants begin

	// Sources is the special registers that Context.Read is given.
	Sources []ptx.SpecialReg

	// Uniform is the special registers that Context.Special has to have.
	Uniform []ptx.SpecialReg

	forms forms
}

// forms are a program's code for all lanes, and for some.
type forms struct {
	all, some atomic.Pointer[body]
	mu        sync.Mutex               // held to make one
	sum       func() [sha256.Size]byte // of what they are made of
}

// New is the machine code of a program, whose constants are laid out.
func New(p *code.Program) *Code { return Shipped().New(p) }

// New is the machine code of a program of these stencils.
func (l *Library) New(p *code.Program) *Code {
	c := &Code{lib: l, prog: p, k: p.Consts.Begin(), fixed: make([]*mem.Allocation, len(p.Access)), Uniform: uniform(p), Sources: sourcesOf(p)}
	for i := range p.Access {
		c.fixed[i] = p.Access[i].Fixed
	}
	c.forms.sum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.program(p)
		return d.sum()
	})
	return c
}

// body is the code of a program for all lanes, or for those of a mask. Places are offsets.
type body struct {
	text   *text
	blocks []int32   // by block: its beginning, where it is counted
	behind []int32   // … the same of blocks that have to be looked at first, behind that
	instrs []int32   // by pc: where it begins; none: it has no stencil
	begins []uintptr // by pc of the first instruction of a block: the address of its beginning

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
	Slow      = 255 // that does few lanes at a time
	atomicly  = 63  // that has each lane wait for memory in turn
	byVectors = 31  // that loads or stores vectors
	Gathering = 15  // whose lanes may be in 32 lines of memory; the stencil knows whether they are
)

// AsLong is how many bytes are cleared, at most, in the time that an instruction may take which counts as one.
const AsLong = 512

// none is no place.
const none = -1

// form is the program's code for all lanes, or for those of a mask.
func (c *Code) form(ctx *Context) *body { return c.forms.form(ctx, c.lib, c.assemble) }

// form is the one that a context needs.
func (f *forms) form(ctx *Context, l *Library, assemble func(masked bool) *body) *body {
	all, some := f.all.Load(), f.some.Load()
	ctx.lets(all, some)
	masked := ctx.Mask != regfile.Full
	b := all
	if masked {
		b = some
	}
	if b != nil {
		return b
	}
	return f.made(masked, l, assemble)
}

// made makes one that is not there.
func (f *forms) made(masked bool, l *Library, assemble func(masked bool) *body) *body {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := &f.all
	if masked {
		to = &f.some
	}
	b := to.Load()
	if b == nil {
		b = l.body(f.sum, masked, assemble)
		to.Store(b)
	}
	return b
}

// Make makes the code for all lanes, or for some, ahead of when it is needed.
func (c *Code) Make(masked bool) { c.forms.made(masked, c.lib, c.assemble) }

// Ready reports whether the host executes the code.
func (c *Code) Ready(ctx *Context) bool { return c.form(ctx).text.memory != nil }

// Next is the first instruction from pc on, up to the end of its block, that has a stencil or ends the
// block.
func (c *Code) Next(ctx *Context, pc int32) int32 {
	instrs := c.form(ctx).instrs
	for instrs[pc] == none {
		pc++
	}
	return pc
}

// Block executes from the beginning of a block on, by its index.
func (c *Code) Block(ctx *Context, f *regfile.File, index int32) {
	b := c.form(ctx)
	c.run(ctx, f, b, b.blocks[index])
}

// Behind executes from the beginning of a block on that has been looked at (see Cautious).
func (c *Code) Behind(ctx *Context, f *regfile.File, index int32) {
	b := c.form(ctx)
	c.run(ctx, f, b, b.behind[index])
}

// Instr executes from an instruction on, which has a stencil or ends its block.
func (c *Code) Instr(ctx *Context, f *regfile.File, pc int32) {
	b := c.form(ctx)
	c.run(ctx, f, b, b.instrs[pc])
}

// assembler puts stencils one behind the other.
type assembler struct {
	prog    *code.Program
	sources []ptx.SpecialReg // that are read compactly
	lib     *Library
	form    string
	consts  [code.P + 1]int64 // where constants of each kind begin
	shadows [code.P + 1]int64 // … and their shadows
	out     []byte
	pools   []int32          // by a constant's number in the library: 1 + its number among those of the code; 0: it has no place yet
	used    []int32          // … of those that have one
	numbers map[uint32]int32 // numbers that are no part of an instruction, likewise
	pool    []string         // constants
	places  []int            // of those that have one in the code
	placed  int              // the end of the code where they were placed last
	far     bool             // some place is further than the host jumps
	fixes   []fix
	labels  []int32  // places by number
	stubs   []stub   // at the end of the block
	recalls []recall // … before them
	asides  []aside  // … and before these
	lacking bool     // what is under way is Go's: see leaveToGo
	length  int      // instructions since it could come back in the block under way
	meet    int      // label of what is done where lanes meet
	turn    int      // … where a warp has stopped
	blocks  []int32  // labels
	behind  []int32
	instrs  []int32

	// Of check mode.
	check *Check
	step  int32  // under way
	lacks Reason // what an instruction leaves for that cannot go on

	functions map[string]int // labels of what its stencils call
}

// fix is a jump or constant whose place is not known yet.
type fix struct {
	at, addend int32
	label      int32 // of a jump; below 0: the complement of a constant's number
}

// stub is a way out.
type stub struct {
	label  int
	pc     int32
	reason Reason

	block    *code.Block // of Parts
	to       int32       // of Meets: the block that lanes come to
	branches int64       // … how many that is
}

// recall is what an instruction does before it leaves: a stencil at a label.
type recall struct {
	label int
	name  string
	holes
}

// assemble makes the code.
func (c *Code) assemble(masked bool) *body {
	a := newAssembler(c, masked)
	defer a.rest()
	a.arrival()
	a.turning()
	for i := range c.prog.Blocks {
		a.block(&c.prog.Blocks[i])
	}
	return a.body(c.prog)
}

// newAssembler readies one for a program.
func newAssembler(c *Code, masked bool) *assembler {
	a, p := assemblers.Get().(*assembler), c.prog
	a.prog, a.lib, a.sources, a.form = p, c.lib, c.Sources, "_full"
	if masked {
		a.form = "_masked"
	}
	a.consts[code.R], a.consts[code.Q], a.consts[code.P] = p.Consts.Places()
	a.shadows[code.R], a.shadows[code.Q] = p.Consts.ShadowPlaces()
	a.blocks, a.behind, a.instrs = make([]int32, len(p.Blocks)), make([]int32, len(p.Blocks)), make([]int32, len(p.Instrs))
	for i := range a.blocks {
		a.blocks[i] = int32(a.label())
	}
	for i := range a.instrs {
		a.instrs[i] = none
	}
	return a
}

// body is what has been made.
func (a *assembler) body(p *code.Program) *body {
	b := &body{blocks: make([]int32, len(p.Blocks)), behind: a.behind, instrs: a.instrs, begins: make([]uintptr, len(p.Instrs))}
	b.text = newText(a.finish())
	for i, l := range a.blocks {
		b.blocks[i] = a.labels[l]
		if b.text.memory != nil {
			b.begins[p.Blocks[i].First] = uintptr(b.text.at(b.blocks[i]))
		}
	}
	return b
}

// assemblers have room that others have made.
var assemblers = sync.Pool{New: func() any { return &assembler{numbers: map[uint32]int32{}} }}

// rest is the end of the assembler's work; its room is for another.
func (a *assembler) rest() {
	a.forgetConstants()
	*a = assembler{out: a.out[:0], pools: a.pools, used: a.used, numbers: a.numbers, pool: a.pool[:0], places: a.places[:0], fixes: a.fixes[:0], labels: a.labels[:0], stubs: a.stubs[:0], recalls: a.recalls[:0], asides: a.asides[:0]}
	assemblers.Put(a)
}

// label is a new one.
func (a *assembler) label() int {
	a.labels = append(a.labels, none)
	return len(a.labels) - 1
}

// here is where a label is.
func (a *assembler) here(label int) { a.labels[label] = int32(len(a.out)) }

// block makes the code of a block.
func (a *assembler) block(b *code.Block) {
	a.here(int(a.blocks[b.Index]))
	if b.Caution != 0 {
		a.look(b)
	}
	a.behind[b.Index] = int32(len(a.out))
	a.put("begin", holes{n0: int64(b.Sources.Len())})
	a.length = 0
	for pc := b.First; pc < b.Last; pc++ {
		a.island()
		before := len(a.out)
		if a.long(Stretch) {
			a.leave(pc, Rests)
		}
		if !a.undone(func() { a.instr(pc, &a.prog.Instrs[pc]) }) {
			a.out = a.out[:before]
			a.leave(pc, Lacks)
		}
	}
	a.instrs[b.Last] = int32(len(a.out))
	a.end(b)
	a.placeStubs()
}

// long reports, before each instruction of a block, whether code has to come back between two of them, after so many.
func (a *assembler) long(stretch int) bool {
	a.length++
	if a.length < stretch {
		return false
	}
	a.length = 0
	return true
}

// placeStubs puts the ways out behind a block, and what is rarely come to.
func (a *assembler) placeStubs() {
	a.placeAsides()
	for _, r := range a.recalls {
		a.island()
		a.here(r.label)
		a.put(r.name, r.holes)
	}
	a.recalls = a.recalls[:0]
	for i := range a.stubs {
		s := &a.stubs[i]
		a.here(s.label)
		switch s.reason {
		case Meets:
			a.comes(s)
		case Parts:
			a.parting(s)
			fallthrough
		default:
			a.leave(s.pc, s.reason)
		}
	}
	a.stubs = a.stubs[:0]
}

// leave goes out of native code.
func (a *assembler) leave(pc int32, why Reason) {
	a.island()
	a.put("out", holes{n0: int64(pc), n1: int64(why)})
}

// exit is the label of a way out, which is behind the block.
func (a *assembler) exit(pc int32, why Reason) int {
	l := a.label()
	a.exitAt(l, pc, why)
	return l
}

// exitAt has a label be that of one.
func (a *assembler) exitAt(label int, pc int32, why Reason) {
	if a.check != nil && why == Lacks { // before a step, or in the middle of one
		pc, why = a.step, a.lacks
	}
	a.stubs = append(a.stubs, stub{label: label, pc: pc, reason: why})
}

// stub is the label of one.
func (a *assembler) stub(s stub) int {
	s.label = a.label()
	a.stubs = append(a.stubs, s)
	return s.label
}

// end makes the code of the end of a block.
func (a *assembler) end(b *code.Block) {
	switch end := a.prog.End(b); {
	case a.barrier(b, end) || a.warpEnd(b, end):
	case end.Op == code.Jump:
		a.edge(b, b.Next, 0)
	case (end.Op == code.Branch || end.Op == code.Return) && end.Guard == 0:
		a.edge(b, b.Target, 1)
	case end.Op == code.Branch || end.Op == code.Return:
		all := a.label()
		parts := all
		if b.Target != b.Next {
			parts = a.stub(stub{pc: b.Last, reason: Parts, block: b})
		}
		p, negated := code.GuardRow(end.Guard)
		a.put("branch", holes{a: int64(4 * p), n0: ones(negated), other: all, leave: parts})
		a.edge(b, b.Next, 1)
		a.here(all)
		a.edge(b, b.Target, 1)
	default:
		a.leave(b.Last, Control)
	}
}

// ones is all ones if b.
func ones(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

// edge goes from a block to the one at pc to, with so many branches.
func (a *assembler) edge(b *code.Block, to int32, branches int64) {
	a.put("edge", holes{n0: int64(to), n1: branches, other: a.exit(to, Used), leave: a.stub(stub{pc: b.Last, reason: Meets, to: to, branches: branches})})
	a.put("jump", holes{other: int(a.blocks[a.prog.Block(to).Index])})
}

// holes is what fills a stencil's holes: places of operands, in bytes, numbers, labels.
type holes struct {
	d, f, a, b, c, e int64
	n0, n1           int64
	constant         operands // that are constants
	other, leave     int
}

// of is the hole of an operand, by its letter.
func (h *holes) of(letter byte) *int64 {
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
	if !a.try(name, h) {
		panic("BUG: no stencil " + name)
	}
}

// want puts a stencil, if there is one. Otherwise what is under way is Go's.
func (a *assembler) want(name string, h holes) {
	if !a.try(name, h) {
		a.leaveToGo()
	}
}

// leaveToGo has what is under way be Go's: undone takes back what has been put of it, and nothing more is.
func (a *assembler) leaveToGo() { a.lacking = true }

// try puts a stencil, if there is one; nothing if what is under way is Go's.
func (a *assembler) try(name string, h holes) bool {
	if a.lacking {
		return true
	}
	s := a.lib.get(name)
	if s == nil || h.constant&s.never != 0 {
		return false
	}
	base := len(a.out)
	a.out = append(a.out, s.code...)
	code := a.out[base:]
	values := [...]int64{holeD: h.d, holeF: h.f, holeA: h.a, holeB: h.b, holeC: h.c, holeE: h.e, hole0: h.n0, hole1: h.n1}
	for i := range s.refs {
		r := &s.refs[i]
		if r.what >= toNext {
			a.jump(r, base, len(code), &h)
			continue
		}
		v := values[r.what] + int64(r.addend)
		if v != int64(int32(v)) {
			panic("BUG: a number that does not fit")
		}
		if !host.number(code[r.off:r.off+4], int32(v)) {
			a.fixes = append(a.fixes, fix{at: int32(base) + r.off, label: ^a.number(uint32(v))})
		}
	}
	if h.constant != 0 {
		for _, f := range s.flips {
			if h.constant&f.of != 0 {
				code[f.off] ^= f.xor
			}
		}
	}
	return true
}

// jump fills a hole for a jump or a constant, in a stencil of some length that begins at base, or notes it for when
// it is known where that is.
func (a *assembler) jump(r *ref, base, length int, h *holes) {
	f := fix{at: int32(base) + r.off, addend: r.addend}
	switch r.what {
	case toNext:
		a.far = !host.distance(a.out[f.at:f.at+4], length-int(r.off)+int(r.addend)) || a.far
		return
	case toOther:
		f.label = int32(h.other)
	case toLeave:
		f.label = int32(h.leave)
	case toPool:
		f.label = ^a.constant(r.pool)
	}
	a.fixes = append(a.fixes, f)
}

// constant is the number of a constant among those of the code, by its number in the library.
func (a *assembler) constant(n int32) int32 {
	for int(n) >= len(a.pools) {
		a.pools = append(a.pools, 0)
	}
	if a.pools[n] == 0 {
		a.pool = append(a.pool, a.lib.constants()[n])
		a.used, a.pools[n] = append(a.used, n), int32(len(a.pool))
	}
	return a.pools[n] - 1
}

// number is that of a constant of four bytes.
func (a *assembler) number(v uint32) int32 {
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

// constants places those that have no place yet.
func (a *assembler) constants() {
	for _, p := range a.pool[len(a.places):] {
		for len(a.out)%len(p) != 0 {
			a.out = append(a.out, 0xcc)
		}
		a.places = append(a.places, len(a.out))
		a.out = append(a.out, p...)
	}
	for len(a.out)%codeAlign != 0 {
		a.out = append(a.out, 0xcc)
	}
	a.forgetConstants()
	a.placed = len(a.out)
}

// forgetConstants has constants that are wanted from now on be others.
func (a *assembler) forgetConstants() {
	for _, n := range a.used {
		a.pools[n] = 0
	}
	a.used = a.used[:0]
	clear(a.numbers)
}

// island places the constants between instructions, if the code since they were placed last is as long as a quarter of
// how far from it they can be: an instruction's code and the constants are not as long as the rest.
func (a *assembler) island() {
	if len(a.out)-a.placed < host.reach/4 {
		return
	}
	behind := a.label()
	a.put("jump", holes{other: behind})
	a.constants()
	a.here(behind)
}

// finish places the constants, and fills in jumps and where constants are. It gives nothing if some place is
// further than the host jumps.
func (a *assembler) finish() []byte {
	a.constants()
	for i := range a.fixes {
		f := &a.fixes[i]
		var to int
		if f.label < 0 {
			to = a.places[^f.label]
		} else {
			to = int(a.labels[f.label])
		}
		a.far = !host.distance(a.out[f.at:f.at+4], to+int(f.addend)-int(f.at)) || a.far
	}
	if a.far {
		return nil
	}
	return a.out
}

// instr makes the code of an instruction.
func (a *assembler) instr(pc int32, in *code.Instr) {
	start, form, behind := len(a.out), a.form, 0
	if in.Guard != 0 {
		form, behind = "_masked", a.label()
		p, negated := code.GuardRow(in.Guard)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: behind})
	}
	a.execution(pc, in, form)
	if in.Guard != 0 {
		a.here(behind)
		name := "unguard"
		if in.Skips {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
	if !a.lacking {
		a.instrs[pc] = int32(start)
	}
}

// undone makes code, or none if that is to be Go's; made tells which.
func (a *assembler) undone(of func()) (made bool) {
	start, fixes, stubs, recalls, asides, before := len(a.out), len(a.fixes), len(a.stubs), len(a.recalls), len(a.asides), a.lacking
	of()
	made, a.lacking = !a.lacking, before
	if !made {
		a.out, a.fixes, a.stubs = a.out[:start], a.fixes[:fixes], a.stubs[:stubs]
		a.recalls, a.asides = a.recalls[:recalls], a.asides[:asides]
	}
	return made
}

// operation is what an instruction does, without its guard.
func (a *assembler) operation(pc int32, in *code.Instr, form string) {
	s := in.Op.Signature()
	switch {
	case s.Compares():
		a.outcome(in)
		a.combine(in, form)
	case s.Kind == code.Arithmetic:
		name := a.kernel(in) + form
		a.secondResult(in)
		h := a.operands(in)
		h.n0 = int64(in.Imm)
		a.want(name, h)
		a.asLong(name)
	case s.Kind == code.Load || s.Kind == code.Store || in.Op == code.Atomic: // others that access memory have meanings of their own
		a.access(pc, in, form)
	case s.Kind == code.Read:
		a.special(in, form)
	default:
		a.together(pc, in, form)
	}
}

// secondResult leaves an operation to Go that has a second result which nobody wants. The first has a register always.
func (a *assembler) secondResult(in *code.Instr) {
	if in.Op.Signature().Dst2 != code.NoSlot && in.F == code.NoRow {
		a.leaveToGo()
	}
}

// kernel is what stencils call an instruction's operation, whose number they have to have room for; none if they lack it.
func (a *assembler) kernel(in *code.Instr) string {
	if in.Imm > math.MaxInt32 {
		a.leaveToGo()
	}
	return a.lib.kernels[in.Op.Signature().Name]
}

// takes has an instruction count as so many more, if any.
func (a *assembler) takes(n int) {
	if n > 0 {
		a.length += n
		a.put("slow", holes{n0: int64(n)})
	}
}

// asLong has an instruction count as one does that a stencil is of.
func (a *assembler) asLong(name string) {
	if s := a.lib.get(name); s != nil {
		a.takes(s.takes)
	}
}

// operands are the places of an instruction's operands.
func (a *assembler) operands(in *code.Instr) (h holes) {
	s := in.Op.Signature()
	a.register(&h, 'D', s.Dst, in.D)
	a.register(&h, 'F', s.Dst2, in.F)
	for i, row := range in.Sources() {
		a.place(&h, letters[i], s.Src[i], row)
	}
	return h
}

// rowSizes are the bytes of a row of each kind.
var rowSizes = [...]int64{code.R: 4 * regfile.Lanes, code.Q: 8 * regfile.Lanes, code.P: 4}

// place is that of an operand, in bytes from where its kind of rows begins, or the constants: for the hole with a letter.
func (a *assembler) place(h *holes, letter byte, slot code.Slot, row int32) {
	if slot == code.NoSlot || row >= 0 {
		a.register(h, letter, slot, row)
		return
	}
	h.constant |= operand(letter)
	a.at(h.of(letter), a.consts[slot]+rowSizes[slot]*int64(^row))
}

// register is place of what is no constant.
func (a *assembler) register(h *holes, letter byte, slot code.Slot, row int32) {
	if row != code.NoRow {
		a.at(h.of(letter), rowSizes[slot]*int64(row))
	}
}

// widest is more bytes than anything has that stencils have the place of: they add to it.
const widest = 4096

// at is a place, if a stencil's holes have room for where it begins and ends.
func (a *assembler) at(to *int64, place int64) {
	if *to = place; place < 0 || place >= 1<<31-widest {
		a.leaveToGo()
	}
}

// offset is a number of an access that a stencil's hole has to have room for.
func (a *assembler) offset(n int64) {
	if n != int64(int32(n)) {
		a.leaveToGo()
	}
}

// outcome has that of a comparison be under way.
func (a *assembler) outcome(in *code.Instr) {
	a.want(a.lib.kernels[in.Op.Signature().Name], a.operands(in))
}

// combinations are how a comparison's outcome is combined with a predicate.
var combinations = map[uint64]string{alu.BoolNone: "", alu.BoolAnd: "_and", alu.BoolOr: "_or", alu.BoolXor: "_xor"}

// combine is what becomes of the outcome of a comparison.
func (a *assembler) combine(in *code.Instr, form string) {
	op, has := combinations[in.Imm&^alu.ComplementC]
	h := a.operands(in)
	h.n0 = ones(in.Imm&alu.ComplementC != 0)
	if !has || op != "" && in.F != code.NoRow && in.C == in.D { // which the first result overwrites
		a.leaveToGo()
	}
	if in.D != code.NoRow {
		a.put("compared"+op+form, h)
	}
	if in.F != code.NoRow {
		h.d = h.f
		a.put("uncompared"+op+form, h)
	}
}
