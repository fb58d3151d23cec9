package codec

// This file is codec "once": the encodings of the registers that a warp stores as a line, and the line's form by them (docs/compress-once.md).
// The encodings are given. They are not found in the bytes of the line.
//
// The form is, for each word of a lane, a byte with the method and the number of high bytes that are not stored for each value, the shared bytes
// if the method has them, and the other bytes of each value of this word.

import (
	"encoding/binary"
	"fmt"
)

// MaxWords is the largest number of words of 4 bytes that each lane of a store writes.
const MaxWords = 4

// Base is a set of methods to leave out the high bytes of the values of a register. Each has the methods before it.
type Base uint8

// The sets.
const (
	SharedBase    Base = iota // bytes that all lanes share are stored once
	ZeroBase                  // in addition: bytes that are copies of the sign are not stored
	SignMagnitude             // in addition: shared bytes after the sign has moved to the lowest bit
	Bases                     // number of sets
)

// Word is the encoding of a word that each lane of a warp stores: for each method the number of high bytes, 0 to 4, that need not be stored for
// each lane.
type Word [Bases]uint8

// Registers is the encodings of the words that a warp stores, in the order of their addresses. The zero Registers has none.
type Registers struct {
	Words uint8          // words of a lane: 1, 2 or 4; 0: no encodings
	Of    [MaxWords]Word // by word
}

// ShareBytes reports whether the lanes of some word share bytes: SharedBase, without the methods that the other sets add.
func (r *Registers) ShareBytes() bool {
	for _, w := range r.Of[:r.Words] {
		if w[SharedBase] > 0 {
			return true
		}
	}
	return false
}

// best returns the method of a set that leaves out the most bytes of a word, and their number. Of equal methods it takes the first.
func (w *Word) best(b Base) (method Base, n int) {
	for m, bytes := range w[:b+1] {
		if int(bytes) > n {
			method, n = Base(m), int(bytes)
		}
	}
	return method, n
}

// baseBytes returns the number of bytes that a method stores once, of n that it leaves out.
func (b Base) baseBytes(n int) int {
	if b == ZeroBase {
		return 0
	}
	return n
}

// Size returns the number of bytes of the form of a line; LineBytes for a raw line, and without encodings.
func (r *Registers) Size(b Base) int {
	if r.Words == 0 {
		return LineBytes
	}
	size := 0
	for i := range r.Of[:r.Words] {
		method, n := r.Of[i].best(b)
		size += 1 + method.baseBytes(n) + (4-n)*LineBytes/4/int(r.Words)
	}
	if size > MaxForm {
		return LineBytes
	}
	return size
}

// toSign moves the lowest bit of v to the sign: it restores v after fromSign.
func toSign(v uint32) uint32 { return v>>1 ^ -(v & 1) }

// FromSign moves the sign of v to the lowest bit: 2v if v is not negative as a signed number, otherwise -2v - 1.
func FromSign(v uint32) uint32 { return v<<1 ^ uint32(int32(v)>>31) }

// Encode writes the form of a line to dst and returns the number of its bytes, LineBytes for a raw line. If the encodings are not those of the line, the form
// is not that of the line.
func (r *Registers) Encode(dst, l *Line, b Base) (bytes int) {
	bytes = r.Size(b)
	if bytes == LineBytes {
		*dst = *l
		return bytes
	}
	at := 0
	for i := range r.Of[:r.Words] {
		method, n := r.Of[i].best(b)
		dst[at] = byte(method)<<4 | byte(n)
		at++
		for p := i; p < LineBytes/4; p += int(r.Words) {
			v := l.u32(p)
			if method == SignMagnitude {
				v = FromSign(v)
			}
			var word [4]byte
			binary.LittleEndian.PutUint32(word[:], v)
			if p == i {
				at += copy(dst[at:], word[4-method.baseBytes(n):])
			}
			at += copy(dst[at:], word[:4-n])
		}
	}
	return bytes
}

// DecodeRegisters restores a line from a form of Registers.Encode for some words of each lane. It returns an error if src is no such form.
func DecodeRegisters(l *Line, src []byte, words int) error {
	if len(src) == LineBytes {
		*l = Line(src)
		return nil
	}
	rest := src
	take := func(n int) (part []byte) {
		if n > len(rest) {
			return nil
		}
		part, rest = rest[:n], rest[n:]
		return part
	}
	values := LineBytes / 4 / max(words, 1)
	for i := range words {
		head := take(1)
		if head == nil {
			break
		}
		method, n := Base(head[0]>>4), int(head[0]&15)
		if method >= Bases || n > 4 {
			return fmt.Errorf("once: head %#x: %w", head[0], errForm)
		}
		var word [4]byte
		base, planes := take(method.baseBytes(n)), take((4-n)*values)
		if base == nil && method.baseBytes(n) > 0 || planes == nil && n < 4 {
			return fmt.Errorf("once: %d bytes: %w", len(src), errForm)
		}
		copy(word[4-n:], base)
		for k := range values {
			if copy(word[:4-n], planes[k*(4-n):]); method == ZeroBase {
				fill := byte(0)
				if n < 4 {
					fill = byte(int8(word[3-n]) >> 7)
				}
				for at := 4 - n; at < 4; at++ {
					word[at] = fill
				}
			}
			v := binary.LittleEndian.Uint32(word[:])
			if method == SignMagnitude {
				v = toSign(v)
			}
			binary.LittleEndian.PutUint32(l[4*(i+k*words):], v)
		}
	}
	if len(rest) > 0 || len(src) == 0 {
		return fmt.Errorf("once: %d bytes: %w", len(src), errForm)
	}
	return nil
}

// Check returns an error unless the form of a line by each set of methods restores the line, and a larger set has at most the bursts of a smaller one. An
// error is a fault of the encodings.
func (r *Registers) Check(l *Line) error {
	last := LineBursts
	for b := range Bases {
		var form, restored Line
		n := r.Encode(&form, l, b)
		if err := DecodeRegisters(&restored, form[:n], int(r.Words)); err != nil || restored != *l {
			return fmt.Errorf("BUG: the encodings %v of a line restore %x from a form of %d bytes of %x: %v", *r, restored, n, *l, err)
		}
		if Bursts(n) > last {
			return fmt.Errorf("BUG: the encodings %v take more bursts with base %d", *r, b)
		}
		last = Bursts(n)
	}
	return nil
}
