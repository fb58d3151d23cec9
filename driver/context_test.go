package driver

// This file tests devices, contexts and threads.

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestContexts shows the results of calls without, in and after a context, and the stack of contexts of a thread.
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

// TestTwoDevices shows that devices have their own memory and contexts.
func TestTwoDevices(t *testing.T) {
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

// TestOneContextInManyThreads shows that threads use one context at the same time.
func TestOneContextInManyThreads(t *testing.T) {
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
