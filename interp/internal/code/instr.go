package code

// This file is the instruction. It is data of a fixed size without pointers, which can
// be printed, compared, verified and translated; what does not fit into it is in a
// table beside.

// Instr is an instruction of lowered code. A PTX instruction becomes none, one or
// several.
//
// Operands are rows of the register file: of 32-bit slots, of 64-bit slots or of
// predicates, as the signature of the op says; below zero they are the complement of
// an index into the constants of that slot. D and F are results, A, B, C and E
// sources. Vectors of registers, and the arguments of calls, are in side tables.
type Instr struct {
	Op            Op
	Plan          ExecPlan
	CountsSkipped bool  // it counts the lanes that the guard holds back: the first of a PTX instruction that does not end a block of PTX
	Guard         int32 // 0: none; p+1: it executes where predicate p holds; -(p+1): where it does not
	Side          int32 // index into the side table of the op's kind
	Src           int32 // index of the PTX instruction it is part of

	D, F       int32
	A, B, C, E int32
	Imm        uint64 // what else the op wants to know
}

// Sources are the source operands.
func (instr *Instr) Sources() [4]int32 { return [...]int32{instr.A, instr.B, instr.C, instr.E} }

// NoRow in place of an operand stands for none: a result nobody wants, an address
// without a register.
const NoRow = -1 << 31

// ExecPlan is how an instruction executes in affine mode, and what becomes of its
// operands' shadows: the plan's decisions for it.
type ExecPlan struct {
	Exec        Exec
	Materialise Operands // sources that may be only in their shadows
	LeavesStale bool     // results may have been in their shadows
	WritesBoth  bool     // … and go to their rows too
}

// Operands is a set of source operands of an instruction.
type Operands uint8

// The source operands.
const (
	OperandA Operands = 1 << iota
	OperandB
	OperandC
	OperandE
	OperandList // those in the side table
)

// Exec is a way to execute an instruction.
type Exec uint8

// The ways.
const (
	OnLanes        Exec = iota // as in vector mode
	Materialised               // on the lanes, after expanding what is compact
	CompactOne                 // a kernel with one source, on a compact operand if it is so
	CompactTwo                 // … with two
	CompactThree               // … with three
	CompactMixed               // … with any, predicates too
	CompactCompare             // a comparison
	CompactSource              // a special register, the address of a local variable
	CompactLoad                // at a compact address
	CompactStore
	CompactLocal // local memory at a uniform address
	ProvedOne    // a kernel whose result is proved uniform, with one source, proved uniform too
	ProvedTwo
	ProvedThree
	ProvedFour
	ExecCount // how many there are
)

var execNames = [ExecCount]string{
	"lanes", "materialised", "compact", "compact", "compact", "compact", "compact", "compact", "compact", "compact", "compact",
	"proved", "proved", "proved", "proved",
}

func (e Exec) String() string { return execNames[e] }

// Guard of predicate p: where it holds, or where it does not.
func Guard(p int32, negated bool) int32 {
	if negated {
		return -(p + 1)
	}
	return p + 1
}

// GuardRow is the predicate of a guard, and whether it is negated. The guard must not
// be 0.
func GuardRow(g int32) (p int32, negated bool) {
	if g < 0 {
		return -g - 1, true
	}
	return g - 1, false
}
