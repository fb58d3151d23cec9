package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/regfile"
)

// CompressRows compresses the loaded rows of all lanes into kept: first the rows of indices, then the rows of elements.
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
