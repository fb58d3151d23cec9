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

// sparse executes spcompress and spdecompress. A lane reads all its registers before it writes.
func sparse(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	frags := &w.CTA.Code.Fragments[instr.Side]
	c := frags.Sparse
	a, b, e, d := async.TensorRows(f, frags.A, false), async.TensorRows(f, frags.B, false), async.TensorRows(f, frags.E, false), async.TensorRows(f, frags.D, true)
	read := func(rows []*regfile.Row32, lane int) []uint32 {
		words := make([]uint32, len(rows))
		for i, row := range rows {
			words[i] = row[lane]
		}
		return words
	}
	bad, what := uint32(0), ""
	for left := m; left != 0; left &= left - 1 {
		lane := bits.TrailingZeros32(left)
		result, wrong := make([]uint32, len(d)), ""
		if len(e) > 0 {
			if reduction, err := matrix.ChoiceOf(e[0][lane], c.Elem); err != nil {
				wrong = err.Error()
			} else {
				c.Compress(reduction, read(a, lane), result[c.Indices():], result[:c.Indices()])
			}
		} else if i := c.Decompress(result, read(b, lane), read(a, lane)); i >= 0 {
			wrong = fmt.Sprintf("index %d in a group of %d", i, c.Of)
		}
		if wrong != "" {
			if bad |= 1 << lane; what == "" {
				what = wrong
			}
			continue
		}
		for i, row := range d {
			row[lane] = result[i]
		}
	}
	if bad != 0 {
		lanes := uint64(bad) << (32 * h)
		w.Fail(w.SourceOf(instr), lanes, probe.ErrMatrix, "%v: %s with %s, in %s", probe.ErrMatrix, w.SourceOf(instr).Text, what, probe.LaneText(lanes))
	}
}
