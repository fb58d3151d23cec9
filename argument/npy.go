package argument

// This file reads and writes the .npy format of NumPy (NEP 1), versions 1 to 3, with arrays in C order.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/ptx"
)

// npyTypes are the element types by the names of NumPy.
var npyTypes = map[string]ptx.Type{
	"u1": ptx.U8, "i1": ptx.S8, "u2": ptx.U16, "i2": ptx.S16, "u4": ptx.U32, "i4": ptx.S32, "u8": ptx.U64, "i8": ptx.S64,
	"f2": ptx.F16, "f4": ptx.F32, "f8": ptx.F64, "b1": ptx.U8,
}

var npyMagic = []byte("\x93NUMPY")

// npyHeader is the dictionary in the header of a .npy file.
type npyHeader struct {
	bigEndian bool
	descr     string // type of an element, without the byte order: f4
	fortran   bool
	shape     string // extents, separated by commas
}

// parseNPYHeader parses the text of a header.
func parseNPYHeader(text string) (h npyHeader, ok bool) {
	// value returns the text after a key.
	value := func(key string) string {
		const spaces = " \t\n\f\r"
		_, rest, _ := strings.Cut(text, "'"+key+"'")
		rest, found := strings.CutPrefix(strings.TrimLeft(rest, spaces), ":")
		ok = ok && found
		return strings.TrimLeft(rest, spaces)
	}
	ok = true
	descr, order, shape := value("descr"), value("fortran_order"), value("shape")
	descr, quoted := strings.CutPrefix(descr, "'")
	descr, _, closed := strings.Cut(descr, "'")
	if descr != "" && strings.Contains("<>|=", descr[:1]) {
		h.bigEndian, descr = descr[0] == '>', descr[1:]
	}
	h.descr = descr
	h.fortran = strings.HasPrefix(order, "True")
	shape, opened := strings.CutPrefix(shape, "(")
	extents, _, ended := strings.Cut(shape, ")")
	h.shape = extents
	return h, ok && quoted && closed && opened && ended && (h.fortran || strings.HasPrefix(order, "False")) && strings.Trim(extents, "0123456789, \t\n\f\r") == "" &&
		len(descr) >= 2 && 'a' <= descr[0] && descr[0] <= 'z' && strings.Trim(descr[1:], "0123456789") == ""
}

// DecodeNPY decodes a .npy file. The array shares the memory of b, in which DecodeNPY may reverse the byte order.
func DecodeNPY(b []byte) (*Array, error) {
	if !bytes.HasPrefix(b, npyMagic) || len(b) < 10 {
		return nil, fmt.Errorf("this is not a .npy file")
	}
	head, start := 0, 0
	switch b[6] {
	case 1:
		head, start = int(binary.LittleEndian.Uint16(b[8:])), 10
	case 2, 3:
		if len(b) < 12 {
			return nil, fmt.Errorf("the .npy file ends inside its header")
		}
		head, start = int(binary.LittleEndian.Uint32(b[8:])), 12
	default:
		return nil, fmt.Errorf("version %d of the .npy format is not supported; versions 1 to 3 are", b[6])
	}
	if head > len(b)-start {
		return nil, fmt.Errorf("the .npy file ends inside its header")
	}
	text := string(b[start : start+head])
	h, ok := parseNPYHeader(text)
	if !ok {
		return nil, fmt.Errorf("the .npy header is invalid: %q", strings.TrimSpace(text))
	}
	a := &Array{Type: npyTypes[h.descr], Data: b[start+head:]}
	if a.Type == ptx.NoType {
		return nil, fmt.Errorf("elements of type %s are not supported", h.descr)
	}
	n := a.Type.Size()
	for _, s := range strings.Split(h.shape, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		d, err := strconv.Atoi(s)
		if err != nil || d < 0 || d > 0 && n > 1<<40/d {
			return nil, fmt.Errorf("the shape (%s) is invalid or too large", h.shape)
		}
		a.Shape = append(a.Shape, d)
		n *= d
	}
	if h.fortran && len(a.Shape) > 1 {
		return nil, fmt.Errorf("the array is in Fortran order; save it with numpy.ascontiguousarray")
	}
	if len(a.Data) < n {
		return nil, fmt.Errorf("the .npy file has %d bytes of data, but its header says %d", len(a.Data), n)
	}
	a.Data = a.Data[:n:n]
	if h.bigEndian {
		for i, size := 0, a.Type.Size(); i < n; i += size {
			slices.Reverse(a.Data[i : i+size])
		}
	}
	return a, nil
}

// EncodeNPY encodes an array as a .npy file. NumPy has no bf16: such elements are written as u16.
func EncodeNPY(a *Array) []byte {
	descr := ""
	for name, t := range npyTypes {
		if t == a.Type && name != "b1" {
			descr = "<" + name
		}
	}
	switch {
	case a.Type == ptx.BF16:
		descr = "<u2"
	case a.Type.Size() == 1:
		descr = "|" + descr[1:]
	}
	dims := make([]string, len(a.Shape))
	for i, d := range a.Shape {
		dims[i] = strconv.Itoa(d)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	head += "\n"
	var b bytes.Buffer
	b.Write(npyMagic)
	b.Write([]byte{1, 0})
	binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	b.WriteString(head)
	b.Write(a.Data)
	return b.Bytes()
}
