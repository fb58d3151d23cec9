package lower

// This file lowers textures and surfaces.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/texture"
	"gemu/ptx"
)

// vector is the elements of an operand that may be one register.
func vector(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VecOperand {
		return o.Elems()
	}
	return []ptx.Operand{*o}
}

// values is the rows of elements of type t, n of them at most.
func (l *lowerer) values(o *ptx.Operand, t ptx.Type, n int) (list []code.Elem) {
	for i, e := range vector(o) {
		if i < n {
			list = append(list, code.Elem{Slot: code.SlotOf(t), Row: l.source(&e, t, code.SlotOf(t))})
		}
	}
	return list
}

// object lowers the address [a, b, c] of an instruction: what it goes to, a sampler, and
// coordinates in that geometry.
func (l *lowerer) object(in *ptx.Instr, x *code.Texture, g texture.Geometry, t ptx.Type) {
	a := in.Arg("a")
	at, _ := l.place(in, a, ptx.Generic)
	x.Sources[code.TextureObject] = []code.Elem{{Slot: code.Q, Row: at}}
	parts := a.Elems()
	if len(parts) > 1 {
		x.Sources[code.TextureSampler] = l.values(&parts[0], ptx.B64, 1)
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
		of := t
		if i < index {
			of = ptx.U32
		}
		x.Sources[code.TextureCoord] = append(x.Sources[code.TextureCoord], code.Elem{Slot: code.R, Row: l.source(&coord[i], of, code.R)})
	}
}

// emitTexture emits an instruction with an entry in the table of those on textures.
func (l *lowerer) emitTexture(op code.Op, x code.Texture) {
	l.tables.Textures = append(l.tables.Textures, x)
	l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Textures) - 1)})
}

// destinations are the registers of the operand d.
func (l *lowerer) destinations(in *ptx.Instr) (list []code.Elem) {
	for _, e := range vector(in.Arg("d")) {
		if e.Kind == ptx.RegOperand {
			list = append(list, code.Elem{Slot: l.rows[e.Reg].Slot, Row: l.rows[e.Reg].Row})
		} else {
			list = append(list, code.Elem{})
		}
	}
	return list
}

func lowerTexture(l *lowerer, in *ptx.Instr) {
	dtype := in.SlotType("dtype")
	x := code.Texture{Lookup: texture.Lookup{
		Geometry: texture.GeometryNamed(in.Slot("geom")), Integer: in.Slot("ctype") == "s32", Gather: in.Form.HasSlot("comp"),
		Half: dtype == ptx.F16 || dtype == ptx.F16x2, Packed: dtype == ptx.F16x2,
	}}
	k := &x.Lookup
	t := ptx.F32
	if k.Integer {
		t = ptx.S32
	}
	l.object(in, &x, k.Geometry, t)
	optional := func(name string, to int, t ptx.Type) bool {
		i := in.Form.Operand(name)
		if i < 0 || in.Ops[i].Kind == ptx.NoOperand {
			return false
		}
		n := 4
		if to == code.TextureOffset {
			n = k.Geometry.Dimensions() // more elements are ignored
		}
		x.Sources[to] = l.values(&in.Ops[i], t, n)
		return true
	}
	switch {
	case k.Gather:
		k.Component = map[string]int{"r": 0, "g": 1, "b": 2, "a": 3}[in.Slot("comp")]
	case in.Has("level"):
		k.Mip = texture.Level
		optional("g", code.TextureLevel, t)
	case in.Has("grad"):
		k.Mip = texture.Grad
		optional("g", code.TextureDX, ptx.F32)
		optional("h", code.TextureDY, ptx.F32)
	}
	optional("e", code.TextureOffset, ptx.S32)
	k.Compare = optional("f", code.TextureCompare, ptx.F32)
	x.D = l.destinations(in)
	if p := in.Arg("p"); p.Kind == ptx.RegOperand {
		x.D = append(x.D, code.Elem{Slot: code.P, Row: l.predicate(p)})
	}
	l.emitTexture(code.TextureFetch, x)
}

func lowerSurface(l *lowerer, in *ptx.Instr) {
	x := code.Texture{Access: texture.Access{Geometry: texture.GeometryNamed(in.Slot("geom")), Samples: in.Slot("mode") == "p"}}
	x.Access.Outside = map[string]texture.Outside{"trap": texture.Trap, "clamp": texture.ToBorder, "zero": texture.Nothing}[in.Slot("clamp")]
	l.object(in, &x, x.Access.Geometry, ptx.S32)
	op, t := code.SurfaceLoad, in.SlotType("dtype")
	if !in.Form.Effects.Has(ptx.Writes) {
		x.D = l.destinations(in)
		x.Access.Bytes = len(x.D) * t.Size()
	} else {
		op, t = code.SurfaceStore, in.SlotType("ctype")
		c := in.Arg("c")
		x.Sources[code.TextureData] = l.values(c, t, 4)
		if !x.Access.Samples {
			x.Access.Bytes = len(x.Sources[code.TextureData]) * t.Size()
		}
	}
	if x.Size = t.Size(); in.Form.Effects.Has(ptx.Atomic) {
		kind, _ := atomicOf(in)
		op, x.Access.Bytes = code.SurfaceReduce, x.Size
		x.Reduction = code.Reduction{Op: kind, Type: t}
	}
	l.emitTexture(op, x)
}

func lowerIstypep(l *lowerer, in *ptx.Instr) {
	l.emit(code.Instr{Op: code.IsObject, D: l.predicate(in.Arg("p")), A: l.source(in.Arg("a"), ptx.B64, code.Q), Imm: uint64(in.Type())})
}

func lowerTextureQuery(l *lowerer, in *ptx.Instr) {
	level := l.konst(code.R, 0)
	if in.Has("level") {
		level = l.source(in.Arg("b"), ptx.B32, code.R)
	}
	l.query(in, code.Instr{Op: code.TextureQuery, B: level})
}

func lowerSurfaceQuery(l *lowerer, in *ptx.Instr) { l.query(in, code.Instr{Op: code.SurfaceQuery}) }

// query emits a query of an attribute.
func (l *lowerer) query(in *ptx.Instr, o code.Instr) {
	o.Imm = uint64(texture.AttributeNamed(in.Slot("query")))
	o.A, _ = l.place(in, in.Arg("a"), ptx.Generic)
	o.D = l.target(in.Arg("d"), code.R)
	l.emit(o)
}
