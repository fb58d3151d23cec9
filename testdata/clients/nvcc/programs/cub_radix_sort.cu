// Radix sort of the device: keys, pairs, downwards, some bits only, and keys with signs.

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "check.cuh"

int main()
{
	const int n = 20000;
	std::vector<int> keys = numbers(n, 1 << 20), values(n), order(n);
	for (int &k : keys)
		k -= 1 << 19;
	std::iota(values.begin(), values.end(), 0);
	Array<int> k(keys), v(values), sorted(n), carried(n);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortPairs(m, bytes, (int *)k, (int *)sorted, (int *)v, (int *)carried, n); });
	order = values;
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
	EXPECT(carried.host() == order);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortPairsDescending(m, bytes, (int *)k, (int *)sorted, (int *)v, (int *)carried, n); });
	order = values;
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] > keys[b]; });
	EXPECT(carried.host() == order);

	std::vector<unsigned> u(keys.begin(), keys.end());
	Array<unsigned> ku(u), su(n);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(m, bytes, (unsigned *)ku, (unsigned *)su, n, 4, 12); });
	std::stable_sort(u.begin(), u.end(), [](unsigned a, unsigned b) { return (a >> 4 & 0xff) < (b >> 4 & 0xff); });
	EXPECT(su.host() == u);

	std::vector<double> d(keys.begin(), keys.end());
	for (double &x : d)
		x = x / 7;
	Array<double> kd(d), sd(n);
	cub::DoubleBuffer<double> both(kd, sd);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(m, bytes, both, n); });
	std::sort(d.begin(), d.end());
	EXPECT((both.Current() == (double *)kd ? kd : sd).host() == d);
	puts("ok");
}
