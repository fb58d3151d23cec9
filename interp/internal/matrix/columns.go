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

// Columns is a multiplication divided into products of 16 rows of A and 8 columns of B. A sparse A is made dense.
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

	Metadata Metadata

	Scaling
}

// Scaling describes scales. The zero value means that there are none.
type Scaling struct {
	ScalesPerRow int  // number of scales for each row of A and each column of B; 0: none
	UE4M3        bool // see Scales
	Group        int  // columns of a group of products of packed .e2m1, whose sum is exact; 0: the elements are not packed
	SumScale     int  // for groups: Bits less the number of fraction bits of a group's sum times its scales
}

// Metadata describes the metadata of a sparse A in columns. The zero value means that A is dense.
type Metadata struct {
	Size    int  // size in bytes of each of the two stored parts of a chunk; of a type of 32 bits there is one
	Groups  int  // number of groups of four chunks in a row
	Ordered bool // see Sparsity
	Wide    bool // a register has the metadata of four chunks of two rows; false: of eight chunks of a row
	First   int  // the first lane, of each four, that has metadata
	Lanes   int  // the number of these lanes
}

// columns returns the description; ok is false if the selector is invalid.
func (s *Sparse) columns(bits int) (m Metadata, ok bool) {
	m = Metadata{Size: max(bits, 8) / 8, Groups: s.chunks / chunksPerGroup, Ordered: s.Ordered, Wide: bits >= 16, First: s.Selector * s.lanesWithMetadata, Lanes: s.lanesWithMetadata}
	return m, s.Selector < 4/s.lanesWithMetadata
}

// chunksPerGroup is the number of chunks of a group of metadata.
const chunksPerGroup = 4

// Product is a part of D: the product of 16 rows of A, or 8, and 8 columns of B.
type Product struct{ A, B, C, D []Part }

// Part is a part of a matrix in two registers, which have rows 0 to 7 and 8 to 15, or in one register twice.
type Part struct {
	Registers [2]int
	Column    int // of lane 0's first element, as in Columns.Columns; of B, its row
	Group     int // of a sparse A: the first group of metadata
}

// ByColumns returns the description; ok is false for all other multiplications.
func (o *Multiply) ByColumns() (c Columns, ok bool) {
	c = Columns{A: o.A.Type, B: o.B.Type, C: o.C.Type, D: o.D.Type, Columns: o.K, Exchanged: o.N > o.M, Saturate: o.Saturate, Xor: o.Xor}
	if o.Count > 1 {
		return c, false
	}
	if o.Sparse != nil {
		if c.Metadata, ok = o.Sparse.columns(o.A.Bits); !ok {
			return c, false
		}
		ok = false
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
	sm := o.SM
	if o.Scales != nil {
		sm = max(sm, firstScaledSM)
		c.ScalesPerRow, c.UE4M3 = o.Scales.PerRow, o.Scales.UE4M3
	}
	n := NumericsFor(o.unit(), sm, c.A, c.B)
	c.Exponent = scaleAsF16(c.A) + scaleAsF16(c.B)
	c.SumF16 = c.D == ptx.F16 && c.C == ptx.F16
	columns, packed := o.K, o.A.Bits == 4
	switch {
	case packed && o.Scales != nil:
		c.Columns = o.K / 2
		c.Group, c.SumScale = exactGroup/2, n.Fraction-o.Scales.sumFraction()
		if o.Sparse != nil {
			c.Group *= 2
		}
	case packed, c.C != c.D && (sm < 75 || o.Sparse != nil), c.A.Bits() < 8 && o.A.Bits != 8, c.ScalesPerRow > 1:
		return false
	case n.Method == Halves:
		c.CLast, c.Halves, columns, c.Exponent = true, true, o.K/2, 0
		if n = NumericsFor(o.unit(), sm, ptx.F16, ptx.F16); c.C != c.D {
			return false
		}
	}
	c.Block = n.Block
	if o.Sparse != nil {
		c.Block *= 2 // half of the elements of a chunk are stored, and a block has whole chunks
	}
	c.Block, c.Bits, c.ClearedBits, c.LeastExponent = min(c.Block, columns), n.Fraction, f32Fraction-n.Result, n.MinExponent32
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
	stored := o.K  // columns of the stored elements of A
	if o.Sparse != nil {
		stored /= 2
	}
	x, ok1 := a.corners(stored, max(32/a.Bits, 1), false)
	y, ok2 := b.corners(o.K, max(32/b.Bits, 1), false)
	z, ok3 := o.C.corners(o.N, sums, c.Exchanged)
	w, ok4 := o.D.corners(o.N, sums, c.Exchanged)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return false
	}
	for row := 0; row < rows; row += ProductRows {
		for col := 0; col < cols; col += ProductColumns {
			p := Product{A: pairs(x, row, 0, stored), B: pairs(y, col, 0, o.K), C: pairs(z, row, col, ProductColumns), D: pairs(w, row, col, ProductColumns)}
			c.placeParts(p.A, stored)
			c.placeParts(p.B, o.K)
			if o.Sparse != nil {
				for i := range p.A {
					p.A[i].Group = i * c.Metadata.Groups / len(p.A)
				}
			}
			c.Products = append(c.Products, p)
		}
	}
	return len(c.Products) <= MaxProducts && (len(c.Products) == 1 || c.A != ptx.F64)
}

// placeParts sets the columns of parts of A or B, which were counted in elements of a row with this number of elements.
func (c *Columns) placeParts(list []Part, elements int) {
	for i := range list {
		list[i].Column = list[i].Column * c.Columns / elements
		if c.Halves {
			list[i].Column /= 2
		}
	}
}

// MaxProducts is the maximum number of products; of f64 there is one.
const MaxProducts = 2

// Distances returns half the distance of a row's words 0 and 2, in columns, the distance of the third element of a word from its
// first, and the distance of words 0 and 1. Of packed types they do not matter.
func (c *Columns) Distances() (words, third, odd int) {
	switch bits := c.A.Bits(); {
	case c.Halves && c.Metadata.Size != 0: // stored elements 4i and 4i+1, those of an even chunk, are in the first half
		return 2, 2, c.Columns / 2
	case c.Halves:
		return 2, c.Columns / 2, 2
	case bits <= 8:
		return 4, 2, 4
	case bits == 16:
		return 2, 0, 2
	}
	return 1, 0, 1
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
