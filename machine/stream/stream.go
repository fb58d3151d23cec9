// Package stream records the memory requests of launches: for each warp, the lines and sectors of global and local memory that its
// instructions access, in its own order. A machine model decides when and where they happen. On demand it records each instruction
// of each warp, which a machine with a clock needs (Recorder.RecordInstructions).
//
// Requests are loads, stores, atomics and asynchronous copies. There are no requests for shared memory, constant memory, parameters, textures,
// surfaces, prefetches and discards.
package stream

import (
	"slices"

	"gemu/internal/coalesce"
	"gemu/machine/codec"
	"gemu/probe"
	"gemu/ptx"
)

// LineBytes and SectorBytes are the sizes of a line, which has four sectors, and of a sector.
const (
	LineBytes   = coalesce.LineBytes
	SectorBytes = coalesce.SectorBytes
)

// FirstLocalLine is the number of the first line of local memory in a machine, which numbers the lines of all resident warps.
const FirstLocalLine = 1 << 50

// Transaction is the part of a request that accesses a line.
type Transaction struct {
	Line    uint64 // number of the line: its address divided by LineBytes; in local memory, from the start of that of the warp
	Sectors uint8  // accessed sectors, a bit each
	Whole   uint8  // sectors of which all bytes are accessed, a bit each
	Bytes   uint8  // number of accessed bytes; bytes that several lanes access count once
	Buffer  uint16 // index in Launch.Buffers
	// Local means local memory. It is interleaved: the same word of all lanes of a warp is contiguous (CUDA C++ Programming Guide,
	// "Local Memory"). A machine decides where the local memory of a resident warp is.
	Local bool
}

// Request is the access of an instruction to lines.
type Request struct {
	Step     int64            // number of instructions that the warp has begun, with this one
	Instr    int32            // index of the instruction in the program of the launch
	Kind     probe.AccessKind // load, store or atomic
	BypassL1 bool             // the instruction reads from the L2: by a cache operator, a memory order, or as a bulk copy
	// KeepOutOfL1 means that a load that misses the L1 leaves no line there (.L1::no_allocate).
	KeepOutOfL1 bool
	First       int32 // index of the first transaction in Warp.Transactions
	N           int32 // number of transactions
}

// Meeting is the part of a warp in a completion of a barrier of its CTA: an arrival, a wait, or the end of the warp if the barrier
// completed because the warp had ended. The barrier completes when all warps have come to the meeting.
//
// The meetings of a CTA are those of an execution: a warp that waits goes on when the barrier completes, so no two meetings wait for each
// other.
type Meeting struct {
	Step   int64 // number of instructions that the warp has begun; its requests up to this step are before the meeting
	Number int32 // number in the CTA: warps with the same number meet
	Waits  bool  // the warp waits until the barrier completes
}

// Instruction is the execution of an instruction by a warp. Its requests are those whose Step is 1 + its index in Warp.Executed. A launch
// can have billions, so it is small.
type Instruction struct {
	Instr    int32  // index of the instruction in the program of the launch
	Passes   uint16 // passes over the banks of shared memory, or distinct words of constant memory, at most 65535
	Shared   bool   // the passes are over the banks of shared memory
	Requests uint8  // number of its requests, at most ManyRequests
}

// ManyRequests is the number of requests of an instruction with so many or more.
const ManyRequests = 255

// Warp has the requests of a warp. The transactions of request r are Transactions[r.First:r.First+r.N].
type Warp struct {
	Requests     []Request     // in the order of execution
	Transactions []Transaction // of all requests
	Contents     []Content     // by index in Transactions; empty unless the recorder records data
	Meetings     []Meeting     // at barriers of the CTA, in the order of execution
	Phases       []PhaseUse    // of mbarriers and of the barrier of the cluster, in the order of execution
	Arrivals     []Arrival     // of its asynchronous operations at mbarriers, by ascending Step
	Instructions int64         // number of instructions that the warp has begun
	Executed     []Instruction // these instructions, in their order; empty unless the recorder records instructions
}

// CTA has the requests of a CTA.
type CTA struct {
	Index    int      // index in the grid
	Warps    []Warp   // by index in the CTA
	Meetings int      // number of meetings at barriers
	Cluster  *Cluster // its cluster; the CTAs of a cluster have the same
}

// Buffer is memory that requests access.
type Buffer struct {
	Name  string // name of the allocation as in messages; "local memory" for local memory
	Base  uint64 // first address; 0 for local memory
	Bytes uint64 // size; 0 for local memory
}

// LineRange is lines from First up to End, which is not in the range.
type LineRange struct{ First, End uint64 }

// Encoder follows the registers of warps, and knows the encodings of those that a store writes (docs/compress-once.md).
type Encoder interface {
	// Subscription returns the events that the sinks of the encoder need.
	Subscription() probe.Subscription
	// CTA returns the sink of a CTA.
	CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) EncoderSink
}

// EncoderSink follows the registers of a CTA.
type EncoderSink interface {
	probe.Sink
	// Stored returns the encodings of the words that each lane stores with an access of an instruction (probe.OnAfter), whose event OnEvent has
	// received; the zero Registers if the store is not encoded.
	Stored(e *probe.Event, a *probe.Access) codec.Registers
}

// Launch is a launch whose requests are recorded.
type Launch struct {
	*probe.LaunchInfo
	// LocalLines is the number of lines of a warp's local memory: the frames of all functions of the program. Recursion can need more.
	LocalLines uint64
	Buffers    []Buffer // accessed memory so far; the order depends on the order in which CTAs run
	Memory     *Memory  // memory at the begin of the launch; nil unless the recorder records data
	// HostWrites are the lines that the host has written or allocated since the launch before began, in the order of the operations; none unless
	// the recorder records them (Recorder.RecordHostWrites).
	HostWrites []LineRange
	// UnknownPhases has the indices of executed instructions that test an mbarrier without a use of it, as a recording without uses has them.
	// Warps do not wait there.
	UnknownPhases map[int]bool
}

// Consumer receives launches. A recorder calls its methods one at a time, but several launches may be in progress. The CTAs of a launch
// arrive in the order in which they began (probe.LaunchInfo.CTAAt), and after all CTAs of their cluster have ended.
type Consumer interface {
	// BeginLaunch begins a launch.
	BeginLaunch(l *Launch)
	// CTA passes a CTA that has ended.
	CTA(l *Launch, c *CTA)
	// EndLaunch ends a launch; err is the error that ended it. After a trap, CTAs up to that of the trap have arrived, with their requests
	// so far.
	EndLaunch(l *Launch, err error)
}

// readsFromL2 reports whether an instruction does not look for its data in the L1 (PTX ISA, "Cache Operators" and "Memory Consistency
// Model"). The L1 may serve memory orders among the threads of a CTA.
func readsFromL2(instr *ptx.Instr) bool {
	ordered := (instr.Has("relaxed") || instr.Has("acquire")) && !instr.Has("cta")
	return ordered || slices.ContainsFunc([]string{"cg", "cv", "volatile", "mmio"}, instr.Has)
}

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
