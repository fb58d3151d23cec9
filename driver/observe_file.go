package driver

// This file writes the log (GEMU_LOG) and the recording (GEMU_RECORD) of all launches of a process.

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gemu/probe"
	"gemu/record"
	"gemu/trace"
)

// launchFile is a file with data of all launches.
type launchFile struct {
	variable string // environment variable that names the file, for messages
	name     string
	file     *os.File
	probe    launchWriter // nil if the file could not be created, and after close
	err      error        // error of creating the file or its probe
}

// launchWriter is a probe that writes a file.
type launchWriter interface {
	probe.Probe
	io.Closer
}

// newLaunchFile creates a file. open returns the probe that writes the file to w.
func newLaunchFile(variable, name string, open func(w io.Writer) (launchWriter, error)) *launchFile {
	l := &launchFile{variable: variable, name: name}
	if l.file, l.err = os.Create(processFile(name)); l.err == nil {
		l.probe, l.err = open(l.file)
	}
	return l
}

// newCommitLog creates the log of GEMU_LOG.
func newCommitLog(name string) *launchFile {
	return newLaunchFile("GEMU_LOG", name, func(file io.Writer) (launchWriter, error) {
		format := trace.Text
		if filepath.Ext(name) == ".gtr" {
			format = trace.Binary
		}
		w, err := trace.NewWriter(file, format, &trace.Header{Version: trace.Version})
		if err != nil {
			return nil, err
		}
		return trace.NewRecorder(w, trace.Filter{}), nil
	})
}

// newRecording creates the recording of GEMU_RECORD.
func newRecording(name string, contents record.Contents) *launchFile {
	return newLaunchFile("GEMU_RECORD", name, func(file io.Writer) (launchWriter, error) {
		return record.NewRecorder(file, record.Options{Contents: contents})
	})
}

// probes returns the probe that writes the file, or nothing if the file or the probe could not be created.
func (l *launchFile) probes() []probe.Probe {
	if l.err != nil || l.probe == nil {
		return nil
	}
	return []probe.Probe{l.probe}
}

// note returns a message about a recording that has reached its limit; "" for other files.
func (l *launchFile) note() string {
	if r, ok := l.probe.(*record.Recorder); ok && r.Full() != "" {
		return fmt.Sprintf("%s=%s: the recording ends at its limit of %s; events after it are not recorded", l.variable, l.name, r.Full())
	}
	return ""
}

// close completes the file and returns the first error of creating or writing it.
func (l *launchFile) close() error {
	err := l.err
	if err == nil && l.probe != nil {
		err = l.probe.Close()
		if e := l.file.Close(); err == nil {
			err = e
		}
		l.probe = nil
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", l.variable, l.name, err)
	}
	return nil
}
