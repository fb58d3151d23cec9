// Package texture has textures and surfaces: the layout of images in memory, and the result of a texture instruction.
//
// An Image is texels in one, two or three dimensions, in layers, in the faces of cubes and in mipmap levels; a texel has
// 1, 2 or 4 channels. A Texture is an image with a Sampler, which defines the meaning of coordinates and the filter.
// Texture.Fetch executes tex and tld4, Image.Place finds the bytes of a surface access, and Query answers txq and suq.
//
// A lookup runs in these steps (lookup.go):
//
//	coordinates → point (decodePoint) → taps: texels with weights (appendTaps) → channels of the result (weightedSum)
//
// Results follow the CUDA C++ Programming Guide, "Texture Fetching": sums of texels with weights of 8 fractional bits.
// The sum of the formula is computed exactly and rounded once, to .f32. Where the guide and the PTX manual (5.3, 9.7.10,
// 9.7.11) are silent, the rule is stated where it is implemented; docs/textures.md lists all of them.
//
// Read texture.go (images), then lookup.go, surface.go and query.go. The package knows nothing of warps, addresses or
// operands of instructions.
package texture
