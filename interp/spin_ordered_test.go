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

// TestSpinsWithCounter: a warp spins on a flag in shared memory and counts its tries, so its registers are never those of an earlier round. Another
// warp sets the flag after a globally ordered instruction, or after a lock that a third warp frees: each gets its turn, with the same counts for any
// number of cores.
func TestSpinsWithCounter(t *testing.T) {
	const begin = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %t, %x, %n;
	.reg .u64 %a;
	.reg .pred %p, %one;
	.shared .align 4 .u32 flag;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %one, %t, 0;
	@%one st.shared.u32 [flag], 0;
	mov.u32 %n, %ctaid.x;
	mad.wide.u32 %a, %n, 4, %a;
	mov.u32 %n, 0;
	bar.sync 0;
	setp.ge.u32 %p, %t, 64;
	@%p bra AGAIN;
	and.b32 %x, %t, 31;
	setp.ne.u32 %p, %x, 0;
	@%p bra DONE;
	setp.ge.u32 %p, %t, 32;
	@%p bra SECOND;
`
	const end = `
	bra DONE;
AGAIN:
	add.u32 %n, %n, 1;
	ld.volatile.shared.u32 %x, [flag];
	setp.eq.u32 %p, %x, 0;
	@%p bra AGAIN;
DONE:
	ret;
}
`
	for name, middle := range map[string]string{
		"atomic": `
	atom.global.add.u32 %x, [%a], 1;
	add.u32 %x, %x, 1;
	st.volatile.shared.u32 [flag], %x;
SECOND:`,
		"volatile": `
	ld.volatile.global.u32 %x, [%a];
	st.volatile.shared.u32 [flag], 1;
SECOND:`,
		"lock, the holder after the waiter": `
LOCK:
	atom.global.cas.b32 %x, [%a], 1, 2;
	setp.ne.u32 %p, %x, 1;
	@%p bra LOCK;
	st.volatile.shared.u32 [flag], 1;
	bra DONE;
SECOND:
	atom.global.exch.b32 %x, [%a], 1;`,
		"lock, the holder before the waiter": `
	atom.global.exch.b32 %x, [%a], 1;
	bra DONE;
SECOND:
LOCK:
	atom.global.cas.b32 %x, [%a], 1, 2;
	setp.ne.u32 %p, %x, 1;
	@%p bra LOCK;
	st.volatile.shared.u32 [flag], 1;`,
	} {
		for _, l := range []interp.Launch{{Mode: interp.Vector}, {Mode: interp.Check}, {Mode: interp.Affine}, {Mode: interp.Vector, Cluster: ptx.Dim(2)}, {Mode: interp.Vector, Seed: 7},
			// numbers of spinning warps that divide the turns of warps in a round, 2^18/2048 + 4096/2048
			{Mode: interp.Vector, Block: ptx.Dim(7 * 32)}, {Mode: interp.Vector, Block: ptx.Dim(12 * 32)}, {Mode: interp.Vector, Block: ptx.Dim(15 * 32)}} {
			text := begin + middle + end
			want := int64(0)
			for _, workers := range []int{1, 2, 4} {
				d := interp.NewDevice(interp.Config{Workers: workers})
				m, err := d.Load("k.ptx", []byte(text))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				out, err := d.Alloc(16)
				if err != nil {
					t.Fatal(err)
				}
				if l.Block == (ptx.Dim3{}) {
					l.Block = ptx.Dim(96)
				}
				l.Grid, l.MaxSteps, l.Args = ptx.Dim(4), 1<<20, []any{out}
				r, err := m.Run(t.Context(), &l)
				if err != nil {
					t.Errorf("%s, %v, %d threads, cluster of %d, seed %d, %d workers: %v", name, l.Mode, l.Block.Count(), l.Cluster.Count(), l.Seed, workers, err)
					d.Close()
					break
				}
				if n := r.Counts.WarpInstructions; want == 0 {
					want = n
				} else if n != want {
					t.Errorf("%s, %v, %d threads, cluster of %d, seed %d, %d workers: %d instructions, want %d", name, l.Mode, l.Block.Count(), l.Cluster.Count(), l.Seed, workers, n, want)
				}
				d.Close()
			}
		}
	}
}
