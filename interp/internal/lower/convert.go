package lower

import (
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/probe"
	"gemu/ptx"
)

// truncations has the conversions to integers of 8 and 16 bits, from 32 and 64 bits.
var truncations = [2][2]code.Op{{code.CvtU8U32, code.CvtU8U64}, {code.CvtU16U32, code.CvtU16U64}}

func lowerCvt(l *lowerer, instr *ptx.Instr) {
	dt, at := instr.Conversion()
	spec := alu.ConvertSpec{
		Dst: dt, Src: at, Rnd: lookUp(roundings, instr.Slot("rnd")), Integral: strings.HasSuffix(instr.Slot("rnd"), "i"),
		FTZ: instr.Has("ftz"), Sat: instr.Has("sat"), Relu: instr.Has("relu"), SatFinite: instr.Has("satfinite"), PlusZero: instr.Has("pzo"),
	}
	switch {
	case instr.Has("rs"):
		spec.Rnd = fp.RS
	case instr.Has("rna"):
		spec.Rnd = fp.RNA
	}
	if _, n := dt.Elements(); n > 1 {
		l.convertPacked(instr, spec)
		return
	}
	d, finish := l.result(&instr.Ops[0], dt)
	a := l.source(&instr.Ops[1], at, code.SlotOf(at))
	conversion := code.Instr{Op: code.OpOf(instr.Variant), D: d, A: a}
	if spec.Sat && dt.IsInt() && dt.Bits() <= 16 && at.IsInt() {
		conversion.Op, conversion.A = bySlot(code.SlotOf(at), truncations[dt.Bits()/8-1][0], truncations[dt.Bits()/8-1][1]), l.saturate(a, dt, at)
	}
	if imm, ok := alu.NarrowImm(spec); ok && at == ptx.F32 && conversion.Op == code.Invalid {
		conversion.Op, conversion.Imm = code.NarrowF32, imm
	}
	if conversion.Op == code.Invalid {
		conversion.Op, conversion.Imm = convertOps[code.SlotOf(dt)][code.SlotOf(at)], spec.Imm()
	}
	l.emit(conversion)
	finish()
}

// convertPacked emits a cvt with a packed result. The first source becomes the uppermost number.
func (l *lowerer) convertPacked(instr *ptx.Instr, spec alu.ConvertSpec) {
	d, packed := instr.Arg("d"), spec.Src
	to, n := spec.Dst.Elements()
	from, sources := packed.Elements()
	width := spec.Dst.Bits() / n
	spec.Dst, spec.Src = to, from
	name := "c"
	if sources > 1 {
		name = "b"
	}
	second := new(ptx.Operand) // random bits or scales; NoOperand if there are none
	if i := instr.Form.Operand(name); i >= 0 {
		second = &instr.Ops[i]
	}
	narrowImm, isNarrow := alu.NarrowImm(spec)
	switch {
	case second.Kind != ptx.NoOperand:
	case isNarrow:
		l.convertPair(instr, spec, narrowImm, packed)
		return
	case l.convertPowers(instr, spec, packed):
		return
	}
	parts := make([]int32, n)
	for i := range parts {
		var a int32
		switch o := instr.Arg("a"); {
		case sources > 1:
			a = l.extract(l.source(o, packed, code.R), (n-1-i)*packed.Bits()/n, packed.Bits()/n)
		case o.Kind == ptx.VecOperand:
			a = l.source(&o.Elems()[i], from, code.R)
		case i == 0:
			a = l.source(o, from, code.R)
		default:
			a = l.source(instr.Arg("b"), from, code.R)
		}
		o := code.Instr{Op: code.ConvertB32B32, A: a}
		switch {
		case second.Kind == ptx.NoOperand:
		case spec.Rnd == fp.RS:
			o.Op, o.B = code.NarrowRandomF32, l.random(l.source(second, ptx.B32, code.R), to, n, i)
		case instr.Has("scaled::n1::ue8m0"):
			o.Op, o.B, spec.Flush = code.ConvertWithB32, l.extract(l.source(second, ptx.B8, code.R), 0, 8), true
		default:
			o.Op, o.B = code.ConvertWithB32, l.extract(l.source(second, ptx.B16, code.R), 8*(n-1-i), 8)
		}
		spec.HasSecond = o.Op == code.ConvertWithB32
		o.D, o.Imm = l.newTemp(code.R), spec.Imm()
		if o.Op == code.NarrowRandomF32 {
			o.Imm = narrowImm
		}
		l.emit(o)
		parts[i] = o.D
	}
	row := l.target(d, code.R)
	if width == 16 {
		l.emit(code.Instr{Op: code.PackB32, D: row, A: parts[1], B: parts[0]})
		return
	}
	result := l.constant(code.R, 0)
	for i, part := range parts {
		l.emit(code.Instr{Op: code.InsertB32, D: row, A: result, B: part, Imm: uint64((n - 1 - i) * width)})
		result = row
	}
}

// convertPair emits a single operation for a cvt whose result is a pair of numbers, without random bits and without scales. If the
// variant has an operation in package code, such as cvt.rn.f16x2.f32, it emits this operation. Otherwise imm describes the formats and
// the rounding, and the operation converts a pair of .f32, widens a pair, or narrows a pair of 16-bit numbers.
func (l *lowerer) convertPair(instr *ptx.Instr, spec alu.ConvertSpec, imm uint64, packed ptx.Type) {
	o := code.Instr{Imm: imm, A: l.source(instr.Arg("a"), packed, code.R)}
	switch own := code.OpOf(instr.Variant); {
	case own != code.Invalid:
		o.Op, o.Imm, o.B = own, 0, l.source(instr.Arg("b"), packed, code.R)
	case spec.Src == ptx.F32:
		o.Op, o.B = code.NarrowPairF32, l.source(instr.Arg("b"), packed, code.R)
	case spec.Dst == ptx.F16 || spec.Dst == ptx.BF16:
		o.Op = code.WidenPairB32
	default:
		o.Op = code.NarrowPairB32
	}
	o.D = l.target(instr.Arg("d"), code.R)
	l.emit(o)
}

// convertPowers emits a single operation for a cvt of a pair from or to .ue8m0, powers of two. It reports whether instr is one.
func (l *lowerer) convertPowers(instr *ptx.Instr, spec alu.ConvertSpec, packed ptx.Type) bool {
	var o code.Instr
	switch {
	case spec.Src == ptx.UE8M0 && spec.Dst == ptx.BF16:
		o.Op = code.WidenPowersB32
	case spec.Dst == ptx.UE8M0 && spec.Src == ptx.F32:
		o.Op, o.B = code.PowersPairF32, l.source(instr.Arg("b"), packed, code.R)
	case spec.Dst == ptx.UE8M0 && spec.Src == ptx.BF16:
		o.Op = code.PowersPairB32
	default:
		return false
	}
	if o.Op != code.WidenPowersB32 && spec.Rnd == fp.RP {
		o.Imm |= alu.PowersUp
	}
	if spec.SatFinite {
		o.Imm |= alu.PowersSatFinite
	}
	o.A, o.D = l.source(instr.Arg("a"), packed, code.R), l.target(instr.Arg("d"), code.R)
	l.emit(o)
	return true
}

// extensions has the operations that extend the low bits of a row to 32 bits.
var extensions = map[ptx.Type]code.Op{ptx.S8: code.CvtS32S8, ptx.S16: code.CvtS32S16, ptx.U8: code.CvtU8U32, ptx.U16: code.CvtU16U32}

// saturate emits operations for a cvt.sat from an integer to one of at most 16 bits, and returns the row of the result.
func (l *lowerer) saturate(a int32, dt, at ptx.Type) int32 {
	if op, ok := extensions[at]; ok { // the register may be wider than the source
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: op, D: d, A: a})
		a = d
	}
	s, low, high := code.SlotOf(at), int64(0), int64(1)<<dt.Bits()-1
	if dt.IsSigned() {
		low, high = -(high+1)/2, high/2
	}
	if at.IsSigned() {
		a = l.emitBinary(bySlot(s, code.MaxS32, code.MaxS64), s, a, l.constant(s, uint64(low)))
		a = l.emitBinary(bySlot(s, code.MinS32, code.MinS64), s, a, l.constant(s, uint64(high)))
	} else {
		a = l.emitBinary(bySlot(s, code.MinU32, code.MinU64), s, a, l.constant(s, uint64(high)))
	}
	return a
}

// extract returns a row with width bits of a row, the lowest of which is bit first.
func (l *lowerer) extract(row int32, first, width int) int32 {
	d := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(first | width<<8)})
	return d
}

// random returns a row with the random bits by which cvt.rs rounds number i of n, counted from 0; row contains 32 random
// bits. With n = 2, each number has 16 of them. With n = 4, two numbers share 16 bits, and the first of the two uses them
// in reverse order. The 16 bits for .e2m1 come from both halves of row. docs/design/arithmetic.md gives the source.
func (l *lowerer) random(row int32, to ptx.Type, n, i int) int32 {
	if n == 2 {
		return l.extract(row, 16*(1-i), alu.RandomBits(to))
	}
	upper := 1 - i/2
	bits := int32(0)
	if to == ptx.E2M1 {
		bits = l.newTemp(code.R)
		l.emit(code.Instr{Op: code.InsertB32, D: bits, A: l.extract(row, 8*upper, 8), B: l.extract(row, 16+8*upper, 8), Imm: 8})
	} else {
		bits = l.extract(row, 16*upper, 16)
	}
	if i%2 == 0 {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: code.BrevB32, D: d, A: bits})
		bits = l.extract(d, 16, 16)
	}
	return bits
}

// lowerMixed lowers arithmetic on packed numbers of different types. A source whose type the opcode does not name has the
// type of the result.
func lowerMixed(l *lowerer, instr *ptx.Instr) {
	types := instr.Types()
	spec := alu.MixedSpec{Op: instr.Mnemonic(), Dst: types[0], Rnd: lookUp(roundings, instr.Slot("rnd")), FTZ: instr.Has("ftz"), SatFinite: instr.Has("satfinite")}
	if instr.Has("rz") {
		spec.Rnd = fp.RZ
	}
	for len(types) < len(instr.Ops) {
		types = append(types, types[0])
	}
	spec.A, spec.B = types[1], types[2]
	var o code.Instr
	switch d, a := code.SlotOf(types[0]), code.SlotOf(types[1]); {
	case d == code.Q:
		o.Op = code.MixedB64B32
	case a == code.Q:
		o.Op = code.MixedB32B64
	default:
		o.Op = code.MixedB32B32
	}
	s := o.Op.Signature()
	rows := []*int32{&o.A, &o.B, &o.C}
	for i := range s.Sources() {
		if i+1 < len(instr.Ops) {
			*rows[i] = l.source(&instr.Ops[i+1], types[i+1], s.Src[i])
		} else {
			o.C = o.B // there is no third source
		}
	}
	if len(instr.Ops) > 3 {
		spec.C = types[3]
	}
	o.D, o.Imm = l.target(&instr.Ops[0], s.Dst), spec.Imm()
	l.emit(o)
}

// convertOps contains the conversions that read all properties from Imm, by the slots of result and source.
var convertOps = [...][code.Q + 1]code.Op{
	code.R: {code.R: code.ConvertB32B32, code.Q: code.ConvertB32B64},
	code.Q: {code.R: code.ConvertB64B32, code.Q: code.ConvertB64B64},
}

// lowerCvtPack lowers cvt.pack. Bits 0 to 7 of Imm are the width of the result's elements; bits 8 and 9 are set if the
// result and the sources are signed; bit 10 is set if the result has two elements.
func lowerCvtPack(l *lowerer, instr *ptx.Instr) {
	imm := uint64(16)
	if dt := instr.Slot("dtype"); dt[1:] != "16" {
		imm = uint64(dt[1] - '0')
	} else {
		imm |= 1 << 10
	}
	if instr.Slot("dtype")[0] == 's' {
		imm |= 1 << 8
	}
	if instr.Slot("stype") == "s32" {
		imm |= 1 << 9
	}
	o := code.Instr{Op: code.CvtPack, A: l.source(&instr.Ops[1], ptx.B32, code.R), B: l.source(&instr.Ops[2], ptx.B32, code.R), Imm: imm}
	o.C = o.A
	if len(instr.Ops) > 3 {
		o.C = l.source(&instr.Ops[3], ptx.B32, code.R)
	}
	o.D = l.target(&instr.Ops[0], code.R)
	l.emit(o)
}

// lowerCvta lowers cvta. Addresses in global, constant and parameter memory are generic addresses already. Generic
// addresses of shared and local memory are the address in the state space plus the base of the space's window.
func lowerCvta(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	d := l.target(&instr.Ops[0], s)
	a := l.source(&instr.Ops[1], instr.Type(), s)
	base := uint64(0)
	switch space, _ := instr.Space(); space {
	case ptx.Shared:
		base = probe.SharedWindow
	case ptx.Local:
		base = probe.LocalWindow
	}
	if base == 0 {
		l.emit(code.Instr{Op: movOp(s), D: d, A: a})
		return
	}
	if instr.Has("to") {
		base = -base
	}
	l.emit(code.Instr{Op: addOp(s), D: d, A: a, B: l.constant(s, base)})
}
