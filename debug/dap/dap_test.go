package dap_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"gemu/debug"
	"gemu/debug/dap"
	"gemu/internal/input"
	"gemu/interp"
	"gemu/ptx"
)

// client speaks with a server through pipes.
type client struct {
	t      *testing.T
	out    io.WriteCloser
	seq    int
	heard  chan protocol.Message
	events []protocol.Message // events received without a wait for them
	served chan error
}

// serve begins a server and its client.
func serve(t *testing.T, launch dap.Launch) *client {
	t.Helper()
	in, out := io.Pipe()
	from, to := io.Pipe()
	c := &client{t: t, out: out, heard: make(chan protocol.Message, 100), served: make(chan error, 1)}
	go func() {
		c.served <- dap.New(in, to).Serve(t.Context(), launch)
		to.Close()
	}()
	go func() {
		defer close(c.heard)
		r := bufio.NewReader(from)
		for {
			m, err := protocol.ReadProtocolMessage(r)
			if err != nil {
				return
			}
			c.heard <- m
		}
	}()
	t.Cleanup(func() { out.Close() })
	return c
}

func (c *client) next() protocol.Message {
	c.t.Helper()
	select {
	case m, ok := <-c.heard:
		if !ok {
			c.t.Fatal("the server has gone")
		}
		return m
	case <-time.After(30 * time.Second):
		c.t.Fatal("the server says nothing")
	}
	panic("not reached")
}

// ask makes a request and returns its response. Events that arrive in between are kept.
func ask[R protocol.Message](c *client, r protocol.RequestMessage) R {
	c.t.Helper()
	m := c.asked(r)
	response, ok := m.(R)
	if !ok {
		b, _ := json.Marshal(m)
		c.t.Fatalf("%T is answered with %T: %s", r, m, b)
	}
	return response
}

// refused makes an invalid request, and returns the error message.
func (c *client) refused(r protocol.RequestMessage) string {
	c.t.Helper()
	m, ok := c.asked(r).(*protocol.ErrorResponse)
	if !ok || m.Success || m.Message == "" {
		c.t.Fatalf("%T is not refused: %+v", r, m)
	}
	return m.Message
}

var commandOf = strings.NewReplacer("Request", "")

func (c *client) asked(r protocol.RequestMessage) protocol.Message {
	c.t.Helper()
	c.send(r)
	for {
		m := c.next()
		if a, ok := m.(protocol.ResponseMessage); ok {
			if got := a.GetResponse().RequestSeq; got != c.seq {
				c.t.Fatalf("an answer to %d, not %d", got, c.seq)
			}
			return m
		}
		c.events = append(c.events, m)
	}
}

// send makes a request.
func (c *client) send(r protocol.RequestMessage) {
	c.t.Helper()
	c.seq++
	h := r.GetRequest()
	h.Type, h.Seq = "request", c.seq
	if h.Command == "" {
		name := reflect.TypeOf(r).Elem().Name()
		h.Command = strings.ToLower(name[:1]) + commandOf.Replace(name[1:])
	}
	if err := protocol.WriteProtocolMessage(c.out, r); err != nil {
		c.t.Fatal(err)
	}
}

// event waits for the next event of a type, and discards earlier events.
func event[E protocol.Message](c *client) E {
	c.t.Helper()
	for {
		var m protocol.Message
		if len(c.events) > 0 {
			m, c.events = c.events[0], c.events[1:]
		} else {
			m = c.next()
		}
		if e, ok := m.(E); ok {
			return e
		}
	}
}

// runs returns a launch of a kernel of a file on two u32 buffers of the given number of elements, the first with
// iota.
func runs(t *testing.T, file string, elements int) dap.Launch {
	return func(ctx context.Context, _ json.RawMessage, f debug.Front, stdout io.Writer) error {
		src, err := input.ReadFile(t.Context(), file, 1<<20)
		if err != nil {
			return err
		}
		out := debug.NewOutput(stdout)
		dev := interp.NewDevice(interp.Config{Stdout: out})
		mod, err := dev.Load(file, src)
		if err != nil {
			return err
		}
		in := make([]uint32, 32)
		for i := range in {
			in[i] = uint32(i)
		}
		a, _ := interp.NewBuffer(dev, in)
		b, _ := interp.NewBuffer(dev, make([]uint32, elements))
		l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(max(32, elements)), Args: []any{a, b}}
		debug.New(debug.Options{Output: out}).Drive(l, f)
		_, err = mod.Run(ctx, l)
		return err
	}
}

// hello begins a session with a breakpoint.
func hello(t *testing.T, c *client, place, condition string, args string) {
	t.Helper()
	can := ask[*protocol.InitializeResponse](c, &protocol.InitializeRequest{Arguments: protocol.InitializeRequestArguments{ClientID: "test", LinesStartAt1: true, ColumnsStartAt1: true}})
	if !can.Body.SupportsStepBack || !can.Body.SupportsConfigurationDoneRequest {
		t.Errorf("it cannot do what it should: %+v", can.Body)
	}
	ask[*protocol.LaunchResponse](c, &protocol.LaunchRequest{Arguments: json.RawMessage(args)})
	event[*protocol.InitializedEvent](c)
	if place != "" {
		set := ask[*protocol.SetFunctionBreakpointsResponse](c, &protocol.SetFunctionBreakpointsRequest{Arguments: protocol.SetFunctionBreakpointsArguments{
			Breakpoints: []protocol.FunctionBreakpoint{{Name: place, Condition: condition}},
		}})
		if len(set.Body.Breakpoints) != 1 || !set.Body.Breakpoints[0].Verified {
			t.Fatalf("the breakpoint is not set: %+v", set.Body)
		}
	}
	ask[*protocol.ConfigurationDoneResponse](c, &protocol.ConfigurationDoneRequest{})
}

// inner returns the innermost frame of a thread.
func (c *client) inner(thread int) protocol.StackFrame {
	c.t.Helper()
	s := ask[*protocol.StackTraceResponse](c, &protocol.StackTraceRequest{Arguments: protocol.StackTraceArguments{ThreadId: thread}})
	if len(s.Body.StackFrames) == 0 {
		c.t.Fatal("no frames")
	}
	return s.Body.StackFrames[0]
}

// evaluate returns the value of an expression in a frame.
func (c *client) evaluate(frame int, text, context string) string {
	c.t.Helper()
	return ask[*protocol.EvaluateResponse](c, &protocol.EvaluateRequest{Arguments: protocol.EvaluateArguments{Expression: text, FrameId: frame, Context: context}}).Body.Result
}

// variable returns a variable by name.
func (c *client) variable(reference int, name string) protocol.Variable {
	c.t.Helper()
	list := ask[*protocol.VariablesResponse](c, &protocol.VariablesRequest{Arguments: protocol.VariablesArguments{VariablesReference: reference}}).Body.Variables
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	c.t.Fatalf("no variable %s in %+v", name, list)
	return protocol.Variable{}
}

// scopes returns the scopes of a frame, by name.
func (c *client) scopes(frame int) map[string]int {
	c.t.Helper()
	out := map[string]int{}
	for _, s := range ask[*protocol.ScopesResponse](c, &protocol.ScopesRequest{Arguments: protocol.ScopesArguments{FrameId: frame}}).Body.Scopes {
		out[s.Name] = s.VariablesReference
	}
	return out
}

// TestSessionByDAP finds the wrong mad of docs/wrong.ptx: it breaks in the divergent branch, inspects lane 5,
// continues, and goes back.
func TestSessionByDAP(t *testing.T) {
	c := serve(t, runs(t, "../../docs/wrong.ptx", 32))
	hello(t, c, "LOWER", "x == 5", "{}")
	stop := event[*protocol.StoppedEvent](c)
	if stop.Body.Reason != "breakpoint" || !slices.Equal(stop.Body.HitBreakpointIds, []int{1}) {
		t.Fatalf("it stops by %+v", stop.Body)
	}
	threads := ask[*protocol.ThreadsResponse](c, &protocol.ThreadsRequest{}).Body.Threads
	want := []protocol.Thread{{Id: 1, Name: "block (0,0,0) warp 0 lanes 0-15"}, {Id: 17, Name: "block (0,0,0) warp 0 lanes 16-31 (waits)"}}
	if !slices.Equal(threads, want) {
		t.Errorf("threads are %+v, want %+v", threads, want)
	}
	path, _ := filepath.Abs("../../docs/wrong.ptx")
	f := c.inner(stop.Body.ThreadId)
	if f.Name != "blend" || f.Line != 21 || f.Source.Path != path {
		t.Errorf("it stands at %+v", f)
	}
	scopes := c.scopes(f.Id)
	x := c.variable(scopes["Affine registers"], "%x")
	if x.Value != "5   (affine 0 + 1*lane)" || x.Type != ".u32" {
		t.Errorf("x is %+v", x)
	}
	if v := c.variable(x.VariablesReference, "[7]"); v.Value != "7" {
		t.Errorf("x in lane 7 is %+v", v)
	}
	lane := c.variable(scopes["Lanes"], "lane 5")
	if v := c.variable(lane.VariablesReference, "%x"); v.Value != "5" {
		t.Errorf("x in lane 5 is %+v", v)
	}
	if v := c.variable(scopes["Special registers"], "%tid.x"); v.Value != "5" {
		t.Errorf("tid.x is %+v", v)
	}
	if got := c.evaluate(f.Id, "x*(x+1) + i", "watch"); got != "35" {
		t.Errorf("it should be %s", got)
	}
	for range 2 {
		ask[*protocol.NextResponse](c, &protocol.NextRequest{Arguments: protocol.NextArguments{ThreadId: stop.Body.ThreadId}})
		stop = event[*protocol.StoppedEvent](c)
	}
	f = c.inner(stop.Body.ThreadId)
	if got := c.evaluate(f.Id, "y", "hover"); got != "41" || f.Line != 24 {
		t.Errorf("at line %d y is %s", f.Line, got)
	}
	ask[*protocol.StepBackResponse](c, &protocol.StepBackRequest{Arguments: protocol.StepBackArguments{ThreadId: stop.Body.ThreadId}})
	stop = event[*protocol.StoppedEvent](c)
	f = c.inner(stop.Body.ThreadId)
	if got := c.evaluate(f.Id, "t", "repl"); f.Line != 22 {
		t.Errorf("at line %d the console says %s", f.Line, got)
	}
	if got := c.evaluate(f.Id, "print t*t + i", "repl"); got != "$1 = 41" {
		t.Errorf("the console says %s", got)
	}
	ask[*protocol.DisconnectResponse](c, &protocol.DisconnectRequest{})
	if err := <-c.served; err != nil {
		t.Error(err)
	}
}

// awaited: the second warp is late at a barrier.
const awaited = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .u32 %t, %n;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	mov.u32 %n, 0;
	setp.lt.u32 %q, %t, 32;
	@%q bra MEET;
LATE:
	add.u32 %n, %n, 1;
	setp.lt.u32 %q, %n, 300000;
	@%q bra LATE;
MEET:
	bar.sync 0;
	mov.u32 %t, 7;
	ret;
}
`

// TestRequestsDuringAStep: requests for threads and breakpoints during a step do not change the step.
func TestRequestsDuringAStep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "awaited.ptx")
	if err := os.WriteFile(file, []byte(awaited), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serve(t, runs(t, file, 64))
	hello(t, c, "MEET", "tid.x == 0", "{}")
	stop := event[*protocol.StoppedEvent](c)
	ask[*protocol.NextResponse](c, &protocol.NextRequest{Arguments: protocol.NextArguments{ThreadId: stop.Body.ThreadId}})
	if list := ask[*protocol.ThreadsResponse](c, &protocol.ThreadsRequest{}).Body.Threads; len(list) != 2 {
		t.Errorf("threads are %+v", list)
	}
	lines := ask[*protocol.SetBreakpointsResponse](c, &protocol.SetBreakpointsRequest{Arguments: protocol.SetBreakpointsArguments{
		Source: protocol.Source{Path: file}, Breakpoints: []protocol.SourceBreakpoint{{Line: 19}},
	}}).Body.Breakpoints
	if len(lines) != 1 || !lines[0].Verified {
		t.Errorf("breakpoints are %+v", lines)
	}
	stop = event[*protocol.StoppedEvent](c)
	if f := c.inner(stop.Body.ThreadId); stop.Body.Reason != "step" || f.Line != 18 {
		t.Errorf("it stops by %+v at line %d", stop.Body, f.Line)
	}
	ask[*protocol.DisconnectResponse](c, &protocol.DisconnectRequest{})
	<-c.served
}

// TestRequestsOfClients: watches, memory, code, invalid places, and going back to the beginning.
func TestRequestsOfClients(t *testing.T) {
	c := serve(t, runs(t, "../../docs/wrong.ptx", 32))
	hello(t, c, "", "", `{"stopOnEntry": true, "stopAtEnd": true}`)
	stop := event[*protocol.StoppedEvent](c)
	if stop.Body.Reason != "entry" {
		t.Errorf("it stops by %+v", stop.Body)
	}
	thread := stop.Body.ThreadId
	lines := ask[*protocol.SetBreakpointsResponse](c, &protocol.SetBreakpointsRequest{Arguments: protocol.SetBreakpointsArguments{
		Source:      protocol.Source{Path: "/elsewhere/docs/wrong.ptx"},
		Breakpoints: []protocol.SourceBreakpoint{{Line: 20}, {Line: 900}, {Line: 22, Condition: "x +"}},
	}}).Body.Breakpoints
	if len(lines) != 3 || lines[0].Verified {
		t.Errorf("breakpoints in another file: %+v", lines)
	}
	path, _ := filepath.Abs("../../docs/wrong.ptx")
	lines = ask[*protocol.SetBreakpointsResponse](c, &protocol.SetBreakpointsRequest{Arguments: protocol.SetBreakpointsArguments{
		Source:      protocol.Source{Path: path},
		Breakpoints: []protocol.SourceBreakpoint{{Line: 23}, {Line: 900}, {Line: 22, Condition: "x +"}},
	}}).Body.Breakpoints
	if len(lines) != 3 || !lines[0].Verified || lines[0].Line != 24 || lines[1].Verified || lines[1].Message == "" || lines[2].Verified || !strings.Contains(lines[2].Message, "a term is missing") {
		t.Errorf("breakpoints are %+v", lines)
	}
	info := ask[*protocol.DataBreakpointInfoResponse](c, &protocol.DataBreakpointInfoRequest{Arguments: protocol.DataBreakpointInfoArguments{Name: "out[5].u32"}}).Body
	id, ok := info.DataId.(string)
	if !ok {
		t.Fatalf("it cannot be watched: %+v", info)
	}
	if info := ask[*protocol.DataBreakpointInfoResponse](c, &protocol.DataBreakpointInfoRequest{Arguments: protocol.DataBreakpointInfoArguments{Name: "x"}}).Body; info.DataId != nil {
		t.Errorf("a register can be watched: %+v", info)
	}
	watch := func(ids ...string) []protocol.Breakpoint {
		t.Helper()
		r := &protocol.SetDataBreakpointsRequest{}
		for _, id := range ids {
			r.Arguments.Breakpoints = append(r.Arguments.Breakpoints, protocol.DataBreakpoint{DataId: id, AccessType: "write"})
		}
		return ask[*protocol.SetDataBreakpointsResponse](c, r).Body.Breakpoints
	}
	if data := watch(id, "out[6].u32"); len(data) != 2 || !data[0].Verified || data[1].Verified {
		t.Fatalf("it is not watched, or what was not asked for is: %+v", data)
	}
	goOn := func(reason string, line int) {
		t.Helper()
		ask[*protocol.ContinueResponse](c, &protocol.ContinueRequest{Arguments: protocol.ContinueArguments{ThreadId: thread}})
		if stop = event[*protocol.StoppedEvent](c); stop.Body.Reason != reason {
			t.Fatalf("it stops by %+v, want %s", stop.Body, reason)
		}
		if line > 0 {
			if f := c.inner(stop.Body.ThreadId); f.Line != line {
				t.Errorf("it stops at line %d, want %d", f.Line, line)
			}
		}
	}
	goOn("breakpoint", 24)
	goOn("data breakpoint", 27)
	if stop.Body.Description != "Old value = 0\nNew value = 41" {
		t.Errorf("the watch says %q", stop.Body.Description)
	}
	f := c.inner(stop.Body.ThreadId)
	address := c.evaluate(f.Id, "print/x out", "repl")
	at := address[strings.LastIndex(address, "0x"):]
	memory := ask[*protocol.ReadMemoryResponse](c, &protocol.ReadMemoryRequest{Arguments: protocol.ReadMemoryArguments{MemoryReference: at, Offset: 20, Count: 4}}).Body
	if got, err := base64.StdEncoding.DecodeString(memory.Data); err != nil || !slices.Equal(got, []byte{41, 0, 0, 0}) {
		t.Errorf("memory has %v, %v", got, err)
	}
	// A register in a watch belongs to the thread that was in focus when the watch was set.
	own := ask[*protocol.DataBreakpointInfoResponse](c, &protocol.DataBreakpointInfoRequest{Arguments: protocol.DataBreakpointInfoArguments{Name: "out[laneid].u32"}}).Body.DataId.(string)
	first := watch(id, own)
	c.evaluate(f.Id, "cuda lane 9", "repl")
	if again := watch(id, own); again[0].Id != first[0].Id || again[1].Id != first[1].Id {
		t.Errorf("watches are %+v, and set again %+v", first, again)
	}
	watch(id)
	stop = event[*protocol.StoppedEvent](c) // by the thread in focus
	code := ask[*protocol.DisassembleResponse](c, &protocol.DisassembleRequest{Arguments: protocol.DisassembleArguments{MemoryReference: f.InstructionPointerReference, InstructionOffset: -1, InstructionCount: 3}}).Body.Instructions
	if len(code) != 3 || !strings.HasPrefix(code[0].Instruction, "st.global.u32") || code[1].Line != 27 || code[2].Instruction != "(none)" {
		t.Errorf("code is %+v", code)
	}
	goOn("pause", 0) // the end, where the session stays
	if stop.Body.Description != "The launch has ended" {
		t.Errorf("it says %q", stop.Body.Description)
	}
	if got := c.evaluate(0, "out[5].u32 + 1", "watch"); got != "42" {
		t.Errorf("at the end out[5] + 1 is %s", got)
	}
	back := func(reason string, line int) {
		t.Helper()
		ask[*protocol.ReverseContinueResponse](c, &protocol.ReverseContinueRequest{Arguments: protocol.ReverseContinueArguments{ThreadId: thread}})
		if stop = event[*protocol.StoppedEvent](c); stop.Body.Reason != reason {
			t.Errorf("it stops by %+v, want %s", stop.Body, reason)
		}
		if f := c.inner(stop.Body.ThreadId); f.Line != line {
			t.Errorf("it stops at line %d, want %d", f.Line, line)
		}
	}
	back("data breakpoint", 26)
	back("breakpoint", 24)
	back("entry", 11)
	got := c.evaluate(c.inner(stop.Body.ThreadId).Id, "stepi 3", "repl")
	if stop = event[*protocol.StoppedEvent](c); !strings.HasSuffix(got, "add.u64 %a, %a, %off;") || stop.Body.Reason != "step" {
		t.Errorf("the console says %q, and stops by %s", got, stop.Body.Reason)
	}
	c.evaluate(c.inner(stop.Body.ThreadId).Id, "continue", "repl")
	if stop = event[*protocol.StoppedEvent](c); stop.Body.Reason != "breakpoint" || len(stop.Body.HitBreakpointIds) != 1 {
		t.Errorf("continue in the console stops by %+v", stop.Body)
	}
	for request, want := range map[protocol.RequestMessage]string{
		&protocol.ScopesRequest{Arguments: protocol.ScopesArguments{FrameId: 99}}:                            "this stack frame is no longer valid",
		&protocol.VariablesRequest{Arguments: protocol.VariablesArguments{VariablesReference: 99}}:           "these variables are no longer valid",
		&protocol.EvaluateRequest{Arguments: protocol.EvaluateArguments{Expression: "nothing"}}:              "no register nothing",
		&protocol.StackTraceRequest{Arguments: protocol.StackTraceArguments{ThreadId: 5}}:                    "no thread 5",
		&protocol.ReadMemoryRequest{Arguments: protocol.ReadMemoryArguments{MemoryReference: "x", Count: 4}}: "invalid syntax",
		&protocol.LaunchRequest{Arguments: json.RawMessage(`{}`)}:                                            "already requested",
		&protocol.GotoRequest{}: "not supported",
		&protocol.EvaluateRequest{Arguments: protocol.EvaluateArguments{Expression: "bogus", Context: "repl"}}: "undefined command",
	} {
		if got := c.refused(request); !strings.Contains(got, want) {
			t.Errorf("%T: %s, want %s", request, got, want)
		}
	}
	ask[*protocol.TerminateResponse](c, &protocol.TerminateRequest{})
	event[*protocol.TerminatedEvent](c)
	ask[*protocol.DisconnectResponse](c, &protocol.DisconnectRequest{})
	if err := <-c.served; err != nil {
		t.Error(err)
	}
}

// TestEndOfLaunch: the end of a launch is reported with its outcome; a launch that traps stops first.
func TestEndOfLaunch(t *testing.T) {
	c := serve(t, runs(t, "../../docs/wrong.ptx", 32))
	hello(t, c, "", "", "{}")
	if e := event[*protocol.ExitedEvent](c); e.Body.ExitCode != 0 {
		t.Errorf("it exits with %d", e.Body.ExitCode)
	}
	event[*protocol.TerminatedEvent](c)
	ask[*protocol.DisconnectResponse](c, &protocol.DisconnectRequest{})
	if err := <-c.served; err != nil {
		t.Error(err)
	}

	c = serve(t, runs(t, "../../docs/wrong.ptx", 3))
	hello(t, c, "", "", "{}")
	stop := event[*protocol.StoppedEvent](c)
	if stop.Body.Reason != "exception" || !strings.Contains(stop.Body.Text, "out-of-bounds") {
		t.Errorf("it stops by %+v", stop.Body)
	}
	if f := c.inner(stop.Body.ThreadId); f.Line != 26 {
		t.Errorf("it stops at line %d", f.Line)
	}
	about := ask[*protocol.ExceptionInfoResponse](c, &protocol.ExceptionInfoRequest{Arguments: protocol.ExceptionInfoArguments{ThreadId: stop.Body.ThreadId}})
	if !strings.Contains(about.Body.Description, "29 of 32 active lanes faulted") {
		t.Errorf("it is told as %+v", about.Body)
	}
	c.out.Close() // the client disconnects without a request
	if err := <-c.served; err != nil {
		t.Error(err)
	}

	c = serve(t, runs(t, "no/such.ptx", 1))
	ask[*protocol.InitializeResponse](c, &protocol.InitializeRequest{})
	ask[*protocol.LaunchResponse](c, &protocol.LaunchRequest{Arguments: json.RawMessage("{}")})
	if e := event[*protocol.OutputEvent](c); !strings.Contains(e.Body.Output, "no such file") {
		t.Errorf("it says %q", e.Body.Output)
	}
	if e := event[*protocol.ExitedEvent](c); e.Body.ExitCode != 1 {
		t.Errorf("it exits with %d", e.Body.ExitCode)
	}
}

// twoKernels are launched in sequence.
const twoKernels = `.version 8.0
.target sm_80
.address_size 64
.visible .entry first()
{
	ret;
}
.visible .entry second()
{
	.reg .u32 %i;
	mov.u32 %i, 0;
	ret;
}
`

// TestAttachBeforeLaunch: breakpoints of a kernel that is not launched yet are reported as unverified, and as
// verified once they have a place; a breakpoint set between launches is set in the next launch. After a client's
// request for the program's end, the session ends, and the program continues.
func TestAttachBeforeLaunch(t *testing.T) {
	in, out := io.Pipe()
	from, to := io.Pipe()
	server := dap.New(in, to)
	c := &client{t: t, out: out, heard: make(chan protocol.Message, 100), served: make(chan error, 1)}
	go func() { c.served <- server.Serve(t.Context(), nil) }()
	go func() {
		r := bufio.NewReader(from)
		for {
			m, err := protocol.ReadProtocolMessage(r)
			if err != nil {
				return
			}
			c.heard <- m
		}
	}()
	t.Cleanup(func() { out.Close() })
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("two.ptx", []byte(twoKernels))
	if err != nil {
		t.Fatal(err)
	}
	s := debug.New(debug.Options{})
	next, ran := make(chan string), make(chan error)
	go func() {
		for kernel := range next {
			l := &interp.Launch{Kernel: kernel, Grid: ptx.Dim(1), Block: ptx.Dim(1)}
			s.Drive(l, server)
			_, err := mod.Run(t.Context(), l)
			ran <- err
		}
	}()
	next <- "first"
	ask[*protocol.InitializeResponse](c, &protocol.InitializeRequest{})
	ask[*protocol.AttachResponse](c, &protocol.AttachRequest{Arguments: json.RawMessage("{}")})
	event[*protocol.InitializedEvent](c)
	line := func(n int) *protocol.SetBreakpointsRequest {
		return &protocol.SetBreakpointsRequest{Arguments: protocol.SetBreakpointsArguments{Source: protocol.Source{Path: "two.ptx"}, Breakpoints: []protocol.SourceBreakpoint{{Line: n}}}}
	}
	set := ask[*protocol.SetBreakpointsResponse](c, line(12)).Body.Breakpoints
	if len(set) != 1 || set[0].Verified || set[0].Id == 0 || !strings.Contains(set[0].Message, "line 12 belongs to second") {
		t.Errorf("it is set: %+v", set)
	}
	ask[*protocol.ConfigurationDoneResponse](c, &protocol.ConfigurationDoneRequest{})
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	c.send(&protocol.SetFunctionBreakpointsRequest{Arguments: protocol.SetFunctionBreakpointsArguments{Breakpoints: []protocol.FunctionBreakpoint{{Name: "second"}}}})
	ask[*protocol.ThreadsResponse](c, &protocol.ThreadsRequest{}) // the server has the request before the launch begins
	next <- "second"
	changed := event[*protocol.BreakpointEvent](c).Body
	if b := changed.Breakpoint; changed.Reason != "changed" || b.Id != set[0].Id || !b.Verified || b.Line != 12 {
		t.Errorf("the breakpoint is %+v", changed)
	}
	if b := event[*protocol.SetFunctionBreakpointsResponse](c).Body.Breakpoints; len(b) != 1 || !b[0].Verified || b[0].Line != 11 {
		t.Errorf("the function's is %+v", b)
	}
	for _, want := range []int{11, 12} {
		stop := event[*protocol.StoppedEvent](c)
		if f := c.inner(stop.Body.ThreadId); stop.Body.Reason != "breakpoint" || f.Line != want {
			t.Errorf("it stops by %+v at line %d, want %d", stop.Body, f.Line, want)
		}
		if want == 11 {
			ask[*protocol.ContinueResponse](c, &protocol.ContinueRequest{})
		}
	}
	ask[*protocol.TerminateResponse](c, &protocol.TerminateRequest{})
	event[*protocol.TerminatedEvent](c)
	if err := <-ran; err != nil {
		t.Error(err)
	}
	next <- "second" // no client is attached any more
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
