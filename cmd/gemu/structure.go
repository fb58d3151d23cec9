package main

// This file shows value structure: "gemu structure", and what --stats prints.

import (
	"fmt"
	"io"

	"gemu/interp"
)

// printSummary prints the columns of table 1 of Kim et al. 2013.
func printSummary(w io.Writer, s *interp.Structure) {
	t := s.Summary()
	row := func(name string, v float64, doc string) { fmt.Fprintf(w, "%-22s %5.1f %%  %s\n", name, v, doc) }
	row("long latency", t.LongLatency, "of warp instructions multiply, or are floating point or special functions")
	row("control", t.Control, "branch, call, return or exit")
	row("memory", t.Memory, "load, store or are atomic")
	row("under divergence", t.Diverged, "executed with lanes of the warp elsewhere")
	row("affine instructions", t.Affine, "had results that stayed compact")
	row("suppressed", t.Suppressed, "of those that could have did not, for divergence or a guard")
	row("expansion overhead", t.Expansion, "of instructions made a compact register be written to lanes")
	row("register reads saved", t.ReadsSaved, "of reads were of compact registers")
	row("register writes saved", t.WritesSaved, "of writes, expansions taken off")
	row("affine branches", t.Branches, "of conditional branches were decided without the lanes")
	row("affine memory", t.MemoryOps, "of loads and stores, but of parameters, had a compact address")
	row("affine loads", t.Loads, "of loads likewise")
}
