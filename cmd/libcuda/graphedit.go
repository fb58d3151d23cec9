package main

// This file exports queries and changes of graphs.

/*
#include <stdlib.h>

#include "cuda_types.h"
*/
import "C"

import (
	"context"
	"unsafe"

	"gemu/driver"
	"gemu/internal/wholefile"
)

// plainEdges checks a list of n dependencies. Their data, if any, must describe plain edges, of which each is a node
// that waits for the end of another.
func plainEdges(list *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t) error {
	if n > 0 && list == nil || n > maxItems {
		return driver.InvalidValue
	}
	if edges != nil {
		for _, e := range unsafe.Slice(edges, int(n)) {
			if e != (C.CUgraphEdgeData{}) {
				return driver.NotSupported
			}
		}
	}
	return nil
}

// storeNodes stores a list of nodes in an array of *n nodes, and sets *n to the number stored; without an array, to the
// length of the list. Unused elements are set to 0.
func storeNodes(to *C.CUgraphNode, n *C.size_t, list []driver.Handle) {
	if to == nil {
		*n = C.size_t(len(list))
		return
	}
	array := handles((*C.uint64_t)(to), *n)
	k := copy(array, list)
	clear(array[k:])
	*n = C.size_t(k)
}

// listNodes implements calls that list nodes. The data of edges, if requested, is zero, which describes plain edges.
func listNodes(call string, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n *C.size_t, f func(*driver.Thread) ([]driver.Handle, error)) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if n == nil || to != nil && *n > maxItems {
			return driver.InvalidValue
		}
		list, err := f(t)
		if err != nil {
			return err
		}
		storeNodes(to, n, list)
		if to != nil && edges != nil {
			clear(unsafe.Slice(edges, int(*n)))
		}
		return nil
	})
}

//export cuGraphGetNodes
func cuGraphGetNodes(graph C.CUgraph, to *C.CUgraphNode, n *C.size_t) C.CUresult {
	return listNodes("cuGraphGetNodes", to, nil, n, func(t *driver.Thread) ([]driver.Handle, error) { return t.GraphGetNodes(driver.Handle(graph)) })
}

//export cuGraphGetRootNodes
func cuGraphGetRootNodes(graph C.CUgraph, to *C.CUgraphNode, n *C.size_t) C.CUresult {
	return listNodes("cuGraphGetRootNodes", to, nil, n, func(t *driver.Thread) ([]driver.Handle, error) {
		return t.GraphGetRootNodes(driver.Handle(graph))
	})
}

//export cuGraphNodeGetDependencies_v2
func cuGraphNodeGetDependencies_v2(node C.CUgraphNode, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n *C.size_t) C.CUresult {
	return listNodes("cuGraphNodeGetDependencies_v2", to, edges, n, func(t *driver.Thread) ([]driver.Handle, error) {
		return t.GraphNodeGetDependencies(driver.Handle(node))
	})
}

//export cuGraphNodeGetDependentNodes_v2
func cuGraphNodeGetDependentNodes_v2(node C.CUgraphNode, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n *C.size_t) C.CUresult {
	return listNodes("cuGraphNodeGetDependentNodes_v2", to, edges, n, func(t *driver.Thread) ([]driver.Handle, error) {
		return t.GraphNodeGetDependentNodes(driver.Handle(node))
	})
}

//export cuGraphGetEdges_v2
func cuGraphGetEdges_v2(graph C.CUgraph, from, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n *C.size_t) C.CUresult {
	return callThread("cuGraphGetEdges_v2", func(t *driver.Thread) error {
		if n == nil || (from == nil) != (to == nil) || to != nil && *n > maxItems {
			return driver.InvalidValue
		}
		list, err := t.GraphGetEdges(driver.Handle(graph))
		if err != nil {
			return err
		}
		var begins, ends []driver.Handle
		for _, e := range list {
			begins, ends = append(begins, e.From), append(ends, e.To)
		}
		length := *n
		storeNodes(from, n, begins)
		if to != nil {
			*n = length
			storeNodes(to, n, ends)
			if edges != nil {
				clear(unsafe.Slice(edges, int(*n)))
			}
		}
		return nil
	})
}

// changeEdges implements calls that add or remove dependencies.
func changeEdges(call string, from, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t, change func(t *driver.Thread, from, to []driver.Handle) error) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if err := plainEdges(from, edges, n); err != nil {
			return err
		}
		if n > 0 && to == nil {
			return driver.InvalidValue
		}
		return change(t, handles((*C.uint64_t)(from), n), handles((*C.uint64_t)(to), n))
	})
}

//export cuGraphAddDependencies_v2
func cuGraphAddDependencies_v2(graph C.CUgraph, from, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t) C.CUresult {
	return changeEdges("cuGraphAddDependencies_v2", from, to, edges, n, func(t *driver.Thread, from, to []driver.Handle) error {
		return t.GraphAddDependencies(driver.Handle(graph), from, to)
	})
}

//export cuGraphRemoveDependencies_v2
func cuGraphRemoveDependencies_v2(graph C.CUgraph, from, to *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t) C.CUresult {
	return changeEdges("cuGraphRemoveDependencies_v2", from, to, edges, n, func(t *driver.Thread, from, to []driver.Handle) error {
		return t.GraphRemoveDependencies(driver.Handle(graph), from, to)
	})
}

//export cuGraphDestroyNode
func cuGraphDestroyNode(node C.CUgraphNode) C.CUresult {
	return callThread("cuGraphDestroyNode", func(t *driver.Thread) error { return t.GraphDestroyNode(driver.Handle(node)) })
}

//export cuGraphClone
func cuGraphClone(clone *C.CUgraph, graph C.CUgraph) C.CUresult {
	return storeThreadValue("cuGraphClone", clone, func(t *driver.Thread) (driver.Handle, error) { return t.GraphClone(driver.Handle(graph)) })
}

//export cuGraphNodeFindInClone
func cuGraphNodeFindInClone(found *C.CUgraphNode, node C.CUgraphNode, clone C.CUgraph) C.CUresult {
	return storeThreadValue("cuGraphNodeFindInClone", found, func(t *driver.Thread) (driver.Handle, error) {
		return t.GraphNodeFindInClone(driver.Handle(node), driver.Handle(clone))
	})
}

//export cuGraphAddChildGraphNode
func cuGraphAddChildGraphNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, child C.CUgraph) C.CUresult {
	return addNode("cuGraphAddChildGraphNode", node, after, n, node, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddChildGraphNode(driver.Handle(graph), after, driver.Handle(child))
	})
}

//export cuGraphChildGraphNodeGetGraph
func cuGraphChildGraphNodeGetGraph(node C.CUgraphNode, graph *C.CUgraph) C.CUresult {
	return storeThreadValue("cuGraphChildGraphNodeGetGraph", graph, func(t *driver.Thread) (driver.Handle, error) {
		return t.GraphChildGraphNodeGetGraph(driver.Handle(node))
	})
}

func setKernelNodeParams(call string, node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS, version int) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphKernelNodeSetParams(driver.Handle(node), kernelParams(p, version))
	})
}

//export cuGraphKernelNodeSetParams
func cuGraphKernelNodeSetParams(node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return setKernelNodeParams("cuGraphKernelNodeSetParams", node, p, 1)
}

//export cuGraphKernelNodeSetParams_v2
func cuGraphKernelNodeSetParams_v2(node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return setKernelNodeParams("cuGraphKernelNodeSetParams_v2", node, p, 2)
}

// exportArguments copies the arguments of a kernel node to C memory, after an array of pointers to them.
func exportArguments(l *driver.ClientMemory, args [][]byte) *unsafe.Pointer {
	const align = 16
	aligned := func(n int) int { return (n + align - 1) / align * align }
	return (*unsafe.Pointer)(l.Allocate(func() unsafe.Pointer {
		index := aligned((len(args) + 1) * 8)
		size := index
		for _, a := range args {
			size += aligned(len(a))
		}
		p := C.calloc(1, C.size_t(size))
		pointers := unsafe.Slice((*unsafe.Pointer)(p), len(args))
		for i, a := range args {
			pointers[i] = unsafe.Add(p, index)
			copy(unsafe.Slice((*byte)(pointers[i]), len(a)), a)
			index += aligned(len(a))
		}
		return p
	}, release))
}

//export cuGraphKernelNodeGetParams_v2
func cuGraphKernelNodeGetParams_v2(node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphKernelNodeGetParams_v2", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		l, args, clientMemory, err := t.GraphKernelNodeGetParams(driver.Handle(node))
		if err != nil {
			return err
		}
		*p = C.CUDA_KERNEL_NODE_PARAMS{
			_func:    C.CUfunction(l.Func),
			gridDimX: C.uint(l.Grid.X), gridDimY: C.uint(l.Grid.Y), gridDimZ: C.uint(l.Grid.Z),
			blockDimX: C.uint(l.Block.X), blockDimY: C.uint(l.Block.Y), blockDimZ: C.uint(l.Block.Z),
			sharedMemBytes: C.uint(l.Shared), kernelParams: exportArguments(clientMemory, args),
		}
		return nil
	})
}

//export cuGraphMemcpyNodeSetParams
func cuGraphMemcpyNodeSetParams(node C.CUgraphNode, p *C.CUDA_MEMCPY3D) C.CUresult {
	return callThread("cuGraphMemcpyNodeSetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphMemcpyNodeSetParams(driver.Handle(node), copy3D(p))
	})
}

//export cuGraphMemcpyNodeGetParams
func cuGraphMemcpyNodeGetParams(node C.CUgraphNode, p *C.CUDA_MEMCPY3D) C.CUresult {
	return callThread("cuGraphMemcpyNodeGetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		c, err := t.GraphMemcpyNodeGetParams(driver.Handle(node))
		if err != nil {
			return err
		}
		*p = C.CUDA_MEMCPY3D{
			srcXInBytes: C.size_t(c.Src.X), srcY: C.size_t(c.Src.Y), srcZ: C.size_t(c.Src.Z),
			srcMemoryType: C.uint(c.Src.Kind), srcHost: c.Src.Host, srcDevice: C.CUdeviceptr(c.Src.Device), srcArray: C.uint64_t(c.Src.Array),
			srcPitch: C.size_t(c.Src.Pitch), srcHeight: C.size_t(c.Src.Height),
			dstXInBytes: C.size_t(c.Dst.X), dstY: C.size_t(c.Dst.Y), dstZ: C.size_t(c.Dst.Z),
			dstMemoryType: C.uint(c.Dst.Kind), dstHost: c.Dst.Host, dstDevice: C.CUdeviceptr(c.Dst.Device), dstArray: C.uint64_t(c.Dst.Array),
			dstPitch: C.size_t(c.Dst.Pitch), dstHeight: C.size_t(c.Dst.Height),
			WidthInBytes: C.size_t(c.Width), Height: C.size_t(c.Height), Depth: C.size_t(c.Depth),
		}
		return nil
	})
}

//export cuGraphMemsetNodeSetParams
func cuGraphMemsetNodeSetParams(node C.CUgraphNode, p *C.CUDA_MEMSET_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphMemsetNodeSetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphMemsetNodeSetParams(driver.Handle(node), memsetParams(p))
	})
}

//export cuGraphMemsetNodeGetParams
func cuGraphMemsetNodeGetParams(node C.CUgraphNode, p *C.CUDA_MEMSET_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphMemsetNodeGetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		f, err := t.GraphMemsetNodeGetParams(driver.Handle(node))
		if err != nil {
			return err
		}
		*p = C.CUDA_MEMSET_NODE_PARAMS{
			dst: C.CUdeviceptr(f.Dst), pitch: C.size_t(f.Pitch), value: C.uint(f.Value), elementSize: C.uint(f.Size),
			width: C.size_t(f.Width), height: C.size_t(f.Height),
		}
		return nil
	})
}

//export cuGraphHostNodeSetParams
func cuGraphHostNodeSetParams(node C.CUgraphNode, p *C.CUDA_HOST_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphHostNodeSetParams", func(t *driver.Thread) error {
		if p == nil || p.fn == nil {
			return driver.InvalidValue
		}
		return t.GraphHostNodeSetParams(driver.Handle(node), hostFunction(p.fn, p.userData))
	})
}

//export cuGraphHostNodeGetParams
func cuGraphHostNodeGetParams(node C.CUgraphNode, p *C.CUDA_HOST_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphHostNodeGetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		f, err := t.GraphHostNodeGetParams(driver.Handle(node))
		if err != nil {
			return err
		}
		*p = C.CUDA_HOST_NODE_PARAMS{fn: C.CUhostFn(f.Function), userData: f.Data}
		return nil
	})
}

//export cuGraphExecHostNodeSetParams
func cuGraphExecHostNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_HOST_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphExecHostNodeSetParams", func(t *driver.Thread) error {
		if p == nil || p.fn == nil {
			return driver.InvalidValue
		}
		return t.GraphExecHostNodeSetParams(driver.Handle(exec), driver.Handle(node), hostFunction(p.fn, p.userData))
	})
}

//export cuGraphExecChildGraphNodeSetParams
func cuGraphExecChildGraphNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, child C.CUgraph) C.CUresult {
	return callThread("cuGraphExecChildGraphNodeSetParams", func(t *driver.Thread) error {
		return t.GraphExecChildGraphNodeSetParams(driver.Handle(exec), driver.Handle(node), driver.Handle(child))
	})
}

//export cuGraphExecGetFlags
func cuGraphExecGetFlags(exec C.CUgraphExec, flags *C.uint64_t) C.CUresult {
	return storeThreadValue("cuGraphExecGetFlags", flags, func(t *driver.Thread) (uint64, error) { return t.GraphExecGetFlags(driver.Handle(exec)) })
}

//export cuGraphNodeSetEnabled
func cuGraphNodeSetEnabled(exec C.CUgraphExec, node C.CUgraphNode, enabled C.uint) C.CUresult {
	return callThread("cuGraphNodeSetEnabled", func(t *driver.Thread) error {
		return t.GraphNodeSetEnabled(driver.Handle(exec), driver.Handle(node), enabled != 0)
	})
}

//export cuGraphNodeGetEnabled
func cuGraphNodeGetEnabled(exec C.CUgraphExec, node C.CUgraphNode, enabled *C.uint) C.CUresult {
	return storeThreadValue("cuGraphNodeGetEnabled", enabled, func(t *driver.Thread) (int, error) {
		return boolValue(t.GraphNodeGetEnabled(driver.Handle(exec), driver.Handle(node)))
	})
}

//export cuGraphExecUpdate_v2
func cuGraphExecUpdate_v2(exec C.CUgraphExec, graph C.CUgraph, info *C.CUgraphExecUpdateResultInfo) C.CUresult {
	return callThread("cuGraphExecUpdate_v2", func(t *driver.Thread) error {
		if info == nil {
			return driver.InvalidValue
		}
		update, node, err := t.GraphExecUpdate(driver.Handle(exec), driver.Handle(graph))
		*info = C.CUgraphExecUpdateResultInfo{result: C.int(update), errorNode: C.CUgraphNode(node)}
		return err
	})
}

//export cuGraphDebugDotPrint
func cuGraphDebugDotPrint(graph C.CUgraph, path *C.char, flags C.uint) C.CUresult {
	return callThread("cuGraphDebugDotPrint", func(t *driver.Thread) error {
		if path == nil {
			return driver.InvalidValue
		}
		text, err := t.GraphDot(driver.Handle(graph))
		if err != nil {
			return err
		}
		if err := wholefile.Write(context.Background(), C.GoString(path), text); err != nil {
			return driver.OperatingSystem
		}
		return nil
	})
}

//export cuGraphGetId
func cuGraphGetId(graph C.CUgraph, id *C.uint) C.CUresult {
	return storeThreadValue("cuGraphGetId", id, func(t *driver.Thread) (uint32, error) { return t.GraphGetID(driver.Handle(graph)) })
}

//export cuGraphExecGetId
func cuGraphExecGetId(exec C.CUgraphExec, id *C.uint) C.CUresult {
	return storeThreadValue("cuGraphExecGetId", id, func(t *driver.Thread) (uint32, error) { return t.GraphGetID(driver.Handle(exec)) })
}

//export cuGraphNodeGetContainingGraph
func cuGraphNodeGetContainingGraph(node C.CUgraphNode, graph *C.CUgraph) C.CUresult {
	return storeThreadValue("cuGraphNodeGetContainingGraph", graph, func(t *driver.Thread) (driver.Handle, error) { return t.GraphNodeGetGraph(driver.Handle(node)) })
}

//export cuGraphNodeGetLocalId
func cuGraphNodeGetLocalId(node C.CUgraphNode, id *C.uint) C.CUresult {
	return storeThreadValue("cuGraphNodeGetLocalId", id, func(t *driver.Thread) (uint32, error) { return t.GraphNodeGetID(driver.Handle(node)) })
}

//export cuGraphNodeGetToolsId
func cuGraphNodeGetToolsId(node C.CUgraphNode, id *C.ulonglong) C.CUresult {
	return storeThreadValue("cuGraphNodeGetToolsId", id, func(t *driver.Thread) (uint32, error) { return t.GraphNodeGetID(driver.Handle(node)) })
}
