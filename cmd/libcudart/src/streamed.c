// The functions that work on a stream, or on the default stream. This file is compiled twice: directly, and in
// streamed_ptsz.c for programs whose default stream is the thread's own; those functions have the suffix _ptsz, or
// _ptds without a stream parameter.

#include "cudart.h"

#ifdef PER_THREAD
#define PTSZ(name) name##_ptsz
#define PTDS(name) name##_ptds
#define DECLARE(name) extern __typeof__(name) name##_ptds;
DECLARE(cuMemcpy)
DECLARE(cuMemcpyHtoD_v2)
DECLARE(cuMemcpyDtoH_v2)
DECLARE(cuMemcpyDtoD_v2)
DECLARE(cuMemcpy3D_v2)
#else
#define PTSZ(name) name
#define PTDS(name) name
#endif

// driver_stream returns the driver's stream for a stream of the API: in the per-thread variant, the thread's own default
// stream replaces the default stream.
static CUstream driver_stream(cudaStream_t s)
{
#ifdef PER_THREAD
	return s == 0 ? 2 : s;
#else
	return s;
#endif
}

// Copies of linear memory.

static int copy(void *dst, const void *src, size_t n, int kind)
{
	if (n == 0)
		return kind < 0 || kind > copyDefault ? invalidDirection : check_context();
	switch (kind) {
	case copyHostToDevice: return PTDS(cuMemcpyHtoD_v2)(address(dst), (void *)src, n);
	case copyDeviceToHost: return PTDS(cuMemcpyDtoH_v2)(dst, address(src), n);
	case copyDeviceToDevice: return PTDS(cuMemcpyDtoD_v2)(address(dst), address(src), n);
	case copyHostToHost: case copyDefault: return PTDS(cuMemcpy)(address(dst), address(src), n);
	}
	return invalidDirection;
}

static int copy_async(void *dst, const void *src, size_t n, int kind, cudaStream_t s)
{
	if (n == 0)
		return kind < 0 || kind > copyDefault ? invalidDirection : check_context();
	switch (kind) {
	case copyHostToDevice: return cuMemcpyHtoDAsync_v2(address(dst), (void *)src, n, driver_stream(s));
	case copyDeviceToHost: return cuMemcpyDtoHAsync_v2(dst, address(src), n, driver_stream(s));
	case copyDeviceToDevice: return cuMemcpyDtoDAsync_v2(address(dst), address(src), n, driver_stream(s));
	case copyHostToHost: case copyDefault: return cuMemcpyAsync(address(dst), address(src), n, driver_stream(s));
	}
	return invalidDirection;
}

cudaError_t PTDS(cudaMemcpy)(void *dst, const void *src, size_t n, int kind) { RETURN(copy(dst, src, n, kind)); }
cudaError_t PTSZ(cudaMemcpyAsync)(void *dst, const void *src, size_t n, int kind, cudaStream_t s) { RETURN(copy_async(dst, src, n, kind, s)); }

// Copies to and from symbols.

static int symbol_target(const void *symbol, size_t n, size_t offset, int kind, CUdeviceptr *addr)
{
	return kind != copyHostToDevice && kind != copyDeviceToDevice && kind != copyDefault ? invalidDirection : symbol_range(symbol, offset, n, addr);
}

static int symbol_source(const void *symbol, size_t n, size_t offset, int kind, CUdeviceptr *addr)
{
	return kind != copyDeviceToHost && kind != copyDeviceToDevice && kind != copyDefault ? invalidDirection : symbol_range(symbol, offset, n, addr);
}

cudaError_t PTDS(cudaMemcpyToSymbol)(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
	CUdeviceptr addr;
	ENTER();
	int r = symbol_target(symbol, n, offset, kind, &addr);
	return RESULT(r != 0 ? r : copy(pointer(addr), src, n, kind));
}

cudaError_t PTDS(cudaMemcpyFromSymbol)(void *dst, const void *symbol, size_t n, size_t offset, int kind)
{
	CUdeviceptr addr;
	ENTER();
	int r = symbol_source(symbol, n, offset, kind, &addr);
	return RESULT(r != 0 ? r : copy(dst, pointer(addr), n, kind));
}

cudaError_t PTSZ(cudaMemcpyToSymbolAsync)(const void *symbol, const void *src, size_t n, size_t offset, int kind, cudaStream_t s)
{
	CUdeviceptr addr;
	ENTER();
	int r = symbol_target(symbol, n, offset, kind, &addr);
	return RESULT(r != 0 ? r : copy_async(pointer(addr), src, n, kind, s));
}

cudaError_t PTSZ(cudaMemcpyFromSymbolAsync)(void *dst, const void *symbol, size_t n, size_t offset, int kind, cudaStream_t s)
{
	CUdeviceptr addr;
	ENTER();
	int r = symbol_source(symbol, n, offset, kind, &addr);
	return RESULT(r != 0 ? r : copy_async(dst, pointer(addr), n, kind, s));
}

// Copies of rows.

static int copy_rows(const struct cudaMemcpy3DParms *p, int async, cudaStream_t s)
{
	CUDA_MEMCPY3D c;
	int r = copy_3d(p, &c);
	if (r != 0)
		return r;
	if (c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0)
		return check_context();
	return async ? cuMemcpy3DAsync_v2(&c, driver_stream(s)) : PTDS(cuMemcpy3D_v2)(&c);
}

cudaError_t PTDS(cudaMemcpy3D)(const struct cudaMemcpy3DParms *p) { RETURN(copy_rows(p, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy3DAsync)(const struct cudaMemcpy3DParms *p, cudaStream_t s) { RETURN(copy_rows(p, 1, s)); }

static int copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	struct cudaMemcpy3DParms p = {.srcPtr = {(void *)src, spitch, width, height}, .dstPtr = {dst, dpitch, width, height}, .extent = {width, height, 1}, .kind = kind};
	if (width > dpitch || width > spitch)
		return invalidPitch;
	return copy_rows(&p, async, s);
}

cudaError_t PTDS(cudaMemcpy2D)(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind) { RETURN(copy_2d(dst, dpitch, src, spitch, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DAsync)(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, cudaStream_t s) { RETURN(copy_2d(dst, dpitch, src, spitch, width, height, kind, 1, s)); }

static int copy_peers(const struct cudaMemcpy3DPeerParms *p, int async, cudaStream_t s)
{
	struct cudaMemcpy3DParms c;
	int r = convert_peer_copy(p, &c);
	return r != 0 ? r : copy_rows(&c, async, s);
}

cudaError_t PTDS(cudaMemcpy3DPeer)(const struct cudaMemcpy3DPeerParms *p) { RETURN(copy_peers(p, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy3DPeerAsync)(const struct cudaMemcpy3DPeerParms *p, cudaStream_t s) { RETURN(copy_peers(p, 1, s)); }

// Copies of rows of arrays. Their offsets and widths are in bytes, and must be multiples of the size of an element.

// element_size_of_copy returns the size of an array's elements, and checks the offset and width of a copy.
static int element_size_of_copy(cudaArray_t array, size_t x, size_t width, size_t *size)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r != 0)
		return r;
	*size = texel_size(d.Format, d.NumChannels);
	return *size == 0 || x % *size != 0 || width % *size != 0 ? invalidValue : 0;
}

static int copy_to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	size_t size;
	int r = element_size_of_copy(dst, x, width, &size);
	if (r != 0)
		return r;
	if (width > spitch)
		return invalidPitch;
	struct cudaMemcpy3DParms p = {.srcPtr = {(void *)src, spitch, width, height}, .dstArray = dst, .dstPos = {x / size, y, 0}, .extent = {width / size, height, 1}, .kind = kind};
	return copy_rows(&p, async, s);
}

static int copy_from_array(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	size_t size;
	int r = element_size_of_copy(src, x, width, &size);
	if (r != 0)
		return r;
	if (width > dpitch)
		return invalidPitch;
	struct cudaMemcpy3DParms p = {.dstPtr = {dst, dpitch, width, height}, .srcArray = src, .srcPos = {x / size, y, 0}, .extent = {width / size, height, 1}, .kind = kind};
	return copy_rows(&p, async, s);
}

cudaError_t PTDS(cudaMemcpy2DToArray)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind) { RETURN(copy_to_array(dst, x, y, src, spitch, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DToArrayAsync)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind, cudaStream_t s) { RETURN(copy_to_array(dst, x, y, src, spitch, width, height, kind, 1, s)); }
cudaError_t PTDS(cudaMemcpy2DFromArray)(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind) { RETURN(copy_from_array(dst, dpitch, src, x, y, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DFromArrayAsync)(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind, cudaStream_t s) { RETURN(copy_from_array(dst, dpitch, src, x, y, width, height, kind, 1, s)); }

static int copy_between_arrays(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t width, size_t height, int kind)
{
	size_t target, source;
	int r = element_size_of_copy(dst, dx, width, &target);
	if (r == 0)
		r = element_size_of_copy(src, sx, width, &source);
	if (r != 0)
		return r;
	struct cudaMemcpy3DParms p = {.srcArray = src, .srcPos = {sx / source, sy, 0}, .dstArray = dst, .dstPos = {dx / target, dy, 0}, .extent = {width / source, height, 1}, .kind = kind};
	return copy_rows(&p, 0, 0);
}

cudaError_t PTDS(cudaMemcpy2DArrayToArray)(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t width, size_t height, int kind) { RETURN(copy_between_arrays(dst, dx, dy, src, sx, sy, width, height, kind)); }

// Copies of n bytes that continue from row to row of an array. A copy consists of up to three rectangles: the rest of the
// first row, whole rows, and the beginning of the last row.

// run is the current position of such a copy in an array.
struct run {
	size_t row;  // length of a row in bytes
	size_t x, y; // offset in the row in bytes, and row
};

// start_run sets the position to x, y, and checks that n bytes from there lie in the array.
static int start_run(cudaArray_t array, size_t x, size_t y, size_t n, struct run *position)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r != 0)
		return r;
	*position = (struct run){d.Width * texel_size(d.Format, d.NumChannels), x, y};
	size_t rows = d.Height != 0 ? d.Height : 1;
	return d.Depth != 0 || x >= position->row || y >= rows || n > (rows - y) * position->row - x ? invalidValue : 0;
}

// next_rectangle returns the size of the next rectangle of a copy with n bytes left.
static void next_rectangle(const struct run *position, size_t n, size_t *width, size_t *height)
{
	*width = position->row - position->x < n ? position->row - position->x : n;
	*height = *width == position->row ? n / position->row : 1;
}

// advance_run moves the position to the end of a rectangle.
static void advance_run(struct run *position, size_t width, size_t height)
{
	position->x += width;
	position->y += height - (position->x < position->row);
	position->x %= position->row;
}

// copy_along_array copies n bytes between an array and linear memory. to is set for a copy to the array.
static int copy_along_array(cudaArray_t array, size_t x, size_t y, char *linear, size_t n, int kind, int to, int async, cudaStream_t s)
{
	struct run position;
	size_t width, height;
	int r = start_run(array, x, y, n, &position);
	for (; r == 0 && n > 0; n -= width * height, linear += width * height) {
		next_rectangle(&position, n, &width, &height);
		r = to ? copy_to_array(array, position.x, position.y, linear, width, width, height, kind, async, s)
		       : copy_from_array(linear, width, array, position.x, position.y, width, height, kind, async, s);
		advance_run(&position, width, height);
	}
	return r;
}

cudaError_t PTDS(cudaMemcpyToArray)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, int kind) { RETURN(copy_along_array(dst, x, y, (char *)src, n, kind, 1, 0, 0)); }
cudaError_t PTSZ(cudaMemcpyToArrayAsync)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, int kind, cudaStream_t s) { RETURN(copy_along_array(dst, x, y, (char *)src, n, kind, 1, 1, s)); }
cudaError_t PTDS(cudaMemcpyFromArray)(void *dst, cudaArray_t src, size_t x, size_t y, size_t n, int kind) { RETURN(copy_along_array(src, x, y, dst, n, kind, 0, 0, 0)); }
cudaError_t PTSZ(cudaMemcpyFromArrayAsync)(void *dst, cudaArray_t src, size_t x, size_t y, size_t n, int kind, cudaStream_t s) { RETURN(copy_along_array(src, x, y, dst, n, kind, 0, 1, s)); }

static int copy_along_arrays(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t n, int kind)
{
	struct run to, from;
	size_t width, other, height;
	int r = start_run(dst, dx, dy, n, &to);
	if (r == 0)
		r = start_run(src, sx, sy, n, &from);
	for (; r == 0 && n > 0; n -= width) {
		next_rectangle(&to, n, &width, &height);
		next_rectangle(&from, n, &other, &height);
		width = width < other ? width : other;
		r = copy_between_arrays(dst, to.x, to.y, src, from.x, from.y, width, 1, kind);
		advance_run(&to, width, 1);
		advance_run(&from, width, 1);
	}
	return r;
}

cudaError_t PTDS(cudaMemcpyArrayToArray)(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t n, int kind) { RETURN(copy_along_arrays(dst, dx, dy, src, sx, sy, n, kind)); }

// Fills.

cudaError_t PTDS(cudaMemset)(void *p, int value, size_t n) { RETURN(n == 0 ? check_context() : PTDS(cuMemsetD8_v2)(address(p), value, n)); }
cudaError_t PTSZ(cudaMemsetAsync)(void *p, int value, size_t n, cudaStream_t s) { RETURN(n == 0 ? check_context() : cuMemsetD8Async(address(p), value, n, driver_stream(s))); }
cudaError_t PTDS(cudaMemset2D)(void *p, size_t pitch, int value, size_t width, size_t height)
{
	RETURN(width == 0 || height == 0 ? check_context() : PTDS(cuMemsetD2D8_v2)(address(p), pitch, value, width, height));
}
cudaError_t PTSZ(cudaMemset2DAsync)(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s)
{
	RETURN(width == 0 || height == 0 ? check_context() : cuMemsetD2D8Async(address(p), pitch, value, width, height, driver_stream(s)));
}

static int memset_3d(struct cudaPitchedPtr p, int value, struct cudaExtent e, int async, cudaStream_t s)
{
	int r = check_context();
	for (size_t z = 0; r == 0 && e.width != 0 && e.height != 0 && z < e.depth; z++) {
		CUdeviceptr addr = address(p.ptr) + z * p.pitch * p.ysize;
		r = async ? cuMemsetD2D8Async(addr, p.pitch, value, e.width, e.height, driver_stream(s)) : PTDS(cuMemsetD2D8_v2)(addr, p.pitch, value, e.width, e.height);
	}
	return r;
}

cudaError_t PTDS(cudaMemset3D)(struct cudaPitchedPtr p, int value, struct cudaExtent e) { RETURN(memset_3d(p, value, e, 0, 0)); }
cudaError_t PTSZ(cudaMemset3DAsync)(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t s) { RETURN(memset_3d(p, value, e, 1, s)); }

// Batches of copies. In version 12 they return the index of the failed copy.

#if MAJOR == 12
cudaError_t PTSZ(cudaMemcpyBatchAsync)(void **dsts, void **srcs, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices, size_t n, size_t *failed, cudaStream_t s)
{
	RETURN(cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count, (CUmemcpyAttributes *)attributes, indices, n, failed, driver_stream(s)));
}
#else
cudaError_t PTSZ(cudaMemcpyBatchAsync)(const void **dsts, const void **srcs, const size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices, size_t n, cudaStream_t s)
{
	RETURN(cuMemcpyBatchAsync_v2((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, (size_t *)sizes, count, (CUmemcpyAttributes *)attributes, indices, n, driver_stream(s)));
}
cudaError_t PTSZ(cudaMemcpyWithAttributesAsync)(void *dst, const void *src, size_t size, struct cudaMemcpyAttributes *attributes, cudaStream_t s)
{
	size_t first = 0;
	CUdeviceptr to = address(dst), from = address(src);
	RETURN(cuMemcpyBatchAsync_v2(&to, &from, &size, 1, (CUmemcpyAttributes *)attributes, &first, 1, driver_stream(s)));
}
#endif

// Stream-ordered and managed memory.

cudaError_t PTSZ(cudaMallocAsync)(void **p, size_t n, cudaStream_t s) { RETURN(cuMemAllocAsync((CUdeviceptr *)p, n, driver_stream(s))); }
cudaError_t PTSZ(cudaMallocFromPoolAsync)(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) { RETURN(cuMemAllocFromPoolAsync((CUdeviceptr *)p, n, pool, driver_stream(s))); }
cudaError_t PTSZ(cudaFreeAsync)(void *p, cudaStream_t s) { RETURN(p == NULL ? check_context() : cuMemFreeAsync(address(p), driver_stream(s))); }
cudaError_t PTSZ(cudaStreamAttachMemAsync)(cudaStream_t s, void *p, size_t n, unsigned flags) { RETURN(cuStreamAttachMemAsync(driver_stream(s), address(p), n, flags)); }
#if MAJOR == 12
cudaError_t PTSZ(cudaMemPrefetchAsync)(const void *p, size_t n, int device, cudaStream_t s) { RETURN(cuMemPrefetchAsync(address(p), n, device, driver_stream(s))); }
cudaError_t PTSZ(cudaMemPrefetchAsync_v2)(const void *p, size_t n, struct cudaMemLocation where, unsigned flags, cudaStream_t s)
#else
cudaError_t PTSZ(cudaMemPrefetchAsync)(const void *p, size_t n, struct cudaMemLocation where, unsigned flags, cudaStream_t s)
#endif
{
	RETURN(cuMemPrefetchAsync_v2(address(p), n, (CUmemLocation){where.type, where.id}, flags, driver_stream(s)));
}

// Launches.

static int launch(CUkernel k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s, int cooperative)
{
	if (cooperative)
		return cuLaunchCooperativeKernel(k, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, driver_stream(s), args);
	return cuLaunchKernel(k, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, driver_stream(s), args, NULL);
}

static int launch_function(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s, int cooperative)
{
	CUkernel k;
	int r = kernel_of(f, &k);
	if (r == 0)
		r = check_extent(grid, block);
	if (r == 0 && shared > UINT32_MAX)
		r = invalidValue;
	return r != 0 ? refuse_launch(f, r) : launch(k, grid, block, args, shared, s, cooperative);
}

cudaError_t PTSZ(cudaLaunchKernel)(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { RETURN(launch_function(f, grid, block, args, shared, s, 0)); }
cudaError_t PTSZ(cudaLaunchCooperativeKernel)(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { RETURN(launch_function(f, grid, block, args, shared, s, 1)); }

// __cudaLaunchKernel receives the result of __cudaGetKernel.
cudaError_t PTSZ(__cudaLaunchKernel)(cudaKernel_t k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { RETURN(launch_function(pointer(k), grid, block, args, shared, s, 0)); }

cudaError_t PTSZ(cudaLaunchKernelExC)(const cudaLaunchConfig_t *c, const void *f, void **args)
{
	CUkernel k;
	CUlaunchConfig config;
	ENTER();
	int r = launch_config(c, &config);
	if (r == 0)
		r = kernel_of(f, &k);
	if (r == 0)
		r = check_extent(c->gridDim, c->blockDim);
	if (r != 0)
		return RESULT(refuse_launch(f, r));
	config.hStream = driver_stream(c->stream);
	return RESULT(cuLaunchKernelEx(&config, k, args, NULL));
}

// Streams and events.

cudaError_t PTSZ(cudaLaunchHostFunc)(cudaStream_t s, void (*f)(void *), void *user) { RETURN(cuLaunchHostFunc(driver_stream(s), f, user)); }
cudaError_t PTSZ(cudaStreamAddCallback)(cudaStream_t s, void (*f)(cudaStream_t, cudaError_t, void *), void *user, unsigned flags) { RETURN(cuStreamAddCallback(driver_stream(s), f, user, flags)); }
cudaError_t PTSZ(cudaStreamSynchronize)(cudaStream_t s) { RETURN(cuStreamSynchronize(driver_stream(s))); }
cudaError_t PTSZ(cudaStreamQuery)(cudaStream_t s) { RETURN(cuStreamQuery(driver_stream(s))); }
cudaError_t PTSZ(cudaStreamWaitEvent)(cudaStream_t s, cudaEvent_t e, unsigned flags) { RETURN(cuStreamWaitEvent(driver_stream(s), e, flags)); }
cudaError_t PTSZ(cudaStreamGetFlags)(cudaStream_t s, unsigned *flags) { RETURN(cuStreamGetFlags(driver_stream(s), flags)); }
cudaError_t PTSZ(cudaStreamGetPriority)(cudaStream_t s, int *priority) { RETURN(cuStreamGetPriority(driver_stream(s), priority)); }
cudaError_t PTSZ(cudaStreamGetId)(cudaStream_t s, uint64_t *id) { RETURN(cuStreamGetId(driver_stream(s), id)); }
cudaError_t PTSZ(cudaStreamGetDevice)(cudaStream_t s, int *device) { RETURN(cuStreamGetDevice(driver_stream(s), device)); }
cudaError_t PTSZ(cudaStreamSetAttribute)(cudaStream_t s, int attribute, const void *value) { RETURN(cuStreamSetAttribute(driver_stream(s), attribute, (void *)value)); }
cudaError_t PTSZ(cudaStreamGetAttribute)(cudaStream_t s, int attribute, void *value) { RETURN(cuStreamGetAttribute(driver_stream(s), attribute, value)); }
cudaError_t PTSZ(cudaStreamCopyAttributes)(cudaStream_t to, cudaStream_t from) { RETURN(cuStreamCopyAttributes(driver_stream(to), driver_stream(from))); }

#if MAJOR >= 13
cudaError_t PTSZ(cudaLaunchHostFunc_v2)(cudaStream_t s, void (*f)(void *), void *user, unsigned wait) { RETURN(wait > 1 ? invalidValue : cuLaunchHostFunc(driver_stream(s), f, user)); }
#endif

// Stream capture.

cudaError_t PTSZ(cudaStreamIsCapturing)(cudaStream_t s, int *status) { RETURN(cuStreamIsCapturing(driver_stream(s), status)); }
cudaError_t PTSZ(cudaStreamBeginCapture)(cudaStream_t s, int mode) { RETURN(cuStreamBeginCapture_v2(driver_stream(s), mode)); }
cudaError_t PTSZ(cudaStreamBeginCaptureToGraph)(cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, int mode)
{
	RETURN(cuStreamBeginCaptureToGraph(driver_stream(s), graph, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, mode));
}
cudaError_t PTSZ(cudaStreamEndCapture)(cudaStream_t s, cudaGraph_t *graph) { RETURN(cuStreamEndCapture(driver_stream(s), graph)); }

#if MAJOR == 12
cudaError_t PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t s, int *status, uint64_t *id) { RETURN(cuStreamGetCaptureInfo_v3(driver_stream(s), status, id, NULL, NULL, NULL, NULL)); }
cudaError_t PTSZ(cudaStreamGetCaptureInfo_v2)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, size_t *n)
{
	RETURN(cuStreamGetCaptureInfo_v3(driver_stream(s), status, id, graph, after, NULL, n));
}
cudaError_t PTSZ(cudaStreamGetCaptureInfo_v3)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, cudaGraphEdgeData **edges, size_t *n)
#else
cudaError_t PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, cudaGraphEdgeData **edges, size_t *n)
#endif
{
	RETURN(cuStreamGetCaptureInfo_v3(driver_stream(s), status, id, graph, after, (CUgraphEdgeData **)edges, n));
}

#if MAJOR == 12
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies)(cudaStream_t s, cudaGraphNode_t *after, size_t n, unsigned flags) { RETURN(cuStreamUpdateCaptureDependencies_v2(driver_stream(s), after, NULL, n, flags)); }
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies_v2)(cudaStream_t s, cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, unsigned flags)
#else
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies)(cudaStream_t s, cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, unsigned flags)
#endif
{
	RETURN(cuStreamUpdateCaptureDependencies_v2(driver_stream(s), after, (CUgraphEdgeData *)edges, n, flags));
}

// Graphs.

cudaError_t PTSZ(cudaGraphInstantiateWithParams)(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *p) { RETURN(p == NULL ? invalidValue : cuGraphInstantiateWithParams(exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)p)); }
cudaError_t PTSZ(cudaEventRecord)(cudaEvent_t e, cudaStream_t s) { RETURN(cuEventRecord(e, driver_stream(s))); }
cudaError_t PTSZ(cudaEventRecordWithFlags)(cudaEvent_t e, cudaStream_t s, unsigned flags) { RETURN(cuEventRecordWithFlags(e, driver_stream(s), flags)); }
cudaError_t PTSZ(cudaGraphLaunch)(cudaGraphExec_t exec, cudaStream_t s) { RETURN(cuGraphLaunch(exec, driver_stream(s))); }
cudaError_t PTSZ(cudaGraphUpload)(cudaGraphExec_t exec, cudaStream_t s) { RETURN(cuGraphUpload(exec, driver_stream(s))); }

// Functions of the driver, by name.

static int get_entry_point(const char *name, void **to, unsigned version, unsigned long long flags, int *status)
{
	enum { perThread = 2 };
	if (name == NULL || to == NULL)
		return invalidValue;
#ifdef PER_THREAD
	if (flags == 0)
		flags = perThread;
#else
	(void)perThread;
#endif
	return cuGetProcAddress_v2(name, to, version, flags, status);
}

// get_entry_point_of_runtime requests the function's version of this library, or of the driver if the driver is older:
// the driver accepts no version newer than its own.
static int get_entry_point_of_runtime(const char *name, void **to, unsigned long long flags, int *status)
{
	int newest;
	int e = cuDriverGetVersion(&newest);
	return e != 0 ? e : get_entry_point(name, to, newest < VERSION ? newest : VERSION, flags, status);
}

cudaError_t PTSZ(cudaGetDriverEntryPoint)(const char *name, void **to, unsigned long long flags, int *status) { RETURN(get_entry_point_of_runtime(name, to, flags, status)); }
cudaError_t PTSZ(cudaGetDriverEntryPointByVersion)(const char *name, void **to, unsigned version, unsigned long long flags, int *status) { RETURN(get_entry_point(name, to, version, flags, status)); }
