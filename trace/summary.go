package trace

// This file counts the compared and the skipped items of a comparison.

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Tally counts items of a kind.
type Tally struct {
	Compared uint64 // items compared
	Skipped  uint64 // items that at least one log has, but that were not compared
}

// Summary counts the compared items of two logs. Launches, Extents, CTAs and Effects count once for both logs; all other
// items count once for each thread. A warp instruction of 32 lanes with a single result counts as 32 instructions, 32 masks
// and 32 results.
type Summary struct {
	Names   [2]string   // names of the logs
	Missing [2][]string // for each log, the parts that it lacks, from MissingParts

	Launches     Tally  // launches that both logs have
	Extents      Tally  // grid, block and cluster of a launch
	CTAs         Tally  // CTAs that both logs have
	Instructions Tally  // instructions that threads execute in both logs
	Masks        Tally  // values of guards: a thread executes the instruction or not
	Results      Tally  // written registers
	Addresses    Tally  // addresses of accesses
	Stored       Tally  // stored elements, and segments written by asynchronous operations
	Operands     Tally  // operands of atomics
	Effects      Tally  // reads and writes of asynchronous operations
	Clocks       uint64 // results that are times; they are not compared
}

// elements returns the tally that counts the elements of Store and Compare of an access.
func (s *Summary) elements(a *Access) *Tally {
	if a.Kind == Atomic {
		return &s.Operands
	}
	return &s.Stored
}

// elements returns the number of elements of Store and Compare, per lane.
func (a *Access) elements() uint64 { return uint64(len(a.Store) + len(a.Compare)) }

// countInstructions counts thread instructions that are equal in both logs.
func (c *comparison) countInstructions(n uint64) {
	c.summary.Instructions.Compared += n
	if c.isMissing("active") {
		c.summary.Masks.Skipped += n
	} else {
		c.summary.Masks.Compared += n
	}
}

// countAlike counts a record that is equal in both logs.
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

// String formats the counts as a table, followed by the parts that each log lacks. A row is left out if neither
// log has such items and neither header lists them as missing.
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
