// Primitives of a warp, of 32 and of 8 threads.

#include <algorithm>
#include <cub/cub.cuh>
#include <functional>

#include "check.cuh"

__global__ void kernel(const int *in, int *sums, int *scans, int *sorted)
{
	using Reduce = cub::WarpReduce<int, 8>;
	using Scan = cub::WarpScan<int>;
	using Sort = cub::WarpMergeSort<int, 2, 32>;
	__shared__ typename Reduce::TempStorage reduce[8];
	__shared__ typename Scan::TempStorage scan[2];
	__shared__ typename Sort::TempStorage sort[2];
	int t = threadIdx.x, warp = t / 32;
	int sum = Reduce(reduce[t / 8]).Sum(in[t]);
	if (t % 8 == 0)
		sums[t / 8] = sum;
	int before;
	Scan(scan[warp]).ExclusiveSum(in[t], before);
	scans[t] = before;
	int x[2] = {in[2 * t], in[2 * t + 1]};
	Sort(sort[warp]).Sort(x, [](int a, int b) { return a > b; });
	sorted[2 * t] = x[0];
	sorted[2 * t + 1] = x[1];
}

int main()
{
	std::vector<int> x = numbers(128, 1000), sums(8), scans(64), order = x;
	for (int i = 0; i < 64; i++) {
		sums[i / 8] += x[i];
		scans[i] = i % 32 == 0 ? 0 : scans[i - 1] + x[i - 1];
	}
	for (int w = 0; w < 2; w++)
		std::sort(order.begin() + 64 * w, order.begin() + 64 * (w + 1), std::greater<int>());
	Array<int> in(x), a(8), b(64), c(128);
	kernel<<<1, 64>>>(in, a, b, c);
	CHECK(cudaGetLastError());
	EXPECT(a.host() == sums && b.host() == scans && c.host() == order);
	puts("ok");
}
