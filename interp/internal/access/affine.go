package access

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/regfile"
)

// ExpandElems materialises registers for the lanes of m. The upper halves of 128-bit elements are never compact.
func ExpandElems(f *regfile.File, elems []code.Elem, m uint32) {
	for _, e := range elems {
		machine.MaterialiseRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
	}
}
