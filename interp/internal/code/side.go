package code

// This file is the side tables: what of an instruction is not of a fixed size.

import (
	"unsafe"

	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// Row is a row that is read or written, of registers or predicates; below zero, a
// constant.
type Row struct {
	Slot Slot
	Row  int32
}

// Access is what a memory instruction accesses, and how. The row its addresses are in
// is operand A of the instruction.
type Access struct {
	Space  ptx.Space
	Addr   Slot   // of the row that holds addresses; NoSlot: the address is Off
	Off    uint64 // added to the row
	Frame  bool   // Off is relative to the running function's local frame
	Size   int    // bytes of an element
	Elems  []Elem
	Bytes  int // of all elements: what the address must be a multiple of
	Signed bool
	Hit    int             // index of the allocation remembered
	Fixed  *mem.Allocation // where Off lies, of a fixed address in device memory
	Move   *mem.Strided    // copies of rows of elements; nil for 128 bits
	Store  bool
	Atom   *Atom
}

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
	return mem.Access{Space: a.Space, Bytes: a.Bytes, Kind: kind}
}

// At is the address of a lane whose register has the value v: it wraps in the register's
// width.
func (a *Access) At(v uint64) uint64 {
	if v += a.Off; a.Addr == R {
		v = uint64(uint32(v))
	}
	return v
}

// AtFixed is what an access to a fixed address in device memory goes to; nil if it
// is at fault, or of elements that are no element of a row.
func (a *Access) AtFixed() unsafe.Pointer {
	if a.Fixed == nil {
		return nil
	}
	return a.Within(a.Fixed, a.Off-a.Fixed.Base)
}

// Within is offset off of the memory, if the access may go there.
func (a *Access) Within(m *mem.Allocation, off uint64) unsafe.Pointer {
	n, request := uint64(a.Bytes), a.Request()
	if off > m.Size || n > m.Size-off || off%n != 0 || a.Size > 8 || !request.Allowed(m) { // freed memory has no size
		return nil
	}
	return unsafe.Add(m.Ptr, off)
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
	Op    AtomicOp
	Type  ptx.Type
	Flush bool // f32 add on global memory flushes subnormals
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
)

// Place is where a parameter, argument or result lives.
type Place struct {
	Slot Slot // R, Q or P: a register row; NoSlot: the local frame
	Row  int32
	Off  int // bytes into the local frame
	Size int // bytes
}

// CallSite is a call, of a function or a builtin.
type CallSite struct {
	Target int32 // index of the function; -1: a pointer says which, or it is a builtin
	Args   []Place
	Rets   []Place
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
func PlaceRows(list []Row, places []Place) []Row {
	for _, p := range places {
		list = append(list, Row{p.Slot, p.Row})
	}
	return list
}
