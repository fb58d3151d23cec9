package tensormap

// This file parses tensor maps in command lines and test cases.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
)

// Notation is the notation of a tensor map, for messages.
const Notation = "tma(BUFFER,TYPE[N],box=N{,strides=N}{,steps=N}{,swizzle=N}{,fill=nan}{,offset=N})"

// Cut splits a tensor map over a buffer, tma(BUFFER,…); ok is false if the text is not a tensor map.
func Cut(text string) (buffer, rest string, ok bool) {
	inner, ok := strings.CutPrefix(text, "tma(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !ok || !closed {
		return "", "", false
	}
	buffer, rest, _ = notation.Cut(inner, ",")
	return strings.TrimSpace(buffer), strings.TrimSpace(rest), true
}

// Parse parses the text after the buffer:
//
//	f16[64x32],box=8x32,swizzle=64
//
// Extents and all further values for each dimension begin with the outermost dimension, as in arrays, and are separated
// by x. These options follow in any order:
//
//	box=8x32       elements of the box
//	strides=64     bytes, of all dimensions except the innermost; default: no gaps
//	steps=1x1      traversal strides
//	swizzle=128    bytes: 32, 64, 96 or 128; 128/32, 128/64 and 128/32/8 with further atomicities
//	interleave=16  bytes: 16 or 32
//	fill=nan       elements outside of the tensor are NaN
//	offset=128     bytes from the start of the buffer to the tensor
//	mode=im2col    or im2col::w, im2col::w::128; in place of box, with
//	channels=8     per pixel
//	pixels=64      per column
//	lower=-1x-1    corners of the bounding box in D, H and W, or in W
//	upper=-1x-1
//
// The map's address is the offset. The caller, who knows the address of the buffer, must check the map. The error is a
// *notation.Error, which has the place in the text.
func Parse(text string) (m *Map, err error) {
	parts := strings.Split(text, ",")
	tensor := strings.TrimSpace(parts[0])
	m = &Map{}
	name, size, _ := strings.Cut(tensor, "[")
	size, closed := strings.CutSuffix(size, "]")
	var ok bool
	if m.Type, ok = TypeNamed(name); !ok || !closed {
		return nil, notation.At(strings.Index(text, tensor), fmt.Errorf("%q is not TYPE[N]; want %s", tensor, Notation))
	}
	dims, err := numbers(size, 1, Rank)
	if err != nil {
		return nil, notation.At(strings.Index(text, tensor), fmt.Errorf("%s: %w", tensor, err))
	}
	m.Rank = len(dims)
	for i, d := range dims {
		m.Dim[i], m.Step[i] = uint64(d), 1
	}
	stride := m.Dim[0] * uint64(m.Type.Bits()) / 8
	for i := 1; i < m.Rank; i++ {
		m.Stride[i-1] = stride
		stride *= m.Dim[i]
	}
	offset := 0
	for i, part := range parts {
		if option := strings.TrimSpace(part); i > 0 {
			if err := m.option(option); err != nil {
				return nil, notation.At(offset+strings.Index(part, option), fmt.Errorf("%s: %w", option, err))
			}
		}
		offset += len(part) + len(",")
	}
	return m, nil
}

// numbers parses numbers separated by x, and reverses their order.
func numbers(s string, minimum, maximum int) ([]int64, error) {
	var list []int64
	for _, f := range strings.Split(s, "x") {
		n, err := strconv.ParseInt(strings.TrimSpace(f), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", f)
		}
		list = append(list, n)
	}
	if len(list) < minimum || len(list) > maximum {
		return nil, fmt.Errorf("%d numbers, want %d to %d", len(list), minimum, maximum)
	}
	slices.Reverse(list)
	return list, nil
}

var swizzles = map[string]Swizzle{
	"none": {}, "32": {Swizzle32, Atom16}, "64": {Swizzle64, Atom16}, "96": {Swizzle96, Atom16}, "128": {Swizzle128, Atom16},
	"128/32": {Swizzle128, Atom32}, "128/32/8": {Swizzle128, Atom32Flip8}, "128/64": {Swizzle128, Atom64},
}

// option parses an option.
func (m *Map) option(s string) error {
	key, value, _ := strings.Cut(s, "=")
	each := func(n int, set func(i int, v int64)) error {
		list, err := numbers(value, n, n)
		for i, v := range list {
			set(i, v)
		}
		return err
	}
	corner := func(to *[3]int32) error {
		list, err := numbers(value, 1, max(m.Rank-2, 1))
		for i, v := range list {
			to[i] = int32(max(min(v, 1<<20), -1<<20))
		}
		return err
	}
	var ok bool
	switch key {
	case "box":
		return each(m.Rank, func(i int, v int64) { m.Box[i] = uint32(max(min(v, 1<<20), 0)) })
	case "steps":
		return each(m.Rank, func(i int, v int64) { m.Step[i] = uint32(max(min(v, 1<<20), 0)) })
	case "strides":
		return each(m.Rank-1, func(i int, v int64) { m.Stride[i] = uint64(v) })
	case "channels":
		return each(1, func(_ int, v int64) { m.Box[0] = uint32(max(min(v, 1<<20), 0)) })
	case "pixels":
		return each(1, func(_ int, v int64) { m.Box[1] = uint32(max(min(v, 1<<20), 0)) })
	case "offset":
		return each(1, func(_ int, v int64) { m.Address = uint64(v) })
	case "lower":
		return corner(&m.Lower)
	case "upper":
		return corner(&m.Upper)
	case "swizzle":
		if m.Swizzle, ok = swizzles[value]; !ok {
			return fmt.Errorf("want 32, 64, 96, 128, 128/32, 128/32/8 or 128/64")
		}
		return nil
	case "interleave":
		i := slices.Index([]string{"none", "16", "32"}, value)
		m.Interleave = Interleave(max(i, 0))
		if i < 0 {
			return fmt.Errorf("want 16 or 32")
		}
		return nil
	case "fill":
		if m.NaN = value == "nan"; !m.NaN && value != "zero" {
			return fmt.Errorf("want zero or nan")
		}
		return nil
	case "mode":
		for mode := range modeCount {
			if mode.String() == value {
				m.Mode = mode
				return nil
			}
		}
		return fmt.Errorf("want tile, im2col, im2col::w or im2col::w::128")
	}
	return fmt.Errorf("unknown; want %s", Notation)
}
