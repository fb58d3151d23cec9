// A program that calls the driver library, removes the alternate signal stack of its thread, as Python's interpreter does
// at its end, and then calls the library until Go's runtime has sent signals. It prints "ok" and ends with status 0.

#include <signal.h>
#include <stdio.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuCtxSetCurrent(CUcontext);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleUnload(CUmodule);

int main(void)
{
	CUcontext ctx;
	CUmodule m;
	static char own[1 << 16], text[200];
	stack_t stack = {.ss_sp = own, .ss_size = sizeof own}, none = {.ss_flags = SS_DISABLE};
	if (sigaltstack(&stack, NULL) != 0 || cuInit(0) != 0 || cuDevicePrimaryCtxRetain(&ctx, 0) != 0 || cuCtxSetCurrent(ctx) != 0)
		return 1;
	if (sigaltstack(&none, NULL) != 0)
		return 1;
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof text, ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry f%d() { ret; }\n", i);
		if (cuModuleLoadData(&m, text) != 0 || cuModuleUnload(m) != 0)
			return 1;
	}
	puts("ok");
	return 0;
}
