// Package matrix is the matrix instructions of a warp (manual 9.7.14): where the lanes hold
// the elements of a matrix, and what is computed of them. It knows neither instructions nor
// machines: who executes them brings the registers.
package matrix

import "math/bits"

// Lanes is how many lanes hold a matrix.
const Lanes = 32

// Step is how far an element moves in its matrix, and to which matrix, if several are held.
type Step struct{ Row, Col, Matrix int }

// Layout says where elements of a matrix are: element i of a lane's fragment is where the
// steps of the bits of the lane's number and of i, added up, lead to. All layouts of the
// manual can be written so.
type Layout struct {
	Lane [5]Step // by bit of the lane's number
	Elem []Step  // by bit of the element's
}

// Position is where element i of a lane is.
func (l *Layout) Position(lane, i int) (at Step) {
	add := func(s Step) { at.Row, at.Col, at.Matrix = at.Row+s.Row, at.Col+s.Col, at.Matrix+s.Matrix }
	for n := uint(lane); n != 0; n &= n - 1 {
		add(l.Lane[bits.TrailingZeros(n)])
	}
	for n := uint(i); n != 0; n &= n - 1 {
		add(l.Elem[bits.TrailingZeros(n)])
	}
	return at
}

// Len is how many elements each lane holds.
func (l *Layout) Len() int { return 1 << len(l.Elem) }

// Transposed is the layout of the matrix with rows and columns exchanged.
func (l Layout) Transposed() Layout {
	turn := func(list []Step) []Step {
		turned := make([]Step, len(list))
		for i, s := range list {
			turned[i] = Step{s.Col, s.Row, s.Matrix}
		}
		return turned
	}
	t := Layout{Elem: turn(l.Elem)}
	copy(t.Lane[:], turn(l.Lane[:]))
	return t
}

// Rows is the layout of a matrix of m×k elements, of which each group of four lanes has
// rows: the lanes of the group w neighbours each in turn. What is left of a lane's elements is
// first eight rows below, then further along the row. So are A and, transposed, B of mma, with
// as many neighbours as a 32-bit register holds, and C with two (manual 9.7.14.5.2 to
// 9.7.14.5.13).
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

// The fragments of mma.m8n8k4 with f16, which is four multiplications (manual 9.7.14.5.1):
// each by lanes 4i to 4i+3 and 16+4i to 16+4i+3. In quarters, a lane has four neighbours of a row;
// in columns, of a column, four of which make the upper or the lower half.
var (
	quarterRows    = Layout{Lane: [5]Step{{Row: 1}, {Row: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Col: 1}, {Col: 2}}}
	quarterColumns = Layout{Lane: [5]Step{{Col: 1}, {Col: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Row: 1}, {Row: 2}}}
	sumLayout16    = Layout{Lane: quarterRows.Lane, Elem: []Step{{Col: 1}, {Col: 2}, {Col: 4}}}
	sumLayout32    = Layout{Lane: [5]Step{{Row: 1}, {Col: 2}, {Matrix: 1}, {Matrix: 2}, {Row: 4}}, Elem: []Step{{Col: 1}, {Row: 2}, {Col: 4}}}
)
