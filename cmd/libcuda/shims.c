// Functions that only differ in form from functions in Go: variants for the thread's own default stream (suffix _ptsz,
// or _ptds without a stream parameter), functions whose version 2 has the same interface as version 1, launches from
// before cuLaunchKernel, cuGetProcAddress and cuGetExportTable; and the names of results, which a child of fork may
// request, too.

#define _GNU_SOURCE // for dladdr
#include <dlfcn.h>
#include <string.h>

#include "_cgo_export.h"
#include "symbols.h"

static const CUstream per_thread = 2;

static CUstream of_thread(CUstream s) { return s != 0 ? s : per_thread; }

// wait_for ends a call without a stream parameter, whose work was submitted.
static CUresult wait_for(CUresult submitted)
{
	return submitted != 0 ? submitted : cuStreamSynchronize(per_thread);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n) { return wait_for(cuMemcpyAsync(dst, src, n, per_thread)); }
CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyAsync(dst, src, n, of_thread(s)); }
CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n) { return wait_for(cuMemcpyPeerAsync(dst, to, src, from, n, per_thread)); }
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attributes, size_t *indices, size_t n, size_t *failed, CUstream s) { return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, indices, n, failed, of_thread(s)); }
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attributes, size_t *indices, size_t n, CUstream s) { return cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attributes, indices, n, of_thread(s)); }
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s) { return cuMemcpyPeerAsync(dst, to, src, from, n, of_thread(s)); }
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t n) { return wait_for(cuMemcpyHtoDAsync_v2(dst, (void *)src, n, per_thread)); }
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t n, CUstream s) { return cuMemcpyHtoDAsync_v2(dst, (void *)src, n, of_thread(s)); }
CUresult cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t n) { return wait_for(cuMemcpyDtoHAsync_v2(dst, src, n, per_thread)); }
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyDtoHAsync_v2(dst, src, n, of_thread(s)); }
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n) { return wait_for(cuMemcpyDtoDAsync_v2(dst, src, n, per_thread)); }
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return cuMemcpyDtoDAsync_v2(dst, src, n, of_thread(s)); }
CUresult cuMemcpy2D_v2_ptds(CUDA_MEMCPY2D *c) { return wait_for(cuMemcpy2DAsync_v2(c, per_thread)); }
CUresult cuMemcpy2DUnaligned_v2_ptds(CUDA_MEMCPY2D *c) { return wait_for(cuMemcpy2DAsync_v2(c, per_thread)); }
CUresult cuMemcpy2DAsync_v2_ptsz(CUDA_MEMCPY2D *c, CUstream s) { return cuMemcpy2DAsync_v2(c, of_thread(s)); }
CUresult cuMemcpy3D_v2_ptds(CUDA_MEMCPY3D *c) { return wait_for(cuMemcpy3DAsync_v2(c, per_thread)); }
CUresult cuMemcpy3DAsync_v2_ptsz(CUDA_MEMCPY3D *c, CUstream s) { return cuMemcpy3DAsync_v2(c, of_thread(s)); }
CUresult cuMemcpy3DPeer_ptds(CUDA_MEMCPY3D *c) { return wait_for(cuMemcpy3DPeerAsync(c, per_thread)); }
CUresult cuMemcpy3DPeerAsync_ptsz(CUDA_MEMCPY3D *c, CUstream s) { return cuMemcpy3DPeerAsync(c, of_thread(s)); }

CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t at, const void *src, size_t n) { return wait_for(cuMemcpyHtoAAsync_v2(dst, at, (void *)src, n, per_thread)); }
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t at, const void *src, size_t n, CUstream s) { return cuMemcpyHtoAAsync_v2(dst, at, (void *)src, n, of_thread(s)); }
CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t at, size_t n) { return wait_for(cuMemcpyAtoHAsync_v2(dst, src, at, n, per_thread)); }
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t at, size_t n, CUstream s) { return cuMemcpyAtoHAsync_v2(dst, src, at, n, of_thread(s)); }

// Functions without a stream parameter wait for the thread's stream through the legacy stream.
CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t at, CUdeviceptr src, size_t n) { return cuMemcpyDtoA_v2(dst, at, src, n); }
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t at, size_t n) { return cuMemcpyAtoD_v2(dst, src, at, n); }
CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t to, CUarray src, size_t from, size_t n) { return cuMemcpyAtoA_v2(dst, to, src, from, n); }

CUresult cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char v, size_t n, CUstream s) { return cuMemsetD8Async(dst, v, n, of_thread(s)); }
CUresult cuMemsetD16Async_ptsz(CUdeviceptr dst, unsigned short v, size_t n, CUstream s) { return cuMemsetD16Async(dst, v, n, of_thread(s)); }
CUresult cuMemsetD32Async_ptsz(CUdeviceptr dst, unsigned v, size_t n, CUstream s) { return cuMemsetD32Async(dst, v, n, of_thread(s)); }
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h, CUstream s) { return cuMemsetD2D8Async(dst, pitch, v, w, h, of_thread(s)); }
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s) { return cuMemsetD2D16Async(dst, pitch, v, w, h, of_thread(s)); }
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned v, size_t w, size_t h, CUstream s) { return cuMemsetD2D32Async(dst, pitch, v, w, h, of_thread(s)); }
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr p, size_t n, CUdevice dev, CUstream s) { return cuMemPrefetchAsync(p, n, dev, of_thread(s)); }

// device_at returns the device number of a location: -1 for the host and its nodes, -2 for an invalid location.
static CUdevice device_at(CUmemLocation where)
{
	switch (where.type) {
	case 1: return where.id >= 0 ? where.id : -2;
	case 2: case 3: case 4: return -1;
	}
	return -2;
}

CUresult cuMemAdvise_v2(CUdeviceptr p, size_t n, int advice, CUmemLocation where) { return cuMemAdvise(p, n, advice, device_at(where)); }
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, CUmemLocation where, unsigned flags, CUstream s)
{
	return flags != 0 ? 1 : cuMemPrefetchAsync(p, n, device_at(where), s);
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr p, size_t n, CUmemLocation where, unsigned flags, CUstream s)
{
	return cuMemPrefetchAsync_v2(p, n, where, flags, of_thread(s));
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, of_thread(s), params, extra);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params)
{
	return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, of_thread(s), params);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	if (config == NULL)
		return cuLaunchKernelEx(NULL, f, params, extra);
	CUlaunchConfig c = *config;
	c.hStream = of_thread(c.hStream);
	return cuLaunchKernelEx(&c, f, params, extra);
}

CUresult cuLaunchHostFunc_ptsz(CUstream s, CUhostFn f, void *user) { return cuLaunchHostFunc(of_thread(s), f, user); }

// The way in which the driver's thread waits for the function (CU_HOST_TASK_BLOCKING, CU_HOST_TASK_SPINWAIT) has no
// effect here.
CUresult cuLaunchHostFunc_v2(CUstream s, CUhostFn f, void *user, unsigned mode)
{
	enum { invalid_value = 1, spin = 1 };
	return mode > spin ? invalid_value : cuLaunchHostFunc(s, f, user);
}
CUresult cuLaunchHostFunc_v2_ptsz(CUstream s, CUhostFn f, void *user, unsigned mode) { return cuLaunchHostFunc_v2(of_thread(s), f, user, mode); }

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t n, CUmemcpyAttributes *a, CUstream s) { return cuMemcpyWithAttributesAsync(dst, src, n, a, of_thread(s)); }
CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream s) { return cuMemcpy3DWithAttributesAsync(op, flags, of_thread(s)); }
CUresult cuMemcpy3DBatchAsync_ptsz(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed, unsigned long long flags, CUstream s) { return cuMemcpy3DBatchAsync(n, ops, failed, flags, of_thread(s)); }
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, CUstream s) { return cuMemcpy3DBatchAsync_v2(n, ops, flags, of_thread(s)); }
CUresult cuStreamGetDevResource_ptsz(CUstream s, CUdevResource *r, int type) { return cuStreamGetDevResource(of_thread(s), r, type); }

// for_batch calls each for every range of a batch. Place k applies to the ranges from indices[k] up to indices[k + 1].
// Without places the ranges have none.
static CUresult for_batch(CUresult each(CUdeviceptr, size_t, CUmemLocation, CUstream), CUdeviceptr *ranges, size_t *sizes, size_t count, CUmemLocation *places, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1, most = 1 << 20 };
	if (ranges == NULL || sizes == NULL || count == 0 || count > most || flags != 0 || s == 0 || s == 1)
		return invalid_value;
	if (places != NULL && (indices == NULL || n == 0 || n > count || indices[0] != 0))
		return invalid_value;
	for (size_t k = 1; places != NULL && k < n; k++)
		if (indices[k] <= indices[k - 1] || indices[k] >= count)
			return invalid_value;
	size_t k = 0;
	for (size_t i = 0; i < count; i++) {
		if (places != NULL && k + 1 < n && indices[k + 1] == i)
			k++;
		CUresult r = each(ranges[i], sizes[i], places != NULL ? places[k] : (CUmemLocation){0, 0}, s);
		if (r != 0)
			return r;
	}
	return 0;
}

static CUresult prefetch(CUdeviceptr p, size_t n, CUmemLocation where, CUstream s) { return cuMemPrefetchAsync_v2(p, n, where, 0, s); }

// Discarded memory may have any content, so it is left unchanged; only the range is checked.
static CUresult discard(CUdeviceptr p, size_t n, CUmemLocation where, CUstream s)
{
	(void)where;
	return cuStreamAttachMemAsync(s, p, n, 1);
}

static CUresult discard_and_prefetch(CUdeviceptr p, size_t n, CUmemLocation where, CUstream s)
{
	CUresult r = discard(p, n, where, s);
	return r != 0 ? r : prefetch(p, n, where, s);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *places, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1 };
	return places == NULL ? invalid_value : for_batch(prefetch, p, sizes, count, places, indices, n, flags, s);
}
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *places, size_t *indices, size_t n, unsigned long long flags, CUstream s) { return cuMemPrefetchBatchAsync(p, sizes, count, places, indices, n, flags, of_thread(s)); }
CUresult cuMemDiscardBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, unsigned long long flags, CUstream s) { return for_batch(discard, p, sizes, count, NULL, NULL, 0, flags, s); }
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, unsigned long long flags, CUstream s) { return cuMemDiscardBatchAsync(p, sizes, count, flags, of_thread(s)); }
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *places, size_t *indices, size_t n, unsigned long long flags, CUstream s)
{
	enum { invalid_value = 1 };
	return places == NULL ? invalid_value : for_batch(discard_and_prefetch, p, sizes, count, places, indices, n, flags, s);
}
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *places, size_t *indices, size_t n, unsigned long long flags, CUstream s) { return cuMemDiscardAndPrefetchBatchAsync(p, sizes, count, places, indices, n, flags, of_thread(s)); }

// Both versions have the same structure, in which reserved space was given to new members.
CUresult cuGraphAddNode_v3(CUgraphNode *node, CUgraph g, const CUgraphNode *after, const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p) { return cuGraphAddNode_v2(node, g, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, p); }
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams *p) { return cuGraphNodeSetParams(node, p); }

// The parameters of a node, read by the function for its kind. Conditional nodes have no such function.
CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *p)
{
	enum { invalid_value = 1, not_supported = 801 };
	enum { kernel, copy, fill, host, child, empty, wait_event, record_event, alloc = 10, release };
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

CUresult cuStreamQuery_ptsz(CUstream s) { return cuStreamQuery(of_thread(s)); }
CUresult cuStreamSynchronize_ptsz(CUstream s) { return cuStreamSynchronize(of_thread(s)); }
CUresult cuStreamWaitEvent_ptsz(CUstream s, CUevent e, unsigned flags) { return cuStreamWaitEvent(of_thread(s), e, flags); }
CUresult cuStreamGetFlags_ptsz(CUstream s, unsigned *flags) { return cuStreamGetFlags(of_thread(s), flags); }
CUresult cuStreamGetPriority_ptsz(CUstream s, int *priority) { return cuStreamGetPriority(of_thread(s), priority); }
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t n, CUstream s) { return cuMemAllocAsync(p, n, of_thread(s)); }
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *p, size_t n, CUmemoryPool pool, CUstream s) { return cuMemAllocFromPoolAsync(p, n, pool, of_thread(s)); }
CUresult cuMemFreeAsync_ptsz(CUdeviceptr p, CUstream s) { return cuMemFreeAsync(p, of_thread(s)); }

// A stream belongs to a context or to a green context.
CUresult cuStreamGetCtx_v2(CUstream s, CUcontext *ctx, CUgreenCtx *green)
{
	CUgreenCtx in = 0;
	CUresult r = cuStreamGetGreenCtx(s, &in);
	if (r == 0)
		r = cuStreamGetCtx(s, ctx);
	if (r == 0 && in != 0)
		*ctx = 0;
	if (r == 0 && green != NULL)
		*green = in;
	return r;
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream s, CUcontext *ctx, CUgreenCtx *green) { return cuStreamGetCtx_v2(of_thread(s), ctx, green); }

// The versions differ only in the GPUs that support them.
CUresult cuStreamWaitValue32(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(s, p, v, flags); }
CUresult cuStreamWaitValue32_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWaitValue32_v2_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWaitValue32_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWaitValue64(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(s, p, v, flags); }
CUresult cuStreamWaitValue64_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWaitValue64_v2_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWaitValue64_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWriteValue32(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(s, p, v, flags); }
CUresult cuStreamWriteValue32_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWriteValue32_v2_ptsz(CUstream s, CUdeviceptr p, uint32_t v, unsigned flags) { return cuStreamWriteValue32_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWriteValue64(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(s, p, v, flags); }
CUresult cuStreamWriteValue64_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(of_thread(s), p, v, flags); }
CUresult cuStreamWriteValue64_v2_ptsz(CUstream s, CUdeviceptr p, uint64_t v, unsigned flags) { return cuStreamWriteValue64_v2(of_thread(s), p, v, flags); }
CUresult cuStreamBatchMemOp(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(s, n, ops, flags); }
CUresult cuStreamBatchMemOp_ptsz(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(of_thread(s), n, ops, flags); }
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) { return cuStreamBatchMemOp_v2(of_thread(s), n, ops, flags); }

CUresult cuStreamGetCtx_ptsz(CUstream s, CUcontext *ctx) { return cuStreamGetCtx(of_thread(s), ctx); }
CUresult cuStreamGetDevice_ptsz(CUstream s, CUdevice *dev) { return cuStreamGetDevice(of_thread(s), dev); }
CUresult cuStreamGetId_ptsz(CUstream s, uint64_t *id) { return cuStreamGetId(of_thread(s), id); }
CUresult cuStreamIsCapturing_ptsz(CUstream s, int *status) { return cuStreamIsCapturing(of_thread(s), status); }
CUresult cuStreamAddCallback_ptsz(CUstream s, CUstreamCallback f, void *user, unsigned flags) { return cuStreamAddCallback(of_thread(s), f, user, flags); }
CUresult cuStreamAttachMemAsync_ptsz(CUstream s, CUdeviceptr p, size_t n, unsigned flags) { return cuStreamAttachMemAsync(of_thread(s), p, n, flags); }
CUresult cuEventRecord_ptsz(CUevent e, CUstream s) { return cuEventRecord(e, of_thread(s)); }
CUresult cuEventRecordWithFlags_ptsz(CUevent e, CUstream s, unsigned flags) { return cuEventRecordWithFlags(e, of_thread(s), flags); }
CUresult cuGraphLaunch_ptsz(CUgraphExec x, CUstream s) { return cuGraphLaunch(x, of_thread(s)); }
CUresult cuGraphUpload_ptsz(CUgraphExec x, CUstream s) { return cuGraphUpload(x, of_thread(s)); }
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *x, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p) { return cuGraphInstantiateWithParams(x, g, p); }

CUresult cuStreamSetAttribute_ptsz(CUstream s, int id, const CUlaunchAttributeValue *v) { return cuStreamSetAttribute(of_thread(s), id, (CUlaunchAttributeValue *)v); }
CUresult cuStreamGetAttribute_ptsz(CUstream s, int id, CUlaunchAttributeValue *v) { return cuStreamGetAttribute(of_thread(s), id, v); }
CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from) { return cuStreamCopyAttributes(of_thread(to), of_thread(from)); }
CUresult cuStreamBeginCapture(CUstream s) { return cuStreamBeginCapture_v2(s, 0); }
CUresult cuStreamBeginCapture_ptsz(CUstream s) { return cuStreamBeginCapture(of_thread(s)); }
CUresult cuStreamBeginCapture_v2_ptsz(CUstream s, int mode) { return cuStreamBeginCapture_v2(of_thread(s), mode); }
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream s, CUgraph g, CUgraphNode *after, CUgraphEdgeData *edges, size_t n, int mode) { return cuStreamBeginCaptureToGraph(of_thread(s), g, after, edges, n, mode); }
CUresult cuStreamEndCapture_ptsz(CUstream s, CUgraph *g) { return cuStreamEndCapture(of_thread(s), g); }
CUresult cuStreamGetCaptureInfo(CUstream s, int *status, uint64_t *id) { return cuStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL); }
CUresult cuStreamGetCaptureInfo_ptsz(CUstream s, int *status, uint64_t *id) { return cuStreamGetCaptureInfo(of_thread(s), status, id); }
CUresult cuStreamGetCaptureInfo_v2(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, size_t *n) { return cuStreamGetCaptureInfo_v3(s, status, id, g, after, NULL, n); }
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, size_t *n) { return cuStreamGetCaptureInfo_v2(of_thread(s), status, id, g, after, n); }
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream s, int *status, uint64_t *id, CUgraph *g, CUgraphNode **after, CUgraphEdgeData **edges, size_t *n) { return cuStreamGetCaptureInfo_v3(of_thread(s), status, id, g, after, edges, n); }
CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *after, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies_v2(s, after, NULL, n, flags); }
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream s, CUgraphNode *after, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies(of_thread(s), after, n, flags); }
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream s, CUgraphNode *after, CUgraphEdgeData *edges, size_t n, unsigned flags) { return cuStreamUpdateCaptureDependencies_v2(of_thread(s), after, edges, n, flags); }

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

// Calls that a mode forbids are harmless here, and are allowed in every mode: the mode is only stored.
CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
	enum { invalid_value = 1, relaxed = 2 };
	static _Thread_local int now;
	if (mode == NULL || *mode < 0 || *mode > relaxed)
		return invalid_value;
	int before = now;
	now = *mode;
	*mode = before;
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
enum { first_version_asked = 11030 };

// find returns the newest function with a name up to a version, and the variant for the thread's own default stream if
// that is requested and exists. A function older than cuGetProcAddress is found for every version: then it is the
// oldest.
static const struct symbol *find(const char *name, int version, int thread, int *status)
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
	if (best == NULL && oldest != NULL && oldest->since <= first_version_asked)
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
	const struct symbol *s = find(name, version, (flags & per_thread_default_stream) != 0, status != NULL ? status : &ignored);
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

static const struct result *result_of(CUresult code)
{
	const struct result *r = gemu_results;
	while (r->name != NULL && r->code != code)
		r++;
	return r;
}

static CUresult tell(const char *text, const char **to)
{
	enum { invalid_value = 1 };
	if (to == NULL)
		return invalid_value;
	*to = text;
	return text != NULL ? 0 : invalid_value;
}

CUresult cuGetErrorName(CUresult of, const char **to) { return tell(result_of(of)->name, to); }
CUresult cuGetErrorString(CUresult of, const char **to) { return tell(result_of(of)->description, to); }
