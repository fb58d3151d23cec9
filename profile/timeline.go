package profile

// This file records timelines: for each warp of a CTA, its functions, loops, waits and number of active lanes
// over time.

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"sync"

	"gemu/internal/traceevent"
	"gemu/probe"
	"gemu/ptx"
)

// Limits of a timeline.
const (
	MaxCTAs  = 64   // CTAs over all launches
	MaxFirst = 16   // first CTAs of a launch
	MaxSpans = 4096 // spans, and changes of lane numbers, in a CTA; the shortest are dropped
)

// Timeline is a probe that records launches over time. The unit of time is an instruction executed by the warps
// of a CTA, counted for each CTA alone; there are no cycles. A diverged warp is at the place of its running
// split. Launches are in sequence. It is safe for concurrent launches, and cannot step back with a restored
// launch.
type Timeline struct {
	mu       sync.Mutex
	launches []*timedLaunch
	runs     map[*probe.LaunchInfo]*timedLaunch
	tracks   int
}

// NewTimeline returns an empty timeline.
func NewTimeline() *Timeline { return &Timeline{runs: map[*probe.LaunchInfo]*timedLaunch{}} }

// Subscription asks for executed instructions, calls and waits.
func (t *Timeline) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnWarp | probe.OnWarpEnd | probe.OnAfter |
		probe.OnCall | probe.OnReturn | probe.OnWait | probe.OnWake}
}

// timedLaunch is a recorded launch.
type timedLaunch struct {
	kernel        *ptx.Func
	ctas          []*track    // recorded CTAs, by index
	ctaCount      int         // number of CTAs in the grid
	innermostLoop []*ptx.Loop // innermost loop of each instruction
}

// OnEvent handles the beginning and end of launches.
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
			for _, loop := range f.Loops() { // inner loops come last
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

// CTA returns a sink for the first CTAs of a launch.
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

// track is the timeline of a CTA.
type track struct {
	*timedLaunch
	id       ptx.Dim3
	now      int64 // instructions so far
	warps    []timedWarp
	root     *place
	spans    []span
	changes  []change
	shortest int64 // minimum duration of spans and changes, in instructions
	omitted  int   // number of dropped spans and changes
}

// place is a function or a loop of a lane. Recursion takes a single place.
type place struct {
	parent   *place // the enclosing place
	key      any
	depth    int
	name     string
	children map[any]*place // by loop, or by call and function
}

// child returns the place inside p for a key, and creates it if necessary.
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

// callSite is a call of a function.
type callSite struct {
	call *ptx.Instr
	f    *ptx.Func
}

// timedWarp is the state of a warp.
type timedWarp struct {
	places  [64]*place   // the function of each lane
	callers [64][]*place // its callers
	open    []span       // the current places, outermost first
	place   *place       // the innermost place
	end     int64        // end of the last instruction
	lanes   int          // number of active lanes
	since   int64        // time of the last change of lanes
	wait    string       // reason of the wait since end; "": no wait
}

// span is a stay of a warp in a place, or a wait.
type span struct {
	warp     int
	place    *place
	wait     string
	from, to int64
}

// depth returns the nesting depth of the place; a wait is innermost.
func (s *span) depth() int {
	if s.place == nil {
		return math.MaxInt
	}
	return s.place.depth
}

// change is a period with a constant number of active lanes.
type change struct {
	warp, lanes int
	from, to    int64
}

// OnEvent handles the events of the CTA.
func (c *track) OnEvent(e *probe.Event) {
	if e.Warp < 0 { // end of the CTA
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
		case probe.ClusterBarrier:
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

// loopPlace returns the place of a loop in a function.
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

// instruction handles an instruction of a warp.
func (c *track) instruction(e *probe.Event, w *timedWarp) {
	w.wait = "" // other lanes of the warp run
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

// waited ends the wait of a warp, if the whole warp has waited.
func (c *track) waited(warp int, w *timedWarp) {
	if w.wait != "" && c.now > w.end {
		c.add(span{warp, nil, w.wait, w.end, c.now})
	}
	w.wait = ""
}

// move ends the left places of a warp and begins the new places.
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

// close ends the places of a warp except the outermost keep.
func (c *track) close(w *timedWarp, keep int) {
	for i := len(w.open) - 1; i >= keep; i-- {
		s := w.open[i]
		s.to = w.end
		c.add(s)
	}
	w.open, w.place = w.open[:keep], nil
}

// add adds an ended span.
func (c *track) add(s span) {
	if s.to-s.from < c.shortest {
		c.omitted++
		return
	}
	c.spans = append(c.spans, s)
	c.limitSpans()
}

// changed adds the period with the last number of lanes.
func (c *track) changed(warp int, w *timedWarp) {
	if n := (change{warp, w.lanes, w.since, w.end}); n.to-n.from >= c.shortest {
		c.changes = append(c.changes, n)
		c.limitSpans()
	} else if n.to > n.from {
		c.omitted++
	}
}

// limitSpans drops the shortest spans and changes until the limits hold.
func (c *track) limitSpans() {
	for len(c.spans) > MaxSpans || len(c.changes) > MaxSpans {
		c.shortest *= 2
		n := len(c.spans) + len(c.changes)
		c.spans = slices.DeleteFunc(c.spans, func(s span) bool { return s.to-s.from < c.shortest })
		c.changes = slices.DeleteFunc(c.changes, func(s change) bool { return s.to-s.from < c.shortest })
		c.omitted += n - len(c.spans) - len(c.changes)
	}
}

// Omitted describes the dropped parts; "" if there are none.
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

// Write writes the timeline as JSON in the trace event format, for Perfetto and chrome://tracing. A CTA is a
// process, a warp a thread, a warp instruction a microsecond. It returns the writer's error.
func (t *Timeline) Write(out io.Writer) error {
	omitted := t.Omitted()
	t.mu.Lock()
	defer t.mu.Unlock()
	w := traceevent.NewWriter(out, map[string]string{"time": "warp instructions of the CTA, shown as microseconds", "left out": omitted})
	pid, start := 0, int64(0)
	for i, r := range t.launches {
		length := int64(0)
		for _, c := range r.ctas {
			if c == nil { // never began
				continue
			}
			pid++
			length = max(length, c.now)
			w.Process(pid, fmt.Sprintf("launch %d %s cta %s", i+1, r.kernel.Name, c.id))
			for k := range c.warps {
				w.Thread(pid, k+1, fmt.Sprintf("warp %d", k))
			}
			slices.SortFunc(c.spans, func(a, b span) int {
				return cmp.Or(cmp.Compare(a.warp, b.warp), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.depth(), b.depth()))
			})
			for _, s := range c.spans {
				name, category := "wait for "+s.wait, "wait"
				if s.place != nil {
					name, category = s.place.name, "code"
				}
				w.Span(pid, s.warp+1, name, category, start+s.from, start+s.to, nil)
			}
			for k := range c.warps {
				last := int64(-1)
				name := fmt.Sprintf("lanes of warp %d", k)
				for _, s := range c.changes {
					if s.warp == k {
						w.Counter(pid, name, start+s.from, map[string]any{"lanes": s.lanes})
						last = s.to
					}
				}
				if last >= 0 {
					w.Counter(pid, name, start+last, map[string]any{"lanes": 0})
				}
			}
		}
		start += length
	}
	return w.Close()
}
