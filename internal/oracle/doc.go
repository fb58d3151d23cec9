// Package oracle is the slow, clear engine of gemu. It executes checked PTX one thread at a time, as the manual says, and is
// an independent reference for the fast engines, which execute warps. It shares only the checked PTX (package ptx) with
// them: it has its own code to load modules and to place the memory of a kernel as docs/addresses.md specifies.
//
// The model is a grid of small computers. A thread is a program counter, a stack of frames with registers and local
// memory, and a carry flag. It runs alone until it exits, has used up its time slice, or must wait: at a barrier for its
// CTA, at a collective instruction (shfl, vote, match, redux, elect, activemask, bar.warp.sync) for its warp. There is no
// SIMT stack and no divergence: a warp is only the set of threads between which collective instructions exchange values.
// An Order chooses the next thread. The choice changes only the results of programs that depend on the order of threads. A
// Step reports an executed instruction.
//
//	ready ── collective ──→ atCollective ── group complete ──→ ready
//	ready ── barrier ─────→ atBarrier ──── all have arrived ─→ ready
//	ready ── exit, return of the kernel ─→ exited
//
// Integers are computed exactly with math/big and then truncated to their width. Floating-point numbers are exact values
// (number, in ieee.go) that are rounded once, explicitly, to their format.
//
// Read device.go and load.go (the state before a launch), then machine.go and order.go (the launch). The remaining files
// follow the chapters of the manual, and their functions follow its sections: int.go (9.7.1, 9.7.2), float.go (9.7.3), cmp.go
// (9.7.6), logic.go (9.7.8), mov.go, cvt.go and mem.go (9.7.9), texture.go (9.7.10, 9.7.11), ctrl.go and call.go (9.7.12),
// barrier.go, cluster.go, mbarrier.go, async.go, atom.go and warp.go (9.7.13), tensor.go (9.7.14), wgmma.go (9.7.15),
// tcgen05.go and tcgen05mma.go (9.7.16), stack.go (9.7.17) and misc.go (9.7.19). An instruction function reads its
// operands by their names in the instruction table.
//
// The oracle does not model how warps execute. The result of a program may be different here if the program relies on
// threads of a warp that run in lockstep without synchronisation (an undefined result since sm_70). The oracle does not run
// copies of interleaved tensors, .ashift of tcgen05.mma, and collective instructions in warps of more than 32 threads: a
// thread that reaches such an instruction ends the launch with an *Unsupported error.
//
// Where the manual leaves a result undefined, the choices made here are:
//
//   - integer division and remainder by zero give all bits set;
//   - arithmetic on a NaN gives the canonical NaN; on .f64 it gives the first NaN among operands b, c, a, made quiet; among a, b
//     for div, and b, a for min and max;
//     abs and neg do not change the sign of a NaN; conversions from and to .f64 keep sign and payload, and conversions from
//     .f32 to .f32 and from .bf16 to .f32 keep all bits; atom.add.f64 in global memory gives a NaN operand unchanged, that
//     of b if both are NaNs, as measured on an H200;
//   - .sat turns -0 into +0, like any value that is not above zero;
//   - .ftz first rounds the result as though the exponent had no lower bound, and flushes it if it is then below the least
//     normal number;
//   - atom.add.f32 and red.add.f32 flush subnormals in global memory and keep them in shared memory, as current hardware
//     does according to the manual;
//   - shfl from a lane that does not take part gives the thread its own value;
//   - memory and registers that were never written read as zero, and so does a function's frame on each entry;
//   - %clock and %globaltimer count the instructions of the thread and the nanoseconds it has slept.
package oracle
