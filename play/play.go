package play

// This file runs a request.

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemu/argument"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/record"
)

// Request is a program and a launch of one of its kernels.
type Request struct {
	Name   string            `json:"name"`            // file name of the source, for messages; CUDA C++ ends in .cu
	Source string            `json:"source"`          // text of the PTX, or of the CUDA C++
	Files  map[string]string `json:"files,omitempty"` // texts of source files that the PTX names in .file, by name

	Kernel      string   `json:"kernel,omitempty"`      // name of the kernel; "" if the module has only one
	Grid        [3]int   `json:"grid"`                  // CTAs in x, y and z; 0 is 1
	Block       [3]int   `json:"block"`                 // threads of a CTA in x, y and z; all 0: .reqntid of the kernel
	Cluster     [3]int   `json:"cluster,omitzero"`      // CTAs of a cluster; all 0: as the kernel says
	Arguments   []string `json:"arguments"`             // arguments in the syntax of package argument
	Set         []string `json:"set,omitempty"`         // variables of the module, NAME=ARGUMENT
	Shared      int      `json:"shared,omitempty"`      // dynamic shared memory of a CTA in bytes
	Cooperative bool     `json:"cooperative,omitempty"` // all CTAs are in flight at the same time
	Seed        uint64   `json:"seed,omitempty"`        // number of the schedule
	Policy      string   `json:"policy"`                // reconvergence policy; "" is the default
	Warp        int      `json:"warp,omitempty"`        // lanes of a warp; 0 is 32
	SM          string   `json:"sm,omitempty"`          // compute capability, such as 90; "" is the default

	MaxEvents uint64 `json:"maxEvents,omitempty"` // the run stops after this number of events; 0 and larger numbers: Limits.Events
	MaxSteps  int64  `json:"maxSteps,omitempty"`  // instructions of a warp, likewise
	Memory    bool   `json:"memory,omitempty"`    // record the contents of memory when the launch begins
}

// Limits bound the runs of an Engine. A field that is 0 has the value of DefaultLimits.
type Limits struct {
	Events   uint64        // events of a recording
	Steps    int64         // instructions of a warp
	Memory   uint64        // memory of the device, in bytes
	InFlight uint64        // host memory of CTAs in flight, in bytes
	Bytes    int64         // size of a recording, and of its memory images, in bytes
	Source   int           // size of the source, in bytes
	Time     time.Duration // time of a launch
}

// DefaultLimits keep a run below some hundred megabytes and some seconds.
var DefaultLimits = Limits{
	Events: 1_000_000, Steps: 1 << 24, Memory: 256 << 20, InFlight: 512 << 20, Bytes: 64 << 20, Source: 16 << 20, Time: time.Minute,
}

// DefaultEvents is the number of events for a Request that names none.
const DefaultEvents = 200_000

// Engine runs requests. The zero value runs PTX with DefaultLimits.
type Engine struct {
	// Limits bound each run.
	Limits Limits
	// Compile compiles CUDA C++ to PTX; nil if there is no compiler. The error's text is shown to the user.
	Compile func(ctx context.Context, name, source string) (ptx string, err error)
	// OpenFile reports whether an argument may read the file of a name; nil permits no file.
	OpenFile func(name string) bool
}

// Status is the outcome of a run.
type Status string

// The outcomes.
const (
	Done     Status = "done"     // the launch has ended
	Stopped  Status = "stopped"  // a limit ended the launch
	Failed   Status = "error"    // the request is wrong: nothing was launched
	Trapped  Status = "trap"     // the kernel trapped
	Deadlock Status = "deadlock" // no thread could continue
)

// Response is the outcome of a run.
type Response struct {
	Status       Status   `json:"status"`             // how the run ended
	Message      string   `json:"message,omitempty"`  // gemu's message, of one or several lines
	Place        *Place   `json:"place,omitempty"`    // place of the error or trap in the source
	Argument     *int     `json:"argument,omitempty"` // index of the wrong argument
	Offset       int      `json:"offset,omitempty"`   // byte in the text of the wrong argument
	Field        string   `json:"field,omitempty"`    // name in JSON of the request's wrong field, such as cluster; "" if no single field is wrong
	Kernels      []Kernel `json:"kernels,omitempty"`  // kernels of the module
	Kernel       string   `json:"kernel,omitempty"`   // the launched kernel
	Policy       string   `json:"policy,omitempty"`   // the reconvergence policy
	Outputs      []Output `json:"outputs,omitempty"`  // buffers of the arguments after a launch that is done
	Printed      string   `json:"printed,omitempty"`  // output of the kernel's printf
	Events       uint64   `json:"events"`             // recorded events
	Instructions int64    `json:"instructions"`       // executed warp instructions; 0 unless the launch is done

	Recording []byte `json:"-"` // empty if nothing was launched
}

// Place is a place in a source.
type Place struct {
	File   string `json:"file"`   // name of the source
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1; 0 is unknown
}

// Kernel is a kernel of a module.
type Kernel struct {
	Name       string      `json:"name"`           // name in the PTX
	Parameters []Parameter `json:"parameters"`     // in order
	Block      [3]int      `json:"block,omitzero"` // .reqntid, if the kernel has it
}

// Parameter is a parameter of a kernel.
type Parameter struct {
	Name string `json:"name"` // name in the PTX
	Type string `json:"type"` // type, such as .u64
}

// Output is the contents of a buffer.
type Output struct {
	Argument int      `json:"argument"` // index of the argument
	Name     string   `json:"name"`     // name of the parameter
	Type     string   `json:"type"`     // type of an element, such as u32
	Shape    []int    `json:"shape"`    // elements of each dimension, the slowest first
	Length   int      `json:"length"`   // number of elements
	Values   []string `json:"values"`   // the first elements, at most maxValues
}

// Numbers of elements and bytes in a Response.
const (
	maxValues  = 1024
	maxPrinted = 64 << 10
)

// Encode returns the bytes that the page receives: the length of the JSON in four bytes, little endian, the JSON, and the
// recording up to the end.
func (r *Response) Encode() []byte {
	text, err := json.Marshal(r)
	if err != nil { // a Response has only texts and numbers
		panic("play: " + err.Error())
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(text)+len(r.Recording)), uint32(len(text)))
	return append(append(b, text...), r.Recording...)
}

// RunJSON runs the request of a JSON text. The error is that of ctx.
func (e *Engine) RunJSON(ctx context.Context, text []byte) (*Response, error) {
	var q Request
	if err := json.Unmarshal(text, &q); err != nil {
		p := &Response{Status: Failed, Message: "the request is not valid: " + err.Error()}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			p.Field, _, _ = strings.Cut(wrong.Field, ".")
		}
		return p, nil
	}
	return e.Run(ctx, &q)
}

// Run runs a request. The error is that of ctx, whose end stops the run.
func (e *Engine) Run(ctx context.Context, q *Request) (*Response, error) {
	r := &run{engine: e, limits: e.Limits.orDefault(), request: q, response: &Response{}}
	err := r.launch(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.describe(err)
	return r.response, nil
}

// orDefault returns the limits with defaults for zeros.
func (l Limits) orDefault() Limits {
	d := DefaultLimits
	for _, f := range []struct{ to, from *uint64 }{{&d.Events, &l.Events}, {&d.Memory, &l.Memory}, {&d.InFlight, &l.InFlight}} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	if l.Steps != 0 {
		d.Steps = l.Steps
	}
	if l.Bytes != 0 {
		d.Bytes = l.Bytes
	}
	if l.Source != 0 {
		d.Source = l.Source
	}
	if l.Time != 0 {
		d.Time = l.Time
	}
	return d
}

// run is a request that runs.
type run struct {
	engine   *Engine
	limits   Limits
	request  *Request
	response *Response
	printed  bytes.Buffer
	launched bool // the launch has begun
}

// Write keeps the beginning of the kernel's output.
func (r *run) Write(b []byte) (int, error) {
	r.printed.Write(b[:min(len(b), maxPrinted-r.printed.Len())])
	return len(b), nil
}

// launch runs the request.
func (r *run) launch(ctx context.Context) error {
	q := r.request
	text, err := r.source(ctx)
	if err != nil {
		return err
	}
	module, err := ptx.ParseString(r.moduleName(), text)
	if err != nil {
		return err
	}
	r.response.Kernels = kernelsOf(module)
	policy, err := policyNamed(q.Policy)
	if err != nil {
		return err
	}
	sm, err := parseSM(q.SM)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	recorder, err := record.NewRecorder(&file, r.recordOptions())
	if err != nil {
		return err
	}
	device := interp.NewDevice(interp.Config{
		Engine: interp.Auto, Stdout: r, Memory: r.limits.Memory, Heap: r.limits.Memory / 4, HostMemory: r.limits.InFlight,
		SM: sm, TimeLimit: r.limits.Time, Probes: []probe.Probe{&limitedRecorder{recorder}},
	})
	m, err := device.LoadModule(module)
	if err != nil {
		return err
	}
	kernel, err := m.Kernel(q.Kernel)
	if err != nil {
		return err
	}
	r.response.Kernel, r.response.Policy = kernel.Name, policy.Name()
	arguments, err := r.bind(ctx, m, kernel)
	if err != nil {
		return err
	}
	grid, block, err := extents(q, kernel)
	if err != nil {
		return err
	}
	l := &interp.Launch{
		Kernel: kernel.Name, Grid: grid, Block: block, Args: arguments.Values, Shared: q.Shared, Cooperative: q.Cooperative,
		Cluster: ptx.Dim3{X: q.Cluster[0], Y: q.Cluster[1], Z: q.Cluster[2]}, WarpSize: q.Warp, Seed: q.Seed, Mode: interp.Vector,
		Reconverge: policy, MaxSteps: atMost(q.MaxSteps, r.limits.Steps, r.limits.Steps),
	}
	result, ran := m.Run(ctx, l)
	if err := recorder.Close(); err != nil {
		return err
	}
	r.response.Printed = strings.ToValidUTF8(r.printed.String(), "\uFFFD")
	if r.response.Events = recorder.Events(); r.response.Events > 0 || ran == nil {
		r.launched = true
		r.response.Recording = file.Bytes()
	}
	if ran == nil {
		r.response.Instructions = result.WarpInstructions
		r.response.Outputs = outputs(kernel, arguments)
	}
	return ran
}

// atMost returns a requested number, standard if it is 0, and at most most.
func atMost[N int64 | uint64](requested, standard, most N) N {
	if requested == 0 {
		requested = standard
	}
	return min(requested, most)
}

// recordOptions returns the options of the recording.
func (r *run) recordOptions() record.Options {
	return record.Options{
		Contents:  record.Contents{Results: true, Accesses: true, Memory: r.request.Memory, Stack: true, Source: true},
		MaxEvents: int64(atMost(r.request.MaxEvents, DefaultEvents, r.limits.Events)), MaxBytes: r.limits.Bytes, ReadSource: r.readSource,
	}
}

// readSource returns the text of a source file that the PTX names: a file of the request, by its name or by the last part of it. No
// other file is read.
func (r *run) readSource(name string) (string, bool) {
	q := r.request
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	if isCUDA(q.Name) && base == path.Base(strings.ReplaceAll(q.Name, "\\", "/")) {
		return q.Source, true
	}
	for _, n := range []string{name, base} {
		if text, ok := q.Files[n]; ok {
			return text, true
		}
	}
	return "", false
}

// isCUDA reports whether a file is CUDA C++, by its name.
func isCUDA(name string) bool { return strings.HasSuffix(name, ".cu") }

// moduleName returns the name of the PTX.
func (r *run) moduleName() string {
	switch name := r.request.Name; {
	case name == "":
		return "kernel.ptx"
	case isCUDA(name):
		return name + ".ptx"
	default:
		return name
	}
}

// source returns the PTX of the request.
func (r *run) source(ctx context.Context) (string, error) {
	q := r.request
	switch size := len(q.Source); {
	case size > r.limits.Source:
		return "", fmt.Errorf("the program has %d bytes: want at most %d", size, r.limits.Source)
	case strings.TrimSpace(q.Source) == "":
		return "", errors.New("the program is empty: write PTX, which begins with .version")
	case !isCUDA(q.Name):
		return q.Source, nil
	case r.engine.Compile == nil:
		return "", errors.New("this page has no compiler for CUDA C++. Compile to PTX elsewhere and paste it, or use gemu play on a computer with clang")
	}
	return r.engine.Compile(ctx, q.Name, q.Source)
}

// kernelsOf returns the kernels of a module.
func kernelsOf(m *ptx.Module) (list []Kernel) {
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok || !f.Entry || !f.Defined {
			continue
		}
		k := Kernel{Name: f.Name, Parameters: []Parameter{}, Block: required(f)}
		for _, p := range f.Params {
			k.Parameters = append(k.Parameters, Parameter{p.Name, p.Type.String()})
		}
		list = append(list, k)
	}
	return list
}

// required returns the extents in .reqntid of a kernel; zeros without it.
func required(f *ptx.Func) (block [3]int) {
	args, ok := f.Directive(".reqntid")
	if !ok {
		return block
	}
	block = [3]int{1, 1, 1}
	for i, a := range args[:min(len(args), 3)] {
		block[i], _ = strconv.Atoi(a) // the parser has checked it
	}
	return block
}

// extents returns the grid and the block of a launch.
func extents(q *Request, kernel *ptx.Func) (grid, block ptx.Dim3, err error) {
	b := q.Block
	if b == ([3]int{}) {
		b = required(kernel)
	}
	if b == ([3]int{}) {
		return grid, block, &fieldError{"block", fmt.Errorf("the size of a block is missing: kernel %s has no .reqntid, so the launch must say how many threads a block has", kernel.Name)}
	}
	dim := func(n [3]int) ptx.Dim3 {
		for i := range n {
			if n[i] == 0 {
				n[i] = 1
			}
		}
		return ptx.Dim3{X: n[0], Y: n[1], Z: n[2]}
	}
	return dim(q.Grid), dim(b), nil
}

// policyNamed returns a reconvergence policy.
func policyNamed(name string) (*interp.Reconverger, error) {
	if name == "" {
		return interp.Reconvergers()[0], nil
	}
	return interp.ParseReconverger(name)
}

// parseSM returns the compute capability of a text such as 90 or sm_90; 0 for "".
func parseSM(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(text, "sm_"))
	if err != nil || n < 30 {
		return 0, &fieldError{"sm", fmt.Errorf("compute capability %q: want a number from 30 on, such as 90 for 9.0", text)}
	}
	return n, nil
}

// bind makes the arguments.
func (r *run) bind(ctx context.Context, m *interp.Module, kernel *ptx.Func) (*argument.List, error) {
	for i, text := range r.request.Arguments {
		if err := r.checkFiles(text); err != nil {
			return nil, &argument.Error{Text: text, Index: i, Param: paramOf(kernel, i), Err: err}
		}
	}
	list, err := argument.Bind(ctx, m, kernel, r.request.Arguments)
	if err != nil {
		return nil, err
	}
	for _, text := range r.request.Set {
		_, value, _ := strings.Cut(text, "=")
		err := r.checkFiles(value)
		if err == nil {
			err = list.Set(ctx, text)
		}
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", text, err)
		}
	}
	return list, nil
}

// paramOf returns a parameter of a kernel; nil if it has fewer.
func paramOf(kernel *ptx.Func, i int) *ptx.Var {
	if i < len(kernel.Params) {
		return kernel.Params[i]
	}
	return nil
}

// checkFiles returns an error if an argument reads a file that it may not read. Other errors are left to package argument.
func (r *run) checkFiles(text string) error {
	v, err := argument.Parse(text)
	if err != nil {
		return nil
	}
	f := FileOf(v)
	if f == nil || r.engine.OpenFile != nil && r.engine.OpenFile(f.Name) {
		return nil
	}
	return fmt.Errorf("the page may not read the file %s: give it to gemu play on the command line, or use an array such as f32[64]=iota", f.Name)
}

// FileOf returns the file that an argument reads; nil if it reads none.
func FileOf(v argument.Value) *argument.File {
	switch v := v.(type) {
	case argument.TensorMap:
		return FileOf(v.Buffer)
	case argument.File:
		return &v
	case argument.Object:
		return v.File
	}
	return nil
}

// outputs returns the buffers of the arguments.
func outputs(kernel *ptx.Func, l *argument.List) (list []Output) {
	for i, p := range kernel.Params {
		b := l.Bindings[strconv.Itoa(i)]
		if b == nil || b.IsSampler() {
			continue
		}
		a := b.Array()
		o := Output{Argument: i, Name: p.Name, Type: strings.TrimPrefix(a.Type.String(), "."), Shape: slices.Clone(a.Shape), Length: a.Len(), Values: []string{}}
		for k := range min(a.Len(), maxValues) {
			o.Values = append(o.Values, a.Format(k))
		}
		list = append(list, o)
	}
	return list
}

// limitedRecorder is a Recorder that ends the launch when it reaches a limit.
type limitedRecorder struct{ *record.Recorder }

// errLimit ends a launch whose recording has reached a limit.
type errLimit struct{ limit string }

func (e *errLimit) Error() string { return "stopped at the limit of " + e.limit }

// CTA returns the sink of the recorder, with the limit.
func (l *limitedRecorder) CTA(info *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	s := l.Recorder.CTA(info, index, id)
	if s == nil {
		return nil
	}
	return &limitedSink{s, l.Recorder}
}

// limitedSink is a sink of a limitedRecorder.
type limitedSink struct {
	probe.Sink
	recorder *record.Recorder
}

// OnEvent records an event, and stops the launch at a limit.
func (s *limitedSink) OnEvent(e *probe.Event) {
	s.Sink.OnEvent(e)
	if full := s.recorder.Full(); full != "" {
		e.Stop(&errLimit{full})
	}
}
