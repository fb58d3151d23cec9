package driver

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gemu/interp"
	"gemu/record"
	"gemu/sanitize"
	"gemu/trace"
)

// turnKernels are kernels that wait for each other through memory.
//
//   - await ends when the word at flag is value, and then stores value+1 at next.
//   - pass sends messages: rounds times, it waits until the word at from is number, stores number+1 at to, and adds step to number.
//   - order takes n tickets of a counter, and stores its id at log[ticket] for each: the log shows the turns.
//   - fail stores 1 at flag and traps.
//   - late stores 7 at out, waits until flag is at least 2, and stores 8 after it.
const turnKernels = `.version 7.8
.target sm_80
.address_size 64
.visible .entry await(.param .u64 flag, .param .u32 value, .param .u64 next)
{
	.reg .u32 %r<3>; .reg .u64 %rd<2>; .reg .pred %p;
	ld.param.u64 %rd0, [flag]; ld.param.u32 %r1, [value];
L:	ld.acquire.gpu.global.u32 %r0, [%rd0];
	setp.ne.u32 %p, %r0, %r1;
	@%p bra L;
	ld.param.u64 %rd1, [next];
	add.u32 %r2, %r1, 1;
	st.release.gpu.global.u32 [%rd1], %r2;
	ret;
}
.visible .entry pass(.param .u64 from, .param .u64 to, .param .u32 number, .param .u32 step, .param .u32 rounds)
{
	.reg .u32 %r<5>; .reg .u64 %rd<2>; .reg .pred %p;
	ld.param.u64 %rd0, [from]; ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [number]; ld.param.u32 %r2, [rounds];
L:	ld.acquire.gpu.global.u32 %r0, [%rd0];
	setp.ne.u32 %p, %r0, %r1;
	@%p bra L;
	add.u32 %r3, %r1, 1;
	st.release.gpu.global.u32 [%rd1], %r3;
	ld.param.u32 %r4, [step];
	add.u32 %r1, %r1, %r4;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p, %r2, 0;
	@%p bra L;
	ret;
}
.visible .entry order(.param .u64 tickets, .param .u64 log, .param .u32 id, .param .u32 n)
{
	.reg .u32 %r<6>; .reg .u64 %rd<4>; .reg .pred %p;
	ld.param.u64 %rd0, [tickets]; ld.param.u32 %r1, [n];
L:	atom.global.add.u32 %r2, [%rd0], 1;
	ld.param.u64 %rd1, [log]; ld.param.u32 %r0, [id];
	mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r0;
	mov.u32 %r3, 300;
M:	sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra M;
	sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;
	ret;
}
.visible .entry fail(.param .u64 flag)
{
	.reg .u64 %rd;
	ld.param.u64 %rd, [flag];
	st.release.gpu.global.u32 [%rd], 1;
	trap;
}
.visible .entry late(.param .u64 flag, .param .u64 out)
{
	.reg .u32 %r; .reg .u64 %rd<2>; .reg .pred %p;
	ld.param.u64 %rd0, [flag]; ld.param.u64 %rd1, [out];
	st.global.u32 [%rd1], 7;
L:	ld.acquire.gpu.global.u32 %r, [%rd0];
	setp.lt.u32 %p, %r, 2;
	@%p bra L;
	st.global.u32 [%rd1+4], 8;
	ret;
}
`

// turnClient is a client with the kernels, memory, and three streams without order between them.
type turnClient struct {
	*client
	x       uint64 // words, all 0
	streams []Handle
}

const turnWords = 1 << 12

func newTurnClient(t *testing.T, change func(*Settings)) *turnClient {
	t.Helper()
	c := &turnClient{client: newClient(t, change)}
	c.prepare()
	return c
}

// prepare loads the kernels, and makes the memory and the streams.
func (c *turnClient) prepare() {
	c.Helper()
	c.mod = c.load(turnKernels)
	c.x = c.alloc(4 * turnWords)
	c.ok(c.Memset(&Fill2D{Dst: c.x, Size: 4, Width: turnWords, Height: 1}, 0, false))
	c.ok(c.CtxSynchronize(0))
	for range 3 {
		c.streams = append(c.streams, must(c.StreamCreate(flagNonBlocking, 0))(c.T))
	}
}

// word returns the address of word i of the memory.
func (c *turnClient) word(i int) uint64 { return c.x + 4*uint64(i) }

// run launches a kernel of one thread on a stream.
func (c *turnClient) run(kernel string, stream Handle, args ...any) {
	c.Helper()
	c.ok(c.LaunchKernel(launchParams(c.function(kernel), 1, 1, args...), stream))
}

// wait launches a kernel that waits until word 0 is 1, and then stores 2 in word 1; set launches the kernel that stores 1 in word 0.
func (c *turnClient) wait(stream Handle) { c.Helper(); c.run("await", stream, c.word(0), 1, c.word(1)) }
func (c *turnClient) set(stream Handle)  { c.Helper(); c.run("await", stream, c.word(2), 0, c.word(0)) }

// peek reads words without a call of the API, which would return a fault of the context.
func (c *turnClient) peek(i, n int) (list []uint32) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	for b := must(c.d.deviceBytes(c.word(i), uint64(4*n)))(c.T); len(b) > 0; b = b[4:] {
		list = append(list, binary.LittleEndian.Uint32(b))
	}
	return list
}

// A kernel waits for a flag that an operation on another stream sets, which is submitted before or after the kernel, but before
// the host waits.
func TestKernelWaitsForOtherStream(t *testing.T) {
	t.Parallel()
	for name, submit := range map[string]func(c *turnClient) []Handle{
		"waiter first": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"setter first": func(c *turnClient) []Handle {
			c.set(c.streams[1])
			c.wait(c.streams[0])
			return c.streams[:2]
		},
		"time between the launches": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			time.Sleep(memoryWaitGrace + 100*time.Millisecond) // no thread waits, so this is no deadlock
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"a query between the launches": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.want(NotReady, "", c.StreamQuery(c.streams[0]))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"an allocation and a module between the launches": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.alloc(64)
			c.mod = c.load(strings.Replace(turnKernels, ".entry late", ".entry later", 1))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"priorities": func(c *turnClient) []Handle {
			high, low := must(c.StreamCreate(flagNonBlocking, greatestPriority))(c.T), must(c.StreamCreate(flagNonBlocking, 0))(c.T)
			c.wait(high)
			c.set(low)
			return []Handle{high, low}
		},
		"the setter after an event": func(c *turnClient) []Handle {
			c.run("order", c.streams[2], c.word(8), c.word(9), 1, 2)
			e := must(c.EventCreate(0))(c.T)
			c.ok(c.EventRecord(e, c.streams[2]))
			c.wait(c.streams[0])
			c.ok(c.StreamWaitEvent(c.streams[1], e, 0))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"the setter after a function of the host": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.ok(c.LaunchHostFunc(c.streams[1], HostFunc{Call: func() { time.Sleep(time.Millisecond) }}))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"the setter after a slow function of the host": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.ok(c.LaunchHostFunc(c.streams[1], HostFunc{Call: func() { time.Sleep(memoryWaitGrace + 100*time.Millisecond) }}))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"the waiter before a callback": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.ok(c.StreamAddCallback(c.streams[0], func(r Result) {
				if r != Success {
					c.Errorf("the callback got %v", r)
				}
			}))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"the default stream of a thread": func(c *turnClient) []Handle {
			c.wait(streamPerThread)
			c.set(c.streams[1])
			return []Handle{streamPerThread, c.streams[1]}
		},
		"the default stream and a non-blocking stream": func(c *turnClient) []Handle {
			c.wait(0)
			c.set(c.streams[1])
			return []Handle{0, c.streams[1]}
		},
		"two blocking streams": func(c *turnClient) []Handle {
			a, b := must(c.StreamCreate(0, 0))(c.T), must(c.StreamCreate(0, 0))(c.T)
			c.wait(a)
			c.set(b)
			return []Handle{a, b}
		},
		"a fill": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.ok(c.Memset(&Fill2D{Dst: c.word(0), Size: 4, Width: 1, Height: 1, Value: 1}, c.streams[1], true))
			return c.streams[:2]
		},
		"a copy that the host waits for": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			one := uint32(1)
			c.ok(c.Memcpy(device(c.word(0)), onHost(unsafe.Pointer(&one)), 4, c.streams[1], false))
			return c.streams[:2]
		},
		"a write of a stream": func(c *turnClient) []Handle {
			c.wait(c.streams[0])
			c.ok(c.StreamMemoryOps(c.streams[1], []MemoryOp{{Kind: WriteValue32, Addr: c.word(0), Value: 1}}, 0))
			return c.streams[:2]
		},
		"a write after a wait for a value that a kernel stores": func(c *turnClient) []Handle {
			c.ok(c.StreamMemoryOps(c.streams[1], []MemoryOp{{Kind: WaitValue32, Addr: c.word(5), Value: 1}, {Kind: WriteValue32, Addr: c.word(0), Value: 1}}, 0))
			c.wait(c.streams[0])
			c.run("await", c.streams[2], c.word(2), 0, c.word(5))
			return c.streams[:2]
		},
		"branches of a graph": func(c *turnClient) []Handle {
			g := must(c.GraphCreate(0))(c.T)
			must(c.GraphAddKernelNode(g, nil, launchParams(c.function("await"), 1, 1, c.word(0), 1, c.word(1))))(c.T)
			must(c.GraphAddKernelNode(g, nil, launchParams(c.function("await"), 1, 1, c.word(2), 0, c.word(0))))(c.T)
			c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(c.T), c.streams[0]))
			return c.streams[:1]
		},
		"a graph and a stream": func(c *turnClient) []Handle {
			g := must(c.GraphCreate(0))(c.T)
			must(c.GraphAddKernelNode(g, nil, launchParams(c.function("await"), 1, 1, c.word(0), 1, c.word(1))))(c.T)
			c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(c.T), c.streams[0]))
			c.set(c.streams[1])
			return c.streams[:2]
		},
		"captured streams": func(c *turnClient) []Handle {
			c.ok(c.StreamBeginCapture(c.streams[0], CaptureGlobal))
			fork, join := must(c.EventCreate(0))(c.T), must(c.EventCreate(0))(c.T)
			c.ok(c.EventRecord(fork, c.streams[0]))
			c.ok(c.StreamWaitEvent(c.streams[1], fork, 0))
			c.wait(c.streams[0])
			c.set(c.streams[1])
			c.ok(c.EventRecord(join, c.streams[1]))
			c.ok(c.StreamWaitEvent(c.streams[0], join, 0))
			g := must(c.StreamEndCapture(c.streams[0]))(c.T)
			c.ok(c.GraphLaunch(must(c.GraphInstantiate(g, 0))(c.T), c.streams[0]))
			return c.streams[:1]
		},
	} {
		for _, last := range []bool{false, true} { // whether the host waits for the last stream first
			t.Run(fmt.Sprintf("%s/last %v", name, last), func(t *testing.T) {
				t.Parallel()
				c := newTurnClient(t, nil)
				streams := submit(c)
				if last {
					slices.Reverse(streams)
				}
				for _, s := range streams {
					c.ok(c.StreamSynchronize(s))
				}
				c.expect(c.word(0), 1, 2)
			})
		}
	}
}

// The host sets the flag of a running kernel in memory that both can access, without a call of the API.
func TestKernelWaitsForHost(t *testing.T) {
	t.Parallel()
	c := newTurnClient(t, nil)
	p := must(c.MemHostAlloc(8, 0))(t)
	flag := (*[2]uint32)(p)
	c.run("await", c.streams[0], uint64(uintptr(p)), 1, uint64(uintptr(p))+4)
	time.Sleep(30 * time.Millisecond)
	atomic.StoreUint32(&flag[0], 1)
	for begin := time.Now(); atomic.LoadUint32(&flag[1]) != 2; time.Sleep(100 * time.Microsecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the kernel does not see the host's write")
		}
	}
	c.ok(c.StreamSynchronize(c.streams[0]))
}

// The host sets the flag of a running kernel, and then queries the stream without a pause. The queries do not postpone the retries of
// the kernel.
func TestKernelWaitsForHostThatPolls(t *testing.T) {
	t.Parallel()
	c := newTurnClient(t, nil)
	p := must(c.MemHostAlloc(8, 0))(t)
	flag := (*[2]uint32)(p)
	c.run("await", c.streams[0], uint64(uintptr(p)), 1, uint64(uintptr(p))+4)
	err := error(NotReady)
	for begin := time.Now(); err == NotReady; err = c.StreamQuery(c.streams[0]) {
		if time.Since(begin) > 50*time.Millisecond {
			atomic.StoreUint32(&flag[0], 1)
		}
	}
	c.ok(err)
	if flag[1] != 2 {
		t.Errorf("the kernel stored %d, want 2", flag[1])
	}
}

// Ready tasks of two contexts are on several streams, even if each context has only its default stream.
func TestTurnsOfSeveralContexts(t *testing.T) {
	var d Driver
	a, b := &Stream{ctx: &Context{}}, &Stream{ctx: &Context{}}
	for _, test := range []struct {
		ready []*task
		want  bool
	}{
		{[]*task{{stream: a}, {stream: a}}, false},
		{[]*task{{stream: a}, {stream: b}}, true},
	} {
		if d.turns.ready = test.ready; d.hasSeveralStreams() != test.want {
			t.Errorf("hasSeveralStreams is %v, want %v", !test.want, test.want)
		}
	}
}

// Kernels on two and three streams exchange messages.
func TestKernelsExchangeMessages(t *testing.T) {
	t.Parallel()
	const rounds = 200
	for n := 2; n <= 3; n++ {
		for shift := range n { // the kernel that begins the ring is launched as number shift
			c := newTurnClient(t, nil)
			for k := range n {
				i := (k + n - shift) % n
				c.run("pass", c.streams[i], c.word(i), c.word((i+1)%n), i, n, rounds)
			}
			c.ok(c.CtxSynchronize(0))
			// Kernel i sends message number i + n·round + 1, and the last round is number rounds-1.
			want := make([]uint32, n)
			for i := range n {
				want[(i+1)%n] = uint32(i + n*(rounds-1) + 1)
			}
			c.expect(c.word(0), want...)
		}
	}
}

// Work that the default stream orders does not run together, so a kernel that waits for later work is in a deadlock. The error names
// the kernel and its place; the later work does not run.
func TestDefaultStreamKeepsOrder(t *testing.T) {
	t.Parallel()
	for name, submit := range map[string]func(c *turnClient, blocking Handle){
		"the default stream waits for a blocking stream": func(c *turnClient, blocking Handle) { c.wait(blocking); c.set(0) },
		"a blocking stream waits for the default stream": func(c *turnClient, blocking Handle) { c.wait(0); c.set(blocking) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTurnClient(t, nil)
			submit(c, must(c.StreamCreate(0, 0))(t))
			c.want(LaunchTimeout, "deadlock", c.CtxSynchronize(0))
			if got := c.peek(0, 2); got[0] != 0 || got[1] != 0 {
				t.Errorf("words %v, want 0 0", got)
			}
		})
	}
}

// A deadlock of several kernels: the message names each kernel with its stream and its place.
func TestDeadlockOfSeveralKernels(t *testing.T) {
	t.Parallel()
	c := newTurnClient(t, nil)
	c.run("await", c.streams[0], c.word(0), 1, c.word(1))
	c.run("late", c.streams[1], c.word(1), c.word(4))
	c.ok(c.StreamMemoryOps(c.streams[2], []MemoryOp{{Kind: WaitValue32, Addr: c.word(6), Value: 1}}, 0))
	c.want(LaunchTimeout, "deadlock", c.StreamSynchronize(c.streams[1]))
	for _, s := range c.streams {
		c.want(LaunchTimeout, "deadlock", c.StreamSynchronize(s)) // the fault ends the other work of the context
	}
	messages := c.messages.String()
	line := func(text string) int { return 1 + strings.Count(turnKernels[:strings.Index(turnKernels, text)], "\n") }
	for _, want := range []string{
		"kernel await is on stream " + fmt.Sprintf("%#x", uint64(c.streams[0])),
		fmt.Sprintf("in flight: kernel late on stream %#x: cta (0,0,0) warp 0: lane 0 loops at ", uint64(c.streams[1])),
		fmt.Sprintf(":%d:", line("ld.acquire.gpu.global.u32 %r0, [%rd0];\n\tsetp.ne.u32 %p, %r0, %r1;\n\t@%p bra L;\n\tld.param.u64")),
		fmt.Sprintf(":%d:", line("ld.acquire.gpu.global.u32 %r, [%rd0]")),
		fmt.Sprintf("in flight: operation on stream %#x: wait for the value at %#x", uint64(c.streams[2]), c.word(6)),
		fmt.Sprintf("kernel late on stream %#x: it was stopped, because another operation of its context failed", uint64(c.streams[1])),
	} {
		if !strings.Contains(messages, want) {
			t.Errorf("no %q in:\n%s", want, messages)
		}
	}
}

// A kernel traps while another is in flight: the other stops, and keeps the stores that it has made.
func TestTrapStopsKernelInFlight(t *testing.T) {
	t.Parallel()
	for _, failsFirst := range []bool{false, true} {
		c := newTurnClient(t, nil)
		late := func() { c.run("late", c.streams[0], c.word(0), c.word(4)) }
		if !failsFirst {
			late()
		}
		// The trapping kernel waits for the other's first store.
		c.run("await", c.streams[1], c.word(4), 7, c.word(1))
		c.run("fail", c.streams[1], c.word(0))
		if failsFirst {
			late()
		}
		c.want(LaunchFailed, "trap", c.StreamSynchronize(c.streams[0]))
		c.want(LaunchFailed, "trap", c.StreamSynchronize(c.streams[1]))
		c.want(LaunchFailed, "trap", c.StreamQuery(c.streams[2]))
		if got, want := c.peek(0, 6), []uint32{1, 8, 0, 0, 7, 0}; !slices.Equal(got, want) {
			t.Errorf("memory %v, want %v", got, want)
		}
	}
	// With ContinueOnFault the other kernel continues.
	c := newTurnClient(t, func(s *Settings) { s.ContinueOnFault = true })
	c.run("late", c.streams[0], c.word(0), c.word(4))
	c.run("fail", c.streams[1], c.word(0))
	c.want(LaunchFailed, "trap", c.StreamSynchronize(c.streams[1]))
	c.ok(c.Memset(&Fill2D{Dst: c.word(0), Size: 4, Width: 1, Height: 1, Value: 2}, c.streams[2], true))
	c.ok(c.StreamSynchronize(c.streams[0]))
	c.expect(c.word(4), 7, 8)
}

// Two kernels that do not fit in the host's memory together run one after another; if the first waits for the second, the message
// says so.
func TestKernelsThatDoNotFitTogether(t *testing.T) {
	t.Parallel()
	c := newTurnClient(t, func(s *Settings) { s.Host = 1 })
	c.run("order", c.streams[0], c.word(0), c.word(8), 1, 50)
	c.run("order", c.streams[1], c.word(0), c.word(8), 2, 50)
	c.ok(c.CtxSynchronize(0))
	if log := c.read(c.word(8), 100); slices.Max(log[:50]) != 1 || slices.Min(log[50:]) != 2 {
		t.Errorf("the kernels ran together: %v", log)
	}
	c.write(c.word(0), 0, 0, 0)
	c.wait(c.streams[0])
	c.set(c.streams[1])
	c.want(LaunchTimeout, "deadlock", c.CtxSynchronize(0))
	if messages := c.messages.String(); !strings.Contains(messages, "in flight: kernel await on stream") || !strings.Contains(messages, "do not fit in the host memory") {
		t.Errorf("messages: %s", messages)
	}
}

// The turns depend on the order of the launches only: not on the number of cores, on the engine, or on the time between the launches.
func TestTurnsAreFixed(t *testing.T) {
	const n = 60
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []uint32
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		for _, workers := range []int{1, 2, 8} {
			for _, engine := range []interp.Engine{interp.Portable, interp.DefaultEngine} {
				c := newTurnClient(t, func(s *Settings) { s.Workers, s.Engine = workers, engine })
				c.gated(func() {
					for i, s := range c.streams {
						c.ok(c.LaunchKernel(launchParams(c.function("order"), 2, 1, c.word(1), c.word(8), i+1, n), s))
					}
				})
				log := c.read(c.word(8), 6*n)
				if first == nil {
					first = log
					turns := slices.Compact(slices.Clone(log))
					if got := strings.Count(fmt.Sprint(turns), "1 2 3"); got < 5 || !strings.HasPrefix(fmt.Sprint(turns), "[1 2 3 1 2 3") {
						t.Errorf("the kernels do not take turns: %v", turns)
					}
				} else if !slices.Equal(log, first) {
					t.Errorf("%d cores, %d workers, engine %v: the turns differ:\n%v\n%v", cores, workers, engine, log, first)
				}
			}
		}
		// The kernels become ready one after another, but the host does not wait before it has launched the last.
		c := newTurnClient(t, nil)
		c.d.mu.Lock()
		c.d.turns.idle = time.Hour
		c.d.mu.Unlock()
		for i, s := range c.streams {
			c.ok(c.LaunchKernel(launchParams(c.function("order"), 2, 1, c.word(1), c.word(8), i+1, n), s))
			time.Sleep(20 * time.Millisecond)
		}
		c.ok(c.CtxSynchronize(0))
		if log := c.read(c.word(8), 6*n); !slices.Equal(log, first) {
			t.Errorf("%d cores, time between the launches: the turns differ:\n%v\n%v", cores, log, first)
		}
	}
}

// gated launches kernels that become ready together, however fast this thread is: they wait for an event after a function of the
// host. Then it waits for them.
func (c *turnClient) gated(launch func()) {
	c.Helper()
	open, gate := make(chan bool), must(c.EventCreate(0))(c.T)
	c.ok(c.LaunchHostFunc(0, HostFunc{Call: func() { <-open }}))
	c.ok(c.EventRecord(gate, 0))
	for _, s := range c.streams {
		c.ok(c.StreamWaitEvent(s, gate, 0))
	}
	launch()
	close(open)
	c.ok(c.CtxSynchronize(0))
}

// A function of the host for which other operations wait is named in a message, once, after turns.noticeTime; by default not soon.
func TestFunctionThatOthersWaitForIsNamed(t *testing.T) {
	t.Parallel()
	for _, want := range []int{0, 1} {
		var messages lockedBuffer
		c := newTurnClient(t, func(s *Settings) { s.Sanitize, s.Stderr = must(sanitize.Parse("race"))(t), &messages })
		if want > 0 {
			c.d.mu.Lock()
			c.d.turns.noticeTime = 50 * time.Millisecond
			c.d.mu.Unlock()
		}
		text := func() string {
			messages.mu.Lock()
			defer messages.mu.Unlock()
			return messages.String()
		}
		hold, release := held()
		c.ok(c.LaunchHostFunc(c.streams[0], HostFunc{Call: hold}))
		c.set(c.streams[1])
		for begin := time.Now(); want > 0 && text() == "" && time.Since(begin) < 20*time.Second; {
			time.Sleep(time.Millisecond)
		}
		c.set(c.streams[2]) // a further decision
		time.Sleep(100 * time.Millisecond)
		got := text()
		release()
		c.ok(c.CtxSynchronize(0))
		if strings.Count(got, "a function of the program on ") != want || want > 0 && !strings.Contains(got, "has not ended after 50ms, and other operations wait for it") {
			t.Errorf("messages %q, want %d", got, want)
		}
	}
}

// Kernels that exchange messages are observed: the log has the launches one after another, a recording and traces have all of them,
// sanitizers find nothing, statistics count all of them, and all of it is the same for any number of cores.
func TestObserversOfKernelsInFlight(t *testing.T) {
	t.Parallel()
	const rounds = 5
	tools := must(sanitize.Parse("all"))(t)
	type output struct{ log, traces, findings, recording, stats string }
	var first output
	for _, workers := range []int{1, 2, 8} {
		dir := t.TempDir()
		logName, recordingName, statsName := filepath.Join(dir, "log"), filepath.Join(dir, "log.gmr"), filepath.Join(dir, "stats")
		var out output
		for _, observer := range []func(*Settings){
			func(s *Settings) { s.Log, s.Record = logName, recordingName },
			func(s *Settings) { s.Accelsim = filepath.Join(dir, "traces") },
			func(s *Settings) { s.Sanitize = tools },
			func(s *Settings) { s.Stats = statsName },
		} {
			var messages lockedBuffer
			s := DefaultSettings()
			s.Memory, s.Workers, s.Stderr = 64<<20, workers, &messages
			observer(&s)
			os.Mkdir(filepath.Join(dir, "traces"), 0o777)
			d := New(s)
			c := &turnClient{client: &client{T: t, Thread: d.NewThread()}}
			c.ok(d.Init(0))
			c.ctx = must(c.CtxCreate(0, 0))(t)
			c.prepare()
			c.gated(func() {
				for i, s := range c.streams {
					c.run("pass", s, c.word(i), c.word((i+1)%3), i, 3, rounds)
				}
			})
			c.expect(c.word(0), 3*rounds, 3*rounds-2, 3*rounds-1)
			c.ok(d.Close())
			if len(s.Sanitize) > 0 {
				out.findings = messages.String()
			}
		}
		log := must(os.ReadFile(logName))(t)
		r := must(trace.NewReader(logName, bytes.NewReader(log)))(t)
		var order []string
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			c := &client{T: t}
			c.ok(err)
			switch e := e.(type) {
			case *trace.Launch:
				order = append(order, fmt.Sprint("launch ", e.Number))
			case *trace.End:
				order = append(order, fmt.Sprint("end ", e.Number))
			}
		}
		if want := []string{"launch 0", "end 0", "launch 1", "end 1", "launch 2", "end 2"}; !slices.Equal(order, want) {
			t.Errorf("the log has %v", order)
		}
		out.log = string(log)
		traces, _ := filepath.Glob(filepath.Join(dir, "traces", "*", "kernel-*"))
		for _, name := range traces {
			out.traces += string(must(os.ReadFile(name))(t))
		}
		if n := strings.Count(out.traces, "-kernel name = pass\n"); n != 3 {
			t.Errorf("%d traces of kernels", n)
		}
		recording := must(os.ReadFile(recordingName))(t)
		f := must(record.Open(recordingName, bytes.NewReader(recording), int64(len(recording))))(t)
		if n := f.Table("launches").Rows; n != 3 {
			t.Errorf("the recording has %d launches, want 3", n)
		}
		out.recording = string(recording)
		var stats Statistics
		c := &client{T: t}
		c.ok(json.Unmarshal(must(os.ReadFile(statsName))(t), &stats))
		if len(stats.Kernels) != 1 || stats.Kernels[0].Launches != 3 || stats.Total.Launches != 3 {
			t.Errorf("statistics %+v, want 3 launches of a kernel", stats)
		}
		for i := range stats.Kernels {
			stats.Kernels[i].Seconds = 0 // a time of the host
		}
		stats.Total.Seconds = 0
		out.stats = string(must(json.Marshal(&stats))(t))
		if !strings.Contains(out.findings, "ERROR SUMMARY: 0 errors") {
			t.Errorf("findings: %s", out.findings)
		}
		if first == (output{}) {
			first = out
		} else if out != first {
			t.Errorf("%d workers: the observers' output differs from that of one worker: log %v, traces %v, findings %v, recording %v, statistics %v", workers,
				out.log != first.log, out.traces != first.traces, out.findings != first.findings, out.recording != first.recording, out.stats != first.stats)
		}
	}
}
