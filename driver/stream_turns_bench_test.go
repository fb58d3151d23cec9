package driver

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"gemu/interp"
	"gemu/ptx"
)

// independentKernel adds up n products per thread, in a loop without memory accesses, and stores the sum.
const independentKernel = `.version 7.8
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 out, .param .u32 n)
{
	.reg .f32 %f<3>; .reg .u32 %r<5>; .reg .u64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;
	cvt.rn.f32.u32 %f0, %r1; mov.f32 %f1, 0f3F800000;
L:	fma.rn.f32 %f1, %f1, %f0, %f0;
	sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra L;
	st.global.f32 [%rd0], %f1;
	ret;
}
`

// BenchmarkIndependentKernels measures what parallel execution of independent kernels could give at most. It runs launches of small
// kernels on two cores: one at a time, as the driver does, each with both cores; and as many launches on two devices at the same time,
// each with one core of its own, without any common state. ns/launch is the time of the whole divided by the number of launches.
func BenchmarkIndependentKernels(b *testing.B) {
	const cores = 2
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	for _, size := range []struct{ ctas, threads, loops int }{{1, 32, 1}, {1, 32, 1000}, {1, 256, 100}, {1, 256, 1000}, {2, 256, 1000}, {8, 256, 100}, {8, 256, 1000}} {
		device := func(workers int) func(launches int) {
			d := interp.NewDevice(interp.Config{Engine: interp.Auto, Workers: workers, HostGrace: memoryWaitGrace})
			b.Cleanup(func() { d.Close() })
			m, err := d.Load("sum.ptx", []byte(independentKernel))
			if err != nil {
				b.Fatal(err)
			}
			out, err := d.Alloc(4 * size.ctas * size.threads)
			if err != nil {
				b.Fatal(err)
			}
			l := &interp.Launch{Kernel: "sum", Grid: ptx.Dim(size.ctas), Block: ptx.Dim(size.threads), Args: []any{out, size.loops}, Mode: interp.Vector}
			return func(launches int) {
				for range launches {
					if _, err := m.Run(context.Background(), l); err != nil {
						b.Error(err)
					}
				}
			}
		}
		name := fmt.Sprintf("%d CTAs of %d threads, %d loops", size.ctas, size.threads, size.loops)
		b.Run(name+"/one at a time", func(b *testing.B) {
			run := device(cores)
			run(10)
			b.ResetTimer()
			run(b.N)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/launch")
		})
		b.Run(name+"/a core each", func(b *testing.B) {
			var devices [cores]func(int)
			for i := range devices {
				devices[i] = device(1)
				devices[i](10)
			}
			b.ResetTimer()
			var all sync.WaitGroup
			for i, run := range devices {
				all.Go(func() { run((b.N + i) / cores) })
			}
			all.Wait()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/launch")
		})
	}
}
