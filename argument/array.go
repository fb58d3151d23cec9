package argument

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"gemu/interp"
	"gemu/ptx"
)

// Array is typed data in memory: elements in little-endian byte order, the last dimension contiguous.
type Array struct {
	Type  ptx.Type // type of an element: u8, s8, u16, s16, f16, bf16, u32, s32, f32, u64, s64 or f64
	Shape []int    // elements of each dimension, the slowest first
	Data  []byte   // elements; its length is the product of Shape and the size of Type
}

// elementTypes are the element types of arrays, by name.
var elementTypes = map[string]ptx.Type{
	"u8": ptx.U8, "s8": ptx.S8, "u16": ptx.U16, "s16": ptx.S16, "f16": ptx.F16, "bf16": ptx.BF16,
	"u32": ptx.U32, "s32": ptx.S32, "f32": ptx.F32, "u64": ptx.U64, "s64": ptx.S64, "f64": ptx.F64,
}

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.Data) / a.Type.Size() }

// Bits returns element i as bits, zero-extended to 64.
func (a *Array) Bits(i int) uint64 {
	p := a.Data[i*a.Type.Size():]
	switch a.Type.Size() {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

// SetBits sets element i to the low bits of v.
func (a *Array) SetBits(i int, v uint64) {
	p := a.Data[i*a.Type.Size():]
	switch a.Type.Size() {
	case 1:
		p[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}

// Float returns element i as a float64. Only large 64-bit integers are rounded.
func (a *Array) Float(i int) float64 {
	v := a.Bits(i)
	switch a.Type {
	case ptx.F16:
		return interp.Float16(uint16(v))
	case ptx.BF16:
		return interp.BFloat16(uint16(v))
	case ptx.F32:
		return float64(math.Float32frombits(uint32(v)))
	case ptx.F64:
		return math.Float64frombits(v)
	}
	if a.Type.IsSigned() {
		n := 64 - a.Type.Bits()
		return float64(int64(v<<n) >> n)
	}
	return float64(v)
}

// SetFloat sets element i to f, rounded to the type.
func (a *Array) SetFloat(i int, f float64) {
	switch a.Type {
	case ptx.F16:
		a.SetBits(i, uint64(interp.Float16Bits(f)))
	case ptx.BF16:
		a.SetBits(i, uint64(interp.BFloat16Bits(f)))
	case ptx.F32:
		a.SetBits(i, uint64(math.Float32bits(float32(f))))
	case ptx.F64:
		a.SetBits(i, math.Float64bits(f))
	default:
		a.SetBits(i, uint64(int64(f)))
	}
}

// Format returns element i as text.
func (a *Array) Format(i int) string {
	switch {
	case a.Type == ptx.F64:
		return strconv.FormatFloat(a.Float(i), 'g', -1, 64)
	case a.Type == ptx.F16 || a.Type == ptx.BF16:
		return strconv.FormatFloat(a.Float(i), 'g', 5, 32)
	case a.Type.IsFloat():
		return strconv.FormatFloat(a.Float(i), 'g', -1, 32)
	case a.Type.IsSigned():
		n := 64 - a.Type.Bits()
		return strconv.FormatInt(int64(a.Bits(i)<<n)>>n, 10)
	}
	return strconv.FormatUint(a.Bits(i), 10)
}

// Print writes the elements as text. A line has the elements along the last dimension; of a one-dimensional array it has 16
// elements.
func (a *Array) Print(w io.Writer) error {
	lineElements := 16
	if n := len(a.Shape); n > 1 && a.Shape[n-1] > 0 {
		lineElements = a.Shape[n-1]
	}
	var b bytes.Buffer
	for i := range a.Len() {
		b.WriteString(a.Format(i))
		if (i+1)%lineElements == 0 || i+1 == a.Len() {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
