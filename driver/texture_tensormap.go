package driver

// This file makes tensor maps (driver API, "Tensor Map Object Management").

import (
	"gemu/internal/tensormap"
)

// TensorMap holds the bytes of a CUtensorMap.
type TensorMap [tensormap.Size]byte

// Tensor holds the common parameters of the functions for tensor maps. Enumerations have the API's numbers. The first
// dimension is the innermost.
type Tensor struct {
	Type    uint32   // CUtensorMapDataType
	Address uint64   // device address of the first element
	Dims    []uint64 // in elements, for each dimension
	Strides []uint64 // in bytes, for each dimension except the innermost
	Steps   []uint32 // traversal strides in elements, for each dimension (elementStrides)

	Interleave uint32 // CUtensorMapInterleave
	Swizzle    uint32 // CUtensorMapSwizzle
	L2         uint32 // CUtensorMapL2promotion; without effect
	OOB        uint32 // CUtensorMapFloatOOBfill: elements outside the tensor are 0 (0) or NaN (1)
}

// tensorMap makes a map from the common parameters. The caller must add the parameters of the mode.
func tensorMap(s *Tensor, mode tensormap.Mode) (*tensormap.Map, error) {
	n := len(s.Dims)
	switch {
	case n < 1 || n > tensormap.Rank || len(s.Strides) < n-1 || len(s.Steps) < n:
		return nil, fail(InvalidValue, "a tensor of %d dimensions, with %d strides and %d traversal strides: want 1 to %d dimensions, a stride for each except the first, and a traversal stride for each",
			n, len(s.Strides), len(s.Steps), tensormap.Rank)
	case s.Type >= uint32(len(tensormap.Types)) || s.Swizzle >= uint32(len(tensormap.Swizzles)) || s.Interleave >= uint32(tensormap.InterleaveCount) || s.OOB > 1 || s.L2 > 3:
		return nil, fail(InvalidValue, "type %d, swizzle %d, interleave %d, fill %d, promotion %d of a tensor map: one of these numbers is invalid", s.Type, s.Swizzle, s.Interleave, s.OOB, s.L2)
	}
	m := &tensormap.Map{
		Mode: mode, Type: tensormap.Types[s.Type], Rank: n, Address: s.Address, Swizzle: tensormap.Swizzles[s.Swizzle],
		Interleave: tensormap.Interleave(s.Interleave), NaN: s.OOB == 1, L2: uint8(s.L2),
	}
	copy(m.Dim[:], s.Dims)
	copy(m.Stride[:], s.Strides[:n-1])
	copy(m.Step[:], s.Steps)
	if m.Interleave == tensormap.NoInterleave {
		m.Step[0] = 1 // the client's value is ignored
	}
	return m, nil
}

// encode checks a map and returns its bytes. err is the error of making the map: if it is not nil, encode returns it.
func (t *Thread) encode(m *tensormap.Map, err error) (TensorMap, error) {
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return TensorMap{}, err
	}
	if err := m.Check(); err != nil {
		return TensorMap{}, fail(InvalidValue, "%v", err)
	}
	return m.Encode(), nil
}

// TensorMapEncodeTiled is cuTensorMapEncodeTiled; box is the size of a box in elements, by dimension.
func (t *Thread) TensorMapEncodeTiled(s *Tensor, box []uint32) (TensorMap, error) {
	m, err := tensorMap(s, tensormap.Tiled)
	if err == nil && len(box) < m.Rank {
		err = fail(InvalidValue, "a box of %d dimensions for a tensor of %d", len(box), m.Rank)
	}
	if err == nil {
		copy(m.Box[:m.Rank], box)
	}
	return t.encode(m, err)
}

// TensorMapEncodeIm2col is cuTensorMapEncodeIm2col. lower and upper are the corners of the bounding box of pixels, in the
// order W, H, D, as CUTLASS passes them. channels and pixels are the numbers of each in a box.
func (t *Thread) TensorMapEncodeIm2col(s *Tensor, lower, upper []int32, channels, pixels uint32) (TensorMap, error) {
	m, err := tensorMap(s, tensormap.Im2col)
	if err == nil && (m.Rank < 3 || len(lower) < m.Rank-2 || len(upper) < m.Rank-2) {
		err = fail(InvalidValue, "im2col needs a tensor of at least 3 dimensions and corners of 2 fewer: the tensor has %d, the corners have %d and %d", m.Rank, len(lower), len(upper))
	}
	if err == nil {
		copy(m.Lower[:m.Rank-2], lower)
		copy(m.Upper[:m.Rank-2], upper)
		m.Box[0], m.Box[1] = channels, pixels
	}
	return t.encode(m, err)
}

// TensorMapEncodeIm2colWide is cuTensorMapEncodeIm2colWide; mode is a CUtensorMapIm2ColWideMode.
func (t *Thread) TensorMapEncodeIm2colWide(s *Tensor, lower, upper int32, channels, pixels, mode uint32) (TensorMap, error) {
	if mode > 1 {
		return TensorMap{}, fail(InvalidValue, "CUtensorMapIm2ColWideMode %d, want 0 (W) or 1 (W128)", mode)
	}
	m, err := tensorMap(s, [...]tensormap.Mode{tensormap.Im2colW, tensormap.Im2colW128}[mode])
	if err == nil {
		m.Lower[0], m.Upper[0], m.Box[0], m.Box[1] = lower, upper, channels, pixels
	}
	return t.encode(m, err)
}

// TensorMapReplaceAddress is cuTensorMapReplaceAddress: it returns a copy of the map with another address.
func (t *Thread) TensorMapReplaceAddress(b *TensorMap, address uint64) (TensorMap, error) {
	m, err := tensormap.Decode(b[:])
	if err != nil {
		return TensorMap{}, fail(InvalidValue, "%v", err)
	}
	m.Address = address
	return t.encode(m, nil)
}
