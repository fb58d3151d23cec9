// Package sampling executes texture and surface instructions on an image: it computes the result of a lookup, the place of
// a surface access, and the value of an attribute.
//
// A Texture is an image with a sampler, as package texture describes them. Texture.Fetch executes tex and tld4, Texture.Place
// finds the bytes of a surface access, and Texture.Query returns the attributes of txq and suq.
//
// A lookup runs in these steps (lookup.go):
//
//	coordinates → point (decodePoint) → taps: texels with weights (appendTaps) → channels of the result (weightedSum)
//
// Results follow the CUDA C++ Programming Guide, "Texture Fetching": sums of texels with weights of 8 fractional bits.
// A sum is computed exactly and rounded once, to .f32. Where the guide and the PTX manual (5.3, 9.7.10, 9.7.11) state no
// rule, a comment states it where it is implemented; docs/textures.md lists all these rules.
//
// Read texture.go, then lookup.go, surface.go and query.go. The package does not depend on warps, addresses or operands of
// instructions.
package sampling
