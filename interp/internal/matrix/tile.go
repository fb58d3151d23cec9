package matrix

// This file is how rows in memory are shared out to the lanes.

import (
	"encoding/binary"

	"gemu/ptx"
)

// Tile is matrices in memory whose rows lie at addresses that lanes provide: lane i that of
// row i%Rows of matrix i/Rows. Those of ldmatrix and stmatrix are in shared memory (manual
// 9.7.14.5.15, 9.7.14.5.16).
type Tile struct {
	Rows   int  // of a matrix, in memory
	Count  int  // of matrices
	Bits   int  // of an element in a register
	Packed int  // … in memory
	Bytes  int  // of a row
	Align  int  // what the address of a row is a multiple of
	Signed bool // elements of 4 bits are extended with their sign

	// HardwareAlign is the alignment in bytes that GPUs need of wmma.load and wmma.store, if that is less than Align: see
	// widest. 0: there is none.
	HardwareAlign int

	layout Layout
	places []place // of elements, by register, lane and element of the register
}

// RowBytes is what a row of ldmatrix and stmatrix has: what its address is a multiple of.
const RowBytes = 16

// place is a row of the matrices, and an element of it.
type place struct{ row, col uint8 }

// The tiles of ldmatrix and stmatrix, by shape and by whether they are transposed: what is a row
// in memory is then a column in the registers. The manual shows m16n16 and m16n8 in figures
// 105 and 108; which register has which elements there is taken from NVIDIA's CUTLASS
// (cute/atom/copy_traits_sm100.hpp: SM100_U8x8_LDSM_T, SM100_U8x4_STSM_T).
var tiles = map[string]Tile{
	"m8n8":         {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2)},
	"m8n8.trans":   {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2).Transposed()},
	"m8n16":        {Rows: 8, Bits: 8, Packed: 8, layout: Rows(8, 16, 4)},
	"m16n8.trans":  {Rows: 8, Bits: 8, Packed: 8, layout: Rows(16, 8, 2).Transposed()},
	"m16n16.trans": {Rows: 16, Bits: 8, Packed: 8, layout: Layout{Lane: Rows(8, 16, 4).Lane, Elem: []Step{{Col: 1}, {Row: 8}, {Col: 2}}}.Transposed()},
}

// NewTile makes count matrices of a shape of ldmatrix or stmatrix, with elements that are
// packed in so many bits in memory; 0 for those of the shape.
func NewTile(shape string, transposed bool, count, packed int) *Tile {
	if transposed {
		shape += ".trans"
	}
	t := tiles[shape]
	t.Count, t.Bytes, t.Align = count, RowBytes, RowBytes
	if packed != 0 {
		t.Packed = packed
	}
	t.placeElements()
	return &t
}

// NewSignedTile makes count matrices of 8×16 signed elements of 4 bits, which become ones of 8 bits (manual of
// PTX 9.4, 9.7.16.5.15). A row is 8 bytes, without padding, and its address is a multiple of 8.
func NewSignedTile(count int) *Tile {
	t := tiles["m8n16"]
	t.Count, t.Packed, t.Signed = count, 4, true
	t.Bytes, t.Align = RowBytes/2, RowBytes/2
	t.placeElements()
	return &t
}

// placeElements finds the places.
func (t *Tile) placeElements() {
	perWord := t.elemsPerRegister()
	each := t.layout.Len() / perWord // registers of a matrix
	for register := range t.Registers() {
		for lane := range Lanes {
			for k := range perWord {
				s := t.layout.Position(lane, register%each*perWord+k)
				t.places = append(t.places, place{uint8(register/each*t.Rows + s.Row), uint8(s.Col)})
			}
		}
	}
}

// elemsPerRegister is how many elements a register has.
func (t *Tile) elemsPerRegister() int { return max(32/t.Bits, 1) }

// Addresses is how many lanes provide one.
func (t *Tile) Addresses() int { return t.Rows * t.Count }

// widestAccess is the most bytes that lie next to each other in a row and are of one lane: machine code accesses no more at once.
func (t *Tile) widestAccess() int {
	n := 1
	for lane := range Lanes {
		held := map[place]bool{}
		for register := range t.Registers() {
			for _, at := range t.placesOf(register, lane) {
				held[at] = true
			}
		}
		for at := range held {
			run := 1
			for held[place{at.row, at.col + uint8(run)}] {
				run++
			}
			n = max(n, run*t.Packed/8)
		}
	}
	return n
}

// Registers is how many registers of a lane hold the matrices, of 32 bits or, of f64, of 64.
func (t *Tile) Registers() int { return t.Count * t.layout.Len() / t.elemsPerRegister() }

// Load makes registers of the rows: register k of lane i is to(k, i).
func (t *Tile) Load(rows *[Lanes][]byte, to func(register, lane int, v uint64)) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := uint64(0)
			for k, at := range t.placesOf(register, lane) {
				v |= t.element(rows[at.row], int(at.col)) << (k * t.Bits)
			}
			to(register, lane, v)
		}
	}
}

// Store makes the rows of what the registers hold.
func (t *Tile) Store(rows *[Lanes][]byte, from func(register, lane int) uint64) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := from(register, lane)
			for k, at := range t.placesOf(register, lane) {
				for b := 0; b < t.Bits; b += 8 {
					rows[at.row][(int(at.col)*t.Bits+b)/8] = byte(v >> (k*t.Bits + b))
				}
			}
		}
	}
}

// placesOf is where the elements of a register are.
func (t *Tile) placesOf(register, lane int) []place {
	perWord := t.elemsPerRegister()
	return t.places[(register*Lanes+lane)*perWord:][:perWord]
}

// element is an element of a row. One of 4 bits is in the middle of its byte, and one of 6 in
// the lower bits (manual 9.7.16.9.1).
func (t *Tile) element(row []byte, col int) uint64 {
	at := col * t.Packed
	if t.Signed {
		return uint64(uint8(int8(row[at/8]<<(4-at%8)) >> 4))
	}
	switch t.Packed {
	case 16:
		return uint64(binary.LittleEndian.Uint16(row[at/8:]))
	case 32:
		return uint64(binary.LittleEndian.Uint32(row[at/8:]))
	case 64:
		return binary.LittleEndian.Uint64(row[at/8:])
	}
	return uint64(unpacked(row, t.Packed, col))
}

// unpacked is element i of so many bits, at most 8, in a byte of its own.
func unpacked(row []byte, bits, i int) uint32 {
	at := i * bits
	v := uint32(row[at/8]) | uint32(row[min(at/8+1, len(row)-1)])<<8
	v = v >> (at % 8) & (1<<bits - 1)
	if bits == 4 {
		v <<= shifts[ptx.E2M1]
	}
	return v
}

var plainTile, transposedTile = NewTile("m8n8", false, 1, 0), NewTile("m8n8", true, 1, 0)

// Transpose is the 8×8 elements of 16 bits that the lanes hold in a register, with rows and
// columns exchanged (manual 9.7.14.5.17).
func Transpose(a *[Lanes]uint32) (d [Lanes]uint32) {
	var memory [8][RowBytes]byte
	var rows [Lanes][]byte
	for i := range memory {
		rows[i] = memory[i][:]
	}
	plainTile.Store(&rows, func(_, lane int) uint64 { return uint64(a[lane]) })
	transposedTile.Load(&rows, func(_, lane int, v uint64) { d[lane] = uint32(v) })
	return d
}
