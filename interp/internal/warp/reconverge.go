package warp

import (
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
)

// Reconvergers are the policies, the default first.
var Reconvergers = withAlternatives([]*machine.Policy{
	{
		Name: "auto", Doc: "as stack; with time slices when a launch makes no progress",
		New: func() machine.Reconverger { return new(auto) }, FallBackToTimeSlices: true, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "stack", Doc: "the last warp split up to the branch's immediate post-dominator, then the one before",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true,
	},
	{
		Name: "stack-wait", Doc: "as stack, and lanes wait at the kernel's end for the others of the warp",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true, WaitAtExit: true,
	},
	{
		Name: "its", Doc: "independent thread scheduling: all warp splits in time slices; they reconverge at immediate post-dominators",
		New: func() machine.Reconverger { return new(its) }, TimeSliced: true, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "pc2", Doc: "the lowest address first, this iteration of a loop before the next",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	},
	{
		Name: "pc2-wait", Doc: "as pc2, and lanes wait at the kernel's end for the others of the warp",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never, WaitAtExit: true,
	},
	{
		Name: "frontier", Doc: "thread frontiers: the first in reverse postorder of the control flow",
		New: func() machine.Reconverger { return ordered{frontier{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	},
})

// withAlternatives stores in each policy the names of the policies where LetsLanesWait is true.
func withAlternatives(policies []*machine.Policy) []*machine.Policy {
	var names []string
	for _, policy := range policies {
		if policy.LetsLanesWait() {
			names = append(names, policy.Name)
		}
	}
	for _, policy := range policies {
		policy.Alternatives = names
	}
	return policies
}
