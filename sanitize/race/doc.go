// Package race finds data races (PTX manual, chapter 8): two unordered accesses by different threads to
// the same memory, at least one of them a write.
//
// A thread is a lane. Lockstep and reconvergence order the lanes of a warp only on targets before sm_70.
// Threads are ordered by: barriers of CTAs, warps and clusters; release and acquire, as fences or as
// qualifiers of accesses, within the scopes of both sides; mbarriers; the completion of asynchronous
// operations; the beginning and the end of launches. Two unordered accesses are no race if both are
// strong and within each other's scope (manual 8.8). The tool checks a single execution, byte by byte.
//
// The method is that of happens-before detectors with vector clocks and shadow memory:
//
//	event ──► run ──► sync.go     joins the clocks of threads that synchronise
//	           │
//	           ├────► backlog.go  defers accesses that cannot be in a race yet
//	           │          │ conflict
//	           └────► shadow.go   compares with the recorded accesses: cell = {written, read}
//	                      │ unordered
//	                      ▼
//	                  race.go     reportRace
//
// Read the files in this order: race.go (launches, CTAs, accesses, reports), clock.go (vector clocks),
// shadow.go (shadow memory and the happens-before test), sync.go (synchronising instructions), backlog.go
// (deferred accesses), history.go (accesses kept between launches).
package race
