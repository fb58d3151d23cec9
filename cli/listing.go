package cli

// This file is the listing of "gemu structure": the instructions of a function with their counts,
// their source lines, and the control flow.

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemu/affinetrack"
	"gemu/internal/input"
	"gemu/internal/visible"
	"gemu/ptx"
	"gemu/structure"
)

// listing is the listing of a function, row by row.
type listing struct {
	fn    *ptx.Func
	place string // file:line
	rows  []listingRow
	flow  *flow
}

// listingRow is an instruction, a label or a source line of the PTX's compilation.
type listingRow struct {
	line   int    // line of the PTX; 0 for labels and source lines
	text   string // the instruction, the label with its colon, or the source line
	source bool
	place  string              // file:line of an instruction's source, "" if unknown
	counts *affinetrack.Counts // for an instruction
	in     *ptx.Instr          // for an instruction
}

// lanes returns the mean number of active lanes.
func (r *listingRow) lanes() float64 {
	if r.counts.Execs == 0 {
		return 0
	}
	return float64(r.counts.Lanes) / float64(r.counts.Execs)
}

// newListings lists the functions of a structure, in the order in which launches
// reached them.
func newListings(s *structure.Structure, from *input.Sources) []*listing {
	var list []*listing
	counts := map[*ptx.Func]map[*ptx.Instr]*affinetrack.Counts{}
	sources := sourceFiles{from}
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		if counts[instr.Func] == nil {
			counts[instr.Func] = map[*ptx.Instr]*affinetrack.Counts{}
			list = append(list, &listing{fn: instr.Func, place: fmt.Sprintf("%s:%d", instr.Func.Module().Name, instr.Func.Pos.Line)})
		}
		counts[instr.Func][instr.Instr] = &instr.Counts
	}
	for _, l := range list {
		l.fill(counts[l.fn], &sources)
	}
	return list
}

// fill makes the rows.
func (l *listing) fill(counts map[*ptx.Instr]*affinetrack.Counts, sources *sourceFiles) {
	targets := map[*ptx.Block]bool{}
	l.fn.EachInstr(func(instr *ptx.Instr) {
		for _, b := range instr.Targets() {
			targets[b] = true
		}
	})
	branches := map[int][]*ptx.Block{}      // by row
	starts := make([]int, len(l.fn.Blocks)) // first rows of the blocks
	shown := ""                             // place of the source line shown last
	for i, b := range l.fn.Blocks {
		starts[i] = len(l.rows)
		if targets[b] { // further labels belong to debug information
			for _, label := range b.Labels {
				l.rows = append(l.rows, listingRow{text: label + ":"})
			}
		}
		for _, instr := range b.Instrs {
			row := listingRow{line: int(instr.Pos.Line), text: instr.Format(l.fn) + ";", counts: counts[instr], in: instr}
			if instr.Loc >= 0 && l.fn.Locs[instr.Loc].Line > 0 {
				loc := &l.fn.Locs[instr.Loc]
				name := l.fn.Module().FileName(loc.File)
				row.place = fmt.Sprintf("%s:%d", name, loc.Line)
				if row.place != shown {
					shown = row.place
					l.rows = append(l.rows, sources.row(name, int(loc.Line)))
				}
			}
			if list := instr.Targets(); list != nil {
				branches[len(l.rows)] = list
			}
			l.rows = append(l.rows, row)
		}
	}
	var jumps []jump
	for row := range l.rows {
		for _, b := range branches[row] {
			jumps = append(jumps, jump{row, starts[b.Index]})
		}
	}
	l.flow = newFlow(len(l.rows), jumps)
}

// title returns the name of the function in the listing.
func (l *listing) title() string {
	noun := "function"
	if l.fn.Entry {
		noun = "kernel"
	}
	return fmt.Sprintf("%s %s, %s", noun, l.fn.Name, l.place)
}

// print writes the listing to a screen: line of the PTX, classes of the results,
// executions, mean active lanes, control flow, instruction.
func (l *listing) print(s *screen) {
	const execs, lanes = 7, 6
	line, class := len("line"), len("class")
	for i := range l.rows {
		if r := &l.rows[i]; r.counts != nil {
			line = max(line, len(fmt.Sprint(r.line)))
			class = max(class, len(classText(r.counts.Label)))
		}
	}
	s.heading(l.title())
	s.printf("%s\n", s.paint(dim, fitted("line", -line)+"  "+fitted("class", class)+fitted("execs", -execs)+fitted("lanes", -lanes)))
	empty := fitted("", line+2+class+execs+lanes)
	for i := range l.rows {
		r := &l.rows[i]
		head, style := empty, plain
		switch {
		case r.source:
			style = dim
		case r.counts == nil:
			style = bold
		case r.counts.Execs == 0:
			style = dim
			head = s.paint(dim, fitted(fmt.Sprint(r.line), -line)+"  "+fitted("-", class)+fitted("-", -execs)+fitted("-", -lanes))
		default:
			head = s.paint(dim, fitted(fmt.Sprint(r.line), -line)) + "  " + s.classes(r.counts.Label, class) +
				fitted(countText(r.counts.Execs), -execs) + fitted(fmt.Sprintf("%.1f", r.lanes()), -lanes)
		}
		// Labels stand out to the left, and the lines of branches reach the text.
		lead := "   "
		switch {
		case r.counts == nil && l.flow.to[i]:
			lead = "▶ "
		case r.counts == nil:
			lead = "  "
		case l.flow.from[i]:
			lead = "── "
		}
		first, further := l.flow.text(i)
		room := 0 // no limit
		if s.width > 0 {
			room = max(s.width-len(empty)-1-l.flow.depth()-utf8.RuneCountInString(lead), 24)
		}
		lines := []string{cut(r.text, room)}
		if !r.source {
			lines = wrap(r.text, room)
		}
		for n, text := range lines {
			if n == 0 {
				s.printf("%s %s%s\n", head, s.paint(dim, first+lead), s.paint(style, text))
			} else {
				s.printf("%s %s%s\n", empty, s.paint(dim, further+"     "), s.paint(style, text))
			}
		}
	}
}

// classes returns the label of an instruction, padded to a number of columns.
func (s *screen) classes(shares affinetrack.ClassCounts, columns int) string {
	text := fitted(classText(shares), columns)
	return s.paint(classPaints[mainClass(shares)], text)
}

// sourceFiles are the files named in .file directives.
type sourceFiles struct{ *input.Sources }

// text returns a line of a file, with single blanks; "" if the file is not available.
func (s *sourceFiles) text(name string, n int) string {
	lines := s.Lines(name)
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.Join(strings.FieldsFunc(lines[n-1], func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
}

// row returns the row for a line of a file: its text, or its place if the file is not available.
func (s *sourceFiles) row(name string, n int) listingRow {
	row := listingRow{source: true, text: fmt.Sprintf("%s:%d", visible.Text(name), n)}
	if text := s.text(name, n); text != "" {
		row.text = fmt.Sprintf("%s:%d  %s", visible.Text(filepath.Base(name)), n, text)
	}
	return row
}
