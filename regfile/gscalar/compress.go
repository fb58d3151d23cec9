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

// Enc is how many bytes, from the most significant on, some lanes of a vector register share: 0 to
// 4. The paper writes it with a bit for each, the highest first.
type Enc uint8

// Scalar is that the lanes share all.
const Scalar Enc = 4

// String writes it as the paper does: "1110".
func (e Enc) String() string { return "11110000"[4-e:][:4] }

// planes is how many byte planes are stored.
func (e Enc) planes() int { return 4 - int(e) }

// encode finds what lanes share; none share all.
func encode(v *vector, lanes uint64) Enc {
	if lanes == 0 {
		return Scalar
	}
	first := v[bits.TrailingZeros64(lanes)]
	diff := uint32(0)
	for m := lanes; m != 0; m &= m - 1 {
		diff |= v[bits.TrailingZeros64(m)] ^ first
	}
	return shared(diff)
}

// shared is how many bytes are the same where these bits differ.
func shared(diff uint32) Enc { return Enc(bits.LeadingZeros32(diff) / 8) }

// shape is the lanes of a whole write, of a warp of n, and what they share.
type shape struct {
	*vector
	n      int
	enc    Enc                // all of them
	groups [Lanes / Group]Enc // those of each group of 16
}

// newShape looks at lanes.
func newShape(v *vector, n int) shape {
	s := shape{vector: v, n: n}
	diff, width := uint32(0), min(n, Group)
	for g := range groups(n) {
		first, here := v[Group*g], uint32(0)
		for _, x := range v[Group*g : Group*g+width] {
			here |= x ^ first
		}
		s.groups[g] = shared(here)
		diff |= here | (first ^ v[0])
	}
	s.enc = shared(diff)
	return s
}

// scalars is the groups that are scalar, bit by bit.
func (s *shape) scalars() (set uint8) {
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
	enc    [Lanes / Group]Enc

	base   [Lanes / Group]uint32
	stride uint32
	data   *[4 * Lanes]byte // the arrays, but of schemes that need not give lanes back: byte i of lane l at i·Lanes + l
}

// scheme stores vector registers.
type scheme struct {
	name  string
	small float64 // energy of the array beside those of the bank, in accesses to a whole register
	when  smallAccess

	// keep makes the image of a whole write, but for data, which fill fills in; give gives the lanes
	// back. What keep does not set is that of lanes as they are.
	keep func(im *image, s *shape)
	fill func(im *image, v *vector, n int)
	give func(im *image, v *vector, n int)

	// partial says that a divergent write activates only the arrays that have one of its lanes:
	// lanes are side by side in an array, and not their bytes.
	partial bool
}

// smallAccess is which accesses go to the array beside those of the bank.
type smallAccess uint8

const (
	never       smallAccess = iota
	always                  // it says how the register is stored
	onlyScalars             // it stores those, and nothing else
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
	{name: "vectors", keep: keepVector, fill: fillPlanes, give: givePlanes, partial: true},
	{name: "scalar file", small: energy, when: onlyScalars, keep: keepScalar, fill: fillPlanes, give: givePlanes, partial: true},
	{name: "bdi", keep: keepBDI, fill: fillBDI, give: giveBDI, partial: true},
	{name: "warped", keep: keepWarped, fill: fillBDI, give: giveBDI, partial: true},
	{name: "byte-wise", small: energy, when: always, keep: keepBytes, fill: fillPlanes, give: givePlanes},
	{name: "byte-wise halves", small: energyHalves, when: always, keep: keepHalves, fill: fillPlanes, give: givePlanes},
	{name: "affine and byte-wise", small: energyAffine, when: always, keep: keepAffine, fill: fillPlanes, give: givePlanes},
}

// raw stores lanes as they are.
func (im *image) raw(n int) {
	im.enc, im.base, im.stride = [Lanes / Group]Enc{}, [Lanes / Group]uint32{}, 0
	im.bytes, im.arrays = 4*n, arraysOf(4*n)
}

// groups is how many groups of 16 lanes a warp has; narrow ones have one.
func groups(n int) int { return max(1, n/Group) }

// all is the lanes of a warp of n.
func all(n int) uint64 { return ^uint64(0) >> (64 - n) }

func keepVector(*image, *shape) {}

// keepScalar stores registers that are the same in all lanes in four bytes elsewhere.
func keepScalar(im *image, s *shape) {
	if s.enc == Scalar {
		im.set(s, Scalar)
		im.bytes, im.arrays = 4, 0
	}
}

// keepBytes stores the byte planes that lanes do not share, two arrays of 16 bytes for each with
// warps of 32 (section 3.2).
func keepBytes(im *image, s *shape) {
	im.set(s, s.enc)
	im.bytes = int(s.enc) + s.enc.planes()*s.n
	im.arrays = arraysOf(s.enc.planes() * s.n)
}

// keepHalves does so for each group of 16 lanes.
func keepHalves(im *image, s *shape) {
	im.bytes, im.arrays = 0, 0
	width := min(s.n, Group)
	for g := range groups(s.n) {
		e := s.groups[g]
		im.enc[g], im.base[g] = e, s.vector[Group*g]
		im.bytes += int(e) + e.planes()*width
		im.arrays += arraysOf(e.planes() * width)
	}
}

// keepAffine stores base and stride, eight bytes, where lane i has base + i·stride, modulo two to
// the 32; else what keepBytes does. It is not of the paper: the tag of Kim et al. 2013 before the
// file of this one.
func keepAffine(im *image, s *shape) {
	keepBytes(im, s)
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
	im.set(s, Scalar)
	im.stride, im.bytes, im.arrays = stride, 8, 0
}

// arraysOf is how many arrays so many bytes take.
func arraysOf(bytes int) int { return (bytes + arrayBytes - 1) / arrayBytes }

// set notes an encoding of all lanes, and their base value.
func (im *image) set(s *shape, e Enc) {
	for g := range groups(s.n) {
		im.enc[g], im.base[g] = e, s.vector[0]
	}
}

// fillPlanes stores the byte planes that lanes do not share.
func fillPlanes(im *image, v *vector, n int) {
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

// givePlanes gives lanes back from the planes and the base values.
func givePlanes(im *image, v *vector, n int) {
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

// keepBDI stores the first lane and the differences of all from it, in 0 to 3 bytes each.
func keepBDI(im *image, s *shape) { im.differences(s, 3) }

// keepWarped does so with differences of up to two bytes (Lee et al. 2015).
func keepWarped(im *image, s *shape) { im.differences(s, 2) }

// differences stores the first lane and the differences from it, if none takes more bytes than that.
func (im *image) differences(s *shape, widest int) {
	most, n := 0, s.n
	for _, x := range s.vector[:n] {
		most = max(most, difference(int32(x-s.vector[0])))
		if most > widest || 4+most*n >= 4*n {
			return
		}
	}
	im.set(s, Enc(4-most))
	im.bytes = 4 + most*n
	im.arrays = arraysOf(im.bytes)
}

// fillBDI stores the differences, or the lanes.
func fillBDI(im *image, v *vector, n int) {
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

// giveBDI gives the lanes back.
func giveBDI(im *image, v *vector, n int) {
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
