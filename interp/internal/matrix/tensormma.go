package matrix

// This file is tcgen05.mma (manual 9.7.16.10): one thread has a CTA, or a pair of them, multiply.
// Each lane of tensor memory has a row of D, or a part of one, and everything else that is needed
// for it in tensor memory lies in its own part of that.

import (
	"fmt"
	"math"
	"slices"

	"gemu/ptx"
)

// TensorKind is .kind of tcgen05.mma.
type TensorKind uint8

// The kinds.
const (
	KindF16 TensorKind = iota
	KindTF32
	KindF8F6F4
	KindI8
	KindMXF8F6F4
	KindMXF4
	KindMXF4NVF4
	KindTI16
)

// TensorKinds are their names.
var TensorKinds = [...]string{"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4", "kind::ti16"}

// TensorMma is what an instruction says of a multiplication.
type TensorMma struct {
	Kind               TensorKind
	Pair               bool // of CTAs: .cta_group::2
	Sparse             bool // A is
	Stationary         bool // .ws
	InTensor           bool // A is in tensor memory
	Shifted            bool // … where its rows are moved down by one: .ashift
	Table              bool // B is indices into tables in tensor memory: .decompress::lut::b
	Newer              bool // the instruction descriptor may have what it has for sm_107
	ScalesPerRow       int  // scales of a row; 0: it has none
	InputScaleExponent int  // exponent that D is divided by: scale-input-d
}

// tensorKinds are what the kinds have: bits of an element of A and B in memory, K, and the types by
// what the instruction descriptor has for them.
var tensorKinds = [...]struct {
	bits, k int
	types   map[uint32]ptx.Type
}{
	KindF16:      {16, 16, map[uint32]ptx.Type{0: ptx.F16, 1: ptx.BF16}},
	KindTF32:     {32, 8, map[uint32]ptx.Type{2: ptx.TF32}},
	KindF8F6F4:   {8, 32, narrowTypes},
	KindI8:       {8, 32, map[uint32]ptx.Type{0: ptx.U8, 1: ptx.S8}},
	KindMXF8F6F4: {8, 32, narrowTypes},
	KindMXF4:     {4, 64, map[uint32]ptx.Type{1: ptx.E2M1}},
	KindMXF4NVF4: {4, 64, map[uint32]ptx.Type{1: ptx.E2M1}},
	KindTI16:     {16, 16, map[uint32]ptx.Type{3: ptx.S16}}, // sign and magnitude: .s1z4m11
}

var narrowTypes = map[uint32]ptx.Type{0: ptx.E4M3, 1: ptx.E5M2, 3: ptx.E2M3, 4: ptx.E3M2, 5: ptx.E2M1}

// TensorProduct is a multiplication as the instruction descriptor has it (manual 9.7.16.4.2).
type TensorProduct struct {
	*TensorMma
	M, N, K                  int // of all CTAs; K: of B
	A, B, D                  ptx.Type
	NegateA, NegateB         bool
	TransposedA, TransposedB bool // transposed: neighbours in memory are those of a column of A, or of a row of B
	Saturate                 bool // of integers
	ScaleA, ScaleB           int  // the byte of a word that the first scale is in
	UE4M3                    bool // their type

	long       bool // K is twice that of the kind
	rowsPerCTA int  // of a CTA
	laneParts  int  // parts of N that are in as many parts of the lanes
	halfLanes  bool // of each 32 lanes 16 have rows: layouts C and F
}

// Refusal is why a multiplication cannot be: what the manual does not allow, or what it does and
// gemu does not run.
type Refusal struct {
	Description    string
	NotImplemented bool // not run
}

func refuse(format string, args ...any) *Refusal {
	return &Refusal{Description: fmt.Sprintf(format, args...)}
}

// Product decodes an instruction descriptor.
func (o *TensorMma) Product(d uint32) (*TensorProduct, *Refusal) {
	kind := &tensorKinds[o.Kind]
	field := func(at, n int) uint32 { return d >> at & (1<<n - 1) }
	flag := func(at int) bool { return field(at, 1) != 0 }
	p := &TensorProduct{
		TensorMma: o, N: int(field(17, 6)) * 8, K: kind.k, D: ptx.F32,
		NegateA: flag(13), NegateB: flag(14), TransposedA: flag(15), TransposedB: flag(16),
	}
	bad := func(format string, args ...any) (*TensorProduct, *Refusal) {
		return nil, refuse("instruction descriptor %#x: "+format, append([]any{d}, args...)...)
	}
	later := func(what string) (*TensorProduct, *Refusal) {
		return nil, &Refusal{fmt.Sprintf("instruction descriptor %#x: %s", d, what), true}
	}
	reserved := uint32(1<<6 | 1<<23 | 1<<29)
	typesB := field(10, 3)
	long := false // K is 64
	if scaled := o.ScalesPerRow > 0; scaled {
		p.M = int(field(27, 2)) * 128
		p.ScaleB, p.ScaleA, p.UE4M3 = int(field(4, 2)), int(field(29, 2)), !flag(23)
		reserved = 3 | 1<<3 | 1<<6 | 7<<24 | 1<<31
		narrowest := o.Kind != KindMXF8F6F4
		if o.Newer && !narrowest {
			long, reserved = flag(31), reserved&^(1<<31)
		}
		if narrowest {
			typesB, reserved = field(10, 2), reserved&^(1<<31)|1<<12|3<<15
			if flag(31) {
				return later("a K of 96")
			}
		}
		switch {
		case o.Newer && flag(26):
			return later("scales of A in 128 lanes")
		case o.Newer && narrowest && flag(3):
			return later("a K of 128")
		case o.Newer && narrowest && flag(12):
			return later("sparsity of version 1")
		case o.Newer && narrowest && flag(24):
			return later("scales of .ue5m3")
		case p.UE4M3 && (o.Kind != KindMXF4NVF4 || o.ScalesPerRow != 4):
			return bad("scales of .ue4m3, with %s and %d for a row", TensorKinds[o.Kind], o.ScalesPerRow)
		case p.ScaleA%o.ScalesPerRow != 0 || p.ScaleA+o.ScalesPerRow > 4:
			return bad("scale factor A id %d, with %d for a row", p.ScaleA, o.ScalesPerRow)
		case p.ScaleB%o.ScalesPerRow != 0 || p.ScaleB+o.ScalesPerRow > 4:
			return bad("scale factor B id %d, with %d for a row", p.ScaleB, o.ScalesPerRow)
		}
	} else {
		p.M = int(field(24, 5)) * 16
		want := uint32(1)
		switch {
		case o.Kind == KindI8:
			want, p.D, p.Saturate = 2, ptx.S32, flag(3)
			reserved |= 3 << 13
		case o.Kind == KindTI16:
			want, p.D = 2, ptx.S32
		case field(4, 2) == 0 && o.Kind != KindTF32:
			want, p.D = 0, ptx.F16
		}
		if field(4, 2) != want {
			return bad("type %d of D, with %s", field(4, 2), TensorKinds[o.Kind])
		}
		if o.Kind != KindI8 {
			reserved |= 1 << 3
		}
		if !o.Stationary {
			reserved |= 3 << 30
		}
		if o.Newer && o.Kind == KindF8F6F4 {
			long, reserved = flag(29), reserved&^(1<<29)
		}
		switch selector := field(0, 2); {
		case !o.Sparse && selector != 0:
			return bad("sparsity selector %d, of a matrix A that is not sparse", selector)
		case selector != 0 && kind.bits < 16:
			return bad("sparsity selector %d, with %s", selector, TensorKinds[o.Kind])
		case selector != 0:
			return later(fmt.Sprintf("sparsity selector %d", selector))
		}
	}
	p.A, p.B = kind.types[field(7, 3)], kind.types[typesB]
	switch {
	case d&reserved != 0:
		return bad("reserved bits %#x are not 0", d&reserved)
	case flag(2) != o.Sparse:
		return bad("a sparse A: %v, which the instruction has: %v", flag(2), o.Sparse)
	case p.A == ptx.NoType || p.B == ptx.NoType:
		return bad("types %d and %d of A and B, with %s", field(7, 3), typesB, TensorKinds[o.Kind])
	case p.D == ptx.F16 && (p.A == ptx.BF16 || p.B == ptx.BF16):
		return bad("D of .f16, with factors of .bf16")
	case p.TransposedA && packedBits[p.A] > 0 || p.TransposedB && packedBits[p.B] > 0:
		return bad("a matrix of elements of less than 8 bits is transposed")
	case p.TransposedA && o.InTensor:
		return bad("A is transposed, and in tensor memory")
	case o.Table && !long:
		return bad("a K of %d: B is decompressed for one of 64", p.K)
	case o.Table && (p.TransposedB || p.B != ptx.E4M3):
		return bad("B is decompressed to .e4m3, and not transposed")
	case long && o.Kind == KindF8F6F4 && (packedBits[p.A] > 0 || packedBits[p.B] > 0):
		return bad("elements of less than 8 bits, with a K of 64")
	case long && (packedBits[p.A] > 0 || packedBits[p.B] > 0):
		return later("elements of less than 8 bits, with a K of 64")
	}
	if long {
		p.K *= 2
	}
	p.long = long
	if o.Sparse {
		p.K *= 2
	}
	if o.Shifted && p.M != 128 && p.M != 256 {
		return bad(".ashift, with an M of %d", p.M)
	}
	if !p.validShape() {
		return bad("%d×%d, which %s has not", p.M, p.N, p)
	}
	p.rowsPerCTA = p.M
	switch {
	case o.Pair:
		p.rowsPerCTA = p.M / 2
		p.halfLanes = o.Sparse && p.M == 128
		if p.laneParts = 1; !p.halfLanes {
			p.laneParts = TensorLanes / p.rowsPerCTA
		}
	case o.Stationary:
		p.laneParts = TensorLanes / p.M
	default:
		p.laneParts, p.halfLanes = 1, p.M == 64
	}
	return p, nil
}

// String is what decides about shapes.
func (o *TensorMma) String() string {
	s := TensorKinds[o.Kind]
	if o.Stationary {
		s += ".ws"
	}
	if o.Sparse {
		s += ".sp"
	}
	if o.Pair {
		return s + " and .cta_group::2"
	}
	return s + " and .cta_group::1"
}

// validShape reports whether there is one with M and N (manual 9.7.16.2.1, 9.7.16.10.1).
func (p *TensorProduct) validShape() bool {
	step := 8
	if p.Pair {
		step = 16
	}
	switch {
	case p.Stationary:
		return slices.Contains([]int{32, 64, 128}, p.M) && (p.N == 64 || p.N == 128 || p.N == 256 && !p.Sparse)
	case p.ScalesPerRow > 0 && !p.Pair:
		if p.M != 128 {
			return false
		}
	case p.ScalesPerRow > 0 && p.Sparse:
		if p.M != 256 {
			return false
		}
	case p.Pair:
		if p.M != 128 && p.M != 256 {
			return false
		}
	default:
		if p.M != 64 && p.M != 128 {
			return false
		}
	}
	if p.Kind == KindI8 && (p.Pair || p.N > 32) || p.Kind == KindTI16 && (p.Pair || p.M == 128) || p.TransposedB && p.B.Bits() == 8 {
		step *= 2
	}
	if p.long {
		if p.M == 64 || p.Pair && p.M == 128 {
			return false
		}
		if p.Kind == KindF8F6F4 {
			step = max(step, 16)
		}
	}
	return p.N > 0 && p.N <= 256 && p.N%step == 0
}

// storedK is how many elements of a row of A are stored.
func (p *TensorProduct) storedK() int {
	if p.Sparse {
		return p.K / 2
	}
	return p.K
}

// columnsB is how many columns of B a CTA has.
func (p *TensorProduct) columnsB() int {
	if p.Pair {
		return p.N / 2
	}
	return p.N
}

// packedBits is the bits of elements of less than a byte, which have padding behind them in shared
// memory where a byte is theirs elsewhere (manual 9.7.16.10.4.4).
var packedBits = map[ptx.Type]int{ptx.E2M1: 4, ptx.E3M2: 6, ptx.E2M3: 6}

func packedBitsOf(t ptx.Type, container int) int {
	if container == 8 {
		return packedBits[t]
	}
	return 0
}

// What is B is in shared memory where tables have its elements (manual of PTX 9.4, 9.7.18.4.1, 9.7.18.10.8): a row has
// the indices of 128 elements, of which a multiplication takes the first or the second half.
const (
	tableIndex = 3  // bits
	tableRow   = 48 // bytes
	tableSlice = 8  // columns of B that have a table
	tableHalf  = 53 // bit of the descriptor: it is the second half
)

// sharedA and to are A and B in shared memory.
func (p *TensorProduct) sharedA() *Shared {
	bits := tensorKinds[p.Kind].bits
	return &Shared{K: p.storedK(), Bits: bits, Packed: packedBitsOf(p.A, bits), Transposed: p.TransposedA}
}

func (p *TensorProduct) sharedB() *Shared {
	if p.Table {
		return &Shared{K: tableRow, Bits: 8}
	}
	bits := tensorKinds[p.Kind].bits
	return &Shared{K: p.K, Bits: bits, Packed: packedBitsOf(p.B, bits), Transposed: p.TransposedB}
}

// TensorOperands are the operands of a multiplication.
type TensorOperands struct {
	D, A, Meta     TensorAddress // A: if that is in tensor memory; Meta: of a sparse A, or the tables of B
	ScaleA, ScaleB TensorAddress
	DescA, DescB   TensorDescriptor
	Add            bool // to D
	Disabled       [2 * TensorLanes / 32]uint32
	Zero           ZeroMask
}

// ZeroMask says which columns of B are taken for zeros: the zero-column mask descriptor (manual
// 9.7.16.4.3). What its table calls skip and use spans are in the examples the lengths of ones
// and zeros of the mask, plus one.
type ZeroMask uint64

// Shift is the column of B that is the first.
func (z ZeroMask) Shift() int { return int(z >> 56 & 63) }

// zero reports whether column n of sub-mask i is zero.
func (z ZeroMask) zero(i, n int) bool {
	if z>>39&1 == 0 {
		return false
	}
	ones, zeros := int(z>>40&0xff)+1, int(z>>48&0xff)+1
	if n += int(z >> (8 * i) & 0xff); z>>(32+i)&1 == 0 {
		n += ones
	}
	return n%(ones+zeros) < ones
}

// Check says what of the operands cannot be, but for where they are.
func (p *TensorProduct) Check(x *TensorOperands) *Refusal {
	align := x.D.Lane()
	switch {
	case align != 0 && !(p.halfLanes && align == 16):
		return refuse("D begins at %v: a lane that is not 0", x.D)
	case p.InTensor && x.A.Lane() != align:
		return refuse("A begins at %v, and D at %v", x.A, x.D)
	case p.Sparse && x.Meta.Lane() != align:
		return refuse("the metadata begins at %v, and D at %v", x.Meta, x.D)
	case p.Table && (x.Meta.Lane() != 0 || x.Meta.Column()%2 != 0):
		return refuse("the tables of B begin at %v: a lane that is not 0, or an odd column", x.Meta)
	case p.ScalesPerRow > 0 && (x.ScaleA.Lane() != 0 || x.ScaleB.Lane() != 0):
		return refuse("scales begin at %v and at %v: lanes that are not 0", x.ScaleA, x.ScaleB)
	}
	for _, m := range p.sharedMatrices(x) {
		place, bad := m.desc.Placement()
		wide := m.matrix.Bits == 32 && m.matrix.Transposed
		switch {
		case bad != "":
			return refuse("descriptor %#x of matrix %s: %s", uint64(m.desc), m.name, bad)
		case m.desc.Absolute():
			return &Refusal{fmt.Sprintf("descriptor %#x of matrix %s: an absolute leading dimension", uint64(m.desc), m.name), true}
		case wide != place.Pairs && m.matrix.Transposed:
			return refuse("descriptor %#x of matrix %s: swizzling mode %d, of a transposed matrix of %d-bit elements", uint64(m.desc), m.name, m.desc>>61, m.matrix.Bits)
		case p.long && !m.matrix.Transposed && !place.Pairs && place.Width > Chunk && m.matrix.K*m.matrix.Bits/8 > place.Width:
			return &Refusal{fmt.Sprintf("descriptor %#x of matrix %s: rows of %d bytes, and swizzling of %d", uint64(m.desc), m.name, m.matrix.K*m.matrix.Bits/8, place.Width), true}
		case place.Pairs && !m.matrix.Transposed:
			return &Refusal{fmt.Sprintf("descriptor %#x of matrix %s: swizzling mode 1 of a matrix that is not transposed", uint64(m.desc), m.name), true}
		}
	}
	limit := 32
	if p.M == 32 {
		limit = 16
	}
	if s := x.Zero.Shift(); s > limit {
		return refuse("zero-column mask descriptor %#x: it shifts by %d columns, of at most %d", uint64(x.Zero), s, limit)
	}
	return nil
}

// sharedMatrix is a matrix in shared memory.
type sharedMatrix struct {
	name   string
	desc   TensorDescriptor
	matrix *Shared
	first  int
	rows   int
}

// sharedMatrices is the matrices in shared memory of each CTA.
func (p *TensorProduct) sharedMatrices(x *TensorOperands) (list []sharedMatrix) {
	if !p.InTensor {
		list = append(list, sharedMatrix{"A", x.DescA, p.sharedA(), 0, p.rowsPerCTA})
	}
	return append(list, sharedMatrix{"B", p.descB(x), p.sharedB(), 0, p.columnsB() + p.extraColumns(x)})
}

// descB is the descriptor of B without the bit that only B has which is decompressed.
func (p *TensorProduct) descB(x *TensorOperands) TensorDescriptor {
	if p.Table {
		return x.DescB &^ (1 << tableHalf)
	}
	return x.DescB
}

// extraColumns is how many columns more there are of B than those that are used.
func (p *TensorProduct) extraColumns(x *TensorOperands) int {
	n := 8
	if p.TransposedB {
		n = Chunk * 8 / tensorKinds[p.Kind].bits
	}
	return (x.Zero.Shift() + n - 1) / n * n // whole groups
}

// Outside finds the first 16 bytes of a matrix that are not within size bytes of shared memory.
func (p *TensorProduct) Outside(x *TensorOperands, size uint64) (name string, addr uint64, outside bool) {
	for _, m := range p.sharedMatrices(x) {
		place, _ := m.desc.Placement()
		if addr, outside = m.matrix.Outside(place, m.first, m.rows, size); outside {
			return m.name, addr, true
		}
	}
	return "", 0, false
}

// Reads calls f for the bytes that a multiplication reads of A and of B in the shared memory of each CTA.
func (p *TensorProduct) Reads(x *TensorOperands, a, b bool, f func(addr uint64, n int)) {
	for _, m := range p.sharedMatrices(x) {
		if m.name == "A" && !a || m.name == "B" && !b {
			continue
		}
		place, _ := m.desc.Placement()
		m.matrix.Reads(place, m.first, m.rows, f)
	}
}

// Regions is what a multiplication reads and writes of the tensor memory of each CTA.
func (p *TensorProduct) Regions(x *TensorOperands) (read, written []Region) {
	lanes := func(a TensorAddress, columns int) (list []Region) {
		if !p.halfLanes {
			return []Region{{0, TensorLanes, a.Column(), columns}}
		}
		for q := range Warps {
			list = append(list, Region{q*quarterLanes + a.Lane(), quarterLanes / 2, a.Column(), columns})
		}
		return list
	}
	written = lanes(x.D, p.N/p.laneParts)
	if p.InTensor {
		read = append(read, lanes(x.A, p.storedK()*tensorKinds[p.Kind].bits/32)...)
	}
	if p.Sparse {
		read = append(read, lanes(x.Meta, p.metadataColumns())...)
	}
	if p.Table {
		for q := range Warps {
			read = append(read, Region{q * quarterLanes, p.N / tableSlice, x.Meta.Column(), 2})
		}
	}
	if p.ScalesPerRow > 0 {
		read = append(read, lanes(x.ScaleA, (p.rowsPerCTA+31)/32)...)
		read = append(read, lanes(x.ScaleB, (p.N/p.laneParts+31)/32)...)
	}
	return read, written
}

// metadataColumns is how many columns the metadata of a sparse A has.
func (p *TensorProduct) metadataColumns() int {
	if tensorKinds[p.Kind].bits >= 16 {
		return 1
	}
	if p.long {
		return 4
	}
	return 2
}

// rowOfLane is the row of A and D that a lane has, in its CTA; ok is false if it has none. first is the
// column of D that its first is.
func (p *TensorProduct) rowOfLane(lane, align int) (row, first int, ok bool) {
	if p.halfLanes {
		in := lane%32 - align
		return lane/32*16 + in, 0, 0 <= in && in < 16
	}
	return lane % p.rowsPerCTA, lane / p.rowsPerCTA * (p.N / p.laneParts), true
}

// TensorCTA is a CTA that multiplies.
type TensorCTA struct {
	Memory *TensorMemory
	Shared []byte
	A      []uint32 // that LoadA has read; nil: it is read from Shared
}

// LoadA reads the elements of matrix A that a CTA has in its shared memory.
func (p *TensorProduct) LoadA(shared []byte, x *TensorOperands) []uint32 {
	place, _ := x.DescA.Placement()
	return p.sharedA().Load(shared, place, 0, p.rowsPerCTA)
}

// factorLists are elements in the form that they are multiplied in.
type factorLists struct {
	floats   []number
	integers []int32
}

// decode reads elements of a type, which take so many bits.
func (p *TensorProduct) decode(list []uint32, t ptx.Type, bits int, negate bool) (f factorLists) {
	if t.IsInt() {
		f.integers = make([]int32, len(list))
		for i, v := range list {
			if p.Kind == KindTI16 {
				if f.integers[i] = int32(v & magnitude); (v>>15 != 0) != negate {
					f.integers[i] = -f.integers[i]
				}
				continue
			}
			if f.integers[i] = int32(v); t.IsSigned() {
				f.integers[i] = int32(int8(v))
			}
		}
		return f
	}
	format := formatOf(t)
	f.floats = make([]number, len(list))
	for i, v := range list {
		if bits == 4 {
			v <<= format.shift
		}
		if f.floats[i] = format.decode(uint64(v)); negate {
			f.floats[i].mant = -f.floats[i].mant
		}
	}
	return f
}

// magnitude is what of an element of .s1z4m11 is not its sign and not zero (manual of PTX 9.4, 9.7.18.4.2).
const magnitude = 1<<11 - 1

// unsaid finds an element for which the manual leaves open what it stands for.
func (p *TensorProduct) unsaid(name string, list []uint32) *Undefined {
	if p.Kind != KindTI16 {
		return nil
	}
	for _, v := range list {
		if v&0x7fff > magnitude {
			return &Undefined{0, fmt.Sprintf("%#04x as an element of matrix %s, of .s1z4m11 with bits from 11 to 14", v, name)}
		}
	}
	return nil
}

// above is the lane that has the row of A above that of a lane; its own if that is the first one.
func (p *TensorProduct) above(lane, align int) int {
	switch row, _, _ := p.rowOfLane(lane, align); {
	case row == 0:
		return lane
	case p.halfLanes && row%16 == 0:
		return lane - 17
	}
	return lane - 1
}

// Execute multiplies: the even CTA of a pair comes first. Undefined is metadata for which the
// manual leaves open what is computed.
func (p *TensorProduct) Execute(ctas []TensorCTA, x *TensorOperands) *Undefined {
	bits := tensorKinds[p.Kind].bits
	place, _ := p.descB(x).Placement()
	var columns []uint32
	perWord := p.columnsB()
	for _, c := range ctas {
		list := p.sharedB().Load(c.Shared, place, 0, perWord+p.extraColumns(x))
		if p.Table {
			list = p.indices(list, int(x.DescB>>tableHalf&1))
		}
		columns = append(columns, list[x.Zero.Shift()*p.K:][:perWord*p.K]...)
	}
	for n := range p.N {
		part := p.N / p.laneParts
		if p.Stationary && x.Zero.zero(n/part, n%part) {
			clear(columns[n*p.K:][:p.K])
		}
	}
	if u := p.unsaid("B", columns); u != nil {
		return u
	}
	var b factorLists
	if !p.Table {
		b = p.decode(columns, p.B, bits, p.NegateB)
	}
	for i, c := range ctas {
		if u := p.multiply(i, c, x, b, columns); u != nil {
			return u
		}
	}
	return nil
}

// indices are those of a half of each row.
func (p *TensorProduct) indices(rows []uint32, half int) (list []uint32) {
	for ; len(rows) > 0; rows = rows[tableRow:] {
		for k := range p.K {
			at := (half*p.K + k) * tableIndex
			v := rows[at/8]
			if at/8+1 < tableRow {
				v |= rows[at/8+1] << 8
			}
			list = append(list, v>>(at%8)&(1<<tableIndex-1))
		}
	}
	return list
}

// lookUp has the elements of B that indices stand for. That of a slice of columns has its table, of eight bytes, in the
// lane of its number among the 32 around a lane.
func (w *tensorMultiplication) lookUp(m *TensorMemory, x *TensorOperands, lane int, indices []uint32) {
	if w.tabled == 1+lane/32 {
		return
	}
	w.tabled = 1 + lane/32
	list := make([]uint32, len(indices))
	for i, v := range indices {
		table := m[lane&^31|i/w.K/tableSlice][x.Meta.Column():]
		list[i] = table[v/4] >> (v % 4 * 8) & 0xff
	}
	w.b = w.decode(list, w.B, 8, w.NegateB)
}

// multiply multiplies for CTA i by all columns of B, which tables decompress.
//
//go:norace
func (p *TensorProduct) multiply(i int, c TensorCTA, x *TensorOperands, b factorLists, columns []uint32) *Undefined {
	bits, stored := tensorKinds[p.Kind].bits, p.storedK()
	var a factorLists
	var list []uint32
	if !p.InTensor {
		list = c.A
		if list == nil {
			list = p.LoadA(c.Shared, x)
		}
		a = p.decode(list, p.A, bits, p.NegateA)
	}
	w := tensorMultiplication{TensorProduct: p, b: b}
	if !p.A.IsInt() {
		unit := UnitTensor
		if bits == 4 {
			unit = UnitGroups
		}
		w.numerics = NumericsFor(unit, 100, p.A, p.B)
		w.formats = [...]format{formatOf(p.A), formatOf(p.B), formatOf(p.D)}
	}
	// What lanes read may lie where others write.
	type result struct {
		lane int
		row  []uint32
	}
	var results []result
	part := p.N / p.laneParts
	for lane := range TensorLanes {
		row, first, ok := p.rowOfLane(lane, x.D.Lane())
		if !ok || x.Disabled[i*TensorLanes/32+lane/32]>>(lane%32)&1 != 0 {
			continue
		}
		from := lane // that has the row of A
		if p.Shifted {
			from = p.above(lane, x.D.Lane())
		}
		held := list
		if p.InTensor {
			held = unpackElements(c.Memory[from][x.A.Column():], stored, bits)
		} else {
			held = held[row*stored:][:stored]
		}
		if u := p.unsaid("A", held); u != nil {
			return u
		}
		if p.Table {
			w.lookUp(c.Memory, x, lane, columns)
		}
		if p.InTensor {
			w.a = p.decode(held, p.A, bits, p.NegateA)
		} else if p.A.IsInt() {
			w.a.integers = a.integers[row*stored:][:stored]
		} else {
			w.a.floats = a.floats[row*stored:][:stored]
		}
		if p.Sparse {
			if u := w.selectElements(c.Memory, x, from); u != nil {
				return u
			}
		}
		if p.ScalesPerRow > 0 {
			w.readScales(c.Memory, x, lane, row, first)
		}
		d := c.Memory[lane][x.D.Column():][:part]
		out := make([]uint32, part)
		for n := range out {
			acc := uint32(0)
			if x.Add {
				acc = d[n]
			}
			out[n] = w.element(first+n, n, acc)
		}
		results = append(results, result{lane, out})
	}
	for _, r := range results {
		copy(c.Memory[r.lane][x.D.Column():], r.row)
	}
	return nil
}

// unpackElements are n of so many bits that words have.
func unpackElements(words []uint32, n, bits int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		at := i * bits
		list[i] = words[at/32] >> (at % 32)
		if bits < 32 {
			list[i] &= 1<<bits - 1
		}
	}
	return list
}

// tensorMultiplication is a lane's part of a multiplication.
type tensorMultiplication struct {
	*TensorProduct
	a, b             factorLists // the row of A, all columns of B
	selected         []uint8     // where the elements of a sparse A are in their row
	selectedFloats   []number
	selectedIntegers []int32
	numerics         *Numerics
	formats          [3]format
	rowScales        []number // scales of the row
	columnScales     []number // … and of the lane's columns, Vec of each
	scalesQuarter    int      // 1 + the 32 lanes that have read those
	tabled           int      // 1 + the 32 lanes whose tables have made B
	scaledColumns    []number // those columns with their scales, of elements of 8 bits
}

// selectElements reads the metadata of a lane's row. Where it lies is in the figures of 9.7.16.10.8.4, and so in
// CUTLASS (cute/atom/mma_traits_sm100_frag.hpp, tmem_e_frg): with elements of 16 bits and more, each
// word has half a row of two rows eight apart.
func (w *tensorMultiplication) selectElements(m *TensorMemory, x *TensorOperands, lane int) *Undefined {
	bits := tensorKinds[w.Kind].bits
	s := SparsityOf(w.A, bits, true)
	w.selected = w.selected[:0]
	for i := range w.K / s.Chunk {
		from, column, nibble := lane, x.Meta.Column()+i/8, i%8
		if bits >= 16 {
			half := w.K / s.Chunk / 2
			from, column, nibble = lane&^15|i/half*8|lane%8, x.Meta.Column(), lane/8%2*half+i%half
		}
		v := m[from][column] >> (4 * nibble) & 15
		at, ok := s.Indices(v)
		if !ok && !(v == 0b0110 && s.Chunk > 2) {
			return &Undefined{0, fmt.Sprintf("metadata 0b%04b at %v", v, TensorAddress(from<<16|column))}
		}
		for _, k := range at[:s.Chunk/2] {
			w.selected = append(w.selected, uint8(i*s.Chunk)+k)
		}
	}
	return nil
}

// readScales reads the scales of a lane's row and columns (manual 9.7.16.10.7), from its own 32 lanes.
func (w *tensorMultiplication) readScales(m *TensorMemory, x *TensorOperands, lane, row, first int) {
	s := Scales{PerRow: w.ScalesPerRow, UE4M3: w.UE4M3}
	read := func(at TensorAddress, i, first int) (list []number) {
		word := m[lane&^31|i%32][at.Column()+i/32]
		for k := range w.ScalesPerRow {
			list = append(list, s.decode(word>>(8*(first+k))))
		}
		return list
	}
	w.rowScales = read(x.ScaleA, row, w.ScaleA)
	eight := tensorKinds[w.Kind].bits == 8
	if eight {
		w.a.floats = slices.Clone(w.a.floats)
		applyScales(w.a.floats, w.rowScales)
	}
	if w.scalesQuarter == 1+lane/32 {
		return
	}
	w.scalesQuarter, w.columnScales = 1+lane/32, w.columnScales[:0]
	part := w.N / w.laneParts
	for n := range part {
		w.columnScales = append(w.columnScales, read(x.ScaleB, n, w.ScaleB)...)
	}
	if eight {
		w.scaledColumns = append(w.scaledColumns[:0], w.b.floats[first*w.K:][:part*w.K]...)
		for n := range part {
			applyScales(w.scaledColumns[n*w.K:][:w.K], w.columnScales[n*w.ScalesPerRow:][:w.ScalesPerRow])
		}
	}
}

// selectColumn is what the elements of a row of A are multiplied by.
func selectColumn[T any](w *tensorMultiplication, column []T, scratch *[]T) []T {
	if !w.Sparse {
		return column
	}
	list := resize(scratch, len(w.selected))
	for i, at := range w.selected {
		list[i] = column[at]
	}
	return list
}

// element is an element of D: column n of B, which is the lane's column i.
func (w *tensorMultiplication) element(n, i int, acc uint32) uint32 {
	if w.A.IsInt() {
		sum := int64(int32(acc))
		for k, v := range selectColumn(w, w.b.integers[n*w.K:][:w.K], &w.selectedIntegers) {
			sum += int64(w.a.integers[k]) * int64(v)
		}
		if w.Saturate {
			sum = max(math.MinInt32, min(math.MaxInt32, sum))
		}
		return uint32(sum)
	}
	column, to := w.b.floats[n*w.K:][:w.K], &w.formats[2]
	if w.ScalesPerRow > 0 && tensorKinds[w.Kind].bits == 8 {
		column = w.scaledColumns[i*w.K:][:w.K]
	}
	a, b := w.a.floats, selectColumn(w, column, &w.selectedFloats)
	if tensorKinds[w.Kind].bits == 4 {
		s := Scales{PerRow: w.ScalesPerRow, UE4M3: w.UE4M3}
		return uint32(s.packed(w.numerics, a, b, w.rowScales, w.columnScales[i*w.ScalesPerRow:][:w.ScalesPerRow], uint64(acc), to))
	}
	c := to.decode(uint64(acc))
	if c.exp < inf {
		c.exp -= int32(w.InputScaleExponent)
	}
	return uint32(w.numerics.dotTo(a, b, factors{&w.formats[0], &w.formats[1]}, c, to, to))
}
