package machine

import (
	"errors"

	"gemu/interp/internal/code"
)

// ErrAbsentLanes is the answer of a collective instruction, w.away, when lanes are elsewhere
// that it waits for.
var ErrAbsentLanes = errors.New("lanes are elsewhere")

// SameInstr reports whether two waits are for the same lanes to execute the same.
func (b *SplitWait) SameInstr(other *SplitWait) bool {
	return b.Membermask == other.Membermask && b.IsCollective() && other.IsCollective() && b.Src.Text == other.Src.Text
}

// IsCollective reports whether it is lanes of the warp that are waited for.
func (b *SplitWait) IsCollective() bool { return b.Op == nil || b.Op.Kind == code.BarWarp }
