package record

// This file encodes and decodes the columns of a block.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/flate"
)

// encoding is how a block stores the values of a column.
type encoding uint8

const (
	constant    encoding = iota // all values are base; nothing is stored
	plain                       // value i is base + stored value i, which is unsigned
	differences                 // value i is value i-1 + stored value i, which is signed; base stands before value 0
	texts                       // the length of each text in 4 bytes, then all texts, in UTF-8
	encodings
)

// isDeflated is the flag of a column whose stored bytes are deflated (RFC 1951).
const isDeflated = 1

// storedColumn is an encoded column of a block. Its descriptor in the file has descriptorBytes bytes:
//
//	byte 0      encoding
//	byte 1      bytes of a stored value: 1, 2, 4 or 8; 0 for constant and texts
//	byte 2, 3   flags
//	byte 4–7    number of stored bytes
//	byte 8–11   number of these bytes when inflated
//	byte 12–15  CRC-32 (IEEE) of the stored bytes
//	byte 16–23  base
type storedColumn struct {
	encoding
	width  uint8
	flags  uint16
	plain  uint32 // number of bytes before deflation
	sum    uint32 // CRC-32 of stored
	base   uint64
	stored []byte
}

const descriptorBytes = 24

// appendDescriptor appends the descriptor.
func (c *storedColumn) appendDescriptor(b []byte) []byte {
	b = append(b, byte(c.encoding), c.width)
	b = binary.LittleEndian.AppendUint16(b, c.flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.stored)))
	b = binary.LittleEndian.AppendUint32(b, c.plain)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(c.stored))
	return binary.LittleEndian.AppendUint64(b, c.base)
}

// parseDescriptor parses a descriptor and returns the number of stored bytes.
func (c *storedColumn) parseDescriptor(b []byte) (stored uint32) {
	c.encoding, c.width, c.flags = encoding(b[0]), b[1], binary.LittleEndian.Uint16(b[2:])
	c.plain, c.sum, c.base = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint64(b[16:])
	return binary.LittleEndian.Uint32(b[4:])
}

// encodeNumbers encodes the values of a column: plain or as differences, whichever takes fewer bytes.
func encodeNumbers(values []uint64, signed bool) (c storedColumn) {
	sign := uint64(0) // added to a value, it makes the order of signed numbers that of unsigned numbers
	if signed {
		sign = 1 << 63
	}
	low, high := values[0]+sign, values[0]+sign
	for _, v := range values {
		low, high = min(low, v+sign), max(high, v+sign)
	}
	if low == high {
		return storedColumn{encoding: constant, base: values[0]}
	}
	c = storedColumn{encoding: plain, width: widthOf(high - low), base: low - sign}
	if c.width > 1 {
		if width := widthOfDifferences(values); width < c.width {
			c = storedColumn{encoding: differences, width: width, base: values[0]}
		}
	}
	c.stored = make([]byte, len(values)*int(c.width))
	base, follow := c.base, uint64(0) // the stored numbers are relative to base, or to the value before
	if c.encoding == differences {
		follow = ^uint64(0)
	}
	switch c.width {
	case 1:
		for i, v := range values {
			c.stored[i] = byte(v - base)
			base += (v - base) & follow
		}
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(c.stored[2*i:], uint16(v-base))
			base += (v - base) & follow
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(c.stored[4*i:], uint32(v-base))
			base += (v - base) & follow
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(c.stored[8*i:], v-base)
			base += (v - base) & follow
		}
	}
	c.plain = uint32(len(c.stored))
	return c
}

// widthOfDifferences returns the number of bytes for the differences of neighbouring values, which are signed.
func widthOfDifferences(values []uint64) uint8 {
	down, up := int64(-1), int64(0) // bounds of the differences
	before := values[0]
	for _, v := range values {
		d := int64(v - before)
		down, up, before = min(down, d), max(up, d), v
	}
	// Signed numbers of n bits range from -2^(n-1) to 2^(n-1)-1.
	farthest := max(uint64(up), uint64(^down))
	if farthest >= 1<<62 {
		return 8
	}
	return widthOf(farthest << 1)
}

// widthOf returns the number of bytes for an unsigned value: 1, 2, 4 or 8.
func widthOf(v uint64) uint8 {
	switch n := bits.Len64(v); {
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	case n <= 32:
		return 4
	}
	return 8
}

func appendNumber(b []byte, v uint64, width uint8) []byte {
	switch width {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// encodeTexts encodes the values of a column of texts.
func encodeTexts(values []string) (c storedColumn) {
	c.encoding = texts
	for _, v := range values {
		c.stored = binary.LittleEndian.AppendUint32(c.stored, uint32(len(v)))
	}
	for _, v := range values {
		c.stored = append(c.stored, v...)
	}
	c.plain = uint32(len(c.stored))
	return c
}

// smallestDeflated is the least number of bytes of a column to deflate.
const smallestDeflated = 64

// deflater deflates columns.
type deflater struct {
	writer *flate.Writer
	buffer bytes.Buffer
}

// deflate deflates a column, unless the result is larger.
func (d *deflater) deflate(c *storedColumn) {
	if len(c.stored) < smallestDeflated {
		return
	}
	d.buffer.Reset()
	if d.writer == nil {
		d.writer, _ = flate.NewWriter(nil, flate.DefaultCompression) // fails only for unknown levels
	}
	d.writer.Reset(&d.buffer)
	d.writer.Write(c.stored) // writes to a bytes.Buffer do not fail
	d.writer.Close()
	if d.buffer.Len() < len(c.stored) {
		c.stored = bytes.Clone(d.buffer.Bytes())
		c.flags |= isDeflated
	}
}

// inflated returns the stored bytes of a column, inflated.
func (c *storedColumn) inflated() ([]byte, error) {
	if crc32.ChecksumIEEE(c.stored) != c.sum {
		return nil, errors.New("a column is damaged: its checksum is wrong")
	}
	if c.flags&isDeflated == 0 {
		if uint32(len(c.stored)) != c.plain {
			return nil, errors.New("the stored size of an uncompressed column differs from its size")
		}
		return c.stored, nil
	}
	b := make([]byte, c.plain)
	r := flate.NewReader(bytes.NewReader(c.stored))
	defer r.Close()
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("a column cannot be decompressed: %w", err)
	}
	if n, _ := r.Read(make([]byte, 1)); n != 0 {
		return nil, errors.New("a column is longer than its descriptor states")
	}
	return b, nil
}

// maxInflation is the largest ratio of bytes to deflated bytes: a match of 258 bytes takes at least two bits.
const maxInflation = 4 * 258

// check returns an error if a column cannot hold values of a type for the given number of rows.
func (c *storedColumn) check(t Type, rows int) error {
	want := uint64(rows) * uint64(c.width)
	switch {
	case uint64(c.plain) > maxInflation*uint64(len(c.stored)):
		return errors.New("a column is larger than its stored bytes can hold")
	case c.flags&^isDeflated != 0:
		return fmt.Errorf("unknown flags %#x of a column", c.flags)
	case c.encoding >= encodings:
		return fmt.Errorf("unknown encoding %d of a column", c.encoding)
	case (c.encoding == texts) != (t == Text):
		return errors.New("a column has values of another type than the schema states")
	case c.encoding == texts:
		if uint64(c.plain) < 4*uint64(rows) || c.plain > maxBlockBytes {
			return errors.New("the size of a column of texts is wrong")
		}
		return nil
	case c.encoding == constant:
		want = 0
	case c.width != 1 && c.width != 2 && c.width != 4 && c.width != 8:
		return fmt.Errorf("a column has values of %d bytes; want 1, 2, 4 or 8", c.width)
	}
	if uint64(c.plain) != want {
		return errors.New("the size of a column does not match its number of values")
	}
	return nil
}

// numbers decodes a column of numbers, sign-extended for signed types.
func (c *storedColumn) numbers(t Type, rows int) ([]uint64, error) {
	if err := c.check(t, rows); err != nil {
		return nil, err
	}
	values := make([]uint64, rows)
	b, err := c.inflated()
	if err != nil {
		return nil, err
	}
	v := c.base
	for i := range values {
		switch c.encoding {
		case plain:
			v = c.base + number(b[i*int(c.width):], c.width)
		case differences:
			shift := 64 - 8*c.width
			v += uint64(int64(number(b[i*int(c.width):], c.width)<<shift) >> shift)
		}
		values[i] = t.extend(v)
	}
	return values, nil
}

func number(b []byte, width uint8) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// texts decodes a column of texts.
func (c *storedColumn) texts(rows int) ([]string, error) {
	if err := c.check(Text, rows); err != nil {
		return nil, err
	}
	b, err := c.inflated()
	if err != nil {
		return nil, err
	}
	lengths, all := b[:4*rows], string(b[4*rows:])
	values := make([]string, rows)
	for i := range values {
		n := binary.LittleEndian.Uint32(lengths[4*i:])
		if uint64(n) > uint64(len(all)) {
			return nil, errors.New("a text is longer than its column")
		}
		values[i], all = all[:n], all[n:]
	}
	return values, nil
}
