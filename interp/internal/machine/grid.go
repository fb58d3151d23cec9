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

const SliceParallel = 1 << 18 // first half

// Grid is a launch under way.
type Grid struct {
	Kernel      *Kernel
	Device      *Device
	Dim         ptx.Dim3 // CTAs
	ClusterDim  ptx.Dim3 // CTAs of a cluster
	ClusterSize int      // … how many
	Block       ptx.Dim3 // threads of a CTA
	NumCTAs     int      // CTAs

	Threads      int // of a CTA
	SharedLen    uint64
	SharedUnit   uint64 // bytes in multiples of which the device allocates it
	DynShared    uint64
	StackWords   int
	MaxSteps     int64
	Seed         uint64 // of schedules; 0: the usual one
	GridID       uint64
	Cooperative  bool            // all CTAs are in flight at once: a cooperative launch
	Workspace    *mem.Allocation // of one; nil otherwise
	CTAMemory    *mem.Allocation // the slices of all CTAs; nil if the kernel asks for none
	Stdout       io.Writer
	Workers      int
	InOrder      bool // because a probe wants events in one order
	EagerEffects bool // asynchronous effects happen where they are issued
	HostAtomics  bool // CTAs run in parallel, or others than the launch change memory: atomics on global memory must be the host's
	HostMayFault bool // there is memory of the host whose accesses may fault

	Mode         Mode
	VerifyProofs bool // it looks whether addresses are as is proved of them
	Backend      Backend
	Reconverge   *Policy
	FallenBack   bool       // warp splits take turns because the launch would not go on otherwise
	Reference    *Reference // of check mode, and for probes that are told of operations
	Rules        *affinetrack.Table

	Info             *probe.LaunchInfo
	Probes           []ProbeState
	MayPause         bool       // probes may pause the launch
	PauseRequested   bool       // one has asked for it
	Steps            int64      // of a launch in order that is watched: instructions that have begun; see Event.Step
	PauseStep        int64      // before which of them it pauses
	PoolContexts     bool       // contexts may be those of other launches
	NextCTAsInNative bool       // machine code may go from a CTA to the next
	ZeroRows         []code.Row // … whose warps begin with zeros in these rows
	Visited          []bool     // of a launch that may pause, by index: blocks that were begun; see Visited
	LastState        *State     // that was saved or restored last
	StateBytes       uint64     // bytes of CTAs in states

	Cancelled    atomic.Bool
	TimedOut     atomic.Bool   // the time limit was reached
	Elapsed      time.Duration // so far, without pauses; counted if there is a time limit
	_            [64]byte      // what all workers write in a line of its own
	Finished     atomic.Int64  // CTAs
	_            [64]byte
	LowestFailed atomic.Int64 // lowest index of a CTA that failed

	Mutex   sync.Mutex
	Pool    []*CTA
	Count   Counts
	Flights []Flight // by index
	Next    int      // index of the next CTA to be admitted
	Schedule
	Output    map[int][]byte
	Tolerated toleratedFaults // of CTAs that have ended, and are in no flight any more
}

// Flight is a CTA in flight. Those of a cluster are one behind the other, by rank.
type Flight struct {
	Index  int  // in the order in which CTAs begin: without clusters, the linear one
	CTA    *CTA // nil before it starts and after it has ended
	Status CTAStatus
	Count  Counts // once it has ended

	Tolerated toleratedFaults // once it has ended

	_ [64 - (6*8+unsafe.Sizeof(Counts{}))%64]byte // neighbours are other workers', and have lines of their own
}

// Clustered reports whether clusters are of more than one CTA.
func (g *Grid) Clustered() bool { return g.ClusterSize > 1 }

// Clusters is the grid of clusters.
func (g *Grid) Clusters() ptx.Dim3 {
	return ptx.Dim3{X: g.Dim.X / g.ClusterDim.X, Y: g.Dim.Y / g.ClusterDim.Y, Z: g.Dim.Z / g.ClusterDim.Z}
}

// ctaID is the index of the CTA that is somewhere in the order in which they begin: cluster by
// cluster, by rank.
func (g *Grid) CTAID(order int) ptx.Dim3 {
	k, c := g.Clusters().At(order/g.ClusterSize), g.ClusterDim.At(order%g.ClusterSize)
	return ptx.Dim3{X: k.X*g.ClusterDim.X + c.X, Y: k.Y*g.ClusterDim.Y + c.Y, Z: k.Z*g.ClusterDim.Z + c.Z}
}

// Schedule is where a launch is in its rounds.
type Schedule struct {
	Window      int           // CTAs that may be in flight
	Phase       RoundPhase    // of the round
	NextFlight  int           // in a half of a round: the flight that comes next
	EndedBefore int64         // CTAs that had ended when the round began
	IdleRounds  int           // rounds without one that ended
	Stall       StallDetector // in such rounds
	StuckSince  time.Time     // when it was first seen not to get on, since one has ended
}

// RoundPhase is a part of a round.
type RoundPhase uint8

const (
	BetweenRounds RoundPhase = iota
	ParallelHalf
	OrderedHalf
)

// ContextShape is what a context of a kernel's CTAs is made for. Launches of which it is the same can have each
// other's contexts.
type ContextShape struct {
	Mode       Mode
	Reconverge *Policy
	Rules      *affinetrack.Table
	Block      ptx.Dim3
	Shared     uint64
	Native     bool // check mode compares functions of the backend's own
}

// StallDetector finds out that a grid can never make progress: no CTA has changed
// memory, and the state of all threads is one they have been in before (Brent's
// cycle detection, one look per round).
type StallDetector struct {
	Seed       maphash.Seed
	Saved      uint64
	Power      int
	Steps      int
	LoopInstrs int // instructions per CTA of rounds that changed no memory, and ended in loops that may wait
}

// TimeSliced reports whether the warp splits of a warp do.
func (g *Grid) TimeSliced() bool { return g.Reconverge.TimeSliced || g.FallenBack }
