package random

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gemu/ptx"
)

// program writes random PTX: straight-line code from the instruction table, guards, ifs and loops whose conditions
// differ between lanes.
type program struct {
	strings.Builder
	variants []*ptx.Variant // opcodes to choose from

	r      *rand.Rand
	labels int
	loops  int
	budget int

	constants  int  // operands are constants with probability (constants + 1) in six
	documented bool // restricts operands to the manual's syntax
}

// Numbers of registers of a random program, by width.
const (
	nPred = 4
	nWide = 6  // registers of 64 bits
	nWord = 10 // registers of 32 bits
	nHalf = 6  // registers of 16 bits
)

// Stride is the number of bytes read and written by a thread: its registers, the predicates last.
const Stride = 8*nWide + 4*nWord + 4*nHalf + 4*nPred

// unwritten matches opcodes that need registers which random programs do not have.
var unwritten = regexp.MustCompile(`\.(e2m1x2|b128|scaled::n1::ue8m0)|\.[us]8\.bf16|\.bf16\.[us]8`)

// families are the families of instructions in random programs: they compute, and do not depend on addresses.
var families = []ptx.Family{
	ptx.FamilyCompute, ptx.FamilyConvert, ptx.FamilyPack, ptx.FamilyMixed, ptx.FamilySetp, ptx.FamilySet, ptx.FamilySlct, ptx.FamilyLop3,
	ptx.FamilyVideo, ptx.FamilyVideo2, ptx.FamilyVideo4, ptx.FamilyVmad,
}

// Variants returns the opcodes of random programs: all pure opcodes that run and have the same result to the bit in all
// engines.
func Variants(runs func(v *ptx.Variant) bool) (list []*ptx.Variant) {
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			if !f.Effects.HasAll(ptx.Pure) || f.Abolished() || !slices.Contains(families, f.Family) {
				continue
			}
			for _, v := range f.Variants() {
				if v.Has("approx") || v.Has("full") || unwritten.MatchString(v.Text) || !runs(v) {
					continue
				}
				list = append(list, v)
			}
		}
	}
	return list
}

func (p *program) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// reg returns a random register of the type's width.
func (p *program) reg(t ptx.Type) string {
	switch bits := t.Bits(); {
	case t == ptx.Pred:
		return fmt.Sprintf("%%p%d", p.r.IntN(nPred))
	case bits <= 16:
		return fmt.Sprintf("%%h%d", p.r.IntN(nHalf))
	case bits == 32:
		return fmt.Sprintf("%%w%d", p.r.IntN(nWord))
	}
	return fmt.Sprintf("%%d%d", p.r.IntN(nWide))
}

var corners = []uint64{0, 1, 2, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x00800000, 0x7f7fffff, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x0010000000000000, 1}

// value returns a random number, often from corners.
func (p *program) value() uint64 {
	switch p.r.IntN(4) {
	case 0:
		return p.r.Uint64()
	case 1:
		return p.r.Uint64() >> p.r.IntN(64)
	}
	v := corners[p.r.IntN(len(corners))]
	if p.r.IntN(3) == 0 {
		v = v<<32 | corners[p.r.IntN(len(corners))]
	}
	return v
}

// writeInstr writes an instruction with some opcode of the list.
func (p *program) writeInstr(variants []*ptx.Variant) {
	v := variants[p.r.IntN(len(variants))]
	if ops := p.operands(v); ops != nil {
		p.printf("\t%s%s %s;\n", p.guard(5), v.Text, strings.Join(ops, ", "))
	}
}

// guard returns a guard with probability 1 in n; else "".
func (p *program) guard(n int) string {
	if p.r.IntN(n) > 0 {
		return ""
	}
	return "@" + pickOne(p.r, "", "!") + p.reg(ptx.Pred) + " "
}

func pickOne[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// operands chooses random operands, and joins the operands of a pair; it returns nil if there are no suitable
// registers.
func (p *program) operands(v *ptx.Variant) (ops []string) {
	for i, o := range v.Form.Operands {
		t := v.OperandType(i)
		text := ""
		switch {
		case o.Optional && !v.HasModifierOf(&o) && (!o.Pair || p.r.IntN(2) == 0):
			continue
		case o.Const:
			text = fmt.Sprint(p.r.IntN(256))
		case o.Vector:
			return nil
		case o.Name == "b" && v.Form.Effects.HasAll(ptx.Partial) && v.Form.Affine == ptx.AffineUniform:
			text = fmt.Sprint(p.r.IntN(32)) // a lane number
		case v.TakesConstant(i) && t != ptx.Pred && (v.Form.Family != ptx.FamilyConvert || t.Kind() != ptx.Bits) && !(p.documented && v.Op.Name == "cvt") && p.r.IntN(6) <= p.constants && t.Bits() >= 32:
			x := p.value()
			if p.constants > 0 && p.r.IntN(2) == 0 {
				x = uint64(p.r.IntN(40)) // suits shifts and factors of addresses
			}
			switch {
			case t == ptx.F32:
				text = fmt.Sprintf("0f%08X", uint32(x))
			case t == ptx.F64:
				text = fmt.Sprintf("0d%016X", x)
			case t.Bits() == 32:
				text = fmt.Sprint(uint32(x))
			default:
				text = fmt.Sprint(int64(x))
			}
		default:
			if o.MayBeWider && p.r.IntN(4) == 0 && !t.IsFloat() && t.Bits() < 64 && !v.Has("bf16") {
				t = ptx.B64 // a register wider than the type
			}
			text = p.reg(t)
			if o.Selector && p.r.IntN(2) == 0 {
				text += p.selector(v, o.Writes())
			}
			switch {
			case !o.Negate || o.Extended && p.documented || p.r.IntN(2) == 0:
			case t == ptx.Pred:
				text = "!" + text
			case o.Name == "a" && !v.Has("po"): // for vmad, not together with a negated c
				text = "-" + text
			}
		}
		if o.Pair {
			if text == ops[len(ops)-1] {
				text = "_" // two writes of the same register have no defined order
			}
			ops[len(ops)-1] += "|" + text
		} else {
			ops = append(ops, text)
		}
	}
	return ops
}

// selector returns a selector for a register of a video instruction, or "".
func (p *program) selector(v *ptx.Variant, written bool) string {
	lanes := v.VideoLanes()
	switch {
	case written && lanes == 1: // there is no third operand to merge with
		return ""
	case lanes == 1:
		return []string{".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}[p.r.IntN(6)]
	case written:
		return []string{2: ".h1", 4: ".b310"}[lanes]
	}
	text := []string{2: ".h", 4: ".b"}[lanes]
	for range lanes {
		text += fmt.Sprint(p.r.IntN(2 * lanes))
	}
	return text
}

func (p *program) writeBlock(depth int) {
	for range 2 + p.r.IntN(6) {
		if p.budget--; p.budget < 0 {
			return
		}
		switch k := p.r.IntN(10); {
		case k == 0 && depth < 3:
			p.writeBranch(depth, "", p.reg(ptx.Pred), p.writeBlock)
		case k == 1 && depth < 2:
			p.writeLoop(depth, fmt.Sprintf("%%w%d", p.r.IntN(nWord)), p.writeBlock)
		default:
			p.writeInstr(p.variants)
		}
	}
}

// writeBranch writes an if, whose blocks have depth + 1.
func (p *program) writeBranch(depth int, negation, pred string, block func(depth int)) {
	n := p.labels
	p.labels++
	p.printf("\t@%s%s bra ELSE%d;\n", negation, pred, n)
	block(depth + 1)
	p.printf("\tbra END%d;\nELSE%d:\n", n, n)
	if p.r.IntN(2) == 0 {
		block(depth + 1)
	}
	p.printf("END%d:\n", n)
}

// writeLoop writes a loop of up to three iterations, by the last two bits of count.
func (p *program) writeLoop(depth int, count string, block func(depth int)) {
	n, c := p.labels, p.loops
	p.labels++
	p.loops++
	p.printf("\tand.b32 %%c%d, %s, 3;\nLOOP%d:\n", c, count, n)
	block(depth + 1)
	if p.r.IntN(3) == 0 {
		p.printf("\t@%s bra OUT%d;\n", p.reg(ptx.Pred), n)
	}
	p.printf("\tadd.u32 %%c%d, %%c%d, -1;\n\tsetp.gt.s32 %%q, %%c%d, 0;\n\t@%%q bra LOOP%d;\nOUT%d:\n", c, c, c, n, n)
}

// StraightLine makes a program of some opcodes, and inputs for the threads of a one-dimensional CTA: Stride bytes for
// each. Its kernel is k(in, out), with pointers to the inputs and outputs of all threads.
func StraightLine(variants []*ptx.Variant, seed uint64, threads int) (src string, in []byte) {
	p := &program{r: rand.New(rand.NewPCG(seed, 1)), budget: 60}
	body := &program{variants: variants, r: p.r, budget: 60}
	body.writeBlock(0)
	p.printf(".version 8.8\n.target sm_100\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{\n")
	p.printf("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>;\n\t.reg .b64 %%d<%d>;\n\t.reg .pred %%p<%d>, %%q;\n\t.reg .u32 %%c<%d>;\n\t.reg .u64 %%in, %%out, %%t;\n\t.reg .u32 %%tid, %%one;\n", nHalf, nWord, nWide, nPred, body.loops+1)
	p.printf("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tmov.u32 %%tid, %%tid.x;\n\tmul.wide.u32 %%t, %%tid, %d;\n\tadd.u64 %%in, %%in, %%t;\n\tadd.u64 %%out, %%out, %%t;\n", Stride)
	forEachRegister(func(name, typ string, offset int) { p.printf("\tld.global.%s %s, [%%in+%d];\n", typ, name, offset) })
	for i := range nPred {
		p.printf("\tsetp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i+1)
	}
	p.WriteString(body.String())
	forEachRegister(func(name, typ string, offset int) { p.printf("\tst.global.%s [%%out+%d], %s;\n", typ, offset, name) })
	for i := range nPred {
		p.printf("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, Stride-4*nPred+4*i)
	}
	p.printf("\tret;\n}\n")
	in = make([]byte, threads*Stride)
	for i := 0; i+8 <= len(in); i += 4 {
		v := p.value()
		switch p.r.IntN(3) {
		case 0: // the same value in many lanes
			v = corners[i/4%len(corners)]
		case 1:
			v = uint64(i / Stride * 3)
		}
		binary.LittleEndian.PutUint32(in[i:], uint32(v))
	}
	return p.String(), in
}
