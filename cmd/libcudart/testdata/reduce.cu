// Reductions with static and dynamic shared memory, shuffles, atomics; occupancy.

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

template <int block> __global__ void in_shared(const int *x, int *out, int n)
{
	__shared__ int part[block];
	int sum = 0;
	for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block)
		sum += x[i];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (int half = block / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = part[0];
}

template <typename T, typename Op> __global__ void in_dynamic(const T *x, T *out, int n, Op op)
{
	extern __shared__ unsigned char raw[];
	T *part = (T *)raw;
	T v = x[0];
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		v = op(v, x[i]);
	part[threadIdx.x] = v;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int i = 1; i < blockDim.x; i++)
			v = op(v, part[i]);
		*out = v;
	}
}

__global__ void by_shuffles(const int *x, int *out, int n)
{
	int sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += x[i];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(~0u, sum, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(out, sum);
}

struct larger {
	__device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

int main()
{
	const int n = 20000, blocks = 8;
	std::vector<int> x(n);
	for (int i = 0; i < n; i++)
		x[i] = i * 7 % 1001 - 300;
	int want = std::accumulate(x.begin(), x.end(), 0), *dx, *out, parts[blocks];
	CHECK(cudaMalloc(&dx, n * sizeof(int)));
	CHECK(cudaMalloc(&out, blocks * sizeof(int)));
	CHECK(cudaMemcpy(dx, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	in_shared<128><<<blocks, 128>>>(dx, out, n);
	CHECK(cudaMemcpy(parts, out, sizeof parts, cudaMemcpyDeviceToHost));
	EXPECT(std::accumulate(parts, parts + blocks, 0) == want);
	in_shared<32><<<1, 32>>>(dx, out, n);
	CHECK(cudaMemcpy(parts, out, sizeof(int), cudaMemcpyDeviceToHost));
	EXPECT(parts[0] == want);
	CHECK(cudaMemset(out, 0, sizeof(int)));
	by_shuffles<<<blocks, 256>>>(dx, out, n);
	CHECK(cudaMemcpy(parts, out, sizeof(int), cudaMemcpyDeviceToHost));
	EXPECT(parts[0] == want);

	std::vector<double> d(n);
	for (int i = 0; i < n; i++)
		d[i] = i * 31 % 4099 * 0.25;
	double *dd, *most, got;
	CHECK(cudaMalloc(&dd, n * sizeof(double)));
	CHECK(cudaMalloc(&most, sizeof(double)));
	CHECK(cudaMemcpy(dd, d.data(), n * sizeof(double), cudaMemcpyHostToDevice));
	in_dynamic<<<1, 96, 96 * sizeof(double)>>>(dd, most, n, larger());
	CHECK(cudaMemcpy(&got, most, sizeof got, cudaMemcpyDeviceToHost));
	EXPECT(got == *std::max_element(d.begin(), d.end()));

	// More dynamic shared memory than 48 KiB is to be asked for.
	auto k = in_dynamic<double, larger>;
	k<<<1, 32, 64 << 10>>>(dd, most, n, larger());
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
	k<<<1, 32, 64 << 10>>>(dd, most, n, larger());
	CHECK(cudaDeviceSynchronize());
	cudaFuncAttributes a;
	CHECK(cudaFuncGetAttributes(&a, k));
	EXPECT(a.maxDynamicSharedSizeBytes == 64 << 10 && a.maxThreadsPerBlock >= 32 && a.sharedSizeBytes == 0);
	CHECK(cudaFuncGetAttributes(&a, in_shared<128>));
	EXPECT(a.sharedSizeBytes == 512);
	int grid = 0, block = 0, resident = 0;
	CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, in_shared<128>, 0, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, in_shared<128>, 128, 0));
	EXPECT(grid > 0 && block > 0 && block % 32 == 0 && resident > 0);
	CHECK(cudaFuncSetCacheConfig(k, cudaFuncCachePreferShared));
	puts("ok");
}
