// Package access executes accesses to memory: loads, stores and atomics on all state spaces, textures and surfaces.
//
// An access is executed in one of three ways, the fastest first. At a compact address, all lanes read or write elements at
// regular distances: nothing is computed per lane (compact.go). In the allocation that the instruction accessed last, each
// lane's address is compared with the bounds (access.go). Otherwise package mem resolves the address of each lane, and
// finds faults.
//
// Read access.go, then local.go, atomic.go, compact.go, texture.go, tolerance.go (faults that a device ignores on request)
// and trapops.go. values.go reads registers, also compact ones.
package access
