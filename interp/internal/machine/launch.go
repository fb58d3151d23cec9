package machine

// This file defines the input of the machine: a launch and its device.

import (
	"io"
	"time"

	"gemu/affinetrack"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// Device has the properties and the memory of a device that launches need. It runs one grid at a time. Grids that take turns
// may be in flight together.
type Device struct {
	Number uint64 // number among the devices of the process, from 1 on
	Memory *mem.Map
	Heap   uint64 // maximum size of the heap of device-side malloc, in bytes
	Stack  int    // maximum local memory of a thread, in bytes

	Tolerance   probe.Tolerance        // faults after which kernels continue
	OnTolerated func(*probe.Tolerated) // called for each tolerated fault at the end of the launch; may be nil
	HostMemory  uint64                 // maximum host memory of the CTAs in flight, in bytes
	Stdout      io.Writer              // output of kernels; may be nil
	SM          int                    // compute capability whose tensor-core addition is modelled: 90 is 9.0
	Probes      []probe.Probe          // probes of all launches, and of memory operations of the host
	Objects     Objects                // textures, surfaces and samplers

	// EnterWorker is called by each goroutine that runs CTAs of an observed launch, except the goroutine of the launch. The
	// goroutine calls leave at the end of its work. EnterWorker may be nil.
	EnterWorker func() (leave func())

	// HostGrace is the time during which a launch without progress waits for the host to change memory, before it is a
	// deadlock.
	HostGrace time.Duration

	HeapUsed uint64 // bytes of the heap in use
	Grids    uint64 // number of grids so far
	Current  *Grid  // the grid for which the parameter block and the constants of kernels are set; nil: none
	Reserved uint64 // host memory reserved by the grids in flight, in bytes
}

// Launch is a validated launch.
type Launch struct {
	Device        *Device
	SM            int     // compute capability
	Kernel        *Kernel // lowered for this launch
	Grid, Block   ptx.Dim3
	Cluster       ptx.Dim3 // CTAs of a cluster; the zero value: no clusters
	WarpSize      int
	Shared        uint64        // shared memory of a CTA, in bytes
	DynamicShared uint64        // part of Shared requested by the launch, in bytes
	MaxSteps      int64         // maximum number of instructions of a warp
	TimeLimit     time.Duration // maximum run time; 0: no limit
	Workers       int           // maximum number of goroutines that run CTAs
	Seed          uint64        // seed of the budgets of warps; 0: all warps have the same budget
	Cooperative   bool          // all CTAs are in flight at once
	Dispatch      []int         // linear indices of the clusters, or CTAs without clusters, in the order in which they begin; nil: ascending

	Mode           Mode
	Backend        Backend
	CompileEagerly bool // execute compactly wherever the rules allow it
	VerifyProofs   bool // check proofs about addresses at run time in every mode, in Go
	EagerEffects   bool // asynchronous effects happen where they are issued
	Reconverge     *Policy
	Rules          *affinetrack.Table
	Probes         []probe.Probe    // includes the probes of the device
	Order          *probe.HostOrder // order of host operations for Probes
}

// Mode is how a launch executes instructions.
type Mode uint8

// The modes.
const (
	// Check executes instructions as Affine does, and also on lanes, and compares the results.
	Check Mode = iota
	// Affine executes instructions on compact operands where the rules of package affinetrack allow it and it is faster, and
	// on lanes elsewhere.
	Affine
	// Vector executes all instructions on lanes.
	Vector
)

func (m Mode) String() string { return [...]string{"check", "affine", "vector"}[m] }

// FewLanes is the largest number of lanes of a warp for which compact execution costs more than it saves.
const FewLanes = 4

// Multiprocessors is the number of multiprocessors reported by the device.
const Multiprocessors = 16

// Maximum residency of a multiprocessor, over all compute capabilities (CUDA C++ Programming Guide, technical
// specifications).
const (
	residentThreads = 2048
	residentCTAs    = 32
	residentShared  = 228 << 10
	reservedShared  = 1 << 10 // part of residentShared that the system reserves for each CTA
)

// Resident returns the number of CTAs that can be resident on the device, for CTAs with the given number of threads and
// bytes of shared memory.
func Resident(threads, shared int) int {
	warps := (threads + 31) / 32
	return Multiprocessors * min(residentCTAs, residentThreads/32/warps, residentShared/(shared+reservedShared))
}
