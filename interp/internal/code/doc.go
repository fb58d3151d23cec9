// Package code defines lowered code: the program that engines execute, as data. Everything that does not depend on the
// values of lanes is resolved: constants, addresses of variables, branch targets, post-dominators, and the row of the
// register file that holds a register for all lanes.
//
//	Program
//	├─ Funcs ──► Func: frame size, storage of rows, parameters
//	├─ Blocks ─► Block: instructions First to Last, successors
//	├─ Instrs ─► Instr: Op, guard, operands (rows), Imm, ExecPlan
//	│              └─ Side: index into one of the Tables (Access, Calls, Targets …)
//	├─ Sources ► Source: the PTX instruction of an Instr (Instr.Src)
//	├─ Consts and Fixed: constants of the launch, and the instructions that compute them
//	└─ Reference: the same program for execution on lanes; its registers are never compact and share no rows
//
// Read the files in this order: program.go, instr.go, ops.go, operands.go, side.go, tensor.go, print.go, verify.go,
// verify_operands.go and replay.go. zops.go is generated.
package code
