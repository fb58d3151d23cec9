package interp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/lower"
	"gemu/probe"
	"gemu/ptx"
)

// recursive calls itself to the depth of its argument, each time with 64 bytes of local memory, and
// then reads memory that further CTAs could have changed.
const recursive = `.version 8.0
.target sm_80
.address_size 64
.global .u32 count;
.func down(.param .u32 n)
{
	.local .b8 room[64];
	.param .u32 less;
	.reg .u32 %r<3>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
	st.local.u32 [room], %r1;
	setp.eq.u32 %p, %r1, 0;
	@%p bra bottom;
	sub.u32 %r1, %r1, 1;
	st.param.u32 [less], %r1;
	call down, (less);
	ret;
bottom:
	ld.volatile.global.u32 %r2, [count];
	ret;
}
.entry k(.param .u32 depth)
{
	.param .u32 n;
	.reg .u32 %r;
	ld.param.u32 %r, [depth];
	st.param.u32 [n], %r;
	call down, (n);
	ret;
}
`

// TestMemoryOfDeepRecursion: the setting bounds the memory of 64 CTAs with deep recursion: they are
// in flight in sequence. Without the setting all would be in flight at once, before the instruction
// at the bottom.
func TestMemoryOfDeepRecursion(t *testing.T) {
	part.SkipShort(t)
	const depth = 2000 // frames of 64 bytes and some registers: at least 128 KiB for a thread
	allocated := func(host uint64) uint64 {
		dev := NewDevice(Config{HostMemory: host, Workers: 1})
		m, err := dev.Load("recursive.ptx", []byte(recursive))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(32), Block: ptx.Dim(64), Args: []any{uint32(depth)}, Mode: Vector}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	// A thread's stack has 512 KiB, and twice as much with room for growth: 64 MiB for a CTA of two
	// warps; two CTAs fit.
	few, many := allocated(160<<20), allocated(16<<30)
	if few > 160<<20 || many < 4*few {
		t.Errorf("%d MiB with room for two CTAs, %d with room for all", few>>20, many>>20)
	}
}

// TestWaitForCTAKeptOut: if a CTA waits for a CTA that the bound keeps out, the message says so.
func TestWaitForCTAKeptOut(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.global .u32 flag;
.entry k()
{
	.local .align 4 .b8 room[65536];
	.reg .u32 %r<2>;
	.reg .pred %p;
	mov.u32 %r0, %ctaid.x;
	st.local.u32 [room], %r0;
	setp.eq.u32 %p, %r0, 63;
	@%p bra set;
wait:
	ld.volatile.global.u32 %r1, [flag];
	setp.eq.u32 %p, %r1, 0;
	@%p bra wait;
	ret;
set:
	st.volatile.global.u32 [flag], 1;
	ret;
}
`
	for _, c := range []struct {
		host uint64
		want error
	}{{0, nil}, {64 << 20, probe.ErrKeptOut}} {
		m, err := NewDevice(Config{HostMemory: c.host}).Load("kept.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(context.Background(), &Launch{Grid: ptx.Dim(64), Block: ptx.Dim(32), Mode: Vector})
		if !errors.Is(err, c.want) {
			t.Errorf("with %d bytes: %v, want %v", c.host, err, c.want)
		}
		if c.want != nil && !strings.Contains(err.Error(), "do not fit") {
			t.Error(err)
		}
		// A cooperative grid is in flight as a whole.
		_, err = m.Run(context.Background(), &Launch{Grid: ptx.Dim(64), Block: ptx.Dim(32), Mode: Vector, Cooperative: true})
		var refused *LaunchError
		if errors.As(err, &refused) != (c.want != nil) {
			t.Errorf("cooperative, with %d bytes: %v", c.host, err)
		}
	}
}

// TestOrderOfAtomicsOfDifferentWidths: atomics of different widths do not commute: in a different
// order, a carry is lost.
func TestOrderOfAtomicsOfDifferentWidths(t *testing.T) {
	for types, ordered := range map[[2]string]bool{{"u32", "u32"}: false, {"u32", "s32"}: false, {"u32", "u64"}: true} {
		src := ".version 8.0\n.target sm_80\n.address_size 64\n.global .u64 x;\n.entry k()\n{\n" +
			"red.global.add." + types[0] + " [x], 1;\nred.global.add." + types[1] + " [x], 1;\nret;\n}\n"
		m, err := NewDevice(Config{}).Load("x.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.lower(m.Kernels()[0], lower.Options{Width: 32, Pack: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.HasOrdered != ordered {
			t.Errorf("%v: CTAs in order: %v, want %v", types, c.HasOrdered, ordered)
		}
	}
}

// TestMemoryOfAsynchronousEffects: the memory of pending asynchronous effects is bounded, also over
// time: of many stores, the first have happened before a thread waits for them, and the last have
// not. The memory counts against the setting.
func TestMemoryOfAsynchronousEffects(t *testing.T) {
	const src = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
	.shared .align 16 .b32 s[4];
	.reg .u32 %n, %i;
	.reg .u64 %o, %p;
	.reg .pred %more;
	ld.param.u64 %o, [out];
	ld.param.u32 %n, [n];
	add.u64 %p, %o, 16;
	mov.u32 %i, 0;
again:
	add.u32 %i, %i, 1;
	st.shared.u32 [s], %i;
	cp.async.bulk.global.shared::cta.bulk_group [%p], [s], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	add.u64 %p, %p, 16;
	setp.lt.u32 %more, %i, %n;
	@%more bra again;
	ld.global.u32 %i, [%o+16];
	st.global.u32 [%o], %i;
	ld.global.u32 %i, [%p+-16];
	st.global.u32 [%o+4], %i;
	ret;
}
`
	const n = 100_000
	dev := NewDevice(Config{HostMemory: 64 << 20, Workers: 1})
	m, err := dev.Load("stores.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for early, want := range map[bool][2]uint32{false: {1, 0}, true: {1, n}} {
		output, err := dev.Alloc(16 * (n + 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(1), Args: []any{output, uint32(n)}, EagerEffects: early}); err != nil {
			t.Fatal(err)
		}
		at := func(i int) uint32 { return binary.LittleEndian.Uint32(output.Bytes()[i:]) }
		if got := [2]uint32{at(0), at(4)}; got != want {
			t.Errorf("early %v: the first and the last of the stores are seen as %d, want %d", early, got, want)
		}
		for i := range n {
			if got := at(16 * (i + 1)); got != uint32(i+1) {
				t.Fatalf("early %v: store %d is of %d", early, i, got)
			}
		}
		_, err = m.Run(context.Background(), &Launch{Grid: ptx.Dim(100), Block: ptx.Dim(1), Args: []any{output, uint32(1)}, EagerEffects: early, Cooperative: true})
		if (err == nil) != early {
			t.Errorf("early %v: 100 CTAs at once in 64 MiB: %v", early, err)
		}
	}
}

// heap is a probe that measures the memory in use at each hundredth branch.
type heap struct {
	branches int
	inUse    []uint64
}

func (p *heap) Subscription() probe.Subscription { return probe.Subscription{Events: probe.OnBranch} }

func (p *heap) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *heap) OnEvent(*probe.Event) {
	if p.branches++; p.branches%100 == 0 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		p.inUse = append(p.inUse, m.HeapAlloc)
	}
}

// TestMemoryOfEarlyProducts: with early effects, a multiplication without a wait keeps no matrices:
// B has 16 KiB here.
func TestMemoryOfEarlyProducts(t *testing.T) {
	part.SkipShort(t)
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[16384];\n.entry k()\n{\n.reg .f32 %d<128>;\n.reg .u32 %i;\n.reg .pred %p;\n")
	b.WriteString("mov.u32 %i, s;\nmov.u32 %i, 0;\nwgmma.fence.sync.aligned;\nmore:\nwgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%d0")
	for i := 1; i < 128; i++ {
		fmt.Fprintf(&b, ", %%d%d", i)
	}
	b.WriteString("}, 0x1000080000, 0x1000080000, 0, 1, 1, 0, 0;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, 200;\n@%p bra more;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;\n}\n")
	m, err := NewDevice(Config{}).Load("early.ptx", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	p := &heap{}
	if _, err := m.Run(context.Background(), &Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(128), EagerEffects: true, Probes: []probe.Probe{p}}); err != nil {
		t.Fatal(err)
	}
	if n := len(p.inUse); n < 8 {
		t.Fatalf("%d branches", p.branches)
	}
	first, last := p.inUse[0], p.inUse[len(p.inUse)-1]
	if last > first+1<<20 {
		t.Errorf("%d more bytes are in use after 700 more multiplications", last-first)
	}
}
