package cli

// This file makes the page of "gemu machine --html". Parts whose counts are in files of their own have their sections there.

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemu/machine"
)

// machinePager is a view with sections on the page.
type machinePager interface {
	// page returns the sections of the part. addJSON was called before.
	page(r *machineReport) []pageSection
}

// page returns the page of the report.
func (r *machineReport) page(views []machineView) ([]byte, error) {
	title := "Memory of " + r.File
	if r.Only > 0 {
		title += fmt.Sprintf(", launch %d", r.Only)
	}
	if r.Trapped != "" {
		title += ", up to the trap"
	}
	d := &pageData{
		Title: title, About: fmt.Sprintf("Warps of %d; %s.", r.Warp, r.unseen()), Launches: []string{}, Columns: []pageHead{}, Sources: []*pageListing{}, Listings: []*pageListing{},
		Shares: []pageShares{}, Lanes: []pageLanes{}, Summary: []summaryRow{}, Sections: []pageSection{},
	}
	for _, g := range r.Groups {
		d.Launches = append(d.Launches, g.String())
	}
	if r.Machines[0].Total.Requests == 0 && !r.clocked {
		d.Sections = append(d.Sections, pageSection{"Machines", []string{"No launch accesses global or local memory."}, []pageBlock{}})
		return d.html()
	}
	for _, v := range views {
		if p, ok := v.(machinePager); ok {
			d.Sections = append(d.Sections, p.page(r)...)
		}
	}
	if slices.Contains(r.flags.Show, "lines") {
		for i := range machineColumns {
			c := &machineColumns[i]
			d.Columns = append(d.Columns, pageHead{Name: c.name, Doc: c.doc})
		}
		d.Sources = r.pageSources()
	}
	return d.html()
}

// oneBlock returns a section with a block of the same title.
func oneBlock(title string, b pageBlock) []pageSection {
	if b.Notes == nil {
		b.Notes = []string{}
	}
	return []pageSection{{title, []string{}, []pageBlock{b}}}
}

// countsHead returns the heads of columns of counts, after a column of texts.
func countsHead(first string, columns []machineColumn) []pageHead {
	head := []pageHead{{Name: first, Text: true}}
	for i := range columns {
		head = append(head, pageHead{Name: columns[i].name, Doc: columns[i].doc})
	}
	return head
}

// countsRow returns a row of a table of counts.
func countsRow(first string, columns []machineColumn, c *machine.Counts) []string {
	row := []string{first}
	for i := range columns {
		row = append(row, columns[i].text(c))
	}
	return row
}

// allColumns are the columns of a table with write-backs.
func allColumns() []machineColumn { return append(slices.Clone(machineColumns), writtenColumn) }

// pageTotals returns the machines and their counts, and a plot of each swept parameter.
func (r *machineReport) pageTotals() []pageSection {
	specs := pageBlock{Title: "The machines", Notes: []string{}, Table: &pageTable{Head: []pageHead{{Name: "machine", Text: true}, {Name: "SMs", Doc: "multiprocessors"}, {Name: "L1", Text: true}, {Name: "L2", Text: true}, {Name: "dispatcher", Text: true}, {Name: "resident CTAs", Text: true, Doc: "CTAs on a multiprocessor at a time, and the resource that limits them"}}}}
	totals := pageBlock{Title: "Counts of all launches, in sectors of 32 bytes", Notes: []string{}, Table: &pageTable{Head: append(countsHead("machine", allColumns()), pageHead{Name: "dirty", Doc: "sectors in the L2 at the end that differ from memory"})}}
	bars := pageBlock{Title: "Sectors that memory transfers", Notes: []string{}, Bars: &pageBars{Series: []string{"read", "written"}}, Table: &pageTable{Head: []pageHead{{Name: "machine", Text: true}, {Name: "read"}, {Name: "written"}}}}
	for i := range r.Machines {
		m := &r.Machines[i]
		var resident []string
		for _, k := range m.Kernels {
			resident = append(resident, fmt.Sprintf("%s: %d, by %s", k.Kernel, k.Resident, k.Limit))
		}
		if totals.addRefusal(m, "total") {
			continue
		}
		specs.Table.Rows = append(specs.Table.Rows, []string{m.Name, fmt.Sprint(m.SMs), r.specs[i].L1.String(), r.specs[i].L2.String(), m.Dispatcher, strings.Join(resident, "; ")})
		totals.Table.Rows = append(totals.Table.Rows, append(countsRow(m.Name, allColumns(), &m.Total), countText(m.Dirty)))
		bars.Bars.addBar(m.Name, countText(m.Total.Traffic()), float64(m.Total.Reads), float64(m.Total.WriteBacks))
		bars.Table.Rows = append(bars.Table.Rows, []string{m.Name, countText(m.Total.Reads), countText(m.Total.WriteBacks)})
	}
	list := []pageSection{{"Machines", []string{}, []pageBlock{specs, totals}}}
	if len(r.Machines) > 1 {
		list[0].Blocks = append(list[0].Blocks, bars)
	}
	if plots := r.pageSweeps(); len(plots) > 0 {
		list = append(list, pageSection{"Sweeps", []string{}, plots})
	}
	return list
}

// sweepCounts are the counts that are plotted over a parameter. value returns false for a machine that has refused a launch.
var sweepCounts = []struct {
	title, unit string
	value       func(m *machineResultJSON) (v float64, ok bool)
}{
	{"Cycles", "", func(m *machineResultJSON) (v float64, ok bool) {
		if m.Clock == nil {
			return 0, len(m.Refused) == 0
		}
		return float64(m.Clock.Cycles), true
	}},
	{"Sectors read from memory", "", sweepTotal(func(n *machine.Counts) float64 { return float64(n.Reads) })},
	{"Sectors written to memory", "", sweepTotal(func(n *machine.Counts) float64 { return float64(n.WriteBacks) })},
	{"L1 hits", " %", sweepTotal(func(n *machine.Counts) float64 { return share(n.L1Hits, n.Loads) })},
	{"L2 hits", " %", sweepTotal(func(n *machine.Counts) float64 { return share(n.L2Hits, n.L2Hits+n.L2Misses) })},
}

// sweepTotal returns a value of sweepCounts from the counts of a machine.
func sweepTotal(of func(n *machine.Counts) float64) func(m *machineResultJSON) (v float64, ok bool) {
	return func(m *machineResultJSON) (v float64, ok bool) { return of(&m.Total), m.refusal("total") == "" }
}

// pageSweeps returns plots over the parameter of --sweep with the most values, with a line for each machine that is otherwise equal.
func (r *machineReport) pageSweeps() (list []pageBlock) {
	name, values := "", []string{}
	stride, size := 1, 1+len(r.flags.With) // machines from a value to the next
	for i := len(r.flags.Sweep) - 1; i >= 0; i-- {
		n, v, _ := strings.Cut(r.flags.Sweep[i], "=")
		parts := strings.Split(v, ",")
		if len(parts) > len(values) {
			name, values, stride = n, parts, size
		}
		size *= len(parts)
	}
	if len(values) < 2 {
		return nil
	}
	for _, c := range sweepCounts {
		p, t := &pagePlot{X: name, Ticks: values, Unit: c.unit}, &pageTable{Head: []pageHead{{Name: "machine", Text: true}}}
		for _, v := range values {
			t.Head = append(t.Head, pageHead{Name: name + "=" + v})
		}
		for first := range r.Machines {
			if first/stride%len(values) != 0 {
				continue
			}
			line := pageLine{Name: strings.Join(slices.DeleteFunc(strings.Fields(r.Machines[first].Name), func(s string) bool { return s == name+"="+values[0] }), " ")}
			row, gap := []string{line.Name}, false // a line with a gap is only in the table
			for k := range values {
				v, ok := c.value(&r.Machines[first+k*stride])
				if !ok {
					row, gap = append(row, "refused"), true
					continue
				}
				line.Values, p.Most = append(line.Values, v), max(p.Most, v)
				if c.unit == "" {
					row = append(row, countText(int64(v)))
				} else {
					row = append(row, percentText(v, 1)+c.unit)
				}
			}
			if t.Rows = append(t.Rows, row); !gap {
				p.Lines = append(p.Lines, line)
			}
		}
		if c.unit != "" {
			p.Most = 100
		}
		if len(p.Lines) == 0 {
			p = nil
		}
		if p == nil || p.Most > 0 {
			list = append(list, pageBlock{Title: fmt.Sprintf("%s by %s", c.title, name), Notes: []string{}, Plot: p, Table: t})
		}
	}
	return list
}

// readParts are the reasons for reads of memory, in the order of the parts of a bar.
var readParts = []struct {
	name  string
	count func(c *machine.Counts) int64
}{
	{"first use of the data", func(c *machine.Counts) int64 { return c.CompulsoryReads }},
	{"data that have been in the L2 before", func(c *machine.Counts) int64 { return c.Reads - c.StoreReads - c.StoreExtra - c.CompulsoryReads }},
	{"stores of a part of a sector", func(c *machine.Counts) int64 { return c.StoreReads }},
	{"stores of a part of a line", func(c *machine.Counts) int64 { return c.StoreExtra }},
}

// pageLines returns the lines of the first machine with the most sectors read from memory, with the reasons.
func (r *machineReport) pageLines() []pageSection {
	list := r.linesByReads()
	left := len(list) - min(len(list), r.flags.Top)
	block := pageBlock{Title: "Lines with the most sectors read from memory, by the reason of the read", Notes: []string{}, Bars: &pageBars{}, Table: &pageTable{Head: append(countsHead("line", machineColumns), pageHead{Name: "source", Text: true})}}
	for _, p := range readParts {
		block.Bars.Series = append(block.Bars.Series, p.name)
		block.Table.Head = append(block.Table.Head, pageHead{Name: p.name})
	}
	for i := range list[:len(list)-left] {
		l := &list[i]
		place, text := fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line), r.texts[machinePlace{l.File, l.Line}]
		row, values := append(countsRow(place, machineColumns, &l.Counts), text), []float64{}
		for _, p := range readParts {
			n := p.count(&l.Counts)
			row, values = append(row, countText(n)), append(values, float64(n))
		}
		block.Bars.addBar(place+"  "+text, countText(l.Counts.Reads), values...)
		block.Table.Rows = append(block.Table.Rows, row)
	}
	if left > 0 {
		block.Notes = append(block.Notes, fmt.Sprintf("%d more lines have fewer reads (--top).", left))
	}
	return oneBlock("Lines on "+r.Machines[0].Name, block)
}

// pageSources returns the files with requests, with the counts of the first machine.
func (r *machineReport) pageSources() []*pageListing {
	list := []*pageListing{}
	files := map[string]map[int]*machine.Counts{}
	var names []string
	for i := range r.Machines[0].Lines {
		l := &r.Machines[0].Lines[i]
		if files[l.File] == nil {
			files[l.File] = map[int]*machine.Counts{}
			names = append(names, l.File)
		}
		files[l.File][l.Line] = &l.Counts
	}
	for _, name := range names {
		p := &pageListing{Title: name, Plain: true}
		text := r.fileText(name)
		if len(text) > maxPageLines {
			text = nil
		}
		for i, t := range text {
			row := pageRow{Kind: "line", Line: i + 1, Text: t}
			if c := files[name][i+1]; c != nil {
				row.Counts = &pageCounts{Title: fmt.Sprintf("%d requests", c.Requests), More: countsRow("", machineColumns, c)[1:]}
			}
			p.Rows = append(p.Rows, row)
		}
		for i := range r.Machines[0].Lines { // lines missing in the file, or all lines
			if l := &r.Machines[0].Lines[i]; l.File == name && l.Line > len(text) {
				p.Rows = append(p.Rows, pageRow{Kind: "line", Line: l.Line, Text: r.texts[machinePlace{name, l.Line}], Counts: &pageCounts{Title: fmt.Sprintf("%d requests", l.Counts.Requests), More: countsRow("", machineColumns, &l.Counts)[1:]}})
			}
		}
		list = append(list, p)
	}
	return list
}

// fileText returns the lines of a source file or of the PTX; nil if it was not found.
func (r *machineReport) fileText(name string) []string {
	if m := r.modules[name]; m != nil {
		return strings.Split(strings.TrimSuffix(m.Source(), "\n"), "\n")
	}
	return r.sources.Lines(name)
}

// pageBuffers returns the buffers of the first machine with the most traffic.
func (r *machineReport) pageBuffers() []pageSection {
	list := r.buffersByTraffic()
	left := len(list) - min(len(list), r.flags.Top)
	block := pageBlock{Title: "Buffers with the most traffic of memory, in sectors", Notes: []string{}, Bars: &pageBars{Series: []string{"read", "written"}}, Table: &pageTable{Head: countsHead("buffer", allColumns())}}
	for i := range list[:len(list)-left] {
		b := &list[i]
		block.Bars.addBar(b.text(), countText(b.Counts.Traffic()), float64(b.Counts.Reads), float64(b.Counts.WriteBacks))
		block.Table.Rows = append(block.Table.Rows, countsRow(b.text(), allColumns(), &b.Counts))
	}
	if left > 0 {
		block.Notes = append(block.Notes, fmt.Sprintf("%d more buffers have less traffic (--top).", left))
	}
	return oneBlock("Buffers on "+r.Machines[0].Name, block)
}

// linesByReads returns the lines of the first machine, those with the most sectors read from memory first.
func (r *machineReport) linesByReads() []machineLineJSON {
	list := slices.Clone(r.Machines[0].Lines)
	slices.SortStableFunc(list, func(a, b machineLineJSON) int {
		return cmp.Or(cmp.Compare(b.Counts.Reads, a.Counts.Reads), cmp.Compare(b.Counts.L1Misses, a.Counts.L1Misses), cmp.Compare(b.Counts.Requests, a.Counts.Requests))
	})
	return list
}

// buffersByTraffic returns the buffers of the first machine, those with the most traffic first.
func (r *machineReport) buffersByTraffic() []machineBufferJSON {
	list := slices.Clone(r.Machines[0].Buffers)
	slices.SortStableFunc(list, func(a, b machineBufferJSON) int {
		return cmp.Or(cmp.Compare(b.Counts.Traffic(), a.Counts.Traffic()), cmp.Compare(b.Counts.Requests, a.Counts.Requests))
	})
	return list
}
