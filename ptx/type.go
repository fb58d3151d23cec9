package ptx

import (
	"fmt"
	"strings"
)

// Type is a PTX type: the type of a register, a variable or an instruction (manual section 5.2).
type Type uint8

// The types. The number in a name is the width in bits; Pred has 1 bit. The names of narrow floats such as E4M3 give
// the bits of exponent and fraction (manual 5.2.3); S2F6 is a fixed-point number (5.2.4). They have 8 bits, except E2M1
// with 4; E3M2 and E2M3 use 6 of the 8. A name with xN is a packed type, N numbers in a bit container (5.2.5). TexRef,
// SamplerRef and SurfRef are references of 64 bits (5.3).
const (
	NoType Type = iota
	Pred        // 1 bit
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	BF16
	F32
	F64
	TF32
	U16x2
	S16x2
	U8x4
	S8x4
	F16x2
	BF16x2
	F32x2
	E4M3
	E5M2
	E3M2
	E2M3
	E2M1
	UE8M0
	S2F6
	UE5M3
	E4M3x2
	E5M2x2
	E3M2x2
	E2M3x2
	E2M1x2
	UE8M0x2
	S2F6x2
	UE5M3x2
	E4M3x4
	E5M2x4
	E3M2x4
	E2M3x4
	E2M1x4
	E2M1p4x4
	UE8M0x4
	B1
	U2
	S2
	U4
	S4
	B1024
	TexRef
	SamplerRef
	SurfRef
	typeCount
)

// Kind is the interpretation of a type's bits.
type Kind uint8

// The kinds of a type.
const (
	Opaque   Kind = iota // texref, samplerref, surfref
	Bits                 // .bX: untyped, and the packed containers
	Unsigned             // .uX
	Signed               // .sX
	Float                // .fX, .bf16, .tf32, and the formats of 8, 6 and 4 bits, including a fixed-point format
	Boolean              // .pred
)

var typeInfo = [typeCount]struct {
	name string
	bits int
	kind Kind
}{
	NoType:     {"?", 0, Opaque},
	Pred:       {"pred", 1, Boolean},
	B8:         {"b8", 8, Bits},
	B16:        {"b16", 16, Bits},
	B32:        {"b32", 32, Bits},
	B64:        {"b64", 64, Bits},
	B128:       {"b128", 128, Bits},
	U8:         {"u8", 8, Unsigned},
	U16:        {"u16", 16, Unsigned},
	U32:        {"u32", 32, Unsigned},
	U64:        {"u64", 64, Unsigned},
	S8:         {"s8", 8, Signed},
	S16:        {"s16", 16, Signed},
	S32:        {"s32", 32, Signed},
	S64:        {"s64", 64, Signed},
	F16:        {"f16", 16, Float},
	BF16:       {"bf16", 16, Float},
	F32:        {"f32", 32, Float},
	F64:        {"f64", 64, Float},
	TF32:       {"tf32", 32, Float},
	U16x2:      {"u16x2", 32, Bits},
	S16x2:      {"s16x2", 32, Bits},
	U8x4:       {"u8x4", 32, Bits},
	S8x4:       {"s8x4", 32, Bits},
	F16x2:      {"f16x2", 32, Bits},
	BF16x2:     {"bf16x2", 32, Bits},
	F32x2:      {"f32x2", 64, Bits},
	E4M3:       {"e4m3", 8, Float},
	E5M2:       {"e5m2", 8, Float},
	E3M2:       {"e3m2", 8, Float},
	E2M3:       {"e2m3", 8, Float},
	E2M1:       {"e2m1", 4, Float},
	UE8M0:      {"ue8m0", 8, Float},
	S2F6:       {"s2f6", 8, Float},
	UE5M3:      {"ue5m3", 8, Float},
	E4M3x2:     {"e4m3x2", 16, Bits},
	E5M2x2:     {"e5m2x2", 16, Bits},
	E3M2x2:     {"e3m2x2", 16, Bits},
	E2M3x2:     {"e2m3x2", 16, Bits},
	E2M1x2:     {"e2m1x2", 8, Bits},
	UE8M0x2:    {"ue8m0x2", 16, Bits},
	S2F6x2:     {"s2f6x2", 16, Bits},
	UE5M3x2:    {"ue5m3x2", 16, Bits},
	E4M3x4:     {"e4m3x4", 32, Bits},
	E5M2x4:     {"e5m2x4", 32, Bits},
	E3M2x4:     {"e3m2x4", 32, Bits},
	E2M3x4:     {"e2m3x4", 32, Bits},
	E2M1x4:     {"e2m1x4", 16, Bits},
	E2M1p4x4:   {"e2m1p4x4", 32, Bits},
	UE8M0x4:    {"ue8m0x4", 32, Bits},
	B1:         {"b1", 1, Bits},
	U2:         {"u2", 2, Unsigned},
	S2:         {"s2", 2, Signed},
	U4:         {"u4", 4, Unsigned},
	S4:         {"s4", 4, Signed},
	B1024:      {"b1024", 1024, Bits},
	TexRef:     {"texref", 64, Opaque},
	SamplerRef: {"samplerref", 64, Opaque},
	SurfRef:    {"surfref", 64, Opaque},
}

var typeByName = func() map[string]Type {
	m := make(map[string]Type, typeCount)
	for t := NoType + 1; t < typeCount; t++ {
		m[typeInfo[t].name] = t
	}
	return m
}()

// TypeByName returns the type with the name, given without the dot; NoType if there is none.
func TypeByName(name string) Type { return typeByName[name] }

// Bits returns the width in bits; 0 for NoType.
func (t Type) Bits() int { return typeInfo[t].bits }

// Size returns the width in bytes, rounded up.
func (t Type) Size() int { return (typeInfo[t].bits + 7) / 8 }

// Kind returns the interpretation of the bits.
func (t Type) Kind() Kind { return typeInfo[t].kind }

// IsInt reports whether t is .uX or .sX.
func (t Type) IsInt() bool { k := t.Kind(); return k == Unsigned || k == Signed }

// IsSigned reports whether t is .sX.
func (t Type) IsSigned() bool { return t.Kind() == Signed }

// IsFloat reports whether t is a scalar of Kind Float: a floating-point type, or a format of few bits.
func (t Type) IsFloat() bool { return t.Kind() == Float }

// String returns the type in PTX notation, with the dot.
func (t Type) String() string {
	if t >= typeCount {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return "." + typeInfo[t].name
}

// IsFundamental reports whether variables can be declared with the type, in registers and, except .pred, in memory
// (manual 5.2.1). The remaining types are formats for registers of a .b type, read and written by some instructions
// (5.2.3, 5.2.5).
func (t Type) IsFundamental() bool {
	switch t {
	case Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, F32, F64:
		return true
	}
	return false
}

// Elements returns the element type and number of elements of a packed type such as .e4m3x2; t and 1 for any type that
// is not packed. Each element of .e2m1p4x4 has four zero bits above it.
func (t Type) Elements() (Type, int) {
	name := typeInfo[t].name
	if i := strings.LastIndexByte(name, 'x'); i > 0 && i == len(name)-2 {
		return typeByName[strings.TrimSuffix(name[:i], "p4")], int(name[i+1] - '0')
	}
	return t, 1
}

// packed reports whether t is a packed type of integers, or of floats with 16 or 32 bits. It is false for packed formats
// of fewer bits, such as .e4m3x2.
func (t Type) packed() bool {
	switch t {
	case U16x2, S16x2, U8x4, S8x4, F16x2, BF16x2, F32x2:
		return true
	}
	return false
}

// packedIn reports whether registers of type r can hold a packed value of type t: untyped registers can, and .f16x2
// registers can hold 16-bit elements, except .bf16x2. This is the rule of NVIDIA's assembler; the manual requires .b32
// and .b64 (9.7.4).
func (t Type) packedIn(r Type) bool {
	return r == bitsOf(r.Bits()) || r == F16x2 && t.packed() && t != BF16x2
}

// Wide returns the integer type of twice the width; NoType if PTX has none.
func (t Type) Wide() Type {
	switch t {
	case U16:
		return U32
	case S16:
		return S32
	case U32:
		return U64
	case S32:
		return S64
	}
	return NoType
}

// agrees reports whether a register of type r is allowed where an instruction requires type t (manual 9.4, "operand
// type checking"). If wider is true, r may be wider than t, as in ld, st and cvt (9.4.1).
func (t Type) agrees(r Type, wider bool) bool {
	if t == Pred || r == Pred {
		return t == r
	}
	tb, rb := t.Bits(), r.Bits()
	if tb != rb && !(wider && rb > tb) {
		return false
	}
	tk, rk := t.Kind(), r.Kind()
	switch {
	case r == F16x2:
		return tk != Float
	case tk == Bits || rk == Bits:
		return true
	case tk == Float || rk == Float:
		return t == r // .bf16 is allowed only in untyped registers
	default:
		return true
	}
}

// passesTo reports whether a call may pass a value of type t to a parameter of type p of the same size. A float cannot
// be passed as an integer, nor an integer as a float. The manual does not say so; NVIDIA's assembler checks it, and
// treats .f16x2 as untyped.
func (t Type) passesTo(p Type) bool {
	float := func(t Type) bool { return t.Kind() == Float && t != F16x2 }
	return !(float(t) && p.IsInt()) && !(t.IsInt() && float(p))
}

// sharesVectorWith reports whether registers of types t and r may be in the same vector. They must have the same width;
// unless either is untyped, they must have the same type or be integers.
func (t Type) sharesVectorWith(r Type) bool {
	switch {
	case t.Bits() != r.Bits() || t == Pred || r == Pred:
		return t == r
	case t == bitsOf(t.Bits()) || r == bitsOf(r.Bits()):
		return true
	}
	return t == r || t.IsInt() && r.IsInt()
}

// holdsAddress reports whether a register of type t may hold an address: an integer or untyped register of 32 or 64
// bits (manual 6.4.1).
func (t Type) holdsAddress() bool {
	return (t.IsInt() || t == bitsOf(t.Bits())) && (t.Bits() == 32 || t.Bits() == 64)
}

// Space is a state space (manual section 5.1).
type Space uint8

// The state spaces. Generic is the space of an address for which the instruction names no space. RegSpace is .reg, and
// SReg are the special registers. Param is the memory of parameters: of the kernel, or of a call in a device function.
const (
	Generic Space = iota
	RegSpace
	SReg
	Const
	Global
	Local
	Param
	Shared
	spaceCount
)

var spaceNames = [spaceCount]string{"generic", "reg", "sreg", "const", "global", "local", "param", "shared"}

// String returns the space in PTX notation, without the dot.
func (s Space) String() string { return spaceNames[s] }

// spaceByName parses a space with an optional sub-qualifier, such as "shared::cta" or "param::entry".
func spaceByName(name string) (s Space, sub string, ok bool) {
	base := name
	for i := 0; i+1 < len(name); i++ {
		if name[i] == ':' && name[i+1] == ':' {
			base, sub = name[:i], name[i+2:]
			break
		}
	}
	for s := RegSpace; s < spaceCount; s++ {
		if spaceNames[s] == base {
			return s, sub, true
		}
	}
	return 0, "", false
}

// Version is a PTX ISA version, as in ".version 8.5": Major is 8, Minor is 5. The zero Version means none.
type Version struct{ Major, Minor int }

// Less reports whether v is an earlier version than w.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
