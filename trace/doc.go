// Package trace reads, writes and compares logs of launches. A log has a record for each warp instruction. It
// serves to compare runs of gemu with each other and with other simulators.
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
// It is text, a line per entry; or protocol buffers (trace.proto), each entry after its length, in zstd frames or
// uncompressed. All logs but uncompressed protocol buffers end with an index. docs/trace.md describes the fields.
//
// A Recorder is the probe that records a log. A Writer writes entries of any origin. A Reader reads all
// formats. Compare returns the first difference of two logs. It compares the actions of each thread, so logs
// of machines that group threads differently can be equal. A log has no times and no contents of memory;
// loaded and stored values are in it, and the final memory follows from them.
//
// Read the files in this order: entry.go and value.go (data), recorder.go, order.go and writer.go (recording),
// text.go and wire.go (formats), reader.go and source.go (reading), compare.go and waiting.go (comparison),
// slice.go (origins of a value).
//
// Errors: errors in a log are of type *Error with its place (errors.As); ErrTruncated matches an incomplete
// log (errors.Is). Errors of the underlying reader or writer are returned unchanged.
//
// Concurrency: a Recorder is safe for concurrent launches. A Source is safe for concurrent use if its Open is.
// A Reader, a Writer and an Accesses belong to a single goroutine.
//
// Between versions, fields and entry types may be added, and texts of differences may change. A Reader reads
// all older versions of the format; Version describes when it changes.
package trace
