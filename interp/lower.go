package interp

// This file lowers kernels of a module.

import (
	"errors"
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// lower prepares a kernel of the module to run, with the compute capability of the device.
func (m *Module) lower(k *ptx.Func, opt lower.Options) (*machine.Kernel, error) {
	return m.lowerFor(kernelKey{k, m.dev.cfg.SM, opt})
}

// lowerFor prepares a kernel of the module to run.
func (m *Module) lowerFor(key kernelKey) (*machine.Kernel, error) {
	k := key.fn
	if err := m.checkParams(k); err != nil {
		return nil, err
	}
	p, err := lower.Kernel(m.Module, k, linker{m, key.sm}, key.Options)
	if fault, ok := err.(*lower.VerifyError); ok {
		return nil, m.lowerFault(k, fault)
	}
	if err != nil {
		return nil, err
	}
	return grid.NewKernel(m.Module, k, p), nil
}

// errParams is the error of parameters that are too large (manual, 5.1.6.1).
var errParams = fmt.Errorf("the parameters of a kernel have at most %d bytes", maxParams)

// checkParams returns an error if the parameters of a kernel have more bytes than the manual allows.
func (m *Module) checkParams(k *ptx.Func) error {
	for i, sum := 0, 0; i < len(k.Params); i++ {
		p := k.Params[i]
		if sum += p.Size(); sum > maxParams {
			return &MemoryError{File: m.Name, Pos: p.Pos, Line: m.Line(int(p.Pos.Line)), Variable: fmt.Sprintf("parameter %s of %d bytes", p.Name, p.Size()), Err: errParams}
		}
	}
	return nil
}

// lowerFault returns the trap of a kernel whose lowered code differs from the code that the verifier expects.
func (m *Module) lowerFault(k *ptx.Func, fault *lower.VerifyError) *probe.Trap {
	t := &probe.Trap{Kind: probe.ErrMismatch, Msg: fmt.Sprintf("%v: %v", probe.ErrMismatch, fault), Kernel: k.Name, File: m.Name, Pos: fault.Func.Pos, Func: fault.Func.Name, Index: -1, Warp: -1}
	var wrong *code.Fault
	if errors.As(fault, &wrong) && wrong.Instr != nil {
		t.Pos, t.Instr = wrong.Instr.Pos, wrong.Instr.Text
	}
	t.Line = m.Line(int(t.Pos.Line))
	return t
}

// linker gives lowering the facts about the device of a module.
type linker struct {
	m  *Module
	sm int // compute capability
}

func (a linker) Address(s ptx.Symbol) (uint64, bool) { return a.m.symbolAddress(s) }

func (a linker) SM() int { return a.sm }

// Params sizes the parameter block, whose contents are then those of no launch in flight.
func (a linker) Params(bytes int) {
	a.m.dev.simtDevice.Current = nil
	a.m.dev.mem.SizeParams(bytes)
}

func (a linker) Memory(addr uint64) *mem.Allocation { return a.m.dev.mem.Find(addr) }

// AddressTaken returns the functions whose address is taken. It searches the module only once: a module can have many kernels.
func (a linker) AddressTaken() []*ptx.Func {
	if a.m.addressTaken == nil {
		a.m.addressTaken = lower.AddressTaken(a.m.Module)
	}
	return a.m.addressTaken
}
