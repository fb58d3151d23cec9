package cli

// This file is "gemu machine --show cycles", "--show stalls" and "--show readings": machines with a clock.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gemu/machine"
	"gemu/machine/core"
	"gemu/profile"
	"gemu/ptx"
)

var (
	cyclesPart = machinePart{name: "cycles", doc: "cycles of machines with a clock, also with all unknown numbers at either end of their ranges", extra: true, clocked: true, begin: func(in *machineRun) machineView {
		in.addClocks()
		return cyclesView{"cycles", in.clocks}
	}}
	stallsPart = machinePart{name: "stalls", doc: "cycles, and the reasons why schedulers issue no instruction: of each kernel, and of each line on the first machine", extra: true, clocked: true, begin: func(in *machineRun) machineView {
		in.addClocks()
		return stallsView{cyclesView{"stalls", in.clocks}}
	}}
)

// machineClock is a machine with a clock: with its own numbers, and with its readings at the ends of their ranges for the faster and for the
// slower machine.
type machineClock [3]*machine.Clock

// err returns the first error of the machine or of those at the ends of its readings.
func (c *machineClock) err() error {
	for i, m := range c {
		err := m.Err()
		if err != nil && i > 0 {
			err = fmt.Errorf("%s: %w", [...]string{"all readings fast", "all readings slow"}[i-1], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addClocks adds machines with a clock, once.
func (in *machineRun) addClocks() {
	if in.clocks != nil {
		return
	}
	for _, s := range in.specs {
		fast, slow := s.ClockEnds()
		c := machineClock{}
		for i, spec := range []machine.Spec{s, fast, slow} {
			m, err := machine.NewClock(spec, in.flags.Regs)
			if err != nil {
				in.err = errors.Join(in.err, err)
				return
			}
			c[i] = m
			in.feed(m)
			in.data = in.data || m.NeedsData()
			if m.NeedsEncodings() {
				if in.encodings = true; in.flags.From != "" {
					in.err = errors.Join(in.err, errors.New("--with once needs the registers of a run, which a recording does not have: run the kernel instead of --from"))
					return
				}
			}
		}
		in.clocks = append(in.clocks, c)
	}
	in.instructions = true
}

// machineClockJSON is the launches on a machine with a clock.
type machineClockJSON struct {
	Cycles   int64                    `json:"cycles"`          // cycles of all launches
	Fast     int64                    `json:"cycles_fast"`     // the same, with all readings at the end for the faster machine; no lower bound
	Slow     int64                    `json:"cycles_slow"`     // the same, with all readings at the other end; no upper bound
	Counts   core.Counts              `json:"counts"`          // instructions, and sectors in the order of the clock
	Stalls   core.Stalls              `json:"stalls"`          // cycles of all schedulers, by reason
	Warps    *core.ResourceCounts     `json:"warps,omitempty"` // with --with zorua, wlm or static: resources of warps
	Kernels  []machineClockKernelJSON `json:"kernels"`         // kernels, in the order of their first launch
	Lines    []machineClockLineJSON   `json:"lines"`           // lines of the source (or of the PTX) with instructions, in their order
	Readings []machine.Reading        `json:"readings"`        // unknown numbers

	MissingWaits []machineWaitJSON `json:"missing_waits"` // lines at which warps wait at mbarriers in the execution, and not on the machine, because an earlier gemu has written the recording: the cycles may be too few
}

// machineWaitJSON is a line of the source or of the PTX at which warps wait at mbarriers.
type machineWaitJSON struct {
	File string `json:"file"` // file name in .file, or of the PTX
	Line int    `json:"line"` // number of the line, from 1 on
}

// machineClockKernelJSON is the launches of a kernel.
type machineClockKernelJSON struct {
	Kernel   string      `json:"kernel"`   // name of the kernel
	Launches int64       `json:"launches"` // number of launches
	Cycles   int64       `json:"cycles"`   // their cycles
	Stalls   core.Stalls `json:"stalls"`   // cycles of all schedulers, by reason
}

// machineClockLineJSON is a line of the source or of the PTX.
type machineClockLineJSON struct {
	File   string      `json:"file"`   // file name in .file, or of the PTX
	Line   int         `json:"line"`   // number of the line, from 1 on
	Stalls core.Stalls `json:"stalls"` // cycles of schedulers of the instructions of the line; idle is 0
	Causes int64       `json:"causes"` // cycles of data, of any line, in which warps wait for a result of this line, or for the end of its branch or barrier
	Full   core.Full   `json:"full"`   // cycles of memory, of any line, in which the memory unit serves this line, by the reason why it takes no other

	classes map[core.Class]int64 // executed instructions, by class
	causes  map[string]int64     // Causes, by the text of causeText
}

// cyclesView is the cycles of the machines.
type cyclesView struct {
	part   string // name of the part, which a machine that refuses a launch does not have
	clocks []machineClock
}

func (v cyclesView) addJSON(r *machineReport) error {
	return r.addEach(v.part, len(v.clocks), func(i int) error { return v.clocks[i].err() }, func(i int) {
		r.Machines[i].Clock = r.clockOf(&v.clocks[i], &r.specs[i])
	})
}

// firstClock returns the first machine with a clock that has refused no launch.
func (r *machineReport) firstClock() *machineResultJSON {
	return &r.Machines[slices.IndexFunc(r.Machines, func(m machineResultJSON) bool { return m.Clock != nil })]
}

// clockOf sums the launches on a machine with a clock.
func (r *machineReport) clockOf(c *machineClock, s *machine.Spec) *machineClockJSON {
	reported := func(m *machine.Clock) []*core.Launch {
		list := m.Launches()
		if r.flags.Launch > 0 {
			return list[r.flags.Launch-1 : r.flags.Launch]
		}
		return list
	}
	out := &machineClockJSON{MissingWaits: []machineWaitJSON{}, Kernels: []machineClockKernelJSON{}, Lines: []machineClockLineJSON{}, Readings: append([]machine.Reading{}, s.Readings()...)}
	for _, l := range reported(c[1]) {
		out.Fast += l.Cycles
	}
	for _, l := range reported(c[2]) {
		out.Slow += l.Cycles
	}
	lines := map[machinePlace]*machineClockLineJSON{}
	for _, l := range reported(c[0]) {
		out.Cycles += l.Cycles
		out.Counts.Add(&l.Counts)
		out.Stalls.Add(&l.Stalls)
		if l.Resources != nil {
			if out.Warps == nil {
				out.Warps = &core.ResourceCounts{}
			}
			out.Warps.Add(l.Resources)
		}
		k := slices.IndexFunc(out.Kernels, func(k machineClockKernelJSON) bool { return k.Kernel == l.Kernel.Name })
		if k < 0 {
			k = len(out.Kernels)
			out.Kernels = append(out.Kernels, machineClockKernelJSON{Kernel: l.Kernel.Name})
		}
		out.Kernels[k].Launches++
		out.Kernels[k].Cycles += l.Cycles
		out.Kernels[k].Stalls.Add(&l.Stalls)
		for i := range l.Instrs {
			x := &l.Instrs[i]
			if x.Active == 0 {
				continue
			}
			instr, f := l.Program.At(i)
			frame := profile.Frames(f, instr, r.flags.PTX)[0]
			at := machinePlace{frame.File, frame.Line}
			if l.UnknownPhases[i] {
				if wait := (machineWaitJSON{at.file, at.line}); !slices.Contains(out.MissingWaits, wait) {
					out.MissingWaits = append(out.MissingWaits, wait)
				}
			}
			if r.addText(l.Module, at); !r.flags.Lines.has(at) {
				continue
			}
			if lines[at] == nil {
				lines[at] = &machineClockLineJSON{File: at.file, Line: at.line, classes: map[core.Class]int64{}, causes: map[string]int64{}}
			}
			lines[at].Stalls.Add(&x.Stalls)
			lines[at].Causes += x.Causes
			lines[at].causes[causeText(instr)] += x.Causes
			lines[at].Full.Add(&x.Full)
			lines[at].classes[core.ClassOf(instr)] += x.Active
		}
	}
	for _, l := range lines {
		out.Lines = append(out.Lines, *l)
	}
	slices.SortFunc(out.Lines, func(a, b machineClockLineJSON) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// ipc returns the instructions in a cycle of the whole machine.
func (c *machineClockJSON) ipc() float64 {
	if c.Cycles == 0 {
		return 0
	}
	return float64(c.Counts.Instructions) / float64(c.Cycles)
}

// ratioText compares the cycles of a machine with those of the first: the ratio, with the lowest and the highest of it and of those with all
// readings at either end.
func (c *machineClockJSON) ratioText(first *machineClockJSON) string {
	if first.Cycles == 0 || first.Fast == 0 || first.Slow == 0 {
		return "-"
	}
	own, fast, slow := float64(c.Cycles)/float64(first.Cycles), float64(c.Fast)/float64(first.Fast), float64(c.Slow)/float64(first.Slow)
	text := fmt.Sprintf("%.3f (%.3f to %.3f)", own, min(own, fast, slow), max(own, fast, slow))
	if min(own, fast, slow) < 1 && max(own, fast, slow) > 1 {
		text += ", undecided"
	}
	return text
}

// cyclesCells returns the cells of a machine.
func (r *machineReport) cyclesCells(i int) []string {
	c := r.Machines[i].Clock
	cells := []string{countText(c.Cycles), countText(c.Fast), countText(c.Slow), countText(c.Counts.Instructions), fmt.Sprintf("%.2f", c.ipc()),
		countOrDash(c.Counts.Loads, percentText(share(c.Counts.Hits, c.Counts.Loads), 1)+" %"), countOrDash(c.Counts.Loads, percentText(share(c.Counts.InFlight, c.Counts.Loads), 1)+" %")}
	if len(r.Machines) > 1 {
		cells = append(cells, c.ratioText(r.firstClock().Clock))
	}
	return cells
}

// cyclesColumns are the columns of the cycles.
var cyclesColumns = []pageHead{
	{Name: "cycles", Doc: "cycles of all launches"}, {Name: "all fast", Doc: "the same with all readings at the end for the faster machine; no lower bound"}, {Name: "all slow", Doc: "the same with all readings at the other end; no upper bound"},
	{Name: "instructions", Doc: "executed instructions of warps"}, {Name: "IPC", Doc: "instructions of all multiprocessors in a cycle"},
	{Name: "L1 hits", Doc: "share of the loaded sectors that the L1 has, in the order of the clock"}, {Name: "in flight", Doc: "share of the loaded sectors that have been requested and have not arrived"},
}

// ratioHead is the column of the cycles by those of the first machine.
var ratioHead = pageHead{Name: "by the first", Doc: "cycles by those of the first machine that has values, with the lowest and the highest of this ratio and of those with all readings at either end; undecided if one is above 1 and one below"}

func (v cyclesView) print(r *machineReport, s *screen) {
	s.heading("cycles")
	r.printMachines(s, v.part, cyclesColumns, 13, ratioHead.Name, r.cyclesCells)
	r.printWarps(s)
	if hint := r.readingsHint(); hint != "" {
		s.printf("%s\n", s.paint(dim, hint))
	}
	if text := r.missingWaitsText(); text != "" {
		for _, line := range wrap(text, 120) {
			s.printf("%s\n", line)
		}
	}
}

// printWarps prints the resources of warps of the machines that give them.
func (r *machineReport) printWarps(s *screen) {
	for i := range r.Machines {
		if r.Machines[i].Clock == nil || r.Machines[i].Clock.Warps == nil {
			continue
		}
		w := r.Machines[i].Clock.Warps
		text := fmt.Sprintf("%s: %.1f schedulable warps of a multiprocessor", r.Machines[i].Name, w.Warps())
		if w.Registers.Accesses > 0 {
			text += fmt.Sprintf("; %s of accesses to registers and %s of those to shared memory hit; %s moved to memory, %s back, and %s of warps; threshold at most %d %%",
				percentText(100*w.Registers.Rate(), 1)+" %", percentText(100*w.Shared.Rate(), 1)+" %", counted(int(w.Spilled), "set"), countText(w.Reloaded), counted(int(w.Stored), "state"), w.Threshold)
		}
		for _, line := range wrap(text, 120) {
			s.printf("%s\n", line)
		}
	}
}

// missingWaitsText names the lines at which the first machine does not wait; "" if there are none.
func (r *machineReport) missingWaitsText() string {
	const most = 6
	list := r.firstClock().Clock.MissingWaits
	if len(list) == 0 {
		return ""
	}
	var places []string
	for _, w := range list[:min(len(list), most)] {
		places = append(places, fmt.Sprintf("%s:%d (mbarrier)", filepath.Base(w.File), w.Line))
	}
	if len(list) > most {
		places = append(places, fmt.Sprintf("and %d more lines", len(list)-most))
	}
	return "The machine does not wait at " + strings.Join(places, ", ") + ": the cycles may be too few."
}

// printMachines prints the table of a part with a row for each machine: cells of a width below columns, and, if there are several machines, a further cell
// below further.
func (r *machineReport) printMachines(s *screen, part string, columns []pageHead, width int, further string, cells func(machine int) []string) {
	names := 0
	for i := range r.Machines {
		names = max(names, len(r.Machines[i].Name))
	}
	row := func(first string, cells []string) (text string) {
		text = fitted(first, names)
		for i, cell := range cells {
			if i < len(columns) {
				text += fitted(cell, -width)
			} else {
				text += "  " + cell
			}
		}
		return text
	}
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.Name)
	}
	if further != "" && len(r.Machines) > 1 {
		heads = append(heads, further)
	}
	s.printf("%s\n", s.paint(dim, row("", heads)))
	for i := range r.Machines {
		if reason := r.Machines[i].refusal(part); reason != "" {
			s.printRefusal(r.Machines[i].Name, names, reason)
			continue
		}
		s.printf("%s\n", row(r.Machines[i].Name, cells(i)))
	}
}

// page returns the cycles of the machines.
func (v cyclesView) page(r *machineReport) []pageSection {
	b := pageBlock{Title: "Cycles of all launches", Notes: []string{}, Bars: &pageBars{Series: []string{"cycles"}}, Table: &pageTable{Head: append([]pageHead{{Name: "machine", Text: true}}, cyclesColumns...)}}
	if len(r.Machines) > 1 {
		b.Table.Head = append(b.Table.Head, ratioHead)
	}
	for i := range r.Machines {
		if b.addRefusal(&r.Machines[i], v.part) {
			continue
		}
		c := r.Machines[i].Clock
		b.Bars.addBar(r.Machines[i].Name, countText(c.Cycles), float64(c.Cycles))
		b.Table.Rows = append(b.Table.Rows, append([]string{r.Machines[i].Name}, r.cyclesCells(i)...))
	}
	if text := r.missingWaitsText(); text != "" {
		b.Notes = append(b.Notes, text)
	}
	return []pageSection{{"Cycles", []string{}, append([]pageBlock{b}, r.readingsBlocks()...)}}
}

// stallsView is the cycles of the machines, and the reasons of the first.
type stallsView struct{ cyclesView }

// stallColumns are the reasons.
var stallColumns = []struct {
	name, doc string
	value     func(s *core.Stalls) int64
}{
	{"active", "an instruction is issued", func(s *core.Stalls) int64 { return s.Active }},
	{"compute", "a warp could issue, but its unit is busy", func(s *core.Stalls) int64 { return s.Compute }},
	{"memory", "a warp could issue, but the memory unit is full", func(s *core.Stalls) int64 { return s.Memory }},
	{"data", "a warp waits for a result", func(s *core.Stalls) int64 { return s.Data }},
	{"barrier", "all warps wait at barriers, or have ended", func(s *core.Stalls) int64 { return s.Barrier }},
	{"idle", "there is no warp", func(s *core.Stalls) int64 { return s.Idle }},
}

// stallsCells returns the reasons as shares of a total.
func stallsCells(c *core.Stalls, total int64) (cells []string) {
	for i := range stallColumns {
		n := stallColumns[i].value(c)
		cells = append(cells, countOrDash(n, percentText(share(n, total), 1)+" %"))
	}
	return cells
}

// linesByStalls returns the lines of the first machine, those with the most lost cycles first. A line loses the cycles in which its
// instructions cannot issue, apart from waits for results and for the memory unit, those in which warps wait for its results, and those in
// which the memory unit is full and serves it.
func (r *machineReport) linesByStalls() []machineClockLineJSON {
	list := slices.Clone(r.firstClock().Clock.Lines)
	slices.SortStableFunc(list, func(a, b machineClockLineJSON) int { return cmp.Compare(b.lost(), a.lost()) })
	return list
}

// lost returns the cycles that a line loses.
func (l *machineClockLineJSON) lost() int64 {
	return l.Stalls.Compute + l.Stalls.Barrier + l.Causes + l.Full.Total()
}

// causeText says for which effect of an instruction warps wait, and what would shorten or hide the wait.
func causeText(instr *ptx.Instr) string {
	class := core.ClassOf(instr)
	if space, _ := instr.Space(); space == ptx.Param || space == ptx.Const { // without requests
		class = core.Constant
	}
	switch {
	case instr.Form.Effects.HasAll(ptx.Barrier | ptx.Waits):
		return "warps wait for the end of this barrier, after the last warp has arrived. More resident CTAs hide the wait; fewer barriers shorten it."
	case class == core.Control:
		return "warps wait until this line (control) has ended and the next instruction is known. More resident warps hide the wait; fewer branches shorten it, as in an unrolled loop."
	case class == core.Memory && instr.Form.Effects.Any(ptx.Reads):
		return "warps wait for data that this line loads. More resident warps hide the wait, as do other instructions between the load and its use; fewer sectors shorten it (--show limits)."
	}
	return fmt.Sprintf("warps wait for a result of this line (%s). More resident warps hide the wait, as do independent instructions between it and its use.", class)
}

// limits says what limits a line, and what would change it. total is the cycles of all schedulers.
func (l *machineClockLineJSON) limits(c *machineClockJSON) (list []string) {
	total := c.Stalls.Total()
	add := func(n int64, format string, args ...any) {
		if n*200 >= total { // at least half a percent
			list = append(list, percentText(share(n, total), 1)+" %: "+fmt.Sprintf(format, args...))
		}
	}
	class := core.Constant // as are memory instructions without an access to global or shared memory
	for k := range core.Memory {
		if l.classes[k] > l.classes[class] {
			class = k
		}
	}
	for _, text := range slices.SortedFunc(maps.Keys(l.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.causes[b], l.causes[a]), cmp.Compare(a, b))
	}) {
		add(l.causes[text], "%s", text)
	}
	add(l.Stalls.Compute, "the unit of its instructions (%s) is busy. Fewer of these instructions, or cheaper ones, help.", class)
	add(l.Full.Banks, "the memory unit is full while it passes over the banks of shared memory for this line: let the lanes of a warp access other banks (gemu profile counts the conflicts), or fewer words.")
	add(l.Full.Queue, "the memory unit is full while this line waits for the memory behind the L1, which takes no more requests: fewer sectors help (--show limits).")
	add(l.Full.MSHRs, "the memory unit is full while this line waits for an MSHR of the L1: fewer misses help, or more entries (--sweep l1.mshrs=N,… or l1.merges=N,…).")
	add(l.Full.Lines, "the memory unit is full while it takes the lines that this line accesses, one in a cycle for each port: let the lanes of a warp access fewer lines.")
	add(l.Stalls.Barrier, "all warps of a scheduler wait at this barrier. CTAs with fewer warps, of which more are resident, go on while others wait; equal work between barriers shortens the wait.")
	return list
}

// idleText says why schedulers have no warp; "" if few have none.
func idleText(c *machineClockJSON) string {
	if c.Stalls.Idle*20 < c.Stalls.Total() {
		return ""
	}
	return percentText(share(c.Stalls.Idle, c.Stalls.Total()), 1) + " % idle: multiprocessors or schedulers without a warp. The grid has too few CTAs for the machine, they end at different times, or a CTA has fewer warps than a multiprocessor has schedulers."
}

// stallsTitle is the title of the lines.
const stallsTitle = "what limits the lines in which schedulers lose the most cycles"

func (v stallsView) print(r *machineReport, s *screen) {
	if !slices.Contains(r.flags.Show, cyclesPart.name) {
		v.cyclesView.print(r, s)
	}
	first := r.firstClock()
	c := first.Clock
	s.heading("cycles of the schedulers of " + first.Name)
	header := fitted("cycles", -12)
	for i := range stallColumns {
		header += fitted(stallColumns[i].name, -9)
	}
	s.printf("%s\n", s.paint(dim, header))
	row := func(first string, stalls *core.Stalls, total int64, name string) {
		text := first
		for _, cell := range stallsCells(stalls, total) {
			text += fitted(cell, -9)
		}
		s.printf("%s  %s\n", text, s.cutToFit(name, len(text)+2))
	}
	for i := range c.Kernels {
		k := &c.Kernels[i]
		row(fitted(countText(k.Cycles), -12), &k.Stalls, k.Stalls.Total(), k.Kernel)
	}
	list := r.linesByStalls()
	s.heading("lines, as shares of the cycles of all schedulers")
	s.printf("%s\n", s.paint(dim, fitted("waited for", -12)+fitted("fills", -9)+header[12:]))
	for i := range list {
		if i == r.flags.Top {
			s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top)", len(list)-i)))
			break
		}
		l := &list[i]
		causes, fills := l.blamedCells(c.Stalls.Total())
		row(fitted(causes, -12)+fitted(fills, -9), &l.Stalls, c.Stalls.Total(), l.place()+"  "+r.texts[machinePlace{l.File, l.Line}])
	}
	s.heading(stallsTitle)
	for i := range list[:min(len(list), r.flags.Top)] {
		l := &list[i]
		limits := l.limits(c)
		if len(limits) == 0 {
			continue
		}
		s.printf("%s  %s\n", l.place(), s.cutToFit(r.texts[machinePlace{l.File, l.Line}], 30))
		for _, limit := range limits {
			for k, line := range wrap(limit, 100) {
				s.printf("%s%s\n", []string{"  - ", "    "}[min(k, 1)], line)
			}
		}
	}
	if text := idleText(c); text != "" {
		for _, line := range wrap(text, 100) {
			s.printf("%s\n", line)
		}
	}
}

// blamedCells returns the cycles that the line causes at any line, as shares of a total: waits for its results, and a full memory unit.
func (l *machineClockLineJSON) blamedCells(total int64) (causes, fills string) {
	cell := func(n int64) string { return countOrDash(n, percentText(share(n, total), 1)+" %") }
	return cell(l.Causes), cell(l.Full.Total())
}

// place names the line.
func (l *machineClockLineJSON) place() string {
	return fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)
}

// page returns the cycles, the reasons of kernels, and those of lines.
func (v stallsView) page(r *machineReport) (list []pageSection) {
	if !slices.Contains(r.flags.Show, cyclesPart.name) {
		list = v.cyclesView.page(r)
	}
	first := r.firstClock()
	c := first.Clock
	var series []string
	head := []pageHead{{Name: "kernel", Text: true}, {Name: "cycles"}}
	lineHead := []pageHead{{Name: "line", Text: true}, {Name: "waited for", Doc: "share of the cycles in which warps wait for a result of the line, or for the end of its branch or barrier"}, {Name: "fills", Doc: "share of the cycles in which the memory unit is full and serves the line"}}
	for i := range stallColumns {
		series = append(series, stallColumns[i].name)
		h := pageHead{Name: stallColumns[i].name, Doc: stallColumns[i].doc}
		head, lineHead = append(head, h), append(lineHead, h)
	}
	kernels := pageBlock{Title: "Cycles of the schedulers of " + first.Name, Notes: []string{}, Bars: &pageBars{Series: series}, Table: &pageTable{Head: head}}
	for i := range c.Kernels {
		k := &c.Kernels[i]
		var values []float64
		for j := range stallColumns {
			values = append(values, float64(stallColumns[j].value(&k.Stalls)))
		}
		kernels.Bars.addBar(k.Kernel, countText(k.Cycles), values...)
		kernels.Table.Rows = append(kernels.Table.Rows, append([]string{k.Kernel, countText(k.Cycles)}, stallsCells(&k.Stalls, k.Stalls.Total())...))
	}
	if text := idleText(c); text != "" {
		kernels.Notes = append(kernels.Notes, text)
	}
	lines := pageBlock{Title: "Lines, as shares of the cycles of all schedulers", Notes: []string{}, Table: &pageTable{Head: lineHead}}
	limits := pageBlock{Title: capitalized(stallsTitle), Notes: []string{}}
	for i, l := range r.linesByStalls() {
		if i == r.flags.Top {
			lines.Notes = append(lines.Notes, fmt.Sprintf("%d more lines lose fewer cycles (--top).", len(c.Lines)-i))
			break
		}
		text := r.texts[machinePlace{l.File, l.Line}]
		causes, fills := l.blamedCells(c.Stalls.Total())
		lines.Table.Rows = append(lines.Table.Rows, append([]string{l.place() + "  " + text, causes, fills}, stallsCells(&l.Stalls, c.Stalls.Total())...))
		if advice := l.limits(c); len(advice) > 0 {
			limits.Texts = append(limits.Texts, pageTexts{l.place(), text, advice})
		}
	}
	return append(list, pageSection{"Reasons of lost cycles", []string{}, []pageBlock{kernels, lines, limits}})
}
