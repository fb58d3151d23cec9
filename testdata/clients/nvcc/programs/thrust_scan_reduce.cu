// Reductions and scans of Thrust, by key too.

#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>

#include "check.cuh"

struct Square {
	__host__ __device__ long operator()(int x) const { return long(x) * x; }
};

int main()
{
	const int n = 15000;
	std::vector<int> x = numbers(n, 3000), keys(n), want(n);
	thrust::device_vector<int> d(x.begin(), x.end()), out(n);
	long squares = 0;
	for (int v : x)
		squares += long(v) * v;
	EXPECT(thrust::transform_reduce(d.begin(), d.end(), Square(), 0L, thrust::plus<long>()) == squares);
	auto ends = thrust::minmax_element(d.begin(), d.end());
	EXPECT(ends.first - d.begin() == std::min_element(x.begin(), x.end()) - x.begin());
	EXPECT(*ends.second == *std::max_element(x.begin(), x.end()));

	thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 7);
	std::exclusive_scan(x.begin(), x.end(), want.begin(), 7);
	EXPECT(std::equal(want.begin(), want.end(), thrust::host_vector<int>(out).begin()));

	for (int i = 0; i < n; i++) {
		keys[i] = i / 100;
		want[i] = x[i] + (i % 100 == 0 ? 0 : want[i - 1]);
	}
	thrust::device_vector<int> k(keys.begin(), keys.end()), sums(150);
	thrust::inclusive_scan_by_key(k.begin(), k.end(), d.begin(), out.begin());
	EXPECT(std::equal(want.begin(), want.end(), thrust::host_vector<int>(out).begin()));
	auto end = thrust::reduce_by_key(k.begin(), k.end(), d.begin(), thrust::make_discard_iterator(), sums.begin());
	EXPECT(end.second - sums.begin() == 150);
	thrust::host_vector<int> h = sums;
	for (int i = 0; i < 150; i++)
		EXPECT(h[i] == want[100 * i + 99]);
	puts("ok");
}
