// Package mem is the memory of a device: the map of its allocations, the meaning of addresses, and the accesses of a row of
// 32 lanes.
//
// Global and constant variables, buffers, the device heap and the parameter block are allocations in a single address
// map. An address in .global, .const or .param space is the same number as the generic address. The caller can map host
// memory at an address of its choice. Shared and local memory are windows of the generic address space. From low to high
// addresses (docs/addresses.md has all ranges):
//
//	WorkspaceBase  workspace of a cooperative launch
//	ParamBase      kernel parameters
//	SharedWindow   shared memory of the CTA; of the CTA of rank r in a cluster, r<<RankShift bytes higher
//	LocalWindow    local memory of the lane
//	CodeBase       function addresses
//	HandleBase     handles of textures, surfaces and samplers
//	FirstAddress   allocations, by default
//
// Read map.go (allocations), window.go (fixed addresses), resolve.go (the only place that decides which memory an
// access reaches, or why it faults), then row.go (loops over rows of lanes) and local.go (layout of local memory).
// tolerance.go lists the faults that a launch may tolerate; save.go saves and restores a map.
//
// The package does not depend on warps or instructions. A fault is a value, which the caller makes a trap.
package mem
