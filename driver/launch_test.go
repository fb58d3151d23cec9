package driver

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize"
)

// A kernel that is not a tile kernel refuses a block that differs from its .reqntid.
func TestRequiredBlock(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 x) .reqntid 32 { ret; }")
	x := c.alloc(4)
	c.want(InvalidValue, "requires blocks of (32,1,1)", c.launch("k", 1, 1, x))
	c.ok(c.launch("k", 1, 32, x))
}

// A tile kernel is launched with one thread, and runs with the threads of its .reqntid.
func TestTileKernel(t *testing.T) {
	c := newClient(t, nil)
	c.mod = c.load(`.version 9.4 .target sm_86 .address_size 64
.visible .entry fill(.param .u64 p) .reqntid 4 .minnctapersm 1 .language 7
{
	.reg .u64 %p; .reg .u32 %t;
	ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %p; add.u32 %t, %t, 1; st.global.u32 [%p], %t;
	ret;
}`)
	x := c.alloc(16)
	c.ok(c.launch("fill", 1, 1, x))
	c.expect(x, 1, 2, 3, 4)
	c.want(InvalidValue, "requires blocks of (4,1,1)", c.launch("fill", 1, 2, x))
}

// TestKernelLaunch shows that a launch computes, and that launches with invalid arguments are refused.
func TestKernelLaunch(t *testing.T) {
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
	p := &LaunchParams{Func: c.function("add"), Grid: ptx.Dim(1), Block: ptx.Dim(1), Extra: unsafe.Pointer(&extra[0])}
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 100, 10)
	size = 8
	c.want(InvalidValue, "the buffer of arguments has 8 bytes", c.LaunchKernel(p, 0))
	p.Params = unsafe.Pointer(&extra[0])
	c.want(InvalidValue, "must not both be passed", c.LaunchKernel(p, 0))
	p.Params, p.Extra = nil, nil
	c.want(InvalidValue, "no arguments were passed", c.LaunchKernel(p, 0))

	c.want(InvalidValue, "grid", c.launch("add", 0, 1, x, 1))
	c.want(InvalidValue, "1025", c.launch("add", 1, 1025, x, 1))
	if _, err := c.ModuleGetFunction(c.mod, "nothing"); ResultOf(err) != NotFound || !strings.Contains(err.Error(), "it has add, poke") {
		t.Errorf("got %v", err)
	}
	c.want(InvalidHandle, "not the handle of a function", c.LaunchKernel(launchParams(c.mod, 1, 1, x), 0))
}

// TestDynamicSharedMemory shows that 48 KiB of shared memory are the limit without an attribute (CUDA C++ Programming
// Guide, compute capabilities), and that the attribute raises the limit.
func TestDynamicSharedMemory(t *testing.T) {
	c := newClient(t, nil)
	f := c.function("scratch")
	p := launchParams(f, 1, 1, 0)
	p.Shared = 47 << 10
	c.ok(c.LaunchKernel(p, 0))
	p.Shared++
	c.want(InvalidValue, "48129 bytes of dynamic shared memory, at most 48128 are allowed; cuFuncSetAttribute raises", c.LaunchKernel(p, 0))
	largest := *p
	largest.LargestShared, largest.Shared = true, 98<<10 // compute capability 8.6, below, less 1 KiB of the kernel
	must(c.Thread.Run(&largest))(t)
	largest.Shared++
	_, err := c.Thread.Run(&largest)
	c.want(InvalidValue, "at most 100352 are allowed; the kernel has 1024 bytes of static shared memory, and the device has 101376", err)
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

// TestCooperativeLaunch shows that a cooperative grid waits at a grid barrier, and is refused if it does not fit the
// device.
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
	c.want(CooperativeLaunchTooLarge, "a cooperative launch of 257 blocks: the device holds at most 256 at once", c.LaunchKernel(p, 0))
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
func TestClusterAttributes(t *testing.T) {
	c := newClient(t, func(s *Settings) { s.SM = 90 })
	if got := must(c.d.DeviceGetAttribute(120, 0))(t); got != 1 {
		t.Errorf("CLUSTER_LAUNCH is %d", got)
	}
	c.mod = c.load(clusters)
	x := c.alloc(64)
	free, required := c.function("free"), c.function("required")
	p := launchParams(free, 6, 1, x)
	p.Cluster = ptx.Dim(3)
	c.ok(c.LaunchKernel(p, 0))
	c.expect(x, 3, 3, 3, 12, 12, 12)
	p.Cluster = ptx.Dim(4)
	c.want(InvalidValue, "cannot be divided into clusters", c.LaunchKernel(p, 0))
	p.Grid, p.Cluster = ptx.Dim(16), ptx.Dim(16)
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
	p.Grid, p.Cluster = ptx.Dim(4), ptx.Dim3{}
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
	p.Cluster = ptx.Dim(4)
	c.want(InvalidClusterSize, "requires clusters of (2,1,1)", c.LaunchKernel(p, 0))
	c.ok(c.CtxSynchronize(0))
}

// TestNativeNotice: one message gives the reason if the user asked for machine code and Go executes a launch; otherwise
// there is no message.
func TestNativeNotice(t *testing.T) {
	if !interp.Native.Available() {
		t.Skip("there is no machine code for this host")
	}
	for _, k := range []struct {
		engine string
		change func(s *Settings)
		maps   bool   // registers host memory, in which accesses may fault
		want   string // "": no message
	}{
		{"native", nil, false, ""},
		{"native", func(s *Settings) { s.Sanitize = sanitize.Tools[:1] }, false, "GEMU_ENGINE=native: in launches observed"},
		{"native", func(s *Settings) { s.Stats = filepath.Join(t.TempDir(), "s.json") }, false, "GEMU_ENGINE=native: in launches observed"},
		{"native", func(s *Settings) { s.Log = filepath.Join(t.TempDir(), "l.gtr") }, false, "GEMU_ENGINE=native: in launches observed"},
		{"native", nil, true, ""},
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
