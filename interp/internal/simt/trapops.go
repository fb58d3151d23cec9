package simt

// This file executes what stops lanes or has them wait by itself.

import (
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// checkRank traps where the CTA rank of a lane is not that of its own CTA, the only
// one in its cluster.
func checkRank(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	rank := f.Src32(in.A)
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; rank[i] != 0 {
			w.fail(w.src(in), 1<<(i+32*h), ErrCTARank, "%v: %d, in a cluster of one cta", ErrCTARank, rank[i])
			return
		}
	}
}

func trapLane(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	kind := ErrTrap
	if in.Op == code.Brkpt {
		kind = ErrBreakpoint
	}
	w.fail(w.src(in), uint64(m)<<(32*h), kind, "%v", kind)
}

// sleepLane lets other warps run, and the time pass for which the lanes sleep: the
// longest of them, exactly (manual 9.7.19.2 allows from nothing to twice as much).
func sleepLane(w *warp, h int, f *regfile.File, in *code.Instr, m uint32) {
	w.yield = true
	longest := uint32(0)
	for a := f.Src32(in.A); m != 0; m &= m - 1 {
		longest = max(longest, a[bits.TrailingZeros32(m)&31])
	}
	w.cta.slept += int64(longest)
}
