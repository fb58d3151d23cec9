package texture

// This file is surfaces: where an access goes, and the formats that sust.p writes.

import (
	"encoding/binary"
	"fmt"
	"math"

	"gemu/interp/internal/fp"
)

// OutsideMode is what becomes of an access to a surface that is out of bounds (manual 9.7.11).
type OutsideMode uint8

// The ways.
const (
	Trap     OutsideMode = iota // it is a fault
	ToBorder                    // .clamp: it goes to the nearest place
	Nothing                     // .zero: loads give zeros, stores are dropped
)

// Access is an access to a surface.
type Access struct {
	Geometry Geometry
	Samples  bool // the lowest coordinate counts texels, else bytes
	Bytes    int  // that are accessed; with Samples, 0 stands for a texel
	Outside  OutsideMode
}

// Fits reports whether instructions of a geometry may access the image as a surface: the
// layers of a cubemap are its faces.
func (m *Image) Fits(g Geometry) bool {
	return m.Geometry == g || m.Geometry.Cube() && g == GA2D
}

// PlaceResult is what Place has found.
type PlaceResult uint8

// The answers.
const (
	Inside PlaceResult = iota
	Dropped
	OutOfBounds
	Misaligned
	BadShape
)

// Place finds the bytes that an access goes to: from an offset on, in a surface of one level.
func (m *Image) Place(a *Access, coord [4]uint32) (offset uint64, w PlaceResult) {
	if !m.Fits(a.Geometry) {
		return 0, BadShape
	}
	c, layer := coord[:], int64(0)
	if a.Geometry.Layered() {
		layer, c = int64(c[0]), c[1:]
	}
	n := int64(a.Bytes)
	if n == 0 {
		n = int64(m.Format.Bytes())
	}
	size := m.Extent(0)
	last := [4]int64{int64(size[0])*int64(m.Format.Bytes()) - n, int64(size[1]) - 1, int64(size[2]) - 1, int64(m.Layers) - 1}
	at := [4]int64{3: layer}
	for i := range a.Geometry.Dimensions() {
		at[i] = int64(int32(c[i]))
	}
	if a.Samples {
		at[0] *= int64(m.Format.Bytes())
	}
	for i := range at {
		if at[i] >= 0 && at[i] <= last[i] {
			continue
		}
		switch {
		case a.Outside == Nothing:
			return 0, Dropped
		case a.Outside == Trap || last[i] < 0:
			return 0, OutOfBounds
		}
		if at[i] = min(max(at[i], 0), last[i]); i == 0 {
			at[i] -= at[i] % n
		}
	}
	if at[0]%n != 0 {
		return 0, Misaligned
	}
	return m.Offset(0, int(at[3]), 0, 0, int(at[1]), int(at[2])) + uint64(at[0]), Inside
}

// Describe says in words where an access wants to go.
func (a *Access) Describe(coord [4]uint32) string {
	c, s := coord[:], "at "
	if a.Geometry.Layered() {
		s = fmt.Sprintf("in layer %d at ", c[0])
		c = c[1:]
	}
	for i := range a.Geometry.Dimensions() {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%c = %d", "xyz"[i], int32(c[i]))
	}
	if !a.Samples {
		s += " (x in bytes)"
	}
	return s
}

// Encode writes a texel from the registers of sust.p (manual 9.7.11.2). Integers that do not
// fit become the nearest that does (OpenCL 1.0 6.11.8, convert_uchar_sat), floats the nearest,
// to even. Channels that no register has become 0, which the manual leaves open.
func (f Format) Encode(to []byte, values []uint32, normalized bool) {
	for i := range f.Channels {
		v := uint32(0)
		if i < len(values) {
			v = f.encodeChannel(values[i], normalized)
		}
		switch f.Bits {
		case 8:
			to[i] = byte(v)
		case 16:
			binary.LittleEndian.PutUint16(to[2*i:], uint16(v))
		default:
			binary.LittleEndian.PutUint32(to[4*i:], v)
		}
	}
}

func (f Format) encodeChannel(v uint32, normalized bool) uint32 {
	upper := int64(1)<<f.Bits - 1
	lower := int64(0)
	if f.Kind == Signed {
		upper >>= 1
		lower = -upper - 1
	}
	switch {
	case f.Kind == Float && f.Bits == 16:
		return uint32(fp.F32ToF16(math.Float32frombits(v), fp.RN))
	case f.Kind == Float:
		return v
	case normalized:
		x := float64(math.Float32frombits(v))
		if x != x {
			return 0
		}
		if lower != 0 {
			lower++
		}
		return uint32(int64(math.RoundToEven(min(max(x*float64(upper), float64(lower)), float64(upper)))))
	case f.Kind == Signed:
		return uint32(min(max(int64(int32(v)), lower), upper))
	}
	return uint32(min(int64(v), upper))
}
