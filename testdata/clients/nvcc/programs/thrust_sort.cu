// Sorts of Thrust: upwards, downwards, stably by key, and by an order of one's own.

#include <algorithm>
#include <functional>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/sort.h>

#include "check.cuh"

struct Digits {
	__host__ __device__ bool operator()(int a, int b) const { return a % 10 != b % 10 ? a % 10 < b % 10 : a > b; }
};

template <typename T> std::vector<T> host(const thrust::device_vector<T> &v)
{
	std::vector<T> to(v.size());
	thrust::copy(v.begin(), v.end(), to.begin());
	return to;
}

int main()
{
	const int n = 10007;
	std::vector<int> x = numbers(n, 5000), want = x, order(n);
	thrust::device_vector<int> d(x.begin(), x.end());
	thrust::sort(d.begin(), d.end(), thrust::greater<int>());
	std::sort(want.begin(), want.end(), std::greater<int>());
	EXPECT(host(d) == want);

	thrust::sort(d.begin(), d.end(), Digits());
	std::sort(want.begin(), want.end(), Digits());
	EXPECT(host(d) == want);
	EXPECT(thrust::is_sorted(d.begin(), d.end(), Digits()));

	std::iota(order.begin(), order.end(), 0);
	thrust::device_vector<int> keys(x.begin(), x.end()), values(order.begin(), order.end());
	thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] < x[b]; });
	EXPECT(host(values) == order);
	puts("ok");
}
