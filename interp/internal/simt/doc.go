// Package simt is the machine: it runs a lowered kernel over a grid of CTAs.
//
//	grid   ─ runs CTAs on the host's cores, in rounds that make the result
//	         independent of their number (grid.go)
//	cta    ─ interleaves its warps, holds shared memory and barriers (cta.go)
//	warp   ─ has a backend execute code for its active lanes (warp.go, backend.go,
//	         portable.go); which lanes are active where is up to a reconvergence
//	         policy (reconverge.go, a file for each policy)
//	lanes  ─ instruction kernels work on whole rows of a register file
//	         (package regfile, package alu), memory on addresses (access.go)
//
// In affine mode what the plan has chosen executes on compact operands (affine.go,
// compact.go); in check mode beside a reference (check.go, reference.go, compare.go, stored.go).
// Probes are told what happens
// (readProbe.go and operation.go say what, eventStream.go and observe.go tell it). A launch can pause,
// and be saved and restored (save.go, inspect.go).
//
// What it knows of a device is Device; how modules are loaded, kernels lowered and
// launches checked is the business of package interp, which has the public names of what
// a caller sees of the machine: Trap, Reconverger, Probe.
package simt
