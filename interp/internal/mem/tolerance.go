package mem

import "gemu/probe"

// CouldTolerate returns the faults that must be tolerated for an access to succeed. It returns Strict if the access
// succeeds without tolerance, or cannot succeed.
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
