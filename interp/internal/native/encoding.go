package native

// This file fills the holes of instructions with numbers and distances, for each kind of host.

import (
	"encoding/binary"
	"math"
)

// encoding is the encoding of numbers and distances in a host's instructions. A hole has four bytes.
type encoding struct {
	// reach is the maximum distance of a constant from its hole, in bytes, in both directions.
	reach int

	// putNumber puts a number into a hole. If the number does not fit, the hole becomes a hole for the distance of a constant
	// of four bytes, the number.
	putNumber func(hole []byte, v int32) (fits bool)

	// putDistance puts a distance, in bytes from the beginning of the hole, into the hole.
	putDistance func(hole []byte, d int) (fits bool)
}

// amd64 holds numbers in its instructions.
var amd64 = encoding{
	reach: math.MaxInt32,
	putNumber: func(hole []byte, v int32) bool {
		binary.LittleEndian.PutUint32(hole, uint32(v))
		return true
	},
	putDistance: func(hole []byte, d int) bool {
		d -= len(hole) // the instruction counts from its end
		binary.LittleEndian.PutUint32(hole, uint32(int32(d)))
		return d == int(int32(d))
	},
}

// arm64 fills a hole by changing a whole instruction (Arm ARM, C6.2):
//
//	31 30  29 28     24 23                    5 4  0
//	0  lo:2   1 0 0 0 0          hi:19           Rd    ADR Xd, .+hi:lo
//	1  1   0  1 0 0 1 0 1 0 0      imm:16        Rd    MOVZ Xd, #imm
//	1  0   0  1 0 0 1 0 1 0 0      imm:16        Rd    MOVN Xd, #imm
//	1  0   0  1 1 0 0 0          imm:19          Rd    LDRSW Xd, .+4·imm
//	op:2   0  1 1 V 0 0          imm:19          Rt    LDR Rt, .+4·imm
//	0  0   0  1 0 1                imm:26              B .+4·imm
//
// In the stencils, the hole of a number is an ADR.
var arm64 = encoding{
	reach:       1<<20 - 4,
	putNumber:   putNumberARM64,
	putDistance: putDistanceARM64,
}

func putNumberARM64(hole []byte, v int32) bool {
	w := binary.LittleEndian.Uint32(hole)
	if w&0x9f000000 != 0x10000000 {
		panic("BUG: a number in what is not ADR")
	}
	const movz, movn, ldrsw = 0xd2800000, 0x92800000, 0x98000000
	d, fits := w&31, true
	switch {
	case uint32(v) <= math.MaxUint16:
		w = movz | uint32(v)<<5 | d
	case uint32(^v) <= math.MaxUint16:
		w = movn | uint32(^v)<<5 | d
	default:
		w, fits = ldrsw|d, false
	}
	binary.LittleEndian.PutUint32(hole, w)
	return fits
}

func putDistanceARM64(hole []byte, d int) (fits bool) {
	w := binary.LittleEndian.Uint32(hole)
	var at, bits, unit int // position and width of the field in bits, and its unit in bytes
	switch {
	case w&0x7c000000 == 0x14000000: // B
		at, bits, unit = 0, 26, 4
	case w&0x3b000000 == 0x18000000: // LDR, LDRSW
		at, bits, unit = 5, 19, 4
	case w&0x9f000000 == 0x10000000: // ADR, whose two lowest bits are separate
		w |= uint32(d) & 3 << 29
		at, bits, unit, d = 5, 19, 1, d>>2
	default:
		panic("BUG: a distance in what has none")
	}
	field := uint32(d/unit) & (1<<bits - 1)
	binary.LittleEndian.PutUint32(hole, w|field<<at)
	return d%unit == 0 && d/unit>>(bits-1) == d/unit>>63
}
