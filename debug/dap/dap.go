// Package dap serves a debugging session to editors, with the Debug Adapter Protocol.
//
// Each thread of the protocol is a context, i.e. a warp split: a diverged warp has several. The name of a thread has its
// CTA, warp and first lane. Registers are in scopes by their value structure. The client may request the values of a
// register's lanes.
package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/go-dap"

	"gemu/debug"
	"gemu/internal/input"
	"gemu/ptx"
)

// Launch runs the launch of a client's launch request, with these arguments, to its end under front end f. Kernels print
// to stdout.
type Launch func(ctx context.Context, arguments json.RawMessage, f debug.Front, stdout io.Writer) error

// Server serves one client. It is a debug.Front.
type Server struct {
	in     *bufio.Reader
	mu     sync.Mutex // guards out and seq
	out    io.Writer
	seq    int
	launch Launch

	requests     chan dap.Message
	begun        chan *debug.Session // sessions passed to Debug
	debugResult  chan error          // results that Debug returns
	work         chan workResult
	launchResult chan error    // result of Launch
	clientGone   chan struct{} // closed when the client has left

	// The fields below belong to the loop in Serve.
	ctx             context.Context
	session         *debug.Session          // nil: no launch is running
	attached        bool                    // the client has not started the launch: it continues when the client leaves
	announced       bool                    // the client knows that breakpoints can be set
	configured      bool                    // the client has set its breakpoints
	stopOnEntry     bool                    // stop before the first instruction
	stopAtEnd       bool                    // stop after the last instruction
	launchRequested bool                    // the client has requested a launch
	finished        bool                    // debugging has ended
	disconnected    bool                    // the client has left
	result          error                   // result of the launch
	running         bool                    // the session is executing
	waiting         []func()                // work to do when the session stops
	resume          bool                    // continue after the work in waiting
	continuing      bool                    // the command runs until a stop, so it may be interrupted and resumed
	lastThreads     []dap.Thread            // threads at the last stop
	breakpointIDs   map[string][]int        // numbers of breakpoints, by the client's key
	pending         map[int]bool            // breakpoints without a place in the launch, by number
	data            map[string]*debug.Watch // watchable memory, by the client's key
	deferWork       []func()                // work to do when the next launch begins
	files           *input.Sources          // sources of the PTX
	trap            string                  // text of the trap that caused the last stop
	frames          []frame                 // frames known to the client, by id
	variables       []func() []dap.Variable // by reference
}

// frame is a function on the call stack of a context.
type frame struct {
	focus debug.Focus
	inner bool // the innermost frame
}

// workResult is the result of a command that ran concurrently with the loop in Serve.
type workResult struct {
	stop     *debug.Stop
	err      error
	followUp func() // called in the loop; may be nil
}

// New returns a server for a connection.
func New(in io.Reader, out io.Writer) *Server {
	return &Server{
		in: bufio.NewReader(in), out: out, requests: make(chan dap.Message), begun: make(chan *debug.Session), debugResult: make(chan error), work: make(chan workResult), launchResult: make(chan error, 1),
		clientGone: make(chan struct{}), breakpointIDs: map[string][]int{}, pending: map[int]bool{}, data: map[string]*debug.Watch{},
	}
}

// Write sends output of a kernel to the client.
func (v *Server) Write(p []byte) (int, error) {
	v.print("stdout", string(p))
	return len(p), nil
}

func (v *Server) print(category, text string) {
	v.send(&dap.OutputEvent{Event: event("output"), Body: dap.OutputEventBody{Category: category, Output: text}})
}

// Debug lets the client debug a launch. It returns when the launch is to continue without the debugger.
func (v *Server) Debug(ctx context.Context, s *debug.Session) error {
	select {
	case v.begun <- s:
	case <-v.clientGone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-v.debugResult
}

// Serve answers requests until the client leaves or ends the session. If launch is nil, the client must attach, and debugs
// the launches for which Debug is called. Serve returns the error of the connection, or of an invalid message.
func (v *Server) Serve(ctx context.Context, launch Launch) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v.ctx, v.launch, v.attached = ctx, launch, launch == nil
	read := make(chan error, 1)
	go func() {
		for {
			m, err := dap.ReadProtocolMessage(v.in)
			var field *dap.DecodeProtocolMessageFieldError
			switch {
			case errors.As(err, &field):
				v.send(&dap.ErrorResponse{Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: field.Seq, Command: field.FieldValue, Message: "unknown request"}})
				continue
			case err != nil:
				read <- err
				return
			}
			select {
			case v.requests <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	var failed error
	reported := false // clientGone is closed
	for {
		if v.disconnected && v.session == nil && v.result != errRuns {
			return failed
		}
		select {
		case m := <-v.requests:
			if r, ok := m.(dap.RequestMessage); ok {
				v.handle(r)
			}
		case s := <-v.begun:
			v.begin(s)
		case f := <-v.work:
			v.finish(f)
		case err := <-v.launchResult:
			v.result = err
			v.conclude(err)
		case err := <-read:
			read, v.disconnected = nil, true
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				failed = err
			}
			v.leave(v.leaveResult())
		case <-ctx.Done():
			if v.session != nil && !v.running {
				v.releaseLaunch(ctx.Err())
			}
			return ctx.Err()
		}
		if v.finished && !reported {
			close(v.clientGone)
			reported = true
		}
	}
}

// errRuns is the result of a launch that still runs.
var errRuns = errors.New("the launch runs")

// leaveResult returns the result of Debug when the client leaves: an attached launch continues.
func (v *Server) leaveResult() error {
	if v.attached {
		return nil
	}
	return debug.ErrQuit
}

// leave ends debugging: at once, or when a running session has stopped. err is the result of Debug.
func (v *Server) leave(err error) {
	v.finished = true
	switch {
	case v.session == nil:
	case v.running:
		v.resume = false
		v.waiting = append(v.waiting, func() { v.releaseLaunch(err) })
		v.session.Interrupt()
	default:
		v.releaseLaunch(err)
	}
}

// releaseLaunch makes Debug return err: the host of the launch controls it again.
func (v *Server) releaseLaunch(err error) {
	if v.session != nil {
		v.session = nil
		v.debugResult <- err
	}
}

// begin starts the service of a new launch.
func (v *Server) begin(s *debug.Session) {
	v.session, v.files = s, s.Sources()
	v.dropReferences()
	v.rebindBreakpoints()
	later := v.deferWork
	v.deferWork = nil
	for _, do := range later {
		do()
	}
	switch {
	case v.finished:
		v.releaseLaunch(v.leaveResult())
	case v.configured:
		v.enter()
	default:
		v.announce()
	}
}

// rebindBreakpoints sends the client the breakpoints that have gained or lost a place with the new launch.
func (v *Server) rebindBreakpoints() {
	for _, b := range v.session.Breakpoints() {
		if previous, ok := v.pending[b.Number]; ok && previous != (b.Err() != nil) {
			v.send(&dap.BreakpointEvent{Event: event("breakpoint"), Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: v.breakpoint(b)}})
		}
	}
}

// announce notifies the client, once, that breakpoints can be set.
func (v *Server) announce() {
	if v.session != nil && v.launchRequested && !v.announced {
		v.announced = true
		v.send(&dap.InitializedEvent{Event: event("initialized")})
	}
}

// enter starts debugging a configured launch.
func (v *Server) enter() {
	if v.stopOnEntry {
		v.stopped("entry", &debug.Stop{Reason: debug.AtBegin})
		return
	}
	v.start(v.session.Run, true)
}

// conclude reports the end of the requested launch to the client.
func (v *Server) conclude(err error) {
	code := 0
	if err != nil && !errors.Is(err, debug.ErrQuit) {
		code = 1
		if !v.announced {
			v.print("stderr", err.Error()+"\n")
		}
	}
	v.send(&dap.ExitedEvent{Event: event("exited"), Body: dap.ExitedEventBody{ExitCode: code}})
	v.send(&dap.TerminatedEvent{Event: event("terminated")})
}

// start executes do in the session and reports the stop to the client. continuing must be true only for a command that
// may be interrupted and resumed: a step, or a command that goes back, would stop elsewhere after that.
func (v *Server) start(do func(ctx context.Context) (*debug.Stop, error), continuing bool) {
	v.dropReferences()
	v.session.Ready() // an earlier pause request is obsolete
	v.running, v.continuing, v.lastThreads = true, continuing, v.threads()
	go func() {
		stop, err := do(v.ctx)
		v.work <- workResult{stop: stop, err: err}
	}()
}

// finish handles the result of start.
func (v *Server) finish(f workResult) {
	v.running = false
	if f.followUp != nil {
		f.followUp()
	}
	waiting := v.waiting
	v.waiting = nil
	for _, do := range waiting {
		do()
	}
	if v.session == nil {
		return
	}
	if v.resume && f.err == nil && f.stop != nil && f.stop.Reason == debug.AtInterrupt {
		v.resume = false
		v.start(v.session.Continue, true)
		return
	}
	v.resume = false
	switch {
	case f.err != nil:
		v.print("stderr", debug.Explain(f.err)+"\n")
		v.stopped("pause", nil)
	case f.stop != nil:
		v.reportStop(f.stop)
	}
}

// reportStop reports a stop to the client, or makes Debug return if the launch has ended.
func (v *Server) reportStop(stop *debug.Stop) {
	if stop.Reason == debug.AtEnd && !v.stopAtEnd {
		v.releaseLaunch(nil)
		return
	}
	v.stopped(stop.Reason.String(), stop)
}

// stopped sends a stopped event.
func (v *Server) stopped(reason string, stop *debug.Stop) {
	v.dropReferences()
	body := dap.StoppedEventBody{Reason: reason, AllThreadsStopped: true, ThreadId: v.threadID()}
	v.trap = ""
	if stop != nil {
		for _, b := range stop.Breakpoints {
			body.HitBreakpointIds = append(body.HitBreakpointIds, b.Number)
		}
		switch {
		case stop.Trap() != nil:
			v.trap = stop.Trap().Report()
			body.Description, body.Text = "Trap", stop.Trap().Msg
			v.print("stderr", v.trap+"\n")
		case stop.WatchHit != nil:
			body.HitBreakpointIds = append(body.HitBreakpointIds, stop.WatchHit.Watch.Number)
			body.Description = stop.WatchHit.Text()
		case reason == "end":
			body.Reason, body.Description = "pause", "The launch has ended"
		case reason == "exit":
			body.Reason, body.Description = "step", "The thread has ended"
		}
		if stop.Note != "" {
			v.print("stderr", stop.Note+"\n")
		}
	}
	v.send(&dap.StoppedEvent{Event: event("stopped"), Body: body})
}

// dropReferences discards frames and variables, which are invalid when the launch has executed.
func (v *Server) dropReferences() { v.frames, v.variables = nil, nil }

func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// send writes a message. It ignores errors: the reader in Serve gets the error of a broken connection.
func (v *Server) send(m dap.Message) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq++
	switch m := m.(type) {
	case dap.ResponseMessage:
		m.GetResponse().Seq = v.seq
	case dap.EventMessage:
		m.GetEvent().Seq = v.seq
	}
	dap.WriteProtocolMessage(v.out, m)
}

// answer returns the header of a response.
func answer(r *dap.Request) dap.Response {
	return dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: r.Seq, Success: true, Command: r.Command}
}

// refuse answers a request with an error.
func (v *Server) refuse(r *dap.Request, err error) {
	head := answer(r)
	head.Success, head.Message = false, debug.Explain(err)
	v.send(&dap.ErrorResponse{Response: head, Body: dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: "{text}", Variables: map[string]string{"text": debug.Explain(err)}, ShowUser: true}}})
}

// module returns the PTX as a source: the file with the module's name if the file has the same text, else a reference.
func (v *Server) module(m *ptx.Module) *dap.Source {
	name := filepath.Base(m.Name)
	if path, err := filepath.Abs(m.Name); err == nil {
		if b, err := input.ReadRegular(path, input.MaxText); err == nil && string(b) == m.Source() {
			return &dap.Source{Name: name, Path: path}
		}
	}
	return &dap.Source{Name: name, SourceReference: moduleReference}
}

// source returns a source file of the PTX; nil if it is not readable.
func (v *Server) source(name string) *dap.Source {
	if v.files.Err(name) != nil {
		return nil
	}
	path, err := filepath.Abs(v.files.Path(name))
	if err != nil {
		return nil
	}
	return &dap.Source{Name: filepath.Base(name), Path: path}
}

// moduleReference is the reference of the PTX text.
const moduleReference = 1

// clean returns the file name of a client's source, for places of breakpoints; module is the name of the PTX.
func clean(s dap.Source, module string) string {
	if s.SourceReference == moduleReference || s.Path == "" {
		return module
	}
	if strings.HasPrefix(s.Path, "file://") {
		return strings.TrimPrefix(s.Path, "file://")
	}
	return s.Path
}

// errNoSession is the error of requests that need a launch.
var errNoSession = fmt.Errorf("no launch is running")
