package matrix

// This file describes multiplications that machine code executes column by column (package native).

import (
	"slices"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// MaxColumns is the maximum number of columns of A in Columns.
const MaxColumns = 64

// The extents of a Product.
const (
	ProductRows    = 16
	ProductColumns = 8
)

// Columns is a dense multiplication without scales, divided into products of 16 rows of A and 8 columns of B.
type Columns struct {
	A, B, C, D ptx.Type
	Exchanged  bool // A and B are exchanged and all matrices transposed: the registers of A are those of the operand B
	Columns    int  // of A: floats, pairs of integers, or words of 32 bits
	Products   []Product

	// Of floats of less than 64 bits.
	Block         int  // products that are added at once
	Bits          int  // Numerics.Fraction
	ClearedBits   int  // low bits that a result of f32 does not have
	LeastExponent int  // of the aligned terms
	Exponent      int  // added to the exponents of products whose factors are read as f16: see scaleAsF16
	SumF16        bool // sums are f16
	CLast         bool // C is added to the sum of the products
	Halves        bool // Method Halves: factors are converted to f16, and the columns of A are in two halves

	Saturate bool // clamps integers
	Xor      bool // for bits
}

// Product is a part of D: the product of 16 rows of A, or 8, and 8 columns of B.
type Product struct{ A, B, C, D []Part }

// Part is a part of a matrix in two registers, which have rows 0 to 7 and 8 to 15, or in one register twice.
type Part struct {
	Registers [2]int
	Column    int // of lane 0's first element, as in Columns.Columns; of B, its row
}

// ByColumns returns the description; ok is false for all other multiplications.
func (o *Multiply) ByColumns() (c Columns, ok bool) {
	c = Columns{A: o.A.Type, B: o.B.Type, C: o.C.Type, D: o.D.Type, Columns: o.K, Exchanged: o.N > o.M, Saturate: o.Saturate, Xor: o.Xor}
	if o.Sparse != nil || o.Scales != nil || o.Count > 1 {
		return c, false
	}
	switch t := c.A; {
	case t == ptx.F64:
		ok = o.Rounding == fp.RN
	case t == ptx.B1:
		ok = !c.Exchanged
	case t.IsInt():
		c.Columns = o.K / 2
		ok = true
	default:
		ok = o.floatColumns(&c)
	}
	a, b := &o.A, &o.B
	if c.Exchanged {
		a, b, c.A, c.B = b, a, c.B, c.A
	}
	return c, ok && c.Columns <= MaxColumns && c.divide(o, a, b)
}

// floatColumns sets the numbers of floats.
func (o *Multiply) floatColumns(c *Columns) bool {
	n := NumericsFor(o.unit(), o.SM, c.A, c.B)
	c.Exponent = scaleAsF16(c.A) + scaleAsF16(c.B)
	c.SumF16 = c.D == ptx.F16 && c.C == ptx.F16
	columns := o.K
	switch {
	case c.C != c.D && o.SM < 75, c.A.Bits() < 8 && o.A.Bits != 8:
		return false
	case n.Method == Halves:
		c.CLast, c.Halves, columns, c.Exponent = true, true, o.K/2, 0
		if n = NumericsFor(o.unit(), o.SM, ptx.F16, ptx.F16); c.C != c.D {
			return false
		}
	}
	c.Block, c.Bits, c.ClearedBits, c.LeastExponent = min(n.Block, columns), n.Fraction, f32Fraction-n.Result, n.MinExponent32
	if c.SumF16 {
		c.LeastExponent = n.MinExponent16
	}
	return n.Method == Blocks
}

// f32Fraction is the number of fraction bits of f32.
const f32Fraction = 23

// scaleAsF16 returns e for a type of numbers with at most 8 bits, which are read as f16 with the same bits, except for zeros after
// the fraction: a number is 2^e times this f16. It returns 0 for wider types.
func scaleAsF16(t ptx.Type) int {
	if t.Bits() > 8 {
		return 0
	}
	narrow, _ := fp.FormatOf(t).Layout()
	f16, _ := fp.FormatOf(ptx.F16).Layout()
	return f16.Bias - narrow.Bias
}

// divide sets the products, and reports whether all registers have the layout Rows.
func (c *Columns) divide(o *Multiply, a, b *Operand) bool {
	rows, cols := o.M, o.N
	if c.Exchanged {
		rows, cols = cols, rows
	}
	const sums = 2 // neighbours of C and D in a lane, in one register or in two
	x, ok1 := a.corners(o.K, max(32/a.Bits, 1), false)
	y, ok2 := b.corners(o.K, max(32/b.Bits, 1), false)
	z, ok3 := o.C.corners(o.N, sums, c.Exchanged)
	w, ok4 := o.D.corners(o.N, sums, c.Exchanged)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return false
	}
	for row := 0; row < rows; row += ProductRows {
		for col := 0; col < cols; col += ProductColumns {
			p := Product{A: pairs(x, row, 0, o.K), B: pairs(y, col, 0, o.K), C: pairs(z, row, col, ProductColumns), D: pairs(w, row, col, ProductColumns)}
			for _, list := range [][]Part{p.A, p.B} {
				for i := range list {
					list[i].Column = list[i].Column * c.Columns / o.K
					if c.Halves {
						list[i].Column /= 2
					}
				}
			}
			c.Products = append(c.Products, p)
		}
	}
	return len(c.Products) <= MaxProducts && (len(c.Products) == 1 || c.A != ptx.F64)
}

// MaxProducts is the maximum number of products; of f64 there is one.
const MaxProducts = 2

// Distances returns the distance of the columns of neighbouring lanes, and of the third element of a lane from its first.
func (c *Columns) Distances() (lanes, third int) {
	switch bits := c.A.Bits(); {
	case c.Halves:
		return 2, c.Columns / 2
	case bits <= 8:
		return 4, 2
	case bits == 16:
		return 2, 0
	}
	return 1, 0
}

// corner is the position of lane 0's first element in a register.
type corner struct{ row, col int }

// corners returns the corners of the registers of a matrix with cols columns, which is transposed if exchanged is set. ok is false
// unless lane 4·r + c has elements of row r, from column c·neighbours on.
func (o *Operand) corners(cols, neighbours int, exchanged bool) (list []corner, ok bool) {
	at := func(lane, i int) corner {
		index := int(o.indices[lane*o.perLane+i])
		if exchanged {
			return corner{index % cols, index / cols}
		}
		return corner{index / cols, index % cols}
	}
	width := max(32/o.Bits, 1)
	for first := 0; first < o.perLane; first += width {
		origin := at(0, first)
		for lane := range Lanes {
			for i := range width {
				if at(lane, first+i) != (corner{origin.row + lane/4, origin.col + lane%4*neighbours + i}) {
					return nil, false
				}
			}
		}
		list = append(list, origin)
	}
	return list, true
}

// pairs returns the parts of a matrix from a row on, in cols columns from col on. Of registers with the same elements the last counts, as in
// gather.
func pairs(list []corner, row, col, cols int) (parts []Part) {
	for i, x := range list {
		if x.row != row || x.col < col || x.col >= col+cols || slices.Contains(list[i+1:], x) {
			continue
		}
		p := Part{Registers: [2]int{i, i}, Column: x.col - col}
		for k, y := range list {
			if y == (corner{row + 8, x.col}) {
				p.Registers[1] = k
			}
		}
		parts = append(parts, p)
	}
	return parts
}
