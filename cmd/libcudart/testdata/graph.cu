// Graphs: built node by node, and captured from streams.

#include <vector>

#include "check.h"

__global__ void add(int *x, int n, int value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] += value;
}

__global__ void multiply(int *x, const int *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= y[i];
}

static const int n = 300;

static void built(cudaStream_t s)
{
	std::vector<int> in(n), out(n);
	int *x, n_ = n, value = 5, calls = 0;
	for (int i = 0; i < n; i++)
		in[i] = i;
	CHECK(cudaMalloc(&x, n * sizeof(int)));
	cudaGraph_t graph;
	cudaGraphNode_t fill, copy, kernel, back, host, empty;
	CHECK(cudaGraphCreate(&graph, 0));
	cudaMemsetParams m = {};
	m.dst = x;
	m.value = 7;
	m.elementSize = 4;
	m.width = n;
	m.height = 1;
	CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
	CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, x, in.data(), n / 2 * sizeof(int), cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddEmptyNode(&empty, graph, &copy, 1));
	void *args[] = {&x, &n_, &value};
	cudaKernelNodeParams k = {};
	k.func = (void *)add;
	k.gridDim = dim3(3);
	k.blockDim = dim3(128);
	k.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&kernel, graph, &empty, 1, &k));
	CHECK(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, out.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddDependencies(graph, &kernel, &back, nullptr, 1));
#else
	CHECK(cudaGraphAddDependencies(graph, &kernel, &back, 1));
#endif
	cudaHostNodeParams h = {[](void *p) { ++*(int *)p; }, &calls};
	CHECK(cudaGraphAddHostNode(&host, graph, &back, 1, &h));
	size_t nodes = 0;
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	EXPECT(nodes == 6);
	cudaGraphNodeType type;
	CHECK(cudaGraphNodeGetType(kernel, &type));
	EXPECT(type == cudaGraphNodeTypeKernel);
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int round = 1; round <= 2; round++) {
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
		for (int i = 0; i < n; i++)
			EXPECT(out[i] == (i < n / 2 ? i : 7) + 5);
		EXPECT(calls == round);
	}
	value = -1;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	EXPECT(out[0] == -1 && out[n - 1] == 6);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaFree(x));
}

// captured forks to a second stream by an event, and joins it again.
static void captured(cudaStream_t s)
{
	std::vector<int> in(n), out(n, -1);
	for (int i = 0; i < n; i++)
		in[i] = i + 1;
	int *x, *y;
	CHECK(cudaMalloc(&x, n * sizeof(int)));
	CHECK(cudaMalloc(&y, n * sizeof(int)));
	cudaStream_t other;
	cudaEvent_t fork, join;
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	cudaStreamCaptureStatus status;
	CHECK(cudaStreamIsCapturing(s, &status));
	EXPECT(status == cudaStreamCaptureStatusNone);
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CHECK(cudaStreamIsCapturing(s, &status));
	EXPECT(status == cudaStreamCaptureStatusActive);
	CHECK(cudaMemcpyAsync(x, in.data(), n * sizeof(int), cudaMemcpyHostToDevice, s));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(other, fork, 0));
	CHECK(cudaMemsetAsync(y, 0, n * sizeof(int), other));
	add<<<3, 128, 0, other>>>(y, n, 3);
	CHECK(cudaEventRecord(join, other));
	add<<<3, 128, 0, s>>>(x, n, 10);
	CHECK(cudaStreamWaitEvent(s, join, 0));
	multiply<<<3, 128, 0, s>>>(x, y, n);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpyAsync(out.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, s));
	cudaGraph_t graph, own;
	unsigned long long id = 0;
	const cudaGraphNode_t *after;
	size_t count;
#if CUDART_VERSION >= 13000
	const cudaGraphEdgeData *edges;
	CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &own, &after, &edges, &count));
	EXPECT(edges[0].type == 0);
#else
	CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &own, &after, &count));
#endif
	EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && own != nullptr && count == 1);
	cudaGraphNodeType type;
	CHECK(cudaGraphNodeGetType(after[0], &type));
	EXPECT(type == cudaGraphNodeTypeMemcpy);
	cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
	EXPECT(mode == cudaStreamCaptureModeGlobal);
	CHECK(cudaStreamEndCapture(s, &graph));
	EXPECT(graph == own);
	CHECK(cudaStreamIsCapturing(other, &status));
	EXPECT(status == cudaStreamCaptureStatusNone);
	size_t nodes;
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	EXPECT(nodes == 6 && out[0] == -1); // nothing has run
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < n; i++)
			in[i] = i + round;
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
		for (int i = 0; i < n; i++)
			EXPECT(out[i] == (i + round + 10) * 3);
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));

	// Forbidden calls during a capture.
	FAILS(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	FAILS(cudaErrorIllegalState, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	FAILS(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
	FAILS(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(x, 0, 4, s));
	FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(other, fork, 0));
	CHECK(cudaMemsetAsync(y, 0, 4, other));
	FAILS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &graph));
	CHECK(cudaMemsetAsync(y, 0, 4, other)); // it works again
	CHECK(cudaStreamSynchronize(other));
	FAILS(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
	CHECK(cudaStreamDestroy(other));
	CHECK(cudaEventDestroy(fork));
	CHECK(cudaEventDestroy(join));
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
}

// The parameters that functions of version 13 have in addition.
#if CUDART_VERSION >= 13000
#define EDGES nullptr,
#else
#define EDGES
#endif

__device__ int symbol[4];

__global__ void sum(int *out) { *out = symbol[0] + symbol[1] + symbol[2] + symbol[3]; }

// edited queries graphs, and changes them.
static void edited(cudaStream_t s)
{
	const int numbers[] = {1, 2, 3, 4};
	int *x, back = 0, got[4];
	CHECK(cudaMalloc(&x, sizeof(int)));
	cudaGraph_t graph, clone, inner, outer;
	cudaGraphNode_t in, kernel, out, read, list[4], to[4], found, child;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, symbol, numbers, sizeof numbers, 0, cudaMemcpyHostToDevice));
	cudaKernelNodeParams k = {};
	void *args[] = {&x};
	k.func = (void *)sum;
	k.gridDim = k.blockDim = dim3(1);
	k.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&kernel, graph, &in, 1, &k));
	CHECK(cudaGraphAddMemcpyNode1D(&out, graph, &kernel, 1, &back, x, sizeof back, cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddMemcpyNodeFromSymbol(&read, graph, &in, 1, got, symbol, sizeof got, 0, cudaMemcpyDeviceToHost));
	FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNodeFromSymbol(&found, graph, &in, 1, got, symbol, sizeof got, 4, cudaMemcpyDeviceToHost));
	size_t n = 4;
	CHECK(cudaGraphGetRootNodes(graph, list, &n));
	EXPECT(n == 1 && list[0] == in && list[1] == nullptr);
	n = 4;
	CHECK(cudaGraphGetEdges(graph, list, to, EDGES &n));
	EXPECT(n == 3 && list[0] == in && to[0] == kernel && list[1] == kernel && to[1] == out && list[2] == in && to[2] == read);
	CHECK(cudaGraphNodeGetDependencies(out, nullptr, EDGES &n));
	EXPECT(n == 1);
	n = 1;
	CHECK(cudaGraphNodeGetDependencies(out, list, EDGES &n));
	EXPECT(list[0] == kernel);
	n = 4;
	CHECK(cudaGraphNodeGetDependentNodes(in, list, EDGES &n));
	EXPECT(n == 2 && list[0] == kernel && list[1] == read);
	CHECK(cudaGraphClone(&clone, graph));
	CHECK(cudaGraphNodeFindInClone(&found, in, clone));
	const int others[] = {10, 20, 30, 40};
	CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(found, symbol, others, sizeof others, 0, cudaMemcpyHostToDevice));
	cudaKernelNodeParams same = {};
	CHECK(cudaGraphKernelNodeGetParams(kernel, &same));
	EXPECT(same.func == (void *)sum && same.gridDim.x == 1 && same.blockDim.z == 1 && *(int **)same.kernelParams[0] == x);
	cudaMemcpy3DParms copy;
	CHECK(cudaGraphMemcpyNodeGetParams(out, &copy));
	EXPECT(copy.srcPtr.ptr == x && copy.dstPtr.ptr == &back && copy.kind == cudaMemcpyDeviceToHost && copy.extent.width == sizeof back && copy.extent.depth == 1);

	cudaGraphExec_t exec;
	cudaGraphInstantiateParams how = {};
	CHECK(cudaGraphInstantiateWithParams(&exec, graph, &how));
	EXPECT(how.result_out == cudaGraphInstantiateSuccess);
	auto run = [&](int want) {
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
		EXPECT(back == want);
	};
	run(10);
	EXPECT(got[3] == 4);
	cudaGraphExecUpdateResultInfo info;
	CHECK(cudaGraphExecUpdate(exec, clone, &info));
	EXPECT(info.result == cudaGraphExecUpdateSuccess);
	run(100);
	EXPECT(got[3] == 40);
	CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, symbol, numbers, sizeof numbers, 0, cudaMemcpyHostToDevice));
	run(10);
	CHECK(cudaGraphNodeSetEnabled(exec, kernel, 0));
	unsigned enabled = 1;
	CHECK(cudaGraphNodeGetEnabled(exec, kernel, &enabled));
	EXPECT(enabled == 0);
	CHECK(cudaMemset(x, 0, sizeof(int)));
	run(0);
	CHECK(cudaGraphExecDestroy(exec));

	CHECK(cudaGraphCreate(&outer, 0));
	CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, clone));
	CHECK(cudaGraphChildGraphNodeGetGraph(child, &inner));
	n = 0;
	CHECK(cudaGraphGetNodes(inner, nullptr, &n));
	EXPECT(n == 4);
	CHECK(cudaGraphInstantiate(&exec, outer, 0));
	run(100);
	FAILS(cudaErrorInvalidResourceHandle, cudaGraphExecUpdate(exec, (cudaGraph_t)nullptr, &info));
	CHECK(cudaGraphDestroyNode(read));
	FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &info));
	EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
	CHECK(cudaGraphGetNodes(graph, nullptr, &n));
	EXPECT(n == 3);
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphRemoveDependencies(graph, &kernel, &out, nullptr, 1));
#else
	CHECK(cudaGraphRemoveDependencies(graph, &kernel, &out, 1));
#endif
	CHECK(cudaGraphNodeGetDependencies(out, nullptr, EDGES &n));
	EXPECT(n == 0);

	cudaKernelNodeAttrValue value = {}, read_back = {};
	value.cooperative = 1;
	CHECK(cudaGraphKernelNodeSetAttribute(kernel, cudaKernelNodeAttributeCooperative, &value));
	CHECK(cudaGraphKernelNodeGetAttribute(kernel, cudaKernelNodeAttributeCooperative, &read_back));
	EXPECT(read_back.cooperative == 1);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphDestroy(clone));
	CHECK(cudaFree(x));
}

int main()
{
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	built(s);
	captured(s);
	edited(s);
	CHECK(cudaStreamDestroy(s));
	puts("ok");
}
