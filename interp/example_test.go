package interp_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
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
