package access

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/regfile"
)

// ExpandElems expands registers for the lanes of m. Upper halves of 128 bits are never
// compact.
func ExpandElems(f *regfile.File, elems []code.Elem, m uint32) {
	for _, e := range elems {
		machine.MaterialiseRow(f, code.Row{Slot: e.Slot, Row: e.Row}, m)
	}
}
