package simt

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
)

// few is a backend that has little: instructions without guards that compute on the lanes
// of a warp of up to 32. Everything else it hands back.
var few = blockwise(func(w *warp, b *code.Block) reason {
	f := &w.files[0]
	for pc := w.pc; pc < b.Last; pc++ {
		in := &w.cta.code.Instrs[pc]
		kernel := alu.Vec[in.Op]
		if kernel == nil || in.Guard != 0 || in.How.Exec != code.OnLanes || len(w.files) > 1 {
			w.halt(b, pc, in.Src)
			return lacks
		}
		kernel(f, in, f.Active())
		FewExecuted++
	}
	return goesOn
})

// FewExecuted is how many instructions few has executed.
var FewExecuted int

// WithFew calls do with few as the backend of launches that are neither checked nor watched.
func WithFew(do func()) {
	saved := plain
	defer func() { plain = saved }()
	plain = few
	do()
}
