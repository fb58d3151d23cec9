package interp

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gemu/internal/oracle"
	"gemu/probe"
	"gemu/ptx"
)

// heapFree: CTA 0 allocates a block of 64 MB, whose memory lies outside Go's heap, and frees it while the remaining CTAs
// and the second warp of CTA 0 read this block and a small adjacent block.
const heapFree = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k(.param .u64 p)
{
	.reg .u64 %p, %b, %s, %a, %o; .reg .u32 %c, %t, %v, %n, %sum; .reg .pred %q;
	ld.param.u64 %p, [p];
	mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; shl.b32 %v, %c, 6; or.b32 %v, %v, %t;
	setp.ne.u32 %q, %v, 0;
	@%q bra READ;
	{ .param .b64 a; .param .b64 r; st.param.b64 [a], 67108864; call (r), malloc, (a); ld.param.b64 %b, [r]; }
	{ .param .b64 a; .param .b64 r; st.param.b64 [a], 4096; call (r), malloc, (a); ld.param.b64 %s, [r]; }
	setp.eq.u64 %q, %b, 0;
	@%q trap;
	st.u32 [%b+67108860], 5; st.u32 [%s], 7;
	st.global.u64 [%p+8], %s;
	membar.gl;
	st.volatile.global.u64 [%p], %b;
WAIT:	ld.volatile.global.u32 %n, [%p+16];
	setp.lt.u32 %q, %n, 4;
	@%q bra WAIT;
	{ .param .b64 a; st.param.b64 [a], %b; call free, (a); }
	ret;
READ:	and.b32 %v, %t, 31;
	setp.ne.u32 %q, %v, 0;
	@%q bra END;
FIND:	ld.volatile.global.u64 %b, [%p];
	setp.eq.u64 %q, %b, 0;
	@%q bra FIND;
	ld.volatile.global.u64 %s, [%p+8];
	atom.global.add.u32 %n, [%p+16], 1;
	mov.u64 %o, 0;
LOOP:	add.u64 %a, %b, %o;
	ld.volatile.u32 %v, [%a]; ld.u32 %n, [%s]; st.u32 [%a], %n;
	add.u64 %o, %o, 65536; and.b64 %o, %o, 67108863;
	bra LOOP;
END:	ret;
}
`

// TestFreeLargeBlock: an access to a large heap block is a trap if another warp or CTA has freed the block meanwhile, on
// every backend, in every mode and for any number of host threads. The process continues.
func TestFreeLargeBlock(t *testing.T) {
	run := func(name string, l Launch, workers int) {
		t.Run(name, func(t *testing.T) {
			dev := NewDevice(Config{Workers: workers, Heap: 1 << 30})
			mod, err := dev.Load("free.ptx", []byte(heapFree))
			if err != nil {
				t.Fatal(err)
			}
			buf, err := NewBuffer(dev, make([]uint32, 8))
			if err != nil {
				t.Fatal(err)
			}
			l.Kernel, l.Grid, l.Block, l.Args = "k", ptx.Dim(4), ptx.Dim(64), []any{buf}
			if l.Mode == oracleMode {
				l.Mode = Vector
				twin, err := NewTwin(mod)
				if err != nil {
					t.Fatal(err)
				}
				_, err = twin.Run(context.Background(), &l, nil, nil)
				var trap *oracle.Trap
				if !errors.As(err, &trap) || trap.Kind != oracle.KindMemory {
					t.Errorf("%v, want a use after free", err)
				}
				return
			}
			if _, err := mod.Run(context.Background(), &l); !errors.Is(err, probe.ErrUseAfterFree) {
				t.Errorf("%v, want a use after free", err)
			}
		})
	}
	for i, b := range []Engine{Portable, Native} {
		if !b.Available() {
			continue
		}
		for _, m := range []Mode{Vector, Affine, Check} {
			for _, workers := range []int{1, 4} {
				run(fmt.Sprintf("%v, backend %d, %d workers", m, i, workers), Launch{Mode: m, Engine: b}, workers)
			}
		}
	}
	run("oracle", Launch{Mode: oracleMode}, 1)
}
