package record

// This file implements the probe that records.

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// Contents selects the optional parts of a recording.
type Contents struct {
	Results  bool // tables results and values
	Accesses bool // tables accesses, stores, writes, values, allocations and frees
	Memory   bool // tables images, data, allocations and frees
	Stack    bool // table stack
	Source   bool // table sources
}

// parts returns the optional parts by name, in the order of the names in recordings and messages.
func (c *Contents) parts() []contentsPart {
	return []contentsPart{{"results", &c.Results}, {"accesses", &c.Accesses}, {"memory", &c.Memory}, {"stack", &c.Stack}, {"source", &c.Source}}
}

// contentsPart is an optional part of a recording.
type contentsPart struct {
	name     string
	selected *bool
}

// ContentNames returns the names of the optional parts.
func ContentNames() (names []string) {
	for _, p := range new(Contents).parts() {
		names = append(names, p.name)
	}
	return names
}

// String returns the names of the selected parts, separated by commas.
func (c Contents) String() string {
	var names []string
	for _, p := range c.parts() {
		if *p.selected {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ",")
}

// ParseContents returns the contents with the parts of a list of names; "all" is all parts.
func ParseContents(list []string) (c Contents, err error) {
	parts := c.parts()
	for _, name := range list {
		i := slices.IndexFunc(parts, func(p contentsPart) bool { return p.name == name })
		if i < 0 && name != "all" {
			return c, fmt.Errorf("unknown part %q of a recording: want some of %s, or all", name, strings.Join(ContentNames(), ", "))
		}
		for k, p := range parts {
			*p.selected = *p.selected || k == i || i < 0
		}
	}
	return c, nil
}

// Limits of Options that are zero.
const (
	DefaultMaxEvents = 10_000_000 // for Options.MaxEvents
	DefaultMaxBytes  = 1 << 30    // for Options.MaxBytes: 1 GiB
)

// Options selects the events of a recording, its size and its encoding. The zero Options records the events of all launches,
// without optional parts, up to the default limits.
type Options struct {
	Contents
	// Title is what runs, for titles of reports (RecordingRow.Title).
	Title string
	// Filter selects launches, CTAs, warps and instructions.
	Filter trace.Filter
	// MaxEvents is the largest number of events; 0 is DefaultMaxEvents, negative is no limit.
	MaxEvents int64
	// MaxBytes is the size of the file at which the recording ends. Close then adds the rows not yet written, at most 65,536 of each
	// table. MaxBytes is also the largest sum of all uncompressed memory images. 0 is DefaultMaxBytes, negative is no limit.
	MaxBytes int64
	// ReadSource returns the text of a file from which a module was compiled, and whether it may be read, for Contents.Source. The name
	// comes from the module, which may be hostile. If ReadSource is nil, only the texts of modules are recorded.
	ReadSource func(name string) (text string, ok bool)
	// Uncompressed writes columns that readers can map into memory.
	Uncompressed bool
}

// limit returns the recorded value of a limit: 0 for no limit.
func limit(n, standard int64) uint64 {
	return uint64(max(cmp.Or(n, standard), 0))
}

// Recorder is a probe that records the launches of one or several devices. Events of several devices are in the order of their
// arrival. When a limit is reached, the Recorder records nothing more, and the launches continue.
type Recorder struct {
	mu       sync.Mutex
	tables   *tables
	running  map[*probe.LaunchInfo]*launchRecording
	programs map[probe.Program]*program
	sources  map[*ptx.Module]sourceRows
	live     map[*probe.Allocation]liveAllocation
	devices  map[uint64]uint32 // numbers in the recording, by LaunchInfo.Device
}

// liveAllocation is an allocation that is not freed.
type liveAllocation struct {
	row    int32  // row of the table allocations
	device uint32 // number of the device
}

// NewRecorder begins a recording.
func NewRecorder(out io.Writer, o Options) (*Recorder, error) {
	t, err := newTables(out, "gemu", o)
	if err != nil {
		return nil, err
	}
	return &Recorder{tables: t, running: map[*probe.LaunchInfo]*launchRecording{}, programs: map[probe.Program]*program{}, sources: map[*ptx.Module]sourceRows{}, live: map[*probe.Allocation]liveAllocation{}, devices: map[uint64]uint32{}}, nil
}

// Close ends the recording. Launches that are still running are recorded up to now. It returns the first error of the underlying
// writer, which it does not close.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables.w.close()
}

// Full returns the reached limit, as text for messages; "" if no limit has been reached and the recording is whole.
func (r *Recorder) Full() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables.full
}

// ImagesCut reports whether memory images were shortened, because their sum has reached Options.MaxBytes.
func (r *Recorder) ImagesCut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables.imagesCut
}

// Events returns the number of recorded events.
func (r *Recorder) Events() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rows[EventRow](r.tables.w)
}

// Bytes returns the size of the file so far.
func (r *Recorder) Bytes() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables.w.bytes()
}

// Subscription returns the events of the table events, in a fixed order of CTAs.
func (r *Recorder) Subscription() probe.Subscription {
	s := probe.Subscription{
		Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTA | probe.OnCTAEnd | probe.OnWarp | probe.OnWarpEnd | probe.OnAfter |
			probe.OnBranch | probe.OnSplit | probe.OnReconverge | probe.OnCall | probe.OnReturn | probe.OnWait | probe.OnWake |
			probe.OnExit | probe.OnTrap | probe.OnEffect,
		InOrder: true,
	}
	o := &r.tables.options
	if o.Results {
		s.Values = true
	}
	if o.Accesses {
		s.Events |= probe.OnAccess | probe.OnTexels | probe.OnAlloc | probe.OnFree
		s.Values, s.Addresses = true, true
	}
	if o.Memory {
		s.Events |= probe.OnAlloc | probe.OnFree
	}
	return s
}

// OnEvent handles the beginning and end of launches, and memory of the host.
func (r *Recorder) OnEvent(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		r.beginLaunch(e.Launch)
	case probe.OnLaunchEnd:
		r.endLaunch(e)
	case probe.OnAlloc, probe.OnFree:
		r.recordMemory(e, r.deviceNumber(e.Device))
	}
}

// deviceNumber returns the number of a device in the recording: the first device that the recorder sees is 0.
func (r *Recorder) deviceNumber(device uint64) uint32 {
	n, ok := r.devices[device]
	if !ok {
		n = uint32(len(r.devices))
		r.devices[device] = n
	}
	return n
}

// recordMemory records an allocation or its end.
func (r *Recorder) recordMemory(e *probe.Event, device uint32) {
	if r.tables.full != "" {
		return
	}
	if e.Kind == probe.OnAlloc {
		r.allocationRow(e.Memory, device)
		return
	}
	if a, ok := r.live[e.Memory]; ok {
		addRow(r.tables.w, &FreeRow{uint32(a.row), rows[EventRow](r.tables.w)})
		delete(r.live, e.Memory)
	}
}

// allocationRow returns the row of an allocation, and adds it if necessary.
func (r *Recorder) allocationRow(a *probe.Allocation, device uint32) int32 {
	known, ok := r.live[a]
	if !ok {
		row := AllocationRow{device, rows[EventRow](r.tables.w), a.Base, a.Span, allocationKinds[a.Kind], a.Name}
		known = liveAllocation{int32(addRow(r.tables.w, &row)), device}
		r.live[a] = known
	}
	return known.row
}

var allocationKinds = map[probe.AllocationKind]string{
	probe.BufferMemory: "buffer", probe.VariableMemory: "variable", probe.ConstantMemory: "constant", probe.ParameterMemory: "parameters",
	probe.HeapMemory: "heap", probe.SharedMemory: "shared", probe.HostMemory: "host", probe.WorkspaceMemory: "workspace",
	probe.PerCTAMemory: "per-CTA", probe.ArrayMemory: "array", probe.TexRefMemory: "texref", probe.SamplerRefMemory: "samplerref",
	probe.SurfRefMemory: "surfref",
}

// launchRecording is the recording of a running launch.
type launchRecording struct {
	*Recorder
	*program
	row    uint32 // row of the table launches
	device uint32 // number of the device
	step   uint64 // step of the latest event
}

// program is the instructions of a kernel in the tables.
type program struct {
	first     int32 // row of the first instruction
	code      []trace.Code
	graph     graphRows
	variables variableRows
	registers map[*ptx.Func][]uint32 // rows of the table registers, by ptx.RegID
}

// graphRows is the rows of the table blocks of a program.
type graphRows struct {
	first, end uint32 // first row, and row after the last
}

// sourceRows is the rows of the table sources of a module.
type sourceRows struct {
	first, end uint32 // first row, and row after the last
}

// variableRows is the rows of the table variables of a program.
type variableRows struct {
	first, parameters, end uint32 // first row, first row of a parameter of the kernel, and row after the last
}

// instructionRow returns the row of an instruction of the launch; -1 for none.
func (p *program) instructionRow(index int) int32 {
	if index < 0 {
		return -1
	}
	return p.first + int32(index)
}

func (r *Recorder) beginLaunch(l *probe.LaunchInfo) {
	if !r.tables.options.Filter.SelectsKernel(l.Kernel.Name) || r.tables.full != "" {
		return
	}
	t := r.tables
	c := &launchRecording{Recorder: r, program: r.programRows(l.Program), device: r.deviceNumber(l.Device)}
	cluster, sources := l.Cluster, r.sourceRows(l.Module)
	c.row = uint32(addRow(t.w, &LaunchRow{
		Kernel: l.Kernel.Name, File: l.Module.Name,
		GridX: uint32(l.Grid.X), GridY: uint32(l.Grid.Y), GridZ: uint32(l.Grid.Z),
		BlockX: uint32(l.Block.X), BlockY: uint32(l.Block.Y), BlockZ: uint32(l.Block.Z),
		ClusterX: uint32(max(cluster.X, 1)), ClusterY: uint32(max(cluster.Y, 1)), ClusterZ: uint32(max(cluster.Z, 1)),
		WarpSize: uint8(l.WarpSize), Reconverge: l.Reconverge.Name, Shared: uint32(l.Shared),
		SharedBytes: uint32(l.SharedBytes), Device: c.device, SM: uint16(l.SM), Cooperative: oneIf(l.Cooperative), Seed: l.Seed,
		MaxSteps: uint64(l.MaxSteps), EagerEffects: oneIf(l.EagerEffects),
		FirstVariable: c.variables.first, Variables: c.variables.end - c.variables.first,
		FirstEvent: rows[EventRow](t.w), FirstInstruction: uint32(c.first), Instructions: uint32(len(c.code)),
		FirstBlock: c.graph.first, Blocks: c.graph.end - c.graph.first, FirstSource: sources.first, Sources: sources.end - sources.first,
	}))
	r.running[l] = c
	for _, cluster := range l.Dispatch {
		addRow(t.w, &OrderRow{c.row, uint32(cluster)})
	}
	for i, v := range l.Program.Params() {
		b := l.Parameters[v.Offset : v.Offset+v.Var.Size()]
		row := ArgumentRow{Launch: c.row, Variable: c.variables.parameters + uint32(i), Data: t.w.addData(b)}
		if len(b) <= 8 {
			for k, x := range b {
				row.Value |= uint64(x) << (8 * k)
			}
		}
		addRow(t.w, &row)
	}
	if t.options.Memory {
		for _, p := range l.Pointers {
			if p.Memory != nil {
				r.allocationRow(p.Memory, c.device)
			}
		}
		for _, a := range slices.SortedFunc(maps.Keys(r.live), func(a, b *probe.Allocation) int { return cmp.Compare(r.live[a].row, r.live[b].row) }) {
			if a.Kind != probe.HostMemory && r.live[a].device == c.device { // reading memory of the host may fault
				t.addImage(c.row, uint32(r.live[a].row), a.Data)
			}
		}
	}
}

// programRows returns a program in the tables, and adds it if necessary.
func (r *Recorder) programRows(p probe.Program) *program {
	if known := r.programs[p]; known != nil {
		return known
	}
	w := r.tables.w
	c := &program{first: int32(rows[InstructionRow](w)), registers: map[*ptx.Func][]uint32{}}
	r.programs[p] = c
	for i := range p.Len() {
		instr, f := p.At(i)
		if c.registers[f] == nil {
			list := []uint32{}
			for k := range f.Regs {
				reg := &f.Regs[k]
				list = append(list, uint32(addRow(w, &RegisterRow{f.Name, reg.Name, reg.Type.String(), uint16(trace.BitsOf(reg.Type))})))
			}
			c.registers[f] = list
		}
		code := trace.CodeOf(uint64(i), p)
		c.code = append(c.code, code)
		row := InstructionRow{Function: f.Name, Line: uint32(code.Line), Column: uint32(code.Column), Class: code.Class, Text: code.Text, Flags: strings.Join(code.Flags, ",")}
		if instr.Loc >= 0 && f.Locs[instr.Loc].Line > 0 {
			l := &f.Locs[instr.Loc]
			row.SourceFile, row.SourceLine, row.SourceColumn = f.Module().FileName(l.File), uint32(l.Line), uint32(l.Col)
		}
		at := uint32(addRow(w, &row))
		operands := func(list iter.Seq[ptx.RegID], writes uint8) {
			for reg := range list {
				addRow(w, &OperandRow{at, c.registers[f][reg], writes})
			}
		}
		operands(slices.Values(p.Writes(i)), 1)
		operands(instr.Uses(), 0)
	}
	c.graph = r.graphRows(p, c)
	c.variables = r.variableRows(p)
	return c
}

// graphRows adds the control-flow graphs of the functions of a program, whose instructions are those of the blocks in order.
func (r *Recorder) graphRows(p probe.Program, c *program) (x graphRows) {
	w := r.tables.w
	x.first = uint32(rows[BlockRow](w))
	for at := 0; at < p.Len(); {
		_, f := p.At(at)
		first := int32(rows[BlockRow](w))
		rowOf := func(block int) int32 {
			if block < 0 {
				return -1
			}
			return first + int32(block)
		}
		for i, d := range f.ImmediatePostDominators() {
			b := f.Blocks[i]
			addRow(w, &BlockRow{f.Name, strings.Join(b.Labels, " "), uint32(c.instructionRow(at)), uint32(len(b.Instrs)), rowOf(d)})
			at += len(b.Instrs)
		}
		for i, b := range f.Blocks {
			for _, s := range b.Succs {
				addRow(w, &EdgeRow{uint32(rowOf(i)), rowOf(s.Index)})
			}
			if f.MayLeave(b) {
				addRow(w, &EdgeRow{uint32(rowOf(i)), -1})
			}
		}
	}
	x.end = uint32(rows[BlockRow](w))
	return x
}

// maxSourceBytes is the largest text in the table sources.
const maxSourceBytes = 16 << 20

// sourceRows returns the texts of a module in the tables, and adds them if necessary.
func (r *Recorder) sourceRows(m *ptx.Module) sourceRows {
	if !r.tables.options.Source {
		return sourceRows{}
	}
	if known, ok := r.sources[m]; ok {
		return known
	}
	w := r.tables.w
	x := sourceRows{first: uint32(rows[SourceRow](w))}
	add := func(kind SourceKind, name, text string) {
		if text != "" && len(text) <= maxSourceBytes {
			addRow(w, &SourceRow{kind, name, strings.ToValidUTF8(text, "\uFFFD")})
		}
	}
	add(PTXSource, m.Name, m.Source())
	if read := r.tables.options.ReadSource; read != nil {
		for _, name := range compiledFiles(m) {
			if text, ok := read(name); ok {
				add(CompiledSource, name, text)
			}
		}
	}
	x.end = uint32(rows[SourceRow](w))
	r.sources[m] = x
	return x
}

// compiledFiles returns the names of the files to which the instructions of a module refer, in the order of the first references.
func compiledFiles(m *ptx.Module) (names []string) {
	for _, d := range m.Decls {
		f, ok := d.(*ptx.Func)
		if !ok {
			continue
		}
		for i := range f.Locs {
			if name := m.FileName(f.Locs[i].File); name != "" && f.Locs[i].Line > 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// variableRows adds the variables of a program: of the module and in shared memory, in the frames of functions, and the parameters
// of the kernel.
func (r *Recorder) variableRows(p probe.Program) (x variableRows) {
	w := r.tables.w
	add := func(list []probe.Variable, owner func(v *ptx.Var) string) {
		for _, v := range list {
			shown := *v.Var
			shown.Init, shown.HasInit = nil, false
			addRow(w, &VariableRow{
				Function: owner(v.Var), Name: v.Var.Name, Space: spaceOf(v.Var.Space), Type: v.Var.Type.String(), Bytes: uint64(v.Var.Size()),
				Align: uint32(v.Var.Alignment()), Offset: uint64(v.Offset), Declaration: shown.String(),
			})
		}
	}
	var functions []*ptx.Func
	for i := range p.Len() {
		if _, f := p.At(i); !slices.Contains(functions, f) {
			functions = append(functions, f)
		}
	}
	declaring := func(v *ptx.Var) string {
		for _, f := range functions {
			if slices.Contains(f.Vars, v) {
				return f.Name
			}
		}
		return ""
	}
	x.first = uint32(rows[VariableRow](w))
	add(p.Globals(), declaring)
	add(p.Shared(), declaring)
	for _, f := range functions {
		add(p.Locals(f), func(*ptx.Var) string { return f.Name })
	}
	x.parameters = uint32(rows[VariableRow](w))
	add(p.Params(), func(*ptx.Var) string { return functions[0].Name })
	x.end = uint32(rows[VariableRow](w))
	return x
}

func (r *Recorder) endLaunch(e *probe.Event) {
	c := r.running[e.Launch]
	if c == nil {
		return
	}
	delete(r.running, e.Launch)
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	r.tables.addEnd(c.row, text)
}

// CTA returns the sink that records a CTA.
func (r *Recorder) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.running[l]
	if c == nil {
		return nil
	}
	// Excluded CTAs need a sink, too, because the machine counts only the steps of CTAs with a sink. passes applies the filter.
	return &sink{launchRecording: c, stacks: map[int][]probe.StackEntry{}}
}

// sink records a CTA.
type sink struct {
	*launchRecording

	accesses trace.Accesses
	list     []trace.Access             // scratch space
	texels   []probe.Texel              // texels accessed since the previous OnAfter
	stacks   map[int][]probe.StackEntry // the recorded stack of each warp
	stack    []probe.StackEntry         // scratch space
}

var kinds = map[probe.Events]Kind{
	probe.OnAfter: Instruction, probe.OnBranch: Branch, probe.OnSplit: Split, probe.OnReconverge: Reconverge, probe.OnWait: Wait,
	probe.OnWake: Wake, probe.OnCall: Call, probe.OnReturn: Return, probe.OnExit: Exit, probe.OnCTA: CTABegin, probe.OnCTAEnd: CTAEnd,
	probe.OnWarp: WarpBegin, probe.OnWarpEnd: WarpEnd, probe.OnEffect: Effect, probe.OnTrap: Trap,
}

// kindOfBit has the values of kinds by the number of the event's bit in probe.Events.
var kindOfBit = func() (list [32]Kind) {
	for e, k := range kinds {
		list[bits.TrailingZeros32(uint32(e))] = k
	}
	return list
}()

// OnEvent records an event of the CTA.
func (s *sink) OnEvent(e *probe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case probe.OnAccess:
		s.accesses.Note(e)
		return
	case probe.OnTexels:
		s.texels = append(s.texels, e.Texels...)
		return
	case probe.OnAfter:
		defer func() { s.texels = s.texels[:0] }()
	case probe.OnAlloc, probe.OnFree:
		s.recordMemory(e, s.device)
		return
	}
	t := s.tables
	if !s.passes(e) || !t.hasRoom() {
		return
	}
	kind := kindOfBit[bits.TrailingZeros32(uint32(e.Kind))&31]
	row := EventRow{
		Kind: kind, Launch: s.row, CTA: uint32(e.CTA), Warp: int32(e.Warp), Instruction: s.instructionRow(e.Index),
		Active: e.Active, Lanes: e.Lanes, Depth: uint16(e.Depth), Frame: uint32(e.Local), Reconverge: s.instructionRow(e.Reconverge),
	}
	if e.Step >= 0 { // it is -1 for instructions that are not counted
		s.step = uint64(e.Step)
	}
	row.Step = s.step
	at := addRow(t.w, &row)
	for _, g := range e.Groups {
		addRow(t.w, &GroupRow{at, g.Lanes, s.instructionRow(g.To)})
	}
	for i := range e.Mbarriers {
		u := &e.Mbarriers[i]
		addRow(t.w, &MbarrierRow{at, MbarrierUse(u.Kind), u.Lanes, u.Address, oneIf(u.Completes)})
	}
	switch kind {
	case Wait:
		s.recordWait(e, at)
	case Wake:
		s.recordWait(e, at)
		s.recordResults(e, at, e.Lanes, true)
	case Call:
		addRow(t.w, &CallRow{at, e.Callee.Name})
	case Trap:
		addRow(t.w, &TrapRow{at, e.Trap.Msg})
	case Effect:
		s.recordEffect(e, at)
	case Instruction:
		s.recordInstruction(e, at)
	case Return:
		s.recordResults(e, at, e.Lanes, true)
	}
	// The stack of an instruction that is not counted (Step is -1) is not that of the running warp split.
	if t.options.Stack && (kind == Instruction && e.Step >= 0 || kind == Trap) {
		s.recordStack(e, at)
	}
	t.checkSize()
}

// recordWait records the wait of an event.
func (s *sink) recordWait(e *probe.Event, at uint64) {
	w := &e.Wait
	addRow(s.tables.w, &WaitRow{at, int8(w.Barrier), uint32(w.Threads), w.Members, uint32(w.Generation)})
}

// passes reports whether the filter selects an event.
func (s *sink) passes(e *probe.Event) bool {
	f := &s.tables.options.Filter
	if !f.CTAs.Has(uint64(e.CTA)) || e.Warp >= 0 && !f.Warps.Has(uint64(e.Warp)) {
		return false
	}
	if e.Index < 0 {
		return true
	}
	c := &s.code[e.Index]
	return f.SelectsInstruction(c.Line, c.Class)
}

// recordInstruction records the results and accesses of an executed instruction.
func (s *sink) recordInstruction(e *probe.Event, at uint64) {
	if e.Lanes == 0 {
		return
	}
	s.recordResults(e, at, e.Lanes, false)
	if !s.tables.options.Accesses {
		return
	}
	s.list = s.accesses.Append(s.list[:0], e)
	k := 0
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Lanes&e.Lanes == 0 {
			continue
		}
		s.recordAccess(at, e, a, &s.list[k])
		k++
	}
	s.recordTexels(at, e)
}

// recordTexels records the texels that an instruction has read: the first texel of each lane, the second, and so on.
func (s *sink) recordTexels(at uint64, e *probe.Event) {
	var list []*laneAccess
	var count [64]int // texels of each lane so far
	for i := range s.texels {
		p := &s.texels[i]
		k := count[p.Lane]
		if count[p.Lane]++; k == len(list) {
			list = append(list, &laneAccess{event: at, kind: Load, space: Texture, bytes: uint64(p.Bytes), warpSize: e.Launch.WarpSize})
		}
		a, row := list[k], s.allocationRow(p.Memory, s.device)
		switch {
		case a.lanes == 0:
			a.allocation = row
		case a.allocation != row:
			a.allocation = -1
		}
		a.lanes |= 1 << p.Lane
		a.addr[p.Lane], a.lengths[p.Lane] = p.Memory.Base+p.Offset, uint64(p.Bytes)
	}
	for _, a := range list {
		s.tables.addAccess(a, nil)
	}
}

// recordResults records the registers of an event. Results of instructions such as calls and barriers come with a later event, which is
// deferred.
func (s *sink) recordResults(e *probe.Event, at, lanes uint64, deferred bool) {
	if !s.tables.options.Results || lanes == 0 || e.Instr == nil || trace.IsDeferred(e.Instr) != deferred {
		return
	}
	for i := range e.Writes {
		v := &e.Writes[i]
		d := trace.Value{Bits: trace.BitsOf(v.Type)}
		d.Describe(lanes, v.Low, v.High)
		x := s.tables.addValue(&d)
		addRow(s.tables.w, &ResultRow{at, lanes, s.registers[e.Func][v.Reg], x.class, x.base, x.high, x.stride, x.values})
	}
}

// recordAccess records an access of an instruction: one row for each state space that its lanes reach.
func (s *sink) recordAccess(at uint64, e *probe.Event, a *probe.Access, x *trace.Access) {
	q := laneAccess{event: at, kind: AccessKind(x.Kind), bytes: uint64(a.Bytes), bulk: a.Bulk(), warpSize: e.Launch.WarpSize}
	var lanes [spaceCount]uint64
	var allocations [spaceCount]int32
	var last *probe.Allocation // global memory that contains the address of the lane before
	for m := a.Lanes & e.Lanes; m != 0; m &= m - 1 {
		lane := lowest(m)
		addr, space, alloc := a.Addr[lane], Global, last
		if last == nil || addr-last.Base >= last.Size {
			space, addr, alloc = placeOfLane(a, lane)
		}
		if a.Space == ptx.Param && space == Local { // parameters of a call
			space, q.frame = Param, true
		}
		row := int32(-1)
		if last = nil; space == Global && alloc != nil {
			last, row = alloc, s.allocationRow(alloc, s.device)
			if a.Kind == probe.AccessAtomic && s.tables.options.Memory {
				offset := addr - alloc.Base
				q.left = append(q.left, alloc.Data[offset:][:min(uint64(a.Bytes), alloc.Size-offset)]...)
			}
		}
		if a.Surface {
			space = Surface
		}
		switch {
		case lanes[space] == 0:
			allocations[space] = row
		case allocations[space] != row:
			allocations[space] = -1
		}
		lanes[space] |= 1 << lane
		q.addr[lane], q.lengths[lane] = addr, uint64(a.Length(lane))
	}
	s.tables.addAccesses(&q, lanes, allocations, x)
}

// placeOfLane returns the state space that a lane accesses, the address in it, and the allocation; nil if it is local memory, or if the
// access traps.
func placeOfLane(a *probe.Access, lane int) (Space, uint64, *probe.Allocation) {
	space, alloc, offset, ok := a.PlaceOf(lane)
	if !ok {
		return spaceOf(a.Space), a.Addr[lane], nil
	}
	switch k := spaceOf(space); {
	case k == Global || k == Const:
		return k, a.Addr[lane], alloc
	case k == Shared && alloc != nil:
		return k, alloc.Base - probe.SharedWindow + offset, alloc // includes the rank of the CTA
	default:
		return k, offset, alloc
	}
}

// recordEffect records a stage of an asynchronous operation.
func (s *sink) recordEffect(e *probe.Event, at uint64) {
	x := e.Effect
	addRow(s.tables.w, &EffectRow{at, x.Number, oneIf(x.Issued), oneIf(x.Reads), oneIf(x.Writes), oneIf(x.Arrives), oneIf(x.Bulk), oneIf(x.Reduces), oneIf(x.FurtherDestination)})
	if s.tables.options.Results && len(e.Writes) > 0 && e.Active != 0 {
		s.recordResults(e, at, e.Active, trace.IsDeferred(e.Instr))
	}
	if !s.tables.options.Accesses {
		return
	}
	if x.Issued {
		global := func(a *probe.Allocation) int32 {
			if a == nil || a.Space() != ptx.Global {
				return -1
			}
			return s.allocationRow(a, s.device)
		}
		for i := range x.Segments {
			p := &x.Segments[i]
			if row := (SegmentRow{at, global(p.To), p.ToOffset, uint64(p.Bytes), global(p.From), p.FromOffset, uint64(p.Read)}); row.To >= 0 || row.From >= 0 {
				addRow(s.tables.w, &row)
			}
		}
	}
	s.list = trace.AppendEffectAccesses(s.list[:0], x)
	for i := range s.list {
		s.tables.addLoggedAccess(at, e.Lanes, &s.list[i], e.Launch.WarpSize, false)
	}
}

// oneIf returns 1 if a statement is true, else 0.
func oneIf(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// recordStack records the reconvergence stack of the warp if it has changed.
func (s *sink) recordStack(e *probe.Event, at uint64) {
	s.stack = e.AppendStack(s.stack[:0])
	// The instruction of the running warp split changes at every step, and is in the event.
	if before := s.stacks[e.Warp]; slices.EqualFunc(before, s.stack, func(a, b probe.StackEntry) bool {
		return a.Kind == b.Kind && a.Lanes == b.Lanes && a.Arrived == b.Arrived && a.Depth == b.Depth && (a.Index == b.Index || a.Kind == probe.RunningSplit)
	}) {
		return
	}
	s.stacks[e.Warp] = append(s.stacks[e.Warp][:0], s.stack...)
	for _, x := range s.stack {
		addRow(s.tables.w, &StackRow{at, StackKind(x.Kind), x.Lanes, x.Arrived, s.instructionRow(x.Index), uint16(x.Depth)})
	}
}

// addImage records the contents of an allocation when a launch begins, as far as the limit of all images allows. Equal contents
// are recorded once.
func (t *tables) addImage(launch, allocation uint32, content []byte) {
	if room := t.maxBytes - min(t.imageBytes, t.maxBytes); t.maxBytes > 0 && uint64(len(content)) > room {
		content = content[:room]
		t.imagesCut = true
	}
	sum := sha256.Sum256(content)
	data, ok := t.images[sum]
	if !ok {
		t.imageBytes += uint64(len(content))
		data = t.w.addData(content)
		t.images[sum] = data
	}
	addRow(t.w, &ImageRow{launch, allocation, uint64(len(content)), data})
}
