package cli

// This file prints the tables of "gemu compare" as text.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gemu/papers"
)

// A row has three lines: gemu's values, the paper's, the differences.
const (
	compareName, compareSource = 10, 6
	compareWide, compareNarrow = 6, 5 // columns with decimals and without
	compareCount               = 10   // columns of counts
	compareSign                = 10   // columns with signs
)

func (t *tablePrinter) columnWidth(c *papers.Column) int {
	width := compareNarrow
	switch {
	case t.Exact:
		width = compareCount
	case c.Digits > 0:
		width = compareWide
	}
	if c.Neutral != 0 {
		width = compareSign
	}
	return max(width, 1+len(c.Head[0]), 1+len(c.Head[1]))
}

// tablePrinter prints a table.
type tablePrinter struct {
	*papers.Table
	s *screen
}

// head prints the title, the headline interpretation and the heads of the columns.
func (t *tablePrinter) head(p *papers.Paper, first bool) {
	if first {
		t.s.printf("%s\n", p.Title)
	}
	t.s.heading(t.Name + ": " + t.Title)
	for _, line := range wrap(t.Interpretations[0].Name+": "+t.Interpretations[0].Doc, t.s.chart()) {
		t.s.printf("%s\n", line)
	}
	t.s.printf("\n")
	for line := range 2 {
		text := fitted("", t.nameWidth()+compareSource)
		for i := range t.Columns {
			text += fitted(t.Columns[i].Head[line], -t.columnWidth(&t.Columns[i]))
		}
		if text = strings.TrimRight(text, " "); text != "" {
			t.s.printf("%s\n", t.s.paint(bold, text))
		}
	}
}

// nameWidth returns the width of the names of rows, with the space after them.
func (t *tablePrinter) nameWidth() int {
	n := compareName
	for i := range t.Rows {
		n = max(n, len(t.Rows[i].Name)+1)
	}
	return n
}

// line prints a value for each column.
func (t *tablePrinter) line(style paint, name, source string, value func(c *papers.Column) string) {
	text := fitted(name, t.nameWidth()) + fitted(source, compareSource)
	for i := range t.Columns {
		text += fitted(value(&t.Columns[i]), -t.columnWidth(&t.Columns[i]))
	}
	t.s.printf("%s\n", t.s.paint(style, strings.TrimRight(text, " ")))
}

// valueTexts formats values by column, with a * after bounds, "-" for a missing value.
func valueTexts(values map[string]float64, bounds []string) func(c *papers.Column) string {
	return func(c *papers.Column) string {
		if v, ok := values[c.Name]; ok {
			return percentText(v, c.Digits) + papers.BoundMark(slices.Contains(bounds, c.Name))
		}
		return "-"
	}
}

// row prints a row: gemu's values, the paper's, the differences.
func (t *tablePrinter) row(r *papers.ComparisonRow) {
	t.line(plain, r.Name, "gemu", valueTexts(r.Ours, r.OurBounds))
	if len(r.Range) > 0 {
		for _, l := range rangeLines {
			t.line(plain, "", l.source, ranged(r, l.text))
		}
	}
	if len(r.Paper) == 0 {
		return
	}
	t.line(dim, "", sourceText(t.Table), valueTexts(r.Paper, r.PaperBounds))
	t.line(dim, "", "diff", differenceTexts(r))
}

// sourceText is the name of the paper's values.
func sourceText(t *papers.Table) string { return cmp.Or(t.Source, "paper") }

// equalTexts formats the number of equal rows by column, "-" for a column of gemu alone.
func equalTexts(t *papers.Table, rows []papers.ComparisonRow) func(c *papers.Column) string {
	return func(c *papers.Column) string {
		if equal, compared := t.EqualRows(rows, c.Name); compared > 0 {
			return fmt.Sprintf("%d/%d", equal, compared)
		}
		return "-"
	}
}

// rangeLines are the lines about the range of a row over the interpretations: source in the text, doc on the page.
var rangeLines = []struct {
	source, doc string
	text        func(c *papers.Column, r *papers.ComparisonRange) string
}{
	{"min", "minimum", func(c *papers.Column, r *papers.ComparisonRange) string { return percentText(r.Minimum, c.Digits) }},
	{"max", "maximum", func(c *papers.Column, r *papers.ComparisonRange) string { return percentText(r.Maximum, c.Digits) }},
	{"sign", "sign", func(_ *papers.Column, r *papers.ComparisonRange) string { return r.Sign }},
}

// rangesDoc explains these lines.
const rangesDoc = "min and max are over the interpretations, and so is sign: gain, loss or none; undecided if some interpretations gain and others lose."

// ranged formats a line of rangeLines by column, "-" for a column without a range.
func ranged(r *papers.ComparisonRow, text func(c *papers.Column, r *papers.ComparisonRange) string) func(c *papers.Column) string {
	return func(c *papers.Column) string {
		if v, ok := r.Range[c.Name]; ok {
			return text(c, &v)
		}
		return "-"
	}
}

// differenceTexts formats the differences of a row by column, "-" for a missing value.
func differenceTexts(r *papers.ComparisonRow) func(c *papers.Column) string {
	return func(c *papers.Column) string {
		if v, ok := r.Difference[c.Name]; ok {
			return signedText(v, c.Digits)
		}
		return "-"
	}
}

// signedText formats a difference with its sign; a difference that is rounded to nothing is 0.
func signedText(v float64, decimals int) string {
	if math.Abs(v) < math.Pow(10, -float64(decimals))/2 {
		return "0"
	}
	return fmt.Sprintf("%+.*f", decimals, v)
}

// correlationText formats a number from -1 to 1 in at most four characters.
func correlationText(v float64) string {
	return strings.Replace(fmt.Sprintf("%.2f", v), "0.", ".", 1)
}

// probabilityText formats a probability in at most four characters.
func probabilityText(p float64) string {
	switch {
	case p < 0.0005:
		return "<.1%"
	case p < 0.0995:
		return fmt.Sprintf("%.1f%%", 100*p)
	}
	return fmt.Sprintf("%.0f%%", 100*p)
}

// agreementLines are the lines about all rows of a column: name and source in the text, doc on the page.
var agreementLines = []struct {
	name, source, doc string
	style             paint
	text              func(c *papers.Column, a *papers.Agreement) string
}{
	{"order", "rho", "rho, rank correlation", bold, rhoText},
	{"", "p", "p, by chance", plain, func(_ *papers.Column, a *papers.Agreement) string { return optionalText(a.P, probabilityText) }},
	{"", "Holm", "p, corrected (Holm)", plain, func(_ *papers.Column, a *papers.Agreement) string { return optionalText(a.Holm, probabilityText) }},
	{"distance", "", "mean distance", plain, distanceText},
}

// statisticsDoc explains these lines. Its arguments are the number of tests and further results.
const statisticsDoc = "rho is Spearman's rank correlation of gemu's rows and the paper's rows. p is the probability of a rho at least as far from 0 by chance, with the same ties. Holm is p, corrected for %s.%s distance is the mean of the absolute differences."

func optionalText(v *float64, text func(v float64) string) string {
	if v == nil {
		return "-"
	}
	return text(*v)
}

func rhoText(_ *papers.Column, a *papers.Agreement) string {
	return optionalText(a.Rho, correlationText)
}

func distanceText(c *papers.Column, a *papers.Agreement) string {
	return optionalText(a.Distance, func(v float64) string { return percentText(v, max(1, c.Digits)) })
}

// agreed formats a line of agreementLines by column, "" for columns that are not ranked.
func agreed(list map[string]*papers.Agreement, text func(c *papers.Column, a *papers.Agreement) string) func(c *papers.Column) string {
	return func(c *papers.Column) string {
		if a := list[c.Name]; a != nil {
			return text(c, a)
		}
		return ""
	}
}

// agreement prints everything below the rows: their agreement with the paper, other interpretations, notes.
func (t *tablePrinter) agreement(r *papers.ComparisonTable) {
	head := r.Interpretations[0].Agreement
	width := t.s.chart()
	if t.Exact {
		t.s.printf("\n")
		t.line(bold, "equal", "rows", equalTexts(t.Table, r.Interpretations[0].Rows))
	}
	if len(head) == 0 { // without ranked columns, only the values of other interpretations follow
		for i := range r.Interpretations[1:] {
			o := &r.Interpretations[i+1]
			if i == 0 {
				t.s.printf("\nother interpretations\n")
			}
			for _, line := range wrap(o.Name+": "+o.Doc, width) {
				t.s.printf("%s\n", line)
			}
			for k := range o.Rows {
				t.row(&o.Rows[k])
			}
			if t.Exact {
				t.line(bold, "equal", "rows", equalTexts(t.Table, o.Rows))
			}
		}
		t.s.printf("\n")
		t.notes(width)
		return
	}
	t.s.printf("\n")
	compared := false // false: the paper has no numbers of the rows
	for _, a := range head {
		compared = compared || a.Rows > 0
	}
	if compared {
		for _, l := range agreementLines {
			t.line(l.style, l.name, l.source, agreed(head, l.text))
		}
	}
	for i := range r.Interpretations[1:] {
		o := &r.Interpretations[i+1]
		if i == 0 {
			t.s.printf("\nother interpretations\n")
		}
		t.line(plain, o.Name, "", func(*papers.Column) string { return "" })
		if compared {
			t.line(plain, "", "rho", agreed(o.Agreement, rhoText))
			t.line(dim, "", "dist", agreed(o.Agreement, distanceText))
		}
		exceeded := slices.ContainsFunc(o.Rows, func(r papers.ComparisonRow) bool { return r.Workload == "" })
		for k := range o.Rows {
			switch row := &o.Rows[k]; {
			case row.Workload == "":
				t.line(plain, "", row.Name, valueTexts(row.Ours, row.OurBounds))
			case t.PrintRows:
				t.line(plain, row.Name, "gemu", valueTexts(row.Ours, row.OurBounds))
			case !compared && !exceeded:
				t.row(row)
			}
		}
	}
	t.s.printf("\n")
	for i := range r.Interpretations[1:] {
		for _, line := range wrap(r.Interpretations[i+1].Name+": "+r.Interpretations[i+1].Doc, width) {
			t.s.printf("%s\n", line)
		}
	}
	tests, found := 0, 0
	for i := range t.Columns {
		a := head[t.Columns[i].Name]
		if a == nil || t.Columns[i].WholeColumn != "" || a.Holm == nil {
			continue
		}
		tests++
		if *a.Holm < papers.ChanceLevel {
			found++
		}
	}
	if tests > 0 {
		for _, line := range wrap(fmt.Sprintf(statisticsDoc, counted(tests, "column"), fmt.Sprintf(" In %d of them the order agrees beyond chance (%.0f %%).", found, 100*papers.ChanceLevel)), width) {
			t.s.printf("%s\n", line)
		}
	}
	t.notes(width)
}

// notes prints the absent rows with their reasons, and the table's note.
func (t *tablePrinter) notes(width int) {
	if slices.ContainsFunc(t.Columns, func(c papers.Column) bool { return c.Neutral != 0 }) {
		for _, line := range wrap(rangesDoc, width) {
			t.s.printf("%s\n", line)
		}
	}
	for i := range t.Rows {
		if row := &t.Rows[i]; row.Absent != "" {
			for _, line := range wrap("Not here: "+row.Name+", "+row.Absent, width) {
				t.s.printf("%s\n", line)
			}
		}
	}
	for _, line := range wrap(t.Note, width) {
		t.s.printf("%s\n", line)
	}
}
