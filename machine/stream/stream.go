// Package stream records the memory requests of launches: for each warp, the lines and sectors of global and local memory that its
// instructions access, in its own order. A machine model decides when and where they happen.
//
// It records loads, stores, atomics and asynchronous copies. It does not record shared memory, constant memory, parameters, textures and
// surfaces.
package stream

import (
	"slices"

	"gemu/internal/coalesce"
	"gemu/probe"
	"gemu/ptx"
)

// LineBytes and SectorBytes are the sizes of a line, which has four sectors, and of a sector.
const (
	LineBytes   = coalesce.LineBytes
	SectorBytes = coalesce.SectorBytes
)

// Transaction is the part of a request that accesses a line.
type Transaction struct {
	Line    uint64 // number of the line: its address divided by LineBytes; local memory has lines from LocalLine on
	Sectors uint8  // accessed sectors, a bit each
	Whole   uint8  // sectors of which all bytes are accessed, a bit each
	Buffer  uint16 // index in Launch.Buffers
}

// LocalLine is the number of the first line of local memory. Local memory is interleaved: the same word of all lanes of a warp is
// contiguous (CUDA C++ Programming Guide, "Local Memory"). Each warp of a launch has its own lines.
const LocalLine = 1 << 50

// Request is the access of an instruction to lines.
type Request struct {
	Step     int64            // number of instructions that the warp has begun, with this one
	Instr    int32            // index of the instruction in the program of the launch
	Kind     probe.AccessKind // load, store or atomic
	BypassL1 bool             // the instruction reads from the L2: by a cache operator, a memory order, or as a bulk copy
	First    int32            // index of the first transaction in Warp.Transactions
	N        int32            // number of transactions
}

// Warp has the requests of a warp. The transactions of request r are Transactions[r.First:r.First+r.N].
type Warp struct {
	Requests     []Request     // in the order of execution
	Transactions []Transaction // of all requests
	Instructions int64         // number of instructions that the warp has begun
}

// CTA has the requests of a CTA.
type CTA struct {
	Index int    // index in the grid
	Warps []Warp // by index in the CTA
}

// Buffer is memory that requests access.
type Buffer struct {
	Name  string // name of the allocation as in messages; "local memory" for local memory
	Base  uint64 // first address; 0 for local memory
	Bytes uint64 // size; 0 for local memory
}

// Launch is a launch whose requests are recorded.
type Launch struct {
	*probe.LaunchInfo
	Buffers []Buffer // accessed memory so far; the order depends on the order in which CTAs run
}

// Consumer receives launches. A recorder calls its methods one at a time. CTAs arrive in the order of their indices.
type Consumer interface {
	// BeginLaunch begins a launch.
	BeginLaunch(l *Launch)
	// CTA passes a CTA that has ended.
	CTA(l *Launch, c *CTA)
	// EndLaunch ends a launch; err is the error that ended it. CTAs that had not ended by then have arrived with their requests so far,
	// or not at all.
	EndLaunch(l *Launch, err error)
}

// bypasses has the modifiers of instructions that read from the L2 (PTX ISA, "Cache Operators" and "Memory Consistency Model").
var bypasses = []string{"cg", "cv", "volatile", "relaxed", "acquire", "mmio"}

// readsFromL2 reports whether an instruction does not look for its data in the L1.
func readsFromL2(instr *ptx.Instr) bool { return slices.ContainsFunc(bypasses, instr.Has) }

// Consumers passes launches to several consumers.
type Consumers []Consumer

// BeginLaunch begins a launch.
func (list Consumers) BeginLaunch(l *Launch) {
	for _, c := range list {
		c.BeginLaunch(l)
	}
}

// CTA passes a CTA.
func (list Consumers) CTA(l *Launch, c *CTA) {
	for _, o := range list {
		o.CTA(l, c)
	}
}

// EndLaunch ends a launch.
func (list Consumers) EndLaunch(l *Launch, err error) {
	for _, c := range list {
		c.EndLaunch(l, err)
	}
}
