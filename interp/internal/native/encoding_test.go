package native

import (
	"encoding/binary"
	"testing"
)

// TestARM64 compares filled holes with the output of LLVM's assembler for the same instructions.
func TestARM64(t *testing.T) {
	const adr, ldr, b = 0x10000009, 0x9c000003, 0x14000000 // adr x9, . and ldr q3, . and b .
	for _, c := range []struct {
		v    int32
		want uint32
		fits bool
	}{
		{0, 0xd2800009, true},         // mov x9, #0
		{1<<16 - 1, 0xd29fffe9, true}, // mov x9, #0xffff
		{-1, 0x92800009, true},        // mov x9, #-1
		{-1 << 16, 0x929fffe9, true},  // mov x9, #-0x10000
		{1 << 16, 0x98000009, false},  // ldrsw x9, .
		{-1<<16 - 1, 0x98000009, false},
		{-1 << 31, 0x98000009, false},
	} {
		for _, less := range []uint32{0, 1} { // adr x9, . and adr x8, .
			hole := binary.LittleEndian.AppendUint32(nil, adr-less)
			if fits := arm64.putNumber(hole, c.v); fits != c.fits || binary.LittleEndian.Uint32(hole) != c.want-less {
				t.Errorf("%d: %x, %v, want %08x, %v", c.v, hole, fits, c.want-less, c.fits)
			}
		}
	}
	for _, c := range []struct {
		from uint32
		d    int
		want uint32 // 0: out of reach
	}{
		{adr, 1<<20 - 1, 0x707fffe9},
		{adr, -1 << 20, 0x10800009},
		{adr, 1 << 20, 0},
		{adr, -1<<20 - 1, 0},
		{0x1000001e, 6, 0x5000003e}, // adr x30, .+6
		{ldr, -1 << 20, 0x9c800003},
		{0x98000009, 1<<20 - 4, 0x987fffe9}, // ldrsw x9, .+1048572
		{0x5c00001f, 64, 0x5c00021f},        // ldr d31, .+64
		{ldr, 1 << 20, 0},
		{ldr, -1<<20 - 4, 0},
		{ldr, 2, 0},
		{b, 1<<27 - 4, 0x15ffffff},
		{b, -1 << 27, 0x16000000},
		{b, 1 << 27, 0},
		{b, -1<<27 - 4, 0},
	} {
		hole := binary.LittleEndian.AppendUint32(nil, c.from)
		if fits := arm64.putDistance(hole, c.d); fits != (c.want != 0) || fits && binary.LittleEndian.Uint32(hole) != c.want {
			t.Errorf("%08x, %d: %x, %v, want %08x", c.from, c.d, hole, fits, c.want)
		}
	}
}
