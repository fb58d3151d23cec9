package recount

import (
	"encoding/binary"
	"math"
	"slices"
)

// This file counts bursts of compressed lines from docs/caba.md: no code of package codec is used, and numbers of values are computed as
// such, not as bits.

// lineValues are the signed values of a line.
func lineValues(l *[128]byte, size int) (list []int64) {
	for at := 0; at < len(l); at += size {
		switch size {
		case 8:
			list = append(list, int64(binary.LittleEndian.Uint64(l[at:])))
		case 4:
			list = append(list, int64(int32(binary.LittleEndian.Uint32(l[at:]))))
		case 2:
			list = append(list, int64(int16(binary.LittleEndian.Uint16(l[at:]))))
		}
	}
	return list
}

// lineFits reports whether a number has a two's complement of some bytes.
func lineFits(v int64, bytes int) bool {
	limit := int64(math.Pow(256, float64(bytes))) / 2
	return v >= -limit && v < limit
}

// lineDifference is v - base in two's complement of some bytes.
func lineDifference(v, base int64, bytes int) int64 {
	switch d := v - base; bytes {
	case 2:
		return int64(int16(d))
	case 4:
		return int64(int32(d))
	default:
		return d
	}
}

// bytesOfBDI returns the bytes of the smallest form of BDI, or, with listing, of the first that fits.
func bytesOfBDI(l *[128]byte, listing bool) int {
	if longs := lineValues(l, 8); slices.Max(longs) == slices.Min(longs) {
		if longs[0] == 0 {
			return 1
		}
		return 9
	}
	smallest := 128
	for _, size := range []int{8, 4, 2} {
		for diff := 1; diff < size; diff *= 2 {
			values := lineValues(l, size)
			var base *int64
			if listing {
				base = &values[0]
			}
			fits := true
			for i, v := range values {
				if lineFits(v, diff) {
					continue
				}
				if base == nil {
					base = &values[i]
				}
				fits = fits && lineFits(lineDifference(v, *base, size), diff)
			}
			if bytes := 1 + size + len(values)/8 + len(values)*diff; fits && bytes < smallest {
				if smallest = bytes; listing {
					return smallest
				}
			}
		}
	}
	return smallest
}

// bytesOfFPC returns the bytes of the form of FPC.
func bytesOfFPC(l *[128]byte) int {
	words, bytes := lineValues(l, 4), 2
	for s := range 4 {
		all := func(test func(w int64) bool) bool {
			return !slices.ContainsFunc(words[8*s:8*s+8], func(w int64) bool { return !test(w) })
		}
		switch {
		case all(func(w int64) bool { return w == 0 }):
		case all(func(w int64) bool { return lineFits(w, 1) }), all(func(w int64) bool { return uint32(w) == uint32(w)%256*0x01010101 }):
			bytes += 8
		case all(func(w int64) bool { return lineFits(w, 2) }):
			bytes += 16
		default:
			bytes += 32
		}
	}
	return bytes
}

// bytesOfCPack returns the bytes of the form of C-Pack.
func bytesOfCPack(l *[128]byte) int {
	var dictionary []uint32
	low := false
	for _, v := range lineValues(l, 4) {
		w := uint32(v)
		switch {
		case w == 0 || slices.Contains(dictionary, w):
		case w < 256 || slices.ContainsFunc(dictionary, func(d uint32) bool { return d/256 == w/256 }):
			low = true
		default:
			dictionary = append(dictionary, w)
		}
	}
	switch {
	case len(dictionary) > 4:
		return 128
	case low:
		return 16 + 4*len(dictionary) + 32
	}
	return 16 + 4*len(dictionary)
}

// bytesOfBytewise returns the bytes of the byte-wise form.
func bytesOfBytewise(l *[128]byte) int {
	words := lineValues(l, 4)
	for common := 4; common > 0; common-- {
		unit := uint32(1) << (8 * (4 - common)) // 0 for no common byte, but then the loop has ended
		if common == 4 {
			unit = 1
		}
		if !slices.ContainsFunc(words, func(w int64) bool { return uint32(w)/unit != uint32(words[0])/unit }) {
			return 1 + common + (4-common)*32
		}
	}
	return 128
}

// Bursts are bursts of 32 bytes of lines of 128 bytes in compressed forms.
type Bursts struct {
	Lines    int64 // lines
	Raw      int64 // lines that no form makes smaller
	BDI      int64 // bursts in forms of BDI
	FPC      int64 // bursts in forms of FPC
	CPack    int64 // bursts in forms of C-Pack
	Bytewise int64 // bursts in byte-wise forms
	Listing  int64 // bursts in forms of BDI to the letter of the paper's algorithm 2
	Best     int64 // bursts in the smallest form of BDI, FPC and C-Pack
}

// BurstsOf returns the bursts of a line; nil is a line of unknown bytes, which is stored raw.
func BurstsOf(l *[128]byte) Bursts {
	if l == nil {
		return Bursts{1, 1, 4, 4, 4, 4, 4, 4}
	}
	bursts := func(bytes int) int64 { return min(4, int64(math.Ceil(float64(bytes)/32))) }
	n := Bursts{Lines: 1, BDI: bursts(bytesOfBDI(l, false)), FPC: bursts(bytesOfFPC(l)), CPack: bursts(bytesOfCPack(l)), Bytewise: bursts(bytesOfBytewise(l)), Listing: bursts(bytesOfBDI(l, true))}
	if n.Best = min(n.BDI, n.FPC, n.CPack); min(n.Best, n.Bytewise) == 4 {
		n.Raw = 1
	}
	return n
}

// Add adds the bursts of o.
func (b *Bursts) Add(o Bursts) {
	b.Lines += o.Lines
	b.Raw += o.Raw
	b.BDI += o.BDI
	b.FPC += o.FPC
	b.CPack += o.CPack
	b.Bytewise += o.Bytewise
	b.Listing += o.Listing
	b.Best += o.Best
}
