package trace

// This file is what of launches is let through: into a log, or out of one.

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// Filter says what of launches is written, or compared; zero is all.
type Filter struct {
	Kernel  string
	CTAs    Ranges // by linear index
	Warps   Ranges // within their CTA
	Lines   Ranges // of the PTX
	Classes []string
}

// IsZero reports whether it lets all through.
func (f *Filter) IsZero() bool { return reflect.ValueOf(*f).IsZero() }

// String says what it lets through, as in "CTAs 0-3, lines 40-42".
func (f *Filter) String() string {
	var list []string
	for _, x := range []struct{ name, of string }{
		{"kernel", f.Kernel}, {"CTAs", f.CTAs.String()}, {"warps", f.Warps.String()}, {"lines", f.Lines.String()}, {"classes", strings.Join(f.Classes, ",")},
	} {
		if x.of != "" {
			list = append(list, x.name+" "+x.of)
		}
	}
	return strings.Join(list, ", ")
}

// launches reports whether launches of a kernel may pass.
func (f *Filter) launches(kernel string) bool { return f.Kernel == "" || f.Kernel == kernel }

// instructions reports whether the instructions of a line and of one of some classes pass.
func (f *Filter) instructions(line uint64, classes ...string) bool {
	return f.Lines.Has(line) && (len(f.Classes) == 0 || slices.ContainsFunc(classes, func(c string) bool { return slices.Contains(f.Classes, c) }))
}

// filters are several, of which each has to let through what passes.
type filters []Filter

func (list filters) all(passes func(f *Filter) bool) bool {
	for i := range list {
		if !passes(&list[i]) {
			return false
		}
	}
	return true
}

// after is the first CTA from one on that passes.
func (list filters) after(cta uint64) uint64 {
	for again := true; again; {
		again = false
		for i := range list {
			if n := list[i].CTAs.after(cta); n != cta {
				cta, again = n, true
			}
		}
	}
	return cta
}

// filteredEntries is the records of a log that pass, as if it had been written so: with numbers where some
// of a thread are missing.
type filteredEntries struct {
	filters
	classes map[uint64][]string // by line, of a log that does not say which instructions it has
	counts  []uint64            // by thread of the CTA, the instructions so far
	passed  []uint64            // … up to and with the one that passed last
}

// begin is called as a CTA begins.
func (f *filteredEntries) begin() { f.counts, f.passed = f.counts[:0], f.passed[:0] }

// passes reports whether a record passes, which code is nil of if the log does not say; and numbers its
// threads, if need be.
func (f *filteredEntries) passes(r *Record, code *Code, warpSize uint64) bool {
	if len(f.filters) == 0 {
		return true
	}
	passes := f.all(func(x *Filter) bool {
		switch {
		case r.Kind == Trap && r.Lanes == 0: // no warp's
			return true
		case !x.Warps.Has(r.Warp):
			return false
		case r.Kind == Trap:
			return true
		case code != nil:
			return x.instructions(r.Line, code.Class)
		}
		return x.instructions(r.Line, f.classes[r.Line]...)
	})
	if r.Kind != Instruction {
		return passes
	}
	first := int(r.Warp * warpSize)
	if n := first + 64 - len(f.counts); n > 0 {
		f.counts, f.passed = append(f.counts, make([]uint64, n)...), append(f.passed, make([]uint64, n)...)
	}
	var before [64]uint64
	missing := false
	for m := r.Active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		n := &f.counts[first+lane]
		if r.Numbers != nil {
			*n, _ = r.Numbers.At(r.Active, lane)
		}
		before[lane] = *n
		missing = missing || *n != f.passed[first+lane]
		if *n++; passes {
			f.passed[first+lane] = *n
		}
	}
	if passes && missing && r.Numbers == nil {
		r.Numbers = &Value{Bits: 64}
		r.Numbers.describe(r.Active, before[:], nil)
	}
	return passes
}

// Restricted says on a line what is compared of two logs of which one has been filtered otherwise than
// the other, or by a filter besides; nothing of two that are the same in this.
func Restricted(a, b Source, by Filter) (string, error) {
	var of [2]Filter
	for i, s := range []Source{a, b} {
		c, err := s.open()
		if err != nil {
			return "", err
		}
		of[i] = c.Header.Filter
		c.close()
	}
	if of[0].String() == of[1].String() {
		return "", nil
	}
	var list []string
	for _, f := range []Filter{by, of[0], of[1]} {
		if s := f.String(); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return fmt.Sprintf("compared is what both logs have: %s", strings.Join(list, "; and of that ")), nil
}
