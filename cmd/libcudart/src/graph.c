// Graphs, as far as the driver supports them.

#include "cudart.h"

#include <string.h>

#define NODE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n

static int kernel_node(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *to)
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

static CUDA_MEMSET_NODE_PARAMS fill_node(const struct cudaMemsetParams *p)
{
	return (CUDA_MEMSET_NODE_PARAMS){address(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
}

// context returns the current context, for nodes that need one.
static CUcontext context(void)
{
	CUcontext c = 0;
	cuCtxGetCurrent(&c);
	return c;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) { IN(cuGraphCreate(graph, flags)); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { IN(cuGraphDestroy(graph)); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { IN(cuGraphExecDestroy(exec)); }
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) { IN(cuGraphDebugDotPrint(graph, (char *)path, flags)); }
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) { IN(cuGraphClone(clone, graph)); }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) { IN(cuGraphGetNodes(graph, nodes, n)); }
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) { IN(cuGraphGetRootNodes(graph, nodes, n)); }
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone) { IN(cuGraphNodeFindInClone(found, node, clone)); }
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { IN(cuGraphDestroyNode(node)); }
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) { IN(cuGraphNodeSetEnabled(exec, node, enabled)); }
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled) { IN(cuGraphNodeGetEnabled(exec, node, enabled)); }
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) { IN(cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info)); }
cudaError_t cudaGraphAddChildGraphNode(NODE, cudaGraph_t child) { IN(cuGraphAddChildGraphNode(node, graph, (CUgraphNode *)after, n, child)); }
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) { IN(cuGraphChildGraphNodeGetGraph(node, graph)); }
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p) { IN(cuGraphHostNodeSetParams(node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *p) { IN(cuGraphExecHostNodeSetParams(exec, node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p) { IN(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)p)); }
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) { IN(cuGraphExecChildGraphNodeSetParams(exec, node, child)); }
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) { IN(cuGraphExecGetFlags(exec, (uint64_t *)flags)); }
cudaError_t cudaGraphAddEventRecordNode(NODE, cudaEvent_t event) { IN(cuGraphAddEventRecordNode(node, graph, (CUgraphNode *)after, n, event)); }
cudaError_t cudaGraphAddEventWaitNode(NODE, cudaEvent_t event) { IN(cuGraphAddEventWaitNode(node, graph, (CUgraphNode *)after, n, event)); }
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) { IN(cuGraphEventRecordNodeGetEvent(node, event)); }
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) { IN(cuGraphEventWaitNodeGetEvent(node, event)); }
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) { IN(cuGraphEventRecordNodeSetEvent(node, event)); }
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) { IN(cuGraphEventWaitNodeSetEvent(node, event)); }
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) { IN(cuGraphExecEventRecordNodeSetEvent(exec, node, event)); }
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) { IN(cuGraphExecEventWaitNodeSetEvent(exec, node, event)); }
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *thing, cudaHostFn_t destroy, unsigned n, unsigned flags) { IN(cuUserObjectCreate(object, thing, destroy, n, flags)); }
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned n) { IN(cuUserObjectRetain(object, n)); }
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned n) { IN(cuUserObjectRelease(object, n)); }
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n, unsigned flags) { IN(cuGraphRetainUserObject(graph, object, n, flags)); }
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned n) { IN(cuGraphReleaseUserObject(graph, object, n)); }
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type) { IN(cuGraphNodeGetType(node, type)); }
cudaError_t cudaGraphAddEmptyNode(NODE) { IN(cuGraphAddEmptyNode(node, graph, (CUgraphNode *)after, n)); }
cudaError_t cudaGraphAddHostNode(NODE, const struct cudaHostNodeParams *p) { IN(cuGraphAddHostNode(node, graph, (CUgraphNode *)after, n, (CUDA_HOST_NODE_PARAMS *)p)); }

cudaError_t cudaGraphAddKernelNode(NODE, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_node(p, &k);
	return DONE(r != 0 ? r : cuGraphAddKernelNode_v2(node, graph, (CUgraphNode *)after, n, &k));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_node(p, &k);
	return DONE(r != 0 ? r : cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS k;
	ENTER();
	int r = kernel_node(p, &k);
	return DONE(r != 0 ? r : cuGraphKernelNodeSetParams_v2(node, &k));
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
	return DONE(r);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute, void *value) { IN(cuGraphKernelNodeGetAttribute(node, attribute, value)); }
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute, const void *value) { IN(cuGraphKernelNodeSetAttribute(node, attribute, (void *)value)); }

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
	CUDA_MEMSET_NODE_PARAMS f;
	ENTER();
	int r = p == NULL ? invalidValue : cuGraphMemsetNodeGetParams(node, &f);
	if (r == 0)
		*p = (struct cudaMemsetParams){pointer(f.dst), f.pitch, f.value, f.elementSize, f.width, f.height};
	return DONE(r);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return DONE(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = fill_node(p);
	IN(cuGraphMemsetNodeSetParams(node, &f));
}

cudaError_t cudaGraphAddMemsetNode(NODE, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return DONE(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = fill_node(p);
	IN(cuGraphAddMemsetNode(node, graph, (CUgraphNode *)after, n, &f, context()));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
	if (p == NULL)
		return DONE(invalidValue);
	CUDA_MEMSET_NODE_PARAMS f = fill_node(p);
	IN(cuGraphExecMemsetNodeSetParams(exec, node, &f, context()));
}

// Copies: as a description, of linear memory, and to or from a symbol; each for a new node, for a node, and for a node
// of an executable graph.

static int to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind, CUDA_MEMCPY3D *c)
{
	CUdeviceptr at;
	int r = kind == copyDeviceToHost || kind == copyHostToHost ? invalidDirection : part_of(symbol, offset, bytes, &at);
	return r != 0 ? r : copy_1d(pointer(at), src, bytes, kind, c);
}

static int from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind, CUDA_MEMCPY3D *c)
{
	CUdeviceptr at;
	int r = kind == copyHostToDevice || kind == copyHostToHost ? invalidDirection : part_of(symbol, offset, bytes, &at);
	return r != 0 ? r : copy_1d(dst, pointer(at), bytes, kind, c);
}

// COPY ends a function with a driver call on a copy c.
#define COPY(described, call)                \
	do {                                 \
		CUDA_MEMCPY3D c;             \
		ENTER();                     \
		int r_ = (described);        \
		return DONE(r_ != 0 ? r_ : (call)); \
	} while (0)

#define ADD cuGraphAddMemcpyNode(node, graph, (CUgraphNode *)after, n, &c, context())
#define SET cuGraphMemcpyNodeSetParams(node, &c)
#define EXEC cuGraphExecMemcpyNodeSetParams(exec, node, &c, context())

cudaError_t cudaGraphAddMemcpyNode(NODE, const struct cudaMemcpy3DParms *p) { COPY(copy_3d(p, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) { COPY(copy_3d(p, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) { COPY(copy_3d(p, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNode1D(NODE, void *dst, const void *src, size_t bytes, int kind) { COPY(copy_1d(dst, src, bytes, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t bytes, int kind) { COPY(copy_1d(dst, src, bytes, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src, size_t bytes, int kind) { COPY(copy_1d(dst, src, bytes, kind, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNodeToSymbol(NODE, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { COPY(to_symbol(symbol, src, bytes, offset, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { COPY(to_symbol(symbol, src, bytes, offset, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *src, size_t bytes, size_t offset, int kind) { COPY(to_symbol(symbol, src, bytes, offset, kind, &c), EXEC); }

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NODE, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { COPY(from_symbol(dst, symbol, bytes, offset, kind, &c), ADD); }
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { COPY(from_symbol(dst, symbol, bytes, offset, kind, &c), SET); }
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *symbol, size_t bytes, size_t offset, int kind) { COPY(from_symbol(dst, symbol, bytes, offset, kind, &c), EXEC); }

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	ENTER();
	int r = p == NULL ? invalidValue : cuGraphMemcpyNodeGetParams(node, &c);
	if (r == 0)
		copy_of(&c, p);
	return DONE(r);
}

// Allocation nodes and conditional nodes.

cudaError_t cudaGraphAddMemAllocNode(NODE, struct cudaMemAllocNodeParams *p) { IN(cuGraphAddMemAllocNode(node, graph, (CUgraphNode *)after, n, (CUDA_MEM_ALLOC_NODE_PARAMS *)p)); }
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p) { IN(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)p)); }
cudaError_t cudaGraphAddMemFreeNode(NODE, void *memory) { IN(cuGraphAddMemFreeNode(node, graph, (CUgraphNode *)after, n, address(memory))); }
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *memory) { IN(cuGraphMemFreeNodeGetParams(node, memory)); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) { IN(cuDeviceGetGraphMemAttribute(device, attribute, value)); }
cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) { IN(cuDeviceSetGraphMemAttribute(device, attribute, value)); }
cudaError_t cudaDeviceGraphMemTrim(int device) { IN(cuDeviceGraphMemTrim(device)); }
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned first, unsigned flags) { IN(cuGraphConditionalHandleCreate(handle, graph, context(), first, flags)); }

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { IN(cuGraphInstantiateWithFlags(exec, graph, flags)); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { IN(cuGraphInstantiateWithFlags(exec, graph, flags)); }

// node_params converts the parameters of a node of any kind. alike reports whether the driver's structure has the same
// members for this kind.
static int node_params(const struct cudaGraphNodeParams *p, CUgraphNodeParams *to, int *alike)
{
	*alike = 0;
	if (p == NULL)
		return invalidValue;
	*to = (CUgraphNodeParams){.type = p->type};
	switch (p->type) {
	case nodeKernel:
		return kernel_node(&p->kernel, &to->params.kernel);
	case nodeMemcpy:
		return copy_3d(&p->memcpy.copyParams, &to->params.memcpy.copyParams);
	case nodeMemset:
		to->params.memset = fill_node(&p->memset);
		return 0;
	}
	*alike = 1;
	memcpy(to->params.words, p->reserved1, sizeof p->reserved1);
	return 0;
}

// add_node adds a node of the kind that its parameters name. It copies the driver's output to the caller: addresses of
// memory, graphs.
static int add_node(NODE, const cudaGraphEdgeData *edges, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int alike, r = node_params(p, &to, &alike);
	if (r == 0)
		r = cuGraphAddNode_v2(node, graph, (CUgraphNode *)after, (CUgraphEdgeData *)edges, n, &to);
	if (r == 0 && alike)
		memcpy(p->reserved1, to.params.words, sizeof p->reserved1);
	return r;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int alike;
	ENTER();
	int r = node_params(p, &to, &alike);
	return DONE(r != 0 ? r : cuGraphNodeSetParams(node, &to));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
	CUgraphNodeParams to;
	int alike;
	ENTER();
	int r = node_params(p, &to, &alike);
	return DONE(r != 0 ? r : cuGraphExecNodeSetParams(exec, node, &to));
}

// Functions with a parameter for the data of edges: in version 12 they have the suffix _v2.

#if MAJOR == 12
#define V2(name) name##_v2
cudaError_t cudaGraphAddNode(NODE, struct cudaGraphNodeParams *p) { IN(add_node(node, graph, after, n, NULL, p)); }
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t from, cudaGraphNode_t to) { IN(cuGraphKernelNodeCopyAttributes(to, from)); }
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) { IN(cuGraphAddDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n)); }
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) { IN(cuGraphRemoveDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, NULL, n)); }
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n) { IN(cuGraphGetEdges_v2(graph, from, to, NULL, n)); }
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *n) { IN(cuGraphNodeGetDependencies_v2(node, list, NULL, n)); }
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *n) { IN(cuGraphNodeGetDependentNodes_v2(node, list, NULL, n)); }
#else
#define V2(name) name
cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle *handle, cudaGraph_t graph, uint64_t execution, unsigned first, unsigned flags) { IN(execution != 0 ? notSupported : cuGraphConditionalHandleCreate(handle, graph, context(), first, flags)); }
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) { IN(cuGraphKernelNodeCopyAttributes(to, from)); }
#endif

cudaError_t V2(cudaGraphAddNode)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *p)
{
	IN(add_node(node, graph, after, n, edges, p));
}
cudaError_t V2(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n)
{
	IN(cuGraphAddDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n)
{
	IN(cuGraphRemoveDependencies_v2(graph, (CUgraphNode *)from, (CUgraphNode *)to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n)
{
	IN(cuGraphGetEdges_v2(graph, from, to, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *edges, size_t *n)
{
	IN(cuGraphNodeGetDependencies_v2(node, list, (CUgraphEdgeData *)edges, n));
}
cudaError_t V2(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *edges, size_t *n)
{
	IN(cuGraphNodeGetDependentNodes_v2(node, list, (CUgraphEdgeData *)edges, n));
}
