// Reductions of a block by each of its algorithms, a histogram, and an exchange.

#include <cub/cub.cuh>

#include "check.cuh"

constexpr int threads = 96, items = 4, tile = threads * items;

template <cub::BlockReduceAlgorithm algorithm> __device__ void sum(int (&x)[items], int *out)
{
	using Reduce = cub::BlockReduce<int, threads, algorithm>;
	__shared__ typename Reduce::TempStorage memory;
	int total = Reduce(memory).Sum(x);
	if (threadIdx.x == 0)
		*out = total;
}

__global__ void kernel(const int *in, int *sums, int *striped, unsigned *bins)
{
	using Exchange = cub::BlockExchange<int, threads, items>;
	using Histogram = cub::BlockHistogram<unsigned char, threads, items, 16, cub::BLOCK_HISTO_SORT>;
	__shared__ typename Exchange::TempStorage exchange;
	__shared__ typename Histogram::TempStorage histogram;
	__shared__ unsigned count[16];
	int x[items];
	unsigned char small[items];
	for (int i = 0; i < items; i++) {
		x[i] = in[threadIdx.x * items + i];
		small[i] = x[i] % 16;
	}
	sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(x, sums);
	sum<cub::BLOCK_REDUCE_RAKING>(x, sums + 1);
	sum<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(x, sums + 2);
	Histogram(histogram).Histogram(small, count);
	__syncthreads();
	if (threadIdx.x < 16)
		bins[threadIdx.x] = count[threadIdx.x];
	Exchange(exchange).BlockedToStriped(x, x);
	for (int i = 0; i < items; i++)
		striped[threadIdx.x * items + i] = x[i];
}

int main()
{
	std::vector<int> x = numbers(tile, 1000), want(tile);
	std::vector<unsigned> bins(16);
	int total = 0;
	for (int i = 0; i < tile; i++) {
		total += x[i];
		bins[x[i] % 16]++;
		want[i] = x[i % items * threads + i / items];
	}
	Array<int> in(x), sums(3), striped(tile);
	Array<unsigned> count(16);
	kernel<<<1, threads>>>(in, sums, striped, count);
	CHECK(cudaGetLastError());
	EXPECT(sums.host() == std::vector<int>{total, total, total});
	EXPECT(count.host() == bins);
	EXPECT(striped.host() == want);
	puts("ok");
}
