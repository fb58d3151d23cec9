// Package interp runs PTX kernels: it is the SIMT machine.
//
// A Device owns memory: buffers that the caller allocates, the variables of the
// modules loaded into it, the heap of device-side malloc. A Module is a checked
// PTX source loaded into a device. A launch runs one kernel of it over a grid of
// CTAs:
//
//	Launch ─ is checked; its arguments go to the parameter block (launch.go)
//	kernel ─ is lowered once into fixed-size code (lower.go, package lower)
//	machine ─ runs the grid (package grid)
//
// A launch has a mode. Vector mode executes rows. Affine mode executes on compact
// operands, by the rules of package affinetrack, where that was found to pay when the
// kernel was lowered. Check mode, the default, does that beside a reference, and
// compares. A Probe is told what happens, instruction by instruction; Structure counts
// what the values were like. A launch that is begun with Start can pause at any
// instruction, be saved, and go on from there: Execution.
//
// Every memory access is checked against the allocation it hits. What goes
// wrong in a kernel is a *Trap; legal PTX that is not run is a *ptx.Unsupported.
//
// The package is not a timing model: it counts instructions, not cycles.
package interp
