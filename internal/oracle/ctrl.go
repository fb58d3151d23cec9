package oracle

// This file executes control flow (manual 9.7.12) except calls.

// bra (9.7.12.3) continues at the target.
func bra(t *thread) {
	o, _ := t.operand("a")
	t.currentFrame().jumpTo(o.Block())
}

// brx (9.7.12.4) continues at the a-th label of the list.
func brx(t *thread) {
	list, _ := t.operand("b")
	i := t.operandValue("a")
	if i >= uint64(len(list.Table().Blocks)) {
		t.trap(KindBranch, "index %d, %s has %d labels", i, list.Table().Name, len(list.Table().Blocks))
	}
	t.currentFrame().jumpTo(list.Table().Blocks[i])
}

// ret (9.7.12.6) returns to the caller; in a kernel it ends the thread.
func ret(t *thread) { t.popFrame() }

// exit (9.7.12.7) ends the thread.
func exit(t *thread) {
	t.state = exited
	t.frames, t.local, t.sp = nil, nil, 0
}
