package papers

import (
	"testing"

	"gemu/machine/assist"
	"gemu/machine/codec"
)

// TestAssistSamples: of lines that are read and written alternately, as by a copy, each 17th line of both directions is counted.
func TestAssistSamples(t *testing.T) {
	sandbox, err := assist.NewSandbox(assist.Standard()...)
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close()
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	jobs := &assistJobs{sandbox: sandbox, counts: map[assistJob]map[string]int64{}, costs: assistCosts{}}
	for i := range 4 * assistStride {
		line := codec.Line{0: 1}
		if err := jobs.transfer(m, &line, i%2 == 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := jobs.flush(m); err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"bdi_fill", "bdi_store", "bdi_store " + cabaSmallest, "fpc_fill", "fpc_store", "c_pack_fill", "c_pack_store"} {
		if c := jobs.costs[column]; c.runs != 2 || c.mean() == 0 {
			t.Errorf("%s: %d lines with %.1f instructions each, want 2", column, c.runs, c.mean())
		}
	}
}
