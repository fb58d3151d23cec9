package main

import (
	"math"
	"testing"
)

// TestAVCCapacity takes the paper's table 4 for ours: by application and by kernel it gives the means that
// the table of capacities has for it, worked by hand.
func TestAVCCapacity(t *testing.T) {
	results := map[string]map[string]*avcResult{}
	for _, row := range readRows(avc2011Table4, nil) {
		for _, k := range avcKernels {
			if k.paper != row.name {
				continue
			}
			if results[k.workload] == nil {
				results[k.workload] = map[string]*avcResult{}
			}
			r := &avcResult{base: int(row.values["r_base"])}
			for range avcReadings {
				r.cached = append(r.cached, []int{int(row.values["B"]), int(row.values["c1"]), int(row.values["c2"]), int(row.values["c3"])})
			}
			results[k.workload][k.kernel] = r
		}
	}
	m := newMeter(&app{ctx: t.Context()}, 1, nil)
	defer m.close()
	for workload, r := range results {
		m.done["avc2011 "+workload] = func() (map[string]*avcResult, error) { return r, nil }
	}
	for _, p := range papers {
		for _, table := range p.tables {
			if p.name != "avc2011" || table.name != "capacity" {
				continue
			}
			for _, row := range table.rows[:2] {
				ours, err := table.measure(m, &row, &table.readings[0])
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range row.values {
					tolerance := 0.051
					if want > 10 { // percent
						tolerance = 0.51
					}
					if got := ours[name]; math.Abs(got-want) > tolerance {
						t.Errorf("%s %s: %v, want %v", row.name, name, got, want)
					}
				}
			}
		}
	}
}

// TestAVCShares: r is rounded half up, and no less than the least.
func TestAVCShares(t *testing.T) {
	for _, c := range []struct {
		base, least int
		share       float64
		want        int
	}{{10, 4, 0.5, 5}, {13, 4, 0.5, 7}, {15, 4, 0.75, 11}, {9, 4, 0.25, 4}, {9, 4, 0.75, 7}} {
		r := &avcResult{base: c.base, least: c.least}
		if got := r.at(c.share); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.share, c.base, got, c.want)
		}
	}
}
