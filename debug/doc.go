// Package debug is a debugger for launches. A session stops a launch anywhere, shows the state of its lanes,
// and goes on step by step, forwards and backwards.
//
// A launch is deterministic, so a moment in it is a number: the count of instructions that its warps have
// begun (probe.Event.Step). A Session keeps checkpoints, i.e. states of the launch at some moments, which
// share all unchanged parts:
//
//	begin        c1          c2        now
//	  ●───────────●───────────●─────────┤
//	              └── restore ┴─ run ─► target moment
//
// To go back to a moment, it restores the last checkpoint before it and runs forwards. To go back to the last
// hit of a breakpoint, it runs from a checkpoint to the current moment, notes the hits, and goes to the last
// of them; without a hit it tries the checkpoint before. It skips parts of the past without candidates
// (past.go).
//
// A stopped launch is shown as contexts, i.e. warp splits. A lane has the focus, and steps are steps of that
// thread. Breakpoints have conditions (condition.go has the grammar), evaluated lane by lane. A Console is a
// session with the commands of cuda-gdb; package gemu/debug/dap is a session with the Debug Adapter Protocol,
// package gemu/debug/tui is a session with a full screen.
//
// Read the files in this order: session.go, back.go and past.go (time), look.go (display), breakpoint.go,
// condition.go, scope.go, evaluate.go and location.go (breakpoints and expressions), console*.go and lines.go
// (commands).
//
// Errors: ErrNoLaunch, ErrEnded and ErrQuit match with errors.Is. ConditionError, NoPlaceError and, for a
// fault of the guest, *probe.Trap match with errors.As.
//
// Concurrency: Session.Interrupt is safe for concurrent use. All other methods of a session, its breakpoints
// and its watches must not be called concurrently with each other.
//
// Between versions, texts of the console may change, and commands and kinds of stops may be added.
package debug
