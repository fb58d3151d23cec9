// Package texture describes textures and surfaces as plain data: the shape of an image in memory (Image, Geometry,
// Format), and the options of sampling it (Sampler, AddressMode). Package interp makes arrays, textures, surfaces and
// samplers of these descriptions (interp.Device.NewArray, NewTexture, NewSurface, NewSampler), and kernels access them.
//
// An Image has texels in one, two or three dimensions. It may have layers, the six faces of cubes, and mipmap levels. A
// texel has one, two or four channels. docs/textures.md has the rules of sampling.
//
// Values may be read by several goroutines while none changes them. New fields and geometries may be added: name the
// fields of composite literals.
package texture

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Geometry is the shape of an image, or the shape that an instruction expects.
type Geometry uint8

// Geometries of images; "A" stands for an array of layers.
const (
	NoGeometry         Geometry = iota // no image; the zero value
	Image1D                            // a row of texels
	Image2D                            // rows of texels
	Image3D                            // slices of rows
	Image1DLayers                      // an array of rows
	Image2DLayers                      // an array of layers with rows
	ImageCube                          // the six faces of a cube
	ImageCubes                         // an array of cubes
	Image2DSamples                     // several samples per texel
	Image2DSampleArray                 // an array of layers with several samples per texel
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
func (g Geometry) Layered() bool {
	return g == Image1DLayers || g == Image2DLayers || g == ImageCubes || g == Image2DSampleArray
}

// Cube reports whether the layers are faces of cubes.
func (g Geometry) Cube() bool { return g == ImageCube || g == ImageCubes }

// Multisample reports whether a texel has several samples.
func (g Geometry) Multisample() bool { return g == Image2DSamples || g == Image2DSampleArray }

// ChannelKind is the kind of number in the channels of a texel.
type ChannelKind uint8

// Kinds of channels.
const (
	Unsigned ChannelKind = iota // unsigned integers
	Signed                      // signed integers, two's complement
	Float                       // floating-point numbers
)

func (k ChannelKind) String() string { return [...]string{"u", "s", "f"}[k] }

// Format is the number, size and kind of a texel's channels.
type Format struct {
	Channels int         // 1, 2 or 4
	Bits     int         // 8, 16 or 32; for Float 16 or 32
	Kind     ChannelKind // kind of number of every channel
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
	Geometry Geometry // dimensions and layers
	Format   Format   // format of the texels
	Width    int      // width of level 0, in texels
	Height   int      // height of level 0, in rows
	Depth    int      // depth of level 0, in slices
	Layers   int      // number of layers; for cubes, number of faces (six per cube); 1 without layers
	Levels   int      // number of mipmap levels; 1 without mipmap
	Samples  int      // samples per texel
	Pitch    int      // bytes from row to row in pitched memory; 0 if rows are contiguous
	// LinearMemory says that the texels are in linear memory: a texel outside reads as 0, and filters are ignored.
	LinearMemory bool
}

// levelAlign is the alignment of a mipmap level in bytes: "A surface base address is assumed to be aligned to a 16 byte
// boundary" (manual 9.7.11.1).
const levelAlign = 16

// maxExtent is the largest extent of an image.
const maxExtent = 1 << 27

// maxPitch is the largest distance of rows in bytes.
const maxPitch = 1 << 31

// Complete returns the image with its omitted extents filled in: an extent of 0 becomes 1, and the layers of a cube become 6. The
// error describes an image that cannot exist.
func (m Image) Complete() (Image, error) {
	m.Width, m.Height, m.Depth = max(m.Width, 1), cmp.Or(m.Height, 1), cmp.Or(m.Depth, 1)
	m.Levels, m.Samples = cmp.Or(m.Levels, 1), cmp.Or(m.Samples, 1)
	if m.Layers == 0 {
		if m.Layers = 1; m.Geometry.Cube() {
			m.Layers = 6
		}
	}
	if bad := m.Check(); bad != "" {
		return m, fmt.Errorf("invalid image: %s", bad)
	}
	return m, nil
}

// Check describes an error in the image; "" if there is none.
func (m *Image) Check() string {
	g := m.Geometry
	for _, n := range []int{m.Width, m.Height, m.Depth, m.Layers, m.Levels, m.Samples} {
		if n < 1 || n > maxExtent {
			return fmt.Sprintf("%d is not an extent or count from 1 to %d", n, maxExtent)
		}
	}
	switch d := g.Dimensions(); {
	case d == 0:
		return "unknown geometry"
	case !m.Format.Valid():
		return fmt.Sprintf("no texel format has %d channels of %d bits of kind %s", m.Format.Channels, m.Format.Bits, m.Format.Kind)
	case d < 2 && m.Height != 1 || d < 3 && m.Depth != 1:
		return fmt.Sprintf("%s has fewer dimensions", g)
	case !g.Layered() && !g.Cube() && m.Layers != 1:
		return fmt.Sprintf("%s has no layers", g)
	case g.Cube() && (m.Width != m.Height || m.Layers%6 != 0 || g == ImageCube && m.Layers != 6):
		return "a cube must have six square faces"
	case m.Samples > 1 && (!g.Multisample() || m.Levels > 1):
		return "several samples per texel need a multisampled geometry and one level"
	case m.Levels > bits.Len(uint(max(m.Width, m.Height, m.Depth))):
		return fmt.Sprintf("%d levels are too many for an image of %d×%d×%d texels", m.Levels, m.Width, m.Height, m.Depth)
	case m.Pitch > maxPitch:
		return fmt.Sprintf("a pitch of %d bytes is too large: at most %d", m.Pitch, maxPitch)
	case m.Pitch != 0 && (g != Image2D || m.Levels != 1 || m.Pitch < m.Width*m.Format.Bytes()):
		return fmt.Sprintf("a pitch of %d bytes does not fit rows of %d bytes, or the image is not 2d with one level", m.Pitch, m.Width*m.Format.Bytes())
	case m.LinearMemory && (g != Image1D || m.Levels != 1):
		return "linear memory needs the geometry 1d and one level"
	}
	if m.approximateSize() > 1<<40 {
		return "the image is too large"
	}
	return ""
}

// approximateSize returns the approximate size of level 0 in bytes. Unlike Size it cannot overflow: it accepts any extents up
// to maxExtent.
func (m *Image) approximateSize() float64 {
	row := max(float64(m.Pitch), float64(m.Width)*float64(m.Samples)*float64(m.Format.Bytes()))
	return row * float64(m.Height) * float64(m.Depth) * float64(m.Layers)
}

// Extent returns the width, height and depth of a level in texels. Each is half of the previous level's, rounded down, and
// at least 1.
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

// LevelOffset returns the offset of a level in bytes. Each level begins at the first multiple of 16 bytes after the previous
// level. A level consists of layers, a layer of slices, a slice of rows, a row of texels, a texel of samples.
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
	if m.Pitch != 0 { // the memory may end with the texels of the last row
		n -= uint64(m.Pitch - m.Width*m.Format.Bytes())
	}
	return n
}

// Strides returns the offset of a sample in the first texel of a layer, and the distances to the next texel, row and
// slice, in bytes.
func (m *Image) Strides(level, layer, sample int) (base uint64, strides [3]uint64) {
	strides = m.strideBytes(level)
	base = m.LevelOffset(level) + uint64(sample*m.Format.Bytes())
	if layer > 0 {
		base += uint64(layer) * m.layerBytes(level)
	}
	return base, strides
}

// Offset returns the offset of a sample of a texel in bytes.
func (m *Image) Offset(level, layer, sample, x, y, z int) uint64 {
	base, strides := m.Strides(level, layer, sample)
	return base + uint64(x)*strides[0] + uint64(y)*strides[1] + uint64(z)*strides[2]
}

// AtLevel returns a level as an image of its own, which begins at LevelOffset.
func (m Image) AtLevel(level int) Image {
	e := m.Extent(level)
	m.Width, m.Height, m.Depth, m.Levels = e[0], e[1], e[2], 1
	return m
}

// Extents returns the size of the image, the slowest dimension first: layers (of cubes all faces), slices, rows, texels of
// a row. It omits dimensions that the geometry does not have.
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
	Wrap          AddressMode = iota // the image repeats
	ClampToEdge                      // the nearest texel of the image
	Mirror                           // the image repeats, every second time mirrored
	ClampToBorder                    // texels outside have the value Sampler.Border
	ClampOGL                         // clamp_ogl: as ClampToEdge, but a linear filter mixes in Sampler.Border
)

// Sampler describes the sampling of a texture.
type Sampler struct {
	ForceUnnormalized bool           // coordinates count texels, even if the texture is Normalized
	Linear            bool           // linear filter; else the nearest texel
	Address           [3]AddressMode // rule for each dimension
	Border            [4]float32     // value of texels outside the image, by channel; see ClampToBorder and ClampOGL
	MipLinear         bool           // linear filter between levels
	Bias              float32        // added to the level of detail
	MinLevel          float32        // lower limit of the level of detail after Bias
	MaxLevel          float32        // upper limit of the level of detail after Bias
}

// DefaultSampler returns the sampler of a texture reference that is declared without options: it reads the nearest texel,
// clamps coordinates to the edge, and allows all levels.
func DefaultSampler() Sampler {
	return Sampler{Address: [3]AddressMode{ClampToEdge, ClampToEdge, ClampToEdge}, MaxLevel: math.MaxFloat32}
}
