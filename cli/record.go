package cli

// This file is "gemu record".

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"gemu/internal/input"
	"gemu/internal/notation"
	"gemu/record"
	"gemu/trace"
)

type recordCmd struct {
	File  string   `arg:"" optional:"" predictor:"source" help:"PTX file (- for standard input), CUDA C++ (.cu; needs nvcc or clang), or @NAME of a workload; or a recording to show, also from standard input."`
	Extra []string `arg:"" optional:"" name:"ARG" help:"Further kernel arguments, after those of -a."`

	kernelFlags
	machineFlags
	contentFlags `group:"recording"`
	filterFlags  `group:"recording"`
	convertFlags `group:"convert"`
	showFlags    `group:"show"`
}

// contentFlags select the contents of a new recording, together with filterFlags.
type contentFlags struct {
	Out          string        `short:"o" help:"Write the recording to FILE (- for standard output)." placeholder:"FILE"`
	With         []string      `help:"Optional parts of the recording: ${recording_parts}, or all. They are the results of instructions, the accesses with their sectors, the contents of memory at the beginning and end of each launch, the reconvergence stack at each event, and the text of the PTX and of the source files that it names." unset:"none" placeholder:"PART"`
	MaxEvents    int64         `default:"10000000" help:"End the recording after N events, while the launch continues; 0: no limit." placeholder:"N"`
	MaxSize      notation.Size `default:"1G" help:"End the recording when the file has this size, in bytes, or with K, M or G, while the launch continues. The contents of memory (--with memory) have the same limit, separately." placeholder:"BYTES"`
	Uncompressed bool          `help:"Do not compress columns, so that programs can map them into memory."`
}

// convertFlags are for the conversion of a log to a recording.
type convertFlags struct {
	From string `help:"Convert the commit log LOG (see gemu trace) instead of running a kernel." placeholder:"LOG"`
}

// showFlags are for the printing of a recording.
type showFlags struct {
	Table string `help:"Print the rows of the table NAME of a recording as comma-separated values; gemu record FILE lists the tables." placeholder:"NAME"`
	Rows  string `help:"With --table: print only these rows, by number, from 0: 0-99." unset:"all" placeholder:"FROM-TO"`
}

func (c *recordCmd) Run(a *app, line *kong.Context) error {
	recording, err := c.readsRecording(a)
	if err != nil {
		return err
	}
	if recording {
		if len(c.Extra) > 0 {
			return fmt.Errorf("%s is a recording: kernel arguments do not apply to it", c.File)
		}
		if err := checkFlags(line, c.File+" is a recording", "show"); err != nil {
			return err
		}
		return c.show(a)
	}
	switch {
	case c.File != "" && len(givenFlags(line, "show")) > 0:
		return fmt.Errorf("--table and --rows show a recording (gemu record FILE --table NAME), and %s is not a recording", c.File)
	case (c.File == "") == (c.From == ""):
		return errors.New("give one input: a kernel to run (gemu record FILE … -o RECORDING), a log to convert (--from LOG), or a recording to show (FILE)")
	case c.Out == "" && c.From == "" && filepath.Ext(c.File) == ".gemu":
		return fmt.Errorf("%s is not a recording: it does not begin as recordings do", c.File)
	case c.From != "":
		if err := checkFlags(line, "--from converts a log", "convert", "recording"); err != nil {
			return err
		}
	}
	if c.Out == "" {
		return errors.New("-o FILE is missing: the recording to write, such as run.gemu")
	}
	if err := checkOutput(c.Out); err != nil {
		return fmt.Errorf("-o %s: %w", c.Out, err)
	}
	if c.From != "" && isSameFile(c.From, c.Out) {
		return errors.New("--from and -o are the same file")
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	return a.writeLate(c.Out, func(to io.Writer) (ran, wrote error) { return c.write(a, to, options) })
}

// recordingHead is the number of bytes that tell a recording from other files.
const recordingHead = 16

// readsRecording reports whether the input, a file or standard input, begins as a recording does.
func (c *recordCmd) readsRecording(a *app) (bool, error) {
	if c.File != "-" {
		return isRecording(c.File)
	}
	piped := bufio.NewReader(a.stdin)
	a.stdin = piped
	head, _ := piped.Peek(recordingHead) // an error comes again where the whole input is read
	return record.IsRecording(head), nil
}

// isRecording reports whether a file begins as a recording does. The error is that of a file that does not exist.
func isRecording(name string) (bool, error) {
	if name == "" || name[0] == '@' {
		return false, nil
	}
	st, err := os.Stat(name)
	if err != nil {
		return false, input.FileError("read", name, err)
	}
	if !st.Mode().IsRegular() { // reading would consume a pipe
		return false, nil
	}
	f, err := input.OpenRegular(name)
	if err != nil {
		return false, input.FileError("read", name, err)
	}
	defer f.Close()
	head := make([]byte, recordingHead)
	n, _ := io.ReadFull(f, head)
	return record.IsRecording(head[:n]), nil
}

// isSameFile reports whether two names stand for one file.
func isSameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// options returns the options of the recording.
func (c *recordCmd) options() (o record.Options, err error) {
	if o.Contents, err = record.ParseContents(c.With); err != nil {
		return o, fmt.Errorf("--with: %w", err)
	}
	if c.From != "" {
		for _, name := range c.With {
			if name == "memory" || name == "stack" || name == "source" {
				return o, fmt.Errorf("--from converts a log, and a log has no %s: use --with results, accesses or all", name)
			}
		}
	}
	if o.Filter, err = c.filter(); err != nil {
		return o, err
	}
	if err := checkMinimums(minimum{"--max-events", c.MaxEvents, 0}); err != nil {
		return o, err
	}
	o.MaxEvents, o.MaxBytes, o.Uncompressed = c.MaxEvents, int64(c.MaxSize), c.Uncompressed
	if c.MaxEvents == 0 {
		o.MaxEvents = -1
	}
	return o, nil
}

// errFilters is the error of filters that exclude everything.
var errFilters = errors.New("no event passes the filters --only-kernel, --cta, --warps, --lines and --class")

// write records a run or converts a log. The first error is that of the run or of reading the log, the second that of writing:
// errNotWritten if there is nothing to keep.
func (c *recordCmd) write(a *app, to io.Writer, o record.Options) (ran, wrote error) {
	if c.From != "" {
		return c.convert(a, to, o)
	}
	o.ReadSource, o.Title = input.NewSources(c.File, c.Source...).Text, c.File
	r, err := record.NewRecorder(to, o)
	if err != nil {
		return nil, err
	}
	run := traceCmd{launchFlags: launchFlags{sourceArg: sourceArg{c.File}, Extra: c.Extra, kernelFlags: c.kernelFlags}, machineFlags: c.machineFlags}
	printed := dataOf(a.stdout)
	if c.Out == "-" {
		printed = dataOf(a.stderr)
	}
	j, err := run.open(a, printed, r)
	if err != nil {
		return err, errNotWritten
	}
	ran = j.run(a, c.prepare(a))
	if wrote = r.Close(); wrote != nil {
		return ran, wrote
	}
	if r.Events() == 0 && ran == nil && !o.Filter.IsZero() {
		ran = errFilters
	}
	if r.Events() == 0 && ran != nil { // also of a launch that was refused
		return ran, errNotWritten
	}
	c.report(a, r.Events(), r.Bytes(), r.Full())
	if r.ImagesCut() {
		fmt.Fprintln(a.stderr, "memory images are cut off: their total size has reached the limit --max-size")
	}
	return ran, nil
}

// convert converts a log.
func (c *recordCmd) convert(a *app, to io.Writer, o record.Options) (read, wrote error) {
	f, err := input.OpenRegular(c.From)
	if err != nil {
		return input.FileError("read", c.From, err), nil
	}
	defer f.Close()
	log, err := trace.NewReader(c.From, f)
	if err != nil {
		return err, nil
	}
	defer log.Close()
	counting := &countingWriter{to: to}
	events, full, err := record.FromLog(counting, log, o)
	if err != nil {
		if counting.err != nil {
			return nil, err
		}
		return err, errNotWritten
	}
	if events == 0 && !o.Filter.IsZero() {
		return errFilters, errNotWritten
	}
	c.report(a, events, counting.n, full)
	return nil, nil
}

// countingWriter counts the bytes that another writer accepts, and keeps its error.
type countingWriter struct {
	to  io.Writer
	n   uint64
	err error
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.n += uint64(n)
	w.err = err
	return n, err
}

// report says what was recorded.
func (c *recordCmd) report(a *app, events, bytes uint64, full string) {
	name := c.Out
	if name == "-" {
		name = "standard output"
	}
	fmt.Fprintf(a.stderr, "%s: %s in %d bytes\n", name, counted(int(events), "event"), bytes)
	if full != "" {
		fmt.Fprintf(a.stderr, "%s: the recording ends at its limit of %s (--max-events, --max-size); later events are not recorded\n", name, full)
	}
}

// openRecording opens a recording; "-" is standard input. The reader seeks, so standard input becomes a temporary file. The system removes the
// file when it is closed, or, on Windows, when it removes old temporary files.
func (a *app) openRecording(name string) (*os.File, error) {
	if name != "-" {
		return input.OpenRegular(name)
	}
	file, err := os.CreateTemp("", "gemu-recording-")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name()) // Windows does not remove an open file
	if _, err := io.Copy(file, a.stdin); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// show shows a recording: its tables, or the rows of one.
func (c *recordCmd) show(a *app) error {
	file, err := a.openRecording(c.File)
	if err != nil {
		return input.FileError("read", c.File, err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return input.FileError("read", c.File, err)
	}
	f, err := record.Open(c.File, file, st.Size())
	if err != nil {
		return err
	}
	if !f.Complete {
		fmt.Fprintf(a.stderr, "%s is incomplete: its writer was stopped. Only its complete blocks are shown\n", c.File)
	}
	if c.Table == "" {
		if c.Rows != "" {
			return errors.New("--rows needs --table NAME")
		}
		return c.overview(a, f, st.Size())
	}
	return c.rows(a, f)
}

// overview prints the launches and the sizes of the tables.
func (c *recordCmd) overview(a *app, f *record.File, size int64) error {
	about, err := record.Read[record.RecordingRow](f, 0, 1)
	if err != nil {
		return err
	}
	launches, err := record.Read[record.LaunchRow](f, 0, 1<<32)
	if err != nil {
		return err
	}
	ends, err := record.Read[record.EndRow](f, 0, 1<<32)
	if err != nil {
		return err
	}
	for _, r := range about {
		fmt.Fprintf(a.stdout, "a recording of %s, %d bytes", r.Simulator, size)
		if r.Contents != "" {
			fmt.Fprintf(a.stdout, ", with %s", strings.ReplaceAll(r.Contents, ",", ", "))
		}
		if r.Filter != "" {
			fmt.Fprintf(a.stdout, "; only %s", r.Filter)
		}
		fmt.Fprintln(a.stdout)
	}
	end := map[uint32]record.EndRow{}
	for _, e := range ends {
		end[e.Launch] = e
	}
	for i, l := range launches {
		fmt.Fprintf(a.stdout, "launch %d: %s, grid %d,%d,%d, block %d,%d,%d, policy %s", i, l.Kernel, l.GridX, l.GridY, l.GridZ, l.BlockX, l.BlockY, l.BlockZ, l.Reconverge)
		switch e, ok := end[uint32(i)]; {
		case !ok:
			fmt.Fprint(a.stdout, ", incomplete")
		case e.Error != "":
			fmt.Fprintf(a.stdout, ", ended by an error: %s", e.Error)
		case e.Complete == 0:
			fmt.Fprint(a.stdout, ", recorded up to the limit")
		}
		fmt.Fprintln(a.stdout)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "table\trows\tbytes\t")
	for _, t := range f.Tables() {
		if t.Rows > 0 {
			fmt.Fprintf(w, "%s\t%d\t%d\t\n", t.Name, t.Rows, t.Bytes)
		}
	}
	return w.Flush()
}

// rows prints rows of a table.
func (c *recordCmd) rows(a *app, f *record.File) error {
	t := f.Table(c.Table)
	if t == nil {
		var names []string
		for _, t := range f.Tables() {
			names = append(names, t.Name)
		}
		return fmt.Errorf("--table %s: unknown; the tables of a recording are %s", c.Table, strings.Join(names, ", "))
	}
	from, to := uint64(0), t.Rows
	if c.Rows != "" {
		var r trace.Ranges
		if err := r.UnmarshalText([]byte(c.Rows)); err != nil || len(r) != 1 {
			return fmt.Errorf("--rows %s: want the first and the last row, such as 0-99", c.Rows)
		}
		if r[0].From >= t.Rows {
			return fmt.Errorf("--rows %s: the table %s has %s, counted from 0", c.Rows, t.Name, counted(int(t.Rows), "row"))
		}
		from, to = r[0].From, min(to-1, r[0].To)+1
	}
	w := csv.NewWriter(dataOf(a.stdout))
	header, names := []string{"row"}, make([]map[uint8]string, len(t.Columns))
	for i, column := range t.Columns {
		header = append(header, column.Name)
		var err error
		if names[i], err = f.Enumeration(t.Name, column.Name); err != nil {
			return err
		}
	}
	w.Write(header)
	const part = 4096
	for ; from < to; from += part {
		n := min(part, to-from)
		lines := make([][]string, n)
		for i := range lines {
			lines[i] = append(lines[i], strconv.FormatUint(from+uint64(i), 10))
		}
		for k, column := range t.Columns {
			values, err := columnTexts(t, column, names[k], from, n)
			if err != nil {
				return err
			}
			for i, v := range values {
				lines[i] = append(lines[i], v)
			}
		}
		w.WriteAll(lines)
	}
	w.Flush()
	return w.Error()
}

// columnTexts returns the values of a column as texts. names has the names of its values, if they have any.
func columnTexts(t *record.Table, c record.Column, names map[uint8]string, from, n uint64) ([]string, error) {
	if c.Type == record.Text {
		return t.ReadTexts(c.Name, from, n)
	}
	values, err := t.ReadNumbers(c.Name, from, n)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(values))
	for i, v := range values {
		switch name, ok := names[uint8(v)]; {
		case ok:
			list[i] = name
		case c.Type.IsSigned():
			list[i] = strconv.FormatInt(int64(v), 10)
		case isMask(c.Name):
			list[i] = fmt.Sprintf("%#x", v)
		default:
			list[i] = strconv.FormatUint(v, 10)
		}
	}
	return list, nil
}

// isMask reports whether the values of a column are better read in hexadecimal.
func isMask(column string) bool {
	switch column {
	case "active", "lanes", "arrived", "members", "base", "high", "low":
		return true
	}
	return false
}
