package harness

// This file tests lane-by-lane operations.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
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
		instr.Imm = imms[t.IntN(len(imms))]
		switch {
		case op == code.CvtPack:
			instr.Imm = uint64(2<<t.IntN(4) | t.IntN(8)<<8) // 2 to 16 bits, signed or unsigned
		case strings.Contains(op.String(), ".any.") && t.IntN(2) == 0:
			instr.Imm = uint64(t.IntN(4) | t.IntN(256)<<8) // alu.Modifiers
		}
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
