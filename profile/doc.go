// Package profile counts the work of launches: executions and active lanes of instructions, divergence,
// memory transfers in sectors, and bank conflicts. It adds the counts up by source line, loop, function and call path, and
// writes them for pprof and as timelines of trace events.
//
// A Probe watches launches; its Profile is a tree of calls with the counts of each instruction. All counts are computed
// from addresses and active lanes, by the rules in docs/profile.md, which names their sources. Caches and cycles are not
// modelled.
//
// Read the files in this order: counts.go and profile.go (data), probe.go and memory.go (counting), loops.go,
// source.go, pprof.go and timeline.go (views).
//
// Errors: Profile.Err is the error of the first failed launch, as from interp.Module.Run, for errors.As and
// errors.Is. Functions with a writer return its error.
//
// Concurrency: a Probe and a Timeline are safe for concurrent launches. All other types are plain data.
//
// Between versions, counters may be added, and a rule may change where hardware proves it wrong. The names
// of counters in JSON keep their meaning.
package profile
