// Differences of neighbours, and loops over indices.

#include <cub/cub.cuh>

#include "check.cuh"

struct Square {
	int *out;
	__device__ void operator()(int i) const { out[i] = i * i; }
};

int main()
{
	const int n = 7777;
	std::vector<int> x = numbers(n, 4000), left = x, right = x, squares(n);
	for (int i = 0; i < n; i++) {
		if (i > 0)
			left[i] = x[i] - x[i - 1];
		if (i < n - 1)
			right[i] = x[i] - x[i + 1];
		squares[i] = i * i;
	}
	Array<int> in(x), out(n);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceAdjacentDifference::SubtractLeftCopy(m, bytes, (int *)in, (int *)out, n); });
	EXPECT(out.host() == left);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceAdjacentDifference::SubtractRight(m, bytes, (int *)in, n); });
	EXPECT(in.host() == right);
	CHECK(cub::DeviceFor::Bulk(n, Square{out}));
	EXPECT(out.host() == squares);
	puts("ok");
}
