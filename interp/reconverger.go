package interp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
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

// ReconvergerNamed returns the policy of a name, such as "stack" or "its:8"; nil if there is none. ParseReconverger says why.
func ReconvergerNamed(name string) *Reconverger {
	r, _ := ParseReconverger(name)
	return r
}

// MaxTimeSlice is the longest time slice of WithTimeSlice, in instructions.
const MaxTimeSlice = machine.MaxTimeSlice

// ParseReconverger returns the policy of a name: a policy of Reconvergers or of added, or such a policy with a time slice
// (WithTimeSlice), as in its:8. The error names the mistake and the choices.
func ParseReconverger(name string, added ...*Reconverger) (*Reconverger, error) {
	list := slices.Concat(reconvergers, added)
	for _, r := range list {
		if r.Name() == name {
			return r, nil
		}
	}
	base, slice, sliced := strings.Cut(name, ":")
	for _, r := range list {
		if !sliced || r.Name() != base {
			continue
		}
		n, err := strconv.Atoi(slice)
		if err != nil {
			return nil, fmt.Errorf("%q: the time slice %q is no number of instructions: want 1 to %d, as in %s:8", name, slice, MaxTimeSlice, base)
		}
		sliced, err := r.WithTimeSlice(n)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		return sliced, nil
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Name())
	}
	guess := notation.Nearest(base, names)
	if strings.EqualFold(base, "volta") {
		guess = "its"
	}
	if guess != "" {
		guess = fmt.Sprintf("; did you mean %s?", guess)
	}
	return nil, fmt.Errorf("there is no reconvergence policy %q%s The policies are %s, and its:N with time slices of N instructions", name, cmp.Or(guess, "."), strings.Join(names, ", "))
}

// WithTimeSlice returns the policy with time slices of n instructions, from 1 to MaxTimeSlice. Only a policy that runs all
// warp splits in time slices from the beginning has it: its. Its name is its:n. Each time slice has exactly n warp
// instructions, and a branch whose lanes diverge begins a new one; without WithTimeSlice, a time slice ends at the end of a
// basic block, after 256 instructions or more. The short time slices show how lanes interleave, and take longer to execute.
func (r *Reconverger) WithTimeSlice(n int) (*Reconverger, error) {
	p := r.orDefault()
	if p.ExactSlices || !p.TimeSliced {
		return nil, fmt.Errorf("reconvergence policy %s has no time slice to choose: only its has one, such as its:8", p.Name)
	}
	if n < 1 || n > MaxTimeSlice {
		return nil, fmt.Errorf("a time slice of %d instructions: want 1 to %d", n, MaxTimeSlice)
	}
	return &Reconverger{p.WithTimeSlice(n)}, nil
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
