package warp

// This file is the policy frontier: thread frontiers (Diamos et al., "SIMD re-convergence at thread frontiers", MICRO
// 2011). Blocks are numbered in reverse postorder of the control flow, and the warp split at the lowest number runs,
// because its lanes may still reach the blocks at which the other warp splits wait.

import (
	"gemu/interp/internal/machine"
)

type frontier struct{}

func (frontier) before(w *machine.Warp, a, b *machine.WarpSplit) bool {
	x, y := w.CTA.Code.Block(a.PC).Order, w.CTA.Code.Block(b.PC).Order
	if x != y {
		return x < y
	}
	return a.PC < b.PC
}

func (frontier) jumped(c *machine.WarpSplit, from int32) {}

func (frontier) splitChosen(w *machine.Warp) {}
