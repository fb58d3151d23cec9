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

// Parts is what a PTX instruction is made of. The end of a block (a branch, a call, a
// barrier, an exit) is no operation.
type Parts struct {
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
func (o *Operation) Compute(a, b, c, e uint64) (d, second uint64) {
	return alu.Single[o.op](a, b, c, e, o.imm)
}

// Parts is what an instruction is made of. It is nil unless the launch has a probe that wants
// OnOperation or OnResult.
func (p Program) Parts(index int) *Parts {
	if p.k.ref == nil || p.k.ref.parts == nil {
		return nil
	}
	return &p.k.ref.parts[index]
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

// wantsOperations reports whether one of the probes does.
func wantsOperations(probes []Probe) bool {
	return slices.ContainsFunc(probes, func(p Probe) bool { return p.Wants().Events&operationKinds != 0 })
}

// divide finds what the kernel's instructions are made of.
func (r *reference) divide() {
	if r.parts != nil {
		return
	}
	r.parts = make([]Parts, len(r.Sources))
	named := func(fn *code.Func, list []ptx.RegID) (operands []Operand) {
		for _, reg := range list {
			operands = append(operands, registerOperand(fn, reg))
		}
		return operands
	}
	for i := range r.Sources {
		src := &r.Sources[i]
		r.parts[i] = Parts{Reads: named(src.Func, src.Reads), Writes: named(src.Func, src.Writes)}
		if g := src.Instr.Guard.Reg; g != ptx.NoReg {
			r.parts[i].Guard = registerOperand(src.Func, g)
		}
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if end := r.End(b); end.Op.Signature().Side == code.CallSide && end.Src >= 0 {
			r.parts[end.Src].Args, r.parts[end.Src].Rets = passed(r.Calls[end.Side].Args), passed(r.Calls[end.Side].Rets)
		}
	}
	registers := make([]map[code.Row]ptx.RegID, len(r.Funcs))
	for i, fn := range r.Funcs {
		registers[i] = map[code.Row]ptx.RegID{}
		for reg, at := range fn.Regs {
			registers[i][code.Row{Slot: at.Slot, Row: at.Row}] = ptx.RegID(reg)
			if at.Wide {
				registers[i][code.Row{Slot: at.Slot, Row: at.High}] = ptx.RegID(reg)
			}
		}
	}
	for i := range r.pairs {
		for k := range r.pairs[i] {
			p := &r.pairs[i][k]
			parts := &r.parts[p.ref.Src]
			if p.ref.Op.Signature().Side == code.CallSide && r.Sources[p.ref.Src].Instr.Call != nil { // of a function that the machine provides
				parts.Args, parts.Rets = passed(r.Calls[p.ref.Side].Args), passed(r.Calls[p.ref.Side].Rets)
			}
			list := &parts.Operations
			p.operation = int32(len(*list))
			*list = append(*list, r.describe(p.ref, registers[r.Blocks[i].Func]))
		}
	}
}

// passed are places of what is passed.
func passed(places []code.Place) (list []Operand) {
	for _, p := range places {
		if o := (Operand{Kind: RowOperand, Bits: slotBits(p.Slot), Reg: ptx.NoReg, Row: int(p.Row)}); p.Slot != code.NoSlot {
			list = append(list, o)
		} else {
			list = append(list, Operand{Kind: FrameOperand, Bits: 8 * p.Size, Reg: ptx.NoReg, Row: p.Off})
		}
	}
	return list
}

// Passed is where a function has its parameters, and its results as it returns, where there are
// Parts.
func (p Program) Passed(f *ptx.Func) (params, results []Operand) {
	if p.k.ref != nil {
		for _, fn := range p.k.ref.Funcs {
			if fn.Func == f {
				return passed(fn.Formals), passed(fn.Results)
			}
		}
	}
	return nil, nil
}

// registerOperand is a register of a function of the reference.
func registerOperand(fn *code.Func, reg ptx.RegID) Operand {
	at := &fn.Regs[reg]
	o := Operand{Reg: reg, Bits: slotBits(at.Slot), Row: int(at.Row), High: int(at.High)}
	switch {
	case at.Slot == code.NoSlot:
	case at.Wide:
		o.Kind = WideOperand
	default:
		o.Kind = RowOperand
	}
	return o
}

var boolNames = map[uint64]string{alu.BoolAnd: "and", alu.BoolOr: "or", alu.BoolXor: "xor"}

// describe describes an instruction of the reference.
func (r *reference) describe(in *code.Instr, registers map[code.Row]ptx.RegID) Operation {
	s := in.Op.Signature()
	o := Operation{Name: s.Name, Kind: s.Kind, Operation: s.Operation, Member: int(s.Member) - 1, op: in.Op, imm: in.Imm}
	operands := func(rows []code.Row) (list []Operand) {
		for _, at := range rows {
			list = append(list, r.operand(at, registers))
		}
		return list
	}
	o.Sources, o.Results = operands(r.Operands(nil, in)), operands(r.Results(nil, in))
	switch {
	case s.Compares():
		o.Bool, o.Not = boolNames[in.Imm&^alu.ComplementC], in.Imm&alu.ComplementC != 0
	case in.Op.Special():
		o.Special = ptx.SpecialReg(in.Imm)
	case s.Side == code.AccessSide:
		o.Offset = r.Access[in.Side].Off
	}
	if s.Side == code.AccessSide { // its results are those of the side table
		o.Results = o.Results[2:]
	}
	return o
}

// operand is a row of the reference.
func (r *reference) operand(at code.Row, registers map[code.Row]ptx.RegID) Operand {
	o := Operand{Reg: ptx.NoReg, Bits: slotBits(at.Slot)}
	switch {
	case at.Slot == code.NoSlot || at.Row == code.NoRow:
		return Operand{Reg: ptx.NoReg}
	case at.Row >= 0:
		o.Kind, o.Row = RowOperand, int(at.Row)
		if reg, ok := registers[at]; ok {
			o.Reg = reg
		}
		return o
	}
	o.Kind = ConstantOperand
	switch k := &r.Consts; at.Slot {
	case code.R:
		o.Value = uint64(k.Value32(at.Row))
	case code.Q:
		o.Value = k.Value64(at.Row)
	default:
		o.Value = uint64(bit(k.ValueP(at.Row)))
	}
	return o
}

// Cell is where the engine has what an operation reads or writes.
type Cell struct {
	w  *warp
	at code.Row
}

// Source is where source i is of the operation that an event of kind OnOperation is about.
func (e *Event) Source(i int) Cell { return e.cell(i, (*code.Tables).Operands) }

// Result is where result i is of the operation that an event of kind OnResult is about.
func (e *Event) Result(i int) Cell {
	if e.pair.as.Op.Signature().Side == code.AccessSide {
		i += 2
	}
	return e.cell(i, (*code.Tables).Results)
}

func (e *Event) cell(i int, list func(t *code.Tables, rows []code.Row, in *code.Instr) []code.Row) Cell {
	e.stream.rows = list(&e.warp.cta.code.Tables, e.stream.rows[:0], e.pair.as)
	return Cell{e.warp, e.stream.rows[i]}
}

// Lanes copies the values of lanes 0 to 31 or, with half 1, 32 to 63; of predicates 0 or 1.
func (c Cell) Lanes(half int, to *regfile.Row64) { c.w.read(to, half, c.at) }

// Lane is the value of a lane.
func (c Cell) Lane(lane int) uint64 {
	return laneOf(&c.w.files[lane/regfile.Lanes], c.at, lane%regfile.Lanes)
}

// Tag is what the engine holds compactly of a half, as in Value.Tags.
func (c Cell) Tag(half int) Tag {
	f := &c.w.files[half]
	if c.at.Slot == code.P || !f.Tracked() {
		return Tag{}
	}
	s := shadowAt(f, c.at.Slot, c.at.Row)
	return Tag{valueOf(s), s.Mask}
}
