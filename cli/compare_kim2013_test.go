package cli

import (
	"slices"
	"testing"

	"gemu/kernels"
)

// TestTimes: readings of tables are of machines that there are, for columns that there are; what is left out for its
// length is of the library.
func TestTimes(t *testing.T) {
	tables := papers[slices.IndexFunc(papers, func(p *paper) bool { return p.name == "kim2013" })].tables
	used := map[string]bool{}
	for name, readings := range gpInterpretations {
		i := slices.IndexFunc(tables, func(t *paperTable) bool { return t.name == name })
		if i < 0 {
			t.Errorf("there is no table %s", name)
			continue
		}
		for reading, columns := range readings {
			if !slices.ContainsFunc(tables[i].interpretations, func(r paperInterpretation) bool { return r.name == reading }) {
				t.Errorf("%s has no reading %s", name, reading)
			}
			for column, pair := range columns {
				used[pair] = true
				if !slices.ContainsFunc(gpPairs, func(p gpPair) bool { return p.name == pair }) {
					t.Errorf("%s, %s: there is no machine %s", name, reading, pair)
				}
				if several := column == "issue" || column == "busy" || column == "uses"; !several && !slices.ContainsFunc(tables[i].columns, func(c paperColumn) bool { return c.name == column }) {
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
		timed := gpInterpretations[table.name]
		for _, r := range table.interpretations {
			_, ok := kimMachines[r.name]
			if len(timed) > 0 && !ok && len(timed[r.name]) == 0 {
				t.Errorf("%s, %s: there is no machine", table.name, r.name)
			}
			if table.name == "figure9" && !ok && !slices.ContainsFunc(fgInterpretations, func(f fgInterpretation) bool { return f.name == r.name }) {
				t.Errorf("figure 9, %s: there is no machine", r.name)
			}
		}
	}
	for _, name := range []string{gpHeadline, fgHeadline} {
		if _, ok := kimMachines[name]; !ok {
			t.Errorf("headline %s: there is no machine", name)
		}
	}
	if fgInterpretations[0].name != fgHeadline {
		t.Errorf("%s is not the first that has time", fgHeadline)
	}
}
