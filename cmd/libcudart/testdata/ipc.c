// Two processes that share memory and events by the runtime's functions. The second is the same program with an argument,
// and they communicate by two pipes. The program prints "ok" and ends with status 0.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

cudaError_t cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t), cudaDeviceSynchronize(void), cudaGetLastError(void);
cudaError_t cudaDeviceGetAttribute(int *, int, int), cudaStreamCreate(cudaStream_t *), cudaStreamSynchronize(cudaStream_t), cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned), cudaEventRecord(cudaEvent_t, cudaStream_t), cudaEventSynchronize(cudaEvent_t), cudaEventDestroy(cudaEvent_t);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *), cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned), cudaIpcCloseMemHandle(void *);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *, cudaEvent_t), cudaIpcOpenEventHandle(cudaEvent_t *, cudaIpcEventHandle_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const struct cudaMemPoolProps *), cudaMemPoolDestroy(cudaMemPool_t), cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaMemPoolExportToShareableHandle(void *, cudaMemPool_t, int, unsigned), cudaMemPoolImportFromShareableHandle(cudaMemPool_t *, void *, int, unsigned);
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *, void *), cudaMemPoolImportPointer(void **, cudaMemPool_t, struct cudaMemPoolPtrExportData *);

enum { toHost = 2, N = 5000, POOL = 100 }; // POOL is the descriptor of the pool in the second process

static struct {
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t event;
	struct cudaMemPoolPtrExportData pointer;
} all;

static int last(const void *p)
{
	unsigned char b;
	OK(cudaMemcpy(&b, (const char *)p + N - 1, 1, toHost));
	return b;
}

static void first(const char *program)
{
	const struct cudaMemPoolProps props = {.allocType = 1, .handleTypes = 1, .location = {1, 0}};
	cudaMemPool_t pool;
	cudaStream_t s;
	cudaEvent_t e;
	void *p, *q, *r;
	int there[2], back[2], fd, yes, status;
	char c;
	OK(cudaDeviceGetAttribute(&yes, 125, 0)); // cudaDevAttrIpcEventSupport
	IS(1, yes);
	OK(cudaDeviceGetAttribute(&yes, 119, 0)); // cudaDevAttrMemoryPoolSupportedHandleTypes
	IS(1, yes);
	OK(cudaStreamCreate(&s));
	OK(cudaMalloc(&p, N));
	OK(cudaMemset(p, 7, N));
	OK(cudaIpcGetMemHandle(&all.memory, p));
	IS(201, cudaIpcOpenMemHandle(&r, all.memory, 1)); // cudaErrorDeviceUninitialized
	IS(201, cudaGetLastError());
	IS(1, cudaEventCreateWithFlags(&e, 4)); // cudaEventInterprocess alone
	OK(cudaEventCreateWithFlags(&e, 6));
	OK(cudaIpcGetEventHandle(&all.event, e));
	OK(cudaMemPoolCreate(&pool, &props));
	OK(cudaMallocFromPoolAsync(&q, N, pool, s));
	OK(cudaMemPoolExportPointer(&all.pointer, q));
	OK(cudaMemPoolExportToShareableHandle(&fd, pool, 1, 0));
	OK(cudaStreamSynchronize(s));

	OK(pipe(there));
	OK(pipe(back));
	pid_t pid = fork();
	if (pid == 0) {
		IS(3, cudaIpcGetMemHandle(&all.memory, p)); // a child of fork has no driver
		dup2(there[0], 0);
		dup2(back[1], 1);
		dup2(fd, POOL);
		execl(program, program, "second", NULL);
		_exit(127);
	}
	close(back[1]);
	IS(sizeof all, write(there[1], &all, sizeof all));
	IS(1, read(back[0], &c, 1)); // the second process has recorded the event
	OK(cudaStreamWaitEvent(s, e, 0));
	OK(cudaMemcpyAsync(p, q, N, 3, s));
	OK(cudaStreamSynchronize(s));
	IS(9, last(p));
	IS(1, write(there[1], &c, 1));
	IS(pid, waitpid(pid, &status, 0));
	IS(0, status);
	OK(cudaFree(p));
	OK(cudaFree(q));
	OK(cudaMemPoolDestroy(pool));
	OK(cudaEventDestroy(e));
	puts("ok");
}

static void second(void)
{
	cudaMemPool_t pool;
	cudaStream_t s;
	cudaEvent_t e;
	void *p, *again, *q;
	char c = 0;
	IS(sizeof all, read(0, &all, sizeof all));
	OK(cudaStreamCreate(&s));
	OK(cudaIpcOpenMemHandle(&p, all.memory, 1));
	OK(cudaIpcOpenMemHandle(&again, all.memory, 1));
	IS(1, p == again);
	IS(7, last(p));
	OK(cudaIpcOpenEventHandle(&e, all.event));
	OK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(size_t)POOL, 1, 0));
	OK(cudaMemPoolImportPointer(&q, pool, &all.pointer));
	OK(cudaMemset(q, 9, N));
	OK(cudaEventRecord(e, 0));
	IS(1, write(1, &c, 1));
	IS(1, read(0, &c, 1));
	IS(9, last(p));
	OK(cudaIpcCloseMemHandle(p));
	OK(cudaIpcCloseMemHandle(p));
	IS(1, cudaIpcCloseMemHandle(p));
	OK(cudaFree(q));
	OK(cudaMemPoolDestroy(pool));
	OK(cudaEventDestroy(e));
}

int main(int count, char **args)
{
	if (count > 1)
		second();
	else
		first(args[0]);
	return 0;
}
