package code

// This file defines the entries of the side tables (type Tables), which contain data of variable size, and the properties
// that operations pack into Instr.Imm.

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/sampling"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// Row is an operand: a row of the register file, or a constant if Row is negative. NoSlot and NoRow mean no operand.
type Row struct {
	Slot Slot
	Row  int32
}

// Add returns the row as many rows higher as base has of its slot; constants stay the same.
func (r Row) Add(base regfile.Size) Row {
	if r.Row >= 0 {
		r.Row += int32([...]int{NoSlot: 0, R: base.R, Q: base.Q, P: base.P}[r.Slot])
	}
	return r
}

// Access is the access of a memory instruction. Operand A of the instruction is the row with its addresses.
type Access struct {
	Space      ptx.Space
	Cluster    bool            // a generic address that must be in shared memory of any CTA of the cluster
	Addr       Slot            // slot of the row with addresses; NoSlot: the address is Offset
	Offset     uint64          // added to the value of the row, in bytes
	Frame      bool            // Offset is relative to the running function's local frame
	Size       int             // size of an element in bytes
	Elems      []Elem          // registers with the elements
	Bytes      int             // total size of the elements in bytes; the address must be a multiple of it
	SpareBytes int             // bytes of trailing elements of a load whose values the program does not use
	Signed     bool            // a load extends elements as signed numbers
	HitIndex   int             // index in a CTA's LastHits of the first of HitsPerAccess allocations that the access found last
	Fixed      *mem.Allocation // the allocation of a fixed address in device memory
	Strided    *mem.Strided    // functions that copy rows of elements; nil for 128 bits
	Store      bool            // it stores the elements
	SingleLane bool            // all lanes store the same value to the same place, so a single store suffices
	Atom       *Atom           // the atomic operation; nil for loads and stores
	Pattern    Pattern         // proved property of the addresses
	Stride     int             // for AnyStride: distance of the lanes' addresses in bytes, a multiple of Bytes
	Tile       *matrix.Tile    // for ldmatrix, stmatrix and wmma: the matrices; lane i has the address of row i
}

// Pattern is a proved property of the addresses of an access. It holds for the executing lanes in each half of a warp.
type Pattern uint8

// The patterns.
const (
	AnyPattern  Pattern = iota // nothing is proved
	SameAddress                // all addresses are equal
	Contiguous                 // the addresses are Bytes apart from lane to lane, if this fits the outermost executing lanes
	AnyStride                  // the addresses are Stride apart from lane to lane, under the same condition
)

func (p Pattern) String() string { return [...]string{"", "same address", "contiguous", "strided"}[p] }

// Distance returns the distance of addresses from lane to lane in bytes, if the access has a pattern.
func (a *Access) Distance() int64 {
	if a.Pattern == Contiguous {
		return int64(a.Bytes)
	}
	return int64(a.Stride)
}

// HitsPerAccess is the number of allocations that a memory instruction remembers, the most recent first.
const HitsPerAccess = 4

// Elem is an element of a vector access.
type Elem struct {
	Slot Slot // NoSlot: not loaded or stored
	Row  int32
	High int32 // row of the upper half of a 128-bit element
}

// Request returns the access as package mem describes it.
func (a *Access) Request() mem.Access {
	kind := probe.AccessLoad
	switch {
	case a.Atom != nil:
		kind = probe.AccessAtomic
	case a.Store:
		kind = probe.AccessStore
	}
	request := mem.Access{Request: probe.Request{Space: a.Space, Bytes: a.Bytes, Kind: kind, SpareBytes: a.SpareBytes, Cluster: a.Cluster}}
	if a.Tile != nil {
		request.Align, request.Hardware = a.Tile.Align, a.Tile.HardwareAlign
	}
	return request
}

// AddressAt returns the address of a lane whose register has the value v. It wraps at the register's width.
func (a *Access) AddressAt(v uint64) uint64 {
	if v += a.Offset; a.Addr == R {
		v = uint64(uint32(v))
	}
	return v
}

// FixedPointer returns a pointer to the fixed address of an access to device memory; nil if the address is not fixed, if
// the access faults, or if its elements are larger than 8 bytes.
func (a *Access) FixedPointer() unsafe.Pointer {
	if a.Fixed == nil {
		return nil
	}
	return a.PointerIn(a.Fixed, a.Offset-a.Fixed.Base)
}

// PointerIn returns a pointer to an offset in m; nil if the access faults there, or if its elements are larger than 8 bytes.
func (a *Access) PointerIn(m *mem.Allocation, offset uint64) unsafe.Pointer {
	n, request := uint64(a.Bytes), a.Request()
	if offset > m.Size || n > m.Size-offset || offset%n != 0 || a.Size > 8 || !request.Allowed(m) { // freed memory has size 0
		return nil
	}
	return unsafe.Add(m.Ptr, offset)
}

// Writes reports whether the access changes memory.
func (a *Access) Writes() bool { return a.Store || a.Atom != nil }

// Extend sign-extends a loaded element if its type is signed.
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
	B, C   []Elem // operands b and c of each element; C is empty if there is no operand c
	Shared bool   // it is in shared memory of the CTA, so it never needs a host atomic
}

// Reduction is an operation that combines two values.
type Reduction struct {
	Op     AtomicOp
	Type   ptx.Type
	Global bool // a sum as in global memory: subnormal .f32 numbers become zero, and .f64 keeps the operand's NaN
	Float  Op   // kernel of package alu for AtomFloat
}

// floatOps maps operations on floats to kernels; sums of .f32 and .f64 have none.
var floatOps = map[AtomicOp]string{AtomAdd: "add", AtomMin: "min", AtomMax: "max"}

// ReductionOn returns the reduction with operation op on numbers of type t in memory of a state space.
func ReductionOn(op AtomicOp, t ptx.Type, space ptx.Space) Reduction {
	r := Reduction{Op: op, Type: t, Global: (t == ptx.F32 || t == ptx.F64) && op == AtomAdd && space != ptx.Shared}
	if half := t == ptx.F16x2 || t == ptx.BF16x2 || t.IsFloat() && t.Bits() == 16; half || t.IsFloat() && op != AtomAdd {
		r.Op, r.Float = AtomFloat, OpNamed(floatOps[op]+".any"+t.String())
	}
	return r
}

// Imm packs the operation of a redux into an Instr.Imm.
func (r Reduction) Imm() uint64 { return uint64(r.Op) | uint64(r.Type)<<8 }

// ReductionOf is the inverse of Reduction.Imm.
func ReductionOf(imm uint64) Reduction {
	return Reduction{Op: AtomicOp(imm), Type: ptx.Type(imm >> 8)}
}

// FloatReduction is a reduction of floats: a kernel of package alu, and its Imm.
type FloatReduction struct {
	Op  Op
	Imm uint32
}

// Packed packs the operation of a redux into an Instr.Imm.
func (r FloatReduction) Packed() uint64 { return uint64(r.Op)<<32 | uint64(r.Imm) }

// FloatReductionOf is the inverse of FloatReduction.Packed.
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
	AtomFloat // a kernel on floats (Reduction.Float)
)

// Mbarrier contains the properties of an operation on an mbarrier, for Instr.Imm.
type Mbarrier struct {
	Space      ptx.Space // space of the address: shared or generic
	Drop       bool      // for an arrival: the next phases expect fewer arrivals
	Expect     bool      // the count is added to the tx-count; for an arrival, before it arrives
	NoComplete bool      // for an arrival: it must not complete the phase
	V1         bool      // for an initialisation or a layout query: .layout::v1
	Condition  bool      // for a phase query: it is the conditional query
	Arrives    bool      // for a multicast: it is an arrival
}

// Imm packs m into an Instr.Imm.
func (m Mbarrier) Imm() uint64 {
	v := uint64(m.Space)
	for i, flag := range []bool{m.Drop, m.Expect, m.NoComplete, m.V1, m.Condition, m.Arrives} {
		if flag {
			v |= 1 << (8 + i)
		}
	}
	return v
}

// MbarrierOf is the inverse of Mbarrier.Imm.
func MbarrierOf(imm uint64) Mbarrier {
	flag := func(i int) bool { return imm>>(8+i)&1 != 0 }
	return Mbarrier{ptx.Space(imm & 0xff), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5)}
}

// Fragments contains the operands of an instruction that the lanes of a warp execute together on matrices. Each operand is
// a list of registers, which hold a lane's part of the matrix (its fragment).
type Fragments struct {
	D, A, B, C []Elem
	E          []Elem // metadata of a sparse A, or scales with their selectors
	Multiply   *matrix.Multiply
	Sparse     *matrix.Compression // for Sparse. Compression: D is the indices and the kept elements, A all elements, E the descriptor. Decompression: D is all elements, A the indices, B the elements
	Wgmma      *matrix.Wgmma       // for wgmma.mma_async: C is D; B is in shared memory and absent; A is absent if it is in shared memory

	Memory *TensorAccess // for operations on tensor memory

	// Pending has, for WgmmaWait and WgmmaDisturb, the indices in Tables.Fragments of multiplications that may be pending.
	// For WgmmaWait, D contains all registers that they write, and A all registers that they read.
	Pending []int32
}

// TensorAccess is an operation on tensor memory. Exactly one of Tile, Copy and Mma is set.
type TensorAccess struct {
	Tile *matrix.TensorTile // for TensorLoad and TensorStore: D or A are the registers, the first of E is the address
	Copy *matrix.TensorCopy // for TensorCopy
	Mma  *matrix.TensorMma  // for TensorMma: E has the operands from TensorD to TensorE

	Reduce   *TensorReduction   // for TensorLoad: the last register of D is the combination of all that a lane has loaded
	Compress *TensorCompression // for TensorLoad: the remaining registers of D are the indices and the kept elements
}

// TensorReduction combines values with Float or, if Float.Op is Invalid, with Integer.
type TensorReduction struct {
	Integer Reduction
	Float   FloatReduction
}

// TensorCompression keeps two of each four elements that a lane loads.
type TensorCompression struct {
	*matrix.Compression
	matrix.Choice
}

// The indices of the operands of TensorMma in Fragments.E. From TensorD to TensorScaleB they are addresses in tensor memory.
const (
	TensorD = iota
	TensorA
	TensorMeta // metadata of a sparse A, or the look-up table of a compressed B
	TensorScaleA
	TensorScaleB
	TensorDisabled                      // the first of eight masks of lanes that are not written
	TensorZero     = TensorDisabled + 8 // the zero-column mask, of 64 bits
	TensorE        = TensorZero + 1     // number of operands
)

// TensorImm contains the properties of an operation of tcgen05, for Instr.Imm.
type TensorImm struct {
	Space     ptx.Space // space of an address in memory
	Pair      bool      // .cta_group::2, a pair of CTAs
	Multicast bool
	Wide      bool // the CTA mask has 32 bits instead of 16
	Store     bool // for a wait: for stores instead of loads
	Exclusive bool // for an allocation: no further columns may be allocated until it is freed
	ReadA     bool // for tcgen05.commit: it arrives as soon as the matrices A in shared memory have been read
	Columns   int  // for an allocation: the maximum number of columns
}

// Imm packs t into an Instr.Imm.
func (t TensorImm) Imm() uint64 {
	v := uint64(t.Space) | uint64(t.Columns)<<16
	for i, flag := range []bool{t.Pair, t.Multicast, t.Wide, t.Store, t.Exclusive, t.ReadA} {
		if flag {
			v |= 1 << (8 + i)
		}
	}
	return v
}

// TensorImmOf is the inverse of TensorImm.Imm.
func TensorImmOf(imm uint64) TensorImm {
	flag := func(i int) bool { return imm>>(8+i)&1 != 0 }
	return TensorImm{ptx.Space(imm & 0xff), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5), int(imm >> 16)}
}

// Texture is an instruction on a texture or a surface, with its registers.
type Texture struct {
	D       []Elem                 // results; a predicate after the texels states whether they are present
	Sources [TextureSources][]Elem // by TextureObject to TextureData

	Lookup    sampling.Lookup // for tex and tld4
	Access    sampling.Access // for surface instructions
	Size      int             // for surface instructions: size of a data element in bytes
	Reduction Reduction       // for sured
}

// The indices of the sources of an instruction on a texture or a surface. Each source is a list, which may be empty.
const (
	TextureObject = iota // a handle, or the address of a reference
	TextureSampler
	TextureCoord
	TextureLevel
	TextureDX
	TextureDY
	TextureOffset
	TextureCompare
	TextureData
	TextureSources // number of sources
)

// Async contains the properties of an asynchronous operation, for Instr.Imm.
type Async struct {
	To, From          ptx.Space // spaces of the addresses
	MbarrierSpace     ptx.Space // space of the notified mbarrier's address
	Bytes             int       // size of a copy or store with a fixed size, in bytes
	Bulk              bool      // it belongs to the groups of bulk operations, not to the groups of cp.async
	NotifiesMbarrier  bool      // it notifies an mbarrier by complete-tx
	Read              bool      // for a wait: it ends as soon as the sources have been read
	All               bool      // for a wait: also for operations that are not yet in a group; for AsyncCancel: all CTAs of the cluster are notified
	NoInc             bool      // for an arrival: the mbarrier expects it already
	Reduces           bool      // it combines values by Reduction
	Reduction         Reduction
	IgnoreOutOfBounds bool         // up to 15 bytes at each end of the source are neither read nor written
	ReportPattern     PatternCheck // pattern to search in the source
}

// PatternCheck is a pattern that a bulk copy searches in its source, and reports to its mbarrier (manual 9.7.9.25.1.3).
type PatternCheck uint8

// The patterns. Per16 compares the first element of each 16 bytes with a negative zero of 32, 16, 8 or 4 bits. PerByte
// compares each byte with 0xff.
const (
	NoReport PatternCheck = iota
	Per16Of32
	Per16Of16
	Per16Of8
	Per16Of4
	PerByte
)

// Matches reports whether data, whose length must be a multiple of 16, contains the pattern.
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

// FoundFirst reports whether the first element of data has the pattern, for PerByte whether any byte has it.
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

// size returns the size of a pattern's element in bytes, at least 1.
func (v PatternCheck) size() int {
	switch v {
	case Per16Of32:
		return 4
	case Per16Of16:
		return 2
	}
	return 1
}

// Imm packs a into an Instr.Imm.
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

// AsyncOf is the inverse of Async.Imm.
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

// GroupsOf returns the fields of Async that a commit or a wait has, from the result of Async.Imm.
func GroupsOf(imm uint64) (bulk, read, all bool) {
	return imm>>24&1 != 0, imm>>26&1 != 0, imm>>27&1 != 0
}

// CopyOf returns the spaces of a cp.async and its number of bytes per lane from the result of Async.Imm.
func CopyOf(imm uint64) (to, from ptx.Space, bytes int) {
	return ptx.Space(imm & 0xf), ptx.Space(imm >> 4 & 0xf), int(imm >> 16 & 0xff)
}

// WaitGroups selects the multiplications that a wait completes, for Instr.Imm.
type WaitGroups struct {
	All  bool // also multiplications that not all warps of the warpgroup have issued yet
	Last int  // number of most recent groups that stay pending
}

// Imm packs a into an Instr.Imm.
func (a WaitGroups) Imm() uint64 {
	v := uint64(uint32(a.Last))
	if a.All {
		v |= 1 << 32
	}
	return v
}

// WaitGroupsOf is the inverse of WaitGroups.Imm.
func WaitGroupsOf(imm uint64) WaitGroups { return WaitGroups{imm>>32 != 0, int(uint32(imm))} }

// ParamPlace is the place of a parameter, argument or result.
type ParamPlace struct {
	Slot   Slot // R, Q or P: a register row; NoSlot: in the local frame
	Row    int32
	Offset int // offset in the local frame in bytes
	Size   int // size in bytes
}

// CallSite is a call of a function or a builtin, or the operands of an instruction with many operands.
type CallSite struct {
	Target   int32 // index of the function; -1 for a call through a pointer or of a builtin
	Args     []ParamPlace
	Rets     []ParamPlace
	Call     *ptx.Call // for a call through a pointer: its prototype, or its list of targets
	Callable []bool    // for a call through a pointer: whether it may call each function, by index in Program.Funcs
}

// BarrierOp is bar or barrier, including bar.warp.sync.
type BarrierOp struct {
	Kind    BarrierKind
	Aligned bool // all lanes of a warp arrive together
	Neg     bool // for .red: operand C is the complement of the predicate
}

// BarrierKind is the operation at a barrier.
type BarrierKind uint8

// The kinds.
const (
	BarSync          BarrierKind = iota // arrives and waits
	BarArrive                           // arrives only
	BarClusterArrive                    // arrives at the barrier of the cluster
	BarClusterWait                      // waits at the barrier of the cluster
	BarWarp                             // synchronises the lanes of a warp

	// The kinds of .red: they arrive, wait and reduce a predicate of all threads.
	BarPopc
	BarAnd
	BarOr
)

// ElemRows appends the rows of elements of size bytes. Elements of 16 bytes have two rows.
func ElemRows(list []Row, elems []Elem, size int) []Row {
	for _, e := range elems {
		list = append(list, Row{e.Slot, e.Row})
		if size == 16 {
			list = append(list, Row{e.Slot, e.High})
		}
	}
	return list
}

// PlaceRows appends the rows of the places.
func PlaceRows(list []Row, places []ParamPlace) []Row {
	for _, p := range places {
		list = append(list, Row{p.Slot, p.Row})
	}
	return list
}
