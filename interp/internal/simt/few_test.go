package simt

import (
	"sync"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// few is a backend that has little: instructions that compute on the lanes of a warp of up
// to 32, by a function. Everything else it hands back.
type few struct {
	exec func(w *warp, instr *code.Instr)
}

func (b *few) run(w *warp, budget int) reason { return runBlocks(w, budget, b.block) }

func (b *few) block(w *warp, instrs []code.Instr) reason {
	end := w.pc + int32(len(instrs))
	if at := b.span(w, w.pc, end); at < end {
		w.halt(w.cta.code.Block(w.pc), at, w.cta.code.Instrs[at].Src)
		return unsupported
	}
	return noReason
}

func (b *few) span(w *warp, from, to int32) int32 {
	for ; from < to; from++ {
		instr := &w.cta.code.Instrs[from]
		if alu.Vec[instr.Op] == nil || instr.Plan.Exec != code.OnLanes || len(w.files) > 1 {
			return from
		}
		b.exec(w, instr)
		FewExecuted++
	}
	return to
}

func (*few) importAll(*cta) {}

// Few is one that is right.
var Few Backend = &few{func(w *warp, instr *code.Instr) {
	if m := w.lanesOf(0, instr); m != 0 {
		alu.Vec[instr.Op](&w.files[0], instr, m)
	}
}}

// FewExecuted is how many instructions they have executed.
var FewExecuted int

// Wrong are those that are not.
var Wrong = map[string]Backend{
	"add.u32 adds one more": &few{func(w *warp, instr *code.Instr) {
		f, m := &w.files[0], w.lanesOf(0, instr)
		alu.Vec[instr.Op](f, instr, m)
		if instr.Op == code.AddU32 {
			for i := range f.Row32(instr.D) {
				f.Row32(instr.D)[i] += m >> i & 1
			}
		}
	}},
	"all lanes execute": &few{func(w *warp, instr *code.Instr) {
		w.lanesOf(0, instr)
		alu.Vec[instr.Op](&w.files[0], instr, regfile.Full)
	}},
	"guards hold": &few{func(w *warp, instr *code.Instr) { alu.Vec[instr.Op](&w.files[0], instr, w.files[0].Active()) }},
	"lanes held back are not counted": &few{func(w *warp, instr *code.Instr) {
		counted := w.count.ThreadInstructions
		alu.Vec[instr.Op](&w.files[0], instr, w.lanesOf(0, instr))
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
	for _, instr := range w.cta.code.Instrs[from:to] {
		if instr.Op.Signature().Kind == code.Store && w.cta.index == 0 {
			b.Store(w.cta.lastHits[w.access(&instr).HitIndex].Data)
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
	if why == lanesAbsent {
		b.Aways++
		if instr := &w.cta.code.Instrs[w.pc]; instr != w.blockedInstr || w.cta.code.Block(w.pc).Sources.End-w.uncounted != instr.Src {
			b.Wrong++
		}
	}
	return why
}
