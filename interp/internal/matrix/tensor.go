package matrix

// This file has tensor memory (manual 9.7.16.1) and its accesses by tcgen05.ld, .st, .cp and .shift. Each CTA has a tensor
// memory of 128 lanes and 512 columns of 32 bits.

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"gemu/regfile"
)

// Extents of tensor memory, and the unit of allocation.
const (
	TensorLanes   = 128
	TensorColumns = 512
	WideColumns   = 576 // columns of an exclusive allocation on sm_107
	TensorUnit    = 32  // an allocation has a multiple of this number of columns
	quarterLanes  = TensorLanes / Warps
)

// TensorMemory is the tensor memory of a CTA.
type TensorMemory [TensorLanes][WideColumns]uint32

// cells returns all cells, lane after lane.
func (m *TensorMemory) cells() []uint32 { return unsafe.Slice(&m[0][0], TensorLanes*WideColumns) }

// TensorAddress is an address in tensor memory: the lane in the upper half, the column in the lower half (manual
// 9.7.16.1.1).
type TensorAddress uint32

// Lane is the lane of the address.
func (a TensorAddress) Lane() int { return int(a >> 16) }

// Column is the column of the address.
func (a TensorAddress) Column() int { return int(a & 0xffff) }

func (a TensorAddress) String() string {
	return fmt.Sprintf("lane %d, column %d of tensor memory (%#x)", a.Lane(), a.Column(), uint32(a))
}

// Region is a rectangle of tensor memory: a range of lanes and a range of columns.
type Region struct{ Lane, Lanes, Column, Columns int }

// Overlaps reports whether two regions have a cell in common.
func (r Region) Overlaps(o Region) bool {
	return r.Lane < o.Lane+o.Lanes && o.Lane < r.Lane+r.Lanes && r.Column < o.Column+o.Columns && o.Column < r.Column+r.Columns
}

func (r Region) String() string {
	return fmt.Sprintf("lanes %d to %d, columns %d to %d", r.Lane, r.Lane+r.Lanes-1, r.Column, r.Column+r.Columns-1)
}

// TensorTile maps the registers of a warp's lanes to the cells of tensor memory that tcgen05.ld and tcgen05.st access
// (manual 9.7.16.2.3.1). The manual's figures agree with CUTLASS, cute/atom/copy_traits_sm100.hpp.
type TensorTile struct {
	Rows      int    // number of lanes of tensor memory: 16 or 32
	Registers int    // number of registers of a lane of the warp
	Split     int    // for .16x32bx2: distance in columns from the first half to the second half; else 0
	Halves    bool   // lanes 16 to 31 of the warp access the second half: .16x32bx2
	Packed    bool   // a register holds the lower halves of two neighbouring columns
	shape     string // .32x32b and so on, without the dot
	num       int    // repeat count: .x1, .x2, …
}

// NewTensorTile returns the tile of a shape with repeat count num (.x1, .x2, …).
func NewTensorTile(shape string, num int) *TensorTile {
	t := &TensorTile{Rows: 16, Registers: num, shape: shape, num: num, Halves: shape == "16x32bx2"}
	switch shape {
	case "32x32b":
		t.Rows = 32
	case "16x128b":
		t.Registers = 2 * num
	case "16x256b":
		t.Registers = 4 * num
	}
	return t
}

// position returns the lane and the column of tensor memory, relative to the address of the access, for a register of a
// lane of the warp.
func (t *TensorTile) position(register, lane int) (row, column int) {
	quad, inQuad := lane/4, lane%4
	switch t.shape {
	case "16x64b":
		row, column = lane%2*8+quad, 2*register+lane/2%2
	case "16x128b":
		row, column = register%2*8+quad, register/2*4+inQuad
	case "16x256b":
		row, column = register/2%2*8+quad, register/4*8+2*inQuad+register%2
	case "16x32bx2":
		row, column = lane%16, register
	default:
		row, column = lane, register
	}
	if t.Packed {
		column *= 2
	}
	if t.Halves {
		column += lane / 16 * t.Split
	}
	return row, column
}

// Regions returns the cells that an access of the tile at an address reads or writes.
func (t *TensorTile) Regions(a TensorAddress) []Region {
	columns := t.num * map[string]int{"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8, "16x32bx2": 1}[t.shape]
	if t.Packed {
		columns *= 2
	}
	list := []Region{{a.Lane(), t.Rows, a.Column(), columns}}
	if t.Halves {
		list = append(list, Region{a.Lane(), t.Rows, a.Column() + t.Split, columns})
	}
	return list
}

// laneOffsets returns the distance in cells from register 0 of lane 0 to register 0 of each lane. Register i has the same
// distance from register 0 in all lanes: registerOffset.
func (t *TensorTile) laneOffsets() (offsets [Lanes]int) {
	for lane := range offsets {
		row, column := t.position(0, lane)
		offsets[lane] = row*WideColumns + column
	}
	return offsets
}

// registerOffset returns the distance in cells from register 0 to register i.
func (t *TensorTile) registerOffset(i int) int {
	row, column := t.position(i, 0)
	return row*WideColumns + column
}

// Load fills registers from tensor memory, beginning at an address.
func (t *TensorTile) Load(m *TensorMemory, a TensorAddress, to []*regfile.Row32) {
	cells, lanes := m.cells()[a.Lane()*WideColumns+a.Column():], t.laneOffsets()
	for i, row := range to {
		cells := cells[t.registerOffset(i):]
		for lane := range row {
			if row[lane] = cells[lanes[lane]]; t.Packed {
				row[lane] = row[lane]&0xffff | cells[lanes[lane]+1]<<16
			}
		}
	}
}

// Store writes the values of registers to tensor memory, beginning at an address.
func (t *TensorTile) Store(m *TensorMemory, a TensorAddress, from []regfile.Row32) {
	cells, lanes := m.cells()[a.Lane()*WideColumns+a.Column():], t.laneOffsets()
	for i := range from {
		cells := cells[t.registerOffset(i):]
		for lane, v := range &from[i] {
			if t.Packed {
				cells[lanes[lane]], cells[lanes[lane]+1] = v&0xffff, v>>16
			} else {
				cells[lanes[lane]] = v
			}
		}
	}
}

// TensorDescriptor is the descriptor of a matrix in shared memory (manual 9.7.16.4.1).
type TensorDescriptor uint64

// tensorSwizzles is the size in bytes of a row of the swizzling pattern, by bits 61 to 63 of the descriptor.
var tensorSwizzles = [8]int{0: 16, 1: 128, 2: 128, 4: 64, 6: 32}

// Placement decodes the descriptor. bad describes a violation of the manual; it is "" if there is none.
func (d TensorDescriptor) Placement() (p Placement, bad string) {
	f := Descriptor(d)
	mode := d >> 61
	p = Placement{Start: f.Start(), Leading: f.Leading(), Stride: f.Stride(), Base: f.Base(), Width: tensorSwizzles[mode], Pairs: mode == 1}
	switch {
	case p.Width == 0:
		bad = fmt.Sprintf("swizzling mode %d", mode)
	case d>>46&7 != 1:
		bad = fmt.Sprintf("bits 46 to 48 are 0b%03b, want 0b001", d>>46&7)
	case d>>53&0xff != 0:
		bad = fmt.Sprintf("bits 53 to 60 are %#x, want 0", d>>53&0xff)
	}
	return p, bad
}

// Absolute reports whether the leading dimension is an address, not an offset.
func (d TensorDescriptor) Absolute() bool { return d>>52&1 != 0 }

// TensorCopy is a copy of rows from shared memory to tensor memory by tcgen05.cp (manual 9.7.16.9.2). The destination lanes
// of .4x256b and .64x128b come from a measurement by Apache TVM (tcgen05_cp.md, on a B200).
type TensorCopy struct {
	Rows, Columns int
	Packed        int               // size in bits of an element that is unpacked to 8 bits; 0: no unpacking
	laneOf        func(row int) int // lane of tensor memory for a row
	laneOffsets   []int             // the row is copied to the lanes at these distances from laneOf
}

func identity(row int) int { return row }

// tensorCopies has the copies by shape, with the text of .multicast.
var tensorCopies = map[string]TensorCopy{
	"128x256b":              {Rows: 128, Columns: 8, laneOf: identity, laneOffsets: []int{0}},
	"4x256b":                {Rows: 4, Columns: 8, laneOf: func(row int) int { return quarterLanes * row }, laneOffsets: []int{0}},
	"128x128b":              {Rows: 128, Columns: 4, laneOf: identity, laneOffsets: []int{0}},
	"64x128b.warpx2::02_13": {Rows: 64, Columns: 4, laneOf: identity, laneOffsets: []int{0, 64}},
	"64x128b.warpx2::01_23": {Rows: 64, Columns: 4, laneOf: func(row int) int { return row/32*64 + row%32 }, laneOffsets: []int{0, 32}},
	"32x128b.warpx4":        {Rows: 32, Columns: 4, laneOf: identity, laneOffsets: []int{0, 32, 64, 96}},
}

// NewTensorCopy returns the copy of a shape. multicast is the text of .multicast, or "". The result is nil if there is no
// such copy.
func NewTensorCopy(shape, multicast string, packed int) *TensorCopy {
	if multicast != "" {
		shape += "." + multicast
	}
	c, ok := tensorCopies[shape]
	if !ok {
		return nil
	}
	c.Packed = packed
	return &c
}

// source describes the rows in shared memory as a matrix of 32-bit elements.
func (c *TensorCopy) source() *Shared { return &Shared{K: c.Columns, Bits: 32} }

// Outside returns the address of the first 16 bytes of the rows that are not in the first size bytes of shared memory.
func (c *TensorCopy) Outside(p Placement, size uint64) (addr uint64, outside bool) {
	return c.source().Outside(p, 0, c.Rows, size)
}

// Reads calls f for each range of n bytes of shared memory that the copy reads.
func (c *TensorCopy) Reads(p Placement, f func(addr uint64, n int)) {
	s := c.source()
	s.Packed = c.Packed
	s.Reads(p, 0, c.Rows, f)
}

// Regions returns the cells that the copy writes.
func (c *TensorCopy) Regions(a TensorAddress) []Region {
	if c.Rows < quarterLanes {
		var list []Region
		for row := range c.Rows {
			list = append(list, Region{a.Lane() + c.laneOf(row), 1, a.Column(), c.Columns})
		}
		return list
	}
	return []Region{{a.Lane(), TensorLanes, a.Column(), c.Columns}}
}

// Execute copies the rows.
//
//go:norace
func (c *TensorCopy) Execute(m *TensorMemory, a TensorAddress, shared []byte, p Placement) {
	words := c.source().Load(shared, p, 0, c.Rows)
	if c.Packed != 0 {
		for i := 0; i < len(words); i += Chunk / 4 {
			unpackChunk(words[i:][:Chunk/4], c.Packed)
		}
	}
	for row := range c.Rows {
		for _, d := range c.laneOffsets {
			copy(m[a.Lane()+c.laneOf(row)+d][a.Column():], words[row*c.Columns:][:c.Columns])
		}
	}
}

// unpackChunk expands the elements of the given number of bits in a chunk to 16 elements of 8 bits (manual 9.7.16.9.1).
func unpackChunk(words []uint32, bits int) {
	var chunk [Chunk]byte
	for i, v := range words {
		binary.LittleEndian.PutUint32(chunk[4*i:], v)
		words[i] = 0
	}
	for i := range chunk {
		words[i/4] |= unpackElement(chunk[:], bits, i) << (i % 4 * 8)
	}
}

// shiftColumns is the number of columns that tcgen05.shift moves: 32 bytes.
const shiftColumns = 8

// ShiftRegion returns the cells that tcgen05.shift accesses: shiftColumns columns of the 32 lanes of a warp.
func ShiftRegion(a TensorAddress) Region {
	return Region{a.Lane(), quarterLanes, a.Column(), shiftColumns}
}

// ShiftDown copies the cells of each lane of a warp, except the last, to the next lane (manual 9.7.16.9.3). The first lane
// keeps its cells.
func (m *TensorMemory) ShiftDown(a TensorAddress) {
	for lane := a.Lane() + quarterLanes - 1; lane > a.Lane(); lane-- {
		copy(m[lane][a.Column():][:shiftColumns], m[lane-1][a.Column():])
	}
}
