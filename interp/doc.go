// Package interp runs PTX kernels: it is the SIMT machine.
//
// A Device owns memory: buffers that the caller allocates, the variables of the modules loaded into it, the heap of
// device-side malloc. A Module is a checked PTX source loaded into a device. A launch runs a kernel of it over a grid of
// CTAs:
//
//	Launch ─ is checked; its arguments go to the parameter block (launch.go)
//	kernel ─ is lowered once into fixed-size code (lower.go, package lower)
//	machine ─ runs the grid (package grid)
//
// A launch has a mode. Vector mode executes on register rows. Affine mode executes on compact operands, by the rules of
// package affinetrack, where lowering found that it pays. Check mode, the default, executes both ways and compares the
// results. A probe.Probe receives the events of each instruction; Structure counts value structure. Start begins a launch
// that can pause at any instruction, be saved, and be restored: see Execution.
//
// Every memory access is checked against the bounds of its allocation. A fault of a kernel is a *probe.Trap; legal PTX that
// gemu does not run is a *ptx.Unsupported.
//
// The package is not a timing model: it counts instructions, not cycles.
package interp
