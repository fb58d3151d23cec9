package simt

// This file is the run loop of observed launches: the one that tells observers
// what happens, and has the affine machinery of check mode and of statistics.

import (
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// Observer watches launches.
//
// CTA is called when a CTA begins, from any of the host threads that execute the
// launch, and gives the one who watches this CTA, or nil.
type Observer interface {
	CTA(index int, id Dim3) Watcher
}

// Watcher watches one CTA. Its methods are called one at a time, in the order of
// execution; different CTAs may run at the same time.
type Watcher interface {
	// Instruction is called after a warp has executed an instruction; before it
	// moves on, for one that ends a block. The event is only valid during the call.
	Instruction(e *Event)
	// End is called when the CTA has ended.
	End()
}

// Event is the execution of an instruction by a warp.
type Event struct {
	Instr  *ptx.Instr
	Func   *ptx.Func // that it is in
	Warp   int       // within the CTA
	Active uint64    // active lanes
	Lanes  uint64    // of them those that the instruction's guard lets execute it

	// Sources and Results are the registers it names, in the order of its operands,
	// guard left out; sources have the values from before it. The results of a call
	// or a barrier are those from before it.
	Sources []Value
	Results []Value

	// Address holds the lanes' addresses, of loads, stores and atomics.
	Address *[64]uint64
	Space   ptx.Space // as the instruction has it
	Bytes   int       // that a lane accesses
}

// Value is a register of a warp.
type Value struct {
	Reg  ptx.RegID
	Type ptx.Type
	Low  [64]uint64 // by lane: bits 0 to 63; lanes that do not execute have what they have
	High [64]uint64 // bits 64 to 127, of .b128
}

// watch is the state of a watched CTA.
type watch struct {
	Watcher
	event   Event
	sources []Value
	results []Value
	address [64]uint64
}

// blockObserved executes the instructions of a block, but those it has executed
// already, and tells the observer.
func (w *warp) blockObserved(b *code.Block) {
	watch, p, pc := w.cta.watch, w.cta.code, w.pc
	for i := w.firstSource(b); i < b.Sources.End; i++ {
		s := &p.Sources[i]
		watch.before(w, s, w.guarded(s.Guard))
		for ; pc < b.Last && p.Instrs[pc].Src == i; pc++ {
			if p.Instrs[pc].Op.Signature().Side == code.AccessSide && s.Form.Class == ptx.ClassMemory {
				watch.access(w, &p.Instrs[pc])
			}
			if w.blockWide(p.Instrs[pc : pc+1]); w.err != nil {
				return
			}
		}
		watch.after(w, s)
	}
}

// firstSource is the first PTX instruction of a block that the running strand has yet to
// execute.
func (w *warp) firstSource(b *code.Block) int32 {
	if w.owed == 0 {
		return b.Sources.First
	}
	first := b.Sources.End - w.owed
	if w.cta.code.Instrs[w.pc].Src != first { // it was executed together with others
		first++
	}
	return first
}

// observeExit tells of an exit that lanes execute on the side.
func (w *warp) observeExit(s *code.Source, lanes uint64) {
	saved := w.mask
	w.mask = lanes
	w.observe(s, lanes, func() {})
	w.mask = saved
}

// observe tells of an instruction that lanes execute otherwise than in a block: do
// gives the running strand its results.
func (w *warp) observe(s *code.Source, lanes uint64, do func()) {
	c := w.cta
	if w.check != nil {
		s = &w.check.Sources[s.Index]
	}
	if c.track != nil {
		c.track.begin(w, s)
		c.track.step.compact = false
	}
	if c.watch != nil {
		w.aside(func() { c.watch.before(w, s, lanes) })
	}
	do()
	if c.track != nil {
		c.track.end(w, s, lanes)
	}
	if c.watch != nil {
		w.aside(func() { c.watch.after(w, s) })
	}
}

// aside calls do with the registers that observers see: those of the reference, if
// there is one.
func (w *warp) aside(do func()) {
	if w.check != nil {
		w.turn()
		defer w.turn()
	}
	do()
}

// before readies the event of an instruction: its sources.
func (t *watch) before(w *warp, s *code.Source, lanes uint64) {
	t.sources = t.sources[:0]
	for _, r := range s.Reads {
		t.sources = append(t.sources, Value{})
		w.read(s, r, &t.sources[len(t.sources)-1])
	}
	t.event = Event{Instr: s.Instr, Func: s.Func.Func, Warp: w.id, Active: w.mask, Lanes: lanes, Sources: t.sources}
}

// access adds the addresses of a memory instruction.
func (t *watch) access(w *warp, in *code.Instr) {
	e := &t.event
	a := w.access(in)
	e.Address, e.Space, e.Bytes = &t.address, a.Space, a.Bytes
	for lane := range 32 * len(w.files) {
		v := a.Off
		if a.Addr != code.NoSlot {
			v = a.At(w.value(code.Row{Slot: a.Addr, Row: in.A}, lane))
		} else if a.Frame {
			v += 4 * uint64(w.frame.local)
		}
		t.address[lane] = v
	}
}

// after sends the event.
func (t *watch) after(w *warp, s *code.Source) {
	t.results = t.results[:0]
	for _, r := range s.Writes {
		t.results = append(t.results, Value{})
		w.read(s, r, &t.results[len(t.results)-1])
	}
	t.event.Results = t.results
	t.Instruction(&t.event)
}

// read copies a register of all lanes.
func (w *warp) read(s *code.Source, r ptx.RegID, v *Value) {
	v.Reg, v.Type = r, s.Func.Func.Regs[r].Type
	at := &s.Func.Regs[r]
	for lane := range 32 * len(w.files) {
		if at.Slot == code.P {
			v.Low[lane] = uint64(w.files[lane/32].Pred(at.Row) >> (lane % 32) & 1)
			continue
		}
		v.Low[lane] = w.value(code.Row{Slot: at.Slot, Row: at.Row}, lane)
		if at.Wide {
			v.High[lane] = w.value(code.Row{Slot: at.Slot, Row: at.High}, lane)
		}
	}
}
