package interp

// This file tests the proofs about addresses of memory accesses: the results of lowering, and their truth.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// patternHead begins kernels of this file: %t is the thread index, %b an address in the middle of a buffer.
const patternHead = `.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 tile[4096];
.entry k(.param .u64 middle, .param .u64 out, .param .u32 n)
{
	.reg .b32 %t, %u, %v, %w, %x, %n, %i;
	.reg .b64 %a, %b, %c;
	.reg .pred %p, %q;
	.local .align 4 .b32 mine;
	mov.u32 %t, %tid.x;
	ld.param.u64 %b, [middle];
	ld.param.u32 %n, [n];
`

// patterns are bodies of kernels, which load by %a, in blocks of 32 threads, and the expected proofs, derived by hand.
var patterns = []struct{ body, want string }{
	// The thread index through rules.
	{"mul.wide.u32 %a, %t, 4; add.s64 %a, %a, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"cvt.u64.u32 %a, %t; shl.b64 %a, %a, 3; add.s64 %a, %b, %a; ld.global.u64 %c, [%a+16]", "contiguous"},
	{"shl.b32 %u, %t, 2; cvt.s64.s32 %a, %u; sub.s64 %a, %b, %a; neg.s64 %a, %a; not.b64 %a, %a; ld.global.u32 %x, [%a]", ""}, // backwards
	{"sub.u32 %u, 31, %t; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"sub.u32 %u, 0, %t; neg.s32 %u, %u; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"mad.lo.u32 %u, %t, 3, %n; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "strided"},
	{"mad.lo.u32 %u, %t, %n, 5; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""}, // with an unknown distance
	{"mad.wide.s32 %a, %n, 4, %b; ld.global.u32 %x, [%a]", "same address"},
	{"mad.lo.u32 %u, %n, %n, %t; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"add.u32 %u, %n, %t; sub.u32 %u, %u, %t; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "same address"},
	{"mul.lo.u32 %u, %t, %t; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"and.b32 %u, %t, 7; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"shl.b32 %u, %t, 2; ld.shared.u32 %x, [%u]", "contiguous"},
	{"shl.b32 %u, %t, 1; ld.shared.u8 %x, [%u]", "strided"},
	{"mad.wide.u32 %a, %t, 6, %b; ld.global.u32 %x, [%a]", ""}, // no multiple of the element size
	{"mov.u32 %u, %laneid; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"ld.global.u32 %u, [%b]; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "same address"}, // loaded by all lanes from the same place
	{"mad.wide.u32 %a, %t, 4, %b; ld.global.u32 %u, [%a]; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},

	// 32-bit numbers that wrap: adjacent only if the outermost lanes are adjacent, which stencils check; but two such
	// numbers may cancel out.
	{"add.u32 %u, %t, %n; cvt.u64.u32 %a, %u; add.s64 %a, %a, %b; ld.global.u8 %x, [%a]", "contiguous"},
	{"add.u32 %u, %t, %n; sub.u32 %v, %t, %n; cvt.u64.u32 %a, %u; cvt.u64.u32 %c, %v; sub.s64 %a, %a, %c; add.s64 %a, %a, %b; ld.global.u8 %x, [%a]", ""},
	{"shl.b32 %u, %t, 28; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},                                                              // wraps several times
	{"add.u32 %u, %t, %n; cvt.u64.u32 %a, %u; cvt.u32.u64 %v, %a; cvt.u64.u32 %a, %v; add.s64 %a, %a, %b; ld.global.u8 %x, [%a]", "contiguous"}, // truncated again

	{"mad.lo.u32 %u, %t, 2, %n; sub.u32 %v, %t, %n; cvt.u64.u32 %a, %u; cvt.u64.u32 %c, %v; sub.s64 %a, %a, %c; add.s64 %a, %a, %b; ld.global.u8 %x, [%a]", ""},

	// Numbers clamped to bounds.
	{"min.s32 %u, %t, %n; max.s32 %u, %u, 0; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"max.s32 %u, %t, 1; min.s32 %u, %u, %n; add.s32 %u, %u, %n; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"min.s32 %u, %t, %n; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},                               // with an upper bound only
	{"min.s32 %u, %t, %n; max.s32 %u, %u, -1; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},           // or with a negative bound
	{"max.s32 %u, %t, 1; shl.b32 %u, %u, 2; cvt.s64.s32 %a, %u; add.s64 %a, %a, %b; ld.global.u32 %x, [%a]", ""}, // multiplied in 32 bits
	{"max.s32 %u, %t, 1; add.s32 %u, %u, %t; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"max.s32 %u, %t, 1; add.s32 %u, %u, -5; max.s32 %u, %u, 0; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"min.u32 %u, %t, %n; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},

	{"max.u32 %u, %t, 5; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"min.s32 %u, %t, 20; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"min.s32 %u, %t, %n; add.s32 %u, %u, %n; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"min.s32 %u, %t, %n; cvt.s64.s32 %a, %u; add.s64 %a, %a, %b; ld.global.u8 %x, [%a]", ""},
	{"min.s32 %u, %t, %n; ld.shared.u8 %x, [%u]", ""},
	{"mul.lo.s32 %u, %t, 3; sub.s32 %v, 40, %t; min.s32 %u, %u, %v; max.s32 %u, %u, 0; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""}, // different bounds in the lanes
	{"max.s32 %u, %t, 1; setp.gt.u32 %p, %n, 5; selp.u32 %u, %u, %t, %p; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},

	// Memory that is not shared by all threads.
	{"st.local.u32 [mine], %t; ld.local.u32 %u, [mine]; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"mov.u64 %a, mine; cvta.local.u64 %a, %a; st.u32 [%a], %t; ld.u32 %u, [%a]; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},

	// Guards and branches.
	{"mov.u32 %u, 0; setp.gt.u32 %p, %n, 5; bra.uni ON; ON: @%p mov.u32 %u, 1; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "same address"},
	{"mov.u32 %u, 0; setp.gt.u32 %p, %t, 5; @%p mov.u32 %u, 1; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"mov.u32 %u, 0; setp.gt.u32 %p, %n, 5; @%p mov.u32 %u, 1; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "same address"},
	{"setp.gt.u32 %p, %n, 5; selp.u32 %u, %t, %n, %p; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""}, // one of two values
	{"add.u32 %v, %t, 1; setp.gt.u32 %p, %n, 5; selp.u32 %u, %t, %v, %p; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"add.u32 %v, %t, 1; setp.gt.u32 %p, %t, 5; selp.u32 %u, %t, %v, %p; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	{"mov.u32 %u, %t; setp.gt.u32 %p, %t, 5; @%p bra ON; add.u32 %u, %t, 1; mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]; ON: mov.u32 %v, 1", "contiguous"}, // before the paths merge
	{"mov.u32 %u, %t; setp.gt.u32 %p, %t, 5; @%p bra ON; add.u32 %u, %t, 1; ON: mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},                          // where the paths merge
	{"mov.u32 %u, %t; setp.gt.u32 %p, %n, 5; @%p bra ON; add.u32 %u, %t, 1; ON: mad.wide.s32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", "contiguous"},
	{"setp.gt.u32 %p, %t, 5; @%p bra END; mad.wide.s32 %a, %t, 4, %b; ld.global.u32 %x, [%a]; END: ret", "contiguous"},
	// A loop that lanes leave in sequence: the lanes still inside have made the same number of iterations.
	{"mov.u32 %u, %t; mov.u32 %i, 0; L: mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]; add.u32 %u, %u, 32; add.u32 %i, %i, 1; setp.le.u32 %p, %i, %t; @%p bra L", "contiguous"},
	// After the loop they have not.
	{"mov.u32 %u, %t; mov.u32 %i, 0; L: add.u32 %u, %u, 32; add.u32 %i, %i, 1; setp.le.u32 %p, %i, %t; @%p bra L; mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]", ""},
	// A loop within a loop: when lanes enter again, their values come from different iterations.
	{"mov.u32 %u, 0; mov.u32 %w, 0; O: mov.u32 %i, 0; L: mad.wide.u32 %a, %u, 4, %b; ld.global.u32 %x, [%a]; add.u32 %u, %u, 1; add.u32 %i, %i, 1; setp.le.u32 %p, %i, %t; @%p bra L; add.u32 %w, %w, 1; setp.lt.u32 %q, %w, 3; @%q bra O", ""},
}

// TestProvedAddressPatterns: lowering proves the expected patterns, and they are true.
func TestProvedAddressPatterns(t *testing.T) {
	load := regexp.MustCompile(`(?m)^ +load\S+ .*, %[xc]\b.*$`)
	for _, p := range patterns {
		body := "\t" + strings.ReplaceAll(p.body, "; ", ";\n\t") + ";\n"
		m, err := ptx.Parse("pattern.ptx", []byte(patternHead+body+"\tret;\n}\n"))
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		for _, n := range []int64{0, 3, 20, -16, 1<<31 - 16, -1 << 31} {
			l := Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: Vector, Engine: Portable, verifyProofs: true}
			if _, err := patternRun(m, &l, n); errors.Is(err, probe.ErrMismatch) { // no error if the address is invalid: a later run finds this
				t.Errorf("n = %d: %v\n%s", n, err, body)
			}
		}
		var text bytes.Buffer
		mod, err := NewDevice(Config{}).LoadModule(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := mod.FprintLowered(&text, m.Kernels()[0]); err != nil {
			t.Fatal(err)
		}
		line := load.FindString(text.String()[strings.Index(text.String(), "function"):])
		got := ""
		for _, name := range []string{"same address", "contiguous", "strided"} {
			if strings.Contains(line, name) {
				got = name
			}
		}
		if got != p.want {
			t.Errorf("%s: %q is proved, want %q\n%s", strings.TrimSpace(line), got, p.want, body)
		}
	}
}

// patternRoom is the number of bytes on each side of the middle of the buffer.
const patternRoom = 1 << 13

// patternProgram writes kernels that compute sums and diverge in all ways supported by the proofs, with loads in between.
type patternProgram struct {
	strings.Builder
	*rand.Rand
	labels int
	ends   []int // labels after the open blocks
	far    bool  // constants are close to the wrap of 32-bit numbers, and few loads are in bounds
}

func (p *patternProgram) reg() string { return fmt.Sprintf("%%r%d", p.IntN(6)) }

func (p *patternProgram) pred() string { return fmt.Sprintf("%%p%d", p.IntN(3)) }

func (p *patternProgram) number() int64 {
	if p.far && p.IntN(2) == 0 {
		return []int64{1<<31 - 1, 1<<31 - 12, -1 << 31, -1<<31 + 7, 1<<31 - 32, -16, -1}[p.IntN(7)]
	}
	return p.Int64N(12) - 2
}

func (p *patternProgram) value() string {
	switch p.IntN(4) {
	case 0:
		return fmt.Sprint(p.number())
	case 1:
		return []string{"%t", "%n", "%t", "%y"}[p.IntN(4)]
	}
	return p.reg()
}

// statement writes a statement; a block inside has less depth.
func (p *patternProgram) statement(depth int) {
	guard := ""
	if p.IntN(6) == 0 {
		guard = "@" + p.pred() + " "
	}
	f := func(format string, args ...any) { fmt.Fprintf(p, "\t%s%s;\n", guard, fmt.Sprintf(format, args...)) }
	r := p.reg()
	switch n := p.IntN(23); n {
	case 0, 1:
		f("mov.b32 %s, %s", r, p.value())
	case 2, 3, 4:
		f("%s.s32 %s, %s, %s", []string{"add", "sub", "add"}[p.IntN(3)], r, p.value(), p.value())
	case 5:
		f("mad.lo.s32 %s, %s, %d, %s", r, p.value(), p.IntN(4), p.value())
	case 6:
		f("shl.b32 %s, %s, %d", r, p.value(), p.IntN(3))
	case 7, 8:
		f("%s.s32 %s, %s, %s", []string{"min", "max"}[p.IntN(2)], r, p.value(), p.value())
		if p.IntN(2) == 0 {
			f("max.s32 %s, %s, %d", r, r, p.IntN(3)-1)
		}
	case 9:
		f("%s %s, %s", []string{"neg.s32", "not.b32"}[p.IntN(2)], r, p.value())
	case 10:
		f("selp.b32 %s, %s, %s, %s", r, p.value(), p.value(), p.pred())
	case 11, 12:
		f("setp.%s.s32 %s, %s, %s", []string{"lt", "ge", "eq"}[p.IntN(3)], p.pred(), p.value(), []string{"%t", "%n", "%y", "3", p.reg()}[p.IntN(5)])
	case 13:
		f("and.b32 %s, %s, 15", r, p.value()) // without known spacing
	case 14, 15, 16, 17:
		p.load(f, r)
	case 18, 19:
		if depth > 0 {
			p.labels++
			l := p.labels
			fmt.Fprintf(p, "\t@%s bra E%d;\n", p.pred(), l)
			p.block(depth - 1)
			if p.IntN(2) == 0 {
				fmt.Fprintf(p, "\tbra.uni F%d;\nE%d:\n", l, l)
				p.block(depth - 1)
				fmt.Fprintf(p, "F%d:\n", l)
			} else {
				fmt.Fprintf(p, "E%d:\n", l)
			}
		}
	case 20:
		if depth > 0 { // a loop, with or without the same number of iterations for all lanes
			p.labels++
			l := p.labels
			fmt.Fprintf(p, "\tmov.b32 %%i%d, %s;\n\tand.b32 %%i%d, %%i%d, 3;\nL%d:\n", depth, p.value(), depth, depth, l)
			p.block(depth - 1)
			if p.IntN(3) == 0 {
				fmt.Fprintf(p, "\t@%s bra M%d;\n", p.pred(), l)
				p.block(depth - 1)
			}
			if p.IntN(4) == 0 {
				fmt.Fprintf(p, "\tbar.sync 0;\n")
			}
			fmt.Fprintf(p, "\tadd.s32 %%i%d, %%i%d, -1;\n\tsetp.ge.s32 %%more, %%i%d, 0;\n\t@%%more bra L%d;\nM%d:\n", depth, depth, depth, l, l)
		}
	case 21:
		fmt.Fprintf(p, "\t@%s bra E%d;\n", p.pred(), p.ends[p.IntN(len(p.ends))])
	case 22:
		switch p.IntN(6) {
		case 0:
			fmt.Fprintf(p, "\t@%s bra END;\n", p.pred())
		case 1:
			fmt.Fprintf(p, "\tbar.warp.sync -1;\n")
		case 2:
			f("shfl.sync.idx.b32 %s, %s, 3, 31, -1", r, p.reg())
		}
	}
}

// load writes a load, by a number converted to an address in any of several ways.
func (p *patternProgram) load(f func(format string, args ...any), r string) {
	size := p.IntN(3)
	switch p.IntN(4) {
	case 0:
		size = 0
		f("cvt.%s %%a, %s", []string{"s64.s32", "u64.u32"}[p.IntN(2)], p.value())
	case 1:
		f("mul.wide.%s %%a, %s, %d", []string{"s32", "u32"}[p.IntN(2)], p.value(), 1<<size)
	case 2:
		size = 0
		f("cvt.s64.s32 %%a, %s", p.value())
		f("cvt.s64.s32 %%c, %s", p.value())
		f("%s.s64 %%a, %%a, %%c", []string{"add", "sub"}[p.IntN(2)])
	case 3:
		f("cvt.u64.u32 %%a, %s", p.value())
		f("mad.lo.s64 %%a, %%a, %d, 0", 1<<size)
	}
	f("add.s64 %%a, %%a, %%b")
	f("ld.global.u%d %s, [%%a]", 8<<size, map[bool]string{true: r, false: "%none"}[p.IntN(3) == 0])
}

// block writes some statements, and a label after them, to which any of them may jump.
func (p *patternProgram) block(depth int) {
	p.labels++
	end := p.labels
	p.ends = append(p.ends, end)
	for range 1 + p.IntN(5) {
		p.statement(depth)
	}
	p.ends = p.ends[:len(p.ends)-1]
	fmt.Fprintf(p, "E%d:\n", end)
}

// TestAddressPatternsHold: proofs about addresses are true in random programs, under every policy, in blocks of all
// shapes; and machine code based on them has the memory of Go.
func TestAddressPatternsHold(t *testing.T) {
	part.SkipShort(t)
	looked, seed := 0, part.Seed(t)
	for i := range part.Count(100, 300, 50000) {
		p := &patternProgram{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		p.far = p.IntN(4) == 0
		p.WriteString(strings.Replace(patternHead, "%i;", "%y, %none, %i<4>, %r<6>;", 1))
		p.WriteString("\t.reg .pred %p<3>, %more;\n\tmov.u32 %y, %tid.y;\n")
		for r := range 6 {
			fmt.Fprintf(p, "\tmov.b32 %%r%d, %s;\n", r, []string{"%t", "%n", "%y", "0", "%t", "%laneid"}[p.IntN(6)])
		}
		for q := range 3 {
			fmt.Fprintf(p, "\tsetp.%s.s32 %%p%d, %s, %d;\n", []string{"lt", "gt"}[p.IntN(2)], q, []string{"%t", "%n", "%y"}[p.IntN(3)], p.IntN(20))
		}
		for range 4 {
			p.block(3)
		}
		p.WriteString("END:\n")
		for r := range 6 {
			fmt.Fprintf(p, "\tmad.lo.s32 %%r0, %%r0, 31, %%r%d;\n", r)
		}
		p.WriteString(`	ld.param.u64 %a, [out];
	mov.u32 %u, %ntid.x;
	mad.lo.s32 %u, %y, %u, %t;
	mad.wide.u32 %a, %u, 4, %a;
	st.global.u32 [%a], %r0;
	ret;
}
`)
		m, err := ptx.Parse("pattern.ptx", []byte(p.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		shape := []ptx.Dim3{ptx.Dim(32), ptx.Dim(64), ptx.Dim(16, 4), ptx.Dim(8, 8), ptx.Dim(20), ptx.Dim(32, 2), ptx.Dim(24, 3)}[p.IntN(7)]
		l := Launch{Kernel: "k", Grid: ptx.Dim(1 + 2*p.IntN(2)), Block: shape, Reconverge: Policies()[p.IntN(len(Policies()))], MaxSteps: 1 << 16}
		n := p.number()
		at, width := l, []int{32, 32, 32, 16, 64}[p.IntN(5)]
		at.Mode, at.Engine, at.verifyProofs, at.WarpSize = Vector, Portable, true, width
		if _, err := patternRun(m, &at, n); errors.Is(err, probe.ErrMismatch) {
			t.Fatalf("program %d, block %v, warps of %d, %s: %v\n%s", i, shape, width, l.Reconverge.Name(), err, p)
		}
		if !Native.Available() || n < 0 && !p.far {
			continue
		}
		looked++
		for _, mode := range []Mode{Vector, Affine, Check} {
			at := l
			at.Mode, at.Engine, at.CompileEagerly = mode, Portable, i%2 == 0 && mode != Vector
			want, err1 := patternRun(m, &at, n)
			at.Engine = Native
			got, err2 := patternRun(m, &at, n)
			if fmt.Sprint(err1) != fmt.Sprint(err2) || !bytes.Equal(got, want) {
				t.Fatalf("program %d, block %v, %v mode, %s: by machine code %.200x, %v; by Go %.200x, %v\n%s", i, shape, mode, l.Reconverge.Name(), got, err2, want, err1, p)
			}
		}
	}
	if Native.Available() && looked == 0 {
		t.Error("no program ran as machine code")
	}
}

// TestAddressPatternsAfterShuffle: after a wait in shfl.sync, all warp splits at the same place merge, also splits that
// arrived by paths of different lengths and have not waited.
func TestAddressPatternsAfterShuffle(t *testing.T) {
	m, err := ptx.Parse("mix.ptx", []byte(patternHead+`	ld.param.u64 %c, [out];
	mov.u32 %u, 3;
	mov.u32 %x, 1;
	setp.lt.u32 %p, %t, 4;
	setp.lt.u32 %q, %t, 12;
	@%p bra EARLY;
	mov.u32 %u, 7;
	@%q bra EARLY;
	shfl.sync.idx.b32 %v, %t, 0, 31, -1;
	bra.uni DONE;
EARLY:
	mad.wide.u32 %a, %u, 4, %b;
	ld.global.u8 %x, [%a];
	bra.uni LAST;
AGAIN:
	mov.u32 %x, 5;
LAST:
	shfl.sync.idx.b32 %v, %t, 0, 31, -1;
	setp.eq.u32 %p, %v, 9;
	@%p bra AGAIN;
DONE:
	mad.wide.u32 %a, %t, 4, %c;
	st.global.u32 [%a], %x;
	ret;
}
`))
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) uint32 { return uint32(byte((patternRoom + 4*i) * (patternRoom + 4*i) >> 4)) } // as in patternRun
	var want []byte
	for i := range 32 {
		v := uint32(1)
		if i < 4 {
			v = at(3)
		} else if i < 12 {
			v = at(7)
		}
		want = binary.LittleEndian.AppendUint32(want, v)
	}
	for _, policy := range Policies() {
		if strings.HasPrefix(policy.Name(), "stack") { // lanes do not wait for other lanes
			continue
		}
		for _, mode := range []Mode{Vector, Affine, Check} {
			for _, backend := range []Engine{Portable, Native} {
				l := Launch{Kernel: "k", Grid: ptx.Dim(4), Block: ptx.Dim(32), Mode: mode, Engine: backend, Reconverge: policy, verifyProofs: mode == Vector && backend == Portable}
				if got, err := patternRun(m, &l, 0); err != nil || !bytes.Equal(got[:len(want)], want) {
					t.Errorf("%s, %v mode, machine code %v: %x, %v, want %x", policy.Name(), mode, backend != Portable, got[:min(len(got), len(want))], err, want)
				}
			}
		}
	}
}

// patternRun runs a kernel of this file, and returns its output.
func patternRun(module *ptx.Module, l *Launch, n int64) ([]byte, error) {
	m, err := NewDevice(Config{Workers: 1}).LoadModule(module)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 2*patternRoom)
	for i := range data {
		data[i] = byte(i * i >> 4)
	}
	in, err1 := NewBuffer(m.dev, data)
	output, err2 := m.dev.Alloc(4096)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	l.Args = []any{in.Addr() + patternRoom, output, uint32(n)}
	_, err = m.Run(context.Background(), l)
	return slices.Clone(output.Bytes()), err
}
