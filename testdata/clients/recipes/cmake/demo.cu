#include <cstdio>
#include <cstring>
#include <nvrtc.h>
#include <cuda.h>
__global__ void reverse(int *x, bool wait)
{
	__shared__ int tile[64];
	tile[threadIdx.x] = x[threadIdx.x];
	if (wait)
		__syncthreads();
	x[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int argc, char **argv)
{
	int x[64], *d, major, minor;
	for (int i = 0; i < 64; i++)
		x[i] = i;
	if (cudaMalloc(&d, sizeof x) != cudaSuccess || cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice) != cudaSuccess)
		return 1;
	reverse<<<1, 64>>>(d, argc < 2);
	if (cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost) != cudaSuccess || nvrtcVersion(&major, &minor) != NVRTC_SUCCESS || cuDriverGetVersion(&minor) != CUDA_SUCCESS)
		return 1;
	cudaFree(d);
	printf("%d\n", x[0]);
	return argc < 2 && x[0] != 63;
}
