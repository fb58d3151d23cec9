package argument_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"gemu/argument"
	"gemu/interp"
	"gemu/ptx"
)

const scale = `
.version 7.0
.target sm_80
.address_size 64
.entry scale(.param .f32 a, .param .u64 x)
{
	.reg .u32 %i;
	.reg .f32 %a, %x;
	.reg .u64 %p, %off;
	ld.param.f32 %a, [a];
	ld.param.u64 %p, [x];
	mov.u32 %i, %tid.x;
	mul.wide.u32 %off, %i, 4;
	add.u64 %p, %p, %off;
	ld.global.f32 %x, [%p];
	mul.f32 %x, %x, %a;
	st.global.f32 [%p], %x;
	ret;
}`

// Bind makes the arguments of a launch; after it, Lookup gives the results.
func Example() {
	ctx := context.Background()
	module, err := interp.NewDevice(interp.Config{}).Load("scale.ptx", []byte(scale))
	if err != nil {
		log.Fatal(err)
	}
	kernel, err := module.Kernel("scale")
	if err != nil {
		log.Fatal(err)
	}
	arguments, err := argument.Bind(ctx, module, kernel, []string{"2.5", "f32[2x4]=iota"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := module.Launch(ctx, "scale", ptx.Dim(1), ptx.Dim(8), arguments.Values...); err != nil {
		log.Fatal(err)
	}
	x, err := arguments.Lookup("1")
	if err != nil {
		log.Fatal(err)
	}
	x.Array().Print(os.Stdout)
	// Output:
	// 0 2.5 5 7.5
	// 10 12.5 15 17.5
}

// An Error says where an argument is wrong.
func ExampleError() {
	_, err := argument.Parse("tex.2d(u8x4[48x64],filter=cubic)")
	var e *argument.Error
	if errors.As(err, &e) {
		fmt.Println(e)
		fmt.Println(e.Snippet())
	}
	// Output:
	// filter=cubic: want nearest or linear
	//    tex.2d(u8x4[48x64],filter=cubic)
	//                       ^
}
