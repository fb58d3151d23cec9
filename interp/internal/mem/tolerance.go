package mem

import (
	"fmt"
	"strings"
)

// Tolerance is a set of faults that a launch ignores, as a GPU does.
type Tolerance uint8

// Faults that may be tolerated.
const (
	// WMMAAlignment is a wmma.load or wmma.store at an address that is less aligned than the manual requires, but
	// aligned to the widest piece that a lane accesses (Access.Hardware).
	WMMAAlignment Tolerance = 1 << iota
	// SharedUnit is a load past the end of a CTA's shared memory that stays in its last allocation unit (Access.Unit).
	// The bytes past the end are zero.
	SharedUnit

	Strict Tolerance = 0 // tolerates nothing
)

// ToleranceInfo describes a fault that may be tolerated.
type ToleranceInfo struct {
	Tolerance
	Name   string // for command lines
	Doc    string // one sentence
	Source string // rule that makes it a fault, and the reason why GPUs continue
}

// Tolerances lists all faults that may be tolerated.
var Tolerances = []ToleranceInfo{
	{WMMAAlignment, "wmma-alignment", "wmma.load and wmma.store at an address that is less aligned than the manual requires",
		"PTX manual 9.7.14.4.2 requires each row or column to be aligned to the size of the whole fragment; machine code accesses pieces of a few elements"},
	{SharedUnit, "shared-unit", "loads (ld, ldmatrix, wmma.load) past the end of a block's shared memory, up to its allocation unit (128 bytes from sm_80 on, 256 before): they read zeros there",
		"a GPU allocates shared memory in units (cuda_occupancy.h) and checks addresses against whole units"},
}

// Has reports whether t includes all faults of other.
func (t Tolerance) Has(other Tolerance) bool { return t&other == other }

// String lists the names, separated by commas.
func (t Tolerance) String() string {
	var names []string
	for _, k := range Tolerances {
		if t.Has(k.Tolerance) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ",")
}

// ParseTolerance reads names separated by commas; "" is Strict. The error lists the names.
func ParseTolerance(s string) (t Tolerance, err error) {
	if s == "" {
		return Strict, nil
	}
next:
	for name := range strings.SplitSeq(s, ",") {
		for _, k := range Tolerances {
			if k.Name == name {
				t |= k.Tolerance
				continue next
			}
		}
		return Strict, fmt.Errorf("no fault %q can be tolerated: want some of %v, separated by commas", name, allTolerances)
	}
	return t, nil
}

// allTolerances has every fault that may be tolerated.
const allTolerances = WMMAAlignment | SharedUnit

// CouldTolerate returns the faults that must be tolerated to make the access; Strict if it can be made without
// tolerance, or not at all.
func (v *View) CouldTolerate(a *Access, addr uint64) Tolerance {
	lenient := *a
	lenient.Tolerate = allTolerances
	place, _ := v.Find(&lenient, addr)
	return place.Tolerated
}

// maxSharedUnit is a multiple of every Access.Unit.
const maxSharedUnit = 256

// roundUp returns the least multiple of unit that is at least n.
func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }
