// Memory that graphs allocate: captured, and of nodes that are described.

#include <vector>

#include "check.h"

__global__ void twice(const int *x, int *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = 2 * x[i];
}

const int n = 1000, bytes = n * sizeof(int);

// described returns a graph that doubles x into memory of its own, and this into y. left receives the memory left allocated.
static cudaGraphExec_t described(int *x, int *y, int **left)
{
	cudaGraph_t graph;
	CHECK(cudaGraphCreate(&graph, 0));
	cudaMemAllocNodeParams memory = {};
	memory.bytesize = bytes;
	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	cudaGraphNode_t alloc, copy, kernel, back, free;
	CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory));
	int *a = (int *)memory.dptr;
	CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &alloc, 1, a, x, bytes, cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddMemAllocNode(&alloc, graph, &copy, 1, &memory));
	int *b = (int *)memory.dptr, count = n;
	void *args[] = {&a, &b, &count};
	cudaKernelNodeParams launch = {};
	launch.func = (void *)twice;
	launch.gridDim = dim3((n + 127) / 128);
	launch.blockDim = dim3(128);
	launch.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &launch));
	CHECK(cudaGraphAddMemFreeNode(&free, graph, &kernel, 1, a));
	CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, y, b, bytes, cudaMemcpyDeviceToHost));
	void *freed;
	CHECK(cudaGraphMemFreeNodeGetParams(free, &freed));
	EXPECT(freed == a);
	CHECK(cudaGraphMemAllocNodeGetParams(alloc, &memory));
	EXPECT(memory.dptr == b && memory.bytesize == bytes);
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	*left = b;
	return exec;
}

int main()
{
	std::vector<int> x(n), y(n);
	for (int i = 0; i < n; i++)
		x[i] = i;
	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	int *a, *b;
	CHECK(cudaMallocAsync(&a, bytes, stream));
	CHECK(cudaMallocAsync(&b, bytes, stream));
	CHECK(cudaMemcpyAsync(a, x.data(), bytes, cudaMemcpyDefault, stream));
	twice<<<(n + 127) / 128, 128, 0, stream>>>(a, b, n);
	CHECK(cudaFreeAsync(a, stream));
	CHECK(cudaMemcpyAsync(y.data(), b, bytes, cudaMemcpyDefault, stream));
	CHECK(cudaFreeAsync(b, stream));
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int times = 0; times < 2; times++) {
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaStreamSynchronize(stream));
		for (int i = 0; i < n; i++)
			EXPECT(y[i] == 2 * i);
		y.assign(n, 0);
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));

	int *left;
	exec = described(x.data(), y.data(), &left);
	for (int times = 0; times < 2; times++) {
		CHECK(cudaGraphLaunch(exec, stream));
		twice<<<(n + 127) / 128, 128, 0, stream>>>(left, left, n);
		CHECK(cudaStreamSynchronize(stream));
		for (int i = 0; i < n; i++)
			EXPECT(y[i] == 2 * i);
		CHECK(cudaMemcpy(y.data(), left, bytes, cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++)
			EXPECT(y[i] == 4 * i);
		FAILS(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream)); // the memory is still allocated
		if (times == 0)
			CHECK(cudaFree(left));
		else
			CHECK(cudaFreeAsync(left, stream));
	}
	CHECK(cudaGraphExecDestroy(exec));
	unsigned long long reserved;
	CHECK(cudaDeviceGraphMemTrim(0));
	CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
	EXPECT(reserved == 0);
	puts("ok");
}
