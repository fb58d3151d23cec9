// A client with impossible counts and sizes. Each call is refused at once, and allocates no memory. It prints "ok".

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuPointerGetAttributes(unsigned, int *, void **, CUdeviceptr), cuStreamCreate(CUstream *, unsigned), cuStreamBatchMemOp_v2(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);
CUresult cuMemRangeGetAttribute(void *, size_t, int, CUdeviceptr, size_t), cuMemRangeGetAttributes(void **, size_t *, int *, size_t, CUdeviceptr, size_t);
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream);
CUresult cuMemSetAccess(CUdeviceptr, size_t, CUmemAccessDesc *, size_t), cuMemPoolSetAccess(CUmemoryPool, CUmemAccessDesc *, size_t), cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **), cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuModuleEnumerateFunctions(CUfunction *, unsigned, CUmodule);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **), cuParamSetv(CUfunction, int, void *, unsigned), cuParamSetSize(CUfunction, unsigned), cuOccupancyMaxActiveClusters(int *, CUfunction, const CUlaunchConfig *);
CUresult cuLinkCreate_v2(unsigned, int *, void **, CUlinkState *), cuLinkAddData_v2(CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkAddFile_v2(CUlinkState, int, const char *, unsigned, int *, void **), cuLibraryLoadData(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned);
CUresult cuGraphCreate(CUgraph *, unsigned), cuGraphAddEmptyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t), cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *), cuGraphGetEdges_v2(CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *);
CUresult cuGraphAddDependencies_v2(CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t), cuGraphAddMemAllocNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cuGraphAddNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *), cuStreamBeginCaptureToGraph(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, int);
CUresult cuMemHostAlloc(void **, size_t, unsigned), cuMemHostRegister_v2(void *, size_t, unsigned), cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned), cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t), cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
CUresult cuMemsetD2D32_v2(CUdeviceptr, size_t, unsigned, size_t, size_t), cuMemcpy2D_v2(const CUDA_MEMCPY2D *), cuMemcpy3D_v2(const CUDA_MEMCPY3D *), cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), cuMipmappedArrayCreate(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream), cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream), cuMemAdvise(CUdeviceptr, size_t, int, CUdevice), cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuTensorMapEncodeTiled(CUtensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int), cuDeviceGetName(char *, int, CUdevice), cuMemPoolTrimTo(CUmemoryPool, size_t);

static const char *const ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }\n";

static int bad;

// refused ends the program if a call was not refused.
static void refused(const char *call, CUresult r)
{
	if (r == 0) {
		fprintf(stderr, "%s gives 0\n", call);
		bad = 1;
	}
}

#define REFUSED(call) refused(#call, call)
#define OK(call) do { CUresult r = call; if (r != 0) { fprintf(stderr, "%s gives %d\n", #call, r); return 1; } } while (0)

int main(void)
{
	enum { some = 4 };
	const unsigned most = 0xffffffff;
	const size_t counts[] = {most, (size_t)1 << 32, (size_t)1 << 40, (size_t)1 << 61, SIZE_MAX / 8, SIZE_MAX};
	CUcontext ctx;
	CUdeviceptr x, m, p;
	CUstream s;
	CUmodule module;
	CUfunction f, functions[some] = {0};
	CUlinkState link;
	CUgraph g, other;
	CUgraphNode node, nodes[some];
	CUmemoryPool pool;
	CUarray array;
	size_t n, pitch, sizes[some] = {4, 4, 4, 4}, firsts[some] = {0};
	void *q, *values[some] = {0};
	int number, numbers[some] = {0};
	char text[64];
	CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
	CUmemAccessDesc access[some] = {{{1, 0}, 3}};
	CUmemcpyAttributes attributes[some] = {{1}};
	CUstreamBatchMemOpParams ops[some] = {{0}};
	CUlaunchAttribute launch[some] = {{0}};
	CUtensorMap *map = aligned_alloc(64, sizeof *map);
	uint64_t dims[8] = {4, 4, 4, 4, 4, 4, 4, 4};
	unsigned box[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	OK(cuInit(0));
	OK(cuCtxCreate_v2(&ctx, 0, 0));
	OK(cuMemAlloc_v2(&x, 4096));
	OK(cuMemAllocManaged(&m, 4096, 1));
	OK(cuStreamCreate(&s, 0));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&f, module, "k"));
	OK(cuLinkCreate_v2(0, NULL, NULL, &link));
	OK(cuGraphCreate(&g, 0));
	OK(cuGraphCreate(&other, 0));
	OK(cuGraphAddEmptyNode(&node, g, NULL, 0));
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	for (int i = 0; i < some; i++)
		nodes[i] = node;
	CUdeviceptr places[some] = {x, x, x, x};

	// Counts of 32 bits.
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, s, launch, most};
	REFUSED(cuPointerGetAttributes(most, numbers, values, x));
	REFUSED(cuStreamBatchMemOp_v2(s, most, ops, 0));
	REFUSED(cuModuleLoadDataEx(&module, ptx, most, numbers, values));
	REFUSED(cuLinkCreate_v2(most, numbers, values, &link));
	REFUSED(cuLaunchKernelEx(&config, f, values, NULL));
	REFUSED(cuOccupancyMaxActiveClusters(&number, f, &config));
	REFUSED(cuParamSetv(f, 0, text, most));
	REFUSED(cuParamSetSize(f, most));
	REFUSED(cuTensorMapEncodeTiled(map, 0, most, (void *)x, dims, dims, box, box, 0, 0, 0, 0));
	REFUSED(cuMipmappedArrayCreate(&array, &(CUDA_ARRAY3D_DESCRIPTOR){4, 4, 0, 0x20, 1, 0}, most));
	OK(cuModuleEnumerateFunctions(functions, most, module)); // the array may be longer than needed
	OK(cuDeviceGetName(text, 0x7fffffff, 0));

	// Counts and sizes of 64 bits.
	for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
		size_t c = counts[i], again = c;
		REFUSED(cuMemRangeGetAttribute(numbers, c & ~(size_t)3, 3, m, 4096));
		REFUSED(cuMemRangeGetAttributes(values, sizes, numbers, c, m, 4096));
		REFUSED(cuMemcpyBatchAsync(places, places, sizes, c, attributes, firsts, 1, NULL, s));
		REFUSED(cuMemcpyBatchAsync(places, places, sizes, 2, attributes, firsts, c, NULL, s));
		REFUSED(cuMemcpyBatchAsync_v2(places, places, sizes, c, attributes, firsts, 1, s));
		REFUSED(cuMemSetAccess(x, 4096, access, c));
		REFUSED(cuMemPoolSetAccess(pool, access, c));
		REFUSED(cuGraphAddEmptyNode(&node, g, nodes, c));
		REFUSED(cuGraphAddDependencies_v2(g, nodes, nodes, NULL, c));
		REFUSED(cuGraphAddNode_v2(&node, g, nodes, NULL, c, &(CUgraphNodeParams){.type = 5}));
		REFUSED(cuStreamBeginCaptureToGraph(s, other, nodes, NULL, c, 0));
		REFUSED(cuGraphGetNodes(g, nodes, &again));
		again = c;
		REFUSED(cuGraphGetEdges_v2(g, nodes, nodes, NULL, &again));
		alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){{1, 0, {1, 0}}, access, c, 4096};
		REFUSED(cuGraphAddMemAllocNode(&node, g, NULL, 0, &alloc));
		alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){{1, 0, {1, 0}}, NULL, 0, c};
		if (c > (size_t)1 << 36)
			REFUSED(cuGraphAddMemAllocNode(&node, g, NULL, 0, &alloc));
		REFUSED(cuMemsetD8_v2(x, 0, c));
		REFUSED(cuMemsetD32_v2(x, 0, c));
		REFUSED(cuMemsetD2D32_v2(x, c, 0, c, c));
		REFUSED(cuMemsetD2D32_v2(x, 4, 0, 1, c));
		REFUSED(cuMemcpyHtoD_v2(x, text, c));
		REFUSED(cuMemcpyDtoH_v2(text, x, c));
		REFUSED(cuMemcpyDtoD_v2(x, x, c));
		REFUSED(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = 2, .srcDevice = x, .srcPitch = c, .dstMemoryType = 2, .dstDevice = x, .dstPitch = c, .WidthInBytes = 1, .Height = c}));
		REFUSED(cuMemcpy3D_v2(&(CUDA_MEMCPY3D){.srcMemoryType = 2, .srcDevice = x, .srcPitch = 4, .srcHeight = c, .dstMemoryType = 2, .dstDevice = x, .dstPitch = 4, .dstHeight = c, .WidthInBytes = 4, .Height = 1, .Depth = c}));
		REFUSED(cuMemAllocPitch_v2(&p, &pitch, c, c, 4));
		REFUSED(cuMemAdvise(m, c, 3, 0));
		REFUSED(cuMemPrefetchAsync(m, c, 0, s));
		if (c > (size_t)1 << 36) {
			REFUSED(cuMemAlloc_v2(&p, c));
			REFUSED(cuMemAllocManaged(&p, c, 1));
			REFUSED(cuMemAllocAsync(&p, c, s));
			REFUSED(cuMemCreate(&p, c & ~(((size_t)1 << 21) - 1), &(CUmemAllocationProp){1, 0, {1, 0}}, 0));
			REFUSED(cuArray3DCreate_v2(&array, &(CUDA_ARRAY3D_DESCRIPTOR){c, c, 0, 0x20, 4, 0}));
		}
		if (c > (size_t)1 << 40) {
			REFUSED(cuMemHostAlloc(&q, c, 0));
			REFUSED(cuMemHostRegister_v2(text, c, 0));
			REFUSED(cuMemAddressReserve(&p, c & ~(((size_t)1 << 21) - 1), 0, 0, 0));
		}
		if (c >= SIZE_MAX / 8)
			REFUSED(cuLinkAddData_v2(link, 1, (void *)ptx, c, "text", 0, NULL, NULL));
		(void)n;
	}
	REFUSED(cuLinkAddData_v2(link, 1, (void *)ptx, strlen(ptx) + 1, "text", most, NULL, NULL));
	REFUSED(cuLinkAddFile_v2(link, 1, "/dev/null", most, NULL, NULL));
	REFUSED(cuLibraryLoadData(&module, ptx, numbers, values, most, NULL, NULL, 0));
	REFUSED(cuLibraryLoadData(&module, ptx, NULL, NULL, 0, numbers, values, most));
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	if (used.ru_maxrss > 1 << 20) {
		fprintf(stderr, "%ld KiB of memory\n", used.ru_maxrss);
		return 1;
	}
	if (bad)
		return 1;
	puts("ok");
	return 0;
}
