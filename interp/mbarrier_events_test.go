package interp_test

import (
	"fmt"
	"slices"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// mbarrierUses notes the uses of mbarriers.
type mbarrierUses struct{ list []string }

func (*mbarrierUses) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnBefore | probe.OnAfter | probe.OnEffect}
}

func (p *mbarrierUses) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }

func (p *mbarrierUses) OnEvent(e *probe.Event) {
	for _, u := range e.Mbarriers {
		p.list = append(p.list, fmt.Sprintf("%d %s %s %x at %d %t", e.Instr.Pos.Line, e.Kind, u.Kind, u.Lanes, u.Address, u.Completes))
	}
}

// TestMbarrierUses has the uses of mbarriers by hand, in all modes: a phase of 12 arrivals completes in each 12th lane, and an instruction uses
// three phases; a copy completes a phase after a test that fails.
func TestMbarrierUses(t *testing.T) {
	const text = `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 in)
{
	.shared .align 16 .b32 tile[4];
	.shared .align 8 .b64 bar[2];
	.reg .u32 %t;
	.reg .u64 %a, %s;
	.reg .pred %one, %p;
	mov.u32 %t, %tid.x;
	ld.param.u64 %a, [in];
	setp.eq.u32 %one, %t, 0;
@%one	mbarrier.init.shared.b64 [bar], 12;
@%one	mbarrier.init.shared.b64 [bar+8], 1;
	bar.sync 0;
	mbarrier.arrive.shared.b64 %s, [bar];
	bar.sync 0;
@!%one	ret;
	mbarrier.arrive.expect_tx.shared.b64 %s, [bar+8], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 16, [bar+8];
	mbarrier.test_wait.shared.b64 %p, [bar+8], %s;
	mbarrier.test_wait.shared.b64 %p, [bar+8], %s;
	mbarrier.inval.shared.b64 [bar+8];
	ret;
}
`
	want := []string{
		"14 after reset 1 at 16 false", "15 after reset 1 at 24 false",
		"17 after change fff at 16 true", // warp 1, which has 12 lanes, and comes last to the barrier before it
		"17 after change fff at 16 true", "17 after change fff000 at 16 true", "17 after change ff000000 at 16 false",
		"20 after change 1 at 24 false", "21 effect change 1 at 24 true", "22 after failed 1 at 24 false", "23 after passed 1 at 24 false", "24 after reset 1 at 24 false",
	}
	for _, mode := range []interp.Mode{interp.Vector, interp.Check, interp.Affine} {
		d := interp.NewDevice(interp.Config{SM: 90})
		m, err := d.Load("k.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		p := &mbarrierUses{}
		if _, err := m.Run(t.Context(), &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(44), Mode: mode, Args: []any{b}, Probes: []probe.Probe{p}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.list, want) {
			t.Errorf("%v: got\n%q, want\n%q", mode, p.list, want)
		}
		d.Close()
	}
}
