package race

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// pointers is a kernel with pointers a and b, a number n, and a variable v. BODY is its code.
const pointers = `.version 8.1
.target sm_90
.address_size 64
.extern .global .align 8 .u64 w[4];
.global .align 8 .u64 v[4];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{
	.reg .u32 %r<4>; .reg .u64 %x, %y, %z, %w, %i; .reg .pred %p;
	.shared .align 16 .b8 s[64]; .local .u64 l;
	ld.param.u64 %x, [a]; ld.param.u64 %y, [b]; ld.param.u32 %r0, [n];
	BODY
	ret;
}
.visible .global .align 8 .u64 w[4];
`

// TestTargets finds the pointers through which a kernel writes global memory.
func TestTargets(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`ld.global.u32 %r1, [%x];`, ""},
		{`st.global.u32 [%x+4], %r0;`, "a"},
		{`red.global.add.u32 [%y], %r0;`, "b"},
		{`cvta.to.global.u64 %x, %x; mul.wide.u32 %i, %r0, 4; add.s64 %z, %x, %i; st.global.u32 [%z], %r0; st.u32 [%y], %r0;`, "a b"},
		{`mul.wide.u32 %z, %r0, 4; add.s64 %z, %x, %z; st.global.u32 [%z], %r0;`, "unknown"}, // the order of execution is not known
		{`mov.u32 %r1, %tid.x; mad.wide.u32 %z, %r1, 4, %y; st.global.u32 [%z], %r0;`, "b"},
		{`ld.global.u64 %z, [%x]; shl.b64 %i, %z, 2; add.u64 %w, %y, %i; st.global.u32 [%w], %r0;`, "b"}, // a 64-bit index
		{`mov.u64 %z, v; st.u64 [%z+8], %x;`, "v"},
		{`st.global.u64 [v], %x;`, "v"},
		{`mov.u64 %z, w; st.u64 [%z], %x;`, "w"}, // its declaration is before the kernel, and its definition after it
		{`st.shared.u32 [s], %r0; st.local.u64 [l], %x; cp.async.ca.shared.global [s], [%x], 16;`, ""},
		{`cvta.shared.u64 %z, s; st.u32 [%z], %r0;`, ""}, // a generic address in shared memory
		{`setp.eq.u32 %p, %r0, 0; selp.b64 %z, %x, %y, %p; st.global.u32 [%z], %r0;`, "unknown"},
		{`mov.u64 %z, %x; @%p mov.u64 %z, %y; st.global.u32 [%z], %r0;`, "unknown"},
		{`ld.global.u64 %z, [%x]; st.global.u32 [%z], %r0;`, "unknown"}, // a pointer from memory
		{`ld.global.v2.u32 {%r1, %r2}, [%x]; mov.b64 %z, {%r1, %r2}; st.global.u32 [%z], %r0;`, "unknown"},
		{`st.local.u64 [l], %x; ld.local.u64 %z, [l]; st.global.u32 [%z], %r0;`, "unknown"},
		{`sub.u64 %z, %y, %x; add.u64 %z, %x, %z; st.global.u32 [%z], %r0;`, "unknown"}, // b in fact
		{`atom.global.exch.b64 %z, [%x], %y; st.global.u32 [%z], %r0;`, "unknown"},
		{`cvt.u64.u32 %z, %r0; st.global.u32 [%z], %r0;`, "unknown"}, // a number
		{`ld.param.u32 %r1, [b]; ld.param.u32 %r2, [b+4]; cvt.u64.u32 %z, %r1; cvt.u64.u32 %i, %r2; shl.b64 %i, %i, 32; or.b64 %z, %z, %i; @%p mov.u64 %x, %z; st.global.u32 [%x], %r0;`, "unknown"}, // b in parts
		{`mov.u64 %z, %x; @%p ld.param.u32 %r1, [b]; @%p ld.param.u32 %r2, [b+4]; cvt.u64.u32 %i, %r1; @%p mad.wide.u32 %z, %r2, 65536, %i; st.global.u32 [%z], %r0;`, "unknown"},
		{`mov.b64 {%r1, %r2}, %x; ld.param.u32 %r1, [b]; mov.b64 %z, {%r1, %r2}; st.global.u32 [%z], %r0;`, "unknown"},
		{`ld.param.u32 %r1, [b]; cvt.u64.u32 %i, %r1; bfi.b64 %z, %i, %x, 0, 32; st.global.u32 [%z], %r0;`, "unknown"},
		{`ld.global.u64 %i, [%y]; shr.u64 %i, %i, 8; @%p mov.u64 %x, %i; st.global.u32 [%x], %r0;`, "unknown"}, // a tagged pointer
		{`cvta.shared.u64 %z, s; ld.global.u64 %i, [%y]; shr.u64 %i, %i, 8; @%p mov.u64 %z, %i; st.u32 [%z], %r0;`, "unknown"},
		{`mov.u64 %z, %x; L: add.u64 %z, %z, %i; cvt.u64.u32 %i, %r0; @%p bra L; st.global.u32 [%z], %r0;`, "a"}, // the offset's value comes later in the text
		{`and.b64 %z, %x, -16; st.global.u32 [%z], %r0;`, "a"},
		{`multimem.st.relaxed.sys.global.u32 [%x], %r0;`, "unknown"}, // all memory of a multicast object
	} {
		var got string
		look := func(l *probe.LaunchInfo) {
			switch found := findTargets(l); {
			case !found.known:
				got = "unknown"
			default:
				slices.Sort(found.params)
				var names []string
				for _, at := range found.params {
					names = append(names, string("ab"[at/8]))
				}
				for _, v := range found.vars {
					names = append(names, v.Name)
				}
				got = strings.Join(names, " ")
			}
		}
		launchPointers(t, c.body, interp.Portable, 4, launchSpy{look})
		if got != c.want {
			t.Errorf("%s: the kernel writes %q, want %q", c.body, got, c.want)
		}
	}
}

// launchSpy looks at the beginning of a launch.
type launchSpy struct{ look func(l *probe.LaunchInfo) }

func (launchSpy) Subscription() probe.Subscription                { return probe.Subscription{Events: probe.OnLaunch} }
func (launchSpy) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return nil }
func (s launchSpy) OnEvent(e *probe.Event)                        { s.look(e.Launch) }

// launchPointers runs the kernel with two buffers of 64 words, whose distance is n, or n if it is less than 64. Traps are no failure.
func launchPointers(t *testing.T, body string, engine interp.Engine, n uint32, probes ...probe.Probe) {
	t.Helper()
	d := interp.NewDevice(interp.Config{Workers: 1})
	mod, err := d.Load("k.ptx", []byte(strings.Replace(pointers, "BODY", body, 1)))
	if err != nil {
		t.Fatal(body, err)
	}
	a, errA := d.Alloc(256)
	b, errB := d.Alloc(256)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if n >= 64 {
		n = uint32(b.Addr() - a.Addr())
	}
	_, _ = mod.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{a, b, n}, Probes: probes, Mode: interp.Vector, Engine: engine})
}

// TestWriteThroughAnotherPointer: race records no reads of memory that the kernel does not write as far as the analysis knows. If
// the kernel writes it nevertheless, through a pointer to other memory, there is a notice, and races with later reads are found.
func TestWriteThroughAnotherPointer(t *testing.T) {
	// b[0] is read, written by a lane if n is the distance of b from a, and read again.
	const one = `mov.u32 %r1, %tid.x;
	ld.global.u32 %r2, [%y];
	cvt.u64.u32 %i, %r0; add.u64 %z, %x, %i;
	setp.eq.u32 %p, %r1, 0;
	@%p st.global.u32 [%z], %r2;
	ld.global.u32 %r3, [%y];`
	// The same, and the other lanes write a with the same instruction.
	const several = `mov.u32 %r1, %tid.x;
	ld.global.u32 %r2, [%y+32];
	setp.eq.u32 %p, %r1, 8; selp.u32 %r2, %r0, 0, %p; cvt.u64.u32 %w, %r2;
	mad.wide.u32 %i, %r1, 4, %w; add.u64 %z, %x, %i;
	st.global.u32 [%z], %r1;
	ld.global.u32 %r3, [%y+32];`
	for _, engine := range []interp.Engine{interp.Portable, interp.Native} {
		if !engine.Available() {
			continue
		}
		for _, c := range []struct {
			body string
			n    uint32
			want string
		}{
			{one, 64, "[write through another pointer read after write]"},
			{one, 4, "[]"},
			{several, 64, "[write through another pointer read after write]"},
			{several, 0, "[]"},
		} {
			var log finding.Log
			launchPointers(t, c.body, engine, c.n, New(&log, 0))
			var kinds []string
			for _, f := range log.Findings() {
				kinds = append(kinds, f.Kind)
			}
			if got := fmt.Sprint(kinds); got != c.want {
				t.Errorf("engine %v, distance %d: found %s, want %s\n%s", engine, c.n, got, c.want, c.body)
			}
		}
	}
}
