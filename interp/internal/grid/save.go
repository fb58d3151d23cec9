package grid

// This file saves and restores a paused launch: all state that determines how it continues.

import (
	"maps"
	"slices"
	"unsafe"

	"gemu/interp/internal/async"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// Save copies the state of the launch, which must not be running. The error is mem.ErrOnHost.
func Save(g *machine.Grid) (*machine.State, error) {
	last := g.LastState
	if last == nil || last.Released {
		last = new(machine.State)
	}
	memory, err := g.Device.Memory.Save(last.Memory)
	if err != nil {
		return nil, err
	}
	s := &machine.State{
		Memory: memory, Steps: g.Steps, HeapUsed: g.Device.HeapUsed, Schedule: g.Schedule, ForcedTimeSlices: g.ForcedTimeSlices, Finished: g.Finished.Load(),
		Count: g.Count, Flights: reusableFlights(g, last.Flights), Next: g.Next, Output: maps.Clone(g.Output), Tolerated: slices.Clone(g.Tolerated),
	}
	g.LastState = s
	for _, p := range g.Probes {
		if p, ok := p.Probe.(probe.Saver); ok {
			s.Probes = append(s.Probes, p.Save())
		}
	}
	for i := range g.Flights {
		if c := g.Flights[i].CTA; c != nil && c.Stream != nil && g.Flights[i].Status != machine.CTAEnded {
			for _, l := range c.Stream.Sinks {
				if p, ok := l.Sink.(probe.Saver); ok {
					s.Sinks = append(s.Sinks, machine.SavedSink{Saver: p, State: p.Save()})
				}
			}
		}
	}
	return s, nil
}

// Restore returns the launch to a saved state. A state can be restored several times. Output that was written after Save
// stays written.
func Restore(g *machine.Grid, s *machine.State) error {
	if err := g.Device.Memory.Restore(s.Memory); err != nil {
		return err
	}
	if err := computeConstants(g); err != nil { // another launch of the kernel may have changed the constants
		return err
	}
	g.Pool = nil
	g.LastState, g.Steps = s, s.Steps
	g.Device.HeapUsed, g.Schedule, g.ForcedTimeSlices = s.HeapUsed, s.Schedule, s.ForcedTimeSlices
	reserve(g) // for the window at that time; a launch that has ended runs again
	g.Finished.Store(s.Finished)
	g.Count, g.Flights, g.Next, g.Output = s.Count, copyFlights(g, s.Flights), s.Next, maps.Clone(s.Output)
	g.Tolerated = slices.Clone(s.Tolerated)
	g.LowestFailed.Store(noFailure)
	states := s.Probes
	for _, p := range g.Probes {
		if p, ok := p.Probe.(probe.Saver); ok {
			p.Restore(states[0])
			states = states[1:]
		}
	}
	for _, p := range s.Sinks {
		p.Restore(p.State)
	}
	return nil
}

// Release frees a state. The state must not be restored afterwards.
func Release(g *machine.Grid, s *machine.State) {
	if s.Released {
		return
	}
	s.Released = true
	g.Device.Memory.Release(s.Memory)
	for i := 0; i < len(s.Flights); i += g.ClusterSize {
		if c := s.Flights[i].CTA; c != nil {
			if c.Cluster.StateRefs--; c.Cluster.StateRefs == 0 {
				g.StateBytes -= clusterBytes(c.Cluster)
			}
		}
	}
	s.Flights = nil
}

// StateBytes returns the size in bytes of all saved states that were not released.
func StateBytes(g *machine.Grid) uint64 { return g.StateBytes + g.Device.Memory.StateBytes() }

// reusableFlights returns the CTAs in flight with contexts that never change: the context in the last saved state if the
// CTA's cluster has not changed since then, otherwise a new copy.
func reusableFlights(g *machine.Grid, last []machine.Flight) []machine.Flight {
	flights := slices.Clone(g.Flights)
	for i := 0; i < len(flights); i += g.ClusterSize {
		if flights[i].CTA == nil {
			continue
		}
		cl := flights[i].CTA.Cluster
		j := slices.IndexFunc(last, func(f machine.Flight) bool { return f.Index == flights[i].Index && f.CTA != nil })
		if j >= 0 && !cl.ChangedSinceSave {
			for r := range g.ClusterSize {
				flights[i+r].CTA = last[j+r].CTA
			}
		} else {
			copyContexts(g, flights[i:i+g.ClusterSize])
			g.StateBytes += clusterBytes(flights[i].CTA.Cluster)
		}
		cl.ChangedSinceSave = false
		flights[i].CTA.Cluster.StateRefs++
	}
	return flights
}

// copyFlights returns the listed CTAs with copies of their contexts.
func copyFlights(g *machine.Grid, flights []machine.Flight) []machine.Flight {
	flights = slices.Clone(flights)
	for i := 0; i < len(flights); i += g.ClusterSize {
		if flights[i].CTA != nil {
			copyContexts(g, flights[i:i+g.ClusterSize])
		}
	}
	return flights
}

// copyContexts replaces the contexts of a cluster's CTAs with copies.
func copyContexts(g *machine.Grid, flights []machine.Flight) {
	from := flights[0].CTA.Cluster
	ctas := make([]*machine.CTA, g.ClusterSize)
	for r, other := range from.CTAs {
		ctas[r] = newCTA(g)
		copyCTA(ctas[r], other)
		flights[r].CTA = ctas[r]
	}
	to := &ctas[0].OwnCluster
	if g.Clustered() {
		to = newCluster(ctas)
	}
	async.CopyEffects(to, from)
	to.ChangedSinceSave, to.StateRefs = false, 0
	for r, other := range from.CTAs {
		for k, a := range other.LastHits {
			if n := slices.IndexFunc(from.CTAs, func(p *machine.CTA) bool { return p.SharedMem == a }); n >= 0 {
				ctas[r].LastHits[k] = ctas[n].SharedMem
			}
		}
	}
}

// clusterBytes returns the host memory of a cluster's CTAs in bytes, without pending asynchronous effects.
func clusterBytes(cl *machine.Cluster) (n uint64) {
	for _, c := range cl.CTAs {
		n += uint64(len(c.Shared) + len(c.SharedMem.Shadow))
		for i := range c.Warps {
			w := &c.Warps[i]
			n += uint64(unsafe.Sizeof(*w))
			for h := range w.Files {
				n += uint64(w.Files[h].Bytes() + len(rawBytes(w.Local[h])))
				if w.Check != nil {
					n += uint64(w.Check.Files[h].Bytes())
				}
			}
			for _, bytes := range w.Shadow {
				n += uint64(len(bytes))
			}
		}
	}
	return n
}

// copyCTA copies the state of a CTA from another context, other, into context c.
func copyCTA(c *machine.CTA, other *machine.CTA) {
	saved := *c
	*c = *other
	c.Native = saved.Native
	c.Native.UniformCTA = 0
	c.Warps, c.Shared, c.SharedMem, c.LastHits, c.IdleStream = saved.Warps, saved.Shared, saved.SharedMem, saved.LastHits, saved.IdleStream
	c.Cluster, c.OwnCluster = saved.Cluster, saved.OwnCluster
	copy(c.Shared, other.Shared)
	copy(c.SharedMem.Shadow, other.SharedMem.Shadow)
	c.SharedMem.Base, c.SharedMem.Size, c.SharedMem.Freed = other.SharedMem.Base, other.SharedMem.Size, other.SharedMem.Freed
	copy(c.LastHits, other.LastHits)
	c.ReleasedBlocks = maps.Clone(other.ReleasedBlocks)
	a := &c.AsyncState
	a.Copies, a.Lanes, a.Objects, a.Free, a.Sources = nil, nil, nil, nil, nil
	c.Tolerated = slices.Clone(other.Tolerated)
	c.Output = saved.Output
	c.Output.Reset()
	c.Output.Write(other.Output.Bytes())
	if other.Stream != nil {
		c.Stream = &machine.EventStream{CTA: c, Sinks: slices.Clone(other.Stream.Sinks), Subscription: other.Stream.Subscription}
		c.IdleStream = c.Stream
	}
	c.Frame = saved.Frame
	c.Frame.LastCallee = nil
	m := splitCopier{frames: map[*machine.Frame]*machine.Frame{&other.Frame: &c.Frame}, reconvergences: map[*machine.Reconvergence]*machine.Reconvergence{}}
	if other.Frame.Counterpart != nil {
		m.frames[other.Frame.Counterpart] = c.Frame.Counterpart
	}
	for i := range c.Warps {
		copyWarp(&c.Warps[i], &other.Warps[i], &m)
	}
	for i := range c.Barriers {
		b := &c.Barriers[i]
		b.Waiting, b.WaitingBuffer = slices.Clone(b.Waiting), nil
		for k, w := range b.Waiting {
			b.Waiting[k] = &c.Warps[w.ID]
		}
	}
}

// copyWarp copies the state of a warp, other, of another context into w.
func copyWarp(w *machine.Warp, other *machine.Warp, m *splitCopier) {
	saved := *w
	*w = *other
	w.CTA, w.Reconverger, w.Files, w.Local, w.Check, w.Unit, w.OnMaterialise, w.Exported = saved.CTA, saved.Reconverger, saved.Files, saved.Local, saved.Check, saved.Unit, saved.OnMaterialise, saved.Exported
	event.SetOnMaterialise(w)
	w.FreeWaits, w.BlockedInstr = nil, nil
	w.SourcesSet, w.Sources = false, nil
	w.Latest = slices.Clone(other.Latest)
	w.ReducedSinks = 0 // a sink without a saved state may no longer have its reason for the reduced event set
	w.WarpSplit = m.split(&other.WarpSplit)
	w.WaitingSplits = nil
	for i := range other.WaitingSplits {
		w.WaitingSplits = append(w.WaitingSplits, m.split(&other.WaitingSplits[i]))
	}
	for h := range w.Files {
		w.Files[h].CopyFrom(&other.Files[h])
		w.Local[h] = slices.Clone(other.Local[h])
		if w.Check != nil {
			w.Check.Files[h].CopyFrom(&other.Check.Files[h])
		}
	}
	w.Shadow = slices.Clone(other.Shadow)
	for lane, bytes := range w.Shadow {
		w.Shadow[lane] = slices.Clone(bytes)
	}
	w.ShownFrame = nil
	w.ShowWindow(m.frame(other.ShownFrame))
}

// splitCopier copies warp splits from one context to another. It maps the frames and reconvergence points of the first
// context to their copies in the second.
type splitCopier struct {
	frames         map[*machine.Frame]*machine.Frame
	reconvergences map[*machine.Reconvergence]*machine.Reconvergence
}

func (m *splitCopier) split(c *machine.WarpSplit) machine.WarpSplit {
	n := *c
	n.Frame, n.Reconvergence = m.frame(c.Frame), m.reconvergence(c.Reconvergence)
	if c.Wait != nil {
		b := *c.Wait
		n.Wait = &b
	}
	return n
}

func (m *splitCopier) frame(fr *machine.Frame) *machine.Frame {
	if n, ok := m.frames[fr]; ok || fr == nil {
		return n
	}
	n := new(machine.Frame)
	m.frames[fr] = n
	*n = *fr
	n.Caller, n.Counterpart, n.LastCallee = m.frame(fr.Caller), m.frame(fr.Counterpart), nil
	return n
}

func (m *splitCopier) reconvergence(j *machine.Reconvergence) *machine.Reconvergence {
	if n, ok := m.reconvergences[j]; ok || j == nil {
		return n
	}
	n := new(machine.Reconvergence)
	m.reconvergences[j] = n
	*n = *j
	n.Frame, n.Outer = m.frame(j.Frame), m.reconvergence(j.Outer)
	return n
}
