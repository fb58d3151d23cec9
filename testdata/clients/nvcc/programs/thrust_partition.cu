// What Thrust moves: partitions, removals, unique elements, replacements and reversal.

#include <algorithm>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/unique.h>

#include "check.cuh"

struct Odd {
	__host__ __device__ bool operator()(int x) const { return x & 1; }
};

int main()
{
	const std::vector<int> x = numbers(12345, 20);
	std::vector<int> want = x;
	thrust::device_vector<int> d(x.begin(), x.end());
	auto same = [&](auto begin, auto end) {
		thrust::host_vector<int> got(begin, end);
		return got.size() == want.size() && std::equal(want.begin(), want.end(), got.begin());
	};
	auto middle = thrust::stable_partition(d.begin(), d.end(), Odd());
	EXPECT(middle - d.begin() == std::stable_partition(want.begin(), want.end(), Odd()) - want.begin());
	EXPECT(same(d.begin(), d.end()));
	thrust::reverse(d.begin(), d.end());
	std::reverse(want.begin(), want.end());
	EXPECT(same(d.begin(), d.end()));
	thrust::replace_if(d.begin(), d.end(), Odd(), 1);
	std::replace_if(want.begin(), want.end(), Odd(), 1);
	auto end = thrust::unique(d.begin(), d.end());
	want.erase(std::unique(want.begin(), want.end()), want.end());
	EXPECT(same(d.begin(), end));
	end = thrust::remove(d.begin(), end, 4);
	want.erase(std::remove(want.begin(), want.end(), 4), want.end());
	EXPECT(same(d.begin(), end));
	puts("ok");
}
