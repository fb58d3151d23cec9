package event

// This file lists the operations of each PTX instruction, for probes that model another machine. An operation is a lowered
// instruction of the reference: the code without compact execution (machine.Reference).

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
)

// SubscribesToOperations reports whether one of the probes subscribes to events about operations.
func SubscribesToOperations(probes []probe.Probe) bool {
	return slices.ContainsFunc(probes, func(p probe.Probe) bool { return p.Subscription().Events&machine.OperationKinds != 0 })
}

// DivideOperations computes the operations of each PTX instruction of the kernel.
func DivideOperations(r *machine.Reference) {
	if r.Operations != nil {
		return
	}
	r.Operations = make([]probe.Operations, len(r.Sources))
	operandsOf := func(fn *code.Func, list []ptx.RegID) (operands []probe.Operand) {
		for _, reg := range list {
			operands = append(operands, registerOperand(fn, reg))
		}
		return operands
	}
	for i := range r.Sources {
		src := &r.Sources[i]
		r.Operations[i] = probe.Operations{Reads: operandsOf(src.Func, src.Reads), Writes: operandsOf(src.Func, src.Writes)}
		if g := src.Instr.Guard.Reg; g != ptx.NoReg {
			r.Operations[i].Guard = registerOperand(src.Func, g)
		}
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		// Side is the kind of an operation's table in its signature, and an index in this table in an instruction.
		if end := r.End(b); end.Op.Signature().Side == code.CallSide && end.Src >= 0 {
			r.Operations[end.Src].Args, r.Operations[end.Src].Rets = argumentOperands(r.Calls[end.Side].Args), argumentOperands(r.Calls[end.Side].Rets)
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
	// Pairs has the pairs of an instruction of the reference and the instruction that executes instead of it, by block.
	for i := range r.Pairs {
		for j := range r.Pairs[i] {
			p := &r.Pairs[i][j]
			parts := &r.Operations[p.Reference.Src]
			if p.Reference.Op.Signature().Side == code.CallSide && r.Sources[p.Reference.Src].Instr.Call != nil { // call of a function of the device runtime
				parts.Args, parts.Rets = argumentOperands(r.Calls[p.Reference.Side].Args), argumentOperands(r.Calls[p.Reference.Side].Rets)
			}
			list := &parts.Operations
			p.OperationIndex = int32(len(*list))
			*list = append(*list, describeOperation(r, p.Reference, registers[r.Blocks[i].Func]))
		}
	}
}

// argumentOperands returns the places of parameters, arguments or results.
func argumentOperands(places []code.ParamPlace) (list []probe.Operand) {
	for _, p := range places {
		if o := (probe.Operand{Kind: probe.RowOperand, Bits: machine.SlotBits(p.Slot), Reg: ptx.NoReg, Row: int(p.Row)}); p.Slot != code.NoSlot {
			list = append(list, o)
		} else {
			list = append(list, probe.Operand{Kind: probe.FrameOperand, Bits: 8 * p.Size, Reg: ptx.NoReg, Row: p.Offset})
		}
	}
	return list
}

// registerOperand returns the place of a register in a function of the reference: one or two rows, or none.
func registerOperand(fn *code.Func, reg ptx.RegID) probe.Operand {
	loc := &fn.Regs[reg]
	o := probe.Operand{Reg: reg, Bits: machine.SlotBits(loc.Slot), Row: int(loc.Row), High: int(loc.High)}
	switch {
	case loc.Slot == code.NoSlot:
	case loc.Wide:
		o.Kind = probe.WideOperand
	default:
		o.Kind = probe.RowOperand
	}
	return o
}

// operationKindOf maps kinds of instruction to the kinds of operation of package probe.
var operationKindOf = map[code.Kind]probe.OperationKind{
	code.Plain: probe.OperationOther, code.Arithmetic: probe.OperationCompute, code.Read: probe.OperationRead,
	code.Load: probe.OperationLoad, code.Store: probe.OperationStore, code.Warp: probe.OperationWarp, code.Control: probe.OperationOther,
}

// boolNames maps the boolean operators of comparisons, in Imm, to their names.
var boolNames = map[uint64]string{alu.BoolAnd: "and", alu.BoolOr: "or", alu.BoolXor: "xor"}

// describeOperation describes an instruction of the reference. registers has the registers of its function by row. The
// signature's Member is 1 + the index of the source that is a membermask; 0: none.
func describeOperation(r *machine.Reference, instr *code.Instr, registers map[code.Row]ptx.RegID) probe.Operation {
	s := instr.Op.Signature()
	op := probe.Operation{Name: s.Name, Kind: operationKindOf[s.Kind], Operation: s.Operation, Member: int(s.Member) - 1}
	if s.Kind == code.Arithmetic {
		single, imm := alu.Single[instr.Op], instr.Imm
		op.Compute = func(a, b, c, e uint64) (d, second uint64) { return single(a, b, c, e, imm) }
	}
	operands := func(rows []code.Row) (list []probe.Operand) {
		for _, row := range rows {
			list = append(list, operandOf(r, row, registers))
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
	// The results of an access are in its code.Access. Results lists rows D and F of the instruction first, which an access
	// does not have.
	if s.Side == code.AccessSide {
		op.Results = op.Results[2:]
	}
	return op
}

// operandOf returns the operand of a row of the reference.
func operandOf(r *machine.Reference, row code.Row, registers map[code.Row]ptx.RegID) probe.Operand {
	o := probe.Operand{Reg: ptx.NoReg, Bits: machine.SlotBits(row.Slot)}
	switch {
	case row.Slot == code.NoSlot || row.Row == code.NoRow:
		return probe.Operand{Reg: ptx.NoReg}
	case row.Row >= 0:
		o.Kind, o.Row = probe.RowOperand, int(row.Row)
		if reg, ok := registers[row]; ok {
			o.Reg = reg
		}
		return o
	}
	o.Kind = probe.ConstantOperand
	switch k := &r.Consts; row.Slot {
	case code.R:
		o.Value = uint64(k.Value32(row.Row))
	case code.Q:
		o.Value = k.Value64(row.Row)
	default:
		o.Value = uint64(machine.BoolBit(k.ValueP(row.Row)))
	}
	return o
}
