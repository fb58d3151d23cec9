package main

// This file exports memory: allocations, hints, copies, fills and pointer queries.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

//export cuMemGetInfo_v2
func cuMemGetInfo_v2(free, total *C.size_t) C.CUresult {
	return callThread("cuMemGetInfo_v2", func(t *driver.Thread) error {
		freeBytes, totalBytes, err := t.MemGetInfo()
		if err == nil {
			err = store(free, freeBytes)
		}
		if err == nil {
			err = store(total, totalBytes)
		}
		return err
	})
}

//export cuMemAlloc_v2
func cuMemAlloc_v2(addr *C.CUdeviceptr, size C.size_t) C.CUresult {
	return storeThreadValue("cuMemAlloc_v2", addr, func(t *driver.Thread) (uint64, error) { return t.MemAlloc(uint64(size)) })
}

//export cuMemAllocPitch_v2
func cuMemAllocPitch_v2(addr *C.CUdeviceptr, pitch *C.size_t, width, height C.size_t, element C.uint) C.CUresult {
	return callThread("cuMemAllocPitch_v2", func(t *driver.Thread) error {
		if addr == nil || pitch == nil {
			return driver.InvalidValue
		}
		a, p, err := t.MemAllocPitch(uint64(width), uint64(height), uint32(element))
		if err == nil {
			*addr, *pitch = C.CUdeviceptr(a), C.size_t(p)
		}
		return err
	})
}

//export cuMemAllocManaged
func cuMemAllocManaged(addr *C.CUdeviceptr, size C.size_t, flags C.uint) C.CUresult {
	return storeThreadValue("cuMemAllocManaged", addr, func(t *driver.Thread) (uint64, error) { return t.MemAllocManaged(uint64(size), uint32(flags)) })
}

//export cuMemFree_v2
func cuMemFree_v2(addr C.CUdeviceptr) C.CUresult {
	return callThread("cuMemFree_v2", func(t *driver.Thread) error {
		if addr == 0 {
			return t.Check()
		}
		return t.MemFree(uint64(addr))
	})
}

func hostAlloc(call string, p *unsafe.Pointer, size C.size_t, flags C.uint) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		host, err := t.MemHostAlloc(uint64(size), uint32(flags))
		if err == nil {
			*p = host
		}
		return err
	})
}

//export cuMemHostAlloc
func cuMemHostAlloc(p *unsafe.Pointer, size C.size_t, flags C.uint) C.CUresult {
	return hostAlloc("cuMemHostAlloc", p, size, flags)
}

//export cuMemAllocHost_v2
func cuMemAllocHost_v2(p *unsafe.Pointer, size C.size_t) C.CUresult {
	return hostAlloc("cuMemAllocHost_v2", p, size, 0)
}

//export cuMemFreeHost
func cuMemFreeHost(p unsafe.Pointer) C.CUresult {
	return callThread("cuMemFreeHost", func(t *driver.Thread) error {
		if p == nil {
			return t.Check()
		}
		return t.MemFreeHost(p)
	})
}

//export cuMemHostRegister_v2
func cuMemHostRegister_v2(p unsafe.Pointer, size C.size_t, flags C.uint) C.CUresult {
	return callThread("cuMemHostRegister_v2", func(t *driver.Thread) error { return t.MemHostRegister(p, uint64(size), uint32(flags)) })
}

//export cuMemHostUnregister
func cuMemHostUnregister(p unsafe.Pointer) C.CUresult {
	return callThread("cuMemHostUnregister", func(t *driver.Thread) error { return t.MemHostUnregister(p) })
}

//export cuMemHostGetDevicePointer_v2
func cuMemHostGetDevicePointer_v2(addr *C.CUdeviceptr, p unsafe.Pointer, flags C.uint) C.CUresult {
	return storeThreadValue("cuMemHostGetDevicePointer_v2", addr, func(t *driver.Thread) (uint64, error) { return t.MemHostGetDevicePointer(p, uint32(flags)) })
}

//export cuMemHostGetFlags
func cuMemHostGetFlags(flags *C.uint, p unsafe.Pointer) C.CUresult {
	return storeThreadValue("cuMemHostGetFlags", flags, func(t *driver.Thread) (uint32, error) { return t.MemHostGetFlags(p) })
}

//export cuMemGetAddressRange_v2
func cuMemGetAddressRange_v2(base *C.CUdeviceptr, size *C.size_t, addr C.CUdeviceptr) C.CUresult {
	return callThread("cuMemGetAddressRange_v2", func(t *driver.Thread) error {
		a, n, err := t.MemGetAddressRange(uint64(addr))
		if err == nil && base != nil {
			*base = C.CUdeviceptr(a)
		}
		if err == nil && size != nil {
			*size = C.size_t(n)
		}
		return err
	})
}

// Hints about managed memory, which is accessible everywhere.

//export cuMemAdvise
func cuMemAdvise(addr C.CUdeviceptr, size C.size_t, advice C.int, dev C.CUdevice) C.CUresult {
	return callThread("cuMemAdvise", func(t *driver.Thread) error {
		return t.MemAdvise(uint64(addr), uint64(size), driver.Advice(advice), int32(dev))
	})
}

//export cuMemPrefetchAsync
func cuMemPrefetchAsync(addr C.CUdeviceptr, size C.size_t, dev C.CUdevice, stream C.CUstream) C.CUresult {
	return callThread("cuMemPrefetchAsync", func(t *driver.Thread) error {
		return t.MemPrefetch(uint64(addr), uint64(size), int32(dev), driver.Handle(stream))
	})
}

//export cuStreamAttachMemAsync
func cuStreamAttachMemAsync(stream C.CUstream, addr C.CUdeviceptr, size C.size_t, flags C.uint) C.CUresult {
	return callThread("cuStreamAttachMemAsync", func(t *driver.Thread) error {
		return t.StreamAttachMem(driver.Handle(stream), uint64(addr), uint64(size))
	})
}

// rangeAttribute stores an attribute of a range of managed memory: a number, or the list of devices that access it,
// filled up with -2.
func rangeAttribute(t *driver.Thread, to unsafe.Pointer, n C.size_t, a C.int, addr C.CUdeviceptr, size C.size_t) error {
	attribute := driver.RangeAttribute(a)
	list, err := t.MemRangeGetAttribute(attribute, uint64(addr), uint64(size))
	switch {
	case err != nil:
		return err
	case to == nil || n == 0 || n%4 != 0 || attribute != driver.RangeAccessedBy && n != 4 || n > 4*maxItems:
		return driver.InvalidValue
	}
	array := unsafe.Slice((*int32)(to), n/4)
	for i := range array {
		array[i] = -2
	}
	copy(array, list)
	return nil
}

//export cuMemRangeGetAttribute
func cuMemRangeGetAttribute(data unsafe.Pointer, n C.size_t, attribute C.int, addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return callThread("cuMemRangeGetAttribute", func(t *driver.Thread) error { return rangeAttribute(t, data, n, attribute, addr, size) })
}

//export cuMemRangeGetAttributes
func cuMemRangeGetAttributes(data *unsafe.Pointer, sizes *C.size_t, attributes *C.int, n C.size_t, addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return callThread("cuMemRangeGetAttributes", func(t *driver.Thread) error {
		if data == nil || sizes == nil || attributes == nil || n == 0 || n > maxItems {
			return driver.InvalidValue
		}
		values, valueSizes := unsafe.Slice(data, n), unsafe.Slice(sizes, n)
		for i, a := range unsafe.Slice(attributes, n) {
			if err := rangeAttribute(t, values[i], valueSizes[i], a, addr, size); err != nil {
				return err
			}
		}
		return nil
	})
}

// pointerSizes has the sizes in bytes of the attributes whose C type is smaller than eight bytes.
var pointerSizes = map[driver.PointerAttribute]int{
	driver.PointerMemoryType: 4, driver.PointerIsManaged: 1, driver.PointerDeviceOrdinal: 4, driver.PointerSyncMemops: 1,
	driver.PointerIPCCapable: 1, driver.PointerMapped: 1, driver.PointerRDMACapable: 1, driver.PointerAccessFlags: 4,
}

func storePointerAttribute(to unsafe.Pointer, a driver.PointerAttribute, value uint64) error {
	if to == nil {
		return driver.InvalidValue
	}
	switch pointerSizes[a] {
	case 1:
		*(*uint8)(to) = uint8(value)
	case 4:
		*(*uint32)(to) = uint32(value)
	default:
		*(*uint64)(to) = value
	}
	return nil
}

//export cuPointerGetAttribute
func cuPointerGetAttribute(to unsafe.Pointer, attribute C.int, addr C.CUdeviceptr) C.CUresult {
	return callThread("cuPointerGetAttribute", func(t *driver.Thread) error {
		a := driver.PointerAttribute(attribute)
		v, err := t.PointerGetAttribute(a, uint64(addr))
		if err != nil {
			return err
		}
		return storePointerAttribute(to, a, v)
	})
}

//export cuPointerGetAttributes
func cuPointerGetAttributes(n C.uint, attributes *C.int, to *unsafe.Pointer, addr C.CUdeviceptr) C.CUresult {
	return callThread("cuPointerGetAttributes", func(t *driver.Thread) error {
		if n == 0 || to == nil {
			return driver.InvalidValue
		}
		list, err := items((*driver.PointerAttribute)(unsafe.Pointer(attributes)), n, maxItems)
		if err != nil {
			return err
		}
		values, err := t.PointerGetAttributes(list, uint64(addr))
		if err != nil {
			return err
		}
		for i, p := range unsafe.Slice(to, int(n)) {
			if err := storePointerAttribute(p, list[i], values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func devicePlace(addr C.CUdeviceptr) driver.Place {
	return driver.Place{Kind: driver.DevicePlace, Device: uint64(addr)}
}

func hostPlace(p unsafe.Pointer) driver.Place { return driver.Place{Kind: driver.HostPlace, Host: p} }

func unifiedPlace(addr C.CUdeviceptr) driver.Place {
	return driver.Place{Kind: driver.UnifiedPlace, Device: uint64(addr)}
}

// memcpy implements copies of linear memory.
func memcpy(call string, dst, src driver.Place, n C.size_t, stream C.CUstream, async driver.Async) C.CUresult {
	return callThread(call, func(t *driver.Thread) error { return t.Memcpy(dst, src, uint64(n), driver.Handle(stream), async) })
}

//export cuMemcpy
func cuMemcpy(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return memcpy("cuMemcpy", unifiedPlace(dst), unifiedPlace(src), n, 0, false)
}

//export cuMemcpyAsync
func cuMemcpyAsync(dst, src C.CUdeviceptr, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyAsync", unifiedPlace(dst), unifiedPlace(src), n, stream, true)
}

// The times at which a copy of a batch may read its source (CUmemcpySrcAccessOrder).
const (
	readInStream   = 1
	readDuringCall = 2
	readAnyTime    = 3
)

// copyBatch submits count copies in sequence. Attribute k applies to the copies from indices[k] up to, not including,
// indices[k+1]. If failed is not null, it receives the index of the failed copy, or SIZE_MAX if no single copy failed.
func copyBatch(call string, dsts, srcs *C.CUdeviceptr, sizes *C.size_t, count C.size_t, attributes *C.CUmemcpyAttributes, indices *C.size_t, n C.size_t, failed *C.size_t, stream C.CUstream) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if failed == nil {
			failed = new(C.size_t)
		}
		*failed = ^C.size_t(0)
		if dsts == nil || srcs == nil || sizes == nil || attributes == nil || indices == nil || count > maxItems || n == 0 || n > count || stream == 0 || stream == 1 {
			return driver.InvalidValue
		}
		to, from, bytes := unsafe.Slice(dsts, count), unsafe.Slice(srcs, count), unsafe.Slice(sizes, count)
		first := unsafe.Slice(indices, n)
		for k, a := range unsafe.Slice(attributes, n) {
			if k == 0 && first[0] != 0 || k > 0 && first[k] <= first[k-1] || first[k] >= count || a.srcAccessOrder < readInStream || a.srcAccessOrder > readAnyTime {
				return driver.InvalidValue
			}
		}
		for k, a := range unsafe.Slice(attributes, n) {
			end := count
			if k+1 < len(first) {
				end = first[k+1]
			}
			for i := first[k]; i < end; i++ {
				if err := copyWithAccessOrder(t, a.srcAccessOrder, to[i], from[i], bytes[i], stream); err != nil {
					*failed = i
					return err
				}
			}
		}
		return nil
	})
}

//export cuMemcpyBatchAsync
func cuMemcpyBatchAsync(dsts, srcs *C.CUdeviceptr, sizes *C.size_t, count C.size_t, attributes *C.CUmemcpyAttributes, indices *C.size_t, n C.size_t, failed *C.size_t, stream C.CUstream) C.CUresult {
	return copyBatch("cuMemcpyBatchAsync", dsts, srcs, sizes, count, attributes, indices, n, failed, stream)
}

//export cuMemcpyBatchAsync_v2
func cuMemcpyBatchAsync_v2(dsts, srcs *C.CUdeviceptr, sizes *C.size_t, count C.size_t, attributes *C.CUmemcpyAttributes, indices *C.size_t, n C.size_t, stream C.CUstream) C.CUresult {
	return copyBatch("cuMemcpyBatchAsync_v2", dsts, srcs, sizes, count, attributes, indices, n, nil, stream)
}

// copyWithAccessOrder submits a copy that reads its source at the time that order demands.
func copyWithAccessOrder(t *driver.Thread, order C.int, dst, src C.CUdeviceptr, n C.size_t, stream C.CUstream) error {
	if order == readDuringCall {
		return t.MemcpyEager(uint64(dst), uint64(src), uint64(n), driver.Handle(stream))
	}
	return t.Memcpy(unifiedPlace(dst), unifiedPlace(src), uint64(n), driver.Handle(stream), true)
}

//export cuMemcpyWithAttributesAsync
func cuMemcpyWithAttributesAsync(dst, src C.CUdeviceptr, n C.size_t, attributes *C.CUmemcpyAttributes, stream C.CUstream) C.CUresult {
	return callThread("cuMemcpyWithAttributesAsync", func(t *driver.Thread) error {
		if attributes == nil || attributes.srcAccessOrder < readInStream || attributes.srcAccessOrder > readAnyTime {
			return driver.InvalidValue
		}
		return copyWithAccessOrder(t, attributes.srcAccessOrder, dst, src, n, stream)
	})
}

// Kinds of operand of a copy of a batch (CUmemcpy3DOperandType).
const (
	operandPointer = 1
	operandArray   = 2
)

// convertBatchCopy converts an operation of a batch of copies. Lengths are in elements: the elements of the arrays
// involved, or bytes between linear memory.
func convertBatchCopy(t *driver.Thread, op *C.CUDA_MEMCPY3D_BATCH_OP) (*driver.Copy3D, error) {
	element := uint64(0)
	for _, o := range []*C.CUmemcpy3DOperand{&op.src, &op.dst} {
		if o._type != operandArray {
			continue
		}
		n, err := t.ArrayElementSize(driver.Handle(o.place))
		if err != nil {
			return nil, err
		}
		if element != 0 && n != element {
			return nil, driver.InvalidValue
		}
		element = n
	}
	element = max(element, 1)
	width, height, depth := uint64(op.width), uint64(op.height), uint64(op.depth)
	const maxLength = 1 << 40 // a length times the size of an element does not overflow
	if width == 0 || height == 0 || depth == 0 || max(width, height, depth) > maxLength || op.srcAccessOrder < readInStream || op.srcAccessOrder > readAnyTime {
		return nil, driver.InvalidValue
	}
	side := func(o *C.CUmemcpy3DOperand) (driver.Side, error) {
		if o._type == operandArray {
			x, y, z := uint64(o.xOrRowLength), uint64(o.yOrLayerHeight), uint64(o.z)
			if max(x, y, z) <= maxLength {
				return driver.Side{Place: driver.Place{Kind: driver.ArrayPlace, Array: driver.Handle(o.place)}, X: x * element, Y: y, Z: z}, nil
			}
		}
		if o._type == operandPointer {
			rowLength, layerHeight := uint64(o.xOrRowLength), uint64(o.yOrLayerHeight)
			if rowLength == 0 {
				rowLength = width
			}
			if layerHeight == 0 {
				layerHeight = height
			}
			if rowLength >= width && layerHeight >= height && max(rowLength, layerHeight) <= maxLength {
				return driver.Side{Place: unifiedPlace(C.CUdeviceptr(o.place)), Pitch: rowLength * element, Height: layerHeight}, nil
			}
		}
		return driver.Side{}, driver.InvalidValue
	}
	src, err := side(&op.src)
	if err != nil {
		return nil, err
	}
	dst, err := side(&op.dst)
	if err != nil {
		return nil, err
	}
	return &driver.Copy3D{Src: src, Dst: dst, Width: width * element, Height: height, Depth: depth}, nil
}

// copyBatch3D submits copies in sequence. If failed is not null, it receives the index of the failed copy, or SIZE_MAX
// if no single copy failed. The call waits for each copy whose source must be read during the call.
func copyBatch3D(call string, n C.size_t, list *C.CUDA_MEMCPY3D_BATCH_OP, failed *C.size_t, flags C.ulonglong, stream C.CUstream) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if failed == nil {
			failed = new(C.size_t)
		}
		*failed = ^C.size_t(0)
		ops, err := items(list, n, maxItems)
		if err != nil || n == 0 || flags != 0 {
			return driver.InvalidValue
		}
		var copies []*driver.Copy3D
		for i := range ops {
			c, err := convertBatchCopy(t, &ops[i])
			if err != nil {
				*failed = C.size_t(i)
				return err
			}
			copies = append(copies, c)
		}
		for i, c := range copies {
			if err := t.Memcpy3D(c, driver.Handle(stream), ops[i].srcAccessOrder != readDuringCall); err != nil {
				*failed = C.size_t(i)
				return err
			}
		}
		return nil
	})
}

//export cuMemcpy3DBatchAsync
func cuMemcpy3DBatchAsync(n C.size_t, list *C.CUDA_MEMCPY3D_BATCH_OP, failed *C.size_t, flags C.ulonglong, stream C.CUstream) C.CUresult {
	if stream == 0 || stream == 1 {
		return C.CUresult(driver.InvalidValue)
	}
	return copyBatch3D("cuMemcpy3DBatchAsync", n, list, failed, flags, stream)
}

//export cuMemcpy3DBatchAsync_v2
func cuMemcpy3DBatchAsync_v2(n C.size_t, list *C.CUDA_MEMCPY3D_BATCH_OP, flags C.ulonglong, stream C.CUstream) C.CUresult {
	if stream == 0 || stream == 1 {
		return C.CUresult(driver.InvalidValue)
	}
	return copyBatch3D("cuMemcpy3DBatchAsync_v2", n, list, nil, flags, stream)
}

//export cuMemcpy3DWithAttributesAsync
func cuMemcpy3DWithAttributesAsync(op *C.CUDA_MEMCPY3D_BATCH_OP, flags C.ulonglong, stream C.CUstream) C.CUresult {
	return copyBatch3D("cuMemcpy3DWithAttributesAsync", 1, op, nil, flags, stream)
}

//export cuMemcpyHtoD_v2
func cuMemcpyHtoD_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyHtoD_v2", devicePlace(dst), hostPlace(src), n, 0, false)
}

//export cuMemcpyHtoDAsync_v2
func cuMemcpyHtoDAsync_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyHtoDAsync_v2", devicePlace(dst), hostPlace(src), n, stream, true)
}

//export cuMemcpyDtoH_v2
func cuMemcpyDtoH_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyDtoH_v2", hostPlace(dst), devicePlace(src), n, 0, false)
}

//export cuMemcpyDtoHAsync_v2
func cuMemcpyDtoHAsync_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyDtoHAsync_v2", hostPlace(dst), devicePlace(src), n, stream, true)
}

//export cuMemcpyDtoD_v2
func cuMemcpyDtoD_v2(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyDtoD_v2", devicePlace(dst), devicePlace(src), n, 0, false)
}

//export cuMemcpyDtoDAsync_v2
func cuMemcpyDtoDAsync_v2(dst, src C.CUdeviceptr, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyDtoDAsync_v2", devicePlace(dst), devicePlace(src), n, stream, true)
}

// All devices have a common address space: the contexts of a copy add no information.

//export cuMemcpyPeer
func cuMemcpyPeer(dst C.CUdeviceptr, dstContext C.CUcontext, src C.CUdeviceptr, srcContext C.CUcontext, n C.size_t) C.CUresult {
	return memcpy("cuMemcpyPeer", devicePlace(dst), devicePlace(src), n, 0, false)
}

//export cuMemcpyPeerAsync
func cuMemcpyPeerAsync(dst C.CUdeviceptr, dstContext C.CUcontext, src C.CUdeviceptr, srcContext C.CUcontext, n C.size_t, stream C.CUstream) C.CUresult {
	return memcpy("cuMemcpyPeerAsync", devicePlace(dst), devicePlace(src), n, stream, true)
}

// place converts the source or the destination of a copy of rows.
func place(kind C.uint, p unsafe.Pointer, addr C.CUdeviceptr, array C.uint64_t) driver.Place {
	if driver.PlaceKind(kind) == driver.ArrayPlace {
		return driver.Place{Kind: driver.ArrayPlace, Array: driver.Handle(array)}
	}
	return driver.Place{Kind: driver.PlaceKind(kind), Host: p, Device: uint64(addr)}
}

func copy2D(c *C.CUDA_MEMCPY2D) *driver.Copy3D {
	return &driver.Copy3D{
		Src:   driver.Side{Place: place(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray), X: uint64(c.srcXInBytes), Y: uint64(c.srcY), Pitch: uint64(c.srcPitch)},
		Dst:   driver.Side{Place: place(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray), X: uint64(c.dstXInBytes), Y: uint64(c.dstY), Pitch: uint64(c.dstPitch)},
		Width: uint64(c.WidthInBytes), Height: uint64(c.Height), Depth: 1,
	}
}

func copy3D(c *C.CUDA_MEMCPY3D) *driver.Copy3D {
	return &driver.Copy3D{
		Src: driver.Side{
			Place: place(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray), X: uint64(c.srcXInBytes), Y: uint64(c.srcY), Z: uint64(c.srcZ),
			Pitch: uint64(c.srcPitch), Height: uint64(c.srcHeight),
		},
		Dst: driver.Side{
			Place: place(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray), X: uint64(c.dstXInBytes), Y: uint64(c.dstY), Z: uint64(c.dstZ),
			Pitch: uint64(c.dstPitch), Height: uint64(c.dstHeight),
		},
		Width: uint64(c.WidthInBytes), Height: uint64(c.Height), Depth: uint64(c.Depth),
	}
}

func memcpy2D(call string, c *C.CUDA_MEMCPY2D, stream C.CUstream, async driver.Async) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if c == nil {
			return driver.InvalidValue
		}
		return t.Memcpy3D(copy2D(c), driver.Handle(stream), async)
	})
}

func memcpy3D(call string, c *C.CUDA_MEMCPY3D, stream C.CUstream, async driver.Async) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if c == nil {
			return driver.InvalidValue
		}
		return t.Memcpy3D(copy3D(c), driver.Handle(stream), async)
	})
}

//export cuMemcpy2D_v2
func cuMemcpy2D_v2(c *C.CUDA_MEMCPY2D) C.CUresult { return memcpy2D("cuMemcpy2D_v2", c, 0, false) }

//export cuMemcpy2DUnaligned_v2
func cuMemcpy2DUnaligned_v2(c *C.CUDA_MEMCPY2D) C.CUresult {
	return memcpy2D("cuMemcpy2DUnaligned_v2", c, 0, false)
}

//export cuMemcpy2DAsync_v2
func cuMemcpy2DAsync_v2(c *C.CUDA_MEMCPY2D, stream C.CUstream) C.CUresult {
	return memcpy2D("cuMemcpy2DAsync_v2", c, stream, true)
}

//export cuMemcpy3D_v2
func cuMemcpy3D_v2(c *C.CUDA_MEMCPY3D) C.CUresult { return memcpy3D("cuMemcpy3D_v2", c, 0, false) }

//export cuMemcpy3DAsync_v2
func cuMemcpy3DAsync_v2(c *C.CUDA_MEMCPY3D, stream C.CUstream) C.CUresult {
	return memcpy3D("cuMemcpy3DAsync_v2", c, stream, true)
}

//export cuMemcpy3DPeer
func cuMemcpy3DPeer(c *C.CUDA_MEMCPY3D) C.CUresult { return memcpy3D("cuMemcpy3DPeer", c, 0, false) }

//export cuMemcpy3DPeerAsync
func cuMemcpy3DPeerAsync(c *C.CUDA_MEMCPY3D, stream C.CUstream) C.CUresult {
	return memcpy3D("cuMemcpy3DPeerAsync", c, stream, true)
}

// perThread is CU_STREAM_PER_THREAD.
const perThread C.CUstream = 2

// memset implements fills of height rows of width elements; an element has size bytes.
func memset(call string, dst C.CUdeviceptr, pitch C.size_t, value, size uint32, width, height C.size_t, stream C.CUstream, async driver.Async) C.CUresult {
	f := driver.Fill2D{Dst: uint64(dst), Pitch: uint64(pitch), Value: value, Size: size, Width: uint64(width), Height: uint64(height)}
	return callThread(call, func(t *driver.Thread) error { return t.Memset(&f, driver.Handle(stream), async) })
}

//export cuMemsetD8_v2
func cuMemsetD8_v2(dst C.CUdeviceptr, value C.uchar, n C.size_t) C.CUresult {
	return memset("cuMemsetD8_v2", dst, 0, uint32(value), 1, n, 1, 0, false)
}

//export cuMemsetD16_v2
func cuMemsetD16_v2(dst C.CUdeviceptr, value C.ushort, n C.size_t) C.CUresult {
	return memset("cuMemsetD16_v2", dst, 0, uint32(value), 2, n, 1, 0, false)
}

//export cuMemsetD32_v2
func cuMemsetD32_v2(dst C.CUdeviceptr, value C.uint, n C.size_t) C.CUresult {
	return memset("cuMemsetD32_v2", dst, 0, uint32(value), 4, n, 1, 0, false)
}

// Synchronous fills wait only if the host can access the memory. They cannot be expressed by asynchronous fills, so the
// variants for the thread's default stream are here and not in shims.c.

//export cuMemsetD8_v2_ptds
func cuMemsetD8_v2_ptds(dst C.CUdeviceptr, value C.uchar, n C.size_t) C.CUresult {
	return memset("cuMemsetD8_v2_ptds", dst, 0, uint32(value), 1, n, 1, perThread, false)
}

//export cuMemsetD16_v2_ptds
func cuMemsetD16_v2_ptds(dst C.CUdeviceptr, value C.ushort, n C.size_t) C.CUresult {
	return memset("cuMemsetD16_v2_ptds", dst, 0, uint32(value), 2, n, 1, perThread, false)
}

//export cuMemsetD32_v2_ptds
func cuMemsetD32_v2_ptds(dst C.CUdeviceptr, value C.uint, n C.size_t) C.CUresult {
	return memset("cuMemsetD32_v2_ptds", dst, 0, uint32(value), 4, n, 1, perThread, false)
}

//export cuMemsetD2D8_v2_ptds
func cuMemsetD2D8_v2_ptds(dst C.CUdeviceptr, pitch C.size_t, value C.uchar, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D8_v2_ptds", dst, pitch, uint32(value), 1, width, height, perThread, false)
}

//export cuMemsetD2D16_v2_ptds
func cuMemsetD2D16_v2_ptds(dst C.CUdeviceptr, pitch C.size_t, value C.ushort, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D16_v2_ptds", dst, pitch, uint32(value), 2, width, height, perThread, false)
}

//export cuMemsetD2D32_v2_ptds
func cuMemsetD2D32_v2_ptds(dst C.CUdeviceptr, pitch C.size_t, value C.uint, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D32_v2_ptds", dst, pitch, uint32(value), 4, width, height, perThread, false)
}

//export cuMemsetD8Async
func cuMemsetD8Async(dst C.CUdeviceptr, value C.uchar, n C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD8Async", dst, 0, uint32(value), 1, n, 1, stream, true)
}

//export cuMemsetD16Async
func cuMemsetD16Async(dst C.CUdeviceptr, value C.ushort, n C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD16Async", dst, 0, uint32(value), 2, n, 1, stream, true)
}

//export cuMemsetD32Async
func cuMemsetD32Async(dst C.CUdeviceptr, value C.uint, n C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD32Async", dst, 0, uint32(value), 4, n, 1, stream, true)
}

//export cuMemsetD2D8_v2
func cuMemsetD2D8_v2(dst C.CUdeviceptr, pitch C.size_t, value C.uchar, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D8_v2", dst, pitch, uint32(value), 1, width, height, 0, false)
}

//export cuMemsetD2D16_v2
func cuMemsetD2D16_v2(dst C.CUdeviceptr, pitch C.size_t, value C.ushort, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D16_v2", dst, pitch, uint32(value), 2, width, height, 0, false)
}

//export cuMemsetD2D32_v2
func cuMemsetD2D32_v2(dst C.CUdeviceptr, pitch C.size_t, value C.uint, width, height C.size_t) C.CUresult {
	return memset("cuMemsetD2D32_v2", dst, pitch, uint32(value), 4, width, height, 0, false)
}

//export cuMemsetD2D8Async
func cuMemsetD2D8Async(dst C.CUdeviceptr, pitch C.size_t, value C.uchar, width, height C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD2D8Async", dst, pitch, uint32(value), 1, width, height, stream, true)
}

//export cuMemsetD2D16Async
func cuMemsetD2D16Async(dst C.CUdeviceptr, pitch C.size_t, value C.ushort, width, height C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD2D16Async", dst, pitch, uint32(value), 2, width, height, stream, true)
}

//export cuMemsetD2D32Async
func cuMemsetD2D32Async(dst C.CUdeviceptr, pitch C.size_t, value C.uint, width, height C.size_t, stream C.CUstream) C.CUresult {
	return memset("cuMemsetD2D32Async", dst, pitch, uint32(value), 4, width, height, stream, true)
}
