package native

// This file makes machine code of lowered code.

import (
	"encoding/binary"
	"math"
	"strings"
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

	forms [2]atomic.Pointer[body]
	mu    sync.Mutex // held to make one
}

// New is the machine code of a program, whose constants are laid out.
func New(p *code.Program) *Code { return Shipped().New(p) }

// New is the machine code of a program of these stencils.
func (l *Library) New(p *code.Program) *Code {
	c := &Code{lib: l, prog: p, k: p.Consts.Begin(), fixed: make([]*mem.Allocation, len(p.Access)), Uniform: uniform(p), Sources: sourcesOf(p)}
	for i := range p.Access {
		c.fixed[i] = p.Access[i].Fixed
	}
	return c
}

// body is the code of a program for all lanes, or for those of a mask. Places are offsets.
type body struct {
	text   *text
	blocks []int32 // by block: its beginning, where it is counted
	instrs []int32 // by pc: where it begins; none: it has no stencil
}

// Stretch is how many PTX instructions native code executes before it comes back to Go, which may want to stop it:
// that many, and what is left of a block up to its end or to an instruction of Go's, of which there is one in so many. It
// takes less than 100 µs also where all are loads of 32 lanes from memory that no cache has.
const Stretch = 256

// none is no place.
const none = -1

// form is the program's code for all lanes, or for those of a mask.
func (c *Code) form(ctx *Context) *body {
	masked := ctx.Mask != regfile.Full
	f := &c.forms[0]
	if masked {
		f = &c.forms[1]
	}
	if b := f.Load(); b != nil {
		return b
	}
	return c.make(f, masked)
}

// make makes a form that is needed first.
func (c *Code) make(f *atomic.Pointer[body], masked bool) *body {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Load() == nil {
		f.Store(assemble(c, masked))
	}
	return f.Load()
}

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
	pools   map[string]int // by the constant: its number
	pool    []string
	fixes   []fix
	labels  []int32 // places by number
	stubs   []stub  // at the end of the block
	blocks  []int32 // labels
	instrs  []int32

	// Of check mode.
	check    *Check
	step     int32  // under way
	lacks    Reason // what an instruction leaves for that cannot go on
	counting bool   // in which of its ways it executes
}

// fix is a jump or constant whose place is not known yet.
type fix struct {
	at     int
	addend int
	label  int // of a jump; or
	pool   int // a constant, counted from 1
}

// stub is a way out.
type stub struct {
	label  int
	pc     int32
	reason Reason
}

// assemble makes the code of a program.
func assemble(c *Code, masked bool) *body {
	a := newAssembler(c, masked)
	defer a.rest()
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
	a.blocks, a.instrs = make([]int32, len(p.Blocks)), make([]int32, len(p.Instrs))
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
	b := &body{blocks: make([]int32, len(p.Blocks)), instrs: a.instrs}
	for i, l := range a.blocks {
		b.blocks[i] = a.labels[l]
	}
	b.text = newText(a.finish())
	return b
}

// assemblers have room that others have made.
var assemblers = sync.Pool{New: func() any { return &assembler{pools: map[string]int{}} }}

// rest is the end of the assembler's work; its room is for another.
func (a *assembler) rest() {
	clear(a.pools)
	*a = assembler{out: a.out[:0], pools: a.pools, pool: a.pool[:0], fixes: a.fixes[:0], labels: a.labels[:0], stubs: a.stubs[:0]}
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
		a.leave(b.First, Cautious)
		return
	}
	a.put("begin", holes{n0: int64(b.Sources.Len())})
	for pc := b.First; pc < b.Last; pc++ {
		if (pc-b.First)%Stretch == Stretch-1 || !a.instr(pc, &a.prog.Instrs[pc]) {
			a.leave(pc, Lacks)
		}
	}
	a.instrs[b.Last] = int32(len(a.out))
	a.end(b)
	a.placeStubs()
}

// placeStubs puts the ways out behind a block.
func (a *assembler) placeStubs() {
	for _, s := range a.stubs {
		a.here(s.label)
		a.leave(s.pc, s.reason)
	}
	a.stubs = a.stubs[:0]
}

// leave goes out of native code.
func (a *assembler) leave(pc int32, why Reason) {
	a.put("out", holes{n0: int64(pc), n1: int64(why)})
}

// exit is the label of a way out, which is behind the block.
func (a *assembler) exit(pc int32, why Reason) int {
	if a.check != nil && why == Lacks { // before a step, or in the middle of one
		pc, why = a.step, a.lacks
	}
	l := a.label()
	a.stubs = append(a.stubs, stub{l, pc, why})
	return l
}

// end makes the code of the end of a block.
func (a *assembler) end(b *code.Block) {
	switch end := a.prog.End(b); {
	case end.Op == code.Jump:
		a.edge(b, b.Next, 0)
	case (end.Op == code.Branch || end.Op == code.Return) && end.Guard == 0:
		a.edge(b, b.Target, 1)
	case end.Op == code.Branch || end.Op == code.Return:
		all := a.label()
		parts := all
		if b.Target != b.Next {
			parts = a.exit(b.Last, Parts)
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
	a.put("edge", holes{n0: int64(to), n1: branches, other: a.exit(to, Used), leave: a.exit(b.Last, Meets)})
	a.put("jump", holes{other: int(a.blocks[a.prog.Block(to).Index])})
}

// holes is what fills a stencil's holes: places of operands, in bytes, numbers, labels.
type holes struct {
	d, f, a, b, c, e int64
	constant         string // operands that are constants
	n0, n1           int64
	other, leave     int
}

// put puts a stencil that there must be.
func (a *assembler) put(name string, h holes) {
	if !a.try(name, h) {
		panic("BUG: no stencil " + name)
	}
}

// try puts a stencil if there is one whose holes have room for the values.
func (a *assembler) try(name string, h holes) bool {
	s := a.lib.get(name)
	if s == nil || strings.ContainsAny(h.constant, s.never) || s.one && len(h.constant) > 1 {
		return false
	}
	base := len(a.out)
	a.out = append(a.out, s.code...)
	for i := range s.refs {
		r := &s.refs[i]
		at := base + r.off
		v := int64(0)
		switch r.what {
		case 'D':
			v = h.d
		case 'F':
			v = h.f
		case 'A':
			v = h.a
		case 'B':
			v = h.b
		case 'C':
			v = h.c
		case 'E':
			v = h.e
		case '0':
			v = h.n0
		case '1':
			v = h.n1
		default:
			a.fixes = append(a.fixes, a.jump(r, at, &h))
			continue
		}
		if v += int64(r.addend); v != int64(int32(v)) {
			panic("BUG: a number that does not fit")
		}
		binary.LittleEndian.PutUint32(a.out[at:], uint32(v))
	}
	for _, f := range s.flips {
		if strings.IndexByte(h.constant, f.operand) >= 0 {
			a.out[base+f.off] ^= f.xor
		}
	}
	return true
}

// jump is a hole, at a place of the code, for a jump or a constant. The code ends where the stencil does.
func (a *assembler) jump(r *ref, at int, h *holes) fix {
	f := fix{at: at, addend: r.addend}
	switch r.what {
	case 'n':
		f.label = a.label()
		a.here(f.label)
	case 'o':
		f.label = h.other
	case 'l':
		f.label = h.leave
	case 'p':
		n, ok := a.pools[r.pool]
		if !ok {
			a.pool = append(a.pool, r.pool)
			n = len(a.pool)
			a.pools[r.pool] = n
		}
		f.pool = n
	}
	return f
}

// poolAlign is what constants begin at multiples of: the size of the largest.
const poolAlign = 32

// finish places the constants, and fills in jumps and where constants are.
func (a *assembler) finish() []byte {
	places := make([]int, len(a.pool)+1)
	for i, p := range a.pool {
		for len(a.out)%poolAlign != 0 {
			a.out = append(a.out, 0xcc)
		}
		places[i+1] = len(a.out)
		a.out = append(a.out, p...)
	}
	for _, f := range a.fixes {
		to := places[f.pool]
		if f.pool == 0 {
			to = int(a.labels[f.label])
		}
		binary.LittleEndian.PutUint32(a.out[f.at:], uint32(int32(to+f.addend-f.at)))
	}
	return a.out
}

// instr makes the code of an instruction, if it has any.
func (a *assembler) instr(pc int32, in *code.Instr) bool {
	start, fixes, stubs := len(a.out), len(a.fixes), len(a.stubs)
	form, behind := a.form, 0
	if in.Guard != 0 {
		form, behind = "_masked", a.label()
		p, negated := code.GuardRow(in.Guard)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: behind})
	}
	if !a.execution(pc, in, form) {
		a.out, a.fixes, a.stubs = a.out[:start], a.fixes[:fixes], a.stubs[:stubs]
		return false
	}
	if in.Guard != 0 {
		a.here(behind)
		name := "unguard"
		if in.Skips {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
	a.instrs[pc] = int32(start)
	return true
}

// operation is what an instruction does, without its guard.
func (a *assembler) operation(pc int32, in *code.Instr, form string) bool {
	s := in.Op.Signature()
	switch {
	case s.Compares():
		return a.compare(in, form)
	case s.Kind == code.Arithmetic:
		name, ok := a.lib.kernels[s.Name]
		if !ok || in.D == code.NoRow || s.Dst2 != code.NoSlot && in.F == code.NoRow || in.Imm > math.MaxInt32 {
			return false
		}
		h, ok := a.operands(in)
		h.n0 = int64(in.Imm)
		return ok && a.try(name+form, h)
	case s.Kind == code.Load || s.Kind == code.Store || in.Op == code.Atomic: // others that access memory have meanings of their own
		return a.access(pc, in, form)
	case s.Kind == code.Read:
		return a.special(in, form)
	}
	return a.together(pc, in, form)
}

// operands are the places of an instruction's operands.
func (a *assembler) operands(in *code.Instr) (h holes, ok bool) {
	s := in.Op.Signature()
	ok = a.place(&h.d, nil, 'D', s.Dst, in.D) && a.place(&h.f, nil, 'F', s.Dst2, in.F)
	for i, to := range []*int64{&h.a, &h.b, &h.c, &h.e} {
		ok = ok && a.place(to, &h.constant, "ABCE"[i], s.Src[i], in.Sources()[i])
	}
	return h, ok
}

// rowSizes are the bytes of a row of each kind.
var rowSizes = [...]int64{code.R: 4 * regfile.Lanes, code.Q: 8 * regfile.Lanes, code.P: 4}

// place is that of an operand, in bytes from where its kind of rows begins, or the constants.
func (a *assembler) place(to *int64, constant *string, operand byte, slot code.Slot, row int32) bool {
	if slot == code.NoSlot || row == code.NoRow {
		return true
	}
	size := rowSizes[slot]
	if row >= 0 {
		*to = size * int64(row)
		return *to <= math.MaxInt32-size
	}
	*to = a.consts[slot] + size*int64(^row)
	*constant += string(operand)
	return constant != nil && *to <= math.MaxInt32-size
}

// compare is a comparison: its outcome, and what becomes of it.
func (a *assembler) compare(in *code.Instr, form string) bool {
	return a.outcome(in) && a.combine(in, form)
}

// outcome has that of a comparison be under way.
func (a *assembler) outcome(in *code.Instr) bool {
	name, has := a.lib.kernels[in.Op.Signature().Name]
	h, ok := a.operands(in)
	return has && ok && a.try(name, h)
}

// combinations are how a comparison's outcome is combined with a predicate.
var combinations = map[uint64]string{alu.BoolNone: "", alu.BoolAnd: "_and", alu.BoolOr: "_or", alu.BoolXor: "_xor"}

// combine is what becomes of the outcome of a comparison.
func (a *assembler) combine(in *code.Instr, form string) bool {
	op, has := combinations[in.Imm&^alu.ComplementC]
	h, ok := a.operands(in)
	if !has || !ok || op != "" && in.F != code.NoRow && in.C == in.D {
		return false
	}
	h.n0 = ones(in.Imm&alu.ComplementC != 0)
	if in.D != code.NoRow {
		a.put("compared"+op+form, h)
	}
	if in.F != code.NoRow {
		h.d = h.f
		a.put("uncompared"+op+form, h)
	}
	return true
}
