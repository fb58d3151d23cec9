package trace

// This file implements filters: the part of launches that is recorded or compared.

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// Filter selects a part of launches to record or compare. The zero Filter selects everything.
type Filter struct {
	Kernel  string   // name of the kernel; "" selects all
	CTAs    Ranges   // linear indices
	Warps   Ranges   // indices in the CTA
	Lines   Ranges   // lines of the PTX
	Classes []string // names of functional units, as in Code.Class; nil selects all
}

// IsZero reports whether the filter selects everything.
func (f *Filter) IsZero() bool { return reflect.ValueOf(*f).IsZero() }

// String describes the filter: "CTAs 0-3, lines 40-42".
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

// SelectsKernel reports whether the filter may select launches of a kernel.
func (f *Filter) SelectsKernel(kernel string) bool { return f.Kernel == "" || f.Kernel == kernel }

// SelectsInstruction reports whether the filter selects instructions of a line and of any of several classes.
func (f *Filter) SelectsInstruction(line uint64, classes ...string) bool {
	return f.Lines.Has(line) && (len(f.Classes) == 0 || slices.ContainsFunc(classes, func(c string) bool { return slices.Contains(f.Classes, c) }))
}

// filters selects the entries selected by all its filters.
type filters []Filter

func (list filters) all(passes func(f *Filter) bool) bool {
	for i := range list {
		if !passes(&list[i]) {
			return false
		}
	}
	return true
}

// after returns the first selected CTA from cta on.
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

// filteredEntries selects records of a log, as if the log had been recorded with the filters. It numbers
// records where earlier records of a thread are left out.
type filteredEntries struct {
	filters
	classes map[uint64][]string // by line, for a log without code
	counts  []uint64            // instructions so far, by thread of the CTA
	passed  []uint64            // up to and including the last selected instruction, by thread
}

// begin resets the counts at the beginning of a CTA.
func (f *filteredEntries) begin() { f.counts, f.passed = f.counts[:0], f.passed[:0] }

// passes reports whether a record is selected, and numbers its threads if necessary. code is nil if it is
// unknown.
func (f *filteredEntries) passes(r *Record, code *Code, warpSize uint64) bool {
	if len(f.filters) == 0 {
		return true
	}
	passes := f.all(func(x *Filter) bool {
		switch {
		case r.Kind == Trap && r.Lanes == 0: // without a warp
			return true
		case !x.Warps.Has(r.Warp):
			return false
		case r.Kind == Trap:
			return true
		case code != nil:
			return x.SelectsInstruction(r.Line, code.Class)
		}
		return x.SelectsInstruction(r.Line, f.classes[r.Line]...)
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
		r.Numbers.Describe(r.Active, before[:], nil)
	}
	return passes
}

// Restricted describes in a line the compared part of two logs, if their filters differ or the comparison has a
// filter by; otherwise it returns "".
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
	return fmt.Sprintf("only parts that both logs have are compared: %s", strings.Join(list, "; and of these ")), nil
}
