// Package debug is a debugger of launches: a session stops a launch anywhere, shows what its
// lanes have, and goes on, step by step, forwards and backwards.
//
// A launch is deterministic, so a moment of it is a number: how many instructions its warps have
// begun (probe.Event.Step). A Session keeps checkpoints, states of the launch some time apart that
// share what has not changed between them. It goes back to a moment by restoring the last checkpoint
// before and running forwards to it. To go back to where a breakpoint was hit last, it runs from a
// checkpoint to where it is, notes the hits, and then goes to the last of them; if there was none, it
// does so from the checkpoint before. What is known of the past without executing it again (past.go) it leaves
// out.
//
// Where it stops it looks at contexts: lanes of a warp that are together. One lane has the
// focus, and steps are the steps of that thread.
//
// Breakpoints have conditions (condition.go is their grammar), lane by lane. A Console is the session in
// words, those of cuda-gdb; package gemu/debug/dap is the session as the Debug Adapter Protocol.
package debug
