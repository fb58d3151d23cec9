package lanes

// This file compresses and decompresses structured sparse vectors (manual of PTX 9.4, 9.7.10.30 and 9.7.10.31).

import (
	"fmt"
	"math/bits"

	"gemu/interp/internal/async"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/matrix"
	"gemu/probe"
	"gemu/regfile"
)

// sparse executes spcompress and spdecompress. A lane reads all its source registers before it writes a result.
func sparse(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	frags := &w.CTA.Code.Fragments[instr.Side]
	c := frags.Sparse
	a, b, e, d := async.TensorRows(f, frags.A, false), async.TensorRows(f, frags.B, false), async.TensorRows(f, frags.E, false), async.TensorRows(f, frags.D, true)
	read := func(words []uint32, rows []*regfile.Row32, lane int) []uint32 {
		for i, row := range rows {
			words[i] = row[lane]
		}
		return words
	}
	result, values, indices := make([]uint32, len(d)), make([]uint32, len(a)), make([]uint32, len(b))
	bad, why := uint32(0), ""
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n)
		laneWhy := ""
		if len(e) > 0 {
			if choice, err := matrix.ChoiceOf(e[0][lane], c.Elem); err != nil {
				laneWhy = err.Error()
			} else {
				c.Compress(choice, read(values, a, lane), result[c.Indices():], result[:c.Indices()])
			}
		} else if i := c.Decompress(result, read(indices, b, lane), read(values, a, lane)); i >= 0 {
			laneWhy = fmt.Sprintf("index %d in a group of %d", i, c.Of)
		}
		if laneWhy != "" {
			if bad |= 1 << lane; why == "" {
				why = laneWhy
			}
			continue
		}
		for i, row := range d {
			row[lane] = result[i]
		}
	}
	if bad != 0 {
		lanes := uint64(bad) << (32 * h)
		w.Fail(w.SourceOf(instr), lanes, probe.ErrMatrix, "%v: %s with %s, in %s", probe.ErrMatrix, w.SourceOf(instr).Text, why, probe.LaneText(lanes))
	}
}
