// Package tags models register files with a tag for base and stride next to each vector register. Each policy of package
// affinetrack has a model; one of them is the affine shadow register file of Kim et al. 2013. Package structure computes the
// classes of values under a policy, as for "gemu structure". This package reports them as a model.
package tags

import (
	"maps"
	"sync"

	"gemu/affinetrack"
	"gemu/internal/notation"
	"gemu/models"
	"gemu/probe"
	"gemu/ptx"
	"gemu/structure"
)

// Model is the model of a policy's register file.
type Model struct {
	policy *affinetrack.Policy

	mu      sync.Mutex
	running map[uint64]*structure.Probe // by launch ID
	total   structure.Structure
}

// New returns the model of a policy.
func New(p *affinetrack.Policy) *Model {
	return &Model{policy: p, running: map[uint64]*structure.Probe{}, total: structure.Structure{Policy: p}}
}

// Name returns the policy's name.
func (m *Model) Name() string { return m.policy.Name }

// Subscription returns the events of a structure probe, and the begin and end of launches.
func (m *Model) Subscription() probe.Subscription {
	sub := structure.NewProbe(m.policy).Subscription()
	sub.Events |= probe.OnLaunch | probe.OnLaunchEnd
	return sub
}

// OnEvent makes a structure probe for a launch that begins, and adds the counts of a launch that ends.
func (m *Model) OnEvent(e *probe.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		p := structure.NewProbe(m.policy)
		p.OnEvent(e)
		m.running[e.Launch.ID] = p
	case probe.OnLaunchEnd:
		if p := m.running[e.Launch.ID]; p != nil {
			m.total.Add(p.Structure())
			delete(m.running, e.Launch.ID)
		}
	}
}

// CTA makes a sink that passes events to the launch's structure probe.
func (m *Model) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	m.mu.Lock()
	p := m.running[l.ID]
	m.mu.Unlock()
	return &sink{p.CTA(l, index, id).(structure.Results), (m.policy.StrideBits + 7) / 8}
}

// state is a saved model: its counts, and the probes of launches in progress with their states.
type state struct {
	running map[uint64]*structure.Probe
	probes  map[uint64]any
	total   structure.Structure
}

// Save returns the counts and the probes' states.
func (m *Model) Save() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &state{running: maps.Clone(m.running), probes: map[uint64]any{}, total: structure.Structure{Policy: m.policy}}
	for id, p := range m.running {
		s.probes[id] = p.Save()
	}
	s.total.Add(&m.total)
	return s
}

// Restore sets the state that Save returned.
func (m *Model) Restore(saved any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := saved.(*state)
	m.running, m.total = maps.Clone(s.running), structure.Structure{Policy: m.policy}
	for id, p := range m.running {
		p.Restore(s.probes[id])
	}
	m.total.Add(&s.total)
}

// sink is the sink of a CTA. It returns the sizes in which the policy's register file stores results.
type sink struct {
	structure.Results
	stride int // size of a stride in bytes; 0: the size of the base
}

// Save returns the probe's state.
func (s *sink) Save() any { return s.Results.(probe.Saver).Save() }

// Restore sets the state that Save returned.
func (s *sink) Restore(saved any) { s.Results.(probe.Saver).Restore(saved) }

// baseBytes is the size of a base, in bytes for each 32-bit word of the register.
const baseBytes = 4

// StoredBytes returns the size of a result in bytes. A uniform result is stored as a base as wide as its register, an
// affine result as a base and a stride. The stride has the policy's width, or that of the base if the policy has none.
func (s *sink) StoredBytes(e *probe.Event, i int) int {
	v := &e.Writes[i]
	words := max(1, v.Type.Bits()/32)
	switch s.Result(e, i) {
	case affinetrack.Uniform:
		return baseBytes * words
	case affinetrack.Affine:
		if s.stride > 0 {
			return baseBytes*words + s.stride
		}
		return 2 * baseBytes * words
	}
	return models.Bytes(v, e.Launch.WarpSize)
}

// Report returns tables of register reads, register writes and instructions by class, of accesses, and a summary.
func (m *Model) Report() *models.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &models.Report{Model: m.Name(), Title: m.policy.Doc}
	b, all := m.total.Breakdown(), m.total.Total()
	classes := models.Table{Name: "structure", Title: "storage of values", Unit: "% of accesses, or of instructions", Plot: models.Stacked, Columns: []string{"uniform", "affine", "generic"}}
	for _, row := range []struct {
		name   string
		shares affinetrack.ClassCounts
	}{{"register reads", b.RegisterReads}, {"register writes", b.RegisterWrites}, {"instructions", b.Instructions}} {
		n := row.shares.Total()
		values := []float64{notation.Percentage(row.shares.Uniform, n), notation.Percentage(row.shares.Affine, n), notation.Percentage(row.shares.Generic, n)}
		classes.Rows = append(classes.Rows, models.Row{Name: row.name, Values: values})
	}
	s := m.total.Summary()
	accesses := models.Table{Name: "accesses", Title: "accesses to the register file", Unit: "accesses", Columns: []string{"vector reads", "vector writes", "tag reads", "tag writes", "expansions"},
		Rows: []models.Row{{Name: m.Name(), Values: []float64{float64(all.Reads.Generic), float64(all.Writes.Generic), float64(all.Reads.Compact()), float64(all.Writes.Compact()), float64(all.Materialisations)}}}}
	summary := models.Table{Name: "summary", Title: "instructions", Unit: "%", Plot: models.Bars, Columns: []string{"compact", "suppressed", "expansions", "branches", "loads"},
		Rows: []models.Row{{Name: m.Name(), Values: []float64{s.Affine, s.Suppressed, s.Expansion, s.Branches, s.Loads}}}}
	r.Tables = []models.Table{classes, summary, accesses}
	return r
}

var _ models.Model = (*Model)(nil)
