package driver

// This file is sanitizers of all launches of a process.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"gemu/internal/wholefile"
	"gemu/sanitize"
)

// Found is that sanitizers have found faults, or could not write their report, for a process that must end with a
// status that says so.
type Found struct {
	Errors int // how many
	Status int // what the process must end with
}

func (f *Found) Error() string {
	if f.Errors == 0 {
		return "the report of the sanitizers could not be written"
	}
	if f.Errors == 1 {
		return "sanitizers have found 1 error"
	}
	return fmt.Sprintf("sanitizers have found %d errors", f.Errors)
}

// logFile is the file that the settings name for the findings, "" if there is none: %p is the number of the process.
func (s *Settings) logFile() string {
	return strings.ReplaceAll(s.SanitizeLog, "%p", strconv.Itoa(os.Getpid()))
}

// unfinishedNote is what the file of the findings says until the process ends.
const unfinishedNote = "========= The process has not ended, or it ended without its exit handlers (_exit, exec, a signal): nothing was judged.\n"

// announceFindings writes a file for the findings that says that the process has not ended. A process that ends
// without its exit handlers leaves it, and not the report of an earlier process. An error shows again when the
// process ends.
func (d *Driver) announceFindings() {
	s := &d.settings
	if len(s.Sanitize) == 0 || s.SanitizeLog == "" {
		return
	}
	_ = d.writeFindings(func(w io.Writer) error {
		_, err := io.WriteString(w, unfinishedNote)
		return err
	}, func() *sanitize.Report {
		r := sanitize.NewReport(nil, d.sanitizer.Coverage())
		r.Complete = false
		return r
	})
}

// printFindings writes what sanitizers have found: to the driver's standard error, or to the file that the settings
// name. If that file cannot be written, the findings go to standard error, too.
func (d *Driver) printFindings() error {
	d.sanitizer.Finish()
	var failed error
	if d.settings.SanitizeLog != "" {
		failed = d.writeFindings(func(w io.Writer) error { return d.sanitizer.Print(w, 0) }, d.sanitizer.Report)
		if failed == nil {
			return nil
		}
	}
	to := cmp.Or[io.Writer](d.settings.Stderr, os.Stderr) // a driver without messages was asked for this, too
	return errors.Join(failed, d.sanitizer.Print(to, sanitize.Limit))
}

// writeFindings writes the file that the settings name, as text or as JSON.
func (d *Driver) writeFindings(text func(io.Writer) error, report func() *sanitize.Report) error {
	name := d.settings.logFile()
	if strings.HasSuffix(name, ".json") {
		b, err := json.MarshalIndent(report(), "", "  ")
		if err != nil {
			return err
		}
		return wholefile.Write(context.Background(), name, append(b, '\n'))
	}
	f, err := wholefile.Create(context.Background(), name)
	if err != nil {
		return err
	}
	if err := text(f); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}
