package driver

// This file tests arrays, textures and surfaces.

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"gemu/driver/internal/sharedmem"
	"gemu/interp"
	"gemu/ptx"
)

const texturePTX = `.version 8.0
.target sm_80
.address_size 64
.global .texref tex = { filter_mode = linear };
.global .surfref surf;
.visible .entry objects(.param .u64 t, .param .u64 s, .param .u64 out)
{
	.reg .u64 %t, %s, %p; .reg .u32 %i, %x, %r<4>; .reg .f32 %f;
	ld.param.u64 %t, [t]; ld.param.u64 %s, [s]; ld.param.u64 %p, [out];
	mov.u32 %i, %tid.x;
	cvt.rn.f32.u32 %f, %i;
	tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%i}];
	shl.b32 %x, %i, 1;
	sust.b.2d.b16.trap [%s, {%x, 1}], %r1;
	mad.wide.u32 %p, %i, 4, %p;
	st.global.u32 [%p], %r0;
	ret;
}
.visible .entry names(.param .u64 out)
{
	.reg .u64 %p; .reg .f32 %f<4>; .reg .u32 %w;
	ld.param.u64 %p, [out];
	tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tex, {0f3F800000, 0f3F000000}];
	st.global.f32 [%p], %f0;
	suq.width.b32 %w, [surf];
	st.global.u32 [%p+4], %w;
	ret;
}
.visible .entry level(.param .u64 t, .param .f32 l, .param .u64 out)
{
	.reg .u64 %t, %p; .reg .f32 %f<4>, %l;
	ld.param.u64 %t, [t]; ld.param.u64 %p, [out]; ld.param.f32 %l, [l];
	tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {0f3F000000, 0f3F000000}], %l;
	st.global.f32 [%p], %f0;
	ret;
}`

// A view with the array's own format and extents shows the array; a view of a single level shows that level.
func TestTextureViews(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	a := must(c.ArrayCreate(&ArrayDesc{Width: 4, Height: 3, Format: 0x20, Channels: 1}))(t) // FLOAT
	array := ResourceDesc{Array: a}
	line := must(c.ArrayCreate(&ArrayDesc{Width: 4, Format: 2, Channels: 2}))(t)
	m := must(c.MipmappedArrayCreate(&ArrayDesc{Width: 4, Height: 4, Format: 0x20, Channels: 1}, 3))(t)
	mip := ResourceDesc{Kind: MipmapResource, Array: m}
	for _, good := range []struct {
		r ResourceDesc
		v ViewDesc
	}{
		{array, ViewDesc{Width: 4, Height: 3}},
		{array, ViewDesc{Format: 22, Width: 4, Height: 3}},                    // FLOAT_1X32
		{array, ViewDesc{Format: 22, Width: 4, Height: 3, Depth: 1}},          // an unused extent is 0 or 1
		{ResourceDesc{Array: line}, ViewDesc{Format: 8, Width: 4, Height: 1}}, // UINT_2X16
		{mip, ViewDesc{Format: 22, Width: 4, Height: 4, LastLevel: 2}},
	} {
		tex := must(c.TexObjectCreate(&good.r, &TextureDesc{Flags: TextureNormalized}, &good.v))(t)
		if got := must(c.TexObjectGetResourceViewDesc(tex))(t); got != good.v {
			t.Errorf("the view is %+v, want %+v", got, good.v)
		}
		c.ok(c.TexObjectDestroy(tex))
	}
	for _, bad := range []struct {
		r    ResourceDesc
		v    ViewDesc
		want Result
	}{
		{array, ViewDesc{Format: 13, Width: 4, Height: 3}, NotSupported}, // UINT_1X32
		{array, ViewDesc{Format: 25, Width: 4, Height: 3}, NotSupported}, // UNSIGNED_BC1
		{array, ViewDesc{Format: 99, Width: 4, Height: 3}, InvalidValue},
		{array, ViewDesc{Width: 8, Height: 3}, InvalidValue},
		{array, ViewDesc{Width: 4, Height: 3, LastLevel: 1}, InvalidValue},
		{mip, ViewDesc{Width: 4, Height: 4, LastLevel: 3}, InvalidValue},
		{mip, ViewDesc{Width: 4, Height: 4, FirstLevel: 1 << 31, LastLevel: 1<<32 - 1}, InvalidValue},
		{mip, ViewDesc{Width: 4, Height: 4, LastLevel: 1}, NotSupported},
		{ResourceDesc{Kind: LinearResource, Addr: c.alloc(16), Format: 2, Channels: 2, Bytes: 16}, ViewDesc{Width: 4}, InvalidValue},
	} {
		_, err := c.TexObjectCreate(&bad.r, &TextureDesc{Flags: TextureNormalized}, &bad.v)
		c.want(bad.want, "view", err)
	}
	// The second level has its own texels.
	level := must(c.MipmappedArrayGetLevel(m, 1))(t)
	texels := [4]float32{7, 7, 7, 7}
	c.ok(c.Memcpy3D(&Copy3D{Src: Side{Place: hostPlace(&texels), Pitch: 8}, Dst: Side{Place: Place{Kind: ArrayPlace, Array: level}}, Width: 8, Height: 2, Depth: 1}, 0, false))
	tex := must(c.TexObjectCreate(&mip, &TextureDesc{Flags: TextureNormalized}, &ViewDesc{Width: 4, Height: 4, FirstLevel: 1, LastLevel: 1}))(t)
	y := c.alloc(4)
	c.ok(c.launch("level", 1, 1, tex, 0, y))
	c.expect(y, math.Float32bits(7))
}

// TestTextureOfOneRow: tex.1d reads an array of a single row (Height 1) like a one-dimensional array (Height 0), with
// and without filtering. It cannot read an array of two rows.
func TestTextureOfOneRow(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(`.version 8.0
.target sm_80
.address_size 64
.visible .entry line(.param .u64 t, .param .f32 u, .param .u64 out)
{
	.reg .u64 %t, %p; .reg .f32 %f<4>, %u;
	ld.param.u64 %t, [t]; ld.param.u64 %p, [out]; ld.param.f32 %u, [u];
	tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%u}];
	st.global.f32 [%p], %f0;
	ret;
}`)
	texels := [4]float32{1, 3, 7, 15}
	y := c.alloc(4)
	for _, height := range []uint64{0, 1} {
		a := must(c.ArrayCreate(&ArrayDesc{Width: 4, Height: height, Format: 0x20, Channels: 1}))(t)
		c.ok(c.Memcpy3D(&Copy3D{Src: Side{Place: hostPlace(&texels), Pitch: 16}, Dst: Side{Place: Place{Kind: ArrayPlace, Array: a}}, Width: 16, Height: 1, Depth: 1}, 0, false))
		for _, k := range []struct {
			filter uint32
			u      float32 // a quarter of it is a texel
			want   float32
		}{{0, 0.3, 3}, {0, 0.9, 15}, {1, 0.375, 3}, {1, 0.5, 5}, {1, 0.75, 11}, {1, 1, 15}} {
			tex := must(c.TexObjectCreate(&ResourceDesc{Array: a}, &TextureDesc{Flags: TextureNormalized, Filter: k.filter, Address: [3]uint32{1, 1, 1}}, nil))(t)
			c.ok(c.launch("line", 1, 1, tex, int(math.Float32bits(k.u)), y))
			c.expect(y, math.Float32bits(k.want))
		}
	}
	two := must(c.ArrayCreate(&ArrayDesc{Width: 4, Height: 2, Format: 0x20, Channels: 1}))(t)
	tex := must(c.TexObjectCreate(&ResourceDesc{Array: two}, &TextureDesc{Flags: TextureNormalized}, nil))(t)
	c.ok(c.launch("line", 1, 1, tex, 0, y))
	c.want(IllegalAddress, "a 1d instruction on a 2d texture", c.CtxSynchronize(0))
}

func hostPlace[T any](p *T) Place { return Place{Kind: HostPlace, Host: unsafe.Pointer(p)} }

// Objects of linear memory and of an array: copies and faults.
func TestTextureObjects(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	free, _, err := c.MemGetInfo()
	c.ok(err)
	x := c.alloc(16)
	c.write(x, 0x00020001, 0x00040003, 0x00060005, 0x00080007)
	linear := ResourceDesc{Kind: LinearResource, Addr: x, Format: 2, Channels: 2, Bytes: 16} // UNSIGNED_INT16
	tex := must(c.TexObjectCreate(&linear, &TextureDesc{Flags: TextureAsIntegers}, nil))(t)
	desc := ArrayDesc{Width: 4, Height: 3, Format: 2, Channels: 1, Flags: ArraySurface}
	a := must(c.ArrayCreate(&desc))(t)
	if got := must(c.ArrayGetDescriptor(a))(t); got != desc {
		t.Errorf("the array is %+v", got)
	}
	surf := must(c.SurfObjectCreate(&ResourceDesc{Array: a}))(t)
	y := c.alloc(16)
	c.ok(c.launch("objects", 1, 4, tex, surf, y))
	c.expect(y, 1, 3, 5, 7)
	var rows [3][4]uint16
	c.ok(c.Memcpy3D(&Copy3D{
		Src: Side{Place: Place{Kind: ArrayPlace, Array: a}, Y: 1}, Dst: Side{Place: hostPlace(&rows), Pitch: 8, Y: 1}, Width: 8, Height: 2, Depth: 1,
	}, 0, false))
	if want := [3][4]uint16{1: {2, 4, 6, 8}}; rows != want {
		t.Errorf("rows are %v", rows)
	}
	var part [2]uint16
	c.ok(c.Memcpy(hostPlace(&part), Place{Kind: ArrayPlace, Array: a, Device: 10}, 4, 0, false))
	if part != [2]uint16{4, 6} {
		t.Errorf("got %v", part)
	}
	c.want(InvalidValue, "do not fit an array of 24", c.Memcpy(Place{Kind: ArrayPlace, Array: a, Device: 24}, hostPlace(&part), 4, 0, false))
	if got := must(c.TexObjectGetResourceDesc(tex))(t); got != linear {
		t.Errorf("the resource is %+v", got)
	}
	_, err = c.TexObjectGetResourceViewDesc(tex)
	c.want(InvalidValue, "without a resource view", err)
	for _, bad := range []struct {
		r Result
		d ResourceDesc
		t TextureDesc
	}{
		{InvalidValue, ResourceDesc{Kind: LinearResource, Addr: x, Format: 0x99, Channels: 1, Bytes: 16}, TextureDesc{}},
		{InvalidValue, ResourceDesc{Kind: LinearResource, Addr: x, Format: 2, Channels: 3, Bytes: 16}, TextureDesc{}},
		{InvalidValue, ResourceDesc{Kind: LinearResource, Addr: x, Format: 2, Channels: 1, Bytes: 1 << 20}, TextureDesc{}},
		{InvalidValue, linear, TextureDesc{Flags: TextureAsIntegers, Filter: 1}},
		{InvalidValue, linear, TextureDesc{Address: [3]uint32{7}}},
		{InvalidHandle, ResourceDesc{Array: 5}, TextureDesc{}},
		{NotSupported, linear, TextureDesc{Flags: textureSeamlessCubemap}},
	} {
		_, err := c.TexObjectCreate(&bad.d, &bad.t, nil)
		c.want(bad.r, "", err)
	}
	_, err = c.ArrayCreate(&ArrayDesc{Width: 0, Format: 2, Channels: 1})
	c.want(InvalidValue, "", err)
	_, err = c.ArrayCreate(&ArrayDesc{Width: 4, Height: 3, Depth: 6, Format: 2, Channels: 1, Flags: ArrayCubemap})
	c.want(InvalidValue, "square", err)
	_, err = c.SurfObjectCreate(&ResourceDesc{Array: must(c.ArrayCreate(&ArrayDesc{Width: 4, Format: 2, Channels: 1}))(t)})
	c.want(InvalidValue, "made without CUDA_ARRAY3D_SURFACE_LDST", err)
	if n := must(c.d.DeviceGetTexture1DLinearMaxWidth(2, 2, 0))(t); n != uint64(must(c.d.DeviceGetAttribute(69, 0))(t)) {
		t.Errorf("linear memory has up to %d texels", n)
	}
	c.ok(c.SurfObjectDestroy(surf))
	c.want(InvalidValue, "not the handle of a surface object", c.SurfObjectDestroy(surf))
	c.ok(c.TexObjectDestroy(tex))
	c.ok(c.ArrayDestroy(a))
	c.ok(c.MemFree(x))
	c.ok(c.MemFree(y))
	if now, _, _ := c.MemGetInfo(); now != free-8 { // the array of four texels remains
		t.Errorf("%d bytes are free, %d were", now, free)
	}
	c.ok(c.LaunchKernel(launchParams(c.function("objects"), 1, 1, tex, surf, c.alloc(4)), 0))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// A launch uses the state of references at the time of the launch.
func TestTextureReferences(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	_, err := c.ModuleGetReference(c.mod, "surf", ptx.TexRef)
	c.want(NotFound, "surf", err)
	ref := must(c.ModuleGetReference(c.mod, "tex", ptx.TexRef))(t)
	if again := must(c.ModuleGetReference(c.mod, "tex", ptx.TexRef))(t); again != ref {
		t.Error("two references to a variable")
	}
	surf := must(c.ModuleGetReference(c.mod, "surf", ptx.SurfRef))(t)
	a := must(c.ArrayCreate(&ArrayDesc{Width: 9, Format: 0x20, Channels: 1, Flags: ArraySurface}))(t)
	set := func(h Handle, to ResourceDesc) {
		c.ok(c.Reference(h, func(r *Reference, _ *ResourceDesc, _ *TextureDesc) error { r.Set(to); return nil }))
	}
	change := func(f func(r *ResourceDesc, d *TextureDesc)) {
		c.ok(c.Reference(ref, func(_ *Reference, r *ResourceDesc, d *TextureDesc) error { f(r, d); return nil }))
	}
	set(surf, ResourceDesc{Array: a})
	x := c.alloc(64)
	c.write(x, 0x40000000, 0x40c00000) // 2, 6
	set(ref, ResourceDesc{Kind: PitchResource, Addr: x, Width: 2, Height: 1, Pitch: 64})
	out := c.alloc(32)
	c.ok(c.launch("names", 1, 1, out)) // linear, as in the module
	c.expect(out, 0x40800000, 9)
	change(func(_ *ResourceDesc, d *TextureDesc) { d.Filter = 0 })
	c.ok(c.launch("names", 1, 1, out+8))
	c.write(x, 0x00ff4000)
	change(func(r *ResourceDesc, d *TextureDesc) { r.Format, r.Channels, d.Filter = 1, 1, 1 }) // bytes, as floats
	c.ok(c.launch("names", 1, 1, out+16))
	c.expect(out+8, 0x40c00000, 9)
	c.expect(out+16, 0x3e008081, 9) // 32/255
}

// References follow their memory: after a free and a new allocation at the same address they refer to the new memory.
// Objects without a binding reference are released.
func TestTextureReferencesOfOtherMemory(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	ref := must(c.ModuleGetReference(c.mod, "tex", ptx.TexRef))(t)
	surf := must(c.ModuleGetReference(c.mod, "surf", ptx.SurfRef))(t)
	set := func(h Handle, to ResourceDesc, border float32) {
		c.ok(c.Reference(h, func(r *Reference, _ *ResourceDesc, d *TextureDesc) error {
			r.Set(to)
			d.Border[0] = border
			return nil
		}))
	}
	a := must(c.ArrayCreate(&ArrayDesc{Width: 9, Format: 0x20, Channels: 1, Flags: ArraySurface}))(t)
	set(surf, ResourceDesc{Array: a}, 0)
	data, release, err := new(sharedmem.Allocator).Allocate(8192)
	c.ok(err)
	defer release()
	mine := unsafe.Pointer(&data[0])
	skip := -address(mine) % textureAlignment
	binary.LittleEndian.PutUint64(data[skip:], 0x40c0000040000000) // 2, 6
	set(ref, ResourceDesc{Kind: PitchResource, Addr: address(mine) + skip, Width: 2, Height: 1, Pitch: 64}, 0)
	out := c.alloc(32)
	for i := range 3 {
		c.ok(c.MemHostRegister(mine, 8192, 0))
		c.ok(c.launch("names", 1, 1, out+uint64(8*i)))
		c.ok(c.CtxSynchronize(0))
		c.ok(c.MemHostUnregister(mine))
	}
	c.expect(out, 0x40800000, 9, 0x40800000, 9, 0x40800000, 9)
	c.want(InvalidValue, "not device memory", c.launch("names", 1, 1, out))
	c.ok(c.MemHostRegister(mine, 8192, 0))
	r, err := object[*Reference](c.d, ref)
	c.ok(err)
	var old *interp.Object
	for _, border := range []float32{0, 1, 1, float32(math.NaN())} {
		set(ref, r.resource, border)
		c.ok(c.launch("names", 1, 1, out))
		if r.launchObject == old {
			t.Error("the reference is bound as it was before it was set")
		}
		old = r.launchObject
	}
	c.ok(c.launch("names", 1, 1, out))
	if r.launchObject != old {
		t.Error("what is not set is bound to something else")
	}
	c.ok(c.ArrayDestroy(a))
	c.want(InvalidHandle, "surf", c.launch("names", 1, 1, out))
	b := must(c.ArrayCreate(&ArrayDesc{Width: 7, Format: 0x20, Channels: 1, Flags: ArraySurface}))(t)
	set(surf, ResourceDesc{Array: b}, 0)
	c.ok(c.launch("names", 1, 1, out))
	c.expect(out, 0x40800000, 7)
	c.ok(c.ModuleUnload(c.mod))
	if _, err := object[*Reference](c.d, ref); err == nil {
		t.Error("the module is gone, and its reference is not")
	}
}

// A mipmapped array, level by level.
func TestLevelsOfMipmappedArray(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	m := must(c.MipmappedArrayCreate(&ArrayDesc{Width: 4, Height: 2, Format: 0x20, Channels: 1}, 9))(t)
	for i, n := range []int{8, 2, 1} {
		level := must(c.MipmappedArrayGetLevel(m, uint32(i)))(t)
		texels := make([]float32, n)
		for k := range texels {
			texels[k] = float32(10 * (i + 1))
		}
		c.ok(c.Memcpy(Place{Kind: ArrayPlace, Array: level}, hostPlace(&texels[0]), uint64(4*n), 0, false))
	}
	_, err := c.MipmappedArrayGetLevel(m, 3)
	c.want(InvalidValue, "no level 3: the array has 3 levels", err)
	tex := must(c.TexObjectCreate(&ResourceDesc{Kind: MipmapResource, Array: m}, &TextureDesc{Flags: TextureNormalized, MipFilter: 1, Filter: 1, MaxLevel: 9}, nil))(t)
	one := must(c.TexObjectCreate(&ResourceDesc{Array: must(c.MipmappedArrayGetLevel(m, 1))(t)}, &TextureDesc{Flags: TextureNormalized}, nil))(t)
	out := c.alloc(16)
	for i, l := range []float32{0, 1.25, 7} {
		c.ok(c.launch("level", 1, 1, tex, int(math.Float32bits(l)), out+uint64(4*i)))
	}
	c.ok(c.launch("level", 1, 1, one, 0, out+12))
	if got, want := fmt.Sprintf("%x", c.read(out, 4)), "[41200000 41b40000 41f00000 41a00000]"; got != want { // 10, 22.5, 30, 20
		t.Errorf("got %s, want %s", got, want)
	}
	c.ok(c.MipmappedArrayDestroy(m))
}

// Invalid images are refused when they are made; bounds that are NaN count as 0.
func TestTextureLimits(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(texturePTX)
	x := c.alloc(64)
	c.write(x, 0x40000000, 0x40c00000) // 2, 6
	for _, pitch := range []uint64{1<<31 + 32, 1 << 62, 1 << 63, math.MaxUint64 - 31} {
		_, err := c.TexObjectCreate(&ResourceDesc{Kind: PitchResource, Addr: x, Format: 0x20, Channels: 1, Width: 2, Height: 2, Pitch: pitch}, &TextureDesc{}, nil)
		c.want(InvalidValue, "pitch", err)
	}
	nan := float32(math.NaN())
	out := c.alloc(12)
	for i, d := range []TextureDesc{{MinLevel: nan, MaxLevel: 1}, {MaxLevel: nan}, {Bias: nan, MinLevel: nan, MaxLevel: nan}} {
		tex := must(c.TexObjectCreate(&ResourceDesc{Kind: PitchResource, Addr: x, Format: 0x20, Channels: 1, Width: 2, Height: 1, Pitch: 32}, &d, nil))(t)
		c.ok(c.launch("level", 1, 1, tex, int(math.Float32bits(3)), out+uint64(4*i)))
	}
	c.expect(out, 0x40000000, 0x40000000, 0x40000000)
}
