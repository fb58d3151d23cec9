package lanes

// This file has per-CTA memory: global memory of which each CTA of a launch has a slice (manual 11.4.10, 10.34, 10.35).

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// errSliceSize is the error of a slice whose size, rounded up, the register %perctamemorysize (.u32) cannot hold.
var errSliceSize = errors.New("the size, a multiple of 1024, does not fit %perctamemorysize, which has 32 bits: at most 4294966272")

// OpenCTAMemory allocates the per-CTA memory of a launch, if its kernel requests it. The end of the launch frees it.
// The error names the size.
func OpenCTAMemory(g *machine.Grid) (err error) {
	size := g.Kernel.SliceSize()
	if size == 0 {
		return nil
	}
	high, all := bits.Mul64(size, uint64(g.NumCTAs))
	if size > math.MaxUint32 {
		err = errSliceSize
	} else if high != 0 {
		err = mem.ErrOutOfMemory
	} else {
		g.CTAMemory, err = g.Device.Memory.Alloc(all, probe.PerCTAMemory, "")
	}
	if err != nil {
		return fmt.Errorf("%d bytes of per-CTA memory for each of %d CTAs (.minperctamemory): %w", size, g.NumCTAs, err)
	}
	event.EmitHost(g.Device, probe.OnAlloc, g.CTAMemory, 0, int(all), g.Info.Order)
	return nil
}

// CloseCTAMemory frees the per-CTA memory.
func CloseCTAMemory(g *machine.Grid) {
	if a := g.CTAMemory; a != nil && !a.Freed {
		event.EmitHost(g.Device, probe.OnFree, a, 0, int(a.Size), g.Info.Order)
		g.Device.Memory.Free(a)
	}
}

// ctaMemorySlice returns the address of the per-CTA memory of the CTA at id; 0 if the launch has none. The slices lie
// in the order of the CTAs' linear indices.
func ctaMemorySlice(g *machine.Grid, id ptx.Dim3) uint64 {
	if g.CTAMemory == nil {
		return 0
	}
	linear := uint64(id.X) + uint64(g.Dim.X)*(uint64(id.Y)+uint64(g.Dim.Y)*uint64(id.Z))
	return g.CTAMemory.Base + linear*g.Kernel.SliceSize()
}
