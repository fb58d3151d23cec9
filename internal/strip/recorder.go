package strip

// This file is the probe that records strips.

import (
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/trace"
)

// Limits of Options that are zero.
const (
	DefaultWarps = 4       // for Options.MaxWarps
	DefaultRuns  = 100_000 // for Options.MaxRuns
)

// Options selects what is recorded. The zero Options records the first warps of each launch.
type Options struct {
	// CTAs and Warps select the warps, by linear index of the CTA and index in the CTA; empty selects all.
	CTAs, Warps trace.Ranges
	// MaxWarps is the largest number of recorded warps of a launch; 0 is DefaultWarps. The warps that begin first are recorded.
	MaxWarps int
	// MaxRuns is the largest number of runs of a warp; 0 is DefaultRuns.
	MaxRuns int
	// SourceOf returns the source line of an instruction with a .loc, "" and 0 for none; nil is the line of the .loc.
	SourceOf func(f *ptx.Func, instr *ptx.Instr) (file string, line int)
}

// Recorder is a probe that records the strip of each launch. It is a probe.Saver: a launch that is restored to an earlier
// moment has the strip of this moment.
type Recorder struct {
	options Options
	mu      sync.Mutex
	strips  []*Strip
	running map[*probe.LaunchInfo]*Strip
}

// NewRecorder returns a probe without strips.
func NewRecorder(o Options) *Recorder {
	if o.MaxWarps == 0 {
		o.MaxWarps = DefaultWarps
	}
	if o.MaxRuns == 0 {
		o.MaxRuns = DefaultRuns
	}
	return &Recorder{options: o, running: map[*probe.LaunchInfo]*Strip{}}
}

// Strips returns the strips of the launches so far, in the order in which they began.
func (r *Recorder) Strips() []*Strip {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.strips)
}

// Warp returns the strip of a warp of the latest launch, on its own; nil if the warp has none. It must not be read while the launch
// runs.
func (r *Recorder) Warp(cta, index int) *Strip {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.strips) == 0 {
		return nil
	}
	s := *r.strips[len(r.strips)-1]
	i := slices.IndexFunc(s.Warps, func(w *Warp) bool { return w.CTA == cta && w.Index == index })
	if i < 0 {
		return nil
	}
	s.Warps, s.OtherWarps = s.Warps[i:i+1:i+1], 0
	return &s
}

// Subscription returns the executed instructions and the ends of CTAs and launches, in a fixed order of CTAs.
func (r *Recorder) Subscription() probe.Subscription {
	return probe.Subscription{Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnWarp | probe.OnAfter | probe.OnTrap, InOrder: true}
}

// OnEvent handles the beginning and end of launches.
func (r *Recorder) OnEvent(e *probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		l := e.Launch
		s := &Strip{Kernel: l.Kernel.Name, File: l.Module.Name, Policy: l.Reconverge.Name, Grid: l.Grid, Block: l.Block, WarpSize: l.WarpSize}
		s.Program, s.Blocks = program(l.Program, r.options.SourceOf)
		r.running[l] = s
		r.strips = append(r.strips, s)
	case probe.OnLaunchEnd:
		if s := r.running[e.Launch]; s != nil {
			s.Err = e.Err
			delete(r.running, e.Launch)
		}
	}
}

// CTA returns the sink that records a CTA.
func (r *Recorder) CTA(l *probe.LaunchInfo, _ int, _ ptx.Dim3) probe.Sink {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.running[l]
	if s == nil {
		return nil
	}
	if len(s.Warps) >= r.options.MaxWarps { // no event of this CTA is needed
		s.OtherWarps += (l.Block.Count() + l.WarpSize - 1) / l.WarpSize
		return nil
	}
	return &sink{r: r, strip: s, warps: map[int]*Warp{}}
}

// sink records a CTA.
type sink struct {
	r     *Recorder
	strip *Strip
	warps map[int]*Warp // by index
	stack []probe.StackEntry
}

// OnEvent handles the events of a warp.
func (s *sink) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnWarp:
		o := &s.r.options
		if !o.CTAs.Has(uint64(e.CTA)) || !o.Warps.Has(uint64(e.Warp)) || len(s.strip.Warps) >= o.MaxWarps {
			s.strip.OtherWarps++
			return
		}
		n := bits.OnesCount64(e.Lanes)
		w := &Warp{CTA: e.CTA, Index: e.Warp, Lanes: e.Lanes, Full: n == s.strip.WarpSize && n > 1}
		s.warps[e.Warp] = w
		s.strip.Warps = append(s.strip.Warps, w)
	case probe.OnAfter:
		if w := s.warps[e.Warp]; w != nil {
			s.step(e, w)
		}
	case probe.OnTrap:
		if w := s.warps[e.Warp]; w != nil {
			s.stack = e.AppendStack(s.stack[:0])
			w.Final = s.finalWaits()
		}
	}
}

// step adds an executed instruction to a warp.
func (s *sink) step(e *probe.Event, w *Warp) {
	place := &s.strip.Program[e.Index]
	lanes := e.Lanes
	if place.endsBlock {
		lanes = e.Active
	}
	if e.Step < 0 && place.endsBlock {
		return // the exit of lanes by a branch, which is a step already
	}
	s.stack = e.AppendStack(s.stack[:0])
	waiting := waits(s.stack)
	if e.Step < 0 { // lanes at several places execute a collective instruction together: a step for each place
		waiting = without(append(s.running(Blocked), waiting...), e.Active)
	}
	run := Run{First: w.Steps + 1, Steps: 1, Block: place.Block, From: e.Index, To: e.Index, Active: e.Active, Lanes: lanes, Waits: waiting}
	if n := len(w.Runs); n > 0 {
		if last := &w.Runs[n-1]; last.Block == run.Block && last.Active == run.Active && last.Lanes == run.Lanes && slices.Equal(last.Waits, run.Waits) {
			last.Steps++
			last.From, last.To = min(last.From, e.Index), max(last.To, e.Index)
			w.Steps++
			return
		}
	}
	if len(w.Runs) >= s.r.options.MaxRuns || w.Cut {
		w.Cut = true
		return
	}
	w.Runs = append(w.Runs, run)
	w.Steps++
}

// waits returns the waits of a reconvergence stack.
func waits(stack []probe.StackEntry) (list []Wait) {
	for _, x := range stack {
		w := Wait{Lanes: x.Lanes, At: x.Index}
		switch x.Kind {
		case probe.RunningSplit:
			continue
		case probe.ReadySplit:
			w.Kind = Ready
		case probe.BlockedSplit:
			w.Kind = Blocked
		case probe.ReconvergencePoint:
			if x.Arrived == 0 {
				continue
			}
			w.Kind, w.Lanes, w.Missing = Arrived, x.Arrived, x.Lanes&^x.Arrived
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Wait) int { return bits.TrailingZeros64(a.Lanes) - bits.TrailingZeros64(b.Lanes) })
	return list
}

// running returns the running warp split of the stack as a wait of a kind.
func (s *sink) running(kind WaitKind) (list []Wait) {
	for _, x := range s.stack {
		if x.Kind == probe.RunningSplit {
			list = append(list, Wait{Kind: kind, Lanes: x.Lanes, At: x.Index})
		}
	}
	return list
}

// finalWaits returns the waits of the stack at a trap, with the running lanes first.
func (s *sink) finalWaits() []Wait {
	list := s.running(Stuck)
	for i := range list {
		if at := list[i].At; at >= 0 && s.strip.Program[at].isBarrier {
			list[i].Kind = Blocked
		}
	}
	return append(list, waits(s.stack)...)
}

// without returns waits without some lanes.
func without(list []Wait, lanes uint64) (rest []Wait) {
	for _, w := range list {
		if w.Lanes &^= lanes; w.Lanes != 0 {
			rest = append(rest, w)
		}
	}
	return rest
}

// savedStrip is the state of a running strip.
type savedStrip struct {
	launch     *probe.LaunchInfo
	strip      *Strip
	warps      []savedWarp
	otherWarps int
}

// savedWarp is the state of a warp.
type savedWarp struct {
	warp *Warp
	copy Warp
	last Run // the last run, which may grow later
}

// Save returns a copy of the state.
func (r *Recorder) Save() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := []savedStrip{}
	for l, s := range r.running {
		saved := savedStrip{launch: l, strip: s, otherWarps: s.OtherWarps}
		for _, w := range s.Warps {
			x := savedWarp{warp: w, copy: *w}
			if n := len(w.Runs); n > 0 {
				x.last = w.Runs[n-1]
			}
			saved.warps = append(saved.warps, x)
		}
		state = append(state, saved)
	}
	return state
}

// Restore sets the strips of the launches that were running to a saved state.
func (r *Recorder) Restore(state any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.running)
	for _, saved := range state.([]savedStrip) {
		s := saved.strip
		r.running[saved.launch] = s
		s.Err, s.OtherWarps, s.Warps = nil, saved.otherWarps, s.Warps[:0]
		for _, x := range saved.warps {
			*x.warp = x.copy
			x.warp.Runs = slices.Clone(x.copy.Runs) // other states share the saved runs
			if n := len(x.warp.Runs); n > 0 {
				x.warp.Runs[n-1] = x.last
			}
			s.Warps = append(s.Warps, x.warp)
		}
	}
}
