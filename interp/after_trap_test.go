package interp

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestMemoryAfterTrap: if a store traps in a lane, lower lanes have stored and higher lanes have not. This holds for
// every history of the instruction's accesses, in all modes and on both engines. Lanes store to two allocations in
// turn.
func TestMemoryAfterTrap(t *testing.T) {
	const lanes, bad = 32, 13
	backends := []Engine{Portable}
	if Native.Available() {
		backends = append(backends, Native)
	}
	for _, store := range []string{"st.global.u32 [%rd3], %r4", "st.global.v2.u32 [%rd3], {%r4, %r4}"} {
		vector := strings.Contains(store, ".v2")
		for hit := range 3 { // earlier accesses: to the buffer, to the variable, to both
			decls := fmt.Sprintf(".global .align 8 .b64 other[%d];", lanes)
			body := fmt.Sprintf(`
	mov.u32 %%r0, %%tid.x;
	mul.wide.u32 %%rd2, %%r0, 8;
	mov.u64 %%rd1, other;
	and.b32 %%r1, %%r0, 1;
	mov.u32 %%r2, 0; // the round
L:	setp.ne.u32 %%p0, %%r2, 0;
	mov.u32 %%r3, %d;
	@!%%p0 bra HIT;
	mov.u32 %%r3, 2;
HIT:	setp.eq.u32 %%p1, %%r3, 2;
	selp.u32 %%r3, %%r1, %%r3, %%p1;
	setp.eq.u32 %%p1, %%r3, 0;
	selp.u64 %%rd3, %%rd0, %%rd1, %%p1;
	add.u64 %%rd3, %%rd3, %%rd2;
	setp.eq.and.u32 %%p1, %%r0, %d, %%p0;
	@%%p1 add.u64 %%rd3, %%rd3, 1;
	mad.lo.u32 %%r4, %%r2, 100, %%r0;
	%s;
	add.u32 %%r2, %%r2, 1;
	bra L;`, hit, bad, store)
			for _, mode := range []Mode{Vector, Affine, Check} {
				for _, backend := range backends {
					m := module(t, Config{Workers: 1}, decls, body)
					b := alloc(t, m, 8*lanes)
					_, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(lanes), Args: []any{b}, Mode: mode, Engine: backend})
					if err == nil {
						t.Fatal("it does not trap")
					}
					for lane := range lanes {
						got, want := []*Buffer{b, m.Var("other")}[lane%2].Bytes()[8*lane:][:8], uint32(0)
						switch {
						case lane < bad:
							want = uint32(100 + lane)
						case hit == 2 || hit == lane%2: // values of the first iteration
							want = uint32(lane)
						}
						if first, second := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(got[4:]); first != want || vector && second != want {
							t.Errorf("%s, memory %d was hit, %v mode, %T: lane %d has left %d and %d, want %d: %v", store, hit, mode, backend, lane, first, second, want, err)
						}
					}
				}
			}
		}
	}
}
