package argument

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gemu/internal/notation"
	"gemu/internal/tensormap"
	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

// Value is an argument as parsed: a [Number], [Bytes], [Reference], [Filled], [File], [Object] or [TensorMap].
type Value interface{ value() }

func (Number) value()    {}
func (Bytes) value()     {}
func (Reference) value() {}
func (Filled) value()    {}
func (File) value()      {}
func (Object) value()    {}
func (TensorMap) value() {}

// Number is the text of a number. The type of the parameter determines its value: see [Number.Bits].
type Number string

// Bytes are the bytes of a parameter, in the order of memory.
type Bytes []byte

// Reference is the number of an argument, from 0; it means the buffer of this argument.
type Reference int

// TensorMap is a tensor map over a buffer.
type TensorMap struct {
	Buffer Value  // a Reference, or a new buffer: Filled or File
	Map    string // text of the tensor and the options; over a new buffer, the tensor may be left out

	offset int // offset of Map in the argument, in bytes
}

// errWantObject is the error of a different argument for a parameter or variable that needs a texture, surface or sampler.
var errWantObject = errors.New("want tex.GEOMETRY(…), surf.GEOMETRY(…) or sampler(…)")

// Parse parses an argument. The error is an *Error with Index -1.
func Parse(text string) (Value, error) {
	v, err := parse(text)
	if err != nil {
		return nil, locate(text, err)
	}
	return v, nil
}

// parse is Parse, with an error that locate converts to an *Error.
func parse(text string) (Value, error) {
	if number, ok := strings.CutPrefix(text, "&"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return nil, errors.New("& must be followed by the number of an earlier argument")
		}
		return Reference(n), nil
	}
	if interp.IsObjectText(text) {
		return parseObject(text, texture.DefaultSampler(), false)
	}
	if strings.HasPrefix(text, "tma(") {
		return parseTensorMap(text)
	}
	if digits, ok := strings.CutPrefix(text, "bytes:"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, at(len("bytes:"), errors.New("bytes: must be followed by two hexadecimal digits for each byte"))
		}
		return Bytes(b), nil
	}
	if strings.HasPrefix(text, "@") || strings.Contains(text, "[") {
		return parseContents(text)
	}
	return Number(text), nil
}

// parseTensorMap parses tma(BUFFER,MAP).
func parseTensorMap(text string) (Value, error) {
	buffer, options, ok := tensormap.Cut(text)
	if !ok {
		return nil, fmt.Errorf("want %s", tensormap.Notation)
	}
	t := TensorMap{Map: options, offset: strings.LastIndex(text, options)}
	switch n, err := strconv.Atoi(buffer); {
	case err == nil && n >= 0:
		t.Buffer = Reference(n)
	case !strings.HasPrefix(buffer, "@") && !strings.Contains(buffer, "["):
		return nil, at(len("tma("), fmt.Errorf("%q is not a buffer; want %s", buffer, tensormap.Notation))
	default:
		if t.Buffer, err = parseContents(buffer); err != nil {
			return nil, at(strings.Index(text, buffer), err)
		}
	}
	if f, ok := t.Buffer.(Filled); ok {
		mapText := t.textOver(f.Type, f.Shape)
		if _, err := tensormap.Parse(mapText); err != nil {
			return nil, t.place(mapText, err)
		}
	}
	return t, nil
}

// textOver returns the text of the map over a new buffer with elements of the type and shape; it includes the tensor.
func (t *TensorMap) textOver(typ ptx.Type, shape []int) string {
	if first, _, _ := strings.Cut(t.Map, ","); strings.Contains(first, "[") {
		return t.Map
	}
	return tensorText(typ, shape) + "," + t.Map
}

// place converts an error whose place is an offset in text, which ends with Map, to an error with an offset in the argument.
func (t *TensorMap) place(text string, err error) error {
	var e *notation.Error
	if !errors.As(err, &e) {
		return err
	}
	return &notation.Error{Offset: max(t.offset+e.Offset-(len(text)-len(t.Map)), 0), Err: err}
}

// tensorText returns an array as the tensor in the text of a tensor map, such as "f32[4x8]". Tensor maps have no signed
// integers of 8 and 16 bits; it writes unsigned ones.
func tensorText(typ ptx.Type, shape []int) string {
	name := strings.TrimPrefix(typ.String(), ".")
	if typ == ptx.S8 || typ == ptx.S16 {
		name = "u" + name[1:]
	}
	var extents []string
	for _, n := range shape {
		extents = append(extents, strconv.Itoa(n))
	}
	return fmt.Sprintf("%s[%s]", name, strings.Join(extents, "x"))
}

// Bits returns the number as the bits of a type, zero-extended to 64. Floats are rounded to f64, then to the type. For an
// untyped type such as b32, the number may be an integer, or a float of the same width.
func (n Number) Bits(typ ptx.Type) (uint64, error) {
	typ = n.typeFor(typ)
	if typ.IsFloat() {
		return n.floatBits(typ)
	}
	return n.integerBits(typ)
}

// typeFor returns the type of the number for a parameter of type t: t, or the integer or float type as wide as t if t is
// untyped.
func (n Number) typeFor(t ptx.Type) ptx.Type {
	if t.Kind() != ptx.Bits {
		return t
	}
	types := map[int][2]ptx.Type{8: {ptx.U8, ptx.U8}, 16: {ptx.U16, ptx.F16}, 32: {ptx.U32, ptx.F32}, 64: {ptx.U64, ptx.F64}}[t.Bits()]
	if _, err := strconv.ParseInt(string(n), 0, 64); err == nil {
		return types[0]
	}
	if _, err := strconv.ParseUint(string(n), 0, 64); err == nil {
		return types[0]
	}
	return types[1]
}

// floatBits is Bits for a float type.
func (n Number) floatBits(typ ptx.Type) (uint64, error) {
	f, err := strconv.ParseFloat(string(n), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is too large for a float", string(n))
	}
	if err != nil { // such as 0x2a
		if u, err := strconv.ParseUint(string(n), 0, 64); err == nil {
			f = float64(u)
		} else if i, err := strconv.ParseInt(string(n), 0, 64); err == nil {
			f = float64(i)
		} else {
			return 0, fmt.Errorf("%q is not a number", string(n))
		}
	}
	one := Array{Type: typ, Data: make([]byte, typ.Size())}
	one.SetFloat(0, f)
	return one.Bits(0), nil
}

// integerBits is Bits for an integer type.
func (n Number) integerBits(typ ptx.Type) (uint64, error) {
	bits := typ.Bits()
	if u, err := strconv.ParseUint(string(n), 0, 64); err == nil {
		if bits < 64 && u>>bits != 0 {
			return 0, fmt.Errorf("%s does not fit in %d bits", string(n), bits)
		}
		return u, nil
	}
	i, err := strconv.ParseInt(string(n), 0, 64)
	if err != nil {
		if _, err := strconv.ParseFloat(string(n), 64); err == nil {
			return 0, fmt.Errorf("%s is not an integer", string(n))
		}
		return 0, fmt.Errorf("%q is not a number", string(n))
	}
	if bits < 64 && i < -1<<(bits-1) {
		return 0, fmt.Errorf("%s does not fit in %d bits", string(n), bits)
	}
	return uint64(i) & (1<<bits - 1), nil
}
