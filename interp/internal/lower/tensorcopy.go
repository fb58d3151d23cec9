package lower

// This file lowers what copies from and to tensors, and what changes tensor maps.

import (
	"slices"
	"strconv"
	"strings"

	"gemu/internal/tensormap"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// loadModes are the modes of tensor maps, by how instructions name them.
var loadModes = map[string]tensormap.Mode{
	"im2col": tensormap.Im2col, "im2col_no_offs": tensormap.Im2col, "im2col::w": tensormap.Im2colW, "im2col_no_offs::w": tensormap.Im2colW, "im2col::w::128": tensormap.Im2colW128,
}

// tensorCopy lowers cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func (l *lowerer) tensorCopy(in *ptx.Instr) {
	t := code.Tensor{Rows: in.Has("tile::gather4") || in.Has("tile::scatter4"), Store: in.Has("bulk_group"), Multicast: multicasts(in), Dims: 2, Report: validities[in.Slot("report")],
		Override: in.Has("override::global_address"), Shape: in.Has("override::global_dim") || in.Has("override::global_dim_stride")}
	if dim := in.Slot("dim"); dim != "" {
		t.Dims, _ = strconv.Atoi(strings.TrimSuffix(dim, "d"))
	}
	for name, mode := range loadModes {
		if in.Has(name) {
			t.Mode = mode
		}
	}
	if op, ok := atomicOf(in); ok {
		t.Reduces, t.Op = true, op
	}
	o, names := code.Instr{Op: code.AsyncTensor}, [...]string{"a", "b"} // the box in shared memory, the map
	if t.Store {
		names = [...]string{"c", "a"}
	}
	cluster := in.Has("shared::cluster")
	o.A, t.Shared = l.placeIn(in, in.Arg(names[0]), ptx.Shared, cluster)
	at := in.Arg(names[1])
	o.B, t.Map = l.place(in, at, ptx.Generic)
	o.C = l.konst(code.Q, 0)
	if !t.Store {
		o.C, t.Told = l.placeIn(in, in.Arg("e"), ptx.Shared, cluster)
	}
	site := code.CallSite{Target: -1}
	list := func(o *ptx.Operand, t ptx.Type) {
		elems := []ptx.Operand{*o}
		if o.Kind == ptx.VecOperand {
			elems = o.Elems()
		}
		for i := range elems {
			site.Args = append(site.Args, code.Place{Slot: code.R, Row: l.source(&elems[i], t, code.R)})
		}
	}
	parts := at.Elems() // the overriding operands, then the coordinates
	list(&parts[len(parts)-1], ptx.S32)
	if in.Form.Operand("f") >= 0 && in.Arg("f").Kind != ptx.NoOperand {
		list(in.Arg("f"), ptx.U16)
	}
	for len(site.Args) < t.Coordinates()+len(tensormap.Copy{}.Offsets) {
		site.Args = append(site.Args, code.Place{Slot: code.R, Row: l.konst(code.R, 0)})
	}
	switch {
	case in.Has("multicast::cluster::32b"):
		list(in.Arg("g"), ptx.B32)
	case t.Multicast:
		list(in.Arg("g"), ptx.B16)
	}
	if t.Override {
		site.Args = append(site.Args, code.Place{Slot: code.Q, Row: l.source(&parts[0], ptx.B64, code.Q)})
	}
	if t.Shape {
		l.extents(&site, &parts[1])
		if len(parts) > 3 {
			list(&parts[2], ptx.B32)
			list(&parts[3], ptx.B16)
		}
	}
	o.Imm, o.Side = t.Imm(), int32(len(l.tables.Calls))
	l.tables.Calls = append(l.tables.Calls, site)
	l.emit(o)
}

// extents lists the extents that override those of a tensor map. Of registers of 8 bits the upper bits are cleared.
func (l *lowerer) extents(site *code.CallSite, o *ptx.Operand) {
	elems := []ptx.Operand{*o}
	if o.Kind == ptx.VecOperand {
		elems = o.Elems()
	}
	for i := range elems {
		row := l.source(&elems[i], ptx.B16, code.R)
		if e := &elems[i]; e.Kind == ptx.RegOperand && l.fn.Func.Regs[e.Reg].Type.Bits() == 8 {
			low := l.temp(code.R)
			l.emit(code.Instr{Op: code.Named("and.b32"), D: low, A: row, B: l.konst(code.R, 0xff)})
			row = low
		}
		site.Args = append(site.Args, code.Place{Slot: code.R, Row: row})
	}
}

// lowerTensormap lowers tensormap.replace, tensormap.query and tensormap.cp_fenceproxy.
func lowerTensormap(l *lowerer, in *ptx.Instr) {
	if in.Has("cp_fenceproxy") {
		o := code.Instr{Op: code.MapCopy}
		o.A, _ = l.place(in, in.Arg("a"), ptx.Global)
		o.B, _ = l.place(in, in.Arg("b"), ptx.Shared)
		l.emit(o)
		return
	}
	if in.Has("query") {
		if p := l.predicate(in.Arg("p")); p != code.NoRow {
			f := code.MapField{}
			f.Space, _ = in.Space()
			o := code.Instr{Op: code.MapLarge, D: p}
			o.A, f.Space = l.place(in, in.Arg("a"), f.Space)
			o.Imm = f.Imm()
			l.emit(o)
		}
		return
	}
	l.replaceClass(in)
	if in.Form.Operand("b") < 0 {
		return
	}
	f := code.MapField{Field: slices.Index(code.MapFields, in.Slot("field"))}
	o := code.Instr{Op: code.MapReplace}
	f.Space, _ = in.Space()
	o.A, f.Space = l.place(in, in.Arg("a"), f.Space)
	value := in.Arg("b")
	if in.Form.Operand("c") >= 0 {
		c := in.Arg("c")
		f.Ord, value = int(min(value.Imm.Bits, 0xffff)), c
	}
	if o.B = l.source(value, in.Type(), code.SlotOf(in.Type())); in.Type().Bits() == 32 {
		wide := l.temp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: o.B})
		o.B = wide
	}
	o.Imm = f.Imm()
	l.emit(o)
}

// replaceClass lowers the part of tensormap.replace that sets the allocation class.
func (l *lowerer) replaceClass(in *ptx.Instr) {
	large := in.Has("alloc_large")
	if !large && !in.Has("alloc_small") {
		return
	}
	f := code.MapField{Field: slices.Index(code.MapFields, tensormap.AllocClass)}
	f.Space, _ = in.Space()
	o := code.Instr{Op: code.MapReplace, B: l.konst(code.Q, 0)}
	if large {
		o.B = l.konst(code.Q, 1)
	}
	o.A, f.Space = l.place(in, in.Arg("a"), f.Space)
	o.Imm = f.Imm()
	l.emit(o)
}
