// Loads the driver from a path without a file, as a program that brings NVIDIA's libraries with it, and runs a kernel in each of
// the ways that the arguments name: in this process ("here"), in a child of fork that ends by _exit ("fork"), in a child that a signal ends
// ("killed"), in one that ends by _exit in a signal handler while it waits for a kernel that runs for years ("alarm") or
// without waiting for it ("abandon"), and with an access outside the buffer ("bad"). A vfork whose child ends at once must leave this process alone ("vfork"). The
// kernel branches on uninitialised memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".file 1 \"twice.cu\"\n"
	".visible .entry twice(.param .u64 p)\n{\n\t.reg .u32 %r<3>; .reg .u64 %rd<3>; .reg .pred %p1;\n"
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd1, %rd1, %rd2;\n"
	"\t.loc 1 7 3\n\tld.global.u32 %r2, [%rd1];\n\tsetp.eq.u32 %p1, %r2, 0;\n\t@%p1 bra END;\n\tadd.u32 %r2, %r2, %r2;\n\tst.global.u32 [%rd1], %r2;\nEND:\tret;\n}\n"
	".visible .entry count()\n{\n\t.reg .u64 %rd; .reg .pred %p1;\n\tmov.u64 %rd, 0;\n"
	"AGAIN:\tadd.u64 %rd, %rd, 1;\n\tsetp.lt.u64 %p1, %rd, 0x7fffffffffffffff;\n\t@%p1 bra AGAIN;\n\tret;\n}\n";

static void check(const char *what, int result)
{
	if (result == 0)
		return;
	printf("%s: %d\n", what, result);
	fflush(stdout);
	exit(1);
}

static void *function(void *library, const char *name)
{
	void *f = dlsym(library, name);
	if (f == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return f;
}

static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

// launch runs a kernel, and waits for it if waits is not 0. With 0 threads it is a kernel that runs for years.
static void launch(unsigned threads, int waits)
{
	void *library = dlopen("/opt/no-such-directory/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	int (*init)(unsigned), (*get)(int *, int), (*create)(void **, unsigned, int), (*load)(void **, const void *), (*find)(void **, void *, const char *);
	int (*alloc)(unsigned long long *, size_t), (*wait_all)(void);
	int (*run)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
	*(void **)&init = function(library, "cuInit");
	*(void **)&get = function(library, "cuDeviceGet");
	*(void **)&create = function(library, "cuCtxCreate_v2");
	*(void **)&load = function(library, "cuModuleLoadData");
	*(void **)&find = function(library, "cuModuleGetFunction");
	*(void **)&alloc = function(library, "cuMemAlloc_v2");
	*(void **)&run = function(library, "cuLaunchKernel");
	*(void **)&wait_all = function(library, "cuCtxSynchronize");
	int device;
	void *context, *module, *kernel;
	unsigned long long buffer;
	check("cuInit", init(0));
	check("cuDeviceGet", get(&device, 0));
	check("cuCtxCreate", create(&context, 0, device));
	check("cuModuleLoadData", load(&module, ptx));
	check("cuModuleGetFunction", find(&kernel, module, threads == 0 ? "count" : "twice"));
	check("cuMemAlloc", alloc(&buffer, 256));
	check("cuLaunchKernel", run(kernel, 1, 1, 1, threads == 0 ? 1 : threads, 1, 1, 0, NULL, (void *[]){&buffer}, NULL));
	if (waits)
		wait_all();
}

// run_child runs a kernel in a child, and waits for it. Only "killed" ends by a signal.
static void run_child(const char *way)
{
	if (fork() == 0) {
		if (strcmp(way, "alarm") == 0) {
			signal(SIGALRM, leave);
			ualarm(300000, 0);
			launch(0, 1);
		}
		launch(strcmp(way, "abandon") == 0 ? 0 : 64, strcmp(way, "abandon") != 0);
		if (strcmp(way, "killed") == 0)
			raise(SIGKILL);
		_exit(0);
	}
	int status;
	wait(&status);
	if (WIFSIGNALED(status) ? strcmp(way, "killed") != 0 : WEXITSTATUS(status) != 0)
		printf("%s: status %#x\n", way, status);
}

int main(int argc, char **argv)
{
	char *ways[16];
	for (int i = 1; i < argc && i < 16; i++) { // before the driver is loaded, the arguments are removed, as GoogleTest removes its own
		ways[i] = argv[i];
		argv[i] = NULL;
	}
	argv = ways;
	for (int i = 1; i < argc && i < 16; i++) {
		if (strcmp(argv[i], "here") == 0)
			launch(64, 1);
		else if (strcmp(argv[i], "bad") == 0)
			launch(65, 1);
		else if (strcmp(argv[i], "vfork") == 0) {
			if (vfork() == 0)
				_exit(0);
		} else {
			run_child(argv[i]);
		}
	}
	printf("done\n");
	return 0;
}
