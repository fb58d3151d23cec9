package oracle

// This file executes textures and surfaces (manual 9.7.10, 9.7.11). Coordinates, weights and texels are rational
// numbers, and a result is rounded once. The formulas are taken from the CUDA C++ Programming Guide, "Texture
// Fetching"; docs/textures.md has the rules for cases that the guide and the manual leave undefined.

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"gemu/ptx"
)

// Object is a texture, a surface or a sampler.
type Object struct {
	Type ptx.Type // .texref, .surfref, .samplerref

	// Texels begin at Addr: levels begin at multiples of 16 bytes; a level consists of layers, a layer of slices, a
	// slice of rows.
	Geometry                    string // in the notation of modifiers: "a2d"
	Addr                        uint64
	Width, Height, Depth        int
	Layers, Levels, Samples     int
	Pitch                       int  // bytes from row to row; 0: rows are contiguous
	Linear                      bool // memory without a shape
	Channels, Bits              int
	Signed, Float               bool
	Normalized, ReadFloat, SRGB bool
	ForceUnnormalized, Filter   bool
	Address                     [3]string // wrap, mirror, clamp_to_edge, clamp_to_border, clamp_ogl
	Border                      [4]float32
	MipFilter                   bool
	Bias, MinLevel, MaxLevel    float32
}

// Bind assigns an object to a handle without an object.
func (d *Device) Bind(handle uint64, o Object) {
	if d.objects == nil {
		d.objects = map[uint64]*Object{}
	}
	if d.objects[handle] == nil {
		d.objects[handle] = &o
	}
}

// defineSampler makes the sampler that a .samplerref variable describes (manual 5.3.2), and assigns the next handle to
// it.
func (m *Module) defineSampler(v *ptx.Var) {
	o := Object{Type: ptx.SamplerRef, MaxLevel: math.MaxFloat32, Address: [3]string{"clamp_to_edge", "clamp_to_edge", "clamp_to_edge"}}
	for _, f := range v.Fields {
		switch f.Name {
		case "filter_mode":
			o.Filter = f.Value == "linear"
		case "addr_mode_0":
			o.Address[0] = f.Value
		case "addr_mode_1":
			o.Address[1] = f.Value
		case "addr_mode_2":
			o.Address[2] = f.Value
		case "force_unnormalized_coords":
			o.ForceUnnormalized = f.Value != "0"
		}
	}
	handle := uint64(handles + handleSize*len(m.dev.objects))
	m.dev.Bind(handle, o)
	copy(m.dev.Bytes(m.addresses[v]), bytesOf(value{lo: handle}, 8))
}

// AllocArray allocates memory that only textures and surfaces can access.
func (d *Device) AllocArray(size uint64) (addr uint64, err error) { return d.allocate(hidden, size) }

// opaqueAt returns the type and contents of the variable or kernel parameter of an opaque type at an address.
func (t *thread) opaqueAt(addr uint64) (typ ptx.Type, holds []byte) {
	for s, address := range t.machine.mod.addresses {
		if v, ok := s.(*ptx.Var); ok && address == addr && v.Type.Kind() == ptx.Opaque {
			return v.Type, t.machine.dev.Bytes(address)
		}
	}
	for v, address := range t.machine.params {
		if address == addr && v.Type.Kind() == ptx.Opaque {
			return v.Type, t.machine.dev.params.data[address-paramBlock:]
		}
	}
	return ptx.NoType, nil
}

// object returns the object of a value: a handle, or the address of a handle.
func (t *thread) object(v uint64, kind string) *Object {
	if _, holds := t.opaqueAt(v); holds != nil {
		v = valueOf(holds[:8]).lo
	}
	o := t.machine.dev.objects[v]
	if o == nil {
		t.trap(kind, "%#x is bound to nothing", v)
	}
	return o
}

// typedObject returns an object that must have the given type.
func (t *thread) typedObject(v uint64, typ ptx.Type, kind string) Object {
	o := t.object(v, kind)
	if o.Type != typ {
		t.trap(kind, "%#x is no %s", v, typ)
	}
	return *o
}

// objectOperand returns the first value in the brackets of operand a.
func (t *thread) objectOperand() uint64 {
	_, addr := t.address("a")
	return addr
}

// element returns an element of a vector operand; 0 if it is missing.
func (t *thread) element(o *ptx.Operand, i int, typ ptx.Type) uint64 {
	list := elements(o)
	if i >= len(list) || o.Kind == ptx.NoOperand {
		return 0
	}
	return t.read(list[i], typ).lo
}

// coordinates returns the last operand in the brackets.
func (t *thread) coordinates() *ptx.Operand {
	a, _ := t.operand("a")
	parts := a.Elems()
	return &parts[len(parts)-1]
}

var dimensions = map[string]int{"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2, "2dms": 2, "a2dms": 2}

func (o *Object) isCube() bool  { return strings.HasSuffix(o.Geometry, "cube") }
func (o *Object) isArray() bool { return strings.HasPrefix(o.Geometry, "a") }
func (o *Object) isFloat() bool { return o.Float || o.ReadFloat && o.Bits != 32 }

func (o *Object) extent(level, i int) int {
	return max([]int{o.Width, o.Height, o.Depth}[i]>>level, 1)
}

// texelAddress returns the address of a sample of a texel.
func (o *Object) texelAddress(level, layer, sample int, pos [3]int) uint64 {
	size := o.Channels * o.Bits / 8 * o.Samples
	addr := o.Addr
	for l := 0; ; l++ {
		row := o.extent(l, 0) * size
		if o.Pitch > 0 {
			row = o.Pitch
		}
		slice := row * o.extent(l, 1)
		whole := slice * o.extent(l, 2)
		if l == level {
			return addr + uint64(layer*whole+pos[2]*slice+pos[1]*row+pos[0]*size+sample*size/o.Samples)
		}
		addr += align(uint64(whole*o.Layers), 16)
	}
}

// rational converts a .f32 number; NaN becomes 0, and an infinity a number far outside.
func rational(bits uint64) *big.Rat {
	f := float64(math.Float32frombits(uint32(bits)))
	switch {
	case f != f:
		return new(big.Rat)
	case math.IsInf(f, 0):
		return new(big.Rat).SetFloat64(math.Copysign(1e60, f))
	}
	return new(big.Rat).SetFloat64(f)
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// floor returns the largest integer that is at most r.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// weightedTexel is a texel that contributes to a result.
type weightedTexel struct {
	weight       *big.Rat
	level, layer int
	sample       int
	pos          [3]int
	isOutside    bool
}

// setSampler copies the properties of a sampler.
func (o *Object) setSampler(s *Object) {
	o.ForceUnnormalized, o.Filter, o.Address, o.Border = s.ForceUnnormalized, s.Filter, s.Address, s.Border
	o.MipFilter, o.Bias, o.MinLevel, o.MaxLevel = s.MipFilter, s.Bias, s.MinLevel, s.MaxLevel
}

// texelNeighbours returns the texel or both texels at coordinate u, for an extent of n texels, with their weights; -1
// is outside.
func (o *Object) texelNeighbours(i int, u *big.Rat, n int, scaled, filter bool) (indices []int, weights []*big.Rat) {
	mode := o.Address[i]
	size := ratio(int64(n), 1)
	times := new(big.Rat).SetInt(floor(new(big.Rat).Quo(u, size)))
	remainder := new(big.Rat).Sub(u, new(big.Rat).Mul(times, size)) // u mod n
	isHuge := new(big.Rat).Abs(u).Cmp(ratio(1<<40, 1)) > 0
	switch {
	case mode != "wrap" && mode != "mirror":
	case !scaled:
		mode = "clamp_to_edge"
	case isHuge: // an infinity
		u = new(big.Rat)
	case mode == "mirror" && times.Num().Bit(0) == 1:
		u = new(big.Rat).Sub(size, remainder)
	default:
		u = remainder
	}
	if mode == "clamp_ogl" && filter {
		if u.Sign() < 0 {
			u = new(big.Rat)
		}
		if u.Cmp(size) > 0 {
			u = size
		}
	}
	place := func(k *big.Int) int {
		zero, last := big.NewInt(0), big.NewInt(int64(n-1))
		switch {
		case k.Cmp(zero) >= 0 && k.Cmp(last) <= 0:
			return int(k.Int64())
		case mode == "clamp_to_border", o.Linear, mode == "clamp_ogl" && filter:
			return -1
		case mode == "wrap" && filter:
			return int(new(big.Int).Mod(k, big.NewInt(int64(n))).Int64())
		case k.Cmp(zero) < 0:
			return 0
		}
		return n - 1
	}
	if !filter {
		return []int{place(floor(u))}, []*big.Rat{ratio(1, 1)}
	}
	b := new(big.Rat).Sub(u, ratio(1, 2))
	first := floor(b)
	alpha := eighths(new(big.Rat).Sub(b, new(big.Rat).SetInt(first)))
	return []int{place(first), place(new(big.Int).Add(first, big.NewInt(1)))}, []*big.Rat{new(big.Rat).Sub(ratio(1, 1), alpha), alpha}
}

// eighths rounds to eight fractional bits, a half up.
func eighths(r *big.Rat) *big.Rat {
	n := floor(new(big.Rat).Add(new(big.Rat).Mul(r, ratio(256, 1)), ratio(1, 2)))
	return new(big.Rat).SetFrac(n, big.NewInt(256))
}

// lookup is the decoded position of tex and tld4.
type lookup struct {
	object        Object
	layer, sample int
	u, offset     [3]*big.Rat
	scaled        bool // u is in units of the image's size
	integerCoords bool
	level         *big.Rat // in steps of 1/256
}

// texture executes tex (9.7.10.3) and tld4 (9.7.10.4).
func texture(t *thread) {
	l := t.lookup()
	o := &l.object
	d, _ := t.operand("d")
	typ := t.instr.SlotType("dtype")
	var out [4]uint64
	if t.instr.Mnemonic() == "tld4" {
		channel := slices.Index([]string{"r", "g", "b", "a"}, t.instr.Slot("comp"))
		x, _ := o.texelNeighbours(0, l.coordinate(0, 0), o.extent(0, 0), l.scaled, true)
		y, _ := o.texelNeighbours(1, l.coordinate(1, 0), o.extent(0, 1), l.scaled, true)
		for i, pos := range [][3]int{{x[0], y[1]}, {x[1], y[1]}, {x[1], y[0]}, {x[0], y[0]}} {
			texel := weightedTexel{weight: ratio(1, 1), layer: l.layer, pos: pos, isOutside: pos[0] < 0 || pos[1] < 0}
			out[i] = t.combineTexels(o, []weightedTexel{texel})[channel]
		}
	} else {
		out = t.combineTexels(o, l.weightedTexels())
	}
	size := typ.Bits()
	if typ == ptx.F16 || typ == ptx.F16x2 {
		for i, v := range out {
			out[i] = half.round(single.decode(v), "rn")
		}
		if typ == ptx.F16x2 {
			out[0], out[1] = out[0]|out[1]<<16, out[2]|out[3]<<16
		}
	}
	for i, e := range elements(d) {
		t.write(e, typ, value{lo: low(out[i], size)})
	}
	t.setPred("p", true)
}

// lookup decodes the operands of tex and tld4.
func (t *thread) lookup() lookup {
	a, _ := t.operand("a")
	l := lookup{object: t.typedObject(t.objectOperand(), ptx.TexRef, KindTexture)}
	o := &l.object
	if parts := a.Elems(); len(parts) > 1 {
		s := t.typedObject(t.read(&parts[0], ptx.B64).lo, ptx.SamplerRef, KindTexture)
		o.setSampler(&s)
		if o.Filter && !o.isFloat() {
			t.trap(KindTexture, "a filter for integers")
		}
	}
	geometry, typ := t.instr.Slot("geom"), t.instr.SlotType("dtype")
	if geometry == "1d" && o.Geometry == "2d" && o.Height == 1 { // a single row is a line
		o.Geometry = geometry
	}
	switch {
	case geometry != o.Geometry:
		t.trap(KindTexture, "%s on a texture of %s", geometry, o.Geometry)
	case !o.isFloat() && (typ == ptx.F16 || typ == ptx.F16x2 || t.hasOperand("f")):
		t.trap(KindTexture, "its texels are integers")
	}
	c, next := t.coordinates(), 0
	nextOperand := func(typ ptx.Type) uint64 { next++; return t.element(c, next-1, typ) }
	if o.isArray() {
		n := o.Layers
		if o.isCube() {
			n /= 6
		}
		if l.layer = int(min(nextOperand(ptx.U32), uint64(n-1))); o.isCube() {
			l.layer *= 6
		}
	}
	if strings.HasSuffix(geometry, "ms") {
		v := nextOperand(ptx.U32)
		if v >= uint64(o.Samples) {
			t.trap(KindTexture, "sample %d of %d", v, o.Samples)
		}
		l.sample = int(v)
	}
	dims := dimensions[geometry]
	for i := range dims {
		e := int64(0)
		if t.hasOperand("e") {
			op, _ := t.operand("e")
			e = int64(int32(t.element(op, i, ptx.S32)))
		}
		if e < -8 || e > 7 {
			t.trap(KindTexture, "an offset of %d", e)
		}
		l.offset[i] = ratio(e, 1)
	}
	l.level = new(big.Rat)
	if l.integerCoords = t.instr.Slot("ctype") == "s32"; l.integerCoords {
		for i := range dims {
			l.u[i] = ratio(int64(int32(nextOperand(ptx.S32))), 1)
		}
		if t.hasModifier("level") {
			op, _ := t.operand("g")
			v := int64(int32(t.read(op, ptx.S32).lo))
			l.level = ratio(min(max(v, 0), int64(o.Levels-1)), 1)
		}
		return l
	}
	l.scaled = o.Normalized && !o.ForceUnnormalized
	var gradients [2][3]*big.Rat
	n := dims
	if o.isCube() {
		n = 3
	}
	for i := range n {
		l.u[i] = rational(nextOperand(ptx.F32))
		for k, name := range []string{"g", "h"} {
			if gradients[k][i] = new(big.Rat); t.hasModifier("grad") {
				op, _ := t.operand(name)
				gradients[k][i] = rational(t.element(op, i, ptx.F32))
			}
		}
	}
	if o.isCube() {
		l.scaled = true
		l.layer += l.face(&gradients)
	}
	lod := 0.0
	switch {
	case t.hasModifier("level"):
		op, _ := t.operand("g")
		lod = float64(math.Float32frombits(uint32(t.read(op, ptx.F32).lo)))
	case t.hasModifier("grad"):
		longest := new(big.Rat)
		for k := range gradients {
			square := new(big.Rat)
			for i := range dims {
				d := gradients[k][i]
				if l.scaled {
					d = new(big.Rat).Mul(d, ratio(int64(o.extent(0, i)), 1))
				}
				square.Add(square, new(big.Rat).Mul(d, d))
			}
			if square.Cmp(longest) > 0 {
				longest = square
			}
		}
		f, _ := longest.Float64()
		lod = math.Log2(f) / 2
	}
	if lod += float64(o.Bias); lod != lod {
		lod = 0
	}
	if lod = min(max(lod, float64(o.MinLevel)), float64(o.MaxLevel)); lod != lod { // from a NaN bound
		lod = 0
	}
	lod = min(max(lod, 0), float64(o.Levels-1))
	l.level = eighths(new(big.Rat).SetFloat64(lod))
	return l
}

// coordinate returns a coordinate in texels of a level, plus its offset.
func (l *lookup) coordinate(i, level int) *big.Rat {
	u := l.u[i]
	if l.scaled {
		u = new(big.Rat).Mul(u, ratio(int64(l.object.extent(level, i)), 1))
	}
	return new(big.Rat).Add(u, l.offset[i])
}

// face projects a direction and its derivatives to a face of the cube (CUDA C++ Programming Guide, Cubemap Textures).
func (l *lookup) face(gradients *[2][3]*big.Rat) int {
	size := func(i int) *big.Rat { return new(big.Rat).Abs(l.u[i]) }
	major := 0
	if size(2).Cmp(size(0)) >= 0 && size(2).Cmp(size(1)) >= 0 {
		major = 2
	} else if size(1).Cmp(size(0)) >= 0 {
		major = 1
	}
	face := 2 * major
	if l.u[major].Sign() < 0 {
		face++
	}
	project := func(v [3]*big.Rat) (s, t, m *big.Rat) {
		neg := func(r *big.Rat) *big.Rat { return new(big.Rat).Neg(r) }
		switch face {
		case 0:
			return neg(v[2]), neg(v[1]), v[0]
		case 1:
			return v[2], neg(v[1]), neg(v[0])
		case 2:
			return v[0], v[2], v[1]
		case 3:
			return v[0], neg(v[2]), neg(v[1])
		case 4:
			return v[0], neg(v[1]), v[2]
		}
		return neg(v[0]), neg(v[1]), neg(v[2])
	}
	s, t, m := project(l.u)
	if m.Sign() == 0 {
		l.u[0], l.u[1] = new(big.Rat), new(big.Rat)
		return face
	}
	half := func(a *big.Rat) *big.Rat {
		q := new(big.Rat).Quo(a, m)
		return q.Mul(q.Add(q, ratio(1, 1)), ratio(1, 2))
	}
	for k := range gradients {
		if gradients[k][0] == nil {
			continue
		}
		ds, dt, dm := project(gradients[k])
		slope := func(a, da *big.Rat) *big.Rat {
			x := new(big.Rat).Sub(new(big.Rat).Mul(da, m), new(big.Rat).Mul(a, dm))
			return x.Quo(x, new(big.Rat).Mul(ratio(2, 1), new(big.Rat).Mul(m, m)))
		}
		gradients[k][0], gradients[k][1] = slope(s, ds), slope(t, dt)
	}
	l.u[0], l.u[1] = half(s), half(t)
	return face
}

// weightedTexels returns the texels that contribute to the result of tex.
func (l *lookup) weightedTexels() (list []weightedTexel) {
	o := &l.object
	one := ratio(1, 1)
	levels, weights := []int{int(floor(new(big.Rat).Add(l.level, ratio(1, 2))).Int64())}, []*big.Rat{one}
	if o.MipFilter && !l.integerCoords {
		base := floor(l.level)
		beta := new(big.Rat).Sub(l.level, new(big.Rat).SetInt(base))
		levels, weights = []int{int(base.Int64()), int(base.Int64()) + 1}, []*big.Rat{new(big.Rat).Sub(one, beta), beta}
	}
	for k, level := range levels {
		if weights[k].Sign() == 0 {
			continue
		}
		indices, w := [3][]int{{0}, {0}, {0}}, [3][]*big.Rat{{one}, {one}, {one}}
		for i := range dimensions[o.Geometry] {
			indices[i], w[i] = o.texelNeighbours(i, l.coordinate(i, level), o.extent(level, i), l.scaled, o.Filter && !l.integerCoords && !o.Linear)
		}
		for x := range indices[0] {
			for y := range indices[1] {
				for z := range indices[2] {
					s := weightedTexel{level: level, layer: l.layer, sample: l.sample, pos: [3]int{indices[0][x], indices[1][y], indices[2][z]}}
					s.weight = new(big.Rat).Mul(new(big.Rat).Mul(weights[k], w[0][x]), new(big.Rat).Mul(w[1][y], w[2][z]))
					s.isOutside = s.pos[0] < 0 || s.pos[1] < 0 || s.pos[2] < 0
					if s.weight.Sign() != 0 {
						list = append(list, s)
					}
				}
			}
		}
	}
	return list
}

// combineTexels returns the channels of a result, as .f32 or integers.
func (t *thread) combineTexels(o *Object, list []weightedTexel) (out [4]uint64) {
	compare := t.hasOperand("f")
	for channel := range out {
		if !o.isFloat() {
			out[channel] = t.integerTexel(o, &list[0], channel)
			continue
		}
		exact, special, anyNaN := new(big.Rat), 0.0, false
		for i := range list {
			s := &list[i]
			v := t.realTexel(o, s, channel)
			if compare {
				f := math.Float32frombits(uint32(t.operandValue("f")))
				v = realNumber{r: ratio(int64(bit(float64(f) <= v.float())), 1)}
			}
			if len(list) == 1 && v.r == nil {
				out[channel] = uint64(math.Float32bits(v.f))
			}
			switch {
			case v.r != nil:
				exact.Add(exact, new(big.Rat).Mul(s.weight, v.r))
			case v.f != v.f:
				anyNaN = true
			default: // an infinity
				special += float64(v.f)
			}
		}
		switch {
		case len(list) == 1:
			v := t.realTexel(o, &list[0], channel)
			if v.r == nil && !compare {
				break // unchanged
			}
			f, _ := exact.Float32()
			if out[channel] = uint64(math.Float32bits(f)); v.minusZero && !compare {
				out[channel] = 1 << 31
			}
		case anyNaN || special != special:
			out[channel] = single.nan
		case special != 0:
			out[channel] = uint64(math.Float32bits(float32(special)))
		default:
			f, _ := exact.Float32()
			out[channel] = uint64(math.Float32bits(f))
		}
	}
	return out
}

// realNumber is a rational number, or an infinity or NaN.
type realNumber struct {
	r         *big.Rat
	f         float32
	minusZero bool
}

func (n realNumber) float() float64 {
	if n.r == nil {
		return float64(n.f)
	}
	f, _ := n.r.Float32()
	return float64(f)
}

func realOf(f float32) realNumber {
	if f != f || math.IsInf(float64(f), 0) {
		return realNumber{f: f}
	}
	return realNumber{r: new(big.Rat).SetFloat64(float64(f)), minusZero: f == 0 && math.Signbit(float64(f))}
}

// fillValue returns the value of a channel that no texel provides.
func (o *Object) fillValue(s *weightedTexel, channel int) float32 {
	switch {
	case s.isOutside && o.Linear:
		return 0
	case s.isOutside && channel < o.Channels:
		return o.Border[channel]
	}
	return []float32{0, 0, 0, 1}[channel]
}

// texel returns the bits of a channel.
func (t *thread) texel(o *Object, s *weightedTexel, channel int) (uint64, bool) {
	if s.isOutside || channel >= o.Channels {
		return 0, false
	}
	n := o.Bits / 8
	addr := o.texelAddress(s.level, s.layer, s.sample, s.pos) + uint64(channel*n)
	a := t.machine.dev.findAllocation(addr)
	if a == nil {
		t.trap(KindTexture, "its memory is gone")
	}
	return valueOf(a.data[addr-a.base:][:n]).lo, true
}

func (t *thread) integerTexel(o *Object, s *weightedTexel, channel int) uint64 {
	v, ok := t.texel(o, s, channel)
	switch {
	case ok && o.Signed:
		return low(signExtend(v, o.Bits), 32)
	case ok:
		return v
	}
	f := float64(o.fillValue(s, channel))
	minimum, limit := 0.0, float64(math.MaxUint32)
	if o.Signed {
		minimum, limit = math.MinInt32, math.MaxInt32
	}
	if f != f {
		return 0
	}
	return low(uint64(int64(min(max(f, minimum), limit))), 32)
}

func (t *thread) realTexel(o *Object, s *weightedTexel, channel int) realNumber {
	v, ok := t.texel(o, s, channel)
	switch {
	case !ok:
		return realOf(o.fillValue(s, channel))
	case o.Float && o.Bits == 32:
		return realOf(math.Float32frombits(uint32(v)))
	case o.Float:
		return realOf(math.Float32frombits(uint32(single.round(half.decode(v), "rn"))))
	case o.SRGB && channel < 3:
		x := float64(v) / 255
		if x > 0.04045 {
			x = math.Pow((x+0.055)/1.055, 2.4)
		} else {
			x /= 12.92
		}
		return realOf(float32(x))
	case o.Signed:
		limit := int64(1)<<(o.Bits-1) - 1
		return realNumber{r: ratio(max(int64(signExtend(v, o.Bits)), -limit), limit)}
	}
	return realNumber{r: ratio(int64(v), 1<<o.Bits-1)}
}

// textureQuery executes txq (9.7.10.5) and suq (9.7.11.4).
func textureQuery(t *thread) {
	kind, query := KindTexture, t.instr.Slot("query")
	if t.instr.Mnemonic() == "suq" {
		kind = KindSurface
	}
	o := t.object(t.objectOperand(), kind)
	ofSampler := strings.HasPrefix(query, "addr_mode") || query == "filter_mode" || query == "force_unnormalized_coords"
	if good := o.Type == ptx.TexRef || o.Type == ptx.SamplerRef && ofSampler; (t.instr.Mnemonic() == "txq") != good {
		t.trap(kind, "a %s has no %s", o.Type, query)
	}
	level := 0
	if t.instr.Mnemonic() == "txq" && t.hasModifier("level") {
		if level = int(t.operandValue("b")); level >= o.Levels {
			t.trap(kind, "no level %d", level)
		}
	}
	flag := func(b bool) int { return int(bit(b)) }
	dims, v := dimensions[o.Geometry], 0
	switch query {
	case "width":
		v = o.extent(level, 0)
	case "height":
		v = o.extent(level, 1) * flag(dims >= 2)
	case "depth":
		v = o.extent(level, 2) * flag(dims >= 3)
	case "array_size":
		if v = o.Layers * flag(o.isArray()); o.isCube() {
			v = o.Layers / 6
		}
	case "num_mipmap_levels":
		v = o.Levels
	case "num_samples":
		v = o.Samples
	case "memory_layout":
		v = flag(o.Linear || o.Pitch > 0)
	case "normalized_coords":
		v = flag(o.Normalized)
	case "force_unnormalized_coords":
		v = flag(o.ForceUnnormalized)
	case "filter_mode":
		v = flag(o.Filter)
	case "channel_order": // table 13
		v = map[int]int{1: 0x10B0, 2: 0x10B2, 4: 0x10B5}[o.Channels]
	case "channel_data_type": // table 12
		name := map[int]string{8: "INT8", 16: "INT16", 32: "INT32"}[o.Bits]
		switch {
		case o.Float && o.Bits == 16:
			name = "HALF"
		case o.Float:
			name = "FLOAT"
		case o.ReadFloat && o.Bits != 32 && o.Signed:
			name = "SNORM_" + name
		case o.ReadFloat && o.Bits != 32:
			name = "UNORM_" + name
		case o.Signed:
			name = "SIGNED_" + name
		default:
			name = "UNSIGNED_" + name
		}
		v = map[string]int{
			"SNORM_INT8": 0x10D0, "SNORM_INT16": 0x10D1, "UNORM_INT8": 0x10D2, "UNORM_INT16": 0x10D3,
			"SIGNED_INT8": 0x10D7, "SIGNED_INT16": 0x10D8, "SIGNED_INT32": 0x10D9,
			"UNSIGNED_INT8": 0x10DA, "UNSIGNED_INT16": 0x10DB, "UNSIGNED_INT32": 0x10DC, "HALF": 0x10DD, "FLOAT": 0x10DE,
		}[name]
	default: // addr_mode_i
		v = slices.Index([]string{"wrap", "clamp_to_edge", "mirror", "clamp_to_border", "clamp_ogl"}, o.Address[query[len(query)-1]-'0'])
	}
	t.setOperand("d", uint64(v))
}

// istypep (9.7.10.6).
func istypep(t *thread) {
	v := t.operandValue("a")
	typ, _ := t.opaqueAt(v)
	if o := t.machine.dev.objects[v]; o != nil {
		typ = o.Type
	}
	t.setPred("p", typ == t.instr.Type())
}

// surface returns the n bytes of a surface access; nil if the access is outside and has no effect.
func (t *thread) surface(o *Object, n int, rw accessKind) []byte {
	geometry := t.instr.Slot("geom")
	if geometry != o.Geometry && !(o.isCube() && geometry == "a2d") {
		t.trap(KindSurface, "%s on a surface of %s", geometry, o.Geometry)
	}
	c, next := t.coordinates(), 0
	nextCoordinate := func() int64 { next++; return int64(int32(t.element(c, next-1, ptx.S32))) }
	texel := o.Channels * o.Bits / 8
	layer, layers := int64(0), int64(1)
	if geometry[0] == 'a' {
		layer, layers = int64(uint32(nextCoordinate())), int64(o.Layers)
	}
	var pos [3]int64
	for i := range dimensions[geometry] {
		pos[i] = nextCoordinate()
	}
	if t.instr.Slot("mode") == "p" {
		pos[0] *= int64(texel)
	}
	row := int64(o.Width * texel)
	nearest := func(v *int64, limit int64) bool {
		inRange := *v >= 0 && *v <= limit
		*v = min(max(*v, 0), limit)
		return inRange
	}
	requested := pos[0]
	x := nearest(&pos[0], row-int64(n))
	inside := x && requested == pos[0]
	inside = nearest(&pos[1], int64(o.Height)-1) && inside
	inside = nearest(&pos[2], int64(o.Depth)-1) && inside
	inside = nearest(&layer, layers-1) && inside
	if !inside {
		switch t.instr.Slot("clamp") {
		case "zero":
			return nil
		case "trap":
			t.trap(KindMemory, "%v is outside the surface", pos)
		}
		if pos[0] < 0 {
			t.trap(KindMemory, "the surface is too narrow")
		}
		if !x {
			pos[0] = pos[0] / int64(n) * int64(n)
		}
	}
	if pos[0]%int64(n) != 0 {
		t.trap(KindMisaligned, "%d is no multiple of %d", pos[0], n)
	}
	addr := o.texelAddress(0, int(layer), 0, [3]int{0, int(pos[1]), int(pos[2])}) + uint64(pos[0])
	a := t.machine.dev.findAllocation(addr)
	if a == nil {
		t.trap(KindSurface, "its memory is gone")
	}
	t.logAccess(ptx.Global, addr, a.data[addr-a.base:][:n], rw)
	return a.data[addr-a.base:][:n]
}

// suld (9.7.11.1).
func suld(t *thread) {
	o := t.typedObject(t.objectOperand(), ptx.SurfRef, KindSurface)
	d, typ := t.operand("d")
	list, size := elements(d), typ.Size()
	p := t.surface(&o, len(list)*size, readAccess)
	if p == nil {
		p = make([]byte, len(list)*size)
	}
	for i, e := range list {
		t.write(e, typ, valueOf(p[i*size:][:size]))
	}
}

// sust (9.7.11.2).
func sust(t *thread) {
	o := t.typedObject(t.objectOperand(), ptx.SurfRef, KindSurface)
	c, typ := t.operand("c")
	list, size := elements(c), typ.Size()
	if !t.hasModifier("p") {
		p := t.surface(&o, len(list)*size, writeAccess)
		for i, e := range list {
			if p != nil {
				copy(p[i*size:], bytesOf(t.read(e, typ), size))
			}
		}
		return
	}
	n := o.Bits / 8
	p := t.surface(&o, o.Channels*n, writeAccess)
	if p == nil {
		return
	}
	clear(p)
	for i, e := range list {
		if i < o.Channels {
			copy(p[i*n:], bytesOf(value{lo: o.toTexelFormat(t.read(e, ptx.B32).lo)}, n))
		}
	}
}

// toTexelFormat converts a register to a channel of a texel.
func (o *Object) toTexelFormat(v uint64) uint64 {
	limit := int64(1)<<o.Bits - 1
	minimum := int64(0)
	if o.Signed {
		limit /= 2
		minimum = -limit - 1
	}
	x := int64(v)
	switch {
	case o.Float && o.Bits == 16:
		return half.round(single.decode(v), "rn")
	case o.Float || o.Bits == 32:
		return v
	case o.ReadFloat:
		f := math.Float32frombits(uint32(v))
		if f != f {
			return 0
		}
		r := new(big.Rat).Mul(rational(v), ratio(limit, 1))
		low, high := ratio(max(minimum, -limit), 1), ratio(limit, 1)
		if r.Cmp(low) < 0 {
			r = low
		}
		if r.Cmp(high) > 0 {
			r = high
		}
		x = floor(new(big.Rat).Add(r, ratio(1, 2))).Int64() // a half up, or to even:
		if new(big.Rat).Sub(ratio(x, 1), r).Cmp(ratio(1, 2)) == 0 && x%2 != 0 {
			x--
		}
		return uint64(x)
	case o.Signed:
		x = int64(int32(v))
	}
	return uint64(min(max(x, minimum), limit))
}

// sured (9.7.11.3).
func sured(t *thread) {
	o := t.typedObject(t.objectOperand(), ptx.SurfRef, KindSurface)
	typ := t.instr.SlotType("ctype")
	if t.hasModifier("p") {
		if o.Float || o.ReadFloat || o.Channels*o.Bits < typ.Bits() {
			t.trap(KindSurface, "its texels are no integers of %d bits", typ.Bits())
		}
		names := map[bool][2]ptx.Type{false: {ptx.U32, ptx.U64}, true: {ptx.S32, ptx.S64}}[o.Signed]
		typ = names[typ.Bits()/64]
	}
	p := t.surface(&o, typ.Size(), updateAccess)
	if p == nil {
		return
	}
	c, _ := t.operand("c")
	t.logOperand(t.read(c, typ), typ.Size())
	old, b := integer(valueOf(p).lo, typ.Bits(), typ.IsSigned()), integer(t.read(c, typ).lo, typ.Bits(), typ.IsSigned())
	r := new(big.Int)
	switch {
	case t.hasModifier("add"):
		r.Add(old, b)
	case t.hasModifier("and"):
		r.And(old, b)
	case t.hasModifier("or"):
		r.Or(old, b)
	case (old.Cmp(b) < 0) == t.hasModifier("min"):
		r.Set(old)
	default:
		r.Set(b)
	}
	copy(p, bytesOf(value{lo: wrap(r, typ.Bits())}, typ.Size()))
}
