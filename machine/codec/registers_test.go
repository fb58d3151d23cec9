package codec

import (
	"math/rand/v2"
	"testing"
)

// naiveWord returns the encoding of a word by the definitions of docs/compress-once.md, from the numbers of the lanes.
func naiveWord(values []uint32) (w Word) {
	for n := 1; n <= 4; n++ {
		shared, zero, sign := true, true, true
		for _, v := range values {
			low := int64(1) << (8 * (4 - n)) // of the bytes that are stored
			number := int64(int32(v))
			shared = shared && int64(v)/low == int64(values[0])/low
			zero = zero && (n == 4 && number == 0 || n < 4 && number >= -low/2 && number < low/2)
			moved := func(v uint32) int64 {
				if n := int64(int32(v)); n < 0 {
					return -2*n - 1
				}
				return 2 * int64(v)
			}
			sign = sign && moved(v)/low == moved(values[0])/low
		}
		for m, holds := range [Bases]bool{shared, zero, sign} {
			if holds {
				w[m] = uint8(n)
			}
		}
	}
	return w
}

// registersOf returns the encodings of a line of k words for each lane.
func registersOf(l *Line, k int) (r Registers) {
	r.Words = uint8(k)
	for i := range k {
		var values []uint32
		for p := i; p < LineBytes/4; p += k {
			values = append(values, l.u32(p))
		}
		r.Of[i] = naiveWord(values)
	}
	return r
}

// TestRegistersByHand has the sizes of the page docs/compress-once.md.
func TestRegistersByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		line  Line
		words int
		bytes [Bases]int
	}{
		{"equal words", words(0xdeadbeef), 1, [Bases]int{5, 5, 5}},
		{"three bytes", words(0xdeadbe01, 0xdeadbeef), 1, [Bases]int{36, 36, 36}},
		{"two bytes", words(0xdead0001, 0xdeadbeef), 1, [Bases]int{67, 67, 67}},
		{"one byte", words(0xde000001, 0xdeadbeef), 1, [Bases]int{128, 128, 128}},
		{"numbers of both signs", words(1, 0xffffffff, 127, 0xffffff80), 1, [Bases]int{128, 33, 33}},
		{"numbers of both signs and 16 bits", words(1, 0xffffffff, 0x7fff), 1, [Bases]int{128, 65, 65}},
		{"near a number of both signs", words(100000, 100010, ^uint32(100000), ^uint32(100015)), 1, [Bases]int{128, 128, 36}},
		{"addresses of 64 bits", longs(0x7f00_1234_5600, 0x7f00_1234_56ff), 2, [Bases]int{1 + 3 + 16 + 1 + 4, 25, 25}},
		{"four words", words(1, 0x12345678, 0x9abcdef0, 0x3f800000), 4, [Bases]int{20, 20, 20}},
		{"zeros", Line{}, 1, [Bases]int{5, 5, 5}},
	} {
		r := registersOf(&c.line, c.words)
		for b := range Bases {
			if n := r.Size(b); n != c.bytes[b] {
				t.Errorf("%s, base %d: %d bytes, want %d", c.name, b, n, c.bytes[b])
			}
		}
		if err := r.Check(&c.line); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRegistersRestore decodes forms of lines with many structures, also by encodings that leave out fewer bytes, as those of a register of which a line has a
// part. Encodings that leave out too many bytes must not restore the line.
func TestRegistersRestore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := [Bases]int{}
	for seed := range uint64(20000) {
		l := lineOf(seed)
		if seed%4 == 0 { // numbers near c and -c
			c, spread := r.Uint32()>>r.IntN(32)*uint32(seed/4%2), 1<<(7+seed/4%10)
			list := make([]uint32, LineBytes/4)
			for i := range list {
				list[i] = c + uint32(r.IntN(spread))
				if r.IntN(2) == 0 {
					list[i] = -list[i]
				}
			}
			l = words(list...)
		}
		x := registersOf(&l, 1<<(seed/4%3))
		if err := x.Check(&l); err != nil {
			t.Fatal(err)
		}
		for b := range Bases {
			if x.Size(b) < LineBytes {
				found[b]++
			}
		}
		fewer := x
		for i := range fewer.Of {
			for m := range fewer.Of[i] {
				fewer.Of[i][m] = uint8(r.IntN(int(x.Of[i][m]) + 1))
			}
		}
		var form, restored Line
		n := fewer.Encode(&form, &l, SignMagnitude)
		if err := DecodeRegisters(&restored, form[:n], int(x.Words)); err != nil || restored != l {
			t.Fatalf("%v: %x became %x, %v", fewer, l, restored, err)
		}
		if more := x; more.Words == 1 && more.Of[0][SharedBase] < 4 && more.Of[0][SharedBase] > 0 {
			more.Of[0][SharedBase]++
			if err := more.Check(&l); err == nil {
				t.Fatalf("%v: %x is restored by encodings that it does not have", more, l)
			}
		}
	}
	if found[SharedBase] < 500 || found[ZeroBase] < found[SharedBase]+100 || found[SignMagnitude] < found[ZeroBase] {
		t.Errorf("compressed lines by base: %v", found)
	}
}

// FuzzDecodeRegisters decodes any bytes: they have an error, or are a line.
func FuzzDecodeRegisters(f *testing.F) {
	for seed := range uint64(10) {
		l, form := lineOf(seed), Line{}
		x := registersOf(&l, 1)
		f.Add(uint8(0), form[:x.Encode(&form, &l, SignMagnitude)])
	}
	f.Add(uint8(2), []byte{0x25, 1})
	f.Fuzz(func(_ *testing.T, words uint8, src []byte) {
		var l Line
		_ = DecodeRegisters(&l, src, 1<<(words%3))
	})
}
