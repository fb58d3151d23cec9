package native

// This file makes machine code of memory accesses, reads of special registers, and collective instructions of a warp
// (shuffles, votes).

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// spaceSuffix returns the part of a stencil's name for the memory of an access: shared memory, or the allocation of the
// access's last hit.
func spaceSuffix(acc *code.Access) string {
	if acc.Space == ptx.Shared {
		return "_shared"
	}
	return "_hit"
}

// memoryTypes are the types of elements in memory by the logarithm of their bytes: unsigned, and signed.
var memoryTypes = [...][2]string{{"u8", "s8"}, {"u16", "s16"}, {"u32", "s32"}, {"u64", "s64"}}

// elementName returns the part of a stencil's name for an element and the kind of its register row, such as u8_r.
func elementName(acc *code.Access, e code.Elem) string {
	return memoryType(acc, e) + "_" + e.Slot.String()
}

// addressedName returns elementName with the kind of the address row in its middle, such as u8_q_r.
func addressedName(acc *code.Access, e code.Elem) string {
	return memoryType(acc, e) + "_" + acc.Addr.String() + "_" + e.Slot.String()
}

// memoryType returns the element's type in memory. It is signed only if a load extends the sign.
func memoryType(acc *code.Access, e code.Elem) string {
	sign := 0
	if acc.Signed && acc.Size < e.Slot.Bits()/8 {
		sign = 1
	}
	return memoryTypes[bits.TrailingZeros(uint(acc.Size))][sign]
}

// putAccess makes the code of a memory access.
func (a *assembler) putAccess(pc int32, instr *code.Instr, suffix string) {
	acc := &a.prog.Access[instr.Side]
	h := holes{n0: int64(acc.Offset), leave: a.exitLabel(pc, Unsupported)}
	if a.catching && mayFault(instr, acc) {
		a.putExitAtFault(pc, instr, acc)
	}
	switch {
	case acc.Tile != nil || acc.Cluster || acc.Size > 8 && instr.Op != code.Atomic:
		a.leaveToGo()
	case instr.Op == code.Atomic:
		a.addCost(atomicCost)
		a.putAtomic(instr, acc, &h, suffix)
	case acc.Addr == code.NoSlot && !acc.Frame:
		a.putFixed(instr, acc, h, suffix)
	case len(acc.Elems) > 1:
		a.addCost(vectorCost)
		a.putWithHitLookup(instr, acc, &h, func() { a.putVector(instr, acc, h, suffix) })
	case instr.Op == code.LoadEach || instr.Op == code.StoreEach:
		a.leaveToGo()
	case !a.tryPattern(pc, instr, acc, suffix):
		a.putScattered(instr, acc, h, suffix)
	}
}

// mayFault reports whether an access in machine code may reach memory in which it faults on the host. Atomics never do: for
// this memory they exit, because Go cannot repeat an atomic that some lanes have made.
func mayFault(instr *code.Instr, acc *code.Access) bool {
	return instr.Op != code.Atomic && acc.Addr != code.NoSlot && (acc.Space == ptx.Global || acc.Space == ptx.Generic)
}

// putExitAtFault prepares the exit of an access that faults: Go repeats the access, so the addresses must be kept.
func (a *assembler) putExitAtFault(pc int32, instr *code.Instr, acc *code.Access) {
	a.put("exit_at_fault", holes{n0: int64(pc), n1: int64(Faulted)})
	if overwritesAddresses(instr, acc) {
		h := holes{}
		a.setPlace(&h, 'A', acc.Addr, instr.A)
		a.put("save_addresses_"+acc.Addr.String(), h)
	}
}

// overwritesAddresses reports whether a load writes the row of its addresses.
func overwritesAddresses(instr *code.Instr, acc *code.Access) bool {
	return !acc.Store && slices.ContainsFunc(acc.Elems, func(e code.Elem) bool { return e.Slot == acc.Addr && e.Row == instr.A })
}

// RestoreAddresses restores the address row of the access at pc, which has faulted: Go can repeat it then.
func (c *Code) RestoreAddresses(ctx *Context, f *regfile.File, pc int32) {
	instr := &c.prog.Instrs[pc]
	if acc := &c.prog.Access[instr.Side]; !overwritesAddresses(instr, acc) {
		return
	} else if acc.Addr == code.Q {
		*f.Row64(instr.A) = ctx.addresses
	} else {
		*f.Row32(instr.A) = *(*regfile.Row32)(unsafe.Pointer(&ctx.addresses))
	}
}

// putScattered makes the code of an access to one element, for any addresses of the lanes.
func (a *assembler) putScattered(instr *code.Instr, acc *code.Access, h holes, suffix string) {
	a.sinceExit += GatherCost
	a.putWithHitLookup(instr, acc, &h, func() {
		if e := acc.Elems[0]; acc.Space == ptx.Local {
			a.putElement(instr, acc, 0, h, placedElementName(acc, e)+suffix)
		} else {
			a.putElement(instr, acc, 0, h, "_"+addressedName(acc, e)+spaceSuffix(acc)+suffix)
		}
	})
}

// tryPattern makes the code of an access whose address pattern is proved and reports whether there is a stencil for it. The
// code falls back to putScattered where the addresses do not have the pattern.
func (a *assembler) tryPattern(pc int32, instr *code.Instr, acc *code.Access, suffix string) bool {
	name := [...]string{code.SameAddress: "_same", code.Contiguous: "_contiguous", code.AnyStride: "_strided"}[acc.Pattern]
	if name == "" || acc.Space == ptx.Local {
		return false
	}
	h := holes{n0: int64(acc.Offset), n1: int64(8 * acc.HitIndex), e: int64(acc.Stride), leave: a.newLabel()}
	if !a.attempt(func() {
		a.putElement(instr, acc, 0, h, "_"+addressedName(acc, acc.Elems[0])+spaceSuffix(acc)+name+suffix)
	}) {
		return false
	}
	a.addColdCode(coldCode{pc: pc, in: instr, suffix: suffix, label: h.leave, put: (*assembler).putScatteredFallback})
	return true
}

// putScatteredFallback makes the cold code of tryPattern.
func (a *assembler) putScatteredFallback(s *coldCode) {
	acc := &a.prog.Access[s.in.Side]
	a.putScattered(s.in, acc, holes{n0: int64(acc.Offset), leave: a.exitLabel(s.pc, Unsupported)}, s.suffix)
}

// putWithHitLookup makes the code of an access at the addresses of a row. If the addresses are not in the allocation of the
// last hit, the code searches the remaining remembered allocations, and exits if they are in none.
func (a *assembler) putWithHitLookup(instr *code.Instr, acc *code.Access, h *holes, put func()) {
	if acc.Space == ptx.Shared || acc.Space == ptx.Local {
		put()
		return
	}
	begin, exit := a.newLabel(), h.leave
	a.bind(begin)
	h.n1, h.leave = int64(8*acc.HitIndex), a.newLabel()
	lookup := hitLookup{label: h.leave, name: "recall_" + acc.Addr.String(), holes: holes{n0: h.n0, n1: h.n1, other: begin, leave: exit}}
	a.setPlace(&lookup.holes, 'A', acc.Addr, instr.A)
	put()
	a.hitLookups = append(a.hitLookups, lookup)
}

// putElement puts the stencil of the access to one element. An element without a register has no stencil.
func (a *assembler) putElement(instr *code.Instr, acc *code.Access, i int, h holes, name string) {
	e := acc.Elems[i]
	a.checkOffset(h.n0)
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	if acc.Store {
		a.setPlace(&h, 'B', e.Slot, e.Row)
		a.putOrLeave("store"+name, h)
	} else {
		a.setRegister(&h, 'D', e.Slot, e.Row)
		a.putOrLeave("load"+name, h)
	}
}

// putFixed makes the code of an access at the same address in all lanes. It accesses the last element first: if this
// element is in bounds, all are.
func (a *assembler) putFixed(instr *code.Instr, acc *code.Access, h holes, suffix string) {
	space := a.setFixedPlace(instr, acc, &h)
	offset, last := h.n0, len(acc.Elems)-1
	for i := last; i >= 0; i-- {
		if e := acc.Elems[i]; e.Slot != code.NoSlot || i == last { // the last element checks the bounds
			h.n0 = offset + int64(i*acc.Size)
			a.putElement(instr, acc, i, h, space+"_"+elementName(acc, e)+suffix)
		}
	}
}

// setFixedPlace fills the holes for the fixed address of an access and returns the part of the stencil's name for its memory.
func (a *assembler) setFixedPlace(instr *code.Instr, acc *code.Access, h *holes) (space string) {
	switch {
	case acc.Offset%uint64(acc.Bytes) != 0:
		a.leaveToGo()
	case acc.Space == ptx.Shared:
		return "_shared"
	case acc.FixedPointer() == nil:
		a.leaveToGo()
	default:
		a.setHole(&h.n0, int64(acc.Offset-acc.Fixed.Base))
		h.n1 = int64(8 * instr.Side)
	}
	return "_fixed"
}

// putVector makes the code of an access to several elements, at the addresses of a row or in a frame. The code checks the
// bounds of all elements first.
func (a *assembler) putVector(instr *code.Instr, acc *code.Access, h holes, suffix string) {
	if a.attempt(func() { a.putWholeVector(instr, acc, h, suffix) }) {
		return
	}
	a.addCost(elementwiseCost)
	reach := h
	a.checkOffset(h.n0)
	a.setPlace(&reach, 'A', acc.Addr, instr.A)
	a.putOrLeave("reach_"+strconv.Itoa(acc.Bytes)+reachSuffix(acc)+suffix, reach)
	for i, e := range acc.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		if !acc.Store && e.Slot == acc.Addr && e.Row == instr.A && i != len(acc.Elems)-1 {
			a.leaveToGo() // this load would overwrite the addresses of the remaining elements
		}
		h.n0 = reach.n0 + int64(i*acc.Size)
		a.putElement(instr, acc, i, h, placedElementName(acc, e)+suffix)
	}
}

// putWholeVector makes the code of an access to vectors of elements that are not narrower than their registers, outside local
// memory. It leaves other accesses to Go.
func (a *assembler) putWholeVector(instr *code.Instr, acc *code.Access, h holes, suffix string) {
	if acc.Frame || acc.Space == ptx.Local {
		a.leaveToGo()
		return
	}
	kind, all := "load", holes{}
	if acc.Store {
		kind = "store"
	}
	for i, e := range acc.Elems {
		switch {
		case i == len(letters) || e.Slot == code.NoSlot || e.Slot.Bits() != 8*acc.Size:
			a.leaveToGo()
			return
		case acc.Store:
			a.setPlace(&all, letters[i], e.Slot, e.Row)
		default:
			a.setRegister(&all, letters[i], e.Slot, e.Row)
		}
	}
	a.putPointers(instr, acc, h, suffix)
	a.putOrLeave(fmt.Sprintf("%s_vector_u%dx%d%s", kind, 8*acc.Size, len(acc.Elems), suffix), all)
}

// putPointers puts the stencil that checks the bounds of an access at the addresses of a row and writes pointers to the
// memory of the lanes.
func (a *assembler) putPointers(instr *code.Instr, acc *code.Access, h holes, suffix string) {
	a.checkOffset(h.n0)
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	a.putOrLeave("pointers_"+strconv.Itoa(acc.Bytes)+reachSuffix(acc)+suffix, h)
}

// reachSuffix returns the part of a name for the place of a vector, in the stencils with bounds checks.
func reachSuffix(acc *code.Access) string {
	switch {
	case acc.Frame:
		return "_frame"
	case acc.Space == ptx.Local:
		return "_" + acc.Addr.String() + "_local"
	}
	return "_" + acc.Addr.String() + spaceSuffix(acc)
}

// placedElementName returns the part of a stencil's name for one element in local memory, or of a vector whose bounds are
// checked.
func placedElementName(acc *code.Access, e code.Elem) string {
	switch {
	case acc.Frame:
		return "_frame_" + elementName(acc, e)
	case acc.Space == ptx.Local:
		return "_local_" + addressedName(acc, e)
	}
	return "_element_" + addressedName(acc, e) + spaceSuffix(acc)
}

// atomics has the names of the atomic operations with stencils.
var atomics = map[code.AtomicOp]string{
	code.AtomAdd: "add", code.AtomAnd: "and", code.AtomOr: "or", code.AtomXor: "xor", code.AtomExch: "exch", code.AtomCas: "cas",
	code.AtomInc: "inc", code.AtomDec: "dec", code.AtomMin: "min", code.AtomMax: "max",
}

// atomicsOfHalves has the names of the atomic operations on f16 and bf16, and on pairs of them.
var atomicsOfHalves = func() map[code.Op]string {
	names := map[code.Op]string{}
	for _, t := range []ptx.Type{ptx.F16, ptx.BF16, ptx.F16x2, ptx.BF16x2} {
		for _, op := range []code.AtomicOp{code.AtomAdd, code.AtomMin, code.AtomMax} {
			names[code.ReductionOn(op, t, ptx.Global).Float] = atomics[op] + "_" + strings.TrimPrefix(t.String(), ".")
		}
	}
	return names
}()

// putAtomic makes the code of atom and red on global or shared memory.
func (a *assembler) putAtomic(instr *code.Instr, acc *code.Access, h *holes, suffix string) {
	if acc.Addr == code.NoSlot {
		space := a.setFixedPlace(instr, acc, h)
		a.checkOffset(h.n0)
		a.putOrLeave("pointers_"+strconv.Itoa(acc.Bytes)+space+suffix, *h)
		a.putAtomicElements(acc, acc.Atom.Reduction, suffix)
		return
	}
	a.putWithHitLookup(instr, acc, h, func() {
		a.putPointers(instr, acc, *h, suffix)
		if acc.Space != ptx.Generic || !acc.Atom.Global { // the same operation in both memories
			a.putAtomicElements(acc, acc.Atom.Reduction, suffix)
			return
		}
		inShared, end, onShared := a.newLabel(), a.newLabel(), acc.Atom.Reduction
		onShared.Global = false
		a.putOrLeave("if_shared"+suffix, holes{n1: h.n1, other: inShared})
		a.putAtomicElements(acc, acc.Atom.Reduction, suffix)
		a.put("jump", holes{other: end})
		a.bind(inShared)
		a.putAtomicElements(acc, onShared, suffix)
		a.bind(end)
	})
}

// atomicName returns the part of a stencil's name for an atomic operation. The name has no stencil if there is no code for the
// operation.
func atomicName(t code.Reduction) string {
	name := atomics[t.Op]
	switch {
	case t.Op == code.AtomFloat:
		return atomicsOfHalves[t.Float]
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
	return name + strconv.Itoa(t.Type.Bits())
}

// putAtomicElements makes the code of an atomic operation on each element of a vector, at the pointers of the lanes. The order is
// that of Go, lane by lane: vectors of different lanes are the same memory or do not overlap.
func (a *assembler) putAtomicElements(acc *code.Access, t code.Reduction, suffix string) {
	if acc.Size == 16 {
		a.putAtomic128(acc, suffix)
		return
	}
	pattern := 0 // the elements of a vector are not contiguous, and those of 2 bytes fill no host's vector
	if len(acc.Elems) == 1 && acc.Size >= 4 {
		pattern = acc.Size
	}
	a.putOrLeave("alike_"+strconv.Itoa(pattern)+suffix, holes{})
	for i, e := range acc.Elems {
		h, kind := holes{n0: int64(i * acc.Size)}, "atom_"
		if e.Slot == code.NoSlot {
			kind = "red_"
		}
		a.setRegister(&h, 'D', e.Slot, e.Row)
		a.setPlace(&h, 'B', acc.Atom.B[i].Slot, acc.Atom.B[i].Row)
		if acc.Atom.C != nil {
			a.setPlace(&h, 'C', acc.Atom.C[i].Slot, acc.Atom.C[i].Row)
		}
		a.putOrLeave(kind+atomicName(t)+suffix, h)
	}
}

// putAtomic128 makes the code of an exch or cas of 128 bits, at the pointers of the lanes.
func (a *assembler) putAtomic128(acc *code.Access, suffix string) {
	h, d := holes{}, acc.Elems[0]
	if d.Slot == code.NoSlot {
		a.leaveToGo()
		return
	}
	a.setRegister(&h, 'D', code.Q, d.Row)
	a.setRegister(&h, 'F', code.Q, d.High)
	a.setPlace(&h, 'A', code.Q, acc.Atom.B[0].Row)
	a.setPlace(&h, 'B', code.Q, acc.Atom.B[0].High)
	if acc.Atom.C != nil {
		a.setPlace(&h, 'C', code.Q, acc.Atom.C[0].Row)
		a.setPlace(&h, 'E', code.Q, acc.Atom.C[0].High)
	}
	a.putOrLeave("atom_"+atomics[acc.Atom.Op]+"_b128"+suffix, h)
}

// specialRow returns the stencil and the row of a special register with different values in the lanes.
func specialRow(r ptx.SpecialReg) (name string, row int64) {
	if r <= ptx.TidZ {
		return "sreg_tid", int64(r - ptx.TidX)
	}
	if r == ptx.LaneID {
		return "sreg_lanes", 0
	}
	return "sreg_lanes", int64(1 + r - ptx.LanemaskEq)
}

// putSpecial makes the code of a read of a special register, or of the address of a frame or of shared memory. It leaves
// clocks and other measurements to Go.
func (a *assembler) putSpecial(instr *code.Instr, suffix string) {
	s := instr.Op.Signature()
	h := holes{n0: int64(instr.Imm), n1: -1}
	a.setRegister(&h, 'D', s.Dst, instr.D)
	name := ""
	switch r := ptx.SpecialReg(instr.Imm); instr.Op {
	case code.Frame32, code.Frame64:
		name = "frame"
	case code.Shared32, code.Shared64:
		name = "shared"
	case code.Sreg16, code.Sreg32, code.Sreg64:
		if s.Width == 16 {
			h.n1 = 0xffff
		}
		switch {
		case r.Measures(): // no stencil
		case r.PerLane():
			name, h.n0 = specialRow(r)
			h.n0 *= rowSizes[code.R]
		default:
			name = "sreg"
			h.n0 *= 8
		}
	}
	a.checkOffset(h.n0)
	a.putOrLeave(name+"_"+s.Dst.String()+suffix, h)
}

var (
	shuffles = [...]string{code.ShflUp: "shfl_up", code.ShflDown: "shfl_down", code.ShflBfly: "shfl_bfly", code.ShflIdx: "shfl_idx"}
	votes    = [...]string{code.VoteAll: "vote_all", code.VoteAny: "vote_any", code.VoteUni: "vote_uni"}
	matches  = map[code.Op][2]string{code.Match32: {"match_any_r", "match_all_r"}, code.Match64: {"match_any_q", "match_all_q"}} // by Imm

	reductions = map[uint64]string{
		code.Reduction{Op: code.AtomAdd, Type: ptx.U32}.Imm(): "redux_add",
		code.Reduction{Op: code.AtomAdd, Type: ptx.S32}.Imm(): "redux_add",
		code.Reduction{Op: code.AtomMin, Type: ptx.U32}.Imm(): "redux_min_u32",
		code.Reduction{Op: code.AtomMax, Type: ptx.U32}.Imm(): "redux_max_u32",
		code.Reduction{Op: code.AtomMin, Type: ptx.S32}.Imm(): "redux_min_s32",
		code.Reduction{Op: code.AtomMax, Type: ptx.S32}.Imm(): "redux_max_s32",
		code.Reduction{Op: code.AtomAnd, Type: ptx.B32}.Imm(): "redux_and",
		code.Reduction{Op: code.AtomOr, Type: ptx.B32}.Imm():  "redux_or",
		code.Reduction{Op: code.AtomXor, Type: ptx.B32}.Imm(): "redux_xor",
	}
	floatReductions = map[code.Op]string{code.OpNamed("min.any.f32"): "redux_min_f32", code.OpNamed("max.any.f32"): "redux_max_f32"}
)

// putCollective makes the code of a shuffle, vote, ballot, activemask, match, elect or a reduction. The code exits to
// Go if a live lane of the membermask does not execute the instruction; except for shuffles, also if the executing lanes have
// different membermasks.
func (a *assembler) putCollective(pc int32, instr *code.Instr, suffix string) {
	s := instr.Op.Signature()
	name, before := "", "members"
	switch instr.Op {
	case code.Shfl, code.ShflSync:
		if instr.Imm < uint64(len(shuffles)) {
			name = shuffles[instr.Imm]
		}
	case code.Vote, code.VoteSync:
		name, before = votes[instr.Imm], "equal_members"
	case code.Ballot, code.BallotSync:
		name, before = "ballot", "equal_members"
	case code.Activemask:
		name = "activemask"
	case code.Match32, code.Match64:
		name, before = matches[instr.Op][instr.Imm], "equal_members"
	case code.Redux:
		name, before = reductions[instr.Imm], "equal_members"
	case code.ReduxFloat:
		name, before = floatReductions[code.FloatReductionOf(instr.Imm).Op], "equal_members"
	case code.Elect:
		name, before = "elect", "equal_members"
	}
	if name == "" || instr.D == code.NoRow {
		a.leaveToGo()
	}
	h := a.operandHoles(instr)
	h.leave = a.exitLabel(pc, Unsupported)
	if instr.Op == code.ReduxFloat {
		h.n0, h.n1 = floatReductionHoles(code.FloatReductionOf(instr.Imm).Imm)
	}
	if s.Member > 0 {
		member := holes{leave: h.leave}
		a.setPlace(&member, 'A', code.R, instr.Sources()[s.Member-1])
		a.putOrLeave(before+suffix, member)
	}
	a.putOrLeave(name+suffix, h)
	if s.Dst2 != code.NoSlot && instr.F != code.NoRow {
		a.put("compared"+suffix, holes{d: h.f})
	}
}

// floatReductionHoles returns the numbers of a reduction of floats for its modifiers: the bits of an operand that count, and all bits
// if a NaN among the operands is the result.
func floatReductionHoles(modifiers uint32) (operandBits, propagates int64) {
	has := func(m alu.Modifiers) bool { return modifiers&uint32(m.Imm()) != 0 }
	operandBits = -1
	if has(alu.Modifiers{Abs: true}) {
		operandBits = math.MaxInt32
	}
	if has(alu.Modifiers{NaN: true}) {
		propagates = -1
	}
	return operandBits, propagates
}

// uniformSources returns the special registers read by a program whose values are uniform and constant for a warp.
func uniformSources(p *code.Program) (list []ptx.SpecialReg) {
	for i := range p.Instrs {
		list = addUniformSource(list, &p.Instrs[i])
	}
	return list
}

// addUniformSource appends the special register read by an instruction, if it is uniform and constant, and not in list yet.
func addUniformSource(list []ptx.SpecialReg, instr *code.Instr) []ptx.SpecialReg {
	if r := ptx.SpecialReg(instr.Imm); instr.Op.Special() && !r.PerLane() && !r.Measures() && !slices.Contains(list, r) {
		list = append(list, r)
	}
	return list
}

// laneRows has the rows of the special registers whose values depend on the lane alone: laneid, then lanemask_eq, le, lt,
// ge, gt.
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
