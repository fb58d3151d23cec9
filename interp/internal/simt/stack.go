package simt

// This file is the policy stack: the immediate-post-dominator reconvergence stack.
// The strands lie in the order in which branches made them, and the last that can
// run runs.

type stack struct{ joins }

func (s *stack) expire(w *warp) {}

func (s *stack) next(w *warp) bool {
	for i := len(w.others) - 1; i >= 0; i-- {
		if w.others[i].wait == nil {
			w.resume(w.take(i))
			return true
		}
	}
	return false
}
