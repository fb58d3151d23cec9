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
	return Unit{Policy: p, Table: t, fast: t == Rules && p.unlimited()}
}

// Fast reports whether fast forms stand for the table's rules: no policy limits them.
func (u *Unit) Fast() bool { return u.fast }

// Operand is a register as a machine keeps it, or a predicate as 0 or 1: the lanes of Held
// hold the Value, what others hold is not known.
type Operand struct {
	Value
	Held uint32
}

// Answer is how an instruction executes.
type Answer uint8

// The answers.
const (
	OnLanes Answer = iota // lane by lane
	Once                  // on single values, for operands are uniform; the result is everybody's
	Compact               // not at all: the unit has computed the result
)

// Execute answers for an instruction with these operands. The operation has a rule. The
// result that the unit has computed is to be taken modulo the slot's width; that of a
// comparison is 1 or 0.
func (u *Unit) Execute(op *Operation, src []Operand, m uint32) (Value, Answer) {
	if !u.Has(op, src, m) {
		return Value{}, OnLanes
	}
	var v [4]Value
	strides, unseen := uint64(0), u.unseen(op, src)
	for i := range src {
		if i != unseen {
			v[i] = src[i].Value
			strides |= src[i].Stride
		}
	}
	if strides == 0 {
		return Value{}, Once
	}
	return u.apply(op, v, m)
}

// Has reports whether all that an instruction looks at of its operands is compact. A
// selection does not look at what it leaves out.
func (u *Unit) Has(op *Operation, src []Operand, m uint32) bool {
	unseen := u.unseen(op, src)
	for i := range src {
		if src[i].Held&m != m && i != unseen {
			return false
		}
	}
	return true
}

// unseen is the operand that a selection leaves out; -1 if it is none.
func (u *Unit) unseen(op *Operation, src []Operand) int {
	switch {
	case !u.selects(op):
		return -1
	case src[2].Base == 0:
		return 0
	}
	return 1
}

// selects reports whether the instruction is a selection that the unit does by the rule.
func (u *Unit) selects(op *Operation) bool {
	return op.Rule == ptx.AffineSelect && u.Rules.Has(ptx.AffineSelect)
}

// apply answers by the instruction's rule, if the policy has it.
func (u *Unit) apply(op *Operation, v [4]Value, m uint32) (Value, Answer) {
	r := &u.Table[op.Rule]
	if narrow, ok := u.Narrow[op.Rule]; ok {
		r = &narrow
	}
	if !u.Rules.Has(op.Rule) {
		return Value{}, OnLanes
	}
	u.args = Args{*op, v, firstOf(m), lastOf(m)}
	d, ok := r.Execute(&u.args)
	if !ok || !u.Allows(d, int(op.Slot)) {
		return Value{}, OnLanes
	}
	u.Applied++
	return d, Compact
}

// firstOf and lastOf are the lowest and the highest lane of m.
func firstOf(m uint32) int { return bits.TrailingZeros32(m) }
func lastOf(m uint32) int  { return 31 - bits.LeadingZeros32(m) }
