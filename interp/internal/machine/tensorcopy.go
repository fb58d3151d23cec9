package machine

import (
	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// TensorCopy is what an effect is of a tensor, beside the box in shared memory.
type TensorCopy struct {
	Copy   tensormap.Copy
	At     uint64 // the address of the map
	Space  ptx.Space
	M      *tensormap.Map // once it has been read
	Reduce code.AtomicOp
	With   *tensormap.Override // nil: the map has everything
}
