package access

// This file executes instructions on textures and surfaces (manual 9.7.10, 9.7.11). An instruction names an object of the
// device by its handle, or by the address of a .texref, .samplerref or .surfref variable that holds the handle.

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/sampling"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
	"gemu/texture"
)

// ObjectOf returns the object that a value names: the value is a handle, or the address of a variable or parameter with a
// handle. ref is the name of the variable or parameter. If there is no object, bad is the reason.
func ObjectOf(w *machine.Warp, v uint64) (obj *machine.Object, ref, bad string) {
	d := w.CTA.Grid.Device
	handle := v
	if p, name, _ := opaqueReference(w, v); p != nil {
		ref, handle = name, binary.LittleEndian.Uint64(p)
		if handle == 0 {
			return nil, ref, name + " has no object bound to it"
		}
	}
	switch obj = d.Objects.Get(handle); {
	case obj == nil && d.Objects.WasFreed(handle):
		return nil, ref, fmt.Sprintf("%s is the handle of a texture, surface or sampler that has been destroyed", machine.HexAddr(handle))
	case obj == nil && ref != "":
		return nil, ref, fmt.Sprintf("%s holds %s, which is not the handle of a texture, surface or sampler", ref, machine.HexAddr(handle))
	case obj == nil:
		return nil, ref, fmt.Sprintf("%s is neither the handle of a texture, surface or sampler nor the address of a reference to one", machine.HexAddr(v))
	case obj.Freed.Load() || obj.Memory != nil && obj.Memory.Freed:
		return nil, ref, fmt.Sprintf("%v, which has been destroyed", obj)
	}
	return obj, ref, ""
}

// opaqueReference returns the memory, the name and the type of the variable or parameter of an opaque type (manual 5.3) at
// an address; nil if there is none.
func opaqueReference(w *machine.Warp, addr uint64) (p []byte, name string, t ptx.Type) {
	if a := w.CTA.Grid.Device.Memory.Find(addr); a != nil && a.Base == addr && !a.Freed {
		if t := opaqueKinds[a.Kind]; t != ptx.NoType {
			return a.Data, t.String() + " " + a.Name, t
		}
	}
	if addr < probe.ParamBase || addr >= probe.SharedWindow {
		return nil, "", ptx.NoType
	}
	for _, v := range w.CTA.Grid.Kernel.Params {
		if v.Var.Type.Kind() == ptx.Opaque && probe.ParamBase+uint64(v.Offset) == addr {
			block := w.CTA.Grid.Device.Memory.Find(addr)
			return block.Data[v.Offset:], v.Var.Type.String() + " parameter " + v.Var.Name, v.Var.Type
		}
	}
	return nil, "", ptx.NoType
}

// opaqueKinds has the opaque type of each kind of memory of a variable of such a type.
var opaqueKinds = map[probe.AllocationKind]ptx.Type{probe.TexRefMemory: ptx.TexRef, probe.SamplerRefMemory: ptx.SamplerRef, probe.SurfRefMemory: ptx.SurfRef}

// OpaqueKind returns the kind of memory of a variable of the opaque type t.
func OpaqueKind(t ptx.Type) probe.AllocationKind {
	for kind, typ := range opaqueKinds {
		if typ == t {
			return kind
		}
	}
	panic("no opaque type: " + t.String())
}

// failObject stops the warp with a trap for a lane, and for other lanes with the same fault. obj is the object, or nil.
func failObject(w *machine.Warp, h int, instr *code.Instr, lane int, kind error, obj *machine.Object, msg string, others ...int) {
	near := ""
	if obj != nil {
		msg = fmt.Sprintf("%v: %s", obj, msg)
		if obj.Memory != nil {
			near = obj.Memory.String()
		}
	}
	t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), kind, "%v: %s", kind, msg)
	t.Nearby = near
	for _, lane := range others {
		t.Lanes |= 1 << (32*h + lane)
	}
}

// objectFinder finds the objects of lanes. It remembers the object of the last lane, because most lanes have the same
// object.
type objectFinder struct {
	w          *machine.Warp
	kind       error
	objectType ptx.Type
	value      uint64           // value that named object
	sampler    uint64           // value that named the sampler
	object     *machine.Object  // nil: none was found yet
	texture    sampling.Texture // the object's texture with the sampler
}

// find finds the object of a lane, and the sampler if the instruction names one. If there is no such object, it traps for
// all lanes of m with the same value.
func (x *objectFinder) find(h int, f *regfile.File, instr *code.Instr, s *code.Texture, lane int, m uint32) bool {
	value, sampler := ReadElem(f, s.Sources[code.TextureObject][0], lane), uint64(0)
	hasSampler := len(s.Sources[code.TextureSampler]) > 0
	if hasSampler {
		sampler = ReadElem(f, s.Sources[code.TextureSampler][0], lane)
	}
	if x.object != nil && x.value == value && x.sampler == sampler {
		return true
	}
	same := func(list []code.Elem, value uint64) (lanes []int) {
		for ; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m) & 31; ReadElem(f, list[0], i) == value {
				lanes = append(lanes, i)
			}
		}
		return lanes
	}
	obj, ok := typedTexture(x.w, h, instr, lane, value, x.objectType, x.kind, func() []int { return same(s.Sources[code.TextureObject], value) })
	if !ok {
		return false
	}
	x.value, x.sampler, x.object, x.texture = value, sampler, obj, obj.Texture
	if !hasSampler {
		return true
	}
	samplerObject, ok := typedTexture(x.w, h, instr, lane, sampler, ptx.SamplerRef, x.kind, func() []int { return same(s.Sources[code.TextureSampler], sampler) })
	if !ok {
		return false
	}
	x.texture.Sampler = samplerObject.Texture.Sampler
	if bad := x.texture.CheckSampling(); bad != "" {
		failObject(x.w, h, instr, lane, x.kind, obj, fmt.Sprintf("%s, by %v", bad, samplerObject))
		return false
	}
	return true
}

// typedTexture returns the object of type t that a value names. If there is none, it traps for the lane and for all lanes
// of others.
func typedTexture(w *machine.Warp, h int, instr *code.Instr, lane int, value uint64, t ptx.Type, kind error, others func() []int) (*machine.Object, bool) {
	obj, ref, bad := ObjectOf(w, value)
	switch {
	case bad != "":
		failObject(w, h, instr, lane, kind, nil, bad, others()...)
		return nil, false
	case obj.Type != t:
		failObject(w, h, instr, lane, kind, obj, fmt.Sprintf("it is not a %s%s", t, map[bool]string{true: ", reached by " + ref}[ref != ""]), others()...)
		return nil, false
	}
	return obj, true
}

// word returns a lane's value of element i of a list; 0 if the list is shorter.
func word(f *regfile.File, list []code.Elem, i, lane int) uint32 {
	if i >= len(list) {
		return 0
	}
	if f.Tracked() {
		return uint32(machine.LaneValue(f, code.Row{Slot: list[i].Slot, Row: list[i].Row}, lane))
	}
	return f.Src32(list[i].Row)[lane]
}

// LookupArgs returns the operands of a texture lookup for a lane.
func LookupArgs(f *regfile.File, s *code.Texture, lane int) (a sampling.Args) {
	for i := range 4 {
		a.Coord[i] = word(f, s.Sources[code.TextureCoord], i, lane)
		a.DX[i], a.DY[i] = word(f, s.Sources[code.TextureDX], i, lane), word(f, s.Sources[code.TextureDY], i, lane)
		a.Offset[i] = int32(word(f, s.Sources[code.TextureOffset], i, lane))
	}
	a.Level, a.Compare = word(f, s.Sources[code.TextureLevel], 0, lane), word(f, s.Sources[code.TextureCompare], 0, lane)
	return a
}

// TextureFetch executes tex and tld4.
func TextureFetch(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &w.CTA.Code.Textures[instr.Side]
	x := objectFinder{w: w, kind: probe.ErrTexture, objectType: ptx.TexRef}
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		if !x.find(h, f, instr, s, lane, n) {
			return
		}
		a := LookupArgs(f, s, lane)
		out, bad := x.texture.Fetch(x.object.Data(), &s.Lookup, &a)
		if bad != "" {
			failObject(w, h, instr, lane, probe.ErrTexture, x.object, bad)
			return
		}
		for i, e := range s.D {
			if e.Slot == code.R {
				f.Row32(e.Row)[lane] = out[i]
			}
		}
	}
	for _, e := range s.D {
		if e.Slot == code.P {
			f.SetP(e.Row, m, m) // the predicate tells whether all texels are resident: always
		}
	}
}

// TextureQuery executes txq and suq.
func TextureQuery(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	attribute, surface := sampling.Attribute(instr.Imm), instr.Op == code.SurfaceQuery
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		obj, _, bad := ObjectOf(w, f.Src64(instr.A)[lane])
		kind, level := probe.ErrTexture, 0
		switch {
		case surface:
			kind = probe.ErrSurface
			if bad == "" && obj.Type != ptx.SurfRef {
				bad = "it is not a .surfref"
			}
		case bad == "" && (obj.Type == ptx.SurfRef || obj.Type == ptx.SamplerRef && !attribute.OfSampler()):
			bad = "it has no " + attribute.String()
		case bad == "":
			if level = int(f.Src32(instr.B)[lane]); uint64(uint32(level)) >= uint64(max(obj.Texture.Levels, 1)) {
				bad = fmt.Sprintf("it has %d levels and no level %d", obj.Texture.Levels, level)
			}
		}
		if bad != "" {
			failObject(w, h, instr, lane, kind, obj, bad)
			return
		}
		f.Row32(instr.D)[lane] = obj.Texture.Query(attribute, level)
	}
}

// IsObject executes istypep, which tests whether a value is the address of a variable of a type, or the handle of an object
// of this type.
func IsObject(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.D == code.NoRow {
		return
	}
	matching := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		v := f.Src64(instr.A)[lane]
		_, _, t := opaqueReference(w, v)
		if obj := w.CTA.Grid.Device.Objects.Get(v); obj != nil && !obj.Freed.Load() {
			t = obj.Type
		}
		if t == ptx.Type(instr.Imm) {
			matching |= 1 << lane
		}
	}
	f.SetP(instr.D, m, matching)
}

// surfaceAt returns the memory of a lane's access to a surface. p is nil if the access is dropped. ok is false after a
// trap, which names all lanes of m with the same fault.
func (x *objectFinder) surfaceAt(h int, f *regfile.File, instr *code.Instr, s *code.Texture, lane int, m uint32) (p unsafe.Pointer, ok bool) {
	if !x.find(h, f, instr, s, lane, m) {
		return nil, false
	}
	coordOf := func(lane int) (coord [4]uint32) {
		for i := range coord {
			coord[i] = word(f, s.Sources[code.TextureCoord], i, lane)
		}
		return coord
	}
	coord := coordOf(lane)
	offset, where := x.texture.Place(&s.Access, coord)
	switch where {
	case sampling.Inside:
		return unsafe.Add(x.object.Memory.Ptr, x.object.Offset+offset), true
	case sampling.Dropped:
		return nil, true
	}
	accessed := fmt.Sprintf("%d bytes", s.Access.Bytes)
	if s.Access.Bytes == 0 {
		accessed = "a texel"
	}
	kind, msg := probe.ErrSurface, fmt.Sprintf("a %s instruction on a %s surface", s.Access.Geometry, x.texture.Geometry)
	if where != sampling.BadShape {
		kind, msg = probe.ErrOutOfBounds, accessed+" "+s.Access.Describe(coord)
	}
	if where == sampling.Misaligned {
		kind = probe.ErrMisaligned
	}
	var others []int
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if _, w := x.texture.Place(&s.Access, coordOf(i)); w == where && ReadElem(f, s.Sources[code.TextureObject][0], i) == x.value {
			others = append(others, i)
		}
	}
	failObject(x.w, h, instr, lane, kind, x.object, msg, others...)
	return nil, false
}

// DescribeSurface describes the accesses of a surface instruction to global memory for probes. If withAddresses is set, it
// includes the address of each lane. Lanes out of bounds access nothing.
func DescribeSurface(w *machine.Warp, instr *code.Instr, description *probe.Access, lanes uint64, withAddresses bool) {
	s := &w.CTA.Code.Textures[instr.Side]
	description.Reset(probe.Request{Space: ptx.Global, Bytes: max(s.Access.Bytes, 1), Kind: machine.AccessKinds[instr.Op], Surface: true}, 0, description.Machine)
	if withAddresses {
		description.Reserve(regfile.Lanes * len(w.Files))
		clear(description.Addr) // the addresses of lanes without an access
	}
	for h := range w.Files {
		var values regfile.Row64
		var coords [4]regfile.Row64
		ReadRow(w, &values, h, code.Row{Slot: code.Q, Row: s.Sources[code.TextureObject][0].Row})
		for i, e := range s.Sources[code.TextureCoord] {
			ReadRow(w, &coords[i], h, code.Row{Slot: e.Slot, Row: e.Row})
		}
		for m := uint32(lanes >> (32 * h)); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			obj, _, _ := ObjectOf(w, values[lane])
			if obj == nil || obj.Type != ptx.SurfRef {
				continue
			}
			if s.Access.Bytes == 0 {
				description.Bytes = obj.Texture.Format.Bytes()
			}
			offset, where := obj.Texture.Place(&s.Access, [4]uint32{uint32(coords[0][lane]), uint32(coords[1][lane]), uint32(coords[2][lane]), uint32(coords[3][lane])})
			if where != sampling.Inside {
				continue
			}
			description.Lanes |= 1 << (32*h + lane)
			if withAddresses {
				description.Addr[32*h+lane] = obj.Memory.Base + obj.Offset + offset
			}
		}
	}
}

// SurfaceLoad executes suld.
func SurfaceLoad(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &w.CTA.Code.Textures[instr.Side]
	x := objectFinder{w: w, kind: probe.ErrSurface, objectType: ptx.SurfRef}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, ok := x.surfaceAt(h, f, instr, s, lane, m)
		if !ok {
			return
		}
		for i, e := range s.D {
			v := uint64(0)
			if p != nil {
				v = mem.LoadBits(unsafe.Add(p, i*s.Size), s.Size)
			}
			switch e.Slot {
			case code.R:
				f.Row32(e.Row)[lane] = uint32(v)
			case code.Q:
				f.Row64(e.Row)[lane] = v
			}
		}
	}
}

// SurfaceStore executes sust.
func SurfaceStore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &w.CTA.Code.Textures[instr.Side]
	x := objectFinder{w: w, kind: probe.ErrSurface, objectType: ptx.SurfRef}
	w.CTA.Changed = true
	data := s.Sources[code.TextureData]
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, ok := x.surfaceAt(h, f, instr, s, lane, m)
		switch {
		case !ok:
			return
		case p == nil:
		case s.Access.Samples:
			var values [4]uint32
			for i, e := range data {
				values[i] = uint32(ReadElem(f, e, lane))
			}
			texel := encodeTexel(&x.texture, values[:len(data)])
			copy(unsafe.Slice((*byte)(p), x.texture.Format.Bytes()), texel[:])
		default:
			for i, e := range data {
				mem.StoreBits(unsafe.Add(p, i*s.Size), s.Size, ReadElem(f, e, lane))
			}
		}
	}
}

// encodeTexel returns a texel of a surface with the given values, in the first bytes of the array.
func encodeTexel(t *sampling.Texture, values []uint32) (texel [16]byte) {
	sampling.Encode(t.Format, texel[:], values, t.ReadFloat)
	return texel
}

// TexelOf appends to p the data that a lane of half h stores to a surface, or combines with it. size is the size of an
// element of this data in bytes; 0 if there is no such surface.
func TexelOf(w *machine.Warp, p []byte, h int, instr *code.Instr, lane int) (data []byte, size int) {
	s, f := &w.CTA.Code.Textures[instr.Side], &w.Files[h]
	sources := s.Sources[code.TextureData]
	if instr.Op != code.SurfaceStore || !s.Access.Samples {
		for _, e := range sources {
			p = AppendElem(p, f, e, lane, s.Size)
		}
		return p, s.Size
	}
	obj, _, _ := ObjectOf(w, machine.LaneValue(f, code.Row{Slot: code.Q, Row: s.Sources[code.TextureObject][0].Row}, lane))
	if obj == nil || obj.Type != ptx.SurfRef {
		return p, 0
	}
	var values [4]uint32
	for i, e := range sources {
		values[i] = uint32(machine.LaneValue(f, code.Row{Slot: e.Slot, Row: e.Row}, lane))
	}
	texel, n := encodeTexel(&obj.Texture, values[:len(sources)]), obj.Texture.Format.Bytes()
	return append(p, texel[:n]...), n / obj.Texture.Format.Channels
}

// SurfaceReduce executes sured, lane by lane.
func SurfaceReduce(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	s := &w.CTA.Code.Textures[instr.Side]
	x := objectFinder{w: w, kind: probe.ErrSurface, objectType: ptx.SurfRef}
	w.CTA.Changed = true
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, ok := x.surfaceAt(h, f, instr, s, lane, m)
		if !ok {
			return
		}
		r := s.Reduction
		if s.Access.Samples { // the operation has the type of the texels
			format := x.texture.Format
			if format.Kind == texture.Float || x.texture.ReadFloat || format.Bytes() < s.Size {
				failObject(w, h, instr, lane, probe.ErrSurface, x.object, fmt.Sprintf("its texels are not integers of %d bytes", s.Size))
				return
			}
			r.Type = reductionType(s.Size, format.Kind == texture.Signed)
		}
		if p != nil {
			old := mem.LoadBits(p, s.Size)
			mem.StoreBits(p, s.Size, ApplyReduction(r, WidthMask(r.Type), old, ReadElem(f, s.Sources[code.TextureData][0], lane), 0))
		}
	}
}

// reductionType returns the type of sured.p on integer texels of size bytes.
func reductionType(size int, signed bool) ptx.Type {
	switch {
	case size == 8 && signed:
		return ptx.S64
	case size == 8:
		return ptx.U64
	case signed:
		return ptx.S32
	}
	return ptx.U32
}
