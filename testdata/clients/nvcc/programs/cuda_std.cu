// libcu++: atomics, barriers with copies, spans and tuples in kernels.

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/span>
#include <cuda/std/tuple>

#include "check.cuh"

__device__ cuda::std::tuple<int, int> halves(int x) { return cuda::std::make_tuple(x / 2, x - x / 2); }

__global__ void kernel(const int *in, int n, unsigned long long *sum, int *smallest)
{
	__shared__ int part[256];
	__shared__ cuda::barrier<cuda::thread_scope_block> barrier;
	if (threadIdx.x == 0)
		init(&barrier, blockDim.x);
	__syncthreads();
	int at = blockIdx.x * 256, count = min(256, n - at);
	if (int(threadIdx.x) < count)
		cuda::memcpy_async(part + threadIdx.x, in + at + threadIdx.x, sizeof(int), barrier);
	barrier.arrive_and_wait();
	cuda::std::span<const int> all(part, count);
	if (threadIdx.x < all.size()) {
		auto two = halves(all[threadIdx.x]);
		cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> to(*sum);
		to.fetch_add(cuda::std::get<0>(two) + cuda::std::get<1>(two), cuda::std::memory_order_relaxed);
		cuda::atomic_ref<int> low(*smallest);
		low.fetch_min(all[threadIdx.x]);
	}
}

int main()
{
	const int n = 3000;
	std::vector<int> x = numbers(n, 100000);
	unsigned long long want = 0;
	int low = 1 << 30;
	for (int v : x) {
		want += v;
		low = v < low ? v : low;
	}
	Array<int> in(x), smallest(std::vector<int>{1 << 30});
	Array<unsigned long long> sum(std::vector<unsigned long long>{0});
	kernel<<<(n + 255) / 256, 256>>>(in, n, sum, smallest);
	CHECK(cudaGetLastError());
	EXPECT(sum.host()[0] == want);
	EXPECT(smallest.host()[0] == low);
	puts("ok");
}
