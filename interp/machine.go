package interp

// This file exports parts of package machine and the packages above it.

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

// Multiprocessors is the number of multiprocessors that the device reports.
const Multiprocessors = machine.Multiprocessors

// Mode is how a launch executes instructions.
type Mode = machine.Mode

// The modes.
const (
	// Check executes as Affine does, and again on vectors, and compares the results.
	Check = machine.Check
	// Affine executes on compact operands where the rules of package affinetrack allow
	// it and it pays, and on vectors elsewhere.
	Affine = machine.Affine
	// Vector executes on vectors only.
	Vector = machine.Vector
)

// Modes are the modes by name.
var Modes = map[string]Mode{"check": Check, "affine": Affine, "vector": Vector}

// Backend executes the code of warps. All backends give the same results and counts.
type Backend = machine.Backend

// Portable is the backend in Go, for every host. Native is the backend in machine code; nil unless the host has Linux and
// an arm64 processor, or an x86-64 processor with AVX2.
var (
	Portable = warp.Portable
	Native   = exchange.Native
)

// Engines has the names for EngineNamed, the default first.
var Engines = []string{"auto", "portable", "native"}

// EngineNamed returns the backend with a name; auto means native if the host has it, otherwise portable. The error means that
// the name is unknown or the host does not have the backend.
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

// NativeUnavailable returns the reason why the host refuses to execute the native engine's machine code; nil if it executes
// it, or if the host has no native engine. Without machine code, launches run in Go.
func NativeUnavailable() error {
	if Native == nil {
		return nil
	}
	return native.Executable()
}

// WhyNotNative returns the reason, for users, why Go executes a launch on a device whose backend is Native; "" if machine code
// executes it. The results are the same. Machine code runs launches without probes, on a host that allows the process to
// execute it, while no memory is mapped that may fault.
func (d *Device) WhyNotNative(l *Launch) string {
	if err := NativeUnavailable(); err != nil {
		return fmt.Sprintf("the host refuses to execute memory that the process has written (%v)", err)
	}
	if len(d.cfg.Probes) > 0 || len(l.Probes) > 0 || l.Structure || l.Drive != nil {
		return "launches that are watched (by statistics, profiles, traces, sanitizers, models or the debugger) run in Go"
	}
	if d.mem.MayFault() {
		return "launches run in Go while memory is mapped that may fault (registered, created with cuMemCreate, or of another process)"
	}
	return ""
}

// Reconverger is a reconvergence policy: it selects the warp split that runs next, and the places where warp splits
// reconverge. Programs whose result does not depend on it give the same result under all policies.
type Reconverger = machine.Policy

// Reconvergers are the policies, the default first.
var Reconvergers = warp.Reconvergers

// SplitPlace is a warp split that can run next: see NewReconverger.
type SplitPlace = warp.SplitPlace

// NewReconverger makes a reconvergence policy for Launch.Reconverge. When a warp has diverged, the first warp split by the
// order runs up to its next basic block. Warp splits at the same block in the same calls become one. Deeper calls run
// before shallower ones. The order alone decides how many lanes execute together, and whether lanes can wait for other
// lanes. A kernel without races between the lanes of a warp has the same result under every order.
//
// before reports whether a runs before b. It must be a strict weak order that depends on its arguments alone. It is called from
// several goroutines at the same time. NewReconverger panics if before is nil.
func NewReconverger(name, doc string, before func(a, b SplitPlace) bool) *Reconverger {
	if before == nil {
		panic("interp: NewReconverger without an order")
	}
	return warp.NewOrdered(name, doc, before)
}

// ReconvergerNamed returns the policy with a name, nil if there is none.
func ReconvergerNamed(name string) *Reconverger { return warp.ReconvergerNamed(name) }

// Counts has the counts of a launch. EngineCounts is its part about compact execution.
type (
	Counts       = machine.Counts
	EngineCounts = machine.EngineCounts
)

// Structure is the value structure of any number of launches: the results of its instructions under a policy.
// InstrStructure is the structure of an instruction. Summary and Breakdown are the tables of the papers.
type (
	Structure      = structure.Structure
	InstrStructure = structure.InstrStructure
	Summary        = structure.Summary
	Breakdown      = structure.Breakdown
)

// Properties of mapped host memory.
const (
	ReadOnly  = mem.ReadOnly
	Permanent = mem.Permanent
)

// Mapping is a set of properties of mapped host memory.
type Mapping = mem.Mapping

// MbarrierPhase returns the number of phases that an mbarrier of eight bytes has completed, modulo 4.
func MbarrierPhase(word uint64) uint64 { return async.MbarrierPhase(word) }

// MbarrierCounts returns the counts of an mbarrier of eight bytes, of either layout: the arrivals that its phase still needs,
// the arrivals that a phase expects, and its tx-count in bytes.
func MbarrierCounts(word uint64) (pending, expected uint64, tx int64) {
	return async.MbarrierCounts(word)
}
