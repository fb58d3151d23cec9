// Package opbench writes kernels that measure single instructions. "gemu bench --ops" runs them.
//
// A kernel executes copies of an instruction in a loop, and stores all results and the memory at its end. A second kernel
// of the same module has the loop without the copies; the difference of their times is the time of the copies.
//
// The instructions and their types come from the instruction table of package ptx. The operands of most instructions are
// registers with random values, and addresses of buffers. setup.go has the instructions that need more: barriers that are
// initialised, copies that are waited for, descriptors of matrices, textures. A new row of the table is measured without a
// change here, if its family computes, or accesses memory as loads, stores and atomics do.
//
// Read opbench.go (the list, and the kernel), variants.go (the choice of variants), then setup.go.
package opbench
