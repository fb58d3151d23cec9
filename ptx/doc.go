// Package ptx reads, checks, analyses and prints PTX modules. It contains the instruction table, the only definition
// of the instructions of PTX.
//
//	source text
//	   │  ptx/internal/syntax: lexer, grammar, constant expressions
//	   ▼
//	syntax tree ── FprintSyntax
//	   │  Parse: names, types and opcodes are checked ◄── instruction table (table*.go)
//	   ▼
//	Module                        Func                              Instr
//	├─ Decls: *Var, *Func …  ──►  ├─ Params, Rets, Regs, Vars  ┌──► ├─ Variant: opcode, Form of the table
//	└─ Files                      ├─ Blocks: basic blocks  ────┘    ├─ Guard
//	   │                          └─ Locs: places in the source     └─ Ops: operands
//	   ▼
//	Fprint (PTX again), FprintCFG, analyses, lowering (package lower)
//
// A source that is not PTX gives an ErrorList. Legal PTX that gemu does not run parses; the lowering reports it as
// Unsupported.
//
// Read the files in this order:
//
//   - ir.go, type.go, sreg.go and effects.go: the data types
//   - table.go with table_*.go, form.go and operand.go: the instruction table, its notation, and opcodes matched with it
//   - parse.go and declare.go: the declarations of a module
//   - build.go with build_*.go, rules.go and video.go: the bodies of functions
//   - cfg.go, loop.go, liveness.go, pending.go and unwritten.go: analyses
//   - signature.go, print.go, dump.go and errors.go: comparison, printing and messages
//   - example.go and sweep.go: generated instructions for tests and coverage
//
// # Errors
//
// Parse returns an ErrorList, with the place of every problem: find it with errors.As. An *Unsupported comes from the execution
// of a module. Errors have no values for errors.Is.
//
// # Concurrency and compatibility
//
// Parse can be called from several goroutines. A Module does not change after Parse, and may be read by several goroutines.
// Rows of the instruction table, types, and fields may be added at any time: name the fields of composite literals.
package ptx
