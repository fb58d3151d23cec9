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

static CUstream on(cudaStream_t s)
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
		return kind < 0 || kind > copyDefault ? invalidDirection : idle();
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
		return kind < 0 || kind > copyDefault ? invalidDirection : idle();
	switch (kind) {
	case copyHostToDevice: return cuMemcpyHtoDAsync_v2(address(dst), (void *)src, n, on(s));
	case copyDeviceToHost: return cuMemcpyDtoHAsync_v2(dst, address(src), n, on(s));
	case copyDeviceToDevice: return cuMemcpyDtoDAsync_v2(address(dst), address(src), n, on(s));
	case copyHostToHost: case copyDefault: return cuMemcpyAsync(address(dst), address(src), n, on(s));
	}
	return invalidDirection;
}

cudaError_t PTDS(cudaMemcpy)(void *dst, const void *src, size_t n, int kind) { IN(copy(dst, src, n, kind)); }
cudaError_t PTSZ(cudaMemcpyAsync)(void *dst, const void *src, size_t n, int kind, cudaStream_t s) { IN(copy_async(dst, src, n, kind, s)); }

// Copies to and from symbols.

static int to_symbol(const void *symbol, size_t n, size_t offset, int kind, CUdeviceptr *at)
{
	return kind != copyHostToDevice && kind != copyDeviceToDevice && kind != copyDefault ? invalidDirection : part_of(symbol, offset, n, at);
}

static int from_symbol(const void *symbol, size_t n, size_t offset, int kind, CUdeviceptr *at)
{
	return kind != copyDeviceToHost && kind != copyDeviceToDevice && kind != copyDefault ? invalidDirection : part_of(symbol, offset, n, at);
}

cudaError_t PTDS(cudaMemcpyToSymbol)(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
	CUdeviceptr at;
	ENTER();
	int r = to_symbol(symbol, n, offset, kind, &at);
	return DONE(r != 0 ? r : copy(pointer(at), src, n, kind));
}

cudaError_t PTDS(cudaMemcpyFromSymbol)(void *dst, const void *symbol, size_t n, size_t offset, int kind)
{
	CUdeviceptr at;
	ENTER();
	int r = from_symbol(symbol, n, offset, kind, &at);
	return DONE(r != 0 ? r : copy(dst, pointer(at), n, kind));
}

cudaError_t PTSZ(cudaMemcpyToSymbolAsync)(const void *symbol, const void *src, size_t n, size_t offset, int kind, cudaStream_t s)
{
	CUdeviceptr at;
	ENTER();
	int r = to_symbol(symbol, n, offset, kind, &at);
	return DONE(r != 0 ? r : copy_async(pointer(at), src, n, kind, s));
}

cudaError_t PTSZ(cudaMemcpyFromSymbolAsync)(void *dst, const void *symbol, size_t n, size_t offset, int kind, cudaStream_t s)
{
	CUdeviceptr at;
	ENTER();
	int r = from_symbol(symbol, n, offset, kind, &at);
	return DONE(r != 0 ? r : copy_async(dst, pointer(at), n, kind, s));
}

// Copies of rows.

static int copy_rows(const struct cudaMemcpy3DParms *p, int async, cudaStream_t s)
{
	CUDA_MEMCPY3D c;
	int r = copy_3d(p, &c);
	if (r != 0)
		return r;
	if (c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0)
		return idle();
	return async ? cuMemcpy3DAsync_v2(&c, on(s)) : PTDS(cuMemcpy3D_v2)(&c);
}

cudaError_t PTDS(cudaMemcpy3D)(const struct cudaMemcpy3DParms *p) { IN(copy_rows(p, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy3DAsync)(const struct cudaMemcpy3DParms *p, cudaStream_t s) { IN(copy_rows(p, 1, s)); }

static int copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	struct cudaMemcpy3DParms p = {.srcPtr = {(void *)src, spitch, width, height}, .dstPtr = {dst, dpitch, width, height}, .extent = {width, height, 1}, .kind = kind};
	if (width > dpitch || width > spitch)
		return invalidPitch;
	return copy_rows(&p, async, s);
}

cudaError_t PTDS(cudaMemcpy2D)(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind) { IN(copy_2d(dst, dpitch, src, spitch, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DAsync)(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, cudaStream_t s) { IN(copy_2d(dst, dpitch, src, spitch, width, height, kind, 1, s)); }

static int copy_peers(const struct cudaMemcpy3DPeerParms *p, int async, cudaStream_t s)
{
	struct cudaMemcpy3DParms c;
	int r = peers(p, &c);
	return r != 0 ? r : copy_rows(&c, async, s);
}

cudaError_t PTDS(cudaMemcpy3DPeer)(const struct cudaMemcpy3DPeerParms *p) { IN(copy_peers(p, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy3DPeerAsync)(const struct cudaMemcpy3DPeerParms *p, cudaStream_t s) { IN(copy_peers(p, 1, s)); }

// For arrays, these functions have offsets and widths in bytes: copies of whole elements.

static int element_of(cudaArray_t array, size_t x, size_t width, size_t *size)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r != 0)
		return r;
	*size = texel_size(d.Format, d.NumChannels);
	return *size == 0 || x % *size != 0 || width % *size != 0 ? invalidValue : 0;
}

static int to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	size_t size;
	int r = element_of(dst, x, width, &size);
	if (r != 0)
		return r;
	if (width > spitch)
		return invalidPitch;
	struct cudaMemcpy3DParms p = {.srcPtr = {(void *)src, spitch, width, height}, .dstArray = dst, .dstPos = {x / size, y, 0}, .extent = {width / size, height, 1}, .kind = kind};
	return copy_rows(&p, async, s);
}

static int from_array(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind, int async, cudaStream_t s)
{
	size_t size;
	int r = element_of(src, x, width, &size);
	if (r != 0)
		return r;
	if (width > dpitch)
		return invalidPitch;
	struct cudaMemcpy3DParms p = {.dstPtr = {dst, dpitch, width, height}, .srcArray = src, .srcPos = {x / size, y, 0}, .extent = {width / size, height, 1}, .kind = kind};
	return copy_rows(&p, async, s);
}

cudaError_t PTDS(cudaMemcpy2DToArray)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind) { IN(to_array(dst, x, y, src, spitch, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DToArrayAsync)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width, size_t height, int kind, cudaStream_t s) { IN(to_array(dst, x, y, src, spitch, width, height, kind, 1, s)); }
cudaError_t PTDS(cudaMemcpy2DFromArray)(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind) { IN(from_array(dst, dpitch, src, x, y, width, height, kind, 0, 0)); }
cudaError_t PTSZ(cudaMemcpy2DFromArrayAsync)(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y, size_t width, size_t height, int kind, cudaStream_t s) { IN(from_array(dst, dpitch, src, x, y, width, height, kind, 1, s)); }

static int between_arrays(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t width, size_t height, int kind)
{
	size_t target, source;
	int r = element_of(dst, dx, width, &target);
	if (r == 0)
		r = element_of(src, sx, width, &source);
	if (r != 0)
		return r;
	struct cudaMemcpy3DParms p = {.srcArray = src, .srcPos = {sx / source, sy, 0}, .dstArray = dst, .dstPos = {dx / target, dy, 0}, .extent = {width / source, height, 1}, .kind = kind};
	return copy_rows(&p, 0, 0);
}

cudaError_t PTDS(cudaMemcpy2DArrayToArray)(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t width, size_t height, int kind) { IN(between_arrays(dst, dx, dy, src, sx, sy, width, height, kind)); }

// Copies of n bytes that continue from row to row of an array. Each consists of rectangles: the rest of a row, whole
// rows, and a part of a row.

// run is the position of such a copy in an array whose rows have a number of bytes.
struct run {
	size_t row, x, y;
};

// begin checks that n bytes from a position on lie in an array.
static int begin(cudaArray_t array, size_t x, size_t y, size_t n, struct run *at)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	int r = cuArray3DGetDescriptor_v2(&d, array);
	if (r != 0)
		return r;
	*at = (struct run){d.Width * texel_size(d.Format, d.NumChannels), x, y};
	size_t rows = d.Height != 0 ? d.Height : 1;
	return d.Depth != 0 || x >= at->row || y >= rows || n > (rows - y) * at->row - x ? invalidValue : 0;
}

// rectangle returns the size of the next rectangle of a copy with n bytes left.
static void rectangle(const struct run *at, size_t n, size_t *width, size_t *height)
{
	*width = at->row - at->x < n ? at->row - at->x : n;
	*height = *width == at->row ? n / at->row : 1;
}

static void advance(struct run *at, size_t width, size_t height)
{
	at->x += width;
	at->y += height - (at->x < at->row);
	at->x %= at->row;
}

static int along_array(cudaArray_t array, size_t x, size_t y, char *plain, size_t n, int kind, int to, int async, cudaStream_t s)
{
	struct run at;
	size_t width, height;
	int r = begin(array, x, y, n, &at);
	for (; r == 0 && n > 0; n -= width * height, plain += width * height) {
		rectangle(&at, n, &width, &height);
		r = to ? to_array(array, at.x, at.y, plain, width, width, height, kind, async, s)
		       : from_array(plain, width, array, at.x, at.y, width, height, kind, async, s);
		advance(&at, width, height);
	}
	return r;
}

cudaError_t PTDS(cudaMemcpyToArray)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, int kind) { IN(along_array(dst, x, y, (char *)src, n, kind, 1, 0, 0)); }
cudaError_t PTSZ(cudaMemcpyToArrayAsync)(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, int kind, cudaStream_t s) { IN(along_array(dst, x, y, (char *)src, n, kind, 1, 1, s)); }
cudaError_t PTDS(cudaMemcpyFromArray)(void *dst, cudaArray_t src, size_t x, size_t y, size_t n, int kind) { IN(along_array(src, x, y, dst, n, kind, 0, 0, 0)); }
cudaError_t PTSZ(cudaMemcpyFromArrayAsync)(void *dst, cudaArray_t src, size_t x, size_t y, size_t n, int kind, cudaStream_t s) { IN(along_array(src, x, y, dst, n, kind, 0, 1, s)); }

static int along_arrays(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t n, int kind)
{
	struct run to, from;
	size_t width, other, height;
	int r = begin(dst, dx, dy, n, &to);
	if (r == 0)
		r = begin(src, sx, sy, n, &from);
	for (; r == 0 && n > 0; n -= width) {
		rectangle(&to, n, &width, &height);
		rectangle(&from, n, &other, &height);
		width = width < other ? width : other;
		r = between_arrays(dst, to.x, to.y, src, from.x, from.y, width, 1, kind);
		advance(&to, width, 1);
		advance(&from, width, 1);
	}
	return r;
}

cudaError_t PTDS(cudaMemcpyArrayToArray)(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src, size_t sx, size_t sy, size_t n, int kind) { IN(along_arrays(dst, dx, dy, src, sx, sy, n, kind)); }

// Fills.

cudaError_t PTDS(cudaMemset)(void *p, int value, size_t n) { IN(n == 0 ? idle() : PTDS(cuMemsetD8_v2)(address(p), value, n)); }
cudaError_t PTSZ(cudaMemsetAsync)(void *p, int value, size_t n, cudaStream_t s) { IN(n == 0 ? idle() : cuMemsetD8Async(address(p), value, n, on(s))); }
cudaError_t PTDS(cudaMemset2D)(void *p, size_t pitch, int value, size_t width, size_t height)
{
	IN(width == 0 || height == 0 ? idle() : PTDS(cuMemsetD2D8_v2)(address(p), pitch, value, width, height));
}
cudaError_t PTSZ(cudaMemset2DAsync)(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s)
{
	IN(width == 0 || height == 0 ? idle() : cuMemsetD2D8Async(address(p), pitch, value, width, height, on(s)));
}

static int fill_3d(struct cudaPitchedPtr p, int value, struct cudaExtent e, int async, cudaStream_t s)
{
	int r = idle();
	for (size_t z = 0; r == 0 && e.width != 0 && e.height != 0 && z < e.depth; z++) {
		CUdeviceptr at = address(p.ptr) + z * p.pitch * p.ysize;
		r = async ? cuMemsetD2D8Async(at, p.pitch, value, e.width, e.height, on(s)) : PTDS(cuMemsetD2D8_v2)(at, p.pitch, value, e.width, e.height);
	}
	return r;
}

cudaError_t PTDS(cudaMemset3D)(struct cudaPitchedPtr p, int value, struct cudaExtent e) { IN(fill_3d(p, value, e, 0, 0)); }
cudaError_t PTSZ(cudaMemset3DAsync)(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t s) { IN(fill_3d(p, value, e, 1, s)); }

// Batches of copies. In version 12 they return the index of the failed copy.

#if MAJOR == 12
cudaError_t PTSZ(cudaMemcpyBatchAsync)(void **dsts, void **srcs, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices, size_t n, size_t *failed, cudaStream_t s)
{
	IN(cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count, (CUmemcpyAttributes *)attributes, indices, n, failed, on(s)));
}
#else
cudaError_t PTSZ(cudaMemcpyBatchAsync)(const void **dsts, const void **srcs, const size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices, size_t n, cudaStream_t s)
{
	IN(cuMemcpyBatchAsync_v2((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, (size_t *)sizes, count, (CUmemcpyAttributes *)attributes, indices, n, on(s)));
}
cudaError_t PTSZ(cudaMemcpyWithAttributesAsync)(void *dst, const void *src, size_t size, struct cudaMemcpyAttributes *attributes, cudaStream_t s)
{
	size_t first = 0;
	CUdeviceptr to = address(dst), from = address(src);
	IN(cuMemcpyBatchAsync_v2(&to, &from, &size, 1, (CUmemcpyAttributes *)attributes, &first, 1, on(s)));
}
#endif

// Stream-ordered and managed memory.

cudaError_t PTSZ(cudaMallocAsync)(void **p, size_t n, cudaStream_t s) { IN(cuMemAllocAsync((CUdeviceptr *)p, n, on(s))); }
cudaError_t PTSZ(cudaMallocFromPoolAsync)(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) { IN(cuMemAllocFromPoolAsync((CUdeviceptr *)p, n, pool, on(s))); }
cudaError_t PTSZ(cudaFreeAsync)(void *p, cudaStream_t s) { IN(p == NULL ? idle() : cuMemFreeAsync(address(p), on(s))); }
cudaError_t PTSZ(cudaStreamAttachMemAsync)(cudaStream_t s, void *p, size_t n, unsigned flags) { IN(cuStreamAttachMemAsync(on(s), address(p), n, flags)); }
#if MAJOR == 12
cudaError_t PTSZ(cudaMemPrefetchAsync)(const void *p, size_t n, int device, cudaStream_t s) { IN(cuMemPrefetchAsync(address(p), n, device, on(s))); }
cudaError_t PTSZ(cudaMemPrefetchAsync_v2)(const void *p, size_t n, struct cudaMemLocation where, unsigned flags, cudaStream_t s)
#else
cudaError_t PTSZ(cudaMemPrefetchAsync)(const void *p, size_t n, struct cudaMemLocation where, unsigned flags, cudaStream_t s)
#endif
{
	IN(cuMemPrefetchAsync_v2(address(p), n, (CUmemLocation){where.type, where.id}, flags, on(s)));
}

// Launches.

static int launch(CUkernel k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s, int cooperative)
{
	if (cooperative)
		return cuLaunchCooperativeKernel(k, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, on(s), args);
	return cuLaunchKernel(k, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, on(s), args, NULL);
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

cudaError_t PTSZ(cudaLaunchKernel)(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { IN(launch_function(f, grid, block, args, shared, s, 0)); }
cudaError_t PTSZ(cudaLaunchCooperativeKernel)(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { IN(launch_function(f, grid, block, args, shared, s, 1)); }

// __cudaLaunchKernel receives the result of __cudaGetKernel.
cudaError_t PTSZ(__cudaLaunchKernel)(cudaKernel_t k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) { IN(launch_function(pointer(k), grid, block, args, shared, s, 0)); }

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
		return DONE(refuse_launch(f, r));
	config.hStream = on(c->stream);
	return DONE(cuLaunchKernelEx(&config, k, args, NULL));
}

// Streams and events.

cudaError_t PTSZ(cudaLaunchHostFunc)(cudaStream_t s, void (*f)(void *), void *user) { IN(cuLaunchHostFunc(on(s), f, user)); }
cudaError_t PTSZ(cudaStreamAddCallback)(cudaStream_t s, void (*f)(cudaStream_t, cudaError_t, void *), void *user, unsigned flags) { IN(cuStreamAddCallback(on(s), f, user, flags)); }
cudaError_t PTSZ(cudaStreamSynchronize)(cudaStream_t s) { IN(cuStreamSynchronize(on(s))); }
cudaError_t PTSZ(cudaStreamQuery)(cudaStream_t s) { IN(cuStreamQuery(on(s))); }
cudaError_t PTSZ(cudaStreamWaitEvent)(cudaStream_t s, cudaEvent_t e, unsigned flags) { IN(cuStreamWaitEvent(on(s), e, flags)); }
cudaError_t PTSZ(cudaStreamGetFlags)(cudaStream_t s, unsigned *flags) { IN(cuStreamGetFlags(on(s), flags)); }
cudaError_t PTSZ(cudaStreamGetPriority)(cudaStream_t s, int *priority) { IN(cuStreamGetPriority(on(s), priority)); }
cudaError_t PTSZ(cudaStreamGetId)(cudaStream_t s, uint64_t *id) { IN(cuStreamGetId(on(s), id)); }
cudaError_t PTSZ(cudaStreamGetDevice)(cudaStream_t s, int *device) { IN(cuStreamGetDevice(on(s), device)); }
cudaError_t PTSZ(cudaStreamSetAttribute)(cudaStream_t s, int attribute, const void *value) { IN(cuStreamSetAttribute(on(s), attribute, (void *)value)); }
cudaError_t PTSZ(cudaStreamGetAttribute)(cudaStream_t s, int attribute, void *value) { IN(cuStreamGetAttribute(on(s), attribute, value)); }
cudaError_t PTSZ(cudaStreamCopyAttributes)(cudaStream_t to, cudaStream_t from) { IN(cuStreamCopyAttributes(on(to), on(from))); }

#if MAJOR >= 13
cudaError_t PTSZ(cudaLaunchHostFunc_v2)(cudaStream_t s, void (*f)(void *), void *user, unsigned wait) { IN(wait > 1 ? invalidValue : cuLaunchHostFunc(on(s), f, user)); }
#endif

// Stream capture.

cudaError_t PTSZ(cudaStreamIsCapturing)(cudaStream_t s, int *status) { IN(cuStreamIsCapturing(on(s), status)); }
cudaError_t PTSZ(cudaStreamBeginCapture)(cudaStream_t s, int mode) { IN(cuStreamBeginCapture_v2(on(s), mode)); }
cudaError_t PTSZ(cudaStreamBeginCaptureToGraph)(cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, int mode)
{
	IN(cuStreamBeginCaptureToGraph(on(s), graph, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, mode));
}
cudaError_t PTSZ(cudaStreamEndCapture)(cudaStream_t s, cudaGraph_t *graph) { IN(cuStreamEndCapture(on(s), graph)); }

#if MAJOR == 12
cudaError_t PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t s, int *status, uint64_t *id) { IN(cuStreamGetCaptureInfo_v3(on(s), status, id, NULL, NULL, NULL, NULL)); }
cudaError_t PTSZ(cudaStreamGetCaptureInfo_v2)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, size_t *n)
{
	IN(cuStreamGetCaptureInfo_v3(on(s), status, id, graph, after, NULL, n));
}
cudaError_t PTSZ(cudaStreamGetCaptureInfo_v3)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, cudaGraphEdgeData **edges, size_t *n)
#else
cudaError_t PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t s, int *status, uint64_t *id, cudaGraph_t *graph, cudaGraphNode_t **after, cudaGraphEdgeData **edges, size_t *n)
#endif
{
	IN(cuStreamGetCaptureInfo_v3(on(s), status, id, graph, after, (CUgraphEdgeData **)edges, n));
}

#if MAJOR == 12
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies)(cudaStream_t s, cudaGraphNode_t *after, size_t n, unsigned flags) { IN(cuStreamUpdateCaptureDependencies_v2(on(s), after, NULL, n, flags)); }
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies_v2)(cudaStream_t s, cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, unsigned flags)
#else
cudaError_t PTSZ(cudaStreamUpdateCaptureDependencies)(cudaStream_t s, cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, unsigned flags)
#endif
{
	IN(cuStreamUpdateCaptureDependencies_v2(on(s), after, (CUgraphEdgeData *)edges, n, flags));
}

// Graphs.

cudaError_t PTSZ(cudaGraphInstantiateWithParams)(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *p) { IN(p == NULL ? invalidValue : cuGraphInstantiateWithParams(exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)p)); }
cudaError_t PTSZ(cudaEventRecord)(cudaEvent_t e, cudaStream_t s) { IN(cuEventRecord(e, on(s))); }
cudaError_t PTSZ(cudaEventRecordWithFlags)(cudaEvent_t e, cudaStream_t s, unsigned flags) { IN(cuEventRecordWithFlags(e, on(s), flags)); }
cudaError_t PTSZ(cudaGraphLaunch)(cudaGraphExec_t exec, cudaStream_t s) { IN(cuGraphLaunch(exec, on(s))); }
cudaError_t PTSZ(cudaGraphUpload)(cudaGraphExec_t exec, cudaStream_t s) { IN(cuGraphUpload(exec, on(s))); }

// Functions of the driver, by name.

static int entry_point(const char *name, void **to, unsigned version, unsigned long long flags, int *status)
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

// The driver may be older than this library. It knows no version newer than its own.
static int entry_point_of_runtime(const char *name, void **to, unsigned long long flags, int *status)
{
	int newest;
	int e = cuDriverGetVersion(&newest);
	return e != 0 ? e : entry_point(name, to, newest < VERSION ? newest : VERSION, flags, status);
}

cudaError_t PTSZ(cudaGetDriverEntryPoint)(const char *name, void **to, unsigned long long flags, int *status) { IN(entry_point_of_runtime(name, to, flags, status)); }
cudaError_t PTSZ(cudaGetDriverEntryPointByVersion)(const char *name, void **to, unsigned version, unsigned long long flags, int *status) { IN(entry_point(name, to, version, flags, status)); }
