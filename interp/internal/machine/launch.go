package machine

// This file is what the machine is given: a launch, and the device it is on.

import (
	"io"
	"time"

	"gemu/affinetrack"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// Device is what the machine knows of a device. It runs one grid at a time.
type Device struct {
	Memory *mem.Map
	Heap   uint64 // bytes that device-side malloc may hold
	Stack  int    // bytes of local memory that a thread may have

	TimeLimit   time.Duration          // that a launch may run; 0: no limit
	Tolerance   probe.Tolerance        // faults after which kernels go on
	OnTolerated func(*probe.Tolerated) // is given each of them as the launch ends, unless nil
	HostMemory  uint64                 // bytes of the host's memory that the CTAs in flight may take
	Workers     int                    // goroutines that run CTAs
	Stdout      io.Writer              // of what kernels print; may be nil
	SM          int                    // compute capability, by which tensor cores add: 90 is 9.0
	Probes      []probe.Probe          // of all launches, and of what the host does to memory
	Objects     Objects                // textures, surfaces and samplers

	// HostGrace is how long a launch that does not get on waits for others than its threads to change memory, before that
	// is a deadlock.
	HostGrace time.Duration

	HeapUsed uint64
	Grids    uint64 // there have been
}

// Launch is a launch that was found to be possible.
type Launch struct {
	Device        *Device
	Kernel        *Kernel // lowered as Lowering says
	Grid, Block   ptx.Dim3
	Cluster       ptx.Dim3 // CTAs of a cluster; the zero value: there are none
	WarpSize      int
	Shared        uint64 // bytes of shared memory of a CTA
	DynamicShared uint64 // of them those that the launch asks for
	MaxSteps      int64  // instructions a warp may execute
	Seed          uint64 // of the shares that warps have; 0: all have the same
	Cooperative   bool   // all CTAs are in flight at once

	Mode           Mode
	Backend        Backend
	CompileEagerly bool // keep compact whatever may be so
	VerifyProofs   bool // look in any mode whether addresses are as is proved of them; Go does
	EagerEffects   bool // asynchronous effects happen where they are issued
	Reconverge     *Policy
	Rules          *affinetrack.Table
	Probes         []probe.Probe    // those of the device included
	Order          *probe.HostOrder // for them
}

// Mode is how a launch executes instructions.
type Mode uint8

// The modes.
const (
	// Check executes as Affine does and beside it on vectors, and compares.
	Check Mode = iota
	// Affine executes on compact operands where the rules of package affinetrack allow
	// it and it pays, and on vectors elsewhere.
	Affine
	// Vector executes on vectors only.
	Vector
)

func (m Mode) String() string { return [...]string{"check", "affine", "vector"}[m] }

// FewLanes is how many lanes a warp may have for tags to cost more than they save.
const FewLanes = 4

// Multiprocessors is how many the device claims to have.
const Multiprocessors = 16

// What a multiprocessor of any compute capability holds at once at most (CUDA C++
// Programming Guide, technical specifications).
const (
	residentThreads = 2048
	residentCTAs    = 32
	residentShared  = 228 << 10
	reservedShared  = 1 << 10 // of it, by the system for each CTA
)

// Resident is how many CTAs of so many threads and bytes of shared memory the device
// holds at once.
func Resident(threads, shared int) int {
	warps := (threads + 31) / 32
	return Multiprocessors * min(residentCTAs, residentThreads/32/warps, residentShared/(shared+reservedShared))
}
