// Package dap is a debugging session as the Debug Adapter Protocol, for editors.
//
// Threads are contexts, lanes of a warp that are together: a warp that has diverged is several. A thread is
// named by its CTA, warp and first lane. Registers come in scopes by the structure of their values, and with the
// lanes' values when they are asked for.
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

// Launch begins what a client's launch request asks for, and runs it under the front end to its end. What
// kernels print goes to stdout.
type Launch func(ctx context.Context, arguments json.RawMessage, f debug.Front, stdout io.Writer) error

// Server speaks with one client. It is the front end of launches.
type Server struct {
	in     *bufio.Reader
	mu     sync.Mutex // held by who writes a message
	out    io.Writer
	seq    int
	launch Launch

	requests     chan dap.Message
	begun        chan *debug.Session // launches that have come to Debug
	debugResult  chan error          // what Debug gives
	work         chan workResult
	launchResult chan error    // what Launch has given
	clientGone   chan struct{} // closed when the client has

	// All that follows is the loop's.
	ctx             context.Context
	session         *debug.Session // nil: no launch is under way
	attached        bool           // the launch is somebody else's: it goes on when the client leaves
	announced       bool           // the client was told that breakpoints can be set
	configured      bool
	stopOnEntry     bool
	stopAtEnd       bool
	launchRequested bool                    // the client has asked for a launch
	finished        bool                    // nothing is debugged any more
	disconnected    bool                    // the client has left
	result          error                   // how the launch has come to its end
	running         bool                    // the session is at work
	waiting         []func()                // what is to be done when it has stopped
	resume          bool                    // and then it goes on
	continuing      bool                    // it is at work until it is stopped: it may be interrupted, and resumed
	threadsThen     []dap.Thread            // those there were when it stood
	breakpointIDs   map[string][]int        // breakpoints, by what the client calls them
	pending         map[int]bool            // of those there are, by number, the ones that the launch has no place for
	data            map[string]*debug.Watch // memory that the client was told it can watch, by what it calls it
	deferWork       []func()                // what is to be done when the next launch begins
	files           *input.Sources          // that the PTX was made of
	trap            string                  // what has stopped the session last, if it is a trap
	frames          []frame                 // that the client knows, by id
	variables       []func() []dap.Variable // by reference
}

// frame is a function that a context is in.
type frame struct {
	focus debug.Focus
	inner bool // it is the innermost
}

// workResult is a work that has.
type workResult struct {
	stop     *debug.Stop
	err      error
	followUp func()
}

// New makes a server of a connection.
func New(in io.Reader, out io.Writer) *Server {
	return &Server{
		in: bufio.NewReader(in), out: out, requests: make(chan dap.Message), begun: make(chan *debug.Session), debugResult: make(chan error), work: make(chan workResult), launchResult: make(chan error, 1),
		clientGone: make(chan struct{}), breakpointIDs: map[string][]int{}, pending: map[int]bool{}, data: map[string]*debug.Watch{},
	}
}

// Write tells the client what a kernel prints.
func (v *Server) Write(p []byte) (int, error) {
	v.print("stdout", string(p))
	return len(p), nil
}

func (v *Server) print(category, text string) {
	v.send(&dap.OutputEvent{Event: event("output"), Body: dap.OutputEventBody{Category: category, Output: text}})
}

// Debug leaves a launch to the client, until that lets it go on.
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

// Serve answers the client until it has gone, or has ended the session. Without a launch those that
// come to Debug are debugged by a client that attaches. The error is that of the connection, or of a
// message that is none.
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
				v.send(&dap.ErrorResponse{Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: field.Seq, Command: field.FieldValue, Message: "there is no such request here"}})
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
	reported := false // whoever waits for the client, that it has gone
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
			v.leave(v.disconnectError())
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

// errRuns is the result of a launch that has none yet.
var errRuns = errors.New("it runs")

// disconnectError is what Debug gives when the client goes: a launch of somebody else's goes on.
func (v *Server) disconnectError() error {
	if v.attached {
		return nil
	}
	return debug.ErrQuit
}

// leave ends the debugging: at once, or when the session has stopped.
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

// releaseLaunch gives the launch back to the host.
func (v *Server) releaseLaunch(err error) {
	if v.session != nil {
		v.session = nil
		v.debugResult <- err
	}
}

// begin takes over a launch that begins.
func (v *Server) begin(s *debug.Session) {
	v.session, v.files = s, s.Sources()
	v.forget()
	v.rebindBreakpoints()
	later := v.deferWork
	v.deferWork = nil
	for _, do := range later {
		do()
	}
	switch {
	case v.finished:
		v.releaseLaunch(v.disconnectError())
	case v.configured:
		v.enter()
	default:
		v.announce()
	}
}

// rebindBreakpoints tells the client of breakpoints that the launch which begins has a place for, and the last had not;
// and the other way.
func (v *Server) rebindBreakpoints() {
	for _, b := range v.session.Breakpoints() {
		if previous, ok := v.pending[b.Number]; ok && previous != (b.Err() != nil) {
			v.send(&dap.BreakpointEvent{Event: event("breakpoint"), Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: v.breakpoint(b)}})
		}
	}
}

// announce tells the client, once, that breakpoints can be set.
func (v *Server) announce() {
	if v.session != nil && v.launchRequested && !v.announced {
		v.announced = true
		v.send(&dap.InitializedEvent{Event: event("initialized")})
	}
}

// enter begins to debug a launch for which all is set.
func (v *Server) enter() {
	if v.stopOnEntry {
		v.stopped("entry", &debug.Stop{Reason: debug.AtBegin})
		return
	}
	v.start(v.session.Run, true)
}

// conclude tells the client that the launch it has asked for has come to its end.
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

// start has the session do something, and tells the client where it stops. What only goes on may be
// interrupted for a moment; a step, or a way back, may not: it would have another end.
func (v *Server) start(do func(ctx context.Context) (*debug.Stop, error), continuing bool) {
	v.forget()
	v.session.Ready() // what the client had paused has stopped before
	v.running, v.continuing, v.threadsThen = true, continuing, v.threads()
	go func() {
		stop, err := do(v.ctx)
		v.work <- workResult{stop: stop, err: err}
	}()
}

// finish is the end of what start began.
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

// reportStop tells the client where the session has stopped; a launch that has ended has the host go on.
func (v *Server) reportStop(stop *debug.Stop) {
	if stop.Reason == debug.AtEnd && !v.stopAtEnd {
		v.releaseLaunch(nil)
		return
	}
	v.stopped(stop.Reason.String(), stop)
}

// stopped tells the client where the session is.
func (v *Server) stopped(reason string, stop *debug.Stop) {
	v.forget()
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
		case stop.Change != nil:
			body.HitBreakpointIds = append(body.HitBreakpointIds, stop.Change.Watch.Number)
			body.Description = stop.Change.Text()
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

// forget is what stops being so when the session moves.
func (v *Server) forget() { v.frames, v.variables = nil, nil }

func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// send writes a message. What cannot be written is noticed by who reads.
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

// answer is the head of a response to a request.
func answer(r *dap.Request) dap.Response {
	return dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: r.Seq, Success: true, Command: r.Command}
}

// refuse answers with an error.
func (v *Server) refuse(r *dap.Request, err error) {
	head := answer(r)
	head.Success, head.Message = false, debug.Explain(err)
	v.send(&dap.ErrorResponse{Response: head, Body: dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: "{text}", Variables: map[string]string{"text": debug.Explain(err)}, ShowUser: true}}})
}

// module is the PTX: the file that the client has, if it has the same text, or the reference by which the client asks for
// the text.
func (v *Server) module(m *ptx.Module) *dap.Source {
	name := filepath.Base(m.Name)
	if path, err := filepath.Abs(m.Name); err == nil {
		if b, err := input.ReadRegular(path, input.MaxText); err == nil && string(b) == m.Source() {
			return &dap.Source{Name: name, Path: path}
		}
	}
	return &dap.Source{Name: name, SourceReference: moduleReference}
}

// source is a file that the PTX was compiled from; nil if it is not read.
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

// moduleReference is the reference of the text of the PTX.
const moduleReference = 1

// clean is a place as breakpoints have it, of a source that a client names.
func clean(s dap.Source, module string) string {
	if s.SourceReference == moduleReference || s.Path == "" {
		return module
	}
	if strings.HasPrefix(s.Path, "file://") {
		return strings.TrimPrefix(s.Path, "file://")
	}
	return s.Path
}

var errNoSession = fmt.Errorf("no launch is under way")
