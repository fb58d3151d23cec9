package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Unit is the affine functional unit of a machine: rules, under a policy. Given an
// instruction, what its operands hold and for which lanes, it answers how to execute it
// for the lanes of a mask. It is not for use by several at a time.
type Unit struct {
	*Policy
	Table *Table

	// Applied counts the results that rules of the table have computed: those that have no fast
	// form, or could not.
	Applied int64

	fast bool // fast forms stand for the table's rules
	args Args // of the rule under way: here, for what rules are given by address would be allocated
}

// NewUnit makes a unit that has the table's rules as far as the policy lets it.
func NewUnit(p *Policy, t *Table) Unit {
	return Unit{Policy: p, Table: t, fast: t == Rules && p.isUnlimited()}
}

// Fast reports whether fast forms stand for the table's rules: no policy limits them.
func (u *Unit) Fast() bool { return u.fast }

// Operand is a register as a machine keeps it, or a predicate as 0 or 1: the lanes of Held
// hold the Value, what others hold is not known.
type Operand struct {
	Value
	Lanes uint32
}

// Execution is how an instruction executes.
type Execution uint8

// The answers.
const (
	PerLane       Execution = iota // lane by lane
	Scalar                         // on single values, for operands are uniform; the result is everybody's
	CompactResult                  // not at all: the unit has computed the result
)

// Execute answers for an instruction with these operands. The operation has a rule. The
// result that the unit has computed is to be taken modulo the slot's width; that of a
// comparison is 1 or 0.
func (u *Unit) Execute(op *Operation, src []Operand, m uint32) (Value, Execution) {
	if !u.HasCompactOperands(op, src, m) {
		return Value{}, PerLane
	}
	var v [4]Value
	strides, unseen := uint64(0), u.unselectedOperand(op, src)
	for i := range src {
		if i != unseen {
			v[i] = src[i].Value
			strides |= src[i].Stride
		}
	}
	if strides == 0 {
		return Value{}, Scalar
	}
	return u.apply(op, v, m)
}

// HasCompactOperands reports whether all that an instruction looks at of its operands is compact. A
// selection does not look at what it leaves out.
func (u *Unit) HasCompactOperands(op *Operation, src []Operand, m uint32) bool {
	unseen := u.unselectedOperand(op, src)
	for i := range src {
		if src[i].Lanes&m != m && i != unseen {
			return false
		}
	}
	return true
}

// unselectedOperand is the operand that a selection leaves out; -1 if it is none.
func (u *Unit) unselectedOperand(op *Operation, src []Operand) int {
	switch {
	case !u.isSelection(op):
		return -1
	case src[2].Base == 0:
		return 0
	}
	return 1
}

// isSelection reports whether the instruction is a selection that the unit does by the rule.
func (u *Unit) isSelection(op *Operation) bool {
	return op.Rule == ptx.AffineSelect && u.Rules.Has(ptx.AffineSelect)
}

// apply answers by the instruction's rule, if the policy has it.
func (u *Unit) apply(op *Operation, v [4]Value, m uint32) (Value, Execution) {
	r := &u.Table[op.Rule]
	if narrow, ok := u.NarrowRules[op.Rule]; ok {
		r = &narrow
	}
	if !u.Rules.Has(op.Rule) {
		return Value{}, PerLane
	}
	u.args = Args{*op, v, firstLane(m), lastLane(m)}
	d, ok := r.Execute(&u.args)
	if !ok || !u.Allows(d, int(op.Slot)) {
		return Value{}, PerLane
	}
	u.Applied++
	return d, CompactResult
}

// firstLane and lastLane are the lowest and the highest lane of m.
func firstLane(m uint32) int { return bits.TrailingZeros32(m) }
func lastLane(m uint32) int  { return 31 - bits.LeadingZeros32(m) }
