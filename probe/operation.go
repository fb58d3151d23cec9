package probe

import (
	"gemu/affinetrack"
	"gemu/ptx"
)

// Operations is the decomposition of a PTX instruction into operations of the machine. An instruction that ends a basic block (a
// branch, a call, a barrier, an exit) has no operation for that end.
type Operations struct {
	// Guard is the predicate of the instruction.
	Guard Operand
	// Reads has the registers of Event.Reads.
	Reads []Operand
	// Writes has the registers of Event.Writes.
	Writes []Operand
	// Operations has the operations in the order of execution.
	Operations []Operation

	// Args has the arguments of a call, in the order of the callee's parameters.
	Args []Operand
	// Rets has the results of a call.
	Rets []Operand
}

// Operation is an operation of the machine. The guard of its instruction applies to it. The decomposition of an instruction
// depends on the kernel, not on the mode.
type Operation struct {
	// Name is the mnemonic of the operation, as `gemu dump --stage=lowered` prints it.
	Name string
	// Kind is the kind of the operation.
	Kind OperationKind
	affinetrack.Operation

	// Sources has the sources, in the order of the arguments of Compute. For memory accesses the address comes first, then the
	// elements. The address is NoOperand if no register is a part of it.
	Sources []Operand
	// Results has the results, in the order of the results of Compute.
	Results []Operand
	// Member is the index of the source that is a membermask; -1 if there is none.
	Member int
	// Special is the special register that OperationRead reads; ptx.NoSReg for an address in the local frame.
	Special ptx.SpecialReg
	// Offset is the number of bytes that a memory access adds to its address.
	Offset uint64
	// Bool is the logical operation that combines a comparison with a predicate, its third source: "and", "or", "xor"
	// (PTX manual, 9.7.6.2).
	Bool string
	// Not means that the comparison is combined with the complement of the predicate.
	Not bool

	// Compute returns the results of an operation of kind OperationCompute for a lane; nil for all other kinds. The caller must
	// pass 0 for missing sources, and 0 or 1 for predicates. The second result is a carry. For a comparison, Compute returns the
	// result before its combination with a predicate (Bool).
	Compute func(a, b, c, e uint64) (d, second uint64)
}

// OperationKind classifies operations by the lanes and the state on which their results depend.
type OperationKind uint8

// The kinds of operation.
const (
	// OperationOther is an operation of no other kind.
	OperationOther OperationKind = iota
	// OperationCompute computes each lane from the same lane of its sources: Operation.Compute.
	OperationCompute
	// OperationRead reads a special register, or the address of a local variable.
	OperationRead
	// OperationLoad loads from memory.
	OperationLoad
	// OperationStore stores to memory.
	OperationStore
	// OperationWarp computes a single result for the lanes of a membermask, or for all lanes.
	OperationWarp
)

// Operand is a source or result of an operation.
type Operand struct {
	// Kind is the kind of the operand.
	Kind OperandKind
	// Bits is the width: 32 or 64, 1 for predicates.
	Bits int
	// Reg is the register; ptx.NoReg for a temporary, or the carry flag (PTX manual, 9.7.2).
	Reg ptx.RegID

	// Row is the number of the register or temporary in its function. Registers of 32 bits, registers of 64 bits and predicates
	// are numbered separately, each from 0. Temporaries of different instructions share numbers.
	Row int
	// High is the number of the row with the upper half of a register of 128 bits.
	High int

	// Value is the value of a constant.
	Value uint64
}

// OperandKind is a kind of operand.
type OperandKind uint8

// The kinds of operand.
const (
	// NoOperand is an unused result, or an address without a register.
	NoOperand OperandKind = iota
	// RowOperand is a register, a temporary, or the carry flag.
	RowOperand
	// WideOperand is a register of 128 bits: Row and High.
	WideOperand
	// ConstantOperand is a constant: Value.
	ConstantOperand
	// FrameOperand is an argument or result of a call that lies in the local frame: Bits bits from byte Row of the frame on.
	FrameOperand
)

// FrameSize is the number of rows that the operands of a function use, by width.
type FrameSize struct {
	// R is the number of rows of 32 bits.
	R int
	// Q is the number of rows of 64 bits.
	Q int
	// P is the number of predicate rows.
	P int
}

// Cell is the place of an operand in the machine. It is valid during the call of Sink.OnEvent only.
type Cell struct {
	// Machine reads the cell.
	Machine CellMachine
	// Bits is the width of the row: 32 or 64, 1 for predicates, 0 for no row.
	Bits int32
	// Row is the number of the row; negative for constants of the launch.
	Row int32
}

// CellMachine is the register file of a warp.
type CellMachine interface {
	// ReadLanes copies the values of lanes 0 to 31 of a cell or, with half 1, of lanes 32 to 63.
	ReadLanes(c Cell, half int, to *[32]uint64)
	// ReadLane returns the value of a lane of a cell.
	ReadLane(c Cell, lane int) uint64
	// ReadTag returns the compact copy of lanes 0 to 31 of a cell or, with half 1, of lanes 32 to 63.
	ReadTag(c Cell, half int) Tag
}

// Lanes copies the values of lanes 0 to 31 or, with half 1, of lanes 32 to 63. Predicates are 0 or 1.
func (c Cell) Lanes(half int, to *[32]uint64) { c.Machine.ReadLanes(c, half, to) }

// Lane returns the value of a lane.
func (c Cell) Lane(lane int) uint64 { return c.Machine.ReadLane(c, lane) }

// Tag returns the compact copy of lanes 0 to 31 or, with half 1, of lanes 32 to 63, as Value.Tags does.
func (c Cell) Tag(half int) Tag { return c.Machine.ReadTag(c, half) }
