package code

// This file is the operations of the machine: those that are more than a kernel of
// package alu, whose part of the enumeration is in zops.go.

import (
	"math/bits"

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

	Once   bool // it does more than to give results, and is no Store: it cannot be repeated
	Side   Side // the table that Instr.Side is an index of
	Member int8 // 1 + the source that is a membermask

	affinetrack.Operation // what the compact unit wants to know
}

// Side is a side table.
type Side uint8

// The side tables.
const (
	NoSide      Side = iota
	AccessSide       // Access: address A, and the elements it lists
	CallSide         // Call: the places it lists
	TargetSide       // the blocks that a BranchIndex goes to
	BarrierSide      // BarrierOp
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
	Isspacep  // is generic address A in space Imm?
	CheckRank // trap unless A is the rank of the CTA in its cluster

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

	Vprintf
	Malloc
	Free
	AssertFail

	Trap
	Brkpt
	Nanosleep // A nanoseconds

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
	BarrierWarp // bar.warp.sync of membermask A

	loads  // of one element: see LoadOp
	stores = loads + 4*2*2*2
	kernel = stores + 4*2*2 // the first of package alu
)

var machine = [...]Signature{
	Invalid:        {Name: "invalid"},
	Sreg16:         {Name: "sreg.16", Kind: Read, Dst: R, Operation: affinetrack.Operation{Width: 16}},
	Sreg32:         {Name: "sreg.32", Kind: Read, Dst: R, Operation: affinetrack.Operation{Width: 32}},
	Sreg64:         {Name: "sreg.64", Kind: Read, Dst: Q, Operation: affinetrack.Operation{Width: 64}},
	Frame32:        {Name: "frame.32", Kind: Read, Dst: R},
	Frame64:        {Name: "frame.64", Kind: Read, Dst: Q},
	Isspacep:       {Name: "isspacep", Dst: P, Src: [4]Slot{Q}},
	CheckRank:      {Name: "checkrank", Src: [4]Slot{R}},
	Stacksave32:    {Name: "stacksave.32", Once: true, Dst: R},
	Stacksave64:    {Name: "stacksave.64", Once: true, Dst: Q},
	Stackrestore32: {Name: "stackrestore.32", Once: true, Src: [4]Slot{R}},
	Stackrestore64: {Name: "stackrestore.64", Once: true, Src: [4]Slot{Q}},
	Alloca32:       {Name: "alloca.32", Once: true, Dst: R, Src: [4]Slot{R}},
	Alloca64:       {Name: "alloca.64", Once: true, Dst: Q, Src: [4]Slot{Q}},
	LoadVector:     {Name: "load.vector", Kind: Load, Side: AccessSide},
	LoadFixed:      {Name: "load.fixed", Kind: Load, Side: AccessSide},
	LoadFrame:      {Name: "load.frame", Kind: Load, Side: AccessSide},
	LoadLocal:      {Name: "load.local", Kind: Load, Side: AccessSide},
	LoadEach:       {Name: "load.each", Kind: Load, Side: AccessSide},
	LoadWide:       {Name: "load.wide", Once: true, Side: AccessSide},
	StoreVector:    {Name: "store.vector", Kind: Store, Side: AccessSide},
	StoreFrame:     {Name: "store.frame", Kind: Store, Side: AccessSide},
	StoreLocal:     {Name: "store.local", Kind: Store, Side: AccessSide},
	StoreEach:      {Name: "store.each", Kind: Store, Side: AccessSide},
	StoreWide:      {Name: "store.wide", Once: true, Side: AccessSide},
	Atomic:         {Name: "atomic", Once: true, Side: AccessSide},
	Shfl:           {Name: "shfl", Dst: R, Dst2: P, Src: [4]Slot{R, R, R}},
	ShflSync:       {Name: "shfl.sync", Dst: R, Dst2: P, Src: [4]Slot{R, R, R, R}, Member: 4},
	Vote:           {Name: "vote", Dst: P, Src: [4]Slot{P}},
	VoteSync:       {Name: "vote.sync", Dst: P, Src: [4]Slot{P, R}, Member: 2},
	Ballot:         {Name: "ballot", Kind: Warp, Dst: R, Src: [4]Slot{P}},
	BallotSync:     {Name: "ballot.sync", Kind: Warp, Dst: R, Src: [4]Slot{P, R}, Member: 2},
	Match32:        {Name: "match.32", Dst: R, Dst2: P, Src: [4]Slot{R, R}, Member: 2},
	Match64:        {Name: "match.64", Dst: R, Dst2: P, Src: [4]Slot{Q, R}, Member: 2},
	Activemask:     {Name: "activemask", Kind: Warp, Dst: R},
	Redux:          {Name: "redux", Kind: Warp, Dst: R, Src: [4]Slot{R, R}, Member: 2},
	ReduxFloat:     {Name: "redux.f32", Kind: Warp, Dst: R, Src: [4]Slot{R, R}, Member: 2},
	Elect:          {Name: "elect", Dst: R, Dst2: P, Src: [4]Slot{R}, Member: 1},
	Vprintf:        {Name: "vprintf", Once: true, Side: CallSide},
	Malloc:         {Name: "malloc", Once: true, Side: CallSide},
	Free:           {Name: "free", Once: true, Side: CallSide},
	AssertFail:     {Name: "assertfail", Once: true, Side: CallSide},
	Trap:           {Name: "trap", Once: true},
	Brkpt:          {Name: "brkpt", Once: true},
	Nanosleep:      {Name: "nanosleep", Once: true, Src: [4]Slot{R}},
	Jump:           {Name: "jump", Kind: Control},
	Branch:         {Name: "branch", Kind: Control},
	BranchIndex:    {Name: "branch.index", Kind: Control, Src: [4]Slot{R}, Side: TargetSide},
	Return:         {Name: "return", Kind: Control},
	Pop:            {Name: "pop", Kind: Control},
	Exit:           {Name: "exit", Kind: Control},
	Call:           {Name: "call", Kind: Control, Side: CallSide},
	CallR:          {Name: "call.r", Kind: Control, Src: [4]Slot{R}, Side: CallSide},
	CallQ:          {Name: "call.q", Kind: Control, Src: [4]Slot{Q}, Side: CallSide},
	Barrier:        {Name: "barrier", Kind: Control, Src: [4]Slot{R, R}, Side: BarrierSide},
	BarrierPopc:    {Name: "barrier.popc", Kind: Control, Dst: R, Src: [4]Slot{R, R, P}, Side: BarrierSide},
	BarrierVote:    {Name: "barrier.vote", Kind: Control, Dst: P, Src: [4]Slot{R, R, P}, Side: BarrierSide},
	BarrierWarp:    {Name: "barrier.warp", Kind: Control, Src: [4]Slot{R}, Side: BarrierSide, Member: 1},
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
			s.Fast = affinetrack.FastOf(&s.Operation)
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

// Signature is what there is to know about the operation.
func (op Op) Signature() *Signature { return &Signatures[op] }

func (op Op) String() string { return Signatures[op].Name }

// Named finds the operation of a name, such as "cmp.lt.s32"; Invalid if there is none.
func Named(name string) Op { return byName[name] }

// Of finds the kernel that is all there is to do for a PTX instruction; Invalid if there
// is none.
func Of(v *ptx.Variant) Op { return byName[v.Canonical()] }

// General finds the kernel for any modifiers of an instruction of its name and type, which
// are in Imm then; Invalid if there is none.
func General(v *ptx.Variant) Op { return byName[v.Op.Name+".any"+v.Type().String()] }
