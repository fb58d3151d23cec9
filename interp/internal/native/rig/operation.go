package rig

// This file tries operations that compute lane by lane.

import (
	"fmt"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// tries are of each set, in a round.
const tries = 2

// operation tries an operation with each set of operands constant: for all lanes, and for some.
func (t *trier) operation(op code.Op, round int) bool {
	s := op.Signature()
	t.For(op)
	t.width = 1<<32 - 1
	if s.Width == 8 || s.Width == 16 {
		t.width = 1<<s.Width - 1
	}
	any := false
	for n := range 1 << s.Sources() * tries {
		set := n / tries
		for _, m := range []uint32{regfile.Full, t.mask(n + 3*round)} {
			p := t.operationProgram(op, set, round)
			c, ctx := t.begin(p, m)
			if c == nil {
				continue
			}
			any = true
			in := p.Instrs[0]
			values := p.operands(&in, s)
			want := p.copied()
			alu.Vec[op](want, &in, m)
			diff := t.execute(c, ctx, p, want, true)
			if diff != "" {
				t.Differs = fmt.Sprintf("%v, lanes %#x, d %d f %d imm %#x of %v: %s", op, m, in.D, in.F, in.Imm, values, diff)
				return false
			}
		}
	}
	return any
}

// operands are the rows of an instruction's operands, for messages.
func (p *program) operands(in *code.Instr, s *code.Signature) (list []string) {
	for i, row := range in.Sources() {
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

// imms are values of Imm that general forms of operations may have. The low byte is the size of cvt.pack, which of signed
// numbers is not 0.
var imms = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x96, 0xca, 0xff, 0x101, 0x108, 0x308}

// bools are what comparisons do with their outcomes.
var bools = []uint64{alu.BoolNone, alu.BoolAnd, alu.BoolOr, alu.BoolXor, alu.BoolAnd | alu.ComplementC, alu.BoolOr | alu.ComplementC, alu.BoolXor | alu.ComplementC}

// operationProgram makes a program of an operation; the sources of the set are constants.
func (t *trier) operationProgram(op code.Op, set, round int) *program {
	p, s := &code.Program{}, op.Signature()
	in := code.Instr{Op: op, D: t.Int32N(5), F: code.NoRow}
	for i, to := range []*int32{&in.A, &in.B, &in.C, &in.E} {
		t.source(p, to, s.Src[i], set>>i&1 != 0)
	}
	if s.Dst2 == code.P {
		in.F = (in.D + 1) % 5
	}
	if s.Compares() {
		in.Imm = bools[(set+round)%len(bools)]
		switch t.IntN(3) {
		case 0:
			in.F = code.NoRow
		case 1:
			in.D = code.NoRow
		}
	} else {
		in.Imm = imms[t.IntN(len(imms))]
		switch {
		case op == code.CvtPack:
			in.Imm = uint64(2<<t.IntN(4) | t.IntN(8)<<8) // of 2 to 16 bits, with signs or without
		case strings.Contains(op.String(), ".any.") && t.IntN(2) == 0:
			in.Imm = uint64(t.IntN(4) | t.IntN(256)<<8) // alu.Modifiers
		}
	}
	made := t.single(p, in)
	if slices.Contains([]uint8{8, 16}, s.Width) { // rows keep values zero-extended
		for i, row := range in.Sources() {
			if s.Src[i] == code.R && row >= 0 {
				for lane := range regfile.Lanes {
					made.file.Row32(row)[lane] &= 1<<s.Width - 1
				}
			}
		}
	}
	return made
}
