package simt

// This file is what the machine makes of a PTX instruction: operations, for probes that model
// another machine than this.

import (
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// Operations is what a PTX instruction is made of. The end of a block (a branch, a call, a
// barrier, an exit) is no operation.
type Operations struct {
	Guard         Operand   // its predicate
	Reads, Writes []Operand // the registers of Event.Reads and Event.Writes
	Operations    []Operation

	// Of a call what is passed, in the order of the callee's parameters, and what comes back.
	Args, Rets []Operand
}

// Operation is one of the operations of the machine that a PTX instruction is made of: all
// have its guard. What they are depends on the kernel, not on the mode.
type Operation struct {
	Name string
	Kind OperationKind
	affinetrack.Operation

	// Sources and Results are in the order that Compute has them; of accesses to memory the
	// address comes first, which need not be in a register, and then the elements.
	Sources, Results []Operand
	Member           int            // the source that is a membermask; -1: none is
	Special          ptx.SpecialReg // of OperationRead; ptx.NoSReg: an address in the local frame
	Offset           uint64         // of accesses to memory, to be added to the address
	Bool             string         // how a comparison is combined with a predicate, its third source: "and", "or", "xor" (manual 9.7.6.2)
	Not              bool           // … with its complement

	op  code.Op
	imm uint64
}

// OperationKind is what an operation has to do with values that are the same in all lanes.
type OperationKind = code.Kind

// The kinds of operation.
const (
	OperationOther   = code.Plain      // nothing
	OperationCompute = code.Arithmetic // it computes lane by lane: Compute
	OperationRead    = code.Read       // reads a special register, or the address of a local variable
	OperationLoad    = code.Load
	OperationStore   = code.Store
	OperationWarp    = code.Warp // one result for the lanes of a membermask, or for all
)

// Operand is what an operation reads or writes.
type Operand struct {
	Kind OperandKind
	Bits int       // 32 or 64; 1 of predicates
	Reg  ptx.RegID // ptx.NoReg: a temporary, or the carry flag (manual 9.7.2)

	// Registers and temporaries of a function have numbers, from 0 on for those of 32 bits,
	// of 64 bits and predicates. One of 128 bits has two of 64, the second of which is High.
	// Temporaries of different instructions share theirs.
	Row, High int

	Value uint64 // of a constant
}

// OperandKind is a kind of operand.
type OperandKind uint8

// The kinds of operand.
const (
	NoOperand   OperandKind = iota // a result that nobody wants, an address without a register
	RowOperand                     // a register, a temporary, the carry flag
	WideOperand                    // a register of 128 bits, in Parts
	ConstantOperand
	FrameOperand // of a call: Bits of the function's local frame, from byte Row on
)

// Compute is what an operation of kind OperationCompute gives in a lane with these sources,
// those it does not have 0, predicates 0 or 1; and its second result, a carry. Of a comparison it
// is whether it holds, before that is combined.
func (op *Operation) Compute(a, b, c, e uint64) (d, second uint64) {
	return alu.Single[op.op](a, b, c, e, op.imm)
}

// Operations is what an instruction is made of. It is nil unless the launch has a probe that wants
// OnOperation or OnResult.
func (p Program) Operations(index int) *Operations {
	if p.k.ref == nil || p.k.ref.operations == nil {
		return nil
	}
	return &p.k.ref.operations[index]
}

// Frame is how many numbers the operands of a function have, where there are Parts.
func (p Program) Frame(f *ptx.Func) regfile.Size {
	if p.k.ref == nil {
		return regfile.Size{}
	}
	for _, fn := range p.k.ref.Funcs {
		if fn.Func == f {
			return fn.Frame
		}
	}
	return regfile.Size{}
}

// operationKinds are the events that need the reference.
const operationKinds = OnOperation | OnResult

// subscribesToOperations reports whether one of the probes does.
func subscribesToOperations(probes []Probe) bool {
	return slices.ContainsFunc(probes, func(p Probe) bool { return p.Subscription().Events&operationKinds != 0 })
}

// divide finds what the kernel's instructions are made of.
func (r *reference) divide() {
	if r.operations != nil {
		return
	}
	r.operations = make([]Operations, len(r.Sources))
	named := func(fn *code.Func, list []ptx.RegID) (operands []Operand) {
		for _, reg := range list {
			operands = append(operands, registerOperand(fn, reg))
		}
		return operands
	}
	for i := range r.Sources {
		src := &r.Sources[i]
		r.operations[i] = Operations{Reads: named(src.Func, src.Reads), Writes: named(src.Func, src.Writes)}
		if g := src.Instr.Guard.Reg; g != ptx.NoReg {
			r.operations[i].Guard = registerOperand(src.Func, g)
		}
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if end := r.End(b); end.Op.Signature().Side == code.CallSide && end.Src >= 0 {
			r.operations[end.Src].Args, r.operations[end.Src].Rets = argumentOperands(r.Calls[end.Side].Args), argumentOperands(r.Calls[end.Side].Rets)
		}
	}
	registers := make([]map[code.Row]ptx.RegID, len(r.Funcs))
	for i, fn := range r.Funcs {
		registers[i] = map[code.Row]ptx.RegID{}
		for reg, loc := range fn.Regs {
			registers[i][code.Row{Slot: loc.Slot, Row: loc.Row}] = ptx.RegID(reg)
			if loc.Wide {
				registers[i][code.Row{Slot: loc.Slot, Row: loc.High}] = ptx.RegID(reg)
			}
		}
	}
	for i := range r.pairs {
		for k := range r.pairs[i] {
			p := &r.pairs[i][k]
			parts := &r.operations[p.ref.Src]
			if p.ref.Op.Signature().Side == code.CallSide && r.Sources[p.ref.Src].Instr.Call != nil { // of a function that the machine provides
				parts.Args, parts.Rets = argumentOperands(r.Calls[p.ref.Side].Args), argumentOperands(r.Calls[p.ref.Side].Rets)
			}
			list := &parts.Operations
			p.operationIndex = int32(len(*list))
			*list = append(*list, r.describe(p.ref, registers[r.Blocks[i].Func]))
		}
	}
}

// argumentOperands are places of what is passed.
func argumentOperands(places []code.ParamPlace) (list []Operand) {
	for _, p := range places {
		if o := (Operand{Kind: RowOperand, Bits: slotBits(p.Slot), Reg: ptx.NoReg, Row: int(p.Row)}); p.Slot != code.NoSlot {
			list = append(list, o)
		} else {
			list = append(list, Operand{Kind: FrameOperand, Bits: 8 * p.Size, Reg: ptx.NoReg, Row: p.Offset})
		}
	}
	return list
}

// Arguments is where a function has its parameters, and its results as it returns, where there are
// Parts.
func (p Program) Arguments(f *ptx.Func) (params, results []Operand) {
	if p.k.ref != nil {
		for _, fn := range p.k.ref.Funcs {
			if fn.Func == f {
				return argumentOperands(fn.Formals), argumentOperands(fn.Results)
			}
		}
	}
	return nil, nil
}

// registerOperand is a register of a function of the reference.
func registerOperand(fn *code.Func, reg ptx.RegID) Operand {
	loc := &fn.Regs[reg]
	o := Operand{Reg: reg, Bits: slotBits(loc.Slot), Row: int(loc.Row), High: int(loc.High)}
	switch {
	case loc.Slot == code.NoSlot:
	case loc.Wide:
		o.Kind = WideOperand
	default:
		o.Kind = RowOperand
	}
	return o
}

var boolNames = map[uint64]string{alu.BoolAnd: "and", alu.BoolOr: "or", alu.BoolXor: "xor"}

// describe describes an instruction of the reference.
func (r *reference) describe(instr *code.Instr, registers map[code.Row]ptx.RegID) Operation {
	s := instr.Op.Signature()
	op := Operation{Name: s.Name, Kind: s.Kind, Operation: s.Operation, Member: int(s.Member) - 1, op: instr.Op, imm: instr.Imm}
	operands := func(rows []code.Row) (list []Operand) {
		for _, row := range rows {
			list = append(list, r.operand(row, registers))
		}
		return list
	}
	op.Sources, op.Results = operands(r.Operands(nil, instr)), operands(r.Results(nil, instr))
	switch {
	case s.Compares():
		op.Bool, op.Not = boolNames[instr.Imm&^alu.ComplementC], instr.Imm&alu.ComplementC != 0
	case instr.Op.Special():
		op.Special = ptx.SpecialReg(instr.Imm)
	case s.Side == code.AccessSide:
		op.Offset = r.Access[instr.Side].Offset
	}
	if s.Side == code.AccessSide { // its results are those of the side table
		op.Results = op.Results[2:]
	}
	return op
}

// operand is a row of the reference.
func (r *reference) operand(row code.Row, registers map[code.Row]ptx.RegID) Operand {
	o := Operand{Reg: ptx.NoReg, Bits: slotBits(row.Slot)}
	switch {
	case row.Slot == code.NoSlot || row.Row == code.NoRow:
		return Operand{Reg: ptx.NoReg}
	case row.Row >= 0:
		o.Kind, o.Row = RowOperand, int(row.Row)
		if reg, ok := registers[row]; ok {
			o.Reg = reg
		}
		return o
	}
	o.Kind = ConstantOperand
	switch k := &r.Consts; row.Slot {
	case code.R:
		o.Value = uint64(k.Value32(row.Row))
	case code.Q:
		o.Value = k.Value64(row.Row)
	default:
		o.Value = uint64(boolBit(k.ValueP(row.Row)))
	}
	return o
}

// Cell is where the engine has what an operation reads or writes.
type Cell struct {
	w   *warp
	row code.Row
}

// Source is where source i is of the operation that an event of kind OnOperation is about.
func (e *Event) Source(i int) Cell { return e.cell(i, (*code.Tables).Operands) }

// Result is where result i is of the operation that an event of kind OnResult is about.
func (e *Event) Result(i int) Cell {
	if e.pair.original.Op.Signature().Side == code.AccessSide {
		i += 2
	}
	return e.cell(i, (*code.Tables).Results)
}

func (e *Event) cell(i int, list func(t *code.Tables, rows []code.Row, instr *code.Instr) []code.Row) Cell {
	e.stream.rows = list(&e.warp.cta.code.Tables, e.stream.rows[:0], e.pair.original)
	return Cell{e.warp, e.stream.rows[i]}
}

// Lanes copies the values of lanes 0 to 31 or, with half 1, 32 to 63; of predicates 0 or 1.
func (c Cell) Lanes(half int, to *regfile.Row64) { c.w.read(to, half, c.row) }

// Lane is the value of a lane.
func (c Cell) Lane(lane int) uint64 {
	return laneValue(&c.w.files[lane/regfile.Lanes], c.row, lane%regfile.Lanes)
}

// Tag is what the engine holds compactly of a half, as in Value.Tags.
func (c Cell) Tag(half int) Tag {
	f := &c.w.files[half]
	if c.row.Slot == code.P || !f.Tracked() {
		return Tag{}
	}
	s := shadowAt(f, c.row.Slot, c.row.Row)
	return Tag{valueOf(s), s.Mask}
}
