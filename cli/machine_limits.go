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
	advice := func() string { return l2AdviceOf(&in.specs[0], in.machines[0].Footprint()) }
	return machineText{func(r *machineReport, s *screen) { r.printLimits(s, advice()) }, func(r *machineReport) []pageSection { return r.pageLimits(advice()) }}
}}

// linesByLeaving returns the lines of the first machine, those with the most sectors that leave a multiprocessor first.
func (r *machineReport) linesByLeaving() []machineLineJSON {
	list := slices.Clone(r.Machines[0].Lines)
	slices.SortStableFunc(list, func(a, b machineLineJSON) int {
		return cmp.Or(cmp.Compare(b.Counts.Leaving(), a.Counts.Leaving()), cmp.Compare(b.Counts.Requests, a.Counts.Requests))
	})
	return list
}

// limitsTitle is the title of the limits.
const limitsTitle = "what limits the lines with the most sectors that leave a multiprocessor"

// pageLimits returns the limits of the lines as sentences.
func (r *machineReport) pageLimits(l2Advice string) []pageSection {
	list := r.linesByLeaving()
	block := pageBlock{Title: "W" + limitsTitle[1:]}
	for i := range list {
		if i == r.flags.Top {
			block.Notes = append(block.Notes, fmt.Sprintf("%d more lines have fewer sectors (--top).", len(list)-i))
			break
		}
		l := &list[i]
		at := machinePlace{l.File, l.Line}
		block.Texts = append(block.Texts, pageTexts{fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line), r.texts[at], limitsOf(&l.Counts, r.instrs[at], l2Advice)})
	}
	return oneBlock("Limits on "+r.Machines[0].Name, block)
}

// printLimits prints the limits of the lines with the most sectors that leave a multiprocessor. l2Advice is that of l2AdviceOf.
func (r *machineReport) printLimits(s *screen, l2Advice string) {
	s.heading(limitsTitle)
	list := r.linesByLeaving()
	for i := range list {
		if i == r.flags.Top {
			s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", len(list)-i)))
			break
		}
		l := &list[i]
		at := machinePlace{l.File, l.Line}
		s.printf("%s:%d  %s\n", filepath.Base(l.File), l.Line, s.cutToFit(r.texts[at], 30))
		for _, limit := range limitsOf(&l.Counts, r.instrs[at], l2Advice) {
			for k, line := range wrap(limit, 100) {
				s.printf("%s%s\n", []string{"  - ", "    "}[min(k, 1)], line)
			}
		}
	}
}

// machineInstr is an instruction of a line of the source.
type machineInstr struct {
	at     machinePlace // line of the PTX
	counts machine.Counts
}

// l2AdviceOf says how the L2 of a machine would keep all data, whose lines have a number of bytes.
func l2AdviceOf(s *machine.Spec, footprint int64) string {
	set := int64(s.L2.Ways * stream.LineBytes)
	size := (footprint + set - 1) / set * set
	if size <= int64(s.L2.Bytes) {
		return "The L2 has room for all data, but not in each set: take more ways or another index (--sweep l2.ways=N,… or --sweep l2.index=xor,modulo)."
	}
	larger := *s
	if larger.L2.Bytes = int(size); larger.Check() != nil {
		return "Work on a part of the data at a time, or take a larger L2 (--sweep l2=SIZE,…)."
	}
	text := fmt.Sprint(size)
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 20, "M"}, {1 << 10, "K"}} {
		if size%unit.bytes == 0 {
			text = fmt.Sprintf("%d%s", size/unit.bytes, unit.name)
			break
		}
	}
	return fmt.Sprintf("Work on a part of the data at a time, or take a larger L2: one of %s has room for the lines of all data (--sweep l2=%s).", bytesText(size), text)
}

// leastSectors returns the number of sectors that the accessed bytes take if no sector has other bytes. A request takes at least one.
func leastSectors(c *machine.Counts) int64 {
	return max(c.Requests, (c.UsedBytes+stream.SectorBytes-1)/stream.SectorBytes)
}

// accessedSectors returns the number of accessed sectors.
func accessedSectors(c *machine.Counts) int64 { return c.Loads + c.Stores + c.Atomics }

// limitsOf returns the limits of a line as sentences, without those of less than 1 % of the sectors that leave a multiprocessor. Each says
// what would change it. instrs are the instructions of the line. l2Advice is that of l2AdviceOf.
func limitsOf(c *machine.Counts, instrs []machineInstr, l2Advice string) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	matters := func(n int64) bool { return n > 0 && 100*n >= c.Leaving() }
	request, widest := "A request", c
	if len(instrs) > 1 { // a mean of a coalesced and a scattered access describes neither
		excess := func(i machineInstr) int64 { return accessedSectors(&i.counts) - leastSectors(&i.counts) }
		worst := slices.MaxFunc(instrs, func(a, b machineInstr) int { return cmp.Compare(excess(a), excess(b)) })
		request, widest = fmt.Sprintf("Of %d instructions, that of %s:%d takes the most sectors more than it needs. Its request", len(instrs), filepath.Base(worst.at.file), worst.at.line), &worst.counts
	}
	switch accessed, least := accessedSectors(widest), leastSectors(widest); {
	case accessed >= 2*least:
		add("%s takes %.1f sectors, but its bytes would fit in %.1f: let neighbouring threads access neighbouring addresses.", request, float64(accessed)/float64(widest.Requests), float64(least)/float64(widest.Requests))
	case 10*accessed >= 11*least:
		add("%s uses %s %% of the bytes of its sectors: let a warp access bytes without gaps, from a multiple of %d bytes on.", request, percentText(share(widest.UsedBytes, accessed*stream.SectorBytes), 0), stream.SectorBytes)
	}
	if matters(c.CompulsoryReads) {
		add("First use of the data: %s reads. No cache saves them; only smaller data or fewer data do.", partOf(c.CompulsoryReads, c.Reads))
	}
	if matters(c.StoreReads) {
		add("Stores of a part of a sector: %s reads. Let a request write whole sectors.", partOf(c.StoreReads, c.Reads))
	}
	if matters(c.StoreExtra) {
		add("Stores of a part of a line, which memory transfers whole: %s reads, of the other sectors. Let a request write whole lines of %d bytes.", partOf(c.StoreExtra, c.Reads), stream.LineBytes)
	}
	if again := c.Reads - c.StoreReads - c.StoreExtra - c.CompulsoryReads; matters(again) {
		add("Data that have been in the L2 before: %s reads. %s", partOf(again, c.Reads), l2Advice)
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
	if list != nil {
		return list
	}
	l1, l2 := percentText(share(c.L1Hits, c.Loads), 1), percentText(share(c.L2Hits, c.L2Hits+c.L2Misses), 1)
	switch {
	case c.Loads == 0 && accessedSectors(c) == leastSectors(c):
		add("Its stores take as few sectors as possible: only smaller data help.")
	case c.Stores == 0 && 10*c.L1Hits >= 9*c.Loads:
		add("The L1 has nearly all of its data.")
	case c.Loads == 0:
		add("Nothing stands out: the L2 has %s %% of its sectors.", l2)
	default:
		add("Nothing stands out: the L1 has %s %% of the sectors of its loads, and the L2 has %s %% of the sectors that reach it.", l1, l2)
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
