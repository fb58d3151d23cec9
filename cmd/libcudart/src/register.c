// The functions that compiler-generated code calls: registration of fat binaries and of their kernels and variables by
// host addresses, and launches by <<<…>>>.
//
// A fat binary is loaded at the first use of any of its contents, as a library of the driver (cuLibraryLoadData), which
// is then available in every context.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

// wrapper is the argument of __cudaRegisterFatBinary (fatbinary_section.h). In version 2, for -rdc=true, parts is a
// NULL-terminated list of the images of the objects, which must be linked.
struct wrapper {
	int magic, version;
	const void *image;
	void **parts;
};

// entry is a kernel or variable with a host address.
struct entry {
	const void *host;
	char *name; // name on the device
	struct binary *binary;
	CUkernel kernel; // 0 before its first use, and for variables
	int function;    // it is a kernel, not a variable
	void **managed;  // the host's pointer to a managed variable; NULL otherwise
	struct entry *next;
};

struct binary {
	const struct wrapper *wrapper;
	CUlibrary library; // 0 before it is loaded
	int unfit;         // error of loading it, if a new attempt would fail as well
	int managed;       // number of managed variables
	CUcontext in;      // the context in which the managed variables have addresses; 0 if none
};

enum { buckets = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards all data below
static struct entry *table[buckets];

static struct entry **bucket(const void *host)
{
	uintptr_t p = (uintptr_t)host;
	return &table[(p >> 4 ^ p >> 16) % buckets];
}

static struct entry *find(const void *host)
{
	struct entry *e = *bucket(host);
	while (e != NULL && e->host != host)
		e = e->next;
	return e;
}

static void add(void **handle, const void *host, const char *name, int function, void **managed)
{
	struct entry *e = calloc(1, sizeof *e);
	if (e == NULL || (e->name = strdup(name)) == NULL)
		abort(); // the program is still loading: no caller could handle the error
	*e = (struct entry){host, e->name, (struct binary *)handle, 0, function, managed, NULL};
	pthread_mutex_lock(&mutex);
	e->next = *bucket(host);
	*bucket(host) = e;
	e->binary->managed += managed != NULL;
	pthread_mutex_unlock(&mutex);
}

void **__cudaRegisterFatBinary(void *wrapper)
{
	struct binary *b = calloc(1, sizeof *b);
	if (b == NULL)
		abort();
	b->wrapper = wrapper;
	return (void **)b;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

// In a child of fork, a missing thread may hold the mutex, and may have left the table half changed.
static int forked;
static void in_child(void) { forked = 1; }
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

void __cudaUnregisterFatBinary(void **handle)
{
	struct binary *b = (struct binary *)handle;
	if (b == NULL || forked)
		return;
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < buckets; i++)
		for (struct entry **p = &table[i]; *p != NULL;) {
			struct entry *e = *p;
			if (e->binary != b) {
				p = &e->next;
				continue;
			}
			*p = e->next;
			free(e->name);
			free(e);
		}
	pthread_mutex_unlock(&mutex);
	if (b->library != 0 && !ending())
		cuLibraryUnload(b->library);
	free(b);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(handle, host, name, 1, NULL);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	add(handle, host, name, 0, NULL);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	add(handle, host, name, 0, host);
}

// runtime_archive is an archive with an empty member. It makes the linker add gemu's version of CUDA's device runtime,
// which nvcc links to every program built with -rdc=true.
static char runtime_archive[] =
	"!<arch>\n"
	"//                                              24        `\n"
	"cuda_device_runtime.o/\n\n"
	"/0                                              0         `\n";

// link_parts loads the result of linking the objects of a program.
static int link_parts(struct binary *b)
{
	enum { fatbin = 2, library = 4 };
	CUlinkState link;
	void *image = NULL;
	size_t size = 0;
	int r = cuLinkCreate_v2(0, NULL, NULL, &link);
	if (r != 0)
		return r;
	for (void **p = b->wrapper->parts; r == 0 && *p != NULL; p++)
		r = cuLinkAddData_v2(link, fatbin, *p, 0, "object", 0, NULL, NULL);
	if (r == 0)
		r = cuLinkAddData_v2(link, library, runtime_archive, sizeof runtime_archive - 1, "libcudadevrt.a", 0, NULL, NULL);
	if (r == 0)
		r = cuLinkComplete(link, &image, &size);
	if (r == 0)
		r = cuLibraryLoadData(&b->library, image, NULL, NULL, 0, NULL, NULL, 0);
	cuLinkDestroy(link);
	return r;
}

// of_image reports whether a result of loading is caused by the image. Otherwise it is caused by the context or is
// temporary, and a new attempt may succeed.
static int of_image(int result)
{
	enum { invalidImage = 200, invalidPTX = 218, unsupportedPTX = 222 };
	return result == noKernelImage || result == invalidImage || result == invalidPTX || result == unsupportedPTX || result == notSupported;
}

// load loads a binary unless it is loaded, and gives its managed variables their addresses in the current context. Each
// context has its own addresses, so a program can use managed variables in one context only. The caller must hold the
// mutex.
static int load(struct binary *b)
{
	enum { linked = 2 };
	CUcontext current = 0;
	int r = b->unfit;
	if (r == 0 && b->library == 0) {
		if (b->wrapper->version >= linked && b->wrapper->parts != NULL)
			r = link_parts(b);
		else
			r = cuLibraryLoadData(&b->library, (void *)b->wrapper->image, NULL, NULL, 0, NULL, NULL, 0);
		if (of_image(r))
			b->unfit = r;
	}
	if (r != 0 || b->managed == 0)
		return r;
	cuCtxGetCurrent(&current);
	if (b->in != 0) {
		if (current == b->in)
			return 0;
		say("managed variables on several devices are not supported");
		return notSupported;
	}
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next) {
			CUdeviceptr at;
			if (e->binary != b || e->managed == NULL)
				continue;
			r = cuLibraryGetGlobal(&at, NULL, b->library, e->name);
			if (r != 0)
				return r;
			*e->managed = pointer(at);
		}
	b->in = current;
	return 0;
}

void forget_managed(CUcontext context)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next)
			if (e->managed != NULL && e->binary->in == context)
				*e->managed = NULL;
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next)
			if (e->binary->in == context)
				e->binary->in = 0;
	pthread_mutex_unlock(&mutex);
}

char __cudaInitModule(void **handle)
{
	int r = enter();
	if (r == 0) {
		pthread_mutex_lock(&mutex);
		r = load((struct binary *)handle);
		pthread_mutex_unlock(&mutex);
	}
	DONE(r);
	return r == 0;
}

// kernel returns the kernel of an entry. The caller must hold the mutex.
static int kernel(struct entry *e, CUkernel *k)
{
	int r = load(e->binary);
	if (r == 0 && e->kernel == 0 && (r = cuLibraryGetKernel(&e->kernel, e->binary->library, e->name)) == symbolNotFound)
		r = invalidFunction;
	*k = e->kernel;
	return r;
}

int kernel_of(const void *function, CUkernel *k)
{
	CUfunction f;
	if (function == NULL)
		return invalidFunction;
	pthread_mutex_lock(&mutex);
	struct entry *e = find(function);
	int r = e == NULL || !e->function ? invalidFunction : kernel(e, k);
	pthread_mutex_unlock(&mutex);
	if (e == NULL && (uintptr_t)function < 1 << 30 && cuKernelGetFunction(&f, (uintptr_t)function) == 0) {
		*k = (uintptr_t)function; // the API accepts handles, too
		r = 0;
	}
	return r;
}

int refuse_launch(const void *function, int result)
{
	char name[512] = "a kernel";
	pthread_mutex_lock(&mutex);
	struct entry *e = find(function);
	if (e != NULL)
		snprintf(name, sizeof name, "%s", e->name);
	pthread_mutex_unlock(&mutex);
	gemu_launch_refused(name, (char *)cudaGetErrorName(result));
	return result;
}

const void *function_of(CUkernel k)
{
	const void *host = pointer(k);
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next)
			if (e->function && e->kernel == k)
				host = e->host;
	pthread_mutex_unlock(&mutex);
	return host;
}

// variable returns the entry of a variable. The host refers to a managed variable by its address.
static struct entry *variable(const void *symbol)
{
	struct entry *e = find(symbol);
	for (size_t i = 0; e == NULL && symbol != NULL && i < buckets; i++)
		for (e = table[i]; e != NULL && (e->managed == NULL || *e->managed != symbol);)
			e = e->next;
	return e != NULL && !e->function ? e : NULL;
}

int symbol_at(const void *symbol, CUdeviceptr *at, size_t *size)
{
	pthread_mutex_lock(&mutex);
	struct entry *e = variable(symbol);
	int r = e == NULL ? invalidSymbol : load(e->binary);
	if (r == 0 && (r = cuLibraryGetGlobal(at, size, e->binary->library, e->name)) == symbolNotFound)
		r = invalidSymbol;
	pthread_mutex_unlock(&mutex);
	return r;
}

int part_of(const void *symbol, size_t offset, size_t n, CUdeviceptr *at)
{
	size_t size;
	int r = symbol_at(symbol, at, &size);
	if (r == 0 && (offset > size || n > size - offset))
		r = invalidValue;
	*at += r == 0 ? offset : 0;
	return r;
}

cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
	CUdeviceptr at;
	if (p == NULL)
		return DONE(invalidValue);
	ENTER();
	int r = symbol_at(symbol, &at, NULL);
	if (r == 0)
		*p = pointer(at);
	return DONE(r);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	CUdeviceptr at;
	if (size == NULL)
		return DONE(invalidValue);
	ENTER();
	return DONE(symbol_at(symbol, &at, size));
}

// Launches by <<<…>>>: the configuration is pushed before the arguments are evaluated, and popped by the host function
// of the kernel.

struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

static _Thread_local struct {
	struct configuration stack[64];
	size_t depth;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
	if (pushed.depth == sizeof pushed.stack / sizeof *pushed.stack)
		return DONE(missingConfiguration);
	pushed.stack[pushed.depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	if (pushed.depth == 0)
		return DONE(missingConfiguration);
	struct configuration c = pushed.stack[--pushed.depth];
	*grid = c.grid;
	*block = c.block;
	*shared = c.shared;
	*(cudaStream_t *)stream = c.stream;
	return 0;
}

// __cudaGetKernel is called once for a kernel, before its first launch. The result is only for __cudaLaunchKernel. It
// is the host function itself, so that errors are reported at the launches.
cudaError_t __cudaGetKernel(cudaKernel_t *k, const void *function)
{
	*k = (uintptr_t)function;
	return 0;
}

cudaError_t cudaGetKernel(cudaKernel_t *k, const void *function)
{
	if (k == NULL)
		return DONE(invalidValue);
	IN(kernel_of(function, k));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *f, const void *symbol)
{
	CUkernel k;
	if (f == NULL)
		return DONE(invalidValue);
	ENTER();
	int r = kernel_of(symbol, &k);
	return DONE(r != 0 ? r : cuKernelGetFunction(f, k));
}
