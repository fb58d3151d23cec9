// Cooperative groups: tiles, grid.sync(), clusters; launches by attributes.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

// smooth replaces x by the sums of neighbours, rounds times, with a grid barrier in between.
__global__ void smooth(int *x, int *y, int n, int rounds)
{
	cg::grid_group grid = cg::this_grid();
	for (int r = 0; r < rounds; r++) {
		for (int i = grid.thread_rank(); i < n; i += grid.num_threads())
			y[i] = x[i] + x[(i + 1) % n];
		grid.sync();
		for (int i = grid.thread_rank(); i < n; i += grid.num_threads())
			x[i] = y[i];
		grid.sync();
	}
}

__global__ void tiles(const int *x, int *out)
{
	auto block = cg::this_thread_block();
	auto tile = cg::tiled_partition<8>(block);
	int v = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
	if (tile.thread_rank() == 0)
		out[block.thread_rank() / 8] = v;
	if (block.thread_rank() % 3 == 0) {
		auto some = cg::coalesced_threads();
		if (some.thread_rank() == 0)
			atomicAdd(&out[block.size() / 8], (int)some.size());
	}
}

__global__ void scaled(int *x, int by) { x[blockIdx.x * blockDim.x + threadIdx.x] *= by; }

int main()
{
	const int n = 1000, rounds = 5;
	std::vector<int> want(n), got(n);
	for (int i = 0; i < n; i++)
		want[i] = i % 10;
	int *x, *y, rounds_ = rounds, n_ = n;
	CHECK(cudaMalloc(&x, n * sizeof(int)));
	CHECK(cudaMalloc(&y, n * sizeof(int)));
	CHECK(cudaMemcpy(x, want.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++) {
		std::vector<int> next(n);
		for (int i = 0; i < n; i++)
			next[i] = want[i] + want[(i + 1) % n];
		want = next;
	}
	int cooperates, blocks, multiprocessors;
	CHECK(cudaDeviceGetAttribute(&cooperates, cudaDevAttrCooperativeLaunch, 0));
	CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, smooth, 64, 0));
	EXPECT(cooperates == 1 && blocks >= 1);
	void *args[] = {&x, &y, &n_, &rounds_};
	CHECK(cudaLaunchCooperativeKernel((const void *)smooth, dim3(4), dim3(64), args, 0, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
	EXPECT(got == want);
	FAILS(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel((const void *)smooth, dim3(blocks * multiprocessors + 1), dim3(64), args, 0, 0));

	int *out, host[9];
	CHECK(cudaMalloc(&out, sizeof host));
	CHECK(cudaMemset(out, 0, sizeof host));
	tiles<<<1, 64>>>(x, out);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int t = 0; t < 8; t++) {
		int sum = 0;
		for (int i = 0; i < 8; i++)
			sum += want[8 * t + i];
		EXPECT(host[t] == sum);
	}
	EXPECT(host[8] == 22); // the numbers of 0 .. 63 that 3 divides

	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributeCooperative;
	attribute.val.cooperative = 1;
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3(2);
	config.blockDim = dim3(32);
	config.attrs = &attribute;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, scaled, x, 3));
	config.numAttrs = 0;
	CHECK(cudaLaunchKernelEx(&config, scaled, x, -1));
	CHECK(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		EXPECT(got[i] == (i < 64 ? -3 : 1) * want[i]);
	puts("ok");
}
