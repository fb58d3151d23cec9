// Package epilogue has the instructions that follow the tested instruction in tests of machine code. They depend on all
// machine state to be preserved by the tested instruction: the active mask, and the addresses of the rows of each kind and
// of the constants.
package epilogue

import (
	"math/rand/v2"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Len is the number of instructions in an epilogue.
const Len = 3

// Instrs returns the instructions. Each combines the frame's last register of one kind with a random constant.
func Instrs(rng *rand.Rand, k *regfile.Constants, frame regfile.Size) []code.Instr {
	last := func(op string, n int, constant int32) code.Instr {
		row := int32(n) - 1
		return code.Instr{Op: code.OpNamed(op), D: row, F: code.NoRow, A: row, B: constant}
	}
	return []code.Instr{
		last("add.s32", int(frame.R), k.Add32(rng.Uint32())),
		last("add.s64", int(frame.Q), k.Add64(rng.Uint64())),
		last("xor.pred", int(frame.P), k.AddP(-(rng.Uint32() & 1))),
	}
}

// Execute executes an epilogue in Go, for active mask m.
func Execute(tail []code.Instr, f *regfile.File, m uint32) {
	for i := range tail {
		alu.Vec[tail[i].Op](f, &tail[i], m)
	}
}
