package interp_test

// This file checks that calls of a device during a launch answer or return an error: none waits for itself.

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/texture"
)

// caller is a probe that calls a function once, in the first event of a kind.
type caller struct {
	events  probe.Events
	inOrder bool
	call    func(e *probe.Event)
}

func (c *caller) Subscription() probe.Subscription {
	return probe.Subscription{Events: c.events, InOrder: c.inOrder}
}

func (c *caller) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return c }

func (c *caller) OnEvent(e *probe.Event) { c.call(e) }

var lastCall atomic.Value // string: the method that a callback calls

// within fails the test if a function does not return in time.
func within(t *testing.T, name string, fn func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not return; the last call was %v", name, lastCall.Load())
	}
}

const reentrySource = `
.version 8.0
.target sm_80
.address_size 64
.global .u32 counter;
.global .texref reference;
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}`

// reentry is a device with objects of every kind, and the calls of its methods.
type reentry struct {
	dev     *interp.Device
	mod     *interp.Module
	buffer  *interp.Buffer
	array   *interp.Array
	texture *interp.Object
	exec    *interp.Execution // nil in a launch of Module.Run
	state   *interp.State
}

func newReentry(t *testing.T, workers int, probes ...probe.Probe) *reentry {
	t.Helper()
	r := &reentry{dev: interp.NewDevice(interp.Config{Workers: workers, Probes: probes})}
	var err error
	if r.mod, err = r.dev.Load("k.ptx", []byte(reentrySource)); err != nil {
		t.Fatal(err)
	}
	if r.buffer, err = r.dev.AllocNamed("buffer", 64); err != nil {
		t.Fatal(err)
	}
	image := texture.Image{Geometry: texture.Image1D, Format: texture.Format{Channels: 1, Bits: 32}, Width: 4}
	if r.array, err = r.dev.NewArray("array", image); err != nil {
		t.Fatal(err)
	}
	if r.texture, err = r.dev.NewTexture(interp.TextureDesc{Array: r.array, Sampler: texture.DefaultSampler()}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reentry) launch() *interp.Launch {
	return &interp.Launch{Kernel: "k", Grid: ptx.Dim(16), Block: ptx.Dim(64), Args: []any{r.buffer}}
}

// call is a call of a method. It returns the method's error.
type call struct {
	name    string // Type.Method
	changes bool   // it must return ErrInProbe from a probe
	fn      func() error
}

// calls has every exported method of the types of a device.
func (r *reentry) calls(t *testing.T) []call {
	ctx := t.Context()
	ok := func(fn func()) func() error { return func() error { fn(); return nil } }
	list := []call{
		{"Device.Alloc", true, func() error { _, err := r.dev.Alloc(8); return err }},
		{"Device.AllocNamed", true, func() error { _, err := r.dev.AllocNamed("b", 8); return err }},
		{"Device.AllocOver", true, func() error { _, err := r.dev.AllocOver(make([]byte, 64), "b", 0); return err }},
		{"Device.Map", true, func() error { _, err := r.dev.Map(1<<40, make([]byte, 8), "host", 0); return err }},
		{"Device.MapOrdered", true, func() error { _, err := r.dev.MapOrdered(1<<40, make([]byte, 8), "host", 0, nil); return err }},
		{"Device.NewArray", true, func() error { _, err := r.dev.NewArray("a", r.array.Image()); return err }},
		{"Device.Load", true, func() error { _, err := r.dev.Load("k.ptx", []byte(reentrySource)); return err }},
		{"Device.LoadModule", true, func() error { _, err := r.dev.LoadModule(r.mod.Module); return err }},
		{"Device.NewTexture", false, func() error {
			_, err := r.dev.NewTexture(interp.TextureDesc{Array: r.array, Sampler: texture.DefaultSampler()})
			return err
		}},
		{"Device.NewSurface", false, func() error { _, err := r.dev.NewSurface("s", r.array, 0, false); return err }},
		{"Device.NewSampler", false, ok(func() { r.dev.NewSampler("s", texture.DefaultSampler()) })},
		{"Device.Used", false, func() error {
			if r.dev.Used() == 0 {
				return errors.New("nothing is used")
			}
			return nil
		}},
		{"Device.Find", false, func() error {
			if a := r.dev.Find(r.buffer.Addr() + 5); a == nil || a.Name != "buffer" {
				return errors.New("the buffer is not found")
			}
			return nil
		}},
		{"Device.HostRead", false, ok(func() { r.dev.HostRead(r.buffer.Addr(), 4, nil) })},
		{"Device.HostWrite", false, ok(func() { r.dev.HostWrite(r.buffer.Addr(), 4, nil) })},
		{"Device.WhyNotNative", false, ok(func() { r.dev.WhyNotNative(r.launch()) })},
		{"Buffer.Free", true, r.buffer.Free},
		{"Buffer.FreeOrdered", true, func() error { return r.buffer.FreeOrdered(nil) }},
		{"Buffer.Write", true, func() error { return r.buffer.Write(0, []byte{1}) }},
		{"Buffer.Read", false, ok(func() { r.buffer.Read(0, make([]byte, 4)) })},
		{"Buffer.Addr", false, ok(func() { r.buffer.Addr() })},
		{"Buffer.Size", false, ok(func() { r.buffer.Size() })},
		{"Buffer.Bytes", false, ok(func() { r.buffer.Bytes() })},
		{"Buffer.TensorMap", false, func() error { _, err := r.buffer.TensorMap("u8[16],box=16"); return err }},
		{"Array.Free", true, r.array.Free},
		{"Array.Image", false, ok(func() { r.array.Image() })},
		{"Array.Addr", false, ok(func() { r.array.Addr() })},
		{"Array.Bytes", false, ok(func() { r.array.Bytes() })},
		{"Object.Handle", false, ok(func() { r.texture.Handle() })},
		{"Object.Type", false, ok(func() { r.texture.Type() })},
		{"Object.Image", false, ok(func() { r.texture.Image() })},
		{"Object.Bytes", false, ok(func() { r.texture.Bytes() })},
		{"Object.Free", false, ok(func() { r.dev.NewSampler("s", texture.DefaultSampler()).Free() })},
		{"Module.Launch", true, func() error {
			_, err := r.mod.Launch(ctx, "k", ptx.Dim(1), ptx.Dim(1), r.buffer)
			return err
		}},
		{"Module.Run", true, func() error { _, err := r.mod.Run(ctx, r.launch()); return err }},
		{"Module.Start", true, func() error {
			e, err := r.mod.Start(r.launch())
			if err == nil {
				e.Close()
			}
			return err
		}},
		{"Module.Prepare", true, func() error { return r.mod.Prepare("k") }},
		{"Module.Info", true, func() error { _, err := r.mod.Info("k", interp.Check); return err }},
		{"Module.FprintLowered", true, func() error { return r.mod.FprintLowered(io.Discard, r.mod.Kernels()[0]) }},
		{"Module.Reset", true, r.mod.Reset},
		{"Module.Bind", true, func() error { return r.mod.Bind("reference", r.texture) }},
		{"Module.Unload", true, r.mod.Unload},
		{"Module.SamplerOf", false, func() error { _, _, err := r.mod.SamplerOf("reference"); return err }},
		{"Module.Var", false, ok(func() { r.mod.Var("counter") })},
		{"Module.Kernel", false, func() error { _, err := r.mod.Kernel("k"); return err }},
		{"Module.MakeObject", true, func() error {
			_, err := r.mod.MakeObject("", "tex.1d(f32[4])", func(ptx.Type, string) ([]byte, error) { return make([]byte, 16), nil })
			return err
		}},
		{"Module.Device", false, ok(func() { r.mod.Device() })},
		{"Module.CheckExtent", false, func() error { return r.mod.CheckExtent("k", ptx.Dim(1), ptx.Dim(1), ptx.Dim3{}) }},
		{"Module.Cluster", false, func() error { _, err := r.mod.Cluster("k", ptx.Dim3{}); return err }},
		{"Module.Block", false, func() error { _, err := r.mod.Block("k", ptx.Dim(1)); return err }},
		{"Device.Close", true, r.dev.Close},
	}
	if e := r.exec; e != nil {
		list = slices.Concat([]call{
			{"Execution.Continue", true, func() error { _, err := e.Continue(ctx); return err }},
			{"Execution.ContinueTo", true, func() error { _, err := e.ContinueTo(ctx, 1); return err }},
			{"Execution.WarpSplits", true, func() error { _, err := e.WarpSplits(); return err }},
			{"Execution.Stack", true, func() error { _, err := e.Stack(0, 0); return err }},
			{"Execution.WaitingSplits", true, func() error { _, err := e.WaitingSplits(); return err }},
			{"Execution.InFlight", true, func() error { return e.InFlight(r.state, nil, func(int) bool { return true }) }},
			{"Execution.Visited", true, func() error { return e.Visited(make([]bool, e.Program().Len())) }},
			{"Execution.Save", true, func() error { _, err := e.Save(); return err }},
			{"Execution.Restore", true, func() error { return e.Restore(r.state) }},
			{"Execution.Release", true, func() error { return e.Release(r.state) }},
			{"Execution.Close", true, e.Close},
			{"Execution.Latest", false, ok(func() { e.Latest(0, 0, 0) })},
			{"Execution.StateBytes", false, ok(func() { e.StateBytes() })},
			{"Execution.Steps", false, ok(func() { e.Steps() })},
			{"Execution.Info", false, ok(func() { e.Info() })},
			{"Execution.Find", false, ok(func() { e.Find(r.buffer.Addr()) })},
			{"Execution.Module", false, ok(func() { e.Module() })},
			{"Execution.Program", false, ok(func() { e.Program() })},
			{"Execution.Result", false, ok(func() { e.Result() })},
		}, list)
	}
	return list
}

// check calls every method from a callback.
func check(t *testing.T, where string, list []call) {
	for _, c := range list {
		lastCall.Store(c.name)
		switch err := c.fn(); {
		case c.changes && !errors.Is(err, interp.ErrInProbe):
			t.Errorf("%s: %s: got %v, want %v", where, c.name, err, interp.ErrInProbe)
		case !c.changes && err != nil:
			t.Errorf("%s: %s: %v", where, c.name, err)
		}
	}
}

// TestCallsFromProbe: each method called from a probe of a launch answers or returns ErrInProbe, in the goroutine of the
// launch and elsewhere, and the launch has the same result as without the calls.
func TestCallsFromProbe(t *testing.T) {
	for _, workers := range []int{1, 2} {
		called, once := false, make(chan bool, 1)
		once <- true
		var r *reentry
		p := &caller{events: probe.OnBefore, call: func(e *probe.Event) {
			select {
			case <-once:
				called = true
				check(t, "probe", r.calls(t))
			default:
			}
		}}
		r = newReentry(t, workers)
		l := r.launch()
		l.Probes = []probe.Probe{p}
		within(t, "a launch", func() {
			if _, err := r.mod.Run(t.Context(), l); err != nil || !called {
				t.Error(err, called)
			}
		})
		if got := r.buffer.Bytes()[:4]; bytes.Equal(got, make([]byte, 4)) {
			t.Error("the kernel has changed nothing")
		}
	}
}

// TestCallsFromHostEvents: a probe of the device can call each method while the host changes memory.
func TestCallsFromHostEvents(t *testing.T) {
	var r *reentry
	called := 0
	p := &caller{events: probe.OnAlloc | probe.OnHostWrite, call: func(e *probe.Event) {
		if r != nil && called == 0 {
			called++
			check(t, e.Kind.String(), r.calls(t))
		}
	}}
	r = newReentry(t, 1, p)
	within(t, "Alloc", func() {
		if _, err := r.dev.Alloc(8); err != nil || called != 1 {
			t.Error(err, called)
		}
	})
	called = 0
	within(t, "Write", func() {
		if err := r.buffer.Write(0, []byte{1, 2}); err != nil || called != 1 {
			t.Error(err, called)
		}
	})
}

// TestCallsFromExecution: the same for the methods of an execution, while it continues.
func TestCallsFromExecution(t *testing.T) {
	var r *reentry
	called := 0
	p := &caller{events: probe.OnBefore, inOrder: true, call: func(e *probe.Event) {
		if e.Step == 2 {
			e.Pause()
		}
		if e.Step == 5 {
			called++
			check(t, "execution", r.calls(t))
		}
	}}
	r = newReentry(t, 1)
	l := r.launch()
	l.Probes = []probe.Probe{p}
	within(t, "an execution", func() {
		e, err := r.mod.Start(l)
		if err != nil {
			t.Error(err)
			return
		}
		if ended, err := e.Continue(t.Context()); ended || err != nil {
			t.Error(ended, err)
			return
		}
		if r.state, err = e.Save(); err != nil {
			t.Error(err)
		}
		r.exec = e
		if ended, err := e.Continue(t.Context()); !ended || err != nil || called != 1 {
			t.Error(ended, err, called)
		}
	})
}

// TestCallsFromElsewhere: during a launch, reading methods answer another goroutine at once; methods that change the device wait
// for the launch's end.
func TestCallsFromElsewhere(t *testing.T) {
	var r *reentry
	reached, resume := make(chan bool), make(chan bool)
	p := &caller{events: probe.OnCTA, inOrder: true, call: func(e *probe.Event) {
		if e.CTA == 0 {
			reached <- true
			<-resume
		}
	}}
	r = newReentry(t, 1)
	l := r.launch()
	l.Probes = []probe.Probe{p}
	ended := make(chan error)
	go func() {
		_, err := r.mod.Run(t.Context(), l)
		ended <- err
	}()
	<-reached
	for _, c := range r.calls(t) {
		if !c.changes {
			within(t, c.name, func() {
				if err := c.fn(); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			})
		}
	}
	allocated := make(chan error)
	go func() {
		_, err := r.dev.Alloc(8)
		allocated <- err
	}()
	select {
	case err := <-allocated:
		t.Errorf("Alloc does not wait for the launch: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(resume)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-allocated; err != nil {
		t.Error(err)
	}
}

// TestCallsAreComplete: the tests above call every exported method of the types of a device.
func TestCallsAreComplete(t *testing.T) {
	r := newReentry(t, 1)
	r.exec = new(interp.Execution)
	var called []string
	for _, c := range r.calls(t) {
		called = append(called, c.name)
	}
	for _, v := range []any{r.dev, r.mod, r.buffer, r.array, r.texture, r.exec} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if m.Type.NumIn() > 0 && isPromoted(typ, m.Name) {
				continue
			}
			if name := typ.Elem().Name() + "." + m.Name; !slices.Contains(called, name) {
				t.Errorf("%s is not called", name)
			}
		}
	}
}

// isPromoted reports whether a method is one of the embedded ptx.Module, which knows no device.
func isPromoted(typ reflect.Type, name string) bool {
	if !strings.HasSuffix(typ.Elem().Name(), "Module") {
		return false
	}
	_, ok := reflect.TypeFor[*ptx.Module]().MethodByName(name)
	return ok
}
