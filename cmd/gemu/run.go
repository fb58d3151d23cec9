package main

// This file is "gemu run".

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"gemu/affinetrack"
	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
)

type runCmd struct {
	File  string   `arg:"" help:"PTX file (- for standard input), or @NAME of a workload."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	Kernel string   `short:"k" help:"Kernel to run; may be left out if the file has just one."`
	Grid   string   `short:"g" help:"CTAs of the grid: X[,Y[,Z]]." placeholder:"X[,Y[,Z]]"`
	Block  string   `short:"b" help:"Threads of a CTA: X[,Y[,Z]]." placeholder:"X[,Y[,Z]]"`
	Arg    []string `short:"a" sep:"none" help:"Kernel arguments, one per parameter: a number, @FILE (.npy .png .bin), TYPE[N], TYPE[N]=iota|VALUE|rand:SEED, &I (the buffer of argument I), bytes:HEX." placeholder:"ARG"`
	Set    []string `sep:"none" help:"Set a .global or .const variable before the launch, NAME=ARG." placeholder:"NAME=ARG"`
	Shared int      `help:"Bytes of dynamic shared memory."`

	Out    []string `sep:"none" help:"Write the buffer of argument I (or variable NAME) after the launch: I=FILE (.npy .png .bin, - prints)." placeholder:"I=FILE"`
	Expect []string `sep:"none" help:"Compare the buffer of argument I (or variable NAME) with a file or made buffer: I=ARG." placeholder:"I=ARG"`
	Rtol   float64  `help:"Relative tolerance of --expect for floats."`
	Atol   float64  `help:"Absolute tolerance of --expect for floats."`

	Warp    int    `default:"32" help:"Lanes of a warp: 1, 2, 4, 8, 16, 32 or 64."`
	Steps   int64  `help:"Instructions a warp may execute before the launch is stopped (default 134217728)."`
	Workers int    `help:"Host threads (default: all); results do not depend on it."`
	Mode    string `default:"check" enum:"check,affine,vector" help:"How instructions execute: on vectors and compactly, with every compact result compared (check, the default); compactly where possible (affine); on vectors only (vector)."`
	Policy  string `help:"Which values are compact: ${policies} (default gemu)." placeholder:"NAME"`

	Stats bool   `help:"Print what the launch counted, and (but for --mode vector) what structure its values had."`
	JSON  string `name:"json" help:"Write the launch as JSON to FILE (- for standard output)." placeholder:"FILE"`
	Size  int    `help:"Size of a workload's input."`
}

// binding is a buffer behind an argument or a variable.
type binding struct {
	buf *interp.Buffer
	arr *array // its type and shape; data are the initial ones
}

func (b *binding) now() *array { return &array{b.arr.typ, b.arr.shape, b.buf.Bytes()} }

func (c *runCmd) Run(a *app) error {
	if c.Policy != "" && affinetrack.PolicyByName(c.Policy) == nil {
		return fmt.Errorf("no policy %s: there are %s", c.Policy, policyNames())
	}
	if c.Steps < 0 || c.Shared < 0 || c.Workers < 0 || c.Size < 0 {
		return errors.New("--steps, --shared, --workers and --size want numbers from 0 on")
	}
	if name, ok := strings.CutPrefix(c.File, "@"); ok {
		return c.runWorkload(a, name)
	}
	grid, err := parseDim("-g", c.Grid)
	if err != nil {
		return err
	}
	block, err := parseDim("-b", c.Block)
	if err != nil {
		return err
	}
	src, err := a.readSource(c.File)
	if err != nil {
		return err
	}
	dev := interp.NewDevice(interp.Config{Stdout: a.stdout, Workers: c.Workers})
	mod, err := dev.Load(c.File, src)
	if err != nil {
		return err
	}
	kernel, err := mod.Kernel(c.Kernel)
	if err != nil {
		return err
	}
	args := append(append([]string{}, c.Arg...), c.Extra...)
	if len(args) != len(kernel.Params) {
		return fmt.Errorf("kernel %s has %s, %d given%s", kernel.Name, counted(len(kernel.Params), "parameter"), len(args), signature(kernel))
	}
	bindings := map[string]*binding{}
	values := make([]any, len(args))
	for i, text := range args {
		v, b, err := argument(mod, kernel.Params[i], i, text, bindings)
		if err != nil {
			return fmt.Errorf("argument %d (%s %s) %q: %w", i, kernel.Params[i].Type, kernel.Params[i].Name, text, err)
		}
		values[i] = v
		if b != nil {
			bindings[strconv.Itoa(i)] = b
		}
	}
	for _, s := range c.Set {
		if err := setVariable(mod, s, bindings); err != nil {
			return fmt.Errorf("--set %s: %w", s, err)
		}
	}
	// Outputs and expectations are looked up before the launch, so that a typing
	// error does not cost its results.
	outs, err := c.targets(mod, "--out", c.Out, bindings)
	if err != nil {
		return err
	}
	expects, err := c.targets(mod, "--expect", c.Expect, bindings)
	if err != nil {
		return err
	}
	wants := make([]*array, len(expects))
	for i, e := range expects {
		if wants[i], err = arrayOf(e.value); err != nil {
			return fmt.Errorf("--expect %s=%s: %w", e.name, e.value, err)
		}
		if got := e.now(); got.len() != wants[i].len() {
			return fmt.Errorf("--expect %s=%s: %d elements, the buffer has %d", e.name, e.value, wants[i].len(), got.len())
		}
	}
	for _, o := range outs {
		if err := checkOutput(o.value); err != nil {
			return fmt.Errorf("--out %s=%s: %w", o.name, o.value, err)
		}
	}
	l := &interp.Launch{Kernel: kernel.Name, Grid: grid, Block: block, Args: values, Shared: c.Shared}
	c.prepare(a, l)
	result, runErr := mod.Run(a.ctx, l)
	if result == nil {
		return runErr
	}
	c.statistics(a, []*interp.Result{result})
	report := newReport(c, result, runErr)
	if runErr == nil {
		for _, o := range outs {
			if err := o.write(a, bindings); err != nil {
				return &failure{fmt.Errorf("--out %s=%s: %w", o.name, o.value, err), exitBad}
			}
		}
		runErr = c.check(expects, wants)
		if runErr != nil {
			report.Exit = "expectation failed"
		}
	}
	if err := c.writeJSON(a, report); err != nil {
		return err
	}
	if runErr == nil && len(expects) > 0 {
		fmt.Fprintf(a.stderr, "gemu: %d expectation%s met\n", len(expects), plural(len(expects)))
	}
	return runErr
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// runWorkload runs a workload of the library and checks it.
func (c *runCmd) runWorkload(a *app, name string) error {
	w := kernels.Lookup(name)
	if w == nil {
		return fmt.Errorf("no workload @%s; \"gemu kernels\" lists them%s", name, suggestWorkload(name))
	}
	if c.Grid != "" || c.Block != "" || c.Kernel != "" || len(c.Arg)+len(c.Extra)+len(c.Out)+len(c.Expect)+len(c.Set) > 0 || c.Shared != 0 {
		return fmt.Errorf("a workload chooses its own launches: of the flags, --size, --warp, --steps, --workers, --mode, --policy, --stats and --json apply to @%s", name)
	}
	dev := interp.NewDevice(interp.Config{Stdout: a.stdout, Workers: c.Workers})
	s, err := kernels.Start(a.ctx, w, dev, c.Size)
	if err != nil {
		return err
	}
	s.Prepare = func(l *interp.Launch) { c.prepare(a, l) }
	runErr := w.Run(s)
	var bad *kernels.Mismatch
	if errors.As(runErr, &bad) {
		runErr = &failure{fmt.Errorf("@%s: %w", name, bad), exitFailed}
	}
	if len(s.Results) == 0 && runErr != nil {
		return runErr
	}
	c.statistics(a, s.Results)
	report := newReport(c, total(s.Results), runErr)
	report.Launches = len(s.Results)
	if bad != nil {
		report.Exit = "expectation failed"
	}
	if err := c.writeJSON(a, report); err != nil {
		return err
	}
	if runErr != nil {
		return runErr
	}
	if c.JSON != "-" {
		fmt.Fprintf(a.stdout, "@%s: %s\n", name, s.Summary)
		fmt.Fprintf(a.stdout, "the result is that of the host reference\n")
	}
	return nil
}

func suggestWorkload(name string) string {
	for _, w := range kernels.All() {
		if strings.HasPrefix(w.Name, name) || strings.HasPrefix(name, w.Name) {
			return fmt.Sprintf(" (did you mean @%s?)", w.Name)
		}
	}
	return ""
}

// total adds up the launches of a workload.
func total(results []*interp.Result) *interp.Result {
	if len(results) == 1 {
		return results[0]
	}
	t := *results[len(results)-1]
	t.Duration = 0
	t.WarpInstructions, t.ThreadInstructions, t.LaneSlots, t.Branches, t.DivergentBranches = 0, 0, 0, 0, 0
	t.Structure = nil
	for _, r := range results {
		if r.Structure != nil {
			if t.Structure == nil {
				t.Structure = &interp.Structure{Policy: r.Structure.Policy}
			}
			t.Structure.Add(r.Structure)
		}
		t.Duration += r.Duration
		t.WarpInstructions += r.WarpInstructions
		t.ThreadInstructions += r.ThreadInstructions
		t.LaneSlots += r.LaneSlots
		t.Branches += r.Branches
		t.DivergentBranches += r.DivergentBranches
	}
	return &t
}

// prepare applies the flags to a launch, and shows its progress on a terminal.
func (c *runCmd) prepare(a *app, l *interp.Launch) {
	l.WarpSize, l.MaxSteps = c.Warp, c.Steps
	l.Mode, l.Policy = interp.Modes[c.Mode], affinetrack.PolicyByName(c.Policy)
	l.Stats = c.Stats && l.Mode != interp.Vector
	if c.Warp == 0 {
		l.WarpSize = -1 // refused with a message, not taken as the default
	}
	if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		l.Progress = func(poll func() (int64, int64)) func() { return showProgress(f, l.Kernel, poll) }
	}
}

// showProgress draws a bar once a launch has taken a second, until stopped.
func showProgress(w io.Writer, kernel string, poll func() (int64, int64)) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-quit:
			return
		case <-time.After(time.Second):
		}
		_, all := poll()
		bar := progressbar.NewOptions64(all, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(kernel),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				bar.Clear()
				return
			case <-tick.C:
				done, _ := poll()
				bar.Set64(done)
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// statistics prints --stats.
func (c *runCmd) statistics(a *app, results []*interp.Result) {
	if !c.Stats {
		return
	}
	r := total(results)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.stdout, "%-22s "+format+"\n", append([]any{name}, args...)...)
	}
	row("launches", "%d", len(results))
	row("thread instructions", "%d", r.ThreadInstructions)
	row("warp instructions", "%d", r.WarpInstructions)
	row("mean active lanes", "%.2f of %d", r.ActiveLanesMean(), r.WarpSize)
	row("branches", "%d", r.Branches)
	row("divergent branches", "%d", r.DivergentBranches)
	row("seconds", "%.6f", r.Duration.Seconds())
	if r.Structure != nil {
		printSummary(a.stdout, r.Structure)
	}
}

// report is what --json writes.
type report struct {
	File     string    `json:"file"`
	Kernel   string    `json:"kernel"`
	Grid     [3]int    `json:"grid"`
	Block    [3]int    `json:"block"`
	Warp     int       `json:"warp"`
	Mode     string    `json:"mode"`
	Launches int       `json:"launches"`
	Exit     string    `json:"exit"` // "ok", "trap", "expectation failed" or "stopped"
	Trap     *trapJSON `json:"trap,omitempty"`
	Seconds  float64   `json:"seconds"` // of the launch alone

	ThreadInstructions int64   `json:"thread_instructions"`
	WarpInstructions   int64   `json:"warp_instructions"`
	ActiveLanesMean    float64 `json:"active_lanes_mean"`
	Branches           int64   `json:"branches"`
	DivergentBranches  int64   `json:"divergent_branches"`

	Policy    string          `json:"policy,omitempty"`
	Structure *interp.Summary `json:"structure,omitempty"`
}

type trapJSON struct {
	Message string `json:"message"`
	Kind    string `json:"kind"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	CTA     [3]int `json:"cta"`
	Warp    int    `json:"warp"`
	Lanes   string `json:"lanes"`
	Address string `json:"address,omitempty"`
	Source  string `json:"source,omitempty"`
	Nearest string `json:"nearest_allocation,omitempty"`
}

func dims(d interp.Dim3) [3]int { return [3]int{d.X, d.Y, d.Z} }

func newReport(c *runCmd, r *interp.Result, err error) *report {
	rep := &report{
		File: c.File, Kernel: r.Kernel, Grid: dims(r.Grid), Block: dims(r.Block), Warp: r.WarpSize, Mode: c.Mode, Launches: 1, Exit: "ok", Seconds: r.Duration.Seconds(),
		ThreadInstructions: r.ThreadInstructions, WarpInstructions: r.WarpInstructions, ActiveLanesMean: r.ActiveLanesMean(), Branches: r.Branches, DivergentBranches: r.DivergentBranches,
	}
	if r.Structure != nil {
		s := r.Structure.Summary()
		rep.Policy, rep.Structure = r.Structure.Policy.Name, &s
	}
	var t *interp.Trap
	switch {
	case errors.As(err, &t):
		rep.Exit = "trap"
		rep.Trap = &trapJSON{
			Message: t.Msg, Kind: t.Kind.Error(), File: t.File, Line: int(t.Pos.Line), Column: int(t.Pos.Col), CTA: dims(t.CTA), Warp: t.Warp,
			Lanes: fmt.Sprintf("%#x", t.Lanes), Source: t.Source, Nearest: t.Near,
		}
		if t.Bytes > 0 {
			rep.Trap.Address = fmt.Sprintf("%#x", t.Addr)
		}
	case err != nil:
		rep.Exit = "stopped"
	}
	return rep
}

func (c *runCmd) writeJSON(a *app, r *report) error {
	if c.JSON == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeOutput(a, c.JSON, append(b, '\n'))
}

// writeOutput writes a file; "-" is standard output.
func writeOutput(a *app, name string, b []byte) error {
	if name == "-" {
		_, err := a.stdout.Write(b)
		return err
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		if pe, ok := err.(*os.PathError); ok {
			err = pe.Err
		}
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// parseDim reads X[,Y[,Z]].
func parseDim(flag, s string) (interp.Dim3, error) {
	if s == "" {
		return interp.Dim3{}, fmt.Errorf("%s X[,Y[,Z]] is missing", flag)
	}
	var n []int
	for _, p := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || len(n) == 3 {
			return interp.Dim3{}, fmt.Errorf("%s %s: want X[,Y[,Z]]", flag, s)
		}
		n = append(n, v)
	}
	return interp.Dim(n...), nil
}

// signature lists a kernel's parameters, for messages.
func signature(k *ptx.Func) string {
	if len(k.Params) == 0 {
		return ""
	}
	var p []string
	for i, v := range k.Params {
		s := fmt.Sprintf("%d: %s %s", i, v.Type, v.Name)
		if len(v.Dims) > 0 {
			s += fmt.Sprintf("[%d]", v.Size()/v.ElemSize())
		}
		p = append(p, s)
	}
	return "\n   " + strings.Join(p, "\n   ")
}

// argument makes the value of one argument, and the buffer behind it if it has
// one.
func argument(m *interp.Module, p *ptx.Var, i int, text string, bindings map[string]*binding) (any, *binding, error) {
	if ref, ok := strings.CutPrefix(text, "&"); ok {
		n, err := strconv.Atoi(ref)
		if err != nil || n < 0 || n >= i {
			return nil, nil, fmt.Errorf("& wants the number of an argument before this one")
		}
		b := bindings[ref]
		if b == nil {
			return nil, nil, fmt.Errorf("argument %d is no buffer", n)
		}
		return b.buf, b, nil
	}
	if digits, ok := strings.CutPrefix(text, "bytes:"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, nil, err
		}
		if len(b) != p.Size() {
			return nil, nil, fmt.Errorf("%d bytes for a parameter of %d", len(b), p.Size())
		}
		return b, nil, nil
	}
	if strings.HasPrefix(text, "@") || strings.Contains(text, "[") {
		if p.Type.Bits() < m.AddressSize || p.Type.IsFloat() || len(p.Dims) > 0 {
			return nil, nil, fmt.Errorf("the address of a buffer does not fit in this parameter")
		}
		arr, err := arrayOf(text)
		if err != nil {
			return nil, nil, err
		}
		buf, err := m.Device().AllocNamed(fmt.Sprintf("of argument %d", i), len(arr.data))
		if err != nil {
			return nil, nil, err
		}
		copy(buf.Bytes(), arr.data)
		return buf, &binding{buf, arr}, nil
	}
	if len(p.Dims) > 0 || p.Vec > 1 {
		return nil, nil, fmt.Errorf("an aggregate of %d bytes is written bytes:HEX", p.Size())
	}
	bits, err := parseNumber(text, numberType(p.Type, text))
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, p.Size())
	for j := range b {
		b[j] = byte(bits >> (8 * j))
	}
	return b, nil, nil
}

// numberType is the type a number is read as: .bN parameters take integers, and
// floats where one is written.
func numberType(t ptx.Type, text string) ptx.Type {
	byBits := map[int][2]ptx.Type{8: {ptx.U8, ptx.U8}, 16: {ptx.U16, ptx.F16}, 32: {ptx.U32, ptx.F32}, 64: {ptx.U64, ptx.F64}}
	if t.Kind() != ptx.Bits {
		return t
	}
	pair := byBits[t.Bits()]
	if _, err := strconv.ParseInt(text, 0, 64); err == nil {
		return pair[0]
	}
	if _, err := strconv.ParseUint(text, 0, 64); err == nil {
		return pair[0]
	}
	return pair[1]
}

// arrayOf makes the array that an argument describes.
func arrayOf(text string) (*array, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return readArray(name)
	}
	if strings.Contains(text, "[") {
		return makeArray(text)
	}
	return readArray(text)
}

// setVariable sets a module variable from NAME=ARG.
func setVariable(m *interp.Module, text string, bindings map[string]*binding) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=ARG")
	}
	b, err := variable(m, name)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(value, "@") && !strings.Contains(value, "[") {
		bits, err := parseNumber(value, numberType(b.arr.typ, value))
		if err != nil {
			return err
		}
		b.arr.data = make([]byte, b.buf.Size())
		b.arr.setBits(0, bits)
		copy(b.buf.Bytes(), b.arr.data)
		return nil
	}
	arr, err := arrayOf(value)
	if err != nil {
		return err
	}
	if len(arr.data) > b.buf.Size() {
		return fmt.Errorf("%d bytes for a variable of %d", len(arr.data), b.buf.Size())
	}
	copy(b.buf.Bytes(), arr.data)
	bindings[name] = &binding{b.buf, &array{arr.typ, []int{b.buf.Size() / arr.typ.Size()}, nil}}
	return nil
}

// variable finds a module variable, typed as declared.
func variable(m *interp.Module, name string) (*binding, error) {
	buf := m.Var(name)
	if buf == nil {
		return nil, fmt.Errorf("%s has no .global or .const variable %s", m.Name, name)
	}
	v := m.Lookup(name).(*ptx.Var)
	t := v.Type
	if t.Kind() == ptx.Bits || t.Kind() == ptx.Opaque {
		t = map[int]ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[t.Size()]
		if t == ptx.NoType {
			t = ptx.U64
		}
	}
	return &binding{buf, &array{typ: t, shape: []int{buf.Size() / t.Size()}}}, nil
}

// target is an --out or --expect.
type target struct {
	*binding
	name, value string
}

// targets resolves I=VALUE flags.
func (c *runCmd) targets(m *interp.Module, flag string, list []string, bindings map[string]*binding) ([]target, error) {
	var out []target
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || value == "" {
			return nil, fmt.Errorf("%s %s: want I=FILE", flag, text)
		}
		b := bindings[name]
		if b == nil {
			if i, err := strconv.Atoi(name); err == nil {
				return nil, fmt.Errorf("%s %s: argument %d is no buffer", flag, text, i)
			}
			var err error
			if b, err = variable(m, name); err != nil {
				return nil, fmt.Errorf("%s %s: %w", flag, text, err)
			}
		}
		out = append(out, target{b, name, value})
	}
	return out, nil
}

// checkOutput finds out early whether a file can be written.
func checkOutput(name string) error {
	if name == "-" {
		return nil
	}
	name, _, _ = cutSize(name)
	if st, err := os.Stat(filepath.Dir(name)); err != nil || !st.IsDir() {
		return fmt.Errorf("no directory %s", filepath.Dir(name))
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fmt.Errorf("%s is a directory", name)
	}
	return nil
}

// cutSize splits FILE.png:WIDTHxHEIGHT.
func cutSize(s string) (name string, w, h int) {
	i := strings.LastIndexByte(s, ':')
	if i > 0 {
		if n, err := fmt.Sscanf(s[i+1:], "%dx%d", &w, &h); n == 2 && err == nil {
			return s[:i], w, h
		}
	}
	return s, 0, 0
}

// write writes a buffer after the launch.
func (t *target) write(a *app, bindings map[string]*binding) error {
	arr := t.now()
	if t.value == "-" {
		arr.print(a.stdout)
		return nil
	}
	name, w, h := cutSize(t.value)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy":
		return writeOutput(a, name, writeNpy(arr))
	case ".png":
		arr.shape = pictureShape(arr, w, h, bindings)
		b, err := writePNG(arr)
		if err != nil {
			return err
		}
		return writeOutput(a, name, b)
	}
	return writeOutput(a, name, arr.data)
}

// pictureShape is the shape of a buffer as a picture: as given, its own, or that
// of an input picture with as many bytes.
func pictureShape(arr *array, w, h int, bindings map[string]*binding) []int {
	n := len(arr.data)
	switch {
	case w > 0 && h > 0 && n == w*h:
		return []int{h, w}
	case w > 0 && h > 0 && n == 4*w*h:
		return []int{h, w, 4}
	case w > 0:
		return nil
	case len(arr.shape) > 1:
		return arr.shape
	}
	for i := range len(bindings) {
		if b := bindings[strconv.Itoa(i)]; b != nil && len(b.arr.shape) > 1 && len(b.arr.data) == n {
			return b.arr.shape
		}
	}
	return nil
}

// check compares buffers with their expectations.
func (c *runCmd) check(expects []target, wants []*array) error {
	var msg strings.Builder
	for i, e := range expects {
		got := e.now()
		first, n := compareArrays(got, wants[i], c.Rtol, c.Atol)
		if n == 0 {
			continue
		}
		if msg.Len() > 0 {
			msg.WriteString("\n")
		}
		fmt.Fprintf(&msg, "--expect %s=%s: %d of %d elements differ", e.name, e.value, n, got.len())
		for _, d := range first {
			fmt.Fprintf(&msg, "\n   [%d] got %s, want %s", d.index, d.got, d.want)
		}
		if n > len(first) {
			fmt.Fprintf(&msg, "\n   and %d more", n-len(first))
		}
	}
	if msg.Len() == 0 {
		return nil
	}
	return &failure{errors.New(msg.String()), exitFailed}
}
