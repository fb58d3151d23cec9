package warp

// This file is the policy stack: the reconvergence stack with immediate post-dominators. Warp splits are in the order in
// which branches have made them; the last ready split runs.

import (
	"gemu/interp/internal/machine"
)

// Stack is the Reconverger of policy stack.
type Stack struct{ Reconvergences }

// StackPolicy is implemented by a Reconverger whose warp splits run in the order of the stack. Machine code may then keep
// the warp splits of its warp. A type that embeds [Stack] has the method, too, so it must not change the order.
type StackPolicy interface{ OfStack() *Reconvergences }

// OfStack returns the reconvergence points of the warp.
func (s *Stack) OfStack() *Reconvergences { return &s.Reconvergences }

// Expire does nothing, because the policy has no time slices.
func (s *Stack) Expire(w *machine.Warp) {}

// Next resumes the last ready warp split.
func (s *Stack) Next(w *machine.Warp) bool {
	for i := len(w.WaitingSplits) - 1; i >= 0; i-- {
		if w.WaitingSplits[i].Wait == nil {
			ResumeSplit(w, takeSplit(w, i))
			return true
		}
	}
	return false
}
