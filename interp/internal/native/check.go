package native

// This file makes machine code of check mode, as package check does it: each instruction of a program on
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
	PC    int32
	Instr *code.Instr // nil: it was folded into a constant of the launch
	Ref   *code.Instr
	Exec  CheckExec
	IsEnd bool // it is the end of the block: its guard

	Reads, Writes   []Pair
	ComparedFirst   []Pair  // of Reads, what is compared before it runs on the lanes for both
	Copied          []Pair  // of Writes, what the reference gets then
	Overwritten     uint64  // bit i: it overwrites Reads[i]
	ProvedUniform   bool    // its result is taken to be uniform
	AddressCompared bool    // the address of its access has been compared in the block
	UniformResults  []Pair  // … which: of Writes
	Counter         uintptr // where it is counted, as in Counts, if that is not in one of those
}

// CheckExec is how an instruction executes in both ways.
type CheckExec uint8

// The ways.
const (
	InGo        CheckExec = iota // not here
	Separately                   // by the program, then by the reference: it only computes
	OnceForBoth                  // on the lanes, once for both
	Memory                       // a load or store at a compact address, if it has one
)

// Counts are where counts of compact execution are, in bytes from where SetCheckBuffers says.
type Counts struct{ Compact, Quick, OnLanes uintptr }

// Check is a program beside its reference as machine code. The rows of the reference lie behind those of
// the program's in the same block.
type Check struct {
	*Code
	steps       [][]Step
	firstStep   []int32 // by block: the number of its first step
	counts      Counts
	reference   code.Program // the reference, its rows where they lie
	checkBodies bodies
}

// NoteSize is how many bytes a note takes: a row, or a shadow.
const NoteSize = 8 * regfile.Lanes

// idleHeader is how many bytes are before what is noted of memory, and say of which lanes something is.
const idleHeader = 8

// IdleBytes is what was in memory where a lane would have stored so many bytes that does not execute a store, by the notes of a
// step with so many operands and results; nil if nothing was noted.
func IdleBytes(notes []byte, operands, lane, bytes int) []byte {
	note := notes[operands*NoteSize:]
	if binary.LittleEndian.Uint32(note)>>lane&1 == 0 {
		return nil
	}
	return note[idleHeader+lane*bytes:][:bytes]
}

// MaxNoteBytes is how many bytes a step notes at most: of each operand, and behind them of each result, one note.
const MaxNoteBytes = 64 * NoteSize

// NewCheck pairs the machine code of a program with its reference's, given the steps of each block, the last of which is
// the block's end, and how many rows lie before those of the reference.
func NewCheck(c *Code, ref *code.Program, before regfile.Size, steps [][]Step, counts Counts) *Check {
	k := &Check{Code: c, steps: steps, counts: counts}
	k.reference = code.Program{Consts: c.prog.Consts}
	move := func(slot code.Slot, row *int32) { *row = code.Row{Slot: slot, Row: *row}.Add(before).Row }
	k.reference.Access = make([]code.Access, len(ref.Access))
	for i, a := range ref.Access {
		elems := make([]code.Elem, len(a.Elems))
		for j, e := range a.Elems {
			move(e.Slot, &e.Row)
			elems[j] = e
		}
		a.Elems = elems
		k.reference.Access[i] = a
	}
	var n int32
	for b := range steps {
		k.firstStep = append(k.firstStep, n)
		n += int32(len(steps[b]))
		for i := range steps[b] {
			s := &steps[b][i]
			instr := *s.Ref
			c.Uniform = addUniformSource(c.Uniform, &instr)
			sig := instr.Op.Signature()
			src := sig.Src
			if sig.Side == code.AccessSide {
				src[0] = ref.Access[instr.Side].Addr
			}
			for j, row := range []*int32{&instr.A, &instr.B, &instr.C, &instr.E} {
				move(src[j], row)
			}
			move(sig.Dst, &instr.D)
			move(sig.Dst2, &instr.F)
			if instr.Guard != 0 {
				p, negated := code.GuardRow(instr.Guard)
				instr.Guard = code.Guard(p+int32(before.P), negated)
			}
			s.Ref = &instr
			for _, pairs := range []*[]Pair{&s.Reads, &s.Writes, &s.ComparedFirst, &s.Copied, &s.UniformResults} {
				moved := make([]Pair, len(*pairs))
				for j, pair := range *pairs {
					move(pair.Ref.Slot, &pair.Ref.Row)
					moved[j] = pair
				}
				*pairs = moved
			}
		}
	}
	k.firstStep = append(k.firstStep, n)
	k.checkBodies.contentSum = sync.OnceValue(func() [sha256.Size]byte {
		d := new(digest)
		d.addProgram(c.prog)
		d.addAccesses(k.reference.Access)
		for _, n := range []uintptr{counts.Compact, counts.Quick, counts.OnLanes} {
			addInteger(d, n)
		}
		for _, list := range steps { // the last of which is the end of its block
			for i := range list {
				d.addStep(&list[i])
			}
		}
		return d.sum()
	})
	return k
}

// LocateStep is the block and the place in it of a step by its number.
func (k *Check) LocateStep(n int32) (block, i int32) {
	for k.firstStep[block+1] <= n {
		block++
	}
	return block, n - k.firstStep[block]
}

// RunCheckBlock executes from the beginning of a block on, by its index.
func (k *Check) RunCheckBlock(ctx *Context, f *regfile.File, index int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.blocks[index])
}

// RunStep executes from a step on.
func (k *Check) RunStep(ctx *Context, f *regfile.File, n int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.steps[n])
}

// RunEnd executes from the end of a block on, by its index.
func (k *Check) RunEnd(ctx *Context, f *regfile.File, index int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.ends[index])
}

// Make makes the code for all lanes, or for some, ahead of when it is needed.
func (k *Check) Make(masked bool) { k.checkBodies.makeBody(masked, k.lib, k.assemble) }

// Ready reports whether the host executes the code.
func (k *Check) Ready(ctx *Context) bool { return k.bodyFor(ctx).text.memory != nil }

func (k *Check) bodyFor(ctx *Context) *body { return k.checkBodies.bodyFor(ctx, k.lib, k.assemble) }

// SetCheckBuffers says where check mode's notes are, Notes bytes, and the counts.
func (c *Context) SetCheckBuffers(notes []byte, counts unsafe.Pointer) {
	c.notes, c.counts = unsafe.Pointer(unsafe.SliceData(notes)), counts
}

// assemble makes the code.
func (k *Check) assemble(masked bool) *body {
	a := newAssembler(k.Code, masked)
	defer a.release()
	a.check = k
	a.putReconvergence()
	a.putWarpSwitch()
	a.putFunctions()
	starts, ends := make([]int32, k.firstStep[len(k.firstStep)-1]), make([]int32, len(k.prog.Blocks))
	for i := range k.prog.Blocks {
		b := &k.prog.Blocks[i]
		a.bind(int(a.blockLabels[i]))
		if b.Caution != 0 {
			a.putExit(b.First, NeedsCaution) // Go executes it
			continue
		}
		a.put("begin", holes{n0: int64(b.Sources.Len())})
		a.sinceExit = 0
		for j := range k.steps[i] {
			a.placeIsland()
			s := &k.steps[i][j]
			a.step = k.firstStep[i] + int32(j)
			before := len(a.buf)
			if a.stretchEnds(CheckStretch) {
				a.putExit(a.step, StretchEnded)
			}
			starts[a.step] = int32(len(a.buf))
			if !a.attempt(func() { a.putStep(b, s) }) {
				a.buf, starts[a.step] = a.buf[:before], int32(before)
				a.putExit(a.step, Unsupported)
			}
		}
		ends[i] = int32(len(a.buf))
		a.putEnd(b)
		a.putStubs()
	}
	out := a.newBody(k.prog)
	out.steps, out.ends = starts, ends
	return out
}

// putFunctions places what stencils call.
func (a *assembler) putFunctions() {
	a.functionLabels = map[string]int{}
	for _, name := range []string{"call_unlike", "call_differs", "call_note", "call_moved"} {
		for _, s := range []code.Slot{code.R, code.Q} {
			name := name + "_" + s.String()
			a.functionLabels[name] = a.newLabel()
			a.bind(a.functionLabels[name])
			a.put(name, holes{})
		}
	}
}

// putStep makes the code of a step.
func (a *assembler) putStep(b *code.Block, s *Step) {
	if s.IsEnd {
		a.putStepEnd(b, s)
		return
	}
	suffix, after := a.suffix, 0
	guard, ref := int32(0), s.Ref.Guard
	if s.Instr != nil {
		guard = s.Instr.Guard
	}
	if guard == 0 && ref != 0 || a.noteBytes(s) > MaxNoteBytes { // what it was folded to has no guard
		a.leaveToGo()
	}
	if ref != 0 {
		a.compareGuards(guard, ref, Unsupported)
		suffix, after = "_masked", a.newLabel()
		p, negated := code.GuardRow(guard)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: after})
	}
	switch s.Exec {
	case Separately:
		a.putSeparately(s, suffix)
	case OnceForBoth:
		a.putOnceForBoth(s, suffix)
	case Memory:
		a.putMemoryStep(s, suffix)
	default:
		a.leaveToGo()
	}
	if ref != 0 {
		a.bind(after)
		name := "unguard"
		if s.Ref.CountsSkipped {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
}

// putStepEnd compares what decides how a block ends: its guard. Where something else decides it, the end is Go's.
func (a *assembler) putStepEnd(b *code.Block, s *Step) {
	switch end := a.prog.End(b); end.Op {
	case code.Jump, code.Branch, code.Return:
		if (end.Guard != 0) != (s.Ref.Guard != 0) {
			a.leaveToGo()
		} else if end.Guard != 0 {
			a.compareGuards(end.Guard, s.Ref.Guard, Differs)
		}
	case code.Barrier:
		if len(s.Reads) > 0 { // its number is a constant of the launch, perhaps, and the reference's is none
			a.putExit(b.Last, OtherEnd)
		}
	}
}

// compareGuards compares a guard with the reference's.
func (a *assembler) compareGuards(guard, ref int32, reason Reason) {
	p, negated := code.GuardRow(guard)
	q, refNegated := code.GuardRow(ref)
	a.put("same_p", holes{b: int64(4 * p), c: int64(4 * q), n0: ones(negated != refNegated), leave: a.exitLabel(a.step, reason)})
}

// putTally counts.
func (a *assembler) putTally(at uintptr, n int64) { a.put("tally", holes{d: int64(at), n0: n}) }

// tallyCompact counts an instruction that has executed on shadows: quickly, if not by a rule of the table, as selections
// are of what is not the same in all lanes. What has a rule's stencil has counted that already.
func (a *assembler) tallyCompact(s *code.Signature) {
	a.putTally(a.check.counts.Compact, 1)
	switch {
	case s.Rule == ptx.AffineSelect:
		a.put("tally_uniform", holes{d: int64(a.check.counts.Quick), n0: 1})
	case ruleName(s) == "":
		a.putTally(a.check.counts.Quick, 1)
	}
}

// putReference makes the code of a step's reference.
func (a *assembler) putReference(s *Step, suffix string, reason Reason) {
	program, oldReason := a.prog, a.goReason
	a.prog, a.goReason = &a.check.reference, reason
	a.putOperation(0, s.Ref, suffix)
	a.prog, a.goReason = program, oldReason
}

// residence is where a register is expected for all lanes.
type residence int

const (
	inShadow residence = iota
	inBoth             // in a shadow and in the row
	inRow
)

// resultResidence is where a step has the registers that it writes.
func (s *Step) resultResidence() residence {
	switch {
	case s.Instr == nil || s.Instr.Plan.WritesBoth: // a constant has a shadow, too
		return inBoth
	case s.Instr.Plan.LeavesStale:
		return inShadow
	}
	return inRow
}

// compareResult compares a register with the reference's. Where it is tells which stencil is tried first.
func (a *assembler) compareResult(pair Pair, residence residence, suffix string, counted bool, reason Reason) {
	h := holes{leave: a.exitLabel(a.step, reason)}
	a.setPlace(&h, 'B', pair.Row.Slot, pair.Row.Row)
	a.setRegister(&h, 'C', pair.Ref.Slot, pair.Ref.Row)
	if pair.Ref.Slot == code.P {
		a.putOrLeave("same_p", h)
		return
	}
	a.setShadow(&h, 'A', pair.Row)
	slot, general := pair.Ref.Slot.String(), h
	general.n0, general.other = ones(counted), a.functionLabels["call_differs_"+pair.Ref.Slot.String()]
	if suffix == "_masked" {
		a.putOrLeave("agree_"+slot+suffix, general)
		return
	}
	if residence == inRow {
		h.other = h.leave
		a.putOrLeave("generic_"+slot, h)
		a.putOrLeave("same_"+slot+suffix, h)
		return
	}
	name := "agreed_"
	if residence == inBoth {
		name = "agreed_both_"
	}
	h.other, h.n0 = a.newLabel(), ones(counted)&regfile.Lanes
	a.putOrLeave(name+slot, h)
	a.addColdCode(coldCode{label: h.other, put: func(a *assembler, _ *coldCode) { a.putOrLeave("agree_"+slot+suffix, general) }})
}

// withSuffix is the name of a stencil of rows of a kind: predicates have one for all lanes and for some.
func withSuffix(name string, slot code.Slot, suffix string) string {
	if slot == code.P {
		suffix = ""
	}
	return name + slot.String() + suffix
}

// compareRows compares rows.
func (a *assembler) compareRows(pairs []Pair, suffix string) {
	for _, pair := range pairs {
		h := holes{leave: a.exitLabel(a.step, Unsupported)}
		a.setPlace(&h, 'B', pair.Row.Slot, pair.Row.Row)
		a.setRegister(&h, 'C', pair.Ref.Slot, pair.Ref.Row)
		if suffix == "_masked" {
			h.other = a.functionLabels["call_unlike_"+pair.Ref.Slot.String()]
		}
		a.putOrLeave(withSuffix("same_", pair.Ref.Slot, suffix), h)
	}
}

// copyRows gives the reference rows of the program's.
func (a *assembler) copyRows(pairs []Pair, suffix string) {
	for _, pair := range pairs {
		var h holes
		a.setPlace(&h, 'B', pair.Row.Slot, pair.Row.Row)
		a.setRegister(&h, 'D', pair.Ref.Slot, pair.Ref.Row)
		a.putOrLeave(withSuffix("copy_", pair.Ref.Slot, suffix), h)
	}
}

// putIdle puts idle, or idled, which may differ, for all results, where lanes may be idle. Both call a function.
func (a *assembler) putIdle(name, function string, s *Step, suffix string) {
	if suffix != "_masked" || s.Instr == nil {
		return
	}
	for i, pair := range s.Writes {
		h := holes{n0: int64((len(s.Reads) + i) * NoteSize), leave: a.exitLabel(a.step, Differs)}
		a.setRegister(&h, 'B', pair.Row.Slot, pair.Row.Row)
		if pair.Row.Slot != code.P {
			a.setRegisterShadow(&h, 'A', pair.Row)
			h.other = a.functionLabels[function+"_"+pair.Row.Slot.String()]
		}
		a.putOrLeave(name+"_"+pair.Row.Slot.String(), h)
	}
}

// noteBytes is how many bytes a step may note: of operands and results, and of what is in memory where idle lanes would store.
func (a *assembler) noteBytes(s *Step) int {
	n := (len(s.Reads) + len(s.Writes)) * NoteSize
	if s.Exec == Memory {
		n += idleHeader + regfile.Lanes*a.prog.Access[s.Instr.Side].Bytes
	}
	return n
}

// putNotes keeps the shadows of operands that a step overwrites, for what is said of it should it differ.
func (a *assembler) putNotes(s *Step) {
	for n := s.Overwritten; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		h := holes{n0: int64(i * NoteSize)}
		a.setShadow(&h, 'A', s.Reads[i].Row)
		a.putOrLeave("note_"+s.Reads[i].Row.Slot.String(), h)
	}
}

// checkUniform looks whether registers are compact and the same in all lanes that execute.
func (a *assembler) checkUniform(pairs []Pair, reason Reason) {
	for _, pair := range pairs {
		if pair.Row.Slot == code.P || pair.Row.Row < 0 {
			continue
		}
		exit := a.exitLabel(a.step, reason)
		a.putOnShadow("compact", 'A', pair.Row, exit)
		a.putOnShadow("uniform", 'A', pair.Row, exit)
	}
}

// putSeparately is a step that only computes.
func (a *assembler) putSeparately(s *Step, suffix string) {
	a.putNotes(s)
	a.putIdle("idle", "call_note", s, suffix)
	proved := s.Instr != nil && s.Instr.Plan.Exec >= code.ProvedOne
	if s.ProvedUniform {
		if a.put("all_active", holes{leave: a.exitLabel(a.step, Unsupported)}); proved {
			a.checkUniform(s.Reads, Unsupported)
		}
	}
	if s.Instr != nil {
		a.putExecution(s.PC, s.Instr, suffix)
	}
	if s.Instr == nil || proved {
		a.putTally(s.Counter, 1)
	}
	a.compareWithReference(s, suffix)
	a.checkProofs(s, suffix)
}

// compareWithReference is the step's reference, and the comparison of what it and the program have written.
func (a *assembler) compareWithReference(s *Step, suffix string) {
	if !a.tryCompareInOne(s, suffix) {
		a.putReferenceAndCompare(s, s.resultResidence(), suffix)
	}
}

// putReferenceAndCompare executes the reference, and compares.
func (a *assembler) putReferenceAndCompare(s *Step, residence residence, suffix string) {
	a.putReference(s, suffix, Halfway)
	a.compareResults(s, residence, suffix)
}

// tryCompareInOne is compareWithReference by one stencil, if there is one: for a result that is kept in a shadow, for all lanes.
func (a *assembler) tryCompareInOne(s *Step, suffix string) bool {
	if suffix == "_masked" || s.resultResidence() != inShadow {
		return false
	}
	h, kernel := a.operandHoles(s.Ref), a.kernelName(s.Ref)
	h.n0, h.other, h.leave = int64(s.Ref.Imm), a.newLabel(), a.exitLabel(a.step, Differs)
	a.setRegisterShadow(&h, 'F', s.Writes[0].Row)
	if !a.tryPut(kernel+"_agreed", h) {
		return false
	}
	a.addStencilCost(kernel + suffix)
	a.addColdCode(coldCode{label: h.other, put: func(a *assembler, _ *coldCode) { a.putReferenceAndCompare(s, inShadow, suffix) }})
	return true
}

// compareResults compares what a step has written with the reference's.
func (a *assembler) compareResults(s *Step, residence residence, suffix string) {
	for _, pair := range s.Writes {
		a.compareResult(pair, residence, suffix, true, Differs)
	}
}

// checkProofs looks whether what is proved of results is so, and whether lanes that do not execute have what they had.
func (a *assembler) checkProofs(s *Step, suffix string) {
	a.checkUniform(s.UniformResults, Differs)
	a.putIdle("idled", "call_moved", s, suffix)
}

// putOnceForBoth is a step on the lanes, whose results the reference gets.
func (a *assembler) putOnceForBoth(s *Step, suffix string) {
	for _, pair := range s.Writes {
		if pair.Row.Slot != code.P {
			a.putOnShadow("generic", 'A', pair.Row, a.exitLabel(a.step, Unsupported))
		}
	}
	a.compareRows(s.ComparedFirst, suffix)
	a.checkPattern(s.Instr, suffix)
	a.putOperation(s.PC, s.Instr, suffix)
	a.putTally(a.check.counts.OnLanes, 1)
	a.copyRows(s.Copied, suffix)
}

// putMemoryStep is a load or store at a compact address.
func (a *assembler) putMemoryStep(s *Step, suffix string) {
	acc := &a.prog.Access[s.Instr.Side]
	if s.Overwritten != 0 || acc.Atom != nil || acc.Space == ptx.Local {
		a.leaveToGo()
	}
	if acc.Addr != code.NoSlot {
		for _, pair := range s.Writes {
			if (pair.Ref == code.Row{Slot: acc.Addr, Row: s.Ref.A}) {
				a.leaveToGo()
			}
		}
		if len(s.Reads) > 0 {
			a.compareAddress(s, suffix)
		}
	}
	if s.ProvedUniform {
		a.put("all_active", holes{leave: a.exitLabel(a.step, Unsupported)})
	}
	a.putIdle("idle", "call_note", s, suffix)
	lanes, done := a.newLabel(), a.newLabel()
	if s.Instr.Plan.Exec != code.Materialised {
		if acc.Addr == code.NoSlot { // of a load: it is compact always
			a.putCompactMemory(s, acc, suffix, a.exitLabel(a.step, Unsupported))
			a.checkProofs(s, suffix)
			return
		}
		a.putCompactMemory(s, acc, suffix, lanes)
		a.put("jump", holes{other: done})
	}
	a.bind(lanes)
	if s.Instr.Plan.Exec != code.Materialised {
		a.leaveUnreached(s.PC, s.Instr)
	}
	a.materialiseSources(s.Instr)
	a.compareRows(s.ComparedFirst, suffix)
	a.checkPattern(s.Instr, suffix)
	a.putOperation(s.PC, s.Instr, suffix)
	a.putTally(a.check.counts.OnLanes, 1)
	a.copyRows(s.Writes, suffix)
	a.dropResultShadows(s.Instr)
	a.compareResults(s, inRow, suffix)
	a.bind(done)
	a.checkProofs(s, suffix)
}

// putCompactMemory is memory where the address is compact; it goes to a label where it is not.
func (a *assembler) putCompactMemory(s *Step, acc *code.Access, suffix string, lanes int) {
	a.putReach(s.Instr, acc, suffix, lanes)
	a.putStoreNotes("before", s, acc, suffix)
	a.putMoves(s.Instr, acc, suffix)
	a.tallyCompact(s.Instr.Op.Signature())
	if !acc.Store {
		a.putReferenceAndCompare(s, s.resultResidence(), suffix)
		return
	}
	a.compareStored(&a.check.reference.Access[s.Ref.Side], suffix)
	a.putStoreNotes("after", s, acc, suffix)
}

// checkPattern looks whether the addresses of an access on the lanes are as is proved.
func (a *assembler) checkPattern(instr *code.Instr, suffix string) {
	if instr.Op.Signature().Side != code.AccessSide || a.prog.Access[instr.Side].Pattern == code.AnyPattern {
		return
	}
	acc := &a.prog.Access[instr.Side]
	h := holes{e: acc.Distance(), leave: a.exitLabel(a.step, Unsupported)}
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	a.putOrLeave("as_proved_"+acc.Addr.String()+suffix, h)
}

// compareAddress compares that of an access.
func (a *assembler) compareAddress(s *Step, suffix string) {
	pair, after := s.Reads[0], a.newLabel()
	if s.AddressCompared {
		h := holes{other: after}
		a.setShadow(&h, 'A', pair.Row)
		a.setRegister(&h, 'C', pair.Ref.Slot, pair.Ref.Row)
		a.putOrLeave("still_"+pair.Ref.Slot.String()+suffix, h)
	}
	a.compareResult(pair, inShadow, suffix, false, Unsupported)
	a.bind(after)
}

// putStoreNotes puts before or after, of a store whose lanes may be idle.
func (a *assembler) putStoreNotes(name string, s *Step, acc *code.Access, suffix string) {
	if !acc.Store || suffix != "_masked" {
		return
	}
	note := int64(len(s.Reads)+len(s.Writes)) * NoteSize
	a.putOrLeave(name+spaceSuffix(acc), holes{n0: note, n1: int64(8 * acc.HitIndex), e: int64(acc.Bytes), leave: a.exitLabel(a.step, Differs)})
}

// compareStored compares what a store at a compact address has left in memory with what the reference's rows have.
func (a *assembler) compareStored(ref *code.Access, suffix string) {
	a.put("memory_changed", holes{leave: a.exitLabel(a.step, Differs)})
	for i, e := range ref.Elems {
		h := holes{n0: int64(i * ref.Size), leave: a.exitLabel(a.step, Differs)}
		a.setPlace(&h, 'C', e.Slot, e.Row)
		a.putOrLeave("holds_"+elementName(ref, e)+suffix, h)
	}
}
