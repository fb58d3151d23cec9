package oracle

// This file reads and writes operands (manual chapter 6, 9.4) and special
// registers (chapter 10).

import (
	"fmt"

	"gemu/ptx"
)

// value is the bits of a register; only .b128 uses hi.
type value struct{ lo, hi uint64 }

// low keeps the n low bits.
func low(v uint64, n int) uint64 {
	if n >= 64 {
		return v
	}
	return v & (1<<n - 1)
}

func (v value) low(n int) value {
	if n > 64 {
		return v
	}
	return value{lo: low(v.lo, n)}
}

// signExtend extends the n-bit value v with its sign.
func signExtend(v uint64, n int) uint64 {
	if n < 64 && v>>(n-1)&1 != 0 {
		v |= ^uint64(0) << n
	}
	return v
}

// hasModifier reports whether the current instruction has the modifier.
func (t *thread) hasModifier(mod string) bool { return t.instr.Has(mod) }

// operand finds an operand of the current instruction by its name in the
// instruction table, with the type it must have.
func (t *thread) operand(name string) (*ptx.Operand, ptx.Type) {
	for i, spec := range t.instr.Form.Operands {
		if spec.Name == name {
			return &t.instr.Ops[i], t.instr.OperandType(i)
		}
	}
	panic(fmt.Sprintf("BUG: %s has no operand %s", t.instr.Text, name))
}

// hasOperand reports whether the form has the operand and the instruction provides it.
func (t *thread) hasOperand(name string) bool {
	for i, spec := range t.instr.Form.Operands {
		if spec.Name == name {
			return t.instr.Ops[i].Kind != ptx.NoOperand
		}
	}
	return false
}

// operandValue reads the bits of an operand, in the width of its type.
func (t *thread) operandValue(name string) uint64 {
	o, typ := t.operand(name)
	return t.read(o, typ).lo
}

// predOperand reads a predicate operand, which may be negated.
func (t *thread) predOperand(name string) bool {
	o, typ := t.operand(name)
	return (t.read(o, typ).lo != 0) != o.Neg
}

// setOperand writes a result.
func (t *thread) setOperand(name string, v uint64) {
	o, typ := t.operand(name)
	t.write(o, typ, value{lo: v})
}

// setPred writes a predicate result.
func (t *thread) setPred(name string, p bool) { t.setOperand(name, bit(p)) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// read returns the low bits of an operand, in the width of typ; all bits for NoType.
func (t *thread) read(o *ptx.Operand, typ ptx.Type) value {
	bits := typ.Bits()
	if typ == ptx.NoType {
		bits = 128
	}
	switch o.Kind {
	case ptx.RegOperand:
		return t.currentFrame().regs[o.Reg].low(bits)
	case ptx.ImmOperand:
		switch {
		case typ == ptx.Pred:
			return value{lo: bit(o.Imm.Bits != 0)}
		case typ == ptx.NoType:
			return value{lo: o.Imm.Bits}
		case bits == 128:
			return value{o.Imm.Bits, uint64(int64(o.Imm.Bits) >> 63)}
		}
		return value{lo: o.Imm.Encode(typ)}
	case ptx.SRegOperand:
		return value{lo: low(t.special(o.SReg), o.SReg.Type().Bits())}.low(bits)
	case ptx.SymOperand:
		_, addr := t.symbol(o.Sym())
		return value{lo: addr + uint64(o.Offset())}.low(bits)
	case ptx.SinkOperand: // unused element of a vector, or zero
		return value{}
	}
	panic(fmt.Sprintf("BUG: %s: operand of kind %d read", t.instr.Text, o.Kind))
}

// write stores a value of type typ in a destination. A wider register is extended by the sign for signed types, else by
// zeros (manual 9.4.1).
func (t *thread) write(o *ptx.Operand, typ ptx.Type, v value) {
	switch o.Kind {
	case ptx.NoOperand, ptx.SinkOperand:
		return
	case ptx.RegOperand:
		f := t.currentFrame()
		v = v.low(typ.Bits())
		if typ.IsSigned() {
			v.lo = signExtend(v.lo, typ.Bits())
		}
		v = v.low(f.fn.Regs[o.Reg].Type.Bits())
		f.regs[o.Reg] = v
		t.logWrite(f.fn, o.Reg, v)
		return
	}
	panic(fmt.Sprintf("BUG: %s: operand of kind %d written", t.instr.Text, o.Kind))
}

// symbol returns the address of a variable in its space, or of a function in the generic space. Parameters of a device
// function lie in its frame.
func (t *thread) symbol(s ptx.Symbol) (ptx.Space, uint64) {
	space := ptx.Generic
	if v, ok := s.(*ptx.Var); ok {
		space = v.Space
		if offset, ok := t.currentFrame().vars[v]; ok {
			return ptx.Local, offset
		}
		if addr, ok := t.machine.params[v]; ok {
			return ptx.Param, addr
		}
		def, _ := t.machine.mod.resolveSymbol(v).(*ptx.Var)
		if offset, ok := t.machine.shared.offsets[def]; ok {
			return ptx.Shared, t.cta.sharedBase() + offset
		}
	}
	addr, ok := t.machine.mod.Address(s)
	if !ok {
		t.trap(KindMemory, "%s has no address", s.SymbolName())
	}
	return space, addr
}

// multiprocessors is the number of SMs, to which CTAs are assigned in turn.
const multiprocessors = 16

// special reads a special register. A register without a counterpart in gemu reads as zero.
func (t *thread) special(r ptx.SpecialReg) uint64 {
	m, c := t.machine, t.cta
	component := func(i ptx.SpecialReg, v [3]int) uint64 { return uint64(v[i]) }
	switch {
	case r >= ptx.TidX && r <= ptx.TidZ:
		return component(r-ptx.TidX, t.tid)
	case r >= ptx.NtidX && r <= ptx.NtidZ:
		return component(r-ptx.NtidX, m.Block)
	case r >= ptx.CtaidX && r <= ptx.CtaidZ:
		return component(r-ptx.CtaidX, c.id)
	case r >= ptx.NctaidX && r <= ptx.NctaidZ:
		return component(r-ptx.NctaidX, m.Grid)
	case r >= ptx.ClusterIDX && r <= ptx.ClusterIDZ:
		i := r - ptx.ClusterIDX
		return component(i, c.id) / component(i, m.clusterDim)
	case r >= ptx.NClusterIDX && r <= ptx.NClusterIDZ:
		return component(r-ptx.NClusterIDX, m.clusterGrid())
	case r >= ptx.ClusterCtaidX && r <= ptx.ClusterCtaidZ:
		i := r - ptx.ClusterCtaidX
		return component(i, c.id) % component(i, m.clusterDim)
	case r >= ptx.ClusterNctaidX && r <= ptx.ClusterNctaidZ:
		return component(r-ptx.ClusterNctaidX, m.clusterDim)
	}
	lane := uint64(1) << t.lane
	switch r {
	case ptx.LaneID:
		return uint64(t.lane)
	case ptx.WarpID:
		return uint64(t.warp.id)
	case ptx.NWarpID:
		return uint64(len(c.warps))
	case ptx.SMID:
		return uint64(c.index % multiprocessors)
	case ptx.NSMID:
		return multiprocessors
	case ptx.GridID:
		return m.dev.launches
	case ptx.ClusterCtarank:
		return uint64(c.rank)
	case ptx.ClusterNctarank:
		return uint64(m.clusterSize())
	case ptx.IsExplicitCluster:
		return bit(m.hasExplicitClusters())
	case ptx.LanemaskEq:
		return lane
	case ptx.LanemaskLe:
		return lane | (lane - 1)
	case ptx.LanemaskLt:
		return lane - 1
	case ptx.LanemaskGe:
		return -lane
	case ptx.LanemaskGt:
		return -lane &^ lane
	case ptx.Clock, ptx.Clock64, ptx.GlobalTimer, ptx.GlobalTimerLo:
		return t.time()
	case ptx.ClockHi, ptx.GlobalTimerHi:
		return t.time() >> 32
	case ptx.EnvReg0 + 2: // as CUDA's cooperative groups read it; EnvReg 1 has the upper half
		if m.Cooperative {
			return workspace
		}
	case ptx.TotalSmemSize, ptx.AggrSmemSize:
		return uint64(m.sharedSize)
	case ptx.DynamicSmemSize:
		return uint64(m.Shared)
	case ptx.PerCTAMemorySize:
		return m.sliceSize
	case ptx.PerCTAMemoryOffset:
		if m.ctaMemory > 0 {
			return m.ctaMemory + m.sliceSize*uint64(c.id[0]+m.Grid[0]*(c.id[1]+m.Grid[1]*c.id[2]))
		}
	}
	return 0
}
