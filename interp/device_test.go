package interp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// module loads the body of a kernel k(.param .u64 p), preceded by declarations.
func module(t testing.TB, cfg Config, decls, body string) *Module {
	t.Helper()
	src := ".version 7.8\n.target sm_80\n.address_size 64\n" + decls + "\n.entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .u32 %r<9>;\n.reg .u64 %rd<9>;\n.reg .f32 %f<9>;\nld.param.u64 %rd0, [p];\n" + body + "\n}\n"
	m, err := NewDevice(cfg).Load("test.ptx", []byte(src))
	if err != nil {
		for _, e := range err.(ptx.ErrorList) {
			t.Errorf("%v\n%s", e, e.Snippet())
		}
		t.FailNow()
	}
	return m
}

func alloc(t testing.TB, m *Module, size int) *Buffer {
	t.Helper()
	b, err := m.dev.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUseAfterFree shows that a launch with a freed buffer is refused, and an access to freed memory traps.
func TestUseAfterFree(t *testing.T) {
	m := module(t, Config{}, "", "ld.global.u32 %r1, [%rd0]; st.global.u32 [%rd0], %r1; ret;")
	b := alloc(t, m, 4)
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), b); err != nil {
		t.Fatal(err)
	}
	b.Free()
	b.Free() // a second Free has no effect
	_, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), b)
	var trap *probe.Trap
	if !errors.Is(err, probe.ErrUseAfterFree) || !errors.As(err, &trap) {
		t.Fatalf("got %v", err)
	}
	if trap.Addr != b.Addr() || trap.Bytes != 4 || trap.Pos.Line != 12 || trap.Lanes != 1 {
		t.Errorf("trap %+v", trap)
	}
}

// TestOutOfMemory shows that allocations beyond Config.Memory return ErrOutOfMemory, and that freed memory can be
// allocated again.
func TestOutOfMemory(t *testing.T) {
	d := NewDevice(Config{Memory: 1000})
	if _, err := d.Alloc(1001); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	a, err := d.Alloc(900)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Alloc(200); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	a.Free()
	if _, err := d.Alloc(200); err != nil {
		t.Errorf("after a free: %v", err)
	}
}

// TestLocalTooLarge: a kernel is refused if its own variables exceed the local memory of a thread.
func TestLocalTooLarge(t *testing.T) {
	for _, v := range []string{".local .align 4 .b8 l[2000000000];", ".local .align 1073741824 .b8 l[4];"} {
		m := module(t, Config{}, "", v+" st.local.u32 [l], 1; ret;")
		_, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), alloc(t, m, 4))
		if err == nil || !strings.Contains(err.Error(), "of each thread's local memory, which has 524288") {
			t.Errorf("%s got %v", v, err)
		}
	}
}

// TestExitReleasesBarrier: a barrier completes although a lane has exited early.
func TestExitReleasesBarrier(t *testing.T) {
	m := module(t, Config{}, "", `
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, 40;
	@%p1 bra END;
	bar.sync 0;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], 7;
END:
	ret;`)
	b := alloc(t, m, 40*4)
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(64), b); err != nil {
		t.Fatal(err)
	}
	for i, v := range Slice[uint32](b) {
		if v != 7 {
			t.Fatalf("element %d is %d", i, v)
		}
	}
}

// TestWarpSyncDeadlock: two lanes that wait with different membermasks wait at different barriers, and neither
// continues.
func TestWarpSyncDeadlock(t *testing.T) {
	m := module(t, Config{}, "", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra one; bar.warp.sync 0xffffffff; ret; one: bar.warp.sync 3; ret;")
	_, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(32), uint64(0))
	var trap *probe.Trap
	if !errors.Is(err, probe.ErrDeadlock) || !errors.As(err, &trap) || !strings.Contains(err.Error(), "waits for lane 0") {
		t.Fatalf("got %v", err)
	}
	if trap.Lanes != 1 && trap.Lanes != 0xffff_fffe {
		t.Errorf("lanes %#x", trap.Lanes)
	}
}

// TestOutputDoesNotDependOnWorkers shows that tickets of CTAs, printed text and memory are the same for any number of
// workers and in every mode.
func TestOutputDoesNotDependOnWorkers(t *testing.T) {
	decls := `.global .u32 ticket; .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
	.global .b8 fmt[8] = {99, 116, 97, 32, 37, 117, 10, 0};`
	body := `
	.local .align 8 .b8 args[8];
	mov.u64 %rd3, ticket;
	atom.global.add.u32 %r1, [%rd3], 1;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd0, %rd1;
	mov.u32 %r2, %ctaid.x;
	st.global.u32 [%rd1], %r2;
	mov.u32 %r3, %tid.x;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra END;
	st.local.u32 [args], %r2;
	{
	.param .b64 a0; .param .b64 a1; .param .b32 r0;
	mov.u64 %rd4, fmt;
	st.param.b64 [a0], %rd4;
	mov.u64 %rd5, args;
	cvta.local.u64 %rd5, %rd5;
	st.param.b64 [a1], %rd5;
	call (r0), vprintf, (a0, a1);
	}
END:
	ret;`
	var first []byte
	var firstOut string
	var firstResult Result
	for _, workers := range []int{1, 2, 7} {
		var out bytes.Buffer
		m := module(t, Config{Workers: workers, Stdout: &out}, decls, body)
		b := alloc(t, m, 4*64*100)
		r, err := m.Launch(context.Background(), "k", ptx.Dim(100), ptx.Dim(64), b)
		if err != nil {
			t.Fatal(err)
		}
		r.Duration = 0
		if first == nil {
			first, firstOut, firstResult = slices.Clone(b.Bytes()), out.String(), *r
			want := ""
			for i := range 100 {
				want += fmt.Sprintf("cta %d\n", i)
			}
			if firstOut != want {
				t.Errorf("printed %q", firstOut)
			}
			continue
		}
		if !bytes.Equal(first, b.Bytes()) || out.String() != firstOut || *r != firstResult {
			t.Errorf("with %d workers: memory equal %v, output equal %v, counts %+v and %+v", workers, bytes.Equal(first, b.Bytes()), out.String() == firstOut, *r, firstResult)
		}
	}
}

// TestWaitForLaterCTA: a CTA may wait for a CTA that is admitted much later.
func TestWaitForLaterCTA(t *testing.T) {
	part.SkipShort(t)
	m := module(t, Config{}, ".global .u32 flag;", `
	mov.u64 %rd3, flag;
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p1, %r1, 499;
	@%p1 bra SET;
WAIT:
	ld.volatile.global.u32 %r2, [%rd3];
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra WAIT;
	ret;
SET:
	st.volatile.global.u32 [%rd3], 1;
	ret;`)
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(500), ptx.Dim(32), alloc(t, m, 4)); err != nil {
		t.Fatal(err)
	}
}

// TestCancelledLaunch shows that the end of the context ends an endless launch with the context's error.
func TestCancelledLaunch(t *testing.T) {
	m := module(t, Config{}, "", `
L:
	st.global.u32 [%rd0], %r1;
	add.u32 %r1, %r1, 1;
	bra L;`)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err := m.Launch(ctx, "k", ptx.Dim(4), ptx.Dim(64), alloc(t, m, 4))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

// TestFirstTrap: a launch reports the trap of the first CTA that fails, independently of the CTAs that run in
// parallel. This CTA and the CTAs before it count, and their output is written.
func TestFirstTrap(t *testing.T) {
	for _, workers := range []int{1, 4} {
		var out strings.Builder
		m := module(t, Config{Workers: workers, Stdout: &out}, `
		.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
		.global .b8 format[2] = {46, 0};`, `
		{
		.param .b64 f; .param .b64 a; .param .b32 r;
		mov.u64 %rd1, format;
		st.param.b64 [f], %rd1;
		st.param.b64 [a], 0;
		call (r), vprintf, (f, a);
		}
		mov.u32 %r1, %ctaid.x;
		setp.lt.u32 %p1, %r1, 20;
		@%p1 ret;
		trap;`)
		r, err := m.Launch(context.Background(), "k", ptx.Dim(100), ptx.Dim(1), alloc(t, m, 4))
		var trap *probe.Trap
		if !errors.As(err, &trap) || trap.CTA.X != 20 {
			t.Errorf("%d workers: got %v", workers, err)
		}
		if got, want := out.String(), strings.Repeat(".", 21); got != want {
			t.Errorf("%d workers: printed %q, want %q", workers, got, want)
		}
		// Eight lanes up to the ret; and the trap.
		if r.WarpInstructions != 20*8+9 {
			t.Errorf("%d workers: %d warp instructions, want %d", workers, r.WarpInstructions, 20*8+9)
		}
	}
}

// TestTrapReport shows that a trap has the instruction, the source line, the lanes and the address.
func TestTrapReport(t *testing.T) {
	m := module(t, Config{}, ".file 1 \"k.cu\"", `
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd0, %rd1;
	.loc 1 42 7
	st.global.u32 [%rd1], %r1;
	ret;`)
	b, err := m.dev.AllocNamed("x", 100)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Launch(context.Background(), "k", ptx.Dim(2), ptx.Dim(64), b)
	var trap *probe.Trap
	if !errors.As(err, &trap) || !errors.Is(err, probe.ErrOutOfBounds) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		"test.ptx:17:2: trap: out-of-bounds global store of 4 bytes at ", "   17 | 	st.global.u32 [%rd1], %r1;", "from k.cu:42:7",
		"grid (2,1,1) cta (0,0,0) warp 0 lanes 25-31 (7 of 32 active lanes faulted), first thread (25,0,0)",
		"nearest allocation: buffer x [", "of 100 bytes, which ends 0 bytes before the address",
	} {
		if !strings.Contains(trap.Report(), want) {
			t.Errorf("the report lacks %q:\n%s", want, trap.Report())
		}
	}
}

// TestDeviceHeap shows that blocks of malloc are apart and can be freed, and that wrong frees and accesses trap.
func TestDeviceHeap(t *testing.T) {
	decls := `.extern .func (.param .b64 r) malloc (.param .b64 n);
	.extern .func free (.param .b64 p);`
	call := `
	{
	.param .b64 a; .param .b64 r;
	st.param.b64 [a], 16;
	call (r), malloc, (a);
	ld.param.b64 %rd1, [r];
	}
	st.u32 [%rd1], 5;
	ld.u32 %r1, [%rd1];
	{
	.param .b64 a;
	st.param.b64 [a], %rd1;
	call free, (a);
	}
	st.global.u32 [%rd0], %r1;`
	m := module(t, Config{}, decls, call+"ret;")
	b := alloc(t, m, 4)
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(8), ptx.Dim(64), b); err != nil || Slice[uint32](b)[0] != 5 {
		t.Fatalf("got %v and %d", err, Slice[uint32](b)[0])
	}
	m = module(t, Config{}, decls, call+"ld.u32 %r1, [%rd1]; ret;")
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), alloc(t, m, 4)); !errors.Is(err, probe.ErrUseAfterFree) {
		t.Errorf("got %v", err)
	}
}

// TestPrintf: printf prints as in C. The expected texts come from the examples of the C standard and from printf(3).
func TestPrintf(t *testing.T) {
	cases := []struct {
		format string
		arg    string // PTX that stores the argument to [args]
		want   string
	}{
		{"%d|", "st.local.u32 [args], -42;", "-42|"},
		{"%5d|", "st.local.u32 [args], 42;", "   42|"},
		{"%-5d|", "st.local.u32 [args], 42;", "42   |"},
		{"%05d|", "st.local.u32 [args], -42;", "-0042|"},
		{"%+d|", "st.local.u32 [args], 42;", "+42|"},
		{"%.3d|", "st.local.u32 [args], 7;", "007|"},
		{"%x %X|", "st.local.u32 [args], 48879; st.local.u32 [args+4], 48879;", "beef BEEF|"},
		{"%#x|", "st.local.u32 [args], 255;", "0xff|"},
		{"%o|", "st.local.u32 [args], 8;", "10|"},
		{"%u|", "st.local.u32 [args], -1;", "4294967295|"},
		{"%lld|", "st.local.u64 [args], -5000000000;", "-5000000000|"},
		{"%hhd|", "st.local.u32 [args], 255;", "-1|"},
		{"%c%%|", "st.local.u32 [args], 65;", "A%|"},
		{"%f|", "st.local.f64 [args], 0d3FF8000000000000;", "1.500000|"},
		{"%8.2f|", "st.local.f64 [args], 0dC00921FB54442D18;", "   -3.14|"},
		{"%e|", "st.local.f64 [args], 0d40C81C8000000000;", "1.234500e+04|"},
		{"%g %g|", "st.local.f64 [args], 0d3F1A36E2EB1C432D; st.local.f64 [args+8], 0d412E848000000000;", "0.0001 1e+06|"},
		{"%g|", "st.local.f64 [args], 0d3FB999999999999A;", "0.1|"},
		{"%a|", "st.local.f64 [args], 0d3FF8000000000000;", "0x1.8p+0|"},
		{"%f %F|", "st.local.f64 [args], 0dFFF0000000000000; st.local.f64 [args+8], 0d7FF8000000000000;", "-inf NAN|"},
		{"%*d|", "st.local.u32 [args], 6; st.local.u32 [args+4], 9;", "     9|"},
		{"%s|", "st.local.u64 [args], 0;", "(null)|"},
		{"%d %f|", "st.local.u32 [args], 1; st.local.f64 [args+8], 0d4000000000000000;", "1 2.000000|"},
	}
	for _, c := range cases {
		var out bytes.Buffer
		var bytesOf []string
		for _, b := range append([]byte(c.format), 0) {
			bytesOf = append(bytesOf, fmt.Sprint(b))
		}
		m := module(t, Config{Stdout: &out}, fmt.Sprintf(`.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
		.global .b8 text[%d] = {%s};`, len(bytesOf), strings.Join(bytesOf, ", ")), `
		.local .align 8 .b8 args[32];
		`+c.arg+`
		{
		.param .b64 a0; .param .b64 a1; .param .b32 r0;
		mov.u64 %rd4, text;
		st.param.b64 [a0], %rd4;
		mov.u64 %rd5, args;
		cvta.local.u64 %rd5, %rd5;
		st.param.b64 [a1], %rd5;
		call (r0), vprintf, (a0, a1);
		}
		ret;`)
		if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), alloc(t, m, 4)); err != nil {
			t.Errorf("%q: %v", c.format, err)
		}
		if out.String() != c.want {
			t.Errorf("%q printed %q, want %q", c.format, out.String(), c.want)
		}
	}
}

// TestKernelArguments shows which Go values are accepted for parameters of each type.
func TestKernelArguments(t *testing.T) {
	src := `.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u8 a, .param .s16 b, .param .f32 c, .param .f64 d, .param .align 4 .b8 e[6], .param .u64 p) { ret; }`
	m, err := NewDevice(Config{}).Load("args.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b := alloc(t, m, 4)
	good := []any{uint8(1), -2, 3, float32(4), []byte("sixsix"), b}
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), good...); err != nil {
		t.Error(err)
	}
	for i, bad := range []any{300, 70000, "x", b, 5, float32(1)} {
		args := slices.Clone(good)
		args[i] = bad
		_, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), args...)
		var le *LaunchError
		if !errors.As(err, &le) {
			t.Errorf("argument %d = %v: got %v", i, bad, err)
		}
	}
	if _, err := m.Launch(context.Background(), "k", ptx.Dim(1), ptx.Dim(1), good[:3]...); err == nil {
		t.Error("no error for missing arguments")
	}
}

// TestCooperativeGridFits: a cooperative grid is in flight as a whole or refused. Each of the 16 multiprocessors holds
// 32 CTAs, 2048 threads and 228 KiB of shared memory, of which the system reserves 1 KiB per CTA (CUDA C++ Programming
// Guide, technical specifications).
func TestCooperativeGridFits(t *testing.T) {
	dev := NewDevice(Config{})
	m, err := dev.Load("k.ptx", []byte(".version 7.8\n.target sm_80\n.address_size 64\n.entry k() { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ threads, shared, most int }{{1, 0, 512}, {64, 0, 512}, {65, 0, 16 * 21}, {1024, 0, 32}, {32, 75 << 10, 48}} {
		for _, more := range []int{0, 1} {
			_, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(k.most + more), Block: ptx.Dim(k.threads), Shared: k.shared, Cooperative: true})
			var refused *LaunchError
			if (more > 0) != errors.As(err, &refused) || more == 0 && err != nil {
				t.Errorf("%d CTAs of %d threads with %d bytes of shared memory: %v", k.most+more, k.threads, k.shared, err)
			}
		}
	}
}

// TestStoresOfNeighbourCTAs: lanes that do not store have addresses to which other CTAs store at the same time. Check
// mode must not report a mismatch.
func TestStoresOfNeighbourCTAs(t *testing.T) {
	dev := NewDevice(Config{Workers: 4})
	m, err := dev.Load("tiles.ptx", []byte(`.version 7.0
.target sm_80
.address_size 64
.visible .entry tiles(.param .u64 out)
{
	.reg .u32 %t, %i, %n;
	.reg .u64 %p;
	.reg .pred %q, %more;
	mov.u32 %t, %tid.x;
	mov.u32 %i, %ctaid.x;
	mad.lo.u32 %i, %i, 12, %t;
	ld.param.u64 %p, [out];
	mad.wide.u32 %p, %i, 4, %p;
	setp.lt.u32 %q, %t, 12;
	mov.u32 %n, 2000;
AGAIN:
	@%q st.global.u32 [%p], %n;
	sub.u32 %n, %n, 1;
	setp.ne.u32 %more, %n, 0;
	@%more bra AGAIN;
	ret;
}`))
	if err != nil {
		t.Fatal(err)
	}
	const ctas = 64
	output, err := dev.Alloc(4 * (12*ctas + 20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), &Launch{Kernel: "tiles", Grid: ptx.Dim(ctas), Block: ptx.Dim(32), Args: []any{output}, Mode: Check, CompileEagerly: true}); err != nil {
		t.Fatal(err)
	}
}
