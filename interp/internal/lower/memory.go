package lower

// This file lowers memory instructions.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// accessOf returns an access to the address in an operand, and the row of the address; code.NoRow if the address is
// fixed or relative to the frame. The caller must set the elements and the other properties of the access.
func (l *lowerer) accessOf(instr *ptx.Instr, o *ptx.Operand) (a *code.Access, addr int32) {
	space, sub := instr.Space()
	if instr.GlobalOnly() {
		space = ptx.Global
	}
	return l.accessIn(instr, o, space, sub == "cluster")
}

// accessIn is accessOf for an address in the given state space. If cluster is set, it is .shared::cluster: the address
// then becomes a generic address if clusters have several CTAs.
func (l *lowerer) accessIn(instr *ptx.Instr, o *ptx.Operand, space ptx.Space, cluster bool) (a *code.Access, addr int32) {
	a = &code.Access{Size: instr.Type().Size(), HitIndex: l.prog.NumHits, Offset: uint64(o.Offset()), Space: space}
	addr = code.NoRow
	l.prog.NumHits += code.HitsPerAccess
	if cluster && l.opt.Cluster && o.Sym() == nil {
		a.Space, a.Cluster = ptx.Generic, true
		a.Offset += probe.SharedWindow
	}
	entry := l.fn.Entry
	switch {
	case o.Reg != ptx.NoReg && o.Sym() != nil:
		addr = l.indexed(a, o)
	case o.Reg != ptx.NoReg:
		ref := l.rows[o.Reg]
		a.Addr, addr = ref.Slot, ref.Row
		if a.Space == ptx.Param && !entry {
			a.Space = ptx.Local // parameters of functions are on the stack
		}
	case o.Sym() != nil:
		v, isVar := o.Sym().(*ptx.Var)
		if !isVar {
			l.refuse("access to function %s", o.Sym().SymbolName())
		}
		a.Space = v.Space
		if offset, local := l.locals[v]; local && (v.Space == ptx.Local || v.Space == ptx.Param) {
			a.Space, a.Frame = ptx.Local, true
			a.Offset += uint64(offset)
			break
		}
		if moduleLocal, ok := l.moduleLocals[v]; ok {
			a.Addr, addr = code.Q, l.moveConstant(code.Q, moduleLocal, l.newTemp(code.Q))
			break
		}
		if a.Space == ptx.Shared && l.opt.Cluster {
			a.Addr = code.R
			addr, a.Offset = l.symbol(v, o.Offset(), a.Addr, code.NoRow), 0
			break
		}
		a.Offset += l.address(v)
	}
	if a.Addr == code.NoSlot && a.Space != ptx.Shared && a.Space != ptx.Local && !a.Cluster {
		a.Fixed = l.env.Memory(a.Offset)
	}
	return a, addr
}

// indexed emits the computation of the address of an array element, "var[%r+off]" (ptx.Operand.IndexSize). It returns
// the row of the address and sets the address of a. Addresses of shared and local memory have 32 bits.
func (l *lowerer) indexed(a *code.Access, o *ptx.Operand) (addr int32) {
	v := o.Sym().(*ptx.Var)
	a.Space = v.Space
	_, local := l.locals[v]
	if _, moduleLocal := l.moduleLocals[v]; local || moduleLocal {
		a.Space = ptx.Local
	}
	s := code.Q
	if l.module.AddressSize == 32 || a.Space == ptx.Shared || a.Space == ptx.Local {
		s = code.R
	}
	index := l.source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.NoType, code.R)
	apply := func(op code.Op, value uint64) {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: op, D: d, A: index, B: l.constant(code.R, value)})
		index = d
	}
	if offset := o.Offset(); offset != 0 {
		apply(code.AddU32, uint64(uint32(offset)))
	}
	if size := o.IndexSize(); size > 1 {
		apply(code.ShlB32, uint64(bits.TrailingZeros(uint(size))))
	}
	if s == code.Q {
		wide := l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: index})
		index = wide
	}
	addr = l.newTemp(s)
	a.Addr, a.Offset = s, 0
	l.emit(code.Instr{Op: addOp(s), D: addr, A: l.symbol(v, 0, s, code.NoRow), B: index})
	return addr
}

// elements appends the elements of a data operand of type t to the access, and sets Bytes. store states that the
// instruction reads the operand, which may then contain constants.
func (l *lowerer) elements(a *code.Access, o *ptx.Operand, t ptx.Type, store bool) {
	list := operandElems(o)
	for i := range list {
		e := &list[i]
		switch {
		case e.Kind == ptx.SinkOperand:
			a.Elems = append(a.Elems, code.Elem{})
		case e.Kind == ptx.RegOperand:
			ref := l.rows[e.Reg]
			a.Elems = append(a.Elems, code.Elem{Slot: ref.Slot, Row: ref.Row, High: ref.High})
		case store:
			s := code.SlotOf(t)
			row := l.source(e, t, s)
			a.Elems = append(a.Elems, code.Elem{Slot: s, Row: row, High: row})
		}
	}
	a.Bytes = a.Size * len(a.Elems)
}

func lowerLd(l *lowerer, instr *ptx.Instr) {
	a, addr := l.accessOf(instr, instr.Arg("a"))
	d := instr.Arg("d")
	l.elements(a, d, instr.Type(), false)
	list := operandElems(d)
	// Sign extension ends at the width of the register, which may be less than the width of its slot.
	a.Signed = false
	var extended16 []int32 // rows of 16-bit registers: their upper halves must be zero
	for i := range list {
		width := l.regBits(&list[i], 0)
		if instr.Type().IsSigned() && width > 8*a.Size {
			a.Signed = true
			if width == 16 {
				extended16 = append(extended16, a.Elems[i].Row)
			}
		}
	}
	a.Strided = mem.StridedOf(a.Size, a.Signed)
	a.SpareBytes = min(l.unusedElems[instr], len(a.Elems)-1) * a.Size
	l.emitAccess(loadOp(a), a, addr)
	for _, row := range extended16 {
		l.emit(code.Instr{Op: code.CvtU16U32, D: row, A: row})
	}
}

// findUnusedElems finds vector loads whose last elements are unused, and sets unusedElems. If a program needs three
// elements and the address is aligned for four, compilers load four.
func (l *lowerer) findUnusedElems() {
	f := l.fn.Func
	shared, _ := f.Statics()
	l.unusedElems = map[*ptx.Instr]int{}
	for _, b := range f.Blocks {
		if !slices.ContainsFunc(b.Instrs, loadsVector) {
			continue
		}
		for i, isLive := range l.live.LiveAfter(b) {
			instr := b.Instrs[i]
			if !loadsVector(instr) {
				continue
			}
			unused := 0
			for _, e := range slices.Backward(instr.Arg("d").Elems()) {
				if e.Kind == ptx.RegOperand && (isLive(e.Reg) || f.Returned(e.Reg) || slices.Contains(shared, e.Reg)) {
					break
				}
				unused++
			}
			if unused > 0 {
				l.unusedElems[instr] = unused
			}
		}
	}
}

// loadsVector reports whether an instruction is a load to a vector of registers.
func loadsVector(instr *ptx.Instr) bool {
	return instr.Form.Family == ptx.FamilyLoad && instr.Arg("d").Kind == ptx.VecOperand
}

// loadOp returns the operation of a load.
func loadOp(a *code.Access) code.Op {
	switch single := len(a.Elems) == 1 && a.Elems[0].Slot != code.NoSlot; {
	case a.Size > 8:
		return code.LoadWide
	case a.Frame:
		return code.LoadFrame
	case a.Addr == code.NoSlot && a.Space != ptx.Local:
		return code.LoadFixed
	case a.Space == ptx.Local && a.Addr != code.NoSlot:
		return code.LoadLocal
	case a.Space != ptx.Local && single:
		return code.LoadOp(a.Size, a.Signed, a.Addr, a.Elems[0].Slot)
	case a.Space != ptx.Local && len(a.Elems) > 1:
		return code.LoadVector
	}
	return code.LoadEach
}

func lowerSt(l *lowerer, instr *ptx.Instr) {
	a, addr := l.accessOf(instr, instr.Arg("a"))
	a.Store = true
	if instr.Has("bulk") {
		a.Size, a.Bytes = 8, 8
		a.Elems = []code.Elem{{Slot: code.Q, Row: l.source(instr.Arg("b"), ptx.U64, code.Q)}}
		l.emitAccess(code.StoreBulk, a, addr)
		return
	}
	l.elements(a, instr.Arg("b"), instr.Type(), true)
	a.Strided = mem.StridedOf(a.Size, false)
	l.emitAccess(storeOp(a), a, addr)
}

// storeOp returns the operation of a store.
func storeOp(a *code.Access) code.Op {
	switch single := len(a.Elems) == 1 && a.Elems[0].Slot != code.NoSlot; {
	case a.Size > 8:
		return code.StoreWide
	case a.Frame:
		return code.StoreFrame
	case a.Space == ptx.Local && a.Addr != code.NoSlot:
		return code.StoreLocal
	case a.Addr != code.NoSlot && single:
		return code.StoreOp(a.Size, a.Addr, a.Elems[0].Slot)
	case a.Addr != code.NoSlot && len(a.Elems) > 1:
		return code.StoreVector
	}
	return code.StoreEach
}

// atomicOps maps modifiers to atomic operations.
var atomicOps = map[string]code.AtomicOp{
	"add": code.AtomAdd, "and": code.AtomAnd, "or": code.AtomOr, "xor": code.AtomXor, "exch": code.AtomExch,
	"cas": code.AtomCas, "inc": code.AtomInc, "dec": code.AtomDec, "min": code.AtomMin, "max": code.AtomMax,
}

// lookUp returns the entry of a table for a word of an instruction. The entry must exist.
func lookUp[V any](table map[string]V, word string) V {
	v, ok := table[word]
	if !ok {
		panic(fmt.Sprintf("BUG: no entry for %q", word))
	}
	return v
}

// atomicOf returns the atomic operation that the modifiers of an instruction name; false if they name none.
func atomicOf(instr *ptx.Instr) (code.AtomicOp, bool) {
	if op, ok := atomicOps[instr.Slot("op")]; ok {
		return op, true
	}
	for _, name := range []string{"add", "exch", "cas"} {
		if instr.Has(name) {
			return atomicOps[name], true
		}
	}
	return 0, false
}

// reductionOf returns the reduction of an instruction with atomic operation op on memory of a state space.
func reductionOf(instr *ptx.Instr, op code.AtomicOp, space ptx.Space) code.Reduction {
	r := code.ReductionOn(op, instr.Type(), space)
	if instr.Has("noftz") {
		r.Global = false
	}
	return r
}

func lowerAtom(l *lowerer, instr *ptx.Instr) {
	op, ok := atomicOf(instr)
	t := instr.Type()
	if !ok {
		l.refuse("%s", instr.Text)
	}
	a, addr := l.accessOf(instr, instr.Arg("a"))
	space := a.Space
	if a.Cluster {
		space = ptx.Shared
	}
	a.Atom = &code.Atom{Reduction: reductionOf(instr, op, space), Shared: space == ptx.Shared}
	elemsOf := func(o *ptx.Operand) []code.Elem {
		var x code.Access
		l.elements(&x, o, t, true)
		return x.Elems
	}
	a.Atom.B = elemsOf(instr.Arg("b"))
	if op == code.AtomCas {
		a.Atom.C = elemsOf(instr.Arg("c"))
	}
	a.Elems = make([]code.Elem, len(a.Atom.B))
	if instr.Form.Operand("d") >= 0 {
		var x code.Access
		l.elements(&x, instr.Arg("d"), t, false)
		copy(a.Elems, x.Elems)
	}
	a.Bytes = a.Size * len(a.Elems)
	moves := l.separateResults(a)
	l.emitAccess(code.Atomic, a, addr)
	for _, move := range moves {
		l.emit(move)
	}
}

// separateResults gives the results of a vector atomic rows of their own where a later element reads its operands from the
// result's row: the elements are executed one after the other. It returns the moves from these rows to the registers.
func (l *lowerer) separateResults(a *code.Access) (moves []code.Instr) {
	for i := range a.Elems {
		d := &a.Elems[i]
		isRead := func(list []code.Elem) bool {
			return i < len(list) && slices.ContainsFunc(list[i+1:], func(e code.Elem) bool { return e.Row == d.Row })
		}
		if d.Slot != code.NoSlot && (isRead(a.Atom.B) || isRead(a.Atom.C)) {
			row := l.newTemp(d.Slot)
			moves = append(moves, code.Instr{Op: movOp(d.Slot), D: d.Row, A: row})
			d.Row = row
		}
	}
	return moves
}

// globallyOrdered reports whether the instruction is globally ordered: it lets a CTA observe the effects of other CTAs,
// or the order in which CTAs ran. These are strong loads and stores, atomics whose order is observable (see isOrderFree),
// allocations on the heap, and the cancellation of clusters.
func (l *lowerer) globallyOrdered(instr *ptx.Instr) bool {
	switch e := instr.Form.Effects; {
	case e.HasAll(ptx.Strong) && instr.MayTouchGlobal():
		return true
	case e.HasAll(ptx.Atomic) && instr.MayTouchGlobal():
		return !l.orderFree
	case instr.Form.Family == ptx.FamilyTryCancel:
		return true
	case instr.Call != nil:
		f, ok := instr.Call.Target.Sym().(*ptx.Func)
		return ok && !f.Defined && (f.Name == "malloc" || f.Name == "free")
	}
	return false
}

// lowerHint emits nothing: prefetches and cache priorities have no effect on results, and discard need not have one.
func lowerHint(l *lowerer, instr *ptx.Instr) {}

func lowerStacksave(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	l.emit(code.Instr{Op: bySlot(s, code.Stacksave32, code.Stacksave64), D: l.target(&instr.Ops[0], s)})
}

func lowerStackrestore(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	l.emit(code.Instr{Op: bySlot(s, code.Stackrestore32, code.Stackrestore64), A: l.source(&instr.Ops[0], instr.Type(), s)})
}

func lowerAlloca(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	align := uint64(8)
	if o := instr.Arg("b"); o.Kind == ptx.ImmOperand {
		align = max(align, o.Imm.Bits)
	}
	d, a := l.target(&instr.Ops[0], s), l.source(&instr.Ops[1], instr.Type(), s)
	l.emit(code.Instr{Op: bySlot(s, code.Alloca32, code.Alloca64), D: d, A: a, Imm: align})
}
