package interp_test

import (
	"errors"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// TestSpinsBesideOrdered: warp 1 spins on a flag in shared memory, which warp 0 sets after an instruction that is globally ordered. The flag is
// set, because the spinning warp does not keep the other from its instruction.
func TestSpinsBesideOrdered(t *testing.T) {
	for _, ordered := range []string{"red.global.add.u32 [%a], 3;", "atom.global.cas.b32 %x, [%a], 0, 3;", "atom.global.exch.b32 %x, [%a], 3;"} {
		for _, mode := range []interp.Mode{interp.Vector, interp.Check, interp.Affine} {
			for _, blocks := range []int{1, 3} {
				text := `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %t, %x;
	.reg .u64 %a;
	.reg .pred %p, %one;
	.shared .align 4 .u32 flag;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %one, %t, 0;
	@%one st.shared.u32 [flag], 0;
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra AGAIN;
	@%one ` + ordered + `
	st.volatile.shared.u32 [flag], 1;
	ret;
AGAIN:
	ld.volatile.shared.u32 %x, [flag];
	setp.eq.u32 %p, %x, 0;
	@%p bra AGAIN;
	ret;
}
`
				d := interp.NewDevice(interp.Config{})
				m, err := d.Load("k.ptx", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				out, err := d.Alloc(4)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(blocks), Block: ptx.Dim(64), Mode: mode, Args: []any{out}}); err != nil {
					t.Errorf("%s, %v, %d CTAs: %v", ordered, mode, blocks, err)
				}
				d.Close()
			}
		}
	}
}

// TestSpinsBesideLock: a flag is never set, and a lock is never freed. Warp 1 spins on the flag, and warp 0 on the lock, with an atomic, which is
// globally ordered. That is a deadlock.
func TestSpinsBesideLock(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %t, %x;
	.reg .u64 %a;
	.reg .pred %p;
	.shared .align 4 .u32 flag;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	st.shared.u32 [flag], 0;
	bar.sync 0;
	setp.ge.u32 %p, %t, 32;
	@%p bra AGAIN;
LOCK:
	atom.global.cas.b32 %x, [%a], 1, 2;
	setp.ne.u32 %p, %x, 1;
	@%p bra LOCK;
	ret;
AGAIN:
	ld.volatile.shared.u32 %x, [flag];
	setp.eq.u32 %p, %x, 0;
	@%p bra AGAIN;
	ret;
}
`
	d := interp.NewDevice(interp.Config{})
	defer d.Close()
	m, err := d.Load("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(64), Args: []any{out}}); !errors.Is(err, probe.ErrDeadlock) {
		t.Errorf("%v, want %v", err, probe.ErrDeadlock)
	}
}
