package interp

import (
	"gemu/internal/tensormap"
)

// TensorMap is a tensor map: it describes how tensor copies select boxes of a tensor (manual 5.5). Its 128 bytes are an
// argument of a kernel, or lie in device memory. Package tensormap documents their layout.
type TensorMap = tensormap.Map

// TensorMap returns a tensor map of the buffer for a text such as "f16[64x32],box=8x32,swizzle=64": type and extents of the
// tensor, the outermost first, and of the box. tensormap.Parse documents all options. The error is a syntax error, or a
// property that a tensor map cannot have.
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
