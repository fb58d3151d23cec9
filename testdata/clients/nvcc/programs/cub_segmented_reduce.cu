// Reductions of segments, of which some are empty.

#include <algorithm>
#include <climits>
#include <cub/cub.cuh>
#include <numeric>

#include "check.cuh"

int main()
{
	const int n = 10000;
	std::vector<int> x = numbers(n, 5000), begins = {0, 5, 5, 6, 777, 4096, 9999, n};
	const int segments = int(begins.size()) - 1;
	Array<int> in(x), offsets(begins), out(segments);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceSegmentedReduce::Sum(m, bytes, (int *)in, (int *)out, segments, (int *)offsets, (int *)offsets + 1); });
	std::vector<int> sums = out.host();
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceSegmentedReduce::Max(m, bytes, (int *)in, (int *)out, segments, (int *)offsets, (int *)offsets + 1); });
	std::vector<int> largest = out.host();
	for (int s = 0; s < segments; s++) {
		auto from = x.begin() + begins[s], to = x.begin() + begins[s + 1];
		EXPECT(sums[s] == std::accumulate(from, to, 0));
		EXPECT(largest[s] == (from == to ? INT_MIN : *std::max_element(from, to)));
	}
	puts("ok");
}
