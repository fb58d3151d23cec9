// A client with refused and failing launches, which ignores results. It ends without waiting for them.

#include <string.h>

#include "client.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, dim3 *, dim3 *, int *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t), cudaMalloc(void **, size_t);

static const char ptx[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry far(.param .u64 x)\n"
	"{\n"
	"  .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x];\n"
	"  st.global.u32 [%rd0+4000000], 1;\n"
	"  ret;\n"
	"}\n";

static struct {
	int magic, version;
	const void *image;
	void **parts;
} wrapper = {0x466243b1, 1, ptx, NULL}, machine_code = {0x466243b1, 1, "\x7f" "ELF", NULL};

static char far, cubin; // their addresses stand for kernels

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned threads = strcmp(how, "too many threads") == 0 ? 2048 : 32;
	void *x, *args[] = {&x}, **h = __cudaRegisterFatBinary(&wrapper), **m = __cudaRegisterFatBinary(&machine_code);
	__cudaRegisterFunction(h, &far, "far", "far", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(m, &cubin, "cubin", "cubin", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(h);
	__cudaRegisterFatBinaryEnd(m);
	OK(cudaMalloc(&x, 4));
	cudaLaunchKernel(strcmp(how, "machine code") == 0 ? &cubin : &far, (dim3){1, 1, 1}, (dim3){threads, 1, 1}, args, 0, 0);
	return 0;
}
