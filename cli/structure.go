package cli

// This file is "gemu structure": the structure of the values of a kernel, by instruction and in
// total, as text and as JSON. The page is in page.go. Figures 1 and 2 are those of Kim et al. 2013.

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/internal/notation"
	"gemu/interp"
	"gemu/sanitize/finding"
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
	launchJSON
	groups    []launchGroup
	structure *structure.Structure
	bars      []structureBar
	listings  []*listing
}

// launchGroup is the launches with the same kernel and extent.
type launchGroup struct {
	Kernel string `json:"kernel"` // name of the kernel
	Grid   [3]int `json:"grid"`   // numbers of CTAs in x, y and z
	Block  [3]int `json:"block"`  // threads of a CTA in x, y and z
	Count  int    `json:"count"`  // number of launches
}

// groups returns the launches of a job, grouped.
func (j *job) groups() []launchGroup {
	return groupsOf(slices.Values(j.results), func(l *interp.Result) launchGroup {
		return launchGroup{l.Kernel, dims(l.Grid), dims(l.Block), 0}
	})
}

// groupsOf groups launches. group returns the group of a launch.
func groupsOf[L any](launches iter.Seq[L], group func(L) launchGroup) (list []launchGroup) {
	for l := range launches {
		g := group(l)
		i := slices.IndexFunc(list, func(o launchGroup) bool { o.Count = 0; return o == g })
		if i < 0 {
			i = len(list)
			list = append(list, g)
		}
		list[i].Count++
	}
	return list
}

// structureBar is a bar of figure 2 of Kim et al. 2013: an operand or result of instructions, and the classes of its values.
type structureBar struct {
	Name, key string // names in text and in JSON
	Kinds     [3]string
	Shares    affinetrack.ClassCounts
}

// The words of Kim et al. 2013 for uniform, affine and generic values and addresses.
var (
	valueKinds   = [3]string{"uniform", "affine", "generic"}
	addressKinds = [3]string{"shared", "strided", "indexed"}
)

func newStructureReport(j *job) *structureReport {
	r := &structureReport{launchJSON: j.facts(), groups: j.groups(), structure: j.total().Structure}
	b := r.structure.Breakdown()
	r.bars = []structureBar{
		{"load addresses", "load_addresses", addressKinds, b.LoadAddresses},
		{"store addresses", "store_addresses", addressKinds, b.StoreAddresses},
		{"load data", "load_data", valueKinds, b.LoadData},
		{"store data", "store_data", valueKinds, b.StoreData},
		{"register reads", "register_reads", valueKinds, b.RegisterReads},
		{"register writes", "register_writes", valueKinds, b.RegisterWrites},
		{"instructions", "instructions", valueKinds, b.Instructions},
	}
	r.listings = newListings(r.structure, j.sources)
	return r
}

// classes lists the classes, the most structured first.
var classes = [3]affinetrack.Class{affinetrack.Uniform, affinetrack.Affine, affinetrack.Generic}

// classShares returns the counts in the order of classes.
func classShares(s affinetrack.ClassCounts) []int64 { return []int64{s.Uniform, s.Affine, s.Generic} }

// classText returns the label of an instruction as in figure 1 of Kim et al. 2013: a letter, or the shares of several
// classes, or "-" without counts.
func classText(s affinetrack.ClassCounts) string {
	if s.Total() == 0 {
		return affinetrack.Unknown.String()
	}
	var parts []string
	for i, n := range classShares(s) {
		switch {
		case n == 0:
		case n == s.Total():
			return classes[i].String()
		default:
			parts = append(parts, classes[i].String()+" "+percentText(share(n, s.Total()), 0))
		}
	}
	return strings.Join(parts, " ")
}

// mainClass returns the most frequent class.
func mainClass(s affinetrack.ClassCounts) affinetrack.Class {
	if s.Total() == 0 {
		return affinetrack.Unknown
	}
	list := classShares(s)
	return classes[slices.Index(list, slices.Max(list))]
}

// share returns a part in percent.
func share(n, of int64) float64 { return notation.Percentage(n, of) }

func extentText(d [3]int) string { return fmt.Sprintf("(%d,%d,%d)", d[0], d[1], d[2]) }

func (g launchGroup) String() string {
	s := fmt.Sprintf("%s, grid %s of blocks %s", finding.Name(g.Kernel), extentText(g.Grid), extentText(g.Block))
	if g.Count > 1 {
		s += fmt.Sprintf(", %d times", g.Count)
	}
	return s
}

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
				s.printf("%s", s.paint(classPaints[classes[i]], fitted(string(classGlyphs[i])+" "+k, -number)))
			}
			s.printf("\n")
		}
		s.printf("%s", fitted(b.Name, name))
		if b.Shares.Total() == 0 {
			s.printf("none\n")
			continue
		}
		s.printf("%s", s.bar(width, b.Shares))
		for _, n := range classShares(b.Shares) {
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

// structureJSON is the report of --json. Names and meanings do not change; counts are of warp
// instructions.
type structureJSON struct {
	Schema string `json:"schema"` // "gemu-structure/2"
	launchJSON
	Groups       []launchGroup         `json:"kernels"`      // numbers of launches, by kernel and extents
	Summary      structure.Summary     `json:"summary"`      // columns of table 1 of Kim et al. 2013
	Bars         map[string]sharesJSON `json:"bars"`         // counts of figure 2 of Kim et al. 2013, by bar: "load_addresses", "store_addresses", "load_data", "store_data", "register_reads", "register_writes", "instructions"
	ActiveLanes  []int64               `json:"active_lanes"` // numbers of warp instructions; the index is the number of active lanes
	Instructions []instructionJSON     `json:"instructions"` // executed instructions, in the order of the source
}

// sharesJSON has counts by class.
type sharesJSON struct {
	Uniform int64 `json:"uniform"` // uniform items of the bar's subject, such as addresses or register reads
	Affine  int64 `json:"affine"`  // affine items of the bar's subject
	Generic int64 `json:"generic"` // generic items of the bar's subject
}

// instructionJSON is an instruction of the listing. U, A and G are its numbers of uniform, affine
// and generic executions; Class is the most frequent, "-" without executions.
type instructionJSON struct {
	Kernel string  `json:"kernel,omitempty"` // kernel of the instruction, unless it is in a device function
	Func   string  `json:"func,omitempty"`   // device function of the instruction, if it is in one
	Line   int     `json:"line"`             // line of the instruction in the PTX
	Text   string  `json:"text"`             // text of this line
	Class  string  `json:"class"`            // most frequent class of the executions: "u", "a" or "g"; "" without results
	U      int64   `json:"u"`                // number of uniform executions
	A      int64   `json:"a"`                // number of affine executions
	G      int64   `json:"g"`                // number of generic executions
	Execs  int64   `json:"execs"`            // number of warp instructions
	Lanes  float64 `json:"lanes"`            // mean number of active lanes
	Source string  `json:"source,omitempty"` // "file:line" of the .loc in force

	Address   *sharesJSON `json:"address,omitempty"`   // of a load or store: executions by the class of the address
	Value     *sharesJSON `json:"value,omitempty"`     // of a load or store: executions by the class of the loaded or stored value
	FewLanes  int64       `json:"few_lanes"`           // executions by one or two lanes, whose values are always uniform or affine
	Divergent int64       `json:"divergent,omitempty"` // executions of a branch at which the lanes took different paths
}

func (r *structureReport) json() *structureJSON {
	output := &structureJSON{Schema: "gemu-structure/2", launchJSON: r.launchJSON, Groups: r.groups, Summary: r.structure.Summary(), Bars: map[string]sharesJSON{}, ActiveLanes: r.structure.Lanes, Instructions: []instructionJSON{}}
	for _, b := range r.bars {
		output.Bars[b.key] = sharesJSON(b.Shares)
	}
	for _, l := range r.listings {
		for i := range l.rows {
			row := &l.rows[i]
			if row.counts == nil {
				continue
			}
			in := instructionJSON{
				Line: row.line, Text: row.text, Class: mainClass(row.counts.Label).String(), U: row.counts.Label.Uniform, A: row.counts.Label.Affine, G: row.counts.Label.Generic,
				Execs: row.counts.Execs, Lanes: row.lanes(), Source: row.place, FewLanes: row.paths.FewLanes, Divergent: row.paths.Divergent,
			}
			if row.counts.Data.Total() > 0 {
				address, value := sharesJSON(row.counts.Addresses), sharesJSON(row.counts.Data)
				in.Address, in.Value = &address, &value
			}
			if l.fn.Entry {
				in.Kernel = l.fn.Name
			} else {
				in.Func = l.fn.Name
			}
			output.Instructions = append(output.Instructions, in)
		}
	}
	return output
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
