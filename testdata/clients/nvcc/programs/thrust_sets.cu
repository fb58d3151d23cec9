// Merges and set operations of Thrust on sorted sequences.

#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/merge.h>
#include <thrust/set_operations.h>

#include "check.cuh"

int main()
{
	std::vector<int> a = numbers(4000, 3000, 1), b = numbers(5000, 3000, 2);
	std::sort(a.begin(), a.end());
	std::sort(b.begin(), b.end());
	thrust::device_vector<int> da(a.begin(), a.end()), db(b.begin(), b.end()), out(9000);
	auto same = [&](auto end, const std::vector<int> &want) {
		thrust::host_vector<int> got(out.begin(), end);
		return got.size() == want.size() && std::equal(want.begin(), want.end(), got.begin());
	};
	std::vector<int> want;
	std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
	EXPECT(same(thrust::merge(da.begin(), da.end(), db.begin(), db.end(), out.begin()), want));
	want.clear();
	std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
	EXPECT(same(thrust::set_union(da.begin(), da.end(), db.begin(), db.end(), out.begin()), want));
	want.clear();
	std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
	EXPECT(same(thrust::set_intersection(da.begin(), da.end(), db.begin(), db.end(), out.begin()), want));
	want.clear();
	std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
	EXPECT(same(thrust::set_symmetric_difference(da.begin(), da.end(), db.begin(), db.end(), out.begin()), want));
	puts("ok");
}
