// Package record writes launches to files as tables of columns, and reads them. A recording has one row for each event of a
// launch: an executed warp instruction, a divergence, a reconvergence, a wait. It is the format that pages draw, that models of
// machines read, and that other languages map into memory. docs/recording.md describes every column.
//
//	header      8 bytes: name and version of the format
//	block       the names and types of all columns
//	block       up to 65,536 rows of one table
//	  column    constant, plain or differences, 1 to 8 bytes per value, perhaps deflated
//	  (further columns)
//	block       rows of another table, or further rows
//	(further blocks)
//	block       the directory: where the rows of each table are
//	trailer     16 bytes: where the directory is
//
// A table refers to rows of another table by their numbers:
//
//	arguments ──▶ variables
//	    │            ▲
//	    ▼            │
//	launches ──▶ instructions ──▶ (operands) ──▶ registers
//	    │              ▲
//	    ├──▶ blocks ───┘ ◄── edges
//	    └──▶ sources
//	    ▲              ▲
//	    └── events ────┘
//	          ▲
//	          └── groups, waits, calls, effects, traps, stack, results, accesses ──▶ values, allocations
//
// A Recorder is the probe that records. FromLog converts a log of package trace. A File reads a recording: it reads rows of any
// table, from any row on, without reading the other rows.
//
// The recording of a launch is the same, byte for byte, in every mode, with every engine and on any number of host cores.
//
// Read tables.go first (the rows), then recorder.go, log.go, writer.go and column.go (writing), file.go (reading).
//
// # Errors
//
// An error in a recording is an *Error with its place: find it with errors.As. A recording without its end, for example of a
// process that was killed, is no error: File.Complete is false, and its whole blocks can be read. Errors of the underlying
// writer and reader are returned unchanged.
//
// A File of an unknown origin takes memory in proportion to its size when it is opened; a call that reads it returns at most
// MaxReadBytes.
//
// # Concurrency
//
// A Recorder is safe for concurrent launches. A File is safe for concurrent use if its io.ReaderAt is. A Recorder
// is no probe.Saver: it cannot go back with a restored launch.
//
// # Compatibility
//
// Tables and columns may be added at any time: readers find columns by name, ignore unknown ones, and read a missing column as
// zeros. Version grows when a column changes its meaning, or when the layout of blocks changes; a reader refuses a newer version, and
// reads older versions.
package record
