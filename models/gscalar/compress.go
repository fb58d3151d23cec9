package gscalar

// This file implements the schemes: how they compress a register that all lanes write, store it, and restore the lanes.

import (
	"encoding/binary"
	"math/bits"
)

// Lanes is the largest number of lanes of a warp, and the length of vectors.
const Lanes = 64

// Group is the number of lanes that share a base value in the scheme Halves: the lanes of a SIMT pipeline (section 4.3).
const Group = 16

// arrayBytes is the width in bytes of an SRAM array of a bank (section 2.1).
const arrayBytes = 16

// vector is a vector register: 32 bits of each lane.
type vector [Lanes]uint32

// SharedBytes is the number of high bytes, 0 to 4, that lanes of a vector register share: in each of these bytes all lanes
// have the same value. The paper writes it as a bit for each byte, the most significant first.
type SharedBytes uint8

// Scalar means that the lanes share all bytes.
const Scalar SharedBytes = 4

// String returns the paper's notation: "1110".
func (e SharedBytes) String() string { return "11110000"[4-e:][:4] }

// planes returns the number of byte planes to store: bytes that the lanes do not share. A byte plane has one byte of each
// lane.
func (e SharedBytes) planes() int { return 4 - int(e) }

// encode returns the number of bytes that lanes share; all bytes if lanes is empty.
func encode(v *vector, lanes uint64) SharedBytes {
	if lanes == 0 {
		return Scalar
	}
	first := v[bits.TrailingZeros64(lanes)]
	diff := uint32(0)
	for m := lanes; m != 0; m &= m - 1 {
		diff |= v[bits.TrailingZeros64(m)] ^ first
	}
	return countSharedBytes(diff)
}

// countSharedBytes returns the number of high bytes without a differing bit.
func countSharedBytes(diff uint32) SharedBytes { return SharedBytes(bits.LeadingZeros32(diff) / 8) }

// writeShape is a value that all lanes of a warp have written, with the bytes that the lanes share.
type writeShape struct {
	*vector
	n      int                        // number of lanes of the warp
	enc    SharedBytes                // bytes that all lanes share
	groups [Lanes / Group]SharedBytes // by group of 16 lanes: bytes that the group's lanes share
}

// newShape returns the shape of a value in a warp of n lanes.
func newShape(v *vector, n int) writeShape {
	s := writeShape{vector: v, n: n}
	diff, width := uint32(0), min(n, Group)
	for g := range groups(n) {
		first, groupDiff := v[Group*g], uint32(0)
		for _, x := range v[Group*g : Group*g+width] {
			groupDiff |= x ^ first
		}
		s.groups[g] = countSharedBytes(groupDiff)
		diff |= groupDiff | (first ^ v[0])
	}
	s.enc = countSharedBytes(diff)
	return s
}

// scalars returns the set of groups that are scalar: bit g is group g.
func (s *writeShape) scalars() (set uint8) {
	for g := range groups(s.n) {
		if s.groups[g] == Scalar {
			set |= 1 << g
		}
	}
	return set
}

// image is a stored vector register.
type image struct {
	bytes  int                        // size, with the base values
	arrays int                        // number of arrays that an access activates
	enc    [Lanes / Group]SharedBytes // encoding, by group of lanes

	base   [Lanes / Group]uint32 // base value, by group of lanes
	stride uint32                // 0: none
	data   *[4 * Lanes]byte      // contents of the arrays, in the scheme's layout; nil unless Model.Verify is set
}

// scheme is a method to store vector registers.
type scheme struct {
	name      string
	small     float64     // energy of an access to the small array; the unit is an access to a whole register
	smallWhen smallAccess // accesses to registers that also access the small array

	// compress sets the fields of an image, except data, for a write by all lanes. The caller must have made the image
	// uncompressed (setRaw). store fills data, and decompress restores the lanes. n is the number of lanes.
	compress   func(im *image, s *writeShape)
	store      func(im *image, v *vector, n int)
	decompress func(im *image, v *vector, n int)

	// partial reports that a divergent write activates only the arrays with an active lane: arrays hold whole lanes,
	// not byte planes.
	partial bool
}

// smallAccess selects the accesses to a register that also access the small array next to the bank.
type smallAccess uint8

const (
	smallNever      smallAccess = iota
	smallAlways                 // all accesses: the array holds the encodings and base values
	smallForScalars             // accesses to scalar registers: the array is the file of scalars
)

// compressed reports whether the image is smaller than the lanes.
func (im *image) compressed(n int) bool { return im.bytes < 4*n }

// The schemes, as indices of Counts.Schemes.
const (
	Vectors    = iota // the baseline: uncompressed lanes
	ScalarFile        // a separate file for registers with the same value in all lanes
	BDI               // a base and signed differences of up to three bytes
	Warped            // differences of up to two bytes: warped compression
	Bytewise          // the paper's scheme
	Halves            // Bytewise with a base value for each 16 lanes
	Affine            // Bytewise with a tag for base and stride where the lanes are affine
	schemeCount
)

// energy is the energy of an access to the array of base values and encodings, which is 38 bits wide. The unit is an access
// to a whole register (section 5.1). The model assumes that the energy of a wider array is proportional to its width.
const (
	energy       = 0.052
	energyHalves = energy * (38 + 32 + 4) / 38 // with a second base and encoding
	energyAffine = energy * (38 + 32) / 38     // with a stride
)

var schemes = [schemeCount]scheme{
	{name: "vectors", compress: compressNone, store: storePlanes, decompress: decompressPlanes, partial: true},
	{name: "scalar file", small: energy, smallWhen: smallForScalars, compress: compressScalar, store: storePlanes, decompress: decompressPlanes, partial: true},
	{name: "bdi", compress: compressBDI, store: storeBDI, decompress: decompressBDI, partial: true},
	{name: "warped", compress: compressWarped, store: storeBDI, decompress: decompressBDI, partial: true},
	{name: "byte-wise", small: energy, smallWhen: smallAlways, compress: compressBytes, store: storePlanes, decompress: decompressPlanes},
	{name: "byte-wise halves", small: energyHalves, smallWhen: smallAlways, compress: compressHalves, store: storePlanes, decompress: decompressPlanes},
	{name: "affine and byte-wise", small: energyAffine, smallWhen: smallAlways, compress: compressAffine, store: storePlanes, decompress: decompressPlanes},
}

// setRaw makes the image uncompressed.
func (im *image) setRaw(n int) {
	im.enc, im.base, im.stride = [Lanes / Group]SharedBytes{}, [Lanes / Group]uint32{}, 0
	im.bytes, im.arrays = 4*n, arraysOf(4*n)
}

// groups returns the number of groups of 16 lanes in a warp of n lanes, at least one.
func groups(n int) int { return max(1, n/Group) }

// lowLanes returns the lanes of a warp of n lanes.
func lowLanes(n int) uint64 { return ^uint64(0) >> (64 - n) }

func compressNone(*image, *writeShape) {}

// compressScalar stores a register whose lanes have the same value as four bytes in the file of scalars.
func compressScalar(im *image, s *writeShape) {
	if s.enc == Scalar {
		im.setEncoding(s, Scalar)
		im.bytes, im.arrays = 4, 0
	}
}

// compressBytes stores the byte planes that the lanes do not share. A plane of a warp of 32 lanes takes two arrays of 16
// bytes (section 3.2).
func compressBytes(im *image, s *writeShape) {
	im.setEncoding(s, s.enc)
	im.bytes = int(s.enc) + s.enc.planes()*s.n
	im.arrays = arraysOf(s.enc.planes() * s.n)
}

// compressHalves is compressBytes for each group of 16 lanes.
func compressHalves(im *image, s *writeShape) {
	im.bytes, im.arrays = 0, 0
	width := min(s.n, Group)
	for g := range groups(s.n) {
		e := s.groups[g]
		im.enc[g], im.base[g] = e, s.vector[Group*g]
		im.bytes += int(e) + e.planes()*width
		im.arrays += arraysOf(e.planes() * width)
	}
}

// compressAffine stores base and stride, eight bytes, if lane i has base + i·stride modulo 2^32; otherwise it is
// compressBytes. It is not in the paper: it adds the tag of Kim et al. 2013 to the paper's scheme.
func compressAffine(im *image, s *writeShape) {
	compressBytes(im, s)
	if s.n == 1 || s.enc == Scalar {
		return
	}
	v := s.vector
	stride := v[1] - v[0]
	for i := 2; i < s.n; i++ {
		if v[i]-v[i-1] != stride {
			return
		}
	}
	im.setEncoding(s, Scalar)
	im.stride, im.bytes, im.arrays = stride, 8, 0
}

// arraysOf returns the number of arrays that hold a number of bytes.
func arraysOf(bytes int) int { return (bytes + arrayBytes - 1) / arrayBytes }

// setEncoding sets the same encoding and base value, the value of lane 0, for all groups of lanes.
func (im *image) setEncoding(s *writeShape, e SharedBytes) {
	for g := range groups(s.n) {
		im.enc[g], im.base[g] = e, s.vector[0]
	}
}

// storePlanes stores the byte planes that the lanes do not share. Byte b of lane l is at b·Lanes + l.
func storePlanes(im *image, v *vector, n int) {
	for g := range groups(n) {
		begin, end := Group*g, min(Group*(g+1), n)
		for b := range im.enc[g].planes() {
			plane := im.data[b*Lanes : (b+1)*Lanes]
			for i := begin; i < end; i++ {
				plane[i] = byte(v[i] >> (8 * b))
			}
		}
	}
}

// decompressPlanes restores the lanes from the planes and the base values.
func decompressPlanes(im *image, v *vector, n int) {
	for g := range groups(n) {
		begin, end, planes := Group*g, min(Group*(g+1), n), im.enc[g].planes()
		base := uint32(uint64(im.base[g]) >> (8 * planes) << (8 * planes))
		for i := begin; i < end; i++ {
			v[i] = base
		}
		for b := range planes {
			plane := im.data[b*Lanes : (b+1)*Lanes]
			for i := begin; i < end; i++ {
				v[i] |= uint32(plane[i]) << (8 * b)
			}
		}
		for i := begin; im.stride != 0 && i < end; i++ {
			v[i] += uint32(i) * im.stride
		}
	}
}

// bytesOf returns the number of bytes, 0 to 4, that a signed number needs.
func bytesOf(d int32) int {
	u := uint32(d ^ d>>31) // its leading zeros are the copies of the sign, at least one
	if d == 0 {
		return 0
	}
	return (bits.Len32(u) + 1 + 7) / 8
}

// compressBDI stores the first lane and the differences of all lanes from it, in 0 to 3 bytes each.
func compressBDI(im *image, s *writeShape) { im.compressDifferences(s, 3) }

// compressWarped is compressBDI with differences of up to two bytes (Lee et al. 2015).
func compressWarped(im *image, s *writeShape) { im.compressDifferences(s, 2) }

// compressDifferences stores the first lane and the differences from it, if no difference needs more than maxBytes bytes
// and the result is smaller than the lanes. All differences have the same size.
func (im *image) compressDifferences(s *writeShape, maxBytes int) {
	size, n := 0, s.n
	for _, x := range s.vector[:n] {
		size = max(size, bytesOf(int32(x-s.vector[0])))
		if size > maxBytes || 4+size*n >= 4*n {
			return
		}
	}
	im.setEncoding(s, SharedBytes(4-size))
	im.bytes = 4 + size*n
	im.arrays = arraysOf(im.bytes)
}

// storeBDI stores the differences, or the lanes if they are uncompressed, one after another.
func storeBDI(im *image, v *vector, n int) {
	size := im.enc[0].planes()
	var word [4]byte
	for i, x := range v[:n] {
		if size < 4 {
			x -= im.base[0]
		}
		binary.LittleEndian.PutUint32(word[:], x)
		copy(im.data[i*size:(i+1)*size], word[:])
	}
}

// decompressBDI restores the lanes.
func decompressBDI(im *image, v *vector, n int) {
	size := im.enc[0].planes()
	for i := range v[:n] {
		var word [4]byte
		copy(word[:], im.data[i*size:(i+1)*size])
		x := binary.LittleEndian.Uint32(word[:])
		if size < 4 {
			shift := 32 - 8*size
			x = im.base[0] + uint32(int32(uint64(x)<<shift)>>shift)
		}
		v[i] = x
	}
}
