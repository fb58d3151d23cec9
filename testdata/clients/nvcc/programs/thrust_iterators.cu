// Fancy iterators of Thrust, and lambdas that run on the device.

#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scatter.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include "check.cuh"

struct Sum {
	template <typename T> __host__ __device__ void operator()(T t) const { thrust::get<2>(t) = thrust::get<0>(t) + 2 * thrust::get<1>(t); }
};

struct Twice {
	__host__ __device__ int operator()(int x) const { return 2 * x; }
};

int main()
{
	const int n = 5003;
	std::vector<int> x = numbers(n, 1000, 1), y = numbers(n, 1000, 2), place(n);
	for (int i = 0; i < n; i++)
		place[i] = int(long(i) * 1234 % n); // n is prime: a permutation
	thrust::device_vector<int> a(x.begin(), x.end()), b(y.begin(), y.end()), at(place.begin(), place.end()), out(n);
	auto first = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), out.begin()));
	thrust::for_each(first, first + n, Sum());
	thrust::host_vector<int> h = out;
	for (int i = 0; i < n; i++)
		EXPECT(h[i] == x[i] + 2 * y[i]);

	long want = 0;
	for (int i = 0; i < n; i++)
		want += long(2 * x[i]) * y[place[i]];
	auto twice = thrust::make_transform_iterator(a.begin(), Twice());
	EXPECT(thrust::inner_product(twice, twice + n, thrust::make_permutation_iterator(b.begin(), at.begin()), 0L) == want);

	thrust::gather(at.begin(), at.end(), a.begin(), out.begin());
	thrust::scatter(out.begin(), out.end(), at.begin(), b.begin());
	EXPECT(a == b);
	thrust::counting_iterator<int> from(10);
	thrust::transform(from, from + n, out.begin(), Twice());
	EXPECT(out[0] == 20 && out[n - 1] == 2 * (n + 9));
	puts("ok");
}
