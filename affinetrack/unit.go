package affinetrack

import "gemu/ptx"

// Unit is the affine functional unit of a machine: rules, under a policy.
type Unit struct {
	*Policy
	Table *Table
}

// Execute computes the compact result of an instruction whose n operands are
// compact, or says that there is none. If all are uniform, once computes the
// instruction on single values (the operation itself, whatever it is), and its
// result is everybody's.
func (u Unit) Execute(rule ptx.Affine, a *Args, n int, once func() uint64) (Value, bool) {
	uniform := true
	for i := range n {
		uniform = uniform && a.V[i].Uniform()
	}
	var v Value
	switch {
	case uniform && rule != ptx.AffineNone:
		v = Value{Base: once()}
	case !u.Rules.Has(rule):
		return Value{}, false
	default:
		r := u.Narrow[rule]
		if r == nil {
			r = u.Table.Rules[rule]
		}
		if r == nil {
			return Value{}, false
		}
		var ok bool
		if v, ok = r(a); !ok {
			return Value{}, false
		}
	}
	return v, u.Allows(v, a.Slot)
}

// Decide tells whether a comparison of compact operands comes out the same in
// all active lanes, and how. once compares single values.
func (u Unit) Decide(a *Args, once func() bool) (holds, ok bool) {
	if a.V[0].Uniform() && a.V[1].Uniform() {
		return once(), true
	}
	if a.Cmp == NoCmp || !u.Rules.Has(ptx.AffineCompare) {
		return false, false
	}
	return u.Table.Compare(a)
}
