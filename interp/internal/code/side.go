package code

// This file is the side tables: what of an instruction is not of a fixed size.

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/texture"
	"gemu/ptx"
	"gemu/regfile"
)

// Row is a row that is read or written, of registers or predicates; below zero, a
// constant.
type Row struct {
	Slot Slot
	Row  int32
}

// Add is the row where it lies behind others; constants stay.
func (r Row) Add(base regfile.Size) Row {
	if r.Row >= 0 {
		r.Row += int32([...]int{NoSlot: 0, R: base.R, Q: base.Q, P: base.P}[r.Slot])
	}
	return r
}

// Access is what a memory instruction accesses, and how. The row its addresses are in
// is operand A of the instruction.
type Access struct {
	Space      ptx.Space
	Cluster    bool   // a generic address that is to be one of shared memory, of any CTA of the cluster
	Addr       Slot   // of the row that holds addresses; NoSlot: the address is Off
	Offset     uint64 // added to the row
	Frame      bool   // Off is relative to the running function's local frame
	Size       int    // bytes of an element
	Elems      []Elem
	Bytes      int // of all elements: what the address must be a multiple of
	SpareBytes int // of them, those of the last elements of a load whose values are not read
	Signed     bool
	HitIndex   int             // index of the first of the Known allocations remembered
	Fixed      *mem.Allocation // where Off lies, of a fixed address in device memory
	Strided    *mem.Strided    // copies of rows of elements; nil for 128 bits
	Store      bool
	SingleLane bool // all lanes store the same to the same place: it is one store
	Atom       *Atom
	Pattern    Pattern
	Stride     int          // of Spread: how many bytes, a multiple of Bytes
	Tile       *matrix.Tile // of ldmatrix, stmatrix and wmma: the lanes' addresses are those of its rows
}

// Pattern is what is proved of the addresses of an access, of the lanes of either half of a warp that execute it.
type Pattern uint8

// The patterns.
const (
	AnyPattern  Pattern = iota // nothing
	SameAddress                // all are the same
	Contiguous                 // they are Bytes apart from lane to lane, if those of the outermost lanes are
	AnyStride                  // … Apart
)

func (p Pattern) String() string { return [...]string{"", "one place", "side by side", "spread"}[p] }

// Distance is how many bytes elements are apart from lane to lane, if the access has a pattern.
func (a *Access) Distance() int64 {
	if a.Pattern == Contiguous {
		return int64(a.Bytes)
	}
	return int64(a.Stride)
}

// HitsPerAccess is how many allocations a memory instruction remembers: first the one it has hit last.
const HitsPerAccess = 4

// Elem is an element of a vector access.
type Elem struct {
	Slot Slot // NoSlot: not loaded or stored
	Row  int32
	High int32 // of 128-bit elements: the row of the upper half
}

// Request is the access in the words of package mem.
func (a *Access) Request() mem.Access {
	kind := mem.Load
	switch {
	case a.Atom != nil:
		kind = mem.Atomic
	case a.Store:
		kind = mem.Store
	}
	request := mem.Access{Space: a.Space, Bytes: a.Bytes, Kind: kind, SpareBytes: a.SpareBytes, Cluster: a.Cluster}
	if a.Tile != nil {
		request.Align, request.Hardware = a.Tile.Align, a.Tile.HardwareAlign
	}
	return request
}

// AddressAt is the address of a lane whose register has the value v: it wraps in the register's
// width.
func (a *Access) AddressAt(v uint64) uint64 {
	if v += a.Offset; a.Addr == R {
		v = uint64(uint32(v))
	}
	return v
}

// FixedPointer is what an access to a fixed address in device memory goes to; nil if it
// is at fault, or of elements that are no element of a row.
func (a *Access) FixedPointer() unsafe.Pointer {
	if a.Fixed == nil {
		return nil
	}
	return a.PointerIn(a.Fixed, a.Offset-a.Fixed.Base)
}

// PointerIn is offset off of the memory, if the access may go there.
func (a *Access) PointerIn(m *mem.Allocation, offset uint64) unsafe.Pointer {
	n, request := uint64(a.Bytes), a.Request()
	if offset > m.Size || n > m.Size-offset || offset%n != 0 || a.Size > 8 || !request.Allowed(m) { // freed memory has no size
		return nil
	}
	return unsafe.Add(m.Ptr, offset)
}

// Writes reports whether the access changes memory.
func (a *Access) Writes() bool { return a.Store || a.Atom != nil }

// Extend extends a loaded element as its type says.
func (a *Access) Extend(v uint64) uint64 {
	if a.Signed {
		n := 64 - 8*a.Size
		return uint64(int64(v<<n) >> n)
	}
	return v
}

// Atom is the operation of atom and red.
type Atom struct {
	Reduction
	B, C   []Elem // operands, per element
	Shared bool   // only the CTA sees it: never a host atomic
}

// Reduction is an operation that combines two values.
type Reduction struct {
	Op     AtomicOp
	Type   ptx.Type
	Global bool // a sum in global memory, of which .f32 is flushed, and .f64 has the operand's NaN
	Float  Op   // AtomFloat: a kernel of package alu
}

// floatOps are those of floats that are kernels; sums of .f32 and .f64 are not.
var floatOps = map[AtomicOp]string{AtomAdd: "add", AtomMin: "min", AtomMax: "max"}

// ReductionOn is the operation on memory of a state space.
func ReductionOn(op AtomicOp, t ptx.Type, space ptx.Space) Reduction {
	r := Reduction{Op: op, Type: t, Global: (t == ptx.F32 || t == ptx.F64) && op == AtomAdd && space != ptx.Shared}
	if half := t == ptx.F16x2 || t == ptx.BF16x2 || t.IsFloat() && t.Bits() == 16; half || t.IsFloat() && op != AtomAdd {
		r.Op, r.Float = AtomFloat, OpNamed(floatOps[op]+".any"+t.String())
	}
	return r
}

// Imm packs the operation, of redux, for Instr.Imm.
func (r Reduction) Imm() uint64 { return uint64(r.Op) | uint64(r.Type)<<8 }

// ReductionOf is the operation that Imm has packed.
func ReductionOf(imm uint64) Reduction {
	return Reduction{Op: AtomicOp(imm), Type: ptx.Type(imm >> 8)}
}

// FloatReduction is the same for floats: a kernel of package alu, and what that has in Imm.
type FloatReduction struct {
	Op  Op
	Imm uint32
}

// Packed packs it, of redux, for Instr.Imm.
func (r FloatReduction) Packed() uint64 { return uint64(r.Op)<<32 | uint64(r.Imm) }

// FloatReductionOf is the operation that Imm has packed.
func FloatReductionOf(imm uint64) FloatReduction { return FloatReduction{Op(imm >> 32), uint32(imm)} }

// AtomicOp is an atomic operation.
type AtomicOp uint8

// The operations.
const (
	AtomAdd AtomicOp = iota
	AtomAnd
	AtomOr
	AtomXor
	AtomExch
	AtomCas
	AtomInc
	AtomDec
	AtomMin
	AtomMax
	AtomFloat // of floats: Reduction.Float
)

// Mbarrier is what an operation on an mbarrier is, for Instr.Imm.
type Mbarrier struct {
	Space      ptx.Space // of the address: shared or generic
	Drop       bool      // of arrive: fewer are expected from the next phase on
	Expect     bool      // … of tx, the tx-count goes up by the count; of arrive, that first, and then it is by 1
	NoComplete bool      // … it must not complete the phase
	V1         bool      // of init and of looking at the layout: it is .layout::v1
	Condition  bool      // of looking at a phase: it is the conditional one
	Arrives    bool      // of a multicast: it is an arrival
}

// Imm packs it.
func (m Mbarrier) Imm() uint64 {
	v := uint64(m.Space)
	for i, flag := range []bool{m.Drop, m.Expect, m.NoComplete, m.V1, m.Condition, m.Arrives} {
		if flag {
			v |= 1 << (8 + i)
		}
	}
	return v
}

// MbarrierOf is what Imm has packed.
func MbarrierOf(imm uint64) Mbarrier {
	flag := func(i int) bool { return imm>>(8+i)&1 != 0 }
	return Mbarrier{ptx.Space(imm & 0xff), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5)}
}

// Fragments is the operands of an instruction that the lanes of a warp execute together on
// matrices: of each, the registers in which a lane has its part.
type Fragments struct {
	D, A, B, C []Elem
	E          []Elem // metadata of a sparse A; scales with their selectors
	Multiply   *matrix.Multiply
	Sparse     *matrix.Compression // of Sparse: D is the indices and the elements that are kept, A all elements, E the descriptor; or D is all, A the indices, B the elements
	Wgmma      *matrix.Wgmma       // of wgmma.mma_async: C is D, and there is no B; no A if that is in shared memory

	Memory *TensorAccess // of what accesses tensor memory

	// Of what has to do with pending multiplications: their indices in Tables.Fragments. D is
	// then all that those have which it completes, and A all that they read.
	Pending []int32
}

// TensorAccess is what an instruction does with tensor memory: one of these.
type TensorAccess struct {
	Tile *matrix.TensorTile // of TensorLoad and TensorStore: D or A are the registers, the first of E is the address
	Copy *matrix.TensorCopy
	Mma  *matrix.TensorMma // E has what TensorE lists

	Reduce   *TensorReduction   // of TensorLoad: the last of D is all that a lane has loaded, combined
	Compress *TensorCompression // of TensorLoad: the other registers of D are the indices and the elements that are kept
}

// TensorReduction is how values are combined: Float, unless its operation is Invalid.
type TensorReduction struct {
	Integer Reduction
	Float   FloatReduction
}

// TensorCompression is how a lane keeps two of each four elements that it loads.
type TensorCompression struct {
	*matrix.Compression
	matrix.Choice
}

// The operands of TensorMma in Fragments.E: addresses in tensor memory, masks of lanes that are not
// written, eight words of them, and the zero-column mask, which is 64 bits.
const (
	TensorD = iota
	TensorA
	TensorMeta
	TensorScaleA
	TensorScaleB
	TensorDisabled
	TensorZero = TensorDisabled + 8
	TensorE    = TensorZero + 1
)

// TensorImm is what an operation of tcgen05 is, for Instr.Imm.
type TensorImm struct {
	Space     ptx.Space // of an address in memory
	Pair      bool      // of CTAs: .cta_group::2
	Multicast bool
	Wide      bool // the mask of CTAs has 32 bits, not 16
	Store     bool // of waiting: for stores, and not for loads
	Exclusive bool // of allocating: no other columns are allocated meanwhile
	ReadA     bool // of tcgen05.commit: it arrives when matrices A in shared memory have been read
	Columns   int  // of allocating: the most columns
}

// Imm packs it.
func (t TensorImm) Imm() uint64 {
	v := uint64(t.Space) | uint64(t.Columns)<<16
	for i, flag := range []bool{t.Pair, t.Multicast, t.Wide, t.Store, t.Exclusive, t.ReadA} {
		if flag {
			v |= 1 << (8 + i)
		}
	}
	return v
}

// TensorImmOf is what Imm has packed.
func TensorImmOf(imm uint64) TensorImm {
	flag := func(i int) bool { return imm>>(8+i)&1 != 0 }
	return TensorImm{ptx.Space(imm & 0xff), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5), int(imm >> 16)}
}

// Texture is an instruction on a texture or a surface: the registers it names, and what it
// does.
type Texture struct {
	D       []Elem // results; a predicate is whether the texels are there
	Sources [TextureSources][]Elem

	Lookup    texture.Lookup // of tex and tld4
	Access    texture.Access // of surfaces
	Size      int            // bytes of an element of their data
	Reduction Reduction      // of sured
}

// The sources of an instruction on a texture or a surface, each a list that may be empty.
const (
	TextureObject = iota // what it goes to: a handle, or the address of a reference
	TextureSampler
	TextureCoord
	TextureLevel
	TextureDX
	TextureDY
	TextureOffset
	TextureCompare
	TextureData
	TextureSources // how many there are
)

// Async is what an asynchronous operation is, for Instr.Imm.
type Async struct {
	To, From          ptx.Space // of the addresses
	MbarrierSpace     ptx.Space // of that of the mbarrier which is told
	Bytes             int       // of a copy or store of a fixed size
	Bulk              bool      // its groups are those of bulk operations
	NotifiesMbarrier  bool      // it tells an mbarrier, by complete-tx
	Read              bool      // of waiting, only until the sources have been read
	All               bool      // … for what is in no group yet, too; of AsyncCancel, all CTAs of the cluster are told
	NoInc             bool      // the arrival is one that the mbarrier already waits for
	Reduces           bool      // it combines, by:
	Reduction         Reduction
	IgnoreOutOfBounds bool         // up to 15 bytes at each end of the source are neither read nor written
	ReportPattern     PatternCheck // the inspection of a copied source
}

// PatternCheck is a pattern that a bulk copy looks for in its source, and reports to its mbarrier
// (manual 9.7.9.25.1.3).
type PatternCheck uint8

// The patterns. Per16 looks at the first element of each 16 bytes, for a negative zero of 32, 16, 8 or
// 4 bits. PerByte looks at each byte, for 0xff.
const (
	NoReport PatternCheck = iota
	Per16Of32
	Per16Of16
	Per16Of8
	Per16Of4
	PerByte
)

// Matches reports whether data, a multiple of 16 bytes, has the pattern.
func (v PatternCheck) Matches(data []byte) bool {
	switch v {
	case NoReport:
		return false
	case PerByte:
		return slices.Contains(data, 0xff)
	}
	for ; len(data) >= 16; data = data[16:] {
		if v.FoundFirst(data[:16]) {
			return true
		}
	}
	return false
}

// FoundFirst reports whether the first element of data has the pattern, of PerByte whether any byte has it.
func (v PatternCheck) FoundFirst(data []byte) bool {
	switch v {
	case NoReport:
		return false
	case PerByte:
		return slices.Contains(data, 0xff)
	}
	var first [4]byte
	if copy(first[:], data) < v.size() {
		return false
	}
	word := binary.LittleEndian.Uint32(first[:])
	switch v {
	case Per16Of32:
		return word == 1<<31
	case Per16Of16:
		return uint16(word) == 1<<15
	case Per16Of8:
		return uint8(word) == 1<<7
	}
	return word&15 == 1<<3
}

// size is the bytes of an element of a pattern, at least 1.
func (v PatternCheck) size() int {
	switch v {
	case Per16Of32:
		return 4
	case Per16Of16:
		return 2
	}
	return 1
}

// Imm packs it.
func (a Async) Imm() uint64 {
	if a.To|a.From|a.MbarrierSpace > 0xf || a.ReportPattern > 7 || a.Bytes < 0 || a.Bytes > 0xff || a.Reduction.Imm() > 0xffff {
		panic(fmt.Sprintf("BUG: %+v does not fit", a))
	}
	v := uint64(a.To) | uint64(a.From)<<4 | uint64(a.MbarrierSpace)<<8 | uint64(a.ReportPattern)<<12 | uint64(a.Bytes)<<16 | a.Reduction.Imm()<<32 | uint64(a.Reduction.Float)<<48
	for i, flag := range []bool{a.Bulk, a.NotifiesMbarrier, a.Read, a.All, a.NoInc, a.Reduces, a.Reduction.Global, a.IgnoreOutOfBounds} {
		if flag {
			v |= 1 << (24 + i)
		}
	}
	return v
}

// AsyncOf is what Imm has packed.
func AsyncOf(imm uint64) Async {
	flag := func(i int) bool { return imm>>(24+i)&1 != 0 }
	r := ReductionOf(imm >> 32 & 0xffff)
	r.Float, r.Global = Op(imm>>48), flag(6)
	return Async{
		To: ptx.Space(imm & 0xf), From: ptx.Space(imm >> 4 & 0xf), MbarrierSpace: ptx.Space(imm >> 8 & 0xf), Bytes: int(imm >> 16 & 0xff),
		Bulk: flag(0), NotifiesMbarrier: flag(1), Read: flag(2), All: flag(3), NoInc: flag(4), Reduces: flag(5), Reduction: r,
		IgnoreOutOfBounds: flag(7), ReportPattern: PatternCheck(imm >> 12 & 7),
	}
}

// WaitGroups is which multiplications are completed, for Instr.Imm.
type WaitGroups struct {
	All  bool // and those too that other warps of the warpgroup have yet to issue
	Last int  // groups that are left out
}

// Imm packs it.
func (a WaitGroups) Imm() uint64 {
	v := uint64(uint32(a.Last))
	if a.All {
		v |= 1 << 32
	}
	return v
}

// WaitGroupsOf is what Imm has packed.
func WaitGroupsOf(imm uint64) WaitGroups { return WaitGroups{imm>>32 != 0, int(uint32(imm))} }

// ParamPlace is where a parameter, argument or result lives.
type ParamPlace struct {
	Slot   Slot // R, Q or P: a register row; NoSlot: the local frame
	Row    int32
	Offset int // bytes into the local frame
	Size   int // bytes
}

// CallSite is a call, of a function or a builtin, or the operands of an instruction that has many.
type CallSite struct {
	Target   int32 // index of the function; -1: a pointer says which, or it is a builtin
	Args     []ParamPlace
	Rets     []ParamPlace
	Call     *ptx.Call // of a call through a pointer: its prototype, or its list of targets
	Callable []bool    // of a call through a pointer: by function, whether the call may reach it
}

// BarrierOp is bar or barrier, bar.warp.sync too.
type BarrierOp struct {
	Kind    BarrierKind
	Aligned bool // the lanes of a warp come together
	Neg     bool // of .red: the predicate is negated
}

// BarrierKind is what is done at a barrier.
type BarrierKind uint8

// The kinds.
const (
	BarSync BarrierKind = iota
	BarArrive
	BarClusterArrive // at the barrier of the cluster
	BarClusterWait
	BarWarp // between the lanes of a warp
	BarPopc
	BarAnd
	BarOr
)

// ElemRows appends the rows of elements of size bytes.
func ElemRows(list []Row, elems []Elem, size int) []Row {
	for _, e := range elems {
		list = append(list, Row{e.Slot, e.Row})
		if size == 16 {
			list = append(list, Row{e.Slot, e.High})
		}
	}
	return list
}

// PlaceRows appends the places that are rows.
func PlaceRows(list []Row, places []ParamPlace) []Row {
	for _, p := range places {
		list = append(list, Row{p.Slot, p.Row})
	}
	return list
}
