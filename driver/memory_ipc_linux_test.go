package driver

import (
	"encoding/binary"
	"os"
	"os/exec"
	"testing"
	"time"

	"gemu/driver/internal/sharedmem"
)

// The first handle of an allocation waits for running work; other streams do not wait for that.
func TestFirstHandleWaitsForWork(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(64)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	gate, done := make(chan struct{}), make(chan error)
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: func() { <-gate }}))
	c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 4, x, 5), s))
	go func() {
		peer := c.d.NewThread()
		err := peer.CtxSetCurrent(c.ctx)
		if err == nil {
			_, err = peer.IPCGetMemHandle(x)
		}
		done <- err
	}()
	time.Sleep(10 * time.Millisecond)
	c.ok(c.LaunchKernel(launchParams(c.function("add"), 1, 4, x, 7), other))
	c.ok(c.StreamSynchronize(other))
	select {
	case err := <-done:
		t.Fatalf("there is a handle while a kernel may run: %v", err)
	default:
	}
	close(gate)
	c.ok(<-done)
	c.ok(c.CtxSynchronize(0))
	c.expect(x, 12, 12, 12, 12)
	r := c.d.regions.find(x)
	mem := must(sharedmem.Map(c.d.pages.File(r.data), 0, sharedmem.WholePages(r.size)))(t)
	if mem[0] != 12 {
		t.Errorf("the file has %d, want 12", mem[0])
	}
}

// Records of one stream share a queue; records of further streams use free queues.
func TestRecordsShareQueues(t *testing.T) {
	e := must(createShared())(t)
	defer e.drop()
	a, b, c := &Stream{}, &Stream{}, &Stream{}
	take := func(e *sharedEvent, s *Stream, lane int, count uint64) recordID {
		t.Helper()
		m := must(e.newRecord(s))(t)
		if m.queue() != lane || m.count() != count || e.newest() != m {
			t.Errorf("record %d in lane %d, want %d in %d", m.count(), m.queue(), count, lane)
		}
		return m
	}
	over := func(m recordID, want bool, result Result) {
		t.Helper()
		if got, err := e.ended(m); got != want || ResultOf(err) != result {
			t.Errorf("%#x is over: %t, %v", uint64(m), got, err)
		}
	}
	over(0, true, Success)
	first, second := take(e, a, 0, 1), take(e, a, 0, 2)
	third := take(e, b, 1, 1)
	e.end(first, true)
	over(first, true, Success)
	over(second, false, Success)
	over(third, false, Success)
	e.end(second, true)
	fourth := take(e, c, 0, 3)
	over(second, true, Success)

	// A second view, as in another process.
	fd := must(sharedmem.Duplicate(int(e.file.Fd())))(t)
	other := must(newSharedEvent(os.NewFile(uintptr(fd), eventFile), true))(t)
	defer other.drop()
	take(other, a, 2, 1)
	if e.newest() != other.lastOwn || e.lastOwn == other.lastOwn {
		t.Errorf("the newest record is %#x, want %#x", uint64(e.newest()), uint64(other.lastOwn))
	}
	waited := make(chan error)
	go func() { waited <- other.wait(fourth) }()
	e.end(fourth, true)
	if err := <-waited; err != nil {
		t.Error(err)
	}

	e.end(third, false)
	over(third, false, ExternalDevice)
	if err := other.wait(third); ResultOf(err) != ExternalDevice {
		t.Errorf("who waits for what has failed is told %v", err)
	}

	// After its end, a process completes no more records.
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	m := take(e, a, 0, 4)
	e.board.queues[0].pid = int32(gone.Process.Pid)
	over(m, false, ExternalDevice)
	e.end(m, true)
	over(m, true, Success)

	for lane := 0; lane < boardQueues; lane++ {
		if lane != 1 && lane != 2 {
			must(e.newRecord(&Stream{}))(t)
		}
	}
	if _, err := e.newRecord(&Stream{}); ResultOf(err) != OutOfMemory {
		t.Errorf("there are more lanes than fit: %v", err)
	}
}

// Another process may publish the end of an event before the task here has ended: then the event has ended.
func TestEventEndPublishedEarly(t *testing.T) {
	c := newClient(t, nil)
	f, release := held()
	s := must(c.StreamCreate(flagNonBlocking, 0))(t)
	h := must(c.EventCreate(flagNoTiming | flagInterprocess))(t)
	c.ok(c.LaunchHostFunc(s, HostFunc{Call: f}))
	c.ok(c.EventRecord(h, s))
	if err := c.EventQuery(h); ResultOf(err) != NotReady {
		t.Errorf("the event is %v behind what is not over", err)
	}
	c.d.mu.Lock()
	e, err := c.d.event(h)
	if err == nil {
		e.shared.end(e.shared.lastOwn, true)
	}
	c.d.mu.Unlock()
	if err == nil {
		err = c.EventQuery(h)
	}
	release()
	c.ok(err)
	c.ok(c.EventSynchronize(h))
	c.ok(c.EventDestroy(h))
}

// A process has one start time. A process that has ended has none, before and after its parent has waited for it.
func TestStartTimeOfProcess(t *testing.T) {
	own := must(sharedmem.ProcessStart(os.Getpid()))(t)
	child := exec.Command("sleep", "100")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if began := must(sharedmem.ProcessStart(child.Process.Pid))(t); began < own {
		t.Errorf("a child began at %d, its parent at %d", began, own)
	}
	child.Process.Kill()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := sharedmem.ProcessStart(child.Process.Pid); err != nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("a process that was killed goes on")
		}
	}
	child.Wait()
	if began, err := sharedmem.ProcessStart(child.Process.Pid); err == nil {
		t.Errorf("a process that is gone began at %d", began)
	}
}

// A changed handle, or a handle of a different kind, is refused.
func TestChangedHandles(t *testing.T) {
	c := newClient(t, nil)
	h := must(c.IPCGetMemHandle(c.alloc(100)))(t)
	_, err := c.IPCOpenMemHandle(h, lazyPeerAccess)
	c.want(InvalidContext, "by this process", err)
	bad := func(reason string, change func(*origin)) {
		t.Helper()
		o := must(h.origin(memoryHandle))(t)
		change(&o)
		var changed IPCHandle
		if _, err := binary.Encode(changed[:], binary.LittleEndian, o); err != nil {
			t.Fatal(err)
		}
		_, err := c.IPCOpenMemHandle(changed, lazyPeerAccess)
		c.want(InvalidHandle, reason, err)
	}
	parent := os.Getppid()
	bad("is not a handle of memory from gemu", func(o *origin) { o.Kind = eventHandle })
	bad("has ended", func(o *origin) { o.Started-- })
	bad("has ended", func(o *origin) { o.PID = 1 << 30 })
	bad("was freed", func(o *origin) {
		o.PID, o.Started, o.FD = int32(parent), must(sharedmem.ProcessStart(parent))(t), 1<<20
	})
	bad("exported as gemu-allocation", func(o *origin) { o.PID, o.Started, o.FD = int32(parent), must(sharedmem.ProcessStart(parent))(t), 1 })
}

// A destroyed context has no open descriptors.
func TestDestroyedContextClosesFiles(t *testing.T) {
	c := newClient(t, nil)
	x := c.alloc(100)
	if _, err := c.IPCGetMemHandle(x); err != nil {
		t.Fatal(err)
	}
	e := must(c.EventCreate(flagNoTiming | flagInterprocess))(t)
	c.ok(c.EventRecord(e, 0))
	memory, event := c.d.pages.File(c.d.regions.find(x).data), c.d.objects[e].(*Event).shared.file
	c.ok(c.CtxDestroy(c.ctx))
	for _, file := range []*os.File{memory, event} {
		if _, err := file.Stat(); err == nil {
			t.Errorf("the file of %s is open", file.Name())
		}
	}
}

// A handle of memory waits for work, but not for later work on which that work waits.
func TestHandleDoesNotWaitForLaterWork(t *testing.T) {
	c := newClient(t, nil)
	x, flag := c.alloc(64), c.alloc(64)
	s, other := must(c.StreamCreate(flagNonBlocking, 0))(t), must(c.StreamCreate(flagNonBlocking, 0))(t)
	c.ok(c.StreamMemoryOps(s, []MemoryOp{{Kind: WaitValue32, Addr: flag, Value: 1, Flags: 1}}, 0))
	done := make(chan error, 1)
	go func() {
		peer := c.d.NewThread()
		peer.CtxSetCurrent(c.ctx)
		_, err := peer.IPCGetMemHandle(x)
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	c.ok(c.StreamMemoryOps(other, []MemoryOp{{Kind: WriteValue32, Addr: flag, Value: 1}}, 0))
	select {
	case err := <-done:
		c.ok(err)
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}

// A handle with a size that differs from the file's uses no addresses.
func TestHandleOfWrongSize(t *testing.T) {
	c := newClient(t, nil)
	h := must(c.IPCGetMemHandle(c.alloc(100)))(t)
	o := must(h.origin(memoryHandle))(t)
	o.Size = 1<<64 - 1<<52
	if _, err := binary.Encode(h[:], binary.LittleEndian, o); err != nil {
		t.Fatal(err)
	}
	next := c.d.nextPool
	if _, err := c.IPCOpenMemHandle(h, lazyPeerAccess); err == nil || c.d.nextPool != next {
		t.Errorf("%v, addresses from %#x on, %#x before", err, c.d.nextPool, next)
	}
}
