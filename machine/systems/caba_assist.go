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
	"gemu/machine/stream"
)

// Numbers of the controllers of assist warps, which the paper does not have: "a few dedicated sets within the L1 cache" for stores are four sets
// of four lines, and no share of idle cycles is required.
var defaultAssist = core.Assist{StoreBuffer: 16}

// assistSystem returns a system whose assist warps execute the routines of modules. Of several routines with the same trigger the first one counts. The
// form of a line is that of the algorithm which has the fewest bytes of it; without codecs no line is compressed. levels changes the levels of memory that have forms; nil: those of
// Compressed.L2. An error names its place in a module.
func assistSystem(name string, codecs []codec.Codec, sources []assist.Source, levels func(*machine.Compressed)) (*machine.System, error) {
	sandbox, err := assist.NewSandbox(sources...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &assistExecutor{ctx: ctx, sandbox: sandbox, codecs: codecs, known: map[assistKey]assistResult{}, paths: map[string][]int32{}}
	parts := machine.Parts{}
	if len(codecs) > 0 {
		parts.Codec = func(_ uint64, l *codec.Line) int {
			_, bytes, _ := x.smallest(l)
			return bytes
		}
		parts.Compressed = &machine.Compressed{L2: true, Metadata: true, Assist: &machine.AssistWarps{
			Assist: defaultAssist, Registers: x.registers(),
			New: func(s *core.Spec) machine.AssistRoutines {
				return &assistRoutines{executions: newExecutions(x, s), hints: map[int]codec.Encoding{}}
			},
		}}
	}
	if r := sandbox.Miss(); r != nil {
		parts.Misses = &machine.AssistMisses{Registers: r.Registers(), New: func(s *core.Spec) machine.MissRoutines {
			return &missRoutines{newExecutions(x, s), r}
		}}
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

// registers returns the registers of a thread for an assist warp of each priority at a time, without those for misses. A routine whose triggers all belong to routines before it
// never runs, and has none.
func (x *assistExecutor) registers() (n int) {
	for _, p := range []assist.Priority{assist.Low, assist.High} {
		most := 0
		for _, r := range x.sandbox.Routines() {
			if r.Event() != assist.Miss && r.Priority == p && slices.Contains(x.codecs, r.Codec()) && x.sandbox.Runs(r) {
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
	if err != nil {
		return assistResult{}, routineError(r, err)
	}
	if len(x.known) >= maxKnown {
		clear(x.known)
	}
	result := assistResult{list[0].Bytes, x.path(r, list[0].Path)}
	x.known[key] = result
	return result, nil
}

// routineError returns the error of a routine. It is no *probe.Trap, which would be that of the kernel.
func routineError(r *assist.Routine, err error) error {
	return fmt.Errorf("%s:%d: assist routine: %v", r.File, r.Func.Pos.Line, err)
}

// path returns a path of a routine that shares its memory with equal ones.
func (x *assistExecutor) path(r *assist.Routine, path []int32) []int32 {
	text := fmt.Sprint(r.Name(), path)
	if known, ok := x.paths[text]; ok {
		return known
	}
	x.paths[text] = path
	return path
}

// runMiss executes a routine for a miss.
func (x *assistExecutor) runMiss(r *assist.Routine, register *codec.Line, address uint64, instr int32) (*assist.Outcome, error) {
	x.Lock()
	defer x.Unlock()
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	o, err := x.sandbox.RunMiss(x.ctx, r, register, address, uint32(instr))
	if err != nil {
		return nil, routineError(r, err)
	}
	o.Path = x.path(r, o.Path)
	return o, nil
}

// executions makes the executions of a machine.
type executions struct {
	*assistExecutor
	spec     *core.Spec
	routines map[*assist.Routine]*core.Routine
}

// newExecutions returns the executions of a machine, of which there are none yet.
func newExecutions(x *assistExecutor, s *core.Spec) executions {
	return executions{x, s, map[*assist.Routine]*core.Routine{}}
}

// of returns the execution of a path of a routine that has run.
func (e *executions) of(r *assist.Routine, path []int32) *core.Execution {
	routine := e.routines[r]
	if routine == nil {
		routine = core.NewRoutine(e.spec, e.sandbox.Launch(r), r.Name(), r.Priority == assist.High)
		e.routines[r] = routine
	}
	return &core.Execution{Routine: routine, Path: path}
}

// missRoutines are the routines of a machine for misses.
type missRoutines struct {
	executions
	routine *assist.Routine
}

// Miss implements machine.MissRoutines.
func (m *missRoutines) Miss(register *stream.Line, instr int32, line uint64) (*core.Execution, []uint64, error) {
	o, err := m.runMiss(m.routine, (*codec.Line)(register), line*stream.LineBytes, instr)
	if err != nil {
		return nil, nil, err
	}
	for i := range o.Ahead {
		o.Ahead[i] /= stream.LineBytes
	}
	return m.of(m.routine, o.Path), o.Ahead, nil
}

// assistRoutines are the routines of a machine for compression.
type assistRoutines struct {
	executions
	hints map[int]codec.Encoding // encoding of the previous form of BDI, by multiprocessor
}

// execution returns the execution of a routine for a line.
func (a *assistRoutines) execution(r *assist.Routine, line *codec.Line, hint codec.Encoding) (assistResult, *core.Execution, error) {
	result, err := a.run(r, line, hint)
	if err != nil {
		return result, nil, err
	}
	return result, a.of(r, result.path), nil
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

// OwnAssists returns a system whose assist warps execute the routines of a file. If one of them compresses or decompresses, standard routines have the events of
// compression that the file leaves out.
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
		if r.Event() == assist.Miss {
			continue
		}
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
