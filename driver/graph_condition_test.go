package driver

import (
	"slices"
	"testing"
	"unsafe"
)

// conditionsPTX has two kernels. The kernel countDown sets a condition by cudaGraphSetConditional of the device runtime, as
// CUDA C++ does.
const conditionsPTX = `
.version 7.0
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

// countDown subtracts n from a word, and sets a condition to the result.
.visible .entry countDown(.param .u64 handle, .param .u64 word, .param .u32 n)
{
	.reg .b64 %h, %w;
	.reg .b32 %v, %n;
	.param .b64 condition;
	.param .b32 value;

	ld.param.u64 %h, [handle];
	ld.param.u64 %w, [word];
	ld.param.u32 %n, [n];
	ld.global.u32 %v, [%w];
	sub.u32 %v, %v, %n;
	st.global.u32 [%w], %v;
	st.param.b64 [condition], %h;
	st.param.b32 [value], %v;
	call cudaGraphSetConditional, (condition, value);
	ret;
}

// mark adds n to a word.
.visible .entry mark(.param .u64 word, .param .u32 n)
{
	.reg .b64 %w;
	.reg .b32 %n;

	ld.param.u64 %w, [word];
	ld.param.u32 %n, [n];
	red.global.add.u32 [%w], %n;
	ret;
}
`

// TestConditionalNodes shows that the value of a condition chooses the body that a conditional node runs, or repeats the body of
// a WHILE node. It also shows the refused calls.
func TestConditionalNodes(t *testing.T) {
	c := newClient(t, nil)
	link := must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(link, LinkPTX, cString(conditionsPTX), uint64(len(conditionsPTX)), "conditions.ptx"))
	lib := archive("cuda_device_runtime.o", "\x7fELF machine code")
	c.ok(c.LinkAddData(link, LinkLibrary, cString(lib), uint64(len(lib)), "libcudadevrt.a"))
	image := must(c.LinkComplete(link))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	word, marks := c.alloc(4), c.alloc(4)

	// build makes a graph: a kernel that sets the condition (if setsCondition), the conditional node, and a kernel that adds 1000 to
	// marks. run launches the graph.
	build := func(setsCondition bool, kind ConditionalKind, n uint32) (bodies []Handle, handle uint64, run func()) {
		g := must(c.GraphCreate(0))(t)
		handle = must(c.GraphConditionalHandleCreate(g, 1, assignDefault))(t)
		var dependencies []Handle
		if setsCondition {
			dependencies = []Handle{must(c.GraphAddKernelNode(g, nil, launchParams(c.function("countDown"), 1, 1, handle, word, 0)))(t)}
		}
		node, bodies, _, err := c.GraphAddConditionalNode(g, dependencies, handle, kind, n)
		c.ok(err)
		must(c.GraphAddKernelNode(g, []Handle{node}, launchParams(c.function("mark"), 1, 1, marks, 1000)))(t)
		return bodies, handle, func() {
			exec := must(c.GraphInstantiate(g, 0))(t)
			c.ok(c.GraphDestroy(g))
			c.ok(c.GraphLaunch(exec, 0))
			c.ok(c.GraphExecDestroy(exec))
		}
	}
	mark := func(body Handle, n int) {
		must(c.GraphAddKernelNode(body, nil, launchParams(c.function("mark"), 1, 1, marks, n)))(t)
	}
	for _, test := range []struct {
		kind        ConditionalKind
		bodies      uint32
		value, want uint32
	}{
		{ConditionalIf, 1, 0, 1000},
		{ConditionalIf, 1, 5, 1001},
		{ConditionalIf, 2, 0, 1010},
		{ConditionalIf, 2, 1, 1001},
		{ConditionalSwitch, 3, 0, 1001},
		{ConditionalSwitch, 3, 2, 1100},
		{ConditionalSwitch, 3, 3, 1000},
	} {
		c.write(word, test.value)
		c.write(marks, 0)
		bodies, _, run := build(true, test.kind, test.bodies)
		for i, b := range bodies {
			mark(b, []int{1, 10, 100}[i])
		}
		run()
		if got := c.read(marks, 1); !slices.Equal(got, []uint32{test.want}) {
			t.Errorf("type %d with %d bodies, value %d: marks is %d, want %d", test.kind, test.bodies, test.value, got, test.want)
		}
	}

	// The default value 1 enters the loop. The kernel in the body then sets the condition to 3, 2, 1 and 0: the body runs four
	// times.
	c.write(word, 4)
	c.write(marks, 0)
	bodies, handle, run := build(false, ConditionalWhile, 1)
	n := must(c.GraphAddKernelNode(bodies[0], nil, launchParams(c.function("countDown"), 1, 1, handle, word, 1)))(t)
	must(c.GraphAddKernelNode(bodies[0], []Handle{n}, launchParams(c.function("mark"), 1, 1, marks, 1)))(t)
	run()
	c.expect(marks, 1004)
	c.expect(word, 0)

	g := must(c.GraphCreate(0))(t)
	other := must(c.GraphCreate(0))(t)
	handle = must(c.GraphConditionalHandleCreate(g, 0, 0))(t)
	_, _, _, err := c.GraphAddConditionalNode(other, nil, handle, ConditionalIf, 1)
	c.want(InvalidValue, "is not the handle of a condition of the graph", err)
	_, _, _, err = c.GraphAddConditionalNode(g, nil, handle, ConditionalWhile, 2)
	c.want(InvalidValue, "cannot have 2 graphs", err)
	_, bodies, _, err = c.GraphAddConditionalNode(g, nil, handle, ConditionalIf, 1)
	c.ok(err)
	_, _, _, err = c.GraphAddConditionalNode(g, nil, handle, ConditionalIf, 1)
	c.want(InvalidValue, "another node uses condition", err)
	_, err = c.GraphClone(g)
	c.want(NotSupported, "cannot be copied", err)
	must(c.GraphAddHostNode(bodies[0], nil, HostFunc{Call: func() {}}))(t)
	_, err = c.GraphInstantiate(g, 0)
	c.want(InvalidValue, "that the graph of a conditional node cannot contain", err)
	c.ok(c.GraphDestroy(g))
	_, err = c.GraphGetNodes(bodies[0])
	c.want(InvalidHandle, "", err)

	_, _, run = build(false, ConditionalWhile, 1) // no kernel ends the loop
	run()
	c.want(LaunchTimeout, "was stopped after 1048576 iterations", c.StreamSynchronize(0))
}

// TestNodeDestroyedWhileCaptured: destroying a node on which the next captured node would depend invalidates the capture.
func TestNodeDestroyedWhileCaptured(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(4)
	s := c.capturing()
	c.ok(c.Memset(fillOf(x, 1, 1), s, true))
	info := must(c.StreamGetCaptureInfo(s))(t)
	c.ok(c.GraphDestroyNode(info.Predecessors[0]))
	c.want(StreamCaptureInvalidated, "", c.Memset(fillOf(x, 2, 1), s, true))
	c.endInvalid([]Handle{s})
}

// TestGraphAsDot shows the DOT text of a graph with a child graph.
func TestGraphAsDot(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(16)
	g, child := must(c.GraphCreate(0))(t), must(c.GraphCreate(0))(t)
	must(c.GraphAddHostNode(child, nil, HostFunc{Call: func() {}}))(t)
	k := must(c.GraphAddKernelNode(g, nil, launchParams(c.function("add"), 2, 4, x, 1)))(t)
	must(c.GraphAddChildGraphNode(g, []Handle{k}, child))(t)
	want := "digraph graph_0 {\n\tnode [shape=box];\n" +
		"\tnode_0 [label=\"kernel add <<<(2, 1, 1), (4, 1, 1), 0>>>\"];\n" +
		"\tnode_1 [label=\"graph\"];\n" +
		"\tsubgraph cluster_node_1_0 {\n\tlabel=\"graph 0 of node_1\";\n\tnode_1_0_0 [label=\"host function\"];\n\t}\n" +
		"\tnode_0 -> node_1;\n}\n"
	if got := string(must(c.GraphDot(g))(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
