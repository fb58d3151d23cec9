// Package interp runs PTX kernels: it is the SIMT machine.
//
// A Device owns memory: buffers that the caller allocates, the variables of the modules loaded into it, the heap of
// device-side malloc. A Module is a checked PTX source loaded into a device. A launch runs a kernel of it over a grid of
// CTAs:
//
//	Launch ─ is checked; its arguments are written to the parameter block (launch.go)
//	kernel ─ is lowered once into fixed-size code (lower.go, internal/lower)
//	grid ─ is executed, CTA by CTA (internal/grid)
//
// A launch has a mode. Vector mode executes on register rows. Affine mode executes on compact operands, by the rules of
// package affinetrack, where lowering found that it pays. Check mode, the default, executes each instruction in both ways and
// compares the results. A probe.Probe receives the events of each instruction. Launch.Structure requests the counts of value
// structure. Start begins a launch that can pause at any instruction, be saved, and be restored: see Execution.
//
// Every memory access is checked against the bounds of its allocation.
//
// The package is not a timing model: it counts instructions, not cycles.
//
// Read the files in this order: device.go (devices, buffers, memory of the host), launch.go (modules, launches, results),
// execution.go (launches that pause), then mode.go, engine.go and reconverger.go (how a launch executes), machine.go
// (constants of the machine), texture.go and tensormap.go (textures, tensor maps), notation.go (textures in commands),
// lower.go and dump.go (kernels), lock.go and goroutine.go (calls from probes).
//
// # Errors
//
// A launch that is refused before it begins gives a *LaunchError. A fault of the kernel gives a *probe.Trap; its kind is one
// of the Err variables of package probe. Legal PTX that gemu does not run gives a *ptx.Unsupported. A variable or parameter
// that does not fit in memory gives a *MemoryError. An error in the PTX is a ptx.ErrorList. Find these with errors.As.
//
// A call that a probe must not make returns ErrInProbe. A call after the end of an execution returns ErrEnded. Allocations return
// ErrOutOfMemory (of the device) or ErrNoHostMemory (of the host). Test for these with errors.Is.
//
// # Cancellation
//
// A launch ends soon after its context does, with an error that wraps the cause of the context (context.Cause). Memory keeps the
// kernel's writes up to then. An Execution that was ended this way cannot continue.
//
// # Concurrency
//
// The methods of a Device, its modules, buffers and other objects are safe for concurrent use. Launches on a device run one
// after the other; launches on different devices run at the same time. A probe may read the device during a launch. Its calls
// that would change the device return ErrInProbe instead of blocking. A Launch must not change while it runs. An Execution, a
// Result and a State belong to one goroutine at a time.
//
// # Compatibility
//
// Fields, methods and engines may be added at any time, so name the fields of composite literals. Counts and traces of a program
// change only if they were wrong. The texts of errors may change.
package interp
