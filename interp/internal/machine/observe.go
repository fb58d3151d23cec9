package machine

import (
	"gemu/interp/internal/code"
)

// PairsFrom returns the instructions of a block from a pc on, paired with the reference's instructions; nil
// without a reference.
func (w *Warp) PairsFrom(b *code.Block, pc int32) []InstrPair {
	ref := w.CTA.Grid.Reference
	if ref == nil {
		return nil
	}
	pairs := ref.Pairs[b.Index]
	for n := b.First; n < pc; pairs = pairs[1:] {
		if pairs[0].Instr != nil {
			n++
		}
	}
	return pairs
}
