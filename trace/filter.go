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
	Kernel  string   // name of the kernel; "" selects all kernels
	CTAs    Ranges   // linear indices of CTAs in the grid
	Warps   Ranges   // indices of warps in the CTA
	Lines   Ranges   // lines of the PTX, from 1
	Classes []string // names of functional units, as in Code.Class; nil selects all classes
}

// IsZero reports whether the filter selects everything.
func (f *Filter) IsZero() bool { return reflect.ValueOf(*f).IsZero() }

// String describes the filter: "CTAs 0-3, lines 40-42".
func (f *Filter) String() string {
	var list []string
	for _, x := range []struct{ name, value string }{
		{"kernel", f.Kernel}, {"CTAs", f.CTAs.String()}, {"warps", f.Warps.String()}, {"lines", f.Lines.String()}, {"classes", strings.Join(f.Classes, ",")},
	} {
		if x.value != "" {
			list = append(list, x.name+" "+x.value)
		}
	}
	return strings.Join(list, ", ")
}

// SelectsKernel reports whether the filter selects launches of a kernel.
func (f *Filter) SelectsKernel(kernel string) bool { return f.Kernel == "" || f.Kernel == kernel }

// SelectsInstruction reports whether Lines and Classes select an instruction: its line, and at least one of its possible
// classes.
func (f *Filter) SelectsInstruction(line uint64, classes ...string) bool {
	return f.Lines.Has(line) && (len(f.Classes) == 0 || slices.ContainsFunc(classes, func(c string) bool { return slices.Contains(f.Classes, c) }))
}

// filters is a list of filters. It selects an entry if each filter of the list selects the entry.
type filters []Filter

// all reports whether passes returns true for each filter.
func (list filters) all(passes func(f *Filter) bool) bool {
	for i := range list {
		if !passes(&list[i]) {
			return false
		}
	}
	return true
}

// after returns the lowest number of a selected CTA that is at least cta.
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

// filteredEntries selects records of a log, as if the log had been recorded with the filters. If it has left out records
// of a thread, it sets Record.Numbers in the thread's next selected record.
type filteredEntries struct {
	filters
	classes map[uint64][]string // for a log without code: the classes of the instructions of each line
	counts  []uint64            // number of executed instructions, by thread of the CTA
	passed  []uint64            // value of counts after the last selected instruction, by thread of the CTA
}

// begin resets the counts at the beginning of a CTA.
func (f *filteredEntries) begin() { f.counts, f.passed = f.counts[:0], f.passed[:0] }

// passes reports whether a record is selected, and sets Record.Numbers if necessary. code is the instruction of the record; nil
// if it is unknown.
func (f *filteredEntries) passes(r *Record, code *Code, warpSize uint64) bool {
	if len(f.filters) == 0 {
		return true
	}
	passes := f.all(func(x *Filter) bool {
		switch {
		case r.Kind == Trap && r.Lanes == 0: // a trap that belongs to no warp
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

// Restricted describes, in a single line, the compared part of two logs whose filters differ. filter is the filter of the
// comparison. The result is "" if the logs have equal filters.
func Restricted(a, b Source, filter Filter) (string, error) {
	var logFilters [2]Filter
	for i, s := range []Source{a, b} {
		c, err := s.open()
		if err != nil {
			return "", err
		}
		logFilters[i] = c.Header.Filter
		c.close()
	}
	if logFilters[0].String() == logFilters[1].String() {
		return "", nil
	}
	var list []string
	for _, f := range []Filter{filter, logFilters[0], logFilters[1]} {
		if s := f.String(); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return fmt.Sprintf("only parts that both logs have are compared: %s", strings.Join(list, "; and of these ")), nil
}
