// Two processes that share memory, events and pools of the driver library. The first starts the second, the same program
// with an argument, and they synchronise by messages over a socket. The program prints "ok" and ends with status 0.

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cuda_types.h"

CUresult cuInit(unsigned), cuDeviceGetAttribute(int *, int, CUdevice), cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxDestroy_v2(CUcontext), cuCtxSynchronize(void);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr), cuMemAllocManaged(CUdeviceptr *, size_t, unsigned), cuMemHostAlloc(void **, size_t, unsigned), cuMemFreeHost(void *);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t), cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
CUresult cuMemGetInfo_v2(size_t *, size_t *), cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr), cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamDestroy_v2(CUstream), cuStreamSynchronize(CUstream), cuStreamQuery(CUstream), cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *), cuStreamBeginCapture_v2(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuEventQuery(CUevent), cuEventSynchronize(CUevent), cuEventDestroy_v2(CUevent), cuEventElapsedTime(float *, CUevent, CUevent);
CUresult cuIpcGetMemHandle(CUipcMemHandle *, CUdeviceptr), cuIpcOpenMemHandle(CUdeviceptr *, CUipcMemHandle, unsigned), cuIpcOpenMemHandle_v2(CUdeviceptr *, CUipcMemHandle, unsigned);
CUresult cuIpcCloseMemHandle(CUdeviceptr), cuIpcGetEventHandle(CUipcEventHandle *, CUevent), cuIpcOpenEventHandle(CUevent *, CUipcEventHandle);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *), cuMemPoolDestroy(CUmemoryPool), cuMemPoolGetAttribute(CUmemoryPool, int, void *), cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream), cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream), cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemPoolExportToShareableHandle(void *, CUmemoryPool, int, unsigned long long), cuMemPoolImportFromShareableHandle(CUmemoryPool *, void *, int, unsigned long long);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *, CUdeviceptr), cuMemPoolImportPointer(CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *);

static const char *const ptx =
	".version 7.8\n.target sm_80\n.address_size 64\n"
	".visible .entry add(.param .u64 x, .param .u32 n)\n"
	"{\n"
	"  .reg .u32 %r<3>; .reg .u64 %rd<3>;\n"
	"  ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];\n"
	"  mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;\n"
	"  red.global.add.u32 [%rd0], %r0;\n"
	"  ret;\n"
	"}\n";

enum {
	invalidValue = 1,
	invalidContext = 201,
	invalidHandle = 400,
	notReady = 600,
	illegalAddress = 700,
	notSupported = 801,
	isolation = 905,
	external = 911,
};

enum { SMALL = 1000, BIG = 3 << 20, WORDS = 100 };

static const char *role = "first";
static int other; // the socket to the other process

static void fail(int line, const char *what, long got, long want)
{
	printf("ipc.c:%d: %s: %s is %ld, want %ld\n", line, role, what, got, want);
	exit(1);
}

#define EQUAL(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) fail(__LINE__, #got, g_, w_); } while (0)
#define OK(call) EQUAL(call, 0)
#define HOLDS(condition) EQUAL(!!(condition), 1)

// message is a message, sometimes with a file descriptor.
typedef struct {
	CUipcMemHandle small, big;
	CUipcEventHandle event;
	CUmemPoolPtrExportData pointer, foreign;
	int value;
} message;

static message none; // an empty message

static void send_with(message *m, int fd)
{
	char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec data = {m, sizeof *m};
	struct msghdr h = {.msg_iov = &data, .msg_iovlen = 1};
	if (fd >= 0) {
		h.msg_control = control;
		h.msg_controllen = sizeof control;
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	EQUAL(sendmsg(other, &h, 0), sizeof *m);
}

static int receive_with(message *m)
{
	int fd = -1;
	char control[CMSG_SPACE(sizeof fd)];
	struct iovec data = {m, sizeof *m};
	struct msghdr h = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	EQUAL(recvmsg(other, &h, MSG_WAITALL), sizeof *m);
	if (CMSG_FIRSTHDR(&h) != NULL)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof fd);
	return fd;
}

static void tell(void) { send_with(&none, -1); }
static void listen_for(void) { receive_with(&(message){0}); }

static CUfunction add;

static CUcontext begin(void)
{
	CUcontext c;
	CUmodule m;
	OK(cuInit(0));
	OK(cuCtxCreate_v2(&c, 0, 0));
	OK(cuModuleLoadData(&m, ptx));
	OK(cuModuleGetFunction(&add, m, "add"));
	return c;
}

// plus launches a kernel on a stream that adds a number to words.
static CUresult plus(CUstream s, CUdeviceptr x, unsigned n, unsigned words)
{
	void *args[] = {&x, &n};
	return cuLaunchKernel(add, 1, 1, 1, words, 1, 1, 0, s, args, NULL);
}

// word waits for all work and returns the word at an index.
static int word(CUdeviceptr x, int i)
{
	int v;
	OK(cuMemcpyDtoH_v2(&v, x + 4 * i, 4));
	return v;
}

static void fill(CUdeviceptr x, int v, int words)
{
	OK(cuMemsetD32Async(x, v, words, 0));
	OK(cuCtxSynchronize());
}

static int descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	HOLDS(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

// A gate is a host function that blocks its stream until the gate is opened.
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static void pass(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
}

// start starts the second process with a role.
static pid_t start(const char *program, const char *as)
{
	int ends[2];
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	fflush(stdout);
	pid_t pid = fork();
	HOLDS(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], 0);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, as, NULL);
		_exit(127);
	}
	close(ends[1]);
	other = ends[0];
	return pid;
}

static void finish(pid_t pid, int want)
{
	int status;
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(WIFEXITED(status), 1);
	EQUAL(WEXITSTATUS(status), want);
	close(other);
}

// Memory: the first process allocates it, the second opens it.

static void memory_first(const char *program)
{
	CUdeviceptr small, next, big, x;
	CUipcMemHandle again;
	message m = {0};
	void *host;
	char yes;
	OK(cuMemAlloc_v2(&small, SMALL));
	OK(cuMemAlloc_v2(&next, SMALL));
	OK(cuMemAlloc_v2(&big, BIG));
	fill(small, 5, SMALL / 4);
	fill(next, 6, SMALL / 4);
	fill(big, 7, BIG / 4);
	int before = descriptors();
	OK(plus(0, small, 1, WORDS)); // possibly still running
	OK(cuIpcGetMemHandle(&m.small, small));
	OK(cuIpcGetMemHandle(&again, small + 4)); // the handle of the whole allocation
	EQUAL(memcmp(&again, &m.small, sizeof again), 0);
	OK(cuIpcGetMemHandle(&m.big, big));
	EQUAL(word(small, 0), 6);
	EQUAL(word(small, WORDS), 5);
	EQUAL(word(big, BIG / 4 - 1), 7);

	EQUAL(cuIpcGetMemHandle(NULL, small), invalidValue);
	EQUAL(cuIpcGetMemHandle(&again, 16), invalidValue);
	OK(cuMemHostAlloc(&host, 4096, 0));
	EQUAL(cuIpcGetMemHandle(&again, (CUdeviceptr)host), invalidValue);
	OK(cuMemFreeHost(host));
	OK(cuMemAllocManaged(&x, 4096, 1));
	EQUAL(cuIpcGetMemHandle(&again, x), invalidValue);
	OK(cuPointerGetAttribute(&yes, 10, x));
	EQUAL(yes, 0);
	OK(cuMemFree_v2(x));
	OK(cuMemAllocAsync(&x, 4096, 0));
	EQUAL(cuIpcGetMemHandle(&again, x), invalidValue);
	OK(cuMemFreeAsync(x, 0));
	OK(cuPointerGetAttribute(&yes, 10, small));
	EQUAL(yes, 1);
	EQUAL(cuIpcOpenMemHandle_v2(&x, m.small, 1), invalidContext); // the memory belongs to this process

	pid_t pid = start(program, "memory");
	send_with(&m, -1);
	listen_for(); // the second process has added 10 to words of small
	EQUAL(word(small, 0), 16);
	EQUAL(word(small, WORDS), 5);
	EQUAL(word(next, 0), 6);
	OK(plus(0, small, 100, WORDS));
	OK(cuCtxSynchronize());
	tell();
	listen_for(); // the second process has seen the change
	OK(cuMemFree_v2(small));
	OK(cuMemAlloc_v2(&x, SMALL)); // memory of the second process does not count
	fill(x, 9, SMALL / 4);
	OK(cuIpcGetMemHandle(&again, x)); // its descriptor may have the same number
	tell();
	listen_for(); // the second process has written to small, and closed it
	EQUAL(word(x, 0), 9);
	OK(cuMemFree_v2(big));
	tell();
	finish(pid, 0);
	EQUAL(word(next, SMALL / 4 - 1), 6);
	OK(cuMemFree_v2(x));
	OK(cuMemFree_v2(next));
	EQUAL(descriptors(), before);
}

static void memory_second(void)
{
	CUdeviceptr small, again, big, base, x;
	CUipcMemHandle wrong = {0};
	message m;
	size_t size, free_before, free_after, all;
	receive_with(&m);
	OK(cuMemGetInfo_v2(&free_before, &all));
	int before = descriptors();
	EQUAL(cuIpcOpenMemHandle_v2(&small, m.small, 0), invalidValue);
	EQUAL(cuIpcOpenMemHandle_v2(&small, wrong, 1), invalidHandle);
	EQUAL(cuIpcOpenMemHandle_v2(NULL, m.small, 1), invalidValue);
	OK(cuIpcOpenMemHandle_v2(&small, m.small, 1));
	OK(cuIpcOpenMemHandle(&again, m.small, 1));
	EQUAL(again, small);
	OK(cuIpcOpenMemHandle_v2(&big, m.big, 1));
	OK(cuMemGetAddressRange_v2(&base, &size, big + 12345));
	EQUAL(base, big);
	EQUAL(size, BIG);
	OK(cuMemGetAddressRange_v2(&base, &size, small + 8));
	EQUAL(size, SMALL);
	EQUAL(cuIpcGetMemHandle(&wrong, small), invalidValue);
	EQUAL(cuMemFree_v2(small), invalidValue);
	EQUAL(cuIpcCloseMemHandle(small + 4), invalidValue);
	OK(cuMemGetInfo_v2(&free_after, &all));
	EQUAL(free_after, free_before); // the memory belongs to the first process
	EQUAL(word(small, 0), 6);
	EQUAL(word(small, SMALL / 4 - 1), 5);
	EQUAL(word(big, BIG / 4 - 1), 7);
	CUcontext c;
	OK(cuCtxCreate_v2(&c, 0, 0));
	EQUAL(cuIpcOpenMemHandle_v2(&x, m.small, 1), invalidContext); // at most one context may open it
	OK(cuCtxDestroy_v2(c));
	OK(plus(0, small, 10, WORDS));
	OK(cuCtxSynchronize());
	tell();
	listen_for(); // the first process has added 100
	EQUAL(word(small, 0), 116);
	OK(cuIpcCloseMemHandle(small));
	EQUAL(word(small, WORDS - 1), 116); // small is still open
	tell();
	listen_for(); // the first process has freed small
	OK(cuIpcOpenMemHandle_v2(&again, m.small, 1));
	OK(plus(0, small, 1, WORDS));
	EQUAL(word(small, 0), 117);
	OK(cuIpcCloseMemHandle(small));
	OK(cuIpcCloseMemHandle(small));
	EQUAL(cuIpcCloseMemHandle(small), invalidValue);
	EQUAL(cuMemcpyDtoH_v2(&(int){0}, small, 4), invalidValue);
	EQUAL(cuIpcOpenMemHandle_v2(&small, m.small, 1), invalidHandle);
	tell();
	listen_for();
	EQUAL(descriptors(), before);

	// The message of a fault names the origin of the memory. Then the context is invalid, with its open memory.
	OK(plus(0, big + BIG - 4 * WORDS, 1, WORDS + 1));
	EQUAL(cuCtxSynchronize(), illegalAddress);
}

// Events: both processes record, and wait for each other.

static void events_first(const char *program)
{
	CUdeviceptr x;
	CUstream s, t;
	CUevent e, plain, mine;
	message m = {0};
	float ms;
	int before = descriptors();
	OK(cuStreamCreate(&s, 1));
	OK(cuStreamCreate(&t, 1));
	OK(cuMemAlloc_v2(&x, SMALL));
	EQUAL(cuEventCreate(&e, 4), invalidValue); // with CU_EVENT_DISABLE_TIMING only
	OK(cuEventCreate(&plain, 2));
	EQUAL(cuIpcGetEventHandle(&m.event, plain), invalidHandle);
	OK(cuEventCreate(&e, 6));
	OK(cuIpcGetEventHandle(&m.event, e));
	EQUAL(cuIpcGetEventHandle(NULL, e), invalidValue);
	EQUAL(cuIpcOpenEventHandle(&mine, m.event), invalidContext);
	OK(cuEventQuery(e)); // never recorded
	OK(cuIpcGetMemHandle(&m.small, x));
	pthread_mutex_lock(&gate);
	OK(cuLaunchHostFunc(s, pass, NULL));
	OK(cuMemsetD32Async(x, 1, WORDS, s));
	OK(cuEventRecord(e, s));
	EQUAL(cuEventQuery(e), notReady);
	EQUAL(cuEventElapsedTime(&ms, e, e), invalidHandle);

	pid_t pid = start(program, "events");
	send_with(&m, -1);
	listen_for(); // the second process's stream waits for the event, and adds 1
	usleep(20000);
	pthread_mutex_unlock(&gate);
	listen_for(); // the work is over
	OK(cuEventQuery(e));
	EQUAL(word(x, 0), 2);

	// The second process records the event before it opens it.
	tell();
	listen_for();
	EQUAL(cuEventQuery(e), notReady);
	OK(cuStreamWaitEvent(t, e, 0));
	OK(plus(t, x, 10, WORDS));
	EQUAL(cuStreamQuery(t), notReady);
	OK(cuStreamBeginCapture_v2(s, 2));
	EQUAL(cuStreamWaitEvent(s, e, 0), isolation);
	HOLDS(cuStreamEndCapture(s, &(CUgraph){0}) != 0);
	tell();
	OK(cuEventSynchronize(e));
	OK(cuStreamSynchronize(t));
	EQUAL(word(x, 0), 13); // 2 + 1 + 10

	// Waits use the last of many records on two streams, also if this process made it.
	for (int i = 0; i < 1000; i++)
		OK(cuEventRecord(e, i % 2 ? s : t));
	OK(cuEventSynchronize(e));
	tell();

	// The second process ends before its record is over: a wait is an error.
	listen_for();
	EQUAL(cuEventQuery(e), notReady);
	tell();
	EQUAL(cuEventSynchronize(e), external);
	EQUAL(cuEventQuery(e), external);
	finish(pid, 3);
	OK(cuEventRecord(e, s));
	OK(cuEventSynchronize(e));
	OK(cuEventDestroy_v2(e));
	OK(cuEventDestroy_v2(plain));
	OK(cuMemFree_v2(x));
	OK(cuStreamDestroy_v2(s));
	OK(cuStreamDestroy_v2(t));
	EQUAL(descriptors(), before);
}

static void events_second(void)
{
	CUdeviceptr x;
	CUstream s;
	CUevent e;
	CUipcEventHandle wrong = {0};
	message m;
	receive_with(&m);
	OK(cuStreamCreate(&s, 1));
	OK(cuIpcOpenMemHandle_v2(&x, m.small, 1));
	EQUAL(cuIpcOpenEventHandle(&e, wrong), invalidHandle);
	memcpy(&wrong, &m.small, sizeof wrong); // a handle of memory
	EQUAL(cuIpcOpenEventHandle(&e, wrong), invalidHandle);
	OK(cuIpcOpenEventHandle(&e, m.event));
	EQUAL(cuIpcGetEventHandle(&wrong, e), invalidHandle);
	EQUAL(cuEventQuery(e), notReady);
	OK(cuStreamWaitEvent(s, e, 0));
	OK(plus(s, x, 1, WORDS));
	EQUAL(cuStreamQuery(s), notReady);
	EQUAL(word(x, 0), 0);
	tell();
	OK(cuEventSynchronize(e));
	OK(cuEventQuery(e));
	OK(cuStreamSynchronize(s));
	EQUAL(word(x, 0), 2);
	tell();

	listen_for();
	pthread_mutex_lock(&gate);
	OK(cuLaunchHostFunc(s, pass, NULL));
	OK(plus(s, x, 1, WORDS));
	OK(cuEventRecord(e, s));
	tell();
	listen_for();
	pthread_mutex_unlock(&gate);
	OK(cuEventSynchronize(e));

	listen_for();
	pthread_mutex_lock(&gate);
	OK(cuLaunchHostFunc(s, pass, NULL));
	OK(cuEventRecord(e, s));
	tell();
	listen_for();
	_exit(3);
}

// The second process ends while the first has its memory open, and while a stream of the first waits for its event.

static void death_first(const char *program)
{
	CUdeviceptr x, y;
	CUevent e;
	message m;
	CUcontext c = begin();
	pid_t pid = start(program, "death");
	receive_with(&m);
	OK(cuIpcOpenMemHandle_v2(&x, m.small, 1));
	OK(cuIpcOpenEventHandle(&e, m.event));
	OK(cuStreamWaitEvent(0, e, 0));
	OK(plus(0, x, 1, WORDS)); // does not run
	tell();
	EQUAL(cuCtxSynchronize(), external);
	finish(pid, 3);
	OK(cuCtxDestroy_v2(c));

	c = begin();
	pid = start(program, "memory of the dead");
	receive_with(&m);
	OK(cuIpcOpenMemHandle_v2(&x, m.small, 1));
	tell();
	finish(pid, 3);
	EQUAL(word(x, 3), 8);
	OK(plus(0, x, 1, WORDS));
	EQUAL(word(x, 3), 9);
	OK(cuIpcOpenMemHandle_v2(&y, m.small, 1)); // possible because the memory is open
	OK(cuIpcCloseMemHandle(x));
	OK(cuIpcCloseMemHandle(x));
	EQUAL(cuIpcOpenMemHandle_v2(&x, m.small, 1), invalidHandle);
	EQUAL(cuIpcOpenEventHandle(&e, m.event), invalidHandle);
	OK(cuCtxDestroy_v2(c));
}

static void death_second(int behind)
{
	CUdeviceptr x;
	CUevent e;
	CUstream s;
	message m = {0};
	OK(cuMemAlloc_v2(&x, SMALL));
	fill(x, 8, SMALL / 4);
	OK(cuIpcGetMemHandle(&m.small, x));
	OK(cuEventCreate(&e, 6));
	OK(cuIpcGetEventHandle(&m.event, e));
	OK(cuStreamCreate(&s, 1));
	if (behind) {
		pthread_mutex_lock(&gate);
		OK(cuLaunchHostFunc(s, pass, NULL));
	}
	OK(cuEventRecord(e, s));
	send_with(&m, -1);
	listen_for();
	_exit(3);
}

// Pools: the first process allocates, the second imports.

static const CUmemPoolProps shared = {.allocType = 1, .handleTypes = 1, .location = {1, 0}};

static void pools_first(const char *program)
{
	CUmemPoolProps props = shared;
	CUmemoryPool pool, local, again;
	CUdeviceptr x, y, z, w;
	CUstream s;
	message m = {0};
	int fd, types;
	uint64_t used;
	int before = descriptors();
	OK(cuStreamCreate(&s, 1));
	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemPoolGetAttribute(pool, 10, &types));
	EQUAL(types, 1);
	props.handleTypes = 2;
	EQUAL(cuMemPoolCreate(&local, &props), notSupported);
	props.handleTypes = 0;
	OK(cuMemPoolCreate(&local, &props));
	EQUAL(cuMemPoolExportToShareableHandle(&fd, local, 1, 0), invalidValue);
	EQUAL(cuMemPoolExportToShareableHandle(&fd, pool, 1, 1), invalidValue);
	EQUAL(cuMemPoolExportToShareableHandle(&fd, pool, 2, 0), notSupported);
	OK(cuMemPoolExportToShareableHandle(&fd, pool, 1, 0));
	EQUAL(cuMemPoolImportFromShareableHandle(&again, (void *)(uintptr_t)0, 1, 0), invalidValue); // descriptor 0 is no pool
	OK(cuMemAllocFromPoolAsync(&x, SMALL, pool, s));
	OK(cuMemAllocFromPoolAsync(&y, BIG, pool, s));
	OK(cuMemAllocFromPoolAsync(&z, SMALL, local, s));
	EQUAL(cuMemPoolExportPointer(&m.pointer, z), invalidValue);
	EQUAL(cuMemPoolExportPointer(&m.pointer, y + 4), invalidValue);
	EQUAL(cuMemPoolExportPointer(NULL, y), invalidValue);
	OK(cuMemPoolExportPointer(&m.pointer, y));
	EQUAL(cuMemPoolImportPointer(&w, pool, &m.pointer), invalidValue); // the pool belongs to this process
	OK(cuPointerGetAttribute(&used, 14, y));
	EQUAL(used, 1);

	CUmemoryPool second; // a pointer of the first pool cannot be imported from it
	OK(cuMemPoolCreate(&second, &shared));
	OK(cuMemAllocFromPoolAsync(&w, SMALL, second, s));
	OK(cuMemPoolExportPointer(&m.foreign, w));

	OK(plus(s, x, 1, WORDS));
	OK(plus(s, y, 3, WORDS));
	OK(cuStreamSynchronize(s));
	pid_t pid = start(program, "pools");
	send_with(&m, fd);
	close(fd);
	listen_for();
	EQUAL(word(y, 0), 7);
	EQUAL(word(x, 0), 1);
	OK(cuMemFreeAsync(y, s));
	OK(cuMemFreeAsync(x, s));
	OK(cuMemFreeAsync(z, s));
	OK(cuMemFreeAsync(w, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemAllocFromPoolAsync(&x, SMALL, pool, s)); // new memory is zero
	OK(plus(s, x, 2, WORDS));
	OK(cuStreamSynchronize(s));
	EQUAL(word(x, 0), 2);
	OK(cuMemPoolDestroy(pool));
	EQUAL(word(x, 1), 2); // stays
	tell();
	finish(pid, 0);
	OK(cuMemFree_v2(x));
	OK(cuMemPoolDestroy(local));
	OK(cuMemPoolDestroy(second));
	OK(cuStreamDestroy_v2(s));
	EQUAL(descriptors(), before);
}

static void pools_second(void)
{
	CUmemoryPool pool;
	CUdeviceptr y, again, x;
	CUstream s;
	message m;
	size_t size;
	uint64_t used;
	int before = descriptors();
	int fd = receive_with(&m);
	OK(cuStreamCreate(&s, 1));
	EQUAL(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, 2, 0), notSupported);
	EQUAL(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, 1, 1), invalidValue);
	OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, 1, 0));
	close(fd);
	EQUAL(cuMemAllocFromPoolAsync(&x, SMALL, pool, s), invalidValue);
	EQUAL(cuDeviceSetMemPool(0, pool), invalidValue);
	EQUAL(cuMemPoolExportToShareableHandle(&fd, pool, 1, 0), invalidValue);
	EQUAL(cuMemPoolImportPointer(&x, pool, &m.foreign), invalidValue);
	EQUAL(cuMemPoolImportPointer(&x, pool, &(CUmemPoolPtrExportData){{0}}), invalidValue);
	OK(cuMemPoolImportPointer(&y, pool, &m.pointer));
	OK(cuMemPoolImportPointer(&again, pool, &m.pointer));
	OK(cuMemGetAddressRange_v2(&x, &size, y + 100));
	EQUAL(x, y);
	EQUAL(size, BIG);
	OK(cuMemPoolGetAttribute(pool, 7, &used));
	EQUAL(used, 2 * BIG);
	EQUAL(cuMemPoolExportPointer(&m.pointer, y), invalidValue);
	EQUAL(word(y, 0), 3);
	OK(plus(s, y, 4, WORDS));
	OK(cuStreamSynchronize(s));
	EQUAL(word(again, 0), 7);
	OK(cuMemFreeAsync(y, s));
	OK(cuStreamSynchronize(s));
	EQUAL(cuMemcpyDtoH_v2(&(int){0}, y, 4), invalidValue);
	tell();
	listen_for(); // the first process has freed the memory
	word(again, 0);
	OK(cuMemFree_v2(again));
	OK(cuMemPoolDestroy(pool));
	OK(cuStreamDestroy_v2(s));
	EQUAL(descriptors(), before);
}

int main(int count, char **args)
{
	if (count == 1) {
		int yes;
		CUcontext c = begin();
		OK(cuDeviceGetAttribute(&yes, 125, 0));
		EQUAL(yes, 1);
		OK(cuDeviceGetAttribute(&yes, 119, 0));
		EQUAL(yes, 1);
		memory_first(args[0]);
		events_first(args[0]);
		pools_first(args[0]);
		OK(cuCtxDestroy_v2(c));
		death_first(args[0]);
		puts("ok");
		return 0;
	}
	role = args[1];
	other = 0;
	begin();
	if (!strcmp(role, "memory"))
		memory_second();
	else if (!strcmp(role, "events"))
		events_second();
	else if (!strcmp(role, "pools"))
		pools_second();
	else
		death_second(!strcmp(role, "death"));
	return 0;
}
