package lower

// This file lowers copies from and to tensors, and changes of tensor maps.

import (
	"slices"
	"strconv"
	"strings"

	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// loadModes maps modifiers to the modes of tensor maps.
var loadModes = map[string]tensormap.Mode{
	"im2col": tensormap.Im2col, "im2col_no_offs": tensormap.Im2col, "im2col::w": tensormap.Im2colW, "im2col_no_offs::w": tensormap.Im2colW, "im2col::w::128": tensormap.Im2colW128,
}

// tensorCopy lowers cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func (l *lowerer) tensorCopy(instr *ptx.Instr) {
	t := code.Tensor{Rows: instr.Has("tile::gather4") || instr.Has("tile::scatter4"), Store: instr.Has("bulk_group"), Multicast: multicasts(instr), Dims: 2, Report: reportPatterns[instr.Slot("report")],
		Override: instr.Has("override::global_address"), Shape: instr.Has("override::global_dim") || instr.Has("override::global_dim_stride")}
	if dim := instr.Slot("dim"); dim != "" {
		t.Dims, _ = strconv.Atoi(strings.TrimSuffix(dim, "d"))
	}
	for name, mode := range loadModes {
		if instr.Has(name) {
			t.Mode = mode
		}
	}
	if op, ok := atomicOf(instr); ok {
		t.Reduces, t.Op = true, op
	}
	o := code.Instr{Op: code.AsyncTensor}
	boxName, tensorName := "a", "b" // the operands with the box in shared memory and with the tensor
	if t.Store {
		boxName, tensorName = "c", "a"
	}
	cluster := instr.Has("shared::cluster")
	o.A, t.Shared = l.addressRowIn(instr, instr.Arg(boxName), ptx.Shared, cluster)
	tensor := instr.Arg(tensorName)
	o.B, t.Map = l.addressRow(instr, tensor, ptx.Generic)
	o.C = l.constant(code.Q, 0)
	if !t.Store {
		o.C, t.MbarrierSpace = l.addressRowIn(instr, instr.Arg("e"), ptx.Shared, cluster)
	}
	site := code.CallSite{Target: -1}
	addArgs := func(o *ptx.Operand, t ptx.Type) {
		elems := operandElems(o)
		for i := range elems {
			site.Args = append(site.Args, code.ParamPlace{Slot: code.R, Row: l.source(&elems[i], t, code.R)})
		}
	}
	parts := tensor.Elems() // the overriding operands, then the coordinates
	addArgs(&parts[len(parts)-1], ptx.S32)
	if instr.Form.Operand("f") >= 0 && instr.Arg("f").Kind != ptx.NoOperand {
		addArgs(instr.Arg("f"), ptx.U16)
	}
	for len(site.Args) < t.Coordinates()+len(tensormap.Copy{}.Offsets) {
		site.Args = append(site.Args, code.ParamPlace{Slot: code.R, Row: l.constant(code.R, 0)})
	}
	switch {
	case instr.Has("multicast::cluster::32b"):
		addArgs(instr.Arg("g"), ptx.B32)
	case t.Multicast:
		addArgs(instr.Arg("g"), ptx.B16)
	}
	if t.Override {
		site.Args = append(site.Args, code.ParamPlace{Slot: code.Q, Row: l.source(&parts[0], ptx.B64, code.Q)})
	}
	if t.Shape {
		l.appendExtents(&site, &parts[1])
		if len(parts) > 3 { // strides override the strides of the map, too
			addArgs(&parts[2], ptx.B32)
			addArgs(&parts[3], ptx.B16)
		}
	}
	o.Imm, o.Side = t.Imm(), int32(len(l.tables.Calls))
	l.tables.Calls = append(l.tables.Calls, site)
	l.emit(o)
}

// appendExtents appends to the arguments of site the extents that override the extents of the map. The upper bits of
// 8-bit registers are cleared.
func (l *lowerer) appendExtents(site *code.CallSite, o *ptx.Operand) {
	elems := operandElems(o)
	for i := range elems {
		row := l.source(&elems[i], ptx.B16, code.R)
		if e := &elems[i]; e.Kind == ptx.RegOperand && l.fn.Func.Regs[e.Reg].Type.Bits() == 8 {
			low := l.newTemp(code.R)
			l.emit(code.Instr{Op: code.OpNamed("and.b32"), D: low, A: row, B: l.constant(code.R, 0xff)})
			row = low
		}
		site.Args = append(site.Args, code.ParamPlace{Slot: code.R, Row: row})
	}
}

// lowerTensormap lowers tensormap.replace, tensormap.query and tensormap.cp_fenceproxy.
func lowerTensormap(l *lowerer, instr *ptx.Instr) {
	if instr.Has("cp_fenceproxy") {
		o := code.Instr{Op: code.MapCopy}
		o.A, _ = l.addressRow(instr, instr.Arg("a"), ptx.Global)
		o.B, _ = l.addressRow(instr, instr.Arg("b"), ptx.Shared)
		l.emit(o)
		return
	}
	if instr.Has("query") {
		if p := l.predicate(instr.Arg("p")); p != code.NoRow {
			f := code.MapField{}
			f.Space, _ = instr.Space()
			o := code.Instr{Op: code.MapLarge, D: p}
			o.A, f.Space = l.addressRow(instr, instr.Arg("a"), f.Space)
			o.Imm = f.Imm()
			l.emit(o)
		}
		return
	}
	l.replaceClass(instr)
	if instr.Form.Operand("b") < 0 {
		return
	}
	f := code.MapField{Field: slices.Index(code.MapFields, instr.Slot("field"))}
	o := code.Instr{Op: code.MapReplace}
	f.Space, _ = instr.Space()
	o.A, f.Space = l.addressRow(instr, instr.Arg("a"), f.Space)
	value := instr.Arg("b")
	if instr.Form.Operand("c") >= 0 {
		c := instr.Arg("c")
		f.Ord, value = int(min(value.Imm.Bits, 0xffff)), c
	}
	if o.B = l.source(value, instr.Type(), code.SlotOf(instr.Type())); instr.Type().Bits() == 32 {
		wide := l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: o.B})
		o.B = wide
	}
	o.Imm = f.Imm()
	l.emit(o)
}

// replaceClass lowers the modifier of a tensormap.replace that sets the allocation class, if there is one.
func (l *lowerer) replaceClass(instr *ptx.Instr) {
	large := instr.Has("alloc_large")
	if !large && !instr.Has("alloc_small") {
		return
	}
	f := code.MapField{Field: slices.Index(code.MapFields, tensormap.AllocClass)}
	f.Space, _ = instr.Space()
	o := code.Instr{Op: code.MapReplace, B: l.constant(code.Q, 0)}
	if large {
		o.B = l.constant(code.Q, 1)
	}
	o.A, f.Space = l.addressRow(instr, instr.Arg("a"), f.Space)
	o.Imm = f.Imm()
	l.emit(o)
}
