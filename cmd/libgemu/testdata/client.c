// A client of libgemu with many threads and invalid calls. It prints "ok" and ends with status 0.

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gemu.h"

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry add(.param .u64 x, .param .u32 n)\n"
	"{\n"
	"  .reg .u32 %r<6>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];\n"
	"  mov.u32 %r3, %tid.x;\n"
	"  mul.wide.u32 %rd1, %r3, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  ld.global.u32 %r4, [%rd0];\n"
	"  add.u32 %r4, %r4, %r0;\n"
	"  st.global.u32 [%rd0], %r4;\n"
	"  ret;\n"
	"}\n";

enum { THREADS = 8, ROUNDS = 25, N = 64 };

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) { printf("client.c:%d: %s is %ld, want %ld (%s)\n", __LINE__, #got, g_, w_, gemu_last_error()); exit(1); } } while (0)
#define OK(call) EQUAL(call, GEMU_OK)
#define HOLDS(condition) EQUAL(!!(condition), 1)

static int add(void *x, uint64_t n, int threads)
{
	void *args[] = {x, (void *)(uintptr_t)n};
	return ptx_run(ptx, 2, args, threads, 1, 1, 1, 1, 1, 0);
}

static void on_host(void)
{
	static unsigned x[N];
	unsigned on_stack[N] = {0}, *on_heap = calloc(N, sizeof *on_heap);
	OK(add(x, 1ull << 32 | 3, N)); // the parameter takes the low half
	OK(add(on_stack, 4, N));
	OK(add(on_heap, 5, N));
	EQUAL(x[N - 1], 3);
	EQUAL(on_stack[0], 4);
	EQUAL(on_heap[N - 1], 5);
	free(on_heap);

	// These accesses are to missing memory, to read-only memory, and misaligned.
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HOLDS(p != MAP_FAILED && munmap(p + page, page) == 0);
	EQUAL(add(p + page - 128, 1, N), GEMU_ILLEGAL_ADDRESS);
	HOLDS(strstr(gemu_last_error(), "%r4, [%rd0]") != NULL);
	HOLDS(mprotect(p, page, PROT_READ) == 0);
	EQUAL(add(p, 1, 1), GEMU_ILLEGAL_ADDRESS);
	EQUAL(add((char *)x + 1, 1, 1), GEMU_MISALIGNED_ADDRESS);
	munmap(p, page);
	void *one[] = {x};
	EQUAL(ptx_run(ptx, 1, one, 1, 1, 1, 1, 1, 1, 0), GEMU_INVALID_VALUE);
	EQUAL(ptx_run("nothing", 0, NULL, 1, 1, 1, 1, 1, 1, 0), GEMU_INVALID_PTX);
	OK(add(x, 1, N));
	EQUAL(x[0], 4);
}

static void *thread(void *p)
{
	unsigned id = (unsigned)(uintptr_t)p, x[N] = {0}, y[N];
	gemu_module m;
	gemu_kernel k;
	gemu_address d;
	EQUAL(strlen(gemu_last_error()), 0);
	OK(gemu_load(ptx, strlen(ptx), &m));
	OK(gemu_get_kernel(m, NULL, &k));
	OK(gemu_alloc(sizeof y, &d));
	void *args[] = {&d, &id};
	gemu_launch_params launch = {.kernel = k, .block = {N}, .args = args};
	for (int i = 0; i < ROUNDS; i++) {
		OK(gemu_launch(&launch, NULL));
		OK(add(x, id, N));
	}
	OK(gemu_copy_out(y, d, sizeof y));
	EQUAL(y[N - 1], ROUNDS * id);
	EQUAL(x[N - 1], ROUNDS * id);
	OK(gemu_free(d));
	EQUAL(gemu_launch(&launch, NULL), GEMU_ILLEGAL_ADDRESS);
	OK(gemu_unload(m));
	EQUAL(gemu_launch(&launch, NULL), GEMU_INVALID_HANDLE);
	return NULL;
}

// observe checks the addresses of the loads of the observed kernel.
static void look(const gemu_event *e, void *user)
{
	gemu_address *d = user;
	if (strncmp(e->instruction, "ld.global", 9) != 0)
		return;
	unsigned x;
	EQUAL(gemu_copy_out(&x, d[0], sizeof x), GEMU_NOT_PERMITTED); // the device is busy
	EQUAL(e->bytes, 4);
	EQUAL(strcmp(e->space, ".global"), 0);
	EQUAL(e->n_results, 1);
	EQUAL(strcmp(e->results[0].name, "%r4"), 0);
	EQUAL(strcmp(e->results[0].type, ".u32"), 0);
	for (int lane = 0; lane < 32; lane++) {
		EQUAL(e->addresses[lane], d[0] + 4 * (32 * e->warp + lane));
		EQUAL(e->results[0].low[lane], 7);
	}
	d[1]++;
}

static void observed(void)
{
	unsigned x[N], n = 1;
	gemu_module m;
	gemu_kernel k;
	gemu_address d[2] = {0, 0};
	gemu_counts counts;
	for (int i = 0; i < N; i++)
		x[i] = 7;
	OK(gemu_load(ptx, 0, &m));
	OK(gemu_get_kernel(m, "add", &k));
	EQUAL(gemu_get_kernel(m, "sub", &k), GEMU_NOT_FOUND);
	OK(gemu_alloc(sizeof x, d));
	OK(gemu_copy_in(d[0], x, sizeof x));
	EQUAL(gemu_copy_in(d[0] + 4, x, sizeof x), GEMU_INVALID_VALUE);
	void *args[] = {d, &n};
	gemu_launch_params launch = {.kernel = k, .block = {N}, .args = args, .observer = look, .user = d};
	OK(gemu_launch(&launch, &counts));
	EQUAL(d[1], 2);
	EQUAL(counts.warp_instructions, 2 * 9);
	EQUAL(counts.thread_instructions, N * 9);
	char *statistics = gemu_statistics();
	HOLDS(statistics != NULL && strstr(statistics, "\"kernel\": \"add\"") != NULL);
	free(statistics);
	OK(gemu_free(d[0]));
	OK(gemu_unload(m));
}

// The library leaves the program's signal handlers unchanged, also in a child of fork that does not call the library.
static void own_signals(void)
{
	pid_t child = fork();
	if (child == 0) {
		raise(SIGUSR1);
		_exit(1);
	}
	int status;
	HOLDS(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	struct sigaction now;
	HOLDS(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	HOLDS(sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
}

// A handler of the program, installed before the library is loaded, still gets the program's own faults, also after kernels with
// faults: they are not its faults.
static char *guarded;
static sigjmp_buf at_fault;

static void on_own_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	if (guarded == NULL || info->si_addr != guarded)
		abort();
	siglongjmp(at_fault, 1);
}

static void install_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_own_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &action, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*before_libraries)(void) = install_handler;

static void *own_faults(void *p)
{
	guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HOLDS(guarded != MAP_FAILED);
	volatile int faults = 0;
	if (sigsetjmp(at_fault, 1) == 0)
		*(volatile char *)guarded = 1;
	else
		faults++;
	EQUAL(faults, 1);
	munmap(guarded, 4096);
	guarded = NULL;
	return p;
}

// In a child of fork every call returns that there is no driver, also if another thread was in the library at the fork.
static void forks(int times)
{
	for (int i = 0; i < times; i++) {
		pid_t child = fork();
		if (child == 0) {
			gemu_address d;
			alarm(60);
			EQUAL(gemu_alloc(4, &d), GEMU_NOT_INITIALIZED);
			HOLDS(strstr(gemu_last_error(), "fork") != NULL);
			HOLDS(strcmp(gemu_statistics(), "{}") == 0);
			_exit(0);
		}
		int status;
		HOLDS(waitpid(child, &status, 0) == child);
		HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

// In the child, the thread that forked may end, which ends the child.
static void *forks_and_ends(void *unused)
{
	(void)unused;
	OK(add((unsigned[N]){0}, 1, N));
	pid_t child = fork();
	if (child == 0) {
		alarm(60);
		return NULL;
	}
	int status;
	HOLDS(waitpid(child, &status, 0) == child);
	HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	forks(1); // before the first call of the library
	own_faults(NULL);
	on_host();
	own_faults(NULL);
	observed();
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)(i + 1)), 0);
	forks(50);
	for (int i = 0; i < 20; i++) {
		pthread_t ends;
		EQUAL(pthread_create(&ends, NULL, forks_and_ends, NULL), 0);
		EQUAL(pthread_join(ends, NULL), 0);
	}
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_join(t[i], NULL), 0);
	own_signals();
	EQUAL(pthread_create(&t[0], NULL, own_faults, NULL), 0);
	EQUAL(pthread_join(t[0], NULL), 0);
	puts("ok");
	return 0;
}
