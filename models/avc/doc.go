// Package avc models the Affine Vector Cache of Collange and Kouyoumdjian, "Affine Vector Cache for Memory Bandwidth
// Savings" (2011): the classes of vectors in private memory (section 3), and a cache that holds uniform and affine vectors
// as a base and a stride, next to a first-level cache for all further vectors (section 4).
//
// A [Recorder] is a probe. It classifies the loads and stores of warps in private (local) memory and records
// them. [Replay] runs the recorded warps, interleaved as on a multiprocessor, through caches of a [Config]. The
// interpretations of the paper's text are in docs/avc.md.
//
//	launch ──▶ Recorder ──▶ Kernel: accesses by warp ──▶ Replay(Schedule) ──▶ Caches: AVC, L1, memory ──▶ Outcome
//
// Every replay compares the loaded values with the stored values.
//
// Read classify.go (codes and classes), record.go, cache.go, replay.go. working.go is a separate probe: the registers that hold
// generic values at once before anything is spilled.
package avc
