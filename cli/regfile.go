package cli

// This file is "gemu regfile": models of register files, compared on the same execution, as text,
// as JSON, as a page, and as tables and plots in a directory.

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	_ "embed"

	"gemu/internal/document"
	"gemu/interp"
	"gemu/models"
	"gemu/models/catalog"
)

type regfileCmd struct {
	launchFlags

	Model      string `predictor:"model" help:"Models of register files, separated by commas: ${models}. Without --model, those of the models ${defaultmodels} that support the --warp size." placeholder:"NAME,…"`
	Reconverge string `group:"device" default:"stack" type:"reconverger" predictor:"reconverger" help:"${reconvergence}" placeholder:"POLICY"`

	Show []string `default:"lines,models" enum:"lines,models" help:"Parts to print: lines (compact writes of each model, by instruction), models (tables of each model)." placeholder:"PART"`
	reportFlags
	tablesFlag
}

func (c *regfileCmd) Run(a *app) error {
	list, err := catalog.Select(c.Model, c.Warp, a.Models...)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	if err := c.outputs().check(); err != nil {
		return err
	}
	if err := c.tablesFlag.check(); err != nil {
		return err
	}
	side := catalog.Watch(list)
	j, err := c.open(a, dataOf(a.stderr), side) // standard output is reserved for the report
	if err != nil {
		return err
	}
	if err := j.run(a, func(l *interp.Launch) {
		l.Mode, l.Reconverge = interp.Vector, a.reconverger(c.Reconverge)
	}); err != nil {
		return err
	}
	r := newRegfileReport(j, side)
	err = all(c.tablesFlag.write(a, r.files()), c.reportFlags.write(a, r.page, func() any { return r }))
	if !c.outputs().stdout() {
		r.print(newScreen(a.stdout), c.Show)
	}
	return err
}

// regfileReport is the report of the models; --json writes it.
type regfileReport struct {
	Schema string `json:"schema"` // "gemu-regfile/2"
	document.Launch
	Groups []document.Group `json:"kernels"` // numbers of launches, by kernel and extents
	Total  storageCounts    `json:"total"`   // storage of the results of all instructions
	Lines  []regfileLine    `json:"lines"`   // instructions with register results, in the order of the source
	Models []*models.Report `json:"models"`  // reports of the models, in the order of --model
}

// storageCounts is the storage of written registers by model, counted by warps and without
// predicates.
type storageCounts struct {
	Writes  int64                   `json:"writes"`   // number of register writes
	Bytes   int64                   `json:"bytes"`    // bytes of the written registers as vectors
	ByModel map[string]modelStorage `json:"by_model"` // storage of the written registers in each model
	Sets    []regfileSet            `json:"sets"`     // writes by the set of models with compact storage, the most frequent set first
}

// modelStorage is the storage of a model.
type modelStorage struct {
	Compact  int64 `json:"compact_writes"`  // writes stored in less than a vector
	OnlyThis int64 `json:"only_this_model"` // writes that no other model stores compactly
	Bytes    int64 `json:"bytes"`           // stored bytes of all writes
}

// regfileSet is the number of writes kept compactly by exactly the same models.
type regfileSet struct {
	Models []string `json:"models"` // models with compact storage of these writes; empty if every model stores vectors
	Writes int64    `json:"writes"` // number of these writes
}

// regfileLine is an instruction of the report.
type regfileLine struct {
	File   string `json:"file"`             // name of the PTX file
	Line   int    `json:"line"`             // line of the instruction in the PTX
	Func   string `json:"func"`             // function of the instruction
	Text   string `json:"text"`             // text of the instruction
	Source string `json:"source,omitempty"` // "file:line" of the .loc in force
	storageCounts

	names []string // names of the models
}

func newRegfileReport(j *job, side *models.Comparison) *regfileReport {
	r := &regfileReport{Schema: "gemu-regfile/2", Launch: j.facts(), Groups: j.groups(), Lines: []regfileLine{}, Models: side.Reports()}
	var names []string
	for _, m := range side.Models() {
		names = append(names, m.Name())
	}
	total := &models.InstrCounts{Stored: make([]int64, len(names)), Compressed: make(models.CompressedWrites, 1<<len(names))}
	for _, n := range side.Instrs() {
		total.Add(n)
		r.Lines = append(r.Lines, regfileLine{
			File: n.Func.Module().Name, Line: int(n.Pos.Line), Func: n.Func.Name, Text: n.Format(n.Func) + ";", Source: document.PlaceOf(n.Func, n.Instr),
			storageCounts: keptBy(n, names), names: names,
		})
	}
	r.Total = keptBy(total, names)
	return r
}

// keptBy returns the storage counts of an instruction, by the names of the models.
func keptBy(n *models.InstrCounts, names []string) storageCounts {
	k := storageCounts{Writes: n.Writes, Bytes: n.Bytes, ByModel: map[string]modelStorage{}, Sets: []regfileSet{}}
	for i, name := range names {
		k.ByModel[name] = modelStorage{n.Compressed.By(i), n.Compressed.OnlyBy(i), n.Stored[i]}
	}
	for _, set := range n.Compressed.Sets() {
		s := regfileSet{Models: []string{}, Writes: n.Compressed[set]}
		for i, name := range names {
			if set>>i&1 != 0 {
				s.Models = append(s.Models, name)
			}
		}
		k.Sets = append(k.Sets, s)
	}
	return k
}

// Models lists the models that kept all writes, or the shares of sets of models.
func (k *storageCounts) Models() string {
	var parts []string
	for _, s := range k.Sets {
		text := "none"
		if len(s.Models) > 0 {
			text = strings.Join(s.Models, "+")
		}
		if s.Writes != k.Writes {
			text += " " + percentText(share(s.Writes, k.Writes), 0)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// Row returns the cells of a line: the storage of each model, in percent of vectors.
func (k *regfileLine) Row() (cells []string) {
	for _, name := range k.names {
		cells = append(cells, percentText(share(k.ByModel[name].Bytes, k.Bytes), 0))
	}
	return cells
}

// print writes the report to a screen.
func (r *regfileReport) print(s *screen, parts []string) {
	s.printf("%s: warps of %d, reconvergence %s\n", r.File, r.Warp, r.Reconverge)
	for _, g := range r.Groups {
		s.printf("  kernel %s\n", g)
	}
	r.printKept(s)
	for _, p := range parts {
		switch p {
		case "lines":
			r.printLines(s)
		case "models":
			for _, m := range r.Models {
				printModel(s, m)
			}
		}
	}
}

// The columns of the text.
const (
	regfileName   = 12
	regfileNumber = 10
)

func (r *regfileReport) printKept(s *screen) {
	s.heading(fmt.Sprintf("registers written: %d, %d bytes as vectors", r.Total.Writes, r.Total.Bytes))
	s.printf("%s%s%s%s\n", fitted("", regfileName), fitted("compact", -regfileNumber), fitted("only this", -regfileNumber), fitted("bytes", -regfileNumber))
	for _, m := range r.Models {
		k := r.Total.ByModel[m.Model]
		s.printf("%s", fitted(m.Model, regfileName))
		for _, v := range []float64{share(k.Compact, r.Total.Writes), share(k.OnlyThis, r.Total.Writes), share(k.Bytes, r.Total.Bytes)} {
			s.printf("%s", fitted(percentText(v, 1)+" %", -regfileNumber))
		}
		s.printf("\n")
	}
	s.printf("\n")
	for _, set := range r.Total.Sets {
		source := "no model"
		if len(set.Models) > 0 {
			source = strings.Join(set.Models, " and ")
		}
		s.printf("%s  compact in %s\n", fitted(percentText(share(set.Writes, r.Total.Writes), 1)+" %", -regfileNumber), source)
	}
}

func (r *regfileReport) printLines(s *screen) {
	s.heading("stored bytes in percent of vectors, and the models that store the result compactly")
	text := fitted("line", -5) + fitted("writes", -9)
	for _, m := range r.Models {
		text += fitted(m.Model, -lineColumn(m.Model))
	}
	s.printf("%s\n", s.paint(bold, text))
	fn := ""
	for i := range r.Lines {
		l := &r.Lines[i]
		if at := l.File + ", " + l.Func; at != fn && len(r.Groups) > 1 {
			fn = at
			s.printf("%s\n", s.paint(bold, at))
		}
		text := fitted(strconv.Itoa(l.Line), -5) + fitted(countText(l.Writes), -9)
		for k, cell := range l.Row() {
			text += fitted(cell, -lineColumn(l.names[k]))
		}
		text += "  " + l.Text
		if len(l.Sets) > 1 || len(l.Sets[0].Models) > 0 && len(l.Sets[0].Models) < len(r.Models) {
			text += "  " + l.Models()
		}
		s.printf("%s\n", cut(text, s.width))
	}
}

func lineColumn(name string) int { return max(6, utf8.RuneCountInString(name)+1) }

// printModel prints the tables of a model.
func printModel(s *screen, m *models.Report) {
	s.heading(m.Model)
	for _, line := range wrap(m.Title, s.chart()) {
		s.printf("%s\n", line)
	}
	for i := range m.Tables {
		t := &m.Tables[i]
		name := 0
		for _, r := range t.Rows {
			name = max(name, utf8.RuneCountInString(r.Name))
		}
		s.printf("\n%s, %s\n", t.Title, t.Unit)
		text := fitted("", name)
		widths := columnWidths(t)
		for k, c := range t.Columns {
			text += fitted(c, -widths[k])
		}
		s.printf("%s\n", s.paint(dim, text))
		for _, r := range t.Rows {
			text := fitted(r.Name, name)
			for k, v := range r.Values {
				text += fitted(valueText(v), -widths[k])
			}
			s.printf("%s\n", text)
		}
	}
}

// columnWidths returns the widths of a table's columns: at least two spaces are before a name, and one before a value.
func columnWidths(t *models.Table) []int {
	widths := make([]int, len(t.Columns))
	for k, name := range t.Columns {
		widths[k] = max(8, utf8.RuneCountInString(name)+2)
		for _, r := range t.Rows {
			widths[k] = max(widths[k], utf8.RuneCountInString(valueText(r.Values[k]))+1)
		}
	}
	return widths
}

// files returns the tables as files: MODEL-TABLE.csv and .svg, and lines.csv.
func (r *regfileReport) files() (list []namedFile) {
	for _, m := range r.Models {
		for i := range m.Tables {
			t := &m.Tables[i]
			name := m.Model + "-" + t.Name
			list = append(list, namedFile{name + ".csv", tableCSV(t)})
			if picture := plot(t); picture != "" {
				list = append(list, namedFile{name + ".svg", []byte(picture)})
			}
		}
	}
	return append(list, namedFile{"lines.csv", r.linesCSV()})
}

// tableCSV formats a table: a line with the names of the columns, then a line for each row.
func tableCSV(t *models.Table) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(append([]string{t.Unit}, t.Columns...))
	for _, r := range t.Rows {
		record := []string{r.Name}
		for _, v := range r.Values {
			record = append(record, strconv.FormatFloat(v, 'g', 8, 64))
		}
		w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// linesCSV formats the instructions: for each model its compact writes of all writes, its own
// compact writes, and bytes.
func (r *regfileReport) linesCSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	head := []string{"file", "line", "source", "text", "writes", "bytes"}
	for _, m := range r.Models {
		head = append(head, m.Model+"_kept", m.Model+"_alone", m.Model+"_bytes")
	}
	w.Write(head)
	for i := range r.Lines {
		l := &r.Lines[i]
		record := []string{l.File, strconv.Itoa(l.Line), l.Source, l.Text, fmt.Sprint(l.Writes), fmt.Sprint(l.Bytes)}
		for _, name := range l.names {
			k := l.ByModel[name]
			record = append(record, fmt.Sprint(k.Compact), fmt.Sprint(k.OnlyThis), fmt.Sprint(k.Bytes))
		}
		w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

//go:embed report.html
var reportHTML string

//go:embed regfile.html
var regfileHTML string

// reportPage returns the template of a report's page: the common head with the style, then the
// template form.
func reportPage(name, form string, funcs template.FuncMap) *template.Template {
	t := template.Must(template.New("report").Parse(reportHTML))
	return template.Must(t.New(name).Funcs(funcs).Parse(form))
}

var regfilePage = reportPage("regfile", regfileHTML, template.FuncMap{
	"plot":    func(t models.Table) template.HTML { return template.HTML(plot(&t)) },
	"number":  valueText,
	"percent": func(n, of int64) string { return percentText(share(n, of), 1) + " %" },
})

func (r *regfileReport) page() ([]byte, error) {
	var b bytes.Buffer
	err := regfilePage.Execute(&b, r)
	return b.Bytes(), err
}
