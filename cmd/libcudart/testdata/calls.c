// Calls without a kernel: nodes for recordings and waits, parameters of nodes, user objects of graphs, batches of
// copies, hints about managed memory. It needs no CUDA.

#include <string.h>
#include <unistd.h>

#include "client.h"

#define NODE cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t
cudaError_t cudaMalloc(void **, size_t), cudaMallocManaged(void **, size_t, unsigned), cudaMemcpy(void *, const void *, size_t, int), cudaGetLastError(void);
cudaError_t cudaStreamCreate(cudaStream_t *), cudaStreamCreateWithFlags(cudaStream_t *, unsigned), cudaStreamSynchronize(cudaStream_t), cudaStreamQuery(cudaStream_t), cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned), cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *);
cudaError_t cudaEventCreate(cudaEvent_t *), cudaEventQuery(cudaEvent_t), cudaEventSynchronize(cudaEvent_t), cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaGraphCreate(cudaGraph_t *, unsigned), cudaGraphDestroy(cudaGraph_t), cudaGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, unsigned long long), cudaGraphExecDestroy(cudaGraphExec_t), cudaGraphLaunch(cudaGraphExec_t, cudaStream_t), cudaGraphExecGetFlags(cudaGraphExec_t, unsigned long long *);
cudaError_t cudaGraphAddHostNode(NODE, const struct cudaHostNodeParams *), cudaGraphHostNodeGetParams(cudaGraphNode_t, struct cudaHostNodeParams *), cudaGraphNodeGetType(cudaGraphNode_t, int *);
cudaError_t cudaGraphAddEventRecordNode(NODE, cudaEvent_t), cudaGraphAddEventWaitNode(NODE, cudaEvent_t), cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t, cudaEvent_t *), cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t, cudaEvent_t *);
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t, cudaEvent_t), cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t), cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t, struct cudaGraphNodeParams *), cudaGraphExecNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, struct cudaGraphNodeParams *);
cudaError_t cudaGraphAddMemsetNode(NODE, const struct cudaMemsetParams *), cudaGraphAddChildGraphNode(NODE, cudaGraph_t), cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaUserObjectCreate(cudaUserObject_t *, void *, cudaHostFn_t, unsigned, unsigned), cudaUserObjectRetain(cudaUserObject_t, unsigned), cudaUserObjectRelease(cudaUserObject_t, unsigned), cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned), cudaGraphReleaseUserObject(cudaGraph_t, cudaUserObject_t, unsigned);
cudaError_t cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t), cudaMemRangeGetAttributes(void **, size_t *, int *, size_t, const void *, size_t);
#if MAJOR == 12
cudaError_t cudaGraphAddNode(NODE, struct cudaGraphNodeParams *);
cudaError_t cudaMemcpyBatchAsync(void **, void **, size_t *, size_t, struct cudaMemcpyAttributes *, size_t *, size_t, size_t *, cudaStream_t);
cudaError_t cudaMemAdvise_v2(const void *, size_t, int, struct cudaMemLocation), cudaMemPrefetchAsync_v2(const void *, size_t, struct cudaMemLocation, unsigned, cudaStream_t);
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define ADD_NODE(node, graph, after, n, p) cudaGraphAddNode(node, graph, after, n, p)
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t, struct cudaGraphNodeParams *);
cudaError_t cudaMemcpyBatchAsync(const void **, const void **, const size_t *, size_t, struct cudaMemcpyAttributes *, size_t *, size_t, cudaStream_t);
cudaError_t cudaMemcpyWithAttributesAsync(void *, const void *, size_t, struct cudaMemcpyAttributes *, cudaStream_t);
cudaError_t cudaMemAdvise(const void *, size_t, int, struct cudaMemLocation), cudaMemPrefetchAsync(const void *, size_t, struct cudaMemLocation, unsigned, cudaStream_t);
#define ADD_NODE(node, graph, after, n, p) cudaGraphAddNode(node, graph, after, NULL, n, p)
#endif

enum { invalidValue = 1, notReady = 600, notSupported = 801 };
enum { hostNode = 3, waitNode = 6, recordNode = 7 }; // cudaGraphNodeType

static volatile int released, called;

static void hold(void *p)
{
	(void)p;
	while (!released)
		usleep(1000);
}

static void count(void *p) { called += *(int *)p; }

static void events(void)
{
	cudaStream_t s, other;
	cudaEvent_t e, f, got;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t wait, record, held, first, last;
	int type, one = 1;
	OK(cudaStreamCreateWithFlags(&s, 1));
	OK(cudaStreamCreateWithFlags(&other, 1));
	OK(cudaEventCreate(&e));
	OK(cudaEventCreate(&f));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, e));
	OK(cudaGraphAddHostNode(&first, graph, &wait, 1, &(struct cudaHostNodeParams){count, &one}));
	OK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, f));
	OK(cudaGraphNodeGetType(wait, &type));
	IS(waitNode, type);
	OK(cudaGraphNodeGetType(record, &type));
	IS(recordNode, type);
	OK(cudaGraphAddHostNode(&last, graph, &record, 1, &(struct cudaHostNodeParams){count, &one}));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cudaLaunchHostFunc(other, hold, NULL));
	OK(cudaEventRecord(e, other));
	OK(cudaGraphLaunch(exec, s));
	IS(notReady, cudaEventQuery(f));
	IS(notReady, cudaGetLastError());
	IS(0, called);
	released = 1;
	OK(cudaEventSynchronize(f));
	HOLDS(called >= 1);
	OK(cudaStreamSynchronize(s));
	IS(2, called);

	// The events of nodes can be replaced.
	OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
	HOLDS(got == e);
	OK(cudaGraphEventRecordNodeGetEvent(record, &got));
	HOLDS(got == f);
	IS(invalidValue, cudaGraphEventRecordNodeGetEvent(wait, &got));
	IS(invalidValue, cudaGetLastError());
	OK(cudaGraphEventWaitNodeSetEvent(wait, f));
	OK(cudaGraphEventRecordNodeSetEvent(record, e));
	OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
	HOLDS(got == f);
	released = 0;
	OK(cudaLaunchHostFunc(other, hold, NULL));
	OK(cudaEventRecord(e, other));
	OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, f)); // f was recorded and has ended
	OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, e));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaEventSynchronize(e)); // waits for the graph's record, not for an earlier record
	IS(notReady, cudaStreamQuery(other));
	released = 1;
	OK(cudaStreamSynchronize(other));

	// Nodes can be made from the common structure for all kinds.
	struct cudaGraphNodeParams p = {.type = recordNode, .eventRecord = {f}};
	OK(ADD_NODE(&held, graph, NULL, 0, &p));
	OK(cudaGraphEventRecordNodeGetEvent(held, &got));
	HOLDS(got == f);
	p.eventRecord.event = e;
	OK(cudaGraphNodeSetParams(held, &p));
	OK(cudaGraphEventRecordNodeGetEvent(held, &got));
	HOLDS(got == e);
	p.type = waitNode;
	IS(invalidValue, cudaGraphNodeSetParams(held, &p));
	IS(invalidValue, cudaGetLastError());
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

static void nodes(void)
{
	cudaStream_t s;
	cudaGraph_t graph, child, others;
	cudaGraphExec_t exec;
	cudaGraphNode_t host, fill, inner, parent;
	int one = 1, ten = 10, *x, got[2];
	unsigned long long flags;
	struct cudaHostNodeParams h;
	OK(cudaStreamCreate(&s));
	OK(cudaMalloc((void **)&x, 8));
	struct cudaMemsetParams word = {x, 4, 5, 4, 1, 1};
	OK(cudaGraphCreate(&child, 0));
	OK(cudaGraphAddMemsetNode(&inner, child, NULL, 0, &word));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddHostNode(&host, graph, NULL, 0, &(struct cudaHostNodeParams){count, &one}));
	OK(cudaGraphHostNodeGetParams(host, &h));
	HOLDS(h.fn == count && h.userData == &one);
	OK(cudaGraphAddChildGraphNode(&parent, graph, &host, 1, child));
	word.dst = x + 1;
	OK(cudaGraphAddMemsetNode(&fill, graph, &parent, 1, &word));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 8));
	OK(cudaGraphExecGetFlags(exec, &flags));
	IS(8, (int)flags);
	called = 0;
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(got, x, 8, copyDefault));
	HOLDS(called == 1 && got[0] == 5 && got[1] == 5);

	// The function, the fill and the child of an executable graph can be replaced.
	struct cudaGraphNodeParams p = {.type = hostNode, .host = {count, &ten}};
	OK(cudaGraphExecNodeSetParams(exec, host, &p));
	word.value = 6;
	p = (struct cudaGraphNodeParams){.type = nodeMemset, .memset = word};
	OK(cudaGraphExecNodeSetParams(exec, fill, &p));
	OK(cudaGraphCreate(&others, 0));
	word.dst = x;
	word.value = 7;
	OK(cudaGraphAddMemsetNode(&inner, others, NULL, 0, &word));
	OK(cudaGraphExecChildGraphNodeSetParams(exec, parent, others));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(got, x, 8, copyDefault));
	HOLDS(called == 11 && got[0] == 7 && got[1] == 6);
	OK(cudaGraphAddMemsetNode(&inner, others, &inner, 1, &word));
	IS(invalidValue, cudaGraphExecChildGraphNodeSetParams(exec, parent, others)); // others has two nodes
	IS(invalidValue, cudaGraphExecChildGraphNodeSetParams(exec, host, child));
	IS(invalidValue, cudaGetLastError());
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

// A user object exists as long as it has references.
static void things(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaUserObject_t object;
	int one = 1;
	called = 0;
	OK(cudaUserObjectCreate(&object, &one, count, 1, 1));
	IS(invalidValue, cudaUserObjectCreate(&object, &one, NULL, 1, 1));
	IS(invalidValue, cudaGetLastError());
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaUserObjectRetain(object, 2));
	OK(cudaGraphRetainUserObject(graph, object, 2, 1)); // moves the caller's references
	OK(cudaGraphReleaseUserObject(graph, object, 1));
	OK(cudaUserObjectRelease(object, 1));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	usleep(20000);
	IS(0, called);
	OK(cudaGraphExecDestroy(exec));
	for (int i = 0; i < 5000 && called == 0; i++)
		usleep(1000);
	IS(1, called);
}

static cudaError_t copies(int *dsts[], int *srcs[], size_t *sizes, size_t n, struct cudaMemcpyAttributes *a, size_t *from, size_t k, size_t *failed, cudaStream_t s)
{
#if MAJOR == 12
	return cudaMemcpyBatchAsync((void **)dsts, (void **)srcs, sizes, n, a, from, k, failed, s);
#else
	(void)failed;
	return cudaMemcpyBatchAsync((const void **)dsts, (const void **)srcs, sizes, n, a, from, k, s);
#endif
}

static void batches(void)
{
	cudaStream_t s;
	int *x, *y, host[4] = {1, 2, 3, 4}, got[4] = {0};
	OK(cudaStreamCreate(&s));
	OK(cudaMalloc((void **)&x, 16));
	OK(cudaMalloc((void **)&y, 16));
	struct cudaMemcpyAttributes a[2] = {{.srcAccessOrder = 2}, {.srcAccessOrder = 1}};
	int *dsts[] = {x, x + 2, y}, *srcs[] = {host, host + 2, host};
	size_t sizes[] = {8, 8, 16}, from[] = {0, 2}, failed = 7;
	released = 0;
	OK(cudaLaunchHostFunc(s, hold, NULL)); // the next copies read their sources without waiting for it
	OK(copies(dsts, srcs, sizes, 2, a, from, 1, &failed, s));
	released = 1;
	OK(copies(dsts, srcs, sizes, 3, a, from, 2, &failed, s));
	memset(host, 0, sizeof host);
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(got, x, 16, copyDefault));
	HOLDS(got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 4);
	OK(cudaMemcpy(got, y, 16, copyDefault));
	HOLDS(got[3] == 4);
	sizes[2] = 32;
	IS(invalidValue, copies(dsts, srcs, sizes, 3, a, from, 2, &failed, s));
#if MAJOR == 12
	IS(2, (int)failed);
#else
	int nine = 9;
	OK(cudaMemcpyWithAttributesAsync(y, &nine, 4, a, s));
	nine = 0;
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(got, y, 4, copyDefault));
	IS(9, got[0]);
#endif
	sizes[2] = 16;
	IS(invalidValue, copies(dsts, srcs, sizes, 3, a, from, 2, &failed, 0));
	IS(invalidValue, copies(dsts, srcs, sizes, 3, a, from + 1, 1, &failed, s));
	IS(invalidValue, copies(dsts, srcs, sizes, 3, a, from, 4, &failed, s));
	a[1].srcAccessOrder = 0;
	IS(invalidValue, copies(dsts, srcs, sizes, 3, a, from, 2, &failed, s));
	IS(invalidValue, cudaGetLastError());
}

static void hints(void)
{
	enum { setReadMostly = 1, setPreferred = 3, setAccessedBy = 5 }; // cudaMemoryAdvise
	enum { readMostly = 1, preferred, accessedBy, lastPrefetch };    // cudaMemRangeAttribute
	struct cudaMemLocation device = {1, 0}, host = {2, 0};
	cudaStream_t s;
	int is, by[3], *x;
	OK(cudaStreamCreate(&s));
	OK(cudaMallocManaged((void **)&x, 8192, 1));
	OK(cudaMemAdvise(x, 4096, setReadMostly, device));
	OK(cudaMemAdvise(x, 8192, setPreferred, host));
	OK(cudaMemAdvise(x, 8192, setAccessedBy, device));
	OK(cudaMemPrefetchAsync(x, 8192, device, 0, s));
	OK(cudaMemRangeGetAttribute(&is, 4, readMostly, x, 4096));
	IS(1, is);
	OK(cudaMemRangeGetAttribute(&is, 4, readMostly, x, 8192));
	IS(0, is);
	OK(cudaMemRangeGetAttribute(&is, 4, lastPrefetch, x, 8192));
	IS(0, is);
	void *all[] = {&is, by};
	OK(cudaMemRangeGetAttributes(all, (size_t[]){4, sizeof by}, (int[]){preferred, accessedBy}, 2, x, 8192));
	HOLDS(is == -1 && by[0] == 0 && by[1] == -2 && by[2] == -2);
	IS(invalidValue, cudaMemRangeGetAttribute(by, 8, preferred, x, 8192));
	IS(invalidValue, cudaMemRangeGetAttribute(by, 3, accessedBy, x, 8192));
	IS(invalidValue, cudaMemRangeGetAttribute(&is, 4, 77, x, 8192));
	IS(invalidValue, cudaGetLastError());
}

int main(void)
{
	events();
	nodes();
	things();
	batches();
	hints();
	puts("ok");
	return 0;
}
