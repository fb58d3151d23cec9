package papers

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/kernels"
)

// TestAVCTable4 uses the paper's table 4 as our values: the means by application and by kernel equal the means of
// the table of capacities, computed by hand.
func TestAVCTable4(t *testing.T) {
	results := map[string]map[string]*avcResult{}
	for _, row := range readRows(avc2011Table4, nil) {
		for _, k := range avcKernels {
			if k.paper != row.Name {
				continue
			}
			if results[k.workload] == nil {
				results[k.workload] = map[string]*avcResult{}
			}
			r := &avcResult{base: int(row.Values["r_base"])}
			for range avcInterpretations {
				r.cached = append(r.cached, []int{int(row.Values["B"]), int(row.Values["c1"]), int(row.Values["c2"]), int(row.Values["c3"])})
			}
			results[k.workload][k.kernel] = r
		}
	}
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	for workload, r := range results {
		m.results["avc2011 "+workload] = func() (map[string]*avcResult, error) { return r, nil }
	}
	for _, p := range All() {
		for _, table := range p.Tables {
			if p.Name != "avc2011" || table.Name != "capacity" {
				continue
			}
			for _, row := range table.Rows[:2] {
				measured, err := table.Measure(m, &row, &table.Interpretations[0])
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range row.Values {
					tolerance := 0.051
					if want > 10 { // percent
						tolerance = 0.51
					}
					if got := measured[name]; math.Abs(got-want) > tolerance {
						t.Errorf("%s %s: %v, want %v", row.Name, name, got, want)
					}
				}
			}
		}
	}
}

// TestAVCRegisterCounts: r is rounded to the nearest number, a half upwards, and is at least the minimum.
func TestAVCRegisterCounts(t *testing.T) {
	for _, c := range []struct {
		base, minRegs int
		share         float64
		want          int
	}{{10, 4, 0.5, 5}, {13, 4, 0.5, 7}, {15, 4, 0.75, 11}, {9, 4, 0.25, 4}, {9, 4, 0.75, 7}} {
		r := &avcResult{base: c.base, minRegs: c.minRegs}
		if got := r.registersAt(c.share); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.share, c.base, got, c.want)
		}
	}
}

// TestAVCToTheLetter: r_cache is the smallest number of registers with little traffic (section 5.1), whatever the traffic
// of greater numbers; the row about all greater counts regards it. If even r_base has traffic, r_cache is greater.
func TestAVCToTheLetter(t *testing.T) {
	r := &avcResult{base: 8, minRegs: 3, cached: [][]int{{0, 0, 0}, {0, 0, 0}}, stable: []int{0, 0, 0}}
	for i, little := range []bool{true, true, false, true, false, false} { // of 8, 7 … 3 registers
		r.note(0, 0, 8-i, little)
		r.note(0, 1, 8-i, true)
		r.note(0, 2, 8-i, false)
		r.note(1, 0, 8-i, i < 2)
		r.note(1, 1, 8-i, true)
		r.note(1, 2, 8-i, i == 5)
	}
	r.finish()
	if diff := cmp.Diff([][]int{{5, 3, 9}, {7, 3, 3}}, r.cached); diff != "" {
		t.Errorf("r_cache (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{7, 3, 9}, r.cache(&avcAllGreater)); diff != "" {
		t.Errorf("all greater counts (-want +got):\n%s", diff)
	}
}

// TestAVCWideBlocks: the paper has three applications with wider blocks, with five kernels.
func TestAVCWideBlocks(t *testing.T) {
	var names []string
	for _, k := range avcWide {
		if w := kernels.Lookup(k.workload); w == nil || w.Block != 32 || avcSizes[k.workload] == 0 {
			t.Errorf("%s: %s is no workload in blocks of 32, or has no size", k.short, k.workload)
		}
		names = append(names, k.short)
	}
	if diff := cmp.Diff([]string{"bprop2w", "srad2w", "srad1w", "bprop1w", "hotspotw"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wide := 0
	for i, k := range avcWidened() {
		if k.kernel != avcKernels[i].kernel {
			t.Errorf("%s in place of %s", k.kernel, avcKernels[i].kernel)
		}
		if k.workload != avcKernels[i].workload {
			wide++
		}
	}
	if wide != len(avcWide) {
		t.Errorf("%d of %d are wider", wide, len(avcWide))
	}
}

// TestAVCMeasuredPoints runs a quick workload: the points of the figures are measured, and no point with fewer
// registers than can be allocated.
func TestAVCMeasuredPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a workload with many numbers of registers")
	}
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	all, err := avcMeasure(m, "backprop")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range all {
		if r.minRegs < 1 || r.base <= r.minRegs || r.compact < r.minRegs || r.compact > r.base {
			t.Errorf("%s: %+v", name, r)
		}
		for _, share := range avcShares {
			p := r.points[r.registersAt(share)]
			if p == nil || p.second.Traffic() != int64(math.Round(p.traffic[2]*float64(p.second.Instructions))) {
				t.Errorf("%s at %v: %+v", name, share, p)
			}
		}
		for c, n := range r.cached[0] {
			if n < r.minRegs || n > r.stable[c] {
				t.Errorf("%s: r_cache %v, and with all greater counts %v", name, r.cached[0], r.stable)
			}
		}
	}
	measure := measureAVCSteps((*avcPoint).blocks)
	few := all["backprop_adjust"]
	row, reading := &Row{Name: "0.75"}, &Interpretation{Name: "bprop2"}
	if measured, err := measure(m, row, reading); err != nil || measured["registers"] != float64(few.registersAt(0.75)) {
		t.Errorf("three quarters: %v, %v", measured, err)
	}
	few.minRegs = few.base
	if measured, err := measure(m, row, reading); err != nil || measured != nil {
		t.Errorf("fewer registers than can be allocated: %v, %v", measured, err)
	}
}
