package codec

// This file is frequent pattern compression (Alameldeen and Wood, 2004) as section 5.1.4 of the CABA paper changes it: a line has four
// segments of eight words of 4 bytes, and all words of a segment have the same pattern.
//
// The form is a head of two bytes with three bits for each segment, and the words of the segments.

import "encoding/binary"

const (
	fpcSegments = 4
	fpcWords    = LineBytes / 4 / fpcSegments // words of a segment
	fpcHead     = 2
)

// Patterns of a segment.
const (
	fpcZero     = iota // all words are zero
	fpcByte            // signed bytes
	fpcRepeated        // the four bytes of each word are equal
	fpcHalf            // signed numbers of 16 bits
	fpcWhole           // whole words
	fpcPatterns
)

// fpcBytes is the number of bytes of a word, by pattern.
var fpcBytes = [fpcPatterns]int{0, 1, 1, 2, 4}

// fpcPattern returns the pattern of a segment with the fewest bytes.
func fpcPattern(l *Line, segment int) int {
	words := l[segment*fpcWords*4:][:fpcWords*4]
	all, bytes, halves, repeated := uint32(0), uint32(0), uint32(0), uint32(0)
	for i := 0; i < len(words); i += 4 {
		w := binary.LittleEndian.Uint32(words[i:])
		all |= w
		bytes |= w + 1<<7    // a signed byte: below 1<<8
		halves |= w + 1<<15  // a signed number of 16 bits: below 1<<16
		repeated |= w ^ w<<8 // equal bytes: no difference but in the lowest byte
		if bytes >= 1<<8 && repeated >= 1<<8 && halves >= 1<<16 {
			return fpcWhole
		}
	}
	switch {
	case all == 0:
		return fpcZero
	case bytes < 1<<8:
		return fpcByte
	case repeated < 1<<8:
		return fpcRepeated
	case halves < 1<<16:
		return fpcHalf
	}
	return fpcWhole
}

func fpcSize(l *Line) int {
	n := fpcHead
	for s := range fpcSegments {
		n += fpcWords * fpcBytes[fpcPattern(l, s)]
	}
	return n
}

func fpcEncode(dst, l *Line) {
	head, at := uint16(0), fpcHead
	for s := range fpcSegments {
		p := fpcPattern(l, s)
		head |= uint16(p) << (3 * s)
		for i := range fpcWords {
			copy(dst[at:][:fpcBytes[p]], l[(s*fpcWords+i)*4:])
			at += fpcBytes[p]
		}
	}
	binary.LittleEndian.PutUint16(dst[:], head)
}

func fpcDecode(l *Line, src []byte) bool {
	if len(src) < fpcHead {
		return false
	}
	head, at := binary.LittleEndian.Uint16(src), fpcHead
	if head>>(3*fpcSegments) != 0 {
		return false
	}
	for s := range fpcSegments {
		p := int(head >> (3 * s) & 7)
		if p >= fpcPatterns || at+fpcWords*fpcBytes[p] > len(src) {
			return false
		}
		for i := range fpcWords {
			var word [4]byte
			copy(word[:fpcBytes[p]], src[at:])
			at += fpcBytes[p]
			v := binary.LittleEndian.Uint32(word[:])
			switch p {
			case fpcByte:
				v = uint32(int32(int8(v)))
			case fpcRepeated:
				v *= 0x01010101
			case fpcHalf:
				v = uint32(int32(int16(v)))
			}
			binary.LittleEndian.PutUint32(l[(s*fpcWords+i)*4:], v)
		}
	}
	return at == len(src)
}
