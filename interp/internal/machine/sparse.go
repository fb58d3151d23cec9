package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// CompressRows compresses, for each lane, the elements in the rows of loaded. It writes to the rows of kept first the
// indices, then the kept elements.
func CompressRows(c *code.TensorCompression, loaded, kept []*regfile.Row32) {
	dense, result := make([]uint32, len(loaded)), make([]uint32, len(kept))
	for lane := range matrix.Lanes {
		for i, row := range loaded {
			dense[i] = row[lane]
		}
		c.Compress(c.Choice, dense, result[c.Indices():], result[:c.Indices()])
		for i, row := range kept {
			row[lane] = result[i]
		}
	}
}
