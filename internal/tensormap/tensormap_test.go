package tensormap

import (
	"errors"
	"strings"
	"testing"
)

// full makes a map whose fields are all different.
func full() *Map {
	return &Map{
		Type: BF16, Rank: 5, Address: 0x123456780, Dim: [Rank]uint64{64, 1 << 32, 3, 4, 5}, Stride: [Rank - 1]uint64{128, 1 << 39, 16, 1<<40 - 16},
		Box: [Rank]uint32{64, 256, 1, 2, 3}, Step: [Rank]uint32{1, 2, 3, 4, 8}, Swizzle: Swizzle{Swizzle128, Atom64}, NaN: true, L2: 2,
	}
}

// TestEncodeAndDecode: an encoded map is decoded, and tensormap.replace makes the same map from zeros.
func TestEncodeAndDecode(t *testing.T) {
	im2col := full()
	im2col.Mode, im2col.Lower, im2col.Upper, im2col.Box = Im2col, [3]int32{-16, 3, 15}, [3]int32{0, -1, -2}, [Rank]uint32{64, 1024}
	im2col.Dim = [Rank]uint64{64, 40, 40, 40, 5}
	for _, m := range []*Map{full(), im2col} {
		b := m.Encode()
		got, err := Decode(b[:])
		if err != nil {
			t.Fatal(err)
		}
		if got.given = 0; *got != *m {
			t.Errorf("%+v is decoded as %+v", m, got)
		}
	}
	m, b := full(), make([]byte, Size)
	m.L2 = 0
	replace := func(field string, ord int, value uint64) {
		if _, err := Decode(b); err == nil {
			t.Errorf("a map before %s %d is set is one", field, ord)
		}
		if err := Replace(b, field, ord, value); err != nil {
			t.Error(err)
		}
	}
	replace("swizzle_mode", 0, 3)
	replace("swizzle_atomicity", 0, 3)
	replace("elemtype", 0, 10)
	replace("fill_mode", 0, 1)
	replace("interleave_layout", 0, 0)
	replace("global_address", 0, m.Address)
	replace("rank", 0, 4)
	for i := range Rank {
		replace("global_dim", i, m.Dim[i])
		replace("box_dim", i, uint64(m.Box[i]))
		if i > 0 {
			replace("global_stride", i-1, m.Stride[i-1])
		}
		replace("element_stride", i, uint64(m.Step[i]))
	}
	if want := m.Encode(); string(b) != string(want[:]) {
		t.Errorf("replaced is %x, encoded %x", b, want)
	}
}

// TestArbitraryBytes: arbitrary bytes are not a map.
func TestArbitraryBytes(t *testing.T) {
	m := full().Encode()
	for _, b := range [][]byte{make([]byte, Size), []byte(strings.Repeat("\xff", Size)), append([]byte("gemu.tm?"), m[8:]...)} {
		if _, err := Decode(b); !errors.Is(err, ErrNone) {
			t.Errorf("%x: %v", b, err)
		}
	}
	for i := 87; i < 95; i++ {
		b := full().Encode()
		b[i] = 0xee
		if _, err := Decode(b[:]); !errors.Is(err, ErrNone) {
			t.Errorf("byte %d of 0xee: %v", i, err)
		}
	}
	if err := Replace([]byte(strings.Repeat("x", Size)), "rank", 0, 0); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestLimitsOfMaps: each limit of the driver API, from both sides.
func TestLimitsOfMaps(t *testing.T) {
	tiled := "f16[4x4x64],box=2x2x64"
	for _, c := range []struct{ good, bad, what string }{
		{tiled, "f16[4x4x64],box=2x2x64,strides=512x120", "a stride of 120 bytes"},
		{tiled + ",strides=1099511627760x128", tiled + ",strides=1099511627776x128", "below 2^40"},
		{tiled, tiled + ",offset=8", "want a multiple of 16"},
		{"f32[4x4],box=4x4,fill=nan", "s32[4x4],box=4x4,fill=nan", "NaN"},
		{"u32[4294967296],box=4", "u32[4294967297],box=4", "2^32"},
		{"u8[256x256],box=256x256", "u8[272x256],box=257x256", "a box of 257"},
		{"f16[4x4x64],box=2x2x64,steps=8x1x1", "f16[4x4x64],box=2x2x64,steps=0x1x1", "a traversal stride of 0"},
		{"f16[64x8],box=8x8", "f16[64x8],box=8x4", "a multiple of 16 bytes"},
		{"f16[4x64],box=4x64,swizzle=128", "f16[4x128],box=4x72,swizzle=128", "144 bytes, and a swizzle of 128"},
		{"f16[4x48],box=4x48,swizzle=96", "f16[4x64],box=4x56,swizzle=96", "112 bytes, and a swizzle of 96"},
		{"f16[4x4x64],box=2x2x64,swizzle=128/64", "f16[4x4x64],box=2x2x16,swizzle=64,swizzle=none,interleave=32", "without a swizzle of 32"},
		{"f16[4x4x64],box=2x2x64,interleave=16", "f16[4x64],box=2x64,interleave=16", "a rank of 2"},
		{"b4x16[4x32],box=1x32", "b4x16[4x33],box=1x32", "a multiple of 2"},
		{"b4x16_p64[4x128],box=1x128,swizzle=128/32", "b4x16_p64[4x128],box=1x128,swizzle=128/32/8", "of elements of .b4x16_p64"},
		{"b6x16_p32[4x128],box=1x128", "b6x16_p32[4x128],box=1x64", "want 128"},
		{"b6x16_p32[4x128],box=1x128", "b6x16_p32[4x128],box=1x128,swizzle=64", "of elements of .b6x16_p32"},
		{"f16[4x9x64],mode=im2col,channels=64,pixels=1024,lower=-32768", "f16[4x9x64],mode=im2col,channels=64,pixels=1024,lower=-32769", "want corners from -32768"},
		{"f16[4x9x9x64],mode=im2col,channels=64,pixels=1,lower=-128x127,upper=127x127", "f16[4x9x9x64],mode=im2col,channels=64,pixels=1025", "1025 pixels"},
		{"f16[4x9x9x9x64],mode=im2col,channels=64,pixels=1,upper=15x15x-8", "f16[4x9x9x9x64],mode=im2col,channels=64,pixels=1,upper=15x16x0", "want corners from -16 to 15"},
		{"f16[4x9x64],mode=im2col,channels=64,pixels=1,upper=-8", "f16[4x9x64],mode=im2col,channels=64,pixels=1,upper=-9", "an empty bounding box"},
		{"f16[4x9x64],mode=im2col::w::128,channels=64,swizzle=128/32", "f16[4x9x64],mode=im2col::w::128,channels=32,swizzle=96", "a swizzle of 96 bytes for .im2col::w::128"},
		{"f16[4x9x32],mode=im2col::w,channels=32,pixels=1,swizzle=96", "f16[4x9x16],mode=im2col::w,channels=16,pixels=1,swizzle=32", "a swizzle of 32 bytes for .im2col::w"},
	} {
		for _, spec := range []string{c.good, c.bad} {
			m, err := Parse(spec)
			if err != nil {
				t.Fatal(spec, err)
			}
			m.Address += 0x1000
			switch err := m.Check(); {
			case spec == c.good && err != nil:
				t.Errorf("%s: %v", spec, err)
			case spec == c.bad && (err == nil || !strings.Contains(err.Error(), c.what)):
				t.Errorf("%s: %v, want %q", spec, err, c.what)
			}
		}
	}
}

// TestParseErrors: errors give the reason.
func TestParseErrors(t *testing.T) {
	for spec, text := range map[string]string{
		"":                        "is not TYPE[N]; want tma(",
		"u33[4],box=4":            "is not TYPE[N]",
		"u32[4x],box=4":           `"" is not a number`,
		"u32[1x1x1x1x1x1],box=4":  "6 numbers, want 1 to 5",
		"u32[4x4],box=4":          "box=4: 1 numbers, want 2 to 2",
		"u32[4],swizzle=16":       "want 32, 64",
		"u32[4],fill=one":         "want zero or nan",
		"u32[4],colour=red":       "colour=red: unknown",
		"u32[4],interleave=8":     "want 16 or 32",
		"u32[4x4x4],mode=tile3":   "want tile, im2col",
		"u32[4x4x4],lower=1x1":    "2 numbers, want 1 to 1",
		"u32[4x4x4],box=1xx1":     `"" is not a number`,
		"u32[4x4x4],box=1x1x1,q=": "q=: unknown",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", spec, err, text)
		}
	}
	of, rest, ok := Cut("tma(u32[2,3]=iota, f16[8x4x32], box=2x1x32, strides=512x64, swizzle=64, offset=128)")
	m, err := Parse(rest)
	want := Map{Type: F16, Rank: 3, Address: 128, Dim: [Rank]uint64{32, 4, 8}, Stride: [Rank - 1]uint64{64, 512}, Box: [Rank]uint32{32, 1, 2}, Step: [Rank]uint32{1, 1, 1}, Swizzle: Swizzle{Swizzle64, Atom16}}
	if err != nil || !ok || of != "u32[2,3]=iota" || *m != want {
		t.Errorf("%q, %+v, %v", of, m, err)
	}
	if _, _, ok := Cut("tma(1"); ok {
		t.Error("a tensor map that does not end is one")
	}
}
