package simt

// This file is the policy stack: the immediate-post-dominator reconvergence stack.
// The warp splits lie in the order in which branches made them, and the last that can
// run runs.

type stack struct{ reconvergences }

// stackPolicy is a policy with the order of the stack: machine code may keep the warp splits of its warps.
type stackPolicy interface{ ofStack() *reconvergences }

func (s *stack) ofStack() *reconvergences { return &s.reconvergences }

func (s *stack) expire(w *warp) {}

func (s *stack) next(w *warp) bool {
	for i := len(w.waitingSplits) - 1; i >= 0; i-- {
		if w.waitingSplits[i].wait == nil {
			w.resume(w.takeSplit(i))
			return true
		}
	}
	return false
}
