// A client whose kernel has a race: each thread adds to the same word, without an atomic.

#include "load.h"

CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry count(.param .u64 x)\n"
	"{\n"
	"  .reg .u32 %r<2>; .reg .u64 %rd<2>;\n"
	"  ld.param.u64 %rd1, [x];\n"
	"  ld.global.u32 %r1, [%rd1];\n"
	"  add.u32 %r1, %r1, 1;\n"
	"  st.global.u32 [%rd1], %r1;\n"
	"  ret;\n"
	"}\n";

int main(void)
{
	CUfunction f = load(ptx, "count");
	CUdeviceptr x;
	void *args[] = {&x};
	if (!f || cuMemAlloc_v2(&x, 4) || cuMemsetD8_v2(x, 0, 4) || cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, 0, args, 0) || cuCtxSynchronize())
		return 1;
	printf("ok\n"); // stays in the buffer of standard output until the process ends
	return 0;
}
