package access

// This file executes instructions that only check lanes, trap, or let other warps run.

import (
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/regfile"
)

// CheckRank traps if the CTA rank that a lane names is not in its cluster.
func CheckRank(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	rank := f.Src32(instr.A)
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; uint64(rank[i]) >= uint64(w.CTA.Grid.ClusterSize) {
			w.Fail(w.SourceOf(instr), 1<<(i+32*h), probe.ErrCTARank, "%v: %d, in a cluster of %s", probe.ErrCTARank, rank[i], w.CTA.Grid.ClusterSizeText())
			return
		}
	}
}

// CheckSame traps if lanes hold different values. It checks the addresses and strides of wmma: the manual does not define
// wmma if they differ between lanes.
func CheckSame(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := f.Src64(instr.A)
	first := a[bits.TrailingZeros32(m)&31]
	other := uint64(0)
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; a[i] != first {
			other |= 1 << (i + 32*h)
		}
	}
	if other != 0 {
		w.Fail(w.SourceOf(instr), other, probe.ErrMatrix, "%v: %s needs the same address and stride in all lanes; they differ in %s", probe.ErrMatrix, w.SourceOf(instr).Text, probe.LaneText(other))
	}
}

// TrapLane executes trap and brkpt.
func TrapLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	kind := probe.ErrTrap
	if instr.Op == code.Brkpt {
		kind = probe.ErrBreakpoint
	}
	w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), kind, "%v", kind)
}

// NoOp executes an instruction that only evaluates its guard.
func NoOp(*machine.Warp, int, *regfile.File, *code.Instr, uint32) {}

// SleepLane executes nanosleep: it lets other warps run, and advances the clock by the longest sleep of the lanes. The
// manual permits any time from zero to twice the operand (9.7.19.2).
func SleepLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	w.Yields = true
	longest := uint32(0)
	for a := f.Src32(instr.A); m != 0; m &= m - 1 {
		longest = max(longest, a[bits.TrailingZeros32(m)&31])
	}
	w.CTA.Slept += int64(longest)
}
