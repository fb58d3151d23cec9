package sampling

// This file executes tex and tld4: it computes texels with weights from the coordinates, and the result from the texels.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"gemu/interp/internal/fp"
	"gemu/texture"
)

// MipSource is the source of the level of detail (manual 9.7.10.2).
type MipSource uint8

// Sources of the level of detail.
const (
	MipBase     MipSource = iota // none: the level of detail is 0
	MipOperand                   // an operand
	MipGradient                  // the derivatives of the coordinates
)

// Lookup is a tex or tld4 instruction.
type Lookup struct {
	Geometry  texture.Geometry
	Integer   bool // coordinates are .s32, not .f32
	MipSource MipSource
	Gather    bool // tld4
	Component int  // for tld4: the channel that it gathers, 0 to 3
	Compare   bool // it compares texels with an operand
	Half      bool // the result is .f16
	Packed    bool // the result is .f16x2: two channels in a register
}

// Args are the operands of a lane, with the contents of its registers.
type Args struct {
	Coord   [4]uint32 // an index of a layer, an index of a sample, then the coordinates; each only if the geometry has it
	Level   uint32    // level of detail, for MipOperand
	DX, DY  [4]uint32 // derivatives, for MipGradient
	Offset  [4]int32  // added to the coordinates, in texels
	Compare uint32    // reference value, for Compare
}

// weightBits is the number of fractional bits of weights: "9-bit fixed point format with 8 bits of fractional value (so
// 1.0 is exactly represented)" (CUDA C++ Programming Guide, Linear Filtering).
const weightBits = 8

// tap is a texel with its weight in a sum.
type tap struct {
	offset   uint64 // offset of the texel from the start of the image, in bytes
	isBorder bool   // it is the border instead of a texel
	weight   int64  // its share of the sum of all weights
}

// maxTaps is the maximum number of texels of a lookup: two levels, with two texels in each dimension.
const maxTaps = 16

// Fetch returns the registers that a lookup writes for a lane. data has the texels of the image from its start on. problem
// describes why the lookup is impossible with these operands; otherwise it is "".
func (t *Texture) Fetch(data []byte, l *Lookup, a *Args) (out [4]uint32, problem string) {
	p, problem := t.decodePoint(l, a)
	if problem != "" {
		return out, problem
	}
	if l.Gather {
		taps := t.gatherTaps(&p)
		for i := range out {
			out[i] = t.weightedSum(data, taps[i:i+1], l, a, l.Component)
		}
		return out, ""
	}
	var room [maxTaps]tap
	taps := t.appendTaps(room[:0], &p)
	for c := range out {
		out[c] = t.weightedSum(data, taps, l, a, c)
	}
	if l.Half {
		for c := range out {
			out[c] = uint32(fp.F32ToF16(math.Float32frombits(out[c]), fp.RN))
		}
		if l.Packed {
			out[0], out[1] = out[0]|out[1]<<16, out[2]|out[3]<<16
		}
	}
	return out, ""
}

// Texels appends the offsets of the texels that a lookup reads for a lane, in bytes from the start of the image. The border
// is not read, and an impossible lookup reads none.
func (t *Texture) Texels(list []uint64, l *Lookup, a *Args) []uint64 {
	p, problem := t.decodePoint(l, a)
	if problem != "" {
		return list
	}
	var room [maxTaps]tap
	taps := room[:0]
	if l.Gather {
		around := t.gatherTaps(&p)
		taps = append(taps, around[:]...)
	} else {
		taps = t.appendTaps(taps, &p)
	}
	for i := range taps {
		if !taps[i].isBorder {
			list = append(list, taps[i].offset)
		}
	}
	return list
}

// point is the decoded position of a lookup.
type point struct {
	dimensions  int        // number of spatial dimensions
	layer       int        // index of the layer; for cubes, of the face
	sample      int        // index of the sample
	unfiltered  bool       // the position is in texels, and there is no filtering
	scaled      bool       // coordinates are in units of the image's extent
	coordinates [3]float64 // position, unless unfiltered
	texels      [3]int     // position, if unfiltered
	offset      [3]int     // to add to the position, in texels
	level256    int        // level of detail, in 256ths
}

// decodePoint decodes the operands of a lane. problem describes why the lookup is impossible; otherwise it is "".
func (t *Texture) decodePoint(l *Lookup, a *Args) (p point, problem string) {
	g := l.Geometry
	if g != t.Geometry && !(g == texture.Image1D && t.Geometry == texture.Image2D && t.Height == 1) { // Dr.Jit makes one-dimensional textures as images of height 1
		return p, fmt.Sprintf("a %s instruction on a %s texture", g, t.Geometry)
	}
	if l.Half && !t.Floats() {
		return p, "it has integer texels and cannot give .f16"
	}
	if l.Compare && !t.Floats() {
		return p, "its texels are integers and cannot be compared as depths"
	}
	c := a.Coord[:]
	index := func(n int) int { // removes an index from c, and returns it clamped to 0 … n-1, as in D3D and OpenGL
		v := min(uint64(c[0]), uint64(n-1))
		c = c[1:]
		return int(v)
	}
	p.dimensions = g.Dimensions()
	switch {
	case g == texture.ImageCubes:
		p.layer = 6 * index(t.Layers/6)
	case g.Layered():
		p.layer = index(t.Layers)
	}
	if g.Multisample() {
		if p.sample = int(min(c[0], math.MaxInt32)); p.sample >= t.Samples {
			return p, fmt.Sprintf("sample %d of %d", c[0], t.Samples)
		}
		c = c[1:]
	}
	for i := range p.dimensions {
		if o := a.Offset[i]; o < -8 || o > 7 {
			return p, fmt.Sprintf("an offset of %d, want -8 to 7", o)
		}
		p.offset[i] = int(a.Offset[i])
	}
	if l.Integer {
		p.unfiltered = true
		for i := range p.dimensions {
			p.texels[i] = int(int32(c[i]))
		}
		if l.MipSource == MipOperand { // for integer coordinates, a whole level
			p.level256 = min(max(int(int32(a.Level)), 0), t.Levels-1) << weightBits
		}
		return p, ""
	}
	p.scaled = t.Normalized && !t.ForceUnnormalized
	var dx, dy [3]float64
	switch float := func(v uint32) float64 { return float64(math.Float32frombits(v)) }; {
	case g.Cube():
		dir := [3]float64{float(c[0]), float(c[1]), float(c[2])}
		face, axes := cubeFace(dir)
		p.layer += face
		p.scaled = true
		m := axes[2].component(dir)
		for i := range 2 {
			p.coordinates[i] = (axes[i].component(dir)/m + 1) / 2
		}
		for k, from := range [][4]uint32{a.DX, a.DY} {
			by := [3]float64{float(from[0]), float(from[1]), float(from[2])}
			for i := range 2 { // derivative of the quotient
				v := (axes[i].component(by)*m - axes[i].component(dir)*axes[2].component(by)) / (m * m) / 2
				if k == 0 {
					dx[i] = v
				} else {
					dy[i] = v
				}
			}
		}
	default:
		for i := range p.dimensions {
			p.coordinates[i], dx[i], dy[i] = float(c[i]), float(a.DX[i]), float(a.DY[i])
		}
	}
	lod := 0.0
	switch l.MipSource {
	case MipOperand:
		lod = float64(math.Float32frombits(a.Level))
	case MipGradient:
		lod = t.detailLevel(&p, dx, dy)
	}
	p.level256 = t.clampLevel(lod)
	return p, ""
}

// detailLevel returns the level of detail for derivatives: the binary logarithm of the number of texels that the longer
// derivative spans (OpenGL 4.6 8.14.1, Direct3D 11.3 7.18.11).
func (t *Texture) detailLevel(p *point, dx, dy [3]float64) float64 {
	var x, y float64
	for i, n := range t.Extent(0) {
		if i >= p.dimensions {
			break
		}
		scale := 1.0
		if p.scaled {
			scale = float64(n)
		}
		x, y = x+float64(dx[i]*scale*dx[i]*scale), y+float64(dy[i]*scale*dy[i]*scale)
	}
	return math.Log2(max(x, y)) / 2
}

// clampLevel adds the bias to a level of detail, limits it to the sampler's bounds and to the levels of the image, and
// rounds it to 256ths. NaN counts as 0, also in a bound.
func (t *Texture) clampLevel(lod float64) int {
	number := func(v float64) float64 {
		if v != v {
			return 0
		}
		return v
	}
	lod = number(lod + float64(t.Bias))
	lod = number(min(max(lod, float64(t.MinLevel)), float64(t.MaxLevel)))
	lod = min(max(lod, 0), float64(t.Levels-1))
	return int(math.Floor(lod*256 + 0.5))
}

// axis is an axis of a direction, possibly reversed.
type axis struct {
	i   int  // index of the component: x, y or z
	neg bool // the component is negated
}

// component returns the component of a vector along the axis.
func (a axis) component(v [3]float64) float64 {
	if a.neg {
		return -v[a.i]
	}
	return v[a.i]
}

// cubeFaces has the axes s, t and m of each face (CUDA C++ Programming Guide, Cubemap Textures).
var cubeFaces = [6][3]axis{
	{{2, true}, {1, true}, {0, false}},
	{{2, false}, {1, true}, {0, true}},
	{{0, false}, {2, false}, {1, false}},
	{{0, false}, {2, true}, {1, true}},
	{{0, false}, {1, true}, {2, false}},
	{{0, true}, {1, true}, {2, true}},
}

// cubeFace returns the index and the axes of the face that a direction passes through. If components have equal magnitude,
// the guide names no face; then z comes before y, and y before x (Direct3D 11.3 7.18.8).
func cubeFace(v [3]float64) (int, [3]axis) {
	x, y, z := math.Abs(v[0]), math.Abs(v[1]), math.Abs(v[2])
	face := 0
	switch {
	case z >= x && z >= y:
		face = 4
	case y >= x:
		face = 2
	}
	if v[face/2] < 0 {
		face++
	}
	return face, cubeFaces[face]
}

// appendTaps appends the texels that a lookup combines, except texels of weight 0. The sum of the weights is a power of two.
func (t *Texture) appendTaps(list []tap, p *point) []tap {
	level, fraction := p.level256>>weightBits, p.level256&(1<<weightBits-1)
	if !t.MipLinear || p.unfiltered {
		level, fraction = (p.level256+1<<(weightBits-1))>>weightBits, 0
	}
	list = t.appendLevelTaps(list, p, level, int64(1<<weightBits-fraction))
	if fraction > 0 {
		list = t.appendLevelTaps(list, p, level+1, int64(fraction))
	}
	return list
}

// edge is the pair of texels around a coordinate in a dimension.
type edge struct {
	texels  [2]int   // positions; -1: the border
	weights [2]int64 // in 256ths; 1 and 0 without filtering
}

// appendLevelTaps appends the texels of a level. Each weight is a multiple of weight, which is the weight of the level.
func (t *Texture) appendLevelTaps(list []tap, p *point, level int, weight int64) []tap {
	var edges [3]edge
	size := t.Extent(level)
	for i := range edges {
		edges[i] = edge{weights: [2]int64{1, 0}}
		switch {
		case i >= p.dimensions:
		case p.unfiltered:
			edges[i].texels[0] = t.integerTexel(i, p.texels[i]+p.offset[i], size[i])
		case t.Linear && !t.LinearMemory:
			edges[i] = t.edgeTexels(i, t.scaledCoordinate(p, i, size[i]), size[i], p.scaled)
		default:
			edges[i].texels[0] = t.nearestTexel(i, t.scaledCoordinate(p, i, size[i]), size[i], p.scaled)
		}
	}
	base, strides := t.Strides(level, p.layer, p.sample)
	for z := range 2 {
		for y := range 2 {
			for x := range 2 {
				w := weight * edges[0].weights[x] * edges[1].weights[y] * edges[2].weights[z]
				if w == 0 {
					continue
				}
				list = append(list, tapAt(base, strides, [3]int{edges[0].texels[x], edges[1].texels[y], edges[2].texels[z]}, w))
			}
		}
	}
	return list
}

// tapAt returns the tap of the texel at pos; a negative position means the border. base is the offset of the layer in the
// image and strides the distances of texels in each dimension, both in bytes.
func tapAt(base uint64, strides [3]uint64, pos [3]int, weight int64) tap {
	if min(pos[0], pos[1], pos[2]) < 0 {
		return tap{isBorder: true, weight: weight}
	}
	return tap{offset: base + uint64(pos[0])*strides[0] + uint64(pos[1])*strides[1] + uint64(pos[2])*strides[2], weight: weight}
}

// gatherTaps returns the four texels of tld4, counter-clockwise from the lower left.
func (t *Texture) gatherTaps(p *point) [4]tap {
	var edges [2]edge
	size := t.Extent(0)
	for i := range edges {
		edges[i] = t.edgeTexels(i, t.scaledCoordinate(p, i, size[i]), size[i], p.scaled)
	}
	base, strides := t.Strides(0, p.layer, 0)
	var taps [4]tap
	for i, corner := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		taps[i] = tapAt(base, strides, [3]int{edges[0].texels[corner[0]], edges[1].texels[corner[1]]}, 1)
	}
	return taps
}

// scaledCoordinate returns coordinate i, with its offset, in texels, for an extent of n texels.
func (t *Texture) scaledCoordinate(p *point, i, n int) float64 {
	u := p.coordinates[i]
	if u != u { // NaN counts as 0
		u = 0
	}
	if p.scaled {
		u *= float64(n) // exact: the factors have 24 and at most 28 bits
	}
	return u + float64(p.offset[i])
}

// addressMode returns the address mode of a dimension. Unnormalised coordinates do not repeat: "If the coordinates are
// not normalized, wrap and mirror are switched to clamp" (CUDA driver API, CUDA_TEXTURE_DESC).
func (t *Texture) addressMode(i int, scaled bool) texture.AddressMode {
	if m := t.Address[i]; scaled || m != texture.Wrap && m != texture.Mirror {
		return m
	}
	return texture.ClampToEdge
}

// wrapCoordinate maps a coordinate in texels into an image of extent n that is repeated: frac(x), and 1-frac(x) in every
// second repetition if the image is mirrored (CUDA C++ Programming Guide, Texture Memory). Other modes do not repeat it.
func wrapCoordinate(u float64, n int, m texture.AddressMode) float64 {
	size := float64(n)
	switch m {
	case texture.Wrap:
		if u = math.Mod(u, size); u < 0 {
			u += size
		}
	case texture.Mirror:
		if u = math.Mod(u, 2*size); u < 0 {
			u += 2 * size
		}
		if u >= size {
			u = 2*size - u
		}
	}
	if u != u { // NaN, the result of math.Mod for an infinity
		return 0
	}
	return min(max(u, -2), size+2) // farther coordinates give the same result
}

// nearestTexel returns the position of the texel that contains coordinate u, in dimension i of extent n; -1 for the border.
func (t *Texture) nearestTexel(i int, u float64, n int, scaled bool) int {
	m := t.addressMode(i, scaled)
	texel := int(math.Floor(wrapCoordinate(u, n, m)))
	if (texel < 0 || texel >= n) && (m == texture.ClampToBorder || t.LinearMemory) {
		return -1
	}
	return min(max(texel, 0), n-1)
}

// integerTexel returns the position of the texel for an integer coordinate, in dimension i of extent n; -1 for the border.
func (t *Texture) integerTexel(i, texel, n int) int {
	if (texel < 0 || texel >= n) && (t.Address[i] == texture.ClampToBorder || t.LinearMemory) {
		return -1
	}
	return min(max(texel, 0), n-1)
}

// edgeTexels returns the two texels whose centres are on the two sides of coordinate u, in dimension i of extent n.
func (t *Texture) edgeTexels(i int, u float64, n int, scaled bool) (e edge) {
	m := t.addressMode(i, scaled)
	if u = wrapCoordinate(u, n, m); m == texture.ClampOGL {
		u = min(max(u, 0), float64(n))
	}
	b := u - 0.5
	first := math.Floor(b)
	w := int64(math.Floor((b-first)*(1<<weightBits) + 0.5))
	e.weights = [2]int64{1<<weightBits - w, w}
	for k := range e.texels {
		texel := int(first) + k
		switch inside := texel >= 0 && texel < n; {
		case inside:
		case m == texture.ClampToBorder || m == texture.ClampOGL:
			texel = -1
		case m == texture.Wrap:
			texel = (texel + n) % n
		default:
			texel = min(max(texel, 0), n-1)
		}
		e.texels[k] = texel
	}
	return e
}

// weightedSum returns the bits of a channel of the weighted sum of texels. The sum of a single texel is the texel itself.
// Integers that are not read as floats have no sum: the channel of the first texel is returned.
func (t *Texture) weightedSum(data []byte, taps []tap, l *Lookup, a *Args, channel int) uint32 {
	if !t.Floats() {
		return t.integerChannel(data, taps[0], channel)
	}
	if t.Format.Kind != texture.Float && !(t.SRGB && channel < 3) && !l.Compare {
		return t.normalizedSum(data, taps, channel)
	}
	value := func(texel tap) float32 {
		v := t.floatChannel(data, texel, channel)
		if !l.Compare {
			return v
		}
		if math.Float32frombits(a.Compare) <= v { // as GL_LEQUAL: the reference is at most the texel
			return 1
		}
		return 0
	}
	if len(taps) == 1 {
		return math.Float32bits(value(taps[0]))
	}
	total, sum, exact := int64(0), 0.0, true
	for i := range taps {
		texel := taps[i]
		v, w := float64(value(texel)), float64(texel.weight)
		total += texel.weight
		x := float64(v * w)
		s := float64(sum + x)
		back := float64(s - sum)
		lost := float64(float64(sum-float64(s-back)) + float64(x-back))
		exact = exact && lost == 0 && math.FMA(v, w, -x) == 0
		sum = s
	}
	switch {
	case sum != sum || math.IsInf(sum, 0):
		return canonicalBits(sum)
	case exact:
		return math.Float32bits(float32(sum / float64(total)))
	}
	return math.Float32bits(slowSum(taps, value, total))
}

// canonicalBits returns the bits of an infinity or of the canonical NaN.
func canonicalBits(v float64) uint32 {
	if v != v {
		return 0x7fffffff
	}
	return math.Float32bits(float32(v))
}

// slowSum computes a sum that is not exact in doubles. 512 bits suffice: .f32 has 277 binary places, and weights have 40.
func slowSum(taps []tap, value func(tap) float32, total int64) float32 {
	sum := new(big.Float).SetPrec(512)
	for i := range taps {
		x := new(big.Float).SetPrec(512).SetFloat64(float64(value(taps[i])))
		sum.Add(sum, x.Mul(x, new(big.Float).SetInt64(taps[i].weight)))
	}
	v, _ := sum.Quo(sum, new(big.Float).SetPrec(512).SetInt64(total)).Float32() // division by a power of two
	return v
}

// channelBits returns the bits of a channel of a texel; ok is false for the border and for a missing channel.
func (t *Texture) channelBits(data []byte, texel tap, channel int) (v uint32, ok bool) {
	if texel.isBorder || channel >= t.Format.Channels {
		return 0, false
	}
	n := t.Format.Bits / 8
	p := data[int(texel.offset)+channel*n:][:n]
	switch n {
	case 1:
		return uint32(p[0]), true
	case 2:
		return uint32(binary.LittleEndian.Uint16(p)), true
	}
	return binary.LittleEndian.Uint32(p), true
}

// missingValue returns the value of a channel that no texel provides. A channel that the format lacks is 0, but the fourth is
// 1 (OpenCL 1.0 8.3.1.1, for CL_R and CL_RG). Other channels of the border have the border's value; outside linear memory
// all channels are 0.
func (t *Texture) missingValue(texel tap, channel int) float32 {
	switch {
	case texel.isBorder && t.LinearMemory:
		return 0
	case texel.isBorder && channel < t.Format.Channels:
		return t.Border[channel]
	case channel == 3:
		return 1
	}
	return 0
}

// integerChannel returns a channel of a texel as an integer, extended to 32 bits according to its type.
func (t *Texture) integerChannel(data []byte, texel tap, channel int) uint32 {
	v, ok := t.channelBits(data, texel, channel)
	if !ok {
		f := math.Trunc(float64(t.missingValue(texel, channel)))
		switch {
		case f != f:
			return 0
		case t.Format.Kind == texture.Signed:
			return uint32(int32(min(max(f, math.MinInt32), math.MaxInt32)))
		}
		return uint32(min(max(f, 0), math.MaxUint32))
	}
	if t.Format.Kind == texture.Signed {
		n := 32 - t.Format.Bits
		return uint32(int32(v<<n) >> n)
	}
	return v
}

// normalizedSum returns the bits of a channel of a weighted sum of integers that are read as floats. 255 and 65535 count as
// 1; of signed integers, 127 and 32767 count as 1, and -127 and -32767 and all integers below count as -1. The border keeps
// its value. The quotient of the exact sum is rounded twice, to .f64 and then to .f32. This has the result of a single
// rounding: a quotient of numbers of less than 49 bits by such divisors is never so near to the middle of two .f32 values
// that its .f64 value is in the middle.
func (t *Texture) normalizedSum(data []byte, taps []tap, channel int) uint32 {
	unit := int64(1)<<t.Format.Bits - 1
	if t.Format.Kind == texture.Signed {
		unit >>= 1
	}
	sum, total, mixed := int64(0), int64(0), false
	for i := range taps {
		texel := taps[i]
		total += texel.weight
		v, ok := t.channelBits(data, texel, channel)
		switch {
		case ok && t.Format.Kind == texture.Signed:
			n := 32 - t.Format.Bits
			sum += max(int64(int32(v<<n)>>n), -unit) * texel.weight
		case ok:
			sum += int64(v) * texel.weight
		default:
			b := t.missingValue(texel, channel)
			mixed = mixed || b != 0 && b != 1
			sum += int64(b) * unit * texel.weight
		}
	}
	if !mixed {
		return math.Float32bits(float32(float64(sum) / float64(unit*total)))
	}
	exact := new(big.Rat)
	for i := range taps {
		texel, x := taps[i], new(big.Rat)
		if v, ok := t.channelBits(data, texel, channel); ok {
			n := 32 - t.Format.Bits
			s := int64(v)
			if t.Format.Kind == texture.Signed {
				s = max(int64(int32(v<<n)>>n), -unit)
			}
			x.SetFrac64(s, unit)
		} else if x.SetFloat64(float64(t.missingValue(texel, channel))) == nil { // not finite
			return canonicalBits(float64(t.missingValue(texel, channel)))
		}
		exact.Add(exact, x.Mul(x, new(big.Rat).SetInt64(texel.weight)))
	}
	v, _ := exact.Quo(exact, new(big.Rat).SetInt64(total)).Float32()
	return math.Float32bits(v)
}

// floatChannel returns a channel of a texel as a float, in linear intensity for SRGB.
func (t *Texture) floatChannel(data []byte, texel tap, channel int) float32 {
	v, ok := t.channelBits(data, texel, channel)
	switch {
	case !ok:
		return t.missingValue(texel, channel)
	case t.Format.Kind == texture.Float && t.Format.Bits == 16:
		return fp.F16ToF32(uint16(v))
	case t.Format.Kind == texture.Float:
		return math.Float32frombits(v)
	case t.SRGB && channel < 3:
		return linearFromSRGB[v]
	}
	texel.weight = 1
	return math.Float32frombits(t.normalizedSum(data, []tap{texel}, channel))
}

// linearFromSRGB has the linear intensity of each byte of sRGB (IEC 61966-2-1), rounded to .f32.
var linearFromSRGB = func() (table [256]float32) {
	for i := range table {
		c := float64(i) / 255
		if c <= 0.04045 {
			table[i] = float32(c / 12.92)
		} else {
			table[i] = float32(math.Pow((c+0.055)/1.055, 2.4))
		}
	}
	return table
}()
