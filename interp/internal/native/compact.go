package native

// This file makes machine code of instructions that execute compactly, as package lanes does in affine.go: on shadows if they
// hold the operands of all executing lanes, otherwise on the lanes. An instruction whose affine rule has no stencil is left to
// Go.

import (
	"slices"
	"strings"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// putExecution makes the code of an instruction, without its guard, as the plan has chosen: on the lanes or compactly.
func (a *assembler) putExecution(pc int32, instr *code.Instr, suffix string) {
	switch instr.Plan.Exec {
	case code.OnLanes:
		a.putOperation(pc, instr, suffix)
	case code.Materialised:
		a.putMaterialised(pc, instr, suffix)
	case code.ProvedOne, code.ProvedTwo, code.ProvedThree, code.ProvedFour:
		d := code.Row{Slot: instr.Op.Signature().Dst, Row: instr.D}
		a.putScalar(instr)
		a.putOnShadow("proved", 'D', d)
		a.materialiseBoth(instr, d)
	case code.CompactOne, code.CompactTwo, code.CompactThree, code.CompactMixed:
		a.putCompact(pc, instr, suffix)
	case code.CompactCompare:
		a.putCompactCompare(pc, instr, suffix)
	case code.CompactSource:
		a.putSource(instr, suffix)
	case code.CompactLoad, code.CompactStore:
		a.putCompactAccess(pc, instr, suffix)
	default:
		a.leaveToGo()
	}
}

// compactSize is the size of a shadow in bytes.
const compactSize = int64(unsafe.Sizeof(regfile.Compact{}))

// setShadow fills the hole with this letter with the place of an operand's shadow: the offset in bytes from the first shadow of
// its kind, or in the constants.
func (a *assembler) setShadow(h *holes, letter byte, o code.Row) {
	if o.Row >= 0 {
		a.setRegisterShadow(h, letter, o)
		return
	}
	h.constant |= operandBit(letter)
	a.setHole(h.operand(letter), a.shadows[o.Slot]+compactSize*int64(^o.Row))
}

// setRegisterShadow is setShadow for a register.
func (a *assembler) setRegisterShadow(h *holes, letter byte, o code.Row) {
	a.setHole(h.operand(letter), compactSize*int64(o.Row))
}

// putOnShadow puts a stencil whose only operand is the shadow of o. The stencil may jump to the label others[0], if there is
// one.
func (a *assembler) putOnShadow(name string, letter byte, o code.Row, others ...int) {
	var h holes
	if len(others) > 0 {
		h.other = others[0]
	}
	a.setShadow(&h, letter, o)
	a.putOrLeave(name+"_"+o.Slot.String(), h)
}

// materialise writes a register's compact value to its row, for the executing lanes covered by the shadow.
func (a *assembler) materialise(o code.Row) {
	if o.Row < 0 || o.Slot != code.R && o.Slot != code.Q {
		return
	}
	var h holes
	a.setRegisterShadow(&h, 'A', o)
	a.setRegister(&h, 'D', o.Slot, o.Row)
	a.putOrLeave("materialise_"+o.Slot.String(), h)
}

// dropShadow removes the executing lanes from the lanes covered by a register's shadow.
func (a *assembler) dropShadow(o code.Row) {
	if o.Slot == code.R || o.Slot == code.Q {
		a.putOnShadow("uncompact", 'D', o)
	}
}

// putMaterialised makes code to materialise an instruction's sources and to execute it on the lanes.
func (a *assembler) putMaterialised(pc int32, instr *code.Instr, suffix string) {
	a.materialiseSources(instr)
	a.putOperation(pc, instr, suffix)
	a.dropResultShadows(instr)
	if a.check != nil {
		a.putTally(a.check.counts.OnLanes, 1)
	}
}

// materialiseSources materialises the sources of an instruction.
func (a *assembler) materialiseSources(instr *code.Instr) {
	s := instr.Op.Signature()
	if s.Side != code.NoSide && s.Side != code.AccessSide {
		a.leaveToGo()
	}
	for i, row := range instr.Sources() {
		if instr.Plan.Materialise>>i&1 == 0 {
			continue
		}
		slot := s.Src[i]
		if s.Side == code.AccessSide {
			slot = a.prog.Access[instr.Side].Addr
		}
		a.materialise(code.Row{Slot: slot, Row: row})
	}
	if s.Side != code.AccessSide {
		return
	}
	acc := &a.prog.Access[instr.Side]
	if acc.Atom != nil {
		a.leaveToGo()
	}
	for _, e := range acc.Elems {
		if acc.Store {
			a.materialise(code.Row{Slot: e.Slot, Row: e.Row})
		}
	}
}

// dropResultShadows calls dropShadow for the results of an instruction.
func (a *assembler) dropResultShadows(instr *code.Instr) {
	s := instr.Op.Signature()
	if !instr.Plan.LeavesStale {
		return
	}
	if s.Side != code.AccessSide {
		a.dropShadow(code.Row{Slot: s.Dst, Row: instr.D})
		return
	}
	acc := &a.prog.Access[instr.Side]
	for _, e := range acc.Elems {
		if !acc.Store {
			a.dropShadow(code.Row{Slot: e.Slot, Row: e.Row})
		}
	}
}

// addOnLanes adds cold code for an instruction's execution on the lanes. The compact code jumps to it by the label lanes.
// If it has no machine code, the jump exits to Go.
func (a *assembler) addOnLanes(pc int32, instr *code.Instr, suffix string, lanes int) {
	if a.check != nil {
		a.tallyCompact(instr.Op.Signature())
	}
	a.addColdCode(coldCode{pc: pc, in: instr, suffix: suffix, label: lanes, put: (*assembler).putOnLanes})
}

// putOnLanes makes the cold code of addOnLanes.
func (a *assembler) putOnLanes(s *coldCode) {
	a.leaveUnreached(s.pc, s.in)
	a.putMaterialised(s.pc, s.in, s.suffix)
}

// leaveUnreached leaves a load to Go if it loads one value for all lanes at a compact address, but the reach stencil has not
// found its memory. In Go its result is compact, unless the memory is local.
func (a *assembler) leaveUnreached(pc int32, instr *code.Instr) {
	if instr.Op.Signature().Kind != code.Load || !instr.Plan.LeavesStale {
		return
	}
	lanes := a.newLabel()
	a.putOnShadow("compact", 'A', code.Row{Slot: a.prog.Access[instr.Side].Addr, Row: instr.A}, lanes)
	a.put("jump", holes{other: a.exitLabel(pc, Unsupported)})
	a.bind(lanes)
}

// coldCode is rarely executed code, placed after a block. The block jumps to label, and the code jumps back to resume. If put
// leaves it to Go, it becomes an exit.
type coldCode struct {
	pc          int32
	in          *code.Instr
	suffix      string
	keepsResult bool // this code stores the result's shadow
	label       int
	put         func(*assembler, *coldCode)

	// State of the assembler at the call of addColdCode.
	resume int
	step   int32
}

// addColdCode adds cold code for after the block. It resumes at the next code.
func (a *assembler) addColdCode(s coldCode) {
	s.resume, s.step = a.newLabel(), a.step
	a.bind(s.resume)
	a.coldCode = append(a.coldCode, s)
}

// putColdCode puts the cold code after a block, including cold code added by cold code.
func (a *assembler) putColdCode() {
	for i := 0; i < len(a.coldCode); i++ {
		s := a.coldCode[i]
		a.placeIsland()
		a.step = s.step
		if a.bind(s.label); a.attempt(func() { s.put(a, &s) }) {
			a.put("jump", holes{other: s.resume})
		} else {
			a.addExit(s.label, s.pc, Unsupported)
		}
	}
	clear(a.coldCode) // release references: the assembler is reused
	a.coldCode = a.coldCode[:0]
}

// putScalar makes code to compute an operation once, on the uniform values of its operands.
func (a *assembler) putScalar(instr *code.Instr) {
	s := instr.Op.Signature()
	h := a.shadowHoles(instr)
	h.n0 = int64(instr.Imm)
	if !s.Compares() {
		a.requireSecondResult(instr)
		a.setRegister(&h, 'F', s.Dst2, instr.F)
	}
	a.putOrLeave("scalar_"+a.kernelName(instr), h)
}

// shadowHoles returns the holes for the shadows of an instruction's sources, and for its predicates.
func (a *assembler) shadowHoles(instr *code.Instr) (h holes) {
	s := instr.Op.Signature()
	for i, row := range instr.Sources() {
		switch {
		case s.Src[i] == code.NoSlot:
		case s.Src[i] == code.P:
			a.setPlace(&h, letters[i], code.P, row)
		default:
			a.setShadow(&h, letters[i], code.Row{Slot: s.Src[i], Row: row})
		}
	}
	return h
}

// letters has the letters of the source operands, in order.
const letters = "ABCE"

// requireCompact makes code that jumps to the label lanes unless all sources are compact for the executing lanes.
func (a *assembler) requireCompact(instr *code.Instr, lanes int) {
	s := instr.Op.Signature()
	for i, row := range instr.Sources() {
		o := code.Row{Slot: s.Src[i], Row: row}
		switch {
		case row < 0 || s.Compares() && i == 2:
		case o.Slot == code.P:
			a.put("uniform_p", holes{a: int64(4 * row), other: lanes})
		case o.Slot != code.NoSlot:
			a.putOnShadow("compact", 'A', o, lanes)
		}
	}
}

// requireUniform makes code that continues only if all sources, which must be compact, are uniform. For an affine source it
// exits to Go if an affine rule allows the operand to be affine, else it jumps to the label lanes.
func (a *assembler) requireUniform(pc int32, instr *code.Instr, lanes int) {
	s := instr.Op.Signature()
	for i, row := range instr.Sources() {
		if row < 0 || s.Src[i] == code.P || s.Src[i] == code.NoSlot {
			continue
		}
		other := lanes
		if affinetrack.Rules[s.Rule].AffineOperands.Allows(1<<i) && (!s.Compares() || s.Cmp != affinetrack.NoCmp) {
			other = a.exitLabel(pc, Unsupported)
		}
		a.putOnShadow("uniform", 'A', code.Row{Slot: s.Src[i], Row: row}, other)
	}
}

// putCompact makes the code of an operation on registers: on their shadows if possible, else on the lanes.
func (a *assembler) putCompact(pc int32, instr *code.Instr, suffix string) {
	lanes := a.newLabel()
	d := code.Row{Slot: instr.Op.Signature().Dst, Row: instr.D}
	a.putResult(pc, instr, d, suffix, lanes)
	a.materialiseBoth(instr, d)
	a.addOnLanes(pc, instr, suffix, lanes)
}

// putResult makes code to compute an operation on compact operands and to store the compact result in the shadow of d. It
// jumps to the label lanes if an operand or the result is generic.
func (a *assembler) putResult(pc int32, instr *code.Instr, d code.Row, suffix string, lanes int) {
	s := instr.Op.Signature()
	name, uniform := formName(s), noPlace
	if name == "" {
		if name = ruleName(s); name == "" {
			a.requireCompact(instr, lanes)
			a.requireUniform(pc, instr, lanes)
			a.putScalar(instr)
			a.storeShadow(d, suffix)
			return
		}
		uniform = a.newLabel()
	}
	h := a.shadowHoles(instr)
	h.other, h.leave = lanes, uniform
	a.setRegisterShadow(&h, 'D', d)
	a.putOrLeave("affine_"+name+suffix, h)
	kept := suffix == "_full" // the stencil stores the shadow
	if uniform >= 0 {
		a.addColdCode(coldCode{pc: pc, in: instr, suffix: suffix, keepsResult: kept, label: uniform, put: (*assembler).putOnceForAll})
	}
	if !kept {
		a.storeShadow(d, suffix)
	}
}

// formName returns the name of the stencils of a selection or of an operation's fast form, without their prefix; "" if
// there are no such stencils.
func formName(s *code.Signature) string {
	switch {
	case s.Rule == ptx.AffineSelect:
		return "select_" + s.Dst.String()
	case s.Fast == nil:
		return ""
	case s.Rule == ptx.AffineCompare:
		if s.Cmp == affinetrack.NoCmp {
			return ""
		}
		return comparisons[s.Cmp] + "_" + signLetter(s)
	case s.Fast.Signed:
		return s.Fast.Name + "_" + signLetter(s)
	}
	return s.Fast.Name + "_" + s.Dst.String()
}

// signLetter returns "s" for an operation on signed numbers, and else "u".
func signLetter(s *code.Signature) string {
	if s.Signed {
		return "s"
	}
	return "u"
}

// putOnceForAll makes the cold code of putResult for uniform operands.
func (a *assembler) putOnceForAll(s *coldCode) {
	a.putScalar(s.in)
	if s.keepsResult {
		a.storeShadow(code.Row{Slot: s.in.Op.Signature().Dst, Row: s.in.D}, s.suffix)
	}
	if a.check != nil {
		a.putTally(a.check.counts.Quick, 1)
	}
}

// rules has the names of the stencils for affine rules on 32 bits without a fast form, and says which depend on signedness.
var rules = map[ptx.Affine]struct {
	name   string
	signed bool
}{
	ptx.AffineShr: {"shr_", true}, ptx.AffineDiv: {"div_", true}, ptx.AffineRem: {"rem_", true},
	ptx.AffineMin: {"min_", true}, ptx.AffineMax: {"max_", true},
	ptx.AffineAnd: {"and", false}, ptx.AffineOr: {"or", false}, ptx.AffineXor: {"xor", false},
}

// ruleName returns the name of the stencil for an operation's affine rule, or "" if there is none.
func ruleName(s *code.Signature) string {
	r, ok := rules[s.Rule]
	if !ok || s.Width != 32 {
		return ""
	}
	if r.signed {
		r.name += signLetter(s)
	}
	return r.name
}

// sourcesOf returns the special registers read compactly by a program, each once, without registers that change while a
// warp runs.
func sourcesOf(p *code.Program) (list []ptx.SpecialReg) {
	for i := range p.Instrs {
		instr := &p.Instrs[i]
		if r := ptx.SpecialReg(instr.Imm); instr.Plan.Exec == code.CompactSource && instr.Op.Special() && !r.Measures() && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// putSource makes the code of a read of a uniform or affine special register.
func (a *assembler) putSource(instr *code.Instr, suffix string) {
	s, r := instr.Op.Signature(), ptx.SpecialReg(instr.Imm)
	d := code.Row{Slot: s.Dst, Row: instr.D}
	i := slices.Index(a.sources, r)
	if i < 0 || !instr.Op.Special() || int(s.Width) < min(s.Dst.Bits(), r.Type().Bits()) {
		a.leaveToGo()
	}
	name := "source_any"
	if r <= ptx.TidZ {
		name = "source_thread"
	}
	a.put(name, holes{n0: int64(unsafe.Sizeof(Source{})) * int64(i)})
	a.storeShadow(d, suffix)
	a.materialiseBoth(instr, d)
	if a.check != nil {
		a.tallyCompact(s)
	}
}

// storeShadow makes code that stores the computed compact result in a register's shadow, for the executing lanes.
func (a *assembler) storeShadow(d code.Row, suffix string) {
	var h holes
	a.setRegisterShadow(&h, 'D', d)
	a.setRegister(&h, 'F', d.Slot, d.Row)
	a.putOrLeave("keep_"+d.Slot.String()+suffix, h)
}

// materialiseBoth materialises a result if the plan wants it in the shadow and in the row.
func (a *assembler) materialiseBoth(instr *code.Instr, d code.Row) {
	if instr.Plan.WritesBoth {
		a.materialise(d)
	}
}

// comparisons has the names of the stencils for comparisons of integers.
var comparisons = [...]string{affinetrack.Eq: "eq", affinetrack.Ne: "ne", affinetrack.Lt: "lt", affinetrack.Le: "le", affinetrack.Gt: "gt", affinetrack.Ge: "ge"}

// putCompactCompare makes the code of a comparison: on shadows if possible, else on the lanes.
func (a *assembler) putCompactCompare(pc int32, instr *code.Instr, suffix string) {
	s, lanes := instr.Op.Signature(), a.newLabel()
	if name := formName(s); name != "" {
		h := a.shadowHoles(instr)
		h.other = lanes
		a.putOrLeave("affine_"+name+suffix, h)
	} else {
		a.requireCompact(instr, lanes)
		a.requireUniform(pc, instr, lanes)
		a.putScalar(instr)
	}
	if a.check != nil {
		a.tallyCompact(s)
	}
	a.addColdCode(coldCode{pc: pc, in: instr, label: lanes, put: (*assembler).putLanesComparison})
	a.putCombination(instr, suffix)
}

// putLanesComparison makes the cold code of putCompactCompare: the comparison on the lanes.
func (a *assembler) putLanesComparison(s *coldCode) {
	a.materialiseSources(s.in)
	a.putComparison(s.in)
	if a.check != nil {
		a.putTally(a.check.counts.OnLanes, 1)
	}
}

// putCompactAccess makes the code of a load or store: at a compact address if possible, else on the lanes.
func (a *assembler) putCompactAccess(pc int32, instr *code.Instr, suffix string) {
	acc, lanes := &a.prog.Access[instr.Side], a.newLabel()
	a.putReach(instr, acc, suffix, lanes)
	a.putMoves(instr, acc, suffix)
	a.addOnLanes(pc, instr, suffix, lanes)
}

// putMoves makes code to load or store the elements of an access, after putReach has found the memory.
func (a *assembler) putMoves(instr *code.Instr, acc *code.Access, suffix string) {
	if acc.Store {
		a.put("changes", holes{})
	}
	for i, e := range acc.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		o := code.Row{Slot: e.Slot, Row: e.Row}
		h := holes{n0: int64(i * acc.Size)}
		name, row, _ := strings.Cut(elementName(acc, e), "_")
		switch {
		case acc.Store:
			a.materialise(o)
			a.setPlace(&h, 'B', o.Slot, o.Row)
			a.putOrLeave("row_store_"+name+"_"+row+suffix, h)
		case instr.Plan.LeavesStale: // a compact address is uniform here: the load has one value for all lanes
			a.putOrLeave("one_"+name, h)
			a.storeShadow(o, suffix)
			a.materialiseBoth(instr, o)
		default:
			a.setRegister(&h, 'D', o.Slot, o.Row)
			a.putOrLeave("row_load_"+name+"_"+row+suffix, h)
		}
	}
}

// putReach makes code that finds the memory of an access at a compact address, and jumps to the label lanes if there is
// none.
func (a *assembler) putReach(instr *code.Instr, acc *code.Access, suffix string, lanes int) {
	h := holes{n0: int64(acc.Offset), n1: int64(8 * acc.HitIndex), e: int64(acc.Bytes), other: lanes}
	name := "reach_"
	switch {
	case acc.Addr == code.NoSlot && acc.Space == ptx.Shared:
		name += "none_shared" + suffix
	case acc.Addr == code.NoSlot && acc.FixedPointer() == nil:
		a.leaveToGo()
	case acc.Addr == code.NoSlot:
		h.n0, h.n1 = int64(acc.Offset-acc.Fixed.Base), int64(8*instr.Side)
		name += "fixed"
	default:
		a.setShadow(&h, 'A', code.Row{Slot: acc.Addr, Row: instr.A})
		name += acc.Addr.String() + spaceSuffix(acc) + suffix
	}
	a.checkOffset(h.n0)
	a.putOrLeave(name, h)
}
