// Searches of Thrust: by halves for many at once, and of the first that fits.

#include <algorithm>
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/find.h>
#include <thrust/logical.h>
#include <thrust/mismatch.h>

#include "check.cuh"

struct Above {
	int limit;
	__host__ __device__ bool operator()(int x) const { return x > limit; }
};

int main()
{
	const int n = 6000;
	std::vector<int> x = numbers(n, 20000, 1), q = numbers(2000, 20000, 2);
	thrust::device_vector<int> unsorted(x.begin(), x.end());
	EXPECT(thrust::count_if(unsorted.begin(), unsorted.end(), Above{15000}) == std::count_if(x.begin(), x.end(), Above{15000}));
	EXPECT(thrust::find_if(unsorted.begin(), unsorted.end(), Above{19990}) - unsorted.begin() == std::find_if(x.begin(), x.end(), Above{19990}) - x.begin());
	EXPECT(thrust::none_of(unsorted.begin(), unsorted.end(), Above{20000}));

	std::sort(x.begin(), x.end());
	thrust::device_vector<int> sorted(x.begin(), x.end()), queries(q.begin(), q.end());
	thrust::device_vector<long> low(q.size()), high(q.size());
	thrust::lower_bound(sorted.begin(), sorted.end(), queries.begin(), queries.end(), low.begin());
	thrust::upper_bound(sorted.begin(), sorted.end(), queries.begin(), queries.end(), high.begin());
	thrust::host_vector<long> l = low, h = high;
	for (size_t i = 0; i < q.size(); i++) {
		auto range = std::equal_range(x.begin(), x.end(), q[i]);
		EXPECT(l[i] == range.first - x.begin() && h[i] == range.second - x.begin());
	}
	thrust::device_vector<int> other = sorted;
	other[4321] = -1;
	EXPECT(thrust::mismatch(sorted.begin(), sorted.end(), other.begin()).first - sorted.begin() == 4321);
	puts("ok");
}
