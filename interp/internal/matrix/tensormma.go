package matrix

// This file has tcgen05.mma (manual 9.7.16.10). A single thread starts a multiplication, which one CTA or a pair of CTAs
// executes.
//
// Each lane of tensor memory has a row of D, or a part of a row. The other operands of this row that are in tensor memory
// (row of A, metadata, scales) lie in the same quarter of the lanes.

import (
	"fmt"
	"math"
	"slices"

	"gemu/ptx"
)

// TensorKind is the .kind of tcgen05.mma.
type TensorKind uint8

// Kinds of tcgen05.mma.
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

// TensorKinds are the names of the kinds.
var TensorKinds = [...]string{"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4", "kind::ti16"}

// TensorMma has the properties of a multiplication that the instruction specifies. TensorProduct has the remaining
// properties.
type TensorMma struct {
	Kind               TensorKind
	Pair               bool // pair of CTAs: .cta_group::2
	Sparse             bool // A is sparse
	Stationary         bool // .ws
	InTensor           bool // A is in tensor memory
	Shifted            bool // rows of A in tensor memory are shifted down by a row: .ashift
	Table              bool // B holds indices into tables in tensor memory: .decompress::lut::b
	Newer              bool // instruction descriptors of sm_107 are permitted
	ScalesPerRow       int  // number of scales for each row of A and each column of B; 0: no scales
	InputScaleExponent int  // D is divided by 2 to this power: scale-input-d
}

// tensorKinds describes the kinds: the size in bits of an element of A and B in memory, K, and the types of elements by
// their code in the instruction descriptor.
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

// TensorProduct is a multiplication as instruction and instruction descriptor specify it (manual 9.7.16.4.2).
type TensorProduct struct {
	*TensorMma
	M, N, K                  int // extents of the matrices of all CTAs together; K is the number of rows of B
	A, B, D                  ptx.Type
	NegateA, NegateB         bool
	TransposedA, TransposedB bool // neighbours in memory are neighbours in a column of A, or in a row of B
	Saturate                 bool // clamps integer results
	ScaleA, ScaleB           int  // byte of a word that holds the first scale
	UE4M3                    bool // the scales have type .ue4m3; false: .ue8m0

	long       bool // K is twice the K of the kind
	rowsPerCTA int  // number of rows of D in a CTA
	laneParts  int  // the columns of D are divided into this number of parts; each part has its own lanes
	halfLanes  bool // only 16 of each 32 lanes hold rows: layouts C and F
}

// Refusal is the reason why a multiplication cannot run: the manual forbids it, or gemu does not run it.
type Refusal struct {
	Description    string
	NotImplemented bool // the manual permits the multiplication, but gemu does not run it
}

func refuse(format string, args ...any) *Refusal {
	return &Refusal{Description: fmt.Sprintf(format, args...)}
}

// Product decodes the instruction descriptor d.
func (o *TensorMma) Product(d uint32) (*TensorProduct, *Refusal) {
	kind := &tensorKinds[o.Kind]
	field := func(shift, n int) uint32 { return d >> shift & (1<<n - 1) }
	flag := func(shift int) bool { return field(shift, 1) != 0 }
	p := &TensorProduct{
		TensorMma: o, N: int(field(17, 6)) * 8, K: kind.k, D: ptx.F32,
		NegateA: flag(13), NegateB: flag(14), TransposedA: flag(15), TransposedB: flag(16),
	}
	bad := func(format string, args ...any) (*TensorProduct, *Refusal) {
		return nil, refuse("instruction descriptor %#x: "+format, append([]any{d}, args...)...)
	}
	notImplemented := func(description string) (*TensorProduct, *Refusal) {
		return nil, &Refusal{fmt.Sprintf("instruction descriptor %#x: %s", d, description), true}
	}
	reserved := uint32(1<<6 | 1<<23 | 1<<29)
	typesB := field(10, 3)
	long := false // K is twice the K of the kind
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
				return notImplemented("a K of 96")
			}
		}
		switch {
		case o.Newer && flag(26):
			return notImplemented("scales of A in 128 lanes")
		case o.Newer && narrowest && flag(3):
			return notImplemented("a K of 128")
		case o.Newer && narrowest && flag(12):
			return notImplemented("sparsity of version 1")
		case o.Newer && narrowest && flag(24):
			return notImplemented("scales of .ue5m3")
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
			return notImplemented(fmt.Sprintf("sparsity selector %d", selector))
		}
	}
	p.A, p.B = kind.types[field(7, 3)], kind.types[typesB]
	switch {
	case d&reserved != 0:
		return bad("reserved bits %#x are not 0", d&reserved)
	case flag(2) != o.Sparse:
		return bad("its bit for a sparse A is %v, the instruction has %v", flag(2), o.Sparse)
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
		return notImplemented("elements of less than 8 bits, with a K of 64")
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
		return bad("%d×%d is not a shape of %s", p.M, p.N, p)
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

// String names the properties on which the valid shapes depend.
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

// validShape reports whether the manual permits M and N (9.7.16.2.1, 9.7.16.10.1).
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

// storedK is the number of stored elements in a row of A.
func (p *TensorProduct) storedK() int {
	if p.Sparse {
		return p.K / 2
	}
	return p.K
}

// columnsB is the number of columns of B in a CTA.
func (p *TensorProduct) columnsB() int {
	if p.Pair {
		return p.N / 2
	}
	return p.N
}

// packedBits is the size in bits of elements of less than a byte. In a matrix whose wider elements fill a byte each, 16
// packed elements are followed by padding to 16 bytes (manual 9.7.16.10.4.4).
var packedBits = map[ptx.Type]int{ptx.E2M1: 4, ptx.E3M2: 6, ptx.E2M3: 6}

// packedBitsOf returns the size in bits of packed elements of type t; 0 if they are not packed. container is the size of an
// element of the kind in memory, in bits.
func packedBitsOf(t ptx.Type, container int) int {
	if container == 8 {
		return packedBits[t]
	}
	return 0
}

// Layout of B in shared memory if its elements are indices into tables (manual of PTX 9.4, 9.7.18.4.1, 9.7.18.10.8). A row
// has the indices of 128 elements; a multiplication uses the first or the second half of them.
const (
	tableIndex = 3  // size of an index in bits
	tableRow   = 48 // size of a row in bytes
	tableSlice = 8  // number of columns of B that share a table
	tableHalf  = 53 // number of the descriptor's bit that selects the second half
)

// sharedA describes A in shared memory.
func (p *TensorProduct) sharedA() *Shared {
	bits := tensorKinds[p.Kind].bits
	return &Shared{K: p.storedK(), Bits: bits, Packed: packedBitsOf(p.A, bits), Transposed: p.TransposedA}
}

// sharedB describes B in shared memory.
func (p *TensorProduct) sharedB() *Shared {
	if p.Table {
		return &Shared{K: tableRow, Bits: 8}
	}
	bits := tensorKinds[p.Kind].bits
	return &Shared{K: p.K, Bits: bits, Packed: packedBitsOf(p.B, bits), Transposed: p.TransposedB}
}

// TensorOperands are the operands of a multiplication.
type TensorOperands struct {
	D, A           TensorAddress // A only if it is in tensor memory
	Meta           TensorAddress // metadata of a sparse A, or tables of B
	ScaleA, ScaleB TensorAddress
	DescA, DescB   TensorDescriptor
	Add            bool                         // the product is added to D; false: it replaces D
	Disabled       [2 * TensorLanes / 32]uint32 // lanes of D that are not written, as a set of bits; of both CTAs of a pair
	Zero           ZeroMask
}

// ZeroMask is the zero-column mask descriptor, which selects columns of B that count as zeros (manual 9.7.16.4.3). In the
// manual's examples the runs of 1 and 0 of the mask are one longer than the skip and use spans in the manual's table;
// ZeroMask follows the examples.
type ZeroMask uint64

// Shift is the number of the column of B that is used first.
func (z ZeroMask) Shift() int { return int(z >> 56 & 63) }

// zero reports whether column n of sub-mask i counts as zeros.
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

// Check returns the reason why operands are invalid; nil if they are valid. It does not check bounds: see Outside and
// Regions.
func (p *TensorProduct) Check(x *TensorOperands) *Refusal {
	align := x.D.Lane()
	switch {
	case align != 0 && !(p.halfLanes && align == 16):
		return refuse("D begins at %v: the lane must be 0", x.D)
	case p.InTensor && x.A.Lane() != align:
		return refuse("A begins at %v, D at %v: the lanes must be the same", x.A, x.D)
	case p.Sparse && x.Meta.Lane() != align:
		return refuse("the metadata begins at %v, D at %v: the lanes must be the same", x.Meta, x.D)
	case p.Table && (x.Meta.Lane() != 0 || x.Meta.Column()%2 != 0):
		return refuse("the tables of B begin at %v: the lane must be 0 and the column even", x.Meta)
	case p.ScalesPerRow > 0 && (x.ScaleA.Lane() != 0 || x.ScaleB.Lane() != 0):
		return refuse("scales begin at %v and at %v: the lanes must be 0", x.ScaleA, x.ScaleB)
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
			return refuse("descriptor %#x of matrix %s: swizzling mode %d does not suit a transposed matrix of %d-bit elements", uint64(m.desc), m.name, m.desc>>61, m.matrix.Bits)
		case p.long && !m.matrix.Transposed && !place.Pairs && place.Width > Chunk && m.matrix.K*m.matrix.Bits/8 > place.Width:
			return &Refusal{fmt.Sprintf("descriptor %#x of matrix %s: rows of %d bytes with swizzling of %d bytes", uint64(m.desc), m.name, m.matrix.K*m.matrix.Bits/8, place.Width), true}
		case place.Pairs && !m.matrix.Transposed:
			return &Refusal{fmt.Sprintf("descriptor %#x of matrix %s: swizzling mode 1 of a matrix that is not transposed", uint64(m.desc), m.name), true}
		}
	}
	limit := 32
	if p.M == 32 {
		limit = 16
	}
	if s := x.Zero.Shift(); s > limit {
		return refuse("zero-column mask descriptor %#x: it shifts by %d columns, at most %d are possible", uint64(x.Zero), s, limit)
	}
	return nil
}

// sharedMatrix is a matrix in shared memory.
type sharedMatrix struct {
	name   string
	desc   TensorDescriptor
	matrix *Shared
	first  int // number of the first row
	rows   int // number of rows
}

// sharedMatrices returns the matrices in the shared memory of each CTA.
func (p *TensorProduct) sharedMatrices(x *TensorOperands) (list []sharedMatrix) {
	if !p.InTensor {
		list = append(list, sharedMatrix{"A", x.DescA, p.sharedA(), 0, p.rowsPerCTA})
	}
	return append(list, sharedMatrix{"B", p.descB(x), p.sharedB(), 0, p.columnsB() + p.extraColumns(x)})
}

// descB returns the descriptor of B. If B has tables, bit tableHalf is cleared: it is not part of the placement.
func (p *TensorProduct) descB(x *TensorOperands) TensorDescriptor {
	if p.Table {
		return x.DescB &^ (1 << tableHalf)
	}
	return x.DescB
}

// extraColumns is the number of columns of B that are loaded in addition to the used columns, because the zero-column mask
// shifts B.
func (p *TensorProduct) extraColumns(x *TensorOperands) int {
	n := 8
	if p.TransposedB {
		n = Chunk * 8 / tensorKinds[p.Kind].bits
	}
	return (x.Zero.Shift() + n - 1) / n * n // whole groups
}

// Outside returns the name of the first matrix that is not completely in the first size bytes of shared memory, and the
// address of its first 16 bytes outside.
func (p *TensorProduct) Outside(x *TensorOperands, size uint64) (name string, addr uint64, outside bool) {
	for _, m := range p.sharedMatrices(x) {
		place, _ := m.desc.Placement()
		if addr, outside = m.matrix.Outside(place, m.first, m.rows, size); outside {
			return m.name, addr, true
		}
	}
	return "", 0, false
}

// Reads calls f for each range of n bytes that a multiplication reads from the shared memory of each CTA: of A if a is set,
// and of B if b is set.
func (p *TensorProduct) Reads(x *TensorOperands, a, b bool, f func(addr uint64, n int)) {
	for _, m := range p.sharedMatrices(x) {
		if m.name == "A" && !a || m.name == "B" && !b {
			continue
		}
		place, _ := m.desc.Placement()
		m.matrix.Reads(place, m.first, m.rows, f)
	}
}

// Regions returns the cells that a multiplication reads and writes in the tensor memory of each CTA.
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

// metadataColumns is the number of columns of tensor memory with the metadata of a sparse A.
func (p *TensorProduct) metadataColumns() int {
	if tensorKinds[p.Kind].bits >= 16 {
		return 1
	}
	if p.long {
		return 4
	}
	return 2
}

// rowOfLane returns the row of A and D, counted in the CTA, that a lane has, and the column of D in the lane's first cell.
// ok is false if the lane has no row. align is the lane of the address of D.
func (p *TensorProduct) rowOfLane(lane, align int) (row, first int, ok bool) {
	if p.halfLanes {
		index := lane%32 - align
		return lane/32*16 + index, 0, 0 <= index && index < 16
	}
	return lane % p.rowsPerCTA, lane / p.rowsPerCTA * (p.N / p.laneParts), true
}

// TensorCTA is a CTA that takes part in a multiplication.
type TensorCTA struct {
	Memory *TensorMemory
	Shared []byte
	A      []uint32 // result of LoadA; nil: A is read from Shared
}

// LoadA reads the elements of A from the shared memory of a CTA, row after row.
func (p *TensorProduct) LoadA(shared []byte, x *TensorOperands) []uint32 {
	place, _ := x.DescA.Placement()
	return p.sharedA().Load(shared, place, 0, p.rowsPerCTA)
}

// factorLists holds decoded elements of A or B: floats or integers, by the type.
type factorLists struct {
	floats   []number
	integers []int32
}

// decode decodes elements of a type. bits is the size of an element in memory. negate negates the results.
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

// magnitude masks the magnitude of an element of .s1z4m11, which has a sign bit, four zero bits and 11 bits of magnitude
// (manual of PTX 9.4, 9.7.18.4.2).
const magnitude = 1<<11 - 1

// undefinedElement returns the first element whose value the manual does not define; nil if there is none.
func (p *TensorProduct) undefinedElement(name string, list []uint32) *Undefined {
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

// laneAbove returns the lane with the previous row of A; the lane itself if it has the first row. align is the lane of the
// address of D.
func (p *TensorProduct) laneAbove(lane, align int) int {
	switch row, _, _ := p.rowOfLane(lane, align); {
	case row == 0:
		return lane
	case p.halfLanes && row%16 == 0:
		return lane - 17
	}
	return lane - 1
}

// Execute multiplies. ctas lists the CTAs, the even rank of a pair first. The result is not nil if the manual does not
// define the result.
func (p *TensorProduct) Execute(ctas []TensorCTA, x *TensorOperands) *Undefined {
	return p.execute(ctas, x, nil)
}

// execute is Execute for these panels only; nil: for all.
func (p *TensorProduct) execute(ctas []TensorCTA, x *TensorOperands, only unknownPanels) *Undefined {
	bits := tensorKinds[p.Kind].bits
	place, _ := p.descB(x).Placement()
	var columns []uint32
	columnsPerCTA := p.columnsB()
	for _, c := range ctas {
		list := p.sharedB().Load(c.Shared, place, 0, columnsPerCTA+p.extraColumns(x))
		if p.Table {
			list = p.indices(list, int(x.DescB>>tableHalf&1))
		}
		columns = append(columns, list[x.Zero.Shift()*p.K:][:columnsPerCTA*p.K]...)
	}
	for n := range p.N {
		part := p.N / p.laneParts
		if p.Stationary && x.Zero.zero(n/part, n%part) {
			clear(columns[n*p.K:][:p.K])
		}
	}
	if u := p.undefinedElement("B", columns); u != nil {
		return u
	}
	if u := p.checkMetadata(ctas, x); u != nil {
		return u
	}
	var b factorLists
	if !p.Table {
		b = p.decode(columns, p.B, bits, p.NegateB)
	}
	for i, c := range ctas {
		if u := p.multiply(i, c, x, b, columns, only); u != nil {
			return u
		}
	}
	return nil
}

// indices returns the table indices in one half (0 or 1) of each row of B.
func (p *TensorProduct) indices(rows []uint32, half int) (list []uint32) {
	for ; len(rows) > 0; rows = rows[tableRow:] {
		for k := range p.K {
			bit := (half*p.K + k) * tableIndex
			v := rows[bit/8]
			if bit/8+1 < tableRow {
				v |= rows[bit/8+1] << 8
			}
			list = append(list, v>>(bit%8)&(1<<tableIndex-1))
		}
	}
	return list
}

// lookUp replaces the table indices of B by elements. The table of a slice of tableSlice columns has eight bytes. It is in
// the lane with the slice's number, counted in the 32 lanes that include the given lane.
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

// multiply computes the rows of D in the i-th CTA, c. columns are the elements of B, or table indices. only limits the result to panels,
// unless it is nil.
//
//go:norace
func (p *TensorProduct) multiply(i int, c TensorCTA, x *TensorOperands, b factorLists, columns []uint32, only unknownPanels) *Undefined {
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
	// Results are written at the end, because a lane may read cells that another lane writes.
	type result struct {
		lane int
		row  []uint32
	}
	var results []result
	part := p.N / p.laneParts
	for lane := range TensorLanes {
		row, first, ok := p.rowOfLane(lane, x.D.Lane())
		panels := only[[2]int{i, lane &^ (ProductRows - 1)}]
		if !ok || x.disabled(i, lane) || only != nil && panels == nil {
			continue
		}
		rowLane := p.laneOfA(x, lane)
		rowOfA := list
		if p.InTensor {
			rowOfA = unpackElements(c.Memory[rowLane][x.A.Column():], stored, bits)
		} else {
			rowOfA = rowOfA[row*stored:][:stored]
		}
		if u := p.undefinedElement("A", rowOfA); u != nil {
			return u
		}
		if p.Table {
			w.lookUp(c.Memory, x, lane, columns)
		}
		if p.InTensor {
			w.a = p.decode(rowOfA, p.A, bits, p.NegateA)
		} else if p.A.IsInt() {
			w.a.integers = a.integers[row*stored:][:stored]
		} else {
			w.a.floats = a.floats[row*stored:][:stored]
		}
		if p.Sparse {
			w.selectElements(c.Memory, x, rowLane)
		}
		if p.ScalesPerRow > 0 {
			w.readScales(c.Memory, x, lane, row, first)
		}
		d := c.Memory[lane][x.D.Column():][:part]
		out := make([]uint32, part)
		for n := range out {
			if only != nil && !slices.Contains(panels, n/ProductColumns) {
				out[n] = d[n]
				continue
			}
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

// unpackElements returns the first n elements of the given number of bits in words.
func unpackElements(words []uint32, n, bits int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		bit := i * bits
		list[i] = words[bit/32] >> (bit % 32)
		if bits < 32 {
			list[i] &= 1<<bits - 1
		}
	}
	return list
}

// tensorMultiplication is the state of a multiplication, row after row.
type tensorMultiplication struct {
	*TensorProduct
	a, b             factorLists // row of A, all columns of B
	selected         []uint8     // position in its row of each stored element of a sparse A
	selectedFloats   []number
	selectedIntegers []int32
	numerics         *Numerics
	formats          [3]format
	rowScales        []number // scales of the row
	columnScales     []number // scales of the lane's columns, ScalesPerRow for each
	scalesQuarter    int      // 1 + the number of the quarter (32 lanes) from which columnScales were read; 0: none
	tabled           int      // 1 + the number of the quarter whose tables gave b; 0: none
	scaledColumns    []number // the lane's columns of 8-bit elements times their scales
}

// metadataOf returns the metadata of chunk i of the row of a lane, and their position. The figures of 9.7.16.10.8.4 and CUTLASS
// (cute/atom/mma_traits_sm100_frag.hpp, tmem_e_frg) show it. With elements of 16 bits or more, each word has half of the
// metadata of a row, and half of that of the row eight below.
func (p *TensorProduct) metadataOf(s Sparsity, m *TensorMemory, x *TensorOperands, lane, i int) (v uint32, from TensorAddress) {
	row, column, nibble := lane, x.Meta.Column()+i/8, i%8
	if tensorKinds[p.Kind].bits >= 16 {
		half := p.K / s.Chunk / 2
		row, column, nibble = lane&^15|i/half*8|lane%8, x.Meta.Column(), lane/8%2*half+i%half
	}
	return m[row][column] >> (4 * nibble) & 15, TensorAddress(row<<16 | column)
}

func undefinedMetadata(v uint32, at TensorAddress) *Undefined {
	return &Undefined{0, fmt.Sprintf("metadata 0b%04b at %v", v, at)}
}

// checkMetadata returns a description of the first undefined metadata of the rows of A; nil if there are none. It is called before D
// changes in any CTA.
func (p *TensorProduct) checkMetadata(ctas []TensorCTA, x *TensorOperands) *Undefined {
	if !p.Sparse {
		return nil
	}
	s := SparsityOf(p.A, tensorKinds[p.Kind].bits, true)
	for i, c := range ctas {
		for lane := range TensorLanes {
			if _, _, ok := p.rowOfLane(lane, x.D.Lane()); !ok || x.disabled(i, lane) {
				continue
			}
			for k := range p.K / s.Chunk {
				if v, from := p.metadataOf(s, c.Memory, x, p.laneOfA(x, lane), k); !s.definedInTensor(v) {
					return undefinedMetadata(v, from)
				}
			}
		}
	}
	return nil
}

// laneOfA returns the lane with the row of A, and its metadata, for a lane of D.
func (p *TensorProduct) laneOfA(x *TensorOperands, lane int) int {
	if p.Shifted {
		return p.laneAbove(lane, x.D.Lane())
	}
	return lane
}

// selectElements reads the metadata of the row of a lane, which are defined.
func (w *tensorMultiplication) selectElements(m *TensorMemory, x *TensorOperands, lane int) {
	s := SparsityOf(w.A, tensorKinds[w.Kind].bits, true)
	w.selected = w.selected[:0]
	for i := range w.K / s.Chunk {
		v, _ := w.metadataOf(s, m, x, lane, i)
		indices, _ := s.Indices(v)
		for _, k := range indices[:s.Chunk/2] {
			w.selected = append(w.selected, uint8(i*s.Chunk)+k)
		}
	}
}

// readScales reads the scales of a lane's row and of its columns (manual 9.7.16.10.7). They are in the quarter of the lanes
// that includes the lane. row is the lane's row, and first its first column.
func (w *tensorMultiplication) readScales(m *TensorMemory, x *TensorOperands, lane, row, first int) {
	s := Scales{PerRow: w.ScalesPerRow, UE4M3: w.UE4M3}
	read := func(addr TensorAddress, i, first int) (list []number) {
		word := m[lane&^31|i%32][addr.Column()+i/32]
		for k := range w.ScalesPerRow {
			list = append(list, s.decode(word>>(8*(first+k))))
		}
		return list
	}
	w.rowScales = read(x.ScaleA, row, w.ScaleA)
	has8Bits := tensorKinds[w.Kind].bits == 8
	if has8Bits {
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
	if has8Bits {
		w.scaledColumns = append(w.scaledColumns[:0], w.b.floats[first*w.K:][:part*w.K]...)
		for n := range part {
			applyScales(w.scaledColumns[n*w.K:][:w.K], w.columnScales[n*w.ScalesPerRow:][:w.ScalesPerRow])
		}
	}
}

// selectColumn returns the elements of a column of B at the positions of the stored elements of a row of A.
func selectColumn[T any](w *tensorMultiplication, column []T, scratch *[]T) []T {
	if !w.Sparse {
		return column
	}
	list := resize(scratch, len(w.selected))
	for i, position := range w.selected {
		list[i] = column[position]
	}
	return list
}

// element returns an element of D. n is the column of B; i is the same column, counted from the first column of the lane.
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
		return uint32(s.dotPacked(w.numerics, a, b, w.rowScales, w.columnScales[i*w.ScalesPerRow:][:w.ScalesPerRow], uint64(acc), to))
	}
	c := to.decode(uint64(acc))
	if c.exp < inf {
		c.exp -= int32(w.InputScaleExponent)
	}
	return uint32(w.numerics.dotTo(a, b, factors{&w.formats[0], &w.formats[1]}, c, to, to))
}
