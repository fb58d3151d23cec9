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
//
// Read the files in this order: device.go (devices, buffers, memory of the host), launch.go (modules, launches, results),
// execution.go (launches that pause), then mode.go, engine.go and machine.go (choices), texture.go, tensormap.go and notation.go
// (textures, tensor maps), lower.go and dump.go (kernels), lock.go (calls from probes).
//
// # Errors
//
// A launch that is refused before it begins gives a *LaunchError, a fault of the kernel a *probe.Trap, legal PTX that gemu does not
// run a *ptx.Unsupported, and memory of the host that is missing a *MemoryError: find them with errors.As. The kind of a trap is one
// of the Err variables of package probe. ErrInProbe is the error of a call that a probe must not make, ErrEnded that of an execution
// which has ended, ErrOutOfMemory and ErrNoHostMemory those of allocations: test them with errors.Is. An error in the PTX is a
// ptx.ErrorList.
//
// # Cancellation
//
// A launch ends soon after its context does, with an error that wraps the cause of the context (context.Cause). Memory has what the
// kernel has written up to then. An Execution that was ended this way cannot continue.
//
// # Concurrency
//
// The methods of a Device, its modules, buffers and other objects are safe for concurrent use. Launches on a device run one after
// the other; launches on different devices run at the same time. Calls from a probe of a running launch answer, or return
// ErrInProbe. A Launch must not change while it runs. An Execution, a Result and a State belong to one goroutine at a time.
//
// # Compatibility
//
// Fields, methods and engines may be added at any time: name the fields of composite literals. Counts and traces of a program
// change only if an error in them is mended. The texts of errors may change.
package interp
