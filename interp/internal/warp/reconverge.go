package warp

import (
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
)

// Reconvergers lists the reconvergence policies, the default first.
var Reconvergers = withAlternatives([]*machine.Policy{
	{
		Name: "auto", Doc: "as stack; if the launch makes no progress, all warp splits run in time slices",
		New: func() machine.Reconverger { return new(auto) }, FallBackToTimeSlices: true, TimeSlice: machine.DefaultTimeSlice, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "stack", Doc: "the newest warp split runs, up to the immediate post-dominator of its branch; then the warp split before it, as on GPUs before Volta",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true,
	},
	{
		Name: "stack-wait", Doc: "as stack; lanes that have ended wait for the other lanes of their warp, so that they exit together",
		New: func() machine.Reconverger { return new(Stack) }, TrapOnAbsentLanes: true, WaitAtExit: true,
	},
	{
		Name: "its", Doc: "all warp splits run in time slices, and reconverge at immediate post-dominators, as on GPUs since Volta (independent thread scheduling)",
		New: func() machine.Reconverger { return new(its) }, TimeSliced: true, TimeSlice: machine.DefaultTimeSlice, Reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "pc2", Doc: "the warp split at the lowest address runs; warp splits that have branched backwards wait until no other is left. Warp splits reconverge wherever they meet (FG-SIMT)",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	},
	{
		Name: "pc2-wait", Doc: "as pc2; lanes that have ended wait for the other lanes of their warp, so that they exit together",
		New: func() machine.Reconverger { return ordered{pc2{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never, WaitAtExit: true,
	},
	{
		Name: "frontier", Doc: "runs the warp split whose block is first in reverse postorder of the control-flow graph. Warp splits reconverge wherever they meet (thread frontiers)",
		New: func() machine.Reconverger { return ordered{frontier{}} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	},
})

// withAlternatives stores in each policy the names of the policies for which LetsLanesWait returns true.
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
