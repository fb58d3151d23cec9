// A client of the driver library: it makes the calls of typical programs, from one thread and from many, and checks their
// results. It prints "ok" and ends with status 0.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuDriverGetVersion(int *), cuGetErrorName(CUresult, const char **), cuGetErrorString(CUresult, const char **);
CUresult cuDeviceGet(CUdevice *, int), cuDeviceGetCount(int *), cuDeviceGetName(char *, int, CUdevice), cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDeviceTotalMem_v2(size_t *, CUdevice), cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxDestroy_v2(CUcontext), cuCtxSetCurrent(CUcontext), cuCtxGetCurrent(CUcontext *), cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **), cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *), cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr), cuMemGetInfo_v2(size_t *, size_t *), cuMemHostAlloc(void **, size_t, unsigned), cuMemFreeHost(void *);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream), cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream), cuMemcpy2D_v2(const CUDA_MEMCPY2D *);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void *, size_t), cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamDestroy_v2(CUstream), cuStreamSynchronize(CUstream), cuStreamAddCallback(CUstream, CUstreamCallback, void *, unsigned);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuEventSynchronize(CUevent), cuEventElapsedTime(float *, CUevent, CUevent), cuEventDestroy_v2(CUevent);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *), cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
CUresult cuLinkCreate_v2(unsigned, int *, void **, CUlinkState *), cuLinkAddData_v2(CUlinkState, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkComplete(CUlinkState, void **, size_t *), cuLinkDestroy(CUlinkState);
CUresult cuOccupancyMaxPotentialBlockSize(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int), cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuLibraryLoadData(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned), cuLibraryGetKernel(CUkernel *, CUlibrary, const char *), cuLibraryUnload(CUlibrary);
CUresult cuGraphCreate(CUgraph *, unsigned), cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphAddMemcpyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext), cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, int, const CUlaunchAttributeValue *), cuGraphKernelNodeGetAttribute(CUgraphNode, int, CUlaunchAttributeValue *);
CUresult cuStreamBeginCapture_v2(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *), cuStreamIsCapturing(CUstream, int *);
CUresult cuStreamGetCaptureInfo_v2(CUstream, int *, uint64_t *, CUgraph *, const CUgraphNode **, size_t *), cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuGraphGetEdges(CUgraph, CUgraphNode *, CUgraphNode *, size_t *), cuGraphKernelNodeGetParams(CUgraphNode, void *), cuGraphMemsetNodeGetParams(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *), cuGraphExecUpdate_v2(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *), cuGraphUpload(CUgraphExec, CUstream);
CUresult cuGraphLaunch(CUgraphExec, CUstream), cuGraphDestroy(CUgraph), cuGraphExecDestroy(CUgraphExec), cuArrayGetPlane(CUarray *, CUarray, unsigned);
CUresult cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *), cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), cuArrayDestroy(CUarray);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *, CUarray), cuMipmappedArrayCreate(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
CUresult cuMipmappedArrayGetLevel(CUarray *, CUmipmappedArray, unsigned), cuMipmappedArrayDestroy(CUmipmappedArray);
CUresult cuMemcpyHtoA_v2(CUarray, size_t, const void *, size_t), cuMemcpyAtoH_v2(void *, CUarray, size_t, size_t);
CUresult cuTexObjectCreate(CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *), cuTexObjectDestroy(CUtexObject);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *, CUtexObject), cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *, CUtexObject);
CUresult cuSurfObjectCreate(CUsurfObject *, const CUDA_RESOURCE_DESC *), cuSurfObjectDestroy(CUsurfObject);
CUresult cuModuleGetTexRef(CUtexref *, CUmodule, const char *), cuTexRefSetArray(CUtexref, CUarray, unsigned), cuTexRefSetFilterMode(CUtexref, unsigned);
CUresult cuTexRefSetFlags(CUtexref, unsigned), cuTexRefGetArray(CUarray *, CUtexref), cuTexRefGetFilterMode(unsigned *, CUtexref), cuTexRefSetAddressMode(CUtexref, int, unsigned);

CUresult cuTensorMapEncodeTiled(CUtensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int);
CUresult cuTensorMapEncodeIm2col(CUtensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *, const int *, unsigned, unsigned, const unsigned *, int, int, int, int);
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, int, int, unsigned, unsigned, const unsigned *, int, int, int, int, int);
CUresult cuTensorMapReplaceAddress(CUtensorMap *, void *);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream), cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *, size_t, CUmemoryPool, CUstream), cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice), cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *), cuMemPoolDestroy(CUmemoryPool), cuMemPoolGetAttribute(CUmemoryPool, int, void *);
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void *), cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t), cuMemPoolGetAccess(int *, CUmemoryPool, CUmemLocation *);
CUresult cuFuncSetAttribute(CUfunction, int, int), cuDevicePrimaryCtxRelease(CUdevice);
CUresult cuMemGetDefaultMemPool(CUmemoryPool *, CUmemLocation *, int), cuCtxGetDevice_v2(CUdevice *, CUcontext), cuCtxSynchronize_v2(CUcontext);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **), cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
CUresult cuOccupancyMaxActiveClusters(int *, CUfunction, const CUlaunchConfig *), cuOccupancyMaxPotentialClusterSize(int *, CUfunction, const CUlaunchConfig *);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long), cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemGetAllocationGranularity(size_t *, const CUmemAllocationProp *, int), cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long), cuMemUnmap(CUdeviceptr, size_t), cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t), cuMemGetAccess(unsigned long long *, const CUmemLocation *, CUdeviceptr);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *, void *), cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *, CUmemGenericAllocationHandle);
CUresult cuMemExportToShareableHandle(void *, CUmemGenericAllocationHandle, int, unsigned long long), cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *, void *, int);
CUresult cuStreamWaitValue32(CUstream, CUdeviceptr, uint32_t, unsigned), cuStreamWaitValue64_v2(CUstream, CUdeviceptr, uint64_t, unsigned), cuStreamWriteValue32_v2_ptsz(CUstream, CUdeviceptr, uint32_t, unsigned);
CUresult cuStreamWriteValue64(CUstream, CUdeviceptr, uint64_t, unsigned), cuStreamBatchMemOp_v2(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);

CUresult cuFuncSetBlockShape(CUfunction, int, int, int), cuFuncSetSharedSize(CUfunction, unsigned), cuParamSetSize(CUfunction, unsigned), cuParamSeti(CUfunction, int, unsigned);
CUresult cuParamSetv(CUfunction, int, void *, unsigned), cuLaunch(CUfunction), cuLaunchGridAsync(CUfunction, int, int, CUstream), cuCtxAttach(CUcontext *, unsigned), cuCtxDetach(CUcontext);
CUresult cuGetExportTable(const void **, const CUuuid *);

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".global .align 4 .u32 v = 40;\n"
	".visible .entry add(.param .u64 x, .param .u32 n)\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];\n"
	"  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
	"  mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"  mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  ld.global.u32 %r4, [%rd0]; add.u32 %r4, %r4, %r0; st.global.u32 [%rd0], %r4;\n"
	"  ret;\n"
	"}\n";

static CUcontext shared;

enum { N = 1000, THREADS = 8, ROUNDS = 20 };

static void fail(int line, const char *what, long got, long want)
{
	printf("driver.c:%d: %s is %ld, want %ld\n", line, what, got, want);
	exit(1);
}

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) fail(__LINE__, #got, g_, w_); } while (0)
#define OK(call) EQUAL(call, 0)
#define HOLDS(condition) EQUAL(!!(condition), 1)

static CUfunction function_of(CUmodule m)
{
	CUfunction f;
	OK(cuModuleGetFunction(&f, m, "add"));
	return f;
}

static CUresult add(CUfunction f, CUstream s, CUdeviceptr x, unsigned n, unsigned blocks)
{
	void *args[] = {&x, &n};
	return cuLaunchKernel(f, blocks, 1, 1, 100, 1, 1, 0, s, args, NULL);
}

// Tensor maps: valid and invalid ones.
static void tensor_maps(void)
{
	_Alignas(64) CUtensorMap map, other;
	CUdeviceptr d;
	uint64_t dims[] = {64, 32, 8, 4}, strides[] = {128, 4096, 32768};
	unsigned box[] = {8, 8, 1, 1}, steps[] = {1, 1, 1, 1};
	int lower[] = {-1, -1}, upper[] = {-1, -1};
	OK(cuMemAlloc_v2(&d, 1 << 17));
	OK(cuTensorMapEncodeTiled(&map, 6, 2, (void *)d, dims, strides, box, steps, 0, 0, 0, 0));
	OK(cuTensorMapEncodeTiled(&other, 6, 1, (void *)d, dims, NULL, box, steps, 0, 1, 2, 1));
	HOLDS(memcmp(&map, &other, sizeof map));
	OK(cuTensorMapReplaceAddress(&map, (void *)(d + 16)));
	EQUAL(cuTensorMapReplaceAddress(&map, (void *)(d + 1)), 1);
	EQUAL(cuTensorMapEncodeTiled((CUtensorMap *)((char *)&map + 16), 6, 2, (void *)d, dims, strides, box, steps, 0, 0, 0, 0), 1);
	EQUAL(cuTensorMapEncodeTiled(&map, 6, 6, (void *)d, dims, strides, box, steps, 0, 0, 0, 0), 1);
	EQUAL(cuTensorMapEncodeTiled(&map, 6, 2, (void *)d, dims, NULL, box, steps, 0, 0, 0, 0), 1);
	OK(cuTensorMapEncodeIm2col(&map, 6, 4, (void *)d, dims, strides, lower, upper, 64, 128, steps, 0, 3, 0, 0));
	EQUAL(cuTensorMapEncodeIm2col(&map, 6, 2, (void *)d, dims, strides, lower, upper, 64, 128, steps, 0, 3, 0, 0), 1);
	OK(cuTensorMapEncodeIm2colWide(&map, 6, 4, (void *)d, dims, strides, -1, -1, 64, 128, steps, 0, 1, 3, 0, 0));
	EQUAL(cuTensorMapEncodeIm2colWide(&map, 6, 4, (void *)d, dims, strides, -1, -1, 64, 128, steps, 0, 1, 0, 0, 0), 1);
	OK(cuMemFree_v2(d));
}

static void memory_and_launch(CUmodule m)
{
	static unsigned x[N], y[N];
	CUfunction f = function_of(m);
	CUdeviceptr d;
	size_t free, total, size;
	OK(cuMemGetInfo_v2(&free, &total));
	OK(cuMemAlloc_v2(&d, sizeof x));
	OK(cuMemGetInfo_v2(&size, &total));
	EQUAL(free - size, sizeof x);
	for (int i = 0; i < N; i++)
		x[i] = i;
	OK(cuMemcpyHtoD_v2(d, x, sizeof x));
	OK(add(f, 0, d, 7, N / 100));
	OK(cuMemcpyDtoH_v2(y, d, sizeof y));
	for (int i = 0; i < N; i++)
		EQUAL(y[i], i + 7);
	OK(cuMemsetD8_v2(d, 1, 8));
	unsigned n = 2;
	char buffer[12];
	size_t bytes = sizeof buffer;
	memcpy(buffer, &d, 8);
	memcpy(buffer + 8, &n, 4);
	void *extra[] = {(void *)1, buffer, (void *)2, &bytes, NULL};
	OK(cuLaunchKernel(f, 1, 1, 1, 2, 1, 1, 0, 0, NULL, extra));
	OK(cuStreamSynchronize(0));
	OK(cuMemcpyDtoH_v2(y, d, 12));
	EQUAL(y[0], 0x01010103);
	EQUAL(y[2], 9);

	CUdeviceptr v;
	OK(cuModuleGetGlobal_v2(&v, &size, m, "v"));
	EQUAL(size, 4);
	OK(cuMemcpyDtoH_v2(y, v, 4));
	EQUAL(y[0], 40);

	int on_device = 0;
	OK(cuPointerGetAttribute(&on_device, 2, d + 4));
	EQUAL(on_device, 2);
	CUDA_MEMCPY2D c = {.srcMemoryType = 1, .srcHost = x, .srcPitch = 40, .dstMemoryType = 2, .dstDevice = d, .dstPitch = 8, .WidthInBytes = 8, .Height = 3};
	OK(cuMemcpy2D_v2(&c));
	OK(cuMemcpyDtoH_v2(y, d, 24));
	EQUAL(y[2], 10);
	EQUAL(y[5], 21);
	EQUAL(cuMemcpyDtoH_v2(y, d + sizeof x - 4, 8), 1);
	EQUAL(cuMemcpyDtoH_v2(NULL, d, 8), 1);
	OK(cuMemcpyHtoD_v2_ptds(d, x, 8));
	void *args[] = {&d, &n};
	OK(cuLaunchKernel_ptsz(f, 1, 1, 1, 2, 1, 1, 0, 0, args, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemFree_v2(d));
	EQUAL(cuMemFree_v2(d), 1);
}

static void count(void *p) { ++*(int *)p; }
static void count_status(CUstream s, CUresult r, void *p) { *(int *)p += s != 0 && r == 0 ? 10 : 1000; }

static void streams(CUmodule m)
{
	CUfunction f = function_of(m);
	CUstream s;
	CUevent begin, end;
	CUdeviceptr d;
	unsigned *h;
	int called = 0;
	float ms = -1;
	OK(cuStreamCreate(&s, 1));
	OK(cuEventCreate(&begin, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuMemHostAlloc((void **)&h, 400, 0));
	OK(cuMemAlloc_v2(&d, 400));
	for (int i = 0; i < 100; i++)
		h[i] = i;
	OK(cuEventRecord(begin, s));
	OK(cuMemcpyHtoDAsync_v2(d, h, 400, s));
	OK(add(f, s, d, 5, 1));
	OK(cuMemcpyDtoHAsync_v2(h, d, 400, s));
	OK(cuLaunchHostFunc(s, count, &called));
	OK(cuStreamAddCallback(s, count_status, &called, 0));
	OK(cuEventRecord(end, s));
	OK(cuEventSynchronize(end));
	EQUAL(called, 11);
	EQUAL(h[99], 104);
	OK(cuEventElapsedTime(&ms, begin, end));
	HOLDS(ms >= 0);
	OK(add(f, s, (CUdeviceptr)(uintptr_t)h, 1, 1)); // host memory has its own address
	OK(cuStreamSynchronize(s));
	EQUAL(h[99], 105);
	OK(cuEventDestroy_v2(begin));
	OK(cuEventDestroy_v2(end));
	OK(cuStreamDestroy_v2(s));
	OK(cuMemFreeHost(h));
	OK(cuMemFree_v2(d));
}

static size_t no_shared(int threads) { return threads > 0 ? 0 : 1 << 20; }

static void modules(void)
{
	char errors[200] = "", info[200] = "x";
	int options[] = {5, 6, 3, 4, 2};
	void *values[] = {errors, (void *)sizeof errors, info, (void *)sizeof info, NULL};
	CUmodule m;
	EQUAL(cuModuleLoadDataEx(&m, ".version 7.8\n.target sm_80\n.entry k() { bogus; }\n", 5, options, values), 218);
	HOLDS(strstr(errors, ":3:") != NULL && strstr(errors, "bogus") != NULL);
	EQUAL((size_t)values[1], strlen(errors));
	OK(cuModuleLoadDataEx(&m, ptx, 5, options, values));
	EQUAL(strlen(errors), 0);
	OK(cuModuleUnload(m));
	static const char machine_code[64] = "\x7f" "ELF";
	EQUAL(cuModuleLoadData(&m, machine_code), 209);

	CUlinkState link;
	void *image;
	size_t size;
	values[1] = (void *)sizeof errors;
	OK(cuLinkCreate_v2(2, options, values, &link));
	OK(cuLinkAddData_v2(link, 1, (void *)ptx, strlen(ptx) + 1, "add.ptx", 0, NULL, NULL));
	EQUAL(cuLinkAddData_v2(link, 1, "bogus", 6, "bogus.ptx", 0, NULL, NULL), 218);
	HOLDS(strstr(errors, "bogus.ptx:1:1") != NULL);
	EQUAL((size_t)values[1], strlen(errors));
	OK(cuLinkComplete(link, &image, &size));
	OK(cuModuleLoadData(&m, image));
	OK(cuLinkDestroy(link));
	CUfunction f = function_of(m);
	int grid, block, most;
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, no_shared, 0, 0));
	HOLDS(grid > 0 && block % 32 == 0);
	OK(cuFuncGetAttribute(&most, 0, f));
	EQUAL(most, 1024);
	EQUAL(cuModuleGetFunction(&f, m, "none"), 500);
	OK(cuModuleUnload(m));

	CUlibrary l;
	CUkernel k;
	CUdeviceptr d;
	OK(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&k, l, "add"));
	OK(cuMemAlloc_v2(&d, 400));
	OK(add(k, 0, d, 1, 1));
	OK(cuCtxSynchronize());
	OK(cuMemFree_v2(d));
	OK(cuLibraryUnload(l));
}

static void graphs(CUmodule m)
{
	CUgraph g;
	CUgraphNode first, second, third;
	CUgraphExec x;
	CUdeviceptr a, b;
	unsigned n = 3, got[100];
	OK(cuMemAlloc_v2(&a, 400));
	OK(cuMemAlloc_v2(&b, 400));
	void *args[] = {&a, &n};
	CUDA_KERNEL_NODE_PARAMS k = {.func = function_of(m), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 100, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	CUDA_MEMCPY3D c = {.srcMemoryType = 2, .srcDevice = a, .srcPitch = 400, .srcHeight = 1, .dstMemoryType = 2, .dstDevice = b, .dstPitch = 400, .dstHeight = 1, .WidthInBytes = 400, .Height = 1, .Depth = 1};
	OK(cuGraphCreate(&g, 0));
	OK(cuGraphAddKernelNode_v2(&first, g, NULL, 0, &k));
	OK(cuGraphAddMemcpyNode(&second, g, &first, 1, &c, 0));
	CUlaunchAttributeValue whether = {.value = 1}, now = {0};
	EQUAL(cuGraphKernelNodeSetAttribute(second, 2, &whether), 1);
	OK(cuGraphKernelNodeSetAttribute(first, 2, &whether));
	OK(cuGraphKernelNodeGetAttribute(first, 2, &now));
	EQUAL(now.value, 1);
	OK(cuGraphInstantiateWithFlags(&x, g, 0));
	OK(cuGraphDestroy(g));
	OK(cuGraphLaunch(x, 0));
	OK(cuGraphLaunch(x, 0));
	OK(cuMemcpyDtoH_v2(got, b, 400));
	EQUAL(got[99], 6);
	OK(cuGraphExecDestroy(x));

	// A captured graph can be queried and changed.
	CUstream s;
	OK(cuStreamCreate(&s, 0));
	int status;
	uint64_t id;
	const CUgraphNode *after;
	size_t count;
	OK(cuStreamBeginCapture_v2(s, 0));
	OK(cuMemsetD32Async(a, 5, 100, s));
	OK(cuLaunchKernel(k.func, 1, 1, 1, 100, 1, 1, 0, s, k.kernelParams, NULL));
	OK(cuStreamGetCaptureInfo_v2(s, &status, &id, NULL, &after, &count));
	EQUAL(status, 1);
	EQUAL(count, 1);
	second = after[0];
	OK(cuStreamEndCapture(s, &g));
	OK(cuStreamIsCapturing(s, &status));
	EQUAL(status, 0);
	count = 1;
	OK(cuGraphGetEdges(g, &first, &second, &count));
	EQUAL(second, after[0]);
	count = SIZE_MAX; // an impossible length of a list
	EQUAL(cuGraphGetEdges(g, &first, &second, &count), 1);
	EQUAL(cuGraphAddKernelNode_v2(&third, g, &first, SIZE_MAX / 2 + 1, &k), 1);
	CUDA_KERNEL_NODE_PARAMS v1 = {.kern = 77};
	OK(cuGraphKernelNodeGetParams(second, &v1));
	EQUAL(v1.func, k.func);
	EQUAL(v1.kern, 77); // version 1 of the structure does not have this member
	CUDA_KERNEL_NODE_PARAMS again = {0};
	OK(cuGraphKernelNodeGetParams(second, &again)); // has equal arguments, and leaves those of k valid
	HOLDS(again.kernelParams == v1.kernelParams);
	EQUAL(*(uint64_t *)v1.kernelParams[0], *(uint64_t *)k.kernelParams[0]);
	OK(cuGraphInstantiateWithFlags(&x, g, 0));
	CUDA_MEMSET_NODE_PARAMS fill;
	OK(cuGraphMemsetNodeGetParams(first, &fill));
	EQUAL(fill.value, 5);
	fill.value = 50;
	OK(cuGraphMemsetNodeSetParams(first, &fill));
	CUgraphExecUpdateResultInfo info;
	OK(cuGraphExecUpdate_v2(x, g, &info));
	EQUAL(info.result, 0);
	EQUAL(cuGraphUpload(0, s), 400);
	OK(cuGraphUpload(x, s));
	OK(cuGraphDestroy(g));
	OK(cuGraphExecDestroy(x));
	OK(cuStreamDestroy_v2(s));
	OK(cuMemFree_v2(a));
	OK(cuMemFree_v2(b));
}

static void pools(CUdevice dev, CUmodule m)
{
	CUmemoryPool pool, mine;
	CUmemLocation here = {1, dev};
	CUmemAccessDesc access = {{1, dev}, 3};
	CUmemPoolProps props = {.allocType = 1, .location = {1, dev}};
	CUdeviceptr d;
	CUstream s;
	uint64_t bytes = 0;
	int flags = 1;
	unsigned x[100];
	OK(cuStreamCreate(&s, 1));
	OK(cuDeviceGetDefaultMemPool(&pool, dev));
	OK(cuMemGetDefaultMemPool(&mine, &here, 1));
	EQUAL(mine, pool);
	OK(cuMemAllocAsync(&d, sizeof x, s));
	OK(cuMemPoolGetAttribute(pool, 7, &bytes));
	EQUAL(bytes, sizeof x);
	OK(add(function_of(m), s, d, 3, 1));
	OK(cuMemcpyDtoHAsync_v2(x, d, sizeof x, s));
	OK(cuMemFreeAsync(d, s));
	OK(cuStreamSynchronize(s));
	EQUAL(x[99], 3);
	EQUAL(cuMemFreeAsync(d, s), 1);
	OK(cuMemPoolSetAttribute(pool, 1, &flags));
	bytes = 1 << 20;
	OK(cuMemPoolSetAttribute(pool, 4, &bytes));
	flags = 0;
	OK(cuMemPoolGetAttribute(pool, 1, &flags));
	EQUAL(flags, 1);
	OK(cuMemPoolCreate(&mine, &props));
	OK(cuMemPoolSetAccess(mine, &access, 1));
	OK(cuMemPoolGetAccess(&flags, mine, &here));
	EQUAL(flags, 3);
	OK(cuMemAllocFromPoolAsync_ptsz(&d, 8, mine, 0));
	OK(cuMemFree_v2(d));
	OK(cuMemPoolDestroy(mine));
	props.handleTypes = 2; // handles of Windows
	EQUAL(cuMemPoolCreate(&mine, &props), 801);
	OK(cuStreamDestroy_v2(s));
}

// virtual_memory writes to memory at its mapping, and checks it at its import.
static void virtual_memory(CUdevice dev)
{
	CUmemAllocationProp props = {.type = 1, .requestedHandleTypes = 1, .location = {1, dev}}, read = {0};
	CUmemAccessDesc access = {{1, dev}, 3};
	CUmemGenericAllocationHandle memory, imported, again;
	CUdeviceptr d, e;
	size_t size;
	unsigned long long flags;
	int fd, x = 0, yes;
	OK(cuDeviceGetAttribute(&yes, 102, dev));
	if (!yes)
		return; // this system has no virtual memory management
	EQUAL(sizeof props, 32);
	OK(cuMemGetAllocationGranularity(&size, &props, 1));
	OK(cuMemCreate(&memory, size, &props, 0));
	OK(cuMemAddressReserve(&d, 2 * size, 0, 0, 0));
	OK(cuMemMap(d, size, 0, memory, 0));
	OK(cuMemExportToShareableHandle(&fd, memory, 1, 0));
	OK(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, 1));
	OK(cuMemMap(d + size, size, 0, imported, 0));
	OK(cuMemSetAccess(d, 2 * size, &access, 1));
	OK(cuMemGetAccess(&flags, &access.location, d));
	EQUAL(flags, 3);
	OK(cuMemGetAllocationPropertiesFromHandle(&read, memory));
	EQUAL(memcmp(&read, &props, sizeof read), 0);
	OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(d + 8)));
	EQUAL(again, memory);
	OK(cuMemcpyHtoD_v2(d + 12, &(int){77}, 4));
	OK(cuMemcpyDtoH_v2(&x, d + size + 12, 4));
	EQUAL(x, 77);
	OK(cuPointerGetAttribute(&e, 11, d + size + 12));
	EQUAL(e, d);
	OK(cuMemUnmap(d, 2 * size));
	for (int i = 0; i < 2; i++)
		OK(cuMemRelease(memory));
	OK(cuMemRelease(imported));
	EQUAL(cuMemRelease(memory), 1);
	OK(cuMemAddressFree(d, 2 * size));
}

// memory_operations makes streams wait for values written by other streams and the host.
static void memory_operations(void)
{
	CUstream s;
	CUdeviceptr d;
	uint64_t x[2];
	CUstreamBatchMemOpParams ops[3] = {
		{.operation = 4, .value = 1ull << 40},
		{.operation = 6, .barrierFlags = 1},
		{.operation = 2, .value = 5},
	};
	EQUAL(sizeof ops[0], 48);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&d, sizeof x));
	ops[0].address = d;
	ops[2].address = d + 8;
	OK(cuStreamBatchMemOp_v2(s, 3, ops, 0));
	OK(cuStreamWriteValue64(0, d, 1ull << 40, 0));
	OK(cuStreamWaitValue32(0, d + 8, 5, 1));
	OK(cuStreamWriteValue32_v2_ptsz(0, d + 12, 6, 0));
	OK(cuStreamWaitValue64_v2(0, d + 8, 6ull << 32 | 5, 1));
	OK(cuMemcpyDtoH_v2(x, d, sizeof x));
	EQUAL(x[0] >> 40, 1);
	EQUAL(cuStreamWriteValue64(0, d + 4, 0, 0), 1);
	OK(cuMemFree_v2(d));
	OK(cuStreamDestroy_v2(s));
}

static void cooperative(CUdevice dev, CUmodule m)
{
	CUdeviceptr d;
	unsigned n = 5;
	void *args[] = {&d, &n};
	CUlaunchAttribute attribute = {.id = 2, .value = {.value = 1}};
	CUlaunchConfig config = {1, 1, 1, 100, 1, 1, 0, 0, &attribute, 1};
	int can = 0;
	OK(cuDeviceGetAttribute(&can, 95, dev));
	EQUAL(can, 1);
	OK(cuMemAlloc_v2(&d, 100000));
	OK(cuLaunchCooperativeKernel(function_of(m), 10, 1, 1, 100, 1, 1, 0, 0, args));
	OK(cuLaunchKernelEx(&config, function_of(m), args, NULL));
	OK(cuMemcpyDtoH_v2(&n, d, 4));
	EQUAL(n, 10);
	config.gridDimX = 100000; // more blocks than the device can hold at once
	EQUAL(cuLaunchKernelEx(&config, function_of(m), args, NULL), 720);
	attribute = (CUlaunchAttribute){.id = 4, .value = {.dim = {2, 1, 1}}}; // clusters
	config.gridDimX = 10;
	OK(cuLaunchKernelEx(&config, function_of(m), args, NULL));
	OK(cuOccupancyMaxActiveClusters(&can, function_of(m), &config));
	HOLDS(can > 0);
	OK(cuOccupancyMaxPotentialClusterSize(&can, function_of(m), &config));
	EQUAL(can, 8);
	config.gridDimX = 9;
	EQUAL(cuLaunchKernelEx(&config, function_of(m), args, NULL), 1);
	attribute.value.dim[0] = 9;
	EQUAL(cuLaunchKernelEx(&config, function_of(m), args, NULL), 912);
	OK(cuMemFree_v2(d));
	OK(cuCtxSynchronize_v2(shared));
	OK(cuCtxGetDevice_v2(&can, 0));
	EQUAL(can, dev);
}

// These functions use a texture and a surface as objects, and a texture by its name in a module. set_up launches a kernel
// by the functions that cuLaunchKernel has replaced.
static void set_up(CUmodule m)
{
	CUdeviceptr d;
	CUcontext same;
	unsigned n = 0;
	const void *table;
	CUuuid id = {{0}};
	CUfunction f = function_of(m);
	OK(cuMemAlloc_v2(&d, 8));
	OK(cuFuncSetBlockShape(f, 1, 1, 1));
	OK(cuFuncSetSharedSize(f, 0));
	OK(cuParamSetv(f, 0, &d, sizeof d));
	OK(cuParamSeti(f, 8, 6));
	OK(cuParamSetSize(f, 12));
	OK(cuLaunch(f));
	OK(cuLaunchGridAsync(f, 2, 1, 0));
	OK(cuMemcpyDtoH_v2(&n, d, 4));
	EQUAL(n, 12);
	EQUAL(cuParamSetv(f, 0, NULL, 8), 1);
	OK(cuMemFree_v2(d));
	OK(cuCtxAttach(&same, 0));
	EQUAL(same == shared, 1);
	OK(cuCtxDetach(same));
	OK(cuCtxSynchronize());
	EQUAL(cuGetExportTable(&table, &id), 801);
}

static void textures(void)
{
	static const char *const source =
		".version 7.8\n.target sm_80\n.address_size 64\n"
		".global .texref named;\n"
		".visible .entry sample(.param .u64 t, .param .u64 s)\n"
		"{\n"
		"  .reg .f32 %f<6>; .reg .u64 %rd<2>; .reg .u32 %x; .reg .b32 %r;\n"
		"  ld.param.u64 %rd0, [t]; ld.param.u64 %rd1, [s];\n"
		"  tex.1d.v4.f32.f32 {%f0, _, _, _}, [named, {0f40000000}];\n"
		"  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, {0f3F800000, 0f3F000000}];\n"
		"  add.f32 %f0, %f0, %f1;\n"
		"  mov.b32 %r, %f0;\n"
		"  sust.b.1d.b32.trap [%rd1, {4}], %r;\n"
		"  ret;\n"
		"}\n";
	CUmodule m;
	CUfunction f;
	CUtexref ref;
	CUarray a, b, c, level;
	CUmipmappedArray mip;
	CUtexObject t;
	CUsurfObject s;
	unsigned mode;
	float texels[4] = {1, 3, 10, 20}, got[3] = {0};
	CUDA_ARRAY_DESCRIPTOR line = {4, 0, 0x20, 1};
	CUDA_ARRAY3D_DESCRIPTOR made, square = {2, 2, 0, 0x20, 1, 0}, output = {3, 0, 0, 0x20, 1, 2};
	CUDA_RESOURCE_DESC resource = {0}, back;
	CUDA_TEXTURE_DESC look = {.addressMode = {1, 1, 1}, .filterMode = 1}, again;
	OK(cuModuleLoadData(&m, source));
	OK(cuModuleGetFunction(&f, m, "sample"));
	EQUAL(cuModuleGetTexRef(&ref, m, "nothing"), 500);
	OK(cuModuleGetTexRef(&ref, m, "named"));
	OK(cuArrayCreate_v2(&a, &line));
	OK(cuMemcpyHtoA_v2(a, 0, texels, sizeof texels));
	EQUAL(cuMemcpyHtoA_v2(a, 4, texels, sizeof texels), 1);
	OK(cuTexRefSetArray(ref, a, 1));
	OK(cuTexRefSetFilterMode(ref, 1));
	OK(cuTexRefSetAddressMode(ref, 0, 1));
	OK(cuTexRefGetFilterMode(&mode, ref));
	EQUAL(mode, 1);
	OK(cuTexRefGetArray(&b, ref));
	HOLDS(a == b);
	OK(cuArray3DCreate_v2(&b, &square));
	OK(cuArray3DGetDescriptor_v2(&made, b));
	HOLDS(made.Width == 2 && made.Height == 2 && made.Depth == 0 && made.Format == 0x20 && made.NumChannels == 1 && made.Flags == 0);
	CUDA_MEMCPY2D move = {.srcMemoryType = 1, .srcHost = texels, .srcPitch = 8, .dstMemoryType = 3, .dstArray = b, .WidthInBytes = 8, .Height = 2};
	OK(cuMemcpy2D_v2(&move));
	move.Height = 3;
	EQUAL(cuMemcpy2D_v2(&move), 1);
	OK(cuArray3DCreate_v2(&c, &output));
	resource.res.array = b;
	OK(cuTexObjectCreate(&t, &resource, &look, NULL));
	OK(cuTexObjectGetResourceDesc(&back, t));
	HOLDS(back.resType == 0 && back.res.array == b);
	OK(cuTexObjectGetTextureDesc(&again, t));
	HOLDS(memcmp(&again, &look, sizeof look) == 0);
	EQUAL(cuSurfObjectCreate(&s, &resource), 1); // the array was made without the flag for surfaces
	resource.res.array = c;
	OK(cuSurfObjectCreate(&s, &resource));
	void *args[] = {&t, &s};
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, NULL));
	OK(cuMemcpyAtoH_v2(got, c, 0, sizeof got));
	HOLDS(got[0] == 0 && got[1] == (3 + 10) / 2.f + 2 && got[2] == 0); // the means of 3 and 10, and of 1 and 3
	OK(cuMipmappedArrayCreate(&mip, &square, 7));
	OK(cuMipmappedArrayGetLevel(&level, mip, 1));
	OK(cuArray3DGetDescriptor_v2(&made, level));
	HOLDS(made.Width == 1 && made.Height == 1);
	EQUAL(cuMipmappedArrayGetLevel(&level, mip, 2), 1);
	EQUAL(cuArrayDestroy(level), 1);
	OK(cuMipmappedArrayDestroy(mip));
	OK(cuTexObjectDestroy(t));
	EQUAL(cuTexObjectDestroy(t), 1);
	OK(cuSurfObjectDestroy(s));
	OK(cuArrayDestroy(a));
	OK(cuArrayDestroy(b));
	OK(cuArrayDestroy(c));
	EQUAL(cuArrayDestroy(c), 400);
	OK(cuModuleUnload(m));
}

static void symbols(void)
{
	void *p = NULL;
	int status = -1;
	CUarray plane;
	OK(cuGetProcAddress_v2("cuMemAlloc", &p, 12000, 0, &status));
	HOLDS(p == (void *)cuMemAlloc_v2 && status == 0);
	OK(cuGetProcAddress_v2("cuLaunchKernel", &p, 12000, 2, &status));
	HOLDS(p == (void *)cuLaunchKernel_ptsz);
	OK(cuGetProcAddress_v2("cuGraphInstantiate", &p, 12000, 0, &status));
	HOLDS(p == (void *)cuGraphInstantiateWithFlags);
	OK(cuGetProcAddress_v2("cuLibraryLoadData", &p, 11000, 0, &status));
	HOLDS(p == NULL && status == 2);
	OK(cuGetProcAddress_v2("cuCtxSynchronize", &p, 12090, 0, &status));
	HOLDS(p == (void *)cuCtxSynchronize);
	OK(cuGetProcAddress_v2("cuCtxSynchronize", &p, 13000, 0, &status));
	HOLDS(p == (void *)cuCtxSynchronize_v2);
	// A function that is older than cuGetProcAddress is found for every version, in its oldest version.
	OK(cuGetProcAddress_v2("cuFuncSetAttribute", &p, 2000, 0, &status));
	HOLDS(p == (void *)cuFuncSetAttribute && status == 0);
	OK(cuGetProcAddress_v2("cuDevicePrimaryCtxRelease", &p, 5000, 0, &status));
	HOLDS(p == (void *)cuDevicePrimaryCtxRelease && status == 0);
	OK(cuGetProcAddress_v2("cuDevicePrimaryCtxRelease", &p, 11000, 0, &status));
	HOLDS(p == (void *)cuDevicePrimaryCtxRelease_v2 && status == 0);
	OK(cuGetProcAddress_v2("cuLaunchKernel", &p, 2000, 2, &status)); // the thread's own default stream came with 7.0
	HOLDS(p == (void *)cuLaunchKernel && status == 0);
	OK(cuGetProcAddress_v2("cuDeviceGetExecAffinitySupport", &p, 11030, 0, &status)); // a function of 11.4
	HOLDS(p == NULL && status == 2);
	OK(cuGetProcAddress_v2("cuGreenCtxCreate", &p, 12030, 2, &status));
	HOLDS(p == NULL && status == 2);
	EQUAL(cuGetProcAddress_v2("cuGreenCtxCreate", &p, 12030, 0, NULL), 500);
	EQUAL(cuGetProcAddress_v2("cuMemAlloc", &p, 99990, 0, &status), 1); // newer than the driver
	EQUAL(cuGetProcAddress_v2("cuMemAlloc", &p, 12000, 4, &status), 1); // 4 is no flag
	OK(cuGetProcAddress_v2("cuNothing", &p, 12000, 0, &status));
	HOLDS(p == NULL && status == 1);
	EQUAL(cuArrayGetPlane(&plane, 0, 0), 801);
}

static void *client(void *p)
{
	unsigned id = (unsigned)(uintptr_t)p, got[100];
	CUmodule m;
	CUstream s;
	CUdeviceptr d;
	CUcontext none;
	OK(cuCtxGetCurrent(&none));
	EQUAL(none, 0);
	OK(cuCtxSetCurrent(shared));
	OK(cuModuleLoadData(&m, ptx));
	CUfunction f = function_of(m);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&d, sizeof got));
	for (unsigned i = 0; i < ROUNDS; i++)
		OK(add(f, s, d, id, 1));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(got, d, sizeof got));
	EQUAL(got[99], id * ROUNDS);
	OK(cuMemFree_v2(d));
	OK(cuStreamDestroy_v2(s));
	OK(cuModuleUnload(m));
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&t[i], NULL, client, (void *)(uintptr_t)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(t[i], NULL), 0);
}

// A fault is the result of all later calls in its context, and of no call in another context.
static void faults(CUdevice dev)
{
	CUcontext ctx;
	CUmodule m;
	CUdeviceptr d;
	const char *name;
	OK(cuCtxCreate_v2(&ctx, 0, dev));
	OK(cuModuleLoadData(&m, ptx));
	OK(cuMemAlloc_v2(&d, 396));
	CUresult launched = add(function_of(m), 0, d, 1, 1);
	HOLDS(launched == 0 || launched == 700); // 700 if launches are synchronous
	EQUAL(cuCtxSynchronize(), 700);
	EQUAL(cuMemAlloc_v2(&d, 4), 700);
	OK(cuGetErrorName(700, &name));
	EQUAL(strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"), 0);
	OK(cuCtxDestroy_v2(ctx));
	OK(cuCtxSetCurrent(shared));
	OK(cuCtxSynchronize());
}

int main(void)
{
	CUdevice dev;
	CUmodule m;
	int n, major, minor;
	char name[20];
	size_t total;
	EQUAL(cuDeviceGet(&dev, 0), 3);
	OK(cuInit(0));
	OK(cuDriverGetVersion(&n));
	HOLDS(n >= 12000);
	OK(cuDeviceGetCount(&n));
	EQUAL(n, 1);
	OK(cuDeviceGet(&dev, 0));
	EQUAL(cuDeviceGet(NULL, 0), 1);
	EQUAL(cuDeviceGet(&dev, 1), 101);
	OK(cuDeviceGetName(name, sizeof name, dev));
	EQUAL(strcmp(name, "gemu"), 0);
	OK(cuDeviceGetName(name, 3, dev));
	EQUAL(strcmp(name, "ge"), 0);
	OK(cuDeviceGetAttribute(&major, 75, dev));
	OK(cuDeviceGetAttribute(&minor, 76, dev));
	EQUAL(10 * major + minor, 89); // the test sets GEMU_SM
	OK(cuDeviceTotalMem_v2(&total, dev));
	EQUAL(cuCtxSynchronize(), 201);
	OK(cuDevicePrimaryCtxRetain(&shared, dev));
	OK(cuCtxSetCurrent(shared));
	OK(cuModuleLoadData(&m, ptx));
	memory_and_launch(m);
	tensor_maps();
	streams(m);
	modules();
	graphs(m);
	pools(dev, m);
	virtual_memory(dev);
	memory_operations();
	cooperative(dev, m);
	set_up(m);
	textures();
	symbols();
	threads();
	faults(dev);
	OK(cuModuleUnload(m));
	OK(cuDevicePrimaryCtxRelease_v2(dev));
	puts("ok");
	return 0;
}
