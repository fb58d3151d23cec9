package mem

import (
	"fmt"
	"strings"
)

// Tolerance is a set of faults after which a kernel goes on, as it does on a GPU.
type Tolerance uint8

// The faults that may be tolerated.
const (
	// WMMAAlignment is wmma.load and wmma.store at an address that is less aligned than the manual requires, and
	// aligned to the widest piece that a lane accesses: Access.Hardware.
	WMMAAlignment Tolerance = 1 << iota
	// SharedUnit is a load past the end of a CTA's shared memory that stays in its last allocation unit: Access.Unit.
	// The bytes past the end are zero.
	SharedUnit

	Strict Tolerance = 0 // tolerates nothing
)

// Tolerable is a fault that may be tolerated.
type Tolerable struct {
	Tolerance
	Name   string // for command lines
	Doc    string // one sentence
	Source string // the rule that makes it a fault, and the reason that GPUs go on
}

// Tolerables are all faults that may be tolerated.
var Tolerables = []Tolerable{
	{WMMAAlignment, "wmma-alignment", "wmma.load and wmma.store at an address that is less aligned than the manual requires",
		"PTX manual 9.7.14.4.2 requires each row or column to be aligned to the size of the whole fragment; machine code accesses pieces of a few elements"},
	{SharedUnit, "shared-unit", "loads (ld, ldmatrix, wmma.load) past the end of a block's shared memory, up to its allocation unit (128 bytes from sm_80 on, 256 before): they read zeros there",
		"a GPU allocates shared memory in units (cuda_occupancy.h) and checks addresses against whole units"},
}

// Has reports whether t has all faults of u.
func (t Tolerance) Has(u Tolerance) bool { return t&u == u }

// String is the names, separated by commas.
func (t Tolerance) String() string {
	var names []string
	for _, k := range Tolerables {
		if t.Has(k.Tolerance) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ",")
}

// ParseTolerance reads names that are separated by commas; "" is none. The error lists the names.
func ParseTolerance(s string) (t Tolerance, err error) {
	if s == "" {
		return Strict, nil
	}
next:
	for name := range strings.SplitSeq(s, ",") {
		for _, k := range Tolerables {
			if k.Name == name {
				t |= k.Tolerance
				continue next
			}
		}
		return Strict, fmt.Errorf("no fault %q can be tolerated: want some of %v, separated by commas", name, everything)
	}
	return t, nil
}

// everything tolerates all that can be tolerated.
const everything = WMMAAlignment | SharedUnit

// CouldTolerate is the faults that must be tolerated for the access to be made; Strict if it can be made without, or not
// at all.
func (v *View) CouldTolerate(a *Access, addr uint64) Tolerance {
	lenient := *a
	lenient.Tolerate = everything
	place, _ := v.Find(&lenient, addr)
	return place.Tolerated
}

// mostUnit is a multiple of every Access.Unit.
const mostUnit = 256

// roundUp is the least multiple of a unit that is no less than n.
func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }
