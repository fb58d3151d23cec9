package main

// This file exports event nodes, memory nodes, conditional nodes, and the calls that describe nodes of any kind by a
// common structure.

/*
#include <stdlib.h>

#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

// Event nodes: each call exists twice, for nodes that record and for nodes that wait.

//export cuGraphAddEventRecordNode
func cuGraphAddEventRecordNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, event C.CUevent) C.CUresult {
	return addNode("cuGraphAddEventRecordNode", node, after, n, &event, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddEventNode(driver.Handle(graph), after, driver.EventRecordNode, driver.Handle(event))
	})
}

//export cuGraphEventRecordNodeGetEvent
func cuGraphEventRecordNodeGetEvent(node C.CUgraphNode, event *C.CUevent) C.CUresult {
	return storeThreadValue("cuGraphEventRecordNodeGetEvent", event, func(t *driver.Thread) (driver.Handle, error) {
		return t.GraphEventNodeGetEvent(driver.Handle(node), driver.EventRecordNode)
	})
}

//export cuGraphEventRecordNodeSetEvent
func cuGraphEventRecordNodeSetEvent(node C.CUgraphNode, event C.CUevent) C.CUresult {
	return callThread("cuGraphEventRecordNodeSetEvent", func(t *driver.Thread) error {
		return t.GraphEventNodeSetEvent(driver.Handle(node), driver.EventRecordNode, driver.Handle(event))
	})
}

//export cuGraphExecEventRecordNodeSetEvent
func cuGraphExecEventRecordNodeSetEvent(exec C.CUgraphExec, node C.CUgraphNode, event C.CUevent) C.CUresult {
	return callThread("cuGraphExecEventRecordNodeSetEvent", func(t *driver.Thread) error {
		return t.GraphExecEventNodeSetEvent(driver.Handle(exec), driver.Handle(node), driver.EventRecordNode, driver.Handle(event))
	})
}

//export cuGraphAddEventWaitNode
func cuGraphAddEventWaitNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, event C.CUevent) C.CUresult {
	return addNode("cuGraphAddEventWaitNode", node, after, n, &event, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddEventNode(driver.Handle(graph), after, driver.EventWaitNode, driver.Handle(event))
	})
}

//export cuGraphEventWaitNodeGetEvent
func cuGraphEventWaitNodeGetEvent(node C.CUgraphNode, event *C.CUevent) C.CUresult {
	return storeThreadValue("cuGraphEventWaitNodeGetEvent", event, func(t *driver.Thread) (driver.Handle, error) {
		return t.GraphEventNodeGetEvent(driver.Handle(node), driver.EventWaitNode)
	})
}

//export cuGraphEventWaitNodeSetEvent
func cuGraphEventWaitNodeSetEvent(node C.CUgraphNode, event C.CUevent) C.CUresult {
	return callThread("cuGraphEventWaitNodeSetEvent", func(t *driver.Thread) error {
		return t.GraphEventNodeSetEvent(driver.Handle(node), driver.EventWaitNode, driver.Handle(event))
	})
}

//export cuGraphExecEventWaitNodeSetEvent
func cuGraphExecEventWaitNodeSetEvent(exec C.CUgraphExec, node C.CUgraphNode, event C.CUevent) C.CUresult {
	return callThread("cuGraphExecEventWaitNodeSetEvent", func(t *driver.Thread) error {
		return t.GraphExecEventNodeSetEvent(driver.Handle(exec), driver.Handle(node), driver.EventWaitNode, driver.Handle(event))
	})
}

// addMemAllocNode adds an allocation node, and stores the address of the allocation in p.
func addMemAllocNode(t *driver.Thread, graph C.CUgraph, after []driver.Handle, p *C.CUDA_MEM_ALLOC_NODE_PARAMS) (driver.Handle, error) {
	if p.poolProps.handleTypes != 0 || p.poolProps.allocType != C.int(driver.PinnedMemory) {
		return 0, driver.InvalidValue
	}
	if _, err := items(p.accessDescs, p.accessDescCount, maxItems); err != nil { // every device can access all memory
		return 0, err
	}
	node, addr, err := t.GraphAddMemAllocNode(driver.Handle(graph), after, uint64(p.bytesize), convertLocation(&p.poolProps.location))
	if err == nil {
		p.dptr = C.CUdeviceptr(addr)
	}
	return node, err
}

//export cuGraphAddMemAllocNode
func cuGraphAddMemAllocNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_MEM_ALLOC_NODE_PARAMS) C.CUresult {
	return addNode("cuGraphAddMemAllocNode", node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return addMemAllocNode(t, graph, after, p)
	})
}

//export cuGraphAddMemFreeNode
func cuGraphAddMemFreeNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, addr C.CUdeviceptr) C.CUresult {
	return addNode("cuGraphAddMemFreeNode", node, after, n, &addr, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddMemFreeNode(driver.Handle(graph), after, uint64(addr))
	})
}

//export cuGraphMemAllocNodeGetParams
func cuGraphMemAllocNodeGetParams(node C.CUgraphNode, p *C.CUDA_MEM_ALLOC_NODE_PARAMS) C.CUresult {
	return callThread("cuGraphMemAllocNodeGetParams", func(t *driver.Thread) error {
		size, dev, addr, err := t.GraphMemAllocNodeGetParams(driver.Handle(node))
		switch {
		case err != nil:
			return err
		case p == nil:
			return driver.InvalidValue
		}
		*p = C.CUDA_MEM_ALLOC_NODE_PARAMS{bytesize: C.size_t(size), dptr: C.CUdeviceptr(addr)}
		p.poolProps.allocType = C.int(driver.PinnedMemory)
		p.poolProps.location = C.CUmemLocation{_type: driver.OnDevice, id: C.int(dev)}
		return nil
	})
}

//export cuGraphMemFreeNodeGetParams
func cuGraphMemFreeNodeGetParams(node C.CUgraphNode, addr *C.CUdeviceptr) C.CUresult {
	return storeThreadValue("cuGraphMemFreeNodeGetParams", addr, func(t *driver.Thread) (uint64, error) {
		return t.GraphMemFreeNodeGetParams(driver.Handle(node))
	})
}

//export cuDeviceGetGraphMemAttribute
func cuDeviceGetGraphMemAttribute(dev C.CUdevice, attribute C.int, value unsafe.Pointer) C.CUresult {
	return storeDriverValue("cuDeviceGetGraphMemAttribute", (*C.uint64_t)(value), func(d *driver.Driver) (uint64, error) {
		return d.DeviceGetGraphMemAttribute(int(dev), driver.GraphMemoryAttribute(attribute))
	})
}

//export cuDeviceSetGraphMemAttribute
func cuDeviceSetGraphMemAttribute(dev C.CUdevice, attribute C.int, value unsafe.Pointer) C.CUresult {
	return callDriver("cuDeviceSetGraphMemAttribute", func(d *driver.Driver) error {
		if value == nil {
			return driver.InvalidValue
		}
		return d.DeviceSetGraphMemAttribute(int(dev), driver.GraphMemoryAttribute(attribute), uint64(*(*C.uint64_t)(value)))
	})
}

//export cuDeviceGraphMemTrim
func cuDeviceGraphMemTrim(dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceGraphMemTrim", func(d *driver.Driver) error { return d.DeviceGraphMemTrim(int(dev)) })
}

//export cuGraphConditionalHandleCreate
func cuGraphConditionalHandleCreate(handle *C.CUgraphConditionalHandle, graph C.CUgraph, ctx C.CUcontext, first, flags C.uint) C.CUresult {
	return storeThreadValue("cuGraphConditionalHandleCreate", handle, func(t *driver.Thread) (uint64, error) {
		return t.GraphConditionalHandleCreate(driver.Handle(graph), uint32(first), uint32(flags))
	})
}

// addConditionalNode adds a conditional node, and stores the list of its graphs in p.
func addConditionalNode(t *driver.Thread, graph C.CUgraph, after []driver.Handle, p *C.CUDA_CONDITIONAL_NODE_PARAMS) (driver.Handle, error) {
	node, bodies, clientMemory, err := t.GraphAddConditionalNode(driver.Handle(graph), after, uint64(p.handle), driver.ConditionalKind(p._type), uint32(p.size))
	if err != nil {
		return 0, err
	}
	list := clientMemory.Allocate(func() unsafe.Pointer {
		list := C.calloc(C.size_t(len(bodies)), C.sizeof_CUgraph)
		copy(unsafe.Slice((*driver.Handle)(list), len(bodies)), bodies)
		return list
	}, release)
	p.phGraph_out = (*C.CUgraph)(list)
	return node, nil
}

// addNodeOfKind implements calls that add a node of the kind in its parameters.
func addNodeOfKind(call string, node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t, p *C.CUgraphNodeParams) C.CUresult {
	return addNode(call, node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		if err := plainEdges((*C.CUgraphNode)(unsafe.Pointer(unsafe.SliceData(after))), edges, n); err != nil {
			return 0, err
		}
		to, params := driver.Handle(graph), unsafe.Pointer(&p.params)
		switch driver.NodeKind(p._type) {
		case driver.KernelNode:
			return t.GraphAddKernelNode(to, after, kernelParams((*C.CUDA_KERNEL_NODE_PARAMS)(params), 2))
		case driver.MemcpyNode:
			return t.GraphAddMemcpyNode(to, after, copy3D(&(*C.CUDA_MEMCPY_NODE_PARAMS)(params).copyParams))
		case driver.MemsetNode:
			return t.GraphAddMemsetNode(to, after, memsetParams((*C.CUDA_MEMSET_NODE_PARAMS)(params)))
		case driver.HostNode:
			h := (*C.CUDA_HOST_NODE_PARAMS)(params)
			if h.fn == nil {
				return 0, driver.InvalidValue
			}
			return t.GraphAddHostNode(to, after, hostFunction(h.fn, h.userData))
		case driver.ChildNode:
			return t.GraphAddChildGraphNode(to, after, driver.Handle(*(*C.CUgraph)(params)))
		case driver.EmptyNode:
			return t.GraphAddEmptyNode(to, after)
		case driver.EventWaitNode, driver.EventRecordNode:
			return t.GraphAddEventNode(to, after, driver.NodeKind(p._type), driver.Handle(*(*C.CUevent)(params)))
		case driver.MemAllocNode:
			return addMemAllocNode(t, graph, after, (*C.CUDA_MEM_ALLOC_NODE_PARAMS)(params))
		case driver.MemFreeNode:
			return t.GraphAddMemFreeNode(to, after, uint64(*(*C.CUdeviceptr)(params)))
		case driver.ConditionalNode:
			return addConditionalNode(t, graph, after, (*C.CUDA_CONDITIONAL_NODE_PARAMS)(params))
		}
		return 0, driver.NotSupported
	})
}

//export cuGraphAddNode
func cuGraphAddNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUgraphNodeParams) C.CUresult {
	return addNodeOfKind("cuGraphAddNode", node, graph, after, nil, n, p)
}

//export cuGraphAddNode_v2
func cuGraphAddNode_v2(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, edges *C.CUgraphEdgeData, n C.size_t, p *C.CUgraphNodeParams) C.CUresult {
	return addNodeOfKind("cuGraphAddNode_v2", node, graph, after, edges, n, p)
}

// setNodeParams implements calls that change the parameters of a node: in a graph if exec is nil, in the executable
// graph *exec otherwise.
func setNodeParams(call string, exec *C.CUgraphExec, node C.CUgraphNode, p *C.CUgraphNodeParams) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		n, params := driver.Handle(node), unsafe.Pointer(&p.params)
		kind := driver.NodeKind(p._type)
		switch kind {
		case driver.KernelNode:
			k := kernelParams((*C.CUDA_KERNEL_NODE_PARAMS)(params), 2)
			if exec == nil {
				return t.GraphKernelNodeSetParams(n, k)
			}
			return t.GraphExecKernelNodeSetParams(driver.Handle(*exec), n, k)
		case driver.MemcpyNode:
			c := copy3D(&(*C.CUDA_MEMCPY_NODE_PARAMS)(params).copyParams)
			if exec == nil {
				return t.GraphMemcpyNodeSetParams(n, c)
			}
			return t.GraphExecMemcpyNodeSetParams(driver.Handle(*exec), n, c)
		case driver.MemsetNode:
			f := memsetParams((*C.CUDA_MEMSET_NODE_PARAMS)(params))
			if exec == nil {
				return t.GraphMemsetNodeSetParams(n, f)
			}
			return t.GraphExecMemsetNodeSetParams(driver.Handle(*exec), n, f)
		case driver.HostNode:
			h := (*C.CUDA_HOST_NODE_PARAMS)(params)
			if h.fn == nil {
				return driver.InvalidValue
			}
			f := hostFunction(h.fn, h.userData)
			if exec == nil {
				return t.GraphHostNodeSetParams(n, f)
			}
			return t.GraphExecHostNodeSetParams(driver.Handle(*exec), n, f)
		case driver.EventWaitNode, driver.EventRecordNode:
			event := driver.Handle(*(*C.CUevent)(params))
			if exec == nil {
				return t.GraphEventNodeSetEvent(n, kind, event)
			}
			return t.GraphExecEventNodeSetEvent(driver.Handle(*exec), n, kind, event)
		case driver.ChildNode:
			if exec != nil {
				return t.GraphExecChildGraphNodeSetParams(driver.Handle(*exec), n, driver.Handle(*(*C.CUgraph)(params)))
			}
		}
		if actual, err := t.GraphNodeGetType(n); err != nil || actual != kind {
			return driver.InvalidValue
		}
		return driver.NotSupported
	})
}

//export cuGraphNodeSetParams
func cuGraphNodeSetParams(node C.CUgraphNode, p *C.CUgraphNodeParams) C.CUresult {
	return setNodeParams("cuGraphNodeSetParams", nil, node, p)
}

//export cuGraphExecNodeSetParams
func cuGraphExecNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUgraphNodeParams) C.CUresult {
	return setNodeParams("cuGraphExecNodeSetParams", &exec, node, p)
}
