package interp

// This file reports which instruction variants the native engine's machine code can execute.

import (
	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/ptx"
)

// MachineCodeForms are the forms in which machine code of this host has a variant of an instruction. The zero value means
// that the portable engine executes it.
type MachineCodeForms struct {
	AllLanes  bool // machine code executes it for warps with all lanes
	SomeLanes bool // machine code executes it for some lanes of a warp: under a guard, or in a warp split

	Lanewise  bool // it only computes, lane by lane: Constants and Compact are known
	Constants bool // each source operand may be a constant; otherwise some must be registers
	Compact   bool // machine code executes it once per warp, on the bases and strides of compact operands
}

// MachineCodeOf returns the forms of a variant, in vector mode. They are taken from the native engine's tables. On a host
// without machine code, and for a variant that does not run, they are the zero value.
func MachineCodeOf(v *ptx.Variant) MachineCodeForms {
	if !Native.Available() {
		return MachineCodeForms{}
	}
	m, err := NewDevice(Config{}).Load("example.ptx", []byte(v.Example()))
	if err != nil {
		return MachineCodeForms{}
	}
	launch := machine.Launch{Block: ptx.Dim(1), WarpSize: 32, Mode: machine.Vector, Reconverge: reconvergers[0].policy}
	k, err := m.lower(m.Kernels()[0], grid.Lowering(&launch))
	if err != nil {
		return MachineCodeForms{}
	}
	return MachineCodeForms(native.HostLibrary().ProgramForms(k.Program))
}
