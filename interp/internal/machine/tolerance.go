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

// toleratedFaults is a list of tolerated faults in order of occurrence, without repetitions of an instruction and kind.
type toleratedFaults []ToleratedFault

// Compare orders tolerated faults by their place in the source, for reports.
func (t *ToleratedFault) Compare(u *ToleratedFault) int {
	a, b := t.First, u.First
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), strings.Compare(a.Func, b.Func), cmp.Compare(t.Tolerance, u.Tolerance))
}

// Merge adds the faults of another CTA.
func (l *toleratedFaults) Merge(more toleratedFaults) {
	for i := range more {
		n := &more[i]
		k := slices.IndexFunc(*l, func(t ToleratedFault) bool { return t.Compare(n) == 0 })
		if k < 0 {
			*l = append(*l, *n)
			continue
		}
		old := &(*l)[k]
		times := old.Count + n.Count
		if n.Order < old.Order {
			*old = *n
		}
		old.Count = times
	}
}
