package interp

// This file runs random programs on every engine and compares what they leave
// in memory.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/ptx"
)

// program writes random PTX: straight-line code out of the instruction table,
// guards, ifs and loops whose conditions differ between lanes.
type program struct {
	strings.Builder
	r      *rand.Rand
	labels int
	loops  int
	budget int

	constants int // of six operands so many are constants, and one more
}

// Registers of a random program, per width.
const (
	nPred  = 4
	nWide  = 6  // of 64 bits
	nWord  = 10 // of 32 bits
	nHalf  = 6  // of 16 bits
	stride = 8*nWide + 4*nWord + 4*nHalf + 4*nPred
)

// unwritten are opcodes that want registers which random programs do not have.
var unwritten = regexp.MustCompile(`\.(e2m1x2|b128)|\.[us]8\.bf16|\.bf16\.[us]8`)

// randomVariants are the opcodes of random programs: everything pure that runs
// and whose result PTX defines to the bit.
var randomVariants = func() []*ptx.Variant {
	var list []*ptx.Variant
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms {
			if !f.Effects.Has(ptx.Pure) || f.Abolished() {
				continue
			}
			if slices.Contains([]string{"mov", "isspacep", "mapa", "getctarank", "cvta", "createpolicy", "stacksave"}, op.Name) {
				continue
			}
			for _, v := range f.Variants() {
				if v.Has("approx") || v.Has("full") {
					continue
				}
				if unwritten.MatchString(v.Text) {
					continue // registers of 8 bits and of 128: cases have them
				}
				if _, runs := Supports(v); runs {
					list = append(list, v)
				}
			}
		}
	}
	return list
}

func (p *program) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// reg is a random register of at least the width of the type (just that unless
// wider is allowed).
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

// value is a random number with a bias to corners.
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

func (p *program) instr(variants []*ptx.Variant) {
	v := variants[p.r.IntN(len(variants))]
	name := v.Mnemonic()
	var ops []string
	for i, o := range v.Form.Operands {
		t := v.OperandType(i)
		text := ""
		switch {
		case o.Optional && !v.With(&o) && (!o.Pair && name != "min" && name != "max" || p.r.IntN(2) == 0):
			continue
		case o.Optional && !o.Pair && !v.With(&o):
			continue
		case o.Const:
			text = fmt.Sprint(p.r.IntN(256))
		case o.Vector:
			return
		case name == "fns" && o.Name == "b":
			text = fmt.Sprint(p.r.IntN(32))
		case v.TakesConstant(i) && t != ptx.Pred && (name != "cvt" || t.Kind() != ptx.Bits) && p.r.IntN(6) <= p.constants && t.Bits() >= 32:
			x := p.value()
			if p.constants > 0 && p.r.IntN(2) == 0 {
				x = uint64(p.r.IntN(40)) // such as shifts and factors of addresses
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
			if o.Wider && p.r.IntN(4) == 0 && !t.IsFloat() && t.Bits() < 64 && !v.Has("bf16") {
				t = ptx.B64 // a register wider than the type
			}
			text = p.reg(t)
			if o.Selector && p.r.IntN(2) == 0 {
				text += p.selector(v, o.Writes())
			}
			switch {
			case !o.Negate || p.r.IntN(2) == 0:
			case t == ptx.Pred:
				text = "!" + text
			case o.Name == "a" && !v.Has("po"): // not with c, of vmad
				text = "-" + text
			}
		}
		if o.Pair {
			if text == ops[len(ops)-1] {
				text = "_" // writing one register twice has no defined order
			}
			ops[len(ops)-1] += "|" + text
		} else {
			ops = append(ops, text)
		}
	}
	guard := ""
	if p.r.IntN(5) == 0 {
		guard = "@" + []string{"", "!"}[p.r.IntN(2)] + p.reg(ptx.Pred) + " "
	}
	p.f("\t%s%s %s;\n", guard, v.Text, strings.Join(ops, ", "))
}

// selector is one of a register of a video instruction, or none.
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

func (p *program) block(depth int) {
	for range 2 + p.r.IntN(6) {
		if p.budget--; p.budget < 0 {
			return
		}
		switch k := p.r.IntN(10); {
		case k == 0 && depth < 3:
			n := p.labels
			p.labels++
			p.f("\t@%s bra ELSE%d;\n", p.reg(ptx.Pred), n)
			p.block(depth + 1)
			p.f("\tbra END%d;\nELSE%d:\n", n, n)
			if p.r.IntN(2) == 0 {
				p.block(depth + 1)
			}
			p.f("END%d:\n", n)
		case k == 1 && depth < 2:
			n := p.labels
			p.labels++
			c := p.loops
			p.loops++
			p.f("\tmov.u32 %%c%d, %%w%d;\n\tand.b32 %%c%d, %%c%d, 3;\nLOOP%d:\n", c, p.r.IntN(nWord), c, c, n)
			p.block(depth + 1)
			if p.r.IntN(3) == 0 {
				p.f("\t@%s bra OUT%d;\n", p.reg(ptx.Pred), n)
			}
			p.f("\tadd.u32 %%c%d, %%c%d, -1;\n\tsetp.gt.s32 %%q, %%c%d, 0;\n\t@%%q bra LOOP%d;\nOUT%d:\n", c, c, c, n, n)
		default:
			p.instr(randomProgramVariants())
		}
	}
}

var variantCache []*ptx.Variant

func randomProgramVariants() []*ptx.Variant {
	if variantCache == nil {
		variantCache = randomVariants()
	}
	return variantCache
}

// randomProgram makes a program and inputs for its threads.
func randomProgram(seed uint64, threads int) (src string, in []byte) {
	p := &program{r: rand.New(rand.NewPCG(seed, 1)), budget: 60}
	body := &program{r: p.r, budget: 60}
	body.block(0)
	p.f(".version 8.8\n.target sm_100\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{\n")
	p.f("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>;\n\t.reg .b64 %%d<%d>;\n\t.reg .pred %%p<%d>, %%q;\n\t.reg .u32 %%c<%d>;\n\t.reg .u64 %%in, %%out, %%t;\n\t.reg .u32 %%tid, %%one;\n", nHalf, nWord, nWide, nPred, body.loops+1)
	p.f("\tld.param.u64 %%in, [in];\n\tld.param.u64 %%out, [out];\n\tmov.u32 %%tid, %%tid.x;\n\tmul.wide.u32 %%t, %%tid, %d;\n\tadd.u64 %%in, %%in, %%t;\n\tadd.u64 %%out, %%out, %%t;\n", stride)
	pool(func(name, typ string, off int) { p.f("\tld.global.%s %s, [%%in+%d];\n", typ, name, off) })
	for i := range nPred {
		p.f("\tsetp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i+1)
	}
	p.WriteString(body.String())
	pool(func(name, typ string, off int) { p.f("\tst.global.%s [%%out+%d], %s;\n", typ, off, name) })
	for i := range nPred {
		p.f("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, stride-4*nPred+4*i)
	}
	p.f("\tret;\n}\n")
	in = make([]byte, threads*stride)
	for i := 0; i+8 <= len(in); i += 4 {
		v := p.value()
		switch p.r.IntN(3) {
		case 0: // the same in many lanes
			v = corners[i/4%len(corners)]
		case 1:
			v = uint64(i / stride * 3)
		}
		binary.LittleEndian.PutUint32(in[i:], uint32(v))
	}
	return p.String(), in
}

// agree runs a program on every engine and reports the first difference.
func agree(src string, in []byte, threads int, widths []int) error {
	m, err := ptx.Parse("random.ptx", []byte(src))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, err.(ptx.ErrorList)[0].Snippet())
	}
	var want []byte
	wantName := ""
	for _, e := range engines() {
		for _, width := range widths {
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				return err
			}
			bin, err1 := NewBuffer(mod.dev, in)
			bout, err2 := mod.dev.Alloc(len(in))
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if err := e.run(mod, &Launch{Kernel: "k", Grid: Dim(1), Block: Dim(threads), Args: []any{bin, bout}, WarpSize: width, MaxSteps: 1 << 20}); err != nil {
				return fmt.Errorf("%s, warp %d: %w", e.name, width, err)
			}
			name := fmt.Sprintf("%s, warp %d", e.name, width)
			if want == nil {
				want, wantName = bout.Bytes(), name
				continue
			}
			if got := bout.Bytes(); !bytes.Equal(got, want) {
				i := 0
				for got[i] == want[i] {
					i++
				}
				i &^= 3
				return fmt.Errorf("%w: thread %d offset %d: %s gives %x, %s %x", errDisagree, i/stride, i%stride, name, got[i:i+4], wantName, want[i:i+4])
			}
		}
	}
	return nil
}

// errDisagree is the error of agree when engines differ.
var errDisagree = errors.New("engines disagree")

// shrink leaves out instructions as long as the engines still disagree.
func shrink(src string, in []byte, threads int, widths []int) string {
	lines := strings.Split(src, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(lines[i], "\t") || strings.Contains(lines[i], ".reg") || strings.Contains(lines[i], "%in") || strings.Contains(lines[i], "%out") {
			continue
		}
		without := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
		if errors.Is(agree(without, in, threads, widths), errDisagree) {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return strings.Join(lines, "\n")
}

func TestRandomPrograms(t *testing.T) {
	randomProgramVariants() // once, not twice at a time
	first := part.Seed(t)
	for i := range part.Of(40, 80, 1000) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			seed := first + uint64(i)
			src, in := randomProgram(seed, 40)
			if err := agree(src, in, 40, []int{32, 8, 64}); err != nil {
				src = shrink(src, in, 40, []int{32, 8, 64})
				t.Fatalf("seed %#x: %v\nshrunk:\n%s%v", seed, err, src, agree(src, in, 40, []int{32, 8, 64}))
			}
		})
	}
}

// FuzzEngines: all engines compute the same on programs made of the input.
func FuzzEngines(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		src, in := randomProgram(seed, 20)
		if err := agree(src, in, 20, []int{32}); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}
