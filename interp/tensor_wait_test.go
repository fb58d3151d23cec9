package interp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gemu/probe"
	"gemu/ptx"
)

// TestTensorMemoryAwaited: the message about a warp that waits for tensor memory names the CTAs
// that have it, also if another warp loops.
func TestTensorMemoryAwaited(t *testing.T) {
	const src = `.version 8.8
.target sm_100a
.address_size 64
.visible .entry wait()
{
	.shared .b32 where[2];
	.shared .b32 flag;
	.reg .b32 %x; .reg .pred %first, %q;
	mov.u32 %x, %tid.x;
	setp.lt.u32 %first, %x, 32;
	@!%first bra other;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 512;
L:	ld.volatile.shared.b32 %x, [flag];
	setp.eq.u32 %q, %x, 0;
	@%q bra L;
	ret;
other:
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where+4], 64;
	ret;
}`
	m, err := ptx.Parse("wait.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Run(context.Background(), &Launch{Kernel: "wait", Grid: ptx.Dim(1), Block: ptx.Dim(64), Mode: Affine})
	var trap *probe.Trap
	if !errors.As(err, &trap) || !errors.Is(err, probe.ErrDeadlock) {
		t.Fatalf("got %v, want a deadlock", err)
	}
	for _, want := range []string{
		"cta (0,0,0) warp 0: lanes 0-31 loop at wait.ptx:13:4",
		"cta (0,0,0) warp 1: lanes 0-31 wait at wait.ptx:18:2: it waits for 64 free columns of tensor memory; columns 0 to 511, allocated at 12:2 by warp 0",
	} {
		if !slices.Contains(trap.Notes, want) {
			t.Errorf("got %q, want %q", trap.Notes, want)
		}
	}
}

// BenchmarkCommits measures tcgen05.commit without a wait: its time must not grow with their
// number.
func BenchmarkCommits(b *testing.B) {
	const src = `.version 8.8
.target sm_100a
.address_size 64
.visible .entry commits(.param .u32 n)
{
	.shared .b64 bar;
	.reg .u32 %n; .reg .pred %q;
	ld.param.u32 %n, [n];
	mbarrier.init.shared.b64 [bar], 1;
L:	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
	sub.u32 %n, %n, 1;
	setp.ne.u32 %q, %n, 0;
	@%q bra L;
	ret;
}`
	m, err := ptx.Parse("commits.ptx", []byte(src))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1000, 4000, 16000, 64000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			mod, err := NewDevice(Config{Workers: 1}).LoadModule(m)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := mod.Launch(context.Background(), "commits", ptx.Dim(1), ptx.Dim(1), n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/commit")
		})
	}
}
