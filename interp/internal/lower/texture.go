package lower

// This file lowers textures and surfaces.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/sampling"
	"gemu/ptx"
	"gemu/texture"
)

// vector returns the elements of an operand, which may be a single register.
func vector(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VecOperand {
		return o.Elems()
	}
	return []ptx.Operand{*o}
}

// sourceElems returns the rows of at most n elements of type t.
func (l *lowerer) sourceElems(o *ptx.Operand, t ptx.Type, n int) (list []code.Elem) {
	for i, e := range vector(o) {
		if i < n {
			list = append(list, code.Elem{Slot: code.SlotOf(t), Row: l.source(&e, t, code.SlotOf(t))})
		}
	}
	return list
}

// lowerObject lowers the address [a, b, c] of an instruction: an object, a sampler, and coordinates in the given
// geometry.
func (l *lowerer) lowerObject(instr *ptx.Instr, x *code.Texture, g texture.Geometry, t ptx.Type) {
	a := instr.Arg("a")
	at, _ := l.addressRow(instr, a, ptx.Generic)
	x.Sources[code.TextureObject] = []code.Elem{{Slot: code.Q, Row: at}}
	parts := a.Elems()
	if len(parts) > 1 {
		x.Sources[code.TextureSampler] = l.sourceElems(&parts[0], ptx.B64, 1)
	}
	index, n := 0, g.Dimensions()
	if g.Cube() {
		n++
	}
	if g.Layered() {
		index++
	}
	if g.Multisample() {
		index++
	}
	coord := vector(&parts[len(parts)-1])
	for i := range min(index+n, len(coord)) {
		coordType := t
		if i < index {
			coordType = ptx.U32
		}
		x.Sources[code.TextureCoord] = append(x.Sources[code.TextureCoord], code.Elem{Slot: code.R, Row: l.source(&coord[i], coordType, code.R)})
	}
}

// emitTexture emits an instruction with an entry in the table of texture instructions.
func (l *lowerer) emitTexture(op code.Op, x code.Texture) {
	l.tables.Textures = append(l.tables.Textures, x)
	l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Textures) - 1)})
}

// destinations returns the registers of operand d.
func (l *lowerer) destinations(instr *ptx.Instr) (list []code.Elem) {
	for _, e := range vector(instr.Arg("d")) {
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
	k := &x.Lookup
	t := ptx.F32
	if k.Integer {
		t = ptx.S32
	}
	l.lowerObject(instr, &x, k.Geometry, t)
	optional := func(name string, to int, t ptx.Type) bool {
		i := instr.Form.Operand(name)
		if i < 0 || instr.Ops[i].Kind == ptx.NoOperand {
			return false
		}
		n := 4
		if to == code.TextureOffset {
			n = k.Geometry.Dimensions() // further elements are ignored
		}
		x.Sources[to] = l.sourceElems(&instr.Ops[i], t, n)
		return true
	}
	switch {
	case k.Gather:
		k.Component = map[string]int{"r": 0, "g": 1, "b": 2, "a": 3}[instr.Slot("comp")]
	case instr.Has("level"):
		k.MipSource = sampling.MipOperand
		optional("g", code.TextureLevel, t)
	case instr.Has("grad"):
		k.MipSource = sampling.MipGradient
		optional("g", code.TextureDX, ptx.F32)
		optional("h", code.TextureDY, ptx.F32)
	}
	optional("e", code.TextureOffset, ptx.S32)
	k.Compare = optional("f", code.TextureCompare, ptx.F32)
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
	l.query(instr, code.Instr{Op: code.TextureQuery, B: level})
}

func lowerSurfaceQuery(l *lowerer, instr *ptx.Instr) {
	l.query(instr, code.Instr{Op: code.SurfaceQuery})
}

// query emits a query of an attribute.
func (l *lowerer) query(instr *ptx.Instr, o code.Instr) {
	o.Imm = uint64(sampling.AttributeNamed(instr.Slot("query")))
	o.A, _ = l.addressRow(instr, instr.Arg("a"), ptx.Generic)
	o.D = l.target(instr.Arg("d"), code.R)
	l.emit(o)
}
