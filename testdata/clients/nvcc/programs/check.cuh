// What the programs here check with. A program prints ok at its end, if all was as expected.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

// CHECK ends the program if a call of the runtime fails.
#define CHECK(call)                                                                                  \
	do {                                                                                         \
		cudaError_t error_ = (call);                                                         \
		if (error_ != cudaSuccess) {                                                         \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_)); \
			exit(1);                                                                     \
		}                                                                                    \
	} while (0)

// EXPECT ends the program if a condition does not hold.
#define EXPECT(...)                                                                        \
	do {                                                                               \
		if (!(__VA_ARGS__)) {                                                      \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);  \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

// Array is memory of the device.
template <typename T> class Array {
	T *memory = nullptr;
	size_t n;

public:
	explicit Array(size_t n) : n(n)
	{
		CHECK(cudaMalloc(&memory, n * sizeof(T)));
		CHECK(cudaMemset(memory, 0xa5, n * sizeof(T)));
	}
	Array(const std::vector<T> &from) : Array(from.size())
	{
		CHECK(cudaMemcpy(memory, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	}
	Array(const Array &) = delete;
	~Array() { cudaFree(memory); }
	operator T *() const { return memory; }

	// host is what its first elements are, all of them by default.
	std::vector<T> host(size_t count = -1) const
	{
		std::vector<T> to(count == size_t(-1) ? n : count);
		CHECK(cudaMemcpy(to.data(), memory, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
		return to;
	}
};

// with_memory runs an algorithm of CUB, which says how much memory it wants when it is given none.
template <typename F> void with_memory(F algorithm)
{
	size_t bytes = 0;
	CHECK(algorithm(nullptr, bytes));
	Array<char> memory(bytes);
	CHECK(algorithm(static_cast<void *>(static_cast<char *>(memory)), bytes));
	CHECK(cudaDeviceSynchronize());
}

// numbers are n integers from 0 to below limit, always the same for a seed.
inline std::vector<int> numbers(int n, int limit, unsigned seed = 1)
{
	std::vector<int> list(n);
	for (int &x : list) {
		seed = seed * 1664525u + 1013904223u;
		x = int((seed >> 8) % unsigned(limit));
	}
	return list;
}
