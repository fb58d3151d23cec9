// Package trace is the commit log of launches: what each warp instruction did, in writing. Other
// simulators, and other runs of this one, are compared with it.
//
// A log is a stream of entries: a Header; for each launch a Launch, its Code, the CTAs whole and in
// order, each with its Records, and an End; and a Finish. It is written as text, a line per entry, or
// as protocol buffers (trace.proto), each behind its length, in frames of zstd or bare. Either has
// an index at its end. docs/trace.md describes both, field by field.
//
// A Recorder is the probe that writes one, a Writer what any source of entries writes one with, a
// Reader reads either kind, and Compare finds the first difference of two. What is compared is what
// each thread has done, so logs of machines that group threads otherwise can be equal.
//
// It is not a record of timing, and has no contents of memory: what a store wrote and a load got is
// in it, and what memory has at the end follows.
package trace
