package interp

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gemu/probe"
	"gemu/ptx"
)

// TestRepeatedLaunchBeginsClean: a launch in pooled contexts of CTAs finds nothing of earlier launches: shared and
// local memory are zero, barriers are empty, and memory freed since then is gone.
func TestRepeatedLaunchBeginsClean(t *testing.T) {
	decls := `.extern .shared .align 4 .b8 dynamic[];`
	body := `
	.shared .align 4 .b8 own[128];
	.local .align 4 .b8 mine[16];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, own;
	and.b32 %r3, %r1, 31;
	mad.lo.u32 %r2, %r3, 4, %r2;
	mov.u32 %r4, dynamic;
	ld.shared.u32 %r5, [%r2];
	ld.shared.u32 %r6, [%r4];
	add.u32 %r5, %r5, %r6;
	ld.local.u32 %r6, [mine+8];
	add.u32 %r5, %r5, %r6;
	bar.sync 0;
	mov.u32 %r7, 77;
	st.shared.u32 [%r2], %r7;
	st.shared.u32 [%r4], %r7;
	st.local.u32 [mine+8], %r7;
	setp.ge.u32 %p1, %r1, 40;
	@%p1 bra END;
	mov.u32 %r8, %ctaid.x;
	mad.lo.u32 %r8, %r8, 32, 2048;
	bar.arrive 3, %r8; // of which there are never so many, and in each CTA another number
END:
	mov.u32 %r8, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r8, %r8, %r3, %r1;
	mad.wide.u32 %rd1, %r8, 4, %rd0;
	add.u32 %r5, %r5, 1;
	st.global.u32 [%rd1], %r5;
	ret;`
	for _, mode := range []Mode{Vector, Affine, Check} {
		for _, engine := range Engines()[1:] { // without auto, which stands for another engine of the list
			if !engine.Available() {
				continue // not supported on this host
			}
			m := module(t, Config{Workers: 2}, decls, body)
			var buffer *Buffer
			for i, launch := range []struct{ block, shared int }{{64, 64}, {64, 64}, {96, 64}, {64, 4}, {64, 128}, {64, 128}, {64, 128}, {1, 0}} {
				id := fmt.Sprintf("%v mode, %v, launch %d", mode, engine, i)
				l := &Launch{Kernel: "k", Grid: ptx.Dim(40), Block: ptx.Dim(launch.block), Shared: launch.shared, Mode: mode, Engine: engine}
				run := func(b *Buffer) (*Result, error) {
					l.Args = []any{b}
					return m.Run(context.Background(), l)
				}
				if buffer != nil {
					buffer.Free()
					if _, err := run(buffer); !errors.Is(err, probe.ErrUseAfterFree) && launch.shared > 0 {
						t.Errorf("%s: with the buffer of the one before it gives %v", id, err)
					}
				}
				buffer = alloc(t, m, 4*40*launch.block)
				r, err := run(buffer)
				if launch.shared == 0 {
					if !errors.Is(err, probe.ErrOutOfBounds) {
						t.Errorf("%s: without shared memory it gives %v", id, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				for k, v := range Slice[uint32](buffer) {
					if v != 1 {
						t.Fatalf("%s: thread %d finds %d of another", id, k, v-1)
					}
				}
				fresh := module(t, Config{Workers: 1}, decls, body)
				l.Args = []any{alloc(t, fresh, buffer.Size())}
				want, err := fresh.Run(context.Background(), l)
				if err != nil || want.Counts != r.Counts {
					t.Errorf("%s: counts %+v, on a device of its own %+v, %v", id, r.Counts, want.Counts, err)
				}
			}
		}
	}
}
