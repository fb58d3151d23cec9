package interp

// This file compares random programs on the portable engine and in machine code: accesses of all sizes at and beyond the
// ends of memory, misaligned, by diverged lanes, in loops. Memory, counts and traps must be equal.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/internal/random"
	"gemu/probe"
	"gemu/ptx"
)

// accessBytes is the size of the memory accessed by these programs.
const accessBytes = 1 << 10

// accessProgram makes a program: in each iteration of a loop, each thread computes a byte's number from its own index and
// the iteration's, and possibly loads or stores there.
func accessProgram(r *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, `.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[%d];
.entry k(.param .u64 in, .param .u64 out)
{
	.reg .b64 %%in, %%out, %%a, %%o, %%w;
	.reg .b32 %%t, %%k, %%n, %%s, %%v, %%x;
	.reg .b16 %%h;
	.reg .pred %%p, %%q, %%more;
	ld.param.u64 %%in, [in];
	ld.param.u64 %%out, [out];
	mov.u32 %%t, %%tid.x;
	mov.u32 %%k, 0;
	mov.u32 %%v, %%t;
	cvt.u16.u32 %%h, %%t;
	cvt.u64.u32 %%w, %%t;
AGAIN:
`, accessBytes)
	for i := range 1 + r.IntN(4) {
		size := 1 << r.IntN(4)
		steps := []int{0, size, size, 2 * size, -size, 4, 1}
		step, round := steps[r.IntN(len(steps))], steps[r.IntN(len(steps))]
		from := r.IntN(accessBytes/size) * size
		switch r.IntN(12) {
		case 0:
			from = accessBytes - size*r.IntN(40)
		case 1:
			from = -size * r.IntN(3)
		case 2:
			from++
		}
		fmt.Fprintf(&b, "\tmad.lo.s32 %%n, %%t, %d, %d;\n\tmad.lo.s32 %%n, %%k, %d, %%n;\n", step, from, round)
		if r.IntN(3) > 0 { // in bounds for every value
			fmt.Fprintf(&b, "\tand.b32 %%n, %%n, %d;\n", accessBytes-size)
		}
		fmt.Fprintf(&b, "\txor.b32 %%x, %%t, %%k;\n\tand.b32 %%x, %%x, %d;\n\tsetp.ne.u32 %%p, %%x, 0;\n", []int{0, 1, 3, 16, 31, 64}[r.IntN(6)])
		part := r.IntN(3)
		guard := []string{"", "@%p ", "@!%p "}[r.IntN(3)]
		if part == 0 {
			fmt.Fprintf(&b, "\t%sbra SKIP%d;\n", guard, i)
			guard = ""
		}
		space, address := ".global", "%a"
		fmt.Fprintf(&b, "\tcvt.s64.s32 %%a, %%n;\n\tadd.s64 %%a, %%a, %%in;\n")
		switch r.IntN(4) {
		case 0:
			space, address = ".shared", "%s"
			b.WriteString("\tmov.u32 %s, tile;\n\tadd.s32 %s, %s, %n;\n")
		case 1:
			space = ".shared"
			b.WriteString("\tmov.u64 %a, tile;\n\tcvt.s64.s32 %o, %n;\n\tadd.s64 %a, %a, %o;\n")
		case 2:
			space = ""
		}
		data, types := map[int]string{1: "%v", 2: "%h", 4: "%v", 8: "%w"}[size], map[int]string{1: "8", 2: "16", 4: "32", 8: "64"}[size]
		if size < 8 && r.IntN(4) == 0 {
			data = "%w"
		}
		off := []string{"", "+16", "+-16"}[r.IntN(3)]
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "\t%sst%s.u%s [%s%s], %s;\n", guard, space, types, address, off, data)
		} else {
			fmt.Fprintf(&b, "\t%sld%s.%s%s %s, [%s%s];\n", guard, space, []string{"u", "s"}[r.IntN(2)], types, data, address, off)
		}
		if part == 0 {
			fmt.Fprintf(&b, "SKIP%d:\n", i)
		}
		b.WriteString("\tadd.s32 %v, %v, 77;\n\tadd.s64 %w, %w, 5;\n")
	}
	fmt.Fprintf(&b, `	add.s32 %%k, %%k, 1;
	setp.lt.u32 %%more, %%k, %d;
	%s
	@%%more bra AGAIN;
	mul.wide.u32 %%a, %%t, 16;
	add.s64 %%a, %%a, %%out;
	cvt.u32.u16 %%x, %%h;
	st.global.u32 [%%a], %%v;
	st.global.u32 [%%a+4], %%x;
	st.global.u64 [%%a+8], %%w;
	ret;
}
`, 1+r.IntN(5), []string{"", "and.b32 %x, %t, 3;\n\tsetp.lt.or.u32 %more, %k, %x, %more;"}[r.IntN(2)])
	return b.String()
}

// machineCodeAgrees runs a program on both engines.
func machineCodeAgrees(src string, in []byte, block ptx.Dim3, grid int, args ...any) error {
	m, err := ptx.Parse("program.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, src)
	}
	for _, launch := range []Launch{{Mode: Vector}, {Mode: Affine}, {Mode: Affine, CompileEagerly: true}, {Mode: Check, CompileEagerly: true}} {
		outcome := func(b Engine) (string, error) {
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				return "", err
			}
			bin, err1 := NewBuffer(mod.dev, in)
			bout, err2 := mod.dev.Alloc(max(len(in), grid*block.Count()*random.Stride))
			if err := errors.Join(err1, err2); err != nil {
				return "", err
			}
			result, err := mod.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(grid), Block: block, Args: append([]any{bin, bout}, args...), MaxSteps: 1 << 16, Mode: launch.Mode, CompileEagerly: launch.CompileEagerly, Engine: b})
			text := fmt.Sprintf("%v\nin  %x\nout %x", err, bin.Bytes(), bout.Bytes())
			if trap := new(probe.Trap); errors.As(err, &trap) {
				text += "\n" + trap.Report()
			}
			if v := mod.Var("scratch"); v != nil {
				text += fmt.Sprintf("\nscratch %x", v.Bytes())
			}
			if result != nil {
				text += fmt.Sprintf("\n%+v", result.Counts)
			}
			return text, nil
		}
		want, err1 := outcome(Portable)
		got, err2 := outcome(Native)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%w in %v mode, eager %v: machine code\n%s\nportable\n%s\n%s", errDisagree, launch.Mode, launch.CompileEagerly, got, want, src)
		}
	}
	return nil
}

// machineCodeProgram makes a program from a seed, and runs it on both engines: a program of accesses, or a program with
// structured values and diverging lanes.
func machineCodeProgram(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0))
	if seed%2 == 0 {
		in := make([]byte, accessBytes)
		for i := range in {
			in[i] = byte(r.Uint32())
		}
		return machineCodeAgrees(accessProgram(r), in, []ptx.Dim3{ptx.Dim(32), ptx.Dim(20), ptx.Dim(40), ptx.Dim(1)}[r.IntN(4)], 1)
	}
	block := structuredBlocks[r.IntN(len(structuredBlocks))]
	src, in := random.Structured(randomVariants(), seed, structuredGrid*block.Count(), r.IntN(2) == 0)
	return machineCodeAgrees(src, in, block, structuredGrid, uint32(12), uint64(1)<<40)
}

// TestMachineCodeOnRandomPrograms: random programs have the same outcome in machine code and in Go.
func TestMachineCodeOnRandomPrograms(t *testing.T) {
	part.SkipShort(t)
	if !Native.Available() {
		t.Skip("no machine code for this host")
	}
	first := part.Seed(t)
	for i := range part.Count(30, 200, 20000) {
		if err := machineCodeProgram(first + uint64(i)); err != nil {
			t.Fatalf("seed %#x: %v", first+uint64(i), err)
		}
	}
}

// TestMachineCodeStack: after alloca has moved local memory, stores and loads in the same block use its new place (manual
// 9.7.17). Values are loaded, and therefore on the lanes.
func TestMachineCodeStack(t *testing.T) {
	if !Native.Available() {
		t.Skip("no machine code for this host")
	}
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 in, .param .u64 out)
{
	.local .align 4 .b8 buf[16];
	.reg .b64 %in, %out, %a, %more;
	.reg .b32 %t, %v, %w;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %a, %t, 4;
	add.s64 %in, %in, %a;
	add.s64 %out, %out, %a;
	ld.global.u32 %v, [%in];
	alloca.u64 %more, 4096;
	st.local.u32 [buf], %v;
	st.local.u32 [%more+4000], %v;
	bar.sync 0;
	ld.local.u32 %w, [buf];
	st.global.u32 [%out], %w;
	ld.local.u32 %w, [%more+4000];
	st.global.u32 [%out+128], %w;
	ret;
}
`
	in := make([]byte, 256)
	for i := range in {
		in[i] = byte(7 * i)
	}
	if err := machineCodeAgrees(src, in, ptx.Dim(32), 1); err != nil {
		t.Fatal(err)
	}
}

// FuzzMachineCode is TestMachineCodeOnRandomPrograms with a seed from the fuzzer.
func FuzzMachineCode(f *testing.F) {
	if !Native.Available() {
		f.Skip("no machine code for this host")
	}
	for i := range uint64(8) {
		f.Add(i)
	}
	randomVariants()
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := machineCodeProgram(seed); err != nil {
			t.Fatal(err)
		}
	})
}
