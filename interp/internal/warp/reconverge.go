package warp

import (
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
)

// Reconvergers are the policies, the default first.
var Reconvergers = withAlternatives([]*machine.Policy{
	{
		Name: "auto", Doc: "as stack, but with time slices if the launch makes no progress",
		New: func() machine.Reconverger { return new(auto) }, FallBackToTimeSlices: true, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "stack", Doc: "the newest warp split runs up to the immediate post-dominator of its branch, then the split before it",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true,
	},
	{
		Name: "stack-wait", Doc: "as stack; at the end of the kernel, lanes wait for the other lanes of the warp",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true, WaitAtExit: true,
	},
	{
		Name: "its", Doc: "independent thread scheduling: all warp splits run in time slices, and reconverge at immediate post-dominators",
		New: func() machine.Reconverger { return new(its) }, TimeSliced: true, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "pc2", Doc: "the warp split at the lowest address runs first; in a loop, an earlier iteration before a later one",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	},
	{
		Name: "pc2-wait", Doc: "as pc2; at the end of the kernel, lanes wait for the other lanes of the warp",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never, WaitAtExit: true,
	},
	{
		Name: "frontier", Doc: "thread frontiers: the warp split that is first in reverse postorder of the control flow runs first",
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
