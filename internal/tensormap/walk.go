package tensormap

// This file enumerates the bytes that a copy transfers.

import (
	"errors"
	"fmt"
	"math/bits"
)

// Copy holds the operands of a copy instruction, in addition to its map.
type Copy struct {
	Mode  Mode
	Dims  int  // number of coordinates of the instruction; always 2 with Rows
	Rows  bool // four rows: .tile::gather4, .tile::scatter4
	Store bool // direction: to the tensor
	Reset bool // the instruction sets the extents: coordinates are zero

	// Coordinates, the innermost first. With Rows, the coordinate of the columns, then the coordinates of four rows.
	Position [Rank]int32

	// For Im2col the offsets of W, H and D; for Im2colW and Im2colW128 the halo and the offset of W.
	Offsets [3]uint16
}

// Override holds the properties that the operands of a copy set instead of its tensor map (manual of PTX 9.4,
// 9.7.10.28.5.2).
type Override struct {
	Address uint64 // address of the tensor, in bytes; must be a multiple of 16
	Dims    int    // number of extents, as many as the map has dimensions; 0: use those of the map
	Dim     [Rank]uint16
	Low     [Rank - 1]uint32 // strides in units of 16 bytes: their lower 32 bits
	High    uint16           // their upper bits, 4 for each, with dimension 1 in the lowest
}

// apply sets the overridden properties of a map.
func (o *Override) apply(m *Map) error {
	if o.Address%16 != 0 {
		return fmt.Errorf("a tensor at %#x by .override::global_address, want a multiple of 16", o.Address)
	}
	m.Address, m.given = o.Address, m.given|hasAddress
	if o.Dims == 0 {
		return nil
	}
	if m.Rank != o.Dims {
		return fmt.Errorf("a tensor map of %d dimensions in a copy of %d", m.Rank, o.Dims)
	}
	for i, n := range o.Dim[:o.Dims] {
		if n == 0 || n > 255 {
			return fmt.Errorf("an extent of %d elements in dimension %d by .override, want 1 to 255", n, i)
		}
		if m.Dim[i], m.given = uint64(n), m.given|hasDim<<i; i > 0 {
			m.Stride[i-1], m.given = (uint64(o.Low[i-1])+uint64(o.High>>(4*(i-1))&15)<<32)<<4, m.given|hasStride<<(i-1)
		}
	}
	return nil
}

// String returns the coordinates in the notation of an instruction.
func (c *Copy) String() string {
	n := c.Dims
	if c.Rows {
		n = Rank
	}
	s := "{"
	for i, v := range c.Position[:n] {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(v)
	}
	return s + "}"
}

// Segment is a part of a box whose bytes are contiguous in both memories.
type Segment struct {
	Shared uint64 // address in shared memory
	Global uint64 // address in global memory; of elements outside of the tensor, their hypothetical address
	Bytes  int    // size in both memories; for stores of B6x16P32, in global memory
	Inside bool   // inside the tensor
	First  bool   // it is the first of its row inside the tensor
}

// ErrInterleaved is the error of an interleaved layout.
var ErrInterleaved = errors.New("interleaved layouts are not supported: the stride of their slices is not documented")

// SharedAlign is the required alignment of the address in shared memory.
const SharedAlign = 128

// Fits returns an error if the map does not fit the copy.
func (m *Map) Fits(c *Copy) error {
	switch {
	case m.Interleave != NoInterleave:
		return ErrInterleaved
	case m.Mode != c.Mode:
		return fmt.Errorf("a tensor map for .%s in a copy of .%s", m.Mode, c.Mode)
	case m.Rank != c.Dims:
		return fmt.Errorf("a tensor map of %d dimensions in a copy of %d", m.Rank, c.Dims)
	case c.Rows && m.Box[1] != 1:
		return fmt.Errorf("a box of %d rows in a copy of four", m.Box[1])
	case c.Store && m.Type == B4x16P64:
		return fmt.Errorf("a tensor of .%s cannot be stored to", m.Type)
	case c.Store && m.Swizzle.Atomicity == Atom32Flip8:
		return fmt.Errorf("a swizzle with halves of 16 bytes exchanged, in a store")
	}
	unit := int32(1)
	switch m.Type {
	case B4x16:
		unit = 2
	case B4x16P64, B6x16P32:
		unit = 128
	}
	if c.Position[0]%unit != 0 {
		return fmt.Errorf("a coordinate of %d elements of .%s, want a multiple of %d", c.Position[0], m.Type, unit)
	}
	if c.Reset && c.Position != [Rank]int32{} {
		return fmt.Errorf("coordinates other than zero in a copy that overrides extents")
	}
	if c.Store {
		n := c.Dims
		if c.Rows {
			n = Rank
		}
		for i, v := range c.Position[:n] {
			if v < 0 {
				return fmt.Errorf("coordinate %d is %d, in a store, where it must not be negative", i, v)
			}
		}
		for i := range m.Rank - 2 {
			if m.Mode != Tiled && (m.Lower[i] < 0 || m.Upper[i] > 0) {
				return fmt.Errorf("a bounding box that is larger than the tensor in dimension %d, in a store", i+1)
			}
		}
	}
	switch c.Mode {
	case Im2col:
		for i := range m.Rank - 2 {
			if at := int64(c.Position[i+1]); at < int64(m.Lower[i]) || at > m.last(i) {
				return fmt.Errorf("coordinate %d is %d, outside of the bounding box from %d to %d", i+1, at, m.Lower[i], m.last(i))
			}
			if maximum := uint16(1<<[...]int{16, 8, 5}[m.Rank-3] - 1); c.Offsets[i] > maximum {
				return fmt.Errorf("an offset of %d, at most %d is possible", c.Offsets[i], maximum)
			}
		}
	case Im2colW, Im2colW128:
		if at := int64(c.Position[1]); at > m.last(0) { // it may lie to the left
			return fmt.Errorf("coordinate 1 is %d, outside of the bounding box to %d", at, m.last(0))
		}
		maximum := uint16(512)
		if c.Mode == Im2colW128 {
			maximum = 32
		}
		if c.Offsets[0] >= maximum || c.Offsets[1] >= 32 {
			return fmt.Errorf("a halo of %d and an offset of %d, want less than %d and 32", c.Offsets[0], c.Offsets[1], maximum)
		}
	}
	return nil
}

// last returns the last coordinate of the bounding box in a spatial dimension.
func (m *Map) last(i int) int64 { return int64(m.Dim[i+1]) - 1 + int64(m.Upper[i]) }

// rows returns the number of rows of a copy, each of Box[0] elements.
func (m *Map) rows(c *Copy) int {
	switch {
	case c.Rows:
		return 4
	case c.Mode == Im2col:
		return int(m.Box[1])
	case c.Mode == Im2colW:
		return int(m.Box[1]) + int(c.Offsets[0])
	case c.Mode == Im2colW128:
		return 4 * (32 + int(c.Offsets[0]))
	}
	n := 1
	for i := 1; i < m.Rank; i++ {
		n *= m.steps(i)
	}
	return n
}

// steps returns the number of elements of the box in a dimension after the first.
func (m *Map) steps(i int) int { return int((m.Box[i] + m.Step[i] - 1) / m.Step[i]) }

// Bytes returns the number of bytes of a copy that an mbarrier counts: elements without padding.
func (m *Map) Bytes(c *Copy) uint64 {
	return uint64(m.rows(c)) * uint64(m.Box[0]) * uint64(m.Type.Bits()) / 8
}

// pitch returns the distance of rows in shared memory in bytes: a row shorter than the swizzle span is padded.
func (m *Map) pitch() uint64 {
	return max(uint64(m.Box[0])*uint64(m.Type.sharedBits())/8, m.Swizzle.Mode.Span())
}

// Walk passes the segments of a copy from or to an address in shared memory to yield, until it returns false.
func (m *Map) Walk(c *Copy, shared uint64, yield func(p Segment) bool) {
	m.walk(c, shared, false, yield)
}

// WalkRows is Walk with the longest segments: a row of the box is one segment, or up to three if elements are outside the
// tensor, unless a swizzle or padding separates its elements in shared memory.
func (m *Map) WalkRows(c *Copy, shared uint64, yield func(p Segment) bool) {
	m.walk(c, shared, m.Swizzle.Mode == NoSwizzle && !m.Type.Padded(), yield)
}

// walk passes the segments of a copy to yield. With whole, nothing separates the elements of a row.
func (m *Map) walk(c *Copy, shared uint64, whole bool, yield func(p Segment) bool) {
	pitch := m.pitch()
	for i, x := range m.boxStarts(c) {
		if !m.row(&x, shared+uint64(i)*pitch, whole, yield) {
			return
		}
	}
}

// boxStarts yields the coordinates at which rows begin, in the order of shared memory.
func (m *Map) boxStarts(c *Copy) func(yield func(int, [Rank]int64) bool) {
	if c.Mode != Tiled {
		return func(yield func(int, [Rank]int64) bool) { m.pixels(c, yield) }
	}
	var at [Rank]int64
	for i := range m.Rank {
		at[i] = int64(c.Position[i])
	}
	return func(yield func(int, [Rank]int64) bool) {
		x, end := at, at
		for i := 1; i < m.Rank; i++ {
			end[i] += int64(m.Box[i])
		}
		for row := range m.rows(c) {
			if c.Rows {
				x[1] = int64(c.Position[1+row])
			}
			if !yield(row, x) {
				return
			}
			for i := 1; i < m.Rank && !c.Rows; i++ {
				if x[i] += int64(m.Step[i]); x[i] < end[i] {
					break
				}
				x[i] = at[i]
			}
		}
	}
}

// pixels yields the starts of im2col modes (manual 5.5.4, 5.5.5): along W, H and D inside the bounding box, then on to
// the next image. In the single-row modes only W and the image change; the halo is the pixels that follow. After each
// 32 pixels of Im2colW128 comes the halo, and the next 32 begin with it, too.
func (m *Map) pixels(c *Copy, yield func(int, [Rank]int64) bool) {
	var from, to, pos, offset [3]int64
	spatial := m.Rank - 2
	for i := range spatial {
		from[i], to[i], pos[i] = int64(m.Lower[i]), m.last(i), int64(c.Position[i+1])
		if c.Mode == Im2col {
			offset[i] = int64(c.Offsets[i])
		}
	}
	moving, group := spatial, m.rows(c)
	if c.Mode != Im2col {
		moving = 1
		w := int64(c.Offsets[1])
		from[0], to[0], pos[0] = from[0]+w, to[0]+w, pos[0]+w
	}
	if c.Mode == Im2colW128 {
		group = 32 + int(c.Offsets[0])
	}
	image := int64(c.Position[m.Rank-1])
	next, nextImage := pos, image // start of the next group
	for row := range m.rows(c) {
		switch {
		case row > 0 && row%group == 0:
			pos, image = next, nextImage
		case row%group == 32:
			next, nextImage = pos, image
		}
		var x [Rank]int64
		x[0], x[m.Rank-1] = int64(c.Position[0]), image
		for i := range spatial {
			x[i+1] = pos[i] + offset[i]
		}
		if !yield(row, x) {
			return
		}
		i := 0
		for ; i < moving; i++ {
			if pos[i] += int64(m.Step[i+1]); pos[i] <= to[i] {
				break
			}
			pos[i] = from[i]
		}
		if i == moving {
			image++
		}
		if row%group == 31 && group == 32 { // without a halo
			next, nextImage = pos, image
		}
	}
}

// Extent returns the number of bytes from the first element of the tensor to the last; ok is false if they are 2^62 or more.
func (m *Map) Extent() (n uint64, ok bool) {
	n = (m.Dim[0]*uint64(m.Type.Bits()) + 7) / 8
	for i := 1; i < m.Rank; i++ {
		high, low := bits.Mul64(m.Dim[i]-1, m.Stride[i-1])
		if n += low; high != 0 || low >= 1<<62 || n >= 1<<62 {
			return 0, false
		}
	}
	return n, true
}

// row yields the segments of a row. With whole, nothing separates its elements in shared memory, and a segment may be longer
// than 16 bytes.
func (m *Map) row(x *[Rank]int64, shared uint64, whole bool, yield func(p Segment) bool) bool {
	inside := true
	base := m.Address
	for i := 1; i < m.Rank; i++ {
		inside = inside && x[i] >= 0 && uint64(x[i]) < m.Dim[i]
		base += uint64(x[i]) * m.Stride[i-1]
	}
	chunk := uint64(16)
	if m.Swizzle.Atomicity == Atom32Flip8 {
		chunk = 8
	}
	width, n := int64(m.Type.Bits()), int64(chunk)*8/int64(m.Type.sharedBits())
	if whole {
		n = int64(m.Box[0])
	}
	end := x[0] + int64(m.Box[0])
	from, to := min(max(x[0], 0), end), min(max(int64(m.Dim[0]), x[0]), end) // the part inside the tensor
	if !inside {
		from, to = end, end
	}
	for first := x[0]; first < end; first += n {
		next := min(first+n, end)
		for i := first; i < next; {
			p := Segment{Inside: i >= from && i < to, First: i == from, Global: base + uint64(i*width>>3)}
			stop := next
			switch {
			case i < from:
				stop = min(next, from)
			case i < to:
				stop = min(next, to)
			}
			p.Shared = m.Swizzle.Apply(shared + uint64((i-first)*int64(m.Type.sharedBits()))>>3)
			p.Bytes = int((stop - i) * width >> 3)
			if !yield(p) {
				return false
			}
			i = stop
		}
		shared += chunk
	}
	return true
}

// Span returns the number of bytes in shared memory from the first byte of a copy to the last.
func (m *Map) Span(c *Copy) uint64 { return uint64(m.rows(c)) * m.pitch() }
