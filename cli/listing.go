package cli

// This file is the listing of "gemu structure": the instructions of a function with their counts,
// their source lines, and the control flow.

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/input"
	"gemu/internal/visible"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/structure"
)

// listing is the listing of a function, row by row.
type listing struct {
	fn    *ptx.Func
	place string // file:line
	rows  []listingRow
	jumps []jump
	flow  *flow
}

// listingRow is an instruction, a label or a source line of the PTX's compilation.
type listingRow struct {
	line   int    // line of the PTX; 0 for labels and source lines
	text   string // the instruction, the label with its colon, or the source line
	source bool
	place  string              // file:line of an instruction's source, "" if unknown
	counts *affinetrack.Counts // for an instruction
	paths  structure.Paths     // for an instruction
	in     *ptx.Instr          // for an instruction
	block  *ptx.Block          // of an instruction, if it is the first of the block
}

// chip is a part of the label of an instruction in a listing.
type chip struct {
	Class string `json:"class"`          // "u", "a", "g", "d" (diverges), "few" (executions by one or two lanes), "" (never executed)
	Text  string `json:"text"`           // letters, with shares in percent if there are several
	Doc   string `json:"-"`              // meaning, in words
	Lead  string `json:"lead,omitempty"` // text between the previous chip and this one
}

// chips returns the label of an executed instruction: the classes of its results; of a load or store, of its address and of the
// value; of a branch, how often it diverges.
func (r *listingRow) chips() []chip {
	c, few := r.counts, ""
	label := c.Label
	if r.paths.Divergent > 0 {
		share := percentText(share(r.paths.Divergent, c.Execs), 0)
		doc := fmt.Sprintf("the lanes take different paths in %s %% of the executions", share)
		if r.paths.Divergent == c.Execs {
			return []chip{{"d", "d", doc, ""}}
		}
		return []chip{{"d", "d " + share, doc, ""}}
	}
	space, _ := r.in.Space()
	if space != ptx.Param && r.paths.FewLanes > 0 && 2*r.paths.FewLanes >= label.Total() && document.MainClass(label) != affinetrack.Generic {
		few = fmt.Sprintf("; in %s %% of the executions only one or two lanes, whose values are always uniform or affine", percentText(share(r.paths.FewLanes, label.Total()), 0))
	}
	one := func(subject string, s affinetrack.ClassCounts, lead string) chip {
		text := chip{Class: document.MainClass(s).String(), Text: classText(s), Doc: fmt.Sprintf("%s: %d uniform, %d affine, %d generic%s", subject, s.Uniform, s.Affine, s.Generic, few), Lead: lead}
		if few != "" {
			text.Class, text.Text = "few", text.Text+"?"
		}
		return text
	}
	if space != ptx.Param && c.Data.Total() > 0 {
		switch r.in.Form.Affine {
		case ptx.AffineLoad:
			return []chip{one("address", c.Addresses, ""), one("loaded value", c.Data, "→")}
		case ptx.AffineStore:
			return []chip{one("address", c.Addresses, ""), one("stored value", c.Data, "←")}
		}
	}
	return []chip{one("classes", label, "")}
}

// chipText returns the text of chips, and the meaning in words.
func chipText(chips []chip) (text, doc string) {
	for i, c := range chips {
		if i > 0 {
			doc += "; "
		}
		text, doc = text+c.Lead+c.Text, doc+c.Doc
	}
	return text, doc
}

// chipPaints are the colours of chips on a terminal.
var chipPaints = map[string]paint{"u": classPaints[affinetrack.Uniform], "a": classPaints[affinetrack.Affine], "g": classPaints[affinetrack.Generic], "d": magenta, "few": dim}

// chips paints the label of an instruction, padded to a number of columns.
func (s *screen) chips(list []chip, columns int) string {
	var b strings.Builder
	width := 0
	for _, c := range list {
		b.WriteString(c.Lead + s.paint(chipPaints[c.Class], c.Text))
		width += utf8.RuneCountInString(c.Lead + c.Text)
	}
	return b.String() + strings.Repeat(" ", max(columns-width, 0))
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
	counts := map[*ptx.Func]map[*ptx.Instr]*structure.Instr{}
	sources := sourceFiles{from}
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		if counts[instr.Func] == nil {
			counts[instr.Func] = map[*ptx.Instr]*structure.Instr{}
			list = append(list, &listing{fn: instr.Func, place: fmt.Sprintf("%s:%d", instr.Func.Module().Name, instr.Func.Pos.Line)})
		}
		counts[instr.Func][instr.Instr] = instr
	}
	for _, l := range list {
		l.fill(counts[l.fn], &sources)
	}
	return list
}

// fill makes the rows.
func (l *listing) fill(counts map[*ptx.Instr]*structure.Instr, sources *sourceFiles) {
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
		for n, instr := range b.Instrs {
			row := listingRow{line: int(instr.Pos.Line), text: instr.Format(l.fn) + ";", in: instr}
			if n == 0 {
				row.block = b
			}
			if n := counts[instr]; n != nil {
				row.counts, row.paths = &n.Counts, n.Paths
			}
			if row.place = document.PlaceOf(l.fn, instr); row.place != "" {
				name, line := sourceOf(l.fn, instr)
				if place := fmt.Sprintf("%s:%d", name, line); line > 0 && place != shown {
					shown = place
					l.rows = append(l.rows, sources.row(name, line))
				}
			}
			if list := instr.Targets(); list != nil {
				branches[len(l.rows)] = list
			}
			l.rows = append(l.rows, row)
		}
	}
	for row := range l.rows {
		for _, b := range branches[row] {
			l.jumps = append(l.jumps, jump{row, starts[b.Index]})
		}
	}
	l.flow = newFlow(len(l.rows), l.jumps)
}

// title returns the name of the function in the listing.
func (l *listing) title() string {
	noun := "function"
	if l.fn.Entry {
		noun = "kernel"
	}
	return fmt.Sprintf("%s %s, %s", noun, finding.Name(l.fn.Name), l.place)
}

// sourceOf returns the line of an instruction's source to show before it: where the function that a header of a compiler
// defines is called, not the line of the header. The line is 0 if there is none.
func sourceOf(f *ptx.Func, instr *ptx.Instr) (name string, line int) {
	loc := &f.Locs[instr.Loc]
	name = f.Module().FileName(loc.File)
	switch {
	case !isCompilerHeader(name):
		return name, int(loc.Line)
	case loc.InlinedAtLine > 0:
		if name = f.Module().FileName(loc.InlinedAtFile); !isCompilerHeader(name) {
			return name, int(loc.InlinedAtLine)
		}
	}
	return "", 0
}

// compilerHeaders matches the paths of headers that clang and nvcc include in every compilation.
var compilerHeaders = regexp.MustCompile(`/lib/clang/|(^|/)__clang_[a-z_]*\.h$|/cuda[^/]*/(targets/[^/]+/)?include/|/include/crt/`)

// isCompilerHeader reports whether a source file is a header of a compiler.
func isCompilerHeader(name string) bool { return compilerHeaders.MatchString(filepath.ToSlash(name)) }

// print writes the listing to a screen: line of the PTX, classes of the results,
// executions, mean active lanes, control flow, instruction.
func (l *listing) print(s *screen) {
	const execs, lanes = 7, 6
	line, class, few, diverges := len("line"), len("class"), false, false
	for i := range l.rows {
		if r := &l.rows[i]; r.counts != nil {
			line = max(line, len(fmt.Sprint(r.line)))
			if r.counts.Execs > 0 {
				text, _ := chipText(r.chips())
				class = max(class, utf8.RuneCountInString(text))
				few = few || strings.Contains(text, "?")
				diverges = diverges || r.paths.Divergent > 0
			}
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
			head = s.paint(dim, fitted(fmt.Sprint(r.line), -line)) + "  " + s.chips(r.chips(), class) +
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
	for _, note := range []struct {
		shown bool
		text  string
	}{
		{diverges, "d: the lanes of the warp take different paths"},
		{few, "?: in most executions only one or two lanes, whose values are always uniform or affine"},
	} {
		if note.shown {
			for _, text := range wrap(note.text, s.width) {
				s.printf("%s\n", s.paint(dim, text))
			}
		}
	}
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
