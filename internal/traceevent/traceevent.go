// Package traceevent writes timelines in the trace event format (Google, "Trace Event Format"), which Perfetto and chrome://tracing read.
// Processes and threads are tracks; times have the unit that a timeline says, which the viewers show as microseconds.
package traceevent

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
)

// Event is an event of a file: "X" is a span, "C" a counter, "M" a name.
type Event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Time  int64          `json:"ts"`
	Dur   int64          `json:"dur,omitempty"`
	Cat   string         `json:"cat,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Writer writes a timeline.
type Writer struct {
	b     *bufio.Writer
	comma string // before the next event
	err   error  // first error
}

// NewWriter begins a timeline. about says what the reader must know of it, as the unit of time.
func NewWriter(out io.Writer, about map[string]string) *Writer {
	w := &Writer{b: bufio.NewWriter(out), comma: "\n"}
	head, err := json.Marshal(about)
	w.err = err
	fmt.Fprintf(w.b, "{\"otherData\":%s,\n\"traceEvents\":[", head)
	return w
}

// Process names a process.
func (w *Writer) Process(pid int, name string) {
	w.write(&Event{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": name}})
}

// Thread names a thread.
func (w *Writer) Thread(pid, tid int, name string) {
	w.write(&Event{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": name}})
}

// Span writes a span of a thread. The spans of a thread must be nested or disjoint, and in the order of their beginnings.
func (w *Writer) Span(pid, tid int, name, category string, from, to int64, args map[string]any) {
	w.write(&Event{Name: name, Phase: "X", PID: pid, TID: tid, Time: from, Dur: to - from, Cat: category, Args: args})
}

// Counter writes the values of a counter of a process from a time on.
func (w *Writer) Counter(pid int, name string, at int64, values map[string]any) {
	w.write(&Event{Name: name, Phase: "C", PID: pid, Time: at, Args: values})
}

func (w *Writer) write(e *Event) {
	text, err := json.Marshal(e)
	w.err = cmp.Or(w.err, err)
	w.b.WriteString(w.comma)
	w.b.Write(text)
	w.comma = ",\n"
}

// Close ends the timeline. It returns the first error, which may be that of the writer below.
func (w *Writer) Close() error {
	fmt.Fprint(w.b, "\n]}\n")
	return cmp.Or(w.err, w.b.Flush())
}
