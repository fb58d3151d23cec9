// The functions that compiler-generated code calls. They register fat binaries, and the host addresses of their kernels
// and variables, and they implement launches by <<<…>>>.
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
	int load_error;    // error of loading it, if a new attempt would fail as well; 0 otherwise
	int managed;       // number of managed variables
	CUcontext managed_context; // the context in which the managed variables have addresses; 0 if none
};

enum { buckets = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards all data below
static struct entry *table[buckets];

// bucket returns the head of the list of entries for a host address.
static struct entry **bucket(const void *host)
{
	uintptr_t p = (uintptr_t)host;
	return &table[(p >> 4 ^ p >> 16) % buckets];
}

static struct entry *find_entry(const void *host)
{
	struct entry *e = *bucket(host);
	while (e != NULL && e->host != host)
		e = e->next;
	return e;
}

static void add_entry(void **handle, const void *host, const char *name, int function, void **managed)
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

// forked is set in a child of fork. There the mutex may be locked for ever, and the table half changed, by a thread that
// only the parent has.
static int forked;
static void mark_child(void) { forked = 1; }
__attribute__((constructor)) static void register_fork_handler(void) { pthread_atfork(NULL, NULL, mark_child); }

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
	add_entry(handle, host, name, 1, NULL);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	add_entry(handle, host, name, 0, NULL);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	add_entry(handle, host, name, 0, host);
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

// caused_by_image reports whether an error of loading is caused by the image. Other errors are caused by the context or
// are temporary, and a new attempt may succeed.
static int caused_by_image(int result)
{
	enum { invalidImage = 200, invalidPTX = 218, unsupportedPTX = 222 };
	return result == noKernelImage || result == invalidImage || result == invalidPTX || result == unsupportedPTX || result == notSupported;
}

// load_binary loads a binary unless it is loaded, and sets the host's pointers to its managed variables to their
// addresses in the current context. The addresses differ between contexts, and the host has one pointer for each
// variable, so a program can use the managed variables of a binary in one context only. The caller must hold the mutex.
static int load_binary(struct binary *b)
{
	enum { linked = 2 };
	CUcontext current = 0;
	int r = b->load_error;
	if (r == 0 && b->library == 0) {
		if (b->wrapper->version >= linked && b->wrapper->parts != NULL)
			r = link_parts(b);
		else
			r = cuLibraryLoadData(&b->library, (void *)b->wrapper->image, NULL, NULL, 0, NULL, NULL, 0);
		if (caused_by_image(r))
			b->load_error = r;
	}
	if (r != 0 || b->managed == 0)
		return r;
	cuCtxGetCurrent(&current);
	if (b->managed_context != 0) {
		if (current == b->managed_context)
			return 0;
		report_once("managed variables on several devices are not supported");
		return notSupported;
	}
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next) {
			CUdeviceptr addr;
			if (e->binary != b || e->managed == NULL)
				continue;
			r = cuLibraryGetGlobal(&addr, NULL, b->library, e->name);
			if (r != 0)
				return r;
			*e->managed = pointer(addr);
		}
	b->managed_context = current;
	return 0;
}

void forget_managed(CUcontext context)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next)
			if (e->managed != NULL && e->binary->managed_context == context)
				*e->managed = NULL;
	for (size_t i = 0; i < buckets; i++)
		for (struct entry *e = table[i]; e != NULL; e = e->next)
			if (e->binary->managed_context == context)
				e->binary->managed_context = 0;
	pthread_mutex_unlock(&mutex);
}

char __cudaInitModule(void **handle)
{
	int r = enter();
	if (r == 0) {
		pthread_mutex_lock(&mutex);
		r = load_binary((struct binary *)handle);
		pthread_mutex_unlock(&mutex);
	}
	RESULT(r);
	return r == 0;
}

// load_kernel returns the kernel of an entry, and loads its binary if necessary. The caller must hold the mutex.
static int load_kernel(struct entry *e, CUkernel *k)
{
	int r = load_binary(e->binary);
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
	struct entry *e = find_entry(function);
	int r = e == NULL || !e->function ? invalidFunction : load_kernel(e, k);
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
	struct entry *e = find_entry(function);
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

// find_variable returns the entry of a variable, or NULL. A program names a variable by the registered host address, and
// a managed variable also by its device address.
static struct entry *find_variable(const void *symbol)
{
	struct entry *e = find_entry(symbol);
	for (size_t i = 0; e == NULL && symbol != NULL && i < buckets; i++)
		for (e = table[i]; e != NULL && (e->managed == NULL || *e->managed != symbol);)
			e = e->next;
	return e != NULL && !e->function ? e : NULL;
}

int symbol_at(const void *symbol, CUdeviceptr *addr, size_t *size)
{
	pthread_mutex_lock(&mutex);
	struct entry *e = find_variable(symbol);
	int r = e == NULL ? invalidSymbol : load_binary(e->binary);
	if (r == 0 && (r = cuLibraryGetGlobal(addr, size, e->binary->library, e->name)) == symbolNotFound)
		r = invalidSymbol;
	pthread_mutex_unlock(&mutex);
	return r;
}

int symbol_range(const void *symbol, size_t offset, size_t n, CUdeviceptr *addr)
{
	size_t size;
	int r = symbol_at(symbol, addr, &size);
	if (r == 0 && (offset > size || n > size - offset))
		r = invalidValue;
	*addr += r == 0 ? offset : 0;
	return r;
}

cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
	CUdeviceptr addr;
	if (p == NULL)
		return RESULT(invalidValue);
	ENTER();
	int r = symbol_at(symbol, &addr, NULL);
	if (r == 0)
		*p = pointer(addr);
	return RESULT(r);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	CUdeviceptr addr;
	if (size == NULL)
		return RESULT(invalidValue);
	ENTER();
	return RESULT(symbol_at(symbol, &addr, size));
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
		return RESULT(missingConfiguration);
	pushed.stack[pushed.depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	if (pushed.depth == 0)
		return RESULT(missingConfiguration);
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
		return RESULT(invalidValue);
	RETURN(kernel_of(function, k));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *f, const void *symbol)
{
	CUkernel k;
	if (f == NULL)
		return RESULT(invalidValue);
	ENTER();
	int r = kernel_of(symbol, &k);
	return RESULT(r != 0 ? r : cuKernelGetFunction(f, k));
}
