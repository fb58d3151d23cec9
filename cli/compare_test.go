package cli

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/papers"
)

// madeUpTable has values missing on either side, a second interpretation of a column, a column without ranks, an absent
// row, and a row about the remaining rows.
func madeUpTable() *papers.Table {
	row := func(name string, a, b float64) papers.Row {
		return papers.Row{Name: name, Workload: name, Values: map[string]float64{"a": a, "b": b}}
	}
	table := &papers.Table{
		Name: "t", Columns: []papers.Column{
			{Name: "a", Head: [2]string{"", "a"}}, {Name: "a2", Head: [2]string{"", "a2"}, WholeColumn: "a"}, {Name: "b", Head: [2]string{"", "b"}, NotRanked: true}, {Name: "own", Head: [2]string{"", "own"}, Neutral: 10},
		},
		Rows:            []papers.Row{row("x", 1, 10), row("y", 2, 20), {Name: "z", Absent: "no reason"}, row("w", 3, 30), {Name: "mean", Summary: true, Values: map[string]float64{"a": -50}}},
		Interpretations: []papers.Interpretation{{Name: "head"}, {Name: "other"}},
		Measure: func(_ *papers.Meter, row *papers.Row, r *papers.Interpretation) (map[string]float64, error) {
			v := row.Values["a"]
			measured := map[string]float64{"a": v + 1, "a2": -v, "b": 2, "own": 7}
			if r.Name == "other" {
				delete(measured, "a")
				measured["own"] = 12
			}
			return measured, nil
		},
		Bound: "b",
	}
	table.Rows[0].Bounds = map[string]bool{"a": true}
	return table
}

// TestComparisonOutput prints a made-up table as text, page, pictures and CSV files.
func TestComparisonOutput(t *testing.T) {
	table := madeUpTable()
	m := papers.NewMeter(t.Context(), 2, 0, []*papers.Table{table})
	defer m.Close()
	var marked bytes.Buffer
	got, err := table.Start(m).Compare((&tablePrinter{table, newScreen(&marked)}).row)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^x +gemu +2\* +-1 +2 +7\n +min +- +- +- +7\n +max +- +- +- +12\n +sign +- +- +- +undecided\n +paper +1\* +1\* +10 +-\n`).Match(marked.Bytes()) {
		t.Errorf("stars: %s", &marked)
	}
	var names []string
	all := &papers.Comparison{Paper: "p", Tables: []papers.ComparisonTable{*got}}
	for _, f := range comparisonFiles(all, []*papers.Table{table}) {
		names = append(names, f.name)
		if strings.HasSuffix(f.name, ".svg") {
			readPicture(t, string(f.data)).checkTexts(t)
		}
	}
	if diff := cmp.Diff([]string{"t.csv", "t-agreement.csv", "t.svg", "t-other.svg"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	page, err := comparisonPage(all, []*papers.Table{table})
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\s*<[^>]*>\s*`).ReplaceAllString(regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(string(page), ""), " ")
	for _, want := range []string{"x gemu 2* -1 2 7", "minimum - - - 7", "maximum - - - 12", "sign - - - undecided", "and so is sign", "paper 1* 1* 10 -", "y gemu 3 -2 2 7", "paper 2 2 20 -", "difference +1 -4 -18 -", "rho, rank correlation 1.00 -1.00", "mean distance 1.0 4.0 -", "Not here: z, no reason"} {
		if !strings.Contains(strings.Join(strings.Fields(html.UnescapeString(text)), " "), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var b bytes.Buffer
	(&tablePrinter{table, newScreen(&b)}).agreement(got)
	lines := regexp.MustCompile(`(?m)^(?:distance| +dist) +[-0-9].*`).FindAllString(b.String(), -1)
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	if diff := cmp.Diff([]string{"distance 1.0 4.0 -", "dist - 4.0 -"}, lines); diff != "" {
		t.Errorf("distances (-want +got):\n%s", diff)
	}
}

// TestPictureFiles: every interpretation of a table has a file name of its own, and a name that is valid in a list of the
// command line.
func TestPictureFiles(t *testing.T) {
	for _, p := range papers.All() {
		for _, table := range p.Tables {
			pictures := map[string]bool{}
			for _, r := range table.Interpretations {
				if name := fileName(r.Name); name == "" || pictures[name] || strings.Contains(r.Name, ",") {
					t.Errorf("%s %s: interpretation %q has no file of its own, or no name for a list", p.Name, table.Name, r.Name)
				} else {
					pictures[name] = true
				}
			}
		}
	}
}
