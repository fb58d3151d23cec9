package machine

// This file defines reconvergence policies. Package warp implements each in a file of its own.

import (
	"fmt"
	"strings"

	"gemu/interp/internal/lower"
	"gemu/probe"
)

// Policy is a reconvergence policy: the rule for the next warp split of a warp to run, and for the places where warp
// splits reconverge. A program whose result does not depend on the policy computes the same under every policy.
type Policy struct {
	Name string
	Doc  string // description, in one line

	New                  func() Reconverger
	TrapOnAbsentLanes    bool                // a collective instruction with absent lanes is a deadlock
	NotifyEveryBlock     bool                // Arrive is called at every block while warp splits wait
	TimeSliced           bool                // warp splits are time-sliced, to let lanes of a warp wait for each other
	FallBackToTimeSlices bool                // warp splits are time-sliced once the launch makes no progress without
	TimeSlice            int                 // length of a time slice in instructions, from 1 on, if warp splits can be time-sliced; otherwise 0
	ExactSlices          bool                // a time slice ends after exactly TimeSlice instructions; otherwise at the end of a block, so it may be longer
	WaitAtExit           bool                // lanes at the kernel's end wait there for the remaining lanes of the warp
	Reconvergence        lower.Reconvergence // when lanes are together at immediate post-dominators
	Alternatives         []string            // names of the policies for which LetsLanesWait returns true
}

// Policy describes the policy to probes.
func (r *Policy) Policy() probe.ReconvergencePolicy {
	return probe.ReconvergencePolicy{
		Name: r.Name, Doc: r.Doc, LanesMayWait: r.LetsLanesWait(), WaitsAtExit: r.WaitAtExit, AtPostDominators: r.Reconvergence != lower.Never,
	}
}

// LetsLanesWait reports whether lanes of a warp can wait for each other under the policy.
func (r *Policy) LetsLanesWait() bool { return r.TimeSliced || r.FallBackToTimeSlices }

// WithTimeSlice returns the policy with exact time slices of n instructions. The policy must be time-sliced.
func (r *Policy) WithTimeSlice(n int) *Policy {
	p := *r
	p.Name, p.Doc = fmt.Sprintf("%s:%d", r.Name, n), fmt.Sprintf("%s, with time slices of exactly %d instructions", r.Doc, n)
	p.TimeSlice, p.ExactSlices = n, true
	return &p
}

// Advice returns a text for traps that names the policies under which lanes can wait for each other.
func (r *Policy) Advice() string {
	return fmt.Sprintf("reconvergence policy %s does not let lanes of a warp wait for each other there; %s do", r.Name, strings.Join(r.Alternatives, " and "))
}

// Reconverger applies a policy to one warp. It decides which warp split runs next and where diverged lanes reconverge.
// Its methods are called with the changes of the running warp split. All other warp splits are in w.WaitingSplits, in
// an order chosen by the policy.
type Reconverger interface {
	// Split divides the running warp split into groups, each with another block of its function; together the groups
	// have all its lanes. They reconverge at block join. Exactly one group becomes the running split.
	Split(w *Warp, groups []BranchGroup, join int32)

	// Enter executes a call: the lanes of m continue in frame fr, the remaining lanes of the running warp split
	// continue after the call. They reconverge after the call.
	Enter(w *Warp, fr *Frame, m uint64)

	// Arrive is called when the running warp split has arrived at block w.PC: when this block is w.ReconvergeAt, and at
	// any block while warp splits wait and w.NotifyEveryBlock is set. from is the pc at which it was before; after a return,
	// and if it resumes there, w.PC itself.
	Arrive(w *Warp, from int32)

	// End is called when lanes of the running warp split have ended. The split no longer has them.
	End(w *Warp, lanes uint64)

	// Expire is called when the time slice of the running warp split is over.
	Expire(w *Warp)

	// Next makes a ready waiting split the running split, after the running split has ended or waits. It reports
	// whether there was a ready split.
	Next(w *Warp) bool

	// ReleaseEarly releases lanes from a reconvergence point without the missing lanes. It is called when no warp
	// split can run, and reports whether it released any lanes.
	ReleaseEarly(w *Warp) bool
}
