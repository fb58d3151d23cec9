package probe

import "fmt"

// MbarrierUse is what lanes of an instruction, or an asynchronous operation, do at an mbarrier.
type MbarrierUse struct {
	// Kind is what they do.
	Kind MbarrierUseKind
	// Lanes is the set of lanes.
	Lanes uint64
	// Address is the address of the mbarrier in the state space .shared. In a cluster, the bits from RankShift up are the rank of the
	// CTA that has it.
	Address uint64
	// Completes means that a change completes the phase. If several lanes change it, the last of them does. Later changes belong to the
	// next phase.
	Completes bool
}

// MbarrierUseKind is a kind of use of an mbarrier.
type MbarrierUseKind uint8

// The kinds of use.
const (
	MbarrierReset  MbarrierUseKind = iota // the mbarrier is initialised or invalidated; no phase of it has completed
	MbarrierChange                        // the counts of the current phase change: an arrival, expected bytes, or completed bytes
	MbarrierPassed                        // a test succeeds, because an earlier phase has completed, or there is none before the current phase
	MbarrierFailed                        // a test fails
)

var mbarrierUseNames = [...]string{"reset", "change", "passed", "failed"}

// String returns the name of the kind.
func (k MbarrierUseKind) String() string {
	if int(k) < len(mbarrierUseNames) {
		return mbarrierUseNames[k]
	}
	return fmt.Sprintf("MbarrierUseKind(%d)", uint8(k))
}
