package matrix

// This file has sparse matrices A (manual 9.7.14.6, 9.7.15.6): half of the elements of a row are stored, and metadata
// has their positions.

import (
	"fmt"

	"gemu/ptx"
)

// Sparsity is the meaning of four bits of metadata, which select the stored half of a chunk: neighbours in a row of the
// whole matrix (manual 9.7.14.6.1).
type Sparsity struct {
	Chunk   int  // elements of a chunk: 2, 4 or 8
	Ordered bool // the lower index must come first: .ordered_metadata
}

// SparsityOf returns the sparsity of a type whose elements take the given number of bits in registers.
func SparsityOf(t ptx.Type, bits int, ordered bool) Sparsity {
	switch {
	case t == ptx.TF32:
		return Sparsity{2, ordered}
	case bits == 4:
		return Sparsity{8, ordered}
	}
	return Sparsity{4, ordered}
}

// Indices returns the positions in their chunk of the Chunk/2 stored elements. ok is false if the manual leaves the
// meaning of meta undefined.
//
//	chunk  indices of    meaning
//	2      –             0b0100: the first, 0b1110: the second
//	4      elements      bits 0 and 1, and bits 2 and 3: two different elements
//	8      pairs         the same of pairs
func (s Sparsity) Indices(meta uint32) (indices [4]uint8, ok bool) {
	first, second := uint8(meta&3), uint8(meta>>2&3)
	switch s.Chunk {
	case 2:
		indices[0] = second >> 1
		return indices, meta == 0b0100 || meta == 0b1110
	case 4:
		indices[0], indices[1] = first, second
	default:
		indices = [4]uint8{2 * first, 2*first + 1, 2 * second, 2*second + 1}
	}
	return indices, first < second || first > second && !s.Ordered
}

// Sparse is the metadata of the 16 rows of a sparse A of mma.sp.
type Sparse struct {
	Sparsity
	Selector          int // lanes of four that have the metadata
	lanesWithMetadata int // number of lanes of four that have it
	chunks            int // chunks of a row
	layout            Layout
}

// NewSparse returns the metadata of a matrix of 16 rows of k elements, which take the given number of bits in registers
// (manual 9.7.14.6.2). The manual's figure for s4 and u4 with m16n8k128 shows another place of the upper half; NVIDIA's
// CUTLASS calls it wrong (cute/atom/mma_traits_sm80_sparse.hpp).
func NewSparse(s Sparsity, bits, k, selector int) *Sparse {
	o := &Sparse{Sparsity: s, Selector: selector, chunks: k / s.Chunk}
	o.layout.Lane = [5]Step{2: {Row: 1}, 3: {Row: 2}, 4: {Row: 4}}
	o.layout.Elem = []Step{{Col: 1}, {Col: 2}}
	if bits >= 16 { // a register has four chunks of a row, and of the row eight below
		o.layout.Elem = append(o.layout.Elem, Step{Row: 8})
		o.layout.Lane[0].Col = 4
	} else {
		o.layout.Elem = append(o.layout.Elem, Step{Col: 4})
		o.layout.Lane[0].Row, o.layout.Lane[1].Col = 8, 8
	}
	o.lanesWithMetadata = o.chunks / 4
	return o
}

// SelectedIndices returns the position in its row of each stored element of A. meta is the metadata register of the
// lanes.
func (o *Sparse) SelectedIndices(meta *[Lanes]uint32) ([]uint8, *Undefined) {
	if o.Selector >= 4/o.lanesWithMetadata {
		return nil, &Undefined{^uint32(0), fmt.Sprintf("sparsity selector %d, with metadata in %d lanes of four", o.Selector, o.lanesWithMetadata)}
	}
	stored := o.Chunk / 2
	list := make([]uint8, 16*o.chunks*stored)
	var bad uint32
	value := uint32(0)
	for lane, word := range meta {
		if lane%4/o.lanesWithMetadata != o.Selector {
			continue
		}
		for i := range 8 {
			place := o.layout.Position(lane&^3|lane%o.lanesWithMetadata, i)
			indices, ok := o.Sparsity.Indices(word >> (4 * i) & 15)
			if !ok && bad == 0 {
				value = word >> (4 * i) & 15
			}
			if !ok {
				bad |= 1 << lane
			}
			for k := range stored {
				list[(place.Row*o.chunks+place.Col)*stored+k] = uint8(place.Col*o.Chunk) + indices[k]
			}
		}
	}
	if bad != 0 {
		return nil, &Undefined{bad, fmt.Sprintf("metadata 0b%04b", value)}
	}
	return list, nil
}

// Undefined describes an operand for which the manual leaves the result undefined, and the lanes that have it.
type Undefined struct {
	Lanes       uint32
	Description string
}
