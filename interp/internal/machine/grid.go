package machine

import (
	"hash/maphash"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// ParallelInstrsPerCTA is the number of instructions that a CTA may execute in the parallel half of a round.
const ParallelInstrsPerCTA = 1 << 18

// Grid is a launch under way. Its embedded structs are groups of fields.
type Grid struct {
	Kernel *Kernel
	Device *Device
	Extents
	GridMemory
	Execution
	Observation
	ContextReuse
	Ending

	Mutex   sync.Mutex   // protects Output and Pool while workers run
	Count   probe.Counts // counts of the CTAs already removed from Flights; also of a failed CTA
	Flights []Flight     // ascending by Flight.Index
	Next    int          // index of the next CTA to be admitted
	Schedule
	Reserved  uint64          // host memory that the launch reserves for its CTAs in flight, in bytes: part of Device.Reserved
	Output    map[int][]byte  // printed text of ended CTAs by Flight.Index, until all CTAs before them have ended
	Tolerated toleratedFaults // tolerated faults of the CTAs already removed from Flights
}

// Extents are the extents of a launch.
type Extents struct {
	Dim         ptx.Dim3 // CTAs of the grid
	ClusterDim  ptx.Dim3 // CTAs of a cluster
	ClusterSize int      // number of CTAs of a cluster
	Block       ptx.Dim3 // threads of a CTA
	NumCTAs     int      // number of CTAs of the grid
	Threads     int      // number of threads of a CTA
}

// GridMemory is the memory that a launch has besides that of the device.
type GridMemory struct {
	SharedLen  uint64          // shared memory of a CTA in bytes
	SharedUnit uint64          // unit in which the device allocates shared memory, in bytes
	DynShared  uint64          // dynamic shared memory of a CTA in bytes
	StackWords int             // limit of local memory of a thread, in words of 4 bytes
	Workspace  *mem.Allocation // workspace of a cooperative launch; nil otherwise
	CTAMemory  *mem.Allocation // per-CTA memory of all CTAs (.minperctamemory); nil if the kernel has none
}

// Execution is how a launch executes.
type Execution struct {
	Mode             Mode
	VerifyProofs     bool // check proofs about addresses at run time
	Backend          Backend
	Reconverge       *Policy
	ForcedTimeSlices bool       // warp splits are time-sliced since the launch made no progress (Policy.FallBackToTimeSlices)
	Reference        *Reference // the kernel lowered to execute on lanes: for check mode, and for probes of operations
	Rules            *affinetrack.Table

	MaxSteps              int64  // instructions that a warp may execute
	Seed                  uint64 // seed of the budgets of warps; 0: all warps have the same budget
	GridID                uint64 // number of the launch on its device
	Cooperative           bool   // all CTAs are in flight at once: a cooperative launch
	Stdout                io.Writer
	Workers               int           // goroutines that run CTAs
	TimeLimit             time.Duration // maximum run time; 0: no limit
	InOrder               bool          // CTAs run in sequence, because a probe needs events in one order
	MatricesInMachineCode bool          // Go calls machine code for the products of matrices (native.Panels, native.Multiplication)
	EagerEffects          bool          // asynchronous effects happen where they are issued
	HostAtomics           bool          // atomics on global memory must be host atomics: CTAs run in parallel, or the host changes memory too
	CatchesFaults         bool          // machine code makes accesses that may fault on the host, and exits at a fault
	HostMayFault          bool          // an access within bounds may fault in Go: the owner of mapped memory may unmap or shrink it
}

// Observation is the state of probes, pauses and saved states.
type Observation struct {
	Info           *probe.LaunchInfo
	Probes         []ProbeState
	MayPause       bool   // probes may pause the launch
	PauseRequested bool   // a probe has requested a pause
	Turn           int    // number of turns on the device so far
	Steps          int64  // instructions begun so far; counted only if InOrder (see Event.Step)
	PauseStep      int64  // the step before which the launch pauses
	Visited        []bool // whether each block, by index, has begun since the last call of VisitedBlocks; nil unless MayPause
	LastState      *State // the state saved or restored last
	StateBytes     uint64 // bytes of CTAs in saved states
}

// ContextReuse says which contexts are used for further CTAs. A context is a CTA object with its registers and memory.
type ContextReuse struct {
	PoolContexts    bool       // contexts of earlier launches may be used again
	NativeContinues bool       // machine code may continue with the next CTA without an exit
	ZeroRows        []code.Row // register rows that machine code zeroes at the beginning of a warp; set if NativeContinues
	Pool            []*CTA     // idle contexts: no CTA of the launch uses them
}

// Ending is how a launch ends, and the progress of all workers towards it.
type Ending struct {
	Cancelled    atomic.Bool   // the launch must end, by request or because of the time limit
	TimedOut     atomic.Bool   // the time limit was reached
	Elapsed      time.Duration // run time without pauses; counted only with a time limit
	_            [64]byte      // gives this counter, written by all workers, a cache line of its own
	Finished     atomic.Int64  // number of ended CTAs
	_            [64]byte
	LowestFailed atomic.Int64 // lowest index of a failed CTA
}

// Flight is an admitted CTA. It is in Grid.Flights until it has ended and is removed between rounds. The CTAs of a cluster are
// consecutive, by rank.
type Flight struct {
	Index  int  // position in the order in which CTAs begin; the linear index, if there are neither clusters nor LaunchInfo.Dispatch
	CTA    *CTA // nil before it starts and after it has ended
	Status CTAStatus
	Count  probe.Counts // set when the CTA has ended

	Tolerated toleratedFaults // set when the CTA has ended

	_ [64 - (6*8+unsafe.Sizeof(probe.Counts{}))%64]byte // fills cache lines: other workers write the neighbours
}

// Clustered reports whether clusters have more than one CTA.
func (g *Grid) Clustered() bool { return g.ClusterSize > 1 }

// Clusters returns the dimensions of the grid in clusters.
func (g *Grid) Clusters() ptx.Dim3 { return g.Info.Clusters() }

// CTAID returns the ID of the CTA at a position in the order in which CTAs begin: cluster by cluster, by rank.
func (g *Grid) CTAID(order int) ptx.Dim3 { return g.Info.CTAAt(order) }

// Schedule is the progress of a launch through its rounds.
type Schedule struct {
	Window      int           // maximum number of CTAs in flight
	Phase       RoundPhase    // half of the round
	NextFlight  int           // index in Flights of the next CTA to run in this half of the round; kept when the launch pauses
	EndedBefore int64         // number of ended CTAs when the round began
	IdleRounds  int           // number of consecutive rounds in which no CTA ended
	Stall       StallDetector // detects a stall in idle rounds
	StuckSince  time.Time     // time of the first stall since a CTA has ended

	TakesTurns    bool // the launch yields the device after each round in which no CTA has ended
	Stalled       bool // only others can let the launch continue, by a change of memory; set only if TakesTurns
	MemoryChanged bool // the launch may have changed memory since it yielded last; has a meaning only if TakesTurns
}

// RoundPhase is a part of a round.
type RoundPhase uint8

const (
	BetweenRounds RoundPhase = iota
	ParallelHalf
	OrderedHalf
)

// ContextShape is the set of properties on which a context of a kernel's CTAs depends. Launches of the kernel with the same
// shape can use each other's contexts.
type ContextShape struct {
	Mode       Mode
	Reconverge *Policy
	Rules      *affinetrack.Table
	Block      ptx.Dim3 // threads of a CTA
	Shared     uint64   // shared memory of a CTA, in bytes
	Native     bool     // check mode compares the functions of the native engine with the portable ones
}

// StallDetector detects a permanent lack of progress in a grid: no CTA has changed memory, and the state of all
// threads has occurred before (Brent's cycle detection, with one comparison per round).
type StallDetector struct {
	Seed         maphash.Seed
	SavedHash    uint64 // hash of the state of an earlier round, with which the states of later rounds are compared
	RoundsToSave int    // number of rounds after which SavedHash is replaced, and this number doubled; 0: none saved
	Rounds       int    // rounds since SavedHash was set
	// LoopInstrs is the number of instructions that a CTA was permitted in consecutive rounds in which no memory changed and after
	// which all warps were in loops that may be spin-waits.
	LoopInstrs int
}

// TimeSliced reports whether the warp splits of a warp are time-sliced.
func (g *Grid) TimeSliced() bool { return g.Reconverge.TimeSliced || g.ForcedTimeSlices }
