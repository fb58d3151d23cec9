package matrix

// This file distributes rows in memory to the lanes.

import (
	"encoding/binary"

	"gemu/ptx"
)

// Tile is a group of matrices in memory whose rows lie at addresses from the lanes: lane i has the address of row
// i%Rows of matrix i/Rows. Tiles of ldmatrix and stmatrix lie in shared memory (manual 9.7.14.5.15, 9.7.14.5.16).
type Tile struct {
	Rows   int  // rows of a matrix, in memory
	Count  int  // number of matrices
	Bits   int  // size of an element in a register
	Packed int  // size of an element in memory, in bits
	Bytes  int  // size of a row
	Align  int  // required alignment of a row's address in bytes
	Signed bool // 4-bit elements in memory are sign-extended to Bits

	// HardwareAlign is the alignment in bytes that suffices on GPUs for wmma.load and wmma.store, where it is less than
	// Align, which the manual requires (see widestAccess); 0: the same as Align.
	HardwareAlign int

	layout Layout
	places []place // positions of elements, by register, lane and element of the register
}

// RowBytes is the size and alignment in bytes of a row of ldmatrix and stmatrix, except for signed 4-bit elements (NewSignedTile).
const RowBytes = 16

// place is a row of the matrices and an element of this row.
type place struct{ row, col uint8 }

// tiles has the tiles of ldmatrix and stmatrix, by shape. With ".trans" a row in memory is a column in the registers.
// The manual shows m16n16 and m16n8 in figures 105 and 108; the elements of each register come from NVIDIA's CUTLASS
// (cute/atom/copy_traits_sm100.hpp: SM100_U8x8_LDSM_T, SM100_U8x4_STSM_T).
var tiles = map[string]Tile{
	"m8n8":         {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2)},
	"m8n8.trans":   {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2).Transposed()},
	"m8n16":        {Rows: 8, Bits: 8, Packed: 8, layout: Rows(8, 16, 4)},
	"m16n8.trans":  {Rows: 8, Bits: 8, Packed: 8, layout: Rows(16, 8, 2).Transposed()},
	"m16n16.trans": {Rows: 16, Bits: 8, Packed: 8, layout: Layout{Lane: Rows(8, 16, 4).Lane, Elem: []Step{{Col: 1}, {Row: 8}, {Col: 2}}}.Transposed()},
}

// NewTile makes count matrices of a shape of ldmatrix or stmatrix. packed is the size of an element in memory in bits;
// 0: as in the register.
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

// NewSignedTile makes count matrices of 8×16 signed 4-bit elements, which become 8-bit elements in registers (manual of
// PTX 9.4, 9.7.16.5.15). A row has 8 bytes, without padding, and its address is a multiple of 8.
func NewSignedTile(count int) *Tile {
	t := tiles["m8n16"]
	t.Count, t.Packed, t.Signed = count, 4, true
	t.Bytes, t.Align = RowBytes/2, RowBytes/2
	t.placeElements()
	return &t
}

// placeElements fills places.
func (t *Tile) placeElements() {
	perWord := t.elemsPerRegister()
	each := t.layout.Len() / perWord // registers per matrix
	for register := range t.Registers() {
		for lane := range Lanes {
			for k := range perWord {
				s := t.layout.Position(lane, register%each*perWord+k)
				t.places = append(t.places, place{uint8(register/each*t.Rows + s.Row), uint8(s.Col)})
			}
		}
	}
}

// elemsPerRegister is the number of elements in a register.
func (t *Tile) elemsPerRegister() int { return max(32/t.Bits, 1) }

// Addresses is the number of lanes that provide an address.
func (t *Tile) Addresses() int { return t.Rows * t.Count }

// widestAccess returns the largest number of adjacent bytes of a row that a lane holds: no single access of a lane on a GPU
// is wider.
func (t *Tile) widestAccess() int {
	n := 1
	for lane := range Lanes {
		held := map[place]bool{}
		for register := range t.Registers() {
			for _, pos := range t.placesOf(register, lane) {
				held[pos] = true
			}
		}
		for pos := range held {
			run := 1
			for held[place{pos.row, pos.col + uint8(run)}] {
				run++
			}
			n = max(n, run*t.Packed/8)
		}
	}
	return n
}

// Registers is the number of registers of a lane that hold the matrices: of 32 bits, or of 64 bits for f64.
func (t *Tile) Registers() int { return t.Count * t.layout.Len() / t.elemsPerRegister() }

// Load distributes the rows: it calls to with the value of each register of each lane.
func (t *Tile) Load(rows *[Lanes][]byte, to func(register, lane int, v uint64)) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := uint64(0)
			for k, pos := range t.placesOf(register, lane) {
				v |= t.element(rows[pos.row], int(pos.col)) << (k * t.Bits)
			}
			to(register, lane, v)
		}
	}
}

// Store fills the rows from the registers, which from returns.
func (t *Tile) Store(rows *[Lanes][]byte, from func(register, lane int) uint64) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := from(register, lane)
			for k, pos := range t.placesOf(register, lane) {
				for b := 0; b < t.Bits; b += 8 {
					rows[pos.row][(int(pos.col)*t.Bits+b)/8] = byte(v >> (k*t.Bits + b))
				}
			}
		}
	}
}

// placesOf returns the positions of the elements in a register of a lane.
func (t *Tile) placesOf(register, lane int) []place {
	perWord := t.elemsPerRegister()
	return t.places[(register*Lanes+lane)*perWord:][:perWord]
}

// element returns an element of a row. A signed 4-bit element is sign-extended to its byte. An unsigned 4-bit element goes
// to bits 2 to 5 of its byte, a 6-bit element to the lower bits (manual 9.7.16.9.1).
func (t *Tile) element(row []byte, col int) uint64 {
	bit := col * t.Packed
	if t.Signed {
		return uint64(uint8(int8(row[bit/8]<<(4-bit%8)) >> 4))
	}
	switch t.Packed {
	case 16:
		return uint64(binary.LittleEndian.Uint16(row[bit/8:]))
	case 32:
		return uint64(binary.LittleEndian.Uint32(row[bit/8:]))
	case 64:
		return binary.LittleEndian.Uint64(row[bit/8:])
	}
	return uint64(unpackElement(row, t.Packed, col))
}

// unpackElement returns element i of a row of elements of the given number of bits (at most 8), in a byte of its own.
func unpackElement(row []byte, bits, i int) uint32 {
	bit := i * bits
	v := uint32(row[bit/8]) | uint32(row[min(bit/8+1, len(row)-1)])<<8
	v = v >> (bit % 8) & (1<<bits - 1)
	if bits == 4 {
		v <<= shifts[ptx.E2M1]
	}
	return v
}

var plainTile, transposedTile = NewTile("m8n8", false, 1, 0), NewTile("m8n8", true, 1, 0)

// Transpose exchanges rows and columns of the 8×8 matrix of 16-bit elements that the lanes hold in a register (manual
// 9.7.14.5.17).
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
