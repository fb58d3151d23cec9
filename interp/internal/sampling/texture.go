package sampling

import (
	"gemu/texture"
)

// Texture is an image with a sampler, and with the way to read the image.
type Texture struct {
	texture.Image
	texture.Sampler
	Normalized bool // coordinates from 0 to 1 span the image; otherwise coordinates are in texels
	ReadFloat  bool // integers of 8 and 16 bits are read as floats from 0 or −1 to 1
	SRGB       bool // 8-bit channels except alpha are converted from sRGB to linear intensity
}

// Floats reports whether lookups return floats.
func (t *Texture) Floats() bool {
	return t.Format.Kind == texture.Float || t.ReadFloat && t.Format.Bits < 32
}

// CheckSampling describes a combination of image and sampler that cannot be sampled; "" if there is none.
func (t *Texture) CheckSampling() string {
	switch {
	case t.Linear && !t.Floats():
		return "linear filtering of integers that are not read as floats"
	case t.SRGB && (t.Format.Kind != texture.Unsigned || t.Format.Bits != 8 || !t.ReadFloat):
		return "sRGB needs unsigned bytes that are read as floats"
	case t.Geometry.Cube() && !t.Normalized:
		return "cubes need normalised coordinates"
	case t.Levels > 1 && !t.Normalized:
		return "mipmaps need normalised coordinates"
	}
	return ""
}
