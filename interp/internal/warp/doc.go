// Package warp runs a warp: it executes blocks by a backend and decides which warp split runs next.
//
//	Run ─► backend runs the running warp split ─► reason for its return
//	          │ lanes diverge        → a warp split for each group of lanes (Reconverger.Split)
//	          │ reconvergence point  → the warp split waits or merges
//	          │ barrier, call, exit  → executeEnd
//	          └ budget used          → the next warp of the CTA
//
// A reconvergence policy is a Reconverger with a file of its own: stack, auto, its, pc2, frontier. Read warp.go (the run
// loop), backend.go (blocks), split.go (warp splits), reconverge.go and reconvergence.go (reconvergence points), then
// barrier.go, call.go and collective.go (instructions that several warp splits execute together).
package warp
