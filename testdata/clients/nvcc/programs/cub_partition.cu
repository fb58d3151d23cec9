// Partition: what fits comes first in its order, the rest after it in the opposite one; and three ways.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

struct Below {
	int limit;
	__host__ __device__ bool operator()(int x) const { return x < limit; }
};

int main()
{
	const int n = 25000;
	std::vector<int> x = numbers(n, 100), want(n);
	Array<int> in(x), out(n), count(2), middle(n), rest(n);

	with_memory([&](void *m, size_t &bytes) { return cub::DevicePartition::If(m, bytes, (int *)in, (int *)out, (int *)count, n, Below{30}); });
	auto ends = std::partition_copy(x.begin(), x.end(), want.begin(), want.rbegin(), Below{30});
	EXPECT(count.host()[0] == ends.first - want.begin());
	EXPECT(out.host() == want);

	with_memory([&](void *m, size_t &bytes) {
		return cub::DevicePartition::If(m, bytes, (int *)in, (int *)out, (int *)middle, (int *)rest, (int *)count, n, Below{30}, Below{60});
	});
	std::vector<int> a, b, c;
	for (int v : x)
		(v < 30 ? a : v < 60 ? b : c).push_back(v);
	EXPECT(count.host() == std::vector<int>{int(a.size()), int(b.size())});
	EXPECT(out.host(a.size()) == a && middle.host(b.size()) == b && rest.host(c.size()) == c);
	puts("ok");
}
