package main

// This file exports graphs: nodes, instantiation and launches.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

//export cuGraphCreate
func cuGraphCreate(graph *C.CUgraph, flags C.uint) C.CUresult {
	return storeThreadValue("cuGraphCreate", graph, func(t *driver.Thread) (driver.Handle, error) { return t.GraphCreate(uint32(flags)) })
}

//export cuGraphDestroy
func cuGraphDestroy(graph C.CUgraph) C.CUresult {
	return callThread("cuGraphDestroy", func(t *driver.Thread) error { return t.GraphDestroy(driver.Handle(graph)) })
}

// kernelParams reads the parameters of a kernel node, of version 1 or 2 of the structure. Version 2 may name a kernel
// instead of a function.
func kernelParams(p *C.CUDA_KERNEL_NODE_PARAMS, version int) *driver.LaunchParams {
	function := p._func
	if version > 1 && function == 0 {
		function = p.kern
	}
	return &driver.LaunchParams{
		Func: driver.Handle(function), Shared: uint32(p.sharedMemBytes),
		Grid: extent(p.gridDimX, p.gridDimY, p.gridDimZ), Block: extent(p.blockDimX, p.blockDimY, p.blockDimZ),
		Params: unsafe.Pointer(p.kernelParams), Extra: unsafe.Pointer(p.extra),
	}
}

// addNode implements calls that add a node with parameters.
func addNode[P any](call string, node *C.CUgraphNode, after *C.CUgraphNode, n C.size_t, params *P, add func(t *driver.Thread, after []driver.Handle) (driver.Handle, error)) C.CUresult {
	return storeThreadValue(call, node, func(t *driver.Thread) (driver.Handle, error) {
		if params == nil {
			return 0, driver.InvalidValue
		}
		if err := plainEdges(after, nil, n); err != nil {
			return 0, err
		}
		return add(t, handles((*C.uint64_t)(after), n))
	})
}

func addKernelNode(call string, node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_KERNEL_NODE_PARAMS, version int) C.CUresult {
	return addNode(call, node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddKernelNode(driver.Handle(graph), after, kernelParams(p, version))
	})
}

//export cuGraphAddKernelNode
func cuGraphAddKernelNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return addKernelNode("cuGraphAddKernelNode", node, graph, after, n, p, 1)
}

//export cuGraphAddKernelNode_v2
func cuGraphAddKernelNode_v2(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return addKernelNode("cuGraphAddKernelNode_v2", node, graph, after, n, p, 2)
}

// The supported attributes of kernel nodes are the fields of driver.KernelAttributes. Further attributes do not change
// results: they are accepted, and their values read as zero.

//export cuGraphKernelNodeGetAttribute
func cuGraphKernelNodeGetAttribute(node C.CUgraphNode, id C.int, value *C.CUlaunchAttributeValue) C.CUresult {
	return callThread("cuGraphKernelNodeGetAttribute", func(t *driver.Thread) error {
		a, err := t.GraphKernelNodeAttributes(driver.Handle(node))
		if err != nil {
			return err
		}
		if value == nil {
			return driver.InvalidValue
		}
		*value = C.CUlaunchAttributeValue{}
		switch id {
		case attributeCooperative:
			if a.Cooperative {
				*(*C.int)(unsafe.Pointer(value)) = 1
			}
		case attributeCluster:
			*(*[3]C.uint)(unsafe.Pointer(value)) = [3]C.uint{C.uint(a.Cluster.X), C.uint(a.Cluster.Y), C.uint(a.Cluster.Z)}
		}
		return nil
	})
}

//export cuGraphKernelNodeSetAttribute
func cuGraphKernelNodeSetAttribute(node C.CUgraphNode, id C.int, value *C.CUlaunchAttributeValue) C.CUresult {
	return callThread("cuGraphKernelNodeSetAttribute", func(t *driver.Thread) error {
		if value == nil {
			return driver.InvalidValue
		}
		a, err := t.GraphKernelNodeAttributes(driver.Handle(node))
		if err != nil {
			return err
		}
		switch id {
		case attributeCooperative:
			a.Cooperative = *(*C.int)(unsafe.Pointer(value)) != 0
		case attributeCluster:
			dim := (*[3]C.uint)(unsafe.Pointer(value))
			a.Cluster = extent(dim[0], dim[1], dim[2])
		}
		return t.GraphKernelNodeSetAttributes(driver.Handle(node), a)
	})
}

//export cuGraphKernelNodeCopyAttributes
func cuGraphKernelNodeCopyAttributes(to, from C.CUgraphNode) C.CUresult {
	return callThread("cuGraphKernelNodeCopyAttributes", func(t *driver.Thread) error {
		a, err := t.GraphKernelNodeAttributes(driver.Handle(from))
		if err != nil {
			return err
		}
		return t.GraphKernelNodeSetAttributes(driver.Handle(to), a)
	})
}

//export cuGraphAddMemcpyNode
func cuGraphAddMemcpyNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_MEMCPY3D, ctx C.CUcontext) C.CUresult {
	return addNode("cuGraphAddMemcpyNode", node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddMemcpyNode(driver.Handle(graph), after, copy3D(p))
	})
}

func memsetParams(p *C.CUDA_MEMSET_NODE_PARAMS) *driver.Fill2D {
	return &driver.Fill2D{
		Dst: uint64(p.dst), Pitch: uint64(p.pitch), Value: uint32(p.value), Size: uint32(p.elementSize),
		Width: uint64(p.width), Height: uint64(p.height),
	}
}

//export cuGraphAddMemsetNode
func cuGraphAddMemsetNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_MEMSET_NODE_PARAMS, ctx C.CUcontext) C.CUresult {
	return addNode("cuGraphAddMemsetNode", node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddMemsetNode(driver.Handle(graph), after, memsetParams(p))
	})
}

//export cuGraphAddHostNode
func cuGraphAddHostNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t, p *C.CUDA_HOST_NODE_PARAMS) C.CUresult {
	return addNode("cuGraphAddHostNode", node, after, n, p, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		if p.fn == nil {
			return 0, driver.InvalidValue
		}
		return t.GraphAddHostNode(driver.Handle(graph), after, hostFunction(p.fn, p.userData))
	})
}

//export cuGraphAddEmptyNode
func cuGraphAddEmptyNode(node *C.CUgraphNode, graph C.CUgraph, after *C.CUgraphNode, n C.size_t) C.CUresult {
	return addNode("cuGraphAddEmptyNode", node, after, n, node, func(t *driver.Thread, after []driver.Handle) (driver.Handle, error) {
		return t.GraphAddEmptyNode(driver.Handle(graph), after)
	})
}

//export cuGraphNodeGetType
func cuGraphNodeGetType(node C.CUgraphNode, kind *C.int) C.CUresult {
	return storeThreadValue("cuGraphNodeGetType", kind, func(t *driver.Thread) (driver.NodeKind, error) { return t.GraphNodeGetType(driver.Handle(node)) })
}

func instantiate(call string, exec *C.CUgraphExec, graph C.CUgraph, flags uint64) C.CUresult {
	return storeThreadValue(call, exec, func(t *driver.Thread) (driver.Handle, error) {
		return t.GraphInstantiate(driver.Handle(graph), flags)
	})
}

//export cuGraphInstantiate_v2
func cuGraphInstantiate_v2(exec *C.CUgraphExec, graph C.CUgraph, errNode *C.CUgraphNode, log *C.char, size C.size_t) C.CUresult {
	return instantiate("cuGraphInstantiate_v2", exec, graph, 0)
}

//export cuGraphInstantiateWithFlags
func cuGraphInstantiateWithFlags(exec *C.CUgraphExec, graph C.CUgraph, flags C.ulonglong) C.CUresult {
	return instantiate("cuGraphInstantiateWithFlags", exec, graph, uint64(flags))
}

//export cuGraphInstantiateWithParams
func cuGraphInstantiateWithParams(exec *C.CUgraphExec, graph C.CUgraph, p *C.CUDA_GRAPH_INSTANTIATE_PARAMS) C.CUresult {
	var flags uint64
	if p != nil {
		flags = uint64(p.flags)
	}
	r := instantiate("cuGraphInstantiateWithParams", exec, graph, flags)
	if p != nil {
		p.errNode, p.result = 0, min(r, 1)
	}
	return r
}

func setExecKernelNodeParams(call string, exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS, version int) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphExecKernelNodeSetParams(driver.Handle(exec), driver.Handle(node), kernelParams(p, version))
	})
}

//export cuGraphExecKernelNodeSetParams
func cuGraphExecKernelNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return setExecKernelNodeParams("cuGraphExecKernelNodeSetParams", exec, node, p, 1)
}

//export cuGraphExecKernelNodeSetParams_v2
func cuGraphExecKernelNodeSetParams_v2(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS) C.CUresult {
	return setExecKernelNodeParams("cuGraphExecKernelNodeSetParams_v2", exec, node, p, 2)
}

//export cuGraphExecMemcpyNodeSetParams
func cuGraphExecMemcpyNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_MEMCPY3D, ctx C.CUcontext) C.CUresult {
	return callThread("cuGraphExecMemcpyNodeSetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphExecMemcpyNodeSetParams(driver.Handle(exec), driver.Handle(node), copy3D(p))
	})
}

//export cuGraphExecMemsetNodeSetParams
func cuGraphExecMemsetNodeSetParams(exec C.CUgraphExec, node C.CUgraphNode, p *C.CUDA_MEMSET_NODE_PARAMS, ctx C.CUcontext) C.CUresult {
	return callThread("cuGraphExecMemsetNodeSetParams", func(t *driver.Thread) error {
		if p == nil {
			return driver.InvalidValue
		}
		return t.GraphExecMemsetNodeSetParams(driver.Handle(exec), driver.Handle(node), memsetParams(p))
	})
}

//export cuGraphLaunch
func cuGraphLaunch(exec C.CUgraphExec, stream C.CUstream) C.CUresult {
	return callThread("cuGraphLaunch", func(t *driver.Thread) error { return t.GraphLaunch(driver.Handle(exec), driver.Handle(stream)) })
}

//export cuGraphUpload
func cuGraphUpload(exec C.CUgraphExec, stream C.CUstream) C.CUresult {
	return callThread("cuGraphUpload", func(t *driver.Thread) error { return t.GraphUpload(driver.Handle(exec), driver.Handle(stream)) })
}

//export cuGraphExecDestroy
func cuGraphExecDestroy(exec C.CUgraphExec) C.CUresult {
	return callThread("cuGraphExecDestroy", func(t *driver.Thread) error { return t.GraphExecDestroy(driver.Handle(exec)) })
}

//export cuUserObjectCreate
func cuUserObjectCreate(object *C.CUuserObject, thing unsafe.Pointer, destroy C.CUhostFn, n, flags C.uint) C.CUresult {
	return storeDriverValue("cuUserObjectCreate", object, func(d *driver.Driver) (driver.Handle, error) {
		if destroy == nil {
			return 0, driver.InvalidValue
		}
		return d.UserObjectCreate(hostFunction(destroy, thing).Call, uint32(n), uint32(flags))
	})
}

//export cuUserObjectRetain
func cuUserObjectRetain(object C.CUuserObject, n C.uint) C.CUresult {
	return callDriver("cuUserObjectRetain", func(d *driver.Driver) error { return d.UserObjectRetain(driver.Handle(object), uint32(n)) })
}

//export cuUserObjectRelease
func cuUserObjectRelease(object C.CUuserObject, n C.uint) C.CUresult {
	return callDriver("cuUserObjectRelease", func(d *driver.Driver) error { return d.UserObjectRelease(driver.Handle(object), uint32(n)) })
}

//export cuGraphRetainUserObject
func cuGraphRetainUserObject(graph C.CUgraph, object C.CUuserObject, n, flags C.uint) C.CUresult {
	return callDriver("cuGraphRetainUserObject", func(d *driver.Driver) error {
		return d.GraphRetainUserObject(driver.Handle(graph), driver.Handle(object), uint32(n), uint32(flags))
	})
}

//export cuGraphReleaseUserObject
func cuGraphReleaseUserObject(graph C.CUgraph, object C.CUuserObject, n C.uint) C.CUresult {
	return callDriver("cuGraphReleaseUserObject", func(d *driver.Driver) error {
		return d.GraphReleaseUserObject(driver.Handle(graph), driver.Handle(object), uint32(n))
	})
}
