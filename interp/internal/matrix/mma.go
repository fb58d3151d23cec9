package matrix

// This file has the matrix multiplications of a warp.

import (
	"math"
	"math/bits"

	"gemu/interp/internal/fp"
	"gemu/ptx"
	"gemu/regfile"
)

// Multiply is the multiplication D = A·B + C of m×k, k×n and m×n elements by a warp.
type Multiply struct {
	M, N, K    int
	Count      int // number of matrices: 1 or 4
	A, B, C, D Operand
	Saturate   bool        // clamps integer results
	Xor        bool        // for bits: counts A xor B instead of A and B
	Rounding   fp.Rounding // rounding of f64
	Sparse     *Sparse     // metadata of a sparse A, half of whose elements are stored; nil: A is dense
	Scales     *Scales     // scales of A and B; nil: none
	SM         int         // compute capability of the device
	InFours    bool        // for tf32: adds four products of a row, then the next four
	Warpgroup  bool        // adds as a warpgroup does
	Tensor     bool        // adds as tcgen05.mma does
}

// Operand is a matrix in the registers of the lanes.
type Operand struct {
	Type     ptx.Type
	Bits     int      // size of an element in its register: 32 for b1
	indices  []uint16 // number of the element in the matrix, by lane and position in the lane
	perLane  int      // elements held by a lane
	elements int      // number of elements; wmma may hold an element in several lanes
}

// elementFormat is the format of an element, and the position of the number in it.
func (o *Operand) elementFormat() format {
	f := formatOf(o.Type)
	if o.Bits == 4 {
		f.shift = 0 // 4-bit numbers fill their element
	}
	return f
}

// Registers is the number of registers of a lane that hold the matrix.
func (o *Operand) Registers() int { return o.perLane * o.Bits / max(o.Bits, 32) }

// newOperand makes the operand of a layout. Elements are numbered row after row (B: column after column), and matrix after
// matrix.
func newOperand(t ptx.Type, width int, l Layout, rows, cols int) Operand {
	o := Operand{Type: t, Bits: width, perLane: l.Len()}
	for lane := range Lanes {
		for i := range o.perLane {
			s := l.Position(lane, i)
			index := (s.Matrix*rows+s.Row)*cols + s.Col
			o.indices, o.elements = append(o.indices, uint16(index)), max(o.elements, index+1)
		}
	}
	return o
}

// Mma describes an mma instruction (manual 9.7.14.5, 9.7.14.6).
type Mma struct {
	M, N, K    int
	D, A, B, C ptx.Type
	Container  int     // bits that hold an element of A or B; 0: the size of its type
	SM         int     // compute capability of the device
	ACol, BRow bool    // layouts of m8n8k4 with f16
	Sparse     bool    // A is sparse
	Ordered    bool    // sparse A with ordered metadata
	Selector   int     // sparsity selector: the lanes that hold the metadata
	Scales     *Scales // scales of A and B; nil: none
}

// Multiply returns the multiplication of the instruction.
func (x *Mma) Multiply() *Multiply {
	o := &Multiply{M: x.M, N: x.N, K: x.K, Count: 1, Scales: x.Scales, SM: x.SM}
	if x.A == ptx.F16 && x.M == 8 {
		o.Count = 4
		la, lb := quarterRows, quarterRows
		if x.ACol {
			la = quarterColumns
		}
		if x.BRow {
			lb = quarterColumns
		}
		o.A, o.B = newOperand(x.A, 16, la, x.M, x.K), newOperand(x.B, 16, lb, x.N, x.K)
		sums := map[ptx.Type]Layout{ptx.F16: sumLayout16, ptx.F32: sumLayout32}
		o.C, o.D = newOperand(x.C, x.C.Bits(), sums[x.C], x.M, x.N), newOperand(x.D, x.D.Bits(), sums[x.D], x.M, x.N)
		return o
	}
	width := max(x.Container, x.A.Bits())
	if x.A == ptx.B1 {
		width, o.K = 32, x.K/32
	}
	w, stored := max(32/width, 1), o.K
	if x.Sparse {
		stored = o.K / 2
		o.Sparse = NewSparse(SparsityOf(x.A, width, x.Ordered), width, o.K, x.Selector)
	}
	o.A, o.B = newOperand(x.A, width, Rows(x.M, stored, w), x.M, stored), newOperand(x.B, width, Rows(x.N, o.K, w), x.N, o.K)
	sums := Rows(x.M, x.N, 2)
	o.C, o.D = newOperand(x.C, x.C.Bits(), sums, x.M, x.N), newOperand(x.D, x.D.Bits(), sums, x.M, x.N)
	return o
}

// Extra is the number of registers of a lane that hold no matrix: one for metadata, and for scales three for A and three
// for B (a register with scales and two registers that select them).
func (o *Multiply) Extra() int {
	n := 0
	if o.Sparse != nil {
		n++
	}
	if o.Scales != nil {
		n += 6
	}
	return n
}

// maxRegisters is the maximum number of registers of a lane for a matrix.
const maxRegisters = 8

// Registers are the rows of the registers that hold a matrix: R of 32 bits, or Q of 64 bits for f64.
type Registers struct {
	R [maxRegisters]*regfile.Row32
	Q [maxRegisters]*regfile.Row64
}

// gather collects the elements of a matrix from registers, in the order of their numbers.
func (o *Operand) gather(r *Registers, scratch *[]uint64) []uint64 {
	to := resize(scratch, o.elements)
	if o.Bits == 64 {
		for i := range o.perLane {
			for lane, v := range r.Q[i] {
				to[o.indices[lane*o.perLane+i]] = v
			}
		}
		return to
	}
	perWord, mask := 32/o.Bits, uint64(1)<<o.Bits-1
	for i := range o.perLane {
		row, shift := r.R[i/perWord], i%perWord*o.Bits
		for lane, v := range row {
			to[o.indices[lane*o.perLane+i]] = uint64(v>>shift) & mask
		}
	}
	return to
}

// scatter writes the elements of a matrix to registers.
func (o *Operand) scatter(r *Registers, from []uint64) {
	if o.Bits == 64 {
		for i := range o.perLane {
			for lane := range r.Q[i] {
				r.Q[i][lane] = from[o.indices[lane*o.perLane+i]]
			}
		}
		return
	}
	perWord := 32 / o.Bits
	for i := 0; i < o.perLane; i += perWord {
		row := r.R[i/perWord]
		for lane := range row {
			v := uint64(0)
			for k := range perWord {
				v |= from[o.indices[lane*o.perLane+i+k]] << (k * o.Bits)
			}
			row[lane] = uint32(v)
		}
	}
}

// Execute multiplies the matrices in registers. e has the registers that hold no
// matrix (see Extra). d may overlap the source operands. If the manual does not define the result, Execute writes nothing
// and returns the reason.
func (o *Multiply) Execute(d, a, b, c, e *Registers) *Undefined {
	sm := o.SM
	w := multiplication{Multiply: o, scratch: scratchPool.Get().(*scratch)}
	defer scratchPool.Put(w.scratch)
	if o.Sparse != nil {
		var u *Undefined
		if w.selected, u = o.Sparse.SelectedIndices((*[Lanes]uint32)(e.R[0])); u != nil {
			return u
		}
	}
	if o.Scales != nil {
		sm = max(sm, firstScaledSM)
		var u *Undefined
		if w.rowScales, w.colScales, u = o.Scales.read(e, o.Extra()-6); u != nil {
			return u
		}
	}
	w.multiply(sm, d, a, b, c)
	return nil
}

// multiply multiplies the matrices in registers, on a device of compute capability sm.
func (w *multiplication) multiply(sm int, d, a, b, c *Registers) {
	o := w.Multiply
	x, y, z := o.A.gather(a, &w.words[0]), o.B.gather(b, &w.words[1]), o.C.gather(c, &w.words[2])
	switch t := o.A.Type; {
	case t == ptx.F64:
		w.multiplyDoubles(x, y, z)
	case t == ptx.B1:
		w.multiplyBits(x, y, z)
	case t.IsInt():
		w.multiplyIntegers(x, y, z)
	default:
		w.multiplyFloats(sm, x, y, z)
	}
	o.D.scatter(d, z)
}

// multiplication is a Multiply with the state of an execution.
type multiplication struct {
	*Multiply
	*scratch
	selected []uint8 // position in its row of each stored element of a sparse A

	rowScales, colScales []number // for rows of A and columns of B, Scales.PerRow for each
}

// forEachElement replaces every element c of C by the result of f, the element of D. f gets the number of the element, the
// row of A and the column of B. For a sparse A it gets the stored elements of the row, and the elements of the column at
// the same positions.
func forEachElement[T any](o *multiplication, a, b []T, c []uint64, f func(index int, a, b []T, c uint64) uint64) {
	stored := len(a) / (o.Count * o.M)
	var selected []T
	if o.selected != nil {
		selected = make([]T, stored)
	}
	for i := range o.Count * o.M {
		row, cols := a[i*stored:][:stored], b[i/o.M*o.N*o.K:]
		for j := range o.N {
			col := cols[j*o.K:][:o.K]
			if o.selected != nil {
				for k, index := range o.selected[i*stored:][:stored] {
					selected[k] = col[index]
				}
				col = selected
			}
			index := i*o.N + j
			c[index] = f(index, row, col, c[index])
		}
	}
}

// decodeAll returns the result of f for each element of list.
func decodeAll[T any](list []uint64, scratch *[]T, f func(v uint64) T) []T {
	to := resize(scratch, len(list))
	for i, v := range list {
		to[i] = f(v)
	}
	return to
}

func (o *multiplication) multiplyFloats(sm int, a, b, c []uint64) {
	n := NumericsFor(o.unit(), sm, o.A.Type, o.B.Type)
	if n.Method == Fmas {
		half := struct{ c, d bool }{o.C.Type == ptx.F16, o.D.Type == ptx.F16}
		forEachElement(o, a, b, c, func(_ int, a, b []uint64, c uint64) uint64 { return dotFmas(a, b, c, half) })
		return
	}
	o.formats = [...]format{o.A.elementFormat(), o.B.elementFormat(), formatOf(o.C.Type), formatOf(o.D.Type)}
	fa, fb, from, to := &o.formats[0], &o.formats[1], &o.formats[2], &o.formats[3]
	x, y := decodeAll(a, &o.factors[0], fa.decode), decodeAll(b, &o.factors[1], fb.decode)
	switch {
	case o.Scales != nil && o.A.Bits == 4:
		o.multiplyPacked(n, x, y, c, to)
		return
	case o.Scales != nil:
		applyScales(x, o.rowScales)
		applyScales(y, o.colScales)
	}
	sum := n.summation(sm)
	if o.C.Type != o.D.Type && o.Count == 1 {
		sum = sumInF32(sum, sm)
	}
	forEachElement(o, x, y, c, func(_ int, a, b []number, c uint64) uint64 {
		return sum(a, b, factors{fa, fb}, c, from, to)
	})
}

// unit returns the unit that multiplies floats.
func (o *Multiply) unit() Unit {
	switch {
	case o.Count > 1:
		return UnitQuarters
	case o.Scales != nil && o.A.Bits == 4:
		return UnitGroups
	case o.InFours:
		return UnitFours
	case o.Warpgroup:
		return UnitWarpgroup
	case o.Tensor:
		return UnitTensor
	}
	return UnitWarp
}

// sumInF32 returns a summation in f32, for a C and D of different types, which only wmma permits. Volta reads C in its own
// type.
func sumInF32(sum summation, sm int) summation {
	f32 := formatOf(ptx.F32)
	return func(a, b []number, f factors, c uint64, from, to *format) uint64 {
		switch {
		case to.Format == &fp.F16:
			return uint64(fp.F32ToF16(math.Float32frombits(uint32(sum(a, b, f, c, from, &f32))), fp.RN))
		case sm >= 75:
			c, from = uint64(math.Float32bits(fp.F16ToF32(uint16(c)))), &f32
		}
		return sum(a, b, f, c, from, to)
	}
}

// multiplyDoubles adds the products in the order of k by fused multiply-adds, with no further rounding (manual
// 9.7.14.5.14).
func (o *multiplication) multiplyDoubles(a, b, c []uint64) {
	forEachElement(o, a, b, c, func(_ int, a, b []uint64, c uint64) uint64 {
		sum := math.Float64frombits(c)
		for k := range a {
			sum = fp.Fma64(math.Float64frombits(a[k]), math.Float64frombits(b[k]), sum, o.Rounding)
		}
		return math.Float64bits(sum)
	})
}

// multiplyBits counts the bits of A and B, or A xor B.
func (o *multiplication) multiplyBits(a, b, c []uint64) {
	forEachElement(o, a, b, c, func(_ int, a, b []uint64, c uint64) uint64 {
		n := 0
		for k := range a {
			if o.Xor {
				n += bits.OnesCount64(a[k] ^ b[k])
			} else {
				n += bits.OnesCount64(a[k] & b[k])
			}
		}
		return uint64(uint32(c) + uint32(n))
	})
}

func (o *multiplication) multiplyIntegers(a, b, c []uint64) {
	converter := func(o *Operand) func(v uint64) int32 {
		n := 32 - o.Bits
		if o.Type.IsSigned() {
			return func(v uint64) int32 { return int32(v) << n >> n }
		}
		return func(v uint64) int32 { return int32(v) }
	}
	x, y := decodeAll(a, &o.scratch.integers[0], converter(&o.A)), decodeAll(b, &o.scratch.integers[1], converter(&o.B))
	forEachElement(o, x, y, c, func(_ int, a, b []int32, c uint64) uint64 {
		sum := int64(int32(c))
		for k := range a {
			sum += int64(a[k]) * int64(b[k])
		}
		if o.Saturate {
			sum = max(math.MinInt32, min(math.MaxInt32, sum))
		}
		return uint64(uint32(sum))
	})
}
