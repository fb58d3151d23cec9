package driver

// This file describes modules as data.

import (
	"strconv"

	"gemu/ptx"
)

// ModuleDescription describes a module.
type ModuleDescription struct {
	Schema      string                `json:"schema"`       // "gemu-module/1"
	Name        string                `json:"name"`         // name of the PTX in messages
	Version     string                `json:"version"`      // number in .version
	Target      []string              `json:"target"`       // names in .target
	AddressSize int                   `json:"address_size"` // bits of an address: 32 or 64
	Kernels     []KernelDescription   `json:"kernels"`      // kernels, in the order of the source
	Variables   []VariableDescription `json:"variables"`    // variables in global and constant memory, in the order of the source
}

// KernelDescription describes a kernel.
type KernelDescription struct {
	Name       string                 `json:"name"`            // name of the kernel
	Parameters []ParameterDescription `json:"parameters"`      // parameters, in order
	Block      []int                  `json:"block,omitempty"` // threads of a block in x, y and z, if .reqntid requires them
	Line       int                    `json:"line"`            // line of its declaration in the PTX, from 1 on
}

// ParameterDescription describes a parameter of a kernel.
type ParameterDescription struct {
	Name    string `json:"name"`            // name of the parameter
	Type    string `json:"type"`            // type of the parameter, or of its elements, such as "f32"
	Dims    []int  `json:"dims,omitempty"`  // extents of an array, outermost first
	Size    int    `json:"size"`            // size in bytes
	Pointer bool   `json:"pointer"`         // the PTX declares a pointer (.ptr); most compilers declare none
	Space   string `json:"space,omitempty"` // of a declared pointer: state space of the memory, such as "global"
}

// VariableDescription describes a variable of a module.
type VariableDescription struct {
	Name  string `json:"name"`           // name of the variable
	Space string `json:"space"`          // state space: "global" or "const"
	Type  string `json:"type"`           // type of the variable, or of its elements, such as "f32"
	Dims  []int  `json:"dims,omitempty"` // extents of an array, outermost first
	Size  int    `json:"size"`           // size in bytes
	Line  int    `json:"line"`           // line of its declaration in the PTX, from 1 on
}

// ModuleDescribe describes a module.
func (t *Thread) ModuleDescribe(h Handle) (*ModuleDescription, error) {
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	m, err := object[*Module](t.d, h)
	t.d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	source := m.mod.Module
	d := &ModuleDescription{
		Schema: "gemu-module/1", Name: source.Name, Version: source.Version.String(), Target: source.Target, AddressSize: source.AddressSize,
		Kernels: []KernelDescription{}, Variables: []VariableDescription{},
	}
	for _, k := range source.Kernels() {
		d.Kernels = append(d.Kernels, describeKernel(k))
	}
	for _, v := range source.Vars() {
		if b := m.mod.Var(v.Name); b != nil {
			d.Variables = append(d.Variables, VariableDescription{
				Name: v.Name, Space: v.Space.String(), Type: typeName(v), Dims: v.Dims, Size: b.Size(), Line: int(v.Pos.Line),
			})
		}
	}
	return d, nil
}

// describeKernel describes a kernel.
func describeKernel(k *ptx.Func) KernelDescription {
	d := KernelDescription{Name: k.Name, Parameters: []ParameterDescription{}, Line: int(k.Pos.Line)}
	for _, p := range k.Params {
		described := ParameterDescription{Name: p.Name, Type: typeName(p), Dims: p.Dims, Size: p.Size(), Pointer: p.IsPtr}
		if p.IsPtr && p.PtrSpace != ptx.Generic {
			described.Space = p.PtrSpace.String()
		}
		d.Parameters = append(d.Parameters, described)
	}
	if extents, ok := k.Directive(".reqntid"); ok {
		d.Block = []int{1, 1, 1}
		for i, text := range extents {
			d.Block[i], _ = strconv.Atoi(text) // the parser has checked it
		}
	}
	return d
}

// typeName returns the type of a variable without its dot, or that of the elements of an array: "f32", "v4.f32".
func typeName(v *ptx.Var) string {
	if v.Vec > 1 {
		return "v" + strconv.Itoa(v.Vec) + v.Type.String()
	}
	return v.Type.String()[1:]
}
