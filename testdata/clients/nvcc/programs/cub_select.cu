// Selection: by a predicate, by flags, and of what differs from its predecessor.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

struct Third {
	__host__ __device__ bool operator()(int x) const { return x % 3 == 0; }
};

int main()
{
	const int n = 40000;
	std::vector<int> x = numbers(n, 10), want;
	std::vector<char> flags(n);
	for (int i = 0; i < n; i++)
		flags[i] = i * i % 7 == 1;
	Array<int> in(x), out(n), count(1);
	Array<char> f(flags);
	auto same = [&] { return count.host()[0] == int(want.size()) && out.host(want.size()) == want; };

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceSelect::If(m, bytes, (int *)in, (int *)out, (int *)count, n, Third()); });
	std::copy_if(x.begin(), x.end(), std::back_inserter(want), Third());
	EXPECT(same());

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceSelect::Flagged(m, bytes, (int *)in, (char *)f, (int *)out, (int *)count, n); });
	want.clear();
	for (int i = 0; i < n; i++)
		if (flags[i])
			want.push_back(x[i]);
	EXPECT(same());

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceSelect::Unique(m, bytes, (int *)in, (int *)out, (int *)count, n); });
	want.clear();
	std::unique_copy(x.begin(), x.end(), std::back_inserter(want));
	EXPECT(same());
	puts("ok");
}
