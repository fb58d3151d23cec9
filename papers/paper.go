package papers

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gemu/internal/notation"
)

// Paper is a study whose measurements gemu repeats, or an experiment.
type Paper struct {
	Name   string   // on the command line
	Study  string   // key of the paper in kernels.Studies; "" if that is Name
	Title  string   // authors and year
	Tables []*Table // in the order of the paper
	// Experiment means that the tables are an experiment of gemu, with a page of definitions in docs, and without values of a paper.
	Experiment bool
}

// Table is a table or a figure of a paper, as far as gemu can measure it.
type Table struct {
	Name    string   // on the command line: "table1"
	Title   string   // subject of the table
	Note    string   // further facts, printed below the table: for instance results that the paper states only in words
	Columns []Column // in the order of the paper
	Rows    []Row    // in the order of the paper

	// Interpretations are the methods of measurement between which the paper's text does not decide. The first, the
	// headline, is closest to the text. All other interpretations are rows of a sensitivity table.
	Interpretations []Interpretation
	PrintRows       bool // the text shows the rows of every interpretation, not only their agreement
	OnlyIfNamed     bool // the table takes long and is measured only if the user names it or an interpretation of it

	// Measure returns the values of a row by column name, under an interpretation. A column without a value is left out.
	// Rows are measured concurrently; a Meter bounds the number of runs at a time.
	Measure func(m *Meter, row *Row, r *Interpretation) (map[string]float64, error)

	// Source is the name of the paper's values in texts, for example a machine; "" means "paper".
	Source string
	// Exact reports that the values are counts that may be equal: texts have a line with the number of equal rows.
	Exact bool

	// Bound, if not empty, is the name of the column with the lowest value that the other columns can have. Values equal to
	// it are marked with a *.
	Bound string
}

// Column is a column of a table.
type Column struct {
	Name   string    // in JSON and CSV, and in the file of the paper's values
	Head   [2]string // heading, in two lines
	Digits int       // digits after the decimal point
	Doc    string    // the counted events, and the number of which they are a share

	// WholeColumn is the column of the paper of which this column is another interpretation; "" for the headline.
	WholeColumn string
	// Stack and Series describe the column in plots: it is part Series of the stacked bar Stack, or has bars of its own if both are "".
	Stack, Series string

	// Neutral, if not 0, is the value of no effect: 1 for a speed-up. The table then shows the minimum and the maximum of
	// each row over the interpretations, and the sign of the effect.
	Neutral float64
	Cost    bool // less than Neutral is a gain: the column is a time or traffic

	// NotRanked reports that the order of the rows is not compared: the paper does not determine the column, for instance the size
	// of an input.
	NotRanked bool
}

// Key returns the name of the paper's column.
func (c *Column) Key() string {
	if c.WholeColumn != "" {
		return c.WholeColumn
	}
	return c.Name
}

// Label returns the heading in one line.
func (c *Column) Label() string {
	if first, broken := strings.CutSuffix(c.Head[0], "-"); broken {
		return first + c.Head[1]
	}
	return strings.TrimSpace(c.Head[0] + " " + strings.TrimSpace(c.Head[1]))
}

// Row is a row of a paper's table.
type Row struct {
	Name     string             // name of the row in the paper
	Workload string             // workload of the library that is run for the row
	Size     int                // size of the workload; 0: the workload's default
	Values   map[string]float64 // the paper's values, by column; columns without a value are missing
	Absent   string             // reason why gemu has no values for the row; "" if it has values
	Summary  bool               // the row is about no single workload, for example a mean, and is not ranked
	Bounds   map[string]bool    // columns in which the paper marks its value with a *
}

// Interpretation is a method of measurement that is compatible with the paper's text. Name is its name on the command line,
// unique in the table. Doc describes it in a few words.
type Interpretation struct{ Name, Doc string }

// interpretation returns the index of an interpretation of the table.
func (t *Table) interpretation(r *Interpretation) int {
	for i := range t.Interpretations {
		if t.Interpretations[i].Name == r.Name {
			return i
		}
	}
	panic("BUG: no interpretation " + r.Name)
}

// All returns the papers. The caller must not change them.
var All = sync.OnceValue(func() []*Paper {
	return []*Paper{avc2011(), caba2016(), compressOnce(), descriptors(), gscalar2017(), gv100(), kim2013(), thesis2019()}
})

// Named returns the paper with a name, or nil.
func Named(name string) *Paper {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Names returns the names of the papers.
func Names() (names []string) {
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// TableNames returns the names of the paper's tables and figures.
func (p *Paper) TableNames() (names []string) {
	for _, t := range p.Tables {
		names = append(names, t.Name)
	}
	return names
}

// Table returns the table with a name, or nil.
func (p *Paper) Table(name string) *Table {
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// InterpretationNames returns the names of the interpretations of the paper's tables.
func (p *Paper) InterpretationNames() []string { return interpretationNames(p.Tables) }

func interpretationNames(tables []*Table) (names []string) {
	for _, t := range tables {
		for _, r := range t.Interpretations {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// DefaultTables returns the tables that do not take long.
func DefaultTables(tables []*Table) []*Table {
	return slices.DeleteFunc(slices.Clone(tables), func(t *Table) bool { return t.OnlyIfNamed })
}

// SelectInterpretations returns copies of the tables that have at least one of the named interpretations, with only these
// interpretations. Without names it returns all tables. A name that no table has is an error.
func SelectInterpretations(tables []*Table, names []string) ([]*Table, error) {
	if len(names) == 0 {
		return tables, nil
	}
	var list []*Table
	found := map[string]bool{}
	for _, t := range tables {
		table := *t
		table.Interpretations = nil
		for _, r := range t.Interpretations {
			if slices.Contains(names, r.Name) {
				table.Interpretations = append(table.Interpretations, r)
				found[r.Name] = true
			}
		}
		if len(table.Interpretations) > 0 {
			list = append(list, &table)
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("%s: want some of %s", name, strings.Join(interpretationNames(tables), ", "))
		}
	}
	return list, nil
}

// readRows reads the rows of a table from CSV. The first line has the names of the columns, the first column the name of the
// row. The name of the row is also that of its workload, unless workloads has another name. An empty field means that the
// paper has no value. A * after a value marks it as the lowest possible value (Row.Bounds).
func readRows(data []byte, workloads map[string]string) []Row {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment = '#'
	table, err := r.ReadAll()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var rows []Row
	for _, record := range table[1:] {
		row := Row{Name: record[0], Workload: record[0], Values: map[string]float64{}}
		if w, ok := workloads[row.Name]; ok {
			row.Workload = w
		}
		for i, text := range record[1:] {
			if text == "" {
				continue
			}
			number, marked := strings.CutSuffix(text, "*")
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			row.Values[table[0][i+1]] = v
			if marked {
				if row.Bounds == nil {
					row.Bounds = map[string]bool{}
				}
				row.Bounds[table[0][i+1]] = true
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// share returns n in percent of whole; 0 if whole is 0.
func share(n, whole int64) float64 { return notation.Percentage(n, whole) }
