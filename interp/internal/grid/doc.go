// Package grid runs a launch: CTAs on the host's cores, in rounds, whose result does not depend on the number of cores.
//
//	round:  parallel half   CTAs in flight run until they end, use up their slice, or stop before a globally ordered instruction
//	        ordered half    each of the stopped CTAs executes its ordered instruction, one CTA at a time, in the order of their indices
//
// Read grid.go (rounds), cta.go (a CTA and its warps), cluster.go, footprint.go (memory of the host), save.go (states to
// return to), inspect.go (a paused launch) and mapped.go (host memory whose accesses may fault).
package grid
