package native

// This file makes machine code of instructions that execute compactly, as package simt does in affine.go: on shadows if these
// have what is wanted for the lanes at hand, otherwise on the lanes. What needs a rule of affinetrack that has no stencil
// is Go's.

import (
	"slices"
	"strings"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// execution is what an instruction does, without its guard, in the way that the plan has chosen.
func (a *assembler) execution(pc int32, in *code.Instr, form string) {
	switch in.How.Exec {
	case code.OnLanes:
		a.operation(pc, in, form)
	case code.Expanded:
		a.expanded(pc, in, form)
	case code.ProvedOne, code.ProvedTwo, code.ProvedThree, code.ProvedFour:
		d := code.Row{Slot: in.Op.Signature().Dst, Row: in.D}
		a.scalar(in)
		a.onShadow("proved", 'D', d)
		a.both(in, d)
	case code.CompactOne, code.CompactTwo, code.CompactThree, code.CompactMixed:
		a.compact(pc, in, form)
	case code.CompactCompare:
		a.compactCompare(pc, in, form)
	case code.CompactSource:
		a.source(in, form)
	case code.CompactLoad, code.CompactStore:
		a.compactAccess(pc, in, form)
	default:
		a.leaveToGo()
	}
}

// compactSize is the bytes of a shadow.
const compactSize = int64(unsafe.Sizeof(regfile.Compact{}))

// shadow is the place of an operand's shadow, in bytes from where those of its kind begin, or the constants: for the hole with
// a letter.
func (a *assembler) shadow(h *holes, letter byte, o code.Row) {
	if o.Row >= 0 {
		a.registerShadow(h, letter, o)
		return
	}
	h.constant |= operand(letter)
	a.at(h.of(letter), a.shadows[o.Slot]+compactSize*int64(^o.Row))
}

// registerShadow is shadow of what is no constant.
func (a *assembler) registerShadow(h *holes, letter byte, o code.Row) {
	a.at(h.of(letter), compactSize*int64(o.Row))
}

// onShadow puts a stencil of one operand's shadow, in a form for its slot.
func (a *assembler) onShadow(name string, letter byte, o code.Row, others ...int) {
	var h holes
	if len(others) > 0 {
		h.other = others[0]
	}
	a.shadow(&h, letter, o)
	a.want(name+"_"+o.Slot.String(), h)
}

// expand writes what the shadow of a register has for the lanes that execute to its row.
func (a *assembler) expand(o code.Row) {
	if o.Row < 0 || o.Slot != code.R && o.Slot != code.Q {
		return
	}
	var h holes
	a.registerShadow(&h, 'A', o)
	a.register(&h, 'D', o.Slot, o.Row)
	a.want("expand_"+o.Slot.String(), h)
}

// uncompact has the shadow of a register not speak for the lanes that execute.
func (a *assembler) uncompact(o code.Row) {
	if o.Slot == code.R || o.Slot == code.Q {
		a.onShadow("uncompact", 'D', o)
	}
}

// expanded executes an instruction on the lanes, after expanding what it reads.
func (a *assembler) expanded(pc int32, in *code.Instr, form string) {
	a.expandSources(in)
	a.operation(pc, in, form)
	a.uncompactResults(in)
	if a.check != nil {
		a.tally(a.check.counts.OnLanes, 1)
	}
}

// expandSources expands what an instruction reads.
func (a *assembler) expandSources(in *code.Instr) {
	s := in.Op.Signature()
	if s.Side != code.NoSide && s.Side != code.AccessSide {
		a.leaveToGo()
	}
	for i, row := range in.Sources() {
		if in.How.Expand>>i&1 == 0 {
			continue
		}
		slot := s.Src[i]
		if s.Side == code.AccessSide {
			slot = a.prog.Access[in.Side].Addr
		}
		a.expand(code.Row{Slot: slot, Row: row})
	}
	if s.Side != code.AccessSide {
		return
	}
	acc := &a.prog.Access[in.Side]
	if acc.Atom != nil {
		a.leaveToGo()
	}
	for _, e := range acc.Elems {
		if acc.Store {
			a.expand(code.Row{Slot: e.Slot, Row: e.Row})
		}
	}
}

// uncompactResults has the shadows of an instruction's results not speak for the lanes that execute.
func (a *assembler) uncompactResults(in *code.Instr) {
	s := in.Op.Signature()
	if !in.How.Dirty {
		return
	}
	if s.Side != code.AccessSide {
		a.uncompact(code.Row{Slot: s.Dst, Row: in.D})
		return
	}
	acc := &a.prog.Access[in.Side]
	for _, e := range acc.Elems {
		if !acc.Store {
			a.uncompact(code.Row{Slot: e.Slot, Row: e.Row})
		}
	}
}

// otherwise has the way of an instruction on the lanes, to which that on shadows goes by a label, be behind the block. If it
// has no machine code, it is Go's.
func (a *assembler) otherwise(pc int32, in *code.Instr, form string, lanes int) {
	if a.check != nil {
		a.countCompact(in.Op.Signature())
	}
	a.beside(aside{pc: pc, in: in, form: form, label: lanes, code: (*assembler).onLanes})
}

// onLanes is an instruction of otherwise on the lanes.
func (a *assembler) onLanes(s *aside) {
	a.unreached(s.pc, s.in)
	a.expanded(s.pc, s.in, s.form)
}

// unreached has Go make a load of one value for all lanes from an address that is compact, but where reach has found no
// memory: what it gives is compact, if it is not local memory.
func (a *assembler) unreached(pc int32, in *code.Instr) {
	if in.Op.Signature().Kind != code.Load || !in.How.Dirty {
		return
	}
	lanes := a.label()
	a.onShadow("held", 'A', code.Row{Slot: a.prog.Access[in.Side].Addr, Row: in.A}, lanes)
	a.put("jump", holes{other: a.exit(pc, Lacks)})
	a.here(lanes)
}

// aside is code that is rarely come to: by a label, from which it goes on at another. What it lacks, it leaves to Go.
type aside struct {
	pc    int32
	in    *code.Instr
	form  string
	keeps bool // the result is to be kept here
	label int
	code  func(*assembler, *aside)

	// Of the assembler when it came there.
	on   int
	step int32
}

// beside has code be behind the block. It goes on with what is put next.
func (a *assembler) beside(s aside) {
	s.on, s.step = a.label(), a.step
	a.here(s.on)
	a.asides = append(a.asides, s)
}

// placeAsides puts the code behind a block. That may have some beside it, too.
func (a *assembler) placeAsides() {
	for i := 0; i < len(a.asides); i++ {
		s := a.asides[i]
		a.island()
		a.step = s.step
		if a.here(s.label); a.undone(func() { s.code(a, &s) }) {
			a.put("jump", holes{other: s.on})
		} else {
			a.exitAt(s.label, s.pc, Lacks)
		}
	}
	clear(a.asides) // for the assembler is kept
	a.asides = a.asides[:0]
}

// scalar has the result of an operation on single values be under way.
func (a *assembler) scalar(in *code.Instr) {
	s := in.Op.Signature()
	h := a.shadows4(in)
	h.n0 = int64(in.Imm)
	if !s.Compares() {
		a.secondResult(in)
		a.register(&h, 'F', s.Dst2, in.F)
	}
	a.want("scalar_"+a.kernel(in), h)
}

// shadows4 is the places of the shadows of an instruction's sources, and of predicates.
func (a *assembler) shadows4(in *code.Instr) (h holes) {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		switch {
		case s.Src[i] == code.NoSlot:
		case s.Src[i] == code.P:
			a.place(&h, letters[i], code.P, row)
		default:
			a.shadow(&h, letters[i], code.Row{Slot: s.Src[i], Row: row})
		}
	}
	return h
}

// letters name source operands.
const letters = "ABCE"

// held goes to a label if not all sources are compact for the lanes that execute.
func (a *assembler) held(in *code.Instr, lanes int) {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		o := code.Row{Slot: s.Src[i], Row: row}
		switch {
		case row < 0 || s.Compares() && i == 2:
		case o.Slot == code.P:
			a.put("alike", holes{a: int64(4 * row), other: lanes})
		case o.Slot != code.NoSlot:
			a.onShadow("held", 'A', o, lanes)
		}
	}
}

// level has an instruction whose sources are compact go on if they are the same in all lanes. Otherwise it goes
// to the lanes if no rule allows what it has, and else to Go.
func (a *assembler) level(pc int32, in *code.Instr, lanes int) {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		if row < 0 || s.Src[i] == code.P || s.Src[i] == code.NoSlot {
			continue
		}
		other := lanes
		if affinetrack.Rules[s.Rule].Affine.Allows(1<<i) && (!s.Compares() || s.Cmp != affinetrack.NoCmp) {
			other = a.exit(pc, Lacks)
		}
		a.onShadow("level", 'A', code.Row{Slot: s.Src[i], Row: row}, other)
	}
}

// compact is an operation on registers, on their shadows if it can be.
func (a *assembler) compact(pc int32, in *code.Instr, form string) {
	lanes := a.label()
	d := code.Row{Slot: in.Op.Signature().Dst, Row: in.D}
	a.result(pc, in, d, form, lanes)
	a.both(in, d)
	a.otherwise(pc, in, form, lanes)
}

// fasts are what stencils call fast forms of operations, and what the rest of a name is.
var fasts = [...]struct {
	name string
	by   byte
}{
	affinetrack.FastMove: {"move_", bySlot}, affinetrack.FastAdd: {"add_", bySlot}, affinetrack.FastSub: {"sub_", bySlot},
	affinetrack.FastMul: {"mul_", bySlot}, affinetrack.FastMad: {"mad_", bySlot}, affinetrack.FastShl: {"shl_", bySlot},
	affinetrack.FastNeg: {"neg_", bySlot}, affinetrack.FastNot: {"not_", bySlot}, affinetrack.FastNarrow: {"narrow_", bySlot},
	affinetrack.FastWiden: {"widen_", bySign}, affinetrack.FastMulWide: {"mulwide_", bySign}, affinetrack.FastMadWide: {"madwide_", bySign},
	affinetrack.FastCompare: {},
}

const (
	bySlot byte = 1 + iota // of the result
	bySign                 // of the operands
)

// result has a register be compact with the result of an operation on compact operands. It goes to a label if they are
// not, or the result is not.
func (a *assembler) result(pc int32, in *code.Instr, d code.Row, form string, lanes int) {
	s := in.Op.Signature()
	name, sign, once := "", "u", none
	if s.Signed {
		sign = "s"
	}
	switch f := fasts[s.Fast]; {
	case s.Rule == ptx.AffineSelect:
		name = "select_" + d.Slot.String()
	case f.by == bySign:
		name = f.name + sign
	case f.by == bySlot:
		name = f.name + s.Dst.String()
	default:
		if name = ruled(s, sign); name == "" {
			a.held(in, lanes)
			a.level(pc, in, lanes)
			a.scalar(in)
			a.keep(d, form)
			return
		}
		once = a.label()
	}
	h := a.shadows4(in)
	h.other, h.leave = lanes, once
	a.registerShadow(&h, 'D', d)
	a.want("affine_"+name+form, h)
	kept := form == "_full" // by the stencil
	if once >= 0 {
		a.beside(aside{pc: pc, in: in, form: form, keeps: kept, label: once, code: (*assembler).onceForAll})
	}
	if !kept {
		a.keep(d, form)
	}
}

// onceForAll is an operation of result whose operands are the same in all lanes.
func (a *assembler) onceForAll(s *aside) {
	a.scalar(s.in)
	if s.keeps {
		a.keep(code.Row{Slot: s.in.Op.Signature().Dst, Row: s.in.D}, s.form)
	}
	if a.check != nil {
		a.tally(a.check.counts.Quick, 1)
	}
}

// rules are what stencils call rules on numbers of 32 bits that have no fast form, and which of them are told signs.
var rules = map[ptx.Affine]struct {
	name   string
	signed bool
}{
	ptx.AffineShr: {"shr_", true}, ptx.AffineDiv: {"div_", true}, ptx.AffineRem: {"rem_", true},
	ptx.AffineMin: {"min_", true}, ptx.AffineMax: {"max_", true},
	ptx.AffineAnd: {"and", false}, ptx.AffineOr: {"or", false}, ptx.AffineXor: {"xor", false},
}

// ruled is the stencil of an operation's rule; none if there is none.
func ruled(s *code.Signature, sign string) string {
	r, ok := rules[s.Rule]
	if !ok || s.Width != 32 {
		return ""
	}
	if r.signed {
		r.name += sign
	}
	return r.name
}

// sourcesOf is the special registers that a program reads compactly, each once, and that change no more while a warp
// runs.
func sourcesOf(p *code.Program) (list []ptx.SpecialReg) {
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if r := ptx.SpecialReg(in.Imm); in.How.Exec == code.CompactSource && in.Op.Special() && !r.Measures() && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// source reads a special register that is uniform or affine.
func (a *assembler) source(in *code.Instr, form string) {
	s, r := in.Op.Signature(), ptx.SpecialReg(in.Imm)
	d := code.Row{Slot: s.Dst, Row: in.D}
	i := slices.Index(a.sources, r)
	if i < 0 || !in.Op.Special() || int(s.Width) < min(s.Dst.Bits(), r.Type().Bits()) {
		a.leaveToGo()
	}
	name := "source_any"
	if r <= ptx.TidZ {
		name = "source_thread"
	}
	a.put(name, holes{n0: int64(unsafe.Sizeof(Source{})) * int64(i)})
	a.keep(d, form)
	a.both(in, d)
	if a.check != nil {
		a.countCompact(s)
	}
}

// keep has a register be compact for the lanes that execute, with the result under way.
func (a *assembler) keep(d code.Row, form string) {
	var h holes
	a.registerShadow(&h, 'D', d)
	a.register(&h, 'F', d.Slot, d.Row)
	a.want("keep_"+d.Slot.String()+form, h)
}

// both expands a register that is to be in both places.
func (a *assembler) both(in *code.Instr, d code.Row) {
	if in.How.Both {
		a.expand(d)
	}
}

// comparisons are what stencils call those of integers.
var comparisons = [...]string{affinetrack.Eq: "eq", affinetrack.Ne: "ne", affinetrack.Lt: "lt", affinetrack.Le: "le", affinetrack.Gt: "gt", affinetrack.Ge: "ge"}

// compactCompare is a comparison, on shadows if it can be.
func (a *assembler) compactCompare(pc int32, in *code.Instr, form string) {
	s, lanes := in.Op.Signature(), a.label()
	if s.Fast == affinetrack.FastCompare && s.Cmp != affinetrack.NoCmp {
		sign := "u"
		if s.Signed {
			sign = "s"
		}
		h := a.shadows4(in)
		h.other = lanes
		a.want("affine_"+comparisons[s.Cmp]+"_"+sign+form, h)
	} else {
		a.held(in, lanes)
		a.level(pc, in, lanes)
		a.scalar(in)
	}
	if a.check != nil {
		a.countCompact(s)
	}
	a.beside(aside{pc: pc, in: in, label: lanes, code: (*assembler).lanesOutcome})
	a.combine(in, form)
}

// lanesOutcome has the outcome of a comparison on the lanes be under way.
func (a *assembler) lanesOutcome(s *aside) {
	a.expandSources(s.in)
	a.outcome(s.in)
	if a.check != nil {
		a.tally(a.check.counts.OnLanes, 1)
	}
}

// compactAccess is a load or store, at a compact address if it has one.
func (a *assembler) compactAccess(pc int32, in *code.Instr, form string) {
	acc, lanes := &a.prog.Access[in.Side], a.label()
	a.reach(in, acc, form, lanes)
	a.moves(in, acc, form)
	a.otherwise(pc, in, form, lanes)
}

// moves loads or stores the elements of an access whose memory has been found.
func (a *assembler) moves(in *code.Instr, acc *code.Access, form string) {
	if acc.Store {
		a.put("changes", holes{})
	}
	for i, e := range acc.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		o := code.Row{Slot: e.Slot, Row: e.Row}
		h := holes{n0: int64(i * acc.Size)}
		name, row, _ := strings.Cut(element(acc, e), "_")
		switch {
		case acc.Store:
			a.expand(o)
			a.place(&h, 'B', o.Slot, o.Row)
			a.want("row_store_"+name+"_"+row+form, h)
		case in.How.Dirty: // its address is the same in all lanes, where it is compact
			a.want("one_"+name, h)
			a.keep(o, form)
			a.both(in, o)
		default:
			a.register(&h, 'D', o.Slot, o.Row)
			a.want("row_load_"+name+"_"+row+form, h)
		}
	}
}

// reach finds the memory of an access at a compact address; it goes to a label if there is none.
func (a *assembler) reach(in *code.Instr, acc *code.Access, form string, lanes int) {
	h := holes{n0: int64(acc.Off), n1: int64(8 * acc.Hit), e: int64(acc.Bytes), other: lanes}
	name := "reach_"
	switch {
	case acc.Addr == code.NoSlot && acc.Space == ptx.Shared:
		name += "none_shared" + form
	case acc.Addr == code.NoSlot && acc.AtFixed() == nil:
		a.leaveToGo()
	case acc.Addr == code.NoSlot:
		h.n0, h.n1 = int64(acc.Off-acc.Fixed.Base), int64(8*in.Side)
		name += "fixed"
	default:
		a.shadow(&h, 'A', code.Row{Slot: acc.Addr, Row: in.A})
		name += acc.Addr.String() + spaceOf(acc) + form
	}
	a.offset(h.n0)
	a.want(name, h)
}
