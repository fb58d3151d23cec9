package papers

import (
	"testing"

	"gemu/machine/xmem"
)

// TestThesisMeasure: the values of a workload agree with each other. LRU buffers have no fewer hits with more entries, or with larger
// pages; no shape has more lines than rotation; all mechanisms of zones see accesses, and those with the same CTAs see the same.
func TestThesisMeasure(t *testing.T) {
	t.Parallel()
	m := NewMeter(t.Context(), 1, 0, nil)
	defer m.Close()
	r, err := thesisMeasure(m, &Row{Workload: "thesis/histo", Size: 12288})
	if err != nil {
		t.Fatal(err)
	}
	if r.buffers != 2 || r.warps == 0 || r.threads <= r.warps || r.threads > 32*r.warps {
		t.Errorf("%d buffers, %d instructions of threads, %d of warps", r.buffers, r.threads, r.warps)
	}
	check := func(what string, more, fewer *xmem.Lookaside) {
		if more.Lookups != fewer.Lookups || more.Hits < fewer.Hits || fewer.Lookups == 0 {
			t.Errorf("%s: %d hits of %d, and %d of %d", what, more.Hits, more.Lookups, fewer.Hits, fewer.Lookups)
		}
	}
	for _, list := range r.alb {
		for i := 1; i < len(list); i++ {
			check("more entries", list[i], list[i-1])
		}
	}
	check("large pages", r.alb[albLargePages][0], r.alb[albL2][0])
	if l2, memory := r.alb[albL2][0].Lookups, r.alb[albMemory][0].Lookups; memory >= l2 || l2 >= r.alb[albCoalesced][0].Lookups {
		t.Errorf("%d lookups at the L2, %d at memory", l2, memory)
	}
	for i, s := range r.sets {
		if s.rotation == 0 || s.best > s.rotation || s.best > s.tiles || // groups of the tiles are among the shapes
			i == setsLoads && s.rotation >= r.sets[setsHeadline].rotation {
			t.Errorf("working sets %+v", r.sets)
		}
	}
	for i := range numaMechanisms {
		if r.all[i] == 0 || r.local[i] > r.all[i] {
			t.Errorf("mechanism %d: %d of %d", i, r.local[i], r.all[i])
		}
	}
	if r.all[numaBaseline] != r.all[numaPlacement] {
		t.Errorf("%d accesses with rotation, and %d", r.all[numaBaseline], r.all[numaPlacement])
	}
	// Column x of the grid reads the pixels 256x to 256x+255: 1 KB, which is in the zone of its CTAs from bit 10 on. Bins are shared.
	if share := float64(r.local[numaDescriptor]) / float64(r.all[numaDescriptor]); share < 0.5 {
		t.Errorf("%v of the accesses are local", share)
	}
}
