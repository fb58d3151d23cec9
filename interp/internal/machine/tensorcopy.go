package machine

import (
	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// TensorCopy is the tensor side of an effect; the other side is the box in shared memory.
type TensorCopy struct {
	Copy       tensormap.Copy
	MapAddress uint64 // address of the tensor map
	MapSpace   ptx.Space
	Map        *tensormap.Map // the tensor map; nil before it is read
	Reduce     code.AtomicOp
	Override   *tensormap.Override // replacements of fields of the map; nil: none
}

// DecodedMap is a tensor map with its encoding.
type DecodedMap struct {
	Encoded [tensormap.Size]byte
	Map     *tensormap.Map // never changes; nil: none
}
