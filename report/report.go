package report

import (
	"slices"

	"gemu/driver"
	"gemu/sanitize/finding"
)

// Report describes a run: its processes and their findings.
type Report struct {
	Schema     string                  `json:"schema"`               // "gemu-exec/1"
	Program    []string                `json:"program"`              // command line of the program
	Status     int                     `json:"status"`               // exit status of the program; 128+n if signal n has ended it
	Launches   int64                   `json:"launches"`             // number of launches that have not failed
	Kernels    int                     `json:"kernels"`              // number of different kernels of these launches
	Errors     int                     `json:"errors"`               // number of findings with severity "error" and state "new"
	Notices    int                     `json:"notices"`              // number of findings with severity "notice" and state "new"
	Findings   []Item                  `json:"findings"`             // findings of all processes, in the order of processes
	Processes  []*driver.ProcessReport `json:"processes,omitempty"`  // reports of the processes that have used gemu's driver
	Sanitizers []string                `json:"sanitizers,omitempty"` // sanitizers that have observed the launches

	// Seconds is the duration of the program; 0 if it was not measured.
	Seconds float64 `json:"seconds"` // duration of the program
}

// Item is a finding of a process.
type Item struct {
	finding.Finding
	Process int `json:"process,omitempty"` // number of the process; 0 if there is only this command
}

// The kind of a finding about a process, with the tool "launch".
const NotEnded = "process not judged"

// New makes the report of a run from the reports of its processes.
func New(program []string, status int, processes []*driver.ProcessReport) *Report {
	r := &Report{Schema: "gemu-exec/1", Program: program, Status: status, Processes: processes, Findings: []Item{}}
	kernels := map[[2]string]bool{}
	for _, p := range processes {
		if r.Sanitizers == nil {
			r.Sanitizers = p.Findings.Launches.Tools
		}
		r.Launches += p.Statistics.Total.Launches
		for _, k := range p.Statistics.Kernels {
			kernels[[2]string{k.Module, k.Kernel}] = true
		}
		for _, f := range p.Findings.Findings {
			r.Findings = append(r.Findings, Item{Finding: f, Process: p.Process})
		}
		if !p.Ended {
			f := finding.Finding{
				Tool: "launch", Kind: NotEnded, Severity: finding.Notice, Count: 1, Place: finding.Place{Role: "process"},
				Message: "the process runs on, or it ended without its exit handlers (a signal, exec): only failures up to then are known",
			}
			if len(r.Sanitizers) > 0 {
				f.Severity, f.Message = finding.Error, "the process runs on, or it ended without its exit handlers (a signal, exec): its launches were not judged"
			}
			r.Findings = append(r.Findings, Item{Finding: f, Process: p.Process})
		}
	}
	r.Kernels = len(kernels)
	r.count()
	return r
}

// count computes the numbers of findings.
func (r *Report) count() {
	for i := range r.Findings {
		if r.Findings[i].Severity == finding.Error {
			r.Errors++
		} else {
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
