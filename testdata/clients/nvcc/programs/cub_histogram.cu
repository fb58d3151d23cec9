// Histograms: with bins of one width, with bounds of their own, and of the channels of pixels.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.cuh"

int main()
{
	const int n = 60000, bins = 64;
	std::vector<int> x = numbers(n, 1000);
	std::vector<float> samples(x.begin(), x.end());
	std::vector<int> even(bins), ranged(4);
	const std::vector<float> bounds = {0, 10, 100, 500, 900};
	for (int v : x) {
		even[v * bins / 1000]++;
		for (int b = 0; b < 4; b++)
			ranged[b] += v >= bounds[b] && v < bounds[b + 1];
	}
	Array<float> in(samples), levels(bounds);
	Array<int> out(bins);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceHistogram::HistogramEven(m, bytes, (float *)in, (int *)out, bins + 1, 0.f, 1000.f, n); });
	EXPECT(out.host() == even);
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceHistogram::HistogramRange(m, bytes, (float *)in, (int *)out, 5, (float *)levels, n); });
	EXPECT(out.host(4) == ranged);

	std::vector<unsigned char> pixels(4 * 5000);
	std::vector<int> channels[3] = {std::vector<int>(256), std::vector<int>(256), std::vector<int>(256)};
	for (size_t i = 0; i < pixels.size(); i++) {
		pixels[i] = x[i] % 256;
		if (i % 4 < 3)
			channels[i % 4][pixels[i]]++;
	}
	Array<unsigned char> image(pixels);
	Array<int> red(256), green(256), blue(256);
	int *to[3] = {red, green, blue}, level[3] = {257, 257, 257}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
	with_memory([&](void *m, size_t &bytes) { return cub::DeviceHistogram::MultiHistogramEven<4, 3>(m, bytes, (unsigned char *)image, to, level, low, high, 5000); });
	EXPECT(red.host() == channels[0] && green.host() == channels[1] && blue.host() == channels[2]);
	puts("ok");
}
