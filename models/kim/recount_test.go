package kim_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// TestRecountOfRandomPrograms compares the policies' counts of each instruction with a machine written from the page
// alone. The programs are random: guards and branches between arithmetic on uniform, affine and generic values, in 16,
// 32 and 64 bits, with a last warp that is not full.
func TestRecountOfRandomPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 2))
	for range part.Count(10, 40, 2000) {
		var b strings.Builder
		b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u32 n, .param .f32 x)\n{\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<4>;\n.reg .f32 %f<3>;\n.reg .pred %p<4>;\n")
		b.WriteString("mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %laneid;\nld.param.u32 %r3, [n];\nmul.lo.u32 %r4, %r2, %r2;\nshl.b32 %r5, %r0, 4;\nmov.u32 %r6, 5;\nmov.u32 %r7, 100;\n")
		b.WriteString("cvt.u16.u32 %h0, %r0;\ncvt.u16.u32 %h1, %r3;\ncvt.u16.u32 %h2, %r4;\nmov.u16 %h3, 7;\ncvt.u64.u32 %d0, %r0;\ncvt.s64.s32 %d1, %r4;\nmov.u64 %d2, 9;\nmul.wide.u32 %d3, %r0, 8;\nld.param.f32 %f0, [x];\nmov.f32 %f1, 0f3F800000;\ncvt.rn.f32.u32 %f2, %r0;\n")
		b.WriteString("setp.lt.u32 %p0, %r0, 1000;\nsetp.lt.u32 %p1, %r0, 7;\nsetp.eq.u32 %p2, %r3, 3;\nsetp.gt.u32 %p3, %r4, 50;\n")
		reg := func(kind string) string {
			return "%" + kind + strconv.Itoa(r.IntN(map[string]int{"h": 4, "r": 8, "d": 4, "f": 3, "p": 4}[kind]))
		}
		src := func(kind string) string { // or a constant
			if r.IntN(4) == 0 {
				return []string{"0", "1", "2", "4", "12", "65", "40000", "4096"}[r.IntN(map[string]int{"h": 6, "r": 8, "d": 8}[kind])]
			}
			return reg(kind)
		}
		labels := 0
		for range 70 {
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "@%s%s ", []string{"", "!"}[r.IntN(2)], reg("p"))
			} else if r.IntN(8) == 0 {
				labels++
				fmt.Fprintf(&b, "@%s%s bra L%d;\n", []string{"", "!"}[r.IntN(2)], reg("p"), labels)
				for range 1 + r.IntN(3) {
					fmt.Fprintf(&b, "add.u32 %s, %s, %s;\n", reg("r"), reg("r"), src("r"))
				}
				fmt.Fprintf(&b, "L%d:\n", labels)
			}
			kind := []string{"h", "r", "r", "r", "d"}[r.IntN(5)]
			bits := map[string]string{"h": "16", "r": "32", "d": "64"}[kind]
			sign := []string{"u", "s"}[r.IntN(2)]
			switch op := r.IntN(18); op {
			case 0, 1:
				fmt.Fprintf(&b, "%s.%s%s %s, %s, %s;\n", []string{"add", "sub"}[op], sign, bits, reg(kind), reg(kind), src(kind))
			case 2:
				fmt.Fprintf(&b, "mul.lo.%s%s %s, %s, %s;\n", sign, bits, reg(kind), reg(kind), src(kind))
			case 3:
				fmt.Fprintf(&b, "mad.lo.%s%s %s, %s, %s, %s;\n", sign, bits, reg(kind), reg(kind), src(kind), src(kind))
			case 4:
				fmt.Fprintf(&b, "mul.wide.%s32 %s, %s, %s;\n", sign, reg("d"), reg("r"), src("r"))
			case 5:
				fmt.Fprintf(&b, "shl.b%s %s, %s, %s;\n", bits, reg(kind), reg(kind), src("r"))
			case 6:
				fmt.Fprintf(&b, "shr.%s%s %s, %s, %s;\n", sign, bits, reg(kind), reg(kind), src("r"))
			case 7:
				fmt.Fprintf(&b, "mov.b%s %s, %s;\n", bits, reg(kind), src(kind))
			case 8:
				fmt.Fprintf(&b, "cvt.%s64.%s32 %s, %s;\n", sign, sign, reg("d"), reg("r"))
			case 9:
				fmt.Fprintf(&b, "cvt.u32.u64 %s, %s;\n", reg("r"), reg("d"))
			case 10:
				fmt.Fprintf(&b, "cvt.%s16.%s32 %s, %s;\n", sign, sign, reg("h"), reg("r"))
			case 11:
				fmt.Fprintf(&b, "%s.b%s %s, %s, %s;\n", []string{"and", "or", "xor"}[r.IntN(3)], bits, reg(kind), reg(kind), src(kind))
			case 12:
				fmt.Fprintf(&b, "%s.f32 %s, %s, %s;\n", []string{"add", "mul", "sub"}[r.IntN(3)], reg("f"), reg("f"), reg("f"))
			case 13, 14:
				fmt.Fprintf(&b, "setp.%s.%s%s %s, %s, %s;\n", []string{"lt", "ge", "eq", "ne", "gt", "le"}[r.IntN(6)], sign, bits, reg("p"), reg(kind), src(kind))
			case 15:
				fmt.Fprintf(&b, "selp.b%s %s, %s, %s, %s;\n", bits, reg(kind), reg(kind), src(kind), reg("p"))
			case 17:
				fmt.Fprintf(&b, "mul.hi.%s%s %s, %s, %s;\n", sign, bits, reg(kind), reg(kind), src(kind))
			case 16:
				fmt.Fprintf(&b, "min.%s%s %s, %s, %s;\n", sign, bits, reg(kind), reg(kind), src(kind))
			}
		}
		b.WriteString("ret;\n}\n")
		dev := interp.NewDevice(interp.Config{})
		m, err := dev.Load("k.ptx", []byte(b.String()))
		if err != nil {
			t.Fatal(err, b.String())
		}
		for _, name := range []string{"kim", "kim-wide", "fgsimt"} {
			observer := structure.NewProbe(affinetrack.PolicyByName(name))
			recounted := &recount.Machine{FGSIMT: name == "fgsimt", Wide: name == "kim-wide"}
			l := &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(40), Args: []any{uint32(3), float32(2)}, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []probe.Probe{observer, recounted}}
			if _, err := m.Run(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if diffs := recounted.Differences(observer.Structure()); len(diffs) > 0 {
				t.Fatalf("%s:\n%s\n%s", name, strings.Join(diffs, "\n"), b.String())
			}
		}
	}
}
