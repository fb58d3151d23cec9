// Algorithms of Thrust.

#include <algorithm>
#include <numeric>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <vector>

#include "check.h"

struct square {
	__host__ __device__ int operator()(int x) const { return x * x % 1009; }
};

struct odd {
	__host__ __device__ bool operator()(int x) const { return x & 1; }
};

int main()
{
	const int n = 3000;
	std::vector<int> h(n);
	for (int i = 0; i < n; i++)
		h[i] = i * 7919 % 2003;
	thrust::device_vector<int> d(h.begin(), h.end()), out(n);
	EXPECT(thrust::reduce(d.begin(), d.end()) == std::accumulate(h.begin(), h.end(), 0));

	std::vector<int> want(n), got(n);
	std::transform(h.begin(), h.end(), want.begin(), square());
	thrust::transform(d.begin(), d.end(), out.begin(), square());
	thrust::copy(out.begin(), out.end(), got.begin());
	EXPECT(got == want);
	EXPECT(thrust::transform_reduce(d.begin(), d.end(), square(), 0, thrust::plus<int>()) == std::accumulate(want.begin(), want.end(), 0));

	std::partial_sum(h.begin(), h.end(), want.begin());
	thrust::inclusive_scan(d.begin(), d.end(), out.begin());
	thrust::copy(out.begin(), out.end(), got.begin());
	EXPECT(got == want);

	auto end = thrust::copy_if(d.begin(), d.end(), out.begin(), odd());
	size_t odds = std::count_if(h.begin(), h.end(), odd());
	EXPECT(size_t(end - out.begin()) == odds && out[0] == *std::find_if(h.begin(), h.end(), odd()));

	thrust::device_vector<int> index(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n));
	thrust::stable_sort_by_key(d.begin(), d.end(), index.begin());
	std::vector<int> order(n);
	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] < h[b]; });
	thrust::copy(index.begin(), index.end(), got.begin());
	EXPECT(got == order);

	d.assign(h.begin(), h.end());
	thrust::sort(d.begin(), d.end(), thrust::greater<int>());
	std::sort(h.begin(), h.end(), std::greater<int>());
	thrust::copy(d.begin(), d.end(), got.begin());
	EXPECT(got == h);
	puts("ok");
}
