package harness

// This file tests lane-by-lane operations.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// triesPerSet is the number of programs for each set of constant operands and each mask in a round.
const triesPerSet = 2

// testOperation tests an operation with each set of constant operands, for all lanes and for some. It returns false if there is
// no machine code or a program differed.
func (t *tester) testOperation(op code.Op, round int) bool {
	s := op.Signature()
	t.SetOperation(op)
	t.constantMask = 1<<32 - 1
	if s.Width == 8 || s.Width == 16 {
		t.constantMask = 1<<s.Width - 1
	}
	any := false
	if round == 0 && !t.testAllNumbers(op) {
		return false
	}
	for n := range 1 << s.Sources() * triesPerSet {
		set := n / triesPerSet
		for _, m := range []uint32{regfile.Full, t.mask(n + 3*round)} {
			p := t.newOperation(op, set, round)
			c, ctx := t.assemble(p, m)
			if c == nil {
				continue
			}
			any = true
			instr := p.Instrs[0]
			values := p.operands(&instr, s)
			want := p.copied()
			alu.Vec[op](want, &instr, m)
			diff := t.execute(c, ctx, p, want, true)
			if diff != "" {
				t.Differs = fmt.Sprintf("%v, lanes %#x, d %d f %d imm %#x of %v: %s", op, m, instr.D, instr.F, instr.Imm, values, diff)
				return false
			}
		}
	}
	return any
}

// halfImms has the modifiers of operations on f16 and bf16: none, each one, and all roundings.
var halfImms = []uint64{
	0, alu.Modifiers{FTZ: true}.Imm(), alu.Modifiers{Sat: true}.Imm(), alu.Modifiers{NaN: true}.Imm(), alu.Modifiers{XorSign: true, Abs: true}.Imm(),
	alu.Modifiers{Relu: true}.Imm(), alu.Modifiers{OutOfBounds: true}.Imm(), 1, 2, 3,
}

// narrowImms has values of Imm of the conversions between f32, f16 or bf16 and narrower formats, by operation.
var narrowImms = func() map[code.Op][]uint64 {
	m := map[code.Op][]uint64{}
	types := []ptx.Type{ptx.F32, ptx.F16, ptx.BF16, ptx.TF32, ptx.E5M2, ptx.E4M3, ptx.E3M2, ptx.E2M3, ptx.E2M1, ptx.UE5M3}
	for i := range len(types) * len(types) << 8 {
		flag := func(n int) bool { return i>>n&1 != 0 }
		pair := i >> 8
		spec := alu.ConvertSpec{
			Dst: types[pair/len(types)], Src: types[pair%len(types)], Rnd: fp.Rounding(i & 3),
			FTZ: flag(2), Sat: flag(3), Relu: flag(4), SatFinite: flag(5), PlusZero: flag(6),
		}
		if flag(7) && spec.Rnd == fp.RN {
			spec.Rnd = fp.RNA
		}
		imm, ok := alu.NarrowImm(spec)
		switch {
		case !ok:
		case spec.Src == ptx.F32:
			if random := spec; spec.Rnd == fp.RN && spec.Dst != ptx.TF32 {
				random.Rnd = fp.RS
				imm, _ := alu.NarrowImm(random)
				m[code.NarrowRandomF32] = append(m[code.NarrowRandomF32], imm)
			}
			m[code.NarrowF32] = append(m[code.NarrowF32], imm)
			m[code.NarrowPairF32] = append(m[code.NarrowPairF32], imm)
		case spec.Dst == ptx.F16 || spec.Dst == ptx.BF16:
			m[code.WidenPairB32] = append(m[code.WidenPairB32], imm)
		default:
			m[code.NarrowPairB32] = append(m[code.NarrowPairB32], imm)
		}
	}
	return m
}()

// allNumbersImms returns the values of Imm with which testAllNumbers tests an operation: all modifiers of operations on f16 and
// bf16, and some of conversions, which include a value for each loop. It returns nil for all other operations.
func (t *tester) allNumbersImms(op code.Op) (imms []uint64) {
	name := op.String()
	switch {
	case strings.Contains(name, ".any.f16") || strings.Contains(name, ".any.bf16"):
		return halfImms
	case strings.HasPrefix(name, "cvt.f32.") && strings.HasSuffix(name, "f16"), strings.HasPrefix(name, "cvt.rn.") && strings.Contains(name, "f16") && strings.HasSuffix(name, ".f32"):
		return halfImms[:1]
	}
	if len(narrowImms[op]) > 0 && op != code.WidenPairB32 { // the loops for single modifiers
		from := []ptx.Type{ptx.F32}
		if op == code.NarrowPairB32 {
			from = []ptx.Type{ptx.F16, ptx.BF16}
		}
		for _, src := range from {
			for _, dst := range []ptx.Type{ptx.E5M2, ptx.E4M3, ptx.E2M1} {
				imm, _ := alu.NarrowImm(alu.ConvertSpec{Dst: dst, Src: src, SatFinite: true})
				imms = append(imms, imm)
			}
		}
	}
	for range min(6, len(narrowImms[op])) {
		imms = append(imms, narrowImms[op][t.IntN(len(narrowImms[op]))])
	}
	return imms
}

// testAllNumbers tests an operation with all 16-bit numbers as its first operand: in both halves of pairs, and as the upper half of
// f32. The other operands are corners and random numbers. All lanes execute it, and in a quarter of the programs a random half of the
// lanes executes it after that. It reports whether no program differed.
func (t *tester) testAllNumbers(op code.Op) bool {
	s := op.Signature()
	for _, imm := range t.allNumbersImms(op) {
		p := t.newSingle(&code.Program{}, code.Instr{Op: op, D: 3, F: code.NoRow, A: 0, B: 1, C: 2, Imm: imm})
		lanes := []uint32{regfile.Full, t.Uint32() | 1}
		var c *native.Code
		for _, m := range lanes {
			if c, _ = t.assemble(p, m); c == nil {
				return true
			}
		}
		lower := t.Uint32() // of f32
		for first := 0; first < 1<<16; first += regfile.Lanes {
			for row := range int32(3) {
				for lane := range regfile.Lanes {
					v := uint32(t.Value())
					if row == 0 {
						v = uint32(first + lane)
						if strings.HasSuffix(op.String(), ".f32") && !strings.Contains(op.String(), ".any.") {
							v = v<<16 | lower>>(16+lane%16)
						} else {
							v |= ^v << 16
						}
					}
					if s.Width == 16 {
						v &= 0xffff
					}
					p.file.Row32(row)[lane] = v
				}
			}
			instr := p.Instrs[0]
			for _, m := range lanes[:1+t.IntN(4)/3] {
				values := p.operands(&instr, s)
				want := p.copied()
				alu.Vec[op](want, &instr, m)
				ctx := &native.Context{Mask: m, ReconvergeAt: -1, CountLimit: countLimit}
				c.Ready(ctx)
				if diff := t.execute(c, ctx, p, want, true); diff != "" {
					t.Differs = fmt.Sprintf("%v, all numbers, lanes %#x, imm %#x of %v: %s", op, m, imm, values, diff)
					return false
				}
			}
		}
	}
	return true
}

// operands describes the values of an instruction's source operands, for messages.
func (p *program) operands(instr *code.Instr, s *code.Signature) (list []string) {
	for i, row := range instr.Sources() {
		switch s.Src[i] {
		case code.R:
			list = append(list, fmt.Sprintf("%d: %#x", row, *p.file.Src32(row)))
		case code.Q:
			list = append(list, fmt.Sprintf("%d: %#x", row, *p.file.Src64(row)))
		case code.P:
			list = append(list, fmt.Sprintf("%d: %#x", row, p.file.SrcP(row)))
		}
	}
	return list
}

// imms has values of Imm for general forms of operations. The low byte is the size for cvt.pack, which is not 0 for signed
// numbers.
var imms = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x96, 0xca, 0xff, 0x101, 0x108, 0x308}

// bools has the boolean operations between a comparison's outcome and a predicate.
var bools = []uint64{alu.BoolNone, alu.BoolAnd, alu.BoolOr, alu.BoolXor, alu.BoolAnd | alu.ComplementC, alu.BoolOr | alu.ComplementC, alu.BoolXor | alu.ComplementC}

// Imm returns a random value of Imm for an operation that is no comparison.
func (v *Values) Imm(op code.Op) uint64 {
	switch {
	case op == code.CvtPack:
		return uint64(2<<v.IntN(4) | v.IntN(8)<<8) // 2 to 16 bits, signed or unsigned
	case len(narrowImms[op]) > 0:
		return narrowImms[op][v.IntN(len(narrowImms[op]))]
	case strings.HasPrefix(op.String(), "video") || op == code.VmadB32:
		imm := uint64(v.Uint32()) & (1<<29 - 1)
		for _, log := range []int{6, 12, 18} { // the fields Log of alu.Video are less than 3
			if imm>>log&3 == 3 {
				imm &^= 1 << log
			}
		}
		return imm
	case strings.Contains(op.String(), ".any.") && v.IntN(2) == 0:
		return uint64(v.IntN(4) | v.IntN(256)<<8) // alu.Modifiers
	}
	return imms[v.IntN(len(imms))]
}

// newOperation returns a random program of an operation. Source i is a constant if bit i of set is 1.
func (t *tester) newOperation(op code.Op, set, round int) *program {
	p, s := &code.Program{}, op.Signature()
	instr := code.Instr{Op: op, D: t.Int32N(5), F: code.NoRow}
	for i, to := range []*int32{&instr.A, &instr.B, &instr.C, &instr.E} {
		t.drawSource(p, to, s.Src[i], set>>i&1 != 0)
	}
	if s.Dst2 == code.P {
		instr.F = (instr.D + 1) % 5
	}
	if s.Compares() {
		instr.Imm = bools[(set+round)%len(bools)]
		switch t.IntN(3) {
		case 0:
			instr.F = code.NoRow
		case 1:
			instr.D = code.NoRow
		}
	} else {
		instr.Imm = t.Imm(op)
	}
	prog := t.newSingle(p, instr)
	if slices.Contains([]uint8{8, 16}, s.Width) { // rows keep values zero-extended
		for i, row := range instr.Sources() {
			if s.Src[i] == code.R && row >= 0 {
				for lane := range regfile.Lanes {
					prog.file.Row32(row)[lane] &= 1<<s.Width - 1
				}
			}
		}
	}
	return prog
}
