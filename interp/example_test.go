package interp_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

const saxpy = `
.version 7.0
.target sm_80
.address_size 64
.entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
	.reg .pred %p;
	.reg .u32 %n, %i;
	.reg .f32 %a, %x, %y;
	.reg .u64 %px, %py, %off;
	ld.param.u32 %n, [n];
	ld.param.f32 %a, [a];
	ld.param.u64 %px, [x];
	ld.param.u64 %py, [y];
	mov.u32 %i, %tid.x;
	setp.ge.u32 %p, %i, %n;
	@%p ret;
	mul.wide.u32 %off, %i, 4;
	add.u64 %px, %px, %off;
	add.u64 %py, %py, %off;
	ld.global.f32 %x, [%px];
	ld.global.f32 %y, [%py];
	fma.rn.f32 %y, %a, %x, %y;
	st.global.f32 [%py], %y;
	ret;
}`

func Example() {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("saxpy.ptx", []byte(saxpy))
	if err != nil {
		log.Fatal(err)
	}
	x, err := interp.NewBuffer(dev, []float32{0, 1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	y, err := interp.NewBuffer(dev, []float32{1, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	res, err := mod.Launch(context.Background(), "saxpy", ptx.Dim(1), ptx.Dim(32), 4, float32(2), x, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(interp.Slice[float32](y))
	fmt.Printf("%d instructions of %d threads\n", res.ThreadInstructions, 32)
	// Output:
	// [1 3 5 7]
	// 256 instructions of 32 threads
}

// divergence is a probe that counts, by line of the PTX, how often lanes part.
type divergence map[int32]int

func (d divergence) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnSplit, InOrder: true}
}

func (d divergence) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return d }

func (d divergence) OnEvent(e *probe.Event) { d[e.Instr.Pos.Line]++ }

func ExampleProbe() {
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("parted.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry parted()
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
