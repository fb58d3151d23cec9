package driver

// This file implements arrays and mipmapped arrays: memory of texels, which kernels access through textures and
// surfaces.

import (
	"fmt"

	"gemu/interp"
	"gemu/texture"
)

// ArrayFormat is a CUarray_format.
type ArrayFormat uint32

// formatFloat is CU_AD_FORMAT_FLOAT.
const formatFloat ArrayFormat = 0x20

// arrayFormats holds the properties of each supported format.
var arrayFormats = map[ArrayFormat]struct {
	bits       int // of a channel
	channels   int // 0 if the format does not fix it
	kind       texture.ChannelKind
	normalized bool // integers are read as normalised floats
}{
	0x01: {8, 0, texture.Unsigned, false}, 0x02: {16, 0, texture.Unsigned, false}, 0x03: {32, 0, texture.Unsigned, false},
	0x08: {8, 0, texture.Signed, false}, 0x09: {16, 0, texture.Signed, false}, 0x0a: {32, 0, texture.Signed, false},
	0x10: {16, 0, texture.Float, false}, formatFloat: {32, 0, texture.Float, false},
	0xc0: {8, 1, texture.Unsigned, true}, 0xc1: {8, 2, texture.Unsigned, true}, 0xc2: {8, 4, texture.Unsigned, true},
	0xc3: {16, 1, texture.Unsigned, true}, 0xc4: {16, 2, texture.Unsigned, true}, 0xc5: {16, 4, texture.Unsigned, true},
	0xc6: {8, 1, texture.Signed, true}, 0xc7: {8, 2, texture.Signed, true}, 0xc8: {8, 4, texture.Signed, true},
	0xc9: {16, 1, texture.Signed, true}, 0xca: {16, 2, texture.Signed, true}, 0xcb: {16, 4, texture.Signed, true},
}

// format returns the format of texels with a number of channels. normalized reports whether integers are read as
// normalised floats.
func (f ArrayFormat) format(channels uint32) (format texture.Format, normalized bool, err error) {
	s, ok := arrayFormats[f]
	format = texture.Format{Channels: int(channels), Bits: s.bits, Kind: s.kind}
	if !ok || !format.Valid() || s.channels != 0 && s.channels != int(channels) {
		return format, false, fail(InvalidValue, "gemu does not support array format %#x with %d channels: see docs/textures.md", uint32(f), channels)
	}
	return format, s.normalized, nil
}

// Flags of an array.
const (
	ArrayLayered  = 0x01 // Depth is a number of layers
	ArraySurface  = 0x02 // CUDA_ARRAY3D_SURFACE_LDST
	ArrayCubemap  = 0x04 // Depth is a number of faces, six for a cube
	ArrayGather   = 0x08 // CUDA_ARRAY3D_TEXTURE_GATHER, for tld4; without effect: all arrays permit tld4
	arrayAllFlags = ArrayLayered | ArraySurface | ArrayCubemap | ArrayGather
)

// ArrayDesc is a CUDA_ARRAY3D_DESCRIPTOR. Unused extents are 0. Depth is the number of layers of a layered array, and
// six times the number of cubes of a cubemap.
type ArrayDesc struct {
	Width, Height, Depth uint64      // in texels
	Format               ArrayFormat // format of a channel
	Channels             uint32      // channels of a texel: 1, 2 or 4
	Flags                uint32      // set of ArrayLayered, ArraySurface, ArrayCubemap, ArrayGather
}

// image returns the shape of the described array with a number of mipmap levels. normalized reports whether integers are
// read as normalised floats.
func (a *ArrayDesc) image(levels int) (m texture.Image, normalized bool, err error) {
	if a.Flags&^arrayAllFlags != 0 {
		return m, false, fail(NotSupported, "array flags %#x: gemu does not support %#x", a.Flags, a.Flags&^arrayAllFlags)
	}
	if m.Format, normalized, err = a.Format.format(a.Channels); err != nil {
		return m, false, err
	}
	const most = 1 << 26
	if a.Width == 0 || a.Width > most || a.Height > most || a.Depth > most {
		return m, false, fail(InvalidValue, "an array of %d×%d×%d: the width must be at least 1, and no extent above %d", a.Width, a.Height, a.Depth, most)
	}
	m.Width, m.Height, m.Depth, m.Levels = int(a.Width), int(a.Height), int(a.Depth), levels
	switch layered := a.Flags&ArrayLayered != 0; {
	case a.Flags&ArrayCubemap != 0:
		if m.Geometry = texture.ImageCube; layered {
			m.Geometry = texture.ImageCubes
		}
		m.Layers, m.Depth = m.Depth, 0
	case layered:
		if m.Geometry = texture.Image2DLayers; m.Height == 0 {
			m.Geometry = texture.Image1DLayers
		}
		m.Layers, m.Depth = m.Depth, 0
	case m.Depth != 0:
		m.Geometry = texture.Image3D
	case m.Height != 0:
		m.Geometry = texture.Image2D
	default:
		m.Geometry = texture.Image1D
	}
	if a.Flags&(ArrayLayered|ArrayCubemap) != 0 && m.Layers == 0 {
		return m, false, fail(InvalidValue, "an array of 0 layers or faces: want a depth of at least 1")
	}
	return m, normalized, nil
}

// array is an array, or a level of a mipmapped array.
type array struct {
	handle     Handle
	ctx        *Context
	desc       ArrayDesc
	mem        *interp.Array
	level      int
	mipmap     *mipmap // nil unless the array is a level of a mipmapped array
	normalized bool    // integers are read as normalised floats
	charge     uint64  // bytes counted as used on the device
}

// ArrayElementSize returns the size of an array's texels in bytes.
func (t *Thread) ArrayElementSize(h Handle) (uint64, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	a, err := object[*array](t.d, h)
	if err != nil {
		return 0, err
	}
	return uint64(a.mem.Image().Format.Bytes()), nil
}

// mipmap is a mipmapped array.
type mipmap struct {
	handle Handle
	array
	levels []*array // an entry is nil until the client requests the level
}

// image returns the shape of the array; for a level, the shape of the level.
func (a *array) image() texture.Image { return a.mem.Image().AtLevel(a.level) }

// bytes returns the memory of the array; for a level, the memory of the level.
func (a *array) bytes() []byte {
	m := a.mem.Image()
	level := m.AtLevel(a.level)
	return a.mem.Bytes()[m.LevelOffset(a.level):][:level.Size()]
}

// addr returns the device address of the first byte of bytes.
func (a *array) addr() uint64 {
	m := a.mem.Image()
	return a.mem.Addr() + m.LevelOffset(a.level)
}

// allocate makes an array without a handle in the current context. It locks the driver unless it returns an error.
func (t *Thread) allocate(desc *ArrayDesc, levels int) (*array, error) {
	image, normalized, err := desc.image(levels)
	if err != nil {
		return nil, err
	}
	complete, err := image.Complete()
	if err != nil {
		return nil, fail(InvalidValue, "%v", err)
	}
	size := complete.Size()
	c, err := t.beginAllocation(size, size)
	if err != nil {
		return nil, err
	}
	d := t.d
	d.buffers++
	name := fmt.Sprintf("#%d", d.buffers)
	d.mu.Unlock()

	mem, err := d.gpu.NewArray(name, complete) // waits for a running launch

	d.mu.Lock()
	if err != nil {
		c.dev.used -= size
		d.mu.Unlock()
		return nil, fail(OutOfMemory, "%v", err)
	}
	return &array{ctx: c, desc: *desc, mem: mem, normalized: normalized, charge: size}, nil
}

// ArrayCreate is cuArrayCreate and cuArray3DCreate.
func (t *Thread) ArrayCreate(desc *ArrayDesc) (Handle, error) {
	a, err := t.allocate(desc, 1)
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	a.handle = a.ctx.addObject(a)
	return a.handle, nil
}

// ArrayGetDescriptor is cuArray3DGetDescriptor.
func (t *Thread) ArrayGetDescriptor(h Handle) (ArrayDesc, error) {
	if _, err := t.enter(); err != nil {
		return ArrayDesc{}, err
	}
	defer t.d.mu.Unlock()
	a, err := object[*array](t.d, h)
	if err != nil {
		return ArrayDesc{}, err
	}
	return a.desc, nil
}

// ArrayDestroy is cuArrayDestroy: it waits for the context's work.
func (t *Thread) ArrayDestroy(h Handle) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	a, err := object[*array](t.d, h)
	if err == nil && a.mipmap != nil {
		err = fail(InvalidValue, "a level of a mipmapped array cannot be destroyed: destroy the mipmapped array")
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	a.ctx.removeObject(h)
	a.destroy()
	return nil
}

// destroy waits for the context's work, and releases the memory. The caller must hold d.mu; destroy unlocks it.
func (a *array) destroy() {
	d := a.ctx.dev.d
	a.ctx.dev.used -= a.charge
	tasks := a.ctx.pending()
	d.mu.Unlock()
	d.awaitTasks(tasks)
	a.mem.Free()
}

// MipmappedArrayCreate is cuMipmappedArrayCreate.
func (t *Thread) MipmappedArrayCreate(desc *ArrayDesc, levels uint32) (Handle, error) {
	if levels == 0 || levels > 64 {
		return 0, fail(InvalidValue, "a mipmapped array of %d levels, want 1 to 64", levels)
	}
	image, _, err := desc.image(1)
	if err != nil {
		return 0, err
	}
	for n := max(image.Width, image.Height, image.Depth); levels > 1 && n>>(levels-1) == 0; {
		levels-- // the extents allow fewer levels: the last level has one texel
	}
	a, err := t.allocate(desc, int(levels))
	if err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	m := &mipmap{array: *a, levels: make([]*array, levels)}
	m.handle = a.ctx.addObject(m)
	return m.handle, nil
}

// MipmappedArrayGetLevel is cuMipmappedArrayGetLevel.
func (t *Thread) MipmappedArrayGetLevel(h Handle, level uint32) (Handle, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	m, err := object[*mipmap](t.d, h)
	if err != nil {
		return 0, err
	}
	if uint64(level) >= uint64(len(m.levels)) {
		return 0, fail(InvalidValue, "no level %d: the array has %d levels", level, len(m.levels))
	}
	if m.levels[level] == nil {
		a := m.array
		a.level, a.mipmap = int(level), m
		image := a.image()
		a.desc.Width = uint64(image.Width)
		if a.desc.Height != 0 {
			a.desc.Height = uint64(image.Height)
		}
		if a.desc.Depth != 0 && a.desc.Flags&(ArrayLayered|ArrayCubemap) == 0 {
			a.desc.Depth = uint64(image.Depth)
		}
		a.handle = a.ctx.addObject(&a)
		m.levels[level] = &a
	}
	return m.levels[level].handle, nil
}

// MipmappedArrayDestroy is cuMipmappedArrayDestroy: it waits for the context's work.
func (t *Thread) MipmappedArrayDestroy(h Handle) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	m, err := object[*mipmap](t.d, h)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	m.ctx.removeObject(h)
	for _, a := range m.levels {
		if a != nil {
			m.ctx.removeObject(a.handle)
		}
	}
	m.array.destroy()
	return nil
}

// layout returns the layout of a side of a copy whose Place is this array. The caller must hold d.mu.
func (a *array) layout(s *Side, c *Copy3D) (l layout, err error) {
	m := a.image()
	row := uint64(m.Width * m.Format.Bytes())
	rows, slices := uint64(m.Height), uint64(m.Depth*m.Layers)
	for _, v := range []struct{ start, size, extent uint64 }{{s.X, c.Width, row}, {s.Y, c.Height, rows}, {s.Z, c.Depth, slices}} {
		if v.start > v.extent || v.size > v.extent-v.start {
			return l, fail(InvalidValue, "%d×%d×%d bytes at (%d, %d, %d) are outside an array of %d×%d×%d bytes", c.Width, c.Height, c.Depth, s.X, s.Y, s.Z, row, rows, slices)
		}
	}
	l.pitch, l.slice = row, row*rows
	l.start = s.X + s.Y*l.pitch + s.Z*l.slice
	l.bytes = l.start + (c.Height-1)*l.pitch + (c.Depth-1)*l.slice + c.Width
	return l, nil
}
