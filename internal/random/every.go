package random

import (
	"math/rand/v2"
	"slices"
	"strings"

	"gemu/ptx"
)

// EveryOpcode writes kernels that execute each variant once or more often on affine and uniform operands. k0(out),
// k1(out), … store the resulting registers, Stride bytes for each thread.
func EveryOpcode(variants []*ptx.Variant, seed uint64) (src string, kernels []*ptx.Variant) {
	p := &program{r: rand.New(rand.NewPCG(seed, 3)), constants: 1}
	p.printf(".version 8.8\n.target sm_100\n.address_size 64\n")
	var list []*ptx.Variant
	for _, v := range variants {
		times := 2
		if a := v.Form.Affine; a != ptx.AffineUniform && a != ptx.AffineNone {
			times = 8 // it has a rule with conditions
		}
		list = append(list, slices.Repeat([]*ptx.Variant{v}, times)...)
	}
	for _, v := range list {
		p.printf(".entry k%d(.param .u64 out)\n{\n", len(kernels))
		p.printf("\t.reg .b16 %%h<%d>;\n\t.reg .b32 %%w<%d>, %%t, %%one;\n\t.reg .b64 %%d<%d>, %%wide, %%out;\n\t.reg .pred %%p<%d>;\n", nHalf, nWord, nWide, nPred)
		p.printf("\tmov.u32 %%t, %%tid.x;\n\tcvt.u64.u32 %%wide, %%t;\n\tld.param.u64 %%out, [out];\n\tmad.wide.u32 %%out, %%t, %d, %%out;\n", Stride)
		forEachRegister(func(name, typ string, offset int) {
			stride, from := pickOne(p.r, 0, 0, 1, 1, 4, -1, int32(p.value())), p.value()
			if p.r.IntN(2) == 0 {
				from = uint64(p.r.IntN(64))
			}
			// In several steps: the plan does not keep a register compact that is written once and stored once.
			switch {
			case stride == 0 && typ != "b16":
				p.printf("\tmov.%s %s, %d;\n\tadd.%[1]s %[2]s, %[2]s, 1;\n\tadd.%[1]s %[2]s, %[2]s, 1;\n", strings.Replace(typ, "b", "s", 1), name, int32(from))
			case typ == "b64":
				p.printf("\tmul.lo.s64 %s, %%wide, %d;\n\tadd.s64 %[1]s, %[1]s, %[3]d;\n\tadd.s64 %[1]s, %[1]s, 1;\n", name, stride, int64(from))
			case typ == "b32":
				p.printf("\tmul.lo.s32 %s, %%t, %d;\n\tadd.s32 %[1]s, %[1]s, %[3]d;\n\tadd.s32 %[1]s, %[1]s, 1;\n", name, stride, int32(from))
			default:
				p.printf("\tmad.lo.s32 %%one, %%t, %d, %d;\n\tcvt.u16.u32 %s, %%one;\n", stride, int32(from), name)
			}
		})
		for i := range nPred {
			p.printf("\tsetp.lt.s32 %%p%d, %%t, %d;\n", i, pickOne(p.r, 0, 100, 7, 7))
		}
		p.writeInstr([]*ptx.Variant{v})
		forEachRegister(func(name, typ string, offset int) { p.printf("\tst.global.%s [%%out+%d], %s;\n", typ, offset, name) })
		for i := range nPred {
			p.printf("\tselp.u32 %%one, 1, 0, %%p%d;\n\tst.global.u32 [%%out+%d], %%one;\n", i, Stride-4*nPred+4*i)
		}
		p.printf("\tret;\n}\n")
		kernels = append(kernels, v)
	}
	return p.String(), kernels
}
