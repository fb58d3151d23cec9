package sampling

import (
	"gemu/texture"
)

// Texture is an image with its sampling.
type Texture struct {
	texture.Image
	texture.Sampler
	Normalized bool // coordinates go from 0 to 1
	ReadFloat  bool // 8-bit and 16-bit integers are read as floats up to 1
	SRGB       bool // 8-bit channels except alpha are read as sRGB
}

// Floats reports whether results are floats.
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
