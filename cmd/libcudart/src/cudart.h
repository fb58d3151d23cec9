// The interface between the files of the library.

#ifndef GEMU_CUDART_H
#define GEMU_CUDART_H

#include "libcuda.so.h" // the driver's functions: go build writes it next to the library
#include "types.h"

// Functions of cmd/libcuda/shims.c.
CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status);
CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuMemAdvise_v2(CUdeviceptr p, size_t n, int advice, CUmemLocation where);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, CUmemLocation where, unsigned flags, CUstream s);

// The errors that the library itself returns. All further errors are results of the driver with the same numbers.
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

// done ends a function of the API: a result other than success becomes the thread's last error.
cudaError_t done(const char *function, int result);
#define DONE(result) done(__func__, result)

// refused returns the result of a function that the library does not have.
cudaError_t refused(const char *function);

// say prints a message on standard error, once.
void say(const char *what);

// start initialises the driver and returns the result.
int start(void);

// enter prepares the calling thread for work: if no context is current, it makes the primary context of the thread's
// device current.
int enter(void);

// ENTER calls enter in a function of the API, and returns if there is an error.
#define ENTER()                              \
	do {                                 \
		int entered_ = enter();      \
		if (entered_ != 0)           \
			return DONE(entered_); \
	} while (0)

// IN returns from a function of the API with the result of a driver call.
#define IN(call)              \
	do {                  \
		ENTER();      \
		return DONE(call); \
	} while (0)

// current_device returns the device of the calling thread.
int current_device(int *device);

// primary_context returns the primary context of a device, and makes it if necessary.
int primary_context(int device, CUcontext *context);

// ending reports whether the process is ending and the driver is shutting down.
int ending(void);

// kernel_of returns the kernel of a host function, or of a handle.
int kernel_of(const void *function, CUkernel *kernel);

// refuse_launch reports a launch that the runtime refuses to the driver, for sanitizers, and returns the result.
int refuse_launch(const void *function, int result);

// function_of returns the host function of a kernel, or its handle if there is none.
const void *function_of(CUkernel kernel);

// symbol_at returns the address and size of the variable of a host variable.
int symbol_at(const void *symbol, CUdeviceptr *address, size_t *size);

// part_of is symbol_at for n bytes from an offset on, which must lie in the variable.
int part_of(const void *symbol, size_t offset, size_t n, CUdeviceptr *address);

// forget_managed removes the addresses of managed variables in a context, until they are needed again.
void forget_managed(CUcontext context);

// Conversion of copies for the driver.
int copy_3d(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
void copy_of(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to);
int copy_1d(void *dst, const void *src, size_t n, int kind, CUDA_MEMCPY3D *to);

int peers(const struct cudaMemcpy3DPeerParms *from, struct cudaMemcpy3DParms *to);

// Conversion of launches for the driver.
int launch_config(const cudaLaunchConfig_t *from, CUlaunchConfig *to);
int check_extent(dim3 grid, dim3 block);

// Texel formats: conversion of a channel description to a format of the driver.
int format_of(const struct cudaChannelFormatDesc *desc, unsigned *format, unsigned *channels);
struct cudaChannelFormatDesc channels_of(unsigned format, unsigned channels);
size_t texel_size(unsigned format, unsigned channels);

// idle returns the result of a call without work: an earlier fault of a kernel, if there was one.
static inline int idle(void) { return cuMemFree_v2(0); }

// pointer converts a device address to a pointer of the API.
static inline void *pointer(CUdeviceptr p) { return (void *)(uintptr_t)p; }
static inline CUdeviceptr address(const void *p) { return (uintptr_t)p; }

#endif
