// Memory: allocation, arrays, pools, and conversion of copies for the driver.

#include <string.h>

#include "cudart.h"

enum { onHost = 1, onDevice = 2, inArray = 3, unified = 4 }; // CUmemorytype

// memory_types returns the memory types of the source and the destination of a copy.
static int memory_types(int kind, unsigned *from, unsigned *to)
{
	static const unsigned char table[][2] = {{onHost, onHost}, {onHost, onDevice}, {onDevice, onHost}, {onDevice, onDevice}, {unified, unified}};
	if (kind < 0 || kind > copyDefault)
		return invalidDirection;
	*from = table[kind][0];
	*to = table[kind][1];
	return 0;
}

// element_size returns the size of an array's elements in bytes.
static int element_size(cudaArray_t array, size_t *size)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r == 0)
		*size = texel_size(d.Format, d.NumChannels);
	return r;
}

int copy_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
	unsigned from, to;
	size_t source = 1, target = 1;
	if (p == NULL)
		return invalidValue;
	*c = (CUDA_MEMCPY3D){0};
	int r = memory_types(p->kind, &from, &to);
	if (r == 0 && ((p->srcArray != 0) == (p->srcPtr.ptr != NULL) || (p->dstArray != 0) == (p->dstPtr.ptr != NULL)))
		r = invalidValue;
	if (r == 0 && p->srcArray != 0)
		r = element_size(p->srcArray, &source);
	if (r == 0 && p->dstArray != 0)
		r = element_size(p->dstArray, &target);
	if (r == 0 && p->srcArray != 0 && p->dstArray != 0 && source != target)
		r = invalidValue;
	if (r != 0)
		return r;
	size_t element = source > target ? source : target; // of the array, if there is one
	c->srcXInBytes = p->srcPos.x * source;
	c->srcY = p->srcPos.y;
	c->srcZ = p->srcPos.z;
	c->srcMemoryType = p->srcArray != 0 ? inArray : from;
	c->srcHost = p->srcPtr.ptr;
	c->srcDevice = address(p->srcPtr.ptr);
	c->srcArray = p->srcArray;
	c->srcPitch = p->srcPtr.pitch;
	c->srcHeight = p->srcPtr.ysize;
	c->dstXInBytes = p->dstPos.x * target;
	c->dstY = p->dstPos.y;
	c->dstZ = p->dstPos.z;
	c->dstMemoryType = p->dstArray != 0 ? inArray : to;
	c->dstHost = p->dstPtr.ptr;
	c->dstDevice = address(p->dstPtr.ptr);
	c->dstArray = p->dstArray;
	c->dstPitch = p->dstPtr.pitch;
	c->dstHeight = p->dstPtr.ysize;
	c->WidthInBytes = p->extent.width * element;
	c->Height = p->extent.height;
	c->Depth = p->extent.depth;
	return 0;
}

// convert_copy_back converts a copy of the driver to the runtime's structure. The result has the meaning of the original
// copy, but its kind can be more specific: cudaMemcpyDefault between two arrays becomes device to device.
void convert_copy_back(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p)
{
	size_t source = 1, target = 1;
	*p = (struct cudaMemcpy3DParms){0};
	if (c->srcMemoryType == inArray && element_size(c->srcArray, &source) == 0 && source != 0)
		p->srcArray = c->srcArray;
	else
		p->srcPtr = (struct cudaPitchedPtr){c->srcMemoryType == onHost ? (void *)c->srcHost : pointer(c->srcDevice), c->srcPitch, c->WidthInBytes, c->srcHeight};
	if (c->dstMemoryType == inArray && element_size(c->dstArray, &target) == 0 && target != 0)
		p->dstArray = c->dstArray;
	else
		p->dstPtr = (struct cudaPitchedPtr){c->dstMemoryType == onHost ? c->dstHost : pointer(c->dstDevice), c->dstPitch, c->WidthInBytes, c->dstHeight};
	p->srcPos = (struct cudaPos){c->srcXInBytes / source, c->srcY, c->srcZ};
	p->dstPos = (struct cudaPos){c->dstXInBytes / target, c->dstY, c->dstZ};
	p->extent = (struct cudaExtent){c->WidthInBytes / (source > target ? source : target), c->Height, c->Depth};
	int from = c->srcMemoryType, to = c->dstMemoryType;
	p->kind = from == unified || to == unified ? copyDefault : (from == onHost ? copyHostToHost : copyDeviceToHost) + (to != onHost);
}

int copy_1d(void *dst, const void *src, size_t n, int kind, CUDA_MEMCPY3D *c)
{
	struct cudaMemcpy3DParms p = {
		.srcPtr = {(void *)src, n, n, 1}, .dstPtr = {dst, n, n, 1}, .extent = {n, 1, 1}, .kind = kind,
	};
	return copy_3d(&p, c);
}

// Formats of the driver: integers, floats, and integers that are read as normalised floats. A normalised format has a
// fixed number of channels.
static const struct {
	unsigned format;
	int kind, bits;    // cudaChannelFormatKind, and bits of a channel
	unsigned channels; // number of channels; 0: 1, 2 or 4
} formats[] = {
	{0x01, 1, 8, 0}, {0x02, 1, 16, 0}, {0x03, 1, 32, 0}, {0x08, 0, 8, 0}, {0x09, 0, 16, 0}, {0x0a, 0, 32, 0}, {0x10, 2, 16, 0}, {0x20, 2, 32, 0},
	{0xc0, 5, 8, 1}, {0xc1, 6, 8, 2}, {0xc2, 7, 8, 4}, {0xc3, 8, 16, 1}, {0xc4, 9, 16, 2}, {0xc5, 10, 16, 4},
	{0xc6, 11, 8, 1}, {0xc7, 12, 8, 2}, {0xc8, 13, 8, 4}, {0xc9, 14, 16, 1}, {0xca, 15, 16, 2}, {0xcb, 16, 16, 4},
};

int format_of(const struct cudaChannelFormatDesc *d, unsigned *format, unsigned *channels)
{
	const int bits[] = {d->x, d->y, d->z, d->w};
	unsigned n = 0;
	while (n < 4 && bits[n] != 0)
		n++;
	for (unsigned i = 0; i < 4; i++)
		if (bits[i] != (i < n ? bits[0] : 0))
			return invalidChannel;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (n != 0 && n != 3 && formats[i].kind == d->f && formats[i].bits == bits[0] && (formats[i].channels == 0 || formats[i].channels == n)) {
			*format = formats[i].format;
			*channels = n;
			return 0;
		}
	return invalidChannel;
}

struct cudaChannelFormatDesc channels_of(unsigned format, unsigned channels)
{
	struct cudaChannelFormatDesc d = {0};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].format == format) {
			int *bits[] = {&d.x, &d.y, &d.z, &d.w};
			for (unsigned j = 0; j < channels && j < 4; j++)
				*bits[j] = formats[i].bits;
			d.f = formats[i].kind;
		}
	return d;
}

size_t texel_size(unsigned format, unsigned channels) { return (size_t)channels_of(format, 1).x / 8 * channels; }

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (struct cudaChannelFormatDesc){x, y, z, w, kind}; }

cudaError_t cudaMalloc(void **p, size_t n)
{
	if (p == NULL)
		return RESULT(invalidValue);
	ENTER();
	if (n == 0)
		*p = NULL;
	return RESULT(n == 0 ? 0 : cuMemAlloc_v2((CUdeviceptr *)p, n));
}

cudaError_t cudaFree(void *p) { RETURN(p == NULL ? 0 : cuMemFree_v2(address(p))); }

cudaError_t cudaMallocHost(void **p, size_t n)
{
	if (p == NULL)
		return RESULT(invalidValue);
	ENTER();
	if (n == 0)
		*p = NULL;
	return RESULT(n == 0 ? 0 : cuMemHostAlloc(p, n, 0));
}

cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
	if (p == NULL)
		return RESULT(invalidValue);
	ENTER();
	if (n == 0)
		*p = NULL;
	return RESULT(n == 0 ? 0 : cuMemHostAlloc(p, n, flags));
}

cudaError_t cudaFreeHost(void *p) { RETURN(p == NULL ? 0 : cuMemFreeHost(p)); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags) { RETURN(cuMemAllocManaged((CUdeviceptr *)p, n, flags)); }
cudaError_t cudaHostRegister(void *p, size_t n, unsigned flags) { RETURN(cuMemHostRegister_v2(p, n, flags)); }
cudaError_t cudaHostUnregister(void *p) { RETURN(cuMemHostUnregister(p)); }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) { RETURN(cuMemHostGetDevicePointer_v2((CUdeviceptr *)device, host, flags)); }
cudaError_t cudaHostGetFlags(unsigned *flags, void *p) { RETURN(cuMemHostGetFlags(flags, p)); }
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) { RETURN(cuMemGetInfo_v2(free, total)); }

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	if (p == NULL || pitch == NULL)
		return RESULT(invalidValue);
	RETURN(cuMemAllocPitch_v2((CUdeviceptr *)p, pitch, width, height, 4));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
	CUdeviceptr addr;
	size_t pitch, rows;
	if (p == NULL || __builtin_mul_overflow(e.height, e.depth, &rows))
		return RESULT(invalidValue);
	ENTER();
	int r = cuMemAllocPitch_v2(&addr, &pitch, e.width, rows, 4);
	if (r == 0)
		*p = (struct cudaPitchedPtr){pointer(addr), pitch, e.width, e.height};
	return RESULT(r);
}

// array_descriptor fills in the driver's description of an array.
static int array_descriptor(const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *d)
{
	if (desc == NULL)
		return invalidValue;
	*d = (CUDA_ARRAY3D_DESCRIPTOR){.Width = e.width, .Height = e.height, .Depth = e.depth, .Flags = flags};
	return format_of(desc, &d->Format, &d->NumChannels);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	ENTER();
	int r = array == NULL ? invalidValue : array_descriptor(desc, e, flags, &d);
	return RESULT(r != 0 ? r : cuArray3DCreate_v2(array, &d));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height, unsigned flags)
{
	return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) { RETURN(array == 0 ? 0 : cuArrayDestroy(array)); }

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *e, unsigned *flags, cudaArray_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	ENTER();
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r == 0 && desc != NULL)
		*desc = channels_of(d.Format, d.NumChannels);
	if (r == 0 && e != NULL)
		*e = (struct cudaExtent){d.Width, d.Height, d.Depth};
	if (r == 0 && flags != NULL)
		*flags = d.Flags;
	return RESULT(r);
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_t array)
{
	return desc == NULL ? RESULT(invalidValue) : cudaArrayGetInfo(desc, NULL, NULL, array);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned levels, unsigned flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	ENTER();
	int r = array == NULL ? invalidValue : array_descriptor(desc, e, flags, &d);
	return RESULT(r != 0 ? r : cuMipmappedArrayCreate(array, &d, levels));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_t array, unsigned n) { RETURN(cuMipmappedArrayGetLevel(level, array, n)); }
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) { RETURN(array == 0 ? 0 : cuMipmappedArrayDestroy(array)); }

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
	enum { memoryType = 2, isManaged = 8, ordinal = 9 }; // CUpointer_attribute
	enum { managed = 3 };                                // cudaMemoryType
	enum { unknownDevice = -2 };
	int kind, device;
	unsigned char is_managed;
	if (a == NULL)
		return RESULT(invalidValue);
	ENTER();
	*a = (struct cudaPointerAttributes){.device = unknownDevice, .hostPointer = (void *)p};
	int attributes[] = {memoryType, isManaged, ordinal};
	void *to[] = {&kind, &is_managed, &device};
	int r = cuPointerGetAttributes(3, attributes, to, address(p));
	if (r != 0 || kind == 0)
		return RESULT(r);
	a->type = is_managed ? managed : kind;
	a->device = device;
	a->devicePointer = (void *)p;
	if (kind == onDevice && !is_managed)
		a->hostPointer = NULL;
	return RESULT(0);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props) { RETURN(cuMemPoolCreate(pool, (CUmemPoolProps *)props)); }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { RETURN(cuMemPoolDestroy(pool)); }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) { RETURN(cuMemPoolTrimTo(pool, keep)); }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value) { RETURN(cuMemPoolGetAttribute(pool, attribute, value)); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value) { RETURN(cuMemPoolSetAttribute(pool, attribute, value)); }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t n) { RETURN(cuMemPoolSetAccess(pool, (CUmemAccessDesc *)list, n)); }
cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, struct cudaMemLocation *where) { RETURN(cuMemPoolGetAccess(flags, pool, (CUmemLocation *)where)); }

#if MAJOR == 12
cudaError_t cudaMemAdvise(const void *p, size_t n, int advice, int device) { RETURN(cuMemAdvise(address(p), n, advice, device)); }
cudaError_t cudaMemAdvise_v2(const void *p, size_t n, int advice, struct cudaMemLocation where) { RETURN(cuMemAdvise_v2(address(p), n, advice, (CUmemLocation){where.type, where.id})); }
#else
cudaError_t cudaMemAdvise(const void *p, size_t n, int advice, struct cudaMemLocation where) { RETURN(cuMemAdvise_v2(address(p), n, advice, (CUmemLocation){where.type, where.id})); }
#endif

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *p, size_t n) { RETURN(cuMemRangeGetAttribute(data, size, attribute, address(p), n)); }
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t k, const void *p, size_t n) { RETURN(cuMemRangeGetAttributes(data, sizes, attributes, k, address(p), n)); }

// All devices share one address space: a copy between existing devices is a linear copy.

// check_devices checks that both devices exist, and makes their primary contexts.
static int check_devices(int to, int from)
{
	CUcontext c;
	int r = primary_context(to, &c);
	return r != 0 ? r : primary_context(from, &c);
}

cudaError_t cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n)
{
	ENTER();
	int r = check_devices(to, from);
	return RESULT(r != 0 || n == 0 ? r : cuMemcpyPeer(address(dst), 0, address(src), 0, n));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, cudaStream_t s)
{
	ENTER();
	int r = check_devices(to, from);
	return RESULT(r != 0 || n == 0 ? r : cuMemcpyPeerAsync(address(dst), 0, address(src), 0, n, s));
}

int convert_peer_copy(const struct cudaMemcpy3DPeerParms *p, struct cudaMemcpy3DParms *to)
{
	if (p == NULL)
		return invalidValue;
	*to = (struct cudaMemcpy3DParms){p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent, copyDeviceToDevice};
	return check_devices(p->dstDevice, p->srcDevice);
}

#if MAJOR >= 13
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *where, int kind) { RETURN(cuMemGetDefaultMemPool(pool, (CUmemLocation *)where, kind)); }
cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *where, int kind) { RETURN(cuMemGetMemPool(pool, (CUmemLocation *)where, kind)); }
cudaError_t cudaMemSetMemPool(struct cudaMemLocation *where, int kind, cudaMemPool_t pool) { RETURN(cuMemSetMemPool((CUmemLocation *)where, kind, pool)); }
#endif
