package matrix

// This file has structured sparse vectors in the registers of a thread: only some elements of each group are stored, with
// their indices (manual of PTX 9.4, 9.7.10.30, 9.7.10.31 and 9.7.18.8.3).

import (
	"fmt"

	"gemu/ptx"
)

// Compression describes how the registers of a thread hold a vector, dense (all elements) and compressed (stored elements
// and their indices). Elements and indices fill the registers from the lowest bit of the first register on.
type Compression struct {
	Elem, Index int // bits of an element and of an index
	Kept, Of    int // number of stored elements of each group, and of all elements of a group
	Dense       int // registers that hold all elements
}

// NewCompression returns the Compression with these fields, in their order.
func NewCompression(elem, index, stored, of, dense int) *Compression {
	return &Compression{elem, index, stored, of, dense}
}

// groups is the number of groups.
func (c *Compression) groups() int { return c.Dense * 32 / c.Elem / c.Of }

// Stored is the number of registers that hold the stored elements.
func (c *Compression) Stored() int { return (c.groups()*c.Kept*c.Elem + 31) / 32 }

// Indices is the number of registers that hold the indices of stored elements.
func (c *Compression) Indices() int { return (c.groups()*c.Kept*c.Index + 31) / 32 }

// bitsAt returns the i-th field of the given number of bits.
func bitsAt(words []uint32, bits, i int) uint32 {
	return uint32(uint64(words[i*bits/32]) >> (i * bits % 32) & (1<<bits - 1))
}

// setBits sets the i-th field of the given number of bits, which must be 0 before.
func setBits(words []uint32, bits, i int, v uint32) { words[i*bits/32] |= v << (i * bits % 32) }

// Choice is the rule by which spcompress selects two of each four elements.
type Choice struct {
	Type      ptx.Type
	Least     bool // the smallest elements are stored; false: the greatest
	Magnitude bool // magnitudes are compared, not values
}

// ChoiceOf decodes a sparsity descriptor for elements of elem bits (manual of PTX 9.4, table 38). The error describes
// an invalid descriptor.
func ChoiceOf(descriptor uint32, elem int) (Choice, error) {
	types := []ptx.Type{ptx.U8, ptx.S8, ptx.E5M2, ptx.E4M3, ptx.E3M2, ptx.E2M3}
	if elem == 16 {
		types = []ptx.Type{ptx.F16, ptx.BF16}
	}
	t := descriptor >> 2 & 7
	switch {
	case descriptor>>5 != 0:
		return Choice{}, fmt.Errorf("sparsity descriptor %#x: its reserved bits are not 0", descriptor)
	case int(t) >= len(types):
		return Choice{}, fmt.Errorf("sparsity descriptor %#x: type %d is not a type of %d-bit elements", descriptor, t, elem)
	}
	return Choice{Type: types[t], Least: descriptor&2 != 0, Magnitude: descriptor&1 != 0}, nil
}

// ranking computes the ranks of elements by a choice.
type ranking struct {
	Choice
	floatFormat // of a floating-point type; sign 0: integers
}

func (c Choice) ranking() ranking { return ranking{c, floats[c.Type]} }

// rank returns the rank of an element: elements of the highest ranks are stored.
func (r *ranking) rank(v uint32) int64 {
	var k int64
	switch {
	case r.sign != 0:
		magnitude := v & (r.sign - 1)
		if magnitude > r.last {
			return 1 << 40
		}
		if k = int64(magnitude); v&r.sign != 0 && !r.Magnitude {
			k = -1 - k // -0 is less than +0
		}
	case r.Type == ptx.U8:
		k = int64(v)
	default:
		if k = int64(int8(v)); r.Magnitude && k < 0 {
			k = -k
		}
	}
	if r.Least {
		return -k
	}
	return k
}

// floatFormat describes a format by its sign bit and its largest magnitude that is not a NaN. Bits above the sign are ignored.
type floatFormat struct{ sign, last uint32 }

// floats has the formats of floating-point types.
var floats = map[ptx.Type]floatFormat{
	ptx.F32: {1 << 31, 0x7f800000}, ptx.F16: {1 << 15, 0x7c00}, ptx.BF16: {1 << 15, 0x7f80},
	ptx.E5M2: {1 << 7, 0x7c}, ptx.E4M3: {1 << 7, 0x7e}, ptx.E3M2: {1 << 5, 0x1f}, ptx.E2M3: {1 << 5, 0x1f},
}

// Compress stores two of each four elements, in the order of the elements, and their indices. Of equal elements the first
// is stored. A NaN has a higher rank than all numbers. Compress overwrites stored and indices.
func (c *Compression) Compress(choice Choice, dense, stored, indices []uint32) {
	clear(stored)
	clear(indices)
	r := choice.ranking()
	for g := range c.groups() {
		var elems [4]uint32
		var ranks [4]int64
		for i := range ranks {
			elems[i] = bitsAt(dense, c.Elem, 4*g+i)
			ranks[i] = r.rank(elems[i])
		}
		first := 0
		for i, r := range ranks {
			if r > ranks[first] {
				first = i
			}
		}
		second := (first + 1) % 4
		if first != 0 {
			second = 0
		}
		for i, r := range ranks {
			if i != first && r > ranks[second] {
				second = i
			}
		}
		for k, i := range [2]int{min(first, second), max(first, second)} {
			setBits(stored, c.Elem, 2*g+k, elems[i])
			setBits(indices, c.Index, 2*g+k, uint32(i))
		}
	}
}

// Decompress writes each stored element to its index in its group. If two elements have the same index, the last one
// counts. All other elements become 0. It returns the first index that is not in its group, or -1.
func (c *Compression) Decompress(dense, stored, indices []uint32) int {
	clear(dense)
	for g := range c.groups() {
		var group [16]uint32
		for k := range c.Kept {
			i := bitsAt(indices, c.Index, g*c.Kept+k)
			if int(i) >= c.Of {
				return int(i)
			}
			group[i] = bitsAt(stored, c.Elem, g*c.Kept+k)
		}
		for i, v := range group[:c.Of] {
			setBits(dense, c.Elem, g*c.Of+i, v)
		}
	}
	return -1
}
