// Functions that call a function in Go with other parameters: variants for the thread's own default stream (suffix _ptsz,
// or _ptds without a stream parameter), functions whose version 2 has the same interface as version 1, and launches from
// before cuLaunchKernel. Functions that need C: cuGetProcAddress, cuGetExportTable, and the names of results, which a
// child of fork may request.

#define _GNU_SOURCE // for dladdr
#include <dlfcn.h>
#include <string.h>

#include "_cgo_export.h"
#include "symbols.h"

static const CUstream per_thread = 2;

// thread_stream returns s, or the thread's own default stream if s is the default stream.
static CUstream thread_stream(CUstream s) { return s != 0 ? s : per_thread; }

// synchronize_after waits for work that was submitted to the thread's own default stream. submission is the result of
// the submission.
static CUresult synchronize_after(CUresult submission)
{
	return submission != 0 ? submission : cuStreamSynchronize(per_thread);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n) { return synchronize_after(cuMemcpyAsync(dst, src, n, per_thread)); }
CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyAsync(dst, src, n, thread_stream(s)); }
CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n) { return synchronize_after(cuMemcpyPeerAsync(dst, to, src, from, n, per_thread)); }
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attributes, size_t *indices, size_t n, size_t *failed, CUstream s) { return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, indices, n, failed, thread_stream(s)); }
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attributes, size_t *indices, size_t n, CUstream s) { return cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attributes, indices, n, thread_stream(s)); }
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s) { return cuMemcpyPeerAsync(dst, to, src, from, n, thread_stream(s)); }
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t n) { return synchronize_after(cuMemcpyHtoDAsync_v2(dst, (void *)src, n, per_thread)); }
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t n, CUstream s) { return cuMemcpyHtoDAsync_v2(dst, (void *)src, n, thread_stream(s)); }
CUresult cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t n) { return synchronize_after(cuMemcpyDtoHAsync_v2(dst, src, n, per_thread)); }
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyDtoHAsync_v2(dst, src, n, thread_stream(s)); }
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n) { return synchronize_after(cuMemcpyDtoDAsync_v2(dst, src, n, per_thread)); }
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyDtoDAsync_v2(dst, src, n, thread_stream(s)); }
CUresult cuMemcpy2D_v2_ptds(CUDA_MEMCPY2D *c) { return synchronize_after(cuMemcpy2DAsync_v2(c, per_thread)); }
CUresult cuMemcpy2DUnaligned_v2_ptds(CUDA_MEMCPY2D *c) { return synchronize_after(cuMemcpy2DAsync_v2(c, per_thread)); }
CUresult cuMemcpy2DAsync_v2_ptsz(CUDA_MEMCPY2D *c, CUstream s) { return cuMemcpy2DAsync_v2(c, thread_stream(s)); }
CUresult cuMemcpy3D_v2_ptds(CUDA_MEMCPY3D *c) { return synchronize_after(cuMemcpy3DAsync_v2(c, per_thread)); }
CUresult cuMemcpy3DAsync_v2_ptsz(CUDA_MEMCPY3D *c, CUstream s) { return cuMemcpy3DAsync_v2(c, thread_stream(s)); }
CUresult cuMemcpy3DPeer_ptds(CUDA_MEMCPY3D *c) { return synchronize_after(cuMemcpy3DPeerAsync(c, per_thread)); }
CUresult cuMemcpy3DPeerAsync_ptsz(CUDA_MEMCPY3D *c, CUstream s) { return cuMemcpy3DPeerAsync(c, thread_stream(s)); }

CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t at, const void *src, size_t n) { return synchronize_after(cuMemcpyHtoAAsync_v2(dst, at, (void *)src, n, per_thread)); }
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t at, const void *src, size_t n, CUstream s) { return cuMemcpyHtoAAsync_v2(dst, at, (void *)src, n, thread_stream(s)); }
CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t at, size_t n) { return synchronize_after(cuMemcpyAtoHAsync_v2(dst, src, at, n, per_thread)); }
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t at, size_t n, CUstream s) { return cuMemcpyAtoHAsync_v2(dst, src, at, n, thread_stream(s)); }

// These copies have no asynchronous variant: they run on the legacy stream, which waits for the thread's own default
// stream.
CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t at, CUdeviceptr src, size_t n) { return cuMemcpyDtoA_v2(dst, at, src, n); }
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t at, size_t n) { return cuMemcpyAtoD_v2(dst, src, at, n); }
CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t to, CUarray src, size_t from, size_t n) { return cuMemcpyAtoA_v2(dst, to, src, from, n); }

CUresult cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char v, size_t n, CUstream s) { return cuMemsetD8Async(dst, v, n, thread_stream(s)); }
CUresult cuMemsetD16Async_ptsz(CUdeviceptr dst, unsigned short v, size_t n, CUstream s) { return cuMemsetD16Async(dst, v, n, thread_stream(s)); }
CUresult cuMemsetD32Async_ptsz(CUdeviceptr dst, unsigned v, size_t n, CUstream s) { return cuMemsetD32Async(dst, v, n, thread_stream(s)); }
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h, CUstream s) { return cuMemsetD2D8Async(dst, pitch, v, w, h, thread_stream(s)); }
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s) { return cuMemsetD2D16Async(dst, pitch, v, w, h, thread_stream(s)); }
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned v, size_t w, size_t h, CUstream s) { return cuMemsetD2D32Async(dst, pitch, v, w, h, thread_stream(s)); }
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr p, size_t n, CUdevice dev, CUstream s) { return cuMemPrefetchAsync(p, n, dev, thread_stream(s)); }

// device_of_location returns the device number of a location: -1 for the host and its nodes, -2 for an invalid location.
static CUdevice device_of_location(CUmemLocation location)
{
	switch (location.type) {
	case 1: return location.id >= 0 ? location.id : -2;
	case 2: case 3: case 4: return -1;
	}
	return -2;
}

CUresult cuMemAdvise_v2(CUdeviceptr p, size_t n, int advice, CUmemLocation location) { return cuMemAdvise(p, n, advice, device_of_location(location)); }
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, CUmemLocation location, unsigned flags, CUstream s)
{
	return flags != 0 ? 1 : cuMemPrefetchAsync(p, n, device_of_location(location), s);
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr p, size_t n, CUmemLocation location, unsigned flags, CUstream s)
{
	return cuMemPrefetchAsync_v2(p, n, location, flags, thread_stream(s));
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, thread_stream(s), params, extra);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params)
{
	return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, thread_stream(s), params);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	if (config == NULL)
		return cuLaunchKernelEx(NULL, f, params, extra);
	CUlaunchConfig c = *config;
	c.hStream = thread_stream(c.hStream);
	return cuLaunchKernelEx(&c, f, params, extra);
}

CUresult cuLaunchHostFunc_ptsz(CUstream s, CUhostFn f, void *user) { return cuLaunchHostFunc(thread_stream(s), f, user); }

// mode says how the driver's thread waits for the function (CU_HOST_TASK_BLOCKING, CU_HOST_TASK_SPINWAIT). It has no
// effect here.
CUresult cuLaunchHostFunc_v2(CUstream s, CUhostFn f, void *user, unsigned mode)
{
	enum { invalid_value = 1, spin = 1 };
	return mode > spin ? invalid_value : cuLaunchHostFunc(s, f, user);
}
CUresult cuLaunchHostFunc_v2_ptsz(CUstream s, CUhostFn f, void *user, unsigned mode) { return cuLaunchHostFunc_v2(thread_stream(s), f, user, mode); }

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUmemcpyAttributes *a, CUstream s) { return cuMemcpyWithAttributesAsync(dst, src, n, a, thread_stream(s)); }
CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream s) { return cuMemcpy3DWithAttributesAsync(op, flags, thread_stream(s)); }
CUresult cuMemcpy3DBatchAsync_ptsz(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed, unsigned long long flags, CUstream s) { return cuMemcpy3DBatchAsync(n, ops, failed, flags, thread_stream(s)); }
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, CUstream s) { return cuMemcpy3DBatchAsync_v2(n, ops, flags, thread_stream(s)); }
CUresult cuStreamGetDevResource_ptsz(CUstream s, CUdevResource *r, int type) { return cuStreamGetDevResource(thread_stream(s), r, type); }

// for_each_range calls f for every range of a batch. Location k applies to the ranges from indices[k] up to, not
// including, indices[k + 1]. locations may be NULL: then f gets a location of type 0.
static CUresult for_each_range(CUresult f(CUdeviceptr, size_t, CUmemLocation, CUstream), CUdeviceptr *ranges, size_t *sizes, size_t count, CUmemLocation *locations, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1, max_ranges = 1 << 20 };
	if (ranges == NULL || sizes == NULL || count == 0 || count > max_ranges || flags != 0 || s == 0 || s == 1)
		return invalid_value;
	if (locations != NULL && (indices == NULL || n == 0 || n > count || indices[0] != 0))
		return invalid_value;
	for (size_t k = 1; locations != NULL && k < n; k++)
		if (indices[k] <= indices[k - 1] || indices[k] >= count)
			return invalid_value;
	size_t k = 0;
	for (size_t i = 0; i < count; i++) {
		if (locations != NULL && k + 1 < n && indices[k + 1] == i)
			k++;
		CUresult r = f(ranges[i], sizes[i], locations != NULL ? locations[k] : (CUmemLocation){0, 0}, s);
		if (r != 0)
			return r;
	}
	return 0;
}

static CUresult prefetch(CUdeviceptr p, size_t n, CUmemLocation location, CUstream s) { return cuMemPrefetchAsync_v2(p, n, location, 0, s); }

// Discarded memory may have any content, so it is left unchanged; only the range is checked.
static CUresult discard(CUdeviceptr p, size_t n, CUmemLocation location, CUstream s)
{
	(void)location;
	return cuStreamAttachMemAsync(s, p, n, 1);
}

static CUresult discard_and_prefetch(CUdeviceptr p, size_t n, CUmemLocation location, CUstream s)
{
	CUresult r = discard(p, n, location, s);
	return r != 0 ? r : prefetch(p, n, location, s);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *locations, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1 };
	return locations == NULL ? invalid_value : for_each_range(prefetch, p, sizes, count, locations, indices, n, flags, s);
}
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *locations, size_t *indices, size_t n, unsigned long long flags, CUstream s) { return cuMemPrefetchBatchAsync(p, sizes, count, locations, indices, n, flags, thread_stream(s)); }
CUresult cuMemDiscardBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, unsigned long long flags, CUstream s) { return for_each_range(discard, p, sizes, count, NULL, NULL, 0, flags, s); }
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, unsigned long long flags, CUstream s) { return cuMemDiscardBatchAsync(p, sizes, count, flags, thread_stream(s)); }
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *locations, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1 };
	return locations == NULL ? invalid_value : for_each_range(discard_and_prefetch, p, sizes, count, locations, indices, n, flags, s);
}
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *locations, size_t *indices, size_t n, unsigned long long flags, CUstream s) { return cuMemDiscardAndPrefetchBatchAsync(p, sizes, count, locations, indices, n, flags, thread_stream(s)); }

// Both versions have the same structure: the new members of version 3 (or 2) are in space that was reserved before.
CUresult cuGraphAddNode_v3(CUgraphNode *node, CUgraph g, const CUgraphNode *after, const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p) { return cuGraphAddNode_v2(node, g, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, p); }
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams *p) { return cuGraphNodeSetParams(node, p); }

// cuGraphNodeGetParams calls the function that reads the parameters of the node's kind. Conditional nodes have no such
// function.
CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *p)
{
	enum { invalid_value = 1, not_supported = 801 };
	enum { kernel, copy, fill, host, child, empty, wait_event, record_event, alloc = 10, release }; // CUgraphNodeType
	CUgraphNodeParams all;
	if (p == NULL)
		return invalid_value;
	memset(&all, 0, sizeof all);
	CUresult r = cuGraphNodeGetType(node, &all.type);
	if (r != 0)
		return r;
	switch (all.type) {
	case kernel: r = cuGraphKernelNodeGetParams_v2(node, &all.params.kernel); break;
	case copy: r = cuGraphMemcpyNodeGetParams(node, &all.params.memcpy.copyParams); break;
	case fill: r = cuGraphMemsetNodeGetParams(node, &all.params.memset); break;
	case host: r = cuGraphHostNodeGetParams(node, &all.params.host); break;
	case child: r = cuGraphChildGraphNodeGetGraph(node, &all.params.graph); break;
	case empty: break;
	case wait_event: r = cuGraphEventWaitNodeGetEvent(node, &all.params.event); break;
	case record_event: r = cuGraphEventRecordNodeGetEvent(node, &all.params.event); break;
	case alloc: r = cuGraphMemAllocNodeGetParams(node, &all.params.alloc); break;
	case release: r = cuGraphMemFreeNodeGetParams(node, &all.params.dptr); break;
	default: r = not_supported;
	}
	if (r == 0)
		*p = all;
	return r;
}

CUresult cuStreamQuery_ptsz(CUstream s) { return cuStreamQuery(thread_stream(s)); }
CUresult cuStreamSynchronize_ptsz(CUstream s) { return cuStreamSynchronize(thread_stream(s)); }
CUresult cuStreamWaitEvent_ptsz(CUstream s, CUevent e, unsigned flags) { return cuStreamWaitEvent(thread_stream(s), e, flags); }
CUresult cuStreamGetFlags_ptsz(CUstream s, unsigned *flags) { return cuStreamGetFlags(thread_stream(s), flags); }
CUresult cuStreamGetPriority_ptsz(CUstream s, int *priority) { return cuStreamGetPriority(thread_stream(s), priority); }
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t n, CUstream s) { return cuMemAllocAsync(p, n, thread_stream(s)); }
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *p, size_t n, CUmemoryPool pool, CUstream s) { return cuMemAllocFromPoolAsync(p, n, pool, thread_stream(s)); }
CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream s) { return cuMemFreeAsync(p, thread_stream(s)); }

// A stream belongs to a context or to a green context.
CUresult cuStreamGetCtx_v2(CUstream s, CUcontext *ctx, CUgreenCtx *green)
{
	CUgreenCtx owner = 0;
	CUresult r = cuStreamGetGreenCtx(s, &owner);
	if (r == 0)
		r = cuStreamGetCtx(s, ctx);
	if (r == 0 && owner != 0)
		*ctx = 0;
	if (r == 0 && green != NULL)
		*green = owner;
	return r;
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream s, CUcontext *ctx, CUgreenCtx *green) { return cuStreamGetCtx_v2(thread_stream(s), ctx, green); }

// The versions differ only in the GPUs that support them.
CUresult cuStreamWaitValue32(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(s, p, v, flags); }
CUresult cuStreamWaitValue32_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWaitValue32_v2_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWaitValue64(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(s, p, v, flags); }
CUresult cuStreamWaitValue64_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWaitValue64_v2_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWriteValue32(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(s, p, v, flags); }
CUresult cuStreamWriteValue32_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWriteValue32_v2_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWriteValue64(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(s, p, v, flags); }
CUresult cuStreamWriteValue64_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamWriteValue64_v2_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(thread_stream(s), p, v, flags); }
CUresult cuStreamBatchMemOp(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(s, n, ops, flags); }
CUresult cuStreamBatchMemOp_ptsz(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(thread_stream(s), n, ops, flags); }
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(thread_stream(s), n, ops, flags); }

CUresult cuStreamGetCtx_ptsz(CUstream s, CUcontext *ctx) { return cuStreamGetCtx(thread_stream(s), ctx); }
CUresult cuStreamGetDevice_ptsz(CUstream s, CUdevice *dev) { return cuStreamGetDevice(thread_stream(s), dev); }
CUresult cuStreamGetId_ptsz(CUstream s, uint64_t *id) { return cuStreamGetId(thread_stream(s), id); }
CUresult cuStreamIsCapturing_ptsz(CUstream s, int *status) { return cuStreamIsCapturing(thread_stream(s), status); }
CUresult cuStreamAddCallback_ptsz(CUstream s, CUstreamCallback f, void *user, unsigned flags) { return cuStreamAddCallback(thread_stream(s), f, user, flags); }
CUresult cuStreamAttachMemAsync_ptsz(CUstream s, CUdeviceptr p, size_t n, unsigned flags) { return cuStreamAttachMemAsync(thread_stream(s), p, n, flags); }
CUresult cuEventRecord_ptsz(CUevent e, CUstream s) { return cuEventRecord(e, thread_stream(s)); }
CUresult cuEventRecordWithFlags_ptsz(CUevent e, CUstream s, unsigned flags) { return cuEventRecordWithFlags(e, thread_stream(s), flags); }
CUresult cuGraphLaunch_ptsz(CUgraphExec x, CUstream s) { return cuGraphLaunch(x, thread_stream(s)); }
CUresult cuGraphUpload_ptsz(CUgraphExec x, CUstream s) { return cuGraphUpload(x, thread_stream(s)); }
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *x, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p) { return cuGraphInstantiateWithParams(x, g, p); }

CUresult cuStreamSetAttribute_ptsz(CUstream s, int id, const CUlaunchAttributeValue *v) { return cuStreamSetAttribute(thread_stream(s), id, (CUlaunchAttributeValue *)v); }
CUresult cuStreamGetAttribute_ptsz(CUstream s, int id, CUlaunchAttributeValue *v) { return cuStreamGetAttribute(thread_stream(s), id, v); }
CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from) { return cuStreamCopyAttributes(thread_stream(to), thread_stream(from)); }
CUresult cuStreamBeginCapture(CUstream s) { return cuStreamBeginCapture_v2(s, 0); }
CUresult cuStreamBeginCapture_ptsz(CUstream s) { return cuStreamBeginCapture(thread_stream(s)); }
CUresult cuStreamBeginCapture_v2_ptsz(CUstream s, int mode) { return cuStreamBeginCapture_v2(thread_stream(s), mode); }
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream s, CUgraph g, CUgraphNode *after, CUgraphEdgeData *edges, size_t n, int mode) { return cuStreamBeginCaptureToGraph(thread_stream(s), g, after, edges, n, mode); }
CUresult cuStreamEndCapture_ptsz(CUstream s, CUgraph *g) { return cuStreamEndCapture(thread_stream(s), g); }
CUresult cuStreamGetCaptureInfo(CUstream s, int *status, uint64_t *id) { return cuStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL); }
CUresult cuStreamGetCaptureInfo_ptsz(CUstream s, int *status, uint64_t *id) { return cuStreamGetCaptureInfo(thread_stream(s), status, id); }
CUresult cuStreamGetCaptureInfo_v2(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, size_t *n) { return cuStreamGetCaptureInfo_v3(s, status, id, g, after, NULL, n); }
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, size_t *n) { return cuStreamGetCaptureInfo_v2(thread_stream(s), status, id, g, after, n); }
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, CUgraphEdgeData **edges, size_t *n) { return cuStreamGetCaptureInfo_v3(thread_stream(s), status, id, g, after, edges, n); }
CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *after, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies_v2(s, after, NULL, n, flags); }
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream s, CUgraphNode *after, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies(thread_stream(s), after, n, flags); }
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream s, CUgraphNode *after, CUgraphEdgeData *edges, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies_v2(thread_stream(s), after, edges, n, flags); }

CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) { return cuGraphAddDependencies_v2(g, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n); }
CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n) { return cuGraphRemoveDependencies_v2(g, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n); }
CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) { return cuGraphGetEdges_v2(g, from, to, NULL, n); }
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *list, size_t *n) { return cuGraphNodeGetDependencies_v2(node, list, NULL, n); }
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *list, size_t *n) { return cuGraphNodeGetDependentNodes_v2(node, list, NULL, n); }

// Version 1 of the structure ends before the member kern.
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
	CUDA_KERNEL_NODE_PARAMS all;
	CUresult r = cuGraphKernelNodeGetParams_v2(node, p == NULL ? NULL : &all);
	if (r == 0)
		memcpy(p, &all, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
	return r;
}

CUresult cuGraphExecUpdate(CUgraphExec x, CUgraph g, CUgraphNode *node, int *result)
{
	CUgraphExecUpdateResultInfo info = {0};
	CUresult r = cuGraphExecUpdate_v2(x, g, &info);
	if (node != NULL)
		*node = info.errorNode;
	if (result != NULL)
		*result = info.result;
	return r;
}

// A capture mode forbids calls that would disturb a capture. They are harmless here and allowed in every mode, so the
// mode is only stored.
CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
	enum { invalid_value = 1, relaxed = 2 };
	static _Thread_local int current;
	if (mode == NULL || *mode < 0 || *mode > relaxed)
		return invalid_value;
	int previous = current;
	current = *mode;
	*mode = previous;
	return 0;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) { return cuDeviceGetUuid(uuid, dev); }
CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { return cuDevicePrimaryCtxRelease_v2(dev); }
CUresult cuDevicePrimaryCtxReset(CUdevice dev) { return cuDevicePrimaryCtxReset_v2(dev); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags) { return cuDevicePrimaryCtxSetFlags_v2(dev, flags); }
CUresult cuCtxDestroy(CUcontext ctx) { return cuCtxDestroy_v2(ctx); }
CUresult cuCtxPushCurrent(CUcontext ctx) { return cuCtxPushCurrent_v2(ctx); }
CUresult cuCtxPopCurrent(CUcontext *ctx) { return cuCtxPopCurrent_v2(ctx); }
CUresult cuStreamDestroy(CUstream s) { return cuStreamDestroy_v2(s); }
CUresult cuEventDestroy(CUevent e) { return cuEventDestroy_v2(e); }
CUresult cuIpcOpenMemHandle(CUdeviceptr *addr, CUipcMemHandle handle, unsigned flags) { return cuIpcOpenMemHandle_v2(addr, handle, flags); }
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) { return cuEventElapsedTime(ms, start, end); }
CUresult cuMemHostRegister(void *p, size_t n, unsigned flags) { return cuMemHostRegister_v2(p, n, flags); }
CUresult cuLinkCreate(unsigned n, int *options, void **values, CUlinkState *link) { return cuLinkCreate_v2(n, options, values, link); }
CUresult cuLinkAddData(CUlinkState link, int kind, void *data, size_t size, const char *name, unsigned n, int *options, void **values)
{
	return cuLinkAddData_v2(link, kind, data, size, (char *)name, n, options, values);
}
CUresult cuLinkAddFile(CUlinkState link, int kind, const char *file, unsigned n, int *options, void **values)
{
	return cuLinkAddFile_v2(link, kind, (char *)file, n, options, values);
}

CUresult cuParamSeti(CUfunction f, int offset, unsigned value) { return cuParamSetv(f, offset, &value, sizeof value); }
CUresult cuParamSetf(CUfunction f, int offset, float value) { return cuParamSetv(f, offset, &value, sizeof value); }
CUresult cuLaunch(CUfunction f) { return cuLaunchGridAsync(f, 1, 1, 0); }
CUresult cuLaunchGrid(CUfunction f, int width, int height) { return cuLaunchGridAsync(f, width, height, 0); }

// Results of cuGetProcAddress_v2 (CUdriverProcAddressQueryResult).
enum { found = 0, not_found = 1, version_not_sufficient = 2 };

// Flags of cuGetProcAddress: the default stream of the function. Without a flag it is the legacy stream.
enum { legacy_default_stream = 1, per_thread_default_stream = 2 };

// The version of CUDA that introduced cuGetProcAddress. NVIDIA's driver returns an older function for every requested
// version: published programs request cuFuncSetAttribute, which came with 9.0, with version 2000. A newer function
// needs its version (CUDA Programming Guide, "Driver Entry Point Access", on cuDeviceGetExecAffinitySupport).
enum { get_proc_address_version = 11030 };

// find_symbol returns the newest function with a name that the requested version of CUDA has. If thread is set, it
// prefers the variant for the thread's own default stream. If the requested version does not have the function, but
// cuGetProcAddress is newer than the function, the result is the oldest function with this name.
static const struct symbol *find_symbol(const char *name, int version, int thread, int *status)
{
	const struct symbol *best = NULL, *oldest = NULL;
	for (const struct symbol *s = gemu_symbols; s->request != NULL; s++) {
		if (strcmp(s->request, name) != 0)
			continue;
		if (!s->per_thread && (oldest == NULL || s->since < oldest->since))
			oldest = s;
		if (s->since > version || (s->per_thread && !thread))
			continue;
		if (best == NULL || s->per_thread > best->per_thread || (s->per_thread == best->per_thread && s->since >= best->since))
			best = s;
	}
	if (best == NULL && oldest != NULL && oldest->since <= get_proc_address_version)
		best = oldest;
	*status = best != NULL ? found : oldest != NULL ? version_not_sufficient : not_found;
	return best;
}

CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status)
{
	enum { invalid_value = 1, no_such_function = 500 };
	int ignored, newest;
	if (name == NULL || address == NULL || (flags & ~(uint64_t)(legacy_default_stream | per_thread_default_stream)) != 0)
		return invalid_value;
	if (cuDriverGetVersion(&newest) == 0 && version > newest)
		return invalid_value;
	const struct symbol *s = find_symbol(name, version, (flags & per_thread_default_stream) != 0, status != NULL ? status : &ignored);
	*address = s != NULL ? s->address : NULL;
	return s != NULL || status != NULL ? 0 : no_such_function;
}

CUresult cuGetProcAddress(const char *name, void **address, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, address, version, flags, NULL);
}

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	Dl_info caller;
	int known = dladdr(__builtin_return_address(0), &caller);
	return gemu_export_table(known ? (char *)caller.dli_fname : "a program");
}

// find_result returns the entry of a result code, or the last entry, without texts, for an unknown code.
static const struct result *find_result(CUresult code)
{
	const struct result *r = gemu_results;
	while (r->name != NULL && r->code != code)
		r++;
	return r;
}

// store_text stores a text for the client. A text is NULL for an unknown result code.
static CUresult store_text(const char *text, const char **to)
{
	enum { invalid_value = 1 };
	if (to == NULL)
		return invalid_value;
	*to = text;
	return text != NULL ? 0 : invalid_value;
}

CUresult cuGetErrorName(CUresult result, const char **name) { return store_text(find_result(result)->name, name); }
CUresult cuGetErrorString(CUresult result, const char **description) { return store_text(find_result(result)->description, description); }
