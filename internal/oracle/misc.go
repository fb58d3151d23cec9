package oracle

// This file executes miscellaneous instructions (manual 9.7.19) and the cache policies of 9.7.9.18.

// createpolicy (9.7.9.18): all policies are hints without effect.
func createpolicy(t *thread) { t.setOperand("d", 0) }

// nanosleep (9.7.19.2) moves the thread's clocks forward by the given time. The order of threads is that of any instruction.
func nanosleep(t *thread) { t.sleepTime += int64(t.operandValue("a")) }

// time returns the value of all clocks of the thread: a step, and a nanosecond of sleep, count as a cycle and as a nanosecond.
func (t *thread) time() uint64 { return uint64(t.steps + t.sleepTime) }

// brkpt (9.7.19.1) stops the thread, and with it the launch.
func brkpt(t *thread) { t.trap(KindBreak, "breakpoint") }

// trap (9.7.19.4) aborts the launch.
func trap(t *thread) { t.trap(KindTrap, "the kernel trapped") }
