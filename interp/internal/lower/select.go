package lower

// This file is the pass select: it turns IR blocks into blocks of lowered code. Single instructions are lowered in
// data.go, memory.go, control.go and further files.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// selectCode selects the instructions of a function.
func (l *lowerer) selectCode() {
	fn, f := l.fn, l.fn.Func
	l.layoutLocals()
	l.live = f.Liveness()
	if !f.Entry {
		fn.Saved = l.live.Pressure()
	}
	l.assignVirtualRows()
	for _, v := range f.Params {
		fn.Formals = append(fn.Formals, l.formalPlace(v))
	}
	for _, v := range f.Rets {
		fn.Results = append(fn.Results, l.formalPlace(v))
	}
	if !f.Entry { // the module's registers are passed to each function and back
		fn.Formals, fn.Results = append(fn.Formals, l.moduleRegisters()...), append(fn.Results, l.moduleRegisters()...)
	}
	l.postDominators = f.ImmediatePostDominators()
	endless, mayWait, order := f.Endless(), f.MayWait(l.callsMayWait), f.ReversePostorder()
	l.starts = make([]int32, len(f.Blocks))
	l.findProducts()
	l.findSpare()
	for i, b := range f.Blocks {
		l.curIR = i
		if b := l.openBlock(); endless[i] {
			b.Caution = code.EndlessLoop
		}
		first := len(l.blocks) - 1
		l.starts[i] = int32(first)
		for _, instr := range b.Instrs {
			l.lowerInstr(instr)
		}
		for k := range l.blocks[first:] {
			l.blocks[first+k].MayWait, l.blocks[first+k].Order = mayWait[i], int32(order[i])
		}
	}
	exit := l.openBlock()
	exit.Order = int32(len(f.Blocks))
	exit.end.Op = code.Pop
	if f.Entry {
		exit.end.Op = code.Exit
	}
	for _, fix := range l.fixups {
		fix()
	}
}

// moduleRegisters returns the places of the module's registers, which its functions share.
func (l *lowerer) moduleRegisters() (list []code.ParamPlace) {
	regs, _ := l.fn.Func.Statics()
	if len(l.byFunc) == 1 {
		return nil // there is no second function to share them
	}
	for _, r := range regs {
		ref := l.rows[r]
		list = append(list, code.ParamPlace{Slot: ref.Slot, Row: ref.Row, Size: (l.fn.Func.Regs[r].Type.Bits() + 7) / 8})
	}
	return list
}

// openBlock begins a new block after the current block.
func (l *lowerer) openBlock() *block {
	n := int32(len(l.blocks))
	b := block{Block: code.Block{Func: l.fn.Index, Next: n + 1}, end: code.Instr{Op: code.Jump, Src: -1}}
	b.Sources.First = int32(len(l.prog.Sources))
	b.Sources.End = b.Sources.First
	l.blocks = append(l.blocks, b)
	l.block = &l.blocks[n]
	return l.block
}

// exit returns the index of the block where returning lanes reconverge: the last.
func (d *draft) exit() int32 { return int32(len(d.blocks) - 1) }

// irPostDominator returns the reconvergence block of lanes diverging at the end of IR block i.
func (l *lowerer) irPostDominator(i int) int32 {
	if j := l.postDominators[i]; j >= 0 {
		return l.starts[j]
	}
	return l.exit()
}

// addFixup registers f to be called with the current block when all blocks of the function exist.
func (l *lowerer) addFixup(f func(b *block)) {
	i := len(l.blocks) - 1
	l.fixups = append(l.fixups, func() { f(&l.blocks[i]) })
}

func (l *lowerer) lowerInstr(instr *ptx.Instr) {
	l.src = instr
	l.guard = 0
	src := code.Source{Instr: instr, Func: l.fn, Index: int32(len(l.prog.Sources))}
	for r := range instr.Uses() {
		src.Reads = append(src.Reads, r)
	}
	for r := range instr.Defs() {
		src.Writes = append(src.Writes, r)
	}
	if instr.Guard.Reg != ptx.NoReg {
		src.Reads = src.Reads[1:] // the guard comes first
		l.guard = code.Guard(l.rows[instr.Guard.Reg].Row, instr.Guard.Neg)
	}
	l.countSkipped = l.guard != 0 && !instr.EndsBlock()
	begin := func(c code.Caution) {
		if len(l.block.instrs) > 0 || l.block.Sources.Len() > 0 {
			l.openBlock()
		}
		l.block.Caution |= c
	}
	switch {
	case l.globallyOrdered(instr):
		l.prog.HasOrdered = true
		begin(code.GloballyOrdered)
	case instr.Call == nil && instr.Pending != nil && len(instr.Pending.Completes) > 0:
		begin(code.GroupWait)
	}
	l.prog.Sources = append(l.prog.Sources, src)
	l.block.Sources.End++
	l.trapIfPending(instr)
	if lowerers[instr.Form.Family](l, instr); l.countSkipped { // no instruction was emitted
		l.emit(code.Instr{Op: code.NoOp})
	}
}

// emit appends an instruction to the current block.
func (l *lowerer) emit(instr code.Instr) {
	l.block.instrs = append(l.block.instrs, l.withSource(instr))
}

// withSource returns the instruction as part of the current PTX instruction.
func (l *lowerer) withSource(instr code.Instr) code.Instr {
	instr.Guard, instr.Src, instr.CountsSkipped = l.guard, l.sourceIndex(), l.countSkipped
	l.countSkipped = false
	return instr
}

// sourceIndex returns the index of the current PTX instruction.
func (l *lowerer) sourceIndex() int32 { return int32(len(l.prog.Sources) - 1) }

// access appends a memory access.
func (l *lowerer) access(op code.Op, a *code.Access, addr int32) {
	l.tables.Access = append(l.tables.Access, *a)
	l.emit(code.Instr{Op: op, A: addr, Side: int32(len(l.tables.Access) - 1)})
}

// newTemp returns a new row for the rest of the current PTX instruction.
func (l *lowerer) newTemp(s code.Slot) int32 {
	return l.newRow(s, l.sourceIndex()-l.fn.Sources.First+1)
}

// newRow returns a new row. temp is the PTX instruction using it as a temporary, or 0.
func (l *lowerer) newRow(s code.Slot, temp int32) int32 {
	v := &l.virtual[s]
	v.residence, v.temporaryOf = append(v.residence, code.StorageLanes), append(v.temporaryOf, temp)
	return int32(len(v.residence) - 1)
}

// constant returns the row of a constant.
func (l *lowerer) constant(s code.Slot, bits uint64) int32 {
	switch s {
	case code.R:
		return intern(l.constR, uint32(bits), l.prog.Consts.Add32)
	case code.Q:
		return intern(l.constQ, bits, l.prog.Consts.Add64)
	}
	mask := uint32(0)
	if bits != 0 {
		mask = regfile.Full
	}
	return intern(l.constP, mask, l.prog.Consts.AddP)
}

// unsetConstant returns the row of a new constant whose value is set before each launch.
func (l *lowerer) unsetConstant(s code.Slot) int32 {
	if s == code.R {
		return l.prog.Consts.Add32(0)
	}
	return l.prog.Consts.Add64(0)
}

// intern returns the constant with a value, and adds it if necessary.
func intern[V comparable](index map[V]int32, value V, add func(V) int32) int32 {
	i, ok := index[value]
	if !ok {
		i = add(value)
		index[value] = i
	}
	return i
}

// assignVirtualRows gives every register of the function a row.
func (l *lowerer) assignVirtualRows() {
	l.virtual = [code.P + 1]virtual{}
	f := l.fn.Func
	l.rows = make([]rowRef, len(f.Regs))
	for i, r := range f.Regs {
		ref := rowRef{Slot: code.SlotOf(r.Type), wide: r.Type.Bits() > 64}
		ref.Row = l.newRow(ref.Slot, 0)
		if ref.wide {
			ref.High = l.newRow(ref.Slot, 0)
		}
		l.rows[i] = ref
	}
	for r := range l.live.EachLiveIn(0) {
		ref := l.rows[r]
		v := &l.virtual[ref.Slot]
		v.zero = append(v.zero, ref.Row)
		if ref.wide {
			v.zero = append(v.zero, ref.High)
		}
	}
	for _, p := range l.moduleRegisters() {
		if v := &l.virtual[p.Slot]; !slices.Contains(v.zero, p.Row) {
			v.zero = append(v.zero, p.Row)
		}
	}
	l.carry = l.newGlobal(code.P)
	if l.fn.Allocates {
		l.fn.AddressTaken = l.newGlobal(code.R)
	}
}

// newGlobal returns a new row, at first zero, whose value is kept during the whole function.
func (l *lowerer) newGlobal(s code.Slot) int32 {
	row := l.newRow(s, 0)
	v := &l.virtual[s]
	v.zero, v.globals = append(v.zero, row), append(v.globals, row)
	return row
}
