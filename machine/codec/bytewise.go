package codec

// This file is the encoding of registers of Liu et al., "G-Scalar" (HPCA 2017), for a line: the high bytes that all words of 4 bytes have in
// common are stored once.
//
// The form is a byte with the number of common bytes, these bytes, and the other bytes of each word. A single common byte saves no burst.

import (
	"encoding/binary"
	"math/bits"
)

func bytewiseEncoding(l *Line) Encoding {
	first := l.u64(0)
	first = first<<32 | first&(1<<32-1)
	diff := uint64(0)
	for i := range LineBytes / 8 {
		diff |= l.u64(i) ^ first
	}
	switch n := bits.LeadingZeros32(uint32(diff)|uint32(diff>>32)) / 8; {
	case n == 4:
		return Shared4
	case n == 3:
		return Shared3
	case n == 2:
		return Shared2
	}
	return Raw
}

// sharedBytes returns the number of common bytes of an encoding.
func sharedBytes(e Encoding) int { return 4 - int(e-Shared4) }

func bytewiseSize(e Encoding) int {
	if e == Raw {
		return LineBytes
	}
	n := sharedBytes(e)
	return 1 + n + (4-n)*LineBytes/4
}

func bytewiseEncode(dst, l *Line, e Encoding) {
	n := sharedBytes(e)
	dst[0] = byte(n)
	copy(dst[1:][:n], l[4-n:])
	for i := range LineBytes / 4 {
		copy(dst[1+n+i*(4-n):][:4-n], l[4*i:])
	}
}

func bytewiseDecode(l *Line, src []byte) bool {
	n := int(src[0])
	if n < 2 || n > 4 || len(src) != bytewiseSize(Shared4+Encoding(4-n)) {
		return false
	}
	var word [4]byte
	copy(word[4-n:], src[1:][:n])
	for i := range LineBytes / 4 {
		copy(word[:4-n], src[1+n+i*(4-n):])
		binary.LittleEndian.PutUint32(l[4*i:], binary.LittleEndian.Uint32(word[:]))
	}
	return true
}
