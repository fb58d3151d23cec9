package sampling

import "gemu/texture"

// This file has the attributes that txq and suq return.

// Attribute is an attribute that txq or suq can query (manual 9.7.10.5, 9.7.11.4).
type Attribute uint8

// Attributes of textures, surfaces and samplers.
const (
	NoAttribute Attribute = iota
	Width
	Height
	Depth
	ChannelDataType
	ChannelOrder
	NormalizedCoords
	ArraySize
	MipmapLevels
	NumSamples
	MemoryLayout
	ForceUnnormalizedCoords
	FilterMode
	AddressMode0
	AddressMode1
	AddressMode2
)

var attributeNames = [...]string{
	"?", "width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels", "num_samples",
	"memory_layout", "force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2",
}

func (a Attribute) String() string { return attributeNames[a] }

// AttributeNamed returns the attribute that a modifier of txq or suq names; NoAttribute for other names.
func AttributeNamed(name string) Attribute {
	for a, n := range attributeNames {
		if n == name {
			return Attribute(a)
		}
	}
	return NoAttribute
}

// OfSampler reports whether the attribute is an attribute of samplers, not of images.
func (a Attribute) OfSampler() bool { return a >= ForceUnnormalizedCoords }

// imageAttribute returns an attribute of an image at a level. Extents that the image lacks are 0. The array size of an array
// of cubes is the number of cubes.
func imageAttribute(m *texture.Image, a Attribute, level int) uint32 {
	size, d := m.Extent(level), m.Geometry.Dimensions()
	switch a {
	case Width:
		return uint32(size[0])
	case Height:
		if d > 1 {
			return uint32(size[1])
		}
	case Depth:
		if d > 2 {
			return uint32(size[2])
		}
	case ArraySize:
		switch {
		case m.Geometry.Cube():
			return uint32(m.Layers / 6)
		case m.Geometry.Layered():
			return uint32(m.Layers)
		}
	case MipmapLevels:
		return uint32(m.Levels)
	case NumSamples:
		return uint32(m.Samples)
	case MemoryLayout: // 1: linear memory, possibly with a pitch; 0: array
		if m.LinearMemory || m.Pitch != 0 {
			return 1
		}
	case ChannelOrder: // manual, table 13
		return map[int]uint32{1: 0x10b0, 2: 0x10b2, 4: 0x10b5}[m.Format.Channels]
	}
	return 0
}

// dataType returns the code of a channel data type (manual, table 12). normalized states that integers are read as floats.
func dataType(f texture.Format, normalized bool) uint32 {
	index := map[int]uint32{8: 0, 16: 1, 32: 2}[f.Bits]
	switch {
	case f.Kind == texture.Float:
		return 0x10dd + index - 1
	case normalized && f.Bits < 32 && f.Kind == texture.Signed:
		return 0x10d0 + index
	case normalized && f.Bits < 32:
		return 0x10d2 + index
	case f.Kind == texture.Signed:
		return 0x10d7 + index
	}
	return 0x10da + index
}

// Query returns an attribute of the texture at a level. Filter modes and address modes have the numbers of the CUDA driver
// API.
func (t *Texture) Query(a Attribute, level int) uint32 {
	switch {
	case a.OfSampler():
		return samplerAttribute(&t.Sampler, a)
	case a == ChannelDataType:
		return dataType(t.Format, t.ReadFloat)
	case a == NormalizedCoords:
		return bit(t.Normalized)
	}
	return imageAttribute(&t.Image, a, level)
}

// samplerAttribute returns an attribute of a sampler.
func samplerAttribute(s *texture.Sampler, a Attribute) uint32 {
	switch a {
	case ForceUnnormalizedCoords:
		return bit(s.ForceUnnormalized)
	case FilterMode:
		return bit(s.Linear)
	case AddressMode0, AddressMode1, AddressMode2:
		return uint32(s.Address[a-AddressMode0])
	}
	return 0
}

// bit returns 1 for true and 0 for false.
func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
