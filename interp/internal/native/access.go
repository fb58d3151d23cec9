package native

// This file makes machine code of what is not arithmetic: memory instructions, special registers, what the lanes of a
// warp do together.

import (
	"math/bits"
	"slices"
	"strconv"

	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// spaceOf is how stencils name the memory that an access finds: shared memory, or what it has hit last.
func spaceOf(acc *code.Access) string {
	if acc.Space == ptx.Shared {
		return "_shared"
	}
	return "_hit"
}

// memoryTypes are the types of elements in memory by the logarithm of their bytes: unsigned, and signed.
var memoryTypes = [...][2]string{{"u8", "s8"}, {"u16", "s16"}, {"u32", "s32"}, {"u64", "s64"}}

// element is what stencils call an element of an access and the row it is loaded to or stored from, as in u8_r.
func element(acc *code.Access, e code.Elem) string {
	return memoryType(acc, e) + "_" + e.Slot.String()
}

// addressed is that with the kind of row that addresses are in, as in u8_q_r.
func addressed(acc *code.Access, e code.Elem) string {
	return memoryType(acc, e) + "_" + acc.Addr.String() + "_" + e.Slot.String()
}

// memoryType is the element's type in memory, which matters as far as it is extended.
func memoryType(acc *code.Access, e code.Elem) string {
	sign := 0
	if acc.Signed && acc.Size < e.Slot.Bits()/8 {
		sign = 1
	}
	return memoryTypes[bits.TrailingZeros(uint(acc.Size))][sign]
}

// access is an instruction that accesses memory.
func (a *assembler) access(pc int32, in *code.Instr, form string) {
	acc := &a.prog.Access[in.Side]
	h := holes{n0: int64(acc.Off), leave: a.exit(pc, Lacks)}
	switch {
	case acc.Tile != nil || acc.Cluster || acc.Size > 8:
		a.leaveToGo()
	case in.Op == code.Atomic:
		a.takes(atomicly)
		a.atomic(in, acc, &h, form)
	case acc.Addr == code.NoSlot && !acc.Frame:
		a.fixed(in, acc, h, form)
	case len(acc.Elems) > 1:
		a.takes(byVectors)
		a.recalling(in, acc, &h, func() { a.vector(in, acc, h, form) })
	case in.Op == code.LoadEach || in.Op == code.StoreEach:
		a.leaveToGo()
	case !a.proved(pc, in, acc, form):
		a.wherever(in, acc, h, form)
	}
}

// wherever is an access to one element, wherever its lanes are.
func (a *assembler) wherever(in *code.Instr, acc *code.Access, h holes, form string) {
	a.length += Gathering
	a.recalling(in, acc, &h, func() {
		if e := acc.Elems[0]; acc.Space == ptx.Local {
			a.one(in, acc, 0, h, elementAt(acc, e)+form)
		} else {
			a.one(in, acc, 0, h, "_"+addressed(acc, e)+spaceOf(acc)+form)
		}
	})
}

// proved is an access whose pattern is proved, and that is made wherever its lanes are if they are not where they are expected.
func (a *assembler) proved(pc int32, in *code.Instr, acc *code.Access, form string) bool {
	name := [...]string{code.OnePlace: "_alike", code.SideBySide: "_abreast", code.Spread: "_spread"}[acc.Pattern]
	if name == "" || acc.Space == ptx.Local {
		return false
	}
	h := holes{n0: int64(acc.Off), n1: int64(8 * acc.Hit), e: int64(acc.Apart), leave: a.label()}
	if !a.undone(func() { a.one(in, acc, 0, h, "_"+addressed(acc, acc.Elems[0])+spaceOf(acc)+name+form) }) {
		return false
	}
	a.beside(aside{pc: pc, in: in, form: form, label: h.leave, code: (*assembler).scattered})
	return true
}

// scattered is an access of proved.
func (a *assembler) scattered(s *aside) {
	acc := &a.prog.Access[s.in.Side]
	a.wherever(s.in, acc, holes{n0: int64(acc.Off), leave: a.exit(s.pc, Lacks)}, s.form)
}

// recalling puts an access by addresses in a row. Where what it has hit last is not what they are in, it tries others
// that it remembers before it leaves.
func (a *assembler) recalling(in *code.Instr, acc *code.Access, h *holes, put func()) {
	if acc.Space == ptx.Shared || acc.Space == ptx.Local {
		put()
		return
	}
	begin, away := a.label(), h.leave
	a.here(begin)
	h.n1, h.leave = int64(8*acc.Hit), a.label()
	again := recall{label: h.leave, name: "recall_" + acc.Addr.String(), holes: holes{n0: h.n0, n1: h.n1, other: begin, leave: away}}
	a.place(&again.holes, 'A', acc.Addr, in.A)
	put()
	a.recalls = append(a.recalls, again)
}

// one puts the stencil of the access to an element. There is none for one that nobody wants.
func (a *assembler) one(in *code.Instr, acc *code.Access, i int, h holes, name string) {
	e := acc.Elems[i]
	a.offset(h.n0)
	a.place(&h, 'A', acc.Addr, in.A)
	if acc.Store {
		a.place(&h, 'B', e.Slot, e.Row)
		a.want("store"+name, h)
	} else {
		a.register(&h, 'D', e.Slot, e.Row)
		a.want("load"+name, h)
	}
}

// fixed is an access to an address that is the same in all lanes. The last element goes first: if it is in reach, all
// are.
func (a *assembler) fixed(in *code.Instr, acc *code.Access, h holes, form string) {
	space := a.fixedAt(in, acc, &h)
	off, last := h.n0, len(acc.Elems)-1
	for i := last; i >= 0; i-- {
		if e := acc.Elems[i]; e.Slot != code.NoSlot || i == last { // there has to be a last one
			h.n0 = off + int64(i*acc.Size)
			a.one(in, acc, i, h, space+"_"+element(acc, e)+form)
		}
	}
}

// fixedAt is where that address is: how stencils call the memory, and in what holes they have the place.
func (a *assembler) fixedAt(in *code.Instr, acc *code.Access, h *holes) (space string) {
	switch {
	case acc.Off%uint64(acc.Bytes) != 0:
		a.leaveToGo()
	case acc.Space == ptx.Shared:
		return "_shared"
	case acc.AtFixed() == nil:
		a.leaveToGo()
	default:
		a.at(&h.n0, int64(acc.Off-acc.Fixed.Base))
		h.n1 = int64(8 * in.Side)
	}
	return "_fixed"
}

// vector is an access to several elements, by addresses in a row or in a frame: first it is seen to it that all are in
// reach.
func (a *assembler) vector(in *code.Instr, acc *code.Access, h holes, form string) {
	where := h
	a.offset(h.n0)
	a.place(&where, 'A', acc.Addr, in.A)
	a.want("reach_"+strconv.Itoa(acc.Bytes)+reached(acc)+form, where)
	for i, e := range acc.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		if !acc.Store && e.Slot == acc.Addr && e.Row == in.A && i != len(acc.Elems)-1 {
			a.leaveToGo() // the others would not have their addresses any more
		}
		h.n0 = where.n0 + int64(i*acc.Size)
		a.one(in, acc, i, h, elementAt(acc, e)+form)
	}
}

// reached is how the stencils that look whether all of a vector is in reach say where it is.
func reached(acc *code.Access) string {
	switch {
	case acc.Frame:
		return "_frame"
	case acc.Space == ptx.Local:
		return "_" + acc.Addr.String() + "_local"
	}
	return "_" + acc.Addr.String() + spaceOf(acc)
}

// elementAt is how the stencils of one element say where it is: of local memory, or of a vector that is in reach.
func elementAt(acc *code.Access, e code.Elem) string {
	switch {
	case acc.Frame:
		return "_frame_" + element(acc, e)
	case acc.Space == ptx.Local:
		return "_local_" + addressed(acc, e)
	}
	return "_element_" + addressed(acc, e) + spaceOf(acc)
}

// atomics are the names of atomic operations that have stencils.
var atomics = map[code.AtomicOp]string{
	code.AtomAdd: "add", code.AtomAnd: "and", code.AtomOr: "or", code.AtomXor: "xor", code.AtomExch: "exch", code.AtomCas: "cas",
	code.AtomInc: "inc", code.AtomDec: "dec", code.AtomMin: "min", code.AtomMax: "max",
}

// atomic is atom and red, on one element of global or shared memory. A generic address may be of either, which is the same
// but to sums of floats.
func (a *assembler) atomic(in *code.Instr, acc *code.Access, h *holes, form string) {
	t, e := acc.Atom, acc.Elems[0]
	if len(acc.Elems) != 1 || acc.Space == ptx.Generic && t.Type.IsFloat() {
		a.leaveToGo()
	}
	name := atomics[t.Op]
	switch {
	case t.Type.IsFloat():
		if t.Global {
			name += "global"
		}
		name += "_f"
	case t.Type.IsSigned() && (t.Op == code.AtomMin || t.Op == code.AtomMax):
		name += "_s"
	default:
		name += "_u"
	}
	kind := "atom"
	if e.Slot == code.NoSlot {
		kind = "red"
	}
	a.register(h, 'D', e.Slot, e.Row)
	a.place(h, 'B', t.B[0].Slot, t.B[0].Row)
	if t.C != nil {
		a.place(h, 'C', t.C[0].Slot, t.C[0].Row)
	}
	name = kind + "_" + name + strconv.Itoa(t.Type.Bits())
	if acc.Addr == code.NoSlot {
		name += a.fixedAt(in, acc, h) + form
		a.offset(h.n0)
		a.want(name, *h)
		return
	}
	a.offset(h.n0)
	a.place(h, 'A', acc.Addr, in.A)
	a.recalling(in, acc, h, func() { a.want(name+"_"+acc.Addr.String()+spaceOf(acc)+form, *h) })
}

// rowOf is the stencil, and the row, for special registers that differ between lanes.
func rowOf(r ptx.SpecialReg) (name string, row int64) {
	if r <= ptx.TidZ {
		return "sreg_tid", int64(r - ptx.TidX)
	}
	if r == ptx.LaneID {
		return "sreg_lanes", 0
	}
	return "sreg_lanes", int64(1 + r - ptx.LanemaskEq)
}

// special is what reads what the warp has besides registers. Go knows what time it is.
func (a *assembler) special(in *code.Instr, form string) {
	s := in.Op.Signature()
	h := holes{n0: int64(in.Imm), n1: -1}
	a.register(&h, 'D', s.Dst, in.D)
	name := ""
	switch r := ptx.SpecialReg(in.Imm); in.Op {
	case code.Frame32, code.Frame64:
		name = "frame"
	case code.Shared32, code.Shared64:
		name = "shared"
	case code.Sreg16, code.Sreg32, code.Sreg64:
		if s.Width == 16 {
			h.n1 = 0xffff
		}
		switch {
		case r.Measures(): // there is none
		case r.PerLane():
			name, h.n0 = rowOf(r)
			h.n0 *= rowSizes[code.R]
		default:
			name = "sreg"
			h.n0 *= 8
		}
	}
	a.offset(h.n0)
	a.want(name+"_"+s.Dst.String()+form, h)
}

var (
	shuffles = [...]string{code.ShflUp: "shfl_up", code.ShflDown: "shfl_down", code.ShflBfly: "shfl_bfly", code.ShflIdx: "shfl_idx"}
	votes    = [...]string{code.VoteAll: "vote_all", code.VoteAny: "vote_any", code.VoteUni: "vote_uni"}
)

// together is what lanes do together, if all are there that are named.
func (a *assembler) together(pc int32, in *code.Instr, form string) {
	s := in.Op.Signature()
	name, before := "", "joined"
	switch in.Op {
	case code.Shfl, code.ShflSync:
		if in.Imm < uint64(len(shuffles)) {
			name = shuffles[in.Imm]
		}
	case code.Vote, code.VoteSync:
		name, before = votes[in.Imm], "alike"
	case code.Ballot, code.BallotSync:
		name, before = "ballot", "alike"
	case code.Activemask:
		name = "activemask"
	}
	if name == "" || in.D == code.NoRow {
		a.leaveToGo()
	}
	h := a.operands(in)
	h.leave = a.exit(pc, Lacks)
	if s.Member > 0 {
		member := holes{leave: h.leave}
		a.place(&member, 'A', code.R, in.Sources()[s.Member-1])
		a.want(before+form, member)
	}
	a.want(name+form, h)
	if s.Dst2 != code.NoSlot && in.F != code.NoRow {
		a.put("compared"+form, holes{d: h.f})
	}
}

// uniform is the special registers that a program reads, and that are the same in all lanes and do not change.
func uniform(p *code.Program) (list []ptx.SpecialReg) {
	for i := range p.Instrs {
		list = alsoUniform(list, &p.Instrs[i])
	}
	return list
}

// alsoUniform is a list and what an instruction reads, if that is one.
func alsoUniform(list []ptx.SpecialReg, in *code.Instr) []ptx.SpecialReg {
	if r := ptx.SpecialReg(in.Imm); in.Op.Special() && !r.PerLane() && !r.Measures() && !slices.Contains(list, r) {
		list = append(list, r)
	}
	return list
}

// laneRows are the special registers that differ between lanes and are the same in all warps.
var laneRows = func() (rows [6]regfile.Row32) {
	for i := range regfile.Lanes {
		rows[0][i] = uint32(i)
		rows[1+ptx.LanemaskEq-ptx.LanemaskEq][i] = 1 << i
		rows[1+ptx.LanemaskLe-ptx.LanemaskEq][i] = 2<<i - 1
		rows[1+ptx.LanemaskLt-ptx.LanemaskEq][i] = 1<<i - 1
		rows[1+ptx.LanemaskGe-ptx.LanemaskEq][i] = ^uint32(0) << i
		rows[1+ptx.LanemaskGt-ptx.LanemaskEq][i] = ^uint32(1) << i
	}
	return rows
}()
