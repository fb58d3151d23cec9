// Package machine is the state of a launch: the grid, its CTAs, their warps, warp splits and registers, and further types
// that the packages below share. It has only elementary operations on this state; it runs nothing.
//
//	Grid ── CTA ── Warp ── WarpSplit    lanes executing together, at one pc
//	 │       │      ├───── Files        registers: rows of 32 lanes, with compact copies
//	 │       │      └───── WarpCheck    the reference's registers, in check mode
//	 │       ├── Cluster, barriers, asynchronous operations, tensor memory
//	 │       └── EventStream            events of this CTA for probes
//	 └── Kernel, Device, Policy, Backend
//
// The packages that run a launch; each imports only packages above it in this list:
//
//	machine   state
//	access    memory, textures and surfaces
//	event     events for probes
//	async     asynchronous copies, mbarriers, tensor cores
//	lanes     instructions, on lanes or on compact operands
//	warp      the run loop, warp splits, reconvergence policies, barriers, calls
//	check     check mode: the engine compared with a reference
//	observe   the run loop of observed launches
//	exchange  machine code: export and import of warp state
//	grid      CTAs in rounds, clusters, saved states
//
// Files to read first: launch.go (a launch and its device), warp.go and split.go (a warp and its warp splits), cta.go, grid.go.
package machine
