package lower

// This file is the pass select: it turns IR blocks into blocks of code. What single
// instructions become is in data.go, memory.go and control.go.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// selectCode chooses the instructions of a function.
func (l *lowerer) selectCode() {
	fn, f := l.fn, l.fn.Func
	l.layoutLocals()
	l.live = f.Liveness()
	if !f.Entry {
		fn.Saved = l.live.Pressure()
	}
	l.registers()
	for _, v := range f.Params {
		fn.Formals = append(fn.Formals, l.formal(v))
	}
	for _, v := range f.Rets {
		fn.Results = append(fn.Results, l.formal(v))
	}
	if !f.Entry { // registers of the module are passed to each function, and back
		fn.Formals, fn.Results = append(fn.Formals, l.statics()...), append(fn.Results, l.statics()...)
	}
	l.joins = f.ImmediatePostDominators()
	endless, mayWait, order := f.Endless(), f.MayWait(l.callsMayWait), f.ReversePostorder()
	l.starts = make([]int32, len(f.Blocks))
	l.findProducts()
	l.findSpare()
	for i, b := range f.Blocks {
		l.curIR = i
		if b := l.open(); endless[i] {
			b.Caution = code.Endless
		}
		first := len(l.blocks) - 1
		l.starts[i] = int32(first)
		for _, in := range b.Instrs {
			l.instr(in)
		}
		for k := range l.blocks[first:] {
			l.blocks[first+k].MayWait, l.blocks[first+k].Order = mayWait[i], int32(order[i])
		}
	}
	exit := l.open()
	exit.Order = int32(len(f.Blocks))
	exit.end.Op = code.Pop
	if f.Entry {
		exit.end.Op = code.Exit
	}
	for _, fix := range l.fixups {
		fix()
	}
}

// statics is the registers of the module that its functions share.
func (l *lowerer) statics() (list []code.Place) {
	regs, _ := l.fn.Func.Statics()
	if len(l.byFunc) == 1 {
		return nil // with nobody
	}
	for _, r := range regs {
		ref := l.rows[r]
		list = append(list, code.Place{Slot: ref.Slot, Row: ref.Row, Size: (l.fn.Func.Regs[r].Type.Bits() + 7) / 8})
	}
	return list
}

// open begins a new block behind the present one.
func (l *lowerer) open() *block {
	n := int32(len(l.blocks))
	b := block{Block: code.Block{Func: l.fn.Index, Next: n + 1}, end: code.Instr{Op: code.Jump, Src: -1}}
	b.Sources.First = int32(len(l.prog.Sources))
	b.Sources.End = b.Sources.First
	l.blocks = append(l.blocks, b)
	l.cur = &l.blocks[n]
	return l.cur
}

// exit is the index of the block where returning lanes meet: the last.
func (d *draft) exit() int32 { return int32(len(d.blocks) - 1) }

// irJoin is the block where the lanes that leave IR block i apart meet again.
func (l *lowerer) irJoin(i int) int32 {
	if j := l.joins[i]; j >= 0 {
		return l.starts[j]
	}
	return l.exit()
}

// later runs f when all blocks of the function exist, with the block that is
// present now.
func (l *lowerer) later(f func(b *block)) {
	i := len(l.blocks) - 1
	l.fixups = append(l.fixups, func() { f(&l.blocks[i]) })
}

func (l *lowerer) instr(in *ptx.Instr) {
	l.src = in
	l.guard = 0
	src := code.Source{Instr: in, Func: l.fn, Index: int32(len(l.prog.Sources))}
	for r := range in.Uses() {
		src.Reads = append(src.Reads, r)
	}
	for r := range in.Defs() {
		src.Writes = append(src.Writes, r)
	}
	if in.Guard.Reg != ptx.NoReg {
		src.Reads = src.Reads[1:] // the guard comes first
		l.guard = code.Guard(l.rows[in.Guard.Reg].Row, in.Guard.Neg)
	}
	l.skips = l.guard != 0 && !in.EndsBlock()
	begin := func(c code.Caution) {
		if len(l.cur.instrs) > 0 || l.cur.Sources.Len() > 0 {
			l.open()
		}
		l.cur.Caution |= c
	}
	switch {
	case l.visible(in):
		l.prog.Ordered = true
		begin(code.Visible)
	case in.Call == nil && in.Pending != nil && len(in.Pending.Completes) > 0:
		begin(code.Grouped)
	}
	l.prog.Sources = append(l.prog.Sources, src)
	l.cur.Sources.End++
	l.disturbs(in)
	if lowerers[in.Form.Family](l, in); l.skips { // it is nothing else
		l.emit(code.Instr{Op: code.Nothing})
	}
}

// emit appends an instruction to the present block.
func (l *lowerer) emit(in code.Instr) {
	l.cur.instrs = append(l.cur.instrs, l.placed(in))
}

// placed is an instruction of the machine as part of the present PTX instruction.
func (l *lowerer) placed(in code.Instr) code.Instr {
	in.Guard, in.Src, in.Skips = l.guard, l.at(), l.skips
	l.skips = false
	return in
}

// at is the index of the present PTX instruction.
func (l *lowerer) at() int32 { return int32(len(l.prog.Sources) - 1) }

// access appends an instruction that accesses memory.
func (l *lowerer) access(op code.Op, a *code.Access, addr int32) {
	l.tables.Access = append(l.tables.Access, *a)
	l.emit(code.Instr{Op: op, A: addr, Side: int32(len(l.tables.Access) - 1)})
}

// temp makes a row for the rest of the present instruction.
func (l *lowerer) temp(s code.Slot) int32 { return l.row(s, l.at()-l.fn.Sources.First+1) }

// row makes a row; temp is 0, or that of the PTX instruction whose temporary it is.
func (l *lowerer) row(s code.Slot, temp int32) int32 {
	v := &l.virtual[s]
	v.kept, v.temp = append(v.kept, code.InLanes), append(v.temp, temp)
	return int32(len(v.kept) - 1)
}

// konst is the row of a constant.
func (l *lowerer) konst(s code.Slot, bits uint64) int32 {
	switch s {
	case code.R:
		return known(l.constR, uint32(bits), l.prog.Consts.Add32)
	case code.Q:
		return known(l.constQ, bits, l.prog.Consts.Add64)
	}
	mask := uint32(0)
	if bits != 0 {
		mask = regfile.Full
	}
	return known(l.constP, mask, l.prog.Consts.AddP)
}

// unset is a row among the constants whose value is written before each launch.
func (l *lowerer) unset(s code.Slot) int32 {
	if s == code.R {
		return l.prog.Consts.Add32(0)
	}
	return l.prog.Consts.Add64(0)
}

// known is the constant with a value, added if there is none yet.
func known[V comparable](index map[V]int32, value V, add func(V) int32) int32 {
	i, ok := index[value]
	if !ok {
		i = add(value)
		index[value] = i
	}
	return i
}

// registers gives every register of the function a row.
func (l *lowerer) registers() {
	l.virtual = [code.P + 1]virtual{}
	f := l.fn.Func
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
	for _, p := range l.statics() {
		if v := &l.virtual[p.Slot]; !slices.Contains(v.zero, p.Row) {
			v.zero = append(v.zero, p.Row)
		}
	}
	l.carry = l.global(code.P)
	if l.fn.Allocates {
		l.fn.Taken = l.global(code.R)
	}
}

// global makes a row that keeps its value as long as the function runs, at first zero.
func (l *lowerer) global(s code.Slot) int32 {
	row := l.row(s, 0)
	v := &l.virtual[s]
	v.zero, v.global = append(v.zero, row), append(v.global, row)
	return row
}
