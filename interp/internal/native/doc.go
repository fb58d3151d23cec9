// Package native executes lowered code as machine code of the host, by copy-and-patch (Xu and Kjolstad, "Copy-and-patch
// compilation", OOPSLA 2021).
//
// A stencil is the machine code of one operation on a row of 32 lanes, compiled by clang from C, with holes for its
// operands. The C of the arithmetic is translated from the Go functions of package alu (see _gen). A block becomes the
// stencils of its instructions, in order, with filled holes. Go executes instructions without a stencil: machine code exits
// before such an instruction and is entered again after it.
//
// Code memory is either writable or executable, never both. It runs on the goroutine's stack, up to a bound declared by the
// entry function. It calls no Go function. It touches only memory allocated and kept alive by gemu: registers, constants,
// the context, working memory, and allocations after a check of their bounds. Go cannot preempt it, so it exits after a
// limited number of instructions.
//
// # Exits
//
// Machine code exits to Go (package exchange) with a Reason in the warp's Context:
//
//	              RunBlock, RunInstr, RunBlockAfterCaution
//	Go ──────────────────────────────────────────────────────────▶ machine code
//	 ▲                                                                  │
//	 ├── Unsupported    Go executes the instruction at PC ──────────────┤
//	 ├── Observed       Go sends the events of the instruction at PC ───┤
//	 ├── NeedsCaution   Go decides whether the block may begin ─────────┤
//	 ├── Diverges       lanes diverge, and there is no room for it ─────┤
//	 ├── Reconverges    lanes reach a reconvergence point of Go ────────┤
//	 ├── NoSplit        no lanes remain that machine code knows ────────┤
//	 ├── OtherEnd       the block ends in an instruction of Go ─────────┤
//	 ├── BudgetUsed     at a block's end, the budget is used up ────────┤
//	 ├── StretchEnded   in a long block, 4096 instructions are done ────┤
//	 ├── SwitchedWarp   another warp ran last, and Go must go on ───────┤
//	 └── Halfway, Differs   check mode: Go compares again ──────────────┘
//
// # The warp scheduler
//
// Machine code switches from warp to warp of a CTA in the order, and with the budgets, of the Go scheduler (runCTA of package
// grid). Each warp has a State:
//
//	              wait_at_barrier                 warp_end
//	AtBarrier ◀──────────────────── Ready ──────────────────────▶ Ended
//	    │       not the last warp   ▲ │ ▲                           │
//	    └───────────────────────────┘ │ └───────────────────────────┘
//	      the last warp arrives       │      start_next_cta: all warps have ended,
//	                    check_ordered │      and Go allows another CTA
//	                                  ▼
//	                              AtOrdered ── Go runs it in the ordered half of a round
//
//	ReadyInGo    Go runs the warp: switch_warp exits when its turn comes
//	NotRunning   the warp waits, has ended or is unknown in Go: switch_warp passes over it
//
// After each of these transitions switch_warp chooses the next warp: the next one in Ready, round robin. It exits if there
// is none, if the next warp is ReadyInGo or may exceed the step limit, and if the CTA's budget is used up. Go sees the
// states after an exit (syncBack of package exchange), for all warps in state Unsynced.
//
// # Reading order
//
// table.go (stencils and their holes), code.go and assembler.go (blocks become code), operation.go, access.go, compact.go,
// check.go, copies.go, matrix.go (instructions), slices.go (multiplications for Go), context.go (entry and exit), divergence.go and scheduler.go, cache.go (code of modules
// loaded again), encoding.go and host_*.go (hosts), memory_linux.go (executable memory), forms.go (gemu isa). Package
// harness executes stencils beside Go, for tests.
package native

//go:generate go run ./_gen
