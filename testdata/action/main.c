// A small CUDA program for the test of the GitHub Action: it runs the kernel of sum.ptx on 4 blocks and checks the sums.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 4, threads = 64 };

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;

// FUNCTION finds a function of the driver API in the library.
#define FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__) = (CUresult(*)(__VA_ARGS__))dlsym(library, #name)

static void check(CUresult result, const char *call)
{
	if (result != 0) {
		fprintf(stderr, "%s: error %d\n", call, result);
		exit(1);
	}
}
#define CHECK(call) check(call, #call)

static char *read_file(const char *name)
{
	static char text[1 << 16];
	FILE *f = fopen(name, "r");
	if (f == NULL || fread(text, 1, sizeof text - 1, f) == 0) {
		perror(name);
		exit(1);
	}
	fclose(f);
	return text;
}

int main(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	FUNCTION(cuInit, unsigned);
	FUNCTION(cuCtxCreate_v2, CUcontext *, unsigned, CUdevice);
	FUNCTION(cuModuleLoadData, CUmodule *, const void *);
	FUNCTION(cuModuleGetFunction, CUfunction *, CUmodule, const char *);
	FUNCTION(cuMemAlloc_v2, CUdeviceptr *, size_t);
	FUNCTION(cuMemcpyHtoD_v2, CUdeviceptr, const void *, size_t);
	FUNCTION(cuMemcpyDtoH_v2, void *, CUdeviceptr, size_t);
	FUNCTION(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
	CUcontext context;
	CUmodule module;
	CUfunction sum;
	CHECK(cuInit(0));
	CHECK(cuCtxCreate_v2(&context, 0, 0));
	CHECK(cuModuleLoadData(&module, read_file("sum.ptx")));
	CHECK(cuModuleGetFunction(&sum, module, "sum"));
	unsigned in[blocks * threads], out[blocks];
	for (int i = 0; i < blocks * threads; i++)
		in[i] = i;
	CUdeviceptr in_device, out_device;
	CHECK(cuMemAlloc_v2(&in_device, sizeof in));
	CHECK(cuMemAlloc_v2(&out_device, sizeof out));
	CHECK(cuMemcpyHtoD_v2(in_device, in, sizeof in));
	void *arguments[] = {&in_device, &out_device};
	CHECK(cuLaunchKernel(sum, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
	CHECK(cuMemcpyDtoH_v2(out, out_device, sizeof out));
	for (int b = 0; b < blocks; b++) {
		const unsigned first = b * threads, want = threads * first + threads * (threads - 1) / 2;
		if (out[b] != want) {
			fprintf(stderr, "block %d: %u, want %u\n", b, out[b], want);
			return 1;
		}
	}
	printf("4 sums are right\n");
	return 0;
}
