package interp

// This file names what a caller sees of the machine, which is package machine and the packages above it.

import (
	"errors"
	"fmt"
	"strings"

	"gemu/interp/internal/async"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/interp/internal/structure"
	"gemu/interp/internal/warp"
)

// Multiprocessors is how many the device claims to have.
const Multiprocessors = machine.Multiprocessors

// Mode is how a launch executes instructions.
type Mode = machine.Mode

// The modes.
const (
	// Check executes as Affine does and beside it on vectors, and compares.
	Check = machine.Check
	// Affine executes on compact operands where the rules of package affinetrack allow
	// it and it pays, and on vectors elsewhere.
	Affine = machine.Affine
	// Vector executes on vectors only.
	Vector = machine.Vector
)

// Modes are the modes by name.
var Modes = map[string]Mode{"check": Check, "affine": Affine, "vector": Vector}

// Backend executes the code of warps. Programs do and count the same on all.
type Backend = machine.Backend

// Portable is the backend in Go, which every host has; Native that of machine code, nil where the host
// is neither an x86-64 processor with AVX2 nor an arm64 one under Linux.
var (
	Portable = warp.Portable
	Native   = exchange.Native
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
type Reconverger = machine.Policy

// Reconvergers are the policies, the default first.
var Reconvergers = warp.Reconvergers

// SplitPlace is a warp split that can run next: see NewReconverger.
type SplitPlace = warp.SplitPlace

// NewReconverger makes a reconvergence policy, for Launch.Reconverge. Where lanes of a warp have diverged, the warp split that is
// first by the order runs up to its next basic block; warp splits that come to the same block in the same calls become one. Deeper
// calls run before shallower ones. The order decides alone how many lanes execute together, and whether lanes can wait for each
// other; whatever it is, a kernel without races between the lanes of a warp computes the same.
//
// before reports whether a runs before b. It must be a strict weak order that depends on its arguments alone. It is called from
// several goroutines at the same time.
func NewReconverger(name, doc string, before func(a, b SplitPlace) bool) *Reconverger {
	return warp.NewOrdered(name, doc, before)
}

// ReconvergerNamed is the policy with a name, nil if there is none.
func ReconvergerNamed(name string) *Reconverger { return warp.ReconvergerNamed(name) }

// Counts is what a launch counts. EngineCounts is its part about compact execution.
type (
	Counts       = machine.Counts
	EngineCounts = machine.EngineCounts
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

// What may be true of memory of the host that is mapped.
const (
	ReadOnly  = mem.ReadOnly
	Permanent = mem.Permanent
)

// Mapping says what is true of memory of the host while it is mapped.
type Mapping = mem.Mapping

// MbarrierPhase is how many phases the mbarrier of eight bytes has completed, modulo 4.
func MbarrierPhase(word uint64) uint64 { return async.MbarrierPhase(word) }

// MbarrierCounts is the counts of the mbarrier of eight bytes, of either layout: arrivals that its phase
// still misses, arrivals that a phase expects, and its tx-count in bytes.
func MbarrierCounts(word uint64) (pending, expected uint64, tx int64) {
	return async.MbarrierCounts(word)
}
