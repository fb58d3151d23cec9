package cli

// This file draws the control flow of a listing: lines from branches to their targets, next to the
// rows.

import (
	"cmp"
	"slices"
	"strings"
)

// jump is a branch of a listing, from a row to a row.
type jump struct{ from, to int }

// cell is a piece of a line: the touched sides of a character cell.
type cell uint8

// The sides.
const (
	upward cell = 1 << iota
	downward
	leftward
	rightward
)

// flow is the drawing of a listing: cells by row, the outermost column first.
type flow struct {
	cells [][]cell
	from  []bool // rows with the beginning of a line
	to    []bool // rows with the end of a line
}

// maxFlow is the maximum number of columns of lines; jumps beyond it are not drawn.
const maxFlow = 8

// newFlow lays out the jumps of a listing with the given number of rows. Jumps to the same row
// share a line; short jumps are close to the text.
func newFlow(rows int, jumps []jump) *flow {
	type line struct{ first, last, to int }
	byTarget := map[int]*line{}
	var lines []*line
	for _, j := range jumps {
		l := byTarget[j.to]
		if l == nil {
			l = &line{j.to, j.to, j.to}
			byTarget[j.to] = l
			lines = append(lines, l)
		}
		l.first, l.last = min(l.first, j.from), max(l.last, j.from)
	}
	slices.SortStableFunc(lines, func(a, b *line) int {
		return cmp.Or(cmp.Compare(a.last-a.first, b.last-b.first), cmp.Compare(a.first, b.first))
	})
	var columns [][]*line // the innermost first
	column := map[*line]int{}
	for _, l := range lines {
		free := func(c []*line) bool {
			return !slices.ContainsFunc(c, func(o *line) bool { return l.first <= o.last && o.first <= l.last })
		}
		i := slices.IndexFunc(columns, free)
		if i < 0 {
			if len(columns) == maxFlow {
				continue
			}
			i = len(columns)
			columns = append(columns, nil)
		}
		columns[i] = append(columns[i], l)
		column[l] = i
	}
	f := &flow{cells: make([][]cell, rows), from: make([]bool, rows), to: make([]bool, rows)}
	for r := range f.cells {
		f.cells[r] = make([]cell, len(columns))
	}
	cellAt := func(row, column int) *cell { return &f.cells[row][len(columns)-1-column] }
	for l, i := range column {
		for r := l.first; r < l.last; r++ {
			*cellAt(r, i) |= downward
			*cellAt(r+1, i) |= upward
		}
	}
	reach := func(row, i int) { // from column i to the text
		*cellAt(row, i) |= rightward
		for i--; i >= 0; i-- {
			*cellAt(row, i) |= leftward | rightward
		}
	}
	for _, j := range jumps {
		if i, ok := column[byTarget[j.to]]; ok {
			reach(j.from, i)
			reach(j.to, i)
			f.from[j.from], f.to[j.to] = true, true
		}
	}
	return f
}

// depth returns the number of columns.
func (f *flow) depth() int {
	if len(f.cells) == 0 {
		return 0
	}
	return len(f.cells[0])
}

// lines are the box-drawing characters by their touched sides.
var lines = [16]rune{
	0: ' ', upward | downward: '│', leftward | rightward: '─', downward | rightward: '╭', upward | rightward: '╰',
	upward | downward | rightward: '├', downward | leftward | rightward: '┬', upward | leftward | rightward: '┴', upward | downward | leftward | rightward: '┼',
}

// text returns the box-drawing characters of a row. first goes beside the first line of the row's text, further beside each
// further line.
func (f *flow) text(row int) (first, further string) {
	var a, b strings.Builder
	for _, c := range f.cells[row] {
		a.WriteRune(lines[c])
		b.WriteRune(lines[c&downward|c&downward>>1])
	}
	return a.String(), b.String()
}
