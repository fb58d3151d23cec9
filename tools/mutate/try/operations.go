package main

// This file makes inputs of operations: kernels that execute all operations with an affine
// rule, of every width. Their affine and uniform operands have values at the limits of the
// rules: in the first or the last lane they wrap round, or nearly do.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/internal/trial"
)

// operationGroups are the groups of these inputs, a group for each width of operands in bits.
var operationGroups = []string{"operations 16", "operations 32", "operations 64"}

// variants are the kinds of kernels, by the lanes that execute the operations: begin is text before all operations, guard
// the guard of each.
var variants = []struct{ name, begin, guard string }{
	{"all lanes", "", ""},
	{"some lanes", "\t@!%in bra END;\n", ""},
	{"lanes with holes", "\tand.pred %in, %in, %odd;\n\t@!%in bra END;\n", ""},
	{"guarded", "", "@%in "},
}

// operations returns the text of a module with a kernel for each variant. Operands are %x and
// %y (affine), %u and %v (uniform), and the predicates %p (uniform) and %d (differs between
// lanes).
func operations(width int) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n")
	for i, v := range variants {
		fmt.Fprintf(&b, `.entry k%d(.param .b64 b0, .param .b64 s0, .param .b64 b1, .param .b64 s1, .param .u32 lo, .param .u32 hi)
{
	.reg .b16 %%h<16>;
	.reg .b32 %%t, %%lo, %%hi, %%w<16>, %%e;
	.reg .b64 %%l<16>, %%b, %%s, %%tt, %%c;
	.reg .b%[2]d %%x, %%y, %%u, %%v, %%z, %%zz<900>;
	.reg .b16 %%hh<900>;
	.reg .b32 %%ww<900>;
	.reg .b64 %%ll<900>;
	.reg .pred %%in, %%odd, %%p, %%n, %%d, %%a, %%o;
	mov.u32 %%t, %%tid.x;
	cvt.u64.u32 %%tt, %%t;
	mov.u32 %%e, %%ctaid.x;
	cvt.u64.u32 %%c, %%e;
	ld.param.u32 %%lo, [lo];
	ld.param.u32 %%hi, [hi];
	setp.ge.u32 %%in, %%t, %%lo;
	setp.lt.and.u32 %%in, %%t, %%hi, %%in;
	and.b32 %%w0, %%t, 5;
	setp.ne.u32 %%odd, %%w0, 4;
%[3]s`, i, width, v.begin)
		for k, r := range []string{"x", "y"} {
			fmt.Fprintf(&b, "\tld.param.b64 %%b, [b%d];\n\tadd.u64 %%b, %%b, %%c;\n\tld.param.b64 %%s, [s%d];\n", k, k)
			switch width {
			case 64:
				fmt.Fprintf(&b, "\tmov.b64 %%%s, %%b;\n\tmad.lo.u64 %%%s, %%tt, %%s, %%b;\n", "uv"[k:k+1], r)
			case 32:
				fmt.Fprintf(&b, "\tcvt.u32.u64 %%%s, %%b;\n\tcvt.u32.u64 %%w1, %%s;\n\tmad.lo.u32 %%%s, %%t, %%w1, %%%s;\n", "uv"[k:k+1], r, "uv"[k:k+1])
			default:
				fmt.Fprintf(&b, "\tcvt.u16.u64 %%%s, %%b;\n\tcvt.u16.u64 %%h1, %%s;\n\tcvt.u16.u32 %%h2, %%t;\n\tmad.lo.u16 %%%s, %%h2, %%h1, %%%s;\n", "uv"[k:k+1], r, "uv"[k:k+1])
			}
		}
		fmt.Fprintf(&b, "\tsetp.gt.s%[1]d %%p, %%u, %%v;\n\tsetp.le.s%[1]d %%n, %%u, %%v;\n\tsetp.gt.u32 %%d, %%t, 7;\n\tmov.b%[1]d %%z, %%x;\n", width)
		for k, line := range lines(width) {
			fmt.Fprintf(&b, "\t%s%s;\n", v.guard, ownResult(line, k))
		}
		b.WriteString("END:\n\tret;\n}\n")
	}
	return b.String()
}

// ownResult gives an instruction a result register of its own: a register that another
// instruction writes lane by lane is never compact.
func ownResult(line string, n int) string {
	name, rest, _ := strings.Cut(line, " ")
	result, rest, _ := strings.Cut(rest, ",")
	if len(result) < 2 || !strings.Contains("zwlh", result[1:2]) || slices.Contains([]string{"%h6", "%w2", "%w3", "%w4", "%w12", "%w13"}, result) {
		return line
	}
	return fmt.Sprintf("%s %%%[2]c%[2]c%d,%s", name, result[1], n, rest)
}

// lines returns the instructions for operands of a width in bits.
func lines(width int) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	bits := fmt.Sprintf("b%d", width)
	pairs := []string{"%x, %y", "%x, %v", "%u, %y", "%u, %v", "%x, 4", "%x, %x"}
	for _, op := range []string{"and", "or", "xor"} {
		for _, ab := range pairs {
			add("%s.%s %%z, %s", op, bits, ab)
		}
	}
	for _, a := range []string{"%x", "%u"} {
		add("not.%s %%z, %s", bits, a)
		add("mov.%s %%z, %s", bits, a)
		add("neg.s%d %%z, %s", width, a)
		add("abs.s%d %%z, %s", width, a)
	}
	for _, p := range []string{"%p", "%n", "%d"} {
		for _, ab := range []string{"%x, %y", "%u, %y", "%z, %v", "%x, %z", "%u, %v"} {
			add("selp.%s %%z, %s, %s", bits, ab, p)
		}
	}
	shifts := []string{"%w2", "0", "1", "3", fmt.Sprint(width - 1), fmt.Sprint(width), "40", "64", "65"}
	if width == 64 {
		add("cvt.u32.u64 %%w2, %%v")
		add("cvt.u32.u64 %%w3, %%y")
	} else if width == 32 {
		add("mov.b32 %%w2, %%v")
		add("mov.b32 %%w3, %%y")
	} else {
		add("cvt.u32.u16 %%w2, %%v")
		add("cvt.u32.u16 %%w3, %%y")
	}
	add("and.b32 %%w4, %%w2, 7")
	for _, k := range append(shifts, "%w3", "%w4") {
		add("shl.%s %%z, %%x, %s", bits, k)
		add("shl.%s %%z, %%u, %s", bits, k)
	}
	for _, sign := range []string{"u", "s"} {
		t := fmt.Sprintf("%s%d", sign, width)
		for _, op := range []string{"add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"} {
			for _, ab := range pairs {
				add("%s.%s %%z, %s", op, t, ab)
			}
		}
		for _, abc := range []string{"%x, %v, %y", "%u, %y, %x", "%x, %y, %u", "%x, %y, %x", "%u, %v, %x", "%x, %v, %u", "%u, %v, %v", "%x, 4, 5"} {
			add("mad.lo.%s %%z, %s", t, abc)
		}
		for _, k := range append(shifts, "%w3", "%w4") {
			add("shr.%s %%z, %%x, %s", t, k)
			add("shr.%s %%z, %%u, %s", t, k)
		}
		if width < 64 {
			wide := map[int]string{16: "%w5", 32: "%l5"}[width]
			for _, ab := range pairs {
				add("mul.wide.%s %s, %s", t, wide, ab)
				add("mad.wide.%s %s, %s, %s", t, wide, ab, wide)
				add("mad.wide.%s %s, %s, 9", t, wide, ab)
			}
		}
		if width > 16 {
			for _, pn := range []string{"%w4, 8", "3, %w4", "%w2, %w2", "0, 5", "2, 0", "4, 64", "31, 255", "255, 255", "0, %w3", "%w3, 4", "2, 3"} {
				add("bfe.%s %%z, %%x, %s", t, pn)
				add("bfe.%s %%z, %%u, %s", t, pn)
			}
		}
		for _, to := range []string{"8", "16", "32", "64"} {
			for _, tosign := range []string{"u", "s"} {
				d := map[string]string{"8": "%h6", "16": "%h7", "32": "%w7", "64": "%l7"}[to]
				add("cvt.%s%s.%s %s, %%x", tosign, to, t, d)
				add("cvt.%s%s.%s %s, %%u", tosign, to, t, d)
			}
		}
		add("cvt.%s8.%s8 %%h8, %%h6", sign, sign)
		add("cvt.u32.%s8 %%w8, %%h6", sign)
		add("cvt.s64.%s8 %%l8, %%h6", sign)
		compares := []string{"eq", "ne", "lt", "le", "gt", "ge"}
		if sign == "u" {
			compares = append(compares, "lo", "ls", "hi", "hs")
		}
		for _, c := range compares {
			for _, ab := range append(pairs, "%u, %u") {
				add("setp.%s.%s %%a|%%o, %s", c, t, ab)
			}
			add("setp.%s.and.%s %%a|%%o, %%x, %%y, %%d", c, t)
			add("setp.%s.or.%s %%a, %%x, %%v, !%%p", c, t)
			add("set.%s.u32.%s %%w9, %%x, %%v", c, t)
		}
	}
	if width == 32 { // operations described by Imm (rounding, modifiers)
		add("add.u32 %%w12, %%e, 0x3f800001") // with %w13, numbers with an inexact sum and quotient
		add("add.u32 %%w13, %%e, 0x33c00001")
		for _, a := range []string{"%u", "%x", "%w12"} {
			add("cvt.rmi.ftz.f32.f32 %%z, %s", a)
			add("cvt.rzi.sat.s8.f32 %%w11, %s", a)
			add("cvt.rp.f32.s32 %%z, %s", a)
			add("add.rp.ftz.f32 %%z, %s, %%v", a)
			add("add.rp.ftz.f32 %%z, %s, %%w13", a)
			add("div.rz.f32 %%z, %s, %%w13", a)
			add("mul.rm.f32 %%z, %s, %%u", a)
			add("fma.rz.sat.f32 %%z, %s, %%u, %%v", a)
			add("div.rp.f32 %%z, %s, %%v", a)
			add("setp.ltu.ftz.f32 %%a, %s, %%v", a)
			add("set.gt.and.ftz.u32.f32 %%w9, %s, %%v, %%p", a)
			add("testp.normal.f32 %%a, %s", a)
			add("slct.ftz.u32.f32 %%z, %s, %%v, %%u", a)
			add("bfi.b32 %%z, %s, %%u, %%v, %%u", a)
			add("lop3.b32 %%z, %s, %%v, %%u, 0xe8", a)
		}
	}
	for _, ab := range []string{"%x, %v", "%u, %v", "%u, %y"} {
		if width == 16 {
			add("mov.b64 %%l14, {%s, %s}", ab, ab)
		}
		if width > 16 {
			add("add.cc.u%d %%z, %s", width, ab)
			add("addc.u%d %%z, %s", width, ab)
			add("sub.cc.u%d %%z, %s", width, ab)
			add("subc.u%d %%z, %s", width, ab)
			add("mad.lo.cc.u%d %%z, %s, %%u", width, ab)
			add("bfi.b%d %%z, %s, 3, 4", width, ab)
			add("popc.b%d %%w10, %%u", width)
			add("clz.b%d %%w10, %%x", width)
		}
		if width == 32 {
			add("prmt.b32 %%z, %s, 0x3210", ab)
			add("lop3.b32 %%z, %s, %%u, 0x96", ab)
			add("sad.u32 %%z, %s, %%v", ab)
			add("shf.l.wrap.b32 %%z, %s, 3", ab)
			add("bfind.u32 %%z, %%u")
			add("mul24.lo.s32 %%z, %s", ab)
			add("dp4a.u32.u32 %%z, %s, %%u", ab)
		}
	}
	return list
}

// values returns random arguments of a launch: base and stride of two operands, the first
// executing lane, and the lane after the last executing lane.
func values(width int, r *rand.Rand) []any {
	lo := []uint32{0, 0, 0, 3, 17, 31}[r.IntN(6)]
	hi := max(lo+1, []uint32{32, 32, 20, 31, 8}[r.IntN(5)])
	strides := []uint64{0, 1, 1, 2, 3, 4, 4, 8, 12, 64, 100, 1 << (width - 1), 1 << (width - 2), 1 << (width - 5), 1 << (width - 6)}
	pick := func(list []uint64) uint64 { return list[r.IntN(len(list))] }
	randomValue := func() (base, stride uint64) {
		stride = pick(strides)
		if r.IntN(3) == 0 {
			stride = -stride
		}
		base = pick([]uint64{0, 1, 2, 5, 31, 32, 255, 256, 1000, ^uint64(0), ^uint64(30), 1 << (width - 1), 1<<(width-1) - 1, 1 << (width / 2), r.Uint64()})
		// The first or the last lane's value is at a limit of the width, or next to it.
		if lane := pick([]uint64{uint64(lo), uint64(hi - 1), 0, 31}); r.IntN(2) == 0 {
			base = pick([]uint64{0, 1 << (width - 1)}) - lane*stride + pick([]uint64{^uint64(0), 0, 1})
		}
		return base, stride
	}
	b0, s0 := randomValue()
	b1, s1 := randomValue()
	if r.IntN(3) > 0 { // shift amounts, divisors, masks
		b1 = pick([]uint64{0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 63, 64, 255, 256, 12, 100, 1 << 32, 1<<32 - 4, ^uint64(3), ^uint64(0), b0, b0 + 1, b0 - 1})
	}
	if r.IntN(4) == 0 {
		s1 = s0
	}
	return []any{b0, s0, b1, s1, lo, hi}
}

// divisors returns arguments of launches with divisors that random values hardly ever give: the dividend is less
// than the divisor in all lanes but the last.
func divisors(width int) (list [][]any) {
	for _, d := range []uint64{1<<width - 4, 1<<width - 1} {
		stride := -d & (1<<width - 1)
		list = append(list, []any{d - 31*stride, stride, d, stride, uint32(0), uint32(32)})
	}
	return append(list, []any{uint64(5), uint64(1) << (width - 2), uint64(1) << (width - 2), uint64(0), uint32(0), uint32(3)})
}

// operationInputs returns the inputs of a group of operationGroups.
func operationInputs(group string) ([]trial.Input, error) {
	var width int
	fmt.Sscanf(group, "operations %d", &width)
	mod, err := load(group, operations(width))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(uint64(width), 0))
	var list []trial.Input
	special := divisors(width)
	for i := range 120 {
		args := values(width, r)
		if i < len(special) {
			args = special[i]
		}
		for k, v := range variants {
			if i%2 == 1 && i >= len(special) && k != i/2%len(variants) {
				continue
			}
			l := warp(k, i%8 > 0, args...)
			list = append(list, input(fmt.Sprintf("%s %#x, %s", group, args, v.name), mod, l))
			if i%5 == 0 {
				list = append(list, underKim(fmt.Sprintf("%s %#x, %s", group, args, v.name), mod, l))
			}
		}
	}
	return list, nil
}
