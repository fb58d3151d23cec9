// Compiled to machine code only (nvcc -arch=compute_80 -code=sm_80): its kernels give an error.

#include "check.h"

__global__ void kernel(int *p) { *p = 1; }
__device__ int variable;

int main()
{
	int *p, value = 0;
	CHECK(cudaMalloc(&p, sizeof *p));
	kernel<<<1, 1>>>(p);
	EXPECT(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
	FAILS(cudaErrorNoKernelImageForDevice, cudaMemcpyToSymbol(variable, &value, sizeof value));
	cudaFuncAttributes a;
	FAILS(cudaErrorNoKernelImageForDevice, cudaFuncGetAttributes(&a, kernel));
	CHECK(cudaMemset(p, 0, sizeof *p)); // calls without a kernel still work
	CHECK(cudaFree(p));
	puts("ok");
}
