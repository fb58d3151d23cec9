package kim

import (
	"gemu/interp"
	"gemu/ptx"
)

// This file is what the units of the paper's machines take at least, from how often they are
// used: cycles that no schedule goes below. There are no latencies, no dependences and
// no misses, so that it says what affine execution takes off the busiest unit, and not how
// much of that is felt.

// Use is how often warps use the units of a machine.
type Use struct {
	Instructions int64
	Arithmetic   int64 // on the arithmetic units: integers, multiplications, floating point
	Special      int64 // on the unit for special functions
	Loads        int64
	Stores       int64 // and atomics
	Branches     int64 // conditional

	// Of these, what a policy has the affine unit do, in front of the lanes:
	AffineArithmetic int64 // comparisons left out
	AffineSpecial    int64
	Comparisons      int64
	Decided          int64 // branches
	UnitStride       int64 // loads at addresses that are affine and not uniform, as the policy has these
	Materialisations int64 // instructions that the lanes execute in addition
}

// ComputeUse counts the instructions of launches, under their policy. Instructions that are neither
// arithmetic nor memory take a place to issue and no unit.
func ComputeUse(s *interp.Structure) (u Use) {
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

// FGSIMT is the FG-SIMT engine of section 3.2: eight lanes, so that a warp's instruction takes a
// unit four cycles, and the affine unit of the control processor one; one instruction issues in a
// cycle; two arithmetic units, which do special functions as well, and one each for addresses,
// load data and store data; and the control processor waits for each conditional branch until
// the lanes have compared.
type FGSIMT struct {
	Arithmetic, Branches, Memory bool // affine execution of these: fgsimt+a, +ab, +abm
}

// Cycles is the least an execution takes.
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

// GPSIMT is one GP-SIMT engine of section 3.1, of so many lanes: two instructions issue in a cycle,
// of different warps, of which there are always enough; two arithmetic units, one for special
// functions and one for loads and stores, each taken for 32/Lanes cycles. With affine execution
// there are two affine units, one for each half of the warps, taken for one cycle.
type GPSIMT struct {
	Lanes  int
	Affine bool // gpsimt+abm
}

// Cycles is the least an execution takes.
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
