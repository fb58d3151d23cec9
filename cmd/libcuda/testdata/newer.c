// A client that calls functions which came with CUDA 12.4 and later. It ends with "ok".

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuCtxSetCurrent(CUcontext), cuCtxSynchronize(void), cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuFuncGetParamCount(CUfunction, size_t *), cuFuncLoad(CUfunction), cuFuncIsLoaded(int *, CUfunction);
CUresult cuLibraryLoadData(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned), cuLibraryGetKernel(CUkernel *, CUlibrary, const char *), cuKernelGetParamCount(CUkernel, size_t *);
CUresult cuDeviceGetDevResource(CUdevice, CUdevResource *, int), cuCtxGetDevResource(CUcontext, CUdevResource *, int), cuGreenCtxGetDevResource(CUgreenCtx, CUdevResource *, int), cuStreamGetDevResource(CUstream, CUdevResource *, int);
CUresult cuDevSmResourceSplitByCount(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned), cuDevResourceGenerateDesc(CUdevResourceDesc *, CUdevResource *, unsigned);
CUresult cuGreenCtxCreate(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned), cuGreenCtxDestroy(CUgreenCtx), cuCtxFromGreenCtx(CUcontext *, CUgreenCtx), cuGreenCtxGetId(CUgreenCtx, unsigned long long *);
CUresult cuGreenCtxStreamCreate(CUstream *, CUgreenCtx, unsigned, int), cuStreamGetGreenCtx(CUstream, CUgreenCtx *), cuStreamGetCtx_v2(CUstream, CUcontext *, CUgreenCtx *), cuStreamCreate(CUstream *, unsigned), cuStreamSynchronize(CUstream);
CUresult cuCtxRecordEvent(CUcontext, CUevent), cuCtxWaitEvent(CUcontext, CUevent), cuGreenCtxRecordEvent(CUgreenCtx, CUevent), cuGreenCtxWaitEvent(CUgreenCtx, CUevent), cuEventCreate(CUevent *, unsigned), cuEventSynchronize(CUevent), cuEventRecord(CUevent, CUstream);
CUresult cuLaunchHostFunc_v2(CUstream, CUhostFn, void *, unsigned), cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **), cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t);
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream), cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream), cuMemcpy3DBatchAsync_v2(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cuMemcpy3DBatchAsync(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *);
CUresult cuMemPrefetchBatchAsync(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream), cuMemDiscardBatchAsync(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream);
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream);
CUresult cuGraphCreate(CUgraph *, unsigned), cuGraphAddNode_v3(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *), cuGraphNodeGetParams(CUgraphNode, CUgraphNodeParams *), cuGraphNodeSetParams_v2(CUgraphNode, CUgraphNodeParams *);
CUresult cuGraphGetId(CUgraph, unsigned *), cuGraphExecGetId(CUgraphExec, unsigned *), cuGraphNodeGetContainingGraph(CUgraphNode, CUgraph *), cuGraphNodeGetLocalId(CUgraphNode, unsigned *), cuGraphNodeGetToolsId(CUgraphNode, unsigned long long *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);

static const char *const ptx =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry add(.param .u64 x, .param .u32 n)\n"
	"{ .reg .u64 %p; .reg .u32 %n, %v; ld.param.u64 %p, [x]; ld.param.u32 %n, [n]; ld.global.u32 %v, [%p]; add.u32 %v, %v, %n; st.global.u32 [%p], %v; ret; }\n"
	".visible .entry none { ret; }\n";

#define EQUAL(call, want) do { CUresult got_ = call; if (got_ != (want)) { fprintf(stderr, "line %d: %s is %d, want %d\n", __LINE__, #call, got_, want); exit(1); } } while (0)
#define OK(call) EQUAL(call, 0)
#define HOLDS(x) do { if (!(x)) { fprintf(stderr, "line %d: not %s\n", __LINE__, #x); exit(1); } } while (0)

static CUfunction add, none;
static CUdeviceptr x; // address of a number

static unsigned number(void)
{
	unsigned n;
	OK(cuMemcpyDtoH_v2(&n, x, 4));
	return n;
}

static void set(unsigned n) { OK(cuMemcpyHtoD_v2(x, &n, 4)); }

static void functions(void)
{
	CUlibrary library;
	CUkernel kernel;
	size_t n;
	int state = 0;
	OK(cuFuncGetParamCount(add, &n));
	HOLDS(n == 2);
	OK(cuFuncGetParamCount(none, &n));
	HOLDS(n == 0);
	EQUAL(cuFuncGetParamCount(add, NULL), 1);
	EQUAL(cuFuncGetParamCount(12345, &n), 400);
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "add"));
	OK(cuKernelGetParamCount(kernel, &n));
	HOLDS(n == 2);
	OK(cuFuncLoad(add));
	OK(cuFuncIsLoaded(&state, add));
	HOLDS(state == 1);
	EQUAL(cuFuncLoad(12345), 400);
}

static void count(void *n) { ++*(int *)n; }

static void green(CUcontext primary)
{
	CUdevResource all, parts[4], rest, r;
	CUdevResourceDesc desc;
	CUgreenCtx g, in;
	CUcontext ctx;
	CUstream s, plain;
	CUevent e;
	unsigned n = 0;
	unsigned long long id = 0;
	int called = 0, resident;
	OK(cuDeviceGetDevResource(0, &all, 1));
	HOLDS(all.type == 1 && all.sm.smCount == 16 && all.sm.minSmPartitionSize == 4 && all.sm.smCoscheduledAlignment == 2);
	EQUAL(cuDeviceGetDevResource(0, &all, 1000), 914);
	EQUAL(cuDeviceGetDevResource(0, NULL, 1), 1);
	EQUAL(cuDeviceGetDevResource(7, &all, 1), 101);
	OK(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 5)); // 5 is rounded up to 6 multiprocessors
	HOLDS(n == 2);
	n = 4;
	OK(cuDevSmResourceSplitByCount(parts, &n, &all, &rest, 0, 5));
	HOLDS(n == 2 && parts[0].sm.smCount == 6 && parts[1].sm.smCount == 6 && rest.sm.smCount == 4);
	n = 1;
	OK(cuDevSmResourceSplitByCount(parts, &n, &all, &rest, 0, 1));
	HOLDS(n == 1 && parts[0].sm.smCount == 4 && rest.sm.smCount == 12);
	EQUAL(cuDevSmResourceSplitByCount(parts, &n, &all, &rest, 0, 17), 1);
	EQUAL(cuDevSmResourceSplitByCount(parts, &n, &(CUdevResource){.type = 0}, &rest, 0, 1), 914);
	OK(cuDevResourceGenerateDesc(&desc, parts, 1));
	EQUAL(cuDevResourceGenerateDesc(&desc, parts, 0xffffffff), 1);
	EQUAL(cuGreenCtxCreate(&g, desc + 1, 0, 0), 400);
	EQUAL(cuGreenCtxCreate(&g, desc, 0, 8), 1);
	OK(cuGreenCtxCreate(&g, desc, 0, 1));
	OK(cuCtxFromGreenCtx(&ctx, g));
	HOLDS(ctx == primary);
	OK(cuGreenCtxGetDevResource(g, &r, 1));
	HOLDS(r.sm.smCount == 4);
	OK(cuCtxGetDevResource(primary, &r, 1));
	HOLDS(r.sm.smCount == 16);
	OK(cuGreenCtxGetId(g, &id));
	HOLDS(id != 0);
	EQUAL(cuGreenCtxStreamCreate(&s, g, 0, 0), 1);
	OK(cuGreenCtxStreamCreate(&s, g, 1, 0));
	OK(cuStreamGetGreenCtx(s, &in));
	HOLDS(in == g);
	OK(cuStreamGetCtx_v2(s, &ctx, &in));
	HOLDS(ctx == 0 && in == g);
	OK(cuStreamGetDevResource(s, &r, 1));
	HOLDS(r.sm.smCount == 4);
	OK(cuStreamCreate(&plain, 1));
	OK(cuStreamGetGreenCtx(plain, &in));
	HOLDS(in == 0);
	OK(cuStreamGetCtx_v2(plain, &ctx, &in));
	HOLDS(ctx == primary && in == 0);

	// Work runs in the green context, and events cover all of this work.
	set(1);
	void *args[] = {&x, &(unsigned){5}};
	OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuLaunchHostFunc_v2(s, count, &called, 1));
	EQUAL(cuLaunchHostFunc_v2(s, count, &called, 2), 1);
	OK(cuEventCreate(&e, 0));
	OK(cuGreenCtxRecordEvent(g, e));
	OK(cuEventSynchronize(e));
	HOLDS(called == 1);
	HOLDS(number() == 6);
	OK(cuLaunchHostFunc_v2(plain, count, &called, 0));
	OK(cuCtxRecordEvent(primary, e));
	OK(cuGreenCtxWaitEvent(g, e));
	OK(cuCtxWaitEvent(primary, e));
	OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuStreamSynchronize(s));
	HOLDS(called == 2 && number() == 11);
	EQUAL(cuGreenCtxRecordEvent(g + 1, e), 201);

	// A cooperative launch is limited to the multiprocessors of the green context.
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, none, 1024, 0));
	OK(cuLaunchCooperativeKernel(none, 4 * resident, 1, 1, 1024, 1, 1, 0, s, NULL));
	EQUAL(cuLaunchCooperativeKernel(none, 4 * resident + 1, 1, 1, 1024, 1, 1, 0, s, NULL), 720);
	OK(cuLaunchCooperativeKernel(none, 4 * resident + 1, 1, 1, 1024, 1, 1, 0, plain, NULL));
	OK(cuCtxSynchronize());
	OK(cuGreenCtxDestroy(g));
	EQUAL(cuGreenCtxDestroy(g), 201);
}

static void copies(void)
{
	enum { wide = 4, high = 3 };
	CUstream s;
	CUdeviceptr y, m;
	CUarray array;
	unsigned from[high][wide], to[high][wide];
	size_t failed;
	CUmemcpyAttributes attributes = {.srcAccessOrder = 2};
	for (int i = 0; i < high * wide; i++)
		from[i / wide][i % wide] = 100 + i;
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&y, sizeof from));
	OK(cuMemcpyWithAttributesAsync(y, (CUdeviceptr)from, sizeof from, &attributes, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(to, y, sizeof to));
	HOLDS(memcmp(from, to, sizeof to) == 0);
	EQUAL(cuMemcpyWithAttributesAsync(y, (CUdeviceptr)from, 4, NULL, s), 1);
	attributes.srcAccessOrder = 0;
	EQUAL(cuMemcpyWithAttributesAsync(y, (CUdeviceptr)from, 4, &attributes, s), 1);

	// Copies to an array and back have lengths in elements. The second copies rows 1 and 2 from their second element on.
	OK(cuArrayCreate_v2(&array, &(CUDA_ARRAY_DESCRIPTOR){wide, high, 0x03, 1}));
	CUDA_MEMCPY3D_BATCH_OP ops[2] = {
		{{1, y, wide, high, 0}, {2, array, 0, 0, 0}, wide, high, 1, 1, 0},
		{{2, array, 1, 1, 0}, {1, (CUdeviceptr)&to[0][0], wide, 0, 0}, wide - 1, 2, 1, 1, 0},
	};
	memset(to, 0, sizeof to);
	OK(cuMemcpy3DBatchAsync_v2(2, ops, 0, s));
	OK(cuStreamSynchronize(s));
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < wide; j++)
			HOLDS(to[i][j] == (j < wide - 1 ? from[i + 1][j + 1] : 0));
	HOLDS(to[2][0] == 0);
	// A copy between pointers has lengths in bytes. A row length of 0 means packed rows.
	CUDA_MEMCPY3D_BATCH_OP plain = {{1, y, 0, 0, 0}, {1, (CUdeviceptr)to, 0, 0, 0}, sizeof to, 1, 1, 2, 0};
	OK(cuMemcpy3DWithAttributesAsync(&plain, 0, s));
	HOLDS(memcmp(from, to, sizeof to) == 0);
	plain.width = 0;
	EQUAL(cuMemcpy3DBatchAsync(1, &plain, &failed, 0, s), 1);
	HOLDS(failed == 0);
	ops[0].src.xOrRowLength = wide - 1; // rows that are shorter than the copy
	EQUAL(cuMemcpy3DBatchAsync_v2(1, ops, 0, s), 1);
	EQUAL(cuMemcpy3DBatchAsync_v2(1, ops, 0, 0), 1);

	OK(cuMemAllocManaged(&m, 2 * 65536, 1));
	CUdeviceptr ranges[2] = {m, m + 65536};
	size_t sizes[2] = {65536, 65536}, indices[2] = {0, 1};
	CUmemLocation places[2] = {{1, 0}, {2, 0}};
	OK(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, indices, 2, 0, s));
	OK(cuMemDiscardBatchAsync(ranges, sizes, 2, 0, s));
	OK(cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, indices, 1, 0, s));
	EQUAL(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, indices, 3, 0, s), 1);
	EQUAL(cuMemPrefetchBatchAsync(ranges, sizes, 2, NULL, indices, 1, 0, s), 1);
	EQUAL(cuMemDiscardBatchAsync(ranges, sizes, (size_t)-1, 0, s), 1);
	EQUAL(cuMemDiscardBatchAsync(&y, sizes, 1, 0, s), 1); // y is not managed memory
}

static void graphs(void)
{
	CUgraph g, of, other;
	CUgraphExec exec;
	CUgraphNode node, fill;
	CUgraphNodeParams p = {0}, got;
	unsigned id = 0, id2 = 0;
	unsigned long long tools = 0;
	int called = 0;
	void *args[] = {&x, &(unsigned){7}};
	OK(cuGraphCreate(&g, 0));
	OK(cuGraphCreate(&other, 0));
	p.params.kernel.func = add;
	p.params.kernel.gridDimX = p.params.kernel.gridDimY = p.params.kernel.gridDimZ = 1;
	p.params.kernel.blockDimX = p.params.kernel.blockDimY = p.params.kernel.blockDimZ = 1;
	p.params.kernel.kernelParams = args;
	OK(cuGraphAddNode_v3(&node, g, NULL, NULL, 0, &p));
	OK(cuGraphNodeGetParams(node, &got));
	HOLDS(got.type == 0 && got.params.kernel.func == add && got.params.kernel.gridDimX == 1 && *(unsigned *)got.params.kernel.kernelParams[1] == 7);
	args[1] = &(unsigned){9};
	OK(cuGraphNodeSetParams_v2(node, &p));
	memset(&p, 0, sizeof p);
	p.type = 2;
	p.params.memset = (CUDA_MEMSET_NODE_PARAMS){x, 0, 3, 4, 1, 1};
	OK(cuGraphAddNode_v3(&fill, other, NULL, NULL, 0, &p));
	OK(cuGraphNodeGetParams(fill, &got));
	HOLDS(got.type == 2 && got.params.memset.dst == x && got.params.memset.value == 3 && got.params.memset.width == 1);
	memset(&p, 0, sizeof p);
	p.type = 3;
	p.params.host = (CUDA_HOST_NODE_PARAMS){count, &called};
	OK(cuGraphAddNode_v3(&fill, g, &node, NULL, 1, &p));
	OK(cuGraphNodeGetParams(fill, &got));
	HOLDS(got.type == 3 && got.params.host.fn == count && got.params.host.userData == &called);
	EQUAL(cuGraphNodeGetParams(fill, NULL), 1);
	EQUAL(cuGraphNodeGetParams(12345, &got), 400);
	OK(cuGraphNodeGetContainingGraph(fill, &of));
	HOLDS(of == g);
	OK(cuGraphNodeGetLocalId(node, &id));
	OK(cuGraphNodeGetLocalId(fill, &id2));
	HOLDS(id != id2);
	OK(cuGraphNodeGetToolsId(node, &tools));
	HOLDS(tools != 0);
	OK(cuGraphGetId(g, &id));
	OK(cuGraphGetId(other, &id2));
	HOLDS(id != id2);
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphExecGetId(exec, &id2));
	HOLDS(id != id2);
	set(1);
	OK(cuGraphLaunch(exec, 0));
	OK(cuCtxSynchronize());
	HOLDS(number() == 10 && called == 1);
}

int main(void)
{
	CUcontext ctx;
	CUmodule module;
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&add, module, "add"));
	OK(cuModuleGetFunction(&none, module, "none"));
	OK(cuMemAlloc_v2(&x, 4));
	functions();
	green(ctx);
	copies();
	graphs();
	puts("ok");
	return 0;
}
