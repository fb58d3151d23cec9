package simt

// This file is what a reconvergence policy is. Each has a file of its own.

import (
	"fmt"
	"strings"

	"gemu/interp/internal/lower"
	"gemu/probe"
)

// Reconverger is a reconvergence policy: which lanes of a warp run next where they have
// diverged, and where they run together again. Programs whose result does not depend on
// it compute the same under all.
type Reconverger struct {
	Name string
	Doc  string // what it does, in a line

	new                  func() reconverger
	trapOnAbsentLanes    bool // a collective instruction whose lanes are elsewhere is a deadlock
	notifyEveryBlock     bool // warp splits may change at any block
	timeSliced           bool // warp splits take turns, so that lanes of a warp can wait for each other
	fallBackToTimeSlices bool // … once the launch would not go on otherwise
	waitAtExit           bool // lanes that have come to the kernel's end wait there for the others of the warp
	reconvergence        lower.Reconvergence
	alternatives         []string // names of the policies under which lanes of a warp can wait for each other
}

// Reconvergers are the policies, the default first.
var Reconvergers = withAlternatives([]*Reconverger{
	{
		Name: "auto", Doc: "as stack; with time slices when a launch makes no progress",
		new: func() reconverger { return new(auto) }, fallBackToTimeSlices: true, reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "stack", Doc: "the last warp split up to the branch's immediate post-dominator, then the one before",
		new: func() reconverger { return new(stack) }, trapOnAbsentLanes: true,
	},
	{
		Name: "stack-wait", Doc: "as stack, and lanes wait at the kernel's end for the others of the warp",
		new: func() reconverger { return new(stack) }, trapOnAbsentLanes: true, waitAtExit: true,
	},
	{
		Name: "its", Doc: "independent thread scheduling: all warp splits in time slices; they reconverge at immediate post-dominators",
		new: func() reconverger { return new(its) }, timeSliced: true, reconvergence: lower.UnlessWaiting,
	},
	{
		Name: "pc2", Doc: "the lowest address first, this iteration of a loop before the next",
		new: func() reconverger { return ordered{pc2{}} }, notifyEveryBlock: true, reconvergence: lower.Never,
	},
	{
		Name: "pc2-wait", Doc: "as pc2, and lanes wait at the kernel's end for the others of the warp",
		new: func() reconverger { return ordered{pc2{}} }, notifyEveryBlock: true, reconvergence: lower.Never, waitAtExit: true,
	},
	{
		Name: "frontier", Doc: "thread frontiers: the first in reverse postorder of the control flow",
		new: func() reconverger { return ordered{frontier{}} }, notifyEveryBlock: true, reconvergence: lower.Never,
	},
})

// withAlternatives enters in each policy the policies under which lanes of a warp can wait for each other.
func withAlternatives(policies []*Reconverger) []*Reconverger {
	var names []string
	for _, policy := range policies {
		if policy.letsLanesWait() {
			names = append(names, policy.Name)
		}
	}
	for _, policy := range policies {
		policy.alternatives = names
	}
	return policies
}

// ReconvergerNamed is the policy with a name, nil if there is none.
func ReconvergerNamed(name string) *Reconverger {
	for _, r := range Reconvergers {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Policy describes the policy to probes.
func (r *Reconverger) Policy() probe.ReconvergencePolicy {
	return probe.ReconvergencePolicy{
		Name: r.Name, Doc: r.Doc, LanesMayWait: r.letsLanesWait(), WaitsAtExit: r.waitAtExit, AtPostDominators: r.reconvergence != lower.Never,
	}
}

// letsLanesWait reports whether lanes of a warp can wait for each other under the policy.
func (r *Reconverger) letsLanesWait() bool { return r.timeSliced || r.fallBackToTimeSlices }

// advice names the policies for lanes of a warp that wait for each other.
func (r *Reconverger) advice() string {
	return fmt.Sprintf("reconvergence policy %s does not let lanes of a warp wait for each other there; %s do", r.Name, strings.Join(r.alternatives, " and "))
}

// reconverger is a policy at work on a warp. It decides which warp split runs next, and where
// lanes that have diverged meet again. It is told what becomes of the warp split that runs; the
// others are w.others, in an order that is its own.
type reconverger interface {
	// split sends the lanes of the running warp split to several blocks of its function,
	// each group to another; together they are its lanes. Their ways meet at block join.
	// One of the groups goes on now.
	split(w *warp, groups []laneGroup, join int32)

	// enter calls: the lanes of m go on in frame fr, the others of the running warp split
	// behind the call. That is where they meet.
	enter(w *warp, fr *frame, m uint64)

	// arrive is told that the running warp split has come to block w.pc, which is w.stop, or
	// any other while there are others and w.heeds is set; it came from block from of its function, if not by
	// a return.
	arrive(w *warp, from int32)

	// end is told that lanes of the running warp split, which no longer has them, have
	// ended.
	end(w *warp, lanes uint64)

	// expire is told that the running warp split has had its share, where warp splits take
	// turns.
	expire(w *warp)

	// next chooses one of the others that can run, when the running warp split has gone:
	// ended, or waiting. It reports whether there is one.
	next(w *warp) bool

	// releaseEarly lets lanes go on alone that wait for others where they meet. It is asked when
	// no warp split can run, and reports whether there were any.
	releaseEarly(w *warp) bool
}
