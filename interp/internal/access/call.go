package access

import (
	"gemu/interp/internal/machine"
	"gemu/regfile"
)

func GrowTo(rows []machine.RegisterCopy, i int) *machine.RegisterCopy {
	if rows == nil {
		return nil
	}
	return &rows[i]
}

// GrowLocal makes room for the given number of words of local memory.
func GrowLocal(w *machine.Warp, words int) {
	for h := range w.Files {
		if len(w.Local[h]) < words {
			grown := make([]regfile.Row32, max(words, 2*len(w.Local[h])))
			copy(grown, w.Local[h])
			w.Local[h] = grown
		}
	}
}
