package interp

// This file has the notation of textures, surfaces and samplers in commands and test cases.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemu/internal/notation"
	"gemu/ptx"
	"gemu/texture"
)

// ObjectText is the notation of a texture, surface or sampler:
//
//	tex.2d(u8x4[64x48]=iota, filter=linear, address=wrap, norm)
//	surf.1d(u32[16])
//	sampler(filter=linear, address=mirror:clamp)
//
// The kind of object comes first, with the geometry as in the modifiers of instructions; "linear" is linear memory, and the
// default is 2d. The texels follow: u, s or f (unsigned integers, signed integers or floats) with the bits of a channel; x and
// the number of channels, by default 1; the extents, with the number of layers or cubes first, and the width last; and the
// contents, whose notation is the caller's. Options are
//
//	filter=linear               linear filtering; without the option the nearest texel
//	address=wrap:clamp:border   by dimension, or one for all: wrap mirror clamp border ogl; clamp is the default
//	border=R:G:B:A              the colour outside, with address=border
//	norm, unnorm                normalised coordinates; unnormalised coordinates, even if the texture has normalised ones
//	float, srgb                 integers of 8 and 16 bits are read as floats; are read as floats and converted from sRGB
//	levels=N                    number of levels of a mipmap; the texels of each level follow those of the level before
//	mip=linear                  linear filtering between levels
//	bias=X, lod=MIN:MAX         bias and limits of the level of detail
//	samples=N                   samples per texel
//	pitch=N                     bytes from the start of a row to the start of the next
type ObjectText struct {
	Type  ptx.Type      // .texref, .surfref or .samplerref
	Image texture.Image // geometry, format and extents; without extents if Init is a file
	Init  string        // initial texels: "=iota", "{1 2 3}", or a file "@picture.png" without extents

	texture.Sampler
	Normalized, ReadFloat, SRGB bool // the fields of TextureDesc with these names
}

// IsObjectText reports whether a text begins as an ObjectText.
func IsObjectText(text string) bool {
	head, _, ok := strings.Cut(text, "(")
	kind, _, _ := strings.Cut(head, ".")
	return ok && objectTypes[kind] != ptx.NoType
}

var objectTypes = map[string]ptx.Type{"tex": ptx.TexRef, "surf": ptx.SurfRef, "sampler": ptx.SamplerRef}

// parseTexels parses a format and extents, such as u8x4[64x48]; init is the text after them.
func parseTexels(text string) (f texture.Format, extents, init string, ok bool) {
	format, rest, found := strings.Cut(text, "[")
	extents, init, closed := strings.Cut(rest, "]")
	if !found || !closed || extents == "" || strings.Trim(extents, "0123456789x") != "" || format == "" {
		return f, "", "", false
	}
	kind := map[byte]texture.ChannelKind{'u': texture.Unsigned, 's': texture.Signed, 'f': texture.Float}
	if f.Kind, ok = kind[format[0]]; !ok {
		return f, "", "", false
	}
	bits, channels, several := strings.Cut(format[1:], "x")
	if !several {
		channels = "1"
	}
	if !slices.Contains([]string{"8", "16", "32"}, bits) || !slices.Contains([]string{"1", "2", "4"}, channels) {
		return f, "", "", false
	}
	f.Bits, _ = strconv.Atoi(bits)
	f.Channels, _ = strconv.Atoi(channels)
	return f, extents, init, true
}

// ParseObject parses an ObjectText. base has the defaults of its options. A syntax error is a *notation.Error, with its place.
func ParseObject(text string, base texture.Sampler, normalized bool) (*ObjectText, error) {
	head, rest, _ := strings.Cut(text, "(")
	kind, geometry, named := strings.Cut(head, ".")
	o := &ObjectText{Type: objectTypes[kind], Sampler: base, Normalized: normalized}
	if o.Type == ptx.NoType || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("want tex.GEOMETRY(…), surf.GEOMETRY(…) or sampler(…)")
	}
	parts, inside := notation.FieldsAt(strings.TrimSuffix(rest, ")")), len(head)+len("(")
	o.Image.Geometry = texture.Image2D
	switch {
	case geometry == "linear":
		o.Image.Geometry, o.Image.LinearMemory = texture.Image1D, true
	case named:
		if o.Image.Geometry = texture.GeometryNamed(geometry); o.Image.Geometry == texture.NoGeometry || o.Type == ptx.SamplerRef {
			return nil, notation.At(len(kind), fmt.Errorf("%s: want one of 1d 2d 3d a1d a2d cube acube 2dms a2dms linear", head))
		}
	}
	var extents string
	if o.Type != ptx.SamplerRef {
		if len(parts) == 0 {
			return nil, notation.At(inside, fmt.Errorf("%s: no texels", head))
		}
		if o.Init = parts[0].Text; !strings.HasPrefix(o.Init, "@") {
			f, size, init, ok := parseTexels(o.Init)
			if !ok {
				return nil, notation.At(inside+parts[0].Offset, fmt.Errorf("%s: want texels such as u8x4[64x48] or f32[16]", o.Init))
			}
			o.Image.Format, extents, o.Init = f, size, init
		}
		parts = parts[1:]
	}
	for _, p := range parts {
		if err := o.option(p.Text); err != nil {
			return nil, notation.At(inside+p.Offset, err)
		}
	}
	if extents == "" {
		return o, nil
	}
	return o, notation.At(strings.IndexByte(text, '[')+len("["), o.extents(extents))
}

// Describe sets the format and the extents of an image without texels in its notation, for data in an array of this shape. A
// dimension beyond the geometry's is the number of channels.
func (o *ObjectText) Describe(f texture.Format, shape []int) error {
	want := o.Image.Geometry.Dimensions()
	if o.Image.Geometry.Layered() {
		want++
	}
	if len(shape) == want+1 {
		f.Channels, shape = shape[want], shape[:want]
	}
	o.Image.Format = f
	var text []string
	for _, n := range shape {
		text = append(text, strconv.Itoa(n))
	}
	return o.extents(strings.Join(text, "x"))
}

// extents parses the extents of the image and completes it.
func (o *ObjectText) extents(text string) (err error) {
	m, g := &o.Image, o.Image.Geometry
	var n []int
	for _, s := range strings.Split(text, "x") {
		v, err := strconv.Atoi(s)
		if err != nil || v < 1 {
			return fmt.Errorf("[%s]: bad extents", text)
		}
		n = append(n, v)
	}
	want := g.Dimensions()
	if g.Layered() {
		want++
	}
	if len(n) != want {
		names := []string{"DEPTH", "HEIGHT", "WIDTH"}[3-g.Dimensions():]
		if g.Layered() {
			names = slices.Insert(slices.Clone(names), 0, "LAYERS")
		}
		return fmt.Errorf("[%s]: %s has %d extents, %s", text, g, want, strings.Join(names, "x"))
	}
	if g.Layered() {
		if m.Layers, n = n[0], n[1:]; g.Cube() {
			m.Layers *= 6
		}
	}
	for i, p := range []*int{&m.Width, &m.Height, &m.Depth} {
		if i < len(n) {
			*p = n[len(n)-1-i]
		}
	}
	*m, err = m.Complete()
	return err
}

var addressModes = map[string]texture.AddressMode{"wrap": texture.Wrap, "mirror": texture.Mirror, "clamp": texture.ClampToEdge, "border": texture.ClampToBorder, "ogl": texture.ClampOGL}

// option parses an option.
func (o *ObjectText) option(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	values := strings.Split(value, ":")
	float := func(s string) float32 {
		f, e := strconv.ParseFloat(s, 32)
		if e != nil {
			err = fmt.Errorf("%s: %q is not a number", text, s)
		}
		return float32(f)
	}
	filter := func() bool {
		if value != "linear" && value != "nearest" {
			err = fmt.Errorf("%s: want nearest or linear", text)
		}
		return value == "linear"
	}
	number := func() int {
		n, e := strconv.Atoi(value)
		if e != nil || n < 1 {
			err = fmt.Errorf("%s: %q is not a whole number from 1 on", text, value)
		}
		return n
	}
	switch name {
	case "filter":
		o.Linear = filter()
	case "mip":
		o.MipLinear = filter()
	case "address":
		for i := range o.Address {
			mode, ok := addressModes[values[min(i, len(values)-1)]]
			if !ok || len(values) > 3 {
				return fmt.Errorf("%s: want wrap, mirror, clamp, border or ogl, for all dimensions or each", text)
			}
			o.Address[i] = mode
		}
	case "border":
		if len(values) > 4 {
			return fmt.Errorf("%s: more than four channels", text)
		}
		for i, v := range values {
			o.Border[i] = float(v)
		}
	case "norm":
		o.Normalized = true
	case "unnorm":
		o.Normalized, o.ForceUnnormalized = false, true
	case "float":
		o.ReadFloat = true
	case "srgb":
		o.ReadFloat, o.SRGB = true, true
	case "levels":
		o.Image.Levels = number()
	case "samples":
		o.Image.Samples = number()
	case "pitch":
		o.Image.Pitch = number()
	case "bias":
		o.Bias = float(value)
	case "lod":
		if len(values) != 2 {
			return fmt.Errorf("%s: want MIN:MAX", text)
		}
		o.MinLevel, o.MaxLevel = float(values[0]), float(values[1])
	default:
		return fmt.Errorf("unknown option %s: the options are filter, address, border, norm, unnorm, float, srgb, levels, mip, bias, lod, samples and pitch", name)
	}
	return err
}

// Bytes returns the size of all texels in bytes, with levels and rows in sequence and without gaps.
func (o *ObjectText) Bytes() (n int) {
	o.spread(func(_, _, size int) { n += size })
	return n
}

// spread calls visit with each segment of the image: its offset in memory and in the texels, and its size, in bytes.
func (o *ObjectText) spread(visit func(at, from, size int)) {
	m, from := &o.Image, 0
	for level := range m.Levels {
		one := m.AtLevel(level)
		pieces, size := 1, int(one.Size())
		if m.Pitch != 0 {
			pieces, size = m.Height, m.Width*m.Format.Bytes()
		}
		for i := range pieces {
			visit(int(m.LevelOffset(level))+i*m.Pitch, from, size)
			from += size
		}
	}
}

// MakeObject makes the object of a text and binds it to the module's variable; the variable "" binds nothing. values returns
// the texels of the text after the extents.
func (m *Module) MakeObject(variable, text string, values func(t ptx.Type, text string) ([]byte, error)) (*Object, error) {
	t, err := ParseObject(text, texture.DefaultSampler(), false)
	if err != nil {
		return nil, err
	}
	var data []byte
	if t.Init != "" {
		if data, err = values(ptx.TypeByName(t.Image.Format.Channel()), t.Init); err != nil {
			return nil, err
		}
	}
	o, err := t.Make(m.dev, cmp.Or(variable, "x"), data)
	if err != nil || variable == "" {
		return o, err
	}
	return o, m.Bind(variable, o)
}

// Make makes the object on a device from texels; missing texels are 0.
func (o *ObjectText) Make(d *Device, name string, data []byte) (*Object, error) {
	if o.Type == ptx.SamplerRef {
		return d.NewSampler(name, o.Sampler), nil
	}
	desc := TextureDesc{Name: name, Image: o.Image, Sampler: o.Sampler, Normalized: o.Normalized, ReadFloat: o.ReadFloat, SRGB: o.SRGB}
	var memory []byte
	switch {
	case o.Image.LinearMemory || o.Image.Pitch != 0:
		b, err := d.AllocNamed(name, int(o.Image.Size()))
		if err != nil {
			return nil, err
		}
		desc.Buffer, memory = b, b.Bytes()
	default:
		a, err := d.NewArray(name, o.Image)
		if err != nil {
			return nil, err
		}
		desc.Array, memory = a, a.Bytes()
	}
	o.spread(func(at, from, size int) {
		if from < len(data) {
			copy(memory[at:][:size], data[from:])
		}
	})
	if o.Type == ptx.TexRef {
		return d.NewTexture(desc)
	}
	if desc.Array == nil {
		return nil, fmt.Errorf("a surface needs an array")
	}
	return d.NewSurface(name, desc.Array, 0, o.ReadFloat)
}
