package main

// This file is "gemu compare": the benchmarks of a paper, measured, beside what
// the paper has measured.

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gemu/affinetrack"
	"gemu/interp"
)

type compareCmd struct {
	Paper   string `arg:"" help:"Paper: ${papers}."`
	Workers int    `help:"Host threads (default: all); results do not depend on it."`
	JSON    string `name:"json" help:"Write JSON to FILE (- for standard output, instead of the table)." placeholder:"FILE"`
}

// paper is a published table of measurements, whose rows are workloads.
type paper struct {
	name    string
	title   string
	policy  string // that models its machine
	csv     []byte // the first column is the workload
	columns []paperColumn
	// significant is the rank correlation that unrelated columns of so many rows
	// exceed in one of forty cases.
	significant float64
}

// paperColumn is a column that gemu can give.
type paperColumn struct {
	key    string    // its name in the table
	head   [2]string // for people, in two lines
	digits int       // decimals
	// input tells that the column is about the size of the input, which is not the
	// paper's, so that it is not compared.
	input bool
	ours  func(s *interp.Structure, t interp.Summary) float64
}

//go:embed papers/kim2013_table1.csv
var kim2013Table1 []byte

var papers = []*paper{
	{
		name: "kim2013", title: "Kim et al., ISCA 2013, table 1", policy: "kim", csv: kim2013Table1,
		columns: []paperColumn{
			// GPGPU-Sim counts instructions of threads.
			{"dyn_inst_M", [2]string{"dyn", "inst"}, 1, true, func(s *interp.Structure, t interp.Summary) float64 { return float64(s.Total().Lanes) / 1e6 }},
			{"act_thds", [2]string{"act", "thds"}, 1, false, func(s *interp.Structure, t interp.Summary) float64 { return t.ActiveLanes }},
			{"ll", [2]string{"", "ll"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.LongLatency }},
			{"ctrl", [2]string{"", "ctrl"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Control }},
			{"mem", [2]string{"", "mem"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Memory }},
			{"div", [2]string{"", "div"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Diverged }},
			{"aff_inst", [2]string{"aff", "inst"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Affine }},
			{"supp_aff", [2]string{"supp", "aff"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Suppressed }},
			{"exp_inst", [2]string{"exp", "inst"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Expansion }},
			{"aff_rds", [2]string{"aff", "rds"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.ReadsSaved }},
			{"aff_wrs", [2]string{"aff", "wrs"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.WritesSaved }},
			{"aff_bra", [2]string{"aff", "bra"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Branches }},
			{"aff_mem", [2]string{"aff", "mem"}, 0, false, func(s *interp.Structure, t interp.Summary) float64 { return t.Loads }},
		},
		significant: 0.538, // 14 rows: Zar, Significance testing of the Spearman rank correlation coefficient (1972)
	},
}

func paperNames() string {
	var names []string
	for _, p := range papers {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// comparison is a paper's table and ours.
type comparison struct {
	Schema string              `json:"schema"`           // "gemu-compare/1"
	Paper  string              `json:"paper"`            // as the command line names it
	Title  string              `json:"title"`            // of the paper
	Policy string              `json:"policy"`           // under which we measure
	Rows   []comparisonRow     `json:"benchmarks"`       // in the paper's order
	Ranks  map[string]*float64 `json:"rank_correlation"` // Spearman's, by column; null where it is not defined
}

// comparisonRow is a benchmark: values by the paper's names of the columns.
type comparisonRow struct {
	Name  string             `json:"name"`  // of the workload
	Ours  map[string]float64 `json:"ours"`  // what we measure, by column
	Paper map[string]float64 `json:"paper"` // what the paper prints
}

func (c *compareCmd) Run(a *app) error {
	i := slices.IndexFunc(papers, func(p *paper) bool { return p.name == c.Paper })
	if i < 0 {
		return fmt.Errorf("no paper %s: there are %s", c.Paper, paperNames())
	}
	if c.Workers < 0 {
		return fmt.Errorf("--workers wants a number from 0 on")
	}
	if err := checkOutput(c.JSON); err != nil {
		return fmt.Errorf("--json %s: %w", c.JSON, err)
	}
	p := papers[i]
	s := newScreen(a.stdout)
	quiet := c.JSON == "-"
	if !quiet {
		p.printHead(s)
	}
	out := &comparison{Schema: "gemu-compare/1", Paper: p.name, Title: p.title, Policy: p.policy, Ranks: map[string]*float64{}}
	for _, row := range p.rows() {
		ours, err := p.measure(a, row.Name, c.Workers)
		if err != nil {
			return err
		}
		row.Ours = ours
		out.Rows = append(out.Rows, row)
		if !quiet {
			p.printRow(s, row)
		}
	}
	for _, col := range p.columns {
		out.Ranks[col.key] = nil
		if rho := out.rank(col.key); !col.input && !math.IsNaN(rho) {
			out.Ranks[col.key] = &rho
		}
	}
	if c.JSON != "" {
		if err := writeJSON(a, c.JSON, out); err != nil {
			return err
		}
	}
	if !quiet {
		p.printRanks(s, out)
	}
	return nil
}

// rows are the paper's, in its order.
func (p *paper) rows() []comparisonRow {
	r := csv.NewReader(bytes.NewReader(p.csv))
	r.Comment = '#'
	table, err := r.ReadAll()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var rows []comparisonRow
	for _, record := range table[1:] {
		row := comparisonRow{Name: record[0], Paper: map[string]float64{}}
		for _, col := range p.columns {
			v, err := strconv.ParseFloat(record[slices.Index(table[0], col.key)], 64)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			row.Paper[col.key] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// measure runs a benchmark.
func (p *paper) measure(a *app, name string, workers int) (map[string]float64, error) {
	c := launchFlags{File: "@" + name, launchOptions: launchOptions{Warp: 32, Workers: workers}}
	j, err := c.open(a, a.stderr)
	if err != nil {
		return nil, err
	}
	if err := j.structure(a, affinetrack.PolicyByName(p.policy), nil); err != nil {
		return nil, err
	}
	s := j.total().Structure
	t := s.Summary()
	ours := map[string]float64{}
	for _, col := range p.columns {
		ours[col.key] = col.ours(s, t)
	}
	return ours, nil
}

// The table has two lines a benchmark, ours and the paper's.
const (
	compareName, compareWho    = 8, 5
	compareWide, compareNarrow = 6, 5 // columns with decimals and without
)

func (col *paperColumn) width() int {
	if col.digits > 0 {
		return compareWide
	}
	return compareNarrow
}

func (p *paper) printHead(s *screen) {
	s.printf("%s, and gemu with policy %s\n\n", p.title, p.policy)
	for line := range 2 {
		text := fitted("", compareName+compareWho)
		for i := range p.columns {
			text += fitted(p.columns[i].head[line], -p.columns[i].width())
		}
		s.printf("%s\n", s.paint(bold, text))
	}
}

func (p *paper) printRow(s *screen, r comparisonRow) {
	print := func(style paint, name, who string, values map[string]float64) {
		text := fitted(name, compareName) + fitted(who, compareWho)
		for i := range p.columns {
			col := &p.columns[i]
			text += fitted(percentText(values[col.key], col.digits), -col.width())
		}
		s.printf("%s\n", s.paint(style, text))
	}
	print(plain, r.Name, "gemu", r.Ours)
	print(dim, "", "paper", r.Paper)
}

func (p *paper) printRanks(s *screen, c *comparison) {
	text := fitted("agreement", compareName+compareWho)
	agree, n := 0, 0
	for i := range p.columns {
		col := &p.columns[i]
		rho := c.Ranks[col.key]
		if rho == nil {
			text += fitted("", col.width())
			continue
		}
		n++
		if *rho > p.significant {
			agree++
		}
		text += fitted(strings.Replace(fmt.Sprintf("%.2f", *rho), "0.", ".", 1), -col.width())
	}
	s.printf("\n%s\n", s.paint(bold, text))
	s.printf(`
Agreement is Spearman's rank correlation of the two lines: 1 if they put the
benchmarks in the same order, -1 if in the opposite one. In %d of %d columns it is
above %.2f, which chance alone exceeds in one of forty cases.
`, agree, n, p.significant)
}

// rank is the rank correlation of our column and the paper's.
func (c *comparison) rank(key string) float64 {
	var ours, theirs []float64
	for _, r := range c.Rows {
		ours, theirs = append(ours, r.Ours[key]), append(theirs, r.Paper[key])
	}
	return spearman(ours, theirs)
}

// spearman is Spearman's rank correlation coefficient, the correlation of the
// ranks; NaN if all values of a side are the same.
func spearman(x, y []float64) float64 {
	rx, ry := ranks(x), ranks(y)
	mean := float64(len(x)+1) / 2
	var xy, xx, yy float64
	for i := range rx {
		dx, dy := rx[i]-mean, ry[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks are the ranks of values from 1; equal ones share the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return x[order[i]] < x[order[j]] })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			r[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return r
}
