package main

// This file makes inputs of accesses at compact addresses, of all sizes and with strides of both
// signs. The accesses are within an allocation up to its end, or an element outside, or misaligned in
// a single lane.

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gemu/internal/trial"
)

// access is an instruction that accesses memory at %a, and the size of the access in bytes.
type access struct {
	line  string
	bytes int
}

// accesses returns loads, stores and atomics of a state space. Data are in %x (affine), %u
// (uniform) and %g (generic); of 64 bits in %xx, %uu and %gg.
func accesses(space string) (list []access) {
	add := func(bytes int, format string, args ...any) {
		list = append(list, access{fmt.Sprintf(format, args...), bytes})
	}
	for _, t := range []string{"u8", "s8", "u16", "s16", "u32", "s32"} {
		size := map[string]int{"8": 1, "16": 2, "32": 4}[t[1:]]
		add(size, "ld%s.%s %%d, [%%a]", space, t)
		add(size, "ld%s.%s %%dd, [%%a]", space, t)
		add(2*size, "ld%s.v2.%s {%%d, %%e}, [%%a]", space, t)
		add(4*size, "ld%s.v4.%s {%%d, %%e, _, %%f}, [%%a]", space, t)
	}
	add(8, "ld%s.u64 %%dd, [%%a]", space)
	add(16, "ld%s.v2.u64 {%%dd, %%ee}, [%%a]", space)
	add(16, "ld%s.b128 %%q, [%%a]", space)
	add(4, "ld%s.u32 %%d, [%%a+16]", space)
	add(4, "ld%s.u32 %%d, [%%a+-16]", space)
	if space == ".const" {
		return list
	}
	for _, r := range []string{"x", "u", "g"} {
		for _, t := range []string{"u8", "u16", "u32"} {
			size := map[string]int{"u8": 1, "u16": 2, "u32": 4}[t]
			add(size, "st%s.%s [%%a], %%%s", space, t, r)
			add(size, "st%s.%s [%%a], %%%[3]s%[3]s", space, t, r)
			add(2*size, "st%s.v2.%s [%%a], {%%x, %%%s}", space, t, r)
			add(4*size, "st%s.v4.%s [%%a], {%%%s, %%g, %%x, %%u}", space, t, r)
		}
		add(8, "st%s.u64 [%%a], %%%[2]s%[2]s", space, r)
		add(16, "st%s.v2.u64 [%%a], {%%%[2]s%[2]s, %%xx}", space, r)
		add(16, "mov.b128 %%q, {%%%[2]s%[2]s, %%xx}; st%[1]s.b128 [%%a], %%q", space, r)
		add(4, "st%s.u32 [%%a+16], %%%s", space, r)
		if space != ".local" {
			add(4, "red%s.add.u32 [%%a], %%%s", space, r)
			add(4, "atom%s.exch.b32 %%d, [%%a], %%%s", space, r)
			add(4, "atom%s.cas.b32 %%d, [%%a], %%%s, %%x", space, r)
			add(8, "atom%s.cas.b64 %%dd, [%%a], %%xx, %%%[2]s%[2]s", space, r)
		}
	}
	return list
}

// spaces are the groups of these inputs: a state space, and the width of an address in bits.
var spaces = []struct {
	name, space string
	bits        int
}{
	{"accesses global", ".global", 64}, {"accesses generic", "", 64}, {"accesses shared", ".shared", 64}, {"accesses shared 32", ".shared", 32},
	{"accesses local", ".local", 64}, {"accesses local 32", ".local", 32}, {"accesses const", ".const", 64},
}

// bufferSize is the size of the accessed memory in bytes, no multiple of an element's size.
const bufferSize = 1<<12 + 3

// The address patterns of kernels for an access.
const (
	strided   = iota
	uniform   // the address is known to be uniform when the kernel is lowered
	divergent // lanes have either of two uniform addresses
	patterns  // number of patterns
)

// kernelOf returns a kernel that executes an access twice: at s0 + tid·step, which is in bounds
// and makes the allocation known, and at s1 + tid·step. With pattern uniform there is no step;
// with divergent some lanes access the next element. Only lanes from lo to hi-1 access memory.
func kernelOf(i int, a access, bits, pattern int) string {
	var address string
	switch {
	case pattern == uniform:
		address = fmt.Sprintf("\tcvt.u%d.u64 %%a, %%s;\n", bits)
	case pattern == divergent:
		address = fmt.Sprintf("\tcvt.u%[1]d.u64 %%a, %%s;\n\t@%%low bra same;\n\tadd.u%[1]d %%a, %%a, %[2]d;\nsame:\n", bits, a.bytes)
	case bits == 32:
		address = "\tcvt.u32.u64 %w, %s;\n\tcvt.u32.u64 %v, %step;\n\tmad.lo.u32 %a, %t, %v, %w;\n"
	default:
		address = "\tmad.lo.u64 %a, %tt, %step, %s;\n"
	}
	return fmt.Sprintf(`.entry k%d(.param .b64 s0, .param .b64 s1, .param .b64 step, .param .u32 lo, .param .u32 hi, .param .u32 odd)
{
	.local .align 16 .b8 mine[%d];
	.reg .b32 %%t, %%w, %%v, %%x, %%u, %%g, %%d, %%e, %%f, %%k, %%lo, %%hi, %%odd;
	.reg .b64 %%tt, %%s, %%step, %%xx, %%uu, %%gg, %%dd, %%ee;
	.reg .b128 %%q;
	.reg .b%d %%a;
	.reg .pred %%in, %%low, %%more;
	st.local.u32 [mine], 0;
	mov.u32 %%t, %%tid.x;
	cvt.u64.u32 %%tt, %%t;
	mad.lo.u32 %%x, %%t, 7, 3;
	mov.u32 %%u, %%ctaid.x;
	add.u32 %%u, %%u, 77;
	mul.lo.u32 %%g, %%t, %%t;
	cvt.u64.u32 %%xx, %%x;
	cvt.u64.u32 %%uu, %%u;
	cvt.u64.u32 %%gg, %%g;
	ld.param.b64 %%s, [s0];
	ld.param.b64 %%step, [step];
	ld.param.u32 %%lo, [lo];
	ld.param.u32 %%hi, [hi];
	ld.param.u32 %%odd, [odd];
	and.b32 %%w, %%t, %%odd;
	setp.lt.u32 %%low, %%t, 13;
	mov.u32 %%d, %%x;
	mov.u64 %%dd, %%uu;
	setp.ge.u32 %%in, %%t, %%lo;
	setp.lt.and.u32 %%in, %%t, %%hi, %%in;
	setp.ne.and.u32 %%in, %%w, 4, %%in;
	@!%%in bra END;
	mov.u32 %%k, 0;
again:
%s	mov.u32 %%d, %%x;
	mov.u64 %%dd, %%uu;
	%s;
	add.u32 %%e, %%d, %%u;
	add.u64 %%ee, %%dd, %%xx;
	ld.param.b64 %%s, [s1];
	add.u32 %%k, %%k, 1;
	setp.lt.u32 %%more, %%k, 2;
	@%%more bra again;
END:
	add.u32 %%e, %%d, %%u;
	add.u64 %%ee, %%dd, %%xx;
	ret;
}
`, i, bufferSize, bits, address, a.line)
}

// content returns initial values of bytes, some of them negative as signed bytes.
func content() string {
	list := make([]string, bufferSize)
	for i := range list {
		list[i] = fmt.Sprint((i*37 + 129) % 256)
	}
	return strings.Join(list, ", ")
}

// accessInputs returns the inputs of a group of spaces.
func accessInputs(name, space string, bits int) ([]trial.Input, error) {
	list := accesses(space)
	var b strings.Builder
	fmt.Fprintf(&b, ".version 8.3\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 ours[%[1]d];\n.const .align 16 .b8 fixed[%[1]d] = {%[2]s};\n.global .align 16 .b8 all[%[1]d] = {%[2]s};\n", bufferSize, content())
	for i, a := range list {
		for p := range patterns {
			b.WriteString(kernelOf(patterns*i+p, a, bits, p))
		}
	}
	mod, err := load(name, b.String())
	if err != nil {
		return nil, err
	}
	begin := uint64(0)
	switch space {
	case ".const":
		begin = mod.Var("fixed").Addr()
	case ".global", "":
		begin = mod.Var("all").Addr()
	case ".local":
		begin = 16 // the first 16 bytes of local memory belong to no variable
	}
	r := rand.New(rand.NewPCG(uint64(len(name)), uint64(bits)))
	var inputs []trial.Input
	for i, a := range list {
		for n := range 10 {
			pick := func(list ...int) int { return list[r.IntN(len(list))] }
			lo := pick(0, 0, 0, 3, 9, 31)
			hi := max(lo+1, pick(32, 32, 32, 20, 31))
			step := pick(a.bytes, a.bytes, 0, -a.bytes, 2*a.bytes, -2*a.bytes, 4, a.bytes/2, 64, 3)
			// from is the offset of lane lo. In even inputs lane lo is at an end of the memory, in odd inputs lane hi-1.
			from := 0
			end := bufferSize &^ (min(a.bytes, 16) - 1)
			ends := []int{0, end - a.bytes, -a.bytes, end, -1, 1, end - a.bytes + 1, a.bytes, bufferSize, bufferSize - a.bytes}
			if n%2 == 0 {
				from = pick(ends...)
			} else {
				from = pick(ends...) - (hi-1-lo)*step
			}
			safe := end/2 - lo*step
			if step%a.bytes != 0 {
				safe = end / 2
			}
			if n == 9 {
				from = pick(1<<32-end/2, 1<<32-8*a.bytes, -end, 1<<31)
			}
			args := []any{begin + uint64(safe), begin + uint64(from-lo*step), uint64(step), uint32(lo), uint32(hi), uint32(pick(0, 5))}
			pattern := strided
			switch {
			case step == 0 || n%5 == 4:
				pattern = uniform
			case n%5 == 3:
				pattern = divergent
			}
			l := warp(patterns*i+pattern, n%3 > 0, args...)
			inputs = append(inputs, input(fmt.Sprintf("%s: %s, from %d by %d, lanes %d to %d", name, a.line, from, step, lo, hi-1), mod, l))
		}
	}
	return inputs, nil
}
