package probe

import (
	"fmt"
	"strings"
)

// Tolerance is a set of faults after which a kernel continues, as it does on a GPU.
type Tolerance uint8

// The faults that can be tolerated.
const (
	// WMMAAlignment is a wmma.load or wmma.store with less alignment than the manual requires. The address must still be aligned
	// to the widest single access of a lane.
	WMMAAlignment Tolerance = 1 << iota
	// SharedUnit is a load past the end of a CTA's shared memory that stays in its last allocation unit. The bytes past the end
	// are zero.
	SharedUnit

	// Strict tolerates no fault.
	Strict Tolerance = 0
)

// ToleranceInfo describes a fault that can be tolerated.
type ToleranceInfo struct {
	Tolerance
	// Name is the name on command lines.
	Name string
	// Doc is a one-sentence description.
	Doc string
	// Source is the rule that makes it a fault, and the reason why GPUs continue.
	Source string
}

var tolerances = [...]ToleranceInfo{
	{WMMAAlignment, "wmma-alignment", "wmma.load and wmma.store with less alignment than the manual requires",
		"PTX manual 9.7.14.4.2 requires each row or column to be aligned to the size of the whole fragment; on a GPU the widest single access of a lane is a few elements"},
	{SharedUnit, "shared-unit", "ld, ldmatrix and wmma.load past the end of a block's shared memory, up to the next multiple of 128 bytes (256 before sm_80), by which GPUs allocate it; they read zeros",
		"a GPU allocates shared memory in units (cuda_occupancy.h) and checks addresses against whole units"},
}

// AllTolerances is the set of all faults that can be tolerated.
const AllTolerances = WMMAAlignment | SharedUnit

// Tolerances returns the faults that can be tolerated.
func Tolerances() []ToleranceInfo { return append([]ToleranceInfo(nil), tolerances[:]...) }

// Has reports whether the set contains all faults of the other set.
func (t Tolerance) Has(other Tolerance) bool { return t&other == other }

// String returns the names, separated by commas.
func (t Tolerance) String() string {
	var names []string
	for _, k := range tolerances {
		if t.Has(k.Tolerance) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ",")
}

// ParseTolerance reads names of faults, separated by commas; "" is Strict. The error lists the valid names.
func ParseTolerance(s string) (t Tolerance, err error) {
	if s == "" {
		return Strict, nil
	}
next:
	for name := range strings.SplitSeq(s, ",") {
		for _, k := range tolerances {
			if k.Name == name {
				t |= k.Tolerance
				continue next
			}
		}
		return Strict, fmt.Errorf("unknown fault %q: the faults that can be tolerated are %v, separated by commas", name, AllTolerances)
	}
	return t, nil
}

// Tolerated is a fault that was tolerated at an instruction of a launch.
type Tolerated struct {
	// First is the trap that strict execution would report: in the first CTA with the fault, of its warp with the lowest index.
	First *Trap
	// Tolerance is the set of faults of First.
	Tolerance Tolerance
	// Count is the number of accesses with the fault: accesses of lanes, or of rows of a matrix in memory.
	Count int64
}

// Report returns the fault in several lines, as Trap.Report does.
func (t *Tolerated) Report() string {
	times := "once"
	if t.Count > 1 {
		times = fmt.Sprintf("%d times in all", t.Count)
	}
	return fmt.Sprintf("%s\n   tolerated (%v), %s", t.First.report("notice"), t.Tolerance, times)
}
