package matrix

// This file has layouts: which lane holds which element of a matrix.

import "math/bits"

// Lanes is the number of lanes that hold a matrix.
const Lanes = 32

// Step is a movement in a matrix by rows and columns or, if the lanes hold several matrices, to another matrix.
type Step struct{ Row, Col, Matrix int }

// Layout maps the elements that lanes hold to positions in the matrix. Each bit of the lane's number and of the element's
// number has a step; the position is the sum of the steps whose bits are set. All layouts of the manual have this form.
type Layout struct {
	Lane [5]Step // by bit of the lane's number
	Elem []Step  // by bit of the element's number
}

// Position returns the position in the matrix of element i of a lane.
func (l *Layout) Position(lane, i int) (pos Step) {
	add := func(s Step) { pos.Row, pos.Col, pos.Matrix = pos.Row+s.Row, pos.Col+s.Col, pos.Matrix+s.Matrix }
	for n := uint(lane); n != 0; n &= n - 1 {
		add(l.Lane[bits.TrailingZeros(n)])
	}
	for n := uint(i); n != 0; n &= n - 1 {
		add(l.Elem[bits.TrailingZeros(n)])
	}
	return pos
}

// Len is the number of elements in each lane.
func (l *Layout) Len() int { return 1 << len(l.Elem) }

// Transposed returns the layout of the transposed matrix.
func (l Layout) Transposed() Layout {
	exchange := func(list []Step) []Step {
		exchanged := make([]Step, len(list))
		for i, s := range list {
			exchanged[i] = Step{s.Col, s.Row, s.Matrix}
		}
		return exchanged
	}
	t := Layout{Elem: exchange(l.Elem)}
	copy(t.Lane[:], exchange(l.Lane[:]))
	return t
}

// Rows returns the layout of an m×k matrix in which each group of four lanes holds whole rows. The lanes of a group hold w
// neighbouring elements each, one lane after the other. The further elements of a lane lie eight rows below; then further
// along the row. A and (transposed) B of mma have this layout, with w elements in a 32-bit register, and C has it with w =
// 2 (manual 9.7.14.5.2 to 9.7.14.5.13).
func Rows(m, k, w int) Layout {
	l := Layout{Lane: [5]Step{{Col: w}, {Col: 2 * w}, {Row: 1}, {Row: 2}, {Row: 4}}}
	for col := 1; col < w; col *= 2 {
		l.Elem = append(l.Elem, Step{Col: col})
	}
	for row := 8; row < m; row *= 2 {
		l.Elem = append(l.Elem, Step{Row: row})
	}
	for col := 4 * w; col < k; col *= 2 {
		l.Elem = append(l.Elem, Step{Col: col})
	}
	return l
}

// Layouts of mma.m8n8k4 with f16, which has four multiplications (manual 9.7.14.5.1). Lanes 4i to 4i+3 hold the upper half
// of each matrix of multiplication i, and lanes 16+4i to 16+4i+3 the lower half. In quarterRows a lane has four neighbours
// of a row, in quarterColumns four neighbours of a column.
var (
	quarterRows    = Layout{Lane: [5]Step{{Row: 1}, {Row: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Col: 1}, {Col: 2}}}
	quarterColumns = Layout{Lane: [5]Step{{Col: 1}, {Col: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Row: 1}, {Row: 2}}}
	sumLayout16    = Layout{Lane: quarterRows.Lane, Elem: []Step{{Col: 1}, {Col: 2}, {Col: 4}}}
	sumLayout32    = Layout{Lane: [5]Step{{Row: 1}, {Col: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Col: 1}, {Row: 2}, {Col: 4}}}
)
