package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/alu/directive"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
)

const aluDir = "../../alu"

// refused has the functions that run only in Go: they read descriptions of their work through pointers, or choose formats and
// functions from tables at run time.
var refused = []string{"mixed3232", "mixed6432", "mixed3264", "convert3232", "convert3264", "convert6432", "convert6464", "convertWith"}

// translated returns all kernels that can be translated, and a translator with their C.
func translated(t *testing.T) ([]directive.Kernel, *translator) {
	tr, err := newTranslator(aluDir)
	if err != nil {
		t.Fatal(err)
	}
	var kernels []directive.Kernel
	all := directive.Read(aluDir)
	for _, k := range all {
		name, err := tr.lane(k)
		switch known := slices.Contains(refused, k.Decl.Name.Name); {
		case err != nil && !known:
			t.Errorf("%s: %v", k.Name, err)
		case err != nil:
			t.Logf("%s: %v", k.Name, err)
		case known:
			t.Errorf("%s is translated, and said to be refused", k.Name)
		case name != "lane_"+k.Name:
			t.Errorf("%s is called %s", k.Name, name)
		default:
			kernels = append(kernels, k)
		}
	}
	t.Logf("%d of %d kernels are translated", len(kernels), len(all))
	return kernels, tr
}

// TestTranslationIsDeterministic shows that two translations of package alu are the same text.
func TestTranslationIsDeterministic(t *testing.T) {
	_, a := translated(t)
	_, b := translated(t)
	if a.text() != b.text() {
		t.Error("two translations differ")
	}
}

// batch is an input of the C program: operands of 32 lanes. The program writes two results for each lane.
type batch struct {
	Kernel, Imm uint64
	In          [4][32]uint64
}

// TestTranslation compares the C of all kernels with package alu, on corner values and random values.
func TestTranslation(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("there is no clang-19 for this host: translations are not compared with the Go functions")
	}
	if testing.Short() {
		t.Skip("it takes clang half a minute")
	}
	kernels, tr := translated(t)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "lanes.c"), filepath.Join(dir, "lanes")
	if err := os.WriteFile(source, []byte(harness(kernels, tr.text())), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(clang, "-O3", "-march=x86-64-v3", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-Wno-pass-failed", "-I", here, "-o", program, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ops := map[string]code.Op{}
	for op := range code.Count {
		ops[op.String()] = op
	}
	run := exec.Command(program)
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.Stderr = os.Stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	// The program writes when its buffers are full, so the batches are written without waiting for results.
	asked := make(chan []batch, 1)
	go func() {
		defer in.Close()
		for i, k := range kernels {
			batches := batchesOf(uint64(i), k)
			asked <- batches
			if binary.Write(in, binary.LittleEndian, batches) != nil {
				return // the program has ended: reading reports it
			}
		}
	}()
	for _, k := range kernels {
		one := alu.Single[ops[k.Ops[0].Key]]
		batches := <-asked
		got := make([][2][32]uint64, len(batches))
		if err := binary.Read(results, binary.LittleEndian, got); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if msg := compare(one, batches, got); msg != "" {
			t.Errorf("%s%s", k.Name, msg)
		}
	}
	if err := run.Wait(); err != nil {
		t.Error(err)
	}
}

// compare describes the first difference and the number of differences.
func compare(one alu.One, batches []batch, got [][2][32]uint64) string {
	first, n := "", 0
	for i, b := range batches {
		for l := range 32 {
			x := [4]uint64{b.In[0][l], b.In[1][l], b.In[2][l], b.In[3][l]}
			d, d2 := one(x[0], x[1], x[2], x[3], b.Imm)
			if g, g2 := got[i][0][l], got[i][1][l]; g != d || g2 != d2 {
				if n++; n == 1 {
					first = fmt.Sprintf("(%#x, imm %#x) is %#x, %#x in C, %#x, %#x in Go", x, b.Imm, g, g2, d, d2)
				}
			}
		}
	}
	if n > 1 {
		first += fmt.Sprintf("; so %d times", n)
	}
	return first
}

// ctypes has the C names of Go's types.
var ctypes = map[string]string{
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
	"float32": "f32", "float64": "f64", "bool": "bool",
}

// harness returns a C program that executes batches, in loops that the compiler vectorises where it can.
func harness(kernels []directive.Kernel, lanes string) string {
	var b strings.Builder
	b.WriteString("#include \"go.h\"\n#include \"half.h\"\n#include <stdio.h>\n" + lanes)
	b.WriteString("struct batch { u64 kernel, imm, in[4][32]; };\n")
	for i, k := range kernels {
		fmt.Fprintf(&b, "static void run_%d(const struct batch *b, u64 out[2][32]) {\n\tu64 imm = b->imm;\n#pragma clang loop vectorize(assume_safety) unroll(disable)\n\tfor (int i = 0; i < 32; i++) {\n", i)
		var args []string
		imm := false
		n := 0
		for _, p := range k.Params {
			if p.Type == "" {
				imm = imm || p.Value == "instr.Imm"
				continue
			}
			x := fmt.Sprintf("b->in[%d][i]", n)
			n++
			switch p.Type {
			case "float32":
				x = "go_Float32frombits((u32)" + x + ")"
			case "float64":
				x = "go_Float64frombits(" + x + ")"
			default:
				x = "(" + ctypes[p.Type] + ")" + x
			}
			args = append(args, x)
		}
		if imm {
			args = append(args, "imm")
		}
		call := fmt.Sprintf("lane_%s(%s)", k.Name, strings.Join(args, ", "))
		if k.Halves {
			upper := strings.ReplaceAll(strings.ReplaceAll(call, "(u32)b", "(u16)(b"), "[i]", "[i] >> 16)")
			call = strings.ReplaceAll(call, "(u32)b", "(u16)b") + " | (u32)" + upper + " << 16"
		}
		r, second := "r", "0"
		if len(k.Results) == 2 {
			r, second = "r.r", "r.c"
		}
		switch k.Results[0] {
		case "float32":
			r = "go_Float32bits(" + r + ")"
		case "float64":
			r = "go_Float64bits(" + r + ")"
		case "int8":
			r = "(u8)" + r
		case "int16":
			r = "(u16)" + r
		case "int32":
			r = "(u32)" + r
		}
		fmt.Fprintf(&b, "\t\t__auto_type r = %s;\n\t\tout[0][i] = %s;\n\t\tout[1][i] = %s;\n\t}\n}\n", call, r, second)
	}
	b.WriteString("static void (*const run[])(const struct batch *, u64[2][32]) = {\n")
	for i := range kernels {
		fmt.Fprintf(&b, "\trun_%d,\n", i)
	}
	b.WriteString("};\nint main(void) {\n\tstatic struct batch b;\n\tstatic u64 out[2][32];\n\twhile (fread(&b, sizeof b, 1, stdin) == 1) {\n\t\trun[b.kernel](&b, out);\n\t\tif (fwrite(out, sizeof out, 1, stdout) != 1)\n\t\t\treturn 1;\n\t}\n}\n")
	return b.String()
}

// batchesOf returns the operands for a kernel: combinations of corner values, and random values.
func batchesOf(index uint64, k directive.Kernel) []batch {
	rnd := rand.New(rand.NewPCG(1, index))
	var types []string
	for _, p := range k.Params {
		if p.Type != "" {
			types = append(types, p.Type)
		}
	}
	imms := immsOf(k, rnd)
	const most = 1 << 12 // combinations of three or four operands
	var choices [4][]uint64
	for i, t := range types {
		choices[i] = slices.Clone(corners(t))
		if n := map[int]int{3: 16, 4: 8}[len(types)]; n > 0 && len(choices[i]) > n {
			rnd.Shuffle(len(choices[i]), func(a, b int) { choices[i][a], choices[i][b] = choices[i][b], choices[i][a] })
			choices[i] = choices[i][:n]
		}
	}
	var tuples [][4]uint64
	var rec func(i int, x [4]uint64)
	rec = func(i int, x [4]uint64) {
		if i == len(types) {
			tuples = append(tuples, x)
			return
		}
		for _, c := range choices[i] {
			x[i] = c
			rec(i+1, x)
		}
	}
	rec(0, [4]uint64{})
	for len(tuples) < most+2048 {
		var x [4]uint64
		for i, t := range types {
			x[i] = random(t, rnd)
		}
		tuples = append(tuples, x)
	}
	if slices.Equal(types, []string{"float32", "float32", "float32"}) {
		for range most {
			tuples = append(tuples, nearLeast(rnd))
		}
	}
	// In random order, so that every Imm gets operands of all kinds.
	rnd.Shuffle(len(tuples), func(i, j int) { tuples[i], tuples[j] = tuples[j], tuples[i] })
	n := max(len(tuples)/32, len(imms)*8)
	batches := make([]batch, n)
	for i := range batches {
		b := &batches[i]
		b.Kernel, b.Imm = index, imms[i%len(imms)]
		for l := range 32 {
			for o, v := range tuples[(i*32+l)%len(tuples)] {
				b.In[o][l] = v
			}
		}
	}
	return batches
}

// nearLeast returns three floats with a*b + c near the least normal number, where the result depends on flushing and rounding.
func nearLeast(rnd *rand.Rand) [4]uint64 {
	a := math.Ldexp(1+float64(rnd.IntN(1<<23))/(1<<23), rnd.IntN(80)-70)
	c := 0.0
	if rnd.IntN(2) == 0 {
		c = float64(float32(math.Ldexp(rnd.Float64()*2-1, rnd.IntN(40)-126)))
	}
	b := (0x1p-126 + float64(rnd.IntN(9)-4)*0x1p-151 - c) / a
	if rnd.IntN(2) == 0 {
		b, c = -b, -c
	}
	bits := func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
	return [4]uint64{bits(a), bits(b), bits(c)}
}

// immsOf returns values of Imm that the kernel's instructions may have.
func immsOf(k directive.Kernel, rnd *rand.Rand) []uint64 {
	if !slices.ContainsFunc(k.Params, func(p directive.Param) bool { return p.Value == "instr.Imm" }) {
		return []uint64{0}
	}
	var imms []uint64
	switch k.Decl.Name.Name {
	case "lop3":
		for i := range uint64(256) {
			imms = append(imms, i)
		}
	case "insert", "extract":
		for _, at := range []uint64{0, 8, 16, 24, 32, 48, 56} {
			for _, n := range []uint64{8, 16, 32} {
				if k.Decl.Name.Name == "extract" {
					at |= n << 8
				}
				imms = append(imms, at)
			}
		}
	case "cvtPack":
		for i := range uint64(8) {
			for _, size := range []uint64{2, 4, 8, 16} {
				imms = append(imms, size|i<<8)
			}
		}
	case "narrowF32", "narrowPairF32", "narrowPairB32", "widenPairB32":
		for _, format := range []uint64{0xf0fa, 0xf7f7, 0x127f7a, 0x70f2, 0x27073, 0x45032, 0x43013, 0xa80f3} { // f16, bf16, tf32, e5m2, e4m3, e3m2, e2m1, ue5m3
			for range 8 {
				imms = append(imms, format|rnd.Uint64N(5)<<20|rnd.Uint64N(128)<<23)
			}
		}
	default: // alu.Modifiers
		for r := fp.RN; r <= fp.RP; r++ {
			imms = append(imms, alu.Modifiers{Rnd: r}.Imm())
			for i := range 8 {
				imms = append(imms, uint64(r)|1<<(8+i))
			}
			for range 8 {
				imms = append(imms, uint64(r)|rnd.Uint64N(256)<<8)
			}
		}
	}
	return imms
}

var cornersOf = map[string][]uint64{}

// corners returns numbers of a type at which operations change their behaviour.
func corners(t string) (c []uint64) {
	if c := cornersOf[t]; c != nil {
		return c
	}
	defer func() { cornersOf[t] = c }()
	switch t {
	case "bool":
		return []uint64{0, 1}
	case "float32":
		for _, u := range []uint32{0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x3effffff, 0x3f7fffff, 0x3f800001, 0x4b7fffff, 0x4b800001, 0x33800000} {
			c = append(c, uint64(u), uint64(u|1<<31))
		}
		for _, f := range []float32{1, 2, .5, 1.5, 2.5, 3, 1.0 / 3, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 65504, 65520, 0x1p-14, 0x1p-24, 0x1p-25, 128, 150, -149.5, math.Pi, math.Pi / 2, 0x1p24, 0x1p126, 0x1p127, 0x1p-126, 1 - 0x1p-24} {
			c = append(c, uint64(math.Float32bits(f)), uint64(math.Float32bits(-f)))
		}
	case "float64":
		for _, u := range []uint64{0, 1, 2, 1<<52 - 1, 1 << 52, 1<<52 + 1, 0x7ff<<52 - 1, 0x7ff << 52, 0x7ff<<52 + 1, 0xfff << 51, 1<<63 - 1} {
			c = append(c, u, u|1<<63)
		}
		for _, f := range []float64{1, 2, .5, 1.5, 2.5, 1. / 3, 0x1p31, 0x1p31 - .5, 0x1p32, 0x1p63, 0x1p64, 0x1p53 + 2, 0x1p-126, 0x1p-126 - 0x1p-151, 0x1p-126 - 0x1p-150, 0x1p-149, 0x1p-150, 0x1p128, math.MaxFloat32, 0x1p-1000, 0x1p1000, 1 + 0x1p-24, 1 + 0x1p-52} {
			c = append(c, math.Float64bits(f), math.Float64bits(-f))
		}
	default:
		w := 64
		fmt.Sscanf(strings.TrimLeft(t, "uint"), "%d", &w)
		mask := ^uint64(0) >> (64 - w)
		seen := map[uint64]bool{}
		add := func(u uint64) {
			if u &= mask; !seen[u] {
				seen[u] = true
				c = append(c, u)
			}
		}
		for _, i := range []int{0, 1, 3, 4, 5, 7, 8, 14, 15, 16, 24, 31, 32, 52, 53, 62, 63} {
			for d := range uint64(3) {
				u := uint64(1)<<i + d - 1
				add(u)
				add(-u)
			}
		}
		// Half-precision floats of every class.
		for _, u := range []uint64{0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7ff7, 0x7fff, 0x3f80, 0x7f80, 0x7f7f} {
			add(u | u<<16 ^ 1<<31)
			add(u | 1<<15)
			add(u)
		}
	}
	return c
}

// random returns a number of a type: random bits, a number near a corner, or a number of moderate size.
func random(t string, rnd *rand.Rand) uint64 {
	u := rnd.Uint64()
	switch c := corners(t); {
	case t == "bool":
		return u & 1
	case u%4 == 0:
		return c[rnd.IntN(len(c))] + rnd.Uint64N(5) - 2
	case u%4 == 1 && t == "float32":
		return uint64(math.Float32bits(float32(math.Ldexp(rnd.NormFloat64(), rnd.IntN(40)-20))))
	case u%4 == 1 && t == "float64":
		return math.Float64bits(math.Ldexp(rnd.NormFloat64(), rnd.IntN(80)-40))
	case u%4 == 1:
		return rnd.Uint64() >> rnd.IntN(64)
	}
	return rnd.Uint64()
}

// TestBytesReadOfConstant checks constantBytes: the number of bytes that an instruction reads of a constant in a
// section of several sizes.
func TestBytesReadOfConstant(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte // up to the address
		want int
	}{
		{"vpbroadcastb ymm0", []byte{0xc4, 0xe2, 0x7d, 0x78, 0x05}, 1},
		{"vpbroadcastw ymm0", []byte{0xc4, 0xe2, 0x7d, 0x79, 0x05}, 2},
		{"vpbroadcastw zmm16", []byte{0x62, 0xe2, 0x7d, 0x48, 0x79, 0x05}, 2},
		{"vpandq zmm0, zmm0", []byte{0x62, 0xf1, 0xfd, 0x48, 0xdb, 0x05}, 64},
		{"vcvttps2udq zmm0", []byte{0x62, 0xf1, 0x7c, 0x48, 0x78, 0x05}, 64},
		{"vcvtps2udq zmm0", []byte{0x62, 0xf1, 0x7c, 0x48, 0x79, 0x05}, 64},
		{"vpandq zmm0, zmm0, a broadcast", []byte{0x62, 0xf1, 0xfd, 0x58, 0xdb, 0x05}, 0},
		{"vpandd ymm16, ymm16", []byte{0x62, 0xe1, 0x7d, 0x20, 0xdb, 0x05}, 0},
		{"vpaddd ymm0, ymm0", []byte{0xc5, 0xfd, 0xfe, 0x05}, 0},
		{"vpandq zmm0, zmm0, at a register", []byte{0x62, 0xf1, 0xfd, 0x48, 0xdb, 0x87}, 0},
	} {
		if got := constantBytes(append(c.code, 0, 0, 0, 0), len(c.code)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
