// Primitives of a block: loads and stores that transpose, sort, scan, and differences.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

constexpr int threads = 128, items = 5, tile = threads * items;

__global__ void kernel(const int *in, int *sorted, int *rank)
{
	using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
	using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
	using Sort = cub::BlockRadixSort<int, threads, items>;
	using Scan = cub::BlockScan<int, threads>;
	using Heads = cub::BlockDiscontinuity<int, threads>;
	__shared__ union {
		typename Load::TempStorage load;
		typename Store::TempStorage store;
		typename Sort::TempStorage sort;
		typename Scan::TempStorage scan;
		typename Heads::TempStorage heads;
	} memory;
	int x[items], head[items];
	Load(memory.load).Load(in + blockIdx.x * tile, x);
	__syncthreads();
	Sort(memory.sort).Sort(x);
	__syncthreads();
	Heads(memory.heads).FlagHeads(head, x, [](int a, int b) { return a != b; });
	__syncthreads();
	Scan(memory.scan).InclusiveSum(head, head);
	__syncthreads();
	Store(memory.store).Store(sorted + blockIdx.x * tile, x);
	__syncthreads();
	Store(memory.store).Store(rank + blockIdx.x * tile, head);
}

int main()
{
	const int blocks = 6;
	std::vector<int> x = numbers(blocks * tile, 300), rank(x.size());
	Array<int> in(x), sorted(x.size()), ranks(x.size());
	kernel<<<blocks, threads>>>(in, sorted, ranks);
	CHECK(cudaGetLastError());
	for (int b = 0; b < blocks; b++) {
		std::sort(x.begin() + b * tile, x.begin() + (b + 1) * tile);
		for (int i = b * tile; i < (b + 1) * tile; i++)
			rank[i] = i == b * tile ? 1 : rank[i - 1] + (x[i] != x[i - 1]);
	}
	EXPECT(sorted.host() == x);
	EXPECT(ranks.host() == rank);
	puts("ok");
}
