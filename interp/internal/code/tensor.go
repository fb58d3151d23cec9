package code

// This file is what an instruction on tensors in global memory is, for Instr.Imm.

import (
	"gemu/internal/tensormap"
	"gemu/ptx"
)

// Tensor is a copy or reduction between a tensor and shared memory. Its coordinates, then its
// offsets, then the mask of CTAs, are listed in its CallSite; then come the operands that override properties of
// the map: the address and, with Shape, the extents, the lower strides and the upper ones.
type Tensor struct {
	Shared, Map   ptx.Space // of the addresses
	MbarrierSpace ptx.Space // of that of the mbarrier which is told
	Mode          tensormap.Mode
	Dims          int
	Rows          bool // four of them
	Store         bool // to the tensor
	Multicast     bool
	Reduces       bool
	Override      bool // the address of the tensor is an operand
	Shape         bool // and so are extents and strides
	Report        PatternCheck
	Op            AtomicOp
}

// Imm packs it.
func (t Tensor) Imm() uint64 {
	v := uint64(t.Shared) | uint64(t.Map)<<8 | uint64(t.MbarrierSpace)<<16 | uint64(t.Mode)<<24 | uint64(t.Dims)<<32 | uint64(t.Op)<<40 | uint64(t.Report)<<56
	for i, flag := range []bool{t.Rows, t.Store, t.Multicast, t.Reduces, t.Override, t.Shape} {
		if flag {
			v |= 1 << (48 + i)
		}
	}
	return v
}

// TensorOf is what Imm has packed.
func TensorOf(imm uint64) Tensor {
	flag := func(i int) bool { return imm>>(48+i)&1 != 0 }
	return Tensor{
		Shared: ptx.Space(imm & 0xff), Map: ptx.Space(imm >> 8 & 0xff), MbarrierSpace: ptx.Space(imm >> 16 & 0xff), Mode: tensormap.Mode(imm >> 24 & 0xff),
		Dims: int(imm >> 32 & 0xff), Op: AtomicOp(imm >> 40 & 0xff), Rows: flag(0), Store: flag(1), Multicast: flag(2), Reduces: flag(3),
		Override: flag(4), Shape: flag(5), Report: PatternCheck(imm >> 56 & 0xf),
	}
}

// Coordinates is how many coordinates it has.
func (t Tensor) Coordinates() int {
	if t.Rows {
		return tensormap.Rank
	}
	return t.Dims
}

// MapField is what tensormap.replace changes.
type MapField struct {
	Space ptx.Space // of the address
	Field int       // index of MapFields
	Ord   int
}

// MapFields are the fields of a tensor map that can be changed.
var MapFields = []string{
	"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode", tensormap.AllocClass,
}

// Imm packs it.
func (m MapField) Imm() uint64 { return uint64(m.Space) | uint64(m.Field)<<8 | uint64(m.Ord)<<16 }

// MapFieldOf is what Imm has packed.
func MapFieldOf(imm uint64) MapField {
	return MapField{ptx.Space(imm & 0xff), int(imm >> 8 & 0xff), int(imm >> 16)}
}
