package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"gemu/driver/internal/sharedmem"
	"gemu/internal/cubin"
	"gemu/interp"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// kernels are the test kernels: add adds n to x[i] for each thread; poke stores a word at an address; spin ends when a
// word is not 0; get copies v to an address.
const kernels = `.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 v[4] = {11, 22, 33};
.const .align 4 .u32 c = 5;
.extern .shared .align 4 .b8 dyn[];
.visible .entry add(.param .u64 x, .param .u32 n)
{
	.reg .u32 %r<6>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1;
	ld.global.u32 %r4, [%rd0]; add.u32 %r4, %r4, %r0; st.global.u32 [%rd0], %r4;
	ret;
}
.visible .entry poke(.param .u64 at, .param .u32 value)
{
	.reg .u32 %r; .reg .u64 %rd;
	ld.param.u64 %rd, [at]; ld.param.u32 %r, [value];
	st.global.u32 [%rd], %r;
	ret;
}
.visible .entry spin(.param .u64 at)
{
	.reg .u32 %r; .reg .u64 %rd; .reg .pred %p;
	ld.param.u64 %rd, [at];
L:	ld.volatile.global.u32 %r, [%rd];
	setp.eq.u32 %p, %r, 0;
	@%p bra L;
	ret;
}
.visible .entry get(.param .u64 at)
{
	.reg .u32 %r<2>; .reg .u64 %rd<2>;
	ld.param.u64 %rd0, [at];
	ld.global.u32 %r0, [v+4]; ld.const.u32 %r1, [c]; add.u32 %r0, %r0, %r1;
	st.global.u32 [%rd0], %r0;
	ret;
}
.visible .entry scratch(.param .u64 at)
{
	.shared .b8 s[1024];
	.reg .u32 %r;
	ld.shared.u32 %r, [s];
	st.shared.u32 [dyn], %r;
	ret;
}
`

// client is a thread with a context, with helpers for tests.
type client struct {
	*testing.T
	*Thread
	messages *bytes.Buffer
	ctx      Handle
	mod      Handle
}

func newClient(t *testing.T, change func(*Settings)) *client {
	t.Helper()
	s := DefaultSettings()
	var messages lockedBuffer
	s.Stderr = &messages
	s.Memory = 64 << 20
	if change != nil {
		change(&s)
	}
	d := New(s)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Init(0); err != nil {
		t.Fatal(err)
	}
	c := &client{T: t, Thread: d.NewThread(), messages: &messages.Buffer}
	c.ctx = must(c.CtxCreate(0, 0))(t)
	c.mod = c.load(kernels)
	return c
}

// lockedBuffer is a buffer that is safe for concurrent writes.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// must returns the value of a call that must not fail.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (c *client) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// want checks that a call has failed with a result and a reason.
func (c *client) want(r Result, reason string, err error) {
	c.Helper()
	if ResultOf(err) != r || err != nil && !strings.Contains(err.Error(), reason) {
		c.Errorf("got %v, want %s with %q", err, r.Name(), reason)
	}
}

func cString(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s + "\x00")) }

func (c *client) load(ptx string) Handle {
	c.Helper()
	return must(c.ModuleLoadData(cString(ptx), 0))(c.T)
}

func (c *client) function(name string) Handle {
	c.Helper()
	return must(c.ModuleGetFunction(c.mod, name))(c.T)
}

// launchParams makes the parameters of a one-dimensional launch. Arguments must be of type uint64 or int.
func launchParams(f Handle, grid, block int, args ...any) *LaunchParams {
	pointers := make([]unsafe.Pointer, len(args)+1)
	for i, a := range args {
		b := make([]byte, 8)
		switch a := a.(type) {
		case uint64:
			binary.LittleEndian.PutUint64(b, a)
		case int:
			binary.LittleEndian.PutUint64(b, uint64(a))
		default:
			panic(fmt.Sprintf("argument %d of a launch is of type %T, want uint64 or int", i, a))
		}
		pointers[i] = unsafe.Pointer(&b[0])
	}
	return &LaunchParams{Func: f, Grid: interp.Dim(grid), Block: interp.Dim(block), Params: unsafe.Pointer(&pointers[0])}
}

func (c *client) launch(name string, grid, block int, args ...any) error {
	c.Helper()
	return c.LaunchKernel(launchParams(c.function(name), grid, block, args...), 0)
}

func (c *client) alloc(size uint64) uint64 {
	c.Helper()
	return must(c.MemAlloc(size))(c.T)
}

func (c *client) write(addr uint64, words ...uint32) {
	c.Helper()
	c.ok(c.Memcpy(Place{Kind: DevicePlace, Device: addr}, Place{Kind: HostPlace, Host: unsafe.Pointer(&words[0])}, uint64(4*len(words)), 0, false))
}

func (c *client) read(addr uint64, n int) []uint32 {
	c.Helper()
	words := make([]uint32, n)
	c.ok(c.Memcpy(Place{Kind: HostPlace, Host: unsafe.Pointer(&words[0])}, Place{Kind: DevicePlace, Device: addr}, uint64(4*n), 0, false))
	return words
}

func (c *client) expect(addr uint64, want ...uint32) {
	c.Helper()
	if got := c.read(addr, len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("got %v, want %v", got, want)
	}
}

// fixed returns the address of x, for memory that is referred to by number. It keeps x from moving: a goroutine's stack
// may move.
func fixed[T any](t *testing.T, x *T) uintptr {
	var p runtime.Pinner
	p.Pin(x)
	t.Cleanup(p.Unpin)
	return uintptr(unsafe.Pointer(x))
}

func TestLaunch(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(256)
	c.ok(c.Memset(&Fill2D{Dst: x, Value: 7, Size: 4, Width: 64, Height: 1}, 0, false))
	c.ok(c.launch("add", 2, 32, x, 3))
	if got := c.read(x, 64); got[0] != 10 || got[63] != 10 {
		t.Errorf("got %v", got)
	}
	// The same with a buffer of arguments: x at offset 0, n at offset 8.
	buffer := make([]byte, 12)
	binary.LittleEndian.PutUint64(buffer, x)
	binary.LittleEndian.PutUint32(buffer[8:], 90)
	size := uint64(len(buffer))
	extra := []uintptr{extraPointer, fixed(t, &buffer[0]), extraSize, fixed(t, &size), extraEnd}
	p := &LaunchParams{Func: c.function("add"), Grid: interp.Dim(1), Block: interp.Dim(1), Extra: unsafe.Pointer(&extra[0])}
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 100, 10)
	size = 8
	c.want(InvalidValue, "a buffer of 8 bytes", c.LaunchKernel(p, 0))
	p.Params = unsafe.Pointer(&extra[0])
	c.want(InvalidValue, "by pointers and by a buffer", c.LaunchKernel(p, 0))
	p.Params, p.Extra = nil, nil
	c.want(InvalidValue, "2 arguments wanted", c.LaunchKernel(p, 0))

	c.want(InvalidValue, "grid", c.launch("add", 0, 1, x, 1))
	c.want(InvalidValue, "1025", c.launch("add", 1, 1025, x, 1))
	if _, err := c.ModuleGetFunction(c.mod, "nothing"); ResultOf(err) != NotFound || !strings.Contains(err.Error(), "it has add, poke") {
		t.Errorf("got %v", err)
	}
	c.want(InvalidHandle, "no function", c.LaunchKernel(launchParams(c.mod, 1, 1, x), 0))
}

func TestDynamicShared(t *testing.T) {
	c := newClient(t, nil)
	f := c.function("scratch")
	p := launchParams(f, 1, 1, 0)
	p.Shared = 47 << 10
	c.ok(c.LaunchKernel(p, 0))
	p.Shared++
	c.want(InvalidValue, "48129 bytes of dynamic shared memory", c.LaunchKernel(p, 0))
	c.ok(c.FuncSetAttribute(FuncMaxDynamicShared, 90<<10, f))
	c.ok(c.LaunchKernel(p, 0))
	c.ok(c.CtxSynchronize(0))
	// A device of compute capability 8.6 has 99 KiB per block.
	c.want(InvalidValue, "at most 100352", c.FuncSetAttribute(FuncMaxDynamicShared, 99<<10, f))
	for a, want := range map[FunctionAttribute]int{FuncSharedSize: 1024, FuncMaxDynamicShared: 90 << 10, FuncMaxThreadsPerBlock: 1024, FuncPTXVersion: 80, FuncBinaryVersion: 86, FuncConstSize: 4} {
		if got, err := c.FuncGetAttribute(a, f); err != nil || got != want {
			t.Errorf("attribute %d is %d, %v, want %d", a, got, err, want)
		}
	}
}

// gridBarrier: each block adds 1 to a word in the grid's workspace and waits until all blocks have done so. Compiled by
// NVIDIA's compiler from testdata/nvcc/grid.cu.
const gridBarrier = `.version 7.8
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 x)
{
	.reg .u32 %r<8>; .reg .u64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1; mov.b64 %rd1, {%r0, %r1};
	mov.u32 %r2, %nctaid.x;
	atom.global.add.u32 %r3, [%rd1+4], 1;
L:	ld.acquire.gpu.u32 %r4, [%rd1+4];
	setp.lt.u32 %p, %r4, %r2;
	@%p bra L;
	atom.global.add.u32 %r5, [%rd0], 1;
	ret;
}
`

func TestCooperativeLaunch(t *testing.T) {
	c := newClient(t, nil)
	if got := must(c.d.DeviceGetAttribute(95, 0))(t); got != 1 {
		t.Errorf("COOPERATIVE_LAUNCH is %d", got)
	}
	c.mod = c.load(gridBarrier)
	x := c.alloc(4)
	// Compute capability 8.6 has 16 blocks per multiprocessor.
	p := launchParams(c.function("meet"), 16*interp.Multiprocessors, 1, x)
	p.Cooperative = true
	for range 2 { // each has its own workspace
		c.ok(c.LaunchKernel(p, 0))
	}
	c.expect(x, 2*16*interp.Multiprocessors)
	p.Grid.X++
	c.want(CooperativeLaunchTooLarge, "257 blocks, of which the device holds 256 at once", c.LaunchKernel(p, 0))
	// A launch that is not cooperative has no workspace.
	p.Cooperative = false
	c.ok(c.LaunchKernel(p, 0))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// clusters stores for each block the sum of the block numbers of its cluster, exchanged in shared memory; required has
// clusters of two blocks.
const clusters = `.version 8.0
.target sm_90
.address_size 64
.visible .entry free(.param .u64 x)
{
	.shared .u32 s;
	.reg .u32 %r<8>; .reg .u64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %ctaid.x; st.shared.u32 [s], %r0;
	barrier.cluster.arrive; barrier.cluster.wait;
	mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, 0;
L:	sub.u32 %r1, %r1, 1;
	mapa.shared::cluster.u32 %r3, s, %r1;
	ld.shared::cluster.u32 %r4, [%r3];
	add.u32 %r2, %r2, %r4;
	setp.ne.u32 %p, %r1, 0;
	@%p bra L;
	barrier.cluster.arrive; barrier.cluster.wait;
	mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], %r2;
	ret;
}
.visible .entry required() .reqnctapercluster 2, 1, 1 { ret; }
`

// CUfunction_attribute in cuda.h documents which attributes can be read and set.
func TestClusters(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.SM = 90 })
	if got := must(c.d.DeviceGetAttribute(120, 0))(t); got != 1 {
		t.Errorf("CLUSTER_LAUNCH is %d", got)
	}
	c.mod = c.load(clusters)
	x := c.alloc(64)
	free, required := c.function("free"), c.function("required")
	p := launchParams(free, 6, 1, x)
	p.Cluster = interp.Dim(3)
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 3, 3, 3, 12, 12, 12)
	p.Cluster = interp.Dim(4)
	c.want(InvalidValue, "not made of whole clusters", c.LaunchKernel(p, 0))
	p.Grid, p.Cluster = interp.Dim(16), interp.Dim(16)
	c.want(InvalidClusterSize, "a cluster of 16 blocks, at most 8", c.LaunchKernel(p, 0))
	if n := must(c.OccupancyMaxPotentialClusterSize(p))(t); n != 8 {
		t.Errorf("clusters of %d", n)
	}
	c.ok(c.FuncSetAttribute(FuncNonPortableCluster, 1, free))
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 120, 120)
	if n := must(c.OccupancyMaxPotentialClusterSize(p))(t); n != 16 {
		t.Errorf("clusters of %d", n)
	}
	// Compute capability 9.0 has 32 blocks per multiprocessor.
	if n := must(c.OccupancyMaxActiveClusters(p))(t); n != 32 {
		t.Errorf("%d clusters at once", n)
	}
	// Without clusters, each block is alone, unless an attribute requires clusters.
	p.Grid, p.Cluster = interp.Dim(4), interp.Dim3{}
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 0, 1, 2, 3)
	for a, n := range map[FunctionAttribute]int{FuncClusterWidth: 2, FuncClusterHeight: 1, FuncClusterDepth: 1} {
		c.ok(c.FuncSetAttribute(a, n, free))
	}
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 1, 1, 5, 5)
	for a, want := range map[FunctionAttribute]int{FuncClusterMustBeSet: 1, FuncClusterWidth: 2, FuncClusterHeight: 1, FuncClusterDepth: 1, FuncNonPortableCluster: 0} {
		if got := must(c.FuncGetAttribute(a, required))(t); got != want {
			t.Errorf("attribute %d is %d, want %d", a, got, want)
		}
	}
	c.want(NotPermitted, "", c.FuncSetAttribute(FuncClusterWidth, 4, required))
	p = launchParams(required, 4, 1)
	c.ok(c.LaunchKernel(p, 0))
	p.Cluster = interp.Dim(4)
	c.want(InvalidClusterSize, "requires clusters of (2,1,1)", c.LaunchKernel(p, 0))
	c.ok(c.CtxSynchronize(0))
}

// The first fault of a context is the result of every later call in it, and is reported once in full. A second context
// is not affected.
func TestFault(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(256)
	p := launchParams(c.function("add"), 1, 65, x, 1)
	c.ok(c.LaunchKernel(p, 0))
	c.want(IllegalAddress, "out-of-bounds global load of 4 bytes", c.CtxSynchronize(0))
	c.want(IllegalAddress, "", c.LaunchKernel(p, 0))
	_, err := c.MemAlloc(4)
	c.want(IllegalAddress, "", err)
	if m := c.messages.String(); strings.Count(m, "trap") != 1 || !strings.Contains(m, "ld.global.u32 %r4, [%rd0]") || !strings.Contains(m, "nearest allocation: buffer #1 [") {
		t.Errorf("messages are %s", m)
	}
	other := must(c.CtxCreate(0, 0))(t)
	c.mod = c.load(kernels)
	y := c.alloc(4)
	c.ok(c.launch("poke", 1, 1, y, 42))
	c.expect(y, 42)
	c.ok(c.CtxDestroy(other))
	c.ok(c.CtxDestroy(c.ctx))
	c.want(InvalidContext, "", c.CtxSynchronize(0))
}

// With ContinueOnFault, each fault is the result of one call, and the context continues with the memory as it is.
func TestContinueOnFault(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.ContinueOnFault = true })
	x := c.alloc(256)
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	e := must(c.EventCreate(0))(t)
	bad := func(on Handle) {
		c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 65, x, 1), on))
	}
	for name, wait := range map[string]func() error{
		"context": func() error { return c.CtxSynchronize(0) },
		"stream":  func() error { return c.StreamSynchronize(s) },
		"event": func() error {
			c.ok(c.EventRecord(e, s))
			return c.EventSynchronize(e)
		},
		"copy": func() error {
			c.ok(c.StreamWaitEvent(0, e, 0))
			c.ok(c.EventRecord(e, s))
			c.ok(c.StreamWaitEvent(0, e, 0))
			return c.Memcpy(device(x), device(x), 4, 0, false)
		},
	} {
		bad(s)
		c.want(IllegalAddress, "out-of-bounds global load of 4 bytes", wait())
		if err := wait(); err != nil {
			t.Errorf("%s: the second call gives %v", name, err)
		}
	}
	bad(s)
	var err error
	for err = NotReady; hasResult(err, NotReady); err = c.StreamQuery(s) {
	}
	c.want(IllegalAddress, "", err)
	c.ok(c.StreamQuery(s))
	// Work submitted after the fault runs, and so does later work.
	y := c.alloc(4)
	c.write(y, 5)
	bad(0)
	c.ok(c.add(y, 1, 1, 0))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
	c.ok(c.add(y, 1, 1, 0))
	c.expect(y, 7)
	if n := strings.Count(c.messages.String(), "out-of-bounds global load of 4 bytes"); n != 6 {
		t.Errorf("%d faults are told, want 6: %s", n, c.messages)
	}
	// A call that waits for several faults returns the first, and the number of further faults.
	for range 3 {
		bad(0)
	}
	c.want(IllegalAddress, "out-of-bounds global load of 4 bytes", c.CtxSynchronize(0))
	bad(0)
	bad(0)
	c.want(IllegalAddress, "(and 1 more since the last call that has waited, each on standard error)", c.CtxSynchronize(0))
	c.ok(c.CtxSynchronize(0))
	if n := strings.Count(c.messages.String(), "out-of-bounds global load of 4 bytes"); n != 11 {
		t.Errorf("%d faults are told, want 11: %s", n, c.messages)
	}
	// A stream stops waiting for a value after a failed operation: that may have been the operation that writes the
	// value.
	c.ok(c.StreamMemoryOps(s, []MemoryOp{{Kind: WaitValue32, Addr: y, Value: 99, Flags: 1}}, 0))
	bad(must(c.StreamCreate(flagNonBlocking, 0))(t))
	c.want(IllegalAddress, "", c.StreamSynchronize(s))
	c.ok(c.StreamSynchronize(s))
	// With blocking launches, the launch call fails.
	c = newClient(t, func(s *Settings) { s.ContinueOnFault, s.Blocking = true, true })
	x = c.alloc(256)
	p := launchParams(c.function("add"), 1, 65, x, 1)
	c.want(IllegalAddress, "", c.LaunchKernel(p, 0))
	c.ok(c.CtxSynchronize(0))
}

// TestEachFaultCounts: sanitizers count every faulty kernel, whether the context continues or not, and every kernel of
// a graph that cannot begin.
func TestEachFaultCounts(t *testing.T) {
	tools, err := sanitize.Parse("bounds")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, func(s *Settings) { s.ContinueOnFault, s.Sanitize = true, tools })
	x := c.alloc(256)
	other := c.load(strings.ReplaceAll(kernels, "entry poke", "entry push"))
	push := must(c.ModuleGetFunction(other, "push"))(t)
	for range 3 {
		c.ok(c.launch("poke", 1, 1, x+1000, 1))
		c.ok(c.launch("poke", 1, 1, x, 1))
	}
	c.ok(c.LaunchKernel(launchParams(push, 1, 1, x+1000, 1), 0))
	c.want(IllegalAddress, "(and 3 more since", c.CtxSynchronize(0))
	d := c.Thread.d
	failed := func() (n int) {
		for _, f := range d.sanitizer.Findings() {
			if f.Severity == finding.Error {
				n += f.Count
			}
		}
		return n
	}
	if n := failed(); n != 4 {
		t.Errorf("%d errors, want 4: %+v", n, d.sanitizer.Findings())
	}
	// A graph cannot begin if the module of one of its kernels was unloaded.
	g := must(c.GraphCreate(0))(t)
	must(c.GraphAddKernelNode(g, nil, launchParams(push, 1, 1, x, 1)))(t)
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, 0))
	c.ok(c.ModuleUnload(other))
	c.want(InvalidHandle, "the module of kernel push was unloaded", c.GraphLaunch(exec, 0))
	if n := failed(); n != 5 {
		t.Errorf("%d errors, want 5: %+v", n, d.sanitizer.Findings())
	}
	// A refused node counts as a failed launch.
	if _, err := c.GraphAddKernelNode(g, nil, launchParams(c.function("poke"), 1, 2000, x, 1)); ResultOf(err) != InvalidValue {
		t.Error(err)
	}
	if n := failed(); n != 6 {
		t.Errorf("%d errors, want 6: %+v", n, d.sanitizer.Findings())
	}

	// A graph that is refused because its context has failed is a consequence: its launches are not judged.
	c = newClient(t, func(s *Settings) { s.Sanitize = tools })
	d = c.Thread.d
	x = c.alloc(256)
	g = must(c.GraphCreate(0))(t)
	must(c.GraphAddKernelNode(g, nil, launchParams(c.function("poke"), 1, 1, x, 1)))(t)
	exec = must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.launch("poke", 1, 1, x+1000, 1))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
	c.want(IllegalAddress, "", c.GraphLaunch(exec, 0))
	if n, missed := failed(), d.sanitizer.Coverage().NotJudged; n != 1 || missed != 1 {
		t.Errorf("%d errors, want 1; %d launches not judged, want 1: %+v", n, missed, d.sanitizer.Findings())
	}
}

func TestFaultResults(t *testing.T) {
	for _, k := range []struct {
		body string
		want Result
	}{
		{"st.global.u32 [%rd+1], 0;", MisalignedAddress},
		{"trap;", LaunchFailed},
		{"st.global.u32 [%rd+1024], 0;", IllegalAddress},
		{"L: bra L;", LaunchTimeout},
		{".reg .u32 %r; .reg .pred %p; L: ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra L;", LaunchTimeout},
	} {
		c := newClient(t, nil)
		c.mod = c.load(".version 7.8 .target sm_80 .address_size 64 .entry k(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; " + k.body + " ret; }")
		x := c.alloc(16)
		c.ok(c.launch("k", 1, 1, x))
		c.want(k.want, "", c.StreamSynchronize(0))
	}
	c := newClient(t, func(s *Settings) { s.Steps = 1000 })
	c.ok(c.launch("spin", 1, 1, c.alloc(4)))
	c.want(LaunchTimeout, "step limit", c.StreamSynchronize(0))
	if !strings.Contains(c.messages.String(), "GEMU_STEPS raises the limit") {
		t.Errorf("what to do is not said: %s", c.messages)
	}
	c = newClient(t, func(s *Settings) { s.TimeLimit, s.Steps = time.Millisecond, 1<<62 })
	c.ok(c.launch("spin", 1, 1, c.alloc(4)))
	c.want(LaunchTimeout, "time limit", c.StreamSynchronize(0))
	if !strings.Contains(c.messages.String(), "GEMU_TIME_LIMIT sets the limit") {
		t.Errorf("what to do is not said: %s", c.messages)
	}
	c = newClient(t, nil)
	x := c.alloc(16)
	c.ok(c.MemFree(x))
	c.ok(c.launch("poke", 1, 1, x, 1))
	c.want(IllegalAddress, "has been freed", c.StreamSynchronize(0))
}

// TestTolerate: a kernel continues after a tolerated fault, and standard error has a notice; otherwise the message
// names the setting.
func TestTolerate(t *testing.T) {
	for _, k := range []struct {
		by   interp.Tolerance
		want Result
		text string
	}{
		{interp.Strict, IllegalAddress, "GEMU_TOLERATE=shared-unit lets the kernel go on"},
		{interp.SharedUnit, Success, "notice: out-of-bounds shared load of 4 bytes at 0x8 "},
	} {
		c := newClient(t, func(s *Settings) { s.Tolerate = k.by })
		c.mod = c.load(".version 7.8 .target sm_80 .address_size 64 .entry k(.param .u64 x) { .shared .u32 s[2]; .reg .u32 %r; ld.shared.u32 %r, [s+8]; ret; }")
		c.ok(c.launch("k", 1, 1, c.alloc(16)))
		err := c.StreamSynchronize(0)
		if got := ResultOf(err); got != k.want {
			t.Errorf("tolerating %q: %v, want %v", k.by, got, k.want)
		}
		if !strings.Contains(c.messages.String(), k.text) {
			t.Errorf("tolerating %q: the messages lack %q: %s", k.by, k.text, c.messages)
		}
	}
}

// TestNativeNotice: one message gives the reason if the user asked for machine code and Go executes a launch; otherwise
// there is no message.
func TestNativeNotice(t *testing.T) {
	if interp.Native == nil {
		t.Skip("there is no machine code for this host")
	}
	for _, k := range []struct {
		engine string
		change func(s *Settings)
		maps   bool   // registers host memory, which may fault
		want   string // "": no message
	}{
		{"native", nil, false, ""},
		{"native", func(s *Settings) { s.Sanitize = sanitize.Tools[:1] }, false, "GEMU_ENGINE=native: launches that are watched"},
		{"native", func(s *Settings) { s.Stats = filepath.Join(t.TempDir(), "s.json") }, false, "GEMU_ENGINE=native: launches that are watched"},
		{"native", func(s *Settings) { s.Log = filepath.Join(t.TempDir(), "l.gtr") }, false, "GEMU_ENGINE=native: launches that are watched"},
		{"native", nil, true, "GEMU_ENGINE=native: launches run in Go while memory is mapped that may fault"},
		{"auto", func(s *Settings) { s.Sanitize = sanitize.Tools[:1] }, true, ""},
	} {
		c := newClient(t, func(s *Settings) {
			env := map[string]string{"GEMU_ENGINE": k.engine}
			if err := s.Environment(func(name string) string { return env[name] }); err != nil {
				t.Fatal(err)
			}
			if k.change != nil {
				k.change(s)
			}
		})
		x := c.alloc(16)
		if k.maps {
			page := make([]byte, 2*os.Getpagesize())
			c.ok(c.MemHostRegister(pointerTo(page), 16, 0))
		}
		for range 2 {
			c.ok(c.launch("add", 1, 1, x, 1))
			c.ok(c.StreamSynchronize(0))
		}
		messages := c.messages.String()
		if n := strings.Count(messages, "GEMU_ENGINE=native:"); n > 1 || (n == 1) != (k.want != "") || !strings.Contains(messages, k.want) {
			t.Errorf("%s, registered %t: want one message with %q: %s", k.engine, k.maps, k.want, messages)
		}
	}
}

func TestModule(t *testing.T) {
	c := newClient(t, nil)
	v, size, err := c.ModuleGetGlobal(c.mod, "v")
	if err != nil || size != 16 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	c.expect(v, 11, 22, 33, 0)
	c.write(v+4, 100)
	konst, _, err := c.ModuleGetGlobal(c.mod, "c")
	c.ok(err)
	c.write(konst, 1000)
	x := c.alloc(4)
	c.ok(c.launch("get", 1, 1, x))
	c.expect(x, 1100)
	again := c.load(kernels) // has its own variables
	v2, _, err := c.ModuleGetGlobal(again, "v")
	c.ok(err)
	c.expect(v2, 11, 22, 33, 0)
	f := c.function("get")
	c.ok(c.ModuleUnload(c.mod))
	c.want(InvalidHandle, "", c.LaunchKernel(launchParams(f, 1, 1, x), 0))
	c.want(InvalidHandle, "", c.ModuleUnload(c.mod))
	if _, _, err := c.MemGetAddressRange(v); err == nil {
		t.Error("the variable of an unloaded module is known")
	}

	_, err = c.ModuleLoadData(cString(".version 7.8\n.target sm_80\n.entry k() { nonsense; }"), 0)
	c.want(InvalidPTX, "3 | .entry k() { nonsense; }", err)
	_, err = c.ModuleLoad("/nonexistent")
	c.want(FileNotFound, "", err)
	_, err = c.ModuleLoad("/dev/zero")
	c.want(InvalidImage, "/dev/zero: more than 256 MiB", err)
}

// A module for a newer device than this one claims to be runs. The version of PTX that
// a function has is that of the virtual architecture it was compiled for (driver API,
// CU_FUNC_ATTRIBUTE_PTX_VERSION); the text says PTX 7.8.
func TestNewerTarget(t *testing.T) {
	c := newClient(t, nil)
	for target, want := range map[string]int{"sm_70": 70, "sm_80": 80, "sm_90a": 90, "sm_120": 120} {
		c.mod = c.load(strings.Replace(kernels, "sm_80", target, 1))
		if got := must(c.FuncGetAttribute(FuncPTXVersion, c.function("poke")))(t); got != want {
			t.Errorf("%s: PTX version %d, want %d", target, got, want)
		}
		x := c.alloc(4)
		c.ok(c.launch("poke", 1, 1, x, 6))
		c.expect(x, 6)
	}
}

func TestMemory(t *testing.T) {
	c := newClient(t, nil)
	free, total, err := c.MemGetInfo()
	if err != nil || total != 64<<20 {
		t.Fatalf("%d of %d, %v", free, total, err)
	}
	x := c.alloc(1 << 20)
	if now, _, _ := c.MemGetInfo(); now != free-1<<20 {
		t.Errorf("%d bytes are free, %d were", now, free)
	}
	_, err = c.MemAlloc(64 << 20)
	c.want(OutOfMemory, "", err)
	_, err = c.MemAlloc(0)
	c.want(InvalidValue, "", err)
	c.expect(x, 0, 0)
	c.write(x, 1, 2, 3, 4, 5, 6)
	c.ok(c.Memcpy(Place{Kind: DevicePlace, Device: x + 4}, Place{Kind: DevicePlace, Device: x}, 16, 0, false)) // overlaps: behaves like memmove
	c.expect(x, 1, 1, 2, 3, 4, 6)
	c.want(InvalidValue, "do not lie in an allocation", c.Memcpy(Place{Kind: DevicePlace, Device: x + 1<<20 - 4}, Place{Kind: DevicePlace, Device: x}, 8, 0, false))
	c.want(InvalidValue, "no memory of the host", c.Memcpy(Place{Kind: DevicePlace, Device: x}, Place{Kind: HostPlace, Host: pointer(1 << 20)}, 8, 0, false))
	if base, size, err := c.MemGetAddressRange(x + 77); err != nil || base != x || size != 1<<20 {
		t.Errorf("%#x, %d, %v", base, size, err)
	}
	c.want(InvalidValue, "", c.MemFree(x+4))
	c.ok(c.MemFree(x))
	c.want(InvalidValue, "", c.MemFree(x))
	if now, _, _ := c.MemGetInfo(); now != free {
		t.Errorf("%d bytes are free, %d were", now, free)
	}
	y, pitch, err := c.MemAllocPitch(100, 3, 4)
	if err != nil || pitch < 100 || pitch%4 != 0 {
		t.Fatalf("pitch %d, %v", pitch, err)
	}
	c.ok(c.Memset(&Fill2D{Dst: y, Pitch: pitch, Value: 0x1234, Size: 2, Width: 3, Height: 2}, 0, false))
	c.expect(y, 0x12341234, 0x1234, 0)
	c.expect(y+pitch, 0x12341234, 0x1234, 0)
	c.expect(y+2*pitch, 0)
	// Two columns of the second and third row, to packed memory.
	c.write(y+pitch+4, 1, 2)
	c.write(y+2*pitch+4, 3, 4)
	var out [4]uint32
	c.ok(c.Memcpy3D(&Copy3D{
		Src:   Side{Place: Place{Kind: DevicePlace, Device: y}, X: 4, Y: 1, Pitch: pitch},
		Dst:   Side{Place: Place{Kind: HostPlace, Host: unsafe.Pointer(&out)}, Pitch: 8},
		Width: 8, Height: 2, Depth: 1,
	}, 0, false))
	if out != [4]uint32{1, 2, 3, 4} {
		t.Errorf("got %v", out)
	}
}

// Memory is aligned for textures (attribute 14), and large allocations are aligned to 2 MiB, the page size of a GPU.
func TestAlignment(t *testing.T) {
	c := newClient(t, nil)
	texture := must(c.d.DeviceGetAttribute(14, 0))(t)
	for _, size := range []uint64{1, 300, 4096, 1 << 20, 5, 3 << 20} {
		align := uint64(texture)
		if size >= 1<<20 {
			align = 2 << 20
		}
		if x := c.alloc(size); x%align != 0 {
			t.Errorf("%d bytes are at %#x, want a multiple of %d", size, x, align)
		}
	}
}

// Stream-ordered memory is accessible from its allocation to its free, in the order of the stream. The host waits for
// neither.
func TestStreamOrderedMemory(t *testing.T) {
	c := newClient(t, nil)
	if got := must(c.d.DeviceGetAttribute(115, 0))(t); got != 1 {
		t.Errorf("MEMORY_POOLS_SUPPORTED is %d", got)
	}
	pool := must(c.d.MemGetMemPool(Location{OnDevice, 0}, PinnedMemory))(t)
	attribute := func(a PoolAttribute, want uint64) {
		t.Helper()
		if got := must(c.d.MemPoolGetAttribute(pool, a))(t); got != want {
			t.Errorf("attribute %d is %d, want %d", a, got, want)
		}
	}
	free, _, err := c.MemGetInfo()
	c.ok(err)
	s := must(c.StreamCreate(1, 0))(t)
	gate := make(chan struct{})
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	x := must(c.MemAllocAsync(1000, 0, s))(t)
	y := must(c.MemAllocAsync(3<<20, 0, s))(t)
	if x%512 != 0 || y%(2<<20) != 0 {
		t.Errorf("at %#x and %#x", x, y)
	}
	attribute(PoolUsed, 1000+3<<20)
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, x+996, 7), s))
	word := must(c.MemHostAlloc(4, 0))(t)
	c.ok(c.Memcpy(Place{Kind: HostPlace, Host: word}, Place{Kind: DevicePlace, Device: x + 996}, 4, s, true))
	c.ok(c.MemFreeAsync(x, s))
	if now, _, _ := c.MemGetInfo(); free-now != 3<<20 {
		t.Errorf("%d bytes are in use", free-now)
	}
	attribute(PoolUsed, 3<<20)
	attribute(PoolUsedHigh, 1000+3<<20)
	c.ok(c.d.MemPoolSetAttribute(pool, PoolUsedHigh, 0))
	attribute(PoolUsedHigh, 3<<20)
	c.want(NotReady, "", c.StreamQuery(s))
	close(gate)
	c.ok(c.StreamSynchronize(s))
	if got := *(*uint32)(word); got != 7 {
		t.Errorf("got %d", got)
	}
	c.want(InvalidValue, "", c.MemFreeAsync(x, s))
	c.ok(c.MemFree(y)) // MemFree may free it, and MemFreeAsync may free memory of MemAlloc
	c.ok(c.MemFreeAsync(c.alloc(8), 0))
	attribute(PoolUsed, 0)

	mine := must(c.d.MemPoolCreate(Location{OnDevice, 0}, PinnedMemory, 0, 5000))(t)
	c.ok(c.d.MemSetMemPool(Location{OnDevice, 0}, PinnedMemory, mine))
	z := must(c.MemAllocAsync(4000, 0, s))(t)
	if got := must(c.PointerGetAttribute(PointerMemPool, z))(t); got != uint64(mine) {
		t.Errorf("of pool %#x, want %#x", got, mine)
	}
	_, err = c.MemAllocAsync(1001, 0, s)
	c.want(OutOfMemory, "4000 of the pool's 5000 in use", err)
	c.ok(c.d.MemPoolDestroy(mine))
	c.want(InvalidValue, "", c.d.MemPoolDestroy(mine))
	c.want(InvalidValue, "default", c.d.MemPoolDestroy(pool))
	if got := must(c.d.MemGetMemPool(Location{OnDevice, 0}, PinnedMemory))(t); got != pool {
		t.Errorf("pool %#x is current, want %#x", got, pool)
	}
	c.ok(c.MemFreeAsync(z, s))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, z, 7), s)) // too late
	c.want(IllegalAddress, "", c.StreamSynchronize(s))
	if !strings.Contains(c.messages.String(), "has been freed") {
		t.Errorf("told: %s", c.messages)
	}
}

// Stream-ordered host memory and managed memory have host addresses, and the host reads them there.
func TestStreamOrderedHostMemory(t *testing.T) {
	c := newClient(t, nil)
	for _, of := range []struct {
		where  Location
		kind   MemoryType
		charge uint64
	}{{Location{Type: 2}, PinnedMemory, 0}, {Location{Type: 3}, PinnedMemory, 0}, {Location{}, ManagedMemory, 400}, {Location{OnDevice, 0}, ManagedMemory, 400}} {
		pool := must(c.d.MemGetDefaultMemPool(of.where, of.kind))(t)
		s := must(c.StreamCreate(1, 0))(t)
		x := must(c.MemAllocAsync(400, pool, s))(t)
		c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 100, x, 5), s))
		c.ok(c.StreamSynchronize(s))
		if got := *(*uint32)(pointer(x + 396)); got != 5 {
			t.Errorf("%+v: got %d, want 5", of, got)
		}
		if free, total, err := c.MemGetInfo(); err != nil || total-free != of.charge {
			t.Errorf("%+v: %d of %d bytes are free, %v", of, free, total, err)
		}
		if got := must(c.d.MemPoolGetAttribute(pool, PoolMemoryType))(t); got != uint64(of.kind) {
			t.Errorf("%+v: the memory is of type %d", of, got)
		}
		c.want(InvalidValue, "not the beginning of such memory", c.MemFreeHost(pointer(x)))
		c.ok(c.MemFreeAsync(x, s))
		c.ok(c.StreamSynchronize(s))
		if free, total, err := c.MemGetInfo(); err != nil || free != total {
			t.Errorf("%+v: %d of %d bytes are free, %v", of, free, total, err)
		}
	}
	_, err := c.d.MemGetMemPool(Location{OnDevice, 1}, ManagedMemory)
	c.want(InvalidDevice, "", err)
	_, err = c.d.MemGetMemPool(Location{}, PinnedMemory)
	c.want(NotSupported, "location of type 0", err)
	_, err = c.d.MemGetMemPool(Location{OnDevice, 0}, 3)
	c.want(InvalidValue, "type 3", err)
}

// Host memory from the driver and registered host memory have the same address on host and device.
func TestHostMemory(t *testing.T) {
	c := newClient(t, nil)
	p := must(c.MemHostAlloc(64, 0))(t)
	words := unsafe.Slice((*uint32)(p), 16)
	words[3] = 5
	addr := must(c.MemHostGetDevicePointer(p, 0))(t)
	c.ok(c.launch("add", 1, 16, addr, 2))
	c.ok(c.CtxSynchronize(0))
	if words[3] != 7 || words[15] != 2 {
		t.Errorf("got %v", words)
	}
	c.ok(c.Memset(&Fill2D{Dst: addr, Value: 3, Size: 4, Width: 16, Height: 1}, 0, false))
	if words[15] != 3 {
		t.Errorf("a fill that the host sees has not waited: %v", words)
	}
	if kind, err := c.PointerGetAttribute(PointerMemoryType, addr); err != nil || PlaceKind(kind) != HostPlace {
		t.Errorf("got %d, %v", kind, err)
	}
	c.ok(c.MemFreeHost(p))
	c.want(InvalidValue, "", c.MemFreeHost(p))

	data, release, err := new(sharedmem.Allocator).Allocate(1 << 17)
	c.ok(err)
	defer release()
	mine := unsafe.Pointer(&data[0])
	c.ok(c.MemHostRegister(mine, 4096, 0))
	c.want(HostMemoryAlreadyRegistered, "", c.MemHostRegister(unsafe.Add(mine, 100), 8, 0))
	c.ok(c.launch("poke", 1, 1, address(mine), 9))
	c.ok(c.CtxSynchronize(0))
	if data[0] != 9 {
		t.Errorf("got %d", data[0])
	}
	c.ok(c.MemHostUnregister(mine))
	c.want(HostMemoryNotRegistered, "", c.MemHostUnregister(mine))
	m := must(c.MemAllocManaged(128, 1))(t)
	*(*uint32)(pointer(m)) = 40
	c.ok(c.launch("add", 1, 1, m, 2))
	c.ok(c.CtxSynchronize(0))
	if got := *(*uint32)(pointer(m)); got != 42 {
		t.Errorf("got %d", got)
	}
	c.ok(c.launch("poke", 1, 1, address(mine), 9))
	c.want(IllegalAddress, "", c.CtxSynchronize(0))
}

// A .managed variable has one address for kernels and the host (driver API, "Unified Addressing": the pointers of
// managed memory are valid on both).
func TestManagedVariable(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(strings.Replace(kernels, ".align 4 .u32 v[4]", ".attribute(.managed) .align 128 .u32 v[4]", 1))
	v, size, err := c.ModuleGetGlobal(c.mod, "v")
	if err != nil || size != 16 || v%128 != 0 || v >= firstAddress {
		t.Fatalf("%d bytes at %#x, %v", size, v, err)
	}
	words := unsafe.Slice((*uint32)(pointer(v)), 4)
	if words[2] != 33 {
		t.Errorf("the host reads %v", words)
	}
	words[1] = 700
	x := c.alloc(4)
	c.ok(c.launch("get", 1, 1, x)) // v[1] + 5
	c.expect(x, 705)
	c.ok(c.launch("poke", 1, 1, v+12, 9))
	c.ok(c.CtxSynchronize(0))
	if words[3] != 9 {
		t.Errorf("the host reads %v", words)
	}
	if got := must(c.PointerGetAttribute(PointerIsManaged, v))(t); got != 1 {
		t.Errorf("managed: %d", got)
	}
	c.ok(c.MemAdvise(v, 16, SetReadMostly, 0))
	c.want(InvalidValue, "", c.MemFree(v))
	c.ok(c.ModuleUnload(c.mod))
	if _, _, err := c.MemGetAddressRange(v); err == nil {
		t.Error("the variable of an unloaded module is known")
	}
}

// Streams run in parallel, each in order; events and the default stream order them.
func TestStreams(t *testing.T) {
	c := newClient(t, nil)
	flag := must(c.MemHostAlloc(4, 0))(t)
	a := must(c.StreamCreate(flagNonBlocking, 0))(t)
	b := must(c.StreamCreate(flagNonBlocking, 0))(t)
	x := c.alloc(4)
	gate := make(chan struct{})
	c.ok(c.LaunchHostFunc(a, HostFunc{Call: func() { <-gate }}))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, address(flag), 1), a))
	c.ok(c.LaunchKernel(launchParams(c.function("poke"), 1, 1, x, 77), a))
	e := must(c.EventCreate(0))(t)
	c.ok(c.EventRecord(e, a))
	c.want(NotReady, "", c.EventQuery(e))
	c.want(NotReady, "", c.StreamQuery(a))
	c.ok(c.StreamQuery(b))
	c.ok(c.StreamWaitEvent(b, e, 0))
	c.want(NotReady, "", c.StreamQuery(b))
	c.ok(c.StreamQuery(0)) // the default stream does not wait for non-blocking streams
	var order []string
	c.ok(c.LaunchHostFunc(b, HostFunc{Call: func() { order = append(order, "b") }}))
	close(gate)
	c.ok(c.StreamSynchronize(b))
	c.ok(c.EventQuery(e))
	if len(order) != 1 || *(*uint32)(flag) != 1 {
		t.Errorf("order %v, flag %d", order, *(*uint32)(flag))
	}
	c.expect(x, 77)
	e2 := must(c.EventCreate(0))(t)
	c.ok(c.EventRecord(e2, a))
	c.ok(c.EventSynchronize(e2))
	if ms, err := c.EventElapsedTime(e, e2); err != nil || ms < 0 {
		t.Errorf("%v ms, %v", ms, err)
	}
	if ms, _ := c.EventElapsedTime(e2, e); ms > 0 {
		t.Errorf("%v ms backwards", ms)
	}
	// A blocking stream and the default stream wait for each other.
	s := must(c.StreamCreate(0, 0))(t)
	gate = make(chan struct{})
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	done := make(chan bool, 1)
	c.ok(c.LaunchHostFunc(0, HostFunc{Call: func() { done <- true }}))
	c.want(NotReady, "", c.StreamQuery(0))
	close(gate)
	c.ok(c.CtxSynchronize(0))
	if !<-done {
		t.Fail()
	}
	c.ok(c.StreamDestroy(s))
	c.want(InvalidHandle, "", c.StreamSynchronize(s))
}

func TestContexts(t *testing.T) {
	d := New(DefaultSettings())
	th := d.NewThread()
	c := &client{T: t, Thread: th}
	_, err := th.CtxCreate(0, 0)
	c.want(NotInitialized, "", err)
	c.ok(d.Init(0))
	c.want(InvalidContext, "", th.CtxSynchronize(0))
	primary := must(d.PrimaryCtxRetain(0))(t)
	if again := must(d.PrimaryCtxRetain(0))(t); again != primary {
		t.Errorf("%#x and %#x", primary, again)
	}
	c.ok(th.CtxSetCurrent(primary))
	other := must(th.CtxCreate(0, 0))(t)
	if now := must(th.CtxGetCurrent())(t); now != other {
		t.Errorf("%#x is current", now)
	}
	if popped := must(th.CtxPopCurrent())(t); popped != other {
		t.Errorf("%#x was popped", popped)
	}
	if now := must(th.CtxGetCurrent())(t); now != primary {
		t.Errorf("%#x is current", now)
	}
	y := c.alloc(4)
	c.ok(d.PrimaryCtxReset(0))
	c.want(InvalidValue, "", c.MemFree(y))
	x := c.alloc(4)
	c.ok(th.CtxSetCurrent(0))
	c.ok(c.MemFree(x)) // in any current context
	c.ok(th.CtxSetCurrent(primary))
	x = c.alloc(4)
	c.ok(d.PrimaryCtxRelease(0))
	c.ok(c.Memset(&Fill2D{Dst: x, Size: 1, Width: 4, Height: 1}, 0, false))
	c.ok(d.PrimaryCtxRelease(0))
	c.want(ContextIsDestroyed, "", th.CtxSynchronize(0))
	c.want(InvalidContext, "not retained", d.PrimaryCtxRelease(0))
	if got := must(d.PrimaryCtxRetain(0))(t); got != primary {
		t.Errorf("another primary context: %#x", got)
	}
	if err := c.MemFree(x); err == nil {
		t.Error("its memory is alive")
	}
	th2 := d.NewThread()
	if now := must(th2.CtxGetCurrent())(t); now != 0 {
		t.Errorf("%#x is current in a new thread", now)
	}
	c.ok(th.CtxDestroy(other))
	c.ok(d.Close())
}

// A thread retains the primary context while the last owner, in another thread, waits for work to release it. Objects
// that the first thread then makes are valid.
func TestRetainWhileReleasing(t *testing.T) {
	c := newClient(t, nil)
	c.ok(c.CtxSetCurrent(must(c.d.PrimaryCtxRetain(0))(t)))
	work, released, retained := make(chan bool), make(chan bool), make(chan bool)
	c.ok(c.LaunchHostFunc(0, HostFunc{Call: func() { <-work }}))
	go func() {
		defer close(released)
		if err := c.d.PrimaryCtxRelease(0); err != nil {
			t.Error(err)
		}
	}()
	for err := error(nil); !hasResult(err, ContextIsDestroyed); err = c.Check() {
		runtime.Gosched() // until the release has begun
	}
	go func() {
		defer close(retained)
		c := &client{T: t, Thread: c.d.NewThread()}
		ctx, err := c.d.PrimaryCtxRetain(0)
		if err == nil {
			err = c.CtxSetCurrent(ctx)
		}
		var x uint64
		if err == nil {
			x, err = c.MemAlloc(4)
		}
		if err == nil {
			<-released
			err = c.MemFree(x)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(10 * time.Millisecond) // enough time for a wrong retain
	close(work)
	<-retained
	c.ok(c.d.PrimaryCtxRelease(0))
}

func TestDevices(t *testing.T) {
	s := DefaultSettings()
	s.SM, s.Devices = 90, 2
	d := New(s)
	defer d.Close()
	if err := d.Init(0); err != nil {
		t.Fatal(err)
	}
	if n := must(d.DeviceGetCount())(t); n != 2 {
		t.Errorf("%d devices", n)
	}
	if major, minor, err := d.DeviceComputeCapability(1); major != 9 || minor != 0 || err != nil {
		t.Errorf("%d.%d, %v", major, minor, err)
	}
	// CUDA C++ Programming Guide, technical specifications of 9.0.
	for a, want := range map[DeviceAttribute]int{1: 1024, 10: 32, 39: 2048, 75: 9, 76: 0, 81: 228 << 10, 97: 227 << 10, 106: 32} {
		if got := must(d.DeviceGetAttribute(a, 0))(t); got != want {
			t.Errorf("attribute %d is %d, want %d", a, got, want)
		}
	}
	_, err := d.DeviceGet(2)
	if !errors.Is(err, InvalidDevice) {
		t.Errorf("got %v", err)
	}
	if id := must(d.DeviceGetPCIBusID(1))(t); must(d.DeviceGetByPCIBusID(id))(t) != 1 {
		t.Errorf("device 1 is at %s", id)
	}
	// Each device can access the memory of the second.
	a := d.NewThread()
	c := &client{T: t, Thread: a}
	ctx0 := must(a.CtxCreate(0, 0))(t)
	x := c.alloc(4)
	must(a.CtxCreate(0, 1))(t)
	c.ok(a.CtxEnablePeerAccess(ctx0, 0))
	c.want(PeerAccessAlreadyEnabled, "", a.CtxEnablePeerAccess(ctx0, 0))
	c.mod = c.load(kernels)
	c.ok(c.launch("poke", 1, 1, x, 5))
	c.expect(x, 5)
}

func TestManyThreads(t *testing.T) {
	c := newClient(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := &client{T: t, Thread: c.d.NewThread(), ctx: c.ctx}
			if err := c.CtxSetCurrent(c.ctx); err != nil {
				t.Error(err)
				return
			}
			c.mod = c.load(kernels)
			s := must(c.StreamCreate(flagNonBlocking, 0))(t)
			x := c.alloc(256)
			f := c.function("add")
			for j := range 20 {
				c.ok(c.LaunchKernel(launchParams(f, 1, 64, x, i+j), s))
			}
			c.ok(c.StreamSynchronize(s))
			if got, want := c.read(x, 64)[63], uint32(20*i+190); got != want {
				t.Errorf("thread %d has %d, want %d", i, got, want)
			}
			c.ok(c.MemFree(x))
			c.ok(c.StreamDestroy(s))
			c.ok(c.ModuleUnload(c.mod))
		}()
	}
	wg.Wait()
}

func TestGraph(t *testing.T) {
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
	c.want(InvalidValue, "circle", c.GraphAddDependencies(g, []Handle{cp}, []Handle{fill}))
	exec := must(c.GraphInstantiate(g, 0))(t)
	c.ok(c.GraphLaunch(exec, 0))
	c.expect(y, 5, 5, 5, 5)
	c.ok(c.GraphExecKernelNodeSetParams(exec, k, launchParams(c.function("add"), 1, 2, x, 10)))
	c.ok(c.GraphDestroy(g))
	c.ok(c.GraphLaunch(exec, 0))
	c.expect(y, 14, 14, 4, 4)
	c.want(InvalidValue, "not such a node", c.GraphExecMemcpyNodeSetParams(exec, k, &move))
	c.ok(c.MemFree(y))
	c.want(InvalidValue, "do not lie in an allocation", c.GraphLaunch(exec, 0))
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
	set := KernelAttributes{Cluster: interp.Dim(2)}
	c.ok(c.GraphKernelNodeSetAttributes(k, set))
	if got := must(c.GraphKernelNodeAttributes(k))(t); got != set {
		t.Errorf("got %+v", got)
	}
	if got := must(c.GraphKernelNodeAttributes(other))(t); got.Cluster.Count() > 1 {
		t.Errorf("the other node has %+v", got)
	}
	c.want(InvalidValue, "", c.GraphKernelNodeSetAttributes(k, KernelAttributes{Cluster: interp.Dim(3)}))
	c.want(InvalidClusterSize, "at most 8", c.GraphKernelNodeSetAttributes(k, KernelAttributes{Cluster: interp.Dim(16)}))
	c.want(InvalidValue, "is of no kernel", c.GraphKernelNodeSetAttributes(empty, set))
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

// Threads unload modules while kernels of the modules are launched.
func TestUnloadWhileLaunching(t *testing.T) {
	c := newClient(t, nil)
	x, ctx := c.alloc(4), c.ctx
	for range 100 {
		c.mod = c.load(kernels)
		p := launchParams(c.function("add"), 1, 1, x, 1)
		var wg sync.WaitGroup
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				c := &client{T: t, Thread: c.d.NewThread()}
				if err := c.CtxSetCurrent(ctx); err != nil {
					t.Error(err)
					return
				}
				for {
					if err := c.LaunchKernel(p, 0); err != nil {
						c.want(InvalidHandle, "", err)
						return
					}
				}
			}()
		}
		c.ok(c.ModuleUnload(c.mod))
		wg.Wait()
	}
	c.ok(c.CtxSynchronize(0))
}

func TestLink(t *testing.T) {
	c := newClient(t, nil)
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	main := head + ".extern .func (.param .u32 r) seven(); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; ld.param.u64 %rd, [x]; { .param .u32 p; call (p), seven, (); ld.param.u32 %r, [p]; } st.global.u32 [%rd], %r; ret; }"
	other := strings.NewReplacer("7.8", "8.0", "sm_80", "sm_90").Replace(head) + ".visible .func (.param .u32 r) seven() { st.param.u32 [r], 7; ret; }"
	l := must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkPTX, cString(main), uint64(len(main)+1), "main"))
	one := must(c.LinkComplete(l))(t)
	if text, err := cubin.Unpack(one, maxImage); err != nil || string(text) != main {
		t.Errorf("one input is not handed through: %q, %v", text, err)
	}
	c.ok(c.LinkDestroy(l))
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkPTX, cString(main), uint64(len(main)), "main"))
	c.ok(c.LinkAddData(l, LinkPTX, cString(other), uint64(len(other)), "other"))
	image := must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.ok(c.LinkDestroy(l))
	x := c.alloc(4)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 7)
	if got := must(c.FuncGetAttribute(FuncPTXVersion, c.function("k")))(t); got != 80 {
		t.Errorf("linked with a function for a newer device: PTX version %d, want 80", got)
	}
	// A declaration without results is linked with a definition that has results.
	void := head + ".extern .func note(.param .u64 x); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .param .u64 p; ld.param.u64 %rd, [x]; st.param.u64 [p], %rd; call.uni note, (p); ret; }"
	note := head + ".visible .func (.param .align 8 .b8 r[16]) note(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; st.u32 [%rd], 9; st.param.u64 [r+8], %rd; ret; }"
	for _, order := range [][]string{{void, note}, {note, void}} {
		l = must(c.LinkCreate())(t)
		for _, text := range order {
			c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
		}
		image = must(c.LinkComplete(l))(t)
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
		c.write(x, 0)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, 9)
		c.ok(c.LinkDestroy(l))
	}
	// A declaration with results is linked with a definition without results.
	some := head + ".extern .func (.param .b32 r) note(.param .u64 x); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .param .u64 p; .param .b32 q; ld.param.u64 %rd, [x]; st.param.u64 [p], %rd; call.uni (q), note, (p); ret; }"
	none := head + ".visible .func note(.param .u64 x) { .reg .u64 %rd; ld.param.u64 %rd, [x]; st.u32 [%rd], 8; ret; }"
	// One of several weak definitions is kept, and none if there is a strong one.
	weak := func(n int) string {
		return head + fmt.Sprintf("\n/* { */ .weak .func (.param .u32 r) number() {\n{ st.param.u32 [r], %d; } ret; }\n.visible .func other%d() { ret; }", n, n)
	}
	same := head + ".weak .func (.param .u32 r) number() { st.param.u32 [r], 3; ret; }"
	strong := head + ".visible .func (.param .u32 r) number() { st.param.u32 [r], 5; ret; }"
	number := head + ".extern .func (.param .u32 r) number(); .visible .entry k(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; .param .u32 p; ld.param.u64 %rd, [x]; call.uni (p), number; ld.param.u32 %r, [p]; st.u32 [%rd], %r; ret; }"
	for _, parts := range []struct {
		want  uint32
		texts []string
	}{
		{8, []string{some, none}}, {8, []string{none, some}},
		{1, []string{weak(1), weak(2), number}}, {2, []string{number, weak(2), weak(1)}},
		{5, []string{weak(1), strong, number, weak(2)}}, {5, []string{number, strong, weak(1)}},
		{3, []string{same, same, number}}, {3, []string{number, same, same}},
	} {
		l = must(c.LinkCreate())(t)
		for _, text := range parts.texts {
			c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
		}
		image = must(c.LinkComplete(l))(t)
		c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
		c.write(x, 0)
		c.ok(c.launch("k", 1, 1, x))
		c.expect(x, parts.want)
		c.ok(c.LinkDestroy(l))
	}
	l = must(c.LinkCreate())(t)
	for range 2 {
		c.ok(c.LinkAddData(l, LinkPTX, cString(strong), uint64(len(strong)), "part"))
	}
	_, err := c.LinkComplete(l)
	c.want(InvalidPTX, "declared twice", err)
	// Internal names of modules do not collide, and similar words are not changed.
	own := func(kernel, value string) string {
		return head + ".global .align 4 .u32 global = " + value + ";\n.func (.param .u32 r) $own() { .reg .u32 %r; ld.global.u32 %r, [global]; st.param.u32 [r], %r; ret; } // $own\n" +
			".visible .entry " + kernel + "(.param .u64 x) { .reg .u64 %rd; .reg .u32 %r; .param .u32 p; ld.param.u64 %rd, [x]; call (p), $own, (); ld.param.u32 %r, [p]; st.global.u32 [%rd], %r; ret; }\n"
	}
	l = must(c.LinkCreate())(t)
	for _, text := range []string{own("k", "11"), own("other", "12") + ".visible .global .u32 global__0;"} {
		c.ok(c.LinkAddData(l, LinkPTX, cString(text), uint64(len(text)), "part"))
	}
	image = must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 11)
	c.ok(c.launch("other", 1, 1, x))
	c.expect(x, 12)
	c.ok(c.LinkDestroy(l))
	// What an assembler or a linker has made is linked as the PTX that it has.
	packed := cubin.Pack([]byte(main), 80, true)
	file := filepath.Join(t.TempDir(), "other.cubin")
	if err := os.WriteFile(file, cubin.Pack([]byte(other), 80, true), 0o666); err != nil {
		t.Fatal(err)
	}
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddData(l, LinkCubin, unsafe.Pointer(&packed[0]), uint64(len(packed)), "main"))
	c.ok(c.LinkAddFile(l, LinkCubin, file))
	image = must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	c.write(x, 0)
	c.ok(c.launch("k", 1, 1, x))
	c.expect(x, 7)
	c.ok(c.LinkDestroy(l))
	l = must(c.LinkCreate())(t)
	machine := bytes.Clone(packed)
	copy(machine[bytes.Index(machine, []byte(".gemu.ptx")):], ".text.k\x00")
	c.want(NoBinaryForGPU, "machine code", c.LinkAddData(l, LinkCubin, unsafe.Pointer(&machine[0]), uint64(len(machine)), "x"))
	_, err = c.LinkComplete(l)
	c.want(InvalidImage, "nothing to link", err)
}

// archive makes an ar archive with a long name for its only member.
func archive(name, content string) string {
	names := name + "/\n"
	member := func(name, content string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", name, 0, 0, 0, 0o644, len(content), content, strings.Repeat("\n", len(content)%2))
	}
	return "!<arch>\n" + member("/", "\x00\x00\x00\x00") + member("//", names) + member("/0", content)
}

// groups uses the device runtime's functions for cooperative groups as Numba's code does: sync stores 1 into its
// element of x, synchronises the grid, and adds the element of its right neighbour; about stores the properties of a
// group.
const groups = `.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 a);
.extern .func cudaCGSynchronize(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 func_retval0) cudaCGSynchronizeGrid(.param .b64 a, .param .b32 b);
.extern .func (.param .b32 func_retval0) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b32 func_retval0) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);
.visible .entry sync(.param .u64 x)
{
	.reg .u32 %i, %n, %a, %b, %c; .reg .u64 %x, %at, %h; .reg .pred %p;
	.param .b32 scope; .param .b64 handle; .param .b64 h; .param .b32 flags; .param .b32 status;
	ld.param.u64 %x, [x];
	st.param.b32 [scope], 1;
	call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
	ld.param.b64 %h, [handle];
	mov.u32 %a, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %i, %a, %b, %c;
	mov.u32 %n, %nctaid.x; mul.lo.u32 %n, %n, %b;
	mad.wide.u32 %at, %i, 4, %x;
	add.u32 %a, %i, 1;
	st.global.u32 [%at], %a;
	st.param.b64 [h], %h; st.param.b32 [flags], 0;
	call.uni cudaCGSynchronize, (h, flags);
	add.u32 %b, %i, 1; rem.u32 %b, %b, %n;
	mad.wide.u32 %h, %b, 4, %x;
	ld.global.u32 %c, [%h];
	ld.param.b64 %h, [handle]; st.param.b64 [h], %h;
	call.uni (status), cudaCGSynchronizeGrid, (h, flags);
	add.u32 %a, %a, %c;
	st.global.u32 [%at], %a;
	ret;
}
.visible .entry about(.param .u64 x, .param .u32 scope, .param .u32 block, .param .u32 thread)
{
	.reg .u32 %r<8>; .reg .u64 %x, %h; .reg .pred %p, %q;
	.param .b32 scope1; .param .b64 handle; .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 status;
	mov.u32 %r0, %ctaid.x; ld.param.u32 %r1, [block]; setp.ne.u32 %p, %r0, %r1;
	mov.u32 %r0, %tid.x; ld.param.u32 %r1, [thread]; setp.ne.or.u32 %p, %r0, %r1, %p;
	@%p ret;
	ld.param.u64 %x, [x]; ld.param.u32 %r0, [scope];
	st.param.b32 [scope1], %r0;
	call.uni (handle), cudaCGGetIntrinsicHandle, (scope1);
	ld.param.b64 %h, [handle];
	st.param.b64 [c], %h;
	st.param.b64 [a], %x; add.u64 %x, %x, 4; st.param.b64 [b], %x; add.u64 %x, %x, 4;
	call.uni (status), cudaCGGetSize, (a, b, c);
	ld.param.b32 %r0, [status]; st.global.u32 [%x], %r0; add.u64 %x, %x, 4;
	st.param.b64 [a], %x; add.u64 %x, %x, 4; st.param.b64 [b], 0;
	call.uni (status), cudaCGGetRank, (a, b, c);
	ld.param.b32 %r0, [status]; st.global.u32 [%x], %r0;
	ret;
}
`

// The linker accepts CUDA's device runtime for cooperative groups, and links it with modules that need it. Numbers of
// threads and ranks are those of CUDA C++'s grid_group; an invalid group has none, and returns cudaErrorUnknown.
func TestDeviceRuntime(t *testing.T) {
	c := newClient(t, nil)
	lib := archive("cuda_device_runtime.o", "\x7fELF machine code")
	file := filepath.Join(t.TempDir(), "libcudadevrt.a")
	if err := os.WriteFile(file, []byte(lib), 0o666); err != nil {
		t.Fatal(err)
	}
	l := must(c.LinkCreate())(t)
	c.ok(c.LinkAddFile(l, LinkLibrary, file))
	c.ok(c.LinkAddData(l, LinkPTX, cString(groups), uint64(len(groups)), "groups"))
	c.ok(c.LinkAddData(l, LinkLibrary, cString(lib), uint64(len(lib)), "again"))
	image := must(c.LinkComplete(l))(t)
	c.mod = must(c.ModuleLoadData(unsafe.Pointer(&image[0]), 0))(t)
	x := c.alloc(64)
	p := launchParams(c.function("sync"), 4, 4, x)
	p.Cooperative = true
	c.ok(c.LaunchKernel(p, 0))
	var want []uint32
	for i := range uint32(16) {
		want = append(want, i+1+(i+1)%16+1)
	}
	c.expect(x, want...)
	about := func(cooperative bool, scope int, want ...uint32) {
		t.Helper()
		p := launchParams(c.function("about"), 3, 8, x, scope, 2, 5)
		p.Cooperative = cooperative
		c.ok(c.LaunchKernel(p, 0))
		c.expect(x, want...)
	}
	about(true, 1, 3*8, 1, 0, 2*8+5, 0)
	about(true, 2, 0, 0, 999, 0, 999)
	about(false, 1, 0, 0, 999, 0, 999)

	// A module that needs nothing of a library gets nothing of it.
	l = must(c.LinkCreate())(t)
	c.ok(c.LinkAddFile(l, LinkLibrary, file))
	_, err := c.LinkComplete(l)
	c.want(InvalidImage, "nothing to link", err)
	c.ok(c.LinkAddData(l, LinkPTX, cString(kernels), uint64(len(kernels)), "kernels"))
	image = must(c.LinkComplete(l))(t)
	if text, err := cubin.Unpack(image, maxImage); err != nil || string(text) != kernels {
		t.Errorf("linked: %q, %v", text, err)
	}
	l = must(c.LinkCreate())(t)
	c.want(FileNotFound, "", c.LinkAddFile(l, LinkLibrary, file+".none"))
	for text, want := range map[string]string{
		"no archive": "not an archive", lib[:40]: "a broken archive", lib[:len(lib)-2]: "size of member /0",
		archive("mathematics.o", "x"): "machine code, mathematics.o",
	} {
		if err := c.LinkAddData(l, LinkLibrary, cString(text), uint64(len(text)), "lib"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", text, err, want)
		}
	}
}

func TestLibrary(t *testing.T) {
	c := newClient(t, nil)
	l := must(c.LibraryLoadData(cString(kernels)))(t)
	k := must(c.LibraryGetKernel(l, "poke"))(t)
	x := c.alloc(4)
	c.ok(c.LaunchKernel(launchParams(k, 1, 1, x, 6), 0))
	c.expect(x, 6)
	if f := must(c.KernelGetFunction(k))(t); must(c.FuncGetName(f))(t) != "poke" {
		t.Error("another function")
	}
	c.want(NotPermitted, "", c.ModuleUnload(must(c.LibraryGetModule(l))(t)))
	must(c.CtxCreate(0, 0))(t) // the same kernel in a second context
	c.ok(c.LaunchKernel(launchParams(k, 1, 1, x, 8), 0))
	c.expect(x, 8)
	c.ok(c.LibraryUnload(l))
	c.want(InvalidHandle, "", c.LaunchKernel(launchParams(k, 1, 1, x, 9), 0))
}

func TestOccupancy(t *testing.T) {
	c := newClient(t, nil)
	f := c.function("scratch")
	// Compute capability 8.6 has 100 KiB of shared memory, of which the system takes 1 KiB per block, and 1536 threads
	// in at most 16 blocks.
	for _, k := range []struct {
		threads int
		dynamic uint64
		want    int
	}{{32, 0, 16}, {512, 0, 3}, {1024, 0, 1}, {32, 23 << 10, 4}, {32, 98 << 10, 1}, {32, 99 << 10, 0}, {2000, 0, 0}} {
		if got, err := c.OccupancyMaxActiveBlocks(f, k.threads, k.dynamic); err != nil || got != k.want {
			t.Errorf("%d threads, %d bytes: %d blocks, %v, want %d", k.threads, k.dynamic, got, err, k.want)
		}
	}
	grid, block, err := c.OccupancyMaxPotentialBlockSize(f, func(int) uint64 { return 0 }, 0)
	if err != nil || block != 768 || grid != 2*interp.Multiprocessors {
		t.Errorf("%d blocks of %d, %v", grid, block, err)
	}
}
