package driver

// This file tests the faults of kernels and their results.

import (
	"strings"
	"testing"
	"time"

	"gemu/probe"
	"gemu/sanitize"
	"gemu/sanitize/finding"
)

// The first fault of a context is the result of every later call in it, and is reported once in full. A second context
// is not affected.
func TestFaultIsSticky(t *testing.T) {
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
	c.want(IllegalAddress, "(the first of 2 faults since the last synchronizing call; standard error shows all of them)", c.CtxSynchronize(0))
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
	c.want(IllegalAddress, "(the first of 4 faults since", c.CtxSynchronize(0))
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

// TestResultsOfTraps shows the result code of each kind of trap (cuda.h, CUresult).
func TestResultsOfTraps(t *testing.T) {
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

// TestToleratedFault: a kernel continues after a tolerated fault, and standard error has a notice; otherwise the
// message names the setting.
func TestToleratedFault(t *testing.T) {
	for _, k := range []struct {
		by   probe.Tolerance
		want Result
		text string
	}{
		{probe.Strict, IllegalAddress, "GEMU_TOLERATE=shared-unit lets the kernel continue"},
		{probe.SharedUnit, Success, "notice: out-of-bounds shared load of 4 bytes at 0x8 "},
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
