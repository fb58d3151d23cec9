package driver

// This file tests graphs.

import (
	"testing"

	"gemu/ptx"
)

// TestGraphRunsItsNodes shows that nodes of each kind run in the order of their edges, and that the parameters of an
// executable graph can be changed.
func TestGraphRunsItsNodes(t *testing.T) {
	c := newClient(t, nil)
	x, y := c.alloc(16), c.alloc(16)
	g := must(c.GraphCreate(0))(t)
	fill := must(c.GraphAddMemsetNode(g, nil, &Fill2D{Dst: x, Value: 4, Size: 4, Width: 4, Height: 1}))(t)
	move := Copy3D{
		Src: Side{Place: Place{Kind: DevicePlace, Device: x}, Pitch: 16, Height: 1}, Dst: Side{Place: Place{Kind: DevicePlace, Device: y}, Pitch: 16, Height: 1},
		Width: 16, Height: 1, Depth: 1,
	}
	cp := must(c.GraphAddMemcpyNode(g, nil, &move))(t) // must come after the kernel
	k := must(c.GraphAddKernelNode(g, []Handle{fill}, launchParams(c.function("add"), 1, 4, x, 1)))(t)
	c.ok(c.GraphAddDependencies(g, []Handle{k}, []Handle{cp}))
	c.want(InvalidValue, "cycle", c.GraphAddDependencies(g, []Handle{cp}, []Handle{fill}))
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, 0))
	c.expect(y, 5, 5, 5, 5)
	c.ok(c.GraphExecKernelNodeSetParams(exec, k, launchParams(c.function("add"), 1, 2, x, 10)))
	c.ok(c.GraphDestroy(g))
	c.ok(c.GraphLaunch(exec, 0))
	c.expect(y, 14, 14, 4, 4)
	c.want(InvalidValue, "of this kind", c.GraphExecMemcpyNodeSetParams(exec, k, &move))
	c.ok(c.MemFree(y))
	c.want(InvalidValue, "are not inside an allocation", c.GraphLaunch(exec, 0))
	c.ok(c.GraphExecDestroy(exec))
	c.want(InvalidHandle, "", c.GraphLaunch(exec, 0))
}

// TestGraphOfClusters: cluster size is an attribute of a kernel node, and is kept.
func TestGraphOfClusters(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(32)
	g := must(c.GraphCreate(0))(t)
	p := launchParams(c.function("add"), 4, 2, x, 1)
	k, other := must(c.GraphAddKernelNode(g, nil, p))(t), must(c.GraphAddKernelNode(g, nil, p))(t)
	empty := must(c.GraphAddEmptyNode(g, nil))(t)
	set := KernelAttributes{Cluster: ptx.Dim(2)}
	c.ok(c.GraphKernelNodeSetAttributes(k, set))
	if got := must(c.GraphKernelNodeAttributes(k))(t); got != set {
		t.Errorf("got %+v", got)
	}
	if got := must(c.GraphKernelNodeAttributes(other))(t); got.Cluster.Count() > 1 {
		t.Errorf("the other node has %+v", got)
	}
	c.want(InvalidValue, "", c.GraphKernelNodeSetAttributes(k, KernelAttributes{Cluster: ptx.Dim(3)}))
	c.want(InvalidClusterSize, "at most 8", c.GraphKernelNodeSetAttributes(k, KernelAttributes{Cluster: ptx.Dim(16)}))
	c.want(InvalidValue, "is not a kernel node", c.GraphKernelNodeSetAttributes(empty, set))
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.want(InvalidValue, "", c.GraphExecKernelNodeSetParams(exec, k, launchParams(c.function("add"), 3, 2, x, 1)))
	c.ok(c.GraphExecKernelNodeSetParams(exec, other, launchParams(c.function("add"), 3, 2, x, 1)))
	c.ok(c.GraphLaunch(exec, 0))
}

// A graph outlives the modules of its kernels, but can then not be launched.
func TestGraphOfUnloadedModule(t *testing.T) {
	c := newClient(t, nil)
	g := must(c.GraphCreate(0))(t)
	must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 1, 1, c.alloc(4), 1)))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, 0))
	c.ok(c.ModuleUnload(c.mod))
	c.want(InvalidHandle, "unloaded", c.GraphLaunch(exec, 0))
	c.ok(c.CtxSynchronize(0))
}
