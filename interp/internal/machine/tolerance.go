package machine

import (
	"cmp"
	"slices"
	"strings"

	"gemu/probe"
)

// ToleratedFault is a tolerated fault with the CTA of its first trap.
type ToleratedFault struct {
	probe.Tolerated
	Order int // linear index of the CTA
}

// toleratedFaults is a list of tolerated faults in the order of their first occurrence. It has one entry for each
// instruction and kind of fault.
type toleratedFaults []ToleratedFault

// Compare orders tolerated faults by their place in the source, then by kind. It returns 0 for the same instruction and
// kind.
func (t *ToleratedFault) Compare(u *ToleratedFault) int {
	a, b := t.First, u.First
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), strings.Compare(a.Func, b.Func), cmp.Compare(t.Tolerance, u.Tolerance))
}

// Merge adds the faults of another CTA. For an instruction and kind, the trap of the CTA with the lowest index is kept.
func (l *toleratedFaults) Merge(more toleratedFaults) {
	for i := range more {
		fault := &more[i]
		i := slices.IndexFunc(*l, func(t ToleratedFault) bool { return t.Compare(fault) == 0 })
		if i < 0 {
			*l = append(*l, *fault)
			continue
		}
		old := &(*l)[i]
		times := old.Count + fault.Count
		if fault.Order < old.Order {
			*old = *fault
		}
		old.Count = times
	}
}
