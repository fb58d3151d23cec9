// Thrust on a stream, with memory of an allocator of one's own, and on managed memory.

#include <algorithm>
#include <numeric>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/universal_vector.h>

#include "check.cuh"

// Blocks counts what Thrust allocates, and takes it from the stream's pool.
struct Blocks {
	using value_type = char;
	cudaStream_t stream;
	int *taken, *given;
	char *allocate(std::ptrdiff_t n)
	{
		void *p;
		CHECK(cudaMallocAsync(&p, n, stream));
		++*taken;
		return static_cast<char *>(p);
	}
	void deallocate(char *p, size_t)
	{
		CHECK(cudaFreeAsync(p, stream));
		++*given;
	}
};

int main()
{
	const int n = 9000;
	cudaStream_t stream;
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	int taken = 0, given = 0;
	Blocks blocks{stream, &taken, &given};
	std::vector<int> x = numbers(n, 500);
	Array<int> memory(x);
	thrust::device_ptr<int> d(static_cast<int *>(memory));
	thrust::sort(thrust::cuda::par(blocks).on(stream), d, d + n);
	CHECK(cudaStreamSynchronize(stream));
	std::sort(x.begin(), x.end());
	EXPECT(memory.host() == x);
	EXPECT(taken > 0 && taken == given);

	thrust::universal_vector<int> both(n);
	thrust::sequence(thrust::device, both.begin(), both.end(), 5, 3);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		EXPECT(both[i] == 5 + 3 * i);
	thrust::fill(thrust::cuda::par_nosync.on(stream), d, d + n, 42);
	CHECK(cudaStreamSynchronize(stream));
	EXPECT(memory.host() == std::vector<int>(n, 42));
	CHECK(cudaStreamDestroy(stream));
	puts("ok");
}
