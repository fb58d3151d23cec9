package interp

// This file names what a caller sees of the machine, which is package simt.

import (
	"errors"
	"fmt"
	"strings"

	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/interp/internal/simt"
	"gemu/interp/internal/structure"
)

// Dim3 is the extent of a grid or block, or an index into one.
type Dim3 = simt.Dim3

// Dim makes an extent; missing dimensions are 1.
func Dim(n ...int) Dim3 { return simt.Dim(n...) }

// Multiprocessors is how many the device claims to have.
const Multiprocessors = simt.Multiprocessors

// Mode is how a launch executes instructions.
type Mode = simt.Mode

// The modes.
const (
	// Check executes as Affine does and beside it on vectors, and compares.
	Check = simt.Check
	// Affine executes on compact operands where the rules of package affinetrack allow
	// it and it pays, and on vectors elsewhere.
	Affine = simt.Affine
	// Vector executes on vectors only.
	Vector = simt.Vector
)

// Modes are the modes by name.
var Modes = map[string]Mode{"check": Check, "affine": Affine, "vector": Vector}

// Tolerance is a set of faults after which a kernel goes on, as it does on a GPU; Tolerated is an instruction that has.
type (
	Tolerance = mem.Tolerance
	Tolerated = simt.Tolerated
)

// The faults that may be tolerated.
const (
	Strict        = mem.Strict // none
	WMMAAlignment = mem.WMMAAlignment
	SharedUnit    = mem.SharedUnit
)

// Tolerances are all faults that may be tolerated, with their names; ParseTolerance reads such names.
var Tolerances = mem.Tolerances

// ParseTolerance reads names of Tolerables that are separated by commas; "" is none. The error lists the names.
func ParseTolerance(names string) (Tolerance, error) { return mem.ParseTolerance(names) }

// Backend executes the code of warps. Programs do and count the same on all.
type Backend = simt.Backend

// Portable is the backend in Go, which every host has; Native that of machine code, nil where the host
// is neither an x86-64 processor with AVX2 nor an arm64 one under Linux.
var (
	Portable = simt.Portable
	Native   = simt.Native
)

// Engines are the names of EngineNamed, the default first.
var Engines = []string{"auto", "portable", "native"}

// EngineNamed is the backend of a name; auto is native where the host has that, and else portable. An error says that the host does not have it.
func EngineNamed(name string) (Backend, error) {
	switch {
	case name == "portable" || (name == "" || name == "auto") && Native == nil:
		return Portable, nil
	case name == "" || name == "auto":
		return Native, nil
	case name != "native":
		return nil, fmt.Errorf("want %s", strings.Join(Engines, ", "))
	case Native == nil:
		return nil, errors.New("there is no machine code for this host: that takes Linux on x86-64 with AVX2, BMI2 and FMA, or on arm64; the engine portable runs anywhere")
	}
	return Native, nil
}

// NativeUnavailable says why the host does not execute machine code that the engine native makes; nil if it does, or if there is no
// such engine for it. Launches run in Go then.
func NativeUnavailable() error {
	if Native == nil {
		return nil
	}
	return native.Executable()
}

// WhyNotNative says why Go executes a launch on a device whose backend is Native, in words for people; "" if machine code executes it.
// Results are the same. Machine code runs launches that nobody watches, on a host that lets the process execute it, while no memory
// is mapped that may fault.
func (d *Device) WhyNotNative(l *Launch) string {
	if err := NativeUnavailable(); err != nil {
		return fmt.Sprintf("the host refuses to execute memory that the process has written (%v)", err)
	}
	if len(d.cfg.Probes) > 0 || len(l.Probes) > 0 || l.Structure || l.Drive != nil {
		return "launches that are watched (by statistics, profiles, traces, sanitizers, models or the debugger) run in Go"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mem.MayFault() {
		return "launches run in Go while memory is mapped that may fault (registered, created with cuMemCreate, or of another process)"
	}
	return ""
}

// Reconverger is a reconvergence policy: which lanes of a warp run next where they have
// diverged, and where they run together again. Programs whose result does not depend on
// it compute the same under all.
type Reconverger = simt.Reconverger

// Reconvergers are the policies, the default first.
var Reconvergers = simt.Reconvergers

// SplitPlace is a warp split that can run next: see NewReconverger.
type SplitPlace = simt.SplitPlace

// NewReconverger makes a reconvergence policy, for Launch.Reconverge. Where lanes of a warp have diverged, the warp split that is
// first by the order runs up to its next basic block; warp splits that come to the same block in the same calls become one. Deeper
// calls run before shallower ones. The order decides alone how many lanes execute together, and whether lanes can wait for each
// other; whatever it is, a kernel without races between the lanes of a warp computes the same.
//
// before reports whether a runs before b. It must be a strict weak order that depends on its arguments alone. It is called from
// several goroutines at the same time.
func NewReconverger(name, doc string, before func(a, b SplitPlace) bool) *Reconverger {
	return simt.NewOrdered(name, doc, before)
}

// ReconvergerNamed is the policy with a name, nil if there is none.
func ReconvergerNamed(name string) *Reconverger { return simt.ReconvergerNamed(name) }

// Counts is what a launch counts. EngineCounts is its part about compact execution.
type (
	Counts       = simt.Counts
	EngineCounts = simt.EngineCounts
)

// Structure is the value structure that a launch, or several, found: what its
// instructions did under a policy. InstrStructure is one of them; Summary and Breakdown
// are the forms in which papers print it.
type (
	Structure      = structure.Structure
	InstrStructure = structure.InstrStructure
	Summary        = structure.Summary
	Breakdown      = structure.Breakdown
)

// Probe watches launches, a Sink a CTA of one; a Chooser is told of some instructions only, an Easer
// of fewer still where all is well. Wants says what it is told: Events, with the Values of registers, their Tags, the Access to memory; and, when a launch begins,
// LaunchInfo with the Program.
type (
	Probe         = simt.Probe
	EventSelector = simt.EventSelector
	EventReducer  = simt.EventReducer
	Saver         = simt.Saver
	Sink          = simt.Sink
	Subscription  = simt.Subscription
	Events        = simt.Events
	Event         = simt.Event
	Value         = simt.Value
	Tag           = simt.Tag
	LaneGroup     = simt.LaneGroup
	WaitState     = simt.WaitState
	Access        = simt.Access
	AddressRun    = simt.AddressRun
	Effect        = simt.Effect
	Texel         = simt.Texel
	Stored        = simt.Stored
	Segment       = simt.Segment
	AccessKind    = mem.AccessKind
	Allocation    = mem.Allocation
	Mapping       = mem.Mapping
	Pointer       = mem.Pointer
	LaunchInfo    = simt.LaunchInfo
	Program       = simt.Program
	Variable      = simt.Variable
	Location      = simt.Location
	WarpSplit     = simt.WarpSplit
)

// LaneList writes a set of lanes as ranges: "0-3,7".
func LaneList(lanes uint64) string { return simt.LaneList(lanes) }

// The windows of the generic address space: the generic address of offset x in shared memory is
// SharedWindow + x, that of offset x in local memory LocalWindow + x. In a cluster the shared
// memory of the CTA of rank r lies r<<RankShift higher, in generic addresses and those of .shared
// space. See docs/addresses.md.
const (
	SharedWindow = mem.SharedWindow
	LocalWindow  = mem.LocalWindow
	WindowSize   = mem.WindowSize // bytes of each
	ParamBase    = mem.ParamBase  // where the parameters of the kernel that runs lie
	RankShift    = mem.RankShift

	ReadOnly  = mem.ReadOnly // what may be true of memory of the host that is mapped
	Permanent = mem.Permanent

	FirstAddress = mem.FirstAddress // where device memory begins, unless Config.Base says otherwise: it lies above all windows
)

// Parts is what a PTX instruction is made of: Operations of the machine, each with its
// Operands. A Cell is where the engine has what one reads or writes.
type (
	Operations    = simt.Operations
	Operation     = simt.Operation
	OperationKind = simt.OperationKind
	Operand       = simt.Operand
	OperandKind   = simt.OperandKind
	Cell          = simt.Cell
)

// The kinds of operation, and of operand.
const (
	OperationOther   = simt.OperationOther   // it has nothing to do with values that are the same in all lanes
	OperationCompute = simt.OperationCompute // it computes lane by lane: Compute
	OperationRead    = simt.OperationRead    // reads a special register, or the address of a local variable
	OperationLoad    = simt.OperationLoad
	OperationStore   = simt.OperationStore
	OperationWarp    = simt.OperationWarp // one result for the lanes of a membermask, or for all

	NoOperand       = simt.NoOperand       // a result that nobody wants, an address without a register
	RowOperand      = simt.RowOperand      // a register, a temporary, the carry flag
	WideOperand     = simt.WideOperand     // a register of 128 bits, in Parts
	ConstantOperand = simt.ConstantOperand // Value
	FrameOperand    = simt.FrameOperand    // of a call: Bits of the function's local frame, from byte Row on
)

// Where a register is.
const (
	NoLocation       = simt.NoLocation       // nobody reads it any more, or yet
	RowLocation      = simt.RowLocation      // in a row of the register file; in affine mode perhaps only in the row's shadow
	ConstantLocation = simt.ConstantLocation // it has one value in the whole launch
)

// The kinds of access.
const (
	AccessLoad   = mem.Load
	AccessStore  = mem.Store
	AccessAtomic = mem.Atomic // both
)

// The kinds of events, with the fields of Event that say more.
const (
	OnLaunch    = simt.OnLaunch    // a launch begins: Launch
	OnLaunchEnd = simt.OnLaunchEnd // … ends, also one that could not begin: Err, and Trap if it is one. CTAs in flight then tell no ends
	OnCTA       = simt.OnCTA       // a CTA begins
	OnCTAEnd    = simt.OnCTAEnd    // … has ended
	OnWarp      = simt.OnWarp      // a warp begins: Lanes
	OnWarpEnd   = simt.OnWarpEnd   // … has ended

	// A warp is about to execute a PTX instruction, with the lanes of Lanes: Reads. All
	// instructions are told, whether they cost the engine anything or not. One in which all
	// lanes are held back by its guard is, too.
	OnBefore = simt.OnBefore
	// It is about to access memory: the last of Accesses. An instruction may do so several
	// times.
	OnAccess = simt.OnAccess
	// It is about to execute one of the operations that the instruction is made of, with the
	// lanes of Lanes, and has executed it: Operation, whose operands Source and Result find.
	// Nothing is told of instructions that lanes at different places execute together.
	OnOperation = simt.OnOperation
	OnResult    = simt.OnResult
	// It has executed the instruction: Reads, as they were, Accesses and Writes. One that ends a
	// block (a branch, a call, a barrier, an exit) has done all but move on: what comes of it
	// is told next. The results of a call come with OnReturn, those of a barrier with OnWake:
	// here Writes is what was there.
	OnAfter = simt.OnAfter
	// The instruction told of last has not happened: lanes that it waits for are elsewhere
	// (OnWait says which). It is told anew when they execute it.
	OnUndo = simt.OnUndo

	OnBranch     = simt.OnBranch     // lanes branch, those of Lanes to the target: Ways, one if they stay together
	OnSplit      = simt.OnSplit      // lanes that were together part: Ways
	OnReconverge = simt.OnReconverge // the lanes of Lanes are together again
	OnCall       = simt.OnCall       // the lanes of Lanes are in Callee now
	OnReturn     = simt.OnReturn     // … are back from it, behind the call: Writes
	OnWait       = simt.OnWait       // the lanes of Lanes wait at the instruction: Waits
	OnWake       = simt.OnWake       // … go on: Waits, Writes
	OnExit       = simt.OnExit       // the lanes of Lanes have ended

	// The engine has written a register that it holds compactly to lanes of its row: Lanes,
	// Expanded, Row; at a function's end Index is -1. This depends on the mode.
	OnMaterialise = simt.OnMaterialise

	OnTrap = simt.OnTrap // the CTA stops with a trap: Trap

	// An instruction of the texture unit is about to read texels, for the lanes of Lanes: Texels.
	OnTexels = simt.OnTexels

	// A lane issues an asynchronous operation, between OnBefore and OnAfter of its instruction, or
	// what it has issued is about to read or write memory, whatever its CTA or another of its
	// cluster is at then: Effect, and CTA, Warp, Lanes and Instr that have issued it.
	OnEffect = simt.OnEffect

	OnPrint = simt.OnPrint // the lane of Lanes is about to print an argument of vprintf: Memory, nil if it is local memory, Offset, Bytes

	OnAlloc     = simt.OnAlloc     // memory has been allocated, by the host or by malloc in the lane of Lanes: Memory
	OnFree      = simt.OnFree      // … is freed
	OnHostWrite = simt.OnHostWrite // the host has written: Memory, Offset, Bytes
	OnHostRead  = simt.OnHostRead  // the host reads

	AllEvents = simt.AllEvents
)

// HostOrder is where a launch, or what the host has a device do to memory, stands among the others.
type HostOrder = simt.HostOrder

// MbarrierPhase is how many phases the mbarrier of eight bytes has completed, modulo 4.
func MbarrierPhase(word uint64) uint64 { return simt.MbarrierPhase(word) }

// MbarrierCounts is the counts of the mbarrier of eight bytes, of either layout: arrivals that its phase
// still misses, arrivals that a phase expects, and its tx-count in bytes.
func MbarrierCounts(word uint64) (pending, expected uint64, tx int64) {
	return simt.MbarrierCounts(word)
}

// Kinds of allocations: what the host asks for, and what malloc gives.
const (
	BufferMemory = mem.Buffer
	HeapMemory   = mem.Heap
)

// Trap is a fault of the guest: what happened, to which lanes, where. Unwrap
// gives its kind.
type Trap = simt.Trap

// The kinds of guest fault, for errors.Is on the error of a launch.
var (
	ErrOutOfBounds   = simt.ErrOutOfBounds
	ErrMisaligned    = simt.ErrMisaligned
	ErrUseAfterFree  = simt.ErrUseAfterFree
	ErrWrongSpace    = simt.ErrWrongSpace
	ErrReadOnly      = simt.ErrReadOnly
	ErrExited        = simt.ErrExited
	ErrDeadlock      = simt.ErrDeadlock
	ErrKeptOut       = simt.ErrKeptOut
	ErrEndlessLoop   = simt.ErrEndlessLoop
	ErrStepLimit     = simt.ErrStepLimit
	ErrTimeLimit     = simt.ErrTimeLimit
	ErrTrap          = simt.ErrTrap
	ErrBreakpoint    = simt.ErrBreakpoint
	ErrAssert        = simt.ErrAssert
	ErrStackOverflow = simt.ErrStackOverflow
	ErrBadTarget     = simt.ErrBadTarget
	ErrBarrier       = simt.ErrBarrier
	ErrAsync         = simt.ErrAsync
	ErrMembermask    = simt.ErrMembermask
	ErrDivergent     = simt.ErrDivergent
	ErrMatrix        = simt.ErrMatrix
	ErrCTARank       = simt.ErrCTARank
	ErrHeap          = simt.ErrHeap
	ErrTexture       = simt.ErrTexture
	ErrSurface       = simt.ErrSurface
	ErrTensorMemory  = simt.ErrTensorMemory

	// ErrMismatch is no fault of the guest: in check mode, a compact result differs
	// from that of the vectors. It means that a rule of package affinetrack, or its
	// use, is wrong.
	ErrMismatch = simt.ErrMismatch
)
