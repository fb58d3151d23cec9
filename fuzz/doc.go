// Package fuzz tests implementations of PTX with random programs. A [Program] has a kernel, inputs, and a result that PTX
// defines to the bit; a [Generator] makes it from a seed. A [Rival] is another implementation, a command. [Reduce] makes a
// failing program small, and [Rival.Blame] finds the instruction that made a result wrong.
//
//	seed ──▶ Generator.Program ──▶ Program.Verify (engine, oracle, sanitizers) ──▶ Rival.Run ──▶ Outcome ──▶ Reduce, Blame
//
// docs/fuzz.md explains the method. Read fuzz.go, rival.go, reduce.go, blame.go; defined.go finds programs without a defined result.
package fuzz
