package mem

import "gemu/probe"

// CouldTolerate returns the faults that must be tolerated to make the access; Strict if it can be made without
// tolerance, or not at all.
func (v *View) CouldTolerate(a *Access, addr uint64) probe.Tolerance {
	lenient := *a
	lenient.Tolerate = probe.AllTolerances
	place, _ := v.Find(&lenient, addr)
	return place.Tolerated
}

// maxSharedUnit is a multiple of every Access.Unit.
const maxSharedUnit = 256

// roundUp returns the least multiple of unit that is at least n.
func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }
