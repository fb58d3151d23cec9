// Package timeline records what a machine with a clock does over time, for Perfetto: the issues and the waits of each warp slot, the CTAs
// of each multiprocessor, and the contents of the L2 and of the queues of memory.
package timeline

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gemu/internal/traceevent"
	"gemu/machine"
	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/profile"
)

// Limits of a timeline.
const (
	MaxSMs     = 4       // multiprocessors: the first
	MaxSpans   = 1 << 14 // spans of the warps, and of the CTAs, of a multiprocessor; the shortest are dropped
	MaxSamples = 1 << 10 // samples of the counters; every other one is dropped
)

// Options selects what a timeline has.
type Options struct {
	Launch   int   // only this launch, from 1 on; 0: all
	From, To int64 // first and last cycle, counted from the first cycle of the first of these launches; To 0: to the end
	Listing  bool  // places are lines of the PTX, also if it names the source
}

// Timeline records launches of a machine with a clock. It is a core.Observer. Its output depends on the launches alone.
type Timeline struct {
	Options
	clock    *machine.Clock
	begun    int // launches
	launches []launch
	start    int64 // first cycle of the timeline
	sms      []*multiprocessor
	shown    bool // the launch in progress is in the timeline
	dropped  bool // launches, or cycles, were left out

	samples  []sample
	interval int64 // cycles between samples
	next     int64 // cycle of the next sample
}

// launch is a launch in the timeline.
type launch struct {
	*stream.Launch
	number   int // from 1 on
	from, to int64
}

// multiprocessor is the spans of a multiprocessor.
type multiprocessor struct {
	warps    []warpSpan
	ctas     []ctaSpan
	shortest int64 // minimum number of cycles of the spans
	omitted  int   // number of dropped spans
}

type warpSpan struct {
	core.WarpSpan
	launch int // index
}

type ctaSpan struct {
	core.CTASpan
	launch int // index
}

// sample is the state of the memory after a cycle.
type sample struct {
	at int64
	memory.State
}

// New makes a machine record its launches, which have not begun.
func New(c *machine.Clock, o Options) *Timeline {
	t := &Timeline{Options: o, clock: c, start: -1, interval: 1}
	c.Observer = t
	return t
}

// Begin begins a launch.
func (t *Timeline) Begin(l *stream.Launch, at int64) {
	t.begun++
	t.shown = t.Launch == 0 || t.Launch == t.begun
	if !t.shown {
		return
	}
	if t.start < 0 {
		t.start, t.next = at, at
		for range min(t.clock.SMs, MaxSMs) {
			t.sms = append(t.sms, &multiprocessor{shortest: 1})
		}
	}
	t.launches = append(t.launches, launch{Launch: l, number: t.begun, from: at})
}

// End ends a launch.
func (t *Timeline) End(at int64) {
	if t.shown {
		l := &t.launches[len(t.launches)-1]
		l.to = at
		t.sample(at - 1)
		from, to := l.from, l.to
		t.clip(&from, &to)
	}
	t.shown = false
}

// Cycles returns the number of cycles from the start of the first launch in the timeline to the end of the last launch.
func (t *Timeline) Cycles() int64 {
	if len(t.launches) == 0 {
		return 0
	}
	return t.launches[len(t.launches)-1].to - t.start
}

// clip limits cycles to those of the timeline. It returns false if none is left.
func (t *Timeline) clip(from, to *int64) bool {
	first, last := *from, *to
	*from = max(*from, t.start+t.From)
	if t.To > 0 {
		*to = min(*to, t.start+t.To+1)
	}
	t.dropped = t.dropped || *from != first || *to != last
	return *from < *to
}

// CTA adds a CTA.
func (t *Timeline) CTA(c *core.CTASpan) {
	if !t.shown || c.SM >= len(t.sms) {
		return
	}
	s := ctaSpan{*c, len(t.launches) - 1}
	if m := t.sms[c.SM]; t.clip(&s.From, &s.To) {
		if s.To-s.From < m.shortest {
			m.omitted++
			return
		}
		m.ctas = append(m.ctas, s)
		m.limit()
	}
}

// Warp adds a part of the life of a warp.
func (t *Timeline) Warp(w *core.WarpSpan) {
	if !t.shown || w.SM >= len(t.sms) {
		return
	}
	s := warpSpan{*w, len(t.launches) - 1}
	if m := t.sms[w.SM]; t.clip(&s.From, &s.To) {
		if s.To-s.From < m.shortest {
			m.omitted++
			return
		}
		m.warps = append(m.warps, s)
		m.limit()
	}
}

// limit drops the shortest spans until there are as many as a timeline may have.
func (m *multiprocessor) limit() {
	for len(m.warps) > MaxSpans || len(m.ctas) > MaxSpans {
		m.shortest *= 2
		n := len(m.warps) + len(m.ctas)
		m.warps = slices.DeleteFunc(m.warps, func(s warpSpan) bool { return s.To-s.From < m.shortest })
		m.ctas = slices.DeleteFunc(m.ctas, func(s ctaSpan) bool { return s.To-s.From < m.shortest })
		m.omitted += n - len(m.warps) - len(m.ctas)
	}
}

// Cycle samples the memory at intervals.
func (t *Timeline) Cycle(now int64) {
	if t.shown && now >= t.next {
		t.sample(now)
	}
}

// sample samples the memory.
func (t *Timeline) sample(now int64) {
	from, to := now, now+1
	if t.clock.Memory() == nil || !t.clip(&from, &to) {
		return
	}
	if n := len(t.samples); n > 0 && t.samples[n-1].at == now {
		return
	}
	t.samples = append(t.samples, sample{now, t.clock.Memory().State()})
	if len(t.samples) > MaxSamples {
		kept := t.samples[:0]
		for i := 0; i < len(t.samples); i += 2 {
			kept = append(kept, t.samples[i])
		}
		t.samples = kept
		t.interval *= 2
	}
	t.next = now - (now-t.start)%t.interval + t.interval
}

// Err returns the first error of the machine.
func (t *Timeline) Err() error { return t.clock.Err() }

// Omitted describes what the timeline leaves out; "" if that is nothing.
func (t *Timeline) Omitted() string {
	var list []string
	if n := t.clock.SMs; n > MaxSMs {
		list = append(list, fmt.Sprintf("%d of %d multiprocessors are shown", MaxSMs, n))
	}
	if t.dropped && t.To > 0 {
		list = append(list, fmt.Sprintf("only cycles %d to %d are shown", t.From, t.To))
	}
	if omitted, shortest := t.shortened(); omitted > 0 {
		list = append(list, fmt.Sprintf("%d spans shorter than %d cycles are left out", omitted, shortest))
	}
	return strings.Join(list, "; ")
}

// Shortened reports whether spans of the shown multiprocessors and cycles are left out because they are too many.
func (t *Timeline) Shortened() bool {
	omitted, _ := t.shortened()
	return omitted > 0
}

// shortened returns the number of dropped spans, and the length from which on all are shown.
func (t *Timeline) shortened() (omitted int, shortest int64) {
	shortest = 1
	for _, m := range t.sms {
		omitted, shortest = omitted+m.omitted, max(shortest, m.shortest)
	}
	return omitted, shortest
}

// Processes and threads of the file.
const (
	launchesProcess = 1
	memoryProcess   = 2
	smProcess       = 10  // of multiprocessor 0
	placeThread     = 1   // of place 0 for CTAs
	slotThread      = 101 // of warp slot 0
)

// Write writes the timeline in the trace event format, in which a microsecond stands for a cycle. Each multiprocessor is a process, with a
// thread for each place of a CTA and each slot of a warp. Two more processes have the launches and the counters of the memory. Write
// returns the first error of out.
func (t *Timeline) Write(out io.Writer) error {
	w := traceevent.NewWriter(out, map[string]string{"time": "cycles of the multiprocessors, shown as microseconds", "left out": t.Omitted()})
	w.Process(launchesProcess, "launches")
	w.Thread(launchesProcess, 1, "kernels")
	for _, l := range t.launches {
		if from, to := l.from, l.to; t.clip(&from, &to) {
			w.Span(launchesProcess, 1, fmt.Sprintf("launch %d %s", l.number, l.Kernel.Name), "launch", from-t.start, to-t.start,
				map[string]any{"grid": l.Grid.String(), "block": l.Block.String()})
		}
	}
	t.writeMemory(w)
	names := map[instruction]*named{}
	for n, m := range t.sms {
		pid := smProcess + n
		w.Process(pid, fmt.Sprintf("SM %d", n))
		slices.SortFunc(m.ctas, func(a, b ctaSpan) int {
			return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.From, b.From))
		})
		for i := range m.ctas {
			c := &m.ctas[i]
			if i == 0 || m.ctas[i-1].Place != c.Place {
				w.Thread(pid, placeThread+c.Place, fmt.Sprintf("CTAs of place %d", c.Place))
			}
			w.Span(pid, placeThread+c.Place, fmt.Sprintf("CTA %d", c.CTA), "cta", c.From-t.start, c.To-t.start, map[string]any{"launch": t.launches[c.launch].number})
		}
		slices.SortFunc(m.warps, func(a, b warpSpan) int {
			return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.From, b.From))
		})
		for i := range m.warps {
			s := &m.warps[i]
			if i == 0 || m.warps[i-1].Slot != s.Slot {
				w.Thread(pid, slotThread+s.Slot, fmt.Sprintf("warp slot %d", s.Slot))
			}
			t.writeWarp(w, pid, s, names)
		}
	}
	return w.Close()
}

// instruction is an instruction of a launch.
type instruction struct {
	launch int
	index  int32
}

// named is the names of an instruction.
type named struct{ opcode, text, ptx, source string }

// name returns the names of an instruction.
func (t *Timeline) name(i instruction, names map[instruction]*named) *named {
	if n := names[i]; n != nil {
		return n
	}
	l := &t.launches[i.launch]
	instr, f := l.Program.At(int(i.index))
	place := func(listing bool) string {
		frame := profile.Frames(f, instr, listing)[0]
		return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
	}
	n := &named{opcode: instr.Text, text: strings.Join(strings.Fields(l.Module.Line(int(instr.Pos.Line))), " "), ptx: place(true), source: place(t.Listing)}
	names[i] = n
	return n
}

// writeWarp writes a part of the life of a warp. Its name has the reason and the place to blame for it.
func (t *Timeline) writeWarp(w *traceevent.Writer, pid int, s *warpSpan, names map[instruction]*named) {
	args := map[string]any{"cta": s.CTA, "warp": s.Warp}
	var at, cause *named
	if s.Instr >= 0 {
		at = t.name(instruction{s.launch, s.Instr}, names)
		args["instruction"], args["ptx"], args["source"] = at.text, at.ptx, at.source
	} else {
		args["instruction"] = "none: the warp has executed its last instruction, and waits for results"
	}
	if s.Cause >= 0 {
		cause = t.name(instruction{s.launch, s.Cause}, names)
		args["cause"], args["cause ptx"], args["cause source"] = cause.text, cause.ptx, cause.source
	}
	name := s.Reason.String()
	switch {
	case s.Reason == core.Issues:
		name = at.opcode + " " + at.source
	case cause != nil:
		name += ": " + cause.source
	case at != nil:
		name += ": " + at.source
	}
	w.Span(pid, slotThread+s.Slot, name, s.Reason.String(), s.From-t.start, s.To-t.start, args)
}

// writeMemory writes the counters of the memory. A value that does not change is not written again, but at the end.
func (t *Timeline) writeMemory(w *traceevent.Writer) {
	if len(t.samples) == 0 {
		return
	}
	w.Process(memoryProcess, "L2 and memory")
	counter := func(name string, values func(i int) map[string]any) {
		last := ""
		for i := range t.samples {
			v := values(i)
			if text := fmt.Sprint(v); text != last || i == len(t.samples)-1 {
				w.Counter(memoryProcess, name, t.samples[i].at-t.start, v)
				last = text
			}
		}
	}
	counter("sectors of the L2", func(i int) map[string]any {
		s := &t.samples[i]
		return map[string]any{"clean": s.Valid - s.Dirty, "dirty": s.Dirty}
	})
	counter("lines on the way to the L2", func(i int) map[string]any { return map[string]any{"lines": t.samples[i].InFlight} })
	counter("requests behind the L1", func(i int) map[string]any { return map[string]any{"requests": t.samples[i].Requests} })
	for c := range t.samples[0].Channels {
		counter(fmt.Sprintf("channel %d: queues", c), func(i int) map[string]any {
			s := &t.samples[i].Channels[c]
			return map[string]any{"reads": s.Reads, "writes": s.Writes}
		})
		counter(fmt.Sprintf("channel %d: bytes in a cycle", c), func(i int) map[string]any {
			value := 0.0
			if i+1 < len(t.samples) {
				a, b := &t.samples[i], &t.samples[i+1]
				value = float64((b.Channels[c].Sectors-a.Channels[c].Sectors)*stream.SectorBytes) / float64(b.at-a.at)
			}
			return map[string]any{"bytes": value}
		})
	}
}
