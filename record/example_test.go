package record_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/record"
)

// evenLanes doubles the number of each thread, in a branch that the odd lanes skip.
const evenLanes = `
.version 7.0
.target sm_80
.address_size 64
.entry even_lanes()
{
	.reg .pred %odd;
	.reg .u32 %t, %bit;
	mov.u32 %t, %tid.x;
	and.b32 %bit, %t, 1;
	setp.ne.u32 %odd, %bit, 0;
	@%odd bra DONE;
	add.u32 %t, %t, %t;
DONE:
	ret;
}`

// A launch is recorded, and its divergence is read.
func Example() {
	var file bytes.Buffer
	r, err := record.NewRecorder(&file, record.Options{Contents: record.Contents{Results: true}})
	if err != nil {
		log.Fatal(err)
	}
	dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
	mod, err := dev.Load("even.ptx", []byte(evenLanes))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mod.Launch(context.Background(), "even_lanes", ptx.Dim(1), ptx.Dim(32)); err != nil {
		log.Fatal(err)
	}
	if err := r.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := record.Open("even.gemu", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	instructions, err := record.Read[record.InstructionRow](f, 0, 100)
	if err != nil {
		log.Fatal(err)
	}
	events, err := record.Read[record.EventRow](f, 0, f.Table("events").Rows)
	if err != nil {
		log.Fatal(err)
	}
	for i, e := range events {
		if e.Kind != record.Instruction || e.Active == 0xffff_ffff {
			continue
		}
		results, err := record.RowsOf[record.ResultRow](f, "event", uint64(i))
		if err != nil {
			log.Fatal(err)
		}
		if len(results) == 0 {
			continue
		}
		fmt.Printf("%s, lanes %#x: %s, base %d, stride %d\n", instructions[e.Instruction].Text, e.Lanes, results[0].Class, results[0].Base, results[0].Stride)
	}
	// Output:
	// add.u32 %t, %t, %t, lanes 0x55555555: affine, base 0, stride 2
}
