package papers

import (
	"math"
	"sync"
)

// Comparison has a paper's values and gemu's values of its tables, as JSON.
type Comparison struct {
	Schema string            `json:"schema"` // "gemu-compare/3"
	Paper  string            `json:"paper"`  // name of the paper on the command line
	Title  string            `json:"title"`  // authors and year of the paper
	Tables []ComparisonTable `json:"tables"` // tables and figures, in the paper's order
}

// ComparisonTable is a table under each of its interpretations.
type ComparisonTable struct {
	Name            string                     `json:"name"`            // name of the table on the command line
	Title           string                     `json:"title"`           // subject of the table
	Note            string                     `json:"note"`            // further facts
	Columns         []ComparisonColumn         `json:"columns"`         // columns, in the order of the text output
	Absent          map[string]string          `json:"absent"`          // rows of the paper missing in gemu, with the reasons
	Interpretations []ComparisonInterpretation `json:"interpretations"` // interpretations of the paper, the headline first
}

// ComparisonColumn describes a column.
type ComparisonColumn struct {
	Name      string `json:"name"`                 // name of gemu's column
	Paper     string `json:"paper"`                // name of the paper's column
	Doc       string `json:"doc"`                  // the counted events, and the number of which they are a share
	NotRanked bool   `json:"not_ranked,omitempty"` // the order of the rows is not compared
}

// ComparisonInterpretation has the results under an interpretation.
type ComparisonInterpretation struct {
	Name      string                `json:"name"`      // name of the interpretation
	Doc       string                `json:"doc"`       // definition of the interpretation
	Rows      []ComparisonRow       `json:"rows"`      // in the paper's order
	Agreement map[string]*Agreement `json:"agreement"` // agreement with the paper for each ranked column
}

// ComparisonRow is a row of a table.
type ComparisonRow struct {
	Name       string             `json:"name"`       // name of the row in the paper
	Workload   string             `json:"workload"`   // name of the workload; "" for a mean of rows
	Ours       map[string]float64 `json:"ours"`       // gemu's values, by column
	Paper      map[string]float64 `json:"paper"`      // the paper's values, by column
	Difference map[string]float64 `json:"difference"` // gemu's value minus the paper's, for columns with both

	Range map[string]ComparisonRange `json:"range,omitempty"` // range of gemu's values over the interpretations, by column; only of the first interpretation

	OurBounds   []string `json:"our_bounds,omitempty"`   // columns in which gemu's value is the lowest possible, * in the text
	PaperBounds []string `json:"paper_bounds,omitempty"` // columns in which the paper's value is the lowest possible
}

// ComparisonRange is the range of a value over the interpretations of a table that have this value, at least two.
type ComparisonRange struct {
	Minimum float64 `json:"minimum"`         // lowest value
	Maximum float64 `json:"maximum"`         // highest value
	Lowest  string  `json:"minimum_reading"` // first interpretation with the lowest value
	Highest string  `json:"maximum_reading"` // first interpretation with the highest value
	Sign    string  `json:"sign"`            // sign of the effect, by the printed digits: gain, loss, none, no loss, no gain or undecided
}

// sign returns the sign of an effect whose values are between minimum and maximum. Values count as printed.
func (c *Column) sign(minimum, maximum float64) string {
	rounded := func(v float64) float64 { scale := math.Pow(10, float64(c.Digits)); return math.Round(v*scale) / scale }
	low, high := rounded(minimum), rounded(maximum)
	if c.Cost {
		low, high = 2*c.Neutral-high, 2*c.Neutral-low
	}
	switch {
	case low < c.Neutral && high > c.Neutral:
		return "undecided"
	case low > c.Neutral:
		return "gain"
	case high < c.Neutral:
		return "loss"
	case high > c.Neutral:
		return "no loss"
	case low < c.Neutral:
		return "no gain"
	}
	return "none"
}

// rangesOf returns the ranges of a row over the interpretations, by column. It waits for the row's values.
func (started *Measurement) rangesOf(row int) (map[string]ComparisonRange, error) {
	t := started.table
	var list map[string]ComparisonRange
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Neutral == 0 {
			continue
		}
		var r ComparisonRange
		n := 0
		for k := range t.Interpretations {
			measured, err := started.rows[k][row]()
			if err != nil {
				return nil, err
			}
			v, ok := measured[c.Name]
			if !ok {
				continue
			}
			name := t.Interpretations[k].Name
			if n == 0 || v < r.Minimum {
				r.Minimum, r.Lowest = v, name
			}
			if n == 0 || v > r.Maximum {
				r.Maximum, r.Highest = v, name
			}
			n++
		}
		if n > 1 {
			if list == nil {
				list = map[string]ComparisonRange{}
			}
			r.Sign = c.sign(r.Minimum, r.Maximum)
			list[c.Name] = r
		}
	}
	return list, nil
}

// Measurement is a table whose rows are being measured.
type Measurement struct {
	table *Table
	rows  [][]pendingRow // by interpretation and row; nil for an absent row
}

// pendingRow waits for the values of a row and returns them, by column.
type pendingRow func() (map[string]float64, error)

// Start starts the measurement of the table's rows. The table must belong to the meter.
func (t *Table) Start(m *Meter) *Measurement {
	list := make([][]pendingRow, len(t.Interpretations))
	for i := range list {
		list[i] = make([]pendingRow, len(t.Rows))
		for j := range t.Rows {
			if t.Rows[j].Absent != "" {
				continue
			}
			values := sync.OnceValues(func() (map[string]float64, error) { return t.Measure(m, &t.Rows[j], &t.Interpretations[i]) })
			m.rows.Go(func() { values() })
			list[i][j] = values
		}
	}
	return &Measurement{t, list}
}

// Compare waits for the measurement and returns its results together with the paper's values. It calls show, if not nil, with
// each row of the headline interpretation as soon as the row's values are known. If rows fail, Compare returns the error of
// the first of them, in the table's order.
func (started *Measurement) Compare(show func(r *ComparisonRow)) (*ComparisonTable, error) {
	t := started.table
	output := &ComparisonTable{Name: t.Name, Title: t.Title, Note: t.Note, Absent: map[string]string{}}
	for i := range t.Columns {
		c := &t.Columns[i]
		output.Columns = append(output.Columns, ComparisonColumn{c.Name, c.Key(), c.Doc, c.NotRanked})
	}
	for i := range t.Interpretations {
		r := &t.Interpretations[i]
		result := ComparisonInterpretation{Name: r.Name, Doc: r.Doc}
		for j := range t.Rows {
			row := &t.Rows[j]
			if row.Absent != "" {
				output.Absent[row.Name] = row.Absent
				continue
			}
			measured, err := started.rows[i][j]()
			if err != nil {
				return nil, err
			}
			line := t.compareRow(row, measured)
			if i == 0 {
				if line.Range, err = started.rangesOf(j); err != nil {
					return nil, err
				}
			}
			result.Rows = append(result.Rows, line)
			if i == 0 && show != nil {
				show(&line)
			}
		}
		result.Agreement = t.agree(result.Rows)
		output.Interpretations = append(output.Interpretations, result)
	}
	return output, nil
}

// EqualRows returns the number of rows whose counts in a column are equal to the paper's, and the number of rows with both. A
// mean over launches is equal if it rounds to the same whole number.
func (t *Table) EqualRows(rows []ComparisonRow, column string) (equal, compared int) {
	for i := range rows {
		if d, ok := rows[i].Difference[column]; ok {
			compared++
			if math.Abs(d) < 0.5 {
				equal++
			}
		}
	}
	return equal, compared
}

// compareRow returns a row with the measured values and the paper's.
func (t *Table) compareRow(row *Row, measured map[string]float64) ComparisonRow {
	line := ComparisonRow{Name: row.Name, Workload: row.Workload, Ours: map[string]float64{}, Paper: map[string]float64{}, Difference: map[string]float64{}}
	for i := range t.Columns {
		c := &t.Columns[i]
		v, ok := measured[c.Name]
		if ok {
			line.Ours[c.Name] = v
			if minimum, ok := measured[t.Bound]; ok && v == minimum && !c.NotRanked {
				line.OurBounds = append(line.OurBounds, c.Name)
			}
		}
		if p, found := row.Values[c.Key()]; found {
			line.Paper[c.Name] = p
			if row.Bounds[c.Key()] {
				line.PaperBounds = append(line.PaperBounds, c.Name)
			}
			if ok {
				line.Difference[c.Name] = v - p
			}
		}
	}
	return line
}

// agree returns the agreement of each ranked column with the paper's. Probabilities are corrected for the number of the
// paper's columns. A column that is another interpretation of one of them (WholeColumn) does not count as a test, and its
// probability is not corrected.
func (t *Table) agree(rows []ComparisonRow) map[string]*Agreement {
	list := map[string]*Agreement{}
	var tests []*Agreement
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.NotRanked {
			continue
		}
		var measured, printed []float64
		for _, r := range rows {
			if r.Workload == "" {
				continue
			}
			v, ok := r.Ours[c.Name]
			p, found := r.Paper[c.Name]
			if ok && found {
				measured, printed = append(measured, v), append(printed, p)
			}
		}
		a := newAgreement(measured, printed)
		list[c.Name] = a
		if c.WholeColumn == "" && a.P != nil {
			tests = append(tests, a)
		}
	}
	holm(tests)
	return list
}
