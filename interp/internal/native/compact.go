package native

// This file makes machine code of instructions that execute compactly, as package simt does in affine.go: on shadows if these
// have what is wanted for the lanes at hand, otherwise on the lanes. What needs a rule of affinetrack that has no stencil
// is Go's.

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// execution is what an instruction does, without its guard, in the way that the plan has chosen.
func (a *assembler) execution(pc int32, in *code.Instr, form string) bool {
	switch in.How.Exec {
	case code.OnLanes:
		return a.operation(pc, in, form)
	case code.Expanded:
		return a.expanded(pc, in, form)
	case code.ProvedOne, code.ProvedTwo, code.ProvedThree, code.ProvedFour:
		d := code.Row{Slot: in.Op.Signature().Dst, Row: in.D}
		return a.scalar(in) && a.onShadow("proved", 'D', d) && (!in.How.Both || a.expand(d))
	case code.CompactOne, code.CompactTwo, code.CompactThree, code.CompactMixed:
		return a.compact(pc, in, form)
	case code.CompactCompare:
		return a.compactCompare(pc, in, form)
	case code.CompactSource:
		return a.source(in, form)
	case code.CompactLoad, code.CompactStore:
		return a.compactAccess(pc, in, form)
	}
	return false
}

// compactSize is the bytes of a shadow.
const compactSize = int64(unsafe.Sizeof(regfile.Compact{}))

// shadow is the place of an operand's shadow, in bytes from where those of its kind begin, or the constants.
func (a *assembler) shadow(to *int64, constant *string, operand byte, o code.Row) bool {
	if o.Row >= 0 {
		*to = compactSize * int64(o.Row)
		return *to <= math.MaxInt32-compactSize
	}
	*to = a.shadows[o.Slot] + compactSize*int64(^o.Row)
	*constant += string(operand)
	return *to <= math.MaxInt32-compactSize
}

// onShadow puts a stencil of one operand's shadow, in a form for its slot.
func (a *assembler) onShadow(name string, operand byte, o code.Row, others ...int) bool {
	var h holes
	if len(others) > 0 {
		h.other = others[0]
	}
	to := &h.a
	if operand == 'D' {
		to = &h.d
	}
	return a.shadow(to, &h.constant, operand, o) && a.try(name+"_"+o.Slot.String(), h)
}

// expand writes what the shadow of a register has for the lanes that execute to its row.
func (a *assembler) expand(o code.Row) bool {
	if o.Row < 0 || o.Slot != code.R && o.Slot != code.Q {
		return true
	}
	var h holes
	return a.shadow(&h.a, &h.constant, 'A', o) && a.place(&h.d, nil, 'D', o.Slot, o.Row) && a.try("expand_"+o.Slot.String(), h)
}

// uncompact has the shadow of a register not speak for the lanes that execute.
func (a *assembler) uncompact(o code.Row) bool {
	return o.Slot != code.R && o.Slot != code.Q || a.onShadow("uncompact", 'D', o)
}

// expanded executes an instruction on the lanes, after expanding what it reads.
func (a *assembler) expanded(pc int32, in *code.Instr, form string) bool {
	if !a.expandSources(in) || !a.operation(pc, in, form) || !a.uncompactResults(in) {
		return false
	}
	if a.counting {
		a.tally(a.check.counts.OnLanes, 1)
	}
	return true
}

// expandSources expands what an instruction reads.
func (a *assembler) expandSources(in *code.Instr) bool {
	s := in.Op.Signature()
	if s.Side != code.NoSide && s.Side != code.AccessSide {
		return false
	}
	for i, row := range in.Sources() {
		if in.How.Expand>>i&1 == 0 {
			continue
		}
		slot := s.Src[i]
		if s.Side == code.AccessSide {
			slot = a.prog.Access[in.Side].Addr
		}
		if !a.expand(code.Row{Slot: slot, Row: row}) {
			return false
		}
	}
	if s.Side != code.AccessSide {
		return true
	}
	acc := &a.prog.Access[in.Side]
	if acc.Atom != nil {
		return false
	}
	for _, e := range acc.Elems {
		if acc.Store && !a.expand(code.Row{Slot: e.Slot, Row: e.Row}) {
			return false
		}
	}
	return true
}

// uncompactResults has the shadows of an instruction's results not speak for the lanes that execute.
func (a *assembler) uncompactResults(in *code.Instr) bool {
	s := in.Op.Signature()
	if !in.How.Dirty {
		return true
	}
	if s.Side != code.AccessSide {
		return a.uncompact(code.Row{Slot: s.Dst, Row: in.D})
	}
	acc := &a.prog.Access[in.Side]
	for _, e := range acc.Elems {
		if !acc.Store && !a.uncompact(code.Row{Slot: e.Slot, Row: e.Row}) {
			return false
		}
	}
	return true
}

// otherwise puts the way of an instruction on the lanes behind that on shadows, which goes there by a label.
func (a *assembler) otherwise(pc int32, in *code.Instr, form string, lanes int) bool {
	behind := a.label()
	if a.counting {
		a.countCompact(in.Op.Signature())
	}
	a.put("jump", holes{other: behind})
	a.here(lanes)
	if !a.expanded(pc, in, form) {
		return false
	}
	a.here(behind)
	return true
}

// scalar has the result of an operation on single values be under way.
func (a *assembler) scalar(in *code.Instr) bool {
	s := in.Op.Signature()
	name, ok := a.lib.kernels[s.Name]
	if !ok || in.D == code.NoRow && !s.Compares() || s.Dst2 != code.NoSlot && !s.Compares() && in.F == code.NoRow || in.Imm > math.MaxInt32 {
		return false
	}
	h, ok := a.shadows4(in)
	h.n0 = int64(in.Imm)
	return ok && (s.Dst2 != code.P || s.Compares() || a.place(&h.f, nil, 'F', code.P, in.F)) && a.try("scalar_"+name, h)
}

// shadows4 is the places of the shadows of an instruction's sources, and of predicates.
func (a *assembler) shadows4(in *code.Instr) (h holes, ok bool) {
	s := in.Op.Signature()
	ok = true
	for i, to := range []*int64{&h.a, &h.b, &h.c, &h.e} {
		switch row := in.Sources()[i]; {
		case s.Src[i] == code.NoSlot || row == code.NoRow || s.Compares() && i == 2:
		case s.Src[i] == code.P:
			ok = ok && a.place(to, &h.constant, letters[i], code.P, row)
		default:
			ok = ok && a.shadow(to, &h.constant, letters[i], code.Row{Slot: s.Src[i], Row: row})
		}
	}
	return h, ok
}

// letters name source operands.
const letters = "ABCE"

// held goes to a label if not all sources are compact for the lanes that execute.
func (a *assembler) held(in *code.Instr, lanes int) bool {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		o := code.Row{Slot: s.Src[i], Row: row}
		switch {
		case row < 0 || s.Compares() && i == 2:
		case o.Slot == code.P:
			a.put("alike", holes{a: int64(4 * row), other: lanes})
		case o.Slot != code.NoSlot && !a.onShadow("held", 'A', o, lanes):
			return false
		}
	}
	return true
}

// level has an instruction whose sources are compact go on if they are the same in all lanes. Otherwise it goes
// to the lanes if no rule allows what it has, and else to Go.
func (a *assembler) level(pc int32, in *code.Instr, lanes int) bool {
	s := in.Op.Signature()
	for i, row := range in.Sources() {
		if row < 0 || s.Src[i] == code.P || s.Src[i] == code.NoSlot || s.Compares() && i == 2 {
			continue
		}
		other := lanes
		if affinetrack.Rules[s.Rule].Affine.Allows(1<<i) && (!s.Compares() || s.Cmp != affinetrack.NoCmp) {
			other = a.exit(pc, Lacks)
		}
		if !a.onShadow("level", 'A', code.Row{Slot: s.Src[i], Row: row}, other) {
			return false
		}
	}
	return true
}

// compact is an operation on registers, on their shadows if it can be.
func (a *assembler) compact(pc int32, in *code.Instr, form string) bool {
	s, lanes := in.Op.Signature(), a.label()
	d := code.Row{Slot: s.Dst, Row: in.D}
	if d.Row < 0 || d.Slot != code.R && d.Slot != code.Q {
		return false
	}
	if s.Rule == ptx.AffineSelect {
		if int(s.Out) != d.Slot.Bits() || int(s.Width) != d.Slot.Bits() || s.Src != [...]code.Slot{d.Slot, d.Slot, code.P, code.NoSlot} {
			return false
		}
		h, ok := a.shadows4(in)
		h.other = lanes
		if !ok || !a.try("affine_select_"+d.Slot.String(), h) {
			return false
		}
	} else if !a.held(in, lanes) || !a.result(pc, in, lanes) {
		return false
	}
	return a.keep(in, d, form) && a.otherwise(pc, in, form, lanes)
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

// result has the result of an operation whose sources are compact be under way.
func (a *assembler) result(pc int32, in *code.Instr, lanes int) bool {
	s := in.Op.Signature()
	name, sign, once := "", "u", none
	if s.Signed {
		sign = "s"
	}
	switch f := fasts[s.Fast]; {
	case f.by == bySign:
		name = f.name + sign
	case f.by == bySlot:
		name = f.name + s.Dst.String()
	default:
		if name = ruled(s, sign); name == "" {
			return a.level(pc, in, lanes) && a.scalar(in)
		}
		once = a.label()
	}
	h, ok := a.shadows4(in)
	h.other, h.leave = lanes, once
	if !ok || !a.try("affine_"+name, h) {
		return false
	}
	if once < 0 {
		return true
	}
	has := a.label()
	a.put("jump", holes{other: has})
	a.here(once)
	if !a.scalar(in) {
		return false
	}
	if a.counting {
		a.tally(a.check.counts.Quick, 1)
	}
	a.here(has)
	return true
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
	if !ok || s.Width != 32 || s.Out != 32 || s.Dst != code.R || s.Src != [...]code.Slot{code.R, code.R, code.NoSlot, code.NoSlot} || s.Dst2 != code.NoSlot {
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
func (a *assembler) source(in *code.Instr, form string) bool {
	s, r := in.Op.Signature(), ptx.SpecialReg(in.Imm)
	i := slices.Index(a.sources, r)
	if i < 0 || !in.Op.Special() || int(s.Width) < min(s.Dst.Bits(), r.Type().Bits()) {
		return false
	}
	name := "source_any"
	if r >= ptx.TidX && r <= ptx.TidZ {
		name = "source_thread"
	}
	if !a.try(name, holes{n0: int64(unsafe.Sizeof(Source{})) * int64(i)}) || !a.keep(in, code.Row{Slot: s.Dst, Row: in.D}, form) {
		return false
	}
	if a.counting {
		a.countCompact(s)
	}
	return true
}

// keep has a register be compact for the lanes that execute, with the result under way.
func (a *assembler) keep(in *code.Instr, d code.Row, form string) bool {
	var h holes
	return a.shadow(&h.d, nil, 'D', d) && a.place(&h.f, nil, 'F', d.Slot, d.Row) && a.try("keep_"+d.Slot.String()+form, h) &&
		(!in.How.Both || a.expand(d))
}

// comparisons are what stencils call those of integers.
var comparisons = [...]string{affinetrack.Eq: "eq", affinetrack.Ne: "ne", affinetrack.Lt: "lt", affinetrack.Le: "le", affinetrack.Gt: "gt", affinetrack.Ge: "ge"}

// compactCompare is a comparison, on shadows if it can be.
func (a *assembler) compactCompare(pc int32, in *code.Instr, form string) bool {
	s, lanes, combine := in.Op.Signature(), a.label(), a.label()
	if !a.held(in, lanes) {
		return false
	}
	if s.Fast == affinetrack.FastCompare && s.Cmp != affinetrack.NoCmp {
		sign := "u"
		if s.Signed {
			sign = "s"
		}
		h, ok := a.shadows4(in)
		h.other = lanes
		if !ok || !a.try("affine_"+comparisons[s.Cmp]+"_"+sign, h) {
			return false
		}
	} else if !a.level(pc, in, lanes) || !a.scalar(in) {
		return false
	}
	if a.counting {
		a.countCompact(in.Op.Signature())
	}
	a.put("jump", holes{other: combine})
	a.here(lanes)
	if !a.expandSources(in) || !a.outcome(in) {
		return false
	}
	if a.counting {
		a.tally(a.check.counts.OnLanes, 1)
	}
	a.here(combine)
	return a.combine(in, form)
}

// compactAccess is a load or store, at a compact address if it has one.
func (a *assembler) compactAccess(pc int32, in *code.Instr, form string) bool {
	acc, lanes := &a.prog.Access[in.Side], a.label()
	if acc.Move == nil {
		return false
	}
	if acc.Addr == code.NoSlot { // the address is compact always
		return a.compactly(in, acc, form, a.exit(pc, Lacks))
	}
	return a.compactly(in, acc, form, lanes) && a.otherwise(pc, in, form, lanes)
}

// compactly is an access at a compact address; it goes to a label if there is none.
func (a *assembler) compactly(in *code.Instr, acc *code.Access, form string, lanes int) bool {
	if !a.reach(in, acc, lanes) {
		return false
	}
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
			if !a.expand(o) || !a.place(&h.b, &h.constant, 'B', o.Slot, o.Row) || !a.try("row_store_"+name+"_"+row+form, h) {
				return false
			}
		case in.How.Dirty: // its address is the same in all lanes, where it is compact
			if !a.try("one_"+name, h) || !a.keep(in, o, form) {
				return false
			}
		default:
			if !a.place(&h.d, nil, 'D', o.Slot, o.Row) || !a.try("row_load_"+name+"_"+row+form, h) {
				return false
			}
		}
	}
	return true
}

// reach finds the memory of an access at a compact address; it goes to a label if there is none.
func (a *assembler) reach(in *code.Instr, acc *code.Access, lanes int) bool {
	h := holes{n0: int64(acc.Off), n1: int64(8 * acc.Hit), e: int64(acc.Bytes), other: lanes}
	name := "reach_"
	switch acc.Addr {
	case code.NoSlot:
		if acc.Space == ptx.Shared {
			name += "none_shared"
			break
		}
		if acc.AtFixed() == nil {
			return false
		}
		h.n0, h.n1 = int64(acc.Off-acc.Fixed.Base), int64(8*in.Side)
		name += "fixed"
	default:
		if !a.shadow(&h.a, &h.constant, 'A', code.Row{Slot: acc.Addr, Row: in.A}) {
			return false
		}
		name += acc.Addr.String() + "_hit"
		if acc.Space == ptx.Shared {
			name = "reach_" + acc.Addr.String() + "_shared"
		}
	}
	return h.n0 == int64(int32(h.n0)) && a.try(name, h)
}
