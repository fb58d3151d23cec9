package machine

import (
	"fmt"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// MaxLaneByLane is for how many lanes at most it pays to look at each.
const MaxLaneByLane = 10

// LaneValue is the value of a lane: what its shadow says, if it speaks for the lane, else
// what the row holds.
func LaneValue(f *regfile.File, row code.Row, lane int) uint64 {
	if row.Slot != code.P && (f.Tracked() || row.Row < 0) {
		if c := ShadowAt(f, row.Slot, row.Row); c.Mask>>lane&1 != 0 {
			return c.At(lane) & (1<<row.Slot.Bits() - 1)
		}
	}
	return RowLane(f, row, lane)
}

// RowLane is what a row holds in a lane.
func RowLane(f *regfile.File, row code.Row, lane int) uint64 {
	switch row.Slot {
	case code.P:
		return uint64(f.SrcP(row.Row) >> lane & 1)
	case code.R:
		return uint64(f.Src32(row.Row)[lane])
	}
	return f.Src64(row.Row)[lane]
}

// LaneText is what a register holds in a lane, for messages.
func LaneText(f *regfile.File, row code.Row, lane int) string {
	return fmt.Sprintf("%#x", LaneValue(f, row, lane))
}
