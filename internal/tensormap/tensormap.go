package tensormap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// AllocClass is the name by which Replace changes the allocation class: 1 is large, 0 small.
const AllocClass = "alloc_class"

// Size is the size of a tensor map in bytes, and Align the required alignment of its address.
const (
	Size  = 128
	Align = 64
)

// Rank is the maximum number of dimensions of a tensor.
const Rank = 5

// Map is a decoded tensor map. The first dimension is the innermost.
type Map struct {
	Mode    Mode
	Type    Type
	Rank    int
	Address uint64
	Dim     [Rank]uint64     // in elements
	Stride  [Rank - 1]uint64 // in bytes, of dimensions 1 and up
	Box     [Rank]uint32     // in elements; for im2col channels per pixel, and pixels per column
	Step    [Rank]uint32     // traversal strides
	Lower   [3]int32         // lower corner of the bounding box in W, H and D, for im2col, relative to the tensor's first element
	Upper   [3]int32         // upper corner, relative to the tensor's last element

	Interleave Interleave
	Swizzle    Swizzle
	NaN        bool  // elements outside of the tensor are NaN instead of zero
	L2         uint8 // promotion, 0 to 3
	Large      bool  // the allocation class set by tensormap.replace

	given fields
}

// Mode is the shape of a map's boxes.
type Mode uint8

// The modes.
const (
	Tiled      Mode = iota
	Im2col          // pixels in a bounding box, row by row
	Im2colW         // pixels in a bounding box with a single row
	Im2colW128      // like Im2colW, with 128 pixels
	modeCount
)

func (m Mode) String() string {
	return [...]string{"tile", "im2col", "im2col::w", "im2col::w::128"}[m]
}

// Type is the type of elements, with the numbers of tensormap.replace (table 33).
type Type uint8

// The types.
const (
	U8 Type = iota
	U16
	U32
	S32
	U64
	S64
	F16
	F32
	F32Ftz // subnormal numbers are flushed to zero
	F64
	BF16
	TF32 // .f32 in global memory
	TF32Ftz
	B4x16    // 16 elements of 4 bits in 8 bytes
	B4x16P64 // like B4x16, with 8 bytes of padding in shared memory
	B6x16P32 // 16 elements of 6 bits in 12 bytes, with 4 bytes of padding in shared memory; stores take the low bits of bytes
	TypeCount
)

var types = [TypeCount]struct {
	name  string
	bits  int // width in global memory
	float bool
}{
	U8: {"u8", 8, false}, U16: {"u16", 16, false}, U32: {"u32", 32, false}, S32: {"s32", 32, false}, U64: {"u64", 64, false}, S64: {"s64", 64, false},
	F16: {"f16", 16, true}, F32: {"f32", 32, true}, F32Ftz: {"f32.ftz", 32, true}, F64: {"f64", 64, true}, BF16: {"bf16", 16, true},
	TF32: {"tf32", 32, true}, TF32Ftz: {"tf32.ftz", 32, true},
	B4x16: {"b4x16", 4, false}, B4x16P64: {"b4x16_p64", 4, false}, B6x16P32: {"b6x16_p32", 6, false},
}

// Types lists the types in the order of CUtensorMapDataType.
var Types = []Type{U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz, B4x16, B4x16P64, B6x16P32}

func (t Type) String() string { return types[t].name }

// TypeNamed returns the type with a name; ok is false if there is none.
func TypeNamed(name string) (t Type, ok bool) {
	for t := range TypeCount {
		if types[t].name == name {
			return t, true
		}
	}
	return 0, false
}

// Bits returns the width of an element in global memory.
func (t Type) Bits() int { return types[t].bits }

// Float reports whether elements are floats.
func (t Type) Float() bool { return types[t].float }

// Padded reports whether every 16 elements are followed by padding in shared memory.
func (t Type) Padded() bool { return t == B4x16P64 || t == B6x16P32 }

// sharedBits returns the width of an element in shared memory, with its part of the padding.
func (t Type) sharedBits() int {
	if t.Padded() {
		return 8
	}
	return t.Bits()
}

// Interleave is a layout in which channels are stored in slices (manual 5.5.6).
type Interleave uint8

// The layouts.
const (
	NoInterleave Interleave = iota
	Interleave16            // slices of 16 bytes
	Interleave32
	InterleaveCount
)

// fields is a set of required fields.
type fields uint32

const (
	hasAddress fields = 1 << iota
	hasRank
	hasBox    // the box of dimension 0; the bits of further dimensions follow
	hasDim    = hasBox << Rank
	hasStride = hasDim << Rank
	hasStep   = hasStride << (Rank - 1)
)

// magic is the beginning of a tensor map.
const magic = "gemu.tma"

// ErrNone is the error of bytes that are not a tensor map.
var ErrNone = errors.New("not a tensor map of gemu")

// Encode returns the bytes of the map, with all fields that its rank requires marked as present.
func (m *Map) Encode() (b [Size]byte) {
	n := *m
	n.given = n.requiredFields() | n.given
	n.encodeTo(b[:])
	return b
}

// requiredFields returns the fields that a map of the rank must have.
func (m *Map) requiredFields() fields {
	s := hasAddress | hasRank
	for i := range m.Rank {
		s |= hasDim<<i | hasStep<<i | hasBox<<i
		if i > 0 {
			s |= hasStride << (i - 1)
		}
	}
	return s
}

func (m *Map) encodeTo(b []byte) {
	le := binary.LittleEndian
	copy(b, magic)
	le.PutUint64(b[8:], m.Address)
	le.PutUint32(b[36:], uint32(m.given))
	for i := range Rank {
		le.PutUint32(b[16+4*i:], uint32(m.Dim[i]))
		le.PutUint16(b[72+2*i:], uint16(m.Box[i]))
		b[82+i] = byte(m.Step[i])
		if i > 0 {
			le.PutUint64(b[40+8*(i-1):], m.Stride[i-1])
		}
	}
	nan, large := byte(0), byte(0)
	if m.NaN {
		nan = 1
	}
	if m.Large {
		large = 1
	}
	copy(b[87:], []byte{byte(m.Rank), byte(m.Type), byte(m.Interleave), byte(m.Swizzle.Mode), byte(m.Swizzle.Atomicity), nan, m.L2, byte(m.Mode), large})
	for i := range m.Lower {
		le.PutUint16(b[96+2*i:], uint16(m.Lower[i]))
		le.PutUint16(b[102+2*i:], uint16(m.Upper[i]))
	}
}

// get decodes a map that may lack fields.
func get(b []byte) (*Map, error) {
	le := binary.LittleEndian
	if string(b[:len(magic)]) != magic || b[87] > Rank || Type(b[88]) >= TypeCount || Interleave(b[89]) >= InterleaveCount ||
		SwizzleMode(b[90]) >= SwizzleModeCount || Atomicity(b[91]) >= AtomicityCount || b[92] > 1 || b[93] > 3 || Mode(b[94]) >= modeCount || b[95] > 1 {
		return nil, ErrNone
	}
	m := &Map{
		Address: le.Uint64(b[8:]), given: fields(le.Uint32(b[36:])), Rank: int(b[87]), Type: Type(b[88]), Interleave: Interleave(b[89]),
		Swizzle: Swizzle{SwizzleMode(b[90]), Atomicity(b[91])}, NaN: b[92] != 0, L2: b[93], Mode: Mode(b[94]), Large: b[95] != 0,
	}
	for i := range Rank {
		m.Dim[i] = uint64(le.Uint32(b[16+4*i:]))
		if m.Dim[i] == 0 && m.given&(hasDim<<i) != 0 {
			m.Dim[i] = 1 << 32
		}
		m.Box[i], m.Step[i] = uint32(le.Uint16(b[72+2*i:])), uint32(b[82+i])
		if i > 0 {
			m.Stride[i-1] = le.Uint64(b[40+8*(i-1):])
		}
	}
	for i := range m.Lower {
		m.Lower[i], m.Upper[i] = int32(int16(le.Uint16(b[96+2*i:]))), int32(int16(le.Uint16(b[102+2*i:])))
	}
	return m, nil
}

// Decode decodes a map of Size bytes. The error is ErrNone, lists missing fields, or names an invalid field.
func Decode(b []byte) (*Map, error) { return DecodeWith(b, nil) }

// DecodeWith is Decode for a map some of whose properties a copy overrides: the map's own values of these may be
// missing or invalid.
func DecodeWith(b []byte, o *Override) (*Map, error) {
	m, err := get(b)
	if err == nil && o != nil {
		err = o.apply(m)
	}
	if err != nil {
		return nil, err
	}
	if missing := m.requiredFields() &^ m.given; missing != 0 {
		return nil, fmt.Errorf("a tensor map without %s", missing)
	}
	return m, m.Check()
}

// String lists the fields: "its rank, box_dim 0".
func (s fields) String() string {
	var list []string
	if s&hasAddress != 0 {
		list = append(list, "global_address")
	}
	if s&hasRank != 0 {
		list = append(list, "rank")
	}
	for _, f := range []struct {
		first fields
		name  string
		n     int
	}{{hasBox, "box_dim", Rank}, {hasDim, "global_dim", Rank}, {hasStride, "global_stride", Rank - 1}, {hasStep, "element_stride", Rank}} {
		for i := range f.n {
			if s&(f.first<<i) != 0 {
				list = append(list, fmt.Sprintf("%s %d", f.name, i))
			}
		}
	}
	return strings.Join(list, ", ")
}

// Large reports whether the allocation class of a tensor map of Size bytes is large. Fields may be missing.
func Large(b []byte) (bool, error) {
	m, err := get(b)
	if err != nil {
		return false, err
	}
	return m.Large, nil
}

// Replace sets a field of a tensor map of Size bytes, as tensormap.replace does (manual 9.7.9.27). ord is the ordinal
// for fields that exist several times. Zeros become a map with that field. It returns an error for an invalid value.
func Replace(b []byte, field string, ord int, value uint64) error {
	m := &Map{}
	if strings.Trim(string(b[:Size]), "\x00") != "" {
		var err error
		if m, err = get(b); err != nil {
			return err
		}
		if m.Mode != Tiled {
			return fmt.Errorf("a tensor map for .%s cannot be changed: only maps for .tile can", m.Mode)
		}
	}
	checkRange := func(n uint64) error {
		if value >= n {
			return fmt.Errorf(".%s of %d, want less than %d", field, value, n)
		}
		return nil
	}
	checkMax := func(count int, maximum uint64) error {
		switch {
		case ord < 0 || ord >= count:
			return fmt.Errorf(".%s %d, of %d that there are", field, ord, count)
		case value == 0 || value > maximum:
			return fmt.Errorf(".%s %d of %d, want 1 to %d", field, ord, value, maximum)
		}
		return nil
	}
	var err error
	switch field {
	case "global_address":
		m.Address, m.given = value, m.given|hasAddress
	case "rank":
		err = checkRange(Rank)
		m.Rank, m.given = int(value)+1, m.given|hasRank
	case "box_dim":
		if err = checkMax(Rank, maxBox); err == nil {
			m.Box[ord], m.given = uint32(value), m.given|hasBox<<ord
		}
	case "global_dim":
		if err = checkMax(Rank, 1<<32); err == nil {
			m.Dim[ord], m.given = value, m.given|hasDim<<ord
		}
	case "global_stride":
		if ord < 0 || ord >= Rank-1 {
			err = fmt.Errorf(".%s %d, of %d that there are", field, ord, Rank-1)
			break
		}
		m.Stride[ord], m.given = value, m.given|hasStride<<ord
	case "element_stride":
		if err = checkMax(Rank, maxStep); err == nil {
			m.Step[ord], m.given = uint32(value), m.given|hasStep<<ord
		}
	case "elemtype":
		err = checkRange(uint64(TypeCount))
		m.Type = Type(value)
	case "interleave_layout":
		err = checkRange(uint64(InterleaveCount))
		m.Interleave = Interleave(value)
	case "swizzle_mode":
		err = checkRange(uint64(SwizzleModeCount))
		m.Swizzle.Mode = SwizzleMode(value)
	case "swizzle_atomicity":
		err = checkRange(uint64(AtomicityCount))
		m.Swizzle.Atomicity = Atomicity(value)
	case "fill_mode":
		err = checkRange(2)
		m.NaN = value != 0
	case AllocClass:
		m.Large = value != 0
	default:
		panic("BUG: no field " + field)
	}
	if err == nil {
		m.encodeTo(b)
	}
	return err
}
