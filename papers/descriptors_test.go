package papers

import (
	"math"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/machine/locality"
)

// descriptorSmall are programs of the experiment at small sizes. A single program has one launch. Its first descriptor is regular, and the D-tile of a CTA
// begins at the lowest address of the buffer that the CTA accesses.
var descriptorSmall = []struct {
	workload string
	size     int
	single   bool
}{
	{"transpose", 128, true}, {"thesis/conv2d", 96, false}, {"thesis/scalarprod", 8, true}, {"thesis/histo", 4096, false}, {"bfs", 300, false}, {"hotspot", 48, false}, {"nw", 64, false}, {"caba/pvc", 2048, false}, {"caba/mm", 32, false},
	{"pathfinder", 600, false}, {"lps", 20, false},
}

// TestDescriptorsAgainstNaive infers codecs, banks and zones a second time, from docs/descriptors.md.
func TestDescriptorsAgainstNaive(t *testing.T) {
	part.SkipShort(t)
	found := map[string]int{}
	for _, p := range descriptorSmall {
		t.Run(p.workload, func(t *testing.T) {
			m := NewMeter(t.Context(), 1, 0, nil)
			defer m.Close()
			r, err := descriptorMeasure(m, &Row{Name: p.workload, Workload: p.workload, Size: p.size}, clockHeadline)
			if err != nil {
				t.Fatal(err)
			}
			naive := recount.NewDescriptors()
			if err := m.run(p.workload, p.size, func(*interp.Launch) {}, naive); err != nil {
				t.Fatal(err)
			}
			if len(naive.Buffers) != len(r.report.Buffers) {
				t.Fatalf("%d buffers, want %d", len(r.report.Buffers), len(naive.Buffers))
			}
			regular, of := map[*recount.DescribedBuffer]bool{}, map[uint64]*recount.DescribedBuffer{}
			for _, b := range naive.Buffers {
				of[b.Base] = b
			}
			for _, got := range r.report.Buffers {
				b := of[got.Base]
				regular[b] = got.Regular
				if n := b.Bursts; got.Launch != b.Launch || got.Accesses != b.Accesses || got.Codec != b.Codec || got.Bursts != [3]int64{n.BDI, n.FPC, n.CPack} || got.Raw != 4*n.Lines {
					t.Errorf("buffer %#x: launch %d, %d accesses, codec %q with bursts %v of %d; want %+v", got.Base, got.Launch, got.Accesses, got.Codec, got.Bursts, got.Raw, *b)
				}
				found["codec "+b.Codec]++
			}
			banks := naive.Banks(16, func(b *recount.DescribedBuffer) bool { return regular[b] })
			for _, got := range r.report.Buffers {
				if want := banks[of[got.Base]]; want != [2]int{got.FirstBank, got.Banks} {
					t.Errorf("buffer %#x: %d banks from %d on, want %v", got.Base, got.Banks, got.FirstBank, want)
				} else if want[1] > 1 {
					found["banks"]++
				}
			}
			if !p.single {
				return
			}
			var list []locality.Descriptor
			for _, b := range r.report.Buffers {
				list = append(list, b.Locality...)
			}
			slices.SortStableFunc(list, func(a, b locality.Descriptor) int { return int(b.Accesses - a.Accesses) })
			var order []*recount.DescribedBuffer
			for _, d := range list {
				order = append(order, of[d.Buffer.Base])
			}
			if !list[0].Regular {
				t.Fatalf("the first descriptor is %s", &list[0])
			}
			bits, local, all := naive.Zones(order)
			for _, got := range r.report.Buffers {
				if want := bits[of[got.Base]]; got.Bit != want {
					t.Errorf("buffer %#x: zones from bit %d on, want %d", got.Base, got.Bit, want)
				}
			}
			if r.report.Local != local || r.report.Lines != all {
				t.Errorf("%d of %d lines are local, want %d of %d", r.report.Local, r.report.Lines, local, all)
			}
			found["zones"]++
		})
	}
	for _, name := range []string{"codec ", "codec bdi", "codec fpc", "codec c-pack", "banks", "zones"} {
		if found[name] == 0 {
			t.Errorf("no buffer has %s", name)
		}
	}
}

// TestDescriptorTables: the columns of tables speed and without follow from cycles by hand.
func TestDescriptorTables(t *testing.T) {
	cycles := map[useSet]float64{0: 1000, useOrder: 800, useZones: 500, useBanks: 1250, useCodec: 1000, allUses: 400, useBDI: 2000, useOrder | useZones: 250, allUses &^ useOrder: 600}
	r := &descriptorRun{machines: map[useSet]descriptorCounts{}}
	for _, u := range descriptorSets(clockHeadline) {
		r.machines[u] = descriptorCounts{cycles: 1000}
		if c, ok := cycles[u]; ok {
			r.machines[u] = descriptorCounts{cycles: c}
		}
	}
	if len(r.machines) != 17 {
		t.Errorf("%d sets of uses, want 1 + 4 + 6 + 4 + 1 and BDI", len(r.machines))
	}
	check := func(name string, got map[string]float64, want map[string]float64) {
		for column, v := range want {
			if math.Abs(got[column]-v) > 1e-12 {
				t.Errorf("%s, %s: %v, want %v", name, column, got[column], v)
			}
		}
	}
	v := map[string]float64{}
	speedValues(r, v)
	check("speed", v, map[string]float64{"order": 1.25, "zones": 2, "banks": 0.8, "codec": 1, "all": 2.5, "product": 2, "together": 1.25, "bdi": 0.5})
	v = map[string]float64{}
	withoutValues(r, v)
	check("without", v, map[string]float64{"order": 1.5, "codec": 2.5, "order_zones": 1.6, "banks_codec": 1.25})
}
