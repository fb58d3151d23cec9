// A client that prints before and after its kernel prints.

#include "load.h"

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".extern .func (.param .b32 n) vprintf(.param .b64 format, .param .b64 args);\n"
	".global .align 1 .b8 text[8] = {107, 101, 114, 110, 101, 108, 10, 0};\n"
	".visible .entry k()\n"
	"{\n"
	"  .reg .u64 %rd<2>; .param .b64 format; .param .b64 args; .param .b32 n;\n"
	"  mov.u64 %rd0, text; cvta.global.u64 %rd1, %rd0;\n"
	"  st.param.b64 [format], %rd1; st.param.b64 [args], 0;\n"
	"  call (n), vprintf, (format, args);\n"
	"  ret;\n"
	"}\n";

int main(void)
{
	CUfunction f = load(ptx, "k");
	if (!f)
		return 1;
	printf("before\n"); // stays in the buffer of standard output, unless this is a terminal
	if (cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) || cuCtxSynchronize())
		return 1;
	printf("behind\n");
	return 0;
}
