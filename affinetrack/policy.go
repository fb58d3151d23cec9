package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Policy models a machine: the compact values that it can hold, and the operations on them that it supports.
type Policy struct {
	Name string // name on the command line (--policy)
	Doc  string // a line about the machine and its source

	Rules       RuleSet             // the affine rules of the machine
	Excluded    RuleSet             // the affine rules that the machine does not have: every rule is in Rules or in Excluded
	NarrowRules map[ptx.Affine]Rule // rules that are narrower than in the table

	// Instructions execute once on uniform operands if their rule is in Rules or Uniform, or their class in
	// UniformClasses.
	Uniform        RuleSet
	UniformClasses ClassSet // see Uniform

	StrideBits int   // width of strides in bits; 0 means any stride
	PowerOfTwo bool  // strides must be powers of two and divide the base
	Loads      Loads // loads with a uniform result

	// IndexOnly limits compact special registers to the indices and extents of blocks and threads.
	IndexOnly bool
	// UnitStride limits affine addresses to loads of 1, 2 or 4 bytes whose stride is their size.
	UnitStride bool

	// Masked keeps values compact under divergence, for the lanes that computed them. Without it, results of diverged
	// or predicated instructions are materialised (the single-ASRF scheme with lazy expansion, Kim et al. section 4.3).
	Masked bool

	// Ideal classifies by comparing the lanes of every operand and result: the upper bound of any scheme.
	Ideal bool
}

// Loads selects the loads with uniform results.
type Loads uint8

// The kinds of load.
const (
	NoLoads    Loads = iota
	ParamLoads       // loads of kernel parameters
	ConstLoads       // loads of kernel parameters and from uniform addresses of constant memory
	AnyUniform       // loads from any uniform address
)

// AllowsUniform reports whether a load from a uniform address of a space may have a uniform result. A load from local
// memory has none, because every thread has its own.
func (l Loads) AllowsUniform(space ptx.Space) bool {
	switch l {
	case ParamLoads:
		return space == ptx.Param
	case ConstLoads:
		return space == ptx.Param || space == ptx.Const
	}
	return l == AnyUniform
}

// RuleSet is a set of affine rules.
type RuleSet uint32

// NewRuleSet returns the set of the rules.
func NewRuleSet(rules ...ptx.Affine) RuleSet {
	s := RuleSet(0)
	for _, r := range rules {
		s |= 1 << r
	}
	return s
}

// Has reports whether the rule is in the set.
func (s RuleSet) Has(r ptx.Affine) bool { return s>>r&1 != 0 }

const allRules = ^RuleSet(0)

// ClassSet is a set of instruction classes.
type ClassSet uint32

// NewClassSet returns the set of the classes.
func NewClassSet(classes ...ptx.Class) ClassSet {
	s := ClassSet(0)
	for _, c := range classes {
		s |= 1 << c
	}
	return s
}

// Has reports whether the class is in the set.
func (s ClassSet) Has(c ptx.Class) bool { return s>>c&1 != 0 }

// Kim et al. 4.2: "Eligible instructions include addition, subtraction, multiplication, and shifts." In PTX these are
// also mad, moves (which figure 1 labels), and conversions between integer widths and address spaces, for 64-bit
// addresses. "The floating point unit only supports computation on uniform operands", so class FP executes once, and so
// does class Mul with multiplications that have no affine rule. "Affine memory operations are load instructions."
var (
	kimRules = NewRuleSet(ptx.AffineMove, ptx.AffineAdd, ptx.AffineSub, ptx.AffineMul, ptx.AffineMad, ptx.AffineShl, ptx.AffineShr,
		ptx.AffineConvert, ptx.AffineAddress, ptx.AffineBranch, ptx.AffineLoad)
	// Other arithmetic, logic, selections, stores, and operations of the whole warp are not eligible. Some policies have
	// comparisons, others do not.
	kimExcluded = NewRuleSet(ptx.AffineUniform, ptx.AffineDiv, ptx.AffineRem, ptx.AffineNeg, ptx.AffineAbs, ptx.AffineMin, ptx.AffineMax,
		ptx.AffineBfe, ptx.AffineNot, ptx.AffineAnd, ptx.AffineOr, ptx.AffineXor, ptx.AffineSelect, ptx.AffineStore, ptx.AffineWarp)
	compareRule = NewRuleSet(ptx.AffineCompare)
	kimUniform  = NewClassSet(ptx.ClassMul, ptx.ClassFP)
	// "Shift operations correspond to affine multiplication or division"; "if the uniform value
	// is greater than or less than all elements in the affine sequence".
	kimNarrow = map[ptx.Affine]Rule{ptx.AffineShr: {AffineOperands: FirstOperand, Apply: shrExact}, ptx.AffineCompare: {AffineOperands: OneFactor, Apply: compareRanges}}
)

// Policies lists the known policies, the default first.
var Policies = []*Policy{
	{
		Name: "gemu", Doc: "the widest sound policy: every rule, any stride; also compact values under divergence, for the lanes that computed them",
		Rules: allRules, Loads: AnyUniform, Masked: true,
	},
	{
		Name: "kim", Doc: "Kim et al. 2013: bases as wide as the register and strides of 16 bits; add, subtract, multiply, shift, move, compare, branch and load with affine operands; floating-point arithmetic with uniform operands; values loaded from parameters are uniform; lazy expansion after divergence",
		Rules: kimRules | compareRule, Excluded: kimExcluded, UniformClasses: kimUniform, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ParamLoads, IndexOnly: true,
	},
	{
		Name: "collange", Doc: "Collange et al. 2009: strides that are powers of two and divide the base; add, subtract, shift left and move with affine operands, but no branches or memory operations; values loaded from parameters are uniform",
		Rules: NewRuleSet(ptx.AffineMove, ptx.AffineAdd, ptx.AffineSub, ptx.AffineShl, ptx.AffineConvert, ptx.AffineAddress, ptx.AffineUniform),
		Excluded: NewRuleSet(ptx.AffineMul, ptx.AffineMad, ptx.AffineShr, ptx.AffineDiv, ptx.AffineRem, ptx.AffineBfe, ptx.AffineNeg, ptx.AffineNot, ptx.AffineAbs,
			ptx.AffineMin, ptx.AffineMax, ptx.AffineAnd, ptx.AffineOr, ptx.AffineXor, ptx.AffineSelect, ptx.AffineCompare, ptx.AffineLoad, ptx.AffineStore,
			ptx.AffineBranch, ptx.AffineWarp),
		Uniform: allRules, PowerOfTwo: true, Loads: ParamLoads,
	},
	{
		Name: "ideal", Doc: "the upper bound: operands and results are classified by comparing their lanes",
		Rules: allRules, Loads: AnyUniform, Masked: true, Ideal: true,
	},
}

// Variants lists other interpretations of the papers' machines.
var Variants = []*Policy{
	{
		Name: "kim-wide", Doc: "as kim, with any arithmetic on uniform operands",
		Rules: kimRules | compareRule, Excluded: kimExcluded, Uniform: allRules, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ParamLoads, IndexOnly: true,
	},
	{
		Name: "kim-const", Doc: "as kim-wide, with uniform values from constant memory",
		Rules: kimRules | compareRule, Excluded: kimExcluded, Uniform: allRules, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ConstLoads, IndexOnly: true,
	},
	{
		Name: "fgsimt", Doc: "the FG-SIMT machine of Kim et al. 2013: as kim, with branches on uniform values and loads with unit stride only",
		Rules: kimRules, Excluded: kimExcluded | compareRule, Uniform: compareRule, UniformClasses: kimUniform, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ParamLoads, IndexOnly: true, UnitStride: true,
	},
	{
		Name: "fgsimt-narrow", Doc: "as fgsimt, without floating-point arithmetic, because the control processor has only an integer unit",
		Rules: kimRules, Excluded: kimExcluded | compareRule, Uniform: compareRule, UniformClasses: NewClassSet(ptx.ClassMul), NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ParamLoads, IndexOnly: true, UnitStride: true,
	},
	{
		Name: "fgsimt-wide", Doc: "as fgsimt, with any arithmetic on uniform operands",
		Rules: kimRules, Excluded: kimExcluded | compareRule, Uniform: allRules, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ParamLoads, IndexOnly: true, UnitStride: true,
	},
	{
		Name: "fgsimt-const", Doc: "as fgsimt-wide, with uniform values from constant memory",
		Rules: kimRules, Excluded: kimExcluded | compareRule, Uniform: allRules, NarrowRules: kimNarrow,
		StrideBits: 16, Loads: ConstLoads, IndexOnly: true, UnitStride: true,
	},
}

// PolicyByName returns a policy or a variant; nil if there is none.
func PolicyByName(name string) *Policy {
	for _, list := range [][]*Policy{Policies, Variants} {
		for _, p := range list {
			if p.Name == name {
				return p
			}
		}
	}
	return nil
}

// AllowsScalar reports whether instructions of a rule and class execute once on uniform operands.
func (p *Policy) AllowsScalar(rule ptx.Affine, c ptx.Class) bool {
	return (p.Rules | p.Uniform).Has(rule) || p.UniformClasses.Has(c)
}

// AllowsIndex reports whether the value of a special register may be compact.
func (p *Policy) AllowsIndex(r ptx.SpecialReg) bool {
	return !p.IndexOnly || r <= ptx.NctaidZ
}

// IsVectorAccess reports whether the machine executes an access of size bytes at the affine address v as one vector
// access; slot is the width of the address in bits.
func (p *Policy) IsVectorAccess(rule ptx.Affine, v Value, slot, size int) bool {
	return !p.UnitStride || rule == ptx.AffineLoad && size <= 4 && signExtend(v.Stride, slot) == int64(size)
}

// isUnlimited reports whether the policy has all rules and can hold all values.
func (p *Policy) isUnlimited() bool {
	return p.Rules == allRules && len(p.NarrowRules) == 0 && p.StrideBits == 0 && !p.PowerOfTwo
}

// Allows reports whether the policy can hold a value of a slot with the given width in bits.
func (p *Policy) Allows(v Value, slot int) bool {
	s := signExtend(v.Stride, slot)
	if s == 0 {
		return true
	}
	if p.StrideBits > 0 && (s < -1<<(p.StrideBits-1) || s >= 1<<(p.StrideBits-1)) {
		return false
	}
	if p.PowerOfTwo {
		mag := uint64(max(s, -s))
		if bits.OnesCount64(mag) != 1 || v.Base&(mag-1) != 0 {
			return false
		}
	}
	return true
}
