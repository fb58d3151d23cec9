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

// record_result traces a call of the API and returns its result. An error becomes the thread's last error. A function of
// the API returns RESULT(r).
cudaError_t record_result(const char *function, int result);
#define RESULT(result) record_result(__func__, result)

// refused returns the result of a function that the library does not have, which becomes the thread's last error.
cudaError_t refused(const char *function);

// report_once prints a message on standard error. Only the first call of the process prints.
void report_once(const char *message);

// start initialises the driver, once in a process, and returns the result.
int start(void);

// enter prepares the calling thread for work: if no context is current, it makes the primary context of the thread's
// device current.
int enter(void);

// ENTER calls enter in a function of the API, and returns if there is an error.
#define ENTER()                                  \
	do {                                     \
		int entered_ = enter();          \
		if (entered_ != 0)               \
			return RESULT(entered_); \
	} while (0)

// RETURN calls enter in a function of the API, and returns the result of a driver call.
#define RETURN(call)                 \
	do {                         \
		ENTER();             \
		return RESULT(call); \
	} while (0)

// The following functions return a result. Those that return more store it where a parameter points.

// current_device returns the device of the calling thread.
int current_device(int *device);

// primary_context returns the primary context of a device, and retains it at the first call.
int primary_context(int device, CUcontext *context);

// ending reports whether the process is ending and the driver is shutting down.
int ending(void);

// kernel_of returns the kernel of a host function, or of a kernel's handle.
int kernel_of(const void *function, CUkernel *kernel);

// refuse_launch tells the driver that the runtime refuses a launch, so that sanitizers do not call the program clean. It
// returns result.
int refuse_launch(const void *function, int result);

// function_of returns the host function of a kernel, or the kernel's handle if there is none.
const void *function_of(CUkernel kernel);

// symbol_at returns the device address and the size of the variable that a host symbol names.
int symbol_at(const void *symbol, CUdeviceptr *address, size_t *size);

// symbol_range returns the device address at an offset in a symbol's variable. n bytes from there must lie in the
// variable.
int symbol_range(const void *symbol, size_t offset, size_t n, CUdeviceptr *address);

// forget_managed sets the host's pointers to the managed variables of a context to NULL. The next use of a kernel or
// variable of the same fat binary sets them again.
void forget_managed(CUcontext context);

// Conversion of copies for the driver. convert_copy_back converts a copy of the driver to the runtime's structure.
int copy_3d(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
void convert_copy_back(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to);
int copy_1d(void *dst, const void *src, size_t n, int kind, CUDA_MEMCPY3D *to);

// convert_peer_copy converts a copy between devices to a copy on one device. Both devices must exist.
int convert_peer_copy(const struct cudaMemcpy3DPeerParms *from, struct cudaMemcpy3DParms *to);

// Conversion of launches for the driver.
int launch_config(const cudaLaunchConfig_t *from, CUlaunchConfig *to);

// check_extent checks the extents of a grid and its blocks: the runtime has its own error for extents that the driver
// calls an invalid value.
int check_extent(dim3 grid, dim3 block);

// Texel formats: conversion of a channel description to a format of the driver.
int format_of(const struct cudaChannelFormatDesc *desc, unsigned *format, unsigned *channels);
struct cudaChannelFormatDesc channels_of(unsigned format, unsigned channels);
size_t texel_size(unsigned format, unsigned channels);

// check_context returns the result of a call without work: the fault of an earlier kernel, if there was one.
static inline int check_context(void) { return cuMemFree_v2(0); }

// pointer converts a device address to a pointer of the API.
static inline void *pointer(CUdeviceptr p) { return (void *)(uintptr_t)p; }
static inline CUdeviceptr address(const void *p) { return (uintptr_t)p; }

#endif
