package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Policy says which compact values a machine can hold and what it can do with
// them.
type Policy struct {
	Name string
	Doc  string

	Rules  RuleSet             // the affine rules it has; any arithmetic on uniform operands executes once
	Narrow map[ptx.Affine]Rule // those it has in a narrower form than Rules

	StrideBits int  // strides are numbers of so many bits; 0: any
	PowerOfTwo bool // strides are powers of two, and divide the base
	Loads      Loads

	// Masked values stay compact under divergence, for the lanes that computed
	// them. Without it results of diverged or predicated instructions are expanded
	// (the single-ASRF scheme with lazy expansion, Kim et al. section 4.3).
	Masked bool

	// Ideal classifies by comparing the lanes of every operand and result: the
	// upper bound of any scheme.
	Ideal bool
}

// Loads says which loads have uniform results.
type Loads uint8

// The kinds of load.
const (
	NoLoads    Loads = iota
	ParamLoads       // of kernel parameters
	AnyUniform       // from any uniform address
)

// RuleSet is a set of affine rules.
type RuleSet uint32

// NewRuleSet makes a set.
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

// Policies are the known policies, the default first.
var Policies = []*Policy{
	{
		Name: "gemu", Doc: "the widest that is sound: every rule, any stride, compact values also under divergence, for the lanes that computed them",
		Rules: allRules, Loads: AnyUniform, Masked: true,
	},
	{
		Name: "kim", Doc: "Kim et al. 2013: add, subtract, multiply, shift and move on bases as wide as the register and 16-bit strides, any arithmetic on uniform operands, uniform values from parameters, affine branches and memory operations, lazy expansion after divergence",
		Rules: NewRuleSet(ptx.AffineMove, ptx.AffineAdd, ptx.AffineSub, ptx.AffineMul, ptx.AffineMad, ptx.AffineShl, ptx.AffineShr, ptx.AffineNeg, ptx.AffineConvert,
			ptx.AffineAddress, ptx.AffineCompare, ptx.AffineBranch, ptx.AffineLoad, ptx.AffineStore, ptx.AffineUniform),
		Narrow:     map[ptx.Affine]Rule{ptx.AffineShr: {FirstOperand, shrExact}},
		StrideBits: 16, Loads: ParamLoads,
	},
	{
		Name: "collange", Doc: "Collange et al. 2009: add, subtract, shift left and move on strides that are powers of two and divide the base, uniform values from parameters; no affine branches or memory operations",
		Rules:      NewRuleSet(ptx.AffineMove, ptx.AffineAdd, ptx.AffineSub, ptx.AffineShl, ptx.AffineConvert, ptx.AffineAddress, ptx.AffineUniform),
		PowerOfTwo: true, Loads: ParamLoads,
	},
	{
		Name: "ideal", Doc: "the upper bound: operands and results are classified by comparing their lanes",
		Rules: allRules, Loads: AnyUniform, Masked: true, Ideal: true,
	},
}

// PolicyByName finds a policy; nil if there is none.
func PolicyByName(name string) *Policy {
	for _, p := range Policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// unlimited reports whether the policy has all rules, and can hold all values.
func (p *Policy) unlimited() bool {
	return p.Rules == allRules && len(p.Narrow) == 0 && p.StrideBits == 0 && !p.PowerOfTwo
}

// Allows reports whether the policy can hold a value of a slot of so many bits.
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
