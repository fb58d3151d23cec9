package cli

// This file is "gemu structure": the structure of the values of a kernel, by instruction and in
// total, as text and as JSON. The page is in page.go. Figures 1 and 2 are those of Kim et al. 2013.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/notation"
	"gemu/structure"
)

type structureCmd struct {
	launchFlags
	policyFlag

	Policy string   `default:"ideal" help:"Value policy: the rules by which a value counts as compact. One of:${policies}" placeholder:"NAME"`
	Show   []string `default:"listing,bars,lanes,summary" enum:"listing,bars,lanes,summary" help:"Parts to print: listing (the PTX, each instruction with its results), bars (shares of uniform, affine and generic values), lanes (numbers of active lanes), summary." placeholder:"PART"`
	reportFlags
}

func (c *structureCmd) Run(a *app) error {
	policy, err := parsePolicy(c.Policy)
	if err != nil {
		return err
	}
	if err := c.outputs().check(); err != nil {
		return err
	}
	j, err := c.open(a, dataOf(a.stderr)) // standard output is reserved for the report
	if err != nil {
		return err
	}
	if err := j.structure(a, policy, a.reconverger(c.Reconverge)); err != nil {
		return err
	}
	r := newStructureReport(j)
	err = c.write(a, r.page, func() any { return r.json() })
	if !c.outputs().stdout() {
		r.print(newScreen(a.stdout), c.Show)
	}
	return err
}

// structureReport is the content of a report.
type structureReport struct {
	document.Launch
	groups    []document.Group
	structure *structure.Structure
	bars      []document.Bar
	listings  []*listing
}

func newStructureReport(j *job) *structureReport {
	all := j.total().Structure
	return &structureReport{Launch: j.facts(), groups: j.groups(), structure: all, bars: document.Bars(all), listings: newListings(all, j.sources)}
}

// json returns the report of --json.
func (r *structureReport) json() *document.Structure {
	return document.NewStructure(r.Launch, r.groups, r.structure)
}

// classText returns the label of an instruction as in figure 1 of Kim et al. 2013: a letter, or the shares of several
// classes, or "-" without counts.
func classText(s affinetrack.ClassCounts) string {
	if s.Total() == 0 {
		return affinetrack.Unknown.String()
	}
	var parts []string
	for i, n := range document.ClassShares(s) {
		switch {
		case n == 0:
		case n == s.Total():
			return document.Classes[i].String()
		default:
			parts = append(parts, document.Classes[i].String()+" "+percentText(share(n, s.Total()), 0))
		}
	}
	return strings.Join(parts, " ")
}

// share returns a part in percent.
func share(n, of int64) float64 { return notation.Percentage(n, of) }

// print writes the parts of the report to a screen.
func (r *structureReport) print(s *screen, parts []string) {
	s.printf("%s: policy %s, warps of %d\n", r.File, r.Policy, r.Warp)
	for _, g := range r.groups {
		s.printf("  kernel %s\n", g)
	}
	for _, p := range parts {
		switch p {
		case "listing":
			for _, l := range r.listings {
				l.print(s)
			}
		case "bars":
			r.printBars(s)
		case "lanes":
			r.printLanes(s)
		case "summary":
			s.heading("summary")
			printSummary(s, r.structure)
		}
	}
}

// printBars draws the bars.
func (r *structureReport) printBars(s *screen) {
	const name, number, narrowest = 16, 10, 8
	width := max(s.chart()-name-3*number, narrowest)
	s.heading("structure")
	kinds := [3]string{}
	for _, b := range r.bars {
		if b.Kinds != kinds {
			kinds = b.Kinds
			s.printf("%s", fitted("", name+width))
			for i, k := range kinds {
				s.printf("%s", s.paint(classPaints[document.Classes[i]], fitted(string(classGlyphs[i])+" "+k, -number)))
			}
			s.printf("\n")
		}
		s.printf("%s", fitted(b.Name, name))
		if b.Shares.Total() == 0 {
			s.printf("none\n")
			continue
		}
		s.printf("%s", s.bar(width, b.Shares))
		for _, n := range document.ClassShares(b.Shares) {
			s.printf("%s", fitted(percentText(share(n, b.Shares.Total()), 1)+" %", -number))
		}
		s.printf("\n")
	}
}

// printLanes draws a histogram: the number of active lanes at the execution of an
// instruction.
func (r *structureReport) printLanes(s *screen) {
	const axis, height = 8, 6
	counts := r.structure.Lanes[1:]
	total := r.structure.Total()
	width := max(min((s.chart()-axis)/len(counts), 4), 1)
	s.heading("active lanes")
	for i, line := range columns(counts, width, height) {
		label := ""
		if i == 0 {
			label = percentText(share(slices.Max(counts), total.Execs), 0) + " %"
		}
		s.printf("%s┤%s\n", fitted(label, -axis+1), s.paint(cyan, strings.TrimRight(line, " ")))
	}
	s.printf("%s┼%s\n", fitted("0 %", -axis+1), strings.Repeat("─", width*len(counts)))
	ticks := []rune(strings.Repeat(" ", width*len(counts)))
	for n := 1; n <= len(counts); n++ {
		if n != 1 && n%max(len(counts)/4, 1) != 0 {
			continue
		}
		text := []rune(fmt.Sprint(n))
		copy(ticks[max(min(width*(n-1), len(ticks)-len(text)), 0):], text)
	}
	s.printf("%s%s\n", fitted("", axis), strings.TrimRight(string(ticks), " "))
}

// summaryRow is a column of table 1 of Kim et al. 2013, as a row.
type summaryRow struct {
	Name  string `json:"name"`
	Value string `json:"value"` // with its unit
	Doc   string `json:"doc"`
}

// summaryRows are the columns that a functional run can compute.
func summaryRows(s *structure.Structure) []summaryRow {
	t, all, b := s.Summary(), s.Total(), s.Breakdown()
	rows := []summaryRow{
		{"dynamic instructions", countText(t.Instructions), "executed by warps"},
		{"active lanes", fmt.Sprintf("%.1f", t.ActiveLanes), "on average"},
	}
	for _, p := range []struct {
		name  string
		value float64
		of    int64
		doc   string
	}{
		{"long latency", t.LongLatency, all.Execs, "multiplications, floats, special functions"},
		{"control", t.Control, all.Execs, "branches, calls, returns and exits"},
		{"memory", t.Memory, all.Execs, "loads, stores and atomics"},
		{"under divergence", t.Diverged, all.Execs, "of instructions, while the warp was diverged"},
		{"affine instructions", t.Affine, all.Execs, "of instructions, with compact results only"},
		{"suppressed", t.Suppressed, all.Compact + all.Suppressed, "of possible affine instructions, by divergence or a guard"},
		{"materialisation", t.Expansion, all.Execs, "of instructions, which wrote a compact register to its lanes"},
		{"register reads saved", t.ReadsSaved, all.Reads.Total(), "of register reads, from compact registers"},
		{"register writes saved", t.WritesSaved, all.Writes.Total(), "of register writes, to compact registers, less materialisations"},
		{"affine branches", t.Branches, all.Branches, "of conditional branches, decided by compact values"},
		{"affine memory", t.MemoryOps, b.LoadAddresses.Total() + b.StoreAddresses.Total(), "of loads and stores (not of parameters), at compact addresses"},
		{"affine loads", t.Loads, b.LoadAddresses.Total(), "of loads (not of parameters), at compact addresses"},
	} {
		value := "none"
		if p.of > 0 {
			value = percentText(p.value, 1) + " %"
		}
		rows = append(rows, summaryRow{p.name, value, p.doc})
	}
	return rows
}

// informative returns the rows that say something: it drops rows without instructions to count, and shares that are zero.
func informative(rows []summaryRow) []summaryRow {
	return slices.DeleteFunc(rows, func(r summaryRow) bool {
		return r.Value == "none" || r.Value == "0.0 %" && r.Name != "under divergence"
	})
}

// printSummary prints the summary, a row in each line.
func printSummary(w io.Writer, s *structure.Structure) {
	for _, r := range summaryRows(s) {
		fmt.Fprintf(w, "%s%s  %s\n", fitted(r.Name, 22), fitted(r.Value, -9), r.Doc)
	}
}
