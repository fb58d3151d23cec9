package interp

import (
	"slices"

	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
)

// Reconverger is a reconvergence policy: it selects the warp split that runs next, and the places where warp splits
// reconverge. Programs whose result does not depend on it give the same result under all policies. A policy does not change, and
// may be shared by launches and goroutines. Nil and the zero value are the default policy.
type Reconverger struct{ policy *machine.Policy }

// orDefault returns the machine's policy; the default policy for nil and the zero value.
func (r *Reconverger) orDefault() *machine.Policy {
	if r == nil || r.policy == nil {
		return warp.Reconvergers[0]
	}
	return r.policy
}

// reconvergers has the policies of the machine, the default first.
var reconvergers = func() (list []*Reconverger) {
	for _, p := range warp.Reconvergers {
		list = append(list, &Reconverger{p})
	}
	return list
}()

// Reconvergers returns the policies, the default first.
func Reconvergers() []*Reconverger { return slices.Clone(reconvergers) }

// ReconvergerNamed returns the policy of a name, such as "stack" or "its"; nil if there is none.
func ReconvergerNamed(name string) *Reconverger {
	for _, r := range reconvergers {
		if r.policy.Name == name {
			return r
		}
	}
	return nil
}

// Name returns the name of the policy.
func (r *Reconverger) Name() string { return r.orDefault().Name }

// Doc returns the description of the policy, in one line.
func (r *Reconverger) Doc() string { return r.orDefault().Doc }

// Properties returns the properties of the policy, as probes receive them.
func (r *Reconverger) Properties() probe.ReconvergencePolicy { return r.orDefault().Policy() }

// SplitPlace is a warp split that can run next: see NewReconverger.
type SplitPlace struct {
	// Block identifies the basic block at which the warp split is. Blocks at higher addresses have higher numbers.
	Block int
	// Order is the position of the block in the reverse postorder of the control flow of its function.
	Order int
	// Lanes is the set of lanes: bit i is lane i.
	Lanes uint64
}

// NewReconverger makes a reconvergence policy for Launch.Reconverge. When a warp has diverged, the first warp split by the order
// runs up to its next basic block. Warp splits at the same block in the same calls become one. Deeper calls run before
// shallower ones. The order alone decides how many lanes execute together, and whether lanes can wait for each other. A kernel
// without races between the lanes of a warp has the same result under every order.
//
// before reports whether a runs before b. It must be a strict weak order that depends on its arguments alone. It is called from
// several goroutines at the same time. NewReconverger panics if before is nil.
func NewReconverger(name, doc string, before func(a, b SplitPlace) bool) *Reconverger {
	if before == nil {
		panic("interp: NewReconverger without an order")
	}
	return &Reconverger{warp.NewOrdered(name, doc, func(a, b warp.SplitPlace) bool { return before(SplitPlace(a), SplitPlace(b)) })}
}
