package kim

import (
	"gemu/ptx"
	"gemu/structure"
)

// This file has lower bounds: the cycles that the units of the paper's machines need at least, from the number of
// their uses. No schedule is faster. Without latencies, dependences and misses the bounds show the saving of affine
// execution on the busiest unit, not its effect on the run time.

// Use counts the uses of a machine's units by warps.
type Use struct {
	Instructions int64 // instructions, each of which takes an issue slot
	Arithmetic   int64 // instructions of the arithmetic units: integers, multiplications, floating point
	Special      int64 // instructions of the unit for special functions
	Loads        int64 // loads, and texture accesses with the affine rule of loads
	Stores       int64 // stores and atomics
	Branches     int64 // conditional branches

	// Counts under a policy:
	AffineArithmetic int64 // arithmetic executed by the affine unit, without comparisons
	AffineSpecial    int64 // special functions executed by the affine unit
	Comparisons      int64 // comparisons executed by the affine unit; they are not in AffineArithmetic
	Decided          int64 // conditional branches decided by compact values
	UnitStride       int64 // loads at addresses that are affine and not uniform
	Materialisations int64 // materialised registers; each is an additional instruction on the lanes
}

// ComputeUse counts the instructions of launches under their policy. Instructions that are neither arithmetic nor
// memory take an issue slot but no unit.
func ComputeUse(s *structure.Structure) (u Use) {
	for i := range s.Instrs {
		instr := &s.Instrs[i]
		u.Instructions += instr.Execs
		u.Branches += instr.Branches
		u.Decided += instr.Decided
		u.Materialisations += instr.Materialisations
		switch instr.Form.Class {
		case ptx.ClassInt, ptx.ClassMul, ptx.ClassFP:
			u.Arithmetic += instr.Execs
			if instr.Form.Affine == ptx.AffineCompare {
				u.Comparisons += instr.Compact
			} else {
				u.AffineArithmetic += instr.Compact
			}
		case ptx.ClassSFU:
			u.Special += instr.Execs
			u.AffineSpecial += instr.Compact
		case ptx.ClassMemory, ptx.ClassTexture:
			if instr.Form.Affine == ptx.AffineLoad {
				u.Loads += instr.Execs
				u.UnitStride += instr.Addresses.Affine
			} else {
				u.Stores += instr.Execs
			}
		}
	}
	return u
}

// FGSIMT is the FG-SIMT engine of section 3.2. It has eight lanes, so an instruction of a warp takes a unit for four
// cycles; the affine unit of the control processor takes one cycle. One instruction issues in a cycle. There are two
// arithmetic units, which also execute special functions, and one unit each for addresses, load data and store data.
// The control processor waits for each conditional branch until the lanes have compared.
type FGSIMT struct {
	Arithmetic, Branches, Memory bool // affine execution of these instructions: fgsimt+a, +ab, +abm
}

// Cycles returns the lower bound of an execution.
func (m FGSIMT) Cycles(u Use) float64 {
	const occupied = 32 / 8
	lanes := u.Arithmetic + u.Special
	addresses := u.Loads + u.Stores
	waits := occupied * u.Branches
	if m.Arithmetic {
		lanes += u.Materialisations - u.AffineArithmetic - u.AffineSpecial
	}
	if m.Branches {
		lanes -= u.Comparisons
		waits -= (occupied - 1) * u.Decided
	}
	if m.Memory {
		addresses -= u.UnitStride
	}
	return float64(waits) + max(float64(u.Instructions), occupied*float64(lanes)/2, float64(occupied*addresses), float64(occupied*u.Loads), float64(occupied*u.Stores))
}

// GPSIMT is one GP-SIMT engine of section 3.1 with the given number of lanes. Two instructions of different warps
// issue in a cycle, and there are always enough warps. There are two arithmetic units, one unit for special functions
// and one for loads and stores, each taken for 32/Lanes cycles. Affine execution adds two affine units, one for each
// half of the warps, taken for one cycle.
type GPSIMT struct {
	Lanes  int  // lanes of a unit; must divide 32
	Affine bool // gpsimt+abm
}

// Cycles returns the lower bound of an execution.
func (m GPSIMT) Cycles(u Use) float64 {
	occupied := 32 / float64(m.Lanes)
	lanes, special, affine := u.Arithmetic, u.Special, int64(0)
	if m.Affine {
		affine = u.AffineArithmetic + u.AffineSpecial + u.Comparisons
		lanes += u.Materialisations - u.AffineArithmetic - u.Comparisons
		special -= u.AffineSpecial
	}
	return max(float64(u.Instructions)/2, occupied*float64(lanes)/2, occupied*float64(special), occupied*float64(u.Loads+u.Stores), float64(affine)/2)
}
