package codec

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// words makes a line of words of 4 bytes, which it repeats.
func words(list ...uint32) (l Line) {
	for i := range LineBytes / 4 {
		binary.LittleEndian.PutUint32(l[4*i:], list[i%len(list)])
	}
	return l
}

// longs makes a line of values of 8 bytes, which it repeats.
func longs(list ...uint64) (l Line) {
	for i := range LineBytes / 8 {
		binary.LittleEndian.PutUint64(l[8*i:], list[i%len(list)])
	}
	return l
}

// shorts makes a line of values of 2 bytes, which it repeats.
func shorts(list ...uint16) (l Line) {
	for i := range LineBytes / 2 {
		binary.LittleEndian.PutUint16(l[2*i:], list[i%len(list)])
	}
	return l
}

// TestForms has forms by hand.
func TestForms(t *testing.T) {
	const base = 0x12345678_40000000
	for _, c := range []struct {
		name  string
		codec Codec
		line  Line
		bytes int
		enc   Encoding
	}{
		{"zeros", BDI, Line{}, 1, Zeros},
		{"equal words", BDI, words(0x12345678), 1 + 8, Repeat},
		// Figure 6 of the paper: values of 8 bytes near 0x8001D000 and near zero, differences of 1 byte. A line of 64 bytes has 17 bytes there:
		// a byte of metadata, the base, eight differences. A line of 128 bytes has sixteen differences, and 2 bytes that select the bases.
		{"PVC", BDI, longs(0, 0x8001d000, 0x10, 0x8001d008, 0x20, 0x8001d010, 0x30, 0x8001d018), 1 + 8 + 16 + 2, Base8Diff1},
		// To the letter of algorithm 2 the base is the first value, here zero.
		{"PVC", BDIListing, longs(0, 0x8001d000, 0x10, 0x8001d008, 0x20, 0x8001d010, 0x30, 0x8001d018), 128, Raw},
		{"PVC from the second value on", BDIListing, longs(0x8001d000, 0x10, 0x8001d008, 0x20, 0x8001d010, 0x30, 0x8001d018, 0), 27, Base8Diff1},
		{"differences -128 and 127", BDI, longs(base, base-128, base+127), 1 + 8 + 16 + 2, Base8Diff1},
		{"difference 128", BDI, longs(base, base+128), 1 + 8 + 32 + 2, Base8Diff2},
		{"difference -129", BDI, longs(base, base-129), 43, Base8Diff2},
		{"differences of 4 bytes", BDI, longs(base, base+1<<20), 1 + 8 + 64 + 2, Base8Diff4},
		{"words in steps of 8", BDI, words(0x10000000, 0x10000008, 0x10000010, 0x10000018), 1 + 4 + 32 + 4, Base4Diff1},
		{"words in steps of 256", BDI, words(0x70000000, 0x70000100, 0x70000200), 1 + 4 + 64 + 4, Base4Diff2},
		{"pixels of 16 bits", BDI, shorts(0x4000, 0x4010, 0x4021, 0x3ff0, 0x4007), 1 + 2 + 64 + 8, Base2Diff1},
		{"around the end of the range", BDI, words(0x7fffffff, 0x80000000, 5), 41, Base4Diff1},
		{"no structure", BDI, words(0x12345678, 0x9abcdef0, 0x0fedcba9), 128, Raw},
		{"two encodings fit", BDI, longs(0x4000_0000_0000_0000, 0x4000_0000_4000_0000), 41, Base4Diff1},
		{"two encodings fit", BDIListing, longs(0x4000_0000_0000_0000, 0x4000_0000_4000_0000), 75, Base8Diff4},
		{"zeros", FPC, Line{}, 2, Segments},
		{"signed bytes", FPC, words(1, 0xffffff80, 127), 2 + 32, Segments},
		{"128 needs 16 bits", FPC, words(1, 128), 2 + 64, Segments},
		{"equal bytes", FPC, words(0xabababab, 0x77777777), 2 + 32, Segments},
		{"signed 16 bits", FPC, words(0x7fff, 0xffff8000), 2 + 64, Segments},
		{"32768 needs a word", FPC, words(0x8000), 128, Raw},
		{"zeros", CPack, Line{}, 16, Dictionary},
		{"four words", CPack, words(0x11111111, 0x22222222, 0x33333333, 0x44444444, 0), 16 + 16, Dictionary},
		{"five words", CPack, words(0x11111111, 0x22222222, 0x33333333, 0x44444444, 0x55555555), 128, Raw},
		{"low bytes", CPack, words(0x11111111, 0x11111122, 0x33), 16 + 4 + 32, DictionaryAndBytes},
		{"four words and low bytes", CPack, words(0x11111111, 0x22222222, 0x33333333, 0x44444444, 0x44444401, 9), 16 + 16 + 32, DictionaryAndBytes},
		{"equal words", Bytewise, words(0xdeadbeef), 1 + 4, Shared4},
		{"three bytes", Bytewise, words(0xdeadbeef, 0xdeadbe00), 1 + 3 + 32, Shared3},
		{"two bytes", Bytewise, words(0xdeadbeef, 0xdeadaeef), 1 + 2 + 64, Shared2},
		{"one byte", Bytewise, words(0xdeadbeef, 0xdeacbeef), 128, Raw},
	} {
		bytes, enc := c.codec.Size(&c.line)
		if bytes != c.bytes || enc != c.enc {
			t.Errorf("%s %s: %d bytes, %s; want %d, %s", c.codec, c.name, bytes, enc, c.bytes, c.enc)
		}
	}
}

// TestSizesOfPaper has the sizes of section 5.1.1: a byte of metadata, the base and the differences. They do not count the bits that select
// the base. With these bits, no encoding takes more bursts.
func TestSizesOfPaper(t *testing.T) {
	paper := func(line int, e Encoding) int {
		s := bdiShape[e]
		return 1 + s.value + line/s.value*s.diff
	}
	if n := paper(64, Base8Diff1); n != 17 {
		t.Errorf("the line of PVC has %d bytes, want 17", n)
	}
	for e := Base8Diff1; e <= Base2Diff1; e++ {
		if got, want := Bursts(bdiSize(e)), Bursts(paper(LineBytes, e)); got != want {
			t.Errorf("%s: %d bursts, want %d", e, got, want)
		}
	}
}

// TestBest: the smallest form wins, and the first of equal forms. The fourth algorithm is not in the paper.
func TestBest(t *testing.T) {
	for _, c := range []struct {
		line  Line
		codec Codec
		bytes int
	}{
		{Line{}, BDI, 1},
		{words(0xffffff80, 127, 3, 9), FPC, 34},
		{words(0x11111111, 0x22222222, 0x33333333, 0x44444444, 0), CPack, 32},
		{words(0xdeadbeef, 0xdeadaeef, 0xdead9eef, 0xdead8eef, 0xdeadceef), BDI, 73},
		{words(0x12345678, 0x9abcdef0, 0x0fedcba9, 0x33333333, 0x51515152), BDI, 128},
	} {
		if codec, bytes := Best(&c.line); codec != c.codec || bytes != c.bytes {
			t.Errorf("%x: %s with %d bytes, want %s with %d", c.line[:24], codec, bytes, c.codec, c.bytes)
		}
	}
}

// lineOf makes a line of a seed, with the structure of one of several kinds.
func lineOf(seed uint64) (l Line) {
	r := rand.New(rand.NewPCG(seed, 1))
	if seed%97 == 0 {
		return l
	}
	size := 1 << r.IntN(4)
	bases := [3]uint64{r.Uint64(), r.Uint64() >> r.IntN(64), 0}
	limit := uint64(1) << r.IntN(8*size)
	for at := 0; at < LineBytes; at += size {
		v := bases[r.IntN(1+int(seed%3))] + r.Uint64N(limit) - limit/2
		if seed%5 == 0 {
			v = bases[0] + uint64(at)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		copy(l[at:at+size], word[:])
	}
	return l
}

// checkLine compares the decoded form of a line with the line, for all algorithms.
func checkLine(t *testing.T, l *Line) {
	for c := BDI; c <= BDIListing; c++ {
		var form, got Line
		size, e := c.Size(l)
		n := c.Encode(&form, l)
		if n != size || n < 1 || n > MaxForm && n != LineBytes || (e == Raw) != (n == LineBytes) {
			t.Fatalf("%s: %d bytes, size %d, %s", c, n, size, e)
		}
		for i := range got {
			got[i] = 0x5a
		}
		if err := c.Decode(&got, form[:n]); err != nil || got != *l {
			t.Fatalf("%s: %x became %x, %v", c, *l, got, err)
		}
		if _, best := Best(l); c <= CPack && best > size {
			t.Fatalf("best has %d bytes, %s has %d", best, c, size)
		}
	}
	listing, _ := BDIListing.Size(l)
	if smallest, _ := BDI.Size(l); smallest > listing {
		t.Fatalf("%x: BDI has %d bytes, the listing %d", *l, smallest, listing)
	}
}

// TestRoundTrip decodes the forms of lines with many structures.
func TestRoundTrip(t *testing.T) {
	var encodings [Encodings]int
	for seed := range uint64(20000) {
		l := lineOf(seed)
		checkLine(t, &l)
		for c := BDI; c < Count; c++ {
			_, e := c.Size(&l)
			encodings[e]++
		}
	}
	for e, n := range encodings {
		if n < 20 {
			t.Errorf("only %d lines have encoding %s", n, Encoding(e))
		}
	}
}

// FuzzLine decodes the forms of any line.
func FuzzLine(f *testing.F) {
	for seed := range uint64(10) {
		l := lineOf(seed)
		f.Add(l[:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l Line
		copy(l[:], data)
		checkLine(t, &l)
	})
}

// FuzzDecode decodes any bytes: they have an error, or are a line.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(10) {
		l := lineOf(seed)
		for c := BDI; c < Count; c++ {
			var form Line
			f.Add(byte(c), form[:c.Encode(&form, &l)])
		}
	}
	f.Fuzz(func(t *testing.T, codec byte, src []byte) {
		var l Line
		if err := Codec(codec%byte(Count)).Decode(&l, src); err == nil {
			checkLine(t, &l)
		}
	})
}

// TestDecodeErrors: bytes that are no form have an error.
func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		codec Codec
		src   []byte
	}{
		{BDI, nil}, {BDI, []byte{byte(Raw)}}, {BDI, []byte{byte(Zeros), 0}}, {BDI, []byte{byte(Segments)}}, {BDI, make([]byte, 97)}, {BDI, make([]byte, 129)},
		{FPC, []byte{0}}, {FPC, []byte{0, 0, 0}}, {FPC, []byte{0, 0x10}}, {FPC, []byte{5, 0}}, {FPC, []byte{1, 0}},
		{CPack, make([]byte, 15)}, {CPack, make([]byte, 17)}, {CPack, append([]byte{15}, make([]byte, 15)...)},
		{Bytewise, []byte{4, 0}}, {Bytewise, make([]byte, 98)}, {Bytewise, make([]byte, 1)},
	} {
		if c.codec.Decode(new(Line), c.src) == nil {
			t.Errorf("%s: %x has no error", c.codec, c.src)
		}
	}
}

// TestNoAllocation: no function allocates memory.
func TestNoAllocation(t *testing.T) {
	var form Line
	if n := testing.AllocsPerRun(100, func() {
		for seed := range uint64(len(lines)) {
			for c := BDI; c <= BDIListing; c++ {
				n := c.Encode(&form, &lines[seed])
				if err := c.Decode(&lines[seed], form[:n]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var lines = func() (list [64]Line) {
	for i := range list {
		list[i] = lineOf(uint64(i))
	}
	return list
}()

// BenchmarkSize measures the size of a line.
func BenchmarkSize(b *testing.B) {
	for c := BDI; c < Count; c++ {
		b.Run(c.String(), func(b *testing.B) {
			for i := range b.N {
				c.Size(&lines[i%len(lines)])
			}
		})
	}
}
