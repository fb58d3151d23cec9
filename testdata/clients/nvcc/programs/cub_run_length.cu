// Run-length encoding, and the places of runs that are longer than one.

#include <cub/cub.cuh>

#include "check.cuh"

int main()
{
	const int n = 30000;
	std::vector<int> x = numbers(n, 3), values, lengths, begins, longer;
	for (int i = 0; i < n; i++)
		if (i > 0 && x[i] == x[i - 1]) {
			lengths.back()++;
		} else {
			begins.push_back(i);
			values.push_back(x[i]);
			lengths.push_back(1);
		}
	Array<int> in(x), first(n), second(n), count(1);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRunLengthEncode::Encode(m, bytes, (int *)in, (int *)first, (int *)second, (int *)count, n); });
	EXPECT(count.host()[0] == int(values.size()));
	EXPECT(first.host(values.size()) == values && second.host(values.size()) == lengths);

	with_memory([&](void *m, size_t &bytes) { return cub::DeviceRunLengthEncode::NonTrivialRuns(m, bytes, (int *)in, (int *)first, (int *)second, (int *)count, n); });
	std::vector<int> at, of;
	for (size_t i = 0; i < values.size(); i++)
		if (lengths[i] > 1)
			at.push_back(begins[i]), of.push_back(lengths[i]);
	EXPECT(count.host()[0] == int(at.size()));
	EXPECT(first.host(at.size()) == at && second.host(at.size()) == of);
	puts("ok");
}
