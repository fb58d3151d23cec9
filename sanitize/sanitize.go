// Package sanitize finds faults of kernels that run to their end: each tool is a probe that looks
// at one kind, and adds its findings to a log. None changes what a kernel does. Launches that fail are
// findings too, and launches are counted: see package outcome.
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

// Limit is how many findings are printed where nothing else is asked for.
const Limit = 100

// Report is findings for machines.
type Report struct {
	Schema   string            `json:"schema"`   // "gemu-findings/1"
	Errors   int               `json:"errors"`   // findings that are faults
	Notices  int               `json:"notices"`  // findings that are not errors
	Complete bool              `json:"complete"` // the program came to its end and all its launches were judged: without that, no errors means nothing
	Launches finding.Coverage  `json:"launches"` // the judged launches, and the tools
	Findings []finding.Finding `json:"findings"` // the first first
}

// NewReport makes a report of findings, of a program that has come to its end.
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

// Options are those of the tools.
type Options struct {
	Host     bool // leak: what the host allocates counts, too
	WarpSync int  // lanes of a warp that execute in lockstep and are ordered by that, whatever .target says; 0: it does
}

// Tool is a sanitizer.
type Tool struct {
	Name    string
	Aliases []string // what NVIDIA's compute-sanitizer calls it
	Doc     string   // what it finds
	Rare    bool     // it is only of use now and then: "all" leaves it out

	// New makes the probe of one device, which adds its findings to log. A probe with a method Finish() can add findings when the
	// program ends.
	New func(log *finding.Log, o Options) probe.Probe
}

// Tools are all of them.
var Tools = []*Tool{
	{
		Name: race.Name, Aliases: []string{"racecheck"}, Doc: "accesses to the same memory by different threads, at least one of them a write, that nothing orders",
		New: func(log *finding.Log, o Options) probe.Probe { return race.New(log, o.WarpSync) },
	},
	{
		Name: validity.Name, Aliases: []string{"initcheck"}, Doc: "uses of values that nothing has written",
		New: func(log *finding.Log, _ Options) probe.Probe { return validity.New(log) },
	},
	{
		Name: bounds.Name, Aliases: []string{"memcheck"}, Doc: "accesses outside the variable that their address was derived from, and by pointers to variables of calls that have returned",
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

// Names lists the names of Tools, and of further tools.
func Names(further ...*Tool) string {
	var names []string
	for _, t := range slices.Concat(Tools, further) {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Parse reads a list of tools, of Tools and further ones: "race,init". "all" is those that are not only of use now and then.
func Parse(list string, further ...*Tool) ([]*Tool, error) {
	known := slices.Concat(Tools, further)
	var tools []*Tool
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
			return nil, fmt.Errorf("no sanitizer %q: want some of %s, or all", name, Names(further...))
		}
		tools = append(tools, known[i])
	}
	slices.SortFunc(tools, func(a, b *Tool) int { return slices.Index(known, a) - slices.Index(known, b) })
	return slices.Compact(tools), nil
}

// Sanitizer is tools at work on a device.
type Sanitizer struct {
	finding.Log
	Probes []probe.Probe // the device's

	tools    []string
	launches *outcome.Probe // nil without tools
}

// New makes tools ready.
func New(tools []*Tool, o Options) *Sanitizer {
	s := &Sanitizer{}
	for _, t := range tools {
		s.tools = append(s.tools, t.Name)
		s.Probes = append(s.Probes, t.New(&s.Log, o))
	}
	if len(tools) > 0 { // last: what the tools find as a launch ends comes before how it has ended
		s.launches = outcome.New(&s.Log)
		s.Probes = append(s.Probes, s.launches)
	}
	return s
}

// Fail reports the error of a launch that no probe is told of: it could not begin, and interp.Module.Run has given no
// result.
func (s *Sanitizer) Fail(kernel string, err error) {
	if s.launches != nil {
		s.launches.Fail(kernel, err)
	}
}

// Miss reports n launches of a kernel that the tools have not seen, and the reason. The severity is finding.Notice
// where another finding is the cause.
func (s *Sanitizer) Miss(kernel string, n int, severity finding.Severity, reason string) {
	if s.launches != nil {
		s.launches.Miss(kernel, n, severity, reason)
	}
}

// Coverage returns the tools, and how many launches they have judged so far.
func (s *Sanitizer) Coverage() finding.Coverage {
	c := finding.Coverage{Tools: s.tools}
	if s.launches != nil {
		c.Judged, c.NotJudged = s.launches.Counts()
	}
	return c
}

// Finish is the end of the device: what is found then is found now.
func (s *Sanitizer) Finish() {
	for _, p := range s.Probes {
		if f, ok := p.(interface{ Finish() }); ok {
			f.Finish()
		}
	}
}

// Print writes what has been found, up to limit findings (0: all), and what was looked at.
func (s *Sanitizer) Print(w io.Writer, limit int) error {
	coverage := s.Coverage()
	return finding.Print(w, s.Findings(), &coverage, limit)
}

// Report is what Print writes, for machines.
func (s *Sanitizer) Report() *Report { return NewReport(s.Findings(), s.Coverage()) }
