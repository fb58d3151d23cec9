package gscalar

// This file is how vector registers are stored: what is made of the lanes of a whole write, and
// how the lanes come back.

import (
	"encoding/binary"
	"math/bits"
)

// Lanes is the most lanes of a warp; vectors have room for so many.
const Lanes = 64

// Group is how many lanes of a warp have a base value of their own where registers are halved:
// the lanes of a SIMT pipeline (section 4.3).
const Group = 16

// arrayBytes is what an SRAM array of a bank gives in an access (section 2.1).
const arrayBytes = 16

// vector is a vector register: 32 bits of each lane.
type vector [Lanes]uint32

// SharedBytes is how many bytes, from the most significant on, some lanes of a vector register share: 0 to
// 4. The paper writes it with a bit for each, the highest first.
type SharedBytes uint8

// Scalar is that the lanes share all.
const Scalar SharedBytes = 4

// String writes it as the paper does: "1110".
func (e SharedBytes) String() string { return "11110000"[4-e:][:4] }

// planes is how many byte planes are stored.
func (e SharedBytes) planes() int { return 4 - int(e) }

// encode finds what lanes share; none share all.
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

// countSharedBytes is how many bytes are the same where these bits differ.
func countSharedBytes(diff uint32) SharedBytes { return SharedBytes(bits.LeadingZeros32(diff) / 8) }

// writeShape is the lanes of a whole write, of a warp of n, and what they share.
type writeShape struct {
	*vector
	n      int
	enc    SharedBytes                // all of them
	groups [Lanes / Group]SharedBytes // those of each group of 16
}

// newShape looks at lanes.
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

// scalars is the groups that are scalar, bit by bit.
func (s *writeShape) scalars() (set uint8) {
	for g := range groups(s.n) {
		if s.groups[g] == Scalar {
			set |= 1 << g
		}
	}
	return set
}

// image is a vector register as a scheme stores it.
type image struct {
	bytes  int // that it takes, base values included
	arrays int // that an access activates
	enc    [Lanes / Group]SharedBytes

	base   [Lanes / Group]uint32
	stride uint32
	data   *[4 * Lanes]byte // the arrays, but of schemes that need not give lanes back: byte i of lane l at i·Lanes + l
}

// scheme stores vector registers.
type scheme struct {
	name      string
	small     float64 // energy of the array beside those of the bank, in accesses to a whole register
	smallWhen smallAccess

	// compress makes the image of a whole write, but for data, which fill fills in; give gives the lanes
	// back. What keep does not set is that of lanes as they are.
	compress   func(im *image, s *writeShape)
	store      func(im *image, v *vector, n int)
	decompress func(im *image, v *vector, n int)

	// partial says that a divergent write activates only the arrays that have one of its lanes:
	// lanes are side by side in an array, and not their bytes.
	partial bool
}

// smallAccess is which accesses go to the array beside those of the bank.
type smallAccess uint8

const (
	smallNever      smallAccess = iota
	smallAlways                 // it says how the register is stored
	smallForScalars             // it stores those, and nothing else
)

// compressed reports whether the image takes less than the lanes.
func (im *image) compressed(n int) bool { return im.bytes < 4*n }

// The schemes, by the index of Counts.Schemes.
const (
	Vectors    = iota // the baseline: all lanes as they are
	ScalarFile        // a file beside it for registers that are the same in all lanes
	BDI               // a base and signed differences of up to three bytes
	Warped            // of up to two: warped compression
	Bytewise          // the paper's
	Halves            // … with a base value for each 16 lanes
	Affine            // … with a tag for base and stride, where the lanes are affine
	schemeCount
)

// energy is that of an access to the array of base values and encodings, 38 bits wide, of one to a
// whole register (section 5.1). Wider arrays are taken to be in proportion.
const (
	energy       = 0.052
	energyHalves = energy * (38 + 32 + 4) / 38 // a second base and encoding
	energyAffine = energy * (38 + 32) / 38     // a stride
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

// setRaw stores lanes as they are.
func (im *image) setRaw(n int) {
	im.enc, im.base, im.stride = [Lanes / Group]SharedBytes{}, [Lanes / Group]uint32{}, 0
	im.bytes, im.arrays = 4*n, arraysOf(4*n)
}

// groups is how many groups of 16 lanes a warp has; narrow ones have one.
func groups(n int) int { return max(1, n/Group) }

// lowLanes is the lanes of a warp of n.
func lowLanes(n int) uint64 { return ^uint64(0) >> (64 - n) }

func compressNone(*image, *writeShape) {}

// compressScalar stores registers that are the same in all lanes in four bytes elsewhere.
func compressScalar(im *image, s *writeShape) {
	if s.enc == Scalar {
		im.setEncoding(s, Scalar)
		im.bytes, im.arrays = 4, 0
	}
}

// compressBytes stores the byte planes that lanes do not share, two arrays of 16 bytes for each with
// warps of 32 (section 3.2).
func compressBytes(im *image, s *writeShape) {
	im.setEncoding(s, s.enc)
	im.bytes = int(s.enc) + s.enc.planes()*s.n
	im.arrays = arraysOf(s.enc.planes() * s.n)
}

// compressHalves does so for each group of 16 lanes.
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

// compressAffine stores base and stride, eight bytes, where lane i has base + i·stride, modulo two to
// the 32; else what compressBytes does. It is not of the paper: the tag of Kim et al. 2013 before the
// file of this one.
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

// arraysOf is how many arrays so many bytes take.
func arraysOf(bytes int) int { return (bytes + arrayBytes - 1) / arrayBytes }

// setEncoding notes an encoding of all lanes, and their base value.
func (im *image) setEncoding(s *writeShape, e SharedBytes) {
	for g := range groups(s.n) {
		im.enc[g], im.base[g] = e, s.vector[0]
	}
}

// storePlanes stores the byte planes that lanes do not share.
func storePlanes(im *image, v *vector, n int) {
	for g := range groups(n) {
		from, to := Group*g, min(Group*(g+1), n)
		for b := range im.enc[g].planes() {
			plane := im.data[b*Lanes : (b+1)*Lanes]
			for i := from; i < to; i++ {
				plane[i] = byte(v[i] >> (8 * b))
			}
		}
	}
}

// decompressPlanes gives lanes back from the planes and the base values.
func decompressPlanes(im *image, v *vector, n int) {
	for g := range groups(n) {
		from, to, planes := Group*g, min(Group*(g+1), n), im.enc[g].planes()
		base := uint32(uint64(im.base[g]) >> (8 * planes) << (8 * planes))
		for i := from; i < to; i++ {
			v[i] = base
		}
		for b := range planes {
			plane := im.data[b*Lanes : (b+1)*Lanes]
			for i := from; i < to; i++ {
				v[i] |= uint32(plane[i]) << (8 * b)
			}
		}
		for i := from; im.stride != 0 && i < to; i++ {
			v[i] += uint32(i) * im.stride
		}
	}
}

// difference is how many bytes hold a number with its sign, 0 to 4.
func difference(d int32) int {
	u := uint32(d ^ d>>31) // as many leading zeros as it has copies of the sign, at least one
	if d == 0 {
		return 0
	}
	return (bits.Len32(u) + 1 + 7) / 8
}

// compressBDI stores the first lane and the differences of all from it, in 0 to 3 bytes each.
func compressBDI(im *image, s *writeShape) { im.differences(s, 3) }

// compressWarped does so with differences of up to two bytes (Lee et al. 2015).
func compressWarped(im *image, s *writeShape) { im.differences(s, 2) }

// differences stores the first lane and the differences from it, if none takes more bytes than that.
func (im *image) differences(s *writeShape, widest int) {
	maxDifference, n := 0, s.n
	for _, x := range s.vector[:n] {
		maxDifference = max(maxDifference, difference(int32(x-s.vector[0])))
		if maxDifference > widest || 4+maxDifference*n >= 4*n {
			return
		}
	}
	im.setEncoding(s, SharedBytes(4-maxDifference))
	im.bytes = 4 + maxDifference*n
	im.arrays = arraysOf(im.bytes)
}

// storeBDI stores the differences, or the lanes.
func storeBDI(im *image, v *vector, n int) {
	size := im.enc[0].planes()
	var room [4]byte
	for i, x := range v[:n] {
		if size < 4 {
			x -= im.base[0]
		}
		binary.LittleEndian.PutUint32(room[:], x)
		copy(im.data[i*size:(i+1)*size], room[:])
	}
}

// decompressBDI gives the lanes back.
func decompressBDI(im *image, v *vector, n int) {
	size := im.enc[0].planes()
	for i := range v[:n] {
		var room [4]byte
		copy(room[:], im.data[i*size:(i+1)*size])
		x := binary.LittleEndian.Uint32(room[:])
		if size < 4 {
			shift := 32 - 8*size
			x = im.base[0] + uint32(int32(uint64(x)<<shift)>>shift)
		}
		v[i] = x
	}
}
