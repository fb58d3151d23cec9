package papers

import (
	"errors"
	"strings"
	"testing"

	"gemu/machine"
)

// TestVerifiedMeasurements: a measurement fails with the error of each machine whose counts contradict each other. calls has the number of
// machines, once for each launch if their launches are taken.
func TestVerifiedMeasurements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		calls   int // of the verifier of machines
		measure func(m *Meter) error
	}{
		{"caba2016", 1, func(m *Meter) error {
			_, err := cabaRun(m, &cabaProgram{name: "nw", workload: "nw", size: 32})
			return err
		}},
		{"compress-once", 1, func(m *Meter) error {
			_, err := onceRun(m, onceProgram{name: "nw", workload: "nw", size: 32})
			return err
		}},
		{"thesis2019", numaMechanisms, func(m *Meter) error { // three machines with zones and one without
			_, err := thesisMeasure(m, &Row{Workload: "thesis/histo", Size: 1024})
			return err
		}},
		{"thesis2019 clock", 1, func(m *Meter) error {
			_, err := measureLdescClock(m, &Row{Workload: "thesis/conv2d", Size: 32})
			return err
		}},
	} {
		for broken := range c.calls + 1 { // the last: none
			m := NewMeter(t.Context(), 1, 0, nil)
			calls := 0
			m.verify.machine = func(on *machine.Machine) error {
				if calls == broken {
					on.Launches()[0].Loads++
				}
				calls++
				return verifyMachine(on)
			}
			err := c.measure(m)
			m.Close()
			switch {
			case broken == c.calls && (err != nil || calls != c.calls):
				t.Errorf("%s: %d machines verified, %v; want %d", c.name, calls, err, c.calls)
			case broken < c.calls && (err == nil || !strings.HasPrefix(err.Error(), "BUG: kernel ")):
				t.Errorf("%s: error %v with wrong counts of machine %d", c.name, err, broken)
			}
		}
	}
}

// TestVerifiedClocks: a measurement fails with the error of each machine with a clock, and of accesses.
func TestVerifiedClocks(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for _, c := range []struct {
		name    string
		measure func(m *Meter) error
	}{
		{"thesis2019 clock", func(m *Meter) error {
			_, err := measureRowsClock(m, &Row{Workload: "thesis/conv2d", Size: 32})
			return err
		}},
		{"descriptors", func(m *Meter) error {
			_, err := descriptorMeasure(m, &Row{Workload: "nw", Size: 32}, clockHeadline)
			return err
		}},
		{"gv100", func(m *Meter) error {
			_, err := gv100Counts(m, &Row{Workload: "gv100/dct8x8", Size: 32})
			return err
		}},
		{"gv100 cycles", func(m *Meter) error {
			table := gv100Cycles()
			for i := range table.Rows {
				if row := &table.Rows[i]; row.Name == "dct2D" {
					row.Size = 32
					_, err := table.Measure(m, row, &table.Interpretations[0])
					return err
				}
			}
			return nil
		}},
	} {
		m := NewMeter(t.Context(), 1, 0, nil)
		m.verify.clock = func(*machine.Clock) error { return wrong }
		m.verify.accesses = func(*accessCounts) error { return wrong }
		err := c.measure(m)
		m.Close()
		if !errors.Is(err, wrong) {
			t.Errorf("%s: error %v, want that of the verifier", c.name, err)
		}
	}
}

// TestVerifyAccesses: sectors that a launch loads, and no CTA, are an error.
func TestVerifyAccesses(t *testing.T) {
	for n, ok := range map[accessCounts]bool{{distinct: 1, placed: 1, first: 1}: true, {distinct: 1, placed: 2, first: 3}: true, {distinct: 2, placed: 1, first: 3}: false, {distinct: 1, placed: 3, first: 2}: false} {
		if err := n.verify(); (err == nil) != ok {
			t.Errorf("%+v: %v", n, err)
		}
	}
}
