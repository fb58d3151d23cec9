package interp

import (
	"gemu/internal/tensormap"
)

// TensorMap returns the 128 bytes of a tensor map of the buffer, which describes how tensor copies select boxes of a tensor
// (manual 5.5). The caller passes them as an argument of a kernel, or writes them to device memory. The text has the type and
// the extents of the tensor, and options in any order:
//
//	f16[64x32],box=8x32,swizzle=64
//
// Extents and all further values for each dimension begin with the outermost dimension, and are separated by x.
//
//	box=8x32       elements of the box
//	strides=64     bytes, of all dimensions except the innermost; default: no gaps
//	steps=1x1      traversal strides
//	swizzle=128    bytes: 32, 64, 96 or 128; 128/32, 128/64 and 128/32/8 with further atomicities
//	interleave=16  bytes: 16 or 32
//	fill=nan       elements outside of the tensor are NaN
//	offset=128     bytes from the start of the buffer to the tensor
//	mode=im2col    or im2col::w, im2col::w::128; then four options replace box:
//	channels=8     channels per pixel
//	pixels=64      pixels per column
//	lower=-1x-1    lower corner of the bounding box, in D, H and W, or in W
//	upper=-1x-1    its upper corner
//
// The error is a syntax error, or a property that a tensor map cannot have.
func (b *Buffer) TensorMap(text string) ([]byte, error) {
	m, err := tensormap.Parse(text)
	if err != nil {
		return nil, err
	}
	m.Address += b.Addr()
	if err := m.Check(); err != nil {
		return nil, err
	}
	data := m.Encode()
	return data[:], nil
}
