// Package codec compresses lines of 128 bytes with the algorithms of Vijaykumar et al., "A Framework for Accelerating Bottlenecks in GPU
// Execution with Assist Warps" (2016; "CABA" below). The compressed form of a line is whole: Decode restores the line from it alone.
//
// A line whose compressed form has more than 96 bytes is stored raw, in 128 bytes: memory transfers bursts of 32 bytes, so a longer form
// saves nothing. A form of 128 bytes is always a raw line. The memory controller knows the number of bursts of each line (section 5.3.2 of
// the paper), so a raw line needs no mark.
//
// docs/caba.md has the definitions, and the interpretations where the paper leaves a choice. No function allocates memory or returns an
// error for a line; all are safe for concurrent use.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes in bytes.
const (
	LineBytes  = 128                    // a line
	BurstBytes = 32                     // a burst of the memory
	MaxForm    = LineBytes - BurstBytes // the longest compressed form that saves a burst
)

// LineBursts is the number of bursts of a raw line.
const LineBursts = LineBytes / BurstBytes

// Line is a line of memory.
type Line [LineBytes]byte

// Codec is an algorithm.
type Codec uint8

// The algorithms.
const (
	BDI      Codec = iota // a base, zero as a second base, and small differences
	FPC                   // a pattern for each segment of eight words
	CPack                 // a dictionary of up to four words
	Bytewise              // the high bytes that all words have in common, once
	Count                 // number of algorithms
)

// BDIListing is BDI to the letter of algorithm 2 of the paper: the base is the first value of the line, and the first encoding that fits
// is used, not the smallest. It is an interpretation of BDI, and none of the Count algorithms.
const BDIListing = Count

var names = [...]string{"bdi", "fpc", "c-pack", "byte-wise", "bdi-listing"}

// String returns the name: "bdi", "fpc", "c-pack" or "byte-wise".
func (c Codec) String() string { return names[c] }

// Encoding is the variant of an algorithm that fits a line.
type Encoding uint8

// The encodings of all algorithms.
const (
	Raw        Encoding = iota // the line does not fit
	Zeros                      // BDI: all bytes are zero
	Repeat                     // BDI: all values of 8 bytes are equal
	Base8Diff1                 // BDI: values of 8 bytes, differences of 1 byte
	Base4Diff1
	Base8Diff2
	Base4Diff2
	Base8Diff4
	Base2Diff1
	Segments   // FPC
	Dictionary // C-Pack: words of no byte
	DictionaryAndBytes
	Shared4 // byte-wise: all words are equal
	Shared3 // byte-wise: words have three high bytes in common
	Shared2
	Encodings // number of encodings
)

var encodingNames = [...]string{"raw", "zeros", "repeat", "8-1", "4-1", "8-2", "4-2", "8-4", "2-1", "segments", "dictionary", "dictionary+bytes", "4 shared", "3 shared", "2 shared"}

// String returns the name of the encoding: "8-1" is a base of 8 bytes with differences of 1 byte.
func (e Encoding) String() string { return encodingNames[e] }

// Has reports whether forms of the algorithm can have an encoding. A raw line has no form.
func (c Codec) Has(e Encoding) bool {
	switch {
	case e <= Raw:
		return false
	case e <= Base2Diff1:
		return c == BDI || c == BDIListing
	case e == Segments:
		return c == FPC
	case e <= DictionaryAndBytes:
		return c == CPack
	}
	return c == Bytewise && e < Encodings
}

// Size returns the number of bytes of the line's form, LineBytes for a raw line, and its encoding.
func (c Codec) Size(l *Line) (bytes int, e Encoding) {
	switch c {
	case BDI:
		e = bdiEncoding(l)
		return bdiSize(e), e
	case FPC:
		bytes = fpcSize(l)
		e = Segments
	case CPack:
		bytes, e = cpackSize(l)
	case Bytewise:
		e = bytewiseEncoding(l)
		return bytewiseSize(e), e
	case BDIListing:
		e = bdiListingEncoding(l)
		return bdiSize(e), e
	}
	if bytes > MaxForm {
		return LineBytes, Raw
	}
	return bytes, e
}

// Bursts returns the number of bursts, 1 to LineBursts, of a form of some bytes.
func Bursts(bytes int) int { return (bytes + BurstBytes - 1) / BurstBytes }

// Bursts returns the bursts of the form of a line.
func (c Codec) Bursts(l *Line) int {
	bytes, _ := c.Size(l)
	return Bursts(bytes)
}

// Best returns the algorithm with the smallest form of a line, and the number of its bytes. Of equal forms it takes the first algorithm. It is
// CABA-BestOfAll of the paper for BDI, FPC and C-Pack.
func Best(l *Line) (best Codec, bytes int) {
	bytes = LineBytes
	for c := BDI; c <= CPack; c++ {
		if n, _ := c.Size(l); n < bytes {
			best, bytes = c, n
		}
	}
	return best, bytes
}

// Encode writes the form of a line to dst and returns the number of its bytes, LineBytes for a raw line.
func (c Codec) Encode(dst, l *Line) (bytes int) {
	bytes, e := c.Size(l)
	switch {
	case e == Raw:
		*dst = *l
	case c == BDI:
		bdiEncode(dst, l, e, false)
	case c == BDIListing:
		bdiEncode(dst, l, e, true)
	case c == FPC:
		fpcEncode(dst, l)
	case c == CPack:
		cpackEncode(dst, l)
	default:
		bytewiseEncode(dst, l, e)
	}
	return bytes
}

// errForm is the error for bytes that are no form.
var errForm = errors.New("not the compressed form of a line")

// Decode restores a line from its form. It returns an error if src is no form of the algorithm.
func (c Codec) Decode(l *Line, src []byte) error {
	ok := false
	switch {
	case len(src) == LineBytes:
		*l, ok = Line(src), true
	case len(src) == 0 || len(src) > MaxForm:
	case c == BDI || c == BDIListing:
		ok = bdiDecode(l, src)
	case c == FPC:
		ok = fpcDecode(l, src)
	case c == CPack:
		ok = cpackDecode(l, src)
	default:
		ok = bytewiseDecode(l, src)
	}
	if !ok {
		return fmt.Errorf("%s: %d bytes: %w", c, len(src), errForm)
	}
	return nil
}

func (l *Line) u64(i int) uint64 { return binary.LittleEndian.Uint64(l[8*i:]) }
func (l *Line) u32(i int) uint32 { return binary.LittleEndian.Uint32(l[4*i:]) }
func (l *Line) u16(i int) uint16 { return binary.LittleEndian.Uint16(l[2*i:]) }
