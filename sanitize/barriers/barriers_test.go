package barriers

import (
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/planted"
)

// TestPlantedMisuses checks that the sanitizer finds exactly the misuses of synchronisation that notes (//!) in the test kernels
// state. Correct kernels have no notes.
func TestPlantedMisuses(t *testing.T) {
	planted.CheckFiles(t, "../../testdata/sanitize/sync/*.ptx", New)
}

// firstExits is a kernel in whose first CTA some lanes exit before a barrier.
const firstExits = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .u32 %c, %t; .reg .pred %q;
	mov.u32 %c, %ctaid.x;
	mov.u32 %t, %tid.x;
	setp.gt.u32 %q, %t, 15;
	setp.eq.and.u32 %q, %c, 0, %q;
	@%q ret;
	bar.sync 0;
	ret;
}
`

// TestWarpsOfLaterCTAs: a CTA that uses the warps of an ended CTA again has none of their state.
func TestWarpsOfLaterCTAs(t *testing.T) {
	d := interp.NewDevice(interp.Config{})
	mod, err := d.Load("k.ptx", []byte(firstExits))
	if err != nil {
		t.Fatal(err)
	}
	var log finding.Log
	l := &interp.Launch{Grid: ptx.Dim(200), Block: ptx.Dim(32), Probes: []probe.Probe{New(&log)}}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	list := log.Findings()
	if len(list) == 0 {
		t.Fatal("the early exit is not found")
	}
	for _, f := range list {
		if f.Kind != Exited || f.Count != 1 || f.Place.CTA != [3]int{} {
			t.Errorf("%s %d times, first in CTA %v; want %s once, in CTA 0", f.Kind, f.Count, f.Place.CTA, Exited)
		}
	}
}
