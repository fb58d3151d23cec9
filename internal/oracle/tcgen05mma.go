package oracle

// This file executes tcgen05.mma (manual 9.7.16.10). The layout of the instruction determines the place of an element
// of D. Its operands in tensor memory (A, metadata, scales) lie in the same lane, or in the lanes around it that the
// figures show.

import (
	"math/big"
	"slices"

	"gemu/ptx"
)

// tcgen05Mma is a multiplication, as specified by the instruction and its descriptor.
type tcgen05Mma struct {
	kind               string
	pair, ws, sparse   bool
	m, n, k            int
	bits               int // size of an element of A and B
	td, ta, tb         ptx.Type
	negate, transposed [2]bool
	saturate           bool
	long               bool // K is twice the K of PTX before 9.4
	scaleVectorSize    int
	scaleType          string
	scaleOffset        [2]int // first byte of the scales in a word
	columnShift        int

	aInTensorMemory bool
	descs           [2]uint64
	d, a, meta      cell
	scales          [2]cell
	accumulate      bool
	disabled        [8]uint64
	zeroColumnMask  uint64
	ctas            []*cta
	tables          int               // half of the indices of B, from 1 on; 0: B has no tables
	read            map[[3]int]uint64 // elements of A that were read early, by CTA, row and place in the row; nil: none
}

var tcgen05NarrowTypes = map[uint64]ptx.Type{0: ptx.E4M3, 1: ptx.E5M2, 3: ptx.E2M3, 4: ptx.E3M2, 5: ptx.E2M1}

// decodeTcgen05Mma decodes an instruction descriptor (tables 42 to 44); it traps if the descriptor is invalid.
func (t *thread) decodeTcgen05Mma(d uint64) *tcgen05Mma {
	x := &tcgen05Mma{kind: t.instr.Slot("kind"), pair: t.hasModifier("cta_group::2"), ws: t.hasModifier("ws"), sparse: t.hasModifier("sp"), td: ptx.F32}
	get := func(shift, n int) uint64 { return low(d>>shift, n) }
	flag := func(shift int) bool { return get(shift, 1) == 1 }
	bad := func() { t.trap(KindTensor, "instruction descriptor %#x", d) }
	sm := t.machine.mod.SM()
	newer := 107 <= sm && sm < 110 // additions of the manual of PTX 9.4 to the descriptors
	x.n, x.negate, x.transposed = int(get(17, 6))<<3, [2]bool{flag(13), flag(14)}, [2]bool{flag(15), flag(16)}
	types, zeros := tcgen05NarrowTypes, d&(1<<6)
	x.bits, x.k = 8, 32
	switch x.kind {
	case "kind::f16":
		types, x.bits, x.k = map[uint64]ptx.Type{0: ptx.F16, 1: ptx.BF16}, 16, 16
	case "kind::tf32":
		types, x.bits, x.k = map[uint64]ptx.Type{2: ptx.TF32}, 32, 8
	case "kind::i8":
		types = map[uint64]ptx.Type{0: ptx.U8, 1: ptx.S8}
	case "kind::ti16":
		types, x.bits, x.k = map[uint64]ptx.Type{3: ptx.S16}, 16, 16
	case "kind::mxf4", "kind::mxf4nvf4":
		types, x.bits, x.k = map[uint64]ptx.Type{1: ptx.E2M1}, 4, 64
	}
	codeB := get(10, 3)
	if t.hasModifier("block_scale") {
		x.m, x.scaleOffset = int(get(27, 2))<<7, [2]int{int(get(29, 2)), int(get(4, 2))}
		zeros |= d&(7<<24) | d&(1<<3) | d&3 | d&(1<<31)
		x.scaleVectorSize = 2
		if x.bits == 8 {
			x.scaleVectorSize = 1
			if newer && flag(31) {
				x.long, zeros = true, zeros&^(1<<31)
			}
		} else {
			codeB, zeros = get(10, 2), zeros|d&(1<<12)|d&(3<<15)
			if t.hasModifier("scale_vec::4X") || t.hasModifier("block16") {
				x.scaleVectorSize = 4
			}
		}
		x.scaleType = choose(flag(23), "ue8m0", "ue4m3")
		if !flag(23) && (x.kind != "kind::mxf4nvf4" || x.scaleVectorSize != 4) {
			bad()
		}
		for _, id := range x.scaleOffset {
			if !slices.Contains(map[int][]int{1: {0, 1, 2, 3}, 2: {0, 2}, 4: {0}}[x.scaleVectorSize], id) {
				bad()
			}
		}
	} else {
		x.m = int(get(24, 5)) << 4
		zeros |= d&(1<<23) | d&(1<<29) | d&3
		if newer && x.kind == "kind::f8f6f4" && flag(29) {
			x.long, zeros = true, zeros&^(1<<29)
		}
		if !x.ws {
			zeros |= d & (3 << 30)
		}
		switch format := get(4, 2); {
		case x.kind == "kind::i8" && format == 2:
			x.td, x.saturate = ptx.S32, flag(3)
			zeros |= d & (3 << 13)
		case x.kind == "kind::ti16" && format == 2:
			x.td = ptx.S32
			zeros |= d & (1 << 3)
		case x.kind == "kind::i8" || x.kind == "kind::ti16" || format > 1 || format == 0 && x.kind == "kind::tf32":
			bad()
		case format == 0:
			x.td = ptx.F16
			fallthrough
		default:
			zeros |= d & (1 << 3)
		}
	}
	x.ta, x.tb = types[get(7, 3)], types[codeB]
	x.aInTensorMemory = t.instr.Arg("a").Kind == ptx.AddrOperand
	small := func(e ptx.Type) bool { return e == ptx.E2M1 || e == ptx.E3M2 || e == ptx.E2M3 }
	if zeros != 0 || flag(2) != x.sparse || x.ta == ptx.NoType || x.tb == ptx.NoType || x.td == ptx.F16 && (x.ta == ptx.BF16 || x.tb == ptx.BF16) ||
		x.transposed[0] && (small(x.ta) || x.aInTensorMemory) || x.transposed[1] && small(x.tb) || x.long && (small(x.ta) || small(x.tb)) ||
		t.hasModifier("decompress::lut::b") && (!x.long || x.tb != ptx.E4M3 || x.transposed[1]) {
		bad()
	}
	if x.long {
		x.k *= 2
	}
	if x.sparse {
		x.k *= 2
	}
	// Table 39.
	ms, step := []int{64, 128}, 8
	switch {
	case x.ws:
		ms = []int{32, 64, 128}
		if x.n != 64 && x.n != 128 && (x.n != 256 || x.sparse) {
			bad()
		}
	case x.pair && x.scaleVectorSize > 0 && x.sparse:
		ms, step = []int{256}, 16
	case x.pair:
		ms, step = []int{128, 256}, 16
	case x.scaleVectorSize > 0:
		ms = []int{128}
	}
	if !x.ws && (x.kind == "kind::i8" && (x.pair || x.n > 32) || x.kind == "kind::ti16" && (x.pair || x.m == 128) || x.transposed[1] && x.bits == 8) {
		step *= 2
	}
	if x.long && !x.ws {
		if ms = []int{choose(x.pair, 256, 128)}; x.kind == "kind::f8f6f4" {
			step = choose(step < 16, 16, step)
		}
	}
	if x.long && x.m == 64 || t.hasModifier("ashift") && x.m < 128 {
		bad()
	}
	if !slices.Contains(ms, x.m) || x.n == 0 || x.n > 256 || x.n%step != 0 {
		bad()
	}
	return x
}

// cellOf returns the place of an element of D: the CTA, and the lane and column relative to D.
func (x *tcgen05Mma) cellOf(row, col int) (cta int, p cell) {
	fold := 1
	switch {
	case x.ws:
		fold = 128 / x.m
	case x.pair && x.m == 128 && !x.sparse:
		fold = 2
	}
	if x.pair {
		cta, row = row/(x.m/2), row%(x.m/2)
	}
	if fold > 1 {
		span := x.n / fold
		return cta, cell{row + col/span*(128/fold), col % span}
	}
	if x.m == 64 || x.pair && x.m == 128 {
		row = row>>4<<5 | row&15 // 16 of each 32 lanes hold rows
	}
	return cta, cell{row, col}
}

// fromShared returns an element of a matrix in the shared memory of a CTA: of A, or of B with rows and columns
// exchanged.
func (x *tcgen05Mma) fromShared(t *thread, c *cta, operand, row, col int) uint64 {
	desc, elemType := x.descs[operand], []ptx.Type{x.ta, x.tb}[operand]
	if operand == 1 && x.tables != 0 { // three bits of a row of 48 bytes (table 49)
		v := uint64(0)
		for i := range 3 {
			bit := 192*(x.tables-1) + 3*col + i
			b := c.sharedBytes(t, t.tcgen05Offset(desc, row, bit/128), 16)[bit/8%16]
			v |= uint64(b>>(bit%8)&1) << i
		}
		return v
	}
	if x.transposed[operand] { // 9.7.16.3.3: adjacent rows
		perUnit := 128 / x.bits
		lead, stride := int(desc>>16&0x3fff)<<4, int(desc>>32&0x3fff)<<4
		addr := int(desc&0x3fff) << 4
		unit, offset := row/perUnit, row%perUnit*x.bits/8
		switch mode := desc >> 61; mode {
		case 0:
			addr += unit*stride + col/8*lead + col%8*16
		case 1: // 128 bytes, of which 32 stay together, in four lines
			addr += unit/8*lead + unit%8*16 + col/4*stride + col%4*128
			addr ^= (addr>>7 - int(desc>>49&7)) & 3 << 5
		default:
			b := map[uint64]int{2: 3, 4: 2, 6: 1}[mode]
			addr += unit>>b*lead + unit%(1<<b)*16 + col/8*stride + col%8*(16<<b)
			addr = swizzled(addr, b, int(desc>>49&7))
		}
		return littleEndian(c.sharedBytes(t, addr+offset, x.bits/8))
	}
	addr := col * x.bits / 8
	chunk := c.sharedBytes(t, t.tcgen05Offset(desc, row, addr/16), 16)
	switch {
	case x.bits == 4:
		return uint64(chunk[addr%16]) >> (col % 2 * 4) & 15
	case x.bits == 8 && elemType == ptx.E2M1:
		return uint64(unpackByte(chunk, 4, col%16))
	case x.bits == 8 && (elemType == ptx.E2M3 || elemType == ptx.E3M2):
		return uint64(unpackByte(chunk, 6, col%16))
	}
	return littleEndian(chunk[addr%16:][:x.bits/8])
}

func littleEndian(b []byte) (v uint64) {
	for i, e := range b {
		v |= uint64(e) << (8 * i)
	}
	return v
}

// negated returns an element with its sign changed.
func (x *tcgen05Mma) negated(v uint64, elemType ptx.Type) uint64 {
	switch {
	case x.bits == 4:
		return v ^ 8
	case elemType == ptx.E2M1 || elemType == ptx.E2M3 || elemType == ptx.E3M2:
		return v ^ 1<<5
	}
	return v ^ 1<<(x.bits-1)
}

// multiplyTensor issues tcgen05.mma.
func (t *thread) multiplyTensor() {
	x := t.decodeTcgen05Mma(t.operandValue("c"))
	x.ctas = t.ctaPair()
	x.d, x.descs[1] = t.tensorAddress("d"), t.operandValue("b")
	if x.aInTensorMemory {
		x.a = t.tensorAddress("a")
	} else {
		x.descs[0] = t.operandValue("a")
	}
	if x.sparse || t.hasModifier("decompress::lut::b") {
		x.meta = t.tensorAddress("e")
	}
	if t.hasModifier("decompress::lut::b") {
		if x.meta.lane != 0 || x.meta.column%2 != 0 {
			t.trap(KindTensor, "tables at lane %d, column %d", x.meta.lane, x.meta.column)
		}
		x.tables, x.descs[1] = 1+int(x.descs[1]>>53&1), x.descs[1]&^(1<<53)
	}
	switch {
	case x.scaleVectorSize > 0:
		x.scales, x.accumulate = [2]cell{t.tensorAddress("f"), t.tensorAddress("g")}, t.predOperand("h")
		for i := range x.scales { // the two bits above select a byte, as the descriptor does
			x.scales[i].lane &= 1<<14 - 1
		}
	case x.ws:
		if x.accumulate = t.predOperand("g"); t.hasOperand("h") {
			x.zeroColumnMask = t.operandValue("h")
		}
	default:
		if x.accumulate = t.predOperand("g"); t.hasOperand("f") {
			o, _ := t.operand("f")
			for i, e := range elements(o) {
				x.disabled[i] = t.read(e, ptx.B32).lo
			}
		}
		if t.hasOperand("h") && x.td != ptx.S32 { // integers are not scaled
			x.columnShift = int(t.operandValue("h"))
		}
	}
	half := !x.ws && (!x.pair && x.m == 64 || x.pair && x.m == 128 && x.sparse)
	if x.d.lane != 0 && !(half && x.d.lane == 16) || x.aInTensorMemory && x.a.lane != x.d.lane || x.sparse && x.meta.lane != x.d.lane || x.scales[0].lane|x.scales[1].lane != 0 {
		t.trap(KindTensor, "lanes that the matrices begin at")
	}
	for i, desc := range x.descs {
		if i == 0 && x.aInTensorMemory {
			continue
		}
		t.checkTcgen05Descriptor(desc)
		if width := map[uint64]int{2: 128, 4: 64, 6: 32}[desc>>61]; x.long && !x.transposed[i] && width != 0 && width < choose(i == 0, x.stored(), choose(x.tables != 0, 48, x.k)) {
			t.trap(KindTensor, "rows wider than the swizzling of descriptor %#x", desc)
		}
		if pairs := desc>>61 == 1; pairs && !x.transposed[i] || x.transposed[i] && pairs != (x.bits == 32) {
			t.trap(KindTensor, "the swizzling mode of descriptor %#x", desc)
		}
	}
	if shift := int(low(x.zeroColumnMask>>56, 6)); shift > choose(x.m == 32, 16, 32) {
		t.trap(KindTensor, "a shift by %d columns", shift)
	}
	x.checkCells(t)
	x.run(t) // only checks memory: the results are dropped
	k := &task{tensorCore: true, execute: func() {
		x.checkCells(t)
		for _, set := range x.run(t) {
			set()
		}
	}}
	if !x.aInTensorMemory {
		k.readA = func() { x.readA(t) }
	}
	t.issue(k)
}

// stored is the number of stored elements in a row of A.
func (x *tcgen05Mma) stored() int { return choose(x.sparse, x.k/2, x.k) }

// readA reads A: each CTA has its own rows.
func (x *tcgen05Mma) readA(t *thread) {
	all := map[[3]int]uint64{}
	for i, c := range x.ctas {
		for row := range x.m / len(x.ctas) {
			for k := range x.stored() {
				all[[3]int{i, row, k}] = x.fromShared(t, c, 0, row, k)
			}
		}
	}
	x.read = all
}

// checkCells traps unless D may be written.
func (x *tcgen05Mma) checkCells(t *thread) {
	for row := range x.m {
		for col := range x.n {
			c, p := x.cellOf(row, col)
			m := x.ctas[c].tensorMemory()
			m.checkNoPendingLoad(t, cell{p.lane + x.d.lane, p.column + x.d.column})
		}
	}
}

// run computes D, and returns functions that write it.
func (x *tcgen05Mma) run(t *thread) (results []func()) {
	stored := x.stored()
	columns := make([][]uint64, x.n)
	for col := range columns {
		perUnit := x.n / len(x.ctas)
		for i := range x.k {
			v := x.fromShared(t, x.ctas[col/perUnit], 1, col%perUnit+int(low(x.zeroColumnMask>>56, 6)), i)
			if x.negate[1] && x.tables == 0 {
				v = x.negated(v, x.tb)
			}
			if x.ws && x.isZero(col) {
				v = 0
			}
			columns[col] = append(columns[col], v)
		}
	}
	// Lanes of the same row differ only in tensor memory.
	rows := map[[2]int][]uint64{}
	for row := range x.m {
		for col := range x.n {
			ctaIndex, p := x.cellOf(row, col)
			c := x.ctas[ctaIndex]
			m := c.tensorMemory()
			lane := p.lane + x.d.lane
			if x.disabled[ctaIndex*4+lane/32]>>(lane%32)&1 != 0 {
				continue
			}
			key := [2]int{ctaIndex, lane}
			a := rows[key]
			for i := len(a); i < stored; i++ {
				var v uint64
				if x.aInTensorMemory {
					bit := i * x.bits
					v = low(m.cells[m.checkCell(t, cell{x.laneOfA(t, row, lane), x.a.column + bit/32})]>>(bit%32), x.bits)
				} else if ownRow := row % (x.m / len(x.ctas)); x.read != nil {
					v = x.read[[3]int{ctaIndex, ownRow, i}]
				} else {
					v = x.fromShared(t, c, 0, ownRow, i)
				}
				if x.negate[0] {
					v = x.negated(v, x.ta)
				}
				a = append(a, v)
			}
			rows[key] = a
			b := columns[col]
			if x.sparse {
				b = nil
				for _, index := range x.sparseIndices(t, m, x.laneOfA(t, row, lane)) {
					b = append(b, columns[col][index])
				}
			}
			if x.tables != 0 {
				b = nil
				for _, index := range columns[col] {
					word := m.cells[m.checkCell(t, cell{lane/32*32 + col/8, x.meta.column + int(index/4)})]
					if v := low(word>>(index%4*8), 8); x.negate[1] {
						b = append(b, x.negated(v, x.tb))
					} else {
						b = append(b, v)
					}
				}
			}
			pos := cell{lane, x.d.column + p.column}
			acc := uint64(0)
			if x.accumulate {
				acc = low(m.cells[pos], x.td.Bits())
			}
			v := uint64(0)
			switch {
			case x.kind == "kind::ti16":
				sum := integer(acc, 32, true)
				for i := range a {
					sum.Add(sum, new(big.Int).Mul(t.signAndMagnitude(a[i]), t.signAndMagnitude(b[i])))
				}
				v = wrap(sum, 32)
			case x.kind == "kind::i8":
				sum := integer(acc, 32, true)
				for i := range a {
					sum.Add(sum, integer(0, 8, true).Mul(integer(a[i], 8, x.ta.IsSigned()), integer(b[i], 8, x.tb.IsSigned())))
				}
				if x.saturate {
					sum = clamp(sum, 32, true)
				}
				v = wrap(sum, 32)
			case x.scaleVectorSize > 0:
				v = t.scaledDot(a, b, acc, x.ta, x.tb, x.bits, x.scalesAt(t, m, lane, 0, row%(x.m/len(x.ctas))), x.scalesAt(t, m, lane, 1, p.column))
			default:
				v = x.chain(a, b, acc)
			}
			results = append(results, func() { m.cells[pos] = v })
		}
	}
	return results
}

// laneOfA returns the lane with the row of A that a lane multiplies: its own; with .ashift the lane of the row above,
// except for the first row of a CTA.
func (x *tcgen05Mma) laneOfA(t *thread, row, lane int) int {
	own := row % (x.m / len(x.ctas))
	if !t.hasModifier("ashift") || own == 0 {
		return lane
	}
	if x.pair && x.m == 128 && x.sparse && own%16 == 0 { // 16 of each 32 lanes hold rows
		return lane - 32 + 15
	}
	return lane - 1
}

// signAndMagnitude decodes an element of .s1z4m11 (manual of PTX 9.4, 9.7.18.4.2).
func (t *thread) signAndMagnitude(v uint64) *big.Int {
	if v>>11&15 != 0 {
		t.trap(KindMatrix, "%#x as an element of .s1z4m11", v)
	}
	n := new(big.Int).SetUint64(low(v, 11))
	if v>>15 == 1 {
		n.Neg(n)
	}
	return n
}

// chain adds products block by block, as docs/tensor.md describes.
func (x *tcgen05Mma) chain(a, b []uint64, c uint64) uint64 {
	h := adder{512 / x.bits / 2, 25, 23, minExponentsHopper}
	shift := x.columnShift
	for len(a) > 0 {
		n := min(h.blockSize, len(a))
		acc, exp := factor(c, x.td)
		acc.exp, exp = acc.exp-shift, exp-shift
		terms, exps := []number{acc}, []int{exp}
		for i := range n {
			p, ep := factor(a[i], x.ta)
			q, eq := factor(b[i], x.tb)
			terms, exps = append(terms, product(p, q)), append(exps, ep+eq)
		}
		c, shift = h.sum(terms, exps, x.td), 0
		a, b = a[n:], b[n:]
	}
	return c
}

// sparseIndices returns the positions of the stored elements in a lane's row of a sparse A (9.7.16.10.8).
func (x *tcgen05Mma) sparseIndices(t *thread, m *tensorMemory, lane int) (indices []int) {
	chunk := map[int]int{32: 2, 16: 4, 8: 4, 4: 8}[x.bits]
	n := x.k / chunk
	for i := range n {
		var nibble uint64
		if x.bits >= 16 {
			word := m.cells[m.checkCell(t, cell{lane/16*16 + choose(i < n/2, 0, 8) + lane%8, x.meta.column})]
			nibble = low(word>>(choose(lane%16 < 8, 0, 16)+i%(n/2)*4), 4)
		} else {
			nibble = low(m.cells[m.checkCell(t, cell{lane, x.meta.column + i/8})]>>(i%8*4), 4)
		}
		allowed := []uint64{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110}
		if chunk == 2 {
			allowed = []uint64{0b1110, 0b0100}
		}
		if !slices.Contains(allowed, nibble) {
			t.trap(KindMatrix, "metadata %#b", nibble)
		}
		first, second := int(nibble&3), int(nibble>>2)
		switch chunk {
		case 2:
			indices = append(indices, 2*i+choose(nibble == 0b1110, 1, 0))
		case 4:
			indices = append(indices, 4*i+first, 4*i+second)
		default:
			indices = append(indices, 8*i+2*first, 8*i+2*first+1, 8*i+2*second, 8*i+2*second+1)
		}
	}
	return indices
}

// scalesAt returns the scales of row i of A, or of column i of a lane's columns of B (figures 231 to 242): each column
// of the lane's quarter holds 32 of them.
func (x *tcgen05Mma) scalesAt(t *thread, m *tensorMemory, lane, operand, i int) (list []scale) {
	word := m.cells[m.checkCell(t, cell{lane/32*32 + i%32, x.scales[operand].column + i/32})]
	for k := range x.scaleVectorSize {
		list = append(list, decodeScale(low(word>>(8*(x.scaleOffset[operand]+k)), 8), x.scaleType))
	}
	return list
}

// isZero reports whether the zero-column mask selects a column: in each part of the lanes, runs of 0 and 1 alternate
// (9.7.16.4.3, whose examples have Use Span + 1 times 0 and Skip Span + 1 times 1).
func (x *tcgen05Mma) isZero(col int) bool {
	span := x.n * x.m / 128
	i, position := col/span, col%span
	if x.zeroColumnMask>>39&1 == 0 {
		return false
	}
	oneRun, zeroRun := int(low(x.zeroColumnMask>>40, 8))+1, int(low(x.zeroColumnMask>>48, 8))+1
	isOneRun := x.zeroColumnMask>>(32+i)&1 == 1
	position += int(low(x.zeroColumnMask>>(8*i), 8))
	for {
		run := choose(isOneRun, oneRun, zeroRun)
		if position < run {
			return isOneRun
		}
		position, isOneRun = position-run, !isOneRun
	}
}
