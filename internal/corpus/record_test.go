package corpus

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp"
)

var update = flag.Bool("update", false, "write testdata/record.txt")

const recordHead = `# What every program of package corpus gives, in a line each: counts, and hashes of counts,
# memory and traps. They are what the machine does, written down by itself, so that a
# change of its inside is seen to change nothing. They say nothing about what is right: that
# is what cases, references and the oracle are for. A change that is meant to change them,
# or adds a program, runs "go test ./internal/corpus -update", and says why.
#
# KERNEL (or size of a workload), which of its cases, and of the last block at the first
# width: warp instructions, thread instructions, active lanes, branches, of them divergent;
# instructions executed compactly, suppressed by divergence, expansions. Then hashes over
# all blocks and widths, in vector, affine and check mode.
`

// TestRecordedOutcomes compares the outcomes of all programs with the record. Without -update and GEMU_TEST it tries one of
// nine cases.
func TestRecordedOutcomes(t *testing.T) {
	part.SkipShort(t)
	share, seed := uint64(part.Count(9, 3, 1)), part.Seed(t)
	if *update {
		share = 1
	}
	programs, err := Programs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/record.txt"
	got := record(programs, share, seed)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(recordHead+got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compareRecords(t, string(want), recordHead+got, share)
}

// compareRecords reports the first lines that differ. New programs are not differences, and missing programs are none if
// only one of share cases was run.
func compareRecords(t *testing.T, want, got string, share uint64) {
	t.Helper()
	old, now := entries(want), entries(got)
	bad := 0
	for about, line := range old {
		if now[about] == line || share > 1 && now[about] == "" {
			continue
		}
		if bad++; bad <= 20 {
			t.Errorf("%s: got %s, in the record it is %s", about, now[about], line)
		}
	}
	if bad > 20 {
		t.Errorf("%d lines differ", bad)
	}
	for about := range now {
		if _, ok := old[about]; !ok {
			t.Logf("%s is not in the record", about)
		}
	}
}

// entries returns the lines of a record by their subject.
func entries(record string) map[string]string {
	lines := map[string]string{}
	file := ""
	for _, line := range strings.Split(record, "\n") {
		switch about, counts, ok := strings.Cut(line, ": "); {
		case line == "" || line[0] == '#':
		case !ok:
			file = line
		default:
			lines[file+" "+about] = counts
		}
	}
	return lines
}

// modes are the ways to run a program; each has a hash in the record.
var modes = [...]func(l *interp.Launch){
	func(l *interp.Launch) { l.Mode = interp.Vector },
	func(l *interp.Launch) { l.Mode = interp.Affine },
	func(l *interp.Launch) { l.Mode, l.Structure = interp.Check, true },
}

// record runs the programs of one of share cases, chosen by seed, and writes one line for all programs of a case.
func record(programs []*Program, share, seed uint64) string {
	type group struct {
		file     string
		programs []*Program
		line     string
	}
	var groups []*group
	for i, p := range programs {
		if i > 0 && programs[i-1].File == p.File && programs[i-1].Line == p.Line && programs[i-1].Name == p.Name {
			last := groups[len(groups)-1]
			last.programs = append(last.programs, p)
			continue
		}
		groups = append(groups, &group{file: p.File, programs: []*Program{p}})
	}
	var wait sync.WaitGroup
	next := make(chan *group)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for g := range next {
				g.line = recordLine(g.programs)
			}
		})
	}
	for i, g := range groups {
		if (uint64(i)+seed)%share == 0 {
			next <- g
		}
	}
	close(next)
	wait.Wait()
	var b strings.Builder
	count := map[string]int{}
	for i, g := range groups {
		if i == 0 || groups[i-1].file != g.file {
			fmt.Fprintf(&b, "\n%s\n", g.file)
		}
		name := g.programs[0].Name
		count[g.file+name]++
		if g.line != "" {
			fmt.Fprintf(&b, "%s %d: %s\n", name, count[g.file+name], g.line)
		}
	}
	return b.String()
}

// recordLine returns the line of programs that differ only in extent.
func recordLine(programs []*Program) string {
	var sums [len(modes)]string
	var total interp.Result
	var compact affinetrack.Counts
	for i, mode := range modes {
		h := fnv.New32a()
		for _, p := range programs {
			o := p.Run(mode)
			fmt.Fprintln(h, p.Block, p.Width)
			o.Describe(h)
			if p.Width != programs[0].Width {
				continue
			}
			total, compact = interp.Result{}, affinetrack.Counts{}
			for _, r := range o.Results {
				total.WarpInstructions += r.WarpInstructions
				total.ThreadInstructions += r.ThreadInstructions
				total.LaneSlots += r.LaneSlots
				total.Branches += r.Branches
				total.DivergentBranches += r.DivergentBranches
				if r.Structure != nil {
					n := r.Structure.Total()
					compact.Add(&n)
				}
			}
		}
		sums[i] = fmt.Sprintf("%05x", h.Sum32()>>12)
	}
	return fmt.Sprintf("%d %d %d %d %d; %d %d %d; %s",
		total.WarpInstructions, total.ThreadInstructions, total.LaneSlots, total.Branches, total.DivergentBranches,
		compact.Compact, compact.Suppressed, compact.Materialisations, strings.Join(sums[:], " "))
}
