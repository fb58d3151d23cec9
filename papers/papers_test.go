package papers

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemu/kernels"
)

// TestTablesAreComplete: rows are workloads that name the paper, or have a reason for their absence; columns belong to
// the paper, and have a description.
func TestTablesAreComplete(t *testing.T) {
	for _, p := range All() {
		study := p.Study
		if study == "" {
			study = p.Name
		}
		if kernels.Studies[study] == "" && !p.Experiment {
			t.Errorf("%s: no study of the library", p.Name)
		}
		for _, table := range p.Tables {
			if len(table.Interpretations) == 0 {
				t.Fatalf("%s %s: no reading", p.Name, table.Name)
			}
			names, stacks := map[string]bool{}, map[string]bool{}
			for i := range table.Columns {
				c := &table.Columns[i]
				if (c.Stack == "") != (c.Series == "") || c.Stack != "" && stacks[c.Stack] && table.Columns[i-1].Stack != c.Stack || c.Label() == "" {
					t.Errorf("%s %s: column %s is part %q of %q, which is not whole", p.Name, table.Name, c.Name, c.Series, c.Stack)
				}
				stacks[c.Stack] = true
				if c.Doc == "" || names[c.Name] {
					t.Errorf("%s %s: column %s, %q, is there twice or says nothing", p.Name, table.Name, c.Name, c.Doc)
				}
				names[c.Name] = true
				if c.WholeColumn != "" && !slices.ContainsFunc(table.Columns, func(o Column) bool { return o.Name == c.WholeColumn && o.WholeColumn == "" }) {
					t.Errorf("%s %s: column %s is a reading of %s, which is none", p.Name, table.Name, c.Name, c.WholeColumn)
				}
			}
			for i := range table.Rows {
				row := &table.Rows[i]
				w := kernels.Lookup(row.Workload)
				if (w == nil) != (row.Absent != "" || row.Summary) {
					t.Errorf("%s %s: row %s has workload %q, absent %q", p.Name, table.Name, row.Name, row.Workload, row.Absent)
				}
				if w != nil && !p.Experiment && !slices.Contains(w.Papers, study) {
					t.Errorf("%s %s: %s is no workload of that paper", p.Name, table.Name, row.Workload)
				}
			}
		}
	}
}

// TestCompareTable compares a made-up table: values missing on either side, a second interpretation of a column, a
// column without ranks, an absent row, and a row about the remaining rows, which is not ranked.
func TestCompareTable(t *testing.T) {
	row := func(name string, a, b float64) Row {
		return Row{Name: name, Workload: name, Values: map[string]float64{"a": a, "b": b}}
	}
	table := &Table{
		Name: "t", Columns: []Column{
			{Name: "a", Head: [2]string{"", "a"}}, {Name: "a2", Head: [2]string{"", "a2"}, WholeColumn: "a"}, {Name: "b", Head: [2]string{"", "b"}, NotRanked: true}, {Name: "own", Head: [2]string{"", "own"}},
		},
		Rows:            []Row{row("x", 1, 10), row("y", 2, 20), {Name: "z", Absent: "no reason"}, row("w", 3, 30), {Name: "mean", Summary: true, Values: map[string]float64{"a": -50}}},
		Interpretations: []Interpretation{{"head", ""}, {"other", ""}},
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			v := row.Values["a"]
			measured := map[string]float64{"a": v + 1, "a2": -v, "b": 2, "own": 7}
			if r.Name == "other" {
				delete(measured, "a")
			}
			return measured, nil
		},
		Bound: "b",
	}
	table.Rows[0].Bounds = map[string]bool{"a": true}
	var shown []string
	m := NewMeter(t.Context(), 2, 0, []*Table{table})
	defer m.Close()
	got, err := table.Start(m).Compare(func(r *ComparisonRow) { shown = append(shown, r.Name) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x", "y", "w", "mean"}, shown); diff != "" {
		t.Errorf("rows of the headline (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"z": "no reason"}, got.Absent); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	want := ComparisonRow{Name: "y", Workload: "y", Ours: map[string]float64{"a": 3, "a2": -2, "b": 2, "own": 7}, Paper: map[string]float64{"a": 2, "a2": 2, "b": 20}, Difference: map[string]float64{"a": 1, "a2": -4, "b": -18}}
	if diff := cmp.Diff(want, got.Interpretations[0].Rows[1]); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	one, minus, four := 1.0, -1.0, 4.0
	first := got.Interpretations[0].Rows[0] // its a is 2, like b
	if diff := cmp.Diff([][]string{{"a"}, {"a", "a2"}}, [][]string{first.OurBounds, first.PaperBounds}); diff != "" {
		t.Errorf("what is marked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]*Agreement{
		"a": {Rows: 3, Rho: &one, Distance: &one}, "a2": {Rows: 3, Rho: &minus, Distance: &four}, "own": {}, // too few rows for a probability
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
	if diff := cmp.Diff(wantCSV, string(got.CSV())); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	wantCSV = "reading,column,paper_column,rows,rank_correlation,p,p_corrected,mean_distance\nhead,a,a,3,1,,,1\nhead,a2,a,3,-1,,,4\nother,a2,a,3,-1,,,4\n"
	if diff := cmp.Diff(wantCSV, string(got.AgreementCSV())); diff != "" {
		t.Errorf("CSV of agreement (-want +got):\n%s", diff)
	}
}

// TestRowsAreMeasuredOnce: a workload for rows of several tables is measured once, and at most as many run at a time
// as there are host threads; the error is the error of the first failed row in order, and stops the remaining
// measurements.
func TestRowsAreMeasuredOnce(t *testing.T) {
	var running, most, runs atomic.Int32
	broken := errors.New("broken")
	table := &Table{
		Name: "t", Columns: []Column{{Name: "a"}}, Interpretations: []Interpretation{{"head", ""}, {"other", ""}},
		Measure: func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error) {
			v, err := measureOnce(m, row.Workload, func() (float64, error) {
				runs.Add(1)
				for n, old := running.Add(1), most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				defer running.Add(-1)
				time.Sleep(time.Millisecond)
				if row.Workload == "bad" {
					return 0, broken
				}
				return float64(len(row.Workload)), nil
			})
			return map[string]float64{"a": v}, err
		},
	}
	for i := range 8 {
		table.Rows = append(table.Rows, Row{Name: "row", Workload: strings.Repeat("w", i)})
	}
	run := func() (*ComparisonTable, error) {
		tables := []*Table{table, table}
		m := NewMeter(t.Context(), 3, 0, tables)
		defer m.Close()
		table.Start(m)
		return table.Start(m).Compare(nil)
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
	table.Rows[5].Workload = "bad"
	if _, err := run(); err != broken {
		t.Errorf("a row that fails: %v", err)
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d still run", n)
	}
}

// TestLongTablesAreOmitted: tables that take long are omitted by default; the declared tables are unchanged.
func TestLongTablesAreOmitted(t *testing.T) {
	tables := []*Table{{Name: "a"}, {Name: "b", OnlyIfNamed: true}, {Name: "c"}}
	var got []string
	for _, table := range DefaultTables(tables) {
		got = append(got, table.Name)
	}
	if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tables[1] == nil || tables[1].Name != "b" {
		t.Errorf("the tables have changed: %v", tables)
	}
}

// TestRangesOfRows: the range of a row is over the interpretations that have a value, at least two; its sign is by the
// printed digits. The column plain has no neutral value.
func TestRangesOfRows(t *testing.T) {
	values := map[string]map[string]float64{ // by interpretation, of the only row
		"head": {"a": 1.1, "b": 1.1, "c": 0.996, "d": 1.2, "plain": 1},
		"x":    {"a": 1.3, "b": 0.9, "c": 0.9, "plain": 2},
		"y":    {"a": 1.01, "b": 1.2, "plain": 3},
	}
	table := &Table{
		Name: "t", Rows: []Row{{Name: "row", Workload: "row"}},
		Columns:         []Column{{Name: "a", Digits: 2, Neutral: 1}, {Name: "b", Digits: 2, Neutral: 1}, {Name: "c", Digits: 2, Neutral: 1}, {Name: "d", Digits: 2, Neutral: 1}, {Name: "plain"}},
		Interpretations: []Interpretation{{"head", ""}, {"x", ""}, {"y", ""}},
		Measure:         func(_ *Meter, _ *Row, r *Interpretation) (map[string]float64, error) { return values[r.Name], nil },
	}
	m := NewMeter(t.Context(), 2, 0, []*Table{table})
	defer m.Close()
	got, err := table.Start(m).Compare(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]ComparisonRange{
		"a": {1.01, 1.3, "y", "x", "gain"},
		"b": {0.9, 1.2, "x", "y", "undecided"},
		"c": {0.9, 0.996, "x", "head", "no gain"}, // 0.996 is printed as 1.00
	}
	if diff := cmp.Diff(want, got.Interpretations[0].Rows[0].Range); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := got.Interpretations[1].Rows[0].Range; r != nil {
		t.Errorf("another interpretation has a range: %v", r)
	}
	for _, c := range []struct {
		column   Column
		min, max float64
		want     string
	}{
		{Column{Digits: 2, Neutral: 1}, 0.994, 0.9949, "loss"},
		{Column{Digits: 2, Neutral: 1}, 0.996, 1.004, "none"},
		{Column{Digits: 2, Neutral: 1}, 0.996, 1.006, "no loss"},
		{Column{Digits: 2, Neutral: 1}, 0.994, 1.006, "undecided"},
		{Column{Digits: 2, Neutral: 1, Cost: true}, 1, 1.05, "no gain"},
		{Column{Digits: 2, Neutral: 1, Cost: true}, 0.9, 0.95, "gain"},
		{Column{Digits: 2, Neutral: 1, Cost: true}, 0.9, 1.05, "undecided"},
		{Column{Digits: 1, Neutral: 100}, 98, 99.9, "loss"},
		{Column{Digits: 1, Neutral: 100}, 98, 100.1, "undecided"},
	} {
		if got := c.column.sign(c.min, c.max); got != c.want {
			t.Errorf("%v to %v around %v: %s, want %s", c.min, c.max, c.column.Neutral, got, c.want)
		}
	}
}
