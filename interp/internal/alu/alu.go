// Package alu holds the semantics of the instructions that only compute: what
// they do to one lane, as a short function beside its manual section, and made
// from it the kernel that does it to a row of lanes.
//
// A function's //gemu:kernel directive names the opcodes it implements; the
// program in _gen writes the lane loops and the registry (zkernels.go). The
// signature of the function says where the operands are: types of up to 32 bits
// in 32-bit rows, 64-bit types in 64-bit rows, bool in predicates.
package alu

//go:generate go run ./_gen

import "gemu/regfile"

// Kernel executes an instruction for the lanes of mask m.
type Kernel func(f *regfile.File, o *regfile.Operands, m uint32)

// One executes an instruction on single values: the sources A, B, C, E as the
// low bits of a uint64 (predicates as 0 or 1), the result likewise, and the
// second result (a carry or second predicate) if it has one.
type One func(a, b, c, e, imm uint64) (d, d2 uint64)

// Slot is where an operand of a kernel lives.
type Slot uint8

// The slots.
const (
	NoSlot Slot = iota
	R           // 32-bit row
	Q           // 64-bit row
	P           // predicate
)

// Op is an entry of the registry.
type Op struct {
	Key  string
	Vec  Kernel
	One  One
	Dst  Slot
	Dst2 Slot // second result, in row E or F: a carry
	Src  [4]Slot

	// Compare marks comparisons: they write predicates D and E, either of which
	// may be NoPred, and combine with predicate C as Imm says.
	Compare bool
}

// Sources is the number of source operands.
func (o *Op) Sources() int {
	n := 0
	for n < len(o.Src) && o.Src[n] != NoSlot {
		n++
	}
	return n
}

// Lookup finds the kernel of a key such as "mad.lo.s32"; nil if there is none.
func Lookup(key string) *Op { return registry[key] }
