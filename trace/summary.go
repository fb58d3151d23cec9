package trace

// This file counts what a comparison has looked at, and what it has not.

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Tally counts things of one kind.
type Tally struct {
	Compared uint64 // in both logs, and looked at
	Skipped  uint64 // in one log or both, and not looked at
}

// Summary is how much of two logs has been compared. Everything but launches, their extents and CTAs is
// counted by thread: a warp instruction of 32 lanes with one result is 32 instructions, masks and results.
type Summary struct {
	Names   [2]string   // of the logs
	Missing [2][]string // by log, some of Lackings

	Launches     Tally
	Extents      Tally // grid, block and cluster of a launch
	CTAs         Tally
	Instructions Tally
	Masks        Tally // whether a guard lets the thread execute the instruction
	Results      Tally // registers
	Addresses    Tally // of accesses
	Stored       Tally // elements that are stored, and pieces that asynchronous operations write
	Operands     Tally // elements that atomics combine or compare with memory
	Effects      Tally // reads and writes of asynchronous operations
	Clocks       uint64
}

// elements is the tally of what is given to an access.
func (s *Summary) elements(a *Access) *Tally {
	if a.Kind == Atomic {
		return &s.Operands
	}
	return &s.Stored
}

// elements is how many elements are given to an access.
func (a *Access) elements() uint64 { return uint64(len(a.Store) + len(a.Compare)) }

// countInstructions counts instructions of threads that are the same in both logs.
func (c *comparison) countInstructions(n uint64) {
	c.summary.Instructions.Compared += n
	if c.isMissing("active") {
		c.summary.Masks.Skipped += n
	} else {
		c.summary.Masks.Compared += n
	}
}

// countAlike counts a record that is the same in both logs.
func (c *comparison) countAlike(r *Record) {
	s := &c.summary
	if r.Kind == Instruction {
		c.countInstructions(uint64(bits.OnesCount64(c.lanesOf(r))))
	}
	results := uint64(len(r.Results) * bits.OnesCount64(r.Lanes))
	if code := c.code(0, r); results > 0 && code != nil && code.clock() {
		s.Clocks += results
	} else {
		s.Results.Compared += results
	}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		n := uint64(bits.OnesCount64(r.lanes(a)))
		s.Addresses.Compared += n
		s.elements(a).Compared += n * a.elements()
	}
}

// Empty reports whether no instruction and no asynchronous operation has been compared.
func (s *Summary) Empty() bool { return s.Instructions.Compared+s.Effects.Compared == 0 }

// String is the counts as a table, and below it why some things were not compared. A line of the table is left out
// where neither log has such a thing, and nothing says that one lacks it.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-23s %12s %12s\n", "", "compared", "not compared")
	for _, row := range []struct {
		name    string
		missing []string
		Tally
	}{
		{"launches", nil, s.Launches},
		{"extents of launches", []string{"launch"}, s.Extents},
		{"CTAs", nil, s.CTAs},
		{"instructions", nil, s.Instructions},
		{"masks", []string{"active"}, s.Masks},
		{"results", []string{"results"}, s.Results},
		{"addresses", []string{"addresses"}, s.Addresses},
		{"stored values", []string{"stored"}, s.Stored},
		{"operands of atomics", []string{"operands"}, s.Operands},
		{"asynchronous operations", []string{"effects"}, s.Effects},
	} {
		absentPart := slices.ContainsFunc(row.missing, func(part string) bool {
			return slices.Contains(s.Missing[0], part) || slices.Contains(s.Missing[1], part)
		})
		if row.Compared+row.Skipped > 0 || absentPart || row.missing == nil {
			fmt.Fprintf(&b, "%-23s %12d %12d\n", row.name, row.Compared, row.Skipped)
		}
	}
	if s.Clocks > 0 {
		fmt.Fprintf(&b, "%-23s %12d %12d\n", "times", 0, s.Clocks)
	}
	for i, missing := range s.Missing {
		if len(missing) > 0 {
			fmt.Fprintf(&b, "%s lacks %s\n", s.Names[i], strings.Join(missing, ", "))
		}
	}
	return b.String()
}
