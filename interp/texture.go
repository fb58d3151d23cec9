package interp

// This file has textures, surfaces and samplers of a device (manual 5.3).

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/sampling"
	"gemu/probe"
	"gemu/ptx"
	"gemu/texture"
)

// Array is device memory with texels. Kernels can access it only through textures and surfaces.
type Array struct {
	dev   *Device
	alloc *mem.Allocation
	image texture.Image
}

// NewArray allocates an array of zeros; name is its name in traps.
func (d *Device) NewArray(name string, image texture.Image) (*Array, error) {
	image, err := image.Complete()
	if err != nil {
		return nil, err
	}
	if err := d.lock(); err != nil {
		return nil, err
	}
	defer d.mu.release()
	a, err := d.mem.Alloc(image.Size(), probe.ArrayMemory, name)
	if err != nil {
		return nil, err
	}
	event.EmitHost(&d.simtDevice, probe.OnAlloc, a, 0, int(a.Size), nil)
	return &Array{d, a, image}, nil
}

// Image returns the image of the array, with all extents.
func (a *Array) Image() texture.Image { return a.image }

// Addr returns the device address of the texels.
func (a *Array) Addr() uint64 { return a.alloc.Base }

// Bytes returns the memory itself, in the layout of Image (Image.Offset). It must not be used during a launch or after Free.
func (a *Array) Bytes() []byte { return a.alloc.Data }

// Free releases the array. Textures and surfaces of it trap afterwards.
// From a probe it returns ErrInProbe.
func (a *Array) Free() error { return a.dev.release(a.alloc, nil) }

// Object is a texture, a surface or a sampler of a device. Kernels use its handle.
type Object struct {
	dev    *Device
	handle uint64
	object *machine.Object
}

// Handle returns the value by which kernels refer to the object: the value of an *Object argument.
func (o *Object) Handle() uint64 { return o.handle }

// Type returns .texref, .surfref or .samplerref.
func (o *Object) Type() ptx.Type { return o.object.Type }

// Image returns the image of a texture or surface.
func (o *Object) Image() texture.Image { return o.object.Texture.Image }

// Bytes returns the texels of a texture or surface: see Array.Bytes. A sampler has none.
func (o *Object) Bytes() []byte {
	if o.object.Memory == nil {
		return nil
	}
	return o.object.Data()[:o.object.Texture.Size()]
}

// Free releases the handle: a kernel that still uses it traps.
func (o *Object) Free() { o.dev.simtDevice.Objects.Free(o.handle) }

// add gives an object a handle.
func (d *Device) add(o *machine.Object) *Object { return &Object{d, d.simtDevice.Objects.Add(o), o} }

// TextureDesc describes a texture of an array, or of a buffer's memory from an offset on.
type TextureDesc struct {
	// Name is the name of the texture in traps.
	Name string
	// Array has the texels; nil if Buffer has them.
	Array *Array
	// OneLevel selects a single mipmap level of Array: Level.
	OneLevel bool
	// Level is the index of the mipmap level if OneLevel is set.
	Level int
	// Buffer has the texels, as Image describes them; nil if Array has them.
	Buffer *Buffer
	// Offset is the offset of the texels in Buffer, in bytes.
	Offset int
	// Image is the shape of the texels in Buffer.
	Image texture.Image

	// Sampler has the options of sampling.
	texture.Sampler
	// Normalized means that the coordinates of the image are 0 to 1 in each dimension.
	Normalized bool
	// ReadFloat means that integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
	ReadFloat bool
	// SRGB means that channels of unsigned bytes, except alpha, are read as sRGB.
	SRGB bool
}

// NewTexture makes a texture. Objects may be made during a launch. The error describes the fault in desc.
func (d *Device) NewTexture(desc TextureDesc) (*Object, error) {
	o := &machine.Object{Type: ptx.TexRef, Name: desc.Name, Texture: sampling.Texture{Sampler: desc.Sampler, Normalized: desc.Normalized, ReadFloat: desc.ReadFloat, SRGB: desc.SRGB}}
	if err := placement(o, desc.Array, desc.Buffer, desc.Offset, desc.Image); err != nil {
		return nil, err
	}
	if m := o.Texture.Image; desc.OneLevel {
		if desc.Array == nil || desc.Level < 0 || desc.Level >= m.Levels {
			return nil, fmt.Errorf("a texture of level %d, but the number of levels is %d", desc.Level, m.Levels)
		}
		o.Texture.Image, o.Offset = m.AtLevel(desc.Level), m.LevelOffset(desc.Level)
	}
	if bad := o.Texture.CheckSampling(); bad != "" {
		return nil, fmt.Errorf("a texture: %s", bad)
	}
	return d.add(o), nil
}

// placement sets the texels of a texture.
func placement(o *machine.Object, array *Array, buffer *Buffer, offset int, image texture.Image) error {
	switch {
	case array != nil && buffer == nil:
		o.Memory, o.Texture.Image = array.alloc, array.image
		return nil
	case buffer == nil || array != nil:
		return fmt.Errorf("a texture needs an array or a buffer")
	}
	image, err := image.Complete()
	if err != nil {
		return err
	}
	if offset < 0 || offset > buffer.Size() || image.Size() > uint64(buffer.Size()-offset) {
		return fmt.Errorf("a texture of %d bytes from %d on in a buffer of %d", image.Size(), offset, buffer.Size())
	}
	o.Memory, o.Offset, o.Texture.Image = buffer.alloc, uint64(offset), image
	return nil
}

// NewSurface makes a surface of a mipmap level of an array. If normalized, formatted stores (sust.p) treat the array's
// integers as floats from 0 or -1 to 1.
func (d *Device) NewSurface(name string, array *Array, level int, normalized bool) (*Object, error) {
	image := array.image
	if level < 0 || level >= image.Levels {
		return nil, fmt.Errorf("a surface of level %d, but the number of levels is %d", level, image.Levels)
	}
	o := &machine.Object{Type: ptx.SurfRef, Name: name, Texture: sampling.Texture{Image: image.AtLevel(level), ReadFloat: normalized}, Memory: array.alloc, Offset: image.LevelOffset(level)}
	return d.add(o), nil
}

// NewSampler makes a sampler, for modules with separate textures and samplers (.target texmode_independent).
func (d *Device) NewSampler(name string, s texture.Sampler) *Object {
	return d.add(&machine.Object{Type: ptx.SamplerRef, Name: name, Texture: sampling.Texture{Sampler: s}})
}

// reference finds a variable of an opaque type.
func (m *Module) reference(name string) (*ptx.Var, error) {
	v, ok := m.Lookup(name).(*ptx.Var)
	if !ok || v.Type.Kind() != ptx.Opaque || m.vars[v] == nil {
		return nil, fmt.Errorf("%s has no .texref, .samplerref or .surfref variable %s", m.Name, name)
	}
	return v, nil
}

// Bind binds a .texref, .samplerref or .surfref variable of the module to an object of its type.
func (m *Module) Bind(name string, o *Object) error {
	if err := m.dev.lock(); err != nil {
		return err
	}
	defer m.dev.mu.release()
	return m.bind(name, o)
}

func (m *Module) bind(name string, o *Object) error {
	v, err := m.reference(name)
	if err != nil {
		return err
	}
	if o.object.Type != v.Type {
		return fmt.Errorf("%s is a %s, but the object is a %s", name, v.Type, o.object.Type)
	}
	m.dev.simtDevice.Current = nil // a launch in flight binds its own objects again
	binary.LittleEndian.PutUint64(m.vars[v].Data, o.handle)
	return nil
}

// SamplerOf returns the sampler in the initialiser of a .texref or .samplerref variable (manual 5.3.2), and whether it uses
// normalised coordinates.
func (m *Module) SamplerOf(name string) (s texture.Sampler, normalized bool, err error) {
	v, err := m.reference(name)
	if err != nil {
		return s, false, err
	}
	s, normalized = samplerOf(v)
	return s, normalized, nil
}

func samplerOf(v *ptx.Var) (s texture.Sampler, normalized bool) {
	s = texture.DefaultSampler()
	modes := map[string]texture.AddressMode{"wrap": texture.Wrap, "mirror": texture.Mirror, "clamp_ogl": texture.ClampOGL, "clamp_to_edge": texture.ClampToEdge, "clamp_to_border": texture.ClampToBorder}
	for _, f := range v.Fields {
		n, _ := strconv.ParseUint(f.Value, 0, 64)
		switch f.Name {
		case "filter_mode":
			s.Linear = f.Value == "linear"
		case "addr_mode_0", "addr_mode_1", "addr_mode_2":
			s.Address[f.Name[len(f.Name)-1]-'0'] = modes[f.Value]
		case "normalized_coords":
			normalized = n != 0
		case "force_unnormalized_coords":
			s.ForceUnnormalized = n != 0
		}
	}
	return s, normalized
}

// defineSamplers makes a sampler for each .samplerref variable. The caller must hold m.dev.mu.
func (m *Module) defineSamplers() {
	for _, decl := range m.Decls {
		if v, ok := decl.(*ptx.Var); ok && v.Type == ptx.SamplerRef && m.vars[v] != nil {
			s, _ := samplerOf(v)
			o := m.dev.add(&machine.Object{Type: ptx.SamplerRef, Name: v.Name, Texture: sampling.Texture{Sampler: s}})
			binary.LittleEndian.PutUint64(m.vars[v].Data, o.handle)
		}
	}
}
