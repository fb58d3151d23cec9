package native

// This file makes machine code of check mode, as package simt does it in check.go: each instruction of a program on
// shadows or lanes, the same of its reference on lanes, and the comparison of both. What is unusual, and what differs, is
// Go's: then nothing of the instruction has been done, or the reason says what has.

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"sync"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// CheckStretch is Stretch for check mode, where an instruction is several.
const CheckStretch = Stretch / 4

// Pair is the places of a register in a program and in its reference.
type Pair struct{ Row, Ref code.Row }

// Step is an instruction of a program, and the same in its reference.
type Step struct {
	PC   int32
	In   *code.Instr // nil: it was folded into a constant of the launch
	Ref  *code.Instr
	Way  Way
	Ends bool // it is the end of the block: its guard

	Reads, Writes []Pair
	Fresh         []Pair  // of Reads, what is compared before it runs on the lanes for both
	Wanted        []Pair  // of Writes, what the reference gets then
	Kept          uint64  // bit i: it overwrites Reads[i]
	Proved        bool    // its result is taken to be uniform
	Known         bool    // the address of its access has been compared in the block
	Uniform       []Pair  // … which: of Writes
	Count         uintptr // where it is counted, as in Counts, if that is not in one of those
}

// Way is how an instruction executes in both ways.
type Way uint8

// The ways.
const (
	InGo   Way = iota // not here
	Apart             // by the program, then by the reference: it only computes
	Once              // on the lanes, once for both
	Memory            // a load or store at a compact address, if it has one
)

// Counts are where counts of compact execution are, in bytes from where CheckRoom says.
type Counts struct{ Compact, Quick, OnLanes uintptr }

// Check is a program beside its reference as machine code. The rows of the reference lie behind those of
// the program's in the same block.
type Check struct {
	*Code
	steps  [][]Step
	first  []int32 // by block: the number of its first step
	counts Counts
	both   code.Program // the reference, its rows where they lie
	beside forms
}

// NoteSize is how many bytes a note takes: a row, or a shadow.
const NoteSize = 8 * regfile.Lanes

// idleHead is how many bytes are before what is noted of memory, and say of which lanes something is.
const idleHead = 8

// Idle is what was in memory where a lane would have stored so many bytes that does not execute a store, by the notes of a
// step with so many operands and results; nil if nothing was noted.
func Idle(notes []byte, operands, lane, bytes int) []byte {
	note := notes[operands*NoteSize:]
	if binary.LittleEndian.Uint32(note)>>lane&1 == 0 {
		return nil
	}
	return note[idleHead+lane*bytes:][:bytes]
}

// Notes is how many bytes a step notes at most: of each operand, and behind them of each result, one note.
const Notes = 64 * NoteSize

// NewCheck pairs the machine code of a program with its reference's, given the steps of each block, the last of which is
// the block's end, and how many rows lie before those of the reference.
func NewCheck(c *Code, ref *code.Program, before regfile.Size, steps [][]Step, counts Counts) *Check {
	k := &Check{Code: c, steps: steps, counts: counts}
	k.both = code.Program{Consts: c.prog.Consts}
	move := func(slot code.Slot, row *int32) { *row = code.Row{Slot: slot, Row: *row}.Behind(before).Row }
	k.both.Access = make([]code.Access, len(ref.Access))
	for i, a := range ref.Access {
		elems := make([]code.Elem, len(a.Elems))
		for j, e := range a.Elems {
			move(e.Slot, &e.Row)
			elems[j] = e
		}
		a.Elems = elems
		k.both.Access[i] = a
	}
	var n int32
	for b := range steps {
		k.first = append(k.first, n)
		n += int32(len(steps[b]))
		for i := range steps[b] {
			s := &steps[b][i]
			in := *s.Ref
			c.Uniform = alsoUniform(c.Uniform, &in)
			sig := in.Op.Signature()
			src := sig.Src
			if sig.Side == code.AccessSide {
				src[0] = ref.Access[in.Side].Addr
			}
			for j, row := range []*int32{&in.A, &in.B, &in.C, &in.E} {
				move(src[j], row)
			}
			move(sig.Dst, &in.D)
			move(sig.Dst2, &in.F)
			if in.Guard != 0 {
				p, negated := code.GuardRow(in.Guard)
				in.Guard = code.Guard(p+int32(before.P), negated)
			}
			s.Ref = &in
			for _, list := range []*[]Pair{&s.Reads, &s.Writes, &s.Fresh, &s.Wanted, &s.Uniform} {
				moved := make([]Pair, len(*list))
				for j, o := range *list {
					move(o.Ref.Slot, &o.Ref.Row)
					moved[j] = o
				}
				*list = moved
			}
		}
	}
	k.first = append(k.first, n)
	k.beside.sum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.program(c.prog)
		d.accesses(k.both.Access)
		for _, n := range []uintptr{counts.Compact, counts.Quick, counts.OnLanes} {
			integer(d, n)
		}
		for _, list := range steps { // the last of which is the end of its block
			for i := range list {
				d.step(&list[i])
			}
		}
		return d.sum()
	})
	return k
}

// Step is the block and the place in it of a step by its number.
func (k *Check) Step(n int32) (block, i int32) {
	for k.first[block+1] <= n {
		block++
	}
	return block, n - k.first[block]
}

// Blocks executes from the beginning of a block on, by its index.
func (k *Check) Blocks(ctx *Context, f *regfile.File, index int32) {
	b := k.form(ctx)
	k.run(ctx, f, b, b.blocks[index])
}

// Steps executes from a step on.
func (k *Check) Steps(ctx *Context, f *regfile.File, n int32) {
	b := k.form(ctx)
	k.run(ctx, f, b, b.steps[n])
}

// End executes from the end of a block on, by its index.
func (k *Check) End(ctx *Context, f *regfile.File, index int32) {
	b := k.form(ctx)
	k.run(ctx, f, b, b.ends[index])
}

// Make makes the code for all lanes, or for some, ahead of when it is needed.
func (k *Check) Make(masked bool) { k.beside.made(masked, k.lib, k.assemble) }

// Ready reports whether the host executes the code.
func (k *Check) Ready(ctx *Context) bool { return k.form(ctx).text.memory != nil }

func (k *Check) form(ctx *Context) *body { return k.beside.form(ctx, k.lib, k.assemble) }

// CheckRoom says where check mode's notes are, Notes bytes, and the counts.
func (c *Context) CheckRoom(notes []byte, counts unsafe.Pointer) {
	c.notes, c.counts = unsafe.Pointer(unsafe.SliceData(notes)), counts
}

// assemble makes the code.
func (k *Check) assemble(masked bool) *body {
	a := newAssembler(k.Code, masked)
	defer a.rest()
	a.check = k
	a.arrival()
	a.turning()
	a.callable()
	starts, ends := make([]int32, k.first[len(k.first)-1]), make([]int32, len(k.prog.Blocks))
	for i := range k.prog.Blocks {
		b := &k.prog.Blocks[i]
		a.here(int(a.blocks[i]))
		if b.Caution != 0 {
			a.leave(b.First, Cautious) // Go executes it
			continue
		}
		a.put("begin", holes{n0: int64(b.Sources.Len())})
		a.length = 0
		for j := range k.steps[i] {
			a.island()
			s := &k.steps[i][j]
			a.step = k.first[i] + int32(j)
			before := len(a.out)
			if a.long(CheckStretch) {
				a.leave(a.step, Rests)
			}
			starts[a.step] = int32(len(a.out))
			if !a.undone(func() { a.checked(b, s) }) {
				a.out, starts[a.step] = a.out[:before], int32(before)
				a.leave(a.step, Lacks)
			}
		}
		ends[i] = int32(len(a.out))
		a.end(b)
		a.placeStubs()
	}
	out := a.body(k.prog)
	out.steps, out.ends = starts, ends
	return out
}

// callable places what stencils call.
func (a *assembler) callable() {
	a.functions = map[string]int{}
	for _, name := range []string{"call_unlike", "call_differs", "call_note", "call_moved"} {
		for _, s := range []code.Slot{code.R, code.Q} {
			name := name + "_" + s.String()
			a.functions[name] = a.label()
			a.here(a.functions[name])
			a.put(name, holes{})
		}
	}
}

// checked makes the code of a step.
func (a *assembler) checked(b *code.Block, s *Step) {
	if s.Ends {
		a.checkedEnd(b, s)
		return
	}
	form, behind := a.form, 0
	engine, ref := int32(0), s.Ref.Guard
	if s.In != nil {
		engine = s.In.Guard
	}
	if engine == 0 && ref != 0 || a.noted(s) > Notes { // what it was folded to has no guard
		a.leaveToGo()
	}
	if ref != 0 {
		a.sameGuard(engine, ref, Lacks)
		form, behind = "_masked", a.label()
		p, negated := code.GuardRow(engine)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: behind})
	}
	switch s.Way {
	case Apart:
		a.apart(s, form)
	case Once:
		a.onceForBoth(s, form)
	case Memory:
		a.memory(s, form)
	default:
		a.leaveToGo()
	}
	if ref != 0 {
		a.here(behind)
		name := "unguard"
		if s.Ref.Skips {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
}

// checkedEnd compares what decides how a block ends: its guard. Where something else decides it, the end is Go's.
func (a *assembler) checkedEnd(b *code.Block, s *Step) {
	switch end := a.prog.End(b); end.Op {
	case code.Jump, code.Branch, code.Return:
		if (end.Guard != 0) != (s.Ref.Guard != 0) {
			a.leaveToGo()
		} else if end.Guard != 0 {
			a.sameGuard(end.Guard, s.Ref.Guard, Differs)
		}
	case code.Barrier:
		if len(s.Reads) > 0 { // its number is a constant of the launch, perhaps, and the reference's is none
			a.leave(b.Last, Control)
		}
	}
}

// sameGuard compares a guard with the reference's.
func (a *assembler) sameGuard(engine, ref int32, why Reason) {
	p, no := code.GuardRow(engine)
	q, not := code.GuardRow(ref)
	a.put("same_p", holes{b: int64(4 * p), c: int64(4 * q), n0: ones(no != not), leave: a.exit(a.step, why)})
}

// tally counts.
func (a *assembler) tally(at uintptr, n int64) { a.put("tally", holes{d: int64(at), n0: n}) }

// countCompact counts an instruction that has executed on shadows: quickly, if not by a rule of the table, as selections
// are of what is not the same in all lanes. What has a rule's stencil has counted that already.
func (a *assembler) countCompact(s *code.Signature) {
	a.tally(a.check.counts.Compact, 1)
	switch {
	case s.Rule == ptx.AffineSelect:
		a.put("tally_level", holes{d: int64(a.check.counts.Quick), n0: 1})
	case ruled(s, "") == "":
		a.tally(a.check.counts.Quick, 1)
	}
}

// reference makes the code of a step's reference.
func (a *assembler) reference(s *Step, form string, why Reason) {
	own, lacks := a.prog, a.lacks
	a.prog, a.lacks = &a.check.both, why
	a.operation(0, s.Ref, form)
	a.prog, a.lacks = own, lacks
}

// kept is where a register is expected for all lanes.
type kept int

const (
	inShadow kept = iota
	inBoth        // in a shadow and in the row
	inRow
)

// keptOf is where a step has the registers that it writes.
func (s *Step) keptOf() kept {
	switch {
	case s.In == nil || s.In.How.Both: // a constant has a shadow, too
		return inBoth
	case s.In.How.Dirty:
		return inShadow
	}
	return inRow
}

// agree compares a register with the reference's. Where it is tells which stencil is tried first.
func (a *assembler) agree(o Pair, at kept, form string, counted bool, why Reason) {
	h := holes{leave: a.exit(a.step, why)}
	a.place(&h, 'B', o.Row.Slot, o.Row.Row)
	a.register(&h, 'C', o.Ref.Slot, o.Ref.Row)
	if o.Ref.Slot == code.P {
		a.want("same_p", h)
		return
	}
	a.shadow(&h, 'A', o.Row)
	slot, anyhow := o.Ref.Slot.String(), h
	anyhow.n0, anyhow.other = ones(counted), a.functions["call_differs_"+o.Ref.Slot.String()]
	if form == "_masked" {
		a.want("agree_"+slot+form, anyhow)
		return
	}
	if at == inRow {
		h.other = h.leave
		a.want("generic_"+slot, h)
		a.want("same_"+slot+form, h)
		return
	}
	name := "agreed_"
	if at == inBoth {
		name = "agreed_both_"
	}
	h.other, h.n0 = a.label(), ones(counted)&regfile.Lanes
	a.want(name+slot, h)
	a.beside(aside{label: h.other, code: func(a *assembler, _ *aside) { a.want("agree_"+slot+form, anyhow) }})
}

// inForm is the name of a stencil of rows of a kind: predicates have one for all lanes and for some.
func inForm(name string, slot code.Slot, form string) string {
	if slot == code.P {
		form = ""
	}
	return name + slot.String() + form
}

// same compares rows.
func (a *assembler) same(list []Pair, form string) {
	for _, o := range list {
		h := holes{leave: a.exit(a.step, Lacks)}
		a.place(&h, 'B', o.Row.Slot, o.Row.Row)
		a.register(&h, 'C', o.Ref.Slot, o.Ref.Row)
		if form == "_masked" {
			h.other = a.functions["call_unlike_"+o.Ref.Slot.String()]
		}
		a.want(inForm("same_", o.Ref.Slot, form), h)
	}
}

// copies gives the reference rows of the program's.
func (a *assembler) copies(list []Pair, form string) {
	for _, o := range list {
		var h holes
		a.place(&h, 'B', o.Row.Slot, o.Row.Row)
		a.register(&h, 'D', o.Ref.Slot, o.Ref.Row)
		a.want(inForm("copy_", o.Ref.Slot, form), h)
	}
}

// idle puts idle, or idled, which may differ, for all results, where lanes may be idle. Both call a function.
func (a *assembler) idle(name, calls string, s *Step, form string) {
	if form != "_masked" || s.In == nil {
		return
	}
	for i, o := range s.Writes {
		h := holes{n0: int64((len(s.Reads) + i) * NoteSize), leave: a.exit(a.step, Differs)}
		a.register(&h, 'B', o.Row.Slot, o.Row.Row)
		if o.Row.Slot != code.P {
			a.registerShadow(&h, 'A', o.Row)
			h.other = a.functions[calls+"_"+o.Row.Slot.String()]
		}
		a.want(name+"_"+o.Row.Slot.String(), h)
	}
}

// noted is how many bytes a step may note: of operands and results, and of what is in memory where idle lanes would store.
func (a *assembler) noted(s *Step) int {
	n := (len(s.Reads) + len(s.Writes)) * NoteSize
	if s.Way == Memory {
		n += idleHead + regfile.Lanes*a.prog.Access[s.In.Side].Bytes
	}
	return n
}

// notes keeps the shadows of operands that a step overwrites, for what is said of it should it differ.
func (a *assembler) notes(s *Step) {
	for n := s.Kept; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		h := holes{n0: int64(i * NoteSize)}
		a.shadow(&h, 'A', s.Reads[i].Row)
		a.want("note_"+s.Reads[i].Row.Slot.String(), h)
	}
}

// uniform looks whether registers are compact and the same in all lanes that execute.
func (a *assembler) uniform(list []Pair, why Reason) {
	for _, o := range list {
		if o.Row.Slot == code.P || o.Row.Row < 0 {
			continue
		}
		exit := a.exit(a.step, why)
		a.onShadow("held", 'A', o.Row, exit)
		a.onShadow("level", 'A', o.Row, exit)
	}
}

// apart is a step that only computes.
func (a *assembler) apart(s *Step, form string) {
	a.notes(s)
	a.idle("idle", "call_note", s, form)
	proved := s.In != nil && s.In.How.Exec >= code.ProvedOne
	if s.Proved {
		if a.put("alone", holes{leave: a.exit(a.step, Lacks)}); proved {
			a.uniform(s.Reads, Lacks)
		}
	}
	if s.In != nil {
		a.execution(s.PC, s.In, form)
	}
	if s.In == nil || proved {
		a.tally(s.Count, 1)
	}
	a.referenceAgrees(s, form)
	a.alike(s, form)
}

// referenceAgrees is the step's reference, and the comparison of what it and the program have written.
func (a *assembler) referenceAgrees(s *Step, form string) {
	if !a.comparing(s, form) {
		a.refers(s, s.keptOf(), form)
	}
}

// refers executes the reference, and compares.
func (a *assembler) refers(s *Step, at kept, form string) {
	a.reference(s, form, Halfway)
	a.results(s, at, form)
}

// comparing is referenceAgrees by one stencil, if there is one: for a result that is kept in a shadow, for all lanes.
func (a *assembler) comparing(s *Step, form string) bool {
	if form == "_masked" || s.keptOf() != inShadow {
		return false
	}
	h, kernel := a.operands(s.Ref), a.kernel(s.Ref)
	h.n0, h.other, h.leave = int64(s.Ref.Imm), a.label(), a.exit(a.step, Differs)
	a.registerShadow(&h, 'F', s.Writes[0].Row)
	if !a.try(kernel+"_agreed", h) {
		return false
	}
	a.asLong(kernel + form)
	a.beside(aside{label: h.other, code: func(a *assembler, _ *aside) { a.refers(s, inShadow, form) }})
	return true
}

// results compares what a step has written with the reference's.
func (a *assembler) results(s *Step, at kept, form string) {
	for _, o := range s.Writes {
		a.agree(o, at, form, true, Differs)
	}
}

// alike looks whether what is proved of results is so, and whether lanes that do not execute have what they had.
func (a *assembler) alike(s *Step, form string) {
	a.uniform(s.Uniform, Differs)
	a.idle("idled", "call_moved", s, form)
}

// onceForBoth is a step on the lanes, whose results the reference gets.
func (a *assembler) onceForBoth(s *Step, form string) {
	for _, o := range s.Writes {
		if o.Row.Slot != code.P {
			a.onShadow("generic", 'A', o.Row, a.exit(a.step, Lacks))
		}
	}
	a.same(s.Fresh, form)
	a.asProved(s.In, form)
	a.operation(s.PC, s.In, form)
	a.tally(a.check.counts.OnLanes, 1)
	a.copies(s.Wanted, form)
}

// memory is a load or store at a compact address.
func (a *assembler) memory(s *Step, form string) {
	acc := &a.prog.Access[s.In.Side]
	if s.Kept != 0 || acc.Atom != nil || acc.Space == ptx.Local {
		a.leaveToGo()
	}
	if acc.Addr != code.NoSlot {
		for _, o := range s.Writes {
			if (o.Ref == code.Row{Slot: acc.Addr, Row: s.Ref.A}) {
				a.leaveToGo()
			}
		}
		if len(s.Reads) > 0 {
			a.address(s, form)
		}
	}
	if s.Proved {
		a.put("alone", holes{leave: a.exit(a.step, Lacks)})
	}
	a.idle("idle", "call_note", s, form)
	lanes, done := a.label(), a.label()
	if s.In.How.Exec != code.Expanded {
		if acc.Addr == code.NoSlot { // of a load: it is compact always
			a.compactMemory(s, acc, form, a.exit(a.step, Lacks))
			a.alike(s, form)
			return
		}
		a.compactMemory(s, acc, form, lanes)
		a.put("jump", holes{other: done})
	}
	a.here(lanes)
	if s.In.How.Exec != code.Expanded {
		a.unreached(s.PC, s.In)
	}
	a.expandSources(s.In)
	a.same(s.Fresh, form)
	a.asProved(s.In, form)
	a.operation(s.PC, s.In, form)
	a.tally(a.check.counts.OnLanes, 1)
	a.copies(s.Writes, form)
	a.uncompactResults(s.In)
	a.results(s, inRow, form)
	a.here(done)
	a.alike(s, form)
}

// compactMemory is memory where the address is compact; it goes to a label where it is not.
func (a *assembler) compactMemory(s *Step, acc *code.Access, form string, lanes int) {
	a.reach(s.In, acc, form, lanes)
	a.besides("before", s, acc, form)
	a.moves(s.In, acc, form)
	a.countCompact(s.In.Op.Signature())
	if !acc.Store {
		a.refers(s, s.keptOf(), form)
		return
	}
	a.stored(&a.check.both.Access[s.Ref.Side], form)
	a.besides("after", s, acc, form)
}

// asProved looks whether the addresses of an access on the lanes are as is proved.
func (a *assembler) asProved(in *code.Instr, form string) {
	if in.Op.Signature().Side != code.AccessSide || a.prog.Access[in.Side].Pattern == code.AnyPattern {
		return
	}
	acc := &a.prog.Access[in.Side]
	h := holes{e: acc.Distance(), leave: a.exit(a.step, Lacks)}
	a.place(&h, 'A', acc.Addr, in.A)
	a.want("as_proved_"+acc.Addr.String()+form, h)
}

// address compares that of an access.
func (a *assembler) address(s *Step, form string) {
	o, behind := s.Reads[0], a.label()
	if s.Known {
		h := holes{other: behind}
		a.shadow(&h, 'A', o.Row)
		a.register(&h, 'C', o.Ref.Slot, o.Ref.Row)
		a.want("still_"+o.Ref.Slot.String()+form, h)
	}
	a.agree(o, inShadow, form, false, Lacks)
	a.here(behind)
}

// besides puts before or after, of a store whose lanes may be idle.
func (a *assembler) besides(name string, s *Step, acc *code.Access, form string) {
	if !acc.Store || form != "_masked" {
		return
	}
	note := int64(len(s.Reads)+len(s.Writes)) * NoteSize
	a.want(name+spaceOf(acc), holes{n0: note, n1: int64(8 * acc.Hit), e: int64(acc.Bytes), leave: a.exit(a.step, Differs)})
}

// stored compares what a store at a compact address has left in memory with what the reference's rows have.
func (a *assembler) stored(ref *code.Access, form string) {
	a.put("told", holes{leave: a.exit(a.step, Differs)})
	for i, e := range ref.Elems {
		h := holes{n0: int64(i * ref.Size), leave: a.exit(a.step, Differs)}
		a.place(&h, 'C', e.Slot, e.Row)
		a.want("holds_"+element(ref, e)+form, h)
	}
}
