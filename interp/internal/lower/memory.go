package lower

// This file lowers memory instructions.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// accessOf is an access to the address of an operand, and the row that is in.
func (l *lowerer) accessOf(in *ptx.Instr, o *ptx.Operand) (a *code.Access, addr int32) {
	space, sub := in.Space()
	if in.GlobalOnly() {
		space = ptx.Global
	}
	return l.accessIn(in, o, space, sub == "cluster")
}

// accessIn is accessOf for an address in a state space, of .shared::cluster if cluster: where
// several CTAs have one, that becomes a generic address.
func (l *lowerer) accessIn(in *ptx.Instr, o *ptx.Operand, space ptx.Space, cluster bool) (a *code.Access, addr int32) {
	a = &code.Access{Size: in.Type().Size(), Hit: l.prog.Hits, Off: uint64(o.Off()), Space: space}
	addr = code.NoRow
	l.prog.Hits += code.Known
	if cluster && l.opt.Cluster && o.Sym() == nil {
		a.Space, a.Cluster = ptx.Generic, true
		a.Off += mem.SharedWindow
	}
	entry := l.fn.Entry
	switch {
	case o.Reg != ptx.NoReg && o.Sym() != nil:
		addr = l.indexed(a, o)
	case o.Reg != ptx.NoReg:
		ref := l.rows[o.Reg]
		a.Addr, addr = ref.Slot, ref.Row
		if a.Space == ptx.Param && !entry {
			a.Space = ptx.Local // parameters of functions live on the stack
		}
	case o.Sym() != nil:
		v, isVar := o.Sym().(*ptx.Var)
		if !isVar {
			l.refuse("access to function %s", o.Sym().SymbolName())
		}
		a.Space = v.Space
		if at, local := l.locals[v]; local && (v.Space == ptx.Local || v.Space == ptx.Param) {
			a.Space, a.Frame = ptx.Local, true
			a.Off += uint64(at)
			break
		}
		if at, ok := l.outer[v]; ok {
			a.Addr, addr = code.Q, l.moveKonst(code.Q, at, l.temp(code.Q))
			break
		}
		if a.Space == ptx.Shared && l.opt.Cluster {
			a.Addr = code.R
			addr, a.Off = l.symbol(v, o.Off(), a.Addr, code.NoRow), 0
			break
		}
		a.Off += l.address(v)
	}
	if a.Addr == code.NoSlot && a.Space != ptx.Shared && a.Space != ptx.Local && !a.Cluster {
		a.Fixed = l.env.Memory(a.Off)
	}
	return a, addr
}

// indexed fills in the address of "var[%r+off]", an element of an array (ptx.Operand.IndexSize). Those of shared and
// local memory have 32 bits.
func (l *lowerer) indexed(a *code.Access, o *ptx.Operand) (addr int32) {
	v := o.Sym().(*ptx.Var)
	a.Space = v.Space
	_, local := l.locals[v]
	if _, outer := l.outer[v]; local || outer {
		a.Space = ptx.Local
	}
	s := code.Q
	if l.module.AddressSize == 32 || a.Space == ptx.Shared || a.Space == ptx.Local {
		s = code.R
	}
	index := l.source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.NoType, code.R)
	then := func(op code.Op, b uint64) {
		d := l.temp(code.R)
		l.emit(code.Instr{Op: op, D: d, A: index, B: l.konst(code.R, b)})
		index = d
	}
	if off := o.Off(); off != 0 {
		then(code.AddU32, uint64(uint32(off)))
	}
	if size := o.IndexSize(); size > 1 {
		then(code.ShlB32, uint64(bits.TrailingZeros(uint(size))))
	}
	if s == code.Q {
		wide := l.temp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: index})
		index = wide
	}
	addr = l.temp(s)
	a.Addr, a.Off = s, 0
	l.emit(code.Instr{Op: addOp(s), D: addr, A: l.symbol(v, 0, s, code.NoRow), B: index})
	return addr
}

// elements lists the registers of a load's or store's data operand.
func (l *lowerer) elements(a *code.Access, o *ptx.Operand, t ptx.Type, store bool) {
	list := []ptx.Operand{*o}
	if o.Kind == ptx.VecOperand {
		list = o.Elems()
	}
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

func lowerLd(l *lowerer, in *ptx.Instr) {
	a, addr := l.accessOf(in, in.Arg("a"))
	d := in.Arg("d")
	l.elements(a, d, in.Type(), false)
	list := []ptx.Operand{*d}
	if d.Kind == ptx.VecOperand {
		list = d.Elems()
	}
	// Sign extension ends at the register's width, which may be less than its
	// slot's.
	a.Signed = false
	var cut []int32
	for i := range list {
		have := l.regBits(&list[i], 0)
		if in.Type().IsSigned() && have > 8*a.Size {
			a.Signed = true
			if have == 16 {
				cut = append(cut, a.Elems[i].Row)
			}
		}
	}
	a.Move = mem.StridedOf(a.Size, a.Signed)
	a.Spare = min(l.spare[in], len(a.Elems)-1) * a.Size
	l.access(loadOp(a), a, addr)
	for _, row := range cut {
		l.emit(code.Instr{Op: code.CvtU16U32, D: row, A: row})
	}
}

// findSpare finds the vectors whose last elements are loaded for nothing. Compilers load four elements
// where a program wants three, and the address is a multiple of four.
func (l *lowerer) findSpare() {
	f := l.fn.Func
	shared, _ := f.Statics()
	l.spare = map[*ptx.Instr]int{}
	for _, b := range f.Blocks {
		if !slices.ContainsFunc(b.Instrs, loadsVector) {
			continue
		}
		for i, live := range l.live.Behind(b) {
			in := b.Instrs[i]
			if !loadsVector(in) {
				continue
			}
			n := 0
			for _, e := range slices.Backward(in.Arg("d").Elems()) {
				if e.Kind == ptx.RegOperand && (live(e.Reg) || f.Returned(e.Reg) || slices.Contains(shared, e.Reg)) {
					break
				}
				n++
			}
			if n > 0 {
				l.spare[in] = n
			}
		}
	}
}

func loadsVector(in *ptx.Instr) bool {
	return in.Form.Family == ptx.FamilyLoad && in.Arg("d").Kind == ptx.VecOperand
}

// loadOp chooses how a load executes.
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

func lowerSt(l *lowerer, in *ptx.Instr) {
	a, addr := l.accessOf(in, in.Arg("a"))
	a.Store = true
	if in.Has("bulk") {
		a.Size, a.Bytes = 8, 8
		a.Elems = []code.Elem{{Slot: code.Q, Row: l.source(in.Arg("b"), ptx.U64, code.Q)}}
		l.access(code.StoreBulk, a, addr)
		return
	}
	l.elements(a, in.Arg("b"), in.Type(), true)
	a.Move = mem.StridedOf(a.Size, false)
	l.access(storeOp(a), a, addr)
}

// storeOp chooses how a store executes.
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

var atomicOps = map[string]code.AtomicOp{
	"add": code.AtomAdd, "and": code.AtomAnd, "or": code.AtomOr, "xor": code.AtomXor, "exch": code.AtomExch,
	"cas": code.AtomCas, "inc": code.AtomInc, "dec": code.AtomDec, "min": code.AtomMin, "max": code.AtomMax,
}

// entry is what a table has for a word of an instruction, which it has.
func entry[V any](table map[string]V, word string) V {
	v, ok := table[word]
	if !ok {
		panic(fmt.Sprintf("BUG: no entry for %q", word))
	}
	return v
}

// atomicOf finds the operation among the modifiers.
func atomicOf(in *ptx.Instr) (code.AtomicOp, bool) {
	if op, ok := atomicOps[in.Slot("op")]; ok {
		return op, true
	}
	for _, name := range []string{"add", "exch", "cas"} {
		if in.Has(name) {
			return atomicOps[name], true
		}
	}
	return 0, false
}

// reductionOf is the operation of an instruction on memory of a state space.
func reductionOf(in *ptx.Instr, op code.AtomicOp, space ptx.Space) code.Reduction {
	r := code.ReductionOn(op, in.Type(), space)
	if in.Has("noftz") {
		r.Global = false
	}
	return r
}

func lowerAtom(l *lowerer, in *ptx.Instr) {
	op, ok := atomicOf(in)
	t := in.Type()
	if !ok {
		l.refuse("%s", in.Text)
	}
	a, addr := l.accessOf(in, in.Arg("a"))
	space := a.Space
	if a.Cluster {
		space = ptx.Shared
	}
	a.Atom = &code.Atom{Reduction: reductionOf(in, op, space), Shared: space == ptx.Shared}
	list := func(o *ptx.Operand) []code.Elem {
		var x code.Access
		l.elements(&x, o, t, true)
		return x.Elems
	}
	a.Atom.B = list(in.Arg("b"))
	if op == code.AtomCas {
		a.Atom.C = list(in.Arg("c"))
	}
	a.Elems = make([]code.Elem, len(a.Atom.B))
	if in.Form.Operand("d") >= 0 {
		var x code.Access
		l.elements(&x, in.Arg("d"), t, false)
		copy(a.Elems, x.Elems)
	}
	a.Bytes = a.Size * len(a.Elems)
	l.access(code.Atomic, a, addr)
}

// visible reports whether the instruction lets a CTA see what others did, or
// lets others see in which order CTAs ran: strong loads and stores, atomics that
// do not commute or whose result is used, the heap, and what takes clusters out of the launch.
func (l *lowerer) visible(in *ptx.Instr) bool {
	switch e := in.Form.Effects; {
	case e.Has(ptx.Strong) && in.MayTouchGlobal():
		return true
	case e.Has(ptx.Atomic) && in.MayTouchGlobal():
		return !l.orderFree
	case in.Form.Family == ptx.FamilyTryCancel:
		return true
	case in.Call != nil:
		f, ok := in.Call.Target.Sym().(*ptx.Func)
		return ok && !f.Defined && (f.Name == "malloc" || f.Name == "free")
	}
	return false
}

// lowerHint: prefetches and priorities do nothing, discard may.
func lowerHint(l *lowerer, in *ptx.Instr) {}

func lowerStacksave(l *lowerer, in *ptx.Instr) {
	s := code.SlotOf(in.Type())
	l.emit(code.Instr{Op: bySlot(s, code.Stacksave32, code.Stacksave64), D: l.target(&in.Ops[0], s)})
}

func lowerStackrestore(l *lowerer, in *ptx.Instr) {
	s := code.SlotOf(in.Type())
	l.emit(code.Instr{Op: bySlot(s, code.Stackrestore32, code.Stackrestore64), A: l.source(&in.Ops[0], in.Type(), s)})
}

func lowerAlloca(l *lowerer, in *ptx.Instr) {
	s := code.SlotOf(in.Type())
	align := uint64(8)
	if o := in.Arg("b"); o.Kind == ptx.ImmOperand {
		align = max(align, o.Imm.Bits)
	}
	d, a := l.target(&in.Ops[0], s), l.source(&in.Ops[1], in.Type(), s)
	l.emit(code.Instr{Op: bySlot(s, code.Alloca32, code.Alloca64), D: d, A: a, Imm: align})
}
