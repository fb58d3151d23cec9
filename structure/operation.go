package structure

// This file applies the policy's rules to the tags for each operation of an instruction.

import (
	"fmt"
	"math/bits"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// maxOperands is the maximum number of tracked sources of an operation: tex.grad has the most.
const maxOperands = 20

// operandValues contains the source values of an operation, which the operation may overwrite.
type operandValues struct {
	v    [maxOperands]affinetrack.Value // under an ideal policy, the descriptions of the operands
	ok   [maxOperands]bool              // under an ideal policy, whether v describes the operand
	addr regfile.Row64                  // addresses of a load or store
}

// readOperands records the sources of an operation before it executes: for an ideal policy all, for a verifying probe the
// addresses.
func (t *tracker) readOperands(e *probe.Event) {
	op := e.Operation
	access := op.Kind == probe.OperationLoad || op.Kind == probe.OperationStore
	for h := range t.warps[e.Warp].halves {
		m, seen := uint32(e.Lanes>>(32*h)), &t.operands[h]
		if m == 0 {
			continue
		}
		for i := range min(len(op.Sources), len(seen.v)) {
			operand := &op.Sources[i]
			switch {
			case operand.Kind == probe.NoOperand || access && i > 0:
			case access:
				if e.Source(i).Lanes(h, &seen.addr); t.Ideal {
					seen.v[i], seen.ok[i] = describe(&seen.addr, t.width(e, operand), m)
				}
			case t.Ideal && operand.Bits == 1:
				e.Source(i).Lanes(h, &t.row)
				set := setBits(&t.row) & m
				seen.v[i], seen.ok[i] = affinetrack.Value{Base: uint64(set)}, set == 0 || set == m
			case t.Ideal:
				e.Source(i).Lanes(h, &t.row)
				seen.v[i], seen.ok[i] = describe(&t.row, t.width(e, operand), m)
			}
		}
	}
}

// describe returns the description of the values of the lanes of m in a row; slot is their width in bits.
func describe(r *regfile.Row64, slot int, m uint32) (affinetrack.Value, bool) {
	return affinetrack.Describe(m, slot, func(i int) uint64 { return r[i] })
}

// setBits returns the lanes in which a predicate is true.
func setBits(r *regfile.Row64) (m uint32) {
	for i, v := range r {
		m |= uint32(v) << i
	}
	return m
}

// operation updates the tags and the step after an operation has executed.
func (t *tracker) operation(e *probe.Event) {
	t.step.counted = true
	for h := range t.warps[e.Warp].halves {
		m := uint32(e.Lanes >> (32 * h))
		if m == 0 {
			continue
		}
		switch x := t.selectHalf(e, h, m); {
		case x.op.Kind == probe.OperationCompute && x.op.Rule == ptx.AffineCompare:
			x.comparison()
		case x.op.Kind == probe.OperationCompute:
			x.arithmetic()
		case x.op.Kind == probe.OperationRead:
			x.special()
		case x.op.Kind == probe.OperationLoad:
			x.load()
		case x.op.Kind == probe.OperationStore:
			x.store()
		case x.op.Kind == probe.OperationWarp:
			x.warp()
		case x.event.Instr.Form.Class == ptx.ClassTexture && x.event.Instr.Form.Affine == ptx.AffineUniform:
			x.lookup()
		default:
			x.generic()
		}
	}
}

// lookup tracks instructions on textures, which are read-only. At uniform coordinates they fetch once if the policy
// allows it for loads.
func (x *half) lookup() {
	once := x.tracker.Loads == affinetrack.AnyUniform && len(x.op.Sources) <= maxOperands
	for i := range x.op.Sources {
		if v, ok := x.source(i); once && x.op.Sources[i].Kind != probe.NoOperand {
			once = ok && v.Uniform()
		}
	}
	if !once {
		x.generic()
		return
	}
	for i := range x.op.Results {
		switch operand := &x.op.Results[i]; {
		case operand.Kind == probe.NoOperand:
		case operand.Bits == 1:
			x.setPredicate(i, x.laneValue(i).Base != 0)
		default:
			v := x.laneValue(i)
			if x.shouldVerify() && !x.compareRow(i, v) {
				return
			}
			x.storeResult(i, v, true)
		}
	}
}

// source returns the description of source i, and whether it is compact in all executing lanes.
func (x *half) source(i int) (affinetrack.Value, bool) {
	if x.tracker.Ideal {
		return x.tracker.operands[x.index].v[i], x.tracker.operands[x.index].ok[i]
	}
	v := x.heldTag(&x.op.Sources[i])
	return v.Value, v.mask&x.mask == x.mask
}

// predicate returns the value of source i, a predicate, and whether it is the same in all executing lanes.
func (x *half) predicate(i int) (value, ok bool) {
	operand := &x.op.Sources[i]
	switch {
	case x.tracker.Ideal:
		return x.tracker.operands[x.index].v[i].Base != 0, x.tracker.operands[x.index].ok[i]
	case operand.Kind == probe.ConstantOperand:
		return operand.Value != 0, true
	}
	e := x.predicateTag(operand)
	return e.value, e.mask&x.mask == x.mask
}

// operand returns source i as an operand of the unit; without lanes if it is not compact in all executing lanes.
func (x *half) operand(i int) (o affinetrack.Operand) {
	if x.op.Sources[i].Bits == 1 {
		v, ok := x.predicate(i)
		if ok {
			o.Lanes = x.mask
		}
		if v {
			o.Base = 1
		}
		return o
	}
	if v, ok := x.source(i); ok {
		return affinetrack.Operand{Value: v, Lanes: x.mask}
	}
	return affinetrack.Operand{}
}

// laneValue returns the value of result i in the first executing lane.
func (x *half) laneValue(i int) affinetrack.Value {
	return affinetrack.Value{Base: x.event.Result(i).Lane(32*x.index + bits.TrailingZeros32(x.mask))}
}

// result returns the values of result i in all lanes.
func (x *half) result(i int) *regfile.Row64 {
	x.event.Result(i).Lanes(x.index, &x.tracker.row)
	return &x.tracker.row
}

// generic records that the operation has written its results lane by lane.
func (x *half) generic() {
	x.tracker.step.compact = false
	for i := range x.op.Results {
		if operand := &x.op.Results[i]; operand.Kind != probe.NoOperand {
			x.overwrite(operand)
		}
	}
}

// storeResult records result i, which the engine has written already: it is v if ok, else generic.
func (x *half) storeResult(i int, v affinetrack.Value, ok bool) {
	t, operand := x.tracker, &x.op.Results[i]
	if t.Ideal {
		// Only the values of the lanes count, not the rule.
		v, ok = describe(x.result(i), t.width(x.event, operand), x.mask)
		ok = ok && (v.Stride == 0 || !x.isInexact())
	}
	if !ok {
		t.step.compact = false
		x.overwrite(operand)
		return
	}
	t.step.addClass(v.Class())
	switch {
	case !x.checksValues:
		t.step.suppressed = false
		x.overwrite(operand)
	case !t.Ideal:
		x.write(operand, v)
	}
}

// isInexact reports whether the instruction computes a floating-point number. Only uniform values are compact:
// "expanding a floating-point affine value would result in an unacceptable loss of precision" (Kim et al. 4.1).
func (x *half) isInexact() bool {
	instr := x.event.Instr
	return (instr.Form.Class == ptx.ClassFP || instr.Form.Class == ptx.ClassSFU) && !instr.OperandType(0).IsInt()
}

// arithmetic tracks computations except comparisons.
func (x *half) arithmetic() {
	t, op := x.tracker, x.op
	var src [4]affinetrack.Operand
	n := len(op.Sources)
	for i := range n {
		if src[i] = x.operand(i); op.Sources[i].Bits != 1 && src[i].Lanes == x.mask {
			t.step.addClass(src[i].Class())
		}
	}
	if t.Ideal {
		if t.unit.HasCompactOperands(&op.Operation, src[:n], x.mask) {
			x.results(affinetrack.Value{}, 0)
		} else {
			x.generic()
		}
		return
	}
	v, execution := x.execute(src[:n])
	var carry uint64
	switch execution {
	case affinetrack.PerLane:
		x.generic()
		return
	case affinetrack.Scalar:
		v.Base, carry = op.Compute(src[0].Base, src[1].Base, src[2].Base, src[3].Base)
	}
	x.results(v, carry)
}

// execute executes the operation on the unit. If it returns Scalar, the caller must compute the result.
func (x *half) execute(src []affinetrack.Operand) (affinetrack.Value, affinetrack.Execution) {
	m := x.mask
	// Without a masked policy an entry applies to the whole warp, not only to the executing lanes: "all elements in the
	// affine sequence" (Kim et al. 4.2).
	if !x.tracker.Masked {
		m = x.live
		for i := range src {
			if src[i].Lanes == x.mask {
				src[i].Lanes = m
			}
		}
	}
	v, execution := x.tracker.unit.Execute(&x.op.Operation, src, m)
	if execution == affinetrack.Scalar && !x.tracker.AllowsScalar(x.op.Rule, x.event.Instr.Form.Class) {
		execution = affinetrack.PerLane
	}
	return v, execution
}

// results records the results of an operation: v, and a carry (0 or 1) if the operation has one.
func (x *half) results(v affinetrack.Value, carry uint64) {
	if x.op.Results[0].Bits == 1 {
		x.setPredicate(0, v.Base&1 != 0)
	} else {
		v = v.Truncate(x.op.Results[0].Bits)
		if x.shouldVerify() && !x.compareRow(0, v) {
			return
		}
		x.storeResult(0, v, true)
	}
	if x.op.Results[1].Kind != probe.NoOperand {
		x.setPredicate(1, carry != 0)
	}
}

// setPredicate records that result i, a predicate, is the same in all executing lanes.
func (x *half) setPredicate(i int, value bool) {
	if x.tracker.Ideal {
		if set := setBits(x.result(i)) & x.mask; set != 0 && set != x.mask {
			x.tracker.step.compact = false
		}
		return
	}
	if !x.shouldVerify() || x.comparePredicate(i, value) {
		x.setTruth(&x.op.Results[i], value, x.origin())
	}
}

// origin returns the least structured class among the compact sources of a predicate.
func (x *half) origin() affinetrack.Class {
	c := affinetrack.Uniform
	for i := range x.op.Sources {
		switch operand := &x.op.Sources[i]; {
		case operand.Kind != probe.RowOperand:
		case operand.Bits == 1:
			if p := x.predicateTag(operand); p.mask&x.mask == x.mask {
				c = max(c, p.class)
			}
		case x.heldTag(operand).mask&x.mask == x.mask:
			c = max(c, x.heldTag(operand).Class())
		}
	}
	return c
}

// comparison tracks a comparison. With the truth t of the comparison its results are p = t op c and q = !t op c, where op
// and c may be missing (manual 9.7.6.2).
func (x *half) comparison() {
	t, op := x.tracker, x.op
	src := [2]affinetrack.Operand{x.operand(0), x.operand(1)}
	known := t.unit.HasCompactOperands(&op.Operation, src[:], x.mask)
	if known {
		t.step.addClass(src[0].Class())
		t.step.addClass(src[1].Class())
	}
	if t.Ideal {
		for i := range op.Results {
			if op.Results[i].Kind == probe.NoOperand {
				continue
			}
			set := setBits(x.result(i)) & x.mask
			t.step.compact = t.step.compact && known && (set == 0 || set == x.mask)
		}
		return
	}
	v, execution := x.execute(src[:])
	class := x.origin()
	switch execution {
	case affinetrack.PerLane:
		x.generic()
		return
	case affinetrack.Scalar:
		v.Base, _ = op.Compute(src[0].Base, src[1].Base, 0, 0)
	}
	uniform := op.Bool == "" // c is missing or uniform, so the results are uniform
	if !uniform {
		_, uniform = x.predicate(2)
	}
	for i, holds := range []bool{v.Base&1 != 0, v.Base&1 == 0} {
		operand := &op.Results[i]
		switch {
		case operand.Kind == probe.NoOperand:
		case uniform || op.Bool == "and" && !holds || op.Bool == "or" && holds: // the result is uniform: c does not matter
			value := holds
			if uniform && op.Bool != "" {
				value = x.laneValue(i).Base != 0
			}
			if x.shouldVerify() && !x.comparePredicate(i, value) {
				return
			}
			x.setTruth(operand, value, class)
		default:
			t.step.compact = false
			x.predicateTag(operand).mask &^= x.mask
		}
	}
}

// special tracks the read of a special register, or of the address of a local variable.
func (x *half) special() {
	operand, r, l := &x.op.Results[0], x.op.Special, x.event.Launch
	var v affinetrack.Value
	ok := true
	switch first := bits.TrailingZeros32(x.mask); {
	case !r.PerLane():
		v = x.laneValue(0)
	case r == ptx.LaneID:
		v = affinetrack.Value{Base: uint64(32 * x.index), Stride: 1}
	case r >= ptx.TidX && r <= ptx.TidZ:
		thread := x.event.Warp*l.WarpSize + 32*x.index + first
		v, ok = affinetrack.ThreadIndex([3]int{l.Block.X, l.Block.Y, l.Block.Z}, int(r-ptx.TidX), thread, first, bits.Len32(x.mask)-1-first)
	default:
		ok = false
	}
	v = v.Truncate(operand.Bits)
	ok = ok && x.tracker.AllowsIndex(r) && x.tracker.Allows(v, operand.Bits)
	if ok && x.shouldVerify() && !x.compareRow(0, v) {
		return
	}
	x.storeResult(0, v, ok)
}

// address returns the description of an access's address without its constant offset, and whether the address is compact.
// An address without a register is uniform.
func (x *half) address() (v affinetrack.Value, ok bool) {
	t := x.tracker
	switch {
	case x.op.Sources[0].Kind == probe.NoOperand:
		ok = true
	case t.Rules.Has(x.event.Instr.Form.Affine):
		if v, ok = x.source(0); ok && x.shouldVerify() {
			x.compareAddress(v)
		}
		ok = ok && (v.Uniform() || t.IsVectorAccess(x.event.Instr.Form.Affine, v, x.op.Sources[0].Bits, x.event.Accesses[len(x.event.Accesses)-1].Bytes))
	}
	t.step.addr = affinetrack.Generic
	if ok {
		t.step.addr = v.Class()
	}
	return v, ok
}

// isLocalAccess reports whether an access at a uniform address is to local memory, which each thread has for itself.
func (x *half) isLocalAccess(base uint64) bool {
	a := &x.event.Accesses[len(x.event.Accesses)-1]
	if a.Space != ptx.Generic {
		return a.Space == ptx.Local
	}
	addr := base + x.op.Offset
	if x.op.Sources[0].Bits == 32 {
		addr = uint64(uint32(addr))
	}
	space, _, _, _ := a.AllocationAt(addr)
	return space == ptx.Local
}

// load tracks a load. A uniform address is loaded once, and the value is uniform, if the policy allows it for the state
// space, and unless the memory is local.
func (x *half) load() {
	t := x.tracker
	v, ok := x.address()
	space := x.event.Accesses[len(x.event.Accesses)-1].Space
	once := ok && v.Uniform() && t.Loads.AllowsUniform(space) && !x.isLocalAccess(v.Base)
	for i := range x.op.Results {
		operand := &x.op.Results[i]
		switch {
		case operand.Kind == probe.NoOperand:
		case t.Ideal:
			c := classOf(describe(x.result(i), t.width(x.event, operand), x.mask))
			t.step.data = max(t.step.data, c)
			if c != affinetrack.Uniform || !once {
				t.step.compact = false
			}
		case !once:
			t.step.data = affinetrack.Generic
			t.step.compact = false
			x.overwrite(operand)
		default:
			t.step.data = max(t.step.data, affinetrack.Uniform)
			v := x.laneValue(i)
			// The lanes differ if another CTA has stored there between their reads.
			x.storeResult(i, v, lanesUnlike(x.result(i), operand.Bits, v, x.mask) == 0)
		}
	}
}

// store tracks a store.
func (x *half) store() {
	x.address()
	for i := range x.op.Sources {
		operand := &x.op.Sources[i]
		switch {
		case i == 0 || operand.Kind == probe.NoOperand:
		case x.tracker.Ideal:
			x.event.Source(i).Lanes(x.index, &x.tracker.row)
			x.tracker.step.data = max(x.tracker.step.data, classOf(describe(&x.tracker.row, x.tracker.width(x.event, operand), x.mask)))
		default:
			v := x.heldTag(operand)
			x.tracker.step.data = max(x.tracker.step.data, classOf(v.Value, v.mask&x.mask == x.mask))
		}
	}
}

// warp tracks an operation with a single result for all lanes of a membermask.
func (x *half) warp() {
	form := x.event.Instr.Form
	ok := x.tracker.AllowsScalar(form.Affine, form.Class)
	if n := x.op.Member; n >= 0 {
		v, known := x.source(n)
		ok = known && v.Uniform()
	}
	v := x.laneValue(0)
	if ok && x.shouldVerify() && !x.compareRow(0, v) {
		return
	}
	x.storeResult(0, v, ok)
}

// classOf returns the class of a value, Generic if it is not compact.
func classOf(v affinetrack.Value, ok bool) affinetrack.Class {
	if !ok {
		return affinetrack.Generic
	}
	return v.Class()
}

// shouldVerify reports whether tags are compared with lanes. The tags of an ideal policy come from the lanes.
func (x *half) shouldVerify() bool { return x.tracker.verify && !x.tracker.Ideal }

// compareRow compares v, the compact result i, with the lanes. It stops the launch and returns false if they differ.
func (x *half) compareRow(i int, v affinetrack.Value) bool {
	if c := x.event.Result(i).Tag(x.index); c.Mask&x.mask == x.mask && c.Value == v { // the engine has the same value
		return true
	}
	row := x.result(i)
	bad := lanesUnlike(row, x.op.Results[i].Bits, v, x.mask)
	if bad == 0 {
		return true
	}
	lane := bits.TrailingZeros32(bad)
	x.mismatch(bad, "the compact result is %s, but lane %d has %#x", v, lane, row[lane])
	return false
}

// comparePredicate compares value, the uniform result i, with the lanes. It stops the launch and returns false if they
// differ.
func (x *half) comparePredicate(i int, value bool) bool {
	bad := setBits(x.result(i))
	if value {
		bad = ^bad
	}
	if bad &= x.mask; bad == 0 {
		return true
	}
	x.mismatch(bad, "the compact predicate is %v, but not in %s", value, probe.LaneText(uint64(bad)))
	return false
}

// compareAddress compares a compact address with the addresses of the lanes. It stops the launch if they differ.
func (x *half) compareAddress(v affinetrack.Value) {
	addr := &x.tracker.operands[x.index].addr
	if bad := lanesUnlike(addr, x.op.Sources[0].Bits, v, x.mask); bad != 0 {
		i := bits.TrailingZeros32(bad)
		x.mismatch(1<<i, "the compact address is %s, but lane %d has %#x", v, i, addr[i])
	}
}

// lanesUnlike returns the lanes of m in which a row differs from a compact value; slot is the width of the row's values.
func lanesUnlike(row *regfile.Row64, slot int, v affinetrack.Value, m uint32) (bad uint32) {
	ones := ^uint64(0) >> (64 - slot)
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; row[i] != v.At(i)&ones {
			bad |= 1 << i
		}
	}
	return bad
}

// mismatch stops the launch with a trap: the policy's tags differ from the lanes, so one of its rules is wrong.
func (x *half) mismatch(lanes uint32, format string, args ...any) {
	trap := x.event.NewTrap(probe.ErrMismatch, uint64(lanes)<<(32*x.index), "%v: rule %s of %s: %s", probe.ErrMismatch, x.op.Rule, x.event.Instr.Text, fmt.Sprintf(format, args...))
	for i := range min(len(x.op.Sources), 4) {
		operand := &x.op.Sources[i]
		if operand.Kind == probe.NoOperand {
			continue
		}
		held := "generic"
		if operand.Bits == 1 {
			if value, ok := x.predicate(i); ok {
				held = fmt.Sprint(value)
			}
		} else if v, ok := x.source(i); ok {
			held = v.String()
		}
		trap.Notes = append(trap.Notes, fmt.Sprintf("operand %d: %s", i, held))
	}
	x.event.Stop(trap)
}
