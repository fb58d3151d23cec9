package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Unit is the affine functional unit of a machine: rules, limited by a policy. Given an instruction, its operands and the
// lanes in which each is compact, a Unit decides how the instruction executes in the lanes of a mask. A Unit must not be
// used concurrently.
type Unit struct {
	*Policy
	Table *Table // rules; the policy excludes some of them

	// Applied counts the results computed by rules of the table, without the results of their fast forms (Rule.Fast).
	Applied int64

	fast bool // fast forms replace the table's rules
	args Args // arguments of the current rule; rules take a pointer, so a local variable would be allocated on the heap
}

// NewUnit returns a unit with the table's rules, limited by the policy.
func NewUnit(p *Policy, t *Table) Unit {
	return Unit{Policy: p, Table: t, fast: t == Rules && p.isUnlimited()}
}

// Fast reports whether fast forms replace the table's rules, which requires a policy without limits.
func (u *Unit) Fast() bool { return u.fast }

// Operand is a register, or a predicate as 0 or 1. The lanes in Lanes hold Value; the values of all other lanes are
// unknown.
type Operand struct {
	Value
	Lanes uint32 // set of lanes: bit i is lane i
}

// Execution is the way an instruction executes.
type Execution uint8

// The ways to execute.
const (
	PerLane       Execution = iota // lane by lane
	Scalar                         // once on single values, because the operands are uniform; the result applies to all lanes
	CompactResult                  // not at all: the unit has computed the result
)

// Execute decides how an instruction executes on the given operands. m is the set of executing lanes. The operation must
// have a rule in the table; if the policy excludes the rule, the result is PerLane. With CompactResult it returns the
// result, which the caller must truncate to the width of the destination. The result of a comparison is 1 or 0.
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

// HasCompactOperands reports whether all operands that the instruction reads are compact. A selection does not read the
// unselected operand.
func (u *Unit) HasCompactOperands(op *Operation, src []Operand, m uint32) bool {
	unseen := u.unselectedOperand(op, src)
	for i := range src {
		if src[i].Lanes&m != m && i != unseen {
			return false
		}
	}
	return true
}

// unselectedOperand returns the index of the operand that a selection does not select; -1 if the instruction is none.
func (u *Unit) unselectedOperand(op *Operation, src []Operand) int {
	switch {
	case !u.isSelection(op):
		return -1
	case src[2].Base == 0:
		return 0
	}
	return 1
}

// isSelection reports whether the instruction is a selection that the unit executes by its rule.
func (u *Unit) isSelection(op *Operation) bool {
	return op.Rule == ptx.AffineSelect && u.Rules.Has(ptx.AffineSelect)
}

// apply executes an instruction by its rule, if the policy has it.
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

// firstLane and lastLane return the lowest and the highest lane of m.
func firstLane(m uint32) int { return bits.TrailingZeros32(m) }
func lastLane(m uint32) int  { return 31 - bits.LeadingZeros32(m) }
