package cli

// This file is "gemu machine": hits, misses and memory traffic of a kernel on machines.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"gemu/internal/document"
	"gemu/internal/input"
	"gemu/interp"
	"gemu/machine"
	"gemu/machine/dispatch"
	"gemu/machine/stream"
	"gemu/models/gscalar"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
	"gemu/record"
)

type machineCmd struct {
	File  string   `arg:"" optional:"" predictor:"source" help:"PTX file (- for standard input), CUDA C++ (.cu; needs nvcc or clang), or @NAME of a workload."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
	policyFlag

	From string `help:"Read the launches from the recording FILE (- for standard input) instead of running a kernel. gemu record --with accesses,source writes it; --show compression also needs memory: --with accesses,source,memory." placeholder:"FILE"`

	Spec   []string    `default:"v100" help:"Machine: ${machines}, or the name of a file (docs/machine.md). Several machines get the same requests." placeholder:"NAME,…"`
	Sweep  []string    `sep:"none" help:"Run the machines with each of these values of a parameter; a single value changes the machines. May be given several times. Parameters, and the values of some:${machineparameters}${replacements}${dispatchers}${schedulers}" placeholder:"NAME=VALUE,…"`
	With   []string    `help:"Run each machine also with these systems of papers. A + between systems combines them; systems that need a clock add their parts to those that are printed without --show:${machinesystems}" placeholder:"SYSTEM,…"`
	Assist []string    `help:"Run each machine also with the assist routines in FILE, as --with caba=FILE (docs/caba.md). --show assist prints their cost." placeholder:"FILE.ptx,…"`
	Show   []string    `default:"${machineshow}" enum:"${machineparts}" help:"Parts to print:${machinepartdocs}" placeholder:"PART"`
	PTX    bool        `name:"ptx" help:"Show the lines of the PTX, even if the PTX names the lines of the source from which it was compiled."`
	Launch int         `help:"Report launch N only, from 1 on. The launches before it run too: the L2 keeps their lines." unset:"all launches" placeholder:"N"`
	Lines  sourceRange `help:"Show these lines of the source only, in all tables and files: FILE is a name as in the tables, A and B are numbers of lines." unset:"all lines" placeholder:"FILE:A-B"`
	Top    int         `default:"10" help:"Print at most N lines and N buffers." placeholder:"N"`
	Regs   int         `help:"Number of registers of a thread, which limits the CTAs of a multiprocessor. PTX does not contain it; NVIDIA's ptxas -v prints it." unset:".maxnreg of the kernel, else registers are no limit" placeholder:"N"`
	reportFlags
	machineFiles
}

func (c *machineCmd) outputs() outputs {
	return append(c.reportFlags.outputs(), c.machineFiles.outputs()...)
}

// maxMachines is the maximum number of machines of a run.
const maxMachines = 64

// specs returns the machines that the flags select.
func (c *machineCmd) specs(a *app) (list []machine.Spec, err error) {
	for _, name := range c.Spec {
		s, err := machine.Load(name, a.machinePolicies())
		if err != nil {
			return nil, fmt.Errorf("--spec %s: %w", name, err)
		}
		list = append(list, s)
	}
	swept := map[string]bool{}
	for _, sweep := range c.Sweep {
		name, values, ok := strings.Cut(sweep, "=")
		if !ok || values == "" {
			return nil, fmt.Errorf("--sweep %s: want NAME=VALUE,…", sweep)
		}
		if swept[name] {
			return nil, fmt.Errorf("--sweep %s: %s has values already; list all of them, as in %s=VALUE,…", sweep, name, name)
		}
		swept[name] = true
		var next []machine.Spec
		for _, s := range list {
			for _, v := range strings.Split(values, ",") {
				changed := s
				if err := changed.Set(name, v, a.machinePolicies()); err != nil {
					return nil, fmt.Errorf("--sweep: %w", err)
				}
				changed.Name += " " + name + "=" + v
				next = append(next, changed)
			}
		}
		if list = next; len(list) > maxMachines {
			break
		}
	}
	if list, err = c.with(a, list); err != nil {
		return nil, err
	}
	if len(list) > maxMachines {
		return nil, fmt.Errorf("--spec, --sweep and --with: %d machines or more; want at most %d", len(list), maxMachines)
	}
	names := map[string]bool{}
	for _, s := range list {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("machine %s: %w", s.Name, err)
		}
		if names[s.Name] {
			return nil, fmt.Errorf("machine %s is listed twice: change --spec, --sweep or --with", s.Name)
		}
		names[s.Name] = true
	}
	return list, nil
}

func (c *machineCmd) Run(a *app, parsed *kong.Context) error {
	if (c.File == "") == (c.From == "") {
		return errors.New("give one input: a kernel to run, or a recording (--from FILE)")
	}
	for _, group := range []string{"program", "device"} {
		if given := givenFlags(parsed, group); c.From != "" && len(given) > 0 {
			return fmt.Errorf("--from takes the launches of a recording: --%s does not apply", given[0])
		}
	}
	if err := checkMinimums(minimum{"--top", int64(c.Top), 0}); err != nil {
		return err
	}
	if err := checkMinimums(minimum{"--launch", int64(c.Launch), 0}); err != nil {
		return err
	}
	if err := checkRegisters(c.Regs); err != nil {
		return err
	}
	if err := c.outputs().check(); err != nil {
		return err
	}
	specs, err := c.specs(a)
	defer closeSystems(a.ctx, specs)()
	if err != nil {
		return err
	}
	if slices.Contains(c.Show, differencesPart.name) && len(specs) < 2 {
		return fmt.Errorf("--show %s: want two machines: --spec A,B, --sweep NAME=A,B or --with SYSTEM", differencesPart.name)
	}
	if !slices.Contains(givenFlags(parsed, ""), "show") {
		c.showClocked(specs)
	}
	for _, name := range c.Show {
		if c.Launch > 0 && machinePartNamed(name).allLaunches {
			return fmt.Errorf("--launch: --show %s counts all launches; leave one of them out", name)
		}
	}
	in := &machineRun{flags: c, specs: specs}
	for _, s := range specs {
		m := machine.New(s, c.Regs)
		in.machines = append(in.machines, m)
		in.feed(m)
	}
	descriptors := newDescriptorWriter()
	if c.WriteDescriptors != "" {
		in.inferred(descriptors.add)
	}
	var views []machineView
	for _, name := range c.Show {
		views = append(views, machinePartNamed(name).begin(in))
	}
	if in.err != nil {
		return in.err
	}
	if in.values {
		for i := range in.clocks {
			in.clocks[i][0].CompareValues()
		}
	}
	addresses, err := c.openAddresses(a, in)
	if err != nil {
		return err
	}
	defer addresses.discard()
	line, err := c.openTimeline(in)
	if err != nil {
		return err
	}
	recorder := stream.NewRecorder(in.consumer())
	if in.data {
		recorder = stream.NewDataRecorder(in.consumer())
	}
	if in.encodings {
		recorder.Encode(gscalar.NewEncodings())
	}
	if in.instructions {
		recorder.RecordInstructions()
	}
	run := c.execute
	if c.From != "" {
		run = c.replay
	}
	ran, runErr := run(a, in.data, append(in.probes, recorder)...)
	if ran == nil {
		return runErr
	}
	if n := len(in.machines[0].Launches()); c.Launch > n {
		return all(runErr, fmt.Errorf("--launch %d: the run has %s", c.Launch, counted(n, "launch")))
	}
	in.notices(a)
	// A trapped launch has counts up to the trap, and then the error.
	r := newMachineReport(in, ran)
	if err := r.refusedAll(in); err != nil {
		return err
	}
	if err := r.checkLines(); err != nil {
		return all(runErr, err)
	}
	for i, m := range in.machines {
		if err := m.Verify(); err != nil {
			return fmt.Errorf("machine %s: %w", specs[i].Name, err)
		}
	}
	for k, v := range views {
		if err := v.addJSON(r); err != nil {
			return fmt.Errorf("--show %s: %w", c.Show[k], err)
		}
	}
	err = addresses.commit()
	if c.Timeline != "" {
		err = all(err, c.writeTimeline(a, line))
	}
	if c.WriteDescriptors != "" {
		err = all(err, descriptors.write(a, c.WriteDescriptors))
	}
	err = all(err, c.machineFiles.write(a, r, in.machines), c.reportFlags.write(a, func() ([]byte, error) { return r.page(views) }, func() any { return r.machineJSON }))
	if !c.outputs().stdout() {
		r.print(newScreen(a.stdout), views)
	}
	return all(runErr, err, r.refusals())
}

// machineRan describes the launches that have run.
type machineRan struct {
	document.Launch
	groups  []document.Group
	sources *input.Sources // sources of the PTX's compilation
}

// execute runs the launches of the command line. It returns nil, and the error, if there is nothing to report. A launch that has trapped
// is reported up to the trap, whose error is returned as well.
func (c *machineCmd) execute(a *app, _ bool, probes ...probe.Probe) (*machineRan, error) {
	flags := &launchFlags{sourceArg: sourceArg{c.File}, Extra: c.Extra, kernelFlags: c.kernelFlags}
	j, err := flags.open(a, dataOf(a.stderr), probes...) // standard output is reserved for the report
	if err != nil {
		return nil, err
	}
	err = j.run(a, func(l *interp.Launch) { l.Mode, l.Reconverge = interp.Vector, a.reconverger(c.Reconverge) })
	if trap := (*probe.Trap)(nil); err != nil && (len(j.results) == 0 || !errors.As(err, &trap)) {
		return nil, err
	}
	return &machineRan{j.facts(), j.groups(), j.sources}, err
}

// replay sends the launches of a recording to the probes, as execute does; with the bytes of memory if data is true.
func (c *machineCmd) replay(a *app, data bool, probes ...probe.Probe) (*machineRan, error) {
	file, err := a.openRecording(c.From)
	if err != nil {
		return nil, input.FileError("read", c.From, err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, input.FileError("read", c.From, err)
	}
	f, err := record.Open(c.From, file, st.Size())
	if errors.Is(err, record.ErrNoRecording) {
		return nil, fmt.Errorf("%w; a log of gemu trace has no allocations and no memory. Record the run: gemu record … --with accesses,source -o run.gemu", err)
	}
	if err != nil {
		return nil, err
	}
	texts, err := f.Texts()
	if err != nil {
		return nil, err
	}
	r, err := record.Replay(a.ctx, f, data, probes...)
	if err != nil {
		return nil, err
	}
	last := r.Launches[len(r.Launches)-1]
	facts := document.Launch{File: cmp.Or(r.Title, last.Module.Name), Kernel: last.Kernel.Name, Grid: document.Dims(last.Grid), Block: document.Dims(last.Block), Warp: last.WarpSize, Reconverge: last.Reconverge.Name, Launches: len(r.Launches)}
	if last.Cluster.Count() > 1 {
		facts.Cluster = document.Dims(last.Cluster)
	}
	return &machineRan{facts, document.GroupsOf(slices.Values(r.Launches), func(l *probe.LaunchInfo) document.Group {
		return document.Group{Kernel: l.Kernel.Name, Grid: document.Dims(l.Grid), Block: document.Dims(l.Block)}
	}), input.GivenSources(texts)}, r.Err
}

// machinePart is a part of the report that --show names.
type machinePart struct {
	name        string
	doc         string // what it prints, for help
	extra       bool   // it is printed, and is in JSON, only if --show names it
	allLaunches bool   // it counts all launches, so that --launch excludes it
	clocked     bool   // its counts are in the order of a clock
	labelled    bool   // its rows say whether they have a clock
	// begin begins the part before the first launch. It can change the run.
	begin func(in *machineRun) machineView
}

// showClocked adds the parts of a clock if a system has no effect without a clock.
func (c *machineCmd) showClocked(specs []machine.Spec) {
	systems := func(is func(*machine.System) bool) bool {
		return slices.ContainsFunc(specs, func(s machine.Spec) bool { return slices.ContainsFunc(s.Systems, is) })
	}
	if systems((*machine.System).NeedsClock) {
		c.Show = append(slices.Clone(c.Show), cyclesPart.name, stallsPart.name)
	}
	if c.Launch == 0 && systems((*machine.System).HasAssists) {
		c.Show = append(c.Show, assistPart.name)
	}
}

// machineRun is the machines of a run before its first launch, and the probes that feed them.
type machineRun struct {
	flags     *machineCmd
	specs     []machine.Spec
	machines  []*machine.Machine // of specs
	consumers stream.Consumers   // receive the recorded requests: the machines, and those that parts add
	probes    []probe.Probe      // further probes, which parts add
	data      bool               // a part needs the bytes of memory
	encodings bool               // a part needs the encodings of stored registers
	values    bool               // a part compares the values of loads
	reported  []func()           // called when the launch of --launch begins
	clocks    []machineClock     // of specs; empty unless a part needs a clock

	instructions bool       // a machine with a clock needs each instruction
	err          error      // a part cannot begin
	inference    *inference // nil if no machine infers descriptors
}

// onReported adds a function that is called when the launch of --launch begins, so that a part can forget the launches before it. It does
// nothing without the flag.
func (in *machineRun) onReported(f func()) { in.reported = append(in.reported, f) }

// notices prints the messages of the machines' systems, each once.
func (in *machineRun) notices(a *app) {
	var printed []string
	for i := range in.specs {
		for _, s := range in.specs[i].Systems {
			notice := ""
			switch {
			case in.clocks == nil && s.NeedsClock() && !(s.Compresses() && slices.Contains(in.flags.Show, compressionPart.name)):
				notice = s.Name + " has no effect without a clock: add --show cycles"
			case in.clocks != nil && s.Compresses() && !in.specs[i].WholeLines:
				notice = s.Name + " transfers whole lines between the L2 and memory, and the machine without it sectors: add --sweep l2.transfer=lines to compare"
			}
			if notice != "" && !slices.Contains(printed, notice) {
				printed = append(printed, notice)
				fmt.Fprintf(a.stderr, "gemu: --with %s\n", notice)
			}
		}
	}
	var notices []string
	for _, m := range in.machines {
		notices = append(notices, m.Notices()...)
	}
	for _, c := range in.clocks {
		notices = append(notices, c[0].Notices()...)
	}
	for _, notice := range notices {
		if !slices.Contains(printed, notice) {
			printed = append(printed, notice)
			fmt.Fprintf(a.stderr, "gemu: --with %s\n", notice)
		}
	}
}

// consumer returns the consumer of the recorded requests.
func (in *machineRun) consumer() stream.Consumer {
	if in.flags.Launch == 0 {
		return in.consumers
	}
	return &firstLaunches{Consumers: in.consumers, count: in.flags.Launch, lastBegins: func() {
		for _, f := range in.reported {
			f()
		}
	}}
}

// firstLaunches passes the first launches, so that the machines end with the last of them.
type firstLaunches struct {
	stream.Consumers
	count      int // number of launches
	begun      int
	lastBegins func() // called when the last of them begins
	left       map[*stream.Launch]bool
}

// BeginLaunch begins a launch.
func (f *firstLaunches) BeginLaunch(l *stream.Launch) {
	f.begun++
	switch {
	case f.begun > f.count:
		if f.left == nil {
			f.left = map[*stream.Launch]bool{}
		}
		f.left[l] = true
		return
	case f.begun == f.count:
		f.lastBegins()
	}
	f.Consumers.BeginLaunch(l)
}

// CTA passes a CTA.
func (f *firstLaunches) CTA(l *stream.Launch, c *stream.CTA) {
	if !f.left[l] {
		f.Consumers.CTA(l, c)
	}
}

// EndLaunch ends a launch.
func (f *firstLaunches) EndLaunch(l *stream.Launch, err error) {
	if !f.left[l] {
		f.Consumers.EndLaunch(l, err)
	}
	delete(f.left, l)
}

// machineView is a part of the report of a run.
type machineView interface {
	// addJSON sets the part's fields of the JSON report. It returns an error if the part has no counts, or if they contradict each other.
	addJSON(r *machineReport) error
	// print writes the part.
	print(r *machineReport, s *screen)
}

// machineText is a view of the counts that are always in the JSON report: as text, and as sections of the page.
type machineText struct {
	text     func(r *machineReport, s *screen)
	sections func(r *machineReport) []pageSection
}

func (machineText) addJSON(*machineReport) error          { return nil }
func (t machineText) print(r *machineReport, s *screen)   { t.text(r, s) }
func (t machineText) page(r *machineReport) []pageSection { return t.sections(r) }

// machineParts are the parts of the report, in the order of the help. A new part is an entry here, in a file of its own.
var machineParts = []machinePart{
	{name: "total", doc: "each machine, and its counts", begin: func(*machineRun) machineView {
		return machineText{(*machineReport).printTotals, (*machineReport).pageTotals}
	}},
	{name: "lines", doc: "lines of the source, on the first machine", begin: func(*machineRun) machineView {
		return machineText{(*machineReport).printLines, (*machineReport).pageLines}
	}},
	{name: "buffers", doc: "buffers, on the first machine", begin: func(*machineRun) machineView {
		return machineText{(*machineReport).printBuffers, (*machineReport).pageBuffers}
	}},
	limitsPart,
	differencesPart,
	cyclesPart,
	stallsPart,
	assistPart,
	readingsPart,
	memoryPart,
	localityPart,
	descriptorsPart,
	rowsPart,
	compressionPart,
	valuesPart,
}

// machinePartNamed returns a part whose name the parser of the command line has accepted.
func machinePartNamed(name string) *machinePart {
	return &machineParts[slices.IndexFunc(machineParts, func(p machinePart) bool { return p.name == name })]
}

// machinePartNames returns the names of the parts, and of those that are printed without --show.
func machinePartNames() (all, shown []string) {
	for _, p := range machineParts {
		if all = append(all, p.name); !p.extra {
			shown = append(shown, p.name)
		}
	}
	return all, shown
}

// machinePartDocs is the help of --show.
func machinePartDocs() string {
	var list []string
	for _, p := range machineParts {
		list = append(list, p.name+": "+p.doc)
	}
	return helpList(list...)
}

// machineReport is the report on the launches of a job.
type machineReport struct {
	machineJSON
	flags   *machineCmd
	specs   []machine.Spec
	sources sourceFiles
	texts   map[machinePlace]string
	files   map[string]bool                 // files with requests
	modules map[string]*ptx.Module          // modules of the launches, by name
	instrs  map[machinePlace][]machineInstr // instructions with requests of a line, on the first machine
	clocked bool                            // the machines have clocks
}

// machinePlace is a line of a file.
type machinePlace struct {
	file string
	line int
}

// machineJSON is the report of --json. Names and meanings do not change.
type machineJSON struct {
	Schema string `json:"schema"` // "gemu-machine/1"
	document.Launch
	Only     int                   `json:"launch,omitempty"`   // number of the reported launch, from 1 on; only with --launch
	Trapped  string                `json:"trapped,omitempty"`  // trap of the last launch; all counts end there
	Groups   []document.Group      `json:"kernels"`            // numbers of launches, by kernel and extents
	Machines []machineResultJSON   `json:"machines"`           // machines, in the order of the command line
	Locality []machineLocalityJSON `json:"locality,omitempty"` // data that CTAs share, on the first machine; only with --show locality
}

// machineResultJSON is the launches on a machine.
type machineResultJSON struct {
	Name       string                `json:"name"`       // name of the machine, with changed parameters
	SMs        int                   `json:"sms"`        // number of multiprocessors
	SM         int                   `json:"sm"`         // compute capability, 70 for 7.0
	Dispatcher string                `json:"dispatcher"` // dispatcher, which chooses the multiprocessor of a CTA; of a system of --with: "SYSTEM, else DISPATCHER"
	L1         machineCacheJSON      `json:"l1"`         // cache of each multiprocessor
	L2         machineCacheJSON      `json:"l2"`         // cache of all multiprocessors
	Kernels    []machineResidentJSON `json:"kernels"`    // launched kernels, with the CTAs that fit on a multiprocessor
	Total      machine.Counts        `json:"total"`      // counts of all launches
	Dirty      int64                 `json:"dirty"`      // sectors in the L2 that differ from memory at the end of the last launch
	Lines      []machineLineJSON     `json:"lines"`      // lines of the source (or of the PTX) with requests, in their order
	Buffers    []machineBufferJSON   `json:"buffers"`    // accessed memory, in the order of addresses; local memory comes first
	// Inferred has the descriptors that --with inferred has inferred, a line each, with spaces before the lines that belong to the one above; only with
	// --show descriptors.
	Inferred []string `json:"inferred,omitempty"`

	// Refused has the parts of --show without values of this machine, because it has refused a launch. If all parts of --show are here, total, lines
	// and buffers mean nothing.
	Refused []machineRefusalJSON `json:"refused,omitempty"`

	Clock *machineClockJSON `json:"clock,omitempty"` // cycles; only with --show cycles, stalls or readings
	// L2 and memory of the machine with a clock; only with --show memory
	Memory *machineMemoryJSON `json:"memory,omitempty"`

	Rows *machineRowsJSON `json:"rows,omitempty"` // memory behind the L2; only with --show rows

	Compression *machineCompressionJSON `json:"compression,omitempty"` // compressed lines; only with --show compression

	Values      *machineValuesJSON `json:"values,omitempty"`       // values in the order of the machine; only with --show values
	ClockValues *machineValuesJSON `json:"clock_values,omitempty"` // the same in the order of the clock; only with --show values and a part with a clock
}

// machineCacheJSON is a cache.
type machineCacheJSON struct {
	Bytes  int    `json:"bytes"`  // size of the data, in bytes; of an L1, shared memory included
	Ways   int    `json:"ways"`   // lines of a set
	Policy string `json:"policy"` // replacement policy, or the system of --with that replaces it
	Index  string `json:"index"`  // function that selects the set of a line
}

// machineResidentJSON is the CTAs of a kernel that fit on a multiprocessor.
type machineResidentJSON struct {
	Kernel   string `json:"kernel"`   // name of the kernel
	Resident int    `json:"resident"` // CTAs on a multiprocessor at a time
	Limit    string `json:"limit"`    // resource that limits their number
	L1       int    `json:"l1_bytes"` // bytes of the L1 that shared memory leaves
}

// machineLineJSON is a line of the source or of the PTX.
type machineLineJSON struct {
	File   string         `json:"file"`   // file name in .file, or of the PTX
	Line   int            `json:"line"`   // number of the line, from 1 on
	Counts machine.Counts `json:"counts"` // counts of the instructions of the line; write-backs are 0
}

// machineBufferJSON is a buffer.
type machineBufferJSON struct {
	Name   string         `json:"name"`   // name as in messages
	Base   uint64         `json:"base"`   // first address; 0 for local memory
	Bytes  uint64         `json:"bytes"`  // size in bytes; 0 for local memory
	Counts machine.Counts `json:"counts"` // counts of requests to the buffer
}

func newMachineReport(in *machineRun, ran *machineRan) *machineReport {
	r := &machineReport{
		machineJSON: machineJSON{Schema: "gemu-machine/1", Launch: ran.Launch, Groups: ran.groups, Only: in.flags.Launch},
		flags:       in.flags, sources: sourceFiles{ran.sources}, texts: map[machinePlace]string{}, files: map[string]bool{}, modules: map[string]*ptx.Module{}, instrs: map[machinePlace][]machineInstr{}, clocked: in.clocks != nil,
	}
	for i, m := range in.machines {
		r.specs = append(r.specs, in.specs[i].Described())
		r.Machines = append(r.Machines, r.result(&r.specs[i], in.flags.reported(m)))
		if i == 0 {
			r.addInstrs(in.flags.reported(m))
		}
	}
	if list := in.flags.reported(in.machines[0]); len(list) > 0 && list[len(list)-1].Err != nil {
		r.Trapped = list[len(list)-1].Err.Error()
	}
	return r
}

// result sums the launches on a machine.
func (r *machineReport) result(s *machine.Spec, launches []*machine.Launch) machineResultJSON {
	level := func(l *machine.Level) machineCacheJSON {
		return machineCacheJSON{l.Bytes, l.Ways, l.Policy.Name, l.Index}
	}
	out := machineResultJSON{Name: s.Name, SMs: s.SMs, SM: s.SM, Dispatcher: dispatch.Rotation.Name, L1: level(&s.L1), L2: level(&s.L2)}
	if s.Dispatcher != nil {
		out.Dispatcher = s.Dispatcher.Name
	}
	lines, buffers := map[machinePlace]*machine.Counts{}, map[stream.Buffer]*machine.Counts{}
	for _, l := range launches {
		out.Total.Add(&l.Counts)
		out.Dirty = l.Dirty
		r.modules[l.Module.Name] = l.Module
		if k := (machineResidentJSON{l.Kernel.Name, l.Resident, string(l.LimitedBy), l.L1}); !slices.Contains(out.Kernels, k) {
			out.Kernels = append(out.Kernels, k)
		}
		for i := range l.Instrs {
			if l.Instrs[i].Requests == 0 {
				continue
			}
			instr, f := l.Program.At(i)
			frame := profile.Frames(f, instr, r.flags.PTX)[0]
			at := machinePlace{frame.File, frame.Line}
			if lines[at] == nil {
				lines[at] = new(machine.Counts)
				r.addText(l.Module, at)
			}
			lines[at].Add(&l.Instrs[i])
		}
		for i := range l.Buffers {
			b := &l.Buffers[i]
			if buffers[b.Buffer] == nil {
				buffers[b.Buffer] = new(machine.Counts)
			}
			buffers[b.Buffer].Add(&b.Counts)
		}
	}
	out.Lines, out.Buffers = []machineLineJSON{}, []machineBufferJSON{}
	for at, c := range lines {
		if r.files[at.file] = true; !r.flags.Lines.has(at) {
			continue
		}
		out.Lines = append(out.Lines, machineLineJSON{at.file, at.line, *c})
	}
	slices.SortFunc(out.Lines, func(a, b machineLineJSON) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	for b, c := range buffers {
		out.Buffers = append(out.Buffers, machineBufferJSON{b.Name, b.Base, b.Bytes, *c})
	}
	slices.SortFunc(out.Buffers, func(a, b machineBufferJSON) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// addText keeps the text of a line, which may be one of a module.
func (r *machineReport) addText(m *ptx.Module, at machinePlace) {
	if _, ok := r.texts[at]; ok {
		return
	}
	if r.texts[at] = r.sources.text(at.file, at.line); at.file == m.Name {
		r.texts[at] = strings.Join(strings.Fields(m.Line(at.line)), " ")
	}
}

// reported returns the launches of a machine that the report has.
func (c *machineCmd) reported(m *machine.Machine) []*machine.Launch {
	if c.Launch > 0 {
		return m.Launches()[c.Launch-1 : c.Launch]
	}
	return m.Launches()
}

// sourceRange is a range of lines of a file, the value FILE:A-B or FILE:A of a flag; zero: all lines.
type sourceRange struct {
	file     string
	from, to int // the first and the last line
}

// UnmarshalText parses a range.
func (s *sourceRange) UnmarshalText(text []byte) error {
	i := strings.LastIndexByte(string(text), ':')
	wrong := fmt.Errorf("%s: want FILE:A-B, as in kernel.cu:10-20", text)
	if i < 1 {
		return wrong
	}
	first, last, isRange := strings.Cut(string(text[i+1:]), "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	switch {
	case err1 != nil || err2 != nil:
		return wrong
	case from < 1 || to < from:
		return fmt.Errorf("%s: lines %d to %d; want numbers from 1 on, the smaller one first", text, from, to)
	}
	*s = sourceRange{string(text[:i]), from, to}
	return nil
}

// has reports whether a line is in the range. The file has its name or its path.
func (s *sourceRange) has(at machinePlace) bool {
	return s.file == "" || (at.file == s.file || filepath.Base(at.file) == s.file) && s.from <= at.line && at.line <= s.to
}

// checkLines returns an error if --lines leaves no line of those with requests.
func (r *machineReport) checkLines() error {
	want := r.flags.Lines
	if want.file == "" || len(r.Machines[0].Lines) > 0 {
		return nil
	}
	var files []string
	for _, file := range slices.Sorted(maps.Keys(r.files)) {
		files = append(files, filepath.Base(file))
	}
	if len(files) == 0 {
		return nil
	}
	return fmt.Errorf("--lines %s:%d-%d: none of these lines accesses memory; files with accesses: %s", want.file, want.from, want.to, strings.Join(files, ", "))
}

// addInstrs collects the instructions of each line of the source.
func (r *machineReport) addInstrs(launches []*machine.Launch) {
	for _, l := range launches {
		for i := range l.Instrs {
			if l.Instrs[i].Requests == 0 {
				continue
			}
			instr, f := l.Program.At(i)
			frame, ptx := profile.Frames(f, instr, r.flags.PTX)[0], profile.Frames(f, instr, true)[0]
			at, in := machinePlace{frame.File, frame.Line}, machinePlace{ptx.File, ptx.Line}
			k := slices.IndexFunc(r.instrs[at], func(o machineInstr) bool { return o.at == in })
			if k < 0 {
				k = len(r.instrs[at])
				r.instrs[at] = append(r.instrs[at], machineInstr{at: in})
			}
			r.instrs[at][k].counts.Add(&l.Instrs[i])
		}
	}
}

// machineColumn is a column of counts.
type machineColumn struct {
	name  string
	doc   string // for the page
	width int
	text  func(c *machine.Counts) string
}

// machineColumns are the columns of all tables.
var machineColumns = []machineColumn{
	{"requests", "requests of warps to global and local memory", 10, func(c *machine.Counts) string { return countText(c.Requests) }},
	{"loads", "sectors that loads access", 10, func(c *machine.Counts) string { return countOrDash(c.Loads, countText(c.Loads)) }},
	{"L1 hits", "share of these sectors that the L1 has", 9, func(c *machine.Counts) string {
		return countOrDash(c.Loads, percentText(share(c.L1Hits, c.Loads), 1)+" %")
	}},
	{"stores", "sectors that stores and atomics access", 10, func(c *machine.Counts) string { return countOrDash(c.Stores+c.Atomics, countText(c.Stores+c.Atomics)) }},
	{"L2 hits", "share of the sectors that reach the L2 and are there", 9, func(c *machine.Counts) string {
		return countOrDash(c.L2Hits+c.L2Misses, percentText(share(c.L2Hits, c.L2Hits+c.L2Misses), 1)+" %")
	}},
	{"read", "sectors that the L2 reads from memory", 10, func(c *machine.Counts) string { return countText(c.Reads) }},
}

// writtenColumn is the column of write-backs, which belong to no line.
var writtenColumn = machineColumn{"written", "sectors that leave the L2 and differ from memory", 10, func(c *machine.Counts) string { return countText(c.WriteBacks) }}

// columnsOf formats counts, and the names of the columns for nil.
func columnsOf(list []machineColumn, c *machine.Counts) string {
	var b strings.Builder
	for _, col := range list {
		text := col.name
		if c != nil {
			text = col.text(c)
		}
		b.WriteString(fitted(text, -col.width))
	}
	return b.String()
}

// unseen says what the counts leave out.
func (r *machineReport) unseen() string {
	text := "counts are sectors of 32 bytes, without shared, constant and parameter memory, textures and surfaces; "
	var clocked, others []string
	for _, name := range r.flags.Show {
		switch part := machinePartNamed(name); {
		case part.labelled:
		case part.clocked:
			clocked = append(clocked, name)
		default:
			others = append(others, name)
		}
	}
	switch {
	case len(clocked) == 0:
		return text + "there is no clock (docs/machine.md)"
	case len(others) == 0:
		return text + "they are in the order of the clock (docs/machine.md)"
	}
	return text + "those of " + strings.Join(clocked, ", ") + " are in the order of the clock, those of " + strings.Join(others, ", ") + " have no clock (docs/machine.md)"
}

// print writes the parts of the report to a screen.
func (r *machineReport) print(s *screen, views []machineView) {
	s.printf("%s: warps of %d\n", r.File, r.Warp)
	for _, g := range r.Groups {
		s.printf("  kernel %s\n", g)
	}
	if r.Only > 0 {
		s.printf("  only launch %d\n", r.Only)
	}
	if r.Trapped != "" {
		s.printf("  the launch trapped: counts up to the trap\n")
	}
	if r.Machines[0].Total.Requests == 0 && !r.clocked {
		s.printf("\nno launch accesses global or local memory\n")
		return
	}
	for _, v := range views {
		v.print(r, s)
	}
	s.printf("\n%s\n", s.paint(dim, r.unseen()))
}

// printTotals prints each machine, and a row of totals for each.
func (r *machineReport) printTotals(s *screen) {
	s.heading("machines")
	width := 0
	variants := len(r.specs) / len(r.flags.Spec) // of each machine of --spec, with the values of --sweep
	for i := range r.specs {
		width = max(width, len(r.specs[i].Name))
		if i%variants == 0 {
			s.printf("%s\n", &r.specs[i])
		}
		for k, kernel := range r.Machines[i].Kernels {
			if i%variants > 0 && slices.Equal(r.Machines[i].Kernels, r.Machines[i-1].Kernels) {
				break
			}
			if i%variants > 0 && k == 0 {
				s.printf("%s\n", r.specs[i].Name)
			}
			if kernel.Resident == 0 {
				s.printf("  %s: a CTA does not fit on an SM, because of %s; the model runs one at a time; its L1 has %d bytes\n", kernel.Kernel, kernel.Limit, kernel.L1)
				continue
			}
			s.printf("  %s: %d CTAs fit on an SM, limited by %s; its L1 has %d bytes\n", kernel.Kernel, kernel.Resident, kernel.Limit, kernel.L1)
		}
	}
	columns := allColumns()
	s.printf("\n%s\n", s.paint(dim, fitted("", width)+columnsOf(columns, nil)+fitted("dirty", -10)))
	for i := range r.Machines {
		m := &r.Machines[i]
		if reason := m.refusal("total"); reason != "" {
			s.printRefusal(m.Name, width, reason)
			continue
		}
		s.printf("%s%s%s\n", fitted(m.Name, width), columnsOf(columns, &m.Total), fitted(countText(m.Dirty), -10))
	}
}

// printLines prints the lines of the first machine with the most sectors read from memory.
func (r *machineReport) printLines(s *screen) {
	s.heading("lines with the most sectors read from memory")
	list := r.linesByReads()
	left := len(list) - min(len(list), r.flags.Top)
	list = list[:len(list)-left]
	s.printf("%s\n", s.paint(dim, columnsOf(machineColumns, nil)))
	width := 0
	for _, c := range machineColumns {
		width += c.width
	}
	for i := range list {
		l := &list[i]
		text := fmt.Sprintf("  %s:%d  %s", filepath.Base(l.File), l.Line, r.texts[machinePlace{l.File, l.Line}])
		s.printf("%s%s\n", columnsOf(machineColumns, &l.Counts), s.cutToFit(text, width))
	}
	if left > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", left)))
	}
}

// text names the buffer.
func (b *machineBufferJSON) text() string {
	if b.Bytes == 0 {
		return b.Name
	}
	return fmt.Sprintf("%s, %d bytes at %#x", b.Name, b.Bytes, b.Base)
}

// printBuffers prints the buffers of the first machine with the most traffic.
func (r *machineReport) printBuffers(s *screen) {
	s.heading("buffers with the most traffic")
	list := r.buffersByTraffic()
	left := len(list) - min(len(list), r.flags.Top)
	list = list[:len(list)-left]
	columns := allColumns()
	s.printf("%s\n", s.paint(dim, columnsOf(columns, nil)))
	for i := range list {
		b := &list[i]
		s.printf("%s  %s\n", columnsOf(columns, &b.Counts), b.text())
	}
	if left > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", left)))
	}
}
