// Package access executes accesses to memory: loads, stores and atomics on all state spaces, textures and surfaces.
//
// An access has three ways, the fastest first: the compact address of a warp, when all lanes read or write neighbouring
// elements (compact.go); the allocation that the instruction hit last, with a comparison per lane (access.go); or the
// resolution of each lane's address by package mem, which also finds faults.
//
// Read access.go, then compact.go, texture.go, tolerance.go (faults that a device ignores on request) and trapops.go.
package access
