// Package barriers finds misuses of synchronisation: of barriers, membermasks, asynchronous copies and their
// waits, and mbarriers. It reports only misuses that do not trap, and that work elsewhere only by chance.
//
// newPlan determines the checks of each instruction before a launch. A cta then follows the events:
//
//	OnWait ──► arrive        OnWake ──► pass      barriers of the CTA (barriers.go, passed.go)
//	OnBefore ─► members      OnAfter ─► checkTogether     membermasks (members.go)
//	                         OnAfter ─► copies, completeGroups, accesses    shared memory (memory.go)
//	OnExit ──► exits, laneExits                   OnCTAEnd ─► finish
//
// Read the files in this order: barriers.go, plan.go, members.go, memory.go, passed.go (exits before
// barriers), cluster.go (shared memory of other CTAs).
package barriers
