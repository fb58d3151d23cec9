package sampling

// This file has surfaces: the place of an access, and the formats that sust.p writes.

import (
	"encoding/binary"
	"fmt"
	"math"

	"gemu/interp/internal/fp"
	"gemu/texture"
)

// OutsideMode is the treatment of a surface access out of bounds (manual 9.7.11).
type OutsideMode uint8

// Treatments of accesses out of bounds.
const (
	Trap     OutsideMode = iota // a fault
	ToBorder                    // .clamp: accesses the nearest place
	Nothing                     // .zero: loads return zeros, stores are dropped
)

// Access is an access to a surface.
type Access struct {
	Geometry texture.Geometry
	Samples  bool // the lowest coordinate counts texels; else bytes
	Bytes    int  // accessed bytes; with Samples, 0 stands for a texel
	Outside  OutsideMode
}

// Fits reports whether instructions of a geometry may access the image as a surface: the faces of a cubemap count as
// layers.
func (t *Texture) Fits(g texture.Geometry) bool {
	return t.Geometry == g || t.Geometry.Cube() && g == texture.Image2DLayers
}

// PlaceResult is the outcome of Place.
type PlaceResult uint8

// Outcomes of Place.
const (
	Inside PlaceResult = iota
	Dropped
	OutOfBounds
	Misaligned
	BadShape
)

// Place returns the offset of the bytes that an access reaches in a surface with a single level.
func (t *Texture) Place(a *Access, coord [4]uint32) (offset uint64, result PlaceResult) {
	m := &t.Image
	if !t.Fits(a.Geometry) {
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
	pos := [4]int64{3: layer}
	for i := range a.Geometry.Dimensions() {
		pos[i] = int64(int32(c[i]))
	}
	if a.Samples {
		pos[0] *= int64(m.Format.Bytes())
	}
	for i := range pos {
		if pos[i] >= 0 && pos[i] <= last[i] {
			continue
		}
		switch {
		case a.Outside == Nothing:
			return 0, Dropped
		case a.Outside == Trap || last[i] < 0:
			return 0, OutOfBounds
		}
		if pos[i] = min(max(pos[i], 0), last[i]); i == 0 {
			pos[i] -= pos[i] % n
		}
	}
	if pos[0]%n != 0 {
		return 0, Misaligned
	}
	return m.Offset(0, int(pos[3]), 0, 0, int(pos[1]), int(pos[2])) + uint64(pos[0]), Inside
}

// Describe describes the target of an access, for messages.
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

// Encode writes a texel from the registers of sust.p (manual 9.7.11.2). Integers out of range become the nearest value
// in range (OpenCL 1.0 6.11.8, convert_uchar_sat); floats are rounded to nearest even. Channels without a register
// become 0, which the manual leaves undefined.
func Encode(f texture.Format, to []byte, values []uint32, normalized bool) {
	for i := range f.Channels {
		v := uint32(0)
		if i < len(values) {
			v = encodeChannel(f, values[i], normalized)
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

func encodeChannel(f texture.Format, v uint32, normalized bool) uint32 {
	upper := int64(1)<<f.Bits - 1
	lower := int64(0)
	if f.Kind == texture.Signed {
		upper >>= 1
		lower = -upper - 1
	}
	switch {
	case f.Kind == texture.Float && f.Bits == 16:
		return uint32(fp.F32ToF16(math.Float32frombits(v), fp.RN))
	case f.Kind == texture.Float:
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
	case f.Kind == texture.Signed:
		return uint32(min(max(int64(int32(v)), lower), upper))
	}
	return uint32(min(int64(v), upper))
}
