package matrix

// This file describes multiplications that machine code executes column by column (package native).

import "gemu/ptx"

// MaxColumns is the maximum number of columns of A in Columns: of floats, or of four integers each.
const MaxColumns = 32

// Columns is an mma without metadata and scales: the product of a matrix A of 8 or 16 rows and a matrix B of 8 columns. The
// factors are floats of at most 11 bits with sums of f32 (Method Blocks), or integers of 8 bits.
type Columns struct {
	TypeA, TypeB ptx.Type
	Columns      int // of A: of floats, or of four integers each

	Block          int // products that are added at once; 0: integers
	Bits           int // Numerics.Fraction
	LeastExponent  int // Numerics.MinExponent32
	ShiftA, ShiftB int // shifts of the 11-bit magnitudes of factors, so that a product has Bits bits after the point

	width int // elements in a register of A or B
	m     *Multiply
}

// ByColumns returns the description; ok is false for all other multiplications.
func (o *Multiply) ByColumns() (c Columns, ok bool) {
	c = Columns{TypeA: o.A.Type, TypeB: o.B.Type, Columns: o.K, width: 32 / o.A.Bits, m: o}
	switch {
	case !o.layoutIsRows || o.Sparse != nil || o.Scales != nil:
		return c, false
	case c.TypeA.IsInt() && o.A.Bits == 8 && !o.Saturate:
		c.Columns = o.K / 4
		return c, c.Columns <= MaxColumns
	case !c.TypeA.IsFloat() || o.C.Type != ptx.F32 || o.D.Type != ptx.F32:
		return c, false
	}
	n := NumericsFor(o.unit(), o.SM, c.TypeA, c.TypeB)
	c.Block, c.Bits, c.LeastExponent = min(n.Block, o.K), n.Fraction, n.MinExponent32
	const productFraction, mostA = 20, 4 // a factor shifted by 5 would not fit 16 bits with a sign
	shift := n.Fraction - productFraction
	c.ShiftA = min(shift, mostA)
	c.ShiftB = shift - c.ShiftA
	return c, n.Method == Blocks && n.Result == f32Fraction && c.Columns <= MaxColumns
}

// f32Fraction is the number of fraction bits of f32.
const f32Fraction = 23

// CornerA returns the row and the column, as in Columns, of lane 0's first element in a register of A. The elements of lane l
// are l/4 rows below, and l%4 registers' elements to the right.
func (c *Columns) CornerA(register int) (row, col int) {
	row, col = c.m.A.corner(register, c.width, c.m.K)
	if c.Block == 0 {
		col /= 4
	}
	return row, col
}

// CornerB returns the row and the column of lane 0's first element in a register of B. The elements of lane l are l/4 columns
// to the right, and l%4 registers' elements below. A row of B has the number of a column of A.
func (c *Columns) CornerB(register int) (row, col int) {
	col, row = c.m.B.corner(register, c.width, c.m.K)
	if c.Block == 0 {
		row /= 4
	}
	return row, col
}

// CornerC returns the row and the column of lane 0's element in a register of C or D. The element of lane l is l/4 rows below,
// and l%4·2 columns to the right.
func (c *Columns) CornerC(register int) (row, col int) { return c.m.C.corner(register, 1, c.m.N) }

// corner returns the position of lane 0's first element in a register, for a matrix with cols columns.
func (o *Operand) corner(register, width, cols int) (row, col int) {
	index := int(o.indices[register*width])
	return index / cols, index % cols
}
