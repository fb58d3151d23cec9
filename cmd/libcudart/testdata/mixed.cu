// Both APIs in the same program share contexts, streams, memory and kernels.

#include <cuda.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void add(int *x, int value) { x[threadIdx.x] += value; }

static const char ptx[] = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 seen;
.visible .global .attribute(.managed) .align 4 .u32 shared_word = 77;
.visible .entry twice(.param .u64 x)
{
	.reg .b32 %r<4>; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd1, %rd1, %rd2;
	ld.global.u32 %r2, [%rd1];
	shl.b32 %r2, %r2, 1;
	st.global.u32 [%rd1], %r2;
	st.global.u32 [seen], %r1;
	ret;
}
)";

int main()
{
	DRIVER(cuInit(0));
	int *x, host[32];
	CHECK(cudaMalloc(&x, sizeof host)); // makes the primary context current
	CUcontext current, primary;
	CUdevice device;
	DRIVER(cuCtxGetCurrent(&current));
	DRIVER(cuDeviceGet(&device, 0));
	DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
	EXPECT(current != nullptr && current == primary);
	DRIVER(cuMemsetD32((CUdeviceptr)x, 5, 32));

	CUmodule module;
	CUfunction twice;
	DRIVER(cuModuleLoadData(&module, ptx));
	DRIVER(cuModuleGetFunction(&twice, module, "twice"));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	void *args[] = {&x};
	DRIVER(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, s, args, nullptr));
	add<<<1, 32, 0, s>>>(x, 3);
	CUevent e;
	DRIVER(cuEventCreate(&e, 0));
	CHECK(cudaEventRecord(e, s));
	DRIVER(cuEventSynchronize(e));
	CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
	for (int v : host)
		EXPECT(v == 13);

	// A kernel of the program is also a function of the driver; a kernel of a library also works with <<<>>>.
	cudaFunction_t f;
	CHECK(cudaGetFuncBySymbol(&f, (const void *)add));
	int value = -13;
	void *more[] = {&x, &value};
	DRIVER(cuLaunchKernel((CUfunction)f, 1, 1, 1, 32, 1, 1, 0, s, more, nullptr));
	cudaLibrary_t library;
	cudaKernel_t k;
	CHECK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
	CHECK(cudaLibraryGetKernel(&k, library, "twice"));
	CHECK(cudaLaunchKernel((const void *)k, dim3(1), dim3(16), args, 0, s));
	void *seen;
	size_t size;
	CHECK(cudaLibraryGetGlobal(&seen, &size, library, "seen"));
	unsigned last;
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(&last, seen, sizeof last, cudaMemcpyDefault));
	EXPECT(size == 4 && last == 15);
	void *word;
	CHECK(cudaLibraryGetManaged(&word, &size, library, "shared_word"));
	EXPECT(size == 4 && *(int *)word == 77);
	FAILS(cudaErrorSymbolNotFound, cudaLibraryGetManaged(&word, &size, library, "seen"));
	CHECK(cudaLibraryUnload(library));
	DRIVER(cuMemcpyDtoH(host, (CUdeviceptr)x, sizeof host));
	for (int v : host)
		EXPECT(v == 0);

	// While a context of the program is current, the runtime works in it.
	CUcontext own;
#if CUDA_VERSION >= 13000
	DRIVER(cuCtxCreate(&own, nullptr, 0, device));
#else
	DRIVER(cuCtxCreate(&own, 0, device));
#endif
	int *y;
	CHECK(cudaMalloc(&y, 64));
	CUcontext of;
	DRIVER(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)y));
	EXPECT(of == own);
	CHECK(cudaMemset(y, 0, 64));
	add<<<1, 16>>>(y, 4);
	CHECK(cudaMemcpy(host, y, 64, cudaMemcpyDeviceToHost));
	EXPECT(host[0] == 4 && host[15] == 4);
	CHECK(cudaFree(y));
	DRIVER(cuCtxDestroy(own));
	add<<<1, 32>>>(x, 8);
	CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
	EXPECT(host[31] == 8);

	void *entry;
	cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 13000
	CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found));
#else
	CHECK(cudaGetDriverEntryPoint("cuMemAlloc", &entry, cudaEnableDefault, &found));
#endif
	EXPECT(entry != nullptr && found == cudaDriverEntryPointSuccess);
	CUdeviceptr p;
	DRIVER(((CUresult(*)(CUdeviceptr *, size_t))entry)(&p, 16));
	CHECK(cudaFree((void *)p));
	puts("ok");
}
