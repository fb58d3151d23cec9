package core

import (
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// operation is what a multiprocessor needs of an instruction of a program.
type operation struct {
	registers []int32 // registers that it reads or writes; the registers of all functions have different numbers
	writes    []int32
	filter    uint64 // bits of registers (filterBit)
	class     Class
	unit      Class // class whose units execute it
	copies    bool  // it is a cp.async, for whose data an arrival at an mbarrier can wait
	async     bool  // its requests are asynchronous copies: the results are not in registers
	commits   bool  // it ends a group of asynchronous copies
	waits     bool  // it waits for groups of asynchronous copies
	groups    int32 // if it waits: number of the latest groups for which it does not wait
}

// filterBit returns the bit of a register in a filter.
func filterBit(register int32) uint64 { return 1 << (uint32(register) & 63) }

// decode describes the instructions of a program.
func decode(s *Spec, l *probe.LaunchInfo) []operation {
	list := make([]operation, l.Program.Len())
	base := map[*ptx.Func]int32{}
	next := int32(0)
	for i := range list {
		instr, f := l.Program.At(i)
		first, ok := base[f]
		if !ok {
			first = next
			base[f] = first
			next += int32(len(f.Regs))
		}
		o := &list[i]
		o.class = ClassOf(instr)
		if o.class != Memory {
			o.unit = s.Units[o.class].Of
		} else {
			o.unit = Memory
		}
		for r := range instr.Defs() {
			o.writes = append(o.writes, first+int32(r))
		}
		o.registers = slices.Clone(o.writes)
		for r := range instr.Uses() {
			if n := first + int32(r); !slices.Contains(o.registers, n) {
				o.registers = append(o.registers, n)
			}
		}
		for _, r := range o.registers {
			o.filter |= filterBit(r)
		}
		switch effects := instr.Form.Effects; {
		case instr.Form.Family != ptx.FamilyAsync && instr.Form.Family != ptx.FamilyAsyncStore:
		case effects.HasAll(ptx.Waits):
			o.waits, o.groups = true, -1 // all copies, also those of a group without an end
			if a := instr.Form.Operand("a"); a >= 0 && instr.Ops[a].Kind == ptx.ImmOperand {
				o.groups = int32(min(instr.Ops[a].Imm.Bits, 1<<20))
			}
		case effects.Any(ptx.Reads | ptx.Writes):
			o.async = true
			o.copies = instr.Form.Family == ptx.FamilyAsync && !instr.Has("bulk")
		default:
			o.commits = effects == ptx.Async
		}
	}
	return list
}

// ClassOf returns the class of an instruction. A memory instruction without requests, and without passes over the banks of shared memory,
// is executed as Constant.
func ClassOf(instr *ptx.Instr) Class {
	switch instr.Form.Class {
	case ptx.ClassMul:
		return Mul
	case ptx.ClassFP:
		if is64(instr) {
			return Double
		}
		return FP
	case ptx.ClassSFU:
		return Special
	case ptx.ClassMemory:
		if instr.Form.Effects.Any(ptx.Reads | ptx.Writes) {
			return Memory
		}
		return Constant
	case ptx.ClassWarp:
		if instr.Form.Family == ptx.FamilyShfl {
			return Shuffle
		}
	case ptx.ClassTensor:
		if instr.Form.Effects.Any(ptx.Reads | ptx.Writes) {
			return Memory
		}
		return Tensor
	case ptx.ClassTexture:
		return Texture
	case ptx.ClassControl, ptx.ClassBarrier, ptx.ClassMisc:
		return Control
	}
	return Int
}

// is64 reports whether an instruction has a type of floating point of 64 bits.
func is64(instr *ptx.Instr) bool { return slices.Contains(instr.Types(), ptx.F64) }
