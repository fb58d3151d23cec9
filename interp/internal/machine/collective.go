package machine

import (
	"errors"

	"gemu/interp/internal/code"
)

// ErrAbsentLanes is the value of Warp.Err when a collective instruction, Warp.BlockedInstr, waits for lanes that are at
// other instructions. The run loop handles it; it ends no launch.
var ErrAbsentLanes = errors.New("lanes are elsewhere")

// SameInstr reports whether two waits are for the same lanes and for equal collective instructions, possibly at different
// places.
func (b *SplitWait) SameInstr(other *SplitWait) bool {
	return b.Membermask == other.Membermask && b.IsCollective() && other.IsCollective() && b.Src.Text == other.Src.Text
}

// IsCollective reports whether the wait is for lanes of the same warp.
func (b *SplitWait) IsCollective() bool { return b.Op == nil || b.Op.Kind == code.BarWarp }
