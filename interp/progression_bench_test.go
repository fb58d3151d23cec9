package interp

import (
	"fmt"
	"strings"
	"testing"

	"gemu/ptx"
)

// BenchmarkProgressions adds progressions: on the lanes in vector mode, compactly in affine mode, in both ways in check
// mode. Each addition depends on the previous addition (chained), or on the addition three before it (free). It prints ns
// per instruction of a warp; the costs in lower/plan.go come from it.
func BenchmarkProgressions(b *testing.B) {
	const turns, added = 20000, 16
	for _, bits := range []int{32, 64} {
		for _, chained := range []bool{true, false} {
			var body strings.Builder
			reg, by := map[int]string{32: "r", 64: "q"}[bits], map[int]string{32: "%t", 64: "%a"}[bits]
			for i := range added {
				from := i % 4
				if !chained {
					from = (i + 1) % 4
				}
				fmt.Fprintf(&body, "\tadd.s%d %%%s%d, %%%s%d, %s;\n", bits, reg, (i+1)%4, reg, from, by)
			}
			m, err := ptx.Parse("progressions.ptx", fmt.Appendf(nil, `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %%t, %%i, %%x, %%r<4>;
	.reg .b64 %%o, %%a, %%q<4>;
	.reg .pred %%p;
	mov.u32 %%t, %%tid.x;
	mov.u32 %%i, 0;
	ld.param.u64 %%o, [out];
	mul.wide.u32 %%a, %%t, 4;
	add.s64 %%o, %%o, %%a;
	mov.u32 %%r0, %%t; mov.u32 %%r1, %%t; mov.u32 %%r2, %%t; mov.u32 %%r3, %%t;
	mov.u64 %%q0, %%a; mov.u64 %%q1, %%a; mov.u64 %%q2, %%a; mov.u64 %%q3, %%a;
again:
%s	add.u32 %%i, %%i, 1;
	setp.lt.u32 %%p, %%i, %d;
@%%p	bra again;
	cvt.u32.u64 %%x, %%q0;
	add.u32 %%x, %%x, %%r0;
	st.global.u32 [%%o], %%x;
	ret;
}
`, body.String(), turns))
			if err != nil {
				b.Fatal(err)
			}
			name := map[bool]string{true: "chained", false: "free"}[chained]
			for _, mode := range []Mode{Vector, Affine, Check} {
				b.Run(fmt.Sprintf("%d/%s/%v", bits, name, mode), func(b *testing.B) {
					mod, err := NewDevice(Config{Workers: 1, Engine: Native}).LoadModule(m)
					if err != nil {
						b.Fatal(err)
					}
					output, err := mod.dev.Alloc(128)
					if err != nil {
						b.Fatal(err)
					}
					instrs := int64(0)
					for b.Loop() {
						r, err := mod.Run(b.Context(), &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{output}, Mode: mode, CompileEagerly: mode != Vector})
						if err != nil {
							b.Fatal(err)
						}
						instrs += r.WarpInstructions
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(instrs), "ns/warp-instr")
				})
			}
		}
	}
}
