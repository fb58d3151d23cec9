package fuzz

// This file finds out whether a program reads only what it has written, and is in the manual's syntax.

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
)

// staticFault is the first thing in a module that keeps its result from being defined on every implementation: an
// operand that is not in the manual's syntax, or a read of a value that is not written on every path.
func staticFault(m *ptx.Module) (fault error) {
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Defined {
			continue
		}
		f.EachInstr(func(in *ptx.Instr) {
			if fault == nil {
				fault = syntaxFault(in)
			}
		})
		if fault != nil {
			return fault
		}
		if list := f.UnwrittenReads(); len(list) > 0 {
			return fmt.Errorf("%v is read, and not written on every path", list[0])
		}
	}
	return nil
}

// syntaxFault is a part of an instruction that NVIDIA's assembler takes and the manual's syntax does not have.
func syntaxFault(in *ptx.Instr) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", in.Pos, in.Text, fmt.Sprintf(format, args...))
	}
	if in.Form.Undocumented {
		return fault("the manual does not have the instruction")
	}
	for i := range in.Ops {
		o, spec := &in.Ops[i], &in.Form.Operands[i]
		switch {
		case o.Neg && spec.Extended:
			return fault("the manual has no negation of operand %s", spec.Name)
		case o.Kind == ptx.ImmOperand && !spec.Const && in.OperandType(i) == ptx.Pred:
			return fault("operand %s is a constant instead of a predicate", spec.Name)
		case o.Kind == ptx.ImmOperand && spec.Name == "a" && registerOnly(in):
			return fault("operand %s is a constant instead of a register", spec.Name)
		}
	}
	return nil
}

// registerOnly reports whether the first source of an instruction must be a register: of exchanges between lanes, of moves
// between a register and a vector, and of conversions of constants, which the manual shows with registers only.
func registerOnly(in *ptx.Instr) bool {
	switch in.Form.Family {
	case ptx.FamilyShfl, ptx.FamilyMatch, ptx.FamilyRedux, ptx.FamilyConvert, ptx.FamilyPack:
		return true
	case ptx.FamilyMove:
		return in.Ops[0].Kind == ptx.VecOperand
	}
	return false
}

// writtenMemory is a probe that finds loads of bytes of .shared and .local memory that nothing has written. It has a
// shadow byte for each byte of memory, 1 once it is written. Parameters of functions are not its business: staticFault
// follows them.
type writtenMemory struct{ fault error }

// shadowBytes are the shadow bytes that a list of probes needs.
func shadowBytes(probes []interp.Probe) int {
	for _, p := range probes {
		if _, ok := p.(*writtenMemory); ok {
			return 1
		}
	}
	return 0
}

// Wants implements interp.Probe.
func (w *writtenMemory) Wants() interp.Wants {
	return interp.Wants{Events: interp.OnAfter, Addresses: true, InOrder: true}
}

// CTA implements interp.Probe.
func (w *writtenMemory) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return w }

// Tell implements interp.Sink.
func (w *writtenMemory) Tell(e *interp.Event) {
	if e.Kind != interp.OnAfter || w.fault != nil {
		return
	}
	if s, _ := e.Instr.Space(); s == ptx.Param {
		return
	}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		for lane := range 64 {
			if e.Lanes&a.Lanes>>lane&1 == 0 {
				continue
			}
			space, _, _, ok := a.Place(lane)
			if !ok || space != ptx.Shared && space != ptx.Local {
				continue
			}
			for k, is := range a.Shadow(lane) {
				if a.Kind != interp.AccessStore && is == 0 {
					w.fault = fmt.Errorf("%s: %s: byte %d of what it reads is not written", e.Instr.Pos, e.Instr.Text, k)
					return
				}
			}
			if a.Kind == interp.AccessLoad {
				continue
			}
			shadow := a.Shadow(lane)
			for k := range shadow {
				shadow[k] = 1
			}
		}
	}
}
