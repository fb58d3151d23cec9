// Conditional nodes: in built graphs, in captured graphs, and nested.

#include "check.h"

__device__ int counter, marks;

__global__ void set(cudaGraphConditionalHandle handle, int value) { cudaGraphSetConditional(handle, value); }
__global__ void count(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, --counter > 0); }
__global__ void mark(int n) { marks += n; }

// add adds a node of any kind: version 13 of the function has the data of edges as a parameter.
static cudaGraphNode_t add(cudaGraph_t graph, const cudaGraphNode_t *after, cudaGraphNodeParams *params)
{
	cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&node, graph, after, nullptr, after != nullptr, params));
#else
	CHECK(cudaGraphAddNode(&node, graph, after, after != nullptr, params));
#endif
	return node;
}

static cudaGraphNode_t launch(cudaGraph_t graph, const cudaGraphNode_t *after, void *kernel, void **args)
{
	cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
	params.kernel.func = kernel;
	params.kernel.gridDim = params.kernel.blockDim = dim3(1);
	params.kernel.kernelParams = args;
	return add(graph, after, &params);
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size)
{
	cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
	params.conditional.handle = handle;
	params.conditional.type = type;
	params.conditional.size = size;
	return params;
}

static int marked(cudaGraph_t graph)
{
	int n = 0;
	CHECK(cudaMemcpyToSymbol(marks, &n, sizeof n));
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaMemcpyFromSymbol(&n, marks, sizeof n));
	return n;
}

int main()
{
	for (int value = 0; value < 5; value++) {
		cudaGraph_t graph;
		CHECK(cudaGraphCreate(&graph, 0));
		cudaGraphConditionalHandle handle;
		CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
		void *args[] = {&handle, &value};
		cudaGraphNode_t first = launch(graph, nullptr, (void *)set, args);
		cudaGraphNodeParams params = condition(handle, cudaGraphCondTypeSwitch, 4);
		cudaGraphNode_t node = add(graph, &first, &params);
		int power = 1;
		for (int i = 0; i < 4; i++, power *= 10) {
			void *n[] = {&power};
			launch(params.conditional.phGraph_out[i], nullptr, (void *)mark, n);
		}
		void *last[] = {&power};
		launch(graph, &node, (void *)mark, last);
		int want[] = {10001, 10010, 10100, 11000, 10000};
		EXPECT(marked(graph) == want[value]);
		CHECK(cudaGraphDestroy(graph));
	}

	// A loop with a captured body, and in it a node that runs its second graph.
	cudaGraph_t graph;
	CHECK(cudaGraphCreate(&graph, 0));
	cudaGraphConditionalHandle loop, last;
	CHECK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
	cudaGraphNodeParams params = condition(loop, cudaGraphCondTypeWhile, 1);
	add(graph, nullptr, &params);
	cudaGraph_t body = params.conditional.phGraph_out[0];
	CHECK(cudaGraphConditionalHandleCreate(&last, body));
	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
	mark<<<1, 1, 0, stream>>>(1);
	count<<<1, 1, 0, stream>>>(loop);
	set<<<1, 1, 0, stream>>>(last, 0);
	CHECK(cudaStreamEndCapture(stream, nullptr));
	cudaGraphNode_t nodes[3];
	size_t n = 3;
	CHECK(cudaGraphGetNodes(body, nodes, &n));
	params = condition(last, cudaGraphCondTypeIf, 2);
	add(body, &nodes[2], &params);
	int big = 100;
	void *args[] = {&big};
	launch(params.conditional.phGraph_out[1], nullptr, (void *)mark, args); // otherwise
	int rounds = 7;
	CHECK(cudaMemcpyToSymbol(counter, &rounds, sizeof rounds));
	EXPECT(marked(graph) == 707);
	cudaGraph_t clone;
	FAILS(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(stream));
	puts("ok");
}
