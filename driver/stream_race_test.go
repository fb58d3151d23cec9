package driver

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gemu/ptx"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// streamKernels are the kernels of these programs: each thread of write writes a word of x; read copies a word to y;
// add adds to a word; all threads of same read the first word. publish releases a flag, and consume waits for it; announce sets the
// flag without releasing it.
const streamKernels = `.version 7.8
.target sm_80
.address_size 64
.visible .entry write(.param .u64 x, .param .u32 n)
{
	.reg .u32 %r<5>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1; add.u32 %r0, %r0, %r1;
	st.global.u32 [%rd0], %r0;
	ret;
}
.visible .entry read(.param .u64 x, .param .u64 y)
{
	.reg .u32 %r<5>; .reg .u64 %rd<4>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r0, [%rd0];
	st.global.u32 [%rd1], %r0;
	ret;
}
.visible .entry add(.param .u64 x, .param .u32 n)
{
	.reg .u32 %r<5>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;
	red.global.add.u32 [%rd0], %r0;
	ret;
}
.visible .entry same(.param .u64 x, .param .u64 y)
{
	.reg .u32 %r<5>; .reg .u64 %rd<4>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r0, [%rd0];
	st.global.u32 [%rd1], %r0;
	ret;
}
.visible .entry publish(.param .u64 x, .param .u64 flag)
{
	.reg .u64 %rd<2>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [flag];
	st.global.u32 [%rd0], 7;
	st.release.gpu.global.u32 [%rd1], 1;
	ret;
}
.visible .entry announce(.param .u64 x, .param .u64 flag)
{
	.reg .u64 %rd<2>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [flag];
	st.global.u32 [%rd0], 7;
	st.relaxed.gpu.global.u32 [%rd1], 1;
	ret;
}
.visible .entry consume(.param .u64 x, .param .u64 flag)
{
	.reg .u32 %r; .reg .u64 %rd<2>; .reg .pred %p;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [flag];
L:	ld.acquire.gpu.global.u32 %r, [%rd1];
	setp.eq.u32 %p, %r, 0;
	@%p bra L;
	ld.global.u32 %r, [%rd0];
	ret;
}
`

// bulkKernel has kernels for newer devices: bulk copies words of x to shared memory, addc adds to the first word.
const bulkKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry addc(.param .u64 x)
{
	.reg .u64 %rd;
	ld.param.u64 %rd, [x];
	red.relaxed.cluster.global.add.u32 [%rd], 1;
	ret;
}
.visible .entry bulk(.param .u64 x)
{
	.shared .align 128 .b8 tile[64]; .shared .align 8 .b64 bar;
	.reg .u64 %rd; .reg .pred %p;
	ld.param.u64 %rd, [x];
	mbarrier.init.shared.b64 [bar], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd], 64, [bar];
L:	mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
	@!%p bra L;
	ret;
}
`

// streams is a client with streams and memory: a and b are non-blocking streams, p and q blocking ones; x, y and z have
// words elements.
type streams struct {
	*client
	a, b, p, q Handle
	x, y, z    uint64
}

const words = 1500 // more than a page of shadow memory

func newStreams(t *testing.T, workers int) *streams {
	tools, err := sanitize.Parse("race")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, func(s *Settings) { s.Sanitize, s.Workers = tools, workers })
	s := &streams{client: c, x: c.alloc(4 * words), y: c.alloc(4 * words), z: c.alloc(4 * words)}
	for _, h := range []*Handle{&s.a, &s.b} {
		*h = must(c.StreamCreate(flagNonBlocking, 0))(t)
	}
	for _, h := range []*Handle{&s.p, &s.q} {
		*h = must(c.StreamCreate(0, 0))(t)
	}
	c.mod = c.load(streamKernels)
	return s
}

// on launches a kernel with a thread per word on a stream.
func (s *streams) on(stream Handle, kernel string, args ...any) {
	s.Helper()
	s.ok(s.LaunchKernel(launchParams(s.function(kernel), words/100, 100, args...), stream))
}

// one launches a kernel with one thread.
func (s *streams) one(stream Handle, kernel string, args ...any) {
	s.Helper()
	s.ok(s.LaunchKernel(launchParams(s.function(kernel), 1, 1, args...), stream))
}

func device(addr uint64) Place      { return Place{Kind: DevicePlace, Device: addr} }
func onHost(p unsafe.Pointer) Place { return Place{Kind: HostPlace, Host: p} }
func (s *streams) pageable() Place  { return onHost(unsafe.Pointer(&make([]uint32, words)[0])) }
func (s *streams) pinned() Place    { return onHost(must(s.MemHostAlloc(4*words, 0))(s.T)) }
func (s *streams) record(at Handle) Handle {
	s.Helper()
	e := must(s.EventCreate(0))(s.T)
	s.ok(s.EventRecord(e, at))
	return e
}

func (s *streams) copy(dst, src Place, stream Handle, async Async) {
	s.Helper()
	s.ok(s.Memcpy(dst, src, 4*words, stream, async))
}

func (s *streams) fill(addr uint64, stream Handle, async Async) {
	s.Helper()
	s.ok(s.Memset(&Fill2D{Dst: addr, Size: 4, Width: words, Height: 1, Value: 3}, stream, async))
}

// passes waits until the work on all streams has ended, without a synchronisation by the program.
func (s *streams) passes() {
	s.d.mu.Lock()
	tasks := s.top().pending()
	s.d.mu.Unlock()
	waitInBackground(tasks)
}

// readers makes a graph of a node that writes x and two nodes that read it afterwards.
func (s *streams) readers() Handle {
	s.Helper()
	g := must(s.GraphCreate(0))(s.T)
	first := must(s.GraphAddKernelNode(g, nil, launchParams(s.function("write"), words/100, 100, s.x, 1)))(s.T)
	for _, to := range []uint64{s.y, s.z} {
		must(s.GraphAddKernelNode(g, []Handle{first}, launchParams(s.function("read"), words/100, 100, s.x, to)))(s.T)
	}
	return must(s.GraphInstantiate(g, 0))(s.T)
}

// graph makes a graph of nodes that write x, read x and fill x, with some edges between them.
func (s *streams) graph(edges ...[2]int) Handle {
	s.Helper()
	g := must(s.GraphCreate(0))(s.T)
	nodes := []Handle{
		must(s.GraphAddKernelNode(g, nil, launchParams(s.function("write"), words/100, 100, s.x, 1)))(s.T),
		must(s.GraphAddKernelNode(g, nil, launchParams(s.function("read"), words/100, 100, s.x, s.y)))(s.T),
		must(s.GraphAddMemsetNode(g, nil, &Fill2D{Dst: s.x, Size: 4, Width: words, Height: 1}))(s.T),
	}
	for _, e := range edges {
		s.ok(s.GraphAddDependencies(g, []Handle{nodes[e[0]]}, []Handle{nodes[e[1]]}))
	}
	return must(s.GraphInstantiate(g, 0))(s.T)
}

// recordsInGraph launches a graph on a that writes x, records an event, and writes z.
func (s *streams) recordsInGraph() Handle {
	s.Helper()
	e := must(s.EventCreate(0))(s.T)
	g := must(s.GraphCreate(0))(s.T)
	write := must(s.GraphAddKernelNode(g, nil, launchParams(s.function("write"), words/100, 100, s.x, 1)))(s.T)
	record := must(s.GraphAddEventNode(g, []Handle{write}, EventRecordNode, e))(s.T)
	must(s.GraphAddKernelNode(g, []Handle{record}, launchParams(s.function("write"), words/100, 100, s.z, 1)))(s.T)
	s.ok(s.GraphLaunch(must(s.GraphInstantiate(g, 0))(s.T), s.a))
	return e
}

// waitsInGraph launches a graph on b that waits for an event, and reads memory at an address.
func (s *streams) waitsInGraph(e Handle, from uint64) {
	s.Helper()
	g := must(s.GraphCreate(0))(s.T)
	wait := must(s.GraphAddEventNode(g, nil, EventWaitNode, e))(s.T)
	must(s.GraphAddKernelNode(g, []Handle{wait}, launchParams(s.function("read"), words/100, 100, from, s.y)))(s.T)
	s.ok(s.GraphLaunch(must(s.GraphInstantiate(g, 0))(s.T), s.b))
}

// streamPrograms are programs with several streams and the expected findings: their kinds, the later and the earlier
// operation.
var streamPrograms = []struct {
	name string
	run  func(s *streams)
	want []string
}{
	{"two non-blocking streams", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"two that write", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.b, "write", s.x, 2)
	}, []string{"write after write: write, write"}},
	{"two that write the same", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.b, "write", s.x, 1)
	}, []string{"same value written: write, write"}},
	{"read, then written", func(s *streams) {
		s.on(s.a, "read", s.x, s.y)
		s.on(s.b, "write", s.x, 1)
	}, []string{"write after read: write, read"}},
	{"only read", func(s *streams) {
		s.on(s.a, "read", s.x, s.y)
		s.on(s.b, "read", s.x, s.z)
	}, nil},
	{"atomic operations on both", func(s *streams) {
		s.on(s.a, "add", s.x, 1)
		s.on(s.b, "add", s.x, 1)
	}, nil},
	{"atomic operations and loads", func(s *streams) {
		s.on(s.a, "add", s.x, 1)
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, atomic operation at scope .gpu"}},
	{"other words", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.b, "write", s.y, 1)
	}, nil},
	{"one stream", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.a, "read", s.x, s.y)
		s.fill(s.x, s.a, true)
		s.copy(device(s.z), device(s.x), s.a, true)
	}, nil},
	{"an event", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"an event that was recorded too early", func(s *streams) {
		e := s.record(s.a)
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.b, e, 0))
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"an event that was waited for before it was recorded", func(s *streams) {
		e := must(s.EventCreate(0))(s.T)
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.b, e, 0))
		s.ok(s.EventRecord(e, s.a))
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"an event over three streams", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
		s.ok(s.StreamWaitEvent(s.p, s.record(s.b), 0))
		s.on(s.p, "read", s.x, s.y)
	}, nil},
	{"an event that orders one direction only", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
		s.on(s.b, "read", s.x, s.y)
		s.on(s.a, "write", s.x, 2)
	}, []string{"write after read: write, read"}},
	{"both directions", func(s *streams) {
		for i := range 3 {
			s.on(s.a, "write", s.x, i)
			s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
			s.on(s.b, "read", s.x, s.y)
			s.ok(s.StreamWaitEvent(s.a, s.record(s.b), 0))
		}
	}, nil},
	{"an event that a graph records", func(s *streams) {
		s.ok(s.StreamWaitEvent(s.b, s.recordsInGraph(), 0))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"what a graph does behind an event", func(s *streams) {
		s.ok(s.StreamWaitEvent(s.b, s.recordsInGraph(), 0))
		s.on(s.b, "read", s.z, s.y)
	}, []string{"read after write: read, write"}},
	{"an event that a graph waits for", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.waitsInGraph(s.record(s.a), s.x)
	}, nil},
	{"what comes behind an event that a graph waits for", func(s *streams) {
		e := s.record(s.a)
		s.on(s.a, "write", s.x, 1)
		s.waitsInGraph(e, s.x)
	}, []string{"read after write: read, write"}},
	{"the host waits for the event", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.EventSynchronize(s.record(s.a)))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"the host waits for the wrong stream", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamSynchronize(s.b))
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"the host waits for the stream", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamSynchronize(s.a))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"the host waits for all", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.CtxSynchronize(0))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"the host asks until the stream is done", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		for s.StreamQuery(s.a) == NotReady {
		}
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"the host asks until the event is done", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		for e := s.record(s.a); s.EventQuery(e) == NotReady; {
		}
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"a function of the host has run", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		over := make(chan bool)
		s.ok(s.LaunchHostFunc(s.a, HostFunc{Call: func() { close(over) }}))
		<-over
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"the default stream and a blocking one", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.on(0, "read", s.x, s.y)
		s.on(s.q, "write", s.x, 2)
	}, nil},
	{"two blocking streams", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.on(s.q, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"two blocking streams with the default one between", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.on(0, "write", s.z, 1)
		s.on(s.q, "read", s.x, s.y)
	}, nil},
	{"the default stream and a non-blocking one", func(s *streams) {
		s.on(0, "write", s.x, 1)
		s.on(s.a, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"the default stream of a thread and a blocking one", func(s *streams) {
		s.on(streamPerThread, "write", s.x, 1)
		s.on(s.p, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"the default streams of a thread and of all", func(s *streams) {
		s.on(streamPerThread, "write", s.x, 1)
		s.on(streamLegacy, "read", s.x, s.y)
	}, nil},
	{"a stream that is destroyed, and the default one", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.ok(s.StreamDestroy(s.p))
		s.on(0, "read", s.x, s.y)
	}, nil},
	{"a stream that is destroyed, and one that is made then", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.StreamDestroy(s.a))
		s.on(must(s.StreamCreate(flagNonBlocking, 0))(s.T), "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"a stream that is destroyed when its work is over, and the default one", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.passes()
		s.ok(s.StreamDestroy(s.p))
		s.on(0, "read", s.x, s.y)
	}, nil},
	{"a stream that is destroyed, and the host waits for the default one", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.passes()
		s.ok(s.StreamDestroy(s.p))
		s.ok(s.StreamSynchronize(0))
		s.on(s.a, "read", s.x, s.y)
	}, nil},
	{"a non-blocking stream that is destroyed, and the default one", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.passes()
		s.ok(s.StreamDestroy(s.a))
		s.on(0, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"a stream that is destroyed when its work is over, and one that is made then", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.passes()
		s.ok(s.StreamDestroy(s.a))
		s.on(must(s.StreamCreate(flagNonBlocking, 0))(s.T), "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"the host waits for all, a stream that is destroyed among them", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.p, "write", s.y, 1)
		s.passes()
		s.ok(s.StreamDestroy(s.a))
		s.ok(s.StreamDestroy(s.p))
		s.ok(s.CtxSynchronize(0))
		s.on(s.b, "write", s.x, 2)
		s.on(s.b, "write", s.y, 2)
	}, nil},
	{"a context that is destroyed", func(s *streams) {
		other := must(s.CtxCreate(0, 0))(s.T)
		m := s.load(streamKernels)
		f := must(s.ModuleGetFunction(m, "write"))(s.T)
		s.ok(s.LaunchKernel(launchParams(f, words/100, 100, s.x, 1), 0))
		s.ok(s.CtxDestroy(other))
		s.on(s.a, "read", s.x, s.y)
	}, nil},
	{"the default streams of two contexts", func(s *streams) {
		must(s.CtxCreate(0, 0))(s.T)
		m := s.load(streamKernels)
		f := must(s.ModuleGetFunction(m, "write"))(s.T)
		s.ok(s.LaunchKernel(launchParams(f, words/100, 100, s.x, 1), 0))
		must(s.CtxPopCurrent())(s.T)
		s.on(0, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"an asynchronous copy on another stream", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.copy(s.pinned(), device(s.x), s.b, true)
	}, []string{"read after write: read by a copy, write"}},
	{"an asynchronous copy to the device", func(s *streams) {
		s.copy(device(s.x), s.pinned(), s.a, true)
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write by a copy"}},
	{"an asynchronous copy, waited for", func(s *streams) {
		s.copy(device(s.x), s.pinned(), s.a, true)
		s.ok(s.StreamSynchronize(s.a))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"two copies", func(s *streams) {
		s.copy(device(s.x), s.pinned(), s.a, true)
		s.copy(device(s.y), device(s.x), s.b, true)
	}, []string{"read after write: read by a copy, write by a copy"}},
	{"a fill on another stream", func(s *streams) {
		s.on(s.a, "read", s.x, s.y)
		s.fill(s.x, s.b, true)
	}, []string{"write after read: write by a fill, read"}},
	{"a fill that does not wait, and a non-blocking stream", func(s *streams) {
		s.fill(s.x, 0, false)
		s.on(s.a, "read", s.x, s.y)
	}, []string{"read after write: read, write by a fill"}},
	{"a fill, and a blocking stream", func(s *streams) {
		s.fill(s.x, 0, false)
		s.on(s.p, "read", s.x, s.y)
	}, nil},
	{"a copy of the host's and a blocking stream", func(s *streams) {
		s.copy(device(s.x), s.pageable(), 0, false)
		s.on(s.p, "add", s.x, 1)
		s.copy(s.pageable(), device(s.x), 0, false)
	}, nil},
	{"the host reads what a non-blocking stream writes", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.copy(s.pageable(), device(s.x), 0, false)
	}, []string{"read after write: read by a copy, write"}},
	{"the host reads, then a non-blocking stream writes", func(s *streams) {
		s.copy(s.pageable(), device(s.x), 0, false)
		s.on(s.a, "write", s.x, 1)
	}, nil},
	{"memory that is not page-locked may still be on its way", func(s *streams) {
		s.copy(device(s.x), s.pageable(), 0, false)
		s.on(s.a, "read", s.x, s.y)
	}, []string{"read after write: read, write by a copy"}},
	{"what comes before such a copy is over", func(s *streams) {
		s.on(s.p, "write", s.x, 1)
		s.copy(device(s.z), s.pageable(), 0, false)
		s.on(s.a, "read", s.x, s.y)
	}, nil},
	{"page-locked memory is not", func(s *streams) {
		s.copy(device(s.x), s.pinned(), 0, false)
		s.on(s.a, "read", s.x, s.y)
	}, nil},
	{"copies within the device do not wait", func(s *streams) {
		s.copy(device(s.x), device(s.y), 0, false)
		s.on(s.a, "read", s.x, s.z)
	}, []string{"read after write: read, write by a copy"}},
	{"page-locked memory that a kernel writes", func(s *streams) {
		h := s.pinned()
		s.copy(h, device(s.x), s.a, true)
		s.on(s.b, "write", address(h.Host), 1)
	}, []string{"write after write: write, write by a copy"}},
	{"managed memory", func(s *streams) {
		m := must(s.MemAllocManaged(4*words, 1))(s.T)
		s.on(s.a, "write", m, 1)
		s.on(s.b, "read", m, s.y)
	}, []string{"read after write: read, write"}},
	{"a part of a page", func(s *streams) {
		s.ok(s.Memset(&Fill2D{Dst: s.x + 402, Size: 1, Width: 3, Height: 1}, s.a, true))
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write by a fill"}},
	{"a launch that has been followed by one that does no harm", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.a, "write", s.z, 1)
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"a launch that has been read by another", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.on(s.a, "read", s.x, s.z)
		s.on(s.b, "write", s.x, 1)
	}, []string{"same value written: write, write", "write after read: write, read"}},
	{"a flag between launches", func(s *streams) {
		s.one(s.a, "publish", s.x, s.z)
		s.one(s.b, "consume", s.x, s.z)
	}, nil},
	{"a flag that hands on what came before the launch", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.one(s.a, "publish", s.y, s.z)
		s.one(s.b, "consume", s.x, s.z)
	}, nil},
	{"a flag that does not", func(s *streams) {
		s.one(s.a, "publish", s.y, s.z)
		s.on(s.a, "write", s.x, 1)
		s.one(s.b, "consume", s.x, s.z)
	}, []string{"read after write: read, write"}},
	{"a flag of a kernel in flight", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.one(s.a, "publish", s.x, s.z)
	}, nil},
	{"a flag of a kernel in flight, not released", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.one(s.a, "announce", s.x, s.z)
	}, []string{"read after write: read, write"}},
	{"a flag of a kernel in flight that hands on what came before it", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.on(s.a, "write", s.x, 1)
		s.one(s.a, "publish", s.y, s.z)
	}, nil},
	{"a flag of a kernel in flight that does not", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.on(s.a, "write", s.x, 1)
		s.one(s.a, "announce", s.y, s.z)
	}, []string{"read after write: read, write"}},
	{"a flag after a fill next to a kernel in flight", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.fill(s.x, s.a, true)
		s.one(s.a, "publish", s.y, s.z)
	}, nil},
	{"a fill next to a kernel in flight", func(s *streams) {
		s.one(s.b, "consume", s.x, s.z)
		s.fill(s.x, s.a, true)
		s.one(s.a, "announce", s.y, s.z)
	}, []string{"read after write: read, write by a fill"}},
	{"a kernel that ends while another is in flight, and a later one", func(s *streams) {
		s.one(s.b, "consume", s.y, s.z)
		s.on(s.a, "write", s.x, 1)
		s.on(s.p, "read", s.x, s.y)
		s.one(s.p, "publish", s.y, s.z)
	}, []string{"read after write: read, write"}},
	{"memory of a stream, on it", func(s *streams) {
		m := must(s.MemAllocAsync(4*words, 0, s.a))(s.T)
		s.on(s.a, "write", m, 1)
		s.on(s.a, "read", m, s.y)
		s.ok(s.MemFreeAsync(m, s.a))
	}, nil},
	{"memory of a stream, on another", func(s *streams) {
		m := must(s.MemAllocAsync(4*words, 0, s.a))(s.T)
		s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
		s.on(s.b, "write", m, 1)
		s.ok(s.StreamWaitEvent(s.a, s.record(s.b), 0))
		s.ok(s.MemFreeAsync(m, s.a))
	}, nil},
	{"memory of a stream that another uses too early", func(s *streams) {
		m := must(s.MemAllocAsync(4*words, 0, s.a))(s.T)
		s.on(s.b, "read", m, s.y)
	}, []string{"read after write: read, write by an allocation"}},
	{"memory of a stream that another still uses", func(s *streams) {
		m := must(s.MemAllocAsync(4*words, 0, s.a))(s.T)
		s.ok(s.StreamSynchronize(s.a))
		s.on(s.b, "read", m, s.y)
		s.ok(s.MemFreeAsync(m, s.a))
	}, []string{"write after read: write by a free, read"}},
	{"memory of a stream that is freed without a synchronisation", func(s *streams) {
		m := must(s.MemAllocAsync(4*words, 0, s.a))(s.T)
		s.on(s.a, "write", s.x, 1)
		s.ok(s.MemFree(m))
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, write"}},
	{"memory that is freed synchronises", func(s *streams) {
		s.on(s.a, "write", s.x, 1)
		s.ok(s.MemFree(s.z))
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"a flag that the host overwrites", func(s *streams) {
		s.one(s.a, "publish", s.x, s.z)
		s.fill(s.z, s.a, true)
		s.one(s.b, "consume", s.x, s.z)
	}, []string{"read after write: read at scope .gpu, write by a fill", "read after write: read, write"}},
	{"copies and fills", func(s *streams) {
		s.copy(device(s.x), s.pinned(), s.a, true)
		s.fill(s.x, s.b, true)
		s.copy(device(s.x), s.pinned(), s.p, true)
	}, []string{"write after write: write by a copy, write by a fill", "write after write: write by a fill, write by a copy"}},
	{"many readers of a word on two streams", func(s *streams) {
		s.on(s.a, "same", s.x, s.y)
		s.on(s.b, "same", s.x, s.z)
		s.on(s.b, "write", s.x, 1)
	}, []string{"write after read: write, read"}},
	{"clusters of two launches", func(s *streams) {
		m := s.load(bulkKernel)
		f := must(s.ModuleGetFunction(m, "addc"))(s.T)
		for _, stream := range []Handle{s.a, s.b} {
			p := launchParams(f, 2, 1, s.x)
			p.Cluster = ptx.Dim(2)
			s.ok(s.LaunchKernel(p, stream))
		}
	}, []string{"write after write: atomic operation at scope .cluster, atomic operation at scope .cluster"}},
	{"the asynchronous proxy reads what an earlier launch has written", func(s *streams) {
		m := s.load(bulkKernel)
		s.on(s.a, "write", s.x, 1)
		s.ok(s.LaunchKernel(launchParams(must(s.ModuleGetFunction(m, "bulk"))(s.T), 1, 1, s.x), s.a))
	}, nil},
	{"the asynchronous proxy reads what a launch writes that is not ordered", func(s *streams) {
		m := s.load(bulkKernel)
		s.on(s.a, "write", s.x, 1)
		s.ok(s.LaunchKernel(launchParams(must(s.ModuleGetFunction(m, "bulk"))(s.T), 1, 1, s.x), s.b))
	}, []string{"read after write: asynchronous read, write"}},
	{"a graph with two ends, twice", func(s *streams) {
		x := s.readers()
		s.ok(s.GraphLaunch(x, s.a))
		s.ok(s.GraphLaunch(x, s.b))
	}, nil},
	{"two graphs", func(s *streams) {
		s.ok(s.GraphLaunch(s.readers(), s.a))
		s.ok(s.GraphLaunch(s.readers(), s.b))
	}, []string{"same value written: write, write", "same value written: write, write", "write after read: write, read"}},
	{"a graph without edges", func(s *streams) {
		s.ok(s.GraphLaunch(s.graph(), s.a))
	}, []string{"read after write: read, write", "write after read: write by a fill, read", "write after write: write by a fill, write"}},
	{"a graph with one edge", func(s *streams) {
		s.ok(s.GraphLaunch(s.graph([2]int{0, 1}), s.a))
	}, []string{"write after read: write by a fill, read", "write after write: write by a fill, write"}},
	{"a graph that forks", func(s *streams) {
		s.ok(s.GraphLaunch(s.graph([2]int{0, 1}, [2]int{0, 2}), s.a))
	}, []string{"write after read: write by a fill, read"}},
	{"a graph with all edges", func(s *streams) {
		x := s.graph([2]int{0, 1}, [2]int{1, 2})
		s.ok(s.GraphLaunch(x, s.a))
		s.ok(s.GraphLaunch(x, s.b)) // comes after its first launch
		s.on(s.b, "read", s.x, s.y)
	}, nil},
	{"a graph and another stream", func(s *streams) {
		s.ok(s.GraphLaunch(s.graph([2]int{0, 1}, [2]int{1, 2}), s.a))
		s.on(s.b, "read", s.x, s.z)
	}, []string{"read after write: read, write by a fill"}},
	{"what comes before a graph", func(s *streams) {
		s.on(s.b, "write", s.x, 1)
		s.ok(s.StreamWaitEvent(s.a, s.record(s.b), 0))
		s.ok(s.GraphLaunch(s.graph([2]int{0, 1}, [2]int{1, 2}), s.a))
		s.ok(s.StreamWaitEvent(s.b, s.record(s.a), 0))
		s.on(s.b, "write", s.x, 1)
	}, nil},
	{"many launches, then one that is not ordered", func(s *streams) {
		for i := range 40 {
			s.on(s.a, "add", s.x, i)
		}
		s.on(s.b, "read", s.x, s.y)
	}, []string{"read after write: read, atomic operation at scope .gpu"}},
}

// hostAddress matches addresses of the host, which differ between runs.
var hostAddress = regexp.MustCompile(`0x[0-9a-f]{9,}`)

// TestRacesBetweenStreams: accesses that streams, events, graphs and the host do not order are races, ordered accesses
// are not, with any number of host threads.
func TestRacesBetweenStreams(t *testing.T) {
	for _, p := range streamPrograms {
		t.Run(p.name, func(t *testing.T) {
			var first string
			for _, workers := range []int{1, 3} {
				s := newStreams(t, workers)
				p.run(s)
				s.ok(s.CtxSynchronize(0))
				list := s.d.sanitizer.Findings()
				var got []string
				for _, f := range list {
					got = append(got, fmt.Sprintf("%s: %s, %s", f.Kind, f.Place.Role, f.OtherPlace.Role))
				}
				slices.Sort(got)
				var b bytes.Buffer
				finding.Print(&b, list, nil, 0)
				if !slices.Equal(got, p.want) {
					t.Errorf("found %q, want %q\n%s", got, p.want, b.String())
				}
				message := hostAddress.ReplaceAllString(b.String(), "")
				if first == "" {
					first = message
				} else if first != message {
					t.Errorf("on %d threads\n%son one\n%s", workers, message, first)
				}
			}
		})
	}
}

// TestRaceNamesBothLaunches: both places are named, with their launches and streams.
func TestRaceNamesBothLaunches(t *testing.T) {
	s := newStreams(t, 1)
	s.on(s.a, "write", s.x, 1)
	s.on(s.b, "read", s.x, s.y)
	s.fill(s.x, s.p, true)
	s.ok(s.CtxSynchronize(0))
	var b bytes.Buffer
	finding.Print(&b, s.d.sanitizer.Findings(), nil, 0)
	for _, want := range []string{
		"read after write: the operations are not ordered", "in launch 1, on stream", "in launch 2, on stream", "byte 0 of buffer #1",
		"write by a fill, on stream", "by thread (0,0,0) in cta (0,0,0)", "1500 times in all",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("nothing says %q in\n%s", want, b.String())
		}
	}
}
