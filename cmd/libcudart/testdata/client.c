// A client of the runtime library that does what the code does which nvcc generates: it registers a
// fat binary, whose image here is PTX itself, and launches by a configuration that is pushed and
// popped. It needs no CUDA. It ends with "ok" and status 0.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **), __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *), __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t), cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int), cudaMemcpy_ptds(void *, const void *, size_t, int);
cudaError_t cudaMemset(void *, int, size_t), cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int), cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
cudaError_t cudaGetLastError(void), cudaPeekAtLastError(void), cudaDeviceSynchronize(void), cudaDeviceReset(void);
cudaError_t cudaGetDeviceProperties(void *, int), cudaRuntimeGetVersion(int *), cudaDriverGetVersion(int *), cudaImportExternalMemory(void *, void *), cudaGetDeviceCount(int *), cudaSetDevice(int), cudaSetValidDevices(int *, int);
cudaError_t cudaStreamCreate(cudaStream_t *), cudaStreamBeginCapture(cudaStream_t, int), cudaStreamEndCapture(cudaStream_t, cudaGraph_t *), cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, unsigned long long), cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaMemcpyPeer(void *, int, const void *, int, size_t);
cudaError_t cudaMallocHost(void **, size_t), cudaFreeHost(void *), cudaMemset3D(struct cudaPitchedPtr, int, struct cudaExtent), cudaMemset_ptds(void *, int, size_t);
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void *), void *), cudaLaunchHostFunc_ptsz(cudaStream_t, void (*)(void *), void *);
int cuDevicePrimaryCtxGetState(int, unsigned *, int *), cuCtxCreate_v2(uint64_t *, unsigned, int), cuCtxGetCurrent(uint64_t *), cuCtxDestroy_v2(uint64_t);
#if MAJOR == 12
cudaError_t cudaGetDeviceProperties_v2(void *, int);
#endif

static const char ptx[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .global .align 4 .u32 factor = 3;\n"
	".visible .global .attribute(.managed) .align 4 .u32 calls = 7;\n"
	".visible .entry scale(.param .u64 x)\n"
	"{\n"
	"  .reg .u32 %r<4>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [factor]; mul.lo.u32 %r1, %r1, %r2; st.global.u32 [%rd0], %r1;\n"
	"  mov.u64 %rd2, calls; red.global.add.u32 [%rd2], 1;\n"
	"  ret;\n"
	"}\n";

static void *parts[] = {(void *)ptx, NULL};

static struct {
	int magic, version;
	const void *image;
	void **parts;
} linked = {0x466243b1, 2, NULL, parts}, wrapper = {0x466243b1, 1, ptx, NULL}, machine_code = {0x466243b1, 1, "\x7f" "ELF", NULL};

static void **handle;
static char factor, absent; // stand for variables
static int *calls;

// scale stands for the kernel.
static void scale(int *x)
{
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	void *args[] = {&x};
	cudaKernel_t kernel;
	OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	OK(__cudaGetKernel(&kernel, (void *)scale));
	__cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

static void call(int *x, unsigned grid, unsigned block, cudaStream_t stream)
{
	if (__cudaPushCallConfiguration((dim3){grid, 1, 1}, (dim3){block, 1, 1}, 0, stream) == 0)
		scale(x);
}

static void other(void) {}

static void *in_thread(void *x)
{
	IS(101, cudaSetDevice(5)); // an error of this thread
	call(x, 1, 4, 0);
	OK(cudaDeviceSynchronize());
	return NULL;
}

static void doze(void *x)
{
	(void)x;
	usleep(50000);
}

// Fills wait for their stream where the host sees the memory.
static void fills(void)
{
	volatile unsigned char *p;
	OK(cudaMallocHost((void **)&p, 8));
	memset((void *)p, 0, 8);
	OK(cudaLaunchHostFunc(0, doze, NULL));
	OK(cudaMemset3D((struct cudaPitchedPtr){(void *)p, 2, 2, 2}, 3, (struct cudaExtent){2, 2, 2}));
	IS(3, p[7]);
	OK(cudaLaunchHostFunc_ptsz(0, doze, NULL));
	OK(cudaMemset_ptds((void *)p, 4, 8));
	IS(4, p[7]);
	OK(cudaFreeHost((void *)p));
}

int main(void)
{
	int host[4] = {1, 2, 3, 4}, got[4], n, *x;
	handle = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(handle, (char *)scale, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, &factor, "factor", "factor", 0, 4, 0, 0);
	__cudaRegisterVar(handle, &absent, "absent", "absent", 0, 4, 0, 0);
	__cudaRegisterManagedVar(handle, (void **)&calls, "calls", "calls", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	IS(1, __cudaInitModule(handle));
	IS(7, *calls);

	OK(cudaGetDeviceCount(&n));
	OK(cudaMalloc((void **)&x, sizeof host));
	OK(cudaMemcpy(x, host, sizeof host, copyHostToDevice));
	call(x, 1, 4, 0);
	OK(cudaGetLastError());
	int five = 5;
	OK(cudaMemcpyToSymbol(&factor, &five, 4, 0, copyHostToDevice));
	void *args[] = {&x};
	OK(cudaLaunchKernel_ptsz((void *)scale, (dim3){1, 1, 1}, (dim3){2, 1, 1}, args, 0, 0));
	OK(cudaMemcpy_ptds(got, x, sizeof got, copyDefault));
	IS(15, got[0]);
	IS(30, got[1]);
	IS(9, got[2]);
	OK(cudaDeviceSynchronize());
	IS(13, *calls);
	OK(cudaMemcpyFromSymbol(&five, &factor, 4, 0, copyDeviceToHost));
	IS(5, five);
	IS(13, cudaMemcpyFromSymbol(&five, &absent, 4, 0, copyDeviceToHost));
	IS(13, cudaGetLastError());

	// Another thread, whose errors are its own.
	pthread_t t;
	OK(pthread_create(&t, NULL, in_thread, x));
	OK(pthread_join(t, NULL));
	OK(cudaGetLastError());
	OK(cudaMemcpyPeer(x + 2, 0, x, 0, 4));
	IS(101, cudaMemcpyPeer(x + 2, 0, x, 9, 4));
	IS(101, cudaGetLastError());
	OK(cudaMemcpy(got, x, sizeof got, copyDeviceToHost));
	IS(75, got[0]);
	IS(75, got[2]);

	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	OK(cudaStreamCreate(&s));
	OK(cudaStreamBeginCapture(s, 0));
	call(x, 1, 1, s);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(got, x, sizeof got, copyDeviceToHost));
	IS(75 * 25, got[0]);

	fills();

	struct cudaDeviceProp p, old;
#if MAJOR == 12
	memset(&old, 0x5a, sizeof old);
	OK(cudaGetDeviceProperties(&old, 0)); // programs of version 11 have a shorter structure
	IS(0x5a5a5a5a, old.hostRegisterSupported);
	IS(32, old.warpSize);
	OK(cudaGetDeviceProperties_v2(&p, 0));
#else
	(void)old;
	OK(cudaGetDeviceProperties(&p, 0));
#endif
	IS(32, p.warpSize);
	OK(cudaRuntimeGetVersion(&n));
	IS(MAJOR, n / 1000);
	int newest;
	OK(cudaDriverGetVersion(&newest));
	HOLDS(newest >= n);

	// What is wrong, and what is not there.
	call(x, 0, 1, 0);
	IS(9, cudaPeekAtLastError());
	IS(9, cudaGetLastError());
	IS(98, cudaLaunchKernel((void *)other, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, 0));
	IS(801, cudaImportExternalMemory(NULL, x));
	IS(801, cudaGetLastError());
	void **bad = __cudaRegisterFatBinary(&machine_code);
	__cudaRegisterFunction(bad, (char *)other, "other", "other", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(bad);
	IS(209, cudaLaunchKernel((void *)other, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, 0));
	IS(209, cudaGetLastError());
	__cudaUnregisterFatBinary(bad);
	IS(98, cudaLaunchKernel((void *)other, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, 0));
	IS(98, cudaGetLastError());

	// A list of devices has at most as many elements as there are devices: no more are read.
	size_t page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HOLDS(pages != MAP_FAILED);
	HOLDS(mprotect(pages + page, page, PROT_NONE) == 0);
	int *device = (int *)(pages + page) - 1; // the last that can be read
	OK(cudaGetDeviceCount(&n));
	IS(1, cudaSetValidDevices(device, n + 1));
	IS(1, cudaSetValidDevices(device, 2147483647));
	IS(1, cudaSetValidDevices(device, -1));
	IS(1, cudaSetValidDevices(NULL, 1));
	*device = n;
	IS(101, cudaSetValidDevices(device, 1));
	*device = 0;
	OK(cudaSetValidDevices(device, 1));
	OK(cudaSetValidDevices(NULL, 0));
	IS(101, cudaGetLastError());

	// Variables of the same name are others on another device, but there cannot be two managed ones.
	OK(cudaGetDeviceCount(&n));
	if (n > 1) {
		OK(cudaSetDevice(1));
		call(x, 1, 1, 0);
		IS(801, cudaGetLastError());
		OK(cudaDeviceReset()); // of this device
		HOLDS(calls != NULL);
		call(x, 1, 1, 0);
		IS(801, cudaGetLastError());
		OK(cudaSetDevice(0));
		call(x, 1, 1, 0);
		OK(cudaGetLastError());
	}

	// A fault stays until the device is reset, and asking for it waits for nothing.
	call(x, 1, 5, 0);
	OK(cudaGetLastError());
	IS(700, cudaDeviceSynchronize());
	IS(700, cudaGetLastError());
	IS(700, cudaGetLastError());
	IS(700, cudaMemset(x, 0, 4));
	IS(700, cudaMemset(x, 0, 0)); // though there is nothing to do,
	IS(700, cudaMemcpy_ptds(x, x, 0, copyDefault));
	IS(700, cudaLaunchKernel((void *)scale, (dim3){0, 1, 1}, (dim3){1, 1, 1}, args, 0, 0)); // or something else is wrong
	IS(101, cudaSetDevice(-1));
	IS(101, cudaGetLastError());
	IS(700, cudaGetLastError());
	bad = __cudaRegisterFatBinary(&linked); // is linked as soon as it can be
	__cudaRegisterFunction(bad, (char *)other, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(bad);
	IS(700, cudaLaunchKernel((void *)other, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, 0));

	// A reset leaves nothing of the device, and other contexts as they are.
	uint64_t own, current;
	unsigned flags;
	OK(cuCtxCreate_v2(&own, 0, 0));
	OK(cudaDeviceReset());
	OK(cudaGetLastError());
	OK(cuDevicePrimaryCtxGetState(0, &flags, &n));
	IS(0, n);
	HOLDS(calls == NULL);
	OK(cuCtxGetCurrent(&current));
	HOLDS(current == own);
	OK(cuCtxDestroy_v2(own));
	OK(cudaMalloc((void **)&x, sizeof host));
	OK(cudaMemcpyFromSymbol(&five, &factor, 4, 0, copyDeviceToHost)); // as it was at first
	IS(3, five);
	IS(7, *calls);
	OK(cudaLaunchKernel((void *)other, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, 0));
	OK(cudaDeviceSynchronize());
	__cudaUnregisterFatBinary(bad);
	OK(cudaFree(x));
	__cudaUnregisterFatBinary(handle);
	puts("ok");
	return 0;
}
