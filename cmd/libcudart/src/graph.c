// Graphs, as far as the driver supports them.

#include "cudart.h"

#include <string.h>

#define NODE_PARAMETERS cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n

static int kernel_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *to)
{
	CUkernel k;
	if (p == NULL)
		return invalidValue;
	int r = kernel_of(p->func, &k);
	if (r == 0)
		r = check_extent(p->gridDim, p->blockDim);
	if (r == 0)
		*to = (CUDA_KERNEL_NODE_PARAMS){
			k, p->gridDim.x, p->gridDim.y, p->gridDim.z, p->blockDim.x, p->blockDim.y, p->blockDim.z,
			p->sharedMemBytes, p->kernelParams, p->extra, 0, 0,
		};
	return r;
}

static CUDA_MEMSET_NODE_PARAMS memset_params(const struct cudaMemsetParams *p)
{
	return (CUDA_MEMSET_NODE_PARAMS){address(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
}

// context returns the current context, for nodes that need one.
static CUcontext current_context(void)
{
	CUcontext c = 0;
	cuCtxGetCurrent(&c);
	return c;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) { RETURN(cuGraphCreate(graph, flags)); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { RETURN(cuGraphDestroy(graph)); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { RETURN(cuGraphExecDestroy(exec)); }
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) { RETURN(cuGraphDebugDotPrint(graph, (char *)path, flags)); }
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) { RETURN(cuGraphClone(clone, graph)); }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) { RETURN(cuGraphGetNodes(graph, nodes, n)); }
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) { RETURN(cuGraphGetRootNodes(graph, nodes, n)); }
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone) { RETURN(cuGraphNodeFindInClone(found, node, clone)); }
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { RETURN(cuGraphDestroyNode(node)); }
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) { RETURN(cuGraphNodeSetEnabled(exec, node, enabled)); }
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled) { RETURN(cuGraphNodeGetEnabled(exec, node, enabled)); }
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) { RETURN(cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info)); }
cudaError_t cudaGraphAddChildGraphNode(NODE_PARAMETERS, cudaGraph_t child) { RETURN(cuGraphAddChildGraphNode(node, graph, (CUgraphNode *)after, n, child)); }
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) { RETURN(cuGraphChildGraphNodeGetGraph(node, graph)); }
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p) { RETURN(cuGraphHostNodeSetParams(node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *p) { RETURN(cuGraphExecHostNodeSetParams(exec, node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p) { RETURN(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) { RETURN(cuGraphExecChildGraphNodeSetParams(exec, node, child)); }
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) { RETURN(cuGraphExecGetFlags(exec, (uint64_t *)flags)); }
cudaError_t cudaGraphAddEventRecordNode(NODE_PARAMETERS, cudaEvent_t event) { RETURN(cuGraphAddEventRecordNode(node, graph, (CUgraphNode *)after, n, event)); }
cudaError_t cudaGraphAddEventWaitNode(NODE_PARAMETERS, cudaEvent_t event) { RETURN(cuGraphAddEventWaitNode(node, graph, (CUgraphNode *)after, n, event)); }
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) { RETURN(cuGraphEventRecordNodeGetEvent(node, event)); }
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) { RETURN(cuGraphEventWaitNodeGetEvent(node, event)); }
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) { RETURN(cuGraphEventRecordNodeSetEvent(node, event)); }
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) { RETURN(cuGraphEventWaitNodeSetEvent(node, event)); }
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) { RETURN(cuGraphExecEventRecordNodeSetEvent(exec, node, event)); }
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) { RETURN(cuGraphExecEventWaitNodeSetEvent(exec, node, event)); }
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *thing, cudaHostFn_t destroy, unsigned n, unsigned flags) { RETURN(cuUserObjectCreate(object, thing, destroy, n, flags)); }
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned n) { RETURN(cuUserObjectRetain(object, n)); }
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned n) { RETURN(cuUserObjectRelease(object, n)); }
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n, unsigned flags) { RETURN(cuGraphRetainUserObject(graph, object, n, flags)); }
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n) { RETURN(cuGraphReleaseUserObject(graph, object, n)); }
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type) { RETURN(cuGraphNodeGetType(node, type)); }
cudaError_t cudaGraphAddEmptyNode(NODE_PARAMETERS) { RETURN(cuGraphAddEmptyNode(node, graph, (CUgraphNode *)after, n)); }
cudaError_t cudaGraphAddHostNode(NODE_PARAMETERS, const struct cudaHostNodeParams *p) { RETURN(cuGraphAddHostNode(node, graph, (CUgraphNode *)after, n, (CUDA_HOST_NODE_PARAMS *)p)); }

cudaError_t cudaGraphAddKernelNode(NODE_PARAMETERS, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_params(p, &k);
	return RESULT(r != 0 ? r : cuGraphAddKernelNode_v2(node, graph, (CUgraphNode *)after, n, &k));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_params(p, &k);
	return RESULT(r != 0 ? r : cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_params(p, &k);
	return RESULT(r != 0 ? r : cuGraphKernelNodeSetParams_v2(node, &k));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = p == NULL ? invalidValue : cuGraphKernelNodeGetParams_v2(node, &k);
	if (r == 0)
		*p = (struct cudaKernelNodeParams){
			(void *)function_of(k.func), {k.gridDimX, k.gridDimY, k.gridDimZ}, {k.blockDimX, k.blockDimY, k.blockDimZ},
			k.sharedMemBytes, k.kernelParams, NULL,
		};
	return RESULT(r);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute, void *value) { RETURN(cuGraphKernelNodeGetAttribute(node, attribute, value)); }
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute, const void *value) { RETURN(cuGraphKernelNodeSetAttribute(node, attribute, (void *)value)); }

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
	CUDA_MEMSET_NODE_PARAMS f;
	ENTER();
	int r = p == NULL ? invalidValue : cuGraphMemsetNodeGetParams(node, &f);
	if (r == 0)
		*p = (struct cudaMemsetParams){pointer(f.dst), f.pitch, f.value, f.elementSize, f.width, f.height};
	return RESULT(r);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return RESULT(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = memset_params(p);
	RETURN(cuGraphMemsetNodeSetParams(node, &f));
}

cudaError_t cudaGraphAddMemsetNode(NODE_PARAMETERS, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return RESULT(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = memset_params(p);
	RETURN(cuGraphAddMemsetNode(node, graph, (CUgraphNode *)after, n, &f, current_context()));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return RESULT(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = memset_params(p);
	RETURN(cuGraphExecMemsetNodeSetParams(exec, node, &f, current_context()));
}

// Copies: from a structure, of linear memory, and to or from a symbol. Each exists for a new node (ADD), for a node (SET),
// and for a node of an executable graph (EXEC).

static int copy_to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind, CUDA_MEMCPY3D *c)
{
	CUdeviceptr addr;
	int r = kind == copyDeviceToHost || kind == copyHostToHost ? invalidDirection : symbol_range(symbol, offset, bytes, &addr);
	return r != 0 ? r : copy_1d(pointer(addr), src, bytes, kind, c);
}

static int copy_from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind, CUDA_MEMCPY3D *c)
{
	CUdeviceptr addr;
	int r = kind == copyHostToDevice || kind == copyHostToHost ? invalidDirection : symbol_range(symbol, offset, bytes, &addr);
	return r != 0 ? r : copy_1d(dst, pointer(addr), bytes, kind, c);
}

// RETURN_FOR_COPY returns the result of a driver call that uses the copy c, which convert fills in.
#define RETURN_FOR_COPY(convert, call)                \
	do {                                          \
		CUDA_MEMCPY3D c;                      \
		ENTER();                              \
		int r_ = (convert);                   \
		return RESULT(r_ != 0 ? r_ : (call)); \
	} while (0)

#define ADD cuGraphAddMemcpyNode(node, graph, (CUgraphNode *)after, n, &c, current_context())
#define SET cuGraphMemcpyNodeSetParams(node, &c)
#define EXEC cuGraphExecMemcpyNodeSetParams(exec, node, &c, current_context())

cudaError_t cudaGraphAddMemcpyNode(NODE_PARAMETERS, const struct cudaMemcpy3DParms *p) { RETURN_FOR_COPY(copy_3d(p, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) { RETURN_FOR_COPY(copy_3d(p, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) { RETURN_FOR_COPY(copy_3d(p, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNode1D(NODE_PARAMETERS, void *dst, const void *src, size_t bytes, int kind) { RETURN_FOR_COPY(copy_1d(dst, src, bytes, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t bytes, int kind) { RETURN_FOR_COPY(copy_1d(dst, src, bytes, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src, size_t bytes, int kind) { RETURN_FOR_COPY(copy_1d(dst, src, bytes, kind, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNodeToSymbol(NODE_PARAMETERS, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_to_symbol(symbol, src, bytes, offset, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_to_symbol(symbol, src, bytes, offset, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_to_symbol(symbol, src, bytes, offset, kind, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NODE_PARAMETERS, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_from_symbol(dst, symbol, bytes, offset, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_from_symbol(dst, symbol, bytes, offset, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { RETURN_FOR_COPY(copy_from_symbol(dst, symbol, bytes, offset, kind, &c), EXEC); }

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	ENTER();
	int r = p == NULL ? invalidValue : cuGraphMemcpyNodeGetParams(node, &c);
	if (r == 0)
		convert_copy_back(&c, p);
	return RESULT(r);
}

// Allocation nodes and conditional nodes.

cudaError_t cudaGraphAddMemAllocNode(NODE_PARAMETERS, struct cudaMemAllocNodeParams *p) { RETURN(cuGraphAddMemAllocNode(node, graph, (CUgraphNode *)after, n, (CUDA_MEM_ALLOC_NODE_PARAMS *)p)); }
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p) { RETURN(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)p)); }
cudaError_t cudaGraphAddMemFreeNode(NODE_PARAMETERS, void *memory) { RETURN(cuGraphAddMemFreeNode(node, graph, (CUgraphNode *)after, n, address(memory))); }
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *memory) { RETURN(cuGraphMemFreeNodeGetParams(node, memory)); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) { RETURN(cuDeviceGetGraphMemAttribute(device, attribute, value)); }
cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) { RETURN(cuDeviceSetGraphMemAttribute(device, attribute, value)); }
cudaError_t cudaDeviceGraphMemTrim(int device) { RETURN(cuDeviceGraphMemTrim(device)); }
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned first, unsigned flags) { RETURN(cuGraphConditionalHandleCreate(handle, graph, current_context(), first, flags)); }

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { RETURN(cuGraphInstantiateWithFlags(exec, graph, flags)); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { RETURN(cuGraphInstantiateWithFlags(exec, graph, flags)); }

// convert_node_params converts the parameters of a node of any kind. same_layout reports whether the driver's structure
// has the same members for this kind.
static int convert_node_params(const struct cudaGraphNodeParams *p, CUgraphNodeParams *to, int *same_layout)
{
	*same_layout = 0;
	if (p == NULL)
		return invalidValue;
	*to = (CUgraphNodeParams){.type = p->type};
	switch (p->type) {
	case nodeKernel:
		return kernel_params(&p->kernel, &to->params.kernel);
	case nodeMemcpy:
		return copy_3d(&p->memcpy.copyParams, &to->params.memcpy.copyParams);
	case nodeMemset:
		to->params.memset = memset_params(&p->memset);
		return 0;
	}
	*same_layout = 1;
	memcpy(to->params.words, p->reserved1, sizeof p->reserved1);
	return 0;
}

// add_node adds a node of the kind in its parameters. It copies the driver's output to the caller's parameters: the
// address of an allocation, the graphs of a conditional node.
static int add_node(NODE_PARAMETERS, const cudaGraphEdgeData *edges, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int same_layout, r = convert_node_params(p, &to, &same_layout);
	if (r == 0)
		r = cuGraphAddNode_v2(node, graph, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, &to);
	if (r == 0 && same_layout)
		memcpy(p->reserved1, to.params.words, sizeof p->reserved1);
	return r;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int same_layout;
	ENTER();
	int r = convert_node_params(p, &to, &same_layout);
	return RESULT(r != 0 ? r : cuGraphNodeSetParams(node, &to));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int same_layout;
	ENTER();
	int r = convert_node_params(p, &to, &same_layout);
	return RESULT(r != 0 ? r : cuGraphExecNodeSetParams(exec, node, &to));
}

// Functions with a parameter for the data of edges: in version 12 they have the suffix _v2.

#if MAJOR == 12
#define V2(name) name##_v2
cudaError_t cudaGraphAddNode(NODE_PARAMETERS, struct cudaGraphNodeParams *p) { RETURN(add_node(node, graph, after, n, NULL, p)); }
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t from, cudaGraphNode_t to) { RETURN(cuGraphKernelNodeCopyAttributes(to, from)); }
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) { RETURN(cuGraphAddDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n)); }
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) { RETURN(cuGraphRemoveDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n)); }
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n) { RETURN(cuGraphGetEdges_v2(graph, from, to, NULL, n)); }
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *n) { RETURN(cuGraphNodeGetDependencies_v2(node, list, NULL, n)); }
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *n) { RETURN(cuGraphNodeGetDependentNodes_v2(node, list, NULL, n)); }
#else
#define V2(name) name
cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle *handle, cudaGraph_t graph, uint64_t execution, unsigned first, unsigned flags) { RETURN(execution != 0 ? notSupported : cuGraphConditionalHandleCreate(handle, graph, current_context(), first, flags)); }
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) { RETURN(cuGraphKernelNodeCopyAttributes(to, from)); }
#endif

cudaError_t V2(cudaGraphAddNode)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *p)
{
	RETURN(add_node(node, graph, after, n, edges, p));
}
cudaError_t V2(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n)
{
	RETURN(cuGraphAddDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n)
{
	RETURN(cuGraphRemoveDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n)
{
	RETURN(cuGraphGetEdges_v2(graph, from, to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *edges, size_t *n)
{
	RETURN(cuGraphNodeGetDependencies_v2(node, list, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *edges, size_t *n)
{
	RETURN(cuGraphNodeGetDependentNodes_v2(node, list, (CUgraphEdgeData *)edges, n));
}
