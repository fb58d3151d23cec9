// Package profile counts what the instructions of launches do: how often warps execute them and with
// how many lanes, where warps diverge, what memory they touch and in how many pieces a GPU would
// transfer it, how often lanes are in each other's way in shared memory, by which calls they were
// reached. It adds this up by line of the source, by loop and by function, and writes it as text for
// programs that show profiles: pprof, and timelines of trace events.
//
// A Probe watches launches through what package interp tells of them; Profile has what it has
// counted. All of it follows from addresses and lanes, by rules that docs/profile.md gives with
// their sources. Nothing is measured: there are no caches here, and no cycles.
package profile
