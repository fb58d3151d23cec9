// Package trace reads, writes and compares logs of launches. A log has a record for each warp instruction. Logs
// serve to compare runs of gemu with each other and with runs of other simulators.
//
// A log is a stream of entries:
//
//	Header
//	  Launch            for each launch
//	    Code …          its instructions
//	    CTA             for each CTA, in order
//	      Record …      its records
//	  End
//	Finish
//
// A log is written in one of three formats: Text has a line per entry; Binary has protocol buffers (trace.proto), each entry
// after its length, in zstd frames; Bare has the same protocol buffers without compression. Text and Binary logs end with an
// index. docs/trace.md describes the fields.
//
// A Recorder is the probe that records a log. A Writer writes entries of any origin. A Reader reads all
// formats. Compare returns the first difference of two logs. It compares the actions of each thread, so logs
// of machines with different warps can be equal. A log has no times and no contents of memory. It has the loaded and stored
// values, from which the final memory follows.
//
// Read the files in this order: entry.go and value.go (data), recorder.go, order.go and writer.go (recording),
// text.go, wire.go and encode.go (formats), reader.go and source.go (reading), compare.go and waiting.go (comparison),
// slice.go (origins of a value).
//
// Errors: errors in a log are of type *Error with its place (errors.As); ErrTruncated matches an incomplete
// log (errors.Is). Errors of the underlying reader or writer are returned unchanged.
//
// Concurrency: a Recorder is safe for concurrent launches. A Source is safe for concurrent use if its Open is.
// A Reader, a Writer and an Accesses belong to a single goroutine.
//
// Between versions of gemu, fields and entry types may be added, and texts of differences may change. A Reader reads
// all older versions of the format; the comment of Version says when the format's version changes.
package trace
