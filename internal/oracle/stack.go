package oracle

// This file executes stack manipulation (manual 9.7.17). The stack grows upwards here: alloca returns the old end,
// aligned, and stackrestore takes a value from stacksave.

// stacksave (9.7.17.1): d = the stack pointer.
func stacksave(t *thread) { t.setOperand("d", t.sp) }

// stackrestore (9.7.17.2) sets the stack pointer, within the current frame.
func stackrestore(t *thread) {
	sp := t.operandValue("a")
	if sp < t.currentFrame().base || sp > t.sp {
		t.trap(KindStack, "stack pointer %#x is not in the frame", sp)
	}
	t.sp = sp
}

// alloca (9.7.17.3): d = a bytes of stack, aligned to b.
func alloca(t *thread) {
	alignment := uint64(8)
	if t.hasOperand("b") {
		alignment = max(alignment, t.operandValue("b"))
	}
	size := t.operandValue("a")
	p := align(t.sp, alignment)
	if size > t.machine.stackLimit {
		t.trap(KindStack, "alloca of %d bytes", size)
	}
	t.growStack(align(p+size, stackAlign))
	t.setOperand("d", p)
}
