package cli

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemu/kernels"
)

// TestPapers checks that tables are whole: rows are workloads that name the paper, or say why
// there is none; columns are of the paper, and say what they count.
func TestPapers(t *testing.T) {
	for _, p := range papers {
		study := p.study
		if study == "" {
			study = p.name
		}
		if kernels.Studies[study] == "" {
			t.Errorf("%s: no study of the library", p.name)
		}
		for _, table := range p.tables {
			if len(table.interpretations) == 0 {
				t.Fatalf("%s %s: no reading", p.name, table.name)
			}
			pictures := map[string]bool{}
			for _, r := range table.interpretations {
				if name := fileName(r.name); name == "" || pictures[name] || strings.Contains(r.name, ",") {
					t.Errorf("%s %s: reading %q has no file of its own, or no name for a list", p.name, table.name, r.name)
				} else {
					pictures[name] = true
				}
			}
			for _, name := range table.longInterpretations {
				if !slices.ContainsFunc(table.interpretations[1:], func(r paperInterpretation) bool { return r.name == name }) {
					t.Errorf("%s %s: reading %s takes long, and is none or the headline", p.name, table.name, name)
				}
			}
			names, stacks := map[string]bool{}, map[string]bool{}
			for i := range table.columns {
				c := &table.columns[i]
				if (c.stack == "") != (c.series == "") || c.stack != "" && stacks[c.stack] && table.columns[i-1].stack != c.stack || c.label() == "" {
					t.Errorf("%s %s: column %s is part %q of %q, which is not whole", p.name, table.name, c.name, c.series, c.stack)
				}
				stacks[c.stack] = true
				if c.doc == "" || names[c.name] {
					t.Errorf("%s %s: column %s, %q, is there twice or says nothing", p.name, table.name, c.name, c.doc)
				}
				names[c.name] = true
				if c.wholeColumn != "" && !slices.ContainsFunc(table.columns, func(o paperColumn) bool { return o.name == c.wholeColumn && o.wholeColumn == "" }) {
					t.Errorf("%s %s: column %s is a reading of %s, which is none", p.name, table.name, c.name, c.wholeColumn)
				}
			}
			for i := range table.rows {
				row := &table.rows[i]
				w := kernels.Lookup(row.workload)
				if (w == nil) != (row.absent != "" || row.all) {
					t.Errorf("%s %s: row %s has workload %q, absent %q", p.name, table.name, row.name, row.workload, row.absent)
				}
				if w != nil && !slices.Contains(w.Papers, study) {
					t.Errorf("%s %s: %s is no workload of that paper", p.name, table.name, row.workload)
				}
			}
		}
	}
}

// TestCompare puts a made-up table side by side: values that one side lacks, another reading of a
// column, a column that is not ranked, a row that is not there, one that is about the others and so not ranked.
func TestCompare(t *testing.T) {
	row := func(name string, a, b float64) paperRow {
		return paperRow{name: name, workload: name, values: map[string]float64{"a": a, "b": b}}
	}
	table := &paperTable{
		name: "t", columns: []paperColumn{
			{name: "a", head: [2]string{"", "a"}}, {name: "a2", head: [2]string{"", "a2"}, wholeColumn: "a"}, {name: "b", head: [2]string{"", "b"}, notRanked: true}, {name: "own", head: [2]string{"", "own"}},
		},
		rows:            []paperRow{row("x", 1, 10), row("y", 2, 20), {name: "z", absent: "no reason"}, row("w", 3, 30), {name: "mean", all: true, values: map[string]float64{"a": -50}}},
		interpretations: []paperInterpretation{{"head", ""}, {"other", ""}},
		measure: func(m *meter, row *paperRow, r *paperInterpretation) (map[string]float64, error) {
			v := row.values["a"]
			measured := map[string]float64{"a": v + 1, "a2": -v, "b": 2, "own": 7}
			if r.name == "other" {
				delete(measured, "a")
			}
			return measured, nil
		},
		bound: "b",
	}
	table.rows[0].bound = map[string]bool{"a": true}
	var shown []string
	m := newMeter(&app{ctx: t.Context()}, 2, []*paperTable{table})
	defer m.close()
	got, err := table.compare(table.startMeasuring(m), func(r *comparisonRow) { shown = append(shown, r.Name) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x", "y", "w", "mean"}, shown); diff != "" {
		t.Errorf("rows of the headline (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"z": "no reason"}, got.Absent); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	want := comparisonRow{Name: "y", Workload: "y", Ours: map[string]float64{"a": 3, "a2": -2, "b": 2, "own": 7}, Paper: map[string]float64{"a": 2, "a2": 2, "b": 20}, Difference: map[string]float64{"a": 1, "a2": -4, "b": -18}}
	if diff := cmp.Diff(want, got.Interpretations[0].Rows[1]); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	one, minus, four, p := 1.0, -1.0, 4.0, 2./6 // 2 of 6 orders are that or its reverse
	first := got.Interpretations[0].Rows[0]     // its a is 2, as b is
	if diff := cmp.Diff([][]string{{"a"}, {"a", "a2"}}, [][]string{first.OurBounds, first.PaperBounds}); diff != "" {
		t.Errorf("what is marked (-want +got):\n%s", diff)
	}
	var marked bytes.Buffer
	table.printRow(newScreen(&marked), &first)
	if !regexp.MustCompile(`(?m)^x +gemu +2\* +-1 +2 +7\n +paper +1\* +1\* +10 +-\n`).Match(marked.Bytes()) {
		t.Errorf("stars: %s", &marked)
	}
	if diff := cmp.Diff(map[string]*agreement{
		"a": {Rows: 3, Rho: &one, P: &p, Holm: &p, Distance: &one}, "a2": {Rows: 3, Rho: &minus, P: &p, Distance: &four}, "own": {},
	}, got.Interpretations[0].Agreement); diff != "" {
		t.Errorf("agreement (-want +got):\n%s", diff)
	}
	if a := got.Interpretations[1].Agreement["a"]; a.Rows != 0 || a.Rho != nil || a.Distance != nil {
		t.Errorf("a column without values: %+v", a)
	}
	wantCSV := "reading,row,workload,a,a_paper,a_difference,a_our_bound,a_paper_bound,a2,a2_paper,a2_difference,a2_our_bound,a2_paper_bound,b,b_paper,b_difference,own,absent\n" +
		"head,x,x,2,1,1,*,*,-1,1,-2,,*,2,10,-8,7,\nhead,y,y,3,2,1,,,-2,2,-4,,,2,20,-18,7,\nhead,w,w,4,3,1,,,-3,3,-6,,,2,30,-28,7,\nhead,mean,,-49,-50,1,,,50,-50,100,,,2,,,7,\n" +
		"other,x,x,,1,,,*,-1,1,-2,,*,2,10,-8,7,\nother,y,y,,2,,,,-2,2,-4,,,2,20,-18,7,\nother,w,w,,3,,,,-3,3,-6,,,2,30,-28,7,\nother,mean,,,-50,,,,50,-50,100,,,2,,,7,\n" +
		",z,,,,,,,,,,,,,,,,no reason\n"
	if diff := cmp.Diff(wantCSV, string(got.csv())); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	wantCSV = "reading,column,paper_column,rows,rank_correlation,p,p_corrected,mean_distance\nhead,a,a,3,1,0.33333333,0.33333333,1\nhead,a2,a,3,-1,0.33333333,,4\nother,a2,a,3,-1,0.33333333,,4\n"
	if diff := cmp.Diff(wantCSV, string(got.agreementCSV())); diff != "" {
		t.Errorf("CSV of agreement (-want +got):\n%s", diff)
	}
	var names []string
	all := &comparison{Paper: "p", Tables: []comparisonTable{*got}}
	for _, f := range all.files([]*paperTable{table}) {
		names = append(names, f.name)
		if strings.HasSuffix(f.name, ".svg") {
			readPicture(t, string(f.data)).inside(t)
		}
	}
	if diff := cmp.Diff([]string{"t.csv", "t-agreement.csv", "t.svg", "t-other.svg"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	page, err := all.page([]*paperTable{table})
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\s*<[^>]*>\s*`).ReplaceAllString(regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(string(page), ""), " ")
	for _, want := range []string{"x gemu 2* -1 2 7", "paper 1* 1* 10 -", "y gemu 3 -2 2 7", "paper 2 2 20 -", "difference +1 -4 -18 -", "rho, rank correlation 1.00 -1.00", "distance, in the mean 1.0 4.0 -", "Not here: z, no reason"} {
		if !strings.Contains(strings.Join(strings.Fields(html.UnescapeString(text)), " "), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var b bytes.Buffer
	table.printAgreement(newScreen(&b), got)
	lines := regexp.MustCompile(`(?m)^(?:distance| +dist) +[-0-9].*`).FindAllString(b.String(), -1)
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	if diff := cmp.Diff([]string{"distance 1.0 4.0 -", "dist - 4.0 -"}, lines); diff != "" {
		t.Errorf("distances (-want +got):\n%s", diff)
	}
}

// TestOnce: what rows of several tables need is measured once, never more at a time than there are host
// threads; a failure is that of the first row in order that fails, and ends what is not done yet.
func TestOnce(t *testing.T) {
	var running, most, runs atomic.Int32
	broken := errors.New("broken")
	table := &paperTable{
		name: "t", columns: []paperColumn{{name: "a"}}, interpretations: []paperInterpretation{{"head", ""}, {"other", ""}},
		measure: func(m *meter, row *paperRow, r *paperInterpretation) (map[string]float64, error) {
			v, err := measureOnce(m, row.workload, func() (float64, error) {
				runs.Add(1)
				for n, old := running.Add(1), most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				defer running.Add(-1)
				time.Sleep(time.Millisecond)
				if row.workload == "bad" {
					return 0, broken
				}
				return float64(len(row.workload)), nil
			})
			return map[string]float64{"a": v}, err
		},
	}
	for i := range 8 {
		table.rows = append(table.rows, paperRow{name: "row", workload: strings.Repeat("w", i)})
	}
	run := func() (*comparisonTable, error) {
		tables := []*paperTable{table, table}
		m := newMeter(&app{ctx: t.Context()}, 3, tables)
		defer m.close()
		table.startMeasuring(m)
		return table.compare(table.startMeasuring(m), func(*comparisonRow) {})
	}
	got, err := run()
	if err != nil {
		t.Fatal(err)
	}
	if n := runs.Load(); n != 8 {
		t.Errorf("8 workloads were measured %d times", n)
	}
	if n := most.Load(); n < 2 || n > 3 {
		t.Errorf("%d at a time, want at most 3, and some side by side", n)
	}
	for _, r := range got.Interpretations {
		for i, row := range r.Rows {
			if row.Ours["a"] != float64(i) {
				t.Errorf("%s: row %d has %v", r.Name, i, row.Ours["a"])
			}
		}
	}
	table.rows[5].workload = "bad"
	if _, err := run(); err != broken {
		t.Errorf("a row that fails: %v", err)
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d still run", n)
	}
}

// TestUnasked: what takes long is left out of tables, and theirs stay as they are.
func TestUnasked(t *testing.T) {
	readings := []paperInterpretation{{"head", ""}, {"slow", ""}, {"other", ""}}
	tables := []*paperTable{{name: "a", interpretations: readings, longInterpretations: []string{"slow"}}, {name: "b", interpretations: readings, onlyIfNamed: true}, {name: "c", interpretations: readings}}
	var got []string
	for _, table := range defaultTables(tables) {
		got = append(got, table.name)
		for _, r := range table.interpretations {
			got = append(got, r.name)
		}
	}
	if diff := cmp.Diff([]string{"a", "head", "other", "c", "head", "slow", "other"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(tables[0].interpretations) != 3 || readings[1].name != "slow" {
		t.Errorf("the tables have changed: %v", readings)
	}
}
