package cli

// This file shows the tables of "gemu compare" as a page, as pictures, and as CSV files.

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gemu/papers"
)

// comparisonPicture draws a table under an interpretation: a panel for each column with bars of its own, and for each
// stack of columns. gemu's bars are above the paper's.
func comparisonPicture(t *papers.Table, title string, r *papers.ComparisonInterpretation) *picture {
	p := &picture{title: title}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Stack != "" && !slices.Contains(p.series, c.Series) {
			p.series = append(p.series, c.Series)
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		columns := t.Columns[i : i+1]
		n := panel{title: c.Label(), notes: []string{c.Doc}}
		if c.Stack != "" {
			if i > 0 && t.Columns[i-1].Stack == c.Stack {
				continue // its stack is drawn already
			}
			n.title, n.notes = c.Stack, nil
			for columns = t.Columns[i:]; columns[len(columns)-1].Stack != c.Stack; {
				columns = columns[:len(columns)-1]
			}
			if !slices.ContainsFunc(columns, func(o papers.Column) bool { return o.Doc != c.Doc }) {
				n.notes = []string{c.Doc}
			}
		} else if a := r.Agreement[c.Name]; a != nil && a.Rho != nil {
			note := "rank correlation " + correlationText(*a.Rho)
			if a.P != nil {
				note += fmt.Sprintf(", p %s", probabilityText(*a.P))
			}
			if a.Holm != nil {
				note += fmt.Sprintf(", corrected %s", probabilityText(*a.Holm))
			}
			n.notes = append(n.notes, note)
		}
		for k := range r.Rows {
			row := &r.Rows[k]
			g := barGroup{name: row.Name, bars: []bar{columnBar(columns, row.Ours, p.series)}}
			if paperBar := columnBar(columns, row.Paper, p.series); len(paperBar.parts) > 0 {
				paperBar.paper, p.paper = true, true
				g.bars = append(g.bars, paperBar)
			}
			n.groups = append(n.groups, g)
		}
		p.panels = append(p.panels, n)
	}
	return p
}

// columnBar returns the bar of a single column, or of the columns of a stack. It has no parts if no column has a
// value.
func columnBar(columns []papers.Column, values map[string]float64, series []string) (b bar) {
	sum, missing := 0.0, []string{}
	for i := range columns {
		c := &columns[i]
		v, ok := values[c.Name]
		if !ok || !finite(v) {
			missing = append(missing, c.Series)
			continue
		}
		sum += v
		b.parts = append(b.parts, barPart{slices.Index(series, c.Series), v, percentText(v, c.Digits)})
	}
	b.text = "-"
	if len(b.parts) > 0 {
		b.text = percentText(math.Round(sum*1e9)/1e9, columns[0].Digits)
	}
	switch { // a bar with missing parts cannot be compared by its length
	case len(b.parts) == len(columns):
	case len(b.parts) == 1:
		b.text = series[b.parts[0].series] + " " + b.text
	case len(b.parts) > 1:
		b.text += " without " + strings.Join(missing, ", ")
	}
	return b
}

// comparisonFiles returns the tables as files: TABLE.csv with all interpretations, TABLE-agreement.csv if rows are
// ranked, TABLE.svg of the headline, and TABLE-READING.svg of each further interpretation.
func comparisonFiles(c *papers.Comparison, tables []*papers.Table) (list []namedFile) {
	for i, t := range tables {
		table := &c.Tables[i]
		list = append(list, namedFile{t.Name + ".csv", table.CSV()})
		if ranks := table.AgreementCSV(); ranks != nil {
			list = append(list, namedFile{t.Name + "-agreement.csv", ranks})
		}
		for k := range table.Interpretations {
			r := &table.Interpretations[k]
			name := t.Name
			if k > 0 {
				name += "-" + fileName(r.Name)
			}
			list = append(list, namedFile{name + ".svg", []byte(comparisonPicture(t, comparisonPictureTitle(c, table, r), r).svg())})
		}
	}
	return list
}

// comparisonPictureTitle returns a title that identifies the picture outside the page.
func comparisonPictureTitle(c *papers.Comparison, t *papers.ComparisonTable, r *papers.ComparisonInterpretation) string {
	return fmt.Sprintf("%s, %s: %s (%s)", c.Paper, t.Name, t.Title, r.Name)
}

// fileName makes a file name of a text: every character except letters, digits and points becomes a dash.
func fileName(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.')
	}), "-")
}

//go:embed compare.html
var compareHTML string

var comparePage = reportPage("compare", compareHTML, nil)

// compareSection is a table or a figure on the page.
type compareSection struct {
	*papers.ComparisonTable
	Interpretations []shownInterpretation
	Absences        []string
}

// shownInterpretation is an interpretation on the page.
type shownInterpretation struct {
	Name, Doc string
	Label     string // name of the table and of the interpretation
	Plot      template.HTML
	Heads     []pageHead // of the columns
	Lines     []compareLine
	Agreement []compareLine
}

// compareLine is a line of a table: the cells by column.
type compareLine struct {
	Row, Source string
	Cells       []string
	More        bool // another line of the row follows
}

// comparisonPage returns the tables as a page.
func comparisonPage(c *papers.Comparison, tables []*papers.Table) ([]byte, error) {
	data := struct {
		*papers.Comparison
		Parts      []compareSection
		Statistics string
	}{Comparison: c, Statistics: fmt.Sprintf(statisticsDoc, "the columns of the table", "") + " " + rangesDoc}
	for i, t := range tables {
		table := &c.Tables[i]
		section := compareSection{ComparisonTable: table}
		var heads []pageHead
		for k := range t.Columns {
			heads = append(heads, pageHead{Name: t.Columns[k].Label(), Doc: t.Columns[k].Doc})
		}
		for k := range table.Interpretations {
			r := &table.Interpretations[k]
			shown := shownInterpretation{Name: r.Name, Doc: r.Doc, Label: t.Name + ", " + r.Name, Plot: template.HTML(comparisonPicture(t, comparisonPictureTitle(c, table, r), r).svg()), Heads: heads}
			for n := range r.Rows {
				shown.Lines = append(shown.Lines, pageLines(t, &r.Rows[n])...)
			}
			shown.Agreement = pageAgreement(t, r)
			section.Interpretations = append(section.Interpretations, shown)
		}
		for _, name := range table.AbsentNames() {
			section.Absences = append(section.Absences, name+", "+table.Absent[name])
		}
		data.Parts = append(data.Parts, section)
	}
	var b bytes.Buffer
	err := comparePage.Execute(&b, data)
	return b.Bytes(), err
}

func cellTexts(t *papers.Table, text func(c *papers.Column) string) (list []string) {
	for i := range t.Columns {
		list = append(list, text(&t.Columns[i]))
	}
	return list
}

// pageLines returns the lines of a row, as tablePrinter.row prints them.
func pageLines(t *papers.Table, r *papers.ComparisonRow) []compareLine {
	lines := []compareLine{{r.Name, "gemu", cellTexts(t, valueTexts(r.Ours, r.OurBounds)), true}}
	if len(r.Range) > 0 {
		for _, l := range rangeLines {
			lines = append(lines, compareLine{"", l.doc, cellTexts(t, ranged(r, l.text)), true})
		}
	}
	if len(r.Paper) > 0 {
		lines = append(lines, compareLine{"", sourceText(t), cellTexts(t, valueTexts(r.Paper, r.PaperBounds)), true}, compareLine{"", "difference", cellTexts(t, differenceTexts(r)), true})
	}
	lines[len(lines)-1].More = false
	return lines
}

// pageAgreement returns the lines about all rows; none if no column is ranked and the counts cannot be equal.
func pageAgreement(t *papers.Table, r *papers.ComparisonInterpretation) (lines []compareLine) {
	if t.Exact {
		lines = append(lines, compareLine{Row: "rows that are equal, of the rows with both values", Cells: cellTexts(t, equalTexts(t, r.Rows))})
	}
	if !slices.ContainsFunc(t.Columns, func(c papers.Column) bool { a := r.Agreement[c.Name]; return a != nil && a.Rows > 0 }) {
		return lines
	}
	for _, l := range agreementLines {
		lines = append(lines, compareLine{Row: l.doc, Cells: cellTexts(t, agreed(r.Agreement, l.text))})
	}
	return lines
}
