// A program that measures calls of the driver library. Arguments: the library, a large PTX module. It prints a line for
// each figure: a name, and a time in nanoseconds. A repeated call is measured in several batches; the figure is the mean
// time of a call in the fastest batch.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../cuda_types.h"

static void *library;

// FUNCTION declares a pointer to a function of the library, with the name of the function.
#define FUNCTION(name, ...) static CUresult (*name)(__VA_ARGS__)
// FIND sets such a pointer.
#define FIND(name) (*(void **)&name = dlsym(library, #name))

FUNCTION(cuInit, unsigned);
FUNCTION(cuDeviceGetCount, int *);
FUNCTION(cuCtxCreate_v2, CUcontext *, unsigned, CUdevice);
FUNCTION(cuCtxSynchronize, void);
FUNCTION(cuModuleLoadData, CUmodule *, const void *);
FUNCTION(cuModuleGetFunction, CUfunction *, CUmodule, const char *);
FUNCTION(cuMemAlloc_v2, CUdeviceptr *, size_t);
FUNCTION(cuMemFree_v2, CUdeviceptr);
FUNCTION(cuMemAllocManaged, CUdeviceptr *, size_t, unsigned);
FUNCTION(cuMemHostRegister_v2, void *, size_t, unsigned);
FUNCTION(cuMemcpyHtoD_v2, CUdeviceptr, const void *, size_t);
FUNCTION(cuMemcpyDtoH_v2, void *, CUdeviceptr, size_t);
FUNCTION(cuStreamCreate, CUstream *, unsigned);
FUNCTION(cuStreamSynchronize, CUstream);
FUNCTION(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry empty() { ret; }\n"
	// increment adds 1 to n of the threads' elements of x, 64 times.
	".visible .entry increment(.param .u64 x, .param .u32 n)\n"
	"{\n"
	"  .reg .u32 %r<8>; .reg .u64 %rd<4>; .reg .pred %p;\n"
	"  ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];\n"
	"  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
	"  mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"  setp.ge.u32 %p, %r1, %r0;\n"
	"  @%p ret;\n"
	"  mad.wide.u32 %rd1, %r1, 4, %rd0;\n"
	"  mov.u32 %r4, 0;\n"
	"LOOP:\n"
	"  ld.global.u32 %r5, [%rd1];\n"
	"  add.u32 %r5, %r5, 1;\n"
	"  st.global.u32 [%rd1], %r5;\n"
	"  add.u32 %r4, %r4, 1;\n"
	"  setp.lt.u32 %p, %r4, 64;\n"
	"  @%p bra LOOP;\n"
	"  ret;\n"
	"}\n";

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(const char *call, CUresult result)
{
	if (result != 0) {
		fprintf(stderr, "%s is %d\n", call, result);
		exit(1);
	}
}

#define CALL(call) check(#call, call)

// MEASURE prints the time of a statement that is executed n times in each of 10 batches.
#define MEASURE(name, n, statement) \
	do { \
		double best = 1e18; \
		for (int batch = 0; batch < 10; batch++) { \
			double begin = now(); \
			for (int i = 0; i < (n); i++) { \
				statement; \
			} \
			double mean = (now() - begin) / (n); \
			best = mean < best ? mean : best; \
		} \
		printf("%s %.0f\n", name, best); \
	} while (0)

// file returns the content of a file, with a terminating zero.
static char *file(const char *name)
{
	FILE *f = fopen(name, "r");
	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		exit(2);
	long size = ftell(f);
	char *text = calloc(1, size + 1);
	rewind(f);
	if (text == NULL || fread(text, 1, size, f) != (size_t)size)
		exit(2);
	fclose(f);
	return text;
}

// increments measures a launch of increment on n elements at an address.
static void increments(const char *name, CUfunction increment, CUdeviceptr x, unsigned n)
{
	void *args[] = {&x, &n};
	MEASURE(name, 1, CALL(cuLaunchKernel(increment, (n + 255) / 256, 1, 1, 256, 1, 1, 0, 0, args, NULL)); CALL(cuCtxSynchronize()));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	char *large = file(argv[2]);
	double begin = now();
	library = dlopen(argv[1], RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	FIND(cuInit), FIND(cuDeviceGetCount), FIND(cuCtxCreate_v2), FIND(cuCtxSynchronize), FIND(cuModuleLoadData), FIND(cuModuleGetFunction);
	FIND(cuMemAlloc_v2), FIND(cuMemFree_v2), FIND(cuMemAllocManaged), FIND(cuMemHostRegister_v2), FIND(cuMemcpyHtoD_v2), FIND(cuMemcpyDtoH_v2);
	FIND(cuStreamCreate), FIND(cuStreamSynchronize), FIND(cuLaunchKernel);
	double loaded = now();
	CALL(cuInit(0));
	double initialised = now();
	printf("dlopen %.0f\n", loaded - begin);
	printf("cuInit %.0f\n", initialised - loaded);

	CUcontext ctx;
	CUmodule mod;
	CUfunction empty, increment;
	CUdeviceptr x;
	CUstream stream;
	CALL(cuCtxCreate_v2(&ctx, 0, 0));
	begin = now();
	CALL(cuModuleLoadData(&mod, large));
	printf("cuModuleLoadData,_5_MB %.0f\n", now() - begin);
	CALL(cuModuleLoadData(&mod, ptx));
	CALL(cuModuleGetFunction(&empty, mod, "empty"));
	CALL(cuModuleGetFunction(&increment, mod, "increment"));
	CALL(cuMemAlloc_v2(&x, 1 << 20));
	CALL(cuStreamCreate(&stream, 1));

	int count, data = 0;
	char *page = aligned_alloc(4096, 1 << 20);
	memset(page, 0, 1 << 20);
	MEASURE("cuDeviceGetCount", 10000, CALL(cuDeviceGetCount(&count)));
	MEASURE("cuMemcpyHtoD,_4_bytes", 2000, CALL(cuMemcpyHtoD_v2(x, &data, 4)));
	MEASURE("cuMemcpyDtoH,_4_bytes", 2000, CALL(cuMemcpyDtoH_v2(&data, x, 4)));
	MEASURE("cuMemcpyHtoD,_1_MiB", 20, CALL(cuMemcpyHtoD_v2(x, page, 1 << 20)));
	MEASURE("cuMemAlloc+cuMemFree,_1_MiB", 200, CUdeviceptr y; CALL(cuMemAlloc_v2(&y, 1 << 20)); CALL(cuMemFree_v2(y)));
	MEASURE("cuLaunchKernel+cuCtxSynchronize", 2000, CALL(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL)); CALL(cuCtxSynchronize()));
	MEASURE("cuLaunchKernel+cuStreamSynchronize", 2000, CALL(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); CALL(cuStreamSynchronize(stream)));
	MEASURE("cuLaunchKernel,_1_of_1000", 1000, CALL(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)); if (i == 999) CALL(cuStreamSynchronize(stream)));

	CUdeviceptr managed;
	CALL(cuMemAllocManaged(&managed, 1 << 20, 1));
	increments("kernel,_device_memory", increment, x, 1 << 18);
	increments("kernel,_managed_memory", increment, managed, 1 << 18);
	CALL(cuMemHostRegister_v2(page, 1 << 20, 0));
	increments("kernel,_registered_memory", increment, (uintptr_t)page, 1 << 18);
	return 0;
}
