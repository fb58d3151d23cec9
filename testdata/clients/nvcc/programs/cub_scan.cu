// Scans of the device: sums, an operator of one's own, and by key.

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "check.cuh"

struct Larger {
	__host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

int main()
{
	const int n = 50001;
	std::vector<int> x = numbers(n, 1000), want(n), keys(n);
	for (int i = 0; i < n; i++)
		keys[i] = i / 37 % 5;
	Array<int> in(x), out(n), k(keys);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceScan::InclusiveSum(m, bytes, (int *)in, (int *)out, n); });
	std::partial_sum(x.begin(), x.end(), want.begin());
	EXPECT(out.host() == want);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceScan::ExclusiveScan(m, bytes, (int *)in, (int *)out, Larger(), -1, n); });
	want[0] = -1;
	std::partial_sum(x.begin(), x.end() - 1, want.begin() + 1, Larger());
	EXPECT(out.host() == want);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceScan::InclusiveSumByKey(m, bytes, (int *)k, (int *)in, (int *)out, n); });
	for (int i = 0; i < n; i++)
		want[i] = x[i] + (i > 0 && keys[i] == keys[i - 1] ? want[i - 1] : 0);
	EXPECT(out.host() == want);
	puts("ok");
}
