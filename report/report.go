package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemu/driver"
	"gemu/internal/document"
	"gemu/sanitize"
	"gemu/sanitize/finding"
	"gemu/sanitize/outcome"
)

// Report describes a run: its processes and their findings.
type Report struct {
	Schema     string                  `json:"schema"`               // "gemu-exec/1"
	Program    []string                `json:"program"`              // command line of the program
	Status     int                     `json:"status"`               // exit status of the program; 128+n if signal n has ended it
	Signal     int                     `json:"signal,omitempty"`     // signal that has ended the program
	Launches   int64                   `json:"launches"`             // number of launches that have not failed
	Failed     int64                   `json:"failed,omitempty"`     // number of launches that have failed
	Kernels    int                     `json:"kernels"`              // number of different kernels of all launches
	Errors     int                     `json:"errors"`               // number of findings with severity "error" and state "new"
	Notices    int                     `json:"notices"`              // number of findings with severity "notice" and state "new"
	Suppressed int                     `json:"suppressed"`           // number of findings with state "suppressed"
	Known      int                     `json:"known"`                // number of findings with state "known"
	Findings   []Item                  `json:"findings"`             // findings of all processes, in the order of processes
	Unused     []string                `json:"unused,omitempty"`     // rules of suppressions and of the baseline that match no finding
	Processes  []*driver.ProcessReport `json:"processes,omitempty"`  // reports of the processes that have used gemu's driver
	Sanitizers []string                `json:"sanitizers,omitempty"` // sanitizers that have observed the launches

	// Profile is the sum of the profiles of all processes.
	Profile []*document.KernelProfile `json:"profile,omitempty"` // counts of each kernel by line, summed up over the processes, with --profile

	// Seconds is the duration of the program; 0 if it was not measured.
	Seconds float64 `json:"seconds"` // duration of the program

	// Root is the directory to which the outputs for CI name files, such as that of the repository; "": the working directory.
	Root string `json:"-"`

	module, kernel string // of the launches of a report of NewSingle
	compared       bool   // Apply had a baseline
	survivors      int    // number of findings of AddSurvivor
}

// Item is a finding of a process.
type Item struct {
	finding.Finding
	Process int   `json:"process,omitempty"` // number of the process; 0 if there is only this command
	State   State `json:"state"`             // "new", "suppressed" or "known"
	Rule    *Rule `json:"-"`                 // rule that has matched; nil if the state is StateNew

	allowed bool // by Report.Allow
	index   int  // index of the process's report in Report.Processes: reports before and after exec have the same number of the process
}

// group is equal findings of one or more processes, the first of them and its number of occurrences in all.
type group struct {
	*Item
	count     int
	processes []int // indices in Report.Processes, in order
}

// groups returns the findings, equal ones of several processes together, in the order of the first of each group. Findings about instructions
// are equal if they differ at most by threads, values, addresses and counts, and are about the same variable or buffer.
func (r *Report) groups() (list []*group) {
	type key struct {
		tool, kind, message, notes, state string
		space, memory                     string
		severity                          finding.Severity
		at, other                         finding.Place
		number                            int // of several in a process
	}
	instruction := func(p *finding.Place) finding.Place {
		if p == nil {
			return finding.Place{}
		}
		return finding.Place{Role: p.Role, Kernel: p.Kernel, Function: p.Function, File: p.File, Line: p.Line, Column: p.Column, Instr: p.Instr, Source: p.Source}
	}
	found := map[key]*group{}
	numbers := map[key]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		k := key{tool: f.Tool, kind: f.Kind, message: f.Message, notes: strings.Join(f.Notes, "\n"), state: string(f.State), severity: f.Severity, at: instruction(&f.Place), other: instruction(f.OtherPlace)}
		if f.Memory != nil {
			k.space, k.memory = f.Memory.Space, f.Memory.Name
		}
		if f.Place.Instr == "" { // about a process or an argument
			k.number = -1 - i
		} else {
			inProcess := k
			inProcess.number = f.index
			k.number = numbers[inProcess]
			numbers[inProcess]++
		}
		g := found[k]
		if g == nil {
			g = &group{Item: f}
			found[k] = g
			list = append(list, g)
		}
		g.count += max(f.Count, 1)
		g.processes = append(g.processes, f.index)
	}
	return list
}

// State says whether a finding counts.
type State string

// The states of a finding.
const (
	StateNew        State = "new"        // no rule matches
	StateSuppressed State = "suppressed" // a rule of the suppressions matches
	StateKnown      State = "known"      // a rule of the baseline matches
)

// The kind of a finding about a process, with the tool "launch".
const NotEnded = "process not judged"

// New makes the report of a run from the reports of its processes.
func New(program []string, status int, processes []*driver.ProcessReport) *Report {
	r := &Report{Schema: "gemu-exec/1", Program: program, Status: status, Processes: processes, Findings: []Item{}}
	kernels := map[[2]string]bool{}
	for index, p := range processes {
		if r.Sanitizers == nil {
			r.Sanitizers = p.Findings.Launches.Tools
		}
		r.Launches += p.Statistics.Total.Launches
		r.Profile = document.AddKernelProfiles(r.Profile, p.Statistics.Profile...)
		for _, k := range p.Statistics.Kernels {
			kernels[[2]string{k.Module, k.Kernel}] = true
		}
		for _, f := range p.Findings.Findings {
			r.Findings = append(r.Findings, Item{Finding: f, Process: p.Process, State: StateNew, index: index})
		}
		if !p.Ended {
			notEnded := commandText(p.Program) + " runs on, or it ended without its exit handlers (a signal, exec): "
			f := finding.Finding{
				Tool: "launch", Kind: NotEnded, Severity: finding.Notice, Count: 1, Place: finding.Place{Role: "process"},
				Message: notEnded + "only failures up to then are known",
			}
			if len(r.Sanitizers) > 0 {
				f.Severity, f.Message = finding.Error, notEnded+"its launches were not judged"
			}
			r.Findings = append(r.Findings, Item{Finding: f, Process: p.Process, State: StateNew, index: index})
		}
	}
	for _, p := range processes {
		r.Failed += failedLaunches(p)
		for _, f := range p.Findings.Findings {
			known := func(k driver.KernelStat) bool { return k.Kernel == f.Place.Kernel }
			if isFailedLaunch(&f) && !slices.ContainsFunc(p.Statistics.Kernels, known) {
				kernels[[2]string{f.Place.File, f.Place.Kernel}] = true
			}
		}
	}
	r.Kernels = len(kernels)
	r.count()
	return r
}

// NewSingle makes the report of the launches of a kernel by a command of gemu, without a process report. list may be nil.
func NewSingle(program []string, status int, module, kernel string, launches int64, list *sanitize.Report) *Report {
	r := &Report{Schema: "gemu-exec/1", Program: program, Status: status, Launches: launches, Kernels: 1, Findings: []Item{}, module: module, kernel: kernel}
	if list != nil {
		r.Sanitizers = list.Launches.Tools
		for _, f := range list.Findings {
			r.Findings = append(r.Findings, Item{Finding: f, State: StateNew})
		}
	}
	r.count()
	return r
}

// AddSurvivor adds a notice about a process that runs on after the end of the program. A process with a report needs none.
func (r *Report) AddSurvivor(process int, program []string) {
	if slices.ContainsFunc(r.Processes, func(p *driver.ProcessReport) bool { return p.Process == process }) {
		return
	}
	r.Findings = append(r.Findings, Item{Process: process, State: StateNew, index: len(r.Processes), Finding: finding.Finding{
		Tool: outcome.Name, Kind: NotEnded, Severity: finding.Notice, Count: 1, Place: finding.Place{Role: "process"},
		Message: fmt.Sprintf("process %d, %s, runs on after the program's end: its launches, if any, are not known", process, commandText(program)),
	}})
	r.survivors++
	r.count()
}

// isFailedLaunch reports whether a finding describes launches that have failed.
func isFailedLaunch(f *finding.Finding) bool {
	return f.Tool == outcome.Name && f.Kind != NotEnded && f.Kind != outcome.NotJudged
}

// failedLaunches returns the number of failed launches of a process.
func failedLaunches(p *driver.ProcessReport) (n int64) {
	for _, f := range p.Findings.Findings {
		if isFailedLaunch(&f) {
			n += int64(max(f.Count, 1))
		}
	}
	return n
}

// Allow marks findings of a process as suppressed because the tests in which they occurred expect them. list has each of them with
// the number of its occurrences in such tests; a finding that occurred more often than that still counts.
func (r *Report) Allow(process int, list []finding.Finding) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.allowed = f.allowed || f.Process == process && slices.ContainsFunc(list, func(a finding.Finding) bool {
			return a.Tool == f.Tool && a.Kind == f.Kind && a.Count >= f.Count && sameInstruction(&a.Place, &f.Place) && sameInstruction(a.OtherPlace, f.OtherPlace)
		})
	}
	r.Apply(nil, nil)
}

// sameInstruction reports whether two places are the same, for any thread. Each may be nil.
func sameInstruction(p, q *finding.Place) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Role == q.Role && p.Kernel == q.Kernel && p.File == q.File && p.Line == q.Line && p.Column == q.Column
}

// count computes the numbers of findings.
func (r *Report) count() {
	r.Errors, r.Notices, r.Suppressed, r.Known = 0, 0, 0, 0
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.State == StateSuppressed:
			r.Suppressed++
		case f.State == StateKnown:
			r.Known++
		case f.Severity == finding.Error:
			r.Errors++
		default:
			r.Notices++
		}
	}
}

// refused returns the refused calls of all processes, with the sums of their counts.
func (r *Report) refused() (list []driver.RefusedCall) {
	for _, p := range r.Processes {
		for _, c := range p.Refused {
			i := slices.IndexFunc(list, func(d driver.RefusedCall) bool { return d.Call == c.Call && d.Reason == c.Reason })
			if i < 0 {
				list = append(list, c)
			} else {
				list[i].Count += c.Count
			}
		}
	}
	return list
}

// spot is a place in a file.
type spot struct {
	file         string // relative to Report.Root with slashes if it is below that, otherwise absolute; "": the place has no file
	line, column int
}

// spot returns a place of a finding in the user's source if it is known, otherwise in the PTX.
func (r *Report) spot(f *Item, p *finding.Place) spot {
	directory := ""
	if f.index < len(r.Processes) {
		directory = r.Processes[f.index].Directory
	}
	if file, line, column, ok := splitSource(p.Source); ok {
		return spot{r.relative(directory, file), line, column}
	}
	return spot{r.relative(directory, p.File), p.Line, p.Column}
}

// splitSource splits "file:line:column".
func splitSource(s string) (file string, line, column int, ok bool) {
	rest, c, ok1 := cutLast(s)
	file, l, ok2 := cutLast(rest)
	if !ok1 || !ok2 {
		return "", 0, 0, false
	}
	_, err1 := fmt.Sscan(l, &line)
	_, err2 := fmt.Sscan(c, &column)
	return file, line, column, err1 == nil && err2 == nil && file != ""
}

// cutLast cuts a text at its last colon.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// relative returns the path relative to r.Root of a file that a process with the given working directory names. A file outside r.Root
// has an absolute path.
func (r *Report) relative(directory, file string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(directory, file)
	}
	file, err1 := filepath.Abs(file)
	root, err2 := filepath.Abs(cmp.Or(r.Root, "."))
	if err1 != nil || err2 != nil {
		return filepath.ToSlash(file)
	}
	resolved, _ := filepath.EvalSymlinks(root)
	for _, root := range []string{root, resolved} {
		if path, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(path) {
			return filepath.ToSlash(path)
		}
	}
	return filepath.ToSlash(file)
}

// title describes a finding in a few words.
func (f *Item) title() string { return f.Tool + ": " + f.Kind }

// message describes a finding with its memory and its second place, on one line.
func (r *Report) message(f *Item) string {
	text := f.Message
	if f.Memory != nil {
		text += "; " + f.Memory.String()
	}
	if f.Place.Kernel != "" {
		text += "; " + cmp.Or(f.Place.Role, "at") + " in " + finding.Name(f.Place.Kernel)
	}
	if p := f.OtherPlace; p != nil {
		text += "; " + p.Role
		if s := r.spot(f, p); s.file != "" {
			text += fmt.Sprintf(" at %s:%d", s.file, s.line)
		}
	}
	for _, n := range f.Notes {
		text += "; " + n
	}
	if f.Count > 1 {
		text += fmt.Sprintf("; %d times", f.Count)
	}
	return text
}
