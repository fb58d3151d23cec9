package matrix

// This file has the fragments of wmma (manual 9.7.14.4). The manual does not define them: these fragments are those of the
// machine code that ptxas generates for wmma.load.

import (
	mathbits "math/bits"

	"gemu/ptx"
)

// Wmma is the multiplication of wmma: A has m×k elements, B k×n, C and D m×n.
type Wmma struct {
	SM         int // compute capability of the device
	M, N, K    int
	ACol, BCol bool // layouts in memory; they decide the fragments on Volta
}

// WmmaMatrix is a matrix operand of wmma.
type WmmaMatrix byte

// Matrix operands. C and D have the same fragments.
const (
	WmmaA WmmaMatrix = 'a'
	WmmaB WmmaMatrix = 'b'
	WmmaC WmmaMatrix = 'c'
)

// extent returns the rows and columns of a matrix.
func (w *Wmma) extent(m WmmaMatrix) (rows, cols int) {
	switch m {
	case WmmaA:
		return w.M, w.K
	case WmmaB:
		return w.K, w.N
	}
	return w.M, w.N
}

// fragment returns the layout of a matrix in the lanes. A and B of f16 occupy eight registers in every shape: registers
// that the shape does not need repeat elements.
func (w *Wmma) fragment(m WmmaMatrix, t ptx.Type) Layout {
	var l Layout
	if w.SM < 75 && (t == ptx.F16 || t == ptx.F32) {
		l = w.voltaLayout(m, t)
	} else {
		l = w.turingLayout(m, t)
	}
	if t == ptx.F16 && m != WmmaC {
		for len(l.Elem) < 4 {
			l.Elem = append(l.Elem, Step{})
		}
	}
	return l
}

// turingLayout returns the layouts from sm_75 on. A wmma is a sequence of mma instructions, and its layouts are the layouts
// of their matrices, one after the other. m8n32 is m32n8 with A and B exchanged and all matrices transposed.
func (w *Wmma) turingLayout(m WmmaMatrix, t ptx.Type) Layout {
	if w.N > w.M && m == WmmaC && t == ptx.S32 && w.SM < 80 {
		l := Rows(8, 8, 2)
		l.Elem = append(l.Elem, Step{Col: 8}, Step{Col: 16})
		return l
	}
	if w.N > w.M {
		exchanged := Wmma{SM: w.SM, M: w.N, N: w.M, K: w.K}
		return exchanged.turingLayout(map[WmmaMatrix]WmmaMatrix{WmmaA: WmmaB, WmmaB: WmmaA, WmmaC: WmmaC}[m], t).Transposed()
	}
	perWord := max(32/t.Bits(), 1)
	switch m {
	case WmmaA:
		l := Rows(min(w.M, 16), w.K, perWord)
		for row := 16; row < w.M; row *= 2 {
			l.Elem = append(l.Elem, Step{Row: row})
		}
		return l
	case WmmaB:
		l := Rows(8, w.K, perWord)
		for row := 8; row < w.N; row *= 2 {
			l.Elem = append(l.Elem, Step{Row: row})
		}
		return l.Transposed()
	}
	l := Rows(min(w.M, 16), 8, 2)
	for row := 16; row < w.M; row *= 2 {
		l.Elem = append(l.Elem, Step{Row: row})
	}
	for col := 8; col < w.N; col *= 2 {
		l.Elem = append(l.Elem, Step{Col: col})
	}
	return l
}

// voltaLayout returns the layouts of Volta: the layouts of mma.m8n8k4, whose four multiplications cover the rows and
// columns of a larger matrix.
func (w *Wmma) voltaLayout(m WmmaMatrix, t ptx.Type) Layout {
	part := [2]Step{{Row: 8}, {Col: 8}}
	switch {
	case w.M > w.N:
		part = [2]Step{{Row: 8}, {Row: 16}}
	case w.M < w.N:
		part = [2]Step{{Col: 8}, {Col: 16}}
	}
	var l Layout
	switch {
	case m == WmmaC && t == ptx.F32:
		l = sumLayout32
	case m == WmmaC:
		l = sumLayout16
	case m == WmmaA && !w.ACol || m == WmmaB && w.BCol:
		l = quarterRows
	default:
		l = quarterColumns
	}
	switch m {
	case WmmaA:
		l.Lane[2], l.Lane[3] = Step{Row: part[0].Row}, Step{Row: part[1].Row}
	case WmmaB:
		l.Lane[2], l.Lane[3] = Step{Row: part[0].Col}, Step{Row: part[1].Col}
	case WmmaC:
		l.Lane[2], l.Lane[3] = part[0], part[1]
		return l
	}
	l.Elem = append(l.Elem[:2:2], Step{Col: 4}, Step{Col: 8})
	if m == WmmaB {
		return l.Transposed()
	}
	return l
}

// Multiply returns the multiplication of wmma.mma with the given types.
func (w *Wmma) Multiply(d, a, b, c ptx.Type) *Multiply {
	o := &Multiply{M: w.M, N: w.N, K: w.K, Count: 1, SM: w.SM, InFours: a == ptx.TF32}
	width := a.Bits()
	la, lb := w.fragment(WmmaA, a), w.fragment(WmmaB, b)
	if a == ptx.B1 {
		width, o.K = 32, w.K/32
		la, lb = groupElements(la, 32), groupElements(lb.Transposed(), 32).Transposed()
	}
	o.A, o.B = newOperand(a, width, la, w.M, o.K), newOperand(b, width, lb.Transposed(), w.N, o.K)
	o.C, o.D = newOperand(c, c.Bits(), w.fragment(WmmaC, c), w.M, w.N), newOperand(d, d.Bits(), w.fragment(WmmaC, d), w.M, w.N)
	return o
}

// groupElements returns the layout of a matrix whose elements are groups of n neighbouring elements of a row of l.
func groupElements(l Layout, n int) Layout {
	o := Layout{Lane: l.Lane}
	for i := range o.Lane {
		o.Lane[i].Col /= n
	}
	for _, s := range l.Elem {
		if s.Col == 0 || s.Col >= n {
			o.Elem = append(o.Elem, Step{s.Row, s.Col / n, s.Matrix})
		}
	}
	return o
}

// Tile returns the tile of a matrix in memory: its rows, or its columns if col is set. Lane i accesses row (or column) i.
//
// The required alignment is that of the CUDA C++ guide (ldm, of load_matrix_sync). The manual requires a multiple of the
// fragment's size. Where this exceeds 16 bytes, it is more than the guide, the examples in the manual, and GPUs require.
func (w *Wmma) Tile(m WmmaMatrix, t ptx.Type, col bool) *Tile {
	rows, cols := w.extent(m)
	l := w.fragment(m, t)
	if col {
		rows, cols, l = cols, rows, l.Transposed()
	}
	bits := t.Bits()
	fragment := max(l.Len()*bits/8, 4)
	if bits < 8 {
		l, cols, bits = groupElements(l, 32/bits), cols*bits/32, 32
	}
	tile := &Tile{Rows: rows, Count: 1, Bits: bits, Packed: bits, Bytes: cols * bits / 8, Align: min(fragment, 16), layout: l}
	tile.placeElements()
	if n := tile.widestAccess(); n < tile.Align {
		tile.HardwareAlign = 1 << (mathbits.Len(uint(n)) - 1)
	}
	return tile
}

// Stride is the default distance, in elements, between neighbouring rows of a matrix in memory, or between columns if col
// is set.
func (w *Wmma) Stride(m WmmaMatrix, col bool) int {
	rows, cols := w.extent(m)
	if col {
		return rows
	}
	return cols
}
