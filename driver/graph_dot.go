package driver

// This file prints graphs in the language of Graphviz.

import (
	"bytes"
	"fmt"
)

// GraphDot returns the output of cuGraphDebugDotPrint: the graph in the language of Graphviz. Nodes are numbered in the
// order in which they were added. The inner graphs of a node are drawn as clusters.
func (t *Thread) GraphDot(graph Handle) ([]byte, error) {
	return graphValue(t, graph, func(g *Graph) ([]byte, error) {
		var b bytes.Buffer
		b.WriteString("digraph graph_0 {\n\tnode [shape=box];\n")
		g.dot(&b, "")
		b.WriteString("}\n")
		return b.Bytes(), nil
	})
}

// dot writes the graph's nodes and edges. The names of nodes begin with prefix.
func (g *Graph) dot(b *bytes.Buffer, prefix string) {
	name := map[*Node]string{}
	for i, n := range g.nodes {
		name[n] = fmt.Sprintf("node_%s%d", prefix, i)
	}
	for _, n := range g.nodes {
		fmt.Fprintf(b, "\t%s [label=%q];\n", name[n], n.describe())
		for i, inner := range (&Graph{nodes: []*Node{n}}).innerGraphs() {
			fmt.Fprintf(b, "\tsubgraph cluster_%s_%d {\n\tlabel=%q;\n", name[n], i, fmt.Sprintf("graph %d of %s", i, name[n]))
			inner.dot(b, fmt.Sprintf("%s_%d_", name[n][len("node_"):], i))
			b.WriteString("\t}\n")
		}
	}
	for _, n := range g.nodes {
		for _, predecessor := range n.predecessors {
			fmt.Fprintf(b, "\t%s -> %s;\n", name[predecessor], name[n])
		}
	}
}

// describe describes the work of a node in a few words.
func (n *Node) describe() string {
	switch w := n.work.(type) {
	case *launch:
		grid, block := w.spec.Grid, w.spec.Block
		return fmt.Sprintf("kernel %s <<<(%d, %d, %d), (%d, %d, %d), %d>>>", w.spec.Kernel, grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z, w.spec.Shared)
	case *copyWork:
		return fmt.Sprintf("copy of %d x %d x %d bytes", w.Width, w.Height, w.Depth)
	case *fillWork:
		return fmt.Sprintf("fill of %d x %d elements of %d bytes at %#x with %#x", w.Width, w.Height, w.Size, w.Dst, w.Value)
	case hostWork:
		return "host function"
	case *allocWork:
		return fmt.Sprintf("allocation of %d bytes at %#x", w.region.size, w.region.addr)
	case *freeWork:
		return fmt.Sprintf("free of %#x", w.region.addr)
	case *recordWork:
		return fmt.Sprintf("record of event %#x", uint64(w.handle))
	case *waitWork:
		return fmt.Sprintf("wait for event %#x", uint64(w.handle))
	case *conditionalWork:
		return map[ConditionalKind]string{ConditionalIf: "if", ConditionalWhile: "while", ConditionalSwitch: "switch"}[w.kind] + fmt.Sprintf(" by %#x", w.condition.handle())
	}
	if n.child != nil {
		return "graph"
	}
	return "empty"
}
