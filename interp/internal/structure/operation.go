package structure

// This file follows the operations that instructions are made of: what the policy's rules
// make of the tags.

import (
	"fmt"
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/simt"
	"gemu/ptx"
	"gemu/regfile"
)

// most is how many sources an operation has that are followed: those of tex.grad.
const most = 20

// operands are what an operation has read that it may have overwritten since.
type operands struct {
	v    [most]affinetrack.Value
	ok   [most]bool // of ideal policies: v describes the operand
	addr regfile.Row64
}

// look notes what an operation is about to read.
func (t *tracker) look(e *simt.Event) {
	op := e.Operation
	access := op.Kind == simt.OperationLoad || op.Kind == simt.OperationStore
	for h := range t.warps[e.Warp].halves {
		m, seen := uint32(e.Lanes>>(32*h)), &t.seen[h]
		if m == 0 {
			continue
		}
		for i := range min(len(op.Sources), len(seen.v)) {
			o := &op.Sources[i]
			switch {
			case o.Kind == simt.NoOperand || access && i > 0:
			case access:
				if e.Source(i).Lanes(h, &seen.addr); t.Ideal {
					seen.v[i], seen.ok[i] = describe(&seen.addr, t.width(e, o), m)
				}
			case t.Ideal && o.Bits == 1:
				e.Source(i).Lanes(h, &t.row)
				set := ones(&t.row) & m
				seen.v[i], seen.ok[i] = affinetrack.Value{Base: uint64(set)}, set == 0 || set == m
			case t.Ideal:
				e.Source(i).Lanes(h, &t.row)
				seen.v[i], seen.ok[i] = describe(&t.row, t.width(e, o), m)
			}
		}
	}
}

// describe describes the lanes of m of a row.
func describe(r *regfile.Row64, slot int, m uint32) (affinetrack.Value, bool) {
	return affinetrack.Describe(m, slot, func(i int) uint64 { return r[i] })
}

// ones is the lanes of a predicate that are set.
func ones(r *regfile.Row64) (m uint32) {
	for i, v := range r {
		m |= uint32(v) << i
	}
	return m
}

// operation follows an operation that has executed.
func (t *tracker) operation(e *simt.Event) {
	t.step.told = true
	for h := range t.warps[e.Warp].halves {
		m := uint32(e.Lanes >> (32 * h))
		if m == 0 {
			continue
		}
		switch x := t.present(e, h, m); {
		case x.op.Kind == simt.OperationCompute && x.op.Rule == ptx.AffineCompare:
			x.comparison()
		case x.op.Kind == simt.OperationCompute:
			x.arithmetic()
		case x.op.Kind == simt.OperationRead:
			x.special()
		case x.op.Kind == simt.OperationLoad:
			x.load()
		case x.op.Kind == simt.OperationStore:
			x.store()
		case x.op.Kind == simt.OperationWarp:
			x.warp()
		case x.e.Instr.Form.Class == ptx.ClassTexture && x.e.Instr.Form.Affine == ptx.AffineUniform:
			x.lookup()
		default:
			x.generic()
		}
	}
}

// lookup follows instructions on textures, which are read-only: at uniform coordinates they
// fetch once, if the policy has loads do so.
func (x *half) lookup() {
	once := x.t.Loads == affinetrack.AnyUniform && len(x.op.Sources) <= most
	for i := range x.op.Sources {
		if v, ok := x.source(i); once && x.op.Sources[i].Kind != simt.NoOperand {
			once = ok && v.Uniform()
		}
	}
	if !once {
		x.generic()
		return
	}
	for i := range x.op.Results {
		switch o := &x.op.Results[i]; {
		case o.Kind == simt.NoOperand:
		case o.Bits == 1:
			x.setPredicate(i, x.first(i).Base != 0)
		default:
			v := x.first(i)
			if x.verifies() && !x.compareRow(i, v) {
				return
			}
			x.finish(i, v, true)
		}
	}
}

// source describes source i of the operation for the lanes that execute it, if it is
// compact there.
func (x *half) source(i int) (affinetrack.Value, bool) {
	if x.t.Ideal {
		return x.t.seen[x.h].v[i], x.t.seen[x.h].ok[i]
	}
	v := x.held(&x.op.Sources[i])
	return v.Value, v.mask&x.m == x.m
}

// predicate tells whether source i, a predicate, is the same in all lanes that execute the
// operation, and what.
func (x *half) predicate(i int) (value, ok bool) {
	o := &x.op.Sources[i]
	switch {
	case x.t.Ideal:
		return x.t.seen[x.h].v[i].Base != 0, x.t.seen[x.h].ok[i]
	case o.Kind == simt.ConstantOperand:
		return o.Value != 0, true
	}
	e := x.truth(o)
	return e.value, e.mask&x.m == x.m
}

// operand is source i as the unit wants it.
func (x *half) operand(i int) (o affinetrack.Operand) {
	if x.op.Sources[i].Bits == 1 {
		v, ok := x.predicate(i)
		if ok {
			o.Held = x.m
		}
		if v {
			o.Base = 1
		}
		return o
	}
	if v, ok := x.source(i); ok {
		return affinetrack.Operand{Value: v, Held: x.m}
	}
	return affinetrack.Operand{}
}

// first is what the first lane has of result i that executes the operation.
func (x *half) first(i int) affinetrack.Value {
	return affinetrack.Value{Base: x.e.Result(i).Lane(32*x.h + bits.TrailingZeros32(x.m))}
}

// result is the values of result i.
func (x *half) result(i int) *regfile.Row64 {
	x.e.Result(i).Lanes(x.h, &x.t.row)
	return &x.t.row
}

// generic records that the operation has written its results lane by lane.
func (x *half) generic() {
	x.t.step.compact = false
	for i := range x.op.Results {
		if o := &x.op.Results[i]; o.Kind != simt.NoOperand {
			x.overwrite(o)
		}
	}
}

// finish records result i, which the lanes have: v if it is compact.
func (x *half) finish(i int, v affinetrack.Value, ok bool) {
	t, o := x.t, &x.op.Results[i]
	if t.Ideal {
		// What was proved does not count, only what can be seen.
		v, ok = describe(x.result(i), t.width(x.e, o), x.m)
		ok = ok && (v.Stride == 0 || !x.inexact())
	}
	if !ok {
		t.step.compact = false
		x.overwrite(o)
		return
	}
	t.step.see(v.Class())
	switch {
	case !x.keep:
		t.step.held = false
		x.overwrite(o)
	case !t.Ideal:
		x.write(o, v)
	}
}

// inexact reports whether the instruction computes a floating-point number, of which only
// uniform ones are compact: "expanding a floating-point affine value would result in an
// unacceptable loss of precision" (Kim et al. 4.1).
func (x *half) inexact() bool {
	in := x.e.Instr
	return (in.Form.Class == ptx.ClassFP || in.Form.Class == ptx.ClassSFU) && !in.OperandType(0).IsInt()
}

// arithmetic follows what computes, but comparisons.
func (x *half) arithmetic() {
	t, op := x.t, x.op
	var src [4]affinetrack.Operand
	n := len(op.Sources)
	for i := range n {
		if src[i] = x.operand(i); op.Sources[i].Bits != 1 && src[i].Held == x.m {
			t.step.see(src[i].Class())
		}
	}
	if t.Ideal {
		if t.unit.Has(&op.Operation, src[:n], x.m) {
			x.results(affinetrack.Value{}, 0)
		} else {
			x.generic()
		}
		return
	}
	v, answer := x.execute(src[:n])
	var carry uint64
	switch answer {
	case affinetrack.OnLanes:
		x.generic()
		return
	case affinetrack.Once:
		v.Base, carry = op.Compute(src[0].Base, src[1].Base, src[2].Base, src[3].Base)
	}
	x.results(v, carry)
}

// execute asks the unit for the operation.
func (x *half) execute(src []affinetrack.Operand) (affinetrack.Value, affinetrack.Answer) {
	m := x.m
	if !x.t.Masked { // an entry is the whole warp's, whoever executes: "all elements in the affine sequence" (Kim et al. 4.2)
		m = x.live
		for i := range src {
			if src[i].Held == x.m {
				src[i].Held = m
			}
		}
	}
	v, answer := x.t.unit.Execute(&x.op.Operation, src, m)
	if answer == affinetrack.Once && !x.t.Once(x.op.Rule, x.e.Instr.Form.Class) {
		answer = affinetrack.OnLanes
	}
	return v, answer
}

// results records the results of an operation: v, and a carry.
func (x *half) results(v affinetrack.Value, carry uint64) {
	if x.op.Results[0].Bits == 1 {
		x.setPredicate(0, v.Base&1 != 0)
	} else {
		v = v.Reduced(x.op.Results[0].Bits)
		if x.verifies() && !x.compareRow(0, v) {
			return
		}
		x.finish(0, v, true)
	}
	if x.op.Results[1].Kind != simt.NoOperand {
		x.setPredicate(1, carry != 0)
	}
}

// setPredicate records that result i, a predicate, is the same in all lanes of m.
func (x *half) setPredicate(i int, value bool) {
	if x.t.Ideal {
		if set := ones(x.result(i)) & x.m; set != 0 && set != x.m {
			x.t.step.compact = false
		}
		return
	}
	if !x.verifies() || x.comparePredicate(i, value) {
		x.settle(&x.op.Results[i], value, x.origin())
	}
}

// origin is the class of what the operation's result, a predicate, comes of.
func (x *half) origin() affinetrack.Class {
	c := affinetrack.Uniform
	for i := range x.op.Sources {
		switch o := &x.op.Sources[i]; {
		case o.Kind != simt.RowOperand:
		case o.Bits == 1:
			if p := x.truth(o); p.mask&x.m == x.m {
				c = max(c, p.class)
			}
		case x.held(o).mask&x.m == x.m:
			c = max(c, x.held(o).Class())
		}
	}
	return c
}

// comparison follows a comparison: p = t op c, q = !t op c (manual 9.7.6.2).
func (x *half) comparison() {
	t, op := x.t, x.op
	src := [2]affinetrack.Operand{x.operand(0), x.operand(1)}
	known := t.unit.Has(&op.Operation, src[:], x.m)
	if known {
		t.step.see(src[0].Class())
		t.step.see(src[1].Class())
	}
	if t.Ideal {
		for i := range op.Results {
			if op.Results[i].Kind == simt.NoOperand {
				continue
			}
			set := ones(x.result(i)) & x.m
			t.step.compact = t.step.compact && known && (set == 0 || set == x.m)
		}
		return
	}
	v, answer := x.execute(src[:])
	class := x.origin()
	switch answer {
	case affinetrack.OnLanes:
		x.generic()
		return
	case affinetrack.Once:
		v.Base, _ = op.Compute(src[0].Base, src[1].Base, 0, 0)
	}
	uniform := op.Bool == "" // the results are so
	if !uniform {
		_, uniform = x.predicate(2)
	}
	for i, holds := range []bool{v.Base&1 != 0, v.Base&1 == 0} {
		o := &op.Results[i]
		switch {
		case o.Kind == simt.NoOperand:
		case uniform || op.Bool == "and" && !holds || op.Bool == "or" && holds: // whatever it is combined with
			value := holds
			if uniform && op.Bool != "" {
				value = x.first(i).Base != 0
			}
			if x.verifies() && !x.comparePredicate(i, value) {
				return
			}
			x.settle(o, value, class)
		default:
			t.step.compact = false
			x.truth(o).mask &^= x.m
		}
	}
}

// special follows the read of a special register, or of the address of a local
// variable.
func (x *half) special() {
	o, r, l := &x.op.Results[0], x.op.Special, x.e.Launch
	var v affinetrack.Value
	ok := true
	switch first := bits.TrailingZeros32(x.m); {
	case !r.PerLane():
		v = x.first(0)
	case r == ptx.LaneID:
		v = affinetrack.Value{Base: uint64(32 * x.h), Stride: 1}
	case r >= ptx.TidX && r <= ptx.TidZ:
		thread := x.e.Warp*l.WarpSize + 32*x.h + first
		v, ok = affinetrack.ThreadIndex([3]int{l.Block.X, l.Block.Y, l.Block.Z}, int(r-ptx.TidX), thread, first, bits.Len32(x.m)-1-first)
	default:
		ok = false
	}
	v = v.Reduced(o.Bits)
	ok = ok && x.t.Index(r) && x.t.Allows(v, o.Bits)
	if ok && x.verifies() && !x.compareRow(0, v) {
		return
	}
	x.finish(0, v, ok)
}

// address describes the address of an access, its offset left out, if it is compact;
// a fixed address is uniform.
func (x *half) address() (v affinetrack.Value, ok bool) {
	t := x.t
	switch {
	case x.op.Sources[0].Kind == simt.NoOperand:
		ok = true
	case t.Rules.Has(x.e.Instr.Form.Affine):
		if v, ok = x.source(0); ok && x.verifies() {
			x.compareAddress(v)
		}
		ok = ok && (v.Uniform() || t.Vector(x.e.Instr.Form.Affine, v, x.op.Sources[0].Bits, x.e.Accesses[len(x.e.Accesses)-1].Bytes))
	}
	t.step.addr = affinetrack.Generic
	if ok {
		t.step.addr = v.Class()
	}
	return v, ok
}

// own reports whether an access at a uniform address is to the thread's own memory.
func (x *half) own(base uint64) bool {
	a := &x.e.Accesses[len(x.e.Accesses)-1]
	if a.Space != ptx.Generic {
		return a.Space == ptx.Local
	}
	at := base + x.op.Offset
	if x.op.Sources[0].Bits == 32 {
		at = uint64(uint32(at))
	}
	space, _, _, _ := a.At(at)
	return space == ptx.Local
}

// load follows a load. From a uniform address it loads once; the value is
// uniform unless memory is the thread's own.
func (x *half) load() {
	t := x.t
	v, ok := x.address()
	space := x.e.Accesses[len(x.e.Accesses)-1].Space
	once := ok && v.Uniform() && t.Loads.Uniform(space) && !x.own(v.Base)
	for i := range x.op.Results {
		o := &x.op.Results[i]
		switch {
		case o.Kind == simt.NoOperand:
		case t.Ideal:
			c := classOf(describe(x.result(i), t.width(x.e, o), x.m))
			t.step.data = max(t.step.data, c)
			if c != affinetrack.Uniform || !once {
				t.step.compact = false
			}
		case !once:
			t.step.data = affinetrack.Generic
			t.step.compact = false
			x.overwrite(o)
		default:
			t.step.data = max(t.step.data, affinetrack.Uniform)
			v := x.first(i)
			// If it is not, another CTA has stored there meanwhile.
			x.finish(i, v, notHolding(x.result(i), o.Bits, v, x.m) == 0)
		}
	}
}

// store follows a store. To affine addresses it computes one.
func (x *half) store() {
	x.address()
	for i := range x.op.Sources {
		o := &x.op.Sources[i]
		switch {
		case i == 0 || o.Kind == simt.NoOperand:
		case x.t.Ideal:
			x.e.Source(i).Lanes(x.h, &x.t.row)
			x.t.step.data = max(x.t.step.data, classOf(describe(&x.t.row, x.t.width(x.e, o), x.m)))
		default:
			v := x.held(o)
			x.t.step.data = max(x.t.step.data, classOf(v.Value, v.mask&x.m == x.m))
		}
	}
}

// warp follows an operation that has one result for all lanes that name the same lanes in
// their membermasks.
func (x *half) warp() {
	form := x.e.Instr.Form
	ok := x.t.Once(form.Affine, form.Class)
	if n := x.op.Member; n >= 0 {
		v, known := x.source(n)
		ok = known && v.Uniform()
	}
	v := x.first(0)
	if ok && x.verifies() && !x.compareRow(0, v) {
		return
	}
	x.finish(0, v, ok)
}

// classOf is the class of a value, generic if it is not compact.
func classOf(v affinetrack.Value, ok bool) affinetrack.Class {
	if !ok {
		return affinetrack.Generic
	}
	return v.Class()
}

// verifies reports whether tags are compared with lanes. Those of ideal policies come from there.
func (x *half) verifies() bool { return x.t.verify && !x.t.Ideal }

// compareRow compares a compact result with the lanes.
func (x *half) compareRow(i int, v affinetrack.Value) bool {
	if c := x.e.Result(i).Tag(x.h); c.Mask&x.m == x.m && c.Value == v { // the engine has the same
		return true
	}
	row := x.result(i)
	bad := notHolding(row, x.op.Results[i].Bits, v, x.m)
	if bad == 0 {
		return true
	}
	lane := bits.TrailingZeros32(bad)
	x.mismatch(bad, "the compact result is %s, but lane %d has %#x", v, lane, row[lane])
	return false
}

// comparePredicate compares a uniform predicate with the lanes.
func (x *half) comparePredicate(i int, value bool) bool {
	bad := ones(x.result(i))
	if value {
		bad = ^bad
	}
	if bad &= x.m; bad == 0 {
		return true
	}
	x.mismatch(bad, "the compact predicate is %v, but not in lanes %#x", value, bad)
	return false
}

// compareAddress compares a compact address with those of the lanes.
func (x *half) compareAddress(v affinetrack.Value) {
	addr := &x.t.seen[x.h].addr
	if bad := notHolding(addr, x.op.Sources[0].Bits, v, x.m); bad != 0 {
		i := bits.TrailingZeros32(bad)
		x.mismatch(1<<i, "the compact address is %s, but lane %d has %#x", v, i, addr[i])
	}
}

// notHolding is the lanes of m where a row does not hold a compact value.
func notHolding(row *regfile.Row64, slot int, v affinetrack.Value, m uint32) (bad uint32) {
	ones := ^uint64(0) >> (64 - slot)
	for n := m; n != 0; n &= n - 1 {
		if i := bits.TrailingZeros32(n) & 31; row[i] != v.At(i)&ones {
			bad |= 1 << i
		}
	}
	return bad
}

// mismatch stops the launch: a rule of the policy is wrong.
func (x *half) mismatch(lanes uint32, format string, args ...any) {
	trap := x.e.NewTrap(simt.ErrMismatch, uint64(lanes)<<(32*x.h), "%v: rule %s of %s: %s", simt.ErrMismatch, x.op.Rule, x.e.Instr.Text, fmt.Sprintf(format, args...))
	for i := range min(len(x.op.Sources), 4) {
		o := &x.op.Sources[i]
		if o.Kind == simt.NoOperand {
			continue
		}
		held := "generic"
		if o.Bits == 1 {
			if value, ok := x.predicate(i); ok {
				held = fmt.Sprint(value)
			}
		} else if v, ok := x.source(i); ok {
			held = v.String()
		}
		trap.Notes = append(trap.Notes, fmt.Sprintf("operand %d: %s", i, held))
	}
	x.e.Stop(trap)
}
