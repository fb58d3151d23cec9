package debug_test

import (
	"context"
	"fmt"
	"log"

	"gemu/debug"
	"gemu/interp"
	"gemu/ptx"
)

// square computes the square of each thread's index.
const square = `
.version 7.0
.target sm_80
.address_size 64
.entry square()
{
	.reg .u32 %i, %s;
	mov.u32 %i, %tid.x;
	mul.lo.u32 %s, %i, %i;
	ret;
}`

func Example() {
	ctx := context.Background()
	mod, err := interp.NewDevice(interp.Config{}).Load("square.ptx", []byte(square))
	if err != nil {
		log.Fatal(err)
	}
	s, err := debug.Start(ctx, mod, &interp.Launch{Kernel: "square", Grid: ptx.Dim(1), Block: ptx.Dim(32)}, debug.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Break("9", "%i == 5"); err != nil {
		log.Fatal(err)
	}
	stop, err := s.Continue(ctx)
	if err != nil {
		log.Fatal(err)
	}
	value, err := s.Evaluate("%i * %i")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s in lane %d: the square will be %s\n", stop.Reason, s.Focus().Lane, value)
	// Output:
	// breakpoint in lane 5: the square will be 25
}
