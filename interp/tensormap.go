package interp

import (
	"gemu/internal/tensormap"
)

// TensorMap is a tensor map: how copies of tensors take boxes out of one (manual 5.5). Its
// 128 bytes are an argument for a kernel, or lie in memory of the device; what is in them is said
// at package tensormap.
type TensorMap = tensormap.Map

// TensorMap makes a tensor map over the buffer, of a text such as "f16[64x32],box=8x32,swizzle=64":
// type and extents of the tensor, the outermost first, and of the box. tensormap.Parse says
// what else there can be. The error is that of the text, or what the map cannot be like.
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
