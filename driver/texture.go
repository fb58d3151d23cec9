package driver

// This file implements texture objects, surface objects, and the texture and surface references of modules.

import (
	"fmt"

	"gemu/interp"
	"gemu/ptx"
	"gemu/texture"
)

// ResourceKind is a CUresourcetype.
type ResourceKind uint32

// The kinds of resource.
const (
	ArrayResource  ResourceKind = 0 // an array, or a level of a mipmapped array
	MipmapResource ResourceKind = 1 // a mipmapped array with its levels
	LinearResource ResourceKind = 2 // a row of texels in device memory
	PitchResource  ResourceKind = 3 // rows of texels in device memory
)

// ResourceDesc is a CUDA_RESOURCE_DESC: the memory of a texture or surface.
type ResourceDesc struct {
	Kind                 ResourceKind // selects the other fields that are used
	Array                Handle       // array or mipmapped array
	Addr                 uint64       // address of linear and pitched memory
	Format               ArrayFormat  // format of a channel; unused for arrays, which have their own
	Channels             uint32       // channels of a texel: 1, 2 or 4; unused for arrays
	Bytes                uint64       // size of linear memory
	Width, Height, Pitch uint64       // pitched memory: extents in texels, pitch in bytes
	Flags                uint32       // only stored
}

// Flags of a TextureDesc.
const (
	TextureAsIntegers      = 0x01 // CU_TRSF_READ_AS_INTEGER: integer texels are not converted to floats
	TextureNormalized      = 0x02 // CU_TRSF_NORMALIZED_COORDINATES: coordinates are fractions of the extents
	TextureSRGB            = 0x10 // CU_TRSF_SRGB: texels are sRGB, and are read as linear values
	textureNoOptimization  = 0x20
	textureSeamlessCubemap = 0x40
)

// TextureDesc is a CUDA_TEXTURE_DESC.
type TextureDesc struct {
	Address            [3]uint32  // CUaddress_mode of each dimension
	Filter             uint32     // CUfilter_mode within a level
	Flags              uint32     // set of TextureAsIntegers, TextureNormalized, TextureSRGB
	Anisotropy         uint32     // maximum ratio of anisotropic filtering; only stored
	MipFilter          uint32     // CUfilter_mode between levels
	Bias               float32    // added to the level of detail
	MinLevel, MaxLevel float32    // bounds of the level of detail
	Border             [4]float32 // texel outside the extents under CU_TR_ADDRESS_MODE_BORDER
}

// ViewDesc is a CUDA_RESOURCE_VIEW_DESC.
type ViewDesc struct {
	Format                uint32 // CUresourceViewFormat; 0, or the format of the array
	Width, Height, Depth  uint64 // extents of the array, in texels
	FirstLevel, LastLevel uint32 // a single level or all levels of a mipmapped array; both 0 for other arrays
	FirstLayer, LastLayer uint32 // all layers of a layered array, or both 0
}

// boundTexture is a texture or surface object of the client, with the descriptors from which it was made.
type boundTexture struct {
	object   *interp.Object
	resource ResourceDesc
	desc     TextureDesc
	view     *ViewDesc // nil: none
}

// sampler converts the descriptor to a sampler.
func (t *TextureDesc) sampler() (s texture.Sampler, err error) {
	for i, m := range t.Address {
		if m > 3 {
			return s, fail(InvalidValue, "address mode %d, want a CUaddress_mode from 0 to 3", m)
		}
		s.Address[i] = texture.AddressMode(m)
	}
	if t.Filter > 1 || t.MipFilter > 1 {
		return s, fail(InvalidValue, "filter mode %d, want 0 (point) or 1 (linear)", max(t.Filter, t.MipFilter))
	}
	if t.Flags&textureSeamlessCubemap != 0 {
		return s, fail(NotSupported, "gemu does not support seamless cubemaps: leave out CU_TRSF_SEAMLESS_CUBEMAP")
	}
	if unknown := t.Flags &^ (TextureAsIntegers | TextureNormalized | TextureSRGB | textureNoOptimization); unknown != 0 {
		return s, fail(InvalidValue, "texture flags %#x: %#x is unknown", t.Flags, unknown)
	}
	s.Linear, s.MipLinear, s.Border = t.Filter == 1, t.MipFilter == 1, t.Border
	s.Bias, s.MinLevel, s.MaxLevel = t.Bias, t.MinLevel, t.MaxLevel
	return s, nil
}

// memory returns the memory of the resource: an *array, a *mipmap or a *region. The caller must hold d.mu.
func (r *ResourceDesc) memory(d *Driver) (any, error) {
	switch r.Kind {
	case ArrayResource:
		return object[*array](d, r.Array)
	case MipmapResource:
		return object[*mipmap](d, r.Array)
	case LinearResource, PitchResource:
		if x := d.regions.find(r.Addr); x != nil && x.buf != nil {
			return x, nil
		}
		return nil, fail(InvalidValue, "%#x is not device memory", r.Addr)
	}
	return nil, fail(InvalidValue, "a resource of kind %d, want a CUresourcetype from 0 to 3", r.Kind)
}

// makeTexture makes a texture of a resource; view may be nil. The caller must hold d.mu.
func (d *Driver) makeTexture(name string, r *ResourceDesc, t *TextureDesc, view *ViewDesc) (*interp.Object, error) {
	sampler, err := t.sampler()
	if err != nil {
		return nil, err
	}
	desc := interp.TextureDesc{
		Name: name, Sampler: sampler, Normalized: t.Flags&TextureNormalized != 0, ReadFloat: t.Flags&TextureAsIntegers == 0, SRGB: t.Flags&TextureSRGB != 0,
	}
	memory, err := r.memory(d)
	if err != nil {
		return nil, err
	}
	normalized := false
	switch x := memory.(type) {
	case *array:
		desc.Array, desc.Level, desc.OneLevel, normalized = x.mem, x.level, true, x.normalized
	case *mipmap:
		desc.Array, normalized = x.mem, x.normalized
		if view != nil && view.FirstLevel == view.LastLevel {
			desc.Level, desc.OneLevel = int(view.FirstLevel), true
		}
	case *region:
		if desc.Image, normalized, err = r.image(); err != nil {
			return nil, err
		}
		desc.Buffer, desc.Offset = x.buf, int(r.Addr-x.addr)
	}
	desc.ReadFloat = desc.ReadFloat || normalized
	if view != nil {
		if err := view.check(memory); err != nil {
			return nil, err
		}
	}
	o, err := d.gpu.NewTexture(desc)
	if err != nil {
		return nil, fail(InvalidValue, "%v", err)
	}
	return o, nil
}

// image returns the shape of linear or pitched memory. normalized reports whether integer channels are read as
// normalised floats.
func (r *ResourceDesc) image() (m texture.Image, normalized bool, err error) {
	format, normalized, err := r.Format.format(r.Channels)
	if err != nil {
		return m, false, err
	}
	if r.Kind == LinearResource {
		n := r.Bytes / uint64(format.Bytes())
		if n == 0 || n > linearTexels || r.Addr%textureAlignment != 0 {
			return m, false, fail(InvalidValue, "a texture of %d bytes of linear memory at %#x: want 1 to %d texels at a multiple of %d bytes", r.Bytes, r.Addr, linearTexels, textureAlignment)
		}
		return texture.Image{Geometry: texture.Image1D, LinearMemory: true, Format: format, Width: int(n)}, normalized, nil
	}
	if r.Width == 0 || r.Height == 0 || r.Width > linearTexels || r.Height > linearTexels || r.Addr%textureAlignment != 0 || r.Pitch%texturePitch != 0 {
		return m, false, fail(InvalidValue, "a texture of %d×%d texels with a pitch of %d bytes at %#x: want extents from 1 to %d, a pitch that is a multiple of %d, and an address that is a multiple of %d",
			r.Width, r.Height, r.Pitch, r.Addr, linearTexels, texturePitch, textureAlignment)
	}
	return texture.Image{Geometry: texture.Image2D, Format: format, Width: int(r.Width), Height: int(r.Height), Pitch: int(r.Pitch)}, normalized, nil
}

// viewFormats lists the formats of views in the order of CUresourceViewFormat, which begins at 1. Each entry stands for
// three consecutive formats, with 1, 2 and 4 channels. CUresourceViewFormat continues with the block compressed formats.
var viewFormats = []struct {
	bits int
	kind texture.ChannelKind
}{
	{8, texture.Unsigned}, {8, texture.Signed}, {16, texture.Unsigned}, {16, texture.Signed}, {32, texture.Unsigned}, {32, texture.Signed},
	{16, texture.Float}, {32, texture.Float},
}

// blockFormats is the number of block compressed formats.
const blockFormats = 10

// check returns an error for unsupported views of memory (see ResourceDesc.memory): a view must have the format of the
// array, all layers, and either all levels or a single level.
func (v *ViewDesc) check(memory any) error {
	var image texture.Image
	normalized := false
	switch x := memory.(type) {
	case *array:
		image, normalized = x.image(), x.normalized
	case *mipmap:
		image, normalized = x.mem.Image(), x.normalized
		if v.FirstLevel > v.LastLevel || int64(v.LastLevel) >= int64(image.Levels) {
			return fail(InvalidValue, "a view of levels %d to %d of an array with %d levels", v.FirstLevel, v.LastLevel, image.Levels)
		}
		if n := v.LastLevel - v.FirstLevel; n != 0 && int(n)+1 != image.Levels {
			return fail(NotSupported, "a view of levels %d to %d of %d: gemu supports views of one level or of all levels", v.FirstLevel, v.LastLevel, image.Levels)
		}
		image = image.AtLevel(0)
	default:
		return fail(InvalidValue, "a resource view of memory that is not an array")
	}
	if _, isArray := memory.(*array); isArray && (v.FirstLevel != 0 || v.LastLevel != 0) {
		return fail(InvalidValue, "a view of levels %d to %d of an array without levels", v.FirstLevel, v.LastLevel)
	}
	if v.Format != 0 {
		n := int(v.Format-1) / 3
		switch {
		case n >= len(viewFormats) && int(v.Format) <= 3*len(viewFormats)+blockFormats:
			return fail(NotSupported, "a view in block compressed format %d: gemu supports only the format of the array", v.Format)
		case n >= len(viewFormats):
			return fail(InvalidValue, "view format %d, want a CUresourceViewFormat from 0 to %d", v.Format, 3*len(viewFormats)+blockFormats)
		}
		format := texture.Format{Channels: []int{1, 2, 4}[(v.Format-1)%3], Bits: viewFormats[n].bits, Kind: viewFormats[n].kind}
		if format != image.Format || normalized {
			return fail(NotSupported, "the format of the view differs from the format of the array: gemu supports only the format of the array")
		}
	}
	equal := func(view uint64, extent int) bool { return max(view, 1) == uint64(max(extent, 1)) }
	layered := image.Geometry.Layered() || image.Geometry.Cube()
	if !equal(v.Width, image.Width) || !equal(v.Height, image.Height) || !layered && !equal(v.Depth, image.Depth) {
		return fail(InvalidValue, "a view of %d×%d×%d texels of an array of %d×%d×%d: want the extents of the array", v.Width, v.Height, v.Depth, image.Width, image.Height, image.Depth)
	}
	if v.FirstLayer != 0 || v.LastLayer != 0 && int64(v.LastLayer) != int64(image.Layers)-1 {
		return fail(NotSupported, "a view of layers %d to %d of %d: gemu supports only views of all layers", v.FirstLayer, v.LastLayer, image.Layers)
	}
	return nil
}

// TexObjectCreate is cuTexObjectCreate. Kernels use the returned handle. view may be nil; see ViewDesc for the supported
// views.
func (t *Thread) TexObjectCreate(r *ResourceDesc, desc *TextureDesc, view *ViewDesc) (uint64, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	o, err := t.d.makeTexture("", r, desc, view)
	if err != nil {
		return 0, err
	}
	t.d.trackObject(o, &boundTexture{o, *r, *desc, view})
	return o.Handle(), nil
}

// trackObject records an object of the client. The caller must hold d.mu.
func (d *Driver) trackObject(o *interp.Object, x *boundTexture) {
	if d.textures == nil {
		d.textures = map[uint64]*boundTexture{}
	}
	d.textures[o.Handle()] = x
}

// texture returns the object with a handle; typ is ptx.TexRef for a texture and ptx.SurfRef for a surface. The caller
// must hold d.mu.
func (d *Driver) texture(h uint64, typ ptx.Type) (*boundTexture, error) {
	x := d.textures[h]
	if x == nil || x.object.Type() != typ {
		return nil, fail(InvalidValue, "%#x is not the handle of a %s object", h, map[ptx.Type]string{ptx.TexRef: "texture", ptx.SurfRef: "surface"}[typ])
	}
	return x, nil
}

// destroyTexture waits for the context's work, and destroys a texture or surface object.
func (t *Thread) destroyTexture(h uint64, typ ptx.Type) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	x, err := t.d.texture(h, typ)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	delete(t.d.textures, h)
	tasks := c.pending()
	t.d.mu.Unlock()
	t.d.awaitTasks(tasks)
	x.object.Free()
	return nil
}

// TexObjectDestroy is cuTexObjectDestroy: it waits for the context's work.
func (t *Thread) TexObjectDestroy(h uint64) error { return t.destroyTexture(h, ptx.TexRef) }

// SurfObjectDestroy is cuSurfObjectDestroy: it waits for the context's work.
func (t *Thread) SurfObjectDestroy(h uint64) error { return t.destroyTexture(h, ptx.SurfRef) }

// lookUpTexture is Driver.texture for a call in the current context. It locks the driver itself.
func (t *Thread) lookUpTexture(h uint64, typ ptx.Type) (*boundTexture, error) {
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	defer t.d.mu.Unlock()
	return t.d.texture(h, typ)
}

// TexObjectGetResourceDesc is cuTexObjectGetResourceDesc.
func (t *Thread) TexObjectGetResourceDesc(h uint64) (r ResourceDesc, err error) {
	x, err := t.lookUpTexture(h, ptx.TexRef)
	if err == nil {
		r = x.resource
	}
	return r, err
}

// TexObjectGetTextureDesc is cuTexObjectGetTextureDesc.
func (t *Thread) TexObjectGetTextureDesc(h uint64) (desc TextureDesc, err error) {
	x, err := t.lookUpTexture(h, ptx.TexRef)
	if err == nil {
		desc = x.desc
	}
	return desc, err
}

// TexObjectGetResourceViewDesc is cuTexObjectGetResourceViewDesc.
func (t *Thread) TexObjectGetResourceViewDesc(h uint64) (v ViewDesc, err error) {
	x, err := t.lookUpTexture(h, ptx.TexRef)
	switch {
	case err != nil:
	case x.view == nil:
		err = fail(InvalidValue, "the texture was created without a resource view")
	default:
		v = *x.view
	}
	return v, err
}

// makeSurface makes a surface of an array. The caller must hold d.mu.
func (d *Driver) makeSurface(name string, h Handle) (*interp.Object, error) {
	a, err := object[*array](d, h)
	if err != nil {
		return nil, err
	}
	if a.desc.Flags&ArraySurface == 0 {
		return nil, fail(InvalidValue, "the array was made without CUDA_ARRAY3D_SURFACE_LDST")
	}
	o, err := d.gpu.NewSurface(name, a.mem, a.level, a.normalized)
	if err != nil {
		return nil, fail(InvalidValue, "%v", err)
	}
	return o, nil
}

// SurfObjectCreate is cuSurfObjectCreate.
func (t *Thread) SurfObjectCreate(r *ResourceDesc) (uint64, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if r.Kind != ArrayResource {
		return 0, fail(InvalidValue, "a surface needs an array (CU_RESOURCE_TYPE_ARRAY), not a resource of kind %d", r.Kind)
	}
	o, err := t.d.makeSurface("", r.Array)
	if err != nil {
		return 0, err
	}
	t.d.trackObject(o, &boundTexture{object: o, resource: *r})
	return o.Handle(), nil
}

// SurfObjectGetResourceDesc is cuSurfObjectGetResourceDesc.
func (t *Thread) SurfObjectGetResourceDesc(h uint64) (r ResourceDesc, err error) {
	x, err := t.lookUpTexture(h, ptx.SurfRef)
	if err == nil {
		r = x.resource
	}
	return r, err
}

// Reference is a .texref or .surfref variable of a module. A change takes effect with the next launch.
type Reference struct {
	handle   Handle
	module   *Module
	name     string
	typ      ptx.Type
	set      bool // Set was called
	resource ResourceDesc
	desc     TextureDesc

	launchObject *interp.Object // object for launches; nil until the first launch after a change
	source       any            // memory of launchObject: *array, *mipmap or *region
}

// ModuleGetReference is cuModuleGetTexRef for typ ptx.TexRef, and cuModuleGetSurfRef for ptx.SurfRef.
func (t *Thread) ModuleGetReference(h Handle, name string, typ ptx.Type) (Handle, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	m, err := object[*Module](t.d, h)
	if err != nil {
		return 0, err
	}
	if r := m.references[name]; r != nil && r.typ == typ {
		return r.handle, nil
	}
	v, ok := m.mod.Lookup(name).(*ptx.Var)
	if !ok || v.Type != typ {
		return 0, fail(NotFound, "module %s has no %s variable %s", m.mod.Name, typ, name)
	}
	r := &Reference{module: m, name: name, typ: typ}
	if s, normalized, err := m.mod.SamplerOf(name); err == nil {
		for i, a := range s.Address {
			r.desc.Address[i] = min(uint32(a), 3)
		}
		if s.Linear {
			r.desc.Filter = 1
		}
		if normalized {
			r.desc.Flags = TextureNormalized
		}
	}
	r.resource.Format, r.resource.Channels = formatFloat, 1
	r.handle = m.ctx.addObject(r)
	if m.references == nil {
		m.references = map[string]*Reference{}
	}
	m.references[name] = r
	return r.handle, nil
}

// Reference calls f with a reference, its resource and its descriptor. f may read and change them. The next launch uses
// a new object.
func (t *Thread) Reference(h Handle, f func(r *Reference, resource *ResourceDesc, desc *TextureDesc) error) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	r, err := object[*Reference](t.d, h)
	if err != nil {
		return err
	}
	r.drop()
	return f(r, &r.resource, &r.desc)
}

// drop removes the object of earlier launches from the reference, and releases the object when the context's pending
// work has ended. The caller must hold d.mu.
func (r *Reference) drop() {
	if o := r.launchObject; o != nil {
		tasks := r.module.ctx.pending()
		go func() {
			waitInBackground(tasks)
			o.Free()
		}()
	}
	r.launchObject, r.source = nil, nil
}

// Set binds the reference to a resource. Format and Channels of the reference do not change.
func (r *Reference) Set(resource ResourceDesc) {
	resource.Format, resource.Channels = r.resource.Format, r.resource.Channels
	r.resource, r.set = resource, true
}

// CheckBound returns an error unless the reference is bound to a resource of a kind.
func (r *Reference) CheckBound(kind ResourceKind) error {
	switch {
	case !r.set:
		return fail(InvalidValue, "%s is not bound to a resource", r.name)
	case r.resource.Kind != kind:
		return fail(InvalidValue, "%s is bound to a resource of kind %d, not of kind %d", r.name, r.resource.Kind, kind)
	}
	return nil
}

// object returns the object for a launch: the object of the previous launch if nothing has changed, else a new object.
// The caller must hold d.mu.
func (r *Reference) object() (*interp.Object, error) {
	d := r.module.ctx.dev.d
	memory, err := r.resource.memory(d)
	if err != nil {
		return nil, err
	}
	if r.launchObject != nil && r.source == memory {
		return r.launchObject, nil
	}
	r.drop()
	var o *interp.Object
	if r.typ == ptx.SurfRef {
		o, err = d.makeSurface(r.name, r.resource.Array)
	} else {
		o, err = d.makeTexture(r.name, &r.resource, &r.desc, nil)
	}
	if err != nil {
		return nil, err
	}
	r.launchObject, r.source = o, memory
	return o, nil
}

// bindings returns the objects of the module's bound references by name, for a launch. The caller must hold d.mu.
func (m *Module) bindings() (map[string]*interp.Object, error) {
	if len(m.references) == 0 {
		return nil, nil
	}
	list := map[string]*interp.Object{}
	for name, r := range m.references {
		if !r.set {
			continue
		}
		o, err := r.object()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list[name] = o
	}
	return list, nil
}
