package sanitize_test

import (
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize"
)

// racy lets all threads write the same word.
const racy = `
.version 7.0
.target sm_80
.address_size 64
.entry racy(.param .u64 out)
{
	.reg .u32 %i;
	.reg .u64 %p;
	ld.param.u64 %p, [out];
	mov.u32 %i, %tid.x;
	st.global.u32 [%p], %i;
	ret;
}`

func Example() {
	tools, err := sanitize.Parse("race,bounds")
	if err != nil {
		log.Fatal(err)
	}
	s := sanitize.New(tools, sanitize.Options{})
	dev := interp.NewDevice(interp.Config{Probes: s.Probes})
	mod, err := dev.Load("racy.ptx", []byte(racy))
	if err != nil {
		log.Fatal(err)
	}
	out, err := interp.NewBuffer(dev, make([]uint32, 1))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "racy", ptx.Dim(1), ptx.Dim(32), out); err != nil {
		log.Fatal(err)
	}
	s.Finish()
	for _, f := range s.Findings() {
		fmt.Printf("%s in line %d: %s\n", f.Tool, f.Place.Line, f.Kind)
	}
	// Output:
	// race in line 11: write after write
}
