package cli

// This file reads and writes files, standard input and standard output.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/term"

	"gemu/internal/input"
	"gemu/internal/visible"
	"gemu/internal/wholefile"
)

// readFile reads a file of up to limit bytes.
func readFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	b, err := input.ReadFile(ctx, name, limit)
	if err != nil {
		return nil, input.FileError("read", name, err)
	}
	return b, nil
}

// readModule reads a module as readSource does; @NAME is that of a workload.
func (a *app) readModule(file string, flags compileFlags) (name, src string, err error) {
	workload, ok := strings.CutPrefix(file, "@")
	if !ok {
		src, err = a.readSource(file, flags)
		return file, src, err
	}
	if err := flags.check(file); err != nil {
		return "", "", err
	}
	w, err := lookupWorkload(workload)
	if err != nil {
		return "", "", err
	}
	return w.Name + ".ptx", w.PTX(), nil
}

// readSource reads a PTX file, or compiles CUDA C++ to PTX; "-" is standard input. Messages call compiled PTX name.ptx.
func (a *app) readSource(name string, flags compileFlags) (string, error) {
	if err := flags.check(name); err != nil {
		return "", err
	}
	if filepath.Ext(name) == ".cu" {
		return a.compile(name, flags)
	}
	var b []byte
	var err error
	if name != "-" {
		b, err = readFile(a.ctx, name, input.MaxText)
	} else if b, err = input.ReadStream(a.ctx, a.stdin); err != nil {
		err = input.FileError("read", "standard input", err)
	}
	// No further reference to the bytes exists: the conversion needs no copy.
	return unsafe.String(unsafe.SliceData(b), len(b)), err
}

// writeOutput writes a file; "-" is standard output.
func writeOutput(a *app, name string, b []byte) error {
	if name == "-" {
		_, err := dataOf(a.stdout).Write(b)
		return err
	}
	if err := wholefile.Write(a.ctx, name, b); err != nil {
		return input.FileError("write", name, err)
	}
	return nil
}

// outputs lists the output files of a command, by flag; an empty name is no file.
type outputs []struct{ flag, name string }

// check returns an error, before any work, if an output cannot be written or two outputs are the same file.
func (o outputs) check() error {
	seen := map[string]string{}
	for _, f := range o {
		if f.name == "" {
			continue
		}
		if err := checkOutput(f.name); err != nil {
			return fmt.Errorf("%s %s: %w", f.flag, f.name, err)
		}
		name := filepath.Clean(f.name)
		st, err := os.Stat(name)
		switch other := seen[name]; {
		case other == "":
		case name == "-":
			return fmt.Errorf("%s - and %s -: only one of them can write to standard output", other, f.flag)
		case err != nil || st.Mode().IsRegular(): // two outputs may go to the same device or pipe
			return fmt.Errorf("%s and %s are the same file, %s", other, f.flag, f.name)
		}
		seen[name] = f.flag
	}
	return nil
}

// stdout reports whether any output is standard output; then nothing else may be printed there.
func (o outputs) stdout() bool {
	for _, f := range o {
		if f.name == "-" {
			return true
		}
	}
	return false
}

// reportFlags select the destinations of a report, in addition to the text or in place of it.
type reportFlags struct {
	HTML string `name:"html" help:"Write a page to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
	JSON string `name:"json" help:"Write JSON to FILE (- for standard output, instead of the text)." placeholder:"FILE"`
}

func (f *reportFlags) outputs() outputs { return outputs{{"--html", f.HTML}, {"--json", f.JSON}} }

// write writes the requested page and JSON. It tries both, even if the first fails.
func (f *reportFlags) write(a *app, page func() ([]byte, error), value func() any) (err error) {
	if f.HTML != "" {
		b, failed := page()
		if failed == nil {
			failed = writeOutput(a, f.HTML, b)
		}
		err = failed
	}
	if f.JSON != "" {
		err = all(err, writeJSON(a, f.JSON, value()))
	}
	return err
}

// tablesFlag selects a directory for tables.
type tablesFlag struct {
	Tables string `help:"Write each table as CSV, and its chart as SVG if it has one, to the directory DIR; it is created if it does not exist." placeholder:"DIR"`
}

func (f *tablesFlag) check() error {
	if err := checkDirectory(f.Tables); err != nil {
		return fmt.Errorf("--tables: %w", err)
	}
	return nil
}

// namedFile is the name and content of a file in a directory.
type namedFile struct {
	name string
	data []byte
}

// write writes files to the directory, if the flag is set.
func (f *tablesFlag) write(a *app, files []namedFile) error {
	if f.Tables == "" {
		return nil
	}
	if err := os.Mkdir(f.Tables, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--tables: %w", input.FileError("make", f.Tables, err))
	}
	for _, file := range files {
		name := filepath.Join(f.Tables, file.name)
		if err := wholefile.Write(a.ctx, name, file.data); err != nil {
			return fmt.Errorf("--tables: %w", input.FileError("write", name, err))
		}
	}
	return nil
}

// checkOutput returns an error, before any work, if a file cannot be written; an empty name is no file.
func checkOutput(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	name, _, _ = cutSize(name)
	if st, err := os.Stat(filepath.Dir(name)); err != nil || !st.IsDir() {
		return fmt.Errorf("no directory %s", filepath.Dir(name))
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return checkWritable(filepath.Dir(name))
	case st.IsDir():
		return fmt.Errorf("%s is a directory", name)
	case !st.Mode().IsRegular(): // opening a pipe may wait for its reader
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return input.FileError("write", name, err)
	}
	return f.Close()
}

// checkDirectory returns an error, before any work, if a directory can be neither written nor made; an empty name is no
// directory.
func checkDirectory(name string) error {
	if name == "" {
		return nil
	}
	if st, err := os.Stat(name); err == nil {
		if !st.IsDir() {
			return fmt.Errorf("cannot make %s: it is a file", name)
		}
		return checkWritable(name)
	}
	parent := filepath.Dir(filepath.Clean(name))
	if st, err := os.Stat(parent); err != nil || !st.IsDir() {
		return fmt.Errorf("%s: no directory %s", name, parent)
	}
	return checkWritable(parent)
}

// checkWritable returns an error if no file can be made in a directory; it tries by making a file.
func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".gemu-*")
	if err != nil {
		return input.FileError("write to", dir, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// joinedErrors is a list of errors, each with a message of its own.
type joinedErrors []error

func (t joinedErrors) Error() string { return errors.Join(t...).Error() }

func (t joinedErrors) Unwrap() []error { return t }

// all joins the errors that are not nil; it returns nil if there are none.
func all(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return joinedErrors(errs)
}

// output is standard output or standard error. It keeps the first write error and writes nothing after it; callers need
// not check errors. A terminal gets text with its control characters made visible; a file or a pipe gets each byte as
// it is.
type output struct {
	io.Writer
	shown  *visible.Writer      // nil if the output is not a terminal
	plain  *visible.PlainWriter // nil unless the text is plain
	data   io.Writer            // takes data instead of text
	file   *os.File             // the terminal, if any
	direct *os.File             // the file, for programs that write to it; nil: another writer
	err    error
}

func newOutput(w io.Writer) *output {
	o := &output{Writer: w, data: w}
	f, ok := w.(*os.File)
	if ok {
		o.direct = f
	}
	if ok && term.IsTerminal(int(f.Fd())) {
		o.show(f)
	}
	return o
}

// newPlainOutput returns an output of plain text. It never is a terminal: colours, progress and redrawing are for terminals.
// Control characters are made visible all the same if it is one.
func newPlainOutput(w io.Writer) *output {
	o := newOutput(w)
	if o.shown != nil {
		o.file, o.shown = nil, visible.NewWriter(w)
		o.Writer = o.shown
	}
	o.data, o.plain = o.Writer, visible.NewPlainWriter(o.Writer)
	o.Writer = o.plain
	return o
}

// dataOf returns the writer of data, which stays as it is, on standard output.
func dataOf(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok && o.plain != nil {
		return dataWriter{o}
	}
	return w
}

// dataWriter writes data to an output of plain text.
type dataWriter struct{ *output }

func (w dataWriter) Write(b []byte) (int, error) { return w.writeTo(w.data, b) }

// show makes the output a terminal.
func (o *output) show(f *os.File) {
	o.file, o.shown = f, visible.NewWriter(o.Writer, styles()...)
	o.Writer = o.shown
}

// close flushes the remaining text.
func (o *output) close() {
	if o.plain != nil && o.err == nil {
		o.plain.Close()
	}
	if o.shown != nil && o.err == nil {
		o.shown.Close()
	}
}

func (o *output) Write(b []byte) (int, error) { return o.writeTo(o.Writer, b) }

// writeTo writes to a writer of the output.
func (o *output) writeTo(w io.Writer, b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := w.Write(b)
	if err != nil {
		o.err = input.FileError("write", "standard output", err)
	}
	return n, o.err
}
