// The common beginning of clients with a single kernel.

#include <stdio.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuDeviceGet(CUdevice *, int), cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

// load loads PTX on the first device and returns a kernel, or 0 if a call fails.
static CUfunction load(const char *ptx, const char *name)
{
	CUdevice dev;
	CUcontext ctx;
	CUmodule mod;
	CUfunction f;
	if (cuInit(0) || cuDeviceGet(&dev, 0) || cuCtxCreate_v2(&ctx, 0, dev) || cuModuleLoadData(&mod, ptx) || cuModuleGetFunction(&f, mod, name))
		return 0;
	return f;
}
