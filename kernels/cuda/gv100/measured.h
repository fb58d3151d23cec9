// For kernels whose counters a GPU measured (docs/gv100.md).
#ifndef GEMU_MEASURED
#define GEMU_MEASURED
#include "../gemu.h"

// Arrays in shared memory begin at a multiple of 16 bytes, as NVIDIA's compilers place them.
#define SHARED __shared__ __attribute__((aligned(16)))

#endif
