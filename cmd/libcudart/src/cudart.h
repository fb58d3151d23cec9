// What the files of the library share.

#ifndef GEMU_CUDART_H
#define GEMU_CUDART_H

#include "libcuda.so.h" // what Go says of the driver: go build writes it beside the library
#include "types.h"

// Those of cmd/libcuda/shims.c.
CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status);
CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuMemAdvise_v2(CUdeviceptr p, size_t n, int advice, CUmemLocation where);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, CUmemLocation where, unsigned flags, CUstream s);

// The errors that the library gives by itself. The others are results of the driver, which
// have the same numbers.
enum {
	invalidValue = 1,
	unloading = 4,
	invalidConfiguration = 9,
	invalidPitch = 12,
	invalidSymbol = 13,
	invalidChannel = 20,
	invalidDirection = 21,
	missingConfiguration = 52,
	invalidFunction = 98,
	noDevice = 100,
	invalidDevice = 101,
	noKernelImage = 209,
	invalidHandle = 400,
	symbolNotFound = 500,
	notReady = 600,
	notSupported = 801,
	outOfMemory = 2,
};

const char *cudaGetErrorName(cudaError_t e);

// done ends a function of the API: a result that is no success is the thread's last error.
cudaError_t done(const char *function, int result);
#define DONE(result) done(__func__, result)

// refused is what a function gives that the library does not have.
cudaError_t refused(const char *function);

// say tells of something on standard error, once.
void say(const char *what);

// start initialises the driver: a result.
int start(void);

// enter makes the calling thread ready for work: if no context is current, the primary one
// of its device becomes so.
int enter(void);

// ENTER is enter for a function of the API, which it ends if there is an error.
#define ENTER()                              \
	do {                                 \
		int entered_ = enter();      \
		if (entered_ != 0)           \
			return DONE(entered_); \
	} while (0)

// IN gives the result of a call of the driver on behalf of a function of the API.
#define IN(call)              \
	do {                  \
		ENTER();      \
		return DONE(call); \
	} while (0)

// current_device is the device that the calling thread works on.
int current_device(int *device);

// primary_context is that of a device, which is made if there is none.
int primary_context(int device, CUcontext *context);

// ending reports whether the driver is shutting down with the process.
int ending(void);

// kernel_of is the kernel that a host function stands for, or that a handle names.
int kernel_of(const void *function, CUkernel *kernel);

// refuse_launch tells the driver of a launch that the runtime refuses, for sanitizers, and returns the result.
int refuse_launch(const void *function, int result);

// function_of is the host function that stands for a kernel; its handle, if there is none.
const void *function_of(CUkernel kernel);

// symbol_at is where the variable is that a host variable stands for, and its size.
int symbol_at(const void *symbol, CUdeviceptr *address, size_t *size);

// part_of is symbol_at, for n bytes from an offset on that must lie in the variable.
int part_of(const void *symbol, size_t offset, size_t n, CUdeviceptr *address);

// forget_managed leaves managed variables that are in a context without an address until they are
// wanted again.
void forget_managed(CUcontext context);

// Copies as the driver has them.
int copy_3d(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
void copy_of(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to);
int copy_1d(void *dst, const void *src, size_t n, int kind, CUDA_MEMCPY3D *to);

int peers(const struct cudaMemcpy3DPeerParms *from, struct cudaMemcpy3DParms *to);

// Launches as the driver has them.
int launch_config(const cudaLaunchConfig_t *from, CUlaunchConfig *to);
int check_extent(dim3 grid, dim3 block);

// Formats of texels: a description of channels and a format of the driver's.
int format_of(const struct cudaChannelFormatDesc *desc, unsigned *format, unsigned *channels);
struct cudaChannelFormatDesc channels_of(unsigned format, unsigned channels);
size_t texel_size(unsigned format, unsigned channels);

// idle is what a call gives that has nothing to do: the fault of a kernel before it, if there was one.
static inline int idle(void) { return cuMemFree_v2(0); }

// pointer is a device address as the API has it.
static inline void *pointer(CUdeviceptr p) { return (void *)(uintptr_t)p; }
static inline CUdeviceptr address(const void *p) { return (uintptr_t)p; }

#endif
