package grid

// This file bounds the number of CTAs in flight by their maximum host memory. The bound depends on the launch and the
// settings, never on the free memory of the host: with equal settings, the schedule, and so every effect visible to a
// kernel, is the same on every host. The default of the setting (--memory) depends on the limits of the host.

import (
	"slices"
	"unsafe"

	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// rowBytes is the size in bytes of a row of 32-bit registers or of local memory.
const rowBytes = 32 * 4

// computeNeeds computes the needs of a kernel at its first launch. The stack limit is the device's, and so the same for
// all launches.
func computeNeeds(c *machine.Kernel, stackWords int) *machine.MemoryNeeds {
	if c.MemoryNeeds == nil {
		c.MemoryNeeds = &machine.MemoryNeeds{
			Words:   maxDepthWords(c, c.Entry, stackWords, map[*code.Func]int{}),
			Async:   slices.ContainsFunc(c.Sources, func(s code.Source) bool { return s.Form.Effects.HasAll(ptx.Async) }),
			Tensors: slices.ContainsFunc(c.Sources, func(s code.Source) bool { return s.Form.Family == ptx.FamilyTensorAlloc }),
		}
	}
	return c.MemoryNeeds
}

// Footprint returns the maximum host memory of a CTA of the grid, in bytes: registers, local memory, shared memory,
// tensor memory, and pending asynchronous effects.
func Footprint(g *machine.Grid) uint64 {
	n := computeNeeds(g.Kernel, g.StackWords)
	width := g.Kernel.Width
	halves := (g.Threads + width - 1) / width * ((width + 31) / 32)
	perHalf := uint64(n.Words) * rowBytes
	if len(g.Kernel.Funcs) > 1 {
		perHalf *= 2 // buffers that grow with calls are doubled each time
	}
	if g.Mode != machine.Vector {
		perHalf += perHalf / 4 // the shadows of registers
	}
	kept := uint64(0)
	if n.Async && !g.EagerEffects {
		kept = async.MaxEffectBytes(g)
	}
	if n.Tensors {
		kept += uint64(unsafe.Sizeof(matrix.TensorMemory{})) + uint64(halves)*async.MaxPendingTensor*uint64(unsafe.Sizeof(machine.TensorCells{}))
	}
	shadows := uint64(1 + g.Device.Memory.ShadowBytes)
	return kept + shadows*g.SharedLen + uint64(halves)*(shadows*perHalf+uint64(unsafe.Sizeof(machine.Warp{})))
}

// MinMemory returns the host memory of each CTA from its beginning on, in bytes: shared memory, and registers and local
// memory of the kernel itself.
func MinMemory(g *machine.Grid) uint64 {
	fn := g.Kernel.Entry
	width := g.Kernel.Width
	halves := (g.Threads + width - 1) / width * ((width + 31) / 32)
	words := fn.Align + fn.Local + fn.Frame.R + 2*fn.Frame.Q
	return g.SharedLen + uint64(halves)*uint64(words)*rowBytes
}

// maxDepthWords returns the maximum number of words of registers and local memory of a thread, from the frame of a
// function on: the sum over the longest chain of calls. Where recursion, indirect calls or alloca leave the chain unbounded,
// it returns the stack limit. seen holds the functions computed so far; a function under way is in it with the limit.
func maxDepthWords(c *machine.Kernel, fn *code.Func, limit int, seen map[*code.Func]int) int {
	if n, ok := seen[fn]; ok {
		return n
	}
	seen[fn] = limit
	below := 0
	for i := fn.Blocks.First; i < fn.Blocks.End; i++ {
		end := c.End(&c.Blocks[i])
		switch {
		case end.Op.Signature().Kind != code.Control || end.Op.Signature().Side != code.CallSide:
		case c.Calls[end.Side].Target < 0:
			below = limit
		default:
			below = max(below, maxDepthWords(c, c.Funcs[c.Calls[end.Side].Target], limit, seen))
		}
	}
	own := fn.Align + fn.Local + machine.FrameWords + fn.Frame.R + 2*fn.Frame.Q + fn.Frame.P
	if fn.Allocates {
		own = limit
	}
	seen[fn] = min(own+below, limit)
	return seen[fn]
}

// MaxInFlight returns the maximum number of CTAs of the grid in flight, at least one.
func MaxInFlight(g *machine.Grid) int {
	return int(max(g.Device.HostMemory/Footprint(g), 1))
}
