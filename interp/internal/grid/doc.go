// Package grid runs a launch: its CTAs run on the host's cores in rounds. The result does not depend on the number of
// cores. A round has two halves:
//
//	parallel half   Each CTA in flight runs until it ends, has executed its number of instructions, or stops before a globally ordered instruction.
//	ordered half    Each CTA stopped before such an instruction executes it, one CTA at a time, in the order of their indices.
//
// Read grid.go (rounds), cta.go (a CTA and its warps), cluster.go, footprint.go (memory of the host), save.go (states to
// return to), inspect.go (a paused launch) and mapped.go (host memory whose accesses may fault).
package grid
