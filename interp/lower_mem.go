package interp

// This file lowers memory instructions.

import (
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// access is what a memory instruction accesses, and how.
type access struct {
	space  ptx.Space
	addr   alu.Slot // of the row that holds addresses; NoSlot: the address is off
	row    int32
	off    uint64 // added to the row
	frame  bool   // off is relative to the running function's local frame
	size   int    // bytes of an element
	elems  []elem
	bytes  int // of all elements: what the address must be a multiple of
	signed bool
	hit    int             // index of the allocation remembered
	fixed  *mem.Allocation // where off lies, of a fixed address in device memory
	store  bool
	atom   *rmw
}

// elem is an element of a vector access.
type elem struct {
	slot alu.Slot // NoSlot: not loaded or stored
	row  int32
	row2 int32 // of 128-bit elements: the row of the upper half
}

// address fills in the address of an access.
func (l *lowerer) accessOf(in *ptx.Instr, o *ptx.Operand) *access {
	a := &access{size: in.Type().Size(), hit: l.hits, off: uint64(o.Off)}
	l.hits++
	a.space, _ = in.Space()
	entry := l.fn.fn.Entry
	switch {
	case o.Reg != ptx.NoReg && o.Sym != nil:
		l.indexed(a, o)
	case o.Reg != ptx.NoReg:
		ref := l.rows[o.Reg]
		a.addr, a.row = ref.slot, ref.row
		if a.space == ptx.Param && !entry {
			a.space = ptx.Local // parameters of functions live on the stack
		}
	case o.Sym != nil:
		v, isVar := o.Sym.(*ptx.Var)
		if !isVar {
			l.refuse("access to function %s", o.Sym.SymbolName())
		}
		a.space = v.Space
		if at, local := l.locals[v]; local && (v.Space == ptx.Local || v.Space == ptx.Param) {
			a.space, a.frame = ptx.Local, true
			a.off += uint64(at)
			break
		}
		a.off += l.address(v)
	}
	if a.addr == alu.NoSlot && a.space != ptx.Shared && a.space != ptx.Local {
		a.fixed = l.mod.dev.mem.Find(a.off)
	}
	return a
}

// indexed fills in the address of "var[%r+off]": the sum of all three.
func (l *lowerer) indexed(a *access, o *ptx.Operand) {
	s, add := alu.Q, "add.u64"
	if l.mod.AddressSize == 32 {
		s, add = alu.R, "add.u32"
	}
	v := o.Sym.(*ptx.Var)
	a.space = v.Space
	if _, local := l.locals[v]; local {
		a.space = ptx.Local
	}
	base := l.symbol(v, o.Off, s, noRow)
	index := l.source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.NoType, s)
	a.addr, a.row, a.off = s, l.temp(s), 0
	l.op(add, regfile.Operands{D: a.row, A: base, B: index})
}

// elements lists the registers of a load's or store's data operand.
func (l *lowerer) elements(a *access, o *ptx.Operand, t ptx.Type, store bool) {
	list := []ptx.Operand{*o}
	if o.Kind == ptx.VecOperand {
		list = o.Elems
	}
	for i := range list {
		e := &list[i]
		switch {
		case e.Kind == ptx.SinkOperand:
			a.elems = append(a.elems, elem{})
		case e.Kind == ptx.RegOperand:
			ref := l.rows[e.Reg]
			a.elems = append(a.elems, elem{ref.slot, ref.row, ref.row + 1})
		case store:
			s := slotOf(t)
			row := l.source(e, t, s)
			a.elems = append(a.elems, elem{s, row, row})
		}
	}
	a.bytes = a.size * len(a.elems)
}

func lowerLd(l *lowerer, in *ptx.Instr) {
	a := l.accessOf(in, in.Arg("a"))
	d := in.Arg("d")
	l.elements(a, d, in.Type(), false)
	list := []ptx.Operand{*d}
	if d.Kind == ptx.VecOperand {
		list = d.Elems
	}
	// Sign extension ends at the register's width, which may be less than its
	// slot's.
	a.signed = false
	var cut []int32
	for i := range list {
		have := l.regBits(&list[i], 0)
		if in.Type().IsSigned() && have > 8*a.size {
			a.signed = true
			if have == 16 {
				cut = append(cut, a.elems[i].row)
			}
		}
	}
	i := inst{mem: a, lane: loadLane(a)}
	if len(a.elems) == 1 {
		i.D, i.A = a.elems[0].row, a.row
	}
	l.emit(i, a.address(), a.registers())
	for _, row := range cut {
		l.op("cvt.u16.u32", regfile.Operands{D: row, A: row})
	}
}

func lowerSt(l *lowerer, in *ptx.Instr) {
	if in.Form.Effects.Has(ptx.Async) || in.Has("bulk") {
		l.refuse("%s", in.Text)
	}
	a := l.accessOf(in, in.Arg("a"))
	a.store = true
	l.elements(a, in.Arg("b"), in.Type(), true)
	i := inst{mem: a, lane: storeLane(a)}
	if len(a.elems) == 1 {
		i.D, i.A = a.elems[0].row, a.row
	}
	l.emit(i, append(a.address(), a.registers()...), nil)
}

// rmw is the operation of atom and red.
type rmw struct {
	op     atomicOp
	typ    ptx.Type
	b, c   []elem // operands, per element
	flush  bool   // f32 add on global memory flushes subnormals
	shared bool   // only the CTA sees it: never a host atomic
}

type atomicOp uint8

const (
	atomAdd atomicOp = iota
	atomAnd
	atomOr
	atomXor
	atomExch
	atomCas
	atomInc
	atomDec
	atomMin
	atomMax
)

var atomicOps = map[string]atomicOp{
	"add": atomAdd, "and": atomAnd, "or": atomOr, "xor": atomXor, "exch": atomExch,
	"cas": atomCas, "inc": atomInc, "dec": atomDec, "min": atomMin, "max": atomMax,
}

// atomicOf finds the operation among the modifiers.
func atomicOf(in *ptx.Instr) (atomicOp, bool) {
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

func lowerAtom(l *lowerer, in *ptx.Instr) {
	op, ok := atomicOf(in)
	t := in.Type()
	if !ok || in.Has("async") || t.Bits() == 16 && t != ptx.B16 || t == ptx.F16x2 || t == ptx.BF16x2 {
		l.refuse("%s", in.Text)
	}
	a := l.accessOf(in, in.Arg("a"))
	a.atom = &rmw{op: op, typ: t, shared: a.space == ptx.Shared}
	a.atom.flush = t == ptx.F32 && op == atomAdd && a.space != ptx.Shared
	list := func(o *ptx.Operand) []elem {
		var x access
		l.elements(&x, o, t, true)
		return x.elems
	}
	a.atom.b = list(in.Arg("b"))
	if op == atomCas {
		a.atom.c = list(in.Arg("c"))
	}
	a.elems = make([]elem, len(a.atom.b))
	if in.Form.Operand("d") >= 0 {
		var x access
		l.elements(&x, in.Arg("d"), t, false)
		copy(a.elems, x.elems)
	}
	a.bytes = a.size * len(a.elems)
	reads := append(a.address(), elemRows(a.atom.b, a.size)...)
	l.emit(inst{mem: a, lane: atomLane}, append(reads, elemRows(a.atom.c, a.size)...), a.registers())
}

// address is the row the address is in, if there is one.
func (a *access) address() []operandRef {
	if a.addr == alu.NoSlot {
		return nil
	}
	return []operandRef{{a.addr, a.row}}
}

// registers are the rows of the elements.
func (a *access) registers() []operandRef { return elemRows(a.elems, a.size) }

func elemRows(list []elem, size int) []operandRef {
	var refs []operandRef
	for _, e := range list {
		refs = append(refs, operandRef{e.slot, e.row})
		if size == 16 {
			refs = append(refs, operandRef{e.slot, e.row2})
		}
	}
	return refs
}

// visible reports whether the instruction lets a CTA see what others did, or
// lets others see in which order CTAs ran: strong loads and stores, atomics that
// do not commute or whose result is used, and the heap.
func (l *lowerer) visible(in *ptx.Instr) bool {
	switch e := in.Form.Effects; {
	case e.Has(ptx.Strong) && in.MayTouchGlobal():
		return true
	case e.Has(ptx.Atomic) && in.MayTouchGlobal():
		return !l.orderFree
	case in.Call != nil:
		f, ok := in.Call.Target.Sym.(*ptx.Func)
		return ok && !f.Defined && (f.Name == "malloc" || f.Name == "free")
	}
	return false
}

// orderFree reports whether the order of all atomics on global memory in the
// functions cannot be seen: each is the same commutative integer operation, its
// result is not used, and nothing else looks at memory before the kernel ends.
func (m *Module) orderFree(reach []reached) bool {
	free := true
	var same commuting
	for _, r := range reach {
		var live *ptx.Liveness
		for _, b := range r.fn.Blocks {
			for i, in := range b.Instrs {
				e := in.Form.Effects
				if !in.MayTouchGlobal() || !e.Any(ptx.Strong|ptx.Atomic) {
					continue
				}
				op, ok := atomicOf(in)
				if !ok || !e.Has(ptx.Commutes) {
					return false
				}
				// Operations of different widths do not commute, nor do signed
				// and unsigned comparisons.
				kind := commuting{op, in.Type().Bits(), in.Type().IsSigned() && (op == atomMin || op == atomMax)}
				if same != (commuting{}) && same != kind {
					return false
				}
				same = kind
				if in.Form.Operand("d") < 0 {
					continue
				}
				if live == nil {
					live = r.fn.Liveness()
				}
				if d := in.Arg("d"); d.Kind == ptx.RegOperand && usedLater(b, i, d.Reg, live) {
					free = false
				}
			}
		}
	}
	return free
}

// commuting is what atomics share whose order is not seen in memory.
type commuting struct {
	op     atomicOp
	bits   int
	signed bool
}

// usedLater reports whether a register is read behind instruction i of a block
// before it is written.
func usedLater(b *ptx.Block, i int, r ptx.RegID, live *ptx.Liveness) bool {
	for _, in := range b.Instrs[i+1:] {
		for u := range in.Uses() {
			if u == r {
				return true
			}
		}
		for d := range in.Defs() {
			if d == r && in.Guard.Reg == ptx.NoReg {
				return false
			}
		}
	}
	return live.Out(b.Index, r)
}

// lowerHint: prefetches and priorities do nothing, discard may.
func lowerHint(l *lowerer, in *ptx.Instr) {}

// stackSlot is the slot of stack pointers, and whether it is a wide one.
func stackSlot(in *ptx.Instr) (s alu.Slot, wide uint64) {
	if s = slotOf(in.Type()); s == alu.Q {
		wide = 1
	}
	return s, wide
}

func lowerStacksave(l *lowerer, in *ptx.Instr) {
	s, wide := stackSlot(in)
	d := l.target(&in.Ops[0], s)
	l.emit(inst{Operands: regfile.Operands{D: d, Imm: wide}, lane: stacksave}, nil, rows(s, d))
}

func lowerStackrestore(l *lowerer, in *ptx.Instr) {
	s, wide := stackSlot(in)
	a := l.source(&in.Ops[0], in.Type(), s)
	l.emit(inst{Operands: regfile.Operands{A: a, Imm: wide}, lane: stackrestore}, rows(s, a), nil)
}

func lowerAlloca(l *lowerer, in *ptx.Instr) {
	s, wide := stackSlot(in)
	align := uint64(8)
	if o := in.Arg("b"); o.Kind == ptx.ImmOperand {
		align = max(align, o.Imm.Bits)
	}
	d, a := l.target(&in.Ops[0], s), l.source(&in.Ops[1], in.Type(), s)
	l.emit(inst{Operands: regfile.Operands{D: d, A: a, Imm: wide | align<<1}, lane: alloca}, rows(s, a), rows(s, d))
}

// log2 of a power of two.
func log2(n int) int { return bits.TrailingZeros(uint(n)) }
