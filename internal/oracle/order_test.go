package oracle

import (
	"fmt"
	"testing"

	"gemu/internal/part"
)

// orders has all orders.
var orders = map[string]func() Order{"alone": Sequential, "together": Lockstep, "random": Random(1)}

// waiting has programs whose threads wait for one another by polling memory, with the expected contents of a buffer of
// zeros. They end in every order.
var waiting = []struct {
	name        string
	grid, block int
	want        []uint32
	code        string
}{
	{"each CTA waits for the next, which has not begun yet, and the last one finishes first", 3, 1, []uint32{3, 2, 1, 0}, `
	sub.u32 %m, %nctaid, 1;
	sub.u32 %m, %m, %ctaid;
wait:
	ld.volatile.global.u32 %n, [%o];
	setp.ne.u32 %p, %n, %m;
	@%p bra wait;
	mad.wide.u32 %a, %ctaid, 4, %o;
	st.global.u32 [%a+4], %n;
	membar.gl;
	atom.global.add.u32 %w, [%o], 1;`},
	{"the threads of a warp take a lock in turn", 2, 48, []uint32{0, 96}, `
lock:
	atom.global.cas.b32 %w, [%o], 0, 1;
	setp.ne.u32 %p, %w, 0;
	@%p bra lock;
	ld.volatile.global.u32 %n, [%o+4];
	add.u32 %n, %n, 1;
	st.volatile.global.u32 [%o+4], %n;
	atom.global.exch.b32 %w, [%o], 0;`},
	{"a lock whose holder leaves the loop", 1, 32, []uint32{0, 32}, `
	mov.u32 %n, 0;
try:
	atom.global.cas.b32 %w, [%o], 0, 1;
	setp.ne.u32 %p, %w, 0;
	@%p bra again;
	ld.volatile.global.u32 %m, [%o+4];
	add.u32 %m, %m, 1;
	st.volatile.global.u32 [%o+4], %m;
	atom.global.exch.b32 %w, [%o], 0;
	mov.u32 %n, 1;
again:
	setp.eq.u32 %p, %n, 0;
	@%p bra try;`},
	{"the last lane of a warp produces what the others wait for, and waits for them", 1, 32, []uint32{7, 31}, `
	setp.eq.u32 %p, %tid, 31;
	@%p bra produce;
consume:
	ld.acquire.gpu.global.u32 %n, [%o];
	setp.eq.u32 %p, %n, 0;
	@%p bra consume;
	red.global.add.u32 [%o+4], 1;
	bra join;
produce:
	st.release.gpu.global.u32 [%o], 7;
all:
	ld.acquire.gpu.global.u32 %n, [%o+4];
	setp.ne.u32 %p, %n, 31;
	@%p bra all;
join:
	bar.sync 0;`},
}

// TestThreadsThatWait shows that threads which wait for other threads, lanes or CTAs end in every order.
func TestThreadsThatWait(t *testing.T) {
	part.SkipShort(t)
	for _, c := range waiting {
		r := newHarness(t, `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o, %a;
	.reg .b32 %n, %m, %w, %tid, %ctaid, %nctaid;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u32 %tid, %tid.x;
	mov.u32 %ctaid, %ctaid.x;
	mov.u32 %nctaid, %nctaid.x;
`+c.code+`
	ret;
}`)
		for name, order := range orders {
			o := r.buffer(make([]uint32, len(c.want))...)
			r.launch.Order = order
			if err := r.tryRun("k", c.grid, c.block, o); err != nil {
				t.Errorf("%s, %s: %v", name, c.name, err)
			} else if got := r.words(o, len(c.want)); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s, %s: got %v, want %v", name, c.name, got, c.want)
			}
		}
	}
}

// TestLanesReconverge: lanes that diverge at a branch reconverge after it, also if one side calls a function.
func TestLanesReconverge(t *testing.T) {
	r := newHarness(t, `
.func (.reg .b32 %r) f(.reg .b32 %x) {
	activemask.b32 %r;
	add.u32 %r, %r, %x;
	ret;
}
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %n, %m, %tid;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u32 %tid, %tid.x;
	setp.lt.u32 %p, %tid, 3;
	mov.u32 %n, 0;
	@%p bra join;
	call (%n), f, (%tid);
join:
	activemask.b32 %m;
	mad.wide.u32 %o, %tid, 8, %o;
	st.global.v2.u32 [%o], {%n, %m};
	ret;
}`)
	r.launch.Order = Lockstep
	o := r.buffer(make([]uint32, 16)...)
	r.mustRun("k", 1, 8, o)
	want := []uint32{0, 0xff, 0, 0xff, 0, 0xff}
	for i := range uint32(5) {
		want = append(want, 0xf8+3+i, 0xff)
	}
	checkWords(t, r, o, want...)
}

// TestLogOfThreads checks the log of a guard, a vector, a call, an atomic and a barrier.
func TestLogOfThreads(t *testing.T) {
	r := newHarness(t, `
.func (.reg .b32 %r) twice(.reg .b32 %x) {
	add.u32 %r, %x, %x;
	ret;
}
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %n, %w;
	.reg .pred %p;
	.shared .align 8 .b8 s[8];
	ld.param.u64 %o, [out];
	mov.u32 %n, %tid.x;
	setp.eq.u32 %p, %n, 0;
	@%p st.shared.v2.u32 [s], {5, 6};
	bar.red.popc.u32 %w, 0, %p;
	atom.shared.add.u32 %n, [s+4], %w;
	call (%n), twice, (%w);
	st.global.u32 [%o], %n;
}`)
	o := r.buffer(0)
	var got []string
	r.launch.Log = func(s *Step) {
		if s.Thread != 1 {
			return
		}
		text := "end"
		if s.Instr != nil {
			text = s.Instr.Mnemonic()
		}
		if s.Skipped {
			text += " skipped"
		}
		for _, w := range s.Writes {
			text += fmt.Sprintf(" %s.%s=%d", w.Func.Name, w.Func.Regs[w.Reg].Name, w.Low)
		}
		for _, a := range s.Accesses {
			text += fmt.Sprintf(" %s[%#x] %v>%v", a.Space, a.Addr, a.Loaded, a.Stored)
		}
		got = append(got, text)
	}
	r.mustRun("k", 1, 2, o)
	want := []string{
		fmt.Sprintf("ld k.%%o=%d param[0xf0000] [0 0 0 16 0 0 0 0]>[]", o),
		"mov k.%n=1",
		"setp k.%p=0",
		"st skipped",
		"bar k.%w=1",
		"atom k.%n=7 shared[0x4] [7 0 0 0]>[8 0 0 0]", // thread 0 was first
		"call twice.%x=1",
		"add twice.%r=2",
		"ret k.%n=2",
		"st global[0x10000000] []>[2 0 0 0]",
		"end",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
