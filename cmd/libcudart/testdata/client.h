// The checks of C programs that need no CUDA. A program prints ok at its end if all checks held.

#ifndef CLIENT_H
#define CLIENT_H

#include <stdio.h>
#include <stdlib.h>

#include "../src/types.h"

const char *cudaGetErrorName(cudaError_t);

static void check(int line, const char *what, int got, int want)
{
	if (got == want)
		return;
	fprintf(stderr, "line %d: %s is %d (%s), want %d\n", line, what, got, cudaGetErrorName(got), want);
	exit(1);
}
#define IS(want, call) check(__LINE__, #call, (call), (want))
#define OK(call) IS(0, call)
#define HOLDS(what) IS(1, what)

#endif
