package grid

// This file computes the maximum number of CTAs in flight from the host memory that a CTA may need at most.
//
// The number depends on the launch and the settings, never on the free memory of the host. So with equal settings the
// schedule, and every effect of the schedule that a kernel can see, is the same on every host. Only the default of the
// setting (--memory) depends on the limits of the host.

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

// computeNeeds computes the memory needs of a kernel at its first launch. stackWords is the stack limit of the device in
// words of 32 bits, and so the same for all launches.
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

// Footprint returns the host memory that a CTA of the grid needs at most, in bytes: registers, local memory, shared memory,
// tensor memory, and pending asynchronous effects.
func Footprint(g *machine.Grid) uint64 {
	n := computeNeeds(g.Kernel, g.StackWords)
	width := g.Kernel.Width
	halves := (g.Threads + width - 1) / width * ((width + 31) / 32)
	perHalf := uint64(n.Words) * rowBytes
	if len(g.Kernel.Funcs) > 1 {
		perHalf *= 2 // buffers that grow with calls double their size
	}
	if g.Mode != machine.Vector {
		perHalf += perHalf / 4 // the shadows of registers
	}
	kept := uint64(0)
	if n.Async && !g.EagerEffects {
		kept = async.MaxEffectBytes(g)
	}
	if n.Tensors {
		kept += uint64(unsafe.Sizeof(matrix.TensorMemory{})) + uint64(halves)*async.MaxPendingTensor*uint64(machine.MaxTensorStore)
	}
	shadows := uint64(1 + g.Device.Memory.ShadowBytes)
	return kept + shadows*g.SharedLen + uint64(halves)*(shadows*perHalf+uint64(unsafe.Sizeof(machine.Warp{})))
}

// MinMemory returns the host memory that each CTA needs from its beginning, in bytes: shared memory, and the registers and
// local memory of the kernel without the functions that it calls.
func MinMemory(g *machine.Grid) uint64 {
	fn := g.Kernel.Entry
	width := g.Kernel.Width
	halves := (g.Threads + width - 1) / width * ((width + 31) / 32)
	words := fn.Align + fn.Local + fn.Frame.R + 2*fn.Frame.Q
	return g.SharedLen + uint64(halves)*uint64(words)*rowBytes
}

// maxDepthWords returns the maximum number of words of registers and local memory that a thread needs for a function and
// all functions called from it: the sum over the longest chain of calls. It returns limit, the stack limit, if recursion,
// an indirect call or alloca makes the sum unbounded. seen holds the results computed so far; for a function whose
// computation has not ended it holds limit.
func maxDepthWords(c *machine.Kernel, fn *code.Func, limit int, seen map[*code.Func]int) int {
	if n, ok := seen[fn]; ok {
		return n
	}
	seen[fn] = limit
	callees := 0
	for i := fn.Blocks.First; i < fn.Blocks.End; i++ {
		end := c.End(&c.Blocks[i])
		switch {
		case end.Op.Signature().Kind != code.Control || end.Op.Signature().Side != code.CallSide:
		case c.Calls[end.Side].Target < 0:
			callees = limit
		default:
			callees = max(callees, maxDepthWords(c, c.Funcs[c.Calls[end.Side].Target], limit, seen))
		}
	}
	own := fn.Align + fn.Local + machine.FrameWords + fn.Frame.R + 2*fn.Frame.Q + fn.Frame.P
	if fn.Allocates {
		own = limit
	}
	seen[fn] = min(own+callees, limit)
	return seen[fn]
}

// MaxAlone returns the maximum number of CTAs of the grid in flight while no other grid is in flight, at least one.
func MaxAlone(g *machine.Grid) int { return int(max(g.Device.HostMemory/Footprint(g), 1)) }

// MaxInFlight returns the maximum number of CTAs of the grid in flight, at least one. Other grids in flight reduce it.
func MaxInFlight(g *machine.Grid) int {
	others := g.Device.Reserved - g.Reserved
	return int(max((g.Device.HostMemory-min(others, g.Device.HostMemory))/Footprint(g), 1))
}

// Fits reports whether the grid can begin next to the grids in flight: its first cluster, or all CTAs of a cooperative launch,
// must fit in the memory that they leave.
func Fits(g *machine.Grid) bool {
	need := g.ClusterSize
	if g.Cooperative {
		need = g.NumCTAs
	}
	return g.Device.Reserved == 0 || g.Device.Reserved+uint64(need)*Footprint(g) <= g.Device.HostMemory
}

// reserve reserves host memory for the CTAs of the window, after a change of the window.
func reserve(g *machine.Grid) {
	release(g)
	g.Reserved = uint64(min(g.Window, g.NumCTAs)) * Footprint(g)
	g.Device.Reserved += g.Reserved
}

// release ends the reservation of the grid.
func release(g *machine.Grid) {
	g.Device.Reserved -= g.Reserved
	g.Reserved = 0
}
