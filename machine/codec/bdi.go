package codec

// This file is base-delta-immediate compression (Pekhimenko et al., PACT 2012), with lines of 128 bytes.
//
// The form is a byte for the encoding; the base; a bit for each value, set if its difference is from the base and not from zero; and the
// differences. The base is the first value that does not fit as a difference from zero. All numbers are little-endian.

import "encoding/binary"

// bdiShape is the size of the values and the differences of an encoding, in bytes.
var bdiShape = [...]struct{ value, diff int }{Zeros: {}, Repeat: {8, 0}, Base8Diff1: {8, 1}, Base4Diff1: {4, 1}, Base8Diff2: {8, 2}, Base4Diff2: {4, 2}, Base8Diff4: {8, 4}, Base2Diff1: {2, 1}}

var bdiSizes = func() (list [Base2Diff1 + 1]int) {
	for e := range list {
		switch s := bdiShape[e]; Encoding(e) {
		case Raw:
			list[e] = LineBytes
		case Zeros:
			list[e] = 1
		case Repeat:
			list[e] = 1 + s.value
		default:
			n := LineBytes / s.value
			list[e] = 1 + s.value + n/8 + n*s.diff
		}
	}
	return list
}()

func bdiSize(e Encoding) int { return bdiSizes[e] }

// bdiEncoding returns the smallest encoding that fits. The encodings are in the order of their sizes.
func bdiEncoding(l *Line) Encoding {
	first := l.u64(0)
	diff := uint64(0)
	for i := 1; i < LineBytes/8; i++ {
		diff |= l.u64(i) ^ first
	}
	switch {
	case diff|first == 0:
		return Zeros
	case diff == 0:
		return Repeat
	case fits8(l, 1):
		return Base8Diff1
	case fits4(l, 1):
		return Base4Diff1
	case fits8(l, 2):
		return Base8Diff2
	case fits4(l, 2):
		return Base4Diff2
	case fits8(l, 4):
		return Base8Diff4
	case fits2(l):
		return Base2Diff1
	}
	return Raw
}

// fitsBDI reports whether an encoding with differences fits. Other encodings do not.
func fitsBDI(l *Line, e Encoding) bool {
	switch e {
	case Base8Diff1, Base8Diff2, Base8Diff4:
		return fits8(l, bdiShape[e].diff)
	case Base4Diff1, Base4Diff2:
		return fits4(l, bdiShape[e].diff)
	case Base2Diff1:
		return fits2(l)
	}
	return false
}

// EncodeBDI writes the form of a line with the encoding first, if it has differences and fits, and otherwise the form of BDI.Encode. It
// returns the number of bytes. Section 5.1.2 of the paper reduces the number of tried encodings because most lines of a program have the same
// encoding; that first is the encoding of the previous line is an interpretation.
func EncodeBDI(dst, l *Line, first Encoding) (bytes int) {
	if fitsBDI(l, first) {
		bdiEncode(dst, l, first, false)
		return bdiSize(first)
	}
	return BDI.Encode(dst, l)
}

// A signed number fits in d bytes if adding half of the range brings it below the range.

// fits8 reports whether values of 8 bytes fit with differences of d bytes.
func fits8(l *Line, d int) bool {
	half, limit := uint64(1)<<(8*d-1), uint64(1)<<(8*d)
	i := 0
	for i < LineBytes/8 && l.u64(i)+half < limit {
		i++
	}
	if i == LineBytes/8 {
		return true
	}
	for base := l.u64(i); i < LineBytes/8; i++ {
		if v := l.u64(i); v-base+half >= limit && v+half >= limit {
			return false
		}
	}
	return true
}

// fits4 is fits8 for values of 4 bytes.
func fits4(l *Line, d int) bool {
	half, limit := uint32(1)<<(8*d-1), uint32(1)<<(8*d)
	i := 0
	for i < LineBytes/4 && l.u32(i)+half < limit {
		i++
	}
	if i == LineBytes/4 {
		return true
	}
	for base := l.u32(i); i < LineBytes/4; i++ {
		if v := l.u32(i); v-base+half >= limit && v+half >= limit {
			return false
		}
	}
	return true
}

// fits2 is fits8 for values of 2 bytes and differences of 1 byte.
func fits2(l *Line) bool {
	const half, limit = 1 << 7, 1 << 8
	i := 0
	for i < LineBytes/2 && l.u16(i)+half < limit {
		i++
	}
	if i == LineBytes/2 {
		return true
	}
	for base := l.u16(i); i < LineBytes/2; i++ {
		if v := l.u16(i); v-base+half >= limit && v+half >= limit {
			return false
		}
	}
	return true
}

// bdiListingEncoding tries the encodings in the order of algorithm 2, with the first value of the line as the base.
func bdiListingEncoding(l *Line) Encoding {
	if e := bdiEncoding(l); e <= Repeat {
		return e // Raw, which fits no base, or an encoding without differences
	}
	for _, e := range [...]Encoding{Base8Diff1, Base8Diff2, Base8Diff4, Base4Diff1, Base4Diff2, Base2Diff1} {
		if fitsFirst(l, bdiShape[e].value, bdiShape[e].diff) {
			return e
		}
	}
	return Raw
}

// fitsFirst reports whether all values fit as differences of d bytes from zero or from the first value.
func fitsFirst(l *Line, size, d int) bool {
	base := l.value(0, size)
	for at := 0; at < LineBytes; at += size {
		if v := l.value(at, size); !fits(v, d) && !fits(signed(v-base, size), d) {
			return false
		}
	}
	return true
}

// value returns the signed value of some bytes.
func (l *Line) value(at, size int) int64 {
	var word [8]byte
	copy(word[:size], l[at:])
	return signed(int64(binary.LittleEndian.Uint64(word[:])), size)
}

// signed returns the value of the low bytes of v, sign-extended.
func signed(v int64, size int) int64 { return v << (64 - 8*size) >> (64 - 8*size) }

// fits reports whether a signed number fits in d bytes.
func fits(v int64, d int) bool { return signed(v, d) == v }

// bdiBase returns the base: the first value that does not fit as a difference from zero, or with firstValue the first value.
func bdiBase(l *Line, size, diff int, firstValue bool) int64 {
	for at := 0; at < LineBytes; at += size {
		if v := l.value(at, size); firstValue || !fits(v, diff) {
			return v
		}
	}
	return 0
}

func bdiEncode(dst, l *Line, e Encoding, firstValue bool) {
	dst[0] = byte(e)
	if e == Zeros {
		return
	}
	s := bdiShape[e]
	if e == Repeat {
		copy(dst[1:], l[:s.value])
		return
	}
	base := bdiBase(l, s.value, s.diff, firstValue)
	put(dst[1:], base, s.value)
	n := LineBytes / s.value
	mask, diffs := dst[1+s.value:][:n/8], dst[1+s.value+n/8:]
	clear(mask)
	for i := range n {
		d := l.value(i*s.value, s.value)
		if !fits(d, s.diff) {
			d = signed(d-base, s.value)
			mask[i/8] |= 1 << (i % 8)
		}
		put(diffs[i*s.diff:], d, s.diff)
	}
}

// put writes the low bytes of v.
func put(to []byte, v int64, size int) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(v))
	copy(to[:size], word[:])
}

func bdiDecode(l *Line, src []byte) bool {
	e := Encoding(src[0])
	if e < Zeros || e > Base2Diff1 || len(src) != bdiSize(e) {
		return false
	}
	*l = Line{}
	s := bdiShape[e]
	switch e {
	case Zeros:
		return true
	case Repeat:
		for at := 0; at < LineBytes; at += s.value {
			copy(l[at:], src[1:])
		}
		return true
	}
	n := LineBytes / s.value
	var word Line
	copy(word[:], src[1:])
	base := word.value(0, s.value)
	mask := src[1+s.value:][:n/8]
	copy(word[:], src[1+s.value+n/8:])
	for i := range n {
		v := word.value(i*s.diff, s.diff)
		if mask[i/8]>>(i%8)&1 != 0 {
			v += base
		}
		put(l[i*s.value:], v, s.value)
	}
	return true
}
