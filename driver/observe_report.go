package driver

// This file writes the report of a process (GEMU_REPORT), which "gemu exec" reads.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gemu/internal/wholefile"
	"gemu/probe"
	"gemu/sanitize"
	"gemu/sanitize/outcome"
)

// ProcessReport describes the use of a driver by a process: the content of a file of GEMU_REPORT.
type ProcessReport struct {
	Schema     string           `json:"schema"`            // "gemu-process/1"
	Process    int              `json:"process"`           // number of the process
	Parent     int              `json:"parent"`            // number of the parent process
	Program    []string         `json:"program"`           // command line of the process
	Directory  string           `json:"directory"`         // working directory at the first use of the driver
	Started    time.Time        `json:"started"`           // time of the first use of the driver
	Ended      bool             `json:"ended"`             // the process has ended with its exit handlers. If false, the report has the failures up to its last change
	Statistics *Statistics      `json:"statistics"`        // counts of the launches that did not fail
	Findings   *sanitize.Report `json:"findings"`          // failed launches, and findings of the sanitizers
	Refused    []RefusedCall    `json:"refused,omitempty"` // calls that gemu does not support
}

// RefusedCall is a function that gemu does not support, or a call with an image that gemu cannot run.
type RefusedCall struct {
	Call   string `json:"call"`   // name of the function
	Reason string `json:"reason"` // reason of the first such call
	Count  int    `json:"count"`  // number of calls with this reason
}

// maxRefused is the maximum number of different refused calls in a report.
const maxRefused = 100

// processReport keeps the contents of a ProcessReport that are not kept elsewhere.
type processReport struct {
	file string // "": none

	started   time.Time
	directory string
	writeMu   sync.Mutex // held while the file is written

	mu      sync.Mutex
	refused []RefusedCall // in the order of first calls
	err     error         // first error of writing the file
}

// keepsFailures reports whether failed launches are kept: for sanitizers, or for the report of the process.
func (s *Settings) keepsFailures() bool { return len(s.Sanitize) > 0 || s.Report != "" }

// announceReport writes the first, unfinished report, so that a process that ends without its exit handlers has one.
func (d *Driver) announceReport() {
	r := &d.report
	r.started = time.Now()
	if d.settings.Report == "" {
		return
	}
	r.directory, _ = os.Getwd()
	// The directory is not made here: a process that outlives gemu exec must not make the removed one again.
	if _, r.err = os.Stat(d.settings.Report); r.err != nil {
		return
	}
	// A program may use the driver, call exec, and use it again in the same process.
	for n := 1; ; n++ {
		r.file = filepath.Join(d.settings.Report, fmt.Sprintf("process-%d-%d.json", os.Getpid(), n))
		if _, err := os.Lstat(r.file); err != nil {
			break
		}
	}
	d.writeReport(false)
}

// writeReport writes the report of the process, if GEMU_REPORT is set. ended is true in the exit handlers.
func (d *Driver) writeReport(ended bool) {
	r := &d.report
	if r.file == "" {
		return
	}
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	p := d.Report()
	p.Ended = ended
	b, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = wholefile.Write(context.Background(), r.file, append(b, '\n'))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = cmp.Or(r.err, err)
}

// closeReport writes the final report, and returns the first error of writing it.
func (d *Driver) closeReport() error {
	if d.settings.Report == "" {
		return nil
	}
	d.writeReport(true)
	if d.report.err != nil {
		return fmt.Errorf("GEMU_REPORT=%s: %w", d.settings.Report, d.report.err)
	}
	return nil
}

// commandLine returns the command line of the process. A program may change its argv before the Go runtime of a library reads it, as
// GoogleTest does, which removes its own flags; so on Linux it is the kernel's.
func commandLine() []string {
	text, err := os.ReadFile("/proc/self/cmdline")
	if err != nil || len(text) == 0 {
		return os.Args
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// Report describes the use of the driver so far. Failed launches are among its findings if Settings.Report or
// Settings.Sanitize is set.
func (d *Driver) Report() *ProcessReport {
	p := &ProcessReport{
		Schema: "gemu-process/1", Process: os.Getpid(), Parent: os.Getppid(), Program: commandLine(), Directory: d.report.directory, Started: d.report.started,
		Statistics: d.stats.snapshot(), Findings: d.sanitizer.Report(),
	}
	r := &d.report
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Refused = slices.Clone(r.refused)
	return p
}

// ReportEnded is Report when all submitted launches have ended.
func (d *Driver) ReportEnded() *ProcessReport {
	d.mu.Lock()
	tasks := make([]*task, 0, len(d.unended.tasks))
	for t := range d.unended.tasks {
		tasks = append(tasks, t)
	}
	d.mu.Unlock()
	d.waitWhile(func() {
		for _, t := range tasks {
			<-t.done
		}
	})
	return d.Report()
}

// noteRefused records a call that gemu does not support.
func (d *Driver) noteRefused(call, reason string) {
	r := &d.report
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.refused, func(c RefusedCall) bool { return c.Call == call && c.Reason == reason })
	switch {
	case i >= 0:
		r.refused[i].Count++
	case len(r.refused) < maxRefused:
		r.refused = append(r.refused, RefusedCall{Call: call, Reason: reason, Count: 1})
	}
}

// launchFailed keeps the error of a launch. began is false if no probe has seen the launch.
func (d *Driver) launchFailed(kernel string, began bool, err error) {
	switch {
	case !began:
		d.sanitizer.Fail(kernel, err)
	case len(d.settings.Sanitize) > 0: // sanitizers have seen the failure
	case errors.Is(err, errProcessEnds):
		d.mu.Lock()
		d.reportNotJudged(kernel, d.notEndedReason())
		d.mu.Unlock()
	case d.settings.keepsFailures():
		d.sanitizer.Add(&probe.Event{}, outcome.FindingOf(kernel, err))
	}
	d.writeReport(false)
}

// newSanitizer returns the sanitizers of the driver, or one that only keeps failed launches.
func newSanitizer(s *Settings) *sanitize.Sanitizer {
	if len(s.Sanitize) == 0 && s.keepsFailures() {
		return sanitize.NewFailures()
	}
	return sanitize.New(s.Sanitize, sanitize.Options{Host: true})
}
