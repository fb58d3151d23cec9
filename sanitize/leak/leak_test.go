package leak

import (
	"fmt"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

const kernel = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .u64 kept;
// Each thread allocates; those below n free.
.entry k(.param .u32 n)
{
	.reg .u32 %t, %n;
	.reg .u64 %p;
	.reg .pred %q;
	.param .b64 a, r;
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.lt.u32 %q, %t, %n;
	st.param.b64 [a], 24;
	call (r), malloc, (a);
	ld.param.b64 %p, [r];
	st.global.u64 [kept], %p;
	st.param.b64 [a], %p;
@%q	call free, (a);
	ret;
}
// One thread frees what has been kept.
.entry later()
{
	.reg .u64 %p;
	.param .b64 a;
	ld.global.u64 %p, [kept];
	st.param.b64 [a], %p;
	call free, (a);
	ret;
}
`

// TestDeviceHeapLeaks frees memory in the same kernel, in a later kernel, or not at all.
func TestDeviceHeapLeaks(t *testing.T) {
	for _, c := range []struct {
		n     uint32
		later bool
		want  int
	}{{8, false, 0}, {5, false, 3}, {7, true, 0}, {0, true, 7}} {
		for _, mode := range interp.Modes() {
			name := mode.String()
			t.Run(fmt.Sprintf("%d,%v,%s", c.n, c.later, name), func(t *testing.T) {
				var log finding.Log
				p := New(&log, false)
				dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{p}})
				if _, err := dev.Alloc(100); err != nil {
					t.Fatal(err)
				}
				mod, err := dev.Load("k.ptx", []byte(kernel))
				if err != nil {
					t.Fatal(err)
				}
				launch := func(kernel string, block int, args ...any) {
					if _, err := mod.Run(t.Context(), &interp.Launch{Kernel: kernel, Grid: ptx.Dim(1), Block: ptx.Dim(block), Args: args, Mode: mode}); err != nil {
						t.Fatal(err)
					}
				}
				launch("k", 8, c.n)
				if c.later {
					launch("later", 1)
				}
				p.Finish()
				list := log.Findings()
				got := 0
				for i := range list {
					if got += list[i].Count; list[i].Place.Line != 18 || list[i].Place.Thread[0] != int(c.n) {
						t.Errorf("it is allocated at %+v, want line 18 and thread %d", list[i].Place, c.n)
					}
				}
				if got != c.want {
					t.Errorf("%d have leaked, want %d", got, c.want)
				}
			})
		}
	}
}

// TestHostBufferLeaks checks that buffers not freed by the host are found.
func TestHostBufferLeaks(t *testing.T) {
	var log finding.Log
	p := New(&log, true)
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{p}})
	a, err := dev.AllocNamed("a", 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.AllocNamed("b", 200); err != nil {
		t.Fatal(err)
	}
	a.Free()
	p.Finish()
	if list := log.Findings(); len(list) != 1 || list[0].Memory.Name != "b" || list[0].Memory.Bytes != 200 {
		t.Errorf("found %+v, want b", list)
	}
}
