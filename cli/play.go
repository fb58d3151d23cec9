package cli

// This file is "gemu play": the page that shows execution, served to a browser or written to files.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gemu/argument"
	"gemu/docs/learn"
	"gemu/internal/cleanup"
	"gemu/internal/compile"
	"gemu/internal/document"
	"gemu/internal/input"
	"gemu/internal/notation"
	"gemu/interp"
	"gemu/play"
	"gemu/play/site"
	"gemu/ptx"
	"gemu/record"
	"gemu/trace"
)

type playCmd struct {
	File  string   `arg:"" optional:"" predictor:"source" help:"PTX file (- for standard input), CUDA C++ (.cu; needs clang or nvcc), @NAME of a workload, or a recording (.gemu, of gemu record). Without it, the first example opens."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a; after a recording, further recordings."`

	programFlags    `group:"program"`
	playDeviceFlags `group:"device"`
	playPageFlags   `group:"page"`
}

// playDeviceFlags are the flags of deviceFlags that a page can set, too.
type playDeviceFlags struct {
	Warp   int      `default:"32" help:"Threads of a warp: 1, 2, 4, 8, 16, 32 or 64." placeholder:"N"`
	SM     int      `name:"sm" help:"Compute capability of the device: 90 for 9.0." unset:"86" placeholder:"NN"`
	Seed   uint64   `help:"Number of the schedule: each N runs the warps in another order, and the same N always in the same order." unset:"0" placeholder:"N"`
	Steps  int64    `help:"Step limit: a warp stops after N instructions." unset:"16777216" placeholder:"N"`
	Source []string `name:"source" sep:"none" type:"path" help:"Also show source files below the directory DIR, if the PTX names them. Files below the directory of the PTX are always shown. May be given several times." placeholder:"DIR"`

	Policies []string `help:"Reconvergence policies to compare, a strip for each: some of those of gemu run --reconverge, such as stack,its:8." predictor:"reconverger" unset:"stack" placeholder:"POLICY,…"`
	Events   uint64   `help:"Stop a run after N events." unset:"200000" placeholder:"N"`
}

// playPageFlags choose the form of the page.
type playPageFlags struct {
	Example   string `help:"Open the example with this name of docs/learn, such as lock." placeholder:"NAME"`
	NoBrowser bool   `help:"Print the address of the page, and open no browser."`
	Port      int    `help:"Port on the loopback address." unset:"a free one" placeholder:"N"`
	Build     string `help:"Write the page to the directory DIR, with the engine in WebAssembly, for any web server; then end." placeholder:"DIR"`
	Single    string `help:"Write the page to FILE, which works without a server and without a network; then end. It contains the engine, unless it shows only recordings." placeholder:"FILE"`
}

func (c *playCmd) Run(a *app) error {
	if c.Build != "" && c.Single != "" {
		return errors.New("--build and --single each write the page: give one of them")
	}
	start, err := c.start(a)
	if err != nil {
		return err
	}
	if c.Build == "" && c.Single == "" {
		return c.serve(a, start)
	}
	if err := c.checkWritten(start); err != nil {
		return err
	}
	return c.write(a, start)
}

// checkWritten returns an error if the command line wants something that a page in files cannot do, or if its file cannot be written.
// Recordings are made by the command, so their arguments and limits are free.
func (c *playCmd) checkWritten(start *play.Start) error {
	flag, limits := "--build", play.DefaultLimits
	if c.Single != "" {
		flag = "--single"
		if err := checkOutput(c.Single); err != nil {
			return fmt.Errorf("--single %s: %w", c.Single, err)
		}
	}
	switch files := c.fileArguments(); {
	case len(start.Recordings) > 0:
		return nil
	case len(files) > 0:
		return fmt.Errorf("%s: an argument reads the file %s, which a page in files cannot do: use an array such as f32[64]=iota, or record the run (gemu record) and give the recording", flag, files[0])
	case c.Events > limits.Events:
		return fmt.Errorf("%s: --events %d is above the limit of the engine for browsers, %d: record the run (gemu record) and give the recording", flag, c.Events, limits.Events)
	case c.Steps > limits.Steps:
		return fmt.Errorf("%s: --steps %d is above the limit of the engine for browsers, %d: record the run (gemu record) and give the recording", flag, c.Steps, limits.Steps)
	}
	return nil
}

// start returns the start of the page: its program, lesson or recordings.
func (c *playCmd) start(a *app) (*play.Start, error) {
	start := &play.Start{Engine: "http", Policies: c.Policies, Example: c.Example}
	for i, name := range c.Policies {
		if _, err := interp.ParseReconverger(name); err != nil { // policies of extensions are not in the page's engine
			return nil, fmt.Errorf("--policies: %w", err)
		}
		if slices.Contains(c.Policies[:i], name) {
			return nil, fmt.Errorf("--policies: %s is given twice", name)
		}
	}
	switch {
	case c.Example != "" && c.File != "":
		return nil, fmt.Errorf("--example %s and %s: give one of them", c.Example, c.File)
	case c.Example != "" && learn.Find(c.Example) == nil:
		return nil, unknownExample(c.Example)
	case c.File == "" && c.Example == "":
		start.Example = learn.Examples[0].ID
		return start, nil
	case c.Example != "":
		return start, nil
	}
	recording := false
	if c.File != "-" {
		var err error
		if recording, err = isRecording(c.File); err != nil {
			return nil, err
		}
	}
	var err error
	switch {
	case recording:
		err = c.addRecordings(start)
	case strings.HasPrefix(c.File, "@"):
		err = c.addWorkload(a, start)
	case filepath.Ext(c.File) == ".gemu":
		err = fmt.Errorf("%s is not a recording: it does not begin as recordings do", c.File)
	default:
		if start.Request, err = c.request(a); len(start.Policies) == 0 {
			start.Policies = []string{"stack"}
		}
	}
	return start, err
}

// unknownExample returns the error of --example.
func unknownExample(name string) error {
	var names []string
	for _, e := range learn.Examples {
		names = append(names, e.ID)
	}
	guess := ""
	if near := notation.Nearest(name, names); near != "" {
		guess = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return fmt.Errorf("--example %s: there is no such example%s. The examples are %s", name, guess, strings.Join(names, ", "))
}

// maxPageRecordings is the largest size of all recordings in a page: a browser decodes them to many times their size.
const maxPageRecordings = 64 << 20

// addRecordings adds the recordings of the command line.
func (c *playCmd) addRecordings(start *play.Start) error {
	total := int64(0)
	for _, name := range append([]string{c.File}, c.Extra...) {
		b, err := input.ReadRegular(name, maxPageRecordings)
		if err != nil {
			return input.FileError("read", name, err)
		}
		if _, err := record.Open(name, bytes.NewReader(b), int64(len(b))); err != nil {
			return err
		}
		if total += int64(len(b)); total > maxPageRecordings {
			return fmt.Errorf("the recordings have more than %d MiB together, too much for a page: record fewer events (gemu record --max-events, --cta, --warps)", maxPageRecordings>>20)
		}
		start.Recordings = append(start.Recordings, play.Recording{Name: filepath.Base(name), Base64: b})
	}
	return nil
}

// addWorkload records a workload, which makes its own launches, and adds the recording.
func (c *playCmd) addWorkload(a *app, start *play.Start) error {
	policies := c.Policies
	if len(policies) == 0 {
		policies = []string{"stack"}
	}
	start.Policies = nil // the page cannot run the workload again
	for _, name := range policies {
		policy, err := a.parseReconverger(name)
		if err != nil {
			return err
		}
		b, err := c.recordRun(a, policy)
		if err != nil {
			return err
		}
		start.Recordings = append(start.Recordings, play.Recording{Name: c.File + " " + name, Base64: b})
	}
	return nil
}

// recordRun returns the recording of a run under a policy.
func (c *playCmd) recordRun(a *app, policy *interp.Reconverger) ([]byte, error) {
	run := launchFlags{sourceArg: sourceArg{c.File}, Extra: c.Extra, kernelFlags: kernelFlags{c.programFlags, deviceFlags{Warp: c.Warp, SM: c.SM, Seed: c.Seed, Steps: c.Steps, Source: c.Source}}}
	return recordedRun(a, &run, policy, c.events())
}

// recordedRun runs a kernel or a workload under a policy, and returns its recording for a page. A trap of the kernel is in the
// recording, and no error.
func recordedRun(a *app, run *launchFlags, policy *interp.Reconverger, events uint64) ([]byte, error) {
	r, err := newPageRecorder(run, trace.Filter{}, events)
	if err != nil {
		return nil, err
	}
	j, err := run.open(a, dataOf(a.stderr), r)
	if err != nil {
		return nil, err
	}
	ran := j.run(a, func(l *interp.Launch) { l.Mode, l.Reconverge = interp.Vector, policy })
	recording, err := r.close(a, policy.Name())
	if err != nil || len(recording.Base64) == 0 || a.ctx.Err() != nil {
		return nil, cmp.Or(err, ran)
	}
	if ran != nil {
		a.report(ran)
	}
	return recording.Base64, nil
}

// pageRecorder is a probe that records a run for a page.
type pageRecorder struct {
	*record.Recorder
	file *bytes.Buffer
	name string // of the program
}

// newPageRecorder returns a recorder of a run that the flags describe, with the events that a filter selects.
func newPageRecorder(run *launchFlags, filter trace.Filter, events uint64) (*pageRecorder, error) {
	file := new(bytes.Buffer)
	r, err := record.NewRecorder(file, record.Options{
		Contents: record.Contents{Results: true, Accesses: true, Memory: true, Stack: true, Source: true}, Filter: filter,
		MaxEvents: int64(events), MaxBytes: play.DefaultLimits.Bytes, ReadSource: input.NewSources(run.File, run.Source...).Text,
	})
	return &pageRecorder{r, file, run.File}, err
}

// close ends the recording and returns it, with the name of its policy; without bytes if no event was recorded. It reports a limit that
// was reached.
func (r *pageRecorder) close(a *app, policy string) (play.Recording, error) {
	if err := r.Close(); err != nil {
		return play.Recording{}, err
	}
	if r.Events() == 0 {
		return play.Recording{}, nil
	}
	if full := r.Full(); full != "" {
		fmt.Fprintf(a.stderr, "%s, policy %s: the page shows the run up to its limit of %s\n", r.name, policy, full)
	}
	return play.Recording{Name: filepath.Base(r.name) + " " + policy, Base64: r.file.Bytes()}, nil
}

// writePage writes recordings as a page in one file; "-" is standard output.
func writePage(a *app, file string, recordings []play.Recording) error {
	if len(recordings) == 0 {
		return errors.New("--html: there is nothing to show: no event was recorded")
	}
	b, err := site.SingleFile(nil, &play.Start{Engine: "none", Recordings: recordings})
	if err != nil {
		return err
	}
	return writeOutput(a, file, b)
}

// events returns the limit of events.
func (c *playCmd) events() uint64 {
	if c.Events == 0 {
		return play.DefaultEvents
	}
	return c.Events
}

// maxSeed is the largest seed that a page can send: JavaScript has the integers below 2^53.
const maxSeed = 1<<53 - 1

// request returns the request of the command line.
func (c *playCmd) request(a *app) (*play.Request, error) {
	if err := c.compileFlags.check(c.File); err != nil {
		return nil, err
	}
	if err := checkMinimums(minimum{"--steps", c.Steps, 0}, minimum{"--shared", int64(c.Shared), 0}); err != nil {
		return nil, err
	}
	if c.Seed > maxSeed {
		return nil, fmt.Errorf("--seed %d: the page takes seeds up to %d", c.Seed, uint64(maxSeed))
	}
	if err := input.CheckDirs(c.Source); err != nil {
		return nil, fmt.Errorf("--source: %w", err)
	}
	q := &play.Request{
		Name: filepath.Base(c.File), Kernel: c.Kernel, Arguments: append(append([]string{}, c.Arg...), c.Extra...), Set: c.Set, Shared: c.Shared,
		Cooperative: c.Coop, Seed: c.Seed, Warp: c.Warp, MaxEvents: c.Events, MaxSteps: c.Steps, Memory: true, Policy: "stack",
	}
	if len(c.Policies) > 0 {
		q.Policy = c.Policies[0]
	}
	if c.SM != 0 {
		q.SM = strconv.Itoa(c.SM)
	}
	for _, d := range []struct {
		flag, meaning, text string
		to                  *[3]int
	}{{"-g", "the size of the grid, in CTAs", c.Grid, &q.Grid}, {"-b", "the size of each CTA, in threads", c.Block, &q.Block}, {"--cluster", "the size of each cluster, in CTAs", c.Cluster, &q.Cluster}} {
		if d.text == "" { // the page has a form for it
			continue
		}
		dim, err := parseDim(d.flag, d.meaning, d.text)
		if err != nil {
			return nil, err
		}
		*d.to = document.Dims(dim)
	}
	var err error
	if filepath.Ext(c.File) == ".cu" {
		var b []byte
		b, err = readFile(a.ctx, c.File, input.MaxSource)
		q.Source = string(b)
	} else {
		q.Source, err = a.readSource(c.File, c.compileFlags)
	}
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(q.Source) || strings.Contains(q.Source, "\x00") {
		return nil, fmt.Errorf("%s is neither a text nor a recording: want PTX, CUDA C++ (.cu) or a recording of gemu record", c.File)
	}
	if filepath.Ext(c.File) != ".cu" {
		q.Files = c.sourceFiles(a, q)
	}
	return q, nil
}

// sourceFiles returns the texts of the source files that the PTX of a request names. It reports PTX with an error or without a kernel;
// the page shows the error, too, and the PTX can be mended there.
func (c *playCmd) sourceFiles(a *app, q *play.Request) map[string]string {
	m, err := ptx.ParseString(q.Name, q.Source)
	if err != nil {
		a.report(err)
		return nil
	}
	if len(m.Kernels()) == 0 {
		fmt.Fprintf(a.stderr, "%s has no kernel: write one (.entry) in the editor of the page\n", c.File)
	}
	sources, files := input.NewSources(c.File, c.Source...), map[string]string{}
	for _, f := range m.Files {
		if text, ok := sources.Text(f.Name); ok {
			files[f.Name] = text
		}
	}
	return files
}

// fileArguments returns the names of the files that arguments of the command line read.
func (c *playCmd) fileArguments() (names []string) {
	for _, text := range slices.Concat(c.Arg, c.Extra, c.Set) {
		if _, value, set := strings.Cut(text, "="); set && slices.Contains(c.Set, text) {
			text = value
		}
		if v, err := argument.Parse(text); err == nil {
			if f := play.FileOf(v); f != nil {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// engine returns the engine of the server.
func (c *playCmd) engine(a *app) *play.Engine {
	files := c.fileArguments()
	limits := play.Limits{}
	if c.Steps > 0 {
		limits.Steps = c.Steps
	}
	if c.Events > 0 {
		limits.Events = c.Events
	}
	return &play.Engine{Limits: limits, OpenFile: func(name string) bool { return slices.Contains(files, name) }, Compile: c.compiler(a)}
}

// compiler returns a function that compiles CUDA C++. The text is written to a file of the same name in a directory of its own;
// headers beside the file of the command line are found.
func (c *playCmd) compiler(a *app) func(ctx context.Context, name, source string) (string, error) {
	return func(ctx context.Context, name, source string) (string, error) {
		dir, remove, err := cleanup.Dir("", "gemu-play-*")
		if err != nil {
			return "", err
		}
		defer remove()
		base := filepath.Base(name)
		file := filepath.Join(dir, base)
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			return "", err
		}
		var include []string
		if filepath.Ext(c.File) == ".cu" {
			include = []string{"-I", filepath.Dir(c.File)}
		}
		text, messages, err := compile.File(ctx, file, c.Branches, include...)
		if err != nil {
			lines := strings.ReplaceAll(messages+err.Error(), file, base)
			return "", &play.CompileError{Name: base, Text: lines}
		}
		return text, nil
	}
}

// exitPeriod is the time that runs have to stop when the server ends.
const exitPeriod = 500 * time.Millisecond

// serve serves the page until the context ends.
func (c *playCmd) serve(a *app, start *play.Start) error {
	if c.Port < 0 || c.Port > 65535 {
		return fmt.Errorf("--port %d: want a number from 1 to 65535", c.Port)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return fmt.Errorf("--port %d: %w", c.Port, err)
	}
	page, err := site.NewServer(c.engine(a), listener.Addr(), start, runtime.GOMAXPROCS(0))
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return a.ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(a.stdout, "%s\n", page.URL())
	note := "The page runs until you press Ctrl-C."
	if !c.NoBrowser {
		if err := openBrowser(page.URL()); err != nil {
			note = fmt.Sprintf("No browser was opened (%v): open this address in one. %s", err, note)
		}
	}
	fmt.Fprintln(a.stderr, note)
	select {
	case err := <-ended:
		return err
	case <-a.ctx.Done():
	}
	ctx, stop := context.WithTimeout(context.Background(), exitPeriod)
	defer stop()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
	return nil
}

// write writes the page with its engine.
func (c *playCmd) write(a *app, start *play.Start) error {
	start.Engine = "wasm"
	if q := start.Request; q != nil && filepath.Ext(q.Name) == ".cu" { // browsers have no compiler
		text, err := c.compiler(a)(a.ctx, q.Name, q.Source)
		if err != nil {
			return err
		}
		q.Files = map[string]string{q.Name: q.Source}
		q.Name, q.Source = sourceName(q.Name), text
	}
	var engine *site.Engine
	if len(start.Recordings) > 0 && c.Single != "" {
		start.Engine = "none"
	} else {
		var err error
		engine, err = site.FindEngine(a.ctx, func() { fmt.Fprintln(a.stderr, "gemu: Go builds the engine for browsers …") })
		if err != nil {
			return err
		}
	}
	if c.Single != "" {
		if err := site.Single(a.ctx, c.Single, engine, start); err != nil {
			return input.FileError("write", c.Single, err)
		}
		fmt.Fprintf(a.stderr, "%s: open it in a browser\n", c.Single)
		return nil
	}
	names, err := site.Build(a.ctx, c.Build, engine, start)
	if err != nil {
		return input.FileError("write", c.Build, err)
	}
	fmt.Fprintf(a.stderr, "%s: %d files for any web server (browsers do not start the engine from file://; --single writes a file for that)\n", c.Build, len(names))
	return nil
}
