package profile_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
)

// fill stores 0 to one word per thread.
const fill = `
.version 7.0
.target sm_80
.address_size 64
.entry fill(.param .u64 out)
{
	.reg .u32 %i;
	.reg .u64 %p, %o;
	ld.param.u64 %p, [out];
	mov.u32 %i, %tid.x;
	mul.wide.u32 %o, %i, 4;
	add.u64 %p, %p, %o;
	st.global.u32 [%p], 0;
	ret;
}`

func Example() {
	counter := profile.New()
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{counter}})
	mod, err := dev.Load("fill.ptx", []byte(fill))
	if err != nil {
		log.Fatal(err)
	}
	out, err := interp.NewBuffer(dev, make([]uint32, 64))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "fill", ptx.Dim(1), ptx.Dim(64), out); err != nil {
		log.Fatal(err)
	}
	total := counter.Profile().Total()
	fmt.Printf("%d executions by warps, %d sectors in %d requests\n", total.Execs, total.Global.Sectors, total.Global.Requests)
	// Output:
	// 12 executions by warps, 8 sectors in 2 requests
}
