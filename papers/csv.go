package papers

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
)

// CSV returns a line for each value: its table, interpretation, row and column, the paper's value and ours. A field without a
// value is empty.
func (c *Comparison) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"paper", "table", "reading", "row", "workload", "column", "paper_value", "our_value", "difference", "absent", "paper_bound", "our_bound"})
	for i := range c.Tables {
		t := &c.Tables[i]
		for _, r := range t.Interpretations {
			for _, row := range r.Rows {
				for _, col := range t.Columns {
					w.Write([]string{c.Paper, t.Name, r.Name, row.Name, row.Workload, col.Name, csvValue(row.Paper, col.Name), csvValue(row.Ours, col.Name), csvValue(row.Difference, col.Name), "", BoundMark(slices.Contains(row.PaperBounds, col.Name)), BoundMark(slices.Contains(row.OurBounds, col.Name))})
				}
			}
		}
		for _, name := range t.AbsentNames() {
			w.Write([]string{c.Paper, t.Name, "", name, "", "", "", "", "", t.Absent[name], "", ""})
		}
	}
	w.Flush()
	return b.Bytes()
}

// csvValue formats a value of a table; "" if it is missing.
func csvValue(values map[string]float64, name string) string {
	if v, ok := values[name]; ok {
		return strconv.FormatFloat(v, 'g', 8, 64)
	}
	return ""
}

// CSV returns the table with a line for each row of each interpretation. Each column has our value, then the paper's and the
// difference if the paper has values, then the marks of bounds if either side has them.
func (t *ComparisonTable) CSV() []byte {
	compared := func(name string) bool {
		return slices.ContainsFunc(t.Interpretations, func(r ComparisonInterpretation) bool {
			return slices.ContainsFunc(r.Rows, func(row ComparisonRow) bool { _, ok := row.Paper[name]; return ok })
		})
	}
	bounded := func(name string) bool {
		return slices.ContainsFunc(t.Interpretations, func(r ComparisonInterpretation) bool {
			return slices.ContainsFunc(r.Rows, func(row ComparisonRow) bool {
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
					record = append(record, BoundMark(slices.Contains(row.OurBounds, c.Name)), BoundMark(slices.Contains(row.PaperBounds, c.Name)))
				}
			}
			w.Write(append(record, ""))
		}
	}
	for _, name := range t.AbsentNames() {
		record := make([]string, len(head)+1)
		record[1], record[len(head)] = name, t.Absent[name]
		w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// AbsentNames returns the names of the rows that gemu does not have, sorted.
func (t *ComparisonTable) AbsentNames() (names []string) {
	for name := range t.Absent {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AgreementCSV returns a line for each ranked column of each interpretation, or nil if none is ranked.
func (t *ComparisonTable) AgreementCSV() []byte {
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

// BoundMark returns the mark of a value that is the lowest possible value: "*", or "".
func BoundMark(bound bool) string {
	if bound {
		return "*"
	}
	return ""
}
