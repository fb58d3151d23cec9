// The linker of device code as a separate library (CUDA's nvJitLink), on top of the driver's linker: its result is the
// result of cuLinkComplete. Its log has the driver's messages about each call that failed. LTO-IR is NVIDIA's own format:
// NVIDIA's linker, if GEMU_NVJITLINK names it, turns LTO-IR into PTX first.

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda.so.h" // the driver's functions: go build writes it next to the library

// Results and kinds of input have the numbers of nvJitLink.h.
typedef enum {
	success = 0,
	unrecognized_option = 1,
	missing_arch = 2,
	invalid_input = 3,
	ptx_compile = 4,
	internal = 6,
} result;

typedef enum {
	input_none = 0,
	input_cubin = 1,
	input_ptx = 2,
	input_ltoir = 3,
	input_fatbin = 4,
	input_object = 5,
	input_library = 6,
	input_index = 7,
	input_any = 10,
} input;

// nvJitLink is a linker. The driver's linker has a log for each call. If the call fails, its log is appended to log.
struct nvJitLink {
	bool is_open; // context and link exist
	CUdevice device;
	CUcontext context;
	CUlinkState link;
	int link_options[2];     // options of link
	void *link_values[2];    // values of the options; the driver changes them as long as link exists
	char messages[64 << 10]; // log of the driver's last call
	char *log;               // NULL: empty
	void *image;             // result of link; NULL: none yet
	size_t size;             // size of image
	char **options;          // options of nvJitLinkCreate
	uint32_t option_count;
	bool to_ptx;     // the result must be the PTX of the LTO-IR
	void *optimizer; // NVIDIA's linker with the LTO-IR inputs; NULL: none
	char *ptx;       // result of the optimizer; NULL: none yet
	size_t ptx_size;
};

typedef struct nvJitLink *handle;

// append_log appends a line to the log and returns r.
__attribute__((format(printf, 3, 4))) static result append_log(handle h, result r, const char *format, ...)
{
	char *line, *log;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&line, format, args);
	va_end(args);
	if (n < 0)
		return r;
	if (asprintf(&log, "%s%s\n", h->log == NULL ? "" : h->log, line) >= 0) {
		free(h->log);
		h->log = log;
	}
	free(line);
	return r;
}

// record_driver_result converts a result of the driver. If it is an error, the driver's messages about input what and the
// name of the error are appended to the log.
static result record_driver_result(handle h, const char *what, int r)
{
	enum { invalid_ptx = 218 };
	const char *name = NULL;
	if (r == 0)
		return success;
	if (h->messages[0] != 0)
		append_log(h, internal, "%s", h->messages);
	if (cuGetErrorName(r, &name) != 0)
		name = "unknown error";
	append_log(h, internal, "ERROR: %s: %s", what, name);
	return r == invalid_ptx ? ptx_compile : invalid_input;
}

// NVIDIA's linker. GEMU_NVJITLINK names its library, which must have the same major version as this library.
static struct {
	const char *missing; // reason why it cannot be used; NULL: it can
	result (*create)(void **, uint32_t, const char **), (*destroy)(void **), (*complete)(void *);
	result (*add)(void *, input, const void *, size_t, const char *);
	result (*log_size)(void *, size_t *), (*log)(void *, char *), (*ptx_size)(void *, size_t *), (*ptx)(void *, char *);
} nvidia;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NVIDIA(member, name) {(void **)&nvidia.member, "__nvJitLink" name "_" TEXT(MAJOR) "_0"}

static void open_nvidia(void)
{
	const struct {
		void **function;
		const char *name;
	} functions[] = {
		NVIDIA(create, "Create"), NVIDIA(destroy, "Destroy"), NVIDIA(complete, "Complete"), NVIDIA(add, "AddData"),
		NVIDIA(log_size, "GetErrorLogSize"), NVIDIA(log, "GetErrorLog"), NVIDIA(ptx_size, "GetLinkedPtxSize"), NVIDIA(ptx, "GetLinkedPtx"),
	};
	const char *file = getenv("GEMU_NVJITLINK");
	if (file == NULL || *file == 0) {
		nvidia.missing = "gemu does not compile it: set GEMU_NVJITLINK to the file of NVIDIA's libnvJitLink";
		return;
	}
	// The program may have opened this library by the path of NVIDIA's (libredirect.so). The loader would return this library for
	// that path again, so it gets the path with another spelling.
	const char *slash = strrchr(file, '/');
	const int length = slash == NULL ? 0 : (int)(slash + 1 - file);
	char *respelled = malloc(strlen(file) + 3);
	if (respelled == NULL)
		abort();
	sprintf(respelled, "%.*s%s%s", length, file, length > 0 ? "./" : "", file + length);
	// The library calls its own functions by names that this library has, too. RTLD_DEEPBIND makes it find its own.
	void *library = dlopen(respelled, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	free(respelled);
	if (library == NULL)
		nvidia.missing = strdup(dlerror());
	for (size_t i = 0; nvidia.missing == NULL && i < sizeof functions / sizeof *functions; i++)
		if ((*functions[i].function = dlsym(library, functions[i].name)) == NULL)
			nvidia.missing = strdup(dlerror());
}

// record_optimizer_result returns r, the result of a call of NVIDIA's linker. If it is an error, the log of NVIDIA's
// linker is appended to the log.
static result record_optimizer_result(handle h, const char *what, result r)
{
	size_t n;
	if (r == success)
		return success;
	if (h->optimizer != NULL && nvidia.log_size(h->optimizer, &n) == success && n > 1) {
		char *log = calloc(n + 1, 1);
		if (log != NULL && nvidia.log(h->optimizer, log) == success)
			append_log(h, r, "%s", log);
		free(log);
	}
	return append_log(h, r, "ERROR: %s: NVIDIA's linker rejects it", what);
}

// has_option reports whether the client has set an option.
static bool has_option(handle h, const char *option)
{
	for (uint32_t i = 0; i < h->option_count; i++)
		if (strcmp(h->options[i], option) == 0)
			return true;
	return false;
}

// open_optimizer makes a linker of NVIDIA for a link to PTX, with the client's options.
static result open_optimizer(handle h)
{
	const char *options[h->option_count + 2];
	uint32_t n = 0;
	while (n < h->option_count) {
		options[n] = h->options[n];
		n++;
	}
	if (!has_option(h, "-lto"))
		options[n++] = "-lto";
	if (!has_option(h, "-ptx"))
		options[n++] = "-ptx";
	return nvidia.create(&h->optimizer, n, options);
}

// add_ltoir adds an input in LTO-IR to NVIDIA's linker.
static result add_ltoir(handle h, const void *data, size_t size, const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_nvidia);
	if (nvidia.missing != NULL)
		return append_log(h, invalid_input, "ERROR: %s is LTO-IR, and %s", name, nvidia.missing);
	result r = success;
	if (h->optimizer == NULL)
		r = record_optimizer_result(h, name, open_optimizer(h));
	return r != success ? r : record_optimizer_result(h, name, nvidia.add(h->optimizer, input_ltoir, data, size, name));
}

// optimize turns the LTO-IR into PTX.
static result optimize(handle h)
{
	const char *what = "the LTO-IR";
	result r = record_optimizer_result(h, what, nvidia.complete(h->optimizer));
	if (r == success)
		r = record_optimizer_result(h, what, nvidia.ptx_size(h->optimizer, &h->ptx_size));
	if (r == success && (h->ptx = calloc(h->ptx_size + 1, 1)) == NULL)
		r = internal;
	return r != success ? r : record_optimizer_result(h, what, nvidia.ptx(h->optimizer, h->ptx));
}

// ignored_options lists the options without effect here: they concern machine code, speed or the optimizer. An option
// that ends in "=" has a value.
static const char *const ignored_options[] = {
	"-maxrregcount=", "-time", "-verbose", "-lto", "-O0", "-O3", "-g", "-lineinfo", "-ftz=", "-prec-div=", "-prec-sqrt=", "-fma=",
	"-kernels-used=", "-variables-used=", "-optimize-unused-variables", "-Xptxas=", "-Xnvvm=", "-split-compile=", "-split-compile-extended=",
	"-jump-table-density=", "-no-cache", "-device-stack-protector", NULL,
};

static bool is_ignored(const char *option)
{
	for (const char *const *o = ignored_options; *o != NULL; o++) {
		size_t n = strlen(*o);
		if ((*o)[n - 1] == '=' ? strncmp(option, *o, n) == 0 : strcmp(option, *o) == 0)
			return true;
	}
	return false;
}

// read_options checks the options. An architecture is required.
static result read_options(handle h, uint32_t n, const char **options)
{
	bool arch = false;
	unsigned sm;
	for (uint32_t i = 0; i < n; i++) {
		const char *o = options[i];
		if (strncmp(o, "-arch=compute_", 14) == 0)
			return append_log(h, invalid_input, "ERROR: %s: gemu's linker makes a container for its driver, not PTX", o);
		if (strcmp(o, "-ptx") == 0)
			h->to_ptx = true;
		else if (sscanf(o, "-arch=sm_%u", &sm) == 1)
			arch = true;
		else if (!is_ignored(o))
			return append_log(h, unrecognized_option, "unrecognized option: %s", o);
	}
	return arch ? success : missing_arch;
}

// copy_options copies the options for NVIDIA's linker.
static result copy_options(handle h, uint32_t n, const char **options)
{
	if ((h->options = calloc(n + 1, sizeof *h->options)) == NULL)
		return internal;
	for (; h->option_count < n; h->option_count++)
		if ((h->options[h->option_count] = strdup(options[h->option_count])) == NULL)
			return internal;
	return success;
}

// open_link makes a linker of the driver in the primary context of the first device, and returns a result of the driver.
static int open_link(handle h)
{
	enum { error_log = 5, error_size = 6 };
	CUcontext previous;
	int r;
	if ((r = cuInit(0)) != 0 || (r = cuDeviceGet(&h->device, 0)) != 0 || (r = cuDevicePrimaryCtxRetain(&h->context, h->device)) != 0)
		return r;
	if ((r = cuCtxPushCurrent_v2(h->context)) == 0) {
		h->link_options[0] = error_log, h->link_values[0] = h->messages;
		h->link_options[1] = error_size, h->link_values[1] = (void *)sizeof h->messages;
		r = cuLinkCreate_v2(2, h->link_options, h->link_values, &h->link);
		cuCtxPopCurrent_v2(&previous);
	}
	if (r != 0)
		cuDevicePrimaryCtxRelease_v2(h->device);
	h->is_open = r == 0;
	return r;
}

// A linker with wrong options has a handle, too, because the handle has the log.
result nvJitLinkCreate(handle *out, uint32_t n, const char **options)
{
	enum { most_options = 1 << 16 }; // more than a command line has
	if (out == NULL || (n > 0 && options == NULL) || n > most_options)
		return invalid_input;
	handle h = calloc(1, sizeof *h);
	if ((*out = h) == NULL)
		return internal;
	result r = read_options(h, n, options);
	if (r == success)
		r = copy_options(h, n, options);
	if (r == success && record_driver_result(h, "the driver", open_link(h)) != success)
		r = internal;
	return r;
}

result nvJitLinkDestroy(handle *h)
{
	if (h == NULL || *h == NULL)
		return invalid_input;
	if ((*h)->is_open) {
		cuLinkDestroy((*h)->link);
		cuDevicePrimaryCtxRelease_v2((*h)->device);
	}
	if ((*h)->optimizer != NULL)
		nvidia.destroy(&(*h)->optimizer);
	for (uint32_t i = 0; i < (*h)->option_count; i++)
		free((*h)->options[i]);
	free((*h)->options);
	free((*h)->ptx);
	free((*h)->log);
	free(*h);
	*h = NULL;
	return success;
}

// is_archive reports whether data is an archive. The driver does not detect this kind.
static bool is_archive(const void *data, size_t n) { return n >= 8 && memcmp(data, "!<arch>\n", 8) == 0; }

// is_ltoir reports whether data is LTO-IR.
static bool is_ltoir(const void *data, size_t n) { return n >= 4 && memcmp(data, "\xed\x43\x4e\x7f", 4) == 0; }

enum { ptx_input = 1 }; // the driver's number for PTX

// driver_input_kind returns the driver's number for a kind of input, or -1 for an unsupported kind.
static int driver_input_kind(handle h, input kind, const char *name)
{
	enum { cubin = 0, fatbin = 2, object = 3, library = 4 };
	switch (kind) {
	case input_cubin:
		return cubin;
	case input_ptx:
	case input_any: // the driver detects the kind
		return ptx_input;
	case input_fatbin:
		return fatbin;
	case input_object:
		return object;
	case input_library:
		return library;
	default:
		append_log(h, invalid_input, "unsupported input type: %s", name);
		return -1;
	}
}

// ready reports whether inputs can be added.
static bool ready(handle h) { return h != NULL && h->is_open && h->image == NULL && h->ptx == NULL; }

result nvJitLinkAddData(handle h, input kind, const void *data, size_t size, const char *name)
{
	if (!ready(h) || data == NULL)
		return invalid_input;
	if (name == NULL)
		name = "input";
	if (kind == input_any && is_archive(data, size))
		kind = input_library;
	if (kind == input_any && is_ltoir(data, size))
		kind = input_ltoir;
	if (kind == input_ltoir)
		return add_ltoir(h, data, size, name);
	if (h->to_ptx)
		return append_log(h, invalid_input, "ERROR: %s is not LTO-IR: -ptx accepts only LTO-IR", name);
	int driver_kind = driver_input_kind(h, kind, name);
	if (driver_kind < 0)
		return invalid_input;
	return record_driver_result(h, name, cuLinkAddData_v2(h->link, driver_kind, (void *)data, size, (char *)name, 0, NULL, NULL));
}

result nvJitLinkAddFile(handle h, input kind, const char *file)
{
	if (!ready(h) || file == NULL)
		return invalid_input;
	FILE *f = fopen(file, "rb");
	if (f == NULL)
		return append_log(h, invalid_input, "ERROR: %s cannot be read", file);
	char *data = NULL;
	size_t size = 0, n = 1;
	while (n > 0) {
		char *more = realloc(data, size + (64 << 10));
		if (more == NULL)
			break;
		data = more;
		size += n = fread(data + size, 1, 64 << 10, f);
	}
	bool bad = n > 0 || ferror(f);
	fclose(f);
	result r = bad ? append_log(h, invalid_input, "ERROR: %s cannot be read", file) : nvJitLinkAddData(h, kind, data, size, file);
	free(data);
	return r;
}

result nvJitLinkComplete(handle h)
{
	if (h == NULL || !h->is_open)
		return invalid_input;
	if (h->optimizer != NULL && h->ptx == NULL) {
		result r = optimize(h);
		if (r == success && !h->to_ptx)
			r = record_driver_result(h, "the LTO-IR", cuLinkAddData_v2(h->link, ptx_input, h->ptx, h->ptx_size, "lto.ptx", 0, NULL, NULL));
		if (r != success)
			return r;
	}
	if (h->to_ptx)
		return h->ptx != NULL ? success : append_log(h, invalid_input, "ERROR: nothing to link: no PTX was added");
	return record_driver_result(h, "linking", cuLinkComplete(h->link, &h->image, &h->size));
}

result nvJitLinkGetLinkedCubinSize(handle h, size_t *size)
{
	if (h == NULL || size == NULL || h->image == NULL)
		return invalid_input;
	*size = h->size;
	return success;
}

result nvJitLinkGetLinkedCubin(handle h, void *cubin)
{
	if (h == NULL || cubin == NULL || h->image == NULL)
		return invalid_input;
	memcpy(cubin, h->image, h->size);
	return success;
}

// report_missing_output returns the result of a query for an output that does not exist.
static result report_missing_output(handle h, const char *what)
{
	return h == NULL ? invalid_input : append_log(h, invalid_input, "ERROR: there is no linked %s: gemu's linker makes a container for its driver", what);
}

result nvJitLinkGetLinkedPtxSize(handle h, size_t *size)
{
	if (h == NULL || !h->to_ptx || h->ptx == NULL || size == NULL)
		return report_missing_output(h, "PTX");
	*size = h->ptx_size;
	return success;
}

result nvJitLinkGetLinkedPtx(handle h, char *ptx)
{
	if (h == NULL || !h->to_ptx || h->ptx == NULL || ptx == NULL)
		return report_missing_output(h, "PTX");
	memcpy(ptx, h->ptx, h->ptx_size);
	return success;
}

#if MAJOR >= 13
result nvJitLinkGetLinkedLTOIRSize(handle h, size_t *size)
{
	(void)size;
	return report_missing_output(h, "LTO-IR");
}

result nvJitLinkGetLinkedLTOIR(handle h, void *ltoir)
{
	(void)ltoir;
	return report_missing_output(h, "LTO-IR");
}
#endif

// nvJitLinkGetErrorLogSize returns the size of the log with the terminating zero. An empty log has size 0.
result nvJitLinkGetErrorLogSize(handle h, size_t *size)
{
	if (h == NULL || size == NULL)
		return invalid_input;
	*size = h->log == NULL ? 0 : strlen(h->log) + 1;
	return success;
}

result nvJitLinkGetErrorLog(handle h, char *log)
{
	if (h == NULL || log == NULL)
		return invalid_input;
	strcpy(log, h->log == NULL ? "" : h->log);
	return success;
}

// There are no messages about successful links.
result nvJitLinkGetInfoLogSize(handle h, size_t *size)
{
	if (h == NULL || size == NULL)
		return invalid_input;
	*size = 0;
	return success;
}

result nvJitLinkGetInfoLog(handle h, char *log)
{
	if (h == NULL || log == NULL)
		return invalid_input;
	*log = 0;
	return success;
}

result nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	if (major == NULL || minor == NULL)
		return invalid_input;
	*major = MAJOR;
	*minor = MINOR;
	return success;
}

// versions.h, which build.sh writes, declares an alias for each function and version: NVIDIA's header adds the version to
// the name of each function.
#include "versions.h"
