package cli

// This file adds the parts of a profile to the page of "gemu structure".

import (
	"fmt"
	"slices"

	"gemu/internal/document"
	"gemu/profile"
	"gemu/ptx"
)

// maxPageLines is the maximum number of lines of a file that is shown as a whole. Of longer files
// only the lines with instructions are shown.
const maxPageLines = 5000

// page returns the page as HTML.
func (r *profileReport) page(structure *structureReport) ([]byte, error) {
	title := "Profile of " + r.File
	if r.profile.Err != nil {
		title += ", " + trappedText
	}
	d := structure.pageData(title)
	for _, c := range memoryColumns() {
		d.Columns = append(d.Columns, pageHead{Name: c.name, Doc: c.doc})
	}
	d.Sources = r.pageSources()
	counts := map[*ptx.Instr]*profile.Counts{}
	for _, l := range r.profile.Lines(true) {
		for i := range l.Instrs {
			counts[l.Instrs[i].Instr] = &l.Instrs[i].Counts
		}
	}
	for _, l := range d.Listings {
		for i := range l.Rows {
			if row := &l.Rows[i]; row.in != nil {
				c := counts[row.in]
				if c == nil { // the function of the instruction was not reached
					c = &profile.Counts{}
				}
				row.Counts.More = r.memory(c)
			}
		}
	}
	d.Sections = append(d.Sections, r.pageCliffs()...)
	return d.html()
}

// memoryColumns are the columns of profileColumns that are missing in the listing of "gemu
// structure".
func memoryColumns() []profileColumn { return profileColumns[3:] }

// memory returns the cells of these columns.
func (r *profileReport) memory(c *profile.Counts) (cells []string) {
	for _, col := range memoryColumns() {
		cells = append(cells, col.text(c, &r.total))
	}
	return cells
}

// pageSources returns the source files of the PTX's compilation.
func (r *profileReport) pageSources() []*pageListing {
	list := []*pageListing{}
	files := map[string]map[int]*profile.Line{}
	var names []string
	for _, l := range r.lines {
		if l.File == l.Instrs[0].Func.Module().Name && r.profile.Err == nil { // the listing has it; after a trap there is no listing
			continue
		}
		if files[l.File] == nil {
			files[l.File] = map[int]*profile.Line{}
			names = append(names, l.File)
		}
		files[l.File][l.Line] = l
	}
	for _, name := range names {
		text := r.sources.Lines(name)
		p := &pageListing{Title: name}
		if n := len(text); n > 0 && n <= maxPageLines {
			for i, t := range text {
				p.Rows = append(p.Rows, r.pageLine(i+1, t, files[name][i+1]))
				delete(files[name], i+1)
			}
		}
		var rest []int // lines missing in the file, or all lines
		for n := range files[name] {
			rest = append(rest, n)
		}
		slices.Sort(rest)
		for _, n := range rest {
			t := ""
			if n <= len(text) {
				t = text[n-1]
			} else {
				t = r.text(files[name][n])
			}
			p.Rows = append(p.Rows, r.pageLine(n, t, files[name][n]))
		}
		list = append(list, p)
	}
	return list
}

// pageLine returns a line with the counts of its instructions; l is nil for a line without
// instructions.
func (r *profileReport) pageLine(n int, text string, l *profile.Line) pageRow {
	p := pageRow{Kind: "line", Line: n, Text: text}
	if l == nil {
		return p
	}
	shares, percent := r.class(l), share(l.Execs, r.total.Execs)
	p.Counts = &pageCounts{Title: fmt.Sprintf("%d executions of %s", l.Execs, counted(len(l.Instrs), "instruction")), More: r.memory(&l.Counts)}
	if l.Execs > 0 {
		p.Counts.Execs, p.Counts.Share, p.Counts.SharePercent, p.Counts.Lanes = countText(l.Execs), percentText(percent, 1)+" %", percent, fmt.Sprintf("%.1f", l.MeanLanes())
		p.Counts.Chips, p.Counts.Parts = []chip{{Class: document.MainClass(shares).String(), Text: classText(shares)}}, pageParts(document.ValueKinds, document.ClassShares(shares))
	}
	return p
}
