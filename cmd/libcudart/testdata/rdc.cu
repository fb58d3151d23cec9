// A program of two objects (nvcc -rdc=true): rdc_device.cu has the functions called here.

#include "check.h"

extern __device__ int shared_counter;
extern __constant__ int table[4];
extern __device__ int apply(int (*f)(int), int x);
extern __device__ int cube(int x);
extern __global__ void elsewhere(int *out);

__device__ int plus_one(int x) { return x + 1; }

__global__ void calls(int *out)
{
	int i = threadIdx.x;
	out[i] = cube(i) + apply(plus_one, i) + table[i % 4];
	atomicAdd(&shared_counter, 1);
}

int main()
{
	int host[8], *out;
	const int values[] = {10, 20, 30, 40};
	CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
	CHECK(cudaMalloc(&out, sizeof host));
	calls<<<1, 8>>>(out);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		EXPECT(host[i] == i * i * i + i + 1 + values[i % 4]);
	elsewhere<<<1, 8>>>(out);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		EXPECT(host[i] == 8 * i);
	puts("ok");
}
