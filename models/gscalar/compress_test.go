package gscalar

import (
	"math/rand/v2"
	"testing"
)

// TestEncodingsOfThePaper has the examples of the paper (sections 2.2, 3.1 and 3.2) and examples that follow from its
// definitions.
func TestEncodingsOfThePaper(t *testing.T) {
	example := make([]uint32, 8) // section 2.2: C04039C0, C04039C8, …, C04039F8
	for i := range example {
		example[i] = 0xc04039c0 + 8*uint32(i)
	}
	spread := func(n int, f func(i uint32) uint32) []uint32 {
		v := make([]uint32, n)
		for i := range v {
			v[i] = f(uint32(i))
		}
		return v
	}
	for _, c := range []struct {
		name         string
		values       []uint32
		enc          string
		bytes, bdi   int // stored
		arrays, bdis int // that an access activates
	}{
		// "can be compressed to a 96-bit value (i.e., 32-bit base and 8×8-bit delta values)"; "stores the 3-byte base
		// value and 8 different bytes with the corresponding encoding bits (1110)".
		{"2.2", example, "1110", 3 + 8, 96 / 8, 1, 1},
		{"scalar", spread(32, func(uint32) uint32 { return 7 }), "1111", 4, 4, 0, 1},
		{"3 bytes", spread(32, func(i uint32) uint32 { return 0x12345600 + i }), "1110", 3 + 32, 4 + 32, 2, 3},
		{"2 bytes", spread(32, func(i uint32) uint32 { return 0x12340000 + 0x101*i }), "1100", 2 + 64, 4 + 64, 4, 5},
		{"1 byte", spread(32, func(i uint32) uint32 { return 0x12000000 + 0x10101*i }), "1000", 1 + 96, 4 + 96, 6, 7},
		{"none", spread(32, func(i uint32) uint32 { return 0x1010101 * i }), "0000", 128, 128, 8, 8},
		{"64 lanes", spread(64, func(i uint32) uint32 { return 0x12345600 + i }), "1110", 3 + 64, 4 + 64, 4, 5},
		// "especially when the hexadecimal representation of two similar values differs widely"
		{"similar", spread(32, func(i uint32) uint32 { return 0x00ffffff + i%2 }), "0000", 128, 4 + 32, 8, 3},
		{"around zero", spread(32, func(i uint32) uint32 { return i - 1 }), "0000", 128, 4 + 32, 8, 3},
		// Bytes below a differing byte are stored, even if lanes share them.
		{"stride", spread(32, func(i uint32) uint32 { return i << 16 }), "1000", 1 + 96, 4 + 96, 6, 7},
	} {
		var v vector
		n := copy(v[:], c.values)
		if got := encode(&v, lowLanes(n)).String(); got != c.enc || newShape(&v, n).enc.String() != c.enc {
			t.Errorf("%s: enc %s, want %s", c.name, got, c.enc)
		}
		for _, s := range []struct {
			scheme, bytes, arrays int
		}{{Bytewise, c.bytes, c.arrays}, {BDI, c.bdi, c.bdis}} {
			var im image
			im.setRaw(n)
			whole := newShape(&v, n)
			schemes[s.scheme].compress(&im, &whole)
			if im.bytes != s.bytes || im.arrays != s.arrays {
				t.Errorf("%s, %s: %d bytes in %d arrays, want %d in %d", c.name, schemes[s.scheme].name, im.bytes, im.arrays, s.bytes, s.arrays)
			}
		}
	}
}

// TestScalarHalves has section 4.3: halves of 1100 and 1111, and two scalar halves of different values.
func TestScalarHalves(t *testing.T) {
	var v vector
	for i := range 16 {
		v[i], v[16+i] = 0x12340000+uint32(i)*0x101, 9
	}
	var im image
	im.setRaw(32)
	whole := newShape(&v, 32)
	compressHalves(&im, &whole)
	if im.enc[0].String() != "1100" || im.enc[1].String() != "1111" || im.bytes != 2+2*16+4 || im.arrays != 2 {
		t.Errorf("%s and %s, %d bytes in %d arrays", im.enc[0], im.enc[1], im.bytes, im.arrays)
	}
	for i := range 16 {
		v[i] = 8
	}
	im.setRaw(32)
	whole = newShape(&v, 32)
	compressHalves(&im, &whole)
	if im.enc[0] != Scalar || im.enc[1] != Scalar || im.arrays != 0 || encode(&v, lowLanes(32)) != 3 {
		t.Errorf("%s and %s, %d arrays; as a whole %s", im.enc[0], im.enc[1], im.arrays, encode(&v, lowLanes(32)))
	}
}

// TestBytesOfDifferences: how many bytes signed differences take, at their limits.
func TestBytesOfDifferences(t *testing.T) {
	for d, want := range map[int32]int{
		0: 0, 1: 1, -1: 1, 127: 1, -128: 1, 128: 2, -129: 2, 1<<15 - 1: 2, -1 << 15: 2, 1 << 15: 3, -1<<15 - 1: 3,
		1<<23 - 1: 3, -1 << 23: 3, 1 << 23: 4, -1<<23 - 1: 4, 1<<31 - 1: 4, -1 << 31: 4,
	} {
		if got := bytesOf(d); got != want {
			t.Errorf("%d takes %d bytes, want %d", d, got, want)
		}
	}
}

// TestCompressionIsLossless: every scheme returns the compressed values unchanged, for all widths, and needs no more
// bytes than the lanes.
func TestCompressionIsLossless(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= Lanes; n *= 2 {
		for range 3000 {
			var v, got vector
			base, stride, noise := rng.Uint32(), rng.Uint32()>>rng.IntN(33), rng.Uint32()>>rng.IntN(33)
			for i := range n {
				v[i] = base + uint32(i)*stride
				if noise != 0 {
					v[i] += rng.Uint32() % noise
				}
				if i >= 16 && base&1 != 0 {
					v[i] = v[16]
				}
			}
			for k := range schemes {
				s := &schemes[k]
				im := image{data: new([4 * Lanes]byte)}
				for i := range im.data {
					im.data[i] = byte(rng.Uint32()) // bytes that are not stored must not be read
				}
				im.setRaw(n)
				whole := newShape(&v, n)
				s.compress(&im, &whole)
				s.store(&im, &v, n)
				s.decompress(&im, &got, n)
				if got != v {
					t.Fatalf("%s, %d lanes: %x gives %x", s.name, n, v[:n], got[:n])
				}
				if im.bytes > 4*n || im.arrays > arraysOf(4*n) {
					t.Fatalf("%s, %d lanes: %x takes %d bytes and %d arrays", s.name, n, v[:n], im.bytes, im.arrays)
				}
			}
		}
	}
}
