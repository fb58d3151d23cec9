package grid

import (
	"sync"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/regfile"
)

// few is a backend with few instructions: operations that compute lane by lane, in warps of up to 32 lanes. The function
// exec executes them. It returns all other instructions to Go.
type few struct {
	exec func(w *machine.Warp, instr *code.Instr)
}

func (b *few) Run(w *machine.Warp, budget int) machine.Reason {
	return warp.RunBlocks(w, budget, b.block)
}

func (b *few) block(w *machine.Warp, instrs []code.Instr) machine.Reason {
	end := w.PC + int32(len(instrs))
	if pc := b.Span(w, w.PC, end); pc < end {
		warp.HaltBefore(w, w.CTA.Code.Block(w.PC), pc, w.CTA.Code.Instrs[pc].Src)
		return machine.Unsupported
	}
	return machine.NoReason
}

func (b *few) Span(w *machine.Warp, from, to int32) int32 {
	for ; from < to; from++ {
		instr := &w.CTA.Code.Instrs[from]
		if alu.Vec[instr.Op] == nil || instr.Plan.Exec != code.OnLanes || len(w.Files) > 1 {
			return from
		}
		b.exec(w, instr)
		FewExecuted++
	}
	return to
}

func (*few) ImportAll(*machine.CTA) {}

// Few is a backend with few instructions and without faults.
var Few machine.Backend = &few{func(w *machine.Warp, instr *code.Instr) {
	if m := lanes.ExecutingLanes(w, 0, instr); m != 0 {
		alu.Vec[instr.Op](&w.Files[0], instr, m)
	}
}}

// FewExecuted is the number of instructions that backends with few instructions have executed.
var FewExecuted int

// Wrong has backends with few instructions and a fault, by the fault.
var Wrong = map[string]machine.Backend{
	"the result of add.u32 is 1 too large": &few{func(w *machine.Warp, instr *code.Instr) {
		f, m := &w.Files[0], lanes.ExecutingLanes(w, 0, instr)
		alu.Vec[instr.Op](f, instr, m)
		if instr.Op == code.AddU32 {
			for i := range f.Row32(instr.D) {
				f.Row32(instr.D)[i] += m >> i & 1
			}
		}
	}},
	"inactive and disabled lanes execute": &few{func(w *machine.Warp, instr *code.Instr) {
		lanes.ExecutingLanes(w, 0, instr)
		alu.Vec[instr.Op](&w.Files[0], instr, regfile.Full)
	}},
	"guards are ignored": &few{func(w *machine.Warp, instr *code.Instr) { alu.Vec[instr.Op](&w.Files[0], instr, w.Files[0].Active()) }},
	"disabled lanes are counted as executing": &few{func(w *machine.Warp, instr *code.Instr) {
		counted := w.Count.ThreadInstructions
		alu.Vec[instr.Op](&w.Files[0], instr, lanes.ExecutingLanes(w, 0, instr))
		w.Count.ThreadInstructions = counted
	}},
}

// Meddler is the portable backend with a store of another CTA: after each instruction of the kind After in CTA 0, it calls
// Store with the accessed memory.
type Meddler struct {
	warp.PortableBackend
	After code.Kind // code.Load or code.Store
	Store func(memory []byte)
}

func (b *Meddler) Span(w *machine.Warp, from, to int32) int32 {
	b.PortableBackend.Span(w, from, to)
	for _, instr := range w.CTA.Code.Instrs[from:to] {
		if instr.Op.Signature().Kind != b.After || w.CTA.Index != 0 {
			continue
		}
		if hit := w.CTA.LastHits[w.AccessOf(&instr).HitIndex]; hit != nil { // nil: a parameter
			b.Store(hit.Data)
		}
	}
	return to
}

// Audit is the portable backend with a check of each warp split that it returns.
type Audit struct {
	warp.PortableBackend
	mu           sync.Mutex
	Runs         int // number of returned splits
	MissingLanes int // number of splits returned at a collective instruction with missing lanes
	Wrong        int // number of splits with a wrong pc or a wrong number of uncounted instructions
}

func (b *Audit) Run(w *machine.Warp, budget int) machine.Reason {
	reason := b.PortableBackend.Run(w, budget)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Runs++
	if reason == machine.LanesAbsent {
		b.MissingLanes++
		if instr := &w.CTA.Code.Instrs[w.PC]; instr != w.BlockedInstr || w.CTA.Code.Block(w.PC).Sources.End-w.Uncounted != instr.Src {
			b.Wrong++
		}
	}
	return reason
}
