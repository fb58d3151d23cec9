package lower

// This file is the pass select. It translates each IR block into one or more blocks of lowered code. Its functions for
// single instructions are in data.go, memory.go, control.go and further files: see lowerers.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// selectCode translates the function's IR into blocks of lowered instructions. Each register and each temporary gets a
// virtual row of its own.
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
	if !f.Entry { // a call copies the module's registers to the function's rows, and back when it returns
		fn.Formals, fn.Results = append(fn.Formals, l.moduleRegisters()...), append(fn.Results, l.moduleRegisters()...)
	}
	l.postDominators = f.ImmediatePostDominators()
	endless, mayWait, order := f.Endless(), f.MayWait(l.callsMayWait), f.ReversePostorder()
	l.starts = make([]int32, len(f.Blocks))
	l.findProducts()
	l.findUnusedElems()
	for i, ir := range f.Blocks {
		l.curIR = i
		first := l.openBlock()
		if endless[i] {
			first.Caution = code.EndlessLoop
		}
		start := len(l.blocks) - 1
		l.starts[i] = int32(start)
		for _, instr := range ir.Instrs {
			l.lowerInstr(instr)
		}
		for j := start; j < len(l.blocks); j++ {
			l.blocks[j].MayWait, l.blocks[j].Order = mayWait[i], int32(order[i])
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

// moduleRegisters returns the places of the module's registers (ptx.Func.Statics) in the current function. It returns
// nil if the kernel calls no function, because then nothing shares them.
func (l *lowerer) moduleRegisters() (list []code.ParamPlace) {
	if len(l.byFunc) == 1 {
		return nil
	}
	regs, _ := l.fn.Func.Statics()
	for _, r := range regs {
		ref := l.rows[r]
		list = append(list, code.ParamPlace{Slot: ref.Slot, Row: ref.Row, Size: (l.fn.Func.Regs[r].Type.Bits() + 7) / 8})
	}
	return list
}

// openBlock appends an empty block that jumps to the block after it. The new block becomes the current block.
func (l *lowerer) openBlock() *block {
	n := int32(len(l.blocks))
	b := block{Block: code.Block{Func: l.fn.Index, Next: n + 1}, end: code.Instr{Op: code.Jump, Src: -1}}
	b.Sources.First = int32(len(l.prog.Sources))
	b.Sources.End = b.Sources.First
	l.blocks = append(l.blocks, b)
	l.block = &l.blocks[n]
	return l.block
}

// exit returns the index of the last block, where lanes that return from the function reconverge.
func (d *draft) exit() int32 { return int32(len(d.blocks) - 1) }

// irPostDominator returns the index of the block where lanes that diverge at the end of IR block i reconverge: the first
// block of the immediate post-dominator of i, or the exit.
func (l *lowerer) irPostDominator(i int) int32 {
	if j := l.postDominators[i]; j >= 0 {
		return l.starts[j]
	}
	return l.exit()
}

// addFixup makes selectCode call fix with the block that is current now, when all blocks of the function exist.
func (l *lowerer) addFixup(fix func(b *block)) {
	i := len(l.blocks) - 1
	l.fixups = append(l.fixups, func() { fix(&l.blocks[i]) })
}

// lowerInstr lowers a PTX instruction. An instruction with a caution becomes the first instruction of a block, and with
// Options.SingleInstrs every instruction does.
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
		src.Reads = src.Reads[1:] // without the guard, which Uses yields first
		l.guard = code.Guard(l.rows[instr.Guard.Reg].Row, instr.Guard.Neg)
	}
	l.countSkipped = l.guard != 0 && !instr.EndsBlock()
	beginBlock := func(caution code.Caution) {
		if len(l.block.instrs) > 0 || l.block.Sources.Len() > 0 {
			l.openBlock()
		}
		l.block.Caution |= caution
	}
	switch {
	case l.globallyOrdered(instr):
		l.prog.HasOrdered = true
		beginBlock(code.GloballyOrdered)
	case instr.Call == nil && instr.Pending != nil && len(instr.Pending.Completes) > 0:
		beginBlock(code.GroupWait)
	case l.opt.SingleInstrs:
		beginBlock(0)
	}
	l.prog.Sources = append(l.prog.Sources, src)
	l.block.Sources.End++
	l.trapIfPending(instr)
	lowerers[instr.Form.Family](l, instr)
	if l.countSkipped { // no instruction was emitted that counts the skipped lanes
		l.emit(code.Instr{Op: code.NoOp})
	}
}

// emit appends an instruction to the current block.
func (l *lowerer) emit(instr code.Instr) {
	l.block.instrs = append(l.block.instrs, l.withSource(instr))
}

// withSource returns instr as part of the current PTX instruction: with its guard and its index. The first instruction
// after lowerInstr has set countSkipped gets the flag CountsSkipped.
func (l *lowerer) withSource(instr code.Instr) code.Instr {
	instr.Guard, instr.Src, instr.CountsSkipped = l.guard, l.sourceIndex(), l.countSkipped
	l.countSkipped = false
	return instr
}

// sourceIndex returns the index of the current PTX instruction in Program.Sources.
func (l *lowerer) sourceIndex() int32 { return int32(len(l.prog.Sources) - 1) }

// emitAccess appends a memory instruction with the access a; addr is the row of the address, or code.NoRow.
func (l *lowerer) emitAccess(op code.Op, a *code.Access, addr int32) {
	l.tables.Access = append(l.tables.Access, *a)
	l.emit(code.Instr{Op: op, A: addr, Side: int32(len(l.tables.Access) - 1)})
}

// newTemp returns a new row that only the current PTX instruction uses.
func (l *lowerer) newTemp(s code.Slot) int32 {
	return l.newRow(s, l.sourceIndex()-l.fn.Sources.First+1)
}

// newRow returns a new row. If the row is a temporary, temporaryOf is the number of the PTX instruction that uses it,
// counted from 1 in the function; otherwise it is 0.
func (l *lowerer) newRow(s code.Slot, temporaryOf int32) int32 {
	v := &l.virtual[s]
	v.residence, v.temporaryOf = append(v.residence, code.StorageLanes), append(v.temporaryOf, temporaryOf)
	return int32(len(v.residence) - 1)
}

// constant returns the row of the constant with the given bits. In slot P, nonzero bits mean true in every lane.
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

// unsetConstant returns the row of a new constant. Each launch sets its value before it begins (code.Program.Fixed).
func (l *lowerer) unsetConstant(s code.Slot) int32 {
	if s == code.R {
		return l.prog.Consts.Add32(0)
	}
	return l.prog.Consts.Add64(0)
}

// intern returns the row of a constant from rows. If it is missing, intern adds the constant and its row.
func intern[V comparable](rows map[V]int32, value V, add func(V) int32) int32 {
	row, ok := rows[value]
	if !ok {
		row = add(value)
		rows[value] = row
	}
	return row
}

// assignVirtualRows gives a row to every register of the function, to the carry flag and, if the function allocates
// stack memory, to the size of the allocated memory. It lists the rows that may be read before they are written.
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
	l.carry = l.newKeptRow(code.P)
	if l.fn.Allocates {
		l.fn.AddressTaken = l.newKeptRow(code.R)
	}
}

// newKeptRow returns a new row whose value is zero at first and is kept during the whole function.
func (l *lowerer) newKeptRow(s code.Slot) int32 {
	row := l.newRow(s, 0)
	v := &l.virtual[s]
	v.zero, v.kept = append(v.zero, row), append(v.kept, row)
	return row
}
