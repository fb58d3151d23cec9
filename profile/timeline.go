package profile

// This file is timelines: when the warps of a CTA are in which functions and loops, when they wait, and
// with how many lanes they run.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
)

// How much a timeline has at most.
const (
	MaxCTAs  = 64   // of all launches together
	MaxFirst = 16   // of a launch: its first
	MaxSpans = 4096 // of a CTA, and as many changes of numbers of lanes; of more, those that do not last are left out
)

// Timeline is a probe that draws when launches do what. Time is counted in instructions that the warps
// of a CTA have executed, of each CTA by itself: there are no cycles here. A warp whose lanes have
// diverged is where those are that run. Launches come one behind the other. It does not go back with a
// launch that is restored.
type Timeline struct {
	mu       sync.Mutex
	launches []*timed
	runs     map[*interp.LaunchInfo]*timed
	tracks   int
}

// NewTimeline makes one.
func NewTimeline() *Timeline { return &Timeline{runs: map[*interp.LaunchInfo]*timed{}} }

// Wants: what executes, and where it is by calls; waits.
func (t *Timeline) Wants() interp.Wants {
	return interp.Wants{Events: interp.OnLaunch | interp.OnLaunchEnd | interp.OnCTAEnd | interp.OnWarp | interp.OnWarpEnd | interp.OnAfter |
		interp.OnCall | interp.OnReturn | interp.OnWait | interp.OnWake}
}

// timed is a launch.
type timed struct {
	kernel *ptx.Func
	ctas   []*track    // those that are shown, by index
	of     int         // CTAs that there are
	at     []*ptx.Loop // by instruction, the innermost loop
}

// Tell is told of launches.
func (t *Timeline) Tell(e *interp.Event) {
	if e.Launch == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind == interp.OnLaunchEnd {
		delete(t.runs, e.Launch)
		return
	}
	l := e.Launch
	r := &timed{kernel: l.Kernel, of: l.Grid.Count(), at: make([]*ptx.Loop, l.Program.Len())}
	r.ctas = make([]*track, min(r.of, MaxFirst, MaxCTAs-t.tracks))
	t.tracks += len(r.ctas)
	inner := map[*ptx.Instr]*ptx.Loop{}
	seen := map[*ptx.Func]bool{}
	for i := range r.at {
		in, f := l.Program.At(i)
		if !seen[f] {
			seen[f] = true
			for _, loop := range f.Loops() { // inner ones behind those around them
				for _, b := range loop.Blocks {
					for _, in := range b.Instrs {
						inner[in] = loop
					}
				}
			}
		}
		r.at[i] = inner[in]
	}
	t.launches = append(t.launches, r)
	t.runs[l] = r
}

// CTA follows the first CTAs of a launch.
func (t *Timeline) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[l]
	if index >= len(r.ctas) {
		return nil
	}
	c := &track{timed: r, id: id, shortest: 1, warps: make([]timedWarp, (l.Block.Count()+l.WarpSize-1)/l.WarpSize)}
	c.root = &place{name: l.Kernel.Name}
	r.ctas[index] = c
	return c
}

// track is a CTA.
type track struct {
	*timed
	id       interp.Dim3
	now      int64 // instructions so far
	warps    []timedWarp
	root     *place
	spans    []span
	changes  []change
	shortest int64 // instructions that a span or a number of lanes must last
	left     int   // … that were left out
}

// place is a function or a loop that lanes are in.
type place struct {
	in    *place // around it
	depth int
	name  string
	parts map[any]*place // by loop, or by call and function
}

// part is a place within another.
func (p *place) part(key any, name func() string) *place {
	n := p.parts[key]
	if n == nil {
		n = &place{in: p, depth: p.depth + 1, name: name()}
		if p.parts == nil {
			p.parts = map[any]*place{}
		}
		p.parts[key] = n
	}
	return n
}

// called is a function that is called.
type called struct {
	by *ptx.Instr
	f  *ptx.Func
}

// timedWarp is a warp.
type timedWarp struct {
	at    [64]*place   // the functions that lanes are in
	from  [64][]*place // … that have called them
	open  []span       // the places that it is in, outermost first
	place *place       // the last of them
	end   int64        // of its last instruction
	lanes int          // of it
	since int64        // when that became so
	wait  string       // what it waits for, since end; "" if for nothing
}

// span is a place, or a wait, of a warp from a time to another.
type span struct {
	warp     int
	of       *place
	wait     string
	from, to int64
}

// depth is how many places it is in; a wait is in all of them.
func (s *span) depth() int {
	if s.of == nil {
		return math.MaxInt
	}
	return s.of.depth
}

// change is a number of lanes that a warp runs with from a time to another.
type change struct {
	warp, lanes int
	from, to    int64
}

// Tell follows the CTA.
func (c *track) Tell(e *interp.Event) {
	if e.Warp < 0 { // it has ended
		return
	}
	w := &c.warps[e.Warp]
	switch e.Kind {
	case interp.OnWarp:
		for lane := range w.at {
			w.at[lane], w.from[lane] = c.root, w.from[lane][:0]
		}
		w.end, w.since = c.now, c.now
	case interp.OnAfter:
		c.instruction(e, w)
	case interp.OnCall:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			from := w.at[lane]
			w.from[lane] = append(w.from[lane], from)
			w.at[lane] = c.within(from, e.Func, c.timed.at[e.Index]).part(called{e.Instr, e.Callee}, func() string { return e.Callee.Name })
		}
	case interp.OnReturn:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			last := len(w.from[lane]) - 1
			w.at[lane], w.from[lane] = w.from[lane][last], w.from[lane][:last]
		}
	case interp.OnWait:
		switch e.Waits.Barrier {
		case -1:
			w.wait = "lanes of the warp"
		case clusterBarrier:
			w.wait = "barrier of the cluster"
		default:
			w.wait = fmt.Sprintf("barrier %d", e.Waits.Barrier)
		}
	case interp.OnWake:
		c.waited(e.Warp, w)
	case interp.OnWarpEnd:
		c.close(w, 0)
		c.changed(e.Warp, w)
	}
}

// clusterBarrier is the barrier of the cluster, as Event.Waits has it.
const clusterBarrier = 16

// within is the loop, in a function, that an instruction is in.
func (c *track) within(at *place, f *ptx.Func, l *ptx.Loop) *place {
	if l == nil {
		return at
	}
	return c.within(at, f, l.Parent).part(l, func() string {
		in := firstInstr(l.Blocks)
		if in == nil {
			return "loop"
		}
		from := Frames(f, in, false)[0]
		return fmt.Sprintf("loop at %s:%d", filepath.Base(from.File), from.Line)
	})
}

func firstInstr(blocks []*ptx.Block) *ptx.Instr {
	for _, b := range blocks {
		if len(b.Instrs) > 0 {
			return b.Instrs[0]
		}
	}
	return nil
}

// instruction is one that a warp executes.
func (c *track) instruction(e *interp.Event, w *timedWarp) {
	c.waited(e.Warp, w)
	at := c.within(w.at[bits.TrailingZeros64(e.Active)], e.Func, c.timed.at[e.Index])
	if at != w.place {
		c.move(e.Warp, w, at)
	}
	if n := bits.OnesCount64(e.Active); n != w.lanes {
		c.changed(e.Warp, w)
		w.lanes, w.since = n, c.now
	}
	c.now++
	w.end = c.now
}

// waited ends the wait of a warp, if it has waited.
func (c *track) waited(warp int, w *timedWarp) {
	if w.wait != "" && c.now > w.end {
		c.add(span{warp, nil, w.wait, w.end, c.now})
	}
	w.wait = ""
}

// move ends the places that a warp has left, and begins those that it has come to.
func (c *track) move(warp int, w *timedWarp, to *place) {
	var path []*place
	for p := to; p != nil; p = p.in {
		path = append(path, p)
	}
	slices.Reverse(path)
	same := 0
	for same < len(w.open) && same < len(path) && w.open[same].of == path[same] {
		same++
	}
	c.close(w, same)
	for _, p := range path[same:] {
		w.open = append(w.open, span{warp: warp, of: p, from: c.now})
	}
	w.place = to
}

// close ends the places of a warp but the first.
func (c *track) close(w *timedWarp, but int) {
	for i := len(w.open) - 1; i >= but; i-- {
		s := w.open[i]
		s.to = w.end
		c.add(s)
	}
	w.open, w.place = w.open[:but], nil
}

// add takes a span that has ended.
func (c *track) add(s span) {
	if s.to-s.from < c.shortest {
		c.left++
		return
	}
	c.spans = append(c.spans, s)
	c.bound()
}

// changed takes the number of lanes that a warp has run with.
func (c *track) changed(warp int, w *timedWarp) {
	if n := (change{warp, w.lanes, w.since, w.end}); n.to-n.from >= c.shortest {
		c.changes = append(c.changes, n)
		c.bound()
	} else if n.to > n.from {
		c.left++
	}
}

// bound leaves out what does not last, until there is room.
func (c *track) bound() {
	for len(c.spans) > MaxSpans || len(c.changes) > MaxSpans {
		c.shortest *= 2
		n := len(c.spans) + len(c.changes)
		c.spans = slices.DeleteFunc(c.spans, func(s span) bool { return s.to-s.from < c.shortest })
		c.changes = slices.DeleteFunc(c.changes, func(s change) bool { return s.to-s.from < c.shortest })
		c.left += n - len(c.spans) - len(c.changes)
	}
}

// Left says what was left out, "" if nothing was.
func (t *Timeline) Left() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctas, of, left, shortest := 0, 0, 0, int64(1)
	for _, r := range t.launches {
		ctas, of = ctas+len(r.ctas), of+r.of
		for _, c := range r.ctas {
			if c != nil {
				left, shortest = left+c.left, max(shortest, c.shortest)
			}
		}
	}
	text := ""
	if ctas < of {
		text = fmt.Sprintf("%d of %d CTAs are shown", ctas, of)
	}
	if left > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%d spans of fewer than up to %d instructions are left out", left, shortest)
	}
	return text
}

// traceEvent is an event of the trace event format (Google, "Trace Event Format"): "X" is a span, "C" a
// counter, "M" a name.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Time  int64          `json:"ts"`
	Dur   int64          `json:"dur,omitempty"`
	Cat   string         `json:"cat,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Write writes the timeline as JSON in the trace event format, which Perfetto and chrome://tracing read. A
// process is a CTA, a thread a warp; a microsecond is a warp instruction.
func (t *Timeline) Write(out io.Writer) error {
	left := t.Left()
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bufio.NewWriter(out)
	head, err := json.Marshal(map[string]string{"time": "warp instructions of the CTA, shown as microseconds", "left out": left})
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "{\"otherData\":%s,\n\"traceEvents\":[", head)
	comma := "\n"
	write := func(e traceEvent) {
		text, failed := json.Marshal(e)
		err = cmp.Or(err, failed)
		b.WriteString(comma)
		b.Write(text)
		comma = ",\n"
	}
	pid, start := 0, int64(0)
	for i, r := range t.launches {
		length := int64(0)
		for _, c := range r.ctas {
			if c == nil { // it never began
				continue
			}
			pid++
			length = max(length, c.now)
			write(traceEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": fmt.Sprintf("launch %d %s cta %s", i+1, r.kernel.Name, c.id)}})
			for w := range c.warps {
				write(traceEvent{Name: "thread_name", Phase: "M", PID: pid, TID: w + 1, Args: map[string]any{"name": fmt.Sprintf("warp %d", w)}})
			}
			slices.SortFunc(c.spans, func(a, b span) int {
				return cmp.Or(cmp.Compare(a.warp, b.warp), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.depth(), b.depth()))
			})
			for _, s := range c.spans {
				e := traceEvent{Phase: "X", PID: pid, TID: s.warp + 1, Time: start + s.from, Dur: s.to - s.from}
				if s.of != nil {
					e.Name, e.Cat = s.of.name, "code"
				} else {
					e.Name, e.Cat = "wait for "+s.wait, "wait"
				}
				write(e)
			}
			for w := range c.warps {
				last := int64(-1)
				name := fmt.Sprintf("lanes of warp %d", w)
				for _, s := range c.changes {
					if s.warp == w {
						write(traceEvent{Name: name, Phase: "C", PID: pid, Time: start + s.from, Args: map[string]any{"lanes": s.lanes}})
						last = s.to
					}
				}
				if last >= 0 {
					write(traceEvent{Name: name, Phase: "C", PID: pid, Time: start + last, Args: map[string]any{"lanes": 0}})
				}
			}
		}
		start += length
	}
	fmt.Fprint(b, "\n]}\n")
	return cmp.Or(err, b.Flush())
}
