// Links with the library like a program with NVIDIA's header, and runs the result. Prints "ok".

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As in nvJitLink.h: inline functions call the functions with the header's version in their names.
#define JOIN_(name, major) __##name##_##major##_0
#define JOIN(name, major) JOIN_(name, major)
#define create JOIN(nvJitLinkCreate, MAJOR)
#define destroy JOIN(nvJitLinkDestroy, MAJOR)
#define add_data JOIN(nvJitLinkAddData, MAJOR)
#define add_file JOIN(nvJitLinkAddFile, MAJOR)
#define complete JOIN(nvJitLinkComplete, MAJOR)
#define cubin_size JOIN(nvJitLinkGetLinkedCubinSize, MAJOR)
#define cubin JOIN(nvJitLinkGetLinkedCubin, MAJOR)
#define ptx_size JOIN(nvJitLinkGetLinkedPtxSize, MAJOR)
#define ptx JOIN(nvJitLinkGetLinkedPtx, MAJOR)
#define error_size JOIN(nvJitLinkGetErrorLogSize, MAJOR)
#define error_log JOIN(nvJitLinkGetErrorLog, MAJOR)
#define info_size JOIN(nvJitLinkGetInfoLogSize, MAJOR)
typedef struct nvJitLink *link_t;
int create(link_t *, uint32_t, const char **), destroy(link_t *), complete(link_t);
int add_data(link_t, int, const void *, size_t, const char *), add_file(link_t, int, const char *);
int cubin_size(link_t, size_t *), cubin(link_t, void *), ptx_size(link_t, size_t *), ptx(link_t, char *);
int error_size(link_t, size_t *), error_log(link_t, char *), info_size(link_t, size_t *);
int nvJitLinkVersion(unsigned *, unsigned *);
enum { success, unrecognized_option, missing_arch, invalid_input, ptx_compile };
enum { CUBIN = 1, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, INDEX, ANY = 10 };

// Functions of cuda.h.
typedef void *CUcontext, *CUmodule, *CUfunction;
typedef uint64_t CUdeviceptr;
int cuInit(unsigned), cuCtxCreate_v2(CUcontext *, unsigned, int), cuCtxGetCurrent(CUcontext *), cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
int cuModuleLoadData(CUmodule *, const void *), cuModuleGetFunction(CUfunction *, CUmodule, const char *);
int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static void equal(int line, long got, long want)
{
	if (got == want)
		return;
	printf("line %d: %ld, want %ld\n", line, got, want);
	exit(1);
}
#define EQUAL(got, want) equal(__LINE__, (long)(got), (long)(want))

// logs checks that the error log contains a text.
static void logs(int line, link_t l, const char *text)
{
	size_t n;
	equal(line, error_size(l, &n), success);
	char log[n + 1];
	equal(line, error_log(l, log), success);
	equal(line, n, n == 0 ? 0 : strlen(log) + 1);
	if (strstr(log, text) == NULL) {
		printf("line %d: the log is %s\nwant %s\n", line, log, text);
		exit(1);
	}
}
#define LOGS(link, text) logs(__LINE__, link, text)

#define HEAD ".version 7.8\n.target sm_50\n.address_size 64\n"

static const char *options[] = {"-arch=sm_90a", "-O3", "-lineinfo", "-maxrregcount=32", "-Xptxas=-v", "-lto"};

static const char kernel[] = HEAD ".extern .func (.param .u32 r) seven();\n"
	".visible .entry k(.param .u64 x) { .reg .u64 %x; .reg .u32 %r; ld.param.u64 %x, [x]; { .param .u32 p; call (p), seven; ld.param.u32 %r, [p]; } st.global.u32 [%x], %r; ret; }\n";
static const char seven[] = HEAD ".visible .func (.param .u32 r) seven() { st.param.u32 [r], 7; ret; }\n";

// run returns the value stored by the kernel of an image.
static uint32_t run(const void *image)
{
	CUmodule m;
	CUfunction k;
	CUdeviceptr x;
	uint32_t got = 0;
	EQUAL(cuMemAlloc_v2(&x, 4), 0);
	EQUAL(cuModuleLoadData(&m, image), 0);
	EQUAL(cuModuleGetFunction(&k, m, "k"), 0);
	EQUAL(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&x}, NULL), 0);
	EQUAL(cuMemcpyDtoH_v2(&got, x, 4), 0);
	return got;
}

#define LTO "\xed\x43\x4e\x7f"

// optimised links PTX with LTO-IR, which NVIDIA's linker turns into PTX. It also requests the PTX of the LTO-IR alone.
static void optimised(void)
{
	static const char lto[] = LTO HEAD ".visible .func (.param .u32 r) seven() { st.param.u32 [r], 8; ret; }\n";
	static const char *to_ptx[] = {"-arch=sm_90a", "-lto", "-ptx"};
	link_t l;
	size_t n;
	EQUAL(create(&l, sizeof options / sizeof *options, options), success);
	EQUAL(add_data(l, PTX, kernel, sizeof kernel, "kernel.ptx"), success);
	EQUAL(add_data(l, ANY, lto, sizeof lto, "seven"), success);
	EQUAL(complete(l), success);
	EQUAL(cubin_size(l, &n), success);
	char *image = malloc(n);
	EQUAL(cubin(l, image), success);
	EQUAL(destroy(&l), success);
	EQUAL(run(image), 8);
	free(image);

	EQUAL(create(&l, 3, to_ptx), success);
	EQUAL(add_data(l, PTX, seven, sizeof seven, "text"), invalid_input);
	LOGS(l, "text is not LTO-IR");
	EQUAL(ptx_size(l, &n), invalid_input);
	EQUAL(add_data(l, LTOIR, lto, sizeof lto, "seven"), success);
	EQUAL(complete(l), success);
	EQUAL(ptx_size(l, &n), success);
	EQUAL(n, sizeof lto - 4);
	char text[n];
	EQUAL(ptx(l, text), success);
	EQUAL(strcmp(text, lto + 4), 0);
	EQUAL(cubin_size(l, &n), invalid_input);
	EQUAL(destroy(&l), success);
}

// refused checks the result and message of invalid options.
static void refused(int line, int result, const char *text, uint32_t n, const char **with)
{
	link_t l = NULL;
	equal(line, create(&l, n, with), result);
	logs(line, l, text);
	equal(line, add_data(l, PTX, seven, sizeof seven, "seven"), invalid_input);
	equal(line, destroy(&l), success);
}
#define REFUSED(result, text, n, ...) refused(__LINE__, result, text, n, (const char *[]){__VA_ARGS__})

int main(int argc, char **argv)
{
	unsigned major, minor;
	link_t l;
	size_t n;
	EQUAL(argc, 2); // argv[1] is the directory for files
	EQUAL(nvJitLinkVersion(&major, &minor), success);
	EQUAL(major, MAJOR);

	// A single module: a container, linked like PTX.
	EQUAL(create(&l, sizeof options / sizeof *options, options), success);
	EQUAL(cubin_size(l, &n), invalid_input); // the link is not complete
	EQUAL(add_data(l, PTX, seven, sizeof seven, NULL), success);
	EQUAL(complete(l), success);
	EQUAL(cubin_size(l, &n), success);
	char *part = malloc(n);
	EQUAL(cubin(l, part), success);
	EQUAL(memcmp(part, "\x7f" "ELF", 4), 0);
	EQUAL(ptx_size(l, &n), invalid_input);
	LOGS(l, "no linked PTX");
	EQUAL(add_data(l, PTX, seven, sizeof seven, "late"), invalid_input);
	char name[1000];
	snprintf(name, sizeof name, "%s/seven.cubin", argv[1]);
	FILE *f = fopen(name, "wb");
	EQUAL(cubin_size(l, &n), success);
	EQUAL(fwrite(part, 1, n, f), n);
	EQUAL(fclose(f), 0);
	free(part);
	EQUAL(destroy(&l), success);
	EQUAL(l == NULL, 1);

	CUcontext context, current;
	EQUAL(cuInit(0), 0);
	EQUAL(cuCtxCreate_v2(&context, 0, 0), 0);
	EQUAL(create(&l, 1, options), success);
	EQUAL(add_data(l, ANY, kernel, strlen(kernel), "kernel.ptx"), success);
	EQUAL(add_file(l, CUBIN, name), success);
	EQUAL(complete(l), success);
	EQUAL(cuCtxGetCurrent(&current), 0);
	EQUAL(current == context, 1); // the library has not changed the caller's context
	EQUAL(cubin_size(l, &n), success);
	char *image = malloc(n);
	EQUAL(cubin(l, image), success);
	EQUAL(error_size(l, &n), success);
	EQUAL(n, 0);
	EQUAL(info_size(l, &n), success);
	EQUAL(n, 0);
	EQUAL(destroy(&l), success);
	EQUAL(run(image), 7);
	free(image);
	if (*getenv("GEMU_NVJITLINK") != 0)
		optimised();

	// Errors are named in the log, after all earlier messages.
	EQUAL(create(&l, 1, options), success);
	EQUAL(add_data(l, PTX, HEAD "bogus", strlen(HEAD "bogus"), "first.ptx"), ptx_compile);
	LOGS(l, "first.ptx:4:1");
	EQUAL(add_data(l, LTOIR, LTO, 4, "second"), invalid_input);
	LOGS(l, *getenv("GEMU_NVJITLINK") == 0 ? "second is LTO-IR, and gemu does not compile it" : "this is empty\nERROR: second: NVIDIA's linker rejects it");
	EQUAL(add_data(l, ANY, LTO, 4, "third"), invalid_input);
	LOGS(l, "third");
	static const char machine_code[64] = "\x7f" "ELF";
	EQUAL(add_data(l, CUBIN, machine_code, sizeof machine_code, "fourth"), invalid_input);
	LOGS(l, "machine code");
	LOGS(l, "ERROR: fourth: CUDA_ERROR_NO_BINARY_FOR_GPU");
	EQUAL(add_data(l, INDEX, seven, sizeof seven, "fifth"), invalid_input);
	LOGS(l, "unsupported input type: fifth");
	EQUAL(add_file(l, PTX, "/none/file"), invalid_input);
	LOGS(l, "/none/file cannot be read");
	LOGS(l, "first.ptx:4:1");
	EQUAL(complete(l), invalid_input);
	LOGS(l, *getenv("GEMU_NVJITLINK") == 0 ? "nothing to link: no PTX was added" : "ERROR: the LTO-IR");
	EQUAL(destroy(&l), success);

	REFUSED(missing_arch, "", 1, "-O3");
	REFUSED(unrecognized_option, "unrecognized option: -frobnicate", 2, "-arch=sm_80", "-frobnicate");
	REFUSED(unrecognized_option, "unrecognized option: -arch=new", 1, "-arch=new");
	REFUSED(unrecognized_option, "unrecognized option: -O2", 2, "-arch=sm_80", "-O2");
	REFUSED(invalid_input, "not PTX", 1, "-arch=compute_80");
	EQUAL(create(NULL, 0, NULL), invalid_input);
	EQUAL(complete(NULL), invalid_input);
	EQUAL(destroy(NULL), invalid_input);
	puts("ok");
	return 0;
}
