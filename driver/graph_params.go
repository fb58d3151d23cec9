package driver

import "gemu/ptx"

// This file implements the parameters and attributes of nodes.

// KernelAttributes are the attributes of a kernel node: see LaunchParams.
type KernelAttributes struct {
	Cooperative bool     // the CTAs may wait for each other
	Cluster     ptx.Dim3 // cluster size in CTAs; zero: no clusters
}

// attributes returns the attributes of a launch.
func (l *launch) attributes() KernelAttributes {
	return KernelAttributes{l.spec.Cooperative, l.spec.Cluster}
}

// kernelNode returns a kernel node and its launch. The caller must hold d.mu.
func (t *Thread) kernelNode(h Handle) (*Node, *launch, error) {
	n, err := object[*Node](t.d, h)
	if err != nil {
		return nil, nil, err
	}
	l, ok := n.work.(*launch)
	if !ok {
		return nil, nil, fail(InvalidValue, "node %#x is not a kernel node", uint64(h))
	}
	return n, l, nil
}

// GraphKernelNodeAttributes is cuGraphKernelNodeGetAttribute.
func (t *Thread) GraphKernelNodeAttributes(node Handle) (KernelAttributes, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, l, err := t.kernelNode(node)
	if err != nil {
		return KernelAttributes{}, err
	}
	return l.attributes(), nil
}

// GraphKernelNodeSetAttributes is cuGraphKernelNodeSetAttribute. Executable graphs do not change.
func (t *Thread) GraphKernelNodeSetAttributes(node Handle, a KernelAttributes) error {
	t.d.mu.Lock()
	n, l, err := t.kernelNode(node)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	changed := *l // including clientArguments
	t.d.mu.Unlock()
	p := &LaunchParams{Grid: l.spec.Grid, Block: l.spec.Block, Shared: uint32(l.spec.Shared), Cooperative: a.Cooperative, Cluster: a.Cluster}
	if changed.spec.Cluster, err = l.f.checkExtents(t.d, p); err != nil {
		return err
	}
	changed.spec.Cooperative = a.Cooperative
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n.work = &changed
	return nil
}

// setNodeWork replaces the work of a node, which must be of the given kind. The caller must not hold d.mu.
func (t *Thread) setNodeWork(node Handle, kind NodeKind, w work) error {
	_, err := nodeValue(t, node, func(n *Node) (struct{}, error) {
		if n.kind != kind {
			return struct{}{}, fail(InvalidValue, "node %#x has a different kind", uint64(node))
		}
		n.work = w
		return struct{}{}, nil
	})
	return err
}

// GraphKernelNodeSetParams is cuGraphKernelNodeSetParams. The node keeps its attributes.
func (t *Thread) GraphKernelNodeSetParams(node Handle, p *LaunchParams) error {
	attributes, err := t.GraphKernelNodeAttributes(node)
	if err != nil {
		return err
	}
	params := *p
	params.Cooperative, params.Cluster = attributes.Cooperative, attributes.Cluster
	l, err := t.prepare(&params)
	if err != nil {
		return err
	}
	return t.setNodeWork(node, KernelNode, l)
}

// GraphKernelNodeGetParams is cuGraphKernelNodeGetParams. It returns the parameters of the launch without its arguments,
// the bytes of each argument, and memory for a C copy of the arguments. The copy is valid until the node's parameters
// change or the node is destroyed.
func (t *Thread) GraphKernelNodeGetParams(node Handle) (p LaunchParams, args [][]byte, clientMemory *ClientMemory, err error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	_, l, err := t.kernelNode(node)
	if err != nil {
		return p, nil, nil, err
	}
	for _, a := range l.spec.Args {
		args = append(args, a.([]byte))
	}
	if l.clientArguments == nil {
		l.clientArguments = &ClientMemory{}
	}
	return LaunchParams{Func: l.handle, Grid: l.spec.Grid, Block: l.spec.Block, Shared: uint32(l.spec.Shared), Cooperative: l.spec.Cooperative, Cluster: l.spec.Cluster}, args, l.clientArguments, nil
}

// GraphMemcpyNodeSetParams is cuGraphMemcpyNodeSetParams.
func (t *Thread) GraphMemcpyNodeSetParams(node Handle, c *Copy3D) error {
	w := &copyWork{*c}
	if err := t.checkNodeWork(w); err != nil {
		return err
	}
	return t.setNodeWork(node, MemcpyNode, w)
}

// GraphMemcpyNodeGetParams is cuGraphMemcpyNodeGetParams.
func (t *Thread) GraphMemcpyNodeGetParams(node Handle) (Copy3D, error) {
	return nodeValue(t, node, func(n *Node) (Copy3D, error) {
		w, ok := n.work.(*copyWork)
		if !ok {
			return Copy3D{}, fail(InvalidValue, "node %#x is not a copy node", uint64(node))
		}
		return w.Copy3D, nil
	})
}

// GraphMemsetNodeSetParams is cuGraphMemsetNodeSetParams.
func (t *Thread) GraphMemsetNodeSetParams(node Handle, f *Fill2D) error {
	w := &fillWork{*f}
	if err := t.checkNodeWork(w); err != nil {
		return err
	}
	return t.setNodeWork(node, MemsetNode, w)
}

// GraphMemsetNodeGetParams is cuGraphMemsetNodeGetParams.
func (t *Thread) GraphMemsetNodeGetParams(node Handle) (Fill2D, error) {
	return nodeValue(t, node, func(n *Node) (Fill2D, error) {
		w, ok := n.work.(*fillWork)
		if !ok {
			return Fill2D{}, fail(InvalidValue, "node %#x is not a fill node", uint64(node))
		}
		return w.Fill2D, nil
	})
}

// GraphHostNodeSetParams is cuGraphHostNodeSetParams.
func (t *Thread) GraphHostNodeSetParams(node Handle, f HostFunc) error {
	return t.setNodeWork(node, HostNode, hostWork{f})
}

// GraphHostNodeGetParams is cuGraphHostNodeGetParams.
func (t *Thread) GraphHostNodeGetParams(node Handle) (HostFunc, error) {
	return nodeValue(t, node, func(n *Node) (HostFunc, error) {
		w, ok := n.work.(hostWork)
		if !ok {
			return HostFunc{}, fail(InvalidValue, "node %#x is not a host node", uint64(node))
		}
		return w.HostFunc, nil
	})
}

// setExecNodeWork changes the work of a node of an executable graph for later launches.
func (t *Thread) setExecNodeWork(exec, node Handle, kind NodeKind, w work) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	n, err := t.execNode(exec, node, kind)
	if err != nil {
		return err
	}
	n.work = w
	return nil
}

// GraphExecKernelNodeSetParams is cuGraphExecKernelNodeSetParams. The node keeps its attributes.
func (t *Thread) GraphExecKernelNodeSetParams(exec, node Handle, p *LaunchParams) error {
	t.d.mu.Lock()
	n, err := t.execNode(exec, node, KernelNode)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	attributes := n.work.(*launch).attributes()
	t.d.mu.Unlock()
	params := *p
	params.Cooperative, params.Cluster = attributes.Cooperative, attributes.Cluster
	l, err := t.prepare(&params)
	if err != nil {
		return err
	}
	return t.setExecNodeWork(exec, node, KernelNode, l)
}

// GraphExecMemcpyNodeSetParams is cuGraphExecMemcpyNodeSetParams.
func (t *Thread) GraphExecMemcpyNodeSetParams(exec, node Handle, c *Copy3D) error {
	w := &copyWork{*c}
	if err := t.checkNodeWork(w); err != nil {
		return err
	}
	return t.setExecNodeWork(exec, node, MemcpyNode, w)
}

// GraphExecMemsetNodeSetParams is cuGraphExecMemsetNodeSetParams.
func (t *Thread) GraphExecMemsetNodeSetParams(exec, node Handle, f *Fill2D) error {
	w := &fillWork{*f}
	if err := t.checkNodeWork(w); err != nil {
		return err
	}
	return t.setExecNodeWork(exec, node, MemsetNode, w)
}

// GraphExecHostNodeSetParams is cuGraphExecHostNodeSetParams.
func (t *Thread) GraphExecHostNodeSetParams(exec, node Handle, f HostFunc) error {
	return t.setExecNodeWork(exec, node, HostNode, hostWork{f})
}
