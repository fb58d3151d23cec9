package interp

// This file names what a caller sees of the machine, which is package simt.

import "gemu/interp/internal/simt"

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

// Reconverger is a reconvergence policy: which lanes of a warp run next where they have
// diverged, and where they run together again. Programs whose result does not depend on
// it compute the same under all.
type Reconverger = simt.Reconverger

// Reconvergers are the policies, the default first.
var Reconvergers = simt.Reconvergers

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
	Structure      = simt.Structure
	InstrStructure = simt.InstrStructure
	Summary        = simt.Summary
	Breakdown      = simt.Breakdown
)

// Observer watches launches, a Watcher one CTA of a launch. It is told of Events, the
// executions of an instruction by a warp, with the Values of registers.
type (
	Observer = simt.Observer
	Watcher  = simt.Watcher
	Event    = simt.Event
	Value    = simt.Value
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
	ErrDeadlock      = simt.ErrDeadlock
	ErrKeptOut       = simt.ErrKeptOut
	ErrEndlessLoop   = simt.ErrEndlessLoop
	ErrStepLimit     = simt.ErrStepLimit
	ErrTrap          = simt.ErrTrap
	ErrBreakpoint    = simt.ErrBreakpoint
	ErrAssert        = simt.ErrAssert
	ErrStackOverflow = simt.ErrStackOverflow
	ErrBadTarget     = simt.ErrBadTarget
	ErrBarrier       = simt.ErrBarrier
	ErrMembermask    = simt.ErrMembermask
	ErrCTARank       = simt.ErrCTARank
	ErrHeap          = simt.ErrHeap

	// ErrMismatch is no fault of the guest: in check mode, a compact result differs
	// from that of the vectors. It means that a rule of package affinetrack, or its
	// use, is wrong.
	ErrMismatch = simt.ErrMismatch
)
