package access

import (
	"math"
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/regfile"
)

// comparePattern compares the addresses of an access that executes on lanes with the pattern that the plan claims for them.
// It traps if they differ.
func comparePattern(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, a *code.Access, m uint32) {
	if w.CTA.ReleasedEarly {
		return
	}
	distance, width := uint64(a.Distance()), ^uint64(0)
	if a.Addr == code.R {
		width = math.MaxUint32
	}
	for _, lanes := range []uint32{m & (1<<affinetrack.HalfRow - 1), m &^ (1<<affinetrack.HalfRow - 1)} {
		if lanes == 0 {
			continue
		}
		first, last := bits.TrailingZeros32(lanes), bits.Len32(lanes)-1
		offsetOf := func(lane int) uint64 { return (address(f, instr, a, lane) - address(f, instr, a, first)) & width }
		if distance != 0 && offsetOf(last) != uint64(last-first)*distance {
			continue
		}
		for n := lanes; n != 0; n &= n - 1 {
			if lane := bits.TrailingZeros32(n); offsetOf(lane) != uint64(lane-first)*distance {
				src := &w.CTA.Code.Sources[instr.Src]
				w.Fail(src, uint64(lanes)<<(32*h), probe.ErrMismatch, "%v: the plan gives the addresses of %s the pattern %q, but lane %d has %s and lane %d has %s",
					probe.ErrMismatch, src.Text, a.Pattern, first, machine.HexAddr(address(f, instr, a, first)), lane, machine.HexAddr(address(f, instr, a, lane)))
				return
			}
		}
	}
}
