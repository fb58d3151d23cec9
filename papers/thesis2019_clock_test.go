package papers

import (
	"maps"
	"math"
	"testing"
)

// TestSummaries: rows with means, geometric means of the quotients, and quotients of mean rates, of two programs.
func TestSummaries(t *testing.T) {
	values := map[string]map[string]float64{
		"a": {"hits": 0.5, "hits_ldesc": 30, "hits_rotation": 60, "points": -30},
		"b": {"hits": 8, "hits_ldesc": 80, "hits_rotation": 10, "points": 70},
	}
	table := summarised(Table{
		Columns:         []Column{factor("hits", "", "", ""), percent("points", "", "", ""), percent("hits_ldesc", "", "", ""), percent("hits_rotation", "", "", "")},
		Rows:            []Row{{Name: "a"}, {Name: "b"}},
		Interpretations: clockReadings,
	}, func(_ *Meter, row *Row, _ int) (map[string]float64, error) { return values[row.Name], nil }, map[string]func(string, map[string]float64) bool{
		"five rates": func(row string, _ map[string]float64) bool { return row == "b" },
	})
	rates := map[string]float64{"hits_ldesc": 55, "hits_rotation": 35, "points": 20}
	for name, want := range map[string]map[string]float64{
		"mean": {"hits": 4.25}, geometric: {"hits": 2}, "rates": {"hits": 55. / 35}, "five rates": {"hits": 8, "hits_ldesc": 80, "hits_rotation": 10, "points": 70},
	} {
		got, err := table.Measure(nil, &Row{Name: name, Summary: true}, &table.Interpretations[0])
		if err != nil {
			t.Fatal(err)
		}
		if name == "mean" || name == "rates" {
			maps.Copy(want, rates)
		}
		if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestThesisClock: the values of a workload agree with each other. All machines execute the same instructions; slower readings take longer;
// only machines with descriptors prefetch; the placements of xmem-rows have times, latencies and shares of hits.
func TestThesisClock(t *testing.T) {
	t.Parallel()
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	row := &Row{Workload: "thesis/conv2d", Size: 96}
	r, err := measureLdescClock(m, row)
	if err != nil {
		t.Fatal(err)
	}
	for reading := range clockEnds {
		for name, c := range map[string]*clocked{"rotation": r.rotation[reading], "best": r.best[reading], "groups": r.groups[reading], "full": r.full[reading], "baseline": r.baseline[reading], "touch": r.touch[reading], "zones": r.zones[reading], "no prefetch": r.noPrefetch} {
			if c.Instructions != r.rotation[0].Instructions || c.Loads != r.rotation[0].Loads || c.cycles == 0 {
				t.Errorf("%s, reading %d: %d instructions, %d loads, %d cycles", name, reading, c.Instructions, c.Loads, c.cycles)
			}
			if prefetches := name == "full" || name == "zones"; !prefetches && c.Prefetches > 0 {
				t.Errorf("%s: %d prefetches", name, c.Prefetches)
			}
			if remote := c.Memory().Total().LinkBytes > 0; remote != (name == "baseline" || name == "touch" || name == "zones") {
				t.Errorf("%s: bytes between zones %v", name, remote)
			}
		}
	}
	if r.full[0].Prefetches == 0 {
		t.Error("no prefetches")
	}
	if a, b, c := r.rotation[clockFast].cycles, r.rotation[clockHeadline].cycles, r.rotation[clockSlow].cycles; a >= b || b >= c {
		t.Errorf("cycles %d, %d, %d", a, b, c)
	}
	// Descriptors keep the accesses of a zone in it.
	if a, b := r.zones[0].Memory().Total().LinkBytes, r.baseline[0].Memory().Total().LinkBytes; a >= b {
		t.Errorf("%d bytes between zones with descriptors, %d without", a, b)
	}
	rows, err := measureRowsClock(m, row)
	if err != nil {
		t.Fatal(err)
	}
	for reading := range clockEnds {
		for i, c := range rows {
			if c[reading].cycles == 0 || c[reading].latency <= 0 || c[reading].hits < 0 || c[reading].hits > 100 {
				t.Errorf("%d, reading %d: %+v", i, reading, c[reading])
			}
		}
	}
}
