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

	"gemu/probe"
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
	launches []*timedLaunch
	runs     map[*probe.LaunchInfo]*timedLaunch
	tracks   int
}

// NewTimeline makes one.
func NewTimeline() *Timeline { return &Timeline{runs: map[*probe.LaunchInfo]*timedLaunch{}} }

// Subscription: what executes, and where it is by calls; waits.
func (t *Timeline) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnWarp | probe.OnWarpEnd | probe.OnAfter |
		probe.OnCall | probe.OnReturn | probe.OnWait | probe.OnWake}
}

// timedLaunch is a launch.
type timedLaunch struct {
	kernel        *ptx.Func
	ctas          []*track    // those that are shown, by index
	ctaCount      int         // CTAs that there are
	innermostLoop []*ptx.Loop // by instruction, the innermost loop
}

// OnEvent is told of launches.
func (t *Timeline) OnEvent(e *probe.Event) {
	if e.Launch == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind == probe.OnLaunchEnd {
		delete(t.runs, e.Launch)
		return
	}
	l := e.Launch
	r := &timedLaunch{kernel: l.Kernel, ctaCount: l.Grid.Count(), innermostLoop: make([]*ptx.Loop, l.Program.Len())}
	r.ctas = make([]*track, min(r.ctaCount, MaxFirst, MaxCTAs-t.tracks))
	t.tracks += len(r.ctas)
	inner := map[*ptx.Instr]*ptx.Loop{}
	seen := map[*ptx.Func]bool{}
	for i := range r.innermostLoop {
		instr, f := l.Program.At(i)
		if !seen[f] {
			seen[f] = true
			for _, loop := range f.Loops() { // inner ones behind those around them
				for _, b := range loop.Blocks {
					for _, instr := range b.Instrs {
						inner[instr] = loop
					}
				}
			}
		}
		r.innermostLoop[i] = inner[instr]
	}
	t.launches = append(t.launches, r)
	t.runs[l] = r
}

// CTA follows the first CTAs of a launch.
func (t *Timeline) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[l]
	if index >= len(r.ctas) {
		return nil
	}
	c := &track{timedLaunch: r, id: id, shortest: 1, warps: make([]timedWarp, (l.Block.Count()+l.WarpSize-1)/l.WarpSize)}
	c.root = &place{name: l.Kernel.Name}
	r.ctas[index] = c
	return c
}

// track is a CTA.
type track struct {
	*timedLaunch
	id       ptx.Dim3
	now      int64 // instructions so far
	warps    []timedWarp
	root     *place
	spans    []span
	changes  []change
	shortest int64 // instructions that a span or a number of lanes must last
	omitted  int   // … that were left out
}

// place is a function or a loop that lanes are in. What recurs is one place.
type place struct {
	parent   *place // around it
	key      any
	depth    int
	name     string
	children map[any]*place // by loop, or by call and function
}

// child is a place within another.
func (p *place) child(key any, name func() string) *place {
	for a := p; a != nil; a = a.parent {
		if a.key == key {
			return a
		}
	}
	n := p.children[key]
	if n == nil {
		n = &place{parent: p, key: key, depth: p.depth + 1, name: name()}
		if p.children == nil {
			p.children = map[any]*place{}
		}
		p.children[key] = n
	}
	return n
}

// callSite is a function that is called.
type callSite struct {
	call *ptx.Instr
	f    *ptx.Func
}

// timedWarp is a warp.
type timedWarp struct {
	places  [64]*place   // the functions that lanes are in
	callers [64][]*place // … that have called them
	open    []span       // the places that it is in, outermost first
	place   *place       // the last of them
	end     int64        // of its last instruction
	lanes   int          // of it
	since   int64        // when that became so
	wait    string       // what it waits for, since end; "" if for nothing
}

// span is a place, or a wait, of a warp from a time to another.
type span struct {
	warp     int
	place    *place
	wait     string
	from, to int64
}

// depth is how many places it is in; a wait is in all of them.
func (s *span) depth() int {
	if s.place == nil {
		return math.MaxInt
	}
	return s.place.depth
}

// change is a number of lanes that a warp runs with from a time to another.
type change struct {
	warp, lanes int
	from, to    int64
}

// OnEvent follows the CTA.
func (c *track) OnEvent(e *probe.Event) {
	if e.Warp < 0 { // it has ended
		return
	}
	w := &c.warps[e.Warp]
	switch e.Kind {
	case probe.OnWarp:
		for lane := range w.places {
			w.places[lane], w.callers[lane] = c.root, w.callers[lane][:0]
		}
		w.end, w.since = c.now, c.now
	case probe.OnAfter:
		c.instruction(e, w)
	case probe.OnCall:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			from := w.places[lane]
			w.callers[lane] = append(w.callers[lane], from)
			w.places[lane] = c.loopPlace(from, e.Func, c.timedLaunch.innermostLoop[e.Index]).child(callSite{e.Instr, e.Callee}, func() string { return e.Callee.Name })
		}
	case probe.OnReturn:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			last := len(w.callers[lane]) - 1
			w.places[lane], w.callers[lane] = w.callers[lane][last], w.callers[lane][:last]
		}
	case probe.OnWait:
		switch e.Wait.Barrier {
		case -1:
			w.wait = "lanes of the warp"
		case clusterBarrier:
			w.wait = "barrier of the cluster"
		default:
			w.wait = fmt.Sprintf("barrier %d", e.Wait.Barrier)
		}
	case probe.OnWake:
		c.waited(e.Warp, w)
	case probe.OnWarpEnd:
		c.close(w, 0)
		c.changed(e.Warp, w)
	}
}

// clusterBarrier is the barrier of the cluster, as Event.Waits has it.
const clusterBarrier = 16

// loopPlace is the loop, in a function, that an instruction is in.
func (c *track) loopPlace(current *place, f *ptx.Func, l *ptx.Loop) *place {
	if l == nil {
		return current
	}
	return c.loopPlace(current, f, l.Parent).child(l, func() string {
		instr := firstInstr(l.Blocks)
		if instr == nil {
			return "loop"
		}
		from := Frames(f, instr, false)[0]
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
func (c *track) instruction(e *probe.Event, w *timedWarp) {
	w.wait = "" // other lanes of it run
	current := c.loopPlace(w.places[bits.TrailingZeros64(e.Active)], e.Func, c.timedLaunch.innermostLoop[e.Index])
	if current != w.place {
		c.move(e.Warp, w, current)
	}
	if n := bits.OnesCount64(e.Active); n != w.lanes {
		c.changed(e.Warp, w)
		w.lanes, w.since = n, c.now
	}
	c.now++
	w.end = c.now
}

// waited ends the wait of a warp, if all of it has waited.
func (c *track) waited(warp int, w *timedWarp) {
	if w.wait != "" && c.now > w.end {
		c.add(span{warp, nil, w.wait, w.end, c.now})
	}
	w.wait = ""
}

// move ends the places that a warp has left, and begins those that it has come to.
func (c *track) move(warp int, w *timedWarp, to *place) {
	var path []*place
	for p := to; p != nil; p = p.parent {
		path = append(path, p)
	}
	slices.Reverse(path)
	same := 0
	for same < len(w.open) && same < len(path) && w.open[same].place == path[same] {
		same++
	}
	c.close(w, same)
	for _, p := range path[same:] {
		w.open = append(w.open, span{warp: warp, place: p, from: c.now})
	}
	w.place = to
}

// close ends the places of a warp but the first.
func (c *track) close(w *timedWarp, keep int) {
	for i := len(w.open) - 1; i >= keep; i-- {
		s := w.open[i]
		s.to = w.end
		c.add(s)
	}
	w.open, w.place = w.open[:keep], nil
}

// add takes a span that has ended.
func (c *track) add(s span) {
	if s.to-s.from < c.shortest {
		c.omitted++
		return
	}
	c.spans = append(c.spans, s)
	c.limitSpans()
}

// changed takes the number of lanes that a warp has run with.
func (c *track) changed(warp int, w *timedWarp) {
	if n := (change{warp, w.lanes, w.since, w.end}); n.to-n.from >= c.shortest {
		c.changes = append(c.changes, n)
		c.limitSpans()
	} else if n.to > n.from {
		c.omitted++
	}
}

// limitSpans leaves out what does not last, until there is room.
func (c *track) limitSpans() {
	for len(c.spans) > MaxSpans || len(c.changes) > MaxSpans {
		c.shortest *= 2
		n := len(c.spans) + len(c.changes)
		c.spans = slices.DeleteFunc(c.spans, func(s span) bool { return s.to-s.from < c.shortest })
		c.changes = slices.DeleteFunc(c.changes, func(s change) bool { return s.to-s.from < c.shortest })
		c.omitted += n - len(c.spans) - len(c.changes)
	}
}

// Omitted says what was left out, "" if nothing was.
func (t *Timeline) Omitted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctas, total, omitted, shortest := 0, 0, 0, int64(1)
	for _, r := range t.launches {
		ctas, total = ctas+len(r.ctas), total+r.ctaCount
		for _, c := range r.ctas {
			if c != nil {
				omitted, shortest = omitted+c.omitted, max(shortest, c.shortest)
			}
		}
	}
	text := ""
	if ctas < total {
		text = fmt.Sprintf("%d of %d CTAs are shown", ctas, total)
	}
	if omitted > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%d spans shorter than %d instructions are left out", omitted, shortest)
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
	omitted := t.Omitted()
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bufio.NewWriter(out)
	head, err := json.Marshal(map[string]string{"time": "warp instructions of the CTA, shown as microseconds", "left out": omitted})
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
				if s.place != nil {
					e.Name, e.Cat = s.place.name, "code"
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
