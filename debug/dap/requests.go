package dap

// This file answers requests.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"gemu/debug"
	"gemu/probe"
)

// options are the arguments of launch and attach requests for the server itself.
type options struct {
	StopOnEntry bool `json:"stopOnEntry"`
	StopAtEnd   bool `json:"stopAtEnd"`
}

// handle answers a request.
func (v *Server) handle(m dap.RequestMessage) {
	r := m.GetRequest()
	switch m := m.(type) {
	case *dap.InitializeRequest:
		v.send(&dap.InitializeResponse{Response: answer(r), Body: dap.Capabilities{
			SupportsConfigurationDoneRequest: true, SupportsFunctionBreakpoints: true, SupportsConditionalBreakpoints: true, SupportsEvaluateForHovers: true,
			SupportsStepBack: true, SupportsRestartRequest: true, SupportsExceptionInfoRequest: true, SupportsTerminateRequest: v.launch != nil, SupportTerminateDebuggee: v.launch != nil,
			SupportsDataBreakpoints: true, SupportsReadMemoryRequest: true, SupportsDisassembleRequest: true, SupportsSteppingGranularity: true, SupportsInstructionBreakpoints: true,
		}})
		return
	case *dap.LaunchRequest:
		v.startLaunch(r, m.Arguments)
		return
	case *dap.AttachRequest:
		v.startLaunch(r, m.Arguments)
		return
	case *dap.DisconnectRequest:
		v.disconnected = true
		v.leave(v.leaveResult())
		v.send(&dap.DisconnectResponse{Response: answer(r)})
		return
	case *dap.TerminateRequest:
		v.leave(v.leaveResult())
		v.send(&dap.TerminateResponse{Response: answer(r)})
		if v.attached { // the program goes on alone
			v.send(&dap.TerminatedEvent{Event: event("terminated")})
		}
		return
	case *dap.PauseRequest:
		if v.session != nil && v.running {
			v.session.Interrupt()
		}
		v.send(&dap.PauseResponse{Response: answer(r)})
		return
	case *dap.SetExceptionBreakpointsRequest: // traps always stop
		v.send(&dap.SetExceptionBreakpointsResponse{Response: answer(r)})
		return
	}
	switch {
	case v.session == nil:
		if _, ok := m.(*dap.ThreadsRequest); ok {
			v.send(&dap.ThreadsResponse{Response: answer(r), Body: dap.ThreadsResponseBody{Threads: []dap.Thread{}}})
			return
		}
		if v.attached && v.announced && !v.finished && sets(m) {
			v.deferWork = append(v.deferWork, func() { v.ofSession(m) })
			return
		}
		v.refuse(r, errNoSession)
	case !v.running:
		v.ofSession(m)
	case sets(m): // during execution
		if _, ok := m.(*dap.ThreadsRequest); ok && !v.continuing {
			v.send(&dap.ThreadsResponse{Response: answer(r), Body: dap.ThreadsResponseBody{Threads: v.lastThreads}})
			return
		}
		v.waiting = append(v.waiting, func() { v.ofSession(m) })
		if v.continuing {
			v.resume = true
			v.session.Interrupt()
		}
	default:
		v.refuse(r, errors.New("the launch runs"))
	}
}

// sets reports whether clients send such requests while a launch runs.
func sets(m dap.RequestMessage) bool {
	switch m.(type) {
	case *dap.SetBreakpointsRequest, *dap.SetFunctionBreakpointsRequest, *dap.SetInstructionBreakpointsRequest, *dap.SetDataBreakpointsRequest, *dap.ThreadsRequest:
		return true
	}
	return false
}

// startLaunch starts the requested launch.
func (v *Server) startLaunch(r *dap.Request, arguments json.RawMessage) {
	var o options
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &o); err != nil {
			v.refuse(r, fmt.Errorf("%s: %w", r.Command, err))
			return
		}
	}
	if v.launchRequested {
		v.refuse(r, errors.New("a launch was already requested"))
		return
	}
	v.launchRequested, v.stopOnEntry, v.stopAtEnd = true, o.StopOnEntry, o.StopAtEnd
	head := answer(r)
	if r.Command == "attach" {
		if v.launch != nil {
			v.refuse(r, errors.New("there is no launch to attach to: send a launch request"))
			v.launchRequested = false
			return
		}
		v.send(&dap.AttachResponse{Response: head})
		v.announce()
		return
	}
	if v.launch == nil {
		v.refuse(r, errors.New("the program makes its own launches: send an attach request"))
		v.launchRequested = false
		return
	}
	v.send(&dap.LaunchResponse{Response: head})
	v.result = errRuns
	go func() { v.launchResult <- v.launch(v.ctx, arguments, v, v) }()
}

// ofSession answers a request to a stopped session.
func (v *Server) ofSession(m dap.RequestMessage) {
	s, r := v.session, m.GetRequest()
	if s == nil {
		v.refuse(r, errNoSession)
		return
	}
	// move answers, and executes do in the session.
	move := func(response dap.Message, thread int, do func(ctx context.Context) (*debug.Stop, error)) {
		if thread != 0 {
			if err := v.focus(thread); err != nil {
				v.refuse(r, err)
				return
			}
		}
		v.send(response)
		_, continuing := m.(*dap.ContinueRequest)
		v.start(do, continuing)
	}
	switch m := m.(type) {
	case *dap.ConfigurationDoneRequest:
		v.configured = true
		v.send(&dap.ConfigurationDoneResponse{Response: answer(r)})
		v.enter()
	case *dap.SetBreakpointsRequest:
		v.setLines(m)
	case *dap.SetFunctionBreakpointsRequest:
		var list []wanted
		for _, b := range m.Arguments.Breakpoints {
			list = append(list, wanted{b.Name, b.Condition})
		}
		v.send(&dap.SetFunctionBreakpointsResponse{Response: answer(r), Body: dap.SetFunctionBreakpointsResponseBody{Breakpoints: v.set("functions", list)}})
	case *dap.SetInstructionBreakpointsRequest:
		var list []wanted
		for _, b := range m.Arguments.Breakpoints {
			place := "*" + b.InstructionReference // refused if it is no number
			if at, err := strconv.ParseInt(b.InstructionReference, 0, 64); err == nil {
				place = fmt.Sprintf("*%d", at+int64(b.Offset))
			}
			list = append(list, wanted{place, b.Condition})
		}
		v.send(&dap.SetInstructionBreakpointsResponse{Response: answer(r), Body: dap.SetInstructionBreakpointsResponseBody{Breakpoints: v.set("instructions", list)}})
	case *dap.DataBreakpointInfoRequest:
		v.dataInfo(m)
	case *dap.SetDataBreakpointsRequest:
		v.setData(m)
	case *dap.ThreadsRequest:
		v.send(&dap.ThreadsResponse{Response: answer(r), Body: dap.ThreadsResponseBody{Threads: v.threads()}})
	case *dap.StackTraceRequest:
		v.stackTrace(m)
	case *dap.ScopesRequest:
		v.scopes(m)
	case *dap.VariablesRequest:
		i := m.Arguments.VariablesReference - 1
		if i < 0 || i >= len(v.variables) {
			v.refuse(r, errors.New("these variables are no longer valid: execution has continued"))
			return
		}
		list := v.variables[i]()
		if from := m.Arguments.Start; from > 0 || m.Arguments.Count > 0 {
			list = list[min(max(from, 0), len(list)):]
			if n := m.Arguments.Count; n > 0 {
				list = list[:min(n, len(list))]
			}
		}
		v.send(&dap.VariablesResponse{Response: answer(r), Body: dap.VariablesResponseBody{Variables: list}})
	case *dap.EvaluateRequest:
		v.evaluate(m)
	case *dap.SourceRequest:
		v.send(&dap.SourceResponse{Response: answer(r), Body: dap.SourceResponseBody{Content: s.Info().Module.Source()}})
	case *dap.ReadMemoryRequest:
		v.readMemory(m)
	case *dap.DisassembleRequest:
		v.disassemble(m)
	case *dap.ExceptionInfoRequest:
		v.send(&dap.ExceptionInfoResponse{Response: answer(r), Body: dap.ExceptionInfoResponseBody{ExceptionId: "trap", Description: v.trap, BreakMode: "always"}})
	case *dap.ContinueRequest:
		move(&dap.ContinueResponse{Response: answer(r), Body: dap.ContinueResponseBody{AllThreadsContinued: true}}, 0, s.Continue)
	case *dap.ReverseContinueRequest:
		move(&dap.ReverseContinueResponse{Response: answer(r)}, 0, s.BackContinue)
	case *dap.NextRequest:
		move(&dap.NextResponse{Response: answer(r)}, m.Arguments.ThreadId, step(m.Arguments.Granularity, true, s.StepLine, s.StepInstr))
	case *dap.StepInRequest:
		move(&dap.StepInResponse{Response: answer(r)}, m.Arguments.ThreadId, step(m.Arguments.Granularity, false, s.StepLine, s.StepInstr))
	case *dap.StepBackRequest:
		thread := m.Arguments.ThreadId
		if len(s.Contexts()) == 0 { // at the end of the launch
			thread = 0
		}
		move(&dap.StepBackResponse{Response: answer(r)}, thread, step(m.Arguments.Granularity, true, s.BackLine, s.BackInstr))
	case *dap.StepOutRequest:
		move(&dap.StepOutResponse{Response: answer(r)}, m.Arguments.ThreadId, s.Finish)
	case *dap.RestartRequest:
		move(&dap.RestartResponse{Response: answer(r)}, 0, func(ctx context.Context) (*debug.Stop, error) {
			if err := s.Restart(ctx); err != nil {
				return nil, err
			}
			return s.Run(ctx)
		})
	default:
		v.refuse(r, fmt.Errorf("%s is not supported", r.Command))
	}
}

// step returns a step by line or by instruction.
func step(g dap.SteppingGranularity, stepOver bool, line, instr func(context.Context, bool) (*debug.Stop, error)) func(ctx context.Context) (*debug.Stop, error) {
	do := line
	if g == "instruction" {
		do = instr
	}
	return func(ctx context.Context) (*debug.Stop, error) { return do(ctx, stepOver) }
}

// wanted is a breakpoint that the client requests.
type wanted struct{ place, condition string }

// set replaces the breakpoints of an owner.
func (v *Server) set(owner string, list []wanted) []dap.Breakpoint {
	s := v.session
	for _, n := range v.breakpointIDs[owner] {
		s.Delete(n)
		delete(v.pending, n)
	}
	v.breakpointIDs[owner] = nil
	out := []dap.Breakpoint{}
	for _, w := range list {
		b, err := s.BreakLater(w.place, w.condition)
		if err != nil {
			out = append(out, dap.Breakpoint{Message: debug.Explain(err)})
			continue
		}
		v.breakpointIDs[owner] = append(v.breakpointIDs[owner], b.Number)
		out = append(out, v.breakpoint(b))
	}
	return out
}

// breakpoint describes a breakpoint for the client.
func (v *Server) breakpoint(b *debug.Breakpoint) dap.Breakpoint {
	v.pending[b.Number] = b.Err() != nil
	now := dap.Breakpoint{Id: b.Number, Verified: b.Err() == nil}
	if !now.Verified {
		now.Message = debug.Explain(b.Err())
	}
	module := v.session.Info().Module
	if lines := b.Lines(v.session); len(lines) > 0 {
		now.Source, now.Line = v.module(module), lines[0]
	}
	return now
}

// setLines sets the breakpoints of a source.
func (v *Server) setLines(m *dap.SetBreakpointsRequest) {
	module := v.session.Info().Module
	file := clean(m.Arguments.Source, module.Name)
	var list []wanted
	for _, b := range m.Arguments.Breakpoints {
		list = append(list, wanted{fmt.Sprintf("%s:%d", file, b.Line), b.Condition})
	}
	if len(m.Arguments.Breakpoints) == 0 {
		for _, n := range m.Arguments.Lines {
			list = append(list, wanted{place: fmt.Sprintf("%s:%d", file, n)})
		}
	}
	set := v.set("lines of "+file, list)
	if !debug.SameFile(file, module.Name) { // keep the client's own name of the source
		for i := range set {
			set[i].Source = &m.Arguments.Source
			if set[i].Line = 0; i < len(m.Arguments.Breakpoints) {
				set[i].Line = m.Arguments.Breakpoints[i].Line
			}
		}
	}
	v.send(&dap.SetBreakpointsResponse{Response: answer(&m.Request), Body: dap.SetBreakpointsResponseBody{Breakpoints: set}})
}

// dataInfo answers whether an expression is memory that can be watched.
func (v *Server) dataInfo(m *dap.DataBreakpointInfoRequest) {
	body := dap.DataBreakpointInfoResponseBody{Description: m.Arguments.Name}
	w, err := v.session.Watch(m.Arguments.Name, debug.WatchChanges)
	if err != nil {
		body.Description = debug.Explain(err)
	} else {
		v.session.Delete(w.Number)
		id := fmt.Sprintf("%s (%s)", w.Text, w.Place(v.session))
		v.data[id], body.DataId = w, id
		body.AccessTypes = []dap.DataBreakpointAccessType{"read", "write", "readWrite"}
	}
	v.send(&dap.DataBreakpointInfoResponse{Response: answer(&m.Request), Body: body})
}

var accesses = map[dap.DataBreakpointAccessType]debug.Access{"read": debug.WatchReads, "write": debug.WatchChanges, "": debug.WatchChanges, "readWrite": debug.WatchAccesses}

// setData sets the watches.
func (v *Server) setData(m *dap.SetDataBreakpointsRequest) {
	const owner = "data"
	old := v.breakpointIDs[owner]
	v.breakpointIDs[owner] = nil
	set := []dap.Breakpoint{}
	for _, b := range m.Arguments.Breakpoints {
		w := v.data[b.DataId]
		if w == nil {
			set = append(set, dap.Breakpoint{Message: "the memory of this data breakpoint is unknown: set it again"})
			continue
		}
		w = v.session.Rewatch(w, accesses[b.AccessType])
		v.breakpointIDs[owner] = append(v.breakpointIDs[owner], w.Number)
		set = append(set, dap.Breakpoint{Id: w.Number, Verified: true})
	}
	for _, n := range old {
		if !slices.Contains(v.breakpointIDs[owner], n) {
			v.session.Delete(n)
		}
	}
	v.send(&dap.SetDataBreakpointsResponse{Response: answer(&m.Request), Body: dap.SetDataBreakpointsResponseBody{Breakpoints: set}})
}

// idOf returns the id of the context whose first lane is f.
func (v *Server) idOf(f debug.Focus) int {
	info := v.session.Info()
	warps := (info.Block.Count() + info.WarpSize - 1) / info.WarpSize
	return (f.CTA*warps+f.Warp)*64 + f.Lane + 1
}

// endThreadID is the id of a pseudo-thread after the end of the launch, with which a client can go back.
const endThreadID = 1

// contextOf returns the context of a thread.
func (v *Server) contextOf(f debug.Focus) *debug.Context {
	for _, c := range v.session.Contexts() {
		if c.CTA == f.CTA && c.Warp == f.Warp && c.Lanes>>f.Lane&1 != 0 {
			return &c
		}
	}
	return nil
}

// first returns the thread that identifies a context.
func first(c *debug.Context) debug.Focus {
	return debug.Focus{CTA: c.CTA, Warp: c.Warp, Lane: bits.TrailingZeros64(c.Lanes)}
}

// threadID returns the id of the context in focus.
func (v *Server) threadID() int {
	if c := v.contextOf(v.session.Focus()); c != nil {
		return v.idOf(first(c))
	}
	return endThreadID
}

// focus moves the focus to a context, unless it is already there.
func (v *Server) focus(id int) error {
	for _, c := range v.session.Contexts() {
		if f := first(&c); v.idOf(f) == id {
			if focus := v.session.Focus(); focus.CTA != f.CTA || focus.Warp != f.Warp || c.Lanes>>focus.Lane&1 == 0 {
				return v.session.SetFocus(f)
			}
			return nil
		}
	}
	return fmt.Errorf("there is no thread %d", id)
}

func (v *Server) threads() []dap.Thread {
	list := []dap.Thread{}
	for _, c := range v.session.Contexts() {
		waits := ""
		if c.WaitingToReconverge || c.Wait != nil {
			waits = " (waits)"
		}
		list = append(list, dap.Thread{Id: v.idOf(first(&c)), Name: fmt.Sprintf("block %s warp %d %s%s", c.ID, c.Warp, probe.LaneText(c.Lanes), waits)})
	}
	if len(list) == 0 {
		list = append(list, dap.Thread{Id: endThreadID, Name: "the launch has ended"})
	}
	return list
}

func (v *Server) stackTrace(m *dap.StackTraceRequest) {
	s := v.session
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}}
	if len(s.Contexts()) > 0 {
		previous := s.Focus()
		if err := v.focus(m.Arguments.ThreadId); err != nil {
			v.refuse(&m.Request, err)
			return
		}
		f := s.Focus()
		c, err := s.Context()
		s.SetFocus(previous)
		if err != nil {
			v.refuse(&m.Request, err)
			return
		}
		module := s.Info().Module
		for i, fr := range s.Frames(c) {
			v.frames = append(v.frames, frame{f, i == 0})
			now := dap.StackFrame{Id: len(v.frames), Name: fr.Func.Name, Source: v.module(module), Line: int(fr.Func.End.Line), Column: int(fr.Func.End.Col)}
			if fr.Instr != nil {
				now.Line, now.Column, now.InstructionPointerReference = int(fr.Instr.Pos.Line), int(fr.Instr.Pos.Col), fmt.Sprintf("%#x", fr.Index)
				if l := fr.Instr.Loc; l >= 0 {
					loc := &fr.Func.Locs[l]
					if from := v.source(module.FileName(loc.File)); from != nil {
						now.Source, now.Line, now.Column = from, int(loc.Line), int(loc.Col)
					}
				}
			}
			body.StackFrames = append(body.StackFrames, now)
		}
		body.TotalFrames = len(body.StackFrames)
		from := min(max(m.Arguments.StartFrame, 0), body.TotalFrames)
		body.StackFrames = body.StackFrames[from:]
		if n := m.Arguments.Levels; n > 0 {
			body.StackFrames = body.StackFrames[:min(n, len(body.StackFrames))]
		}
	}
	v.send(&dap.StackTraceResponse{Response: answer(&m.Request), Body: body})
}

// newReference returns a reference to variables that are fetched on demand.
func (v *Server) newReference(do func() []dap.Variable) int {
	v.variables = append(v.variables, do)
	return len(v.variables)
}

func (v *Server) scopes(m *dap.ScopesRequest) {
	i := m.Arguments.FrameId - 1
	if i < 0 || i >= len(v.frames) {
		v.refuse(&m.Request, errors.New("this stack frame is no longer valid: execution has continued"))
		return
	}
	f := v.frames[i]
	list := []dap.Scope{}
	c := v.contextOf(f.focus)
	if c == nil || !f.inner { // registers of callers are not shown
		v.send(&dap.ScopesResponse{Response: answer(&m.Request), Body: dap.ScopesResponseBody{Scopes: list}})
		return
	}
	byForm := map[string][]debug.Register{}
	for _, r := range c.Registers() {
		if r.Live {
			byForm[r.Form.Kind] = append(byForm[r.Form.Kind], r)
		}
	}
	for _, kind := range []string{"uniform", "affine", "generic"} {
		registers := byForm[kind]
		list = append(list, dap.Scope{
			Name: strings.ToUpper(kind[:1]) + kind[1:] + " registers", PresentationHint: "registers", NamedVariables: len(registers),
			VariablesReference: v.newReference(func() []dap.Variable { return v.registers(c, f.focus, registers) }),
		})
	}
	list = append(list,
		dap.Scope{Name: "Special registers", PresentationHint: "registers", VariablesReference: v.newReference(func() []dap.Variable { return v.specials(f.focus) })},
		dap.Scope{Name: "Shared memory", Expensive: true, VariablesReference: v.newReference(func() []dap.Variable { return v.memory(f.focus, v.session.Shared()) })},
		dap.Scope{Name: "Local memory", Expensive: true, PresentationHint: "locals", VariablesReference: v.newReference(func() []dap.Variable { return v.memory(f.focus, v.session.Locals(c)) })},
		dap.Scope{Name: "Lanes", Expensive: true, VariablesReference: v.newReference(func() []dap.Variable { return v.lanes(c) })},
	)
	v.send(&dap.ScopesResponse{Response: answer(&m.Request), Body: dap.ScopesResponseBody{Scopes: list}})
}

// registers returns the registers of a lane, each with the values of all lanes as children.
func (v *Server) registers(c *debug.Context, f debug.Focus, registers []debug.Register) []dap.Variable {
	list := []dap.Variable{}
	for _, r := range registers {
		list = append(list, dap.Variable{
			Name: r.Name, Type: r.Type.String(), EvaluateName: r.Name, Value: fmt.Sprintf("%s   (%s)", r.Lane(f.Lane), r.Text(c.Lanes)),
			VariablesReference: v.newReference(func() []dap.Variable { return laneValues(c, &r) }), IndexedVariables: bits.OnesCount64(c.Lanes),
		})
	}
	return list
}

// laneValues returns the values of a register in the lanes of a context.
func laneValues(c *debug.Context, r *debug.Register) []dap.Variable {
	list := []dap.Variable{}
	for remaining := c.Lanes; remaining != 0; remaining &= remaining - 1 {
		lane := bits.TrailingZeros64(remaining)
		list = append(list, dap.Variable{Name: fmt.Sprintf("[%d]", lane), Value: r.Lane(lane), EvaluateName: fmt.Sprintf("%s[%d]", r.Name, lane)})
	}
	return list
}

// lanes returns the lanes of a context, each with its registers as children.
func (v *Server) lanes(c *debug.Context) []dap.Variable {
	list := []dap.Variable{}
	for remaining := c.Lanes; remaining != 0; remaining &= remaining - 1 {
		lane := bits.TrailingZeros64(remaining)
		f := debug.Focus{CTA: c.CTA, Warp: c.Warp, Lane: lane}
		list = append(list, dap.Variable{
			Name: fmt.Sprintf("lane %d", lane), Value: fmt.Sprintf("thread %s", v.session.Thread(f)),
			VariablesReference: v.newReference(func() []dap.Variable {
				var members []dap.Variable
				for _, r := range c.Registers() {
					if r.Live {
						members = append(members, dap.Variable{Name: r.Name, Type: r.Type.String(), Value: r.Lane(lane)})
					}
				}
				return members
			}),
		})
	}
	return list
}

// specialNames are the displayed special registers.
var specialNames = []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid"}

func (v *Server) specials(f debug.Focus) []dap.Variable {
	list := []dap.Variable{}
	for _, name := range specialNames {
		if text, err := v.withFocus(f, func() (string, error) { return v.session.Evaluate(name) }); err == nil {
			list = append(list, dap.Variable{Name: name, Value: text, EvaluateName: name})
		}
	}
	return list
}

// withFocus calls do with a thread in focus.
func (v *Server) withFocus(f debug.Focus, do func() (string, error)) (string, error) {
	previous := v.session.Focus()
	if f.CTA < 0 { // no thread
		return do()
	}
	defer v.session.SetFocus(previous)
	if err := v.session.SetFocus(f); err != nil {
		return "", err
	}
	return do()
}

// maxElements is the largest number of displayed elements of a variable.
const maxElements = 1 << 10

// memory returns variables with their elements.
func (v *Server) memory(f debug.Focus, variables []debug.Variable) []dap.Variable {
	list := []dap.Variable{}
	for _, m := range variables {
		now := dap.Variable{Name: m.Name, Type: m.Type.String(), MemoryReference: fmt.Sprintf("%#x", m.Addr)}
		element := func(i int) dap.Variable {
			name := fmt.Sprintf("%s[%d]", m.Name, i)
			text, err := v.withFocus(f, func() (string, error) { return v.session.Evaluate(name) })
			if err != nil {
				text = debug.Explain(err)
			}
			return dap.Variable{Name: name, Value: text, EvaluateName: name}
		}
		if m.Count == 1 {
			now.Value = element(0).Value
		} else {
			now.Value, now.IndexedVariables = fmt.Sprintf("%d elements", m.Count), min(m.Count, maxElements)
			now.VariablesReference = v.newReference(func() []dap.Variable {
				var members []dap.Variable
				for i := range min(m.Count, maxElements) {
					members = append(members, element(i))
				}
				return members
			})
		}
		list = append(list, now)
	}
	return list
}

// evaluate answers an expression or a console command.
func (v *Server) evaluate(m *dap.EvaluateRequest) {
	s, r := v.session, &m.Request
	f := s.Focus()
	if i := m.Arguments.FrameId - 1; i >= 0 && i < len(v.frames) {
		f = v.frames[i].focus
		if v.contextOf(f) == nil {
			v.refuse(r, debug.ErrNoLaunch)
			return
		}
		if !v.frames[i].inner && m.Arguments.Context != "repl" { // names would be resolved in the called function
			v.refuse(r, errors.New("registers of callers cannot be evaluated"))
			return
		}
	}
	if m.Arguments.Context == "repl" {
		v.command(m, f)
		return
	}
	text, err := v.withFocus(f, func() (string, error) { return s.Evaluate(m.Arguments.Expression) })
	if err != nil {
		v.refuse(r, err)
		return
	}
	body := dap.EvaluateResponseBody{Result: text}
	previous := s.Focus()
	s.SetFocus(f)
	if c := v.contextOf(f); c != nil {
		if reg, ok := s.Register(m.Arguments.Expression); ok {
			body.Type = reg.Type.String()
			body.VariablesReference = v.newReference(func() []dap.Variable { return laneValues(c, reg) })
		}
	}
	s.SetFocus(previous)
	v.send(&dap.EvaluateResponse{Response: answer(r), Body: body})
}

// command executes a console command, and reports a move to the client.
func (v *Server) command(m *dap.EvaluateRequest, f debug.Focus) {
	s, r := v.session, &m.Request
	if f.CTA >= 0 {
		s.SetFocus(f)
	}
	before, from := s.Step(), s.Focus()
	s.Ready()
	v.running = true
	go func() {
		var out bytes.Buffer
		c := debug.NewConsole(s, &out)
		c.More = v.attached
		err := c.Do(v.ctx, m.Arguments.Expression)
		v.work <- workResult{followUp: func() {
			switch {
			case errors.Is(err, debug.ErrQuit):
				v.send(&dap.EvaluateResponse{Response: answer(r)})
				v.leave(debug.ErrQuit)
				return
			case err != nil:
				v.refuse(r, err)
			default:
				v.send(&dap.EvaluateResponse{Response: answer(r), Body: dap.EvaluateResponseBody{Result: strings.TrimRight(out.String(), "\n")}})
			}
			switch stop := c.Stopped(); {
			case stop != nil:
				v.reportStop(stop)
			case s.Step() != before || s.Focus() != from:
				v.stopped("step", nil)
			}
		}}
	}()
}

func (v *Server) readMemory(m *dap.ReadMemoryRequest) {
	const most = 1 << 20
	addr, err := strconv.ParseUint(m.Arguments.MemoryReference, 0, 64)
	if err == nil && (m.Arguments.Count < 0 || m.Arguments.Count > most) {
		err = fmt.Errorf("want 0 to %d bytes", most)
	}
	if err != nil {
		v.refuse(&m.Request, err)
		return
	}
	addr += uint64(m.Arguments.Offset)
	body := dap.ReadMemoryResponseBody{Address: fmt.Sprintf("%#x", addr)}
	// Read as many bytes as there are.
	n := sort.Search(max(m.Arguments.Count, 0), func(n int) bool {
		_, err := v.session.Read("", addr, n+1)
		return err != nil
	})
	if n > 0 {
		p, err := v.session.Read("", addr, n)
		if err != nil {
			v.refuse(&m.Request, err)
			return
		}
		body.Data = base64.StdEncoding.EncodeToString(p)
	}
	body.UnreadableBytes = m.Arguments.Count - n
	v.send(&dap.ReadMemoryResponse{Response: answer(&m.Request), Body: body})
}

// disassemble returns the PTX by instruction; addresses are indices of instructions.
func (v *Server) disassemble(m *dap.DisassembleRequest) {
	const most = 1 << 14
	at, err := strconv.ParseInt(m.Arguments.MemoryReference, 0, 64)
	if err == nil && (m.Arguments.InstructionCount < 0 || m.Arguments.InstructionCount > most) {
		err = fmt.Errorf("want 0 to %d instructions", most)
	}
	if err != nil {
		v.refuse(&m.Request, err)
		return
	}
	info := v.session.Info()
	source := v.module(info.Module)
	list := []dap.DisassembledInstruction{}
	first := at + int64(m.Arguments.Offset) + int64(m.Arguments.InstructionOffset)
	for i := first; i < first+int64(m.Arguments.InstructionCount); i++ {
		if i < 0 || i >= int64(info.Program.Len()) {
			list = append(list, dap.DisassembledInstruction{Address: fmt.Sprintf("%#x", max(i, 0)), Instruction: "(none)"})
			continue
		}
		instr, f := info.Program.At(int(i))
		list = append(list, dap.DisassembledInstruction{Address: fmt.Sprintf("%#x", i), Instruction: instr.Format(f), Symbol: f.Name, Location: source, Line: int(instr.Pos.Line), Column: int(instr.Pos.Col)})
	}
	v.send(&dap.DisassembleResponse{Response: answer(&m.Request), Body: dap.DisassembleResponseBody{Instructions: list}})
}
