package sanitize_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// sharedHead begins the kernels of sharedProgram and branchProgram.
const sharedHead = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %j, %x, %a, %w, %o;
	.reg .u64 %p;
	.reg .pred %q, %r;
	.shared .align 8 .b8 board[1024];
	mov.u32 %t, %tid.x;
	shr.u32 %w, %t, 5;
	mov.u32 %o, board;
	mov.u32 %i, 0;
	mov.u32 %j, 0;
`

// writeAddress sets %a to an address: in a row, two rows, backwards, of pairs, scattered, uniform, different in each iteration.
func writeAddress(b *strings.Builder, rng *rand.Rand) {
	list := []string{"shl.b32 %a, %t, 2;", "and.b32 %a, %t, 15; shl.b32 %a, %a, 2;", "sub.u32 %a, 95, %t; shl.b32 %a, %a, 2;", "shr.u32 %a, %t, 1; shl.b32 %a, %a, 2;",
		"mul.lo.u32 %a, %t, 52; and.b32 %a, %a, 1016;", "mov.u32 %a, 64;", "shl.b32 %a, %i, 2;", "add.u32 %a, %t, %i; and.b32 %a, %a, 127; shl.b32 %a, %a, 2;"}
	fmt.Fprintf(b, "\t%s\n\tadd.u32 %%a, %%a, %%o;\n", list[rng.IntN(len(list))])
}

// branchProgram returns a kernel in which a warp has another path than the others. Both paths are random barriers, loads and stores.
func branchProgram(rng *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\tsetp.eq.u32 %%q, %%w, %d;\n\t@%%q bra OWN;\n", sharedHead, rng.IntN(3))
	for path := range 2 {
		b.WriteString("\tbar.sync 0;\n")
		for step := range 1 + rng.IntN(4) {
			switch n := rng.IntN(5); {
			case n < 2:
				b.WriteString("\tbar.sync 0;\n")
			case n < 4: // the first iteration reads other words: its load is never in machine code
				fmt.Fprintf(&b, "\tadd.u32 %%a, %%o, 512;\n\tmov.u32 %%j, 0;\nLOADS%d%d:\n\tld.shared.u32 %%x, [%%a];\n", path, step)
				writeAddress(&b, rng)
				fmt.Fprintf(&b, "\tadd.u32 %%j, %%j, 1;\n\tsetp.lt.u32 %%q, %%j, 4;\n\t@%%q bra LOADS%d%d;\n", path, step)
			default:
				writeAddress(&b, rng)
				b.WriteString("\tst.shared.u32 [%a], %t;\n")
			}
		}
		if path == 0 {
			b.WriteString("\tret;\nOWN:\n")
		}
	}
	b.WriteString([]string{"", "\texit;\n"}[rng.IntN(2)] + "}\n")
	return b.String()
}

// sharedProgram returns a kernel with random loads, stores and barriers of shared memory in a loop. Loads without a store or barrier
// between them may be a few or, with many, hundreds. With once, the loop has a single iteration and no branch, and warp 2 may exit early.
func sharedProgram(rng *rand.Rand, many, once bool) string {
	var b strings.Builder
	b.WriteString(sharedHead + "NEXT:\n")
	address := func() { writeAddress(&b, rng) }
	if many {
		b.WriteString("\tmov.u32 %j, 0;\nAGAIN:\n")
		for range 3 {
			address()
			b.WriteString("\tld.shared.u32 %x, [%a];\n")
		}
		b.WriteString("\tmad.lo.u32 %a, %j, -4, %o;\n\tld.shared.u32 %x, [%a+1016];\n") // each word once
		b.WriteString("\tadd.u32 %j, %j, 1;\n\tsetp.lt.u32 %q, %j, 180;\n\t@%q bra AGAIN;\n")
	}
	for range 4 + rng.IntN(8) {
		switch n := rng.IntN(13); {
		case once && n == 0:
			b.WriteString("\tsetp.eq.u32 %q, %w, 2;\n\t@%q exit;\n")
		case n < 6:
			address()
			fmt.Fprintf(&b, "\tld.shared.%s %%x, [%%a];\n", []string{"u32", "u32", "u8", "u16"}[rng.IntN(4)])
		case n < 8: // a store by a warp or a lane, in some iterations
			address()
			fmt.Fprintf(&b, "\tsetp.eq.u32 %%q, %%%s, %d;\n\tsetp.eq.and.u32 %%q, %%i, %d, %%q;\n\t@%%q st.shared.u32 [%%a], %%t;\n", []string{"w", "t"}[rng.IntN(2)], rng.IntN(3), rng.IntN(4))
		case n < 10:
			b.WriteString("\tbar.sync 0;\n")
		case n < 11: // a barrier of two warps
			fmt.Fprintf(&b, "\tsetp.lt.u32 %%q, %%w, 2;\n\t@%%q bar.sync 1, 64;\n")
		case n < 12:
			b.WriteString("\tbar.warp.sync -1;\n")
		default:
			address()
			fmt.Fprintf(&b, "\tsetp.eq.u32 %%q, %%t, %d;\n\t@%%q %s.shared.u32 [%%a], 1;\n", rng.IntN(96), []string{"st.volatile", "red.add", "st.release.cta"}[rng.IntN(3)])
		}
	}
	if !once {
		b.WriteString("\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %q, %i, 4;\n\t@%q bra NEXT;\n")
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// storeProgram returns a kernel with random stores, loads and barriers, in a loop: of shared memory, and of global memory that no one has
// written before. Stores are of several sizes, by all, by a warp or by a lane, of equal and of different values.
func storeProgram(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString(sharedHead + "\t.reg .u64 %g;\n\t.reg .u32 %c;\n\tmov.u32 %x, 0;\n\tmov.u32 %c, %ctaid.x;\n\tld.param.u64 %g, [out];\nNEXT:\n")
	for n := range 6 + rng.IntN(10) {
		space, at := "shared", "%a"
		b.WriteString("\tmov.u32 %o, board;\n")
		if rng.IntN(2) == 0 { // memory of all CTAs, or of one
			space, at = "global", "%p"
			fmt.Fprintf(&b, "\tmul.lo.u32 %%o, %%c, %d;\n", 1024*rng.IntN(2))
		}
		writeAddress(&b, rng)
		b.WriteString("\tcvt.u64.u32 %p, %a;\n\tadd.u64 %p, %p, %g;\n")
		switch rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "\tsetp.ne.u32 %%q, %%w, %d;\n\t@%%q bra SKIP%d;\n", rng.IntN(3), n)
		case 1:
			fmt.Fprintf(&b, "\tsetp.ne.u32 %%q, %%t, %d;\n\t@%%q bra SKIP%d;\n", rng.IntN(96), n)
		}
		value := []string{"%t", "%i", "5", "%x", "%w"}[rng.IntN(5)]
		switch k := rng.IntN(16); {
		case k < 7:
			fmt.Fprintf(&b, "\tst.%s.%s [%s], %s;\n", space, []string{"u32", "u32", "u8", "u16"}[rng.IntN(4)], at, value)
		case k < 8:
			fmt.Fprintf(&b, "\tand.b64 %%p, %%p, -8;\n\tand.b32 %%a, %%a, -8;\n\tst.%s.v2.u32 [%s], {%s, %%t};\n", space, at, value)
		case k < 12:
			fmt.Fprintf(&b, "\tld.%s.%s %%x, [%s];\n", space, []string{"u32", "u32", "u8", "u16"}[rng.IntN(4)], at)
		case k < 13:
			fmt.Fprintf(&b, "\t%s [%s], 1;\n", []string{"st.volatile." + space + ".u32", "red." + space + ".add.u32", "st.release.gpu." + space + ".u32"}[rng.IntN(3)], at)
		default:
			b.WriteString("\tsetp.gt.u32 %r, %x, 90;\n\t@%r add.u32 %x, %x, -1;\n")
		}
		fmt.Fprintf(&b, "SKIP%d:\n", n)
		if k := rng.IntN(4); k < 2 {
			b.WriteString([]string{"\tbar.sync 0;\n", "\tbar.warp.sync -1;\n"}[k])
		}
	}
	b.WriteString("\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %q, %i, 5;\n\t@%q bra NEXT;\n\tret;\n}\n")
	return b.String()
}

// earlyExit is a kernel whose warp 0 loads shared memory between two barriers and exits before the second, which does not order its
// loads before the stores that follow.
const earlyExit = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %x, %a;
	.reg .pred %q;
	.shared .align 8 .b8 board[1024];
	mov.u32 %t, %tid.x;
	mov.u32 %a, board;
	mad.lo.u32 %a, %t, 4, %a;
	st.shared.u32 [%a], %t;
	mov.u32 %i, 0;
	bar.sync 0;
AGAIN:
	ld.shared.u32 %x, [%a];
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 9;
	@%q bra AGAIN;
	setp.lt.u32 %q, %t, 32;
	@%q exit;
	bar.sync 0;
	st.shared.u32 [%a+-128], %t;
	ret;
}
`

// exitAfterOwnBarrier is a kernel whose warps come to the first barrier at different instructions. After it, warp 0 loads shared memory
// and exits. The other warps store after a second barrier, which does not order the loads of warp 0 before the stores; nor is one of
// these warps' loads in order with the other's stores. The first load of each loop, which is never in machine code, reads other words.
const exitAfterOwnBarrier = endAfterOwnBarrier + "\texit;\n"

// endAfterOwnBarrier is exitAfterOwnBarrier without an exit: warp 0 comes to the end of the kernel. The closing brace is missing.
const endAfterOwnBarrier = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %t, %i, %x, %a, %b;
	.reg .pred %q;
	.shared .align 8 .b8 board[1024];
	mov.u32 %t, %tid.x;
	mov.u32 %a, board;
	mad.lo.u32 %a, %t, 4, %a;
	st.shared.u32 [%a], %t;
	add.u32 %b, %a, 512;
	mov.u32 %i, 0;
	setp.lt.u32 %q, %t, 32;
	@%q bra FIRST;
	bar.sync 0;
	bar.sync 0;
OTHERS:
	ld.shared.u32 %x, [%b];
	mov.u32 %b, %a;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 9;
	@%q bra OTHERS;
	st.shared.u32 [%a+-128], %t;
	ret;
FIRST:
	bar.sync 0;
AGAIN:
	ld.shared.u32 %x, [%b];
	mov.u32 %b, %a;
	add.u32 %i, %i, 1;
	setp.lt.u32 %q, %i, 9;
	@%q bra AGAIN;
`

// TestEnginesFindTheSameInSharedMemory compares the races that the engines find in random programs, in which loads without an exit
// come before conflicting stores and barriers; and the findings of all sanitizers in random programs with stores without an exit.
func TestEnginesFindTheSameInSharedMemory(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("this host has no native engine")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	tools, err := sanitize.Parse("race")
	if err != nil {
		t.Fatal(err)
	}
	all, err := sanitize.Parse("all")
	if err != nil {
		t.Fatal(err)
	}
	racy := 0
	for i := range 320 {
		tools := tools
		src := ""
		switch {
		case i == 0:
			src = earlyExit
		case i == 1:
			src = exitAfterOwnBarrier + "}\n"
		case i == 2:
			src = endAfterOwnBarrier + "}\n"
		case i < 120:
			src = sharedProgram(rng, i%8 == 0, i%2 != 0)
		case i < 240:
			src = branchProgram(rng)
		default:
			src, tools = storeProgram(rng), all
		}
		found := func(engine interp.Engine) (text string, races int) {
			s := sanitize.New(tools, sanitize.Options{})
			dev := interp.NewDevice(interp.Config{Probes: s.Probes})
			m, err := dev.Load("shared.ptx", []byte(src))
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			out, err := dev.Alloc(4096)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Run(context.Background(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(2), Block: ptx.Dim(96), Args: []any{out}, Mode: interp.Vector, Engine: engine}); err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			s.Finish()
			var b strings.Builder
			finding.Print(&b, s.Findings(), nil, 0)
			return b.String(), len(s.Findings())
		}
		want, races := found(interp.Portable)
		got, _ := found(interp.Native)
		if want != got {
			t.Fatalf("the native engine found\n%s\nthe portable engine\n%s\nin\n%s", got, want, src)
		}
		if races > 0 {
			racy++
		}
	}
	if t.Logf("races in %d programs", racy); racy < 10 {
		t.Errorf("races in only %d programs", racy)
	}
}
