// Package tail has instructions for tests to put behind the one that they try as machine code. They need all that one has to
// leave as it was: the lanes, and where rows of each kind and constants begin.
package epilogue

import (
	"math/rand/v2"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Len is how many they are.
const Len = 3

// Instrs gives them. Each combines the last register of a kind that a frame has with a constant, which is drawn.
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

// Execute executes them in Go, for lanes m.
func Execute(tail []code.Instr, f *regfile.File, m uint32) {
	for i := range tail {
		alu.Vec[tail[i].Op](f, &tail[i], m)
	}
}
