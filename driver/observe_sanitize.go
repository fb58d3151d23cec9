package driver

// This file reports the findings of sanitizers about all launches of a process.

import (
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

// Found is the error of Driver.Exit if sanitizers have found errors, or if their report could not be written. The process
// must end with Status.
type Found struct {
	Errors int // number of errors
	Status int // exit status of the process
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

// processFile returns the name of a file of the process: %p in it stands for the process ID.
func processFile(name string) string {
	return strings.ReplaceAll(name, "%p", strconv.Itoa(os.Getpid()))
}

// unfinishedNote is the content of a text file for the findings until the process ends.
const unfinishedNote = "========= The process has not ended, or it ended without its exit handlers (_exit, exec, a signal): nothing was judged.\n"

// announceFindings writes unfinishedNote, or an incomplete JSON report, to the file for the findings. So the file does not
// keep the report of an earlier process if this process ends without its exit handlers. An error is ignored here, because
// printFindings will report it.
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

// printFindings writes the findings to Settings.SanitizeLog. If that is not set, or if the file cannot be written, it
// prints them on the driver's standard error, unless the report of the process has them.
func (d *Driver) printFindings() error {
	d.sanitizer.Finish()
	var writeErr error
	if d.settings.SanitizeLog != "" {
		writeErr = d.writeFindings(func(w io.Writer) error { return d.sanitizer.Print(w, 0) }, d.sanitizer.Report)
		if writeErr == nil {
			return nil
		}
	}
	if d.report.file != "" { // the report of the process has the findings
		return writeErr
	}
	stderr := d.settings.Stderr
	if stderr == nil { // other messages are discarded, but findings are not
		stderr = d.settings.PlainText(os.Stderr)
	}
	return errors.Join(writeErr, d.sanitizer.Print(stderr, sanitize.Limit))
}

// writeFindings writes the file for the findings: by text, or as JSON the result of report if the file's name ends in
// .json.
func (d *Driver) writeFindings(text func(io.Writer) error, report func() *sanitize.Report) error {
	name := processFile(d.settings.SanitizeLog)
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
