// Package tags models register files with a tag for base and stride beside the vectors: those of
// the policies of package affinetrack, the affine shadow register file of Kim et al. 2013 among
// them. What each policy holds is found out by package interp, as for "gemu structure"; this
// package has it stand beside other models.
package tags

import (
	"maps"
	"sync"

	"gemu/affinetrack"
	"gemu/internal/percent"
	"gemu/interp"
	"gemu/models"
)

// Model is the register file of a policy.
type Model struct {
	policy *affinetrack.Policy

	mu      sync.Mutex
	running map[uint64]*interp.StructureProbe // by launch
	total   interp.Structure
}

// New makes the model of a policy.
func New(p *affinetrack.Policy) *Model {
	return &Model{policy: p, running: map[uint64]*interp.StructureProbe{}, total: interp.Structure{Policy: p}}
}

// Name is the policy's.
func (m *Model) Name() string { return m.policy.Name }

// Subscription is what the probe of a launch wants, and launches.
func (m *Model) Subscription() interp.Subscription {
	w := interp.NewStructureProbe(m.policy).Subscription()
	w.Events |= interp.OnLaunch | interp.OnLaunchEnd
	return w
}

// OnEvent begins and ends launches.
func (m *Model) OnEvent(e *interp.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case interp.OnLaunch:
		p := interp.NewStructureProbe(m.policy)
		p.OnEvent(e)
		m.running[e.Launch.ID] = p
	case interp.OnLaunchEnd:
		if p := m.running[e.Launch.ID]; p != nil {
			m.total.Add(p.Structure())
			delete(m.running, e.Launch.ID)
		}
	}
}

// CTA has each launch counted by a probe of its own.
func (m *Model) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	m.mu.Lock()
	p := m.running[l.ID]
	m.mu.Unlock()
	return &sink{p.CTA(l, index, id).(interp.ResultSink), (m.policy.StrideBits + 7) / 8}
}

// state is what a model has counted, and of the launches under way what their probes have.
type state struct {
	running map[uint64]*interp.StructureProbe
	probes  map[uint64]any
	total   interp.Structure
}

// Save and Restore let it go back with a launch.
func (m *Model) Save() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &state{running: maps.Clone(m.running), probes: map[uint64]any{}, total: interp.Structure{Policy: m.policy}}
	for id, p := range m.running {
		s.probes[id] = p.Save()
	}
	s.total.Add(&m.total)
	return s
}

// Restore: see Save.
func (m *Model) Restore(saved any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := saved.(*state)
	m.running, m.total = maps.Clone(s.running), interp.Structure{Policy: m.policy}
	for id, p := range m.running {
		p.Restore(s.probes[id])
	}
	m.total.Add(&s.total)
}

// sink says what the policy holds in bytes.
type sink struct {
	interp.ResultSink
	stride int // bytes of a stride; 0: as many as of a base
}

// Save and Restore let a CTA go back with its launch.
func (s *sink) Save() any { return s.ResultSink.(interp.Saver).Save() }

// Restore: see Save.
func (s *sink) Restore(saved any) { s.ResultSink.(interp.Saver).Restore(saved) }

// baseBytes is the bytes of a base in a tag, for each word of its register.
const baseBytes = 4

// StoredBytes is what a result takes: a base as wide as its registers, and if it is affine a stride: of the
// policy's width, or as wide as the base where that has none.
func (s *sink) StoredBytes(e *interp.Event, i int) int {
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

// Report is what the policy holds: results, operands and instructions by class.
func (m *Model) Report() *models.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &models.Report{Model: m.Name(), Title: m.policy.Doc}
	b, all := m.total.Breakdown(), m.total.Total()
	classes := models.Table{Name: "structure", Title: "what values are held as", Unit: "% of accesses, or of instructions", Plot: models.Stacked, Columns: []string{"uniform", "affine", "generic"}}
	for _, row := range []struct {
		name   string
		shares affinetrack.ClassCounts
	}{{"register reads", b.RegisterReads}, {"register writes", b.RegisterWrites}, {"instructions", b.Instructions}} {
		n := row.shares.Total()
		values := []float64{percent.Percentage(row.shares.Uniform, n), percent.Percentage(row.shares.Affine, n), percent.Percentage(row.shares.Generic, n)}
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
