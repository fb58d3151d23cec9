package interp

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gemu/interp/internal/fp"
)

// TestPauses: while machine code runs the world can be stopped and profiled, soon and as often as one likes, and it
// computes what it should.
func TestPauses(t *testing.T) {
	if Native == nil {
		t.Skip("this host executes no machine code of ours")
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("what stops the world would not run beside machine code")
	}
	const mul, add = 1664525, 1013904223
	const words = 1 << 22 // of memory that no cache holds
	launches := 0
	if pprof.StartCPUProfile(io.Discard) == nil { // unless somebody else profiles
		defer pprof.StopCPUProfile()
	}
	step := fmt.Sprintf("mad.lo.u32 %%r1, %%r1, %d, %d;\n", mul, add)
	for _, c := range []struct {
		name  string
		n     int    // times
		body  string // of a loop
		steps int    // in it
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
		// A host that is busy elsewhere makes most pauses long, and sometimes all of those of a launch; but machine code
		// that does not come back is stopped once in each.
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

// pausesOf launches a kernel and stops the world while it runs: for how long, in ascending order.
func pausesOf(m *Module, b *Buffer) (pauses []time.Duration, err error) {
	ended := make(chan error)
	go func() {
		_, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: Dim(1), Block: Dim(32), Args: []any{b}, Mode: Vector, Backend: Native, MaxSteps: 1 << 40})
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

// TestRsqrt: the machine code of rsqrt.approx.f32, which does not divide, has what Go has, which does: of all numbers from 1 to below 4. Those of
// another exponent have the same fraction divided or multiplied by a power of two all the way.
func TestRsqrt(t *testing.T) {
	if Native == nil {
		t.Skip("this host executes no machine code of ours")
	}
	const from, numbers = 0x3f800000, 1 << 24
	m := module(t, Config{}, "", fmt.Sprintf(`
	mov.u32 %%r1, %%ctaid.x;
	mov.u32 %%r2, %%ntid.x;
	mov.u32 %%r3, %%tid.x;
	mad.lo.u32 %%r1, %%r1, %%r2, %%r3;
	mul.wide.u32 %%rd1, %%r1, 4;
	add.u64 %%rd1, %%rd0, %%rd1;
	add.u32 %%r1, %%r1, %d;
	mov.b32 %%f1, %%r1;
	rsqrt.approx.f32 %%f1, %%f1;
	st.global.f32 [%%rd1], %%f1;
	ret;`, from))
	b := alloc(t, m, 4*numbers)
	if _, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: Dim(numbers / 512), Block: Dim(512), Args: []any{b}, Mode: Vector, Backend: Native}); err != nil {
		t.Fatal(err)
	}
	for i, got := range Slice[float32](b) {
		if x := math.Float32frombits(uint32(from + i)); got != fp.RsqrtApprox32(x) {
			t.Fatalf("of %v it is %v, want %v", x, got, fp.RsqrtApprox32(x))
		}
	}
}
