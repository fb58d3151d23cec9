package simt

// This file is the policy frontier: thread frontiers (Diamos et al., "SIMD
// re-convergence at thread frontiers", MICRO 2011). Blocks are numbered in reverse
// postorder of the control flow, and the warp split at the lowest number runs: the others
// are at blocks that its lanes may yet come to.

type frontier struct{}

func (frontier) before(w *warp, a, b *warpSplit) bool {
	x, y := w.cta.code.Block(a.pc).Order, w.cta.code.Block(b.pc).Order
	if x != y {
		return x < y
	}
	return a.pc < b.pc
}

func (frontier) jumped(c *warpSplit, from int32) {}

func (frontier) splitChosen(w *warp) {}
