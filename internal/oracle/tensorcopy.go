package oracle

// This file executes copies between tensors and shared memory (manual 5.5, 9.7.9.25.5), element by element, and changes
// tensor maps (9.7.9.27, 9.7.13.16).

import (
	"strings"

	"gemu/internal/tensormap"
	"gemu/ptx"
)

// swizzleTables has the tables of manual 5.5.7: the 16-byte chunk at each place of a 128-byte line, line by line. They
// repeat.
var swizzleTables = map[tensormap.Swizzle][][8]int{
	{}:                          {{0, 1, 2, 3, 4, 5, 6, 7}},
	{Mode: tensormap.Swizzle32}: {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}},
	{Mode: tensormap.Swizzle96}: {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}},
	{Mode: tensormap.Swizzle64}: {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}},
	{Mode: tensormap.Swizzle128}: {
		{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
		{4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2}, {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0},
	},
	{Mode: tensormap.Swizzle128, Atomicity: tensormap.Atom32}:      {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}},
	{Mode: tensormap.Swizzle128, Atomicity: tensormap.Atom32Flip8}: {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 6, 7, 4, 5}, {4, 5, 6, 7, 0, 1, 2, 3}, {6, 7, 4, 5, 2, 3, 0, 1}},
	{Mode: tensormap.Swizzle128, Atomicity: tensormap.Atom64}:      {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}},
}

// mixed returns the address in shared memory of the byte that belongs at an address.
func mixed(s tensormap.Swizzle, addr uint64) uint64 {
	table := swizzleTables[s]
	line, chunk, byte := addr/128, addr/16%8, addr%16
	for place, c := range table[line%uint64(len(table))] {
		if uint64(c) == chunk {
			if s.Atomicity == tensormap.Atom32Flip8 && line%2 == 1 {
				byte = (byte + 8) % 16
			}
			return line*128 + uint64(place)*16 + byte
		}
	}
	panic("BUG: a chunk that is nowhere")
}

// element is an element of a copy.
type element struct {
	inside bool
	global uint64 // address of its first bit in global memory
	shared uint64 // address of its first bit in shared memory
}

// boxElements lists the elements of a copy.
func (t *thread) boxElements(m *tensormap.Map, coords []int64, offsets []int64, shared uint64, store bool) (list []element) {
	if m.Interleave != tensormap.NoInterleave {
		t.unsupported()
	}
	bits := uint64(m.Type.Bits())
	inShared := bits
	if m.Type.Padded() {
		inShared = 8 // 16 elements take 16 bytes
	}
	pitch := uint64(m.Box[0]) * inShared / 8
	if span := map[tensormap.SwizzleMode]uint64{tensormap.Swizzle32: 32, tensormap.Swizzle64: 64, tensormap.Swizzle96: 96, tensormap.Swizzle128: 128}[m.Swizzle.Mode]; span > pitch {
		pitch = span
	}
	for r, x := range t.boxRows(m, coords, offsets) {
		for i := range uint64(m.Box[0]) {
			c := x
			c[0] += int64(i)
			e := element{inside: true}
			addr := 8 * m.Address
			for d := range m.Rank {
				if c[d] < 0 || c[d] >= int64(m.Dim[d]) {
					e.inside = false
				}
				if d == 0 {
					addr += uint64(c[0]) * bits
				} else {
					addr += 8 * uint64(c[d]) * m.Stride[d-1]
				}
			}
			e.global = addr
			switch {
			case m.Type.Padded() && store: // bytes whose upper bits are unused
				e.shared = 8 * mixed(m.Swizzle, shared+uint64(r)*pitch+i)
			case m.Type.Padded():
				bit := i % 16 * bits
				e.shared = 8*mixed(m.Swizzle, shared+uint64(r)*pitch+i/16*16+bit/8) + bit%8
			default:
				bit := i * bits
				e.shared = 8*mixed(m.Swizzle, shared+uint64(r)*pitch+bit/8) + bit%8
			}
			list = append(list, e)
		}
	}
	return list
}

// boxRows lists the coordinates of the first element of each row along the innermost dimension.
func (t *thread) boxRows(m *tensormap.Map, coords, offsets []int64) (rows [][tensormap.Rank]int64) {
	var x [tensormap.Rank]int64
	switch {
	case t.hasModifier("tile::gather4") || t.hasModifier("tile::scatter4"): // 5.5.3.4
		for _, row := range coords[1:] {
			rows = append(rows, [tensormap.Rank]int64{coords[0], row})
		}
	case m.Mode == tensormap.Tiled: // 5.5.3
		copy(x[:], coords)
		var loop func(d int)
		loop = func(d int) {
			if d == 0 {
				rows = append(rows, x)
				return
			}
			for i := int64(0); i < int64(m.Box[d]); i += int64(m.Step[d]) {
				x[d] = coords[d] + i
				loop(d - 1)
			}
		}
		loop(m.Rank - 1)
	case m.Mode == tensormap.Im2col: // 5.5.4
		copy(x[:], coords)
		for range m.Box[1] {
			p := x
			for i, o := range offsets[:m.Rank-2] {
				p[i+1] += o
			}
			rows = append(rows, p)
			t.nextPixel(m, &x, m.Rank-2, 0)
		}
	default: // 5.5.5
		halo, wOffset := offsets[0], offsets[1]
		copy(x[:], coords)
		x[1] += wOffset
		all, groups := int64(m.Box[1]), int64(1)
		if m.Mode == tensormap.Im2colW128 {
			all, groups = 32, 4
		}
		var line [][tensormap.Rank]int64
		for range all*groups + halo {
			line = append(line, x)
			t.nextPixel(m, &x, 1, wOffset)
		}
		for g := range groups {
			rows = append(rows, line[g*all:][:all+halo]...)
		}
	}
	return rows
}

// nextPixel advances to the next pixel of the bounding box, in dims dimensions of space.
func (t *thread) nextPixel(m *tensormap.Map, x *[tensormap.Rank]int64, dims int, shift int64) {
	for i := range dims {
		x[i+1] += int64(m.Step[i+1])
		if x[i+1] < int64(m.Dim[i+1])+int64(m.Upper[i])+shift {
			return
		}
		x[i+1] = int64(m.Lower[i]) + shift
	}
	x[m.Rank-1]++
}

// mapOperand is the place of the tensor map of a copy, with its overrides, when the copy is issued.
type mapOperand struct {
	space ptx.Space
	addr  uint64
	with  *tensormap.Override
}

// mapAt reads a tensor map, and checks it for a copy at coordinates.
func (t *thread) mapAt(o mapOperand, coords []int64, offsets []int64, store bool) *tensormap.Map {
	from, _ := t.machine.resolve(o.addr)
	if o.space == ptx.Shared || o.space == ptx.Local || from != ptx.Generic {
		t.trap(KindMemory, "a tensor map in %s memory", from)
	}
	m, err := tensormap.DecodeWith(t.asyncBytes(o.space, o.addr, tensormap.Size, tensormap.Align, readAccess), o.with)
	if err != nil {
		t.trap(KindAsync, "%v", err)
	}
	if t.hasModifier("override::global_dim") || t.hasModifier("override::global_dim_stride") {
		for _, c := range coords {
			if c != 0 {
				t.trap(KindAsync, "coordinate %d where extents are overridden", c)
			}
		}
	}
	mode, rows := tensormap.Tiled, t.hasModifier("tile::gather4") || t.hasModifier("tile::scatter4")
	switch {
	case t.hasModifier("im2col") || t.hasModifier("im2col_no_offs"):
		mode = tensormap.Im2col
	case t.hasModifier("im2col::w") || t.hasModifier("im2col_no_offs::w"):
		mode = tensormap.Im2colW
	case t.hasModifier("im2col::w::128"):
		mode = tensormap.Im2colW128
	}
	bad := m.Mode != mode || !rows && m.Rank != len(coords) || rows && (m.Rank != 2 || m.Box[1] != 1)
	// 9.7.9.25.5.1
	if m.Type.Padded() && coords[0]%128 != 0 || m.Type == tensormap.B4x16 && coords[0]%2 != 0 {
		bad = true
	}
	for _, c := range coords {
		bad = bad || store && c < 0
	}
	if store && (m.Type == tensormap.B4x16P64 || m.Swizzle.Atomicity == tensormap.Atom32Flip8) {
		bad = true
	}
	if !bad && mode != tensormap.Tiled {
		for i := range m.Rank - 2 {
			if mode != tensormap.Im2col && i > 0 {
				break
			}
			from, to := int64(m.Lower[i]), int64(m.Dim[i+1])+int64(m.Upper[i])
			bad = bad || coords[i+1] >= to || mode == tensormap.Im2col && coords[i+1] < from || store && (m.Lower[i] < 0 || m.Upper[i] > 0)
		}
		switch {
		case mode == tensormap.Im2col:
			for _, o := range offsets[:m.Rank-2] {
				bad = bad || o >= int64(1)<<[]int{16, 8, 5}[m.Rank-3]
			}
		default:
			bad = bad || offsets[1] >= 32 || offsets[0] >= 512 || mode == tensormap.Im2colW128 && offsets[0] >= 32
		}
	}
	if bad {
		t.trap(KindAsync, "the tensor map is none for the copy")
	}
	return m
}

// tensorCopy executes cp.async.bulk.tensor (9.7.9.25.5.2) and cp.reduce.async.bulk.tensor (9.7.9.25.5.3).
func (t *thread) tensorCopy() {
	store, reduces := t.hasModifier("bulk_group"), t.hasModifier("reduce")
	mapName, boxName := "b", "a"
	if store {
		mapName, boxName = "a", "c"
	}
	numbers := func(o *ptx.Operand, typ ptx.Type) (list []int64) {
		for _, e := range elements(o) {
			v := t.read(e, typ).lo
			if typ == ptx.S32 {
				list = append(list, int64(int32(v)))
			} else {
				list = append(list, int64(v&0xffff))
			}
		}
		return list
	}
	o, _ := t.operand(mapName)
	coords := numbers(&o.Elems()[len(o.Elems())-1], ptx.S32)
	offsets := []int64{0, 0, 0}
	if t.instr.Form.Operand("f") >= 0 && t.hasOperand("f") {
		f, _ := t.operand("f")
		copy(offsets, numbers(f, ptx.U16))
	}
	_, shared := t.addressIn(boxName, ptx.Shared)
	if !store {
		var space ptx.Space
		if space, shared = t.addressIn(boxName, ptx.Shared); t.hasModifier("shared::cluster") && space == ptx.Shared {
			if resolved, address := t.machine.resolve(shared); resolved == ptx.Shared {
				shared = address
			}
		}
	}
	ranks := []uint64{shared >> rankShift}
	if t.isMulticast() {
		ranks = nil
		t.checkMulticastSource(ptx.Shared, shared)
		for r := range uint64(32) {
			if t.operandValue("g")>>r&1 == 0 {
				continue
			}
			if ranks = append(ranks, r); int(r) >= t.machine.clusterSize() {
				t.trap(KindCluster, "cta %d of a cluster of %d", r, t.machine.clusterSize())
			}
		}
	}
	from := mapOperand{with: t.overriding(mapName, len(coords))}
	from.space, from.addr = t.addressIn(mapName, ptx.Generic)
	for _, r := range ranks {
		t.copyBox(from, coords, offsets, shared%(1<<rankShift)+r<<rankShift, r, store, reduces)
	}
}

// copyBox copies or reduces a box, from or to the shared memory of the CTA with the given rank.
func (t *thread) copyBox(from mapOperand, coords, offsets []int64, shared, rank uint64, store, reduces bool) {
	k := &task{bulk: true}
	var m *tensormap.Map
	readMap := func() {
		if m == nil {
			m = t.mapAt(from, coords, offsets, store)
		}
	}
	first := t.mapAt(from, coords, offsets, store)
	if !store {
		k.readTensorMap = readMap
		k.mbarrier = t.mbarrierAt("e")
		if t.isMulticast() {
			_, bar := t.address("e")
			k.mbarrier = t.asyncBytes(ptx.Shared, bar%(1<<rankShift)+rank<<rankShift, 8, 8, updateAccess)
		}
		t.checkReport(t.mbarrierIn(k.mbarrier))
	}
	if shared%128 != 0 {
		t.trap(KindMisaligned, "a box at %#x of shared memory", shared)
	}
	inShared, inGlobal := readAccess, writeAccess
	if !store {
		inShared, inGlobal = writeAccess, readAccess
	}
	// bits returns the bits of an element, and replaces them if newBits is not nil.
	bits := func(space ptx.Space, first uint64, n int, rw accessKind, newBits *uint64) uint64 {
		p := t.asyncBytes(space, first/8, (int(first%8)+n+7)/8, 1, rw)
		var all, mask uint64
		for i, b := range p {
			all |= uint64(b) << (8 * i)
		}
		mask = 1<<n - 1
		if n == 64 {
			mask = ^uint64(0)
		}
		if newBits != nil {
			v := all&^(mask<<(first%8)) | *newBits&mask<<(first%8)
			for i := range p {
				p[i] = byte(v >> (8 * i))
			}
		}
		return all >> (first % 8) & mask
	}
	t.checkReduction(first, reduces)
	list := t.boxElements(first, coords, offsets, shared, store)
	k.txBytes = int64(len(list) * first.Type.Bits() / 8)
	for _, e := range list {
		bits(ptx.Shared, e.shared, first.Type.Bits(), inShared, nil)
		if e.inside {
			bits(ptx.Global, e.global, first.Type.Bits(), inGlobal, nil)
		}
	}
	var data []uint64
	var last []element
	k.readSource = func() {
		readMap()
		last = t.boxElements(m, coords, offsets, shared, store)
		k.reportMatched = t.boxReports(k.instr, m, last)
		for _, e := range last {
			switch {
			case store:
				data = append(data, bits(ptx.Shared, e.shared, m.Type.Bits(), readAccess, nil))
			case e.inside:
				data = append(data, roundLoaded(m.Type, bits(ptx.Global, e.global, m.Type.Bits(), readAccess, nil)))
			default:
				data = append(data, fillBits(m))
			}
		}
	}
	k.execute = func() {
		for i, e := range last {
			switch {
			case !store:
				bits(ptx.Shared, e.shared, m.Type.Bits(), writeAccess, &data[i])
			case !e.inside:
			case reduces:
				typ := reducedAs[m.Type]
				p := t.asyncBytes(ptx.Global, e.global/8, typ.Size(), 1, updateAccess)
				if typ == ptx.F16 || typ == ptx.BF16 {
					copy(p, bytesOf(value{lo: t.combine16(typ, valueOf(p).lo, data[i])}, typ.Size()))
				} else {
					t.combineBytes(ptx.Global, typ, p, value{lo: data[i]})
				}
			default:
				bits(ptx.Global, e.global, m.Type.Bits(), writeAccess, &data[i])
			}
		}
	}
	if k.thread, k.instr = t, t.instr; reduces {
		t.cta.cluster.finishTask(k)
		return
	}
	t.issue(k)
}

// overriding reads the operands of a copy that replace properties of its map (manual of PTX 9.4, 9.7.10.28.5.2); nil if
// there are none.
func (t *thread) overriding(name string, dims int) *tensormap.Override {
	if !t.hasModifier("override::global_address") {
		return nil
	}
	o, _ := t.operand(name)
	parts := o.Elems()
	with := &tensormap.Override{Address: t.read(&parts[0], ptx.B64).lo}
	if !t.hasModifier("override::global_dim") && !t.hasModifier("override::global_dim_stride") {
		return with
	}
	with.Dims = dims
	for i, e := range elements(&parts[1]) {
		v := t.read(e, ptx.B16).lo
		if e.Kind == ptx.RegOperand && t.currentFrame().fn.Regs[e.Reg].Type.Bits() == 8 {
			v = low(v, 8)
		}
		with.Dim[i] = uint16(v)
	}
	if dims > 1 {
		for i, e := range elements(&parts[2]) {
			with.Low[i] = uint32(t.read(e, ptx.B32).lo)
		}
		with.High = uint16(t.read(&parts[3], ptx.B16).lo)
	}
	return with
}

// boxReports reports whether elements in global memory have the pattern of a copy's report. Of each 16 bytes it
// examines those from the first copied element on, row by row of the box.
func (t *thread) boxReports(instr *ptx.Instr, m *tensormap.Map, list []element) bool {
	_, pattern, ok := strings.Cut(instr.Slot("report"), "::report::validity::")
	if !ok {
		return false
	}
	size := 1 // compared bytes
	want, mask := uint64(0xff), uint64(0xff)
	if digits, chunks := strings.CutPrefix(pattern, "per_16bytes::"); chunks {
		size = max(len(digits)/2, 1)
		mask = 1<<(4*len(digits)) - 1
		want = 1 << (4*len(digits) - 1)
	}
	chunks := map[[2]uint64]bool{} // examined chunks, by row of the box
	copied := map[[2]uint64]bool{} // copied bytes, by row of the box
	var copiedBytes [][2]uint64
	for i, e := range list {
		if !e.inside {
			continue
		}
		row := uint64(i) / uint64(m.Box[0])
		for bit := e.global; bit < e.global+uint64(m.Type.Bits()); bit++ {
			if copiedByte := [2]uint64{row, bit / 8}; !copied[copiedByte] {
				copied[copiedByte] = true
				copiedBytes = append(copiedBytes, copiedByte)
			}
		}
	}
	for _, copiedByte := range copiedBytes {
		if chunk := [2]uint64{copiedByte[0], copiedByte[1] / 16}; strings.HasPrefix(pattern, "per_16bytes") && chunks[chunk] {
			continue
		} else {
			chunks[chunk] = true
		}
		v, complete := uint64(0), copiedByte[1]%16+uint64(size) <= 16
		for i := range uint64(size) {
			complete = complete && copied[[2]uint64{copiedByte[0], copiedByte[1] + i}]
		}
		if !complete {
			continue
		}
		for i, b := range t.asyncBytes(ptx.Global, copiedByte[1], size, 1, readAccess) {
			v |= uint64(b) << (8 * i)
		}
		if v&mask == want {
			return true
		}
	}
	return false
}

// reducedAs has the types of elements that can be reduced.
var reducedAs = map[tensormap.Type]ptx.Type{
	tensormap.U32: ptx.U32, tensormap.S32: ptx.S32, tensormap.U64: ptx.U64, tensormap.S64: ptx.S64, tensormap.F16: ptx.F16, tensormap.BF16: ptx.BF16, tensormap.F32: ptx.F32,
}

// checkReduction traps if elements do not have the reduction: the table of 9.7.9.25.5.3.
func (t *thread) checkReduction(m *tensormap.Map, reduces bool) {
	ok := false
	switch typ := m.Type; t.instr.Slot("op") {
	case "add":
		ok = typ == tensormap.U32 || typ == tensormap.S32 || typ == tensormap.U64 || typ == tensormap.F32 || typ == tensormap.F16 || typ == tensormap.BF16
	case "min", "max":
		ok = typ == tensormap.U32 || typ == tensormap.S32 || typ == tensormap.U64 || typ == tensormap.S64 || typ == tensormap.F16 || typ == tensormap.BF16
	case "inc", "dec":
		ok = typ == tensormap.U32
	case "and", "or", "xor":
		ok = typ == tensormap.U32 || typ == tensormap.S32 || typ == tensormap.U64 || typ == tensormap.S64
	}
	if reduces && !ok {
		t.trap(KindAsync, "no such reduction of .%s", m.Type)
	}
}

// roundLoaded converts an element to its form in shared memory (5.5.1).
func roundLoaded(typ tensormap.Type, v uint64) uint64 {
	f := formatOf(ptx.F32)
	if typ == tensormap.F32Ftz || typ == tensormap.TF32Ftz {
		v = f.flush(v)
	}
	if typ == tensormap.TF32 || typ == tensormap.TF32Ftz {
		if f.isNaN(v) {
			return 0x7fffe000
		}
		// Floats are ordered by their bits.
		fraction := v % 0x2000
		low := v - fraction
		if fraction > 0x1000 || fraction == 0x1000 && low/0x2000%2 == 1 {
			return low + 0x2000
		}
		return low
	}
	return v
}

// fillBits returns the value of an element outside of the tensor (5.5.3.3).
func fillBits(m *tensormap.Map) uint64 {
	if !m.NaN {
		return 0
	}
	switch m.Type {
	case tensormap.F16, tensormap.BF16:
		return oobNaN
	case tensormap.F64:
		return 0x7ff8_0000_0000_0000
	case tensormap.TF32, tensormap.TF32Ftz:
		return 0x7fff_e000
	}
	return 0x7fff_ffff
}

// copyMap executes tensormap.cp_fenceproxy.
func copyMap(g group) {
	for _, t := range g {
		ts, to := t.addressIn("a", ptx.Global)
		fs, from := t.addressIn("b", ptx.Shared)
		copy(t.asyncBytes(ts, to, tensormap.Size, tensormap.Align, writeAccess), t.asyncBytes(fs, from, tensormap.Size, tensormap.Align, readAccess))
	}
}

// tensormapOf executes tensormap.replace and tensormap.cp_fenceproxy. The manual does not specify the encoding of a
// map.
func tensormapOf(t *thread) {
	if t.hasModifier("cp_fenceproxy") {
		t.state = atCollective
		return
	}
	space, addr := t.address("a")
	if t.hasModifier("query") {
		large, err := tensormap.Large(t.asyncBytes(space, addr, tensormap.Size, tensormap.Align, readAccess))
		if err != nil {
			t.trap(KindAsync, "%v", err)
		}
		t.setOperand("p", map[bool]uint64{true: 1}[large])
		return
	}
	p := t.asyncBytes(space, addr, tensormap.Size, tensormap.Align, updateAccess)
	if large := t.hasModifier("alloc_large"); large || t.hasModifier("alloc_small") {
		if err := tensormap.Replace(p, tensormap.AllocClass, 0, map[bool]uint64{true: 1}[large]); err != nil {
			t.trap(KindAsync, "%v", err)
		}
	}
	if t.instr.Form.Operand("b") < 0 {
		return
	}
	ord, value := 0, uint64(0)
	if t.instr.Form.Operand("c") >= 0 {
		ord, value = int(min(t.operandValue("b"), 100)), t.operandValue("c")
	} else {
		value = t.operandValue("b")
	}
	if err := tensormap.Replace(p, t.instr.Slot("field"), ord, value); err != nil {
		t.trap(KindAsync, "%v", err)
	}
}
