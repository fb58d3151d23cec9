package machine

// This file is what a reconvergence policy is. Each has a file of its own.

import (
	"fmt"
	"strings"

	"gemu/interp/internal/lower"
	"gemu/probe"
)

// Policy is a reconvergence policy: which lanes of a warp run next where they have
// diverged, and where they run together again. Programs whose result does not depend on
// it compute the same under all.
type Policy struct {
	Name string
	Doc  string // what it does, in a line

	New                  func() Reconverger
	TrapOnAbsentLanes    bool // a collective instruction whose lanes are elsewhere is a deadlock
	NotifyEveryBlock     bool // warp splits may change at any block
	TimeSliced           bool // warp splits take turns, so that lanes of a warp can wait for each other
	FallBackToTimeSlices bool // … once the launch would not go on otherwise
	WaitAtExit           bool // lanes that have come to the kernel's end wait there for the others of the warp
	Reconvergence        lower.Reconvergence
	Alternatives         []string // names of the policies under which lanes of a warp can wait for each other
}

// Policy describes the policy to probes.
func (r *Policy) Policy() probe.ReconvergencePolicy {
	return probe.ReconvergencePolicy{
		Name: r.Name, Doc: r.Doc, LanesMayWait: r.LetsLanesWait(), WaitsAtExit: r.WaitAtExit, AtPostDominators: r.Reconvergence != lower.Never,
	}
}

// LetsLanesWait reports whether lanes of a warp can wait for each other under the policy.
func (r *Policy) LetsLanesWait() bool { return r.TimeSliced || r.FallBackToTimeSlices }

// Advice names the policies for lanes of a warp that wait for each other.
func (r *Policy) Advice() string {
	return fmt.Sprintf("reconvergence policy %s does not let lanes of a warp wait for each other there; %s do", r.Name, strings.Join(r.Alternatives, " and "))
}

// Reconverger is a policy at work on a warp. It decides which warp split runs next, and where
// lanes that have diverged meet again. It is told what becomes of the warp split that runs; the
// others are w.others, in an order that is its own.
type Reconverger interface {
	// split sends the lanes of the running warp split to several blocks of its function,
	// each group to another; together they are its lanes. Their ways meet at block join.
	// One of the groups goes on now.
	Split(w *Warp, groups []BranchGroup, join int32)

	// enter calls: the lanes of m go on in frame fr, the others of the running warp split
	// behind the call. That is where they meet.
	Enter(w *Warp, fr *Frame, m uint64)

	// arrive is told that the running warp split has come to block w.pc, which is w.stop, or
	// any other while there are others and w.heeds is set; it came from block from of its function, if not by
	// a return.
	Arrive(w *Warp, from int32)

	// end is told that lanes of the running warp split, which no longer has them, have
	// ended.
	End(w *Warp, lanes uint64)

	// expire is told that the running warp split has had its share, where warp splits take
	// turns.
	Expire(w *Warp)

	// next chooses one of the others that can run, when the running warp split has gone:
	// ended, or waiting. It reports whether there is one.
	Next(w *Warp) bool

	// ReleaseEarly lets lanes go on alone that wait for others where they meet. It is asked when
	// no warp split can run, and reports whether there were any.
	ReleaseEarly(w *Warp) bool
}
