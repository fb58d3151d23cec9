package simt

// This file saves and restores a launch that has paused: all that decides how it goes on.

import (
	"maps"
	"slices"
	"unsafe"

	"gemu/interp/internal/mem"
)

// Saver is a probe, or a sink, that goes back with a launch: what it knows is part of a State.
// Probes are asked first, then the sinks of the CTAs in flight, which are the same ones
// again when the state is restored. What they are given back they must not change: a state may
// be restored several times.
type Saver interface {
	Save() any
	Restore(state any)
}

// savedSink is what a sink has saved.
type savedSink struct {
	Saver
	state any
}

// State is a launch as it was when it was saved, and the memory of its device. What has not
// changed since the state before it, pages of memory and CTAs, it shares with that.
type State struct {
	memory   *mem.Saved
	steps    int64
	heapUsed uint64
	schedule schedule
	loose    bool
	finished int64
	count    Counts
	flights  []flight // each in a context that nobody changes
	next     int
	output   map[int][]byte

	tolerated tolerated
	probes    []any
	sinks     []savedSink
	released  bool
}

// Save copies the launch, which must not be running. The error is mem.ErrOnHost.
func (g *Grid) Save() (*State, error) {
	last := g.last
	if last == nil || last.released {
		last = new(State)
	}
	memory, err := g.dev.Memory.Save(last.memory)
	if err != nil {
		return nil, err
	}
	s := &State{
		memory: memory, steps: g.steps, heapUsed: g.dev.heapUsed, schedule: g.schedule, loose: g.loose, finished: g.finished.Load(),
		count: g.count, flights: g.kept(last.flights), next: g.next, output: maps.Clone(g.output), tolerated: slices.Clone(g.tolerated),
	}
	g.last = s
	for _, p := range g.probes {
		if p, ok := p.Probe.(Saver); ok {
			s.probes = append(s.probes, p.Save())
		}
	}
	for i := range g.flights {
		if c := g.flights[i].cta; c != nil && c.stream != nil && g.flights[i].status != hasFinished {
			for _, l := range c.stream.sinks {
				if p, ok := l.Sink.(Saver); ok {
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
	if err := g.fold(); err != nil { // another launch of the kernel may have had other constants
		return err
	}
	g.pool = nil
	g.last, g.steps = s, s.steps
	g.dev.heapUsed, g.schedule, g.loose = s.heapUsed, s.schedule, s.loose
	g.finished.Store(s.finished)
	g.count, g.flights, g.next, g.output = s.count, g.copied(s.flights), s.next, maps.Clone(s.output)
	g.tolerated = slices.Clone(s.tolerated)
	g.lowFail.Store(noFailure)
	states := s.probes
	for _, p := range g.probes {
		if p, ok := p.Probe.(Saver); ok {
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
	for i := 0; i < len(s.flights); i += g.size {
		if c := s.flights[i].cta; c != nil {
			if c.cluster.states--; c.cluster.states == 0 {
				g.keeps -= c.cluster.bytes()
			}
		}
	}
	s.flights = nil
}

// Kept is how many bytes the states have that were saved and not released.
func (g *Grid) Kept() uint64 { return g.keeps + g.dev.Memory.Kept() }

// kept is the CTAs in flight in contexts that stay what they are: those of a state from
// which they have not changed since, or new ones.
func (g *Grid) kept(last []flight) []flight {
	flights := slices.Clone(g.flights)
	for i := 0; i < len(flights); i += g.size {
		if flights[i].cta == nil {
			continue
		}
		of := flights[i].cta.cluster
		j := slices.IndexFunc(last, func(f flight) bool { return f.index == flights[i].index && f.cta != nil })
		if j >= 0 && !of.touched {
			for r := range g.size {
				flights[i+r].cta = last[j+r].cta
			}
		} else {
			g.copy(flights[i : i+g.size])
			g.keeps += flights[i].cta.cluster.bytes()
		}
		of.touched = false
		flights[i].cta.cluster.states++
	}
	return flights
}

// copied is CTAs in flight in contexts of their own.
func (g *Grid) copied(flights []flight) []flight {
	flights = slices.Clone(flights)
	for i := 0; i < len(flights); i += g.size {
		if flights[i].cta != nil {
			g.copy(flights[i : i+g.size])
		}
	}
	return flights
}

// copy gives the CTAs of a cluster contexts of their own.
func (g *Grid) copy(flights []flight) {
	from := flights[0].cta.cluster
	ctas := make([]*cta, g.size)
	for r, o := range from.ctas {
		ctas[r] = newCTA(g)
		ctas[r].assume(o)
		flights[r].cta = ctas[r]
	}
	to := &ctas[0].alone
	if g.clustered() {
		to = gatherCluster(ctas)
	}
	to.assume(from)
	to.touched, to.states = false, 0
	for r, o := range from.ctas {
		for k, a := range o.hits {
			if n := slices.IndexFunc(from.ctas, func(p *cta) bool { return p.sharedMem == a }); n >= 0 {
				ctas[r].hits[k] = ctas[n].sharedMem
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

// assume makes the context that of a CTA that has another.
func (c *cta) assume(o *cta) {
	own := *c
	*c = *o
	c.native = own.native
	c.native.of = 0
	c.warps, c.shared, c.sharedMem, c.hits, c.room = own.warps, own.shared, own.sharedMem, own.hits, own.room
	c.cluster, c.alone = own.cluster, own.alone
	copy(c.shared, o.shared)
	copy(c.sharedMem.Shadow, o.sharedMem.Shadow)
	c.sharedMem.Base, c.sharedMem.Size, c.sharedMem.Dead = o.sharedMem.Base, o.sharedMem.Size, o.sharedMem.Dead
	copy(c.hits, o.hits)
	c.open = maps.Clone(o.open)
	c.async.lanes = nil
	c.tolerated = slices.Clone(o.tolerated)
	c.out = own.out
	c.out.Reset()
	c.out.Write(o.out.Bytes())
	if o.stream != nil {
		c.stream = &stream{cta: c, sinks: slices.Clone(o.stream.sinks), wants: o.stream.wants}
		c.room = c.stream
	}
	c.frame = own.frame
	c.frame.last = nil
	m := moved{frames: map[*frame]*frame{&o.frame: &c.frame}, joins: map[*join]*join{}}
	if o.frame.twin != nil {
		m.frames[o.frame.twin] = c.frame.twin
	}
	for i := range c.warps {
		c.warps[i].assume(&o.warps[i], &m)
	}
	for i := range c.barriers {
		b := &c.barriers[i]
		b.waiting, b.spare = slices.Clone(b.waiting), nil
		for k, w := range b.waiting {
			b.waiting[k] = &c.warps[w.id]
		}
	}
}

// assume makes the warp what another is, of another context.
func (w *warp) assume(o *warp, m *moved) {
	own := *w
	*w = *o
	w.cta, w.rc, w.files, w.local, w.check, w.unit, w.expanding, w.lent = own.cta, own.rc, own.files, own.local, own.check, own.unit, own.expanding, own.lent
	w.listen()
	w.spare, w.away = nil, nil
	w.sourced, w.sources = false, nil
	w.latest = slices.Clone(o.latest)
	w.eased = 0 // sinks that do not go back may have lost what it was eased for
	w.strand = m.strand(&o.strand)
	w.others = nil
	for i := range o.others {
		w.others = append(w.others, m.strand(&o.others[i]))
	}
	for h := range w.files {
		w.files[h].Assume(&o.files[h])
		w.local[h] = slices.Clone(o.local[h])
		if w.check != nil {
			w.check.files[h].Assume(&o.check.files[h])
		}
	}
	w.shadow = slices.Clone(o.shadow)
	for lane, bytes := range w.shadow {
		w.shadow[lane] = slices.Clone(bytes)
	}
	w.shown = nil
	w.show(m.frame(o.shown))
}

// moved is what has become of objects of one context in another.
type moved struct {
	frames map[*frame]*frame
	joins  map[*join]*join
}

func (m *moved) strand(c *strand) strand {
	n := *c
	n.frame, n.join = m.frame(c.frame), m.join(c.join)
	if c.wait != nil {
		b := *c.wait
		n.wait = &b
	}
	return n
}

func (m *moved) frame(fr *frame) *frame {
	if n, ok := m.frames[fr]; ok || fr == nil {
		return n
	}
	n := new(frame)
	m.frames[fr] = n
	*n = *fr
	n.caller, n.twin, n.last = m.frame(fr.caller), m.frame(fr.twin), nil
	return n
}

func (m *moved) join(j *join) *join {
	if n, ok := m.joins[j]; ok || j == nil {
		return n
	}
	n := new(join)
	m.joins[j] = n
	*n = *j
	n.frame, n.outer = m.frame(j.frame), m.join(j.outer)
	return n
}
