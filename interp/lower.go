package interp

// This file lowers a kernel: it lays out registers and memory, and turns IR
// blocks into blocks of code. What single instructions become is in
// lower_data.go, lower_mem.go and lower_ctrl.go.

import (
	"fmt"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// lowerOptions choose between ways to lower.
type lowerOptions struct {
	width int  // lanes of a warp
	pack  bool // let registers that are not alive together share a row

	affine bool                 // for affine mode
	eager  bool                 // … keeping compact what may be, whatever it costs
	keeps  keeps                // when lanes that have parted are together again
	lanes  int                  // that a warp has at most, in that launch: a power of two
	tid    [3]affinetrack.Class // of the thread index, in the worst of the launch's warps
}

// lower prepares a kernel of the module to run.
func (m *Module) lower(k *ptx.Func, opt lowerOptions) (*prepared, error) {
	c := &prepared{mod: m, kernel: k, width: opt.width, shared: map[*ptx.Var]uint64{}}
	c.layoutParams()
	m.dev.mem.SizeParams(c.paramLen) // so that it is found at its addresses
	reach := m.reachable(k)
	c.layoutShared(reach)
	l := &lowerer{prepared: c, opt: opt, byFunc: map[*ptx.Func]*function{}, constR: map[uint32]int32{}, constQ: map[uint64]int32{}, constP: map[uint32]int32{}}
	for _, r := range reach {
		fn := &function{fn: r.fn, codeAddr: m.code[r.fn]}
		l.byFunc[r.fn] = fn
		c.funcs = append(c.funcs, fn)
	}
	c.entry = l.byFunc[k]
	l.orderFree = m.orderFree(reach)
	l.callsMayWait = callsMayWait(reach[1:])
	for i, r := range reach {
		err := l.function(c.funcs[i])
		if err == nil {
			continue
		}
		if r.direct {
			return nil, err
		}
		c.funcs[i].err = err
	}
	c.consts.Shadow()
	return c, nil
}

// layoutParams places the kernel parameters in the parameter block, each at its
// natural alignment (manual 5.1.6.1).
func (c *prepared) layoutParams() {
	off := 0
	for _, v := range c.kernel.Params {
		a := v.Alignment()
		off = (off + a - 1) / a * a
		c.params = append(c.params, param{v, off})
		off += v.Size()
	}
	c.paramLen = off
}

// layoutShared places the shared variables of the functions that can run, and those
// of the module that they name, as they are declared; and behind them dynamic shared
// memory.
func (c *prepared) layoutShared(reach []reached) {
	off, align := uint64(0), uint64(16)
	var dynamic []*ptx.Var
	runs := map[*ptx.Func]bool{}
	named := map[*ptx.Var]bool{}
	for _, r := range reach {
		runs[r.fn] = true
		for v := range r.uses {
			named[c.mod.definition(v)] = true
		}
	}
	place := func(v *ptx.Var) {
		if v.Space != ptx.Shared || c.mod.definition(v) != v {
			return
		}
		if v.Unbounded() || v.Linkage == ptx.Extern && v.Size() == 0 {
			dynamic = append(dynamic, v)
			align = max(align, uint64(v.Alignment()))
			return
		}
		a := uint64(v.Alignment())
		off = (off + a - 1) / a * a
		c.shared[v] = off
		off += uint64(v.Size())
	}
	for _, d := range c.mod.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			if named[d] {
				place(d)
			}
		case *ptx.Func:
			if runs[d] {
				for _, v := range d.Vars {
					place(v)
				}
			}
		}
	}
	c.sharedLen = off
	c.sharedDyn = (off + align - 1) / align * align
	for _, v := range dynamic {
		c.shared[v] = c.sharedDyn
	}
}

// reached is a function that a kernel can get to.
type reached struct {
	fn     *ptx.Func
	direct bool // by calls that name it, not only through its address
	uses   map[*ptx.Var]bool
}

// reachable lists the kernel, the functions it calls, and, if any of these
// calls through pointers, every function of the module whose address is taken.
func (m *Module) reachable(k *ptx.Func) []reached {
	var list []reached
	seen := map[*ptx.Func]int{}
	indirect := false
	var add func(f *ptx.Func, direct bool)
	add = func(f *ptx.Func, direct bool) {
		if def, ok := m.Lookup(f.Name).(*ptx.Func); ok {
			f = def
		}
		if !f.Defined {
			return
		}
		if i, ok := seen[f]; ok {
			list[i].direct = list[i].direct || direct
			return
		}
		seen[f] = len(list)
		at := len(list)
		list = append(list, reached{fn: f, direct: direct})
		uses := map[*ptx.Var]bool{}
		f.EachInstr(func(in *ptx.Instr) {
			in.EachSymbol(func(s ptx.Symbol) {
				if v, ok := s.(*ptx.Var); ok {
					uses[v] = true
				}
			})
			if c := in.Call; c != nil {
				if callee, ok := c.Target.Sym().(*ptx.Func); ok {
					add(callee, direct)
				} else {
					indirect = true
				}
			}
		})
		list[at].uses = uses
	}
	add(k, true)
	if indirect {
		for _, f := range m.addressTaken() {
			add(f, false)
		}
	}
	return list
}

// callsMayWait reports whether one of the functions has something that may wait for
// other lanes, or makes a loop around its call one that may.
func callsMayWait(list []reached) bool {
	waits := false
	for _, r := range list {
		r.fn.EachInstr(func(in *ptx.Instr) {
			waits = waits || in.Form.Effects.Any(ptx.Atomic|ptx.Strong|ptx.Fences|ptx.Barrier|ptx.Collective|ptx.Waits|ptx.Yields)
		})
	}
	return waits
}

// addressTaken lists the functions whose address the module uses as a value. It is found
// out once: a module can have many kernels.
func (m *Module) addressTaken() []*ptx.Func {
	if m.taken == nil {
		m.taken = addressTaken(m.Module)
	}
	return m.taken
}

func addressTaken(m *ptx.Module) []*ptx.Func {
	list := []*ptx.Func{}
	seen := map[*ptx.Func]bool{}
	add := func(s ptx.Symbol) {
		if f, ok := s.(*ptx.Func); ok && !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			for _, e := range d.Init {
				add(e.Sym)
			}
		case *ptx.Func:
			for _, v := range d.Vars {
				for _, e := range v.Init {
					add(e.Sym)
				}
			}
			for _, t := range d.Tables {
				for _, f := range t.Funcs {
					add(f)
				}
			}
			d.EachInstr(func(in *ptx.Instr) {
				in.EachSymbol(func(s ptx.Symbol) {
					if in.Call == nil || in.Call.Target.Sym() != s {
						add(s)
					}
				})
			})
		}
	}
	return list
}

// lowerer lowers the functions of one kernel.
type lowerer struct {
	*prepared
	opt       lowerOptions
	byFunc    map[*ptx.Func]*function
	constR    map[uint32]int32
	constQ    map[uint64]int32
	constP    map[uint32]int32
	orderFree bool // global atomics of this kernel commute

	callsMayWait bool // a loop with a call may wait for other threads

	// The function being lowered. Until it is allocated, each of its registers and each
	// temporary has a row of its own: operands name those.
	fn      *function
	tables  code.Tables // with such rows
	first   int         // its first PTX instruction, in prepared.instrs
	rows    []rowRef    // by RegID
	virtual [code.P + 1]virtual
	live    *ptx.Liveness
	carry   int32            // predicate row of CC.CF, -1 until needed
	locals  map[*ptx.Var]int // byte offset in the local frame
	starts  []int32          // first block of each IR block
	joins   []int            // immediate post-dominators of IR blocks
	cur     *block
	curIR   int
	fixups  []func()
	guard   int32
	src     *instr
	folded  []fixedInstr // what a launch executes once, before it begins
}

// virtual is the rows of one kind before allocation.
type virtual struct {
	kept   []keeping // by row: how the plan wants it
	temp   []int32   // by row: the PTX instruction whose temporary it is, counted from 1; 0: none
	zero   []int32   // rows that may be read before they are written
	global []int32   // rows that keep their value all the time
}

// rowRef is the row of a virtual register.
type rowRef struct {
	Slot code.Slot
	Row  int32
	High int32 // of the upper half, if it is wide
	wide bool  // 128 bits
}

// unsupported is the answer to legal PTX that is not run.
type unsupported struct {
	pos  ptx.Pos
	what string
}

// refuse stops lowering at the present instruction. It is caught in function.
func (l *lowerer) refuse(format string, args ...any) {
	panic(unsupported{l.src.Pos, fmt.Sprintf(format, args...)})
}

// function runs the passes on a function.
func (l *lowerer) function(fn *function) (err error) {
	blocks := len(l.blocks)
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unsupported)
			if !ok {
				panic(r)
			}
			l.blocks = l.blocks[:blocks]
			err = &ptx.Unsupported{File: l.mod.Name, Pos: u.pos, What: u.what, Line: l.mod.Line(int(u.pos.Line)), Kernel: l.kernel.Name}
		}
	}()
	l.fn = fn
	for _, p := range passes {
		if !p.affine || l.opt.affine {
			p.run(l)
		}
	}
	return nil
}

// selectCode chooses the instructions of a function. It panics with unsupported.
func (l *lowerer) selectCode() {
	fn, f := l.fn, l.fn.fn
	if args, ok := f.Directive(".reqnctapercluster"); ok && dimOf(args).Count() > 1 {
		panic(unsupported{f.Pos, fmt.Sprintf("a kernel in clusters of %s ctas (.reqnctapercluster)", dimOf(args))})
	}
	if f.Static != "" {
		panic(unsupported{f.Pos, fmt.Sprintf("a device function with %s, which is in .local or .reg space at module level", f.Static)})
	}
	l.tables, l.folded, l.fixups = code.Tables{}, nil, nil
	l.first = len(l.instrs)
	l.layoutLocals()
	l.live = f.Liveness()
	l.registers()
	for _, v := range f.Params {
		fn.params = append(fn.params, l.formal(v))
	}
	for _, v := range f.Rets {
		fn.rets = append(fn.rets, l.formal(v))
	}
	l.joins = f.ImmediatePostDominators()
	endless, mayWait, order := f.Endless(), f.MayWait(l.callsMayWait), f.ReversePostorder()
	l.starts = make([]int32, len(f.Blocks))
	fn.entry = int32(len(l.blocks))
	for i, b := range f.Blocks {
		l.curIR = i
		l.open().endless = endless[i]
		first := l.here()
		l.starts[i] = first
		l.block(b)
		for k := range l.blocks[first:] {
			l.blocks[int(first)+k].mayWait, l.blocks[int(first)+k].order = mayWait[i], order[i]
		}
	}
	l.open().order = len(f.Blocks) // the exit block
	fn.exit = int32(len(l.blocks) - 1)
	l.cur.term = termPop
	if f.Entry {
		l.cur.term = termExit
	}
	for _, fix := range l.fixups {
		fix()
	}
}

// open begins a new block behind the present one.
func (l *lowerer) open() *block {
	l.blocks = append(l.blocks, block{fn: l.fn, next: int32(len(l.blocks)) + 1})
	l.cur = &l.blocks[len(l.blocks)-1]
	return l.cur
}

// here is the index of the present block.
func (l *lowerer) here() int32 { return int32(len(l.blocks) - 1) }

// irJoin is the block where the lanes that leave IR block i apart meet again.
func (l *lowerer) irJoin(i int) int32 {
	if j := l.joins[i]; j >= 0 {
		return l.starts[j]
	}
	return l.fn.exit
}

// later runs f when all blocks of the function exist, with the block that is
// present now.
func (l *lowerer) later(f func(b *block)) {
	i := l.here()
	l.fixups = append(l.fixups, func() { f(&l.blocks[i]) })
}

func (l *lowerer) block(b *ptx.Block) {
	for _, in := range b.Instrs {
		l.instr(in)
	}
	if b.Terminator() == nil && b.Index == len(l.fn.fn.Blocks)-1 {
		l.later(func(b *block) { b.next = b.fn.exit })
	}
}

func (l *lowerer) instr(in *ptx.Instr) {
	l.src = &instr{Instr: in, fn: l.fn, index: len(l.instrs)}
	l.instrs = append(l.instrs, l.src)
	for r := range in.Uses() {
		l.src.reads = append(l.src.reads, register{r, l.rows[r]})
	}
	for r := range in.Defs() {
		l.src.writes = append(l.src.writes, register{r, l.rows[r]})
	}
	if in.Guard.Reg != ptx.NoReg {
		l.src.reads = l.src.reads[1:] // the guard comes first
	}
	l.guard = 0
	if in.Guard.Reg != ptx.NoReg {
		l.guard = code.Guard(l.rows[in.Guard.Reg].Row, in.Guard.Neg)
	}
	l.src.guard = l.guard
	if l.visible(in) {
		l.prepared.ordered = true
		if len(l.cur.insts) > 0 || l.cur.n > 0 {
			l.open()
		}
		l.cur.visible = true
	}
	l.cur.n++
	l.cur.srcs = append(l.cur.srcs, l.src)
	if lower := lowerers[in.Op.Name]; lower != nil {
		lower(l, in)
	} else {
		lowerPure(l, in)
	}
}

// emit appends an instruction to the present block.
func (l *lowerer) emit(in code.Instr) {
	in.Guard, in.Src = l.guard, int32(l.src.index)
	l.cur.insts = append(l.cur.insts, in)
}

// access appends an instruction that accesses memory.
func (l *lowerer) access(op code.Op, a *code.Access, addr int32) {
	l.tables.Access = append(l.tables.Access, *a)
	l.emit(code.Instr{Op: op, A: addr, Side: int32(len(l.tables.Access) - 1)})
}

func keep(list []code.Row, ok func(code.Row) bool) []code.Row {
	var out []code.Row
	for _, o := range list {
		if ok(o) {
			out = append(out, o)
		}
	}
	return out
}

// temp makes a row for the rest of the present instruction.
func (l *lowerer) temp(s code.Slot) int32 { return l.row(s, int32(l.src.index-l.first)+1) }

// row makes a row; temp is 0, or that of the PTX instruction whose temporary it is.
func (l *lowerer) row(s code.Slot, temp int32) int32 {
	v := &l.virtual[s]
	v.kept, v.temp = append(v.kept, inLanes), append(v.temp, temp)
	return int32(len(v.kept) - 1)
}

// konst is the row of a constant.
func (l *lowerer) konst(s code.Slot, bits uint64) int32 {
	switch s {
	case code.R:
		return konstRow(l.constR, &l.consts.R, uint32(bits), func(v uint32) (r regfile.Row32) {
			for i := range r {
				r[i] = v
			}
			return r
		})
	case code.Q:
		return konstRow(l.constQ, &l.consts.Q, bits, func(v uint64) (r regfile.Row64) {
			for i := range r {
				r[i] = v
			}
			return r
		})
	}
	mask := uint32(0)
	if bits != 0 {
		mask = regfile.Full
	}
	return konstRow(l.constP, &l.consts.P, mask, func(v uint32) uint32 { return v })
}

// unset is a row among the constants whose value is written before each launch.
func (l *lowerer) unset(s code.Slot) int32 {
	if s == code.R {
		l.consts.R = append(l.consts.R, regfile.Row32{})
		return ^int32(len(l.consts.R) - 1)
	}
	l.consts.Q = append(l.consts.Q, regfile.Row64{})
	return ^int32(len(l.consts.Q) - 1)
}

func konstRow[K comparable, V any](index map[K]int32, rows *[]V, key K, make func(K) V) int32 {
	if i, ok := index[key]; ok {
		return i
	}
	i := ^int32(len(*rows))
	*rows = append(*rows, make(key))
	index[key] = i
	return i
}

// layoutLocals gives the function's parameters, results and variables in .local and
// .param space their places in its local frame, as they are declared.
func (l *lowerer) layoutLocals() {
	f := l.fn.fn
	l.locals = map[*ptx.Var]int{}
	top := 0
	l.fn.align = frameAlign
	lists := [][]*ptx.Var{f.Params, f.Rets, f.Vars}
	if f.Entry { // its parameters are in the parameter block
		lists = lists[2:]
	}
	for _, list := range lists {
		for _, v := range list {
			if v.Space == ptx.Local || v.Space == ptx.Param {
				a := max(v.Alignment(), 4)
				top = (top + a - 1) / a * a
				l.locals[v] = top
				top += l.bytes(v)
				l.fn.align = max(l.fn.align, a/4)
			}
		}
	}
	l.fn.local = (top + 3) / 4
	f.EachInstr(func(in *ptx.Instr) {
		l.fn.allocates = l.fn.allocates || in.Form.Effects.Has(ptx.Stack)
	})
}

// formal is the place of a formal parameter or return value.
func (l *lowerer) formal(v *ptx.Var) code.Place {
	if v.Space == ptx.RegSpace {
		r := l.rows[v.Reg]
		return code.Place{Slot: r.Slot, Row: r.Row, Size: (v.Type.Bits() + 7) / 8}
	}
	return code.Place{Off: l.locals[v], Size: l.bytes(v)}
}

// bytes is the size of a variable in a frame; of a parameter that is an array without a
// bound, that of the largest variable that a call of the module passes.
func (l *lowerer) bytes(v *ptx.Var) int {
	if v.Space == ptx.Param && v.Unbounded() {
		return l.mod.largestArgument()
	}
	return v.Size()
}

// registers gives every register of the function a row.
func (l *lowerer) registers() {
	l.virtual = [code.P + 1]virtual{}
	f := l.fn.fn
	l.rows = make([]rowRef, len(f.Regs))
	for i, r := range f.Regs {
		ref := rowRef{Slot: code.SlotOf(r.Type), wide: r.Type.Bits() > 64}
		ref.Row = l.row(ref.Slot, 0)
		if ref.wide {
			ref.High = l.row(ref.Slot, 0)
		}
		l.rows[i] = ref
	}
	for r := range l.live.Into(0) {
		ref := l.rows[r]
		v := &l.virtual[ref.Slot]
		v.zero = append(v.zero, ref.Row)
		if ref.wide {
			v.zero = append(v.zero, ref.High)
		}
	}
	l.carry = l.global(code.P)
	if l.fn.allocates {
		l.fn.taken = l.global(code.R)
	}
}

// global makes a row that keeps its value as long as the function runs, at first zero.
func (l *lowerer) global(s code.Slot) int32 {
	row := l.row(s, 0)
	v := &l.virtual[s]
	v.zero, v.global = append(v.zero, row), append(v.global, row)
	return row
}
