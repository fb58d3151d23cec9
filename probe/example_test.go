package probe_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// divergence is a probe that counts, for each line of the PTX, how often a warp diverges there.
type divergence map[int32]int

func (d divergence) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnSplit, InOrder: true}
}

func (d divergence) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return d }

func (d divergence) OnEvent(e *probe.Event) { d[e.Instr.Pos.Line]++ }

func Example() {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("parity.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry parity()
{
	.reg .u32 %t, %r;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	and.b32 %r, %t, 1;
	setp.eq.u32 %p, %r, 0;
	@%p bra EVEN;
	add.u32 %r, %r, 1;
EVEN:
	mul.lo.u32 %r, %r, %t;
	ret;
}`))
	if err != nil {
		log.Fatal(err)
	}
	d := divergence{}
	if _, err := mod.Run(context.Background(), &interp.Launch{Grid: ptx.Dim(2), Block: ptx.Dim(96), Probes: []probe.Probe{d}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output: map[11:6]
}
