package papers

import (
	"slices"
	"testing"

	"gemu/kernels"
)

// TestKimTables: interpretations of tables name existing machines and columns; rows omitted for their time are
// workloads of the library.
func TestKimTables(t *testing.T) {
	tables := Named("kim2013").Tables
	used := map[string]bool{}
	for name, readings := range gpInterpretations {
		i := slices.IndexFunc(tables, func(t *Table) bool { return t.Name == name })
		if i < 0 {
			t.Errorf("there is no table %s", name)
			continue
		}
		for reading, columns := range readings {
			if !slices.ContainsFunc(tables[i].Interpretations, func(r Interpretation) bool { return r.Name == reading }) {
				t.Errorf("%s has no reading %s", name, reading)
			}
			for column, pair := range columns {
				used[pair] = true
				if !slices.ContainsFunc(gpPairs, func(p gpPair) bool { return p.name == pair }) {
					t.Errorf("%s, %s: there is no machine %s", name, reading, pair)
				}
				if several := column == "issue" || column == "busy" || column == "uses"; !several && !slices.ContainsFunc(tables[i].Columns, func(c Column) bool { return c.Name == column }) {
					t.Errorf("%s, %s: there is no column %s", name, reading, column)
				}
			}
		}
	}
	for _, p := range gpPairs {
		if !used[p.name] {
			t.Errorf("nobody has machine %s", p.name)
		}
	}
	for _, name := range gpMany {
		if kernels.Lookup(name) == nil {
			t.Errorf("there is no workload %s", name)
		}
	}
	for _, table := range tables {
		timed := gpInterpretations[table.Name]
		for _, r := range table.Interpretations {
			_, ok := kimMachines[r.Name]
			if len(timed) > 0 && !ok && len(timed[r.Name]) == 0 {
				t.Errorf("%s, %s: there is no machine", table.Name, r.Name)
			}
			if table.Name == "figure9" && !ok && !slices.ContainsFunc(fgInterpretations, func(f fgInterpretation) bool { return f.Name == r.Name }) {
				t.Errorf("figure 9, %s: there is no machine", r.Name)
			}
		}
	}
	for _, name := range []string{gpHeadline, fgHeadline} {
		if _, ok := kimMachines[name]; !ok {
			t.Errorf("headline %s: there is no machine", name)
		}
	}
	if fgInterpretations[0].Name != fgHeadline {
		t.Errorf("%s is not the first that has time", fgHeadline)
	}
}
