// Many copies at once, of different sizes.

#include <cub/cub.cuh>

#include "check.cuh"

int main()
{
	const std::vector<int> sizes = {0, 1, 7, 64, 1000, 5000, 3, 20000};
	std::vector<int> x = numbers(30000, 1 << 30), want(x.size(), -1);
	Array<int> in(x), out(want);
	std::vector<void *> from, to;
	std::vector<unsigned> bytes;
	size_t at = 0;
	for (int n : sizes) {
		from.push_back((int *)in + at);
		to.push_back((int *)out + x.size() - at - n);
		bytes.push_back(n * sizeof(int));
		std::copy(x.begin() + at, x.begin() + at + n, want.end() - at - n);
		at += n;
	}
	Array<void *> f(from), t(to);
	Array<unsigned> b(bytes);
	with_memory([&](void *m, size_t &size) { return cub::DeviceMemcpy::Batched(m, size, (void **)f, (void **)t, (unsigned *)b, unsigned(sizes.size())); });
	EXPECT(out.host() == want);
	puts("ok");
}
