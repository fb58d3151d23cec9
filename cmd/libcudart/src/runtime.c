// The state of the library: the errors and the device of each thread, the primary contexts, and the results of calls.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

static _Thread_local struct {
	cudaError_t last;   // the last error
	cudaError_t sticky; // the last sticky error
	int has_selected;   // the thread has selected a device
	int selected;       // the selected device
	CUcontext bound;    // the context that the library has made current; 0 if none
} self;

static int trace; // GEMU_TRACE when the library was loaded

__attribute__((constructor)) static void read_environment(void)
{
	const char *value = getenv("GEMU_TRACE");
	trace = value != NULL ? atoi(value) : 0; // cuInit reports invalid values
}

// is_sticky reports whether an error is sticky: every later call in the same context returns it.
static int is_sticky(cudaError_t e)
{
	switch (e) {
	case 214: case 220: case 700: case 702: case 710: case 714: case 715: case 716: case 717: case 718: case 719: case 721:
		return 1;
	}
	return 0;
}

cudaError_t record_result(const char *function, int result)
{
	if (trace > 1 && result == 0)
		fprintf(stderr, "gemu: %s\n", function);
	if (trace > 0 && result != 0 && (trace > 1 || result != notReady))
		fprintf(stderr, "gemu: %s: %s\n", function, cudaGetErrorName(result));
	if (result != 0)
		self.last = result;
	if (is_sticky(result))
		self.sticky = result;
	return result;
}

cudaError_t refused(const char *function)
{
	if (trace > 0)
		fprintf(stderr, "gemu: %s: cudaErrorNotSupported: gemu does not have this function\n", function);
	return self.last = notSupported;
}

void report_once(const char *message)
{
	static atomic_int reported;
	if (!atomic_exchange(&reported, 1))
		fprintf(stderr, "gemu: %s\n", message);
}

cudaError_t cudaPeekAtLastError(void) { return self.last; }

// A sticky error is returned again until the device is reset, even after further errors. The query waits for no work,
// and is allowed during a capture.
cudaError_t cudaGetLastError(void)
{
	unsigned flags;
	cudaError_t e = self.last;
	if (self.sticky != 0 && cuStreamGetFlags(0, &flags) != self.sticky)
		self.sticky = 0;
	self.last = self.sticky;
	return e;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int started; // result of cuInit
static atomic_int exiting;

static void at_exit(void) { exiting = 1; }

static void initialize_driver(void)
{
	started = cuInit(0);
	atexit(at_exit); // handlers run in reverse order: this one before the driver's
}

int start(void)
{
	if (exiting)
		return unloading;
	pthread_once(&once, initialize_driver);
	return started;
}

int ending(void) { return exiting; }

enum { max_devices = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards the data below
static CUcontext primaries[max_devices]; // the primary contexts by device; 0 before their first use
static int default_device = 0; // device of threads that have selected none

static int check_device(int device)
{
	int n, r = start();
	if (r == 0)
		r = cuDeviceGetCount(&n);
	if (r != 0)
		return r;
	return device >= 0 && device < n && device < max_devices ? 0 : invalidDevice;
}

int primary_context(int device, CUcontext *context)
{
	int r = check_device(device);
	if (r != 0)
		return r;
	pthread_mutex_lock(&mutex);
	if (primaries[device] == 0)
		r = cuDevicePrimaryCtxRetain(&primaries[device], device);
	*context = primaries[device];
	pthread_mutex_unlock(&mutex);
	return r;
}

static int selected_device(void) { return self.has_selected ? self.selected : default_device; }

// bind_device makes the primary context of a device current.
static int bind_device(int device)
{
	CUcontext c;
	int r = primary_context(device, &c);
	if (r == 0 && (r = cuCtxSetCurrent(c)) == 0)
		self.bound = c;
	return r;
}

int enter(void)
{
	CUcontext c;
	int r = start();
	if (r == 0)
		r = cuCtxGetCurrent(&c);
	if (r != 0 || (c != 0 && c != self.bound))
		return r;
	int device = selected_device();
	if (c != 0) { // made by the library: it may have been reset meanwhile
		pthread_mutex_lock(&mutex);
		int same = primaries[device] == c;
		pthread_mutex_unlock(&mutex);
		if (same)
			return 0;
	}
	return bind_device(device);
}

int current_device(int *device)
{
	CUcontext c;
	int r = start();
	if (r == 0)
		r = cuCtxGetCurrent(&c);
	if (r != 0)
		return r;
	if (c != 0 && c != self.bound)
		return cuCtxGetDevice(device);
	*device = selected_device();
	return 0;
}

cudaError_t cudaGetDevice(int *device)
{
	if (device == NULL)
		return RESULT(invalidValue);
	return RESULT(current_device(device));
}

cudaError_t cudaSetDevice(int device)
{
	int r = check_device(device);
	if (r == 0)
		r = bind_device(device);
	if (r == 0) {
		self.has_selected = 1;
		self.selected = device;
	}
	return RESULT(r);
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
	int count, r = start();
	if (r == 0)
		r = cuDeviceGetCount(&count);
	if (r != 0)
		return RESULT(r);
	if (n < 0 || n > count || (n > 0 && devices == NULL))
		return RESULT(invalidValue);
	for (int i = 0; i < n; i++)
		if ((r = check_device(devices[i])) != 0)
			return RESULT(r);
	pthread_mutex_lock(&mutex);
	default_device = n > 0 ? devices[0] : 0;
	pthread_mutex_unlock(&mutex);
	return RESULT(0);
}

cudaError_t cudaGetDeviceCount(int *n)
{
	if (n == NULL)
		return RESULT(invalidValue);
	int r = start();
	if (r == 0)
		r = cuDeviceGetCount(n);
	return RESULT(r == 0 && *n == 0 ? noDevice : r);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	int device, active, r = current_device(&device);
	if (flags == NULL)
		return RESULT(invalidValue);
	return RESULT(r != 0 ? r : cuDevicePrimaryCtxGetState(device, flags, &active));
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	int device, r = current_device(&device);
	return RESULT(r != 0 ? r : cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

// init_flags says whether flags is valid.
cudaError_t cudaInitDevice(int device, unsigned flags, unsigned init_flags)
{
	enum { flags_are_valid = 1 };
	CUcontext c;
	int r = check_device(device);
	if (r == 0 && (init_flags & ~flags_are_valid) != 0)
		r = invalidValue;
	if (r == 0 && (init_flags & flags_are_valid) != 0)
		r = cuDevicePrimaryCtxSetFlags_v2(device, flags);
	return RESULT(r != 0 ? r : primary_context(device, &c));
}

cudaError_t cudaDeviceReset(void)
{
	int device, r = current_device(&device);
	if (r != 0)
		return RESULT(r);
	CUcontext current = 0, reset;
	cuCtxGetCurrent(&current);
	pthread_mutex_lock(&mutex);
	reset = primaries[device];
	if (reset != 0) {
		forget_managed(reset);
		r = cuDevicePrimaryCtxReset_v2(device);
		cuDevicePrimaryCtxRelease_v2(device);
		primaries[device] = 0;
	}
	pthread_mutex_unlock(&mutex);
	if (reset != 0 && current == reset && self.bound == reset) {
		cuCtxSetCurrent(0);
		self.bound = 0;
	}
	self.last = self.sticky = 0;
	return RESULT(r);
}

cudaError_t cudaDeviceSynchronize(void) { RETURN(cuCtxSynchronize()); }

#if MAJOR == 12
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
#endif

cudaError_t cudaDriverGetVersion(int *version)
{
	if (version == NULL)
		return RESULT(invalidValue);
	return RESULT(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (version == NULL)
		return RESULT(invalidValue);
	*version = VERSION;
	return RESULT(0);
}

cudaError_t cudaProfilerStart(void) { RETURN(cuProfilerStart()); }
cudaError_t cudaProfilerStop(void) { RETURN(cuProfilerStop()); }

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode) { return RESULT(cuThreadExchangeStreamCaptureMode(mode)); }
