// Package interp runs PTX kernels: it is the SIMT machine.
//
// A Device owns memory: buffers that the caller allocates, the variables of the
// modules loaded into it, the heap of device-side malloc. A Module is a checked
// PTX source loaded into a device. A launch runs one kernel of it over a grid of
// CTAs:
//
//	Launch ─ lowers the kernel once into fixed-size code (lower*.go), then
//	grid   ─ runs CTAs on the host's cores, in rounds that make the result
//	         independent of their number (grid.go)
//	cta    ─ interleaves its warps, holds shared memory and barriers (cta.go)
//	warp   ─ executes blocks of code for its active lanes (warp.go); which lanes
//	         are active where is the reconvergence stack's business (stack.go)
//	lanes  ─ instruction kernels work on whole rows of a register file
//	         (package regfile, internal/alu), memory on addresses (access.go)
//
// A launch has a mode. Vector mode executes rows. Check mode, the default,
// executes each instruction on compact operands as well, by the rules of package
// affinetrack, and compares (track.go, compact.go). Affine mode executes compactly
// where that was found to pay when the kernel was lowered (plan.go, affine.go). An
// Observer is told of every instruction (observe.go), and Structure counts what
// the values were like (structure.go).
//
// Every memory access is checked against the allocation it hits. What goes
// wrong in a kernel is a *Trap; legal PTX that is not run is a *ptx.Unsupported.
//
// The package is not a timing model: it counts instructions, not cycles.
package interp
