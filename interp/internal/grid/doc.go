// Package grid runs a launch: CTAs on the host's cores, in rounds that make the result independent of their number.
//
//	round:  parallel half   CTAs in flight run until they end, use up their slice, or stand before a globally ordered instruction
//	        ordered half    CTAs that stand before one execute it, one CTA at a time, in the order of their indices
//
// Read grid.go (rounds), cta.go (a CTA and its warps), cluster.go, footprint.go (memory of the host), save.go (states to return
// to), inspect.go (a launch that has paused) and mapped.go (memory of the host that may fault).
package grid
