// Sorts of segments, of which some are empty and some are long.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

int main()
{
	const int n = 12000;
	std::vector<int> x = numbers(n, 30000), begins = {0, 0, 1, 3, 40, 40, 300, 9000, 9001, n};
	const int segments = int(begins.size()) - 1;
	Array<int> keys(x), offsets(begins), up(n), down(n);
	with_memory([&](void *m, size_t &bytes) {
		return cub::DeviceSegmentedSort::SortKeys(m, bytes, (int *)keys, (int *)up, n, segments, (int *)offsets, (int *)offsets + 1);
	});
	with_memory([&](void *m, size_t &bytes) {
		return cub::DeviceSegmentedRadixSort::SortKeysDescending(m, bytes, (int *)keys, (int *)down, n, segments, (int *)offsets, (int *)offsets + 1);
	});
	std::vector<int> want = x;
	for (int s = 0; s < segments; s++)
		std::sort(want.begin() + begins[s], want.begin() + begins[s + 1]);
	EXPECT(up.host() == want);
	for (int s = 0; s < segments; s++)
		std::reverse(want.begin() + begins[s], want.begin() + begins[s + 1]);
	EXPECT(down.host() == want);
	puts("ok");
}
