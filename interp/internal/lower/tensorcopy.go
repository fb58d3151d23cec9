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
	"im2col": tensormap.Im2col, "im2col_no_offs": tensormap.Im2col, "im2col::w": tensormap.Im2colW, "im2col::w::128": tensormap.Im2colW128,
}

// tensorCopy lowers cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func (l *lowerer) tensorCopy(in *ptx.Instr) {
	t := code.Tensor{Rows: in.Has("tile::gather4") || in.Has("tile::scatter4"), Store: in.Has("bulk_group"), Multicast: in.Has("multicast::cluster"), Dims: 2}
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
	list(&at.Elems()[0], ptx.S32)
	if in.Form.Operand("f") >= 0 && in.Arg("f").Kind != ptx.NoOperand {
		list(in.Arg("f"), ptx.U16)
	}
	for len(site.Args) < t.Coordinates()+len(tensormap.Copy{}.Offsets) {
		site.Args = append(site.Args, code.Place{Slot: code.R, Row: l.konst(code.R, 0)})
	}
	if t.Multicast {
		list(in.Arg("g"), ptx.B16)
	}
	o.Imm, o.Side = t.Imm(), int32(len(l.tables.Calls))
	l.tables.Calls = append(l.tables.Calls, site)
	l.emit(o)
}

// lowerTensormap lowers tensormap.replace and tensormap.cp_fenceproxy.
func lowerTensormap(l *lowerer, in *ptx.Instr) {
	if in.Has("cp_fenceproxy") {
		o := code.Instr{Op: code.MapCopy}
		o.A, _ = l.place(in, in.Arg("a"), ptx.Global)
		o.B, _ = l.place(in, in.Arg("b"), ptx.Shared)
		l.emit(o)
		return
	}
	if in.Form.Operand("b") < 0 {
		return // only where the memory comes from, which nothing depends on
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
