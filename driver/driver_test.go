package driver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"gemu/ptx"
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
	return &LaunchParams{Func: f, Grid: ptx.Dim(grid), Block: ptx.Dim(block), Params: unsafe.Pointer(&pointers[0])}
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
