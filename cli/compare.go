package cli

// This file is "gemu compare": the tables and figures of a paper, measured, beside what
// the paper prints. Each paper is in a file of its own, compare_NAME.go.

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gemu/internal/timespan"
)

type compareCmd struct {
	Paper   string   `arg:"" predictor:"paper" help:"Paper: ${papers}."`
	Table   []string `predictor:"table" help:"Only these of its tables and figures (default: all that do not take long): ${papertables}." placeholder:"NAME"`
	Reading []string `predictor:"reading" help:"Only these ways of measuring, and tables that have them (default: all of tables that are named, else all that do not take long; the first of a table is its headline): ${paperreadings}." placeholder:"NAME"`
	Workers int      `help:"Host threads (default: all); results do not depend on it."`

	TimeLimit timespan.Span `env:"GEMU_TIME_LIMIT" help:"Time that each launch may run before it is stopped (default: no limit)." placeholder:"TIME"`
	reportFlags
	tablesFlag
	CSV string `name:"csv" help:"Write a line for each value to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

// paper is a study whose measurements gemu repeats.
type paper struct {
	name   string // on the command line
	study  string // of kernels.Studies, if that has another name
	title  string
	tables []*paperTable
}

// papers are those that gemu knows; each is added by the file that describes it.
var papers []*paper

// paperTable is a table or a figure of a paper, as far as gemu can give it.
type paperTable struct {
	name    string // on the command line: "table1"
	title   string // what it shows
	note    string // what else there is to know, printed below it: what the paper has only in words
	columns []paperColumn
	rows    []paperRow

	// interpretations are the ways of measuring that the paper's text leaves open. The first is
	// the headline, chosen from the text; the others are rows of a sensitivity table.
	interpretations     []paperInterpretation
	printRows           bool     // of them the rows are printed, and not their order alone
	onlyIfNamed         bool     // it takes long, and is measured only if its name or that of a reading is given
	longInterpretations []string // readings that take long, by name: likewise

	// measure gives the values of a row by columns' names, under one of the readings. What
	// it leaves out has no value there. Rows are measured side by side, so that whatever takes
	// time has to go through once.
	measure func(m *meter, row *paperRow, r *paperInterpretation) (map[string]float64, error)

	// bound, if set, is the column that has the least that others may have: what is as low is marked
	// with a *.
	bound string
}

// paperColumn is a column that gemu can give.
type paperColumn struct {
	name   string    // in JSON and CSV, and in the file of the paper's values
	head   [2]string // for people, in two lines
	digits int       // decimals
	doc    string    // what we count, of what

	// wholeColumn is the column of the paper that this is another reading of; "" if it is the
	// column's headline reading.
	wholeColumn string
	// In plots a column has bars of its own, or is a part of others: stack is what these are about, and
	// part what it is of them.
	stack, series string

	// notRanked tells that the column is about something that is not the paper's, as the size of
	// its input, so that the order of the rows is not compared.
	notRanked bool
}

// key is the paper's column.
func (c *paperColumn) key() string {
	if c.wholeColumn != "" {
		return c.wholeColumn
	}
	return c.name
}

// paperRow is a row of a paper's table.
type paperRow struct {
	name     string             // in the paper
	workload string             // that is run for it, at this size; 0: its own
	size     int                //
	values   map[string]float64 // that the paper has, by column; it need not have all
	absent   string             // why gemu has nothing for it; "" if it has
	all      bool               // it is about all workloads, as a mean is, and not ranked
	bound    map[string]bool    // columns where the paper marks its value with a *
}

// paperInterpretation is a way of measuring.
type paperInterpretation struct {
	name, doc string
}

// readRows makes rows of a table of the paper's values: the first line is the names of
// columns, the first column that of the row, which is the workload's unless another is given;
// empty fields are values that the paper does not have.
func readRows(data []byte, workloads map[string]string) []paperRow {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment = '#'
	table, err := r.ReadAll()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var rows []paperRow
	for _, record := range table[1:] {
		row := paperRow{name: record[0], workload: record[0], values: map[string]float64{}}
		if w, ok := workloads[row.name]; ok {
			row.workload = w
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
			row.values[table[0][i+1]] = v
			if marked {
				if row.bound == nil {
					row.bound = map[string]bool{}
				}
				row.bound[table[0][i+1]] = true
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func paperNames() string {
	var names []string
	for _, p := range papers {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// tableNames are the tables and figures of a paper.
func tableNames(p *paper) (names []string) {
	for _, t := range p.tables {
		names = append(names, t.name)
	}
	return names
}

// interpretationNames are the readings of its tables.
func interpretationNames(p *paper) (names []string) {
	for _, t := range p.tables {
		for _, r := range t.interpretations {
			if !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
		}
	}
	return names
}

// eachPaper says what each paper has, for people.
func eachPaper(of func(p *paper) []string) string {
	var list []string
	for _, p := range papers {
		list = append(list, p.name+" has "+strings.Join(of(p), ", "))
	}
	return strings.Join(list, "; ")
}

// ofPapers is what papers have that needs no quotes, for shells.
func ofPapers(of func(p *paper) []string) (list []string) {
	for _, p := range papers {
		for _, name := range of(p) {
			if !strings.ContainsAny(name, " %") && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// meter runs workloads for the tables of a paper: as many side by side as there are host threads,
// each on one. What several tables need is measured once.
type meter struct {
	app    *app
	tables []*paperTable // that are measured
	limit  timespan.Span // that a launch may run; 0: no limit
	stop   func()        // ends what is being measured
	rows   sync.WaitGroup
	slots  chan struct{} // one for each host thread

	mu      sync.Mutex
	results map[any]any // by key of once: func() (T, error)
}

// newMeter makes a meter of so many host threads; 0 are all.
func newMeter(a *app, workers int, tables []*paperTable) *meter {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	m := &meter{tables: tables, slots: make(chan struct{}, workers), results: map[any]any{}}
	inner := *a
	inner.ctx, m.stop = context.WithCancel(a.ctx)
	inner.stderr = struct{ io.Writer }{a.stderr} // no terminal: launches side by side show no progress
	m.app = &inner
	return m
}

// close ends what is being measured, and waits for it.
func (m *meter) close() {
	m.stop()
	m.rows.Wait()
}

// measureOnce measures something, unless it is or has been, and gives what comes of it. The key says
// what it is. It takes a host thread, so that nothing inside may call it.
func measureOnce[T any](m *meter, key any, measure func() (T, error)) (T, error) {
	m.mu.Lock()
	compute, ok := m.results[key].(func() (T, error))
	if !ok {
		compute = sync.OnceValues(func() (v T, err error) {
			m.slots <- struct{}{}
			defer func() { <-m.slots }()
			if err := m.app.ctx.Err(); err != nil {
				return v, err
			}
			return measure()
		})
		m.results[key] = compute
	}
	m.mu.Unlock()
	return compute()
}

// flags are those of a workload's run: at a size, 0 for its own.
func (m *meter) flags(workload string, size int) *launchFlags {
	return &launchFlags{sourceArg: sourceArg{"@" + workload}, kernelFlags: kernelFlags{Warp: 32, Workers: 1, Size: size, TimeLimit: m.limit}}
}

// comparison is a paper's tables and ours, as JSON.
type comparison struct {
	Schema string            `json:"schema"` // "gemu-compare/3"
	Paper  string            `json:"paper"`  // as the command line names it
	Title  string            `json:"title"`  // of the paper
	Tables []comparisonTable `json:"tables"` // and figures, in the paper's order
}

// comparisonTable is a table, under each of its readings.
type comparisonTable struct {
	Name            string                     `json:"name"`            // as the command line names it
	Title           string                     `json:"title"`           // what it shows
	Note            string                     `json:"note"`            // what else there is to know
	Columns         []comparisonColumn         `json:"columns"`         // in the order of the text
	Absent          map[string]string          `json:"absent"`          // rows of the paper that gemu does not have, and why
	Interpretations []comparisonInterpretation `json:"interpretations"` // the first is the headline
}

// comparisonColumn says what a column is.
type comparisonColumn struct {
	Name      string `json:"name"`                 // of ours
	Paper     string `json:"paper"`                // of the paper's it is compared with
	Doc       string `json:"doc"`                  // we count
	NotRanked bool   `json:"not_ranked,omitempty"` // the order of the rows is not compared
}

// comparisonInterpretation is a way of measuring, and what comes of it.
type comparisonInterpretation struct {
	Name      string                `json:"name"`      // of the reading
	Doc       string                `json:"doc"`       // it is
	Rows      []comparisonRow       `json:"rows"`      // in the paper's order
	Agreement map[string]*agreement `json:"agreement"` // by column, of those that are ranked
}

// comparisonRow is a row of a table.
type comparisonRow struct {
	Name       string             `json:"name"`       // in the paper
	Workload   string             `json:"workload"`   // that was run; "": the row is a mean over others
	Ours       map[string]float64 `json:"ours"`       // what we measure, by column
	Paper      map[string]float64 `json:"paper"`      // what the paper prints
	Difference map[string]float64 `json:"difference"` // ours less the paper's, where there are both

	OurBounds   []string `json:"our_bounds,omitempty"`   // columns whose value of ours is the least that there can be, * in the text
	PaperBounds []string `json:"paper_bounds,omitempty"` // … of the paper's
}

func (c *compareCmd) Run(a *app) error {
	i := slices.IndexFunc(papers, func(p *paper) bool { return p.name == c.Paper })
	if i < 0 {
		return fmt.Errorf("no paper %s: there are %s", c.Paper, paperNames())
	}
	p := papers[i]
	tables := p.tables
	if len(c.Table) > 0 {
		tables = nil
		for _, name := range c.Table {
			i := slices.IndexFunc(p.tables, func(t *paperTable) bool { return t.name == name })
			if i < 0 {
				return fmt.Errorf("--table %s: %s has %s", name, p.name, strings.Join(tableNames(p), ", "))
			}
			if !slices.Contains(tables, p.tables[i]) {
				tables = append(tables, p.tables[i])
			}
		}
	}
	if len(c.Table)+len(c.Reading) == 0 {
		tables = defaultTables(tables)
	}
	tables, err := readBy(tables, c.Reading)
	switch {
	case err != nil:
		return err
	case c.Workers < 0:
		return fmt.Errorf("--workers wants a number from 0 on")
	}
	files := append(c.outputs(), outputs{{"--csv", c.CSV}}...)
	if err := files.check(); err != nil {
		return err
	}
	if err := c.tablesFlag.check(); err != nil {
		return err
	}
	m := newMeter(a, c.Workers, tables)
	m.limit = c.TimeLimit
	defer m.close()
	begun := make([][][]pendingRow, len(tables))
	for i, t := range tables {
		begun[i] = t.startMeasuring(m)
	}
	quiet := files.stdout()
	s := newScreen(a.stdout)
	output := &comparison{Schema: "gemu-compare/3", Paper: p.name, Title: p.title}
	for i, t := range tables {
		if !quiet {
			t.printHead(s, p, i == 0)
		}
		show := func(r *comparisonRow) {
			if !quiet {
				t.printRow(s, r)
			}
		}
		result, err := t.compare(begun[i], show)
		if err != nil {
			return err
		}
		output.Tables = append(output.Tables, *result)
		if !quiet {
			t.printAgreement(s, result)
		}
	}
	err = all(c.reportFlags.write(a, func() ([]byte, error) { return output.page(tables) }, func() any { return output }), c.tablesFlag.write(a, output.files(tables)))
	if c.CSV != "" {
		err = all(err, writeOutput(a, c.CSV, output.csv()))
	}
	return err
}

// defaultTables are the tables that do not take long, with the readings that do not.
func defaultTables(tables []*paperTable) (list []*paperTable) {
	for _, t := range tables {
		if t.onlyIfNamed {
			continue
		}
		table := *t
		table.interpretations = slices.DeleteFunc(slices.Clone(t.interpretations), func(r paperInterpretation) bool { return slices.Contains(t.longInterpretations, r.name) })
		list = append(list, &table)
	}
	return list
}

// readBy are the tables that have some of the readings, with these; no names mean all.
func readBy(tables []*paperTable, names []string) ([]*paperTable, error) {
	if len(names) == 0 {
		return tables, nil
	}
	var list []*paperTable
	found := map[string]bool{}
	for _, t := range tables {
		table := *t
		table.interpretations = nil
		for _, r := range t.interpretations {
			if slices.Contains(names, r.name) {
				table.interpretations = append(table.interpretations, r)
				found[r.name] = true
			}
		}
		if len(table.interpretations) > 0 {
			list = append(list, &table)
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("--reading %s: there are %s", name, strings.Join(interpretationNames(&paper{tables: tables}), ", "))
		}
	}
	return list, nil
}

// pendingRow waits for the values of a row.
type pendingRow func() (map[string]float64, error)

// startMeasuring has the rows of a table measured, and gives them by reading; rows that are absent are nil.
func (t *paperTable) startMeasuring(m *meter) [][]pendingRow {
	list := make([][]pendingRow, len(t.interpretations))
	for i := range list {
		list[i] = make([]pendingRow, len(t.rows))
		for j := range t.rows {
			if t.rows[j].absent != "" {
				continue
			}
			values := sync.OnceValues(func() (map[string]float64, error) { return t.measure(m, &t.rows[j], &t.interpretations[i]) })
			m.rows.Go(func() { values() })
			list[i][j] = values
		}
	}
	return list
}

// compare puts a table that has begun side by side with the paper's, under all its readings; show sees
// the rows of the headline as they come.
func (t *paperTable) compare(begun [][]pendingRow, show func(r *comparisonRow)) (*comparisonTable, error) {
	output := &comparisonTable{Name: t.name, Title: t.title, Note: t.note, Absent: map[string]string{}}
	for i := range t.columns {
		c := &t.columns[i]
		output.Columns = append(output.Columns, comparisonColumn{c.name, c.key(), c.doc, c.notRanked})
	}
	for i := range t.interpretations {
		r := &t.interpretations[i]
		result := comparisonInterpretation{Name: r.name, Doc: r.doc}
		for j := range t.rows {
			row := &t.rows[j]
			if row.absent != "" {
				output.Absent[row.name] = row.absent
				continue
			}
			measured, err := begun[i][j]()
			if err != nil {
				return nil, err
			}
			line := t.comparisonRow(row, measured)
			result.Rows = append(result.Rows, line)
			if i == 0 {
				show(&line)
			}
		}
		result.Agreement = t.agree(result.Rows)
		output.Interpretations = append(output.Interpretations, result)
	}
	return output, nil
}

// comparisonRow puts a row's values side by side.
func (t *paperTable) comparisonRow(row *paperRow, measured map[string]float64) comparisonRow {
	line := comparisonRow{Name: row.name, Workload: row.workload, Ours: map[string]float64{}, Paper: map[string]float64{}, Difference: map[string]float64{}}
	for i := range t.columns {
		c := &t.columns[i]
		v, ok := measured[c.name]
		if ok {
			line.Ours[c.name] = v
			if minimum, ok := measured[t.bound]; ok && v == minimum && !c.notRanked {
				line.OurBounds = append(line.OurBounds, c.name)
			}
		}
		if p, found := row.values[c.key()]; found {
			line.Paper[c.name] = p
			if row.bound[c.key()] {
				line.PaperBounds = append(line.PaperBounds, c.name)
			}
			if ok {
				line.Difference[c.name] = v - p
			}
		}
	}
	return line
}

// agree compares the columns of rows with the paper's. Probabilities are corrected for as many
// tests as there are columns of the paper: another reading of one is no further test, and its
// own is not corrected.
func (t *paperTable) agree(rows []comparisonRow) map[string]*agreement {
	list := map[string]*agreement{}
	var tests []*agreement
	for i := range t.columns {
		c := &t.columns[i]
		if c.notRanked {
			continue
		}
		var measured, printed []float64
		for _, r := range rows {
			if r.Workload == "" {
				continue
			}
			v, ok := r.Ours[c.name]
			p, found := r.Paper[c.name]
			if ok && found {
				measured, printed = append(measured, v), append(printed, p)
			}
		}
		a := newAgreement(measured, printed)
		list[c.name] = a
		if c.wholeColumn == "" && a.P != nil {
			tests = append(tests, a)
		}
	}
	holm(tests)
	return list
}

// csv is a line for each value: of which table, reading, row and column, what the paper has and
// what we have. A field is empty where there is no value.
func (c *comparison) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"paper", "table", "reading", "row", "workload", "column", "paper_value", "our_value", "difference", "absent", "paper_bound", "our_bound"})
	for i := range c.Tables {
		t := &c.Tables[i]
		for _, r := range t.Interpretations {
			for _, row := range r.Rows {
				for _, col := range t.Columns {
					w.Write([]string{c.Paper, t.Name, r.Name, row.Name, row.Workload, col.Name, csvValue(row.Paper, col.Name), csvValue(row.Ours, col.Name), csvValue(row.Difference, col.Name), "", star(slices.Contains(row.PaperBounds, col.Name)), star(slices.Contains(row.OurBounds, col.Name))})
				}
			}
		}
		for _, name := range t.absentNames() {
			w.Write([]string{c.Paper, t.Name, "", name, "", "", "", "", "", t.Absent[name], "", ""})
		}
	}
	w.Flush()
	return b.Bytes()
}

// A row has three lines: ours, the paper's, the difference.
const (
	compareName, compareSource = 10, 6
	compareWide, compareNarrow = 6, 5 // columns with decimals and without
)

func (c *paperColumn) width() int {
	width := compareNarrow
	if c.digits > 0 {
		width = compareWide
	}
	return max(width, 1+len(c.head[0]), 1+len(c.head[1]))
}

func (t *paperTable) printHead(s *screen, p *paper, first bool) {
	if first {
		s.printf("%s\n", p.title)
	}
	s.heading(t.name + ": " + t.title)
	for _, line := range wrap(t.interpretations[0].name+": "+t.interpretations[0].doc, s.chart()) {
		s.printf("%s\n", line)
	}
	s.printf("\n")
	for line := range 2 {
		text := fitted("", compareName+compareSource)
		for i := range t.columns {
			text += fitted(t.columns[i].head[line], -t.columns[i].width())
		}
		if text = strings.TrimRight(text, " "); text != "" {
			s.printf("%s\n", s.paint(bold, text))
		}
	}
}

// printLine prints a value for each column.
func (t *paperTable) printLine(s *screen, style paint, name, source string, value func(c *paperColumn) string) {
	text := fitted(name, compareName) + fitted(source, compareSource)
	for i := range t.columns {
		text += fitted(value(&t.columns[i]), -t.columns[i].width())
	}
	s.printf("%s\n", s.paint(style, strings.TrimRight(text, " ")))
}

// star marks what is a bound.
func star(bound bool) string {
	if bound {
		return "*"
	}
	return ""
}

// texts gives values by column, with a * those of bounds, "-" where there is none.
func (t *paperTable) texts(values map[string]float64, bounds []string) func(c *paperColumn) string {
	return func(c *paperColumn) string {
		if v, ok := values[c.name]; ok {
			return percentText(v, c.digits) + star(slices.Contains(bounds, c.name))
		}
		return "-"
	}
}

func (t *paperTable) printRow(s *screen, r *comparisonRow) {
	t.printLine(s, plain, r.Name, "gemu", t.texts(r.Ours, r.OurBounds))
	if len(r.Paper) == 0 {
		return
	}
	t.printLine(s, dim, "", "paper", t.texts(r.Paper, r.PaperBounds))
	t.printLine(s, dim, "", "diff", t.differences(r))
}

// differences gives those of a row by column, "-" where there is none.
func (t *paperTable) differences(r *comparisonRow) func(c *paperColumn) string {
	return func(c *paperColumn) string {
		if v, ok := r.Difference[c.name]; ok {
			return signedText(v, c.digits)
		}
		return "-"
	}
}

// signedText writes a difference with its sign; what is rounded to nothing is 0.
func signedText(v float64, decimals int) string {
	if math.Abs(v) < math.Pow(10, -float64(decimals))/2 {
		return "0"
	}
	return fmt.Sprintf("%+.*f", decimals, v)
}

// correlationText writes a number from -1 to 1 in at most four characters.
func correlationText(v float64) string {
	return strings.Replace(fmt.Sprintf("%.2f", v), "0.", ".", 1)
}

// probabilityText writes a probability in at most four characters.
func probabilityText(p float64) string {
	switch {
	case p < 0.0005:
		return "<.1%"
	case p < 0.0995:
		return fmt.Sprintf("%.1f%%", 100*p)
	}
	return fmt.Sprintf("%.0f%%", 100*p)
}

// agreementLines are the lines about the rows of a column together: as the text calls them, and as the page does.
var agreementLines = []struct {
	name, source, doc string
	style             paint
	text              func(c *paperColumn, a *agreement) string
}{
	{"order", "rho", "rho, rank correlation", bold, rhoText},
	{"", "p", "p, by chance", plain, func(_ *paperColumn, a *agreement) string { return optionalText(a.P, probabilityText) }},
	{"", "Holm", "p, corrected (Holm)", plain, func(_ *paperColumn, a *agreement) string { return optionalText(a.Holm, probabilityText) }},
	{"distance", "", "distance, in the mean", plain, distanceText},
}

// statisticsDoc says what they are: corrected for what, and what more there is to say.
const statisticsDoc = "rho is Spearman's rank correlation of our rows and the paper's; p how often chance alone gives one so far from 0, with the ties there are; Holm the same, corrected for %s.%s distance is the mean of the differences without their signs."

func optionalText(v *float64, text func(v float64) string) string {
	if v == nil {
		return "-"
	}
	return text(*v)
}

func rhoText(_ *paperColumn, a *agreement) string { return optionalText(a.Rho, correlationText) }

func distanceText(c *paperColumn, a *agreement) string {
	return optionalText(a.Distance, func(v float64) string { return percentText(v, max(1, c.digits)) })
}

// agreed gives a line of agreementLines by column, "" where nothing is ranked.
func agreed(list map[string]*agreement, text func(c *paperColumn, a *agreement) string) func(c *paperColumn) string {
	return func(c *paperColumn) string {
		if a := list[c.name]; a != nil {
			return text(c, a)
		}
		return ""
	}
}

func (t *paperTable) printAgreement(s *screen, r *comparisonTable) {
	head := r.Interpretations[0].Agreement
	width := s.chart()
	if len(head) == 0 { // the paper has nothing to rank: values are all there is of other readings
		for i := range r.Interpretations[1:] {
			o := &r.Interpretations[i+1]
			if i == 0 {
				s.printf("\nother readings\n")
			}
			for _, line := range wrap(o.Name+": "+o.Doc, width) {
				s.printf("%s\n", line)
			}
			for k := range o.Rows {
				t.printRow(s, &o.Rows[k])
			}
		}
		s.printf("\n")
		t.printNotes(s, width)
		return
	}
	s.printf("\n")
	compared := false // or the paper has no numbers of the rows
	for _, a := range head {
		compared = compared || a.Rows > 0
	}
	if compared {
		for _, l := range agreementLines {
			t.printLine(s, l.style, l.name, l.source, agreed(head, l.text))
		}
	}
	for i := range r.Interpretations[1:] {
		o := &r.Interpretations[i+1]
		if i == 0 {
			s.printf("\nother readings\n")
		}
		t.printLine(s, plain, o.Name, "", func(*paperColumn) string { return "" })
		if compared {
			t.printLine(s, plain, "", "rho", agreed(o.Agreement, rhoText))
			t.printLine(s, dim, "", "dist", agreed(o.Agreement, distanceText))
		}
		exceeded := slices.ContainsFunc(o.Rows, func(r comparisonRow) bool { return r.Workload == "" })
		for k := range o.Rows {
			switch row := &o.Rows[k]; {
			case row.Workload == "":
				t.printLine(s, plain, "", row.Name, t.texts(row.Ours, row.OurBounds))
			case t.printRows:
				t.printLine(s, plain, row.Name, "gemu", t.texts(row.Ours, row.OurBounds))
			case !compared && !exceeded:
				t.printRow(s, row)
			}
		}
	}
	s.printf("\n")
	for i := range r.Interpretations[1:] {
		for _, line := range wrap(r.Interpretations[i+1].Name+": "+r.Interpretations[i+1].Doc, width) {
			s.printf("%s\n", line)
		}
	}
	tests, found := 0, 0
	for i := range t.columns {
		a := head[t.columns[i].name]
		if a == nil || t.columns[i].wholeColumn != "" || a.Holm == nil {
			continue
		}
		tests++
		if *a.Holm < level {
			found++
		}
	}
	if tests > 0 {
		for _, line := range wrap(fmt.Sprintf(statisticsDoc, counted(tests, "column"), fmt.Sprintf(" In %d of them the order agrees beyond chance (%.0f %%).", found, 100*level)), width) {
			s.printf("%s\n", line)
		}
	}
	t.printNotes(s, width)
}

// printNotes prints which rows are not there, and what else there is to know.
func (t *paperTable) printNotes(s *screen, width int) {
	for i := range t.rows {
		if row := &t.rows[i]; row.absent != "" {
			for _, line := range wrap("Not here: "+row.name+", "+row.absent, width) {
				s.printf("%s\n", line)
			}
		}
	}
	for _, line := range wrap(t.note, width) {
		s.printf("%s\n", line)
	}
}
