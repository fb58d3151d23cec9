package simt

// This file is per-CTA memory: global memory of which each CTA of a launch has a slice of its own (manual 11.4.10, 10.34, 10.35).

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// sliceUnit is the number of bytes of which the size of a slice is a multiple (manual 10.35).
const sliceUnit = 1024

// errSliceSize is the error of a slice whose size, rounded up, the register %perctamemorysize (.u32) cannot hold.
var errSliceSize = errors.New("the size does not fit %perctamemorysize, which has 32 bits")

// sliceSize is the bytes of per-CTA memory that each CTA of a launch of the kernel has, 0 without the directive .minperctamemory.
func (k *Kernel) sliceSize() uint64 {
	return (k.kernel.PerCTAMemory() + sliceUnit - 1) / sliceUnit * sliceUnit
}

// OpenCTAMemory allocates the per-CTA memory of a launch whose kernel asks for some. End frees it. The error says how much
// is wanted.
func (g *Grid) OpenCTAMemory() (err error) {
	size := g.kernel.sliceSize()
	if size == 0 {
		return nil
	}
	high, all := bits.Mul64(size, uint64(g.numCTAs))
	if size > math.MaxUint32 {
		err = errSliceSize
	} else if high != 0 {
		err = mem.ErrOutOfMemory
	} else {
		g.ctaMemory, err = g.dev.Memory.Alloc(all, probe.PerCTAMemory, "")
	}
	if err != nil {
		return fmt.Errorf("%d bytes of per-CTA memory for each of %d CTAs (.minperctamemory): %w", size, g.numCTAs, err)
	}
	g.dev.Emit(probe.OnAlloc, g.ctaMemory, 0, int(all), g.info.Order)
	return nil
}

// closeCTAMemory frees the per-CTA memory.
func (g *Grid) closeCTAMemory() {
	if a := g.ctaMemory; a != nil && !a.Freed {
		g.dev.Emit(probe.OnFree, a, 0, int(a.Size), g.info.Order)
		g.dev.Memory.Free(a)
	}
}

// slice is the address of the per-CTA memory of the CTA at id, 0 if the launch has none. The slices follow one another in the
// order of the CTAs' linear indices.
func (g *Grid) slice(id ptx.Dim3) uint64 {
	if g.ctaMemory == nil {
		return 0
	}
	linear := uint64(id.X) + uint64(g.dim.X)*(uint64(id.Y)+uint64(g.dim.Y)*uint64(id.Z))
	return g.ctaMemory.Base + linear*g.kernel.sliceSize()
}
