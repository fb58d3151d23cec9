package papers

import (
	"testing"

	"gemu/internal/part"
	"gemu/models/kim"
)

// TestFigure11 measures a small workload on the machines of all interpretations: the machine has warps, a further latency
// changes the cycles by little, and 6 cycles cost at least as much as no latency.
func TestFigure11(t *testing.T) {
	table := *tableOf(t, "gscalar2017", "figure11")
	table.Rows = []Row{{Name: "MV", Workload: "spmv", Size: 256}}
	m := NewMeter(t.Context(), 1, 0, []*Table{&table})
	defer m.Close()
	for i := range table.Interpretations {
		r := &table.Interpretations[i]
		v, err := table.Measure(m, &table.Rows[0], r)
		if err != nil {
			t.Fatal(err)
		}
		if v["ipc"] < 50 || v["ipc"] > 110 || v["warps"] < 1 || v["warps"] > 48 {
			t.Errorf("%s: %v", r.Name, v)
		}
	}
}

// TestMachineOfGScalar has the numbers of table 1 of the paper: 15 multiprocessors of 128 KB of registers, 8 CTAs, an L2 of
// 768 KB, 6 memory channels; units of 16 lanes, and of 4 for special functions (section 2.1).
func TestMachineOfGScalar(t *testing.T) {
	c := gscalarConfig()
	if c.SMs != 15 || 4*c.Registers != 128<<10 || c.CTAs != 8 || c.L2Banks*c.L2Bytes != 768<<10 || c.Controllers != 6 || c.Lanes != 16 || c.SpecialLanes != 4 || c.Affine {
		t.Errorf("%+v", c)
	}
	names := map[string]bool{}
	for _, r := range gscalarTimes {
		base := gscalarConfig()
		if r.base != nil {
			r.base(&base)
		}
		longer := base
		longer.WriteDelay = gscalarLatency
		if r.longer != nil {
			r.longer(&longer)
		}
		if longer.ReadDelay+longer.WriteDelay < gscalarLatency || base.ReadDelay+base.WriteDelay != 0 {
			t.Errorf("%s: delays %d and %d", r.Name, longer.ReadDelay, longer.WriteDelay)
		}
		if changed := base != gscalarConfig(); changed && r.longer != nil || names[r.Name] || r.Name != "headline" && !changed && r.longer == nil {
			t.Errorf("%s changes the wrong machine", r.Name)
		}
		names[r.Name] = true
	}
	if c.L1MSHRs != (kim.MSHRs{Lines: 32, Requests: 8}) {
		t.Errorf("%+v", c.L1MSHRs)
	}
}

// TestBaseRegisters: each kernel of the benchmarks has a number of registers that leaves room for a CTA.
func TestBaseRegisters(t *testing.T) {
	part.SkipShort(t)
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	for _, row := range gscalarRows("figure11") {
		if row.Summary || row.Absent != "" {
			continue
		}
		registers, err := baseRegisters(m, row.Workload)
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range registers {
			if n < 4 || n > 128 {
				t.Errorf("%s %s: %d registers", row.Workload, name, n)
			}
		}
	}
}
