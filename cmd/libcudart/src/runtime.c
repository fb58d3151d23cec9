// The state of the library: data of threads, contexts, and the end of calls.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

static _Thread_local struct {
	cudaError_t last; // the last error
	cudaError_t kept; // the last sticky error, of a context
	int chosen;       // the selected device, if set
	int set;
	CUcontext bound; // the context that the library has made current; 0 if none
} self;

static int trace; // GEMU_TRACE when the library was loaded

__attribute__((constructor)) static void read_environment(void)
{
	const char *value = getenv("GEMU_TRACE");
	trace = value != NULL ? atoi(value) : 0; // cuInit reports invalid values
}

// lasting reports whether an error is sticky: an error of a context for as long as the context lives.
static int lasting(cudaError_t e)
{
	switch (e) {
	case 214: case 220: case 700: case 702: case 710: case 714: case 715: case 716: case 717: case 718: case 719: case 721:
		return 1;
	}
	return 0;
}

cudaError_t done(const char *function, int result)
{
	if (trace > 1 && result == 0)
		fprintf(stderr, "gemu: %s\n", function);
	if (trace > 0 && result != 0 && (trace > 1 || result != notReady))
		fprintf(stderr, "gemu: %s: %s\n", function, cudaGetErrorName(result));
	if (result != 0)
		self.last = result;
	if (lasting(result))
		self.kept = result;
	return result;
}

cudaError_t refused(const char *function)
{
	if (trace > 0)
		fprintf(stderr, "gemu: %s: cudaErrorNotSupported: gemu does not have this function\n", function);
	return self.last = notSupported;
}

void say(const char *what)
{
	static atomic_int said;
	if (!atomic_exchange(&said, 1))
		fprintf(stderr, "gemu: %s\n", what);
}

cudaError_t cudaPeekAtLastError(void) { return self.last; }

// A sticky error is returned again until the device is reset, even after further errors. The query waits for no work,
// and is allowed during a capture.
cudaError_t cudaGetLastError(void)
{
	unsigned flags;
	cudaError_t e = self.last;
	if (self.kept != 0 && cuStreamGetFlags(0, &flags) != self.kept)
		self.kept = 0;
	self.last = self.kept;
	return e;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int started; // result of cuInit
static atomic_int ended;

static void at_exit(void) { ended = 1; }

static void begin(void)
{
	started = cuInit(0);
	atexit(at_exit); // handlers run in reverse order: this one before the driver's
}

int start(void)
{
	if (ended)
		return unloading;
	pthread_once(&once, begin);
	return started;
}

int ending(void) { return ended; }

enum { most_devices = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards the data below
static CUcontext primaries[most_devices];
static int valid = 0; // device of threads that have selected none

static int check_device(int device)
{
	int n, r = start();
	if (r == 0)
		r = cuDeviceGetCount(&n);
	if (r != 0)
		return r;
	return device >= 0 && device < n && device < most_devices ? 0 : invalidDevice;
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

static int own_device(void) { return self.set ? self.chosen : valid; }

// bind makes the primary context of a device current.
static int bind(int device)
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
	int device = own_device();
	if (c != 0) { // made by the library: it may have been reset meanwhile
		pthread_mutex_lock(&mutex);
		int same = primaries[device] == c;
		pthread_mutex_unlock(&mutex);
		if (same)
			return 0;
	}
	return bind(device);
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
	*device = own_device();
	return 0;
}

cudaError_t cudaGetDevice(int *device)
{
	if (device == NULL)
		return DONE(invalidValue);
	return DONE(current_device(device));
}

cudaError_t cudaSetDevice(int device)
{
	int r = check_device(device);
	if (r == 0)
		r = bind(device);
	if (r == 0) {
		self.set = 1;
		self.chosen = device;
	}
	return DONE(r);
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
	int count, r = start();
	if (r == 0)
		r = cuDeviceGetCount(&count);
	if (r != 0)
		return DONE(r);
	if (n < 0 || n > count || (n > 0 && devices == NULL))
		return DONE(invalidValue);
	for (int i = 0; i < n; i++)
		if ((r = check_device(devices[i])) != 0)
			return DONE(r);
	pthread_mutex_lock(&mutex);
	valid = n > 0 ? devices[0] : 0;
	pthread_mutex_unlock(&mutex);
	return DONE(0);
}

cudaError_t cudaGetDeviceCount(int *n)
{
	if (n == NULL)
		return DONE(invalidValue);
	int r = start();
	if (r == 0)
		r = cuDeviceGetCount(n);
	return DONE(r == 0 && *n == 0 ? noDevice : r);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	int device, active, r = current_device(&device);
	if (flags == NULL)
		return DONE(invalidValue);
	return DONE(r != 0 ? r : cuDevicePrimaryCtxGetState(device, flags, &active));
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	int device, r = current_device(&device);
	return DONE(r != 0 ? r : cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

cudaError_t cudaInitDevice(int device, unsigned flags, unsigned given)
{
	enum { flags_are_valid = 1 };
	CUcontext c;
	int r = check_device(device);
	if (r == 0 && (given & ~flags_are_valid) != 0)
		r = invalidValue;
	if (r == 0 && (given & flags_are_valid) != 0)
		r = cuDevicePrimaryCtxSetFlags_v2(device, flags);
	return DONE(r != 0 ? r : primary_context(device, &c));
}

cudaError_t cudaDeviceReset(void)
{
	int device, r = current_device(&device);
	if (r != 0)
		return DONE(r);
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
	self.last = self.kept = 0;
	return DONE(r);
}

cudaError_t cudaDeviceSynchronize(void) { IN(cuCtxSynchronize()); }

#if MAJOR == 12
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
#endif

cudaError_t cudaDriverGetVersion(int *version)
{
	if (version == NULL)
		return DONE(invalidValue);
	return DONE(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (version == NULL)
		return DONE(invalidValue);
	*version = VERSION;
	return DONE(0);
}

cudaError_t cudaProfilerStart(void) { IN(cuProfilerStart()); }
cudaError_t cudaProfilerStop(void) { IN(cuProfilerStop()); }

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode) { return DONE(cuThreadExchangeStreamCaptureMode(mode)); }
