package matrix

// This file has the multiplications of a warpgroup (manual 9.7.15). Each of its four warps has 16 rows of A and D; all
// warps share B.

import (
	"encoding/binary"
	"math"
	"math/bits"

	"gemu/ptx"
	"gemu/regfile"
)

// Warps is the number of warps in a warpgroup.
const Warps = 4

// WarpRows is the number of rows of A and D in each warp of a warpgroup.
const WarpRows = 16

// GroupRegisters is the maximum number of registers of a lane that hold a matrix of a warpgroup: a D of 256 columns.
const GroupRegisters = WarpRows * 256 / Lanes

// Descriptor is the descriptor of a matrix in shared memory (manual 9.7.15.5.1.2.2).
type Descriptor uint64

// field returns the 14 bits of the descriptor from bit shift on. They count units of 16 bytes; the result is in bytes.
func (d Descriptor) field(shift int) uint64 { return uint64(d) >> shift & 0x3fff * Chunk }

// Start is the address of the matrix in bytes.
func (d Descriptor) Start() uint64 { return d.field(0) }

// Leading is the leading dimension byte offset.
func (d Descriptor) Leading() uint64 { return d.field(16) }

// Stride is the stride dimension byte offset.
func (d Descriptor) Stride() uint64 { return d.field(32) }

// Base is the base offset: the number, modulo 8, of the 128-byte line at which a swizzling pattern begins.
func (d Descriptor) Base() uint64 { return uint64(d) >> 49 & 7 }

// Swizzle is the size in bytes of a row of the swizzling pattern; 16: no swizzling.
func (d Descriptor) Swizzle() int { return [...]int{16, 128, 64, 32}[d>>62] }

// Placement decodes the descriptor.
func (d Descriptor) Placement() Placement {
	return Placement{Start: d.Start(), Leading: d.Leading(), Stride: d.Stride(), Base: d.Base(), Width: d.Swizzle()}
}

// Placement is the position of a matrix in shared memory.
type Placement struct {
	Start, Leading, Stride uint64 // address and offsets, in bytes
	Base                   uint64 // number, modulo 8, of the 128-byte line at which a swizzling pattern begins
	Width                  int    // bytes of a row of the swizzling pattern; 16: no swizzling
	Pairs                  bool   // for a Width of 128: 32 bytes stay together, in patterns of four lines
}

// Shared describes a matrix in shared memory: A, or the transposed B, so that rows have K elements in both cases.
type Shared struct {
	K          int  // elements of a row
	Bits       int  // size of an element; 32 for b1
	Packed     int  // size in bits of elements packed in 16 bytes, followed by padding: 4 or 6; else 0
	Transposed bool // neighbours in memory are neighbours in a column, not in a row: imm-trans
}

// eachChunk calls f for each 16 bytes of the given number of rows, from row first on. f gets their address, and the row and
// the index of the first element in them (manual 9.7.15.5.1.2.1.3, canonical layouts). Without swizzling, neighbouring
// chunks have the distances that the descriptor gives; with swizzling, chunks are neighbours within a row of the pattern.
func (s *Shared) eachChunk(d Placement, first, rows int, f func(row, k int, addr uint64)) {
	perChunk, width := Chunk*8/s.Bits, d.Width // perChunk: elements of a chunk
	if !s.Transposed {
		for row := first; row < first+rows; row++ {
			for j := range s.K / perChunk {
				f(row, j*perChunk, s.chunkAddress(d, row, j))
			}
		}
		return
	}
	inRow, lines := width/Chunk, 8
	if d.Pairs {
		lines = 4
	}
	for k := range s.K {
		for j := first / perChunk; j < (first+rows)/perChunk; j++ {
			offset := uint64(j/inRow)*d.Leading + uint64(j%inRow)*Chunk + uint64(k/lines)*d.Stride
			if inRow == 1 {
				offset = uint64(j)*d.Stride + uint64(k/8)*d.Leading
			}
			f(j*perChunk, k, d.lineAddress(k%lines, offset))
		}
	}
}

// chunkAddress returns the address of the j-th 16 bytes of a row of a matrix that is not transposed.
func (s *Shared) chunkAddress(d Placement, row, j int) uint64 {
	step := uint64(Chunk)
	if d.Width == Chunk {
		step = d.Leading
	}
	return d.lineAddress(row%8, uint64(row/8)*d.Stride+uint64(j)*step)
}

// lineAddress returns the address of 16 bytes at an offset from the beginning of a line, which is counted in its pattern.
func (d *Placement) lineAddress(line int, offset uint64) uint64 {
	addr := d.Start + offset + uint64(line*d.Width)
	if d.Pairs {
		return SwizzlePairs(addr, d.Base)
	}
	return Swizzle(addr, d.Width, d.Base)
}

// Outside returns the address of the first 16 bytes of the rows, from row first on, that are not in the first size bytes of
// shared memory.
func (s *Shared) Outside(d Placement, first, rows int, size uint64) (addr uint64, outside bool) {
	s.eachChunk(d, first, rows, func(_, _ int, start uint64) {
		if start+Chunk > size && !outside {
			addr, outside = start, true
		}
	})
	return addr, outside
}

// Reads calls f for each contiguous range of n bytes of the rows, from row first on.
func (s *Shared) Reads(d Placement, first, rows int, f func(addr uint64, n int)) {
	n := Chunk
	if s.Packed != 0 {
		n = s.Packed * Chunk / 8
	}
	s.eachChunk(d, first, rows, func(_, _ int, addr uint64) { f(addr, n) })
}

// Load returns the elements of the rows, from row first on, row after row.
//
//go:norace
func (s *Shared) Load(memory []byte, d Placement, first, rows int) []uint32 {
	out := make([]uint32, rows*s.K)
	perChunk, size := Chunk*8/s.Bits, s.Bits/8
	s.eachChunk(d, first, rows, func(row, k int, addr uint64) {
		chunk := memory[addr:][:Chunk]
		if s.Packed != 0 {
			for i := range perChunk {
				out[(row-first)*s.K+k+i] = unpackElement(chunk, s.Packed, i)
			}
			return
		}
		for i := range perChunk {
			index := (row-first)*s.K + k + i
			if s.Transposed {
				index = (row-first+i)*s.K + k
			}
			switch e := chunk[i*s.Bits/8:]; size {
			case 0:
				out[index] = uint32(e[0]) >> (i % 2 * 4) & 15
			case 1:
				out[index] = uint32(e[0])
			case 2:
				out[index] = uint32(binary.LittleEndian.Uint16(e))
			default:
				out[index] = binary.LittleEndian.Uint32(e)
			}
		}
	})
	return out
}

// Wgmma is the multiplication D = A·B + D of a warpgroup, of 64×K, K×N and 64×N elements.
type Wgmma struct {
	N, K             int     // K is the number of stored columns of A: half of its columns if A is sparse
	A, D             Operand // the rows of A and D in the registers of a warp
	SharedA, SharedB Shared  // A and B in shared memory; SharedA is unused if registers hold A
	B                ptx.Type
	Negate           bool // negates the products, by negating a factor
	Saturate         bool // clamps integer results

	numerics *Numerics // numerics of floats
	formats  [3]format // formats of A, B and D
	Sparse   *Sparse   // metadata of a sparse A, half of which is stored; nil: A is dense (manual 9.7.15.6; its figures are those of mma.sp)
}

// NewWgmma returns the multiplication of wgmma.mma_async with the given extents and types. selector is the sparsity
// selector of a sparse A (manual 9.7.15.5). A warp has the fragments of an mma with 16 rows.
func NewWgmma(n, k int, d, a, b ptx.Type, sparse bool, selector int) *Wgmma {
	width := a.Bits()
	if a == ptx.B1 {
		width, k = 32, k/32
	}
	o := &Wgmma{N: n, B: b, SharedB: Shared{K: k, Bits: width}}
	if sparse {
		o.Sparse = NewSparse(SparsityOf(a, width, false), width, k, selector)
		k /= 2
	}
	o.K, o.SharedA = k, Shared{K: k, Bits: width}
	o.A = newOperand(a, width, Rows(WarpRows, k, 32/width), WarpRows, k)
	if a.IsFloat() {
		o.numerics, o.formats = NumericsFor(UnitWarpgroup, 90, a, b), [...]format{formatOf(a), formatOf(b), formatOf(d)}
	}
	o.D = Operand{Type: d, Bits: d.Bits(), perLane: WarpRows * n / Lanes}
	sums := Rows(WarpRows, 256, 2)
	for lane := range Lanes {
		for i := range o.D.perLane {
			pos := sums.Position(lane, i)
			o.D.indices = append(o.D.indices, uint16(pos.Row*n+pos.Col))
		}
	}
	return o
}

// NegateRegisters negates the elements of registers of A if the products are negated.
func (o *Wgmma) NegateRegisters(list []regfile.Row32) {
	if !o.Negate {
		return
	}
	negateElements(list, o.A.Bits, o.A.Bits-1)
}

// LoadRegisters returns the rows, from row first on, in the registers of fragments with eight rows: as for B of a panel, panel after
// panel. first and rows must be multiples of eight.
//
//go:norace
func (s *Shared) LoadRegisters(memory []byte, d Placement, first, rows int) []regfile.Row32 {
	const registerBytes = Chunk // of a row, in a register
	perRow := s.K * s.Bits / 8 / registerBytes
	out := make([]regfile.Row32, rows/8*perRow)
	perChunk := Chunk * 8 / s.Bits
	if !s.Transposed {
		var unpacked [Chunk]byte
		for row := range rows {
			for j := range perRow {
				chunk := (*[Chunk]byte)(memory[s.chunkAddress(d, first+row, j):])
				if s.Packed != 0 {
					for i := range unpacked {
						unpacked[i] = byte(unpackElement(chunk[:], s.Packed, i))
					}
					chunk = &unpacked
				}
				lanes := (*[4]uint32)(out[row/8*perRow+j][row%8*4:])
				for i := range lanes {
					lanes[i] = binary.LittleEndian.Uint32(chunk[4*i:])
				}
			}
		}
		return out
	}
	s.eachChunk(d, first, rows, func(row, k int, addr uint64) {
		chunk := memory[addr:][:Chunk]
		row -= first
		mask, width := uint32(1)<<s.Bits-1, 32/s.Bits
		for i := range perChunk {
			at, shift := row+i, k%width*s.Bits
			lane := &out[at/8*perRow+k/perChunk][at%8*4+k%perChunk/width]
			var v uint32
			switch s.Bits {
			case 8:
				v = uint32(chunk[i])
			case 16:
				v = uint32(binary.LittleEndian.Uint16(chunk[2*i:]))
			default:
				v = binary.LittleEndian.Uint32(chunk[4*i:])
			}
			*lane = *lane&^(mask<<shift) | v<<shift
		}
	})
	return out
}

// gatherWords collects the elements of a matrix from registers.
func (o *Operand) gatherWords(rows []*regfile.Row32, to []uint32) {
	perWord, mask := 32/o.Bits, uint32(1<<o.Bits-1)
	for i := range o.perLane {
		row, shift := rows[i/perWord], i%perWord*o.Bits
		for lane, v := range row {
			to[o.indices[lane*o.perLane+i]] = v >> shift & mask
		}
	}
}

// scatterWords writes the elements of a matrix to registers.
func (o *Operand) scatterWords(rows []*regfile.Row32, from []uint32) {
	perWord := 32 / o.Bits
	for i := 0; i < o.perLane; i += perWord {
		row := rows[i/perWord]
		for lane := range row {
			v := uint32(0)
			for k := range perWord {
				v |= from[o.indices[lane*o.perLane+i+k]] << (k * o.Bits)
			}
			row[lane] = v
		}
	}
}

// Execute multiplies the rows of A of a warp by B. a has the elements of A, row after row; it is nil if registers hold A. b
// has the elements of B, column after column. stored has the column of each stored element of a sparse A. Unless accumulate
// is set, the former D is not read.
func (o *Wgmma) Execute(d, registers []*regfile.Row32, a, b []uint32, stored []uint8, accumulate bool) {
	scratch := scratchPool.Get().(*scratch)
	defer scratchPool.Put(scratch)
	if a == nil {
		a = resize(&scratch.operandWords[0], WarpRows*o.K)
		o.A.gatherWords(registers, a)
	}
	sums := resize(&scratch.operandWords[1], WarpRows*o.N)
	if accumulate {
		o.D.gatherWords(d, sums)
	} else {
		clear(sums)
	}
	switch t := o.A.Type; {
	case t == ptx.B1:
		o.eachElement(sums, func(row, col int, c uint32) uint32 {
			for k := range o.K {
				c += uint32(bits.OnesCount32(a[row*o.K+k] & b[col*o.K+k]))
			}
			return c
		})
	case t.IsInt():
		o.multiplyIntegers(scratch, sums, a, b, stored)
	default:
		o.multiplyFloats(scratch, sums, a, b, stored)
	}
	o.D.scatterWords(d, sums)
}

// eachElement replaces every element by the result of f.
func (o *Wgmma) eachElement(sums []uint32, f func(row, col int, c uint32) uint32) {
	for row := range WarpRows {
		for col := range o.N {
			e := &sums[row*o.N+col]
			*e = f(row, col, *e)
		}
	}
}

// selectedColumn returns the elements of a column of B at the positions of the stored elements of a row of A. selected is
// working memory, used only for a sparse A.
func selectedColumn[T any](o *Wgmma, b []T, row, col int, stored []uint8, selected []T) []T {
	b = b[col*o.SharedB.K:][:o.SharedB.K]
	if stored == nil {
		return b
	}
	for k, column := range stored[row*o.K:][:o.K] {
		selected[k] = b[column]
	}
	return selected
}

// newSelection returns the working memory of selectedColumn; nil if A is dense.
func newSelection[T any](o *Wgmma) []T {
	if o.Sparse == nil {
		return nil
	}
	return make([]T, o.K)
}

func (o *Wgmma) multiplyIntegers(scratch *scratch, sums, a, b []uint32, stored []uint8) {
	convert := func(t ptx.Type, list []uint32, to []int32) []int32 {
		for i, v := range list {
			if to[i] = int32(v); t.IsSigned() {
				to[i] = int32(int8(v))
			}
		}
		return to
	}
	x, y, selected := convert(o.A.Type, a, resize(&scratch.integers[0], len(a))), convert(o.B, b, resize(&scratch.integers[1], len(b))), newSelection[int32](o)
	o.eachElement(sums, func(row, col int, c uint32) uint32 {
		sum := int64(int32(c))
		for k, v := range selectedColumn(o, y, row, col, stored, selected) {
			sum += int64(x[row*o.K+k]) * int64(v)
		}
		if o.Saturate {
			sum = max(math.MinInt32, min(math.MaxInt32, sum))
		}
		return uint32(sum)
	})
}

func (o *Wgmma) multiplyFloats(scratch *scratch, sums, a, b []uint32, stored []uint8) {
	fa, fb, to := &o.formats[0], &o.formats[1], &o.formats[2]
	convert := func(f *format, list []uint32, negate bool, out []number) []number {
		for i, v := range list {
			if out[i] = f.decode(uint64(v)); negate {
				out[i].mant = -out[i].mant
			}
		}
		return out
	}
	x, y, selected := convert(fa, a, o.Negate, resize(&scratch.factors[0], len(a))), convert(fb, b, false, resize(&scratch.factors[1], len(b))), newSelection[number](o)
	o.eachElement(sums, func(row, col int, c uint32) uint32 {
		return uint32(o.numerics.dot(x[row*o.K:][:o.K], selectedColumn(o, y, row, col, stored, selected), factors{fa, fb}, uint64(c), to, to))
	})
}
