// Merge sort of the device, by an order of one's own.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

struct Item {
	short group;
	float weight;
};

struct Less {
	__host__ __device__ bool operator()(const Item &a, const Item &b) const
	{
		return a.group != b.group ? a.group < b.group : a.weight > b.weight;
	}
};

int main()
{
	const int n = 9001;
	std::vector<int> x = numbers(n, 1000000);
	std::vector<Item> items(n);
	std::vector<std::pair<Item, int>> want(n);
	for (int i = 0; i < n; i++) {
		items[i] = {short(x[i] % 50), float(x[i] % 97)};
		want[i] = {items[i], x[i]};
	}
	Array<Item> keys(items);
	Array<int> values(x);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceMergeSort::StableSortPairs(m, bytes, (Item *)keys, (int *)values, n, Less()); });
	std::stable_sort(want.begin(), want.end(), [](auto &a, auto &b) { return Less()(a.first, b.first); });
	std::vector<Item> got = keys.host();
	std::vector<int> carried = values.host();
	for (int i = 0; i < n; i++)
		EXPECT(got[i].group == want[i].first.group && got[i].weight == want[i].first.weight && carried[i] == want[i].second);
	puts("ok");
}
