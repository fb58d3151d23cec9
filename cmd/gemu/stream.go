package main

// This file reads and writes files, standard input and standard output.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"gemu/internal/input"
)

// maxData is the limit of what is read into a buffer, in bytes: the memory of the device.
const maxData = 16 << 30

// readFile reads a file of up to limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	b, err := input.ReadFile(name, limit)
	if err != nil {
		return nil, cannot("read", name, err)
	}
	return b, nil
}

// readSource reads a PTX file, or makes PTX of CUDA C++; "-" is standard input. What it has is
// called name.ptx in messages if it was made of name.
func (a *app) readSource(name string) (string, error) {
	if filepath.Ext(name) == ".cu" {
		return a.compile(name)
	}
	var b []byte
	var err error
	if name != "-" {
		b, err = readFile(name, input.MaxText)
	} else if b, err = input.Read(a.stdin, input.MaxStream, 0); err != nil {
		err = cannot("read", "standard input", err)
	}
	// Nobody else has the bytes: the text need not be there twice.
	return unsafe.String(unsafe.SliceData(b), len(b)), err
}

// writeOutput writes a file; "-" is standard output.
func writeOutput(a *app, name string, b []byte) error {
	if name == "-" {
		_, err := a.stdout.Write(b)
		return err
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		return cannot("write", name, err)
	}
	return nil
}

// cannot is an error of the system about a file.
func cannot(do, name string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("cannot %s %s: %w", do, name, err)
}

// output is standard output. It keeps the first error of writing, after which nothing
// more is written, so that nobody who prints has to look for one.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.Writer.Write(b)
	if err != nil {
		o.err = cannot("write", "standard output", err)
	}
	return n, o.err
}
