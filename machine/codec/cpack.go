package codec

// This file is C-Pack (Chen et al., 2010) as section 5.1.4 of the CABA paper changes it: words of 4 bytes are zero, a byte with zeros
// above, a word of the dictionary, or a word of the dictionary with another low byte. The dictionary has up to four words: each is the
// first word that is none of these.
//
// The form is a code of four bits for each word; the dictionary; and, unless no word needs it, a byte for each word. The codes say how many
// words the dictionary has, and whether there are bytes.

import "encoding/binary"

const (
	cpackWords   = LineBytes / 4
	cpackHead    = cpackWords / 2
	cpackEntries = 4
)

// Codes of a word.
const (
	cpackZero    = 0
	cpackByte    = 1
	cpackMatch   = 2                         // + index in the dictionary
	cpackPartial = cpackMatch + cpackEntries // + index in the dictionary
	cpackCodes   = cpackPartial + cpackEntries
)

// cpack is the codes and the dictionary of a line.
type cpack struct {
	codes      [cpackWords]byte
	dictionary [cpackEntries]uint32
	entries    int
	bytes      bool // words have a byte
}

// fill computes the codes of a line. It returns false if the dictionary has no room.
func (p *cpack) fill(l *Line) bool {
	for i := range cpackWords {
		w := l.u32(i)
		switch {
		case w == 0:
			p.codes[i] = cpackZero
			continue
		case w < 1<<8:
			p.codes[i] = cpackByte
			p.bytes = true
			continue
		}
		k := 0
		for k < p.entries && (p.dictionary[k]^w)>>8 != 0 {
			k++
		}
		switch {
		case k == cpackEntries:
			return false
		case k == p.entries:
			p.dictionary[k] = w
			p.entries++
			p.codes[i] = byte(cpackMatch + k)
		case p.dictionary[k] == w:
			p.codes[i] = byte(cpackMatch + k)
		default:
			p.codes[i] = byte(cpackPartial + k)
			p.bytes = true
		}
	}
	return true
}

func (p *cpack) size() int {
	n := cpackHead + 4*p.entries
	if p.bytes {
		n += cpackWords
	}
	return n
}

func cpackSize(l *Line) (bytes int, e Encoding) {
	var p cpack
	switch {
	case !p.fill(l):
		return LineBytes, Raw
	case p.bytes:
		return p.size(), DictionaryAndBytes
	}
	return p.size(), Dictionary
}

func cpackEncode(dst, l *Line) {
	var p cpack
	p.fill(l)
	for i := range cpackHead {
		dst[i] = p.codes[2*i] | p.codes[2*i+1]<<4
	}
	for k, w := range p.dictionary[:p.entries] {
		binary.LittleEndian.PutUint32(dst[cpackHead+4*k:], w)
	}
	if p.bytes {
		for i := range cpackWords {
			dst[cpackHead+4*p.entries+i] = l[4*i]
		}
	}
}

func cpackDecode(l *Line, src []byte) bool {
	if len(src) < cpackHead {
		return false
	}
	var p cpack
	for i := range p.codes {
		c := src[i/2] >> (4 * (i % 2)) & 15
		p.codes[i] = c
		switch {
		case c >= cpackCodes:
			return false
		case c >= cpackPartial:
			p.bytes = true
			p.entries = max(p.entries, int(c-cpackPartial)+1)
		case c >= cpackMatch:
			p.entries = max(p.entries, int(c-cpackMatch)+1)
		case c == cpackByte:
			p.bytes = true
		}
	}
	if len(src) != p.size() {
		return false
	}
	for i, c := range p.codes {
		w := uint32(0)
		switch {
		case c >= cpackPartial:
			w = binary.LittleEndian.Uint32(src[cpackHead+4*(c-cpackPartial):])&^0xff | uint32(src[cpackHead+4*p.entries+i])
		case c >= cpackMatch:
			w = binary.LittleEndian.Uint32(src[cpackHead+4*(c-cpackMatch):])
		case c == cpackByte:
			w = uint32(src[cpackHead+4*p.entries+i])
		}
		binary.LittleEndian.PutUint32(l[4*i:], w)
	}
	return true
}
