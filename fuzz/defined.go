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
		f.EachInstr(func(instr *ptx.Instr) {
			if fault == nil {
				fault = syntaxFault(instr)
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
func syntaxFault(instr *ptx.Instr) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", instr.Pos, instr.Text, fmt.Sprintf(format, args...))
	}
	if instr.Form.Undocumented {
		return fault("the manual does not have the instruction")
	}
	for i := range instr.Ops {
		o, spec := &instr.Ops[i], &instr.Form.Operands[i]
		switch {
		case o.Neg && spec.Extended:
			return fault("the manual has no negation of operand %s", spec.Name)
		case o.Kind == ptx.ImmOperand && !spec.Const && instr.OperandType(i) == ptx.Pred:
			return fault("operand %s is a constant instead of a predicate", spec.Name)
		case o.Kind == ptx.ImmOperand && spec.Name == "a" && registerOnly(instr):
			return fault("operand %s is a constant instead of a register", spec.Name)
		}
	}
	return nil
}

// registerOnly reports whether the first source of an instruction must be a register: of exchanges between lanes, of moves
// between a register and a vector, and of conversions of constants, which the manual shows with registers only.
func registerOnly(instr *ptx.Instr) bool {
	switch instr.Form.Family {
	case ptx.FamilyShfl, ptx.FamilyMatch, ptx.FamilyRedux, ptx.FamilyConvert, ptx.FamilyPack:
		return true
	case ptx.FamilyMove:
		return instr.Ops[0].Kind == ptx.VecOperand
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

// Subscription implements interp.Probe.
func (w *writtenMemory) Subscription() interp.Subscription {
	return interp.Subscription{Events: interp.OnAfter, Addresses: true, InOrder: true}
}

// CTA implements interp.Probe.
func (w *writtenMemory) CTA(*interp.LaunchInfo, int, interp.Dim3) interp.Sink { return w }

// OnEvent implements interp.Sink.
func (w *writtenMemory) OnEvent(e *interp.Event) {
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
			space, _, _, ok := a.PlaceOf(lane)
			if !ok || space != ptx.Shared && space != ptx.Local {
				continue
			}
			for k, value := range a.Shadow(lane) {
				if a.Kind != interp.AccessStore && value == 0 {
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
