package native

// This file makes machine code of check mode, as package check executes it: each instruction of a program on shadows or lanes,
// the same instruction of its reference on lanes, and the comparison of both. Unusual cases and differences exit to Go. Then
// nothing of the instruction has been executed, unless the exit's reason (Halfway, Differs) says otherwise.

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// checkStretch is Stretch for check mode, where one instruction takes the time of several.
const checkStretch = Stretch / 4

// Pair is the rows of one register in a program and in its reference.
type Pair struct{ Row, Ref code.Row }

// Step is an instruction of a program, with the same instruction of its reference.
type Step struct {
	PC    int32
	Instr *code.Instr // instruction of the program; nil if it was folded into a constant of the launch
	Ref   *code.Instr // instruction of the reference
	Exec  CheckExec
	IsEnd bool // the step is the end of the block; its guard is compared

	Reads, Writes   []Pair
	ComparedFirst   []Pair  // the Reads compared before OnceForBoth
	Copied          []Pair  // the Writes copied to the reference after OnceForBoth
	Overwritten     uint64  // bit i: the step overwrites Reads[i]
	ProvedUniform   bool    // the program executes it once because its result is proved uniform
	AddressCompared bool    // the access's address was compared earlier in the block
	UniformResults  []Pair  // the Writes proved uniform
	Counter         uintptr // place of its own counter, as in Counts, if no counter of Counts counts it
}

// CheckExec is the way in which a step executes the program's and the reference's instruction.
type CheckExec uint8

// The values of CheckExec.
const (
	InGo        CheckExec = iota // Go executes the step
	Separately                   // first the program's, then the reference's: the step only computes
	OnceForBoth                  // once on the lanes, for both
	Memory                       // a load or store at a compact address, if its address is compact
)

// Counts has the places of the counters of compact execution, as offsets in bytes from the counts of SetCheckBuffers.
type Counts struct{ Compact, Quick, OnLanes uintptr }

// Check is the machine code of a program together with its reference, for check mode. The reference's rows follow the program's
// rows in the same register file.
type Check struct {
	*Code
	steps       [][]Step
	firstStep   []int32 // number of each block's first step, and the number of all steps
	counts      Counts
	reference   code.Program // the reference, with the rows of the common register file
	checkBodies bodies
}

// NoteSize is the size of a note in bytes: it holds a row or a shadow.
const NoteSize = 8 * regfile.Lanes

// idleHeader is the size, in bytes, of the mask of noted lanes before the notes of memory.
const idleHeader = 8

// IdleBytes returns the old memory at the place where an idle lane would have stored bytes bytes. It reads the notes of a
// step whose operands and results number operands. It returns nil if nothing was noted for the lane.
func IdleBytes(notes []byte, operands, lane, bytes int) []byte {
	note := notes[operands*NoteSize:]
	if binary.LittleEndian.Uint32(note)>>lane&1 == 0 {
		return nil
	}
	return note[idleHeader+lane*bytes:][:bytes]
}

// MaxNoteBytes is the maximum size of a step's notes in bytes: a note for each operand, then a note for each result.
const MaxNoteBytes = 64 * NoteSize

// NewCheck returns the code of a program together with its reference. steps has the steps of each block, the last of which is
// the block's end; before is the number of rows before the reference's rows. NewCheck changes steps.
func NewCheck(c *Code, ref *code.Program, before regfile.Size, steps [][]Step, counts Counts) *Check {
	k := &Check{Code: c, steps: steps, counts: counts}
	k.reference = code.Program{Consts: c.prog.Consts}
	move := func(slot code.Slot, row *int32) { *row = code.Row{Slot: slot, Row: *row}.Add(before).Row }
	moveAll := func(list []code.Elem) []code.Elem {
		list = slices.Clone(list)
		for i := range list {
			move(list[i].Slot, &list[i].Row)
		}
		return list
	}
	k.reference.Access = slices.Clone(ref.Access)
	for i := range k.reference.Access {
		a := &k.reference.Access[i]
		a.Elems = moveAll(a.Elems)
	}
	k.reference.Fragments = slices.Clone(ref.Fragments)
	for i := range k.reference.Fragments {
		f := &k.reference.Fragments[i]
		f.D, f.A, f.B, f.C, f.E = moveAll(f.D), moveAll(f.A), moveAll(f.B), moveAll(f.C), moveAll(f.E)
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
		d.addFragments(k.reference.Fragments)
		for _, n := range []uintptr{counts.Compact, counts.Quick, counts.OnLanes} {
			addInteger(d, n)
		}
		for _, list := range steps { // a block's last step marks its end
			for i := range list {
				d.addStep(&list[i])
			}
		}
		return d.sum()
	})
	return k
}

// LocateStep returns the block of step number n and the step's index in the block.
func (k *Check) LocateStep(n int32) (block, i int32) {
	for k.firstStep[block+1] <= n {
		block++
	}
	return block, n - k.firstStep[block]
}

// RunCheckBlock enters machine code at the beginning of a block, by its index.
func (k *Check) RunCheckBlock(ctx *Context, f *regfile.File, index int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.blocks[index])
}

// RunStep enters machine code at step number n.
func (k *Check) RunStep(ctx *Context, f *regfile.File, n int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.steps[n])
}

// RunEnd enters machine code at the end of a block, after its steps, by its index.
func (k *Check) RunEnd(ctx *Context, f *regfile.File, index int32) {
	b := k.bodyFor(ctx)
	k.run(ctx, f, b, b.ends[index])
}

// Make assembles the code for all lanes, or for the lanes of a mask, before its first use.
func (k *Check) Make(masked bool) { k.checkBodies.makeBody(masked, k.lib, k.assemble) }

// Ready reports whether the host can execute the code.
func (k *Check) Ready(ctx *Context) bool { return k.bodyFor(ctx).text.memory != nil }

func (k *Check) bodyFor(ctx *Context) *body { return k.checkBodies.bodyFor(ctx, k.lib, k.assemble) }

// SetCheckBuffers sets the buffers of check mode: notes, of MaxNoteBytes bytes, and the counters of Counts.
func (c *Context) SetCheckBuffers(notes []byte, counts unsafe.Pointer) {
	c.notes, c.counts = unsafe.Pointer(unsafe.SliceData(notes)), counts
}

// assemble makes the code of the program with its reference.
func (k *Check) assemble(masked bool) *body {
	a := newAssembler(k.Code, masked)
	defer a.release()
	a.check = k
	a.putReconvergence()
	a.putWarpSwitch()
	starts, ends := make([]int32, k.firstStep[len(k.firstStep)-1]), make([]int32, len(k.prog.Blocks))
	for i := range k.prog.Blocks {
		b := &k.prog.Blocks[i]
		a.bind(int(a.blockLabels[i]))
		if b.Caution != 0 {
			a.putExit(b.First, NeedsCaution) // Go executes the block
			continue
		}
		a.put("begin", holes{n0: int64(b.Sources.Len())})
		a.sinceExit = 0
		for j := range k.steps[i] {
			a.placeIsland()
			s := &k.steps[i][j]
			a.step = k.firstStep[i] + int32(j)
			before := len(a.buf)
			if a.stretchEnds(checkStretch) {
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

// putStep makes the code of a step, with its guard.
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
	if guard == 0 && ref != 0 || a.noteBytes(s) > MaxNoteBytes { // a folded instruction has no guard
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

// putStepEnd makes code that compares the guards at the end of a block. It leaves an end with more operands to Go.
func (a *assembler) putStepEnd(b *code.Block, s *Step) {
	switch end := a.prog.End(b); end.Op {
	case code.Jump, code.Branch, code.Return:
		if (end.Guard != 0) != (s.Ref.Guard != 0) {
			a.leaveToGo()
		} else if end.Guard != 0 {
			a.compareGuards(end.Guard, s.Ref.Guard, Differs)
		}
	case code.Barrier, code.BarrierWarp:
		if len(s.Reads) > 0 { // the barrier's number or the membermask may be a constant of the launch, and a register in the reference
			a.putExit(b.Last, OtherEnd)
		}
	}
}

// compareGuards makes code that compares a guard with the reference's guard, and exits with reason if they differ.
func (a *assembler) compareGuards(guard, ref int32, reason Reason) {
	p, negated := code.GuardRow(guard)
	q, refNegated := code.GuardRow(ref)
	a.put("same_p", holes{b: int64(4 * p), c: int64(4 * q), n0: ones(negated != refNegated), leave: a.exitLabel(a.step, reason)})
}

// putTally makes code that adds n to the counter at offset at.
func (a *assembler) putTally(at uintptr, n int64) { a.put("tally", holes{d: int64(at), n0: n}) }

// tallyCompact makes code to count an instruction executed on shadows. It also counts it as Quick unless it used an affine
// rule: a selection is Quick for uniform operands only, and the stencils of rules count for themselves.
func (a *assembler) tallyCompact(s *code.Signature) {
	a.putTally(a.check.counts.Compact, 1)
	switch {
	case s.Rule == ptx.AffineSelect:
		a.put("tally_uniform", holes{d: int64(a.check.counts.Quick), n0: 1})
	case ruleName(s) == "":
		a.putTally(a.check.counts.Quick, 1)
	}
}

// putReference makes the code of a step's reference instruction. Its exits to Go have this reason.
func (a *assembler) putReference(s *Step, suffix string, reason Reason) {
	program, oldReason := a.prog, a.goReason
	a.prog, a.goReason = &a.check.reference, reason
	a.putOperation(0, s.Ref, suffix)
	a.prog, a.goReason = program, oldReason
}

// residence is the expected place of a register's value for all lanes.
type residence int

const (
	inShadow residence = iota
	inBoth             // in the shadow and in the row
	inRow
)

// resultResidence returns the expected residence of a step's results.
func (s *Step) resultResidence() residence {
	switch {
	case s.Instr == nil || s.Instr.Plan.WritesBoth: // a constant has both a row and a shadow
		return inBoth
	case s.Instr.Plan.LeavesStale:
		return inShadow
	}
	return inRow
}

// compareResult makes code that compares a register with the reference's register, and exits with reason if they differ.
// The residence selects the stencil for the common case; counted says whether the compared lanes are counted.
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
	general.n0, general.other = ones(counted), a.function("call_differs_"+pair.Ref.Slot.String())
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

// withSuffix returns the name of a stencil for rows of a slot. Predicates have one stencil, without a suffix, for all masks.
func withSuffix(name string, slot code.Slot, suffix string) string {
	if slot == code.P {
		suffix = ""
	}
	return name + slot.String() + suffix
}

// compareRows makes code that compares rows with the reference's rows, and exits as Unsupported if they differ.
func (a *assembler) compareRows(pairs []Pair, suffix string) {
	for _, pair := range pairs {
		h := holes{leave: a.exitLabel(a.step, Unsupported)}
		a.setPlace(&h, 'B', pair.Row.Slot, pair.Row.Row)
		a.setRegister(&h, 'C', pair.Ref.Slot, pair.Ref.Row)
		if suffix == "_masked" {
			h.other = a.function("call_unlike_" + pair.Ref.Slot.String())
		}
		a.putOrLeave(withSuffix("same_", pair.Ref.Slot, suffix), h)
	}
}

// copyRows makes code that copies rows of the program to the reference.
func (a *assembler) copyRows(pairs []Pair, suffix string) {
	for _, pair := range pairs {
		var h holes
		a.setPlace(&h, 'B', pair.Row.Slot, pair.Row.Row)
		a.setRegister(&h, 'D', pair.Ref.Slot, pair.Ref.Row)
		a.putOrLeave(withSuffix("copy_", pair.Ref.Slot, suffix), h)
	}
}

// putIdle puts the stencil idle (it notes the old results of idle lanes) or idled (it checks the results for changes) for
// each result. Both call a function. Code for all lanes needs neither.
func (a *assembler) putIdle(name, function string, s *Step, suffix string) {
	if suffix != "_masked" || s.Instr == nil {
		return
	}
	for i, pair := range s.Writes {
		h := holes{n0: int64((len(s.Reads) + i) * NoteSize), leave: a.exitLabel(a.step, Differs)}
		a.setRegister(&h, 'B', pair.Row.Slot, pair.Row.Row)
		if pair.Row.Slot != code.P {
			a.setRegisterShadow(&h, 'A', pair.Row)
			h.other = a.function(function + "_" + pair.Row.Slot.String())
		}
		a.putOrLeave(name+"_"+pair.Row.Slot.String(), h)
	}
}

// noteBytes returns the maximum size of a step's notes in bytes: of operands, of results, and of the memory at which idle lanes
// would store.
func (a *assembler) noteBytes(s *Step) int {
	n := (len(s.Reads) + len(s.Writes)) * NoteSize
	if s.Exec == Memory {
		n += idleHeader + regfile.Lanes*a.prog.Access[s.Instr.Side].Bytes
	}
	return n
}

// putNotes makes code to note the shadows of operands overwritten by the step, for the report of a difference.
func (a *assembler) putNotes(s *Step) {
	for n := s.Overwritten; n != 0; n &= n - 1 {
		i := bits.TrailingZeros64(n)
		h := holes{n0: int64(i * NoteSize)}
		a.setShadow(&h, 'A', s.Reads[i].Row)
		a.putOrLeave("note_"+s.Reads[i].Row.Slot.String(), h)
	}
}

// checkUniform makes code that exits with reason unless the registers are uniform for the executing lanes.
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

// putSeparately makes the code of a computation.
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

// compareWithReference makes code that executes the step's reference and compares the results.
func (a *assembler) compareWithReference(s *Step, suffix string) {
	if !a.tryCompareInOne(s, suffix) {
		a.putReferenceAndCompare(s, s.resultResidence(), suffix)
	}
}

// putReferenceAndCompare is compareWithReference with separate stencils for the execution and the comparison.
func (a *assembler) putReferenceAndCompare(s *Step, residence residence, suffix string) {
	a.putReference(s, suffix, Halfway)
	a.compareResults(s, residence, suffix)
}

// tryCompareInOne is compareWithReference with one stencil. It reports whether such a stencil exists: only for all lanes,
// and for a result expected in a shadow.
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

// compareResults makes code that compares a step's results with the reference's results.
func (a *assembler) compareResults(s *Step, residence residence, suffix string) {
	for _, pair := range s.Writes {
		a.compareResult(pair, residence, suffix, true, Differs)
	}
}

// checkProofs makes code that checks the results proved uniform, and the values of idle lanes, which must not change.
func (a *assembler) checkProofs(s *Step, suffix string) {
	a.checkUniform(s.UniformResults, Differs)
	a.putIdle("idled", "call_moved", s, suffix)
}

// putOnceForBoth makes the code of a step with one execution on the lanes. The reference receives a copy of the results.
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

// putMemoryStep makes the code of a load or store: at a compact address if possible, else on the lanes.
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
		if acc.Addr == code.NoSlot { // a fixed address is always compact
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

// putCompactMemory makes the code of an access at a compact address, with its comparison. It jumps to the label lanes if the
// address is generic or its memory is not found.
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

// checkPattern makes code that exits to Go unless the addresses of an access on the lanes have the proved pattern.
func (a *assembler) checkPattern(instr *code.Instr, suffix string) {
	if instr.Op.Signature().Side != code.AccessSide || a.prog.Access[instr.Side].Pattern == code.AnyPattern {
		return
	}
	acc := &a.prog.Access[instr.Side]
	h := holes{e: acc.Distance(), leave: a.exitLabel(a.step, Unsupported)}
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	a.putOrLeave("as_proved_"+acc.Addr.String()+suffix, h)
}

// compareAddress makes code that compares an access's address with the reference's address.
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

// putStoreNotes puts the stencil before (it notes the memory of idle lanes) or after (it checks this memory for changes)
// for a store with a mask.
func (a *assembler) putStoreNotes(name string, s *Step, acc *code.Access, suffix string) {
	if !acc.Store || suffix != "_masked" {
		return
	}
	note := int64(len(s.Reads)+len(s.Writes)) * NoteSize
	a.putOrLeave(name+spaceSuffix(acc), holes{n0: note, n1: int64(8 * acc.HitIndex), e: int64(acc.Bytes), leave: a.exitLabel(a.step, Differs)})
}

// compareStored makes code that compares the memory after a store at a compact address with the reference's rows.
func (a *assembler) compareStored(ref *code.Access, suffix string) {
	a.put("memory_changed", holes{leave: a.exitLabel(a.step, Differs)})
	for i, e := range ref.Elems {
		h := holes{n0: int64(i * ref.Size), leave: a.exitLabel(a.step, Differs)}
		a.setPlace(&h, 'C', e.Slot, e.Row)
		a.putOrLeave("holds_"+elementName(ref, e)+suffix, h)
	}
}
