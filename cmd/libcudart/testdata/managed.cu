// Memory that host and device share.

#include <cstdint>
#include <vector>

#include "check.h"

__managed__ int total = 5;
__managed__ struct {
	float x[4];
	int *next;
} record;

__global__ void add(const int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&total, x[i]);
	if (i < 4)
		record.x[i] = i * 0.5f;
	if (i == 0 && record.next)
		*record.next = n;
}

__global__ void twice(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= 2;
}

int main()
{
	const int n = 1000;
	EXPECT(total == 5); // before anything was launched
	int *x;
	CHECK(cudaMallocManaged(&x, n * sizeof *x));
	for (int i = 0; i < n; i++)
		x[i] = i;
	CHECK(cudaMallocManaged(&record.next, sizeof(int), cudaMemAttachGlobal));
#if CUDART_VERSION >= 13000
	cudaMemLocation where = {cudaMemLocationTypeDevice, {0}};
	CHECK(cudaMemAdvise(x, n * sizeof *x, cudaMemAdviseSetPreferredLocation, where));
	CHECK(cudaMemPrefetchAsync(x, n * sizeof *x, where, 0, 0));
#else
	CHECK(cudaMemAdvise(x, n * sizeof *x, cudaMemAdviseSetReadMostly, 0));
	CHECK(cudaMemPrefetchAsync(x, n * sizeof *x, 0, 0));
#endif
	add<<<(n + 255) / 256, 256>>>(x, n);
	CHECK(cudaDeviceSynchronize());
	EXPECT(total == 5 + n * (n - 1) / 2);
	EXPECT(record.x[3] == 1.5f && *record.next == n);
	cudaPointerAttributes a;
	CHECK(cudaPointerGetAttributes(&a, x + 3));
	EXPECT(a.type == cudaMemoryTypeManaged && a.devicePointer == x + 3 && a.hostPointer == x + 3 && a.device == 0);
	void *address;
	CHECK(cudaGetSymbolAddress(&address, total));
	EXPECT(address == &total);
	total = 1;
	int got;
	CHECK(cudaMemcpyFromSymbol(&got, total, sizeof got));
	EXPECT(got == 1);

	int *pinned, *device;
	CHECK(cudaHostAlloc(&pinned, n * sizeof *pinned, cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&device, pinned, 0));
	for (int i = 0; i < n; i++)
		pinned[i] = i;
	twice<<<8, 128>>>(device, n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		EXPECT(pinned[i] == 2 * i);
	unsigned flags;
	CHECK(cudaHostGetFlags(&flags, pinned));
	EXPECT(flags & cudaHostAllocMapped);

	std::vector<int> own(n, 3);
	CHECK(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterDefault));
	CHECK(cudaHostGetDevicePointer(&device, own.data(), 0));
	twice<<<8, 128>>>(device, n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		EXPECT(own[i] == 6);
	FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own.data(), n * sizeof(int), 0));
	CHECK(cudaHostUnregister(own.data()));
	FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
	CHECK(cudaFreeHost(pinned));
	CHECK(cudaFree(record.next));
	CHECK(cudaFree(x));
	puts("ok");
}
