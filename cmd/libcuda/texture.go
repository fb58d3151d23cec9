package main

// This file exports arrays, textures and surfaces.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
	"gemu/ptx"
)

//export cuDeviceGetTexture1DLinearMaxWidth
func cuDeviceGetTexture1DLinearMaxWidth(width *C.size_t, format, channels C.uint, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceGetTexture1DLinearMaxWidth", width, func(d *driver.Driver) (uint64, error) {
		return d.DeviceGetTexture1DLinearMaxWidth(driver.ArrayFormat(format), uint32(channels), int(dev))
	})
}

func arrayDesc(a *C.CUDA_ARRAY3D_DESCRIPTOR) *driver.ArrayDesc {
	return &driver.ArrayDesc{
		Width: uint64(a.Width), Height: uint64(a.Height), Depth: uint64(a.Depth),
		Format: driver.ArrayFormat(a.Format), Channels: uint32(a.NumChannels), Flags: uint32(a.Flags),
	}
}

//export cuArrayCreate_v2
func cuArrayCreate_v2(array *C.CUarray, desc *C.CUDA_ARRAY_DESCRIPTOR) C.CUresult {
	return storeThreadValue("cuArrayCreate_v2", array, func(t *driver.Thread) (driver.Handle, error) {
		if desc == nil {
			return 0, driver.InvalidValue
		}
		return t.ArrayCreate(&driver.ArrayDesc{Width: uint64(desc.Width), Height: uint64(desc.Height), Format: driver.ArrayFormat(desc.Format), Channels: uint32(desc.NumChannels), Flags: driver.ArraySurface})
	})
}

//export cuArray3DCreate_v2
func cuArray3DCreate_v2(array *C.CUarray, desc *C.CUDA_ARRAY3D_DESCRIPTOR) C.CUresult {
	return storeThreadValue("cuArray3DCreate_v2", array, func(t *driver.Thread) (driver.Handle, error) {
		if desc == nil {
			return 0, driver.InvalidValue
		}
		return t.ArrayCreate(arrayDesc(desc))
	})
}

//export cuArrayGetDescriptor_v2
func cuArrayGetDescriptor_v2(desc *C.CUDA_ARRAY_DESCRIPTOR, array C.CUarray) C.CUresult {
	return callThread("cuArrayGetDescriptor_v2", func(t *driver.Thread) error {
		if desc == nil {
			return driver.InvalidValue
		}
		d, err := t.ArrayGetDescriptor(driver.Handle(array))
		if err == nil {
			*desc = C.CUDA_ARRAY_DESCRIPTOR{C.size_t(d.Width), C.size_t(d.Height), C.uint(d.Format), C.uint(d.Channels)}
		}
		return err
	})
}

//export cuArray3DGetDescriptor_v2
func cuArray3DGetDescriptor_v2(desc *C.CUDA_ARRAY3D_DESCRIPTOR, array C.CUarray) C.CUresult {
	return callThread("cuArray3DGetDescriptor_v2", func(t *driver.Thread) error {
		if desc == nil {
			return driver.InvalidValue
		}
		d, err := t.ArrayGetDescriptor(driver.Handle(array))
		if err == nil {
			*desc = C.CUDA_ARRAY3D_DESCRIPTOR{Width: C.size_t(d.Width), Height: C.size_t(d.Height), Depth: C.size_t(d.Depth), Format: C.uint(d.Format), NumChannels: C.uint(d.Channels), Flags: C.uint(d.Flags)}
		}
		return err
	})
}

//export cuArrayDestroy
func cuArrayDestroy(array C.CUarray) C.CUresult {
	return callThread("cuArrayDestroy", func(t *driver.Thread) error { return t.ArrayDestroy(driver.Handle(array)) })
}

//export cuMipmappedArrayCreate
func cuMipmappedArrayCreate(array *C.CUmipmappedArray, desc *C.CUDA_ARRAY3D_DESCRIPTOR, levels C.uint) C.CUresult {
	return storeThreadValue("cuMipmappedArrayCreate", array, func(t *driver.Thread) (driver.Handle, error) {
		if desc == nil {
			return 0, driver.InvalidValue
		}
		return t.MipmappedArrayCreate(arrayDesc(desc), uint32(levels))
	})
}

//export cuMipmappedArrayGetLevel
func cuMipmappedArrayGetLevel(level *C.CUarray, array C.CUmipmappedArray, n C.uint) C.CUresult {
	return storeThreadValue("cuMipmappedArrayGetLevel", level, func(t *driver.Thread) (driver.Handle, error) {
		return t.MipmappedArrayGetLevel(driver.Handle(array), uint32(n))
	})
}

//export cuMipmappedArrayDestroy
func cuMipmappedArrayDestroy(array C.CUmipmappedArray) C.CUresult {
	return callThread("cuMipmappedArrayDestroy", func(t *driver.Thread) error { return t.MipmappedArrayDestroy(driver.Handle(array)) })
}

// inArray returns the place in an array at an offset in bytes.
func inArray(array C.CUarray, offset C.size_t) driver.Place {
	return driver.Place{Kind: driver.ArrayPlace, Array: driver.Handle(array), Device: uint64(offset)}
}

//export cuMemcpyDtoA_v2
func cuMemcpyDtoA_v2(dst C.CUarray, offset C.size_t, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyDtoA_v2", inArray(dst, offset), devicePlace(src), n, 0, false)
}

//export cuMemcpyAtoD_v2
func cuMemcpyAtoD_v2(dst C.CUdeviceptr, src C.CUarray, offset, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyAtoD_v2", devicePlace(dst), inArray(src, offset), n, 0, false)
}

//export cuMemcpyHtoA_v2
func cuMemcpyHtoA_v2(dst C.CUarray, offset C.size_t, src unsafe.Pointer, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyHtoA_v2", inArray(dst, offset), hostPlace(src), n, 0, false)
}

//export cuMemcpyHtoAAsync_v2
func cuMemcpyHtoAAsync_v2(dst C.CUarray, offset C.size_t, src unsafe.Pointer, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyHtoAAsync_v2", inArray(dst, offset), hostPlace(src), n, stream, true)
}

//export cuMemcpyAtoH_v2
func cuMemcpyAtoH_v2(dst unsafe.Pointer, src C.CUarray, offset, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyAtoH_v2", hostPlace(dst), inArray(src, offset), n, 0, false)
}

//export cuMemcpyAtoHAsync_v2
func cuMemcpyAtoHAsync_v2(dst unsafe.Pointer, src C.CUarray, offset, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyAtoHAsync_v2", hostPlace(dst), inArray(src, offset), n, stream, true)
}

//export cuMemcpyAtoA_v2
func cuMemcpyAtoA_v2(dst C.CUarray, dstOffset C.size_t, src C.CUarray, srcOffset, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyAtoA_v2", inArray(dst, dstOffset), inArray(src, srcOffset), n, 0, false)
}

// linearResource and pitchResource are variants of the union in CUDA_RESOURCE_DESC.
type (
	linearResource struct {
		addr             C.CUdeviceptr
		format, channels C.uint
		bytes            C.size_t
	}
	pitchResource struct {
		addr                 C.CUdeviceptr
		format, channels     C.uint
		width, height, pitch C.size_t
	}
)

func resourceDesc(r *C.CUDA_RESOURCE_DESC) *driver.ResourceDesc {
	d := &driver.ResourceDesc{Kind: driver.ResourceKind(r.resType), Flags: uint32(r.flags)}
	p := unsafe.Pointer(&r.res)
	switch d.Kind {
	case driver.LinearResource:
		l := (*linearResource)(p)
		d.Addr, d.Format, d.Channels, d.Bytes = uint64(l.addr), driver.ArrayFormat(l.format), uint32(l.channels), uint64(l.bytes)
	case driver.PitchResource:
		l := (*pitchResource)(p)
		d.Addr, d.Format, d.Channels = uint64(l.addr), driver.ArrayFormat(l.format), uint32(l.channels)
		d.Width, d.Height, d.Pitch = uint64(l.width), uint64(l.height), uint64(l.pitch)
	default:
		d.Array = driver.Handle(*(*C.CUarray)(p))
	}
	return d
}

func storeResource(to *C.CUDA_RESOURCE_DESC, d driver.ResourceDesc) {
	*to = C.CUDA_RESOURCE_DESC{resType: C.uint(d.Kind), flags: C.uint(d.Flags)}
	p := unsafe.Pointer(&to.res)
	switch d.Kind {
	case driver.LinearResource:
		*(*linearResource)(p) = linearResource{C.CUdeviceptr(d.Addr), C.uint(d.Format), C.uint(d.Channels), C.size_t(d.Bytes)}
	case driver.PitchResource:
		*(*pitchResource)(p) = pitchResource{C.CUdeviceptr(d.Addr), C.uint(d.Format), C.uint(d.Channels), C.size_t(d.Width), C.size_t(d.Height), C.size_t(d.Pitch)}
	default:
		*(*C.CUarray)(p) = C.CUarray(d.Array)
	}
}

//export cuTexObjectCreate
func cuTexObjectCreate(texture *C.CUtexObject, res *C.CUDA_RESOURCE_DESC, tex *C.CUDA_TEXTURE_DESC, view *C.CUDA_RESOURCE_VIEW_DESC) C.CUresult {
	return storeThreadValue("cuTexObjectCreate", texture, func(t *driver.Thread) (uint64, error) {
		if res == nil || tex == nil {
			return 0, driver.InvalidValue
		}
		d := &driver.TextureDesc{
			Filter: uint32(tex.filterMode), Flags: uint32(tex.flags), Anisotropy: uint32(tex.maxAnisotropy), MipFilter: uint32(tex.mipmapFilterMode),
			Bias: float32(tex.mipmapLevelBias), MinLevel: float32(tex.minMipmapLevelClamp), MaxLevel: float32(tex.maxMipmapLevelClamp),
		}
		for i, m := range tex.addressMode {
			d.Address[i] = uint32(m)
		}
		for i, c := range tex.borderColor {
			d.Border[i] = float32(c)
		}
		var v *driver.ViewDesc
		if view != nil {
			v = &driver.ViewDesc{
				Format: uint32(view.format), Width: uint64(view.width), Height: uint64(view.height), Depth: uint64(view.depth),
				FirstLevel: uint32(view.firstMipmapLevel), LastLevel: uint32(view.lastMipmapLevel), FirstLayer: uint32(view.firstLayer), LastLayer: uint32(view.lastLayer),
			}
		}
		return t.TexObjectCreate(resourceDesc(res), d, v)
	})
}

//export cuTexObjectDestroy
func cuTexObjectDestroy(texture C.CUtexObject) C.CUresult {
	return callThread("cuTexObjectDestroy", func(t *driver.Thread) error { return t.TexObjectDestroy(uint64(texture)) })
}

//export cuTexObjectGetResourceDesc
func cuTexObjectGetResourceDesc(res *C.CUDA_RESOURCE_DESC, texture C.CUtexObject) C.CUresult {
	return callThread("cuTexObjectGetResourceDesc", func(t *driver.Thread) error {
		d, err := t.TexObjectGetResourceDesc(uint64(texture))
		return storeDesc(res, err, func() { storeResource(res, d) })
	})
}

// storeDesc stores a structure, unless there is an error.
func storeDesc[T any](to *T, err error, store func()) error {
	switch {
	case err != nil:
		return err
	case to == nil:
		return driver.InvalidValue
	}
	store()
	return nil
}

//export cuTexObjectGetTextureDesc
func cuTexObjectGetTextureDesc(tex *C.CUDA_TEXTURE_DESC, texture C.CUtexObject) C.CUresult {
	return callThread("cuTexObjectGetTextureDesc", func(t *driver.Thread) error {
		d, err := t.TexObjectGetTextureDesc(uint64(texture))
		return storeDesc(tex, err, func() {
			*tex = C.CUDA_TEXTURE_DESC{
				filterMode: C.uint(d.Filter), flags: C.uint(d.Flags), maxAnisotropy: C.uint(d.Anisotropy), mipmapFilterMode: C.uint(d.MipFilter),
				mipmapLevelBias: C.float(d.Bias), minMipmapLevelClamp: C.float(d.MinLevel), maxMipmapLevelClamp: C.float(d.MaxLevel),
			}
			for i, m := range d.Address {
				tex.addressMode[i] = C.uint(m)
			}
			for i, c := range d.Border {
				tex.borderColor[i] = C.float(c)
			}
		})
	})
}

//export cuTexObjectGetResourceViewDesc
func cuTexObjectGetResourceViewDesc(view *C.CUDA_RESOURCE_VIEW_DESC, texture C.CUtexObject) C.CUresult {
	return callThread("cuTexObjectGetResourceViewDesc", func(t *driver.Thread) error {
		d, err := t.TexObjectGetResourceViewDesc(uint64(texture))
		return storeDesc(view, err, func() {
			*view = C.CUDA_RESOURCE_VIEW_DESC{
				format: C.uint(d.Format), width: C.size_t(d.Width), height: C.size_t(d.Height), depth: C.size_t(d.Depth),
				firstMipmapLevel: C.uint(d.FirstLevel), lastMipmapLevel: C.uint(d.LastLevel), firstLayer: C.uint(d.FirstLayer), lastLayer: C.uint(d.LastLayer),
			}
		})
	})
}

//export cuSurfObjectCreate
func cuSurfObjectCreate(surface *C.CUsurfObject, res *C.CUDA_RESOURCE_DESC) C.CUresult {
	return storeThreadValue("cuSurfObjectCreate", surface, func(t *driver.Thread) (uint64, error) {
		if res == nil {
			return 0, driver.InvalidValue
		}
		return t.SurfObjectCreate(resourceDesc(res))
	})
}

//export cuSurfObjectDestroy
func cuSurfObjectDestroy(surface C.CUsurfObject) C.CUresult {
	return callThread("cuSurfObjectDestroy", func(t *driver.Thread) error { return t.SurfObjectDestroy(uint64(surface)) })
}

//export cuSurfObjectGetResourceDesc
func cuSurfObjectGetResourceDesc(res *C.CUDA_RESOURCE_DESC, surface C.CUsurfObject) C.CUresult {
	return callThread("cuSurfObjectGetResourceDesc", func(t *driver.Thread) error {
		d, err := t.SurfObjectGetResourceDesc(uint64(surface))
		return storeDesc(res, err, func() { storeResource(res, d) })
	})
}

// Texture and surface references of modules are deprecated in CUDA. Old modules use them.

//export cuModuleGetTexRef
func cuModuleGetTexRef(ref *C.CUtexref, module C.CUmodule, name *C.char) C.CUresult {
	return storeThreadValue("cuModuleGetTexRef", ref, func(t *driver.Thread) (driver.Handle, error) {
		if name == nil {
			return 0, driver.InvalidValue
		}
		return t.ModuleGetReference(driver.Handle(module), C.GoString(name), ptx.TexRef)
	})
}

//export cuModuleGetSurfRef
func cuModuleGetSurfRef(ref *C.CUsurfref, module C.CUmodule, name *C.char) C.CUresult {
	return storeThreadValue("cuModuleGetSurfRef", ref, func(t *driver.Thread) (driver.Handle, error) {
		if name == nil {
			return 0, driver.InvalidValue
		}
		return t.ModuleGetReference(driver.Handle(module), C.GoString(name), ptx.SurfRef)
	})
}

// setRef binds a reference to a resource.
func setRef(call string, ref C.CUtexref, r driver.ResourceDesc) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		return t.Reference(driver.Handle(ref), func(x *driver.Reference, _ *driver.ResourceDesc, _ *driver.TextureDesc) error {
			x.Set(r)
			return nil
		})
	})
}

// changeRef changes the resource format or the sampling of a reference.
func changeRef(call string, ref C.CUtexref, f func(r *driver.ResourceDesc, d *driver.TextureDesc) error) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		return t.Reference(driver.Handle(ref), func(_ *driver.Reference, r *driver.ResourceDesc, d *driver.TextureDesc) error { return f(r, d) })
	})
}

// queryRef implements calls that return a property of the sampling of a reference.
func queryRef[C, G number](call string, to *C, ref uint64, f func(d *driver.TextureDesc) G) C_result {
	return storeThreadValue(call, to, func(t *driver.Thread) (v G, err error) {
		err = t.Reference(driver.Handle(ref), func(_ *driver.Reference, _ *driver.ResourceDesc, d *driver.TextureDesc) error {
			v = f(d)
			return nil
		})
		return v, err
	})
}

// refArray implements calls that return the array of a reference, which must be bound to a resource of the given kind.
func refArray[C number](call string, to *C, ref uint64, kind driver.ResourceKind) C_result {
	return storeThreadValue(call, to, func(t *driver.Thread) (h driver.Handle, err error) {
		err = t.Reference(driver.Handle(ref), func(x *driver.Reference, r *driver.ResourceDesc, _ *driver.TextureDesc) error {
			h = r.Array
			return x.CheckBound(kind)
		})
		return h, err
	})
}

const overrideFormat = 1 // CU_TRSA_OVERRIDE_FORMAT

//export cuTexRefSetArray
func cuTexRefSetArray(ref C.CUtexref, array C.CUarray, flags C.uint) C.CUresult {
	if flags&^overrideFormat != 0 {
		return C.CUresult(driver.InvalidValue)
	}
	return setRef("cuTexRefSetArray", ref, driver.ResourceDesc{Kind: driver.ArrayResource, Array: driver.Handle(array)})
}

//export cuTexRefSetMipmappedArray
func cuTexRefSetMipmappedArray(ref C.CUtexref, array C.CUmipmappedArray, flags C.uint) C.CUresult {
	if flags&^overrideFormat != 0 {
		return C.CUresult(driver.InvalidValue)
	}
	return setRef("cuTexRefSetMipmappedArray", ref, driver.ResourceDesc{Kind: driver.MipmapResource, Array: driver.Handle(array)})
}

//export cuTexRefSetAddress_v2
func cuTexRefSetAddress_v2(offset *C.size_t, ref C.CUtexref, addr C.CUdeviceptr, bytes C.size_t) C.CUresult {
	if offset != nil {
		*offset = 0
	}
	return setRef("cuTexRefSetAddress_v2", ref, driver.ResourceDesc{Kind: driver.LinearResource, Addr: uint64(addr), Bytes: uint64(bytes)})
}

//export cuTexRefSetAddress2D_v3
func cuTexRefSetAddress2D_v3(ref C.CUtexref, desc *C.CUDA_ARRAY_DESCRIPTOR, addr C.CUdeviceptr, pitch C.size_t) C.CUresult {
	if desc == nil {
		return C.CUresult(driver.InvalidValue)
	}
	return callThread("cuTexRefSetAddress2D_v3", func(t *driver.Thread) error {
		return t.Reference(driver.Handle(ref), func(x *driver.Reference, r *driver.ResourceDesc, _ *driver.TextureDesc) error {
			r.Format, r.Channels = driver.ArrayFormat(desc.Format), uint32(desc.NumChannels)
			x.Set(driver.ResourceDesc{Kind: driver.PitchResource, Addr: uint64(addr), Width: uint64(desc.Width), Height: uint64(desc.Height), Pitch: uint64(pitch)})
			return nil
		})
	})
}

//export cuTexRefSetFormat
func cuTexRefSetFormat(ref C.CUtexref, format C.uint, channels C.int) C.CUresult {
	return changeRef("cuTexRefSetFormat", ref, func(r *driver.ResourceDesc, _ *driver.TextureDesc) error {
		r.Format, r.Channels = driver.ArrayFormat(format), uint32(channels)
		return nil
	})
}

//export cuTexRefSetAddressMode
func cuTexRefSetAddressMode(ref C.CUtexref, dim C.int, mode C.uint) C.CUresult {
	return changeRef("cuTexRefSetAddressMode", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error {
		if dim < 0 || dim > 2 || mode > 3 {
			return driver.InvalidValue
		}
		d.Address[dim] = uint32(mode)
		return nil
	})
}

//export cuTexRefSetFilterMode
func cuTexRefSetFilterMode(ref C.CUtexref, mode C.uint) C.CUresult {
	return changeRef("cuTexRefSetFilterMode", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error { d.Filter = uint32(mode); return nil })
}

//export cuTexRefSetMipmapFilterMode
func cuTexRefSetMipmapFilterMode(ref C.CUtexref, mode C.uint) C.CUresult {
	return changeRef("cuTexRefSetMipmapFilterMode", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error { d.MipFilter = uint32(mode); return nil })
}

//export cuTexRefSetMipmapLevelBias
func cuTexRefSetMipmapLevelBias(ref C.CUtexref, bias C.float) C.CUresult {
	return changeRef("cuTexRefSetMipmapLevelBias", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error { d.Bias = float32(bias); return nil })
}

//export cuTexRefSetMipmapLevelClamp
func cuTexRefSetMipmapLevelClamp(ref C.CUtexref, low, high C.float) C.CUresult {
	return changeRef("cuTexRefSetMipmapLevelClamp", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error {
		d.MinLevel, d.MaxLevel = float32(low), float32(high)
		return nil
	})
}

//export cuTexRefSetMaxAnisotropy
func cuTexRefSetMaxAnisotropy(ref C.CUtexref, most C.uint) C.CUresult {
	return changeRef("cuTexRefSetMaxAnisotropy", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error { d.Anisotropy = uint32(most); return nil })
}

//export cuTexRefSetBorderColor
func cuTexRefSetBorderColor(ref C.CUtexref, color *C.float) C.CUresult {
	return changeRef("cuTexRefSetBorderColor", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error {
		if color == nil {
			return driver.InvalidValue
		}
		for i, c := range unsafe.Slice(color, 4) {
			d.Border[i] = float32(c)
		}
		return nil
	})
}

//export cuTexRefSetFlags
func cuTexRefSetFlags(ref C.CUtexref, flags C.uint) C.CUresult {
	return changeRef("cuTexRefSetFlags", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error { d.Flags = uint32(flags); return nil })
}

//export cuTexRefGetArray
func cuTexRefGetArray(array *C.CUarray, ref C.CUtexref) C.CUresult {
	return refArray("cuTexRefGetArray", array, uint64(ref), driver.ArrayResource)
}

//export cuTexRefGetMipmappedArray
func cuTexRefGetMipmappedArray(array *C.CUmipmappedArray, ref C.CUtexref) C.CUresult {
	return refArray("cuTexRefGetMipmappedArray", array, uint64(ref), driver.MipmapResource)
}

//export cuTexRefGetAddress_v2
func cuTexRefGetAddress_v2(addr *C.CUdeviceptr, ref C.CUtexref) C.CUresult {
	return storeThreadValue("cuTexRefGetAddress_v2", addr, func(t *driver.Thread) (a uint64, err error) {
		err = t.Reference(driver.Handle(ref), func(x *driver.Reference, r *driver.ResourceDesc, _ *driver.TextureDesc) error {
			a = r.Addr
			if r.Kind == driver.PitchResource {
				return x.CheckBound(driver.PitchResource)
			}
			return x.CheckBound(driver.LinearResource)
		})
		return a, err
	})
}

//export cuTexRefGetFormat
func cuTexRefGetFormat(format *C.uint, channels *C.int, ref C.CUtexref) C.CUresult {
	return changeRef("cuTexRefGetFormat", ref, func(r *driver.ResourceDesc, _ *driver.TextureDesc) error {
		if format != nil {
			*format = C.uint(r.Format)
		}
		if channels != nil {
			*channels = C.int(r.Channels)
		}
		return nil
	})
}

//export cuTexRefGetAddressMode
func cuTexRefGetAddressMode(mode *C.uint, ref C.CUtexref, dim C.int) C.CUresult {
	if dim < 0 || dim > 2 {
		return C.CUresult(driver.InvalidValue)
	}
	return queryRef("cuTexRefGetAddressMode", mode, uint64(ref), func(d *driver.TextureDesc) uint32 { return d.Address[dim] })
}

//export cuTexRefGetFilterMode
func cuTexRefGetFilterMode(mode *C.uint, ref C.CUtexref) C.CUresult {
	return queryRef("cuTexRefGetFilterMode", mode, uint64(ref), func(d *driver.TextureDesc) uint32 { return d.Filter })
}

//export cuTexRefGetMipmapFilterMode
func cuTexRefGetMipmapFilterMode(mode *C.uint, ref C.CUtexref) C.CUresult {
	return queryRef("cuTexRefGetMipmapFilterMode", mode, uint64(ref), func(d *driver.TextureDesc) uint32 { return d.MipFilter })
}

//export cuTexRefGetMipmapLevelBias
func cuTexRefGetMipmapLevelBias(bias *C.float, ref C.CUtexref) C.CUresult {
	return queryRef("cuTexRefGetMipmapLevelBias", bias, uint64(ref), func(d *driver.TextureDesc) float32 { return d.Bias })
}

//export cuTexRefGetMipmapLevelClamp
func cuTexRefGetMipmapLevelClamp(low, high *C.float, ref C.CUtexref) C.CUresult {
	return changeRef("cuTexRefGetMipmapLevelClamp", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error {
		if err := store(low, d.MinLevel); err != nil {
			return err
		}
		return store(high, d.MaxLevel)
	})
}

//export cuTexRefGetMaxAnisotropy
func cuTexRefGetMaxAnisotropy(most *C.int, ref C.CUtexref) C.CUresult {
	return queryRef("cuTexRefGetMaxAnisotropy", most, uint64(ref), func(d *driver.TextureDesc) uint32 { return d.Anisotropy })
}

//export cuTexRefGetBorderColor
func cuTexRefGetBorderColor(color *C.float, ref C.CUtexref) C.CUresult {
	return changeRef("cuTexRefGetBorderColor", ref, func(_ *driver.ResourceDesc, d *driver.TextureDesc) error {
		if color == nil {
			return driver.InvalidValue
		}
		for i := range unsafe.Slice(color, 4) {
			unsafe.Slice(color, 4)[i] = C.float(d.Border[i])
		}
		return nil
	})
}

//export cuTexRefGetFlags
func cuTexRefGetFlags(flags *C.uint, ref C.CUtexref) C.CUresult {
	return queryRef("cuTexRefGetFlags", flags, uint64(ref), func(d *driver.TextureDesc) uint32 { return d.Flags })
}

//export cuSurfRefSetArray
func cuSurfRefSetArray(ref C.CUsurfref, array C.CUarray, flags C.uint) C.CUresult {
	if flags != 0 {
		return C.CUresult(driver.InvalidValue)
	}
	return setRef("cuSurfRefSetArray", ref, driver.ResourceDesc{Kind: driver.ArrayResource, Array: driver.Handle(array)})
}

//export cuSurfRefGetArray
func cuSurfRefGetArray(array *C.CUarray, ref C.CUsurfref) C.CUresult {
	return refArray("cuSurfRefGetArray", array, uint64(ref), driver.ArrayResource)
}
