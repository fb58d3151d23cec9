package simt

// This file saves and restores a launch that has paused: all that decides how it goes on.

import (
	"maps"
	"slices"
	"unsafe"

	"gemu/interp/internal/mem"
	"gemu/probe"
)

// savedSink is what a sink has saved.
type savedSink struct {
	probe.Saver
	state any
}

// State is a launch as it was when it was saved, and the memory of its device. What has not
// changed since the state before it, pages of memory and CTAs, it shares with that.
type State struct {
	memory     *mem.Snapshot
	steps      int64
	heapUsed   uint64
	schedule   schedule
	fallenBack bool
	finished   int64
	count      Counts
	flights    []flight // each in a context that nobody changes
	next       int
	output     map[int][]byte

	tolerated toleratedFaults
	probes    []any
	sinks     []savedSink
	released  bool
}

// Save copies the launch, which must not be running. The error is mem.ErrOnHost.
func (g *Grid) Save() (*State, error) {
	last := g.lastState
	if last == nil || last.released {
		last = new(State)
	}
	memory, err := g.dev.Memory.Save(last.memory)
	if err != nil {
		return nil, err
	}
	s := &State{
		memory: memory, steps: g.steps, heapUsed: g.dev.heapUsed, schedule: g.schedule, fallenBack: g.fallenBack, finished: g.finished.Load(),
		count: g.count, flights: g.reusableFlights(last.flights), next: g.next, output: maps.Clone(g.output), tolerated: slices.Clone(g.tolerated),
	}
	g.lastState = s
	for _, p := range g.probes {
		if p, ok := p.Probe.(probe.Saver); ok {
			s.probes = append(s.probes, p.Save())
		}
	}
	for i := range g.flights {
		if c := g.flights[i].cta; c != nil && c.stream != nil && g.flights[i].status != ctaEnded {
			for _, l := range c.stream.sinks {
				if p, ok := l.Sink.(probe.Saver); ok {
					s.sinks = append(s.sinks, savedSink{p, p.Save()})
				}
			}
		}
	}
	return s, nil
}

// Restore makes the launch what it was when the state was saved, which can be restored
// again. What kernels have printed since stays printed.
func (g *Grid) Restore(s *State) error {
	if err := g.dev.Memory.Restore(s.memory); err != nil {
		return err
	}
	if err := g.computeConstants(); err != nil { // another launch of the kernel may have had other constants
		return err
	}
	g.pool = nil
	g.lastState, g.steps = s, s.steps
	g.dev.heapUsed, g.schedule, g.fallenBack = s.heapUsed, s.schedule, s.fallenBack
	g.finished.Store(s.finished)
	g.count, g.flights, g.next, g.output = s.count, g.copyFlights(s.flights), s.next, maps.Clone(s.output)
	g.tolerated = slices.Clone(s.tolerated)
	g.lowestFailed.Store(noFailure)
	states := s.probes
	for _, p := range g.probes {
		if p, ok := p.Probe.(probe.Saver); ok {
			p.Restore(states[0])
			states = states[1:]
		}
	}
	for _, p := range s.sinks {
		p.Restore(p.state)
	}
	return nil
}

// Release gives up a state: it is not restored any more.
func (g *Grid) Release(s *State) {
	if s.released {
		return
	}
	s.released = true
	g.dev.Memory.Release(s.memory)
	for i := 0; i < len(s.flights); i += g.clusterSize {
		if c := s.flights[i].cta; c != nil {
			if c.cluster.stateRefs--; c.cluster.stateRefs == 0 {
				g.stateBytes -= c.cluster.bytes()
			}
		}
	}
	s.flights = nil
}

// StateBytes is how many bytes the states have that were saved and not released.
func (g *Grid) StateBytes() uint64 { return g.stateBytes + g.dev.Memory.StateBytes() }

// reusableFlights is the CTAs in flight in contexts that stay what they are: those of a state from
// which they have not changed since, or new ones.
func (g *Grid) reusableFlights(last []flight) []flight {
	flights := slices.Clone(g.flights)
	for i := 0; i < len(flights); i += g.clusterSize {
		if flights[i].cta == nil {
			continue
		}
		cl := flights[i].cta.cluster
		j := slices.IndexFunc(last, func(f flight) bool { return f.index == flights[i].index && f.cta != nil })
		if j >= 0 && !cl.changedSinceSave {
			for r := range g.clusterSize {
				flights[i+r].cta = last[j+r].cta
			}
		} else {
			g.copyContexts(flights[i : i+g.clusterSize])
			g.stateBytes += flights[i].cta.cluster.bytes()
		}
		cl.changedSinceSave = false
		flights[i].cta.cluster.stateRefs++
	}
	return flights
}

// copyFlights is CTAs in flight in contexts of their own.
func (g *Grid) copyFlights(flights []flight) []flight {
	flights = slices.Clone(flights)
	for i := 0; i < len(flights); i += g.clusterSize {
		if flights[i].cta != nil {
			g.copyContexts(flights[i : i+g.clusterSize])
		}
	}
	return flights
}

// copyContexts gives the CTAs of a cluster contexts of their own.
func (g *Grid) copyContexts(flights []flight) {
	from := flights[0].cta.cluster
	ctas := make([]*cta, g.clusterSize)
	for r, other := range from.ctas {
		ctas[r] = newCTA(g)
		ctas[r].copyFrom(other)
		flights[r].cta = ctas[r]
	}
	to := &ctas[0].ownCluster
	if g.clustered() {
		to = newCluster(ctas)
	}
	to.copyEffects(from)
	to.changedSinceSave, to.stateRefs = false, 0
	for r, other := range from.ctas {
		for k, a := range other.lastHits {
			if n := slices.IndexFunc(from.ctas, func(p *cta) bool { return p.sharedMem == a }); n >= 0 {
				ctas[r].lastHits[k] = ctas[n].sharedMem
			}
		}
	}
}

// bytes is what the CTAs take of the host's memory, without what they have issued.
func (cl *cluster) bytes() (n uint64) {
	for _, c := range cl.ctas {
		n += uint64(len(c.shared) + len(c.sharedMem.Shadow))
		for i := range c.warps {
			w := &c.warps[i]
			n += uint64(unsafe.Sizeof(*w))
			for h := range w.files {
				n += uint64(w.files[h].Bytes() + len(rawBytes(w.local[h])))
				if w.check != nil {
					n += uint64(w.check.files[h].Bytes())
				}
			}
			for _, bytes := range w.shadow {
				n += uint64(len(bytes))
			}
		}
	}
	return n
}

// copyFrom makes the context that of a CTA that has another.
func (c *cta) copyFrom(other *cta) {
	saved := *c
	*c = *other
	c.native = saved.native
	c.native.sourceCount = 0
	c.warps, c.shared, c.sharedMem, c.lastHits, c.idleStream = saved.warps, saved.shared, saved.sharedMem, saved.lastHits, saved.idleStream
	c.cluster, c.ownCluster = saved.cluster, saved.ownCluster
	copy(c.shared, other.shared)
	copy(c.sharedMem.Shadow, other.sharedMem.Shadow)
	c.sharedMem.Base, c.sharedMem.Size, c.sharedMem.Freed = other.sharedMem.Base, other.sharedMem.Size, other.sharedMem.Freed
	copy(c.lastHits, other.lastHits)
	c.releasedBlocks = maps.Clone(other.releasedBlocks)
	c.asyncState.lanes = nil
	c.tolerated = slices.Clone(other.tolerated)
	c.output = saved.output
	c.output.Reset()
	c.output.Write(other.output.Bytes())
	if other.stream != nil {
		c.stream = &eventStream{cta: c, sinks: slices.Clone(other.stream.sinks), subscription: other.stream.subscription}
		c.idleStream = c.stream
	}
	c.frame = saved.frame
	c.frame.lastCallee = nil
	m := splitCopier{frames: map[*frame]*frame{&other.frame: &c.frame}, reconvergences: map[*reconvergence]*reconvergence{}}
	if other.frame.counterpart != nil {
		m.frames[other.frame.counterpart] = c.frame.counterpart
	}
	for i := range c.warps {
		c.warps[i].assume(&other.warps[i], &m)
	}
	for i := range c.barriers {
		b := &c.barriers[i]
		b.waiting, b.waitingBuffer = slices.Clone(b.waiting), nil
		for k, w := range b.waiting {
			b.waiting[k] = &c.warps[w.id]
		}
	}
}

// assume makes the warp what another is, of another context.
func (w *warp) assume(other *warp, m *splitCopier) {
	saved := *w
	*w = *other
	w.cta, w.rc, w.files, w.local, w.check, w.unit, w.onMaterialise, w.exported = saved.cta, saved.rc, saved.files, saved.local, saved.check, saved.unit, saved.onMaterialise, saved.exported
	w.setOnMaterialise()
	w.freeWaits, w.blockedInstr = nil, nil
	w.sourcesSet, w.sources = false, nil
	w.latest = slices.Clone(other.latest)
	w.reducedSinks = 0 // sinks that do not go back may have lost what it was eased for
	w.warpSplit = m.split(&other.warpSplit)
	w.waitingSplits = nil
	for i := range other.waitingSplits {
		w.waitingSplits = append(w.waitingSplits, m.split(&other.waitingSplits[i]))
	}
	for h := range w.files {
		w.files[h].CopyFrom(&other.files[h])
		w.local[h] = slices.Clone(other.local[h])
		if w.check != nil {
			w.check.files[h].CopyFrom(&other.check.files[h])
		}
	}
	w.shadow = slices.Clone(other.shadow)
	for lane, bytes := range w.shadow {
		w.shadow[lane] = slices.Clone(bytes)
	}
	w.shownFrame = nil
	w.show(m.frame(other.shownFrame))
}

// splitCopier is what has become of objects of one context in another.
type splitCopier struct {
	frames         map[*frame]*frame
	reconvergences map[*reconvergence]*reconvergence
}

func (m *splitCopier) split(c *warpSplit) warpSplit {
	n := *c
	n.frame, n.reconvergence = m.frame(c.frame), m.reconvergence(c.reconvergence)
	if c.wait != nil {
		b := *c.wait
		n.wait = &b
	}
	return n
}

func (m *splitCopier) frame(fr *frame) *frame {
	if n, ok := m.frames[fr]; ok || fr == nil {
		return n
	}
	n := new(frame)
	m.frames[fr] = n
	*n = *fr
	n.caller, n.counterpart, n.lastCallee = m.frame(fr.caller), m.frame(fr.counterpart), nil
	return n
}

func (m *splitCopier) reconvergence(j *reconvergence) *reconvergence {
	if n, ok := m.reconvergences[j]; ok || j == nil {
		return n
	}
	n := new(reconvergence)
	m.reconvergences[j] = n
	*n = *j
	n.frame, n.outer = m.frame(j.frame), m.reconvergence(j.outer)
	return n
}
