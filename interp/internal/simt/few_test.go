package simt

import (
	"sync"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// few is a backend that has little: instructions that compute on the lanes of a warp of up
// to 32, by a function. Everything else it hands back.
type few struct{ exec func(w *warp, in *code.Instr) }

func (b *few) run(w *warp, budget int) reason { return inBlocks(w, budget, b.block) }

func (b *few) block(w *warp, insts []code.Instr) reason {
	end := w.pc + int32(len(insts))
	if at := b.span(w, w.pc, end); at < end {
		w.halt(w.cta.code.Block(w.pc), at, w.cta.code.Instrs[at].Src)
		return lacks
	}
	return goesOn
}

func (b *few) span(w *warp, from, to int32) int32 {
	for ; from < to; from++ {
		in := &w.cta.code.Instrs[from]
		if alu.Vec[in.Op] == nil || in.How.Exec != code.OnLanes || len(w.files) > 1 {
			return from
		}
		b.exec(w, in)
		FewExecuted++
	}
	return to
}

// Few is one that is right.
var Few Backend = &few{func(w *warp, in *code.Instr) {
	if m := w.lanesOf(0, in); m != 0 {
		alu.Vec[in.Op](&w.files[0], in, m)
	}
}}

// FewExecuted is how many instructions they have executed.
var FewExecuted int

// Wrong are those that are not.
var Wrong = map[string]Backend{
	"add.u32 adds one more": &few{func(w *warp, in *code.Instr) {
		f, m := &w.files[0], w.lanesOf(0, in)
		alu.Vec[in.Op](f, in, m)
		if in.Op == code.AddU32 {
			for i := range f.Row32(in.D) {
				f.Row32(in.D)[i] += m >> i & 1
			}
		}
	}},
	"all lanes execute": &few{func(w *warp, in *code.Instr) {
		w.lanesOf(0, in)
		alu.Vec[in.Op](&w.files[0], in, regfile.Full)
	}},
	"guards hold": &few{func(w *warp, in *code.Instr) { alu.Vec[in.Op](&w.files[0], in, w.files[0].Active()) }},
	"lanes held back are not counted": &few{func(w *warp, in *code.Instr) {
		counted := w.count.ThreadInstructions
		alu.Vec[in.Op](&w.files[0], in, w.lanesOf(0, in))
		w.count.ThreadInstructions = counted
	}},
}

// Meddler is a backend that lets somebody else store behind each store of CTA 0, in
// what it has stored to, but stores itself as the portable one does.
type Meddler struct {
	portable
	Store func(memory []byte)
}

func (b *Meddler) span(w *warp, from, to int32) int32 {
	b.portable.span(w, from, to)
	for _, in := range w.cta.code.Instrs[from:to] {
		if in.Op.Signature().Kind == code.Store && w.cta.index == 0 {
			b.Store(w.cta.hits[w.access(&in).Hit].Data)
		}
	}
	return to
}

// Audit is the portable backend, and looks at what that hands back.
type Audit struct {
	portable
	mu          sync.Mutex
	Runs, Aways int
	Wrong       int // of them those whose place, or what is yet to count, is not the instruction's
}

func (b *Audit) run(w *warp, budget int) reason {
	why := b.portable.run(w, budget)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Runs++
	if why == away {
		b.Aways++
		if in := &w.cta.code.Instrs[w.pc]; in != w.away || w.cta.code.Block(w.pc).Sources.End-w.owed != in.Src {
			b.Wrong++
		}
	}
	return why
}
