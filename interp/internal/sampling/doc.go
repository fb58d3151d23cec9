// Package sampling has the meaning of texture and surface instructions: the result of a lookup, the place of an access, the answer
// to a query.
//
// A Texture is an image with a sampler, as package texture describes them. Texture.Fetch executes tex and tld4, Texture.Place
// finds the bytes of a surface access, and Texture.Query answers txq and suq.
//
// A lookup runs in these steps (lookup.go):
//
//	coordinates → point (decodePoint) → taps: texels with weights (appendTaps) → channels of the result (weightedSum)
//
// Results follow the CUDA C++ Programming Guide, "Texture Fetching": sums of texels with weights of 8 fractional bits.
// The sum of the formula is computed exactly and rounded once, to .f32. Where the guide and the PTX manual (5.3, 9.7.10,
// 9.7.11) are silent, the rule is stated where it is implemented; docs/textures.md lists all of them.
//
// Read texture.go, then lookup.go, surface.go and query.go. The package knows nothing of warps, addresses or
// operands of instructions.
package sampling
