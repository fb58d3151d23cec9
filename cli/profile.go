package cli

// This file is "gemu profile": counts of a kernel's instructions by line, by loop and by function, as text, as
// JSON and for pprof.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/internal/document"
	"gemu/internal/strip"
	"gemu/interp"
	"gemu/occupancy"
	"gemu/probe"
	"gemu/profile"
	"gemu/ptx"
	"gemu/structure"
)

type profileCmd struct {
	launchFlags
	policyFlag

	Policy string   `default:"ideal" help:"Value policy: the rules by which a value counts as compact. One of:${policies}" placeholder:"NAME"`
	Show   []string `default:"summary,lines,loops,calls,occupancy" enum:"summary,lines,loops,calls,occupancy,cliffs" help:"Parts to print: summary, lines, loops, calls, occupancy, cliffs (resident warps by threads and registers, and the next changes of them)." placeholder:"PART"`
	PTX    bool     `name:"ptx" help:"Show the lines of the PTX, even if the PTX names the lines of the source from which it was compiled."`
	Lines  bool     `help:"Print all lines, in the order of the source, instead of the first lines by --sort."`
	Top    int      `default:"10" help:"Print at most N lines and N loops." placeholder:"N"`
	profileSortFlag
	Regs     int    `help:"Number of registers of a thread, for the occupancy. PTX does not contain it; NVIDIA's ptxas -v prints it." unset:".maxnreg of the kernel, else registers are no limit, and cliffs are those of an estimate" placeholder:"N"`
	Timeline string `help:"Write a timeline for Perfetto or chrome://tracing to FILE." placeholder:"FILE"`
	SVG      string `name:"svg" help:"Write a picture of the accesses of the first warp to FILE (- for standard output, instead of the text): the sectors of global memory and the banks of shared memory that its lanes need." placeholder:"FILE"`
	Pprof    string `help:"Write a profile for \"go tool pprof\" to FILE." placeholder:"FILE"`
	reportFlags
}

func (c *profileCmd) outputs() outputs {
	return append(c.reportFlags.outputs(), outputs{{"--pprof", c.Pprof}, {"--timeline", c.Timeline}, {"--svg", c.SVG}}...)
}

// profileSortFlag chooses the sort order of a profile.
type profileSortFlag struct {
	Sort string `default:"instructions" enum:"${profileorders}" help:"Sort the profile by this count, the largest first. One of:${profileorderdocs}" placeholder:"COUNT"`
}

// order returns the count by which the profile is sorted.
func (f profileSortFlag) order(c *profile.Counts) int64 {
	for _, o := range profileOrders {
		if o.name == f.Sort {
			return o.value(c)
		}
	}
	panic("BUG: sorted by " + f.Sort)
}

// profileOrders are the sort orders of lines. doc describes the count, for --help.
var profileOrders = []struct {
	name, doc string
	value     func(c *profile.Counts) int64
}{
	{"instructions", "executions by warps", func(c *profile.Counts) int64 { return c.Execs }},
	{"lanes", "executions by threads", func(c *profile.Counts) int64 { return c.Lanes }},
	{"divergence", "executions while the warp was diverged", func(c *profile.Counts) int64 { return c.Diverged }},
	{"sectors", "sectors of global memory that were accessed", (*profile.Counts).Sectors},
	{"excess", "accessed sectors beyond those that perfect coalescing needs", (*profile.Counts).Excess},
	{"conflicts", "further passes of shared memory, by bank conflicts", (*profile.Counts).Conflicts},
}

// checkRegisters returns an error about --regs if n is no number of registers of a thread.
func checkRegisters(n int) error {
	if n < 0 || n > occupancy.MaxRegisters {
		return fmt.Errorf("--regs %d: want 1 to %d registers of a thread, or 0 for an unknown number", n, occupancy.MaxRegisters)
	}
	return nil
}

// profileOrderNames lists the names of the sort orders.
func profileOrderNames() string {
	var names []string
	for _, o := range profileOrders {
		names = append(names, o.name)
	}
	return strings.Join(names, ",")
}

func (c *profileCmd) Run(a *app) error {
	policy, err := parsePolicy(c.Policy)
	if err != nil {
		return err
	}
	if err := checkMinimums(minimum{"--top", int64(c.Top), 0}); err != nil {
		return err
	}
	if err := checkRegisters(c.Regs); err != nil {
		return err
	}
	sm := cmp.Or(c.SM, interp.DefaultSM)
	if most := occupancy.LimitsOf(sm).PerThread; slices.Contains(c.Show, "cliffs") && c.Regs > most {
		return fmt.Errorf("--regs %d: a thread has at most %d registers on sm_%d, so no block of them fits; take another --sm, or fewer registers", c.Regs, most, sm)
	}
	if err := c.outputs().check(); err != nil {
		return err
	}
	observer := profile.New()
	probes := []probe.Probe{observer}
	var timeline *profile.Timeline
	if c.Timeline != "" {
		timeline = profile.NewTimeline()
		probes = append(probes, timeline)
	}
	accesses := strip.NewAccessRecorder()
	if c.SVG != "" {
		probes = append(probes, accesses)
	}
	j, err := c.open(a, dataOf(a.stderr), probes...) // standard output is reserved for the report
	if err != nil {
		return err
	}
	runErr := j.structure(a, policy, a.reconverger(c.Reconverge))
	p := observer.Profile()
	if runErr != nil {
		trap := (*probe.Trap)(nil)
		if len(j.results) == 0 || !errors.As(p.Err, &trap) {
			return runErr
		}
		// A trapped launch has a profile, too, and then the error; its structure was not counted.
		if last := j.results[len(j.results)-1]; last.Structure == nil {
			last.Structure = &structure.Structure{Policy: policy, Lanes: make([]int64, last.WarpSize+1)}
		}
	}
	r := newProfileReport(c, j, p)
	r.plain = a.isPlain()
	if slices.Contains(c.Show, "cliffs") {
		if err := r.findCliffs(a); err != nil {
			return all(runErr, err)
		}
	}
	for _, o := range []struct {
		name string
		make func() ([]byte, error)
	}{{c.Pprof, r.pprof}, {c.Timeline, func() ([]byte, error) { return draw(a, timeline) }}, {c.SVG, func() ([]byte, error) {
		list, more := accesses.Accesses()
		return strip.AccessSVG("accesses of the first warp of "+filepath.Base(c.File), list, more), nil
	}}} {
		if o.name == "" {
			continue
		}
		b, err := o.make()
		if err == nil {
			err = writeOutput(a, o.name, b)
		}
		runErr = all(runErr, err)
	}
	err = c.reportFlags.write(a, func() ([]byte, error) { return r.page(newStructureReport(j)) }, func() any { return r.json() })
	if !c.outputs().stdout() {
		r.print(newScreen(a.stdout))
	}
	return all(runErr, err)
}

// pprof returns the profile in pprof's format, with the paths of the source files that were found.
func (r *profileReport) pprof() ([]byte, error) {
	out := r.profile.Pprof(r.flags.PTX)
	for _, f := range out.Function {
		f.Filename = r.sources.Path(f.Filename)
	}
	var b bytes.Buffer
	err := out.Write(&b)
	return b.Bytes(), err
}

// draw draws the timeline, and reports omitted parts.
func draw(a *app, t *profile.Timeline) ([]byte, error) {
	if left := t.Omitted(); left != "" {
		fmt.Fprintf(a.stderr, "gemu: --timeline: %s\n", left)
	}
	var b bytes.Buffer
	err := t.Write(&b)
	return b.Bytes(), err
}

// profileReport is the content of a report.
type profileReport struct {
	document.Launch
	flags   *profileCmd
	groups  []document.Group
	profile *profile.Profile
	total   profile.Counts
	classes map[*ptx.Instr]affinetrack.ClassCounts // classes of the results of each instruction
	lines   []*profile.Line
	loops   []*profile.Loop
	blocks  []document.Block
	cliffs  []blockCliffs // blocks whose cliffs are shown
	plain   bool          // standard output is plain text
	sources sourceFiles
}

func newProfileReport(c *profileCmd, j *job, p *profile.Profile) *profileReport {
	all := j.total()
	r := &profileReport{
		Launch: j.facts(), flags: c, groups: j.groups(), profile: p, total: p.Total(), classes: document.ClassesOf(all.Structure), blocks: document.Blocks(p, c.Regs),
		lines: p.Lines(c.PTX), loops: p.Loops(), sources: sourceFiles{j.sources},
	}
	return r
}

// hottest returns the first elements of a list, at most top, by the order, without elements whose count is 0.
func hottest[T any](f profileSortFlag, top int, list []T, of func(T) *profile.Counts) []T {
	var out []T
	for _, l := range list {
		if f.order(of(l)) > 0 {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(f.order(of(b)), f.order(of(a))) })
	return out[:min(len(out), top)]
}

// trappedText marks a report if the last launch has trapped.
const trappedText = "the launch trapped: counts up to the trap, without value structure"

// print writes the parts of the report to a screen.
func (r *profileReport) print(s *screen) {
	s.printf("%s: warps of %d\n", r.File, r.Warp)
	for _, g := range r.groups {
		s.printf("  kernel %s\n", g)
	}
	if r.profile.Err != nil {
		s.printf("  %s\n", trappedText)
	}
	for _, p := range r.flags.Show {
		switch p {
		case "summary":
			r.printSummary(s)
		case "lines":
			r.printLines(s)
		case "loops":
			r.printLoops(s)
		case "calls":
			r.printCalls(s)
		case "occupancy":
			r.printOccupancy(s)
		case "cliffs":
			r.printCliffs(s)
		}
	}
}

// printSummary prints totals of the launches.
func (r *profileReport) printSummary(s *screen) {
	row := func(name, format string, args ...any) {
		s.printf("%s%s\n", fitted(name, 18), fmt.Sprintf(format, args...))
	}
	t := &r.total
	s.heading("summary")
	row("instructions", "%s by warps, %s by threads, %.1f of %d lanes", countText(t.Execs), countText(t.Lanes), t.MeanLanes(), r.Warp)
	row("branches", "%s, %s divergent; %s %% of instructions while the warp was diverged", countText(t.Branches), countText(t.Divergent), percentText(share(t.Diverged, t.Execs), 1))
	for _, m := range []struct {
		name string
		*profile.Traffic
	}{{"global memory", &t.Global}, {"local memory", &t.Local}} {
		if m.Requests > 0 {
			row(m.name, "%s, %.1f sectors and %.1f lines each, %s %% efficient", requests(m.Requests), m.SectorsPerRequest(), m.LinesPerRequest(), percentText(100*m.Efficiency(), 1))
		}
	}
	for _, m := range []struct {
		name string
		*profile.Banked
	}{{"shared memory", &t.Shared}, {"constant memory", &t.Constant}} {
		if m.Requests > 0 {
			row(m.name, "%s, %.1f passes each, %s conflicts", requests(m.Requests), m.PassesPerRequest(), countText(m.Conflicts()))
		}
	}
	if n := t.Global.Atomics + t.Shared.Atomics; n > 0 {
		row("atomics", "%s, %.1f lanes at the most common address on average", requests(n), float64(t.Global.SameAddress+t.Shared.SameAddress)/float64(n))
	}
	if t.Texture > 0 {
		row("textures", "%s", requests(t.Texture))
	}
}

// requests formats a number of memory requests.
func requests(n int64) string { return countText(n) + " request" + plural(int(min(n, 2))) }

// profileColumn is a column of counts of a line or loop.
type profileColumn struct {
	name  string
	width int
	doc   string
	text  func(c *profile.Counts, total *profile.Counts) string
}

// profileColumns are the columns: first three about executions, then columns about divergence and memory.
var profileColumns = []profileColumn{
	{"execs", 7, "number of executions by warps", func(c, _ *profile.Counts) string { return countText(c.Execs) }},
	{"share", 8, "share of all executions", func(c, t *profile.Counts) string { return percentText(share(c.Execs, t.Execs), 1) + " %" }},
	{"lanes", 6, "mean number of executing lanes", func(c, _ *profile.Counts) string { return fmt.Sprintf("%.1f", c.MeanLanes()) }},
	{"splits", 7, "executions of branches that diverged", func(c, _ *profile.Counts) string { return countOrDash(c.Branches, countText(c.Divergent)) }},
	{"sect/req", 9, "mean sectors of 32 bytes for a request to global or local memory", func(c, _ *profile.Counts) string {
		m := c.Device()
		return countOrDash(m.Requests, fmt.Sprintf("%.1f", m.SectorsPerRequest()))
	}},
	{"effic", 7, "least number of sectors for the accessed bytes, in percent of the accessed sectors", func(c, _ *profile.Counts) string {
		m := c.Device()
		return countOrDash(m.Requests, percentText(100*m.Efficiency(), 0)+" %")
	}},
	{"conflicts", 10, "additional passes over the banks of shared or constant memory because of conflicts", func(c, _ *profile.Counts) string {
		return countOrDash(c.Shared.Requests+c.Constant.Requests, countText(c.Conflicts()))
	}},
}

// profileWidth is the width of all columns together.
var profileWidth = func() (n int) {
	for _, c := range profileColumns {
		n += c.width
	}
	return n
}()

// cutToFit cuts a text to the remaining width of a line after a number of columns, but not below 40.
func (s *screen) cutToFit(text string, columns int) string {
	if s.width == 0 {
		return text
	}
	return cut(text, max(s.width-columns, 40))
}

// countOrDash returns the text, or "-" if the count is 0.
func countOrDash(n int64, text string) string {
	if n == 0 {
		return "-"
	}
	return text
}

// profileColumnsOf formats counts as columns. total has the counts of all instructions.
func profileColumnsOf(c, total *profile.Counts) string {
	var b strings.Builder
	for _, col := range profileColumns {
		b.WriteString(fitted(col.text(c, total), -col.width))
	}
	return b.String()
}

// profileHead writes the names of the columns, and more.
func (s *screen) profileHead(more string) {
	var b strings.Builder
	for _, col := range profileColumns {
		b.WriteString(fitted(col.name, -col.width))
	}
	s.printf("%s\n", s.paint(dim, b.String()+more))
}

// class returns the classes of the results of a line.
func (r *profileReport) class(l *profile.Line) affinetrack.ClassCounts {
	return document.LineClasses(l, r.classes)
}

// text returns the text of a line of the source, or of the PTX.
func (r *profileReport) text(l *profile.Line) string {
	if m := l.Instrs[0].Func.Module(); l.File == m.Name {
		return strings.Join(strings.Fields(m.Line(l.Line)), " ")
	}
	return r.sources.text(l.File, l.Line)
}

// printLines prints lines with their counts.
func (r *profileReport) printLines(s *screen) {
	list := r.lines
	if r.flags.Lines {
		s.heading("lines")
	} else {
		s.heading("lines with the most " + r.flags.Sort)
		list = hottest(r.flags.profileSortFlag, r.flags.Top, list, func(l *profile.Line) *profile.Counts { return &l.Counts })
	}
	if len(list) == 0 {
		s.printf("none\n")
		return
	}
	// If all lines are in the same file, its name is printed once.
	several := slices.ContainsFunc(list, func(l *profile.Line) bool { return l.File != list[0].File })
	place := func(l *profile.Line) string {
		if several {
			return fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)
		}
		return fmt.Sprint(l.Line)
	}
	head, width := "", 0
	for _, l := range list {
		width = max(width, len(place(l)))
		if !several {
			head = l.File
		}
	}
	const class = 7
	s.profileHead("  " + fitted("class", class) + head)
	for _, l := range list {
		style := plain
		if l.Execs == 0 {
			style = dim
		}
		c := document.MainClass(r.class(l))
		pad := width // numbers are aligned to the right, names to the left
		if !several {
			pad = -width
		}
		text := fitted(place(l), pad) + "  " + r.text(l)
		s.printf("%s  %s%s\n", s.paint(style, profileColumnsOf(&l.Counts, &r.total)), s.paint(classPaints[c], fitted(c.String(), class)), s.paint(style, s.cutToFit(text, profileWidth+2+class)))
	}
	if n := len(r.lines) - len(list); n > 0 {
		s.printf("%s\n", s.paint(dim, fmt.Sprintf("and %d more (--top, --lines)", n)))
	}
}

// printLoops prints loops: entering lanes, iterations, and counts of the body.
func (r *profileReport) printLoops(s *screen) {
	if len(r.loops) == 0 {
		return
	}
	list := hottest(r.flags.profileSortFlag, r.flags.Top, r.loops, func(l *profile.Loop) *profile.Counts { return &l.Counts })
	s.heading("loops with the most " + r.flags.Sort)
	if len(list) == 0 {
		s.printf("none\n")
		return
	}
	s.profileHead(fitted("entries", -9) + fitted("rounds", -9) + "  depth")
	for _, l := range list {
		s.printf("%s%s%s  %s%s\n", profileColumnsOf(&l.Counts, &r.total), fitted(countText(l.Entries), -9), fitted(fmt.Sprintf("%.1f", l.MeanIterations()), -9),
			fitted(strings.Repeat("·", l.Depth), 7), r.loopText(l))
	}
	s.printLeft(len(r.loops) - len(list))
}

// place returns the source position of an instruction, in the form of lines.
func (r *profileReport) place(f *ptx.Func, instr *ptx.Instr) string {
	return document.SourcePlace(f, instr, r.flags.PTX)
}

// loopText returns the position of a loop.
func (r *profileReport) loopText(l *profile.Loop) string {
	text := l.Func.Name
	if instr := document.FirstOf(l.Headers[0]); instr != nil {
		text += " at " + r.place(l.Func, instr)
	}
	if n := len(l.Headers); n > 1 {
		text += fmt.Sprintf(" (entered at %d places)", n)
	}
	return text
}

// firstOf returns the first instruction of a block, nil for an empty block.
// printCalls prints the call tree, if there were calls.
func (r *profileReport) printCalls(s *screen) {
	if !slices.ContainsFunc(r.profile.Roots, func(n *profile.Node) bool { return len(n.Children) > 0 }) {
		return
	}
	s.heading("calls")
	s.printf("%s\n", s.paint(dim, fitted("total", -9)+fitted("own", -9)+fitted("share", -8)+fitted("calls", -9)))
	var show func(n *profile.Node, indent string)
	show = func(n *profile.Node, indent string) {
		all, own := n.Total(), n.Own()
		if all.Execs == 0 {
			return
		}
		text := n.Func.Name
		if n.Site != nil {
			text += " from " + r.place(n.Parent.Func, n.Site)
		}
		s.printf("%s%s%s%s  %s%s\n", fitted(countText(all.Execs), -9), fitted(countText(own.Execs), -9),
			fitted(percentText(share(all.Execs, r.total.Execs), 1)+" %", -8), fitted(countText(n.Calls), -9), indent, text)
		for _, c := range n.Children {
			show(c, indent+"  ")
		}
	}
	for _, n := range r.profile.Roots {
		show(n, "")
	}
}

// registerSteps are the numbers of registers for which occupancy is printed if the kernel's number is unknown.
var registerSteps = []int{32, 40, 48, 64, 80, 96, 128, 168, 255}

// printOccupancy prints the number of resident blocks per multiprocessor, by generation.
func (r *profileReport) printOccupancy(s *screen) {
	for _, b := range r.blocks {
		s.heading("occupancy of " + b.Kernel.Name)
		known := "number of registers unknown (set it with --regs)"
		switch {
		case r.flags.Regs > 0:
			known = counted(b.Registers, "register")
		case b.Registers > 0:
			known = fmt.Sprintf("at most %s (.maxnreg)", counted(b.Registers, "register"))
		}
		s.printf("blocks of %s, %s of shared memory, %s\n", counted(b.Threads, "thread"), counted(b.Shared, "byte"), known)
		head := fitted("blocks", -7) + fitted("warps", -8) + fitted("occup.", -8) + "  " + fitted("limited by", 15)
		if b.Registers == 0 {
			head += "with"
			for _, n := range registerSteps {
				head += fitted(fmt.Sprint(n), -5)
			}
			head += " registers"
		}
		s.printf("%s\n", s.paint(dim, head+"  sm"))
		var rows []string // rows common to several generations
		var columns [][]string
		for _, g := range document.Generations() {
			row := r.occupancyRow(g, b.Block)
			rowIndex := slices.Index(rows, row)
			if rowIndex < 0 {
				rowIndex = len(rows)
				rows, columns = append(rows, row), append(columns, nil)
			}
			columns[rowIndex] = append(columns[rowIndex], fmt.Sprint(g.SM))
		}
		for i, row := range rows {
			style := plain
			if r.flags.SM != 0 && slices.Contains(columns[i], fmt.Sprint(r.flags.SM)) {
				style = bold
			}
			s.printf("%s\n", s.paint(style, row+"  "+strings.Join(columns[i], " ")))
		}
	}
}

// occupancyRow returns a row of the table, without the generation.
func (r *profileReport) occupancyRow(g *occupancy.Limits, b occupancy.Block) string {
	n, limit := g.Resident(b)
	row := fitted(fmt.Sprint(n), -7) + fitted(fmt.Sprintf("%d/%d", n*g.WarpsOf(b), g.Warps), -8) + fitted(percentText(100*g.Occupancy(b, n), 0)+" %", -8) + "  " + fitted(string(limit), 15)
	if b.Registers > 0 {
		return row
	}
	row += "    "
	for _, regs := range registerSteps {
		with := b
		with.Registers = regs
		n, _ := g.Resident(with)
		row += fitted(percentText(100*g.Occupancy(with, n), 0)+"%", -5)
	}
	return row + fitted("", len(" registers"))
}

// json returns the report of --json.
func (r *profileReport) json() *document.Profile {
	output := document.NewProfile(r.Launch, r.groups, r.profile, r.classes, r.blocks, r.flags.PTX)
	output.Cliffs = r.cliffsJSON()
	return output
}
