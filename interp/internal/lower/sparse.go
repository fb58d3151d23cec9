package lower

import (
	"strconv"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// lowerSparse lowers spcompress and spdecompress (manual of PTX 9.4, 9.7.10.30 and 9.7.10.31).
func lowerSparse(l *lowerer, instr *ptx.Instr) {
	elem, index := 8, 2
	if instr.Has("b16") {
		elem = 16
	}
	if instr.Has("b4") {
		index = 4
	}
	if instr.Mnemonic() == "spcompress" {
		f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), E: l.fragment(instr.Arg("b"), ptx.B32, true)}
		f.D = append(f.D, l.fragment(instr.Arg("p"), ptx.B32, false)...)
		f.Sparse = matrix.NewCompression(elem, index, 2, 4, len(f.A))
		l.tensorFragments(code.Sparse, f)
		return
	}
	f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), B: l.fragment(instr.Arg("b"), ptx.B32, true)}
	for kept := 1; kept <= 4; kept *= 2 {
		for of := 2 * kept; of <= 16; of *= 2 {
			if instr.Has("sp::" + strconv.Itoa(kept) + ":" + strconv.Itoa(of)) {
				f.Sparse = matrix.NewCompression(elem, index, kept, of, len(f.D))
			}
		}
	}
	l.tensorFragments(code.Sparse, f)
}
