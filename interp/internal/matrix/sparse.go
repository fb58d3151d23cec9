package matrix

// This file has sparse matrices A (manual 9.7.14.6, 9.7.15.6): only half of the elements of a row are stored. Metadata has
// their positions.

import (
	"fmt"

	"gemu/ptx"
)

// Sparsity is the meaning of metadata. Four bits of metadata select the stored half of a chunk; a chunk is a number of
// neighbouring elements of a row (manual 9.7.14.6.1).
type Sparsity struct {
	Chunk   int  // elements of a chunk: 2, 4 or 8
	Ordered bool // the lower index must come first: .ordered_metadata
}

// SparsityOf returns the sparsity of a type. bits is the size of an element in registers.
func SparsityOf(t ptx.Type, bits int, ordered bool) Sparsity {
	switch {
	case t == ptx.TF32:
		return Sparsity{2, ordered}
	case bits == 4:
		return Sparsity{8, ordered}
	}
	return Sparsity{4, ordered}
}

// Indices returns the positions of the stored elements in their chunk. There are Chunk/2 of them. ok is false if the manual
// does not define the meaning of meta.
//
//	Chunk  meaning of meta
//	2      0b0100: the first element, 0b1110: the second
//	4      bits 0 and 1, and bits 2 and 3, are the indices of two different elements
//	8      bits 0 and 1, and bits 2 and 3, are the indices of two different pairs of elements
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

// Sparse describes the metadata of the 16 rows of a sparse A of mma.sp.
type Sparse struct {
	Sparsity
	Selector          int // selects the lanes of each group of four that hold the metadata
	lanesWithMetadata int // number of these lanes in each group of four
	chunks            int // number of chunks of a row
	layout            Layout
}

// NewSparse returns the metadata of a matrix of 16 rows of k elements. bits is the size of an element in registers (manual
// 9.7.14.6.2). For s4 and u4 with m16n8k128 the manual's figure shows another place of the upper half; NVIDIA's CUTLASS
// calls the figure wrong (cute/atom/mma_traits_sm80_sparse.hpp).
func NewSparse(s Sparsity, bits, k, selector int) *Sparse {
	o := &Sparse{Sparsity: s, Selector: selector, chunks: k / s.Chunk}
	o.layout.Lane = [5]Step{2: {Row: 1}, 3: {Row: 2}, 4: {Row: 4}}
	o.layout.Elem = []Step{{Col: 1}, {Col: 2}}
	if bits >= 16 { // a register has the metadata of four chunks of a row, and of four chunks of the row eight below
		o.layout.Elem = append(o.layout.Elem, Step{Row: 8})
		o.layout.Lane[0].Col = 4
	} else {
		o.layout.Elem = append(o.layout.Elem, Step{Col: 4})
		o.layout.Lane[0].Row, o.layout.Lane[1].Col = 8, 8
	}
	o.lanesWithMetadata = o.chunks / 4
	return o
}

// SelectedIndices returns the position in its row of each stored element of A. meta is the metadata register of all lanes.
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

// Undefined describes an operand with which the manual does not define the result, and the lanes that have it.
type Undefined struct {
	Lanes       uint32
	Description string
}
