package lower

// This file lowers textures and surfaces.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/sampling"
	"gemu/ptx"
	"gemu/texture"
)

// sourceElems returns the rows of the first n elements of an operand of type t, or of all if there are fewer.
func (l *lowerer) sourceElems(o *ptx.Operand, t ptx.Type, n int) (list []code.Elem) {
	for i, e := range operandElems(o) {
		if i < n {
			list = append(list, code.Elem{Slot: code.SlotOf(t), Row: l.source(&e, t, code.SlotOf(t))})
		}
	}
	return list
}

// lowerObject sets the sources of x that are in operand a of an instruction, [object, sampler, coordinates]. The sampler
// may be missing. Coordinates in geometry g have type t; an index of a layer or a sample comes before them.
func (l *lowerer) lowerObject(instr *ptx.Instr, x *code.Texture, g texture.Geometry, t ptx.Type) {
	a := instr.Arg("a")
	object, _ := l.addressRow(instr, a, ptx.Generic)
	x.Sources[code.TextureObject] = []code.Elem{{Slot: code.Q, Row: object}}
	parts := a.Elems()
	if len(parts) > 1 {
		x.Sources[code.TextureSampler] = l.sourceElems(&parts[0], ptx.B64, 1)
	}
	indices, coordinates := 0, g.Dimensions()
	if g.Cube() {
		coordinates++
	}
	if g.Layered() {
		indices++
	}
	if g.Multisample() {
		indices++
	}
	coord := operandElems(&parts[len(parts)-1])
	for i := range min(indices+coordinates, len(coord)) {
		coordType := t
		if i < indices {
			coordType = ptx.U32
		}
		x.Sources[code.TextureCoord] = append(x.Sources[code.TextureCoord], code.Elem{Slot: code.R, Row: l.source(&coord[i], coordType, code.R)})
	}
}

// emitTexture emits an instruction on a texture or a surface, with x as its entry in the table of textures.
func (l *lowerer) emitTexture(op code.Op, x code.Texture) {
	l.tables.Textures = append(l.tables.Textures, x)
	l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Textures) - 1)})
}

// destinations returns the rows of operand d; a sink gives an element without a slot.
func (l *lowerer) destinations(instr *ptx.Instr) (list []code.Elem) {
	for _, e := range operandElems(instr.Arg("d")) {
		if e.Kind == ptx.RegOperand {
			list = append(list, code.Elem{Slot: l.rows[e.Reg].Slot, Row: l.rows[e.Reg].Row})
		} else {
			list = append(list, code.Elem{})
		}
	}
	return list
}

func lowerTexture(l *lowerer, instr *ptx.Instr) {
	dtype := instr.SlotType("dtype")
	x := code.Texture{Lookup: sampling.Lookup{
		Geometry: texture.GeometryNamed(instr.Slot("geom")), Integer: instr.Slot("ctype") == "s32", Gather: instr.Form.HasSlot("comp"),
		Half: dtype == ptx.F16 || dtype == ptx.F16x2, Packed: dtype == ptx.F16x2,
	}}
	lookup := &x.Lookup
	t := ptx.F32
	if lookup.Integer {
		t = ptx.S32
	}
	l.lowerObject(instr, &x, lookup.Geometry, t)
	optional := func(name string, source int, t ptx.Type) bool {
		i := instr.Form.Operand(name)
		if i < 0 || instr.Ops[i].Kind == ptx.NoOperand {
			return false
		}
		n := 4
		if source == code.TextureOffset {
			n = lookup.Geometry.Dimensions() // further elements are ignored
		}
		x.Sources[source] = l.sourceElems(&instr.Ops[i], t, n)
		return true
	}
	switch {
	case lookup.Gather:
		lookup.Component = map[string]int{"r": 0, "g": 1, "b": 2, "a": 3}[instr.Slot("comp")]
	case instr.Has("level"):
		lookup.MipSource = sampling.MipOperand
		optional("g", code.TextureLevel, t)
	case instr.Has("grad"):
		lookup.MipSource = sampling.MipGradient
		optional("g", code.TextureDX, ptx.F32)
		optional("h", code.TextureDY, ptx.F32)
	}
	optional("e", code.TextureOffset, ptx.S32)
	lookup.Compare = optional("f", code.TextureCompare, ptx.F32)
	x.D = l.destinations(instr)
	if p := instr.Arg("p"); p.Kind == ptx.RegOperand {
		x.D = append(x.D, code.Elem{Slot: code.P, Row: l.predicate(p)})
	}
	l.emitTexture(code.TextureFetch, x)
}

func lowerSurface(l *lowerer, instr *ptx.Instr) {
	x := code.Texture{Access: sampling.Access{Geometry: texture.GeometryNamed(instr.Slot("geom")), Samples: instr.Slot("mode") == "p"}}
	x.Access.Outside = map[string]sampling.OutsideMode{"trap": sampling.Trap, "clamp": sampling.ToBorder, "zero": sampling.Nothing}[instr.Slot("clamp")]
	l.lowerObject(instr, &x, x.Access.Geometry, ptx.S32)
	op, t := code.SurfaceLoad, instr.SlotType("dtype")
	if !instr.Form.Effects.HasAll(ptx.Writes) {
		x.D = l.destinations(instr)
		x.Access.Bytes = len(x.D) * t.Size()
	} else {
		op, t = code.SurfaceStore, instr.SlotType("ctype")
		c := instr.Arg("c")
		x.Sources[code.TextureData] = l.sourceElems(c, t, 4)
		if !x.Access.Samples {
			x.Access.Bytes = len(x.Sources[code.TextureData]) * t.Size()
		}
	}
	if x.Size = t.Size(); instr.Form.Effects.HasAll(ptx.Atomic) {
		kind, _ := atomicOf(instr)
		op, x.Access.Bytes = code.SurfaceReduce, x.Size
		x.Reduction = code.Reduction{Op: kind, Type: t}
	}
	l.emitTexture(op, x)
}

func lowerIstypep(l *lowerer, instr *ptx.Instr) {
	l.emit(code.Instr{Op: code.IsObject, D: l.predicate(instr.Arg("p")), A: l.source(instr.Arg("a"), ptx.B64, code.Q), Imm: uint64(instr.Type())})
}

func lowerTextureQuery(l *lowerer, instr *ptx.Instr) {
	level := l.constant(code.R, 0)
	if instr.Has("level") {
		level = l.source(instr.Arg("b"), ptx.B32, code.R)
	}
	l.emitQuery(instr, code.Instr{Op: code.TextureQuery, B: level})
}

func lowerSurfaceQuery(l *lowerer, instr *ptx.Instr) {
	l.emitQuery(instr, code.Instr{Op: code.SurfaceQuery})
}

// emitQuery completes and emits o, a query of an attribute of a texture or a surface.
func (l *lowerer) emitQuery(instr *ptx.Instr, o code.Instr) {
	o.Imm = uint64(sampling.AttributeNamed(instr.Slot("query")))
	o.A, _ = l.addressRow(instr, instr.Arg("a"), ptx.Generic)
	o.D = l.target(instr.Arg("d"), code.R)
	l.emit(o)
}
