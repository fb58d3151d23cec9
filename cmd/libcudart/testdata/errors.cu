// Misuses: each gives its error and the program continues; a fault of a kernel stays until the
// device is reset.

#include <climits>
#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void store(int *p, int v) { p[threadIdx.x] = v; }
__global__ void nothing() {}
__global__ void __launch_bounds__(64) small(int *p) { *p = 1; }
__constant__ int constant;
__device__ int variable;

static void host_function() {}

static void misuse()
{
	int *p = nullptr, host = 3, value;
	void *q;
	size_t size;
	FAILS(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 4));
	FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, SIZE_MAX / 2));
	EXPECT(p == nullptr);
	CHECK(cudaMalloc(&p, 0));
	EXPECT(p == nullptr);
	CHECK(cudaFree(nullptr));
	CHECK(cudaFreeHost(nullptr));
	FAILS(cudaErrorInvalidValue, cudaFree(&host));
	CHECK(cudaMalloc(&p, 128));
	FAILS(cudaErrorInvalidValue, cudaFree(p + 1));
	FAILS(cudaErrorInvalidValue, cudaMemcpy(p, &host, 256, cudaMemcpyHostToDevice));
	FAILS(cudaErrorInvalidValue, cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice));
	FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, p, 4, cudaMemcpyDeviceToHost));
	FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, &host, 4, (cudaMemcpyKind)9));
	FAILS(cudaErrorInvalidValue, cudaMemset(p, 0, 129));
	FAILS(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 1));
	FAILS(cudaErrorInvalidValue, cudaMemGetInfo(nullptr, nullptr));
	FAILS(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
	FAILS(cudaErrorInvalidValue, cudaGetDevice(nullptr));
	FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
	FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 77));
	FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0));
	FAILS(cudaErrorInvalidValue, cudaGetDeviceProperties(nullptr, 0));
	FAILS(cudaErrorInvalidValue, cudaEventCreate((cudaEvent_t *)nullptr));
	FAILS(cudaErrorInvalidValue, cudaStreamCreate((cudaStream_t *)nullptr));
	FAILS(cudaErrorInvalidValue, cudaMallocManaged(&p, 64, 99));
	FAILS(cudaErrorInvalidValue, cudaMallocManaged((void **)nullptr, 64));
	FAILS(cudaErrorInvalidValue, cudaMallocHost((void **)nullptr, 64));
	FAILS(cudaErrorInvalidValue, cudaGetSymbolSize(nullptr, variable));
	FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&q, (const void *)&host));
	FAILS(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, (const void *)nullptr));
	FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize((cudaStream_t)0x12345));
	FAILS(cudaErrorInvalidResourceHandle, cudaEventQuery((cudaEvent_t)0x12345));
	FAILS(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, p));
	FAILS(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
	FAILS(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, nothing));

	// Launches.
	cudaFuncAttributes a;
	FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, (const void *)host_function));
	FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)host_function, dim3(1), dim3(1), nullptr, 0, 0));
	FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), nullptr, 0, 0));
	FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)&variable, dim3(1), dim3(1), nullptr, 0, 0));
	nothing<<<0, 1>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	nothing<<<1, 0>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	nothing<<<1, 1025>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	nothing<<<1, dim3(32, 32, 2)>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	nothing<<<dim3(1, 65536), 1>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	nothing<<<UINT_MAX, 1>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	small<<<1, 65>>>(p);
	EXPECT(cudaGetLastError() != cudaSuccess);
	nothing<<<1, 1, 1 << 20>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	nothing<<<1, 1, 0, (cudaStream_t)0x12345>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
	FAILS(cudaErrorInvalidValue, cudaLaunchKernel((const void *)store, dim3(1), dim3(1), nullptr, 0, 0));

	// None of that has hurt.
	EXPECT(cudaPeekAtLastError() == cudaSuccess);
	nothing<<<1, 1>>>();
	store<<<1, 32>>>(p, 17);
	CHECK(cudaMemcpy(&host, p + 31, sizeof host, cudaMemcpyDeviceToHost));
	EXPECT(host == 17);
	CHECK(cudaFree(p));
	EXPECT(!strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration"));
	EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
	EXPECT(!strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"));

	// Freed memory cannot be shared.
	cudaIpcMemHandle_t handle;
	FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&handle, p));
}

static void fault()
{
	int *p, host;
	CHECK(cudaMalloc(&p, 64));
	store<<<1, 64>>>(p, 1); // 16 ints are there
	CHECK(cudaGetLastError()); // and does not wait
	EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
	EXPECT(cudaPeekAtLastError() == cudaErrorIllegalAddress);
	EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
	EXPECT(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
	EXPECT(cudaMalloc(&p, 64) == cudaErrorIllegalAddress);
	EXPECT(cudaFree(p) == cudaErrorIllegalAddress);
	nothing<<<1, 1>>>();
	EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
	EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
	CHECK(cudaDeviceReset());
	CHECK(cudaGetLastError());
	CHECK(cudaMalloc(&p, 256));
	store<<<1, 64>>>(p, 2);
	CHECK(cudaMemcpy(&host, p + 63, sizeof host, cudaMemcpyDeviceToHost));
	EXPECT(host == 2);
	CHECK(cudaFree(p));
}

int main()
{
	misuse();
	fault();
	puts("ok");
}
