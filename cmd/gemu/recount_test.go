package main

// This file has what "gemu compare" prints counted once more, by package recount, which is written from the papers'
// text and the pages of docs.

import (
	"math"
	"testing"

	"gemu/internal/recount"
	"gemu/interp"
	"gemu/kernels"
	"gemu/ptx"
	"gemu/ptx/spill"
)

// tableOf finds a table of a paper.
func tableOf(t *testing.T, paper, name string) *paperTable {
	t.Helper()
	for _, p := range papers {
		for _, table := range p.tables {
			if p.name == paper && table.name == name {
				return table
			}
		}
	}
	t.Fatalf("%s has no %s", paper, name)
	return nil
}

// sameValues compares what a table has of a row with what was counted again.
func sameValues(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9*(1+math.Abs(v)) {
			t.Errorf("%s: %s is %v, again %v", what, name, g, v)
		}
	}
	for name, v := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is %v, which is not counted again", what, name, v)
		}
	}
}

// TestAVCRecount has figures 1, 2 and 6 and table 4 of one workload as printed, and again: for each number of registers
// from r_base down the spilled module is run and its warps go through other caches.
func TestAVCRecount(t *testing.T) {
	const name, size = "srad", 48
	defer func(n int) { avcSizes[name] = n }(avcSizes[name])
	avcSizes[name] = size

	w := kernels.Lookup(name)
	module, err := ptx.ParseString(name+".ptx", w.PTX())
	if err != nil {
		t.Fatal(err)
	}
	spilled := map[int]map[string]*recount.PrivateKernel{} // by registers
	at := func(regs int) map[string]*recount.PrivateKernel {
		if spilled[regs] != nil {
			return spilled[regs]
		}
		src, _, err := spill.Module(t.Context(), module, regs)
		if err != nil {
			t.Fatal(err)
		}
		probe := &recount.Private{}
		dev := interp.NewDevice(interp.Config{Workers: 1, Probes: []interp.Probe{probe}})
		s, err := kernels.Start(t.Context(), w, dev, size)
		if err != nil {
			t.Fatal(err)
		}
		if s.Module, err = dev.Load(name+".ptx", []byte(src)); err != nil {
			t.Fatal(err)
		}
		s.Prepare = func(l *interp.Launch) { l.Reconverge = interp.ReconvergerNamed("stack") }
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		spilled[regs] = probe.Kernels
		return probe.Kernels
	}
	m := newMeter(&app{ctx: t.Context()}, 1, nil)
	defer m.close()
	measured := func(table string, row, reading int) map[string]float64 {
		of := tableOf(t, "avc2011", table)
		v, err := of.measure(m, &of.rows[row], &of.readings[reading])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Rows of table 3; of the page.
	configs := []struct {
		name    string
		l1, avc int
	}{{"B", 6, 0}, {"c1", 5, 1}, {"c2", 4, 2}, {"c3", 3, 3}}
	rows := []recount.CacheSetup{{}, {LRU: true}, {WarpByWarp: true}, {Greedy: true}, {WholeCTAs: true}}

	for i, row := range tableOf(t, "avc2011", "table4").rows {
		if row.workload != name {
			continue
		}
		kernel := map[string]string{"srad1": "srad_coefficient", "srad2": "srad_diffuse"}[row.name]
		again := func(regs int) *recount.PrivateKernel { return at(regs)[kernel] }
		base, least := 0, 0
		for _, f := range module.Kernels() {
			r, err := spill.RangeOf(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if f.Name == kernel {
				base = r.Base
			}
			least = max(least, r.Least)
		}
		if n := len(again(base).Loads) + len(again(base).Stores); n > 0 {
			t.Errorf("%s: spills with r_base, %d registers", kernel, base)
		}
		if n := len(again(base - 1).Loads); n == 0 {
			t.Errorf("%s: spills nothing with less than r_base, %d registers", kernel, base)
		}
		share := func(of float64) int { return max(least, int(math.Floor(of*float64(base)+0.5))) }
		sum := func(lists ...map[string]int) (n float64) {
			for _, list := range lists {
				for _, k := range list {
					n += float64(k)
				}
			}
			return n
		}
		of := func(k *recount.PrivateKernel, class string) float64 { return float64(k.Loads[class] + k.Stores[class]) }
		half, most := again(share(0.5)), again(share(0.75))
		all := sum(half.Loads, half.Stores)
		sameValues(t, "figure 1, "+row.name, measured("figure1", i, 0), map[string]float64{
			"r_base": float64(base), "zero": 100 * of(half, "zero") / all, "uniform": 100 * of(half, "uniform") / all, "affine": 100 * of(half, "affine") / all,
			"ratio":      100 - 100*of(half, "generic")/all,
			"ratio75":    100 - 100*of(most, "generic")/sum(most.Loads, most.Stores),
			"ratio_low":  100 - 100*float64(half.LowWords["generic"])/sum(half.LowWords),
			"ratio_xor":  100 * float64(half.Xor) / all,
			"any_stride": 100 * float64(half.AnyStride) / (all - of(half, "generic") + float64(half.AnyStride)),
			"non_dense":  100 * float64(half.NonDense) / (all - of(half, "generic")),
		})
		for j, s := range []float64{0.5, 0.75, 0.25} {
			k := again(share(s))
			per := 1000 / float64(k.Instructions)
			sameValues(t, "figure 2, "+row.name, measured("figure2", i, j), map[string]float64{
				"zero": per * of(k, "zero"), "uniform": per * of(k, "uniform"), "affine": per * of(k, "affine"), "generic": per * of(k, "generic"), "global": per * float64(k.Global),
			})
		}
		traffic := func(regs int, setup recount.CacheSetup, l1, avc int) float64 {
			setup.L1, setup.AVC, setup.Regs, setup.Warps = l1, avc, regs, 3*48
			c, err := again(regs).Replay(setup)
			if err != nil {
				t.Fatal(err)
			}
			return float64(c.Misses+c.WriteBacks) / float64(c.Instructions)
		}
		for j, s := range []float64{0.5, 0.75, 0.25} {
			want := map[string]float64{}
			for _, c := range configs {
				want[c.name] = 1e4 * traffic(share(s), recount.CacheSetup{}, c.l1, c.avc)
			}
			sameValues(t, "figure 6, "+row.name, measured("figure6", i, j), want)
		}
		for j, setup := range rows {
			want := map[string]float64{"r_base": float64(base)}
			for _, c := range configs {
				regs := base
				for regs > least && traffic(regs-1, setup, c.l1, c.avc) < 1e-4 {
					regs--
				}
				want[c.name] = float64(regs)
			}
			sameValues(t, "table 4, "+row.name, measured("table4", i, j), want)
		}
	}
}
