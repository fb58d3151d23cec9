package oracle

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"gemu/ptx"
)

// TestLoopsOfDifferentLength runs a loop whose trip count differs by thread: Collatz steps.
func TestLoopsOfDifferentLength(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %n, %i, %t;
	.reg .pred %p, %q;
	ld.param.u64 %o, [out];
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	mad.wide.u32 %o, %tidx, 4, %o;
	add.u32 %n, %tidx, 1;
	mov.u32 %i, 0;
again:
	setp.eq.u32 %p, %n, 1;
	@%p bra done;
	and.b32 %t, %n, 1;
	setp.eq.u32 %q, %t, 1;
	@%q mad.lo.u32 %n, %n, 3, 1;
	@!%q shr.u32 %n, %n, 1;
	add.u32 %i, %i, 1;
	bra again;
done:
	st.global.u32 [%o], %i;
}`)
	var want []uint32
	for n := range uint32(100) {
		steps := uint32(0)
		for n++; n != 1; steps++ {
			if n&1 == 1 {
				n = 3*n + 1
			} else {
				n /= 2
			}
		}
		want = append(want, steps)
	}
	o := r.buffer(make([]uint32, 100)...)
	r.mustRun("k", 1, 100, o)
	checkWords(t, r, o, want...)
}

// TestBranchTable: brx.idx (9.7.12.4).
func TestBranchTable(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %x;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	mad.wide.u32 %o, %tidx, 4, %o;
	setp.ne.u32 %p, %tidx, 3;
	list: .branchtargets A, B, C;
	@%p brx.idx %tidx, list;
	mov.u32 %x, 33;
	bra end;
A:	mov.u32 %x, 10; bra end;
B:	mov.u32 %x, 11; bra end;
C:	mov.u32 %x, 12;
end:
	st.global.u32 [%o], %x;
	ret;
}`)
	o := r.buffer(make([]uint32, 5)...)
	r.mustRun("k", 1, 4, o)
	checkWords(t, r, o, 10, 11, 12, 33)
	wantTrap(t, r.tryRun("k", 1, 5, o), KindBranch, "index 4, list has 3 labels")
}

// TestRecursion computes Fibonacci numbers by two calls each.
func TestRecursion(t *testing.T) {
	r := newHarness(t, `
.func (.param .b32 r) fib(.param .b32 n) {
	.reg .b32 %n, %a, %b;
	.reg .pred %p;
	.local .b32 keep;   // every activation has its own
	ld.param.b32 %n, [n];
	setp.lt.u32 %p, %n, 2;
	@%p bra small;
	{
		.param .b32 x, y;
		sub.u32 %a, %n, 1;
		st.param.b32 [x], %a;
		call.uni (y), fib, (x);
		ld.param.b32 %a, [y];
	}
	st.local.b32 [keep], %a;
	{
		.param .b32 x, y;
		sub.u32 %b, %n, 2;
		st.param.b32 [x], %b;
		call.uni (y), fib, (x);
		ld.param.b32 %b, [y];
	}
	ld.local.b32 %a, [keep];
	add.u32 %n, %a, %b;
small:
	st.param.b32 [r], %n;
	ret;
}
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .b32 %r;
	.param .b32 x, y;
	ld.param.u64 %o, [out];
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	mad.wide.u32 %o, %tidx, 4, %o;
	mov.u32 %r, %tid.x;
	st.param.b32 [x], %r;
	call (y), fib, (x);
	ld.param.b32 %r, [y];
	st.global.u32 [%o], %r;
	ret;
}`)
	o := r.buffer(make([]uint32, 12)...)
	r.mustRun("k", 1, 12, o)
	checkWords(t, r, o, 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
}

// TestEndlessRecursion shows that endless recursion traps with the depth of the calls.
func TestEndlessRecursion(t *testing.T) {
	r := newHarness(t, `
.func f() { call f; ret; }
.visible .entry k() { call f; ret; }`)
	wantTrap(t, r.tryRun("k", 1, 1), KindStack, "calls deep")
}

// TestCalls passes arguments in registers, as constants and by value in aggregates, and takes the address of a
// parameter.
func TestCalls(t *testing.T) {
	r := newHarness(t, `
.func (.reg .u32 d) addmul(.reg .u32 a, .reg .u32 b, .reg .u32 c) {
	mad.lo.u32 d, a, b, c;
	ret;
}
// swaps the fields of its copy and returns it
.func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[16]) {
	.reg .b64 %a, %b, %p;
	ld.param.b64 %a, [s];
	ld.param.b64 %b, [s+8];
	mov.b64 %p, s;             // in local memory
	st.local.b64 [%p], %b;
	cvta.local.u64 %p, %p;
	st.b64 [%p+8], %a;
	ld.param.b64 %a, [s];
	ld.param.b64 %b, [s+8];
	st.param.v2.b64 [r], {%a, %b};
	ret;
}
// the sum of the last, unbounded argument
.func (.param .b32 r) total(.param .b32 n, .param .align 4 .b8 list[]) {
	.reg .b64 %p;
	.reg .b32 %n, %x, %s;
	.reg .pred %q;
	mov.b64 %p, list;
	ld.param.b32 %n, [n];
	mov.b32 %s, 0;
next:
	setp.eq.u32 %q, %n, 0;
	@%q bra done;
	ld.param.b32 %x, [%p];
	add.u32 %s, %s, %x;
	add.u64 %p, %p, 4;
	sub.u32 %n, %n, 1;
	bra next;
done:
	st.param.b32 [r], %s;
	ret;
}
.visible .entry k(.param .u64 out, .param .align 8 .b8 agg[16]) {
	.reg .b64 %o, %a, %b;
	.reg .b32 %r, %i;
	.param .align 8 .b8 s[16];
	.param .align 8 .b8 d[16];
	.param .b32 n, sum;
	.param .align 4 .b8 list[12];
	ld.param.u64 %o, [out];
	mov.u32 %i, 5;
	call (%r), addmul, (%i, 6, %i);
	st.global.u32 [%o], %r;

	st.param.b64 [s], 1;
	st.param.b64 [s+8], 2;
	call (d), swap, (s);
	ld.param.b64 %a, [s];      // unchanged
	ld.param.b64 %b, [d];
	st.global.u32 [%o+4], %a;
	st.global.u32 [%o+8], %b;
	call (d), swap, (agg);     // the kernel's own parameter
	ld.param.v2.b64 {%a, %b}, [d];
	st.global.u32 [%o+12], %a;
	st.global.u32 [%o+16], %b;

	st.param.b32 [n], 3;
	st.param.b32 [list], 100;
	st.param.b32 [list+4], 20;
	st.param.b32 [list+8], 3;
	call (sum), total, (n, list);
	ld.param.b32 %r, [sum];
	st.global.u32 [%o+20], %r;
	ret;
}`)
	o := r.buffer(make([]uint32, 6)...)
	r.mustRun("k", 1, 2, o, []byte{7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0})
	checkWords(t, r, o, 35, 1, 2, 9, 7, 123)
}

// TestIndirectCalls: a call table, a list of targets and a prototype (9.7.12.5).
func TestIndirectCalls(t *testing.T) {
	r := newHarness(t, `
.func (.reg .u32 d) foo(.reg .u32 a) { add.u32 d, a, 1; ret; }
.func (.reg .u32 d) bar(.reg .u32 a) { mul.lo.u32 d, a, 2; ret; }
.func (.reg .u32 d) baz(.reg .u32 a) { sub.u32 d, a, 3; ret; }
.func odd() { ret; }
.global .u64 jmptbl[3] = { foo, bar, baz };
.global .u64 more[4] = { foo, bar, baz, odd };
.visible .entry k(.param .u64 out, .param .u64 add) {
	.reg .b64 %o, %t, %f;
	.reg .b32 %r, %x;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	mad.wide.u32 %o, %tidx, 4, %o;
	mov.u64 %t, more;
	mad.wide.u32 %t, %tidx, 8, %t;
	ld.global.u64 %f, [%t];
	ld.param.u64 %t, [add];
	add.u64 %f, %f, %t;
	call (%r), %f, (100), jmptbl;
	proto: .callprototype (.reg .u32 _) _ (.reg .u32 _);
	call (%x), %f, (%r), proto;
	mov.u64 %f, bar;
	targets: .calltargets foo, bar, baz;
	setp.eq.u32 %p, %tidx, 1;
	@%p call (%x), %f, (%r), targets;
	st.global.u32 [%o], %x;
	ret;
}`)
	o := r.buffer(0, 0, 0, 0)
	r.mustRun("k", 1, 3, o, 0)
	checkWords(t, r, o, 102, 400, 94)
	wantTrap(t, r.tryRun("k", 1, 1, o, 1), KindCall, "no function is at")
	wantTrap(t, r.tryRun("k", 1, 4, o, 0), KindCall, "odd (8:7) is not among the targets")
}

// TestStepLimit: an endless loop ends with a trap; skipped instructions count.
func TestStepLimit(t *testing.T) {
	r := newHarness(t, `
.visible .entry k() { L: bra L; }
.visible .entry skip() {
	.reg .pred %p;
	.reg .u32 %r;
L:	@%p add.u32 %r, %r, 1;
	@!%p bra L;
}
.visible .entry one() { ret; }`)
	r.launch.MaxSteps = 5000
	wantTrap(t, r.tryRun("k", 1, 1), KindSteps, "5000")
	wantTrap(t, r.tryRun("skip", 1, 1), KindSteps, "5000")
	r.launch.MaxSteps = 1
	r.mustRun("one", 3, 33)
	if r.stats.ThreadInstructions != 99 {
		t.Errorf("%d instructions, want 99", r.stats.ThreadInstructions)
	}
}

// TestCancelledOracle: a cancelled context ends an endless loop, and an invalid launch is refused.
func TestCancelledOracle(t *testing.T) {
	r := newHarness(t, `
.visible .entry k() { L: bra L; }
.func f() { ret; }`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	l := Launch{Kernel: "k", Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}}
	if _, err := r.mod.Run(ctx, &l); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline exceeded", err)
	}
	for _, spoil := range []func(l *Launch){
		func(l *Launch) { l.Kernel = "f" },
		func(l *Launch) { l.Kernel = "none" },
		func(l *Launch) { l.Args = [][]byte{{0}} },
		func(l *Launch) { l.WarpSize = 65 },
		func(l *Launch) { l.Block[1] = 0 },
	} {
		bad := l
		spoil(&bad)
		if _, err := r.mod.Run(t.Context(), &bad); err == nil {
			t.Errorf("launch %+v is not refused", bad)
		}
	}
}

// TestFalseGuards: an instruction with a false guard does nothing, and is not counted, unless it is a return.
func TestFalseGuards(t *testing.T) {
	r := newHarness(t, `
.visible .entry k(.param .u64 out) {
	.reg .b64 %o;
	.reg .pred %p;
	.reg .u32 %tidx;
	mov.u32 %tidx, %tid.x;
	setp.ne.u32 %p, %tidx, 0;
	@%p ret;
	@!%p ld.param.u64 %o, [out];
	@%p trap;
	st.global.u32 [%o], 7;
	exit;
	trap;
}`)
	o := r.buffer(0)
	r.mustRun("k", 1, 8, o)
	checkWords(t, r, o, 7)
	if r.stats.ThreadInstructions != 8+8+8+3 {
		t.Errorf("%d instructions, want 27", r.stats.ThreadInstructions)
	}
}

// TestUnsupportedInstruction: an unsupported instruction fails when a thread reaches it, not before.
func TestUnsupportedInstruction(t *testing.T) {
	for _, code := range []string{
		"call unknown;",
		"fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [%r], [%r, %d], %r, [%r];",
	} {
		r := newHarness(t, `
.extern .func unknown();
.visible .entry k(.param .u32 go) {
	.reg .b16 %h;
	.reg .b32 %r;
	.reg .f32 %f;
	.reg .b64 %d;
	.reg .pred %p;
	ld.param.u32 %r, [go];
	setp.ne.u32 %p, %r, 0;
	@!%p exit;
	`+code+`
	ret;
}`)
		r.mustRun("k", 1, 1, 0)
		err := r.tryRun("k", 1, 1, 1)
		var u *Unsupported
		if !errors.As(err, &u) || u.Instr.Pos.Line != 15 {
			t.Errorf("%s: got %v, want Unsupported at line 15", code, err)
		}
	}
}

// notRun lists the instructions with forms that no engine runs, by mnemonic and section of the form.
var notRun = map[string]bool{
	"fabric 9.7.10.5.1": true,
	"fabric 9.7.10.5.2": true,
	"fabric 9.7.10.5.3": true,
	"fabric 9.7.10.5.4": true,
	"fabric 9.7.11":     true,
}

// TestEveryFormHasAFunction checks that every form of the instruction table has a function or is listed in notRun.
func TestEveryFormHasAFunction(t *testing.T) {
	known, refused := map[string]bool{}, map[string]bool{}
	for _, op := range ptx.Ops() {
		for _, f := range op.Forms() {
			ops, ok := chapters[chapterOf(f.Section)]
			if !ok {
				continue
			}
			if f.Family == ptx.FamilyNone {
				if key := op.Name + " " + f.Section; !notRun[key] {
					t.Errorf("nothing runs %s (%s)", f.Syntax, f.Section)
				} else {
					refused[key] = true
				}
				continue
			}
			known[chapterOf(f.Section)+" "+op.Name] = true
			if ops[op.Name] == nil {
				t.Errorf("nothing runs %s (%s)", f.Syntax, f.Section)
			}
		}
	}
	for key := range notRun {
		if !refused[key] {
			t.Errorf("every form of %s runs: remove it from notRun", key)
		}
	}
	for chapter, ops := range chapters {
		for name := range ops {
			if !known[fmt.Sprintf("%s %s", chapter, name)] {
				t.Errorf("%s (%s) is not in the instruction table", name, chapter)
			}
		}
	}
}
