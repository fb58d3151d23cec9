// Reductions of the device: sums, extremes, an operator of one's own, and by key.

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "check.cuh"

struct Xor {
	__host__ __device__ int operator()(int a, int b) const { return a ^ b; }
};

int main()
{
	const int n = 33333;
	std::vector<int> x = numbers(n, 1 << 20), keys(n);
	for (int i = 0; i < n; i++)
		keys[i] = i / 11 / (1 + i % 2);
	Array<int> in(x), out(1), k(keys), unique(n), sums(n), runs(1);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceReduce::Min(m, bytes, (int *)in, (int *)out, n); });
	EXPECT(out.host()[0] == *std::min_element(x.begin(), x.end()));
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceReduce::Reduce(m, bytes, (int *)in, (int *)out, n, Xor(), 12345); });
	EXPECT(out.host()[0] == std::accumulate(x.begin(), x.end(), 12345, Xor()));

	std::vector<double> d(x.begin(), x.end());
	Array<double> real(d), total(1);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceReduce::Sum(m, bytes, (double *)real, (double *)total, n); });
	EXPECT(total.host()[0] == std::accumulate(d.begin(), d.end(), 0.0)); // whole numbers: exact in any order

	with_memory([&](void *m, size_t &bytes) {
		return cub::DeviceReduce::ReduceByKey(m, bytes, (int *)k, (int *)unique, (int *)in, (int *)sums, (int *)runs, Xor(), n);
	});
	std::vector<int> wantKeys, want;
	for (int i = 0; i < n; i++)
		if (i > 0 && keys[i] == keys[i - 1])
			want.back() ^= x[i];
		else
			wantKeys.push_back(keys[i]), want.push_back(x[i]);
	EXPECT(runs.host()[0] == int(want.size()));
	EXPECT(unique.host(want.size()) == wantKeys && sums.host(want.size()) == want);
	puts("ok");
}
