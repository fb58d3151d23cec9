package lanes

// This file executes instructions in affine mode, as the plan says: on compact operands if their shadows hold the values of
// all active lanes; otherwise on the lanes, after the operands are materialised.
//
// Under divergence a result stays compact for the lanes that computed it. If it overwrites a compact value that other lanes
// still need, this value is materialised for them first (lazy expansion, Kim et al. 2013, section 4.3).

import (
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/access"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// affineGeneric materialises the operands of an instruction and executes it on the lanes.
func affineGeneric(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.Plan.Materialise != 0 {
		expandSources(w, f, instr, m)
	}
	if w.Check != nil && !w.Check.BeforeLanes(w, m) {
		return
	}
	ExecuteOnLanes(w, h, f, instr, m)
	if w.Check != nil {
		w.Check.AfterLanes(w)
	}
	if instr.Plan.LeavesStale {
		dropShadows(w, f, instr, m)
	}
}

// expandSources materialises the operands of an instruction that may be only in shadows.
func expandSources(w *machine.Warp, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	e := instr.Plan.Materialise
	for i, row := range instr.Sources() {
		if e>>i&1 == 0 {
			continue
		}
		slot := s.Src[i]
		if s.Side == code.AccessSide {
			slot = w.AccessOf(instr).Addr
		}
		machine.MaterialiseRow(f, code.Row{Slot: slot, Row: row}, m)
	}
	switch s.Side {
	case code.CallSide:
		for _, p := range w.CTA.Code.Calls[instr.Side].Args {
			machine.MaterialiseRow(f, code.Row{Slot: p.Slot, Row: p.Row}, m)
		}
	case code.FragmentSide:
		frags := &w.CTA.Code.Fragments[instr.Side]
		for _, list := range [][]code.Elem{frags.A, frags.B, frags.C, frags.E} {
			access.ExpandElems(f, list, m)
		}
	case code.TextureSide:
		for _, list := range w.CTA.Code.Textures[instr.Side].Sources {
			access.ExpandElems(f, list, m)
		}
	case code.AccessSide:
		switch a := w.AccessOf(instr); {
		case a.Atom != nil:
			access.ExpandElems(f, a.Atom.B, m)
			access.ExpandElems(f, a.Atom.C, m)
		case a.Store:
			access.ExpandElems(f, a.Elems, m)
		}
	}
}

// dropShadows records that the results of the instruction are in rows for the lanes of m, not in shadows.
func dropShadows(w *machine.Warp, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	if s.Side == code.FragmentSide {
		for _, e := range w.CTA.Code.Fragments[instr.Side].D {
			machine.UncompactRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
		return
	}
	if s.Side == code.TextureSide {
		for _, e := range w.CTA.Code.Textures[instr.Side].D {
			machine.MarkGeneric(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
		return
	}
	if s.Side != code.AccessSide {
		machine.UncompactRow(f, code.Row{Slot: s.Dst, Row: instr.D}, m)
		return
	}
	for _, e := range w.AccessOf(instr).Elems {
		if e.Slot != code.NoSlot {
			machine.UncompactRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
		}
	}
}

// keepCompact stores the compact result v for the lanes of m in the shadow of a register.
func keepCompact(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, row code.Row, v affinetrack.Value, m uint32) {
	c := machine.ShadowOf(f, row)
	if v = v.Truncate(row.Slot.Bits()); m != regfile.Full && machine.ValueOfShadow(c) == v {
		c.Mask |= m
	} else {
		if rest := c.Mask &^ m; rest != 0 { // rarely true, so live lanes are selected only inside
			machine.MaterialiseRow(f, row, rest&uint32(w.Live>>(32*h)))
		}
		*c = regfile.Compact{Base: v.Base, Stride: v.Stride, Mask: m}
	}
	if instr.Plan.WritesBoth {
		machine.MaterialiseRow(f, row, m)
	}
}

// keepProved stores a result that the plan has proved uniform, for all lanes.
func keepProved(f *regfile.File, instr *code.Instr, base uint64, m uint32) {
	d := code.Row{Slot: code.Signatures[instr.Op].Dst, Row: instr.D}
	*machine.ShadowOf(f, d) = regfile.Compact{Base: base, Mask: regfile.Full}
	if instr.Plan.WritesBoth {
		machine.MaterialiseRow(f, d, m)
	}
}

// ComputeFixed computes the constants of the launch: results of instructions that are the same in all threads.
func ComputeFixed(g *machine.Grid) {
	k := &g.Kernel.Consts
	value := func(s code.Slot, row int32) uint64 {
		switch s {
		case code.R:
			return uint64(k.Value32(row))
		case code.Q:
			return k.Value64(row)
		case code.P:
			return uint64(machine.BoolBit(k.ValueP(row)))
		}
		return 0
	}
	for i := range g.Kernel.Fixed {
		instr := &g.Kernel.Fixed[i].Instr
		s := &code.Signatures[instr.Op]
		var v uint64
		d := code.Row{Slot: s.Dst, Row: instr.D}
		switch s.Kind {
		case code.Arithmetic:
			v, _ = alu.Single[instr.Op](value(s.Src[0], instr.A), value(s.Src[1], instr.B), value(s.Src[2], instr.C), value(s.Src[3], instr.E), instr.Imm)
		case code.Read:
			v = gridSpecial(g, ptx.SpecialReg(instr.Imm)) & (1<<s.Width - 1)
		case code.Load:
			a := &g.Kernel.Access[instr.Side]
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

// alu.Single has functions of four operands. A function that needs fewer operands ignores the others; here they repeat the
// last operand.

func provedUnary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a := machine.ShadowAt(f, s.Src[0], instr.A).Base
	d, _ := alu.Single[instr.Op](a, a, a, a, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedBinary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := machine.ShadowAt(f, s.Src[0], instr.A).Base, machine.ShadowAt(f, s.Src[1], instr.B).Base
	d, _ := alu.Single[instr.Op](a, b, b, b, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedTernary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c := machine.ShadowAt(f, s.Src[0], instr.A).Base, machine.ShadowAt(f, s.Src[1], instr.B).Base, machine.ShadowAt(f, s.Src[2], instr.C).Base
	d, _ := alu.Single[instr.Op](a, b, c, c, instr.Imm)
	keepProved(f, instr, d, m)
}

func provedQuaternary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c, e := machine.ShadowAt(f, s.Src[0], instr.A).Base, machine.ShadowAt(f, s.Src[1], instr.B).Base, machine.ShadowAt(f, s.Src[2], instr.C).Base, machine.ShadowAt(f, s.Src[3], instr.E).Base
	d, _ := alu.Single[instr.Op](a, b, c, e, instr.Imm)
	keepProved(f, instr, d, m)
}

func affineUnary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a := machine.ShadowAt(f, s.Src[0], instr.A)
	v, answer := w.Unit.Unary(&s.Operation, machine.ValueOfShadow(a), a.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, a.Base, a.Base, a.Base, instr.Imm)
	}
	keepCompact(w, h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// affineBinary executes an operation on two operands.
func affineBinary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := machine.ShadowAt(f, s.Src[0], instr.A), machine.ShadowAt(f, s.Src[1], instr.B)
	v, answer := w.Unit.Binary(&s.Operation, machine.ValueOfShadow(a), machine.ValueOfShadow(b), a.Mask&b.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, b.Base, b.Base, instr.Imm)
	}
	keepCompact(w, h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// affineCompare executes a comparison.
func affineCompare(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b := machine.ShadowAt(f, s.Src[0], instr.A), machine.ShadowAt(f, s.Src[1], instr.B)
	v, answer := w.Unit.Binary(&s.Operation, machine.ValueOfShadow(a), machine.ValueOfShadow(b), a.Mask&b.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, b.Base, b.Base, instr.Imm)
	}
	keepCompared(f, instr, v.Base, m)
}

// keepCompared writes the predicates of a comparison with the same outcome, 0 or 1, in all lanes of m.
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

func affineTernary(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	a, b, c := machine.ShadowAt(f, s.Src[0], instr.A), machine.ShadowAt(f, s.Src[1], instr.B), machine.ShadowAt(f, s.Src[2], instr.C)
	v, answer := w.Unit.Ternary(&s.Operation, machine.ValueOfShadow(a), machine.ValueOfShadow(b), machine.ValueOfShadow(c), a.Mask&b.Mask&c.Mask, m)
	switch answer {
	case affinetrack.PerLane:
		affineGeneric(w, h, f, instr, m)
		return
	case affinetrack.Scalar:
		v.Base, _ = alu.Single[instr.Op](a.Base, b.Base, c.Base, c.Base, instr.Imm)
	}
	keepCompact(w, h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// affineMixed executes an operation with up to four operands, some of which may be predicates. It may have a carry as
// second result.
func affineMixed(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &code.Signatures[instr.Op]
	var src [4]affinetrack.Operand
	n := s.Sources()
	for i, row := range instr.Sources() {
		switch s := s.Src[i]; s {
		case code.NoSlot:
		case code.P:
			src[i] = predicateOf(f, row, m)
		default:
			c := machine.ShadowAt(f, s, row)
			src[i] = affinetrack.Operand{Value: machine.ValueOfShadow(c), Lanes: c.Mask}
		}
	}
	v, answer := w.Unit.Execute(&s.Operation, src[:n], m)
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
	keepCompact(w, h, f, instr, code.Row{Slot: s.Dst, Row: instr.D}, v, m)
}

// predicateOf returns a predicate as an operand: compact if it is the same in all lanes of m.
func predicateOf(f *regfile.File, row int32, m uint32) affinetrack.Operand {
	p := f.SrcP(row) & m
	if p != 0 && p != m {
		return affinetrack.Operand{}
	}
	return affinetrack.Operand{Value: affinetrack.Value{Base: uint64(machine.BoolBit(p != 0))}, Lanes: regfile.Full}
}

// affineSource reads a special register, or the address of a local variable, that is uniform or affine in every warp.
func affineSource(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	keepCompact(w, h, f, instr, code.Row{Slot: code.Signatures[instr.Op].Dst, Row: instr.D}, sourceValue(w, h, instr, m), m)
}

// addressOf returns the compact address of an access; nil if the address is not compact for all lanes of m.
func addressOf(f *regfile.File, instr *code.Instr, a *code.Access, m uint32) *regfile.Compact {
	if a.Addr == code.NoSlot {
		return &fixedAddress
	}
	if c := machine.ShadowAt(f, a.Addr, instr.A); c.Mask&m == m {
		return c
	}
	return nil
}

// fixedAddress is the compact address of an access without an address register: the offset of the access alone.
var fixedAddress = regfile.Compact{Mask: regfile.Full}

// affineLoad loads from a compact address. At a uniform address it reads once, and the result is uniform, except from local
// memory. At an affine address it computes no address per lane.
func affineLoad(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	p, first, step, ok := access.MemoryAt(w, a, machine.ValueOfShadow(c), m)
	if !instr.Plan.LeavesStale { // the address may be affine; with LeavesStale a compact address is uniform
		if !ok {
			affineGeneric(w, h, f, instr, m)
			return
		}
		access.LoadRows(f, a, p, first, step, m)
		return
	}
	if ok {
		for i, e := range a.Elems {
			if e.Slot != code.NoSlot {
				v := affinetrack.Value{Base: a.Extend(mem.LoadBits(unsafe.Add(p, i*a.Size), a.Size))}
				keepCompact(w, h, f, instr, code.Row{Slot: e.Slot, Row: e.Row}, v, m)
			}
		}
		return
	}
	own := mem.InWindow(a.AddressAt(c.Base), ptx.Local)
	affineGeneric(w, h, f, instr, m)
	if own || w.Err != nil {
		return
	}
	for _, e := range a.Elems {
		if e.Slot != code.NoSlot {
			row := code.Row{Slot: e.Slot, Row: e.Row}
			keepCompact(w, h, f, instr, row, machine.FirstLaneValue(f, row, m), m)
		}
	}
}

// affineStore stores to a compact address. It computes no address per lane.
func affineStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	p, first, step, ok := access.MemoryAt(w, a, machine.ValueOfShadow(c), m)
	if !ok {
		affineGeneric(w, h, f, instr, m)
		return
	}
	access.StoreRows(w, f, a, p, first, step, m)
}

// affineLocal accesses local memory at a uniform address.
func affineLocal(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	c := addressOf(f, instr, a, m)
	if c == nil {
		affineGeneric(w, h, f, instr, m)
		return
	}
	if a.Store {
		access.ExpandElems(f, a.Elems, m)
	}
	if !access.LocalRow(w, h, f, a, a.AddressAt(c.Base), m) {
		affineGeneric(w, h, f, instr, m)
	}
}
