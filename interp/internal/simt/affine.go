package simt

// This file executes instructions in affine mode, as plan.go has chosen: on
// compact operands if the tags say that they are for the lanes at hand, otherwise
// on the lanes, after what is compact has been written to them (expanded).
//
// Results stay compact under divergence, for the lanes that computed them. Where
// such a result overwrites a compact value that other lanes still need, it is
// expanded for them first (lazy expansion, Kim et al. 2013, section 4.3).

import (
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// shadowAt is the shadow of a source operand.
func shadowAt(f *regfile.File, s code.Slot, row int32) *regfile.Compact {
	if s == code.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// affineGeneric executes an instruction on the lanes, after expanding what it
// reads.
func affineGeneric(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.Plan.Materialise != 0 {
		w.expandSources(f, instr, m)
	}
	if w.check != nil && !w.check.beforeLanes(w, m) {
		return
	}
	w.onLanes(h, f, instr, m)
	if w.check != nil {
		w.check.afterLanes(w)
	}
	if instr.Plan.LeavesStale {
		w.uncompact(f, instr, m)
	}
}

// expandSources expands what the instruction reads that may be only in shadows.
func (w *warp) expandSources(f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	e := instr.Plan.Materialise
	for i, row := range instr.Sources() {
		if e>>i&1 == 0 {
			continue
		}
		slot := s.Src[i]
		if s.Side == code.AccessSide {
			slot = w.access(instr).Addr
		}
		expand(f, code.Row{Slot: slot, Row: row}, m)
	}
	switch s.Side {
	case code.CallSide:
		for _, p := range w.cta.code.Calls[instr.Side].Args {
			expand(f, code.Row{Slot: p.Slot, Row: p.Row}, m)
		}
	case code.FragmentSide:
		frags := &w.cta.code.Fragments[instr.Side]
		for _, list := range [][]code.Elem{frags.A, frags.B, frags.C, frags.E} {
			expandElems(f, list, m)
		}
	case code.TextureSide:
		for _, list := range w.cta.code.Textures[instr.Side].Sources {
			expandElems(f, list, m)
		}
	case code.AccessSide:
		switch a := w.access(instr); {
		case a.Atom != nil:
			expandElems(f, a.Atom.B, m)
			expandElems(f, a.Atom.C, m)
		case a.Store:
			expandElems(f, a.Elems, m)
		}
	}
}

// uncompact records that the lanes of m have the results of the instruction in their
// rows.
func (w *warp) uncompact(f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	if s.Side == code.FragmentSide {
		for _, e := range w.cta.code.Fragments[instr.Side].D {
			uncompactRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
		return
	}
	if s.Side == code.TextureSide {
		for _, e := range w.cta.code.Textures[instr.Side].D {
			markGeneric(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
		return
	}
	if s.Side != code.AccessSide {
		uncompactRow(f, code.Row{Slot: s.Dst, Row: instr.D}, m)
		return
	}
	for _, e := range w.access(instr).Elems {
		if e.Slot != code.NoSlot {
			uncompactRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
	}
}

// markGeneric records that the lanes of m have got a register's value in its row, in a file
// with shadows; o may be no row at all.
func markGeneric(f *regfile.File, row code.Row, m uint32) {
	switch row.Slot {
	case code.R, code.Q:
		uncompactRow(f, row, m)
	}
}

func uncompactRow(f *regfile.File, row code.Row, m uint32) {
	c := shadowOf(f, row)
	c.Mask &^= m
	c.Materialised &^= m
}

// keepCompact makes a register compact for the lanes of m.
func (w *warp) keepCompact(h int, f *regfile.File, instr *code.Instr, row code.Row, v affinetrack.Value, m uint32) {
	c := shadowOf(f, row)
	if v = v.Truncate(row.Slot.Bits()); m != regfile.Full && valueOf(c) == v {
		c.Mask |= m
	} else {
		if rest := c.Mask &^ m; rest != 0 { // few have any: which of them live is asked after that
			expand(f, row, rest&uint32(w.live>>(32*h)))
		}
		*c = regfile.Compact{Base: v.Base, Stride: v.Stride, Mask: m}
	}
	if instr.Plan.WritesBoth {
		expand(f, row, m)
	}
}

// keepProved makes a register uniform for all lanes there are.
func keepProved(f *regfile.File, instr *code.Instr, base uint64, m uint32) {
	d := code.Row{Slot: code.Signatures[instr.Op].Dst, Row: instr.D}
	*shadowOf(f, d) = regfile.Compact{Base: base, Mask: regfile.Full}
	if instr.Plan.WritesBoth {
		expand(f, d, m)
	}
}

// computeFixed computes the constants of the launch.
func (g *Grid) computeFixed() {
	k := &g.kernel.Consts
	value := func(s code.Slot, row int32) uint64 {
		switch s {
		case code.R:
			return uint64(k.Value32(row))
		case code.Q:
			return k.Value64(row)
		case code.P:
			return uint64(boolBit(k.ValueP(row)))
		}
		return 0
	}
	for i := range g.kernel.Fixed {
		instr := &g.kernel.Fixed[i].Instr
		s := &code.Signatures[instr.Op]
		var v uint64
		d := code.Row{Slot: s.Dst, Row: instr.D}
		switch s.Kind {
		case code.Arithmetic:
			v, _ = alu.Single[instr.Op](value(s.Src[0], instr.A), value(s.Src[1], instr.B), value(s.Src[2], instr.C), value(s.Src[3], instr.E), instr.Imm)
		case code.Read:
			v = g.sreg(ptx.SpecialReg(instr.Imm)) & (1<<s.Width - 1)
		case code.Load:
			a := &g.kernel.Access[instr.Side]
			v = a.Extend(mem.LoadBits(a.FixedPointer(), a.Size))
			d = code.Row{Slot: a.Elems[0].Slot, Row: a.Elems[0].Row}
		}
		if d.Slot == code.Q {
			k.Set64(d.Row, v)
		} else {
			k.Set32(d.Row, uint32(v))
		}
	}
}

// Operations are executed on single values by functions of four operands, whatever the
// operation has: what stands for others is not looked at. Here it is the last there is.

func provedUnary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a := shadowAt(f, s.Src[0], instr.A).Base
	d, _ := alu.Single[instr.Op](a, a, a, a, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedBinary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := shadowAt(f, s.Src[0], instr.A).Base, shadowAt(f, s.Src[1], instr.B).Base
	d, _ := alu.Single[instr.Op](a, b, b, b, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedTernary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c := shadowAt(f, s.Src[0], instr.A).Base, shadowAt(f, s.Src[1], instr.B).Base, shadowAt(f, s.Src[2], instr.C).Base
	d, _ := alu.Single[instr.Op](a, b, c, c, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedQuaternary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c, e := shadowAt(f, s.Src[0], instr.A).Base, shadowAt(f, s.Src[1], instr.B).Base, shadowAt(f, s.Src[2], instr.C).Base, shadowAt(f, s.Src[3], instr.E).Base
	d, _ := alu.Single[instr.Op](a, b, c, e, instr.Imm)
	keepProved(f, instr, d, m)
}

func affineUnary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a := shadowAt(f, s.Src[0], instr.A)
	v, answer := w.unit.Unary(&s.Operation, valueOf(a), a.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, a.Base, a.Base, a.Base, instr.Imm)
	}
	w.keepCompact(h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// affineBinary executes an operation on two operands.
func affineBinary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := shadowAt(f, s.Src[0], instr.A), shadowAt(f, s.Src[1], instr.B)
	v, answer := w.unit.Binary(&s.Operation, valueOf(a), valueOf(b), a.Mask&b.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, b.Base, b.Base, instr.Imm)
	}
	w.keepCompact(h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// affineCompare executes a comparison.
func affineCompare(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := shadowAt(f, s.Src[0], instr.A), shadowAt(f, s.Src[1], instr.B)
	v, answer := w.unit.Binary(&s.Operation, valueOf(a), valueOf(b), a.Mask&b.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, b.Base, b.Base, instr.Imm)
	}
	keepCompared(f, instr, v.Base, m)
}

// keepCompared gives the lanes of m the predicates of a comparison that all of them have the
// outcome of, 0 or 1.
func keepCompared(f *regfile.File, instr *code.Instr, outcome uint64, m uint32) {
	var c uint32
	if instr.Imm != alu.BoolNone {
		c = f.SrcP(instr.C)
	}
	p, q := alu.Combine(-uint32(outcome), c, instr.Imm)
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, p)
	}
	if instr.F != code.NoRow {
		f.SetP(instr.F, m, q)
	}
}

func affineTernary(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c := shadowAt(f, s.Src[0], instr.A), shadowAt(f, s.Src[1], instr.B), shadowAt(f, s.Src[2], instr.C)
	v, answer := w.unit.Ternary(&s.Operation, valueOf(a), valueOf(b), valueOf(c), a.Mask&b.Mask&c.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, c.Base, c.Base, instr.Imm)
	}
	w.keepCompact(h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// valueOf is what a shadow holds.
func valueOf(c *regfile.Compact) affinetrack.Value {
	return affinetrack.Value{Base: c.Base, Stride: c.Stride}
}

// affineMixed executes a kernel of any number of operands, predicates among them, that may
// have a carry as a second result.
func affineMixed(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	var src [4]affinetrack.Operand
	n := s.Sources()
	for i, row := range instr.Sources() {
		switch s := s.Src[i]; s {
		case code.NoSlot:
		case code.P:
			src[i] = predicateOf(f, row, m)
		default:
			c := shadowAt(f, s, row)
			src[i] = affinetrack.Operand{Value: valueOf(c), Lanes: c.Mask}
		}
	}
	v, answer := w.unit.Execute(&s.Operation, src[:n], m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		var carry uint64
		v.Base, carry = alu.Single[instr.Op](src[0].Base, src[1].Base, src[2].Base, src[3].Base, instr.Imm)
		if s.Dst2 == code.P {
			f.SetP(instr.F, m, -uint32(carry))
		}
	}
	w.keepCompact(h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// predicateOf is a predicate as an operand: compact if it is the same in all lanes of m.
func predicateOf(f *regfile.File, row int32, m uint32) affinetrack.Operand {
	p := f.SrcP(row) & m
	if p != 0 && p != m {
		return affinetrack.Operand{}
	}
	return affinetrack.Operand{Value: affinetrack.Value{Base: uint64(boolBit(p != 0))}, Lanes: regfile.Full}
}

// affineSource reads a special register, or the address of a local variable, that the plan
// knows to be uniform or affine in all warps.
func affineSource(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	w.keepCompact(h, f, instr, code.Row{Slot: code.Signatures[instr.Op].Dst, Row: instr.D}, w.sourceValue(h, instr, m), m)
}

// addressOf is the compact address of an access; nil if it has none for the lanes
// of m.
func addressOf(f *regfile.File, instr *code.Instr, a *code.Access, m uint32) *regfile.Compact {
	if a.Addr == code.NoSlot {
		return &fixedAddress
	}
	if c := shadowAt(f, a.Addr, instr.A); c.Mask&m == m {
		return c
	}
	return nil
}

var fixedAddress = regfile.Compact{Mask: regfile.Full}

// affineLoad loads from a compact address: a uniform one once, and the value is
// uniform unless memory is the thread's own; an affine one without computing the
// lanes' addresses.
func affineLoad(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.access(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	p, first, step, ok := w.memoryAt(a, valueOf(c), m)
	if !instr.Plan.LeavesStale { // else the address is uniform wherever it is compact
		if !ok {
			affineGeneric(w, h, f, instr, m)
			return
		}
		loadRows(f, a, p, first, step, m)
		return
	}
	if ok {
		for i, e := range a.Elems {
			if e.Slot != code.NoSlot {
				v := affinetrack.Value{Base: a.Extend(mem.LoadBits(unsafe.Add(p, i*a.Size), a.Size))}
				w.keepCompact(h, f, instr, code.Row{Slot: e.Slot, Row: e.Row}, v, m)
			}
		}
		return
	}
	own := mem.InWindow(a.AddressAt(c.Base), ptx.Local)
	affineGeneric(w, h, f, instr, m)
	if own || w.err != nil {
		return
	}
	for _, e := range a.Elems {
		if e.Slot != code.NoSlot {
			row := code.Row{Slot: e.Slot, Row: e.Row}
			w.keepCompact(h, f, instr, row, firstLane(f, row, m), m)
		}
	}
}

// expandElems expands registers for the lanes of m. Upper halves of 128 bits are never
// compact.
func expandElems(f *regfile.File, elems []code.Elem, m uint32) {
	for _, e := range elems {
		expand(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
	}
}

// affineStore stores to a compact address without computing the lanes' addresses.
func affineStore(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.access(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	p, first, step, ok := w.memoryAt(a, valueOf(c), m)
	if !ok {
		affineGeneric(w, h, f, instr, m)
		return
	}
	w.storeRows(f, a, p, first, step, m)
}

// affineLocal accesses local memory at a uniform address.
func affineLocal(w *warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.access(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	if a.Store {
		expandElems(f, a.Elems, m)
	}
	if !w.localRow(h, f, a, a.AddressAt(c.Base), m) {
		affineGeneric(w, h, f, instr, m)
	}
}
