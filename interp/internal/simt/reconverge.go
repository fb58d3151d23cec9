package simt

// This file is what a reconvergence policy is. Each has a file of its own.

import (
	"fmt"
	"strings"

	"gemu/interp/internal/lower"
)

// Reconverger is a reconvergence policy: which lanes of a warp run next where they have
// diverged, and where they run together again. Programs whose result does not depend on
// it compute the same under all.
type Reconverger struct {
	Name string
	Doc  string // what it does, in a line

	new    func() reconverger
	traps  bool // a collective instruction whose lanes are elsewhere is a deadlock
	heeds  bool // strands may change at any block
	shares bool // strands take turns, so that lanes of a warp can wait for each other
	mends  bool // … once the launch would not go on otherwise
	waits  bool // lanes that have come to the kernel's end wait there for the others of the warp
	keeps  lower.Keeps
}

// Reconvergers are the policies, the default first.
var Reconvergers = []*Reconverger{
	{
		Name: "auto", Doc: "as stack; where nothing would go on, ways take turns",
		new: func() reconverger { return new(auto) }, mends: true, keeps: lower.UnlessWaiting,
	},
	{
		Name: "stack", Doc: "the way taken last to the branch's immediate post-dominator, then the one before",
		new: func() reconverger { return new(stack) }, traps: true,
	},
	{
		Name: "stack-wait", Doc: "as stack, and lanes wait at the kernel's end for the others of the warp",
		new: func() reconverger { return new(stack) }, traps: true, waits: true,
	},
	{
		Name: "its", Doc: "independent thread scheduling: all ways in turn, to meet at immediate post-dominators",
		new: func() reconverger { return new(its) }, shares: true, keeps: lower.UnlessWaiting,
	},
	{
		Name: "pc2", Doc: "the lowest address first, this time round a loop before the next",
		new: func() reconverger { return ordered{pc2{}} }, heeds: true, keeps: lower.Never,
	},
	{
		Name: "pc2-wait", Doc: "as pc2, and lanes wait at the kernel's end for the others of the warp",
		new: func() reconverger { return ordered{pc2{}} }, heeds: true, keeps: lower.Never, waits: true,
	},
	{
		Name: "frontier", Doc: "thread frontiers: the first in reverse postorder of the control flow",
		new: func() reconverger { return ordered{frontier{}} }, heeds: true, keeps: lower.Never,
	},
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

// Progresses reports whether lanes of a warp can wait for each other under the policy.
func (r *Reconverger) Progresses() bool { return r.shares || r.mends }

// Waits reports whether lanes wait at the kernel's end for the others of their warp, so that what these
// execute is executed by part of the warp, as it is if lanes are elsewhere.
func (r *Reconverger) Waits() bool { return r.waits }

// Joins reports whether lanes that a branch has parted meet at its immediate
// post-dominator.
func (r *Reconverger) Joins() bool { return r.keeps != lower.Never }

// advice names the policies for lanes of a warp that wait for each other.
func (r *Reconverger) advice() string {
	var names []string
	for _, o := range Reconvergers {
		if o.Progresses() {
			names = append(names, o.Name)
		}
	}
	return fmt.Sprintf("reconvergence policy %s does not let lanes of a warp wait for each other there; %s do", r.Name, strings.Join(names, " and "))
}

// reconverger is a policy at work on a warp. It decides which strand runs next, and where
// lanes that have parted meet again. It is told what becomes of the strand that runs; the
// others are w.others, in an order that is its own.
type reconverger interface {
	// split sends the lanes of the running strand to several blocks of its function,
	// each group to another; together they are its lanes. Their ways meet at block join.
	// One of the groups goes on now.
	split(w *warp, groups []group, join int32)

	// enter calls: the lanes of m go on in frame fr, the others of the running strand
	// behind the call. That is where they meet.
	enter(w *warp, fr *frame, m uint64)

	// arrive is told that the running strand has come to block w.pc, which is w.stop, or
	// any other while there are others and w.heeds is set; it came from block from of its function, if not by
	// a return.
	arrive(w *warp, from int32)

	// end is told that lanes of the running strand, which no longer has them, have
	// ended.
	end(w *warp, lanes uint64)

	// expire is told that the running strand has had its share, where strands take
	// turns.
	expire(w *warp)

	// next chooses one of the others that can run, when the running strand has gone:
	// ended, or waiting. It reports whether there is one.
	next(w *warp) bool

	// part lets lanes go on alone that wait for others where they meet. It is asked when
	// no strand can run, and reports whether there were any.
	part(w *warp) bool
}
