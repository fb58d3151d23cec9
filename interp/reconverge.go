package interp

// This file is what a reconvergence policy is. Each has a file of its own.

// Reconverger is a policy: which lanes of a warp run next where they have diverged, and
// where they run together again.
type Reconverger struct {
	Name string
	Doc  string // a line

	new     func() reconverger
	gathers bool // lanes wait in collective instructions for those that are elsewhere
}

// Reconvergers are the policies, the default first.
var Reconvergers = []*Reconverger{
	{Name: "stack", Doc: "a stack of immediate post-dominators: the path taken last runs to where it meets the others", new: func() reconverger { return new(stack) }},
}

// reconverger decides which strand of a warp runs next, and where lanes that have
// parted meet again. It is told what becomes of the strand that runs; the others are
// w.others, in an order that is its own.
type reconverger interface {
	// start begins a CTA: w.strand is all lanes of the warp, there are no others.
	start(w *warp)

	// split sends the lanes of the running strand to several blocks of its function,
	// each group to another; together they are its lanes. Their ways meet at block join.
	// One of the groups goes on now.
	split(w *warp, groups []group, join int32)

	// enter calls: the lanes of m go on in frame fr, the others of the running strand
	// behind the call. That is where they meet.
	enter(w *warp, fr *frame, m uint64)

	// arrive is told that the running strand has come from block from to block w.pc,
	// which is w.stop, or any other while w.heed is set.
	arrive(w *warp, from int32)

	// end is told that lanes of the running strand, which no longer has them, have
	// ended.
	end(w *warp, lanes uint64)

	// next chooses one of the others that can run, when the running strand has gone:
	// ended, or waiting. It reports whether there is one.
	next(w *warp) bool

	// part lets lanes go on alone that wait for others where they meet. It is asked when
	// no strand can run, and reports whether there were any.
	part(w *warp) bool
}
