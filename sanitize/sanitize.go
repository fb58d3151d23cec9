package sanitize

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gemu/probe"
	"gemu/sanitize/barriers"
	"gemu/sanitize/bounds"
	"gemu/sanitize/finding"
	"gemu/sanitize/leak"
	"gemu/sanitize/outcome"
	"gemu/sanitize/race"
	"gemu/sanitize/validity"
)

// Limit is the default number of findings to print.
const Limit = 100

// Report is the JSON form of all findings.
type Report struct {
	Schema   string            `json:"schema"`   // "gemu-findings/1"
	Errors   int               `json:"errors"`   // number of findings with severity "error"
	Notices  int               `json:"notices"`  // number of findings with severity "notice"
	Complete bool              `json:"complete"` // the program came to its end and all its launches were judged; if false, zero errors prove nothing
	Launches finding.Coverage  `json:"launches"` // requested sanitizers, and numbers of launches
	Findings []finding.Finding `json:"findings"` // findings, in the order of launches, CTAs and events
}

// NewReport returns a report for a program that has ended.
func NewReport(list []finding.Finding, coverage finding.Coverage) *Report {
	r := &Report{Schema: "gemu-findings/1", Complete: coverage.NotJudged == 0, Launches: coverage, Findings: append([]finding.Finding{}, list...)}
	for i := range list {
		if list[i].Severity == finding.Error {
			r.Errors++
		} else {
			r.Notices++
		}
	}
	return r
}

// Options configure the tools.
type Options struct {
	Host     bool // leak: report buffers of the host, too
	WarpSync int  // race: number of consecutive lanes that run in lockstep; 0: by .target
}

// Tool is a sanitizer that users can select.
type Tool struct {
	Name    string   // unique name without spaces and commas, as in --sanitize=race
	Aliases []string // names in NVIDIA's compute-sanitizer
	Doc     string   // description of its findings
	Rare    bool     // for occasional use: not in "all"

	// New returns the probe for a device. It adds its findings to log. If the probe has a method Finish(), it
	// is called at the end of the program and can add findings.
	New func(log *finding.Log, o Options) probe.Probe
}

// Tools lists the sanitizers.
var Tools = []*Tool{
	{
		Name: race.Name, Aliases: []string{"racecheck"}, Doc: "unordered accesses to the same memory by different threads, at least one of them a write",
		New: func(log *finding.Log, o Options) probe.Probe { return race.New(log, o.WarpSync) },
	},
	{
		Name: validity.Name, Aliases: []string{"initcheck"}, Doc: "uses of uninitialised values",
		New: func(log *finding.Log, _ Options) probe.Probe { return validity.New(log) },
	},
	{
		Name: bounds.Name, Aliases: []string{"memcheck"}, Doc: "accesses outside the variable that their address was derived from, and accesses to a variable of a call that has returned",
		New: func(log *finding.Log, _ Options) probe.Probe { return bounds.New(log) },
	},
	{
		Name: barriers.Name, Aliases: []string{"synccheck"}, Doc: "wrong uses of barriers, membermasks, mbarriers and waits for copies",
		New: func(log *finding.Log, _ Options) probe.Probe { return barriers.New(log) },
	},
	{
		Name: leak.Name, Doc: "memory that is never freed", Rare: true,
		New: func(log *finding.Log, o Options) probe.Probe { return leak.New(log, o.Host) },
	},
}

// Names returns the names of Tools and of further tools, separated by commas.
func Names(further ...*Tool) string {
	var names []string
	for _, t := range slices.Concat(Tools, further) {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Parse reads a list of tools, from Tools and other tools: "race,init". "all" stands for all tools that are
// not Rare. An unknown name is an error, and so is a tool that is named twice.
func Parse(list string, further ...*Tool) ([]*Tool, error) {
	known := slices.Concat(Tools, further)
	var tools []*Tool
	named := map[*Tool]bool{}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if name == "all" {
			for _, t := range known {
				if !t.Rare {
					tools = append(tools, t)
				}
			}
			continue
		}
		i := slices.IndexFunc(known, func(t *Tool) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
		if i < 0 {
			return nil, fmt.Errorf("unknown sanitizer %q: want some of %s, or all", name, Names(further...))
		}
		if named[known[i]] {
			return nil, fmt.Errorf("sanitizer %s is listed twice", known[i].Name)
		}
		named[known[i]] = true
		tools = append(tools, known[i])
	}
	slices.SortFunc(tools, func(a, b *Tool) int { return slices.Index(known, a) - slices.Index(known, b) })
	return slices.Compact(tools), nil
}

// Sanitizer is a set of tools for a device. It is safe for concurrent launches of that device.
type Sanitizer struct {
	finding.Log
	Probes []probe.Probe // for interp.Config.Probes of the device

	tools    []string
	launches *outcome.Probe // nil if there are no tools
}

// New returns a sanitizer with the given tools.
func New(tools []*Tool, o Options) *Sanitizer {
	s := &Sanitizer{}
	for _, t := range tools {
		s.tools = append(s.tools, t.Name)
		s.Probes = append(s.Probes, t.New(&s.Log, o))
	}
	if len(tools) > 0 { // last: its findings follow the findings of the remaining tools at the end of a launch
		s.launches = outcome.New(&s.Log)
		s.Probes = append(s.Probes, s.launches)
	}
	return s
}

// NewFailures returns a sanitizer without tools, for a device that no probe may slow down. It keeps only the failed
// launches that Fail and Add report.
func NewFailures() *Sanitizer {
	s := &Sanitizer{}
	s.launches = outcome.New(&s.Log)
	return s
}

// Fail reports the error of a launch without events: it could not begin, and interp.Module.Run returned no
// result.
func (s *Sanitizer) Fail(kernel string, err error) {
	if s.launches != nil {
		s.launches.Fail(kernel, err)
	}
}

// Miss reports n launches of a kernel that the tools did not watch, and the reason. severity is finding.Notice
// if another finding gives the cause.
func (s *Sanitizer) Miss(kernel string, n int, severity finding.Severity, reason string) {
	if s.launches != nil {
		s.launches.Miss(kernel, n, severity, reason)
	}
}

// Coverage returns the tools, and the numbers of launches judged so far.
func (s *Sanitizer) Coverage() finding.Coverage {
	c := finding.Coverage{Tools: s.tools}
	if s.launches != nil {
		c.Judged, c.NotJudged = s.launches.Counts()
	}
	return c
}

// Finish adds the findings at the end of the device, such as leaks. Call it once, after the last launch.
func (s *Sanitizer) Finish() {
	for _, p := range s.Probes {
		if f, ok := p.(interface{ Finish() }); ok {
			f.Finish()
		}
	}
}

// Print writes at most limit findings (0: all) and the coverage.
func (s *Sanitizer) Print(w io.Writer, limit int) error {
	coverage := s.Coverage()
	return finding.Print(w, s.Findings(), &coverage, limit)
}

// Report returns the findings and the coverage in JSON form.
func (s *Sanitizer) Report() *Report { return NewReport(s.Findings(), s.Coverage()) }
