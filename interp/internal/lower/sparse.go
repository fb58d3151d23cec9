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
	elemBits, indexBits := 8, 2
	if instr.Has("b16") {
		elemBits = 16
	}
	if instr.Has("b4") {
		indexBits = 4
	}
	var kept, group int // stored elements of a group; all elements of a group
	_, ratio, _ := strings.Cut(instr.Text, ".sp::")
	fmt.Sscanf(ratio, "%d:%d", &kept, &group)
	if instr.Mnemonic() == "spcompress" {
		f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), E: l.fragment(instr.Arg("b"), ptx.B32, true)}
		f.D = append(f.D, l.fragment(instr.Arg("p"), ptx.B32, false)...)
		f.Sparse = matrix.NewCompression(elemBits, indexBits, kept, group, len(f.A))
		l.emitFragments(code.Sparse, f)
		return
	}
	f := code.Fragments{D: l.fragment(instr.Arg("d"), ptx.B32, false), A: l.fragment(instr.Arg("a"), ptx.B32, true), B: l.fragment(instr.Arg("b"), ptx.B32, true)}
	f.Sparse = matrix.NewCompression(elemBits, indexBits, kept, group, len(f.D))
	l.emitFragments(code.Sparse, f)
}
