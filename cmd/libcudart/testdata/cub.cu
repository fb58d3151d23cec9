// Algorithms of CUB: of the device, with temporary memory, and of a block.

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "check.h"

__global__ void block_sum(const int *x, int *out)
{
	using reduce = cub::BlockReduce<int, 128>;
	__shared__ typename reduce::TempStorage storage;
	int sum = reduce(storage).Sum(x[blockIdx.x * 128 + threadIdx.x]);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}

// with runs an algorithm twice: without memory it returns the required size.
template <typename F> static void with(F algorithm)
{
	void *memory = nullptr;
	size_t bytes = 0;
	CHECK(algorithm(memory, bytes));
	CHECK(cudaMalloc(&memory, bytes));
	CHECK(algorithm(memory, bytes));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(memory));
}

int main()
{
	const int n = 4000;
	std::vector<int> h(n), want(n), got(n);
	std::vector<unsigned> keys(n);
	for (int i = 0; i < n; i++) {
		h[i] = i * 31 % 101 - 50;
		keys[i] = i * 2654435761u;
	}
	int *x, *out;
	unsigned *k, *sorted;
	CHECK(cudaMalloc(&x, n * sizeof(int)));
	CHECK(cudaMalloc(&out, n * sizeof(int)));
	CHECK(cudaMalloc(&k, n * sizeof(unsigned)));
	CHECK(cudaMalloc(&sorted, n * sizeof(unsigned)));
	CHECK(cudaMemcpy(x, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(k, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));

	with([&](void *m, size_t &bytes) { return cub::DeviceReduce::Sum(m, bytes, x, out, n); });
	CHECK(cudaMemcpy(got.data(), out, sizeof(int), cudaMemcpyDeviceToHost));
	EXPECT(got[0] == std::accumulate(h.begin(), h.end(), 0));

	with([&](void *m, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(m, bytes, x, out, n); });
	CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
	want[0] = 0;
	std::partial_sum(h.begin(), h.end() - 1, want.begin() + 1);
	EXPECT(got == want);

	with([&](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortPairs(m, bytes, k, sorted, x, out, n); });
	std::vector<int> order(n);
	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
	CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		EXPECT(got[i] == h[order[i]]);

	block_sum<<<3, 128>>>(x, out);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(got.data(), out, 3 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int b = 0; b < 3; b++)
		EXPECT(got[b] == std::accumulate(h.begin() + 128 * b, h.begin() + 128 * (b + 1), 0));
	puts("ok");
}
