// The checks of the test programs. A program prints ok at its end if all checks held.

#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

// CHECK ends the program if a call of the API fails.
#define CHECK(call) expect_error((call), cudaSuccess, #call, __FILE__, __LINE__)

// FAILS ends the program unless a call returns an error, and this is the thread's last error, which it clears.
#define FAILS(error, call)                                                         \
	do {                                                                       \
		expect_error((call), (error), #call, __FILE__, __LINE__);          \
		expect_error(cudaGetLastError(), (error), "last error of " #call, __FILE__, __LINE__); \
	} while (0)

// EXPECT ends the program if a condition does not hold.
#define EXPECT(condition)                                                          \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

static inline void expect_error(cudaError_t got, cudaError_t want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	fprintf(stderr, "%s:%d: %s: %s (%s), want %s\n", file, line, what, cudaGetErrorName(got), cudaGetErrorString(got), cudaGetErrorName(want));
	exit(1);
}

#endif
