package structure

// This file implements the probe, which adds the counts of the trackers of CTAs.

import (
	"slices"
	"sync"

	"gemu/affinetrack"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// Probe counts the value structure of a launch under a policy.
type Probe struct {
	*affinetrack.Policy
	rules  *affinetrack.Table
	verify bool                       // compare the results of rules with the values of the lanes
	launch *probe.LaunchInfo          // nil before OnLaunch
	layout map[*ptx.Func]regfile.Size // for each function, its number of registers of each kind

	mu           sync.Mutex
	total        tally
	freeTrackers []*tracker
}

// tally contains the counts of a CTA or a launch.
type tally struct {
	counts []affinetrack.Counts // by instruction (Event.Index)
	paths  []Paths              // by instruction
	lanes  []int64              // number of instructions by number of active lanes
}

// NewProbe makes a probe that counts the value structure of one launch under a policy. Each launch needs a probe of its own.
func NewProbe(p *affinetrack.Policy) *Probe { return &Probe{Policy: p, rules: affinetrack.Rules} }

// NewVerifying makes a probe as NewProbe does, with another table of rules. The probe compares the values of the lanes
// with the results of the rules, and stops the launch with probe.ErrMismatch if they differ.
func NewVerifying(p *affinetrack.Policy, rules *affinetrack.Table) *Probe {
	return &Probe{Policy: p, rules: rules, verify: true}
}

// Subscription returns the events that the counts need. Values of registers are included only for an ideal policy, which
// compares lanes; operations only for an ideal policy or a verifying probe.
func (p *Probe) Subscription() probe.Subscription {
	subscription := probe.Subscription{
		Events: probe.OnLaunch | probe.OnCTA | probe.OnCTAEnd | probe.OnWarp | probe.OnExit | probe.OnBefore | probe.OnResult | probe.OnAfter | probe.OnUndo |
			probe.OnBranch | probe.OnCall | probe.OnReturn | probe.OnWake,
		Values: p.Ideal,
	}
	if p.Ideal || p.verify {
		subscription.Events |= probe.OnOperation
	}
	return subscription
}

// OnEvent prepares the counts at the start of the launch, and ignores all other events.
func (p *Probe) OnEvent(e *probe.Event) {
	if e.Kind != probe.OnLaunch {
		return
	}
	p.launch, p.layout = e.Launch, map[*ptx.Func]regfile.Size{}
	for i := range e.Launch.Program.Len() {
		if _, f := e.Launch.Program.At(i); p.layout[f] == (regfile.Size{}) {
			p.layout[f] = regfile.Size(e.Launch.Program.Frame(f))
		}
	}
	p.total = p.emptyTally()
}

// emptyTally returns a tally with zero counts.
func (p *Probe) emptyTally() tally {
	return tally{make([]affinetrack.Counts, p.launch.Program.Len()), make([]Paths, p.launch.Program.Len()), make([]int64, p.launch.WarpSize+1)}
}

// CTA returns a tracker for the CTA. It reuses trackers of CTAs that have ended.
func (p *Probe) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.freeTrackers); n > 0 {
		t := p.freeTrackers[n-1]
		p.freeTrackers = p.freeTrackers[:n-1]
		return t
	}
	return newTracker(p)
}

// recycle adds the counts of a CTA that has ended to the total, and keeps its tracker for reuse.
func (p *Probe) recycle(t *tracker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total.add(&t.tally)
	p.freeTrackers = append(p.freeTrackers, t)
}

// add adds the counts of other, and clears other.
func (n *tally) add(other *tally) {
	for i := range other.counts {
		if other.counts[i].Execs != 0 {
			n.counts[i].Add(&other.counts[i])
			n.paths[i].Add(&other.paths[i])
		}
	}
	for i, k := range other.lanes {
		n.lanes[i] += k
	}
	clear(other.counts)
	clear(other.paths)
	clear(other.lanes)
}

func (n *tally) clone() tally {
	return tally{slices.Clone(n.counts), slices.Clone(n.paths), slices.Clone(n.lanes)}
}

// Structure returns the counts of all CTAs that have ended.
func (p *Probe) Structure() *Structure {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &Structure{Policy: p.Policy, Lanes: slices.Clone(p.total.lanes)}
	for i := range p.total.counts {
		instr, f := p.launch.Program.At(i)
		s.Instrs = append(s.Instrs, Instr{instr, f, p.total.counts[i], p.total.paths[i]})
	}
	return s
}

// Save returns a copy of the counts of the CTAs that have ended. The sinks of CTAs in flight save their own counts.
func (p *Probe) Save() any { return p.total.clone() }

// Restore sets the counts that Save returned. It drops the trackers kept for reuse, whose CTAs may be in flight again.
func (p *Probe) Restore(state any) {
	total := state.(tally)
	p.total, p.freeTrackers = total.clone(), nil
}
