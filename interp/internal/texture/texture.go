package texture

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Geometry is the shape of an image, or the shape that an instruction expects.
type Geometry uint8

// Geometries of images; "A" stands for an array of layers.
const (
	NoGeometry Geometry = iota
	G1D
	G2D
	G3D
	GA1D
	GA2D
	GCube
	GACube
	G2DMS // several samples per texel
	GA2DMS
)

var geometryNames = [...]string{"?", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"}

func (g Geometry) String() string { return geometryNames[g] }

// GeometryNamed returns the geometry of a modifier such as "a2d"; NoGeometry for all other names.
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

// Kind is the kind of number in the channels of a texel.
type Kind uint8

// Kinds of channels.
const (
	Unsigned Kind = iota
	Signed
	Float
)

func (k Kind) String() string { return [...]string{"u", "s", "f"}[k] }

// Format is the number, size and kind of a texel's channels.
type Format struct {
	Channels int // 1, 2 or 4
	Bits     int // 8, 16 or 32; for Float 16 or 32
	Kind     Kind
}

// Bytes is the size of a texel.
func (f Format) Bytes() int { return f.Channels * f.Bits / 8 }

// Channel is the name of the channel type, as in "u8" or "f32".
func (f Format) Channel() string { return f.Kind.String() + strconv.Itoa(f.Bits) }

// String formats the texel type, as in "u8x4" or "f32".
func (f Format) String() string {
	if f.Channels == 1 {
		return f.Channel()
	}
	return fmt.Sprintf("%sx%d", f.Channel(), f.Channels)
}

// Valid reports whether the format exists.
func (f Format) Valid() bool {
	switch {
	case f.Channels != 1 && f.Channels != 2 && f.Channels != 4:
		return false
	case f.Kind == Float:
		return f.Bits == 16 || f.Bits == 32
	}
	return f.Kind < Float && (f.Bits == 8 || f.Bits == 16 || f.Bits == 32)
}

// Image is the shape of texels in memory. Extents in dimensions that the geometry lacks are 1.
type Image struct {
	Geometry Geometry
	Format   Format
	Width    int // width of level 0, in texels
	Height   int
	Depth    int
	Layers   int // number of layers, for cubes of faces (six per cube); 1 without layers
	Levels   int // mipmap levels; 1 without mipmap
	Samples  int // samples per texel
	Pitch    int // bytes from row to row in pitched memory; 0: rows are contiguous
	// LinearMemory makes texels outside 0, and disables filtering.
	LinearMemory bool
}

// levelAlign is the alignment of a mipmap level in bytes: "A surface base address is assumed to be aligned to a 16 byte
// boundary" (manual 9.7.11.1).
const levelAlign = 16

// maxExtent is the largest extent of an image.
const maxExtent = 1 << 27

// maxPitch is the largest distance of rows in bytes.
const maxPitch = 1 << 31

// Check describes an error in the image; "" if there is none.
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

// approximateSize returns the approximate size of level 0 in bytes, for extents up to maxExtent.
func (m *Image) approximateSize() float64 {
	row := max(float64(m.Pitch), float64(m.Width)*float64(m.Samples)*float64(m.Format.Bytes()))
	return row * float64(m.Height) * float64(m.Depth) * float64(m.Layers)
}

// Extent returns the size of a level: each level has half the size of the previous level, rounded down, and at least 1.
func (m *Image) Extent(level int) [3]int {
	e := [3]int{m.Width, m.Height, m.Depth}
	for i := range e {
		e[i] = max(e[i]>>level, 1)
	}
	return e
}

// strideBytes returns the distances in bytes of texels, rows and slices in a level.
func (m *Image) strideBytes(level int) [3]uint64 {
	e, texel := m.Extent(level), m.Samples*m.Format.Bytes()
	row := m.Pitch
	if row == 0 {
		row = e[0] * texel
	}
	return [3]uint64{uint64(texel), uint64(row), uint64(row * e[1])}
}

// layerBytes returns the distance in bytes of layers in a level.
func (m *Image) layerBytes(level int) uint64 {
	return m.strideBytes(level)[2] * uint64(m.Extent(level)[2])
}

// LevelOffset returns the offset of a level in bytes. Levels are contiguous; a level consists of layers, a layer of
// slices, a slice of rows, a row of texels, a texel of samples.
func (m *Image) LevelOffset(level int) (offset uint64) {
	for i := range level {
		offset += (m.layerBytes(i)*uint64(m.Layers) + levelAlign - 1) / levelAlign * levelAlign
	}
	return offset
}

// Size is the size of the image in bytes.
func (m *Image) Size() uint64 {
	last := m.Levels - 1
	n := m.LevelOffset(last) + m.layerBytes(last)*uint64(m.Layers)
	if m.Pitch != 0 { // the last row may be incomplete
		n -= uint64(m.Pitch - m.Width*m.Format.Bytes())
	}
	return n
}

// strides returns the offset of a sample in the first texel of a layer, and the distances to the next texel, row and
// slice, in bytes.
func (m *Image) strides(level, layer, sample int) (base uint64, strides [3]uint64) {
	strides = m.strideBytes(level)
	base = m.LevelOffset(level) + uint64(sample*m.Format.Bytes())
	if layer > 0 {
		base += uint64(layer) * m.layerBytes(level)
	}
	return base, strides
}

// Offset returns the offset of a sample of a texel in bytes.
func (m *Image) Offset(level, layer, sample, x, y, z int) uint64 {
	base, strides := m.strides(level, layer, sample)
	return base + uint64(x)*strides[0] + uint64(y)*strides[1] + uint64(z)*strides[2]
}

// AtLevel returns a level as an image of its own, which begins at LevelOffset.
func (m Image) AtLevel(level int) Image {
	e := m.Extent(level)
	m.Width, m.Height, m.Depth, m.Levels = e[0], e[1], e[2], 1
	return m
}

// Extents returns the size of the image, the slowest dimension first: layers (of cubes all faces), slices, rows,
// texels.
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

// String formats the image as in "u8x4[64x48]", the slowest dimension first.
func (m *Image) String() string {
	var list []string
	for _, n := range m.Extents() {
		list = append(list, strconv.Itoa(n))
	}
	return m.Format.String() + "[" + strings.Join(list, "x") + "]"
}

// AddressMode is the rule for coordinates outside the image.
type AddressMode uint8

// Address modes, numbered as CUaddress_mode of the CUDA driver API; the last exists only in PTX.
const (
	Wrap AddressMode = iota
	Clamp
	Mirror
	Border
	ClampOGL
)

// Sampler describes the sampling of a texture.
type Sampler struct {
	ForceUnnormalized bool // coordinates count texels, even if the texture is Normalized
	Linear            bool // linear filter; else the nearest texel
	Address           [3]AddressMode
	Border            [4]float32 // value outside with address mode Border
	MipLinear         bool       // linear filter between levels
	Bias              float32    // added to the level of detail
	MinLevel          float32    // lower limit of the level of detail after Bias
	MaxLevel          float32
}

// Texture is an image with its sampling.
type Texture struct {
	Image
	Sampler
	Normalized bool // coordinates go from 0 to 1
	ReadFloat  bool // 8-bit and 16-bit integers are read as floats up to 1
	SRGB       bool // 8-bit channels except alpha are read as sRGB
}

// Floats reports whether results are floats.
func (t *Texture) Floats() bool {
	return t.Format.Kind == Float || t.ReadFloat && t.Format.Bits < 32
}

// CheckSampling describes a combination of image and sampler that cannot be sampled; "" if there is none.
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
