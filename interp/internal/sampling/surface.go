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
	Samples  bool // coordinate x is in texels, not in bytes
	Bytes    int  // number of bytes accessed; 0 stands for a whole texel
	Outside  OutsideMode
}

// Fits reports whether instructions of geometry g may access the image as a surface. Instructions for layered images may
// access cubes, whose faces are the layers.
func (t *Texture) Fits(g texture.Geometry) bool {
	return t.Geometry == g || t.Geometry.Cube() && g == texture.Image2DLayers
}

// PlaceResult is the outcome of Place.
type PlaceResult uint8

// Outcomes of Place.
const (
	Inside      PlaceResult = iota // the access is in the image
	Dropped                        // it is out of bounds and does nothing (.zero)
	OutOfBounds                    // it is out of bounds and faults
	Misaligned                     // its offset in a row is not a multiple of its size
	BadShape                       // the image does not fit the geometry of the instruction
)

// Place returns the offset, from the start of the image, of the bytes that an access reaches in a surface, which has a single
// level. coord has the coordinates as in registers; an index of a layer comes first.
func (t *Texture) Place(a *Access, coord [4]uint32) (offset uint64, result PlaceResult) {
	img := &t.Image
	if !t.Fits(a.Geometry) {
		return 0, BadShape
	}
	c, layer := coord[:], int64(0)
	if a.Geometry.Layered() {
		layer, c = int64(c[0]), c[1:]
	}
	size := int64(a.Bytes)
	if size == 0 {
		size = int64(img.Format.Bytes())
	}
	extent := img.Extent(0)
	last := [4]int64{int64(extent[0])*int64(img.Format.Bytes()) - size, int64(extent[1]) - 1, int64(extent[2]) - 1, int64(img.Layers) - 1}
	pos := [4]int64{3: layer}
	for i := range a.Geometry.Dimensions() {
		pos[i] = int64(int32(c[i]))
	}
	if a.Samples {
		pos[0] *= int64(img.Format.Bytes())
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
			pos[i] -= pos[i] % size
		}
	}
	if pos[0]%size != 0 {
		return 0, Misaligned
	}
	return img.Offset(0, int(pos[3]), 0, 0, int(pos[1]), int(pos[2])) + uint64(pos[0]), Inside
}

// Describe returns the coordinates of an access as text, for messages.
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

// Encode writes a texel of format f to to, from the registers of sust.p (manual 9.7.11.2). normalized states that integer
// channels are written from floats. Integers out of range become the nearest value in range (OpenCL 1.0 6.11.8,
// convert_uchar_sat); floats are rounded to nearest even. Channels without a register, which the manual leaves undefined,
// become 0.
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

// encodeChannel returns the bits of a channel that is written from register v.
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
