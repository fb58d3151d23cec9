package code

// This file packs the properties of instructions on tensors in global memory into Instr.Imm.

import (
	"gemu/internal/tensormap"
	"gemu/ptx"
)

// Tensor contains the properties of a copy or reduction between a tensor and shared memory, for Instr.Imm. The
// instruction's CallSite lists its coordinates, its offsets and the CTA mask. The operands that override properties of the
// map follow: the address and, with Shape, the extents, the lower halves of the strides and their upper halves.
type Tensor struct {
	Shared, Map   ptx.Space // spaces of the addresses
	MbarrierSpace ptx.Space // space of the notified mbarrier's address
	Mode          tensormap.Mode
	Dims          int
	Rows          bool // it copies four separate rows (.tile::gather4 or .tile::scatter4)
	Store         bool // it writes the tensor
	Multicast     bool
	Reduces       bool
	Override      bool         // an operand overrides the address of the tensor
	Shape         bool         // operands override the extents and strides
	Report        PatternCheck // pattern to search in the source
	Op            AtomicOp
}

// Imm packs t into an Instr.Imm.
func (t Tensor) Imm() uint64 {
	v := uint64(t.Shared) | uint64(t.Map)<<8 | uint64(t.MbarrierSpace)<<16 | uint64(t.Mode)<<24 | uint64(t.Dims)<<32 | uint64(t.Op)<<40 | uint64(t.Report)<<56
	for i, flag := range []bool{t.Rows, t.Store, t.Multicast, t.Reduces, t.Override, t.Shape} {
		if flag {
			v |= 1 << (48 + i)
		}
	}
	return v
}

// TensorOf is the inverse of Tensor.Imm.
func TensorOf(imm uint64) Tensor {
	flag := func(i int) bool { return imm>>(48+i)&1 != 0 }
	return Tensor{
		Shared: ptx.Space(imm & 0xff), Map: ptx.Space(imm >> 8 & 0xff), MbarrierSpace: ptx.Space(imm >> 16 & 0xff), Mode: tensormap.Mode(imm >> 24 & 0xff),
		Dims: int(imm >> 32 & 0xff), Op: AtomicOp(imm >> 40 & 0xff), Rows: flag(0), Store: flag(1), Multicast: flag(2), Reduces: flag(3),
		Override: flag(4), Shape: flag(5), Report: PatternCheck(imm >> 56 & 0xf),
	}
}

// Coordinates returns the number of coordinates; for four rows, their common coordinate and their four indices.
func (t Tensor) Coordinates() int {
	if t.Rows {
		return tensormap.Rank
	}
	return t.Dims
}

// MapField is the change made by a tensormap.replace.
type MapField struct {
	Space ptx.Space // space of the address
	Field int       // index in MapFields
	Ord   int       // dimension of the field, counted from 0
}

// MapFields lists the fields of a tensor map that can be replaced.
var MapFields = []string{
	"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode", tensormap.AllocClass,
}

// Imm packs m into an Instr.Imm.
func (m MapField) Imm() uint64 { return uint64(m.Space) | uint64(m.Field)<<8 | uint64(m.Ord)<<16 }

// MapFieldOf is the inverse of MapField.Imm.
func MapFieldOf(imm uint64) MapField {
	return MapField{ptx.Space(imm & 0xff), int(imm >> 8 & 0xff), int(imm >> 16)}
}
