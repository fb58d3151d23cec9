package interp

// This file executes instructions in affine mode, as plan.go has chosen: on
// compact operands if the tags say that they are for the lanes at hand, otherwise
// on the lanes, after what is compact has been written to them (expanded).
//
// Results stay compact under divergence, for the lanes that computed them. Where
// such a result overwrites a compact value that other lanes still need, it is
// expanded for them first (lazy expansion, Kim et al. 2013, section 4.3).

import (
	"math/bits"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// shadowAt is the shadow of a source operand.
func shadowAt(f *regfile.File, s alu.Slot, row int32) *regfile.Compact {
	if s == alu.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// vector executes the instruction on the lanes, without a look at shadows.
func (in *inst) vector(w *warp, h int, f *regfile.File, m uint32) {
	if in.op != nil {
		in.op.Vec(f, &in.Operands, m)
		return
	}
	in.form.lane(w, h, f, in, m)
}

// affineGeneric executes an instruction on the lanes, after expanding what it
// reads.
func affineGeneric(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	for _, o := range in.form.expand {
		if o.slot == alu.Q {
			f.Expand64(o.row, m)
		} else {
			f.Expand32(o.row, m)
		}
	}
	in.vector(w, h, f, m)
	for _, o := range in.form.dirty {
		c := shadowOf(f, o)
		c.Mask &^= m
		c.Clean &^= m
	}
}

// keepCompact makes a register compact for the lanes of m.
func (w *warp) keepCompact(h int, f *regfile.File, form *compactForm, s alu.Slot, row int32, base, stride uint64, m uint32) {
	c := shadowOf(f, operandRef{s, row})
	if s == alu.R {
		base, stride = uint64(uint32(base)), uint64(uint32(stride))
	}
	if rest := c.Mask &^ m & uint32(w.live>>(32*h)); rest != 0 {
		if c.Base == base && c.Stride == stride {
			c.Mask |= m
			if form.both {
				expand(f, operandRef{s, row}, m)
			}
			return
		}
		expand(f, operandRef{s, row}, rest)
	}
	*c = regfile.Compact{Base: base, Stride: stride, Mask: m}
	if form.both {
		c.Clean = m
		fillRow(f, operandRef{s, row}, affinetrack.Value{Base: base, Stride: stride}, m)
	}
}

// keepProved makes a register uniform for all lanes there are.
func keepProved(f *regfile.File, in *inst, base uint64, m uint32) {
	c := regfile.Compact{Base: base, Mask: regfile.Full}
	if in.form.both {
		c.Clean = m
		fillRow(f, operandRef{in.op.Dst, in.D}, affinetrack.Value{Base: base}, m)
	}
	if in.op.Dst == alu.Q {
		f.S.Q[in.D] = c
		return
	}
	c.Base = uint64(uint32(base))
	f.S.R[in.D] = c
}

// fix computes the constants of the launch.
func (g *grid) fix() {
	k := &g.code.consts
	value := func(s alu.Slot, row int32) uint64 {
		switch s {
		case alu.R:
			return k.SR[^row].Base
		case alu.Q:
			return k.SQ[^row].Base
		case alu.P:
			return uint64(k.P[^row] & 1)
		}
		return 0
	}
	for i := range g.code.fixed {
		in := &g.code.fixed[i]
		var v uint64
		switch op := in.op; in.form.kind {
		case asArithmetic:
			v, _ = op.One(value(op.Src[0], in.A), value(op.Src[1], in.B), value(op.Src[2], in.C), value(op.Src[3], in.E), in.Imm)
		case asSource:
			v = g.sreg(ptx.SpecialReg(in.Imm)) & (1<<in.form.width - 1)
		case asLoad:
			v = in.mem.extend(mem.LoadBits(in.mem.atFixed(), in.mem.size))
		}
		k.Set(in.uses.writes[0].slot == alu.Q, in.uses.writes[0].row, v)
	}
}

// provedArithmetic is how a kernel executes whose operands and result are proved
// uniform.
func provedArithmetic(in *inst) lane {
	return [...]lane{provedNullary, provedUnary, provedBinary, provedTernary, provedQuaternary}[in.op.Sources()]
}

func provedNullary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	d, _ := in.op.One(0, 0, 0, 0, in.Imm)
	keepProved(f, in, d, m)
}

func provedUnary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op := in.op
	d, _ := op.One(shadowAt(f, op.Src[0], in.A).Base, 0, 0, 0, in.Imm)
	keepProved(f, in, d, m)
}

func provedBinary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op := in.op
	d, _ := op.One(shadowAt(f, op.Src[0], in.A).Base, shadowAt(f, op.Src[1], in.B).Base, 0, 0, in.Imm)
	keepProved(f, in, d, m)
}

func provedTernary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op := in.op
	d, _ := op.One(shadowAt(f, op.Src[0], in.A).Base, shadowAt(f, op.Src[1], in.B).Base, shadowAt(f, op.Src[2], in.C).Base, 0, in.Imm)
	keepProved(f, in, d, m)
}

func provedQuaternary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op := in.op
	d, _ := op.One(shadowAt(f, op.Src[0], in.A).Base, shadowAt(f, op.Src[1], in.B).Base, shadowAt(f, op.Src[2], in.C).Base, shadowAt(f, op.Src[3], in.E).Base, in.Imm)
	keepProved(f, in, d, m)
}

// affineArithmetic is how a kernel executes whose operands may be compact.
func affineArithmetic(in *inst) lane {
	for _, s := range in.op.Src {
		if s == alu.P {
			return affineMixed
		}
	}
	switch in.op.Sources() {
	case 1:
		return affineUnary
	case 2:
		return affineBinary
	case 3:
		return affineTernary
	}
	return affineMixed
}

func affineUnary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op, form := in.op, in.form
	a := shadowAt(f, op.Src[0], in.A)
	if a.Mask&m != m {
		affineGeneric(w, h, f, in, m)
		return
	}
	if a.Stride == 0 && op.Dst2 == alu.NoSlot {
		d, _ := op.One(a.Base, 0, 0, 0, in.Imm)
		w.keepCompact(h, f, form, op.Dst, in.D, d, 0, m)
		return
	}
	if v, ok := form.fast.Unary(valueOf(a), form.signed, firstOf(m), lastOf(m)); ok {
		w.keepCompact(h, f, form, op.Dst, in.D, v.Base, v.Stride, m)
		return
	}
	affineMixed(w, h, f, in, m)
}

func affineBinary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op, form := in.op, in.form
	a, b := shadowAt(f, op.Src[0], in.A), shadowAt(f, op.Src[1], in.B)
	if a.Mask&b.Mask&m != m {
		affineGeneric(w, h, f, in, m)
		return
	}
	if a.Stride|b.Stride == 0 && op.Dst2 == alu.NoSlot {
		d, _ := op.One(a.Base, b.Base, 0, 0, in.Imm)
		w.keepCompact(h, f, form, op.Dst, in.D, d, 0, m)
		return
	}
	if v, ok := form.fast.Binary(valueOf(a), valueOf(b), form.signed, firstOf(m), lastOf(m)); ok {
		w.keepCompact(h, f, form, op.Dst, in.D, v.Base, v.Stride, m)
		return
	}
	affineMixed(w, h, f, in, m)
}

func affineTernary(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op, form := in.op, in.form
	a, b, c := shadowAt(f, op.Src[0], in.A), shadowAt(f, op.Src[1], in.B), shadowAt(f, op.Src[2], in.C)
	if a.Mask&b.Mask&c.Mask&m != m {
		affineGeneric(w, h, f, in, m)
		return
	}
	if a.Stride|b.Stride|c.Stride == 0 && op.Dst2 == alu.NoSlot {
		d, _ := op.One(a.Base, b.Base, c.Base, 0, in.Imm)
		w.keepCompact(h, f, form, op.Dst, in.D, d, 0, m)
		return
	}
	if v, ok := form.fast.Ternary(valueOf(a), valueOf(b), valueOf(c), form.signed, firstOf(m), lastOf(m)); ok {
		w.keepCompact(h, f, form, op.Dst, in.D, v.Base, v.Stride, m)
		return
	}
	affineMixed(w, h, f, in, m)
}

// valueOf is what a shadow holds.
func valueOf(c *regfile.Compact) affinetrack.Value {
	return affinetrack.Value{Base: c.Base, Stride: c.Stride}
}

// firstOf and lastOf are the lowest and the highest lane of m.
func firstOf(m uint32) int { return bits.TrailingZeros32(m) }
func lastOf(m uint32) int  { return 31 - bits.LeadingZeros32(m) }

// affineMixed executes a kernel by the rules of package affinetrack.
func affineMixed(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op, form := in.op, in.form
	a := &w.args
	*a = affinetrack.Args{Width: form.width, Signed: form.signed, Out: form.out, Slot: slotBits(op.Dst), First: firstOf(m), Last: lastOf(m)}
	var once [4]uint64
	n, missing, uniform := 0, 0, true
	for i, row := range [4]int32{in.A, in.B, in.C, in.E} {
		switch s := op.Src[i]; s {
		case alu.NoSlot:
		case alu.P:
			p := f.SrcP(row) & m
			if p != 0 && p != m {
				affineGeneric(w, h, f, in, m)
				return
			}
			if p != 0 {
				a.P, once[i] = true, 1
			}
		default:
			c := shadowAt(f, s, row)
			if c.Mask&m != m {
				missing |= 1 << n
			}
			uniform = uniform && c.Stride == 0
			a.V[n], once[i] = valueOf(c), c.Base
			n++
		}
	}
	selection := form.rule == ptx.AffineSelect
	if selection {
		// It does not look at what it leaves out.
		if a.P {
			missing &= 1
		} else {
			missing &= 2
		}
	}
	var v affinetrack.Value
	ok := missing == 0
	switch rule := affinetrack.Rules.Rules[form.rule]; {
	case !ok:
	case uniform && !selection:
		var carry uint64
		v.Base, carry = op.One(once[0], once[1], once[2], once[3], in.Imm)
		if op.Dst2 == alu.P {
			f.SetP(in.F, m, -uint32(carry&1))
		}
	default:
		if ok = rule != nil; ok {
			v, ok = rule(a)
		}
	}
	if !ok {
		affineGeneric(w, h, f, in, m)
		return
	}
	w.keepCompact(h, f, form, op.Dst, in.D, v.Base, v.Stride, m)
}

// affineCompare executes a comparison.
func affineCompare(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	op, form := in.op, in.form
	x, y := shadowAt(f, op.Src[0], in.A), shadowAt(f, op.Src[1], in.B)
	if x.Mask&y.Mask&m != m {
		affineGeneric(w, h, f, in, m)
		return
	}
	var holds, ok bool
	switch {
	case x.Stride|y.Stride == 0:
		d, _ := op.One(x.Base, y.Base, 0, 0, in.Imm)
		holds, ok = d != 0, true
	case form.cmp != affinetrack.NoCmp && form.width == 32:
		holds, ok = affinetrack.Compare32(form.cmp, valueOf(x), valueOf(y), form.signed, firstOf(m), lastOf(m))
	case form.cmp != affinetrack.NoCmp:
		a := &w.args
		*a = affinetrack.Args{Width: form.width, Signed: form.signed, Out: form.width, Slot: 32, Cmp: form.cmp, First: firstOf(m), Last: lastOf(m)}
		a.V[0], a.V[1] = valueOf(x), valueOf(y)
		holds, ok = affinetrack.Rules.Compare(a)
	}
	if !ok {
		affineGeneric(w, h, f, in, m)
		return
	}
	outcome, c := uint32(0), uint32(0)
	if holds {
		outcome = regfile.Full
	}
	if in.Imm != alu.BoolNone {
		c = f.SrcP(in.C)
	}
	p, q := alu.Combine(outcome, c, in.Imm)
	if in.D != noRow {
		f.SetP(in.D, m, p)
	}
	if in.E != noRow {
		f.SetP(in.E, m, q)
	}
}

// affineSource reads a special register, or the address of a local variable.
func affineSource(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	form := in.form
	if v, ok := form.source(w, h, in, m); ok {
		o := form.dirty[0]
		w.keepCompact(h, f, form, o.slot, o.row, v.Base, v.Stride, m)
		return
	}
	affineGeneric(w, h, f, in, m)
}

// addressOf is the compact address of an access; nil if it has none for the lanes
// of m.
func (a *access) addressOf(f *regfile.File, m uint32) *regfile.Compact {
	if a.addr == alu.NoSlot {
		return &fixedAddress
	}
	if c := shadowAt(f, a.addr, a.row); c.Mask&m == m {
		return c
	}
	return nil
}

var fixedAddress = regfile.Compact{Mask: regfile.Full}

// affineLoad loads from a compact address: a uniform one once, and the value is
// uniform unless memory is the thread's own; an affine one without computing the
// lanes' addresses.
func affineLoad(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a, form := in.mem, in.form
	c := a.addressOf(f, m)
	if c == nil {
		affineGeneric(w, h, f, in, m)
		return
	}
	p, first, step, ok := w.memoryAt(a, valueOf(c), m)
	if c.Stride != 0 || len(form.dirty) == 0 {
		if !ok {
			affineGeneric(w, h, f, in, m)
			return
		}
		in.loadRows(f, p, first, step, m)
		for _, o := range form.dirty {
			s := shadowOf(f, o)
			s.Mask &^= m
			s.Clean &^= m
		}
		return
	}
	if ok {
		for i, e := range a.elems {
			if e.slot != alu.NoSlot {
				w.keepCompact(h, f, form, e.slot, e.row, a.extend(mem.LoadBits(unsafe.Add(p, i*a.size), a.size)), 0, m)
			}
		}
		return
	}
	own := a.space == ptx.Generic && mem.InWindow(a.at(c.Base), ptx.Local)
	affineGeneric(w, h, f, in, m)
	if own || w.err != nil {
		return
	}
	for _, o := range form.dirty {
		v := firstLane(f, o, m)
		w.keepCompact(h, f, form, o.slot, o.row, v.Base, 0, m)
	}
}

// expandData expands the registers to be stored, for the lanes of m.
func (a *access) expandData(f *regfile.File, m uint32) {
	for _, e := range a.elems {
		expand(f, operandRef{e.slot, e.row}, m)
	}
}

// affineStore stores to a compact address without computing the lanes' addresses.
func affineStore(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	c := a.addressOf(f, m)
	if c == nil {
		affineGeneric(w, h, f, in, m)
		return
	}
	p, first, step, ok := w.memoryAt(a, valueOf(c), m)
	if !ok {
		affineGeneric(w, h, f, in, m)
		return
	}
	w.storeRows(f, in, p, first, step, m)
}

// affineLocal accesses local memory at a uniform address.
func affineLocal(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	c := a.addressOf(f, m)
	if c == nil || c.Stride != 0 {
		affineGeneric(w, h, f, in, m)
		return
	}
	if a.store {
		a.expandData(f, m)
	}
	if !w.localRow(h, f, a, a.at(c.Base), m) {
		affineGeneric(w, h, f, in, m)
	}
}
