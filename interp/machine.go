package interp

// This file has constants of the machine, and functions that decode mbarriers.

import (
	"gemu/interp/internal/async"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
)

// Multiprocessors is the number of multiprocessors that the device reports.
const Multiprocessors = machine.Multiprocessors

// Mapping is a set of properties of mapped host memory: see Device.Map.
type Mapping uint8

// Properties of mapped host memory.
const (
	// ReadOnly means that kernels may not write to the memory: they trap.
	ReadOnly Mapping = Mapping(mem.ReadOnly)
	// Permanent means that this process can access the memory for as long as it is mapped, so no access within its bounds faults.
	// While memory without this property is mapped, launches run in Go and not as machine code.
	Permanent Mapping = Mapping(mem.Permanent)
)

// MbarrierPhase returns the number of phases that an mbarrier of eight bytes has completed, modulo 4.
func MbarrierPhase(word uint64) uint64 { return async.MbarrierPhase(word) }

// MbarrierCounts returns the counts of an mbarrier of eight bytes, of either layout: the arrivals that its phase still needs,
// the arrivals that a phase expects, and its tx-count in bytes.
func MbarrierCounts(word uint64) (pending, expected uint64, tx int64) {
	return async.MbarrierCounts(word)
}
