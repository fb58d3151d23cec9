package fuzz

// This file checks that a program reads only values that it has written, and is in the manual's syntax.

import (
	"fmt"

	"gemu/probe"
	"gemu/ptx"
)

// staticFault returns the first fault of a module that makes its result undefined on some implementation: an operand
// outside the manual's syntax, or a read of a value that is not written on every path.
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
			return fmt.Errorf("%v is read, but not written on every path", list[0])
		}
	}
	return nil
}

// syntaxFault returns the part of an instruction that NVIDIA's assembler accepts but the manual's syntax lacks.
func syntaxFault(instr *ptx.Instr) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", instr.Pos, instr.Text, fmt.Sprintf(format, args...))
	}
	if instr.Form.Undocumented {
		return fault("the instruction is not in the manual")
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

// registerOnly reports whether the first source of an instruction must be a register: in exchanges between lanes, in
// moves between a register and a vector, and in conversions, which the manual shows with registers only.
func registerOnly(instr *ptx.Instr) bool {
	switch instr.Form.Family {
	case ptx.FamilyShfl, ptx.FamilyMatch, ptx.FamilyRedux, ptx.FamilyConvert, ptx.FamilyPack:
		return true
	case ptx.FamilyMove:
		return instr.Ops[0].Kind == ptx.VecOperand
	}
	return false
}

// writtenMemory is a probe that finds loads of unwritten bytes of .shared and .local memory. It needs a shadow byte
// for each byte of memory, which is 1 once the byte is written. It ignores parameters of functions: staticFault
// follows them.
type writtenMemory struct{ fault error }

// shadowBytes returns the number of shadow bytes that a list of probes needs.
func shadowBytes(probes []probe.Probe) int {
	for _, p := range probes {
		if _, ok := p.(*writtenMemory); ok {
			return 1
		}
	}
	return 0
}

// Subscription implements probe.Probe.
func (w *writtenMemory) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnAfter, Addresses: true, InOrder: true}
}

// CTA implements probe.Probe.
func (w *writtenMemory) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return w }

// OnEvent implements probe.Sink.
func (w *writtenMemory) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnAfter || w.fault != nil {
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
				if a.Kind != probe.AccessStore && value == 0 {
					w.fault = fmt.Errorf("%s: %s: it reads memory that is not written, at byte %d", e.Instr.Pos, e.Instr.Text, k)
					return
				}
			}
			if a.Kind == probe.AccessLoad {
				continue
			}
			shadow := a.Shadow(lane)
			for k := range shadow {
				shadow[k] = 1
			}
		}
	}
}
