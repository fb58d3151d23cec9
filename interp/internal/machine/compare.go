package machine

import (
	"fmt"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// MaxLaneByLane is the largest number of lanes for which a loop over the lanes is faster than work on whole rows.
const MaxLaneByLane = 10

// LaneValue returns the value of a register in a lane: from the shadow if it covers the lane, else from the row.
func LaneValue(f *regfile.File, row code.Row, lane int) uint64 {
	if row.Slot != code.P && (f.Tracked() || row.Row < 0) {
		if c := ShadowAt(f, row.Slot, row.Row); c.Mask>>lane&1 != 0 {
			return c.At(lane) & (1<<row.Slot.Bits() - 1)
		}
	}
	return RowLane(f, row, lane)
}

// RowLane returns the value of a row in a lane, without the shadow.
func RowLane(f *regfile.File, row code.Row, lane int) uint64 {
	switch row.Slot {
	case code.P:
		return uint64(f.SrcP(row.Row) >> lane & 1)
	case code.R:
		return uint64(f.Src32(row.Row)[lane])
	}
	return f.Src64(row.Row)[lane]
}

// ValueText returns LaneValue in hexadecimal, for messages.
func ValueText(f *regfile.File, row code.Row, lane int) string {
	return fmt.Sprintf("%#x", LaneValue(f, row, lane))
}
