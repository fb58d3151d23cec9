package code

// This file defines the operations that are no kernels of package alu. zops.go defines the operations that are kernels.

import (
	"fmt"
	"math/bits"
	"strings"

	"gemu/affinetrack"
	"gemu/ptx"
)

// Op is an operation.
type Op uint16

// Slot is the kind of storage of an operand.
type Slot uint8

// The slots.
const (
	NoSlot Slot = iota
	R           // 32 bits in each lane
	Q           // 64 bits in each lane
	P           // predicate
)

func (s Slot) String() string { return [...]string{"-", "r", "q", "p"}[s] }

// Bits returns the width of a slot in bits; for a predicate 32, the bits of its lane mask.
func (s Slot) Bits() int {
	if s == Q {
		return 64
	}
	return 32
}

// SlotOf returns the slot of a register type. A register of 128 bits has two rows of slot Q.
func SlotOf(t ptx.Type) Slot {
	switch {
	case t == ptx.Pred:
		return P
	case t.Bits() > 32:
		return Q
	}
	return R
}

// Kind is the treatment of compact operands by an operation.
type Kind uint8

// The kinds.
const (
	Plain      Kind = iota // needs the values of the lanes
	Arithmetic             // a kernel of package alu
	Read                   // reads a special register or the address of a local variable
	Load                   // loads elements
	Store                  // stores elements
	Warp                   // computes a single result for all lanes from their values
	Control                // ends a block
)

// Signature describes an operation: its operands and properties.
type Signature struct {
	Name string
	Kind Kind

	Dst, Dst2 Slot    // slots of results D and F
	Src       [4]Slot // slots of sources A, B, C and E; the kernel of a comparison ignores C if Imm has no boolean operator

	RunsOnce bool // check mode must not repeat it: it has effects besides its results, and is no Store
	Side     Side // the table that Instr.Side indexes
	Member   int8 // 1 + the index of the source that is a membermask; 0 if none is

	affinetrack.Operation // the properties that affinetrack.Unit needs
}

// Side is a side table.
type Side uint8

// The side tables.
const (
	NoSide       Side = iota
	AccessSide        // Tables.Access: the elements of a memory access and the properties of its address, operand A
	CallSide          // Tables.Calls: the places of arguments and results, also for an instruction with many operands
	TargetSide        // Tables.Targets: the target blocks of a BranchIndex
	BarrierSide       // Tables.Barriers
	FragmentSide      // Tables.Fragments: the registers of an instruction that lanes execute together on matrices
	TextureSide       // Tables.Textures: the registers of an instruction on a texture or a surface
)

// Collective reports whether lanes of a warp at different instructions execute the operation together.
func (op Op) Collective() bool { return Signatures[op].Member != 0 }

// Compares reports whether the operation is a comparison.
func (s *Signature) Compares() bool { return s.Rule == ptx.AffineCompare }

// Sources returns the number of source operands.
func (s *Signature) Sources() int {
	n := 0
	for n < len(s.Src) && s.Src[n] != NoSlot {
		n++
	}
	return n
}

// The operations that are no kernels.
const (
	Invalid Op = iota

	Sreg16 // read special register Imm
	Sreg32
	Sreg64
	Frame32 // D: the address of byte Imm of the running function's local frame
	Frame64
	Shared32 // D: the address of byte Imm of the CTA's shared memory; only if clusters have several CTAs
	Shared64
	Isspacep  // D: is generic address A in space Imm? Bit 8 of Imm: in shared memory of any CTA of the cluster
	CheckRank // traps unless A is the rank of the CTA in its cluster
	CheckSame // traps unless A is the same in all lanes

	Stacksave32
	Stacksave64
	Stackrestore32
	Stackrestore64
	Alloca32 // allocates A bytes; Imm is the alignment
	Alloca64

	LoadVector // several elements
	LoadFixed  // from a fixed address
	LoadFrame  // from the running function's local frame
	LoadLocal
	LoadEach // lane by lane, for accesses without an operation of their own
	LoadWide // elements of 128 bits
	StoreVector
	StoreFrame
	StoreLocal
	StoreEach
	StoreWide
	StoreBulk // zeros; the element gives the number of bytes
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
	Redux // Imm is the operation (see Reduction)
	ReduxFloat
	Elect

	MbarrierInit   // initialises the mbarrier at address A with count B. Imm of all mbarrier operations: see Mbarrier
	MbarrierInval  // invalidates the mbarrier at A
	MbarrierArrive // arrives B times at A; D is the state before
	MbarrierTx     // changes the tx-count at A by B
	MbarrierTest   // D: has the phase of state B completed at A? F is its report: bit 8 is the predicate, the bits below are the value
	MbarrierParity // D: has the phase of parity B completed at A? F is its report
	MbarrierLayout // D: does the mbarrier at A have the layout of Imm?
	MbarrierMany   // arrives B times at the place of A in the CTAs whose ranks are in C
	LoadMatrix     // rows of matrices; some lanes hold the addresses
	StoreMatrix
	MoveMatrix // transposes a matrix
	Sparse     // compresses or decompresses the values of each lane
	Multiply   // multiplies matrices

	AsyncCopy   // copies C of Imm.Bytes bytes from B to A, and fills the remaining bytes with zeros. Imm of all asynchronous operations: see Async
	AsyncArrive // arrives at the mbarrier at A after all earlier copies
	AsyncCommit // commits the group
	AsyncWait   // waits for all groups but the last A
	AsyncBulk   // copies C bytes from B to A; notifies the mbarrier at E
	AsyncMasked // as AsyncBulk. The upper half of C is a mask: the ranks of receiving CTAs if it notifies an mbarrier, else the bytes to copy of each 16. With Imm.IgnoreOutOfBounds it is the number of ignored bytes at the start, plus 256 times the number at the end
	AsyncCancel // cancels a cluster that has not begun, writes its index to A, and notifies the mbarrier at B
	AsyncStore  // stores the lower Imm.Bytes of C and E to A; notifies the mbarrier at B
	AsyncTensor // copies between the box in shared memory at A and the tensor of the map at B; notifies the mbarrier at C. Imm: see Tensor
	MapReplace  // replaces a field of the tensor map at A by B. Imm: see MapField
	MapCopy     // copies the tensor map at B to A
	MapLarge    // D: is the allocation class of the tensor map at A large? Imm: see MapField, only the space

	TextureFetch  // tex, tld4
	TextureQuery  // an attribute of object A at level B; Imm is a sampling.Attribute
	SurfaceQuery  // an attribute of surface A
	IsObject      // D: is A an object of type Imm, a ptx.Type?
	SurfaceLoad   // loads bytes
	SurfaceStore  // stores bytes, or a texel
	SurfaceReduce // sured

	WgmmaFence   // makes the values of registers visible to multiplications
	WgmmaIssue   // issues a multiplication: descriptors A and B, metadata C; D is added if E is set
	WgmmaCommit  // commits the group
	WgmmaWait    // completes the warp's multiplications, except the multiplications of the last groups (see WaitGroups)
	WgmmaDisturb // traps if any of Fragments.Pending is pending

	TensorAlloc      // allocates B columns of tensor memory and writes their address to A. Imm of all tensor memory operations: see TensorImm
	TensorDealloc    // frees B columns at A
	TensorRelinquish // gives up the right to allocate
	TensorLoad       // loads registers
	TensorStore      // stores registers
	TensorWait       // waits for loads or stores of the warp
	TensorCopy       // copies to A from shared memory at descriptor B
	TensorShift      // shifts rows at A
	TensorMma        // descriptors A and B, instruction descriptor C; D is added if E is set
	TensorCommit     // notifies the mbarrier at A, in the CTAs of mask B, when the operations issued by the thread are complete

	Vprintf
	Malloc
	Free
	AssertFail

	Trap
	Brkpt
	Nanosleep // sleeps for A nanoseconds
	NoOp      // counts the lanes in which its guard does not hold

	Jump        // continues at the next block
	Branch      // lanes of the guard continue at the target, all other lanes at the next block
	BranchIndex // each lane continues at the target with index A
	Return      // lanes of the guard continue at the function's exit
	Pop         // at the function's exit: returns to the caller
	Exit        // lanes of the guard end
	Call
	CallR       // call through a 32-bit pointer
	CallQ       // call through a 64-bit pointer
	Barrier     // bar, barrier: number A, thread count B
	BarrierPopc // bar.red, barrier.red with predicate C
	BarrierVote
	BarrierCluster
	BarrierWarp // bar.warp.sync with membermask A

	loads                    // first load of an element (see LoadOp); there is one for each size, address slot, data slot and sign extension
	stores = loads + 4*2*2*2 // first store of an element (see StoreOp)
	kernel = stores + 4*2*2  // first kernel of package alu
)

// machine contains the signatures of the operations that are no kernels, except loads and stores of an element.
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
	Stacksave32:      {Name: "stacksave.32", RunsOnce: true, Dst: R},
	Stacksave64:      {Name: "stacksave.64", RunsOnce: true, Dst: Q},
	Stackrestore32:   {Name: "stackrestore.32", RunsOnce: true, Src: [4]Slot{R}},
	Stackrestore64:   {Name: "stackrestore.64", RunsOnce: true, Src: [4]Slot{Q}},
	Alloca32:         {Name: "alloca.32", RunsOnce: true, Dst: R, Src: [4]Slot{R}},
	Alloca64:         {Name: "alloca.64", RunsOnce: true, Dst: Q, Src: [4]Slot{Q}},
	LoadVector:       {Name: "load.vector", Kind: Load, Side: AccessSide},
	LoadFixed:        {Name: "load.fixed", Kind: Load, Side: AccessSide},
	LoadFrame:        {Name: "load.frame", Kind: Load, Side: AccessSide},
	LoadLocal:        {Name: "load.local", Kind: Load, Side: AccessSide},
	LoadEach:         {Name: "load.each", Kind: Load, Side: AccessSide},
	LoadWide:         {Name: "load.wide", RunsOnce: true, Side: AccessSide},
	StoreVector:      {Name: "store.vector", Kind: Store, Side: AccessSide},
	StoreFrame:       {Name: "store.frame", Kind: Store, Side: AccessSide},
	StoreLocal:       {Name: "store.local", Kind: Store, Side: AccessSide},
	StoreEach:        {Name: "store.each", Kind: Store, Side: AccessSide},
	StoreWide:        {Name: "store.wide", RunsOnce: true, Side: AccessSide},
	StoreBulk:        {Name: "store.bulk", RunsOnce: true, Side: AccessSide},
	Atomic:           {Name: "atomic", RunsOnce: true, Side: AccessSide},
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
	MbarrierInit:     {Name: "mbarrier.init", RunsOnce: true, Src: [4]Slot{Q, R}},
	MbarrierInval:    {Name: "mbarrier.inval", RunsOnce: true, Src: [4]Slot{Q}},
	MbarrierArrive:   {Name: "mbarrier.arrive", RunsOnce: true, Dst: Q, Src: [4]Slot{Q, R}},
	MbarrierTx:       {Name: "mbarrier.tx", RunsOnce: true, Src: [4]Slot{Q, R}},
	MbarrierTest:     {Name: "mbarrier.test", RunsOnce: true, Dst: P, Dst2: R, Src: [4]Slot{Q, Q}},
	MbarrierParity:   {Name: "mbarrier.parity", RunsOnce: true, Dst: P, Dst2: R, Src: [4]Slot{Q, R}},
	MbarrierLayout:   {Name: "mbarrier.layout", RunsOnce: true, Dst: P, Src: [4]Slot{Q}},
	MbarrierMany:     {Name: "mbarrier.many", RunsOnce: true, Src: [4]Slot{Q, R, R}},
	LoadMatrix:       {Name: "load.matrix", RunsOnce: true, Side: AccessSide},
	StoreMatrix:      {Name: "store.matrix", RunsOnce: true, Side: AccessSide},
	MoveMatrix:       {Name: "move.matrix", Dst: R, Src: [4]Slot{R}},
	Multiply:         {Name: "multiply", Side: FragmentSide},
	Sparse:           {Name: "sparse", Side: FragmentSide},
	AsyncCopy:        {Name: "async.copy", RunsOnce: true, Src: [4]Slot{Q, Q, R}},
	AsyncArrive:      {Name: "async.arrive", RunsOnce: true, Src: [4]Slot{Q}},
	AsyncCommit:      {Name: "async.commit", RunsOnce: true},
	AsyncWait:        {Name: "async.wait", RunsOnce: true, Src: [4]Slot{R}},
	AsyncBulk:        {Name: "async.bulk", RunsOnce: true, Src: [4]Slot{Q, Q, R, Q}},
	AsyncMasked:      {Name: "async.masked", RunsOnce: true, Src: [4]Slot{Q, Q, Q, Q}},
	AsyncCancel:      {Name: "async.cancel", RunsOnce: true, Src: [4]Slot{Q, Q}},
	AsyncStore:       {Name: "async.store", RunsOnce: true, Src: [4]Slot{Q, Q, Q, Q}},
	TextureFetch:     {Name: "texture.fetch", Side: TextureSide},
	TextureQuery:     {Name: "texture.query", Dst: R, Src: [4]Slot{Q, R}},
	SurfaceQuery:     {Name: "surface.query", Dst: R, Src: [4]Slot{Q}},
	IsObject:         {Name: "isobject", Dst: P, Src: [4]Slot{Q}},
	SurfaceLoad:      {Name: "surface.load", RunsOnce: true, Side: TextureSide},
	SurfaceStore:     {Name: "surface.store", RunsOnce: true, Side: TextureSide},
	SurfaceReduce:    {Name: "surface.reduce", RunsOnce: true, Side: TextureSide},
	WgmmaFence:       {Name: "wgmma.fence", RunsOnce: true},
	WgmmaIssue:       {Name: "wgmma.issue", RunsOnce: true, Src: [4]Slot{Q, Q, R, P}, Side: FragmentSide},
	WgmmaCommit:      {Name: "wgmma.commit", RunsOnce: true},
	WgmmaWait:        {Name: "wgmma.wait", RunsOnce: true, Side: FragmentSide},
	WgmmaDisturb:     {Name: "wgmma.disturb", RunsOnce: true, Side: FragmentSide},
	TensorAlloc:      {Name: "tensor.alloc", RunsOnce: true, Dst: R, Src: [4]Slot{Q, R}},
	TensorDealloc:    {Name: "tensor.dealloc", RunsOnce: true, Src: [4]Slot{R, R}},
	TensorRelinquish: {Name: "tensor.relinquish", RunsOnce: true},
	TensorLoad:       {Name: "tensor.load", RunsOnce: true, Side: FragmentSide},
	TensorStore:      {Name: "tensor.store", RunsOnce: true, Side: FragmentSide},
	TensorWait:       {Name: "tensor.wait", RunsOnce: true},
	TensorCopy:       {Name: "tensor.copy", RunsOnce: true, Src: [4]Slot{R, Q}, Side: FragmentSide},
	TensorShift:      {Name: "tensor.shift", RunsOnce: true, Src: [4]Slot{R}},
	TensorMma:        {Name: "tensor.mma", RunsOnce: true, Src: [4]Slot{Q, Q, R, P}, Side: FragmentSide},
	TensorCommit:     {Name: "tensor.commit", RunsOnce: true, Src: [4]Slot{Q, R}},
	AsyncTensor:      {Name: "async.tensor", RunsOnce: true, Src: [4]Slot{Q, Q, Q}, Side: CallSide},
	MapReplace:       {Name: "map.replace", RunsOnce: true, Src: [4]Slot{Q, Q}},
	MapCopy:          {Name: "map.copy", RunsOnce: true, Src: [4]Slot{Q, Q}},
	MapLarge:         {Name: "map.large", RunsOnce: true, Dst: P, Src: [4]Slot{Q}},
	Vprintf:          {Name: "vprintf", RunsOnce: true, Side: CallSide},
	Malloc:           {Name: "malloc", RunsOnce: true, Side: CallSide},
	Free:             {Name: "free", RunsOnce: true, Side: CallSide},
	AssertFail:       {Name: "assertfail", RunsOnce: true, Side: CallSide},
	Trap:             {Name: "trap", RunsOnce: true},
	Brkpt:            {Name: "brkpt", RunsOnce: true},
	Nanosleep:        {Name: "nanosleep", RunsOnce: true, Src: [4]Slot{R}},
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

// Modes of shfl and vote, in Instr.Imm. The modes of vote are counted from 0, too.
const (
	ShflUp uint64 = iota
	ShflDown
	ShflBfly
	ShflIdx

	VoteAll uint64 = iota - 4
	VoteAny
	VoteUni
)

// Signatures contains the signatures of all operations.
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

// LoadOp returns the operation that loads an element of size bytes (1, 2, 4 or 8) from addresses in slot addr to a row
// of slot data, sign-extended if signed.
func LoadOp(size int, signed bool, addr, data Slot) Op {
	op := loads + Op(bits.TrailingZeros(uint(size)))*8 + Op(addr-R)*4 + Op(data-R)*2
	if signed {
		op++
	}
	return op
}

// StoreOp returns the operation that stores an element; see LoadOp.
func StoreOp(size int, addr, data Slot) Op {
	return stores + Op(bits.TrailingZeros(uint(size)))*4 + Op(addr-R)*2 + Op(data-R)
}

// Special reports whether an operation of kind Read reads a special register, which is in Imm, rather than an address.
func (op Op) Special() bool {
	switch op {
	case Frame32, Frame64, Shared32, Shared64:
		return false
	}
	return op.Signature().Kind == Read
}

// Signature returns the signature of the operation.
func (op Op) Signature() *Signature { return &Signatures[op] }

func (op Op) String() string { return Signatures[op].Name }

// OpNamed returns the operation with a name, such as "cmp.lt.s32". The name must exist.
func OpNamed(name string) Op {
	op, ok := byName[name]
	if !ok {
		panic(fmt.Sprintf("BUG: no operation %q", name))
	}
	return op
}

// OpOf returns the kernel that performs a whole PTX instruction; Invalid if there is none.
func OpOf(v *ptx.Variant) Op { return byName[strings.Replace(v.Canonical(), ".layout::v0", "", 1)] } // without a default modifier

// GeneralOpOf returns the kernel for an instruction's name and types with any modifiers, which it reads from Imm; Invalid
// if there is none.
func GeneralOpOf(v *ptx.Variant) Op {
	name := v.Op.Name + ".any"
	if v.Form.HasSlot("atype") { // mixed precision
		name += ptx.F32.String()
	}
	return byName[name+v.Type().String()]
}
