package strip_test

import (
	"context"
	"log"
	"os"

	"gemu/internal/strip"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// sides is an if with two sides.
const sides = `
.version 7.0
.target sm_80
.address_size 64
.entry sides()
{
	.reg .pred %odd;
	.reg .u32 %t, %bit;
	mov.u32 %t, %tid.x;
	and.b32 %bit, %t, 1;
	setp.ne.u32 %odd, %bit, 0;
	@%odd bra ODD;
	add.u32 %t, %t, 2;
	bra DONE;
ODD:
	add.u32 %t, %t, 1;
DONE:
	ret;
}`

// A launch is recorded and drawn.
func Example() {
	r := strip.NewRecorder(strip.Options{})
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	mod, err := dev.Load("sides.ptx", []byte(sides))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "sides", ptx.Dim(1), ptx.Dim(32)); err != nil {
		log.Fatal(err)
	}
	strip.Print(os.Stdout, strip.Groups(r.Strips()), strip.Screen{Width: 80})
	// Output:
	// auto: 8 steps, 26 of 32 lanes active on average
	//   step        1
	//   even lanes  AAAABB·D
	//   odd lanes   AAAA··CD
	//
	// A: lines 9 to 12 · B: lines 13 to 14 · C ODD: line 16 · D DONE: line 18
	// Letter: the lane runs; ·: it waits.
}
