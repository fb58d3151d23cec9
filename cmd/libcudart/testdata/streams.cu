// Streams, events, ordered functions of the host, stream-ordered memory. Compiled twice: the second
// time the default stream is the thread's own.

#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int *x, int n, int value)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] = value;
}

__global__ void add(int *x, const int *y, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] += y[i];
}

static int n = 5000;

// Pieces of an array on streams of their own, as the samples of CUDA do it.
static void pieces()
{
	const int streams = 4, piece = 1024;
	cudaStream_t s[streams];
	int *host, *x, *y;
	CHECK(cudaMallocHost(&host, streams * piece * sizeof(int)));
	CHECK(cudaMalloc(&x, streams * piece * sizeof(int)));
	CHECK(cudaMalloc(&y, streams * piece * sizeof(int)));
	for (int i = 0; i < streams * piece; i++)
		host[i] = i;
	for (int i = 0; i < streams; i++)
		CHECK(cudaStreamCreateWithFlags(&s[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
	for (int i = 0; i < streams; i++) {
		int at = i * piece;
		CHECK(cudaMemcpyAsync(x + at, host + at, piece * sizeof(int), cudaMemcpyHostToDevice, s[i]));
		fill<<<4, 64, 0, s[i]>>>(y + at, piece, 100 * i);
		add<<<4, 64, 0, s[i]>>>(x + at, y + at, piece);
		CHECK(cudaMemcpyAsync(host + at, x + at, piece * sizeof(int), cudaMemcpyDeviceToHost, s[i]));
	}
	for (int i = 0; i < streams; i++) {
		CHECK(cudaStreamSynchronize(s[i]));
		CHECK(cudaStreamQuery(s[i]));
		for (int j = i * piece; j < (i + 1) * piece; j++)
			EXPECT(host[j] == j + 100 * i);
		CHECK(cudaStreamDestroy(s[i]));
	}
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
	CHECK(cudaFreeHost(host));
}

static void events()
{
	cudaStream_t a, b;
	cudaEvent_t start, filled, end, untimed;
	int *x, *y;
	CHECK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, 0));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&filled));
	CHECK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
	CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
	CHECK(cudaMalloc(&x, n * sizeof(int)));
	CHECK(cudaMalloc(&y, n * sizeof(int)));
	CHECK(cudaMemsetAsync(x, 0, n * sizeof(int), b));
	CHECK(cudaEventRecord(start, a));
	fill<<<8, 32, 0, a>>>(y, n, 42);
	CHECK(cudaEventRecord(filled, a));
	CHECK(cudaStreamWaitEvent(b, filled, 0));
	add<<<8, 32, 0, b>>>(x, y, n);
	CHECK(cudaEventRecordWithFlags(end, b, cudaEventRecordDefault));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventQuery(filled));
	float ms = -1;
	CHECK(cudaEventElapsedTime(&ms, start, end));
	EXPECT(ms >= 0);
	FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
	std::vector<int> got(n);
	CHECK(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
	for (int v : got)
		EXPECT(v == 42);
	CHECK(cudaEventDestroy(start));
	CHECK(cudaEventDestroy(filled));
	CHECK(cudaEventDestroy(end));
	CHECK(cudaEventDestroy(untimed));
	cudaStreamAttrValue set = {}, back = {};
	set.accessPolicyWindow.base_ptr = x;
	set.accessPolicyWindow.num_bytes = 64;
	set.accessPolicyWindow.hitRatio = 0.5f;
	CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &set));
	CHECK(cudaStreamCopyAttributes(b, a));
	CHECK(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &back));
	EXPECT(back.accessPolicyWindow.base_ptr == x && back.accessPolicyWindow.hitRatio == 0.5f);
	FAILS(cudaErrorInvalidValue, cudaStreamSetAttribute(a, (cudaStreamAttrID)999, &set));
	FAILS(cudaErrorInvalidValue, cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, nullptr));
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
}

struct seen {
	const int *host;
	int value, callbacks;
	cudaError_t status;
};

static void hosts_turn()
{
	cudaStream_t s;
	int *host, *x;
	seen what = {};
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocHost(&host, n * sizeof(int)));
	CHECK(cudaMallocAsync(&x, n * sizeof(int), s));
	what.host = host;
	fill<<<4, 128, 0, s>>>(x, n, 9);
	CHECK(cudaMemcpyAsync(host, x, n * sizeof(int), cudaMemcpyDefault, s));
	CHECK(cudaFreeAsync(x, s));
	CHECK(cudaLaunchHostFunc(s, [](void *p) { ((seen *)p)->value = ((seen *)p)->host[4999]; }, &what));
	CHECK(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t e, void *p) { ((seen *)p)->callbacks++, ((seen *)p)->status = e; }, &what, 0));
	CHECK(cudaStreamSynchronize(s));
	EXPECT(what.value == 9 && what.callbacks == 1 && what.status == cudaSuccess);
	cudaMemPool_t pool;
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	unsigned long long keep = 1 << 20, got = 0;
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
	EXPECT(got == keep);
	CHECK(cudaMemPoolTrimTo(pool, 0));
	CHECK(cudaMallocFromPoolAsync(&x, 64, pool, s));
	CHECK(cudaFreeAsync(x, s));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFreeHost(host));
}

// Work of threads on the default stream, and on a common stream.
static void threads()
{
	std::vector<std::thread> list;
	for (int i = 0; i < 4; i++)
		list.emplace_back([i] {
			CHECK(cudaSetDevice(0));
			int *x, *y;
			CHECK(cudaMalloc(&x, n * sizeof(int)));
			CHECK(cudaMalloc(&y, n * sizeof(int)));
			CHECK(cudaMemset(x, 0, n * sizeof(int)));
			std::vector<int> got(n);
			for (int round = 1; round <= 3; round++) {
				fill<<<2, 64>>>(y, n, i + round);
				add<<<2, 64>>>(x, y, n);
			}
			CHECK(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
			for (int v : got)
				EXPECT(v == 3 * i + 6);
			FAILS(cudaErrorInvalidDevice, cudaSetDevice(99)); // an error of this thread only
			CHECK(cudaFree(x));
			CHECK(cudaFree(y));
		});
	for (auto &t : list)
		t.join();
	CHECK(cudaGetLastError());
}

int main()
{
	pieces();
	events();
	hosts_turn();
	threads();
	puts("ok");
}
