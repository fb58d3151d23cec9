package warp

// This file is the policy stack: the immediate-post-dominator reconvergence stack. The warp splits
// are in the order of their creation by branches; the last ready split runs.

import (
	"gemu/interp/internal/machine"
)

type Stack struct{ Reconvergences }

// StackPolicy is a policy with the order of the stack: machine code may keep the warp splits of its warps. A type that embeds [Stack]
// has the method, too, and must not have another order.
type StackPolicy interface{ OfStack() *Reconvergences }

func (s *Stack) OfStack() *Reconvergences { return &s.Reconvergences }

func (s *Stack) Expire(w *machine.Warp) {}

func (s *Stack) Next(w *machine.Warp) bool {
	for i := len(w.WaitingSplits) - 1; i >= 0; i-- {
		if w.WaitingSplits[i].Wait == nil {
			ResumeSplit(w, takeSplit(w, i))
			return true
		}
	}
	return false
}
