package matrix

// This file has ldmatrix, stmatrix, wmma.load and wmma.store: it distributes rows in memory to the registers of lanes, and
// back.

import (
	"encoding/binary"
	mathbits "math/bits"

	"gemu/ptx"
)

// Tile is a group of matrices whose rows are in memory. Lane i has the address of row i%Rows of matrix i/Rows. Tiles of
// ldmatrix and stmatrix are in shared memory (manual 9.7.14.5.15, 9.7.14.5.16).
type Tile struct {
	Rows   int  // rows of a matrix, in memory
	Count  int  // number of matrices
	Bits   int  // size of an element in a register
	Packed int  // size of an element in memory, in bits
	Bytes  int  // size of a row
	Align  int  // required alignment of a row's address in bytes
	Signed bool // 4-bit elements in memory are sign-extended to Bits

	// HardwareAlign is the alignment in bytes that GPUs require for wmma.load and wmma.store, if it is less than Align: the
	// size of the widest access of a lane. 0: GPUs require Align.
	HardwareAlign int

	Shape      string // of ldmatrix and stmatrix: m8n8, m8n16, m16n8 or m16n16
	Transposed bool   // of ldmatrix and stmatrix: a row in memory is a column in the registers

	layout Layout
	places []place // positions of elements, by register, lane and element of the register
}

// RowBytes is the size in bytes of a row of ldmatrix and stmatrix, and the required alignment of its address. Only rows of
// signed 4-bit elements are shorter: see NewSignedTile.
const RowBytes = 16

// place is the place of an element: the row (rows of all matrices are numbered together) and the element in the row.
type place struct{ row, col uint8 }

// tiles has the tiles of ldmatrix and stmatrix, by shape. With ".trans" a row in memory is a column in the registers. The
// manual shows m16n16 and m16n8 in figures 105 and 108 only. The elements of each register come from NVIDIA's CUTLASS
// (cute/atom/copy_traits_sm100.hpp: SM100_U8x8_LDSM_T, SM100_U8x4_STSM_T).
var tiles = map[string]Tile{
	"m8n8":         {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2)},
	"m8n8.trans":   {Rows: 8, Bits: 16, Packed: 16, layout: Rows(8, 8, 2).Transposed()},
	"m8n16":        {Rows: 8, Bits: 8, Packed: 8, layout: Rows(8, 16, 4)},
	"m16n8.trans":  {Rows: 8, Bits: 8, Packed: 8, layout: Rows(16, 8, 2).Transposed()},
	"m16n16.trans": {Rows: 16, Bits: 8, Packed: 8, layout: Layout{Lane: Rows(8, 16, 4).Lane, Elem: []Step{{Col: 1}, {Row: 8}, {Col: 2}}}.Transposed()},
}

// NewTile makes the tile of count matrices of a shape of ldmatrix or stmatrix. packed is the size of an element in memory
// in bits; 0: the size of an element in a register.
func NewTile(shape string, transposed bool, count, packed int) *Tile {
	key := shape
	if transposed {
		key += ".trans"
	}
	t := tiles[key]
	t.Shape, t.Transposed = shape, transposed
	t.Count, t.Bytes, t.Align = count, RowBytes, RowBytes
	if packed != 0 {
		t.Packed = packed
	}
	t.placeElements()
	return &t
}

// NewSignedTile makes the tile of count matrices of 8×16 signed 4-bit elements, which become 8-bit elements in registers
// (manual of PTX 9.4, 9.7.16.5.15). A row has 8 bytes, without padding, and its address is a multiple of 8.
func NewSignedTile(count int) *Tile {
	t := tiles["m8n16"]
	t.Shape, t.Count, t.Packed, t.Signed = "m8n16", count, 4, true
	t.Bytes, t.Align = RowBytes/2, RowBytes/2
	t.placeElements()
	return &t
}

// placeElements sets places from the layout.
func (t *Tile) placeElements() {
	perWord := t.elemsPerRegister()
	registersPerMatrix := t.layout.Len() / perWord // registers per matrix
	for register := range t.Registers() {
		for lane := range Lanes {
			for k := range perWord {
				s := t.layout.Position(lane, register%registersPerMatrix*perWord+k)
				t.places = append(t.places, place{uint8(register/registersPerMatrix*t.Rows + s.Row), uint8(s.Col)})
			}
		}
	}
}

// elemsPerRegister is the number of elements in a register.
func (t *Tile) elemsPerRegister() int { return max(32/t.Bits, 1) }

// Addresses is the number of lanes that provide an address.
func (t *Tile) Addresses() int { return t.Rows * t.Count }

// widestAccess returns the size in bytes of the widest access of a lane on a GPU: the largest number of adjacent bytes of a
// row that a lane holds.
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

// LaneSteps returns the movement in memory, by rows and elements of a row, that each bit of a lane's number adds to the position of
// an element.
func (t *Tile) LaneSteps() [5]Step { return t.layout.Lane }

// ElementSteps returns the movement that each bit of the number of a lane's element adds.
func (t *Tile) ElementSteps() []Step { return t.layout.Elem }

// RegisterSteps returns the position in memory of the first element of a register of lane 0, and the movement to other elements
// of this register that each bit of the element's number adds. The tile must have a single matrix.
func (t *Tile) RegisterSteps(register int) (first Step, bits []Step) {
	n := t.elemsPerRegister()
	return t.layout.Position(0, register*n), t.layout.Elem[:mathbits.TrailingZeros(uint(n))]
}

// Load distributes the rows: it calls set with the value of each register of each lane.
func (t *Tile) Load(rows *[Lanes][]byte, set func(register, lane int, v uint64)) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := uint64(0)
			for k, pos := range t.placesOf(register, lane) {
				v |= t.element(rows[pos.row], int(pos.col)) << (k * t.Bits)
			}
			set(register, lane, v)
		}
	}
}

// Store fills the rows from the registers. get returns the value of a register of a lane.
func (t *Tile) Store(rows *[Lanes][]byte, get func(register, lane int) uint64) {
	for register := range t.Registers() {
		for lane := range Lanes {
			v := get(register, lane)
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

// element returns element col of a row, as it is in a register. A signed 4-bit element is sign-extended to its byte. Any
// other 4-bit element (.e2m1) goes to bits 2 to 5 of its byte, a 6-bit element to bits 0 to 5 (manual 9.7.16.9.1).
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

// unpackElement returns element i of a row in a byte of its own, at the bits that Tile.element describes. bits is the size
// of an element in the row, at most 8.
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

// Transpose exchanges rows and columns of an 8×8 matrix of 16-bit elements, which the lanes hold in one register each
// (manual 9.7.14.5.17).
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
