package matrix

// This file describes multiplications that machine code executes column by column (package native).

import "gemu/ptx"

// MaxColumns is the maximum number of columns of A in Columns: of floats, or of four integers each.
const MaxColumns = 32

// Columns is a multiplication of a matrix of 8 or 16 rows by a matrix of 8 columns, whose registers have the layout of mma
// (Rows). The factors are 16-bit floats or tf32 with sums of f32 (Method Blocks), or 8-bit integers.
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
	c = Columns{TypeA: o.A.Type, TypeB: o.B.Type, Columns: o.K, width: 32 / max(o.A.Bits, 1), m: o}
	if !o.layoutIsRows || o.Count != 1 || o.N != 8 || o.Sparse != nil || o.Scales != nil || o.InFours || o.Saturate || o.A.Bits != o.B.Bits {
		return c, false
	}
	eightBits := func(t ptx.Type) bool { return t == ptx.S8 || t == ptx.U8 }
	switch {
	case eightBits(c.TypeA) && eightBits(c.TypeB):
		c.Columns = o.K / 4
	case (c.TypeA == ptx.F16 || c.TypeA == ptx.BF16 || c.TypeA == ptx.TF32) && c.TypeB == c.TypeA && o.C.Type == ptx.F32 && o.D.Type == ptx.F32:
		n := NumericsFor(o.unit(), o.SM, c.TypeA, c.TypeB)
		if n.Method != Blocks || n.Result != f32Fraction {
			return c, false
		}
		c.Block, c.Bits, c.LeastExponent = min(n.Block, o.K), n.Fraction, n.MinExponent32
		const productFraction, mostA = 20, 4 // a factor shifted by 5 would not fit 16 bits with a sign
		shift := n.Fraction - productFraction
		c.ShiftA = min(shift, mostA)
		c.ShiftB = shift - c.ShiftA
	default:
		return c, false
	}
	return c, c.Columns <= MaxColumns
}

// f32Fraction is the number of fraction bits of f32.
const f32Fraction = 23

// CornerA returns the row and the column of A of lane 0's first element in a register. Lane l has neighbours in row l/4 below
// it; columns count as in Columns.
func (c *Columns) CornerA(register int) (row, col int) {
	row, col = c.m.A.corner(register, c.width, c.m.K)
	if c.Block == 0 {
		col /= 4
	}
	return row, col
}

// CornerB returns the row and the column of B of lane 0's first element in a register. Lane l has neighbours in the column l/4
// further; rows count as columns of A.
func (c *Columns) CornerB(register int) (row, col int) {
	col, row = c.m.B.corner(register, c.width, c.m.K)
	if c.Block == 0 {
		row /= 4
	}
	return row, col
}

// CornerC returns the row and the column of C and D of lane 0's element in a register. Lane l has row l/4 below it and column
// l%4·2 to the right.
func (c *Columns) CornerC(register int) (row, col int) { return c.m.C.corner(register, 1, c.m.N) }

// corner returns the position of lane 0's first element in a register, for a matrix with cols columns.
func (o *Operand) corner(register, width, cols int) (row, col int) {
	index := int(o.indices[register*width])
	return index / cols, index % cols
}
