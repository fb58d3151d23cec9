package cli

// This file is the part "limits" of "gemu machine": what limits each line, and what would change it.

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"gemu/machine"
	"gemu/machine/stream"
)

var limitsPart = machinePart{name: "limits", doc: "what limits each line on the first machine, and what would change it", begin: func(in *machineRun) machineView {
	return machineText(func(r *machineReport, s *screen) { r.printLimits(s, in.machines[0].Footprint()) })
}}

// printLimits prints the limits of the lines with the most sectors that leave a multiprocessor. footprint is the number of bytes of all
// accessed sectors.
func (r *machineReport) printLimits(s *screen, footprint int64) {
	s.heading("what limits the lines with the most sectors that leave a multiprocessor")
	list := slices.Clone(r.Machines[0].Lines)
	slices.SortStableFunc(list, func(a, b machineLineJSON) int {
		return cmp.Or(cmp.Compare(b.Counts.Leaving(), a.Counts.Leaving()), cmp.Compare(b.Counts.Requests, a.Counts.Requests))
	})
	for i := range list {
		if i == r.flags.Top {
			s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", len(list)-i)))
			break
		}
		l := &list[i]
		s.printf("%s:%d  %s\n", filepath.Base(l.File), l.Line, s.cutToFit(r.texts[machinePlace{l.File, l.Line}], 30))
		for _, limit := range limitsOf(&l.Counts, footprint) {
			for k, line := range wrap(limit, 100) {
				s.printf("%s%s\n", []string{"  - ", "    "}[min(k, 1)], line)
			}
		}
	}
}

// limitsOf returns the limits of a line as sentences, without those of less than 1 % of the sectors that leave a multiprocessor. Each says what would change it. footprint is the number of bytes of all accessed
// sectors.
func limitsOf(c *machine.Counts, footprint int64) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	matters := func(n int64) bool { return n > 0 && 100*n >= c.Leaving() }
	accessed := c.Loads + c.Stores + c.Atomics
	// The bytes of a request take at least one sector.
	if least := max(c.Requests, (c.UsedBytes+stream.SectorBytes-1)/stream.SectorBytes); accessed >= 2*least {
		add("A request takes %.1f sectors, but its bytes would fit in %.1f: let neighbouring threads access neighbouring addresses.", float64(accessed)/float64(c.Requests), float64(least)/float64(c.Requests))
	}
	if matters(c.CompulsoryReads) {
		add("First use of the data: %s reads. No cache saves them; only smaller data or fewer data do.", partOf(c.CompulsoryReads, c.Reads))
	}
	if matters(c.StoreReads) {
		add("Stores of a part of a sector: %s reads. Let a request write whole sectors.", partOf(c.StoreReads, c.Reads))
	}
	if again := c.Reads - c.StoreReads - c.CompulsoryReads; matters(again) {
		add("Data that have been in the L2 before: %s reads. Work on a part of the data at a time, or take a larger L2: one of %s holds all data (--sweep l2=SIZE,…).", partOf(again, c.Reads), bytesText(footprint))
	}
	if again := c.L1Misses - c.L1Bypasses - c.L1Compulsory; 10*again >= c.Loads && again > 0 {
		add("Data that left the L1 between two uses: %s loads. Keep them in shared memory or registers, or take a larger L1 (--sweep l1=SIZE,…).", partOf(again, c.Loads))
	}
	if matters(c.L1Bypasses) {
		add("The cache operator or the memory order bypasses the L1: %s loads.", partOf(c.L1Bypasses, c.Loads))
	}
	if shared := c.L1Compulsory - c.CompulsoryReads; 2*shared >= c.Loads && shared > 0 {
		add("First use on a multiprocessor, and the L2 has the data: %s loads. Let CTAs with the same data run on the same multiprocessor (--sweep dispatch=NAME,…), or let each CTA do more.", partOf(shared, c.Loads))
	}
	if matters(c.Atomics) {
		add("Sectors of atomics, which the L2 executes: %s. Combine the values of a warp or a CTA first.", countText(c.Atomics))
	}
	if list == nil {
		if c.Stores > 0 {
			add("Its stores take as few sectors as possible: only smaller data help.")
		} else {
			add("The L1 has nearly all of its data.")
		}
	}
	return list
}

// partOf writes a part of a count.
func partOf(n, of int64) string { return countText(n) + " of " + countText(of) }

// bytesText writes a size with a unit.
func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
