package papers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gemu/interp"
	"gemu/kernels"
	"gemu/machine"
	"gemu/probe"
)

// Meter runs workloads for the tables of a paper, each workload on one host thread, up to a fixed number at a time. A run
// that several tables need is made once. The caller must call Close when the values are no longer needed.
type Meter struct {
	tables []*Table      // the measured tables, which determine the machines that a replay models
	limit  time.Duration // time limit of a launch; 0: no limit
	ctx    context.Context
	cancel func()
	rows   sync.WaitGroup
	slots  chan struct{} // a slot for each host thread
	verify verifiers

	mu      sync.Mutex
	results map[any]any // by key: func() (T, error) of measureOnce
}

// NewMeter returns a meter for tables. It runs at most workers workloads at a time (0: GOMAXPROCS workloads), and each
// launch at most for limit (0: no limit).
func NewMeter(ctx context.Context, workers int, limit time.Duration, tables []*Table) *Meter {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	m := &Meter{tables: tables, limit: limit, slots: make(chan struct{}, workers), verify: verifiers{verifyMachine, (*machine.Clock).Err, (*accessCounts).verify}, results: map[any]any{}}
	m.ctx, m.cancel = context.WithCancel(ctx)
	return m
}

// verifiers return the first error of a machine, or a contradiction of counts. Every measurement calls a verifier before its values are used,
// and fails with the error.
type verifiers struct {
	machine  func(*machine.Machine) error // launches that were taken (TakeLaunches) are not verified
	clock    func(*machine.Clock) error
	accesses func(*accessCounts) error
}

// verifyMachine returns the first error of a machine, or a contradiction of the counts of its launches.
func verifyMachine(m *machine.Machine) error {
	if err := m.Err(); err != nil {
		return err
	}
	return m.Verify()
}

// Close stops the measurements in progress and waits for their end.
func (m *Meter) Close() {
	m.cancel()
	m.rows.Wait()
}

// measureOnce returns the result of measure, which it calls at most once for a key. measure occupies a host thread and must not
// call measureOnce.
func measureOnce[T any](m *Meter, key any, measure func() (T, error)) (T, error) {
	m.mu.Lock()
	compute, ok := m.results[key].(func() (T, error))
	if !ok {
		compute = sync.OnceValues(func() (v T, err error) {
			m.slots <- struct{}{}
			defer func() { <-m.slots }()
			if err := m.ctx.Err(); err != nil {
				return v, err
			}
			return measure()
		})
		m.results[key] = compute
	}
	m.mu.Unlock()
	return compute()
}

// run runs a workload at a size (0: the workload's default) with probes. prepare may change each launch. Warps have 32 lanes
// unless prepare changes that. The error for a wrong result is a *kernels.Mismatch.
func (m *Meter) run(workload string, size int, prepare func(l *interp.Launch), probes ...probe.Probe) error {
	w := kernels.Lookup(workload)
	return m.runModule(w, w.PTX(), size, prepare, probes...)
}

// runModule is run with the PTX src instead of the workload's own.
func (m *Meter) runModule(w *kernels.Workload, src string, size int, prepare func(l *interp.Launch), probes ...probe.Probe) error {
	dev := interp.NewDevice(interp.Config{Workers: 1, Probes: probes, TimeLimit: m.limit})
	s, err := kernels.Start(m.ctx, w, dev, size)
	if err != nil {
		return err
	}
	if src != w.PTX() {
		if s.Module, err = dev.Load(w.Name+".ptx", []byte(src)); err != nil {
			return err
		}
	}
	s.Prepare = func(l *interp.Launch) {
		l.Mode = interp.Vector
		prepare(l)
	}
	err = w.Run(s)
	var mismatch *kernels.Mismatch
	if errors.As(err, &mismatch) {
		return fmt.Errorf("@%s: %w", w.Name, mismatch)
	}
	return err
}
