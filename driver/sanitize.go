package driver

// This file is sanitizers of all launches of a process.

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gemu/sanitize"
)

// Found is that sanitizers have found faults, for a process that is to end with a status that
// says so.
type Found struct {
	Errors int // how many
	Status int // what the process is to end with
}

func (f *Found) Error() string { return fmt.Sprintf("sanitizers have found %d errors", f.Errors) }

// printFindings tells what sanitizers have found: on the driver's standard error, or in the file
// that the settings name.
func (d *Driver) printFindings() error {
	d.sanitizer.Finish()
	s, list := &d.settings, d.sanitizer.Findings()
	switch {
	case strings.HasSuffix(s.SanitizeLog, ".json"):
		b, err := json.MarshalIndent(sanitize.NewReport(list), "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(s.SanitizeLog, append(b, '\n'), 0o666)
	case s.SanitizeLog != "":
		f, err := os.Create(s.SanitizeLog)
		if err != nil {
			return err
		}
		if err := d.sanitizer.Print(f, 0); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	case s.Stderr == nil: // which has no messages, but was asked for this
		return d.sanitizer.Print(os.Stderr, sanitize.Limit)
	}
	return d.sanitizer.Print(s.Stderr, sanitize.Limit)
}
