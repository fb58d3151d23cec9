package lower

import (
	"fmt"
	"strings"

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
	var kept, of int // number of stored elements of a group, and of all its elements
	_, ratio, _ := strings.Cut(instr.Text, ".sp::")
	fmt.Sscanf(ratio, "%d:%d", &kept, &of)
	if instr.Mnemonic() == "spcompress" {
		f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), E: l.fragment(instr.Arg("b"), ptx.B32, true)}
		f.D = append(f.D, l.fragment(instr.Arg("p"), ptx.B32, false)...)
		f.Sparse = matrix.NewCompression(elem, index, kept, of, len(f.A))
		l.tensorFragments(code.Sparse, f)
		return
	}
	f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), B: l.fragment(instr.Arg("b"), ptx.B32, true)}
	f.Sparse = matrix.NewCompression(elem, index, kept, of, len(f.D))
	l.tensorFragments(code.Sparse, f)
}
