package cli

// This file shows the tables of "gemu compare" as a page, as pictures, and each as CSV.

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// label is what the column is called where there is room for a line.
func (c *paperColumn) label() string {
	if first, broken := strings.CutSuffix(c.head[0], "-"); broken {
		return first + c.head[1]
	}
	return strings.TrimSpace(c.head[0] + " " + strings.TrimSpace(c.head[1]))
}

// picture draws a table under a reading: a panel for each column that has bars of its own, and for each
// stack of others. Ours is above the paper's.
func (t *paperTable) picture(title string, r *comparisonInterpretation) *picture {
	p := &picture{title: title}
	for i := range t.columns {
		c := &t.columns[i]
		if c.stack != "" && !slices.Contains(p.series, c.series) {
			p.series = append(p.series, c.series)
		}
	}
	for i := range t.columns {
		c := &t.columns[i]
		columns := t.columns[i : i+1]
		n := panel{title: c.label(), notes: []string{c.doc}}
		if c.stack != "" {
			if i > 0 && t.columns[i-1].stack == c.stack {
				continue // it is a part of one that is there
			}
			n.title, n.notes = c.stack, nil
			for columns = t.columns[i:]; columns[len(columns)-1].stack != c.stack; {
				columns = columns[:len(columns)-1]
			}
			if !slices.ContainsFunc(columns, func(o paperColumn) bool { return o.doc != c.doc }) {
				n.notes = []string{c.doc}
			}
		} else if a := r.Agreement[c.name]; a != nil && a.Rho != nil {
			note := fmt.Sprintf("rank correlation %s, p %s", correlationText(*a.Rho), probabilityText(*a.P))
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

// columnBar is the bar of some columns, which have a value each, or a part of them has; it has no parts if
// none has.
func columnBar(columns []paperColumn, values map[string]float64, series []string) (b bar) {
	sum, missing := 0.0, []string{}
	for i := range columns {
		c := &columns[i]
		v, ok := values[c.name]
		if !ok || !finite(v) {
			missing = append(missing, c.series)
			continue
		}
		sum += v
		b.parts = append(b.parts, barPart{slices.Index(series, c.series), v, percentText(v, c.digits)})
	}
	b.text = "-"
	if len(b.parts) > 0 {
		b.text = percentText(math.Round(sum*1e9)/1e9, columns[0].digits)
	}
	switch { // parts that are missing make it no height to compare
	case len(b.parts) == len(columns):
	case len(b.parts) == 1:
		b.text = series[b.parts[0].series] + " " + b.text
	case len(b.parts) > 1:
		b.text += " without " + strings.Join(missing, ", ")
	}
	return b
}

// files are the tables: TABLE.csv of all readings, TABLE-agreement.csv where rows are ranked, TABLE.svg of the
// headline, and TABLE-READING.svg of the others.
func (c *comparison) files(tables []*paperTable) (list []namedFile) {
	for i, t := range tables {
		table := &c.Tables[i]
		list = append(list, namedFile{t.name + ".csv", table.csv()})
		if ranks := table.agreementCSV(); ranks != nil {
			list = append(list, namedFile{t.name + "-agreement.csv", ranks})
		}
		for k := range table.Interpretations {
			r := &table.Interpretations[k]
			name := t.name
			if k > 0 {
				name += "-" + fileName(r.Name)
			}
			list = append(list, namedFile{name + ".svg", []byte(t.picture(c.pictureTitle(table, r), r).svg())})
		}
	}
	return list
}

// pictureTitle is what stands above the picture of a reading, which has to be known without the page.
func (c *comparison) pictureTitle(t *comparisonTable, r *comparisonInterpretation) string {
	return fmt.Sprintf("%s, %s: %s (%s)", c.Paper, t.Name, t.Title, r.Name)
}

// fileName makes a name of a file of a text: what is no letter, digit or point is a dash.
func fileName(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.')
	}), "-")
}

// csvValue writes a value of a table, nothing if there is none.
func csvValue(values map[string]float64, name string) string {
	if v, ok := values[name]; ok {
		return strconv.FormatFloat(v, 'g', 8, 64)
	}
	return ""
}

// csv is the table with a line for each row of each reading: by column ours, and where the paper has values
// the paper's and the difference; and a * behind where one has bounds.
func (t *comparisonTable) csv() []byte {
	compared := func(name string) bool {
		return slices.ContainsFunc(t.Interpretations, func(r comparisonInterpretation) bool {
			return slices.ContainsFunc(r.Rows, func(row comparisonRow) bool { _, ok := row.Paper[name]; return ok })
		})
	}
	bounded := func(name string) bool {
		return slices.ContainsFunc(t.Interpretations, func(r comparisonInterpretation) bool {
			return slices.ContainsFunc(r.Rows, func(row comparisonRow) bool {
				return slices.Contains(row.OurBounds, name) || slices.Contains(row.PaperBounds, name)
			})
		})
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	head := []string{"reading", "row", "workload"}
	for _, c := range t.Columns {
		head = append(head, c.Name)
		if compared(c.Name) {
			head = append(head, c.Name+"_paper", c.Name+"_difference")
		}
		if bounded(c.Name) {
			head = append(head, c.Name+"_our_bound", c.Name+"_paper_bound")
		}
	}
	w.Write(append(head, "absent"))
	for i := range t.Interpretations {
		r := &t.Interpretations[i]
		for k := range r.Rows {
			row := &r.Rows[k]
			record := []string{r.Name, row.Name, row.Workload}
			for _, c := range t.Columns {
				record = append(record, csvValue(row.Ours, c.Name))
				if compared(c.Name) {
					record = append(record, csvValue(row.Paper, c.Name), csvValue(row.Difference, c.Name))
				}
				if bounded(c.Name) {
					record = append(record, star(slices.Contains(row.OurBounds, c.Name)), star(slices.Contains(row.PaperBounds, c.Name)))
				}
			}
			w.Write(append(record, ""))
		}
	}
	for _, name := range t.absentNames() {
		record := make([]string, len(head)+1)
		record[1], record[len(head)] = name, t.Absent[name]
		w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// absentNames are the rows that are not there.
func (t *comparisonTable) absentNames() (names []string) {
	for name := range t.Absent {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// agreementCSV is a line for each column of each reading that is ranked; nil if none is.
func (t *comparisonTable) agreementCSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"reading", "column", "paper_column", "rows", "rank_correlation", "p", "p_corrected", "mean_distance"})
	value := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 8, 64)
	}
	found := false
	for i := range t.Interpretations {
		r := &t.Interpretations[i]
		for _, c := range t.Columns {
			if a := r.Agreement[c.Name]; a != nil && a.Rows > 0 {
				found = true
				w.Write([]string{r.Name, c.Name, c.Paper, strconv.Itoa(a.Rows), value(a.Rho), value(a.P), value(a.Holm), value(a.Distance)})
			}
		}
	}
	w.Flush()
	if !found {
		return nil
	}
	return b.Bytes()
}

//go:embed compare.html
var compareHTML string

var comparePage = reportPage("compare", compareHTML, nil)

// compareSection is a table or a figure on the page.
type compareSection struct {
	*comparisonTable
	Interpretations []shownInterpretation
	Absences        []string
}

// shownInterpretation is a reading on the page.
type shownInterpretation struct {
	Name, Doc string
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

// page makes the page.
func (c *comparison) page(tables []*paperTable) ([]byte, error) {
	data := struct {
		*comparison
		Parts      []compareSection
		Statistics string
	}{comparison: c, Statistics: fmt.Sprintf(statisticsDoc, "the columns of the table", "")}
	for i, t := range tables {
		table := &c.Tables[i]
		section := compareSection{comparisonTable: table}
		var heads []pageHead
		for k := range t.columns {
			heads = append(heads, pageHead{t.columns[k].label(), t.columns[k].doc})
		}
		for k := range table.Interpretations {
			r := &table.Interpretations[k]
			shown := shownInterpretation{Name: r.Name, Doc: r.Doc, Plot: template.HTML(t.picture(c.pictureTitle(table, r), r).svg()), Heads: heads}
			for n := range r.Rows {
				shown.Lines = append(shown.Lines, t.pageLines(&r.Rows[n])...)
			}
			shown.Agreement = t.pageAgreement(r)
			section.Interpretations = append(section.Interpretations, shown)
		}
		for _, name := range table.absentNames() {
			section.Absences = append(section.Absences, name+", "+table.Absent[name])
		}
		data.Parts = append(data.Parts, section)
	}
	var b bytes.Buffer
	err := comparePage.Execute(&b, data)
	return b.Bytes(), err
}

func (t *paperTable) cells(text func(c *paperColumn) string) (list []string) {
	for i := range t.columns {
		list = append(list, text(&t.columns[i]))
	}
	return list
}

// pageLines are the lines of a row, as printRow has them.
func (t *paperTable) pageLines(r *comparisonRow) []compareLine {
	lines := []compareLine{{r.Name, "gemu", t.cells(t.texts(r.Ours, r.OurBounds)), false}}
	if len(r.Paper) > 0 {
		lines[0].More = true
		lines = append(lines, compareLine{"", "paper", t.cells(t.texts(r.Paper, r.PaperBounds)), true}, compareLine{"", "difference", t.cells(t.differences(r)), false})
	}
	return lines
}

// pageAgreement are the lines about all rows; none if nothing is ranked.
func (t *paperTable) pageAgreement(r *comparisonInterpretation) (lines []compareLine) {
	if !slices.ContainsFunc(t.columns, func(c paperColumn) bool { a := r.Agreement[c.name]; return a != nil && a.Rows > 0 }) {
		return nil
	}
	for _, l := range agreementLines {
		lines = append(lines, compareLine{Row: l.doc, Cells: t.cells(agreed(r.Agreement, l.text))})
	}
	return lines
}
