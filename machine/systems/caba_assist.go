package systems

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"gemu/internal/input"
	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
	"gemu/machine/core"
)

// Numbers of the controllers of assist warps, which the paper does not have: "a few dedicated sets within the L1 cache" for stores are four sets
// of four lines, and no share of idle cycles is required.
var defaultAssist = core.Assist{StoreBuffer: 16}

// assistSystem returns a system whose assist warps execute the routines of modules. Of several routines with the same trigger the first one counts. The
// form of a line is that of the algorithm which has the fewest bytes of it. levels changes the levels of memory that have forms; nil: those of
// Compressed.L2. An error names its place in a module.
func assistSystem(name string, codecs []codec.Codec, sources []assist.Source, levels func(*machine.Compressed)) (*machine.System, error) {
	sandbox, err := assist.NewSandbox(sources...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &assistExecutor{ctx: ctx, sandbox: sandbox, codecs: codecs, known: map[assistKey]assistResult{}, paths: map[string][]int32{}}
	parts := machine.Parts{
		Codec: func(_ uint64, l *codec.Line) int {
			_, bytes, _ := x.smallest(l)
			return bytes
		},
		Compressed: &machine.Compressed{L2: true, Metadata: true, Assist: &machine.AssistWarps{
			Assist: defaultAssist, Registers: x.registers(),
			New: func(s *core.Spec) machine.AssistRoutines {
				return &assistRoutines{assistExecutor: x, spec: s, routines: map[*assist.Routine]*core.Routine{}, hints: map[int]codec.Encoding{}}
			},
		}},
	}
	if levels != nil {
		levels(parts.Compressed)
	}
	return &machine.System{Name: name, New: func() machine.Parts { return parts }, Close: sync.OnceValue(func() error {
		cancel()
		x.Lock()
		defer x.Unlock()
		return sandbox.Close()
	})}, nil
}

// assistExecutor executes routines in a sandbox, each once for the same line. It may be used by several machines at the same time.
type assistExecutor struct {
	sync.Mutex
	ctx     context.Context // ends when the system is closed
	sandbox *assist.Sandbox
	codecs  []codec.Codec
	known   map[assistKey]assistResult
	paths   map[string][]int32 // equal paths share their memory
}

// assistKey is an execution.
type assistKey struct {
	routine *assist.Routine
	line    codec.Line
	hint    codec.Encoding
}

// assistResult is the outcome of an execution.
type assistResult struct {
	bytes int
	path  []int32
}

// maxKnown is the number of executions that are kept.
const maxKnown = 1 << 17

// smallest returns the algorithm with the smallest form of a line, the bytes of the form and its encoding. Of equal forms it takes the first
// algorithm.
func (x *assistExecutor) smallest(l *codec.Line) (best codec.Codec, bytes int, e codec.Encoding) {
	for i, c := range x.codecs {
		if n, encoding := c.Size(l); i == 0 || n < bytes {
			best, bytes, e = c, n, encoding
		}
	}
	return best, bytes, e
}

// registers returns the registers of a thread for an assist warp of each priority at a time. A routine whose triggers all belong to routines before it
// never runs, and has none.
func (x *assistExecutor) registers() (n int) {
	for _, p := range []assist.Priority{assist.Low, assist.High} {
		most := 0
		for _, r := range x.sandbox.Routines() {
			if r.Priority == p && slices.Contains(x.codecs, r.Codec()) && x.sandbox.Runs(r) {
				most = max(most, r.Registers())
			}
		}
		n += most
	}
	return n
}

// run executes a routine for a line, and compares the outcome with that of package codec.
func (x *assistExecutor) run(r *assist.Routine, line *codec.Line, hint codec.Encoding) (assistResult, error) {
	x.Lock()
	defer x.Unlock()
	if err := x.ctx.Err(); err != nil {
		return assistResult{}, err
	}
	key := assistKey{r, *line, hint}
	if known, ok := x.known[key]; ok {
		return known, nil
	}
	in := *line
	if r.Event() == assist.Fill {
		r.Codec().Encode(&in, line)
	}
	list, err := x.sandbox.Run(x.ctx, r, []codec.Line{in}, []codec.Encoding{hint})
	if err == nil {
		err = r.Check(line, hint, &list[0])
	}
	if err != nil { // no *probe.Trap, which would be that of the kernel
		return assistResult{}, fmt.Errorf("%s:%d: assist routine: %v", r.File, r.Func.Pos.Line, err)
	}
	text := fmt.Sprint(r.Name(), list[0].Path)
	path, ok := x.paths[text]
	if !ok {
		path = list[0].Path
		x.paths[text] = path
	}
	if len(x.known) >= maxKnown {
		clear(x.known)
	}
	result := assistResult{list[0].Bytes, path}
	x.known[key] = result
	return result, nil
}

// assistRoutines are the routines of a machine.
type assistRoutines struct {
	*assistExecutor
	spec     *core.Spec
	routines map[*assist.Routine]*core.Routine
	hints    map[int]codec.Encoding // encoding of the previous form of BDI, by multiprocessor
}

// execution returns the execution of a routine for a line.
func (a *assistRoutines) execution(r *assist.Routine, line *codec.Line, hint codec.Encoding) (assistResult, *core.Execution, error) {
	result, err := a.run(r, line, hint)
	if err != nil {
		return result, nil, err
	}
	routine := a.routines[r]
	if routine == nil {
		routine = core.NewRoutine(a.spec, a.sandbox.Launch(r), r.Name(), r.Priority == assist.High)
		a.routines[r] = routine
	}
	return result, &core.Execution{Routine: routine, Path: result.path}, nil
}

// Fill implements machine.AssistRoutines.
func (a *assistRoutines) Fill(line *codec.Line) (*core.Execution, error) {
	c, _, e := a.smallest(line)
	if e == codec.Raw {
		return nil, nil
	}
	_, execution, err := a.execution(a.sandbox.Fill(c, e), line, 0)
	return execution, err
}

// Store implements machine.AssistRoutines. A line that has no form is given to the first algorithm, which finds that out.
func (a *assistRoutines) Store(sm int, line *codec.Line) (bytes int, _ *core.Execution, err error) {
	c, _, e := a.smallest(line)
	if e == codec.Raw {
		c = a.codecs[0]
	}
	hint := codec.Raw
	if c == codec.BDI {
		hint = a.hints[sm]
	}
	result, execution, err := a.execution(a.sandbox.Store(c), line, hint)
	if err == nil && c == codec.BDI && result.bytes < codec.LineBytes {
		var form codec.Line
		codec.EncodeBDI(&form, line, hint)
		a.hints[sm] = codec.Encoding(form[0])
	}
	return result.bytes, execution, err
}

// cabaCodecs are the algorithms with assist routines.
var cabaCodecs = []codec.Codec{codec.BDI, codec.FPC, codec.CPack}

// OwnAssists returns a system whose assist warps execute the routines of a file. The standard ones have the events for which the file has no routine.
func OwnAssists(name, file string) (*machine.System, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, input.FileError("read", file, err)
	}
	own := assist.Source{Name: file, Text: text}
	sandbox, err := assist.NewSandbox(own)
	if err != nil {
		return nil, err
	}
	defer sandbox.Close()
	var codecs []codec.Codec
	for _, r := range sandbox.Routines() {
		c := r.Codec()
		if !slices.Contains(cabaCodecs, c) {
			return nil, fmt.Errorf("%s:%d: routine %s is for %s: want bdi, fpc or c-pack, for which there are routines in both directions", file, r.Func.Pos.Line, r.Name(), c)
		}
		if !slices.Contains(codecs, c) {
			codecs = append(codecs, c)
		}
	}
	slices.Sort(codecs)
	return assistSystem(name, codecs, append([]assist.Source{own}, assist.Standard()...), nil)
}
