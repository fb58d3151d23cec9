package driver

// This file writes the log of all launches of a process (GEMU_LOG).

import (
	"fmt"
	"os"
	"path/filepath"

	"gemu/probe"
	"gemu/trace"
)

// commitLog is a log under construction.
type commitLog struct {
	name     string
	file     *os.File
	recorder *trace.Recorder
	err      error // error of creating it
}

func newCommitLog(name string) *commitLog {
	l := &commitLog{name: name}
	if l.file, l.err = os.Create(name); l.err != nil {
		return l
	}
	format := trace.Text
	if filepath.Ext(name) == ".gtr" {
		format = trace.Binary
	}
	w, err := trace.NewWriter(l.file, format, &trace.Header{Version: trace.Version})
	if l.err = err; err == nil {
		l.recorder = trace.NewRecorder(w, trace.Filter{})
	}
	return l
}

// probes returns the probe of the log; none if the log could not be created.
func (l *commitLog) probes() []probe.Probe {
	if l.recorder == nil {
		return nil
	}
	return []probe.Probe{l.recorder}
}

// close completes the log and returns the first error of writing it.
func (l *commitLog) close() error {
	err := l.err
	if err == nil && l.recorder != nil {
		err = l.recorder.Close()
		if e := l.file.Close(); err == nil {
			err = e
		}
		l.recorder = nil
	}
	if err != nil {
		return fmt.Errorf("GEMU_LOG=%s: %w", l.name, err)
	}
	return nil
}
