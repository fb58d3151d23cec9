package main

// This file reads and writes files, standard input and standard output.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"
)

// Limits of what is read, in bytes. A device or a pipe does not say how much it holds,
// and may have no end.
const (
	maxText   = 256 << 20 // of PTX and other sources
	maxData   = 16 << 30  // of a buffer: the memory of the device
	maxStream = 256 << 20 // of standard input, devices and pipes
)

// readFile reads a file of up to limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cannot("read", name, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, cannot("read", name, err)
	}
	if !st.Mode().IsRegular() {
		limit = min(limit, maxStream)
	}
	b, err := readUpTo(f, limit, st.Size())
	if err != nil {
		return nil, cannot("read", name, err)
	}
	return b, nil
}

// readUpTo reads to the end, which must come within limit bytes. It is expected after
// size.
func readUpTo(r io.Reader, limit, size int64) ([]byte, error) {
	tooLarge := fmt.Errorf("more than %d MiB", limit>>20)
	if size > limit {
		return nil, tooLarge
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = tooLarge
	}
	return b.Bytes(), err
}

// readSource reads a PTX file; "-" is standard input.
func (a *app) readSource(name string) (string, error) {
	var b []byte
	var err error
	if name != "-" {
		b, err = readFile(name, maxText)
	} else if b, err = readUpTo(a.stdin, maxStream, 0); err != nil {
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
