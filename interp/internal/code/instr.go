package code

// This file defines the instruction. It has a fixed size and no pointers, so that it can be printed, compared, verified
// and translated. Data of variable size is in a side table.

// Instr is an instruction of lowered code. A PTX instruction becomes any number of instructions.
//
// Operands are rows of the register file: rows of 32-bit slots, rows of 64-bit slots or predicates, as the signature of
// Op says. A negative operand is a constant: the complement of an index into the constants of its slot. Vectors of
// registers and the arguments of calls are in side tables.
type Instr struct {
	Op   Op
	Plan ExecPlan

	// CountsSkipped makes the instruction count the lanes in which its guard does not hold. It is set for the first
	// instruction of a guarded PTX instruction, unless the PTX instruction ends a block.
	CountsSkipped bool

	Guard int32 // 0: none; p+1: executes in the lanes where predicate p holds; -(p+1): where it does not hold
	Side  int32 // index into the side table of Op
	Src   int32 // index of its PTX instruction in Program.Sources; -1: none

	D, F       int32  // results
	A, B, C, E int32  // sources
	Imm        uint64 // further data, as Op defines it
}

// Sources returns the source operands.
func (instr *Instr) Sources() [4]int32 { return [...]int32{instr.A, instr.B, instr.C, instr.E} }

// NoRow means that there is no operand: an unused result, an address without a register.
const NoRow = -1 << 31

// ExecPlan is the plan for an instruction in affine mode: how it executes, and the effect on the shadows of its
// operands.
type ExecPlan struct {
	Exec        Exec
	Materialise Operands // sources whose values may be only in their shadows
	LeavesStale bool     // execution on lanes leaves older values in the shadows of results
	WritesBoth  bool     // compact results are also written to their rows
}

// Operands is a set of source operands of an instruction.
type Operands uint8

// The source operands.
const (
	OperandA Operands = 1 << iota
	OperandB
	OperandC
	OperandE
	OperandList // operands in the side table
)

// Exec is the way an instruction executes.
type Exec uint8

// The ways to execute.
const (
	OnLanes        Exec = iota // as in vector mode
	Materialised               // on the lanes, after materialising compact operands
	CompactOne                 // a kernel with a single source, on the compact operand if the shadow has it, else on lanes
	CompactTwo                 // a kernel with two sources, in the same way
	CompactThree               // a kernel with three sources, in the same way
	CompactMixed               // a kernel with any sources, including predicates, in the same way
	CompactCompare             // a comparison, in the same way
	CompactSource              // reads a special register or the address of a local variable
	CompactLoad                // load at a compact address
	CompactStore               // store at a compact address
	CompactLocal               // access to local memory at a uniform address
	ProvedOne                  // a kernel with a single source; source and result are proved uniform
	ProvedTwo                  // a kernel with two sources, all proved uniform
	ProvedThree                // a kernel with three sources, all proved uniform
	ProvedFour                 // a kernel with four sources, all proved uniform
	ExecCount                  // number of ways
)

var execNames = [ExecCount]string{
	"lanes", "materialised", "compact", "compact", "compact", "compact", "compact", "compact", "compact", "compact", "compact",
	"proved", "proved", "proved", "proved",
}

func (e Exec) String() string { return execNames[e] }

// Guard returns the guard for lanes where predicate p holds or, if negated, does not hold.
func Guard(p int32, negated bool) int32 {
	if negated {
		return -(p + 1)
	}
	return p + 1
}

// GuardRow returns the predicate of a guard, and whether it is negated. The guard must not be 0.
func GuardRow(g int32) (p int32, negated bool) {
	if g < 0 {
		return -g - 1, true
	}
	return g - 1, false
}
