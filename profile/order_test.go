package profile

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// orderKernel: CTAs execute in a given order. Word 0 of the buffer counts turns, word 1 + i is the turn of CTA
// i. CTA i executes the marked instruction i+1 times in its turn; the CTA of turn "trap" traps there.
const orderKernel = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 buf, .param .u32 trap)
{
	.reg .u32 %c, %turn, %now, %i, %trap;
	.reg .u64 %p, %a;
	.reg .pred %q;
	ld.param.u64 %p, [buf];
	ld.param.u32 %trap, [trap];
	mov.u32 %c, %ctaid.x;
	mad.wide.u32 %a, %c, 4, %p;
	ld.global.u32 %turn, [%a+4];
WAIT:
	ld.volatile.global.u32 %now, [%p];
	setp.lt.u32 %q, %now, %turn;
	@%q bra WAIT;
	mov.u32 %i, 0;
LOOP:
	add.u32 %i, %i, 1;	// turn
	setp.le.u32 %q, %i, %c;
	@%q bra LOOP;
	setp.eq.u32 %q, %turn, %trap;
	@%q trap;
	red.global.add.u32 [%p], 1;
	ret;
}
`

// neighbours is a probe that inspects the CTAs of a profile when a CTA has ended.
type neighbours struct {
	t     *testing.T
	p     *Probe
	ended []int
	max   int // maximum number of ended CTAs that wait for an earlier CTA
}

func (n *neighbours) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnCTAEnd}
}

func (n *neighbours) OnEvent(*probe.Event) {}

func (n *neighbours) CTA(l *probe.LaunchInfo, index int, _ ptx.Dim3) probe.Sink {
	return sinkFunc(func(*probe.Event) {
		n.ended = append(n.ended, index)
		r, over := n.p.runs[l], 0
		for i, c := range r.begun {
			if !c.hasEnded {
				continue
			}
			if over++; i == 0 || r.begun[i-1].hasEnded {
				n.t.Errorf("as CTA %d ends, CTA %d has ended, and is not one with those before it", index, c.index)
			}
		}
		n.max = max(n.max, over)
	})
}

type sinkFunc func(*probe.Event)

func (f sinkFunc) OnEvent(e *probe.Event) { f(e) }

// TestCTAsThatEndOutOfOrder: CTAs that end before earlier CTAs count once each, and adjacent ended CTAs are
// merged; after a trap, CTAs after the trapped CTA are left out, even if they have ended.
func TestCTAsThatEndOutOfOrder(t *testing.T) {
	const never, many = 100, 50 // more than the CTAs in flight
	var sameAddress []uint32
	var ended []int
	for i := range many {
		sameAddress, ended = append(sameAddress, uint32(i+many-1)%many), append(ended, (i+1)%many)
	}
	for _, c := range []struct {
		sameAddress []uint32 // by CTA
		trap        uint32
		ended       []int // order of the ends
		want        int64 // executions of the marked instruction
		maximum     int
	}{
		{[]uint32{0, 1, 2, 3, 4, 5}, never, []int{0, 1, 2, 3, 4, 5}, 1 + 2 + 3 + 4 + 5 + 6, 0},
		{[]uint32{5, 4, 3, 2, 1, 0}, never, []int{5, 4, 3, 2, 1, 0}, 1 + 2 + 3 + 4 + 5 + 6, 1},
		{[]uint32{6, 2, 0, 3, 1, 4, 5}, never, []int{2, 4, 1, 3, 5, 6, 0}, 1 + 2 + 3 + 4 + 5 + 6 + 7, 2}, // 3 joins 1 and 2 with 4
		{[]uint32{5, 1, 3, 0, 2, 4}, never, []int{3, 1, 4, 2, 5, 0}, 1 + 2 + 3 + 4 + 5 + 6, 2},
		{sameAddress, never, ended, many * (many + 1) / 2, 1},   // the first waits for all CTAs
		{[]uint32{2, 1, 3, 0}, 3, []int{3, 1, 0}, 1 + 2 + 3, 2}, // CTA 3 has ended; CTA 2, before it, traps
		{[]uint32{2, 3, 1, 0, 9}, 3, []int{3, 2, 0}, 1 + 2, 1},  // CTAs 2 and 3 have ended and were merged
	} {
		p := New()
		observer := &neighbours{t: t, p: p}
		dev := interp.NewDevice(interp.Config{Workers: 1})
		mod, err := dev.Load("k.ptx", []byte(orderKernel))
		if err != nil {
			t.Fatal(err)
		}
		buf, err := dev.Alloc(4 + 4*len(c.sameAddress))
		if err != nil {
			t.Fatal(err)
		}
		for i, count := range c.sameAddress {
			binary.LittleEndian.PutUint32(buf.Bytes()[4+4*i:], count)
		}
		_, err = mod.Run(t.Context(), &interp.Launch{Kernel: "k", Grid: ptx.Dim(len(c.sameAddress)), Block: ptx.Dim(1), Args: []any{buf, c.trap}, Mode: interp.Vector, Probes: []probe.Probe{p, observer}})
		if trap := (*probe.Trap)(nil); errors.As(err, &trap) != (c.trap != never) {
			t.Fatal(err)
		}
		if got := marked(p.Profile())["turn"].Execs; got != c.want {
			t.Errorf("turns %d: what is marked counts %d times, want %d", c.sameAddress, got, c.want)
		}
		if !slices.Equal(observer.ended, c.ended) || observer.max != c.maximum {
			t.Errorf("turns %d: CTAs end in the order %v, and %d of them wait at most; want %v, %d", c.sameAddress, observer.ended, observer.max, c.ended, c.maximum)
		}
		if n := p.Profile().Roots; len(n) != 1 || c.trap == never && n[0].Calls != int64(len(c.sameAddress)) {
			t.Errorf("turns %d: %d warps in %d kernels", c.sameAddress, n[0].Calls, len(n))
		}
	}
}
