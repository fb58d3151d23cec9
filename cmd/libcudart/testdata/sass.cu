// Compiled to machine code only (nvcc -arch=compute_80 -code=sm_80): what is in it cannot run, and says so.

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
	CHECK(cudaMemset(p, 0, sizeof *p)); // what needs no kernel works on
	CHECK(cudaFree(p));
	puts("ok");
}
