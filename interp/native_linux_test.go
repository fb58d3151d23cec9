package interp

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/native"
	"gemu/ptx"
)

// TestStopTheWorldInMachineCode: while machine code runs, Go can stop the world and profile, soon and often, and the
// results are right.
func TestStopTheWorldInMachineCode(t *testing.T) {
	if !Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("what stops the world would not run beside machine code")
	}
	const mul, add = 1664525, 1013904223
	const words = 1 << 22 // more memory than any cache
	launches := 0
	if pprof.StartCPUProfile(io.Discard) == nil { // unless a profile is running
		defer pprof.StopCPUProfile()
	}
	step := fmt.Sprintf("mad.lo.u32 %%r1, %%r1, %d, %d;\n", mul, add)
	for _, c := range []struct {
		name  string
		n     int    // number of launches
		body  string // body of the loop
		steps int    // instructions of the body
	}{
		{"loop", 4e6, step, 1},
		{"straight", 1000, strings.Repeat(step, 3000), 3000},
		{"gather", 2e5, step + "shr.u32 %r3, %r1, 10; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd0, %rd1; ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r4, %r3;", 1},
	} {
		m := module(t, Config{Workers: 1}, "", fmt.Sprintf(`
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, 0;
	mov.u32 %%r4, 0;
L:	%s
	add.u32 %%r2, %%r2, 1;
	setp.lt.u32 %%p1, %%r2, %d;
	@%%p1 bra L;
	add.u32 %%r4, %%r4, %%r1;
	mov.u32 %%r2, %%tid.x;
	mul.wide.u32 %%rd1, %%r2, 4;
	add.u64 %%rd1, %%rd0, %%rd1;
	st.global.u32 [%%rd1], %%r4;
	ret;`, c.body, c.n))
		b := alloc(t, m, 4*words)
		data := Slice[uint32](b)
		// On a busy host most pauses are long, sometimes all pauses of a launch; but machine code that did not return
		// would be stopped at most once per launch.
		var pauses []time.Duration
		for len(pauses) < 3 || pauses[len(pauses)/4] > 10*time.Millisecond {
			if len(pauses) > 0 {
				t.Logf("%s: once more, for the world was stopped for %v", c.name, pauses)
			}
			if launches++; launches > 10 {
				t.Fatalf("%s: the world cannot be stopped while machine code runs, or takes long to", c.name)
			}
			for i := range data {
				data[i] = uint32(i)
			}
			var err error
			if pauses, err = pausesOf(m, b); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		n := len(pauses)
		t.Logf("%s: %d pauses, a quarter of them within %v, half within %v, all within %v", c.name, n, pauses[n/4], pauses[n/2], pauses[n-1])
		for lane := range uint32(32) {
			x, sum := lane, uint32(0)
			for range c.n * c.steps {
				if x = x*mul + add; c.name == "gather" {
					sum += x >> 10
				}
			}
			if got := data[lane]; got != sum+x {
				t.Errorf("%s: lane %d has %#x, want %#x", c.name, lane, got, sum+x)
			}
		}
	}
}

// pausesOf launches a kernel, stops the world while it runs, and returns the durations in ascending order.
func pausesOf(m *Module, b *Buffer) (pauses []time.Duration, err error) {
	ended := make(chan error)
	go func() {
		_, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{b}, Mode: Vector, Engine: Native, MaxSteps: 1 << 40})
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			slices.Sort(pauses)
			return pauses, err
		case <-time.After(time.Millisecond):
			begin := time.Now()
			runtime.ReadMemStats(new(runtime.MemStats))
			pauses = append(pauses, time.Since(begin))
			syscall.Kill(syscall.Getpid(), syscall.SIGPROF)
		}
	}
}

// float32s computes f4 from f1, f2 and f3 in machine code, in all lanes and in the odd lanes, and compares it with a
// function.
func float32s(t *testing.T, op string, a, b, c []float32, want func(a, b, c float32) float32) {
	t.Helper()
	if !Native.Available() {
		t.Skip("this host executes no machine code of ours")
	}
	n := len(a)
	name, _, _ := strings.Cut(op, " ")
	name = strings.ReplaceAll(name, ".", "_")
	native.HostLibrary().TakeUsed()
	for _, guard := range []string{"", "@%p1 "} {
		m := module(t, Config{}, "", fmt.Sprintf(`
	mov.u32 %%r1, %%ctaid.x;
	mov.u32 %%r2, %%ntid.x;
	mov.u32 %%r3, %%tid.x;
	mad.lo.u32 %%r1, %%r1, %%r2, %%r3;
	mul.wide.u32 %%rd1, %%r1, 4;
	add.u64 %%rd0, %%rd0, %%rd1;
	ld.global.f32 %%f1, [%%rd0];
	ld.global.f32 %%f2, [%%rd0+%d];
	ld.global.f32 %%f3, [%%rd0+%d];
	mov.f32 %%f4, 0f00000000;
	and.b32 %%r1, %%r1, 1;
	setp.ne.u32 %%p1, %%r1, 0;
	%s%s;
	st.global.f32 [%%rd0+%d], %%f4;
	ret;`, 4*n, 8*n, guard, op, 12*n))
		buffer, err := NewBuffer(m.dev, slices.Concat(a, b, c, make([]float32, n)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(n / 512), Block: ptx.Dim(512), Args: []any{buffer}, Mode: Vector, Engine: Native}); err != nil {
			t.Fatal(err)
		}
		for i, got := range Slice[float32](buffer)[3*n:] {
			w := want(a[i], b[i], c[i])
			if guard != "" && i%2 == 0 {
				w = 0
			}
			if math.Float32bits(got) != math.Float32bits(w) {
				t.Fatalf("%s%s: of %x, %x, %x it is %x, want %x", guard, op, a[i], b[i], c[i], got, w)
			}
		}
	}
	wanted := native.HostLibrary().TakeUsed()
	for _, form := range []string{"_full", "_masked"} {
		if !slices.Contains(wanted, name+form) {
			t.Errorf("%s has run without stencil %s%s", op, name, form)
		}
	}
}

// TestRsqrtWithoutDivision: the machine code of rsqrt.approx.f32, without a division, has the results of Go's function,
// which divides: for all numbers from 1 to below 4, without GEMU_TEST an eighth
// of them, and for samples of all other exponents and signs. With a different
// exponent the same fraction is only scaled by a power of two.
func TestRsqrtWithoutDivision(t *testing.T) {
	part.SkipShort(t)
	var a []float32
	step := uint32(part.Count(8, 1, 1)) // of the mantissas, for both parities of the exponent
	for i := uint32(part.Seed(t)) % step; i < 1<<24; i += step {
		a = append(a, math.Float32frombits(0x3f800000+i))
	}
	for i := range uint32(1 << 20) {
		a = append(a, math.Float32frombits(i<<12|i>>9))
	}
	float32s(t, "rsqrt.approx.f32 %f4, %f1", a, a, a, func(a, _, _ float32) float32 { return fp.RsqrtApprox32(a) })
}

// TestFlushedResultsInMachineCode: machine code flushes results under .ftz exactly as Go does, although it compares
// products, quotients and sums scaled by a power of two: for operands of all kinds with results near the least normal
// number.
func TestFlushedResultsInMachineCode(t *testing.T) {
	part.SkipShort(t)
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	const least = 0x1p-126
	any := func() float32 { return math.Float32frombits(rng.Uint32()) }
	near := func() float64 { // the bound, or slightly less
		return math.Copysign(least*(1-float64(rng.IntN(6))*0x1p-26), float64(rng.IntN(2))-0.5)
	}
	var a, b, products, quotients, sums []float32
	for range 1 << 20 {
		x, y := any(), any()
		if rng.IntN(8) > 0 { // keeps the second operand finite
			x = math.Float32frombits(rng.Uint32()&0x807fffff | uint32(64+rng.IntN(100))<<23)
		}
		if rng.IntN(16) == 0 { // only these quotients are rounded up to the bound
			x = math.Float32frombits(math.Float32bits(x) | 0x7fffff)
		}
		a, b = append(a, x), append(b, y)
		products = append(products, float32(near()/float64(x)))
		quotients = append(quotients, float32(float64(x)/near()))
		sums = append(sums, float32(near()-float64(x)*float64(products[len(products)-1])*(1+float64(rng.IntN(3))*0x1p-20)))
	}
	float32s(t, "mul.ftz.f32 %f4, %f1, %f2", a, products, b, func(a, b, _ float32) float32 { return fp.MulFTZ32(a, b, fp.RN) })
	float32s(t, "mul.ftz.f32 %f4, %f1, %f2", a, b, b, func(a, b, _ float32) float32 { return fp.MulFTZ32(a, b, fp.RN) })
	float32s(t, "div.rn.ftz.f32 %f4, %f1, %f2", a, quotients, b, func(a, b, _ float32) float32 { return fp.DivFTZ32(a, b, fp.RN) })
	float32s(t, "div.rn.ftz.f32 %f4, %f1, %f2", a, b, b, func(a, b, _ float32) float32 { return fp.DivFTZ32(a, b, fp.RN) })
	float32s(t, "rcp.rn.ftz.f32 %f4, %f1", a, b, b, func(a, _, _ float32) float32 { return fp.DivFTZ32(1, a, fp.RN) })
	float32s(t, "fma.rn.ftz.f32 %f4, %f1, %f2, %f3", a, products, sums, func(a, b, c float32) float32 { return fp.FmaFTZ32(a, b, c, fp.RN) })
	float32s(t, "fma.rn.ftz.f32 %f4, %f1, %f2, %f3", a, b, sums, func(a, b, c float32) float32 { return fp.FmaFTZ32(a, b, c, fp.RN) })
	float32s(t, "sqrt.rn.f32 %f4, %f1", a, b, b, func(a, _, _ float32) float32 { return fp.Sqrt32(a, fp.RN) })
}
