package simt

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// few is a backend that has little: instructions without guards that compute on the lanes
// of a warp of up to 32, by a function. Everything else it hands back.
type few struct{ exec alu.Kernel }

func (b *few) run(w *warp, budget int) handback { return inBlocks(w, budget, b) }

func (b *few) block(w *warp, in *code.Block) reason {
	if at := b.span(w, w.pc, in.Last); at < in.Last {
		w.halt(in, at, w.cta.code.Instrs[at].Src)
		return lacks
	}
	return goesOn
}

func (b *few) span(w *warp, from, to int32) int32 {
	for f := &w.files[0]; from < to; from++ {
		in := &w.cta.code.Instrs[from]
		if alu.Vec[in.Op] == nil || in.Guard != 0 || in.How.Exec != code.OnLanes || len(w.files) > 1 {
			return from
		}
		b.exec(f, in, f.Active())
		FewExecuted++
	}
	return to
}

// Few is one that is right.
var Few Backend = &few{func(f *regfile.File, in *code.Instr, m uint32) { alu.Vec[in.Op](f, in, m) }}

// FewExecuted is how many instructions they have executed.
var FewExecuted int

// Wrong are those that are not.
var Wrong = map[string]Backend{
	"add.u32 adds one more": &few{func(f *regfile.File, in *code.Instr, m uint32) {
		alu.Vec[in.Op](f, in, m)
		if in.Op == code.AddU32 {
			for i := range f.Row32(in.D) {
				f.Row32(in.D)[i] += m >> i & 1
			}
		}
	}},
	"all lanes execute": &few{func(f *regfile.File, in *code.Instr, m uint32) { alu.Vec[in.Op](f, in, regfile.Full) }},
}

// Meddler is a backend that lets somebody else store behind each store of CTA 0, in
// what it has stored to, but stores itself as the portable one does.
type Meddler struct {
	portable
	Store func(memory []byte)
}

func (b *Meddler) run(w *warp, budget int) handback { return inBlocks(w, budget, b) }

func (b *Meddler) span(w *warp, from, to int32) int32 {
	b.portable.span(w, from, to)
	for _, in := range w.cta.code.Instrs[from:to] {
		if in.Op.Signature().Kind == code.Store && w.cta.index == 0 {
			b.Store(w.cta.hits[w.access(&in).Hit].Data)
		}
	}
	return to
}
