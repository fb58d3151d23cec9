// Random numbers of Thrust are the same on the host and on the device.

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include "check.cuh"

struct Inside {
	__host__ __device__ int operator()(unsigned i) const
	{
		thrust::default_random_engine engine;
		engine.discard(2 * 50 * i);
		thrust::uniform_real_distribution<float> place(0, 1);
		int count = 0;
		for (int k = 0; k < 50; k++) {
			float x = place(engine), y = place(engine);
			count += x < y;
		}
		return count;
	}
};

int main()
{
	const int n = 300;
	thrust::counting_iterator<unsigned> from(0);
	int want = 0;
	for (int i = 0; i < n; i++)
		want += Inside()(i);
	EXPECT(thrust::transform_reduce(from, from + n, Inside(), 0, thrust::plus<int>()) == want);
	puts("ok");
}
