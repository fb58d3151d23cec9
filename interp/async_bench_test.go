package interp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gemu/ptx"
)

// BenchmarkAsync measures the time of asynchronous operations of one warp: each kernel repeats a sequence of instructions,
// and the metric ns/repeat is the shortest time of one sequence, with the loop around it (sequence "loop").
func BenchmarkAsync(b *testing.B) {
	const rounds = 1000
	// copies returns n copies to addresses that are the given number of bytes apart.
	copies := func(size, n, apart int, to, from, between string) (list string) {
		cache := "ca"
		if size == 16 {
			cache = "cg"
		}
		for i := range n {
			list += fmt.Sprintf("cp.async.%s.shared.global [%s+%d], [%s+%d], %d;\n", cache, to, i*apart, from, i*apart, size) + between
		}
		return list
	}
	const group = "cp.async.commit_group;\ncp.async.wait_group 0;\n"
	const wait = `
W%d:	mbarrier.try_wait.parity.shared.b64 %%q, [full], %%phase;
	@!%%q bra W%d;
	xor.b32 %%phase, %%phase, 1;
`
	bulk := func(n int) string {
		return fmt.Sprintf(`
	@%%lead mbarrier.arrive.expect_tx.shared.b64 _, [full], %d;
	@%%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%%in], %d, [full];
`, n, n) + fmt.Sprintf(wait, n, n)
	}
	sequences := []struct{ name, body string }{
		{"loop", ""},
		{"copy4", copies(4, 1, 0, "%s4", "%g4", "") + group},
		{"copy8", copies(8, 1, 0, "%s8", "%g8", "") + group},
		{"copy16", copies(16, 1, 0, "%s16", "%g16", "") + group},
		{"copy4x4", copies(4, 4, 128, "%s4", "%g4", "") + group},
		{"copy16x4", copies(16, 4, 512, "%s16", "%g16", "") + group},
		{"apart16x4", copies(16, 4, 512, "%s16", "%g16", "add.u32 %x, %x, %n;\n") + group},
		{"columns16x4", copies(16, 4, 16, "%s64", "%g64", "") + group},
		{"gathered16", copies(16, 1, 0, "%s16", "%r16", "") + group},
		{"gathered16x4", copies(16, 4, 512, "%s16", "%r16", "") + group},
		{"commit", "cp.async.commit_group;\n"},
		{"wait", "cp.async.wait_group 0;\n"},
		{"bulk16", bulk(16)},
		{"bulk1K", bulk(1024)},
		{"bulk16K", bulk(16384)},
		{"tensor", `
	@%lead mbarrier.arrive.expect_tx.shared.b64 _, [full], 4096;
	@%lead cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%map, {0, 0}], [full];
` + fmt.Sprintf(wait, 1, 1)},
		{"expect", "\t@%lead mbarrier.arrive.expect_tx.shared.b64 _, [full], 0;\n"},
		{"arrive", "mbarrier.arrive.shared.b64 _, [each];\n"},
		{"test", "mbarrier.test_wait.parity.shared.b64 %q, [full], 1;\n"},
		{"try", "mbarrier.try_wait.parity.shared.b64 %q, [full], 1;\n"},
	}
	for _, s := range sequences {
		src := `.version 8.0
.target sm_90
.address_size 64
.visible .entry bench(.param .u64 in, .param .u64 map)
{
	.shared .align 128 .b8 buffer[16384];
	.shared .align 8 .b64 full;
	.shared .align 8 .b64 each;
	.reg .u64 %in, %map, %g4, %g8, %g16, %g64, %r16;
	.reg .u32 %i, %n, %x, %s4, %s8, %s16, %s64, %phase;
	.reg .pred %lead, %q;
	ld.param.u64 %in, [in];
	ld.param.u64 %map, [map];
	mov.u32 %i, %laneid;
	mov.u32 %x, buffer;
	mad.lo.u32 %s4, %i, 4, %x;
	mad.lo.u32 %s8, %i, 8, %x;
	mad.lo.u32 %s16, %i, 16, %x;
	mad.lo.u32 %s64, %i, 64, %x;
	mad.wide.u32 %g64, %i, 64, %in;
	mad.wide.u32 %g4, %i, 4, %in;
	mad.wide.u32 %g8, %i, 8, %in;
	mad.wide.u32 %g16, %i, 16, %in;
	mul.lo.u32 %x, %i, 13;
	and.b32 %x, %x, 31;
	mad.wide.u32 %r16, %x, 64, %in;
	setp.eq.u32 %lead, %i, 0;
	@%lead mbarrier.init.shared.b64 [full], 1;
	@%lead mbarrier.init.shared.b64 [each], 32;
	mov.u32 %phase, 0;
	mov.u32 %n, 0;
L:
` + s.body + fmt.Sprintf(`
	add.u32 %%n, %%n, 1;
	setp.lt.u32 %%q, %%n, %d;
	@%%q bra L;
	ret;
}`, rounds)
		m, err := ptx.Parse("bench.ptx", []byte(src))
		if err != nil {
			b.Fatal(err)
		}
		for _, early := range []bool{false, true} {
			name := "late"
			if early {
				name = "early"
			}
			b.Run(s.name+"/"+name, func(b *testing.B) {
				d := NewDevice(Config{Workers: 1})
				mod, err := d.LoadModule(m)
				if err != nil {
					b.Fatal(err)
				}
				in, err := d.Alloc(1 << 16)
				if err != nil {
					b.Fatal(err)
				}
				text, err := in.TensorMap("f32[128x128],box=32x32,swizzle=128")
				if err != nil {
					b.Fatal(err)
				}
				tensorMap, err := d.Alloc(128)
				if err != nil {
					b.Fatal(err)
				}
				if err := tensorMap.Write(0, text); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				shortest := time.Hour
				for b.Loop() {
					start := time.Now()
					if _, err := mod.Run(context.Background(), &Launch{Kernel: "bench", Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: Vector, Engine: Auto, EagerEffects: early, Args: []any{in, tensorMap}}); err != nil {
						b.Fatal(err)
					}
					shortest = min(shortest, time.Since(start))
				}
				b.ReportMetric(float64(shortest.Nanoseconds())/rounds, "ns/repeat")
			})
		}
	}
}
