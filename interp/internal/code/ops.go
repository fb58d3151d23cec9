package code

// This file is the operations of the machine: those that are more than a kernel of
// package alu, whose part of the enumeration is in zops.go.

import (
	"fmt"
	"math/bits"
	"strings"

	"gemu/affinetrack"
	"gemu/ptx"
)

// Op is an operation.
type Op uint16

// Slot is where an operand lives.
type Slot uint8

// The slots.
const (
	NoSlot Slot = iota
	R           // 32-bit row
	Q           // 64-bit row
	P           // predicate
)

func (s Slot) String() string { return [...]string{"-", "r", "q", "p"}[s] }

// Bits is the width of a slot of a row.
func (s Slot) Bits() int {
	if s == Q {
		return 64
	}
	return 32
}

// SlotOf is where registers of a type live; those of more than 64 bits are two.
func SlotOf(t ptx.Type) Slot {
	switch {
	case t == ptx.Pred:
		return P
	case t.Bits() > 32:
		return Q
	}
	return R
}

// Kind is what an operation has to do with compact operands.
type Kind uint8

// The kinds.
const (
	Plain      Kind = iota // nothing: it wants the lanes
	Arithmetic             // a kernel of package alu
	Read                   // reads a special register or the address of a local variable
	Load
	Store
	Warp    // one result for all lanes, computed from the lanes
	Control // ends a block
)

// Signature says everything about an operation but what it does.
type Signature struct {
	Name string
	Kind Kind

	// Operands: result D, second result F, sources A, B, C and E. C of a comparison is a
	// constant if Imm names no boolean operator.
	Dst, Dst2 Slot
	Src       [4]Slot

	LaneIndependent bool // it does more than to give results, and is no Store: it cannot be repeated
	Side            Side // the table that Instr.Side is an index of
	Member          int8 // 1 + the source that is a membermask

	affinetrack.Operation // what the compact unit wants to know
}

// Side is a side table.
type Side uint8

// The side tables.
const (
	NoSide       Side = iota
	AccessSide        // Access: address A, and the elements it lists
	CallSide          // Call: the places it lists, also of an instruction with many operands
	TargetSide        // the blocks that a BranchIndex goes to
	BarrierSide       // BarrierOp
	FragmentSide      // Fragments: the registers it lists, of all lanes together
	TextureSide       // Texture: the registers it lists
)

// Collective reports whether lanes of a warp that are at different places execute the
// operation together.
func (op Op) Collective() bool { return Signatures[op].Member != 0 }

// Compares reports whether the operation is a comparison.
func (s *Signature) Compares() bool { return s.Rule == ptx.AffineCompare }

// Sources is the number of source operands.
func (s *Signature) Sources() int {
	n := 0
	for n < len(s.Src) && s.Src[n] != NoSlot {
		n++
	}
	return n
}

// The operations of the machine.
const (
	Invalid Op = iota

	Sreg16 // read special register Imm
	Sreg32
	Sreg64
	Frame32 // address Imm of the running function's local frame
	Frame64
	Shared32 // address Imm bytes into the CTA's shared memory, in a cluster of several CTAs
	Shared64
	Isspacep  // is generic address A in space Imm? Bit 8: in shared memory, of any CTA of the cluster
	CheckRank // trap unless A is the rank of the CTA in its cluster
	CheckSame // trap unless A is the same in all lanes

	Stacksave32
	Stacksave64
	Stackrestore32
	Stackrestore64
	Alloca32 // A bytes, Imm the alignment
	Alloca64

	LoadVector // several elements
	LoadFixed  // from one address
	LoadFrame  // from the running function's local frame
	LoadLocal
	LoadEach // lane by lane
	LoadWide // elements of 128 bits
	StoreVector
	StoreFrame
	StoreLocal
	StoreEach
	StoreWide
	StoreBulk // zeros, as many bytes as the element says
	Atomic

	Shfl // Imm is the mode
	ShflSync
	Vote // Imm is the mode
	VoteSync
	Ballot
	BallotSync
	Match32 // Imm: 1 for .all
	Match64
	Activemask
	Redux // Imm is the operation: see Reduction
	ReduxFloat
	Elect

	MbarrierInit   // mbarrier at address A: count B. Imm of all these: see Mbarrier
	MbarrierInval  // … at A
	MbarrierArrive // … and its state before; at A, by B
	MbarrierTx     // … at A, by B
	MbarrierTest   // … at A; has the phase of state B completed? F is its report: bit 8 the predicate, below the value
	MbarrierParity // … at A; has the phase of parity B? F as well
	MbarrierLayout // … at A; has it the layout of Imm?
	MbarrierMany   // … at the place of A in the CTAs whose ranks are in C, by B
	LoadMatrix     // rows of matrices, by the addresses of some lanes
	StoreMatrix
	MoveMatrix // transposes
	Sparse     // compresses or decompresses what each lane has
	Multiply   // matrices

	AsyncCopy   // to A from B, C bytes of Imm.Bytes, zeros behind them. Imm of all these: see Async
	AsyncArrive // at the mbarrier at A, when what was copied before has been
	AsyncCommit // the group
	AsyncWait   // for all groups but A
	AsyncBulk   // to A from B, C bytes; the mbarrier at E is told
	AsyncMasked // as AsyncBulk; the upper half of C is a mask: if an mbarrier is told, of ranks of CTAs, each of which gets it; else of the bytes of each 16. With Imm.IgnoreOOB it is the bytes ignored at the start, and 256 times as many at the end
	AsyncCancel // to A, which cluster does not begin any more, if one does not; the mbarrier at B is told
	AsyncStore  // to A, the lower Imm.Bytes of C and E; the mbarrier at B is told
	AsyncTensor // between the box in shared memory at A and the tensor of the map at B; the mbarrier at C is told. Imm: see Tensor
	MapReplace  // a field of the tensor map at A, by B. Imm: see MapField
	MapCopy     // to A the tensor map at B
	MapLarge    // D is whether the allocation class of the tensor map at A is large. Imm: see MapField, the space alone

	TextureFetch  // tex, tld4
	TextureQuery  // an attribute of object A, at level B: Imm is a texture.Attribute
	SurfaceQuery  // … of surface A
	IsObject      // is A one of type Imm, a ptx.Type?
	SurfaceLoad   // bytes
	SurfaceStore  // bytes, or a texel
	SurfaceReduce // sured

	WgmmaFence   // what registers hold is for multiplications
	WgmmaIssue   // a multiplication: descriptors A and B, metadata C; D is added if E
	WgmmaCommit  // the group
	WgmmaWait    // completes multiplications, all of the warp but those of the last groups: see Awaited
	WgmmaDisturb // traps if one of Fragments.Pending is pending

	TensorAlloc      // B columns of tensor memory; A is where their address is to go. Imm of all these: see TensorImm
	TensorDealloc    // B columns at A
	TensorRelinquish // the right to allocate
	TensorLoad       // registers
	TensorStore      // registers
	TensorWait       // for loads or stores of the warp
	TensorCopy       // to A, from shared memory where descriptor B says
	TensorShift      // rows at A
	TensorMma        // descriptors A and B, instruction descriptor C; D is added if E
	TensorCommit     // the mbarrier at A, of the CTAs of mask B, is told when what the thread has issued is done

	Vprintf
	Malloc
	Free
	AssertFail

	Trap
	Brkpt
	Nanosleep // A nanoseconds
	NoOp      // counts the lanes that its guard holds back

	Jump        // to the next block
	Branch      // the guard's lanes go to the target, others to the next block
	BranchIndex // lane by lane to the targets by A
	Return      // the guard's lanes go to the function's exit
	Pop         // the function's exit: return to the caller
	Exit        // the guard's lanes end
	Call
	CallR // through a pointer
	CallQ
	Barrier     // bar, barrier: number A, thread count B
	BarrierPopc // … .red of predicate C
	BarrierVote
	BarrierCluster
	BarrierWarp // bar.warp.sync of membermask A

	loads  // of one element: see LoadOp
	stores = loads + 4*2*2*2
	kernel = stores + 4*2*2 // the first of package alu
)

var machine = [...]Signature{
	Invalid:          {Name: "invalid"},
	Sreg16:           {Name: "sreg.16", Kind: Read, Dst: R, Operation: affinetrack.Operation{Width: 16}},
	Sreg32:           {Name: "sreg.32", Kind: Read, Dst: R, Operation: affinetrack.Operation{Width: 32}},
	Sreg64:           {Name: "sreg.64", Kind: Read, Dst: Q, Operation: affinetrack.Operation{Width: 64}},
	Frame32:          {Name: "frame.32", Kind: Read, Dst: R},
	Frame64:          {Name: "frame.64", Kind: Read, Dst: Q},
	Shared32:         {Name: "shared.32", Kind: Read, Dst: R},
	Shared64:         {Name: "shared.64", Kind: Read, Dst: Q},
	Isspacep:         {Name: "isspacep", Dst: P, Src: [4]Slot{Q}},
	CheckRank:        {Name: "checkrank", Src: [4]Slot{R}},
	CheckSame:        {Name: "checksame", Src: [4]Slot{Q}},
	Stacksave32:      {Name: "stacksave.32", LaneIndependent: true, Dst: R},
	Stacksave64:      {Name: "stacksave.64", LaneIndependent: true, Dst: Q},
	Stackrestore32:   {Name: "stackrestore.32", LaneIndependent: true, Src: [4]Slot{R}},
	Stackrestore64:   {Name: "stackrestore.64", LaneIndependent: true, Src: [4]Slot{Q}},
	Alloca32:         {Name: "alloca.32", LaneIndependent: true, Dst: R, Src: [4]Slot{R}},
	Alloca64:         {Name: "alloca.64", LaneIndependent: true, Dst: Q, Src: [4]Slot{Q}},
	LoadVector:       {Name: "load.vector", Kind: Load, Side: AccessSide},
	LoadFixed:        {Name: "load.fixed", Kind: Load, Side: AccessSide},
	LoadFrame:        {Name: "load.frame", Kind: Load, Side: AccessSide},
	LoadLocal:        {Name: "load.local", Kind: Load, Side: AccessSide},
	LoadEach:         {Name: "load.each", Kind: Load, Side: AccessSide},
	LoadWide:         {Name: "load.wide", LaneIndependent: true, Side: AccessSide},
	StoreVector:      {Name: "store.vector", Kind: Store, Side: AccessSide},
	StoreFrame:       {Name: "store.frame", Kind: Store, Side: AccessSide},
	StoreLocal:       {Name: "store.local", Kind: Store, Side: AccessSide},
	StoreEach:        {Name: "store.each", Kind: Store, Side: AccessSide},
	StoreWide:        {Name: "store.wide", LaneIndependent: true, Side: AccessSide},
	StoreBulk:        {Name: "store.bulk", LaneIndependent: true, Side: AccessSide},
	Atomic:           {Name: "atomic", LaneIndependent: true, Side: AccessSide},
	Shfl:             {Name: "shfl", Dst: R, Dst2: P, Src: [4]Slot{R, R, R}},
	ShflSync:         {Name: "shfl.sync", Dst: R, Dst2: P, Src: [4]Slot{R, R, R, R}, Member: 4},
	Vote:             {Name: "vote", Dst: P, Src: [4]Slot{P}},
	VoteSync:         {Name: "vote.sync", Dst: P, Src: [4]Slot{P, R}, Member: 2},
	Ballot:           {Name: "ballot", Kind: Warp, Dst: R, Src: [4]Slot{P}},
	BallotSync:       {Name: "ballot.sync", Kind: Warp, Dst: R, Src: [4]Slot{P, R}, Member: 2},
	Match32:          {Name: "match.32", Dst: R, Dst2: P, Src: [4]Slot{R, R}, Member: 2},
	Match64:          {Name: "match.64", Dst: R, Dst2: P, Src: [4]Slot{Q, R}, Member: 2},
	Activemask:       {Name: "activemask", Kind: Warp, Dst: R},
	Redux:            {Name: "redux", Kind: Warp, Dst: R, Src: [4]Slot{R, R}, Member: 2},
	ReduxFloat:       {Name: "redux.f32", Kind: Warp, Dst: R, Src: [4]Slot{R, R}, Member: 2},
	Elect:            {Name: "elect", Dst: R, Dst2: P, Src: [4]Slot{R}, Member: 1},
	MbarrierInit:     {Name: "mbarrier.init", LaneIndependent: true, Src: [4]Slot{Q, R}},
	MbarrierInval:    {Name: "mbarrier.inval", LaneIndependent: true, Src: [4]Slot{Q}},
	MbarrierArrive:   {Name: "mbarrier.arrive", LaneIndependent: true, Dst: Q, Src: [4]Slot{Q, R}},
	MbarrierTx:       {Name: "mbarrier.tx", LaneIndependent: true, Src: [4]Slot{Q, R}},
	MbarrierTest:     {Name: "mbarrier.test", LaneIndependent: true, Dst: P, Dst2: R, Src: [4]Slot{Q, Q}},
	MbarrierParity:   {Name: "mbarrier.parity", LaneIndependent: true, Dst: P, Dst2: R, Src: [4]Slot{Q, R}},
	MbarrierLayout:   {Name: "mbarrier.layout", LaneIndependent: true, Dst: P, Src: [4]Slot{Q}},
	MbarrierMany:     {Name: "mbarrier.many", LaneIndependent: true, Src: [4]Slot{Q, R, R}},
	LoadMatrix:       {Name: "load.matrix", LaneIndependent: true, Side: AccessSide},
	StoreMatrix:      {Name: "store.matrix", LaneIndependent: true, Side: AccessSide},
	MoveMatrix:       {Name: "move.matrix", Dst: R, Src: [4]Slot{R}},
	Multiply:         {Name: "multiply", Side: FragmentSide},
	Sparse:           {Name: "sparse", Side: FragmentSide},
	AsyncCopy:        {Name: "async.copy", LaneIndependent: true, Src: [4]Slot{Q, Q, R}},
	AsyncArrive:      {Name: "async.arrive", LaneIndependent: true, Src: [4]Slot{Q}},
	AsyncCommit:      {Name: "async.commit", LaneIndependent: true},
	AsyncWait:        {Name: "async.wait", LaneIndependent: true, Src: [4]Slot{R}},
	AsyncBulk:        {Name: "async.bulk", LaneIndependent: true, Src: [4]Slot{Q, Q, R, Q}},
	AsyncMasked:      {Name: "async.masked", LaneIndependent: true, Src: [4]Slot{Q, Q, Q, Q}},
	AsyncCancel:      {Name: "async.cancel", LaneIndependent: true, Src: [4]Slot{Q, Q}},
	AsyncStore:       {Name: "async.store", LaneIndependent: true, Src: [4]Slot{Q, Q, Q, Q}},
	TextureFetch:     {Name: "texture.fetch", Side: TextureSide},
	TextureQuery:     {Name: "texture.query", Dst: R, Src: [4]Slot{Q, R}},
	SurfaceQuery:     {Name: "surface.query", Dst: R, Src: [4]Slot{Q}},
	IsObject:         {Name: "isobject", Dst: P, Src: [4]Slot{Q}},
	SurfaceLoad:      {Name: "surface.load", LaneIndependent: true, Side: TextureSide},
	SurfaceStore:     {Name: "surface.store", LaneIndependent: true, Side: TextureSide},
	SurfaceReduce:    {Name: "surface.reduce", LaneIndependent: true, Side: TextureSide},
	WgmmaFence:       {Name: "wgmma.fence", LaneIndependent: true},
	WgmmaIssue:       {Name: "wgmma.issue", LaneIndependent: true, Src: [4]Slot{Q, Q, R, P}, Side: FragmentSide},
	WgmmaCommit:      {Name: "wgmma.commit", LaneIndependent: true},
	WgmmaWait:        {Name: "wgmma.wait", LaneIndependent: true, Side: FragmentSide},
	WgmmaDisturb:     {Name: "wgmma.disturb", LaneIndependent: true, Side: FragmentSide},
	TensorAlloc:      {Name: "tensor.alloc", LaneIndependent: true, Dst: R, Src: [4]Slot{Q, R}},
	TensorDealloc:    {Name: "tensor.dealloc", LaneIndependent: true, Src: [4]Slot{R, R}},
	TensorRelinquish: {Name: "tensor.relinquish", LaneIndependent: true},
	TensorLoad:       {Name: "tensor.load", LaneIndependent: true, Side: FragmentSide},
	TensorStore:      {Name: "tensor.store", LaneIndependent: true, Side: FragmentSide},
	TensorWait:       {Name: "tensor.wait", LaneIndependent: true},
	TensorCopy:       {Name: "tensor.copy", LaneIndependent: true, Src: [4]Slot{R, Q}, Side: FragmentSide},
	TensorShift:      {Name: "tensor.shift", LaneIndependent: true, Src: [4]Slot{R}},
	TensorMma:        {Name: "tensor.mma", LaneIndependent: true, Src: [4]Slot{Q, Q, R, P}, Side: FragmentSide},
	TensorCommit:     {Name: "tensor.commit", LaneIndependent: true, Src: [4]Slot{Q, R}},
	AsyncTensor:      {Name: "async.tensor", LaneIndependent: true, Src: [4]Slot{Q, Q, Q}, Side: CallSide},
	MapReplace:       {Name: "map.replace", LaneIndependent: true, Src: [4]Slot{Q, Q}},
	MapCopy:          {Name: "map.copy", LaneIndependent: true, Src: [4]Slot{Q, Q}},
	MapLarge:         {Name: "map.large", LaneIndependent: true, Dst: P, Src: [4]Slot{Q}},
	Vprintf:          {Name: "vprintf", LaneIndependent: true, Side: CallSide},
	Malloc:           {Name: "malloc", LaneIndependent: true, Side: CallSide},
	Free:             {Name: "free", LaneIndependent: true, Side: CallSide},
	AssertFail:       {Name: "assertfail", LaneIndependent: true, Side: CallSide},
	Trap:             {Name: "trap", LaneIndependent: true},
	Brkpt:            {Name: "brkpt", LaneIndependent: true},
	Nanosleep:        {Name: "nanosleep", LaneIndependent: true, Src: [4]Slot{R}},
	NoOp:             {Name: "nothing"},
	Jump:             {Name: "jump", Kind: Control},
	Branch:           {Name: "branch", Kind: Control},
	BranchIndex:      {Name: "branch.index", Kind: Control, Src: [4]Slot{R}, Side: TargetSide},
	Return:           {Name: "return", Kind: Control},
	Pop:              {Name: "pop", Kind: Control},
	Exit:             {Name: "exit", Kind: Control},
	Call:             {Name: "call", Kind: Control, Side: CallSide},
	CallR:            {Name: "call.r", Kind: Control, Src: [4]Slot{R}, Side: CallSide},
	CallQ:            {Name: "call.q", Kind: Control, Src: [4]Slot{Q}, Side: CallSide},
	Barrier:          {Name: "barrier", Kind: Control, Src: [4]Slot{R, R}, Side: BarrierSide},
	BarrierPopc:      {Name: "barrier.popc", Kind: Control, Dst: R, Src: [4]Slot{R, R, P}, Side: BarrierSide},
	BarrierVote:      {Name: "barrier.vote", Kind: Control, Dst: P, Src: [4]Slot{R, R, P}, Side: BarrierSide},
	BarrierCluster:   {Name: "barrier.cluster", Kind: Control, Side: BarrierSide},
	BarrierWarp:      {Name: "barrier.warp", Kind: Control, Src: [4]Slot{R}, Side: BarrierSide, Member: 1},
}

// Modes of shfl and vote, in Instr.Imm.
const (
	ShflUp uint64 = iota
	ShflDown
	ShflBfly
	ShflIdx

	VoteAll uint64 = iota - 4
	VoteAny
	VoteUni
)

// Signatures are those of all operations.
var Signatures [Count]Signature

var byName = map[string]Op{}

func init() {
	copy(Signatures[:], machine[:])
	for _, size := range []int{1, 2, 4, 8} {
		for _, addr := range []Slot{R, Q} {
			for _, data := range []Slot{R, Q} {
				rows := "." + addr.String() + data.String()
				kind := [...]string{1: "8", 2: "16", 4: "32", 8: "64"}[size]
				Signatures[LoadOp(size, false, addr, data)] = Signature{Name: "load.u" + kind + rows, Kind: Load, Side: AccessSide}
				Signatures[LoadOp(size, true, addr, data)] = Signature{Name: "load.s" + kind + rows, Kind: Load, Side: AccessSide}
				Signatures[StoreOp(size, addr, data)] = Signature{Name: "store.b" + kind + rows, Kind: Store, Side: AccessSide}
			}
		}
	}
	copy(Signatures[kernel:], kernels[:])
	for op := range Signatures {
		s := &Signatures[op]
		byName[s.Name] = Op(op)
		s.Slot = uint8(s.Dst.Bits())
		if s.Kind == Arithmetic {
			s.Fast = affinetrack.FindFast(&s.Operation)
		}
	}
}

// LoadOp loads one element of size bytes, 1, 2, 4 or 8, from addresses in slot addr to
// a row of slot data, sign-extended if signed.
func LoadOp(size int, signed bool, addr, data Slot) Op {
	op := loads + Op(bits.TrailingZeros(uint(size)))*8 + Op(addr-R)*4 + Op(data-R)*2
	if signed {
		op++
	}
	return op
}

// StoreOp is LoadOp's counterpart.
func StoreOp(size int, addr, data Slot) Op {
	return stores + Op(bits.TrailingZeros(uint(size)))*4 + Op(addr-R)*2 + Op(data-R)
}

// Special reports whether an operation of kind Read reads a special register, which is in Imm,
// and not an address.
func (op Op) Special() bool {
	switch op {
	case Frame32, Frame64, Shared32, Shared64:
		return false
	}
	return op.Signature().Kind == Read
}

// Signature is what there is to know about the operation.
func (op Op) Signature() *Signature { return &Signatures[op] }

func (op Op) String() string { return Signatures[op].Name }

// OpNamed is the operation of a name, such as "cmp.lt.s32", which there is.
func OpNamed(name string) Op {
	op, ok := byName[name]
	if !ok {
		panic(fmt.Sprintf("BUG: no operation %q", name))
	}
	return op
}

// OpOf finds the kernel that is all there is to do for a PTX instruction; Invalid if there
// is none.
func OpOf(v *ptx.Variant) Op { return byName[strings.Replace(v.Canonical(), ".layout::v0", "", 1)] } // without a default

// GeneralOpOf finds the kernel for any modifiers of an instruction of its name and types, which
// are in Imm then; Invalid if there is none.
func GeneralOpOf(v *ptx.Variant) Op {
	name := v.Op.Name + ".any"
	if v.Form.HasSlot("atype") { // of mixed precision
		name += ptx.F32.String()
	}
	return byName[name+v.Type().String()]
}
