package avc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gemu/internal/part"
	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/models/avc"
	"gemu/probe"
	"gemu/ptx"
	"gemu/spill"
)

// TestRecountOfWorkloads runs spilled workloads through the caches and through the caches of package recount, which
// follow only the paper's text and docs/avc.md. All counts are the same, under every configuration and every row of the
// page.
func TestRecountOfWorkloads(t *testing.T) {
	list := []struct {
		name       string
		size, regs int
		classes    bool // only
	}{{"srad", 48, 6, false}, {"lud", 48, 5, false}, {"hotspot", 48, 7, false}, {"fwt", 2048, 5, false}, {"sgemm", 33, 9, true}, {"nw", 33, 9, true}, {"kmeans", 33, 9, true}}
	if part.TryAll() {
		for _, name := range []string{"cfd", "backprop", "blackscholes", "fdtd3d", "heartwall", "nw", "binomial", "kmeans", "sgemm"} {
			list = append(list, list[0])
			of := &list[len(list)-1]
			of.name, of.size, of.regs = name, 0, 12
		}
	}
	traffic := map[string]int64{}
	for _, of := range list[:part.Count(2, len(list), len(list))] {
		w := kernels.Lookup(of.name)
		m, err := ptx.ParseString(of.name+".ptx", w.PTX())
		if err != nil {
			t.Fatal(err)
		}
		least := 0
		for _, f := range m.Kernels() {
			r, err := spill.RangeOf(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			least = max(least, r.Min)
		}
		regs := max(least, of.regs)
		src, _, err := spill.Module(t.Context(), m, regs)
		if err != nil {
			t.Fatal(err)
		}
		recorder, recounted := &avc.Recorder{Warps: 60}, &recount.Private{}
		dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []probe.Probe{recorder, recounted}})
		s, err := kernels.Start(t.Context(), w, dev, of.size)
		if err != nil {
			t.Fatal(err)
		}
		if s.Module, err = dev.Load(of.name+".ptx", []byte(src)); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		for _, k := range recorder.Kernels() {
			o := recounted.Kernels[k.Name]
			byClass := func(list [avc.Classes]int64) map[string]int {
				m := map[string]int{}
				for c, n := range list {
					if n > 0 {
						m[avc.Class(c).String()] = int(n)
					}
				}
				return m
			}
			counted := &recount.PrivateKernel{
				Instructions: int(k.Instructions), Loads: byClass(k.Loads), Stores: byClass(k.Stores), LowWords: byClass(k.First),
				AnyStride: int(k.AnyStride), Xor: int(k.Xor), NonDense: int(k.NonDense), Global: int(k.Global),
			}
			if diff := cmp.Diff(o, counted, cmpopts.IgnoreUnexported(*o)); diff != "" {
				t.Errorf("%s with %d registers (-again +recorder):\n%s", k.Name, regs, diff)
			}
			if k.Transactions() == 0 {
				t.Errorf("%s: nothing is spilled", k.Name)
			}
			if of.classes {
				continue
			}
			for _, c := range avc.Configs {
				for _, row := range []struct {
					avc.Schedule
					lru bool
				}{{}, {Schedule: avc.Schedule{Regs: 24}}, {lru: true}, {Schedule: avc.Schedule{WarpByWarp: true}}, {Schedule: avc.Schedule{Greedy: true}}, {Schedule: avc.Schedule{WholeCTAs: true}}} {
					c.LRU = row.lru
					if row.Regs == 0 {
						row.Regs = regs
					}
					got, err := avc.Replay(k, c, row.Schedule)
					if err != nil {
						t.Fatal(err)
					}
					want, err := o.Replay(recount.CacheSetup{L1: c.L1, AVC: c.AVC, LRU: c.LRU, Regs: row.Regs, Greedy: row.Greedy, WarpByWarp: row.WarpByWarp, WholeCTAs: row.WholeCTAs, Warps: recorder.Warps})
					if err != nil {
						t.Errorf("%s, %+v: counted again: %v", k.Name, c, err)
					}
					traffic[c.Name] += got.Traffic()
					// The traffic is less than a limit half a block above it, and not less than itself.
					exact := float64(want.Misses+want.WriteBacks) / float64(want.Instructions)
					for limit, little := range map[float64]bool{exact + 0.5/float64(want.Instructions): true, exact: false} {
						// Another configuration, whose traffic is above the limit at once or never, does not change the result.
						list, err := avc.Negligible(k, row.Schedule, limit, avc.Config{L1: 1, LRU: true}, c)
						if err != nil || list[1] != little && limit > 0 {
							t.Errorf("%s with %d registers, configuration %+v, %+v: less than %v blocks is %v, %v, want %v", k.Name, regs, c, row, limit, list, err, little)
						}
					}
					if diff := cmp.Diff(want, counts(&got.Stats, got.Instructions)); diff != "" {
						t.Errorf("%s with %d registers, configuration %+v, %+v (-again +caches):\n%s", k.Name, regs, c, row, diff)
					}
				}
			}
		}
	}
	for _, c := range avc.Configs {
		if traffic[c.Name] == 0 {
			t.Errorf("configuration %s: no traffic", c.Name)
		}
	}
}

// counts returns the caches' counts in the type of package recount.
func counts(s *avc.Stats, instructions int64) recount.CacheCounts {
	return recount.CacheCounts{
		Instructions: int(instructions), Reads: int(s.Reads), Writes: int(s.Writes), PartialHits: int(s.Replays),
		AVCHits: int(s.AVCHits), L1Hits: int(s.L1Hits), Misses: int(s.Fills),
		AVCWrites: int(s.AVCWrites), L1Writes: int(s.L1Writes), Conflicts: int(s.Conflicts), WriteBacks: int(s.WriteBacks),
	}
}

// TestRecountOfRandomRequests sends random requests to both, for few sets, with all kinds of vectors and masks: after
// each request, the counts and the returned words are the same.
func TestRecountOfRandomRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(part.Seed(t), 1))
	for _, c := range avc.Configs {
		for _, lru := range []bool{false, true} {
			c.LRU = lru
			caches, recounted := avc.NewCaches(c), recount.NewCaches(recount.CacheSetup{L1: c.L1, AVC: c.AVC, LRU: lru})
			for n := range part.Count(5000, 20000, 1000000) {
				line, vector := uint64(r.IntN(5))*avc.Sets, uint64(r.IntN(2))
				if r.IntN(4) == 0 { // blocks of one set of L1 that are no line of the AVC
					line, vector = uint64(r.IntN(8))*avc.Sets/avc.LineVectors, 0
				}
				block := line*avc.LineVectors + vector
				mask := []uint32{1<<32 - 1, 0xffff, 0xff00ff, r.Uint32() & r.Uint32(), 1 << r.IntN(32), 3 << r.IntN(31)}[r.IntN(6)]
				if n%5000 > 2000 { // three lanes, in which much happens to be affine
					mask &= 7
				}
				if mask == 0 {
					continue
				}
				base, stride := uint32(r.IntN(3))*64, uint32(1)<<r.IntN(9)>>1
				w := recount.Word{}
				d := avc.Vector{}
				for i := range d {
					d[i] = base + uint32(i)*stride
					if n%3 == 0 {
						d[i] = uint32(r.IntN(2))
					}
					w.Present[i], w.Value[i] = mask>>i&1 != 0, d[i]
				}
				if r.IntN(2) == 0 {
					caches.Write(block, mask, &d)
					recounted.Write(block, &w)
				} else {
					got, want := caches.Read(block, mask), recounted.Read(block, w.Present)
					for i := range d {
						if w.Present[i] && got[i] != want[i] {
							t.Fatalf("%+v, request %d: block %d, lane %d: %#x, again %#x", c, n, block, i, got[i], want[i])
						}
					}
				}
				if got := counts(&caches.Stats, 0); got != recounted.CacheCounts {
					t.Fatalf("%+v, request %d (-again +caches):\n%s", c, n, cmp.Diff(recounted.CacheCounts, got))
				}
			}
		}
	}
}
