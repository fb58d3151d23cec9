package matrix

// This file divides the multiplications of wgmma and tcgen05.mma into panels, which machine code multiplies (package native).

import (
	"slices"

	"gemu/ptx"
	"gemu/regfile"
)

// maxScalesPerRow is the maximum number of scales of a row of A or a column of B.
const maxScalesPerRow = 4

// ColumnScales has the scales of the rows of A or of the columns of B in a panel: numbers times powers of 2, first by the number of the
// scale in its row.
type ColumnScales[T any] struct{ Numbers, Exponents [maxScalesPerRow]T }

// PanelMetadata has the metadata of 16 rows of a sparse A, by group of four chunks and row. A chunk has four bits.
type PanelMetadata [8][ProductRows]uint32

// set sets the metadata of a chunk of a row.
func (m *PanelMetadata) set(row, chunk int, bits uint32) {
	word, shift := &m[chunk/chunksPerGroup][row], chunk%chunksPerGroup*4
	*word = *word&^(15<<shift) | bits<<shift
}

// Panels describes a multiplication of 16 rows of A by panels of B, of eight columns each.
type Panels struct {
	Multiply *Multiply // by one panel, with the fragments of mma
	Count    int       // number of panels of B
	Parts    int       // the panels are in this number of parts; a row of D has the columns of one part
	InRows   bool      // D is in rows in memory; false: in registers
	Divisor  int       // with InRows: D is divided by 2 to this power before the product is added
}

// PanelKey identifies Panels: panels with equal keys are equal.
type PanelKey struct {
	A, B, D          ptx.Type
	Bits, K          int
	Count, Parts     int
	InRows           bool
	Divisor          int
	Sparse           bool
	ScalesPerRow     int
	UE4M3            bool
	Saturate, Tensor bool
}

// Key returns the key.
func (p *Panels) Key() PanelKey {
	m := p.Multiply
	k := PanelKey{A: m.A.Type, B: m.B.Type, D: m.D.Type, Bits: m.A.Bits, K: m.K, Count: p.Count, Parts: p.Parts, InRows: p.InRows, Divisor: p.Divisor, Sparse: m.Sparse != nil, Saturate: m.Saturate, Tensor: m.Tensor}
	if m.Scales != nil {
		k.ScalesPerRow, k.UE4M3 = m.Scales.PerRow, m.Scales.UE4M3
	}
	return k
}

// newPanel returns the multiplication of 16 rows by a panel. k is the number of rows of B, bits the size of an element of A and B.
func newPanel(k, bits int, a, b, d ptx.Type, sparse bool) *Multiply {
	const columns = ProductColumns
	m := &Multiply{M: ProductRows, N: columns, K: k, Count: 1}
	width, stored := 32/bits, k
	if sparse {
		stored /= 2
		m.Sparse = NewSparse(SparsityOf(a, bits, false), bits, k, 0)
	}
	m.A, m.B = newOperand(a, bits, Rows(ProductRows, stored, width), ProductRows, stored), newOperand(b, bits, Rows(columns, k, width), columns, k)
	m.C = newOperand(d, d.Bits(), Rows(ProductRows, columns, 2), ProductRows, columns)
	m.D = m.C
	return m
}

// PanelMultiplier multiplies by panels. Its methods fill its memory; Multiply uses it.
type PanelMultiplier interface {
	SetB(registers []regfile.Row32) // the registers of all panels
	ScalesOfB(panel int) *ColumnScales[[ProductColumns]int32]
	SetA(registers []regfile.Row32) // the registers of 16 rows; the metadata must be set before
	Metadata() *PanelMetadata
	ScalesOfA() *ColumnScales[[ProductRows]int32]

	// Multiply adds the product of the 16 rows and a part of the panels to D. rows begins with the first element of the first row of
	// D, and rows are stride words apart. It returns the panels whose result it does not know; it does not change their D.
	Multiply(part int, rows []uint32, stride int) (unknown []int)
}

// Panels returns the multiplication by panels; ok is false if it has properties that panels do not have.
func (p *TensorProduct) Panels(x *TensorOperands) (panels Panels, ok bool) {
	if p.Table || p.Kind == KindTI16 || x.Zero.Shift()%ProductColumns != 0 || p.N/p.laneParts%ProductColumns != 0 {
		return panels, false
	}
	read, written := p.Regions(x)
	for _, r := range read {
		if slices.ContainsFunc(written, r.Overlaps) { // rows of A must be read before D changes
			return panels, false
		}
	}
	m := newPanel(p.K, tensorKinds[p.Kind].bits, p.A, p.B, p.D, p.Sparse)
	m.Saturate, m.Tensor, m.SM = p.Saturate, true, 100
	if p.ScalesPerRow > 0 {
		m.Scales = &Scales{PerRow: p.ScalesPerRow, UE4M3: p.UE4M3}
	}
	return Panels{Multiply: m, Count: p.N / ProductColumns, Parts: p.laneParts, InRows: true, Divisor: p.InputScaleExponent}, true
}

// tensorPanels is the state of a multiplication by panels.
type tensorPanels struct {
	*TensorProduct
	operands *TensorOperands
	m        PanelMultiplier
}

// unknownPanels has panels whose result a PanelMultiplier does not know, by CTA and first lane of their rows.
type unknownPanels map[[2]int][]int

// ExecuteByPanels is Execute with a multiplier for Panels.
func (p *TensorProduct) ExecuteByPanels(ctas []TensorCTA, x *TensorOperands, m PanelMultiplier) *Undefined {
	w := tensorPanels{TensorProduct: p, operands: x, m: m}
	if u := p.checkMetadata(ctas, x); u != nil {
		return u
	}
	m.SetB(w.registersOfB(ctas))
	unknown := unknownPanels{}
	for i, c := range ctas {
		var shared []regfile.Row32
		if !p.InTensor {
			shared = w.registersOfA(c)
		}
		for lane := 0; lane < TensorLanes; lane += ProductRows {
			first := lane
			if p.halfLanes {
				first += x.D.Lane()
			}
			if list := w.multiplyRows(i, c, first, shared); len(list) > 0 {
				unknown[[2]int{i, first}] = list
			}
			if p.halfLanes {
				lane += ProductRows
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return p.execute(ctas, x, unknown)
}

// disabled reports whether D is not written in a lane of a CTA.
func (x *TensorOperands) disabled(cta, lane int) bool {
	return x.Disabled[cta*TensorLanes/32+lane/32]>>(lane%32)&1 != 0
}

// multiplyRows multiplies the 16 rows of lanes from a lane on, and returns the panels with unknown results.
func (w *tensorPanels) multiplyRows(cta int, c TensorCTA, lane int, shared []regfile.Row32) []int {
	x, columns := w.operands, w.N/w.laneParts
	disabled := 0
	for i := range ProductRows {
		if x.disabled(cta, lane+i) {
			disabled++
		}
	}
	if disabled == ProductRows {
		return nil
	}
	row, column, _ := w.rowOfLane(lane, x.D.Lane())
	if w.Sparse {
		w.setMetadata(c.Memory, lane)
	}
	if w.InTensor {
		w.m.SetA(w.tensorRegisters(c.Memory, lane))
	} else {
		n := len(shared) / (w.rowsPerCTA / ProductRows)
		w.m.SetA(shared[row/ProductRows*n:][:n])
	}
	if w.ScalesPerRow > 0 && !w.setScales(c.Memory, lane, row, column) {
		list := make([]int, columns/ProductColumns)
		for i := range list {
			list[i] = i
		}
		return list
	}
	d := func(i int) []uint32 { return c.Memory[lane+i][x.D.Column():][:columns] }
	var kept [ProductRows][]uint32
	for i := range kept {
		if disabled > 0 && x.disabled(cta, lane+i) {
			kept[i] = slices.Clone(d(i))
		}
		if !x.Add {
			clear(d(i))
		}
	}
	memory := c.Memory.cells()[lane*WideColumns+x.D.Column():]
	unknown := w.m.Multiply(column/columns, memory, WideColumns)
	for i, list := range kept {
		if list != nil {
			copy(d(i), list)
		}
	}
	return unknown
}

// registersOfB returns the registers of B of all CTAs, with zeros in the columns that the zero-column mask selects.
func (w *tensorPanels) registersOfB(ctas []TensorCTA) (list []regfile.Row32) {
	x := w.operands
	place, _ := w.descB(x).Placement()
	columns := w.columnsB()
	for _, c := range ctas {
		registers := w.sharedB().LoadRegisters(c.Shared, place, 0, columns+w.extraColumns(x))
		perPanel := len(registers) * ProductColumns / (columns + w.extraColumns(x))
		list = append(list, registers[x.Zero.Shift()/ProductColumns*perPanel:][:columns/ProductColumns*perPanel]...)
	}
	if w.Stationary {
		perPanel, part := len(list)*ProductColumns/w.N, w.N/w.laneParts
		for n := range w.N {
			if x.Zero.zero(n/part, n%part) {
				for i := range perPanel {
					clear(list[n/ProductColumns*perPanel+i][n%ProductColumns*4:][:4])
				}
			}
		}
	}
	return list
}

// registersOfA returns the registers of A in shared memory, of each 16 rows.
func (w *tensorPanels) registersOfA(c TensorCTA) []regfile.Row32 {
	var list []regfile.Row32
	if c.A == nil {
		place, _ := w.operands.DescA.Placement()
		list = pairRegisters(w.sharedA().LoadRegisters(c.Shared, place, 0, w.rowsPerCTA), w.rowsPerCTA)
	} else {
		bits, stored := tensorKinds[w.Kind].bits, w.storedK()
		words := make([]uint32, stored*bits/32)
		for row := range w.rowsPerCTA {
			clear(words)
			for k, v := range c.A[row*stored:][:stored] {
				words[k*bits/32] |= v << (k * bits % 32)
			}
			if row%ProductRows == 0 {
				list = append(list, make([]regfile.Row32, len(words)/4*2)...)
			}
			putRow(list[row/ProductRows*len(words)/2:], row%ProductRows, words)
		}
	}
	w.negate(list)
	return list
}

// tensorRegisters returns the registers of the rows of A in tensor memory, for 16 rows of D.
func (w *tensorPanels) tensorRegisters(m *TensorMemory, lane int) []regfile.Row32 {
	n := w.storedK() * tensorKinds[w.Kind].bits / 32
	list := make([]regfile.Row32, n/2)
	for i := range ProductRows {
		putRow(list, i, m[w.laneOfA(w.operands, lane+i)][w.operands.A.Column():][:n])
	}
	w.negate(list)
	return list
}

// putRow puts the words of a row into registers of A, which have rows 0 to 7 and 8 to 15 in turn.
func putRow(registers []regfile.Row32, row int, words []uint32) {
	for i := 0; i < len(words); i += 4 {
		copy(registers[i/2+row/8][row%8*4:][:4], words[i:])
	}
}

// pairRegisters puts the registers of A, which LoadRegisters returns by eight rows, in the order of 16 rows: those of the upper and of the
// lower rows in turn.
func pairRegisters(list []regfile.Row32, rows int) []regfile.Row32 {
	out, n := make([]regfile.Row32, 0, len(list)), len(list)/(rows/8)
	for first := 0; first < len(list); first += 2 * n {
		for i := range n {
			out = append(out, list[first+i], list[first+n+i])
		}
	}
	return out
}

// negate negates elements of A if the products are negated.
func (w *tensorPanels) negate(list []regfile.Row32) {
	if w.NegateA == w.NegateB || w.A.IsInt() {
		return
	}
	bits := tensorKinds[w.Kind].bits
	sign := bits - 1
	if bits == 8 && packedBits[w.A] > 0 {
		sign = 5 // the highest bit of types of 4 and 6 bits
	}
	negateElements(list, bits, sign)
}

// negateElements flips a bit of each element.
func negateElements(list []regfile.Row32, bits, sign int) {
	signs := uint32(0)
	for ; sign < 32; sign += bits {
		signs |= 1 << sign
	}
	for i := range list {
		for lane := range list[i] {
			list[i][lane] ^= signs
		}
	}
}

// setMetadata sets the metadata of 16 rows.
func (w *tensorPanels) setMetadata(m *TensorMemory, lane int) {
	s, to := SparsityOf(w.A, tensorKinds[w.Kind].bits, true), w.m.Metadata()
	for row := range ProductRows {
		for i := range w.K / s.Chunk {
			v, _ := w.metadataOf(s, m, w.operands, w.laneOfA(w.operands, lane+row), i)
			to.set(row, i, v)
		}
	}
}

// setScales sets the scales of 16 rows of A, and of the columns of B that these rows multiply. It returns false if one is a NaN.
func (w *tensorPanels) setScales(m *TensorMemory, lane, row, column int) bool {
	x := w.operands
	s := Scales{PerRow: w.ScalesPerRow, UE4M3: w.UE4M3}
	ok := true
	scale := func(addr TensorAddress, i, byteNumber int) (n, exponent int32) {
		v := s.decode(m[lane&^31|i%32][addr.Column()+i/32] >> (8 * byteNumber))
		ok = ok && v.exp != nan
		return v.mant, v.exp
	}
	a := w.m.ScalesOfA()
	for i := range ProductRows {
		for k := range s.PerRow {
			a.Numbers[k][i], a.Exponents[k][i] = scale(x.ScaleA, row+i, w.ScaleA+k)
		}
	}
	columns := w.N / w.laneParts
	for n := range columns {
		b := w.m.ScalesOfB((column + n) / ProductColumns)
		for k := range s.PerRow {
			b.Numbers[k][n%ProductColumns], b.Exponents[k][n%ProductColumns] = scale(x.ScaleB, n, w.ScaleB+k)
		}
	}
	return ok
}

// LoadPanelA returns the rows of A of a warp, from row first on, in the registers of its fragments.
func (o *Wgmma) LoadPanelA(memory []byte, d Placement, first int) []regfile.Row32 {
	return pairRegisters(o.SharedA.LoadRegisters(memory, d, first, WarpRows), WarpRows)
}

// Panels returns the multiplication of a warp by panels. It does not negate the products: see NegateRegisters.
func (o *Wgmma) Panels() Panels {
	m := newPanel(o.SharedB.K, o.SharedB.Bits, o.A.Type, o.B, o.D.Type, o.Sparse != nil)
	m.Saturate, m.Warpgroup = o.Saturate, true
	return Panels{Multiply: m, Count: o.N / ProductColumns, Parts: 1}
}

// SetMetadata sets the metadata of rows whose stored elements have these columns.
func (o *Wgmma) SetMetadata(m *PanelMetadata, stored []uint8) {
	half := o.Sparse.Chunk / 2
	for i := 0; i < len(stored); i += half {
		row, chunk := i/o.K, i%o.K/half
		first := uint32(stored[i]) % uint32(o.Sparse.Chunk)
		if half == 1 {
			m.set(row, chunk, []uint32{0b0100, 0b1110}[first])
			continue
		}
		m.set(row, chunk, first|uint32(stored[i+1])%uint32(o.Sparse.Chunk)<<2)
	}
}

// ExecutePanel multiplies the rows of A of a warp by a panel. a, b and d have the registers, stored the columns of the stored elements of
// a sparse A.
func (m *Multiply) ExecutePanel(d []*regfile.Row32, a, b []regfile.Row32, stored []uint8) {
	var x, y, z Registers
	copy(z.R[:], d)
	for i := range a {
		x.R[i] = &a[i]
	}
	for i := range b {
		y.R[i] = &b[i]
	}
	w := multiplication{Multiply: m, scratch: scratchPool.Get().(*scratch), selected: stored}
	defer scratchPool.Put(w.scratch)
	w.multiply(m.SM, &z, &x, &y, &z)
}

// definedInTensor reports whether tcgen05.mma has a result with these metadata.
func (s Sparsity) definedInTensor(v uint32) bool {
	_, ok := s.Indices(v)
	return ok || v == 0b0110 && s.Chunk > 2
}
