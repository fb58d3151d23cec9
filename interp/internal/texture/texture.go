// Package texture is textures and surfaces: what images are made of and how they lie in
// memory, and what a texture instruction fetches from one.
//
// An Image is texels in one, two or three dimensions, in layers, in the faces of cubes, in
// mipmap levels, each of one, two or four channels. A Texture is an image with a Sampler,
// which says what coordinates mean and how texels become a result. Lookup is tex and tld4,
// Place finds the bytes of an access to a surface, Query what txq and suq ask for.
//
// What is computed is what the CUDA C++ Programming Guide gives in "Texture Fetching":
// sums of texels with weights of 8 fractional bits. A sum is that of the formula, exactly,
// and is rounded once, to .f32. Where the guide and the PTX manual (5.3, 9.7.10, 9.7.11) are
// silent, the rule is stated where it is implemented; docs/textures.md has them all.
//
// The package knows nothing of warps, addresses or instructions' operands.
package texture

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Geometry is the shape of an image, or the one that an instruction expects.
type Geometry uint8

// The geometries.
const (
	NoGeometry Geometry = iota
	G1D
	G2D
	G3D
	GA1D // in layers
	GA2D
	GCube
	GACube
	G2DMS // with several samples to a texel
	GA2DMS
)

var geometryNames = [...]string{"?", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"}

func (g Geometry) String() string { return geometryNames[g] }

// GeometryNamed is the geometry of a modifier such as "a2d".
func GeometryNamed(name string) Geometry {
	for g, n := range geometryNames {
		if n == name {
			return Geometry(g)
		}
	}
	return NoGeometry
}

// Dimensions is the number of spatial dimensions of a layer, or of a face.
func (g Geometry) Dimensions() int {
	return [...]int{0, 1, 2, 3, 1, 2, 2, 2, 2, 2}[g]
}

// Layered reports whether coordinates begin with the index of a layer.
func (g Geometry) Layered() bool { return g == GA1D || g == GA2D || g == GACube || g == GA2DMS }

// Cube reports whether the layers are faces of cubes.
func (g Geometry) Cube() bool { return g == GCube || g == GACube }

// Multisample reports whether a texel has several samples.
func (g Geometry) Multisample() bool { return g == G2DMS || g == GA2DMS }

// Kind is what the channels of a texel are.
type Kind uint8

// The kinds.
const (
	Unsigned Kind = iota
	Signed
	Float
)

func (k Kind) String() string { return [...]string{"u", "s", "f"}[k] }

// Format is what a texel is: so many channels of so many bits.
type Format struct {
	Channels int // 1, 2 or 4
	Bits     int // 8, 16 or 32; 16 or 32 of Float
	Kind     Kind
}

// Bytes is the size of a texel.
func (f Format) Bytes() int { return f.Channels * f.Bits / 8 }

// Channel is the name of a channel's type, as in "u8" or "f32".
func (f Format) Channel() string { return f.Kind.String() + strconv.Itoa(f.Bits) }

// String is the format as in "u8x4" or "f32".
func (f Format) String() string {
	if f.Channels == 1 {
		return f.Channel()
	}
	return fmt.Sprintf("%sx%d", f.Channel(), f.Channels)
}

// Valid reports whether there is such a format.
func (f Format) Valid() bool {
	switch {
	case f.Channels != 1 && f.Channels != 2 && f.Channels != 4:
		return false
	case f.Kind == Float:
		return f.Bits == 16 || f.Bits == 32
	}
	return f.Kind < Float && (f.Bits == 8 || f.Bits == 16 || f.Bits == 32)
}

// Image is the shape of texels in memory. Extents that the geometry does not have are 1.
type Image struct {
	Geometry Geometry
	Format   Format
	Width    int // in texels, of level 0
	Height   int
	Depth    int
	Layers   int // of cubes six for each; 1 if the geometry has none
	Levels   int // of a mipmap, 1 without
	Samples  int // of a texel
	Pitch    int // bytes from row to row, of pitched memory; 0: rows follow one another
	// LinearMemory is what texels outside are 0 of, and never filtered.
	LinearMemory bool
}

// levelAlign is what a mipmap level begins at a multiple of: "A surface base address is
// assumed to be aligned to a 16 byte boundary" (manual 9.7.11.1).
const levelAlign = 16

// maxExtent is the largest extent that an image can have.
const maxExtent = 1 << 27

// maxPitch is the largest distance of rows.
const maxPitch = 1 << 31

// Check says what is wrong with the image, "" if nothing is.
func (m *Image) Check() string {
	g := m.Geometry
	for _, n := range []int{m.Width, m.Height, m.Depth, m.Layers, m.Levels, m.Samples} {
		if n < 1 || n > maxExtent {
			return fmt.Sprintf("an extent of %d", n)
		}
	}
	switch d := g.Dimensions(); {
	case d == 0:
		return "no geometry"
	case !m.Format.Valid():
		return fmt.Sprintf("no format of %d channels of %d bits of kind %s", m.Format.Channels, m.Format.Bits, m.Format.Kind)
	case d < 2 && m.Height != 1 || d < 3 && m.Depth != 1:
		return fmt.Sprintf("an extent in a dimension that %s does not have", g)
	case !g.Layered() && !g.Cube() && m.Layers != 1:
		return fmt.Sprintf("layers, which %s does not have", g)
	case g.Cube() && (m.Width != m.Height || m.Layers%6 != 0 || g == GCube && m.Layers != 6):
		return "cubes have six square faces"
	case m.Samples > 1 && (!g.Multisample() || m.Levels > 1):
		return "several samples"
	case m.Levels > bits.Len(uint(max(m.Width, m.Height, m.Depth))):
		return fmt.Sprintf("%d levels of an image of %d×%d×%d", m.Levels, m.Width, m.Height, m.Depth)
	case m.Pitch > maxPitch:
		return fmt.Sprintf("a pitch of %d bytes, at most %d", m.Pitch, maxPitch)
	case m.Pitch != 0 && (g != G2D || m.Levels != 1 || m.Pitch < m.Width*m.Format.Bytes()):
		return fmt.Sprintf("a pitch of %d bytes for rows of %d", m.Pitch, m.Width*m.Format.Bytes())
	case m.LinearMemory && (g != G1D || m.Levels != 1):
		return "linear memory has one dimension"
	}
	if m.approximateSize() > 1<<40 {
		return "it is too large"
	}
	return ""
}

// approximateSize is how many bytes level 0 takes, about, of extents that are not too large.
func (m *Image) approximateSize() float64 {
	row := max(float64(m.Pitch), float64(m.Width)*float64(m.Samples)*float64(m.Format.Bytes()))
	return row * float64(m.Height) * float64(m.Depth) * float64(m.Layers)
}

// Extent is the size of a level: each is half the one before, rounded down, and at least 1.
func (m *Image) Extent(level int) [3]int {
	e := [3]int{m.Width, m.Height, m.Depth}
	for i := range e {
		e[i] = max(e[i]>>level, 1)
	}
	return e
}

// strideBytes is how many bytes there are from texel to texel of a level, from row to row and from
// slice to slice.
func (m *Image) strideBytes(level int) [3]uint64 {
	e, texel := m.Extent(level), m.Samples*m.Format.Bytes()
	row := m.Pitch
	if row == 0 {
		row = e[0] * texel
	}
	return [3]uint64{uint64(texel), uint64(row), uint64(row * e[1])}
}

// layerBytes is the distance of layers of a level in bytes.
func (m *Image) layerBytes(level int) uint64 {
	return m.strideBytes(level)[2] * uint64(m.Extent(level)[2])
}

// LevelOffset is where a level begins, in bytes: levels follow one another, in each the
// layers, in each the slices, in each the rows, of texels with their samples.
func (m *Image) LevelOffset(level int) (offset uint64) {
	for i := range level {
		offset += (m.layerBytes(i)*uint64(m.Layers) + levelAlign - 1) / levelAlign * levelAlign
	}
	return offset
}

// Size is how many bytes the image takes.
func (m *Image) Size() uint64 {
	last := m.Levels - 1
	n := m.LevelOffset(last) + m.layerBytes(last)*uint64(m.Layers)
	if m.Pitch != 0 { // the last row need not be whole
		n -= uint64(m.Pitch - m.Width*m.Format.Bytes())
	}
	return n
}

// strides is where a sample of the texels of a layer lies: from an offset on, at distances.
func (m *Image) strides(level, layer, sample int) (base uint64, strides [3]uint64) {
	strides = m.strideBytes(level)
	base = m.LevelOffset(level) + uint64(sample*m.Format.Bytes())
	if layer > 0 {
		base += uint64(layer) * m.layerBytes(level)
	}
	return base, strides
}

// Offset is where a sample of a texel begins.
func (m *Image) Offset(level, layer, sample, x, y, z int) uint64 {
	base, strides := m.strides(level, layer, sample)
	return base + uint64(x)*strides[0] + uint64(y)*strides[1] + uint64(z)*strides[2]
}

// AtLevel is a level as an image of its own; it begins at LevelOffset.
func (m Image) AtLevel(level int) Image {
	e := m.Extent(level)
	m.Width, m.Height, m.Depth, m.Levels = e[0], e[1], e[2], 1
	return m
}

// Extents is the size of the image, the slowest dimension first: layers, of cubes all faces,
// then slices, rows, texels.
func (m *Image) Extents() (list []int) {
	if m.Geometry.Layered() || m.Geometry.Cube() {
		list = append(list, m.Layers)
	}
	switch m.Geometry.Dimensions() {
	case 3:
		list = append(list, m.Depth, m.Height)
	case 2:
		list = append(list, m.Height)
	}
	return append(list, m.Width)
}

// String is the image as in "u8x4[64x48]", the slowest dimension first.
func (m *Image) String() string {
	var list []string
	for _, n := range m.Extents() {
		list = append(list, strconv.Itoa(n))
	}
	return m.Format.String() + "[" + strings.Join(list, "x") + "]"
}

// AddressMode is what becomes of coordinates outside the image.
type AddressMode uint8

// The modes, numbered as CUaddress_mode of the CUDA driver API; the last is PTX's alone.
const (
	Wrap AddressMode = iota
	Clamp
	Mirror
	Border
	ClampOGL
)

// Sampler says how a texture is sampled.
type Sampler struct {
	ForceUnnormalized bool // coordinates count texels, whatever the texture says
	Linear            bool // filter; else the nearest texel
	Address           [3]AddressMode
	Border            [4]float32 // what is outside with Border
	MipLinear         bool       // between levels
	Bias              float32    // added to the level of detail
	MinLevel          float32    // … which is kept between these
	MaxLevel          float32
}

// Texture is an image as it is sampled.
type Texture struct {
	Image
	Sampler
	Normalized bool // coordinates go from 0 to 1
	ReadFloat  bool // integers of 8 and 16 bits are read as floats, up to 1
	SRGB       bool // … of 8 bits, but alpha, as sRGB
}

// Floats reports whether the texture gives floats.
func (t *Texture) Floats() bool {
	return t.Format.Kind == Float || t.ReadFloat && t.Format.Bits < 32
}

// CheckSampling says why the texture cannot be sampled as it is to be, "" if it can.
func (t *Texture) CheckSampling() string {
	switch {
	case t.Linear && !t.Floats():
		return "linear filtering of integers that are not read as floats"
	case t.SRGB && (t.Format.Kind != Unsigned || t.Format.Bits != 8 || !t.ReadFloat):
		return "sRGB is a format of unsigned bytes that are read as floats"
	case t.Geometry.Cube() && !t.Normalized:
		return "cubes have normalised coordinates"
	case t.Levels > 1 && !t.Normalized:
		return "mipmaps have normalised coordinates"
	}
	return ""
}
